//! What an open user gate blocks and whom it concerns (contract.md 2.2).

use crate::model::{AgentId, DecisionScope, TaskClass, Todo, TodoId};

/// What one open gate blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Every agent, because it says so.
    Everyone,
    /// One todo, for every agent.
    Todo(TodoId),
    /// Every todo that requires the scope. An unreadable scope matches only its own text.
    Scope(String),
    /// One agent.
    Agent(AgentId),
    /// Every agent, because it names nothing.
    Nothing,
}

/// What `gate` blocks.
pub fn blocks(gate: &Todo) -> Blocks {
    if gate.global_gate {
        Blocks::Everyone
    } else if let Some(todo) = &gate.unblocks_todo_id {
        Blocks::Todo(todo.clone())
    } else if let Some(scope) = &gate.decision_scope {
        Blocks::Scope(scope.0.clone())
    } else if let Some(agent) = &gate.blocks_agent {
        Blocks::Agent(agent.clone())
    } else {
        Blocks::Nothing
    }
}

/// Whether `todo` is an undecided gate.
pub fn is_open_gate(todo: &Todo) -> bool {
    todo.task_class == TaskClass::UserGate && todo.is_open()
}

/// Whether the gate blocks the agent as a whole. Without an identity the agent could be
/// the one that is named, so it counts as blocked.
pub fn blocks_agent(gate: &Todo, agent: Option<&AgentId>) -> bool {
    match blocks(gate) {
        Blocks::Everyone | Blocks::Nothing => true,
        Blocks::Agent(named) => agent.is_none_or(|a| *a == named),
        Blocks::Todo(_) | Blocks::Scope(_) => false,
    }
}

/// Whether the gate is the agent's concern: it blocks it, or names no other agent.
pub fn concerns(gate: &Todo, agent: Option<&AgentId>) -> bool {
    blocks_agent(gate, agent)
        || match (&gate.blocks_agent, agent) {
            (None, _) | (Some(_), None) => true,
            (Some(named), Some(agent)) => named == agent,
        }
}

/// Whether the gate blocks this todo, apart from blocking agents.
pub fn blocks_todo(gate: &Todo, todo: &Todo) -> bool {
    match blocks(gate) {
        Blocks::Todo(id) => id == todo.todo_id,
        Blocks::Scope(scope) => todo.required_decision_scopes.iter().any(|required| {
            required.0 == scope
                || match (DecisionScope::parse(&scope), required.scope()) {
                    (Some(gate), Some(required)) => gate.covers(&required),
                    _ => false,
                }
        }),
        Blocks::Everyone | Blocks::Agent(_) | Blocks::Nothing => false,
    }
}
