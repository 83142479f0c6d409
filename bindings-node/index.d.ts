// Made by `cargo xtask generate` from the table of operations and the JSON Schemas of the
// kernel. Do not edit: a test compares it with what the sources say.

/** Any answer. `ok` is false only where a refusal is an answer (`shouldRun`, `turnAdmit`). */
export interface Answer {
  ok: boolean;
  [field: string]: unknown;
}

/** What `loop.step` and a {@link LoopSession} answer. */
export interface LoopAnswer extends Answer {
  /** What the host does next. */
  action: LoopAction;
  /** What a person is told, when it is something new. */
  notice?: LoopNotice;
  /** How the loop stands. */
  loop?: Record<string, unknown>;
  /** What of the decision a host shows. */
  decision?: Record<string, unknown>;
  /** Number of the last commit; see `goalChangedSince`. */
  commit?: number;
}

/** What `goal.changed_since` answers. */
export interface ChangedSince extends Answer {
  /** The last commit. */
  commit: number;
  /** Something that decisions go by changed. */
  changed: boolean;
  /** The state file has hand edits that the next write takes in. */
  edited: boolean;
  /** Differs whenever the answer would tell something new. */
  mark: string;
}

/** What `quota.should_run` and `turn.admit` answer. */
export interface Packet {
  /** An answer was reached, also when it is "do not run" (exit status 0). */
  ok: boolean;
  /** The records can be trusted. */
  status_health_ok: boolean;
  /** `should-run`. */
  mode: string;
  /** Goal. */
  goal_id: string;
  /** Decision. */
  decision: string;
  /** May the agent run. */
  should_run: boolean;
  /** The rule that decided. */
  rule: string;
  /** Its place in the table. */
  rule_order: number;
  /** What is done. */
  effective_action: string;
  /** State. */
  state: string;
  /** Why, one sentence. */
  reason: string;
  /** Why, one word. */
  reason_code?: string | null;
  /** What stopped the goal. */
  pause_cause?: string | null;
  /** When a slot comes free. */
  next_eligible_at?: string | null;
  /** Who does what. */
  interaction_contract: {
    /** `loopx_interaction_contract_v0`. */
    schema_version: string;
    /** Mode. */
    mode: string;
    /** Person. */
    user_channel: {
      /** Nothing goes on until a person acts. */
      action_required: boolean;
      /** `NOTIFY` or `DONT_NOTIFY`. */
      notify: string;
      /** Told beside running work. */
      non_blocking?: boolean;
      /** The questions, at most three. */
      actions?: ({
        /** Todo. */
        todo_id: string | null;
        /** Its text. */
        text: string;
      })[];
      /** How many there are in all, when more than shown. */
      more?: number | null;
    };
    /** Agent. */
    agent_channel: {
      /** It must work now. */
      must_attempt: boolean;
      /** It may deliver, not only mend. */
      delivery_allowed: boolean;
      /** Doing nothing, silently, is right. */
      quiet_noop_allowed: boolean;
      /** One sentence. */
      primary_action: string;
    };
    /** Command line. */
    cli_channel: {
      /** Never: a decision is not work. */
      spend_allowed_now: boolean;
      /** A slot is spent once the work is validated. */
      spend_after_validation: boolean;
      /** Next commands. */
      next_cli_actions?: string[];
    };
  };
  /** The todo. */
  selected_todo: {
    /** `quota_selected_todo_v0`. */
    schema_version: string;
    /** Identity; null for a line of the state file that no command has taken in yet. */
    todo_id: string | null;
    /** Its text, cut. */
    text: string;
    /** Class. */
    task_class: string;
    /** `P0` to `P4`. */
    priority?: string | null;
    /** Kind of work. */
    action_kind?: string | null;
    /** Monitors: what is watched. */
    target_key?: string | null;
    /** Holder. */
    claimed_by?: string | null;
    /** `current_agent_claimed_todo`, `unclaimed_todo` or `scoped_user_gate_fallback`. */
    selected_by: string;
    /** Claim it before working. */
    claim_required_before_work: boolean;
  } | null;
  /** Window. */
  quota: {
    /** Share of the window. */
    compute: number;
    /** Hours. */
    window_hours: number;
    /** Minutes of a slot. */
    slot_minutes: number;
    /** Slots allowed. */
    allowed_slots: number;
    /** Slots spent. */
    spent_slots: number | null;
    /** Slots reserved. */
    reserved_slots: number | null;
    /** Same as the packet's. */
    state: string;
    /** Same as the packet's. */
    reason?: string | null;
  };
  /** When to look again. */
  scheduler_hint: {
    /** `scheduler_hint_v0`. */
    schema_version: string;
    /** Always `quota.should-run`. */
    source: string;
    /** What the host does. */
    action: string;
    /** Class. */
    cadence_class: string;
    /** Why. */
    reason_code: string;
    /** Why, one sentence. */
    reason?: string | null;
    /** What may be spent for it: nothing. */
    spend_policy?: string | null;
    /**
     * Minutes to the first next look: the ladder's first step, earlier when a monitor
     * comes due or a slot comes free before; absent for a stop.
     */
    next_check_minutes?: number | null;
    /** Unchanged polls. */
    unchanged_poll: {
      /** Polls allowed; empty where there is no limit. */
      limits: {
        /** Shell worker and other local schedulers. */
        local_scheduler?: number | null;
        /** Codex CLI. */
        codex_cli_tui?: number | null;
        /** Claude Code. */
        claude_code_loop?: number | null;
        /** Codex App over SSH. */
        codex_app_ssh_goal?: number | null;
      };
      /** What follows; a short packet says nothing where there is no limit. */
      after_limits: {
        /** Shell worker and other local schedulers. */
        local_scheduler?: string | null;
        /** Codex CLI. */
        codex_cli_tui?: string | null;
        /** Claude Code. */
        claude_code_loop?: string | null;
        /** Codex App over SSH. */
        codex_app_ssh_goal?: string | null;
      };
      /** One recheck before it follows. */
      final_quota_replan_check_enabled: boolean;
      /** What the recheck is. */
      final_quota_replan_check_action?: string | null;
    } | {
      /** Directive for local schedulers; `stop` is the one word that ends them. */
      local_scheduler: string;
      /** Directive for Codex CLI. */
      codex_cli_tui: string;
      /** Directive for Codex App over SSH. */
      codex_app_ssh_goal: string;
      /** Directive for Claude Code. */
      claude_code_loop: string;
      /** Never. */
      final_quota_replan_check_enabled: boolean;
    };
    /** What makes two polls the same: paths into the decision. */
    unchanged_identity_keys?: string[];
    /** Who wakes the agent, when the door said so. */
    execution_context?: {
      /** `scheduler_execution_context_v0`. */
      schema_version: string;
      /** Host surface. */
      host_surface: string;
      /** Who owns the schedule. */
      scheduler_owner: string;
      /** How the host runs. */
      execution_mode: string;
      /** Where the context was said. */
      source: string;
      /** The three go together. */
      valid: boolean;
      /** `applicable`, `not_applicable` or `blocked_invalid_context`. */
      app_automation_applicability: string;
      /** Why they do not. */
      errors?: string[];
    } | {
      /** Host surface. */
      host_surface: string;
      /** Who owns the schedule. */
      scheduler_owner: string;
      /** How the host runs. */
      execution_mode: string;
      /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
      source: string;
    } | null;
    /** Where the host stands. */
    execution_phase?: {
      /** `scheduler_execution_phase_v0`. */
      schema_version: string;
      /** Host surface. */
      host_surface: string;
      /** Who owns the schedule. */
      scheduler_owner: string;
      /** `host_action_required`, `not_required`, `<owner>_owned` or `contract_error`. */
      disposition: string;
      /** Nothing is left to do. */
      completed: boolean;
      /** The host has to set its schedule. */
      apply_needed: boolean;
      /** The host has to acknowledge. */
      ack_needed: boolean;
      /** Never: a hint acknowledges nothing. */
      acknowledged: boolean;
    } | null;
    /** Tokens; absent for a stop. */
    reset_policy?: {
      /** Changes when the wait is another one; only equality matters. */
      reset_token: string;
      /** Digest of what is waited on, without the ladder. */
      identity_signature: string;
      /** Where a host keeps the token. */
      host_state_key?: string | null;
      /** App hosts: minutes that a reset goes back to. */
      app_automation_initial_interval_minutes?: number | null;
      /** App hosts: the same as a rule. */
      app_automation_initial_rrule?: string | null;
    } | null;
    /** For hosts that keep the schedule themselves. */
    app_automation?: {
      /** `applicable`, `not_applicable` or `blocked_invalid_context`. */
      applicability: string;
      /** Which app. */
      host_surface?: string | null;
      /** Why it is not applicable. */
      reason_code?: string | null;
      /** What becomes of the schedule. */
      apply: string;
      /** What the host does. */
      host_action: string;
      /** The order of what it does. */
      host_action_contract?: string | null;
      /** The tool that does it. */
      host_tool?: string | null;
      /** Not through a wait: whether an acknowledgement is asked for. */
      ack_required?: boolean | null;
      /** Minutes of the step. */
      recommended_interval_minutes?: number | null;
      /** Minutes of the last step. */
      max_interval_minutes?: number | null;
      /** What the ladder roughly grows by. */
      unchanged_poll_backoff_multiplier?: number | null;
      /** The ladder. */
      example_progression_minutes?: number[];
      /** The rule to set, when one is to be set. */
      recommended_rrule?: string | null;
      /** Where a host reads the rule from. */
      rrule_source?: string | null;
      /** Where the walk stands. */
      stateful_backoff?: unknown;
      /** How to say that the rule was set. */
      ack_hint?: unknown;
      /** How to say that it could not be set. */
      failure_hint?: unknown;
      /** Codex App: the earlier tool's bridge, where it is installed. */
      fallback_hint?: unknown;
      /** Stops: the host must act. */
      host_action_required?: boolean | null;
      /** Stops: how often it tries. */
      attempt_limit?: number | null;
      /** Stops: it looks whether it worked. */
      verify_host_result?: boolean | null;
      /** Stops: what starts it again. */
      resume_trigger?: string | null;
      /** Stops: always true. */
      no_spend_for_host_action?: boolean | null;
      /** Always true. */
      no_spend_for_cadence_change?: boolean | null;
    } | null;
    /** The same under the name that Codex App's automations of the earlier tool read. */
    codex_app?: {
      /** `applicable`, `not_applicable` or `blocked_invalid_context`. */
      applicability: string;
      /** Which app. */
      host_surface?: string | null;
      /** Why it is not applicable. */
      reason_code?: string | null;
      /** What becomes of the schedule. */
      apply: string;
      /** What the host does. */
      host_action: string;
      /** The order of what it does. */
      host_action_contract?: string | null;
      /** The tool that does it. */
      host_tool?: string | null;
      /** Not through a wait: whether an acknowledgement is asked for. */
      ack_required?: boolean | null;
      /** Minutes of the step. */
      recommended_interval_minutes?: number | null;
      /** Minutes of the last step. */
      max_interval_minutes?: number | null;
      /** What the ladder roughly grows by. */
      unchanged_poll_backoff_multiplier?: number | null;
      /** The ladder. */
      example_progression_minutes?: number[];
      /** The rule to set, when one is to be set. */
      recommended_rrule?: string | null;
      /** Where a host reads the rule from. */
      rrule_source?: string | null;
      /** Where the walk stands. */
      stateful_backoff?: unknown;
      /** How to say that the rule was set. */
      ack_hint?: unknown;
      /** How to say that it could not be set. */
      failure_hint?: unknown;
      /** Codex App: the earlier tool's bridge, where it is installed. */
      fallback_hint?: unknown;
      /** Stops: the host must act. */
      host_action_required?: boolean | null;
      /** Stops: how often it tries. */
      attempt_limit?: number | null;
      /** Stops: it looks whether it worked. */
      verify_host_result?: boolean | null;
      /** Stops: what starts it again. */
      resume_trigger?: string | null;
      /** Stops: always true. */
      no_spend_for_host_action?: boolean | null;
      /** Always true. */
      no_spend_for_cadence_change?: boolean | null;
    } | null;
    /** For goal runtimes. */
    goal_runtime_continuation?: {
      /** `goal_runtime_continuation_v0`. */
      schema_version: string;
      /** `continue_now`, `defer`, `return_to_owner` or `complete`. */
      disposition: string;
      /** Deferred: seconds to the next look. */
      recheck_after_seconds?: number | null;
      /** Deferred to an instant: `frontier_earliest_material_transition`. */
      recheck_source?: string | null;
      /** Deferred: `state_change_or_deadline`. */
      wake_policy?: string | null;
    } | null;
    /** Gates: when a person is reminded, while a host polls too fast. */
    user_gate_notification_cooldown?: {
      /** `user_gate_notification_cooldown_v0`. */
      schema_version: string;
      /** Always true. */
      active: boolean;
      /** This poll may tell the person. */
      notification_due: boolean;
      /** This poll is silent. */
      notification_suppressed: boolean;
      /** `failed_host_update_bounded_reminder_window`. */
      policy: string;
      /** Minutes between reminders: what the schedule should have been. */
      cooldown_minutes: number;
      /** Minutes in which one poll falls: what the schedule is. */
      reminder_window_minutes: number;
      /** When the update failed. */
      failed_at: string;
      /** The next reminder. */
      next_reminder_at: string;
    } | null;
    /** What is to be repaired. */
    consistency_error?: {
      /** `scheduler_arbitration_v0`, for a contract. */
      schema_version?: string | null;
      /** `scheduler_execution_context`, for a context. */
      source?: string | null;
      /** One word, for a contract. */
      reason_code?: string | null;
      /** The contract's mode, when it has one. */
      mode?: string | null;
      /** What contradicts what. */
      errors: string[];
      /** What to do. */
      repair_action: string;
    } | null;
    /** Where the rest is. */
    detail_ref?: {
      /** `scheduler_hint_detail_v0`. */
      schema_version: string;
      /** Always true. */
      omitted_by_default: boolean;
      /** Never: the hint alone is enough to act. */
      execution_required: boolean;
      /** The command that shows it. */
      request: string;
      /** What a loop reads from the hint alone. */
      hot_path_runtime_fields: string[];
      /** What the detail has. */
      contains: string[];
    } | null;
    /** The ladder and all that goes with it, on request. */
    cold_path_detail?: {
      /** `scheduler_hint_detail_v0`. */
      schema_version: string;
      /** Always `quota.should-run`. */
      source: string;
      /** For local schedulers. */
      local_scheduler: {
        /** First step. */
        recommended_interval_minutes: number;
        /** Last step. */
        max_interval_minutes: number;
        /** What the ladder roughly grows by. */
        unchanged_poll_backoff_multiplier: number;
        /** Steps by number of unchanged polls. */
        example_progression_minutes: number[];
        /** Polls allowed. */
        unchanged_poll_limit: number | null;
        /** What follows. */
        after_limit: string;
        /** The one recheck before it follows. */
        final_quota_replan_check: {
          /** There is a limit. */
          enabled: boolean;
          /** When. */
          trigger: string;
          /** What. */
          action: string;
          /** Another answer came. */
          if_changed: string;
          /** The agent may run now. */
          if_run_now: string;
          /** The same answer came. */
          if_unchanged: string;
        };
        /** Always true. */
        no_spend_for_cadence_change: boolean;
      };
      /** For Codex CLI. */
      codex_cli_tui: {
        /** Polls allowed. */
        unchanged_poll_limit: number | null;
        /** What follows. */
        after_limit: string;
        /** The one recheck before it follows. */
        final_quota_replan_check: {
          /** There is a limit. */
          enabled: boolean;
          /** When. */
          trigger: string;
          /** What. */
          action: string;
          /** Another answer came. */
          if_changed: string;
          /** The agent may run now. */
          if_run_now: string;
          /** The same answer came. */
          if_unchanged: string;
        };
        /** `remains_active`: the host's goal is blocked, ours is not. */
        loopx_goal_state: string;
        /** `explicit_codex_goal_resume`. */
        resume_trigger: string;
        /** Always true. */
        no_spend_for_block: boolean;
        /** Codex CLI: always true. */
        no_spend_for_exit?: boolean | null;
      };
      /** For Codex App over SSH. */
      codex_app_ssh_goal: {
        /** Polls allowed. */
        unchanged_poll_limit: number | null;
        /** What follows. */
        after_limit: string;
        /** The one recheck before it follows. */
        final_quota_replan_check: {
          /** There is a limit. */
          enabled: boolean;
          /** When. */
          trigger: string;
          /** What. */
          action: string;
          /** Another answer came. */
          if_changed: string;
          /** The agent may run now. */
          if_run_now: string;
          /** The same answer came. */
          if_unchanged: string;
        };
        /** `remains_active`: the host's goal is blocked, ours is not. */
        loopx_goal_state: string;
        /** `explicit_codex_goal_resume`. */
        resume_trigger: string;
        /** Always true. */
        no_spend_for_block: boolean;
        /** Codex CLI: always true. */
        no_spend_for_exit?: boolean | null;
      };
      /** For Claude Code. */
      claude_code_loop: {
        /** Polls allowed. */
        unchanged_poll_limit: number | null;
        /** What follows. */
        after_limit: string;
        /** The one recheck before it follows. */
        final_quota_replan_check: {
          /** There is a limit. */
          enabled: boolean;
          /** When. */
          trigger: string;
          /** What. */
          action: string;
          /** Another answer came. */
          if_changed: string;
          /** The agent may run now. */
          if_run_now: string;
          /** The same answer came. */
          if_unchanged: string;
        };
        /** Always true. */
        no_spend_for_stop: boolean;
      };
      /** The one recheck. */
      final_quota_replan_check: {
        /** There is a limit. */
        enabled: boolean;
        /** When. */
        trigger: string;
        /** What. */
        action: string;
        /** Another answer came. */
        if_changed: string;
        /** The agent may run now. */
        if_run_now: string;
        /** The same answer came. */
        if_unchanged: string;
      };
      /** How a reset works. */
      reset_policy_detail: {
        /** `scheduler_reset_policy_v0`. */
        schema_version: string;
        /** Always `quota.should-run`. */
        source: string;
        /** `profile_initial_interval`. */
        reset_to: string;
        /** What the host does. */
        profile_action: string;
        /** Token. */
        reset_token: string;
        /** Where a host keeps it. */
        host_state_key: string;
        /** Minutes that a local scheduler goes back to. */
        local_scheduler_initial_interval_minutes: number;
        /** Always true. */
        clear_unchanged_poll_state: boolean;
        /** How many paths make the identity. */
        identity_key_count: number;
        /** Digest of the identity. */
        identity_signature: string;
        /** Digest of class and ladder. */
        profile_signature: string;
        /** Digest of what of them a reset depends on. */
        reset_profile_signature: string;
        /** What changes a token, joined by `|`. */
        reset_condition_summary: string;
        /** What follows a reset. */
        after_reset: string;
        /** Always true. */
        no_spend_for_reset: boolean;
        /** App hosts: minutes that a reset goes back to. */
        app_automation_initial_interval_minutes?: number | null;
        /** App hosts: the same as a rule. */
        app_automation_initial_rrule?: string | null;
        /** App hosts: the tool that sets a schedule. */
        app_automation_tool?: string | null;
        /** App hosts: what a reset has them do. */
        app_automation_apply?: string | null;
      };
      /** App hosts: how their schedule climbs. */
      stateful_backoff_detail?: {
        /** The host acknowledges what it set. */
        ack_required_after_apply: boolean;
        /** The host acknowledges what it has already. */
        ack_required_from_host_match: boolean;
        /** What an update may touch. */
        automation_update_scope: string;
        /** Who waits longer than the host can. */
        coarser_wait_fallback: string;
        /** Minutes of the step. */
        current_interval_minutes: number;
        /** Minutes of the last step. */
        host_max_interval_minutes: number;
        /** What becomes of a failed update. */
        host_update_failure: string;
        /** What is kept between polls, joined by `|`. */
        persist: string;
        /** The ladder. */
        progression_minutes: number[];
        /** What a reset does. */
        reset_action: string;
        /** What the same identity does. */
        same_identity_action: string;
      } | null;
      /** Monitor waits: what they are measured by. */
      cadence_context?: {
        /** `active_window`, `near_window`, `far_window`, `cadence_only` or `expired`. */
        phase: string;
        /** The ladder without a monitor. */
        base_progression_minutes: number[];
        /** The ladder. */
        progression_minutes?: number[] | null;
        /** Minutes that no step exceeds. */
        cap_minutes?: number | null;
        /** Minutes that no step goes below. */
        host_floor_minutes: number;
        /** Monitors that could be waited for. */
        candidate_count?: number | null;
        /** Monitors that are past their end. */
        expired_monitor_count: number;
        /** Which. */
        selected_monitor_identity?: string | null;
        /** Its id. */
        selected_todo_id?: string | null;
        /** What is watched. */
        selected_target_key?: string | null;
        /** How often. */
        cadence_minutes?: number | null;
        /** When next. */
        next_due_at?: string | null;
        /** Until when. */
        expires_at?: string | null;
        /** When it was looked at last. */
        last_checked_at?: string | null;
        /** What a reset of the wait depends on. */
        reset_profile?: {
          /** Phase. */
          monitor_wait_phase: string;
          /** Minutes that no step goes below. */
          monitor_wait_host_floor_minutes: number;
          /** Which monitor. */
          monitor_wait_selected_identity: string;
          /** How often. */
          monitor_wait_cadence_minutes?: number | null;
          /** When its time comes. */
          monitor_wait_window_start_at?: string | null;
          /** When its time is over. */
          monitor_wait_window_end_at?: string | null;
        } | null;
      } | null;
      /** The next instant at which time alone changes the answer. */
      frontier_recheck?: {
        /** Seconds until then, at least one. */
        frontier_recheck_after_seconds: number;
        /** What kind of thing comes due. */
        frontier_recheck_source: string;
        /** Which. */
        frontier_recheck_identity: string;
        /** How many things have an instant. */
        frontier_recheck_candidate_count: number;
      } | null;
      /** App hosts: who wakes the agent. */
      execution_context?: {
        /** `scheduler_execution_context_v0`. */
        schema_version: string;
        /** Host surface. */
        host_surface: string;
        /** Who owns the schedule. */
        scheduler_owner: string;
        /** How the host runs. */
        execution_mode: string;
        /** Where the context was said. */
        source: string;
        /** The three go together. */
        valid: boolean;
        /** `applicable`, `not_applicable` or `blocked_invalid_context`. */
        app_automation_applicability: string;
        /** Why they do not. */
        errors?: string[];
      } | null;
      /** App hosts: where the host stands. */
      execution_phase?: {
        /** `scheduler_execution_phase_v0`. */
        schema_version: string;
        /** Host surface. */
        host_surface: string;
        /** Who owns the schedule. */
        scheduler_owner: string;
        /** `host_action_required`, `not_required`, `<owner>_owned` or `contract_error`. */
        disposition: string;
        /** Nothing is left to do. */
        completed: boolean;
        /** The host has to set its schedule. */
        apply_needed: boolean;
        /** The host has to acknowledge. */
        ack_needed: boolean;
        /** Never: a hint acknowledges nothing. */
        acknowledged: boolean;
      } | null;
    } | null;
  };
  /** Who asked. */
  agent_identity: {
    /** Canonical id. */
    agent_id: string | null;
    /** In the roster. */
    registered: boolean;
    /** Version of these fields. */
    schema_version?: string | null;
    /** How agents stand to each other. */
    agent_model?: string | null;
    /** The roster, at most twenty of it. */
    registered_agents?: string[];
  };
  /** Shown once per key by a loop that tells a person. */
  notify_key?: string | null;
  /** What is not as it should be, at most three. */
  findings?: ({
    /** Stable word. */
    code: string;
    /** The todo, field or file that it is about. */
    about: string;
    /** One sentence. */
    message?: string;
    /** How to mend it. */
    next_command?: string | null;
  })[];
  normal_delivery_allowed: boolean;
  recovery_delivery_allowed: boolean;
  self_repair_allowed: boolean;
  capability_repair_allowed: boolean;
  workspace_repair_allowed: boolean;
  actionable_by_codex: boolean;
  safe_bypass_allowed: boolean;
  waiting_on: string;
  status: string;
  lifecycle_phase: string;
  lifecycle_flags: unknown[];
  source: string;
  recommended_action: string;
  requires_user_action: boolean;
  /** A person is to act, and was told a short while ago. */
  pending_user_action?: boolean;
  /** The agent is to work or a person to act. */
  action_required: boolean;
  open_count: number;
  /** How an automation takes the answer. */
  heartbeat_recommendation: {
    /** Mode. */
    recommended_mode: string;
    /** `NOTIFY` or `DONT_NOTIFY`. */
    notify: string;
    /** The agent works now. */
    agent_must_attempt: boolean;
    source?: string;
    spend_policy?: string;
    reason?: string;
  };
  /** What the agent owes. */
  execution_obligation: {
    /** It works now. */
    must_attempt_work: boolean;
    /** Same as the packet's `effective_action`. */
    kind: string;
    /** It may deliver, not only mend. */
    delivery_allowed: boolean;
    /** Never: telling a person and working are apart. */
    notify_is_execution_gate: boolean;
    reason?: string | null;
  };
  /** Whether an automation goes on. */
  automation_liveness: {
    keep_active: boolean;
    pause_allowed: boolean;
    automation_action: string;
  };
  /** The answer in one line. */
  protocol_action_packet: {
    /** `protocol_action_packet_v0`. */
    schema_version: string;
    summary: string;
  };
  /** Open todos by who does them. */
  plan_summary: {
    agent_open: number;
    user_open: number;
  };
  /** Whether todos are to be written. */
  todo_write_hint: {
    required: boolean;
  };
  /** Only when the goal is proven ended: hosts stop on nothing less. */
  goal_frontier_projection?: {
    /** What kind of end it is. */
    terminal_state: {
      /** `goal_terminal_state_v0`. */
      schema_version: string;
      kind: string;
      derived: boolean;
      source: string;
    };
    /** What the end was derived from. */
    source_completeness: {
      /** `goal_terminal_source_completeness_v0`. */
      schema_version: string;
      user_todos: string;
      agent_todos: string;
    };
  } | null;
  rollout_event: null;
}

/** Something that happened to a session. */
export type LoopEvent = {
  kind: "activated";
} | {
  kind: "settled";
  /**
   * The turn that is over, from a host that knows; a host that only knows that the
   * session is idle leaves it out, and the loop goes by whether the prompt arrived.
   */
  turn_instance_id?: string | null;
} | {
  kind: "user_prompt";
  /** Its text. Compared with the turn that is out, never kept. */
  prompt?: string | null;
} | {
  kind: "delivered";
} | {
  kind: "aborted";
} | {
  kind: "paused";
} | {
  kind: "resumed";
} | {
  kind: "timer";
} | {
  kind: "changed";
} | {
  kind: "probe_failed";
  /** Seconds of the first wait, of a host that has its own. */
  retry_seconds?: number | null;
} | {
  kind: "compacted";
} | {
  kind: "session_replaced";
} | {
  kind: "host_error";
  /** Seconds of the first wait, of a host that has its own. */
  retry_seconds?: number | null;
} | {
  kind: "disposed";
  /** The turn that was out is over: the runtime has stopped it, or it ended. */
  ended_turn?: boolean;
  /** It ended by itself and well; nobody stopped it. */
  finished?: boolean;
};

/** What the host does next. */
export type LoopAction = {
  kind: "prompt";
  /** The turn. */
  turn_id: string;
  /** What it is bound to. */
  todo_id?: string | null;
  /** What the agent reads; its last line names the turn. */
  text: string;
} | {
  kind: "wait";
  /** When to send a `timer` event. */
  until: string;
} | {
  kind: "recheck";
} | {
  kind: "pause";
  /** Why. */
  reason: "user_paused" | "user_prompt" | "aborted" | "unchanged_limit" | "goal_stopped" | "quota_paused" | "returned_to_owner" | "terminal" | "replaced";
  /**
   * What the hint tells this host to do, such as
   * `update_goal_blocked_keep_loopx_active`.
   */
  directive?: string | null;
} | {
  kind: "stop";
  /** Why. */
  reason: "user_paused" | "user_prompt" | "aborted" | "unchanged_limit" | "goal_stopped" | "quota_paused" | "returned_to_owner" | "terminal" | "replaced";
  /** What the hint tells this host to do, such as `exit`. */
  directive?: string | null;
} | {
  kind: "idle";
};

/** What a person is told, once per key. */
export interface LoopNotice {
  /** Shown once; another key is another notice. */
  key: string;
  /** One sentence. */
  text: string;
  /** What they can do. */
  commands?: string[];
}

/** What `loop.show` answers. */
export interface LoopsShown {
  /** True. */
  ok: boolean;
  /** The goal that was asked about; absent for a session wherever it is. */
  goal_id?: string | null;
  /** How each loop stands: goal, session, state, what it waits for. */
  loops: Record<string, unknown>[];
  /** Goals that the session may follow as well: they could not be read. */
  unreadable_goals: {
    /** The goal as its registry names it. */
    goal_id: string;
    /** Why, as the code of the refusal. */
    error_code: string;
    /** Why, one sentence. */
    error: string;
    /** What could not be read. */
    about: string;
    /** What to do about it. */
    next_command: string;
  }[];
}

/** Request of `todo.add`. */
export interface TodoAddRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Whose list. */
  role: "user" | "agent";
  /** The line, with `[P0]` to `[P4]` in front for a priority. */
  text: string;
  /** `open`, `blocked` or `deferred`. */
  status?: "open" | "done" | "blocked" | "deferred" | null;
  /** Who adds it; for user todos also whom it concerns. */
  agent_id?: string | null;
  /** Remark. */
  note?: string | null;
  /** Why it is blocked. */
  reason?: string | null;
  /** Class. */
  task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
  /** Kind of work, `[a-z][a-z0-9_-]{0,63}`. */
  action_kind?: string | null;
  /** Domain word. */
  task_domain?: string | null;
  /** Repository the work belongs to. */
  task_repository?: string | null;
  /** `independent_handoff` or `same_agent_non_delivery`. */
  continuation_policy?: string | null;
  /** Path globs. */
  required_write_scopes?: string[];
  /** Capabilities needed. */
  required_capabilities?: string[];
  /** Capabilities to obtain. */
  target_capabilities?: string[];
  /** Gates: scope decided. */
  decision_scope?: string | null;
  /** Scopes needed. */
  required_decision_scopes?: string[];
  /** Holder. */
  claimed_by?: string | null;
  /** User todos: whom it concerns. */
  bound_agent?: string | null;
  /** User todos: everyone. */
  goal_bound?: boolean | null;
  /** Gates: whom it blocks. */
  blocks_agent?: string | null;
  /** Gates: everyone. */
  global_gate?: boolean | null;
  /** Who may not take it. */
  excluded_agents?: string[];
  /** Gates: what it blocks. */
  unblocks_todo_id?: string | null;
  /** Condition. */
  resume_when?: string | null;
  /** Monitors: what. */
  target_key?: string | null;
  /** Monitors: how often. */
  cadence?: string | null;
  /** Monitors: when next. */
  next_due_at?: string | null;
  /** Monitors: until when. */
  expires_at?: string | null;
  /** Monitors: never closed. */
  watch_only?: boolean | null;
}

/** Request of `todo.list`. */
export interface TodoListRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** One role only. */
  role?: "user" | "agent" | null;
  /** One status only. */
  status?: "open" | "done" | "blocked" | "deferred" | null;
  /** One todo only. */
  todo_id?: string | null;
  /**
   * What this agent may see: unclaimed or its own, not excluded; user todos that
   * concern it.
   */
  agent_id?: string | null;
  /** At most so many. */
  limit?: number | null;
  /** With archived ones. */
  archived?: boolean;
}

/** Request of `todo.claim`. */
export interface TodoClaimRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which. */
  todo_id: string;
  /** For whom; the acting agent when absent. */
  claimed_by?: string | null;
  /** Who acts. */
  agent_id?: string | null;
}

/** Request of `todo.update`. */
export interface TodoUpdateRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which. */
  todo_id?: string;
  /** Who acts. */
  agent_id?: string | null;
  /** New text. */
  text?: string | null;
  /** New status; an agent todo is completed with `todo complete`. */
  status?: "open" | "done" | "blocked" | "deferred" | null;
  /**
   * Fields to take off: `claim`, `blocks-agent`, `excluded-agents`, `global-gate`,
   * `unblocks-todo-id`, `decision-scope`, `resume-when`, `note`, `reason`.
   */
  clear?: string[];
  /** Todos that follow it. */
  successor_todo_ids?: string[];
  /** Nothing follows it. */
  no_follow_up?: boolean;
  /** Remark. */
  note?: string | null;
  /** Why it is blocked. */
  reason?: string | null;
  /** Class. */
  task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
  /** Kind of work, `[a-z][a-z0-9_-]{0,63}`. */
  action_kind?: string | null;
  /** Domain word. */
  task_domain?: string | null;
  /** Repository the work belongs to. */
  task_repository?: string | null;
  /** `independent_handoff` or `same_agent_non_delivery`. */
  continuation_policy?: string | null;
  /** Path globs. */
  required_write_scopes?: string[];
  /** Capabilities needed. */
  required_capabilities?: string[];
  /** Capabilities to obtain. */
  target_capabilities?: string[];
  /** Gates: scope decided. */
  decision_scope?: string | null;
  /** Scopes needed. */
  required_decision_scopes?: string[];
  /** Holder. */
  claimed_by?: string | null;
  /** User todos: whom it concerns. */
  bound_agent?: string | null;
  /** User todos: everyone. */
  goal_bound?: boolean | null;
  /** Gates: whom it blocks. */
  blocks_agent?: string | null;
  /** Gates: everyone. */
  global_gate?: boolean | null;
  /** Who may not take it. */
  excluded_agents?: string[];
  /** Gates: what it blocks. */
  unblocks_todo_id?: string | null;
  /** Condition. */
  resume_when?: string | null;
  /** Monitors: what. */
  target_key?: string | null;
  /** Monitors: how often. */
  cadence?: string | null;
  /** Monitors: when next. */
  next_due_at?: string | null;
  /** Monitors: until when. */
  expires_at?: string | null;
  /** Monitors: never closed. */
  watch_only?: boolean | null;
}

/** Request of `todo.complete`. */
export interface TodoCompleteRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which. */
  todo_id?: string;
  /** Who acts. */
  agent_id?: string | null;
  /** What shows that it is done. */
  evidence?: string | null;
  /** Remark. */
  note?: string | null;
  /** Nothing follows. */
  no_follow_up?: boolean;
  /** Existing todos that follow. */
  successor_todo_ids?: string[];
  /** Text of a new agent todo that follows; inherits the priority when it has none. */
  next_agent_todo?: string | null;
  /** Text of a new user todo that follows. */
  next_user_todo?: string | null;
  /** Class of that user todo. */
  next_user_task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
  /** Fields of the new agent todo. */
  next_fields?: {
    /** Remark. */
    note?: string | null;
    /** Why it is blocked. */
    reason?: string | null;
    /** Class. */
    task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
    /** Kind of work, `[a-z][a-z0-9_-]{0,63}`. */
    action_kind?: string | null;
    /** Domain word. */
    task_domain?: string | null;
    /** Repository the work belongs to. */
    task_repository?: string | null;
    /** `independent_handoff` or `same_agent_non_delivery`. */
    continuation_policy?: string | null;
    /** Path globs. */
    required_write_scopes?: string[];
    /** Capabilities needed. */
    required_capabilities?: string[];
    /** Capabilities to obtain. */
    target_capabilities?: string[];
    /** Gates: scope decided. */
    decision_scope?: string | null;
    /** Scopes needed. */
    required_decision_scopes?: string[];
    /** Holder. */
    claimed_by?: string | null;
    /** User todos: whom it concerns. */
    bound_agent?: string | null;
    /** User todos: everyone. */
    goal_bound?: boolean | null;
    /** Gates: whom it blocks. */
    blocks_agent?: string | null;
    /** Gates: everyone. */
    global_gate?: boolean | null;
    /** Who may not take it. */
    excluded_agents?: string[];
    /** Gates: what it blocks. */
    unblocks_todo_id?: string | null;
    /** Condition. */
    resume_when?: string | null;
    /** Monitors: what. */
    target_key?: string | null;
    /** Monitors: how often. */
    cadence?: string | null;
    /** Monitors: when next. */
    next_due_at?: string | null;
    /** Monitors: until when. */
    expires_at?: string | null;
    /** Monitors: never closed. */
    watch_only?: boolean | null;
  };
  /** Gates: the decision. */
  decision_outcome?: "approve" | "reject" | "cancel" | null;
  /** Gates that approve a scope: how long it stays granted; standing when absent. */
  grant_life?: "once" | {
    /** RFC 3339, UTC */
    until: string;
  } | "standing" | null;
  /**
   * Gates that approve a scope: to whom; the agent that the gate blocks, else every
   * agent, when absent.
   */
  grant_agent?: string | null;
  /** The turn in which it was done. */
  turn_instance_id?: string | null;
}

/** Request of `quota.should_run`. */
export interface ShouldRunRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Who asks. */
  agent_id?: string | null;
  /** Capabilities that the door declares. */
  available_capabilities?: string[];
  /** The door works in a worktree of its own. */
  independent_worktree?: boolean;
  /** Who wakes the agent. */
  execution_context?: {
    /** Host surface. */
    host_surface: string;
    /** Who owns the schedule. */
    scheduler_owner: string;
    /** How the host runs. */
    execution_mode: string;
    /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
    source: string;
  } | null;
  /** App hosts: the RRULE that the host's automation has now. */
  app_automation_current_rrule?: string | null;
  /** Sections to add. */
  include_detail?: ("scheduler" | "agent-todos" | "user-todos" | "goal-boundary" | "vision" | "all")[];
  /**
   * The turn; makes it an admission. `turn.admit` without one names it itself, and gives
   * the same again while that turn lives.
   */
  turn_instance_id?: string | null;
  /** Seconds that the reservation lives, 3,600 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** A process that outlives this call and whose death frees the turn. */
  holder_pid?: number | null;
}

/** Request of `turn.admit`. */
export interface TurnAdmitRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Who asks. */
  agent_id?: string | null;
  /** Capabilities that the door declares. */
  available_capabilities?: string[];
  /** The door works in a worktree of its own. */
  independent_worktree?: boolean;
  /** Who wakes the agent. */
  execution_context?: {
    /** Host surface. */
    host_surface: string;
    /** Who owns the schedule. */
    scheduler_owner: string;
    /** How the host runs. */
    execution_mode: string;
    /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
    source: string;
  } | null;
  /** App hosts: the RRULE that the host's automation has now. */
  app_automation_current_rrule?: string | null;
  /** Sections to add. */
  include_detail?: ("scheduler" | "agent-todos" | "user-todos" | "goal-boundary" | "vision" | "all")[];
  /**
   * The turn; makes it an admission. `turn.admit` without one names it itself, and gives
   * the same again while that turn lives.
   */
  turn_instance_id?: string | null;
  /** Seconds that the reservation lives, 3,600 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** A process that outlives this call and whose death frees the turn. */
  holder_pid?: number | null;
}

/** Request of `turn.renew`. */
export interface TurnRenewRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which. */
  turn_instance_id?: string;
  /** Who acts. */
  agent_id?: string | null;
  /** Renew: seconds from now, 3,600 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** Release: why. */
  reason?: string | null;
}

/** Request of `turn.release`. */
export interface TurnReleaseRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which. */
  turn_instance_id?: string;
  /** Who acts. */
  agent_id?: string | null;
  /** Renew: seconds from now, 3,600 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** Release: why. */
  reason?: string | null;
}

/** Request of `turn.show`. */
export interface TurnShowRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Which. */
  turn_instance_id?: string;
  /** Who acts. */
  agent_id?: string | null;
  /** Renew: seconds from now, 3,600 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** Release: why. */
  reason?: string | null;
}

/** Request of `turn.settle`. */
export interface TurnSettleRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which; the agent's only live one when empty. */
  turn_instance_id?: string;
  /** Who acts. */
  agent_id?: string | null;
  /** What it came to. */
  outcome: "progress" | "completed" | "blocked" | "no_change" | "failed";
  /** What shows it; needed for progress and completed. */
  evidence?: string[];
  /** Remark. */
  note?: string | null;
  /** Why; needed for blocked. */
  reason?: string | null;
  /** Completed: nothing follows. */
  no_follow_up?: boolean;
  /** Existing todos that follow. */
  successor_todo_ids?: string[];
  /** A new agent todo that follows, or that a replan decided on. */
  next_agent_todo?: string | null;
  /** A new user todo that follows. */
  next_user_todo?: string | null;
  /** Class of that user todo. */
  next_user_task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
  /** Fields of the new agent todo. */
  next_fields?: {
    /** Remark. */
    note?: string | null;
    /** Why it is blocked. */
    reason?: string | null;
    /** Class. */
    task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
    /** Kind of work, `[a-z][a-z0-9_-]{0,63}`. */
    action_kind?: string | null;
    /** Domain word. */
    task_domain?: string | null;
    /** Repository the work belongs to. */
    task_repository?: string | null;
    /** `independent_handoff` or `same_agent_non_delivery`. */
    continuation_policy?: string | null;
    /** Path globs. */
    required_write_scopes?: string[];
    /** Capabilities needed. */
    required_capabilities?: string[];
    /** Capabilities to obtain. */
    target_capabilities?: string[];
    /** Gates: scope decided. */
    decision_scope?: string | null;
    /** Scopes needed. */
    required_decision_scopes?: string[];
    /** Holder. */
    claimed_by?: string | null;
    /** User todos: whom it concerns. */
    bound_agent?: string | null;
    /** User todos: everyone. */
    goal_bound?: boolean | null;
    /** Gates: whom it blocks. */
    blocks_agent?: string | null;
    /** Gates: everyone. */
    global_gate?: boolean | null;
    /** Who may not take it. */
    excluded_agents?: string[];
    /** Gates: what it blocks. */
    unblocks_todo_id?: string | null;
    /** Condition. */
    resume_when?: string | null;
    /** Monitors: what. */
    target_key?: string | null;
    /** Monitors: how often. */
    cadence?: string | null;
    /** Monitors: when next. */
    next_due_at?: string | null;
    /** Monitors: until when. */
    expires_at?: string | null;
    /** Monitors: never closed. */
    watch_only?: boolean | null;
  };
  /** Monitors: digest of what was seen. */
  result_hash?: string | null;
  /** Model usage. */
  usage?: {
    /** Tokens read. */
    input_tokens?: number;
    /** Tokens written. */
    output_tokens?: number;
    /** Cost in micro-units of the host's currency, when it knows. */
    cost_micros?: number | null;
  } | null;
  /** Admit this turn in the same commit. */
  admit_next?: string | null;
  /** For the next decision: capabilities. */
  available_capabilities?: string[];
  /** For the next decision: a worktree of its own. */
  independent_worktree?: boolean;
}

/** Request of `task_lease.acquire`. */
export interface TaskLeaseAcquireRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which todo. */
  todo_id?: string;
  /** Holder. */
  owner?: string | null;
  /** The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`. */
  idempotency_key?: string | null;
  /** Seconds, 2,700 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** Path globs that nobody else's lease may overlap. */
  write_scopes?: string[];
  /** The version that the caller read; needed to renew, transfer and release. */
  expected_version?: number | null;
  /** Transfer: to whom. */
  new_owner?: string | null;
  /** Transfer: the new holder's key. */
  new_idempotency_key?: string | null;
  /** A process that outlives this call and whose death frees the lease. */
  holder_pid?: number | null;
}

/** Request of `task_lease.renew`. */
export interface TaskLeaseRenewRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which todo. */
  todo_id?: string;
  /** Holder. */
  owner?: string | null;
  /** The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`. */
  idempotency_key?: string | null;
  /** Seconds, 2,700 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** Path globs that nobody else's lease may overlap. */
  write_scopes?: string[];
  /** The version that the caller read; needed to renew, transfer and release. */
  expected_version?: number | null;
  /** Transfer: to whom. */
  new_owner?: string | null;
  /** Transfer: the new holder's key. */
  new_idempotency_key?: string | null;
  /** A process that outlives this call and whose death frees the lease. */
  holder_pid?: number | null;
}

/** Request of `task_lease.transfer`. */
export interface TaskLeaseTransferRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which todo. */
  todo_id?: string;
  /** Holder. */
  owner?: string | null;
  /** The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`. */
  idempotency_key?: string | null;
  /** Seconds, 2,700 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** Path globs that nobody else's lease may overlap. */
  write_scopes?: string[];
  /** The version that the caller read; needed to renew, transfer and release. */
  expected_version?: number | null;
  /** Transfer: to whom. */
  new_owner?: string | null;
  /** Transfer: the new holder's key. */
  new_idempotency_key?: string | null;
  /** A process that outlives this call and whose death frees the lease. */
  holder_pid?: number | null;
}

/** Request of `task_lease.release`. */
export interface TaskLeaseReleaseRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which todo. */
  todo_id?: string;
  /** Holder. */
  owner?: string | null;
  /** The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`. */
  idempotency_key?: string | null;
  /** Seconds, 2,700 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** Path globs that nobody else's lease may overlap. */
  write_scopes?: string[];
  /** The version that the caller read; needed to renew, transfer and release. */
  expected_version?: number | null;
  /** Transfer: to whom. */
  new_owner?: string | null;
  /** Transfer: the new holder's key. */
  new_idempotency_key?: string | null;
  /** A process that outlives this call and whose death frees the lease. */
  holder_pid?: number | null;
}

/** Request of `task_lease.inspect`. */
export interface TaskLeaseInspectRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Which todo. */
  todo_id?: string;
  /** Holder. */
  owner?: string | null;
  /** The caller's key, `[A-Za-z0-9_.:@/-]{1,160}`. */
  idempotency_key?: string | null;
  /** Seconds, 2,700 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** Path globs that nobody else's lease may overlap. */
  write_scopes?: string[];
  /** The version that the caller read; needed to renew, transfer and release. */
  expected_version?: number | null;
  /** Transfer: to whom. */
  new_owner?: string | null;
  /** Transfer: the new holder's key. */
  new_idempotency_key?: string | null;
  /** A process that outlives this call and whose death frees the lease. */
  holder_pid?: number | null;
}

/** Request of `handoff_mode.show`. */
export interface HandoffModeShowRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `handoff_mode.set`. */
export interface HandoffModeSetRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** The new mode. */
  mode: "legacy" | "soft_claim" | "hard_lease";
}

/** Request of `loop.step`. */
export interface LoopStepRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** `--host` word of the host. */
  surface: string;
  /** The host's session: its file, its id. Only a digest of it is kept. */
  session: string;
  /** What happened. */
  event: {
    kind: "activated";
  } | {
    kind: "settled";
    /**
     * The turn that is over, from a host that knows; a host that only knows that the
     * session is idle leaves it out, and the loop goes by whether the prompt arrived.
     */
    turn_instance_id?: string | null;
  } | {
    kind: "user_prompt";
    /** Its text. Compared with the turn that is out, never kept. */
    prompt?: string | null;
  } | {
    kind: "delivered";
  } | {
    kind: "aborted";
  } | {
    kind: "paused";
  } | {
    kind: "resumed";
  } | {
    kind: "timer";
  } | {
    kind: "changed";
  } | {
    kind: "probe_failed";
    /** Seconds of the first wait, of a host that has its own. */
    retry_seconds?: number | null;
  } | {
    kind: "compacted";
  } | {
    kind: "session_replaced";
  } | {
    kind: "host_error";
    /** Seconds of the first wait, of a host that has its own. */
    retry_seconds?: number | null;
  } | {
    kind: "disposed";
    /** The turn that was out is over: the runtime has stopped it, or it ended. */
    ended_turn?: boolean;
    /** It ended by itself and well; nobody stopped it. */
    finished?: boolean;
  };
  /**
   * The generation that the host saw last. When another runtime has gone on since, the
   * event changes nothing and the answer says how the loop stands.
   */
  generation?: number | null;
  /** `activated`: for whom the loop asks. */
  agent_id?: string | null;
  /** Capabilities that the door declares; those of the activation when absent. */
  available_capabilities?: string[] | null;
  /** The door works in a worktree of its own; as at the activation when absent. */
  independent_worktree?: boolean | null;
  /** Who wakes the agent; as at the activation when absent. */
  execution_context?: {
    /** Host surface. */
    host_surface: string;
    /** Who owns the schedule. */
    scheduler_owner: string;
    /** How the host runs. */
    execution_mode: string;
    /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
    source: string;
  } | null;
  /** Seconds that an admitted turn's reservation lives, 3,600 when absent. */
  ttl_seconds?: number | null;
  /** A process that outlives this call and whose death frees the turn. */
  holder_pid?: number | null;
  /**
   * `activated`: the host does not keep the session, so that nobody can come back to it. Its
   * loop is over when the process `holder_pid` has died; without one, when it is unbound.
   */
  ephemeral?: boolean;
  /** Only look: decide, keep the pace, admit nothing. */
  observe?: boolean;
}

/** Request of `loop.show`. */
export interface LoopShowRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** `--host` word of the host. */
  surface?: string | null;
  /** The host's session; every loop of the goal when absent. */
  session?: string | null;
}

/** Request of `loop.unbind`. */
export interface LoopUnbindRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** `--host` word of the host. */
  surface?: string | null;
  /** The host's session; every loop of the goal when absent. */
  session?: string | null;
}

/** Request of `quota.status`. */
export interface QuotaStatusRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `quota.spend_slot`. */
export interface QuotaSpendSlotRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Who spends. */
  agent_id?: string | null;
  /** For which todo; the last delivered one when absent. */
  todo_id?: string | null;
  /** How many; one when absent. */
  slots?: number | null;
  /** `heartbeat`, `controller`, `adapter` or `visible-goal`. */
  source?: string | null;
  /** The turn. */
  turn_instance_id?: string | null;
  /** Act; without it the answer is a preview. */
  execute?: boolean;
}

/** Request of `refresh_state`. */
export interface RefreshStateRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Who acts. */
  agent_id?: string | null;
  /** What was worked on. */
  todo_id?: string | null;
  /** The turn. */
  turn_instance_id?: string | null;
  /** What was delivered; `neutral` when absent. */
  delivery_outcome?: "outcome_progress" | "primary_goal_outcome" | "surface_only" | "no_change" | "failed" | "neutral" | null;
  /** The caller's word for it, `state_refreshed` when absent. */
  classification?: string | null;
  /** What to do next. */
  recommended_action?: string | null;
  /** What shows the delivery. */
  evidence?: string[];
  /** Model usage. */
  usage?: {
    /** Tokens read. */
    input_tokens?: number;
    /** Tokens written. */
    output_tokens?: number;
    /** Cost in micro-units of the host's currency, when it knows. */
    cost_micros?: number | null;
  } | null;
}

/** Request of `goal.create`. */
export interface GoalCreateRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** What the goal is for, one line. */
  objective?: string | null;
  /** First agents of the roster. */
  agents?: string[];
  /**
   * State file, relative to the project; `.loopx/goals/<goal>/ACTIVE_GOAL_STATE.md`
   * when absent. One that exists is connected, not overwritten.
   */
  state_file?: string | null;
  /** Path globs that agents may write. */
  write_scope?: string[];
  /** Share of the window, 0 to 1. */
  compute?: number | null;
  /** Window in hours. */
  window_hours?: number | null;
  /** Slot in minutes. */
  slot_minutes?: number | null;
  /** Slots in the window. */
  allowed_slots?: number | null;
}

/** Request of `goal.stop`. */
export interface GoalStopRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Why, at most 600 characters. */
  reason?: string | null;
}

/** Request of `goal.resume`. */
export interface GoalResumeRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
}

/** Request of `goal.list`. */
export interface GoalListRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `goal.show`. */
export interface GoalShowRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `goal.changed_since`. */
export interface GoalChangedSinceRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The last commit that the asker has seen: `commit` of any answer. */
  commit?: number;
}

/** Request of `goal.adopt_legacy`. */
export interface GoalAdoptLegacyRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
}

/** Request of `agent.register`. */
export interface AgentRegisterRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Who; one text may hold several, separated by commas. */
  agents?: string[];
  /** Refuse agents that are registered already. */
  require_new?: boolean;
}

/** Request of `agent.list`. */
export interface AgentListRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `gate.list`. */
export interface GateListRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `gate.open`. */
export interface GateOpenRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** What a person is asked. */
  question?: string;
  /** Who asks; blocks itself when the gate names nothing. */
  agent_id?: string | null;
  /** The todo that waits for the answer. */
  unblocks_todo_id?: string | null;
  /** The scope that is decided, `kind:granularity:key`. */
  decision_scope?: string | null;
  /** The agent that waits for the answer. */
  blocks_agent?: string | null;
  /** Every agent waits for the answer. */
  global_gate?: boolean;
  /** Remark. */
  note?: string | null;
}

/** Request of `gate.decide`. */
export interface GateDecideRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which gate. */
  todo_id: string;
  /** The decision. */
  outcome: "approve" | "reject" | "cancel";
  /**
   * How long an approved scope stays granted: `once`, `standing` or
   * `{"until": instant}`; standing when absent.
   */
  life?: "once" | {
    /** RFC 3339, UTC */
    until: string;
  } | "standing" | null;
  /**
   * To whom an approved scope is granted; the agent that the gate blocks, else every
   * agent, when absent.
   */
  for_agent?: string | null;
  /** Remark. */
  note?: string | null;
}

/** Request of `gate.grants`. */
export interface GateGrantsRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `gate.withdraw`. */
export interface GateWithdrawRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which grant. */
  grant_id?: number;
}

/** Request of `quota.monitor_poll`. */
export interface QuotaMonitorPollRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Who looked. */
  agent_id?: string | null;
  /** The monitor. */
  todo_id?: string | null;
  /** The monitor by what it watches, instead of by its id. */
  target_key?: string | null;
  /** Digest of what was seen; another one than last time is a change. */
  result_hash?: string | null;
  /** What was seen matters: something should be done about it. */
  material_change?: boolean;
  /** When to look next, instead of now plus the cadence. */
  next_due_at?: string | null;
  /** How often to look from now on. */
  cadence?: string | null;
  /** Material change: text of the agent todo that it asks for. */
  next_agent_todo?: string | null;
  /** Material change: text of the user todo that it asks for. */
  next_user_todo?: string | null;
  /** Class of that user todo. */
  next_user_task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
  /** Fields of the new agent todo. */
  next_fields?: {
    /** Remark. */
    note?: string | null;
    /** Why it is blocked. */
    reason?: string | null;
    /** Class. */
    task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
    /** Kind of work, `[a-z][a-z0-9_-]{0,63}`. */
    action_kind?: string | null;
    /** Domain word. */
    task_domain?: string | null;
    /** Repository the work belongs to. */
    task_repository?: string | null;
    /** `independent_handoff` or `same_agent_non_delivery`. */
    continuation_policy?: string | null;
    /** Path globs. */
    required_write_scopes?: string[];
    /** Capabilities needed. */
    required_capabilities?: string[];
    /** Capabilities to obtain. */
    target_capabilities?: string[];
    /** Gates: scope decided. */
    decision_scope?: string | null;
    /** Scopes needed. */
    required_decision_scopes?: string[];
    /** Holder. */
    claimed_by?: string | null;
    /** User todos: whom it concerns. */
    bound_agent?: string | null;
    /** User todos: everyone. */
    goal_bound?: boolean | null;
    /** Gates: whom it blocks. */
    blocks_agent?: string | null;
    /** Gates: everyone. */
    global_gate?: boolean | null;
    /** Who may not take it. */
    excluded_agents?: string[];
    /** Gates: what it blocks. */
    unblocks_todo_id?: string | null;
    /** Condition. */
    resume_when?: string | null;
    /** Monitors: what. */
    target_key?: string | null;
    /** Monitors: how often. */
    cadence?: string | null;
    /** Monitors: when next. */
    next_due_at?: string | null;
    /** Monitors: until when. */
    expires_at?: string | null;
    /** Monitors: never closed. */
    watch_only?: boolean | null;
  };
  /** The turn in which it was looked. */
  turn_instance_id?: string | null;
  /** Act; without it the answer is a preview. */
  execute?: boolean;
}

/** Request of `quota.host_poll`. */
export interface QuotaHostPollRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Who asks. */
  agent_id?: string | null;
  /** Capabilities that the door declares. */
  available_capabilities?: string[];
  /** The door works in a worktree of its own. */
  independent_worktree?: boolean;
  /** Who wakes the agent. */
  execution_context?: {
    /** Host surface. */
    host_surface: string;
    /** Who owns the schedule. */
    scheduler_owner: string;
    /** How the host runs. */
    execution_mode: string;
    /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
    source: string;
  } | null;
  /** App hosts: the RRULE that the host's automation has now. */
  app_automation_current_rrule?: string | null;
  /** Sections to add. */
  include_detail?: ("scheduler" | "agent-todos" | "user-todos" | "goal-boundary" | "vision" | "all")[];
  /**
   * The turn; makes it an admission. `turn.admit` without one names it itself, and gives
   * the same again while that turn lives.
   */
  turn_instance_id?: string | null;
  /** Seconds that the reservation lives, 3,600 when absent, at most 86,400. */
  ttl_seconds?: number | null;
  /** A process that outlives this call and whose death frees the turn. */
  holder_pid?: number | null;
}

/** Request of `quota.scheduler_ack`. */
export interface QuotaSchedulerAckRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Whose schedule. */
  agent_id?: string | null;
  /** Capabilities that the door declares. */
  available_capabilities?: string[];
  /** The door works in a worktree of its own. */
  independent_worktree?: boolean;
  /** Which app host; `surface` may stand for it. */
  execution_context?: {
    /** Host surface. */
    host_surface: string;
    /** Who owns the schedule. */
    scheduler_owner: string;
    /** How the host runs. */
    execution_mode: string;
    /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
    source: string;
  } | null;
  /** `codex_app` or `trae_app`. */
  surface?: string | null;
  /** The RRULE that the host's automation has now. */
  app_automation_current_rrule?: string | null;
  /** The state key of the hint. */
  state_key?: string | null;
  /** Act; else only show what would be written. */
  execute?: boolean;
  /** The RRULE that the host has set. */
  applied_rrule?: string | null;
  /** Token of the hint that it followed. */
  reset_token?: string | null;
  /** Identity of that hint. */
  identity_signature?: string | null;
  /** The host has looked: the rule is in force. */
  host_match_observed?: boolean;
  /** Take token and identity from the hint that is current where they are not named. */
  use_current_hint?: boolean;
}

/** Request of `quota.scheduler_fail`. */
export interface QuotaSchedulerFailRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Whose schedule. */
  agent_id?: string | null;
  /** Capabilities that the door declares. */
  available_capabilities?: string[];
  /** The door works in a worktree of its own. */
  independent_worktree?: boolean;
  /** Which app host; `surface` may stand for it. */
  execution_context?: {
    /** Host surface. */
    host_surface: string;
    /** Who owns the schedule. */
    scheduler_owner: string;
    /** How the host runs. */
    execution_mode: string;
    /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
    source: string;
  } | null;
  /** `codex_app` or `trae_app`. */
  surface?: string | null;
  /** The RRULE that the host's automation has now. */
  app_automation_current_rrule?: string | null;
  /** The state key of the hint. */
  state_key?: string | null;
  /** Act; else only show what would be written. */
  execute?: boolean;
  /** The RRULE that the host could not set. */
  failed_rrule?: string;
  /** `host_tool_failure` (the default), `timeout`, `rejected` or `unavailable`. */
  failure_kind?: string | null;
}

/** Request of `quota.void_slot`. */
export interface QuotaVoidSlotRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which spend. */
  spend_id?: number | null;
  /** Which spend, by its instant (form of the earlier tool). */
  void_generated_at?: string | null;
  /** Why. */
  reason_summary?: string | null;
  /** Act; without it the answer is a preview. */
  execute?: boolean;
}

/** Request of `monitor.list`. */
export interface MonitorListRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `todo.supersede`. */
export interface TodoSupersedeRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** What is replaced. */
  todo_id?: string;
  /** What replaces it: a todo that exists. */
  by?: string | null;
  /** What replaces it: text of a new agent todo, which inherits the priority. */
  next_agent_todo?: string | null;
  /** Fields of that new todo. */
  next_fields?: {
    /** Remark. */
    note?: string | null;
    /** Why it is blocked. */
    reason?: string | null;
    /** Class. */
    task_class?: "advancement_task" | "continuous_monitor" | "user_gate" | "user_action" | "blocker" | null;
    /** Kind of work, `[a-z][a-z0-9_-]{0,63}`. */
    action_kind?: string | null;
    /** Domain word. */
    task_domain?: string | null;
    /** Repository the work belongs to. */
    task_repository?: string | null;
    /** `independent_handoff` or `same_agent_non_delivery`. */
    continuation_policy?: string | null;
    /** Path globs. */
    required_write_scopes?: string[];
    /** Capabilities needed. */
    required_capabilities?: string[];
    /** Capabilities to obtain. */
    target_capabilities?: string[];
    /** Gates: scope decided. */
    decision_scope?: string | null;
    /** Scopes needed. */
    required_decision_scopes?: string[];
    /** Holder. */
    claimed_by?: string | null;
    /** User todos: whom it concerns. */
    bound_agent?: string | null;
    /** User todos: everyone. */
    goal_bound?: boolean | null;
    /** Gates: whom it blocks. */
    blocks_agent?: string | null;
    /** Gates: everyone. */
    global_gate?: boolean | null;
    /** Who may not take it. */
    excluded_agents?: string[];
    /** Gates: what it blocks. */
    unblocks_todo_id?: string | null;
    /** Condition. */
    resume_when?: string | null;
    /** Monitors: what. */
    target_key?: string | null;
    /** Monitors: how often. */
    cadence?: string | null;
    /** Monitors: when next. */
    next_due_at?: string | null;
    /** Monitors: until when. */
    expires_at?: string | null;
    /** Monitors: never closed. */
    watch_only?: boolean | null;
  };
  /** Why. */
  reason?: string;
  /** Who acts. */
  agent_id?: string | null;
}

/** Request of `todo.archive`. */
export interface TodoArchiveRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which. */
  todo_id?: string;
  /** Who acts. */
  agent_id?: string | null;
}

/** Request of `todo.archive_completed`. */
export interface TodoArchiveCompletedRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Whose list; the agents' when absent. */
  role?: "user" | "agent" | null;
  /** How many done todos stay; [`KEEP`] when absent. */
  keep?: number | null;
  /** Who acts. */
  agent_id?: string | null;
  /** Act; without it the answer is a preview. */
  execute?: boolean;
}

/** Request of `todo.capture_followups`. */
export interface TodoCaptureFollowupsRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** The todo that was worked on. */
  todo_id?: string;
  /** Who acts. */
  agent_id?: string | null;
  /** What shows that they are needed. */
  evidence?: string;
  /** Texts, one or two. */
  followups?: string[];
}

/** Request of `todo.suggest`. */
export interface TodoSuggestRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Who plans. */
  agent_id?: string | null;
  /** Most todos to propose, 1 to 5; 3 when absent. */
  limit?: number | null;
}

/** Request of `feedback`. */
export interface FeedbackRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** What is said. */
  text?: string;
  /** The todo that it is about. */
  todo_id?: string | null;
  /** The agent that is to answer; who holds the todo, else any agent, when absent. */
  agent_id?: string | null;
}

/** Request of `goal.accept_add`. */
export interface GoalAcceptAddRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** What has to be so. */
  text?: string;
}

/** Request of `goal.accept_meet`. */
export interface GoalAcceptMeetRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Which, by its place in `goal.accept_list`, from 1. */
  index?: number | null;
  /** Which, by its text. */
  text?: string | null;
}

/** Request of `goal.accept_list`. */
export interface GoalAcceptListRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `goal.stop_all`. */
export interface GoalStopAllRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Why, at most 600 characters. */
  reason?: string | null;
}

/** Request of `status`. */
export interface StatusRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `history`. */
export interface HistoryRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Commits of this agent only. */
  agent_id?: string | null;
  /** Commits before this number only; needs the goal to be named. */
  before?: number | null;
  /** At most so many; 10 when absent. */
  limit?: number | null;
}

/** Request of `evidence_log`. */
export interface EvidenceLogRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Of this agent only. */
  agent_id?: string | null;
  /** On this todo only. */
  todo_id?: string | null;
  /** At most so many; 24 when absent. */
  limit?: number | null;
}

/** Request of `diagnose`. */
export interface DiagnoseRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `explain`. */
export interface ExplainRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Who asks. */
  agent_id?: string | null;
  /** This todo only. */
  todo_id?: string | null;
  /** Capabilities that the door declares. */
  available_capabilities?: string[];
  /** The door works in a worktree of its own. */
  independent_worktree?: boolean;
}

/** Request of `quota.plan`. */
export interface QuotaPlanRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `export`. */
export interface ExportRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The file to write; the answer carries the text when absent. */
  file?: string | null;
}

/** Request of `store.check`. */
export interface StoreCheckRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `store.backup`. */
export interface StoreBackupRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The folder; each goal gets a folder of its own in it. */
  dir?: string;
  /** Every goal of the registry. */
  all?: boolean;
}

/** Request of `store.restore`. */
export interface StoreRestoreRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** The folder that `store.backup` wrote, or the one above it. */
  from?: string;
  /** How many commits of the present store are lost: asked for when there are any. */
  losing_commits?: number | null;
  /** Act; without it the answer is a preview. */
  execute?: boolean;
}

/** Request of `store.prune`. */
export interface StorePruneRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Days of history that stay, at least 1. */
  keep_days?: number;
  /** Act; without it the answer is a preview. */
  execute?: boolean;
}

/** Request of `migrate`. */
export interface MigrateRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Every goal of the registry. */
  all?: boolean;
  /** Import now; without it the answer says what an import would do. */
  execute?: boolean;
}

/** Request of `import`. */
export interface ImportRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** The file that `export` wrote. */
  file?: string;
}

/** Request of `connectors.list`. */
export interface ConnectorsListRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `connectors.show`. */
export interface ConnectorsShowRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Id of a connector, value connector or candidate; a host's name means its connector. */
  connector?: string;
}

/** Request of `value_connector.run`. */
export interface ValueConnectorRunRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Id of a value connector. */
  connector?: string;
  /** What it looks at. */
  url?: string | null;
}

/** Request of `host_mode_plan`. */
export interface HostModePlanRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /**
   * What the person wants; the first one decides: watch_each_turn, continue_without_ui,
   * intake_from_chat, timer_keepalive, escalate_between_modes. When absent, what the host
   * does anyway.
   */
  intents?: string[];
  /** The host. */
  host?: string | null;
  /** A connector of the catalogue to put into the turn's plan. */
  connector?: string | null;
  /**
   * What the host can do: visible_session, loopx_turn, typed_host_adapter,
   * independent_validator, chat_gateway, service_timer, shell.
   */
  host_capabilities?: string[];
  /** The agent. */
  agent_id?: string | null;
  /** The roster, where it is not the goal's. */
  registered_agents?: string[];
  /** Show every mode whole, not the chosen one only. */
  all_modes?: boolean;
}

/** Request of `heartbeat_prompt`. */
export interface HeartbeatPromptRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The host, by name, alias, connector id or surface; decides everything else. */
  host?: string | null;
  /** thin (the default), brief, compact or full. */
  style?: string | null;
  /** Whom the body is for; needed where the goal has a roster. */
  agent_id?: string | null;
  /** What the agent keeps to, each at most 180 characters. */
  agent_scopes?: string[];
  /** A rule about material, at most 400 characters. */
  material_rule?: string | null;
  /** A rule about permissions, at most 400 characters. */
  permission_rule?: string | null;
  /** Capabilities that commands declare, at most 8. */
  available_capabilities?: string[];
  /** Who wakes the agent, where no host is named. */
  execution_context?: {
    /** Host surface. */
    host_surface: string;
    /** Who owns the schedule. */
    scheduler_owner: string;
    /** How the host runs. */
    execution_mode: string;
    /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
    source: string;
  } | null;
  /** `traex-cli`: its native goal, with the profile `generic_cli`. */
  visible_goal_host?: string | null;
  /** The turn that this wake is bound to. */
  turn_instance_id?: string | null;
  /** The program's name in commands, `loopx` when absent. */
  cli_bin?: string | null;
  /** The host's own name for its thread; says who the agent is where that is not named. */
  thread_id?: string | null;
  /** A state file: the goal then need not be in a registry. */
  active_state?: string | null;
}

/** Request of `doctor`. */
export interface DoctorRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The host to which skills are to be delivered: without its activation doctor refuses. */
  host?: string | null;
  /** Whose loop; every agent's when absent. */
  agent_id?: string | null;
}

/** Request of `slash_commands`. */
export interface SlashCommandsRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
}

/** Request of `install`. */
export interface InstallRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** Hosts; `codex` stands for every Codex surface. */
  hosts?: string[];
  /** Take the files away. */
  uninstall?: boolean;
  /** Only say what would be done. */
  dry_run?: boolean;
  /**
   * The project in which files are put. Without it they go to the user's own folders,
   * which only the command line knows.
   */
  project?: string | null;
}

/** Request of `init`. */
export interface InitRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** What the goal is for, one line; written only where the goal has none. */
  objective?: string | null;
  /** Agents of the roster. */
  agents?: string[];
  /** Slots in the window of a new goal. */
  allowed_slots?: number | null;
}

/** Request of `start_goal.plan`. */
export interface StartGoalPlanRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** What is to be reached, one line. */
  goal_text?: string | null;
  /** First todos, in order, such as `[P1] Write the parser`; at most 20. */
  todos?: string[];
  /** Who loops. */
  agent_id?: string | null;
  /** Register that agent, though the goal has others. */
  new_peer?: boolean;
  /** The host. */
  host?: string | null;
  /** The host's name for its thread. */
  thread_id?: string | null;
  /** Capabilities that commands declare. */
  available_capabilities?: string[];
}

/** Request of `start_goal`. */
export interface StartGoalRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** What is to be reached, one line. */
  goal_text?: string | null;
  /** First todos, in order, such as `[P1] Write the parser`; at most 20. */
  todos?: string[];
  /** Who loops. */
  agent_id?: string | null;
  /** Register that agent, though the goal has others. */
  new_peer?: boolean;
  /** The host. */
  host?: string | null;
  /** The host's name for its thread. */
  thread_id?: string | null;
  /** Capabilities that commands declare. */
  available_capabilities?: string[];
}

/** Request of `agent_onboard`. */
export interface AgentOnboardRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The host (the earlier tool's agent type). */
  host?: string | null;
  /** List the hosts instead. */
  list_agent_types?: boolean;
  /** The agent. */
  agent_id?: string | null;
  /** The host's name for its thread. */
  thread_id?: string | null;
}

/** Request of `bootstrap_command_pack`. */
export interface BootstrapCommandPackRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The host; `codex-cli` when absent. */
  host?: string | null;
  /** The agent. */
  agent_id?: string | null;
  /** What is to be reached. */
  goal_text?: string | null;
}

/** Request of `codex_cli_bootstrap_message`. */
export interface CodexCliBootstrapMessageRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The host; `codex-cli` when absent. */
  host?: string | null;
  /** The agent. */
  agent_id?: string | null;
  /** What is to be reached. */
  goal_text?: string | null;
}

/** Request of `host_loop.activate`. */
export interface HostLoopActivateRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** The host, by name, alias, connector id or surface; decides everything else. */
  host?: string | null;
  /** thin (the default), brief, compact or full. */
  style?: string | null;
  /** Whom the body is for; needed where the goal has a roster. */
  agent_id?: string | null;
  /** What the agent keeps to, each at most 180 characters. */
  agent_scopes?: string[];
  /** A rule about material, at most 400 characters. */
  material_rule?: string | null;
  /** A rule about permissions, at most 400 characters. */
  permission_rule?: string | null;
  /** Capabilities that commands declare, at most 8. */
  available_capabilities?: string[];
  /** Who wakes the agent, where no host is named. */
  execution_context?: {
    /** Host surface. */
    host_surface: string;
    /** Who owns the schedule. */
    scheduler_owner: string;
    /** How the host runs. */
    execution_mode: string;
    /** `runtime_profile:<name>`, `explicit` or `loopx_turn`. */
    source: string;
  } | null;
  /** `traex-cli`: its native goal, with the profile `generic_cli`. */
  visible_goal_host?: string | null;
  /** The turn that this wake is bound to. */
  turn_instance_id?: string | null;
  /** The program's name in commands, `loopx` when absent. */
  cli_bin?: string | null;
  /** The host's own name for its thread; says who the agent is where that is not named. */
  thread_id?: string | null;
  /** A state file: the goal then need not be in a registry. */
  active_state?: string | null;
  /** Switch it off instead. */
  deactivate?: boolean;
}

/** Request of `thread.bind`. */
export interface ThreadBindRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** The host's name for its thread. */
  thread_id?: string | null;
  /** The host; one that names its threads when absent: `codex-app`. */
  host?: string | null;
  /** The agent: needed to bind, and an answer's preference when resolving. */
  agent_id?: string | null;
  /** Act; else only show what would be written. */
  execute?: boolean;
}

/** Request of `thread.unbind`. */
export interface ThreadUnbindRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** Makes a repeat of the same write answer the first receipt. */
  effect_id?: string | null;
  /** The host's name for its thread. */
  thread_id?: string | null;
  /** The host; one that names its threads when absent: `codex-app`. */
  host?: string | null;
  /** The agent: needed to bind, and an answer's preference when resolving. */
  agent_id?: string | null;
  /** Act; else only show what would be written. */
  execute?: boolean;
}

/** Request of `thread.resolve`. */
export interface ThreadResolveRequest {
  /** The goal; the registry's only one when absent. */
  goal_id?: string | null;
  /** The host's name for its thread. */
  thread_id?: string | null;
  /** The host; one that names its threads when absent: `codex-app`. */
  host?: string | null;
  /** The agent: needed to bind, and an answer's preference when resolving. */
  agent_id?: string | null;
  /** Act; else only show what would be written. */
  execute?: boolean;
}

/** Request and answer of every operation, by name. */
export interface Operations {
  /** Adds a todo; an unfinished one of the same text is updated instead. */
  "todo.add": { request: TodoAddRequest; answer: Answer };
  /** Lists todos, hand edits of the state file included. */
  "todo.list": { request: TodoListRequest; answer: Answer };
  /** Claims a todo for one agent; the first claim wins. */
  "todo.claim": { request: TodoClaimRequest; answer: Answer };
  /** Changes a todo. */
  "todo.update": { request: TodoUpdateRequest; answer: Answer };
  /** Finishes a todo, or decides a gate. */
  "todo.complete": { request: TodoCompleteRequest; answer: Answer };
  /** Says whether an agent may run, and on what. */
  "quota.should_run": { request: ShouldRunRequest; answer: Packet };
  /** Decides and binds a turn id to the answer. */
  "turn.admit": { request: TurnAdmitRequest; answer: Packet };
  /** Extends a live turn. */
  "turn.renew": { request: TurnRenewRequest; answer: Answer };
  /** Ends a turn without a settlement. */
  "turn.release": { request: TurnReleaseRequest; answer: Answer };
  /** Shows a turn. */
  "turn.show": { request: TurnShowRequest; answer: Answer };
  /** Settles a turn: todo, evidence, spend and receipt in one commit. */
  "turn.settle": { request: TurnSettleRequest; answer: Answer };
  /** Takes a lease on a todo. */
  "task_lease.acquire": { request: TaskLeaseAcquireRequest; answer: Answer };
  /** Extends a live lease. */
  "task_lease.renew": { request: TaskLeaseRenewRequest; answer: Answer };
  /** Hands a live lease to another agent. */
  "task_lease.transfer": { request: TaskLeaseTransferRequest; answer: Answer };
  /** Gives a lease back. */
  "task_lease.release": { request: TaskLeaseReleaseRequest; answer: Answer };
  /** Shows a todo's lease. */
  "task_lease.inspect": { request: TaskLeaseInspectRequest; answer: Answer };
  /** Shows how work is handed over. */
  "handoff_mode.show": { request: HandoffModeShowRequest; answer: Answer };
  /** Sets how work is handed over. */
  "handoff_mode.set": { request: HandoffModeSetRequest; answer: Answer };
  /** Tells a host's loop what happened; says what the host does next. */
  "loop.step": { request: LoopStepRequest; answer: LoopAnswer };
  /** Shows how the loops of hosts stand. */
  "loop.show": { request: LoopShowRequest; answer: LoopsShown };
  /** Takes a host's session off its goal. */
  "loop.unbind": { request: LoopUnbindRequest; answer: Answer };
  /** Shows the windows. */
  "quota.status": { request: QuotaStatusRequest; answer: Answer };
  /** Spends slots for a delivered outcome. */
  "quota.spend_slot": { request: QuotaSpendSlotRequest; answer: Answer };
  /** Records what was delivered. */
  "refresh_state": { request: RefreshStateRequest; answer: Answer };
  /** Creates a goal. */
  "goal.create": { request: GoalCreateRequest; answer: Answer };
  /** Stops a goal: nothing of it starts any more. */
  "goal.stop": { request: GoalStopRequest; answer: Answer };
  /** Resumes a stopped goal. */
  "goal.resume": { request: GoalResumeRequest; answer: Answer };
  /** Lists the registry's goals. */
  "goal.list": { request: GoalListRequest; answer: Answer };
  /** Shows one goal. */
  "goal.show": { request: GoalShowRequest; answer: Answer };
  /** Says whether a goal changed since a commit. */
  "goal.changed_since": { request: GoalChangedSinceRequest; answer: ChangedSince };
  /** Takes in what the earlier tool wrote after the import. */
  "goal.adopt_legacy": { request: GoalAdoptLegacyRequest; answer: Answer };
  /** Adds agents to a goal's roster. */
  "agent.register": { request: AgentRegisterRequest; answer: Answer };
  /** Lists a goal's agents. */
  "agent.list": { request: AgentListRequest; answer: Answer };
  /** Lists what waits for a person, oldest first, and what it blocks. */
  "gate.list": { request: GateListRequest; answer: Answer };
  /** Asks a person, and holds back what the gate names until the decision. */
  "gate.open": { request: GateOpenRequest; answer: Answer };
  /** Decides a gate: approve, reject or cancel. */
  "gate.decide": { request: GateDecideRequest; answer: Answer };
  /** Lists the grants that hold. */
  "gate.grants": { request: GateGrantsRequest; answer: Answer };
  /** Withdraws a grant. */
  "gate.withdraw": { request: GateWithdrawRequest; answer: Answer };
  /** Records a look at a monitor; never spends. */
  "quota.monitor_poll": { request: QuotaMonitorPollRequest; answer: Answer };
  /** Decides, and records that a host polled; never spends. */
  "quota.host_poll": { request: QuotaHostPollRequest; answer: Answer };
  /** Records that an app host has set its schedule; never spends. */
  "quota.scheduler_ack": { request: QuotaSchedulerAckRequest; answer: Answer };
  /** Records that an app host could not set its schedule; never spends. */
  "quota.scheduler_fail": { request: QuotaSchedulerFailRequest; answer: Answer };
  /** Takes a spend back. */
  "quota.void_slot": { request: QuotaVoidSlotRequest; answer: Answer };
  /** Lists a goal's monitors and when each is due. */
  "monitor.list": { request: MonitorListRequest; answer: Answer };
  /** Closes a todo in favour of another. */
  "todo.supersede": { request: TodoSupersedeRequest; answer: Answer };
  /** Takes a done todo off the state file. */
  "todo.archive": { request: TodoArchiveRequest; answer: Answer };
  /** Takes all but the last done todos off the state file. */
  "todo.archive_completed": { request: TodoArchiveCompletedRequest; answer: Answer };
  /** Adds what came to light while a todo was worked on. */
  "todo.capture_followups": { request: TodoCaptureFollowupsRequest; answer: Answer };
  /** Says what an agent that plans should look at. */
  "todo.suggest": { request: TodoSuggestRequest; answer: Answer };
  /** Records what a person says about the work; an agent is to think again. */
  "feedback": { request: FeedbackRequest; answer: Answer };
  /** Adds an entry to a goal's acceptance list. */
  "goal.accept_add": { request: GoalAcceptAddRequest; answer: Answer };
  /** Marks an acceptance entry as met. */
  "goal.accept_meet": { request: GoalAcceptMeetRequest; answer: Answer };
  /** Lists a goal's acceptance entries. */
  "goal.accept_list": { request: GoalAcceptListRequest; answer: Answer };
  /** Stops every goal of the registry. */
  "goal.stop_all": { request: GoalStopAllRequest; answer: Answer };
  /** Shows one goal in whole, or a row of every goal. */
  "status": { request: StatusRequest; answer: Answer };
  /** Lists commits, newest first. */
  "history": { request: HistoryRequest; answer: Answer };
  /** Lists evidence, outcomes and spends, newest first. */
  "evidence_log": { request: EvidenceLogRequest; answer: Answer };
  /** Says what is wrong and how to mend it. */
  "diagnose": { request: DiagnoseRequest; answer: Answer };
  /** Says why an agent may or may not run, and what would change it. */
  "explain": { request: ExplainRequest; answer: Answer };
  /** Groups goals by urgency and names the next turn. */
  "quota.plan": { request: QuotaPlanRequest; answer: Answer };
  /** Writes a goal as one JSON file. */
  "export": { request: ExportRequest; answer: Answer };
  /** Compares a store with itself and with what lies beside it. */
  "store.check": { request: StoreCheckRequest; answer: Answer };
  /** Writes a consistent copy of a goal to a folder. */
  "store.backup": { request: StoreBackupRequest; answer: Answer };
  /** Puts a backup in the place of a store. */
  "store.restore": { request: StoreRestoreRequest; answer: Answer };
  /** Takes away history that no decision needs. */
  "store.prune": { request: StorePruneRequest; answer: Answer };
  /** Shows what an import would do, or imports. */
  "migrate": { request: MigrateRequest; answer: Answer };
  /** Takes an exported goal in. */
  "import": { request: ImportRequest; answer: Answer };
  /** Lists the connectors of hosts, value connectors and candidates. */
  "connectors.list": { request: ConnectorsListRequest; answer: Answer };
  /** Shows one connector and how its host is run. */
  "connectors.show": { request: ConnectorsShowRequest; answer: Answer };
  /** Runs a value connector; none runs in this version. */
  "value_connector.run": { request: ValueConnectorRunRequest; answer: Answer };
  /** Says which way of running a host fits what is wanted, and what is missing. */
  "host_mode_plan": { request: HostModePlanRequest; answer: Answer };
  /** Says what a host's agent is told at each wake. */
  "heartbeat_prompt": { request: HeartbeatPromptRequest; answer: Answer };
  /**
   * Says what is wrong with the installation, the routes, the goals and the hosts, and how to mend it.
   */
  "doctor": { request: DoctorRequest; answer: Answer };
  /** Lists the commands that installed files bring to hosts. */
  "slash_commands": { request: SlashCommandsRequest; answer: Answer };
  /** Puts the files of hosts in place, or takes them away. */
  "install": { request: InstallRequest; answer: Answer };
  /** Connects a project: makes its goal, or finds it; overwrites nothing. */
  "init": { request: InitRequest; answer: Answer };
  /** Says what a start would do, step by step. */
  "start_goal.plan": { request: StartGoalPlanRequest; answer: Answer };
  /**
   * Starts a goal: goal, agent, todos, activation and prompt; a repeat comes to the same end.
   */
  "start_goal": { request: StartGoalRequest; answer: Answer };
  /** Says how an agent comes to loop on a host. */
  "agent_onboard": { request: AgentOnboardRequest; answer: Answer };
  /** Lists the commands that set a host up. */
  "bootstrap_command_pack": { request: BootstrapCommandPackRequest; answer: Answer };
  /** Says what is pasted into Codex CLI first. */
  "codex_cli_bootstrap_message": { request: CodexCliBootstrapMessageRequest; answer: Answer };
  /**
   * Records that an agent's loop is switched on or off on a host; says what it is told and when it begins.
   */
  "host_loop.activate": { request: HostLoopActivateRequest; answer: Answer };
  /** Binds a host's thread to an agent. */
  "thread.bind": { request: ThreadBindRequest; answer: Answer };
  /** Takes the binding of a host's thread away. */
  "thread.unbind": { request: ThreadUnbindRequest; answer: Answer };
  /** Says which agent a host's thread stands for. */
  "thread.resolve": { request: ThreadResolveRequest; answer: Answer };
}

/** An operation that only reads. */
export type ReadOperation =
  | "todo.list"
  | "quota.should_run"
  | "turn.show"
  | "task_lease.inspect"
  | "handoff_mode.show"
  | "loop.show"
  | "quota.status"
  | "goal.list"
  | "goal.show"
  | "goal.changed_since"
  | "agent.list"
  | "gate.list"
  | "gate.grants"
  | "monitor.list"
  | "todo.suggest"
  | "goal.accept_list"
  | "status"
  | "history"
  | "evidence_log"
  | "diagnose"
  | "explain"
  | "quota.plan"
  | "export"
  | "store.check"
  | "store.backup"
  | "connectors.list"
  | "connectors.show"
  | "host_mode_plan"
  | "heartbeat_prompt"
  | "doctor"
  | "slash_commands"
  | "start_goal.plan"
  | "agent_onboard"
  | "bootstrap_command_pack"
  | "codex_cli_bootstrap_message"
  | "thread.resolve";

/** A refusal. `code` is stable; `loopx errors` lists every one. */
export class LoopxError extends Error {
  readonly name: "LoopxError";
  /** Stable code, such as `goal_not_found`; `native_unavailable` when neither module nor program runs. */
  readonly code: string;
  /** What it is about. */
  readonly about: string;
  /** The command that goes on. */
  readonly nextCommand: string;
  /** The refusal as the command line prints it. */
  toJSON(): Record<string, unknown>;
}

/** How a kernel is opened. What is left out comes from the environment, as for `loopx`. */
export interface KernelOptions {
  /** Registry file; else `LOOPX_REGISTRY`, else the nearest `.loopx` upward from `cwd`. */
  registry?: string;
  /** Folder of the stores. */
  runtimeRoot?: string;
  /** Working folder, that of the process when absent. */
  cwd?: string;
  /** Home folder of the user. */
  home?: string;
  /** Who waits and holds, in lock records. */
  label?: string;
  /** The door works in a checkout of its own. Nothing to the program that is run without a native module. */
  independentWorktree?: boolean;
  /** Longest wait for a lock off this thread, in ms; 30,000 when absent, and always for the program. */
  deadlineMs?: number;
  /** A fixed clock for tests and replays, RFC 3339. */
  now?: string;
  /** Called once when there is no native module and `loopx` is run instead. */
  onNotice?: (sentence: string) => void;
}

/** The kernel on one registry. */
export class Kernel {
  private constructor();
  /** Opens the kernel. Reads nothing yet. */
  static open(options?: KernelOptions): Kernel;
  /** `native`, or `binary` where the program `loopx` is run for each call. */
  readonly via: "native" | "binary";
  /** Any operation, off this thread. Refusals reject with {@link LoopxError}. */
  call<O extends keyof Operations>(
    operation: O,
    request?: Operations[O]["request"],
  ): Promise<Operations[O]["answer"]>;
  /** A read, on this thread. Waits at most 50 ms for a lock, then throws `store_busy`. */
  callSync<O extends ReadOperation>(
    operation: O,
    request?: Operations[O]["request"],
  ): Operations[O]["answer"];
  /** Fixes the clock for tests and replays; `null` lets it go. */
  fixClock(now: string | null): void;
  /**
   * Lets go of the files that it has open. Calls that are under way end as they would have; every
   * later one is refused with `request_invalid`. Once more is nothing.
   */
  close(): void;
  /**
   * Adds a todo; an unfinished one of the same text is updated instead. `todo.add`
   *
   * Off this thread.
   */
  todoAdd(request?: TodoAddRequest): Promise<Answer>;
  /**
   * Lists todos, hand edits of the state file included. `todo.list`
   *
   * Read, on this thread.
   */
  todoList(request?: TodoListRequest): Answer;
  /**
   * Claims a todo for one agent; the first claim wins. `todo.claim`
   *
   * Off this thread.
   */
  todoClaim(request?: TodoClaimRequest): Promise<Answer>;
  /**
   * Changes a todo. `todo.update`
   *
   * Off this thread.
   */
  todoUpdate(request?: TodoUpdateRequest): Promise<Answer>;
  /**
   * Finishes a todo, or decides a gate. `todo.complete`
   *
   * Off this thread.
   */
  todoComplete(request?: TodoCompleteRequest): Promise<Answer>;
  /**
   * Says whether an agent may run, and on what. `quota.should_run`
   *
   * Read, on this thread.
   */
  shouldRun(request?: ShouldRunRequest): Packet;
  /**
   * Decides and binds a turn id to the answer. `turn.admit`
   *
   * Off this thread.
   */
  turnAdmit(request?: TurnAdmitRequest): Promise<Packet>;
  /**
   * Extends a live turn. `turn.renew`
   *
   * Off this thread.
   */
  turnRenew(request?: TurnRenewRequest): Promise<Answer>;
  /**
   * Ends a turn without a settlement. `turn.release`
   *
   * Off this thread.
   */
  turnRelease(request?: TurnReleaseRequest): Promise<Answer>;
  /**
   * Shows a turn. `turn.show`
   *
   * Read, on this thread.
   */
  turnShow(request?: TurnShowRequest): Answer;
  /**
   * Settles a turn: todo, evidence, spend and receipt in one commit. `turn.settle`
   *
   * Off this thread.
   */
  turnSettle(request?: TurnSettleRequest): Promise<Answer>;
  /**
   * Takes a lease on a todo. `task_lease.acquire`
   *
   * Off this thread.
   */
  taskLeaseAcquire(request?: TaskLeaseAcquireRequest): Promise<Answer>;
  /**
   * Extends a live lease. `task_lease.renew`
   *
   * Off this thread.
   */
  taskLeaseRenew(request?: TaskLeaseRenewRequest): Promise<Answer>;
  /**
   * Hands a live lease to another agent. `task_lease.transfer`
   *
   * Off this thread.
   */
  taskLeaseTransfer(request?: TaskLeaseTransferRequest): Promise<Answer>;
  /**
   * Gives a lease back. `task_lease.release`
   *
   * Off this thread.
   */
  taskLeaseRelease(request?: TaskLeaseReleaseRequest): Promise<Answer>;
  /**
   * Shows a todo's lease. `task_lease.inspect`
   *
   * Read, on this thread.
   */
  taskLeaseInspect(request?: TaskLeaseInspectRequest): Answer;
  /**
   * Shows how work is handed over. `handoff_mode.show`
   *
   * Read, on this thread.
   */
  handoffModeShow(request?: HandoffModeShowRequest): Answer;
  /**
   * Sets how work is handed over. `handoff_mode.set`
   *
   * Off this thread.
   */
  handoffModeSet(request?: HandoffModeSetRequest): Promise<Answer>;
  /**
   * Tells a host's loop what happened; says what the host does next. `loop.step`
   *
   * Off this thread.
   */
  loopStep(request?: LoopStepRequest): Promise<LoopAnswer>;
  /**
   * Shows how the loops of hosts stand. `loop.show`
   *
   * Read, on this thread.
   */
  loopShow(request?: LoopShowRequest): LoopsShown;
  /**
   * Takes a host's session off its goal. `loop.unbind`
   *
   * Off this thread.
   */
  loopUnbind(request?: LoopUnbindRequest): Promise<Answer>;
  /**
   * Shows the windows. `quota.status`
   *
   * Read, on this thread.
   */
  quotaStatus(request?: QuotaStatusRequest): Answer;
  /**
   * Spends slots for a delivered outcome. `quota.spend_slot`
   *
   * Off this thread.
   */
  quotaSpendSlot(request?: QuotaSpendSlotRequest): Promise<Answer>;
  /**
   * Records what was delivered. `refresh_state`
   *
   * Off this thread.
   */
  refreshState(request?: RefreshStateRequest): Promise<Answer>;
  /**
   * Creates a goal. `goal.create`
   *
   * Off this thread.
   */
  goalCreate(request?: GoalCreateRequest): Promise<Answer>;
  /**
   * Stops a goal: nothing of it starts any more. `goal.stop`
   *
   * Off this thread.
   */
  goalStop(request?: GoalStopRequest): Promise<Answer>;
  /**
   * Resumes a stopped goal. `goal.resume`
   *
   * Off this thread.
   */
  goalResume(request?: GoalResumeRequest): Promise<Answer>;
  /**
   * Lists the registry's goals. `goal.list`
   *
   * Read, on this thread.
   */
  goalList(request?: GoalListRequest): Answer;
  /**
   * Shows one goal. `goal.show`
   *
   * Read, on this thread.
   */
  goalShow(request?: GoalShowRequest): Answer;
  /**
   * Says whether a goal changed since a commit. `goal.changed_since`
   *
   * Read, on this thread.
   */
  goalChangedSince(request?: GoalChangedSinceRequest): ChangedSince;
  /**
   * Takes in what the earlier tool wrote after the import. `goal.adopt_legacy`
   *
   * Off this thread.
   */
  goalAdoptLegacy(request?: GoalAdoptLegacyRequest): Promise<Answer>;
  /**
   * Adds agents to a goal's roster. `agent.register`
   *
   * Off this thread.
   */
  agentRegister(request?: AgentRegisterRequest): Promise<Answer>;
  /**
   * Lists a goal's agents. `agent.list`
   *
   * Read, on this thread.
   */
  agentList(request?: AgentListRequest): Answer;
  /**
   * Lists what waits for a person, oldest first, and what it blocks. `gate.list`
   *
   * Read, on this thread.
   */
  gateList(request?: GateListRequest): Answer;
  /**
   * Asks a person, and holds back what the gate names until the decision. `gate.open`
   *
   * Off this thread.
   */
  gateOpen(request?: GateOpenRequest): Promise<Answer>;
  /**
   * Decides a gate: approve, reject or cancel. `gate.decide`
   *
   * Off this thread.
   */
  gateDecide(request?: GateDecideRequest): Promise<Answer>;
  /**
   * Lists the grants that hold. `gate.grants`
   *
   * Read, on this thread.
   */
  gateGrants(request?: GateGrantsRequest): Answer;
  /**
   * Withdraws a grant. `gate.withdraw`
   *
   * Off this thread.
   */
  gateWithdraw(request?: GateWithdrawRequest): Promise<Answer>;
  /**
   * Records a look at a monitor; never spends. `quota.monitor_poll`
   *
   * Off this thread.
   */
  quotaMonitorPoll(request?: QuotaMonitorPollRequest): Promise<Answer>;
  /**
   * Decides, and records that a host polled; never spends. `quota.host_poll`
   *
   * Off this thread.
   */
  quotaHostPoll(request?: QuotaHostPollRequest): Promise<Answer>;
  /**
   * Records that an app host has set its schedule; never spends. `quota.scheduler_ack`
   *
   * Off this thread.
   */
  quotaSchedulerAck(request?: QuotaSchedulerAckRequest): Promise<Answer>;
  /**
   * Records that an app host could not set its schedule; never spends. `quota.scheduler_fail`
   *
   * Off this thread.
   */
  quotaSchedulerFail(request?: QuotaSchedulerFailRequest): Promise<Answer>;
  /**
   * Takes a spend back. `quota.void_slot`
   *
   * Off this thread.
   */
  quotaVoidSlot(request?: QuotaVoidSlotRequest): Promise<Answer>;
  /**
   * Lists a goal's monitors and when each is due. `monitor.list`
   *
   * Read, on this thread.
   */
  monitorList(request?: MonitorListRequest): Answer;
  /**
   * Closes a todo in favour of another. `todo.supersede`
   *
   * Off this thread.
   */
  todoSupersede(request?: TodoSupersedeRequest): Promise<Answer>;
  /**
   * Takes a done todo off the state file. `todo.archive`
   *
   * Off this thread.
   */
  todoArchive(request?: TodoArchiveRequest): Promise<Answer>;
  /**
   * Takes all but the last done todos off the state file. `todo.archive_completed`
   *
   * Off this thread.
   */
  todoArchiveCompleted(request?: TodoArchiveCompletedRequest): Promise<Answer>;
  /**
   * Adds what came to light while a todo was worked on. `todo.capture_followups`
   *
   * Off this thread.
   */
  todoCaptureFollowups(request?: TodoCaptureFollowupsRequest): Promise<Answer>;
  /**
   * Says what an agent that plans should look at. `todo.suggest`
   *
   * Read, on this thread.
   */
  todoSuggest(request?: TodoSuggestRequest): Answer;
  /**
   * Records what a person says about the work; an agent is to think again. `feedback`
   *
   * Off this thread.
   */
  feedback(request?: FeedbackRequest): Promise<Answer>;
  /**
   * Adds an entry to a goal's acceptance list. `goal.accept_add`
   *
   * Off this thread.
   */
  goalAcceptAdd(request?: GoalAcceptAddRequest): Promise<Answer>;
  /**
   * Marks an acceptance entry as met. `goal.accept_meet`
   *
   * Off this thread.
   */
  goalAcceptMeet(request?: GoalAcceptMeetRequest): Promise<Answer>;
  /**
   * Lists a goal's acceptance entries. `goal.accept_list`
   *
   * Read, on this thread.
   */
  goalAcceptList(request?: GoalAcceptListRequest): Answer;
  /**
   * Stops every goal of the registry. `goal.stop_all`
   *
   * Off this thread.
   */
  goalStopAll(request?: GoalStopAllRequest): Promise<Answer>;
  /**
   * Shows one goal in whole, or a row of every goal. `status`
   *
   * Read, on this thread.
   */
  status(request?: StatusRequest): Answer;
  /**
   * Lists commits, newest first. `history`
   *
   * Read, on this thread.
   */
  history(request?: HistoryRequest): Answer;
  /**
   * Lists evidence, outcomes and spends, newest first. `evidence_log`
   *
   * Read, on this thread.
   */
  evidenceLog(request?: EvidenceLogRequest): Answer;
  /**
   * Says what is wrong and how to mend it. `diagnose`
   *
   * Read, on this thread.
   */
  diagnose(request?: DiagnoseRequest): Answer;
  /**
   * Says why an agent may or may not run, and what would change it. `explain`
   *
   * Read, on this thread.
   */
  explain(request?: ExplainRequest): Answer;
  /**
   * Groups goals by urgency and names the next turn. `quota.plan`
   *
   * Read, on this thread.
   */
  quotaPlan(request?: QuotaPlanRequest): Answer;
  /**
   * Writes a goal as one JSON file. `export`
   *
   * Off this thread.
   */
  export(request?: ExportRequest): Promise<Answer>;
  /**
   * Compares a store with itself and with what lies beside it. `store.check`
   *
   * Off this thread.
   */
  storeCheck(request?: StoreCheckRequest): Promise<Answer>;
  /**
   * Writes a consistent copy of a goal to a folder. `store.backup`
   *
   * Off this thread.
   */
  storeBackup(request?: StoreBackupRequest): Promise<Answer>;
  /**
   * Puts a backup in the place of a store. `store.restore`
   *
   * Off this thread.
   */
  storeRestore(request?: StoreRestoreRequest): Promise<Answer>;
  /**
   * Takes away history that no decision needs. `store.prune`
   *
   * Off this thread.
   */
  storePrune(request?: StorePruneRequest): Promise<Answer>;
  /**
   * Shows what an import would do, or imports. `migrate`
   *
   * Off this thread.
   */
  migrate(request?: MigrateRequest): Promise<Answer>;
  /**
   * Takes an exported goal in. `import`
   *
   * Off this thread.
   */
  import(request?: ImportRequest): Promise<Answer>;
  /**
   * Lists the connectors of hosts, value connectors and candidates. `connectors.list`
   *
   * Read, on this thread.
   */
  connectorsList(request?: ConnectorsListRequest): Answer;
  /**
   * Shows one connector and how its host is run. `connectors.show`
   *
   * Read, on this thread.
   */
  connectorsShow(request?: ConnectorsShowRequest): Answer;
  /**
   * Runs a value connector; none runs in this version. `value_connector.run`
   *
   * Off this thread.
   */
  valueConnectorRun(request?: ValueConnectorRunRequest): Promise<Answer>;
  /**
   * Says which way of running a host fits what is wanted, and what is missing. `host_mode_plan`
   *
   * Read, on this thread.
   */
  hostModePlan(request?: HostModePlanRequest): Answer;
  /**
   * Says what a host's agent is told at each wake. `heartbeat_prompt`
   *
   * Read, on this thread.
   */
  heartbeatPrompt(request?: HeartbeatPromptRequest): Answer;
  /**
   * Says what is wrong with the installation, the routes, the goals and the hosts, and how to mend it. `doctor`
   *
   * Read, on this thread.
   */
  doctor(request?: DoctorRequest): Answer;
  /**
   * Lists the commands that installed files bring to hosts. `slash_commands`
   *
   * Read, on this thread.
   */
  slashCommands(request?: SlashCommandsRequest): Answer;
  /**
   * Puts the files of hosts in place, or takes them away. `install`
   *
   * Off this thread.
   */
  install(request?: InstallRequest): Promise<Answer>;
  /**
   * Connects a project: makes its goal, or finds it; overwrites nothing. `init`
   *
   * Off this thread.
   */
  init(request?: InitRequest): Promise<Answer>;
  /**
   * Says what a start would do, step by step. `start_goal.plan`
   *
   * Read, on this thread.
   */
  startGoalPlan(request?: StartGoalPlanRequest): Answer;
  /**
   * Starts a goal: goal, agent, todos, activation and prompt; a repeat comes to the same end. `start_goal`
   *
   * Off this thread.
   */
  startGoal(request?: StartGoalRequest): Promise<Answer>;
  /**
   * Says how an agent comes to loop on a host. `agent_onboard`
   *
   * Read, on this thread.
   */
  agentOnboard(request?: AgentOnboardRequest): Answer;
  /**
   * Lists the commands that set a host up. `bootstrap_command_pack`
   *
   * Read, on this thread.
   */
  bootstrapCommandPack(request?: BootstrapCommandPackRequest): Answer;
  /**
   * Says what is pasted into Codex CLI first. `codex_cli_bootstrap_message`
   *
   * Read, on this thread.
   */
  codexCliBootstrapMessage(request?: CodexCliBootstrapMessageRequest): Answer;
  /**
   * Records that an agent's loop is switched on or off on a host; says what it is told and when it begins. `host_loop.activate`
   *
   * Off this thread.
   */
  hostLoopActivate(request?: HostLoopActivateRequest): Promise<Answer>;
  /**
   * Binds a host's thread to an agent. `thread.bind`
   *
   * Off this thread.
   */
  threadBind(request?: ThreadBindRequest): Promise<Answer>;
  /**
   * Takes the binding of a host's thread away. `thread.unbind`
   *
   * Off this thread.
   */
  threadUnbind(request?: ThreadUnbindRequest): Promise<Answer>;
  /**
   * Says which agent a host's thread stands for. `thread.resolve`
   *
   * Read, on this thread.
   */
  threadResolve(request?: ThreadResolveRequest): Answer;
}

/** Who loops where, for a {@link LoopSession}. */
export interface LoopSessionOptions
  extends Omit<LoopStepRequest, "event" | "generation" | "effect_id" | "goal_id"> {
  /** The goal that the session follows. */
  goal_id: string;
}

/**
 * A host's loop in its process. What matters is in the store; this holds the generation
 * that it saw, the failures in a row, and what a person did while the store could not be
 * reached. Steps of one session happen one after the other.
 */
export class LoopSession {
  constructor(kernel: Kernel, options: LoopSessionOptions);
  readonly goalId: string;
  /** Tells the loop what happened. A step that fails is an answer with `ok: false`. */
  step(event: LoopEvent | LoopEvent["kind"]): Promise<LoopAnswer>;
  /** What a person did that is not stored yet. */
  owed(): LoopEvent[];
}

/** The version of this package. */
export const version: string;
/** Where the native module was looked for, and what became of it. */
export function nativeReport(): {
  found: string | null;
  triple: string;
  tried: { path: string; why: string }[];
};
