//! Where a watch keeps things: the history for years, the runtime directory until the next boot.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use iolag_store::history::{is_server, shown_place};
use iolag_watch::RuntimeDirectory;

/// The places of one watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The history: an absolute path, or a URL with whatever secrets it has.
    pub history: String,
    /// The runtime directory of that history.
    pub runtime: PathBuf,
    /// The directory above it, for all histories of this user.
    pub runtime_base: PathBuf,
}

impl Places {
    /// What the user or the file names, else what the environment's `variable`s and the user's number lead to: `$IOLAG_HISTORY` first.
    /// Touches none of them.
    pub fn new(
        history: Option<&str>,
        runtime: Option<&Path>,
        user: u32,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let set_history = variable("IOLAG_HISTORY").and_then(|place| place.into_string().ok());
        let history = match history.or(set_history.as_deref().filter(|place| !place.is_empty())) {
            Some(place) if is_server(place) => place.to_owned(),
            Some(path) => crate::conduct::scout::absolute(Path::new(path)).display().to_string(),
            None if user == 0 => "/var/lib/iolag/history.sqlite".to_owned(),
            None => set("XDG_STATE_HOME")
                .or_else(|| set("HOME").map(|home| home.join(".local/state")))
                .map_or_else(
                    || PathBuf::from(format!("/var/tmp/iolag-{user}/history.sqlite")),
                    |state| state.join("iolag/history.sqlite"),
                )
                .display()
                .to_string(),
        };
        let runtime_base = match runtime {
            Some(path) => crate::conduct::scout::absolute(path),
            // Not $XDG_RUNTIME_DIR: cron does not have it, and it vanishes when the user logs out.
            None => PathBuf::from(format!("/dev/shm/iolag-{user}")),
        };
        let runtime = RuntimeDirectory::path_for_history(&runtime_base, &history);
        Self { history, runtime, runtime_base }
    }

    /// The history as users may see it, secrets removed.
    pub fn shown_history(&self) -> String {
        shown_place(&self.history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(history: Option<&str>, user: u32, variables: &[(&str, &str)]) -> Places {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        Places::new(history, None, user, variable)
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
        assert_eq!(set.runtime_base, Path::new("/dev/shm/iolag-7"));
        let named = places(None, 7, &[("IOLAG_HISTORY", "/site/h.sqlite"), ("HOME", "/home/me")]);
        assert_eq!(named.history, "/site/h.sqlite");
        assert_eq!(places(Some("/data/h.sqlite"), 7, &[]).history, "/data/h.sqlite");
        assert_ne!(places(Some("/a"), 7, &[]).runtime, places(Some("/b"), 7, &[]).runtime);
    }

    #[test]
    fn a_password_is_not_shown() {
        let places = places(Some("postgres://me:secret@db/site"), 7, &[]);
        assert!(!places.shown_history().contains("secret"));
    }
}
