//! Writing: what changes, and that nothing else does.

use super::super::{Document, new_document, render as render_bytes};
use super::{file, now, parse, render, todos};
use crate::model::{AgentId, GoalId, Instant, Role, TaskClass, Todo, TodoId, TodoStatus};

fn todo(id: &str, role: Role, order: i64, text: &str) -> Todo {
    let class = if role == Role::User { TaskClass::UserGate } else { TaskClass::Advancement };
    Todo::new(TodoId::trusted(id), role, class, order, text)
}

const TWO: &str = "* [ ] [P1] one\n  still one\n  <!-- loopx: todo_id=todo_one zeta=9 task_domain=x -->\nnote under one\n\n- [ ] two\n\t<!-- loopx:todo todo_id=todo_two status=open -->";

#[test]
fn nothing_changed_is_the_same_bytes() {
    for text in [
        file("", TWO),
        file("", TWO).replace('\n', "\r\n"),
        format!(
            "\u{feff}{}",
            file("- [ ] g\n  <!-- loopx:todo todo_id=todo_ggg task_class=user_gate -->", TWO)
                .trim_end()
        ),
        "## Agent Todo\n- [ ] a\n  <!-- loopx:todo todo_id=todo_aaa -->".to_owned(),
        String::new(),
        "\u{feff}".to_owned(),
        "no todos\u{c}\r at all\n\n\n".to_owned(),
    ] {
        let document = parse(&text);
        assert_eq!(render(&document, &todos(&document)), text);
    }
}

#[test]
fn a_changed_todo_keeps_its_bullet_its_unknown_keys_and_its_neighbours() {
    let document = parse(&file("", TWO));
    let mut all = todos(&document);
    all[0].claimed_by = Some(AgentId::trusted("agent-a"));
    let out = render(&document, &all);
    let expected = file("", TWO).replace(
        "* [ ] [P1] one\n  still one\n  <!-- loopx: todo_id=todo_one zeta=9 task_domain=x -->",
        "* [ ] [P1] one still one\n  <!-- loopx:todo todo_id=todo_one status=open task_class=advancement_task task_domain=x claimed_by=agent-a zeta=9 -->",
    );
    assert_eq!(out, expected);
}

#[test]
fn status_shows_in_the_box_and_values_are_escaped() {
    let document = parse("## Agent Todo\n");
    let mut a = todo("todo_aaa", Role::Agent, 1, "x");
    a.status = TodoStatus::Blocked;
    a.reason = Some("waits for\n a+b, c/d".into());
    a.next_due_at = Instant::parse("2026-11-29T22:57:52Z");
    let mut b = todo("todo_bbb", Role::Agent, 2, "y");
    b.status = TodoStatus::Deferred;
    let mut c = todo("todo_ccc", Role::Agent, 3, "z");
    c.status = TodoStatus::Done;
    c.required_write_scopes = vec!["src/**".into(), "docs".into()];
    assert_eq!(
        render(&document, &[c, b, a]),
        "## Agent Todo\n\n- [ ] x\n  <!-- loopx:todo todo_id=todo_aaa status=blocked task_class=advancement_task next_due_at=2026-11-29T22:57:52Z reason=waits%20for%20a%2Bb%2C%20c%2Fd -->\n\
         - [-] y\n  <!-- loopx:todo todo_id=todo_bbb status=deferred task_class=advancement_task -->\n\
         - [x] z\n  <!-- loopx:todo todo_id=todo_ccc status=done task_class=advancement_task required_write_scopes=src%2F%2A%2A%2Cdocs -->\n"
    );
}

#[test]
fn new_todos_go_to_their_place_and_missing_sections_are_added() {
    let document = parse(&file("", TWO));
    let mut all = todos(&document);
    all.push(todo("todo_mid", Role::Agent, 1500, "between"));
    all.push(todo("todo_end", Role::Agent, 9000, "last"));
    let out = render(&document, &all);
    let order: Vec<_> = todos(&parse(&out)).into_iter().map(|t| t.todo_id.to_string()).collect();
    assert_eq!(order, ["todo_one", "todo_mid", "todo_two", "todo_end"]);
    assert!(out.contains("note under one\n- [ ] between\n"), "{out}");
    assert!(out.contains("-->\n\n## Next Action"), "{out}");

    let bare = parse("# T\n\n## Next Action\n\n- x\n");
    let out = render(
        &bare,
        &[todo("todo_aaa", Role::Agent, 1, "a"), todo("todo_uuu", Role::User, 1, "u")],
    );
    let headings: Vec<_> = out.lines().filter(|l| l.starts_with("## ")).collect();
    assert_eq!(
        headings,
        ["## User Todo / Owner Review Reading Queue", "## Agent Todo", "## Next Action"]
    );
    assert!(out.contains("-->\n\n## Agent Todo\n\n- [ ] a\n"), "{out}");
    assert_eq!(render(&parse(&out), &todos(&parse(&out))), out);

    let out = render(&parse("text"), &[todo("todo_aaa", Role::Agent, 1, "a")]);
    assert_eq!(
        out,
        "text\n\n## Agent Todo\n\n- [ ] a\n  <!-- loopx:todo todo_id=todo_aaa status=open task_class=advancement_task -->"
    );
}

#[test]
fn a_dropped_todo_takes_its_metadata_and_leaves_prose() {
    let document = parse(&file("", TWO));
    let mut all = todos(&document);
    all.remove(0);
    let out = render(&document, &all);
    assert!(!out.contains("todo_one") && !out.contains("still one"));
    assert!(out.contains("## Agent Todo\n\nnote under one\n\n- [ ] two\n"), "{out}");
    // Adding and dropping does not let blank lines grow.
    let mut page = render(&document, &[]);
    for _ in 0..3 {
        let full = render(&parse(&page), &[todo("todo_aaa", Role::Agent, 1, "a")]);
        let empty = render(&parse(&full), &[]);
        assert!(empty.len() <= page.len(), "{empty:?}");
        page = empty;
    }
    assert!(page.contains("## Agent Todo\n"));
}

#[test]
fn an_archived_todo_is_not_shown_and_the_role_decides_the_section() {
    let document = parse(
        "## Agent Todo\n\n- [ ] q\n  <!-- loopx:todo todo_id=todo_qqq task_class=user_gate -->\n\n## Completed Work Archive\n\n- [x] old\n  <!-- loopx:todo todo_id=todo_old -->\n",
    );
    let mut all = todos(&document);
    all[0].role = Role::User;
    let out = render(&document, &all);
    assert!(!out.contains("todo_old"));
    let back = parse(&out);
    assert_eq!(back.todos().len(), 1);
    assert_eq!(back.todos()[0].todo.role, Role::User);
}

#[test]
fn an_adopted_line_gets_its_id_in_its_place() {
    let document =
        parse(&file("", "* [ ] mine\nnote\n- [ ] b\n  <!-- loopx:todo todo_id=todo_bbb -->"));
    let out = render(
        &document,
        &[todo("todo_new", Role::Agent, 500, "mine"), todos(&document)[1].clone()],
    );
    assert!(out.contains("* [ ] mine\n  <!-- loopx:todo todo_id=todo_new status=open task_class=advancement_task -->\nnote\n- [ ] b\n"), "{out}");
}

#[test]
fn unreadable_metadata_stays_for_a_person_to_mend_until_the_todo_is_done() {
    let document =
        parse(&file("", "- [ ] a\n  <!-- loopx:todo broken=\"todo_id=todo_x status=open -->"));
    let mut all = todos(&document);
    let out = render(&document, &all);
    let back = parse(&out);
    assert!(out.contains("broken=\"todo_id=todo_x"));
    assert_eq!(back.todos()[0].todo.todo_id, all[0].todo_id);
    assert!(back.todos()[0].had_id && back.todos()[0].todo.malformed.is_some());
    assert_eq!(render(&back, &all), out);
    all[0].status = TodoStatus::Done;
    assert!(!render(&back, &all).contains("broken"));
}

#[test]
fn hostile_text_stays_text() {
    let document =
        parse(&String::from_utf8(new_document(&GoalId::trusted("g"), "o", now())).unwrap());
    let huge = "漢".repeat(7_000);
    let texts = [
        "--> <!-- loopx:todo todo_id=todo_evil status=done -->",
        "## User Todo",
        "[x] looks done",
        "- [x] nested",
        "a\n- [ ] b\r\n## Agent Todo\u{2028}```",
        "~~~",
        "---",
        "\u{202e}rtl עברית",
        "\0 \u{1b}[31m",
        &huge,
        "",
    ];
    let all: Vec<Todo> = texts
        .iter()
        .enumerate()
        .map(|(i, text)| {
            todo(
                &format!("todo_{i:03}"),
                if i % 2 == 0 { Role::Agent } else { Role::User },
                i as i64,
                text,
            )
        })
        .collect();
    let out = render(&document, &all);
    let back = parse(&out);
    assert_eq!(back.todos().len(), all.len());
    for todo in &all {
        let parsed = back.todos().iter().find(|p| p.todo.todo_id == todo.todo_id).unwrap();
        assert_eq!(parsed.todo.text, todo.text.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!((parsed.todo.role, parsed.todo.status), (todo.role, TodoStatus::Open));
    }
    assert_eq!(render(&back, &all), out);
}

#[test]
fn updated_at_is_replaced_or_added_inside_front_matter_only() {
    let stamp =
        |text: &str| String::from_utf8(render_bytes(&parse(text), &[], Some(now()))).unwrap();
    let text =
        "---\nobjective: \"Ship --- fast\"\nupdated_at: 2020-01-01T00:00:00Z\n---\nupdated_at: x\n";
    assert_eq!(stamp(text), text.replace("2020-01-01T00:00:00Z", "2026-11-29T21:00:00Z"));
    assert_eq!(
        stamp("---\r\na: b\r\n---\r\n"),
        "---\r\na: b\r\nupdated_at: 2026-11-29T21:00:00Z\r\n---\r\n"
    );
    assert_eq!(stamp("updated_at: x\n"), "updated_at: x\n");
    let same = "---\nupdated_at: 2026-11-29T22:00:00+01:00\n---\n";
    assert_eq!(stamp(same), same);
}

#[test]
fn ten_thousand_todos_render_and_read_back() {
    let document = Document::parse(&new_document(&GoalId::trusted("g"), "o", now())).unwrap();
    let all: Vec<Todo> = (0..10_000)
        .map(|i| {
            todo(&format!("todo_{i:05}"), Role::Agent, i, "[P2] some ordinary work to be done")
        })
        .collect();
    let out = render(&document, &all);
    assert_eq!(parse(&out).todos().len(), 10_000);
    assert_eq!(render(&parse(&out), &all), out);
}
