//! That a host's loop is switched on for an agent: the packet, and the records that a goal's
//! registry entry keeps of it (`host_loop_activation`). A host keeps nothing itself; the
//! record is the only truth. Pure: no file, no clock.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::find::find;
use super::row::Host;
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, GoalId, Instant};

/// Schema of the packet.
pub const SCHEMA: &str = "loopx_host_loop_activation_v1";

/// Field of a goal's entry.
pub const FIELD: &str = "host_loop_activation";

/// One activation as a host sends it. It is made anew for every call and has no history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActivationPacket {
    /// [`SCHEMA`].
    pub schema_version: &'static str,
    /// Whose loop.
    pub agent_id: AgentId,
    /// The host, by its `--host` name.
    pub host_surface: Host,
    /// Whether it is switched on.
    pub activated: bool,
}

/// The packet of an agent on a host; the host by name, alias, connector id or surface.
///
/// # Errors
///
/// [`ErrorCode::AgentIdInvalid`], [`ErrorCode::HostUnknown`].
pub fn build_host_loop_activation_packet(
    agent_id: &str,
    host_surface: &str,
    activated: bool,
) -> Result<ActivationPacket> {
    Ok(ActivationPacket {
        schema_version: SCHEMA,
        agent_id: AgentId::parse(agent_id)?,
        host_surface: find(host_surface)?,
        activated,
    })
}

/// A record of a goal's entry, as far as it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whose loop.
    pub agent: AgentId,
    /// The surface as it was written; one that no host has is kept.
    pub surface: String,
    /// Its host.
    pub host: Option<Host>,
    /// Whether it is switched on. What cannot be read counts as on, so that it stands in
    /// the way of a second surface.
    pub activated: bool,
    /// The host's thread, where it names one.
    pub thread: Option<String>,
    /// When it was recorded.
    pub recorded_at: Option<Instant>,
}

impl Record {
    fn of(item: &Value) -> Option<Self> {
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        let surface = text("host_surface")?.to_owned();
        Some(Self {
            agent: AgentId::parse(text("agent_id")?).ok()?,
            host: find(&surface).ok(),
            surface,
            activated: item.get("activated").and_then(Value::as_bool).unwrap_or(true),
            thread: text("thread_id").map(str::to_owned),
            recorded_at: text("recorded_at").and_then(Instant::parse),
        })
    }

    fn is_on(&self, host: Host) -> bool {
        self.host == Some(host)
    }
}

/// The list of a field that holds one record or several.
fn items(entry: &Value) -> Vec<&Value> {
    match entry.get(FIELD) {
        Some(Value::Array(items)) => items.iter().collect(),
        Some(one @ Value::Object(_)) => vec![one],
        _ => Vec::new(),
    }
}

/// The records of a goal's entry that can be read, in their order.
pub fn records(entry: &Value) -> Vec<Record> {
    items(entry).into_iter().filter_map(Record::of).collect()
}

/// How many records cannot be read; they are kept as they are.
pub fn unreadable(entry: &Value) -> usize {
    match entry.get(FIELD) {
        None | Some(Value::Null) => 0,
        Some(Value::Array(_) | Value::Object(_)) => {
            items(entry).into_iter().filter(|item| Record::of(item).is_none()).count()
        }
        Some(_) => 1,
    }
}

/// What stands of an agent's activation, seen from one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Switched on here.
    Active(Record),
    /// Switched on on another surface.
    Elsewhere(Record),
    /// Recorded here and switched off.
    Off(Record),
    /// Nothing on file.
    Missing,
}

impl Standing {
    /// How it stands with `agent` on `host`.
    pub fn of(entry: &Value, agent: &AgentId, host: Host) -> Self {
        let mine = || records(entry).into_iter().filter(|r| r.agent == *agent);
        if let Some(record) = mine().find(|r| r.activated && r.is_on(host)) {
            return Self::Active(record);
        }
        if let Some(record) = mine().find(|r| r.activated) {
            return Self::Elsewhere(record);
        }
        mine().find(|r| r.is_on(host)).map_or(Self::Missing, Self::Off)
    }

    /// The surface on which the agent's loop is switched on, whichever it is.
    pub fn anywhere(entry: &Value, agent: &AgentId) -> Option<Record> {
        records(entry).into_iter().find(|r| r.agent == *agent && r.activated)
    }

    /// `active`, `elsewhere`, `inactive` or `missing`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Active(_) => "active",
            Self::Elsewhere(_) => "elsewhere",
            Self::Off(_) => "inactive",
            Self::Missing => "missing",
        }
    }

    /// Whether the loop is switched on here.
    pub const fn is_active(&self) -> bool {
        matches!(self, Self::Active(_))
    }

    /// As answers show it.
    pub fn to_json(&self) -> Value {
        let record = match self {
            Self::Active(r) | Self::Elsewhere(r) | Self::Off(r) => Some(r),
            Self::Missing => None,
        };
        let mut map = Map::from_iter([
            ("state".to_owned(), json!(self.word())),
            ("activated".to_owned(), json!(self.is_active())),
        ]);
        if let Some(record) = record {
            map.insert(
                "host_surface".into(),
                record.host.map_or_else(|| json!(record.surface), |host| json!(host)),
            );
            map.insert("recorded_at".into(), json!(record.recorded_at));
        }
        Value::Object(map)
    }
}

/// The command that switches an agent's loop on, or off.
pub fn command(goal: &GoalId, agent: &AgentId, host: &str, on: bool) -> String {
    let flag = if on { "--activate" } else { "--deactivate" };
    format!(
        "loopx heartbeat-prompt --host {host} --goal-id {goal} --agent-id {agent} --thin {flag}"
    )
}

/// Puts a packet into a goal's entry. Records of others, and fields that we do not know,
/// stay.
///
/// # Errors
///
/// [`ErrorCode::ActivationConflict`] when the agent's loop is switched on on another
/// surface, or on this one by another thread of the host. [`ErrorCode::RegistryShape`]
/// when the field is neither a record nor a list.
pub fn put(
    entry: &mut Value,
    goal: &GoalId,
    packet: &ActivationPacket,
    thread: Option<&str>,
    now: Instant,
) -> Result<()> {
    if packet.activated {
        refuse_second(entry, goal, packet, thread)?;
    }
    let shape = |sentence: &str| {
        Error::new(ErrorCode::RegistryShape, FIELD).message(sentence).next("loopx diagnose")
    };
    let map = entry
        .as_object_mut()
        .ok_or_else(|| shape("a goal entry of the registry is not an object"))?;
    let mut list = match map.get(FIELD) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.clone(),
        Some(one @ Value::Object(_)) => vec![one.clone()],
        Some(_) => {
            return Err(shape("`host_loop_activation` of the goal is neither a record nor a list"));
        }
    };
    let same = |item: &Value| {
        Record::of(item).is_some_and(|r| r.agent == packet.agent_id && r.is_on(packet.host_surface))
    };
    let mut record = match list.iter().position(same) {
        Some(at) => list.remove(at).as_object().cloned().unwrap_or_default(),
        None => Map::new(),
    };
    let Value::Object(fresh) = json!(packet) else {
        return Err(Error::new(ErrorCode::Internal, "activation packet"));
    };
    record.extend(fresh);
    match thread {
        Some(thread) if packet.activated => {
            record.insert("thread_id".into(), json!(thread));
        }
        // Whoever switches it on next may do so from another thread.
        _ if !packet.activated => {
            record.shift_remove("thread_id");
        }
        _ => {}
    }
    record.insert("recorded_at".into(), json!(now));
    list.push(Value::Object(record));
    map.insert(FIELD.into(), Value::Array(list));
    Ok(())
}

fn refuse_second(
    entry: &Value,
    goal: &GoalId,
    packet: &ActivationPacket,
    thread: Option<&str>,
) -> Result<()> {
    let agent = &packet.agent_id;
    let conflict = |sentence: String, surface: &str| {
        Err(Error::new(ErrorCode::ActivationConflict, agent.as_str())
            .message(sentence)
            .next(command(goal, agent, surface, false)))
    };
    let known = records(entry);
    for record in known.iter().filter(|r| r.agent == *agent && r.activated) {
        let surface = match record.host {
            Some(host) => host.name(),
            None => record.surface.as_str(),
        };
        if !record.is_on(packet.host_surface) {
            return conflict(
                format!(
                    "the loop of {agent} is switched on on {surface}; one agent loops on one surface: switch it off there first, or register another agent"
                ),
                surface,
            );
        }
        if let (Some(theirs), Some(ours)) = (&record.thread, thread)
            && theirs != ours
        {
            return conflict(
                format!(
                    "the loop of {agent} on {surface} belongs to another thread of the host; switch it off first, or register another agent"
                ),
                surface,
            );
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn at(minute: u32) -> Instant {
        Instant::parse(&format!("2026-11-29T12:{minute:02}:00Z")).unwrap()
    }

    fn packet(agent: &str, host: &str, on: bool) -> ActivationPacket {
        build_host_loop_activation_packet(agent, host, on).unwrap()
    }

    fn set(entry: &mut Value, agent: &str, host: &str, on: bool, minute: u32) -> Result<()> {
        put(entry, &GoalId::trusted("g"), &packet(agent, host, on), None, at(minute))
    }

    #[test]
    fn the_packet_has_its_schema_and_three_fields() {
        let made = json!(packet("codex-app-001", "codex-app", true));
        assert_eq!(
            made,
            json!({"schema_version": "loopx_host_loop_activation_v1", "agent_id": "codex-app-001",
                "host_surface": "codex-app", "activated": true})
        );
        for (agent, host, code) in [
            ("", "codex-app", ErrorCode::AgentIdInvalid),
            ("9!", "codex-app", ErrorCode::AgentIdInvalid),
            ("a", "vscode9", ErrorCode::HostUnknown),
            ("a", "trae", ErrorCode::HostUnknown),
        ] {
            let error = build_host_loop_activation_packet(agent, host, true).unwrap_err();
            assert_eq!(error.code, code, "{agent} {host}");
        }
    }

    #[test]
    fn again_moves_only_the_instant_and_keeps_what_is_not_ours() {
        let mut entry = json!({"id": "g", "host_loop_activation":
            {"agent_id": "a", "host_surface": "codex_app_heartbeat", "activated": false, "theirs": 1}});
        set(&mut entry, "a", "codex-app", true, 1).unwrap();
        set(&mut entry, "b", "pi", true, 2).unwrap();
        let before = entry.clone();
        set(&mut entry, "b", "pi", true, 2).unwrap();
        assert_eq!(entry, before);
        let list = entry[FIELD].as_array().unwrap();
        assert_eq!(list.len(), 2);
        assert_eq!(list[0]["theirs"], 1);
        assert_eq!(list[0]["host_surface"], "codex-app");
        assert_eq!(list[0]["recorded_at"], "2026-11-29T12:01:00Z");
    }

    #[test]
    fn one_agent_loops_on_one_surface() {
        let mut entry = json!({"id": "g"});
        set(&mut entry, "a", "codex-cli", true, 1).unwrap();
        let before = entry.clone();
        let error = set(&mut entry, "a", "claude-code", true, 2).unwrap_err();
        assert_eq!((error.code, entry.clone()), (ErrorCode::ActivationConflict, before));
        assert_eq!(
            error.next_command(),
            "loopx heartbeat-prompt --host codex-cli --goal-id g --agent-id a --thin --deactivate"
        );
        set(&mut entry, "b", "claude-code", true, 3).unwrap();
        set(&mut entry, "a", "codex-cli", false, 4).unwrap();
        set(&mut entry, "a", "claude-code", true, 5).unwrap();
        let agent = AgentId::trusted("a");
        assert_eq!(Standing::of(&entry, &agent, Host::ClaudeCode).word(), "active");
        assert_eq!(Standing::of(&entry, &agent, Host::CodexCli).word(), "elsewhere");
        assert_eq!(Standing::of(&entry, &AgentId::trusted("z"), Host::Pi).word(), "missing");
    }

    #[test]
    fn another_thread_does_not_take_a_loop_over() {
        let mut entry = json!({"id": "g"});
        let goal = GoalId::trusted("g");
        let mut from = |thread: Option<&str>, on: bool| {
            put(&mut entry, &goal, &packet("a", "trae-app", on), thread, at(1)).map_err(|e| e.code)
        };
        assert_eq!(from(Some("t1"), true), Ok(()));
        assert_eq!(from(Some("t2"), true), Err(ErrorCode::ActivationConflict));
        assert_eq!(from(None, true), Ok(()));
        assert_eq!(from(Some("t2"), false), Ok(()));
        assert_eq!(from(Some("t2"), true), Ok(()));
    }

    /// What restricts and cannot be read still restricts.
    #[test]
    fn a_record_of_a_surface_that_we_do_not_know_still_stands() {
        let strange = json!({"agent_id": "a", "host_surface": "quantum-pad", "activated": "yes"});
        let mut entry = json!({"id": "g", FIELD: [strange, 7]});
        assert_eq!(unreadable(&entry), 1);
        let error = set(&mut entry, "a", "pi", true, 1).unwrap_err();
        assert_eq!(error.code, ErrorCode::ActivationConflict);
        set(&mut entry, "b", "pi", true, 1).unwrap();
        assert_eq!(entry[FIELD][0], strange);
        assert_eq!(entry[FIELD][1], 7);
        let mut odd = json!({"id": "g", FIELD: "on"});
        assert_eq!(set(&mut odd, "a", "pi", true, 1).unwrap_err().code, ErrorCode::RegistryShape);
        assert_eq!(odd[FIELD], "on");
    }
}
