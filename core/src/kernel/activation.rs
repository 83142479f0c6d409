//! Switching a host's loop on and off, and which agent a host's thread stands for. Both are
//! kept in the goal's registry entry.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Kernel;
use super::goal::Goal;
use super::write::Call;
use crate::command::registered;
use crate::command::turn::ShouldRunRequest;
use crate::error::{Error, ErrorCode, Result};
use crate::host::activation::{self, ActivationPacket, SCHEMA};
use crate::host::identity::{IdentityQuestion, IdentitySelection, ThreadBinding};
use crate::host::{Host, HostRow, thread};
use crate::model::AgentId;
use crate::operation::Addressed;
use crate::prompt::{self, HeartbeatPromptRequest, Known};

/// `host_loop.activate`: what the host's agent is to be told, and that it is switched on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostLoopActivateRequest {
    /// The prompt, with its host and its agent.
    #[serde(flatten)]
    pub prompt: HeartbeatPromptRequest,
    /// Switch it off instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deactivate: bool,
}

/// `thread.bind`, `thread.unbind` and `thread.resolve`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadRequest {
    /// The host's name for its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The host; one that names its threads when absent: `codex-app`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The agent: needed to bind, and an answer's preference when resolving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Act; else only show what would be written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub execute: bool,
}

impl ThreadRequest {
    fn host(&self) -> Result<Host> {
        self.host.as_deref().map_or(Ok(Host::CodexApp), crate::host::find)
    }

    fn thread(&self) -> Result<String> {
        let text = self.thread_id.as_deref().ok_or_else(|| {
            Error::new(ErrorCode::RequestInvalid, "thread_id")
                .message("the host names no thread here; name it with --thread-id")
        })?;
        thread::parse(text)
    }
}

impl Kernel {
    /// Records that an agent's loop is switched on (or off) on a host, and answers what its
    /// agent is told and when it is to begin.
    ///
    /// # Errors
    ///
    /// Those of [`Kernel::heartbeat_prompt`]; [`ErrorCode::ActivationConflict`];
    /// [`ErrorCode::RosterMissing`] for a goal without agents.
    pub fn host_loop_activate(
        &self,
        at: &Addressed,
        request: &HostLoopActivateRequest,
    ) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let asked = self.with_thread(&goal, &request.prompt)?;
        let row = asked.resolved_host()?.row();
        let named = asked.agent_id.as_deref().ok_or_else(|| {
            let error = Error::new(ErrorCode::AgentRequired, "agent")
                .message("an activation says whose loop it is");
            match goal.policy.roster.first() {
                Some(first) => {
                    error.next(activation::command(&goal.policy.goal_id, first, row.name(), true))
                }
                None => error,
            }
        })?;
        let agent = registered(&goal.policy, named)?;
        let packet = ActivationPacket {
            schema_version: SCHEMA,
            agent_id: agent.clone(),
            host_surface: row.host,
            activated: !request.deactivate,
        };
        // What cannot be told to the agent is not switched on.
        if packet.activated {
            self.prompt_of(&goal, &asked)?;
        }
        let thread = asked.thread_id.as_deref().map(thread::parse).transpose()?;
        // And a refusal takes no lock. A repeat is for the receipts to answer.
        if at.effect_id.is_none() {
            let mut entry = goal.entry()?.clone();
            let id = &goal.policy.goal_id;
            activation::put(&mut entry, id, &packet, thread.as_deref(), self.now())?;
        }
        let initial = row.activation.initial_minutes.unwrap_or(0);
        let call =
            Call::new("host_loop.activate", at, request)?.by(Some(agent.as_str())).seen(initial);
        let id = &goal.policy.goal_id;
        let mut answer = self.write_both(&call, |entry, now| {
            activation::put(entry, id, &packet, thread.as_deref(), now)?;
            Ok(Map::from_iter([
                ("agent_id".to_owned(), json!(agent)),
                ("host".to_owned(), json!(row.host)),
                (activation::FIELD.to_owned(), json!(packet)),
                ("recorded_at".to_owned(), json!(now)),
            ]))
        })?;
        let Some(map) = answer.as_object_mut() else { return Ok(answer) };
        if request.deactivate {
            let next = activation::command(id, &agent, row.name(), true);
            map.insert("next_command".into(), json!(next));
            return Ok(answer);
        }
        map.insert("scheduler_hint".into(), self.first_hint(&goal, &agent, &asked, row));
        let goal = self.goal(Some(id.as_str()))?;
        if let Value::Object(told) = self.prompt_of(&goal, &asked)? {
            for (key, value) in told {
                map.entry(key).or_insert(value);
            }
        }
        Ok(answer)
    }

    /// When a loop that was switched on now begins: what a decision says, with the first
    /// cadence of a host that keeps a schedule.
    fn first_hint(
        &self,
        goal: &Goal,
        agent: &AgentId,
        asked: &HeartbeatPromptRequest,
        row: &HostRow,
    ) -> Value {
        let context = row.context();
        let request = ShouldRunRequest {
            agent_id: Some(agent.to_string()),
            available_capabilities: asked.available_capabilities.clone(),
            execution_context: context.clone(),
            ..ShouldRunRequest::default()
        };
        let mut decided = self.should_run(&Addressed::to(goal.policy.goal_id.as_str()), &request);
        let mut hint = match decided.get_mut("scheduler_hint").map(Value::take) {
            Some(Value::Object(hint)) => hint,
            _ => Map::new(),
        };
        let stops = hint
            .get("action")
            .and_then(Value::as_str)
            .is_some_and(|action| action.starts_with("stop_"));
        if let (Some(minutes), Some(context), false) =
            (row.activation.initial_minutes, context, stops)
        {
            hint.insert("next_check_minutes".into(), json!(minutes));
            hint.insert("initial_minutes".into(), json!(minutes));
            let initial = json!({
                "applicability": "applicable",
                "recommended_interval_minutes": minutes,
                "recommended_rrule": format!("FREQ=MINUTELY;INTERVAL={minutes}"),
                "host_tool": row.activation.tool,
                "host_action": row.activation.method,
                "no_spend_for_cadence_change": true,
            });
            // What a decision says of the schedule stands, where it is the first cadence; a
            // longer wait is for the first wake to say.
            let interval = |hint: &Value| hint.get("recommended_interval_minutes").cloned();
            let decided = hint.get("app_automation").filter(|h| interval(h) == interval(&initial));
            let mut automation = decided.cloned().unwrap_or(initial);
            if let Some(map) = automation.as_object_mut() {
                map.insert("host_surface".into(), json!(context.host_surface));
            }
            hint.insert("app_automation".into(), automation);
        }
        Value::Object(hint)
    }

    pub(super) fn prompt_of(&self, goal: &Goal, asked: &HeartbeatPromptRequest) -> Result<Value> {
        let policy = &goal.policy;
        let known =
            Known { goal: &policy.goal_id, policy: Some(policy), entry: Some(goal.entry()?) };
        prompt::answer(asked, &known, self.prompt_route())
    }

    /// The request with the agent that the host's thread stands for, where none is named.
    pub(super) fn with_thread(
        &self,
        goal: &Goal,
        request: &HeartbeatPromptRequest,
    ) -> Result<HeartbeatPromptRequest> {
        let mut asked = request.clone();
        let (None, Some(name), Some(_)) = (&asked.agent_id, &asked.thread_id, &asked.host) else {
            return Ok(asked);
        };
        let found = thread::resolve(goal.entry()?, asked.resolved_host()?, &thread::parse(name)?);
        if let ThreadBinding::Bound(agent) = found
            && goal.policy.roster.contains(&agent)
        {
            asked.agent_id = Some(agent.to_string());
        }
        Ok(asked)
    }

    /// Binds a host's thread to an agent; a preview until `execute`.
    pub fn thread_bind(&self, at: &Addressed, request: &ThreadRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let (host, name) = (request.host()?, request.thread()?);
        let named = request.agent_id.as_deref().ok_or_else(|| {
            Error::new(ErrorCode::AgentRequired, "agent").message("name the agent with --agent-id")
        })?;
        let agent = registered(&goal.policy, named)?;
        let id = &goal.policy.goal_id;
        let bound = |entry: &mut Value| -> Result<Map<String, Value>> {
            let new = thread::bind(entry, id, host, &name, &agent)?;
            Ok(Map::from_iter([
                ("schema_version".to_owned(), json!("loopx_thread_agent_binding_v0")),
                (
                    "binding".to_owned(),
                    json!({"thread_id": name, "host_surface": host, "agent_id": agent}),
                ),
                ("status".to_owned(), json!("bound")),
                ("changed".to_owned(), json!(new)),
            ]))
        };
        self.previewed(at, "thread.bind", &goal, request, bound)
    }

    /// Takes a thread's binding away; a preview until `execute`.
    pub fn thread_unbind(&self, at: &Addressed, request: &ThreadRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let (host, name) = (request.host()?, request.thread()?);
        let unbound = |entry: &mut Value| -> Result<Map<String, Value>> {
            let taken = thread::unbind(entry, host, &name)?;
            Ok(Map::from_iter([
                ("schema_version".to_owned(), json!("loopx_thread_agent_binding_v0")),
                ("host_surface".to_owned(), json!(host)),
                ("thread_id".to_owned(), json!(name)),
                ("status".to_owned(), json!("missing")),
                ("changed".to_owned(), json!(taken > 0)),
            ]))
        };
        self.previewed(at, "thread.unbind", &goal, request, unbound)
    }

    fn previewed(
        &self,
        at: &Addressed,
        verb: &'static str,
        goal: &Goal,
        request: &ThreadRequest,
        edit: impl Fn(&mut Value) -> Result<Map<String, Value>>,
    ) -> Result<Value> {
        if request.execute {
            return self.write_both(&Call::new(verb, at, request)?, |entry, _| edit(entry));
        }
        let mut answer = Map::from_iter([
            ("ok".to_owned(), json!(true)),
            ("dry_run".to_owned(), json!(true)),
            ("goal_id".to_owned(), json!(goal.policy.goal_id)),
        ]);
        answer.extend(edit(&mut goal.entry()?.clone())?);
        Ok(Value::Object(answer))
    }

    /// Says which agent a host's thread stands for.
    pub fn thread_resolve(&self, at: &Addressed, request: &ThreadRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let host = request.host()?;
        let binding = match &request.thread_id {
            None => ThreadBinding::None,
            Some(name) => thread::resolve(goal.entry()?, host, &thread::parse(name)?),
        };
        let (status, agent) = match &binding {
            ThreadBinding::None => ("unavailable", None),
            ThreadBinding::Missing => ("missing", None),
            ThreadBinding::Bound(agent) => ("bound", Some(agent.clone())),
            ThreadBinding::Conflict => ("conflict", None),
        };
        let chosen = IdentitySelection::choose(&IdentityQuestion {
            registered: &goal.policy.roster,
            requested: request.agent_id.as_deref().map(AgentId::parse).transpose()?,
            binding: binding.clone(),
            fresh_default: false,
        });
        Ok(json!({
            "ok": true,
            "schema_version": "loopx_thread_agent_binding_resolution_v0",
            "goal_id": goal.policy.goal_id,
            "host_surface": host,
            "thread_env": host.row().activation.thread_env,
            "thread_id": request.thread_id,
            "status": status,
            "agent_id": agent,
            "identity_selection": chosen,
        }))
    }
}
