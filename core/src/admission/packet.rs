//! The packet: what a decision says to a host (reference quota.md 15, the stable
//! block), small. Texts are cut to fit, never inside a character; a packet over the
//! cap is impossible by construction.

mod answer;
mod commands;
mod reference;
mod size;
mod texts;

use serde::Serialize;

use super::decision::Decision;
use super::facts::GoalFacts;
use super::rules::Verdict;
use crate::boundary::redact_shown;
use crate::file::digest::short_digest;
use crate::model::{AgentId, Finding, Instant, Todo};
use crate::schedule::facts::user_required;
use crate::schedule::{Cadence, HintInput, SchedulerHint};

pub use answer::{Answer, answer};
use commands::{first_command, next_commands};
pub use reference::ReferenceFields;
use reference::{notify_word, reference_fields};
use size::{Commands, Size};
use texts::Texts;

/// Bytes of the default packet: what it is cut to, step by step, before it is sent.
pub const PACKET_BUDGET: usize = 3_072;
/// Bytes of a packet with the whole hint: ladders and reset policy are some six thousand.
pub const DETAIL_BUDGET: usize = 16_384;
/// Agents of the roster that are named.
const ROSTER_CAP: usize = 20;

/// What the person is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserChannel {
    /// Nothing goes on until a person acts.
    pub action_required: bool,
    /// `NOTIFY` or `DONT_NOTIFY`.
    pub notify: &'static str,
    /// Told beside running work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub non_blocking: bool,
    /// The questions, at most three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<UserItem>,
    /// How many there are in all, when more than shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<usize>,
}

/// One thing for a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserItem {
    /// Todo.
    pub todo_id: Option<String>,
    /// Its text.
    pub text: String,
}

/// What the agent does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentChannel {
    /// It must work now.
    pub must_attempt: bool,
    /// It may deliver, not only mend.
    pub delivery_allowed: bool,
    /// Doing nothing, silently, is right.
    pub quiet_noop_allowed: bool,
    /// One sentence.
    pub primary_action: String,
}

/// What the command line may do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CliChannel {
    /// Never: a decision is not work.
    pub spend_allowed_now: bool,
    /// A slot is spent once the work is validated.
    pub spend_after_validation: bool,
    /// Next commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_cli_actions: Vec<String>,
}

/// Who does what next.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InteractionContract {
    /// `loopx_interaction_contract_v0`.
    pub schema_version: &'static str,
    /// Mode.
    pub mode: &'static str,
    /// Person.
    pub user_channel: UserChannel,
    /// Agent.
    pub agent_channel: AgentChannel,
    /// Command line.
    pub cli_channel: CliChannel,
}

/// The window in the packet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotaPacket {
    /// Share of the window.
    pub compute: f64,
    /// Hours.
    pub window_hours: u32,
    /// Minutes of a slot.
    pub slot_minutes: u32,
    /// Slots allowed.
    pub allowed_slots: u64,
    /// Slots spent.
    pub spent_slots: Option<u64>,
    /// Slots reserved.
    pub reserved_slots: Option<u64>,
    /// Same as the packet's.
    pub state: &'static str,
    /// Same as the packet's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The todo to work on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelectedTodo {
    /// `quota_selected_todo_v0`.
    pub schema_version: &'static str,
    /// Identity; null for a line of the state file that no command has taken in yet.
    pub todo_id: Option<String>,
    /// Its text, cut.
    pub text: String,
    /// Class.
    pub task_class: &'static str,
    /// `P0` to `P4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// Kind of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_kind: Option<String>,
    /// Monitors: what is watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_key: Option<String>,
    /// Holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<AgentId>,
    /// `current_agent_claimed_todo`, `unclaimed_todo` or `scoped_user_gate_fallback`.
    pub selected_by: &'static str,
    /// Claim it before working.
    pub claim_required_before_work: bool,
}

/// The answer of `quota should-run`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Packet {
    /// An answer was reached, also when it is "do not run" (exit status 0).
    pub ok: bool,
    /// The records can be trusted.
    pub status_health_ok: bool,
    /// `should-run`.
    pub mode: &'static str,
    /// Goal.
    pub goal_id: String,
    /// Decision.
    pub decision: &'static str,
    /// May the agent run.
    pub should_run: bool,
    /// The rule that decided.
    pub rule: &'static str,
    /// Its place in the table.
    pub rule_order: u8,
    /// What is done.
    pub effective_action: &'static str,
    /// State.
    pub state: &'static str,
    /// Why, one sentence.
    pub reason: String,
    /// Why, one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<&'static str>,
    /// What stopped the goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_cause: Option<&'static str>,
    /// When a slot comes free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_eligible_at: Option<Instant>,
    /// Who does what.
    pub interaction_contract: InteractionContract,
    /// The todo.
    pub selected_todo: Option<SelectedTodo>,
    /// Window.
    pub quota: QuotaPacket,
    /// When to look again.
    pub scheduler_hint: SchedulerHint,
    /// Who asked.
    pub agent_identity: AgentIdentity,
    /// Shown once per key by a loop that tells a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify_key: Option<String>,
    /// What is not as it should be, at most three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Fields that hosts of the earlier tool read beside these.
    #[serde(flatten)]
    pub reference: ReferenceFields,
}

/// The agent as the packet names it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentIdentity {
    /// Canonical id.
    pub agent_id: Option<AgentId>,
    /// In the roster.
    pub registered: bool,
    /// Version of these fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<&'static str>,
    /// How agents stand to each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_model: Option<&'static str>,
    /// The roster, at most twenty of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub registered_agents: Vec<AgentId>,
}

/// Takes secrets and local paths out of `text` and cuts it to at most `cap` bytes at a character boundary, marking the cut.
pub fn cut(text: &str, cap: usize) -> String {
    // A packet goes to agents and logs; what a hand edit brought in was never refused.
    cut_clean(&redact_shown(text), cap)
}

fn cut_clean(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let mut end = cap.saturating_sub('\u{2026}'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\u{2026}", text.get(..end).unwrap_or_default())
}

fn shown_id(todo: &Todo) -> Option<String> {
    let id = todo.todo_id.as_str();
    (!id.starts_with('?')).then(|| id.to_owned())
}

fn packet(
    facts: &GoalFacts<'_>,
    decision: &Decision,
    input: &HintInput<'_>,
    cadence: &Cadence,
    size: Size,
    texts: &Texts,
) -> Packet {
    let verdict = &decision.verdict;
    let selected = verdict
        .selected
        .as_ref()
        .and_then(|id| facts.candidates.iter().find(|c| c.todo.todo_id == *id));
    let hint = input.hint_of(cadence, size.hint);
    let healthy = facts.health.is_empty();
    // What cannot be read is not zero.
    let known = !facts.view.unreadable;
    let notify_key = verdict.notify.then(|| {
        let token = hint.reset_policy.as_ref().map_or("", |r| r.reset_token.as_str());
        short_digest(&(&verdict.user_items, &verdict.reason_code, token))
    });
    let mut findings: Vec<Finding> = facts.health.iter().chain(&facts.findings).cloned().collect();
    findings.truncate(size.items);
    for finding in &mut findings {
        finding.about = texts.cut(&finding.about, size.short.max(40));
        finding.message = texts.cut(&finding.message, size.short);
        finding.next_command = finding
            .next_command
            .as_deref()
            .filter(|_| size.commands != Commands::None)
            .map(|c| texts.cut(c, size.text));
    }
    Packet {
        ok: true,
        status_health_ok: healthy,
        mode: "should-run",
        goal_id: facts.policy.goal_id.to_string(),
        decision: verdict.decision,
        should_run: verdict.run,
        rule: decision.rule,
        rule_order: decision.order,
        effective_action: verdict.effective_action,
        state: verdict.state,
        reason: texts.cut(&verdict.reason, size.text),
        reason_code: verdict.reason_code,
        pause_cause: verdict.pause_cause,
        next_eligible_at: facts.view.window.next_free_at.filter(|_| verdict.state == "throttled"),
        interaction_contract: contract(facts, verdict, &hint, size, texts),
        selected_todo: selected.map(|c| {
            let todo = c.todo;
            let unclaimed = !c.own && !facts.policy.roster.is_empty();
            SelectedTodo {
                schema_version: "quota_selected_todo_v0",
                todo_id: shown_id(todo),
                text: texts.cut(&todo.text, size.text),
                task_class: todo.task_class.as_str(),
                priority: todo.priority().map(|p| format!("P{p}")),
                action_kind: todo.action_kind.as_deref().map(|k| texts.cut(k, size.short)),
                target_key: todo.target_key.as_deref().map(|k| texts.cut(k, size.short)),
                claimed_by: todo.claimed_by.clone(),
                selected_by: match (decision.rule, c.own) {
                    ("gate_fallback", _) => "scoped_user_gate_fallback",
                    (_, true) => "current_agent_claimed_todo",
                    _ => "unclaimed_todo",
                },
                // An admission has taken the claim.
                claim_required_before_work: unclaimed
                    && verdict.run
                    && facts.request.turn_id.is_none(),
            }
        }),
        quota: QuotaPacket {
            compute: facts.policy.quota.compute,
            window_hours: facts.policy.quota.window_hours,
            slot_minutes: facts.policy.quota.slot_minutes,
            allowed_slots: facts.policy.quota.allowed_slots,
            spent_slots: known.then_some(facts.view.window.spent),
            reserved_slots: known.then_some(facts.view.window.reserved),
            state: verdict.state,
            reason: size.stable.then(|| texts.cut(&verdict.reason, size.short)),
        },
        agent_identity: AgentIdentity {
            schema_version: size.stable.then_some("agent_identity_v0"),
            agent_model: size.stable.then_some("peer_v1"),
            registered_agents: if size.stable {
                facts.policy.roster.iter().take(ROSTER_CAP).cloned().collect()
            } else {
                Vec::new()
            },
            agent_id: facts.agent().cloned(),
            registered: facts.agent().is_some_and(|a| facts.policy.roster.contains(a)),
        },
        notify_key,
        findings,
        reference: reference_fields(facts, decision, &hint, size, texts),
        scheduler_hint: hint,
    }
}

fn contract(
    facts: &GoalFacts<'_>,
    verdict: &Verdict,
    hint: &SchedulerHint,
    size: Size,
    texts: &Texts,
) -> InteractionContract {
    let items: Vec<&Todo> = verdict
        .user_items
        .iter()
        .filter_map(|id| facts.view.todos.iter().find(|t| t.todo_id == *id))
        .collect();
    let quiet = !verdict.run && !verdict.notify;
    InteractionContract {
        schema_version: "loopx_interaction_contract_v0",
        mode: verdict.mode,
        user_channel: UserChannel {
            action_required: user_required(verdict),
            notify: notify_word(verdict, hint),
            non_blocking: verdict.notify && verdict.run,
            actions: items
                .iter()
                .take(size.items)
                .map(|t| UserItem { todo_id: shown_id(t), text: texts.cut(&t.text, size.text) })
                .collect(),
            more: (items.len() > size.items).then_some(items.len()),
        },
        agent_channel: AgentChannel {
            must_attempt: verdict.run,
            delivery_allowed: verdict.run && verdict.delivery,
            quiet_noop_allowed: quiet,
            primary_action: primary_action(facts, verdict, size, texts),
        },
        cli_channel: CliChannel {
            spend_allowed_now: false,
            spend_after_validation: verdict.run && verdict.delivery,
            next_cli_actions: match size.commands {
                Commands::All => next_commands(facts, verdict),
                Commands::First => first_command(facts, verdict),
                Commands::None => Vec::new(),
            },
        },
    }
}

fn primary_action(facts: &GoalFacts<'_>, verdict: &Verdict, size: Size, texts: &Texts) -> String {
    let text = match verdict.selected.as_ref() {
        Some(id) => {
            facts.candidates.iter().find(|c| c.todo.todo_id == *id).map(|c| c.todo.text.as_str())
        }
        None => None,
    };
    match (verdict.run, text) {
        (true, Some(text)) if verdict.delivery => texts.cut(text, size.short),
        _ => texts.cut(&verdict.reason, size.short),
    }
}
