//! A typed refusal: what, about what, and how to go on.

use serde_json::Value;

use super::page::{Page, Tone};
use super::value::text;

pub fn refusal(page: &mut Page, value: &Value) {
    let sentence = match text(value, "error") {
        "" => text(value, "reason"),
        said => said,
    };
    page.head(Tone::Bad, "refused", sentence);
    page.line("code", text(value, "error_code"));
    page.line("about", text(value, "about"));
    page.command("next", text(value, "next_command"));
}
