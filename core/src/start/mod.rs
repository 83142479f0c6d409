//! How a goal comes to run on a host: the plan of a start, its preview, and the packets that
//! hosts and people are handed. Pure; the kernel looks and acts (`kernel::start`).

mod guide;
pub mod pack;
mod plan;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode, Result};
use crate::model::GoalId;

pub(crate) use guide::open;
pub use guide::{GUIDE_LIMIT, guide};
pub use plan::{Agent, Plan, Situation};

/// Todos of one start, at most.
pub const TODO_LIMIT: usize = 20;

/// `init`; the goal's name stands in `goal_id`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitRequest {
    /// What the goal is for, one line; written only where the goal has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Agents of the roster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Slots in the window of a new goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_slots: Option<u64>,
}

/// `start_goal.plan` and `start_goal`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartGoalRequest {
    /// What is to be reached, one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_text: Option<String>,
    /// First todos, in order, such as `[P1] Write the parser`; at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<String>,
    /// Who loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Register that agent, though the goal has others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new_peer: bool,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The host's name for its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Capabilities that commands declare.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_capabilities: Vec<String>,
}

/// A goal's name from a folder's: what may stand in one is kept, the rest parts words.
pub fn name_of_folder(folder: &str) -> GoalId {
    let mut name = String::new();
    for c in folder.trim().chars().take(60) {
        match c {
            c if c.is_alphanumeric() => name.push(c),
            '_' | '.' if !name.ends_with(['-', '.']) => name.push(c),
            '.' | '_' => {}
            _ if !name.ends_with(['-', '.', '_']) => name.push('-'),
            _ => {}
        }
    }
    let name = name.trim_matches(['-', '.', '_']);
    GoalId::parse(name).unwrap_or_else(|_| GoalId::trusted("goal"))
}

/// The arguments of a slash command as a start reads them: leading flags that hosts pass on,
/// then the goal's text as it stands.
///
/// # Errors
///
/// [`ErrorCode::RequestInvalid`] when there is no text.
pub fn slash_arguments(arguments: &str) -> Result<String> {
    let mut rest = arguments.trim();
    loop {
        // Flags of the earlier tool's command, which say nothing here.
        if let Some(after) = rest.strip_prefix("--fine-grained") {
            rest = after.trim_start();
        } else if let Some(after) = rest.strip_prefix("--capability-route ") {
            rest = after.trim_start().split_once(' ').map_or("", |(_, text)| text).trim_start();
        } else {
            break;
        }
    }
    if rest.is_empty() {
        return Err(Error::new(ErrorCode::RequestInvalid, "slash_command_arguments")
            .message("there is no goal text")
            .next("loopx status"));
    }
    Ok(rest.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn folders_name_goals() {
        for (folder, name) in [
            ("site", "site"),
            ("My Site (2)", "my-site-2"),
            ("..", "goal"),
            ("con", "goal"),
            ("地図", "地図"),
            ("-a--b-", "a-b"),
            ("a..b.", "a.b"),
            ("v1.2_x", "v1.2_x"),
            ("", "goal"),
        ] {
            assert_eq!(name_of_folder(folder).as_str(), name, "{folder}");
        }
    }

    #[test]
    fn slash_arguments_are_text_behind_known_flags() {
        assert_eq!(slash_arguments(" ship --fast it ").unwrap(), "ship --fast it");
        let routed = "--fine-grained --capability-route issue-fix  mend \"it\"";
        assert_eq!(slash_arguments(routed).unwrap(), "mend \"it\"");
        assert!(slash_arguments("--fine-grained ").is_err());
    }
}
