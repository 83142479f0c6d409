//! The Markdown surface: parse, render, adopt hand edits, bring in an earlier
//! project. Pure functions over bytes; no file is opened and no store is asked here.

mod adopt;
mod derive;
mod document;
mod edits;
mod fresh;
mod grammar;
mod legacy;
mod metadata;
mod render;
mod slots;

pub use adopt::{Adoption, Edit, adopt};
pub use document::{Document, ParsedTodo, SectionKind};
pub use fresh::new_document;
pub use grammar::Checkbox;
pub use legacy::{Ledger, read_ledger};
pub use render::render;

use crate::model::TodoId;

/// Distance between the positions of neighbouring todos; leaves room for insertions.
pub const ORDER_STEP: i64 = 1024;

/// Whether an id only stands for a line that no write has adopted yet. It is not a
/// valid todo id, is never stored and is shown as null.
pub fn is_provisional(id: &TodoId) -> bool {
    id.as_str().starts_with('?')
}

#[cfg(test)]
mod tests;
