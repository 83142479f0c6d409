//! `host-mode-plan`: which way of running fits what a person wants and what the host can,
//! and what is missing. A preview: it starts nothing, writes nothing and spends nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::catalog::Connector;
use super::find::{closest, fold};
use super::identity::{IdentityQuestion, IdentitySelection};
use super::mode::{HYBRID, MODES, Mode, SHARED_PROOFS, TRANSITIONS};
use super::row::{BodyKind, Host};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{AgentId, GoalId};

/// `host_mode_plan`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostModePlanRequest {
    /// What the person wants; the first one decides: watch_each_turn, continue_without_ui,
    /// intake_from_chat, timer_keepalive, escalate_between_modes. When absent, what the host
    /// does anyway.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intents: Vec<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// A connector of the catalogue to put into the turn's plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector: Option<String>,
    /// What the host can do: visible_session, loopx_turn, typed_host_adapter,
    /// independent_validator, chat_gateway, service_timer, shell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_capabilities: Vec<String>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The roster, where it is not the goal's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub registered_agents: Vec<String>,
    /// Show every mode whole, not the chosen one only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_modes: bool,
}

/// What hosts can do, each known because a mode needs it.
fn capabilities() -> Vec<&'static str> {
    let mut all: Vec<&str> = MODES.iter().flat_map(|m| m.needs.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn token(text: &str) -> String {
    fold(text).replace('-', "_")
}

/// A word of a closed list, or what it was probably meant to be.
fn one_of(field: &'static str, text: &str, known: &[&'static str]) -> Result<&'static str> {
    let wanted = token(text);
    if let Some(found) = known.iter().find(|k| **k == wanted) {
        return Ok(found);
    }
    let shown: String = text.chars().take(40).flat_map(char::escape_default).collect();
    let near = closest(&wanted, known.iter().copied())
        .map_or_else(|| known.join(", "), |near| format!("did you mean {near}?"));
    Err(Error::new(ErrorCode::HostModeInvalid, field)
        .message(format!("{field} cannot be \"{shown}\": {near}")))
}

/// The question with its words resolved.
struct Question<'a> {
    goal: Option<&'a GoalId>,
    host: Option<Host>,
    has: Vec<&'static str>,
    identity: IdentitySelection,
}

/// How one mode would do.
struct ModeOption<'a> {
    mode: &'a Mode,
    connector: Option<&'static str>,
    missing: Vec<&'static str>,
    blocking: Vec<String>,
}

impl ModeOption<'_> {
    fn ready(&self) -> bool {
        self.blocking.is_empty()
    }
}

impl Question<'_> {
    /// A host that a person can watch.
    fn visible_host(&self) -> Option<Host> {
        self.host.filter(|h| {
            let row = h.row();
            let headless = row.context().is_none_or(|c| c.execution_mode == "isolated_headless");
            row.body.is_goal() || row.body == BodyKind::AppHeartbeat || !headless
        })
    }

    fn option<'a>(&self, mode: &'a Mode) -> ModeOption<'a> {
        let host = self.visible_host();
        let connector = match mode.visible {
            true => host.and_then(|h| h.row().connector_id()),
            false => mode.connector,
        };
        let missing: Vec<&str> =
            mode.needs.iter().filter(|n| !self.has.contains(n)).copied().collect();
        let mut blocking: Vec<String> =
            missing.iter().map(|need| format!("missing_host_capability:{need}")).collect();
        if mode.visible && host.is_none() {
            blocking.push(match self.host {
                None => "host_identity_required".into(),
                Some(host) => format!("host_not_visible:{}", host.name()),
            });
        }
        if !self.identity.activation_allowed {
            blocking.push(format!("identity:{}", self.identity.state));
        }
        if mode.name == HYBRID {
            let ready = MODES.iter().filter(|m| m.name != HYBRID && self.option(m).ready()).count();
            if ready < 2 {
                blocking.push("two_ready_modes_required".into());
            }
        }
        ModeOption { mode, connector, missing, blocking }
    }

    /// The decision that the mode's loop would ask for: a read.
    fn guard(&self, mode: &Mode) -> String {
        let mut command = String::from("loopx quota should-run");
        if let Some(goal) = self.goal {
            command.push_str(&format!(" --goal-id {goal}"));
        }
        if let Some(agent) = &self.identity.selected_agent_id {
            command.push_str(&format!(" --agent-id {agent}"));
        }
        let profile = match mode.visible {
            true => self.visible_host().and_then(|h| h.row().profile),
            false => mode.profile,
        };
        if let Some(profile) = profile {
            command.push_str(&format!(" --runtime-profile {profile}"));
        }
        command
    }

    fn turn_host(&self, mode: &Mode) -> Option<&'static str> {
        match (mode.visible, mode.profile) {
            (true, _) => self.visible_host().map(Host::name),
            (false, Some(_)) if mode.name != HYBRID => Some(Host::Turn.name()),
            (false, _) => None,
        }
    }

    fn mapping(&self, option: &ModeOption<'_>) -> Value {
        let host = self.turn_host(option.mode);
        json!({
            "host": host,
            "execution_mode": option.mode.execution_mode,
            "scheduler_owner": option.mode.scheduler_owner,
            "plan_command": host.map(|_| self.guard(option.mode)),
        })
    }

    fn shown(&self, option: &ModeOption<'_>, whole: bool) -> Value {
        let mut map = Map::new();
        map.insert("mode".into(), json!(option.mode.name));
        map.insert("connector_id".into(), json!(option.connector));
        map.insert("capability_ready".into(), json!(option.ready()));
        if whole {
            map.insert("missing_host_capabilities".into(), json!(option.missing));
            map.insert("blocking_reasons".into(), json!(option.blocking));
            map.insert("turn_mapping".into(), self.mapping(option));
            map.insert("required_proofs".into(), json!(proofs(option.mode)));
        }
        Value::Object(map)
    }

    /// What the operator does next, in order. No step spends.
    fn steps(&self, option: &ModeOption<'_>) -> Vec<Value> {
        let guard = self.guard(option.mode);
        let mut steps: Vec<(&str, String, Option<String>)> = Vec::new();
        if option.ready() {
            match option.mode.name {
                HYBRID => steps.push((
                    "preview",
                    "look at both modes before changing".into(),
                    Some(guard.clone()),
                )),
                "im_gateway" => {
                    steps.push((
                        "intake",
                        "write what the chat brings as todos or gates".into(),
                        Some("loopx todo add --help".into()),
                    ));
                    steps.push((
                        "state_preview",
                        "look at the decision".into(),
                        Some(guard.clone()),
                    ));
                }
                _ => {
                    steps.push((
                        "state_preview",
                        "look at the goal".into(),
                        Some("loopx status".into()),
                    ));
                    steps.push((
                        "turn_preview",
                        "look at the decision".into(),
                        Some(guard.clone()),
                    ));
                }
            }
            steps.push(("handoff_gate", "start the host, or let it go on".into(), None));
        } else {
            steps.push(("stop", format!("not ready: {}", option.blocking.join(", ")), None));
            // Which host it is comes before what that host lacks.
            let known = !option.mode.visible || self.visible_host().is_some();
            let missing: &[&str] = if known { &option.missing } else { &[] };
            for need in missing {
                steps.push((
                    "capability_gap",
                    format!("give the host {need}, and say so with --host-capability {need}"),
                    None,
                ));
            }
            match option.mode.name {
                HYBRID => steps.push(("handoff_gate", "get two other modes ready".into(), None)),
                _ if missing.is_empty() => {}
                _ => steps.push((
                    "repreview",
                    "plan again".into(),
                    Some("loopx host-mode-plan --help".into()),
                )),
            }
        }
        steps
            .into_iter()
            .enumerate()
            .map(|(at, (kind, action, command))| {
                json!({"step": at + 1, "kind": kind, "action": action, "command": command, "no_spend": true})
            })
            .collect()
    }
}

fn proofs(mode: &Mode) -> Vec<&'static str> {
    SHARED_PROOFS.iter().chain(mode.proofs).copied().collect()
}

/// The mode that a host runs in when nobody says what is wanted.
fn usual_mode(host: Host) -> &'static str {
    match host {
        Host::Shell => "timer_keepalive",
        Host::Webhook | Host::ComputerUse => "intake_from_chat",
        Host::Turn | Host::Dsh | Host::WorkerBridge => "continue_without_ui",
        _ => "watch_each_turn",
    }
}

/// The plan. `goal` and `roster` are those of the registry, where it has the goal.
///
/// # Errors
///
/// [`ErrorCode::HostModeInvalid`] about `user_intent` or `host_capabilities`,
/// [`ErrorCode::HostUnknown`], [`ErrorCode::ConnectorUnknown`],
/// [`ErrorCode::ConnectorNotIntegrated`].
pub fn plan(
    request: &HostModePlanRequest,
    goal: Option<&GoalId>,
    roster: &[AgentId],
) -> Result<Value> {
    let intents: Vec<&str> = MODES.iter().map(|m| m.intent).collect();
    let given: Vec<&str> = request
        .intents
        .iter()
        .map(|i| one_of("user_intent", i, &intents))
        .collect::<Result<_>>()?;
    let known = capabilities();
    let mut has: Vec<&str> = Vec::new();
    for capability in &request.host_capabilities {
        let found = one_of("host_capabilities", capability, &known)?;
        if !has.contains(&found) {
            has.push(found);
        }
    }
    let host = request.host.as_deref().map(super::find).transpose()?;
    let intent = given.first().copied().or_else(|| host.map(usual_mode)).ok_or_else(|| {
        Error::new(ErrorCode::HostModeInvalid, "user_intent")
            .message(format!("say what is wanted: {}", intents.join(", ")))
            .next("add --intent watch_each_turn, or name the host with --host")
    })?;
    let injected = request.connector.as_deref().map(Connector::find).transpose()?;
    if let Some(Connector::Candidate(candidate)) = injected {
        return Err(candidate.not_integrated());
    }
    let named: Vec<AgentId> =
        request.registered_agents.iter().map(|a| AgentId::parse(a)).collect::<Result<_>>()?;
    let registered: &[AgentId] = if named.is_empty() { roster } else { &named };
    let requested = request.agent_id.as_deref().map(AgentId::parse).transpose()?;
    let identity = IdentitySelection::choose(&IdentityQuestion {
        registered,
        requested,
        ..IdentityQuestion::default()
    });
    let question = Question { goal, host, has, identity };
    let mode = MODES.iter().find(|m| m.intent == intent);
    let Some(mode) = mode else { return Err(Error::new(ErrorCode::Internal, "host mode")) };
    let chosen = question.option(mode);
    let options: Vec<Value> = MODES
        .iter()
        .map(|m| question.shown(&question.option(m), request.all_modes || m.name == mode.name))
        .collect();
    let transitions: Vec<Value> = TRANSITIONS
        .iter()
        .filter(|(from, to)| request.all_modes || mode.name == HYBRID || *from == mode.name || *to == mode.name)
        .map(|(from, to)| {
            let ready = MODES.iter().any(|m| m.name == *to && question.option(m).ready());
            json!({"from": from, "to": to, "target_ready": ready, "preserves_agent_id": true, "spends_quota": false})
        })
        .collect();
    let guard = question.guard(mode);
    let mut mapping = question.mapping(&chosen);
    if let (Some(connector), Some(map)) = (injected, mapping.as_object_mut()) {
        map.insert("connector".into(), connector.to_json());
    }
    Ok(json!({
        "ok": true,
        "schema_version": "host_mode_plan_v0",
        "mode": "dry_run_host_mode_selector",
        "goal_id": goal,
        "agent_id": question.identity.selected_agent_id,
        "agent_model": question.identity.agent_model,
        "identity_contract": question.identity,
        "user_intent": intent,
        "host_identity": question.host,
        "host_capabilities": question.has,
        "selected_mode": mode.name,
        "selected_connector_id": chosen.connector,
        "connector_id": injected.map(|c| c.id()),
        "selected_capability_ready": chosen.ready(),
        "selected_missing_host_capabilities": chosen.missing,
        "selected_blocking_reasons": chosen.blocking,
        "selected_turn_mapping": mapping,
        "mode_options": options,
        "transitions": transitions,
        "operator_next_steps": question.steps(&chosen),
        "guard_command": guard,
        "next_preview_command": guard,
        "no_spend_policy": {"plan": true, "preview": true, "cadence_change": true},
        "boundary": {"starts_process": false, "writes_state": false, "spends_quota": false},
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn ask(
        host: Option<&str>,
        intents: &[&str],
        has: &[&str],
        connector: Option<&str>,
    ) -> Result<Value> {
        plan(
            &HostModePlanRequest {
                intents: intents.iter().map(|i| (*i).to_owned()).collect(),
                host: host.map(str::to_owned),
                connector: connector.map(str::to_owned),
                host_capabilities: has.iter().map(|c| (*c).to_owned()).collect(),
                ..HostModePlanRequest::default()
            },
            Some(&GoalId::trusted("demo")),
            &[AgentId::trusted("agent-a")],
        )
    }

    #[test]
    fn a_connector_is_put_into_the_turns_plan() {
        let said = ask(Some("opencode"), &[], &[], Some("github_public_probe")).unwrap();
        assert_eq!(said["connector_id"], "github_public_probe");
        assert_eq!(said["selected_turn_mapping"]["connector"]["id"], "github_public_probe");
        assert_eq!(said["selected_connector_id"], "opencode_goal_loop");
        assert_eq!(said["selected_mode"], "visible_tui");
        let wrong = ask(Some("opencode"), &[], &[], Some("github_public_prope")).unwrap_err();
        assert_eq!(wrong.row().text, "ConnectorNotFoundError");
        assert!(wrong.text().contains("github_public_probe"));
        let candidate = ask(None, &["watch_each_turn"], &[], Some("official_xmcp")).unwrap_err();
        assert_eq!(candidate.code, ErrorCode::ConnectorNotIntegrated);
    }

    #[test]
    fn every_host_has_a_plan_and_its_connector() {
        for host in Host::ALL {
            let said = ask(Some(host.name()), &[], &capabilities(), None).unwrap();
            assert_eq!(said["selected_capability_ready"], true, "{said:#}");
            assert!(said.to_string().len() < 6_000, "{}: {}", host.name(), said.to_string().len());
            let visible = said["selected_mode"] == "visible_tui";
            if visible {
                assert_eq!(said["selected_connector_id"], json!(host.row().connector_id()));
            }
        }
        let headless =
            ask(Some("shell"), &["watch_each_turn"], &["visible_session"], None).unwrap();
        assert_eq!(headless["selected_blocking_reasons"], json!(["host_not_visible:shell"]));
    }

    #[test]
    fn slips_are_typed_and_about_their_field() {
        let about = |e: Error| (e.code, e.about);
        assert_eq!(
            about(ask(None, &["x"], &[], None).unwrap_err()),
            (ErrorCode::HostModeInvalid, "user_intent".into())
        );
        assert_eq!(
            about(ask(None, &[], &[], None).unwrap_err()),
            (ErrorCode::HostModeInvalid, "user_intent".into())
        );
        assert_eq!(
            about(ask(None, &["watch_each_turn"], &["root"], None).unwrap_err()),
            (ErrorCode::HostModeInvalid, "host_capabilities".into())
        );
        assert_eq!(
            about(ask(Some("zed"), &[], &[], None).unwrap_err()),
            (ErrorCode::HostUnknown, "host".into())
        );
    }
}
