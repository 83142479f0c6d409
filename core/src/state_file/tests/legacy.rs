//! The earlier tool's ledger, whole and damaged.

use super::super::{Ledger, read_ledger};
use crate::model::{OutcomeKind, TurnState};

fn read(index: &str) -> Ledger {
    read_ledger(Some(index.as_bytes()), None, &mut |_| None)
}

fn spend(second: u32, extra: &str) -> String {
    format!(
        "{{\"generated_at\": \"2026-11-29T20:56:{second:02}+00:00\", \"classification\": \"quota_slot_spent\", \"agent_id\": \"agent-a\"{extra}}}\n"
    )
}

fn event(slots: u32) -> String {
    format!(", \"quota_event\": {{\"source\": \"heartbeat\", \"slots\": {slots}}}")
}

fn codes(ledger: &Ledger) -> Vec<&str> {
    ledger.findings.iter().map(|f| f.code.as_str()).collect()
}

#[test]
fn nothing_is_an_empty_ledger() {
    assert_eq!(read_ledger(None, None, &mut |_| None), Ledger::default());
}

#[test]
fn slots_come_from_the_row_else_from_the_artifact_else_count_one() {
    let index = spend(1, &event(2))
        + &spend(2, ", \"json_path\": \"/p/a.json\"")
        + &spend(3, ", \"json_path\": \"/p/gone.json\"")
        + &spend(4, "");
    let ledger = read_ledger(Some(index.as_bytes()), None, &mut |path| {
        (path == "/p/a.json")
            .then(|| b"{\"quota_event\": {\"slots\": 5, \"todo_id\": \"todo_abc\"}}".to_vec())
    });
    assert_eq!(
        ledger.spends.iter().map(|s| (s.id, s.slots)).collect::<Vec<_>>(),
        [(1, 2), (2, 5), (3, 1), (4, 1)]
    );
    assert_eq!(ledger.spends[0].source, "heartbeat");
    assert_eq!(ledger.spends[1].todo_id.as_ref().unwrap().as_str(), "todo_abc");
    assert_eq!(codes(&ledger), ["spend_artifact_missing"]);
    assert!(!ledger.findings[0].message.contains("/p/"));
}

#[test]
fn rows_of_one_run_are_one_and_later_fields_win() {
    let row = spend(1, &(event(1) + ", \"json_path\": \"a\""));
    let ledger = read(
        &(row.clone()
            + &row
            + &spend(1, ", \"json_path\": \"a\", \"quota_event\": {\"slots\": 3}")
            + &spend(1, &(event(1) + ", \"json_path\": \"b\""))),
    );
    assert_eq!(ledger.spends.iter().map(|s| s.slots).collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn a_void_takes_back_what_its_target_has_and_no_more() {
    let void = |slots: &str, at: &str| {
        format!(
            "{{\"generated_at\": \"2026-11-29T21:00:00Z\", \"json_path\": \"{}{at}\", \"classification\": \"quota_slot_voided\", \"quota_event\": {{{slots}\"voided_run_generated_at\": \"{at}\"}}}}\n",
            slots.len()
        )
    };
    let index = void("\"slots\": 1, ", "2026-11-29T20:56:01Z")
        + &spend(1, &event(2))
        + &void("\"slots\": 9, ", "2026-11-29T21:56:01+01:00")
        + &spend(2, &event(2))
        + &void("", "2026-11-29T20:56:02Z")
        + &void("\"slots\": 1, ", "2020-01-01T00:00:00Z");
    let ledger = read(&index);
    assert_eq!(ledger.spends.iter().map(|s| s.live()).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(codes(&ledger), ["void_artifact_missing", "void_target_missing"]);
}

#[test]
fn broken_lines_are_counted_and_a_record_glued_to_a_torn_one_is_saved() {
    let whole = spend(1, &event(1));
    let index = format!(
        "{}{{\"generated_at\": \"2026-{}not json\n[1]\n\n\u{0}\n{}",
        spend(0, &event(1)),
        whole,
        spend(2, &event(1)).trim_end()
    );
    let ledger = read(&index);
    assert_eq!(ledger.spends.len(), 3);
    assert_eq!(codes(&ledger), ["ledger_lines_broken"]);
    assert!(ledger.findings[0].message.starts_with("4 "), "{:?}", ledger.findings);
    assert_eq!(read_ledger(Some(b"\xff\xfe\n"), None, &mut |_| None).findings.len(), 1);
}

#[test]
fn an_outcome_is_spent_by_the_next_spend_of_its_agent() {
    let outcome = |second: u32, agent: &str, kind: &str, class: &str| {
        format!(
            "{{\"generated_at\": \"2026-11-29T20:56:{second:02}+00:00\", \"json_path\": \"{second}{agent}{class}\", \"classification\": \"{class}\", \"agent_id\": \"{agent}\", \"delivery_outcome\": \"{kind}\", \"recommended_action\": \"go on\"}}\n"
        )
    };
    let index = outcome(1, "agent-a", "outcome_progress", "validated_progress")
        + &outcome(1, "agent-b", "primary_goal_outcome", "x")
        + &spend(1, &event(1))
        + &outcome(2, "agent-a", "surface_only", "quota_monitor_poll")
        + &outcome(3, "agent-a", "outcome_progress", "state_refreshed")
        + &outcome(4, "agent-a", "never_heard_of", "state_refreshed");
    let ledger = read(&index);
    let found: Vec<_> = ledger.outcomes.iter().map(|o| (o.id, o.kind, o.spent_by)).collect();
    assert_eq!(
        found,
        [
            (1, OutcomeKind::Progress, Some(3)),
            (2, OutcomeKind::Primary, None),
            (4, OutcomeKind::Progress, None),
            (5, OutcomeKind::SurfaceOnly, None),
        ]
    );
}

#[test]
fn turns_and_merged_requests_come_from_the_event_log() {
    let admitted = |turn: &str, run: bool| {
        format!(
            "{{\"agent_id\": \"agent-a\", \"details\": {{\"should_run\": {run}, \"todo_id\": \"todo_abc\"}}, \"event_kind\": \"quota_should_run\", \"recorded_at\": \"2026-11-29T20:57:51.094979Z\", \"run_id\": \"{turn}\"}}\n"
        )
    };
    let log = admitted("t1", true)
        + &admitted("t2", false)
        + &admitted("t3", true)
        + &admitted("t1", false)
        + "{\"event_kind\": \"quota_should_run\", \"recorded_at\": \"2026-11-29T20:57:52Z\"}\n"
        + "{\"event_kind\": \"pr_merge\", \"code_refs\": [\"o/r#7\", \"https://github.com/o/r/pull/8\"], \"summary\": \"merges #9\", \"details\": {\"ref\": \"#7\"}}\n"
        + "torn";
    let index = spend(1, &(event(1) + ", \"turn_instance_id\": \"t1\""));
    let ledger = read_ledger(Some(index.as_bytes()), Some(log.as_bytes()), &mut |_| None);
    let turns: Vec<_> = ledger.turns.iter().map(|t| (t.turn_id.as_str(), t.state)).collect();
    assert_eq!(
        turns,
        [("t1", TurnState::Settled), ("t2", TurnState::Skipped), ("t3", TurnState::Released)]
    );
    assert_eq!(ledger.turns[0].todo_id.as_ref().unwrap().as_str(), "todo_abc");
    let references: Vec<_> = ledger.signals.iter().map(|s| s.reference.as_str()).collect();
    assert_eq!(references, ["#7", "o/r#7", "o/r#8"]);
    assert_eq!(codes(&ledger), ["rollout_lines_broken"]);
}

#[test]
fn a_spend_in_the_future_is_kept() {
    let index = spend(1, &event(1)).replace("2026", "2999");
    assert_eq!(read(&index).spends.len(), 1);
}
