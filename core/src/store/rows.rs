//! Records as the rows of an export, and back.

use serde_json::Value;

use super::Change;
use crate::error::{Error, ErrorCode, Result};

/// A record as JSON.
pub(super) fn to_value<T: serde::Serialize>(row: &T) -> Result<Value> {
    serde_json::to_value(row).map_err(|e| Error::new(ErrorCode::Internal, "record").detail(e))
}

/// A record from JSON; a row of another shape is not an export of ours.
pub(super) fn from_value<T: serde::de::DeserializeOwned>(table: &str, row: &Value) -> Result<T> {
    serde_json::from_value(row.clone()).map_err(|e| {
        Error::new(ErrorCode::ExportInvalid, table)
            .message(format!("a row of {table} has another shape"))
            .detail(e)
    })
}

/// The change that stores one dumped row of a table that changes can express.
pub(super) fn change_of_row(table: &str, row: &Value) -> Result<Option<Change>> {
    Ok(Some(match table {
        "todos" => Change::PutTodo(Box::new(from_value(table, row)?)),
        "spends" => Change::PutSpend(from_value(table, row)?),
        "outcomes" => Change::PutOutcome(from_value(table, row)?),
        "evidence" => Change::AddEvidence(from_value(table, row)?),
        "turns" => Change::PutTurn(from_value(table, row)?),
        "attempts" => Change::PutAttempt(from_value(table, row)?),
        "stalls" => Change::PutStall(from_value(table, row)?),
        "grants" => Change::PutGrant(from_value(table, row)?),
        "feedback" => Change::PutFeedback(from_value(table, row)?),
        "leases" => Change::PutLease(from_value(table, row)?),
        "handoff" => Change::SetHandoff(from_value(table, row)?),
        "seen" => Change::PutSeen(from_value(table, row)?),
        "host_rows" => Change::PutHostRow(from_value(table, row)?),
        "schedules" => Change::PutSchedule(from_value(table, row)?),
        "signals" => Change::AddSignal(from_value(table, row)?),
        "findings" => Change::PutFinding(from_value(table, row)?),
        "legacy" => Change::SetLegacy(from_value(table, row)?),
        _ => return Ok(None),
    }))
}
