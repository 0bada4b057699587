//! Why a request failed: by what the driver says, and the server in its own numbers.

use std::io;

use iolag_model::FailureCode;
use iolag_net::{code_of, distrust};
use mongodb::error::{Error, ErrorKind, WriteFailure};

/// Why a request failed.
#[derive(Debug, Clone)]
pub(super) struct Failed {
    pub(super) code: FailureCode,
    /// Without secrets.
    pub(super) said: String,
}

impl From<&Error> for Failed {
    fn from(error: &Error) -> Self {
        let errno = FailureCode::from_errno;
        let (code, said) = match error.kind.as_ref() {
            ErrorKind::Io(cause) => of_connection(cause),
            ErrorKind::Command(answer) => of_server(answer.code, Some(&answer.code_name), &answer.message),
            ErrorKind::Write(WriteFailure::WriteError(answer)) => {
                of_server(answer.code, answer.code_name.as_deref(), &answer.message)
            }
            ErrorKind::Write(WriteFailure::WriteConcernError(answer)) => {
                of_server(answer.code, Some(&answer.code_name), &answer.message)
            }
            ErrorKind::Authentication { message, .. } => (errno(libc::EACCES), message.clone()),
            ErrorKind::ServerSelection { .. } => {
                (errno(libc::ETIMEDOUT), "the driver found no server that answers".to_owned())
            }
            ErrorKind::ConnectionPoolCleared { .. } => (
                errno(libc::ECONNRESET),
                "the driver has given up all connections, because one has failed".to_owned(),
            ),
            ErrorKind::InvalidTlsConfig { message, .. } => {
                (FailureCode::tls(HANDSHAKE_FAILURE), message.clone())
            }
            ErrorKind::InvalidArgument { message, .. } => (errno(libc::EINVAL), message.clone()),
            ErrorKind::IncompatibleServer { message, .. } => (errno(libc::EOPNOTSUPP), message.clone()),
            other => (FailureCode::PROTOCOL, other.to_string()),
        };
        // Some servers say it in several lines.
        Self { code, said: crate::redact(&said).replace('\n', " ") }
    }
}

/// The alert of TLS (RFC 8446, 6.2) for what has no other.
const HANDSHAKE_FAILURE: u8 = 40;

fn of_connection(cause: &io::Error) -> (FailureCode, String) {
    if let Some((code, why)) = distrust(cause) {
        return (code, format!("cannot trust the server: {why}"));
    }
    let said = cause.to_string();
    match said.strip_prefix("failed to lookup address information") {
        // The system's own number is lost on the way through the driver.
        Some(_) => (FailureCode::resolution(libc::EAI_NONAME.unsigned_abs() as u8), said),
        None => (code_of(cause), said),
    }
}

fn of_server(number: i32, name: Option<&str>, message: &str) -> (FailureCode, String) {
    let name = name.filter(|name| !name.is_empty()).map(|name| format!(" {name}")).unwrap_or_default();
    (code_of_server(number), format!("error {number}{name}: {message}"))
}

/// The codes of MongoDB (error_codes.yml of its sources) that say the same as one of the system.
fn code_of_server(number: i32) -> FailureCode {
    let errno = match number {
        // No such user, not allowed, not known, to be told again who we are.
        11 | 13 | 18 | 391 => libc::EACCES,
        // No such namespace.
        26 => libc::ENOENT,
        // There is such a namespace, such a key.
        48 | 11000 | 11001 | 12582 => libc::EEXIST,
        // A lock, a network or what was asked took too long.
        24 | 50 | 64 | 89 | 202 | 262 => libc::ETIMEDOUT,
        // A lock is taken, another write came first, the server has too much to do.
        46 | 112 | 462 => libc::EBUSY,
        // No such command, or not here.
        59 | 115 | 238 | 303 => libc::EOPNOTSUPP,
        // A bad value, or a bad name.
        2 | 9 | 14 | 73 => libc::EINVAL,
        6 | 7 => libc::EHOSTUNREACH,
        // It shuts down, or is not or no longer the one that takes writes.
        91 | 189 | 9001 | 10058 | 10107 | 11600 | 11602 | 13435 | 13436 => libc::ECONNRESET,
        // A document of more than 16 MB.
        10334 | 17419 | 17420 => libc::EFBIG,
        14031 => libc::ENOSPC,
        _ => return FailureCode::PROTOCOL,
    };
    FailureCode::from_errno(errno)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::ErrorClass;

    #[test]
    fn a_number_of_the_server_has_the_class_that_users_think_in() {
        for (number, class) in [
            (13, ErrorClass::Permission),
            (26, ErrorClass::NotFound),
            (50, ErrorClass::TimedOut),
            (112, ErrorClass::Busy),
            (238, ErrorClass::NotSupported),
            (10107, ErrorClass::Connection),
            (11000, ErrorClass::Exists),
            (14031, ErrorClass::NoSpace),
            (987_654, ErrorClass::Protocol),
        ] {
            let (code, said) = of_server(number, Some("Name"), "why");
            assert_eq!(code.class(), class);
            assert_eq!(said, format!("error {number} Name: why"));
        }
    }
}
