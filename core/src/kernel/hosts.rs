//! What hosts ask of the kernel: the catalogue, the plan of how a host runs, and the prompt.

use std::path::Path;

use serde_json::Value;

use super::Kernel;
use crate::error::{ErrorCode, Result};
use crate::host::catalog::{self, ConnectorShowRequest, ValueConnectorRunRequest};
use crate::host::mode_plan::{HostModePlanRequest, plan};
use crate::model::GoalId;
use crate::operation::Addressed;
use crate::prompt::{self, HeartbeatPromptRequest, Known, Route, Word};
use crate::registry::{FoundBy, RouteInput};

impl Kernel {
    /// The connector catalogue.
    pub fn connectors_list(&self) -> Result<Value> {
        Ok(catalog::list())
    }

    /// One entry of the catalogue.
    pub fn connectors_show(&self, request: &ConnectorShowRequest) -> Result<Value> {
        catalog::show(request)
    }

    /// Runs a value connector: not in this version.
    pub fn value_connector_run(&self, request: &ValueConnectorRunRequest) -> Result<Value> {
        catalog::run_value(request)
    }

    /// How a host would run. A goal that is not named may be missing: the plan is about the
    /// host.
    pub fn host_mode_plan(&self, at: &Addressed, request: &HostModePlanRequest) -> Result<Value> {
        match (self.goal(at.goal_id.as_deref()), &at.goal_id) {
            (Ok(goal), _) => plan(request, Some(&goal.policy.goal_id), &goal.policy.roster),
            (Err(error), None)
                if matches!(error.code, ErrorCode::GoalUnknown | ErrorCode::GoalRequired) =>
            {
                plan(request, None, &[])
            }
            (Err(error), _) => Err(error),
        }
    }

    /// What a host's agent is told at each wake.
    pub fn heartbeat_prompt(
        &self,
        at: &Addressed,
        request: &HeartbeatPromptRequest,
    ) -> Result<Value> {
        match self.goal(at.goal_id.as_deref()) {
            Ok(goal) => self.prompt_of(&goal, &self.with_thread(&goal, request)?),
            // A goal that only its state file stands for: nothing is known beside its name.
            Err(error) => match (&at.goal_id, &request.active_state, error.code) {
                (Some(name), Some(_), ErrorCode::GoalUnknown) => {
                    let goal = GoalId::parse(name)?;
                    let known = Known { goal: &goal, policy: None, entry: None };
                    prompt::answer(request, &known, self.prompt_route())
                }
                _ => Err(error),
            },
        }
    }

    /// How a command reaches this registry from the agent's working folder. What is found
    /// from there without a flag is not named.
    pub(super) fn prompt_route(&self) -> Route {
        let mut route = Route::default();
        let input = &self.options.route;
        let from_here = RouteInput { flag: None, env_registry: None, ..input.clone() };
        let found = from_here.registry().is_ok_and(|found| {
            found.found_by == FoundBy::Project && found.registry == self.route.registry
        });
        if !found && self.route.found_by != FoundBy::Nothing {
            route.words.push(Word::Own("--registry"));
            route.words.push(self.word(&self.route.registry));
        }
        if let Some(root) = &input.runtime_root_flag {
            let root = input.cwd.join(root);
            let plain = RouteInput { runtime_root_flag: None, ..input.clone() };
            let usual = self.registry().and_then(|registry| plain.runtime_root(&registry));
            if !usual.is_ok_and(|usual| usual == root) {
                route.words.push(Word::Own("--runtime-root"));
                route.words.push(self.word(&root));
            }
        }
        route
    }

    /// A path as a word: below the home folder with `$HOME`, so that the same prompt holds
    /// for another user's home.
    fn word(&self, path: &Path) -> Word {
        let home = self.options.route.home.as_deref();
        let below = home.and_then(|home| path.strip_prefix(home).ok());
        match below {
            Some(rest) => Word::Home(rest.display().to_string()),
            None => Word::Given(path.display().to_string()),
        }
    }
}
