//! Adoption: each rule, and what must hold for every edit.

use proptest::prelude::*;

use super::super::{Adoption, Document, Edit, adopt as adopt_edit, is_provisional};
use super::{file, now, parse, render, todos};
use crate::model::{AgentId, Continuation, GoalId, Role, TaskClass, Todo, TodoId, TodoStatus};

const USER: &str = "- [ ] [P0] decide\n  <!-- loopx:todo todo_id=todo_gate status=open task_class=user_gate global_gate=true -->\n- [ ] act\n  <!-- loopx:todo todo_id=todo_act status=open task_class=user_action -->";
const AGENT: &str = "- [ ] [P1] one\n  <!-- loopx:todo todo_id=todo_one status=open task_class=advancement_task -->\n- [ ] two\n  <!-- loopx:todo todo_id=todo_two status=open task_class=advancement_task claimed_by=agent-b -->\n- [x] old\n  <!-- loopx:todo todo_id=todo_old status=done task_class=advancement_task no_followup=true -->";

struct World {
    base: Document,
    store: Vec<Todo>,
}

fn world() -> World {
    let base = parse(&file(USER, AGENT));
    World { store: todos(&base), base }
}

impl World {
    fn todo(&mut self, id: &str) -> &mut Todo {
        self.store.iter_mut().find(|t| t.todo_id.as_str() == id).unwrap()
    }

    fn adopt_by(&self, editor: Option<&str>, edited: &str, writes: bool) -> Adoption {
        let goal_id = GoalId::trusted("g");
        let editor = editor.map(AgentId::trusted);
        let roster = [AgentId::trusted("agent-a"), AgentId::trusted("agent-b")];
        let edited = parse(edited);
        let mut minted = 0;
        let mut mint = || {
            minted += 1;
            writes.then(|| TodoId::trusted(format!("todo_mint{minted}")))
        };
        let edit = Edit {
            goal_id: &goal_id,
            base: &self.base,
            edited: &edited,
            current: &self.store,
            editor: editor.as_ref(),
            roster: &roster,
            now: now(),
        };
        adopt_edit(&edit, &mut mint)
    }

    fn adopt(&self, from: &str, to: &str) -> Adoption {
        let text = self.base.text();
        assert!(text.contains(from), "{from}");
        self.adopt_by(Some("agent-a"), &text.replacen(from, to, 1), true)
    }

    fn apply(&mut self, adoption: &Adoption) {
        for todo in &adoption.put {
            match self.store.iter_mut().find(|t| t.todo_id == todo.todo_id) {
                Some(place) => *place = todo.clone(),
                None => self.store.push(todo.clone()),
            }
        }
    }
}

fn codes(adoption: &Adoption) -> Vec<&str> {
    adoption.findings.iter().map(|f| f.code.as_str()).collect()
}

/// Nothing put, one finding of that code.
fn refused(adoption: &Adoption, code: &str) {
    assert!(adoption.put.is_empty(), "{:?}", adoption.put);
    assert_eq!(codes(adoption), [code]);
    assert!(adoption.findings[0].next_command.is_some());
}

#[test]
fn an_unedited_file_changes_nothing() {
    let w = world();
    assert_eq!(w.adopt_by(None, w.base.text(), true), Adoption::default());
    assert_eq!(w.adopt_by(None, &w.base.text().replace('\n', "\r\n"), true), Adoption::default());
    assert_eq!(w.adopt("# Active", "prose\n# Active"), Adoption::default());
}

#[test]
fn new_lines_become_todos_between_their_neighbours() {
    let w = world();
    let adoption = w.adopt("- [ ] two", "- [ ] [P0] new a\n* [-] new b\n  <!-- loopx:todo todo_id=todo_mine resume_when=todo_done:todo_one excluded_agents=agent-b zeta=1 -->\n- [ ] two");
    let [a, b] = &adoption.put[..] else { panic!("{adoption:?}") };
    assert_eq!((a.todo_id.as_str(), b.todo_id.as_str()), ("todo_mint1", "todo_mine"));
    let order = |id: &str| w.store.iter().find(|t| t.todo_id.as_str() == id).unwrap().order;
    assert!(order("todo_one") < a.order && a.order < b.order && b.order < order("todo_two"));
    assert_eq!(
        (a.role, a.task_class, a.status),
        (Role::Agent, TaskClass::Advancement, TodoStatus::Open)
    );
    assert_eq!(b.status, TodoStatus::Deferred);
    assert!(b.resume_when.is_some() && b.excluded_agents.len() == 1 && b.extra["zeta"] == "1");
    assert_eq!(a.created_at, Some(now()));
    assert!(adoption.findings.is_empty(), "{:?}", adoption.findings);
}

#[test]
fn a_position_without_room_is_the_upper_neighbours() {
    let mut w = world();
    let order = w.todo("todo_one").order;
    w.todo("todo_two").order = order + 1;
    assert_eq!(w.adopt("- [ ] two", "- [ ] new\n- [ ] two").put[0].order, order);
}

#[test]
fn a_read_gives_provisional_ids() {
    let w = world();
    let text = w
        .base
        .text()
        .replace("- [ ] act", "- [ ] u\n- [ ] act")
        .replace("- [ ] two", "- [ ] n\n- [ ] two");
    let adoption = w.adopt_by(None, &text, false);
    assert_eq!(adoption.put.iter().map(|t| t.todo_id.as_str()).collect::<Vec<_>>(), ["?1", "?2"]);
    assert!(
        adoption
            .put
            .iter()
            .all(|t| is_provisional(&t.todo_id) && TodoId::parse(t.todo_id.as_str()).is_err())
    );
    assert_eq!(adoption.put[0].task_class, TaskClass::UserGate);
    assert_eq!(codes(&adoption), ["user_todo_unclassified"]);
}

#[test]
fn a_new_line_does_not_take_authority() {
    let w = world();
    let adoption = w.adopt(
        "- [ ] two",
        "- [ ] n\n  <!-- loopx:todo status=done claimed_by=agent-b no_followup=true completed_at=2026-01-01T00:00:00Z decision_outcome=approve superseded_by=todo_one successor_todo_ids=todo_two note=kept -->\n- [ ] two",
    );
    let todo = &adoption.put[0];
    assert_eq!((todo.status, todo.note.as_deref()), (TodoStatus::Open, Some("kept")));
    assert!(
        todo.claimed_by.is_none()
            && !todo.no_followup
            && todo.completed_at.is_none()
            && todo.extra.is_empty()
    );
    assert!(todo.superseded_by.is_none() && todo.successor_todo_ids.is_empty());
    assert_eq!(codes(&adoption), vec!["authority_edit_ignored"; 7]);
    assert!(
        adoption.findings[0]
            .next_command
            .as_ref()
            .unwrap()
            .starts_with("loopx todo claim --goal-id g --todo-id todo_mint1")
    );
}

#[test]
fn a_new_ticked_line_is_done_unless_it_is_a_gate() {
    let w = world();
    let adoption = w.adopt("- [ ] two", "- [x] did this\n- [ ] two");
    assert_eq!((adoption.put[0].status, adoption.put[0].dangling), (TodoStatus::Done, true));
    let adoption = w.adopt("- [ ] act", "- [x] approve?\n- [ ] act");
    assert_eq!(adoption.put[0].status, TodoStatus::Open);
    assert_eq!(codes(&adoption), ["gate_tick_ignored", "user_todo_unclassified"]);
}

#[test]
fn changed_text_and_priority_are_adopted_unless_the_store_changed_too() {
    let mut w = world();
    let adoption = w.adopt("[P1] one", "[P0] one, sharper");
    assert_eq!(adoption.put.len(), 1);
    assert_eq!(
        (adoption.put[0].text.as_str(), adoption.put[0].priority()),
        ("[P0] one, sharper", Some(0))
    );
    w.todo("todo_one").text = "[P2] other".into();
    refused(&w.adopt("[P1] one", "[P0] one, sharper"), "edit_conflict");
    assert_eq!(w.adopt("[P1] one", "[P2] other"), Adoption::default());
    refused(&world().adopt("[P1] one", ""), "empty_text_ignored");
}

#[test]
fn ticks_of_free_and_own_work_and_of_actions_count() {
    let mut w = world();
    let adoption = w.adopt("- [ ] [P1] one", "- [x] [P1] one");
    let done = &adoption.put[0];
    assert_eq!(
        (done.status, done.completed_at, done.dangling),
        (TodoStatus::Done, Some(now()), true)
    );
    assert_eq!(done.completion_continuation, Some(Continuation::ActiveGoal));
    assert_eq!(w.adopt("- [ ] act", "- [X] act").put[0].status, TodoStatus::Done);
    refused(&w.adopt("- [ ] two", "- [x] two"), "tick_of_claimed_todo");
    let text = w.base.text().replace("- [ ] two", "- [x] two");
    assert_eq!(w.adopt_by(Some("agent-b"), &text, true).put.len(), 1);
    refused(&w.adopt_by(None, &text, true), "tick_of_claimed_todo");
    // A claim by nobody of the roster holds nothing.
    w.todo("todo_two").claimed_by = Some(AgentId::trusted("gone"));
    assert_eq!(w.adopt_by(None, &text, true).put.len(), 1);
}

#[test]
fn a_gate_is_never_decided_by_a_tick() {
    let w = world();
    let adoption = w.adopt("- [ ] [P0] decide", "- [x] [P0] decide");
    refused(&adoption, "gate_tick_ignored");
    assert_eq!(
        adoption.findings[0].next_command.as_deref(),
        Some("loopx gate decide --goal-id g --todo-id todo_gate --outcome OUTCOME")
    );
    let all = w.adopt("- [ ] [P0] decide\n  <!-- loopx:todo todo_id=todo_gate status=open task_class=user_gate", "- [x] [P0] decide\n  <!-- loopx:todo todo_id=todo_gate status=done task_class=user_action decision_outcome=approve");
    assert!(all.put.is_empty());
    assert_eq!(all.findings.len(), 4);
}

#[test]
fn unticks_and_stale_lines_bring_nothing_back() {
    let mut w = world();
    refused(&w.adopt("- [x] old", "- [ ] old"), "untick_ignored");
    // The store went on; the file still shows the todo open and something else was edited.
    w.todo("todo_one").status = TodoStatus::Done;
    let adoption = w.adopt("- [ ] act", "- [ ] act now");
    assert_eq!(adoption.put.len(), 1);
    assert_eq!(adoption.put[0].todo_id.as_str(), "todo_act");
    assert_eq!(w.adopt("- [ ] [P1] one", "- [x] [P1] one"), Adoption::default());
}

#[test]
fn changed_metadata_is_named_field_by_field() {
    let w = world();
    let adoption = w.adopt(
        "task_class=advancement_task claimed_by=agent-b",
        "task_class=blocker claimed_by=agent-a note=x",
    );
    assert!(adoption.put.is_empty());
    let messages: Vec<_> = adoption.findings.iter().map(|f| f.message.clone()).collect();
    for field in ["`task_class`", "`claimed_by`", "`note`"] {
        assert!(messages.iter().any(|m| m.contains(field)), "{messages:?}");
    }
    assert_eq!(adoption.findings.len(), 3);
    refused(&w.adopt(" global_gate=true", ""), "authority_edit_ignored");
    // A tick that also writes the status is one edit, not a contradiction.
    let both = w.adopt(
        "- [ ] [P1] one\n  <!-- loopx:todo todo_id=todo_one status=open",
        "- [x] [P1] one\n  <!-- loopx:todo todo_id=todo_one status=done",
    );
    assert_eq!((both.put.len(), both.findings.len()), (1, 0));
}

#[test]
fn removed_lines_delete_nothing() {
    let w = world();
    assert_eq!(w.adopt_by(None, "", true), Adoption::default());
    assert_eq!(w.adopt(AGENT, ""), Adoption::default());
}

#[test]
fn a_line_without_its_comment_or_with_another_id_is_the_same_todo() {
    let w = world();
    let comment =
        "\n  <!-- loopx:todo todo_id=todo_one status=open task_class=advancement_task -->";
    assert_eq!(w.adopt(comment, ""), Adoption::default());
    let ticked = w.adopt(&format!("- [ ] [P1] one{comment}"), "- [x] [P1] one");
    assert_eq!(ticked.put[0].todo_id.as_str(), "todo_one");
    refused(&w.adopt("todo_id=todo_one", "todo_id=todo_other"), "authority_edit_ignored");
    // But an open line named like finished work is new work.
    let again = w.adopt("- [x] old\n  <!-- loopx:todo todo_id=todo_old status=done task_class=advancement_task no_followup=true -->", "- [ ] old");
    assert_eq!(again.put[0].todo_id.as_str(), "todo_mint1");
}

#[test]
fn a_copied_line_is_a_new_todo_and_the_unchanged_line_keeps_the_id() {
    let w = world();
    let line = "- [ ] [P1] one\n  <!-- loopx:todo todo_id=todo_one status=open task_class=advancement_task -->\n";
    let adoption = w.adopt(line, &format!("{}{line}", line.replace("one\n", "one and a half\n")));
    assert_eq!(adoption.put.len(), 1);
    assert_eq!(
        (adoption.put[0].todo_id.as_str(), adoption.put[0].text.as_str()),
        ("todo_mint1", "[P1] one and a half")
    );
    assert_eq!(codes(&adoption), ["todo_id_duplicated"]);
}

#[test]
fn unreadable_metadata_changes_nothing_but_a_new_line_carries_it() {
    let mut w = world();
    let adoption = w.adopt("claimed_by=agent-b", "claimed_by=\"agent-a\"");
    refused(&adoption, "metadata_unreadable");
    assert!(!adoption.findings[0].message.contains("agent-a"));
    let text = w
        .base
        .text()
        .replace("- [ ] two\n", "- [ ] two b\n")
        .replace("claimed_by=agent-b", "claimed_by=\"x\"");
    assert_eq!(w.adopt_by(None, &text, true).put[0].text, "two b");
    let fresh = w.adopt("- [ ] two", "- [ ] n\n  <!-- loopx:todo cadence=often -->\n- [ ] two");
    assert!(fresh.put[0].malformed.is_some());
    // It can be mended where it stands.
    w.apply(&fresh);
    let shown = render(
        &parse(
            &w.base
                .text()
                .replace("- [ ] two", "- [ ] n\n  <!-- loopx:todo cadence=often -->\n- [ ] two"),
        ),
        &w.store,
    );
    assert!(shown.contains("cadence=often"));
    w.base = parse(&shown);
    let mended = w.adopt("cadence=often", "cadence=2h");
    assert_eq!(mended.put.len(), 1, "{mended:?}");
    assert_eq!(mended.put[0].malformed, None);
    assert_eq!(mended.put[0].cadence.unwrap().to_string(), "2h");
    assert!(mended.findings.is_empty(), "{:?}", mended.findings);
}

#[test]
fn an_edited_line_that_the_store_does_not_know_is_left_alone() {
    let mut w = world();
    w.store.retain(|t| t.todo_id.as_str() != "todo_one");
    assert_eq!(w.adopt("- [ ] act", "- [ ]  act"), Adoption::default());
    refused(&w.adopt("[P1] one", "[P1] won"), "edit_conflict");
}

/// One hand edit of a line.
fn mangled(text: &str, edits: &[(usize, u8)]) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for (at, what) in edits {
        let at = at % lines.len();
        match what {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, format!("- [ ] new {at}")),
            2 => lines[at] = lines[at].replacen("[ ]", "[x]", 1),
            3 => lines[at] = lines[at].replacen("[x]", "[ ]", 1),
            4 => lines[at].push_str(" more"),
            5 => lines.insert(at, lines[at].clone()),
            6 => lines[at] = lines[at].replace("status=open", "status=done no_followup=true"),
            7 => lines[at] = lines[at].replace("todo_id=", "todo_id=\""),
            8 => lines.insert(at, "```".into()),
            _ => {
                let other = 12.min(lines.len() - 1);
                lines.swap(at, other);
            }
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_edit_loses_revives_or_decides(edits in prop::collection::vec((0_usize..60, 0_u8..10), 1..8)) {
        let mut w = world();
        let before = w.store.clone();
        let text = mangled(w.base.text(), &edits);
        let adoption = w.adopt_by(Some("agent-a"), &text, true);
        w.apply(&adoption);
        let ids: std::collections::HashSet<_> = w.store.iter().map(|t| t.todo_id.clone()).collect();
        prop_assert_eq!(ids.len(), w.store.len());
        for old in &before {
            let new = w.store.iter().find(|t| t.todo_id == old.todo_id).unwrap();
            prop_assert!(old.status != TodoStatus::Done || new.status == TodoStatus::Done);
            prop_assert!(old.task_class != TaskClass::UserGate || new.status == old.status);
            prop_assert_eq!((&old.claimed_by, old.no_followup, old.task_class), (&new.claimed_by, new.no_followup, new.task_class));
        }
        // The next projection shows every todo, and reading it back finds no further edit.
        let shown = render(&parse(&text), &w.store);
        let back = parse(&shown);
        prop_assert_eq!(back.todos().len(), w.store.len(), "{}", shown);
        w.base = parse(&text);
        let stale = World { base: back, store: w.store.clone() };
        let settled = stale.adopt_by(None, &format!("{shown}\n"), true);
        prop_assert!(settled.put.is_empty(), "{:?}", settled.put);
    }
}
