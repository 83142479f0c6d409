//! Reading: what is a todo, what is not, and what cannot be read.

use super::super::{Checkbox, Document, SectionKind, new_document};
use super::{file, now, parse, todos};
use crate::ErrorCode;
use crate::model::{GoalId, Role, TaskClass, TodoStatus};

fn agent(body: &str) -> Document {
    parse(&file("", body))
}

fn malformed(body: &str) -> Option<String> {
    agent(body).todos()[0].todo.malformed.clone()
}

#[test]
fn not_utf8_names_the_byte() {
    let error = Document::parse(b"## Agent Todo\n\xff").unwrap_err();
    assert_eq!(error.code, ErrorCode::StateFileUnreadable);
    assert!(error.text().contains("14"), "{}", error.text());
}

#[test]
fn sections_are_found_by_part_and_archive_goes_first() {
    let text = "- [ ] before\n## my USER TODO list\n- [ ] u\n## Codex Todo\n- [x] a\n### sub\n* [-] b\n## Agent Todo Archive\n- [x] old\n## 待办归档\n- [x] older\n## Notes\n- [ ] no\n";
    let document = parse(text);
    let found: Vec<_> = document
        .todos()
        .iter()
        .map(|p| (p.todo.text.as_str(), p.section, p.todo.role, p.todo.archived))
        .collect();
    assert_eq!(
        found,
        [
            ("u", SectionKind::User, Role::User, false),
            ("a", SectionKind::Agent, Role::Agent, false),
            ("b", SectionKind::Agent, Role::Agent, false),
            ("old", SectionKind::Archive, Role::Agent, true),
            ("older", SectionKind::Archive, Role::Agent, true),
        ]
    );
    assert_eq!(document.todos()[2].todo.status, TodoStatus::Deferred);
    assert_eq!(document.todos()[2].todo.order, 3 * 1024);
}

#[test]
fn a_checkbox_or_heading_in_a_fence_is_not_read() {
    let document = agent(
        "- [ ] a\n```md\n- [ ] not\n## User Todo\n- [ ] nor\n```\n~~~\n- [ ] x\n```\n- [ ] y\n~~~\n- [ ] b",
    );
    let texts: Vec<_> = todos(&document).into_iter().map(|t| t.text).collect();
    assert_eq!(texts, ["a", "b"]);
    // A fence that nobody closes hides nothing.
    let open = agent("```\n- [ ] a\n- [ ] b\n~~~~\n~~~");
    assert_eq!(open.todos().len(), 2);
}

#[test]
fn metadata_in_both_forms_over_several_lines() {
    let document = agent(
        "- [ ] [P1]  do\tit\n  and more\n\n  <!-- loopx:todo todo_id=TODO_abc status=blocked claimed_by=Agent%20A note=a%20%2Bb -->\nfree\n<!--loopx: note=later unknown=%3E1 excluded_agents=b,a%2Cc-->\n  tail",
    );
    let parsed = &document.todos()[0];
    assert_eq!(parsed.todo.text, "[P1] do it and more tail");
    assert_eq!(parsed.todo.todo_id.as_str(), "todo_abc");
    assert_eq!((parsed.todo.status, parsed.checkbox), (TodoStatus::Blocked, Checkbox::Open));
    assert_eq!(parsed.todo.claimed_by.as_ref().unwrap().as_str(), "agent-a");
    assert_eq!(parsed.todo.note.as_deref(), Some("later"));
    assert_eq!(parsed.todo.extra["unknown"], ">1");
    let excluded: Vec<_> = parsed.todo.excluded_agents.iter().map(ToString::to_string).collect();
    assert_eq!(excluded, ["a", "b", "c"]);
    assert!(parsed.had_id && parsed.problems.is_empty());
}

#[test]
fn what_makes_metadata_unreadable() {
    for (metadata, word) in [
        ("<!-- loopx:todo broken=\"todo_id=todo_abc status=open -->", "percent-encoded"),
        ("<!-- loopx:todo todo_id -->", "`=`"),
        ("<!-- loopx:todo Key=1 -->", "key"),
        ("<!-- loopx:todo note=a%2 -->", "escape"),
        ("<!-- loopx:todo note=%ff -->", "escape"),
        ("<!-- loopx:todo todo_id=x -->", "`todo_id`"),
        ("<!-- loopx:todo status=opne -->", "`status`"),
        ("<!-- loopx:todo task_class=gate -->", "`task_class`"),
        ("<!-- loopx:todo claimed_by=9 -->", "`claimed_by`"),
        ("<!-- loopx:todo next_due_at=soon -->", "`next_due_at`"),
        ("<!-- loopx:todo cadence=often -->", "`cadence`"),
        ("<!-- loopx:todo global_gate=maybe -->", "`global_gate`"),
        ("<!-- loopx:todo consecutive_no_change=few -->", "`consecutive_no_change`"),
        ("<!-- loopx:todo note=a", "close"),
        ("<!-- loopx:todo note=a --> b", "close"),
    ] {
        let why = malformed(&format!("- [ ] a\n  {metadata}")).unwrap_or_default();
        assert!(why.contains(word), "{metadata}: {why:?}");
    }
    for fine in [
        "decision_scope=what required_decision_scopes=release:prod",
        "resume_when=moon_full",
        "made_up=1 consecutive_no_change=3.0 claimed_by= last_checked_at=2026-11-29T22:57:52%2B00:00",
    ] {
        assert_eq!(malformed(&format!("- [ ] a\n  <!-- loopx:todo {fine} -->")), None, "{fine}");
    }
}

#[test]
fn a_malformed_todo_keeps_what_can_be_read() {
    let document = agent(
        "- [ ] a\n  <!-- loopx:todo todo_id=todo_abc status=blocked cadence=often claimed_by=b -->",
    );
    let todo = &document.todos()[0].todo;
    assert_eq!((todo.todo_id.as_str(), todo.status), ("todo_abc", TodoStatus::Blocked));
    assert!(todo.claimed_by.is_some() && todo.cadence.is_none() && todo.malformed.is_some());
}

#[test]
fn ids_are_stable_unique_and_never_taken_from_a_line_that_states_one() {
    let text = "- [ ] a\n- [ ] a\n- [ ] b\n  <!-- loopx:todo todo_id=todo_abc -->\n- [ ] c\n  <!-- loopx:todo todo_id=todo_abc -->";
    let document = agent(text);
    let ids: Vec<_> = todos(&document).into_iter().map(|t| t.todo_id.to_string()).collect();
    assert_eq!(ids, todos(&agent(text)).iter().map(|t| t.todo_id.to_string()).collect::<Vec<_>>());
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    assert_eq!(ids[2], "todo_abc");
    assert!(document.todos()[3].id_duplicated);
    assert_eq!(document.findings()[0].code, "todo_id_duplicated");
    // The derived id of the first line, stated by the second.
    let stolen = agent(&format!("- [ ] a\n- [ ] other\n  <!-- loopx:todo todo_id={} -->", ids[0]));
    assert_eq!(stolen.todos()[1].todo.todo_id.as_str(), ids[0]);
    assert!(!stolen.todos()[1].id_duplicated);
}

#[test]
fn classes_come_from_metadata_or_kind_never_from_prose() {
    let document = parse(&file(
        "- [ ] decide",
        "- [ ] watch the build\n- [ ] x\n  <!-- loopx:todo action_kind=poll -->",
    ));
    let classes: Vec<_> = todos(&document).into_iter().map(|t| t.task_class).collect();
    assert_eq!(classes, [TaskClass::UserGate, TaskClass::Advancement, TaskClass::Monitor]);
    assert_eq!(document.findings()[0].code, "user_todo_unclassified");
}

#[test]
fn a_done_advancement_dangles_only_while_no_work_is_left() {
    let done =
        "- [x] a\n  <!-- loopx:todo todo_id=todo_aaa status=done task_class=advancement_task -->";
    assert!(agent(done).todos()[0].todo.dangling);
    assert!(!agent(&format!("{done}\n- [-] later")).todos()[0].todo.dangling);
    assert!(!agent(&done.replace(" -->", " no_followup=true -->")).todos()[0].todo.dangling);
    let archived = parse(&format!("## Completed Work Archive\n{done}\n"));
    assert!(!archived.todos()[0].todo.dangling);
}

#[test]
fn an_empty_box_alone_is_no_todo() {
    assert_eq!(agent("- [ ]\n- [ ] \n- [ ] a").todos().len(), 1);
    assert_eq!(agent("- [ ]\n  <!-- loopx:todo todo_id=todo_abc -->").todos()[0].todo.text, "");
    assert_eq!(agent("- [x]a\n-[ ] b\n+ [ ] c").todos().len(), 0);
}

#[test]
fn only_line_feeds_break_lines() {
    let document = agent("- [ ] a\u{2028}- [ ] b\u{c}- [ ] c\r- [ ] d\u{85}e");
    assert_eq!(document.todos().len(), 1);
    assert_eq!(document.todos()[0].todo.text, "a - [ ] b - [ ] c - [ ] d e");
}

#[test]
fn front_matter_ends_at_a_line_of_its_own_and_a_bom_is_no_obstacle() {
    let text = "\u{feff}---\r\nobjective: \"Ship --- \\\"fast\\\"\"\r\nhandoff_mode: hard_lease\r\n---\r\n\r\n## Agent Todo\r\n- [ ] a\r\n";
    let document = parse(text);
    assert_eq!(document.front_matter("objective").as_deref(), Some("Ship --- \"fast\""));
    assert_eq!(document.front_matter("handoff_mode").as_deref(), Some("hard_lease"));
    assert_eq!(document.todos()[0].todo.text, "a");
    assert_eq!(document.to_bytes(), text.as_bytes());
    assert_eq!(parse("---\nno: end\n").front_matter("no"), None);
}

#[test]
fn a_fresh_document_reads_back_and_has_no_todo() {
    let goal = GoalId::parse("demo").unwrap();
    for objective in
        ["Ship --- fast", "a\n---\nb: \"c\\d\"", "## User Todo", "```", "- [ ] x", "\u{202e}目标"]
    {
        let bytes = new_document(&goal, objective, now());
        let document = Document::parse(&bytes).unwrap();
        let one_line = objective.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(document.front_matter("objective").as_deref(), Some(one_line.as_str()));
        assert_eq!(document.front_matter("adapter_id").as_deref(), Some("demo"));
        assert!(document.todos().is_empty());
        let kinds: Vec<_> = document.sections.iter().map(|s| s.kind).collect();
        use SectionKind::{Agent, Other, User};
        assert_eq!(kinds, [Other, User, Agent, Other, Other], "{objective}");
    }
}
