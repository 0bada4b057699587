//! The file in a working directory that says whose it is.
//!
//! Its name holds the token that its run's manifest has, so that clean-up knows the directory again, whatever became of its maker, its
//! inode and its device; its text names the run, for people. It is made before anything else in the directory and shows to whom
//! it belongs and whether it takes bytes; it is removed after everything else.

use std::ffi::CString;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};

use iolag_model::{PlaceMaker, PlaceToken, RunId};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::directory::{self, attributes, retry, type_of};
use super::names::{TopName, token_name};

/// A full file system may accept names, and only then refuse bytes.
const BYTES: usize = 4096;
const RUN: &str = "run ";

/// What is in a working directory, by name; files that were made to see their owner count as nothing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// Tokens of those who have claimed it, the oldest first, and when (seconds and nanoseconds since 1970).
    pub claims: Vec<((i64, u32), PlaceToken)>,
    /// Whether there is anything else.
    pub has_more: bool,
}

impl Contents {
    /// What is in this directory.
    pub fn of(directory: BorrowedFd<'_>) -> Result<Self, Errno> {
        let mut contents = Self::default();
        let failed = directory::visit(directory, |name, listed| {
            match (TopName::of(name.to_bytes()), type_of(directory, name, listed)) {
                (TopName::Token(token), Ok(FileType::RegularFile)) => match attributes(directory, name) {
                    Ok(found) => {
                        let written = (found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec);
                        contents.claims.push((written, token));
                    }
                    Err(Errno::NOENT) => {}
                    Err(errno) => return Some(errno),
                },
                (TopName::Owner, Ok(FileType::RegularFile)) | (_, Err(Errno::NOENT)) => {}
                _ => contents.has_more = true,
            }
            None
        })?;
        contents.claims.sort_unstable_by_key(|(written, token)| (*written, token.0));
        failed.map_or(Ok(contents), Err)
    }

    /// Whether there is nothing at all.
    pub const fn is_empty(&self) -> bool {
        self.claims.is_empty() && !self.has_more
    }

    /// Whose the directory is: of several the one who came first, since whoever sees another's token gives way, and was killed before it
    /// could. `None` if that cannot be told.
    pub fn owner(&self) -> Option<PlaceToken> {
        match self.claims[..] {
            [] => None,
            [(_, token)] => Some(token),
            [(first, token), (second, _), ..] => (first < second).then_some(token),
        }
    }

    /// Whether this token is there.
    pub fn has(&self, token: PlaceToken) -> bool {
        self.claims.iter().any(|(_, claim)| *claim == token)
    }

    /// Whether nothing but this token is there.
    pub fn is_only(&self, token: PlaceToken) -> bool {
        !self.has_more && matches!(self.claims[..], [(_, claim)] if claim == token)
    }
}

/// The name of a token's file, as a system call takes it.
pub(super) fn file_name(token: PlaceToken) -> Result<CString, Errno> {
    // Letters and digits have no NUL in them.
    CString::new(token_name(token)).map_err(|_| Errno::INVAL)
}

/// What is written in the file.
pub(super) fn text(maker: &PlaceMaker) -> Vec<u8> {
    let run = &maker.run;
    let mut text =
        format!("{RUN}{run}\niolag made this directory and removes it with: iolag cleanup {run}\n")
            .into_bytes();
    text.resize(BYTES, b'\n');
    text
}

/// The run whose token this is, if its file says so.
pub(super) fn run_of(directory: BorrowedFd<'_>, token: PlaceToken) -> Option<RunId> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(directory, file_name(token).ok()?, flags, Mode::empty()).ok()?;
    let mut text = Vec::new();
    std::fs::File::from(file).take(BYTES as u64).read_to_end(&mut text).ok()?;
    str::from_utf8(&text).ok()?.lines().next()?.strip_prefix(RUN)?.parse().ok()
}

/// Removes the file of a token; a missing one is fine.
pub(super) fn remove(directory: impl AsFd, token: PlaceToken) -> Result<(), Errno> {
    match file_name(token).and_then(|name| retry(|| unlinkat(&directory, &name, AtFlags::empty()))) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}
