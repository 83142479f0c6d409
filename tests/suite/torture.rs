//! The short form of `cargo xtask torture`.

#![cfg(unix)]

use loopx_tests::torture::{Options, run};
use std::time::Duration;

#[test]
fn twenty_seconds_of_kills_stops_and_faults_lose_nothing_and_double_nothing() {
    let report = run(&Options::lasting(Duration::from_secs(20)));
    println!("{report}");
    assert!(report.operations > 50 && report.killed > 5, "too little happened: {report}");
    assert!(report.violations.is_empty(), "{report}");
}
