//! The recorded rows of the earlier tool's scheduler, replayed: every row is equal, or
//! named in `tests/vectors/DIFFERENCES.md` with the rule that makes ours better.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "scheduler_vectors/shape.rs"]
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use loopx_core::model::{AgentId, AgentSeen, Cadence, HostUpdateFailure, Instant, SchedulerState};
use loopx_core::schedule::ack::{AckClaim, Scope, ack_plan};
use loopx_core::schedule::app::projected_automation_id;
use loopx_core::schedule::arbitration::Arbitration;
use loopx_core::schedule::failure::{GateCooldown, deduplicate, retained};
use loopx_core::schedule::rrule::{interval_minutes, normalize, rrule_for_minutes};
use loopx_core::schedule::wait::{Deadline, Watched};
use loopx_core::schedule::{ExecutionContext, HintInput, HintSize};
use serde_json::{Value, json};

use shape::{named, ours, theirs};

/// Kinds that are replayed elsewhere: end-to-end rows by `tests/suite/scheduler.rs`, the
/// rows of loops and workers where those are.
const ELSEWHERE: [&str; 12] = [
    "meta",
    "host_poll_receipt",
    "e2e",
    "e2e_raw",
    "e2e_ack",
    "e2e_fail",
    "worker",
    "pi_runtime",
    "opencode_runtime",
    "opencode2_runtime",
    "local_tick",
    "seed_expected",
];

fn file(name: &str) -> String {
    let path = format!("{}/../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn rows() -> Vec<Value> {
    file("scheduler.jsonl").lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn instant(value: &Value) -> Option<Instant> {
    value.as_str().and_then(Instant::parse)
}

fn noon() -> Instant {
    Instant::parse("2026-01-01T12:00:00Z").unwrap()
}

fn watched(item: &Value) -> Watched {
    let given = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
    Watched {
        identity: given("todo_id").unwrap_or_default(),
        todo_id: given("todo_id"),
        target_key: given("target_key"),
        cadence: given("cadence").and_then(|c| Cadence::parse(&c)),
        next_due_at: instant(&item["next_due_at"]),
        expires_at: instant(&item["expires_at"]),
        last_checked_at: instant(&item["last_checked_at"]),
    }
}

fn profile(name: &Value) -> Option<ExecutionContext> {
    name.as_str().map(|n| ExecutionContext::of_profile(n).unwrap())
}

/// What the row's decision comes to as the input of a hint. The earlier tool's identity
/// has the free text of `recommended_action` where ours has typed ids.
fn input<'a>(
    decision: &'a Value,
    context: Option<&'a ExecutionContext>,
    now: Instant,
) -> HintInput<'a> {
    let at = |path: &str| decision.pointer(path).and_then(Value::as_str);
    let summary = &decision["agent_todo_summary"];
    let mut monitors: Vec<Watched> = Vec::new();
    for lane in ["current_agent_claimed_monitor_items", "monitor_open_items"] {
        for item in summary[lane].as_array().into_iter().flatten().map(watched) {
            if !monitors.iter().any(|m| m.identity == item.identity) {
                monitors.push(item);
            }
        }
    }
    let deadlines = monitors
        .iter()
        .filter(|w| w.expires_at.is_none_or(|end| end > now))
        .filter_map(|w| {
            let identity = w.identity.clone();
            w.next_due_at.map(|at| Deadline { at, source: "continuous_monitor", identity })
        })
        .collect();
    HintInput {
        goal_id: text(decision, "goal_id"),
        goal_identity: text(decision, "goal_id"),
        agent_id: at("/agent_identity/agent_id"),
        effective_action: text(decision, "effective_action"),
        recommended_mode: at("/heartbeat_recommendation/recommended_mode").unwrap_or_default(),
        arbitration: Arbitration::read(&decision["interaction_contract"]),
        subject: decision["recommended_action"].clone(),
        selected: ["todo_id", "action_kind", "target_key", "claimed_by", "capability_binding_ref"]
            .map(|key| decision.pointer(&format!("/selected_todo/{key}")).and_then(Value::as_str)),
        monitors,
        deadlines,
        context,
        now,
        ..HintInput::default()
    }
}

/// Collects what differs and holds it against the list.
#[derive(Default)]
struct Report {
    same: BTreeMap<String, usize>,
    differs: BTreeMap<String, String>,
}

impl Report {
    fn row(&mut self, kind: &str, id: &str, theirs: &Value, ours: &Value) {
        if theirs == ours {
            *self.same.entry(kind.to_owned()).or_default() += 1;
        } else {
            let said = shape::first_difference(theirs, ours, "");
            self.differs.insert(format!("{kind}/{id}"), said);
        }
    }

    fn close(self) {
        let listed: BTreeSet<String> = named(&file("DIFFERENCES.md"));
        let found: BTreeSet<String> = self.differs.keys().cloned().collect();
        for (kind, n) in &self.same {
            println!("{kind}: {n} equal");
        }
        println!("{} listed as different", found.len());
        let new: Vec<_> = self.differs.iter().filter(|(id, _)| !listed.contains(*id)).collect();
        assert!(new.is_empty(), "rows that differ and are not listed:\n{new:#?}");
        let stale: Vec<_> = listed.difference(&found).collect();
        assert!(stale.is_empty(), "rows that are listed and do not differ: {stale:#?}");
    }
}

#[test]
fn every_row_is_equal_or_named() {
    let rows = rows();
    let mut report = Report::default();
    for row in &rows {
        let kind = text(row, "kind");
        match kind {
            "hint" | "hint_hot_path" | "hint_core" | "hint_error" => {
                hint_row(&mut report, kind, row)
            }
            "execution_context" => {
                let context = ExecutionContext {
                    host_surface: text(row, "host_surface").into(),
                    scheduler_owner: text(row, "scheduler_owner").into(),
                    execution_mode: text(row, "execution_mode").into(),
                    source: "explicit".into(),
                };
                let errors = context.errors();
                let id = format!(
                    "{}+{}+{}",
                    context.host_surface, context.scheduler_owner, context.execution_mode
                );
                let said = json!([errors.is_empty(), errors]);
                report.row(kind, &id, &json!([row["ok"], row["errors"]]), &said);
            }
            "turn_context" => {
                let (host, mode) = (text(row, "host"), text(row, "execution_mode"));
                let said = ExecutionContext::of_turn(host, mode).projection();
                let expected = theirs(&row["projection"]);
                report.row(kind, &format!("{host}+{mode}"), &expected, &ours(&said));
            }
            "runtime_profile" => {
                let name = text(row, "profile");
                let context = ExecutionContext::of_profile(name).unwrap();
                let flags = context.flags().join(" ").replace("-A", "--codex-app");
                let said = json!([ours(&context.projection()), format!(" {flags}")]);
                let expected = json!([theirs(&row["projection"]), row["render"]]);
                report.row(kind, name, &expected, &said);
            }
            "rrule_for_minutes" => {
                // Doors are typed: a flag counts as one, a text as the number that it is.
                let minutes = match &row["value"] {
                    Value::Bool(flag) => Some(i64::from(*flag)),
                    Value::String(text) => text.parse().ok(),
                    number => number.as_i64(),
                };
                let said = minutes.map_or_else(
                    || "ERR:scheduler minutes must be an integer".to_owned(),
                    rrule_for_minutes,
                );
                report.row(kind, &row["value"].to_string(), &row["out"], &json!(said));
            }
            "rrule_normalize" => {
                let value = row["value"].as_str().unwrap_or_default();
                let expected = json!([row["normalized"], row["interval_minutes"]]);
                report.row(
                    kind,
                    value,
                    &expected,
                    &json!([normalize(value), interval_minutes(value)]),
                );
            }
            "monitor_cadence" => {
                let value = text(row, "value");
                let said = Cadence::parse(value).map(|c| f64::from(c.seconds()));
                report.row(kind, value, &row["seconds"], &json!(said));
            }
            "projected_automation_id" => {
                let (goal, agent) = (text(row, "goal_id"), text(row, "agent_id"));
                let said = json!(projected_automation_id(goal, agent));
                report.row(kind, &format!("{goal}+{agent}"), &row["out"], &said);
            }
            "failures_normalize" => {
                let said = shown(&deduplicate(&failures(&row["input"])));
                report.row(kind, "", &shown(&failures(&row["out"])), &said);
            }
            "failures_retain" => {
                let at = instant(&row["reference_time"]).unwrap();
                let said = retained(&failures(&row["input"]), at, row["observed"].as_str());
                report.row(kind, "", &shown(&failures(&row["out"])), &shown(&said));
            }
            "gate_cooldown" => cooldown_row(&mut report, row),
            "stale_host_poll" => {
                let age = row["age_minutes"].as_i64().unwrap();
                let seen = AgentSeen {
                    agent: AgentId::parse("agent-a").unwrap(),
                    at: noon(),
                    hint_minutes: 0,
                    polls: 1,
                    declared: None,
                };
                let said = json!(seen.is_absent(noon().plus_minutes(age)));
                report.row(kind, &age.to_string(), &json!(!row["risk"].is_null()), &said);
            }
            "state_path" => {
                let id = format!("{}+{}", text(row, "goal_id"), text(row, "agent_id"));
                report.row(kind, &id, &row["path"], &json!("a row of the goal's store"));
            }
            "token_preimage" => {
                let context = profile(&json!("generic_cli"));
                let decision = decision_of("quota_wait");
                let cadence = input(&decision, context.as_ref(), noon()).cadence();
                report.row(kind, text(row, "case"), &row["sha16"], &json!(cadence.reset_token));
            }
            // Below, in the order of the file.
            "token" | "stateful_walk" | "ack_plan" => {}
            other => {
                assert!(ELSEWHERE.contains(&other), "rows of kind {other} are replayed nowhere")
            }
        }
    }
    walks(&mut report, &rows);
    acks(&mut report, &rows);
    tokens(&mut report, &rows);
    report.close();
}

fn hint_row(report: &mut Report, kind: &str, row: &Value) {
    let context = profile(&row["profile"]);
    let now = instant(&row["now"]).unwrap_or_else(noon);
    let input = input(&row["decision"], context.as_ref(), now);
    let id = format!("{}+{}", text(row, "case"), row["profile"].as_str().unwrap_or("none"));
    match kind {
        "hint" => report.row(kind, &id, &theirs(&row["hint"]), &ours(&input.hint(HintSize::Full))),
        "hint_hot_path" => {
            report.row(kind, &id, &theirs(&row["hint"]), &ours(&input.hint(HintSize::Whole)));
        }
        "hint_error" => {
            let said = serde_json::to_value(input.hint(HintSize::Full)).unwrap();
            assert_eq!(said["goal_runtime_continuation"]["disposition"], "return_to_owner");
            report.row(kind, &id, &json!("error"), &json!("packet"));
        }
        _ => {
            let said = ours(&input.hint(HintSize::Full));
            let (expected, said) = shape::core_row(row, &said);
            report.row(kind, &id, &expected, &said);
        }
    }
}

fn failures(list: &Value) -> Vec<HostUpdateFailure> {
    list.as_array().unwrap().iter().map(|f| serde_json::from_value(f.clone()).unwrap()).collect()
}

fn shown(list: &[HostUpdateFailure]) -> Value {
    serde_json::to_value(list).unwrap()
}

fn cooldown_row(report: &mut Report, row: &Value) {
    let minutes = row["minutes_after_failure"].as_i64().unwrap();
    let failure = HostUpdateFailure {
        target_rrule: "FREQ=MINUTELY;INTERVAL=30".into(),
        observed_host_rrule: "FREQ=MINUTELY;INTERVAL=5".into(),
        failure_kind: "timeout".into(),
        failure_count: 1,
        failed_at: noon(),
    };
    let (host, target) = (row["host_interval"].as_i64(), row["target_interval"].as_i64().unwrap());
    let said = GateCooldown::after(&failure, host, target, noon().plus_minutes(minutes));
    report.row("gate_cooldown", &minutes.to_string(), &theirs(&row["cooldown"]), &ours(&said));
    // The same through the whole hint.
    let context = ExecutionContext::of_profile("codex_app_heartbeat").unwrap();
    let decision = decision_of("waiting_user");
    let state = SchedulerState {
        agent: AgentId::parse("agent-a").unwrap(),
        surface: "codex_app".into(),
        state_key: loopx_core::schedule::app::STATE_KEY.into(),
        reset_token: "t".into(),
        identity_signature: "i".into(),
        progression_index: 0,
        progression_minutes: vec![30, 60],
        last_applied_rrule: "FREQ=MINUTELY;INTERVAL=5".into(),
        updated_at: noon(),
        source: "quota_scheduler_host_update_failure".into(),
        host_update_failures: vec![failure],
    };
    let mut input = input(&decision, Some(&context), noon().plus_minutes(minutes));
    input.state = Some(&state);
    let hint = serde_json::to_value(input.hint(HintSize::Full)).unwrap();
    assert_eq!(hint["app_automation"]["host_action"], row["host_action"]);
    assert_eq!(hint["app_automation"]["stateful_backoff"]["state_status"], row["state_status"]);
    assert_eq!(hint["user_gate_notification_cooldown"], serde_json::to_value(said).unwrap());
}

/// The decision of the recorded hint of that case.
fn decision_of(case: &str) -> Value {
    let rows = rows();
    let row = rows
        .iter()
        .find(|r| matches!(text(r, "kind"), "hint" | "hint_core") && text(r, "case") == case)
        .unwrap();
    row["decision"].clone()
}

/// A host that follows its hints through the minutes of a recorded walk.
fn walks(report: &mut Report, rows: &[Value]) {
    let context = ExecutionContext::of_profile("codex_app_heartbeat").unwrap();
    let agent = AgentId::parse("agent-a").unwrap();
    let scope = Scope { agent: &agent, surface: "codex_app" };
    for walk in rows.iter().filter(|r| text(r, "kind") == "stateful_walk") {
        let case = text(walk, "case");
        let mut state: Option<SchedulerState> = None;
        for (n, at) in walk["rows"].as_array().unwrap().iter().enumerate() {
            let decision = decision_of(match (case, text(at, "state_status")) {
                ("agent_scope", _) => "agent_scope_wait",
                ("active_hold", _) | ("identity_reset", "reset_required") => "work_ready",
                _ => "quota_wait",
            });
            let now = noon().plus_minutes(at["t_min"].as_i64().unwrap());
            let mut input = input(&decision, Some(&context), now);
            input.state = state.as_ref();
            input.observed_rrule = at["host_observed"].as_str();
            let hint = serde_json::to_value(input.hint(HintSize::Full)).unwrap();
            let app = &hint["codex_app"];
            let backoff = &app["stateful_backoff"];
            let said = json!({
                "index": backoff["progression_index"],
                "state_status": backoff["state_status"],
                "current_rrule": backoff["current_rrule"],
                "apply_needed": backoff["apply_needed"],
                "ack_needed": backoff["ack_needed"],
                "recommended_rrule": app["recommended_rrule"],
                "apply": app["apply"],
                "host_action": app["host_action"],
                "contract": app["host_action_contract"],
            });
            let expected: serde_json::Map<String, Value> =
                said.as_object().unwrap().keys().map(|k| (k.clone(), at[k].clone())).collect();
            report.row("stateful_walk", &format!("{case}+{n}"), &json!(expected), &said);
            let cadence = input.cadence();
            let (ladder, step) = input.app_step(&cadence).unwrap();
            let Some(acked) = at.get("acked_state") else { continue };
            let claim = AckClaim {
                applied_rrule: acked["last_applied_rrule"].as_str(),
                reset_token: Some(&cadence.reset_token),
                identity_signature: Some(&cadence.identity_signature),
                host_match_observed: true,
                ..AckClaim::default()
            };
            let plan = ack_plan(&cadence, &step, &claim).unwrap();
            let next = scope.acknowledged(&cadence, &ladder, &step, &plan, now);
            let expected = json!([
                acked["progression_index"],
                acked["progression_minutes"],
                acked["last_applied_rrule"],
                acked["source"],
                instant(&acked["updated_at"]),
            ]);
            let said = json!([
                next.progression_index,
                next.progression_minutes,
                next.last_applied_rrule,
                next.source,
                next.updated_at,
            ]);
            report.row("stateful_walk", &format!("{case}+{n}+ack"), &expected, &said);
            state = Some(next);
        }
    }
}

fn acks(report: &mut Report, rows: &[Value]) {
    let context = ExecutionContext::of_profile("codex_app_heartbeat").unwrap();
    for (n, row) in rows.iter().filter(|r| text(r, "kind") == "ack_plan").enumerate() {
        let decision = decision_of(match text(row, "hint_case") {
            "monitor_wait_expected_15" => "monitor_near_45m",
            _ => "waiting_user",
        });
        let input = input(&decision, Some(&context), noon());
        let cadence = input.cadence();
        let (_, step) = input.app_step(&cadence).unwrap();
        let args = &row["args"];
        let given = |key: &str| args.get(key).and_then(Value::as_str);
        // A bound row has the recorded token and identity of the hint that it is about.
        let bound = row["bound"] == true;
        let plan = ack_plan(
            &cadence,
            &step,
            &AckClaim {
                applied_rrule: given("applied_rrule"),
                reset_token: if bound { Some(&cadence.reset_token) } else { given("reset_token") },
                identity_signature: if bound {
                    Some(&cadence.identity_signature)
                } else {
                    given("identity_signature")
                },
                state_key: given("state_key"),
                host_match_observed: false,
            },
        );
        // Without an agent there is no row to write: the command asks for one.
        let said = match (plan, given("agent_id")) {
            (Ok(plan), Some(_)) => {
                let mut said = json!({
                    "ok": true,
                    "already_applied": plan.already_applied,
                    "applied_rrule": plan.applied_rrule,
                    "expected_rrule": plan.expected_rrule,
                });
                if plan.stale_hint_accepted {
                    said["stale_hint_accepted"] = json!(true);
                    said["stale_hint_tolerance_minutes"] =
                        json!(loopx_core::schedule::ack::TOLERANCE_MINUTES);
                }
                said
            }
            _ => json!({"ok": false}),
        };
        report.row("ack_plan", &format!("{n}"), &row["out"], &said);
    }
}

/// A case with the token and the identity that were recorded, and ours.
type Tokens = (String, [String; 2], [String; 2]);

/// Tokens are compared by which of them are equal.
fn tokens(report: &mut Report, rows: &[Value]) {
    let profile = |case: &str| {
        let name = if case.starts_with("ark") { "ark_managed_agent_goal" } else { "generic_cli" };
        ExecutionContext::of_profile(name).unwrap()
    };
    let mut recorded: Vec<Tokens> = Vec::new();
    for row in rows.iter().filter(|r| text(r, "kind") == "token") {
        let case = text(row, "case");
        let monitor = case.starts_with("monitor");
        let mut decision = decision_of(if monitor { "monitor_near_45m" } else { "quota_wait" });
        for (path, value) in row["mutation"].as_object().into_iter().flatten() {
            set(&mut decision, path, value.clone());
        }
        let mut now = noon();
        match case {
            "monitor_recommended_action_changed" => {
                decision["recommended_action"] = json!("other words");
            }
            "monitor_next_due_44" => set(
                &mut decision,
                "agent_todo_summary.current_agent_claimed_monitor_items.0.next_due_at",
                json!("2026-01-01T12:44:00+00:00"),
            ),
            "monitor_base_now_plus_31m_same_due" => now = now.plus_minutes(31),
            _ => {}
        }
        let context = profile(case);
        let cadence = input(&decision, Some(&context), now).cadence();
        recorded.push((
            case.to_owned(),
            [text(row, "reset_token").to_owned(), text(row, "identity_signature").to_owned()],
            [cadence.reset_token, cadence.identity_signature],
        ));
    }
    for (n, (case, theirs, ours)) in recorded.iter().enumerate() {
        // Which earlier rows have the same token, and which the same identity.
        let equal = |side: fn(&Tokens) -> &[String; 2], own: &[String; 2]| {
            let rows: Vec<[bool; 2]> = recorded[..n]
                .iter()
                .map(|row| [side(row)[0] == own[0], side(row)[1] == own[1]])
                .collect();
            json!(rows)
        };
        let expected = equal(|r| &r.1, theirs);
        let said = equal(|r| &r.2, ours);
        report.row("token", case, &expected, &said);
    }
}

fn set(value: &mut Value, path: &str, to: Value) {
    let mut at = value;
    for key in path.split('.') {
        at = match key.parse::<usize>() {
            Ok(n) => &mut at[n],
            Err(_) => &mut at[key],
        };
    }
    *at = to;
}

#[test]
fn every_row_of_the_file_is_counted() {
    let rows = rows();
    assert_eq!(rows.len(), 417);
}
