//! The smaller verbs: gates, monitors, the rest of todo, feedback, acceptance, voids, and
//! stopping every goal.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Kernel;
use super::goal::Goal;
use super::lifecycle::GoalStopRequest;
use super::snapshot::Snapshot;
use super::write::Call;
use crate::admission::{View, ViewQuery};
use crate::command::archive::{self, TodoArchiveCompletedRequest, TodoArchiveRequest};
use crate::command::feedback::{self, FeedbackRequest};
use crate::command::followups::{self, CaptureFollowupsRequest};
use crate::command::gate::{self, GateDecideRequest, GateOpenRequest, GateWithdrawRequest};
use crate::command::monitor::{self, MonitorPollRequest};
use crate::command::suggest::{self, TodoSuggestRequest};
use crate::command::supersede::{self, TodoSupersedeRequest};
use crate::command::void::{self, VoidSlotRequest};
use crate::command::{TEXT_LIMIT, one_line, turn};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{GoalId, Instant, TurnId};
use crate::operation::Addressed;
use crate::registry::acceptance::{self, Acceptance};
use crate::registry::document::entry_id;

/// `goal.accept_add`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceptAddRequest {
    /// What has to be so.
    pub text: String,
}

/// `goal.accept_meet`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceptMeetRequest {
    /// Which, by its place in `goal.accept_list`, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Which, by its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Kernel {
    /// What waits for a person in one goal, or in every goal of the registry. A goal that
    /// cannot be read is named beside the others.
    pub fn gate_list(&self, at: &Addressed) -> Result<Value> {
        let now = self.now();
        let (mut gates, mut actions, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        let mut look = |goal: &Goal| -> Result<()> {
            let found = gate::waiting(&goal.policy, &self.waiting_view(goal, now)?, now);
            gates.extend(found.gates);
            actions.extend(found.actions);
            Ok(())
        };
        match at.goal_id.as_deref() {
            Some(name) => look(&self.goal(Some(name))?)?,
            None => {
                let registry = self.registry()?;
                for entry in registry.goals() {
                    let name = entry_id(entry).unwrap_or_default();
                    let seen = GoalId::parse(name)
                        .and_then(|id| self.goal_in(registry.clone(), &id))
                        .and_then(|goal| look(&goal));
                    if let Err(error) = seen {
                        unreadable.push(failure(name, &error));
                    }
                }
            }
        }
        let rows = |mut list: Vec<(Option<Instant>, Value)>| -> Vec<Value> {
            // What has no date was there before dates were kept.
            list.sort_by_key(|(since, _)| *since);
            list.into_iter().map(|(_, row)| row).collect()
        };
        Ok(json!({
            "ok": true,
            "goal_id": at.goal_id,
            "gates": rows(gates),
            "actions": rows(actions),
            "unreadable_goals": unreadable,
        }))
    }

    /// A view that is complete where something waits for a person.
    fn waiting_view(&self, goal: &Goal, now: Instant) -> Result<View> {
        let snapshot = Snapshot::take(self, goal, None)?;
        snapshot.require_readable()?;
        let query = |complete| ViewQuery { now, quota: goal.policy.quota, complete };
        let view = snapshot.view(&query(false))?;
        if view.counters.user_open == 0 { Ok(view) } else { snapshot.view(&query(true)) }
    }

    fn complete_view<T>(
        &self,
        at: &Addressed,
        show: impl FnOnce(&Goal, &Snapshot<'_>, &View, Instant) -> Result<T>,
    ) -> Result<T> {
        let now = self.now();
        let goal = self.goal(at.goal_id.as_deref())?;
        let snapshot = Snapshot::take(self, &goal, None)?;
        snapshot.require_readable()?;
        let query = ViewQuery { now, quota: goal.policy.quota, complete: true };
        let view = snapshot.view(&query)?;
        show(&goal, &snapshot, &view, now)
    }

    /// Opens a gate.
    pub fn gate_open(&self, at: &Addressed, request: &GateOpenRequest) -> Result<Value> {
        let call = Call::new("gate.open", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| gate::open(scene, request))
    }

    /// Decides a gate.
    pub fn gate_decide(&self, at: &Addressed, request: &GateDecideRequest) -> Result<Value> {
        let call = Call::new("gate.decide", at, request)?;
        self.write(&call, |scene| gate::decide(scene, request))
    }

    /// Lists the grants that hold.
    pub fn gate_grants(&self, at: &Addressed) -> Result<Value> {
        self.complete_view(at, |goal, _, view, _| Ok(gate::grants(&goal.policy, view)))
    }

    /// Withdraws a grant.
    pub fn gate_withdraw(&self, at: &Addressed, request: &GateWithdrawRequest) -> Result<Value> {
        let call = Call::new("gate.withdraw", at, request)?;
        self.write(&call, |scene| gate::withdraw(scene, request))
    }

    /// Records a look at a monitor, or previews it without `execute`.
    pub fn monitor_poll(&self, at: &Addressed, request: &MonitorPollRequest) -> Result<Value> {
        if !request.execute {
            return self.preview(at, |scene| monitor::poll(scene, request));
        }
        let call = Call::new("quota.monitor_poll", at, request)?
            .by(request.agent_id.as_deref())
            .in_turn(request.turn_instance_id.as_deref())?;
        self.write(&call, |scene| {
            if let Some(text) = request.turn_instance_id.as_deref() {
                // A turn that works on something else may look at a monitor in passing.
                let agent = scene.actor(request.agent_id.as_deref())?;
                turn::require_bound(scene, &TurnId::parse(text)?, agent.as_ref(), None)?;
            }
            monitor::poll(scene, request)
        })
    }

    /// Lists a goal's monitors.
    pub fn monitor_list(&self, at: &Addressed) -> Result<Value> {
        self.complete_view(at, |goal, _, view, now| Ok(monitor::list(&goal.policy, view, now)))
    }

    /// Voids a spend, or previews it without `execute`.
    pub fn void_slot(&self, at: &Addressed, request: &VoidSlotRequest) -> Result<Value> {
        if !request.execute {
            return self.preview(at, |scene| void::void_slot(scene, request));
        }
        let call = Call::new("quota.void_slot", at, request)?;
        self.write(&call, |scene| void::void_slot(scene, request))
    }

    /// Closes a todo in favour of another.
    pub fn todo_supersede(&self, at: &Addressed, request: &TodoSupersedeRequest) -> Result<Value> {
        let call = Call::new("todo.supersede", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| supersede::supersede(scene, request))
    }

    /// Archives a done todo.
    pub fn todo_archive(&self, at: &Addressed, request: &TodoArchiveRequest) -> Result<Value> {
        let call = Call::new("todo.archive", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| archive::archive(scene, request))
    }

    /// Archives all but the last done todos, or previews it without `execute`.
    pub fn todo_archive_completed(
        &self,
        at: &Addressed,
        request: &TodoArchiveCompletedRequest,
    ) -> Result<Value> {
        if !request.execute {
            return self.preview(at, |scene| archive::archive_completed(scene, request));
        }
        let call =
            Call::new("todo.archive_completed", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| archive::archive_completed(scene, request))
    }

    /// Adds follow-ups of a todo.
    pub fn todo_capture_followups(
        &self,
        at: &Addressed,
        request: &CaptureFollowupsRequest,
    ) -> Result<Value> {
        let call =
            Call::new("todo.capture_followups", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| followups::capture(scene, request))
    }

    /// What an agent that plans should look at.
    pub fn todo_suggest(&self, at: &Addressed, request: &TodoSuggestRequest) -> Result<Value> {
        self.complete_view(at, |goal, snapshot, view, _| {
            suggest::suggest(snapshot.read(), &goal.policy, view, request)
        })
    }

    /// Records what a person says about the work.
    pub fn feedback(&self, at: &Addressed, request: &FeedbackRequest) -> Result<Value> {
        // Not `by` the agent: it is asked, and does nothing here.
        let call = Call::new("feedback", at, request)?;
        self.write(&call, |scene| feedback::feedback(scene, request))
    }

    /// Adds an entry to the goal's acceptance list.
    pub fn goal_accept_add(&self, at: &Addressed, request: &AcceptAddRequest) -> Result<Value> {
        let text = one_line("text", &request.text, TEXT_LIMIT)?;
        if text.is_empty() {
            return Err(Error::new(ErrorCode::RequestInvalid, "text")
                .message("say what has to be so: --text"));
        }
        let call = Call::new("goal.accept_add", at, request)?;
        self.write_both(&call, |entry, now| {
            let (entry, changed) = acceptance::add(entry, &text, now)?;
            Ok(accepted(&entry, changed))
        })
    }

    /// Marks an acceptance entry as met.
    pub fn goal_accept_meet(&self, at: &Addressed, request: &AcceptMeetRequest) -> Result<Value> {
        let text = request.text.as_deref().map(|t| one_line("text", t, TEXT_LIMIT)).transpose()?;
        if text.is_none() && request.index.is_none() {
            return Err(Error::new(ErrorCode::RequestInvalid, "acceptance")
                .message("name the entry with --index or --text"));
        }
        let call = Call::new("goal.accept_meet", at, request)?;
        self.write_both(&call, |entry, now| {
            let goal = entry_id(entry).unwrap_or_default().to_owned();
            let met = acceptance::meet(entry, text.as_deref(), request.index, now)?;
            let (entry, changed) = met.ok_or_else(|| {
                let about = text.clone().or(request.index.map(|i| i.to_string()));
                Error::new(ErrorCode::AcceptanceUnknown, about.unwrap_or_default())
                    .next(format!("loopx goal accept list --goal-id {goal}"))
            })?;
            Ok(accepted(&entry, changed))
        })
    }

    /// Lists the goal's acceptance entries.
    pub fn goal_accept_list(&self, at: &Addressed) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let entries = acceptance::entries(goal.entry()?);
        Ok(json!({
            "ok": true,
            "goal_id": goal.policy.goal_id,
            "unmet_count": entries.iter().filter(|a| !a.met).count(),
            "acceptance": entries
                .iter()
                .map(|a| json!({"index": a.index, "text": a.text, "met": a.met}))
                .collect::<Vec<_>>(),
        }))
    }

    /// Stops every goal of the registry, each by a commit of its own. One that cannot be
    /// stopped does not keep the others running; the answer is then a refusal that names
    /// it, beside a row for every goal.
    pub fn goal_stop_all(&self, at: &Addressed, request: &GoalStopRequest) -> Result<Value> {
        if at.goal_id.is_some() {
            return Err(Error::new(ErrorCode::RequestInvalid, "goal_id")
                .message("every goal is stopped; leave out which"));
        }
        let registry = self.registry()?;
        let mut rows = Vec::new();
        let mut failed: Option<(usize, Error)> = None;
        for entry in registry.goals() {
            let name = entry_id(entry).unwrap_or_default();
            let one = Addressed { goal_id: Some(name.to_owned()), effect_id: at.effect_id.clone() };
            match self.goal_stop(&one, request) {
                Ok(mut row) => {
                    if let Some(map) = row.as_object_mut() {
                        map.insert("stopped".into(), json!(true));
                    }
                    rows.push(row);
                }
                Err(error) => {
                    rows.push(failure(name, &error));
                    let count = failed.as_ref().map_or(0, |(n, _)| *n) + 1;
                    let first = failed.map_or(error, |(_, first)| first);
                    failed = Some((count, first));
                }
            }
        }
        let mut answer = match &failed {
            None => json!({"ok": true}),
            Some((count, first)) => {
                let mut refusal = first.to_json();
                if let Some(map) = refusal.as_object_mut() {
                    let all = rows.len();
                    let why = first.text();
                    map.insert(
                        "error".into(),
                        json!(format!("{count} of {all} goals could not be stopped: {why}")),
                    );
                }
                refusal
            }
        };
        if let Some(map) = answer.as_object_mut() {
            let failures = failed.as_ref().map_or(0, |(n, _)| *n);
            map.insert("stopped_count".into(), json!(rows.len() - failures));
            map.insert("failed_count".into(), json!(failures));
            map.insert("goals".into(), json!(rows));
        }
        Ok(answer)
    }
}

fn failure(goal: &str, error: &Error) -> Value {
    let mut row = error.to_json();
    if let Some(map) = row.as_object_mut() {
        map.insert("goal_id".into(), json!(goal));
    }
    row
}

fn accepted(entry: &Acceptance, changed: bool) -> Map<String, Value> {
    Map::from_iter([
        ("index".to_owned(), json!(entry.index)),
        ("text".to_owned(), json!(entry.text)),
        ("met".to_owned(), json!(entry.met)),
        ("changed".to_owned(), json!(changed)),
    ])
}
