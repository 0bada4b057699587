//! Where a server is.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;

/// Where a server is, and how a connection to it is protected.
#[derive(Clone)]
pub struct Way {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) protection: Option<(ServerName<'static>, Arc<ClientConfig>)>,
}

impl std::fmt::Debug for Way {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Way").field(&self.to_string()).finish()
    }
}

/// Host and port.
impl std::fmt::Display for Way {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(formatter, "[{}]:{}", self.host, self.port),
            false => write!(formatter, "{}:{}", self.host, self.port),
        }
    }
}

impl Way {
    /// Without protection. An address of IPv6 is written without brackets.
    pub fn plain(host: &str, port: u16) -> Self {
        Self { host: host.to_owned(), port, protection: None }
    }

    /// Protected, with the server of that name.
    ///
    /// # Errors
    /// If a server of that name can have no certificate.
    pub fn protected(host: &str, port: u16, config: Arc<ClientConfig>) -> Result<Self, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            format!("{host:?} is neither a name nor an address that a certificate could be for")
        })?;
        Ok(Self { host: host.to_owned(), port, protection: Some((name, config)) })
    }
}
