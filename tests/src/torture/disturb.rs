//! Who kills and stops them.

use super::{Dice, Door, World};
use crate::faults::stores;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

impl World<'_> {
    /// Kills one process after another, and between two kills stops one for a while: every
    /// other time the one that holds the store's lock.
    pub(super) fn disturb(&self) {
        let (workers, pause) = (self.options.workers, self.options.kill_every / 2);
        let mut dice = Dice(88_172_645_463_325_252);
        let any = |dice: &mut Dice| {
            let door = if dice.below(3) == 0 { Door::Handle } else { Door::Command };
            (dice.below(workers), door)
        };
        while !self.over.load(Ordering::Relaxed) {
            thread::sleep(pause);
            let (me, door) = any(&mut dice);
            if let Some(child) = self.slot(me, door).as_mut() {
                // Not reaped while its slot is held, so the number is its own.
                if child.try_wait().expect("it can be waited for").is_none() {
                    child.kill().expect("a child can be killed");
                    self.report().of(door).killed += 1;
                }
            }
            thread::sleep(pause);
            let (me, door) = self.lock_holder().unwrap_or_else(|| any(&mut dice));
            let signal = |signal| {
                let mut slot = self.slot(me, door);
                let child = slot.as_mut()?;
                let there = child.try_wait().expect("it can be waited for").is_none();
                let pid = Pid::from_raw(i32::try_from(child.id()).ok()?);
                (there && kill(pid, signal).is_ok()).then_some(child.id())
            };
            if signal(Signal::SIGSTOP).is_some() {
                thread::sleep(Duration::from_millis(100 + 900 * u64::from(dice.below(10) == 0)));
                signal(Signal::SIGCONT);
                self.report().stopped += 1;
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

    /// Whose process holds the store's lock, as the lock's record has it.
    fn lock_holder(&self) -> Option<(usize, Door)> {
        let store = stores(&self.sandbox).pop()?;
        let record = fs::read(store.with_file_name("goal.db.lock")).ok()?;
        let record: Value = serde_json::from_slice(&record).ok()?;
        let pid = record.get("pid").and_then(Value::as_u64)?;
        (0..self.options.workers).flat_map(|me| Door::ALL.map(|door| (me, door))).find(
            |(me, door)| {
                self.slot(*me, *door).as_ref().is_some_and(|child| u64::from(child.id()) == pid)
            },
        )
    }
}
