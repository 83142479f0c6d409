//! The kernel decides as the contract says: on random goals its answer equals that of a
//! second, slow formulation (`oracle`), also after each offer that it makes has been
//! attempted, and offers come to an end.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod oracle;

use std::collections::BTreeMap;
use std::sync::Mutex;

use loopx_core::admission::{
    AdmissionRequest, Decision, GoalRecords, RULES, Situation, Subject, ViewQuery, decide,
};
use loopx_core::model::{
    AgentId, Attempt, AttemptState, Cadence, GoalId, GoalPolicy, Role, ScopeRequirement,
    SelfRepair, TaskClass, Todo, TodoId,
};
use loopx_core::{Error, ErrorCode};
use oracle::goals::{Case, agent, genes, noon};
use oracle::{Attempted, Expected};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Agents attempt what they are offered this often at most before the test gives up.
const ROUNDS: usize = 30;

fn kernel(case: &Case, request: &AdmissionRequest) -> Decision {
    let view =
        case.records.view(&ViewQuery { now: case.now, quota: case.policy.quota, complete: true });
    let subject = Subject::Goal { policy: &case.policy, view: &view };
    decide(&Situation { subject, request, now: case.now })
}

fn said(d: &Decision, offer: Option<(u8, String)>) -> Expected {
    let v = &d.verdict;
    Expected {
        rule: d.rule,
        order: d.order,
        decision: v.decision,
        effective_action: v.effective_action,
        state: v.state,
        mode: v.mode,
        run: v.run,
        delivery: v.delivery,
        notify: v.notify,
        reason_code: v.reason_code.filter(|_| d.order == 23),
        selected: v.selected.clone(),
        offer,
    }
}

/// Asks as every asker in turn until nothing is offered, storing an attempt for each offer; returns the rules
/// that decided, or where kernel and contract part.
fn follow(mut case: Case) -> Result<Vec<(u8, bool)>, String> {
    let mut attempted: Vec<Attempted> = Vec::new();
    let mut rules = Vec::new();
    // The first asks until nothing is offered, then the second, then the first again,
    // then some minutes later: time alone offers nothing twice.
    for (asker, later) in [(0, 0), (1, 0), (0, 0), (0, 7)] {
        case.now = case.now.plus_minutes(later);
        let agent = case.askers[asker].clone();
        let request = AdmissionRequest { agent: agent.clone(), ..case.request.clone() };
        let mut ended = false;
        for _ in 0..ROUNDS {
            let got = kernel(&case, &request);
            let want = oracle::oracle(&case.records, &case.policy, &request, case.now, &attempted);
            rules.push((got.order, got.verdict.run));
            let shown = said(&got, want.offer.clone());
            let offer = got.verdict.offer.clone();
            if shown != want || offer.is_some() != want.offer.is_some() {
                return Err(format!(
                    "{agent:?} asks, {attempted:?}\nkernel   {shown:?}\n         {:?}\ncontract {want:?}\n",
                    got.verdict
                ));
            }
            let (Some(offer), Some((rule, cause))) = (offer, want.offer) else {
                ended = true;
                break;
            };
            case.records.attempts.push(Attempt {
                agent: agent.clone(),
                rule: offer.rule.into(),
                cause: offer.cause,
                digest: offer.digest,
                state: AttemptState::Attempted,
                at: case.now,
                turn_id: None,
            });
            attempted.push(Attempted { agent: agent.clone(), rule, cause });
        }
        if !ended {
            return Err(format!("offers do not end: {attempted:?}"));
        }
    }
    Ok(rules)
}

fn compare(cases: u32, most: usize) {
    let seen: Mutex<BTreeMap<(u8, bool), u32>> = Mutex::new(BTreeMap::new());
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 60_000,
        ..Config::default()
    });
    let outcome = runner.run(&genes(most), |genes| {
        let rules = follow(Case::from(&genes)).map_err(TestCaseError::fail)?;
        let mut seen = seen.lock().unwrap();
        for rule in rules {
            *seen.entry(rule).or_default() += 1;
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let seen = seen.into_inner().unwrap();
    println!("decisions by (rule, run): {seen:?}");
    for rule in RULES.iter().filter(|r| r.order >= 4) {
        let times: u32 =
            seen.iter().filter(|((order, _), _)| *order == rule.order).map(|(_, n)| n).sum();
        assert!(times >= 20, "rule {} {} decided only {times} times", rule.order, rule.name);
    }
}

#[test]
fn kernel_and_contract_agree_on_small_goals() {
    compare(24_000, 3);
}

#[test]
fn kernel_and_contract_agree_on_larger_goals() {
    compare(10_000, 12);
}

/// Rules 1 to 3: what came before a goal was reached. The page says `blocked_health` for
/// both rules 1; a malformed request keeps the reference's `blocked_validation` ("state and
/// mode keep the reference's values").
#[test]
fn refusals_decide_by_their_code() {
    for (code, order, rule, state) in [
        (ErrorCode::QuotaValidationFailed, 1, "request_invalid", "blocked_validation"),
        (ErrorCode::RegistryInvalidJson, 1, "registry_unreadable", "blocked_health"),
        (ErrorCode::RegistryShape, 1, "registry_unreadable", "blocked_health"),
        (ErrorCode::RegistryDenied, 1, "registry_unreadable", "blocked_health"),
        (ErrorCode::RegistryIo, 1, "registry_unreadable", "blocked_health"),
        (ErrorCode::GoalUnknown, 2, "goal_unknown", "unknown"),
        (ErrorCode::GoalDuplicated, 2, "goal_duplicated", "unknown"),
        (ErrorCode::AgentIdInvalid, 3, "identity", "blocked_health"),
        (ErrorCode::RosterMissing, 3, "identity", "blocked_health"),
        (ErrorCode::AgentNotRegistered, 3, "identity", "blocked_health"),
    ] {
        let error = Error::new(code, "x");
        let request = AdmissionRequest::default();
        let got = decide(&Situation {
            subject: Subject::Refused(&error),
            request: &request,
            now: noon(),
        });
        let v = &got.verdict;
        assert_eq!(
            (got.order, got.rule, v.decision, v.state),
            (order, rule, "skip", state),
            "{code:?}"
        );
        assert!(!v.run && !v.delivery && !v.notify && v.selected.is_none(), "{code:?}");
    }
}

// Where the kernel differs from the contract (`oracle::known`): the smallest cases, as
// the contract would have them.

fn plain(n: u8, class: TaskClass, text: &str) -> Todo {
    let role = if class == TaskClass::UserGate { Role::User } else { Role::Agent };
    Todo::new(TodoId::trusted(format!("todo_{n:03}")), role, class, i64::from(n), text)
}

fn two_agents(todos: Vec<Todo>) -> Case {
    let mut policy = GoalPolicy::new(GoalId::trusted("g"));
    policy.roster = vec![agent(0), agent(1)];
    let mut records = GoalRecords::default();
    records.todos.extend(todos.into_iter().map(|t| (t.todo_id.clone(), t)));
    let askers = vec![Some(agent(0)), Some(agent(1))];
    let request = AdmissionRequest { agent: askers[0].clone(), ..AdmissionRequest::default() };
    Case { records, policy, request, now: noon(), askers }
}

fn ask(case: &Case, who: &AgentId) -> Decision {
    kernel(case, &AdmissionRequest { agent: Some(who.clone()), ..case.request.clone() })
}

/// 2.4: "An obligation belongs to the agent whose commit caused it (imported: claimed_by,
/// else the first to admit it)."
#[test]
fn an_obligation_of_nobody_belongs_to_the_first_to_admit_it() {
    let mut case = two_agents(vec![]);
    case.policy.acceptance_gaps = vec!["ships".into()];
    let offer = ask(&case, &agent(0)).verdict.offer.unwrap();
    assert_eq!(offer.rule, "replan");
    case.records.attempts.push(Attempt {
        agent: Some(agent(0)),
        rule: offer.rule.into(),
        cause: offer.cause,
        digest: offer.digest,
        state: AttemptState::Attempted,
        at: case.now,
        turn_id: None,
    });
    assert_ne!(ask(&case, &agent(1)).rule, "replan");
}

/// 2.1: "A due monitor goes before advancement only with strictly higher priority",
/// whoever claims it.
#[test]
fn a_due_monitor_of_higher_priority_goes_first_also_beside_an_own_one() {
    let mut own = plain(1, TaskClass::Monitor, "[P3] own");
    own.claimed_by = Some(agent(0));
    own.cadence = Cadence::parse("30m");
    let mut urgent = plain(2, TaskClass::Monitor, "[P0] unclaimed");
    urgent.cadence = Cadence::parse("30m");
    let work = plain(3, TaskClass::Advancement, "[P1] work");
    let case = two_agents(vec![urgent.clone(), work.clone()]);
    assert_eq!(ask(&case, &agent(0)).verdict.selected, Some(urgent.todo_id.clone()));
    let case = two_agents(vec![own, urgent.clone(), work]);
    assert_eq!(ask(&case, &agent(0)).verdict.selected, Some(urgent.todo_id));
}

/// 2.3 rule 6: "malformed metadata on an open todo".
#[test]
fn malformed_metadata_on_an_open_todo_is_a_health_problem() {
    let mut todo = plain(1, TaskClass::Advancement, "work");
    todo.malformed = Some("claimed_by".into());
    assert_eq!(ask(&two_agents(vec![todo]), &agent(0)).rule, "health");
}

/// 2.3: "delivery is allowed unless it says no delivery"; row 6 says "no / yes".
#[test]
fn a_health_repair_may_deliver() {
    let mut case = two_agents(vec![]);
    case.policy.self_repair = SelfRepair { enabled: true, health_blocker: true };
    case.records.health =
        vec![loopx_core::model::Finding::new("state_file_malformed", "state", "x")];
    let verdict = ask(&case, &agent(0)).verdict;
    assert!(verdict.run && verdict.delivery);
}

/// 2.2: "a `decision_scope` | every todo that requires the scope", also when the gate
/// names a todo beside it.
#[test]
fn a_gate_that_names_a_todo_and_a_scope_blocks_both() {
    let scope = ScopeRequirement("direction:goal:prod".into());
    let first = plain(1, TaskClass::Advancement, "named");
    let mut second = plain(2, TaskClass::Advancement, "requires the scope");
    second.required_decision_scopes = vec![scope.clone()];
    let mut gate = plain(3, TaskClass::UserGate, "may we?");
    gate.unblocks_todo_id = Some(first.todo_id.clone());
    gate.decision_scope = Some(scope);
    gate.blocks_agent = Some(agent(1));
    // Not the first agent's concern, so its work waits; mending the scope would ask for
    // what the gate asks for already.
    assert_eq!(ask(&two_agents(vec![first, second, gate]), &agent(0)).rule, "agent_scope_wait");
}
