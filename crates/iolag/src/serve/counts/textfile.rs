//! The metrics as a file for node_exporter's textfile collector: no port to open, and the exporter that a site already has.
//!
//! Written by the historian, the child of a watch that has just written the history: it may hang, the watch does not. What the
//! history has counted up to is kept in the runtime directory between two writings, so that each costs what is new.
//!
//! Invariants: the collector sees the old file or the new one, whole; the file has no timestamps (the collector refuses them).

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iolag_model::{Clock, MonotonicClock};
use iolag_report::{Exposition, prometheus_text};
use iolag_store::history::{ChangeMark, History};
use iolag_watch::{PublishedStatus, RuntimeDirectory, read_status};

use crate::serve::counts::follower::count_new;
use crate::serve::counts::kept::Kept;

/// Where the counts are kept in the runtime directory.
const KEPT: &str = "tallies.json";
/// Longest time for counting at once: a history of years is counted over several rounds.
const COUNTING_MAX: Duration = Duration::from_secs(15);

/// A file to write metrics to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Textfile {
    path: PathBuf,
    runtime: PathBuf,
    host: String,
}

impl Textfile {
    /// The file at `path`, about the watch on `host` with this `runtime` directory. Touches nothing.
    ///
    /// # Errors
    /// One sentence, if the collector would not read it.
    pub fn new(path: PathBuf, runtime: &Path, host: &str) -> Result<Self, String> {
        if path.extension().is_none_or(|extension| extension != "prom") {
            return Err(format!(
                "the collector reads files that end in .prom only, and {} does not: give it another name",
                path.display()
            ));
        }
        Ok(Self { path, runtime: runtime.to_owned(), host: host.to_owned() })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Finds out whether the file could be written, and leaves it as it is.
    ///
    /// # Errors
    /// One sentence, if it could not.
    pub fn try_place(&self) -> Result<(), String> {
        let temporary = temporary_of(&self.path);
        let tried = create(&temporary).and_then(|_| std::fs::remove_file(&temporary));
        tried.map_err(|error| refusal(&self.path, &error))
    }

    /// Writes the file anew from the watch's status and from what is new in the history.
    ///
    /// # Errors
    /// One sentence.
    pub fn update(&self, history: &mut dyn History) -> Result<(), String> {
        let status = read_status(&self.runtime).map_err(|error| error.to_string())?;
        let kept = self.count(history)?;
        write_textfile(
            &self.path,
            &Exposition {
                host: &self.host,
                iolag_version: env!("CARGO_PKG_VERSION"),
                now: MonotonicClock.now(),
                status: match &status {
                    PublishedStatus::Live(status) => Some(status),
                    _ => None,
                },
                // A watch writes this, and looks after them itself.
                left_behind: &[],
                // Counts that are still on their way up would look like a restart.
                tallies: kept.is_whole.then_some(&kept.tallies),
                history_read: None,
            },
        )
    }

    fn count(&self, history: &mut dyn History) -> Result<Kept, String> {
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let directory = RuntimeDirectory::open_read_only(&self.runtime).map_err(|error| failed(&error))?;
        let directory = directory.ok_or_else(|| format!("{} is gone", self.runtime.display()))?;
        let mut kept = Kept::read(&directory, KEPT, history).map_err(|error| failed(&error))?;
        let (mut mark, begin) = (ChangeMark(kept.mark), Instant::now());
        loop {
            let is_new = count_new(history, &mut kept.tallies, &mut mark).map_err(|error| failed(&error))?;
            kept.is_whole |= !is_new;
            if !is_new || begin.elapsed() > COUNTING_MAX {
                break;
            }
        }
        kept.mark = mark.0;
        kept.write(&directory, KEPT, history)?;
        Ok(kept)
    }
}

/// Writes the metrics to `path` as a whole or not at all, readable by everybody.
///
/// # Errors
/// One sentence, if it cannot be written; then the old file stands.
pub fn write_textfile(path: &Path, exposition: &Exposition<'_>) -> Result<(), String> {
    let temporary = temporary_of(path);
    let written = create(&temporary)
        .and_then(|mut file| file.write_all(prometheus_text(exposition).as_bytes()))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    written.map_err(|error| refusal(path, &error))
}

fn refusal(path: &Path, error: &io::Error) -> String {
    format!(
        "cannot write the metrics to {}: {error}; name a file in a directory that you may write to",
        path.display()
    )
}

/// The collector reads `*.prom`: the temporary name must not end so.
fn temporary_of(path: &Path) -> PathBuf {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.part", std::process::id()));
    PathBuf::from(temporary)
}

/// A file that was not there, through no link.
fn create(path: &Path) -> io::Result<File> {
    let options = || {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o644).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        options
    };
    match options().open(path) {
        // Left by one that was killed, with the same process id.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            options().open(path)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::MonotonicTime;

    fn exposition() -> Exposition<'static> {
        Exposition {
            host: "login1",
            iolag_version: "1.2.3",
            now: MonotonicTime(0),
            status: None,
            left_behind: &[],
            tallies: None,
            history_read: None,
        }
    }

    #[test]
    fn the_file_is_replaced_as_a_whole_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("iolag.prom");
        for _ in 0..2 {
            write_textfile(&path, &exposition()).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains("\niolag_build_info{version=\"1.2.3\"} 1.0\n"), "{text}");
            assert!(!text.contains("# EOF"), "{text}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_in_the_place_of_the_temporary_file_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("iolag.prom");
        let victim = directory.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        let temporary = directory.path().join(format!("iolag.prom.{}.part", std::process::id()));
        std::os::unix::fs::symlink(&victim, temporary).unwrap();
        write_textfile(&path, &exposition()).unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        assert!(std::fs::read_to_string(&path).unwrap().contains("iolag_build_info"));
    }

    #[test]
    fn a_directory_that_is_not_there_is_said() {
        let error = write_textfile(Path::new("/nonexistent/iolag.prom"), &exposition()).unwrap_err();
        assert!(error.starts_with("cannot write the metrics to /nonexistent/iolag.prom: "), "{error}");
    }
}
