//! A store that reads by way of another: of a field, or of what a lent one holds.

/// Implements `Read` for a type by calling the same method of `self.FIELD`. Where it is used,
/// the types that the trait's methods name are imported.
macro_rules! forward_reads {
    ($ty:ty, $($field:tt)+) => {
        impl Read for $ty {
            fn goal_uid(&self) -> Result<GoalUid> { self.$($field)+.goal_uid() }
            fn last_commit(&self) -> Result<u64> { self.$($field)+.last_commit() }
            fn view(&self, query: &ViewQuery) -> Result<View> { self.$($field)+.view(query) }
            fn todo(&self, id: &TodoId) -> Result<Option<Todo>> { self.$($field)+.todo(id) }
            fn todos(&self, filter: &TodoFilter) -> Result<Vec<Todo>> { self.$($field)+.todos(filter) }
            fn shown_todos(&self, done: usize) -> Result<Vec<Todo>> { self.$($field)+.shown_todos(done) }
            fn shown_closed(&self, done: usize) -> Result<Vec<TodoId>> {
                self.$($field)+.shown_closed(done)
            }
            fn open_todo_by_text(&self, role: Role, text: &str) -> Result<Option<Todo>> {
                self.$($field)+.open_todo_by_text(role, text)
            }
            fn max_order(&self) -> Result<i64> { self.$($field)+.max_order() }
            fn counters(&self) -> Result<Counters> { self.$($field)+.counters() }
            fn commit_of(&self, effect: &EffectId) -> Result<Option<CommitRecord>> {
                self.$($field)+.commit_of(effect)
            }
            fn commits(&self, after: u64, limit: usize) -> Result<Vec<CommitRecord>> {
                self.$($field)+.commits(after, limit)
            }
            fn commits_before(&self, before: Option<u64>, limit: usize) -> Result<Vec<CommitRecord>> {
                self.$($field)+.commits_before(before, limit)
            }
            fn evidence(
                &self,
                todo: Option<&TodoId>,
                agent: Option<&AgentId>,
                limit: usize,
            ) -> Result<Vec<crate::model::Evidence>> {
                self.$($field)+.evidence(todo, agent, limit)
            }
            fn last_outcomes(&self, limit: usize) -> Result<Vec<Outcome>> {
                self.$($field)+.last_outcomes(limit)
            }
            fn usage(&self) -> Result<Vec<crate::model::UsageTotal>> { self.$($field)+.usage() }
            fn spend(&self, id: u64) -> Result<Option<crate::model::Spend>> { self.$($field)+.spend(id) }
            fn last_spends(&self, limit: usize) -> Result<Vec<crate::model::Spend>> {
                self.$($field)+.last_spends(limit)
            }
            fn turn(&self, id: &TurnId) -> Result<Option<Turn>> { self.$($field)+.turn(id) }
            fn lease(&self, todo: &TodoId) -> Result<Option<crate::model::Lease>> { self.$($field)+.lease(todo) }
            fn host_row(&self, kind: &str, key: &str) -> Result<Option<crate::model::HostRow>> {
                self.$($field)+.host_row(kind, key)
            }
            fn host_rows(&self, kind: &str) -> Result<Vec<crate::model::HostRow>> {
                self.$($field)+.host_rows(kind)
            }
            fn seen(&self, agent: &AgentId) -> Result<Option<crate::model::AgentSeen>> {
                self.$($field)+.seen(agent)
            }
            fn handoff(&self) -> Result<Option<crate::model::HandoffMode>> { self.$($field)+.handoff() }
            fn open_turns(&self) -> Result<Vec<Turn>> { self.$($field)+.open_turns() }
            fn delivery_of_turn(&self, turn: &TurnId) -> Result<Option<Outcome>> {
                self.$($field)+.delivery_of_turn(turn)
            }
            fn last_delivery(&self, agent: Option<&AgentId>, todo: Option<&TodoId>) -> Result<Option<Outcome>> {
                self.$($field)+.last_delivery(agent, todo)
            }
            fn unspent_up_to(&self, outcome: &Outcome) -> Result<Vec<Outcome>> {
                self.$($field)+.unspent_up_to(outcome)
            }
            fn spend_totals(&self) -> Result<(u64, u64)> { self.$($field)+.spend_totals() }
            fn journal(&self) -> Result<Option<JournalRow>> { self.$($field)+.journal() }
            fn legacy(&self) -> Result<Option<LegacyWitness>> { self.$($field)+.legacy() }
            fn last_projection(&self) -> Result<Option<String>> { self.$($field)+.last_projection() }
            fn last_drawn(&self) -> Result<Option<String>> { self.$($field)+.last_drawn() }
            fn was_projected(&self, digest: &str) -> Result<bool> { self.$($field)+.was_projected(digest) }
            fn records(&self) -> Result<GoalRecords> { self.$($field)+.records() }
            fn dump(&self, sink: &mut dyn FnMut(&str, Value) -> Result<()>) -> Result<()> {
                self.$($field)+.dump(sink)
            }
        }
    };
}
pub(crate) use forward_reads;
