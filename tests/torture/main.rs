//! `loopx-torture SECONDS`: see `loopx_tests::torture`. Called by `cargo xtask torture`.

#![allow(clippy::expect_used, reason = "wrong usage ends it")]

use loopx_tests::torture::{Options, run};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let seconds: u64 = seconds.expect("loopx-torture SECONDS");
    let report = run(&Options::lasting(Duration::from_secs(seconds)));
    println!("{report}");
    if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
