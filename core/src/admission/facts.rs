//! The facts of one decision, found once: every open todo with its holds, the gates,
//! the offers. The rules only look these up.

use serde_json::json;

use super::gates;
use super::holds::{Asker, Hold, is_expired};
use super::offer::{Offer, replan_brake};
use super::request::{AdmissionRequest, Subject};
use super::view::View;
use crate::error::{Error, ErrorCode};
use crate::model::{AgentId, AttemptState, Finding, GoalPolicy, Instant, Role, TaskClass, Todo};

/// Unchanged polls in a row that raise an obligation.
pub const MONITOR_UNCHANGED_LIMIT: u32 = 5;

/// One open agent todo as the asking agent sees it.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The todo.
    pub todo: &'a Todo,
    /// Claimed by the asking agent.
    pub own: bool,
    /// Claimed by it or by nobody.
    pub of_agent: bool,
    /// Why it is not eligible; empty when it is.
    pub holds: Vec<Hold>,
}

impl<'a> Candidate<'a> {
    /// Eligible.
    pub fn is_eligible(&self) -> bool {
        self.holds.is_empty()
    }

    /// The first hold.
    pub fn reason(&self) -> Option<&Hold> {
        self.holds.first()
    }

    fn is_monitor(&self) -> bool {
        self.todo.task_class == TaskClass::Monitor
    }

    /// Selection order: own claims, priority, position.
    fn key(&self) -> (bool, u8, i64, &'a str) {
        (!self.own, self.todo.rank(), self.todo.order, self.todo.todo_id.as_str())
    }
}

/// A replan obligation of the asking agent (contract.md 2.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// `completed_without_successor`, `acceptance_gap`, `feedback` or `monitor_unchanged`.
    pub trigger: &'static str,
    /// Its identity and whether it was attempted.
    pub offer: Offer,
    /// An attempt was made.
    pub attempted: bool,
}

/// Facts about a goal that exists.
#[derive(Clone, Debug)]
pub struct GoalFacts<'a> {
    /// Policy.
    pub policy: &'a GoalPolicy,
    /// Records.
    pub view: &'a View,
    /// The question.
    pub request: &'a AdmissionRequest,
    /// When.
    pub now: Instant,
    /// Open agent todos in selection order.
    pub candidates: Vec<Candidate<'a>>,
    /// Open gates in position order.
    pub gates: Vec<&'a Todo>,
    /// Open user actions of the agent.
    pub user_actions: Vec<&'a Todo>,
    /// Obligations of the agent, attempted ones included.
    pub obligations: Vec<Obligation>,
    /// What makes the goal unhealthy: the view's problems, malformed open todos, an
    /// unreadable activation.
    pub health: Vec<Finding>,
    /// Findings: the view's and those that the facts themselves show.
    pub findings: Vec<Finding>,
}

/// Facts of one decision.
#[derive(Clone, Debug)]
pub enum Facts<'a> {
    /// A refusal came first.
    Refused(&'a Error),
    /// A goal.
    Goal(Box<GoalFacts<'a>>),
}

impl<'a> Facts<'a> {
    /// Finds the facts.
    pub fn find(subject: Subject<'a>, request: &'a AdmissionRequest, now: Instant) -> Self {
        match subject {
            Subject::Refused(error) => Self::Refused(error),
            Subject::Goal { policy, view } => {
                Self::Goal(Box::new(GoalFacts::of(policy, view, request, now)))
            }
        }
    }
}

impl<'a> GoalFacts<'a> {
    /// The facts about a goal that exists.
    pub fn of(
        policy: &'a GoalPolicy,
        view: &'a View,
        request: &'a AdmissionRequest,
        now: Instant,
    ) -> Self {
        let agent = request.agent.as_ref();
        let open_gates: Vec<&Todo> = view.todos.iter().filter(|t| gates::is_open_gate(t)).collect();
        let candidates = {
            let asker = Asker {
                agent,
                policy,
                view,
                now,
                capabilities: Asker::capabilities_of(policy, agent, &request.capabilities),
                independent_worktree: request.independent_worktree,
                gates: open_gates.clone(),
            };
            candidates_of(&asker, view)
        };
        let user_actions = view
            .todos
            .iter()
            .filter(|t| t.task_class == TaskClass::UserAction && t.is_open())
            .filter(|t| {
                t.goal_bound
                    || agent.is_none()
                    || t.bound_agent.as_ref().is_none_or(|bound| agent == Some(bound))
            })
            .collect();
        let mut facts = Self {
            policy,
            view,
            request,
            now,
            candidates,
            gates: open_gates,
            user_actions,
            obligations: Vec::new(),
            health: health_of(policy, view),
            findings: view.findings.clone(),
        };
        facts.obligations = facts.find_obligations();
        facts.add_findings();
        facts
    }

    /// The asking agent.
    pub fn agent(&self) -> Option<&'a AgentId> {
        self.request.agent.as_ref()
    }

    /// A slot is free.
    pub fn slot_free(&self) -> bool {
        self.view.window.has_free_slot(&self.policy.quota)
    }

    /// Gates that block the agent as a whole.
    pub fn gates_blocking(&self) -> impl Iterator<Item = &'a Todo> + '_ {
        self.gates.iter().copied().filter(|g| gates::blocks_agent(g, self.agent()))
    }

    /// Gates that are the agent's concern.
    pub fn gates_concerning(&self) -> impl Iterator<Item = &'a Todo> + '_ {
        self.gates.iter().copied().filter(|g| gates::concerns(g, self.agent()))
    }

    /// The todo that would be worked on: among the eligible, own claims first, then
    /// priority, then position; a due monitor goes before advancement only with strictly
    /// higher priority.
    pub fn selected(&self) -> Option<&Candidate<'a>> {
        let work = self.candidates.iter().find(|c| c.is_eligible() && !c.is_monitor());
        // Without other work the first due monitor; beside it only one that outranks it.
        let outranks = |c: &&Candidate<'_>| work.is_none_or(|w| c.todo.rank() < w.todo.rank());
        let monitor =
            self.candidates.iter().filter(|c| c.is_eligible() && c.is_monitor()).find(outranks);
        monitor.or(work)
    }

    /// A monitor is due and eligible.
    pub fn monitor_due(&self) -> bool {
        self.candidates.iter().any(|c| c.is_eligible() && c.is_monitor())
    }

    /// Candidates of the agent, in selection order.
    pub fn of_agent(&self) -> impl Iterator<Item = &Candidate<'a>> + '_ {
        self.candidates.iter().filter(|c| c.of_agent)
    }

    /// Agent todos that are open, expired monitors not counted.
    pub fn open_work(&self) -> u64 {
        let expired = self.candidates.iter().filter(|c| is_expired(c.todo, self.now)).count();
        self.view.counters.agent_open.saturating_sub(u64::try_from(expired).unwrap_or(u64::MAX))
    }

    /// Whether the offer was attempted by the asking agent.
    pub fn is_attempted(&self, offer: &Offer) -> bool {
        offer.attempt(self.view, self.agent()).is_some()
    }

    fn offer(&self, rule: &'static str, cause: &str, facts: serde_json::Value) -> Offer {
        Offer::new(self.policy, self.agent(), rule, cause, &facts)
    }

    /// Rule 6's offer: repair of the health problems that stand.
    pub fn health_offer(&self) -> Option<Offer> {
        let first = self.health.first()?;
        let facts: Vec<_> = self.health.iter().map(|f| json!([f.code, f.about])).collect();
        Some(self.offer("health", &first.code, json!(facts)))
    }

    /// Rule 12's offer: the first obligation that was not attempted, unless an attempt
    /// with unknown or paused outcome holds all of them back.
    pub fn replan_offer(&self) -> Option<&Obligation> {
        if replan_brake(self.view, self.agent()).is_some() {
            return None;
        }
        self.obligations.iter().find(|o| !o.attempted)
    }

    /// Rule 14's offers: deferred todos of the agent whose condition holds and which
    /// nothing else holds, while no eligible todo has at least their priority.
    pub fn successor_offers(&self) -> Vec<(&Candidate<'a>, Offer)> {
        let best = self.candidates.iter().filter(|c| c.is_eligible()).map(|c| c.todo.rank()).min();
        self.of_agent()
            .filter(|c| c.holds == [Hold::Deferred { ready: true }])
            .filter(|c| best.is_none_or(|rank| rank > c.todo.rank()))
            .map(|c| {
                let facts = json!([c.todo.resume_when.as_ref().map(ToString::to_string)]);
                (c, self.offer("successor", c.todo.todo_id.as_str(), facts))
            })
            .collect()
    }

    /// Rule 16's offers: todos of the agent that only mendable holds keep back.
    pub fn repair_offers(&self) -> Vec<(&Candidate<'a>, Offer)> {
        self.of_agent()
            .filter(|c| !c.holds.is_empty() && c.holds.iter().all(Hold::is_mendable))
            .map(|c| {
                let facts = json!([c.holds, self.policy.write_scope, c.todo.required_write_scopes]);
                (c, self.offer("repair", c.todo.todo_id.as_str(), facts))
            })
            .collect()
    }

    /// Rule 18's offers: monitors of the agent that nothing but the missing schedule
    /// holds.
    pub fn schedule_offers(&self) -> Vec<(&Candidate<'a>, Offer)> {
        self.of_agent()
            .filter(|c| c.holds == [Hold::NoSchedule])
            .map(|c| {
                let facts = json!([c.todo.cadence, c.todo.next_due_at]);
                (c, self.offer("schedule", c.todo.todo_id.as_str(), facts))
            })
            .collect()
    }

    /// Rule 24's offer: plan the goal, when it never had an agent todo.
    pub fn plan_offer(&self) -> Option<Offer> {
        (self.view.counters.agent_ever == 0).then(|| self.offer("plan", "no_agent_todo", json!([])))
    }

    /// Another agent is planning the goal in a live turn.
    pub fn peer_is_planning(&self) -> bool {
        self.view.counters.agent_ever == 0
            && self.view.turns.iter().any(|t| t.agent.as_ref() != self.agent())
    }

    /// An obligation, repair, successor, schedule or plan that was attempted and stands.
    pub fn has_attempted_offer(&self) -> bool {
        self.obligations.iter().any(|o| o.attempted)
            || self.successor_offers().iter().any(|(_, o)| self.is_attempted(o))
            || self.repair_offers().iter().any(|(_, o)| self.is_attempted(o))
            || self.schedule_offers().iter().any(|(_, o)| self.is_attempted(o))
            || self.plan_offer().is_some_and(|o| self.is_attempted(&o))
    }

    /// Whether any other agent of the roster has eligible or leased work.
    pub fn peer_has_work(&self) -> bool {
        self.policy.roster.iter().filter(|a| Some(*a) != self.agent()).any(|peer| {
            if self.view.leases.iter().any(|l| l.owner == *peer)
                || self.view.turns.iter().any(|t| t.agent.as_ref() == Some(peer))
            {
                return true;
            }
            let asker = Asker {
                agent: Some(peer),
                policy: self.policy,
                view: self.view,
                now: self.now,
                capabilities: Asker::capabilities_of(
                    self.policy,
                    Some(peer),
                    &self.request.capabilities,
                ),
                independent_worktree: self.request.independent_worktree,
                gates: self.gates.clone(),
            };
            !self.gates.iter().any(|g| gates::blocks_agent(g, Some(peer)))
                && candidates_of(&asker, self.view).iter().any(Candidate::is_eligible)
        })
    }

    fn find_obligations(&self) -> Vec<Obligation> {
        let mut found = Vec::new();
        let mut push =
            |trigger: &'static str, cause: &str, facts: serde_json::Value, owned: bool| {
                let identity = json!([trigger, facts]);
                // What nobody is known to have caused belongs to the first agent that admits it.
                let admitted_by_other = !owned
                    && self.policy.roster.iter().filter(|a| Some(*a) != self.agent()).any(|peer| {
                        Offer::new(self.policy, Some(peer), "replan", cause, &identity)
                            .attempt(self.view, Some(peer))
                            .is_some()
                    });
                if admitted_by_other {
                    return;
                }
                let offer = self.offer("replan", cause, identity);
                let attempted = self.is_attempted(&offer);
                found.push(Obligation { trigger, offer, attempted });
            };
        if self.view.counters.advancement_open == 0 {
            for dangling in &self.view.dangling {
                let owner = dangling.owner.as_ref().filter(|o| self.policy.roster.contains(o));
                if owner.is_none() || owner == self.agent() {
                    push(
                        "completed_without_successor",
                        dangling.todo_id.as_str(),
                        json!([]),
                        owner.is_some(),
                    );
                }
            }
        }
        if self.open_work() == 0 && self.view.counters.user_open == 0 {
            for gap in &self.policy.acceptance_gaps {
                push("acceptance_gap", gap, json!([]), false);
            }
        }
        for feedback in &self.view.feedback {
            if feedback.agent.is_none() || feedback.agent.as_ref() == self.agent() {
                let cause = feedback_cause(feedback.id);
                push("feedback", &cause, json!([]), feedback.agent.is_some());
            }
        }
        for monitor in self.of_agent().filter(|c| c.is_monitor() && !is_expired(c.todo, self.now)) {
            let todo = monitor.todo;
            if todo.consecutive_no_change.is_some_and(|n| n >= unchanged_limit(todo)) {
                let last_material = todo.extra.get("material_change_at").cloned();
                push(
                    "monitor_unchanged",
                    todo.todo_id.as_str(),
                    json!([last_material, todo.result_hash]),
                    monitor.own,
                );
            }
        }
        found
    }

    fn add_findings(&mut self) {
        for gate in &self.gates {
            if gates::reach(gate) == gates::Reach::Nothing {
                self.findings.push(
                    Finding::new(
                        "gate_names_nothing",
                        gate.todo_id.as_str(),
                        "the gate names neither a todo, a scope, an agent nor everything, so it blocks every agent",
                    )
                    .next(format!("loopx todo update --goal-id {} --todo-id {} --global-gate", self.policy.goal_id, gate.todo_id)),
                );
            }
            if gate.title().trim().is_empty() {
                self.findings.push(Finding::new(
                    "gate_without_question",
                    gate.todo_id.as_str(),
                    "the gate has no question text: a projection bug, nobody can answer it",
                ));
            }
        }
        if !self.policy.roster.is_empty() {
            let orphans: std::collections::BTreeSet<&AgentId> = self
                .view
                .todos
                .iter()
                .filter(|t| t.role == Role::Agent)
                .filter_map(|t| t.claimed_by.as_ref())
                .filter(|a| !self.policy.roster.contains(a))
                .collect();
            for orphan in orphans {
                self.findings.push(Finding::new(
                    "claim_orphaned",
                    orphan.as_str(),
                    "todos are claimed by an agent outside the roster; they count as unclaimed",
                ));
            }
        }
        for candidate in
            self.candidates.iter().filter(|c| c.holds.contains(&Hold::ConditionUnsatisfiable))
        {
            self.findings.push(Finding::new(
                "condition_unsatisfiable",
                candidate.todo.todo_id.as_str(),
                "its condition can no longer come true",
            ));
        }
        for seen in self.view.seen.iter().filter(|s| self.policy.roster.contains(&s.agent)) {
            if Some(&seen.agent) != self.agent() && seen.is_absent(self.now) {
                self.findings.push(Finding::new(
                    "agent_absent",
                    seen.agent.as_str(),
                    format!("last seen {}", seen.at),
                ));
            }
        }
    }

    /// Whether `agent` is known to be absent.
    pub fn is_absent(&self, agent: &AgentId) -> bool {
        self.view.seen.iter().any(|s| s.agent == *agent && s.is_absent(self.now))
    }

    /// How the replan brake stands for the asking agent.
    pub fn replan_brake(&self) -> Option<AttemptState> {
        replan_brake(self.view, self.agent())
    }
}

/// The cause that an obligation from feedback names.
pub fn feedback_cause(id: u64) -> String {
    format!("feedback_{id}")
}

/// Unchanged polls in a row that raise an obligation about `monitor`.
pub fn unchanged_limit(monitor: &Todo) -> u32 {
    monitor
        .extra
        .get("max_no_change_before_replan")
        .and_then(serde_json::Value::as_str)
        .and_then(|text| text.parse().ok())
        .filter(|limit| *limit > 0)
        .unwrap_or(MONITOR_UNCHANGED_LIMIT)
}

fn health_of(policy: &GoalPolicy, view: &View) -> Vec<Finding> {
    let malformed = view.todos.iter().filter(|t| t.is_open()).filter_map(|todo| {
        let why = todo.malformed.as_ref()?;
        let message = format!("metadata of an open todo cannot be read: {why}");
        Some(
            Finding::new(ErrorCode::StateFileMalformed.row().text, todo.todo_id.as_str(), message)
                .next("mend the metadata line of this todo in the state file"),
        )
    });
    let activation = policy.activation_problem.as_ref().map(|problem| {
        let message = format!("the goal's activation cannot be read: {problem}");
        Finding::new("activation_unreadable", "activation", message)
            .next(format!("loopx goal resume --goal-id {}", policy.goal_id))
    });
    view.health.iter().cloned().chain(activation).chain(malformed).collect()
}

fn candidates_of<'a>(asker: &Asker<'a>, view: &'a View) -> Vec<Candidate<'a>> {
    let mut candidates: Vec<Candidate<'a>> = view
        .todos
        .iter()
        .filter(|t| t.role == Role::Agent && t.is_open())
        .map(|todo| Candidate {
            todo,
            own: asker.is_own(todo),
            of_agent: asker.is_of(todo),
            holds: asker.holds(todo),
        })
        .collect();
    candidates.sort_by_cached_key(Candidate::key);
    candidates
}
