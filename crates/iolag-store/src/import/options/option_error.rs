//! What is wrong with the text of an option.

/// A text that is none of the values of an option, with what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct OptionError {
    text: String,
    expected: &'static str,
}

impl OptionError {
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}
