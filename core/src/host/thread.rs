//! Which agent a host's thread stands for: records at `coordination.thread_agent_bindings` of
//! a goal's entry. Pure: no file, no clock.

use serde_json::{Map, Value, json};

use super::find::find;
use super::identity::ThreadBinding;
use super::row::Host;
use crate::command::one_line;
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, GoalId};

/// Characters of a thread's name, at most.
const LIMIT: usize = 128;

/// A thread's name as a host gives it.
///
/// # Errors
///
/// [`ErrorCode::RequestInvalid`] when it is empty or has white space; those of texts that
/// are stored.
pub fn parse(text: &str) -> Result<String> {
    let name = one_line("thread_id", text, LIMIT)?;
    if name.is_empty() || name.contains(' ') {
        return Err(Error::new(ErrorCode::RequestInvalid, "thread_id")
            .message("a thread's name is one word"));
    }
    Ok(name)
}

fn bindings(entry: &Value) -> impl Iterator<Item = &Value> {
    let list = entry.pointer("/coordination/thread_agent_bindings").and_then(Value::as_array);
    list.into_iter().flatten()
}

fn is_of(item: &Value, host: Host, thread: &str) -> bool {
    let surface = item.get("host_surface").and_then(Value::as_str);
    item.get("thread_id").and_then(Value::as_str) == Some(thread)
        && surface.and_then(|s| find(s).ok()) == Some(host)
}

/// What a thread of a host is bound to.
pub fn resolve(entry: &Value, host: Host, thread: &str) -> ThreadBinding {
    let mut agents: Vec<AgentId> = Vec::new();
    for item in bindings(entry).filter(|item| is_of(item, host, thread)) {
        match item.get("agent_id").and_then(Value::as_str).map(AgentId::parse) {
            Some(Ok(agent)) if agents.contains(&agent) => {}
            Some(Ok(agent)) => agents.push(agent),
            // Bound to somebody whom nobody can name.
            _ => return ThreadBinding::Conflict,
        }
    }
    match agents.as_slice() {
        [] => ThreadBinding::Missing,
        [only] => ThreadBinding::Bound(only.clone()),
        _ => ThreadBinding::Conflict,
    }
}

/// Binds a thread to an agent; whether that is new.
///
/// # Errors
///
/// [`ErrorCode::ThreadBindingConflict`] when it is bound to another one already;
/// [`ErrorCode::RegistryShape`].
pub fn bind(
    entry: &mut Value,
    goal: &GoalId,
    host: Host,
    thread: &str,
    agent: &AgentId,
) -> Result<bool> {
    match resolve(entry, host, thread) {
        ThreadBinding::Bound(bound) if bound == *agent => return Ok(false),
        ThreadBinding::Bound(_) | ThreadBinding::Conflict => {
            return Err(Error::new(ErrorCode::ThreadBindingConflict, "thread_id")
                .message(format!("this thread of {} is bound to another agent", host.name()))
                .next(format!(
                    "loopx unbind-agent-thread --goal-id {goal} --host {} --thread-id <thread> --execute",
                    host.name()
                )));
        }
        ThreadBinding::Missing | ThreadBinding::None => {}
    }
    list_mut(entry)?.push(json!({
        "thread_id": thread,
        "host_surface": host,
        "agent_id": agent,
    }));
    Ok(true)
}

/// Takes every binding of a thread away; how many there were.
///
/// # Errors
///
/// [`ErrorCode::RegistryShape`].
pub fn unbind(entry: &mut Value, host: Host, thread: &str) -> Result<usize> {
    if !bindings(entry).any(|item| is_of(item, host, thread)) {
        return Ok(0);
    }
    let list = list_mut(entry)?;
    let before = list.len();
    list.retain(|item| !is_of(item, host, thread));
    Ok(before - list.len())
}

fn list_mut(entry: &mut Value) -> Result<&mut Vec<Value>> {
    let shape = |field: &str| {
        Error::new(ErrorCode::RegistryShape, "registry")
            .message(format!("`{field}` of the goal has another shape"))
    };
    entry
        .as_object_mut()
        .ok_or_else(|| shape("entry"))?
        .entry("coordination")
        .or_insert_with(|| Value::Object(Map::new()))
        .as_object_mut()
        .ok_or_else(|| shape("coordination"))?
        .entry("thread_agent_bindings")
        .or_insert_with(|| json!([]))
        .as_array_mut()
        .ok_or_else(|| shape("thread_agent_bindings"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stands_for_one_agent() {
        let mut entry = json!({"id": "g", "coordination": {"theirs": 1}});
        let goal = GoalId::trusted("g");
        let (a, b) = (AgentId::trusted("a"), AgentId::trusted("b"));
        assert_eq!(resolve(&entry, Host::CodexApp, "t"), ThreadBinding::Missing);
        assert!(bind(&mut entry, &goal, Host::CodexApp, "t", &a).unwrap());
        assert!(!bind(&mut entry, &goal, Host::CodexApp, "t", &a).unwrap());
        // The same word of another host is another thread.
        assert!(bind(&mut entry, &goal, Host::TraeApp, "t", &b).unwrap());
        let error = bind(&mut entry, &goal, Host::CodexApp, "t", &b).unwrap_err();
        assert_eq!(error.code, ErrorCode::ThreadBindingConflict);
        assert_eq!(resolve(&entry, Host::TraeApp, "t"), ThreadBinding::Bound(b));
        assert_eq!(unbind(&mut entry, Host::CodexApp, "t").unwrap(), 1);
        assert_eq!(unbind(&mut entry, Host::CodexApp, "t").unwrap(), 0);
        assert_eq!(entry.pointer("/coordination/theirs"), Some(&json!(1)));
        assert!(parse(" ").is_err() && parse("a b").is_err());
    }

    #[test]
    fn bindings_that_contradict_each_other_are_a_conflict() {
        let entry = json!({"coordination": {"thread_agent_bindings": [
            {"thread_id": "t", "host_surface": "codex_app_heartbeat", "agent_id": "a"},
            {"thread_id": "t", "host_surface": "codex-app", "agent_id": "b"},
            {"thread_id": "u", "host_surface": "codex-app", "agent_id": 4},
        ]}});
        assert_eq!(resolve(&entry, Host::CodexApp, "t"), ThreadBinding::Conflict);
        assert_eq!(resolve(&entry, Host::CodexApp, "u"), ThreadBinding::Conflict);
    }
}
