//! How sure what is known of a file is.

/// Where something known about a file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// The caller said so.
    Declared,
    /// It was concluded from all rows.
    Guessed,
    /// Nothing said so: it is what is most common.
    Assumed,
}
