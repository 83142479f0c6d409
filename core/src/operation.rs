//! The table of operations: every door speaks these names. An operation is a read or a
//! write, never both.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorCode, Result};
use crate::host::closest;

/// What an operation does to state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Nothing.
    Read,
    /// It may change it.
    Write,
}

macro_rules! operations {
    ($($variant:ident $name:literal $access:ident $doc:literal;)*) => {
        /// An operation of the kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operation {
            $(#[doc = $doc] $variant,)*
        }

        impl Operation {
            /// Every operation: value, name, access, one sentence.
            pub const TABLE: &'static [(Self, &'static str, Access, &'static str)] =
                &[$((Self::$variant, $name, Access::$access, $doc)),*];
        }
    };
}

/// The refusal of a request's field that its operation does not have, for doors that know which
/// ones it has.
pub fn field_unknown<'a>(
    operation: &str,
    field: &str,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    let shown: String = field.chars().take(40).flat_map(char::escape_default).collect();
    let mut sentence = format!("{operation} has no field \"{shown}\"");
    if let Some(near) = closest(field, known) {
        sentence.push_str(&format!("; the closest is {near}"));
    }
    Error::new(ErrorCode::RequestInvalid, shown)
        .message(sentence)
        .next(format!("loopx schema {operation}"))
}

operations! {
    TodoAdd "todo.add" Write "Adds a todo; an unfinished one of the same text is updated instead.";
    TodoList "todo.list" Read "Lists todos, hand edits of the state file included.";
    TodoClaim "todo.claim" Write "Claims a todo for one agent; the first claim wins.";
    TodoUpdate "todo.update" Write "Changes a todo.";
    TodoComplete "todo.complete" Write "Finishes a todo, or decides a gate.";
    QuotaShouldRun "quota.should_run" Read "Says whether an agent may run, and on what.";
    TurnAdmit "turn.admit" Write "Decides and binds a turn id to the answer.";
    TurnRenew "turn.renew" Write "Extends a live turn.";
    TurnRelease "turn.release" Write "Ends a turn without a settlement.";
    TurnShow "turn.show" Read "Shows a turn.";
    TurnSettle "turn.settle" Write "Settles a turn: todo, evidence, spend and receipt in one commit.";
    LeaseAcquire "task_lease.acquire" Write "Takes a lease on a todo.";
    LeaseRenew "task_lease.renew" Write "Extends a live lease.";
    LeaseTransfer "task_lease.transfer" Write "Hands a live lease to another agent.";
    LeaseRelease "task_lease.release" Write "Gives a lease back.";
    LeaseInspect "task_lease.inspect" Read "Shows a todo's lease.";
    HandoffShow "handoff_mode.show" Read "Shows how work is handed over.";
    HandoffSet "handoff_mode.set" Write "Sets how work is handed over.";
    LoopStep "loop.step" Write "Tells a host's loop what happened; says what the host does next.";
    LoopShow "loop.show" Read "Shows how the loops of hosts stand.";
    LoopUnbind "loop.unbind" Write "Takes a host's session off its goal.";
    QuotaStatus "quota.status" Read "Shows the windows.";
    QuotaSpendSlot "quota.spend_slot" Write "Spends slots for a delivered outcome.";
    RefreshState "refresh_state" Write "Records what was delivered.";
    GoalCreate "goal.create" Write "Creates a goal.";
    GoalStop "goal.stop" Write "Stops a goal: nothing of it starts any more.";
    GoalResume "goal.resume" Write "Resumes a stopped goal.";
    GoalList "goal.list" Read "Lists the registry's goals.";
    GoalShow "goal.show" Read "Shows one goal.";
    GoalChangedSince "goal.changed_since" Read "Says whether a goal changed since a commit.";
    GoalAdoptLegacy "goal.adopt_legacy" Write "Takes in what the earlier tool wrote after the import.";
    AgentRegister "agent.register" Write "Adds agents to a goal's roster.";
    AgentList "agent.list" Read "Lists a goal's agents.";
    GateList "gate.list" Read "Lists what waits for a person, oldest first, and what it blocks.";
    GateOpen "gate.open" Write "Asks a person, and holds back what the gate names until the decision.";
    GateDecide "gate.decide" Write "Decides a gate: approve, reject or cancel.";
    GateGrants "gate.grants" Read "Lists the grants that hold.";
    GateWithdraw "gate.withdraw" Write "Withdraws a grant.";
    QuotaMonitorPoll "quota.monitor_poll" Write "Records a look at a monitor; never spends.";
    QuotaHostPoll "quota.host_poll" Write "Decides, and records that a host polled; never spends.";
    QuotaSchedulerAck "quota.scheduler_ack" Write "Records that an app host has set its schedule; never spends.";
    QuotaSchedulerFail "quota.scheduler_fail" Write "Records that an app host could not set its schedule; never spends.";
    QuotaVoidSlot "quota.void_slot" Write "Takes a spend back.";
    MonitorList "monitor.list" Read "Lists a goal's monitors and when each is due.";
    TodoSupersede "todo.supersede" Write "Closes a todo in favour of another.";
    TodoArchive "todo.archive" Write "Takes a done todo off the state file.";
    TodoArchiveCompleted "todo.archive_completed" Write "Takes all but the last done todos off the state file.";
    TodoCaptureFollowups "todo.capture_followups" Write "Adds what came to light while a todo was worked on.";
    TodoSuggest "todo.suggest" Read "Says what an agent that plans should look at.";
    Feedback "feedback" Write "Records what a person says about the work; an agent is to think again.";
    GoalAcceptAdd "goal.accept_add" Write "Adds an entry to a goal's acceptance list.";
    GoalAcceptMeet "goal.accept_meet" Write "Marks an acceptance entry as met.";
    GoalAcceptList "goal.accept_list" Read "Lists a goal's acceptance entries.";
    GoalStopAll "goal.stop_all" Write "Stops every goal of the registry.";
    Status "status" Read "Shows one goal in whole, or a row of every goal.";
    History "history" Read "Lists commits, newest first.";
    EvidenceLog "evidence_log" Read "Lists evidence, outcomes and spends, newest first.";
    Diagnose "diagnose" Read "Says what is wrong and how to mend it.";
    Explain "explain" Read "Says why an agent may or may not run, and what would change it.";
    QuotaPlan "quota.plan" Read "Groups goals by urgency and names the next turn.";
    Export "export" Read "Writes a goal as one JSON file.";
    StoreCheck "store.check" Read "Compares a store with itself and with what lies beside it.";
    StoreBackup "store.backup" Read "Writes a consistent copy of a goal to a folder.";
    StoreRestore "store.restore" Write "Puts a backup in the place of a store.";
    StorePrune "store.prune" Write "Takes away history that no decision needs.";
    Migrate "migrate" Write "Shows what an import would do, or imports.";
    Import "import" Write "Takes an exported goal in.";
    ConnectorsList "connectors.list" Read "Lists the connectors of hosts, value connectors and candidates.";
    ConnectorsShow "connectors.show" Read "Shows one connector and how its host is run.";
    ValueConnectorRun "value_connector.run" Write "Runs a value connector; none runs in this version.";
    HostModePlan "host_mode_plan" Read "Says which way of running a host fits what is wanted, and what is missing.";
    HeartbeatPrompt "heartbeat_prompt" Read "Says what a host's agent is told at each wake.";
    Doctor "doctor" Read "Says what is wrong with the installation, the routes, the goals and the hosts, and how to mend it.";
    SlashCommands "slash_commands" Read "Lists the commands that installed files bring to hosts.";
    Install "install" Write "Puts the files of hosts in place, or takes them away.";
    Init "init" Write "Connects a project: makes its goal, or finds it; overwrites nothing.";
    StartGoalPlan "start_goal.plan" Read "Says what a start would do, step by step.";
    StartGoal "start_goal" Write "Starts a goal: goal, agent, todos, activation and prompt; a repeat comes to the same end.";
    AgentOnboard "agent_onboard" Read "Says how an agent comes to loop on a host.";
    CommandPack "bootstrap_command_pack" Read "Lists the commands that set a host up.";
    CodexCliMessage "codex_cli_bootstrap_message" Read "Says what is pasted into Codex CLI first.";
    HostLoopActivate "host_loop.activate" Write "Records that an agent's loop is switched on or off on a host; says what it is told and when it begins.";
    ThreadBind "thread.bind" Write "Binds a host's thread to an agent.";
    ThreadUnbind "thread.unbind" Write "Takes the binding of a host's thread away.";
    ThreadResolve "thread.resolve" Read "Says which agent a host's thread stands for.";
}

impl Operation {
    /// The operation of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::TABLE.iter().find(|(_, n, ..)| *n == name).map(|(op, ..)| *op)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::TABLE.iter().find(|(op, ..)| *op == self).map_or("", |(_, name, ..)| name)
    }
}

/// What a request is addressed to, beside the operation's own fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Addressed {
    /// The goal; the registry's only one when absent.
    pub goal_id: Option<String>,
    /// Makes a repeat of the same write answer the first receipt.
    pub effect_id: Option<String>,
}

impl Addressed {
    /// Reads the two fields from a request.
    pub fn of(request: &Value) -> Result<Self> {
        let text = |key: &str| match request.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => {
                Err(Error::new(ErrorCode::RequestInvalid, key).message(format!("{key} is a text")))
            }
        };
        if !request.is_object() {
            return Err(Error::new(ErrorCode::RequestInvalid, "request")
                .message("a request is a JSON object"));
        }
        Ok(Self { goal_id: text("goal_id")?, effect_id: text("effect_id")? })
    }

    /// Addressed to one goal.
    pub fn to(goal: &str) -> Self {
        Self { goal_id: Some(goal.to_owned()), effect_id: None }
    }
}
