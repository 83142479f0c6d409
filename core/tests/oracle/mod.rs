//! A second formulation of admission, written from the words of contract.md 2: slow,
//! obvious, over all todos, with plain loops and sorts. It shares types with the kernel
//! and nothing else; the kernel and it are held equal on random goals.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

pub mod goals;

use std::collections::BTreeSet;

use loopx_core::admission::{AdmissionRequest, GoalRecords};
use loopx_core::model::{
    AgentId, AttemptState, GoalPolicy, GrantLife, Instant, ResumeCondition, Role, TaskClass, Todo,
    TodoId, TodoStatus, Turn, TurnState, WorkMode,
};

/// Where the kernel is known to differ from the contract: `false` answers as the kernel
/// does, `true` as the contract says. Each has an ignored test with its
/// smallest case in `admission_oracle.rs` or `view_equality.rs`; when the kernel is mended, set it to `true` and drop the
/// `ignore`.
pub mod known {
    /// 2.4: an obligation that nobody is known to have caused belongs to the first agent
    /// that admits it; the kernel then offers it to every other agent as well.
    pub const FIRST_TO_ADMIT_OWNS: bool = true;
    /// 2.1: a due monitor of strictly higher priority goes before other work, whoever
    /// claims it; in the kernel the asker's own monitor of low priority hides it.
    pub const OWN_MONITOR_HIDES_NONE: bool = true;
    /// 2.3 rule 6: malformed metadata on an open todo is a health problem; the kernel
    /// looks at the health list only, which no store fills.
    pub const MALFORMED_IS_UNHEALTHY: bool = true;
    /// 2.3 rule 6 does not say "no delivery", so its run delivers; in the kernel it does
    /// not.
    pub const HEALTH_REPAIR_DELIVERS: bool = true;
    /// 2.2: a gate blocks everything that it names; in the kernel the first of global,
    /// todo and scope counts.
    pub const GATES_BLOCK_ALL_THEY_NAME: bool = true;
    /// Views: representative and complete views decide alike; in the kernel a todo whose
    /// repair was attempted still stands for its shape and hides the next one.
    pub const ATTEMPTED_TODOS_ARE_SHOWN: bool = true;
}

/// What the contract says about one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub rule: &'static str,
    pub order: u8,
    pub decision: &'static str,
    pub effective_action: &'static str,
    pub state: &'static str,
    pub mode: &'static str,
    pub run: bool,
    pub delivery: bool,
    pub notify: bool,
    /// Compared for rule 23 only.
    pub reason_code: Option<&'static str>,
    pub selected: Option<TodoId>,
    /// Present when the run is an offer (2.5): rule number, and causing todo or trigger
    /// with the facts that may change by time alone.
    pub offer: Option<(u8, String)>,
}

/// An offer that was admitted once with the facts as they still are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    pub agent: Option<AgentId>,
    pub rule: u8,
    pub cause: String,
}

/// Why a todo is not eligible, in the order of 2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    ClaimedByOther,
    LeasedByOther,
    OwnTurn,
    Excluded,
    WorkMode,
    Malformed,
    Blocked,
    Stalled,
    Waits,
    Unsatisfiable,
    Gated,
    DecisionScope,
    OwnerCapability,
    AgentCapability,
    Workspace,
    WriteScope,
    Expired,
    NoSchedule,
    NotDue,
}

struct Judge<'a> {
    records: &'a GoalRecords,
    policy: &'a GoalPolicy,
    request: &'a AdmissionRequest,
    now: Instant,
    attempted: &'a [Attempted],
}

const MINUTE: i64 = 60_000_000;

fn not_done(todo: &Todo) -> bool {
    todo.status != TodoStatus::Done
}

fn rank(todo: &Todo) -> u8 {
    for (n, head) in ["[P0]", "[P1]", "[P2]", "[P3]", "[P4]"].iter().enumerate() {
        if todo.text.starts_with(head) {
            return u8::try_from(n).unwrap();
        }
    }
    100
}

fn expired(todo: &Todo, now: Instant) -> bool {
    todo.task_class == TaskClass::Monitor
        && todo.expires_at.is_some_and(|at| at.micros() <= now.micros())
}

/// `*` takes any run of characters, also over `/`; `?` takes one.
fn glob(pattern: &[char], text: &[char]) -> bool {
    match pattern.first() {
        None => text.is_empty(),
        Some('*') => (0..=text.len()).any(|n| glob(&pattern[1..], &text[n..])),
        Some('?') => !text.is_empty() && glob(&pattern[1..], &text[1..]),
        Some(c) => text.first() == Some(c) && glob(&pattern[1..], &text[1..]),
    }
}

/// Whether the goal's path scope `has` covers what a todo `wants`, as reference/state.md
/// reads it: equal, everything, a folder ending in `/`, a glob; never over `..`.
fn path_covers(has: &str, wants: &str) -> bool {
    if wants.split('/').any(|part| part == "..") {
        return false;
    }
    if has == wants || has == "./" {
        return true;
    }
    if has.ends_with('/') {
        return wants.starts_with(has);
    }
    glob(&has.chars().collect::<Vec<_>>(), &wants.chars().collect::<Vec<_>>())
}

fn scope_ok(text: &str) -> Option<(String, String, String)> {
    let parts: Vec<&str> = text.trim().splitn(3, ':').collect();
    if parts.len() != 3 {
        return None;
    }
    let kinds = [
        "private_read",
        "write_scope",
        "resource",
        "production",
        "public_claim",
        "direction",
        "other",
    ];
    let grains = ["action", "lane", "goal", "project", "global"];
    let key = parts[2];
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let key_ok = key == "*"
        || (key.starts_with(plain)
            && key.len() <= 96
            && key.chars().all(|c| plain(c) || "_.:@*/-".contains(c)));
    if kinds.contains(&parts[0]) && grains.contains(&parts[1]) && key_ok {
        Some((parts[0].into(), parts[1].into(), key.into()))
    } else {
        None
    }
}

/// Whether a gate or grant of scope `has` answers the requirement `wants`: the same, or
/// the same kind and granularity with key `*`.
fn scope_covers(has: &str, wants: &str) -> bool {
    match (scope_ok(has), scope_ok(wants)) {
        (Some(a), Some(b)) => a.0 == b.0 && a.1 == b.1 && (a.2 == b.2 || a.2 == "*"),
        _ => false,
    }
}

impl Judge<'_> {
    fn all(&self) -> impl Iterator<Item = &Todo> {
        self.records.todos.values()
    }

    fn open_agent_todos(&self) -> Vec<&Todo> {
        let mut todos: Vec<&Todo> =
            self.all().filter(|t| t.role == Role::Agent && not_done(t)).collect();
        todos.sort_by(|a, b| a.order.cmp(&b.order).then(a.todo_id.cmp(&b.todo_id)));
        todos
    }

    // ---- whose ----

    /// The claim that counts: none without a roster, none by an agent outside it.
    fn claim(&self, todo: &Todo) -> Option<AgentId> {
        todo.claimed_by.clone().filter(|a| self.policy.roster.contains(a))
    }

    fn is_of(&self, todo: &Todo, x: Option<&AgentId>) -> bool {
        match self.claim(todo) {
            None => true,
            Some(a) => Some(&a) == x,
        }
    }

    // ---- gates (2.2) ----

    fn gates(&self) -> Vec<&Todo> {
        self.all().filter(|t| t.task_class == TaskClass::UserGate && not_done(t)).collect()
    }

    fn gate_blocks_agent(&self, gate: &Todo, x: Option<&AgentId>) -> bool {
        if gate.global_gate {
            return true;
        }
        let names_work = gate.unblocks_todo_id.is_some() || gate.decision_scope.is_some();
        match &gate.blocks_agent {
            // Without an identity (no roster) a gate on any agent counts as blocking.
            Some(a) => !names_work && (x.is_none() || Some(a) == x),
            None => !names_work,
        }
    }

    fn gate_concerns(&self, gate: &Todo, x: Option<&AgentId>) -> bool {
        let names_other = gate.blocks_agent.as_ref().is_some_and(|a| x.is_some_and(|x| x != a));
        self.gate_blocks_agent(gate, x) || !names_other
    }

    fn gate_blocks_todo(&self, gate: &Todo, todo: &Todo) -> bool {
        let by_id = gate.unblocks_todo_id.as_ref() == Some(&todo.todo_id);
        if !known::GATES_BLOCK_ALL_THEY_NAME && gate.unblocks_todo_id.is_some() {
            return by_id;
        }
        let by_scope = gate.decision_scope.as_ref().is_some_and(|scope| {
            todo.required_decision_scopes
                .iter()
                .any(|r| r.0 == scope.0 || scope_covers(&scope.0, &r.0))
        });
        by_id || by_scope
    }

    // ---- conditions ----

    fn has_capability(&self, name: &str, x: Option<&AgentId>) -> bool {
        let mut have: BTreeSet<String> = self.request.capabilities.clone();
        for basic in ["shell", "filesystem_read", "filesystem_write"] {
            have.insert(basic.into());
        }
        for (who, names) in &self.policy.capabilities {
            if who.is_none() || who.as_ref() == x {
                have.extend(names.iter().cloned());
            }
        }
        have.contains(name)
    }

    fn condition_holds(&self, condition: &ResumeCondition, x: Option<&AgentId>) -> bool {
        match condition {
            ResumeCondition::TodoDone(id) => self
                .records
                .todos
                .get(id)
                .is_some_and(|t| t.status == TodoStatus::Done && t.superseded_by.is_none()),
            ResumeCondition::PrMerged(reference) => self
                .records
                .signals
                .iter()
                .any(|s| s.kind == "pr_merged" && s.reference == *reference),
            ResumeCondition::CapacityAvailable(name) => self.has_capability(name, x),
            ResumeCondition::Unsupported(_) => false,
        }
    }

    /// The todo that an unfinished todo waits for.
    fn waits_for(&self, id: &TodoId) -> Option<TodoId> {
        let todo = self.records.todos.get(id).filter(|t| not_done(t))?;
        match &todo.resume_when {
            Some(ResumeCondition::TodoDone(next)) => Some(next.clone()),
            _ => None,
        }
    }

    /// Whether waiting for `id` goes round for ever. "In a cycle" is read as in one or
    /// behind one: neither can come true.
    fn in_cycle(&self, id: &TodoId) -> bool {
        let mut at = id.clone();
        for _ in 0..=self.records.todos.len() {
            match self.waits_for(&at) {
                None => return false,
                Some(next) => at = next,
            }
        }
        true
    }

    fn can_never_hold(&self, condition: &ResumeCondition) -> bool {
        let id = match condition {
            ResumeCondition::TodoDone(id) => id,
            // 2.1 lists missing, superseded and cycle; a word that no release understands
            // is read as one more that can never come true.
            ResumeCondition::Unsupported(_) => return true,
            ResumeCondition::PrMerged(_) | ResumeCondition::CapacityAvailable(_) => return false,
        };
        match self.records.todos.get(id) {
            None => true,
            Some(t) if t.status == TodoStatus::Done => t.superseded_by.is_some(),
            Some(_) => self.in_cycle(id),
        }
    }

    // ---- eligibility (2.1) ----

    fn live_turns(&self) -> Vec<&Turn> {
        self.records
            .turns
            .values()
            .filter(|t| t.state == TurnState::Live && t.expires_at.is_some_and(|e| e > self.now))
            .collect()
    }

    fn lease_of_other(&self, todo: &Todo, x: Option<&AgentId>) -> Option<AgentId> {
        let lease = self.records.leases.get(&todo.todo_id)?;
        (!lease.released && lease.expires_at > self.now && Some(&lease.owner) != x)
            .then(|| lease.owner.clone())
    }

    /// Every reason, in order.
    fn holds(&self, todo: &Todo, x: Option<&AgentId>) -> Vec<Why> {
        let now = self.now;
        let mut why = Vec::new();
        if !self.is_of(todo, x) {
            why.push(Why::ClaimedByOther);
        }
        // A live turn of another agent holds its todo as its lease does, also without one.
        if self.lease_of_other(todo, x).is_some()
            || self
                .live_turns()
                .iter()
                .any(|t| t.todo_id.as_ref() == Some(&todo.todo_id) && t.agent.as_ref() != x)
        {
            why.push(Why::LeasedByOther);
        } else if self
            .live_turns()
            .iter()
            .any(|t| t.todo_id.as_ref() == Some(&todo.todo_id) && t.agent.as_ref() == x)
        {
            why.push(Why::OwnTurn);
        }
        if x.is_some_and(|x| todo.excluded_agents.contains(x)) {
            why.push(Why::Excluded);
        }
        if self.is_monitor_only(x) && todo.task_class != TaskClass::Monitor {
            why.push(Why::WorkMode);
        }
        if todo.malformed.is_some() {
            why.push(Why::Malformed);
        }
        if todo.status == TodoStatus::Blocked || todo.task_class == TaskClass::Blocker {
            why.push(Why::Blocked);
        }
        if self.records.stalls.iter().any(|s| {
            let wait = [30, 60, 120, 240].get(s.reoffers as usize);
            s.todo_id == todo.todo_id
                && s.agent.as_ref() == x
                && s.streak >= 3
                && wait.is_none_or(|m| now.micros() < s.at.micros() + m * MINUTE)
        }) {
            why.push(Why::Stalled);
        }
        match &todo.resume_when {
            Some(c) if self.can_never_hold(c) => why.push(Why::Unsatisfiable),
            Some(c) if !self.condition_holds(c, x) => why.push(Why::Waits),
            _ if todo.status == TodoStatus::Deferred => why.push(Why::Waits),
            _ => {}
        }
        if self
            .gates()
            .iter()
            .any(|g| self.gate_blocks_agent(g, x) || self.gate_blocks_todo(g, todo))
        {
            why.push(Why::Gated);
        }
        if self.first_ungranted(todo, x).is_some() {
            why.push(Why::DecisionScope);
        }
        let missing: Vec<&String> = todo
            .required_capabilities
            .iter()
            .filter(|c| !self.has_capability(c, x) && !todo.target_capabilities.contains(c))
            .collect();
        if missing.iter().any(|c| *c == "credentials" || *c == "production_access") {
            why.push(Why::OwnerCapability);
        } else if !missing.is_empty() {
            why.push(Why::AgentCapability);
        }
        let write_kind = todo.action_kind.as_deref().is_some_and(|k| {
            let first: String = k.chars().take_while(|c| *c != '_' && *c != '-').collect();
            ["fix", "implement", "rebuild", "repair", "writeback"].contains(&first.as_str())
        });
        if todo.task_class != TaskClass::Monitor
            && self.policy.roster.len() >= 2
            && !self.request.independent_worktree
            && (!todo.required_write_scopes.is_empty()
                || write_kind
                || self.policy.worktree_required)
        {
            why.push(Why::Workspace);
        }
        if todo
            .required_write_scopes
            .iter()
            .any(|wants| !self.policy.write_scope.iter().any(|has| path_covers(has, wants)))
        {
            why.push(Why::WriteScope);
        }
        if expired(todo, now) {
            why.push(Why::Expired);
        }
        if todo.task_class == TaskClass::Monitor {
            match self.due_at(todo) {
                None if todo.cadence.is_none() => why.push(Why::NoSchedule),
                Some(at) if at > now => why.push(Why::NotDue),
                _ => {}
            }
        }
        why
    }

    fn first_ungranted<'t>(&self, todo: &'t Todo, x: Option<&AgentId>) -> Option<&'t str> {
        let granted = |wants: &str| {
            self.records.grants.iter().any(|g| {
                let live = !g.used
                    && match g.life {
                        GrantLife::Until(until) => until > self.now,
                        GrantLife::Once | GrantLife::Standing => true,
                    };
                live && (g.agent.is_none() || g.agent.as_ref() == x)
                    && scope_covers(&g.scope, wants)
            })
        };
        todo.required_decision_scopes.iter().map(|r| r.0.as_str()).find(|r| !granted(r))
    }

    /// The identity of rule 16's offer: the todo and what is broken about it.
    fn repair_cause(&self, todo: &Todo, x: Option<&AgentId>) -> String {
        format!("{} {:?} {:?}", todo.todo_id, self.holds(todo, x), self.first_ungranted(todo, x))
    }

    /// The stored due time, else last check, else creation, plus cadence.
    fn due_at(&self, todo: &Todo) -> Option<Instant> {
        if todo.next_due_at.is_some() {
            return todo.next_due_at;
        }
        let cadence = todo.cadence?;
        let from = todo.last_checked_at.or(todo.created_at)?;
        Some(Instant::from_micros(from.micros() + i64::from(cadence.seconds()) * 1_000_000))
    }

    fn is_monitor_only(&self, x: Option<&AgentId>) -> bool {
        x.is_some_and(|x| self.policy.work_modes.get(x) == Some(&WorkMode::MonitorOnly))
    }

    fn eligible(&self, x: Option<&AgentId>) -> Vec<&Todo> {
        self.open_agent_todos().into_iter().filter(|t| self.holds(t, x).is_empty()).collect()
    }

    /// Own claims first, then priority, then document order.
    fn sorted<'t>(&self, mut todos: Vec<&'t Todo>, x: Option<&AgentId>) -> Vec<&'t Todo> {
        let own = |t: &Todo| x.is_some() && self.claim(t).as_ref() == x;
        todos.sort_by(|a, b| {
            own(b)
                .cmp(&own(a))
                .then(rank(a).cmp(&rank(b)))
                .then(a.order.cmp(&b.order))
                .then(a.todo_id.cmp(&b.todo_id))
        });
        todos
    }

    /// The selection: a due monitor goes before the best other work only with strictly
    /// higher priority, whoever claims it.
    fn select<'t>(&self, todos: Vec<&'t Todo>, x: Option<&AgentId>) -> Option<&'t Todo> {
        let todos = self.sorted(todos, x);
        let work = todos.iter().find(|t| t.task_class != TaskClass::Monitor).copied();
        let mut monitors = todos.iter().filter(|t| t.task_class == TaskClass::Monitor).copied();
        match work {
            None => monitors.next(),
            Some(work) if known::OWN_MONITOR_HIDES_NONE => {
                Some(monitors.find(|m| rank(m) < rank(work)).unwrap_or(work))
            }
            Some(work) => Some(monitors.next().filter(|m| rank(m) < rank(work)).unwrap_or(work)),
        }
    }

    /// The first of offers: the plain order, in which a monitor is like any other todo.
    fn first<'t>(&self, todos: Vec<&'t Todo>, x: Option<&AgentId>) -> Option<&'t Todo> {
        self.sorted(todos, x).first().copied()
    }

    // ---- window ----

    fn free_slot(&self) -> bool {
        let start = self.now.micros() - i64::from(self.policy.quota.window_hours) * 60 * MINUTE;
        let mut used = 0;
        for s in &self.records.spends {
            if s.at.micros() >= start {
                used += s.slots - s.voided.min(s.slots);
            }
        }
        for t in self.records.turns.values() {
            if t.state == TurnState::Live && t.expires_at.is_some_and(|e| e > self.now) {
                used += t.reserved;
            }
        }
        used < self.policy.quota.allowed_slots
    }

    // ---- offers ----

    fn was_attempted(&self, x: Option<&AgentId>, rule: u8, cause: &str) -> bool {
        self.attempted.iter().any(|a| a.agent.as_ref() == x && a.rule == rule && a.cause == cause)
    }

    fn attempted_by_other(&self, x: Option<&AgentId>, rule: u8, cause: &str) -> bool {
        self.attempted.iter().any(|a| a.agent.as_ref() != x && a.rule == rule && a.cause == cause)
    }

    /// The replan obligations of X (2.4) as causes, in no particular order.
    fn obligations(&self, x: Option<&AgentId>) -> Vec<String> {
        let mut causes = Vec::new();
        let belongs = |owner: Option<AgentId>, cause: &str| match owner
            .filter(|a| self.policy.roster.contains(a))
        {
            Some(a) => Some(&a) == x,
            // Without one: the first to admit it.
            None => !known::FIRST_TO_ADMIT_OWNS || !self.attempted_by_other(x, 12, cause),
        };
        let advancement_open = self.all().any(|t| {
            t.role == Role::Agent && t.task_class == TaskClass::Advancement && not_done(t)
        });
        if !advancement_open {
            for t in self.all().filter(|t| t.dangling) {
                let by = t.extra.get("completed_by").and_then(|v| v.as_str()).map(AgentId::trusted);
                let cause = format!("completed {}", t.todo_id);
                if belongs(by.or(t.claimed_by.clone()), &cause) {
                    causes.push(cause);
                }
            }
        }
        let nothing_open = !self.all().any(|t| not_done(t) && !expired(t, self.now));
        if !self.policy.acceptance_gaps.is_empty() && nothing_open && belongs(None, "acceptance") {
            causes.push("acceptance".into());
        }
        for t in self.open_agent_todos() {
            let limit = t
                .extra
                .get("max_no_change_before_replan")
                .and_then(|v| v.as_str()?.parse().ok())
                .filter(|n| *n > 0)
                .unwrap_or(5);
            if t.task_class == TaskClass::Monitor
                && !expired(t, self.now)
                && u64::from(t.consecutive_no_change.unwrap_or(0)) >= limit
            {
                let cause = format!("monitor {}", t.todo_id);
                if belongs(t.claimed_by.clone(), &cause) {
                    causes.push(cause);
                }
            }
        }
        causes
    }

    fn replan_attempt(&self, x: Option<&AgentId>, state: AttemptState) -> bool {
        self.records
            .attempts
            .iter()
            .any(|a| a.rule == "replan" && a.agent.as_ref() == x && a.state == state)
    }

    fn user_actions_of(&self, x: Option<&AgentId>) -> bool {
        self.all().any(|t| {
            t.task_class == TaskClass::UserAction
                && not_done(t)
                && (t.goal_bound
                    || t.bound_agent.is_none()
                    || x.is_none()
                    || t.bound_agent.as_ref() == x)
        })
    }

    // ---- the rules (2.3) ----

    fn answer(&self) -> Expected {
        let x = self.request.agent.as_ref();
        let policy = self.policy;
        let say = |order: u8, rule, decision, effective_action, state, mode| Expected {
            rule,
            order,
            decision,
            effective_action,
            state,
            mode,
            run: false,
            delivery: false,
            notify: false,
            reason_code: None,
            selected: None,
            offer: None,
        };
        let word = |order: u8, rule, w: &'static str| say(order, rule, w, w, "eligible", w);

        // 4, 5
        if policy.activation_stopped
            || ["stopped", "complete", "completed", "archived"].contains(&policy.status.as_str())
        {
            return say(4, "goal_stopped", "skip", "quota_skip", "paused", "skip");
        }
        if policy.quota.compute <= 0.0 {
            return say(5, "quota_paused", "skip", "quota_skip", "paused", "skip");
        }
        // 6
        let malformed = known::MALFORMED_IS_UNHEALTHY
            && self.all().any(|t| not_done(t) && t.malformed.is_some());
        if !self.records.health.is_empty() || malformed {
            if policy.self_repair.enabled
                && policy.self_repair.health_blocker
                && self.free_slot()
                && !self.was_attempted(x, 6, "health")
            {
                return Expected {
                    run: true,
                    delivery: known::HEALTH_REPAIR_DELIVERS,
                    notify: true,
                    offer: Some((6, "health".into())),
                    ..say(
                        6,
                        "health",
                        "self_repair",
                        "control_plane_health_repair",
                        "blocked_health",
                        "control_plane_self_repair",
                    )
                };
            }
            return Expected {
                notify: true,
                ..say(6, "health", "skip", "blocked_health", "blocked_health", "health_blocked")
            };
        }
        // 7
        if !policy.roster.is_empty() && x.is_none() {
            return Expected {
                notify: true,
                ..say(
                    7,
                    "identity_missing",
                    "automation_prompt_upgrade",
                    "automation_prompt_upgrade_required",
                    "eligible",
                    "automation_prompt_upgrade",
                )
            };
        }

        let open = self.open_agent_todos();
        let eligible = self.eligible(x);
        let selected = self.select(eligible.clone(), x);
        let free = self.free_slot();

        // 8, 9
        let gates = self.gates();
        let concern = gates.iter().any(|g| self.gate_concerns(g, x));
        if gates.iter().any(|g| self.gate_blocks_agent(g, x))
            || concern && (eligible.is_empty() || !free)
        {
            return Expected {
                notify: true,
                ..say(8, "gate", "skip", "operator_gate_notify", "operator_gate", "user_gate")
            };
        }
        if concern {
            return Expected {
                run: true,
                delivery: true,
                notify: true,
                selected: selected.map(|t| t.todo_id.clone()),
                ..say(
                    9,
                    "gate_fallback",
                    "safe_bypass_user_gate_fallback",
                    "scoped_user_gate_fallback",
                    "operator_gate",
                    "scoped_user_gate_fallback",
                )
            };
        }
        // 10
        let ever = self.all().any(|t| t.role == Role::Agent);
        let agent_open = open.iter().any(|t| !expired(t, self.now));
        let user_open = self.all().any(|t| t.role == Role::User && not_done(t));
        let closed_for_good =
            self.all().any(|t| t.role == Role::Agent && !not_done(t) && t.no_followup);
        if ever && !agent_open && !user_open && closed_for_good && policy.acceptance_gaps.is_empty()
        {
            let w = "terminal_no_followup";
            return say(10, "terminal", "skip", w, w, w);
        }
        // 11
        if !free {
            return say(11, "throttled", "skip", "throttled_skip", "throttled", "quota_throttled");
        }
        // 12
        // 2.4 names the unknown outcome only; rule 23 names the paused one beside it, so
        // a paused replan is read to hold back all obligations of X as well.
        let unknown = self.replan_attempt(x, AttemptState::OutcomeUnknown);
        let paused = self.replan_attempt(x, AttemptState::Paused);
        let obligations = self.obligations(x);
        if !unknown
            && !paused
            && let Some(cause) = obligations.iter().find(|c| !self.was_attempted(x, 12, c))
        {
            return Expected {
                run: true,
                delivery: true,
                offer: Some((12, cause.clone())),
                ..say(
                    12,
                    "replan",
                    "autonomous_replan_required",
                    "autonomous_replan_required",
                    "eligible",
                    "autonomous_replan",
                )
            };
        }
        // 13
        if self.is_monitor_only(x) && eligible.is_empty() {
            let w = "agent_monitor_only";
            return say(13, "monitor_only", "skip", w, "eligible", w);
        }
        // 14
        let ready: Vec<&Todo> = open
            .iter()
            .copied()
            .filter(|t| {
                t.status == TodoStatus::Deferred
                    && t.resume_when.as_ref().is_some_and(|c| self.condition_holds(c, x))
                    && self.holds(t, x) == [Why::Waits]
            })
            .collect();
        let better: Vec<&Todo> = ready
            .iter()
            .copied()
            .filter(|t| {
                !self.was_attempted(x, 14, t.todo_id.as_str())
                    && !eligible.iter().any(|e| rank(e) <= rank(t))
            })
            .collect();
        if let Some(todo) = self.first(better, x) {
            return Expected {
                run: true,
                selected: Some(todo.todo_id.clone()),
                offer: Some((14, todo.todo_id.to_string())),
                ..word(14, "successor", "successor_replan_required")
            };
        }
        // 15
        // "Held by": its first hold, so that nobody is asked for keys to a blocked todo.
        let owner_held =
            open.iter().any(|t| self.holds(t, x).first() == Some(&Why::OwnerCapability));
        let actions = self.user_actions_of(x);
        if let Some(todo) = selected {
            let mode =
                if owner_held { "bounded_delivery_with_user_notice" } else { "bounded_delivery" };
            return Expected {
                run: true,
                delivery: true,
                notify: actions || owner_held,
                selected: Some(todo.todo_id.clone()),
                ..say(15, "run", "run", "normal_run", "eligible", mode)
            };
        }
        // 16
        let mendable = [
            Why::DecisionScope,
            Why::Workspace,
            Why::WriteScope,
            Why::AgentCapability,
            Why::Unsatisfiable,
        ];
        let broken: Vec<&Todo> = open
            .iter()
            .copied()
            .filter(|t| {
                let holds = self.holds(t, x);
                !holds.is_empty() && holds.iter().all(|h| mendable.contains(h))
            })
            .collect();
        let untried: Vec<&Todo> = broken
            .iter()
            .copied()
            .filter(|t| !self.was_attempted(x, 16, &self.repair_cause(t, x)))
            .collect();
        if let Some(todo) = self.first(untried, x) {
            let (decision, effective, mode) = match self.holds(todo, x)[0] {
                Why::Workspace => {
                    ("workspace_guard", "agent_workspace_repair", "agent_workspace_repair")
                }
                Why::WriteScope => {
                    ("self_repair", "boundary_projection_repair", "boundary_projection_repair")
                }
                Why::AgentCapability => {
                    ("repair_bridge", "capability_bridge_repair", "capability_bridge_repair")
                }
                _ => (
                    "self_repair",
                    "todo_decision_scope_projection_repair",
                    "control_plane_self_repair",
                ),
            };
            return Expected {
                run: true,
                selected: Some(todo.todo_id.clone()),
                offer: Some((16, self.repair_cause(todo, x))),
                ..say(16, "repair", decision, effective, "eligible", mode)
            };
        }
        // 17
        let user_action = |order: u8, rule, effective| Expected {
            notify: true,
            ..say(order, rule, "skip", effective, "eligible", "user_action_required")
        };
        if owner_held {
            return user_action(17, "owner_capability", "quota_skip");
        }
        // 18
        let unscheduled: Vec<&Todo> =
            open.iter().copied().filter(|t| self.holds(t, x) == [Why::NoSchedule]).collect();
        let untried: Vec<&Todo> = unscheduled
            .iter()
            .copied()
            .filter(|t| !self.was_attempted(x, 18, t.todo_id.as_str()))
            .collect();
        if let Some(todo) = self.first(untried, x) {
            return Expected {
                run: true,
                delivery: true,
                selected: Some(todo.todo_id.clone()),
                offer: Some((18, todo.todo_id.to_string())),
                ..say(18, "run", "run", "normal_run", "eligible", "bounded_delivery")
            };
        }
        // 19
        if actions {
            return user_action(19, "user_action", "user_action_required");
        }
        // 20
        if open.iter().any(|t| self.holds(t, x) == [Why::NotDue]) {
            let w = "monitor_quiet_skip";
            return say(20, "monitor_quiet", "skip", w, "eligible", w);
        }
        // 21; also rule 24's "by one agent at a time (others: agent_scope_wait)", read as:
        // while any other agent has a live turn in a goal without agent todos.
        if !ever && self.live_turns().iter().any(|t| t.agent.as_ref() != x) {
            return word(21, "agent_scope_wait", "agent_scope_wait");
        }
        let first: Vec<(&Todo, Why)> =
            open.iter().filter_map(|t| Some((*t, *self.holds(t, x).first()?))).collect();
        // A deferred todo whose condition holds waits for nothing: 14 offered it, 23 tells.
        let came = |t: &Todo| {
            t.status == TodoStatus::Deferred
                && t.resume_when.as_ref().is_some_and(|c| self.condition_holds(c, x))
        };
        if first.iter().any(|(t, w)| match w {
            Why::Waits => !came(t),
            w => [Why::Gated, Why::OwnTurn].contains(w),
        }) {
            return word(21, "agent_scope_wait", "agent_scope_wait");
        }
        // 22
        let holders: Vec<Option<AgentId>> = first
            .iter()
            .filter_map(|(t, w)| match w {
                Why::ClaimedByOther => Some(self.claim(t)),
                Why::LeasedByOther => Some(self.lease_of_other(t, x).or_else(|| {
                    let turns = self.live_turns();
                    turns.iter().find(|u| u.todo_id.as_ref() == Some(&t.todo_id))?.agent.clone()
                })),
                _ => None,
            })
            .collect();
        if !holders.is_empty() {
            let notify = holders.iter().flatten().any(|h| self.absent(h));
            return Expected {
                notify,
                ..word(22, "reassignment_required", "reassignment_required")
            };
        }
        // 23
        let stuck = open.iter().any(|t| {
            let holds = self.holds(t, x);
            self.is_of(t, x) && (holds.contains(&Why::Blocked) || holds.contains(&Why::Stalled))
        });
        let tried = |rule: u8, todos: &[&Todo]| {
            todos.iter().any(|t| self.was_attempted(x, rule, t.todo_id.as_str()))
        };
        let unresolved = tried(14, &ready)
            || broken.iter().any(|t| self.was_attempted(x, 16, &self.repair_cause(t, x)))
            || tried(18, &unscheduled)
            || !ever && self.was_attempted(x, 24, "plan");
        // The page gives no precedence among the codes. The more telling one is taken: an
        // unknown or paused replan is an attempted offer, too, and one that was tried and
        // resolved nothing is paused (seeds).
        let code = if stuck {
            Some("todo_blocked")
        } else if unknown {
            Some("replan_outcome_unknown")
        } else if paused || obligations.iter().any(|c| self.was_attempted(x, 12, c)) {
            Some("replan_paused")
        } else if unresolved {
            Some("repair_unresolved")
        } else {
            None
        };
        if code.is_some() {
            return Expected {
                reason_code: code,
                ..user_action(23, "stalled", "user_action_required")
            };
        }
        // 24
        if !ever {
            return Expected {
                run: true,
                delivery: true,
                offer: Some((24, "plan".into())),
                ..say(24, "run", "run", "normal_run", "eligible", "bounded_delivery")
            };
        }
        // 25
        // What a door of another agent has is not known; it is taken to be like the asker's.
        let others_busy = policy.roster.iter().filter(|a| Some(*a) != x).any(|a| {
            !self.eligible(Some(a)).is_empty()
                || self
                    .records
                    .leases
                    .values()
                    .any(|l| !l.released && l.expires_at > self.now && l.owner == *a)
                || self.live_turns().iter().any(|t| t.agent.as_ref() == Some(a))
        });
        Expected {
            notify: !others_busy,
            ..word(25, "agent_scope_exhausted", "agent_scope_exhausted")
        }
    }

    /// Last seen longer ago than twice the last hint, at least 240 minutes.
    fn absent(&self, agent: &AgentId) -> bool {
        self.records.seen.get(agent).is_some_and(|s| {
            let minutes = (i64::from(s.hint_minutes) * 2).max(240);
            self.now.micros() - s.at.micros() > minutes * MINUTE
        })
    }
}

/// The answer to one question, from the words of the contract.
pub fn oracle(
    records: &GoalRecords,
    policy: &GoalPolicy,
    request: &AdmissionRequest,
    now: Instant,
    attempted: &[Attempted],
) -> Expected {
    Judge { records, policy, request, now, attempted }.answer()
}
