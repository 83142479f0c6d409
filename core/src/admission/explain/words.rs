//! A hold in words: what stands behind it, and what lifts it.

use super::{HoldLine, name};
use crate::admission::facts::GoalFacts;
use crate::admission::holds::Hold;
use crate::admission::view::Target;
use crate::model::{ResumeCondition, TaskClass, Todo};

/// What a hold says: the fact, when time ends it, the change, the command.
struct Said {
    text: String,
    until: Option<crate::model::Instant>,
    change: String,
    command: Option<String>,
}

impl Said {
    fn new(text: impl Into<String>, change: impl Into<String>) -> Self {
        Self { text: text.into(), until: None, change: change.into(), command: None }
    }

    fn by(self, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..self }
    }

    fn until(self, at: Option<crate::model::Instant>) -> Self {
        Self { until: at, ..self }
    }
}

/// One hold on one todo.
pub(super) fn hold_line(facts: &GoalFacts<'_>, todo: &Todo, hold: &Hold) -> HoldLine {
    let said = said(facts, todo, hold);
    // A line that has no id yet cannot be named in a command.
    let command = said.command.filter(|_| !crate::state_file::is_provisional(&todo.todo_id));
    HoldLine {
        reason: hold.word(),
        text: said.text,
        until: said.until,
        change: said.change,
        next_command: command,
    }
}

fn said(facts: &GoalFacts<'_>, todo: &Todo, hold: &Hold) -> Said {
    let goal = &facts.policy.goal_id;
    let id = &todo.todo_id;
    let me = facts.agent().map(|a| format!(" --agent-id {a}")).unwrap_or_default();
    let update = |flags: &str| format!("loopx todo update --goal-id {goal} --todo-id {id}{flags}");
    match hold {
        Hold::ClaimedByOther { agent } => {
            let absent = if facts.is_absent(agent) { ", which is absent" } else { "" };
            Said::new(
                format!("claimed by {agent}{absent}"),
                format!("{agent} gives it back or finishes it"),
            )
            .by(update(&format!(" --agent-id {agent} --clear-claim")))
        }
        Hold::LeasedByOther { agent, own_turn } => leased(facts, todo, agent.as_ref(), *own_turn),
        Hold::Excluded => Said::new(
            format!("it excludes {}", facts.agent().map_or("this agent", |a| a.as_str())),
            "the exclusion is taken off, or another agent takes it",
        )
        .by(update(" --clear-excluded-agents")),
        Hold::WorkMode => Said::new(
            "the agent's work mode is monitor_only and this is no monitor",
            "the registry gives the agent the work mode active",
        ),
        Hold::Malformed => Said::new(
            format!(
                "its metadata cannot be read: {}",
                todo.malformed.as_deref().unwrap_or("no reason is stored")
            ),
            "the metadata line of this todo in the state file is mended",
        ),
        Hold::Blocked if todo.task_class == TaskClass::Blocker => Said::new(
            "it states an obstacle and is no work",
            "it is completed once the obstacle is gone",
        )
        .by(format!("loopx todo complete --goal-id {goal}{me} --todo-id {id} --no-follow-up")),
        Hold::Blocked => {
            let why = todo.reason.as_deref().unwrap_or("no reason is stored");
            let since =
                todo.updated_at.map(|at| format!(", since {at} at the latest")).unwrap_or_default();
            Said::new(format!("blocked: {why}{since}"), "it is opened again")
                .by(update(&format!("{me} --status open")))
        }
        Hold::Stalled { until } => stalled(facts, todo, *until, &update(&format!("{me} --note TEXT"))),
        Hold::Deferred { ready: true } => Said::new(
            match &todo.resume_when {
                Some(condition) => format!("deferred until {condition}, which holds now"),
                None => "deferred, and its condition holds".to_owned(),
            },
            "it is opened again",
        )
        .by(update(&format!("{me} --status open"))),
        Hold::Deferred { ready: false } => match &todo.resume_when {
            Some(condition) => waiting(facts, "deferred", condition, update(&format!("{me} --status open"))),
            None => Said::new("deferred without a condition", "it is opened again")
                .by(update(&format!("{me} --status open"))),
        },
        Hold::ConditionWaiting => match &todo.resume_when {
            Some(condition) => {
                waiting(facts, "it waits", condition, update(&format!("{me} --clear-resume-when")))
            }
            None => Said::new("its condition does not hold", "the condition is taken off")
                .by(update(&format!("{me} --clear-resume-when"))),
        },
        Hold::ConditionUnsatisfiable => {
            let (condition, why) = match &todo.resume_when {
                Some(condition @ ResumeCondition::TodoDone(target)) => {
                    let why = match facts.view.targets.get(target) {
                        Some(Target::Superseded) => "that todo was superseded",
                        Some(Target::Open) => "the conditions lead round in a circle",
                        _ => "no todo of that id is in the goal",
                    };
                    (condition.to_string(), why)
                }
                Some(condition) => (condition.to_string(), "conditions of that kind are not known"),
                None => (String::new(), "it is missing"),
            };
            Said::new(
                format!("its condition {condition} can no longer come true: {why}"),
                "the condition is taken off or changed",
            )
            .by(update(&format!("{me} --clear-resume-when")))
        }
        Hold::Gated { gate } => {
            let question = facts
                .gates
                .iter()
                .find(|g| g.todo_id == *gate)
                .map(|g| format!(" ({})", super::cut(g.title(), 80)))
                .unwrap_or_default();
            Said::new(
                format!("the open gate {} blocks it{question}", name(gate)),
                "a person decides the gate",
            )
            .by(format!(
                "loopx gate decide --goal-id {goal} --todo-id {gate} --outcome OUTCOME"
            ))
        }
        Hold::DecisionScope { scope } => Said::new(
            format!("it requires the decision {scope}, which is not granted"),
            "a gate that asks for the scope is opened and approved",
        )
        .by(format!(
            "loopx todo add --goal-id {goal} --role user --task-class user_gate --decision-scope {scope} --text QUESTION"
        )),
        Hold::Capability { missing, owner } => {
            let flags: String =
                missing.iter().map(|c| format!(" --available-capability {c}")).collect();
            let said = Said::new(
                format!("the agent lacks {}", missing.join(", ")),
                if *owner {
                    "the owner gives it, and the agent's host declares it"
                } else {
                    "the agent's host has it and declares it"
                },
            );
            said.by(format!("loopx quota should-run --goal-id {goal}{me}{flags}"))
        }
        Hold::Workspace => Said::new(
            format!(
                "it writes, the goal has {} agents, and the agent works in the common checkout",
                facts.policy.roster.len()
            ),
            "the agent works in a git worktree of its own",
        )
        .by(format!("loopx quota should-run --goal-id {goal}{me} --independent-worktree")),
        Hold::WriteScope { scope } => Said::new(
            format!(
                "it writes {scope}, and the goal's write scope is {}",
                match facts.policy.write_scope.as_slice() {
                    [] => "empty".to_owned(),
                    have => have.join(", "),
                }
            ),
            format!("coordination.write_scope of the goal's registry entry covers {scope}"),
        ),
        Hold::Expired => Said::new(
            match todo.expires_at {
                Some(at) => format!("the monitor ended {at}"),
                None => "the monitor has ended".to_owned(),
            },
            "its end is moved",
        )
        .by(update(&format!("{me} --expires-at INSTANT"))),
        Hold::NoSchedule => Said::new(
            "the monitor has neither a cadence nor a due instant",
            "it gets a cadence",
        )
        .by(update(&format!("{me} --cadence 30m"))),
        Hold::NotDue { at } => {
            let cadence = todo.cadence.map(|c| format!(", every {c}")).unwrap_or_default();
            Said::new(format!("the monitor is due {at}{cadence}"), format!("time passes until {at}"))
                .until(Some(*at))
        }
    }
}

fn leased(
    facts: &GoalFacts<'_>,
    todo: &Todo,
    agent: Option<&crate::model::AgentId>,
    own_turn: bool,
) -> Said {
    let lease = facts.view.leases.iter().find(|l| l.todo_id == todo.todo_id);
    let turn = facts.view.turns.iter().find(|t| t.todo_id.as_ref() == Some(&todo.todo_id));
    let until = match (own_turn, lease) {
        (false, Some(lease)) => Some(lease.expires_at),
        _ => turn.and_then(|t| t.expires_at),
    };
    let who = agent.map_or("another turn", |a| a.as_str());
    let what = match (own_turn, lease, turn) {
        (true, _, Some(turn)) => format!("this agent's turn {} works on it", turn.turn_id),
        (false, Some(lease), _) => format!("leased by {who}, epoch {}", lease.epoch),
        (_, _, Some(turn)) => format!("{who} works on it in turn {}", turn.turn_id),
        _ => format!("held by {who}"),
    };
    let end = until.map(|at| format!(", until {at}")).unwrap_or_default();
    Said::new(format!("{what}{end}"), "that turn ends").until(until)
}

fn stalled(
    facts: &GoalFacts<'_>,
    todo: &Todo,
    until: Option<crate::model::Instant>,
    command: &str,
) -> Said {
    let stall = facts
        .view
        .stalls
        .iter()
        .find(|s| s.todo_id == todo.todo_id && s.agent.as_ref() == facts.agent());
    let (streak, last) =
        stall.map_or((0, String::new()), |s| (s.streak, format!(", last {}", s.at)));
    let again = match until {
        Some(at) => format!("; offered again {at}"),
        None => "; only a change brings it back".to_owned(),
    };
    Said::new(
        format!("stalled: {streak} turns in a row without result{last}{again}"),
        "the todo, a gate on it or feedback changes it",
    )
    .until(until)
    .by(command)
}

fn waiting(facts: &GoalFacts<'_>, how: &str, condition: &ResumeCondition, release: String) -> Said {
    let goal = &facts.policy.goal_id;
    match condition {
        ResumeCondition::TodoDone(target) => Said::new(
            format!("{how} until {target} is done, which is open"),
            format!("{target} is completed"),
        )
        .by(format!("loopx todo complete --goal-id {goal} --todo-id {target}")),
        ResumeCondition::PrMerged(reference) => Said::new(
            format!("{how} until {reference} is merged, which nobody has reported"),
            "the merge is reported, or the wait is given up",
        )
        .by(release),
        ResumeCondition::CapacityAvailable(capability) => Said::new(
            format!("{how} until the capability {capability} is available"),
            "the agent's host declares it",
        )
        .by(format!(
            "loopx quota should-run --goal-id {goal}{} --available-capability {capability}",
            facts.agent().map(|a| format!(" --agent-id {a}")).unwrap_or_default()
        )),
        ResumeCondition::Unsupported(text) => {
            Said::new(format!("{how} for {text}"), "the wait is given up").by(release)
        }
    }
}
