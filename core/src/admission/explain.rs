//! Why a decision is what it is: every rule with the facts behind it, every todo with
//! why it is or is not eligible, and what would have to change for a run. Pure, over the
//! facts that the decision itself was made on; it finds no fact and decides nothing.

mod behind;
mod steps;
mod words;

use serde::Serialize;
use serde_json::Value;

pub use self::behind::Fact;
pub use self::steps::Step;
use super::decision::{Decision, decide_facts};
use super::facts::{Candidate, Facts, GoalFacts};
use super::gates::{self, Reach};
use super::holds::Hold;
use super::packet::cut;
use super::rules::RULES;
use crate::model::{GoalId, Instant, Role, TaskClass, Todo, TodoId};
use crate::state_file::is_provisional;

/// Most todos that one explanation lists, in selection order.
const TODO_CAP: usize = 200;
/// Bytes of one text.
const TEXT_CAP: usize = 240;

/// A decision with everything behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// What was decided: the same as `quota should-run` says.
    pub decision: Decided,
    /// Every row of the rule table in order.
    pub rules: Vec<RuleLine>,
    /// Open todos in selection order, then those of people.
    pub todos: Vec<TodoLine>,
    /// How many open todos there are, when more than listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todos_in_all: Option<usize>,
    /// What would have to change for a run; empty when the agent may run.
    pub steps: Vec<Step>,
}

/// The decision in the packet's words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decided {
    /// The rule that decided.
    pub rule: &'static str,
    /// Its number.
    pub rule_order: u8,
    /// Decision.
    pub decision: &'static str,
    /// May the agent run.
    pub should_run: bool,
    /// What is done.
    pub effective_action: &'static str,
    /// State.
    pub state: &'static str,
    /// Why, one sentence.
    pub reason: String,
    /// Why, one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<&'static str>,
    /// The todo to work on; null also for a line that has no id yet.
    pub selected_todo_id: Option<String>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleLine {
    /// Number.
    pub order: u8,
    /// Name.
    pub rule: &'static str,
    /// When it passes, in words.
    pub when: &'static str,
    /// Its test passes on these facts.
    pub passes: bool,
    /// It is the first that passes.
    pub decides: bool,
    /// What it says, when it passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The facts that its test reads.
    pub facts: Vec<Fact>,
}

/// One open todo.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TodoLine {
    /// Identity; null for a line of the state file that no write has taken in.
    pub todo_id: Option<String>,
    /// Its text, cut.
    pub text: String,
    /// Whose list.
    pub role: Role,
    /// Class.
    pub task_class: TaskClass,
    /// It can be worked on now by this agent.
    pub eligible: bool,
    /// It is what a run would work on.
    pub selected: bool,
    /// Why it is eligible or not, one sentence.
    pub why: String,
    /// Everything that holds it, in the order in which it is tested.
    pub holds: Vec<HoldLine>,
}

/// One hold in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HoldLine {
    /// Stable word.
    pub reason: &'static str,
    /// One sentence with the ids and instants behind it.
    pub text: String,
    /// When time alone lifts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Instant>,
    /// What lifts it.
    pub change: String,
    /// The command that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_command: Option<String>,
}

/// Explains. `only` leaves out every other todo.
pub fn explain(facts: &Facts<'_>, only: Option<&TodoId>) -> Explanation {
    let decision = decide_facts(facts);
    let mut decided = false;
    let rules = RULES
        .iter()
        .map(|rule| {
            let verdict = (rule.test)(facts);
            let passes = verdict.is_some();
            let decides = passes && !decided;
            decided |= passes;
            RuleLine {
                order: rule.order,
                rule: rule.name,
                when: rule.when,
                passes,
                decides,
                says: verdict.map(|v| v.reason),
                facts: behind::facts_of(rule, facts),
            }
        })
        .collect();
    let (todos, count, steps) = match facts {
        Facts::Refused(error) => (Vec::new(), 0, vec![steps::of_refusal(error)]),
        Facts::Goal(goal) => {
            let (todos, count) = todo_lines(goal, only);
            (todos, count, steps::of_goal(goal, &decision, only))
        }
    };
    Explanation {
        decision: decided_as(&decision),
        rules,
        todos_in_all: (count > todos.len()).then_some(count),
        todos,
        steps,
    }
}

impl Explanation {
    /// Adds a todo that was asked about and is no longer open.
    pub fn add_closed(&mut self, goal: &GoalId, todo: &Todo) {
        let line = closed_line(goal, todo);
        self.steps.extend(steps::of_line(&line));
        self.todos.push(line);
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}

fn decided_as(decision: &Decision) -> Decided {
    let verdict = &decision.verdict;
    Decided {
        rule: decision.rule,
        rule_order: decision.order,
        decision: verdict.decision,
        should_run: verdict.run,
        effective_action: verdict.effective_action,
        state: verdict.state,
        reason: verdict.reason.clone(),
        reason_code: verdict.reason_code,
        selected_todo_id: verdict.selected.as_ref().and_then(shown_id),
    }
}

fn shown_id(id: &TodoId) -> Option<String> {
    (!is_provisional(id)).then(|| id.to_string())
}

/// How sentences name a todo.
fn name(id: &TodoId) -> &str {
    if is_provisional(id) { "a new line of the state file" } else { id.as_str() }
}

fn todo_lines(facts: &GoalFacts<'_>, only: Option<&TodoId>) -> (Vec<TodoLine>, usize) {
    let wanted = |todo: &Todo| only.is_none_or(|id| todo.todo_id == *id);
    let selected = facts.selected().map(|c| &c.todo.todo_id);
    let work = facts
        .candidates
        .iter()
        .filter(|c| wanted(c.todo))
        .map(|c| candidate_line(facts, c, selected));
    let people = facts
        .view
        .todos
        .iter()
        .filter(|t| t.role == Role::User && t.is_open() && wanted(t))
        .map(|t| person_line(facts, t));
    let mut lines: Vec<TodoLine> = work.chain(people).collect();
    let count = lines.len();
    lines.truncate(TODO_CAP);
    (lines, count)
}

fn candidate_line(
    facts: &GoalFacts<'_>,
    candidate: &Candidate<'_>,
    selected: Option<&TodoId>,
) -> TodoLine {
    let todo = candidate.todo;
    let holds: Vec<HoldLine> =
        candidate.holds.iter().map(|hold| words::hold_line(facts, todo, hold)).collect();
    let is_selected = selected == Some(&todo.todo_id);
    let why = match (holds.as_slice(), selected) {
        ([], _) if is_selected => "eligible, and first in selection order".to_owned(),
        ([], Some(first)) => format!("eligible, after {}", name(first)),
        ([], None) => "eligible".to_owned(),
        ([first], _) => first.text.clone(),
        ([first, rest @ ..], _) => format!("{}; and {} more", first.text, rest.len()),
    };
    TodoLine {
        todo_id: shown_id(&todo.todo_id),
        text: cut(&todo.text, TEXT_CAP),
        role: todo.role,
        task_class: todo.task_class,
        eligible: candidate.is_eligible(),
        selected: is_selected,
        why,
        holds,
    }
}

/// A gate or an action of a person: never work, so it says what it does instead.
fn person_line(facts: &GoalFacts<'_>, todo: &Todo) -> TodoLine {
    let why = if gates::is_open_gate(todo) {
        let blocks = match gates::reach(todo) {
            Reach::Everyone => "a gate that blocks every agent".to_owned(),
            Reach::Nothing => "a gate that names nothing and so blocks every agent".to_owned(),
            Reach::Agent(agent) => format!("a gate that blocks {agent}"),
            Reach::Named => {
                let todo_id = todo.unblocks_todo_id.as_ref().map(|id| id.to_string());
                let scope = todo.decision_scope.as_ref().map(|s| format!("what requires {}", s.0));
                let named: Vec<String> = todo_id.into_iter().chain(scope).collect();
                format!("a gate that blocks {}", named.join(" and "))
            }
        };
        let concerns = gates::concerns(todo, facts.agent());
        format!("{blocks}; {}", if concerns { "it concerns this agent" } else { "another agent's" })
    } else {
        let mine = facts.user_actions.iter().any(|a| a.todo_id == todo.todo_id);
        format!(
            "a person's own task, which blocks nothing{}",
            if mine { "; shown to this agent" } else { "" }
        )
    };
    TodoLine {
        todo_id: shown_id(&todo.todo_id),
        text: cut(&todo.text, TEXT_CAP),
        role: todo.role,
        task_class: todo.task_class,
        eligible: false,
        selected: false,
        why,
        holds: Vec::new(),
    }
}

/// A todo that is no longer open.
fn closed_line(goal: &GoalId, todo: &Todo) -> TodoLine {
    let when = todo.completed_at.map(|at| format!(" since {at}")).unwrap_or_default();
    let (text, change, command) = match &todo.superseded_by {
        Some(other) => (
            format!("replaced by {other}{when}"),
            format!("{other} is worked on instead"),
            format!("loopx explain --goal-id {goal} --todo-id {other}"),
        ),
        None => (
            format!("done{when}"),
            "it is opened again".to_owned(),
            format!("loopx todo update --goal-id {goal} --todo-id {} --status open", todo.todo_id),
        ),
    };
    let gate = todo.task_class == TaskClass::UserGate;
    TodoLine {
        todo_id: shown_id(&todo.todo_id),
        text: cut(&todo.text, TEXT_CAP),
        role: todo.role,
        task_class: todo.task_class,
        eligible: false,
        selected: false,
        why: text.clone(),
        holds: vec![HoldLine {
            reason: "done",
            text,
            until: None,
            change: if gate { "a new gate asks again".to_owned() } else { change },
            // A decided gate stays decided.
            next_command: (!gate).then_some(command),
        }],
    }
}

/// Whether a hold ends by waiting alone.
fn ends_by_itself(hold: &Hold) -> bool {
    matches!(
        hold,
        Hold::NotDue { .. } | Hold::LeasedByOther { .. } | Hold::Stalled { until: Some(_) }
    )
}
