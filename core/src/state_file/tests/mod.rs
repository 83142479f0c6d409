//! Tests of the Markdown surface.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod adopt;
mod document;
mod legacy;
mod property;
mod render;

use super::{Document, render as render_bytes};
use crate::model::{Instant, Todo};

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes()).unwrap()
}

fn now() -> Instant {
    Instant::parse("2026-11-29T21:00:00Z").unwrap()
}

/// The todos of a document, as an import would store them.
fn todos(document: &Document) -> Vec<Todo> {
    document.todos().iter().map(|p| p.todo.clone()).collect()
}

fn render(template: &Document, shown: &[Todo]) -> String {
    let shown: Vec<&Todo> = shown.iter().collect();
    String::from_utf8(render_bytes(template, &shown, None)).unwrap()
}

/// A state file with the given section bodies.
fn file(user: &str, agent: &str) -> String {
    format!(
        "---\nstatus: active\nobjective: \"o\"\nupdated_at: 2026-11-29T20:32:30+00:00\n---\n\n# Active Goal State\n\n## Objective\n\no\n\n\
         ## User Todo / Owner Review Reading Queue\n\n{user}\n\n## Agent Todo\n\n{agent}\n\n## Next Action\n\n\n\n## Progress Ledger\n\n- x\n"
    )
}
