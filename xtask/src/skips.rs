//! What is left out, and why: said at once, and again in the list at the end.

use std::collections::BTreeMap;

/// What a run leaves out, step by step.
#[derive(Default)]
pub struct Skips {
    step: &'static str,
    whole: BTreeMap<&'static str, String>,
    parts: Vec<(&'static str, String)>,
}

impl Skips {
    /// From now on it is about this step.
    pub fn begin(&mut self, step: &'static str) {
        self.step = step;
    }

    /// The step as a whole is not made.
    pub fn whole(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        eprintln!("   SKIPPED: {reason}");
        self.whole.insert(self.step, reason);
    }

    /// A part of the step is not made.
    pub fn part(&mut self, what: impl Into<String>) {
        let what = what.into();
        eprintln!("   SKIPPED: {what}");
        self.parts.push((self.step, what));
    }

    /// Why a step was not made.
    pub fn reason(&self, step: &str) -> Option<&String> {
        self.whole.get(step)
    }

    /// Everything that was left out, a line each.
    pub fn lines(&self) -> Vec<String> {
        let whole = self.whole.iter().map(|(step, reason)| format!("{step} as a whole: {reason}"));
        let parts = self.parts.iter().map(|(step, what)| format!("{step}: {what}"));
        whole.chain(parts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Skips;

    #[test]
    fn what_is_left_out_is_listed_with_its_step_and_reason() {
        let mut skips = Skips::default();
        skips.begin("node");
        skips.part("there is no npm");
        skips.begin("python");
        skips.whole("maturin cannot be installed");
        skips.begin("tests");
        assert_eq!(skips.reason("python").map(String::as_str), Some("maturin cannot be installed"));
        assert_eq!((skips.reason("node"), skips.reason("tests")), (None, None));
        assert_eq!(
            skips.lines(),
            ["python as a whole: maturin cannot be installed", "node: there is no npm"]
        );
    }
}
