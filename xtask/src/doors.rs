//! The doors held against one another: what each runner of the shared vectors wrote down has to
//! be the same for all of them, and what `tests/vectors/index.json` says. What they write is what the door
//! itself said: `answer` or the code, and the class; where a door names no class, that of its code.

use crate::failure::{Failure, Result, While};
use crate::workspace::Workspace;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every door, as its runner names it; its version, or by what it goes, may follow.
const DOORS: [&str; 5] = ["Rust", "CLI", "C", "Node", "Python"];

/// Reads what the runners wrote, prints a line for each door, and fails where they differ.
/// `left_out` has the doors whose step was skipped out loud, with the reason.
pub fn compare(workspace: &Workspace, left_out: &BTreeMap<&str, String>) -> Result<()> {
    let index = read(&workspace.root.join("tests/vectors/index.json"))?;
    let mut tallies = Vec::new();
    if let Some(folder) = workspace.tallies.as_deref().filter(|folder| folder.is_dir()) {
        let listed =
            fs::read_dir(folder).while_doing(|| format!("listing {}", folder.display()))?;
        let mut paths: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            tallies.push(read(&path)?);
        }
    }
    let seen = judged(&index, &tallies, left_out);
    for line in &seen.lines {
        eprintln!("   {line}");
    }
    if seen.faults.is_empty() { Ok(()) } else { Err(Failure::new(seen.faults.join("; "))) }
}

fn read(path: &Path) -> Result<Value> {
    let doing = || format!("reading {}", path.display());
    let text = fs::read_to_string(path).while_doing(doing)?;
    serde_json::from_str(&text).while_doing(doing)
}

#[derive(Default)]
struct Seen {
    lines: Vec<String>,
    faults: Vec<String>,
}

fn judged(index: &Value, tallies: &[Value], left_out: &BTreeMap<&str, String>) -> Seen {
    let mut seen = Seen::default();
    let mut first: Option<(&str, &Value)> = None;
    for door in DOORS {
        let of_it = |tally: &&Value| text(tally, "door").split(' ').next() == Some(door);
        let mut found = tallies.iter().filter(of_it).peekable();
        if found.peek().is_none() {
            match left_out.get(door) {
                Some(why) => seen.lines.push(format!("{door}: SKIPPED, {why}")),
                None => {
                    seen.lines.push(format!("{door}: MISSING"));
                    seen.faults.push(format!("no runner of {door} has said what it ran"));
                }
            }
        }
        for tally in found {
            let name = text(tally, "door");
            let skipped = text(tally, "skipped");
            if !skipped.is_empty() {
                seen.lines.push(format!("{name}: SKIPPED, {skipped}"));
                continue;
            }
            let (count, passed) = (number(tally, "count"), number(tally, "passed"));
            let classes = words(tally.get("classes"));
            seen.lines.push(format!("{name}: {passed} of {count} vectors; refused: {classes}"));
            let mut fault = |what: String| seen.faults.push(format!("{name} {what}"));
            let expected = number(index, "count");
            if count != expected || passed != expected {
                fault(format!("passed {passed} of {count}, index.json has {expected}"));
            }
            if tally.get("classes") != index.get("classes") {
                let expected = words(index.get("classes"));
                fault(format!("refused {classes}, index.json has {expected}"));
            }
            match first {
                None => first = Some((name, tally)),
                Some((other, before)) => {
                    if let Some(vector) = difference(before, tally) {
                        fault(format!("and {other} differ in `{vector}`"));
                    }
                }
            }
        }
    }
    for tally in tallies {
        let name = text(tally, "door");
        if !DOORS.iter().any(|door| name.split(' ').next() == Some(door)) {
            seen.faults.push(format!("there is no door `{name}`"));
        }
    }
    seen
}

/// A vector that two doors did not end alike, or that one of them did not run.
fn difference(one: &Value, other: &Value) -> Option<String> {
    let vectors = |tally: &Value| tally.get("vectors").and_then(Value::as_object).cloned();
    let (one, other) = (vectors(one).unwrap_or_default(), vectors(other).unwrap_or_default());
    let mut names = one.keys().chain(other.keys());
    names.find(|name| one.get(*name) != other.get(*name)).cloned()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

fn words(classes: Option<&Value>) -> String {
    let classes = classes.and_then(Value::as_object).into_iter().flatten();
    let mut words: Vec<String> = classes.map(|(class, times)| format!("{class} {times}")).collect();
    words.sort();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::{DOORS, judged};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn index() -> Value {
        json!({"count": 2, "classes": {"usage": 1}})
    }

    fn tally(door: &str) -> Value {
        json!({
            "door": door, "count": 2, "passed": 2, "classes": {"usage": 1},
            "vectors": {"a: one": "answer", "a: two": "id_invalid"},
        })
    }

    fn all() -> Vec<Value> {
        DOORS.map(|door| tally(if door == "Python" { "Python 3.11" } else { door })).to_vec()
    }

    fn faults(tallies: &[Value], left_out: &[(&'static str, &str)]) -> String {
        let left_out: BTreeMap<&str, String> =
            left_out.iter().map(|(door, why)| (*door, (*why).to_owned())).collect();
        judged(&index(), tallies, &left_out).faults.join("; ")
    }

    #[test]
    fn doors_that_agree_have_a_line_each() {
        let seen = judged(&index(), &all(), &BTreeMap::new());
        assert_eq!(seen.faults, [""; 0]);
        assert_eq!(seen.lines.len(), DOORS.len());
        assert!(seen.lines.iter().all(|line| line.contains("2 of 2 vectors; refused: usage 1")));
    }

    #[test]
    fn a_door_is_missing_unless_it_was_skipped_out_loud() {
        for door in 0..DOORS.len() {
            let mut found = all();
            found.remove(door);
            let name = DOORS.get(door).copied().unwrap_or_default();
            assert!(faults(&found, &[]).contains(&format!("no runner of {name} ")));
            assert_eq!(faults(&found, &[(name, "no such program")]), "");
        }
        let mut found = all();
        found.remove(2);
        found.push(json!({"door": "C", "skipped": "gcc is not on this machine"}));
        assert_eq!(faults(&found, &[]), "");
    }

    #[test]
    fn a_door_that_differs_is_named_with_what_differs() {
        for (key, value, part) in [
            ("passed", json!(1), "passed 1 of 2, index.json has 2"),
            ("count", json!(3), "passed 2 of 3, index.json has 2"),
            ("classes", json!({"usage": 1, "state": 1}), "refused state 1, usage 1"),
            ("vectors", json!({"a: one": "answer", "a: two": "todo_unknown"}), "in `a: two`"),
            ("vectors", json!({"a: one": "answer"}), "in `a: two`"),
            ("door", json!("Lisp"), "there is no door `Lisp`"),
        ] {
            let mut found = all();
            for tally in found.iter_mut().skip(3).take(1).filter_map(Value::as_object_mut) {
                tally.insert(key.to_owned(), value.clone());
            }
            let said = faults(&found, &[]);
            assert!(said.contains(part), "{said}");
        }
    }
}
