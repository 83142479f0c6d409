//! The state file as people use it: edited by hand, lost, restored from an old copy,
//! saved by an editor of another system. The store is the truth; the file is what is
//! read and edited.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_tests::tree::Tree;
use loopx_tests::{Sandbox, at_once, earlier};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const NOW: &str = "2026-11-29T21:00:00+00:00";
const ASK: &str = "quota should-run --goal-id g --agent-id agent-a";
const NEUTRAL: &str = "refresh-state --goal-id g --agent-id agent-a";

/// A goal of this tool with three agents and todos `one` (P1, free), `two` (P2, held by
/// `agent-b`) and `mine` (P3, held by `agent-a`).
struct World {
    sandbox: Sandbox,
}

impl World {
    fn new() -> Self {
        let world = Self { sandbox: Sandbox::new() };
        world.json("goal create --goal-id g --objective o --agent-id agent-a,agent-b,agent-c");
        world.add("[P1] one", "");
        world.add("[P2] two", "--claimed-by agent-b");
        world.add("[P3] mine", "--claimed-by agent-a");
        world
    }

    fn add(&self, text: &str, more: &str) -> String {
        let words = "todo add --goal-id g --role agent".split(' ');
        let more = more.split_whitespace();
        let added = self.sandbox.at(NOW).json(words.chain(["--text", text]).chain(more));
        added["todo_id"].as_str().unwrap().to_owned()
    }

    fn gate(&self, text: &str) -> String {
        let words =
            "todo add --goal-id g --role user --task-class user_gate --global-gate".split(' ');
        let added = self.sandbox.at(NOW).json(words.chain(["--text", text]));
        added["todo_id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn json(&self, words: &str) -> Value {
        self.sandbox.at(NOW).json(words.split_whitespace())
    }

    fn path(&self) -> PathBuf {
        let shown = self.sandbox.entry("g")["state_file"].as_str().unwrap().to_owned();
        self.sandbox.project().join(shown)
    }

    fn file(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    #[track_caller]
    fn edit(&self, from: &str, to: &str) {
        let text = self.file();
        assert!(text.contains(from), "{from:?} is not in\n{text}");
        fs::write(self.path(), text.replacen(from, to, 1)).unwrap();
    }

    /// Writes a line in front of the agents' first todo.
    fn write_line(&self, line: &str) {
        self.edit("- [ ] [P1] one\n", &format!("{line}\n- [ ] [P1] one\n"));
    }

    fn todos(&self) -> Vec<Value> {
        let list = self.json("todo list --goal-id g --archived");
        list["todos"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn todo(&self, text: &str) -> Value {
        let todos = self.todos();
        let found: Vec<_> = todos.iter().filter(|todo| todo["text"] == text).collect();
        assert_eq!(found.len(), 1, "{text:?} in {todos:#?}");
        found[0].clone()
    }

    /// The decision, and that reading it wrote nothing.
    #[track_caller]
    fn read(&self) -> Value {
        self.read_as("agent-a")
    }

    #[track_caller]
    fn read_as(&self, agent: &str) -> Value {
        let before = Tree::of(self.sandbox.base());
        let packet = self.json(&ASK.replace("agent-a", agent));
        let changes = Tree::of(self.sandbox.base()).changes_since(&before);
        assert!(changes.is_empty(), "a read wrote: {changes:#?}");
        packet
    }

    fn last_verbs(&self, count: usize) -> Vec<String> {
        let goal = self.json("goal show --goal-id g");
        let commits = goal["commits"].as_array().unwrap();
        let newest = commits.iter().take(count).rev();
        newest.map(|commit| commit["verb"].as_str().unwrap().to_owned()).collect()
    }
}

fn codes(packet: &Value) -> Vec<&str> {
    let findings = packet["findings"].as_array().map_or(&[][..], Vec::as_slice);
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn a_new_line_is_decided_on_at_once_and_gets_its_id_with_the_next_write() {
    let world = World::new();
    world.write_line("- [ ] [P0] by hand");
    let edited = world.file();
    let packet = world.read_as("agent-c");
    assert_eq!(packet["rule"], "run");
    assert_eq!(packet["selected_todo"]["text"], "[P0] by hand");
    assert_eq!(packet["selected_todo"]["todo_id"], Value::Null);
    assert_eq!(world.todo("[P0] by hand")["todo_id"], Value::Null);
    assert_eq!(world.file(), edited);

    world.json(NEUTRAL);
    assert_eq!(world.last_verbs(2), ["state_file.adopt", "refresh_state"]);
    let id = world.todo("[P0] by hand")["todo_id"].as_str().unwrap().to_owned();
    assert!(world.file().contains(&format!("- [ ] [P0] by hand\n  <!-- loopx:todo todo_id={id} ")));
    let packet = world.read_as("agent-c");
    assert_eq!(packet["selected_todo"]["todo_id"], id.as_str());
    assert_eq!(packet["selected_todo"]["text"], "[P0] by hand");
    // And it is taken in once.
    world.json(NEUTRAL);
    assert_eq!(world.todo("[P0] by hand")["todo_id"], id.as_str());
}

/// The write that takes a line in may itself be the admission of it.
#[test]
fn an_admission_takes_the_new_line_in_and_selects_it_by_its_id() {
    let world = World::new();
    world.write_line("- [ ] [P0] by hand");
    let admitted =
        world.json("quota should-run --goal-id g --agent-id agent-c --turn-instance-id turn-1");
    assert_eq!(admitted["selected_todo"]["text"], "[P0] by hand");
    assert_eq!(admitted["selected_todo"]["todo_id"], world.todo("[P0] by hand")["todo_id"]);
    assert!(admitted["selected_todo"]["todo_id"].is_string());
}

#[test]
fn a_changed_text_and_priority_are_taken_over() {
    let world = World::new();
    let id = world.todo("[P3] mine")["todo_id"].clone();
    world.edit("[P3] mine", "[P0] mine, sooner");
    let packet = world.read();
    assert_eq!(packet["selected_todo"]["text"], "[P0] mine, sooner");
    assert_eq!(packet["selected_todo"]["todo_id"], id);
    world.json(NEUTRAL);
    assert_eq!(world.todo("[P0] mine, sooner")["todo_id"], id);
    assert_eq!(world.todos().len(), 3);
}

/// A command was killed after its commit and before its projection, and somebody has
/// edited the file as it still was.
#[test]
fn a_text_that_both_have_changed_stays_the_stores() {
    let world = World::new();
    let id = world.todo("[P1] one")["todo_id"].as_str().unwrap().to_owned();
    let (before, base) = (world.file(), world.sandbox.store_folder("g").join("projection.base"));
    let words = format!("todo update --goal-id g --todo-id {id} --text");
    world.sandbox.at(NOW).json(words.split(' ').chain(["[P1] one by command"]));
    fs::write(&base, &before).unwrap();
    fs::write(world.path(), before.replacen("[P1] one", "[P1] one by hand", 1)).unwrap();
    let packet = world.read();
    assert_eq!(codes(&packet), ["edit_conflict"]);
    world.json(NEUTRAL);
    assert_eq!(world.todo("[P1] one by command")["todo_id"], id.as_str());
    assert!(world.file().contains("- [ ] [P1] one by command\n"));
}

#[test]
fn a_ticked_gate_stays_open_and_says_how_it_is_decided() {
    let world = World::new();
    let gate = world.gate("go on?");
    world.edit("- [ ] go on?", "- [x] go on?");
    let packet = world.read();
    assert_eq!((&packet["rule"], &packet["should_run"]), (&json!("gate"), &json!(false)));
    let finding = &packet["findings"][0];
    assert_eq!(finding["code"], "gate_tick_ignored");
    let next = format!("loopx gate decide --goal-id g --todo-id {gate} --outcome OUTCOME");
    assert_eq!(finding["next_command"], next.as_str());
    world.json(NEUTRAL);
    assert!(world.file().contains("- [ ] go on?\n"), "{}", world.file());
    assert_eq!(world.read()["rule"], "gate");
    assert_eq!(world.todo("go on?")["status"], "open");
}

#[test]
fn ticks_finish_ones_own_and_free_work_but_nobody_elses() {
    let world = World::new();
    world.edit("- [ ] [P1] one", "- [x] [P1] one");
    world.edit("- [ ] [P2] two", "- [x] [P2] two");
    world.edit("- [ ] [P3] mine", "- [X] [P3] mine");
    let packet = world.read();
    assert_eq!(codes(&packet), ["tick_of_claimed_todo"]);
    assert_eq!(packet["should_run"], false, "{packet:#}");
    world.json(NEUTRAL);
    for (text, status) in [("[P1] one", "done"), ("[P2] two", "open"), ("[P3] mine", "done")] {
        assert_eq!(world.todo(text)["status"], status, "{text}");
    }
    assert!(world.file().contains("- [ ] [P2] two\n"));
}

#[test]
fn claims_and_other_authority_are_not_taken_from_the_file() {
    let world = World::new();
    world.edit("claimed_by=agent-b", "claimed_by=agent-a no_followup=true");
    world.write_line("- [ ] [P4] new\n  <!-- loopx:todo claimed_by=agent-b x_kept=1 -->");
    let packet = world.read();
    assert!(codes(&packet).contains(&"authority_edit_ignored"), "{packet:#}");
    world.json(NEUTRAL);
    assert_eq!(world.todo("[P2] two")["claimed_by"], "agent-b");
    let new = world.todo("[P4] new");
    assert_eq!((&new["claimed_by"], &new["x_kept"]), (&Value::Null, &json!("1")));
    assert!(!world.file().contains("no_followup=true"), "{}", world.file());
}

#[test]
fn a_removed_line_deletes_nothing() {
    let world = World::new();
    let text = world.file();
    let from = text.find("- [ ] [P3] mine").unwrap();
    let to = from + text[from..].match_indices('\n').nth(1).unwrap().0 + 1;
    fs::write(world.path(), format!("{}{}", &text[..from], &text[to..])).unwrap();
    assert!(!world.file().contains("mine"));
    let packet = world.read();
    assert_eq!(packet["selected_todo"]["text"], "[P3] mine", "own claims come first");
    world.json(NEUTRAL);
    assert_eq!(world.todos().len(), 3);
    assert!(world.file().contains("- [ ] [P3] mine\n"), "{}", world.file());
}

#[test]
fn an_old_copy_is_written_over_and_not_adopted() {
    let world = World::new();
    let old = world.file();
    let id = world.todo("[P1] one")["todo_id"].as_str().unwrap().to_owned();
    world.json(&format!(
        "todo complete --goal-id g --todo-id {id} --agent-id agent-a --evidence e --no-follow-up"
    ));
    world.add("[P0] newer", "");
    let commits = world.json("goal show --goal-id g")["commit"].clone();
    let new = world.file();
    fs::write(world.path(), &old).unwrap();
    let packet = world.read();
    assert_eq!(packet["selected_todo"]["text"], "[P3] mine");
    assert_eq!(world.todo("[P1] one")["status"], "done");
    world.json(NEUTRAL);
    assert_eq!(world.todo("[P1] one")["status"], "done");
    assert_eq!(world.todos().len(), 4);
    assert_eq!(world.file(), new);
    let after = world.json("goal show --goal-id g")["commit"].as_u64().unwrap();
    assert_eq!(after, commits.as_u64().unwrap() + 1, "nothing was adopted");
}

#[test]
fn line_ends_and_byte_order_mark_stay_as_an_editor_saved_them() {
    let world = World::new();
    fs::write(world.path(), format!("\u{feff}{}", world.file().replace('\n', "\r\n"))).unwrap();
    assert_eq!(world.read()["selected_todo"]["text"], "[P3] mine");
    let id = world.add("[P0] newer", "");
    let text = world.file();
    assert!(text.starts_with("\u{feff}---\r\n"), "{text:?}");
    assert!(text.contains(&format!("- [ ] [P0] newer\r\n  <!-- loopx:todo todo_id={id} ")));
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    assert_eq!(text.matches('\u{feff}').count(), 1);
    assert_eq!(world.todos().len(), 4);
}

#[test]
fn what_nobody_knows_is_kept() {
    let world = World::new();
    world.write_line(
        "- [ ] [P4] new\n  <!-- loopx:todo x_vendor=some%20value%2C%20kept zz_9=%F0%9F%9A%80 -->",
    );
    world.edit(
        "## Agent Todo\n",
        "> a remark\n\n## Agent Todo\n\nMore prose.\n\n```\n- [ ] sample\n```\n",
    );
    world.json(NEUTRAL);
    let new = world.todo("[P4] new");
    assert_eq!((&new["x_vendor"], &new["zz_9"]), (&json!("some value, kept"), &json!("\u{1f680}")));
    let id = new["todo_id"].as_str().unwrap();
    world.json(&format!("todo claim --goal-id g --todo-id {id} --claimed-by agent-a"));
    world.json(&format!(
        "todo complete --goal-id g --todo-id {id} --agent-id agent-a --evidence e --no-follow-up"
    ));
    let text = world.file();
    for kept in [
        "x_vendor=some%20value%2C%20kept",
        "zz_9=%F0%9F%9A%80",
        "> a remark\n",
        "More prose.\n",
        "```\n- [ ] sample\n```\n",
    ] {
        assert!(text.contains(kept), "{kept:?} is not in\n{text}");
    }
    assert_eq!(world.todos().len(), 4, "the sample in the fence is no todo");
}

#[test]
fn a_missing_file_is_made_again_by_the_next_write() {
    let world = World::new();
    let before = world.file();
    fs::remove_file(world.path()).unwrap();
    assert_eq!(world.read()["selected_todo"]["text"], "[P3] mine");
    assert!(!world.path().exists(), "a read makes nothing");
    world.json(NEUTRAL);
    assert_eq!(world.file(), before);
    // The folder too.
    fs::remove_dir_all(world.path().parent().unwrap()).unwrap();
    world.json(NEUTRAL);
    assert_eq!(world.file(), before);
}

#[test]
fn an_emptied_file_of_a_goal_with_a_store_loses_nothing() {
    let world = World::new();
    let before = world.file();
    for empty in ["", "\n", "---\nstatus: active\n---\n", "# something else\n"] {
        fs::write(world.path(), empty).unwrap();
        assert_eq!(world.read()["selected_todo"]["text"], "[P3] mine", "{empty:?}");
        assert_eq!(world.todos().len(), 3);
        world.json(NEUTRAL);
        assert_eq!(world.todos().len(), 3);
        for todo in ["[P1] one", "[P2] two", "[P3] mine"] {
            assert!(
                world.file().contains(&format!("- [ ] {todo}\n")),
                "{empty:?}: {}",
                world.file()
            );
        }
    }
    assert!(before.contains("[P3] mine"));
}

#[test]
fn a_file_that_is_no_text_is_left_alone_and_reported() {
    let world = World::new();
    let damaged = b"\xff\xfe\x00- [ ] half".to_vec();
    fs::write(world.path(), &damaged).unwrap();
    let packet = world.read();
    assert_eq!((&packet["rule"], &packet["should_run"]), (&json!("health"), &json!(false)));
    assert_eq!(codes(&packet)[0], "state_file_unreadable");
    // The store goes on, says so, and does not write over what somebody may want to mend.
    let words = "todo add --goal-id g --role agent --text".split(' ').chain(["[P0] newer"]);
    let added = world.sandbox.at(NOW).json(words);
    assert_eq!(added["findings"][0]["code"], "state_file_unreadable", "{added}");
    assert_eq!(fs::read(world.path()).unwrap(), damaged);
    fs::remove_file(world.path()).unwrap();
    assert_eq!(world.read()["selected_todo"]["text"], "[P3] mine");
    assert_eq!(world.todos().len(), 4);
}

/// What is stored while the file cannot be read is shown once it can be, also when the file
/// comes back as it was.
#[test]
fn what_was_stored_while_the_file_was_unreadable_is_shown_later() {
    let world = World::new();
    let add = |text: &str| world.json(&format!("todo add --goal-id g --role agent --text {text}"));
    add("before");
    let good = fs::read(world.path()).unwrap();
    fs::write(world.path(), b"- [ ] \xff\n").unwrap();
    add("meanwhile");
    fs::write(world.path(), &good).unwrap();
    add("after");
    let text = fs::read_to_string(world.path()).unwrap();
    for shown in ["before", "meanwhile", "after"] {
        assert_eq!(text.matches(&format!("- [ ] {shown}\n")).count(), 1, "{text}");
    }
}

/// The bytes that were last written are lost: what the store would write now stands in.
#[test]
fn without_the_last_projection_nothing_is_doubled_or_lost() {
    let world = World::new();
    fs::remove_file(world.sandbox.store_folder("g").join("projection.base")).unwrap();
    assert_eq!(world.read()["selected_todo"]["text"], "[P3] mine");
    world.write_line("- [ ] [P0] by hand");
    assert_eq!(world.read()["rule"], "run");
    world.json(NEUTRAL);
    assert_eq!(world.todos().len(), 4);
    world.todo("[P0] by hand");
}

// ---- never imported

fn never_imported() -> (Sandbox, PathBuf) {
    let goal = earlier::Goal::new("g", &["agent-a", "agent-b"]).agent_todo(
        "todo_000000000001",
        "[P1] one",
        "task_class=advancement_task",
    );
    let sandbox = Sandbox::with_files(&earlier::files(&[goal]));
    let path = sandbox.project().join(".codex/goals/g/ACTIVE_GOAL_STATE.md");
    (sandbox, path)
}

/// A registry that came with somebody's repository names no file of the user's.
#[test]
fn a_state_file_that_leads_out_of_the_folder_is_neither_read_nor_written() {
    for imported in [true, false] {
        let (sandbox, _) = never_imported();
        let mine = sandbox.base().join("mine.txt");
        fs::write(&mine, "- [ ] [P0] not LoopX's\n").unwrap();
        if imported {
            sandbox.at(NOW).json("todo add --goal-id g --role agent --text x".split(' '));
        }
        let shown = sandbox.entry("g")["state_file"].as_str().unwrap().to_owned();
        let registry = fs::read_to_string(sandbox.registry()).unwrap();
        let out = "a/../../mine.txt";
        fs::write(sandbox.registry(), registry.replace(&shown, out)).unwrap();
        let packet = sandbox.at(NOW).run(ASK.split(' ')).json();
        assert_eq!(
            (&packet["rule"], codes(&packet)[0]),
            (&json!("health"), "state_file_unreadable")
        );
        let add = "todo add --goal-id g --role agent --text y".split(' ');
        let written = sandbox.at(NOW).run(add).json();
        match imported {
            true => assert_eq!(written["findings"][0]["code"], "state_file_unreadable"),
            false => assert_eq!(written["ok"], false, "{written}"),
        }
        assert_eq!(fs::read_to_string(&mine).unwrap(), "- [ ] [P0] not LoopX's\n");
    }
    let create = "goal create --goal-id h --objective o --agent-id a --state-file ../mine.md";
    assert_eq!(Sandbox::new().run(create.split(' ')).json()["about"], "state_file");
}

#[test]
fn an_unreadable_file_of_a_project_that_was_never_imported_is_health() {
    type Damage = fn(&PathBuf);
    let damages: [(&str, Damage, &str); 4] = [
        ("missing", |path| fs::remove_file(path).unwrap(), "state_file_missing"),
        ("empty", |path| fs::write(path, "").unwrap(), "state_file_missing"),
        ("not UTF-8", |path| fs::write(path, b"- [ ] \xff\n").unwrap(), "state_file_unreadable"),
        (
            "a folder",
            |path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            },
            "",
        ),
    ];
    for (name, damage, code) in damages {
        let (sandbox, path) = never_imported();
        damage(&path);
        let before = Tree::of(sandbox.base());
        let ask = sandbox.at(NOW).run(ASK.split(' '));
        assert_eq!(ask.code, 0, "{name}: {ask}");
        let packet = ask.json();
        assert_eq!(
            (&packet["rule"], &packet["should_run"]),
            (&json!("health"), &json!(false)),
            "{name}"
        );
        let found = codes(&packet)[0];
        assert!(code.is_empty() || found == code, "{name}: {found}");
        assert!(packet["findings"][0]["next_command"].is_string(), "{name}");
        // An admission binds nothing; no write imports a state that nobody can trust.
        let admitted = sandbox.at(NOW).run(format!("{ASK} --turn-instance-id t").split(' '));
        assert_eq!((admitted.code, &admitted.json()["rule"]), (0, &json!("health")), "{name}");
        for write in
            [NEUTRAL, "todo add --goal-id g --role agent --text x", "goal stop --goal-id g"]
        {
            let refused = sandbox.at(NOW).refusal(write.split(' '));
            assert_eq!(refused["error_code"], found, "{name}: {write}");
        }
        let changes: Vec<_> = Tree::of(sandbox.base())
            .changes_since(&before)
            .into_iter()
            .filter(|line| {
                line != "touched: project/.loopx" && !line.ends_with("registry.json.lock")
            })
            .collect();
        assert!(changes.is_empty(), "{name}: {changes:#?}");
    }
}

#[test]
fn an_unreadable_file_in_a_goal_that_is_stopped_changes_nothing_about_the_stop() {
    let (sandbox, path) = never_imported();
    sandbox.at(NOW).json("goal stop --goal-id g".split(' '));
    fs::write(path, b"\xff").unwrap();
    assert_eq!(sandbox.at(NOW).json(ASK.split(' '))["rule"], "goal_stopped");
}

// ---- edits that a projection has displaced

/// What a writer leaves beside the store when it was killed after its projection took
/// the place of a text that somebody had saved in that moment.
fn displace(world: &World, line: &str) {
    let folder = world.sandbox.store_folder("g");
    let base = world.file();
    let edited = base.replacen("- [ ] [P1] one\n", &format!("{line}\n- [ ] [P1] one\n"), 1);
    assert_ne!(base, edited);
    fs::write(folder.join("displaced.base"), base).unwrap();
    fs::write(folder.join("displaced.md"), edited).unwrap();
}

#[test]
fn a_displaced_edit_is_taken_in_by_the_next_write() {
    let world = World::new();
    displace(&world, "- [ ] [P0] by hand");
    world.json(NEUTRAL);
    let id = world.todo("[P0] by hand")["todo_id"].as_str().unwrap().to_owned();
    assert!(world.file().contains(&format!("- [ ] [P0] by hand\n  <!-- loopx:todo todo_id={id} ")));
    world.json(NEUTRAL);
    assert_eq!(world.todos().len(), 4);
}

#[test]
fn a_displaced_edit_is_taken_in_once_by_many_writers() {
    let world = World::new();
    for round in 0..4 {
        displace(&world, &format!("- [ ] [P0] by hand {round}"));
        let call = world.sandbox.at(NOW);
        at_once((0..8).map(|_| call.command(NEUTRAL.split(' '))).collect());
        world.todo(&format!("[P0] by hand {round}"));
    }
}

/// Somebody saves again and again while commands write. Every line that was saved is a
/// todo in the end, once.
#[test]
fn lines_saved_while_a_writer_projects_are_neither_lost_nor_doubled() {
    let world = World::new();
    let path = world.path();
    let draft = path.with_extension("draft");
    let over = AtomicBool::new(false);
    let saved = std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let mut saved = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let line = format!("[P4] saved {}", saved.len());
                let text = fs::read_to_string(&path).unwrap();
                let mark = "- [ ] [P1] one\n";
                fs::write(&draft, text.replacen(mark, &format!("- [ ] {line}\n{mark}"), 1))
                    .unwrap();
                fs::rename(&draft, &path).unwrap();
                saved.push(line);
                std::thread::sleep(Duration::from_millis(13));
            }
            saved
        });
        // The editor stops also when a command fails, or the failure would never be seen.
        let commands = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for n in 0..25 {
                world.add(&format!("by command {n}"), "");
            }
        }));
        over.store(true, Ordering::Relaxed);
        let saved = editor.join().unwrap();
        commands.unwrap();
        saved
    });
    for _ in 0..3 {
        world.json(NEUTRAL);
    }
    for line in saved {
        world.todo(&line);
    }
}

/// What a person types is kept as it is; what is printed for agents and logs is not.
#[test]
fn a_secret_or_a_home_path_in_a_typed_line_is_kept_and_not_printed() {
    let world = World::new();
    let line = "- [ ] [P0] call with ghp_16C7e42F292c6912E7710c838347Ae178B4a from /home/alice/x";
    world.write_line(line);
    let packet = world.read_as("agent-c");
    assert_eq!(packet["rule"], "run");
    world.json(NEUTRAL);
    let list = world.json("todo list --goal-id g");
    for said in [packet.to_string(), list.to_string()] {
        assert!(!said.contains("ghp_16C7") && !said.contains("alice"), "{said}");
        assert!(said.contains("[P0] call with ["), "{said}");
    }
    assert!(world.file().contains("ghp_16C7e42F292c6912E7710c838347Ae178B4a"));
}
