//! The prompt of an admitted turn: what to work on, how to end the turn. Short; the whole
//! body goes only into a session that does not have it (a new or a compacted one).

use std::fmt::Write as _;

use serde_json::Value;

use super::binding::Pending;
use crate::boundary::redact_shown;
use crate::model::{AgentId, GoalId};

/// Begins the last line of a prompt; the turn id follows.
pub const TURN_MARK: &str = "LOOPX_TURN=";

/// What a prompt is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Goal.
    pub goal: &'a GoalId,
    /// Who works.
    pub agent: Option<&'a AgentId>,
    /// The turn.
    pub pending: &'a Pending,
    /// The packet that admitted it.
    pub packet: &'a Value,
}

/// The text; the same for the same turn, so that it can be sent again.
pub fn text(subject: &Subject<'_>) -> String {
    let Subject { goal, agent, pending, packet } = *subject;
    let word = |pointer: &str| packet.pointer(pointer).and_then(Value::as_str);
    let who = agent.map(|a| format!(" --agent-id {a}")).unwrap_or_default();
    let ids = format!("--goal-id {goal}{who} --turn-instance-id {}", pending.turn_id);
    let mut said = match agent {
        Some(agent) => format!("LoopX: agent {agent} may run now on goal {goal}.\n"),
        None => format!("LoopX: you may run now on goal {goal}.\n"),
    };
    match (&pending.todo_id, word("/selected_todo/text")) {
        (Some(id), Some(text)) => {
            let _ = writeln!(said, "Todo {id}: {}", one_line(text));
        }
        _ => {
            let action = word("/interaction_contract/agent_channel/primary_action");
            let action = action.or_else(|| word("/reason")).unwrap_or("plan the next step");
            let _ = writeln!(said, "To do: {}", one_line(action));
        }
    }
    if word("/interaction_contract/user_channel/notify") == Some("NOTIFY")
        && let Some(reason) = word("/reason")
    {
        let _ = writeln!(said, "Tell the person: {}", one_line(reason));
    }
    if pending.whole {
        said.push_str(
            "Work on this one thing only, in a step that can be checked. Check the result \
             yourself before you report it. The turn is admitted already: do not admit \
             another one and do not claim anything.\n",
        );
    }
    let outcome = if pending.todo_id.is_some() { "completed" } else { "progress" };
    let _ = writeln!(
        said,
        "End the turn with one command:\n  loopx turn settle {ids} --outcome {outcome} --evidence \"WHAT SHOWS IT\""
    );
    if pending.whole {
        let _ = writeln!(
            said,
            "Other outcomes: progress (more is left), blocked --reason WHY, no_change, failed.\n\
             When it is done and nothing follows, add --no-follow-up; when something follows, \
             --next-agent-todo TEXT.\nThen stop: LoopX wakes you when there is more."
        );
    }
    let _ = write!(said, "{TURN_MARK}{}", pending.turn_id);
    said
}

/// One line without secrets, whatever a hand edit brought in.
fn one_line(text: &str) -> String {
    redact_shown(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
