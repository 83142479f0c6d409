# Made by `cargo xtask generate` from the table of operations and the JSON Schemas of the
# kernel. Do not edit: a test compares it with what the sources say.

OPERATIONS = (
    (
        "todo.add",
        "todo_add",
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
""",
        (
            "goal_id",
            "effect_id",
            "role",
            "text",
            "status",
            "agent_id",
            "note",
            "reason",
            "task_class",
            "action_kind",
            "task_domain",
            "task_repository",
            "continuation_policy",
            "required_write_scopes",
            "required_capabilities",
            "target_capabilities",
            "decision_scope",
            "required_decision_scopes",
            "claimed_by",
            "bound_agent",
            "goal_bound",
            "blocks_agent",
            "global_gate",
            "excluded_agents",
            "unblocks_todo_id",
            "resume_when",
            "target_key",
            "cadence",
            "next_due_at",
            "expires_at",
            "watch_only",
        ),
    ),
    (
        "todo.list",
        "todo_list",
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
""",
        (
            "goal_id",
            "role",
            "status",
            "todo_id",
            "agent_id",
            "limit",
            "archived",
        ),
    ),
    (
        "todo.claim",
        "todo_claim",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "claimed_by",
            "agent_id",
        ),
    ),
    (
        "todo.update",
        "todo_update",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "agent_id",
            "text",
            "status",
            "clear",
            "successor_todo_ids",
            "no_follow_up",
            "note",
            "reason",
            "task_class",
            "action_kind",
            "task_domain",
            "task_repository",
            "continuation_policy",
            "required_write_scopes",
            "required_capabilities",
            "target_capabilities",
            "decision_scope",
            "required_decision_scopes",
            "claimed_by",
            "bound_agent",
            "goal_bound",
            "blocks_agent",
            "global_gate",
            "excluded_agents",
            "unblocks_todo_id",
            "resume_when",
            "target_key",
            "cadence",
            "next_due_at",
            "expires_at",
            "watch_only",
        ),
    ),
    (
        "todo.complete",
        "todo_complete",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "agent_id",
            "evidence",
            "note",
            "no_follow_up",
            "successor_todo_ids",
            "next_agent_todo",
            "next_user_todo",
            "next_user_task_class",
            "next_fields",
            "decision_outcome",
            "grant_life",
            "grant_agent",
            "turn_instance_id",
        ),
    ),
    (
        "quota.should_run",
        "should_run",
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
""",
        (
            "goal_id",
            "agent_id",
            "available_capabilities",
            "independent_worktree",
            "execution_context",
            "app_automation_current_rrule",
            "include_detail",
            "turn_instance_id",
            "ttl_seconds",
            "holder_pid",
        ),
    ),
    (
        "turn.admit",
        "turn_admit",
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
""",
        (
            "goal_id",
            "effect_id",
            "agent_id",
            "available_capabilities",
            "independent_worktree",
            "execution_context",
            "app_automation_current_rrule",
            "include_detail",
            "turn_instance_id",
            "ttl_seconds",
            "holder_pid",
        ),
    ),
    (
        "turn.renew",
        "turn_renew",
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
""",
        (
            "goal_id",
            "effect_id",
            "turn_instance_id",
            "agent_id",
            "ttl_seconds",
            "reason",
        ),
    ),
    (
        "turn.release",
        "turn_release",
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
""",
        (
            "goal_id",
            "effect_id",
            "turn_instance_id",
            "agent_id",
            "ttl_seconds",
            "reason",
        ),
    ),
    (
        "turn.show",
        "turn_show",
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
""",
        (
            "goal_id",
            "turn_instance_id",
            "agent_id",
            "ttl_seconds",
            "reason",
        ),
    ),
    (
        "turn.settle",
        "turn_settle",
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
""",
        (
            "goal_id",
            "effect_id",
            "turn_instance_id",
            "agent_id",
            "outcome",
            "evidence",
            "note",
            "reason",
            "no_follow_up",
            "successor_todo_ids",
            "next_agent_todo",
            "next_user_todo",
            "next_user_task_class",
            "next_fields",
            "result_hash",
            "usage",
            "admit_next",
            "available_capabilities",
            "independent_worktree",
        ),
    ),
    (
        "task_lease.acquire",
        "task_lease_acquire",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "owner",
            "idempotency_key",
            "ttl_seconds",
            "write_scopes",
            "expected_version",
            "new_owner",
            "new_idempotency_key",
            "holder_pid",
        ),
    ),
    (
        "task_lease.renew",
        "task_lease_renew",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "owner",
            "idempotency_key",
            "ttl_seconds",
            "write_scopes",
            "expected_version",
            "new_owner",
            "new_idempotency_key",
            "holder_pid",
        ),
    ),
    (
        "task_lease.transfer",
        "task_lease_transfer",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "owner",
            "idempotency_key",
            "ttl_seconds",
            "write_scopes",
            "expected_version",
            "new_owner",
            "new_idempotency_key",
            "holder_pid",
        ),
    ),
    (
        "task_lease.release",
        "task_lease_release",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "owner",
            "idempotency_key",
            "ttl_seconds",
            "write_scopes",
            "expected_version",
            "new_owner",
            "new_idempotency_key",
            "holder_pid",
        ),
    ),
    (
        "task_lease.inspect",
        "task_lease_inspect",
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
""",
        (
            "goal_id",
            "todo_id",
            "owner",
            "idempotency_key",
            "ttl_seconds",
            "write_scopes",
            "expected_version",
            "new_owner",
            "new_idempotency_key",
            "holder_pid",
        ),
    ),
    (
        "handoff_mode.show",
        "handoff_mode_show",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "handoff_mode.set",
        "handoff_mode_set",
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
""",
        (
            "goal_id",
            "effect_id",
            "mode",
        ),
    ),
    (
        "loop.step",
        "loop_step",
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
""",
        (
            "goal_id",
            "effect_id",
            "surface",
            "session",
            "event",
            "generation",
            "agent_id",
            "available_capabilities",
            "independent_worktree",
            "execution_context",
            "ttl_seconds",
            "holder_pid",
            "ephemeral",
            "observe",
        ),
    ),
    (
        "loop.show",
        "loop_show",
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
""",
        (
            "goal_id",
            "surface",
            "session",
        ),
    ),
    (
        "loop.unbind",
        "loop_unbind",
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
""",
        (
            "goal_id",
            "effect_id",
            "surface",
            "session",
        ),
    ),
    (
        "quota.status",
        "quota_status",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "quota.spend_slot",
        "quota_spend_slot",
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
""",
        (
            "goal_id",
            "effect_id",
            "agent_id",
            "todo_id",
            "slots",
            "source",
            "turn_instance_id",
            "execute",
        ),
    ),
    (
        "refresh_state",
        "refresh_state",
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
""",
        (
            "goal_id",
            "effect_id",
            "agent_id",
            "todo_id",
            "turn_instance_id",
            "delivery_outcome",
            "classification",
            "recommended_action",
            "evidence",
            "usage",
        ),
    ),
    (
        "goal.create",
        "goal_create",
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
""",
        (
            "goal_id",
            "effect_id",
            "objective",
            "agents",
            "state_file",
            "write_scope",
            "compute",
            "window_hours",
            "slot_minutes",
            "allowed_slots",
        ),
    ),
    (
        "goal.stop",
        "goal_stop",
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
""",
        (
            "goal_id",
            "effect_id",
            "reason",
        ),
    ),
    (
        "goal.resume",
        "goal_resume",
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
""",
        (
            "goal_id",
            "effect_id",
        ),
    ),
    (
        "goal.list",
        "goal_list",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "goal.show",
        "goal_show",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "goal.changed_since",
        "goal_changed_since",
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
""",
        (
            "goal_id",
            "commit",
        ),
    ),
    (
        "goal.adopt_legacy",
        "goal_adopt_legacy",
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
""",
        (
            "goal_id",
            "effect_id",
        ),
    ),
    (
        "agent.register",
        "agent_register",
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
""",
        (
            "goal_id",
            "effect_id",
            "agents",
            "require_new",
        ),
    ),
    (
        "agent.list",
        "agent_list",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "gate.list",
        "gate_list",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "gate.open",
        "gate_open",
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
""",
        (
            "goal_id",
            "effect_id",
            "question",
            "agent_id",
            "unblocks_todo_id",
            "decision_scope",
            "blocks_agent",
            "global_gate",
            "note",
        ),
    ),
    (
        "gate.decide",
        "gate_decide",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "outcome",
            "life",
            "for_agent",
            "note",
        ),
    ),
    (
        "gate.grants",
        "gate_grants",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "gate.withdraw",
        "gate_withdraw",
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
""",
        (
            "goal_id",
            "effect_id",
            "grant_id",
        ),
    ),
    (
        "quota.monitor_poll",
        "quota_monitor_poll",
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
""",
        (
            "goal_id",
            "effect_id",
            "agent_id",
            "todo_id",
            "target_key",
            "result_hash",
            "material_change",
            "next_due_at",
            "cadence",
            "next_agent_todo",
            "next_user_todo",
            "next_user_task_class",
            "next_fields",
            "turn_instance_id",
            "execute",
        ),
    ),
    (
        "quota.host_poll",
        "quota_host_poll",
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
""",
        (
            "goal_id",
            "effect_id",
            "agent_id",
            "available_capabilities",
            "independent_worktree",
            "execution_context",
            "app_automation_current_rrule",
            "include_detail",
            "turn_instance_id",
            "ttl_seconds",
            "holder_pid",
        ),
    ),
    (
        "quota.scheduler_ack",
        "quota_scheduler_ack",
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
""",
        (
            "goal_id",
            "effect_id",
            "agent_id",
            "available_capabilities",
            "independent_worktree",
            "execution_context",
            "surface",
            "app_automation_current_rrule",
            "state_key",
            "execute",
            "applied_rrule",
            "reset_token",
            "identity_signature",
            "host_match_observed",
            "use_current_hint",
        ),
    ),
    (
        "quota.scheduler_fail",
        "quota_scheduler_fail",
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
""",
        (
            "goal_id",
            "effect_id",
            "agent_id",
            "available_capabilities",
            "independent_worktree",
            "execution_context",
            "surface",
            "app_automation_current_rrule",
            "state_key",
            "execute",
            "failed_rrule",
            "failure_kind",
        ),
    ),
    (
        "quota.void_slot",
        "quota_void_slot",
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
""",
        (
            "goal_id",
            "effect_id",
            "spend_id",
            "void_generated_at",
            "reason_summary",
            "execute",
        ),
    ),
    (
        "monitor.list",
        "monitor_list",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "todo.supersede",
        "todo_supersede",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "by",
            "next_agent_todo",
            "next_fields",
            "reason",
            "agent_id",
        ),
    ),
    (
        "todo.archive",
        "todo_archive",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "agent_id",
        ),
    ),
    (
        "todo.archive_completed",
        "todo_archive_completed",
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
""",
        (
            "goal_id",
            "effect_id",
            "role",
            "keep",
            "agent_id",
            "execute",
        ),
    ),
    (
        "todo.capture_followups",
        "todo_capture_followups",
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
""",
        (
            "goal_id",
            "effect_id",
            "todo_id",
            "agent_id",
            "evidence",
            "followups",
        ),
    ),
    (
        "todo.suggest",
        "todo_suggest",
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
""",
        (
            "goal_id",
            "agent_id",
            "limit",
        ),
    ),
    (
        "feedback",
        "feedback",
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
""",
        (
            "goal_id",
            "effect_id",
            "text",
            "todo_id",
            "agent_id",
        ),
    ),
    (
        "goal.accept_add",
        "goal_accept_add",
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
""",
        (
            "goal_id",
            "effect_id",
            "text",
        ),
    ),
    (
        "goal.accept_meet",
        "goal_accept_meet",
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
""",
        (
            "goal_id",
            "effect_id",
            "index",
            "text",
        ),
    ),
    (
        "goal.accept_list",
        "goal_accept_list",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "goal.stop_all",
        "goal_stop_all",
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
""",
        (
            "goal_id",
            "effect_id",
            "reason",
        ),
    ),
    (
        "status",
        "status",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "history",
        "history",
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
""",
        (
            "goal_id",
            "agent_id",
            "before",
            "limit",
        ),
    ),
    (
        "evidence_log",
        "evidence_log",
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
""",
        (
            "goal_id",
            "agent_id",
            "todo_id",
            "limit",
        ),
    ),
    (
        "diagnose",
        "diagnose",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "explain",
        "explain",
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
""",
        (
            "goal_id",
            "agent_id",
            "todo_id",
            "available_capabilities",
            "independent_worktree",
        ),
    ),
    (
        "quota.plan",
        "quota_plan",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "export",
        "export",
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
""",
        (
            "goal_id",
            "file",
        ),
    ),
    (
        "store.check",
        "store_check",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "store.backup",
        "store_backup",
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
""",
        (
            "goal_id",
            "dir",
            "all",
        ),
    ),
    (
        "store.restore",
        "store_restore",
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
""",
        (
            "goal_id",
            "effect_id",
            "from",
            "losing_commits",
            "execute",
        ),
    ),
    (
        "store.prune",
        "store_prune",
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
""",
        (
            "goal_id",
            "effect_id",
            "keep_days",
            "execute",
        ),
    ),
    (
        "migrate",
        "migrate",
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
""",
        (
            "goal_id",
            "effect_id",
            "all",
            "execute",
        ),
    ),
    (
        "import",
        "import_",
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
""",
        (
            "goal_id",
            "effect_id",
            "file",
        ),
    ),
    (
        "connectors.list",
        "connectors_list",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "connectors.show",
        "connectors_show",
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
""",
        (
            "goal_id",
            "connector",
        ),
    ),
    (
        "value_connector.run",
        "value_connector_run",
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
""",
        (
            "goal_id",
            "effect_id",
            "connector",
            "url",
        ),
    ),
    (
        "host_mode_plan",
        "host_mode_plan",
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
""",
        (
            "goal_id",
            "intents",
            "host",
            "connector",
            "host_capabilities",
            "agent_id",
            "registered_agents",
            "all_modes",
        ),
    ),
    (
        "heartbeat_prompt",
        "heartbeat_prompt",
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
""",
        (
            "goal_id",
            "host",
            "style",
            "agent_id",
            "agent_scopes",
            "material_rule",
            "permission_rule",
            "available_capabilities",
            "execution_context",
            "visible_goal_host",
            "turn_instance_id",
            "cli_bin",
            "thread_id",
            "active_state",
        ),
    ),
    (
        "doctor",
        "doctor",
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
""",
        (
            "goal_id",
            "host",
            "agent_id",
        ),
    ),
    (
        "slash_commands",
        "slash_commands",
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
""",
        (
            "goal_id",
        ),
    ),
    (
        "install",
        "install",
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
""",
        (
            "goal_id",
            "effect_id",
            "hosts",
            "uninstall",
            "dry_run",
            "project",
        ),
    ),
    (
        "init",
        "init",
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
""",
        (
            "goal_id",
            "effect_id",
            "objective",
            "agents",
            "allowed_slots",
        ),
    ),
    (
        "start_goal.plan",
        "start_goal_plan",
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
""",
        (
            "goal_id",
            "goal_text",
            "todos",
            "agent_id",
            "new_peer",
            "host",
            "thread_id",
            "available_capabilities",
        ),
    ),
    (
        "start_goal",
        "start_goal",
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
""",
        (
            "goal_id",
            "effect_id",
            "goal_text",
            "todos",
            "agent_id",
            "new_peer",
            "host",
            "thread_id",
            "available_capabilities",
        ),
    ),
    (
        "agent_onboard",
        "agent_onboard",
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
""",
        (
            "goal_id",
            "host",
            "list_agent_types",
            "agent_id",
            "thread_id",
        ),
    ),
    (
        "bootstrap_command_pack",
        "bootstrap_command_pack",
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
""",
        (
            "goal_id",
            "host",
            "agent_id",
            "goal_text",
        ),
    ),
    (
        "codex_cli_bootstrap_message",
        "codex_cli_bootstrap_message",
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
""",
        (
            "goal_id",
            "host",
            "agent_id",
            "goal_text",
        ),
    ),
    (
        "host_loop.activate",
        "host_loop_activate",
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
""",
        (
            "goal_id",
            "effect_id",
            "host",
            "style",
            "agent_id",
            "agent_scopes",
            "material_rule",
            "permission_rule",
            "available_capabilities",
            "execution_context",
            "visible_goal_host",
            "turn_instance_id",
            "cli_bin",
            "thread_id",
            "active_state",
            "deactivate",
        ),
    ),
    (
        "thread.bind",
        "thread_bind",
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
""",
        (
            "goal_id",
            "effect_id",
            "thread_id",
            "host",
            "agent_id",
            "execute",
        ),
    ),
    (
        "thread.unbind",
        "thread_unbind",
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
""",
        (
            "goal_id",
            "effect_id",
            "thread_id",
            "host",
            "agent_id",
            "execute",
        ),
    ),
    (
        "thread.resolve",
        "thread_resolve",
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
""",
        (
            "goal_id",
            "thread_id",
            "host",
            "agent_id",
            "execute",
        ),
    ),
)

SESSION = (
    "surface",
    "session",
    "agent_id",
    "available_capabilities",
    "independent_worktree",
    "execution_context",
    "ttl_seconds",
    "holder_pid",
    "ephemeral",
    "observe",
)
