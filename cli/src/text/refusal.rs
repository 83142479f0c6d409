//! A typed refusal: what, about what, and how to go on.

use serde_json::Value;

use super::page::{Page, Tone};
use super::value::text;

pub fn refusal(page: &mut Page, value: &Value) {
    let sentence = match text(value, "error") {
        "" => text(value, "reason"),
        said => said,
    };
    page.head(Tone::Bad, "refused", sentence);
    page.line("code", text(value, "error_code"));
    page.line("about", text(value, "about"));
    page.command("next", text(value, "next_command"));
    for goal in value.get("goals").and_then(Value::as_array).into_iter().flatten() {
        let problems = goal.get("problems").and_then(Value::as_array);
        for problem in problems.into_iter().flatten() {
            let what = format!(
                "{}  {} ({}): {}",
                text(goal, "goal_id"),
                text(problem, "code"),
                text(problem, "about"),
                text(problem, "message")
            );
            page.line("problem", &what);
            page.command("next", text(problem, "next_command"));
        }
    }
}
