//! Why a server was not reached: in which part, and what to do.

use std::io;

use iolag_model::{FailureCode, Operation};
use rustls::{AlertDescription, CertificateError, Error};

use super::way::Way;

/// A server that was not reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said}")]
pub struct Unreached {
    /// Which part failed: `call.resolve`, `call.connect` or `call.tls`.
    pub part: Operation,
    /// Why, as a number.
    pub code: FailureCode,
    /// Why, as a sentence with what to do, without secrets.
    pub said: String,
}

impl Unreached {
    pub(super) fn resolving(way: &Way, code: u8) -> Self {
        let why = match -i32::from(code) {
            libc::EAI_NONAME | libc::EAI_NODATA => "no such name; check the spelling",
            libc::EAI_AGAIN => {
                "the name service does not answer; check /etc/resolv.conf, or name the address"
            }
            _ => "the name service failed; name the address, or ask the name's owner",
        };
        let said = format!("cannot resolve the name {}: {why}", way.host);
        Self { part: Operation::CallResolve, code: FailureCode::resolution(code), said }
    }

    pub(super) fn connecting(way: &Way, error: &io::Error) -> Self {
        let code = code_of(error);
        let advice = match code.errno() {
            Some(libc::ECONNREFUSED) => "; check the port, and that the server runs",
            Some(libc::EHOSTUNREACH | libc::ENETUNREACH) => "; check the route and the firewall",
            Some(libc::ETIMEDOUT) => "; the server or a firewall drops what is sent there",
            Some(libc::EADDRNOTAVAIL) => {
                "; no local port is left: each lasts a minute after its connection (--session reuse needs one per client)"
            }
            Some(libc::EMFILE) => "; raise the limit of open files (ulimit -n), or use fewer clients",
            _ => "",
        };
        let said = format!("cannot connect to {way}: {}{advice}", plain(error));
        Self { part: Operation::CallConnect, code, said }
    }

    pub(super) fn protecting(way: &Way, error: &io::Error) -> Self {
        let part = Operation::CallTls;
        let Some((code, why)) = distrust(error) else {
            let said = format!("{way} ended the connection while TLS was agreed on: {}", plain(error));
            return Self { part, code: code_of(error), said };
        };
        Self { part, code, said: format!("cannot trust {way}: {why}") }
    }
}

/// Why TLS was not agreed on, as a code and in a sentence with what to do; `None` where the connection failed for another reason.
pub fn distrust(error: &io::Error) -> Option<(FailureCode, String)> {
    let failed = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match failed {
        Error::InvalidCertificate(reason) => {
            (alert(AlertDescription::from(reason.clone())), certificate(reason))
        }
        Error::AlertReceived(description) => {
            (alert(*description), format!("the server says {description:?}"))
        }
        Error::InvalidMessage(_) => (
            alert(AlertDescription::DecodeError),
            "it does not speak TLS on this port; check the port, or use the scheme without TLS".to_owned(),
        ),
        other => (alert(AlertDescription::HandshakeFailure), other.to_string()),
    })
}

fn alert(description: AlertDescription) -> FailureCode {
    FailureCode::tls(u8::from(description))
}

/// What is wrong with a certificate, and what to do.
fn certificate(reason: &CertificateError) -> String {
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate is out of date; have it renewed, or check the clock of this host".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet; check the clock of this host".to_owned()
        }
        CertificateError::UnknownIssuer => {
            "no authority that this host trusts vouches for its certificate; name the site's authority with --ca-file FILE"
                .to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name; use the name that it was made for".to_owned()
        }
        CertificateError::Revoked => "its certificate was revoked; have it renewed".to_owned(),
        other => format!("its certificate is not valid ({other})"),
    }
}

/// The number of a failure of a connection.
pub fn code_of(error: &io::Error) -> FailureCode {
    let errno = error.raw_os_error().or_else(|| match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Some(libc::ECONNRESET),
        io::ErrorKind::BrokenPipe => Some(libc::EPIPE),
        io::ErrorKind::ConnectionAborted => Some(libc::ECONNABORTED),
        io::ErrorKind::TimedOut => Some(libc::ETIMEDOUT),
        io::ErrorKind::AddrNotAvailable => Some(libc::EADDRNOTAVAIL),
        _ => None,
    });
    errno.map_or(FailureCode::PROTOCOL, FailureCode::from_errno)
}

/// What the system says, without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(before, _)| before.to_owned())
}
