//! `quota void-slot`: takes a spend back that should not have been made. The spend stays
//! on record; what of it counted no longer does.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::quota::quota_figures;
use super::{Effect, Scene, one_line};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{Instant, Spend};
use crate::quota::window_start;
use crate::store::Change;

/// Most characters of the reason.
const REASON_LIMIT: usize = 600;

/// `quota.void_slot`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VoidSlotRequest {
    /// Which spend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spend_id: Option<u64>,
    /// Which spend, by its instant (form of the earlier tool).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void_generated_at: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_summary: Option<String>,
    /// Act; without it the answer is a preview.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub execute: bool,
}

/// Voids what is live of a spend. Repeating it changes nothing.
pub fn void_slot(scene: &Scene<'_>, request: &VoidSlotRequest) -> Result<Effect> {
    let reason = one_line(
        "reason_summary",
        request.reason_summary.as_deref().unwrap_or_default(),
        REASON_LIMIT,
    )?;
    if reason.is_empty() {
        return Err(Error::new(ErrorCode::RequestInvalid, "reason_summary")
            .message("say why the spend is void: --reason-summary"));
    }
    let spend = find(scene, request)?;
    let amount = spend.live();
    let window = scene.view(false)?.window;
    let counted = spend.at >= window_start(&scene.policy.quota, scene.now);
    let after = window.spent.saturating_sub(if counted { amount } else { 0 });
    let changes = match amount {
        0 => Vec::new(),
        _ => vec![Change::PutSpend(Spend { voided: spend.slots, ..spend.clone() })],
    };
    Ok(Effect::new(
        changes,
        json!({
            "dry_run": !request.execute,
            "voided": true,
            "changed": amount > 0,
            "idempotent_replay": amount == 0,
            "spend_id": spend.id,
            "spent_at": spend.at,
            "slots": amount,
            "agent_id": spend.agent,
            "todo_id": spend.todo_id,
            "reason_summary": reason,
            "before": quota_figures(scene.policy, window.spent, window.reserved),
            "after": quota_figures(scene.policy, after, window.reserved),
        }),
    ))
}

fn find(scene: &Scene<'_>, request: &VoidSlotRequest) -> Result<Spend> {
    let goal = &scene.policy.goal_id;
    let unknown = |about: String, why: String| {
        Error::new(ErrorCode::SpendUnknown, about)
            .message(why)
            .next(format!("loopx goal show --goal-id {goal}"))
    };
    match (request.spend_id, &request.void_generated_at) {
        (Some(id), None) => scene
            .read
            .spend(id)?
            .ok_or_else(|| unknown(id.to_string(), format!("goal {goal} has no spend {id}"))),
        (None, Some(text)) => {
            let at: Instant = text.parse()?;
            let mut found = scene.read.last_spends(usize::MAX)?;
            found.retain(|s| s.at == at);
            match (found.pop(), found.as_slice()) {
                (Some(only), []) => Ok(only),
                (None, _) => {
                    Err(unknown(at.to_string(), format!("goal {goal} spent nothing at {at}")))
                }
                (Some(last), others) => {
                    let ids: Vec<String> =
                        others.iter().chain([&last]).map(|s| s.id.to_string()).collect();
                    Err(Error::new(ErrorCode::RequestInvalid, "void_generated_at").message(
                        format!(
                            "several spends were made at {at}: name one with --spend-id {}",
                            ids.join(" or ")
                        ),
                    ))
                }
            }
        }
        _ => Err(Error::new(ErrorCode::RequestInvalid, "spend_id").message(
            "name one spend: either by --spend-id or by the instant in --void-generated-at",
        )),
    }
}
