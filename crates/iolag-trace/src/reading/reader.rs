//! Line by line: whose it is, what began, what ended.

use std::collections::BTreeMap;
use std::io;

use iolag_model::Nanoseconds;

use super::beginning::Beginning;
use super::clock::{Clock, Clockwork};
use super::effects::Done;
use super::interpreting::{Asked, Interpreter, entry, field, is_never_back, sharing};
use super::kernel::{Begun, Entry, Kernel, Whose};
use crate::calls::{Effect, Shape, shape_of};
use crate::text::arguments::{Arguments, Descriptor, number};
use crate::text::line::{Event, Line, UNFINISHED, line};
use crate::text::outcome::{Outcome, outcome};
use crate::trace::{Call, CallName, Edge, EdgeKind, Ended, PathId, Peer, Sharing, Sink, Tables, TaskId};

/// What was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// Lines.
    pub lines: u64,
    /// Calls that were kept.
    pub calls: u64,
    /// Calls of which the end was not seen.
    pub unfinished: u64,
    /// Lines that are not strace's, or are not whole.
    pub foreign: u64,
    /// Tasks of which the text does not say who began them, though it shows that somebody did.
    pub guessed: u64,
    /// What times are made of.
    pub clockwork: Clockwork,
    /// When the trace began, in ns since 1970, if the text says so.
    pub began: Option<u64>,
}

/// Text of a task that appeared before anybody knew whose child it is.
#[derive(Debug, Default)]
struct Aside {
    text: Vec<u8>,
    lines: Vec<(Nanoseconds, usize)>,
}

/// More text of one task than this is not put aside.
const ASIDE_BYTES_MAX: usize = 1 << 20;

/// Reads strace's text, and tells a sink what is in it.
#[derive(Debug)]
pub struct StraceReader<S> {
    sink: S,
    tables: Tables,
    kernel: Kernel,
    clock: Clock,
    reading: Reading,
    interpreter: Interpreter,
    shapes: Vec<Shape>,
    aside: BTreeMap<u32, Aside>,
    directory: Option<PathId>,
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
    /// Whether what follows may be the table of `-C`.
    has_table: bool,
    /// When nobody watched any more, in ns since 1970.
    end: Option<u64>,
}

impl<S: Sink> StraceReader<S> {
    /// One that has read nothing.
    pub fn new(beginning: &Beginning, sink: S) -> Self {
        let mut tables = Tables::default();
        let directory = beginning.directory.as_ref().map(|directory| tables.paths.number(directory));
        let mut kernel = Kernel::default();
        if let Some(process) = &beginning.process {
            process.stand(directory, &mut kernel, &mut tables);
        }
        Self {
            sink,
            tables,
            kernel,
            clock: Clock::default(),
            reading: Reading::default(),
            interpreter: Interpreter::default(),
            shapes: Vec::new(),
            aside: BTreeMap::new(),
            directory,
            partial: Vec::new(),
            has_table: false,
            end: None,
        }
    }

    /// Reads a piece of text; it may end anywhere.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn feed(&mut self, mut text: &[u8]) -> io::Result<()> {
        while let Some(end) = memchr::memchr(b'\n', text) {
            let (whole, rest) = (&text[..end], &text[end + 1..]);
            if self.partial.is_empty() && !whole.ends_with(ATTACHED_END) {
                self.line(None, whole)?;
            } else {
                let mut joined = std::mem::take(&mut self.partial);
                joined.extend_from_slice(whole);
                match interrupted(&joined) {
                    // The rest of the line is the next.
                    Some(begun) => {
                        joined.truncate(begun);
                        self.partial = joined;
                    }
                    None => {
                        let read = self.line(None, &joined);
                        joined.clear();
                        self.partial = joined;
                        read?;
                    }
                }
            }
            text = rest;
        }
        self.partial.extend_from_slice(text);
        Ok(())
    }

    /// Reads a whole line, without its end, of the task with this number if the line itself does not say whose it is.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn line(&mut self, task: Option<u32>, text: &[u8]) -> io::Result<()> {
        self.reading.lines += 1;
        let Line { number, moment, event } = line(text);
        match event {
            Event::Other => {
                // Its time counts for -r.
                self.clock.at(moment);
                return Ok(());
            }
            Event::Foreign => {
                self.has_table |= text.starts_with(b"% time");
                self.reading.foreign += u64::from(!self.has_table);
                return Ok(());
            }
            _ => {}
        }
        let time = self.clock.at(moment);
        let number = match number.or(task) {
            Some(number) => number,
            None => self.kernel.only(),
        };
        if let Some(aside) = self.aside.get_mut(&number) {
            aside.text.extend_from_slice(text);
            aside.lines.push((time, aside.text.len()));
            return if aside.text.len() > ASIDE_BYTES_MAX { self.guess(number) } else { Ok(()) };
        }
        let is_resumed = matches!(event, Event::Resumed { .. });
        match self.kernel.whose(number, is_resumed, self.directory, &mut self.tables) {
            Whose::Known(number) => self.event(number, time, event),
            Whose::Undecided => {
                let aside = Aside { text: text.to_vec(), lines: vec![(time, text.len())] };
                self.aside.insert(number, aside);
                Ok(())
            }
        }
    }

    /// Reads a last line, which has no end: strace writes what is asked before it knows what comes of it.
    ///
    /// # Errors
    /// Those of the sink.
    pub(super) fn last_line(&mut self, task: Option<u32>, mut text: Vec<u8>) -> io::Result<()> {
        if let Event::Whole { text: call, .. } = line(&text).event
            && Arguments::split(call).and_then(|(_, rest)| outcome(rest)).is_none()
        {
            text.extend_from_slice(UNFINISHED);
        }
        self.line(task, &text)
    }

    /// Says when, in ns since 1970, nobody watched any more: for so long what has begun had not come back. Whoever does not know has the time of the
    /// last line.
    pub const fn ended_at(&mut self, realtime_ns: u64) {
        self.end = Some(realtime_ns);
    }

    /// Reads what is left, and gives back what came of it.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(mut self) -> io::Result<(S, Tables, Reading)> {
        let partial = std::mem::take(&mut self.partial);
        if !partial.is_empty() {
            self.last_line(None, partial)?;
        }
        while let Some(number) = self.aside.keys().next().copied() {
            self.guess(number)?;
        }
        self.end.into_iter().for_each(|end| self.clock.ended(end));
        let end = self.clock.at(None);
        for number in self.kernel.numbers() {
            self.never_ended(number, Some(end))?;
        }
        self.reading.clockwork = self.clock.clockwork();
        self.reading.began = self.clock.began();
        Ok((self.sink, self.tables, self.reading))
    }

    /// What the calls so far refer to.
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Who takes the trace.
    pub const fn sink(&self) -> &S {
        &self.sink
    }

    /// Who takes the trace, with what its calls so far refer to.
    pub const fn sink_mut(&mut self) -> (&mut S, &Tables) {
        (&mut self.sink, &self.tables)
    }

    /// What was read so far.
    pub const fn reading(&self) -> &Reading {
        &self.reading
    }

    fn event(&mut self, number: u32, time: Nanoseconds, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Whole { name: called, text } => {
                let (Some(standing), Some((name, shape))) =
                    (self.kernel.standing(number), self.shape(called))
                else {
                    self.reading.foreign += 1;
                    return Ok(());
                };
                if is_never_back(shape, text) {
                    return self.begun(number, called, text, time);
                }
                let entry = Entry { path: None, directory: self.kernel.directory(standing) };
                self.ended(number, name, text, time, (entry, None))
            }
            Event::Unfinished { name, text } => self.begun(number, name, text, time),
            Event::Resumed { name, text } => self.resumed(number, name, text, time),
            Event::Ended(ended) => self.task_ended(number, ended, time),
            Event::Superseded(by) => {
                self.task_ended(number, Ended::Superseded, time)?;
                self.kernel.renumber(by, number);
                Ok(())
            }
            Event::Other | Event::Foreign => Ok(()),
        }
    }

    /// The name of a call, and what is known of such calls.
    fn shape(&mut self, name: &[u8]) -> Option<(CallName, Shape)> {
        let number = self.tables.names.number(name)?;
        if usize::from(number.0) == self.shapes.len() {
            self.shapes.push(shape_of(name));
        }
        Some((number, self.shapes[usize::from(number.0)]))
    }

    fn begun(&mut self, number: u32, name: &[u8], text: &[u8], start: Nanoseconds) -> io::Result<()> {
        let (Some((name_number, shape)), Some(standing)) = (self.shape(name), self.kernel.standing(number))
        else {
            self.reading.foreign += 1;
            return Ok(());
        };
        // The end of the one before is not in the text.
        self.never_ended(number, None)?;
        let first = Arguments::first_of(text);
        let entry = entry(standing, &shape, &first, &self.kernel);
        if shape.effect == Effect::Close
            && let Some(descriptor) = Descriptor::of(first.get(0))
        {
            // From now on the number may be given away again.
            self.kernel.files.close(standing.files, descriptor.number);
        }
        let fork = (shape.effect == Effect::Fork).then(|| (fork_of(name, text), None));
        let mut buffer = self.kernel.buffer();
        buffer.extend_from_slice(text);
        self.kernel.begin(number, Begun { name: name_number, text: buffer, start, entry, fork });
        Ok(())
    }

    fn resumed(&mut self, number: u32, name: &[u8], text: &[u8], time: Nanoseconds) -> io::Result<()> {
        let Some(begun) = self.kernel.take_begun(number) else {
            // Its beginning is not in the text: of what it was about only the end is known.
            self.reading.foreign += 1;
            return Ok(());
        };
        if self.tables.names.name(begun.name) != name {
            self.reading.foreign += 1;
        }
        let Begun { name, text: mut whole, start, entry, fork } = begun;
        whole.extend_from_slice(text);
        let child = fork.and_then(|(_, child)| child);
        let took =
            (self.clock.clockwork() != Clockwork::None).then(|| Nanoseconds(time.0.saturating_sub(start.0)));
        let read = self.ended(number, name, &whole, start, (entry, Some(Resumption { took, child })));
        self.kernel.give_back(whole);
        read
    }

    fn ended(
        &mut self,
        number: u32,
        name: CallName,
        text: &[u8],
        start: Nanoseconds,
        (entry, resumption): (Entry, Option<Resumption>),
    ) -> io::Result<()> {
        let split = Arguments::split(text).and_then(|(arguments, rest)| Some((arguments, outcome(rest)?)));
        let (Some((arguments, outcome)), Some(standing)) = (split, self.kernel.standing(number)) else {
            self.reading.foreign += 1;
            return Ok(());
        };
        let shape = self.shapes[usize::from(name.0)];
        let asked = Asked { standing, name, start, entry };
        let both = (&mut self.kernel, &mut self.tables);
        let mut call = self.interpreter.interpret(&asked, &shape, &arguments, &outcome, both);
        if call.duration.is_none() {
            call.duration = resumption.and_then(|resumption| resumption.took);
        }
        if resumption.is_none() || shape.effect != Effect::Close {
            let done =
                Done { number, standing, shape: &shape, arguments: &arguments, outcome: &outcome, text };
            done.apply(&mut call, &mut self.kernel, &mut self.tables);
        }
        self.tell_peer(&call, &shape, text);
        let at = self.keep(&call)?;
        self.tell_edges(number, at, &call, &shape, &arguments, &outcome, resumption)
    }

    #[expect(clippy::too_many_arguments, reason = "all that is known of a call")]
    fn tell_edges(
        &mut self,
        number: u32,
        at: u64,
        call: &Call,
        shape: &Shape,
        arguments: &Arguments<'_>,
        outcome: &Outcome<'_>,
        resumption: Option<Resumption>,
    ) -> io::Result<()> {
        let Some(result) = outcome.result.filter(|_| outcome.errno == 0) else { return Ok(()) };
        let told = u32::try_from(result).ok().filter(|told| *told > 0);
        match shape.effect {
            Effect::Fork => match told {
                Some(child) => self.forked(number, child, Sharing(call.flags), at, resumption),
                None => Ok(()),
            },
            Effect::Execute => self.edge(EdgeKind::Execute, call.task, at),
            Effect::ChangeView => self.edge(EdgeKind::ChangeView, call.task, at),
            Effect::Unshare if call.flags & crate::calls::bits::CLONE_NEWNS != 0 => {
                self.edge(EdgeKind::ChangeView, call.task, at)
            }
            Effect::Wait => self.waited(call.task, told, at),
            Effect::WaitFor(place) => {
                let said = field(arguments.get(place), b"si_pid=").and_then(number_of);
                self.waited(call.task, said, at)
            }
            _ => Ok(()),
        }
    }

    fn forked(
        &mut self,
        parent: u32,
        child: u32,
        sharing: Sharing,
        at: u64,
        resumption: Option<Resumption>,
    ) -> io::Result<()> {
        let Some(standing) = self.kernel.standing(parent) else { return Ok(()) };
        let is_there = resumption.is_some_and(|resumption| resumption.child == Some(child));
        if !is_there {
            if resumption.is_some_and(|resumption| resumption.child.is_some()) {
                // The one that was taken for its child is not.
                self.reading.guessed += 1;
            }
            self.kernel.fork(parent, child, sharing, &mut self.tables);
        }
        // It may have ended already, and its number been given away again: then the last of that number is meant.
        let task = self.kernel.latest(child);
        if let Some(task) = task {
            self.edge(EdgeKind::Fork(task), standing.task, at)?;
        }
        self.take_from_aside(child)
    }

    fn waited(&mut self, task: TaskId, child: Option<u32>, at: u64) -> io::Result<()> {
        let ended = child.and_then(|child| self.kernel.latest(child));
        ended.map_or(Ok(()), |ended| self.edge(EdgeKind::Wait(ended), task, at))
    }

    fn task_ended(&mut self, number: u32, ended: Ended, time: Nanoseconds) -> io::Result<()> {
        if let Some(standing) =
            self.kernel.standing(number).filter(|_| self.clock.clockwork() != Clockwork::None)
        {
            self.edge(EdgeKind::Over(time), standing.task, self.reading.calls)?;
        }
        self.never_ended(number, Some(time))?;
        let Some(task) = self.kernel.end(number) else { return Ok(()) };
        self.edge(EdgeKind::Exit(ended), task, self.reading.calls)
    }

    /// A call of the task that did not come back is kept as that, with what its beginning says, and for how long it had not when that was over.
    fn never_ended(&mut self, number: u32, over: Option<Nanoseconds>) -> io::Result<()> {
        let (Some(standing), Some(begun)) = (self.kernel.standing(number), self.kernel.take_begun(number))
        else {
            return Ok(());
        };
        let Begun { name, mut text, start, entry, .. } = begun;
        text.push(b')');
        let asked = Asked { standing, name, start, entry };
        let shape = self.shapes[usize::from(name.0)];
        let arguments =
            Arguments::split(&text).map_or_else(|| Arguments::first_of(&text), |(whole, _)| whole);
        let both = (&mut self.kernel, &mut self.tables);
        let mut call = self.interpreter.interpret(&asked, &shape, &arguments, &Outcome::default(), both);
        // Of one with which the text ends nothing was seen but that it had begun.
        call.duration =
            over.and_then(|over| over.0.checked_sub(start.0)).filter(|it| *it > 0).map(Nanoseconds);
        self.reading.unfinished += 1;
        self.tell_peer(&call, &shape, &text);
        self.keep(&call)?;
        self.kernel.give_back(text);
        Ok(())
    }

    /// Gives a task whose parent is not known the one that it may have.
    fn guess(&mut self, number: u32) -> io::Result<()> {
        self.reading.guessed += 1;
        self.kernel.guess(number, self.directory, &mut self.tables);
        self.take_from_aside(number)
    }

    /// Reads the lines of a task that now is known.
    fn take_from_aside(&mut self, number: u32) -> io::Result<()> {
        let Some(aside) = self.aside.remove(&number) else { return Ok(()) };
        let mut begin = 0;
        for (time, end) in aside.lines {
            if self.kernel.standing(number).is_some() {
                self.event(number, time, line(&aside.text[begin..end]).event)?;
            }
            begin = end;
        }
        Ok(())
    }

    /// Who is spoken with, if the call says so.
    fn tell_peer(&mut self, call: &Call, shape: &Shape, text: &[u8]) {
        if shape.effect == Effect::Speak
            && let (Some(descriptor), Some(peer)) = (call.descriptor, Peer::of(text))
        {
            self.sink.speaks(call.task, descriptor, peer, &self.tables);
        }
    }

    fn keep(&mut self, call: &Call) -> io::Result<u64> {
        let at = self.reading.calls;
        self.reading.calls += 1;
        self.sink.call(call, &self.tables)?;
        Ok(at)
    }

    fn edge(&mut self, kind: EdgeKind, task: TaskId, call: u64) -> io::Result<()> {
        self.sink.edge(&Edge { kind, task, call }, &self.tables)
    }
}

/// What is known of a call that was in pieces.
#[derive(Debug, Clone, Copy)]
struct Resumption {
    /// From piece to piece; strace's own word counts more.
    took: Option<Nanoseconds>,
    /// The task that it began, if that was seen before.
    child: Option<u32>,
}

const ATTACHED: &[u8] = b"strace: Process ";
const ATTACHED_END: &[u8] = b" attached";

/// Where a line was when strace, which writes its own words into the same terminal or file, put some between; nothing if it did not.
fn interrupted(text: &[u8]) -> Option<usize> {
    let begin = memchr::memmem::rfind(text, ATTACHED).filter(|begin| *begin > 0)?;
    let number = text[begin + ATTACHED.len()..].strip_suffix(ATTACHED_END)?;
    number.iter().all(u8::is_ascii_digit).then_some(begin)
}

/// What a fork that has not come back lets its child share.
fn fork_of(name: &[u8], text: &[u8]) -> Sharing {
    sharing(name, &Arguments::of_beginning(text))
}

fn number_of(text: &[u8]) -> Option<u32> {
    number(text).and_then(|number| u32::try_from(number).ok())
}
