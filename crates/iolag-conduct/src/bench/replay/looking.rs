//! What is there of what a program asks for, looked up before anything is measured: what is no file and no directory, and what leads out of the map, is never asked; and what
//! would not come back as it did can be told.
//!
//! Limits: each path is looked up once, which brings names into caches; what changes between the look and the run shows in the run.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iolag_model::{ReplayMap, WhyLeftOut};
use iolag_trace::{Ask, Following, Item, Place, PlaceId, Repetition, path_text};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::roots;
use crate::contact::scout::Steps;

/// So many of those that would not come back as they did are told.
const TOLD_MAX: usize = 5;
/// The kernel gives up where somebody renames meanwhile, and is asked again so often.
const ATTEMPTS: u32 = 100;

/// What was found in a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookedAt {
    /// Paths that are not to be asked for: as which names, and why.
    pub left_out: Vec<(PlaceId, Following, WhyLeftOut)>,
    /// Paths that are asked for elsewhere: a link that the kernel is not let to follow leads there, and that is mapped.
    pub moved: Vec<(PlaceId, Following, Place)>,
    /// Look-ups of which it is known what they would find.
    pub looked_up: u64,
    /// Those that would not come back as they did.
    pub differing: u64,
    /// Some of them, each in a sentence.
    pub told: Vec<String>,
}

impl LookedAt {
    /// What of a repetition can be asked there.
    pub fn apply(&self, repetition: &mut Repetition) {
        let left_out = self.left_out.iter().map(|(place, following, why)| ((*place, *following), *why));
        repetition.without(&left_out.collect());
        repetition.redirect(&self.moved);
    }

    /// The share that would come back as they did; of nothing all.
    pub fn agreement(&self) -> f64 {
        match self.looked_up {
            0 => 1.0,
            all => (all - self.differing) as f64 / all as f64,
        }
    }
}

/// What a path leads to.
type Found = Result<FileType, Errno>;

/// Looks for all paths of a repetition in a target.
///
/// # Errors
/// If a directory that is asked cannot be opened, or is what the kernel tells, or if this system cannot keep what is opened within it: a sentence.
pub fn look_for_paths(
    repetition: &Repetition,
    target: &Path,
    maps: &[ReplayMap],
    steps: &mut Steps<'_>,
) -> Result<LookedAt, String> {
    let named = roots(target, maps);
    let roots = named.iter().map(open_root).collect::<Result<Vec<_>, _>>()?;
    let real: Vec<PathBuf> =
        named.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone())).collect();
    let mut found: Vec<[Found; 2]> = Vec::with_capacity(repetition.places.len());
    let mut looked = LookedAt::default();
    for (number, place) in (0..).map(PlaceId).zip(&repetition.places) {
        let root = roots.get(usize::from(place.map));
        let look = |flags| root.map_or(Err(Errno::NOENT), |root| find(root, &place.path, flags));
        let mut both = [look(OFlags::empty()), look(OFlags::NOFOLLOW)];
        for (following, found) in [Following::Follows, Following::Not].into_iter().zip(&mut both) {
            if *found == Err(Errno::XDEV)
                && let Some(there) = led_to(&real, place, following)
                && let Some(root) = roots.get(usize::from(there.map))
            {
                *found = find(root, &there.path, OFlags::NOFOLLOW);
                looked.moved.push((number, following, there));
            }
            looked.left_out.extend(why_not(found).map(|why| (number, following, why)));
        }
        found.push(both);
        steps.came_back();
    }
    for item in repetition.tasks.iter().flat_map(|task| &task.items) {
        compare(item, &found, repetition, &mut looked);
    }
    Ok(looked)
}

/// Where links lead from a path, if that is mapped.
fn led_to(roots: &[PathBuf], place: &Place, following: Following) -> Option<Place> {
    let whole = roots.get(usize::from(place.map))?.join(OsStr::from_bytes(&place.path));
    let real = match following {
        Following::Follows => whole.canonicalize(),
        Following::Not => {
            whole.parent()?.canonicalize().map(|above| above.join(whole.file_name().unwrap_or_default()))
        }
    }
    .ok()?;
    let below = (0..).zip(roots).filter_map(|(map, root)| Some((map, root, real.strip_prefix(root).ok()?)));
    let (map, _, path) = below.max_by_key(|(_, root, _)| root.as_os_str().len())?;
    let path = if path.as_os_str().is_empty() { b".".to_vec() } else { path.as_os_str().as_bytes().to_vec() };
    Some(Place { map, path })
}

fn open_root(path: &PathBuf) -> Result<OwnedFd, String> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let unusable = |errno: Errno| format!("cannot open {}: {errno}", path.display());
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(unusable)?;
    let kind = rustix::fs::fstatfs(&opened).map_err(unusable)?.f_type;
    let is_told_by_kernel =
        [libc::PROC_SUPER_MAGIC, libc::SYSFS_MAGIC].contains(&kind) || path.starts_with("/dev/pts");
    // What may be opened cannot be known before it is: it must not lead out, whoever changes what meanwhile.
    if find(&opened, b".", OFlags::empty()) == Err(Errno::NOSYS) {
        return Err("this system cannot keep what is opened within a directory (openat2, of Linux 5.6, or a container that allows it): a program cannot be repeated here"
            .to_owned());
    }
    match is_told_by_kernel || path == Path::new("/dev") {
        true => Err(format!(
            "{} is no storage: a program is never repeated in /proc, /sys or /dev",
            path.display()
        )),
        false => Ok(opened),
    }
}

/// What is at a path below a directory; EXDEV: it leads out.
fn find(root: &OwnedFd, path: &[u8], flags: OFlags) -> Found {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut attempts = 0;
    let opened = loop {
        attempts += 1;
        match openat2(root.as_fd(), &path, flags, Mode::empty(), resolve) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if attempts < ATTEMPTS => {}
            opened => break opened?,
        }
    };
    Ok(FileType::from_raw_mode(fstat(&opened)?.st_mode))
}

fn why_not(found: &Found) -> Option<WhyLeftOut> {
    match found {
        Err(Errno::XDEV) => Some(WhyLeftOut::Leads),
        Ok(FileType::RegularFile | FileType::Directory | FileType::Symlink) | Err(_) => None,
        Ok(_) => Some(WhyLeftOut::Special),
    }
}

/// Whether a look-up would come back as it did.
fn compare(item: &Item, found: &[[Found; 2]], repetition: &Repetition, looked: &mut LookedAt) {
    let Some((place, following)) = item.ask.looked_up() else { return };
    let Some(both) = found.get(place.0 as usize) else { return };
    let [followed, itself] = both;
    let found = if following == Following::Follows { followed } else { itself };
    if why_not(found).is_some() {
        return;
    }
    let errno = found.as_ref().map_or_else(|errno| errno.raw_os_error(), |_| 0);
    // Whether it may be opened, read or searched is seen when that is done.
    let expected = match i32::from(item.errno) {
        known @ (0 | libc::ENOENT | libc::ENOTDIR | libc::ELOOP) => known,
        _ => return,
    };
    looked.looked_up += 1;
    let lacks_link = matches!(item.ask, Ask::ReadLink(..)) && *found != Ok(FileType::Symlink);
    if errno == expected && !(lacks_link && expected == 0) {
        return;
    }
    looked.differing += 1;
    if looked.told.len() < TOLD_MAX {
        let path =
            repetition.places.get(place.0 as usize).map_or(String::new(), |place| path_text(&place.path));
        let told = match (expected, errno) {
            (0, 0) => format!("{path} is no link"),
            (0, _) => format!("{path} is not there"),
            _ => format!("{path} is there, and was not"),
        };
        if !looked.told.contains(&told) {
            looked.told.push(told);
        }
    }
}
