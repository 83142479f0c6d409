//! Random goals out of bytes. A zero byte is always the plainest choice, so that a
//! failing case shrinks to the goal that has only what it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use loopx_core::admission::{AdmissionRequest, GoalRecords};
use loopx_core::model::{
    AgentId, AgentSeen, Attempt, AttemptState, Cadence, Continuation, Finding, GoalId, GoalPolicy,
    GoalUid, Grant, GrantLife, Instant, Lease, QuotaPolicy, ResumeCondition, Role, SchedulerState,
    ScopeRequirement, SelfRepair, Signal, Spend, Stall, TaskClass, Todo, TodoId, TodoStatus, Turn,
    TurnId, TurnState, WorkMode,
};
use loopx_core::schedule::ExecutionContext;
use proptest::prelude::*;

/// Bytes of one goal: its own, and 40 for each todo.
#[derive(Clone)]
pub struct Genes {
    pub goal: Vec<u8>,
    pub todos: Vec<Vec<u8>>,
}

impl fmt::Debug for Genes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = Case::from(self);
        write!(f, "{case:?}")
    }
}

/// Genes of up to `most` todos.
pub fn genes(most: usize) -> impl Strategy<Value = Genes> {
    let goal = proptest::collection::vec(any::<u8>(), 64);
    let todo = proptest::collection::vec(any::<u8>(), 40);
    (goal, proptest::collection::vec(todo, 0..=most))
        .prop_map(|(goal, todos)| Genes { goal, todos })
}

/// One goal and the question about it.
#[derive(Clone)]
pub struct Case {
    pub records: GoalRecords,
    pub policy: GoalPolicy,
    pub request: AdmissionRequest,
    pub now: Instant,
    /// Agents that ask one after the other.
    pub askers: Vec<Option<AgentId>>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "goal at {} asked by {:?} with {:?}", self.now, self.askers, self.request)?;
        writeln!(f, "  policy {:?}", self.policy)?;
        let json = |v: serde_json::Result<String>| v.unwrap_or_default();
        for t in self.records.todos.values() {
            writeln!(f, "  todo {}", json(serde_json::to_string(t)))?;
        }
        for l in self.records.leases.values() {
            writeln!(f, "  lease {}", json(serde_json::to_string(l)))?;
        }
        for t in self.records.turns.values() {
            writeln!(f, "  turn {}", json(serde_json::to_string(t)))?;
        }
        for s in self.records.seen.values() {
            writeln!(f, "  seen {}", json(serde_json::to_string(s)))?;
        }
        writeln!(f, "  spends {}", json(serde_json::to_string(&self.records.spends)))?;
        writeln!(f, "  attempts {}", json(serde_json::to_string(&self.records.attempts)))?;
        writeln!(f, "  stalls {}", json(serde_json::to_string(&self.records.stalls)))?;
        writeln!(f, "  grants {}", json(serde_json::to_string(&self.records.grants)))?;
        writeln!(f, "  signals {:?} health {:?}", self.records.signals, self.records.health)
    }
}

/// The instant at which every goal is asked.
pub fn noon() -> Instant {
    Instant::parse("2026-11-29T12:00:00Z").unwrap()
}

fn minutes(n: i64) -> Instant {
    noon().plus_minutes(n)
}

/// Picks by weight; the first entry is what zero gives.
fn pick<T: Clone>(gene: u8, table: &[(u32, T)]) -> T {
    let total: u32 = table.iter().map(|(w, _)| w).sum();
    let mut at = u32::from(gene) * total / 256;
    for (weight, value) in table {
        if at < *weight {
            return value.clone();
        }
        at -= weight;
    }
    table[0].1.clone()
}

pub fn agent(n: u8) -> AgentId {
    AgentId::trusted(["agent-a", "agent-b", "agent-c", "ghost"][usize::from(n % 4)])
}

const SCOPES: [&str; 6] = [
    "direction:goal:prod",
    "direction:goal:*",
    "direction:lane:prod",
    "resource:action:gpu",
    "release",
    "release:prod:x",
];
const CAPABILITIES: [&str; 5] = ["network", "gpu", "credentials", "production_access", "shell"];
const GLOBS: [&str; 8] = [
    "src/**",
    "src/a.rs",
    "docs/**",
    "docs/x/*.md",
    "**",
    "lib/a.rs",
    "src/../lib/a.rs",
    "srcs/a.rs",
];

fn names(gene: u8, words: &[&str]) -> Vec<String> {
    let one = usize::from(gene) % words.len();
    match gene {
        0..=150 => vec![],
        151..=225 => vec![words[one].into()],
        _ => {
            let two = (one + 1 + usize::from(gene) % (words.len() - 1)) % words.len();
            vec![words[one].into(), words[two].into()]
        }
    }
}

fn ids(genes: &Genes) -> Vec<TodoId> {
    // Ids do not grow with the position, so that ties of the position show.
    let id = |(n, g): (usize, &Vec<u8>)| TodoId::trusted(format!("todo_{:02x}{n:02}", g[0]));
    genes.todos.iter().enumerate().map(id).collect()
}

/// Which kinds of things a goal has at all; the fewer, the later the rule that decides.
#[derive(Clone, Copy)]
struct Has {
    gates: bool,
    actions: bool,
    claims: bool,
    scopes: bool,
    capabilities: bool,
    writes: bool,
    conditions: bool,
    monitors: bool,
    schedules: bool,
    leases: bool,
    stalls: bool,
    blocked: bool,
    done: bool,
    advancement: bool,
    open: bool,
    deferred: bool,
}

impl Has {
    fn of(goal: &[u8]) -> Self {
        let on = |n: usize, percent: u16| u16::from(goal[n]) * 100 / 256 >= 100 - percent;
        Self {
            gates: on(0, 35),
            actions: on(1, 25),
            claims: on(2, 55),
            scopes: on(3, 40),
            capabilities: on(4, 40),
            writes: on(5, 40),
            conditions: on(6, 50),
            monitors: on(7, 50),
            schedules: !on(8, 30),
            leases: on(9, 35),
            stalls: on(10, 30),
            blocked: on(11, 30),
            done: on(12, 50),
            advancement: !on(13, 30),
            open: !on(14, 35),
            deferred: on(15, 40),
        }
    }
}

fn some_agent(gene: u8) -> Option<AgentId> {
    (gene > 120).then(|| agent(if gene > 245 { 3 } else { gene % 3 }))
}

fn todo(g: &[u8], n: usize, all: &[TodoId], has: Has) -> Todo {
    use TaskClass::{Advancement, Blocker, Monitor, UserAction, UserGate};
    let work = if has.advancement || !has.monitors { Advancement } else { Monitor };
    let mut class =
        pick(g[1], &[(50, work), (20, Monitor), (14, UserGate), (10, UserAction), (4, Blocker)]);
    if (class == Monitor && !has.monitors)
        || (class == UserGate && !has.gates)
        || (class == UserAction && !has.actions)
        || (class == Blocker && !has.blocked)
    {
        class = work;
    }
    let role = if matches!(class, UserGate | UserAction) { Role::User } else { Role::Agent };
    let head = pick(g[2], &[(20, ""), (20, "[P0] "), (20, "[P1] "), (20, "[P2] "), (20, "[P3] ")]);
    let order = i64::from(g[3] % 6) + if g[3] > 128 { i64::try_from(n).unwrap() * 10 } else { 0 };
    let mut t = Todo::new(all[n].clone(), role, class, order, format!("{head}work {n}"));

    let mut status = pick(
        g[4],
        &[
            (50, TodoStatus::Open),
            (20, TodoStatus::Done),
            (16, TodoStatus::Deferred),
            (14, TodoStatus::Blocked),
        ],
    );
    if (status == TodoStatus::Done && !has.done)
        || (status == TodoStatus::Blocked && !has.blocked)
        || (status == TodoStatus::Deferred && !has.deferred)
    {
        status = TodoStatus::Open;
    }
    if !has.open && has.done && role == Role::Agent && g[4] < 245 {
        status = TodoStatus::Done;
    }
    t.status = status;
    t.archived = status == TodoStatus::Done && g[5] > 200;
    t.created_at = (g[5] % 2 == 1).then(|| minutes(-i64::from(g[5])));
    if has.claims {
        t.claimed_by = some_agent(g[6]);
        if g[7] > 210 {
            t.excluded_agents = vec![agent(g[7] % 4)];
        }
    }
    if has.writes {
        t.action_kind = pick(
            g[8],
            &[
                (50, None),
                (10, Some("implement")),
                (10, Some("fix-it")),
                (10, Some("repair_lane")),
                (10, Some("prefix")),
                (10, Some("research")),
            ],
        )
        .map(Into::into);
        t.required_write_scopes = names(g[9], &GLOBS);
    }
    if has.capabilities {
        t.required_capabilities = names(g[10], &CAPABILITIES);
        t.target_capabilities = names(g[11], &CAPABILITIES);
    }
    if has.scopes {
        t.required_decision_scopes =
            names(g[12], &SCOPES).into_iter().map(ScopeRequirement).collect();
    }
    let other = |gene: u8| -> TodoId {
        match gene {
            0..=235 => all[usize::from(gene) % all.len()].clone(),
            _ => TodoId::trusted("todo_gone"),
        }
    };
    if (has.conditions || status == TodoStatus::Deferred) && status != TodoStatus::Done {
        let none = if status == TodoStatus::Deferred { 10 } else { 50 };
        t.resume_when = pick(
            g[13],
            &[
                (none, None),
                (30, Some(ResumeCondition::TodoDone(other(g[14])))),
                (14, Some(ResumeCondition::PrMerged("a/b#1".into()))),
                (4, Some(ResumeCondition::PrMerged("a/b#2".into()))),
                (
                    8,
                    Some(ResumeCondition::CapacityAvailable(
                        CAPABILITIES[usize::from(g[14]) % 5].into(),
                    )),
                ),
                (3, Some(ResumeCondition::Unsupported("moon_full".into()))),
            ],
        );
    }
    if class == Monitor {
        let due = |gene: u8| {
            pick(
                gene,
                &[(20, minutes(-30)), (40, minutes(30)), (4, noon()), (4, noon().plus_micros(1))],
            )
        };
        if has.schedules || g[15] > 200 {
            t.next_due_at = (g[15] < 128).then(|| due(g[16]));
            t.cadence = (g[17] > 80).then(|| Cadence::parse("30m").unwrap());
        }
        t.last_checked_at = pick(
            g[18],
            &[
                (50, None),
                (15, Some(minutes(-31))),
                (15, Some(minutes(-29))),
                (5, Some(minutes(-30))),
                (5, Some(minutes(-30).plus_micros(1))),
            ],
        );
        t.expires_at = pick(
            g[19],
            &[(60, None), (15, Some(minutes(60))), (15, Some(minutes(-1))), (5, Some(noon()))],
        );
        t.consecutive_no_change = pick(
            g[20],
            &[(60, None), (10, Some(4)), (10, Some(5)), (5, Some(9)), (5, Some(2)), (5, Some(0))],
        );
        if g[21] > 200 {
            t.extra.insert("max_no_change_before_replan".into(), (g[21] % 4).to_string().into());
        }
        t.watch_only = g[21] % 2 == 1;
    }
    if class == UserGate {
        let k = g[22] % 64;
        t.unblocks_todo_id = matches!(k, 0..=24 | 50..=52).then(|| other(g[23]));
        t.decision_scope = matches!(k, 25..=36 | 52..=53)
            .then(|| ScopeRequirement(SCOPES[usize::from(g[23]) % 6].into()));
        t.blocks_agent = matches!(k, 37..=53).then(|| agent(g[24] % 4));
        // A gate that names work may still name an agent, which decides whom it concerns.
        if matches!(k, 5..=24 | 30..=36) && g[24] > 100 {
            t.blocks_agent = Some(agent(g[24] % 4));
        }
        t.global_gate = k == 62;
        t.bound_agent = (g[25] > 230).then(|| agent(g[25] % 4));
        t.goal_bound = g[25] > 250;
    }
    if class == UserAction {
        t.bound_agent = (g[24] > 90).then(|| agent(g[24] % 4));
        t.goal_bound = g[25] > 200;
    }
    if status == TodoStatus::Done {
        t.completed_at = (g[27] > 20).then(|| minutes(-i64::from(g[27])));
        let next = other(g[28]);
        match g[26] % 8 {
            0 | 1 => t.dangling = role == Role::Agent && class == Advancement,
            2 | 3 => {
                t.no_followup = role == Role::Agent;
                t.completion_continuation = Some(Continuation::NoFollowup);
            }
            4 => t.superseded_by = Some(next),
            5 => {
                t.successor_todo_ids = vec![next];
                t.completion_continuation = Some(Continuation::Successor);
            }
            _ => {}
        }
        if g[28] > 128 {
            t.extra.insert("completed_by".into(), agent(g[28] % 4).as_str().into());
        }
    }
    if status == TodoStatus::Blocked && g[29] > 128 {
        t.reason = Some("gate_rejected".into());
    }
    if g[30] > 253 && has.blocked {
        t.malformed = Some("claimed_by".into());
    }
    t
}

fn beside(
    records: &mut GoalRecords,
    g: &[u8],
    t: &Todo,
    n: u64,
    asker: Option<&AgentId>,
    has: Has,
) {
    let open = t.status != TodoStatus::Done;
    if has.stalls && g[31] > 150 && open {
        let who = if g[31].is_multiple_of(4) { Some(agent(g[31] / 4)) } else { asker.cloned() };
        records.stalls.push(Stall {
            todo_id: t.todo_id.clone(),
            agent: who,
            streak: u32::from(g[32] % 4) + 1,
            at: minutes(-[0, 29, 30, 59, 60, 119, 120, 239, 240, 500][usize::from(g[33]) % 10]),
            reoffers: u32::from(g[32] / 4 % 6),
        });
    }
    if has.leases && g[34] > 170 && t.role == Role::Agent {
        records.leases.insert(
            t.todo_id.clone(),
            Lease {
                todo_id: t.todo_id.clone(),
                owner: agent(g[34] % 4),
                epoch: 1,
                expires_at: [minutes(30), noon(), minutes(-1), noon().plus_micros(1)]
                    [usize::from(g[35] / 64)],
                turn_id: None,
                released: g[35] % 8 == 7,
                version: 1,
                idempotency_key: None,
                ttl_seconds: 0,
                write_scopes: Vec::new(),
                holder: None,
            },
        );
    }
    if has.leases && g[36] > 190 {
        let id = TurnId::trusted(format!("turn-{n}"));
        records.turns.insert(
            id.to_string(),
            Turn {
                turn_id: id,
                agent: if g[36].is_multiple_of(2) {
                    asker.cloned()
                } else {
                    Some(agent(g[36] / 4))
                },
                todo_id: (g[37] > 20).then(|| t.todo_id.clone()),
                rule: "run".into(),
                body_digest: "d".into(),
                state: pick(
                    g[38],
                    &[
                        (60, TurnState::Live),
                        (10, TurnState::Settled),
                        (10, TurnState::Released),
                        (10, TurnState::Skipped),
                    ],
                ),
                at: minutes(-10),
                reserved: 1,
                expires_at: Some(
                    [minutes(50), minutes(5), noon(), minutes(-1)][usize::from(g[37] % 8).min(3)],
                ),
                epoch: None,
                took_claim: false,
                holder: None,
            },
        );
    }
}

/// One todo of a goal and what hangs on it, by itself.
pub fn piece(goal: &[u8], todo_genes: &[u8], n: usize, all: &[TodoId]) -> GoalRecords {
    let has = Has::of(goal);
    let mut records = GoalRecords::default();
    let t = todo(todo_genes, n, all, has);
    beside(&mut records, todo_genes, &t, n as u64, Some(&agent(0)), has);
    records.todos.insert(t.todo_id.clone(), t);
    records
}

impl From<&Genes> for Case {
    fn from(genes: &Genes) -> Self {
        let g = &genes.goal;
        let has = Has::of(g);
        let roster: Vec<AgentId> =
            (0..pick(g[16], &[(25, 1), (20, 0), (35, 2), (20, 3)])).map(agent).collect();
        let one = |gene: u8| -> Option<AgentId> {
            let n = usize::from(gene);
            if roster.is_empty() || gene > 248 {
                None
            } else {
                Some(roster[n % roster.len()].clone())
            }
        };
        let askers = vec![one(g[17]), one(g[18])];
        let all = ids(genes);
        let mut records = GoalRecords {
            goal_uid: Some(GoalUid::trusted("u1")),
            commit: 7,
            ..GoalRecords::default()
        };
        for (n, tg) in genes.todos.iter().enumerate() {
            let t = todo(tg, n, &all, has);
            beside(&mut records, tg, &t, n as u64, askers[0].as_ref(), has);
            records.todos.insert(t.todo_id.clone(), t);
        }
        records.stalls.sort_by(|a, b| (&a.todo_id, &a.agent).cmp(&(&b.todo_id, &b.agent)));

        let mut policy = GoalPolicy::new(GoalId::trusted("g"));
        policy.goal_uid = Some(GoalUid::trusted("u1"));
        policy.roster = roster.clone();
        policy.status = pick(
            g[19],
            &[
                (300, "active"),
                (1, "stopped"),
                (1, "complete"),
                (1, "completed"),
                (1, "archived"),
                (2, "paused"),
            ],
        )
        .into();
        policy.activation_stopped = g[20] == 255;
        let compute = if g[21] > 252 { 0.0 } else { 1.0 };
        let allowed = pick(g[22], &[(40, 10), (30, 3), (10, 1), (3, 0)]);
        policy.quota =
            QuotaPolicy { compute, window_hours: 2, slot_minutes: 1, allowed_slots: allowed };
        for (n, pair) in g[23..31].chunks(2).enumerate() {
            if pair[0] < 200 {
                continue;
            }
            records.spends.push(Spend {
                id: n as u64 + 1,
                at: [
                    minutes(-60),
                    minutes(-120),
                    minutes(-120).plus_micros(-1),
                    minutes(-300),
                    minutes(5),
                    noon(),
                ][usize::from(pair[0]) % 6],
                slots: u64::from(pair[1] % 4) + 1,
                voided: u64::from(pair[1] / 4 % 6).saturating_sub(3),
                agent: None,
                todo_id: None,
                turn_id: None,
                source: String::new(),
            });
        }
        let mut modes = BTreeMap::new();
        if g[31] > 225 {
            modes.insert(agent(g[31] % 3), WorkMode::MonitorOnly);
        }
        policy.work_modes = modes;
        let mut granted = BTreeMap::new();
        if g[32] > 200 {
            granted.insert(None, names(g[32], &CAPABILITIES));
        }
        if g[33] > 180 {
            granted.insert(Some(agent(g[33] % 3)), names(g[33], &CAPABILITIES));
        }
        policy.capabilities = granted;
        policy.write_scope = pick(
            g[34],
            &[
                (30, vec![]),
                (20, vec!["**"]),
                (20, vec!["src/**"]),
                (20, vec!["src/a.rs", "docs/**"]),
                (10, vec!["docs/*", "lib/?.rs"]),
                (10, vec!["src/"]),
                (5, vec!["./"]),
            ],
        )
        .into_iter()
        .map(String::from)
        .collect();
        policy.worktree_required = g[35] > 230;
        policy.self_repair = SelfRepair { enabled: g[36] % 4 != 1, health_blocker: g[36] % 4 != 2 };
        if g[37] > 200 {
            policy.acceptance_gaps = vec!["ships".into()];
        }
        if g[38] > 250 {
            records.health = vec![Finding::new("state_file_malformed", "state", "x")];
        }
        for (n, pair) in g[39..45].chunks(2).enumerate() {
            if pair[0] < 128 {
                continue;
            }
            records.grants.push(Grant {
                id: n as u64 + 1,
                scope: SCOPES[usize::from(pair[0]) % 6].into(),
                agent: some_agent(pair[1]),
                life: [
                    GrantLife::Standing,
                    GrantLife::Once,
                    GrantLife::Until(minutes(5)),
                    GrantLife::Until(noon()),
                ][usize::from(pair[1] % 4)],
                gate: None,
                used: pair[0] % 8 == 7,
                at: minutes(-60),
            });
        }
        for n in 0..3_u8 {
            let gene = g[45 + usize::from(n)];
            if gene > 80 {
                let ago = [10, 240, 241, 500, 501][usize::from(gene) % 5];
                let seen = AgentSeen {
                    agent: agent(n),
                    at: minutes(-ago),
                    hint_minutes: [0, 120, 250][usize::from(gene / 8 % 3)],
                    polls: 0,
                    declared: None,
                };
                records.seen.insert(seen.agent.clone(), seen);
            }
        }
        for n in 0..2_u8 {
            let gene = g[53 - usize::from(n)];
            if gene > 120 {
                records.schedules.push(SchedulerState {
                    agent: agent(n),
                    surface: ["codex_app", "trae_app"][usize::from(gene) % 2].into(),
                    state_key: "scheduler_hint.app_automation.stateful_backoff".into(),
                    reset_token: "t".into(),
                    identity_signature: "i".into(),
                    progression_index: u32::from(gene % 4),
                    progression_minutes: vec![3, 6, 10],
                    last_applied_rrule: "FREQ=MINUTELY;INTERVAL=3".into(),
                    updated_at: minutes(-i64::from(gene % 40)),
                    source: "quota_scheduler_ack".into(),
                    host_update_failures: Vec::new(),
                });
            }
        }
        if g[48] > 128 {
            records.signals.insert(Signal { kind: "pr_merged".into(), reference: "a/b#1".into() });
        }
        if g[48] > 230 {
            records.signals.insert(Signal { kind: "pr_closed".into(), reference: "a/b#2".into() });
        }
        for (n, gene) in g[49..51].iter().enumerate() {
            if *gene < 225 {
                continue;
            }
            let state =
                [AttemptState::OutcomeUnknown, AttemptState::Paused, AttemptState::Resolved]
                    [usize::from(*gene) % 3];
            records.attempts.push(Attempt {
                agent: if *gene > 250 { Some(agent(*gene % 4)) } else { askers[0].clone() },
                rule: "replan".into(),
                cause: format!("somewhere_{n}"),
                digest: format!("old_{n}"),
                state,
                at: minutes(-5),
                turn_id: None,
            });
        }
        let request = AdmissionRequest {
            agent: askers[0].clone(),
            capabilities: names(g[51], &CAPABILITIES).into_iter().collect::<BTreeSet<_>>(),
            independent_worktree: g[52] > 128,
            execution_context: ExecutionContext::of_profile(
                ["codex_app_heartbeat", "trae_app", "generic_cli", ""][usize::from(g[52]) % 4],
            ),
            observed_rrule: (g[52] % 8 == 1).then(|| "FREQ=MINUTELY;INTERVAL=30".into()),
            binding: false,
            turn_id: None,
            details: BTreeSet::new(),
        };
        Self { records, policy, request, now: noon(), askers }
    }
}
