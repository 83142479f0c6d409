//! Follows a decision that no rule of this version makes: its contract goes through the kernel's own
//! arbitration to a hint, and the hint through the state machine of a host's loop. The tests of
//! other languages compare what comes out with their own reading of the same packet.
//!
//! Standard input: `{"decision", "surface", "at", "looks", "execution_context"}`; `decision` is a
//! packet without its hint, `surface` a `--host` word, `execution_context` may be absent. Standard
//! output: `[{"at", "packet", "action"}]`, one element for each look, the last one where the loop
//! neither waits nor looks again at once, or after that many looks.

use std::io::Read as _;
use std::process::ExitCode;

use loopx_core::host_loop::{
    Action, Binding, LoopEvent, Reading, SessionKey, Step, Surface, conclude, step,
};
use loopx_core::model::{AgentId, Instant};
use loopx_core::schedule::arbitration::Arbitration;
use loopx_core::schedule::{ExecutionContext, HintInput, HintSize};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match followed() {
        Ok(looks) => {
            println!("{looks}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn followed() -> Result<Value, Failure> {
    let mut asked = String::new();
    std::io::stdin().read_to_string(&mut asked)?;
    let asked: Value = serde_json::from_str(&asked)?;
    let text = |key: &str| asked.get(key).and_then(Value::as_str).ok_or(format!("no {key}"));
    let surface = Surface::find(text("surface")?).ok_or("no such surface")?;
    let mut at = Instant::parse(text("at")?).ok_or("at is no instant")?;
    let looks = asked.get("looks").and_then(Value::as_u64).ok_or("no looks")?;
    let context = match asked.get("execution_context") {
        None | Some(Value::Null) => None,
        Some(given) => Some(serde_json::from_value::<ExecutionContext>(given.clone())?),
    };
    let decision = asked.get("decision").ok_or("no decision")?;
    let agent = decision.pointer("/agent_identity/agent_id").and_then(Value::as_str);
    let key = SessionKey::of(surface.name, "follow")?;
    let mut binding = Binding::new(key, surface.name, agent.map(AgentId::trusted), at);
    let mut seen = Vec::new();
    for _ in 0..looks {
        let packet = hinted(decision, context.as_ref(), at);
        let (after, action) = after(&binding, &packet, surface, at);
        binding = after;
        seen.push(json!({"at": at, "packet": packet, "action": action}));
        match action {
            Action::Wait { until } => at = until,
            Action::Recheck => {}
            _ => break,
        }
    }
    Ok(Value::Array(seen))
}

/// The decision with the hint that it leads to.
fn hinted(decision: &Value, context: Option<&ExecutionContext>, now: Instant) -> Value {
    let word = |path: &str| decision.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let contract = decision.get("interaction_contract").unwrap_or(&Value::Null);
    let input = HintInput {
        goal_id: word("/goal_id"),
        goal_identity: word("/goal_id"),
        agent_id: decision.pointer("/agent_identity/agent_id").and_then(Value::as_str),
        effective_action: word("/effective_action"),
        recommended_mode: word("/heartbeat_recommendation/recommended_mode"),
        arbitration: Arbitration::read(contract),
        context,
        now,
        ..HintInput::default()
    };
    let mut packet = decision.clone();
    if let Some(map) = packet.as_object_mut() {
        map.insert("scheduler_hint".into(), json!(input.hint(HintSize::Full)));
    }
    packet
}

/// What a decision does to a loop. One that cannot be followed is a question that failed, as the
/// kernel's step has it.
fn after(binding: &Binding, packet: &Value, surface: &Surface, now: Instant) -> (Binding, Action) {
    let Ok(reading) = Reading::of(packet, surface, now) else {
        let failed = LoopEvent::ProbeFailed { retry_seconds: None };
        return match step(binding, &failed, surface, None, now).0 {
            Step::Done(binding, action) => (*binding, action),
            Step::Evaluate(binding) | Step::Resend(binding) => (*binding, Action::Idle),
        };
    };
    conclude(binding, &reading, None, now)
}
