//! One task of a copy: makes the calls of its items, and judges what comes back.

use std::os::fd::RawFd;
use std::sync::Arc;

use iolag_backend::{CacheMaker, Completion, Mark, Request, Session};
use iolag_model::{FailureCode, Operation};
use iolag_trace::{Ask, Change, Item};
use rustix::io::Errno;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::ask::{asked, attributes};
use super::buffers::Room;
use super::progress::Progress;
use super::records::Records;
use super::shared::Shared;
use super::system_call::{Answer, SystemCall, close, unmap};
use crate::payload::Payload;

/// As the length of an edge: what others do is waited for, and nothing else done.
pub(super) const ONLY_WAITS: u64 = 1;
/// As its number: all other tasks are waited for.
pub(super) const ALL_OTHERS: u64 = u64::MAX;
/// No record of a directory has more bytes.
const RECORD_MAX: u64 = 280;
/// So many disagreements of a task are told in words; the others are counted.
const TOLD_MAX: u32 = 20;

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
    records: Records,
    prepared: Option<SystemCall<'a>>,
    /// What the kernel said to it.
    came: isize,
    /// What was opened, and is looked at by the program itself next.
    unlooked: Option<u32>,
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
        let (prepared, unlooked, said) = (None, None, None);
        Self {
            items,
            shared,
            fork,
            is_stopped,
            caches,
            payload,
            room,
            noise,
            records: Records::new(),
            prepared,
            came: 0,
            unlooked,
            said,
            told: 0,
        }
    }

    fn item(&self, request: &Request) -> Option<&'a Item> {
        self.items.get(usize::try_from(request.key.index).ok()?)
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
    fn keep(&mut self, index: u64, item: &Item, answer: &Answer) -> Kept {
        answer.mapping.into_iter().for_each(unmap);
        let Some(descriptor) = answer.opened else { return self.look_at_unlooked(item, answer) };
        let opens = matches!(item.ask, Ask::Open(..) | Ask::Change(Change::Open(..)));
        if opens && self.is_looked_at_next(index, item) {
            self.unlooked = item.ask.opens();
        } else if opens && !self.is_file(descriptor) {
            close(descriptor);
            return Kept::NoFile;
        }
        match item.ask.opens() {
            Some(number) if item.errno == 0 => self.shared.opened(number, descriptor),
            _ => close(descriptor),
        }
        Kept::Nothing
    }

    /// Whether the program itself asks next what it has opened, before anybody else can do something with it.
    fn is_looked_at_next(&self, index: u64, item: &Item) -> bool {
        let next = self.items.get(index as usize + 1).filter(|_| self.shared.progress.is_of_one());
        let of = next.map(|next| &next.ask);
        matches!(of, Some(Ask::Attributes(number)) if item.errno == 0 && item.ask.opens() == Some(*number))
    }

    fn look_at_unlooked(&mut self, item: &Item, answer: &Answer) -> Kept {
        let Ask::Attributes(number) = item.ask else { return Kept::Nothing };
        let is_file = answer.completion.is_ok() && self.records.is_of_file();
        if self.unlooked.take() != Some(number) || is_file {
            return Kept::Nothing;
        }
        close(self.shared.descriptor(number));
        self.shared.opened(number, -1);
        if answer.completion.is_ok() { Kept::NoFile } else { Kept::Nothing }
    }

    fn is_file(&self, descriptor: RawFd) -> bool {
        // SAFETY: the records outlive it, and no other call is under way.
        let looked = unsafe { attributes(descriptor, &self.records) };
        looked.make() == 0 && self.records.is_of_file()
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
            Operation::Edge | Operation::Payload => None,
            operation if operation.is_of_caches() => None,
            // SAFETY: room and records are the session's, which makes one call at a time.
            _ => self.item(request).and_then(|item| unsafe {
                asked(&item.ask, self.shared, self.room, self.noise, &self.records)
            }),
        };
    }

    /// Of a call it is told afterwards what it came to ([`Self::inspect`]).
    #[inline(always)]
    fn execute(&mut self, request: &Request) -> Completion {
        if let Some(call) = &self.prepared {
            self.came = call.make();
            return Completion::ok(0);
        }
        match (request.operation, &mut self.payload, &self.caches) {
            (Operation::Payload, Some(payload), _) => payload.execute(),
            (Operation::Edge, ..) => self.edge(request),
            (operation, _, Some(caches)) if operation.is_of_caches() => caches.make(operation),
            _ => Completion::failed(Errno::OPNOTSUPP.into()),
        }
    }

    #[inline]
    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        let (Some(call), Some(item)) = (self.prepared.take(), self.item(request)) else { return completion };
        let answer = call.answer(self.came);
        match self.keep(request.key.index, item, &answer) {
            Kept::Nothing => self.judged(item, answer.completion),
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
