//! What a URL says: where the server is, who we are, and how the connection is protected.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::password::PasswordSources;
use crate::{Protection, error_chain};

/// A server that does not answer within this time is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that takes no byte for this long is gone.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(30);

/// Where a database is and how to get there.
#[derive(Debug, Clone)]
pub struct Address {
    /// What the URL says, and the password.
    pub config: Config,
    /// How the connection is protected.
    pub protection: Protection,
    /// For messages, without secrets.
    pub location: String,
    /// Why a password that is lacking may be lacking.
    pub password_hint: Option<String>,
    /// What variables said, as parameters of a URL.
    pub from_variables: Vec<(&'static str, String)>,
}

/// A URL that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {what}")]
pub struct Misunderstood {
    /// The URL without secrets.
    pub location: String,
    /// What is wrong with it.
    pub what: String,
}

/// The URL without secrets, for messages; only its scheme if it cannot be understood.
pub fn shown(url: &str) -> String {
    split(url)
        .ok()
        .and_then(|(plain, _)| Config::from_str(&plain).ok())
        .map_or_else(|| "postgres://…".to_owned(), |config| location(&config))
}

impl Address {
    /// Understands `url`; the password is looked for in `passwords` if it is not in it.
    ///
    /// # Errors
    /// If it has no such form, or a parameter that is not known.
    pub fn parse(url: &str, passwords: &PasswordSources) -> Result<Self, Misunderstood> {
        parse(url, passwords)
    }

    /// Whether it can be understood; the rest may come from variables.
    ///
    /// # Errors
    /// As [`Address::parse`].
    pub fn check(url: &str) -> Result<(), Misunderstood> {
        understood(url).map(drop)
    }
}

fn understood(url: &str) -> Result<(Config, TlsParameters), Misunderstood> {
    let refuse = |what: String| Misunderstood { location: shown(url), what };
    let (plain, tls) = split(url).map_err(refuse)?;
    // The library's message names the parameter, never its value.
    let config = Config::from_str(&plain).map_err(|error| refuse(error_chain(&error)))?;
    tls.protection(is_remote(&config)).map_err(refuse)?;
    Ok((config, tls))
}

/// What variables say and the URL does not: which of that was taken.
fn complete(
    config: &mut Config,
    tls: &mut TlsParameters,
    parameters: &[(&'static str, String)],
) -> Vec<(&'static str, String)> {
    let has_host = !config.get_hosts().is_empty() || !config.get_hostaddrs().is_empty();
    let takes = |(name, value): &&(&'static str, String)| {
        let is_said = match *name {
            "host" => has_host,
            "port" => !config.get_ports().is_empty() || value.parse::<u16>().is_err(),
            "user" => config.get_user().is_some(),
            "dbname" => config.get_dbname().is_some(),
            "options" => config.get_options().is_some(),
            "sslmode" => tls.mode.is_some(),
            _ => tls.root.is_some() || value == "system",
        };
        !is_said
    };
    let taken: Vec<_> = parameters.iter().filter(takes).cloned().collect();
    for (name, value) in &taken {
        match *name {
            "host" => value.split(',').for_each(|host| {
                config.host(host);
            }),
            "port" => {
                if let Ok(port) = value.parse() {
                    config.port(port);
                }
            }
            "user" => {
                config.user(value);
            }
            "dbname" => {
                config.dbname(value);
            }
            "options" => {
                config.options(value);
            }
            "sslmode" => tls.mode = Some(value.clone()),
            _ => tls.root = Some(value.into()),
        }
    }
    taken
}

fn parse(url: &str, passwords: &PasswordSources) -> Result<Address, Misunderstood> {
    let refuse = |what: String| Misunderstood { location: shown(url), what };
    let (mut config, mut tls) = understood(url)?;
    let from_variables = complete(&mut config, &mut tls, &passwords.parameters);
    if config.get_hosts().is_empty() {
        return Err(refuse("it names no host, and PGHOST neither".into()));
    }
    let protection = tls.protection(is_remote(&config)).map_err(refuse)?;
    config.ssl_mode(match protection {
        Protection::None => SslMode::Disable,
        Protection::IfOffered => SslMode::Prefer,
        Protection::Encrypted | Protection::Authority(_) | Protection::Full(_) => SslMode::Require,
    });
    if config.get_application_name().is_none() {
        config.application_name("iolag");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    config.tcp_user_timeout(UNACKNOWLEDGED_MAX);
    let mut password_hint = None;
    if config.get_password().is_none() {
        match passwords.find(&config) {
            Ok(Some(password)) => {
                config.password(password);
            }
            Ok(None) => {}
            Err(hint) => password_hint = Some(hint),
        }
    }
    let location = location(&config);
    Ok(Address { config, protection, location, password_hint, from_variables })
}

/// The parameters that the library does not know.
#[derive(Debug, Default, PartialEq)]
struct TlsParameters {
    mode: Option<String>,
    root: Option<PathBuf>,
}

impl TlsParameters {
    /// What is asked for; without being asked, a connection over a network is protected fully, and one within this host not at all.
    fn protection(&self, is_remote: bool) -> Result<Protection, String> {
        let root = || self.root.clone();
        match self.mode.as_deref() {
            None if is_remote || self.root.is_some() => Ok(Protection::Full(root())),
            None => Ok(Protection::None),
            Some("disable") => Ok(Protection::None),
            Some("allow" | "prefer") => Ok(Protection::IfOffered),
            // As in libpq: who names an authority wants it asked.
            Some("require") if self.root.is_some() => Ok(Protection::Authority(root())),
            Some("require") => Ok(Protection::Encrypted),
            Some("verify-ca") => Ok(Protection::Authority(root())),
            Some("verify-full") => Ok(Protection::Full(root())),
            Some(other) => Err(format!(
                "sslmode {other:?} is none of disable, prefer, require, verify-ca and verify-full"
            )),
        }
    }
}

/// The URL without the parameters that the library does not know, and these.
fn split(url: &str) -> Result<(String, TlsParameters), String> {
    let after = url.split_once("://").map_or(url, |(_, after)| after);
    let authority = after.split(['/', '?']).next().unwrap_or_default();
    // Else a part of the password would be taken for the host or the database, and shown.
    if after.matches('@').count() > authority.matches('@').count().min(1) {
        return Err("an @ in it belongs to neither user nor password; write / ? # and @ of a password as %2F %3F %23 and %40".into());
    }
    let mut parameters = TlsParameters::default();
    let Some((before, query)) = url.split_once('?') else { return Ok((url.to_owned(), parameters)) };
    let mut kept = Vec::new();
    for parameter in query.split('&') {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => parameters.mode = Some(value.to_owned()),
            Some(("sslrootcert", "system")) => {}
            Some(("sslrootcert", value)) => parameters.root = Some(percent_decoded(value).into()),
            Some((name @ ("sslcert" | "sslkey"), _)) => {
                return Err(format!("{name}: client certificates are not supported; use a password"));
            }
            _ => kept.push(parameter),
        }
    }
    let plain = if kept.is_empty() { before.to_owned() } else { format!("{before}?{}", kept.join("&")) };
    Ok((plain, parameters))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let decoded = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether some byte leaves this host.
fn is_remote(config: &Config) -> bool {
    config.get_hosts().iter().any(|host| match host {
        Host::Unix(_) => false,
        Host::Tcp(name) => {
            name != "localhost" && !name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }) || config.get_hostaddrs().iter().any(|address| !address.is_loopback())
}

fn location(config: &Config) -> String {
    let user = config.get_user().map_or_else(String::new, |user| format!("{user}@"));
    let database = config.get_dbname().or(config.get_user()).unwrap_or("");
    let ports = config.get_ports();
    let mut hosts = Vec::new();
    let mut sockets = Vec::new();
    for (index, host) in config.get_hosts().iter().enumerate() {
        // As the library does: one port for all hosts, or one for each.
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Unix(path) => sockets.push(format!("?host={}", path.display())),
            Host::Tcp(name) => hosts.push(format!("{name}:{port}")),
        }
    }
    format!("postgres://{user}{}/{database}{}", hosts.join(","), sockets.first().map_or("", String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(url: &str) -> Result<Address, Misunderstood> {
        parse(url, &PasswordSources::none())
    }

    #[test]
    fn what_leaves_the_host_is_protected_unless_told_otherwise() {
        let root = || Some(PathBuf::from("/etc/site ca.pem"));
        for (url, protection) in [
            ("postgres://me@db.example/iolag", Protection::Full(None)),
            ("postgres://me@localhost/iolag", Protection::None),
            ("postgres://me@127.0.0.3/iolag", Protection::None),
            ("postgres://me@[::1]/iolag", Protection::None),
            ("postgres:///iolag?host=/run/postgresql", Protection::None),
            ("postgres://me@10.1.2.3/iolag", Protection::Full(None)),
            ("postgres://me@localhost,db.example/iolag", Protection::Full(None)),
            ("postgres://me@localhost/iolag?hostaddr=10.0.0.1", Protection::Full(None)),
            ("postgres://me@db.example/iolag?sslmode=disable", Protection::None),
            ("postgres://me@db.example/iolag?sslmode=prefer", Protection::IfOffered),
            ("postgres://me@db.example/iolag?sslmode=require", Protection::Encrypted),
            (
                "postgres://me@db.example/iolag?sslmode=require&sslrootcert=%2Fetc/site%20ca.pem",
                Protection::Authority(root()),
            ),
            ("postgres://me@db.example/iolag?sslrootcert=/etc/site%20ca.pem", Protection::Full(root())),
            ("postgres://me@localhost/iolag?sslmode=verify-ca", Protection::Authority(None)),
        ] {
            assert_eq!(parsed(url).unwrap().protection, protection, "{url}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_understood_is_refused_without_its_password() {
        for (url, what) in [
            ("postgres://me:geheim@db.example/iolag?sslmode=maybe", "sslmode \"maybe\" is none of"),
            ("postgres://me:geheim@db.example/iolag?sslcert=/x", "client certificates are not supported"),
            ("postgres://me:geheim@db.example:notaport/iolag", "port"),
            ("postgres://me:geheim@db.example/iolag?nonsense=1", "nonsense"),
            ("postgres:///iolag", "names no host, and PGHOST neither"),
        ] {
            let message = parsed(url).unwrap_err().to_string();
            assert!(message.contains(what) && !message.contains("geheim"), "{message}");
        }
    }

    #[test]
    fn a_place_is_shown_without_secrets() {
        for (url, text) in [
            ("postgres://me:geheim@db.example/iolag?sslmode=require", "postgres://me@db.example:5432/iolag"),
            ("postgresql://db.example:5433/iolag?password=geheim", "postgres://db.example:5433/iolag"),
            ("postgres://me@/iolag?host=/run/postgresql", "postgres://me@/iolag?host=/run/postgresql"),
            ("postgres://me:geheim@host:x/iolag", "postgres://…"),
        ] {
            assert_eq!(shown(url), text);
        }
    }

    #[test]
    fn a_password_that_is_not_encoded_is_not_taken_for_something_else() {
        for url in [
            "postgres://me:1/geheim@host/x",
            "postgres://me:x@geheim@host/x",
            "postgres://me:1?geheim@host/x",
        ] {
            let message = parsed(url).unwrap_err().to_string();
            assert!(message.contains("%40") && !message.contains("geheim"), "{message}");
        }
    }

    #[test]
    fn variables_say_what_the_url_does_not() {
        let variables = [
            ("PGHOST", "/run/postgresql"),
            ("PGPORT", "6432"),
            ("PGUSER", "me"),
            ("PGDATABASE", "base"),
            ("PGSSLMODE", "verify-ca"),
            ("PGSSLROOTCERT", "/etc/ca.pem"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let sources = PasswordSources::of(&variables.into_iter().collect());
        let all = parse("postgres://", &sources).unwrap();
        assert_eq!(all.location, "postgres://me@/base?host=/run/postgresql");
        assert_eq!(all.config.get_ports(), [6432]);
        assert_eq!(all.protection, Protection::Authority(Some("/etc/ca.pem".into())));
        assert_eq!(all.from_variables.len(), 6);
        let said = parse("postgres://you@db:1/other?sslmode=disable&sslrootcert=/x", &sources).unwrap();
        assert_eq!((said.location.as_str(), said.from_variables), ("postgres://you@db:1/other", Vec::new()));
        assert_eq!(said.protection, Protection::None);
    }

    proptest! {
        #[test]
        fn no_url_makes_it_panic_and_no_password_is_shown(text in "postgres://[a-z:@/?&=%0-9,\\[\\]]{0,40}", password in "[A-Z]{12}") {
            let _ = (parsed(&text), shown(&text));
            let url = format!("postgres://me:{password}@host/database?{}", &text[11..]);
            prop_assert!(!shown(&url).contains(&password));
            if let Err(error) = parsed(&url) {
                prop_assert!(!error.to_string().contains(&password), "{error}");
            }
        }
    }
}
