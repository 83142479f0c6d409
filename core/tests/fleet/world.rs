//! One goal of the simulation, and what is held against it.

use loopx_core::admission::packet::answer;
use loopx_core::admission::view::is_lapsed_turn;
use loopx_core::admission::{AdmissionRequest, Detail, Situation, Subject, ViewQuery};
use loopx_core::command::loops::end_turn;
use loopx_core::command::settle::{TurnSettleRequest, settle};
use loopx_core::command::turn::{self, Terms};
use loopx_core::command::{Effect, Scene};
use loopx_core::host_loop::{
    Action, LoopEvent, LoopState, Pending, Reading, Reason, Step, conclude, step,
};
use loopx_core::model::{
    Cadence, CommitRecord, EffectId, GoalId, GoalPolicy, GoalUid, Instant, Role, Stall, TaskClass,
    Todo, TodoId, TodoStatus, TurnId,
};
use loopx_core::store::{Change, MemoryStore, Read, Store};
use loopx_core::turn::lapse::lapse;
use serde_json::{Value, json};

use super::host::{Host, Work};
use super::script::{self, Draw, Happening};

/// What one goal, or all of them, came to.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub looks: u64,
    pub turns: u64,
    pub settled: u64,
    pub crashes: u64,
    pub clock_steps: u64,
    pub gates: u64,
    pub monitor_looks: u64,
    pub throttled: u64,
    pub stopped_looks: u64,
    pub latest_monitor: i64,
}

impl Figures {
    pub fn add(&mut self, other: &Self) {
        self.looks += other.looks;
        self.turns += other.turns;
        self.settled += other.settled;
        self.crashes += other.crashes;
        self.clock_steps += other.clock_steps;
        self.gates += other.gates;
        self.monitor_looks += other.monitor_looks;
        self.throttled += other.throttled;
        self.stopped_looks += other.stopped_looks;
        self.latest_monitor = self.latest_monitor.max(other.latest_monitor);
    }
}

pub struct World {
    goal: u64,
    policy: GoalPolicy,
    store: MemoryStore,
    hosts: Vec<Host>,
    /// True minute.
    minute: i64,
    /// What the wall clock is ahead.
    ahead: i64,
    draw: Draw,
    made: u64,
    monitors: Vec<TodoId>,
    /// Open gates and the agent that each blocks.
    gates: Vec<(TodoId, Option<usize>)>,
    /// Wall minutes of spends, for a window of our own.
    spends: Vec<i64>,
    /// True minute of the last thing that may have kept a monitor waiting.
    disturbed: i64,
    pub figures: Figures,
}

fn noon() -> Instant {
    Instant::parse("2026-11-23T12:00:00Z").unwrap()
}

impl World {
    pub fn new(goal: u64) -> Self {
        let mut policy = GoalPolicy::new(GoalId::trusted(format!("goal-{goal}")));
        let hosts: Vec<Host> = (0..3).map(|n| Host::new(n, noon())).collect();
        policy.roster = hosts.iter().map(|h| h.agent.clone()).collect();
        policy.quota.window_hours = 24;
        policy.quota.allowed_slots = [4, 12, 60][usize::try_from(goal % 3).unwrap()];
        Self {
            goal,
            policy,
            store: MemoryStore::new(GoalUid::trusted(format!("uid-{goal}"))),
            hosts,
            minute: 0,
            ahead: 0,
            draw: Draw::new(goal + 1_000),
            made: 0,
            monitors: Vec::new(),
            gates: Vec::new(),
            spends: Vec::new(),
            disturbed: 0,
            figures: Figures::default(),
        }
    }

    fn wall(&self) -> Instant {
        noon().plus_minutes(self.minute + self.ahead)
    }

    /// True minute at which the host does something by itself.
    fn next_of(&self, host: &Host) -> Option<i64> {
        if let Some(back) = host.down_until {
            return Some(back);
        }
        if let Some(work) = &host.work {
            return Some(work.ends);
        }
        let timer = host.timer?;
        let micros = timer.micros() - noon().micros();
        let wall_minute = (micros + 59_999_999) / 60_000_000;
        Some((wall_minute - self.ahead).max(self.minute))
    }

    pub fn run(&mut self, week: i64) {
        let script = script::of(self.goal, week);
        let mut script = script.into_iter().peekable();
        while let Some((_, happening)) = script.next_if(|(at, _)| *at == 0) {
            self.happen(happening);
        }
        for n in 0..self.hosts.len() {
            self.tell(n, &LoopEvent::Activated);
            self.tell(n, &LoopEvent::Settled { turn_instance_id: None });
        }
        loop {
            let host = (0..self.hosts.len())
                .filter_map(|n| Some((self.next_of(&self.hosts[n])?, n)))
                .min();
            let scripted = script.peek().map(|(at, _)| *at);
            let scripted_first = match (scripted, host) {
                (None, None) => return,
                (Some(at), Some((own, _))) => at <= own,
                (at, _) => at.is_some(),
            };
            if scripted_first {
                let (at, happening) = script.next().unwrap();
                self.minute = self.minute.max(at);
                self.happen(happening);
            } else {
                let (at, n) = host.unwrap();
                self.minute = self.minute.max(at);
                self.act(n);
            }
            if self.minute >= week {
                return;
            }
        }
    }

    /// A host's own next thing.
    fn act(&mut self, n: usize) {
        if self.hosts[n].down_until.take().is_some() {
            self.disturbed = self.minute;
            self.tell(n, &LoopEvent::SessionReplaced);
            return;
        }
        if let Some(work) = self.hosts[n].work.take() {
            self.disturbed = self.minute;
            if self.draw.chance(95) {
                self.settle(n, &work);
            }
            let turn_instance_id = Some(work.turn.to_string());
            self.tell(n, &LoopEvent::Settled { turn_instance_id });
            self.others_notice(n);
            return;
        }
        self.hosts[n].timer = None;
        self.tell(n, &LoopEvent::Timer);
    }

    fn happen(&mut self, happening: Happening) {
        self.disturbed = self.minute;
        match happening {
            Happening::AddTodo => self.add_todo(None),
            Happening::AddMonitor { cadence_minutes } => self.add_todo(Some(cadence_minutes)),
            Happening::OpenGate { agent } => self.open_gate(agent),
            Happening::DecideGate => {
                if self.gates.is_empty() {
                    return;
                }
                let (gate, _) = self.gates.remove(0);
                let mut todo = self.store.todo(&gate).unwrap().unwrap();
                todo.status = TodoStatus::Done;
                todo.completed_at = Some(self.wall());
                self.commit(vec![Change::PutTodo(Box::new(todo))]);
            }
            Happening::Stop => self.policy.activation_stopped = true,
            Happening::Resume => self.policy.activation_stopped = false,
            Happening::Crash { agent, down } => {
                self.figures.crashes += 1;
                let back = self.minute + down;
                let host = &mut self.hosts[agent];
                host.work = None;
                host.timer = None;
                host.down_until = Some(back);
            }
            Happening::Clock { minutes } => {
                self.figures.clock_steps += 1;
                self.ahead += minutes;
            }
        }
        self.others_notice(usize::MAX);
        // Who has given the answer looks after the loops that had given up waiting for it.
        if matches!(happening, Happening::DecideGate | Happening::Resume | Happening::AddTodo) {
            for n in 0..self.hosts.len() {
                let host = &self.hosts[n];
                if host.binding.state != LoopState::Armed && host.down_until.is_none() {
                    self.tell(n, &LoopEvent::Resumed);
                }
            }
        }
    }

    /// Hosts that watch the store see a commit of somebody else.
    fn others_notice(&mut self, but: usize) {
        for n in (0..self.hosts.len()).filter(|n| *n != but) {
            let host = &self.hosts[n];
            if host.watches && host.work.is_none() && host.down_until.is_none() {
                self.tell(n, &LoopEvent::Changed);
            }
        }
    }

    fn new_id(&mut self) -> TodoId {
        self.made += 1;
        TodoId::trusted(format!("todo_{:012}", self.made))
    }

    fn add_todo(&mut self, cadence_minutes: Option<i64>) {
        let id = self.new_id();
        let class = match cadence_minutes {
            Some(_) => TaskClass::Monitor,
            None => TaskClass::Advancement,
        };
        let order = i64::try_from(self.made).unwrap();
        let text = format!("[P{}] work {order}", self.draw.below(4));
        if cadence_minutes.is_some() {
            self.monitors.push(id.clone());
        }
        let mut todo = Todo::new(id, Role::Agent, class, order, text);
        todo.created_at = Some(self.wall());
        todo.cadence = cadence_minutes.map(|m| Cadence::parse(&format!("{m}m")).unwrap());
        self.commit(vec![Change::PutTodo(Box::new(todo))]);
    }

    fn open_gate(&mut self, agent: Option<usize>) {
        self.figures.gates += 1;
        let id = self.new_id();
        let order = i64::try_from(self.made).unwrap();
        let mut gate = Todo::new(id.clone(), Role::User, TaskClass::UserGate, order, "may we?");
        gate.created_at = Some(self.wall());
        gate.blocks_agent = agent.map(|n| self.hosts[n].agent.clone());
        gate.global_gate = agent.is_none();
        self.gates.push((id, agent));
        self.commit(vec![Change::PutTodo(Box::new(gate))]);
    }

    fn commit(&mut self, changes: Vec<Change>) {
        self.write(|_| Ok(Effect::new(changes.clone(), json!({})))).unwrap();
    }

    /// One write as the kernel does it: lapsed turns first, one commit.
    fn write(
        &mut self,
        run: impl FnOnce(&Scene<'_>) -> loopx_core::Result<Effect>,
    ) -> loopx_core::Result<()> {
        let now = self.wall();
        let mut tx = self.store.begin("step")?;
        let record = |n: u64| CommitRecord {
            n,
            effect_id: EffectId::derived("step", &[&n.to_string()]),
            verb: "step".into(),
            agent: None,
            at: now,
            fixed_clock: false,
            body_digest: String::new(),
            receipt: Value::Null,
        };
        if tx.open_turns()?.iter().any(|t| is_lapsed_turn(t, now)) {
            let view = tx.view(&ViewQuery { now, quota: self.policy.quota, complete: false })?;
            tx.apply(&lapse(&view, now))?;
            let n = tx.last_commit()? + 1;
            tx.record(&record(n))?;
        }
        let commit = tx.last_commit()? + 1;
        let scene = Scene { read: &*tx, policy: &self.policy, now, commit, row: commit };
        let done = run(&scene)?;
        tx.apply(&done.changes)?;
        tx.record(&record(commit))?;
        drop(tx.commit()?);
        Ok(())
    }

    fn settle(&mut self, n: usize, work: &Work) {
        let monitor = work.todo.as_ref().is_some_and(|id| {
            self.store.todo(id).unwrap().unwrap().task_class == TaskClass::Monitor
        });
        let outcome = match (monitor, &work.todo) {
            (true, _) if self.draw.chance(80) => "no_change",
            (true, _) | (false, None) => "progress",
            _ if self.draw.chance(60) => "completed",
            _ if self.draw.chance(80) => "progress",
            _ => "no_change",
        };
        let mut request = json!({
            "turn_instance_id": work.turn, "agent_id": self.hosts[n].agent, "outcome": outcome,
            "evidence": ["shown"], "no_follow_up": outcome == "completed",
        });
        if work.todo.is_none() {
            request["next_agent_todo"] = json!(format!("planned {}", self.minute));
        }
        let request: TurnSettleRequest = serde_json::from_value(request).unwrap();
        self.write(|scene| settle(scene, &request)).unwrap();
        self.figures.settled += 1;
        if matches!(outcome, "progress" | "completed") {
            self.spends.push(self.minute + self.ahead);
        }
    }

    /// What the kernel's `loop.step` does, on this store.
    fn tell(&mut self, n: usize, event: &LoopEvent) {
        let mut event = event.clone();
        loop {
            let action = self.one_step(n, &event);
            let host = &mut self.hosts[n];
            host.binding.generation += 1;
            host.timer = None;
            match action {
                Action::Prompt { turn_id, todo_id, .. } => {
                    let ends = self.minute + self.draw.between(5, 40);
                    host.work = Some(Work { turn: turn_id, todo: todo_id, ends });
                    event = LoopEvent::Delivered;
                }
                Action::Recheck => event = LoopEvent::Timer,
                Action::Wait { until } => {
                    host.timer = Some(until);
                    return;
                }
                Action::Pause { .. } | Action::Stop { .. } | Action::Idle => return,
            }
            if event == LoopEvent::Delivered {
                self.one_step(n, &event);
                return;
            }
        }
    }

    fn one_step(&mut self, n: usize, event: &LoopEvent) -> Action {
        let now = self.wall();
        let before = self.hosts[n].binding.clone();
        let turn = before.pending.as_ref().map(|p| {
            let turn = self.store.turn(&p.turn_id).unwrap().unwrap();
            (turn.state, turn.expires_at)
        });
        let (stepped, end) = step(&before, event, self.hosts[n].surface, turn, now);
        if let Some((turn, how)) = end {
            let live = turn.clone();
            self.write(|scene| Ok(Effect::new(end_turn(scene, &live, how)?, json!({})))).unwrap();
        }
        let (binding, action) = match stepped {
            Step::Done(binding, action) => (*binding, action),
            Step::Resend(binding) => {
                let pending = binding.pending.clone().unwrap();
                let (turn_id, todo_id) = (pending.turn_id, pending.todo_id);
                (*binding, Action::Prompt { turn_id, todo_id, text: String::new() })
            }
            Step::Evaluate(binding) => self.evaluate(n, *binding),
        };
        self.hosts[n].binding = binding;
        action
    }

    fn evaluate(
        &mut self,
        n: usize,
        binding: loopx_core::host_loop::Binding,
    ) -> (loopx_core::host_loop::Binding, Action) {
        self.figures.looks += 1;
        let now = self.wall();
        let agent = self.hosts[n].agent.clone();
        let query = ViewQuery { now, quota: self.policy.quota, complete: false };
        let mut view = self.store.view(&query).unwrap();
        view.lapse(now);
        let request = AdmissionRequest {
            agent: Some(agent.clone()),
            binding: true,
            details: [Detail::Scheduler].into_iter().collect(),
            ..AdmissionRequest::default()
        };
        let subject = Subject::Goal { policy: &self.policy, view: &view };
        let situation = Situation { subject, request: &request, now };
        let answered = answer(&situation, self.policy.goal_id.as_str());
        let (packet, decision) = (answered.to_value(), answered.decision);
        let reading = Reading::of(&packet, self.hosts[n].surface, now).unwrap();
        let run = decision.verdict.run;
        self.made += 1;
        let turn = TurnId::trusted(format!("turn-{}", self.made));
        let pending = run.then(|| Pending {
            turn_id: turn.clone(),
            todo_id: decision.verdict.selected.clone(),
            rule: decision.rule.to_owned(),
            at: now,
            delivered: false,
            whole: false,
        });
        match decision.verdict.state {
            "throttled" => self.figures.throttled += 1,
            "paused" => self.figures.stopped_looks += 1,
            _ => {}
        }
        let (binding, action) = conclude(&binding, &reading, pending, now);
        let stalled = view.stalls.iter().any(|s| s.agent.as_ref() == Some(&agent));
        let held =
            stalled || matches!(decision.verdict.state, "throttled" | "paused" | "operator_gate");
        let was_held = std::mem::replace(&mut self.hosts[n].held, held);
        if run {
            assert!(matches!(action, Action::Prompt { .. }), "{packet}");
            self.may_run(n, decision.verdict.selected.as_ref(), was_held || held, &packet);
            self.write(|scene| {
                turn::admit(scene, &turn, Some(&agent), &decision, json!({}), 3, &Terms::default())
            })
            .unwrap();
            self.figures.turns += 1;
        } else {
            self.may_wait(n, &action, &view.stalls, &packet);
        }
        if let Action::Stop { reason, .. } = &action {
            assert_eq!(*reason, Reason::Terminal);
            assert!(!self.any_open_work(), "{packet}");
        }
        (binding, action)
    }

    /// What must hold for a run, from the script alone.
    fn may_run(&mut self, n: usize, todo: Option<&TodoId>, held: bool, packet: &Value) {
        assert!(!self.policy.activation_stopped, "a stopped goal starts nothing: {packet}");
        for (gate, blocks) in &self.gates {
            assert!(blocks.is_some_and(|b| b != n), "{gate} blocks agent {n}: {packet}");
        }
        let start = self.minute + self.ahead - i64::from(self.policy.quota.window_hours) * 60;
        let spent = self.spends.iter().filter(|at| **at > start).count();
        let live = self.store.open_turns().unwrap();
        let reserved = live.iter().filter(|t| !is_lapsed_turn(t, self.wall())).count();
        assert!(
            ((spent + reserved) as u64) < self.policy.quota.allowed_slots,
            "{spent} spent and {reserved} reserved: {packet}"
        );
        let Some(todo) = todo else { return };
        for (other, host) in self.hosts.iter().enumerate().filter(|(other, _)| *other != n) {
            let held = host.work.as_ref().is_some_and(|w| {
                let over = live.iter().all(|t| t.turn_id != w.turn);
                w.todo.as_ref() == Some(todo) && !over
            });
            assert!(!held, "{todo} is in the hands of agent {other}: {packet}");
        }
        let record = self.store.todo(todo).unwrap().unwrap();
        if record.task_class == TaskClass::Monitor {
            self.figures.monitor_looks += 1;
            if let Some(due) = due(&record).filter(|_| !held) {
                let due = (due.micros() - noon().micros()) / 60_000_000 - self.ahead;
                let late = self.minute - due.max(self.disturbed);
                self.figures.latest_monitor = self.figures.latest_monitor.max(late);
            }
        }
    }

    /// A loop that may look at monitors never sleeps past one.
    fn may_wait(&self, n: usize, action: &Action, stalls: &[Stall], packet: &Value) {
        let held = self.policy.activation_stopped
            || self.gates.iter().any(|(_, blocks)| blocks.is_none_or(|b| b == n))
            || packet["state"] == "throttled";
        if held {
            return;
        }
        let live = self.store.open_turns().unwrap();
        let agent = &self.hosts[n].agent;
        let next = self
            .monitors
            .iter()
            .filter_map(|id| self.store.todo(id).unwrap())
            .filter(Todo::is_open)
            .filter(|t| t.claimed_by.as_ref().is_none_or(|c| c == agent))
            .filter(|t| live.iter().all(|turn| turn.todo_id.as_ref() != Some(&t.todo_id)))
            .filter_map(|t| {
                // Whose lease another agent holds is looked at by that agent, or when it ends.
                let lease = self.store.lease(&t.todo_id).unwrap();
                let held = lease.filter(|l| l.is_live(self.wall()) && l.owner != *agent);
                let due = due(&t)?.max(held.map_or(noon(), |l| l.expires_at));
                // Three turns that broke in a row hold it back for a while.
                let stall = stalls
                    .iter()
                    .find(|s| s.todo_id == t.todo_id && s.agent.as_ref() == Some(agent));
                match stall.filter(|s| s.holds(self.wall())) {
                    None => Some(due),
                    Some(stall) => Some(due.max(stall.reoffer_at()?)),
                }
            })
            .min();
        let Some(due) = next else { return };
        match action {
            Action::Wait { until } => assert!(
                *until <= due.max(self.wall()).plus_minutes(1),
                "until {until} though a monitor is due at {due}: {packet}"
            ),
            Action::Recheck => {}
            other => panic!("{other:?} though a monitor is due at {due}: {packet}"),
        }
    }

    fn any_open_work(&self) -> bool {
        let records = self.store.records().unwrap();
        records.todos.values().any(|t| t.is_open())
    }
}

/// When a monitor is due, as contract.md 2.1 says it.
fn due(monitor: &Todo) -> Option<Instant> {
    if monitor.next_due_at.is_some() {
        return monitor.next_due_at;
    }
    let cadence = monitor.cadence?;
    let from = monitor.last_checked_at.or(monitor.created_at)?;
    Some(from.plus_micros(cadence.micros()))
}
