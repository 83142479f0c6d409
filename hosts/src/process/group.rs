//! What belongs to a child, and how it is ended: SIGTERM, a grace, SIGKILL. A process is
//! ended only when it is certain whose it is: by its group, whose number the members keep
//! from being given away; by being a child of this process; or by a mark in its
//! environment that nothing else has.

use std::time::{Duration, Instant as Stopwatch};

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, kill_process, kill_process_group, test_kill_process_group,
    wait,
};

use crate::alarm::Alarm;

/// How long after SIGKILL a process is waited for. Only one that hangs in the system
/// itself takes longer.
pub(super) const LAST_WAIT: Duration = Duration::from_secs(5);

/// How often a group that is asked to end is looked at: the system tells of children
/// only, not of their groups.
const LOOK: Duration = Duration::from_millis(10);

/// Which processes belong to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Its process group.
    Group,
    /// Its process group, and on Linux everything below it, also what has left the group
    /// for a session of its own. Only for a process that has no other children.
    Everything,
}

/// What was left of a group when the child itself had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// Nothing.
    None,
    /// Processes that ended when they were asked to, or were killed.
    Ended,
    /// Processes that could not be ended.
    Left,
}

impl Remains {
    /// Its word: `none`, `ended`, `left`.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ended => "ended",
            Self::Left => "left",
        }
    }
}

impl Family {
    /// Makes this process the one that orphans below it come to, where that is wanted.
    pub(super) fn prepare(self) {
        #[cfg(target_os = "linux")]
        if self == Self::Everything {
            // Where it is refused the group alone is ended, as on other systems.
            let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        }
    }
}

/// The members of a child's family.
#[derive(Debug)]
pub(super) struct Members {
    group: Pid,
    family: Family,
}

impl Members {
    pub fn new(group: Pid, family: Family) -> Self {
        Self { group, family }
    }

    /// SIGTERM to the whole group, and SIGCONT, because one that is halted hears nothing.
    pub fn ask_to_end(&self) {
        signal_group(self.group, Signal::TERM);
        signal_group(self.group, Signal::CONT);
    }

    /// SIGKILL to the whole group.
    pub fn kill(&self) {
        signal_group(self.group, Signal::KILL);
    }

    /// Ends what is left after the child itself has been reaped: at `limit` at the latest
    /// it is killed. A further stop signal does not wait for that.
    pub fn end(&mut self, limit: Stopwatch, alarm: &Alarm) -> Remains {
        let stops = alarm.stop_count();
        let mut asked: Vec<Pid> = Vec::new();
        let mut found = false;
        loop {
            let adopted = self.adopted();
            let group_lives = lives(self.group);
            if adopted.is_empty() && !group_lives {
                return if found { Remains::Ended } else { Remains::None };
            }
            found = true;
            let now = Stopwatch::now();
            if now >= limit + LAST_WAIT {
                return Remains::Left;
            }
            let kill = now >= limit || alarm.stop_count() > stops;
            if kill && group_lives {
                self.kill();
            }
            for pid in adopted {
                if kill {
                    signal_all(pid, Signal::KILL);
                } else if !asked.contains(&pid) {
                    signal_all(pid, Signal::TERM);
                    signal_all(pid, Signal::CONT);
                    asked.push(pid);
                }
            }
            alarm.wait(LOOK, |now| !kill && now > stops);
        }
    }

    /// Orphans that have come to this process, living ones; dead ones are reaped.
    fn adopted(&self) -> Vec<Pid> {
        if self.family == Family::Group || cfg!(not(target_os = "linux")) {
            return Vec::new();
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        children()
    }
}

/// Whether a group has a member that is not merely waiting to be reaped, which another
/// process may be slow to do.
fn lives(group: Pid) -> bool {
    if test_kill_process_group(group).is_err() {
        return false;
    }
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let member = |name: &std::ffi::OsStr| {
        let text = name.to_str().filter(|name| name.bytes().all(|b| b.is_ascii_digit()))?;
        let stat = std::fs::read_to_string(format!("/proc/{text}/stat")).ok()?;
        let (_, after) = stat.rsplit_once(')')?;
        let mut fields = after.split_whitespace();
        let alive = !matches!(fields.next()?, "Z" | "X");
        Some(alive && Pid::from_raw(fields.nth(1)?.parse().ok()?) == Some(group))
    };
    let mut seen = false;
    let found = processes.flatten().filter_map(|p| member(&p.file_name())).any(|is| {
        seen = true;
        is
    });
    // A system that does not show its processes there has only said that there are some.
    found || !seen
}

/// The children of this process.
fn children() -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists = threads.flatten().filter_map(|thread| {
        // Where the system keeps no such list, the group alone is ended.
        std::fs::read_to_string(thread.path().join("children")).ok()
    });
    lists.flat_map(|list| pids(&list)).collect()
}

fn pids(list: &str) -> Vec<Pid> {
    list.split_whitespace().filter_map(|text| Pid::from_raw(text.parse().ok()?)).collect()
}

/// A process, and its group when it leads one.
fn signal_all(pid: Pid, signal: Signal) {
    if getpgid(Some(pid)) == Ok(pid) {
        signal_group(pid, signal);
    }
    // Gone is what it is to be.
    let _ = kill_process(pid, signal);
}

fn signal_group(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

/// Ends every process of this user whose environment holds `mark` (`NAME=value`), this
/// process and those above it excepted; how many there were. It finds what a process
/// that was killed left behind. Only where the system shows environments: Linux.
pub fn end_marked(mark: &str, grace: Duration, alarm: &Alarm) -> usize {
    let limit = Stopwatch::now() + grace;
    let above = ancestors();
    let mut asked: Vec<Pid> = Vec::new();
    loop {
        let found: Vec<Pid> = marked(mark).into_iter().filter(|p| !above.contains(p)).collect();
        let now = Stopwatch::now();
        if found.is_empty() || now >= limit + LAST_WAIT {
            return asked.len();
        }
        for pid in found {
            if now >= limit {
                let _ = kill_process(pid, Signal::KILL);
            } else if !asked.contains(&pid) {
                let _ = kill_process(pid, Signal::TERM);
                let _ = kill_process(pid, Signal::CONT);
                asked.push(pid);
            }
        }
        // Every look goes through all processes, so they are fewer than for a group.
        alarm.wait(LOOK * 5, |_| false);
    }
}

fn marked(mark: &str) -> Vec<Pid> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pid_of = |name: &std::ffi::OsStr| Pid::from_raw(name.to_str()?.parse().ok()?);
    processes
        .flatten()
        .filter_map(|entry| Some((pid_of(&entry.file_name())?, entry.path())))
        .filter(|(_, folder)| {
            // Empty for what is dead and not yet reaped, refused for what is another's.
            let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
        })
        .map(|(pid, _)| pid)
        .collect()
}

/// This process and those above it.
fn ancestors() -> Vec<Pid> {
    let mut found = vec![rustix::process::getpid()];
    let parent = |pid: Pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold spaces and parentheses; the parent is the second field after it.
        let after = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Pid::from_raw(after)
    };
    while let Some(next) = found.last().copied().and_then(parent).filter(|p| !found.contains(p)) {
        found.push(next);
    }
    found
}
