//! Replays the recorded admission scenarios, as `tests/conformance/run.py` does.
//!
//! `LOOPX_SCENARIOS` names another scenario file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::schedule::ExecutionContext;
use loopx_tests::process::{self, LIMIT};
use loopx_tests::vectors::{Asked, Door, Said};
use loopx_tests::{Sandbox, repository};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

struct Scenario {
    name: String,
    /// `recorded` on the earlier tool, or `corrected` where that one was wrong.
    source: String,
    rule: Value,
    now: String,
    argv: Vec<String>,
    exit_code: Option<i64>,
    expect: Map<String, Value>,
    files: Map<String, Value>,
}

impl Scenario {
    fn read(value: &Value) -> Self {
        let field = |key: &str| {
            value.get(key).unwrap_or_else(|| panic!("a scenario without `{key}`: {value:#}"))
        };
        let text = |key: &str| field(key).as_str().expect("it is text").to_owned();
        let object = |key: &str| field(key).as_object().expect("it is an object").clone();
        let argv = field("argv").as_array().expect("it is a list");
        Self {
            name: text("name"),
            source: text("source"),
            rule: field("rule").clone(),
            now: text("now"),
            argv: argv.iter().map(|arg| arg.as_str().expect("it is text").to_owned()).collect(),
            exit_code: value.get("exit_code").map(|code| code.as_i64().expect("it is a number")),
            expect: object("expect"),
            files: object("files"),
        }
    }

    /// One line for each thing that is not as expected of the program.
    fn differences(&self) -> Vec<String> {
        let sandbox = Sandbox::with_files(&self.files);
        let call = sandbox.at(&self.now);
        let Some(output) = process::finish(&mut call.command(&self.argv), b"", LIMIT) else {
            return vec![format!("timed out after {} s", LIMIT.as_secs())];
        };
        let Ok(answer) = serde_json::from_str::<Value>(&output.stdout) else {
            let start = |text: &str, length| text.chars().take(length).collect::<String>();
            return vec![format!(
                "stdout is not JSON: {:?} stderr {:?} (exit code {})",
                start(&output.stdout, 120),
                start(&output.stderr, 200),
                output.code,
            )];
        };
        self.of_answer(&answer, i64::from(output.code))
    }

    /// The same of a door that takes requests.
    fn differences_through(&self, door: &mut dyn Door) -> Vec<String> {
        let sandbox = Sandbox::with_files(&self.files);
        let open = json!({
            "registry": sandbox.registry(), "runtime_root": sandbox.runtime_root(),
            "cwd": sandbox.project(), "home": sandbox.home(), "now": self.now,
        });
        let request = self.request();
        let open = open.as_object().expect("it is an object");
        let asked = Asked { open, operation: "quota.should_run", request: &request };
        match door.call(&asked) {
            Said::Answer(answer) => {
                let refused = answer.get("ok") != Some(&Value::Bool(true));
                self.of_answer(&answer, i64::from(refused))
            }
            Said::Refusal(error) => vec![format!("it was refused: {error}")],
        }
    }

    /// The request that the command line means.
    fn request(&self) -> Value {
        let (command, mut words) = (self.argv.get(..2), self.argv.iter().skip(2));
        assert_eq!(command, Some(&["quota".to_owned(), "should-run".to_owned()][..]));
        let mut request = Map::new();
        let mut capabilities: Vec<&str> = Vec::new();
        while let Some(flag) = words.next() {
            let mut value = || words.next().expect("the flag has a value").as_str();
            match flag.as_str() {
                "--available-capability" => capabilities.push(value()),
                "--codex-app" => {
                    let profile = ExecutionContext::of_profile("codex_app_heartbeat");
                    request.insert("execution_context".into(), json!(profile));
                }
                "--runtime-profile" => {
                    let profile = ExecutionContext::of_profile(value());
                    request.insert("execution_context".into(), json!(profile));
                }
                "--goal-id" | "--agent-id" | "--turn-instance-id" => {
                    let key = flag.trim_start_matches('-').replace('-', "_");
                    request.insert(key, json!(value()));
                }
                _ => panic!("no request is known for {flag}"),
            }
        }
        request.insert("available_capabilities".into(), json!(capabilities));
        Value::Object(request)
    }

    fn of_answer(&self, answer: &Value, got: i64) -> Vec<String> {
        let mut differences = Vec::new();
        if let Some(code) = self.exit_code.filter(|code| *code != got) {
            differences.push(format!("exit code {got}, expected {code}"));
        }
        let mut expect = self.expect.clone();
        if self.exit_code == Some(0) {
            expect.insert("rule".into(), self.rule.clone());
        }
        for (path, want) in &expect {
            let got = pick(answer, path);
            if !same(got, want) {
                differences.push(format!("{path} = {got}, expected {want}"));
            }
        }
        differences
    }
}

/// The value under keys joined by dots; the text `<absent>` where there is none.
fn pick<'a>(answer: &'a Value, path: &str) -> &'a Value {
    static ABSENT: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| "<absent>".into());
    path.split('.').try_fold(answer, |value, key| value.as_object()?.get(key)).unwrap_or(&ABSENT)
}

/// Equality as Python has it for JSON: `1` is `1.0`. (`true` is not `1` here.)
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|it| same(value, it)))
        }
        _ => left == right,
    }
}

/// The scenarios that `DIFFERENCES.md` holds to be wrong, with the reason.
fn held_to_be_wrong() -> BTreeMap<String, String> {
    let path = repository().join("tests/conformance/DIFFERENCES.md");
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let entries = text.lines().filter_map(|line| line.strip_prefix("- `"));
    entries
        .map(|entry| {
            let (name, reason) = entry
                .split_once("`: ")
                .filter(|(_, reason)| !reason.trim().is_empty())
                .unwrap_or_else(|| panic!("DIFFERENCES.md gives no reason: - `{entry}"));
            (name.to_owned(), reason.trim().to_owned())
        })
        .collect()
}

#[test]
fn every_scenario_is_answered_as_recorded() {
    every_scenario("the program", Scenario::differences);
}

#[cfg(target_os = "linux")]
#[test]
fn every_scenario_is_answered_as_recorded_through_c() {
    use loopx_tests::clib::{Linked, is_there};
    use loopx_tests::vectors::Library;
    if !is_there("gcc") {
        return loopx_tests::skip("the scenarios through C", "gcc is not on this machine");
    }
    let sandbox = Sandbox::new();
    let linked = Linked::below(sandbox.base());
    let program = linked.compiled("gcc", &repository().join("tests/c/door.c"), &[]);
    let mut library = Library::start(&program, &linked.lib());
    every_scenario("C", |scenario| scenario.differences_through(&mut library));
    assert!(library.end(), "it ended badly");
}

fn every_scenario(door: &str, mut differences: impl FnMut(&Scenario) -> Vec<String>) {
    let own = PathBuf::from("tests/conformance/scenarios.json");
    let other = env::var_os("LOOPX_SCENARIOS").map(PathBuf::from);
    let path = repository().join(other.as_ref().unwrap_or(&own));
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let scenarios: Value = serde_json::from_slice(&text).expect("the scenarios are JSON");
    let scenarios: Vec<Scenario> =
        scenarios.as_array().expect("a list").iter().map(Scenario::read).collect();
    assert!(!scenarios.is_empty(), "{} has no scenario", path.display());

    let mut held = held_to_be_wrong();
    let mut passed = 0;
    let mut report = String::new();
    for scenario in &scenarios {
        let differences = differences(scenario);
        let Scenario { name, source, .. } = scenario;
        match (held.remove(name), differences.is_empty()) {
            (None, true) | (Some(_), false) => {
                passed += 1;
                continue;
            }
            (None, false) => writeln!(report, "FAIL {name} ({source})"),
            (Some(reason), true) => writeln!(
                report,
                "FAIL {name} ({source})\n     \
                 it matches, so its line in DIFFERENCES.md is stale: {reason}"
            ),
        }
        .expect("a string can be written to");
        for difference in differences {
            writeln!(report, "     {difference}").expect("a string can be written to");
        }
    }
    if other.is_none() {
        for name in held.keys() {
            report.push_str("FAIL DIFFERENCES.md names a scenario that is not there: ");
            report.push_str(name);
            report.push('\n');
        }
    }
    let failed = scenarios.len() - passed;
    println!("{passed} scenarios through {door} as expected, {failed} not, of {}", path.display());
    assert!(report.is_empty(), "\n{report}{passed} scenarios as expected, {failed} not");
}

#[test]
fn numbers_are_compared_by_value() {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert!(same(&value("{\"a\": [1, 2.5]}"), &value("{\"a\": [1.0, 2.5]}")));
    assert!(!same(&value("1"), &value("true")));
    assert!(!same(&value("[1]"), &value("[1, 2]")));
    assert_eq!(pick(&value("{\"a\": {\"b\": 3}}"), "a.b"), &value("3"));
    assert_eq!(pick(&value("{\"a\": {\"b\": 3}}"), "a.c"), "<absent>");
}
