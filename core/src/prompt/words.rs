//! Words that a kind of body may not have: an agent that reads them looks for tools that its
//! host lacks, or takes up the loop that the host runs itself.

use crate::host::{BodyKind, Host};

/// Words of an app's automation, which a goal or an agent loop has nothing to do with.
const AUTOMATION: &[&str] = &["automation_update", "host_action", "RRULE"];
/// Words of a native goal, which an automation or an agent loop has nothing to do with.
const GOAL: &[&str] = &["update_goal", "/goal"];
/// What no goal body speaks of: it is neither woken nor numbered.
const NOT_IN_GOALS: &[&str] = &["turn-instance-id", "turn_instance_id"];
/// What TraeX takes for the control of a loop that it does not have.
const TRAEX: &[&str] = &[
    "/loop",
    "automation",
    "heartbeat",
    "receipt",
    "current time",
    "first turn",
    "scheduler",
    "update_goal",
];

/// Words that our own sentences keep out as well, though a person may use them.
const OURS_NOT_IN_GOALS: &[&str] = &["automation", "heartbeat", "LOOPX_TURN", "cron"];

/// The lists for texts of people; ours have more.
fn lists(host: Host) -> Vec<&'static [&'static str]> {
    let mut lists = match host.row().body {
        BodyKind::AppHeartbeat => vec![GOAL],
        BodyKind::VisibleGoal => vec![AUTOMATION, NOT_IN_GOALS],
        BodyKind::OneShotGoal => vec![AUTOMATION, NOT_IN_GOALS, GOAL],
        BodyKind::LoopPrompt | BodyKind::Provider => vec![AUTOMATION, GOAL],
    };
    if host == Host::TraexCli {
        lists.push(TRAEX);
    }
    lists
}

/// The first word in `text` that a body for this host may not have.
pub fn forbidden(host: Host, text: &str) -> Option<&'static str> {
    first_of(lists(host), text).or_else(|| assignment(text))
}

/// As [`forbidden`], and what else our own sentences keep out. Ids and routes are to be
/// taken out of the text first.
pub fn forbidden_to_us(host: Host, text: &str) -> Option<&'static str> {
    let mut lists = lists(host);
    if host.row().body.is_goal() {
        lists.push(OURS_NOT_IN_GOALS);
    }
    match host {
        Host::TraeApp => lists.push(&["codex"]),
        Host::CodexApp => lists.push(&["trae"]),
        _ => {}
    }
    lists.push(&["host_surface", "scheduler_owner", "active-state", "registry.global.json"]);
    first_of(lists, text).or_else(|| assignment(text))
}

/// Nothing makes up a turn for whoever hands them out.
fn assignment(text: &str) -> Option<&'static str> {
    text.contains("LOOPX_TURN=").then_some("LOOPX_TURN=")
}

fn first_of(lists: Vec<&'static [&'static str]>, text: &str) -> Option<&'static str> {
    let text = folded(text);
    lists.into_iter().flatten().find(|word| has(&text, word)).copied()
}

/// Lower case, with spaces for `_`, `-` and white space, so that a word is found however it
/// is joined. The variable's name stays as it is: `loopx turn` is a command.
fn folded(text: &str) -> String {
    let text = text.replace("LOOPX_TURN", "\u{1}");
    let words: Vec<&str> = text
        .split(|c: char| c == '_' || c == '-' || c.is_whitespace())
        .filter(|w| !w.is_empty())
        .collect();
    words.join(" ").to_lowercase()
}

fn has(text: &str, word: &str) -> bool {
    let word = folded(word);
    text.match_indices(&word).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_however_they_are_joined_and_not_inside_others() {
        for text in ["use the Heartbeat", "the heart-beat-heartbeat", "HEARTBEAT_x"] {
            assert_eq!(forbidden(Host::TraexCli, text), Some("heartbeat"), "{text}");
        }
        assert_eq!(forbidden(Host::TraexCli, "heartbeats and preschedulers"), None);
        assert_eq!(forbidden(Host::TraexCli, "current-time"), Some("current time"));
        assert_eq!(forbidden(Host::CodexCli, "call Automation Update"), Some("automation_update"));
        assert_eq!(forbidden(Host::CodexCli, "home automation"), None);
        assert_eq!(forbidden(Host::CodexCli, "LOOPX_TURN=1"), Some("LOOPX_TURN="));
        assert_eq!(forbidden(Host::CodexCli, "loopx turn admit"), None);
        assert_eq!(forbidden(Host::ClaudeCode, "type /goal now"), Some("/goal"));
        assert_eq!(forbidden(Host::ClaudeCode, "see docs/goals/x"), None);
        assert_eq!(forbidden_to_us(Host::CodexCli, "set LOOPX_TURN"), Some("LOOPX_TURN"));
        assert_eq!(forbidden_to_us(Host::TraeApp, "like Codex"), Some("codex"));
    }
}
