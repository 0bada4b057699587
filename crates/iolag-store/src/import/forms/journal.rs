//! The journal: lines of `journalctl -o json`, read one by one.
//!
//! A server that does not answer makes every waiting process complain, so messages of one kind and subject on one host are one event as
//! long as no more than ten minutes lie between them; a message that it is over ends it. Memory is bounded: of a line, of open events, of hosts.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use iolag_model::{Event, EventSource, Nanoseconds, WallTime};
use serde_json::Value;

use super::event_list::{TEXT_CHARACTERS_MAX, with_identity};
use super::journal_rules::{Effect, NODE_DOWN, Rule, Rules};
use crate::import::error::{ImportError, Tolerance, cleaned};
use crate::import::options::import_options::ImportOptions;

/// Longest line; longer ones hold something other than messages of a kernel.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Longest silence within one event.
const SILENCE_MAX: Nanoseconds = Nanoseconds(600_000_000_000);
/// Events and hosts that may be open at once; the oldest are closed first.
const OPEN_MAX: usize = 10_000;

/// What a journal gives.
pub(crate) struct Journal {
    pub events: Vec<Event>,
    pub lines: u64,
    /// Entries that are no events.
    pub ignored: u64,
}

/// Reads a journal.
///
/// # Errors
/// If it cannot be read, or too many lines are no entries.
pub(crate) fn read_journal(
    mut input: impl BufRead,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
) -> Result<Journal, ImportError> {
    let rules = Rules::compile().map_err(|error| {
        ImportError::options(tolerance.file(), format!("the table of messages is damaged: {error}"))
    })?;
    let mut reading =
        Reading { options, rules, open: HashMap::new(), boots: HashMap::new(), events: Vec::new() };
    let (mut lines, mut ignored) = (0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let failed = |source| ImportError::System { file: tolerance.file().to_owned(), source };
        if (&mut input).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        lines += 1;
        if line.len() as u64 == LINE_BYTES_MAX && line.last() != Some(&b'\n') {
            skip_line(&mut input).map_err(failed)?;
            ignored += 1;
            continue;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match Entry::read(&line) {
            Some(entry) => ignored += u64::from(!reading.take(&entry)),
            None => tolerance.leave_out(
                lines,
                &String::from_utf8_lossy(&line[..line.len().min(500)]),
                "this is no entry of `journalctl -o json`",
            )?,
        }
    }
    let mut events = reading.finish();
    super::event_list::sort(&mut events);
    Ok(Journal { events, lines, ignored })
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    let mut rest = Vec::new();
    while (&mut *input).take(LINE_BYTES_MAX).read_until(b'\n', &mut rest)? > 0 && rest.last() != Some(&b'\n')
    {
        rest.clear();
    }
    Ok(())
}

/// What is asked of an entry.
struct Entry {
    time: WallTime,
    host: Option<String>,
    boot: Option<String>,
    message: String,
    is_of_kernel: bool,
}

impl Entry {
    fn read(line: &[u8]) -> Option<Self> {
        let fields: serde_json::Map<String, Value> = serde_json::from_slice(line).ok()?;
        let microseconds: i64 = match fields.get("__REALTIME_TIMESTAMP")? {
            Value::String(text) => text.parse().ok()?,
            number => number.as_i64()?,
        };
        let text = |name: &str| fields.get(name).and_then(field_text);
        Some(Self {
            time: WallTime(microseconds.checked_mul(1_000).filter(|ns| *ns > 0)?),
            host: text("_HOSTNAME").map(|host| cleaned(host.chars().take(255))),
            boot: text("_BOOT_ID"),
            message: text("MESSAGE")
                .map_or(String::new(), |text| cleaned(text.chars().take(TEXT_CHARACTERS_MAX))),
            is_of_kernel: text("_TRANSPORT").is_some_and(|transport| transport == "kernel"),
        })
    }
}

/// A field: a text, or an array of bytes if it is not printable, or several of them if the entry has it more than once.
fn field_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => match items.first()? {
            Value::Number(_) => {
                let bytes: Option<Vec<u8>> =
                    items.iter().map(|item| item.as_u64().and_then(|byte| u8::try_from(byte).ok())).collect();
                Some(String::from_utf8_lossy(&bytes?).into_owned())
            }
            first @ Value::String(_) => field_text(first),
            _ => None,
        },
        _ => None,
    }
}

struct Reading<'a> {
    options: &'a ImportOptions,
    rules: Rules,
    open: HashMap<(String, &'static str, String), OpenEvent>,
    boots: HashMap<String, Boot>,
    events: Vec<Event>,
}

/// An event that may go on.
struct OpenEvent {
    event: Event,
    last: WallTime,
}

/// The boot that a host was last seen in.
struct Boot {
    id: String,
    last: WallTime,
}

impl Reading<'_> {
    /// Takes an entry into account; says whether it belongs to an event.
    fn take(&mut self, entry: &Entry) -> bool {
        let host = entry.host.clone().unwrap_or_else(|| self.options.host.clone());
        let is_boot = self.note_boot(&host, entry);
        let Some((rule, subject)) = self.rules.find(&entry.message, entry.is_of_kernel) else {
            return is_boot;
        };
        let key = (host, rule.kind, subject.to_owned());
        match rule.effect {
            Effect::Begins => self.begin_or_extend(key, rule, entry),
            Effect::Ends => {
                if let Some(mut open) = self.open.remove(&key) {
                    open.event.end = Some(entry.time.max(open.event.begin));
                    self.events.push(open.event);
                }
            }
        }
        true
    }

    fn begin_or_extend(&mut self, key: (String, &'static str, String), rule: &Rule, entry: &Entry) {
        if let Some(open) = self.open.get_mut(&key) {
            if entry.time.since(open.last) <= SILENCE_MAX {
                open.last = open.last.max(entry.time);
                return;
            }
            let old = self.open.remove(&key);
            self.events.extend(old.map(OpenEvent::close));
        }
        if self.open.len() >= OPEN_MAX {
            self.close_oldest();
        }
        let event = self.event(&key.0, entry.time, rule.kind, &entry.message);
        self.open.insert(key, OpenEvent { event, last: entry.time });
    }

    fn close_oldest(&mut self) {
        let oldest = self.open.iter().min_by_key(|(key, open)| (open.last, *key)).map(|(key, _)| key.clone());
        let closed = oldest.and_then(|key| self.open.remove(&key));
        self.events.extend(closed.map(OpenEvent::close));
    }

    /// Another boot id than before: the machine was down from the last entry of the old boot to the first one of the new.
    fn note_boot(&mut self, host: &str, entry: &Entry) -> bool {
        let Some(id) = &entry.boot else { return false };
        if self.boots.len() >= OPEN_MAX && !self.boots.contains_key(host) {
            return false;
        }
        let now = Boot { id: id.clone(), last: entry.time };
        match self.boots.insert(host.to_owned(), now) {
            Some(before) if before.id != *id && before.last <= entry.time => {
                let event = self.event(host, before.last, NODE_DOWN, "the machine was started again");
                self.events.push(Event { end: Some(entry.time), ..event });
                true
            }
            _ => false,
        }
    }

    fn event(&self, host: &str, begin: WallTime, kind: &'static str, text: &str) -> Event {
        with_identity(Event {
            host: host.to_owned(),
            target: self.options.target.clone(),
            kind: kind.to_owned(),
            text: text.to_owned(),
            author: "journal".to_owned(),
            ..Event::of_all(EventSource::Journal, begin)
        })
    }

    fn finish(self) -> Vec<Event> {
        let mut events = self.events;
        events.extend(self.open.into_values().map(OpenEvent::close));
        events
    }
}

impl OpenEvent {
    /// The event as far as it is known: until its last message, if there was more than one.
    fn close(self) -> Event {
        let end = (self.last > self.event.begin).then_some(self.last);
        Event { end, ..self.event }
    }
}
