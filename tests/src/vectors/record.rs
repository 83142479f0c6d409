//! The recorder: answers every vector by the kernel in process and writes what it says into the
//! files. What it writes is to be looked at before it is committed.

use super::tally::Tally;
use super::{Rust, Said, Vector, Vectors, files, folder};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::panic::catch_unwind;

/// Answers the vectors whose name has `only` in it; the names of those whose answer is new.
/// Each is asked twice, in folders of their own: what then differs is no vector.
pub fn record(only: &str) -> io::Result<Vec<String>> {
    let all = Vectors::read();
    let mut changed = Vec::new();
    let mut tally = Tally::default();
    for (file, mut content) in files() {
        if file == "index" {
            continue;
        }
        let before = content.clone();
        for says in content.get_mut("vectors").and_then(Value::as_array_mut).into_iter().flatten() {
            let map = says.as_object_mut().expect("a vector is an object");
            let vector = Vector { file: file.clone(), says: map.clone() };
            if !vector.name().contains(only) {
                tally.passed(vector.name(), &as_written(map));
                continue;
            }
            let twice = catch_unwind(|| [(); 2].map(|()| answered(&all, &vector)));
            let Ok([(key, said), again]) = twice else {
                eprintln!("NOT ANSWERED: {}", vector.name());
                tally.passed(vector.name(), &as_written(map));
                continue;
            };
            if again != (key, said.clone()) {
                eprintln!("DIFFERS FROM RUN TO RUN: {}\n{said}\n{}", vector.name(), again.1);
                tally.passed(vector.name(), &as_written(map));
                continue;
            }
            let old: Map<String, Value> = map.clone();
            map.retain(|key, _| !["answer", "error"].contains(&key.as_str()));
            map.insert(key.to_owned(), said);
            tally.passed(vector.name(), &as_written(map));
            if *map != old {
                changed.push(vector.name());
            }
        }
        if content != before {
            write(&file, &content)?;
        }
    }
    write("index", &json!({"count": tally.count(), "classes": tally.classes()}))?;
    Ok(changed)
}

fn answered(all: &Vectors, vector: &Vector) -> (&'static str, Value) {
    match all.said(vector, &mut Rust::default()) {
        (world, Said::Answer(answer)) => ("answer", world.named(&answer)),
        (world, Said::Refusal(error)) => ("error", world.named(&error)),
    }
}

/// What a vector has, as its answer.
fn as_written(says: &Map<String, Value>) -> Said {
    match says.get("error") {
        Some(error) => Said::Refusal(error.clone()),
        None => Said::Answer(Value::Null),
    }
}

fn write(file: &str, content: &Value) -> io::Result<()> {
    let text = serde_json::to_string_pretty(content).expect("it is JSON");
    fs::write(folder().join(format!("{file}.json")), text + "\n")
}
