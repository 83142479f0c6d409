//! What holds for every text and every set of todos.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::Document;
use super::{parse, render, todos};
use crate::model::{AgentId, Role, Todo, TodoId, TodoStatus};

/// One line of a state file, the awkward ones more often than in life.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("## Agent Todo".to_owned()),
        Just("## User Todo".to_owned()),
        Just("## Completed Work Archive".to_owned()),
        Just("## Next Action".to_owned()),
        Just("---".to_owned()),
        Just("```".to_owned()),
        Just("  ```x".to_owned()),
        Just("~~~~".to_owned()),
        Just(String::new()),
        Just("   ".to_owned()),
        Just("- [ ]".to_owned()),
        Just("prose".to_owned()),
        Just("  goes on".to_owned()),
        Just("updated_at: x".to_owned()),
        "[-*] \\[[ xX-]\\] [a-c\\[\\] >`~]{1,6}",
        "  - \\[ \\] [a-c]{1,3}",
        "( {0,3})<!-- loopx:todo todo_id=todo_00[0-4]( status=(open|done|blocked))?( zeta=%2[0-9])? -->",
        "  <!-- loopx: task_class=(advancement_task|user_gate|bad) note=a%20b -->",
        "  <!-- loopx:todo note=\"[a-z]{1,3}",
        "\\PC{0,12}",
    ]
}

fn document() -> impl Strategy<Value = String> {
    (
        prop_oneof![4 => Just(""), 1 => Just("\u{feff}")],
        prop_oneof![
            Just(""),
            Just("---\nobjective: \"a --- b\"\n---\n"),
            Just("## Agent Todo\r\n")
        ],
        prop::collection::vec(
            (line(), prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r\r\n")]),
            0..24,
        ),
        line(),
        any::<bool>(),
    )
        .prop_map(|(bom, head, lines, last, close)| {
            let mut text = format!("{bom}{head}");
            for (line, end) in lines {
                text.push_str(&line);
                text.push_str(end);
            }
            if close {
                text.push_str(&last);
            }
            text
        })
}

/// Changes to a set of todos such as commands make.
fn changed(mut all: Vec<Todo>, moves: &[(usize, u8)]) -> Vec<Todo> {
    for (n, (at, what)) in moves.iter().enumerate() {
        let count = all.len();
        if count == 0 || *what == 0 {
            let role = if at % 2 == 0 { Role::Agent } else { Role::User };
            let id = TodoId::trusted(format!("todo_new{n}"));
            let class = crate::model::TaskClass::Advancement;
            all.push(Todo::new(id, role, class, *at as i64 * 300, format!("```\n{at} [x]")));
            continue;
        }
        let at = at % count;
        match what {
            1 => drop(all.remove(at)),
            2 => all[at].status = TodoStatus::Done,
            3 => all[at].text = "## User Todo\n- [ ] new".into(),
            4 => all[at].claimed_by = Some(AgentId::trusted("agent-a")),
            5 => all[at].order = 0,
            6 => all[at].role = Role::User,
            7 => all[at].malformed = None,
            _ => all.reverse(),
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_comes_back(text in "(?s).{0,200}") {
        prop_assert_eq!(parse(&text).to_bytes(), text.as_bytes());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(document) = Document::parse(&bytes) {
            prop_assert_eq!(document.to_bytes(), bytes);
        }
    }

    #[test]
    fn generated_documents_come_back_and_ids_are_unique(text in document()) {
        let parsed = parse(&text);
        prop_assert_eq!(parsed.to_bytes(), text.as_bytes());
        let ids: std::collections::HashSet<_> = parsed.todos().iter().map(|p| &p.todo.todo_id).collect();
        prop_assert_eq!(ids.len(), parsed.todos().len());
    }

    #[test]
    fn rendering_twice_is_rendering_once(text in document(), moves in prop::collection::vec((0_usize..40, 0_u8..9), 0..6)) {
        let template = parse(&text);
        let shown = changed(todos(&template), &moves);
        let once = render(&template, &shown);
        let back = parse(&once);
        prop_assert_eq!(&render(&back, &shown), &once, "once {:?}", once);
        // Every todo that is to be shown is shown, once, with its own text and box.
        let expected: Vec<_> = shown.iter().filter(|t| !t.archived).collect();
        prop_assert_eq!(back.todos().len(), expected.len(), "once {:?}", once);
        for todo in expected {
            let parsed = back.todos().iter().find(|p| p.todo.todo_id == todo.todo_id);
            let parsed = parsed.ok_or_else(|| TestCaseError::fail(format!("lost {} in {once:?}", todo.todo_id)))?;
            prop_assert_eq!(&parsed.todo.text, &todo.text.split_whitespace().collect::<Vec<_>>().join(" "));
            prop_assert_eq!(parsed.checkbox.status() == TodoStatus::Done, todo.status == TodoStatus::Done);
            prop_assert_eq!(parsed.todo.role, todo.role);
            prop_assert_eq!(&parsed.todo.claimed_by, &todo.claimed_by);
        }
        // And what a second rendering sees as unchanged stays to the byte.
        let again = todos(&back);
        prop_assert_eq!(render(&back, &again), once);
    }

    #[test]
    fn drawing_around_what_changed_is_drawing_everything(
        text in document(),
        plain in 0_usize..6,
        moves in prop::collection::vec((0_usize..40, 0_u8..9), 0..4),
        steps in prop::collection::vec((0_usize..40, 0_u8..5), 0..4),
    ) {
        // A projection, with a run of todos in the form that is written.
        let mut shown = changed(todos(&parse(&text)), &moves);
        for n in 0..plain {
            let id = TodoId::trusted(format!("todo_plain{n}"));
            let class = crate::model::TaskClass::Advancement;
            shown.push(Todo::new(id, Role::Agent, class, 50_000 + n as i64, format!("plain {n}")));
        }
        let page = render(&parse(&text), &shown);
        let template = parse(&page);
        let before = todos(&template);
        // New ones go to the end; all others keep their role and place.
        let mut after = before.clone();
        for (n, (at, what)) in steps.iter().enumerate() {
            if *what == 0 {
                let class = crate::model::TaskClass::Advancement;
                let id = TodoId::trusted(format!("todo_late{n}"));
                after.push(Todo::new(id, Role::Agent, class, i64::MAX / 2 + n as i64, "late"));
            } else if !after.is_empty() {
                after = changed(after, &[(*at, *what)]);
            }
        }
        let touched: BTreeSet<&str> = before
            .iter()
            .chain(&after)
            .filter(|t| !before.contains(t) || !after.contains(t))
            .map(|t| t.todo_id.as_str())
            .collect();
        let around = Document::parse_around(page.as_bytes(), &touched).unwrap();
        let standing = todos(&around);
        let drawn: Vec<Todo> = standing
            .iter()
            .filter(|t| !touched.contains(t.todo_id.as_str()))
            .cloned()
            .chain(after.iter().filter(|t| touched.contains(t.todo_id.as_str())).map(|t| {
                let there = standing.iter().find(|s| s.todo_id == t.todo_id);
                Todo { order: there.map_or(t.order, |s| s.order), ..t.clone() }
            }))
            .collect();
        prop_assert_eq!(render(&around, &drawn), render(&template, &after), "page {:?}", page);
        prop_assert!(around.lines.len() <= template.lines.len());
    }
}
