//! Projects of the earlier tool, which are read in place and are not yet imported:
//! a registry and a Markdown state file per goal.

use serde_json::{Map, Value, json};
use std::fmt::Write;

/// One goal and its state file. [`Goal::new`] is the smallest that the earlier
/// tool's own setup makes; the fields can be changed before it is laid out.
#[derive(Debug, Clone)]
pub struct Goal {
    pub id: String,
    pub objective: String,
    /// The instant of the last change, in the state file's front matter.
    pub updated_at: String,
    /// The registry's entry. Fields are free to be added, changed and removed.
    pub entry: Value,
    user_todos: String,
    agent_todos: String,
}

impl Goal {
    pub fn new(id: &str, agents: &[&str]) -> Self {
        Self {
            id: id.into(),
            objective: "o".into(),
            updated_at: "2026-11-29T20:00:00+00:00".into(),
            entry: json!({
                "id": id,
                "domain": "d",
                "status": "active",
                "role": "controller",
                "parent_goal_id": null,
                "repo": "{root}",
                "state_file": Self::state_file_of(id),
                "authority_sources": [],
                "adapter": {"kind": "generic_project_goal_v0", "status": "connected"},
                "coordination": {
                    "write_scope": ["**"],
                    "registered_agents": agents,
                    "agent_model": "peer_v1",
                },
                "guards": [],
            }),
            user_todos: String::new(),
            agent_todos: String::new(),
        }
    }

    fn state_file_of(id: &str) -> String {
        format!(".codex/goals/{id}/ACTIVE_GOAL_STATE.md")
    }

    /// An open todo for agents. `facts` are what its comment says beside its id and
    /// status, for example `task_class=advancement_task claimed_by=agent-a`.
    pub fn agent_todo(mut self, todo_id: &str, text: &str, facts: &str) -> Self {
        todo(&mut self.agent_todos, todo_id, text, facts);
        self
    }

    /// An open todo for the owner, for example a gate: `task_class=user_gate`.
    pub fn user_todo(mut self, todo_id: &str, text: &str, facts: &str) -> Self {
        todo(&mut self.user_todos, todo_id, text, facts);
        self
    }

    pub fn state_file(&self) -> String {
        let Self { id, objective, updated_at, user_todos, agent_todos, .. } = self;
        format!(
            "---\nstatus: active\nowner_mode: goal\nobjective: {}\nupdated_at: {updated_at}\n\
             adapter_id: {id}\n---\n\n# Active Goal State\n\n## Objective\n\n{objective}\n\n\
             ## User Todo / Owner Review Reading Queue\n\n{user_todos}\n## Agent Todo\n\n\
             {agent_todos}\n## Next Action\n\n\n\n## Progress Ledger\n\n- x\n",
            json!(objective),
        )
    }
}

fn todo(list: &mut String, todo_id: &str, text: &str, facts: &str) {
    let gap = if facts.is_empty() { "" } else { " " };
    // Writing to a string cannot fail.
    let _ = writeln!(
        list,
        "- [ ] {text}\n  <!-- loopx:todo todo_id={todo_id} status=open{gap}{facts} -->"
    );
}

/// The registry of these goals, as text; `{root}` stands for the project folder.
pub fn registry(goals: &[Goal]) -> String {
    let entries: Vec<&Value> = goals.iter().map(|goal| &goal.entry).collect();
    let registry = json!({
        "schema_version": "0.1",
        "updated_at": "2026-11-29",
        "common_runtime_root": "{root}/rt",
        "goals": entries,
    });
    format!("{registry:#}")
}

/// The files of a project with these goals, for [`crate::lay_out`].
pub fn files(goals: &[Goal]) -> Map<String, Value> {
    let mut files = Map::new();
    files.insert(".loopx/registry.json".into(), registry(goals).into());
    for goal in goals {
        files.insert(Goal::state_file_of(&goal.id), goal.state_file().into());
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scenarios were recorded on files that the earlier tool itself wrote.
    #[test]
    fn a_goal_is_written_as_in_the_recorded_scenarios() {
        let path = crate::repository().join("tests/conformance/scenarios.json");
        let scenarios: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let recorded = scenarios
            .as_array()
            .unwrap()
            .iter()
            .find(|scenario| scenario["name"] == "global_user_gate")
            .unwrap();
        let mut goal = Goal::new("g", &["agent-a", "agent-b"])
            .user_todo(
                "todo_000000000001",
                "[P0] approve all",
                "task_class=user_gate global_gate=true goal_bound=true",
            )
            .agent_todo(
                "todo_000000000003",
                "[P2] write docs page",
                "task_class=advancement_task action_kind=docs",
            );
        goal.updated_at = "2026-11-29T20:32:30+00:00".into();
        let ours = files(&[goal]);
        let theirs = &recorded["files"];
        let state_file = ".codex/goals/g/ACTIVE_GOAL_STATE.md";
        assert_eq!(ours[state_file], theirs[state_file]);
        let parsed =
            |text: &Value| -> Value { serde_json::from_str(text.as_str().unwrap()).unwrap() };
        assert_eq!(parsed(&ours[".loopx/registry.json"]), parsed(&theirs[".loopx/registry.json"]));
    }
}
