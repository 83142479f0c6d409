//! One decision: the facts, run down the table of rules.

use super::facts::Facts;
use super::request::Situation;
use super::rules::{RULES, Verdict};

/// The answer to one admission question, before it is put into words.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Name of the rule that decided.
    pub rule: &'static str,
    /// Its number.
    pub order: u8,
    /// What it says.
    pub verdict: Verdict,
}

/// Decides. Pure: the same situation gives the same decision.
pub fn decide(situation: &Situation<'_>) -> Decision {
    decide_facts(&Facts::find(situation.subject, situation.request, situation.now))
}

/// Decides on facts already found.
pub fn decide_facts(facts: &Facts<'_>) -> Decision {
    RULES
        .iter()
        .find_map(|rule| {
            (rule.test)(facts).map(|verdict| Decision {
                rule: rule.name,
                order: rule.order,
                verdict,
            })
        })
        // The last rule matches every goal. A refusal that is no rule's (a turn that is bound
        // to another agent, a busy store) starts nothing and names none.
        .unwrap_or_else(Decision::nothing)
}

impl Decision {
    fn nothing() -> Self {
        Self {
            rule: "",
            order: 0,
            verdict: Verdict {
                decision: "skip",
                effective_action: "agent_scope_exhausted",
                state: "unknown",
                mode: "skip",
                run: false,
                delivery: false,
                notify: false,
                reason_code: None,
                reason: String::new(),
                selected: None,
                pause_cause: None,
                offer: None,
                user_items: Vec::new(),
            },
        }
    }
}
