//! A decision does not depend on how much of a goal it is shown, nor on which store
//! keeps it: complete and representative views decide alike, and the SQLite store's
//! views equal the full scan after any sequence of commits.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod oracle;

use std::fmt;

use loopx_core::admission::{
    AdmissionRequest, Decision, Situation, Subject, View, ViewQuery, decide,
};
use loopx_core::file::holder::HolderNote;
use loopx_core::model::{
    AgentSeen, Attempt, AttemptState, CommitRecord, EffectId, Evidence, Finding, GoalUid, Grant,
    GrantLife, Instant, Outcome, OutcomeKind, QuotaPolicy, SchedulerState, Signal, Spend, TodoId,
};
use loopx_core::store::sqlite::SqliteOptions;
use loopx_core::store::{Change, MemoryStore, Read, SqliteStore, Store, TodoFilter};
use oracle::goals::{Case, Genes, agent, genes, noon, piece};
use oracle::known;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn run<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value) -> Result<(), String>) {
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    });
    if let Err(error) = runner.run(strategy, |v| test(v).map_err(TestCaseError::fail)) {
        panic!("{error}");
    }
}

/// Goals in which many todos have one shape: some are copies of others with another
/// priority, position and id.
fn crowds() -> impl Strategy<Value = Genes> {
    let copies = vec((any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>()), 0..12);
    (genes(6), copies).prop_map(|(mut genes, copies)| {
        for (from, id, head, order) in copies {
            if genes.todos.is_empty() {
                break;
            }
            let mut copy = genes.todos[usize::from(from) % genes.todos.len()].clone();
            (copy[0], copy[2], copy[3]) = (id, head, order);
            // Most copies hang free: no stall, lease or turn names them.
            if from < 200 {
                (copy[31], copy[34], copy[36]) = (0, 0, 0);
            }
            genes.todos.push(copy);
        }
        genes
    })
}

fn decision(case: &Case, view: &View, request: &AdmissionRequest) -> Decision {
    let subject = Subject::Goal { policy: &case.policy, view };
    decide(&Situation { subject, request, now: case.now })
}

/// Follows a case through its offers; the two views decide alike at every step.
fn same_decisions(case: Case, attempts: bool) -> Result<(), String> {
    follow(case, attempts, known::ATTEMPTED_TODOS_ARE_SHOWN)
}

fn follow(mut case: Case, attempts: bool, repairs: bool) -> Result<(), String> {
    let mut askers = case.askers.clone();
    askers.extend(case.policy.roster.iter().cloned().map(Some));
    for asker in askers {
        let request = AdmissionRequest { agent: asker.clone(), ..case.request.clone() };
        for _ in 0..40 {
            let query = |complete| ViewQuery { now: case.now, quota: case.policy.quota, complete };
            let whole = decision(&case, &case.records.view(&query(true)), &request);
            let part = decision(&case, &case.records.view(&query(false)), &request);
            if whole != part {
                return Err(format!(
                    "{asker:?} asks\ncomplete       {whole:?}\nrepresentative {part:?}\nattempts {:?}\n",
                    case.records.attempts
                ));
            }
            let Some(offer) = whole.verdict.offer.filter(|_| attempts) else {
                break;
            };
            if !repairs && offer.rule == "repair" {
                break;
            }
            case.records.attempts.push(Attempt {
                agent: asker.clone(),
                rule: offer.rule.into(),
                cause: offer.cause,
                digest: offer.digest,
                state: AttemptState::Attempted,
                at: case.now,
                turn_id: None,
            });
        }
    }
    Ok(())
}

#[test]
fn complete_and_representative_views_decide_alike() {
    let smaller = std::cell::Cell::new(0_u32);
    run(4000, &crowds(), |genes| {
        let case = Case::from(&genes);
        let query = |complete| ViewQuery { now: case.now, quota: case.policy.quota, complete };
        let (whole, part) = (case.records.view(&query(true)), case.records.view(&query(false)));
        smaller.set(smaller.get() + u32::from(part.todos.len() < whole.todos.len()));
        same_decisions(case, false)
    });
    println!("representative views that leave something out: {}", smaller.get());
    assert!(smaller.get() > 800, "only {} views left something out", smaller.get());
}

#[test]
fn complete_and_representative_views_decide_alike_along_offers() {
    run(4000, &crowds(), |genes| same_decisions(Case::from(&genes), true));
}

/// View invariant: representative and complete views decide alike.
#[test]
fn the_next_todo_of_a_shape_is_offered_after_the_first_was_attempted() {
    let mut plain = vec![0_u8; 40];
    let mut goal = vec![0_u8; 64];
    // Two agents, todos that write, no worktree.
    (goal[16], goal[5], plain[8]) = (120, 255, 150);
    let genes = Genes { goal, todos: vec![plain.clone(), plain] };
    let case = Case::from(&genes);
    assert!(
        case.policy.roster.len() == 2
            && case.records.todos.values().all(|t| t.action_kind.is_some())
    );
    follow(case, true, true).unwrap();
}

// ---- stores ----

/// Commits, each a list of changes, from bytes.
#[derive(Clone)]
struct History {
    goal: Vec<u8>,
    commits: Vec<Vec<Vec<u8>>>,
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, commit) in self.changes().iter().enumerate() {
            writeln!(f, "commit {}", n + 1)?;
            for change in commit {
                writeln!(f, "  {}", serde_json::to_string(change).unwrap())?;
            }
        }
        Ok(())
    }
}

fn histories() -> impl Strategy<Value = History> {
    (vec(any::<u8>(), 64), vec(vec(vec(any::<u8>(), 44), 1..14), 1..5))
        .prop_map(|(goal, commits)| History { goal, commits })
}

fn ids() -> Vec<TodoId> {
    (0..8).map(|n| TodoId::trusted(format!("todo_{:03}", n * 37 % 50))).collect()
}

/// The running numbers of spends, grants and outcomes: new ones grow, old ones are
/// replaced.
#[derive(Default)]
struct Numbers {
    last: u64,
    used: [Vec<u64>; 3],
}

impl Numbers {
    fn next(&mut self, table: usize, gene: u8) -> u64 {
        let used = &mut self.used[table];
        if gene > 150 && !used.is_empty() {
            return used[usize::from(gene) % used.len()];
        }
        self.last += 1;
        used.push(self.last);
        self.last
    }
}

impl History {
    fn changes(&self) -> Vec<Vec<Change>> {
        let mut numbers = Numbers::default();
        self.commits
            .iter()
            .map(|ops| ops.iter().flat_map(|op| self.change(op, &mut numbers)).collect())
            .collect()
    }

    fn change(&self, op: &[u8], numbers: &mut Numbers) -> Vec<Change> {
        let all = ids();
        let n = usize::from(op[41]) % all.len();
        let mut one = piece(&self.goal, &op[..40], n, &all);
        let who = (op[42] > 60).then(|| agent(op[42] % 4));
        let at = noon().plus_minutes(-i64::from(op[42]));
        match op[40] {
            // A todo, new or changed, with what hangs on it.
            0..=150 => {
                let mut changes: Vec<Change> =
                    one.todos.into_values().map(|t| Change::PutTodo(Box::new(t))).collect();
                changes.extend(one.stalls.drain(..).map(Change::PutStall));
                changes.extend(one.leases.into_values().map(Change::PutLease));
                changes.extend(one.turns.into_values().map(Change::PutTurn));
                changes
            }
            151..=165 => vec![Change::FollowDangling],
            166..=185 => vec![Change::PutSpend(Spend {
                id: numbers.next(0, op[43]),
                at,
                slots: u64::from(op[0] % 3) + 1,
                voided: u64::from(op[1] % 4).saturating_sub(2),
                agent: who,
                todo_id: None,
                turn_id: None,
                source: String::new(),
            })],
            186..=200 => vec![Change::PutAttempt(Attempt {
                agent: who,
                rule: ["repair", "replan"][usize::from(op[0] % 2)].into(),
                cause: all[n].to_string(),
                digest: format!("d{}", op[1]),
                state: AttemptState::ALL[usize::from(op[2]) % 4].0,
                at,
                turn_id: None,
            })],
            201..=212 => vec![Change::PutGrant(Grant {
                id: numbers.next(1, op[43]),
                scope: "direction:goal:prod".into(),
                agent: who,
                life: [
                    GrantLife::Standing,
                    GrantLife::Once,
                    GrantLife::Until(noon().plus_minutes(5)),
                ][usize::from(op[0]) % 3],
                gate: None,
                used: op[1] > 200,
                at,
            })],
            213..=222 => vec![Change::PutSeen(AgentSeen {
                agent: agent(op[0] % 3),
                at,
                hint_minutes: u32::from(op[1]),
                polls: 0,
                declared: None,
            })],
            223..=226 => vec![Change::PutSchedule(SchedulerState {
                agent: agent(op[0] % 3),
                surface: ["codex_app", "trae_app"][usize::from(op[1]) % 2].into(),
                state_key: "key".into(),
                reset_token: "t".into(),
                identity_signature: "i".into(),
                progression_index: u32::from(op[2] % 4),
                progression_minutes: vec![3, 6, 10],
                last_applied_rrule: "FREQ=MINUTELY;INTERVAL=3".into(),
                updated_at: at,
                source: "quota_scheduler_ack".into(),
                host_update_failures: Vec::new(),
            })],
            227..=230 => vec![Change::AddSignal(Signal {
                kind: "pr_merged".into(),
                reference: format!("a/b#{}", op[0] % 3),
            })],
            231..=236 => {
                vec![Change::PutFinding(Finding::new(
                    ["x", "y"][usize::from(op[0] % 2)],
                    format!("{}", op[1] % 3),
                    "m",
                ))]
            }
            237..=239 => vec![Change::ClearFindings("x".into())],
            240..=244 => vec![Change::ClearStalls(all[n].clone())],
            245..=250 => vec![Change::PutOutcome(Outcome {
                id: numbers.next(2, op[43]),
                at,
                agent: who,
                todo_id: Some(all[n].clone()),
                turn_id: None,
                kind: OutcomeKind::ALL[usize::from(op[0]) % 6].0,
                classification: "state_refreshed".into(),
                spent_by: (op[1] > 128).then_some(3),
                usage: None,
                recommended_action: None,
            })],
            _ => vec![Change::AddEvidence(Evidence {
                id: u64::from(op[43] % 8),
                at,
                agent: who,
                todo_id: Some(all[n].clone()),
                text: "seen".into(),
            })],
        }
    }
}

fn same<T: PartialEq + fmt::Debug>(what: &str, sqlite: T, scan: T) -> Result<(), String> {
    if sqlite == scan { Ok(()) } else { Err(format!("{what}\nsqlite {sqlite:?}\nscan   {scan:?}")) }
}

fn compare(sqlite: &SqliteStore, memory: &MemoryStore) -> Result<(), String> {
    let instants: [Instant; 5] = [
        noon(),
        noon().plus_micros(1),
        noon().plus_minutes(30),
        noon().plus_minutes(-90),
        noon().plus_minutes(600),
    ];
    for now in instants {
        for allowed_slots in [2, 8] {
            let quota =
                QuotaPolicy { compute: 1.0, window_hours: 2, slot_minutes: 1, allowed_slots };
            for complete in [true, false] {
                let query = ViewQuery { now, quota, complete };
                let view = sqlite.view(&query).unwrap();
                same("view", view, memory.view(&query).unwrap())?;
            }
        }
    }
    same("records", sqlite.records().unwrap(), memory.records().unwrap())?;
    same("counters", sqlite.counters().unwrap(), memory.counters().unwrap())?;
    same("order", sqlite.max_order().unwrap(), memory.max_order().unwrap())?;
    same("totals", sqlite.spend_totals().unwrap(), memory.spend_totals().unwrap())?;
    for done in [0, 2, 20] {
        same("shown", sqlite.shown_todos(done).unwrap(), memory.shown_todos(done).unwrap())?;
    }
    let filter = TodoFilter::default();
    same("todos", sqlite.todos(&filter).unwrap(), memory.todos(&filter).unwrap())?;
    for who in [None, Some(agent(0)), Some(agent(1))] {
        let pair = |s: &dyn Read| {
            let last = s.last_delivery(who.as_ref(), None).unwrap();
            let unspent = last.as_ref().map(|o| s.unspent_up_to(o).unwrap());
            let of_todo: Vec<_> =
                ids().iter().map(|id| s.last_delivery(who.as_ref(), Some(id)).unwrap()).collect();
            (last, unspent, of_todo)
        };
        same("deliveries", pair(sqlite), pair(memory))?;
    }
    Ok(())
}

fn dump(store: &dyn Read) -> Vec<(String, serde_json::Value)> {
    let mut rows = Vec::new();
    store
        .dump(&mut |table, row| {
            rows.push((table.to_owned(), row));
            Ok(())
        })
        .unwrap();
    rows
}

/// The rows of a table are a set; the order in which stores list equal ones is theirs.
fn sorted(mut rows: Vec<(String, serde_json::Value)>) -> Vec<String> {
    let mut rows: Vec<String> =
        rows.drain(..).map(|(table, row)| format!("{table} {row}")).collect();
    rows.sort();
    rows
}

/// Answers what the transaction sees between its two parts and after them.
fn commit(store: &mut dyn Store, n: u64, changes: &[Change]) -> [View; 2] {
    let quota = QuotaPolicy { compute: 1.0, window_hours: 2, slot_minutes: 1, allowed_slots: 2 };
    let query = ViewQuery { now: noon(), quota, complete: false };
    let mut transaction = store.begin("test").unwrap();
    // In two parts, as commands do.
    let (head, tail) = changes.split_at(changes.len() / 2);
    transaction.apply(head).unwrap();
    let between = transaction.view(&query).unwrap();
    transaction.apply(tail).unwrap();
    let after = transaction.view(&query).unwrap();
    let record = CommitRecord {
        n,
        effect_id: EffectId::trusted(format!("e{n}")),
        verb: "test".into(),
        agent: None,
        at: noon(),
        fixed_clock: false,
        body_digest: "d".into(),
        receipt: serde_json::Value::Null,
    };
    transaction.record(&record).unwrap();
    transaction.commit().unwrap();
    [between, after]
}

#[test]
fn the_sqlite_store_answers_as_a_full_scan_does() {
    let folder = tempfile::tempdir().unwrap();
    let counter = std::cell::Cell::new(0_u32);
    run(300, &histories(), |history| {
        let uid = GoalUid::trusted("u1");
        let options = SqliteOptions {
            deadline: std::time::Duration::from_secs(10),
            holder: HolderNote { operation: "test".into(), agent: None, pid: 1, acquired_at: None },
        };
        counter.set(counter.get() + 1);
        let path = folder.path().join(format!("{}.db", counter.get()));
        let mut sqlite =
            SqliteStore::create(&path, &uid, options.clone(), &mut |_| Ok(())).unwrap();
        let mut another = SqliteStore::open(&path, &uid, options).unwrap();
        let mut memory = MemoryStore::new(uid);
        let mut plain = memory.records().unwrap();
        compare(&sqlite, &memory)?;
        for (n, changes) in (1..).zip(history.changes()) {
            // A transaction that is dropped leaves nothing behind.
            if n == 2 {
                let mut dropped = sqlite.begin("test").unwrap();
                dropped.apply(&changes).unwrap();
                let quota = QuotaPolicy { allowed_slots: 2, ..QuotaPolicy::default() };
                let query = ViewQuery { now: noon(), quota, complete: false };
                dropped.view(&query).unwrap();
            }
            compare(&sqlite, &memory)?;
            same("dropped", sqlite.records().unwrap(), memory.records().unwrap())?;
            // By this connection and by another, as processes do.
            let writer = if n % 3 == 0 { &mut another } else { &mut sqlite };
            let seen = commit(writer, n, &changes);
            same("inside", seen, commit(&mut memory, n, &changes))?;
            changes.iter().for_each(|change| plain.apply(change));
            plain.commit = n;
            same("plain records", memory.records().unwrap(), plain.clone())?;
            compare(&sqlite, &memory)?;
        }
        same("dump", sorted(dump(&sqlite)), sorted(dump(&memory)))?;
        compare(&another, &memory)?;
        drop((sqlite, another));
        std::fs::remove_file(&path).unwrap();
        Ok(())
    });
}
