//! The vectors that all doors agree on, through Rust, the program and C. Node's and Python's
//! runners are `tests/node_vectors.test.mjs` and `tests/python/test_vectors.py`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::error::{CATALOGUE, ErrorClass};
use loopx_core::operation::Operation;
use loopx_tests::repository;
use loopx_tests::vectors::{Program, Rust, Vectors, folder};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

#[test]
fn vectors_through_rust() {
    Vectors::read().through(&mut Rust::default());
}

#[test]
fn vectors_through_the_program() {
    Vectors::read().through(&mut Program);
}

#[cfg(target_os = "linux")]
#[test]
fn vectors_through_c() {
    use loopx_tests::clib::{Linked, is_there};
    use loopx_tests::vectors::Library;
    if !is_there("gcc") {
        loopx_tests::vectors::skipped("C", "gcc is not on this machine");
        return loopx_tests::skip("the vectors through C", "gcc is not on this machine");
    }
    let sandbox = loopx_tests::Sandbox::new();
    let linked = Linked::below(sandbox.base());
    let program = linked.compiled("gcc", &repository().join("tests/c/door.c"), &[]);
    let mut library = Library::start(&program, &linked.lib());
    Vectors::read().through(&mut library);
    assert!(library.end(), "it ended badly");
}

#[test]
fn each_vector_has_a_name_of_its_own() {
    let all = Vectors::read();
    let names: BTreeSet<String> = all.vectors.iter().map(|v| v.name()).collect();
    assert_eq!(names.len(), all.vectors.len());
    assert_eq!(all.count, all.vectors.len());
    assert!(all.count >= 100);
    for vector in &all.vectors {
        assert!(vector.says.contains_key("why"), "{}: why is that right?", vector.name());
    }
}

/// Operations that have no right answer yet, and why.
const NEVER_ANSWERED: [(&str, &str); 1] =
    [("value_connector.run", "no value connector runs in this version: each is refused")];

/// Every operation is asked, and answered, at least once.
#[test]
fn every_operation_has_an_answer() {
    let all = Vectors::read();
    let answered = |name: &str| {
        all.vectors.iter().any(|v| {
            v.operation() == name
                && v.says.get("answer").is_some_and(|a| a.get("ok") != Some(&Value::Bool(false)))
        })
    };
    let missing: Vec<&str> =
        Operation::TABLE.iter().map(|row| row.1).filter(|name| !answered(name)).collect();
    assert_eq!(missing, NEVER_ANSWERED.map(|(name, _)| name));
}

/// Every code of the catalogue is refused with by a vector, or `elsewhere.json` says why no
/// vector can have it, and which test does.
#[test]
fn every_code_is_refused_with_or_named() {
    let all = Vectors::read();
    let mut refused: BTreeSet<&str> = all.vectors.iter().filter_map(|v| code(&v.says)).collect();
    // What is wrong with a state file that can be read is said beside the decision.
    let findings = all.vectors.iter().filter_map(|v| v.says.get("answer")?.get("findings"));
    let codes = findings.filter_map(Value::as_array).flatten().filter_map(|f| f.get("code"));
    refused.extend(codes.filter_map(Value::as_str));
    for row in CATALOGUE {
        let named = all.elsewhere.get(row.text);
        match (refused.contains(row.text), named) {
            (true, None) => {}
            (true, Some(_)) => panic!("{} is refused with, and named elsewhere", row.text),
            (false, None) => panic!("no vector is refused with {}", row.text),
            (false, Some(named)) => {
                let text = |key: &str| named.get(key).and_then(Value::as_str).unwrap_or_default();
                assert!(text("reason").len() > 20, "{}: {named}", row.text);
                tested(row.text, text("test"));
                if named.get("through_c").is_some() {
                    tested(row.text, text("through_c"));
                }
            }
        }
    }
    for code in all.elsewhere.keys() {
        assert!(CATALOGUE.iter().any(|row| row.text == code), "there is no code {code}");
    }
}

/// Every class that has a code which a vector can bring about is refused with, as often as
/// `index.json` says; each door's runner holds its own count against that file.
#[test]
fn every_class_is_refused_with() {
    let all = Vectors::read();
    let mut possible: BTreeMap<String, usize> = CATALOGUE
        .iter()
        .filter(|row| !all.elsewhere.contains_key(row.text))
        .map(|row| (word(row.class), 0))
        .collect();
    for error in all.vectors.iter().filter_map(|vector| vector.says.get("error")) {
        let class = error.get("class").and_then(Value::as_str).unwrap();
        *possible.get_mut(class).unwrap_or_else(|| panic!("no code of class {class}")) += 1;
    }
    assert_eq!(json!(possible), Value::Object(all.classes));
    assert!(possible.values().all(|times| *times > 0), "{possible:?}");
    // A class without a vector is had from a C program nevertheless.
    for row in CATALOGUE.iter().filter(|row| !possible.contains_key(&word(row.class))) {
        let of_its_class = CATALOGUE.iter().filter(|other| other.class == row.class);
        let mut named = of_its_class.filter_map(|other| all.elsewhere.get(other.text));
        let class = word(row.class);
        assert!(named.any(|named| named.get("through_c").is_some()), "{class}: nowhere through C");
    }
}

fn word(class: ErrorClass) -> String {
    json!(class).as_str().unwrap().to_owned()
}

/// The code of a refusal; that of an admission that is one is in its answer.
fn code(says: &serde_json::Map<String, Value>) -> Option<&str> {
    let refusal = says.get("error").or_else(|| says.get("answer"))?;
    let refused = says.contains_key("error") || refusal.get("ok") == Some(&Value::Bool(false));
    refusal.get("error_code").filter(|_| refused)?.as_str()
}

/// That a test `file::name` is there.
fn tested(code: &str, test: &str) {
    let (file, name) = test.rsplit_once("::").unwrap_or_else(|| panic!("{code}: no test"));
    let path = repository().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let there =
        if file.ends_with(".mjs") { format!("test(\"{name}\"") } else { format!("fn {name}(") };
    assert!(text.contains(&there), "{code}: no {name} in {file}");
}

/// A vector has no path of a machine, and no text that a person typed as a secret.
#[test]
fn the_files_hold_no_path_of_a_machine() {
    for entry in fs::read_dir(folder()).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        for path in ["/dev/shm", "/tmp/", "/root/"] {
            assert!(!text.contains(path), "{}: {path}", entry.path().display());
        }
    }
}

/// The runners of the other doors are there and read the same count.
#[test]
fn each_door_has_a_runner() {
    for file in ["tests/node_vectors.test.mjs", "tests/python/test_vectors.py"] {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        assert!(text.contains("index.json"), "{file}");
        assert!(text.contains("vectors through"), "{file}");
    }
}
