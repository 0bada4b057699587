//! What has to be there for a program to find what it found: directories, links, and files as large as those that it read.
//!
//! What the program says first of a path counts, as long as it has not changed it itself. What it looked for in vain is not made.
//!
//! A directory that the program listed has as many bytes of names as then: what is not known of them is made up.
//!
//! Limits: traces that iolag makes do not tell what links say, only how long that is: of those a link leads to the one name beside it, or the one path, that is as long; if
//! there is none, it is a file. A file of which only the beginning was read, and whose attributes were not asked for, is as long as that. Files hold zeros.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::bones::{Bone, BoneKind, join, leads_down, made_up, names, record_bytes, relative};
use super::mapping::is_system;
use crate::calls::{Asks, Effect, Shape, bits, shape_of};
use crate::trace::{Call, Edge, EdgeKind, Sink, Tables, lexical};

const S_IFMT: u32 = 0o170_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;
const S_IFLNK: u32 = 0o120_000;
const O_DIRECTORY: u32 = 0o200_000;
const O_EXCL: u32 = 0o200;
const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
const X_OK: u32 = 1;
const EEXIST: u16 = 17;
const ENOTDIR: u16 = 20;
const EISDIR: u16 = 21;
const EINVAL: u16 = 22;
/// As the kernel, nobody follows more links than this.
const LINKS_MAX: u32 = 40;

/// Collects what has to be there, as a trace comes.
#[derive(Debug, Default)]
pub struct Skeleton {
    shapes: Vec<Shape>,
    known: BTreeMap<Vec<u8>, Known>,
    /// What the program has changed.
    changed: BTreeSet<Vec<u8>>,
    /// Tasks whose paths are those of another root.
    elsewhere: BTreeSet<u32>,
}

#[derive(Debug, Clone, Default)]
struct Known {
    kind: Kind,
    /// Of a file.
    bytes: u64,
    mode: u32,
    /// Of a directory: how many bytes its names took when it was listed to its end.
    listed: u64,
    /// The same of a listing that has not come to its end.
    listing: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Kind {
    /// It was there.
    #[default]
    Something,
    File,
    Directory,
    Link(Vec<u8>),
    /// A link that says something of so many bytes.
    LinkOf(usize),
    /// It was not there, or is nothing that is made.
    Nothing,
}

impl Skeleton {
    /// What has to be made, directories before what lies in them.
    pub fn finish(mut self) -> Vec<Bone> {
        self.find_directories();
        self.guess_links();
        self.bones()
    }

    /// The same of what `is_own` only, and of the directories above what is changed. No link leads up, or out.
    pub(super) fn finish_within(mut self, changed: &[Vec<u8>], is_own: impl Fn(&[u8]) -> bool) -> Vec<Bone> {
        self.find_directories();
        self.guess_links();
        let above: BTreeSet<&[u8]> = changed.iter().flat_map(|path| ancestors(path)).collect();
        self.known.retain(|path, _| is_own(path) || above.contains(path.as_slice()));
        for (path, known) in &mut self.known {
            let leads_elsewhere = matches!(&known.kind, Kind::Link(text) if !leads_down(text));
            match &known.kind {
                Kind::Nothing => {}
                _ if !is_own(path) => known.kind = Kind::Directory,
                _ if leads_elsewhere => known.kind = Kind::File,
                _ => {}
            }
        }
        self.bones()
    }

    fn bones(&self) -> Vec<Bone> {
        let mut bones: BTreeMap<Vec<u8>, Bone> = BTreeMap::new();
        for (path, known) in &self.known {
            let is_link = matches!(known.kind, Kind::Link(_));
            if known.kind == Kind::Nothing || path.is_empty() {
                continue;
            }
            let Some(place) = self.resolved(path, is_link) else { continue };
            if is_link
                && (known.bytes > 0 || known.mode > 0)
                && let Some(place) = self.resolved(path, false)
            {
                // What was said of the link before it was known to be one is of what it leads to.
                let mode = known.mode & 0o777 | 0o600;
                join(&mut bones, Bone { path: place, kind: BoneKind::File(known.bytes), mode });
            }
            let kind = match &known.kind {
                Kind::Link(text) => BoneKind::Link(relative(text, &place)),
                Kind::Directory => BoneKind::Directory,
                _ => BoneKind::File(known.bytes),
            };
            let usual = if kind == BoneKind::Directory { 0o755 } else { 0o644 };
            let own = if kind == BoneKind::Directory { 0o700 } else { 0o600 };
            let mode = if known.mode == 0 { usual } else { known.mode & 0o777 | own };
            join(&mut bones, Bone { path: place, kind, mode });
        }
        let parents: BTreeSet<Vec<u8>> =
            bones.keys().flat_map(|path| ancestors(path).map(<[u8]>::to_vec)).collect();
        for path in parents {
            let kind = BoneKind::Directory;
            match bones.get_mut(&path) {
                // What was there, and has something in it, is a directory.
                Some(bone) if !matches!(bone.kind, BoneKind::Link(_)) => {
                    (bone.kind, bone.mode) = (kind, bone.mode | 0o711)
                }
                Some(_) => {}
                None => {
                    bones.insert(path.clone(), Bone { path, kind, mode: 0o755 });
                }
            }
        }
        self.make_up_names(&mut bones);
        bones.into_values().collect()
    }

    /// Fills directories that were listed with names that nobody asked for.
    fn make_up_names(&self, bones: &mut BTreeMap<Vec<u8>, Bone>) {
        let listed = self.known.iter().filter(|(_, known)| known.listed > 0);
        let listed: Vec<(Vec<u8>, u64)> =
            listed.filter_map(|(path, known)| Some((self.resolved(path, false)?, known.listed))).collect();
        for (directory, bytes) in listed {
            if bones.get(&directory).is_none_or(|bone| bone.kind != BoneKind::Directory) {
                continue;
            }
            let begin = [directory.as_slice(), b"/"].concat();
            let below = bones.range(begin.clone()..).take_while(|(path, _)| path.starts_with(&begin));
            let names = below.map(|(path, _)| &path[begin.len()..]).filter(|name| !name.contains(&b'/'));
            let known: u64 = names.map(|name| record_bytes(name.len())).sum();
            let of_dots = record_bytes(1) + record_bytes(2);
            for name in made_up(bytes.saturating_sub(known + of_dots)) {
                let path = [begin.as_slice(), name.as_bytes()].concat();
                let bone = Bone { path: path.clone(), kind: BoneKind::File(0), mode: 0o644 };
                bones.entry(path).or_insert(bone);
            }
        }
    }

    /// In what is no directory nothing is looked for without being told so.
    fn find_directories(&mut self) {
        let absent = self.known.iter().filter(|(_, known)| known.kind == Kind::Nothing);
        let above: BTreeSet<Vec<u8>> =
            absent.filter_map(|(path, _)| Some(ancestors(path).last()?.to_vec())).collect();
        for path in above {
            if let Some(known) = self.known.get_mut(&path).filter(|known| known.kind == Kind::Something) {
                known.kind = Kind::Directory;
            }
        }
    }

    /// Finds out where links lead of which only the length is known. In the place of those of which it is not found out there will be files: which these are.
    pub fn guess_links(&mut self) -> Vec<Vec<u8>> {
        let mut unknown = Vec::new();
        let of_length = |(path, known): (&Vec<u8>, &Known)| match known.kind {
            Kind::LinkOf(length) => Some((path.clone(), length)),
            _ => None,
        };
        let links: Vec<(Vec<u8>, usize)> = self.known.iter().filter_map(of_length).collect();
        for (path, length) in links {
            let above = ancestors(&path).last().unwrap_or_default();
            let is_there = |known: &Known| !matches!(known.kind, Kind::Nothing | Kind::LinkOf(_));
            let named = self.known.iter().filter(|(other, known)| is_there(known) && **other != path);
            let texts = named.filter_map(|(other, _)| {
                let beside = other.strip_prefix(above).and_then(|rest| rest.strip_prefix(b"/"));
                let beside = beside.filter(|name| name.len() == length && !name.contains(&b'/'));
                beside.or((other.len() == length).then_some(other.as_slice()))
            });
            let mut texts = texts.map(<[u8]>::to_vec);
            let kind = match (texts.next(), texts.next()) {
                (Some(only), None) => Kind::Link(only),
                _ => Kind::File,
            };
            drop(texts);
            unknown.extend((kind == Kind::File).then(|| path.clone()));
            if let Some(known) = self.known.get_mut(&path) {
                known.kind = kind;
            }
        }
        unknown
    }

    /// A path below the root, links on the way followed; that of a link itself, if it is one that is meant.
    fn resolved(&self, path: &[u8], is_link: bool) -> Option<Vec<u8>> {
        let mut left: Vec<Vec<u8>> = names(path).rev().map(<[u8]>::to_vec).collect();
        let mut done: Vec<Vec<u8>> = Vec::new();
        let mut links = 0;
        while let Some(name) = left.pop() {
            match name.as_slice() {
                b"." => continue,
                b".." => {
                    done.pop();
                    continue;
                }
                _ => done.push(name),
            }
            let here = [&b"/"[..], &done.join(&b'/')].concat();
            let Some(Known { kind: Kind::Link(text), .. }) = self.known.get(&here) else { continue };
            if left.is_empty() && is_link {
                break;
            }
            links += 1;
            if links > LINKS_MAX {
                return None;
            }
            done.pop();
            if text.starts_with(b"/") {
                done.clear();
            }
            left.extend(names(text).rev().map(<[u8]>::to_vec));
        }
        (!done.is_empty()).then(|| done.join(&b'/'))
    }

    fn was_changed(&self, path: &[u8]) -> bool {
        self.changed.contains(path) || ancestors(path).any(|above| self.changed.contains(above))
    }

    /// Something is known of a path. What is said first counts, but for what says more.
    fn learn(&mut self, path: Vec<u8>, kind: Kind, bytes: u64, mode: u32) {
        if self.was_changed(&path) || is_system(&path) {
            return;
        }
        let known =
            self.known.entry(path).or_insert_with(|| Known { kind: kind.clone(), ..Known::default() });
        if known.kind == Kind::Something && kind != Kind::Nothing {
            known.kind = kind;
        }
        if known.kind != Kind::Nothing {
            known.bytes = known.bytes.max(bytes);
            // That it may be executed may be known before its attributes are.
            if known.mode == 0 || known.mode == 0o755 && mode & 0o111 != 0 {
                known.mode = mode & 0o7777;
            }
        }
    }

    fn look(&mut self, call: &Call, shape: &Shape, name: &[u8], path: Vec<u8>) {
        if call.errno == ENOTDIR {
            if let Some(above) = ancestors(&path).last() {
                self.learn(above.to_vec(), Kind::File, 0, 0);
            }
            return;
        }
        if call.found_nothing() {
            self.learn(path, Kind::Nothing, 0, 0);
            return;
        }
        if matches!(shape.effect, Effect::Link(_)) {
            return self.look_at_link(call, path);
        }
        if !call.succeeded() {
            return;
        }
        let moved = call.result.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        match shape.effect {
            Effect::Attributes(_) => {
                let follows = !name.starts_with(b"l") && call.flags & AT_SYMLINK_NOFOLLOW == 0;
                let kind = match call.argument & S_IFMT {
                    S_IFDIR => Kind::Directory,
                    S_IFREG => Kind::File,
                    // What it says is told by who reads it.
                    S_IFLNK => return,
                    0 => Kind::Something,
                    _ => Kind::Nothing,
                };
                let path = if follows { self.followed(path) } else { path };
                let bytes = if kind == Kind::File { call.length } else { 0 };
                self.learn(path, kind, bytes, call.argument);
            }
            Effect::Open => {
                let kind = if call.flags & O_DIRECTORY == 0 { Kind::Something } else { Kind::Directory };
                let path = self.followed(path);
                self.learn(path, kind, 0, 0);
            }
            Effect::ChangeDirectory => self.learn(path, Kind::Directory, 0, 0),
            Effect::List => {
                self.learn(path.clone(), Kind::Directory, 0, 0);
                self.list(&path, moved);
            }
            Effect::Execute => {
                let path = self.followed(path);
                self.learn(path, Kind::File, 0, 0o755);
            }
            Effect::Move => {
                let path = self.followed(path);
                self.learn(path, Kind::File, call.offset.unwrap_or(0).saturating_add(moved), 0);
            }
            _ if matches!(name, b"pread64" | b"preadv" | b"preadv2") => {
                let path = self.followed(path);
                self.learn(path, Kind::File, call.offset.unwrap_or(0).saturating_add(moved), 0);
            }
            _ if matches!(name, b"access" | b"faccessat" | b"faccessat2") => {
                let path = self.followed(path);
                let mode = if call.argument & X_OK == 0 { 0 } else { 0o755 };
                self.learn(path, Kind::Something, 0, mode);
            }
            _ => self.learn(path, Kind::Something, 0, 0),
        }
    }

    /// So many bytes of names came of a directory; none at its end.
    fn list(&mut self, path: &[u8], bytes: u64) {
        let Some(known) = self.known.get_mut(path).filter(|known| known.kind == Kind::Directory) else {
            return;
        };
        known.listing = if bytes == 0 { 0 } else { known.listing.saturating_add(bytes) };
        known.listed = known.listed.max(known.listing);
    }

    /// What a link says, or how long that is; or that it is none.
    fn look_at_link(&mut self, call: &Call, path: Vec<u8>) {
        let length = call.result.and_then(|length| usize::try_from(length).ok()).filter(|_| call.succeeded());
        match length {
            Some(length) if !self.was_changed(&path) && !is_system(&path) => {
                let known = self.known.entry(path).or_default();
                if !matches!(known.kind, Kind::Link(_)) {
                    known.kind = Kind::LinkOf(length);
                }
            }
            None if call.errno == EINVAL => self.learn(path, Kind::Something, 0, 0),
            _ => {}
        }
    }

    /// Where a link leads, as far as that is known.
    fn followed(&self, path: Vec<u8>) -> Vec<u8> {
        self.resolved(&path, false).map_or(path, |below| [&b"/"[..], &below].concat())
    }

    /// What was to be made is there, or is a directory.
    fn fail_to_change(&mut self, call: &Call, shape: &Shape, path: Vec<u8>, second: Option<Vec<u8>>) {
        let makes_directory = shape.effect == Effect::None && shape.argument.is_some();
        let kind = match call.errno {
            EEXIST if makes_directory => Kind::Directory,
            EEXIST => Kind::Something,
            EISDIR => Kind::Directory,
            _ => return,
        };
        self.learn(second.unwrap_or(path), kind, 0, 0);
    }

    fn change(&mut self, call: &Call, shape: &Shape, path: Vec<u8>, second: Option<Vec<u8>>) {
        if !call.succeeded() {
            return self.fail_to_change(call, shape, path, second);
        }
        // What is made needs a directory, and what is removed or written to was there.
        if let Some(above) = ancestors(&path).last() {
            self.learn(above.to_vec(), Kind::Directory, 0, 0);
        }
        let is_made = match shape.effect {
            Effect::Open => call.flags & (bits::O_CREAT | O_EXCL) != 0,
            Effect::MakeLink => true,
            _ => shape.second.is_none() && shape.descriptor.is_none() && shape.argument.is_some(),
        };
        if !is_made && shape.path.is_some() {
            self.learn(path.clone(), Kind::Something, 0, 0);
        }
        if let Some(above) = second.as_deref().and_then(|second| ancestors(second).last()) {
            self.learn(above.to_vec(), Kind::Directory, 0, 0);
        }
        self.changed.extend([path].into_iter().chain(second));
    }
}

/// The directories above a path, without the root, the highest first.
fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|(at, byte)| *at > 0 && **byte == b'/').map(|(at, _)| at);
    ends.map(|end| &path[..end])
}

impl Sink for Skeleton {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        for name in tables.names.iter().skip(self.shapes.len()) {
            self.shapes.push(shape_of(name));
        }
        let shape = self.shapes[usize::from(call.name.0)];
        let Some(path) = call.path.map(|path| tables.paths.path(path)).filter(|path| path.starts_with(b"/"))
        else {
            return Ok(());
        };
        if !call.came_back() || self.elsewhere.contains(&call.task.0) {
            return Ok(());
        }
        let name = tables.names.name(call.name);
        let plain = lexical(path);
        let second = call.second.map(|second| tables.paths.path(second));
        if let (Effect::Link(_), true, Some(text)) = (shape.effect, call.succeeded(), second) {
            if !self.was_changed(&plain) {
                self.known.entry(plain).or_default().kind = Kind::Link(text.to_vec());
            }
            return Ok(());
        }
        if shape.asks(call.flags) == Asks::Changes {
            let second = second.filter(|second| second.starts_with(b"/")).map(lexical);
            self.change(call, &shape, plain, second.filter(|_| shape.effect != Effect::MakeLink));
        } else {
            self.look(call, &shape, name, plain);
        }
        Ok(())
    }

    fn edge(&mut self, edge: &Edge, _: &Tables) -> io::Result<()> {
        match edge.kind {
            EdgeKind::ChangeView => {
                self.elsewhere.insert(edge.task.0);
            }
            EdgeKind::Fork(child) if self.elsewhere.contains(&edge.task.0) => {
                self.elsewhere.insert(child.0);
            }
            _ => {}
        }
        Ok(())
    }
}
