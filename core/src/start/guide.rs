//! The preview of a start: ordered steps, each with what it does and its command. It fits its
//! budget by construction: texts of people are cut, and what may go goes in a fixed order.

use serde_json::{Map, Value, json};

use super::plan::{Agent, Plan};
use crate::admission::packet::cut;
use crate::error::ErrorCode;
use crate::host::{Host, InstallFile};
use crate::prompt::{CommandLine, Route, Word};

/// Bytes of a preview as JSON, at most.
pub const GUIDE_LIMIT: usize = 6 * 1024;

/// Bytes of a goal's text and of a todo as a preview shows them.
const TEXT: usize = 240;
const TODO: usize = 120;
/// Todos and agents that a preview names.
const NAMED: usize = 6;

/// Hosts that a person is offered first.
const USUAL: &[Host] = &[
    Host::CodexApp,
    Host::CodexCli,
    Host::ClaudeCode,
    Host::Opencode,
    Host::Pi,
    Host::Shell,
    Host::OtherAgent,
];

/// The preview of a plan.
pub fn guide(plan: &Plan, route: &Route) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.into(), value);
    };
    let blocked = blocked_by(plan);
    put("ok", json!(true));
    put("schema_version", json!("loopx_start_goal_guided_v0"));
    put("read_only", json!(true));
    put("guided", json!(true));
    put("goal_id", json!(plan.goal));
    put("agent_id", json!(plan.agent.id()));
    put("host_surface", json!(plan.host));
    put("goal_text", json!(plan.text.as_deref().map(|t| cut(t, TEXT))));
    put("connection_state", json!(connection(plan)));
    put("host_loop_activation", plan.standing.to_json());
    put("host_loop_activation_required_after_todo_writeback", json!(true));
    put(
        "guided_transaction",
        json!({
            "mode": "dry_run_preview",
            "writes_now": false,
            "spends_quota_now": false,
            "blocked_by": blocked,
            "ordered_steps": steps(plan, route),
        }),
    );
    put(
        "planner",
        json!({
            "required_before_todo_write": true,
            "todo_write_order_defines_same_priority_rank": true,
            "rule": "Give --todo once for each step, most important first, with [P0] to [P4]; two to five for an open direction. Without todos the agent is asked to plan at its first turn.",
        }),
    );
    put("todos", json!(plan.todos.iter().take(NAMED).map(|t| cut(t, TODO)).collect::<Vec<_>>()));
    put("todo_count", json!(plan.todos.len()));
    if blocked == Some("host_surface_selection") {
        put("host_choices", json!(USUAL.iter().map(|h| h.name()).collect::<Vec<_>>()));
    }
    if blocked == Some("agent_identity_selection") {
        let agents = &plan.identity.registered_agents;
        put("agent_choices", json!(agents.iter().take(NAMED).collect::<Vec<_>>()));
        put("agent_count", json!(agents.len()));
        put("identity_state", json!(plan.identity.state));
    }
    put("next_command", json!(execute_command(plan, route, blocked)));
    fit(map)
}

/// Leaves out what may go until the preview fits.
fn fit(mut map: Map<String, Value>) -> Value {
    let mut left_out = Vec::new();
    for key in ["todos", "goal_text", "agent_choices", "planner"] {
        if Value::Object(map.clone()).to_string().len() <= GUIDE_LIMIT - 80 {
            break;
        }
        if map.shift_remove(key).is_some() {
            left_out.push(key);
            map.insert("left_out".into(), json!(left_out));
        }
    }
    let over =
        |map: &Map<String, Value>| Value::Object(map.clone()).to_string().len() > GUIDE_LIMIT;
    // Long names in an escaped script: the steps stay, their command lines go.
    if over(&map) {
        let steps = map.get_mut("guided_transaction").and_then(|t| t.get_mut("ordered_steps"));
        for step in steps.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(step) = step.as_object_mut() {
                step.shift_remove("command");
            }
        }
    }
    if over(&map) {
        map.insert("next_command".into(), json!("loopx start-goal --help"));
    }
    Value::Object(map)
}

fn blocked_by(plan: &Plan) -> Option<&'static str> {
    match (plan.host, &plan.agent) {
        (None, _) => Some("host_surface_selection"),
        (_, Agent::Open) => Some("agent_identity_selection"),
        _ => None,
    }
}

fn connection(plan: &Plan) -> &'static str {
    match (plan.connected, plan.unimported) {
        (false, _) => "not_connected",
        (true, true) => "earlier_project",
        (true, false) => "connected",
    }
}

fn at_goal(plan: &Plan, route: &Route, words: &'static str) -> CommandLine {
    CommandLine::begin(route, words).flag("--goal-id", plan.goal.as_str())
}

fn steps(plan: &Plan, route: &Route) -> Vec<Value> {
    let step = |id: &str, kind: &str, state: &str, what: String, command: Option<CommandLine>| {
        let mut step = json!({"id": id, "kind": kind, "state": state, "what": what});
        if let (Some(command), Some(map)) = (command, step.as_object_mut()) {
            map.insert("command".into(), json!(command.text()));
        }
        step
    };
    let by_agent = |line: CommandLine| match plan.agent.id() {
        Some(agent) => line.flag("--agent-id", agent.as_str()),
        None => line.own("--agent-id AGENT"),
    };
    let mut steps = vec![step(
        "inspect_connection",
        "read_only",
        "done",
        format!("the goal is {}", connection(plan).replace('_', " ")),
        None,
    )];
    steps.push(match plan.connected {
        true => step(
            "connect_if_needed",
            "conditional_mutation",
            if plan.sets_objective { "to_do" } else { "nothing_to_do" },
            if plan.sets_objective {
                "the text becomes the goal's objective".into()
            } else {
                "the goal stays as it is".into()
            },
            None,
        ),
        false => step(
            "connect_if_needed",
            "conditional_mutation",
            "to_do",
            "makes the goal in this project; nothing that is there is overwritten".into(),
            Some(at_goal(plan, route, "init")),
        ),
    });
    steps.push(match &plan.agent {
        Agent::Registered(agent) => step(
            "select_agent_identity",
            "identity",
            "done",
            format!("the loop is that of {agent}"),
            None,
        ),
        Agent::Fresh(agent) => step(
            "register_fresh_agent",
            "conditional_mutation",
            "to_do",
            format!("registers {agent}"),
            Some(by_agent(at_goal(plan, route, "agent register"))),
        ),
        Agent::Open => step(
            "select_agent_identity",
            "identity",
            "blocked",
            "say which agent loops with --agent-id, or register one with --new-peer".into(),
            None,
        ),
    });
    steps.push(step(
        "plan_ranked_todos",
        "model_checkpoint",
        if plan.todos.is_empty() { "to_do" } else { "done" },
        "think which steps come first, and write nothing yet".into(),
        None,
    ));
    steps.push(step(
        "write_ordered_todos",
        "operator_or_agent_actions",
        if plan.todos.is_empty() { "nothing_to_do" } else { "to_do" },
        match plan.todos.len() {
            0 => "no todo was given".into(),
            n => format!("adds {n} in their order; one that is there is left alone"),
        },
        Some(at_goal(plan, route, "todo add").own("--role agent --text TEXT")),
    ));
    let activate = plan.host.map(|host| {
        let line = at_goal(plan, route, "heartbeat-prompt").flag("--host", host.name());
        by_agent(line).own("--thin --activate")
    });
    steps.push(step(
        "activate_host_loop",
        "host_loop",
        match (plan.host, plan.standing.is_active()) {
            (None, _) => "blocked",
            (_, true) => "done",
            (_, false) => "to_do",
        },
        match plan.host {
            None => "say which host loops with --host".into(),
            Some(host) => format!("records that {} loops for the agent", host.row().display),
        },
        activate,
    ));
    let guard = by_agent(at_goal(plan, route, "quota should-run"));
    steps.push(step(
        "quota_guard",
        "guard",
        "after_execute",
        "asks whether the agent may run; writes nothing".into(),
        Some(guard),
    ));
    steps
}

/// The command that does it all, or with which a person goes on.
fn execute_command(plan: &Plan, route: &Route, blocked: Option<&str>) -> String {
    let mut line = at_goal(plan, route, "start-goal");
    line = match plan.host {
        Some(host) => line.flag("--host", host.name()),
        None => line.own("--host HOST"),
    };
    line = match &plan.agent {
        Agent::Registered(agent) => line.flag("--agent-id", agent.as_str()),
        Agent::Fresh(agent) => {
            let line = line.flag("--agent-id", agent.as_str());
            if plan.identity.registered_agents.is_empty() { line } else { line.own("--new-peer") }
        }
        Agent::Open => line.own("--agent-id AGENT"),
    };
    // Long texts are not said again: the reader has them in the command that asked.
    line = match &plan.text {
        Some(text) if text.len() <= TEXT => line.flag("--goal-text", text),
        Some(_) => line.own("--goal-text TEXT"),
        None => line,
    };
    let short = plan.todos.iter().map(String::len).sum::<usize>() <= 2 * TEXT;
    let implied = plan.todos.as_slice() == plan.text.as_slice();
    if short && !implied {
        for todo in &plan.todos {
            line = line.flag("--todo", todo);
        }
    } else if !implied {
        line = line.own("--todo TEXT");
    }
    if blocked.is_some() { line.text() } else { line.own("--execute").text() }
}

/// A managed file as answers name it: below the folder's usual name.
pub(super) fn shown(file: &InstallFile) -> String {
    format!("{}/{}", file.place.text(), file.path)
}

/// The code that a start is refused with while something is open.
pub(crate) fn open(plan: &Plan) -> Option<(ErrorCode, &'static str)> {
    match blocked_by(plan)? {
        "host_surface_selection" => {
            Some((ErrorCode::HostUnknown, "say which host loops with --host"))
        }
        _ => Some((ErrorCode::AgentRequired, "say which agent loops with --agent-id")),
    }
}

/// Words of a route, for commands of other packets.
pub(super) fn begin(route: &Route, words: &'static str, goal: &str) -> CommandLine {
    CommandLine::begin(route, words).words(&[Word::Own("--goal-id"), Word::Given(goal.to_owned())])
}
