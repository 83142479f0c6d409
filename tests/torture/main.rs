//! `loopx-torture SECONDS`: see `loopx_tests::torture`. Called by `cargo xtask torture`. As
//! `loopx-torture hold REGISTRY RUNTIME_ROOT` it is one of the processes that hold a kernel.

#![allow(clippy::expect_used, reason = "wrong usage ends it")]

use loopx_tests::torture::{Options, hold, run};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("hold".as_ref()) {
        hold::run(arguments.map(PathBuf::from));
        return ExitCode::SUCCESS;
    }
    let seconds = first.and_then(|text| text.to_str()?.parse().ok());
    let seconds: u64 = seconds.expect("loopx-torture SECONDS");
    let me = std::env::current_exe().expect("the path of this program");
    let report = run(&Options::lasting(Duration::from_secs(seconds), me));
    println!("{report}");
    if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
