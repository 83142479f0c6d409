//! An extension as one file that needs nothing beside it: what `loopx install` puts in place.

use super::node;

macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../bindings-node/", $name)))
    };
}

/// What the bundles are made of, each after what it needs.
const SOURCES: &[(&str, &str)] = &[
    source!("lib/error.cjs"),
    source!("lib/native.cjs"),
    source!("lib/binary.cjs"),
    source!("lib/kernel.cjs"),
    source!("lib/host-loop.cjs"),
    source!("lib/bridge.cjs"),
    source!("extensions/pi/index.js"),
    source!("extensions/opencode/index.js"),
];

fn module(name: &str, text: &str) -> String {
    let body: String = text
        .lines()
        .filter(|line| *line != "\"use strict\";")
        .map(|line| {
            format!("{}\n", if line.is_empty() { String::new() } else { format!("  {line}") })
        })
        .collect();
    format!("modules[{name:?}] = (module, require) => {{\n{body}}};\n\n")
}

/// The last part of a path, which is all that tells the modules apart.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// How a host loads a file, and what it makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `module.exports` is the extension.
    Common,
    /// Every export is a plugin.
    Named(&'static str),
}

/// The bundle of an entry. Made from what is generated, too, so that one run suffices.
pub fn of(entry: &str, form: Form) -> String {
    let mut out = String::from(HEAD);
    let json = |text: String| format!("module.exports = {};\n", text.trim_end());
    out.push_str(&module("operations.json", &json(node::operations())));
    out.push_str(&module("retry.json", &json(node::retry())));
    out.push_str(&module("version.json", &json(node::version())));
    for (name, text) in SOURCES {
        if name.starts_with("lib/") {
            out.push_str(&module(base(name), text));
        }
        if *name == entry {
            out.push_str(&module("entry", text));
        }
    }
    out.push_str(&match form {
        Form::Common => "module.exports = within(\"entry\");\n".to_owned(),
        Form::Named(name) => format!("export const {name} = within(\"entry\").{name};\n"),
    });
    out
}

const HEAD: &str =
    "// Made by `cargo xtask generate` from bindings-node/lib and bindings-node/extensions:
// one file that needs nothing beside it.
\"use strict\";

const modules = {};
const loaded = {};

/** A module of this file, else one of the engine. */
function within(name) {
  const known = name.slice(name.lastIndexOf(\"/\") + 1);
  if (!modules[known]) return require(name);
  if (!loaded[known]) {
    loaded[known] = { exports: {} };
    modules[known](loaded[known], within);
  }
  return loaded[known].exports;
}

";
