//! Turns: admit, renew, release, show. Settling is `settle`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Effect, Scene};
use crate::admission::decision::Decision;
use crate::error::{Error, ErrorCode, Result};
use crate::file::sha256_hex;
use crate::model::{
    AgentId, AgentSeen, AttemptState, Declared, HandoffMode, HolderEvidence, Instant, Lease,
    TodoId, Turn, TurnId, TurnState,
};
use crate::store::{Change, Read};
use crate::turn::lapse::{free, unknown};
use crate::turn::{DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS};

/// `quota.should_run` and `turn.admit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShouldRunRequest {
    /// Who asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Capabilities that the door declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_capabilities: Vec<String>,
    /// The door works in a worktree of its own.
    pub independent_worktree: bool,
    /// Who wakes the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<crate::schedule::ExecutionContext>,
    /// App hosts: the RRULE that the host's automation has now.
    #[serde(skip_serializing_if = "Option::is_none", alias = "codex_app_current_rrule")]
    pub app_automation_current_rrule: Option<String>,
    /// Sections to add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include_detail: Vec<crate::admission::Detail>,
    /// The turn; makes it an admission. `turn.admit` without one names it itself, and gives
    /// the same again while that turn lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<String>,
    /// Seconds that the reservation lives, 3,600 when absent, at most 86,400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// A process that outlives this call and whose death frees the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder_pid: Option<u32>,
}

/// `turn.renew`, `turn.release` and `turn.show`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnRequest {
    /// Which.
    pub turn_instance_id: String,
    /// Who acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Renew: seconds from now, 3,600 when absent, at most 86,400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// Release: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What an admission takes beside the decision.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Until when.
    pub ttl_seconds: Option<u64>,
    /// Who holds it.
    pub holder: Option<HolderEvidence>,
    /// What the door declares.
    pub declared: Declared,
}

/// Checks a time to live and gives the instant at which it ends.
pub fn until(now: Instant, ttl_seconds: Option<u64>) -> Result<Instant> {
    let seconds = ttl_seconds.unwrap_or(DEFAULT_TTL_SECONDS);
    if seconds == 0 || seconds > MAX_TTL_SECONDS {
        return Err(Error::new(ErrorCode::TtlInvalid, "ttl_seconds")
            .message(format!("a time to live is 1 to {MAX_TTL_SECONDS} seconds, not {seconds}")));
    }
    Ok(now.plus_micros(i64::try_from(seconds).unwrap_or(0) * crate::model::time::MICROS_PER_SECOND))
}

/// Digest of what a turn id stands for: the agent. The rest of the request (declared
/// capabilities, details) may differ between a call and its repeat.
pub fn body_digest(agent: Option<&AgentId>) -> String {
    sha256_hex(format!("turn.admit|{}", agent.map_or("", AgentId::as_str)).as_bytes())
}

/// The turn's binding when it exists: replayed for the same agent, refused for another.
pub fn bound(scene: &Scene<'_>, turn: &TurnId, agent: Option<&AgentId>) -> Result<Option<Turn>> {
    match scene.read.turn(turn)? {
        None => Ok(None),
        Some(found) if found.agent.as_ref() == agent => Ok(Some(found)),
        Some(found) => {
            let who = found.agent.as_ref().map_or("nobody", |a| a.as_str());
            Err(conflict(turn, &format!("agent {who}")))
        }
    }
}

fn conflict(turn: &TurnId, what: &str) -> Error {
    Error::new(ErrorCode::TurnConflict, turn.as_str())
        .message(format!("turn {turn} is bound to {what}"))
}

/// A turn that must have been admitted for this agent and, where both name one, todo.
pub fn require_bound(
    scene: &Scene<'_>,
    turn: &TurnId,
    agent: Option<&AgentId>,
    todo: Option<&TodoId>,
) -> Result<Turn> {
    let found = bound(scene, turn, agent)?.ok_or_else(|| {
        let who = agent.map(|a| format!(" --agent-id {a}")).unwrap_or_default();
        let goal = &scene.policy.goal_id;
        Error::new(ErrorCode::TurnUnknown, turn.as_str())
            .message(format!("turn {turn} was never admitted"))
            .next(format!("loopx turn admit --goal-id {goal}{who} --turn-instance-id {turn}"))
    })?;
    match (todo, &found.todo_id) {
        (Some(todo), Some(bound)) if todo != bound => Err(conflict(turn, bound.as_str())),
        _ => Ok(found),
    }
}

/// Binds a turn to a decision just made: a run to its todo, with the slot, the claim and
/// the lease that it takes; a skip as a no-spend receipt. An offer becomes the one
/// attempt at it.
pub fn admit(
    scene: &Scene<'_>,
    turn: &TurnId,
    agent: Option<&AgentId>,
    decision: &Decision,
    packet: Value,
    hint_minutes: u32,
    terms: &Terms,
) -> Result<Effect> {
    let verdict = &decision.verdict;
    let expires_at = until(scene.now, terms.ttl_seconds)?;
    let mut changes = Vec::new();
    let mut binding = Turn {
        turn_id: turn.clone(),
        agent: agent.cloned(),
        todo_id: verdict.selected.clone().filter(|_| verdict.run),
        rule: decision.rule.to_owned(),
        body_digest: body_digest(agent),
        state: if verdict.run { TurnState::Live } else { TurnState::Skipped },
        at: scene.now,
        reserved: u64::from(verdict.run),
        expires_at: verdict.run.then_some(expires_at),
        epoch: None,
        took_claim: false,
        holder: terms.holder.clone().filter(|_| verdict.run),
    };
    if let (Some(agent), Some(id)) = (agent, binding.todo_id.clone()) {
        if let Some(mut todo) = scene.read.todo(&id)?
            && todo.claimed_by.as_ref().is_none_or(|c| !scene.policy.roster.contains(c))
        {
            todo.claimed_by = Some(agent.clone());
            todo.updated_at = Some(scene.now);
            binding.took_claim = true;
            changes.push(Change::PutTodo(Box::new(todo)));
        }
        if scene.read.handoff()? != Some(HandoffMode::SoftClaim) {
            let lease = next_lease(scene.read, &id, agent, expires_at)?;
            let lease =
                Lease { turn_id: Some(turn.clone()), holder: binding.holder.clone(), ..lease };
            binding.epoch = Some(lease.epoch);
            changes.push(Change::PutLease(lease));
        }
    }
    changes.push(Change::PutTurn(binding));
    if let Some(offer) = &verdict.offer {
        let attempt = offer.record(agent, AttemptState::Attempted, scene.now, Some(turn.clone()));
        changes.push(Change::PutAttempt(attempt));
    }
    if let Some(agent) = agent {
        let declared = Some(terms.declared.clone());
        let seen = AgentSeen { declared, ..seen_now(scene, agent, hint_minutes)? };
        changes.push(Change::PutSeen(seen));
    }
    Ok(Effect::new(changes, packet))
}

/// The agent was seen now.
pub fn seen(scene: &Scene<'_>, agent: &AgentId, hint_minutes: u32) -> Result<Change> {
    Ok(Change::PutSeen(seen_now(scene, agent, hint_minutes)?))
}

/// The same as a record.
pub fn seen_now(scene: &Scene<'_>, agent: &AgentId, hint_minutes: u32) -> Result<AgentSeen> {
    let before = scene.read.seen(agent)?;
    Ok(AgentSeen {
        agent: agent.clone(),
        at: scene.now,
        hint_minutes,
        polls: before.as_ref().map_or(0, |s| s.polls),
        declared: before.and_then(|s| s.declared),
    })
}

/// The next lease of a todo: its epoch grows for ever.
pub fn next_lease(
    read: &dyn Read,
    todo: &TodoId,
    owner: &AgentId,
    expires_at: Instant,
) -> Result<Lease> {
    let before = read.lease(todo)?;
    let (epoch, version) = before.map_or((0, 0), |l| (l.epoch, l.version));
    Ok(Lease {
        todo_id: todo.clone(),
        owner: owner.clone(),
        epoch: epoch + 1,
        expires_at,
        turn_id: None,
        released: false,
        version: version + 1,
        idempotency_key: None,
        ttl_seconds: 0,
        write_scopes: Vec::new(),
        holder: None,
    })
}

/// The turn of a request, with its agent.
pub fn of_request(scene: &Scene<'_>, request: &TurnRequest) -> Result<Turn> {
    let turn = TurnId::parse(&request.turn_instance_id)?;
    let agent = scene.actor(request.agent_id.as_deref())?;
    require_bound(scene, &turn, agent.as_ref(), None)
}

fn require_live(turn: &Turn) -> Result<()> {
    if turn.state == TurnState::Live {
        return Ok(());
    }
    Err(Error::new(ErrorCode::TurnNotLive, turn.turn_id.as_str())
        .message(format!("turn {} is {}", turn.turn_id, turn.state))
        .next("admit a new turn"))
}

/// Extends a live turn's reservation and lease; never shortens them.
pub fn renew(scene: &Scene<'_>, request: &TurnRequest) -> Result<Effect> {
    let turn = of_request(scene, request)?;
    require_live(&turn)?;
    let asked = until(scene.now, request.ttl_seconds)?;
    let expires_at = turn.expires_at.map_or(asked, |now| now.max(asked));
    let mut changes = Vec::new();
    if let Some(todo) = &turn.todo_id
        && let Some(lease) = scene.read.lease(todo)?
        && Some(lease.epoch) == turn.epoch
        && !lease.released
    {
        changes.push(Change::PutLease(Lease { expires_at, version: lease.version + 1, ..lease }));
    }
    changes.push(Change::PutTurn(Turn { expires_at: Some(expires_at), ..turn.clone() }));
    if let Some(agent) = &turn.agent {
        changes.push(seen(scene, agent, 0)?);
    }
    Ok(Effect::new(
        changes,
        json!({"renewed": true, "turn_instance_id": turn.turn_id, "todo_id": turn.todo_id, "expires_at": expires_at}),
    ))
}

/// Ends a live turn without a settlement: slot, lease and the claim that it took are
/// free; a replan's outcome is unknown. Releasing again changes nothing.
pub fn release(scene: &Scene<'_>, request: &TurnRequest) -> Result<Effect> {
    let turn = of_request(scene, request)?;
    let answer = |changed: bool, state: TurnState| json!({"released": true, "changed": changed, "turn_instance_id": turn.turn_id, "todo_id": turn.todo_id, "state": state});
    if turn.state == TurnState::Released {
        return Ok(Effect::new(Vec::new(), answer(false, turn.state)));
    }
    require_live(&turn)?;
    let query =
        crate::admission::ViewQuery { now: scene.now, quota: scene.policy.quota, complete: false };
    let view = scene.read.view(&query)?;
    let mut changes = free(&view, &turn);
    changes.extend(unknown(&view, &turn));
    changes.push(Change::PutTurn(Turn { state: TurnState::Released, reserved: 0, ..turn.clone() }));
    Ok(Effect::new(changes, answer(true, TurnState::Released)))
}

/// A turn as it stands.
pub fn show(scene: &Scene<'_>, request: &TurnRequest) -> Result<Value> {
    let id = TurnId::parse(&request.turn_instance_id)?;
    let turn = scene.read.turn(&id)?.ok_or_else(|| {
        Error::new(ErrorCode::TurnUnknown, id.as_str())
            .message(format!("turn {id} was never admitted"))
    })?;
    let lease = turn.todo_id.as_ref().map(|t| scene.read.lease(t)).transpose()?.flatten();
    let lapsed = crate::admission::view::is_lapsed_turn(&turn, scene.now);
    Ok(
        json!({"ok": true, "goal_id": scene.policy.goal_id, "turn": turn, "lapsed": lapsed, "lease": lease}),
    )
}
