//! Where a history is, and asking it in a child.
//!
//! Invariant: a history is touched in children only. Its disk may hang, its server may be silent, and Ctrl-C ends either.

use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use iolag_conduct::{Answer, ExitCode, Failure, ask};
use iolag_model::{Nanoseconds, WallTime, WatchStatus};
use iolag_store::history::{Access, History, HistoryError, is_server, open_history};
use iolag_watch::{PublishedStatus, read_status};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::args::HistoryPlace;
use crate::commands::history::moment::Here;
use crate::watching::{Origin, Places};

/// How long a history may be silent, its process idle: longer than it waits for others that write.
const SILENCE_MAX: Nanoseconds = Nanoseconds::from_seconds(60);

/// The history that the user means.
#[derive(Debug, Clone)]
pub struct Chosen {
    places: Places,
    is_named: bool,
}

impl Chosen {
    /// The one named, else this user's own. Touches nothing.
    ///
    /// # Errors
    /// If what is named is neither a file nor a server.
    pub fn new(place: &HistoryPlace) -> Result<Self, Failure> {
        let places = Places::new(place.history.as_deref(), None, &Origin::of_process()).map_err(failure)?;
        Ok(Self { places, is_named: place.history.is_some() })
    }

    /// The one at these places, which the user named or did not.
    pub const fn at(places: Places, is_named: bool) -> Self {
        Self { places, is_named }
    }

    /// Where it is, secrets removed.
    pub fn shown(&self) -> String {
        self.places.shown_history()
    }

    /// Its file, if it is no server.
    pub fn file(&self) -> Option<&Path> {
        (!is_server(&self.places.history)).then(|| Path::new(&self.places.history))
    }

    /// What the watch of it on this host publishes, if one runs.
    pub fn live_watch(&self) -> Option<WatchStatus> {
        match read_status(&self.places.present_runtime()?) {
            Ok(PublishedStatus::Live(status)) => Some(status),
            _ => None,
        }
    }

    /// Opens it; to be called in a child.
    ///
    /// # Errors
    /// One sentence, if it cannot be opened in this way.
    pub fn open(&self, access: Access) -> Result<Box<dyn History>, Failure> {
        self.open_now(access).map_err(|unopened| match unopened {
            Unopened::Lasting(failure) => failure,
            Unopened::Passing(sentence) => Failure::unusable(sentence),
        })
    }

    /// Opens it to look.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn look(&self) -> Result<Box<dyn History>, HistoryError> {
        open_history(&self.places.history, Access::ReadOnly)
    }

    /// The same for who can wait.
    ///
    /// # Errors
    /// Why it cannot be opened, and whether it may be later.
    pub fn open_now(&self, access: Access) -> Result<Box<dyn History>, Unopened> {
        if access == Access::Create && !is_server(&self.places.history) {
            self.prepare_directory(Path::new(&self.places.history))?;
        }
        open_history(&self.places.history, access).map_err(Unopened::from)
    }

    /// The directory of a history that is to be made: only the usual one is made too, since a directory that was named and
    /// is missing is a slip of the pen.
    fn prepare_directory(&self, path: &Path) -> Result<(), Unopened> {
        let directory = path.parent().unwrap_or(Path::new("/"));
        let failed = |what: &str| {
            Failure::unusable(format!(
                "cannot make a history in {}: {what}; name another place with --history",
                directory.display()
            ))
        };
        let refused = |error: std::io::Error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Unopened::Passing(failed(&error.to_string()).sentence)
            }
            _ => Unopened::Lasting(failed(&error.to_string())),
        };
        if !self.is_named {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            made.map_err(refused)?;
        }
        let found = directory.metadata().map_err(refused)?;
        // Somebody else's directory in /var/tmp would let them replace the history.
        if !self.is_named && found.uid() != rustix::process::geteuid().as_raw() {
            return Err(Unopened::Lasting(failed("it belongs to another user")));
        }
        if found.is_dir() { Ok(()) } else { Err(Unopened::Lasting(failed("it is no directory"))) }
    }
}

/// Why a history cannot be opened, or asked, now.
#[derive(Debug)]
pub enum Unopened {
    /// Until somebody changes something.
    Lasting(Failure),
    /// It may answer later; the sentence says why it does not now.
    Passing(String),
}

impl Unopened {
    /// Why, in a sentence.
    pub fn sentence(self) -> String {
        match self {
            Self::Lasting(failure) => failure.sentence,
            Self::Passing(sentence) => sentence,
        }
    }
}

impl From<HistoryError> for Unopened {
    fn from(error: HistoryError) -> Self {
        if error.is_passing() { Self::Passing(error.to_string()) } else { Self::Lasting(failure(error)) }
    }
}

/// A failure of the history as one of the program.
pub fn failure(error: HistoryError) -> Failure {
    match error {
        HistoryError::Place { .. } => Failure::usage(error),
        _ => Failure::unusable(error),
    }
}

/// Asks a child that works on the history. What it prints is lost: it answers.
///
/// # Errors
/// The child's, or that the history is silent.
pub fn ask_history<T>(chosen: &Chosen, work: impl Fn() -> Result<T, Failure>) -> Result<T, Failure>
where
    T: Serialize + DeserializeOwned,
{
    let answer =
        ask("history", SILENCE_MAX, || work().map_err(|failure| (failure.code as u8, failure.sentence)))?;
    match answer {
        Answer::Given(Ok(found)) => Ok(found),
        Answer::Given(Err((code, sentence))) => Err(Failure { code: ExitCode::from_number(code), sentence }),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "the history {} has not answered for {age}: its disk or server hangs, or a process of iolag was killed; try again \
             later, or name another with --history",
            chosen.shown()
        ))),
    }
}

/// Now and here: reads the zone files, so only in a child.
pub fn here() -> Here {
    Here { now: now(), zone: TimeZone::system() }
}

/// The moment by the wall clock.
pub fn now() -> WallTime {
    WallTime(i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX))
}

/// Refuses an option for histories where a run was named.
///
/// # Errors
/// One sentence, if there is one.
pub fn refuse_option(given: Option<&str>, command: &str, run: &str) -> Result<(), Failure> {
    match given {
        None => Ok(()),
        Some(option) => Err(Failure::usage(format!(
            "{option} is for the history, and {run:?} is a run: write `iolag {command} history {option} …`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_directory_is_made_and_a_named_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        let variable =
            |name: &str| (name == "XDG_STATE_HOME").then(|| home.path().join("state").into_os_string());
        let chosen = |history: Option<&str>| Chosen {
            places: Places::new(history, None, &Origin { user: 1, directory: None, variable }).unwrap(),
            is_named: history.is_some(),
        };
        let named = home.path().join("missing/history.sqlite").display().to_string();
        let refused = chosen(Some(&named)).open(Access::Create).err().unwrap().sentence;
        assert!(
            refused.starts_with("cannot make a history in ") && refused.contains("--history"),
            "{refused}"
        );
        assert!(!home.path().join("missing").exists());
        let refused = chosen(None).open(Access::ReadOnly).err().unwrap().sentence;
        assert!(refused.starts_with("no history at "), "{refused}");
        assert!(!home.path().join("state").exists());
    }
}
