//! What an open user gate blocks and whom it concerns (contract.md 2.2).

use crate::model::{AgentId, ScopeRequirement, TaskClass, Todo};

/// How far one open gate reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every agent, because it says so.
    Everyone,
    /// The todo and the scope that it names, for every agent.
    Named,
    /// One agent.
    Agent(AgentId),
    /// Every agent, because it names nothing.
    Nothing,
}

/// How far `gate` reaches.
pub fn reach(gate: &Todo) -> Reach {
    if gate.global_gate {
        Reach::Everyone
    } else if gate.unblocks_todo_id.is_some() || gate.decision_scope.is_some() {
        Reach::Named
    } else if let Some(agent) = &gate.blocks_agent {
        Reach::Agent(agent.clone())
    } else {
        Reach::Nothing
    }
}

/// Whether `todo` is an undecided gate.
pub fn is_open_gate(todo: &Todo) -> bool {
    todo.task_class == TaskClass::UserGate && todo.is_open()
}

/// Whether the gate blocks the agent as a whole. Without an identity the agent could be
/// the one that is named, so it counts as blocked.
pub fn blocks_agent(gate: &Todo, agent: Option<&AgentId>) -> bool {
    match reach(gate) {
        Reach::Everyone | Reach::Nothing => true,
        Reach::Agent(named) => agent.is_none_or(|a| *a == named),
        Reach::Named => false,
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

/// Whether the gate blocks this todo, apart from blocking agents. An unreadable scope
/// matches only its own text.
pub fn blocks_todo(gate: &Todo, todo: &Todo) -> bool {
    if reach(gate) != Reach::Named {
        return false;
    }
    let by_scope = |scope: &ScopeRequirement| {
        todo.required_decision_scopes.iter().any(|required| {
            required == scope
                || match (scope.scope(), required.scope()) {
                    (Some(gate), Some(required)) => gate.covers(&required),
                    _ => false,
                }
        })
    };
    gate.unblocks_todo_id.as_ref() == Some(&todo.todo_id)
        || gate.decision_scope.as_ref().is_some_and(by_scope)
}
