//! Model check: every interleaving of admissions, settlements, separate spends,
//! releases, leases, expiries, a stop, and commands whose answer is lost and that are
//! repeated, for three agents and two todos, on the memory store and with the commands
//! that the kernel runs. What the kernel does around a command (replay by effect id,
//! the sweep of lapsed turns, one commit) is `Machine::write`, in the kernel's order.
//!
//! Two states are one when they differ only in commit numbers, positions, evidence and
//! the instants of notes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::hash::{Hash as _, Hasher as _};

use loopx_core::admission::view::is_lapsed_turn;
use loopx_core::admission::{AdmissionRequest, Situation, Subject, View, ViewQuery, decide};
use loopx_core::command::lease::{self, LeaseRequest};
use loopx_core::command::quota::{SpendSlotRequest, spend_slot};
use loopx_core::command::refresh::{RefreshStateRequest, refresh_state};
use loopx_core::command::settle::{SettleOutcome, TurnSettleRequest, settle};
use loopx_core::command::turn::{self, Terms, TurnRequest};
use loopx_core::command::{Effect, Scene};
use loopx_core::model::{
    AgentId, CommitRecord, EffectId, GoalId, GoalPolicy, GoalUid, Instant, OutcomeKind, Role,
    TaskClass, Todo, TodoId, TurnId, TurnState,
};
use loopx_core::store::{Change, MemoryStore, Read, Store};
use loopx_core::turn::lapse::lapse;
use serde_json::{Value, json};

/// How far an exploration goes.
#[derive(Clone, Copy)]
struct Bounds {
    agents: usize,
    todos: usize,
    /// Turn ids of each agent.
    turns: usize,
    /// Steps of 61 minutes: a reservation and a lease end in each.
    ticks: i64,
    /// Slots of the window.
    slots: u64,
    /// Commands in a row; `usize::MAX` for all that there are.
    depth: usize,
    leases: bool,
    apart: bool,
    outcomes: &'static [SettleOutcome],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Admit {
        agent: usize,
        turn: usize,
    },
    Settle {
        agent: usize,
        turn: usize,
        outcome: SettleOutcome,
    },
    /// `refresh-state` and `quota spend-slot` with the turn's id.
    Refresh {
        agent: usize,
        turn: usize,
    },
    Spend {
        agent: usize,
        turn: usize,
    },
    Release {
        agent: usize,
        turn: usize,
    },
    Acquire {
        agent: usize,
        todo: usize,
    },
    GiveBack {
        agent: usize,
        todo: usize,
    },
    Tick,
    Stop,
}

#[derive(Clone)]
struct Machine {
    store: MemoryStore,
    minute: i64,
    stopped: bool,
    /// Effects that were acknowledged, and with what.
    acknowledged: BTreeMap<String, Value>,
}

/// What a step came to.
enum Came {
    Landed { answer: Value, replayed: bool },
    Refused,
}

fn agent(n: usize) -> AgentId {
    AgentId::trusted(format!("agent-{n}"))
}

fn todo(n: usize) -> TodoId {
    TodoId::trusted(format!("todo_00000000000{n}"))
}

fn turn_id(agent: usize, turn: usize) -> TurnId {
    TurnId::trusted(format!("turn-{agent}-{turn}"))
}

fn noon() -> Instant {
    Instant::parse("2026-11-29T12:00:00Z").unwrap()
}

impl Machine {
    fn new(bounds: &Bounds) -> Self {
        let mut store = MemoryStore::new(GoalUid::trusted("g-0"));
        let changes: Vec<Change> = (0..bounds.todos)
            .map(|n| {
                let order = i64::try_from(n).unwrap();
                let class = TaskClass::Advancement;
                let todo = Todo::new(todo(n), Role::Agent, class, order, format!("work {n}"));
                Change::PutTodo(Box::new(todo))
            })
            .collect();
        let mut tx = store.begin("set up").unwrap();
        tx.apply(&changes).unwrap();
        drop(tx.commit().unwrap());
        Self { store, minute: 0, stopped: false, acknowledged: BTreeMap::new() }
    }

    fn now(&self) -> Instant {
        noon().plus_minutes(self.minute)
    }

    fn policy(&self, bounds: &Bounds) -> GoalPolicy {
        let mut policy = GoalPolicy::new(GoalId::trusted("g"));
        policy.roster = (0..bounds.agents).map(agent).collect();
        policy.quota.allowed_slots = bounds.slots;
        policy.activation_stopped = self.stopped;
        policy
    }

    fn view(&self, bounds: &Bounds) -> View {
        let quota = self.policy(bounds).quota;
        let mut view =
            self.store.view(&ViewQuery { now: self.now(), quota, complete: true }).unwrap();
        view.lapse(self.now());
        view
    }

    /// One write in the kernel's order; a refused one changes nothing.
    fn write(
        &mut self,
        bounds: &Bounds,
        effect: &EffectId,
        body: &str,
        run: impl FnOnce(&Scene<'_>) -> loopx_core::Result<Effect>,
    ) -> Came {
        let (now, policy) = (self.now(), self.policy(bounds));
        let mut tx = self.store.begin("step").unwrap();
        if let Some(done) = tx.commit_of(effect).unwrap() {
            if done.body_digest != body {
                return Came::Refused;
            }
            return Came::Landed { answer: done.receipt, replayed: true };
        }
        let record = |n, effect_id, receipt, body_digest: &str| CommitRecord {
            n,
            effect_id,
            verb: "step".into(),
            agent: None,
            at: now,
            fixed_clock: false,
            body_digest: body_digest.to_owned(),
            receipt,
        };
        if tx.open_turns().unwrap().iter().any(|t| is_lapsed_turn(t, now)) {
            let view = tx.view(&ViewQuery { now, quota: policy.quota, complete: false }).unwrap();
            tx.apply(&lapse(&view, now)).unwrap();
            let n = tx.last_commit().unwrap() + 1;
            let id = EffectId::derived("lapse", &[&n.to_string()]);
            tx.record(&record(n, id, Value::Null, "")).unwrap();
        }
        let commit = tx.last_commit().unwrap() + 1;
        let scene = Scene { read: &*tx, policy: &policy, now, commit, row: commit };
        let Ok(done) = run(&scene) else { return Came::Refused };
        let answer = Value::Object(done.answer);
        tx.apply(&done.changes).unwrap();
        tx.record(&record(commit, effect.clone(), answer.clone(), body)).unwrap();
        drop(tx.commit().unwrap());
        Came::Landed { answer, replayed: false }
    }

    /// Takes a step: its effect, and what it came to.
    fn take(&mut self, bounds: &Bounds, step: Step) -> Option<(EffectId, Came)> {
        let name = |n: usize| Some(agent(n).to_string());
        let (effect, came) = match step {
            Step::Tick => {
                self.minute += 61;
                return None;
            }
            Step::Stop => {
                self.stopped = true;
                return None;
            }
            Step::Admit { agent: who, turn } => {
                let (id, who) = (turn_id(who, turn), agent(who));
                let effect = EffectId::of_turn(&id, "turn.admit", "");
                let policy = self.policy(bounds);
                let came = self.write(bounds, &effect, "", |scene| {
                    turn::bound(scene, &id, Some(&who))?;
                    let view = scene.view(false)?;
                    let request =
                        AdmissionRequest { agent: Some(who.clone()), ..AdmissionRequest::default() };
                    let subject = Subject::Goal { policy: &policy, view: &view };
                    let decision = decide(&Situation { subject, request: &request, now: scene.now });
                    let run = decision.verdict.run;
                    let said = json!({"run": run, "rule": decision.rule, "todo": decision.verdict.selected});
                    turn::admit(scene, &id, Some(&who), &decision, said, 3, &Terms::default())
                });
                (effect, came)
            }
            Step::Settle { agent: who, turn, outcome } => {
                let id = turn_id(who, turn);
                let effect = EffectId::of_turn(&id, "turn.settle", "");
                let request: TurnSettleRequest = serde_json::from_value(json!({
                    "turn_instance_id": id, "agent_id": name(who), "outcome": outcome,
                    "evidence": ["shown"], "reason": "held up", "no_follow_up": true,
                }))
                .unwrap();
                let body = outcome.to_string();
                (effect.clone(), self.write(bounds, &effect, &body, |s| settle(s, &request)))
            }
            Step::Refresh { agent: who, turn } => {
                let id = turn_id(who, turn);
                let effect = EffectId::of_turn(&id, "refresh_state", "");
                let request = RefreshStateRequest {
                    agent_id: name(who),
                    turn_instance_id: Some(id.to_string()),
                    delivery_outcome: Some(OutcomeKind::Progress),
                    ..RefreshStateRequest::default()
                };
                (effect.clone(), self.write(bounds, &effect, "", |s| refresh_state(s, &request)))
            }
            Step::Spend { agent: who, turn } => {
                let id = turn_id(who, turn);
                let effect = EffectId::of_turn(&id, "quota.spend_slot", "");
                let request = SpendSlotRequest {
                    agent_id: name(who),
                    turn_instance_id: Some(id.to_string()),
                    execute: true,
                    ..SpendSlotRequest::default()
                };
                (effect.clone(), self.write(bounds, &effect, "", |s| spend_slot(s, &request)))
            }
            Step::Release { agent: who, turn } => {
                let id = turn_id(who, turn);
                let effect = EffectId::of_turn(&id, "turn.release", "");
                let request = TurnRequest {
                    turn_instance_id: id.to_string(),
                    agent_id: name(who),
                    ..TurnRequest::default()
                };
                (effect.clone(), self.write(bounds, &effect, "", |s| turn::release(s, &request)))
            }
            Step::Acquire { agent: who, todo: what }
            | Step::GiveBack { agent: who, todo: what } => {
                let take = matches!(step, Step::Acquire { .. });
                let lease = self.store.lease(&todo(what)).unwrap();
                let request = LeaseRequest {
                    todo_id: todo(what).to_string(),
                    owner: name(who),
                    idempotency_key: Some(format!("key-{who}")),
                    expected_version: lease.map(|l| l.version).filter(|_| !take),
                    ..LeaseRequest::default()
                };
                let unique = self.store.last_commit().unwrap().to_string();
                let effect = EffectId::derived("lease", &[&unique]);
                let came = self.write(bounds, &effect, "", |scene| match take {
                    true => lease::acquire(scene, &request, None),
                    false => lease::release(scene, &request),
                });
                (effect, came)
            }
        };
        Some((effect, came))
    }

    /// Steps that are worth trying.
    fn steps(&self, bounds: &Bounds) -> Vec<Step> {
        let mut steps = Vec::new();
        for agent in 0..bounds.agents {
            for turn in 0..bounds.turns {
                let Some(bound) = self.store.turn(&turn_id(agent, turn)).unwrap() else {
                    steps.push(Step::Admit { agent, turn });
                    // Turn ids are taken in order: they are only names.
                    break;
                };
                if bound.state == TurnState::Skipped {
                    continue;
                }
                for outcome in bounds.outcomes {
                    steps.push(Step::Settle { agent, turn, outcome: *outcome });
                }
                if bounds.apart {
                    steps.push(Step::Refresh { agent, turn });
                    steps.push(Step::Spend { agent, turn });
                }
                steps.push(Step::Release { agent, turn });
            }
            for todo in (0..bounds.todos).filter(|_| bounds.leases) {
                steps.push(Step::Acquire { agent, todo });
                steps.push(Step::GiveBack { agent, todo });
            }
        }
        if self.minute < bounds.ticks * 61 {
            steps.push(Step::Tick);
        }
        if !self.stopped {
            steps.push(Step::Stop);
        }
        steps
    }

    fn fingerprint(&self) -> u64 {
        let records = self.store.records().unwrap();
        let mut text = format!("{} {} ", self.minute, self.stopped);
        for t in records.todos.values() {
            let _ = write!(text, "{} {} {:?};", t.todo_id, t.status, t.claimed_by);
        }
        for t in records.turns.values() {
            let at = (t.expires_at, t.epoch, t.took_claim, t.reserved);
            let _ = write!(text, "{} {} {:?} {at:?};", t.turn_id, t.state, t.todo_id);
        }
        for l in records.leases.values() {
            let _ = write!(text, "{l:?};");
        }
        let mut spends: Vec<_> =
            records.spends.iter().map(|s| (&s.turn_id, s.at, s.slots)).collect();
        spends.sort();
        let mut outcomes: Vec<_> =
            records.outcomes.iter().map(|o| (&o.turn_id, o.spent_by.is_some())).collect();
        outcomes.sort();
        let _ = write!(text, "{spends:?} {outcomes:?} {:?}", records.stalls);
        for a in &records.attempts {
            let _ = write!(text, "{:?} {} {} {:?};", a.agent, a.rule, a.cause, a.state);
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        hasher.finish()
    }
}

type Property = (&'static str, fn(&Bounds, &Machine, &Machine) -> bool);

/// What holds after every step: (name, holds(bounds, before, after)).
const PROPERTIES: [Property; 5] = [
    ("a todo has at most one live owner", |bounds, _, after| {
        let view = after.view(bounds);
        (0..bounds.todos).map(todo).all(|id| {
            let turns: Vec<_> =
                view.turns.iter().filter(|t| t.todo_id.as_ref() == Some(&id)).collect();
            let lease = view.leases.iter().find(|l| l.todo_id == id);
            let owner = turns.first().and_then(|t| t.agent.as_ref());
            turns.len() <= 1 && (owner.is_none() || lease.is_none_or(|l| Some(&l.owner) == owner))
        })
    }),
    ("a turn spends at most once, by whatever door", |_, _, after| {
        let records = after.store.records().unwrap();
        let mut spent = HashSet::new();
        records.spends.iter().all(|s| s.slots == 1 && spent.insert(s.turn_id.clone()))
    }),
    ("what is admitted fits the window", |bounds, before, after| {
        let count = |m: &Machine| m.store.open_turns().unwrap().len();
        let window = after.view(bounds).window;
        count(after) <= count(before) || window.spent + window.reserved <= bounds.slots
    }),
    ("what was acknowledged is durable", |_, _, after| {
        after.acknowledged.iter().all(|(effect, answer)| {
            let commits = after.store.commits(0, usize::MAX).unwrap();
            commits.iter().any(|c| c.effect_id.as_str() == effect && c.receipt == *answer)
        })
    }),
    ("a stopped goal starts nothing", |_, before, after| {
        let runs = |m: &Machine| {
            let turns = m.store.records().unwrap().turns;
            turns.values().filter(|t| t.state != TurnState::Skipped).count()
        };
        !before.stopped || runs(after) == runs(before)
    }),
];

#[derive(Debug, Default)]
struct Explored {
    states: usize,
    steps: usize,
    landed: usize,
    refused: usize,
    repeated: usize,
    runs: usize,
    overruns: usize,
    fenced: usize,
    deepest: usize,
}

/// Breadth first, so that the first counterexample is a shortest one.
fn explore(bounds: Bounds) -> Explored {
    let mut seen = HashSet::new();
    let mut explored = Explored::default();
    let first = Machine::new(&bounds);
    seen.insert(first.fingerprint());
    let mut queue = VecDeque::from([(first, Vec::<Step>::new())]);
    while let Some((before, path)) = queue.pop_front() {
        explored.states += 1;
        explored.deepest = explored.deepest.max(path.len());
        if path.len() >= bounds.depth {
            continue;
        }
        for step in before.steps(&bounds) {
            explored.steps += 1;
            let mut after = before.clone();
            let came = after.take(&bounds, step);
            let told = || format!("{path:?} then {step:?}");
            if let Some((effect, came)) = came {
                if matches!(came, Came::Landed { replayed: true, .. }) {
                    assert!(after.store == before.store, "a repeat changed something: {}", told());
                    explored.repeated += 1;
                    continue;
                }
                let Came::Landed { answer, .. } = came else {
                    explored.refused += 1;
                    assert!(after.store == before.store, "a refusal changed something: {}", told());
                    continue;
                };
                explored.landed += 1;
                explored.runs += usize::from(answer["run"] == true);
                explored.overruns += usize::from(answer["overrun"] == true);
                explored.fenced += usize::from(answer["fenced"] == true);
                // The process died after its commit and before its answer; it is repeated
                // after the next expiry and a stop: the same answer, no change. (At once it is
                // a step of the next state.)
                if !matches!(step, Step::Acquire { .. } | Step::GiveBack { .. }) {
                    let mut later = after.clone();
                    (later.minute, later.stopped) = (later.minute + 61, true);
                    explored.repeated += 1;
                    let stored = later.store.clone();
                    match later.take(&bounds, step) {
                        Some((_, Came::Landed { answer: second, replayed: true })) => {
                            assert_eq!(second, answer, "{}", told());
                        }
                        _ => panic!("a repeat did not replay: {}", told()),
                    }
                    assert!(later.store == stored, "a repeat changed something: {}", told());
                }
                after.acknowledged.insert(effect.as_str().to_owned(), answer);
            }
            for (name, holds) in PROPERTIES {
                assert!(holds(&bounds, &before, &after), "not so: {name}: {}", told());
            }
            if seen.insert(after.fingerprint()) {
                let mut path = path.clone();
                path.push(step);
                queue.push_back((after, path));
            }
        }
    }
    explored
}

const ALL: &[SettleOutcome] = &[
    SettleOutcome::Progress,
    SettleOutcome::Completed,
    SettleOutcome::Blocked,
    SettleOutcome::NoChange,
    SettleOutcome::Failed,
];

fn report(name: &str, bounds: Bounds) -> Explored {
    let begun = std::time::Instant::now();
    let explored = explore(bounds);
    println!("{name}: {explored:?} in {:.1} s", begun.elapsed().as_secs_f64());
    explored
}

/// One turn of each agent, to the end of every path.
#[test]
fn three_agents_and_two_todos_to_the_end() {
    let explored = report(
        "to the end",
        Bounds {
            agents: 3,
            todos: 2,
            turns: 1,
            ticks: 1,
            slots: 1,
            depth: usize::MAX,
            leases: false,
            apart: false,
            outcomes: &[SettleOutcome::Progress, SettleOutcome::Completed],
        },
    );
    assert!(explored.states > 300 && explored.runs > 50 && explored.overruns > 0);
}

/// Everything at once, as deep as the time allows.
#[test]
fn three_agents_two_todos_leases_and_separate_spends() {
    let explored = report(
        "everything",
        Bounds {
            agents: 3,
            todos: 2,
            turns: 2,
            ticks: 2,
            slots: 2,
            depth: 4,
            leases: true,
            apart: true,
            outcomes: ALL,
        },
    );
    assert!(explored.states > 1_000 && explored.refused > 0);
}

/// Two turns of two agents on one todo: late and fenced settlements.
#[test]
fn two_agents_and_one_todo_deep() {
    let explored = report(
        "deep",
        Bounds {
            agents: 2,
            todos: 1,
            turns: 2,
            ticks: 2,
            slots: 1,
            depth: 5,
            leases: false,
            apart: true,
            outcomes: &[SettleOutcome::Completed, SettleOutcome::Failed],
        },
    );
    assert!(explored.fenced > 0 && explored.overruns > 0);
}
