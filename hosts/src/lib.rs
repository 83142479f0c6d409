//! Everything of LoopX that starts a process or opens a socket. The rules stay in
//! `loopx-core`; here are children and their groups, signals, waiting, and the loop of
//! the external worker.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod alarm;
pub mod process;
pub mod signals;
pub mod worker;
