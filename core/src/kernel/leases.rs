//! Leases and handoff modes as operations.

use serde_json::{Value, json};

use super::Kernel;
use super::write::Call;
use crate::command::lease::{self, HandoffSetRequest, LeaseRequest};
use crate::error::Result;
use crate::file::process;
use crate::model::HandoffMode;
use crate::operation::Addressed;

impl Kernel {
    /// Takes a lease.
    pub fn lease_acquire(&self, at: &Addressed, request: &LeaseRequest) -> Result<Value> {
        let holder = request.holder_pid.and_then(process::evidence);
        let call = Call::new("task_lease.acquire", at, request)?.by(request.owner.as_deref());
        self.write(&call, |scene| lease::acquire(scene, request, holder.clone()))
    }

    /// Extends a live lease.
    pub fn lease_renew(&self, at: &Addressed, request: &LeaseRequest) -> Result<Value> {
        let call = Call::new("task_lease.renew", at, request)?.by(request.owner.as_deref());
        self.write(&call, |scene| lease::renew(scene, request))
    }

    /// Hands a live lease to another agent.
    pub fn lease_transfer(&self, at: &Addressed, request: &LeaseRequest) -> Result<Value> {
        let call = Call::new("task_lease.transfer", at, request)?.by(request.owner.as_deref());
        self.write(&call, |scene| lease::transfer(scene, request))
    }

    /// Gives a lease back.
    pub fn lease_release(&self, at: &Addressed, request: &LeaseRequest) -> Result<Value> {
        let call = Call::new("task_lease.release", at, request)?.by(request.owner.as_deref());
        self.write(&call, |scene| lease::release(scene, request))
    }

    /// Shows a todo's lease.
    pub fn lease_inspect(&self, at: &Addressed, request: &LeaseRequest) -> Result<Value> {
        self.look(at, |scene| lease::inspect(scene, request))
    }

    /// Shows how work is handed over.
    pub fn handoff_show(&self, at: &Addressed) -> Result<Value> {
        self.look(at, |scene| {
            let mode = scene.read.handoff()?.unwrap_or(HandoffMode::Legacy);
            Ok(json!({"ok": true, "goal_id": scene.policy.goal_id, "mode": mode}))
        })
    }

    /// Sets how work is handed over.
    pub fn handoff_set(&self, at: &Addressed, request: &HandoffSetRequest) -> Result<Value> {
        let call = Call::new("handoff_mode.set", at, request)?;
        self.write(&call, |scene| lease::set_handoff(scene, request))
    }
}
