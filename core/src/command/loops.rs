//! Requests of `loop.step`, `loop.show` and `loop.unbind`, and the changes of a turn that
//! a host's loop ends.

use serde::{Deserialize, Serialize};

use super::Scene;
use super::refresh::fruitless;
use crate::admission::ViewQuery;
use crate::error::{Error, Result};
use crate::host_loop::{LoopEvent, TurnEnd};
use crate::model::{Turn, TurnId, TurnState};
use crate::schedule::ExecutionContext;
use crate::store::Change;
use crate::turn::lapse::{free, is_work, unknown};

/// `loop.step`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopStepRequest {
    /// `--host` word of the host.
    pub surface: String,
    /// The host's session: its file, its id. Only a digest of it is kept.
    pub session: String,
    /// What happened.
    pub event: LoopEvent,
    /// The generation that the host saw last. When another runtime has gone on since, the
    /// event changes nothing and the answer says how the loop stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// `activated`: for whom the loop asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Capabilities that the door declares; those of the activation when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_capabilities: Option<Vec<String>>,
    /// The door works in a worktree of its own; as at the activation when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independent_worktree: Option<bool>,
    /// Who wakes the agent; as at the activation when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<ExecutionContext>,
    /// Seconds that an admitted turn's reservation lives, 3,600 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// A process that outlives this call and whose death frees the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder_pid: Option<u32>,
    /// `activated`: the host does not keep the session, so that nobody can come back to it. Its
    /// loop is over when the process `holder_pid` has died; without one, when it is unbound.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
    /// Only look: decide, keep the pace, admit nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observe: bool,
}

/// `loop.show` and `loop.unbind`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopRequest {
    /// `--host` word of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    /// The host's session; every loop of the goal when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// A goal that cannot be read: whether the session follows it is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnreadableGoal {
    /// The goal as its registry names it.
    pub goal_id: String,
    /// Why, as the code of the refusal.
    pub error_code: String,
    /// Why, one sentence.
    pub error: String,
    /// What could not be read.
    pub about: String,
    /// What to do about it.
    pub next_command: String,
}

impl UnreadableGoal {
    /// The goal that `error` is about.
    pub fn of(goal: &str, error: &Error) -> Self {
        Self {
            goal_id: goal.to_owned(),
            error_code: error.row().text.to_owned(),
            error: error.text(),
            about: error.about.clone(),
            next_command: error.next_command(),
        }
    }
}

/// What `loop.show` answers.
#[cfg(feature = "schema")]
#[derive(Serialize, schemars::JsonSchema)]
pub struct LoopsShown {
    /// True.
    pub ok: bool,
    /// The goal that was asked about; absent for a session wherever it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_id: Option<String>,
    /// How each loop stands: goal, session, state, what it waits for.
    pub loops: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Goals that the session may follow as well: they could not be read.
    pub unreadable_goals: Vec<UnreadableGoal>,
}

/// What follows when a host's turn is over and its agent has not settled it. Nothing when
/// the turn is not live any more.
pub fn end_turn(scene: &Scene<'_>, turn: &TurnId, how: TurnEnd) -> Result<Vec<Change>> {
    let Some(turn) = scene.read.turn(turn)?.filter(|t| t.state == TurnState::Live) else {
        return Ok(Vec::new());
    };
    let query = ViewQuery { now: scene.now, quota: scene.policy.quota, complete: false };
    let view = scene.read.view(&query)?;
    let mut changes = free(&view, &turn);
    changes.push(Change::PutTurn(Turn { state: TurnState::Released, reserved: 0, ..turn.clone() }));
    // A turn that came to nothing counts against its todo, whoever says that it is over.
    if let Some(todo) = turn.todo_id.as_ref().filter(|_| is_work(&turn))
        && how != TurnEnd::Interrupted
    {
        let before = view.stalls.iter().find(|s| s.todo_id == *todo && s.agent == turn.agent);
        let stall = fruitless(before.cloned(), todo.clone(), turn.agent.clone(), scene.now);
        changes.push(Change::PutStall(stall));
    }
    if how != TurnEnd::Finished {
        changes.extend(unknown(&view, &turn));
    }
    Ok(changes)
}
