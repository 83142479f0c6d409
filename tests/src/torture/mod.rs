//! Many processes on one goal, some of one command and some that hold the kernel open for
//! many, killed, stopped and given faults at random moments; then the history that was
//! acknowledged is held against the store's own.

mod check;
mod disturb;
mod doors;
pub mod hold;
mod work;

use self::check::Acknowledged;
use crate::Sandbox;
use crate::faults::Library;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// How long and how hard.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long operations are started.
    pub time: Duration,
    /// Agents at once; each has one operation under way.
    pub workers: usize,
    /// Between two kills.
    pub kill_every: Duration,
    /// The program that runs [`hold::run`] when it is called with the word `hold`.
    pub holder: PathBuf,
}

impl Options {
    /// Five agents; a kill a second, in a short run four.
    pub fn lasting(time: Duration, holder: PathBuf) -> Self {
        let kill_every = if time > Duration::from_secs(60) { 1000 } else { 250 };
        Self { time, workers: 5, kill_every: Duration::from_millis(kill_every), holder }
    }
}

/// Which way an operation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Door {
    /// A process of its own.
    Command,
    /// A process that holds the kernel open.
    Handle,
}

impl Door {
    const ALL: [Self; 2] = [Self::Command, Self::Handle];

    fn other(self) -> Self {
        if self == Self::Command { Self::Handle } else { Self::Command }
    }
}

/// What happened at one door.
#[derive(Debug, Default)]
pub struct Tally {
    /// Operations that were started.
    pub operations: usize,
    /// Those that answered with a receipt.
    pub acknowledged: usize,
    /// Processes that were killed.
    pub killed: usize,
    /// Operations that failed for a fault in one of their system calls, and were told so.
    pub failed: usize,
    /// Processes that were started with faults in their system calls.
    pub faulty: usize,
}

/// What happened.
#[derive(Debug, Default)]
pub struct Report {
    /// By single commands.
    pub commands: Tally,
    /// Through kernels that stay open.
    pub handles: Tally,
    /// Processes that held a kernel open.
    pub held: usize,
    /// Receipts that a handle gave after an operation on it had failed.
    pub went_on: usize,
    /// Operations that one door left open and the other one repeated to a receipt.
    pub across: usize,
    /// Operations that were refused, by code.
    pub refused: BTreeMap<String, usize>,
    /// Processes that were stopped for a while.
    pub stopped: usize,
    /// Edits of the state file by hand.
    pub edits: usize,
    /// Commits of the store in the end.
    pub commits: usize,
    /// What must not be.
    pub violations: Vec<String>,
}

impl Report {
    /// Operations at both doors.
    pub fn operations(&self) -> usize {
        self.commands.operations + self.handles.operations
    }

    fn of(&mut self, door: Door) -> &mut Tally {
        match door {
            Door::Command => &mut self.commands,
            Door::Handle => &mut self.handles,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, tally) in [("commands", &self.commands), ("library", &self.handles)] {
            let Tally { operations, acknowledged, killed, failed, faulty } = tally;
            writeln!(
                f,
                "{name:>8}: {operations} operations, {acknowledged} acknowledged, {killed} kills, \
                 {faulty} processes with faults, {failed} operations failed by one"
            )?;
        }
        writeln!(
            f,
            "{} operations, {} kills, {} faults, {} violations; {} processes held a handle, {} \
             receipts after a failure on the same handle, {} repeats across doors",
            self.operations(),
            self.commands.killed + self.handles.killed,
            self.commands.faulty + self.handles.failed,
            self.violations.len(),
            self.held,
            self.went_on,
            self.across,
        )?;
        writeln!(
            f,
            "{} stops, {} hand edits, {} commits, refused: {:?}",
            self.stopped, self.edits, self.commits, self.refused
        )?;
        self.violations.iter().take(40).try_for_each(|v| writeln!(f, "VIOLATION {v}"))
    }
}

struct World<'o> {
    options: &'o Options,
    sandbox: Sandbox,
    library: Option<Library>,
    over: AtomicBool,
    /// The process of each worker at each door.
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

/// Runs it and checks it.
pub fn run(options: &Options) -> Report {
    let library = Library::built();
    if let Err(why) = &library {
        crate::skip("faults of system calls under torture", why);
    }
    let world = World {
        options,
        sandbox: Sandbox::in_memory(),
        library: library.ok(),
        over: AtomicBool::new(false),
        running: (0..options.workers * Door::ALL.len()).map(|_| Mutex::new(None)).collect(),
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
        let killer = scope.spawn(move || world.disturb());
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

impl World<'_> {
    fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().expect("no panic")
    }

    fn violation(&self, text: String) {
        self.report().violations.push(text);
    }

    /// The place of a worker's process at a door.
    fn slot(&self, me: usize, door: Door) -> MutexGuard<'_, Option<Child>> {
        let place = me * Door::ALL.len() + usize::from(door == Door::Handle);
        self.running.get(place).expect("a worker").lock().expect("no panic")
    }

    fn ended(&self, me: usize, door: Door) -> Option<ExitStatus> {
        self.slot(me, door)
            .as_mut()
            .and_then(|child| child.try_wait().expect("it can be waited for"))
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
