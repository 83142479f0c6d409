//! The short form of `cargo xtask torture`.

#![cfg(unix)]

use loopx_tests::torture::{Options, run};
use std::time::Duration;

#[test]
fn twenty_seconds_of_kills_stops_and_faults_lose_nothing_and_double_nothing() {
    let holder = env!("CARGO_BIN_EXE_loopx-torture").into();
    let report = run(&Options::lasting(Duration::from_secs(20), holder));
    println!("{report}");
    let (commands, handles) = (&report.commands, &report.handles);
    assert!(
        report.operations() > 50 && commands.killed > 5 && handles.killed > 2,
        "too little happened: {report}"
    );
    assert!(commands.acknowledged > 10 && handles.acknowledged > 10, "a door was shut: {report}");
    assert!(report.violations.is_empty(), "{report}");
}
