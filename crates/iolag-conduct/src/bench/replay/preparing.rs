//! A skeleton: a directory of its own in which a program finds what it found, made of a trace.
//!
//! Everything is made in a directory that was made just now, or was empty, and that nobody else can enter meanwhile; links come last, so that nothing is made through one.

use std::ffi::CString;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use iolag_trace::{Bone, BoneKind, Skeleton, TraceReader, path_text};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RawDir, chmodat, fchmod, fstat, ftruncate, mkdirat, openat, symlinkat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::contact::scout::Steps;

/// What was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// Directories, without the skeleton's own.
    pub directories: u64,
    /// Files.
    pub files: u64,
    /// How long they are together; they are holes.
    pub bytes: u64,
    /// Symbolic links.
    pub links: u64,
    /// Links of which it is not known where they lead: files stand in their place.
    pub unknown_links: u64,
    /// Some of them.
    pub unknown_named: Vec<String>,
    /// The program, without its arguments, if it is known.
    pub program: Option<String>,
}

/// So many links are named of which it is not known where they lead.
const NAMED_MAX: usize = 3;

pub(super) const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Makes a skeleton of a trace; `directory` is not there yet, or is empty and the caller's own.
///
/// # Errors
/// If the trace cannot be read, or something cannot be made: a sentence, and what was made is removed again.
pub fn prepare_skeleton(
    trace: impl Read,
    directory: &Path,
    steps: &mut Steps<'_>,
) -> Result<Prepared, String> {
    let mut reader = TraceReader::new(trace).map_err(|error| error.to_string())?;
    let program = reader.about().program.clone();
    let mut skeleton = Skeleton::default();
    reader.read_into(&mut skeleton).map_err(|error| format!("the trace is not whole: {error}"))?;
    let unknown = skeleton.guess_links();
    let mut bones = skeleton.finish();
    if bones.is_empty() {
        return Err("the trace has nothing that was found: there is nothing to prepare".to_owned());
    }
    bones.sort_by_key(|bone| matches!(bone.kind, BoneKind::Link(_)));
    let Empty { root, made } = own_empty(directory)?;
    for (number, bone) in bones.iter().enumerate() {
        if let Err(errno) = make(root.as_fd(), bone) {
            bones[..number].iter().rev().for_each(|bone| unmake(&root, bone));
            // If somebody has put something into it, or in its place, that stays.
            made.iter().for_each(|(above, name)| {
                let _ = unlinkat(above, name.as_c_str(), AtFlags::REMOVEDIR);
            });
            return Err(format!(
                "cannot make {} in {}: {errno}; what had been made is removed again",
                path_text(&bone.path),
                directory.display()
            ));
        }
        steps.came_back();
    }
    let failed = |errno: Errno| format!("cannot open {} to others: {errno}", directory.display());
    // Only now, what lies in a directory that may not be written to is there.
    for bone in bones.iter().rev().filter(|bone| bone.kind == BoneKind::Directory) {
        chmodat(&root, bone.path.as_slice(), Mode::from_raw_mode(bone.mode), AtFlags::empty())
            .map_err(failed)?;
    }
    fchmod(&root, Mode::from_raw_mode(0o755)).map_err(failed)?;
    let unknown_named = unknown.iter().take(NAMED_MAX).map(|path| path_text(path)).collect();
    let unknown_links = unknown.len() as u64;
    let mut prepared = Prepared { program, unknown_links, unknown_named, ..Prepared::default() };
    for bone in &bones {
        match bone.kind {
            BoneKind::Directory => prepared.directories += 1,
            BoneKind::File(bytes) => {
                prepared.files += 1;
                prepared.bytes = prepared.bytes.saturating_add(bytes);
            }
            BoneKind::Link(_) => prepared.links += 1,
        }
    }
    Ok(prepared)
}

/// An empty directory that nobody else can enter.
#[derive(Debug)]
struct Empty {
    root: OwnedFd,
    /// The directory above it and its name, if it was made just now.
    made: Option<(OwnedFd, CString)>,
}

/// Makes the directory, or takes one that is there if it is empty and nobody else's. The directory above it is looked up once: who can exchange that does not have two of them taken for one.
fn own_empty(directory: &Path) -> Result<Empty, String> {
    let shown = directory.display();
    let refused = |why: &str| {
        format!("{shown} {why}: name a directory that is not there yet, or an empty one of your own")
    };
    let above = directory.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = directory.file_name().and_then(|name| CString::new(name.as_bytes()).ok());
    let name = name.ok_or_else(|| refused("has no name"))?;
    let above = openat(CWD, above, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| format!("cannot make {shown}: {errno}"))?;
    let is_new = match mkdirat(&above, name.as_c_str(), Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(errno) => return Err(format!("cannot make {shown}: {errno}")),
    };
    let root = openat(&above, name.as_c_str(), DIRECTORY, Mode::empty())
        .map_err(|errno| refused(&format!("cannot be opened ({errno})")))?;
    let attributes = fstat(&root).map_err(|errno| refused(&errno.to_string()))?;
    if attributes.st_uid != geteuid().as_raw() {
        return Err(refused("belongs to somebody else"));
    }
    let mut buffer = Vec::with_capacity(4096);
    let mut entries = RawDir::new(&root, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(|errno| refused(&errno.to_string()))?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            return Err(refused("is not empty"));
        }
    }
    fchmod(&root, Mode::RWXU).map_err(|errno| refused(&errno.to_string()))?;
    Ok(Empty { root, made: is_new.then_some((above, name)) })
}

/// Makes something below a directory that nobody else can enter.
pub(super) fn make(root: std::os::fd::BorrowedFd<'_>, bone: &Bone) -> Result<(), Errno> {
    let path = CString::new(bone.path.as_slice()).map_err(|_| Errno::INVAL)?;
    match &bone.kind {
        BoneKind::Directory => mkdirat(root, &path, Mode::RWXU),
        BoneKind::File(bytes) => {
            let file = openat(root, &path, FILE, Mode::RUSR | Mode::WUSR)?;
            ftruncate(&file, *bytes)?;
            fchmod(&file, Mode::from_raw_mode(bone.mode))
        }
        BoneKind::Link(text) => symlinkat(text.as_slice(), root, &path),
    }
}

fn unmake(root: &OwnedFd, bone: &Bone) {
    let flags = if bone.kind == BoneKind::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    // What cannot be removed stays in a directory of the user's own, which is named.
    let _ = unlinkat(root, bone.path.as_slice(), flags);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_directory_of_one_s_own_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("new");
        assert!(own_empty(&inside).is_ok() && own_empty(&inside).is_ok());
        std::fs::write(inside.join("x"), "").unwrap();
        assert!(own_empty(&inside).unwrap_err().contains("is not empty"));
        let link = place.path().join("link");
        std::os::unix::fs::symlink(place.path().join("empty"), &link).unwrap();
        std::fs::create_dir(place.path().join("empty")).unwrap();
        assert!(own_empty(&link).unwrap_err().contains("cannot be opened"));
        assert!(own_empty(&place.path().join("no/such")).unwrap_err().starts_with("cannot make "));
    }

    #[test]
    fn bones_are_made_in_their_place_and_removed_again() {
        let place = tempfile::tempdir().unwrap();
        let root = own_empty(&place.path().join("s")).unwrap().root;
        let bone = |path: &str, kind, mode| Bone { path: path.into(), kind, mode };
        let bones = [
            bone("d", BoneKind::Directory, 0o755),
            bone("d/f", BoneKind::File(1 << 40), 0o640),
            bone("l", BoneKind::Link(b"d/f".to_vec()), 0o777),
        ];
        bones.iter().for_each(|bone| make(root.as_fd(), bone).unwrap());
        let file = std::fs::metadata(place.path().join("s/l")).unwrap();
        assert_eq!((file.len(), std::os::unix::fs::MetadataExt::blocks(&file)), (1 << 40, 0));
        bones.iter().rev().for_each(|bone| unmake(&root, bone));
        assert_eq!(std::fs::read_dir(place.path().join("s")).unwrap().count(), 0);
    }
}
