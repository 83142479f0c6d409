//! The `acceptance` list of a goal entry: what has to be so before the goal is reached.
//! An entry is a text, or an object with `text` (or `id`) and `met`; only `true` is met.
//! Pure: no file, no lock, no clock.

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorCode, Result};
use crate::model::Instant;

/// One readable entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// Place in the list, from 1; entries that cannot be read count.
    pub index: usize,
    /// What has to be so.
    pub text: String,
    /// It is.
    pub met: bool,
}

/// The readable entries, in order.
pub fn entries(entry: &Value) -> Vec<Acceptance> {
    let list = entry.get("acceptance").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(at, item)| {
            let text = text_of(item)?.to_owned();
            Some(Acceptance { index: at + 1, text, met: item.get("met") == Some(&json!(true)) })
        })
        .collect()
}

fn text_of(item: &Value) -> Option<&str> {
    let text = item
        .as_str()
        .or_else(|| ["text", "id"].iter().find_map(|key| item.get(key).and_then(Value::as_str)))?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Adds an unmet entry and answers it and whether that changed something. One that is
/// there and met is unmet again.
pub fn add(entry: &mut Value, text: &str, now: Instant) -> Result<(Acceptance, bool)> {
    if let Some(there) = entries(entry).into_iter().find(|a| a.text == text) {
        if !there.met {
            return Ok((there, false));
        }
        set(entry, there.index, false, now)?;
        return Ok((Acceptance { met: false, ..there }, true));
    }
    let list = object(entry)?
        .entry("acceptance")
        .or_insert_with(|| json!([]))
        .as_array_mut()
        .ok_or_else(|| shape("`acceptance` of the goal is not a list"))?;
    list.push(json!({"text": text, "met": false, "added_at": now}));
    Ok((Acceptance { index: list.len(), text: text.to_owned(), met: false }, true))
}

/// Marks the entry of that text or place as met and answers it and whether that changed
/// something; `None` when there is no such entry.
pub fn meet(
    entry: &mut Value,
    text: Option<&str>,
    index: Option<usize>,
    now: Instant,
) -> Result<Option<(Acceptance, bool)>> {
    let found = entries(entry)
        .into_iter()
        .find(|a| text.is_none_or(|t| a.text == t) && index.is_none_or(|i| a.index == i));
    let Some(found) = found else { return Ok(None) };
    let changed = !found.met;
    if changed {
        set(entry, found.index, true, now)?;
    }
    Ok(Some((Acceptance { met: true, ..found }, changed)))
}

fn set(entry: &mut Value, index: usize, met: bool, now: Instant) -> Result<()> {
    let item = object(entry)?
        .get_mut("acceptance")
        .and_then(Value::as_array_mut)
        .and_then(|list| list.get_mut(index.checked_sub(1)?))
        .ok_or_else(|| shape("`acceptance` of the goal is not a list"))?;
    if let Some(text) = item.as_str() {
        *item = json!({"text": text});
    }
    let item = object(item)?;
    item.insert("met".into(), json!(met));
    match met {
        true => item.insert("met_at".into(), json!(now)),
        false => item.shift_remove("met_at"),
    };
    Ok(())
}

fn object(value: &mut Value) -> Result<&mut Map<String, Value>> {
    value.as_object_mut().ok_or_else(|| shape("an entry of the registry is not an object"))
}

fn shape(sentence: &str) -> Error {
    Error::new(ErrorCode::RegistryShape, "registry").message(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::policy::policy;

    #[test]
    fn entries_of_every_form_are_met_and_unmet_and_what_is_unknown_stays() {
        let now = Instant::default();
        let mut entry = json!({"id": "g", "acceptance": ["tests pass", {"x": 1}, {"id": "docs", "met": "yes", "owner": "o"}]});
        assert_eq!(entries(&entry).iter().map(|a| a.index).collect::<Vec<_>>(), [1, 3]);
        assert!(meet(&mut entry, Some("docs"), None, now).unwrap().unwrap().1);
        assert!(!meet(&mut entry, None, Some(3), now).unwrap().unwrap().1);
        assert!(meet(&mut entry, None, Some(2), now).unwrap().is_none(), "it says nothing");
        assert!(meet(&mut entry, Some("docs"), Some(1), now).unwrap().is_none());
        assert_eq!(policy(&entry).unwrap().acceptance_gaps, ["tests pass"]);
        assert_eq!(entry["acceptance"][2]["owner"], "o");
        assert!(!add(&mut entry, "tests pass", now).unwrap().1);
        assert!(add(&mut entry, "docs", now).unwrap().1, "it is to be reached again");
        assert_eq!(add(&mut entry, "bench", now).unwrap().0.index, 4);
        assert_eq!(policy(&entry).unwrap().acceptance_gaps, ["tests pass", "docs", "bench"]);
        let mut odd = json!({"id": "g", "acceptance": "x"});
        assert_eq!(add(&mut odd, "y", now).unwrap_err().code, ErrorCode::RegistryShape);
    }
}
