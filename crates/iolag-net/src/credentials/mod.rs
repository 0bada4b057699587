//! Who we are on a server, where that does not stand in its URL: where the field's own programs look.
//!
//! Invariant: a file with passwords that others may read is not read, and that is told; nothing of a file is in any message but its path
//! and the number of a line.

mod aws;
mod netrc;
mod private_file;

pub use aws::{AccessKey, AddressingStyle, S3Settings};
pub use netrc::{Login, login_of};
pub(crate) use private_file::read_private;
