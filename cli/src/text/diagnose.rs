//! `diagnose`.

use serde_json::Value;

use super::page::{Page, Tone};
use super::value::{count, items, number, text, yes};

pub fn problems(page: &mut Page, value: &Value) {
    let problems = items(value, "problems");
    let goals = count(number(value, "goals_checked"), "goal");
    let n = u64::try_from(problems.len()).unwrap_or(0);
    match (yes(value, "blocking"), n) {
        (true, _) => {
            page.head(Tone::Bad, "blocked", &format!("{goals} checked, {}", count(n, "problem")))
        }
        (false, 0) => page.head(Tone::Good, "healthy", &format!("{goals} checked")),
        (false, _) => page.head(
            Tone::Wait,
            "nothing blocks",
            &format!("{goals} checked, {}", count(n, "remark")),
        ),
    }
    for problem in problems {
        let goal = text(problem, "goal_id");
        let of = if goal.is_empty() { String::new() } else { format!(" in {goal}") };
        page.section(&format!("{}: {}{of}", text(problem, "level"), text(problem, "code")));
        page.line("about", text(problem, "about"));
        page.line("what", text(problem, "message"));
        page.command("next", text(problem, "next_command"));
    }
}
