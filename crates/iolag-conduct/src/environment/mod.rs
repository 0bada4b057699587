//! Under which circumstances samples are taken: the machine, its load and memory, and the file system under a target.
//!
//! Invariants: nothing is guessed, what cannot be found out is absent; the roots of /proc and /sys are arguments; every
//! reading is bounded in size; secrets are removed where text is parsed, so that no later code can print them; of the
//! process environment only the batch systems' job variables are looked at.
//!
//! Limits: [`machine`], [`memory`], [`mounts`] and [`client_counters`] read kernel tables only and may run in the keeper. [`file_system`]
//! asks the file system itself and belongs in a process that may hang.

pub mod client_counters;
pub mod facts;
pub mod file_system;
mod file_system_kinds;
pub(crate) mod limits;
mod llite;
mod lustre_requests;
pub mod machine;
pub mod memory;
mod mountstats;
pub(crate) mod processors;
pub mod site_facts;
mod striping;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use file_system_kinds::{is_memory, is_network, served_by};
pub use iolag_keeper::mounts::{self, redact_options, redact_source};

/// At most `limit_bytes` of a file, as far as they can be read; `None` if it cannot be opened or its first read fails
/// (a kernel without pressure accounting opens /proc/pressure/io and refuses to read it).
fn read_at_most(path: &Path, limit_bytes: u64) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let result = File::open(path).ok()?.take(limit_bytes).read_to_end(&mut content);
    match result {
        Err(_) if content.is_empty() => None,
        _ => Some(content),
    }
}

/// The first line of a small file of the kernel, without blanks around it; `None` if it is absent or empty.
fn read_line(path: &Path) -> Option<String> {
    const LINE_BYTES: u64 = 4096;
    let content = read_at_most(path, LINE_BYTES)?;
    let text = String::from_utf8_lossy(&content);
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod fixture {
    use std::path::{Path, PathBuf};

    /// A tree of files in a temporary directory that stands for /proc or /sys.
    pub(super) struct Tree(tempfile::TempDir);

    impl Tree {
        pub(super) fn with(files: &[(&str, &str)]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (name, content) in files {
                let path = tree.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, content).unwrap();
            }
            tree
        }

        pub(super) fn path(&self) -> &Path {
            self.0.path()
        }

        pub(super) fn join(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::Tree;
    use super::*;

    #[test]
    fn reading_is_bounded_and_absence_is_none() {
        let tree = Tree::with(&[("long", &"x".repeat(10_000)), ("empty", ""), ("two", "  one \ntwo\n")]);
        assert_eq!(read_at_most(&tree.join("long"), 100).unwrap().len(), 100);
        assert_eq!(read_line(&tree.join("two")).as_deref(), Some("one"));
        assert_eq!(read_line(&tree.join("empty")), None);
        assert_eq!(read_line(&tree.join("absent")), None);
        assert_eq!(read_at_most(tree.path(), 100), None, "a directory has no content");
    }
}
