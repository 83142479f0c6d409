//! Files of the repository that are made from the sources: where each is, and what it says.

mod bundle;
mod header;
mod node;
mod python;
mod typescript;

use bundle::Form;
use loopx_core::operation::Operation;
use loopx_core::schema;
use serde_json::json;

/// The schema of every request and of the packet, one to a line.
fn schemas() -> String {
    let lines: Vec<String> = Operation::TABLE
        .iter()
        .filter_map(|(op, name, ..)| Some(format!("{}:{}", json!(name), schema::request(*op)?)))
        .collect();
    format!("{{\"requests\":{{\n{}\n}},\n\"packet\":{}}}\n", lines.join(",\n"), schema::packet())
}

/// Path from the repository's root, and content.
pub fn generated() -> Vec<(&'static str, String)> {
    vec![
        ("docs/connectors.md", loopx_core::host::catalog::page()),
        ("docs/schemas.json", schemas()),
        ("ffi/include/loopx.h", header::text()),
        ("bindings-node/index.d.ts", node::declarations()),
        ("bindings-node/lib/operations.json", node::operations()),
        ("bindings-node/lib/retry.json", node::retry()),
        ("bindings-node/lib/version.json", node::version()),
        ("bindings-python/python/loopx/_operations.py", python::operations()),
        ("bindings-python/python/loopx/kernel.pyi", python::stubs()),
        ("bindings-python/python/loopx/types.py", python::types()),
        ("bindings-node/extensions/pi.js", bundle::of("extensions/pi/index.js", Form::Common)),
        (
            "bindings-node/extensions/opencode.js",
            bundle::of("extensions/opencode/index.js", Form::Named("LoopX")),
        ),
    ]
}
