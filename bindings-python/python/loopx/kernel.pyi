# Made by `cargo xtask generate` from the table of operations and the JSON Schemas of the
# kernel. Do not edit: a test compares it with what the sources say.

from os import PathLike
from typing import Literal, overload

from typing_extensions import Self, Unpack

from loopx.types import (
    AgentListRequest,
    AgentOnboardRequest,
    AgentRegisterRequest,
    Answer,
    BootstrapCommandPackRequest,
    ChangedSince,
    CodexCliBootstrapMessageRequest,
    ConnectorsListRequest,
    ConnectorsShowRequest,
    DiagnoseRequest,
    DoctorRequest,
    EvidenceLogRequest,
    ExplainRequest,
    ExportRequest,
    FeedbackRequest,
    GateDecideRequest,
    GateGrantsRequest,
    GateListRequest,
    GateOpenRequest,
    GateWithdrawRequest,
    GoalAcceptAddRequest,
    GoalAcceptListRequest,
    GoalAcceptMeetRequest,
    GoalAdoptLegacyRequest,
    GoalChangedSinceRequest,
    GoalCreateRequest,
    GoalListRequest,
    GoalResumeRequest,
    GoalShowRequest,
    GoalStopAllRequest,
    GoalStopRequest,
    HandoffModeSetRequest,
    HandoffModeShowRequest,
    HeartbeatPromptRequest,
    HistoryRequest,
    HostLoopActivateRequest,
    HostModePlanRequest,
    ImportRequest,
    InitRequest,
    InstallRequest,
    LoopAnswer,
    LoopEvent,
    LoopSessionOptions,
    LoopShowRequest,
    LoopStepRequest,
    LoopUnbindRequest,
    LoopsShown,
    MigrateRequest,
    MonitorListRequest,
    Packet,
    QuotaHostPollRequest,
    QuotaMonitorPollRequest,
    QuotaPlanRequest,
    QuotaSchedulerAckRequest,
    QuotaSchedulerFailRequest,
    QuotaSpendSlotRequest,
    QuotaStatusRequest,
    QuotaVoidSlotRequest,
    RefreshStateRequest,
    ShouldRunRequest,
    SlashCommandsRequest,
    StartGoalPlanRequest,
    StartGoalRequest,
    StatusRequest,
    StoreBackupRequest,
    StoreCheckRequest,
    StorePruneRequest,
    StoreRestoreRequest,
    TaskLeaseAcquireRequest,
    TaskLeaseInspectRequest,
    TaskLeaseReleaseRequest,
    TaskLeaseRenewRequest,
    TaskLeaseTransferRequest,
    ThreadBindRequest,
    ThreadResolveRequest,
    ThreadUnbindRequest,
    TodoAddRequest,
    TodoArchiveCompletedRequest,
    TodoArchiveRequest,
    TodoCaptureFollowupsRequest,
    TodoClaimRequest,
    TodoCompleteRequest,
    TodoListRequest,
    TodoSuggestRequest,
    TodoSupersedeRequest,
    TodoUpdateRequest,
    TurnAdmitRequest,
    TurnReleaseRequest,
    TurnRenewRequest,
    TurnSettleRequest,
    TurnShowRequest,
    ValueConnectorRunRequest,
)

__all__ = ["Kernel", "LoopSession"]

class Kernel:
    """The kernel on one registry. ``Kernel.open()`` makes one; any number of threads use it, and
    others run while it works.

    After a fork the child opens anew at its first call, and what the parent has open stays the
    parent's. Do not fork while another thread is inside a call.
    """

    @classmethod
    def open(
        cls,
        project: str | PathLike[str] | None = None,
        *,
        registry: str | PathLike[str] | None = None,
        home: str | PathLike[str] | None = None,
        agent_id: str | None = None,
        now: str | None = None,
        runtime_root: str | PathLike[str] | None = None,
        deadline_ms: int | None = None,
        independent_worktree: bool = False,
    ) -> Self:
        """Opens the kernel. Reads nothing yet, and writes nothing.

        Args:
            project: Folder that relative paths count from; the working folder when absent.
            registry: Registry file; else ``LOOPX_REGISTRY``, else the nearest
                ``.loopx/registry.json`` upward from ``project``, else the user's global one.
            home: Home folder of the user; else ``HOME``.
            agent_id: Who waits and holds, in records of locks; else ``LOOPX_AGENT_ID``. A request
                names its own agent.
            now: A fixed clock for tests and replays, RFC 3339; else ``LOOPX_NOW``, else the
                system's clock.
            runtime_root: Folder of the stores; else ``LOOPX_RUNTIME_ROOT``, else as the registry
                says.
            deadline_ms: Longest wait of a call for a lock, in milliseconds; 30,000 when absent.
                Other threads run meanwhile; Ctrl-C and other signals are heard when the call is
                over, which may take as long.
            independent_worktree: Whether the caller works in a checkout of its own.

        The environment is read here and never later.

        Raises:
            UsageError: an option is malformed, or two global registries are there and none was
                named.
        """
        ...

    @overload
    def call(
        self, operation: Literal["todo.add"], request: TodoAddRequest, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.list"], request: TodoListRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.claim"], request: TodoClaimRequest, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.update"], request: TodoUpdateRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.complete"], request: TodoCompleteRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.should_run"], request: ShouldRunRequest | None = None, /
    ) -> Packet: ...
    @overload
    def call(
        self, operation: Literal["turn.admit"], request: TurnAdmitRequest | None = None, /
    ) -> Packet: ...
    @overload
    def call(
        self, operation: Literal["turn.renew"], request: TurnRenewRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["turn.release"], request: TurnReleaseRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["turn.show"], request: TurnShowRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["turn.settle"], request: TurnSettleRequest, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["task_lease.acquire"], request: TaskLeaseAcquireRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["task_lease.renew"], request: TaskLeaseRenewRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["task_lease.transfer"], request: TaskLeaseTransferRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["task_lease.release"], request: TaskLeaseReleaseRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["task_lease.inspect"], request: TaskLeaseInspectRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["handoff_mode.show"], request: HandoffModeShowRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["handoff_mode.set"], request: HandoffModeSetRequest, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["loop.step"], request: LoopStepRequest, /
    ) -> LoopAnswer: ...
    @overload
    def call(
        self, operation: Literal["loop.show"], request: LoopShowRequest | None = None, /
    ) -> LoopsShown: ...
    @overload
    def call(
        self, operation: Literal["loop.unbind"], request: LoopUnbindRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.status"], request: QuotaStatusRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.spend_slot"], request: QuotaSpendSlotRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["refresh_state"], request: RefreshStateRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.create"], request: GoalCreateRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.stop"], request: GoalStopRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.resume"], request: GoalResumeRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.list"], request: GoalListRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.show"], request: GoalShowRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.changed_since"], request: GoalChangedSinceRequest | None = None, /
    ) -> ChangedSince: ...
    @overload
    def call(
        self, operation: Literal["goal.adopt_legacy"], request: GoalAdoptLegacyRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["agent.register"], request: AgentRegisterRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["agent.list"], request: AgentListRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["gate.list"], request: GateListRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["gate.open"], request: GateOpenRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["gate.decide"], request: GateDecideRequest, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["gate.grants"], request: GateGrantsRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["gate.withdraw"], request: GateWithdrawRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.monitor_poll"], request: QuotaMonitorPollRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.host_poll"], request: QuotaHostPollRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.scheduler_ack"], request: QuotaSchedulerAckRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.scheduler_fail"], request: QuotaSchedulerFailRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.void_slot"], request: QuotaVoidSlotRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["monitor.list"], request: MonitorListRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.supersede"], request: TodoSupersedeRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.archive"], request: TodoArchiveRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.archive_completed"], request: TodoArchiveCompletedRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.capture_followups"], request: TodoCaptureFollowupsRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["todo.suggest"], request: TodoSuggestRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["feedback"], request: FeedbackRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.accept_add"], request: GoalAcceptAddRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.accept_meet"], request: GoalAcceptMeetRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.accept_list"], request: GoalAcceptListRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["goal.stop_all"], request: GoalStopAllRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["status"], request: StatusRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["history"], request: HistoryRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["evidence_log"], request: EvidenceLogRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["diagnose"], request: DiagnoseRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["explain"], request: ExplainRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["quota.plan"], request: QuotaPlanRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["export"], request: ExportRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["store.check"], request: StoreCheckRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["store.backup"], request: StoreBackupRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["store.restore"], request: StoreRestoreRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["store.prune"], request: StorePruneRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["migrate"], request: MigrateRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["import"], request: ImportRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["connectors.list"], request: ConnectorsListRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["connectors.show"], request: ConnectorsShowRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["value_connector.run"], request: ValueConnectorRunRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["host_mode_plan"], request: HostModePlanRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["heartbeat_prompt"], request: HeartbeatPromptRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["doctor"], request: DoctorRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["slash_commands"], request: SlashCommandsRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["install"], request: InstallRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["init"], request: InitRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["start_goal.plan"], request: StartGoalPlanRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["start_goal"], request: StartGoalRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["agent_onboard"], request: AgentOnboardRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["bootstrap_command_pack"], request: BootstrapCommandPackRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["codex_cli_bootstrap_message"], request: CodexCliBootstrapMessageRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["host_loop.activate"], request: HostLoopActivateRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["thread.bind"], request: ThreadBindRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["thread.unbind"], request: ThreadUnbindRequest | None = None, /
    ) -> Answer: ...
    @overload
    def call(
        self, operation: Literal["thread.resolve"], request: ThreadResolveRequest | None = None, /
    ) -> Answer: ...
    def call_json(self, operation: str, request: str = "{}", /) -> str:
        """Any operation, from the JSON text of a request to that of an answer.

        Raises:
            LoopxError: by its class, as the operation's method does.
        """
        ...

    def todo_add(self, /, **request: Unpack[TodoAddRequest]) -> Answer:
        """Adds a todo; an unfinished one of the same text is updated instead.

        ``todo.add``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            role: Whose list.
            text: The line, with `[P0]` to `[P4]` in front for a priority.
            status: `open`, `blocked` or `deferred`.
            agent_id: Who adds it; for user todos also whom it concerns.
            note: Remark.
            reason: Why it is blocked.
            task_class: Class.
            action_kind: Kind of work, `[a-z][a-z0-9_-]{0,63}`.
            task_domain: Domain word.
            task_repository: Repository the work belongs to.
            continuation_policy: `independent_handoff` or `same_agent_non_delivery`.
            required_write_scopes: Path globs.
            required_capabilities: Capabilities needed.
            target_capabilities: Capabilities to obtain.
            decision_scope: Gates: scope decided.
            required_decision_scopes: Scopes needed.
            claimed_by: Holder.
            bound_agent: User todos: whom it concerns.
            goal_bound: User todos: everyone.
            blocks_agent: Gates: whom it blocks.
            global_gate: Gates: everyone.
            excluded_agents: Who may not take it.
            unblocks_todo_id: Gates: what it blocks.
            resume_when: Condition.
            target_key: Monitors: what.
            cadence: Monitors: how often.
            next_due_at: Monitors: when next.
            expires_at: Monitors: until when.
            watch_only: Monitors: never closed.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_list(self, /, **request: Unpack[TodoListRequest]) -> Answer:
        """Lists todos, hand edits of the state file included.

        ``todo.list``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            role: One role only.
            status: One status only.
            todo_id: One todo only.
            agent_id: What this agent may see: unclaimed or its own, not excluded; user
                todos that concern it.
            limit: At most so many.
            archived: With archived ones.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_claim(self, /, **request: Unpack[TodoClaimRequest]) -> Answer:
        """Claims a todo for one agent; the first claim wins.

        ``todo.claim``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which.
            claimed_by: For whom; the acting agent when absent.
            agent_id: Who acts.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_update(self, /, **request: Unpack[TodoUpdateRequest]) -> Answer:
        """Changes a todo.

        ``todo.update``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which.
            agent_id: Who acts.
            text: New text.
            status: New status; an agent todo is completed with `todo complete`.
            clear: Fields to take off: `claim`, `blocks-agent`, `excluded-agents`,
                `global-gate`, `unblocks-todo-id`, `decision-scope`, `resume-when`, `note`,
                `reason`.
            successor_todo_ids: Todos that follow it.
            no_follow_up: Nothing follows it.
            note: Remark.
            reason: Why it is blocked.
            task_class: Class.
            action_kind: Kind of work, `[a-z][a-z0-9_-]{0,63}`.
            task_domain: Domain word.
            task_repository: Repository the work belongs to.
            continuation_policy: `independent_handoff` or `same_agent_non_delivery`.
            required_write_scopes: Path globs.
            required_capabilities: Capabilities needed.
            target_capabilities: Capabilities to obtain.
            decision_scope: Gates: scope decided.
            required_decision_scopes: Scopes needed.
            claimed_by: Holder.
            bound_agent: User todos: whom it concerns.
            goal_bound: User todos: everyone.
            blocks_agent: Gates: whom it blocks.
            global_gate: Gates: everyone.
            excluded_agents: Who may not take it.
            unblocks_todo_id: Gates: what it blocks.
            resume_when: Condition.
            target_key: Monitors: what.
            cadence: Monitors: how often.
            next_due_at: Monitors: when next.
            expires_at: Monitors: until when.
            watch_only: Monitors: never closed.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_complete(self, /, **request: Unpack[TodoCompleteRequest]) -> Answer:
        """Finishes a todo, or decides a gate.

        ``todo.complete``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which.
            agent_id: Who acts.
            evidence: What shows that it is done.
            note: Remark.
            no_follow_up: Nothing follows.
            successor_todo_ids: Existing todos that follow.
            next_agent_todo: Text of a new agent todo that follows; inherits the
                priority when it has none.
            next_user_todo: Text of a new user todo that follows.
            next_user_task_class: Class of that user todo.
            next_fields: Fields of the new agent todo.
            decision_outcome: Gates: the decision.
            grant_life: Gates that approve a scope: how long it stays granted; standing
                when absent.
            grant_agent: Gates that approve a scope: to whom; the agent that the gate
                blocks, else every agent, when absent.
            turn_instance_id: The turn in which it was done.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def should_run(self, /, **request: Unpack[ShouldRunRequest]) -> Packet:
        """Says whether an agent may run, and on what.

        ``quota.should_run``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            agent_id: Who asks.
            available_capabilities: Capabilities that the door declares.
            independent_worktree: The door works in a worktree of its own.
            execution_context: Who wakes the agent.
            app_automation_current_rrule: App hosts: the RRULE that the host's
                automation has now.
            include_detail: Sections to add.
            turn_instance_id: The turn; makes it an admission. `turn.admit` without one
                names it itself, and gives the same again while that turn lives.
            ttl_seconds: Seconds that the reservation lives, 3,600 when absent, at most
                86,400.
            holder_pid: A process that outlives this call and whose death frees the
                turn.

        Raises:
            UsageError: the request is malformed.
            InternalError: a defect of LoopX.
            Every other refusal is an answer with ``ok: False`` and an ``error_code``.
        """
        ...

    def turn_admit(self, /, **request: Unpack[TurnAdmitRequest]) -> Packet:
        """Decides and binds a turn id to the answer.

        ``turn.admit``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            agent_id: Who asks.
            available_capabilities: Capabilities that the door declares.
            independent_worktree: The door works in a worktree of its own.
            execution_context: Who wakes the agent.
            app_automation_current_rrule: App hosts: the RRULE that the host's
                automation has now.
            include_detail: Sections to add.
            turn_instance_id: The turn; makes it an admission. `turn.admit` without one
                names it itself, and gives the same again while that turn lives.
            ttl_seconds: Seconds that the reservation lives, 3,600 when absent, at most
                86,400.
            holder_pid: A process that outlives this call and whose death frees the
                turn.

        Raises:
            UsageError: the request is malformed.
            InternalError: a defect of LoopX.
            Every other refusal is an answer with ``ok: False`` and an ``error_code``.
        """
        ...

    def turn_renew(self, /, **request: Unpack[TurnRenewRequest]) -> Answer:
        """Extends a live turn.

        ``turn.renew``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            turn_instance_id: Which.
            agent_id: Who acts.
            ttl_seconds: Renew: seconds from now, 3,600 when absent, at most 86,400.
            reason: Release: why.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def turn_release(self, /, **request: Unpack[TurnReleaseRequest]) -> Answer:
        """Ends a turn without a settlement.

        ``turn.release``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            turn_instance_id: Which.
            agent_id: Who acts.
            ttl_seconds: Renew: seconds from now, 3,600 when absent, at most 86,400.
            reason: Release: why.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def turn_show(self, /, **request: Unpack[TurnShowRequest]) -> Answer:
        """Shows a turn.

        ``turn.show``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            turn_instance_id: Which.
            agent_id: Who acts.
            ttl_seconds: Renew: seconds from now, 3,600 when absent, at most 86,400.
            reason: Release: why.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def turn_settle(self, /, **request: Unpack[TurnSettleRequest]) -> Answer:
        """Settles a turn: todo, evidence, spend and receipt in one commit.

        ``turn.settle``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            turn_instance_id: Which; the agent's only live one when empty.
            agent_id: Who acts.
            outcome: What it came to.
            evidence: What shows it; needed for progress and completed.
            note: Remark.
            reason: Why; needed for blocked.
            no_follow_up: Completed: nothing follows.
            successor_todo_ids: Existing todos that follow.
            next_agent_todo: A new agent todo that follows, or that a replan decided on.
            next_user_todo: A new user todo that follows.
            next_user_task_class: Class of that user todo.
            next_fields: Fields of the new agent todo.
            result_hash: Monitors: digest of what was seen.
            usage: Model usage.
            admit_next: Admit this turn in the same commit.
            available_capabilities: For the next decision: capabilities.
            independent_worktree: For the next decision: a worktree of its own.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def task_lease_acquire(self, /, **request: Unpack[TaskLeaseAcquireRequest]) -> Answer:
        """Takes a lease on a todo.

        ``task_lease.acquire``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which todo.
            owner: Holder.
            idempotency_key: The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`.
            ttl_seconds: Seconds, 2,700 when absent, at most 86,400.
            write_scopes: Path globs that nobody else's lease may overlap.
            expected_version: The version that the caller read; needed to renew,
                transfer and release.
            new_owner: Transfer: to whom.
            new_idempotency_key: Transfer: the new holder's key.
            holder_pid: A process that outlives this call and whose death frees the
                lease.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def task_lease_renew(self, /, **request: Unpack[TaskLeaseRenewRequest]) -> Answer:
        """Extends a live lease.

        ``task_lease.renew``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which todo.
            owner: Holder.
            idempotency_key: The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`.
            ttl_seconds: Seconds, 2,700 when absent, at most 86,400.
            write_scopes: Path globs that nobody else's lease may overlap.
            expected_version: The version that the caller read; needed to renew,
                transfer and release.
            new_owner: Transfer: to whom.
            new_idempotency_key: Transfer: the new holder's key.
            holder_pid: A process that outlives this call and whose death frees the
                lease.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def task_lease_transfer(self, /, **request: Unpack[TaskLeaseTransferRequest]) -> Answer:
        """Hands a live lease to another agent.

        ``task_lease.transfer``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which todo.
            owner: Holder.
            idempotency_key: The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`.
            ttl_seconds: Seconds, 2,700 when absent, at most 86,400.
            write_scopes: Path globs that nobody else's lease may overlap.
            expected_version: The version that the caller read; needed to renew,
                transfer and release.
            new_owner: Transfer: to whom.
            new_idempotency_key: Transfer: the new holder's key.
            holder_pid: A process that outlives this call and whose death frees the
                lease.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def task_lease_release(self, /, **request: Unpack[TaskLeaseReleaseRequest]) -> Answer:
        """Gives a lease back.

        ``task_lease.release``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which todo.
            owner: Holder.
            idempotency_key: The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`.
            ttl_seconds: Seconds, 2,700 when absent, at most 86,400.
            write_scopes: Path globs that nobody else's lease may overlap.
            expected_version: The version that the caller read; needed to renew,
                transfer and release.
            new_owner: Transfer: to whom.
            new_idempotency_key: Transfer: the new holder's key.
            holder_pid: A process that outlives this call and whose death frees the
                lease.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def task_lease_inspect(self, /, **request: Unpack[TaskLeaseInspectRequest]) -> Answer:
        """Shows a todo's lease.

        ``task_lease.inspect``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            todo_id: Which todo.
            owner: Holder.
            idempotency_key: The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`.
            ttl_seconds: Seconds, 2,700 when absent, at most 86,400.
            write_scopes: Path globs that nobody else's lease may overlap.
            expected_version: The version that the caller read; needed to renew,
                transfer and release.
            new_owner: Transfer: to whom.
            new_idempotency_key: Transfer: the new holder's key.
            holder_pid: A process that outlives this call and whose death frees the
                lease.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def handoff_mode_show(self, /, **request: Unpack[HandoffModeShowRequest]) -> Answer:
        """Shows how work is handed over.

        ``handoff_mode.show``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def handoff_mode_set(self, /, **request: Unpack[HandoffModeSetRequest]) -> Answer:
        """Sets how work is handed over.

        ``handoff_mode.set``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            mode: The new mode.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def loop_step(self, /, **request: Unpack[LoopStepRequest]) -> LoopAnswer:
        """Tells a host's loop what happened; says what the host does next.

        ``loop.step``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            surface: `--host` word of the host.
            session: The host's session: its file, its id. Only a digest of it is kept.
            event: What happened.
            generation: The generation that the host saw last. When another runtime has
                gone on since, the event changes nothing and the answer says how the loop
                stands.
            agent_id: `activated`: for whom the loop asks.
            available_capabilities: Capabilities that the door declares; those of the
                activation when absent.
            independent_worktree: The door works in a worktree of its own; as at the
                activation when absent.
            execution_context: Who wakes the agent; as at the activation when absent.
            ttl_seconds: Seconds that an admitted turn's reservation lives, 3,600 when
                absent.
            holder_pid: A process that outlives this call and whose death frees the
                turn.
            ephemeral: `activated`: the host does not keep the session, so that nobody
                can come back to it. Its loop is over when the process `holder_pid` has
                died; without one, when it is unbound.
            observe: Only look: decide, keep the pace, admit nothing.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def loop_show(self, /, **request: Unpack[LoopShowRequest]) -> LoopsShown:
        """Shows how the loops of hosts stand.

        ``loop.show``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            surface: `--host` word of the host.
            session: The host's session; every loop of the goal when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def loop_unbind(self, /, **request: Unpack[LoopUnbindRequest]) -> Answer:
        """Takes a host's session off its goal.

        ``loop.unbind``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            surface: `--host` word of the host.
            session: The host's session; every loop of the goal when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def quota_status(self, /, **request: Unpack[QuotaStatusRequest]) -> Answer:
        """Shows the windows.

        ``quota.status``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def quota_spend_slot(self, /, **request: Unpack[QuotaSpendSlotRequest]) -> Answer:
        """Spends slots for a delivered outcome.

        ``quota.spend_slot``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            agent_id: Who spends.
            todo_id: For which todo; the last delivered one when absent.
            slots: How many; one when absent.
            source: `heartbeat`, `controller`, `adapter` or `visible-goal`.
            turn_instance_id: The turn.
            execute: Act; without it the answer is a preview.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def refresh_state(self, /, **request: Unpack[RefreshStateRequest]) -> Answer:
        """Records what was delivered.

        ``refresh_state``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            agent_id: Who acts.
            todo_id: What was worked on.
            turn_instance_id: The turn.
            delivery_outcome: What was delivered; `neutral` when absent.
            classification: The caller's word for it, `state_refreshed` when absent.
            recommended_action: What to do next.
            evidence: What shows the delivery.
            usage: Model usage.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_create(self, /, **request: Unpack[GoalCreateRequest]) -> Answer:
        """Creates a goal.

        ``goal.create``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            objective: What the goal is for, one line.
            agents: First agents of the roster.
            state_file: State file, relative to the project;
                `.loopx/goals/<goal>/ACTIVE_GOAL_STATE.md` when absent. One that exists is
                connected, not overwritten.
            write_scope: Path globs that agents may write.
            compute: Share of the window, 0 to 1.
            window_hours: Window in hours.
            slot_minutes: Slot in minutes.
            allowed_slots: Slots in the window.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_stop(self, /, **request: Unpack[GoalStopRequest]) -> Answer:
        """Stops a goal: nothing of it starts any more.

        ``goal.stop``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            reason: Why, at most 600 characters.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_resume(self, /, **request: Unpack[GoalResumeRequest]) -> Answer:
        """Resumes a stopped goal.

        ``goal.resume``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_list(self, /, **request: Unpack[GoalListRequest]) -> Answer:
        """Lists the registry's goals.

        ``goal.list``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_show(self, /, **request: Unpack[GoalShowRequest]) -> Answer:
        """Shows one goal.

        ``goal.show``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_changed_since(self, /, **request: Unpack[GoalChangedSinceRequest]) -> ChangedSince:
        """Says whether a goal changed since a commit.

        ``goal.changed_since``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            commit: The last commit that the asker has seen: `commit` of any answer.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_adopt_legacy(self, /, **request: Unpack[GoalAdoptLegacyRequest]) -> Answer:
        """Takes in what the earlier tool wrote after the import.

        ``goal.adopt_legacy``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def agent_register(self, /, **request: Unpack[AgentRegisterRequest]) -> Answer:
        """Adds agents to a goal's roster.

        ``agent.register``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            agents: Who; one text may hold several, separated by commas.
            require_new: Refuse agents that are registered already.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def agent_list(self, /, **request: Unpack[AgentListRequest]) -> Answer:
        """Lists a goal's agents.

        ``agent.list``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def gate_list(self, /, **request: Unpack[GateListRequest]) -> Answer:
        """Lists what waits for a person, oldest first, and what it blocks.

        ``gate.list``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def gate_open(self, /, **request: Unpack[GateOpenRequest]) -> Answer:
        """Asks a person, and holds back what the gate names until the decision.

        ``gate.open``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            question: What a person is asked.
            agent_id: Who asks; blocks itself when the gate names nothing.
            unblocks_todo_id: The todo that waits for the answer.
            decision_scope: The scope that is decided, `kind:granularity:key`.
            blocks_agent: The agent that waits for the answer.
            global_gate: Every agent waits for the answer.
            note: Remark.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def gate_decide(self, /, **request: Unpack[GateDecideRequest]) -> Answer:
        """Decides a gate: approve, reject or cancel.

        ``gate.decide``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which gate.
            outcome: The decision.
            life: How long an approved scope stays granted: `once`, `standing` or
                `{"until": instant}`; standing when absent.
            for_agent: To whom an approved scope is granted; the agent that the gate
                blocks, else every agent, when absent.
            note: Remark.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def gate_grants(self, /, **request: Unpack[GateGrantsRequest]) -> Answer:
        """Lists the grants that hold.

        ``gate.grants``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def gate_withdraw(self, /, **request: Unpack[GateWithdrawRequest]) -> Answer:
        """Withdraws a grant.

        ``gate.withdraw``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            grant_id: Which grant.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def quota_monitor_poll(self, /, **request: Unpack[QuotaMonitorPollRequest]) -> Answer:
        """Records a look at a monitor; never spends.

        ``quota.monitor_poll``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            agent_id: Who looked.
            todo_id: The monitor.
            target_key: The monitor by what it watches, instead of by its id.
            result_hash: Digest of what was seen; another one than last time is a
                change.
            material_change: What was seen matters: something should be done about it.
            next_due_at: When to look next, instead of now plus the cadence.
            cadence: How often to look from now on.
            next_agent_todo: Material change: text of the agent todo that it asks for.
            next_user_todo: Material change: text of the user todo that it asks for.
            next_user_task_class: Class of that user todo.
            next_fields: Fields of the new agent todo.
            turn_instance_id: The turn in which it was looked.
            execute: Act; without it the answer is a preview.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def quota_host_poll(self, /, **request: Unpack[QuotaHostPollRequest]) -> Answer:
        """Decides, and records that a host polled; never spends.

        ``quota.host_poll``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            agent_id: Who asks.
            available_capabilities: Capabilities that the door declares.
            independent_worktree: The door works in a worktree of its own.
            execution_context: Who wakes the agent.
            app_automation_current_rrule: App hosts: the RRULE that the host's
                automation has now.
            include_detail: Sections to add.
            turn_instance_id: The turn; makes it an admission. `turn.admit` without one
                names it itself, and gives the same again while that turn lives.
            ttl_seconds: Seconds that the reservation lives, 3,600 when absent, at most
                86,400.
            holder_pid: A process that outlives this call and whose death frees the
                turn.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def quota_scheduler_ack(self, /, **request: Unpack[QuotaSchedulerAckRequest]) -> Answer:
        """Records that an app host has set its schedule; never spends.

        ``quota.scheduler_ack``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            agent_id: Whose schedule.
            available_capabilities: Capabilities that the door declares.
            independent_worktree: The door works in a worktree of its own.
            execution_context: Which app host; `surface` may stand for it.
            surface: `codex_app` or `trae_app`.
            app_automation_current_rrule: The RRULE that the host's automation has now.
            state_key: The state key of the hint.
            execute: Act; else only show what would be written.
            applied_rrule: The RRULE that the host has set.
            reset_token: Token of the hint that it followed.
            identity_signature: Identity of that hint.
            host_match_observed: The host has looked: the rule is in force.
            use_current_hint: Take token and identity from the hint that is current
                where they are not named.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def quota_scheduler_fail(self, /, **request: Unpack[QuotaSchedulerFailRequest]) -> Answer:
        """Records that an app host could not set its schedule; never spends.

        ``quota.scheduler_fail``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            agent_id: Whose schedule.
            available_capabilities: Capabilities that the door declares.
            independent_worktree: The door works in a worktree of its own.
            execution_context: Which app host; `surface` may stand for it.
            surface: `codex_app` or `trae_app`.
            app_automation_current_rrule: The RRULE that the host's automation has now.
            state_key: The state key of the hint.
            execute: Act; else only show what would be written.
            failed_rrule: The RRULE that the host could not set.
            failure_kind: `host_tool_failure` (the default), `timeout`, `rejected` or
                `unavailable`.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def quota_void_slot(self, /, **request: Unpack[QuotaVoidSlotRequest]) -> Answer:
        """Takes a spend back.

        ``quota.void_slot``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            spend_id: Which spend.
            void_generated_at: Which spend, by its instant (form of the earlier tool).
            reason_summary: Why.
            execute: Act; without it the answer is a preview.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def monitor_list(self, /, **request: Unpack[MonitorListRequest]) -> Answer:
        """Lists a goal's monitors and when each is due.

        ``monitor.list``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_supersede(self, /, **request: Unpack[TodoSupersedeRequest]) -> Answer:
        """Closes a todo in favour of another.

        ``todo.supersede``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: What is replaced.
            by: What replaces it: a todo that exists.
            next_agent_todo: What replaces it: text of a new agent todo, which inherits
                the priority.
            next_fields: Fields of that new todo.
            reason: Why.
            agent_id: Who acts.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_archive(self, /, **request: Unpack[TodoArchiveRequest]) -> Answer:
        """Takes a done todo off the state file.

        ``todo.archive``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: Which.
            agent_id: Who acts.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_archive_completed(self, /, **request: Unpack[TodoArchiveCompletedRequest]) -> Answer:
        """Takes all but the last done todos off the state file.

        ``todo.archive_completed``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            role: Whose list; the agents' when absent.
            keep: How many done todos stay; [`KEEP`] when absent.
            agent_id: Who acts.
            execute: Act; without it the answer is a preview.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_capture_followups(self, /, **request: Unpack[TodoCaptureFollowupsRequest]) -> Answer:
        """Adds what came to light while a todo was worked on.

        ``todo.capture_followups``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            todo_id: The todo that was worked on.
            agent_id: Who acts.
            evidence: What shows that they are needed.
            followups: Texts, one or two.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def todo_suggest(self, /, **request: Unpack[TodoSuggestRequest]) -> Answer:
        """Says what an agent that plans should look at.

        ``todo.suggest``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            agent_id: Who plans.
            limit: Most todos to propose, 1 to 5; 3 when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def feedback(self, /, **request: Unpack[FeedbackRequest]) -> Answer:
        """Records what a person says about the work; an agent is to think again.

        ``feedback``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            text: What is said.
            todo_id: The todo that it is about.
            agent_id: The agent that is to answer; who holds the todo, else any agent,
                when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_accept_add(self, /, **request: Unpack[GoalAcceptAddRequest]) -> Answer:
        """Adds an entry to a goal's acceptance list.

        ``goal.accept_add``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            text: What has to be so.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_accept_meet(self, /, **request: Unpack[GoalAcceptMeetRequest]) -> Answer:
        """Marks an acceptance entry as met.

        ``goal.accept_meet``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            index: Which, by its place in `goal.accept_list`, from 1.
            text: Which, by its text.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_accept_list(self, /, **request: Unpack[GoalAcceptListRequest]) -> Answer:
        """Lists a goal's acceptance entries.

        ``goal.accept_list``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def goal_stop_all(self, /, **request: Unpack[GoalStopAllRequest]) -> Answer:
        """Stops every goal of the registry.

        ``goal.stop_all``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            reason: Why, at most 600 characters.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def status(self, /, **request: Unpack[StatusRequest]) -> Answer:
        """Shows one goal in whole, or a row of every goal.

        ``status``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def history(self, /, **request: Unpack[HistoryRequest]) -> Answer:
        """Lists commits, newest first.

        ``history``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            agent_id: Commits of this agent only.
            before: Commits before this number only; needs the goal to be named.
            limit: At most so many; 10 when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def evidence_log(self, /, **request: Unpack[EvidenceLogRequest]) -> Answer:
        """Lists evidence, outcomes and spends, newest first.

        ``evidence_log``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            agent_id: Of this agent only.
            todo_id: On this todo only.
            limit: At most so many; 24 when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def diagnose(self, /, **request: Unpack[DiagnoseRequest]) -> Answer:
        """Says what is wrong and how to mend it.

        ``diagnose``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def explain(self, /, **request: Unpack[ExplainRequest]) -> Answer:
        """Says why an agent may or may not run, and what would change it.

        ``explain``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            agent_id: Who asks.
            todo_id: This todo only.
            available_capabilities: Capabilities that the door declares.
            independent_worktree: The door works in a worktree of its own.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def quota_plan(self, /, **request: Unpack[QuotaPlanRequest]) -> Answer:
        """Groups goals by urgency and names the next turn.

        ``quota.plan``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def export(self, /, **request: Unpack[ExportRequest]) -> Answer:
        """Writes a goal as one JSON file.

        ``export``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            file: The file to write; the answer carries the text when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def store_check(self, /, **request: Unpack[StoreCheckRequest]) -> Answer:
        """Compares a store with itself and with what lies beside it.

        ``store.check``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def store_backup(self, /, **request: Unpack[StoreBackupRequest]) -> Answer:
        """Writes a consistent copy of a goal to a folder.

        ``store.backup``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            dir: The folder; each goal gets a folder of its own in it.
            all: Every goal of the registry.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def store_restore(self, /, **request: Unpack[StoreRestoreRequest]) -> Answer:
        """Puts a backup in the place of a store.

        ``store.restore``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            from: The folder that `store.backup` wrote, or the one above it.
            losing_commits: How many commits of the present store are lost: asked for
                when there are any.
            execute: Act; without it the answer is a preview.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def store_prune(self, /, **request: Unpack[StorePruneRequest]) -> Answer:
        """Takes away history that no decision needs.

        ``store.prune``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            keep_days: Days of history that stay, at least 1.
            execute: Act; without it the answer is a preview.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def migrate(self, /, **request: Unpack[MigrateRequest]) -> Answer:
        """Shows what an import would do, or imports.

        ``migrate``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            all: Every goal of the registry.
            execute: Import now; without it the answer says what an import would do.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def import_(self, /, **request: Unpack[ImportRequest]) -> Answer:
        """Takes an exported goal in.

        ``import``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            file: The file that `export` wrote.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def connectors_list(self, /, **request: Unpack[ConnectorsListRequest]) -> Answer:
        """Lists the connectors of hosts, value connectors and candidates.

        ``connectors.list``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def connectors_show(self, /, **request: Unpack[ConnectorsShowRequest]) -> Answer:
        """Shows one connector and how its host is run.

        ``connectors.show``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            connector: Id of a connector, value connector or candidate; a host's name
                means its connector.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def value_connector_run(self, /, **request: Unpack[ValueConnectorRunRequest]) -> Answer:
        """Runs a value connector; none runs in this version.

        ``value_connector.run``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            connector: Id of a value connector.
            url: What it looks at.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def host_mode_plan(self, /, **request: Unpack[HostModePlanRequest]) -> Answer:
        """Says which way of running a host fits what is wanted, and what is missing.

        ``host_mode_plan``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            intents: What the person wants; the first one decides: watch_each_turn,
                continue_without_ui, intake_from_chat, timer_keepalive,
                escalate_between_modes. When absent, what the host does anyway.
            host: The host.
            connector: A connector of the catalogue to put into the turn's plan.
            host_capabilities: What the host can do: visible_session, loopx_turn,
                typed_host_adapter, independent_validator, chat_gateway, service_timer,
                shell.
            agent_id: The agent.
            registered_agents: The roster, where it is not the goal's.
            all_modes: Show every mode whole, not the chosen one only.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def heartbeat_prompt(self, /, **request: Unpack[HeartbeatPromptRequest]) -> Answer:
        """Says what a host's agent is told at each wake.

        ``heartbeat_prompt``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            host: The host, by name, alias, connector id or surface; decides everything
                else.
            style: thin (the default), brief, compact or full.
            agent_id: Whom the body is for; needed where the goal has a roster.
            agent_scopes: What the agent keeps to, each at most 180 characters.
            material_rule: A rule about material, at most 400 characters.
            permission_rule: A rule about permissions, at most 400 characters.
            available_capabilities: Capabilities that commands declare, at most 8.
            execution_context: Who wakes the agent, where no host is named.
            visible_goal_host: `traex-cli`: its native goal, with the profile
                `generic_cli`.
            turn_instance_id: The turn that this wake is bound to.
            cli_bin: The program's name in commands, `loopx` when absent.
            thread_id: The host's own name for its thread; says who the agent is where
                that is not named.
            active_state: A state file: the goal then need not be in a registry.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def doctor(self, /, **request: Unpack[DoctorRequest]) -> Answer:
        """Says what is wrong with the installation, the routes, the goals and the hosts, and how to mend it.

        ``doctor``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            host: The host to which skills are to be delivered: without its activation
                doctor refuses.
            agent_id: Whose loop; every agent's when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def slash_commands(self, /, **request: Unpack[SlashCommandsRequest]) -> Answer:
        """Lists the commands that installed files bring to hosts.

        ``slash_commands``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def install(self, /, **request: Unpack[InstallRequest]) -> Answer:
        """Puts the files of hosts in place, or takes them away.

        ``install``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            hosts: Hosts; `codex` stands for every Codex surface.
            uninstall: Take the files away.
            dry_run: Only say what would be done.
            project: The project in which files are put. Without it they go to the
                user's own folders, which only the command line knows.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def init(self, /, **request: Unpack[InitRequest]) -> Answer:
        """Connects a project: makes its goal, or finds it; overwrites nothing.

        ``init``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            objective: What the goal is for, one line; written only where the goal has
                none.
            agents: Agents of the roster.
            allowed_slots: Slots in the window of a new goal.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def start_goal_plan(self, /, **request: Unpack[StartGoalPlanRequest]) -> Answer:
        """Says what a start would do, step by step.

        ``start_goal.plan``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            goal_text: What is to be reached, one line.
            todos: First todos, in order, such as `[P1] Write the parser`; at most 20.
            agent_id: Who loops.
            new_peer: Register that agent, though the goal has others.
            host: The host.
            thread_id: The host's name for its thread.
            available_capabilities: Capabilities that commands declare.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def start_goal(self, /, **request: Unpack[StartGoalRequest]) -> Answer:
        """Starts a goal: goal, agent, todos, activation and prompt; a repeat comes to the same end.

        ``start_goal``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            goal_text: What is to be reached, one line.
            todos: First todos, in order, such as `[P1] Write the parser`; at most 20.
            agent_id: Who loops.
            new_peer: Register that agent, though the goal has others.
            host: The host.
            thread_id: The host's name for its thread.
            available_capabilities: Capabilities that commands declare.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def agent_onboard(self, /, **request: Unpack[AgentOnboardRequest]) -> Answer:
        """Says how an agent comes to loop on a host.

        ``agent_onboard``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            host: The host (the earlier tool's agent type).
            list_agent_types: List the hosts instead.
            agent_id: The agent.
            thread_id: The host's name for its thread.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def bootstrap_command_pack(self, /, **request: Unpack[BootstrapCommandPackRequest]) -> Answer:
        """Lists the commands that set a host up.

        ``bootstrap_command_pack``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            host: The host; `codex-cli` when absent.
            agent_id: The agent.
            goal_text: What is to be reached.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def codex_cli_bootstrap_message(self, /, **request: Unpack[CodexCliBootstrapMessageRequest]) -> Answer:
        """Says what is pasted into Codex CLI first.

        ``codex_cli_bootstrap_message``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            host: The host; `codex-cli` when absent.
            agent_id: The agent.
            goal_text: What is to be reached.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

    def host_loop_activate(self, /, **request: Unpack[HostLoopActivateRequest]) -> Answer:
        """Records that an agent's loop is switched on or off on a host; says what it is told and when it begins.

        ``host_loop.activate``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            host: The host, by name, alias, connector id or surface; decides everything
                else.
            style: thin (the default), brief, compact or full.
            agent_id: Whom the body is for; needed where the goal has a roster.
            agent_scopes: What the agent keeps to, each at most 180 characters.
            material_rule: A rule about material, at most 400 characters.
            permission_rule: A rule about permissions, at most 400 characters.
            available_capabilities: Capabilities that commands declare, at most 8.
            execution_context: Who wakes the agent, where no host is named.
            visible_goal_host: `traex-cli`: its native goal, with the profile
                `generic_cli`.
            turn_instance_id: The turn that this wake is bound to.
            cli_bin: The program's name in commands, `loopx` when absent.
            thread_id: The host's own name for its thread; says who the agent is where
                that is not named.
            active_state: A state file: the goal then need not be in a registry.
            deactivate: Switch it off instead.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def thread_bind(self, /, **request: Unpack[ThreadBindRequest]) -> Answer:
        """Binds a host's thread to an agent.

        ``thread.bind``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            thread_id: The host's name for its thread.
            host: The host; one that names its threads when absent: `codex-app`.
            agent_id: The agent: needed to bind, and an answer's preference when
                resolving.
            execute: Act; else only show what would be written.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def thread_unbind(self, /, **request: Unpack[ThreadUnbindRequest]) -> Answer:
        """Takes the binding of a host's thread away.

        ``thread.unbind``, a write.

        Request:
            goal_id: The goal; the registry's only one when absent.
            effect_id: Makes a repeat of the same write answer the first receipt.
            thread_id: The host's name for its thread.
            host: The host; one that names its threads when absent: `codex-app`.
            agent_id: The agent: needed to bind, and an answer's preference when
                resolving.
            execute: Act; else only show what would be written.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who acts, or on which goal, is not settled.
            RefusedError: a rule says no; nothing was changed.
            BusyError: a lock was not free within the kernel's deadline; nothing was changed.
            StateError: stored state is missing, unreadable or of another version, or cannot be written.
            BoundaryError: a text holds what may not be stored.
            InternalError: a defect of LoopX.
        """
        ...

    def thread_resolve(self, /, **request: Unpack[ThreadResolveRequest]) -> Answer:
        """Says which agent a host's thread stands for.

        ``thread.resolve``, a read.

        Request:
            goal_id: The goal; the registry's only one when absent.
            thread_id: The host's name for its thread.
            host: The host; one that names its threads when absent: `codex-app`.
            agent_id: The agent: needed to bind, and an answer's preference when
                resolving.
            execute: Act; else only show what would be written.

        Raises:
            UsageError: the request is malformed.
            IdentityError: who asks, or about which goal, is not settled.
            RefusedError: what is asked about is not there, or may not be shown.
            BusyError: a lock was not free within the kernel's deadline.
            StateError: stored state is missing, unreadable or of another version.
            InternalError: a defect of LoopX.
        """
        ...

class LoopSession:
    """A host's loop in its process: tell it what happened, it answers what to do next.

    What matters is in the store; this holds the generation that it saw, the failures in a row,
    and what a person did while the store could not be reached. Steps of one session happen one
    after the other, also from several threads.
    """

    @property
    def goal_id(self) -> str:
        """The goal that the session follows."""
        ...

    def __init__(
        self, kernel: Kernel, /, *, goal_id: str, **options: Unpack[LoopSessionOptions]
    ) -> None:
        """A session of a host that follows ``goal_id``.

        Raises:
            UsageError: an option is malformed, or there is none of that name.
        """
        ...

    def step(self, event: LoopEvent | str, /) -> LoopAnswer:
        """Tells the loop what happened: an event, or its kind where it has nothing else.

        A step that fails is an answer with ``ok: False``, and with the action to wait.

        Raises:
            UsageError: there is no such event.
        """
        ...

    def owed(self) -> list[LoopEvent]:
        """What a person did that is not stored yet."""
        ...
