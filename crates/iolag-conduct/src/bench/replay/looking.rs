//! What is there of what a program asks for, looked up before anything is measured: what is no file and no directory, and what leads out of the map, is never asked; and what
//! would not come back as it did can be told.
//!
//! No link is followed that leads out of what is mapped. What is mounted in there is a part of it, but for what the kernel tells.
//!
//! Limits: each path is looked up once, which brings names into caches; what changes between the look and the run shows in the run.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iolag_model::{ReplayMap, WhyLeftOut};
use iolag_trace::{Ask, At, Following, Item, Name, Place, PlaceId, Repetition, path_text};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat2, readlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::roots::{identity_of, roots};
use crate::contact::scout::Steps;

/// So many of those that would not come back as they did are told.
const TOLD_MAX: usize = 5;
/// As the kernel, nobody follows more links than this.
const LINKS_MAX: u32 = 40;
/// The kernel gives up where somebody renames meanwhile, and is asked again so often.
const ATTEMPTS: u32 = 100;

/// What was found in a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookedAt {
    /// Paths that are not to be asked for: as which names, and why.
    pub left_out: Vec<(PlaceId, Following, WhyLeftOut)>,
    /// Paths that are asked for elsewhere: a link that the kernel is not let to follow leads there, and that is mapped.
    pub moved: Vec<(PlaceId, Following, Place)>,
    /// Which directories are asked, the target first: device and inode.
    pub roots: Vec<(u64, u64)>,
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
        repetition.roots.clone_from(&self.roots);
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
    for (root, path) in roots.iter().zip(&named) {
        let identity = identity_of(root.as_fd());
        looked.roots.push(identity.map_err(|errno| format!("cannot look at {}: {errno}", path.display()))?);
    }
    let is_own = |place: &Place| repetition.own.as_ref().is_some_and(|own| own.map == place.map);
    for (number, place) in (0..).map(PlaceId).zip(&repetition.places) {
        if is_own(place) {
            // It is made for each copy.
            found.push([const { Err(Errno::NOENT) }; 2]);
            continue;
        }
        let root = roots.get(usize::from(place.map));
        let look = |flags| root.map_or(Err(Errno::NOENT), |root| find_all(root, &place.path, flags));
        let mut both = [look(OFlags::empty()), look(OFlags::NOFOLLOW)];
        for (following, found) in [Following::Follows, Following::Not].into_iter().zip(&mut both) {
            if *found == Err(Errno::XDEV)
                && let Some(there) = led_to(&roots, &real, place, following)
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
    let is_moved = |number| looked.moved.iter().any(|(moved, ..)| *moved == number);
    let above: Vec<_> =
        leads_above(repetition, &roots).into_iter().filter(|(number, ..)| !is_moved(*number)).collect();
    looked.moved.extend(above);
    for item in repetition.tasks.iter().flat_map(|task| &task.items) {
        let place = item.ask.looked_up().and_then(|(place, _)| repetition.places.get(place.0 as usize));
        if place.is_some_and(is_own) {
            continue;
        }
        compare(item, &found, repetition, &mut looked);
    }
    Ok(looked)
}

/// What was opened below an open directory, and leads above that one, though not out of the map: it is opened from the map.
fn leads_above(repetition: &Repetition, roots: &[OwnedFd]) -> Vec<(PlaceId, Following, Place)> {
    let mut known: BTreeSet<(PlaceId, u32)> = BTreeSet::new();
    let mut above = Vec::new();
    for item in repetition.tasks.iter().flat_map(|task| &task.items) {
        let Ask::Open(Name { place: number, at: At::Descriptor(_, left) }, ..) = &item.ask else { continue };
        let Some(place) = repetition.places.get(number.0 as usize) else { continue };
        let Some(root) = roots.get(usize::from(place.map)).filter(|_| known.insert((*number, *left))) else {
            continue;
        };
        let (directory, rest) = place.path.split_at((*left as usize).min(place.path.len()));
        let directory = if directory.is_empty() { &b"."[..] } else { directory };
        let Ok(directory) = open_path(root, directory, OFlags::DIRECTORY) else { continue };
        if find(&directory, rest, OFlags::empty()) == Err(Errno::XDEV) {
            above.extend(
                [Following::Follows, Following::Not].map(|following| (*number, following, place.clone())),
            );
        }
    }
    above
}

/// Where links lead from a path, if all of them lie in what is mapped, and lead there. Nothing else is looked at: what lies elsewhere may hang.
fn led_to(roots: &[OwnedFd], real: &[PathBuf], place: &Place, following: Following) -> Option<Place> {
    let names = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|byte| *byte == b'/').rev().filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (mut map, mut left, mut done) = (usize::from(place.map), names(&place.path), Vec::<Vec<u8>>::new());
    let mut links = 0;
    while let Some(name) = left.pop() {
        match name.as_slice() {
            b"." => continue,
            b".." => {
                if done.pop().is_none() {
                    // Where that is says the name of the directory that is mapped, and what comes then.
                    let mut above = real.get(map)?.parent()?;
                    while left.last().is_some_and(|name| name == b"..") {
                        left.pop();
                        above = above.parent().unwrap_or(above);
                    }
                    let rest: Vec<&[u8]> = left.iter().rev().map(Vec::as_slice).collect();
                    let (there, below) = mapped(real, &above.join(OsStr::from_bytes(&rest.join(&b'/'))))?;
                    (map, left) = (there, names(&below));
                }
                continue;
            }
            _ => done.push(name),
        }
        if left.is_empty() && following == Following::Not {
            break;
        }
        let here = CString::new(done.join(&b'/')).ok()?;
        let Ok(text) = readlinkat(roots.get(map)?, &here, Vec::new()) else { continue };
        links += 1;
        if links > LINKS_MAX {
            return None;
        }
        done.pop();
        let text = text.into_bytes();
        if text.starts_with(b"/") {
            let (there, below) = mapped(real, Path::new(OsStr::from_bytes(&text)))?;
            (map, done) = (there, Vec::new());
            left.extend(names(&below));
        } else {
            left.extend(names(&text));
        }
    }
    let path = if done.is_empty() { b".".to_vec() } else { done.join(&b'/') };
    Some(Place { map: u16::try_from(map).ok()?, path })
}

/// Which directory a path lies in, and what is left of it.
fn mapped(real: &[PathBuf], path: &Path) -> Option<(usize, Vec<u8>)> {
    let below =
        real.iter().enumerate().filter_map(|(map, root)| Some((map, root, path.strip_prefix(root).ok()?)));
    let (map, _, below) = below.max_by_key(|(_, root, _)| root.as_os_str().len())?;
    Some((map, below.as_os_str().as_bytes().to_vec()))
}

fn open_root(path: &PathBuf) -> Result<OwnedFd, String> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let unusable = |errno: Errno| format!("cannot open {}: {errno}", path.display());
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(unusable)?;
    let is_told_by_kernel = is_system(opened.as_fd()).map_err(unusable)? || path.starts_with("/dev/pts");
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
    let opened = open_path(root, path, flags)?;
    if is_system(opened.as_fd())? {
        // What the kernel tells is mounted in what is mapped.
        return Ok(FileType::CharacterDevice);
    }
    Ok(FileType::from_raw_mode(fstat(&opened)?.st_mode))
}

fn open_path(root: &OwnedFd, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut attempts = 0;
    loop {
        attempts += 1;
        match openat2(root.as_fd(), &path, flags, Mode::empty(), resolve) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if attempts < ATTEMPTS => {}
            opened => return opened,
        }
    }
}

/// Whether it lies in what the kernel tells.
fn is_system(opened: BorrowedFd<'_>) -> Result<bool, Errno> {
    let kind = fstatfs(opened)?.f_type;
    Ok([libc::PROC_SUPER_MAGIC, libc::SYSFS_MAGIC].contains(&kind))
}

/// The same of a path of which the end, or something on the way, is no link that a file system has, but one of the kernel's.
fn find_all(root: &OwnedFd, path: &[u8], flags: OFlags) -> Found {
    let found = find(root, path, flags);
    if found != Err(Errno::LOOP) {
        return found;
    }
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let is_of_system = ends.map(|end| find(root, &path[..end], OFlags::empty()));
    let is_of_system = is_of_system.into_iter().any(|above| above == Ok(FileType::CharacterDevice));
    if is_of_system { Ok(FileType::CharacterDevice) } else { found }
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
            // Whoever may not look knows neither.
            (_, libc::EACCES | libc::EPERM) => {
                format!("{path} may not be looked at ({})", Errno::from_raw_os_error(errno))
            }
            (0, 0) => format!("{path} is no link"),
            (0, _) => format!("{path} is not there"),
            _ => format!("{path} is there, and was not"),
        };
        if !looked.told.contains(&told) {
            looked.told.push(told);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_within_what_is_mapped_and_nowhere_else() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap();
        let roots = ["one", "two"].map(|name| real.join(name));
        for root in &roots {
            std::fs::create_dir_all(root.join("d")).unwrap();
        }
        std::fs::create_dir(real.join("other")).unwrap();
        for (link, text) in [
            ("one/across", "../two/d"),
            ("one/d/absolute", roots[1].join("d").to_str().unwrap()),
            ("one/chain", "d/absolute/x"),
            ("one/out", "../other/x"),
            ("one/outer", "/etc/passwd"),
            ("one/round", "round"),
            ("two/here", "d"),
        ] {
            symlink(text, real.join(link)).unwrap();
        }
        let opened: Vec<OwnedFd> = roots.iter().map(|root| open_root(root).unwrap()).collect();
        let led = |path: &str, following| {
            let place = Place { map: 0, path: path.into() };
            let there = led_to(&opened, &roots, &place, following)?;
            Some((there.map, String::from_utf8(there.path).unwrap()))
        };
        for (path, expected) in [
            ("across/f", Some((1, "d/f"))),
            ("chain", Some((1, "d/x"))),
            ("across/../here/f", Some((1, "d/f"))),
            ("out", None),
            ("outer", None),
            ("round", None),
        ] {
            let expected = expected.map(|(map, path)| (map, path.to_owned()));
            assert_eq!(led(path, Following::Follows), expected, "{path}");
        }
        assert_eq!(led("d/absolute", Following::Not), Some((0, "d/absolute".to_owned())));
    }

    #[test]
    fn what_leads_above_an_open_directory_is_opened_from_the_map() {
        let site = tempfile::tempdir().unwrap();
        std::fs::create_dir(site.path().join("d")).unwrap();
        std::fs::write(site.path().join("f"), "").unwrap();
        symlink("../f", site.path().join("d/up")).unwrap();
        symlink("up", site.path().join("d/beside")).unwrap();
        std::fs::write(site.path().join("d/own"), "").unwrap();
        let place = |path: &str| Place { map: 0, path: path.into() };
        let open = |place, left| Item {
            ask: Ask::Open(Name { place: PlaceId(place), at: At::Descriptor(0, left) }, 0, None),
            after: Vec::new(),
            start: iolag_model::Nanoseconds::ZERO,
            gap: iolag_model::Nanoseconds::ZERO,
            errno: 0,
        };
        let items = vec![open(0, 2), open(0, 2), open(1, 2), open(2, 2), open(2, 0)];
        let repetition = Repetition {
            places: ["d/up", "d/own", "d/beside"].map(place).into(),
            tasks: vec![iolag_trace::TaskItems { sharing: iolag_trace::Sharing::NOTHING, items }],
            ..Repetition::default()
        };
        let above = leads_above(&repetition, &[open_root(&site.path().to_owned()).unwrap()]);
        let moved: Vec<u32> = above.iter().map(|(number, ..)| number.0).collect();
        assert_eq!(moved, [0, 0, 2, 2], "whether the link itself is asked for, or what it leads to");
        assert!(above.iter().all(|(number, _, there)| *there == repetition.places[number.0 as usize]));
    }

    #[test]
    fn what_the_kernel_tells_is_never_asked_wherever_it_is_mounted() {
        let root = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        for path in ["proc", "proc/self/exe", "proc/self/cwd/x", "proc/self/fd/0"] {
            assert_eq!(
                find_all(&root, path.as_bytes(), OFlags::empty()),
                Ok(FileType::CharacterDevice),
                "{path}"
            );
        }
    }
}
