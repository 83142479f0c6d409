//! What the wheel says of the operations: the table that its methods are made from.

use loopx_core::operation::Operation;

/// Shorter names of operations that hosts ask all the time.
const SHORT: &[(&str, &str)] = &[("quota.should_run", "should_run")];

/// Names that a method cannot have.
const KEYWORDS: &[&str] = &["import"];

/// `task_lease.acquire` as `task_lease_acquire`.
fn method(operation: &str) -> String {
    if let Some((_, short)) = SHORT.iter().find(|(name, _)| *name == operation) {
        return (*short).to_owned();
    }
    let name = operation.replace('.', "_");
    if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// `loopx/_operations.py`: name, method and sentence of every operation.
pub fn operations() -> String {
    let mut out = String::from(
        "# Made by `cargo xtask generate` from the table of operations. Do not edit: a test\n\
         # compares it with what the sources say.\n\nOPERATIONS = (\n",
    );
    for (_, name, _, sentence) in Operation::TABLE {
        out.push_str(&format!("    ({name:?}, {:?}, {sentence:?}),\n", method(name)));
    }
    out.push_str(")\n");
    out
}
