//! What the user wrote, understood once: where to measure, and what is put around it.
//!
//! Invariants: nobody else takes the text of a target apart. Parsing touches no target and no clock. Whatever is shown,
//! with `{}` or with `{:?}`, holds no secret; [`Target::with_secrets`] is the only way to one. Where there is none, what is
//! shown parses to the same target again.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use iolag_model::Clock;
#[cfg(any(feature = "http", feature = "postgres", feature = "mongodb"))]
use iolag_net::Variables;
#[cfg(feature = "postgres")]
use iolag_net::postgres::PasswordSources;

use crate::delayed::{DelayedBackend, Latencies, parse_latencies};
use crate::faulty::{FaultyBackend, Rule, parse_rules};
#[cfg(feature = "http")]
use crate::http::{WebBackend, WebUrl};
#[cfg(feature = "mongodb")]
use crate::mongo::{MongoBackend, MongoUrl};
#[cfg(feature = "postgres")]
use crate::postgres::{PostgresBackend, PostgresUrl};
use crate::redact::redact;
#[cfg(feature = "s3")]
use crate::s3::{S3Backend, S3Url};
use crate::{Backend, BackendError, MemoryBackend, PosixBackend, Semantics};

/// Wrappers in wrappers, at most.
const DEPTH_MAX: usize = 8;

/// What stands in place of a backend that is not in every build.
const WITHOUT_MONGODB: &str = "this iolag was built without MongoDB; use one built with the feature mongodb (cargo build --release --features mongodb)";

/// The driver would need a resolver of its own for these.
const SRV: &str = "the servers that mongodb+srv leaves to DNS are not looked up; name them, as mongodb://HOST1,HOST2/DATABASE?replicaSet=NAME&tls=true \
                   (dig +short SRV _mongodb._tcp.HOST, and TXT HOST, say which they are)";

/// Kinds of target that iolag is designed for, and that this build has no backend for.
const LATER: &[&str] =
    &["s3", "http", "https", "dav", "davs", "postgres", "postgresql", "mpiio", "gsiftp", "root"];

/// A place to measure: a directory (`/scratch/me`, `posix:/scratch/me`) or `memory:`, and the wrappers around it
/// (`delayed:DELAYS:TARGET`, `faulty:RULES:TARGET`).
#[derive(Clone, PartialEq)]
pub struct Target {
    /// Outermost first.
    wrappers: Vec<Wrapping>,
    innermost: Innermost,
}

/// What is put around a target: its text, without the colon that ends it, and what that means.
#[derive(Clone, PartialEq)]
enum Wrapping {
    Delayed { text: String, latencies: Arc<Latencies> },
    Faulty { text: String, rules: Arc<[Rule]> },
}

impl Wrapping {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Delayed { .. } => "delayed",
            Self::Faulty { .. } => "faulty",
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Delayed { text, .. } | Self::Faulty { text, .. } => text,
        }
    }
}

/// What is measured in the end.
#[derive(Clone, PartialEq, Eq)]
enum Innermost {
    Directory(PathBuf),
    Memory,
    #[cfg(feature = "http")]
    Web(WebUrl),
    #[cfg(feature = "s3")]
    Bucket(S3Url),
    #[cfg(feature = "postgres")]
    Database(PostgresUrl),
    #[cfg(feature = "mongodb")]
    Documents(MongoUrl),
}

impl Innermost {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Directory(_) => "posix",
            Self::Memory => "memory",
            #[cfg(feature = "http")]
            Self::Web(url) => url.kind,
            #[cfg(feature = "s3")]
            Self::Bucket(_) => "s3",
            #[cfg(feature = "postgres")]
            Self::Database(_) => "postgres",
            #[cfg(feature = "mongodb")]
            Self::Documents(_) => "mongodb",
        }
    }
}

impl Target {
    /// Understands a target.
    ///
    /// # Errors
    /// If the text has no such form; secrets in it are not repeated.
    pub fn parse(text: &str) -> Result<Self, BackendError> {
        // A wrapper knows only its own part; the user wants to see the whole that was written.
        parse(text).map_err(|reason| BackendError::Target { target: redact(text), reason: redact(&reason) })
    }

    /// The outermost kind, as runs record it: posix, memory, delayed or faulty.
    pub fn kind(&self) -> &'static str {
        match (self.wrappers.first(), &self.innermost) {
            (Some(wrapper), _) => wrapper.kind(),
            (None, innermost) => innermost.kind(),
        }
    }

    /// The directory that is measured in, whatever is around it; `None` for a target that is no directory.
    pub fn directory(&self) -> Option<&Path> {
        match &self.innermost {
            Innermost::Directory(path) => Some(path),
            _ => None,
        }
    }

    /// Whether it is measured over a network, whatever is around it: by tasks that wait, and not by threads.
    pub const fn is_server(&self) -> bool {
        !matches!(self.innermost, Innermost::Directory(_) | Innermost::Memory)
    }

    /// Whether a text is meant as a server, be it right or wrong: it begins as the name of one.
    pub fn is_meant_as_server(text: &str) -> bool {
        text.contains("://") || scheme_of(text).is_some_and(|(scheme, _)| LATER.contains(&scheme))
    }

    /// What the kind of target does: wrappers change nothing of that.
    pub const fn semantics(&self) -> Semantics {
        match &self.innermost {
            Innermost::Directory(_) => Semantics::OF_DIRECTORIES,
            Innermost::Memory => MemoryBackend::SEMANTICS,
            #[cfg(feature = "http")]
            Innermost::Web(url) => WebBackend::semantics(url.speech),
            #[cfg(feature = "s3")]
            Innermost::Bucket(_) => S3Backend::SEMANTICS,
            #[cfg(feature = "postgres")]
            Innermost::Database(url) => PostgresBackend::semantics(url.tables),
            #[cfg(feature = "mongodb")]
            Innermost::Documents(_) => MongoBackend::SEMANTICS,
        }
    }

    /// The same wrappers around `directory`, for example the same directory by its absolute path.
    #[must_use]
    pub fn with_directory(&self, directory: &Path) -> Self {
        Self { wrappers: self.wrappers.clone(), innermost: Innermost::Directory(directory.to_owned()) }
    }

    /// The same target with settings that its URL does not say: what variables and files said of it.
    #[must_use]
    pub fn with_settings(&self, settings: &[(String, String)]) -> Self {
        let add = |text: String, (name, value): &(String, String)| match &self.innermost {
            #[cfg(feature = "postgres")]
            Innermost::Database(_) if name != "ca-file" => PostgresUrl::with_parameter(&text, name, value),
            _ => with_setting(text, name, value),
        };
        let text = settings.iter().fold(self.with_secrets(), add);
        Self::parse(&text).unwrap_or_else(|_| self.clone())
    }

    /// The target as text, with every secret in it: for nobody but the target itself.
    pub fn with_secrets(&self) -> String {
        let mut text: String =
            self.wrappers.iter().map(|wrapper| format!("{}:{}:", wrapper.kind(), wrapper.text())).collect();
        match &self.innermost {
            Innermost::Memory => text.push_str("memory:"),
            #[cfg(feature = "http")]
            Innermost::Web(url) => text.push_str(url.text()),
            #[cfg(feature = "s3")]
            Innermost::Bucket(url) => text.push_str(url.text()),
            #[cfg(feature = "postgres")]
            Innermost::Database(url) => text.push_str(url.text()),
            #[cfg(feature = "mongodb")]
            Innermost::Documents(url) => text.push_str(url.text()),
            Innermost::Directory(path) => {
                let path = path.display().to_string();
                if scheme_of(&path).is_some() {
                    text.push_str("posix:");
                }
                text.push_str(&path);
            }
        }
        text
    }

    /// The backend for this target. `working_name` is the name of the working directory in it; wrappers wait by `clock`.
    /// A relative directory is taken from the current directory as it is now.
    ///
    /// # Errors
    /// If `working_name` is no plain file name.
    pub fn backend(
        &self,
        working_name: &str,
        clock: Arc<dyn Clock>,
    ) -> Result<Box<dyn Backend>, BackendError> {
        let innermost: Box<dyn Backend> = match &self.innermost {
            Innermost::Directory(path) => Box::new(PosixBackend::new(path.clone(), working_name)?),
            Innermost::Memory => Box::new(MemoryBackend::new(working_name)),
            #[cfg(feature = "http")]
            Innermost::Web(url) => {
                Box::new(WebBackend::new(url.clone(), working_name, Variables::of_process())?)
            }
            #[cfg(feature = "s3")]
            Innermost::Bucket(url) => {
                Box::new(S3Backend::new(url.clone(), working_name, Variables::of_process())?)
            }
            #[cfg(feature = "postgres")]
            Innermost::Database(url) => {
                let passwords = PasswordSources::of(&Variables::of_process());
                Box::new(PostgresBackend::new(url.clone(), working_name, passwords)?)
            }
            #[cfg(feature = "mongodb")]
            Innermost::Documents(url) => {
                Box::new(MongoBackend::new(url.clone(), working_name, Variables::of_process())?)
            }
        };
        let wrap = |inner: Box<dyn Backend>, wrapper: &Wrapping| -> Box<dyn Backend> {
            let clock = Arc::clone(&clock);
            match wrapper {
                Wrapping::Delayed { text, latencies } => {
                    Box::new(DelayedBackend::new(text, Arc::clone(latencies), inner, clock))
                }
                Wrapping::Faulty { text, rules } => {
                    Box::new(FaultyBackend::new(text, Arc::clone(rules), inner, clock))
                }
            }
        };
        Ok(self.wrappers.iter().rev().fold(innermost, wrap))
    }
}

impl From<PathBuf> for Target {
    /// This directory, and nothing around it.
    fn from(directory: PathBuf) -> Self {
        Self { wrappers: Vec::new(), innermost: Innermost::Directory(directory) }
    }
}

impl FromStr for Target {
    type Err = BackendError;

    fn from_str(text: &str) -> Result<Self, BackendError> {
        Self::parse(text)
    }
}

/// Without secrets.
impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&redact(&self.with_secrets()))
    }
}

/// Without secrets.
impl fmt::Debug for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Target").field(&self.to_string()).finish()
    }
}

/// Or why not.
fn parse(text: &str) -> Result<Target, String> {
    let mut wrappers = Vec::new();
    let mut rest = text;
    let innermost = loop {
        let Some((scheme, after)) = scheme_of(rest) else { break directory(rest)? };
        match scheme {
            "posix" => break directory(after)?,
            "memory" if after.is_empty() => break Innermost::Memory,
            "memory" => return Err("expected nothing after memory:".to_owned()),
            #[cfg(feature = "http")]
            "http" | "https" | "dav" | "davs" => break Innermost::Web(WebUrl::parse(scheme, rest)?),
            #[cfg(feature = "s3")]
            "s3" => break Innermost::Bucket(S3Url::parse(rest)?),
            #[cfg(feature = "postgres")]
            "postgres" | "postgresql" => break Innermost::Database(PostgresUrl::parse(rest)?),
            #[cfg(feature = "mongodb")]
            "mongodb" => break Innermost::Documents(MongoUrl::parse(rest)?),
            "mongodb+srv" => return Err(SRV.to_owned()),
            "delayed" | "faulty" if wrappers.len() == DEPTH_MAX => {
                return Err(format!("more than {DEPTH_MAX} wrappers around each other"));
            }
            "delayed" => {
                let (delays, inner) = after
                    .split_once(':')
                    .ok_or("after the delays there is no target: expected delayed:5ms:/scratch/me")?;
                let latencies = Arc::new(parse_latencies(delays)?);
                wrappers.push(Wrapping::Delayed { text: delays.to_owned(), latencies });
                rest = inner;
            }
            "faulty" => {
                let (rules, inner) = parse_rules(after)?;
                // The rules end with the colon in front of what is left.
                let written = after[..after.len() - inner.len()].trim_end_matches(':').to_owned();
                wrappers.push(Wrapping::Faulty { text: written, rules: rules.into() });
                rest = inner;
            }
            _ => return Err(unknown(scheme)),
        }
    };
    Ok(Target { wrappers, innermost })
}

/// The text of a URL with a setting more, unless it is said there.
fn with_setting(text: String, name: &str, value: &str) -> String {
    let fragment = text.split_once('#').map_or("", |(_, fragment)| fragment);
    let is_this = |setting: &str| setting.split_once('=').is_some_and(|(known, _)| known == name);
    if fragment.split(',').any(is_this) {
        return text;
    }
    let begin = if text.contains('#') { ',' } else { '#' };
    let value = value.replace('%', "%25").replace(',', "%2C").replace('#', "%23");
    format!("{text}{begin}{name}={value}")
}

fn directory(path: &str) -> Result<Innermost, String> {
    if path.is_empty() {
        return Err("expected the path of a directory, for example /scratch/me".to_owned());
    }
    if path.contains('\0') {
        return Err("a path has no NUL in it".to_owned());
    }
    Ok(Innermost::Directory(PathBuf::from(path)))
}

/// Kinds of target that this build can measure, as they are shown in errors.
fn known() -> String {
    let of_features = [
        (cfg!(feature = "s3"), "s3://BUCKET/PREFIX, "),
        (cfg!(feature = "postgres"), "postgres://USER@HOST/DATABASE, "),
        (cfg!(feature = "http"), "dav(s)://HOST/PATH, http(s)://HOST/PATH, "),
        (cfg!(feature = "mongodb"), "mongodb://HOST/DATABASE, "),
    ];
    let servers: String = of_features.into_iter().filter(|(is_on, _)| *is_on).map(|(_, text)| text).collect();
    format!("a directory, posix:DIRECTORY, {servers}memory:, delayed:DELAYS:TARGET, faulty:RULES:TARGET")
}

fn unknown(scheme: &str) -> String {
    if scheme == "mongodb" {
        return WITHOUT_MONGODB.to_owned();
    }
    let known = known();
    if LATER.contains(&scheme) {
        return format!("this build has no backend for {scheme} targets; it measures {known}");
    }
    format!(
        "{scheme:?} is no kind of target; this build measures {known}; for a directory of that name write \
         ./{scheme}:…"
    )
}

/// The scheme (RFC 3986: a letter, then letters, digits, `+`, `-`, `.`) and what is after its colon.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte));
    is_scheme.then_some((scheme, rest))
}

#[cfg(test)]
mod tests;
