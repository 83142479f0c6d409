//! One line per event, for logs that others may read: words, ids and numbers, no task
//! text, no path, nothing that a child printed.

use loopx_core::boundary::redact_shown;
use loopx_core::model::Instant;
use loopx_core::model::time::MICROS_PER_SECOND;
use serde_json::{Map, Value};

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `<UTC instant> status=... key=value`.
    Text,
    /// One JSON object a line.
    Json,
}

/// A line that is being put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    at: Instant,
    fields: Map<String, Value>,
}

impl Line {
    /// A line of that kind.
    pub fn new(at: Instant, status: &str) -> Self {
        // Whole seconds are enough for a log, and have one width.
        let at = at.plus_micros(-at.micros().rem_euclid(MICROS_PER_SECOND));
        let mut fields = Map::new();
        fields.insert("at".into(), at.to_string().into());
        fields.insert("status".into(), status.into());
        Self { at, fields }
    }

    /// With a field; nothing, when it is null.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => redact_shown(&text).into_owned().into(),
            other => other,
        };
        if !value.is_null() {
            self.fields.insert(key.into(), value);
        }
        self
    }

    /// With a text that is made of our own words and ids, in which the name of a session
    /// would be taken for a secret.
    #[must_use]
    pub fn with_own(mut self, key: &str, text: &str) -> Self {
        self.fields.insert(key.into(), text.into());
        self
    }

    /// As JSON.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut line = self.at.to_string();
        for (key, value) in self.fields.iter().filter(|(key, _)| *key != "at") {
            line.push(' ');
            line.push_str(key);
            line.push('=');
            line.push_str(&shown(value));
        }
        line
    }

    /// As it is written.
    pub fn shown(&self, form: Form) -> String {
        match form {
            Form::Text => self.text(),
            Form::Json => Value::Object(self.fields.clone()).to_string(),
        }
    }
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().is_empty() { "-".into() } else { crate::process::words::quoted(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_whose_values_a_shell_reads_back() {
        let at = Instant::parse("2026-11-29T20:57:33.123456Z").unwrap();
        let line = Line::new(at, "waiting")
            .with("class", "human_gate")
            .with("next_check_minutes", 30)
            .with("reason", "a person's\nanswer")
            .with("todo", "")
            .with("gone", Value::Null);
        assert_eq!(
            line.text(),
            "2026-11-29T20:57:33Z status=waiting class=human_gate next_check_minutes=30 \
             reason='a person'\\''s answer' todo=-"
        );
        let value: Value = serde_json::from_str(&line.shown(Form::Json)).unwrap();
        assert_eq!(value["next_check_minutes"], 30);
        assert_eq!(value["at"], "2026-11-29T20:57:33Z");
    }

    #[test]
    fn secrets_and_paths_do_not_get_into_a_line() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        let line = Line::new(Instant::default(), "tick_error")
            .with("reason", format!("{token} in /home/someone/project"));
        assert!(
            !line.text().contains(&token) && !line.text().contains("someone"),
            "{}",
            line.text()
        );
    }
}
