//! `heartbeat_prompt`: the request with the earlier tool's flags, and the answer with the
//! body and everything that a host asks about it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::command::{CommandLine, Route, Word};
use super::text::Escape;
use super::{PromptInput, lines, prose, render};
use crate::error::{Error, ErrorCode, Result};
use crate::host::activation::{self, Standing};
use crate::host::{self, BodyKind, Host, HostRow, Style};
use crate::model::todo::canonical_capability;
use crate::model::{AgentId, GoalId, GoalPolicy, TurnId};
use crate::schedule::ExecutionContext;
use crate::schedule::context::PROFILES;

/// Capabilities that a body declares, and the characters that they take in all, at most.
const CAPABILITIES: (usize, usize) = (8, 150);

/// `heartbeat_prompt`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeartbeatPromptRequest {
    /// The host, by name, alias, connector id or surface; decides everything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// thin (the default), brief, compact or full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// Whom the body is for; needed where the goal has a roster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What the agent keeps to, each at most 180 characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agent_scopes: Vec<String>,
    /// A rule about material, at most 400 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material_rule: Option<String>,
    /// A rule about permissions, at most 400 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_rule: Option<String>,
    /// Capabilities that commands declare, at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_capabilities: Vec<String>,
    /// Who wakes the agent, where no host is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context: Option<ExecutionContext>,
    /// `traex-cli`: its native goal, with the profile `generic_cli`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_goal_host: Option<String>,
    /// The turn that this wake is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_instance_id: Option<String>,
    /// The program's name in commands, `loopx` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cli_bin: Option<String>,
    /// The host's own name for its thread; says who the agent is where that is not named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// A state file: the goal then need not be in a registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_state: Option<String>,
}

/// What the registry says about the goal.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Its name.
    pub goal: &'a GoalId,
    /// Its policy; absent for a goal that only a state file stands for.
    pub policy: Option<&'a GoalPolicy>,
    /// Its entry, which says where a loop is switched on.
    pub entry: Option<&'a Value>,
}

impl HeartbeatPromptRequest {
    fn style(&self) -> Result<Style> {
        let Some(text) = self.style.as_deref() else { return Ok(Style::Thin) };
        Style::ALL.iter().find(|s| s.text() == text).copied().ok_or_else(|| {
            Error::new(ErrorCode::PromptInvalid, "style")
                .message("style is thin, brief, compact or full")
        })
    }

    /// The host: named, else the one that the earlier tool's words stand for.
    pub(crate) fn resolved_host(&self) -> Result<Host> {
        let profile = self.profile()?;
        let invalid =
            |sentence: String| Error::new(ErrorCode::PromptInvalid, "host").message(sentence);
        if let Some(name) = &self.visible_goal_host {
            let host = host::find(name)?;
            if host != Host::TraexCli {
                return Err(invalid(format!(
                    "--visible-goal-host is traex-cli; for {} say --host",
                    host.name()
                )));
            }
            if profile.is_some_and(|p| p != "generic_cli") {
                return Err(invalid(
                    "--visible-goal-host traex-cli requires the profile generic_cli".into(),
                ));
            }
            return Ok(host);
        }
        let Some(name) = &self.host else {
            return Ok(profile.map_or(Host::OtherAgent, of_profile));
        };
        let host = host::find(name)?;
        match (profile, host.row().profile) {
            (Some(given), own) if own != Some(given) => Err(invalid(format!(
                "{} is not scheduled as {given}; leave the profile out, --host says it",
                host.name()
            ))),
            _ => Ok(host),
        }
    }

    /// The profile of the context that was given; `None` without one, or where it is none
    /// of the known ones.
    fn profile(&self) -> Result<Option<&'static str>> {
        let Some(context) = &self.execution_context else { return Ok(None) };
        context.check()?;
        let problems = context.errors();
        if !problems.is_empty() {
            return Err(Error::new(ErrorCode::PromptInvalid, "execution_context")
                .message(problems.join("; ")));
        }
        let same = |p: &&crate::schedule::context::Profile| {
            p.host_surface == context.host_surface
                && p.scheduler_owner == context.scheduler_owner
                && p.execution_mode == context.execution_mode
        };
        Ok(PROFILES.iter().find(same).map(|p| p.name))
    }

    /// Flags for a context that neither the host nor a profile says.
    fn context(&self, host: Host) -> Result<Option<Vec<Word>>> {
        if self.host.is_some() || self.visible_goal_host.is_some() {
            return Ok(None);
        }
        // Nobody said who wakes the agent, so that commands do not say it either.
        let Some(context) = &self.execution_context else { return Ok(Some(Vec::new())) };
        Ok(match self.profile()? {
            Some(profile) if host.row().profile == Some(profile) => None,
            Some(profile) => Some(vec![Word::Own("--runtime-profile"), Word::Own(profile)]),
            None => Some(vec![
                Word::Own("-H"),
                Word::Given(context.host_surface.clone()),
                Word::Own("-O"),
                Word::Given(context.scheduler_owner.clone()),
                Word::Own("-M"),
                Word::Given(context.execution_mode.clone()),
            ]),
        })
    }

    fn capabilities(&self) -> Result<Vec<String>> {
        let mut all: Vec<String> = Vec::new();
        for given in &self.available_capabilities {
            let name = canonical_capability(given);
            let plain = |c: char| {
                c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | ':' | '-')
            };
            if !name.starts_with(|c: char| c.is_ascii_lowercase())
                || !name.chars().all(plain)
                || name.len() > 64
            {
                let shown: String = given.chars().take(40).flat_map(char::escape_default).collect();
                return Err(Error::new(ErrorCode::PromptInvalid, "available_capability")
                    .message(format!("\"{shown}\" is no capability's name")));
            }
            if !all.contains(&name) {
                all.push(name);
            }
        }
        let (most, length) = CAPABILITIES;
        if all.len() > most || all.iter().map(|c| c.len() + 24).sum::<usize>() > length {
            return Err(Error::new(ErrorCode::PromptInvalid, "available_capability")
                .message(format!("at most {most} capabilities fit into a prompt, and {length} characters for them and their flags")));
        }
        Ok(all)
    }

    fn input(&self, known: &Known<'_>, route: Route) -> Result<PromptInput> {
        let host = self.resolved_host()?;
        let agent = who(self, known)?;
        let folded = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut program = route;
        if let Some(name) = &self.cli_bin {
            if !Route::is_program(name) {
                return Err(Error::new(ErrorCode::PromptInvalid, "cli_bin")
                    .message("that is no program's name"));
            }
            program.program.clone_from(name);
        }
        Ok(PromptInput {
            host,
            style: self.style()?,
            goal: known.goal.clone(),
            agent,
            objective: known.policy.and_then(|p| p.objective.clone()),
            scopes: self.agent_scopes.iter().map(folded).collect(),
            rules: self.material_rule.iter().chain(&self.permission_rule).map(folded).collect(),
            capabilities: self.capabilities()?,
            turn: self.turn_instance_id.as_deref().map(TurnId::parse).transpose()?,
            route: program,
            context: self.context(host)?,
        })
    }

    /// The command that gives this prompt in another style.
    fn again(&self, input: &PromptInput, style: &'static str) -> CommandLine {
        let line = CommandLine::begin(&input.route, "heartbeat-prompt")
            .own(style)
            .flag("--goal-id", input.goal.as_str());
        let mut line = match &input.agent {
            Some(agent) => line.flag("--agent-id", agent.as_str()),
            None => line,
        };
        line = match &input.context {
            Some(words) => line.words(words),
            None => line.flag("--host", input.host.name()),
        };
        for scope in &input.scopes {
            line = line.flag("--agent-scope", scope);
        }
        for capability in &input.capabilities {
            line = line.flag("--available-capability", capability);
        }
        for (flag, rule) in
            [("--material-rule", &self.material_rule), ("--permission-rule", &self.permission_rule)]
        {
            if let Some(rule) = rule {
                line = line.flag(flag, rule);
            }
        }
        line
    }
}

fn of_profile(profile: &str) -> Host {
    match profile {
        "codex_app_heartbeat" => Host::CodexApp,
        "trae_app" => Host::TraeApp,
        "codex_app_ssh_goal" => Host::CodexAppSsh,
        "codex_cli" => Host::CodexCli,
        "claude_code" => Host::ClaudeCode,
        "kunluncode" => Host::KunlunCode,
        "ark_managed_agent_goal" => Host::ArkAgent,
        "outer_controller" => Host::Turn,
        _ => Host::OtherAgent,
    }
}

/// Whom the body is for: identity is never left open where a roster is.
fn who(request: &HeartbeatPromptRequest, known: &Known<'_>) -> Result<Option<AgentId>> {
    let roster: &[AgentId] = known.policy.map_or(&[], |p| &p.roster);
    let example = |agent: &AgentId| {
        format!("loopx heartbeat-prompt --goal-id {} --agent-id {agent}", known.goal)
    };
    match (&request.agent_id, roster) {
        (None, []) => Ok(None),
        (None, [first, ..]) => Err(Error::new(ErrorCode::AgentRequired, "agent")
            .message(format!(
                "goal {} has registered agents; a prompt says whose it is",
                known.goal
            ))
            .next(example(first))),
        // A goal without a roster is told the name that it will register.
        (Some(text), []) => AgentId::parse(text).map(Some),
        (Some(text), _) => {
            let agent = AgentId::parse(text)?;
            if roster.contains(&agent) {
                return Ok(Some(agent));
            }
            let names: Vec<&str> = roster.iter().map(AgentId::as_str).collect();
            Err(Error::new(ErrorCode::AgentNotRegistered, agent.as_str())
                .message(format!(
                    "{agent} is not a registered agent of goal {}: {}",
                    known.goal,
                    names.join(", ")
                ))
                .next(format!("loopx agent register --goal-id {} --agent-id {agent}", known.goal)))
        }
    }
}

/// The answer: the body, its budget, and the commands that it is made of.
///
/// # Errors
///
/// Those of [`render`], [`ErrorCode::HostUnknown`], [`ErrorCode::AgentRequired`],
/// [`ErrorCode::AgentNotRegistered`], and [`ErrorCode::PromptInvalid`] for words that do
/// not go together.
pub fn answer(request: &HeartbeatPromptRequest, known: &Known<'_>, route: Route) -> Result<Value> {
    let input = request.input(known, route)?;
    let body = render(&input)?;
    let row = input.host.row();
    let text = |line: CommandLine| line.text();
    let mode = if row.body.is_goal() { "visible_goal" } else { input.style.text() };
    let counted = body.text.replace(input.goal.as_str(), "<GOAL_ID>").chars().count();
    let guard = lines::addressed(&input, "quota should-run").words(&lines::context(&input));
    let spend = lines::addressed(&input, "quota spend-slot")
        .own("--source")
        .own(row.spend.text())
        .own("--execute");
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.into(), value);
    };
    put("ok", json!(true));
    put("schema_version", json!("loopx_heartbeat_prompt_v1"));
    put("goal_id", json!(input.goal));
    put("agent_id", json!(input.agent));
    put("agent_model", json!("peer_v1"));
    put("host", json!(input.host));
    put("connector_id", json!(row.connector_id()));
    put("body_kind", json!(row.body));
    put("placement", json!(placement(row)));
    put("style", json!(input.style));
    for style in [Style::Thin, Style::Brief, Style::Compact] {
        put(style.text(), json!(input.style == style));
    }
    put("cli_bin", json!(input.route.program));
    let (profile, context) = match input.context {
        Some(_) => (request.profile()?, request.execution_context.clone()),
        None => (row.profile, row.context()),
    };
    put("runtime_profile", json!(profile));
    put("scheduler_execution_context", json!(context));
    put("spend_source", json!(row.spend));
    if !input.scopes.is_empty() {
        put("agent_scopes", json!(input.scopes));
    }
    if let Some(turn) = &input.turn {
        put("turn_instance_id", json!(turn));
    }
    put(
        "interface_budget",
        json!({
            "mode": mode,
            "char_count": body.chars,
            "line_count": body.text.lines().count(),
            "budget_char_count": counted,
            "max_chars": body.limit,
            "within_budget": body.chars <= body.limit,
        }),
    );
    if !body.dropped.is_empty() {
        put("dropped_parts", json!(body.dropped));
    }
    if row.body != BodyKind::Provider {
        put("admit_command", json!(text(lines::admit(&input))));
        put("settle_command", json!(text(lines::settle(&input))));
        put("quota_guard_command", json!(text(guard)));
        put("quota_spend_command", json!(text(spend)));
        put("refresh_state_command", json!(text(lines::addressed(&input, "refresh-state"))));
    }
    put("thin_prompt_command", json!(text(request.again(&input, "--thin"))));
    put("expanded_prompt_command", json!(text(request.again(&input, "--full"))));
    if let (Some(entry), Some(agent)) = (known.entry, &input.agent) {
        let standing = Standing::of(entry, agent, input.host);
        put(activation::FIELD, standing.to_json());
        if !standing.is_active() {
            let line = request.again(&input, "--thin").own("--activate");
            put("activate_command", json!(text(line)));
        }
    }
    if row.body == BodyKind::AppHeartbeat {
        put("heartbeat_xml", json!(heartbeat_xml(&input, &body.text)));
    }
    put("task_body", json!(body.text));
    Ok(Value::Object(map))
}

/// Where the body is put, for a person.
fn placement(row: &HostRow) -> String {
    match (row.body, row.activation.command, row.activation.tool) {
        (BodyKind::AppHeartbeat, _, Some(tool)) => format!(
            "the task of an automation of {}, made or changed with {tool}, every {} minutes at first",
            row.display,
            row.activation.initial_minutes.unwrap_or(3)
        ),
        (BodyKind::VisibleGoal, Some(command), _) => {
            format!("in {}, {command} and then the body", row.display)
        }
        (BodyKind::OneShotGoal, ..) => format!("submitted to {} once", row.display),
        (BodyKind::Provider, ..) => "what the runtime is told with each action".into(),
        (_, Some(command), _) => format!("in {}, what {command} repeats", row.display),
        _ => "what the loop says to the agent at each wake".into(),
    }
}

/// The wake as an app sends it. The host puts its own instant in the place of the word.
fn heartbeat_xml(input: &PromptInput, body: &str) -> String {
    let agent = input.agent.as_ref().map_or("", AgentId::as_str);
    let name = prose(&format!("loopx-{}-{agent}", input.goal), Escape::Xml, 240);
    // The body's own sentences and commands have nothing that XML would read; texts of
    // people in it are escaped already.
    format!(
        "<heartbeat>\n<automation_id>{name}</automation_id>\n<current_time_iso>CURRENT_TIME_ISO</current_time_iso>\n<instructions>\n{body}\n</instructions>\n</heartbeat>\n"
    )
}
