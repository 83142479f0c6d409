//! `history` and `evidence-log`.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::quota::problems;
use super::time::relative;
use super::value::{count, instant, items, number, text, word, yes};

pub fn commits(page: &mut Page, value: &Value) {
    let commits = items(value, "commits");
    let goal = text(value, "goal_id");
    if commits.is_empty() {
        page.head(Tone::Dim, "no commits", goal);
        if value.get("imported") == Some(&Value::Bool(false)) {
            page.line("note", "the goal is still in the earlier tool's files");
        }
    } else {
        let last = value
            .get("last_commit")
            .map(|_| format!("last commit {}", number(value, "last_commit")));
        page.head(
            Tone::Plain,
            if goal.is_empty() { "all goals" } else { goal },
            &last.unwrap_or_default(),
        );
        rows(page, commits);
    }
    problems(page, items(value, "unread"));
    page.command("older", text(value, "next_command"));
}

/// Commits as a section of a larger page.
pub fn commit_table(page: &mut Page, commits: &[Value]) {
    if !commits.is_empty() {
        page.section("last commits");
        rows(page, commits);
    }
}

fn rows(page: &mut Page, commits: &[Value]) {
    let rows = commits
        .iter()
        .map(|c| {
            let clock = if yes(c, "fixed_clock") { "fixed" } else { "-" };
            vec![
                Cell::from(word(c, "goal_id")),
                Cell::from(word(c, "commit")),
                Cell::from(when(page, c, "at")),
                Cell::from(clock),
                Cell::from(word(c, "verb")),
                Cell::from(word(c, "agent_id")),
                Cell::from(word(c, "todo_id")),
                Cell::from(text(c, "summary")),
            ]
        })
        .collect();
    page.table(&["goal", "commit", "when", "clock", "verb", "agent", "todo", "what"], rows);
}

fn when(page: &Page, value: &Value, key: &str) -> String {
    instant(value, key).map_or_else(|| "-".to_owned(), |at| relative(page.now(), at))
}

pub fn ledger(page: &mut Page, value: &Value) {
    let entries = items(value, "ledger");
    let goal = text(value, "goal_id");
    if entries.is_empty() {
        page.head(Tone::Dim, "nothing recorded", goal);
        return;
    }
    let note = if yes(value, "truncated") { "newest entries; there are older ones" } else { "" };
    page.head(Tone::Plain, goal, note);
    let rows = entries
        .iter()
        .map(|e| {
            let what = match text(e, "kind") {
                "evidence" => text(e, "text").to_owned(),
                "outcome" => outcome(e),
                _ => spend(e),
            };
            vec![
                Cell::from(when(page, e, "at")),
                Cell::from(text(e, "kind")),
                Cell::from(word(e, "agent_id")),
                Cell::from(word(e, "todo_id")),
                Cell::from(what),
            ]
        })
        .collect();
    page.table(&["when", "kind", "agent", "todo", "what"], rows);
}

fn outcome(entry: &Value) -> String {
    let mut said = text(entry, "delivery_outcome").to_owned();
    let class = text(entry, "classification");
    if !class.is_empty() && class != "state_refreshed" {
        said.push_str(&format!(", {class}"));
    }
    if yes(entry, "spent") {
        said.push_str(", spent");
    }
    if let Some(usage) = entry.get("usage") {
        said.push_str(&format!(
            ", {} tokens in, {} out",
            number(usage, "input_tokens"),
            number(usage, "output_tokens")
        ));
    }
    if !text(entry, "recommended_action").is_empty() {
        said.push_str(&format!("; next: {}", text(entry, "recommended_action")));
    }
    said
}

fn spend(entry: &Value) -> String {
    let mut said = count(number(entry, "slots"), "slot");
    let voided = number(entry, "voided_slots");
    if voided > 0 {
        said.push_str(&format!(", {voided} taken back"));
    }
    if !text(entry, "source").is_empty() {
        said.push_str(&format!(" ({})", text(entry, "source")));
    }
    said
}
