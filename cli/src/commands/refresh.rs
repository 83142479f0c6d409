//! `loopx refresh-state`

use loopx_core::Result;
use loopx_core::command::refresh::RefreshStateRequest;
use loopx_core::kernel::Kernel;
use loopx_core::model::{OutcomeKind, Usage};
use serde_json::Value;

use super::{word, write_at};
use crate::args::RefreshState;

pub fn run(kernel: &Kernel, args: &RefreshState) -> Result<Value> {
    let usage = (args.input_tokens.is_some() || args.output_tokens.is_some()).then(|| Usage {
        input_tokens: args.input_tokens.unwrap_or(0),
        output_tokens: args.output_tokens.unwrap_or(0),
        cost_micros: None,
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
