//! What would have to change for a run: per blocking fact, the command that changes it.
//! A step is a way, not a promise; what other facts then say is decided anew.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{ends_by_itself, name, words};
use crate::admission::decision::Decision;
use crate::admission::facts::{Candidate, GoalFacts};
use crate::admission::holds::Hold;
use crate::error::Error;
use crate::model::{AttemptState, Instant, TodoId};

/// Most steps.
const CAP: usize = 50;

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The rule or hold that blocks.
    pub blocked_by: &'static str,
    /// The todo, agent, gate or field that it is about.
    pub about: String,
    /// Why it blocks, one sentence.
    pub because: String,
    /// What has to change.
    pub change: String,
    /// When time alone changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Instant>,
    /// The command that changes it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_command: Option<String>,
}

impl Step {
    fn new(
        blocked_by: &'static str,
        about: impl Into<String>,
        because: impl Into<String>,
        change: impl Into<String>,
    ) -> Self {
        Self {
            blocked_by,
            about: about.into(),
            because: because.into(),
            change: change.into(),
            at: None,
            next_command: None,
        }
    }

    fn by(self, command: impl Into<String>) -> Self {
        Self { next_command: Some(command.into()), ..self }
    }
}

/// The way out of a refusal.
pub(super) fn of_refusal(error: &Error) -> Step {
    Step::new("refusal", error.about.as_str(), error.text(), "the request or what it names")
        .by(error.next_command())
}

/// The ways to a run of the agent; none when it may run.
pub(super) fn of_goal(f: &GoalFacts<'_>, decision: &Decision, only: Option<&TodoId>) -> Vec<Step> {
    let mut steps = Vec::new();
    if !decision.verdict.run {
        whole_goal(f, decision, &mut steps);
    }
    // Held todos matter when nothing else can be worked on, and when one was asked about.
    let nothing = f.selected().is_none() && !decision.verdict.run;
    for candidate in &f.candidates {
        let asked = only.is_some_and(|id| candidate.todo.todo_id == *id);
        if asked || (only.is_none() && nothing) {
            holds(f, candidate, &mut steps);
        }
    }
    if nothing && f.candidates.is_empty() && decision.order > 6 && decision.order != 7 {
        let goal = &f.policy.goal_id;
        steps.push(
            Step::new(decision.rule, goal.as_str(), "no agent todo is open", "a todo is added")
                .by(format!("loopx todo add --goal-id {goal} --role agent --text TEXT")),
        );
    }
    let mut seen = BTreeSet::new();
    steps.retain(|s| seen.insert((s.blocked_by, s.about.clone(), s.because.clone())));
    steps.truncate(CAP);
    steps
}

/// What stops the agent whatever the todos are.
fn whole_goal(f: &GoalFacts<'_>, decision: &Decision, steps: &mut Vec<Step>) {
    let goal = &f.policy.goal_id;
    let me = f.agent().map(|a| format!(" --agent-id {a}")).unwrap_or_default();
    if f.policy.is_stopped() {
        let why = if f.policy.activation_stopped {
            "the goal is stopped".to_owned()
        } else {
            format!("the goal's status is {}", f.policy.status)
        };
        steps.push(
            Step::new("goal_stopped", goal.as_str(), why, "the goal is resumed")
                .by(format!("loopx goal resume --goal-id {goal}")),
        );
    }
    if f.policy.quota.compute <= 0.0 {
        steps.push(Step::new(
            "quota_paused",
            "quota.compute",
            "the goal's compute is zero",
            "quota.compute of the goal's registry entry is raised",
        ));
    }
    for problem in &f.health {
        let mut step = Step::new(
            "health",
            problem.about.as_str(),
            format!("{}: {}", problem.code, problem.message),
            "what the finding names is mended",
        );
        step.next_command = problem.next_command.clone();
        steps.push(step);
    }
    if f.agent().is_none()
        && let Some(first) = f.policy.roster.first()
    {
        steps.push(
            Step::new(
                "identity_missing",
                "agent_id",
                "the goal has a roster and nobody was named",
                "the question names its agent",
            )
            .by(format!("loopx quota should-run --goal-id {goal} --agent-id {first}")),
        );
    }
    let blocking: Vec<_> = f.gates_blocking().collect();
    let named: Vec<_> = if blocking.is_empty() && decision.order == 8 {
        f.gates_concerning().collect()
    } else {
        blocking
    };
    for gate in named {
        steps.push(
            Step::new(
                "gate",
                name(&gate.todo_id),
                format!("a person is asked: {}", super::cut(gate.title(), 120)),
                "a person decides the gate",
            )
            .by(format!(
                "loopx gate decide --goal-id {goal} --todo-id {} --outcome OUTCOME",
                gate.todo_id
            )),
        );
    }
    if !f.slot_free() {
        let w = &f.view.window;
        let mut step = Step::new(
            "throttled",
            "window",
            format!(
                "{} of {} slots are spent, {} reserved",
                w.spent, f.policy.quota.allowed_slots, w.reserved
            ),
            match w.next_free_at {
                Some(at) => format!("time passes until {at}"),
                None => "the window allows a slot".to_owned(),
            },
        )
        .by(format!("loopx quota status --goal-id {goal}"));
        step.at = w.next_free_at;
        steps.push(step);
    }
    if decision.order == 23 {
        match f.replan_brake() {
            Some(state) => {
                let turn = f.view.attempts.iter().find(|a| {
                    a.rule == "replan" && a.state == state && a.agent.as_ref() == f.agent()
                });
                let about = turn
                    .and_then(|a| a.turn_id.as_ref())
                    .map_or_else(|| "replan".to_owned(), ToString::to_string);
                let why = if state == AttemptState::Paused {
                    "a replan was paused"
                } else {
                    "a replan ended with an unknown outcome"
                };
                steps.push(
                    Step::new(
                        "replan",
                        about,
                        why,
                        "that turn is settled, or a person adds what comes next",
                    )
                    .by(format!("loopx todo add --goal-id {goal} --role agent --text TEXT")),
                );
            }
            None if f.has_attempted_offer() => steps.push(
                Step::new(
                    decision.verdict.reason_code.unwrap_or("repair_unresolved"),
                    f.agent().map_or("agent", |a| a.as_str()),
                    "what the agent could do by itself was tried once and did not help",
                    "the facts that it was offered on change",
                )
                .by(format!("loopx history --goal-id {goal}{me}")),
            ),
            None => {}
        }
    }
    for action in f.user_actions.iter().filter(|_| decision.order == 19) {
        steps.push(
            Step::new(
                "user_action",
                name(&action.todo_id),
                super::cut(action.title(), 120),
                "a person does it",
            )
            .by(format!("loopx todo complete --goal-id {goal} --todo-id {}", action.todo_id)),
        );
    }
}

/// What brings back a todo that is no longer open.
pub(super) fn of_line(line: &super::TodoLine) -> Vec<Step> {
    let about = line.todo_id.clone().unwrap_or_default();
    line.holds
        .iter()
        .map(|hold| Step {
            next_command: hold.next_command.clone(),
            ..Step::new(hold.reason, about.as_str(), hold.text.as_str(), hold.change.as_str())
        })
        .collect()
}

/// What holds one todo. Of what another agent holds, only that is said.
fn holds(f: &GoalFacts<'_>, candidate: &Candidate<'_>, steps: &mut Vec<Step>) {
    let foreign = candidate
        .holds
        .iter()
        .position(|h| matches!(h, Hold::ClaimedByOther { .. }))
        .map_or(candidate.holds.len(), |at| at + 1);
    for hold in candidate.holds.iter().take(foreign) {
        let line = words::hold_line(f, candidate.todo, hold);
        steps.push(Step {
            blocked_by: hold.word(),
            about: name(&candidate.todo.todo_id).to_owned(),
            because: line.text,
            change: line.change,
            at: line.until.filter(|_| ends_by_itself(hold)),
            next_command: line.next_command,
        });
    }
}
