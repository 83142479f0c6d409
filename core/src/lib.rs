//! The LoopX admission kernel.
//!
//! Before a host spends a model turn, the kernel answers in one packet: may this
//! agent run, on what, told what, and when should it look again. After the turn it
//! commits the evidence and spends one slot, exactly once. It runs no process, opens
//! no socket and reads no environment; see `ARCHITECTURE.md` for the map.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod admission;
pub mod boundary;
pub mod command;
pub mod error;
pub mod file;
pub mod host;
pub mod host_loop;
pub mod kernel;
pub mod model;
pub mod operation;
pub mod prompt;
pub mod quota;
pub mod registry;
pub mod schedule;
#[cfg(feature = "schema")]
pub mod schema;
pub mod start;
pub mod state_file;
pub mod store;
pub mod turn;

pub use error::{Error, ErrorCode, Result};
