//! Texts of one packet, without secrets and local paths. A packet may be said several
//! times until it fits; each text is looked through once.

use std::cell::RefCell;
use std::collections::HashMap;

use super::cut_clean;
use crate::boundary::redact_shown;

/// What was looked through, by the text as it is stored.
#[derive(Debug, Default)]
pub(super) struct Texts(RefCell<HashMap<String, String>>);

impl Texts {
    /// As [`super::cut`].
    pub fn cut(&self, text: &str, cap: usize) -> String {
        if let Some(clean) = self.0.borrow().get(text) {
            return cut_clean(clean, cap);
        }
        let clean = redact_shown(text).into_owned();
        let shown = cut_clean(&clean, cap);
        self.0.borrow_mut().insert(text.to_owned(), clean);
        shown
    }
}
