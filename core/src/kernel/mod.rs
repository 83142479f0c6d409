//! The kernel: the only door that other crates use. It finds the goal, reads or begins
//! a transaction, runs the pure command or decision, and makes the result durable.

mod activation;
mod changed;
mod goal;
mod host_poll;
mod hosts;
mod import;
mod leases;
mod leftovers;
mod lifecycle;
mod loop_session;
mod loops;
mod maintenance;
mod report;
mod snapshot;
mod start;
mod stores;
mod surface;
mod transfer;
mod verbs;
mod whereabouts;
mod write;

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::admission::packet::{Answer, answer};
use crate::admission::{AdmissionRequest, Detail, Situation, Subject, ViewQuery};
use crate::command::quota::SpendSlotRequest;
use crate::command::refresh::{RefreshStateRequest, refresh_state};
use crate::command::settle::TurnSettleRequest;
use crate::command::todo::{TodoAddRequest, TodoClaimRequest, TodoListRequest, TodoUpdateRequest};
use crate::command::todo_complete::{TodoCompleteRequest, complete};
use crate::command::turn::ShouldRunRequest;
use crate::command::{quota, todo, turn};
use crate::error::{Error, ErrorClass, ErrorCode, Result};
use crate::file::{HolderNote, patience};
use crate::host::install::{InstallRequest, Places};
use crate::model::todo::canonical_capability;
use crate::model::{AgentId, GoalPolicy, Instant, TurnId};
use crate::operation::{Addressed, Operation};
use crate::registry::{Registry, Route, RouteInput};
use crate::store::sqlite::SqliteOptions;

pub use activation::{HostLoopActivateRequest, ThreadRequest};
pub use changed::ChangedSinceRequest;
pub use lifecycle::{AgentListRequest, AgentRegisterRequest, GoalCreateRequest, GoalStopRequest};
pub use loop_session::LoopSession;
pub use maintenance::{
    MigrateRequest, Progress, Step, StoreBackupRequest, StoreCheckRequest, StorePruneRequest,
    StoreRestoreRequest,
};
pub use report::{DoctorRequest, OnPath, Surroundings, program_of};
pub use report::{EvidenceLogRequest, ExplainRequest, HistoryRequest};
pub use transfer::{ExportRequest, ImportRequest};
pub use verbs::{AcceptAddRequest, AcceptMeetRequest};
pub use whereabouts::Whereabouts;

use self::goal::Goal;
use self::snapshot::Snapshot;
use self::stores::Stores;
use self::write::Call;

/// Where time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The system's.
    System,
    /// Fixed for tests and replays; commits made under it are marked.
    Fixed(Instant),
}

/// How a kernel is opened.
#[derive(Clone, Debug)]
pub struct KernelOptions {
    /// What decides which registry and which runtime root.
    pub route: RouteInput,
    /// Time.
    pub clock: Clock,
    /// How long a call waits for locks and commits of other processes, see
    /// [`Kernel::as_one_call`].
    pub deadline: Duration,
    /// Who waits and holds, for lock holder records (`LOOPX_AGENT_ID`).
    pub label: Option<String>,
    /// The door works in a checkout of its own, apart from the goal's main one. What a
    /// question declares comes with the question; a write declares nothing else.
    pub independent_worktree: bool,
}

impl KernelOptions {
    /// Options with the system clock and a deadline of 30 seconds.
    pub fn new(route: RouteInput) -> Self {
        Self {
            route,
            clock: Clock::System,
            deadline: Duration::from_secs(30),
            label: None,
            independent_worktree: false,
        }
    }
}

/// The kernel on one registry.
#[derive(Debug)]
pub struct Kernel {
    options: KernelOptions,
    route: Route,
    stores: Stores,
    found: goal::Found,
    equal: surface::Equal,
}

impl Kernel {
    /// Opens the kernel on the registry that the route leads to. Reads nothing yet.
    ///
    /// Errors: [`ErrorCode::RegistryAmbiguous`].
    pub fn open(options: KernelOptions) -> Result<Self> {
        let route = options.route.registry()?;
        Ok(Self {
            options,
            route,
            stores: Stores::default(),
            found: goal::Found::default(),
            equal: surface::Equal::default(),
        })
    }

    /// Calls an operation by name with a JSON object; `goal_id` and `effect_id` stand
    /// beside the operation's own fields.
    ///
    /// A refusal of `quota.should_run` and `turn.admit` is an answer with `"ok":false`;
    /// every other refusal is an `Err`.
    pub fn call(&self, operation: &str, request: &Value) -> Result<Value> {
        Operation::find(operation)
            .ok_or_else(|| {
                Error::new(ErrorCode::RequestInvalid, "operation")
                    .message(format!("there is no operation {operation:?}"))
                    .next("loopx --help")
            })
            .and_then(|op| {
                self.as_one_call(|| self.run(op, request))
                    .map_err(|error| error.for_operation(op.name()))
            })
    }

    /// Runs `work` as one call: all that it waits for others, it waits within the deadline
    /// together. [`Kernel::call`] is one; methods that are called outside of it wait that
    /// long at each lock.
    pub fn as_one_call<T>(&self, work: impl FnOnce() -> T) -> T {
        patience::within(self.options.deadline, work)
    }

    /// The text of what [`Kernel::call`] answers. That of `quota.should_run`, which hosts ask
    /// again and again, is not built as a tree in between.
    pub fn call_text(&self, operation: &str, request: &Value) -> Result<String> {
        if Operation::find(operation) == Some(Operation::QuotaShouldRun) {
            let asked = body::<ShouldRunRequest>(request);
            let asked = asked.map_err(|error| error.for_operation(operation))?;
            let at = Addressed::of(request)?;
            if asked.turn_instance_id.is_none() {
                return Ok(self.as_one_call(|| self.decide_now(&at, &asked)).into_text());
            }
        }
        self.call(operation, request).map(|answer| answer.to_string())
    }

    fn run(&self, operation: Operation, request: &Value) -> Result<Value> {
        use Operation as Op;
        let at = Addressed::of(request)?;
        match operation {
            Op::TodoAdd => self.todo_add(&at, &body(request)?),
            Op::TodoList => self.todo_list(&at, &body(request)?),
            Op::TodoClaim => self.todo_claim(&at, &body(request)?),
            Op::TodoUpdate => self.todo_update(&at, &body(request)?),
            Op::TodoComplete => self.todo_complete(&at, &body(request)?),
            Op::QuotaShouldRun => Ok(self.should_run(&at, &body(request)?)),
            Op::TurnAdmit => Ok(self.turn_admit(&at, &body(request)?)),
            Op::TurnRenew => self.turn_renew(&at, &body(request)?),
            Op::LeaseAcquire => self.lease_acquire(&at, &body(request)?),
            Op::LeaseRenew => self.lease_renew(&at, &body(request)?),
            Op::LeaseTransfer => self.lease_transfer(&at, &body(request)?),
            Op::LeaseRelease => self.lease_release(&at, &body(request)?),
            Op::LeaseInspect => self.lease_inspect(&at, &body(request)?),
            Op::HandoffShow => self.handoff_show(&at),
            Op::HandoffSet => self.handoff_set(&at, &body(request)?),
            Op::TurnRelease => self.turn_release(&at, &body(request)?),
            Op::TurnShow => self.turn_show(&at, &body(request)?),
            Op::TurnSettle => self.turn_settle(&at, &body(request)?),
            Op::LoopStep => self.loop_step(&at, &body(request)?),
            Op::LoopShow => self.loop_show(&at, &body(request)?),
            Op::LoopUnbind => self.loop_unbind(&at, &body(request)?),
            Op::QuotaStatus => self.quota_status(&at),
            Op::QuotaSpendSlot => self.spend_slot(&at, &body(request)?),
            Op::RefreshState => self.refresh_state(&at, &body(request)?),
            Op::GoalCreate => self.goal_create(&at, &body(request)?),
            Op::GoalStop => self.goal_stop(&at, &body(request)?),
            Op::GoalResume => self.goal_resume(&at),
            Op::GoalList => self.goal_list(),
            Op::GoalShow => self.goal_show(&at),
            Op::GoalChangedSince => self.goal_changed_since(&at, &body(request)?),
            Op::GoalAdoptLegacy => self.adopt_legacy(&at),
            Op::AgentRegister => self.agent_register(&at, &body(request)?),
            Op::AgentList => self.agent_list(&at, &body(request)?),
            Op::GateList => self.gate_list(&at),
            Op::GateOpen => self.gate_open(&at, &body(request)?),
            Op::GateDecide => self.gate_decide(&at, &body(request)?),
            Op::GateGrants => self.gate_grants(&at),
            Op::GateWithdraw => self.gate_withdraw(&at, &body(request)?),
            Op::QuotaMonitorPoll => self.monitor_poll(&at, &body(request)?),
            Op::QuotaHostPoll => Ok(self.host_poll(&at, &body(request)?)),
            Op::QuotaSchedulerAck => self.scheduler_ack(&at, &body(request)?),
            Op::QuotaSchedulerFail => self.scheduler_fail(&at, &body(request)?),
            Op::QuotaVoidSlot => self.void_slot(&at, &body(request)?),
            Op::MonitorList => self.monitor_list(&at),
            Op::TodoSupersede => self.todo_supersede(&at, &body(request)?),
            Op::TodoArchive => self.todo_archive(&at, &body(request)?),
            Op::TodoArchiveCompleted => self.todo_archive_completed(&at, &body(request)?),
            Op::TodoCaptureFollowups => self.todo_capture_followups(&at, &body(request)?),
            Op::TodoSuggest => self.todo_suggest(&at, &body(request)?),
            Op::Feedback => self.feedback(&at, &body(request)?),
            Op::GoalAcceptAdd => self.goal_accept_add(&at, &body(request)?),
            Op::GoalAcceptMeet => self.goal_accept_meet(&at, &body(request)?),
            Op::GoalAcceptList => self.goal_accept_list(&at),
            Op::GoalStopAll => self.goal_stop_all(&at, &body(request)?),
            Op::Status => self.status(&at),
            Op::History => self.history(&at, &body(request)?),
            Op::EvidenceLog => self.evidence_log(&at, &body(request)?),
            Op::Diagnose => self.diagnose(&at),
            Op::Explain => self.explain(&at, &body(request)?),
            Op::QuotaPlan => self.quota_plan(&at),
            Op::Export => self.export(&at, &body(request)?),
            Op::StoreCheck => self.store_check(&at, &body(request)?, &|_| {}),
            Op::StoreBackup => self.store_backup(&at, &body(request)?, &|_| {}),
            Op::StoreRestore => self.store_restore(&at, &body(request)?),
            Op::StorePrune => self.store_prune(&at, &body(request)?, &|_| {}),
            Op::Migrate => self.migrate(&at, &body(request)?, &|_| {}),
            Op::Import => self.import(&body(request)?),
            Op::ConnectorsList => self.connectors_list(),
            Op::ConnectorsShow => self.connectors_show(&body(request)?),
            Op::ValueConnectorRun => self.value_connector_run(&body(request)?),
            Op::HostModePlan => self.host_mode_plan(&at, &body(request)?),
            Op::HeartbeatPrompt => self.heartbeat_prompt(&at, &body(request)?),
            Op::Doctor => self.doctor(&at, &body(request)?, &Surroundings::default()),
            Op::SlashCommands => Ok(crate::host::install::slash_commands()),
            Op::Install => {
                let asked: InstallRequest = body(request)?;
                let project = asked.project.as_deref().map(|p| self.options.route.cwd.join(p));
                crate::host::install::install(&asked, &Places { project, homes: Vec::new() })
            }
            Op::Init => self.init(&at, &body(request)?),
            Op::StartGoalPlan => self.start_goal_plan(&at, &body(request)?),
            Op::StartGoal => self.start_goal(&at, &body(request)?),
            Op::AgentOnboard => self.agent_onboard(&at, &body(request)?),
            Op::CommandPack => self.command_pack(&at, &body(request)?),
            Op::CodexCliMessage => self.codex_cli_message(&at, &body(request)?),
            Op::HostLoopActivate => self.host_loop_activate(&at, &body(request)?),
            Op::ThreadBind => self.thread_bind(&at, &body(request)?),
            Op::ThreadUnbind => self.thread_unbind(&at, &body(request)?),
            Op::ThreadResolve => self.thread_resolve(&at, &body(request)?),
        }
    }

    /// The instant of this call.
    fn now(&self) -> Instant {
        match self.options.clock {
            Clock::System => Instant::system_now(),
            Clock::Fixed(at) => at,
        }
    }

    /// Where its instants come from, for a door that waits for one.
    pub fn clock(&self) -> Clock {
        self.options.clock
    }

    fn fixed_clock(&self) -> bool {
        matches!(self.options.clock, Clock::Fixed(_))
    }

    fn holder(&self, operation: &str) -> HolderNote {
        HolderNote {
            operation: operation.to_owned(),
            agent: self.options.label.clone(),
            pid: std::process::id(),
            acquired_at: Some(self.now()),
        }
    }

    fn sqlite(&self) -> SqliteOptions {
        SqliteOptions { deadline: self.options.deadline, holder: self.holder("store") }
    }

    /// The registry of this kernel, read now.
    fn registry(&self) -> Result<Registry> {
        Registry::read(&self.route.registry)
    }

    /// Adds a todo.
    pub fn todo_add(&self, at: &Addressed, request: &TodoAddRequest) -> Result<Value> {
        let call = Call::new("todo.add", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| todo::add(scene, request))
    }

    /// Claims a todo.
    pub fn todo_claim(&self, at: &Addressed, request: &TodoClaimRequest) -> Result<Value> {
        let by = request.agent_id.as_deref().or(request.claimed_by.as_deref());
        let call = Call::new("todo.claim", at, request)?.by(by);
        self.write(&call, |scene| todo::claim(scene, request))
    }

    /// Changes a todo.
    pub fn todo_update(&self, at: &Addressed, request: &TodoUpdateRequest) -> Result<Value> {
        let call = Call::new("todo.update", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| todo::update(scene, request))
    }

    /// Completes a todo or decides a gate.
    pub fn todo_complete(&self, at: &Addressed, request: &TodoCompleteRequest) -> Result<Value> {
        let call = Call::new("todo.complete", at, request)?
            .by(request.agent_id.as_deref())
            .in_turn(request.turn_instance_id.as_deref())?;
        self.write(&call, |scene| {
            if let Some(text) = request.turn_instance_id.as_deref() {
                let agent = scene.actor(request.agent_id.as_deref())?;
                turn::require_bound(
                    scene,
                    &TurnId::parse(text)?,
                    agent.as_ref(),
                    Some(&scene.todo(&request.todo_id)?.todo_id),
                )?;
            }
            complete(scene, request)
        })
    }

    /// Lists todos; hand edits of the state file are included.
    pub fn todo_list(&self, at: &Addressed, request: &TodoListRequest) -> Result<Value> {
        let goal = self.goal(at.goal_id.as_deref())?;
        let snapshot = Snapshot::take(self, &goal, None)?;
        snapshot.require_readable()?;
        let overlaid = snapshot.overlaid_todos()?;
        todo::list(snapshot.read(), &goal.policy, overlaid, request)
    }

    /// Records what was delivered.
    pub fn refresh_state(&self, at: &Addressed, request: &RefreshStateRequest) -> Result<Value> {
        let call = Call::new("refresh_state", at, request)?
            .by(request.agent_id.as_deref())
            .in_turn(request.turn_instance_id.as_deref())?;
        self.write(&call, |scene| refresh_state(scene, request))
    }

    /// Spends slots, or previews it without `execute`.
    pub fn spend_slot(&self, at: &Addressed, request: &SpendSlotRequest) -> Result<Value> {
        if !request.execute {
            return self.preview(at, |scene| quota::spend_slot(scene, request));
        }
        let call = Call::new("quota.spend_slot", at, request)?
            .by(request.agent_id.as_deref())
            .in_turn(request.turn_instance_id.as_deref())?
            .spending();
        self.write(&call, |scene| quota::spend_slot(scene, request))
    }

    /// May the agent run? Writes nothing. With a turn id it is [`Kernel::turn_admit`].
    pub fn should_run(&self, at: &Addressed, request: &ShouldRunRequest) -> Value {
        if request.turn_instance_id.is_some() {
            return self.turn_admit(at, request);
        }
        self.decide_now(at, request).to_value()
    }

    /// Decides and binds the turn to the answer, in one commit; a repeat answers the same.
    pub fn turn_admit(&self, at: &Addressed, request: &ShouldRunRequest) -> Value {
        self.admit(at, request).unwrap_or_else(|error| {
            // The goal that was meant, also when it was not named.
            let meant = self.goal(at.goal_id.as_deref()).map(|g| g.policy.goal_id.to_string());
            let name = meant.ok().or_else(|| at.goal_id.clone()).unwrap_or_default();
            refused(&name, request, &error)
        })
    }

    fn decide_now(&self, at: &Addressed, request: &ShouldRunRequest) -> Answer {
        let now = self.now();
        let name = at.goal_id.clone().unwrap_or_default();
        let looked = self.goal_again(at.goal_id.as_deref()).and_then(|goal| {
            let asked = admission_request(&goal.policy, request)?;
            Ok((goal, asked))
        });
        match looked {
            Ok((goal, asked)) => {
                // A stopped or paused goal is answered from the registry alone.
                let query = ViewQuery {
                    now,
                    quota: goal.policy.quota,
                    complete: asked.wants(Detail::AgentTodos) || asked.wants(Detail::UserTodos),
                };
                let view = Snapshot::take(self, &goal, asked.agent.as_ref())
                    .and_then(|snapshot| snapshot.view(&query))
                    .unwrap_or_else(|error| snapshot::unhealthy(&error));
                let situation = Situation {
                    subject: Subject::Goal { policy: &goal.policy, view: &view },
                    request: &asked,
                    now,
                };
                answer(&situation, goal.policy.goal_id.as_str())
            }
            Err(error) => {
                // The goal that was meant, also when it was not named.
                let meant = self.goal(at.goal_id.as_deref()).map(|g| g.policy.goal_id.to_string());
                refusal(meant.as_deref().unwrap_or(&name), request, &error, now)
            }
        }
    }

    /// Extends a live turn.
    pub fn turn_renew(&self, at: &Addressed, request: &turn::TurnRequest) -> Result<Value> {
        let call = Call::new("turn.renew", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| turn::renew(scene, request))
    }

    /// Ends a turn without a settlement.
    pub fn turn_release(&self, at: &Addressed, request: &turn::TurnRequest) -> Result<Value> {
        let call = Call::new("turn.release", at, request)?.by(request.agent_id.as_deref());
        self.write(&call, |scene| turn::release(scene, request))
    }

    /// Shows a turn.
    pub fn turn_show(&self, at: &Addressed, request: &turn::TurnRequest) -> Result<Value> {
        self.look(at, |scene| turn::show(scene, request))
    }

    /// Settles a turn: todo, evidence, spend and receipt in one commit.
    pub fn turn_settle(&self, at: &Addressed, request: &TurnSettleRequest) -> Result<Value> {
        self.settle(at, request)
    }
}

/// The request's own fields; a wrong shape names the field.
fn body<T: DeserializeOwned>(request: &Value) -> Result<T> {
    serde_json::from_value(request.clone()).map_err(|e| {
        Error::new(ErrorCode::RequestInvalid, "request")
            .message(format!("the request is malformed: {e}"))
    })
}

/// A request as canonical JSON.
fn to_json<T: Serialize>(request: &T) -> Result<Value> {
    serde_json::to_value(request).map_err(|e| Error::new(ErrorCode::Internal, "request").detail(e))
}

/// Rule 3: who asks, canonical; and what it can.
fn admission_request(policy: &GoalPolicy, request: &ShouldRunRequest) -> Result<AdmissionRequest> {
    let agent = request
        .agent_id
        .as_deref()
        .map(|text| crate::command::registered(policy, text))
        .transpose()?;
    if let Some(context) = &request.execution_context {
        context.check()?;
    }
    Ok(AdmissionRequest {
        agent,
        capabilities: request
            .available_capabilities
            .iter()
            .map(|c| canonical_capability(c))
            .collect(),
        independent_worktree: request.independent_worktree,
        execution_context: request.execution_context.clone(),
        observed_rrule: request
            .app_automation_current_rrule
            .as_deref()
            .map(observed_rrule)
            .transpose()?,
        binding: false,
        turn_id: None,
        details: request.include_detail.iter().copied().collect(),
    })
}

/// A rule of a host that is shown again in the packet: short, and one of its kind.
fn observed_rrule(text: &str) -> Result<String> {
    let rule = crate::schedule::rrule::normalize(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || "=;:,+- ".contains(c);
    if rule.is_empty() || rule.len() > 120 || !rule.chars().all(plain) {
        return Err(Error::new(ErrorCode::QuotaValidationFailed, "app_automation_current_rrule")
            .message("a current rule is an RRULE such as FREQ=MINUTELY;INTERVAL=30"));
    }
    Ok(rule)
}

/// The failure payload of an admission question.
fn refusal(goal: &str, request: &ShouldRunRequest, error: &Error, now: Instant) -> Answer {
    let agent = request.agent_id.as_deref().and_then(|a| AgentId::parse(a).ok());
    let asked = AdmissionRequest { agent, ..AdmissionRequest::default() };
    answer(&Situation { subject: Subject::Refused(error), request: &asked, now }, goal)
}

fn refused(goal: &str, request: &ShouldRunRequest, error: &Error) -> Value {
    // The instant plays no part in a refusal.
    refusal(goal, request, error, Instant::default()).to_value()
}

/// Whether an error is about records that cannot be trusted: rule 6 answers it.
fn is_health(error: &Error) -> bool {
    matches!(error.row().class, ErrorClass::State | ErrorClass::Busy)
        && !error.code.is_of_registry()
        && error.code != ErrorCode::GoalDuplicated
}

/// The fields that every answer of a write has.
fn receipt(goal: &str, commit: u64, at: Instant, answer: serde_json::Map<String, Value>) -> Value {
    let mut value = json!({"ok": true, "goal_id": goal, "commit": commit, "at": at});
    if let Some(map) = value.as_object_mut() {
        map.extend(answer);
    }
    value
}
