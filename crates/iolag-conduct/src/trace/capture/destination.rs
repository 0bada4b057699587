//! Where a trace is kept.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use iolag_model::{RunRecord, TraceAbout, one_line};
use iolag_trace::TRACE_BEGINNING;

use crate::failure::Failure;
use crate::storing::place;
use crate::trace::storing::{NewTrace, TraceRun};

/// Where a trace is kept.
#[derive(Debug, Clone)]
pub enum Destination {
    /// In this file, which is replaced once the trace is whole.
    File(PathBuf),
    /// In this store, as a run.
    Store {
        /// The store's directory.
        root: PathBuf,
        /// What is known of the run, but for what the trace says of itself.
        new: Box<NewTrace>,
    },
    /// Nowhere: only what it comes to is wanted.
    Nowhere,
}

/// What has been made for a trace.
#[derive(Debug)]
pub(super) enum Place {
    /// A file that gets its name once it is whole.
    File { temporary: PathBuf, path: PathBuf },
    /// A run.
    Run { root: PathBuf, run: Box<TraceRun> },
    /// Nothing.
    Nothing,
}

impl Destination {
    /// Replaces nothing that is not a trace, before anything is started.
    ///
    /// # Errors
    /// If there is such a thing.
    pub(super) fn refuse_what_is_no_trace(&self) -> Result<(), Failure> {
        let Self::File(path) = self else { return Ok(()) };
        let refused = |what: &str| {
            let name = one_line(&path.to_string_lossy());
            Failure::unusable(format!(
                "{name} {what}, and only a trace is replaced by one: name another file"
            ))
        };
        match path.symlink_metadata() {
            Err(_) => Ok(()),
            Ok(metadata) if metadata.is_symlink() => Err(refused("is a symbolic link")),
            Ok(metadata) if !metadata.is_file() => Err(refused("is no file")),
            Ok(metadata) if metadata.len() == 0 => Ok(()),
            Ok(_) => {
                let mut found = [0; TRACE_BEGINNING.len()];
                let read = File::open(path).and_then(|mut file| file.read_exact(&mut found));
                if read.is_ok() && found == TRACE_BEGINNING { Ok(()) } else { Err(refused("is no trace")) }
            }
        }
    }

    /// Makes the file.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(super) fn open(&self, about: &TraceAbout) -> Result<(File, Place), Failure> {
        match self {
            Self::File(path) => open_file(path),
            Self::Store { root, new } => {
                let new = NewTrace { about: about.clone(), ..(**new).clone() };
                let run = || {
                    let store = place::open(root)?;
                    TraceRun::begin(&store, new.record(NewTrace::claim(&store)?))
                };
                let run = run().map_err(Failure::unusable)?;
                let file = run.file().try_clone().map_err(Failure::unusable)?;
                Ok((file, Place::Run { root: root.clone(), run: Box::new(run) }))
            }
            Self::Nowhere => {
                let nothing = File::options().write(true).open("/dev/null").map_err(Failure::unusable)?;
                Ok((nothing, Place::Nothing))
            }
        }
    }
}

/// Until it is whole it has another name.
fn open_file(path: &Path) -> Result<(File, Place), Failure> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = PathBuf::from(temporary);
    // What stands there is of a process that was killed, or a link that somebody made to be written through.
    let _ = std::fs::remove_file(&temporary);
    let file = File::create_new(&temporary).map_err(|error| {
        Failure::unusable(format!("{} cannot be written: {error}", one_line(&path.to_string_lossy())))
    })?;
    Ok((file, Place::File { temporary, path: path.to_owned() }))
}

impl Place {
    /// Where the trace is while it is written.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::File { temporary, .. } => temporary,
            Self::Run { run, .. } => run.directory().path(),
            Self::Nothing => Path::new(""),
        }
    }

    /// The record of its run, if it is one.
    pub(super) fn record(&self) -> Option<Box<RunRecord>> {
        match self {
            Self::File { .. } | Self::Nothing => None,
            Self::Run { run, .. } => Some(Box::new(run.record().clone())),
        }
    }

    /// Makes the trace durable, and known; `finish` tells what is known by now.
    ///
    /// # Errors
    /// If it cannot be.
    pub(super) fn complete(self, file: &File, finish: impl FnOnce(&mut RunRecord)) -> io::Result<()> {
        match self {
            Self::File { temporary, path } => {
                file.sync_all()?;
                std::fs::rename(temporary, path)
            }
            Self::Run { run, .. } => run.complete(finish).map(drop).map_err(io::Error::other),
            Self::Nothing => Ok(()),
        }
    }

    /// Removes what was made: nothing was traced.
    pub(super) fn abandon(self) {
        match self {
            Self::File { temporary, .. } => drop(std::fs::remove_file(temporary)),
            Self::Run { root, run } => {
                // What stays of a store that does not let it be removed is a run that says what it is.
                let _ = place::open(&root).and_then(|store| run.abandon(&store));
            }
            Self::Nothing => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trace_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let told = |name: &str| {
            Destination::File(directory.path().join(name))
                .refuse_what_is_no_trace()
                .err()
                .map(|failure| failure.sentence)
        };
        let write =
            |name: &str, content: &[u8]| std::fs::write(directory.path().join(name), content).unwrap();
        write("trace", b"iolagtrc\x01\0");
        write("empty", b"");
        write("text", b"12 close(3) = 0\n");
        write("short", b"io");
        std::os::unix::fs::symlink("trace", directory.path().join("link")).unwrap();
        std::fs::create_dir(directory.path().join("directory")).unwrap();
        for name in ["absent", "trace", "empty"] {
            assert_eq!(told(name), None, "{name}");
        }
        for (name, why) in [
            ("text", "no trace"),
            ("short", "no trace"),
            ("link", "a symbolic link"),
            ("directory", "no file"),
        ] {
            assert!(
                told(name).unwrap().contains(&format!("is {why}, and only a trace is replaced")),
                "{name}"
            );
        }
        assert!(Destination::File("/dev/null".into()).refuse_what_is_no_trace().is_err());
    }
}
