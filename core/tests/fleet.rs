//! A week of a fleet in virtual time: 200 goals with three agents each, todos that take
//! some turns, gates that people decide hours later, monitors, windows that run out, goals
//! that are stopped for a while, hosts that crash, clocks that jump. Each host runs the
//! loop's two halves and the kernel's commands on the memory store.
//!
//! What is held against it is computed here from the script alone: no turn while gated,
//! throttled or stopped, no todo in two hands, no sleep past a due monitor; and how often a
//! loop looks, beside one that looks every three minutes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod fleet {
    pub mod host;
    pub mod script;
    pub mod world;
}

use fleet::world::{Figures, World};

const GOALS: u64 = 200;
/// Minutes of a week.
const WEEK: i64 = 7 * 24 * 60;

#[test]
fn a_week_of_200_goals_and_600_agents() {
    let started = std::time::Instant::now();
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get().min(4)) as u64;
    let figures: Vec<Figures> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn(move || {
                    let mut sum = Figures::default();
                    for goal in (0..GOALS).filter(|g| g % workers == worker) {
                        let mut world = World::new(goal);
                        world.run(WEEK);
                        sum.add(&world.figures);
                    }
                    sum
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut sum = Figures::default();
    figures.iter().for_each(|f| sum.add(f));
    let fixed = GOALS * 3 * WEEK.unsigned_abs() / 3;
    println!(
        "a week of {GOALS} goals and {} agents in {:.1} s: {} looks ({} of a loop that looks every 3 minutes), \
         {} turns, {} settled, {} crashes, {} clock steps, {} gates, {} monitor looks, latest {} min after due",
        GOALS * 3,
        started.elapsed().as_secs_f64(),
        sum.looks,
        format_args!("1/{:.0}", fixed as f64 / sum.looks.max(1) as f64),
        sum.turns,
        sum.settled,
        sum.crashes,
        sum.clock_steps,
        sum.gates,
        sum.monitor_looks,
        sum.latest_monitor,
    );
    // The simulation has to have met what it is about.
    assert!(sum.turns > 5_000 && sum.settled > 3_000, "{sum:?}");
    assert!(sum.crashes > 200 && sum.clock_steps > 50 && sum.gates > 300, "{sum:?}");
    assert!(sum.monitor_looks > 1_000 && sum.throttled > 50 && sum.stopped_looks > 50, "{sum:?}");
    assert!(sum.looks * 5 < fixed, "waiting loops look too often: {sum:?}");
}
