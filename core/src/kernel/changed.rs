//! Whether a goal changed since a commit: cheap enough for a host to ask every few seconds,
//! so that a decided gate wakes a loop at once instead of at its next look.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Kernel;
use super::surface::{Surface, look};
use crate::error::Result;
use crate::file::sha256_hex;
use crate::model::CommitRecord;
use crate::operation::Addressed;
use crate::store::Read;

/// Commits that are read at a time.
const PAGE: usize = 64;

/// `goal.changed_since`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedSinceRequest {
    /// The last commit that the asker has seen: `commit` of any answer.
    pub commit: u64,
}

/// Whether a commit may change what somebody else is answered. A loop that only looked
/// keeps its own pace and nothing else: two loops that wake each other by looking would
/// never rest.
fn matters(commit: &CommitRecord) -> bool {
    let looked = commit.verb == "loop.step" && commit.receipt.get("action").is_some();
    !looked || commit.receipt.get("ended_turn").is_some()
}

fn any_matters(store: &dyn Read, since: u64) -> Result<bool> {
    let mut after = since;
    loop {
        let page = store.commits(after, PAGE)?;
        if page.iter().any(matters) {
            return Ok(true);
        }
        match page.last() {
            Some(last) if page.len() == PAGE => after = last.n,
            _ => return Ok(false),
        }
    }
}

impl Kernel {
    /// Whether anything that decisions go by changed since a commit. `edited` says that the
    /// state file has hand edits that the next write takes in; `mark` differs whenever the
    /// answer would tell something new.
    pub fn goal_changed_since(
        &self,
        at: &Addressed,
        request: &ChangedSinceRequest,
    ) -> Result<Value> {
        let goal = self.goal_again(at.goal_id.as_deref())?;
        let id = &goal.policy.goal_id;
        let (Some(uid), true) = (&goal.policy.goal_uid, goal.has_store) else {
            return Ok(json!({"ok": true, "goal_id": id, "commit": 0, "changed": false,
                "edited": false, "mark": "0"}));
        };
        let store = self.stores.reader(&goal.store_path(uid), uid, || self.sqlite())?;
        let commit = store.last_commit()?;
        let edit = match look(&goal, uid, &store, &self.equal) {
            Ok(Surface::Edited { bytes, .. }) => Some(sha256_hex(&bytes)),
            Ok(_) => None,
            Err(error) => Some(sha256_hex(error.row().text.as_bytes())),
        };
        // Numbers of commits that a restore took back are used again.
        let changed = edit.is_some()
            || commit < request.commit
            || (commit > request.commit && any_matters(&store, request.commit)?);
        let mark = match edit.as_deref().and_then(|digest| digest.get(..12)) {
            Some(digest) => format!("{commit}+{digest}"),
            None => commit.to_string(),
        };
        Ok(json!({"ok": true, "goal_id": id, "commit": commit, "changed": changed,
            "edited": edit.is_some(), "mark": mark}))
    }
}
