//! Files of a project, as `tests/conformance/run.py` lays them out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// Writes each file under `root`. A body is text, in which `{root}` stands for that
/// folder, or `{"base64": "..."}` for bytes that are not text.
pub fn lay_out(root: &Path, files: &Map<String, Value>) {
    let root_text = root.to_str().expect("a temporary folder has a UTF-8 name");
    for (relative, body) in files {
        let path = root.join(relative);
        let folder = path.parent().expect("a file lies in a folder");
        fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let bytes = match body {
            Value::String(text) => text.replace("{root}", root_text).into_bytes(),
            other => other
                .get("base64")
                .and_then(Value::as_str)
                .map(|text| STANDARD.decode(text).expect("the body is base64"))
                .unwrap_or_else(|| panic!("{relative}: neither text nor base64: {other}")),
        };
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
