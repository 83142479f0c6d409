//! `loopx-fuzz TARGET SECONDS`: see `loopx_tests::fuzz`. Called by `cargo xtask fuzz`.

#![allow(clippy::expect_used, reason = "wrong usage ends it")]

use loopx_tests::fuzz::{Target, campaign};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let target = args.next().and_then(|name| Target::named(&name));
    let seconds: Option<u64> = args.next().and_then(|text| text.parse().ok());
    let (target, seconds) = target.zip(seconds).expect("loopx-fuzz TARGET SECONDS");
    let (inputs, found) = campaign(target, Duration::from_secs(seconds));
    println!("{}: {inputs} inputs, {} panics", target.name(), found.len());
    for path in &found {
        println!("  kept in {}", path.display());
    }
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
