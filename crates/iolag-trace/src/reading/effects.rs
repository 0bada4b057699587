//! What a call that has ended changed.

use std::collections::HashMap;

use super::interpreting::{closes_at_execute, named_path};
use super::kernel::{Kernel, Standing};
use crate::calls::{Effect, Shape, bits};
use crate::state::Opened;
use crate::text::arguments::{Arguments, Descriptor, number};
use crate::text::outcome::Outcome;
use crate::trace::{Call, PathId, Tables, lexical};

/// A call that has ended, and everything that is known of it.
pub(super) struct Done<'a> {
    pub number: u32,
    pub standing: Standing,
    pub shape: &'a Shape,
    pub arguments: &'a Arguments<'a>,
    pub outcome: &'a Outcome<'a>,
    /// All of its text.
    pub text: &'a [u8],
}

impl Done<'_> {
    /// Changes what the task has as the kernel did, and notes in the call where in the file it was.
    pub(super) fn apply(&self, call: &mut Call, kernel: &mut Kernel, tables: &mut Tables) {
        let files = self.standing.files;
        let Some(descriptor) = call.descriptor.or(Some(-1)) else { return };
        if self.shape.effect == Effect::Close && call.errno != EBADF {
            // Also one that failed to write what was left is closed.
            kernel.files.close(files, descriptor);
        }
        let Some(result) = call.result.filter(|_| call.succeeded()) else { return };
        let new = i32::try_from(result).unwrap_or(-1);
        let closes = || closes_at_execute(call, self.shape, self.text);
        match self.shape.effect {
            Effect::Open => {
                let path = self.outcome.name.map(|name| named_path(name, tables)).or(call.path);
                let position = (call.flags & bits::O_APPEND == 0).then_some(0);
                kernel.files.open(files, new, Opened { path, position }, closes());
            }
            Effect::OpenOther => kernel.files.open(files, new, Opened::UNKNOWN, closes()),
            Effect::Pair(place) => {
                for number in pair(self.arguments.get(place)) {
                    kernel.files.open(files, number, Opened::UNKNOWN, closes());
                }
            }
            Effect::CloseRange => self.close_range(call, kernel),
            Effect::Duplicate => {
                kernel.files.duplicate(files, descriptor, new, call.flags & bits::O_CLOEXEC != 0);
            }
            Effect::Control => self.control(call, descriptor, new, kernel),
            Effect::ChangeDirectory | Effect::ChangeDirectoryTo => {
                kernel.set_directory(self.standing, call.path);
            }
            Effect::Tell(_) => {
                // Outside of its root, or removed, it is told with words around it.
                let told = call.path.filter(|path| tables.paths.path(*path).starts_with(b"/"));
                if told.is_some() {
                    kernel.set_directory(self.standing, told);
                }
            }
            Effect::Move => self.advance(call, descriptor, result, kernel),
            Effect::Seek => {
                if let Some(opened) = kernel.files.get_mut(files, descriptor) {
                    opened.position = u64::try_from(result).ok();
                }
            }
            Effect::Rename => rename(call, kernel, tables),
            Effect::Execute => {
                kernel.unshare_files(self.number);
                if let Some(standing) = kernel.standing(self.number) {
                    kernel.files.execute(standing.files);
                }
            }
            Effect::Unshare => {
                if call.flags & bits::CLONE_FILES != 0 {
                    kernel.unshare_files(self.number);
                }
                if call.flags & (bits::CLONE_FS | bits::CLONE_NEWNS) != 0 {
                    kernel.unshare_place(self.number);
                }
            }
            Effect::None
            | Effect::Close
            | Effect::Attributes(_)
            | Effect::List
            | Effect::Link(_)
            | Effect::MakeLink
            | Effect::Fork
            | Effect::Wait
            | Effect::WaitFor(_)
            | Effect::ChangeView
            | Effect::Speak
            | Effect::Lock => {}
        }
    }

    fn advance(&self, call: &mut Call, descriptor: i32, result: i64, kernel: &mut Kernel) {
        let Some(opened) = kernel.files.get_mut(self.standing.files, descriptor) else { return };
        call.offset = opened.position;
        opened.position =
            opened.position.map(|position| position.saturating_add(u64::try_from(result).unwrap_or(0)));
    }

    fn close_range(&self, call: &Call, kernel: &mut Kernel) {
        if call.flags & bits::CLOSE_RANGE_UNSHARE != 0 {
            kernel.unshare_files(self.number);
        }
        let Some(standing) = kernel.standing(self.number) else { return };
        // The last may be ~0U, which is written in several ways.
        let bound = |place| number(self.arguments.get(place)).and_then(|bound| i32::try_from(bound).ok());
        let last = bound(1).filter(|last| *last >= 0).unwrap_or(i32::MAX);
        for descriptor in kernel.files.numbers(standing.files, bound(0).unwrap_or(i32::MAX), last) {
            match call.flags & bits::CLOSE_RANGE_CLOEXEC {
                0 => kernel.files.close(standing.files, descriptor),
                _ => kernel.files.set_closes_at_execute(standing.files, descriptor, true),
            }
        }
    }

    fn control(&self, call: &Call, descriptor: i32, new: i32, kernel: &mut Kernel) {
        let files = self.standing.files;
        match call.argument {
            bits::F_DUPFD => kernel.files.duplicate(files, descriptor, new, false),
            bits::F_DUPFD_CLOEXEC => kernel.files.duplicate(files, descriptor, new, true),
            bits::F_SETFD => {
                let closes = call.flags & bits::FD_CLOEXEC != 0;
                kernel.files.set_closes_at_execute(files, descriptor, closes);
            }
            _ => {}
        }
    }
}

const EBADF: u16 = 9;

/// `[3, 4]`, `[3<pipe:[1]>, 4<pipe:[1]>]`.
fn pair(text: &[u8]) -> impl Iterator<Item = i32> + '_ {
    let inner = text.strip_prefix(b"[").unwrap_or_default();
    let numbers = inner.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    numbers.filter_map(|text| Descriptor::of(text).map(|descriptor| descriptor.number)).take(2)
}

/// What was opened, and where tasks stand, goes by its new name.
fn rename(call: &Call, kernel: &mut Kernel, tables: &mut Tables) {
    const RENAME_EXCHANGE: u32 = 2;
    let (Some(old), Some(new)) = (call.path, call.second) else { return };
    let (old, new) = (lexical(tables.paths.path(old)), lexical(tables.paths.path(new)));
    let is_exchange = call.flags & RENAME_EXCHANGE != 0;
    let mut known: HashMap<PathId, PathId> = HashMap::new();
    let mut name_of = |path: PathId| {
        *known.entry(path).or_insert_with(|| {
            let plain = lexical(tables.paths.path(path));
            let name = moved(&plain, &old, &new)
                .or_else(|| is_exchange.then(|| moved(&plain, &new, &old)).flatten());
            name.map_or(path, |name| tables.paths.number(&name))
        })
    };
    for opened in kernel.files.iter_mut() {
        opened.path = opened.path.map(&mut name_of);
    }
    for place in kernel.places.iter_mut() {
        *place = place.map(&mut name_of);
    }
}

/// What `path` is called after `old` became `new`, if it is that or lies in it.
fn moved(path: &[u8], old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let rest = path.strip_prefix(old)?;
    (rest.is_empty() || rest.starts_with(b"/")).then(|| [new, rest].concat())
}
