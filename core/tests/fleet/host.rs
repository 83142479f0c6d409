//! One host of the simulation: its loop's row, and what it is doing.

use loopx_core::host_loop::{Binding, SessionKey, Surface};
use loopx_core::model::{AgentId, Instant, TodoId, TurnId};

/// A turn that the host's agent works on.
pub struct Work {
    pub turn: TurnId,
    pub todo: Option<TodoId>,
    /// True minute at which it is over.
    pub ends: i64,
}

pub struct Host {
    pub agent: AgentId,
    pub surface: &'static Surface,
    pub binding: Binding,
    /// Wall instant of its timer.
    pub timer: Option<Instant>,
    pub work: Option<Work>,
    /// True minute at which a crashed host is back.
    pub down_until: Option<i64>,
    /// Its last look found a gate, a full window or a stalled todo.
    pub held: bool,
    /// It sees commits of others at once.
    pub watches: bool,
}

impl Host {
    pub fn new(n: usize, now: Instant) -> Self {
        let surface = Surface::find(["pi", "shell", "opencode"][n]).unwrap();
        let agent = AgentId::trusted(format!("agent-{n}"));
        let key = SessionKey::of(surface.name, "session").unwrap();
        let binding = Binding::new(key, surface.name, Some(agent.clone()), now);
        Self {
            agent,
            surface,
            binding,
            timer: None,
            work: None,
            down_until: None,
            held: false,
            watches: n != 2,
        }
    }
}
