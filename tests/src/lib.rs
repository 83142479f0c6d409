//! Support for the end-to-end tests: the real binary, run as a process in a
//! project folder of its own. Nothing is mocked and no code of the kernel is called.
//!
//! Everything here stops the test with the whole story when something is off, so
//! nothing returns an error.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot be set up has to stop, and say where"
)]

mod binary;
#[cfg(unix)]
pub mod clib;
pub mod earlier;
#[cfg(unix)]
pub mod faults;
#[cfg(unix)]
pub mod fuzz;
pub mod generated;
pub mod goal;
mod layout;
mod parallel;
pub mod process;
mod sandbox;
pub mod strace;
#[cfg(unix)]
pub mod torture;
pub mod tree;
pub mod vectors;
#[cfg(unix)]
pub mod worker;

pub use binary::{binary, python_worker, repository};
pub use layout::lay_out;
pub use parallel::at_once;
pub use process::Output;
pub use sandbox::{Call, Sandbox};

/// Says that something is not tested here, and why. The test then passes.
pub fn skip(what: &str, why: &str) {
    eprintln!("\nSKIPPED: {what}\n         {why}\n");
}
