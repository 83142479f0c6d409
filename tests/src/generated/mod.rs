//! Files of the repository that are made from the sources: where each is, and what it says.

mod bundle;
mod node;
mod typescript;

use bundle::Form;

/// Path from the repository's root, and content.
pub fn generated() -> Vec<(&'static str, String)> {
    vec![
        ("docs/connectors.md", loopx_core::host::catalog::page()),
        ("bindings-node/index.d.ts", node::declarations()),
        ("bindings-node/lib/operations.json", node::operations()),
        ("bindings-node/lib/version.json", node::version()),
        ("bindings-node/extensions/pi.js", bundle::of("extensions/pi/index.js", Form::Common)),
        (
            "bindings-node/extensions/opencode.js",
            bundle::of("extensions/opencode/index.js", Form::Named("LoopX")),
        ),
    ]
}
