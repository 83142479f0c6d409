//! The kernel decides as the contract says: on random goals its answer equals that of a
//! second, slow formulation (`oracle`), also after each offer that it makes has been
//! attempted, and offers come to an end.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod oracle;

use std::collections::BTreeMap;
use std::sync::Mutex;

use loopx_core::admission::{AdmissionRequest, Decision, Situation, Subject, ViewQuery, decide};
use loopx_core::model::{Attempt, AttemptState};
use oracle::goals::{Case, genes};
use oracle::{Attempted, Expected};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Agents attempt what they are offered this often at most before the test gives up.
const ROUNDS: usize = 30;

fn kernel(case: &Case, request: &AdmissionRequest) -> Decision {
    let view = case.records.view(&ViewQuery { now: case.now, quota: case.policy.quota, complete: true });
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

/// Asks until nothing is offered, storing an attempt for each offer; returns the rules
/// that decided, or where kernel and contract part.
fn follow(mut case: Case) -> Result<Vec<(u8, bool)>, String> {
    let mut attempted: Vec<Attempted> = Vec::new();
    let mut rules = Vec::new();
    // The first asks until nothing is offered, then the second, then the first again.
    for asker in [0, 1, 0] {
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
    println!("decisions by (rule, run): {:?}", seen.lock().unwrap());
}

#[test]
fn kernel_and_contract_agree_on_small_goals() {
    compare(4000, 3);
}

#[test]
fn kernel_and_contract_agree_on_larger_goals() {
    compare(2000, 12);
}
