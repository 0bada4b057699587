//! The history of a site: a PostgreSQL server that several hosts write to.
//!
//! Invariants: writers of the tables take turns (an advisory lock, held for one transaction), so that changes become visible in the order of
//! their marks and no two writers wait for each other's rows; a password comes from the URL, the environment or a password file, and
//! is in no message; what goes over a network is encrypted and the server proven, unless the URL says otherwise.
//!
//! Limits: no client certificates, no Kerberos; connections must keep their session (a pooler in session mode does).

mod connection;
mod migrations;
mod refusals;

pub use connection::PostgresEngine;
use iolag_net::Variables;
pub use iolag_net::postgres::PasswordSources;
pub(crate) use iolag_net::postgres::shown;

use iolag_net::postgres::Address;

use super::{Access, DatabaseHistory, HistoryError, same_scheme};

/// A history in a PostgreSQL server.
pub type PostgresHistory = DatabaseHistory<PostgresEngine>;

impl DatabaseHistory<PostgresEngine> {
    /// Connects to the history at `url`: `postgres://USER@HOST:PORT/DATABASE`, with the parameters `sslmode`, `sslrootcert`, `host` (for
    /// sockets) and those of the connection that `postgres::Config` knows. The password may stand in the URL, in `PGPASSWORD`, or
    /// in the file that `PGPASSFILE` names, `~/.pgpass` by default.
    ///
    /// # Errors
    /// If the server cannot be reached or does not let us in, or the history there is missing, newer, or not to be written.
    pub fn connect(url: &str, access: Access) -> Result<Self, HistoryError> {
        Self::connect_with(url, access, &PasswordSources::of(&Variables::of_process()))
    }

    /// The same with the password looked for in `passwords`.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn connect_with(
        url: &str,
        access: Access,
        passwords: &PasswordSources,
    ) -> Result<Self, HistoryError> {
        let address = Address::parse(&same_scheme(url), passwords)
            .map_err(|error| HistoryError::Place { location: error.location, what: error.what })?;
        PostgresEngine::connect(address, access).map(Self::new)
    }
}
