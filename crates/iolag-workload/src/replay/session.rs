//! One task of a copy: makes the calls of its items, and judges what comes back.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use iolag_backend::{CacheMaker, Completion, Mark, Request, Session};
use iolag_model::{FailureCode, Operation};
use iolag_trace::{Ask, Change, Item};
use rustix::io::Errno;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::answer::{Answer, close};
use super::ask::{Call, Room, flags_here, is_file, unmap};
use super::buffers::Buffers;
use super::change::{Changing, flags_to_write};
use super::paths::Paths;
use super::progress::Progress;
use crate::payload::Payload;

/// As the length of an edge: what others do is waited for, and nothing else done.
pub(super) const ONLY_WAITS: u64 = 1;
/// As its number: all other tasks are waited for.
pub(super) const ALL_OTHERS: u64 = u64::MAX;
/// No record of a directory has more bytes.
const RECORD_MAX: u64 = 280;
/// So many disagreements of a task are told in words; the others are counted.
const TOLD_MAX: u32 = 20;

/// What all tasks of a copy have together.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    pub paths: &'a Paths,
    pub progress: Progress,
    pub buffers: Buffers,
    /// By number of the repetition: what a descriptor is in the tables of those who have it.
    pub descriptors: Box<[AtomicI32]>,
}

impl Shared<'_> {
    fn descriptor(&self, number: u32) -> RawFd {
        self.descriptors.get(number as usize).map_or(-1, |known| known.load(Ordering::Acquire))
    }

    fn opened(&self, number: u32, descriptor: RawFd) {
        if let Some(known) = self.descriptors.get(number as usize) {
            known.store(descriptor, Ordering::Release);
        }
    }
}

/// Begins another task of the copy.
pub(super) type Fork<'a> = dyn Fn(u32) -> Result<(), Errno> + Sync + 'a;

/// One task.
pub(super) struct ReplaySession<'a> {
    items: &'a [Item],
    shared: &'a Shared<'a>,
    fork: &'a Fork<'a>,
    /// Whether the task is to stop.
    is_stopped: &'a (dyn Fn() -> bool + Sync),
    caches: Option<Arc<dyn CacheMaker>>,
    /// Of the first task.
    payload: Option<Payload>,
    /// Where what is read goes.
    room: Room,
    /// What is written.
    noise: &'a [u8],
    prepared: Option<Call<'a>>,
    left: Option<Answer>,
    said: Option<String>,
    told: u32,
}

impl<'a> ReplaySession<'a> {
    /// That of a task with these items.
    pub(super) fn new(
        (task, items): (u32, &'a [Item]),
        shared: &'a Shared<'a>,
        fork: &'a Fork<'a>,
        is_stopped: &'a (dyn Fn() -> bool + Sync),
        caches: Option<Arc<dyn CacheMaker>>,
        payload: Option<Payload>,
    ) -> Self {
        let (room, noise) = (shared.buffers.room(task), shared.buffers.noise());
        let (prepared, left, said, told) = (None, None, None, 0);
        Self { items, shared, fork, is_stopped, caches, payload, room, noise, prepared, left, said, told }
    }

    fn item(&self, request: &Request) -> Option<&'a Item> {
        self.items.get(usize::try_from(request.key.index).ok()?)
    }

    fn call(&self, ask: &Ask) -> Option<Call<'a>> {
        let paths = self.shared.paths;
        let on = |number: u32| self.shared.descriptor(number);
        Some(match *ask {
            Ask::Stat(name, flags) => {
                let (at, path) = paths.looked_up(name, on);
                Call::Stat(at, path, flags)
            }
            Ask::Statx(name, flags) => {
                let (at, path) = paths.looked_up(name, on);
                Call::Statx(at, path, flags)
            }
            Ask::Access(name, mode, flags) => {
                let (at, path) = paths.looked_up(name, on);
                Call::Access(at, path, mode, flags)
            }
            Ask::ReadLink(name, length) => {
                let (at, path) = paths.looked_up(name, on);
                Call::ReadLink(at, path, length)
            }
            Ask::Open(name, flags, _) => {
                let (at, path) = paths.looked_up(name, on);
                Call::Open(at, path, flags)
            }
            Ask::StatFs(place) => Call::StatFs(paths.whole(place)),
            Ask::ChangeDirectory(place) => Call::ChangeDirectory(paths.whole(place)),
            Ask::TellDirectory => Call::TellDirectory,
            Ask::ChangeDirectoryTo(number) => Call::ChangeDirectoryTo(on(number)),
            Ask::Attributes(number) => Call::Attributes(on(number)),
            Ask::StatFsOf(number) => Call::StatFsOf(on(number)),
            Ask::Read(number, length, _) => Call::Read(on(number), length),
            Ask::ReadAt(number, length, _, offset) => Call::ReadAt(on(number), length, offset),
            Ask::Seek(number, offset, whence) => Call::Seek(on(number), offset, whence),
            Ask::List(number, length, _) => Call::List(on(number), length),
            Ask::Map(number, length, offset) => Call::Map(on(number), length, offset),
            Ask::Flags(number) => Call::Flags(on(number)),
            Ask::IsTerminal(number) => Call::IsTerminal(on(number)),
            Ask::Duplicate(from, _, over) => {
                Call::Duplicate(on(from), over.map(on).filter(|over| *over >= 0))
            }
            Ask::Close(ref all) => Call::Close(on(*all.first()?)),
            Ask::Change(ref change) => Call::Change(self.changing(change)),
            Ask::Fork(_) | Ask::Execute(_) | Ask::Wait | Ask::CloseAll(_) => return None,
        })
    }

    fn changing(&self, change: &Change) -> Changing<'a> {
        let paths = self.shared.paths;
        let on = |number: u32| self.shared.descriptor(number);
        let of = |place| paths.of(place);
        match *change {
            Change::Open(place, flags, mode, _) => {
                let (at, path) = of(place);
                Changing::Open(at, path, flags_here(flags) | flags_to_write(flags), mode)
            }
            Change::Write(number, length, _) => Changing::Write(on(number), length),
            Change::WriteAt(number, length, _, offset) => Changing::WriteAt(on(number), length, offset),
            Change::Truncate(number, length) => Changing::Truncate(on(number), length),
            Change::Synchronise(number) => Changing::Synchronise(on(number)),
            Change::Remove(place) => Changing::Remove(of(place).0, of(place).1, 0),
            Change::RemoveDirectory(place) => Changing::Remove(of(place).0, of(place).1, libc::AT_REMOVEDIR),
            Change::MakeDirectory(place, mode) => Changing::MakeDirectory(of(place).0, of(place).1, mode),
            Change::Rename(from, to, flags) => Changing::Rename(of(from).0, of(from).1, of(to).1, flags),
            Change::Link(from, to) => Changing::Link(of(from).0, of(from).1, of(to).1),
            Change::SymbolicLink(text, place) => Changing::SymbolicLink(of(text).1, of(place).0, of(place).1),
            Change::Attributes(place, flags, attribute) => {
                Changing::Attributes(of(place).0, of(place).1, flags as i32, attribute)
            }
            Change::AttributesOf(number, attribute) => Changing::AttributesOf(on(number), attribute),
        }
    }

    /// Waits for others, and does what the item is if it is an edge.
    fn edge(&self, request: &Request) -> Completion {
        let progress = &self.shared.progress;
        if request.key.index == ALL_OTHERS {
            progress.wait_until(Progress::is_alone, self.is_stopped);
            return Completion::ok(0);
        }
        let Some(item) = self.item(request) else { return Completion::failed(Errno::INVAL.into()) };
        progress.wait_until(|progress| progress.is_done(&item.after), self.is_stopped);
        if request.bytes == ONLY_WAITS || progress.over().is_some() || (self.is_stopped)() {
            return Completion::ok(0);
        }
        match &item.ask {
            Ask::Fork(task) => match (self.fork)(*task) {
                Ok(()) => Completion::ok(0),
                Err(errno) => Completion::failed(errno.into()),
            },
            Ask::Execute(closed) => {
                // A program that is executed has a table of its own.
                // SAFETY: the descriptors of a repetition are numbers, which mean the same in the copy.
                let _ = unsafe { unshare_unsafe(UnshareFlags::FILES) };
                self.close_all(closed);
                Completion::ok(0)
            }
            Ask::CloseAll(closed) => {
                self.close_all(closed);
                Completion::ok(0)
            }
            _ => Completion::ok(0),
        }
    }

    fn close_all(&self, numbers: &[u32]) {
        numbers.iter().map(|number| self.shared.descriptor(*number)).filter(|on| *on >= 0).for_each(close);
    }

    /// What is to be known of an answer that is not the trace's.
    #[cold]
    fn disagree(&mut self, item: &Item, completion: Completion, came: String) -> Completion {
        if self.told < TOLD_MAX {
            self.told += 1;
            let expected = match item.errno {
                0 => "success".to_owned(),
                errno => name_of(errno.into()),
            };
            let (call, about) = (item.ask.name(), self.about(item));
            self.said = Some(format!("{call}{about}: {came}; the trace has {expected}"));
        }
        completion
    }

    fn about(&self, item: &Item) -> String {
        let paths = self.shared.paths;
        let path = match item.ask {
            Ask::Stat(name, _) | Ask::Statx(name, _) | Ask::Access(name, ..) | Ask::ReadLink(name, _) => {
                paths.whole(name.place)
            }
            Ask::Open(name, ..) => paths.whole(name.place),
            Ask::StatFs(place) | Ask::ChangeDirectory(place) => paths.whole(place),
            Ask::Change(ref change) if change.descriptor().is_none() => match change.places().last() {
                Some(place) => paths.whole(place),
                None => return String::new(),
            },
            // What this task has opened so.
            ref ask => {
                let Some(on) = ask.descriptors().first() else { return String::new() };
                match self.items.iter().find(|item| item.ask.opens() == Some(*on)).map(|item| &item.ask) {
                    Some(Ask::Open(name, ..)) => paths.whole(name.place),
                    Some(Ask::Change(Change::Open(place, ..))) => paths.whole(*place),
                    _ => return String::new(),
                }
            }
        };
        format!(" {}", iolag_trace::path_text(path.to_bytes()))
    }

    fn judged(&mut self, item: &Item, completion: Completion) -> Completion {
        let errno = completion.code.errno().unwrap_or(0);
        let expected = i32::from(item.errno);
        if errno != expected {
            return match errno {
                0 => {
                    let completion = Completion { code: FailureCode::from_errno(libc::EEXIST), ..completion };
                    self.disagree(item, completion, "it succeeded".to_owned())
                }
                errno => self.disagree(item, completion, name_of(errno)),
            };
        }
        if let (Ask::List(_, _, traced), 0) = (&item.ask, errno) {
            return self.judged_list(item, completion, *traced);
        }
        let traced = match item.ask {
            Ask::Read(_, _, traced) | Ask::ReadAt(_, _, traced, _) if errno == 0 => traced,
            Ask::Change(Change::Write(_, _, traced) | Change::WriteAt(_, _, traced, _)) if errno == 0 => {
                traced
            }
            _ => completion.bytes,
        };
        if completion.bytes == traced {
            return Completion::ok(completion.bytes);
        }
        let completion = Completion::partly(completion.bytes, FailureCode::SHORT);
        let came = format!("{} bytes came, of {traced} then", completion.bytes);
        self.disagree(item, completion, came)
    }

    /// Directories have their names in another order elsewhere, so that a part of a long listing may be a little longer or shorter.
    fn judged_list(&mut self, item: &Item, completion: Completion, traced: u64) -> Completion {
        let came = completion.bytes;
        let is_like = (came == 0) == (traced == 0) && came.abs_diff(traced) <= RECORD_MAX + traced / 10;
        match is_like {
            // Names are no data.
            true => Completion::ok(0),
            false => {
                let completion = Completion::partly(0, FailureCode::SHORT);
                self.disagree(item, completion, format!("{came} bytes of names came, of {traced} then"))
            }
        }
    }

    /// What the next items need of an answer; what was opened, and is no file any more, is closed.
    fn keep(&self, item: &Item, answer: &Answer) -> Kept {
        answer.mapping.into_iter().for_each(unmap);
        let Some(descriptor) = answer.opened else { return Kept::Nothing };
        if matches!(item.ask, Ask::Open(..) | Ask::Change(Change::Open(..))) && !is_file(descriptor) {
            close(descriptor);
            return Kept::NoFile;
        }
        match item.ask {
            Ask::Open(_, _, Some(number))
            | Ask::Duplicate(_, number, _)
            | Ask::Change(Change::Open(.., Some(number)))
                if item.errno == 0 =>
            {
                self.shared.opened(number, descriptor);
            }
            _ => close(descriptor),
        }
        Kept::Nothing
    }
}

/// What became of what an answer left.
enum Kept {
    Nothing,
    NoFile,
}

/// What an error means, with its number.
fn name_of(errno: i32) -> String {
    match errno {
        libc::EBADF => {
            "bad descriptor, since what it is about could not be opened (EBADF, errno 9)".to_owned()
        }
        libc::EINVAL => "invalid argument (EINVAL, errno 22)".to_owned(),
        errno => FailureCode::from_errno(errno).to_string(),
    }
}

impl Session for ReplaySession<'_> {
    #[inline]
    fn prepare(&mut self, request: &Request) {
        self.prepared = match request.operation {
            Operation::Edge => None,
            _ => self.item(request).and_then(|item| self.call(&item.ask)),
        };
    }

    #[inline(always)]
    fn execute(&mut self, request: &Request) -> Completion {
        let Some(call) = &self.prepared else {
            if let (Operation::Payload, Some(payload)) = (request.operation, &mut self.payload) {
                return payload.execute();
            }
            return match (request.operation, &self.caches) {
                (Operation::Edge, _) => self.edge(request),
                (operation, Some(caches)) if operation.is_of_caches() => caches.make(operation),
                _ => Completion::failed(Errno::OPNOTSUPP.into()),
            };
        };
        let answer = call.make(self.room, self.noise);
        let completion = answer.completion;
        self.left = Some(answer);
        completion
    }

    #[inline]
    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        let (Some(answer), Some(item)) = (self.left.take(), self.item(request)) else { return completion };
        match self.keep(item, &answer) {
            Kept::Nothing => self.judged(item, completion),
            Kept::NoFile => {
                let completion = Completion::failed(Errno::NXIO.into());
                self.disagree(item, completion, "it is a device, a pipe or a socket now".to_owned())
            }
        }
    }

    fn message(&mut self) -> Option<String> {
        self.said.take().or_else(|| self.payload.as_mut()?.message())
    }

    fn marks(&self) -> &[Mark] {
        self.payload.as_ref().map_or(&[], Payload::marks)
    }
}
