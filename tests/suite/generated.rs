//! Files that are made from the sources are as the sources make them.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::fs;

#[test]
fn no_generated_file_is_stale() {
    let files = loopx_tests::generated::generated();
    assert!(!files.is_empty());
    for (path, content) in files {
        let found = fs::read_to_string(loopx_tests::repository().join(path)).unwrap_or_default();
        assert!(found == content, "{path} is stale: run `cargo xtask generate`");
    }
}

/// One version: the crates' and the npm package's.
#[test]
fn the_npm_package_has_the_version_of_the_workspace() {
    let text = fs::read_to_string(loopx_tests::repository().join("bindings-node/package.json"));
    let manifest: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
    let version = manifest.get("version").and_then(|v| v.as_str()).unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}

/// The page has every connector, and no connector that the catalogue lacks.
#[test]
fn the_page_of_connectors_is_the_catalogue() {
    let page = fs::read_to_string(loopx_tests::repository().join("docs/connectors.md")).unwrap();
    let listed = loopx_core::host::catalog::list();
    let ids: Vec<&str> = ["connectors", "candidates"]
        .iter()
        .flat_map(|key| listed.get(key).and_then(|l| l.as_array()).unwrap())
        .map(|c| c.get("id").and_then(|id| id.as_str()).unwrap())
        .collect();
    let headed: Vec<&str> =
        page.lines().filter_map(|l| l.strip_prefix("### `")?.strip_suffix('`')).collect();
    assert_eq!(headed, ids);
    for line in page.lines() {
        assert!(!line.contains("..") || line.starts_with('<'), "{line}");
    }
}
