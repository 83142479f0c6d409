//! An explanation says what the decision says: on random goals its decision is that of
//! `decide`, which is its first passing rule; what it calls eligible has no hold; and
//! what may not run has a way out.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod oracle;

use std::collections::BTreeMap;
use std::sync::Mutex;

use loopx_core::admission::facts::Facts;
use loopx_core::admission::{
    AdmissionRequest, Explanation, RULES, Situation, Subject, ViewQuery, decide, explain,
};
use loopx_core::model::{GoalId, GoalPolicy, Instant, TaskClass, Todo, TodoId};
use loopx_core::{Error, ErrorCode};
use oracle::goals::{Case, genes};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn explained(case: &Case, request: &AdmissionRequest) -> Result<Explanation, String> {
    let query = ViewQuery { now: case.now, quota: case.policy.quota, complete: true };
    let view = case.records.view(&query);
    let subject = Subject::Goal { policy: &case.policy, view: &view };
    let decision = decide(&Situation { subject, request, now: case.now });
    let facts = Facts::find(subject, request, case.now);
    let said = explain(&facts, None);
    let check = |so: bool, what: &str| if so { Ok(()) } else { Err(format!("{what}: {said:#?}")) };
    check(
        (said.decision.rule, said.decision.rule_order) == (decision.rule, decision.order)
            && said.decision.should_run == decision.verdict.run
            && said.decision.decision == decision.verdict.decision
            && said.decision.effective_action == decision.verdict.effective_action
            && said.decision.reason == decision.verdict.reason,
        "the decision is another",
    )?;
    check(said.rules.len() == RULES.len(), "a rule is missing")?;
    let first = said.rules.iter().find(|r| r.passes).map(|r| (r.rule, r.order, r.decides));
    check(first == Some((decision.rule, decision.order, true)), "another rule passes first")?;
    check(said.rules.iter().filter(|r| r.decides).count() == 1, "not one rule decides")?;
    check(said.rules.iter().all(|r| !r.facts.is_empty()), "a rule without facts")?;
    check(
        said.todos
            .iter()
            .filter(|t| t.role == loopx_core::model::Role::Agent)
            .all(|t| t.eligible == t.holds.is_empty()),
        "eligible and held",
    )?;
    check(said.todos.iter().filter(|t| t.selected).count() <= 1, "two are selected")?;
    check(decision.verdict.run == said.steps.is_empty(), "a run with steps, or no way out")?;
    let words = said.to_json().to_string();
    check(!words.contains("  "), "a sentence with a gap")?;
    Ok(said)
}

#[test]
fn the_explanation_says_what_the_decision_says() {
    let seen: Mutex<BTreeMap<&str, u32>> = Mutex::new(BTreeMap::new());
    let mut runner = TestRunner::new(Config {
        cases: 6_000,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    });
    let outcome = runner.run(&genes(8), |genes| {
        let case = Case::from(&genes);
        for agent in &case.askers {
            let request = AdmissionRequest { agent: agent.clone(), ..case.request.clone() };
            let said = explained(&case, &request).map_err(TestCaseError::fail)?;
            let mut seen = seen.lock().unwrap();
            for hold in said.todos.iter().flat_map(|t| &t.holds) {
                *seen.entry(hold.reason).or_default() += 1;
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let seen = seen.into_inner().unwrap();
    println!("holds put into words: {seen:?}");
    assert!(seen.len() >= 17, "{seen:?}");
}

#[test]
fn a_refusal_is_explained_by_the_rule_that_refuses() {
    for (code, rule) in [
        (ErrorCode::RequestInvalid, "request_invalid"),
        (ErrorCode::GoalUnknown, "goal_unknown"),
        (ErrorCode::AgentNotRegistered, "identity"),
        (ErrorCode::RegistryInvalidJson, "registry_unreadable"),
    ] {
        let error = Error::new(code, "x");
        let request = AdmissionRequest::default();
        let facts = Facts::find(Subject::Refused(&error), &request, Instant::default());
        let said = explain(&facts, None);
        let first = said.rules.iter().find(|r| r.passes).unwrap();
        assert_eq!((first.rule, said.decision.rule), (rule, rule));
        assert_eq!(said.steps.len(), 1);
    }
}

#[test]
fn only_the_todo_that_was_asked_about_is_listed_with_its_steps() {
    let policy = GoalPolicy::new(GoalId::trusted("g"));
    let mut records = loopx_core::admission::GoalRecords::default();
    for n in 1..=3 {
        let id = TodoId::trusted(format!("todo_00{n}"));
        let mut todo = Todo::new(
            id.clone(),
            loopx_core::model::Role::Agent,
            TaskClass::Advancement,
            n,
            format!("[P{n}] work"),
        );
        if n == 2 {
            todo.required_capabilities = vec!["gpu".into()];
        }
        records.todos.insert(id, todo);
    }
    let now = Instant::default();
    let view = records.view(&ViewQuery { now, quota: policy.quota, complete: true });
    let request = AdmissionRequest::default();
    let facts = Facts::find(Subject::Goal { policy: &policy, view: &view }, &request, now);
    let said = explain(&facts, Some(&TodoId::trusted("todo_002")));
    assert!(said.decision.should_run);
    assert_eq!(said.todos.len(), 1);
    assert_eq!(said.steps.len(), 1);
    assert_eq!(said.steps[0].blocked_by, "capability");
    assert_eq!(
        said.steps[0].next_command.as_deref(),
        Some("loopx quota should-run --goal-id g --available-capability gpu")
    );
}
