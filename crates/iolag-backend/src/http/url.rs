//! What the URL of a web server says.

use std::fmt;
use std::path::PathBuf;

use iolag_net::Secret;
use url::{Host, Url};

use crate::servers::{decoded, settings_of};

/// Whether the server is asked for what plain web servers cannot: to list, and to make collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    Plain,
    WebDav,
}

/// A place on a web server: `http://`, `https://`, `dav://` or `davs://`, and for iolag alone what is after a `#`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct WebUrl {
    /// As it was written.
    text: String,
    pub(crate) kind: &'static str,
    pub(crate) speech: Speech,
    pub(crate) is_protected: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<Secret>,
    /// Encoded; begins with `/`, and does not end with it.
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) ca_file: Option<PathBuf>,
}

impl WebUrl {
    /// Understands what is written after `SCHEME:`.
    pub(crate) fn parse(scheme: &str, text: &str) -> Result<Self, String> {
        let (kind, speech, is_protected) = match scheme {
            "http" => ("http", Speech::Plain, false),
            "https" => ("https", Speech::Plain, true),
            "dav" => ("dav", Speech::WebDav, false),
            "davs" => ("davs", Speech::WebDav, true),
            _ => return Err(format!("{scheme:?} is no kind of web server")),
        };
        // The schemes of WebDAV are not known as such, and their ports would be lost.
        let usual = if is_protected { "https" } else { "http" };
        let after = text.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://"));
        let after = after.ok_or_else(|| format!("expected {scheme}://HOST/PATH"))?;
        let url = Url::parse(&format!("{usual}://{after}"))
            .map_err(|error| format!("expected {scheme}://HOST/PATH: {error}"))?;
        let host = match url.host() {
            Some(Host::Ipv6(address)) => address.to_string(),
            Some(host) => host.to_string(),
            None => return Err(format!("expected {scheme}://HOST/PATH: it names no host")),
        };
        let settings = settings_of(url.fragment().unwrap_or_default(), &["ca-file"])?;
        Ok(Self {
            text: text.to_owned(),
            kind,
            speech,
            is_protected,
            host,
            port: url.port_or_known_default().unwrap_or(80),
            user: (!url.username().is_empty()).then(|| decoded(url.username())),
            password: url
                .password()
                .map(decoded)
                .filter(|password| password != crate::HIDDEN)
                .map(Secret::from),
            path: url.path().trim_end_matches('/').to_owned(),
            query: url.query().map(str::to_owned),
            ca_file: settings.into_iter().next().map(|(_, value)| value.into()),
        })
    }

    /// As it was written, with every secret.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What stands in a `Host` header.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.is_protected, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

impl fmt::Debug for WebUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("WebUrl").field(&crate::redact(&self.text)).finish()
    }
}
