//! Pruning takes nothing that a decision needs: for every agent, at the instant of the
//! prune, later and as much earlier as days are kept, the decisions stay; what can be
//! spent stays; ids stay taken; and the SQLite store does what the full scan does.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod oracle;

use std::fmt;

use loopx_core::admission::{AdmissionRequest, Decision, Situation, Subject, ViewQuery, decide};
use loopx_core::file::holder::HolderNote;
use loopx_core::model::{
    AgentId, Attempt, AttemptState, CommitRecord, EffectId, Evidence, GoalUid, Instant, Outcome,
    OutcomeKind, Role, Spend, TaskClass, Todo, TodoId, TodoStatus, Turn, TurnId, TurnState, Usage,
};
use loopx_core::store::sqlite::SqliteOptions;
use loopx_core::store::{
    Change, MemoryStore, PruneLimits, Read, SqliteStore, Store, TodoFilter, is_pruned,
};
use oracle::goals::{Case, Genes, agent, genes, noon};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

const DAY: i64 = 24 * 60;
const KEPT_DAYS: i64 = 2;

type Row = [u8; 6];

#[derive(Clone)]
struct History {
    genes: Genes,
    rows: Vec<Row>,
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}\n{:?}", self.genes, self.rows)
    }
}

fn histories() -> impl Strategy<Value = History> {
    (genes(6), vec(any::<[u8; 6]>(), 0..40)).prop_map(|(genes, rows)| History { genes, rows })
}

/// Up to two weeks before noon, by quarters of a day.
fn age(gene: u8) -> Instant {
    noon().plus_minutes(-i64::from(gene % 56) * DAY / 4)
}

fn who(gene: u8, case: &Case) -> Option<AgentId> {
    (gene > 30 && !case.policy.roster.is_empty()).then(|| agent(gene % 4))
}

/// What the rows add to the goal: turns, spends, outcomes, evidence, archived todos.
fn changes(n: u64, row: &Row, case: &Case) -> (Vec<Change>, EffectId) {
    let at = age(row[1]);
    let ids: Vec<&TodoId> = case.records.todos.keys().collect();
    let todo =
        (!ids.is_empty() && row[2] > 40).then(|| ids[usize::from(row[2]) % ids.len()].clone());
    let agent = who(row[3], case);
    let plain = EffectId::trusted(format!("e{n}"));
    match row[0] % 6 {
        0 => {
            let turn_id = TurnId::trusted(format!("t{n}"));
            let state = TurnState::ALL[usize::from(row[4]) % 4].0;
            let live = state == TurnState::Live;
            let mut changes = vec![Change::PutTurn(Turn {
                turn_id: turn_id.clone(),
                agent: agent.clone(),
                todo_id: todo.clone(),
                rule: "run".into(),
                body_digest: "d".into(),
                state,
                at,
                reserved: u64::from(live),
                expires_at: live.then(|| noon().plus_minutes(i64::from(row[5]))),
                epoch: None,
                took_claim: false,
                holder: None,
            })];
            if row[5].is_multiple_of(5) {
                changes.push(Change::PutAttempt(Attempt {
                    agent,
                    rule: "replan".into(),
                    cause: todo.map_or_else(|| "feedback".to_owned(), |t| t.to_string()),
                    digest: "x".into(),
                    state: AttemptState::OutcomeUnknown,
                    at,
                    turn_id: Some(turn_id.clone()),
                }));
            }
            // One in four came with an import and has no commit of its own.
            let effect = match row[5] % 4 {
                0 => plain,
                _ => EffectId::of_turn(&turn_id, "turn.admit", ""),
            };
            (changes, effect)
        }
        1 => (
            vec![Change::PutSpend(Spend {
                id: n,
                at,
                slots: u64::from(row[4] % 3) + 1,
                voided: u64::from(row[5] % 2),
                agent,
                todo_id: todo,
                turn_id: None,
                source: "heartbeat".into(),
            })],
            plain,
        ),
        2 | 3 => (
            vec![Change::PutOutcome(Outcome {
                id: n,
                at,
                agent,
                todo_id: todo,
                turn_id: None,
                kind: OutcomeKind::ALL[usize::from(row[4]) % 6].0,
                classification: "state_refreshed".into(),
                spent_by: (row[5] > 90).then_some(1),
                usage: (row[5].is_multiple_of(7))
                    .then(|| Usage { input_tokens: 5, ..Usage::default() }),
                recommended_action: None,
            })],
            plain,
        ),
        4 => (
            vec![Change::AddEvidence(Evidence {
                id: n,
                at,
                agent,
                todo_id: todo,
                text: "seen".into(),
            })],
            plain,
        ),
        _ => {
            let id = TodoId::trusted(format!("todo_old{n}"));
            let mut old = Todo::new(id, Role::Agent, TaskClass::Advancement, 1, "[P1] long ago");
            old.status = TodoStatus::Done;
            old.archived = row[4] > 60;
            old.no_followup = row[4].is_multiple_of(2);
            old.completed_at = Some(at);
            old.note = Some("a remark".into());
            (vec![Change::PutTodo(Box::new(old))], plain)
        }
    }
}

fn record(n: u64, effect_id: EffectId, at: Instant) -> CommitRecord {
    CommitRecord {
        n,
        effect_id,
        verb: "test".into(),
        agent: None,
        at,
        fixed_clock: false,
        body_digest: "d".into(),
        receipt: json!({"ok": true, "goal_id": "g", "commit": n, "packet": "x".repeat(200)}),
    }
}

fn fill(store: &mut dyn Store, case: &Case, rows: &[Row]) {
    let records = &case.records;
    let mut base: Vec<Change> =
        records.todos.values().cloned().map(|t| Change::PutTodo(Box::new(t))).collect();
    base.extend(records.spends.iter().cloned().map(Change::PutSpend));
    base.extend(records.outcomes.iter().cloned().map(Change::PutOutcome));
    base.extend(records.turns.values().cloned().map(Change::PutTurn));
    base.extend(records.leases.values().cloned().map(Change::PutLease));
    base.extend(records.attempts.iter().cloned().map(Change::PutAttempt));
    base.extend(records.stalls.iter().cloned().map(Change::PutStall));
    base.extend(records.grants.iter().cloned().map(Change::PutGrant));
    base.extend(records.feedback.iter().cloned().map(Change::PutFeedback));
    base.extend(records.seen.values().cloned().map(Change::PutSeen));
    base.extend(records.schedules.iter().cloned().map(Change::PutSchedule));
    base.extend(records.signals.iter().cloned().map(Change::AddSignal));
    base.extend(records.findings.iter().cloned().map(Change::PutFinding));
    let mut steps = vec![(base, EffectId::trusted("base"), age(55))];
    for (n, row) in (1_000..).zip(rows) {
        let (changes, effect) = changes(n, row, case);
        steps.push((changes, effect, age(row[1])));
    }
    for (n, (changes, effect, at)) in (1..).zip(steps) {
        let mut tx = store.begin("test").unwrap();
        tx.apply(&changes).unwrap();
        tx.record(&record(n, effect, at)).unwrap();
        tx.commit().unwrap();
    }
}

fn instants() -> Vec<Instant> {
    [-KEPT_DAYS * DAY, -DAY, -61, 0, 1, 90, DAY, 20 * DAY]
        .into_iter()
        .map(|minutes| noon().plus_minutes(minutes))
        .collect()
}

/// Everything that anybody is answered from: decisions, and what can be spent.
#[derive(Debug, PartialEq)]
struct Answers {
    decisions: Vec<Decision>,
    deliveries: Vec<(Option<Outcome>, Vec<Outcome>)>,
    todos: Vec<TodoId>,
    attempts: Vec<Option<TurnState>>,
}

fn answers(store: &dyn Read, case: &Case) -> Answers {
    let mut askers = case.askers.clone();
    askers.extend(case.policy.roster.iter().cloned().map(Some));
    let mut decisions = Vec::new();
    for now in instants() {
        for complete in [true, false] {
            let view = store.view(&ViewQuery { now, quota: case.policy.quota, complete }).unwrap();
            for asker in &askers {
                let request = AdmissionRequest { agent: asker.clone(), ..case.request.clone() };
                let subject = Subject::Goal { policy: &case.policy, view: &view };
                decisions.push(decide(&Situation { subject, request: &request, now }));
            }
        }
    }
    let all = TodoFilter { archived: true, ..TodoFilter::default() };
    let todos: Vec<TodoId> = store.todos(&all).unwrap().into_iter().map(|t| t.todo_id).collect();
    let mut deliveries = Vec::new();
    for who in [None, Some(agent(0)), Some(agent(1)), Some(agent(2)), Some(agent(3))] {
        for todo in std::iter::once(None).chain(todos.iter().map(Some)) {
            let last = store.last_delivery(who.as_ref(), todo).unwrap();
            let unspent = last.as_ref().map(|o| store.unspent_up_to(o).unwrap());
            deliveries.push((last, unspent.unwrap_or_default()));
        }
    }
    let records = store.records().unwrap();
    let attempts = records
        .attempts
        .iter()
        .filter_map(|a| a.turn_id.as_ref())
        .map(|t| store.turn(t).unwrap().map(|t| t.state))
        .collect();
    Answers { decisions, deliveries, todos, attempts }
}

fn dump(store: &dyn Read) -> Vec<String> {
    let mut rows = Vec::new();
    store
        .dump(&mut |table, row| {
            rows.push(format!("{table} {row}"));
            Ok(())
        })
        .unwrap();
    rows.sort();
    rows
}

fn limits(case: &Case, days: i64) -> PruneLimits {
    let before = noon().plus_minutes(-days * DAY);
    let window = i64::from(case.policy.quota.window_hours) * 60;
    PruneLimits { before, spends_before: before.plus_minutes(-window) }
}

fn same<T: PartialEq + fmt::Debug>(what: &str, is: &T, was: &T) -> Result<(), String> {
    if is == was { Ok(()) } else { Err(format!("{what}\nis  {is:?}\nwas {was:?}")) }
}

#[test]
fn decisions_and_what_can_be_spent_stay_as_they_were() {
    let folder = tempfile::tempdir_in(if std::path::Path::new("/dev/shm").is_dir() {
        "/dev/shm".into()
    } else {
        std::env::temp_dir()
    })
    .unwrap();
    let counter = std::cell::Cell::new(0_u32);
    let gone = std::cell::Cell::new([0_u64; 6]);
    let mut runner =
        TestRunner::new(Config { cases: 250, failure_persistence: None, ..Config::default() });
    let result = runner.run(&histories(), |history| {
        let test = || -> Result<(), String> {
            let case = Case::from(&history.genes);
            let uid = GoalUid::trusted("u1");
            let note =
                HolderNote { operation: "test".into(), agent: None, pid: 1, acquired_at: None };
            let options =
                SqliteOptions { deadline: std::time::Duration::from_secs(10), holder: note };
            counter.set(counter.get() + 1);
            let path = folder.path().join(format!("{}.db", counter.get()));
            let mut sqlite = SqliteStore::create(&path, &uid, options, &mut |_| Ok(())).unwrap();
            let mut memory = MemoryStore::new(uid);
            fill(&mut sqlite, &case, &history.rows);
            fill(&mut memory, &case, &history.rows);
            let limits = limits(&case, KEPT_DAYS);
            let before = answers(&sqlite, &case);
            let usage = sqlite.usage().unwrap();
            let plan = sqlite.prunable(&limits).unwrap();
            same("a plan changes nothing", &answers(&sqlite, &case), &before)?;
            let mut pruned = Vec::new();
            for store in [&mut sqlite as &mut dyn Store, &mut memory] {
                let mut tx = store.begin("prune").unwrap();
                pruned.push(tx.prune(&limits).unwrap());
                drop(tx.commit().unwrap());
            }
            same("the plan is what happens", &pruned[0], &plan)?;
            same("both stores prune alike", &pruned[0], &pruned[1])?;
            sqlite.compact().unwrap();
            same("dump", &dump(&sqlite), &dump(&memory))?;
            same("answers", &answers(&sqlite, &case), &before)?;
            same("answers of the scan", &answers(&memory, &case), &before)?;
            same("usage", &sqlite.usage().unwrap(), &usage)?;
            let (_, problems) =
                sqlite.check(case.policy.quota, noon(), &mut |_| Ok(Vec::new())).unwrap();
            same("a check finds nothing", &problems, &Vec::new())?;
            // Every effect is still known; a turn that came with an import still bound.
            for commit in sqlite.commits(0, 1_000).unwrap() {
                if sqlite.commit_of(&commit.effect_id).unwrap().as_ref() != Some(&commit) {
                    return Err(format!("effect {} is not found", commit.effect_id));
                }
                if commit.at >= limits.before && is_pruned(&commit.receipt) {
                    return Err(format!("the receipt of {} went too early", commit.n));
                }
            }
            let again = sqlite.prunable(&limits).unwrap();
            same("pruning again finds nothing", &again, &Default::default())?;
            let p = &pruned[0];
            let sum = gone.get();
            let now = [p.turns, p.spends, p.outcomes, p.evidence, p.receipts, p.todos];
            gone.set(std::array::from_fn(|i| sum[i] + now[i]));
            drop(sqlite);
            std::fs::remove_file(&path).unwrap();
            Ok(())
        };
        test().map_err(TestCaseError::fail)
    });
    println!("gone (turns, spends, outcomes, evidence, receipts, todos): {:?}", gone.get());
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(gone.get().iter().all(|n| *n > 50), "too little was pruned: {:?}", gone.get());
}
