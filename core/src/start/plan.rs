//! What a start would do, from what stands: which goal, whose loop, which todos.

use serde_json::{Value, json};

use super::{StartGoalRequest, TODO_LIMIT};
use crate::command::{TEXT_LIMIT, one_line};
use crate::error::{Error, ErrorCode, Result};
use crate::file::sha256_hex;
use crate::host::activation::{self, ActivationPacket, SCHEMA, Standing};
use crate::host::identity::{IdentityQuestion, IdentitySelection};
use crate::host::{Host, find, thread};
use crate::model::{AgentId, GoalId, GoalPolicy, Instant};

/// What stands where the start is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The goal's name; that which it would get when there is none yet.
    pub goal: &'a GoalId,
    /// The goal, when it is there.
    pub policy: Option<&'a GoalPolicy>,
    /// Its registry entry.
    pub entry: Option<&'a Value>,
    /// This tool has a store for it.
    pub has_store: bool,
}

/// Whose loop it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    /// A registered one.
    Registered(AgentId),
    /// One that the start registers.
    Fresh(AgentId),
    /// Nobody can say: a person chooses.
    Open,
}

impl Agent {
    /// The agent, when it is known.
    pub const fn id(&self) -> Option<&AgentId> {
        match self {
            Self::Registered(id) | Self::Fresh(id) => Some(id),
            Self::Open => None,
        }
    }
}

/// A start, checked and not yet done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The goal.
    pub goal: GoalId,
    /// It is there already.
    pub connected: bool,
    /// It is there, and still in the earlier tool's files.
    pub unimported: bool,
    /// The host; `None` leaves the choice open.
    pub host: Option<Host>,
    /// Whose loop.
    pub agent: Agent,
    /// How the choice came out.
    pub identity: IdentitySelection,
    /// What is to be reached.
    pub text: Option<String>,
    /// The text becomes the goal's objective, because it has none.
    pub sets_objective: bool,
    /// The todos that are added.
    pub todos: Vec<String>,
    /// The host's thread.
    pub thread: Option<String>,
    /// How the loop stands on the host now.
    pub standing: Standing,
}

impl Plan {
    /// Reads the request against what stands.
    ///
    /// # Errors
    ///
    /// What could not be stored is refused here, before anything is written; a host that
    /// there is not; an agent that is not registered where it is not said to be new; an
    /// activation on another surface.
    pub fn of(request: &StartGoalRequest, at: &Situation<'_>) -> Result<Self> {
        let line = |field, text: &str| one_line(field, text, TEXT_LIMIT);
        let text = request.goal_text.as_deref().map(|t| line("goal_text", t)).transpose()?;
        let text = text.filter(|t| !t.is_empty());
        if request.todos.len() > TODO_LIMIT {
            return Err(Error::new(ErrorCode::RequestInvalid, "todos")
                .message(format!("a start adds at most {TODO_LIMIT} todos")));
        }
        let mut todos: Vec<String> = Vec::new();
        for todo in &request.todos {
            let todo = line("todo", todo)?;
            if todo.is_empty() {
                return Err(
                    Error::new(ErrorCode::RequestInvalid, "todo").message("a todo has a text")
                );
            }
            if !todos.contains(&todo) {
                todos.push(todo);
            }
        }
        let host = request.host.as_deref().map(find).transpose()?;
        let thread = request.thread_id.as_deref().map(thread::parse).transpose()?;
        let (agent, identity) = who(request, at, host, thread.as_deref())?;
        let objective = at.policy.and_then(|p| p.objective.as_deref());
        // A text that does not become the goal's own is work, and is not lost.
        if let (Some(text), Some(objective), true) = (&text, objective, todos.is_empty())
            && text != objective
        {
            todos.push(text.clone());
        }
        let standing = match (at.entry, agent.id(), host) {
            (Some(entry), Some(agent), Some(host)) => Standing::of(entry, agent, host),
            _ => Standing::Missing,
        };
        let plan = Self {
            goal: at.goal.clone(),
            connected: at.policy.is_some(),
            unimported: at.policy.is_some() && !at.has_store,
            host,
            agent,
            identity,
            sets_objective: text.is_some() && objective.is_none(),
            text,
            todos,
            thread,
            standing,
        };
        plan.try_activation(at.entry)?;
        Ok(plan)
    }

    /// An activation that would be refused refuses the start.
    fn try_activation(&self, entry: Option<&Value>) -> Result<()> {
        let (Some(entry), Some(packet)) = (entry, self.packet()) else { return Ok(()) };
        let thread = self.thread.as_deref();
        activation::put(&mut entry.clone(), &self.goal, &packet, thread, Instant::default())
    }

    /// The activation that the start records.
    pub fn packet(&self) -> Option<ActivationPacket> {
        Some(ActivationPacket {
            schema_version: SCHEMA,
            agent_id: self.agent.id()?.clone(),
            host_surface: self.host?,
            activated: true,
        })
    }

    /// What makes a repeat of the same start the same writes.
    pub fn digest(&self) -> String {
        let said = json!([self.goal, self.text, self.todos, self.agent.id(), self.host]);
        let mut digest = sha256_hex(said.to_string().as_bytes());
        digest.truncate(24);
        digest
    }
}

fn who(
    request: &StartGoalRequest,
    at: &Situation<'_>,
    host: Option<Host>,
    thread: Option<&str>,
) -> Result<(Agent, IdentitySelection)> {
    let roster: &[AgentId] = at.policy.map_or(&[], |p| &p.roster);
    let requested = request.agent_id.as_deref().map(AgentId::parse).transpose()?;
    if request.new_peer && requested.is_none() {
        return Err(Error::new(ErrorCode::AgentRequired, "agent")
            .message("a new peer has a name of its own: add --agent-id"));
    }
    let binding = match (at.entry, host, thread) {
        (Some(entry), Some(host), Some(thread)) => match thread::resolve(entry, host, thread) {
            // A host that names its threads need not have bound them.
            crate::host::identity::ThreadBinding::Missing => Default::default(),
            other => other,
        },
        _ => Default::default(),
    };
    let chosen = IdentitySelection::choose(&IdentityQuestion {
        registered: roster,
        requested: requested.clone(),
        binding,
        fresh_default: roster.is_empty(),
    });
    if let Some(agent) = &chosen.selected_agent_id {
        return Ok((Agent::Registered(agent.clone()), chosen));
    }
    match (requested, chosen.state) {
        (Some(agent), "invalid_selection") if roster.is_empty() || request.new_peer => {
            Ok((Agent::Fresh(agent), chosen))
        }
        (Some(agent), "invalid_selection") => {
            let names: Vec<&str> = roster.iter().take(8).map(AgentId::as_str).collect();
            Err(Error::new(ErrorCode::AgentNotRegistered, agent.as_str())
                .message(format!(
                    "{agent} is not a registered agent of goal {}: {}; add --new-peer to register it",
                    at.goal,
                    names.join(", ")
                ))
                .next(format!("loopx agent list --goal-id {}", at.goal)))
        }
        // The first agent of a goal is called after its host.
        (None, "fresh_agent_registration_required") => match host {
            Some(host) => Ok((Agent::Fresh(AgentId::parse(host.name())?), chosen)),
            None => Ok((Agent::Open, chosen)),
        },
        _ => Ok((Agent::Open, chosen)),
    }
}
