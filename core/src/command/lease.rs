//! `task-lease ...` and `handoff-mode ...`: leases that an agent takes by itself, beside
//! those that an admission takes (reference state.md 5.1 and 2.11).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::turn::{next_lease, seen, until};
use super::{Effect, Scene, registered};
use crate::admission::holds::{scope_covers, write_scopes_overlap};
use crate::admission::{View, ViewQuery};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, HandoffMode, HolderEvidence, Lease, Role, Todo, TodoStatus};
use crate::store::Change;

/// Seconds that a lease lives when nobody says otherwise.
pub const DEFAULT_LEASE_SECONDS: u64 = 45 * 60;

/// `task_lease.acquire`, `.renew`, `.transfer`, `.release` and `.inspect`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseRequest {
    /// Which todo.
    pub todo_id: String,
    /// Holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Seconds, 2,700 when absent, at most 86,400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// Path globs that nobody else's lease may overlap.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_scopes: Vec<String>,
    /// The version that the caller read; needed to renew, transfer and release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
    /// Transfer: to whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_owner: Option<String>,
    /// Transfer: the new holder's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_idempotency_key: Option<String>,
    /// A process that outlives this call and whose death frees the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder_pid: Option<u32>,
}

/// `handoff_mode.set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandoffSetRequest {
    /// The new mode.
    pub mode: HandoffMode,
}

/// The request, checked, with what it is about.
struct Case<'s> {
    scene: &'s Scene<'s>,
    request: &'s LeaseRequest,
    todo: Todo,
    owner: AgentId,
    key: String,
    view: View,
    before: Option<Lease>,
}

fn key(field: &'static str, text: Option<&str>) -> Result<String> {
    let text = text.unwrap_or_default();
    let ok = (1..=160).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '@' | '/' | '-'));
    if ok {
        Ok(text.to_owned())
    } else {
        Err(Error::new(ErrorCode::IdInvalid, field)
            .message(format!("{field} is 1 to 160 letters, digits and _ . : @ / -")))
    }
}

fn view(scene: &Scene<'_>) -> Result<View> {
    seen_alive(scene, false)
}

/// What is stored, without what dead holders held.
fn seen_alive(scene: &Scene<'_>, complete: bool) -> Result<View> {
    let query = ViewQuery { now: scene.now, quota: scene.policy.quota, complete };
    let mut view = scene.read.view(&query)?;
    view.bury(crate::file::process::is_dead, &scene.policy.quota);
    Ok(view)
}

impl<'s> Case<'s> {
    fn new(scene: &'s Scene<'s>, request: &'s LeaseRequest) -> Result<Self> {
        let goal = &scene.policy.goal_id;
        if scene.read.handoff()? == Some(HandoffMode::SoftClaim) {
            return Err(Error::new(ErrorCode::LeaseForbidden, request.todo_id.as_str()));
        }
        let owner = registered(scene.policy, request.owner.as_deref().unwrap_or_default())?;
        let todo = scene.todo(&request.todo_id)?;
        if todo.role != Role::Agent {
            return Err(Error::new(ErrorCode::TodoInvalid, todo.todo_id.as_str())
                .message("only agent todos are leased")
                .next(format!("loopx todo list --goal-id {goal} --role agent")));
        }
        Ok(Self {
            key: key("idempotency_key", request.idempotency_key.as_deref())?,
            before: scene.read.lease(&todo.todo_id)?,
            view: view(scene)?,
            scene,
            request,
            todo,
            owner,
        })
    }

    /// The live lease, when it is of this owner and key.
    fn live(&self) -> Option<&Lease> {
        self.view.leases.iter().find(|l| l.todo_id == self.todo.todo_id)
    }

    /// The live lease of this owner and key in the version that the caller has read.
    fn held(&self) -> Result<Lease> {
        let about = self.todo.todo_id.as_str();
        let lease = self.live().ok_or_else(|| Error::new(ErrorCode::LeaseNotActive, about))?;
        if lease.owner != self.owner {
            let error = Error::new(ErrorCode::LeasedByOther, about);
            return Err(error.message(format!("{about} is leased by {}", lease.owner)));
        }
        if lease.idempotency_key.as_deref() != Some(self.key.as_str()) {
            return Err(Error::new(ErrorCode::LeaseNotActive, about)
                .message(format!("the live lease of {about} has another key")));
        }
        self.require_version(Some(lease))?;
        Ok(lease.clone())
    }

    fn require_version(&self, lease: Option<&Lease>) -> Result<()> {
        let version = lease.map_or(0, |l| l.version);
        match self.request.expected_version {
            Some(expected) if expected != version => {
                Err(Error::new(ErrorCode::LeaseVersion, self.todo.todo_id.as_str())
                    .message(format!("the lease has version {version}, not {expected}")))
            }
            None if lease.is_some_and(|l| !l.released) && self.live().is_some() => {
                Err(Error::new(ErrorCode::LeaseVersion, self.todo.todo_id.as_str())
                    .message(format!("say which version was read: --expected-version {version}")))
            }
            _ => Ok(()),
        }
    }

    fn effect(&self, lease: &Lease, said: &[(&str, Value)], changed: bool) -> Result<Effect> {
        let mut answer = json!({"changed": changed, "lease": lease});
        if let Some(map) = answer.as_object_mut() {
            map.extend(said.iter().map(|(k, v)| ((*k).to_owned(), v.clone())));
        }
        let mut changes = Vec::new();
        if changed {
            changes.push(Change::PutLease(lease.clone()));
            changes.push(seen(self.scene, &self.owner, 0)?);
        }
        Ok(Effect::new(changes, answer))
    }
}

/// Takes a lease. The same owner, key, scopes and time again answer the same lease.
pub fn acquire(
    scene: &Scene<'_>,
    request: &LeaseRequest,
    holder: Option<HolderEvidence>,
) -> Result<Effect> {
    let case = Case::new(scene, request)?;
    let about = case.todo.todo_id.as_str();
    let ttl = request.ttl_seconds.unwrap_or(DEFAULT_LEASE_SECONDS);
    let expires_at = until(scene.now, Some(ttl))?;
    if case.todo.status != TodoStatus::Open {
        return Err(Error::new(ErrorCode::TodoNotOpen, about)
            .message(format!("{about} is {}", case.todo.status)));
    }
    super::todo::require_free(scene, &case.todo, Some(&case.owner))?;
    if let Some(live) = case.live() {
        let same = live.idempotency_key.as_deref() == Some(case.key.as_str());
        if same && live.ttl_seconds == ttl && live.write_scopes == request.write_scopes {
            return case.effect(
                live,
                &[("acquired", json!(true)), ("idempotent", json!(true))],
                false,
            );
        }
        if same {
            return Err(Error::new(ErrorCode::LeaseKeyReuse, about));
        }
        if live.turn_id.is_none() {
            case.require_version(Some(live))?;
        }
    }
    for other in case.view.leases.iter().filter(|l| l.owner != case.owner) {
        let clash = request.write_scopes.iter().find(|mine| {
            other.write_scopes.iter().any(|theirs| write_scopes_overlap(mine, theirs))
        });
        if let Some(scope) = clash {
            return Err(Error::new(ErrorCode::WriteScopeConflict, about).message(format!(
                "{scope} overlaps the lease of {} on {}",
                other.owner, other.todo_id
            )));
        }
    }
    let uncovered = request
        .write_scopes
        .iter()
        .find(|s| !scene.policy.write_scope.iter().any(|have| scope_covers(have, s)));
    if let Some(scope) = uncovered.filter(|_| !scene.policy.write_scope.is_empty()) {
        return Err(Error::new(ErrorCode::TodoInvalid, "write_scopes")
            .message(format!("{scope} lies outside the goal's write scope")));
    }
    let lease = Lease {
        idempotency_key: Some(case.key.clone()),
        ttl_seconds: ttl,
        write_scopes: request.write_scopes.clone(),
        holder,
        ..next_lease(scene.read, &case.todo.todo_id, &case.owner, expires_at)?
    };
    let reclaimed = case
        .before
        .as_ref()
        .filter(|b| !b.released && b.owner != case.owner)
        .map(|b| json!(b.owner));
    case.effect(&lease, &[("acquired", json!(true)), ("reclaimed_from", json!(reclaimed))], true)
}

/// Extends a live lease; never shortens it.
pub fn renew(scene: &Scene<'_>, request: &LeaseRequest) -> Result<Effect> {
    let case = Case::new(scene, request)?;
    let lease = case.held()?;
    let ttl = request.ttl_seconds.unwrap_or(DEFAULT_LEASE_SECONDS);
    let expires_at = until(scene.now, Some(ttl))?.max(lease.expires_at);
    let lease = Lease { expires_at, ttl_seconds: ttl, version: lease.version + 1, ..lease };
    case.effect(&lease, &[("renewed", json!(true))], true)
}

/// Hands a live lease to another agent, in a new epoch.
pub fn transfer(scene: &Scene<'_>, request: &LeaseRequest) -> Result<Effect> {
    let case = Case::new(scene, request)?;
    let held = case.held()?;
    let to = registered(scene.policy, request.new_owner.as_deref().unwrap_or_default())?;
    let new_key = key("new_idempotency_key", request.new_idempotency_key.as_deref())?;
    if new_key == case.key {
        return Err(Error::new(ErrorCode::LeaseKeyReuse, case.todo.todo_id.as_str())
            .message("the new holder needs a key of its own"));
    }
    if case.todo.excluded_agents.contains(&to) {
        return Err(Error::new(ErrorCode::AgentExcluded, case.todo.todo_id.as_str())
            .message(format!("{} excludes {to}", case.todo.todo_id)));
    }
    let lease = Lease {
        owner: to.clone(),
        epoch: held.epoch + 1,
        version: held.version + 1,
        idempotency_key: Some(new_key),
        turn_id: None,
        holder: None,
        ..held
    };
    let mut effect = case.effect(&lease, &[("transferred", json!(true))], true)?;
    if case.todo.claimed_by.as_ref() == Some(&case.owner) {
        // The claim goes with the lease, or the new holder could not work.
        let mut todo = case.todo.clone();
        todo.claimed_by = Some(to);
        todo.updated_at = Some(scene.now);
        effect.changes.push(Change::PutTodo(Box::new(todo)));
    }
    Ok(effect)
}

/// Gives a lease back. Giving back what is not held changes nothing.
pub fn release(scene: &Scene<'_>, request: &LeaseRequest) -> Result<Effect> {
    let case = Case::new(scene, request)?;
    match &case.before {
        None => Ok(Effect::new(
            Vec::new(),
            json!({"released": false, "missing": true, "changed": false}),
        )),
        Some(before)
            if before.released
                && before.owner == case.owner
                && before.idempotency_key.as_deref() == Some(case.key.as_str()) =>
        {
            case.effect(before, &[("released", json!(true)), ("idempotent", json!(true))], false)
        }
        Some(_) => {
            let lease = case.held()?;
            let lease = Lease { released: true, version: lease.version + 1, ..lease };
            case.effect(&lease, &[("released", json!(true))], true)
        }
    }
}

/// A todo's lease as it stands.
pub fn inspect(scene: &Scene<'_>, request: &LeaseRequest) -> Result<Value> {
    let todo = scene.todo(&request.todo_id)?;
    let view = view(scene)?;
    let live = view.leases.iter().any(|l| l.todo_id == todo.todo_id);
    Ok(json!({
        "ok": true,
        "goal_id": scene.policy.goal_id,
        "todo_id": todo.todo_id,
        "active": live,
        "lease": scene.read.lease(&todo.todo_id)?,
        "claimed_by": todo.claimed_by,
        "handoff_mode": scene.read.handoff()?.unwrap_or(HandoffMode::Legacy),
    }))
}

/// Sets the handoff mode; nothing may be in anybody's hands.
pub fn set_handoff(scene: &Scene<'_>, request: &HandoffSetRequest) -> Result<Effect> {
    let before = scene.read.handoff()?.unwrap_or(HandoffMode::Legacy);
    let answer =
        |changed: bool| json!({"changed": changed, "before": before, "mode": request.mode});
    if before == request.mode {
        return Ok(Effect::new(Vec::new(), answer(false)));
    }
    let view = seen_alive(scene, true)?;
    let claimed: Vec<&str> = view
        .todos
        .iter()
        .filter(|t| t.claimed_by.as_ref().is_some_and(|c| scene.policy.roster.contains(c)))
        .map(|t| t.todo_id.as_str())
        .collect();
    let leased: Vec<&str> = view.leases.iter().map(|l| l.todo_id.as_str()).collect();
    if let Some(first) = claimed.first().or(leased.first()) {
        return Err(Error::new(ErrorCode::HandoffBusy, *first).message(format!(
            "{} claimed open todos and {} live leases stand in the way, {first} among them",
            claimed.len(),
            leased.len()
        )));
    }
    Ok(Effect::new(vec![Change::SetHandoff(request.mode)], answer(true)))
}

/// Under `hard_lease` changing hands and completing need the agent's live lease.
pub fn require_lease(scene: &Scene<'_>, todo: &Todo, agent: Option<&AgentId>) -> Result<()> {
    if scene.read.handoff()? != Some(HandoffMode::HardLease) {
        return Ok(());
    }
    let view = view(scene)?;
    let holds = view.leases.iter().any(|l| l.todo_id == todo.todo_id && Some(&l.owner) == agent);
    if holds {
        return Ok(());
    }
    let (goal, id) = (&scene.policy.goal_id, &todo.todo_id);
    let who = agent.map_or("<agent>", |a| a.as_str());
    Err(Error::new(ErrorCode::LeaseRequired, id.as_str()).next(format!(
        "loopx task-lease acquire --goal-id {goal} --todo-id {id} --owner {who} --idempotency-key <key>"
    )))
}
