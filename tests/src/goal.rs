//! One goal `g` of this tool in a sandbox, at an instant that the test moves.

#![allow(clippy::indexing_slicing, reason = "an answer of another shape has to stop the test")]

use crate::Sandbox;
use serde_json::Value;
use std::cell::RefCell;

/// The goal `g`. Every call is made at its instant.
pub struct Goal {
    pub sandbox: Sandbox,
    now: RefCell<String>,
}

impl Goal {
    /// A new goal with these agents, at noon.
    pub fn new(agents: &[&str]) -> Self {
        let goal =
            Self { sandbox: Sandbox::new(), now: RefCell::new("2026-11-29T12:00:00Z".to_owned()) };
        let mut words = vec!["goal", "create", "--goal-id", "g", "--objective", "o"];
        for agent in agents {
            words.extend(["--agent-id", agent]);
        }
        goal.sandbox.at(&goal.now.borrow()).json(words);
        goal
    }

    /// From now on it is this time of the same day, `HH:MM`.
    pub fn at(&self, time: &str) -> &Self {
        *self.now.borrow_mut() = format!("2026-11-29T{time}:00Z");
        self
    }

    fn words<'a>(command: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
        let mut words: Vec<&str> = command.split(' ').collect();
        words.extend(["--goal-id", "g"]);
        words.extend(rest);
        words
    }

    /// `loopx <command> --goal-id g <rest>`, which is answered.
    #[track_caller]
    pub fn ok(&self, command: &str, rest: &[&str]) -> Value {
        self.sandbox.at(&self.now.borrow()).json(Self::words(command, rest))
    }

    /// The same, refused; the answer is the error code, and names a next command.
    #[track_caller]
    pub fn refused(&self, command: &str, rest: &[&str]) -> String {
        let answer = self.sandbox.at(&self.now.borrow()).refusal(Self::words(command, rest));
        assert_eq!(answer["ok"], false, "{answer}");
        for key in ["error", "next_command"] {
            assert!(answer[key].as_str().is_some_and(|t| !t.is_empty()), "{key} of {answer}");
        }
        answer["error_code"].as_str().expect("a code").to_owned()
    }

    /// Adds an agent todo and answers its id.
    #[track_caller]
    pub fn todo(&self, text: &str, rest: &[&str]) -> String {
        let mut words = vec!["--role", "agent", "--text", text];
        words.extend(rest);
        id(&self.ok("todo add", &words))
    }

    /// Opens a gate and answers its id.
    #[track_caller]
    pub fn gate(&self, question: &str, rest: &[&str]) -> String {
        let mut words = vec!["--question", question];
        words.extend(rest);
        id(&self.ok("gate open", &words))
    }

    /// The decision for an agent.
    #[track_caller]
    pub fn decision(&self, agent: &str) -> Value {
        self.ok("quota should-run", &["--agent-id", agent])
    }

    /// The name of the rule that decides for an agent, and the todo that it selects.
    #[track_caller]
    pub fn rule(&self, agent: &str) -> (String, String) {
        let answer = self.decision(agent);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&answer["rule"]), text(&answer["selected_todo"]["todo_id"]))
    }

    /// One todo as it stands.
    #[track_caller]
    pub fn shown(&self, id: &str) -> Value {
        self.ok("todo list", &["--todo-id", id, "--archived"])["todos"][0].clone()
    }
}

/// The `todo_id` of an answer.
#[track_caller]
pub fn id(answer: &Value) -> String {
    answer["todo_id"].as_str().unwrap_or_else(|| panic!("no todo_id in {answer}")).to_owned()
}
