//! Answers as text for a person: one file per kind of answer, and a table that tells the
//! kinds apart. What no row knows is shown field by field, so that nothing is raw JSON.

mod decision;
mod diagnose;
mod explain;
mod fields;
mod gate;
mod goal;
mod history;
mod host;
mod install;
mod loops;
mod manual;
mod monitor;
mod page;
mod quota;
mod receipt;
mod refusal;
mod schedule;
mod start;
mod status;
mod suggest;
#[cfg(test)]
mod tests;
mod time;
mod todo;
mod turn;
mod value;

use serde_json::Value;

use self::page::Page;
pub use self::page::Style;
use self::value::{text, yes};

/// One kind of answer.
struct Kind {
    /// How it is known.
    is: fn(&Value) -> bool,
    /// How it is shown.
    show: fn(&mut Page, &Value),
}

fn mode(value: &Value, word: &str) -> bool {
    text(value, "mode") == word
}

fn schema(value: &Value, prefix: &str) -> bool {
    text(value, "schema_version").starts_with(prefix)
}

fn has(value: &Value, key: &str) -> bool {
    value.get(key).is_some()
}

/// Every kind; the first that knows an answer shows it.
const KINDS: &[Kind] = &[
    Kind { is: |v| mode(v, "diagnose"), show: diagnose::problems },
    Kind { is: |v| mode(v, "doctor"), show: diagnose::doctor },
    Kind { is: |v| has(v, "operation") && has(v, "installed"), show: install::files },
    Kind { is: |v| v.get("ok") == Some(&Value::Bool(false)), show: refusal::refusal },
    Kind { is: |v| has(v, "guided_transaction"), show: start::guide },
    Kind { is: |v| yes(v, "executed") && has(v, "task_body"), show: start::started },
    Kind { is: |v| mode(v, "init") && !yes(v, "created"), show: start::connected },
    Kind { is: |v| has(v, "canonical_agent_types"), show: start::types },
    Kind { is: |v| has(v, "skill_delivery"), show: start::onboarding },
    Kind { is: |v| has(v, "mutation_confirmation_required"), show: start::pack },
    Kind { is: |v| has(v, "codex_cli_goal_prefix"), show: start::pack },
    Kind { is: |v| schema(v, "loopx_thread_agent_binding"), show: start::thread },
    Kind { is: |v| has(v, "canonical_prefix"), show: install::slash_commands },
    Kind { is: |v| mode(v, "explain"), show: explain::explanation },
    Kind { is: |v| has(v, "should_run"), show: decision::decision },
    Kind { is: |v| mode(v, "status_all"), show: status::all },
    Kind { is: |v| mode(v, "status") && has(v, "window"), show: status::one },
    Kind { is: |v| mode(v, "status") && has(v, "goals"), show: quota::windows },
    Kind { is: |v| mode(v, "plan"), show: quota::plan },
    Kind { is: |v| has(v, "changed") && has(v, "mark"), show: goal::changed },
    Kind { is: |v| has(v, "ledger"), show: history::ledger },
    Kind { is: |v| has(v, "commits") && !has(v, "objective"), show: history::commits },
    Kind { is: |v| has(v, "quota") && has(v, "objective"), show: goal::show },
    Kind { is: |v| has(v, "problem_count"), show: diagnose::checked },
    Kind { is: |v| has(v, "goals"), show: goal::list },
    Kind { is: |v| v.get("todos").is_some_and(Value::is_array), show: todo::list },
    Kind { is: |v| has(v, "gates"), show: gate::list },
    Kind { is: |v| has(v, "grants"), show: gate::grants },
    Kind { is: |v| has(v, "monitors"), show: monitor::list },
    Kind { is: |v| has(v, "consecutive_no_change"), show: monitor::polled },
    Kind { is: |v| has(v, "acceptance"), show: goal::acceptance },
    Kind { is: |v| has(v, "prompt") && has(v, "gaps"), show: suggest::suggest },
    Kind { is: |v| yes(v, "settled"), show: turn::settled },
    Kind { is: |v| has(v, "turn") && has(v, "lapsed"), show: turn::show },
    Kind { is: |v| has(v, "loop") && has(v, "action"), show: loops::step },
    Kind { is: |v| has(v, "loops"), show: loops::list },
    Kind { is: |v| has(v, "unbound"), show: loops::unbound },
    Kind { is: |v| has(v, "task_body"), show: host::prompt },
    Kind { is: |v| has(v, "selected_mode"), show: host::plan },
    Kind { is: |v| has(v, "value_connectors"), show: host::connectors },
    Kind { is: |v| has(v, "connector"), show: host::connector },
    Kind { is: |v| has(v, "errors"), show: manual::errors },
    Kind { is: |v| has(v, "operations"), show: manual::operations },
    Kind { is: |v| has(v, "request"), show: manual::schema },
    Kind { is: |v| has(v, "packet"), show: manual::packet },
    Kind { is: |v| has(v, "agents") && !has(v, "commit"), show: goal::agents },
    Kind { is: |v| has(v, "post_ack_contract"), show: schedule::acknowledged },
    Kind { is: |v| has(v, "scheduler_failure_event"), show: schedule::failed },
    Kind { is: |v| has(v, "completed"), show: receipt::completed },
    Kind { is: |v| has(v, "added"), show: receipt::added },
    Kind { is: |v| has(v, "claimed"), show: receipt::claimed },
    Kind { is: |v| has(v, "status_changed"), show: receipt::updated },
    Kind { is: |v| has(v, "slots") && has(v, "before"), show: receipt::spent },
    Kind { is: |v| has(v, "outcome_id"), show: receipt::recorded },
    Kind { is: |v| yes(v, "created"), show: receipt::created },
    Kind { is: |v| has(v, "registered"), show: receipt::registered },
    Kind { is: |v| has(v, "requested_agents"), show: receipt::register_preview },
    Kind { is: |v| has(v, "state") && has(v, "before"), show: receipt::moved },
    Kind { is: |v| has(v, "operation") && has(v, "stopped"), show: receipt::move_preview },
    Kind { is: |v| yes(v, "exported"), show: receipt::exported },
    Kind { is: |v| yes(v, "imported"), show: receipt::imported },
];

/// Renders any answer.
pub fn render(value: &Value, style: Style) -> String {
    let mut page = Page::new(style);
    let show = KINDS
        .iter()
        .find(|kind| (kind.is)(value))
        .map_or(fields::fields as fn(&mut Page, &Value), |k| k.show);
    show(&mut page, value);
    page.finish()
}
