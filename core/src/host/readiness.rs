//! What a turn with value connectors answers before any of them runs: which they are, whether
//! they can run, and the turn's admission. Pure: the admission is handed in.

use serde_json::{Map, Value, json};

use super::catalog::Connector;
use super::value::ValueConnector;
use crate::error::{Error, ErrorCode, Result};

/// Schema of the packet.
pub const SCHEMA: &str = "loopx_connector_readiness_v0";

/// The value connector of an id that a turn is to use.
///
/// # Errors
///
/// [`ErrorCode::ConnectorUnknown`], also for a connector that wakes an agent;
/// [`ErrorCode::ConnectorNotIntegrated`] for a candidate.
pub fn for_turn(text: &str) -> Result<&'static ValueConnector> {
    match Connector::find(text)? {
        Connector::Value(value) => Ok(value),
        Connector::Candidate(candidate) => Err(candidate.not_integrated()),
        Connector::Runtime(row) => {
            let id = row.connector_id().unwrap_or_default();
            Err(Error::new(ErrorCode::ConnectorUnknown, "connector")
                .message(format!("{id} wakes an agent; it is no value connector"))
                .next(format!("loopx connectors show {id}")))
        }
    }
}

/// `{"ok","schema_version","ready","connector_id","turn_instance_id","connectors","admission"}`:
/// whether the turn was admitted and every connector can run, the first connector's id (null
/// without one), the turn's (null where nothing was bound), the connectors' rows, and what
/// `turn.admit` answered. Where `ok` is false, beside it the refusal's fields: the
/// admission's, else those of the first connector that cannot run.
///
/// # Errors
///
/// Those of [`for_turn`].
pub fn packet(connectors: &[String], admission: Value) -> Result<Value> {
    let found: Vec<&ValueConnector> =
        connectors.iter().map(|id| for_turn(id)).collect::<Result<_>>()?;
    let refused = admission.get("ok") != Some(&Value::Bool(true));
    // None can be run in this version.
    let unavailable = found.first().map(|connector| connector.unavailable());
    let mut packet = Map::new();
    packet.insert("ok".into(), json!(!refused && unavailable.is_none()));
    packet.insert("schema_version".into(), json!(SCHEMA));
    packet.insert("ready".into(), json!(unavailable.is_none()));
    packet.insert("connector_id".into(), json!(found.first().map(|connector| connector.id)));
    let turn = admission.pointer("/heartbeat_receipt/turn_instance_id").cloned();
    packet.insert("turn_instance_id".into(), turn.unwrap_or_default());
    let said = match (&unavailable, refused) {
        (_, true) => Some(admission.clone()),
        (Some(error), false) => Some(error.to_json()),
        (None, false) => None,
    };
    for key in ["error_code", "error", "about", "next_command"] {
        if let Some(value) = said.as_ref().and_then(|said| said.get(key)) {
            packet.insert(key.into(), value.clone());
        }
    }
    packet.insert("connectors".into(), json!(found));
    packet.insert("admission".into(), admission);
    Ok(Value::Object(packet))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_catalogued_connector_is_named_and_cannot_run() {
        let admission = json!({"ok": true, "heartbeat_receipt": {"turn_instance_id": "t"}});
        let said = packet(&["github-public-probe".into()], admission.clone()).unwrap();
        assert_eq!(said["connector_id"], "github_public_probe");
        assert_eq!(said["error_code"], "connector_execution_unavailable");
        assert_eq!((&said["ok"], &said["ready"]), (&json!(false), &json!(false)));
        assert_eq!(said["turn_instance_id"], "t");
        assert_eq!(said["admission"], admission);
        let plain = packet(&[], admission).unwrap();
        assert_eq!((&plain["ok"], &plain["connector_id"]), (&json!(true), &Value::Null));
        assert!(plain.get("error_code").is_none());
    }

    #[test]
    fn a_refused_admission_comes_first() {
        let refused = json!({"ok": false, "error_code": "goal_not_found", "error": "none"});
        let said = packet(&["lark".into()], refused).unwrap();
        assert_eq!(said["error_code"], "goal_not_found");
        assert_eq!(said["connector_id"], "lark");
        assert_eq!(said["ready"], false);
    }

    #[test]
    fn only_value_connectors_are_for_a_turn() {
        for (id, code) in [
            ("nope", ErrorCode::ConnectorUnknown),
            ("pi_goal_loop", ErrorCode::ConnectorUnknown),
            ("official_xmcp", ErrorCode::ConnectorNotIntegrated),
        ] {
            assert_eq!(for_turn(id).unwrap_err().code, code, "{id}");
            assert_eq!(packet(&[id.into()], json!({"ok": true})).unwrap_err().code, code, "{id}");
        }
    }
}
