//! Who loops: which agent a host's loop is for (reference prompts.md 3). A pure choice from
//! the roster, what was asked for, and what the host's thread is bound to.

use serde::Serialize;

use crate::model::AgentId;

/// What the host's thread is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ThreadBinding {
    /// The host names no thread.
    #[default]
    None,
    /// It names one, and nothing is bound to it.
    Missing,
    /// To this agent.
    Bound(AgentId),
    /// To several.
    Conflict,
}

/// What is known when an agent is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentityQuestion<'a> {
    /// The goal's roster.
    pub registered: &'a [AgentId],
    /// The agent that was named.
    pub requested: Option<AgentId>,
    /// The thread.
    pub binding: ThreadBinding,
    /// A host that comes new gets an agent of its own unless one is named.
    pub fresh_default: bool,
}

/// The choice; schema `loopx_host_loop_identity_selection_v0`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdentitySelection {
    /// `loopx_host_loop_identity_selection_v0`.
    pub schema_version: &'static str,
    /// `peer_v1`: no agent has a say over another.
    pub agent_model: &'static str,
    /// How it came out.
    pub state: &'static str,
    /// Whether a loop may be switched on for it.
    pub activation_allowed: bool,
    /// The agent.
    pub selected_agent_id: Option<AgentId>,
    /// The roster.
    pub registered_agents: Vec<AgentId>,
    /// The agent that was named and not chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_agent_id: Option<AgentId>,
    /// A named agent was taken instead of the bound one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binding_override: bool,
    /// What has to be given before it can be allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_cli_arg: Option<&'static str>,
}

impl IdentitySelection {
    /// Chooses; the first line that fits.
    pub fn choose(question: &IdentityQuestion<'_>) -> Self {
        use ThreadBinding::{Bound, Conflict, Missing, None as NoThread};
        let is_registered = |agent: &AgentId| question.registered.contains(agent);
        let requested = question.requested.as_ref();
        let named = requested.is_some_and(is_registered);
        let (state, selected, over) = match (&question.binding, requested) {
            (Conflict, _) => ("thread_binding_conflict", None, false),
            (Bound(agent), _) if !is_registered(agent) => ("thread_binding_invalid", None, false),
            (Bound(agent), Some(other)) if other != agent && named => {
                ("explicit_agent_selected", Some(other), true)
            }
            (Bound(agent), Some(other)) if other != agent => ("invalid_selection", None, false),
            (Bound(agent), _) => ("thread_binding_selected", Some(agent), false),
            (Missing, None) if !question.fresh_default => {
                ("thread_binding_selection_required", None, false)
            }
            (Missing | NoThread, None) if question.fresh_default => {
                ("fresh_agent_registration_required", None, false)
            }
            (Missing | NoThread, Some(_)) if question.fresh_default && !named => {
                ("invalid_selection", None, false)
            }
            (Missing | NoThread, _) if question.registered.is_empty() => {
                ("legacy_unscoped", None, false)
            }
            (Missing | NoThread, Some(agent)) if named => ("selected", Some(agent), false),
            (Missing | NoThread, Some(_)) => ("invalid_selection", None, false),
            (Missing | NoThread, None) => match question.registered {
                [only] => ("single_registered_agent_selected", Some(only), false),
                _ => ("selection_required", None, false),
            },
        };
        let allowed = selected.is_some() || state == "legacy_unscoped";
        Self {
            schema_version: "loopx_host_loop_identity_selection_v0",
            agent_model: "peer_v1",
            state,
            activation_allowed: allowed,
            selected_agent_id: selected.cloned(),
            registered_agents: question.registered.to_vec(),
            requested_agent_id: requested.filter(|_| !allowed).cloned(),
            binding_override: over,
            required_cli_arg: (!allowed).then_some("--agent-id"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(
        registered: &[&str],
        requested: Option<&str>,
        binding: ThreadBinding,
        fresh: bool,
    ) -> (&'static str, bool) {
        let registered: Vec<AgentId> = registered.iter().map(|a| AgentId::trusted(*a)).collect();
        let chosen = IdentitySelection::choose(&IdentityQuestion {
            registered: &registered,
            requested: requested.map(AgentId::trusted),
            binding,
            fresh_default: fresh,
        });
        (chosen.state, chosen.activation_allowed)
    }

    #[test]
    fn every_line_of_the_table() {
        use ThreadBinding::{Bound, Conflict, Missing, None as NoThread};
        let bound = |a: &str| Bound(AgentId::trusted(a));
        for (registered, requested, binding, fresh, expected) in [
            (vec!["a"], None, Conflict, false, ("thread_binding_conflict", false)),
            (vec!["a"], None, bound("z"), false, ("thread_binding_invalid", false)),
            (vec!["a", "b"], Some("b"), bound("a"), false, ("explicit_agent_selected", true)),
            (vec!["a", "b"], Some("z"), bound("a"), false, ("invalid_selection", false)),
            (vec!["a", "b"], None, bound("a"), true, ("thread_binding_selected", true)),
            (vec!["a", "b"], Some("a"), bound("a"), false, ("thread_binding_selected", true)),
            (vec!["a"], None, Missing, false, ("thread_binding_selection_required", false)),
            (vec!["a"], None, Missing, true, ("fresh_agent_registration_required", false)),
            (vec!["a"], None, NoThread, true, ("fresh_agent_registration_required", false)),
            (vec!["a"], Some("z"), NoThread, true, ("invalid_selection", false)),
            (vec![], Some("z"), NoThread, true, ("invalid_selection", false)),
            (vec![], None, NoThread, false, ("legacy_unscoped", true)),
            (vec!["a"], None, NoThread, false, ("single_registered_agent_selected", true)),
            (vec!["a", "b"], Some("b"), NoThread, false, ("selected", true)),
            (vec!["a", "b"], Some("z"), NoThread, false, ("invalid_selection", false)),
            (vec!["a", "b"], None, NoThread, false, ("selection_required", false)),
        ] {
            assert_eq!(
                choose(&registered, requested, binding.clone(), fresh),
                expected,
                "{registered:?} {requested:?} {binding:?} {fresh}"
            );
        }
    }
}
