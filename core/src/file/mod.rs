//! Files: locks, atomic replacement, kinds of file system, digests. Nothing about
//! what a file holds.

pub mod digest;
pub mod filesystem;
pub mod holder;
pub mod leftover;
pub mod lock;
pub mod patience;
pub mod process;
pub mod read;
pub mod replace;
pub mod stamp;
pub mod worktree;

pub use digest::{sha256_hex, sha256_of};
pub use filesystem::refuse_network;
pub use holder::{Holder, HolderNote, read_holder};
pub use lock::{FileLock, LockMode, is_held};
pub use read::{read_bounded, resolve_target};
pub use replace::{Durability, Exchanged, exchange, replace, replace_with_mode, sync_replaced};
pub use stamp::Stamp;
