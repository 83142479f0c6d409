//! Many processes on one goal, killed, stopped and given faults at random moments; then the
//! history that was acknowledged is held against the store's own.

use crate::Sandbox;
use crate::faults::{Fault, Kind, Library, integrity, stores};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long and how hard.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long operations are started.
    pub time: Duration,
    /// Processes at once.
    pub workers: usize,
    /// Between two kills.
    pub kill_every: Duration,
}

impl Options {
    /// Five processes; a kill a second, in a short run four.
    pub fn lasting(time: Duration) -> Self {
        let kill_every = if time > Duration::from_secs(60) { 1000 } else { 250 };
        Self { time, workers: 5, kill_every: Duration::from_millis(kill_every) }
    }
}

/// What happened.
#[derive(Debug, Default)]
pub struct Report {
    /// Processes that were started.
    pub operations: usize,
    /// Those that answered with a receipt.
    pub acknowledged: usize,
    /// Those that were refused, by code.
    pub refused: BTreeMap<String, usize>,
    /// Those that were killed while they ran.
    pub killed: usize,
    /// Processes that were stopped for a while.
    pub stopped: usize,
    /// Processes with a fault in one of their system calls.
    pub faults: usize,
    /// Edits of the state file by hand.
    pub edits: usize,
    /// Commits of the store in the end.
    pub commits: usize,
    /// What must not be.
    pub violations: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} operations, {} acknowledged, {} refused, {} kills, {} stops, {} faults, {} hand edits, \
             {} commits, {} violations",
            self.operations,
            self.acknowledged,
            self.refused.values().sum::<usize>(),
            self.killed,
            self.stopped,
            self.faults,
            self.edits,
            self.commits,
            self.violations.len()
        )?;
        writeln!(f, "refused: {:?}", self.refused)?;
        self.violations.iter().take(40).try_for_each(|v| writeln!(f, "VIOLATION {v}"))
    }
}

/// A receipt that a process gave out.
struct Acknowledged {
    /// As the store names the effect.
    effect: String,
    receipt: Value,
}

struct World {
    sandbox: Sandbox,
    library: Option<Library>,
    over: AtomicBool,
    running: Vec<Mutex<Option<Child>>>,
    todos: Mutex<Vec<String>>,
    acknowledged: Mutex<Vec<Acknowledged>>,
    report: Mutex<Report>,
    number: AtomicUsize,
    /// Numbers of the edits by hand.
    made: Mutex<HashSet<usize>>,
}

/// Xorshift: which operation comes next need not be hard to guess.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(n.max(1)).unwrap_or(1)).unwrap_or(0)
    }
}

/// How one process ended.
enum End {
    Receipt(Value),
    Refused,
    Unknown,
}

/// Runs it and checks it.
pub fn run(options: &Options) -> Report {
    let library = Library::built();
    if let Err(why) = &library {
        crate::skip("faults of system calls under torture", why);
    }
    let world = World {
        sandbox: Sandbox::in_memory(),
        library: library.ok(),
        over: AtomicBool::new(false),
        running: (0..options.workers).map(|_| Mutex::new(None)).collect(),
        todos: Mutex::default(),
        acknowledged: Mutex::default(),
        report: Mutex::default(),
        number: AtomicUsize::new(0),
        made: Mutex::default(),
    };
    let agents: Vec<String> = (0..options.workers).map(agent).collect();
    let words = "goal create --goal-id g --objective o --allowed-slots 1000000 --agent-id";
    world.sandbox.json(words.split(' ').chain([agents.join(",").as_str()]));
    thread::scope(|scope| {
        let world = &world;
        let workers: Vec<_> =
            (0..options.workers).map(|me| scope.spawn(move || world.work(me))).collect();
        let killer = scope.spawn(move || world.disturb(options));
        thread::sleep(options.time);
        world.over.store(true, Ordering::Relaxed);
        killer.join().expect("the killer ends");
        for worker in workers {
            worker.join().expect("a worker ends");
        }
    });
    world.check()
}

fn agent(me: usize) -> String {
    format!("agent-{me}")
}

impl World {
    fn violation(&self, text: String) {
        self.report.lock().expect("no panic").violations.push(text);
    }

    fn work(&self, me: usize) {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (u64::try_from(me).unwrap_or(0) + 1) << 17);
        while !self.over.load(Ordering::Relaxed) {
            self.one(me, &mut dice);
        }
    }

    fn one(&self, me: usize, dice: &mut Dice) {
        let n = self.number.fetch_add(1, Ordering::Relaxed);
        let agent = agent(me);
        let effect = format!("e{n}");
        let todo = {
            let todos = self.todos.lock().expect("no panic");
            let recent = todos.len().saturating_sub(20);
            todos.get(recent + dice.below(todos.len() - recent)).cloned()
        };
        let by = format!("--goal-id g --agent-id {agent}");
        match (dice.below(20), todo) {
            (0..=3, _) | (_, None) => {
                let words = format!("todo add --goal-id g --role agent --text w{n}");
                if let End::Receipt(value) = self.effect(me, dice, &words, &effect) {
                    let id = value.get("todo_id").and_then(Value::as_str).map(str::to_owned);
                    self.todos.lock().expect("no panic").extend(id);
                }
            }
            (4 | 5, Some(todo)) => {
                let words = format!("todo claim --goal-id g --todo-id {todo} --claimed-by {agent}");
                self.effect(me, dice, &words, &effect);
            }
            (6 | 7, Some(todo)) => {
                let words = format!("todo complete {by} --todo-id {todo} --next-agent-todo n{n}");
                self.effect(me, dice, &words, &effect);
            }
            (8 | 9, Some(_)) => {
                let words = format!("refresh-state {by} --delivery-outcome outcome_progress");
                if let End::Receipt(_) = self.effect(me, dice, &words, &effect) {
                    let words = format!("quota spend-slot {by} --execute");
                    self.effect(me, dice, &words, &format!("s{n}"));
                }
            }
            (10, Some(_)) if me == 0 => {
                self.effect(me, dice, "goal stop --goal-id g", &effect);
                thread::sleep(Duration::from_millis(50));
                self.effect(me, dice, "goal resume --goal-id g", &format!("r{n}"));
            }
            (10..=12, Some(_)) if me == 0 => self.edit(n),
            (_, Some(_)) => self.turn(me, dice, &by, n),
        }
    }

    /// Admit, and one of the ways in which a turn ends; or it is left to itself.
    fn turn(&self, me: usize, dice: &mut Dice, by: &str, n: usize) {
        let turn = format!("t{n}");
        let admit = format!("turn admit {by} --turn-instance-id {turn} --ttl-seconds 5");
        let End::Receipt(packet) =
            self.call(me, dice, &admit, &format!("turn|{turn}|turn%2Eadmit|"))
        else {
            return;
        };
        if packet.get("should_run") != Some(&Value::Bool(true)) {
            return;
        }
        let outcome = match dice.below(9) {
            0..=2 => "progress --evidence e".to_owned(),
            3 | 4 => format!("completed --evidence e --next-agent-todo n{n}"),
            5 => "no_change".into(),
            6 => "failed".into(),
            7 => {
                let words = format!("turn release {by} --turn-instance-id {turn}");
                self.effect(me, dice, &words, &format!("x{n}"));
                return;
            }
            _ => return,
        };
        let words = format!("turn settle {by} --turn-instance-id {turn} --outcome {outcome}");
        self.call(me, dice, &words, &format!("turn|{turn}|turn%2Esettle|"));
    }

    /// A person's editor: reads the state file, adds a line, replaces it.
    fn edit(&self, n: usize) {
        let path = self.sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
        let Ok(text) = fs::read_to_string(&path) else { return };
        let heading = "## Agent Todo\n";
        assert!(text.contains(heading), "the state file has its lists: {text}");
        let edited = text.replacen(heading, &format!("{heading}\n- [ ] by hand {n}.\n"), 1);
        let draft = path.with_extension("editor");
        let saved = fs::write(&draft, edited).and_then(|()| fs::rename(&draft, &path));
        saved.expect("the editor saves");
        self.report.lock().expect("no panic").edits += 1;
        self.made.lock().expect("no panic").insert(n);
        thread::sleep(Duration::from_millis(20));
    }

    fn effect(&self, me: usize, dice: &mut Dice, words: &str, effect: &str) -> End {
        let words = format!("{words} --effect-id {effect}");
        self.call(me, dice, &words, &format!("caller|{effect}"))
    }

    /// Runs a command until it answers; one that was killed is left alone every other time.
    fn call(&self, me: usize, dice: &mut Dice, words: &str, effect: &str) -> End {
        loop {
            match self.process(me, dice, words) {
                End::Unknown if dice.below(2) == 0 => return End::Unknown,
                End::Unknown => {}
                End::Receipt(receipt) => {
                    let mut all = self.acknowledged.lock().expect("no panic");
                    all.push(Acknowledged { effect: effect.into(), receipt: receipt.clone() });
                    return End::Receipt(receipt);
                }
                End::Refused => return End::Refused,
            }
        }
    }

    fn process(&self, me: usize, dice: &mut Dice, words: &str) -> End {
        let out = self.sandbox.base().join(format!("tmp/out-{me}"));
        let file = File::create(&out).expect("a file for the answer");
        let mut command = self.sandbox.call().command(words.split_whitespace());
        let faulty = match &self.library {
            Some(library) if dice.below(16) == 0 => {
                let kinds = [Kind::NoSpace, Kind::Io, Kind::Short, Kind::Torn];
                let kind = kinds.get(dice.below(4)).copied().unwrap_or(Kind::Io);
                let at = 1 + dice.below(60);
                library.attach(&mut command, Fault { kind, at, sticky: false });
                true
            }
            _ => false,
        };
        command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
        let child = command.spawn().expect("loopx starts");
        *self.slot(me) = Some(child);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.ended(me) {
                break Some(status);
            }
            if begun.elapsed() > Duration::from_secs(60) {
                break None;
            }
            thread::sleep(Duration::from_micros(500));
        };
        if let (None, Some(child)) = (status, self.slot(me).as_mut()) {
            // It is over with either way.
            let _ = child.kill();
        }
        *self.slot(me) = None;
        let mut report = self.report.lock().expect("no panic");
        report.operations += 1;
        report.faults += usize::from(faulty);
        let Some(status) = status else {
            report.violations.push(format!("not over after a minute: {words}"));
            return End::Unknown;
        };
        let answer: Option<Value> =
            fs::read(&out).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match (status.code(), answer) {
            (None, _) => End::Unknown,
            (Some(0), Some(answer)) => {
                report.acknowledged += 1;
                End::Receipt(answer)
            }
            (Some(1), Some(answer)) => {
                let code = answer.get("error_code").and_then(Value::as_str).unwrap_or("none");
                *report.refused.entry(code.to_owned()).or_default() += 1;
                let broken = ["internal", "none", "effect_conflict", "store_unreadable"];
                if broken.contains(&code) || code.starts_with("quota_state") {
                    report.violations.push(format!("{words}: {answer}"));
                }
                // A write that failed may have happened all the same.
                if faulty { End::Unknown } else { End::Refused }
            }
            (code, answer) => {
                report.violations.push(format!("{words}: exit {code:?}, answer {answer:?}"));
                End::Unknown
            }
        }
    }

    fn slot(&self, me: usize) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.running.get(me).expect("a worker").lock().expect("no panic")
    }

    fn ended(&self, me: usize) -> Option<ExitStatus> {
        self.slot(me).as_mut().and_then(|child| child.try_wait().expect("it can be waited for"))
    }

    /// Kills one process after another, and between two kills stops one for a while: every
    /// other time the one that holds the store's lock.
    fn disturb(&self, options: &Options) {
        let mut dice = Dice(88_172_645_463_325_252);
        while !self.over.load(Ordering::Relaxed) {
            thread::sleep(options.kill_every / 2);
            if let Some(child) = self.slot(dice.below(options.workers)).as_mut() {
                // Not reaped while its slot is held, so the number is its own.
                if child.try_wait().expect("it can be waited for").is_none() {
                    child.kill().expect("a child can be killed");
                    self.report.lock().expect("no panic").killed += 1;
                }
            }
            thread::sleep(options.kill_every / 2);
            let victim = self.lock_holder().unwrap_or_else(|| dice.below(options.workers));
            let signal = |signal| {
                let mut slot = self.slot(victim);
                let child = slot.as_mut()?;
                let there = child.try_wait().expect("it can be waited for").is_none();
                let pid = Pid::from_raw(i32::try_from(child.id()).ok()?);
                (there && kill(pid, signal).is_ok()).then_some(child.id())
            };
            if signal(Signal::SIGSTOP).is_some() {
                thread::sleep(Duration::from_millis(100 + 900 * u64::from(dice.below(10) == 0)));
                signal(Signal::SIGCONT);
                self.report.lock().expect("no panic").stopped += 1;
            }
        }
        // Whoever was stopped when it ended goes on.
        for slot in &self.running {
            if let Some(child) = slot.lock().expect("no panic").as_ref() {
                let _ =
                    i32::try_from(child.id()).map(|pid| kill(Pid::from_raw(pid), Signal::SIGCONT));
            }
        }
    }

    /// The worker whose process holds the store's lock, as the lock's record has it.
    fn lock_holder(&self) -> Option<usize> {
        let store = stores(&self.sandbox).pop()?;
        let record = fs::read(store.with_file_name("goal.db.lock")).ok()?;
        let record: Value = serde_json::from_slice(&record).ok()?;
        let pid = record.get("pid").and_then(Value::as_u64)?;
        (0..self.running.len())
            .find(|me| self.slot(*me).as_ref().is_some_and(|child| u64::from(child.id()) == pid))
    }

    /// Holds the acknowledged history against the store's own.
    fn check(self) -> Report {
        // One more write, so that the state file shows everything.
        self.sandbox.json("todo add --goal-id g --role agent --text last".split(' '));
        for store in stores(&self.sandbox) {
            if let Err(why) = integrity(&store) {
                self.violation(why);
            }
        }
        let export = self.sandbox.base().join("export.json");
        let words = ["export", "--goal-id", "g", "--file"];
        self.sandbox.json(words.iter().map(Path::new).chain([export.as_path()]));
        let text = fs::read(&export).expect("the export");
        let export: Value = serde_json::from_slice(&text).expect("the export is JSON");
        let rows = |table: &str| -> Vec<Value> {
            let rows = export.get("tables").and_then(|t| t.get(table));
            rows.and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let (commits, todos) = (rows("commits"), rows("todos"));
        let mut found = Vec::new();
        acknowledged_is_there(&commits, &self.acknowledged.lock().expect("no panic"), &mut found);
        one_owner(&commits, &mut found);
        spent_once(&commits, &rows("spends"), &mut found);
        self.surface(&todos, &mut found);
        let mut report = self.report.into_inner().expect("no panic");
        report.commits = commits.len();
        report.violations.append(&mut found);
        report
    }

    /// Every hand edit was taken in once, and the state file shows every open todo once.
    fn surface(&self, todos: &[Value], found: &mut Vec<String>) {
        let mut texts: HashMap<&str, usize> = HashMap::new();
        let mut ids = HashSet::new();
        let path = self.sandbox.project().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
        let file = fs::read_to_string(path).expect("the state file");
        for todo in todos {
            *texts.entry(text(todo, "text")).or_default() += 1;
            let id = text(todo, "todo_id");
            if !ids.insert(id) {
                found.push(format!("two todos have the id {id}"));
            }
            let shown = file.matches(&format!("todo_id={id} ")).count();
            if text(todo, "status") == "open" && shown != 1 {
                found.push(format!("open todo {id} is shown {shown} times"));
            }
        }
        let twice =
            texts.iter().filter(|(t, n)| **n > 1 && (t.starts_with('w') || t.contains("by hand")));
        found.extend(twice.map(|(text, n)| format!("{n} todos have the text {text:?}")));
        for n in 0..self.number.load(Ordering::Relaxed) {
            let line = format!("by hand {n}.");
            let made = self.made.lock().expect("no panic").contains(&n);
            if made && !texts.contains_key(line.as_str()) {
                found.push(format!("the hand edit {line:?} is lost"));
            }
        }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

fn receipt_of(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(map) = value.as_object_mut() {
        // Said of this answer, not of the effect.
        for key in ["idempotent_replay", "heartbeat_receipt", "global_projection"] {
            map.remove(key);
        }
    }
    value
}

fn acknowledged_is_there(commits: &[Value], all: &[Acknowledged], found: &mut Vec<String>) {
    let mut by_effect = HashMap::new();
    for (index, commit) in commits.iter().enumerate() {
        if number(commit, "n") != u64::try_from(index + 1).unwrap_or(0) {
            found.push(format!("commit {} stands at place {}", number(commit, "n"), index + 1));
        }
        if by_effect.insert(text(commit, "effect_id"), commit).is_some() {
            found.push(format!("effect {} was made twice", text(commit, "effect_id")));
        }
    }
    for Acknowledged { effect, receipt } in all {
        let stored = by_effect.get(effect.as_str()).and_then(|commit| commit.get("receipt"));
        match stored {
            Some(stored) if receipt_of(stored) == receipt_of(receipt) => {}
            Some(stored) => {
                found.push(format!("{effect}: acknowledged {receipt}, stored {stored}"))
            }
            // An answer that binds nothing, for example about a stopped goal.
            None if receipt.get("heartbeat_receipt").is_none()
                && receipt.get("rule").is_some()
                && receipt.get("should_run") != Some(&Value::Bool(true)) => {}
            None => found.push(format!("{effect}: acknowledged and lost: {receipt}")),
        }
    }
}

/// In the order of commits: one live turn a todo, one claimant, nothing of a stopped goal.
fn one_owner(commits: &[Value], found: &mut Vec<String>) {
    let nothing = Value::Null;
    let mut live: HashMap<String, String> = HashMap::new();
    let mut claims: HashMap<String, String> = HashMap::new();
    let mut stopped = false;
    for commit in commits {
        let receipt = commit.get("receipt").unwrap_or(&nothing);
        let todo = text(receipt, "todo_id").to_owned();
        let n = number(commit, "n");
        match text(commit, "verb") {
            "goal.stop" => stopped = true,
            "goal.resume" => stopped = false,
            "turn.admit" if receipt.get("should_run") == Some(&Value::Bool(true)) => {
                if stopped {
                    found.push(format!("commit {n} admits a turn of a stopped goal"));
                }
                let effect = text(commit, "effect_id");
                let turn = effect.split('|').nth(1).unwrap_or_default().to_owned();
                let todo = text(receipt.get("selected_todo").unwrap_or(&nothing), "todo_id");
                if todo.is_empty() {
                    continue;
                }
                if let Some(other) = live.insert(todo.to_owned(), turn.clone()) {
                    found.push(format!("commit {n}: turn {turn} gets {todo}, live in {other}"));
                }
                if let Some(owner) = claims.get(todo).filter(|o| *o != text(commit, "agent")) {
                    found.push(format!("commit {n}: turn {turn} gets {todo}, claimed by {owner}"));
                }
            }
            "turn.settle" | "turn.release" => {
                let turn = text(receipt, "turn_instance_id");
                live.retain(|_, t| t != turn);
                if text(receipt, "status") == "done" {
                    claims.remove(&todo);
                }
            }
            "turn.lapse" => {
                let lapsed = receipt.get("lapsed_turns").and_then(Value::as_array);
                for turn in lapsed.into_iter().flatten().filter_map(Value::as_str) {
                    live.retain(|_, t| t != turn);
                }
            }
            "todo.claim" => {
                let agent = text(receipt, "claimed_by").to_owned();
                let before = claims.insert(todo.clone(), agent.clone());
                if let Some(other) = before.filter(|other| *other != agent) {
                    found.push(format!("commit {n}: {agent} claims {todo} of {other}"));
                }
            }
            "todo.complete" => {
                claims.remove(&todo);
                live.remove(&todo);
            }
            _ => {}
        }
    }
}

/// Each commit that spends has its spend, and there is no other.
fn spent_once(commits: &[Value], spends: &[Value], found: &mut Vec<String>) {
    let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
    for commit in commits {
        let Some(receipt) = commit.get("receipt") else { continue };
        let slots = match text(commit, "verb") {
            "quota.spend_slot" => number(receipt, "slots"),
            "turn.settle" => number(receipt, "spent_slots"),
            _ => 0,
        };
        if slots > 0 {
            expected.insert(number(commit, "n"), slots);
        }
    }
    let stored: BTreeMap<u64, u64> =
        spends.iter().map(|spend| (number(spend, "id"), number(spend, "slots"))).collect();
    if stored != expected || stored.len() != spends.len() {
        found.push(format!("spends by commit are {stored:?}, their receipts say {expected:?}"));
    }
    let mut outcomes = HashSet::new();
    for spend in spends.iter().filter_map(|spend| spend.get("outcome_id")) {
        if !outcomes.insert(spend.to_string()) {
            found.push(format!("outcome {spend} was spent twice"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn commit(n: u64, effect: &str, verb: &str, agent: &str, receipt: &Value) -> Value {
        json!({"n": n, "effect_id": effect, "verb": verb, "agent": agent, "receipt": receipt})
    }

    #[test]
    fn a_lost_a_changed_and_a_doubled_effect_are_found() {
        let stored = json!({"todo_id": "t"});
        let commits = [
            commit(1, "caller|a", "todo.add", "x", &stored),
            commit(3, "caller|a", "todo.add", "x", &stored),
        ];
        let told = |effect: &str, receipt: Value| Acknowledged { effect: effect.into(), receipt };
        let all = [
            told("caller|a", json!({"todo_id": "t", "idempotent_replay": true})),
            told("caller|a", json!({"todo_id": "other"})),
            told("caller|b", stored.clone()),
        ];
        let mut found = Vec::new();
        acknowledged_is_there(&commits, &all, &mut found);
        assert_eq!(found.len(), 4, "{found:?}");
    }

    #[test]
    fn two_owners_and_a_turn_of_a_stopped_goal_are_found() {
        let run = json!({"should_run": true, "selected_todo": {"todo_id": "t"}});
        let commits = [
            commit(1, "turn|t1|", "turn.admit", "x", &run),
            commit(2, "turn|t2|", "turn.admit", "y", &run),
            commit(3, "e", "goal.stop", "", &json!({})),
            commit(4, "r", "turn.release", "y", &json!({"turn_instance_id": "t2"})),
            commit(5, "turn|t3|", "turn.admit", "y", &run),
        ];
        let mut found = Vec::new();
        one_owner(&commits, &mut found);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_spend_too_many_and_an_outcome_spent_twice_are_found() {
        let commits = [commit(1, "s", "quota.spend_slot", "x", &json!({"slots": 1}))];
        let spends = [
            json!({"id": 1, "slots": 1, "outcome_id": 7}),
            json!({"id": 2, "slots": 1, "outcome_id": 7}),
        ];
        let mut found = Vec::new();
        spent_once(&commits, &spends, &mut found);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
