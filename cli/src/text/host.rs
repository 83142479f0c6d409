//! Connectors, plans and prompts as text.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::value::{items, number, shown, text, word, yes};

/// `connectors list` and `value-connectors`.
pub fn connectors(page: &mut Page, value: &Value) {
    let hosts = items(value, "connectors");
    if !hosts.is_empty() {
        let rows = hosts
            .iter()
            .map(|c| {
                vec![
                    Cell::from(word(c, "id")),
                    Cell::from(word(c, "host")),
                    Cell::from(text(c, "surface")),
                ]
            })
            .collect();
        page.table(&["connector", "host", "surface"], rows);
    }
    let value_connectors = items(value, "value_connectors");
    if !value_connectors.is_empty() {
        page.section("value connectors (none runs in this version)");
        let rows = value_connectors
            .iter()
            .map(|c| {
                vec![
                    Cell::from(word(c, "id")),
                    Cell::from(word(c, "status")),
                    Cell::from(text(c, "service")),
                ]
            })
            .collect();
        page.table(&["connector", "status", "service"], rows);
    }
    let candidates = items(value, "candidates");
    if !candidates.is_empty() {
        page.section("candidates (listed, not available)");
        let rows = candidates
            .iter()
            .map(|c| {
                vec![
                    Cell::from(word(c, "id")),
                    Cell::from(word(c, "status")),
                    Cell::from(text(c, "upstream_surface")),
                ]
            })
            .collect();
        page.table(&["candidate", "status", "upstream"], rows);
    }
}

/// `connectors show`.
pub fn connector(page: &mut Page, value: &Value) {
    let entry = value.get("connector").unwrap_or(&Value::Null);
    page.head(Tone::Plain, text(entry, "id"), text(entry, "kind"));
    for (field, said) in entry.as_object().into_iter().flatten() {
        if !matches!(field.as_str(), "id" | "kind" | "host") {
            page.line(&field.replace('_', " "), shown(said));
        }
    }
    let Some(host) = value.get("host") else { return };
    page.section("host");
    page.line("--host", word(host, "host"));
    page.line("also", shown(host.get("aliases").unwrap_or(&Value::Null)));
    page.line("profile", word(host, "runtime_profile"));
    page.line(
        "woken with",
        format!("{}, {} characters", text(host, "body_kind"), number(host, "thin_limit")),
    );
    page.line("spends as", text(host, "spend_source"));
    page.line("stops by", text(host, "stop_rule"));
    let activation = host.get("activation").unwrap_or(&Value::Null);
    page.line("switched on by", text(activation, "owner"));
    page.command("command", text(activation, "command"));
    for file in items(host, "install") {
        page.line(
            "installs",
            format!("{} {} in {}", text(file, "kind"), text(file, "path"), text(file, "place")),
        );
    }
}

/// `host-mode-plan`.
pub fn plan(page: &mut Page, value: &Value) {
    let ready = yes(value, "selected_capability_ready");
    let tone = if ready { Tone::Good } else { Tone::Wait };
    let state = if ready { "ready" } else { "not ready" };
    page.head(
        tone,
        state,
        &format!("{} for {}", text(value, "selected_mode"), text(value, "user_intent")),
    );
    page.line("host", word(value, "host_identity"));
    page.line("connector", word(value, "selected_connector_id"));
    if value.get("connector_id").is_some_and(|c| !c.is_null()) {
        page.line("with", word(value, "connector_id"));
    }
    page.line("agent", word(value, "agent_id"));
    if !ready {
        page.line("in the way", word(value, "selected_blocking_reasons"));
    }
    page.command("look", text(value, "next_preview_command"));
    page.section("steps");
    let rows = items(value, "operator_next_steps")
        .iter()
        .map(|s| {
            vec![
                Cell::from(word(s, "step")),
                Cell::from(text(s, "action")),
                Cell::from(word(s, "command")),
            ]
        })
        .collect();
    page.table(&["step", "what", "command"], rows);
    page.section("modes");
    let rows = items(value, "mode_options")
        .iter()
        .map(|m| {
            vec![
                Cell::from(text(m, "mode")),
                Cell::from(word(m, "connector_id")),
                Cell::from(word(m, "capability_ready")),
            ]
        })
        .collect();
    page.table(&["mode", "connector", "ready"], rows);
}

/// `heartbeat-prompt`: what to do with the body, the body between fences, and its size.
pub fn prompt(page: &mut Page, value: &Value) {
    let budget = value.get("interface_budget").unwrap_or(&Value::Null);
    page.head(
        Tone::Plain,
        text(value, "host"),
        &format!(
            "{}, {} of {} characters",
            text(value, "style"),
            number(budget, "char_count"),
            number(budget, "max_chars")
        ),
    );
    page.line("it is", text(value, "placement"));
    if value.get("commit").is_some() {
        let hint = value.get("scheduler_hint").unwrap_or(&Value::Null);
        page.line("loop", "recorded as switched on");
        page.line("begin", format!("look again in {} min", number(hint, "next_check_minutes")));
    }
    page.command("activate", text(value, "activate_command"));
    page.section("````text");
    page.verbatim(text(value, "task_body"));
    page.verbatim("````");
    page.section("again");
    page.command("short", text(value, "thin_prompt_command"));
    page.command("whole", text(value, "expanded_prompt_command"));
}
