//! What a skeleton consists of: directories, links and files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// More names are not made up for one directory.
const MADE_UP_MAX: u64 = 100_000;

/// Something to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bone {
    /// Below the root, without links on the way; in messages each byte is a letter.
    #[serde(with = "super::place::bytes_as_text")]
    pub path: Vec<u8>,
    /// What.
    pub kind: BoneKind,
    /// Permissions.
    pub mode: u32,
}

/// What is to be made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BoneKind {
    /// A directory.
    Directory,
    /// A sparse file with so many bytes.
    File(u64),
    /// A symbolic link that says this.
    Link(#[serde(with = "super::place::bytes_as_text")] Vec<u8>),
}

/// Whether a link that says this leads to what lies beside or below it, wherever it is moved to.
pub(super) fn leads_down(text: &[u8]) -> bool {
    !text.is_empty() && !text.starts_with(b"/") && text.split(|byte| *byte == b'/').all(|name| name != b"..")
}

/// The names of a path.
pub(super) fn names(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
}

pub(super) fn join(bones: &mut BTreeMap<Vec<u8>, Bone>, bone: Bone) {
    match bones.get_mut(&bone.path) {
        // Two names of one file: the larger, and what says more.
        Some(known) if known.kind < bone.kind && !matches!(known.kind, BoneKind::Directory) => *known = bone,
        Some(_) => {}
        None => {
            bones.insert(bone.path.clone(), bone);
        }
    }
}

/// Bytes of a record of getdents64(2) for a name of so many: 19 before it, a zero after it, and a multiple of eight.
pub(super) const fn record_bytes(name: usize) -> u64 {
    (19 + name as u64 + 1).div_ceil(8) * 8
}

/// Names whose records have so many bytes together, or a few less.
pub(super) fn made_up(bytes: u64) -> Vec<String> {
    // Of ten bytes, with a record of 32 each; the last may have more.
    let count = (bytes / 32).min(MADE_UP_MAX);
    let mut names: Vec<String> = (0..count).map(|number| format!("unkn-{number:05}")).collect();
    if let Some(last) = names.last_mut().filter(|_| count < MADE_UP_MAX) {
        last.push_str(&"-".repeat((bytes % 32) as usize));
    }
    names
}

/// What a link at this path below a root has to say to lead to the same below that root. None leads above it: the kernel stops at the root of the machine, too.
pub(super) fn relative(text: &[u8], place: &[u8]) -> Vec<u8> {
    if !text.starts_with(b"/") {
        let mut depth = names(place).count().saturating_sub(1) as i64;
        let mut is_below = |name: &&[u8]| {
            let step = match *name {
                b"." => 0,
                b".." => -1,
                _ => 1,
            };
            let stays = depth + step >= 0;
            depth += if stays { step } else { 0 };
            stays
        };
        let whole = names(text).filter(|name| is_below(name)).collect::<Vec<_>>().join(&b'/');
        return if whole.is_empty() { b".".to_vec() } else { whole };
    }
    let up = names(place).count().saturating_sub(1);
    let below = names(text).collect::<Vec<_>>().join(&b'/');
    let up: Vec<u8> = b"../".repeat(up);
    let whole = [up, below].concat();
    if whole.is_empty() { b".".to_vec() } else { whole }
}
