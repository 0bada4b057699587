//! What the URL of a database says.

use std::fmt;

use iolag_net::postgres::Address;

use crate::servers::{encoded, settings_of};

/// Where objects are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tables {
    /// All in one table.
    #[default]
    One,
    /// Each dataset has its own.
    Dataset,
}

/// A database: `postgres://USER@HOST:PORT/DATABASE?PARAMETERS`, as PostgreSQL's own programs understand it, with settings for iolag after a `#`:
/// `tables=one` or `tables=dataset`, and `ca-file=FILE`, which is its parameter `sslrootcert`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PostgresUrl {
    /// As it was written.
    text: String,
    /// What is for the server.
    pub(crate) address: String,
    pub(crate) tables: Tables,
}

impl PostgresUrl {
    /// Understands the whole text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (address, fragment) = text.split_once('#').unwrap_or((text, ""));
        if !address.contains("://") {
            return Err("expected postgres://USER@HOST/DATABASE".to_owned());
        }
        let (mut address, mut tables) =
            (address.replace(&format!(":{}@", crate::HIDDEN), "@"), Tables::default());
        for (name, value) in settings_of(fragment, &["tables", "ca-file"])? {
            match (name.as_str(), value.as_str()) {
                ("ca-file", file) => address = with_parameter(&address, "sslrootcert", file),
                (_, "one") => tables = Tables::One,
                (_, "dataset") => tables = Tables::Dataset,
                _ => return Err(format!("{name} is one or dataset, not {value:?}")),
            }
        }
        Address::check(&address).map_err(|error| error.what)?;
        Ok(Self { text: text.to_owned(), address, tables })
    }

    /// The text with a parameter of the server more: what stands in front of `#`.
    pub(crate) fn with_parameter(text: &str, name: &str, value: &str) -> String {
        let (address, fragment) = text.split_once('#').unwrap_or((text, ""));
        let hash = if fragment.is_empty() { "" } else { "#" };
        format!("{}{hash}{fragment}", with_parameter(address, name, value))
    }

    /// As it was written, with every secret.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

fn with_parameter(address: &str, name: &str, value: &str) -> String {
    let begin = if address.contains('?') { '&' } else { '?' };
    format!("{address}{begin}{name}={}", encoded(value))
}

/// Without secrets.
impl fmt::Debug for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("PostgresUrl").field(&crate::redact(&self.text)).finish()
    }
}
