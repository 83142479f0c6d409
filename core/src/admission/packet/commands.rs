//! The commands that come next, for an agent: deciding and resuming are a person's.

use super::super::facts::GoalFacts;
use super::super::rules::Verdict;

/// One command instead of several: to admit a turn, and settle it in one call.
pub(super) fn first_command(facts: &GoalFacts<'_>, verdict: &Verdict) -> Vec<String> {
    let all = next_commands(facts, verdict);
    if all.len() < 2 {
        return all;
    }
    let agent = facts.agent().map(|a| format!(" --agent-id {a}")).unwrap_or_default();
    let goal = &facts.policy.goal_id;
    vec![format!("loopx turn admit --goal-id {goal}{agent} --turn-instance-id TURN")]
}

pub(super) fn next_commands(facts: &GoalFacts<'_>, verdict: &Verdict) -> Vec<String> {
    let goal = &facts.policy.goal_id;
    if !verdict.run {
        return match verdict.mode {
            // Commands for the agent: deciding and resuming are a person's.
            "user_gate" => vec![format!("loopx gate list --goal-id {goal}")],
            _ => Vec::new(),
        };
    }
    let agent = facts.agent().map(|a| format!(" --agent-id {a}")).unwrap_or_default();
    if let Some(turn) = &facts.request.turn_id {
        // A plan, a replan or a repair has no todo that could be completed.
        let completes = verdict.delivery && verdict.selected.is_some();
        let outcome = if completes { "completed" } else { "progress" };
        return vec![format!(
            "loopx turn settle --goal-id {goal}{agent} --turn-instance-id {turn} --outcome {outcome} --evidence TEXT"
        )];
    }
    match verdict.selected.as_ref() {
        Some(id) if verdict.delivery && !id.as_str().starts_with('?') => vec![
            format!("loopx todo complete --goal-id {goal}{agent} --todo-id {id} --evidence TEXT"),
            format!(
                "loopx refresh-state --goal-id {goal}{agent} --todo-id {id} --delivery-outcome outcome_progress"
            ),
            format!("loopx quota spend-slot --goal-id {goal}{agent} --todo-id {id} --execute"),
        ],
        // Any write takes the new line in and gives it an id.
        Some(_) if verdict.delivery => vec![format!("loopx refresh-state --goal-id {goal}{agent}")],
        None if verdict.delivery => {
            vec![format!("loopx todo add --goal-id {goal} --role agent --text TEXT")]
        }
        _ => Vec::new(),
    }
}
