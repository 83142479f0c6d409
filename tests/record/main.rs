//! Answers the shared vectors anew: `loopx-record [PART OF A NAME]`, run by
//! `cargo xtask vectors`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let only = std::env::args().nth(1).unwrap_or_default();
    match loopx_tests::vectors::record(&only) {
        Ok(changed) => {
            for name in &changed {
                println!("{name}");
            }
            eprintln!("{} answers are new; look at the difference", changed.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
