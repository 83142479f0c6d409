//! Connecting a project and starting a goal. A start is several commits, each of which is a
//! repeat of itself: whatever a crash left, the same command again comes to the same end.

use serde_json::{Map, Value, json};

use super::goal::Goal;
use super::write::Call;
use super::{AgentRegisterRequest, GoalCreateRequest, HostLoopActivateRequest, Kernel};
use crate::command::todo::TodoAddRequest;
use crate::command::todo_fields::TodoFields;
use crate::command::{TEXT_LIMIT, one_line};
use crate::error::{Error, ErrorCode, Result};
use crate::host::activation::Standing;
use crate::host::identity::{IdentityQuestion, IdentitySelection, ThreadBinding};
use crate::host::{self, Host, thread};
use crate::model::{AgentId, GoalId, Role};
use crate::operation::Addressed;
use crate::prompt::{self, HeartbeatPromptRequest, Known};
use crate::registry::{FoundBy, Lookup, Registry, begin_change, place, register_agents};
use crate::start::pack::{self, AgentOnboardRequest, CommandPackRequest, For};
use crate::start::{InitRequest, Plan, Situation, StartGoalRequest, guide, name_of_folder};

impl Kernel {
    /// Connects this project: makes its goal, or finds it. Nothing that is there is
    /// overwritten; agents that are named and new are registered.
    pub fn init(&self, at: &Addressed, request: &InitRequest) -> Result<Value> {
        let id = self.goal_to_connect(at)?;
        let there = match self.own_goal(&id)? {
            Some(goal) if at.effect_id.is_none() => goal,
            found => {
                let create = GoalCreateRequest {
                    objective: request.objective.clone(),
                    agents: request.agents.clone(),
                    allowed_slots: request.allowed_slots,
                    ..GoalCreateRequest::default()
                };
                let to = Addressed { goal_id: Some(id.to_string()), ..at.clone() };
                match (self.goal_create(&to, &create), found) {
                    (Ok(mut answer), _) => {
                        if let Some(map) = answer.as_object_mut() {
                            map.insert("mode".into(), json!("init"));
                            map.insert("connected".into(), json!(true));
                            map.insert("next_command".into(), json!(next_of(&id)));
                        }
                        return Ok(answer);
                    }
                    (Err(error), Some(goal)) if error.code == ErrorCode::GoalExists => goal,
                    (Err(error), _) => return Err(error),
                }
            }
        };
        let to = Addressed::to(id.as_str());
        let objective = request
            .objective
            .as_deref()
            .map(|text| one_line("objective", text, TEXT_LIMIT))
            .transpose()?;
        let new: Vec<String> = request
            .agents
            .iter()
            .flat_map(|text| text.split(','))
            .map(|text| AgentId::parse(text).map(|a| a.to_string()))
            .collect::<Result<_>>()?;
        let registered = match new.is_empty() {
            true => json!([]),
            false => {
                let register = AgentRegisterRequest { agents: new, require_new: false };
                self.agent_register(&to, &register)?.get("registered").cloned().unwrap_or_default()
            }
        };
        if let (None, Some(text)) = (&there.policy.objective, &objective) {
            self.describe(&to, text)?;
        }
        let goal = self.goal(Some(id.as_str()))?;
        let answer = json!({
            "ok": true,
            "mode": "init",
            "goal_id": id,
            "created": false,
            "connected": true,
            "objective": goal.policy.objective,
            "agents": goal.policy.roster,
            "registered": registered,
            "state_file": goal.policy.state_file,
            "imported": goal.has_store,
            "next_command": next_of(&id),
        });
        // Connected is also what the global registry says.
        let source = goal.registry.path();
        let change = begin_change(source, &self.holder("init"), self.options.deadline)?;
        Ok(self.with_global_copy(answer, change.registry(), &id, self.now()))
    }

    /// The goal's name: given, else the project's only one, else one that its folder gives.
    fn goal_to_connect(&self, at: &Addressed) -> Result<GoalId> {
        if let Some(name) = &at.goal_id {
            return GoalId::parse(name);
        }
        let path = self.options.route.registry_to_create_in(&self.route);
        let here = Registry::read(&path)?;
        if !here.goals().is_empty() {
            return here.only_goal();
        }
        let project = place::absolute(place::project_root(&path));
        let folder = project.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let name = name_of_folder(folder);
        // A folder's name is no choice of anybody's: where another project has it, the next
        // one is taken.
        let taken = match self.options.route.global_registry() {
            Ok(global) => Registry::read_as(&global, "global registry")?,
            Err(_) => return Ok(name),
        };
        let free = |id: &GoalId| matches!(taken.find(id), Lookup::Unknown);
        let numbered = (2..100).map(|n| GoalId::trusted(format!("{name}-{n}")));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        Ok(names.find(free).unwrap_or(name))
    }

    /// The goal of that name, when the registry in which it would be made has it.
    fn own_goal(&self, id: &GoalId) -> Result<Option<Goal>> {
        let path = self.options.route.registry_to_create_in(&self.route);
        let registry = Registry::read(&path)?;
        match registry.find(id) {
            Lookup::Unknown => Ok(None),
            Lookup::Found(_) | Lookup::Duplicated => self.goal_in(registry, id).map(Some),
        }
    }

    /// Gives a goal an objective that has none.
    fn describe(&self, to: &Addressed, text: &str) -> Result<Value> {
        let call = Call::new("goal.describe", to, &json!({"objective": text}))?;
        self.write_both(&call, |entry, _| {
            let map = entry.as_object_mut().ok_or_else(|| {
                Error::new(ErrorCode::RegistryShape, "registry")
                    .message("a goal entry of the registry is not an object")
            })?;
            let has = map.get("objective").and_then(Value::as_str).is_some_and(|o| !o.is_empty());
            if !has {
                map.insert("objective".into(), json!(text));
            }
            Ok(Map::from_iter([("changed".to_owned(), json!(!has))]))
        })
    }

    fn enlist(&self, to: &Addressed, agent: &AgentId) -> Result<Value> {
        let call = Call::new("agent.register", to, &json!([agent]))?;
        self.write_both(&call, |entry, _| {
            let new = register_agents(entry, std::slice::from_ref(agent))?;
            Ok(Map::from_iter([("registered".to_owned(), json!(new))]))
        })
    }

    fn start_plan(&self, at: &Addressed, request: &StartGoalRequest) -> Result<Plan> {
        let id = self.goal_to_connect(at)?;
        let found = match self.own_goal(&id)? {
            // Outside every project a goal that is named is that of the global registry.
            None if at.goal_id.is_some() => match self.goal(Some(id.as_str())) {
                Ok(goal) => Some(goal),
                Err(error) if error.code == ErrorCode::GoalUnknown => None,
                Err(error) => return Err(error),
            },
            found => found,
        };
        let entry = found.as_ref().map(Goal::entry).transpose()?;
        let situation = Situation {
            goal: &id,
            policy: found.as_ref().map(|g| &g.policy),
            entry,
            has_store: found.as_ref().is_some_and(|g| g.has_store),
        };
        Plan::of(request, &situation)
    }

    /// What a start would do, step by step.
    pub fn start_goal_plan(&self, at: &Addressed, request: &StartGoalRequest) -> Result<Value> {
        let plan = self.start_plan(at, request)?;
        Ok(guide(&plan, &self.route_after(&plan)))
    }

    /// How commands reach the goal once it is there: one that is still to be made gets a
    /// registry in the working folder, and is found from there.
    fn route_after(&self, plan: &Plan) -> prompt::Route {
        if !plan.connected && self.route.found_by == FoundBy::Global {
            return prompt::Route::default();
        }
        self.prompt_route()
    }

    /// Starts a goal: goal, agent, todos, activation, and what the host's agent is told.
    ///
    /// # Errors
    ///
    /// What would refuse a step refuses the start before its first write;
    /// [`ErrorCode::HostUnknown`] and [`ErrorCode::AgentRequired`] while a choice is open.
    pub fn start_goal(&self, at: &Addressed, request: &StartGoalRequest) -> Result<Value> {
        let plan = self.start_plan(at, request)?;
        if let Some((code, sentence)) = crate::start::open(&plan) {
            let shown = guide(&plan, &self.route_after(&plan));
            let next = shown.get("next_command").and_then(Value::as_str).unwrap_or_default();
            return Err(Error::new(code, "start").message(sentence).next(next));
        }
        let (Some(agent), Some(host)) = (plan.agent.id(), plan.host) else {
            return Err(Error::new(ErrorCode::Internal, "start"));
        };
        let told = HeartbeatPromptRequest {
            host: Some(host.name().to_owned()),
            agent_id: Some(agent.to_string()),
            available_capabilities: request.available_capabilities.clone(),
            thread_id: plan.thread.clone(),
            ..HeartbeatPromptRequest::default()
        };
        // A prompt that could not be made would be found out about last.
        let known = Known { goal: &plan.goal, policy: None, entry: None };
        prompt::answer(&told, &known, self.route_after(&plan))?;
        let digest = plan.digest();
        let step = |name: &str| Addressed {
            goal_id: Some(plan.goal.to_string()),
            effect_id: Some(format!("start-{digest}-{name}")),
        };
        let mut steps: Vec<Value> = Vec::new();
        let mut done = |id: &str, new: bool| {
            steps.push(json!({"id": id, "state": if new { "done" } else { "done_before" }}));
        };
        let made = !plan.connected && self.make_goal(&plan, agent, &step("goal"))?;
        done("connect_if_needed", made);
        // The working folder may have become a project just now.
        let here = Self::open(self.options.clone())?;
        let to = Addressed::to(plan.goal.as_str());
        let goal = here.goal(to.goal_id.as_deref())?;
        let fresh = !goal.policy.roster.contains(agent);
        let text = plan.text.as_deref().filter(|_| goal.policy.objective.is_none());
        if let Some(text) = text {
            let receipt = here.describe(&step("describe"), text)?;
            if receipt.get("idempotent_replay").is_some() {
                here.describe(&to, text)?;
            }
        }
        if fresh {
            let receipt = here.enlist(&step("agent"), agent)?;
            if receipt.get("idempotent_replay").is_some() {
                // It was taken off the roster since this start was first given.
                here.enlist(&to, agent)?;
            }
        }
        done("register_agent", fresh);
        let mut todos: Vec<Value> = Vec::new();
        for (at, text) in plan.todos.iter().enumerate() {
            let add = TodoAddRequest {
                role: Role::Agent,
                text: text.clone(),
                status: None,
                agent_id: None,
                fields: TodoFields::default(),
            };
            let receipt = here.todo_add(&step(&format!("todo-{at}")), &add)?;
            let new = receipt.get("idempotent_replay").is_none();
            done("write_todo", new && receipt.get("added") == Some(&json!(true)));
            todos.push(json!({"todo_id": receipt.get("todo_id"), "text": text}));
        }
        let activate = HostLoopActivateRequest { prompt: told, deactivate: false };
        let mut receipt = here.host_loop_activate(&step("activate"), &activate)?;
        let mut new = receipt.get("idempotent_replay").is_none();
        let goal = here.goal(to.goal_id.as_deref())?;
        if !Standing::of(goal.entry()?, agent, host).is_active() {
            // It was switched off since this start was first given.
            receipt = here.host_loop_activate(&to, &activate)?;
            new = true;
        }
        done("activate_host_loop", new);
        let of = |key: &str| receipt.get(key).cloned().unwrap_or_default();
        Ok(json!({
            "ok": true,
            "schema_version": "loopx_start_goal_v1",
            "executed": true,
            "goal_id": plan.goal,
            "goal_uid": goal.policy.goal_uid,
            "agent_id": agent,
            "host_surface": host,
            "objective": goal.policy.objective,
            "todos": todos,
            "host_loop_activation": of("host_loop_activation"),
            "recorded_at": of("recorded_at"),
            "scheduler_hint": of("scheduler_hint"),
            "placement": of("placement"),
            "admit_command": of("admit_command"),
            "settle_command": of("settle_command"),
            "task_body": of("task_body"),
            "next_command": of("quota_guard_command"),
            "steps": steps,
        }))
    }

    /// Makes the goal of a start; whether it was not there.
    fn make_goal(&self, plan: &Plan, agent: &AgentId, at: &Addressed) -> Result<bool> {
        let create = GoalCreateRequest {
            objective: plan.text.clone(),
            agents: vec![agent.to_string()],
            ..GoalCreateRequest::default()
        };
        match self.goal_create(at, &create) {
            Ok(receipt) => Ok(receipt.get("idempotent_replay").is_none()),
            // Somebody else has made it between the look and now.
            Err(error) if error.code == ErrorCode::GoalExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How an agent comes to loop on a host.
    pub fn agent_onboard(&self, at: &Addressed, request: &AgentOnboardRequest) -> Result<Value> {
        if request.list_agent_types {
            return Ok(pack::agent_types());
        }
        let named = request.host.as_deref().ok_or_else(|| {
            Error::new(ErrorCode::HostUnknown, "host")
                .message("name the host with --host")
                .next("loopx agent-onboard --list-agent-types")
        })?;
        let host = host::find(named)?;
        let goal = self.known_goal(at)?;
        let entry = goal.as_ref().map(Goal::entry).transpose()?;
        let roster: &[AgentId] = goal.as_ref().map_or(&[], |g| &g.policy.roster);
        let binding = match (entry, &request.thread_id) {
            (Some(entry), Some(name)) => thread::resolve(entry, host, &thread::parse(name)?),
            _ => ThreadBinding::None,
        };
        let chosen = IdentitySelection::choose(&IdentityQuestion {
            registered: roster,
            requested: request.agent_id.as_deref().map(AgentId::parse).transpose()?,
            binding,
            fresh_default: true,
        });
        let agent = chosen.selected_agent_id.as_ref();
        let standing = match (entry, agent) {
            (Some(entry), Some(agent)) => Standing::of(entry, agent, host),
            _ => Standing::Missing,
        };
        let name = pack::goal_or_placeholder(goal.as_ref().map(|g| &g.policy.goal_id));
        let route = self.prompt_route();
        let whom = For { goal: &name, agent, row: host.row(), route: &route };
        Ok(pack::onboard(&whom, &chosen, &standing))
    }

    /// The commands of a host, for whoever sets it up.
    pub fn command_pack(&self, at: &Addressed, request: &CommandPackRequest) -> Result<Value> {
        self.packed(at, request, |whom, connected, text| {
            Ok(pack::command_pack(whom, connected, text))
        })
    }

    /// What is pasted into Codex CLI first.
    pub fn codex_cli_message(&self, at: &Addressed, request: &CommandPackRequest) -> Result<Value> {
        self.packed(at, request, |whom, _, text| pack::codex_cli_message(whom, text))
    }

    fn packed(
        &self,
        at: &Addressed,
        request: &CommandPackRequest,
        make: impl FnOnce(&For<'_>, bool, Option<&str>) -> Result<Value>,
    ) -> Result<Value> {
        let host = request.host.as_deref().map_or(Ok(Host::CodexCli), host::find)?;
        let text = request
            .goal_text
            .as_deref()
            .map(|t| one_line("goal_text", t, TEXT_LIMIT))
            .transpose()?;
        let goal = self.known_goal(at)?;
        let agent = match (&request.agent_id, goal.as_ref().map(|g| g.policy.roster.as_slice())) {
            (Some(named), _) => Some(AgentId::parse(named)?),
            (None, Some([only])) => Some(only.clone()),
            (None, Some([]) | None) => Some(AgentId::parse(host.name())?),
            (None, Some(_)) => None,
        };
        let name = match (&goal, &at.goal_id) {
            (Some(goal), _) => goal.policy.goal_id.to_string(),
            (None, Some(named)) => GoalId::parse(named)?.to_string(),
            (None, None) => self.goal_to_connect(at)?.to_string(),
        };
        let route = self.prompt_route();
        let whom = For { goal: &name, agent: agent.as_ref(), row: host.row(), route: &route };
        make(&whom, goal.is_some(), text.as_deref())
    }

    /// The goal, when there is one yet.
    fn known_goal(&self, at: &Addressed) -> Result<Option<Goal>> {
        match self.goal(at.goal_id.as_deref()) {
            Ok(goal) => Ok(Some(goal)),
            Err(error) if error.code == ErrorCode::GoalUnknown => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn next_of(id: &GoalId) -> String {
    format!("loopx start-goal --goal-id {id} --host <host> --goal-text \"...\"")
}
