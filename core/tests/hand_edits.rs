//! People and agents edit the state file between commands, in every way in which a text
//! file can be edited. Whatever they do: nothing that was typed is lost, no todo goes or
//! comes back, no claim changes, no gate is decided, and the store stays consistent.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::registry::RouteInput;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

const AGENTS: [&str; 2] = ["agent-a", "agent-b"];

type Step = (u8, u16, u16);

#[derive(Clone)]
struct History(Vec<Step>);

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.0)
    }
}

/// A todo as a listing shows it.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    role: String,
    text: String,
    status: String,
    class: String,
    claim: String,
}

/// What somebody typed and nothing has taken in yet.
#[derive(Clone, Debug)]
enum Typed {
    New { mark: String, role: &'static str },
    Text { mark: String, id: String },
    Tick { id: String },
}

struct World {
    folder: PathBuf,
    kernel: Kernel,
    todos: BTreeMap<String, Seen>,
    /// In the order in which they were first seen: ids themselves are random.
    ids: Vec<String>,
    older: Vec<Vec<u8>>,
    typed: Vec<Typed>,
    /// An edit since the last write that may tear blocks apart or bring old text back.
    rough: bool,
    commit: u64,
    marks: usize,
    log: Vec<String>,
    commands: usize,
    edits: usize,
}

fn shared_memory() -> PathBuf {
    let fast = Path::new("/dev/shm");
    if fast.is_dir() { fast.to_path_buf() } else { std::env::temp_dir() }
}

impl World {
    fn new(folder: &Path) -> Self {
        let project = folder.join("p");
        std::fs::create_dir_all(project.join(".loopx")).unwrap();
        std::fs::create_dir_all(folder.join("home")).unwrap();
        let route = RouteInput {
            flag: Some(project.join(".loopx/registry.json")),
            cwd: project.clone(),
            home: Some(folder.join("home")),
            ..RouteInput::default()
        };
        let at = Instant::parse("2026-11-29T12:00:00Z").unwrap();
        let options = KernelOptions { clock: Clock::Fixed(at), ..KernelOptions::new(route) };
        let kernel = Kernel::open(options).unwrap();
        kernel
            .call("goal.create", &json!({"goal_id": "g", "objective": "é", "agents": AGENTS}))
            .unwrap();
        let mut world = Self {
            folder: folder.to_path_buf(),
            kernel,
            todos: BTreeMap::new(),
            ids: Vec::new(),
            older: Vec::new(),
            typed: Vec::new(),
            rough: false,
            commit: 0,
            marks: 0,
            log: Vec::new(),
            commands: 0,
            edits: 0,
        };
        for (role, text) in
            [("agent", "[P1] first é"), ("agent", "[P2] second"), ("user", "[P0] may we?")]
        {
            let mut request = json!({"role": role, "text": text});
            if role == "user" {
                request["task_class"] = json!("user_gate");
                request["global_gate"] = json!(true);
            }
            world.kernel.call("todo.add", &request).unwrap();
        }
        let todos = world.list();
        world.take_note(todos);
        world.older.push(world.file().unwrap());
        world
    }

    fn path(&self) -> PathBuf {
        self.folder.join("p/.loopx/goals/g/ACTIVE_GOAL_STATE.md")
    }

    fn file(&self) -> Option<Vec<u8>> {
        std::fs::read(self.path()).ok()
    }

    fn text(&self) -> Option<String> {
        String::from_utf8(self.file()?).ok()
    }

    fn save(&mut self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
    }

    fn take_note(&mut self, todos: BTreeMap<String, Seen>) {
        let mut new: Vec<&String> = todos.keys().filter(|id| !self.ids.contains(id)).collect();
        new.sort_by_key(|id| (&todos[*id].text, &todos[*id].role));
        let new: Vec<String> = new.into_iter().cloned().collect();
        self.ids.extend(new);
        self.todos = todos;
    }

    fn list(&self) -> BTreeMap<String, Seen> {
        let answer = self.kernel.call("todo.list", &json!({"archived": true})).unwrap();
        let text = |t: &Value, key: &str| t[key].as_str().unwrap_or_default().to_owned();
        answer["todos"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| {
                let seen = Seen {
                    role: text(t, "role"),
                    text: text(t, "text"),
                    status: text(t, "status"),
                    class: text(t, "task_class"),
                    claim: text(t, "claimed_by"),
                };
                (text(t, "todo_id"), seen)
            })
            .collect()
    }

    fn mark(&mut self) -> String {
        self.marks += 1;
        format!("m{}m", self.marks)
    }

    fn note(&mut self, what: impl Into<String>) {
        self.log.push(what.into());
    }

    // ---- editing ----

    fn edit(&mut self, (kind, a, b): Step) {
        self.edits += 1;
        let Some(text) = self.text() else {
            return match kind % 3 {
                0 => self.put_back(a),
                1 => drop(std::fs::remove_file(self.path())),
                _ => {}
            };
        };
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let mut blocks = blocks(&lines);
        // A block that a torn file shows outside of the two lists is prose.
        blocks.retain(|(at, _, _)| {
            section(&lines, *at).is_some_and(|h| {
                lines[h].starts_with("## User Todo") || lines[h].starts_with("## Agent Todo")
            })
        });
        // A line that is apart from its comment, by an earlier edit: what is put between
        // them changes what the comment belongs to.
        let owned: BTreeSet<usize> = blocks.iter().map(|(at, _, _)| at + 1).collect();
        let stray = |(n, line): (usize, &String)| {
            line.trim_start().starts_with("<!-- loopx") && !owned.contains(&n)
        };
        self.rough |= lines.iter().enumerate().any(stray);
        let pick = |n: u16| blocks.get(usize::from(n) % blocks.len().max(1)).cloned();
        let eol = if text.contains("\r\n") { "\r" } else { "" };
        match kind % 19 {
            k @ (0 | 1) => {
                let role = if k == 0 { "agent" } else { "user" };
                let head = if k == 0 { "## Agent Todo" } else { "## User Todo" };
                let Some(heading) = lines.iter().position(|l| l.starts_with(head)) else { return };
                let below: Vec<usize> = blocks
                    .iter()
                    .filter(|(at, _, _)| section(&lines, *at) == Some(heading))
                    .map(|(_, end, _)| *end)
                    .collect();
                let at = match below.get(usize::from(a) % (below.len() + 1)) {
                    Some(end) => *end,
                    None => heading + 1,
                };
                let mark = self.mark();
                self.note(format!("insert {role} {mark} at {at}"));
                lines.insert(at, format!("- [ ] [P{}] new {mark}{eol}", b % 5));
                if k == 1 && b % 2 == 0 {
                    let facts = "task_class=user_gate global_gate=true";
                    lines.insert(at + 1, format!("  <!-- loopx:todo {facts} -->{eol}"));
                }
                self.typed.push(Typed::New { mark, role });
            }
            k @ (2 | 3) => {
                let Some((at, _, id)) = pick(a) else { return };
                let Some(rest) = lines[at].get(6..).map(str::to_owned) else { return };
                let mark = self.mark();
                let text = match k {
                    2 => format!("[P{}] changed {mark}{eol}", b % 5),
                    _ => format!(
                        "[P{}] {mark} {}",
                        b % 5,
                        rest.split_once("] ").map_or(rest.as_str(), |r| r.1)
                    ),
                };
                self.note(format!("text of {id:?} to {text}"));
                lines[at] = format!("{}{text}", &lines[at][..6]);
                match id {
                    Some(id) => self.typed.push(Typed::Text { mark, id }),
                    None => self.typed.push(Typed::New { mark, role: "" }),
                }
            }
            4 => {
                let Some((at, _, id)) = pick(a) else { return };
                self.note(format!("tick {id:?}"));
                let was = lines[at].get(..5) != Some("- [x]");
                lines[at].replace_range(..5, "- [x]");
                if let (Some(id), true) = (id, was) {
                    self.typed.push(Typed::Tick { id });
                }
            }
            5 => {
                let Some((at, _, id)) = pick(a) else { return };
                self.note(format!("box of {id:?}"));
                self.typed
                    .retain(|t| !matches!(t, Typed::Tick { id: i } if Some(i) == id.as_ref()));
                lines[at].replace_range(..5, if b % 2 == 0 { "- [ ]" } else { "- [-]" });
            }
            6 => {
                let Some((at, end, id)) = pick(a) else { return };
                if end != at + 2 {
                    return;
                }
                let (key, value) = [
                    ("claimed_by", "agent-b"),
                    ("status", "done"),
                    ("status", "open"),
                    ("task_class", "advancement_task"),
                    ("no_followup", "true"),
                    ("todo_id", "todo_handmade1"),
                    ("note", "\"unclosed"),
                    ("decision_outcome", "approve"),
                    ("global_gate", "false"),
                    ("superseded_by", "todo_handmade2"),
                ][usize::from(b) % 10];
                self.note(format!("metadata of {id:?}: {key}={value}"));
                self.rough |= key == "todo_id" || key == "note";
                let line = &lines[at + 1];
                let mut words: Vec<String> = line
                    .split(' ')
                    .filter(|w| !w.starts_with(&format!("{key}=")))
                    .map(str::to_owned)
                    .collect();
                let place = words.iter().position(|w| w.starts_with("-->")).unwrap_or(words.len());
                words.insert(place, format!("{key}={value}"));
                lines[at + 1] = words.join(" ");
            }
            7 => {
                let Some((at, end, id)) = pick(a) else { return };
                self.note(format!("delete {id:?}"));
                lines.drain(at..end);
            }
            8 => {
                let (Some((at, end, id)), Some((_, to, _))) = (pick(a), pick(b)) else { return };
                self.note(format!("copy {id:?}"));
                self.rough = true;
                let copy: Vec<String> = lines[at..end].to_vec();
                lines.splice(to..to, copy);
            }
            9 => {
                let (Some(x), Some(y)) = (pick(a), pick(b)) else { return };
                let (x, y) = if x.0 < y.0 { (x, y) } else { (y, x) };
                if x.1 > y.0 {
                    return;
                }
                self.note(format!("swap {:?} and {:?}", x.2, y.2));
                self.rough |= section(&lines, x.0) != section(&lines, y.0);
                let upper: Vec<String> = lines[x.0..x.1].to_vec();
                let lower: Vec<String> = lines[y.0..y.1].to_vec();
                lines.splice(y.0..y.1, upper);
                lines.splice(x.0..x.1, lower);
            }
            10 => {
                let n = lines.len();
                self.note("swap lines");
                self.rough = true;
                lines.swap(usize::from(a) % n, usize::from(b) % n);
            }
            11 => {
                self.note("delete a line");
                self.rough = true;
                lines.remove(usize::from(a) % lines.len());
            }
            12 => {
                self.note("line ends");
                for line in &mut lines {
                    let bare = line.trim_end_matches('\r').to_owned();
                    *line = if eol.is_empty() { format!("{bare}\r") } else { bare };
                }
                let last = lines.len() - 1;
                lines[last] = lines[last].trim_end_matches('\r').to_owned();
            }
            13 => {
                self.note("trailing space");
                let at = usize::from(a) % lines.len();
                let space = ["  ", " ", "\t"][usize::from(b) % 3];
                let bare = lines[at].trim_end_matches('\r').to_owned();
                lines[at] = format!("{bare}{space}{eol}");
            }
            14 => return self.put_back(a),
            15 => {
                self.note("delete the file");
                self.typed.clear();
                self.rough = true;
                std::fs::remove_file(self.path()).unwrap();
                return;
            }
            16 => {
                self.note("truncate");
                self.rough = true;
                let bytes = text.as_bytes();
                let cut = usize::from(a) % (bytes.len() + 1);
                std::fs::write(self.path(), &bytes[..cut]).unwrap();
                return;
            }
            17 => {
                let mark = self.mark();
                self.note(format!("prose {mark}"));
                let at = usize::from(a) % (lines.len() + 1);
                self.rough |= at < lines.len();
                lines.insert(at, format!("prose {mark}{eol}"));
            }
            _ => {
                let at = usize::from(a) % lines.len();
                self.note("a blank line");
                lines.insert(at, eol.to_owned());
                self.rough = true;
            }
        }
        self.save(&lines.join("\n"));
    }

    fn put_back(&mut self, n: u16) {
        self.note("an older projection");
        self.typed.clear();
        self.rough = true;
        let old = self.older[usize::from(n) % self.older.len()].clone();
        std::fs::write(self.path(), old).unwrap();
    }

    // ---- commands ----

    fn command(&mut self, (kind, a, b): Step) -> Result<(), String> {
        self.commands += 1;
        let before = self.todos.clone();
        let id = self.ids[usize::from(a) % self.ids.len()].clone();
        let agent = AGENTS[usize::from(b) % 2];
        let mark = self.mark();
        let gate = before[&id].class == "user_gate";
        let (op, request) = match kind % 8 {
            0 => (
                "todo.add",
                json!({"role": "agent", "text": format!("[P{}] by command {mark}", b % 5), "agent_id": agent}),
            ),
            1 => ("todo.claim", json!({"todo_id": id, "claimed_by": agent, "agent_id": agent})),
            2 if gate => (
                "todo.complete",
                json!({"todo_id": id, "decision_outcome": (["approve", "reject", "cancel"][usize::from(b) % 3])}),
            ),
            2 => (
                "todo.complete",
                json!({"todo_id": id, "agent_id": agent, "no_follow_up": b % 3 == 0}),
            ),
            3 => (
                "todo.update",
                json!({"todo_id": id, "agent_id": agent, "text": format!("[P{}] updated {mark}", b % 5)}),
            ),
            4 => (
                "todo.update",
                json!({"todo_id": id, "agent_id": agent, "note": format!("seen {mark}")}),
            ),
            5 => (
                "todo.add",
                json!({"role": "user", "text": format!("gate {mark}"), "task_class": "user_gate", "global_gate": true}),
            ),
            6 => ("turn.admit", json!({"agent_id": agent, "turn_instance_id": format!("t{mark}")})),
            _ => ("refresh_state", json!({"agent_id": agent})),
        };
        self.note(format!("{op} {request}"));
        let file_before = self.file();
        let base_before = self.base();
        let answer = self.kernel.call(op, &request);
        let written = match &answer {
            Err(error) => {
                self.note(format!("  refused {}", error.code));
                if error.code == loopx_core::ErrorCode::Internal {
                    return Err(format!("{op}: {error:?}"));
                }
                false
            }
            // A command that had nothing to do makes no commit and leaves the file.
            Ok(value) => {
                let commits = self.kernel.call("goal.show", &json!({})).unwrap();
                let commit = commits["commit"].as_u64().unwrap();
                let new = commit > self.commit;
                self.commit = commit;
                new && value.get("ok") != Some(&json!(false))
            }
        };
        if !written {
            return same("a refused command edits nothing", &self.file(), &file_before);
        }
        let readable = file_before.as_deref().is_none_or(|b| std::str::from_utf8(b).is_ok());
        if !readable {
            // Left alone until somebody mends it; the listing refuses meanwhile.
            same("an unreadable file is left alone", &self.file(), &file_before)?;
            std::fs::remove_file(self.path()).unwrap();
            self.note("  unreadable; removed");
            self.kernel
                .call(
                    "todo.update",
                    &json!({"todo_id": id, "agent_id": AGENTS[0], "note": format!("z{mark}")}),
                )
                .ok();
            self.kernel
                .call(
                    "todo.add",
                    &json!({"role": "agent", "text": format!("mend {mark}"), "agent_id": agent}),
                )
                .map_err(|e| format!("{e:?}"))?;
            // Else the next command, which may do nothing, passes for one that wrote.
            let shown = self.kernel.call("goal.show", &json!({})).unwrap();
            self.commit = shown["commit"].as_u64().unwrap();
        }
        let after = self.list();
        self.check(op, &request, &before, &after, file_before.as_deref(), base_before.as_deref())?;
        if after.keys().any(String::is_empty) {
            return Err("a write left a line without an id".into());
        }
        self.take_note(after);
        self.typed.clear();
        self.rough = false;
        self.older.extend(self.file());
        if self.file() != self.base() {
            return Err(format!(
                "the projection differs from its base\nfile {:?}\nbase {:?}",
                self.text(),
                self.base().map(|b| String::from_utf8_lossy(&b).into_owned())
            ));
        }
        let check = self.kernel.call("store.check", &json!({})).unwrap();
        if check["ok"] != json!(true) {
            return Err(format!("store check: {check}"));
        }
        Ok(())
    }

    fn base(&self) -> Option<Vec<u8>> {
        let goals = self.folder.join("p/.loopx/goals");
        let stores = std::fs::read_dir(goals).ok()?.flatten();
        let base = stores.map(|e| e.path().join("projection.base")).find(|p| p.exists())?;
        std::fs::read(base).ok()
    }

    fn check(
        &self,
        op: &str,
        request: &Value,
        before: &BTreeMap<String, Seen>,
        after: &BTreeMap<String, Seen>,
        file: Option<&[u8]>,
        base: Option<&[u8]>,
    ) -> Result<(), String> {
        let rough = self.rough || file.is_some_and(|f| !regular(&String::from_utf8_lossy(f)));
        let target = request["todo_id"].as_str().unwrap_or_default();
        let gate_rejected = request["decision_outcome"] == json!("reject");
        for (id, was) in before {
            let Some(is) = after.get(id) else { return Err(format!("{id} is gone: {was:?}")) };
            let asked = id == target;
            if was.status == "done" && is.status != "done" {
                return Err(format!("{id} came back: {was:?} {is:?}"));
            }
            let decided = was.status != "done" && is.status == "done";
            if was.class == "user_gate" && decided && !(asked && op == "todo.complete") {
                return Err(format!("gate {id} was decided by an edit: {was:?} {is:?}"));
            }
            let claims = asked || op == "turn.admit";
            if was.claim != is.claim && !claims {
                return Err(format!("the claim of {id} changed: {was:?} {is:?}"));
            }
            // A comment that was unreadable may say what kind of user todo it is.
            let mended = rough && was.class == "user_gate" && is.class == "user_action";
            let mended = mended || rough && was.role == "agent" && is.class != "user_gate";
            if was.role != is.role || (was.class != is.class && !mended) {
                return Err(format!("role or class of {id} changed: {was:?} {is:?}"));
            }
            let ticked = self.typed.iter().any(|t| matches!(t, Typed::Tick { id: i } if i == id));
            let retyped =
                self.typed.iter().any(|t| matches!(t, Typed::Text { id: i, .. } if i == id));
            if !rough && !asked && !ticked && !gate_rejected && was.status != is.status {
                return Err(format!("the status of {id} changed by itself: {was:?} {is:?}"));
            }
            if !rough && !asked && !retyped && was.text != is.text {
                return Err(format!("the text of {id} changed by itself: {was:?} {is:?}"));
            }
        }
        let Some(file) = file.and_then(|f| std::str::from_utf8(f).ok()) else { return Ok(()) };
        if self.older.iter().any(|o| o.as_slice() == file.as_bytes()) {
            return Ok(());
        }
        let left = self.text().unwrap_or_default();
        let base = base.map(String::from_utf8_lossy).unwrap_or_default();
        for mark in marks(file) {
            let known = after.values().any(|t| t.text.contains(&mark)) || left.contains(&mark);
            // The command itself came after the edit and wins; a text that the store had
            // changed too is a conflict, and the store's stays.
            let overruled = self.typed.iter().any(|t| match t {
                Typed::Text { mark: m, id } => {
                    *m == mark
                        && (id == target
                            || before.get(id).is_none_or(|was| !base.contains(&was.text)))
                }
                _ => false,
            });
            // In a torn file a line may have become another todo's, the command's too.
            let overruled = overruled || rough && !request["text"].is_null() && !target.is_empty();
            let old = base.contains(&mark) || self.older.iter().any(|o| contains(o, &mark));
            if !known && !overruled && !old {
                return Err(format!("{mark} was typed and is nowhere"));
            }
        }
        if rough {
            return Ok(());
        }
        for typed in &self.typed {
            match typed {
                Typed::New { mark, role } if file.contains(mark.as_str()) => {
                    let found: Vec<&Seen> =
                        after.values().filter(|t| t.text.contains(mark.as_str())).collect();
                    let fits = |t: &&Seen| role.is_empty() || t.role == *role;
                    if found.len() != 1 || !found.iter().all(fits) {
                        return Err(format!("new line {mark}: {found:?}"));
                    }
                }
                Typed::Text { mark, id } if file.contains(mark.as_str()) && id != target => {
                    let last = self.typed.iter().rev().find_map(|t| match t {
                        Typed::Text { mark, id: i } if i == id => Some(mark),
                        _ => None,
                    });
                    let is = after.get(id);
                    if last == Some(mark) && !is.is_some_and(|t| t.text.contains(mark.as_str())) {
                        return Err(format!("text {mark} of {id}: {is:?}"));
                    }
                }
                Typed::Tick { id } => {
                    let (Some(was), Some(is)) = (before.get(id), after.get(id)) else { continue };
                    let there = file.contains(&format!("todo_id={id}"));
                    let may = was.class != "user_gate"
                        && (was.role == "user"
                            || was.claim.is_empty()
                            || request["agent_id"] == json!(was.claim));
                    if there && may && is.status != "done" && id != target {
                        return Err(format!("the tick of {id} was lost: {was:?} {is:?}"));
                    }
                    let by_command = id == target && op == "todo.complete";
                    if !may && was.status != "done" && is.status == "done" && !by_command {
                        return Err(format!("the tick of {id} counted: {was:?} {is:?}"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn same<T: PartialEq + fmt::Debug>(what: &str, is: &T, was: &T) -> Result<(), String> {
    if is == was { Ok(()) } else { Err(format!("{what}\nis  {is:?}\nwas {was:?}")) }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(text)
}

/// A front matter, and one heading for each role below it: what an earlier edit has not
/// torn apart.
fn regular(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let heads =
        |h: &str| -> Vec<usize> { (0..lines.len()).filter(|n| lines[*n].starts_with(h)).collect() };
    let rules = heads("---");
    let (user, agent) = (heads("## User Todo"), heads("## Agent Todo"));
    match (rules.as_slice(), user.as_slice(), agent.as_slice()) {
        ([0, end], [user], [agent]) => end < user && user < agent,
        _ => false,
    }
}

/// `m12m` words of a text.
fn marks(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| {
            let inner = w.strip_prefix('m').and_then(|w| w.strip_suffix('m'));
            inner.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
        .map(str::to_owned)
        .collect()
}

/// Todo lines with their comment: first line, line after the last, id.
fn blocks(lines: &[String]) -> Vec<(usize, usize, Option<String>)> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let boxed = ["- [ ] ", "- [x] ", "- [-] "].iter().any(|b| line.starts_with(b));
        if !boxed {
            continue;
        }
        let comment = lines.get(at + 1).filter(|l| l.trim_start().starts_with("<!-- loopx"));
        let id = comment
            .and_then(|c| c.split(' ').find_map(|w| w.strip_prefix("todo_id=")).map(str::to_owned));
        found.push((at, at + 1 + usize::from(comment.is_some()), id));
    }
    found
}

/// The heading above a line.
fn section(lines: &[String], at: usize) -> Option<usize> {
    (0..at).rev().find(|n| lines[*n].starts_with("## "))
}

fn histories() -> impl Strategy<Value = History> {
    vec((any::<u8>(), any::<u16>(), any::<u16>()), 20).prop_map(History)
}

fn live(folder: &Path, history: &History) -> Result<(usize, usize), String> {
    let mut world = World::new(folder);
    for (n, step) in history.0.iter().enumerate() {
        world.note(format!("step {n}"));
        let done = if step.0 >= 108 {
            world.edit((step.0 - 108, step.1, step.2));
            Ok(())
        } else {
            world.command(*step)
        };
        if let Err(error) = done {
            let tail = world.log.len().saturating_sub(30);
            return Err(format!(
                "{error}\n{}\n--- file\n{}",
                world.log[tail..].join("\n"),
                world.text().unwrap_or_default()
            ));
        }
    }
    Ok((world.commands, world.edits))
}

#[test]
fn hand_edits_between_commands_lose_nothing_and_decide_nothing() {
    let cases: u32 =
        std::env::var("LOOPX_HAND_EDITS").ok().and_then(|n| n.parse().ok()).unwrap_or(320);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 1_000,
        ..Config::default()
    });
    let totals = std::cell::Cell::new((0, 0));
    let begun = std::time::Instant::now();
    let result = runner.run(&histories(), |history| {
        let folder = tempfile::Builder::new().prefix("loopx-").tempdir_in(shared_memory()).unwrap();
        let (commands, edits) = live(folder.path(), &history).map_err(TestCaseError::fail)?;
        totals.set((totals.get().0 + commands, totals.get().1 + edits));
        Ok(())
    });
    let (commands, edits) = totals.get();
    println!("{cases} histories, {commands} commands, {edits} edits, {:?}", begun.elapsed());
    if let Err(error) = result {
        panic!("{error}");
    }
}

fn world() -> (tempfile::TempDir, World) {
    let folder = tempfile::Builder::new().prefix("loopx-").tempdir_in(shared_memory()).unwrap();
    let world = World::new(folder.path());
    (folder, world)
}

fn added(world: &World, text: &str) {
    world
        .kernel
        .call("todo.add", &json!({"role": "agent", "text": text, "agent_id": "agent-a"}))
        .unwrap();
}

/// Positions in a file with many typed lines grow faster than the store's; a new todo
/// was then drawn above the last lines.
#[test]
fn a_new_todo_is_drawn_at_the_end_whatever_was_typed_between() {
    let (_folder, mut world) = world();
    let text = world.text().unwrap();
    let typed: String = (0..40).map(|n| format!("- [ ] typed {n}\n")).collect();
    let at = text.find("- [ ] [P2] second").unwrap();
    world.save(&format!("{}{typed}{}", &text[..at], &text[at..]));
    for n in 0..3 {
        added(&world, &format!("by command {n}"));
        let text = world.text().unwrap();
        let last = text.lines().rfind(|l| l.starts_with("- [")).unwrap().to_owned();
        assert_eq!(last, format!("- [ ] by command {n}"));
    }
}

/// The broken comment stays behind the block's own line; its id was read as the block's,
/// and every later edit made one more copy.
#[test]
fn a_copied_block_with_a_broken_comment_becomes_one_todo() {
    let (_folder, mut world) = world();
    let text = world.text().unwrap();
    let block = text.find("- [ ] [P2] second").unwrap();
    let end = text[block..].find("-->").unwrap() + block + 4;
    let copy = text[block..end].replace("-->", "note=\"open -->");
    world.save(&format!("{}{copy}{}", &text[..end], &text[end..]));
    for n in 0..4 {
        let text = world.text().unwrap();
        world.save(&text.replace("## Next Action", &format!("- [ ] typed {n}\n\n## Next Action")));
        added(&world, &format!("by command {n}"));
    }
    let copies = world.list().values().filter(|t| t.text == "[P2] second").count();
    assert_eq!(copies, 2);
}

/// An attempt was noted after the command that settled its cause, and stayed for ever.
#[test]
fn an_offer_that_a_command_answers_leaves_no_attempt_behind() {
    let (_folder, world) = world();
    let call = |op: &str, request: Value| world.kernel.call(op, &request).unwrap();
    for (id, todo) in world.todos.iter().filter(|(_, t)| t.role == "user") {
        assert_eq!(todo.class, "user_gate");
        call("todo.complete", json!({"todo_id": id, "decision_outcome": "approve"}));
    }
    for id in world.todos.iter().filter(|(_, t)| t.role == "agent").map(|(id, _)| id) {
        call("todo.complete", json!({"todo_id": id, "agent_id": "agent-a"}));
    }
    for agent in AGENTS {
        call("refresh_state", json!({"agent_id": agent}));
        call("turn.admit", json!({"agent_id": agent, "turn_instance_id": format!("t-{agent}")}));
    }
    added(&world, "[P1] what follows");
    let check = call("store.check", json!({}));
    assert_eq!(check["ok"], json!(true), "{check}");
}

/// A gate whose comment was unreadable took over the class of an agent todo's comment
/// that was moved below it, and nobody waited for it any more.
#[test]
fn a_gate_stays_a_gate_when_its_broken_comment_is_replaced() {
    let (_folder, mut world) = world();
    let text = world.text().unwrap();
    let typed = "- [ ] may I?\n  <!-- loopx:todo note=\"open -->\n";
    world.save(&text.replace("\n## Agent Todo", &format!("{typed}\n## Agent Todo")));
    added(&world, "one");
    let text = world.text().unwrap();
    assert_eq!(world.list().values().filter(|t| t.class == "user_gate").count(), 2);
    let mended = text.replace("note=\"open", "task_class=advancement_task");
    assert_ne!(mended, text);
    world.save(&mended);
    added(&world, "two");
    assert_eq!(world.list().values().filter(|t| t.class == "user_gate").count(), 2);
}
