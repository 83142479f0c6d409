//! The sliding window: what counts, what is left, when the next slot comes free.
//! Arithmetic only; the records are kept by the store.

pub mod window;

pub use window::{WindowUse, window_start};
