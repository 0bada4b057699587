//! What a server says when it does not do what was asked, as errors of a history.

use iolag_net::error_chain;
use iolag_net::postgres::Address;
use std::error::Error as _;

use postgres::error::SqlState;

use crate::history::HistoryError;

/// How long is waited for other writers, in seconds.
pub(super) const PATIENCE_SECONDS: u64 = 10;

/// Whether the same attempt fails until somebody changes the URL, the password or the server: the server knows us and refuses, or it
/// cannot prove who it is. A server that is starting, ending or overcrowded will take us later.
pub(super) fn is_refusal(error: &postgres::Error) -> bool {
    /// Invalid authorization, no such database, no right to it.
    const CLASSES: [&str; 3] = ["28", "3D", "42"];
    match error.code() {
        Some(state) => CLASSES.iter().any(|class| state.code().starts_with(class)),
        None => {
            let said = error_chain(error);
            ["password missing", "authentication", "certificate", "does not support TLS"]
                .iter()
                .any(|words| said.contains(words))
        }
    }
}

/// Why there is no connection, with what to do.
pub(super) fn connection_advice(address: &Address, error: &postgres::Error) -> String {
    let said = error.as_db_error().map_or_else(|| error_chain(error), |error| error.message().to_owned());
    let state = error.code();
    let is_refused = [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
        .iter()
        .any(|refusal| state == Some(refusal));
    let advice = if is_refused || said.contains("password missing") {
        match &address.password_hint {
            Some(hint) => hint.clone(),
            None => {
                "put the password into ~/.pgpass or PGPASSWORD, and check pg_hba.conf of the server".into()
            }
        }
    } else if state == Some(&SqlState::UNDEFINED_DATABASE) {
        "make it on the server with `createdb`".into()
    } else if said.contains("TLS") || said.contains("certificate") {
        "name the site's authority with sslrootcert=FILE, or see docs/history.md on sslmode".into()
    } else {
        "check host, port and firewall".into()
    };
    format!("{said}; {advice}")
}

/// What the server, or the connection, says of a statement.
pub(super) fn failed(address: &Address, error: &postgres::Error) -> HistoryError {
    let location = address.location.clone();
    let Some(said) = error.as_db_error() else {
        let what = error_chain(error);
        // A failure that is neither the server's nor one of conversion is one of the connection.
        return if error.is_closed() || error.source().is_some_and(|cause| cause.is::<std::io::Error>()) {
            HistoryError::Connection {
                location,
                what: format!("{what}; what was not finished was not written"),
            }
        } else {
            HistoryError::Database { location, what }
        };
    };
    let what = said
        .detail()
        .map_or_else(|| said.message().to_owned(), |detail| format!("{}: {detail}", said.message()));
    match said.code() {
        code if *code == SqlState::LOCK_NOT_AVAILABLE => {
            HistoryError::Busy { location, waited_seconds: PATIENCE_SECONDS }
        }
        code if *code == SqlState::DISK_FULL => HistoryError::Full { location, what },
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE || *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
            HistoryError::ReadOnly { location, what }
        }
        code if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED => {
            HistoryError::Damaged { location, what }
        }
        code if *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
            || ["08", "53", "57"].iter().any(|class| code.code().starts_with(class)) =>
        {
            HistoryError::Connection {
                location,
                what: format!("{what}; what was not finished was not written"),
            }
        }
        _ => HistoryError::Database { location, what },
    }
}
