//! Servers: where they are, who we are there, and how the way to them is protected.
//!
//! Used by what measures servers and by the history that is kept in one. A leaf: it knows neither.
//!
//! Invariants: no secret is in a message, in `{:?}` or in a location; what goes over a network is encrypted and the server proven unless
//! the user says otherwise; each part of coming to a server (its name, the connection, its proof) fails with a code of its own.

mod credentials;
#[cfg(feature = "postgres")]
pub mod postgres;
mod protection;
mod reach;
mod secret;
mod variables;

pub use credentials::{AccessKey, AddressingStyle, Login, S3Settings, login_of};
pub use protection::Protection;
pub use reach::{Stream, Unreached, Way, code_of, distrust};
pub use secret::Secret;
pub use variables::Variables;

/// What an error and its causes say.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
