//! Goals and agents: create, stop, resume, list, show, register.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::goal::leads_out;
use super::import::{self, new_uid, random_hex, todos_of};
use super::leftovers::creating;
use super::transfer::usual_state_file;
use super::write::Call;
use super::{Kernel, receipt, to_json};
use crate::command::{TEXT_LIMIT, one_line};
use crate::error::{Error, ErrorCode, Result};
use crate::file::{Durability, replace, sha256_hex, sync_replaced};
use crate::model::{AgentId, CommitRecord, EffectId, GoalId, Instant};
use crate::operation::Addressed;
use crate::registry::{
    GoalSpec, Lookup, Projection, QuotaSpec, Registry, begin_change, create_entry, place, policy,
    register_agents, resume, stop,
};
use crate::state_file::{Document, new_document};
use crate::store::{Change, Read, SqliteStore, Transaction};

/// `goal.create`; the name stands in `goal_id`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalCreateRequest {
    /// What the goal is for, one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// First agents of the roster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// State file, relative to the project; `.loopx/goals/<goal>/ACTIVE_GOAL_STATE.md`
    /// when absent. One that exists is connected, not overwritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_file: Option<String>,
    /// Path globs that agents may write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_scope: Vec<String>,
    /// Share of the window, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute: Option<f64>,
    /// Window in hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_hours: Option<u32>,
    /// Slot in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_minutes: Option<u32>,
    /// Slots in the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_slots: Option<u64>,
}

/// `goal.stop`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalStopRequest {
    /// Why, at most 600 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `agent.register`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentRegisterRequest {
    /// Who; one text may hold several, separated by commas.
    pub agents: Vec<String>,
    /// Refuse agents that are registered already.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub require_new: bool,
}

/// `agent.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentListRequest {}

impl Kernel {
    /// Creates a goal: store, registry entry, state file, global projection.
    ///
    /// The store is complete before the registry names it, and the registry is replaced
    /// atomically, so that a crash leaves the goal there or not there.
    pub fn goal_create(&self, at: &Addressed, request: &GoalCreateRequest) -> Result<Value> {
        let name = at.goal_id.as_deref().ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, "goal_id")
                .message("name the new goal with --goal-id")
        })?;
        let id = GoalId::parse(name)?;
        refuse_look_alikes(&id)?;
        let objective = request
            .objective
            .as_deref()
            .map(|o| one_line("objective", o, TEXT_LIMIT))
            .transpose()?;
        let agents = parse_agents(&request.agents)?;
        let given = at.effect_id.as_deref().map(EffectId::parse).transpose()?;
        let digest =
            sha256_hex(json!(["goal.create", id, to_json(request)?]).to_string().as_bytes());
        let path = self.options.route.registry_to_create_in(&self.route);
        let mut change = begin_change(&path, &self.holder("goal.create"), self.options.deadline)?;
        if !matches!(change.registry().find(&id), Lookup::Unknown) {
            let registry = change.registry().clone();
            let answer = self.created_already(registry, &id, given.as_ref(), &digest)?;
            sync_replaced(&path)?;
            // A crash may have come before the global copy.
            return Ok(self.with_global_copy(answer, change.registry(), &id, self.now()));
        }
        let now = self.now();
        let uid = new_uid()?;
        let state_file = request.state_file.clone().unwrap_or_else(|| usual_state_file(&id));
        if leads_out(&state_file) {
            return Err(Error::new(ErrorCode::RequestInvalid, "state_file")
                .message("the path leads out of the project")
                .next("name a file inside of the project, or one elsewhere by its whole path"));
        }
        let project = place::absolute(place::project_root(&path));
        let spec = GoalSpec {
            goal_id: id.clone(),
            goal_uid: uid.clone(),
            display_name: None,
            domain: None,
            objective: objective.clone(),
            repo: project.display().to_string(),
            state_file,
            agents,
            write_scope: request.write_scope.clone(),
            quota: QuotaSpec {
                compute: request.compute,
                window_hours: request.window_hours,
                slot_minutes: request.slot_minutes,
                allowed_slots: request.allowed_slots,
            },
            now,
        };
        let entry = create_entry(&spec);
        change.registry_mut().add(&id, entry)?;
        change.registry_mut().stamp(now);
        // What would refuse the projection refuses the goal, before anything is written.
        let global = self.options.route.global_registry();
        if let Ok(global) = &global {
            let projection = Projection {
                source: change.registry(),
                goals: Some(std::slice::from_ref(&id)),
                global,
                replace_state: false,
                now,
            };
            projection.preview()?;
            projection.probe()?;
        }
        let goal = self.goal_in(change.registry().clone(), &id)?;
        let effect_id = match given {
            Some(given) => given,
            None => EffectId::unique(&random_hex()?),
        };
        let state_path = goal.state_path();
        let existing = match &state_path {
            Some(path) => {
                crate::file::read_bounded(path, super::snapshot::MAX_STATE_FILE, "state file")?
                    .filter(|b| !b.is_empty() && !is_untouched(b, &id, objective.as_deref()))
            }
            None => None,
        };
        let connected = existing.is_some();
        let bytes = existing
            .unwrap_or_else(|| new_document(&id, objective.as_deref().unwrap_or_default(), now));
        let document = Document::parse(&bytes)?;
        let (todos, findings) = todos_of(id.as_str(), &document);
        let answer = receipt(
            id.as_str(),
            1,
            now,
            Map::from_iter([
                ("created".to_owned(), json!(true)),
                ("goal_uid".to_owned(), json!(uid)),
                ("state_file".to_owned(), json!(goal.policy.state_file)),
                ("state_file_connected".to_owned(), json!(connected)),
                ("agents".to_owned(), json!(goal.policy.roster)),
                ("todos".to_owned(), json!(todos.len())),
                (
                    "next_command".to_owned(),
                    json!(next_after_create(&id, goal.policy.roster.first())),
                ),
            ]),
        );
        let record = CommitRecord {
            n: 1,
            effect_id,
            verb: "goal.create".into(),
            agent: None,
            at: now,
            fixed_clock: self.fixed_clock(),
            body_digest: digest,
            receipt: answer.clone(),
        };
        self.remove_orphans(change.registry(), &goal.runtime_root);
        creating(&goal, &uid, || {
            SqliteStore::create(
                &goal.store_path(&uid),
                &uid,
                self.sqlite(),
                &mut |tx: &mut dyn Transaction| {
                    let puts: Vec<Change> =
                        todos.iter().cloned().map(|t| Change::PutTodo(Box::new(t))).collect();
                    tx.apply(&puts)?;
                    let noted: Vec<Change> =
                        findings.iter().cloned().map(Change::PutFinding).collect();
                    tx.apply(&noted)?;
                    tx.note_projection(&sha256_hex(&bytes))?;
                    tx.record(&record)
                },
            )?;
            replace(&goal.base_path(&uid), &bytes, Durability::Unsynced)?;
            if let (Some(path), false) = (&state_path, connected) {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)
                        .map_err(|e| Error::from_io(&e, "folder of the state file", folder))?;
                }
                replace(path, &bytes, Durability::Synced)?;
            }
            change.commit()
        })?;
        Ok(self.with_global_copy(answer, change.registry(), &id, now))
    }

    fn created_already(
        &self,
        registry: Registry,
        id: &GoalId,
        given: Option<&EffectId>,
        digest: &str,
    ) -> Result<Value> {
        let exists = Error::new(ErrorCode::GoalExists, id.as_str())
            .message(format!("goal {id} exists already"))
            .next(format!("loopx goal show --goal-id {id}"));
        let Some(given) = given else { return Err(exists) };
        let goal = self.goal_in(registry, id)?;
        let Some(uid) = goal.policy.goal_uid.clone().filter(|_| goal.has_store) else {
            return Err(exists);
        };
        let store = SqliteStore::open_read_only(&goal.store_path(&uid), &uid, self.sqlite())?;
        match store.commit_of(given)? {
            Some(done) if done.body_digest == digest => {
                let mut value = done.receipt;
                if let Some(map) = value.as_object_mut() {
                    map.insert("idempotent_replay".into(), json!(true));
                }
                Ok(value)
            }
            Some(_) => Err(Error::new(ErrorCode::EffectConflict, "effect_id")),
            None => Err(exists),
        }
    }

    /// Projects goals to the global registry.
    pub(super) fn project_global(
        &self,
        source: &Registry,
        goals: &[GoalId],
        now: Instant,
    ) -> Result<()> {
        // Without a home folder there is no global registry to keep.
        let Ok(global) = self.options.route.global_registry() else { return Ok(()) };
        Projection { source, goals: Some(goals), global: &global, replace_state: false, now }
            .run(&self.holder("project"), self.options.deadline)
            .map(drop)
    }

    /// Stops a goal: from the commit on nothing of it starts.
    pub fn goal_stop(&self, at: &Addressed, request: &GoalStopRequest) -> Result<Value> {
        let reason = request.reason.as_deref().map(|r| one_line("reason", r, 600)).transpose()?;
        let call = Call::new("goal.stop", at, request)?;
        self.write_both(&call, |entry, now| transition(&stop(entry, reason.as_deref(), now)?))
    }

    /// Resumes a goal.
    pub fn goal_resume(&self, at: &Addressed) -> Result<Value> {
        let call = Call::new("goal.resume", at, &json!({}))?;
        self.write_both(&call, |entry, now| {
            let mut answer = transition(&resume(entry, now)?)?;
            // A status typed by hand stops the goal too (rule 4); resuming means both.
            let stopped = policy(entry)?.is_stopped();
            if let (true, Some(map)) = (stopped, entry.as_object_mut()) {
                map.insert("status".into(), json!("active"));
                answer.insert("status".into(), json!("active"));
                answer.insert("changed".into(), json!(true));
            }
            Ok(answer)
        })
    }

    /// Lists the goals of the registry.
    pub fn goal_list(&self) -> Result<Value> {
        let registry = self.registry()?;
        let mut goals = Vec::new();
        for entry in registry.goals() {
            match policy(entry) {
                Ok(policy) => goals.push(json!({
                    "goal_id": policy.goal_id,
                    "goal_uid": policy.goal_uid,
                    "status": policy.status,
                    "stopped": policy.is_stopped(),
                    "objective": policy.objective,
                    "agents": policy.roster,
                    "compute": policy.quota.compute,
                    "allowed_slots": policy.quota.allowed_slots,
                })),
                // One bad entry does not hide the others.
                Err(error) => goals.push(json!({"goal_id": entry.get("id"), "error_code": error.row().text, "error": error.text()})),
            }
        }
        Ok(json!({"ok": true, "goals": goals}))
    }

    /// Adds agents to the roster.
    pub fn agent_register(&self, at: &Addressed, request: &AgentRegisterRequest) -> Result<Value> {
        let agents = parse_agents(&request.agents)?;
        if agents.is_empty() {
            return Err(Error::new(ErrorCode::RequestInvalid, "agents")
                .message("name at least one agent with --agent-id"));
        }
        let changed: Vec<Value> = request
            .agents
            .iter()
            .flat_map(|text| text.split(','))
            .filter_map(|text| {
                let canonical = AgentId::parse(text).ok()?;
                (canonical.as_str() != text).then(|| json!({"given": text, "agent_id": canonical}))
            })
            .collect();
        let call = Call::new("agent.register", at, request)?;
        self.write_both(&call, |entry, _now| {
            let before = policy(entry)?.roster;
            if let Some(taken) =
                agents.iter().find(|a| before.contains(a)).filter(|_| request.require_new)
            {
                return Err(Error::new(ErrorCode::RequestInvalid, taken.as_str())
                    .message(format!("{taken} is registered already"))
                    .next("choose another agent id"));
            }
            let new = register_agents(entry, &agents)?;
            let mut answer = Map::from_iter([
                ("registered".to_owned(), json!(new)),
                ("changed".to_owned(), json!(!new.is_empty())),
                ("agents".to_owned(), json!(policy(entry)?.roster)),
            ]);
            if !changed.is_empty() {
                answer.insert("canonicalised".into(), json!(changed));
            }
            Ok(answer)
        })
    }

    /// Lists the roster.
    pub fn agent_list(&self, at: &Addressed, _request: &AgentListRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let agents: Vec<Value> = goal
            .policy
            .roster
            .iter()
            .map(|a| json!({"agent_id": a, "work_mode": goal.policy.work_mode(Some(a))}))
            .collect();
        Ok(json!({"ok": true, "goal_id": goal.policy.goal_id, "agents": agents}))
    }

    /// Takes in spends that the earlier tool wrote after the import, once it is stopped.
    pub fn adopt_legacy(&self, at: &Addressed) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let project = import::read(&goal)?;
        let call =
            Call::new("goal.adopt_legacy", at, &json!({"index": project.witness.index_sha256}))?;
        self.write(&call, |scene| {
            let before = scene.read.legacy()?;
            let never = before.is_none() && project.witness.index_bytes == 0;
            let before = before.unwrap_or_default();
            if never || before.index_sha256 == project.witness.index_sha256 {
                return Ok(crate::command::Effect::new(Vec::new(), json!({"changed": false})));
            }
            // Rows that the import has not seen: those past its highest position.
            let mut row = scene.row;
            let mut number = || {
                let mine = row;
                row += 1;
                mine
            };
            let mut changes = Vec::new();
            let mut spends = 0_u64;
            for mut spend in project.ledger.spends.iter().filter(|s| s.id > before.rows).cloned() {
                spend.id = number();
                spends += 1;
                changes.push(Change::PutSpend(spend));
            }
            for mut outcome in
                project.ledger.outcomes.iter().filter(|o| o.id > before.rows).cloned()
            {
                outcome.id = number();
                changes.push(Change::PutOutcome(outcome));
            }
            let rows = before.rows.saturating_add(row - scene.row);
            changes.push(Change::SetLegacy(crate::model::LegacyWitness {
                rows,
                ..project.witness.clone()
            }));
            Ok(crate::command::Effect::new(changes, json!({"changed": true, "spends": spends})))
        })
    }
}

/// A new id is not to be taken for another: letters of scripts that look like Latin are
/// not mixed with Latin ones, and there are no wide or styled letters. Ids that exist
/// already are found whatever they look like.
fn refuse_look_alikes(id: &GoalId) -> Result<()> {
    use unicode_normalization::UnicodeNormalization as _;
    let text = id.as_str();
    let similar = |c: char| {
        matches!(c, '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1c80}'..='\u{1c8f}'
            | '\u{1f00}'..='\u{1fff}' | '\u{2c80}'..='\u{2dff}' | '\u{a640}'..='\u{a69f}')
    };
    let latin = |c: char| c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{24f}');
    let styled = text.nfkc().collect::<String>() != text;
    if styled || (text.chars().any(latin) && text.chars().any(similar)) {
        let shown: String = text.chars().take(40).flat_map(char::escape_default).collect();
        return Err(Error::new(ErrorCode::IdInvalid, "goal id").message(format!(
            "goal id \"{shown}\" has letters that are easily taken for others; keep to one script"
        )));
    }
    Ok(())
}

/// Whether a state file is the one that a crash of this very command left: nobody's text.
fn is_untouched(bytes: &[u8], id: &GoalId, objective: Option<&str>) -> bool {
    let made_at = String::from_utf8_lossy(bytes)
        .lines()
        .find_map(|line| line.strip_prefix("updated_at:").and_then(|at| Instant::parse(at.trim())));
    made_at.is_some_and(|at| new_document(id, objective.unwrap_or_default(), at) == bytes)
}

fn transition(done: &crate::registry::Transition) -> Result<Map<String, Value>> {
    Ok(Map::from_iter([
        ("state".to_owned(), json!(done.after)),
        ("before".to_owned(), json!(done.before)),
        ("changed".to_owned(), json!(done.changed)),
    ]))
}

fn parse_agents(texts: &[String]) -> Result<Vec<AgentId>> {
    let mut agents = Vec::new();
    for text in texts.iter().flat_map(|t| t.split(',')) {
        let agent = AgentId::parse(text)?;
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    Ok(agents)
}

fn next_after_create(goal: &GoalId, agent: Option<&AgentId>) -> String {
    match agent {
        Some(_) => format!("loopx todo add --goal-id {goal} --role agent --text \"[P1] ...\""),
        None => format!("loopx agent register --goal-id {goal} --agent-id <agent>"),
    }
}
