//! What the URL of a MongoDB says.
//!
//! Invariant: the driver never gets to parse a password, so that nothing it says of a text can repeat one.

use std::fmt;
use std::path::PathBuf;

use iolag_net::Secret;
use mongodb::error::ErrorKind;
use mongodb::options::ConnectionString;

use crate::HIDDEN;
use crate::servers::{decoded, settings_of};

const EXPECTED: &str = "expected mongodb://HOST/DATABASE, with USER:PASSWORD@ in front of the host; write : / ? # [ ] and @ of a password as %3A %2F %3F %23 %5B %5D and \
                        %40";
/// What a part of a URL has only with a percent sign (RFC 3986, 2.2).
const RESERVED: [char; 7] = [':', '/', '?', '#', '[', ']', '@'];
/// The longest name of a database, in bytes.
const NAME_MAX: usize = 63;

/// Where objects are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Collections {
    /// All in one collection.
    #[default]
    One,
    /// Each dataset has its own.
    Dataset,
}

/// A database: `mongodb://USER@HOST:PORT/DATABASE?OPTIONS`, as MongoDB's own programs understand it, with settings for iolag after a `#`:
/// `collections=one` or `collections=dataset`, and `ca-file=FILE`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MongoUrl {
    /// As it was written.
    text: String,
    /// What is for the driver: in place of a password it has `***`.
    pub(super) address: String,
    /// The one that was written; none in a text whose secret was taken out.
    pub(super) password: Option<Secret>,
    pub(super) database: String,
    pub(super) collections: Collections,
    pub(super) ca_file: Option<PathBuf>,
}

impl MongoUrl {
    /// Understands the whole text; or says in a sentence why not.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (address, fragment) = text.split_once('#').unwrap_or((text, ""));
        if fragment.contains('@') {
            // It may be the rest of a password.
            return Err(EXPECTED.to_owned());
        }
        let (address, password) = without_password(address)?;
        let database = understood(&address)?.default_database.unwrap_or_default();
        if database.is_empty() {
            return Err(format!("it names no database: {EXPECTED}"));
        }
        if database.contains(['.', '\0']) || database.len() > NAME_MAX {
            return Err(format!(
                "the name of a database has up to {NAME_MAX} bytes and none of / \\ . \" $ and blank in it"
            ));
        }
        let (mut collections, mut ca_file) = (Collections::default(), None);
        for (name, value) in settings_of(fragment, &["collections", "ca-file"])? {
            match (name.as_str(), value.as_str()) {
                ("ca-file", file) => ca_file = Some(file.into()),
                (_, "one") => collections = Collections::One,
                (_, "dataset") => collections = Collections::Dataset,
                (name, value) => return Err(format!("{name} is one or dataset, not {value:?}")),
            }
        }
        Ok(Self { text: text.to_owned(), address, password, database, collections, ca_file })
    }

    /// As it was written, with every secret.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Without secrets.
impl fmt::Debug for MongoUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("MongoUrl").field(&crate::redact(&self.text)).finish()
    }
}

/// The same address with `***` in place of the password, and that; or why it has none of this form.
pub(super) fn without_password(address: &str) -> Result<(String, Option<Secret>), String> {
    let after = address.strip_prefix("mongodb://").ok_or(EXPECTED)?;
    let (authority, rest) = after.split_once('/').unwrap_or((after, ""));
    // An @ that is not the last one of the authority is in a password, or makes part of one a host.
    if rest.contains('@') || authority.contains('?') || authority.is_empty() {
        return Err(EXPECTED.to_owned());
    }
    if rest.to_ascii_lowercase().contains("authmechanismproperties=") {
        return Err(
            "authMechanismProperties is for ways of authentication that this build does not have".to_owned()
        );
    }
    let Some((login, hosts)) = authority.rsplit_once('@') else { return Ok((address.to_owned(), None)) };
    let (user, password) = match login.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (login, None),
    };
    if [user, password.unwrap_or_default()].iter().any(|part| part.contains(RESERVED)) {
        return Err(EXPECTED.to_owned());
    }
    let hidden = if password.is_some() { format!(":{HIDDEN}") } else { String::new() };
    let password = password.filter(|password| *password != HIDDEN).map(decoded).map(Secret::from);
    Ok((format!("mongodb://{user}{hidden}@{hosts}/{rest}"), password))
}

/// What the driver understands of an address without a password.
pub(super) fn understood(address: &str) -> Result<ConnectionString, String> {
    ConnectionString::parse(address).map_err(|error| match *error.kind {
        ErrorKind::InvalidArgument { message, .. } => message,
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_for_the_driver_has_no_password() {
        let url =
            MongoUrl::parse("mongodb://me:gehe%2Fim@a,b:1/base?replicaSet=x#collections=dataset").unwrap();
        assert_eq!((url.database.as_str(), url.collections), ("base", Collections::Dataset));
        assert_eq!(url.address, "mongodb://me:***@a,b:1/base?replicaSet=x");
        assert_eq!(url.password.as_ref().map(Secret::reveal), Some("gehe/im"));
        assert!(!format!("{url:?}").contains("gehe"));
        let stored = MongoUrl::parse("mongodb://me:***@a/base").unwrap();
        assert_eq!((stored.password, stored.address.as_str()), (None, "mongodb://me:***@a/base"));
        assert_eq!(MongoUrl::parse("mongodb://me@a/base").unwrap().address, "mongodb://me@a/base");
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        for (text, why) in [
            ("mongodb://a", "names no database"),
            ("mongodb://a/", "names no database"),
            ("mongodb:///b", "expected mongodb://"),
            ("mongodb:a/b", "expected mongodb://"),
            ("mongodb://a/b.c", "name of a database"),
            ("mongodb://a/b$c", "$"),
            ("mongodb://a:x/b", "port"),
            ("mongodb://a/b?tsl=true", "tsl"),
            ("mongodb://a/b?authMechanismProperties=A:b", "this build does not have"),
            ("mongodb://a/b#collections=two", "one or dataset"),
            ("mongodb://a/b#tables=one", "\"tables=one\""),
        ] {
            let error = MongoUrl::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_password_that_should_have_been_encoded_is_in_no_sentence() {
        for sign in RESERVED {
            for text in
                [format!("mongodb://me:geh{sign}eim@a/b"), format!("mongodb://me:geh{sign}eim/x?y@a/b")]
            {
                let error = MongoUrl::parse(&text).unwrap_err();
                assert!(
                    error.contains("%40") && !error.contains("geh") && !error.contains("eim"),
                    "{text}: {error}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "mongodb://[a-z:@/?#=,%0-9]{0,30}") {
            let _ = MongoUrl::parse(&text);
        }
    }
}
