//! `status`: one goal in whole, or a row of every goal.

use serde_json::Value;

use super::decision::window;
use super::history::commit_table;
use super::page::{Cell, Page, Tone};
use super::quota::problems;
use super::time::{distance, relative, span};
use super::value::{count, instant, items, number, text, word, yes};

/// A state in its colour.
pub fn state_cell(state: &str) -> Cell {
    let tone = match state {
        "eligible" => Tone::Good,
        "blocked_health" | "unknown" => Tone::Bad,
        "terminal_no_followup" | "paused" => Tone::Dim,
        _ => Tone::Wait,
    };
    Cell::toned(state, tone)
}

pub fn all(page: &mut Page, value: &Value) {
    let goals = items(value, "goals");
    if goals.is_empty() {
        page.head(Tone::Dim, "no goals", "");
        page.command("next", "loopx goal create --goal-id NAME --objective TEXT --agent-id AGENT");
        return;
    }
    let running = goals.iter().filter(|g| yes(g, "should_run")).count();
    let gates: u64 = goals.iter().map(|g| number(g, "gates")).sum();
    page.head(
        Tone::Plain,
        &count(u64::try_from(goals.len()).unwrap_or(0), "goal"),
        &format!("{running} may run, {}", count(gates, "gate") + " open"),
    );
    let rows = goals
        .iter()
        .map(|g| {
            let gates = match (number(g, "gates"), instant(g, "oldest_gate_at")) {
                (0, _) => "-".to_owned(),
                (n, None) => n.to_string(),
                (n, Some(at)) => format!("{n}, oldest {}", distance(page.now(), at)),
            };
            let due = match number(g, "monitors_due") {
                0 => "-".to_owned(),
                n => format!("{n} due"),
            };
            let run = if yes(g, "should_run") {
                let agents = word(g, "run_agents");
                Cell::toned(if agents == "-" { "yes".to_owned() } else { agents }, Tone::Good)
            } else {
                Cell::from("-")
            };
            let open = match g.get("open_agent_todos") {
                Some(Value::Number(_)) => {
                    format!("{} + {}", number(g, "open_agent_todos"), number(g, "open_user_todos"))
                }
                _ => "-".to_owned(),
            };
            let slots = match g.get("spent_slots") {
                Some(Value::Number(_)) => {
                    format!("{} / {}", word(g, "spent_slots"), word(g, "allowed_slots"))
                }
                _ => "-".to_owned(),
            };
            let seen = instant(g, "last_seen")
                .map_or_else(|| "-".to_owned(), |at| distance(page.now(), at));
            vec![
                Cell::from(word(g, "goal_id")),
                state_cell(text(g, "state")),
                run,
                Cell::from(slots),
                Cell::from(open),
                Cell::from(gates),
                Cell::from(due),
                Cell::from(seen),
                Cell::from(word(g, "rule")),
                Cell::from(text(g, "objective")),
            ]
        })
        .collect();
    page.table(
        &[
            "goal",
            "state",
            "may run",
            "slots",
            "open",
            "gates",
            "monitors",
            "seen",
            "rule",
            "objective",
        ],
        rows,
    );
    problems(page, goals);
}

pub fn one(page: &mut Page, value: &Value) {
    page.head(Tone::Plain, text(value, "goal_id"), text(value, "objective"));
    page.line("state", if yes(value, "stopped") { "stopped" } else { text(value, "state") });
    let quota = value.get("window").unwrap_or(&Value::Null);
    window(page, quota);
    if number(quota, "overrun_slots") > 0 {
        page.line("overrun", count(number(quota, "overrun_slots"), "slot"));
    }
    if let Some(at) = instant(quota, "next_eligible_at") {
        page.line("slot free", relative(page.now(), at));
    }
    match value.get("counts").filter(|c| c.is_object()) {
        Some(known) => page.line("open", counts(known)),
        None => page.line("open", "not known"),
    }
    usage_line(page, value.get("usage").unwrap_or(&Value::Null));
    for problem in items(value, "health") {
        page.line("problem", format!("{}: {}", text(problem, "code"), text(problem, "message")));
        page.command("mend", text(problem, "next_command"));
    }
    agents(page, items(value, "agents"));
    gates(page, items(value, "gates"));
    waiting_people(page, items(value, "user_actions"));
    monitors(page, value.get("monitors").unwrap_or(&Value::Null));
    turns(page, items(value, "turns"));
    usage(page, value.get("usage").unwrap_or(&Value::Null));
    let findings = items(value, "findings");
    if !findings.is_empty() {
        page.section("findings");
        for finding in findings {
            page.line(
                text(finding, "code"),
                format!("{}: {}", text(finding, "about"), text(finding, "message")),
            );
            page.command("", text(finding, "next_command"));
        }
    }
    commit_table(page, items(value, "commits"));
    if !text(value, "next_command").is_empty() {
        page.section("why");
        page.command("next", text(value, "next_command"));
    }
}

fn counts(counts: &Value) -> String {
    let mut said = Vec::new();
    for (key, one) in [
        ("advancement_task", "advancement todo"),
        ("continuous_monitor", "monitor"),
        ("blocker", "blocker"),
        ("user_gate", "gate"),
        ("user_action", "user action"),
    ] {
        let n = number(counts, key);
        if n > 0 {
            said.push(count(n, one));
        }
    }
    if said.is_empty() {
        said.push("nothing".to_owned());
    }
    for key in ["blocked", "deferred"] {
        let n = number(counts, key);
        if n > 0 {
            said.push(format!("{n} of them {key}"));
        }
    }
    let done = number(counts, "agent_done") + number(counts, "user_done");
    format!("{}; {done} done", said.join(", "))
}

fn usage_line(page: &mut Page, usage: &Value) {
    if number(usage, "reports") > 0 {
        page.line("model", tokens(usage));
    }
}

fn tokens(usage: &Value) -> String {
    let cost = match usage.get("cost_micros").and_then(Value::as_u64) {
        Some(micros) => format!(", cost {}.{:06}", micros / 1_000_000, micros % 1_000_000),
        None => String::new(),
    };
    let reports = match usage.get("reports").and_then(Value::as_u64) {
        Some(n) => format!(" in {}", count(n, "report")),
        None => String::new(),
    };
    format!(
        "{} tokens read, {} written{cost}{reports}",
        number(usage, "input_tokens"),
        number(usage, "output_tokens")
    )
}

fn agents(page: &mut Page, agents: &[Value]) {
    page.section("agents");
    let rows = agents
        .iter()
        .map(|a| {
            let run = if yes(a, "should_run") { ("run", Tone::Good) } else { ("wait", Tone::Wait) };
            let mut seen = instant(a, "last_seen")
                .map_or_else(|| "never".to_owned(), |at| relative(page.now(), at));
            if yes(a, "absent") {
                seen.push_str(", absent");
            }
            vec![
                Cell::from(word(a, "agent_id")),
                Cell::toned(run.0, run.1),
                Cell::from(format!("{} {}", word(a, "rule_order"), text(a, "rule"))),
                Cell::from(if text(a, "work_mode") == "active" {
                    "-"
                } else {
                    text(a, "work_mode")
                }),
                Cell::from(seen),
                Cell::from(text(a, "reason")),
            ]
        })
        .collect();
    page.wrapped_table(&["agent", "now", "rule", "work mode", "last seen", "why"], rows);
}

fn gates(page: &mut Page, gates: &[Value]) {
    if gates.is_empty() {
        return;
    }
    page.section("gates that wait for a person");
    let rows = gates
        .iter()
        .map(|g| {
            let waited = match g.get("waited_minutes").and_then(Value::as_u64) {
                Some(minutes) => {
                    let since = instant(g, "since").map(super::time::minute).unwrap_or_default();
                    format!("{} (since {since})", span(minutes))
                }
                None => "-".to_owned(),
            };
            vec![
                Cell::from(word(g, "todo_id")),
                Cell::from(waited),
                Cell::from(text(g, "blocks")),
                Cell::from(text(g, "text")),
            ]
        })
        .collect();
    page.table(&["gate", "waits", "blocks", "question"], rows);
    if let Some(first) = gates.first() {
        page.command("decide", text(first, "next_command"));
    }
}

fn waiting_people(page: &mut Page, actions: &[Value]) {
    if actions.is_empty() {
        return;
    }
    page.section("for a person to do");
    let rows = actions
        .iter()
        .map(|a| {
            vec![
                Cell::from(word(a, "todo_id")),
                Cell::from(word(a, "agent_id")),
                Cell::from(text(a, "text")),
            ]
        })
        .collect();
    page.table(&["todo", "for agent", "text"], rows);
}

fn monitors(page: &mut Page, monitors: &Value) {
    let shown = items(monitors, "items");
    if shown.is_empty() {
        return;
    }
    page.section(&format!(
        "monitors ({} open, {} due)",
        number(monitors, "open"),
        number(monitors, "due")
    ));
    let rows = shown
        .iter()
        .map(|m| {
            let due = match (yes(m, "due"), instant(m, "due_at")) {
                (true, Some(at)) => {
                    Cell::toned(format!("due {}", relative(page.now(), at)), Tone::Good)
                }
                (true, None) => Cell::toned("due now", Tone::Good),
                (false, Some(at)) => Cell::from(relative(page.now(), at)),
                (false, None) => Cell::toned("no schedule", Tone::Wait),
            };
            vec![
                Cell::from(word(m, "todo_id")),
                due,
                Cell::from(word(m, "cadence")),
                Cell::from(word(m, "claimed_by")),
                Cell::from(text(m, "text")),
            ]
        })
        .collect();
    page.table(&["monitor", "due", "every", "claimed by", "text"], rows);
}

fn turns(page: &mut Page, turns: &[Value]) {
    if turns.is_empty() {
        return;
    }
    page.section("turns under way");
    let rows = turns
        .iter()
        .map(|t| {
            vec![
                Cell::from(word(t, "turn_instance_id")),
                Cell::from(word(t, "agent_id")),
                Cell::from(word(t, "todo_id")),
                Cell::from(word(t, "reserved_slots")),
                Cell::from(
                    instant(t, "until")
                        .map_or_else(|| "-".to_owned(), |at| relative(page.now(), at)),
                ),
            ]
        })
        .collect();
    page.table(&["turn", "agent", "todo", "slots", "ends"], rows);
}

fn usage(page: &mut Page, usage: &Value) {
    if number(usage, "reports") == 0 {
        return;
    }
    page.section("model usage");
    for agent in items(usage, "agents") {
        page.line(&word(agent, "agent_id"), tokens(agent));
    }
    let turns = items(usage, "last_turns");
    let rows = turns
        .iter()
        .map(|t| {
            vec![
                Cell::from(
                    instant(t, "at").map_or_else(|| "-".to_owned(), |at| relative(page.now(), at)),
                ),
                Cell::from(word(t, "turn_instance_id")),
                Cell::from(word(t, "agent_id")),
                Cell::from(word(t, "todo_id")),
                Cell::from(number(t, "input_tokens").to_string()),
                Cell::from(number(t, "output_tokens").to_string()),
            ]
        })
        .collect();
    page.table(&["last turns", "turn", "agent", "todo", "read", "written"], rows);
}
