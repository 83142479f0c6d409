//! What an install did, or would do, as text.

use serde_json::Value;

use super::page::{Cell, Page, Tone};
use super::value::{items, text, yes};

/// `install`, `slash-commands --install` and `--uninstall`.
pub fn files(page: &mut Page, value: &Value) {
    let operation = text(value, "operation");
    let (tone, head) = match (yes(value, "ok"), yes(value, "dry_run")) {
        (false, _) => (Tone::Bad, "not whole"),
        (true, true) => (Tone::Wait, "preview"),
        (true, false) => (Tone::Good, "done"),
    };
    page.head(tone, head, &format!("{operation}, version {}", text(value, "version")));
    let rows = items(value, "installed")
        .iter()
        .map(|file| {
            vec![
                Cell::from(text(file, "status").replace('_', " ")),
                Cell::from(text(file, "path")),
                Cell::from(text(file, "note")),
            ]
        })
        .collect();
    page.table(&["state", "file", "note"], rows);
    page.command("next", text(value, "next_command"));
}

/// `slash-commands`.
pub fn slash_commands(page: &mut Page, value: &Value) {
    let rows = items(value, "commands")
        .iter()
        .map(|command| {
            vec![
                Cell::from(text(command, "command")),
                Cell::from(text(command, "intent")),
                Cell::from(text(command, "cli_reference")),
            ]
        })
        .collect();
    page.table(&["command", "does", "by"], rows);
    page.command("next", text(value, "next_command"));
}
