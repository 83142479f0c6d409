//! JSON Schemas of what doors send and of the packet, generated from the types that the
//! kernel itself reads and writes.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::admission::packet::Packet;
use crate::command::archive::{TodoArchiveCompletedRequest, TodoArchiveRequest};
use crate::command::feedback::FeedbackRequest;
use crate::command::followups::CaptureFollowupsRequest;
use crate::command::gate::{GateDecideRequest, GateOpenRequest, GateWithdrawRequest};
use crate::command::lease::{HandoffSetRequest, LeaseRequest};
use crate::command::loops::{LoopRequest, LoopStepRequest, LoopsShown};
use crate::command::monitor::MonitorPollRequest;
use crate::command::quota::SpendSlotRequest;
use crate::command::refresh::RefreshStateRequest;
use crate::command::schedule::{SchedulerAckRequest, SchedulerFailRequest};
use crate::command::settle::TurnSettleRequest;
use crate::command::suggest::TodoSuggestRequest;
use crate::command::supersede::TodoSupersedeRequest;
use crate::command::todo::{TodoAddRequest, TodoClaimRequest, TodoListRequest, TodoUpdateRequest};
use crate::command::todo_complete::TodoCompleteRequest;
use crate::command::turn::{ShouldRunRequest, TurnRequest};
use crate::command::void::VoidSlotRequest;
use crate::host::catalog::{ConnectorShowRequest, ValueConnectorRunRequest};
use crate::host::install::InstallRequest;
use crate::host::mode_plan::HostModePlanRequest;
use crate::host_loop::{Action, LoopEvent, Notice};
use crate::kernel::{
    AcceptAddRequest, AcceptMeetRequest, AgentListRequest, AgentRegisterRequest,
    ChangedSinceRequest, DoctorRequest, EvidenceLogRequest, ExplainRequest, ExportRequest,
    GoalCreateRequest, GoalStopRequest, HistoryRequest, HostLoopActivateRequest, ImportRequest,
    MigrateRequest, StoreBackupRequest, StoreCheckRequest, StorePruneRequest, StoreRestoreRequest,
    ThreadRequest,
};
use crate::operation::{Access, Operation};
use crate::prompt::HeartbeatPromptRequest;
use crate::start::pack::{AgentOnboardRequest, CommandPackRequest};
use crate::start::{InitRequest, StartGoalRequest};

/// A request without fields of its own.
#[derive(JsonSchema)]
struct Nothing {}

type Make = fn() -> Schema;

/// The request of every operation.
const REQUESTS: &[(Operation, Make)] = &[
    (Operation::TodoAdd, of::<TodoAddRequest>),
    (Operation::TodoList, of::<TodoListRequest>),
    (Operation::TodoClaim, of::<TodoClaimRequest>),
    (Operation::TodoUpdate, of::<TodoUpdateRequest>),
    (Operation::TodoComplete, of::<TodoCompleteRequest>),
    (Operation::QuotaShouldRun, of::<ShouldRunRequest>),
    (Operation::TurnAdmit, of::<ShouldRunRequest>),
    (Operation::LoopStep, of::<LoopStepRequest>),
    (Operation::LoopShow, of::<LoopRequest>),
    (Operation::LoopUnbind, of::<LoopRequest>),
    (Operation::QuotaStatus, of::<Nothing>),
    (Operation::QuotaPlan, of::<Nothing>),
    (Operation::QuotaSpendSlot, of::<SpendSlotRequest>),
    (Operation::RefreshState, of::<RefreshStateRequest>),
    (Operation::GoalCreate, of::<GoalCreateRequest>),
    (Operation::GoalStop, of::<GoalStopRequest>),
    (Operation::GoalResume, of::<Nothing>),
    (Operation::GoalList, of::<Nothing>),
    (Operation::GoalShow, of::<Nothing>),
    (Operation::GoalChangedSince, of::<ChangedSinceRequest>),
    (Operation::GoalAdoptLegacy, of::<Nothing>),
    (Operation::AgentRegister, of::<AgentRegisterRequest>),
    (Operation::AgentList, of::<AgentListRequest>),
    (Operation::TurnRenew, of::<TurnRequest>),
    (Operation::TurnRelease, of::<TurnRequest>),
    (Operation::TurnShow, of::<TurnRequest>),
    (Operation::TurnSettle, of::<TurnSettleRequest>),
    (Operation::LeaseAcquire, of::<LeaseRequest>),
    (Operation::LeaseRenew, of::<LeaseRequest>),
    (Operation::LeaseTransfer, of::<LeaseRequest>),
    (Operation::LeaseRelease, of::<LeaseRequest>),
    (Operation::LeaseInspect, of::<LeaseRequest>),
    (Operation::HandoffShow, of::<Nothing>),
    (Operation::HandoffSet, of::<HandoffSetRequest>),
    (Operation::GateList, of::<Nothing>),
    (Operation::GateOpen, of::<GateOpenRequest>),
    (Operation::GateDecide, of::<GateDecideRequest>),
    (Operation::GateGrants, of::<Nothing>),
    (Operation::GateWithdraw, of::<GateWithdrawRequest>),
    (Operation::QuotaMonitorPoll, of::<MonitorPollRequest>),
    (Operation::QuotaHostPoll, of::<ShouldRunRequest>),
    (Operation::QuotaSchedulerAck, of::<SchedulerAckRequest>),
    (Operation::QuotaSchedulerFail, of::<SchedulerFailRequest>),
    (Operation::QuotaVoidSlot, of::<VoidSlotRequest>),
    (Operation::MonitorList, of::<Nothing>),
    (Operation::TodoSupersede, of::<TodoSupersedeRequest>),
    (Operation::TodoArchive, of::<TodoArchiveRequest>),
    (Operation::TodoArchiveCompleted, of::<TodoArchiveCompletedRequest>),
    (Operation::TodoCaptureFollowups, of::<CaptureFollowupsRequest>),
    (Operation::TodoSuggest, of::<TodoSuggestRequest>),
    (Operation::Feedback, of::<FeedbackRequest>),
    (Operation::GoalAcceptAdd, of::<AcceptAddRequest>),
    (Operation::GoalAcceptMeet, of::<AcceptMeetRequest>),
    (Operation::GoalAcceptList, of::<Nothing>),
    (Operation::GoalStopAll, of::<GoalStopRequest>),
    (Operation::StoreCheck, of::<StoreCheckRequest>),
    (Operation::StoreBackup, of::<StoreBackupRequest>),
    (Operation::StoreRestore, of::<StoreRestoreRequest>),
    (Operation::StorePrune, of::<StorePruneRequest>),
    (Operation::Migrate, of::<MigrateRequest>),
    (Operation::Status, of::<Nothing>),
    (Operation::History, of::<HistoryRequest>),
    (Operation::EvidenceLog, of::<EvidenceLogRequest>),
    (Operation::Diagnose, of::<Nothing>),
    (Operation::Explain, of::<ExplainRequest>),
    (Operation::Export, of::<ExportRequest>),
    (Operation::Import, of::<ImportRequest>),
    (Operation::ConnectorsList, of::<Nothing>),
    (Operation::ConnectorsShow, of::<ConnectorShowRequest>),
    (Operation::ValueConnectorRun, of::<ValueConnectorRunRequest>),
    (Operation::HostModePlan, of::<HostModePlanRequest>),
    (Operation::HeartbeatPrompt, of::<HeartbeatPromptRequest>),
    (Operation::Doctor, of::<DoctorRequest>),
    (Operation::SlashCommands, of::<Nothing>),
    (Operation::Install, of::<InstallRequest>),
    (Operation::Init, of::<InitRequest>),
    (Operation::StartGoalPlan, of::<StartGoalRequest>),
    (Operation::StartGoal, of::<StartGoalRequest>),
    (Operation::AgentOnboard, of::<AgentOnboardRequest>),
    (Operation::CommandPack, of::<CommandPackRequest>),
    (Operation::CodexCliMessage, of::<CommandPackRequest>),
    (Operation::HostLoopActivate, of::<HostLoopActivateRequest>),
    (Operation::ThreadBind, of::<ThreadRequest>),
    (Operation::ThreadUnbind, of::<ThreadRequest>),
    (Operation::ThreadResolve, of::<ThreadRequest>),
];

/// The schema of a type with everything it needs inside, so that it can be read alone.
fn of<T: JsonSchema>() -> Schema {
    whole().into_generator().into_root_schema_for::<T>()
}

fn whole() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true)
}

/// The schema of an operation's request: its own fields, and beside them those that every
/// request has.
pub fn request(operation: Operation) -> Option<Value> {
    let (_, make) = REQUESTS.iter().find(|(op, _)| *op == operation)?;
    let access = Operation::TABLE.iter().find(|(op, ..)| *op == operation).map(|row| row.2)?;
    let mut schema = make().to_value();
    let map = schema.as_object_mut()?;
    map.insert("title".into(), json!(operation.name()));
    let properties = map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let own = std::mem::take(properties.as_object_mut()?);
    let mut all = Map::new();
    all.insert(
        "goal_id".into(),
        json!({"type": ["string", "null"], "description": "The goal; the registry's only one when absent."}),
    );
    if access == Access::Write {
        all.insert(
            "effect_id".into(),
            json!({"type": ["string", "null"], "description": "Makes a repeat of the same write answer the first receipt."}),
        );
    }
    all.extend(own);
    *properties = Value::Object(all);
    Some(schema)
}

/// The schemas of what a host's loop is told and answers, each with its name.
pub fn loops() -> Vec<(&'static str, Value)> {
    let make = |schema: Schema| schema.to_value();
    let said = || whole().for_serialize().into_generator();
    vec![
        ("LoopEvent", make(of::<LoopEvent>())),
        ("LoopAction", make(said().into_root_schema_for::<Action>())),
        ("LoopNotice", make(said().into_root_schema_for::<Notice>())),
        ("LoopsShown", make(said().into_root_schema_for::<LoopsShown>())),
    ]
}

/// The schema of the packet that `quota.should_run` and `turn.admit` answer.
pub fn packet() -> Value {
    // What is written: a field that is left out when it is empty is not required.
    whole().for_serialize().into_generator().into_root_schema_for::<Packet>().to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_request_schema() {
        let missing: Vec<&str> = Operation::TABLE
            .iter()
            .filter(|(op, ..)| request(*op).is_none())
            .map(|(_, name, ..)| *name)
            .collect();
        assert!(missing.is_empty(), "add to REQUESTS in core/src/schema.rs: {missing:?}");
    }
}
