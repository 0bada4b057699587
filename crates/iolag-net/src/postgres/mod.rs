//! Where a PostgreSQL server is, as libpq understands a URL, and the password that goes with it.

mod address;
mod password;

pub use address::{Address, Misunderstood, shown};
pub use password::PasswordSources;

use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Protection;

/// What makes connections protected so, for the client library; or why it cannot be made, in a sentence.
///
/// # Errors
/// As [`Protection::client_config`].
pub fn connector(protection: &Protection) -> Result<MakeRustlsConnect, String> {
    protection.client_config("sslrootcert=FILE").map(MakeRustlsConnect::new)
}
