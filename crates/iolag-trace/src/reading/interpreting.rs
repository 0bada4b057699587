//! What a call was about: its arguments, in the light of what the task has.

use iolag_model::Nanoseconds;
use memchr::memmem;

use super::kernel::{Entry, Kernel, Standing};
use crate::calls::{Effect, Group, Shape, bits};
use crate::state::Opened;
use crate::text::arguments::{Arguments, Descriptor, number, quoted};
use crate::text::outcome::{Outcome, outcome};
use crate::text::quoted::unescape;
use crate::trace::{Call, CallName, PathId, Sharing, Tables};

/// Whose call it is, and what things were when it began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub standing: Standing,
    pub name: CallName,
    pub start: Nanoseconds,
    pub entry: Entry,
}

/// Reads calls. The buffer is kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct Interpreter {
    bytes: Vec<u8>,
}

impl Interpreter {
    /// What a call was about.
    pub(super) fn interpret(
        &mut self,
        asked: &Asked,
        shape: &Shape,
        arguments: &Arguments<'_>,
        outcome: &Outcome<'_>,
        (kernel, tables): (&mut Kernel, &mut Tables),
    ) -> Call {
        let mut call = Call::new(asked.standing.task, asked.name, asked.start);
        call.duration = outcome.duration.map(Nanoseconds);
        call.result = outcome.result;
        call.errno = outcome.errno;
        if let Some((place, group)) = shape.flags {
            call.flags = value(arguments.get(place), group, b"flags=");
        }
        if let Some((place, group)) = shape.argument {
            call.argument = value(arguments.get(place), group, b"mode=");
        }
        let amount = |place: Option<u8>| place.and_then(|place| number(arguments.get(place)));
        // Negative ones are of seeks, and of what will be refused.
        call.length = amount(shape.length).map_or(0, |length| length as u64);
        call.offset = amount(shape.offset).map(|offset| offset as u64);
        if let Some(path) = shape.path {
            let (descriptor, directory) =
                directory(asked, shape.at.map(|at| arguments.get(at)), kernel, tables);
            call.descriptor = descriptor;
            call.path = match shape.effect {
                // Without a path it is the descriptor itself that is worked on.
                _ if is_absent(arguments.get(path)) && descriptor.is_some() => directory,
                _ => self.path(arguments.get(path), directory, tables),
            };
        }
        if let Some(second) = shape.second {
            call.second = match shape.effect {
                Effect::MakeLink => self.text(arguments.get(second), tables),
                _ => {
                    let (_, directory) =
                        directory(asked, shape.second_at.map(|at| arguments.get(at)), kernel, tables);
                    self.path(arguments.get(second), directory, tables)
                }
            };
        }
        if let Some(descriptor) = shape.descriptor {
            (call.descriptor, call.path) = opened(asked, arguments.get(descriptor), kernel, tables);
        }
        match shape.effect {
            Effect::Attributes(place) if outcome.errno == 0 => {
                let text = arguments.get(place);
                call.argument = field(text, b"st_mode=")
                    .or_else(|| field(text, b"stx_mode="))
                    .map_or(0, |mode| Group::Mode.value(mode));
                let size = field(text, b"st_size=").or_else(|| field(text, b"stx_size="));
                call.length = size.and_then(number).map_or(0, |size| size as u64);
            }
            Effect::Tell(place) => call.path = self.path(arguments.get(place), None, tables),
            Effect::Link(place) => call.second = self.text(arguments.get(place), tables),
            Effect::Control => call.flags = control_flags(call.argument, arguments.get(2)),
            Effect::Fork => call.flags = sharing(tables.names.name(asked.name), arguments).0,
            _ => {}
        }
        call
    }

    /// The path that an argument means.
    fn path(&mut self, argument: &[u8], directory: Option<PathId>, tables: &mut Tables) -> Option<PathId> {
        let text = quoted(argument)?;
        if memchr::memchr(b'\\', text).is_none() {
            return Some(tables.paths.number_in(directory, text));
        }
        self.bytes.clear();
        unescape(text, &mut self.bytes);
        Some(tables.paths.number_in(directory, &self.bytes))
    }

    /// The path that an argument is, wherever that leads.
    fn text(&mut self, argument: &[u8], tables: &mut Tables) -> Option<PathId> {
        let text = quoted(argument)?;
        self.bytes.clear();
        unescape(text, &mut self.bytes);
        Some(tables.paths.number(&self.bytes))
    }
}

/// `""`, `NULL`.
fn is_absent(argument: &[u8]) -> bool {
    matches!(argument, b"\"\"" | b"NULL")
}

/// What words or a number stand for; of a structure, those of its field.
fn value(argument: &[u8], group: Group, name: &[u8]) -> u32 {
    if argument.is_empty() {
        return 0;
    }
    let text = if argument.starts_with(b"{") { field(argument, name).unwrap_or_default() } else { argument };
    group.value(text)
}

/// What a field of a structure says.
pub(super) fn field<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let begin = memmem::find(text, name)? + name.len();
    let rest = &text[begin..];
    let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// The argument of a command of fcntl, if it is made of flags.
fn control_flags(command: u32, argument: &[u8]) -> u32 {
    match (command, argument) {
        (bits::F_SETFD, b"FD_CLOEXEC") => bits::FD_CLOEXEC,
        (bits::F_SETFD, _) => number(argument).map_or(0, |flags| flags as u32),
        (bits::F_SETFL, _) => Group::Open.value(argument),
        _ => 0,
    }
}

/// What a new task shares.
pub(super) fn sharing(name: &[u8], arguments: &Arguments<'_>) -> Sharing {
    if name == b"vfork" {
        return Sharing::VFORK;
    }
    let flags = arguments.iter().find_map(|argument| field(argument, b"flags="));
    Sharing(flags.map_or(0, |flags| Group::Clone.value(flags)))
}

/// The directory that a path is relative to, and the descriptor that says so. What -y says is known from then on.
fn directory(
    asked: &Asked,
    at: Option<&[u8]>,
    kernel: &mut Kernel,
    tables: &mut Tables,
) -> (Option<i32>, Option<PathId>) {
    let own = asked.entry.directory;
    let Some(argument) = at else { return (None, own) };
    let Some(descriptor) = Descriptor::of(argument) else { return (None, None) };
    if descriptor.number != Descriptor::DIRECTORY {
        return opened(asked, argument, kernel, tables);
    }
    let Some(said) = named(&descriptor, tables) else { return (Some(descriptor.number), own) };
    kernel.set_directory(asked.standing, Some(said));
    (Some(descriptor.number), Some(said))
}

/// The descriptor of an argument, and what it is of.
fn opened(
    asked: &Asked,
    argument: &[u8],
    kernel: &mut Kernel,
    tables: &mut Tables,
) -> (Option<i32>, Option<PathId>) {
    let Some(descriptor) = Descriptor::of(argument) else { return (None, None) };
    let number = descriptor.number;
    let known = kernel.opened(asked.standing, number).and_then(|opened| opened.path);
    let Some(said) = named(&descriptor, tables) else {
        return (Some(number), asked.entry.path.or(known));
    };
    if known != Some(said) {
        match kernel.files.get_mut(asked.standing.files, number) {
            Some(opened) => opened.path = Some(said),
            None => {
                let opened = Opened { path: Some(said), position: None };
                kernel.files.open(asked.standing.files, number, opened, false);
            }
        }
    }
    (Some(number), Some(said))
}

/// The path that -y says.
pub(super) fn named(descriptor: &Descriptor<'_>, tables: &mut Tables) -> Option<PathId> {
    Some(named_path(descriptor.path()?, tables))
}

pub(super) fn named_path(path: &[u8], tables: &mut Tables) -> PathId {
    if memchr::memchr(b'\\', path).is_none() {
        return tables.paths.number(path);
    }
    let mut bytes = Vec::with_capacity(path.len());
    unescape(path, &mut bytes);
    tables.paths.number(&bytes)
}

/// What things are as a call begins: its descriptor may be of another file before it ends.
pub(super) fn entry(standing: Standing, shape: &Shape, arguments: &Arguments<'_>, kernel: &Kernel) -> Entry {
    let descriptor =
        shape.descriptor.filter(|place| *place == 0).and_then(|_| Descriptor::of(arguments.get(0)));
    let path = descriptor.and_then(|descriptor| kernel.opened(standing, descriptor.number)?.path);
    Entry { path, directory: kernel.directory(standing) }
}

/// Whether a new descriptor is closed when a program is executed.
pub(super) fn closes_at_execute(call: &Call, shape: &Shape, text: &[u8]) -> bool {
    match shape.effect {
        Effect::Open => call.flags & bits::O_CLOEXEC != 0,
        // Each kind of descriptor has a word of its own for that.
        _ => memmem::find(text, b"CLOEXEC").is_some(),
    }
}

/// Whether it is a call on a file of which strace, with nothing between, tells that it never came back: the task ended in it, and when is told next.
pub(super) fn is_never_back(shape: Shape, text: &[u8]) -> bool {
    (shape.path.is_some() || shape.descriptor.is_some())
        && text.trim_ascii_end().ends_with(b"= ?")
        && Arguments::split(text).and_then(|(_, rest)| outcome(rest)) == Some(Outcome::default())
}
