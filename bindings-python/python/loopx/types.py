# Made by `cargo xtask generate` from the table of operations and the JSON Schemas of the
# kernel. Do not edit: a test compares it with what the sources say.

"""What the kernel is asked and answers, as typed dictionaries. Nothing is checked when a program
runs: they are for type checkers and for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Required

Answer: TypeAlias = dict[str, Any]
"""Any answer; ``answer["ok"]`` is false only where a refusal is an answer."""


class LoopAnswer(TypedDict, total=False):
    """What ``loop.step`` and a ``LoopSession`` answer."""

    ok: Required[bool]
    """False where the step failed; the action is then to wait."""
    action: Required[LoopAction]
    """What the host does next."""
    notice: LoopNotice
    """What a person is told, when it is something new."""
    loop: dict[str, Any]
    """How the loop stands."""
    decision: dict[str, Any]
    """What of the decision a host shows."""
    commit: int
    """Number of the last commit; see ``goal_changed_since``."""
    error_code: str
    """Where the step failed: why."""
    error: str
    """Where the step failed: one sentence."""


class ChangedSince(TypedDict):
    """What ``goal.changed_since`` answers."""

    ok: bool
    """True."""
    commit: int
    """The last commit."""
    changed: bool
    """Something that decisions go by changed."""
    edited: bool
    """The state file has hand edits that the next write takes in."""
    mark: str
    """Differs whenever the answer would tell something new."""


class Actions(TypedDict):
    """One thing for a person."""

    todo_id: str | None
    """Todo."""
    text: str
    """Its text."""


class UserChannel(TypedDict, total=False):
    """Person."""

    action_required: Required[bool]
    """Nothing goes on until a person acts."""
    notify: Required[str]
    """`NOTIFY` or `DONT_NOTIFY`."""
    non_blocking: bool
    """Told beside running work."""
    actions: list[Actions]
    """The questions, at most three."""
    more: int | None
    """How many there are in all, when more than shown."""


class AgentChannel(TypedDict):
    """Agent."""

    must_attempt: bool
    """It must work now."""
    delivery_allowed: bool
    """It may deliver, not only mend."""
    quiet_noop_allowed: bool
    """Doing nothing, silently, is right."""
    primary_action: str
    """One sentence."""


class CliChannel(TypedDict, total=False):
    """Command line."""

    spend_allowed_now: Required[bool]
    """Never: a decision is not work."""
    spend_after_validation: Required[bool]
    """A slot is spent once the work is validated."""
    next_cli_actions: list[str]
    """Next commands."""


class InteractionContract(TypedDict):
    """Who does what."""

    schema_version: str
    """`loopx_interaction_contract_v0`."""
    mode: str
    """Mode."""
    user_channel: UserChannel
    """Person."""
    agent_channel: AgentChannel
    """Agent."""
    cli_channel: CliChannel
    """Command line."""


class SelectedTodo(TypedDict, total=False):
    """The todo."""

    schema_version: Required[str]
    """`quota_selected_todo_v0`."""
    todo_id: Required[str | None]
    """Identity; null for a line of the state file that no command has taken in yet."""
    text: Required[str]
    """Its text, cut."""
    task_class: Required[str]
    """Class."""
    priority: str | None
    """`P0` to `P4`."""
    action_kind: str | None
    """Kind of work."""
    target_key: str | None
    """Monitors: what is watched."""
    claimed_by: str | None
    """Holder."""
    selected_by: Required[str]
    """`current_agent_claimed_todo`, `unclaimed_todo` or `scoped_user_gate_fallback`."""
    claim_required_before_work: Required[bool]
    """Claim it before working."""


class Quota(TypedDict, total=False):
    """Window."""

    compute: Required[float]
    """Share of the window."""
    window_hours: Required[int]
    """Hours."""
    slot_minutes: Required[int]
    """Minutes of a slot."""
    allowed_slots: Required[int]
    """Slots allowed."""
    spent_slots: Required[int | None]
    """Slots spent."""
    reserved_slots: Required[int | None]
    """Slots reserved."""
    state: Required[str]
    """Same as the packet's."""
    reason: str | None
    """Same as the packet's."""


class Limits(TypedDict, total=False):
    """Polls allowed; empty where there is no limit."""

    local_scheduler: int | None
    """Shell worker and other local schedulers."""
    codex_cli_tui: int | None
    """Codex CLI."""
    claude_code_loop: int | None
    """Claude Code."""
    codex_app_ssh_goal: int | None
    """Codex App over SSH."""


class AfterLimits(TypedDict, total=False):
    """What follows; a short packet says nothing where there is no limit."""

    local_scheduler: str | None
    """Shell worker and other local schedulers."""
    codex_cli_tui: str | None
    """Codex CLI."""
    claude_code_loop: str | None
    """Claude Code."""
    codex_app_ssh_goal: str | None
    """Codex App over SSH."""


class UnchangedPoll(TypedDict, total=False):
    """A wait or a run."""

    limits: Required[Limits]
    """Polls allowed; empty where there is no limit."""
    after_limits: Required[AfterLimits]
    """What follows; a short packet says nothing where there is no limit."""
    final_quota_replan_check_enabled: Required[bool]
    """One recheck before it follows."""
    final_quota_replan_check_action: str | None
    """What the recheck is."""


class PacketSchedulerHintUnchangedPoll(TypedDict):
    """A stop, or a context that is to be repaired."""

    local_scheduler: str
    """Directive for local schedulers; `stop` is the one word that ends them."""
    codex_cli_tui: str
    """Directive for Codex CLI."""
    codex_app_ssh_goal: str
    """Directive for Codex App over SSH."""
    claude_code_loop: str
    """Directive for Claude Code."""
    final_quota_replan_check_enabled: bool
    """Never."""


class ExecutionContext(TypedDict, total=False):
    """With validity."""

    schema_version: Required[str]
    """`scheduler_execution_context_v0`."""
    host_surface: Required[str]
    """Host surface."""
    scheduler_owner: Required[str]
    """Who owns the schedule."""
    execution_mode: Required[str]
    """How the host runs."""
    source: Required[str]
    """Where the context was said."""
    valid: Required[bool]
    """The three go together."""
    app_automation_applicability: Required[str]
    """`applicable`, `not_applicable` or `blocked_invalid_context`."""
    errors: list[str]
    """Why they do not."""


class PacketSchedulerHintExecutionContext(TypedDict):
    """The words."""

    host_surface: str
    """Host surface."""
    scheduler_owner: str
    """Who owns the schedule."""
    execution_mode: str
    """How the host runs."""
    source: str
    """`runtime_profile:<name>`, `explicit` or `loopx_turn`."""


class ExecutionPhase(TypedDict):
    """Where the host stands."""

    schema_version: str
    """`scheduler_execution_phase_v0`."""
    host_surface: str
    """Host surface."""
    scheduler_owner: str
    """Who owns the schedule."""
    disposition: str
    """`host_action_required`, `not_required`, `<owner>_owned` or `contract_error`."""
    completed: bool
    """Nothing is left to do."""
    apply_needed: bool
    """The host has to set its schedule."""
    ack_needed: bool
    """The host has to acknowledge."""
    acknowledged: bool
    """Never: a hint acknowledges nothing."""


class ResetPolicy(TypedDict, total=False):
    """Tokens; absent for a stop."""

    reset_token: Required[str]
    """Changes when the wait is another one; only equality matters."""
    identity_signature: Required[str]
    """Digest of what is waited on, without the ladder."""
    host_state_key: str | None
    """Where a host keeps the token."""
    app_automation_initial_interval_minutes: int | None
    """App hosts: minutes that a reset goes back to."""
    app_automation_initial_rrule: str | None
    """App hosts: the same as a rule."""


class AppAutomation(TypedDict, total=False):
    """For hosts that keep the schedule themselves."""

    applicability: Required[str]
    """`applicable`, `not_applicable` or `blocked_invalid_context`."""
    host_surface: str | None
    """Which app."""
    reason_code: str | None
    """Why it is not applicable."""
    apply: Required[str]
    """What becomes of the schedule."""
    host_action: Required[str]
    """What the host does."""
    host_action_contract: str | None
    """The order of what it does."""
    host_tool: str | None
    """The tool that does it."""
    ack_required: bool | None
    """Not through a wait: whether an acknowledgement is asked for."""
    recommended_interval_minutes: int | None
    """Minutes of the step."""
    max_interval_minutes: int | None
    """Minutes of the last step."""
    unchanged_poll_backoff_multiplier: int | None
    """What the ladder roughly grows by."""
    example_progression_minutes: list[int]
    """The ladder."""
    recommended_rrule: str | None
    """The rule to set, when one is to be set."""
    rrule_source: str | None
    """Where a host reads the rule from."""
    stateful_backoff: Any
    """Where the walk stands."""
    ack_hint: Any
    """How to say that the rule was set."""
    failure_hint: Any
    """How to say that it could not be set."""
    fallback_hint: Any
    """Codex App: the earlier tool's bridge, where it is installed."""
    host_action_required: bool | None
    """Stops: the host must act."""
    attempt_limit: int | None
    """Stops: how often it tries."""
    verify_host_result: bool | None
    """Stops: it looks whether it worked."""
    resume_trigger: str | None
    """Stops: what starts it again."""
    no_spend_for_host_action: bool | None
    """Stops: always true."""
    no_spend_for_cadence_change: bool | None
    """Always true."""


class CodexApp(TypedDict, total=False):
    """The same under the name that Codex App's automations of the earlier tool read."""

    applicability: Required[str]
    """`applicable`, `not_applicable` or `blocked_invalid_context`."""
    host_surface: str | None
    """Which app."""
    reason_code: str | None
    """Why it is not applicable."""
    apply: Required[str]
    """What becomes of the schedule."""
    host_action: Required[str]
    """What the host does."""
    host_action_contract: str | None
    """The order of what it does."""
    host_tool: str | None
    """The tool that does it."""
    ack_required: bool | None
    """Not through a wait: whether an acknowledgement is asked for."""
    recommended_interval_minutes: int | None
    """Minutes of the step."""
    max_interval_minutes: int | None
    """Minutes of the last step."""
    unchanged_poll_backoff_multiplier: int | None
    """What the ladder roughly grows by."""
    example_progression_minutes: list[int]
    """The ladder."""
    recommended_rrule: str | None
    """The rule to set, when one is to be set."""
    rrule_source: str | None
    """Where a host reads the rule from."""
    stateful_backoff: Any
    """Where the walk stands."""
    ack_hint: Any
    """How to say that the rule was set."""
    failure_hint: Any
    """How to say that it could not be set."""
    fallback_hint: Any
    """Codex App: the earlier tool's bridge, where it is installed."""
    host_action_required: bool | None
    """Stops: the host must act."""
    attempt_limit: int | None
    """Stops: how often it tries."""
    verify_host_result: bool | None
    """Stops: it looks whether it worked."""
    resume_trigger: str | None
    """Stops: what starts it again."""
    no_spend_for_host_action: bool | None
    """Stops: always true."""
    no_spend_for_cadence_change: bool | None
    """Always true."""


class GoalRuntimeContinuation(TypedDict, total=False):
    """For goal runtimes."""

    schema_version: Required[str]
    """`goal_runtime_continuation_v0`."""
    disposition: Required[str]
    """`continue_now`, `defer`, `return_to_owner` or `complete`."""
    recheck_after_seconds: int | None
    """Deferred: seconds to the next look."""
    recheck_source: str | None
    """Deferred to an instant: `frontier_earliest_material_transition`."""
    wake_policy: str | None
    """Deferred: `state_change_or_deadline`."""


class UserGateNotificationCooldown(TypedDict):
    """Gates: when a person is reminded, while a host polls too fast."""

    schema_version: str
    """`user_gate_notification_cooldown_v0`."""
    active: bool
    """Always true."""
    notification_due: bool
    """This poll may tell the person."""
    notification_suppressed: bool
    """This poll is silent."""
    policy: str
    """`failed_host_update_bounded_reminder_window`."""
    cooldown_minutes: int
    """Minutes between reminders: what the schedule should have been."""
    reminder_window_minutes: int
    """Minutes in which one poll falls: what the schedule is."""
    failed_at: str
    """When the update failed."""
    next_reminder_at: str
    """The next reminder."""


class ConsistencyError(TypedDict, total=False):
    """What is to be repaired."""

    schema_version: str | None
    """`scheduler_arbitration_v0`, for a contract."""
    source: str | None
    """`scheduler_execution_context`, for a context."""
    reason_code: str | None
    """One word, for a contract."""
    mode: str | None
    """The contract's mode, when it has one."""
    errors: Required[list[str]]
    """What contradicts what."""
    repair_action: Required[str]
    """What to do."""


class DetailRef(TypedDict):
    """Where the rest is."""

    schema_version: str
    """`scheduler_hint_detail_v0`."""
    omitted_by_default: bool
    """Always true."""
    execution_required: bool
    """Never: the hint alone is enough to act."""
    request: str
    """The command that shows it."""
    hot_path_runtime_fields: list[str]
    """What a loop reads from the hint alone."""
    contains: list[str]
    """What the detail has."""


class FinalQuotaReplanCheck(TypedDict):
    """The one recheck before it follows."""

    enabled: bool
    """There is a limit."""
    trigger: str
    """When."""
    action: str
    """What."""
    if_changed: str
    """Another answer came."""
    if_run_now: str
    """The agent may run now."""
    if_unchanged: str
    """The same answer came."""


class LocalScheduler(TypedDict):
    """For local schedulers."""

    recommended_interval_minutes: int
    """First step."""
    max_interval_minutes: int
    """Last step."""
    unchanged_poll_backoff_multiplier: int
    """What the ladder roughly grows by."""
    example_progression_minutes: list[int]
    """Steps by number of unchanged polls."""
    unchanged_poll_limit: int | None
    """Polls allowed."""
    after_limit: str
    """What follows."""
    final_quota_replan_check: FinalQuotaReplanCheck
    """The one recheck before it follows."""
    no_spend_for_cadence_change: bool
    """Always true."""


class CodexCliTui(TypedDict, total=False):
    """For Codex CLI."""

    unchanged_poll_limit: Required[int | None]
    """Polls allowed."""
    after_limit: Required[str]
    """What follows."""
    final_quota_replan_check: Required[FinalQuotaReplanCheck]
    """The one recheck before it follows."""
    loopx_goal_state: Required[str]
    """`remains_active`: the host's goal is blocked, ours is not."""
    resume_trigger: Required[str]
    """`explicit_codex_goal_resume`."""
    no_spend_for_block: Required[bool]
    """Always true."""
    no_spend_for_exit: bool | None
    """Codex CLI: always true."""


class CodexAppSshGoal(TypedDict, total=False):
    """For Codex App over SSH."""

    unchanged_poll_limit: Required[int | None]
    """Polls allowed."""
    after_limit: Required[str]
    """What follows."""
    final_quota_replan_check: Required[FinalQuotaReplanCheck]
    """The one recheck before it follows."""
    loopx_goal_state: Required[str]
    """`remains_active`: the host's goal is blocked, ours is not."""
    resume_trigger: Required[str]
    """`explicit_codex_goal_resume`."""
    no_spend_for_block: Required[bool]
    """Always true."""
    no_spend_for_exit: bool | None
    """Codex CLI: always true."""


class ClaudeCodeLoop(TypedDict):
    """For Claude Code."""

    unchanged_poll_limit: int | None
    """Polls allowed."""
    after_limit: str
    """What follows."""
    final_quota_replan_check: FinalQuotaReplanCheck
    """The one recheck before it follows."""
    no_spend_for_stop: bool
    """Always true."""


class PacketSchedulerHintColdPathDetailFinalQuotaReplanCheck(TypedDict):
    """The one recheck."""

    enabled: bool
    """There is a limit."""
    trigger: str
    """When."""
    action: str
    """What."""
    if_changed: str
    """Another answer came."""
    if_run_now: str
    """The agent may run now."""
    if_unchanged: str
    """The same answer came."""


class ResetPolicyDetail(TypedDict, total=False):
    """How a reset works."""

    schema_version: Required[str]
    """`scheduler_reset_policy_v0`."""
    source: Required[str]
    """Always `quota.should-run`."""
    reset_to: Required[str]
    """`profile_initial_interval`."""
    profile_action: Required[str]
    """What the host does."""
    reset_token: Required[str]
    """Token."""
    host_state_key: Required[str]
    """Where a host keeps it."""
    local_scheduler_initial_interval_minutes: Required[int]
    """Minutes that a local scheduler goes back to."""
    clear_unchanged_poll_state: Required[bool]
    """Always true."""
    identity_key_count: Required[int]
    """How many paths make the identity."""
    identity_signature: Required[str]
    """Digest of the identity."""
    profile_signature: Required[str]
    """Digest of class and ladder."""
    reset_profile_signature: Required[str]
    """Digest of what of them a reset depends on."""
    reset_condition_summary: Required[str]
    """What changes a token, joined by `|`."""
    after_reset: Required[str]
    """What follows a reset."""
    no_spend_for_reset: Required[bool]
    """Always true."""
    app_automation_initial_interval_minutes: int | None
    """App hosts: minutes that a reset goes back to."""
    app_automation_initial_rrule: str | None
    """App hosts: the same as a rule."""
    app_automation_tool: str | None
    """App hosts: the tool that sets a schedule."""
    app_automation_apply: str | None
    """App hosts: what a reset has them do."""


class StatefulBackoffDetail(TypedDict):
    """App hosts: how their schedule climbs."""

    ack_required_after_apply: bool
    """The host acknowledges what it set."""
    ack_required_from_host_match: bool
    """The host acknowledges what it has already."""
    automation_update_scope: str
    """What an update may touch."""
    coarser_wait_fallback: str
    """Who waits longer than the host can."""
    current_interval_minutes: int
    """Minutes of the step."""
    host_max_interval_minutes: int
    """Minutes of the last step."""
    host_update_failure: str
    """What becomes of a failed update."""
    persist: str
    """What is kept between polls, joined by `|`."""
    progression_minutes: list[int]
    """The ladder."""
    reset_action: str
    """What a reset does."""
    same_identity_action: str
    """What the same identity does."""


class ResetProfile(TypedDict, total=False):
    """What a reset of the wait depends on."""

    monitor_wait_phase: Required[str]
    """Phase."""
    monitor_wait_host_floor_minutes: Required[int]
    """Minutes that no step goes below."""
    monitor_wait_selected_identity: Required[str]
    """Which monitor."""
    monitor_wait_cadence_minutes: int | None
    """How often."""
    monitor_wait_window_start_at: str | None
    """When its time comes."""
    monitor_wait_window_end_at: str | None
    """When its time is over."""


class CadenceContext(TypedDict, total=False):
    """Monitor waits: what they are measured by."""

    phase: Required[str]
    """`active_window`, `near_window`, `far_window`, `cadence_only` or `expired`."""
    base_progression_minutes: Required[list[int]]
    """The ladder without a monitor."""
    progression_minutes: list[int] | None
    """The ladder."""
    cap_minutes: int | None
    """Minutes that no step exceeds."""
    host_floor_minutes: Required[int]
    """Minutes that no step goes below."""
    candidate_count: int | None
    """Monitors that could be waited for."""
    expired_monitor_count: Required[int]
    """Monitors that are past their end."""
    selected_monitor_identity: str | None
    """Which."""
    selected_todo_id: str | None
    """Its id."""
    selected_target_key: str | None
    """What is watched."""
    cadence_minutes: int | None
    """How often."""
    next_due_at: str | None
    """When next."""
    expires_at: str | None
    """Until when."""
    last_checked_at: str | None
    """When it was looked at last."""
    reset_profile: ResetProfile | None
    """What a reset of the wait depends on."""


class FrontierRecheck(TypedDict):
    """The next instant at which time alone changes the answer."""

    frontier_recheck_after_seconds: int
    """Seconds until then, at least one."""
    frontier_recheck_source: str
    """What kind of thing comes due."""
    frontier_recheck_identity: str
    """Which."""
    frontier_recheck_candidate_count: int
    """How many things have an instant."""


class PacketSchedulerHintColdPathDetailExecutionContext(TypedDict, total=False):
    """App hosts: who wakes the agent."""

    schema_version: Required[str]
    """`scheduler_execution_context_v0`."""
    host_surface: Required[str]
    """Host surface."""
    scheduler_owner: Required[str]
    """Who owns the schedule."""
    execution_mode: Required[str]
    """How the host runs."""
    source: Required[str]
    """Where the context was said."""
    valid: Required[bool]
    """The three go together."""
    app_automation_applicability: Required[str]
    """`applicable`, `not_applicable` or `blocked_invalid_context`."""
    errors: list[str]
    """Why they do not."""


class PacketSchedulerHintColdPathDetailExecutionPhase(TypedDict):
    """App hosts: where the host stands."""

    schema_version: str
    """`scheduler_execution_phase_v0`."""
    host_surface: str
    """Host surface."""
    scheduler_owner: str
    """Who owns the schedule."""
    disposition: str
    """`host_action_required`, `not_required`, `<owner>_owned` or `contract_error`."""
    completed: bool
    """Nothing is left to do."""
    apply_needed: bool
    """The host has to set its schedule."""
    ack_needed: bool
    """The host has to acknowledge."""
    acknowledged: bool
    """Never: a hint acknowledges nothing."""


class ColdPathDetail(TypedDict, total=False):
    """The ladder and all that goes with it, on request."""

    schema_version: Required[str]
    """`scheduler_hint_detail_v0`."""
    source: Required[str]
    """Always `quota.should-run`."""
    local_scheduler: Required[LocalScheduler]
    """For local schedulers."""
    codex_cli_tui: Required[CodexCliTui]
    """For Codex CLI."""
    codex_app_ssh_goal: Required[CodexAppSshGoal]
    """For Codex App over SSH."""
    claude_code_loop: Required[ClaudeCodeLoop]
    """For Claude Code."""
    final_quota_replan_check: Required[PacketSchedulerHintColdPathDetailFinalQuotaReplanCheck]
    """The one recheck."""
    reset_policy_detail: Required[ResetPolicyDetail]
    """How a reset works."""
    stateful_backoff_detail: StatefulBackoffDetail | None
    """App hosts: how their schedule climbs."""
    cadence_context: CadenceContext | None
    """Monitor waits: what they are measured by."""
    frontier_recheck: FrontierRecheck | None
    """The next instant at which time alone changes the answer."""
    execution_context: PacketSchedulerHintColdPathDetailExecutionContext | None
    """App hosts: who wakes the agent."""
    execution_phase: PacketSchedulerHintColdPathDetailExecutionPhase | None
    """App hosts: where the host stands."""


class SchedulerHint(TypedDict, total=False):
    """When to look again."""

    schema_version: Required[str]
    """`scheduler_hint_v0`."""
    source: Required[str]
    """Always `quota.should-run`."""
    action: Required[str]
    """What the host does."""
    cadence_class: Required[str]
    """Class."""
    reason_code: Required[str]
    """Why."""
    reason: str | None
    """Why, one sentence."""
    spend_policy: str | None
    """What may be spent for it: nothing."""
    next_check_minutes: int | None
    """Minutes to the first next look: the ladder's first step, earlier when a monitor
    comes due or a slot comes free before; absent for a stop.
    """
    unchanged_poll: Required[UnchangedPoll | PacketSchedulerHintUnchangedPoll]
    """Unchanged polls."""
    unchanged_identity_keys: list[str]
    """What makes two polls the same: paths into the decision."""
    execution_context: ExecutionContext | PacketSchedulerHintExecutionContext | None
    """Who wakes the agent, when the door said so."""
    execution_phase: ExecutionPhase | None
    """Where the host stands."""
    reset_policy: ResetPolicy | None
    """Tokens; absent for a stop."""
    app_automation: AppAutomation | None
    """For hosts that keep the schedule themselves."""
    codex_app: CodexApp | None
    """The same under the name that Codex App's automations of the earlier tool read."""
    goal_runtime_continuation: GoalRuntimeContinuation | None
    """For goal runtimes."""
    user_gate_notification_cooldown: UserGateNotificationCooldown | None
    """Gates: when a person is reminded, while a host polls too fast."""
    consistency_error: ConsistencyError | None
    """What is to be repaired."""
    detail_ref: DetailRef | None
    """Where the rest is."""
    cold_path_detail: ColdPathDetail | None
    """The ladder and all that goes with it, on request."""


class AgentIdentity(TypedDict, total=False):
    """Who asked."""

    agent_id: Required[str | None]
    """Canonical id."""
    registered: Required[bool]
    """In the roster."""
    schema_version: str | None
    """Version of these fields."""
    agent_model: str | None
    """How agents stand to each other."""
    registered_agents: list[str]
    """The roster, at most twenty of it."""


class Findings(TypedDict, total=False):
    """Something that is not as it should be; shown, never acted on by a machine."""

    code: Required[str]
    """Stable word."""
    about: Required[str]
    """The todo, field or file that it is about."""
    message: str
    """One sentence."""
    next_command: str | None
    """How to mend it."""


class HeartbeatRecommendation(TypedDict, total=False):
    """How an automation takes the answer."""

    recommended_mode: Required[str]
    """Mode."""
    notify: Required[str]
    """`NOTIFY` or `DONT_NOTIFY`."""
    agent_must_attempt: Required[bool]
    """The agent works now."""
    source: str
    spend_policy: str
    reason: str


class ExecutionObligation(TypedDict, total=False):
    """What the agent owes."""

    must_attempt_work: Required[bool]
    """It works now."""
    kind: Required[str]
    """Same as the packet's `effective_action`."""
    delivery_allowed: Required[bool]
    """It may deliver, not only mend."""
    notify_is_execution_gate: Required[bool]
    """Never: telling a person and working are apart."""
    reason: str | None


class AutomationLiveness(TypedDict):
    """Whether an automation goes on."""

    keep_active: bool
    pause_allowed: bool
    automation_action: str


class ProtocolActionPacket(TypedDict):
    """The answer in one line."""

    schema_version: str
    """`protocol_action_packet_v0`."""
    summary: str


class PlanSummary(TypedDict):
    """Open todos by who does them."""

    agent_open: int
    user_open: int


class TodoWriteHint(TypedDict):
    """Whether todos are to be written."""

    required: bool


class TerminalState(TypedDict):
    """What kind of end it is."""

    schema_version: str
    """`goal_terminal_state_v0`."""
    kind: str
    derived: bool
    source: str


class SourceCompleteness(TypedDict):
    """What the end was derived from."""

    schema_version: str
    """`goal_terminal_source_completeness_v0`."""
    user_todos: str
    agent_todos: str


class GoalFrontierProjection(TypedDict):
    """Only when the goal is proven ended: hosts stop on nothing less."""

    terminal_state: TerminalState
    """What kind of end it is."""
    source_completeness: SourceCompleteness
    """What the end was derived from."""


class Packet(TypedDict, total=False):
    """What `quota.should_run` and `turn.admit` answer."""

    ok: Required[bool]
    """An answer was reached, also when it is "do not run" (exit status 0)."""
    status_health_ok: Required[bool]
    """The records can be trusted."""
    mode: Required[str]
    """`should-run`."""
    goal_id: Required[str]
    """Goal."""
    decision: Required[str]
    """Decision."""
    should_run: Required[bool]
    """May the agent run."""
    rule: Required[str]
    """The rule that decided."""
    rule_order: Required[int]
    """Its place in the table."""
    effective_action: Required[str]
    """What is done."""
    state: Required[str]
    """State."""
    reason: Required[str]
    """Why, one sentence."""
    reason_code: str | None
    """Why, one word."""
    pause_cause: str | None
    """What stopped the goal."""
    next_eligible_at: str | None
    """When a slot comes free."""
    interaction_contract: Required[InteractionContract]
    """Who does what."""
    selected_todo: Required[SelectedTodo | None]
    """The todo."""
    quota: Required[Quota]
    """Window."""
    scheduler_hint: Required[SchedulerHint]
    """When to look again."""
    agent_identity: Required[AgentIdentity]
    """Who asked."""
    notify_key: str | None
    """Shown once per key by a loop that tells a person."""
    findings: list[Findings]
    """What is not as it should be, at most three."""
    normal_delivery_allowed: Required[bool]
    recovery_delivery_allowed: Required[bool]
    self_repair_allowed: Required[bool]
    capability_repair_allowed: Required[bool]
    workspace_repair_allowed: Required[bool]
    actionable_by_codex: Required[bool]
    safe_bypass_allowed: Required[bool]
    waiting_on: Required[str]
    status: Required[str]
    lifecycle_phase: Required[str]
    lifecycle_flags: Required[list[Any]]
    source: Required[str]
    recommended_action: Required[str]
    requires_user_action: Required[bool]
    pending_user_action: bool
    """A person is to act, and was told a short while ago."""
    action_required: Required[bool]
    """The agent is to work or a person to act."""
    open_count: Required[int]
    heartbeat_recommendation: Required[HeartbeatRecommendation]
    """How an automation takes the answer."""
    execution_obligation: Required[ExecutionObligation]
    """What the agent owes."""
    automation_liveness: Required[AutomationLiveness]
    """Whether an automation goes on."""
    protocol_action_packet: Required[ProtocolActionPacket]
    """The answer in one line."""
    plan_summary: Required[PlanSummary]
    """Open todos by who does them."""
    todo_write_hint: Required[TodoWriteHint]
    """Whether todos are to be written."""
    goal_frontier_projection: GoalFrontierProjection | None
    """Only when the goal is proven ended: hosts stop on nothing less."""
    rollout_event: Required[None]


class LoopEventActivated(TypedDict):
    """The session follows this goal from now on."""

    kind: Literal["activated"]


class LoopEventSettled(TypedDict, total=False):
    """The agent has finished what it was doing and the session is idle. A turn that the
    agent left unsettled ends here.
    """

    kind: Required[Literal["settled"]]
    turn_instance_id: str | None
    """The turn that is over, from a host that knows; a host that only knows that the
    session is idle leaves it out, and the loop goes by whether the prompt arrived.
    """


class LoopEventUserPrompt(TypedDict, total=False):
    """The session got a prompt: the loop's own coming back, or one of the person."""

    kind: Required[Literal["user_prompt"]]
    prompt: str | None
    """Its text. Compared with the turn that is out, never kept."""


class LoopEventDelivered(TypedDict):
    """The host has begun the turn that it was handed."""

    kind: Literal["delivered"]


class LoopEventAborted(TypedDict):
    """The person stopped the agent."""

    kind: Literal["aborted"]


class LoopEventPaused(TypedDict):
    """The person pauses the loop."""

    kind: Literal["paused"]


class LoopEventResumed(TypedDict):
    """The person resumes the loop."""

    kind: Literal["resumed"]


class LoopEventTimer(TypedDict):
    """A timer of the host fired."""

    kind: Literal["timer"]


class LoopEventChanged(TypedDict):
    """The goal changed: somebody else committed."""

    kind: Literal["changed"]


class LoopEventProbeFailed(TypedDict, total=False):
    """The host could not ask."""

    kind: Required[Literal["probe_failed"]]
    retry_seconds: int | None
    """Seconds of the first wait, of a host that has its own."""


class LoopEventCompacted(TypedDict):
    """The session's context was compacted."""

    kind: Literal["compacted"]


class LoopEventSessionReplaced(TypedDict):
    """Another runtime has the session: the host was restarted or reloaded."""

    kind: Literal["session_replaced"]


class LoopEventHostError(TypedDict, total=False):
    """The turn broke in the host: the model failed, a child timed out."""

    kind: Required[Literal["host_error"]]
    retry_seconds: int | None
    """Seconds of the first wait, of a host that has its own."""


class LoopEventDisposed(TypedDict, total=False):
    """The runtime is going away."""

    kind: Required[Literal["disposed"]]
    ended_turn: bool
    """The turn that was out is over: the runtime has stopped it, or it ended."""
    finished: bool
    """It ended by itself and well; nobody stopped it."""

LoopEvent: TypeAlias = LoopEventActivated | LoopEventSettled | LoopEventUserPrompt | LoopEventDelivered | LoopEventAborted | LoopEventPaused | LoopEventResumed | LoopEventTimer | LoopEventChanged | LoopEventProbeFailed | LoopEventCompacted | LoopEventSessionReplaced | LoopEventHostError | LoopEventDisposed
"""Something that happened to a session."""


class LoopActionPrompt(TypedDict, total=False):
    """Send this prompt; the turn is admitted. Sent again after a restart it is the same
    prompt with the same turn.
    """

    kind: Required[Literal["prompt"]]
    turn_id: Required[str]
    """The turn."""
    todo_id: str | None
    """What it is bound to."""
    text: Required[str]
    """What the agent reads; its last line names the turn."""


class LoopActionWait(TypedDict):
    """Nothing to do until then."""

    kind: Literal["wait"]
    until: str
    """When to send a `timer` event."""


class LoopActionRecheck(TypedDict):
    """Send a `timer` event at once: the one recheck before the unchanged limit ends the loop.
    """

    kind: Literal["recheck"]


class LoopActionPause(TypedDict, total=False):
    """The loop is paused."""

    kind: Required[Literal["pause"]]
    reason: Required[Literal["user_paused", "user_prompt", "aborted", "unchanged_limit", "goal_stopped", "quota_paused", "returned_to_owner", "terminal", "replaced"]]
    """Why."""
    directive: str | None
    """What the hint tells this host to do, such as
    `update_goal_blocked_keep_loopx_active`.
    """


class LoopActionStop(TypedDict, total=False):
    """The loop is over."""

    kind: Required[Literal["stop"]]
    reason: Required[Literal["user_paused", "user_prompt", "aborted", "unchanged_limit", "goal_stopped", "quota_paused", "returned_to_owner", "terminal", "replaced"]]
    """Why."""
    directive: str | None
    """What the hint tells this host to do, such as `exit`."""


class LoopActionIdle(TypedDict):
    """Nothing: the agent is at work, or the loop does not go on by itself."""

    kind: Literal["idle"]

LoopAction: TypeAlias = LoopActionPrompt | LoopActionWait | LoopActionRecheck | LoopActionPause | LoopActionStop | LoopActionIdle
"""What the host does next."""


class LoopNotice(TypedDict, total=False):
    """What a person is told, once per key."""

    key: Required[str]
    """Shown once; another key is another notice."""
    text: Required[str]
    """One sentence."""
    commands: list[str]
    """What they can do."""


class UnreadableGoals(TypedDict):
    """A goal that cannot be read: whether the session follows it is not known."""

    goal_id: str
    """The goal as its registry names it."""
    error_code: str
    """Why, as the code of the refusal."""
    error: str
    """Why, one sentence."""
    about: str
    """What could not be read."""
    next_command: str
    """What to do about it."""


class LoopsShown(TypedDict, total=False):
    """What `loop.show` answers."""

    ok: Required[bool]
    """True."""
    goal_id: str | None
    """The goal that was asked about; absent for a session wherever it is."""
    loops: Required[list[dict[str, Any]]]
    """How each loop stands: goal, session, state, what it waits for."""
    unreadable_goals: Required[list[UnreadableGoals]]
    """Goals that the session may follow as well: they could not be read."""


class TodoAddRequest(TypedDict, total=False):
    """Request of `todo.add`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    role: Required[Literal["user", "agent"]]
    """Whose list."""
    text: Required[str]
    """The line, with `[P0]` to `[P4]` in front for a priority."""
    status: Literal["open", "done", "blocked", "deferred"] | None
    """`open`, `blocked` or `deferred`."""
    agent_id: str | None
    """Who adds it; for user todos also whom it concerns."""
    note: str | None
    """Remark."""
    reason: str | None
    """Why it is blocked."""
    task_class: Literal["advancement_task", "continuous_monitor", "user_gate", "user_action", "blocker"] | None
    """Class."""
    action_kind: str | None
    """Kind of work, `[a-z][a-z0-9_-]{0,63}`."""
    task_domain: str | None
    """Domain word."""
    task_repository: str | None
    """Repository the work belongs to."""
    continuation_policy: str | None
    """`independent_handoff` or `same_agent_non_delivery`."""
    required_write_scopes: list[str]
    """Path globs."""
    required_capabilities: list[str]
    """Capabilities needed."""
    target_capabilities: list[str]
    """Capabilities to obtain."""
    decision_scope: str | None
    """Gates: scope decided."""
    required_decision_scopes: list[str]
    """Scopes needed."""
    claimed_by: str | None
    """Holder."""
    bound_agent: str | None
    """User todos: whom it concerns."""
    goal_bound: bool | None
    """User todos: everyone."""
    blocks_agent: str | None
    """Gates: whom it blocks."""
    global_gate: bool | None
    """Gates: everyone."""
    excluded_agents: list[str]
    """Who may not take it."""
    unblocks_todo_id: str | None
    """Gates: what it blocks."""
    resume_when: str | None
    """Condition."""
    target_key: str | None
    """Monitors: what."""
    cadence: str | None
    """Monitors: how often."""
    next_due_at: str | None
    """Monitors: when next."""
    expires_at: str | None
    """Monitors: until when."""
    watch_only: bool | None
    """Monitors: never closed."""


class TodoListRequest(TypedDict, total=False):
    """Request of `todo.list`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    role: Literal["user", "agent"] | None
    """One role only."""
    status: Literal["open", "done", "blocked", "deferred"] | None
    """One status only."""
    todo_id: str | None
    """One todo only."""
    agent_id: str | None
    """What this agent may see: unclaimed or its own, not excluded; user todos that
    concern it.
    """
    limit: int | None
    """At most so many."""
    archived: bool
    """With archived ones."""


class TodoClaimRequest(TypedDict, total=False):
    """Request of `todo.claim`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: Required[str]
    """Which."""
    claimed_by: str | None
    """For whom; the acting agent when absent."""
    agent_id: str | None
    """Who acts."""


class TodoUpdateRequest(TypedDict, total=False):
    """Request of `todo.update`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """Which."""
    agent_id: str | None
    """Who acts."""
    text: str | None
    """New text."""
    status: Literal["open", "done", "blocked", "deferred"] | None
    """New status; an agent todo is completed with `todo complete`."""
    clear: list[str]
    """Fields to take off: `claim`, `blocks-agent`, `excluded-agents`, `global-gate`,
    `unblocks-todo-id`, `decision-scope`, `resume-when`, `note`, `reason`.
    """
    successor_todo_ids: list[str]
    """Todos that follow it."""
    no_follow_up: bool
    """Nothing follows it."""
    note: str | None
    """Remark."""
    reason: str | None
    """Why it is blocked."""
    task_class: Literal["advancement_task", "continuous_monitor", "user_gate", "user_action", "blocker"] | None
    """Class."""
    action_kind: str | None
    """Kind of work, `[a-z][a-z0-9_-]{0,63}`."""
    task_domain: str | None
    """Domain word."""
    task_repository: str | None
    """Repository the work belongs to."""
    continuation_policy: str | None
    """`independent_handoff` or `same_agent_non_delivery`."""
    required_write_scopes: list[str]
    """Path globs."""
    required_capabilities: list[str]
    """Capabilities needed."""
    target_capabilities: list[str]
    """Capabilities to obtain."""
    decision_scope: str | None
    """Gates: scope decided."""
    required_decision_scopes: list[str]
    """Scopes needed."""
    claimed_by: str | None
    """Holder."""
    bound_agent: str | None
    """User todos: whom it concerns."""
    goal_bound: bool | None
    """User todos: everyone."""
    blocks_agent: str | None
    """Gates: whom it blocks."""
    global_gate: bool | None
    """Gates: everyone."""
    excluded_agents: list[str]
    """Who may not take it."""
    unblocks_todo_id: str | None
    """Gates: what it blocks."""
    resume_when: str | None
    """Condition."""
    target_key: str | None
    """Monitors: what."""
    cadence: str | None
    """Monitors: how often."""
    next_due_at: str | None
    """Monitors: when next."""
    expires_at: str | None
    """Monitors: until when."""
    watch_only: bool | None
    """Monitors: never closed."""


class NextFields(TypedDict, total=False):
    """Fields of the new agent todo."""

    note: str | None
    """Remark."""
    reason: str | None
    """Why it is blocked."""
    task_class: Literal["advancement_task", "continuous_monitor", "user_gate", "user_action", "blocker"] | None
    """Class."""
    action_kind: str | None
    """Kind of work, `[a-z][a-z0-9_-]{0,63}`."""
    task_domain: str | None
    """Domain word."""
    task_repository: str | None
    """Repository the work belongs to."""
    continuation_policy: str | None
    """`independent_handoff` or `same_agent_non_delivery`."""
    required_write_scopes: list[str]
    """Path globs."""
    required_capabilities: list[str]
    """Capabilities needed."""
    target_capabilities: list[str]
    """Capabilities to obtain."""
    decision_scope: str | None
    """Gates: scope decided."""
    required_decision_scopes: list[str]
    """Scopes needed."""
    claimed_by: str | None
    """Holder."""
    bound_agent: str | None
    """User todos: whom it concerns."""
    goal_bound: bool | None
    """User todos: everyone."""
    blocks_agent: str | None
    """Gates: whom it blocks."""
    global_gate: bool | None
    """Gates: everyone."""
    excluded_agents: list[str]
    """Who may not take it."""
    unblocks_todo_id: str | None
    """Gates: what it blocks."""
    resume_when: str | None
    """Condition."""
    target_key: str | None
    """Monitors: what."""
    cadence: str | None
    """Monitors: how often."""
    next_due_at: str | None
    """Monitors: when next."""
    expires_at: str | None
    """Monitors: until when."""
    watch_only: bool | None
    """Monitors: never closed."""


class GrantLife(TypedDict):
    """Until an instant."""

    until: str
    """RFC 3339, UTC"""


class TodoCompleteRequest(TypedDict, total=False):
    """Request of `todo.complete`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """Which."""
    agent_id: str | None
    """Who acts."""
    evidence: str | None
    """What shows that it is done."""
    note: str | None
    """Remark."""
    no_follow_up: bool
    """Nothing follows."""
    successor_todo_ids: list[str]
    """Existing todos that follow."""
    next_agent_todo: str | None
    """Text of a new agent todo that follows; inherits the priority when it has none."""
    next_user_todo: str | None
    """Text of a new user todo that follows."""
    next_user_task_class: Literal["advancement_task", "continuous_monitor", "user_gate", "user_action", "blocker"] | None
    """Class of that user todo."""
    next_fields: NextFields
    """Fields of the new agent todo."""
    decision_outcome: Literal["approve", "reject", "cancel"] | None
    """Gates: the decision."""
    grant_life: Literal["once"] | GrantLife | Literal["standing"] | None
    """Gates that approve a scope: how long it stays granted; standing when absent."""
    grant_agent: str | None
    """Gates that approve a scope: to whom; the agent that the gate blocks, else every
    agent, when absent.
    """
    turn_instance_id: str | None
    """The turn in which it was done."""


class ShouldRunRequestExecutionContext(TypedDict):
    """Who wakes the agent."""

    host_surface: str
    """Host surface."""
    scheduler_owner: str
    """Who owns the schedule."""
    execution_mode: str
    """How the host runs."""
    source: str
    """`runtime_profile:<name>`, `explicit` or `loopx_turn`."""


class ShouldRunRequest(TypedDict, total=False):
    """Request of `quota.should_run`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    agent_id: str | None
    """Who asks."""
    available_capabilities: list[str]
    """Capabilities that the door declares."""
    independent_worktree: bool
    """The door works in a worktree of its own."""
    execution_context: ShouldRunRequestExecutionContext | None
    """Who wakes the agent."""
    app_automation_current_rrule: str | None
    """App hosts: the RRULE that the host's automation has now."""
    include_detail: list[Literal["scheduler", "agent-todos", "user-todos", "goal-boundary", "vision", "all"]]
    """Sections to add."""
    turn_instance_id: str | None
    """The turn; makes it an admission. `turn.admit` without one names it itself, and gives
    the same again while that turn lives.
    """
    ttl_seconds: int | None
    """Seconds that the reservation lives, 3,600 when absent, at most 86,400."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the turn."""


class TurnAdmitRequest(TypedDict, total=False):
    """Request of `turn.admit`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    agent_id: str | None
    """Who asks."""
    available_capabilities: list[str]
    """Capabilities that the door declares."""
    independent_worktree: bool
    """The door works in a worktree of its own."""
    execution_context: ShouldRunRequestExecutionContext | None
    """Who wakes the agent."""
    app_automation_current_rrule: str | None
    """App hosts: the RRULE that the host's automation has now."""
    include_detail: list[Literal["scheduler", "agent-todos", "user-todos", "goal-boundary", "vision", "all"]]
    """Sections to add."""
    turn_instance_id: str | None
    """The turn; makes it an admission. `turn.admit` without one names it itself, and gives
    the same again while that turn lives.
    """
    ttl_seconds: int | None
    """Seconds that the reservation lives, 3,600 when absent, at most 86,400."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the turn."""


class TurnRenewRequest(TypedDict, total=False):
    """Request of `turn.renew`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    turn_instance_id: str
    """Which."""
    agent_id: str | None
    """Who acts."""
    ttl_seconds: int | None
    """Renew: seconds from now, 3,600 when absent, at most 86,400."""
    reason: str | None
    """Release: why."""


class TurnReleaseRequest(TypedDict, total=False):
    """Request of `turn.release`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    turn_instance_id: str
    """Which."""
    agent_id: str | None
    """Who acts."""
    ttl_seconds: int | None
    """Renew: seconds from now, 3,600 when absent, at most 86,400."""
    reason: str | None
    """Release: why."""


class TurnShowRequest(TypedDict, total=False):
    """Request of `turn.show`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    turn_instance_id: str
    """Which."""
    agent_id: str | None
    """Who acts."""
    ttl_seconds: int | None
    """Renew: seconds from now, 3,600 when absent, at most 86,400."""
    reason: str | None
    """Release: why."""


class Usage(TypedDict, total=False):
    """Model usage."""

    input_tokens: int
    """Tokens read."""
    output_tokens: int
    """Tokens written."""
    cost_micros: int | None
    """Cost in micro-units of the host's currency, when it knows."""


class TurnSettleRequest(TypedDict, total=False):
    """Request of `turn.settle`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    turn_instance_id: str
    """Which; the agent's only live one when empty."""
    agent_id: str | None
    """Who acts."""
    outcome: Required[Literal["progress", "completed", "blocked", "no_change", "failed"]]
    """What it came to."""
    evidence: list[str]
    """What shows it; needed for progress and completed."""
    note: str | None
    """Remark."""
    reason: str | None
    """Why; needed for blocked."""
    no_follow_up: bool
    """Completed: nothing follows."""
    successor_todo_ids: list[str]
    """Existing todos that follow."""
    next_agent_todo: str | None
    """A new agent todo that follows, or that a replan decided on."""
    next_user_todo: str | None
    """A new user todo that follows."""
    next_user_task_class: Literal["advancement_task", "continuous_monitor", "user_gate", "user_action", "blocker"] | None
    """Class of that user todo."""
    next_fields: NextFields
    """Fields of the new agent todo."""
    result_hash: str | None
    """Monitors: digest of what was seen."""
    usage: Usage | None
    """Model usage."""
    admit_next: str | None
    """Admit this turn in the same commit."""
    available_capabilities: list[str]
    """For the next decision: capabilities."""
    independent_worktree: bool
    """For the next decision: a worktree of its own."""


class TaskLeaseAcquireRequest(TypedDict, total=False):
    """Request of `task_lease.acquire`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """Which todo."""
    owner: str | None
    """Holder."""
    idempotency_key: str | None
    """The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`."""
    ttl_seconds: int | None
    """Seconds, 2,700 when absent, at most 86,400."""
    write_scopes: list[str]
    """Path globs that nobody else's lease may overlap."""
    expected_version: int | None
    """The version that the caller read; needed to renew, transfer and release."""
    new_owner: str | None
    """Transfer: to whom."""
    new_idempotency_key: str | None
    """Transfer: the new holder's key."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the lease."""


class TaskLeaseRenewRequest(TypedDict, total=False):
    """Request of `task_lease.renew`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """Which todo."""
    owner: str | None
    """Holder."""
    idempotency_key: str | None
    """The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`."""
    ttl_seconds: int | None
    """Seconds, 2,700 when absent, at most 86,400."""
    write_scopes: list[str]
    """Path globs that nobody else's lease may overlap."""
    expected_version: int | None
    """The version that the caller read; needed to renew, transfer and release."""
    new_owner: str | None
    """Transfer: to whom."""
    new_idempotency_key: str | None
    """Transfer: the new holder's key."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the lease."""


class TaskLeaseTransferRequest(TypedDict, total=False):
    """Request of `task_lease.transfer`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """Which todo."""
    owner: str | None
    """Holder."""
    idempotency_key: str | None
    """The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`."""
    ttl_seconds: int | None
    """Seconds, 2,700 when absent, at most 86,400."""
    write_scopes: list[str]
    """Path globs that nobody else's lease may overlap."""
    expected_version: int | None
    """The version that the caller read; needed to renew, transfer and release."""
    new_owner: str | None
    """Transfer: to whom."""
    new_idempotency_key: str | None
    """Transfer: the new holder's key."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the lease."""


class TaskLeaseReleaseRequest(TypedDict, total=False):
    """Request of `task_lease.release`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """Which todo."""
    owner: str | None
    """Holder."""
    idempotency_key: str | None
    """The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`."""
    ttl_seconds: int | None
    """Seconds, 2,700 when absent, at most 86,400."""
    write_scopes: list[str]
    """Path globs that nobody else's lease may overlap."""
    expected_version: int | None
    """The version that the caller read; needed to renew, transfer and release."""
    new_owner: str | None
    """Transfer: to whom."""
    new_idempotency_key: str | None
    """Transfer: the new holder's key."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the lease."""


class TaskLeaseInspectRequest(TypedDict, total=False):
    """Request of `task_lease.inspect`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    todo_id: str
    """Which todo."""
    owner: str | None
    """Holder."""
    idempotency_key: str | None
    """The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`."""
    ttl_seconds: int | None
    """Seconds, 2,700 when absent, at most 86,400."""
    write_scopes: list[str]
    """Path globs that nobody else's lease may overlap."""
    expected_version: int | None
    """The version that the caller read; needed to renew, transfer and release."""
    new_owner: str | None
    """Transfer: to whom."""
    new_idempotency_key: str | None
    """Transfer: the new holder's key."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the lease."""


class HandoffModeShowRequest(TypedDict, total=False):
    """Request of `handoff_mode.show`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class HandoffModeSetRequest(TypedDict, total=False):
    """Request of `handoff_mode.set`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    mode: Required[Literal["legacy", "soft_claim", "hard_lease"]]
    """The new mode."""


class LoopStepRequestActivated(TypedDict):
    """The session follows this goal from now on."""

    kind: Literal["activated"]


class LoopStepRequestSettled(TypedDict, total=False):
    """The agent has finished what it was doing and the session is idle. A turn that the
    agent left unsettled ends here.
    """

    kind: Required[Literal["settled"]]
    turn_instance_id: str | None
    """The turn that is over, from a host that knows; a host that only knows that the
    session is idle leaves it out, and the loop goes by whether the prompt arrived.
    """


class LoopStepRequestUserPrompt(TypedDict, total=False):
    """The session got a prompt: the loop's own coming back, or one of the person."""

    kind: Required[Literal["user_prompt"]]
    prompt: str | None
    """Its text. Compared with the turn that is out, never kept."""


class LoopStepRequestDelivered(TypedDict):
    """The host has begun the turn that it was handed."""

    kind: Literal["delivered"]


class LoopStepRequestAborted(TypedDict):
    """The person stopped the agent."""

    kind: Literal["aborted"]


class LoopStepRequestPaused(TypedDict):
    """The person pauses the loop."""

    kind: Literal["paused"]


class LoopStepRequestResumed(TypedDict):
    """The person resumes the loop."""

    kind: Literal["resumed"]


class LoopStepRequestTimer(TypedDict):
    """A timer of the host fired."""

    kind: Literal["timer"]


class LoopStepRequestChanged(TypedDict):
    """The goal changed: somebody else committed."""

    kind: Literal["changed"]


class LoopStepRequestProbeFailed(TypedDict, total=False):
    """The host could not ask."""

    kind: Required[Literal["probe_failed"]]
    retry_seconds: int | None
    """Seconds of the first wait, of a host that has its own."""


class LoopStepRequestCompacted(TypedDict):
    """The session's context was compacted."""

    kind: Literal["compacted"]


class LoopStepRequestSessionReplaced(TypedDict):
    """Another runtime has the session: the host was restarted or reloaded."""

    kind: Literal["session_replaced"]


class LoopStepRequestHostError(TypedDict, total=False):
    """The turn broke in the host: the model failed, a child timed out."""

    kind: Required[Literal["host_error"]]
    retry_seconds: int | None
    """Seconds of the first wait, of a host that has its own."""


class LoopStepRequestDisposed(TypedDict, total=False):
    """The runtime is going away."""

    kind: Required[Literal["disposed"]]
    ended_turn: bool
    """The turn that was out is over: the runtime has stopped it, or it ended."""
    finished: bool
    """It ended by itself and well; nobody stopped it."""


class LoopStepRequestExecutionContext(TypedDict):
    """Who wakes the agent; as at the activation when absent."""

    host_surface: str
    """Host surface."""
    scheduler_owner: str
    """Who owns the schedule."""
    execution_mode: str
    """How the host runs."""
    source: str
    """`runtime_profile:<name>`, `explicit` or `loopx_turn`."""


class LoopStepRequest(TypedDict, total=False):
    """Request of `loop.step`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    surface: Required[str]
    """`--host` word of the host."""
    session: Required[str]
    """The host's session: its file, its id. Only a digest of it is kept."""
    event: Required[LoopStepRequestActivated | LoopStepRequestSettled | LoopStepRequestUserPrompt | LoopStepRequestDelivered | LoopStepRequestAborted | LoopStepRequestPaused | LoopStepRequestResumed | LoopStepRequestTimer | LoopStepRequestChanged | LoopStepRequestProbeFailed | LoopStepRequestCompacted | LoopStepRequestSessionReplaced | LoopStepRequestHostError | LoopStepRequestDisposed]
    """What happened."""
    generation: int | None
    """The generation that the host saw last. When another runtime has gone on since, the
    event changes nothing and the answer says how the loop stands.
    """
    agent_id: str | None
    """`activated`: for whom the loop asks."""
    available_capabilities: list[str] | None
    """Capabilities that the door declares; those of the activation when absent."""
    independent_worktree: bool | None
    """The door works in a worktree of its own; as at the activation when absent."""
    execution_context: LoopStepRequestExecutionContext | None
    """Who wakes the agent; as at the activation when absent."""
    ttl_seconds: int | None
    """Seconds that an admitted turn's reservation lives, 3,600 when absent."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the turn."""
    ephemeral: bool
    """`activated`: the host does not keep the session, so that nobody can come back to it. Its
    loop is over when the process `holder_pid` has died; without one, when it is unbound.
    """
    observe: bool
    """Only look: decide, keep the pace, admit nothing."""


class LoopShowRequest(TypedDict, total=False):
    """Request of `loop.show`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    surface: str | None
    """`--host` word of the host."""
    session: str | None
    """The host's session; every loop of the goal when absent."""


class LoopUnbindRequest(TypedDict, total=False):
    """Request of `loop.unbind`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    surface: str | None
    """`--host` word of the host."""
    session: str | None
    """The host's session; every loop of the goal when absent."""


class QuotaStatusRequest(TypedDict, total=False):
    """Request of `quota.status`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class QuotaSpendSlotRequest(TypedDict, total=False):
    """Request of `quota.spend_slot`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    agent_id: str | None
    """Who spends."""
    todo_id: str | None
    """For which todo; the last delivered one when absent."""
    slots: int | None
    """How many; one when absent."""
    source: str | None
    """`heartbeat`, `controller`, `adapter` or `visible-goal`."""
    turn_instance_id: str | None
    """The turn."""
    execute: bool
    """Act; without it the answer is a preview."""


class RefreshStateRequest(TypedDict, total=False):
    """Request of `refresh_state`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    agent_id: str | None
    """Who acts."""
    todo_id: str | None
    """What was worked on."""
    turn_instance_id: str | None
    """The turn."""
    delivery_outcome: Literal["outcome_progress", "primary_goal_outcome", "surface_only", "no_change", "failed", "neutral"] | None
    """What was delivered; `neutral` when absent."""
    classification: str | None
    """The caller's word for it, `state_refreshed` when absent."""
    recommended_action: str | None
    """What to do next."""
    evidence: list[str]
    """What shows the delivery."""
    usage: Usage | None
    """Model usage."""


class GoalCreateRequest(TypedDict, total=False):
    """Request of `goal.create`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    objective: str | None
    """What the goal is for, one line."""
    agents: list[str]
    """First agents of the roster."""
    state_file: str | None
    """State file, relative to the project; `.loopx/goals/<goal>/ACTIVE_GOAL_STATE.md`
    when absent. One that exists is connected, not overwritten.
    """
    write_scope: list[str]
    """Path globs that agents may write."""
    compute: float | None
    """Share of the window, 0 to 1."""
    window_hours: int | None
    """Window in hours."""
    slot_minutes: int | None
    """Slot in minutes."""
    allowed_slots: int | None
    """Slots in the window."""


class GoalStopRequest(TypedDict, total=False):
    """Request of `goal.stop`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    reason: str | None
    """Why, at most 600 characters."""


class GoalResumeRequest(TypedDict, total=False):
    """Request of `goal.resume`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""


class GoalListRequest(TypedDict, total=False):
    """Request of `goal.list`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class GoalShowRequest(TypedDict, total=False):
    """Request of `goal.show`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class GoalChangedSinceRequest(TypedDict, total=False):
    """Request of `goal.changed_since`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    commit: int
    """The last commit that the asker has seen: `commit` of any answer."""


class GoalAdoptLegacyRequest(TypedDict, total=False):
    """Request of `goal.adopt_legacy`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""


class AgentRegisterRequest(TypedDict, total=False):
    """Request of `agent.register`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    agents: list[str]
    """Who; one text may hold several, separated by commas."""
    require_new: bool
    """Refuse agents that are registered already."""


class AgentListRequest(TypedDict, total=False):
    """Request of `agent.list`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class GateListRequest(TypedDict, total=False):
    """Request of `gate.list`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class GateOpenRequest(TypedDict, total=False):
    """Request of `gate.open`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    question: str
    """What a person is asked."""
    agent_id: str | None
    """Who asks; blocks itself when the gate names nothing."""
    unblocks_todo_id: str | None
    """The todo that waits for the answer."""
    decision_scope: str | None
    """The scope that is decided, `kind:granularity:key`."""
    blocks_agent: str | None
    """The agent that waits for the answer."""
    global_gate: bool
    """Every agent waits for the answer."""
    note: str | None
    """Remark."""


class GateDecideRequest(TypedDict, total=False):
    """Request of `gate.decide`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: Required[str]
    """Which gate."""
    outcome: Required[Literal["approve", "reject", "cancel"]]
    """The decision."""
    life: Literal["once"] | GrantLife | Literal["standing"] | None
    """How long an approved scope stays granted: `once`, `standing` or
    `{"until": instant}`; standing when absent.
    """
    for_agent: str | None
    """To whom an approved scope is granted; the agent that the gate blocks, else every
    agent, when absent.
    """
    note: str | None
    """Remark."""


class GateGrantsRequest(TypedDict, total=False):
    """Request of `gate.grants`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class GateWithdrawRequest(TypedDict, total=False):
    """Request of `gate.withdraw`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    grant_id: int
    """Which grant."""


class QuotaMonitorPollRequest(TypedDict, total=False):
    """Request of `quota.monitor_poll`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    agent_id: str | None
    """Who looked."""
    todo_id: str | None
    """The monitor."""
    target_key: str | None
    """The monitor by what it watches, instead of by its id."""
    result_hash: str | None
    """Digest of what was seen; another one than last time is a change."""
    material_change: bool
    """What was seen matters: something should be done about it."""
    next_due_at: str | None
    """When to look next, instead of now plus the cadence."""
    cadence: str | None
    """How often to look from now on."""
    next_agent_todo: str | None
    """Material change: text of the agent todo that it asks for."""
    next_user_todo: str | None
    """Material change: text of the user todo that it asks for."""
    next_user_task_class: Literal["advancement_task", "continuous_monitor", "user_gate", "user_action", "blocker"] | None
    """Class of that user todo."""
    next_fields: NextFields
    """Fields of the new agent todo."""
    turn_instance_id: str | None
    """The turn in which it was looked."""
    execute: bool
    """Act; without it the answer is a preview."""


class QuotaHostPollRequest(TypedDict, total=False):
    """Request of `quota.host_poll`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    agent_id: str | None
    """Who asks."""
    available_capabilities: list[str]
    """Capabilities that the door declares."""
    independent_worktree: bool
    """The door works in a worktree of its own."""
    execution_context: ShouldRunRequestExecutionContext | None
    """Who wakes the agent."""
    app_automation_current_rrule: str | None
    """App hosts: the RRULE that the host's automation has now."""
    include_detail: list[Literal["scheduler", "agent-todos", "user-todos", "goal-boundary", "vision", "all"]]
    """Sections to add."""
    turn_instance_id: str | None
    """The turn; makes it an admission. `turn.admit` without one names it itself, and gives
    the same again while that turn lives.
    """
    ttl_seconds: int | None
    """Seconds that the reservation lives, 3,600 when absent, at most 86,400."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the turn."""


class QuotaSchedulerAckRequestExecutionContext(TypedDict):
    """Which app host; `surface` may stand for it."""

    host_surface: str
    """Host surface."""
    scheduler_owner: str
    """Who owns the schedule."""
    execution_mode: str
    """How the host runs."""
    source: str
    """`runtime_profile:<name>`, `explicit` or `loopx_turn`."""


class QuotaSchedulerAckRequest(TypedDict, total=False):
    """Request of `quota.scheduler_ack`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    agent_id: str | None
    """Whose schedule."""
    available_capabilities: list[str]
    """Capabilities that the door declares."""
    independent_worktree: bool
    """The door works in a worktree of its own."""
    execution_context: QuotaSchedulerAckRequestExecutionContext | None
    """Which app host; `surface` may stand for it."""
    surface: str | None
    """`codex_app` or `trae_app`."""
    app_automation_current_rrule: str | None
    """The RRULE that the host's automation has now."""
    state_key: str | None
    """The state key of the hint."""
    execute: bool
    """Act; else only show what would be written."""
    applied_rrule: str | None
    """The RRULE that the host has set."""
    reset_token: str | None
    """Token of the hint that it followed."""
    identity_signature: str | None
    """Identity of that hint."""
    host_match_observed: bool
    """The host has looked: the rule is in force."""
    use_current_hint: bool
    """Take token and identity from the hint that is current where they are not named."""


class QuotaSchedulerFailRequest(TypedDict, total=False):
    """Request of `quota.scheduler_fail`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    agent_id: str | None
    """Whose schedule."""
    available_capabilities: list[str]
    """Capabilities that the door declares."""
    independent_worktree: bool
    """The door works in a worktree of its own."""
    execution_context: QuotaSchedulerAckRequestExecutionContext | None
    """Which app host; `surface` may stand for it."""
    surface: str | None
    """`codex_app` or `trae_app`."""
    app_automation_current_rrule: str | None
    """The RRULE that the host's automation has now."""
    state_key: str | None
    """The state key of the hint."""
    execute: bool
    """Act; else only show what would be written."""
    failed_rrule: str
    """The RRULE that the host could not set."""
    failure_kind: str | None
    """`host_tool_failure` (the default), `timeout`, `rejected` or `unavailable`."""


class QuotaVoidSlotRequest(TypedDict, total=False):
    """Request of `quota.void_slot`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    spend_id: int | None
    """Which spend."""
    void_generated_at: str | None
    """Which spend, by its instant (form of the earlier tool)."""
    reason_summary: str | None
    """Why."""
    execute: bool
    """Act; without it the answer is a preview."""


class MonitorListRequest(TypedDict, total=False):
    """Request of `monitor.list`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class TodoSupersedeRequestNextFields(TypedDict, total=False):
    """Fields of that new todo."""

    note: str | None
    """Remark."""
    reason: str | None
    """Why it is blocked."""
    task_class: Literal["advancement_task", "continuous_monitor", "user_gate", "user_action", "blocker"] | None
    """Class."""
    action_kind: str | None
    """Kind of work, `[a-z][a-z0-9_-]{0,63}`."""
    task_domain: str | None
    """Domain word."""
    task_repository: str | None
    """Repository the work belongs to."""
    continuation_policy: str | None
    """`independent_handoff` or `same_agent_non_delivery`."""
    required_write_scopes: list[str]
    """Path globs."""
    required_capabilities: list[str]
    """Capabilities needed."""
    target_capabilities: list[str]
    """Capabilities to obtain."""
    decision_scope: str | None
    """Gates: scope decided."""
    required_decision_scopes: list[str]
    """Scopes needed."""
    claimed_by: str | None
    """Holder."""
    bound_agent: str | None
    """User todos: whom it concerns."""
    goal_bound: bool | None
    """User todos: everyone."""
    blocks_agent: str | None
    """Gates: whom it blocks."""
    global_gate: bool | None
    """Gates: everyone."""
    excluded_agents: list[str]
    """Who may not take it."""
    unblocks_todo_id: str | None
    """Gates: what it blocks."""
    resume_when: str | None
    """Condition."""
    target_key: str | None
    """Monitors: what."""
    cadence: str | None
    """Monitors: how often."""
    next_due_at: str | None
    """Monitors: when next."""
    expires_at: str | None
    """Monitors: until when."""
    watch_only: bool | None
    """Monitors: never closed."""


class TodoSupersedeRequest(TypedDict, total=False):
    """Request of `todo.supersede`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """What is replaced."""
    by: str | None
    """What replaces it: a todo that exists."""
    next_agent_todo: str | None
    """What replaces it: text of a new agent todo, which inherits the priority."""
    next_fields: TodoSupersedeRequestNextFields
    """Fields of that new todo."""
    reason: str
    """Why."""
    agent_id: str | None
    """Who acts."""


class TodoArchiveRequest(TypedDict, total=False):
    """Request of `todo.archive`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """Which."""
    agent_id: str | None
    """Who acts."""


class TodoArchiveCompletedRequest(TypedDict, total=False):
    """Request of `todo.archive_completed`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    role: Literal["user", "agent"] | None
    """Whose list; the agents' when absent."""
    keep: int | None
    """How many done todos stay; [`KEEP`] when absent."""
    agent_id: str | None
    """Who acts."""
    execute: bool
    """Act; without it the answer is a preview."""


class TodoCaptureFollowupsRequest(TypedDict, total=False):
    """Request of `todo.capture_followups`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    todo_id: str
    """The todo that was worked on."""
    agent_id: str | None
    """Who acts."""
    evidence: str
    """What shows that they are needed."""
    followups: list[str]
    """Texts, one or two."""


class TodoSuggestRequest(TypedDict, total=False):
    """Request of `todo.suggest`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    agent_id: str | None
    """Who plans."""
    limit: int | None
    """Most todos to propose, 1 to 5; 3 when absent."""


class FeedbackRequest(TypedDict, total=False):
    """Request of `feedback`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    text: str
    """What is said."""
    todo_id: str | None
    """The todo that it is about."""
    agent_id: str | None
    """The agent that is to answer; who holds the todo, else any agent, when absent."""


class GoalAcceptAddRequest(TypedDict, total=False):
    """Request of `goal.accept_add`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    text: str
    """What has to be so."""


class GoalAcceptMeetRequest(TypedDict, total=False):
    """Request of `goal.accept_meet`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    index: int | None
    """Which, by its place in `goal.accept_list`, from 1."""
    text: str | None
    """Which, by its text."""


class GoalAcceptListRequest(TypedDict, total=False):
    """Request of `goal.accept_list`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class GoalStopAllRequest(TypedDict, total=False):
    """Request of `goal.stop_all`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    reason: str | None
    """Why, at most 600 characters."""


class StatusRequest(TypedDict, total=False):
    """Request of `status`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class HistoryRequest(TypedDict, total=False):
    """Request of `history`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    agent_id: str | None
    """Commits of this agent only."""
    before: int | None
    """Commits before this number only; needs the goal to be named."""
    limit: int | None
    """At most so many; 10 when absent."""


class EvidenceLogRequest(TypedDict, total=False):
    """Request of `evidence_log`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    agent_id: str | None
    """Of this agent only."""
    todo_id: str | None
    """On this todo only."""
    limit: int | None
    """At most so many; 24 when absent."""


class DiagnoseRequest(TypedDict, total=False):
    """Request of `diagnose`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class ExplainRequest(TypedDict, total=False):
    """Request of `explain`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    agent_id: str | None
    """Who asks."""
    todo_id: str | None
    """This todo only."""
    available_capabilities: list[str]
    """Capabilities that the door declares."""
    independent_worktree: bool
    """The door works in a worktree of its own."""


class QuotaPlanRequest(TypedDict, total=False):
    """Request of `quota.plan`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class ExportRequest(TypedDict, total=False):
    """Request of `export`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    file: str | None
    """The file to write; the answer carries the text when absent."""


class StoreCheckRequest(TypedDict, total=False):
    """Request of `store.check`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class StoreBackupRequest(TypedDict, total=False):
    """Request of `store.backup`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    dir: str
    """The folder; each goal gets a folder of its own in it."""
    all: bool
    """Every goal of the registry."""

StoreRestoreRequest = TypedDict(
    "StoreRestoreRequest",
    {
        "goal_id": "str | None",
        "effect_id": "str | None",
        "from": "str",
        "losing_commits": "int | None",
        "execute": "bool",
    },
    total=False,
)
"""Request of `store.restore`."""


class StorePruneRequest(TypedDict, total=False):
    """Request of `store.prune`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    keep_days: int
    """Days of history that stay, at least 1."""
    execute: bool
    """Act; without it the answer is a preview."""


class MigrateRequest(TypedDict, total=False):
    """Request of `migrate`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    all: bool
    """Every goal of the registry."""
    execute: bool
    """Import now; without it the answer says what an import would do."""


class ImportRequest(TypedDict, total=False):
    """Request of `import`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    file: str
    """The file that `export` wrote."""


class ConnectorsListRequest(TypedDict, total=False):
    """Request of `connectors.list`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class ConnectorsShowRequest(TypedDict, total=False):
    """Request of `connectors.show`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    connector: str
    """Id of a connector, value connector or candidate; a host's name means its connector."""


class ValueConnectorRunRequest(TypedDict, total=False):
    """Request of `value_connector.run`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    connector: str
    """Id of a value connector."""
    url: str | None
    """What it looks at."""


class HostModePlanRequest(TypedDict, total=False):
    """Request of `host_mode_plan`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    intents: list[str]
    """What the person wants; the first one decides: watch_each_turn, continue_without_ui,
    intake_from_chat, timer_keepalive, escalate_between_modes. When absent, what the host
    does anyway.
    """
    host: str | None
    """The host."""
    connector: str | None
    """A connector of the catalogue to put into the turn's plan."""
    host_capabilities: list[str]
    """What the host can do: visible_session, loopx_turn, typed_host_adapter,
    independent_validator, chat_gateway, service_timer, shell.
    """
    agent_id: str | None
    """The agent."""
    registered_agents: list[str]
    """The roster, where it is not the goal's."""
    all_modes: bool
    """Show every mode whole, not the chosen one only."""


class HeartbeatPromptRequestExecutionContext(TypedDict):
    """Who wakes the agent, where no host is named."""

    host_surface: str
    """Host surface."""
    scheduler_owner: str
    """Who owns the schedule."""
    execution_mode: str
    """How the host runs."""
    source: str
    """`runtime_profile:<name>`, `explicit` or `loopx_turn`."""


class HeartbeatPromptRequest(TypedDict, total=False):
    """Request of `heartbeat_prompt`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    host: str | None
    """The host, by name, alias, connector id or surface; decides everything else."""
    style: str | None
    """thin (the default), brief, compact or full."""
    agent_id: str | None
    """Whom the body is for; needed where the goal has a roster."""
    agent_scopes: list[str]
    """What the agent keeps to, each at most 180 characters."""
    material_rule: str | None
    """A rule about material, at most 400 characters."""
    permission_rule: str | None
    """A rule about permissions, at most 400 characters."""
    available_capabilities: list[str]
    """Capabilities that commands declare, at most 8."""
    execution_context: HeartbeatPromptRequestExecutionContext | None
    """Who wakes the agent, where no host is named."""
    visible_goal_host: str | None
    """`traex-cli`: its native goal, with the profile `generic_cli`."""
    turn_instance_id: str | None
    """The turn that this wake is bound to."""
    cli_bin: str | None
    """The program's name in commands, `loopx` when absent."""
    thread_id: str | None
    """The host's own name for its thread; says who the agent is where that is not named."""
    active_state: str | None
    """A state file: the goal then need not be in a registry."""


class DoctorRequest(TypedDict, total=False):
    """Request of `doctor`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    host: str | None
    """The host to which skills are to be delivered: without its activation doctor refuses."""
    agent_id: str | None
    """Whose loop; every agent's when absent."""


class SlashCommandsRequest(TypedDict, total=False):
    """Request of `slash_commands`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""


class InstallRequest(TypedDict, total=False):
    """Request of `install`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    hosts: list[str]
    """Hosts; `codex` stands for every Codex surface."""
    uninstall: bool
    """Take the files away."""
    dry_run: bool
    """Only say what would be done."""
    project: str | None
    """The project in which files are put. Without it they go to the user's own folders,
    which only the command line knows.
    """


class InitRequest(TypedDict, total=False):
    """Request of `init`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    objective: str | None
    """What the goal is for, one line; written only where the goal has none."""
    agents: list[str]
    """Agents of the roster."""
    allowed_slots: int | None
    """Slots in the window of a new goal."""


class StartGoalPlanRequest(TypedDict, total=False):
    """Request of `start_goal.plan`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    goal_text: str | None
    """What is to be reached, one line."""
    todos: list[str]
    """First todos, in order, such as `[P1] Write the parser`; at most 20."""
    agent_id: str | None
    """Who loops."""
    new_peer: bool
    """Register that agent, though the goal has others."""
    host: str | None
    """The host."""
    thread_id: str | None
    """The host's name for its thread."""
    available_capabilities: list[str]
    """Capabilities that commands declare."""


class StartGoalRequest(TypedDict, total=False):
    """Request of `start_goal`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    goal_text: str | None
    """What is to be reached, one line."""
    todos: list[str]
    """First todos, in order, such as `[P1] Write the parser`; at most 20."""
    agent_id: str | None
    """Who loops."""
    new_peer: bool
    """Register that agent, though the goal has others."""
    host: str | None
    """The host."""
    thread_id: str | None
    """The host's name for its thread."""
    available_capabilities: list[str]
    """Capabilities that commands declare."""


class AgentOnboardRequest(TypedDict, total=False):
    """Request of `agent_onboard`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    host: str | None
    """The host (the earlier tool's agent type)."""
    list_agent_types: bool
    """List the hosts instead."""
    agent_id: str | None
    """The agent."""
    thread_id: str | None
    """The host's name for its thread."""


class BootstrapCommandPackRequest(TypedDict, total=False):
    """Request of `bootstrap_command_pack`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    host: str | None
    """The host; `codex-cli` when absent."""
    agent_id: str | None
    """The agent."""
    goal_text: str | None
    """What is to be reached."""


class CodexCliBootstrapMessageRequest(TypedDict, total=False):
    """Request of `codex_cli_bootstrap_message`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    host: str | None
    """The host; `codex-cli` when absent."""
    agent_id: str | None
    """The agent."""
    goal_text: str | None
    """What is to be reached."""


class HostLoopActivateRequest(TypedDict, total=False):
    """Request of `host_loop.activate`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    host: str | None
    """The host, by name, alias, connector id or surface; decides everything else."""
    style: str | None
    """thin (the default), brief, compact or full."""
    agent_id: str | None
    """Whom the body is for; needed where the goal has a roster."""
    agent_scopes: list[str]
    """What the agent keeps to, each at most 180 characters."""
    material_rule: str | None
    """A rule about material, at most 400 characters."""
    permission_rule: str | None
    """A rule about permissions, at most 400 characters."""
    available_capabilities: list[str]
    """Capabilities that commands declare, at most 8."""
    execution_context: HeartbeatPromptRequestExecutionContext | None
    """Who wakes the agent, where no host is named."""
    visible_goal_host: str | None
    """`traex-cli`: its native goal, with the profile `generic_cli`."""
    turn_instance_id: str | None
    """The turn that this wake is bound to."""
    cli_bin: str | None
    """The program's name in commands, `loopx` when absent."""
    thread_id: str | None
    """The host's own name for its thread; says who the agent is where that is not named."""
    active_state: str | None
    """A state file: the goal then need not be in a registry."""
    deactivate: bool
    """Switch it off instead."""


class ThreadBindRequest(TypedDict, total=False):
    """Request of `thread.bind`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    thread_id: str | None
    """The host's name for its thread."""
    host: str | None
    """The host; one that names its threads when absent: `codex-app`."""
    agent_id: str | None
    """The agent: needed to bind, and an answer's preference when resolving."""
    execute: bool
    """Act; else only show what would be written."""


class ThreadUnbindRequest(TypedDict, total=False):
    """Request of `thread.unbind`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    effect_id: str | None
    """Makes a repeat of the same write answer the first receipt."""
    thread_id: str | None
    """The host's name for its thread."""
    host: str | None
    """The host; one that names its threads when absent: `codex-app`."""
    agent_id: str | None
    """The agent: needed to bind, and an answer's preference when resolving."""
    execute: bool
    """Act; else only show what would be written."""


class ThreadResolveRequest(TypedDict, total=False):
    """Request of `thread.resolve`."""

    goal_id: str | None
    """The goal; the registry's only one when absent."""
    thread_id: str | None
    """The host's name for its thread."""
    host: str | None
    """The host; one that names its threads when absent: `codex-app`."""
    agent_id: str | None
    """The agent: needed to bind, and an answer's preference when resolving."""
    execute: bool
    """Act; else only show what would be written."""


class LoopSessionOptions(TypedDict, total=False):
    """Who loops where, for a `LoopSession`."""

    surface: Required[str]
    """`--host` word of the host."""
    session: Required[str]
    """The host's session: its file, its id. Only a digest of it is kept."""
    agent_id: str | None
    """`activated`: for whom the loop asks."""
    available_capabilities: list[str] | None
    """Capabilities that the door declares; those of the activation when absent."""
    independent_worktree: bool | None
    """The door works in a worktree of its own; as at the activation when absent."""
    execution_context: LoopStepRequestExecutionContext | None
    """Who wakes the agent; as at the activation when absent."""
    ttl_seconds: int | None
    """Seconds that an admitted turn's reservation lives, 3,600 when absent."""
    holder_pid: int | None
    """A process that outlives this call and whose death frees the turn."""
    ephemeral: bool
    """`activated`: the host does not keep the session, so that nobody can come back to it. Its
    loop is over when the process `holder_pid` has died; without one, when it is unbound.
    """
    observe: bool
    """Only look: decide, keep the pace, admit nothing."""
