//! Where a watch keeps things: the history for years, the runtime directory until the next boot.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use iolag_store::history::{HistoryError, check_place, is_server, same_scheme, shown_place};
use iolag_watch::{FoundRuntime, MemoryPlaces, MountTable, PublishedStatus, RuntimeDirectory, read_status};

/// The places of one watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The history: an absolute path, or a URL with whatever secrets it has.
    pub history: String,
    /// The runtime directory of that history.
    pub runtime: PathBuf,
    /// The directory above it, for all histories of this user.
    pub runtime_base: PathBuf,
    /// The runtime directory by which targets know the watch. It stays the same wherever in memory one is found, so that what was made
    /// there is found again.
    pub known_as: PathBuf,
    /// Where in memory runtime directories are looked for; absent if the user names the one.
    pub memory: Option<Memory>,
}

/// What decides where in memory a runtime directory may lie, besides the table of mounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The user's number.
    user: u32,
    /// `$XDG_RUNTIME_DIR`.
    session: Option<PathBuf>,
}

/// What places depend on besides what is typed, as it was when the program was started: it leaves its directory later.
#[derive(Debug, Clone)]
pub struct Origin<V> {
    /// The user's number.
    pub user: u32,
    /// The directory; absent if it is unknown, because it was removed.
    pub directory: Option<PathBuf>,
    /// The environment.
    pub variable: V,
}

/// That of the process itself.
pub type ProcessOrigin = Origin<fn(&str) -> Option<OsString>>;

impl ProcessOrigin {
    /// That of this process.
    pub fn of_process() -> Self {
        Self {
            user: rustix::process::geteuid().as_raw(),
            directory: std::env::current_dir().ok(),
            variable: |name| std::env::var_os(name),
        }
    }
}

impl Places {
    /// What the user or the file names, else what the environment and the user's number lead to: `$IOLAG_HISTORY` first.
    /// Touches none of them.
    ///
    /// # Errors
    /// If what is named is neither a file nor a server; what may be secret in it is not told.
    pub fn new(
        history: Option<&str>,
        runtime: Option<&Path>,
        origin: &Origin<impl Fn(&str) -> Option<OsString>>,
    ) -> Result<Self, HistoryError> {
        let user = origin.user;
        let set = |name: &str| (origin.variable)(name).filter(|value| !value.is_empty());
        let named = match history {
            Some(place) => Some(place.to_owned()),
            None => set("IOLAG_HISTORY").map(readable).transpose()?,
        };
        let history = match named {
            Some(place) => resolve(&place, origin.directory.as_deref())?,
            None if user == 0 => "/var/lib/iolag/history.sqlite".to_owned(),
            None => set("XDG_STATE_HOME")
                .map(PathBuf::from)
                .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".local/state")))
                .map_or_else(
                    || PathBuf::from(format!("/var/tmp/iolag-{user}/history.sqlite")),
                    |state| state.join("iolag/history.sqlite"),
                )
                .display()
                .to_string(),
        };
        let memory =
            runtime.is_none().then(|| Memory { user, session: set("XDG_RUNTIME_DIR").map(PathBuf::from) });
        let runtime_base =
            runtime.map_or_else(|| PathBuf::from(format!("/dev/shm/iolag-{user}")), iolag_conduct::absolute);
        let runtime = RuntimeDirectory::path_for_history(&runtime_base, &history);
        Ok(Self { history, known_as: runtime.clone(), runtime, runtime_base, memory })
    }

    /// Looks where in memory the runtime directory is or may be made; one that is named is that one.
    pub fn find(&self) -> FoundRuntime {
        match &self.memory {
            None => FoundRuntime { base: Some(self.runtime_base.clone()), ..FoundRuntime::default() },
            Some(memory) => MemoryPlaces::new(memory.user, &MountTable::read(), memory.session.as_deref())
                .find(&self.history),
        }
    }

    /// The same with the runtime directory below `base`.
    pub fn with_base(self, base: PathBuf) -> Self {
        Self { runtime: RuntimeDirectory::path_for_history(&base, &self.history), runtime_base: base, ..self }
    }

    /// The runtime directory of the watch that runs, else of the one that ran last, as it is now; `None` if there is none in memory.
    pub fn present_runtime(&self) -> Option<PathBuf> {
        if self.memory.is_none() {
            return Some(self.runtime.clone());
        }
        let existing = self.find().existing;
        let is_live = |path: &&PathBuf| matches!(read_status(path), Ok(PublishedStatus::Live(_)));
        existing.iter().find(is_live).or(existing.first()).cloned()
    }

    /// The history as users may see it, secrets removed.
    pub fn shown_history(&self) -> String {
        shown_place(&self.history)
    }
}

fn readable(place: OsString) -> Result<String, HistoryError> {
    place.into_string().map_err(|_| HistoryError::Place {
        location: "$IOLAG_HISTORY".to_owned(),
        what: "it is not UTF-8".to_owned(),
    })
}

/// A server as it is, a path from `/` on.
fn resolve(place: &str, directory: Option<&Path>) -> Result<String, HistoryError> {
    check_place(place)?;
    if is_server(place) {
        return Ok(same_scheme(place));
    }
    let path = Path::new(place);
    if path.is_absolute() {
        return Ok(iolag_conduct::absolute(path).display().to_string());
    }
    let Some(directory) = directory else {
        let what = "it is relative, and the directory in which iolag was started is unknown".to_owned();
        return Err(HistoryError::Place { location: place.to_owned(), what });
    };
    Ok(iolag_conduct::absolute(&directory.join(path)).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_places(
        history: Option<&str>,
        user: u32,
        variables: &[(&str, &str)],
    ) -> Result<Places, HistoryError> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        Places::new(history, None, &Origin { user, directory: Some("/started/here".into()), variable })
    }

    fn places(history: Option<&str>, user: u32, variables: &[(&str, &str)]) -> Places {
        try_places(history, user, variables).unwrap()
    }

    #[test]
    fn what_is_named_comes_before_the_environment_and_that_before_fixed_places() {
        assert_eq!(places(None, 0, &[("HOME", "/root")]).history, "/var/lib/iolag/history.sqlite");
        let home = places(None, 7, &[("HOME", "/home/me")]);
        assert_eq!(home.history, "/home/me/.local/state/iolag/history.sqlite");
        assert_eq!(home.runtime_base, Path::new("/dev/shm/iolag-7"));
        let set =
            places(None, 7, &[("XDG_STATE_HOME", "/s"), ("XDG_RUNTIME_DIR", "/run/user/7"), ("HOME", "")]);
        assert_eq!(set.history, "/s/iolag/history.sqlite");
        assert_eq!(
            set.known_as,
            home.known_as.with_file_name(set.runtime.file_name().unwrap()),
            "targets know one"
        );
        let named = places(None, 7, &[("IOLAG_HISTORY", "/site/h.sqlite"), ("HOME", "/home/me")]);
        assert_eq!(named.history, "/site/h.sqlite");
        assert_eq!(places(Some("/data/h.sqlite"), 7, &[]).history, "/data/h.sqlite");
        assert_ne!(places(Some("/a"), 7, &[]).runtime, places(Some("/b"), 7, &[]).runtime);
    }

    #[test]
    fn a_relative_path_means_the_directory_of_the_start() {
        assert_eq!(places(None, 7, &[("IOLAG_HISTORY", "h.sqlite")]).history, "/started/here/h.sqlite");
        assert_eq!(places(Some("./postgres:x"), 7, &[]).history, "/started/here/postgres:x");
        let nowhere = Origin { user: 7, directory: None, variable: |_: &str| None };
        let said = Places::new(Some("h.sqlite"), None, &nowhere).unwrap_err().to_string();
        assert!(said.starts_with("h.sqlite does not name a history: it is relative"), "{said}");
    }

    #[test]
    fn the_same_server_has_the_same_runtime_directory() {
        let (one, other) = (places(Some("postgres://db/x"), 7, &[]), places(Some("POSTGRES://db/x"), 7, &[]));
        assert_eq!(one, other);
        let moved = one.clone().with_base("/run/user/7/iolag-7".into());
        assert_eq!(moved.runtime.file_name(), one.runtime.file_name());
        assert_eq!(moved.known_as, one.known_as);
    }

    #[test]
    fn a_password_is_not_shown() {
        let places = places(Some("postgres://me:secret@db/site"), 7, &[]);
        assert!(!places.shown_history().contains("secret"));
        for mistyped in ["mysql://me:secret@db/site", "postgres:me:secret@db", "host=db password=secret"] {
            for result in
                [try_places(Some(mistyped), 7, &[]), try_places(None, 7, &[("IOLAG_HISTORY", mistyped)])]
            {
                let said = result.unwrap_err().to_string();
                assert!(said.contains("does not name a history") && !said.contains("secret"), "{said}");
            }
        }
    }
}
