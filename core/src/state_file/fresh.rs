//! The first state file of a goal. Everything later goes through `render`.

use super::grammar::collapse;
use crate::model::{GoalId, Instant};

/// A fresh state file: front matter, the objective, empty todo sections.
pub fn new_document(goal_id: &GoalId, objective: &str, now: Instant) -> Vec<u8> {
    let objective = collapse(objective);
    // JSON's quoting is a subset of YAML's, and reads back as the same text.
    let quoted = serde_json::Value::from(objective.as_ref()).to_string();
    // In the body the text must not begin like a heading, a fence, a list or a comment.
    let escape = if objective.starts_with(['#', '`', '~', '-', '*', '+', '<', '>', '=']) {
        "\\"
    } else {
        ""
    };
    format!(
        "---\nstatus: active\nowner_mode: goal\nobjective: {quoted}\nupdated_at: {now}\nadapter_id: {goal_id}\n---\n\n\
         # Active Goal State\n\n\
         ## Objective\n\n{escape}{objective}\n\n\
         ## User Todo / Owner Review Reading Queue\n\n\
         ## Agent Todo\n\n\
         ## Next Action\n\n\
         ## Progress Ledger\n"
    )
    .into_bytes()
}
