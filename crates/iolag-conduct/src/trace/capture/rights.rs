//! Programs that have fewer rights under a tracer: the kernel ignores set-user-id bits and file capabilities of what an ordinary user traces.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// More are not told by name.
const TOLD: usize = 16;

/// Those that were executed.
#[derive(Debug)]
pub(super) struct Rights {
    tracer: u32,
    known: BTreeSet<PathBuf>,
    lost: BTreeSet<PathBuf>,
}

impl Rights {
    /// As seen by a tracer that runs as this user.
    pub(super) fn of_tracer(tracer: u32) -> Self {
        Self { tracer, known: BTreeSet::new(), lost: BTreeSet::new() }
    }

    /// This program was executed. It was loaded just now, so its file system answers.
    pub(super) fn executed(&mut self, program: &Path) {
        // Root traces all with their rights.
        if self.tracer == 0 || !program.is_absolute() || self.lost.len() >= TOLD {
            return;
        }
        if self.known.insert(program.to_owned()) && gives_rights(program, self.tracer) {
            self.lost.insert(program.to_owned());
        }
    }

    /// Those that lost theirs.
    pub(super) fn lost(&self) -> Vec<String> {
        self.lost.iter().map(|program| iolag_model::one_line(&program.to_string_lossy())).collect()
    }
}

/// Whether who executes a file gets rights by it that this user does not have.
fn gives_rights(program: &Path, user: u32) -> bool {
    const SET_USER: u32 = libc::S_ISUID;
    const SET_GROUP: u32 = libc::S_ISGID | libc::S_IXGRP;
    let Ok(metadata) = program.metadata() else { return false };
    let mode = metadata.mode();
    let sets_user = mode & SET_USER != 0 && metadata.uid() != user;
    sets_user || mode & SET_GROUP == SET_GROUP || has_capabilities(program)
}

fn has_capabilities(program: &Path) -> bool {
    let Ok(path) = CString::new(program.as_os_str().as_encoded_bytes()) else { return false };
    // SAFETY: both strings end with zero; only asks for the size.
    let size =
        unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) };
    size > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn programs_that_would_run_with_other_rights_are_told() {
        let directory = tempfile::tempdir().unwrap();
        let program = |name: &str, mode| {
            let path = directory.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let paths = [program("sudo", 0o4755), program("wall", 0o2755), program("ls", 0o755)];
        let owner = directory.path().metadata().unwrap().uid();
        let mut rights = Rights::of_tracer(owner + 1000);
        paths.iter().for_each(|path| rights.executed(path));
        rights.executed(Path::new("sudo"));
        let lost = rights.lost();
        assert_eq!(lost.len(), 2, "{lost:?}");
        assert!(lost[0].ends_with("/sudo") && lost[1].ends_with("/wall"), "{lost:?}");
        let mut of_root = Rights::of_tracer(0);
        paths.iter().for_each(|path| of_root.executed(path));
        assert!(of_root.lost().is_empty());
    }
}
