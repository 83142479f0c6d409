//! What a host's agent is told at each wake: who it is, how to take and settle its one turn,
//! and when to look again. Same input, same bytes. A body over its budget cannot be made:
//! it is a list of named parts, of which those that may go do so in a fixed order. Not here:
//! what a decision says (`admission::packet`), and the rows of hosts (`host`).

mod answer;
mod command;
mod lines;
mod part;
mod text;
mod words;

use crate::boundary::require_safe;
use crate::error::{Error, ErrorCode, Result};
use crate::host::{BodyKind, Host, Style};
use crate::model::{AgentId, GoalId, TurnId};

pub use answer::{HeartbeatPromptRequest, Known, answer};
pub use command::{CommandLine, Route, Word};
pub use part::{Body, Keep, Part};
pub use text::{Escape, prose};
pub use words::{forbidden, forbidden_to_us};

/// Characters of one scope, at most.
pub const SCOPE_LIMIT: usize = 180;

/// Characters of a rule that is given for the prompt, at most.
pub const RULE_LIMIT: usize = 400;

/// Characters that a route may always put into each command: with the longest ids the
/// smallest budget still holds both commands. With shorter ids a longer route fits too.
pub const ROUTE_LIMIT: usize = 96;

/// Everything that a body is made of.
#[derive(Clone, Debug)]
pub struct PromptInput {
    /// The host.
    pub host: Host,
    /// How much to say.
    pub style: Style,
    /// The goal.
    pub goal: GoalId,
    /// The agent; absent for a goal without a roster.
    pub agent: Option<AgentId>,
    /// What the goal is for: data, from wherever.
    pub objective: Option<String>,
    /// What the agent is to keep to, given by the caller.
    pub scopes: Vec<String>,
    /// Rules of the caller beside ours.
    pub rules: Vec<String>,
    /// Capabilities to declare, canonical.
    pub capabilities: Vec<String>,
    /// The turn that this wake is bound to.
    pub turn: Option<TurnId>,
    /// How commands reach the goal.
    pub route: Route,
    /// Flags that say who wakes the agent, where they are not the host's own.
    pub context: Option<Vec<Word>>,
}

impl PromptInput {
    /// A body for a host and a goal, with everything else as it comes.
    pub fn new(host: Host, goal: GoalId, agent: Option<AgentId>) -> Self {
        Self {
            host,
            style: Style::Thin,
            goal,
            agent,
            objective: None,
            scopes: Vec::new(),
            rules: Vec::new(),
            capabilities: Vec::new(),
            turn: None,
            route: Route::default(),
            context: None,
        }
    }

    fn escape(&self) -> Escape {
        match self.host.row().body {
            BodyKind::AppHeartbeat => Escape::Xml,
            _ => Escape::Markdown,
        }
    }
}

/// The body.
///
/// # Errors
///
/// [`ErrorCode::PromptVocabulary`] when a text of the caller has a word that this kind of
/// body may not have; [`ErrorCode::PromptInvalid`] when a scope, a rule or the route is too
/// long, or a turn is named for a host that takes none; [`ErrorCode::TextRefused`] when a
/// scope or a rule has a secret or a local path.
pub fn render(input: &PromptInput) -> Result<Body> {
    check(input)?;
    let limit = input.host.row().body.limit(input.style);
    let mut body = part::assemble(lines::parts(input), limit).ok_or_else(|| too_long(input))?;
    body.limit = limit;
    Ok(body)
}

/// Only the route can be too long for what must stay: everything else that goes into it has
/// a limit of its own.
fn too_long(input: &PromptInput) -> Error {
    let route = input.route.length();
    if route <= ROUTE_LIMIT {
        return Error::new(ErrorCode::Internal, "prompt")
            .message("the parts that must stay exceed the budget");
    }
    Error::new(ErrorCode::PromptInvalid, "registry")
        .message(format!(
            "the registry's path makes every command {route} characters longer, which does not fit"
        ))
        .next("run it from the project without --registry, or set LOOPX_REGISTRY for the agent")
}

fn check(input: &PromptInput) -> Result<()> {
    let invalid = |about: &str, sentence: String| {
        Err(Error::new(ErrorCode::PromptInvalid, about).message(sentence))
    };
    for (field, texts, most) in
        [("agent_scope", &input.scopes, SCOPE_LIMIT), ("rule", &input.rules, RULE_LIMIT)]
    {
        for text in texts {
            if text.chars().count() > most {
                return invalid(field, format!("{field} is longer than {most} characters"));
            }
            require_safe(field, text)?;
            if text.contains(['<', '>']) {
                return invalid(field, format!("{field} has an angle bracket"));
            }
            if let Some(word) = forbidden(input.host, text) {
                return Err(Error::new(ErrorCode::PromptVocabulary, field).message(format!(
                    "{field} has \"{word}\", which a body for {} may not have",
                    input.host.name()
                )));
            }
        }
    }
    if !input.scopes.is_empty() && input.agent.is_none() {
        return invalid("agent_scope", "--agent-scope requires --agent-id".into());
    }
    if input.turn.is_some() {
        if !matches!(input.host.row().body, BodyKind::AppHeartbeat | BodyKind::LoopPrompt) {
            return invalid(
                "turn_instance_id",
                format!("{} takes no named turn", input.host.name()),
            );
        }
        if input.agent.is_none() {
            return invalid("turn_instance_id", "a named turn needs --agent-id".into());
        }
    }
    Ok(())
}
