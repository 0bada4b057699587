//! Files that users write: what is read of them, and errors that name file and line.

mod error;
mod file;
mod programs;
mod source;

pub use error::DocumentError;
pub use file::{DEADLINE, Purpose, UserFile};
pub use programs::{command_of, found_programs};
pub use source::{SHORTEST, Source};

/// A text with its place in the file.
pub type Text = toml::Spanned<String>;
