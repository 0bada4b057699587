//! Files for the user, which appear as a whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use iolag_store::is_of_store;
use iolag_trace::TRACE_BEGINNING;

const LINK: &str = "it is a symbolic link; name the file that it leads to";
const DATABASE: &str = "it is a database, as a history is, or belongs to one";
const TRACE: &str = "it is a trace, which would be lost";
const NO_TRACE: &str = "it is no trace, and only a trace is replaced by one";
const STORE: &str = "it is in a store, among runs and baselines";
/// What SQLite calls the files beside a database.
const BESIDE_DATABASE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Why this is no file to put a result into, if it is none: no result is a history, a trace or a part of a run, so who names one means something else.
pub fn refusal(path: &Path) -> Option<&'static str> {
    refusal_of_all(path).or_else(|| begins(path, &TRACE_BEGINNING).then_some(TRACE))
}

/// The same of a trace.
fn refusal_of_trace(path: &Path) -> Option<&'static str> {
    let is_something = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    refusal_of_all(path).or_else(|| (is_something && !begins(path, &TRACE_BEGINNING)).then_some(NO_TRACE))
}

fn refusal_of_all(path: &Path) -> Option<&'static str> {
    if is_link_to_file(path) {
        return Some(LINK);
    }
    if is_database(path) || database_of(path).is_some_and(|database| is_database(&database)) {
        return Some(DATABASE);
    }
    is_of_store(path).then_some(STORE)
}

/// The database that a file of this name would belong to.
pub fn database_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    BESIDE_DATABASE.iter().find_map(|end| Some(path.with_file_name(name.strip_suffix(end)?)))
}

fn is_database(path: &Path) -> bool {
    begins(path, b"SQLite format 3\0")
}

/// Whether it is a file that begins so.
fn begins<const BYTES: usize>(path: &Path, beginning: &[u8; BYTES]) -> bool {
    let mut found = [0; BYTES];
    // Opening a pipe would wait for who writes to it.
    path.metadata().is_ok_and(|metadata| metadata.is_file())
        && File::open(path).and_then(|mut file| file.read_exact(&mut found)).is_ok()
        && found == *beginning
}

/// Whether this is a symbolic link to a file, or to none: whoever made it means it to stay, and who may write to its directory chose the file.
/// One to a pipe or device is written to.
fn is_link_to_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
        && path.metadata().map_or(true, |metadata| metadata.is_file())
}

/// Replaces a file, whose mode stays. A pipe or device of the user's is written as it is.
///
/// # Errors
/// If it cannot be written, or there is a [`refusal`]; nothing half-written stays.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> std::io::Result<()> {
    replace_unless(refusal(path), path, write)
}

/// The same with a trace, which replaces only another.
///
/// # Errors
/// As [`replace`].
pub fn replace_trace(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    replace_unless(refusal_of_trace(path), path, write)
}

fn replace_unless(
    refusal: Option<&str>,
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    if let Some(reason) = refusal {
        return Err(std::io::Error::other(reason));
    }
    let found = path.metadata().ok();
    if found.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return write(&mut OpenOptions::new().write(true).open(path)?);
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = Path::new(&temporary);
    // What stands there is of a process that was killed, or a link that somebody made to be written through.
    let _ = std::fs::remove_file(temporary);
    let written = File::create_new(temporary)
        .and_then(|mut file| {
            found.map_or(Ok(()), |found| file.set_permissions(found.permissions()))?;
            write(&mut file)
        })
        .and_then(|()| std::fs::rename(temporary, path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_trace_is_replaced_by_a_trace_only_and_by_that_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let [trace, text, empty] = ["trace", "text", "empty"].map(|name| home.path().join(name));
        let bytes = [&TRACE_BEGINNING[..], b"..."].concat();
        std::fs::write(&trace, &bytes).unwrap();
        std::fs::write(&text, "somebody's work").unwrap();
        std::fs::write(&empty, "").unwrap();
        let write = |file: &mut File| file.write_all(b"new");
        assert_eq!(replace(&trace, write).unwrap_err().to_string(), TRACE);
        assert_eq!(replace_trace(&text, write).unwrap_err().to_string(), NO_TRACE);
        assert_eq!(std::fs::read(&trace).unwrap(), bytes);
        assert_eq!(std::fs::read_to_string(&text).unwrap(), "somebody's work");
        for path in [&trace, &empty, &home.path().join("none")] {
            replace_trace(path, write).unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), "new");
        }
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_link_stays() {
        let home = tempfile::tempdir().unwrap();
        let [file, link, lost] = ["file", "link", "lost"].map(|name| home.path().join(name));
        let put = |path: &Path, text: &str| replace(path, |file| file.write_all(text.as_bytes()));
        put(&file, "one").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        put(&file, "two").unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        symlink(&file, &link).unwrap();
        symlink(home.path().join("nowhere"), &lost).unwrap();
        for link in [&link, &lost] {
            assert_eq!(put(link, "three").unwrap_err().to_string(), LINK);
            assert!(link.is_symlink());
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two");
        // Somebody who may write to the directory knows the name that it has before it is whole.
        let (precious, new) = (home.path().join("precious"), home.path().join("new"));
        std::fs::rename(&file, &precious).unwrap();
        symlink(&precious, home.path().join(format!("new.{}.part", std::process::id()))).unwrap();
        put(&new, "four").unwrap();
        assert_eq!(std::fs::read_to_string(&new).unwrap(), "four");
        assert!(!new.is_symlink());
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "two");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 4, "nothing half-written stays");
    }
}
