//! The connector catalogue: an index over the tables for people and planners, not a second
//! source of truth.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::find::{closest, fold};
use super::row::{ConnectorOf, HostRow};
use super::table::HOSTS;
use super::value::{CANDIDATES, Candidate, VALUE_CONNECTORS, ValueConnector};
use crate::error::{Error, ErrorCode, Result};

/// `connectors.show`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConnectorShowRequest {
    /// Id of a connector, value connector or candidate; a host's name means its connector.
    pub connector: String,
}

/// `value_connectors.run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueConnectorRunRequest {
    /// Id of a value connector.
    pub connector: String,
    /// What it looks at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What an id of the catalogue leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// A host's connector.
    Runtime(&'static HostRow),
    /// A value connector.
    Value(&'static ValueConnector),
    /// A candidate.
    Candidate(&'static Candidate),
}

impl Connector {
    /// The entry of an id.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::ConnectorUnknown`], naming the closest id.
    pub fn find(text: &str) -> Result<Self> {
        let wanted = fold(text);
        let is = |name: &str| fold(name) == wanted;
        let all = Self::all();
        let found = all
            .iter()
            .find(|c| is(c.id()))
            .or_else(|| all.iter().find(|c| c.aliases().iter().any(|alias| is(alias))))
            .copied();
        if let Some(found) = found {
            return Ok(found);
        }
        let shown: String = text.chars().take(60).flat_map(char::escape_default).collect();
        let error = Error::new(ErrorCode::ConnectorUnknown, "connector");
        Err(match closest(&wanted, all.iter().map(|c| c.id())) {
            Some(near) => error
                .message(format!("Unknown connector: {shown}; the closest is {near}"))
                .next(format!("loopx connectors show {near}")),
            None => error.message(format!("Unknown connector: {shown}")),
        })
    }

    /// Runtime connectors, then value connectors, then candidates.
    fn all() -> Vec<Self> {
        let own = |row: &&&HostRow| matches!(row.connector, ConnectorOf::Own(_));
        let runtime = HOSTS.iter().filter(own).map(|row| Self::Runtime(row));
        let value = VALUE_CONNECTORS.iter().map(Self::Value);
        runtime.chain(value).chain(CANDIDATES.iter().map(Self::Candidate)).collect()
    }

    /// Its id.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Runtime(row) => row.connector_id().unwrap_or_default(),
            Self::Value(value) => value.id,
            Self::Candidate(candidate) => candidate.id,
        }
    }

    fn aliases(&self) -> Vec<&'static str> {
        match self {
            Self::Runtime(row) => {
                std::iter::once(row.name()).chain(row.aliases.iter().copied()).collect()
            }
            Self::Value(value) => value.aliases.to_vec(),
            Self::Candidate(_) => Vec::new(),
        }
    }

    /// The entry as the catalogue shows it, with what kind it is.
    pub fn to_json(&self) -> Value {
        let (kind, entry) = match self {
            Self::Runtime(row) => ("runtime", json!(row.catalog())),
            Self::Value(value) => ("value", json!(value)),
            Self::Candidate(candidate) => ("candidate", json!(candidate)),
        };
        let mut map = Map::new();
        if let Value::Object(entry) = entry {
            map.extend(entry);
        }
        map.insert("kind".into(), json!(kind));
        if let Self::Runtime(row) = self {
            map.insert("host".into(), json!(row.host));
        }
        Value::Object(map)
    }
}

fn entries(is: fn(&Connector) -> bool) -> Vec<Value> {
    Connector::all().iter().filter(|c| is(c)).map(Connector::to_json).collect()
}

/// `connectors.list`: hosts' connectors, and beside them what else can be named.
pub fn list() -> Value {
    json!({
        "ok": true,
        "schema_version": "loopx_connector_catalog_v1",
        "connectors": entries(|c| matches!(c, Connector::Runtime(_))),
        "value_connectors": entries(|c| matches!(c, Connector::Value(_))),
        "candidates": entries(|c| matches!(c, Connector::Candidate(_))),
    })
}

/// `connectors.show`: one entry; for a host's connector, how that host is run.
pub fn show(request: &ConnectorShowRequest) -> Result<Value> {
    let connector = Connector::find(&request.connector)?;
    let mut answer = json!({"ok": true, "connector": connector.to_json()});
    if let (Connector::Runtime(row), Some(map)) = (connector, answer.as_object_mut()) {
        map.insert("host".into(), host(row));
    }
    Ok(answer)
}

/// A host's row for doors: what the types of the table say.
fn host(row: &HostRow) -> Value {
    json!({
        "host": row.host,
        "name": row.display,
        "aliases": row.aliases,
        "runtime_profile": row.profile,
        "scheduler_execution_context": row.context(),
        "body_kind": row.body,
        "thin_limit": row.body.limit(super::Style::Thin),
        "spend_source": row.spend,
        "stop_rule": row.stop,
        "activation": row.activation,
        "skill_owner": row.skills,
        "install": row.install,
    })
}

/// `value_connectors.run`: not yet, said with a code of its own.
pub fn run_value(request: &ValueConnectorRunRequest) -> Result<Value> {
    Err(super::readiness::for_turn(&request.connector)?.unavailable())
}

/// The catalogue as a page: `docs/connectors.md`.
pub fn page() -> String {
    let mut page = String::from(PREFACE);
    page.push_str("\n## Hosts\n\n| `--host` | also | connector | woken with | spends as | scheduled by |\n|---|---|---|---|---|---|\n");
    for row in HOSTS {
        let owner = row
            .context()
            .map_or_else(|| "whoever calls".to_owned(), |c| format!("`{}`", c.scheduler_owner));
        let aliases: Vec<String> = row.aliases.iter().map(|a| format!("`{a}`")).collect();
        let connector = row.connector_id().map_or_else(|| "none".into(), |id| format!("`{id}`"));
        let _ = writeln!(
            page,
            "| `{}` | {} | {connector} | `{}`, {} characters | `{}` | {owner} |",
            row.name(),
            aliases.join(", "),
            row.body.text(),
            row.body.limit(super::Style::Thin),
            row.spend.text(),
        );
    }
    page.push_str("\n## Connectors\n");
    for row in HOSTS {
        let ConnectorOf::Own(c) = &row.connector else { continue };
        let _ = write!(page, "\n### `{}`\n\n", c.id);
        for (field, text) in [
            ("surface", c.surface),
            ("execution_mode", c.execution_mode),
            ("wake_triggers", c.wake_triggers),
            ("state_writeback", c.state_writeback),
            ("liveness_signal", c.liveness_signal),
            ("stop_reset_policy", c.stop_reset_policy),
            ("budget_meter", c.budget_meter),
            ("human_visibility", c.human_visibility),
            ("boundary", c.boundary),
            ("smoke_expectation", c.smoke_expectation),
        ] {
            let _ = writeln!(page, "- `{field}`: {text}.");
        }
    }
    page.push_str("\n## Value connectors\n\nThey bring something in and wake nobody. A plan may name them; running one answers\n`connector_execution_unavailable` until a version brings it.\n\n| id | service | input | payload | boundary |\n|---|---|---|---|---|\n");
    for v in VALUE_CONNECTORS {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            v.id, v.service, v.input, v.payload, v.boundary
        );
    }
    page.push_str("\n## Candidates\n\nNotes on what others offer. Being listed makes nothing available and grants no access.\n");
    for c in CANDIDATES {
        let _ = write!(
            page,
            "\n### `{}`\n\n- upstream: {}.\n- status: `{}`.\n- possible binding: {}.\n- before integration: {}\n- promoted by:\n",
            c.id, c.upstream_surface, c.status, c.possible_binding, c.boundary
        );
        for evidence in c.promotion_evidence {
            let _ = writeln!(page, "  - {evidence}");
        }
    }
    page
}

const PREFACE: &str = "# Connectors

<!-- Written by `cargo xtask generate` from core/src/host; do not edit. -->

A connector names a surface on which an agent loops, and says how that surface meets the kernel:
what wakes it, how it writes back, what costs a slot, and what it must leave alone. The same rows
are in `loopx connectors list`. Everywhere a turn begins with an admission for a goal and an agent
of its roster, validated work is settled before or with its one slot, and a change of cadence, a
last look, a stop or a look at a monitor spends nothing.
";

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_whole_and_found() {
        let list = list();
        assert_eq!(list["connectors"].as_array().unwrap().len(), 14);
        let mut ids = std::collections::BTreeSet::new();
        for key in ["connectors", "value_connectors", "candidates"] {
            for entry in list[key].as_array().unwrap() {
                let id = entry["id"].as_str().unwrap();
                assert!(ids.insert(id), "{id} twice");
                assert_eq!(Connector::find(id).unwrap().id(), id);
                for (field, value) in entry.as_object().unwrap() {
                    assert!(value.as_str() != Some(""), "{id}: {field}");
                }
                assert!(page().contains(&format!("`{id}`")), "{id} is not on the page");
            }
        }
        assert_eq!(list["candidates"][0]["status"], "catalogued_not_integrated");
    }

    #[test]
    fn nothing_unfinished_can_be_run() {
        let run = |connector: &str| {
            run_value(&ValueConnectorRunRequest { connector: connector.into(), url: None })
                .unwrap_err()
        };
        assert_eq!(run("github-public-probe").code, ErrorCode::ConnectorUnavailable);
        assert_eq!(run("official_xmcp").code, ErrorCode::ConnectorNotIntegrated);
        assert_eq!(run("pi_goal_loop").code, ErrorCode::ConnectorUnknown);
        let slip = run("github_public_prob");
        assert_eq!(slip.row().text, "ConnectorNotFoundError");
        assert_eq!(
            slip.text(),
            "Unknown connector: github_public_prob; the closest is github_public_probe"
        );
    }
}
