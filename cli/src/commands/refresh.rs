//! `loopx refresh-state`

use clap::Args;
use loopx_core::Result;
use loopx_core::command::refresh::RefreshStateRequest;
use loopx_core::kernel::Kernel;
use loopx_core::model::{OutcomeKind, Usage};
use serde_json::Value;

use super::{word, write_at};
use crate::args::WriteAt;

/// `refresh-state`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  loopx refresh-state --goal-id demo --agent-id agent-a \\\n      --todo-id todo_1a2b3c --delivery-outcome outcome_progress"
)]
pub struct RefreshState {
    #[command(flatten)]
    pub at: WriteAt,
    /// Who acts
    #[arg(long, value_name = "AGENT")]
    pub agent_id: Option<String>,
    /// What was worked on
    #[arg(long, value_name = "TODO")]
    pub todo_id: Option<String>,
    /// The turn
    #[arg(long, value_name = "TURN")]
    pub turn_instance_id: Option<String>,
    /// What was delivered
    #[arg(long, value_name = "OUTCOME", value_parser = outcomes())]
    pub delivery_outcome: Option<String>,
    /// Your word for it
    #[arg(long, value_name = "WORD")]
    pub classification: Option<String>,
    /// What to do next
    #[arg(long, value_name = "TEXT")]
    pub recommended_action: Option<String>,
    /// What shows the delivery (repeat)
    #[arg(long, value_name = "TEXT")]
    pub evidence: Vec<String>,
    /// Tokens that the model read
    #[arg(long, value_name = "N")]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote
    #[arg(long, value_name = "N")]
    pub output_tokens: Option<u64>,
    /// What the model cost, in millionths of the host's currency
    #[arg(long, value_name = "N")]
    pub cost_micros: Option<u64>,
}

fn outcomes() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(OutcomeKind::ALL.iter().map(|(_, text)| *text))
}

pub fn run(kernel: &Kernel, args: &RefreshState) -> Result<Value> {
    let told = [args.input_tokens, args.output_tokens, args.cost_micros];
    let usage = told.iter().any(Option::is_some).then(|| Usage {
        input_tokens: args.input_tokens.unwrap_or(0),
        output_tokens: args.output_tokens.unwrap_or(0),
        cost_micros: args.cost_micros,
    });
    let request = RefreshStateRequest {
        agent_id: args.agent_id.clone(),
        todo_id: args.todo_id.clone(),
        turn_instance_id: args.turn_instance_id.clone(),
        delivery_outcome: word(
            OutcomeKind::parse,
            "delivery_outcome",
            args.delivery_outcome.as_deref(),
        )?,
        classification: args.classification.clone(),
        recommended_action: args.recommended_action.clone(),
        evidence: args.evidence.clone(),
        usage,
    };
    kernel.refresh_state(&write_at(&args.at), &request)
}
