//! Turns as pure steps: what an admission takes, what becomes of a turn that nobody
//! settles. Commands in `command/` put these together; nothing here stores.

pub mod lapse;

/// Seconds that a reservation lives when nobody says otherwise.
pub const DEFAULT_TTL_SECONDS: u64 = 60 * 60;
/// Most seconds that a reservation or a lease may live.
pub const MAX_TTL_SECONDS: u64 = 24 * 60 * 60;
