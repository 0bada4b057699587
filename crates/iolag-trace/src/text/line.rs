//! One line: whose it is, when it was, and what happened.

use memchr::memmem;

use super::moment::{Moment, moment};
use super::scanning::{leading_number, skip_spaces};
use super::signals::signal_number;
use crate::trace::Ended;

/// A line of strace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The number of the task, if the line has one.
    pub number: Option<u32>,
    /// Its time, if the line has one.
    pub moment: Option<Moment>,
    /// What happened.
    pub event: Event<'a>,
}

/// What a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// A call with its result. `text` is what follows the opening bracket.
    Whole {
        /// What it is called.
        name: &'a [u8],
        /// Arguments, result, duration.
        text: &'a [u8],
    },
    /// A call that has begun; another task's line came before its end.
    Unfinished {
        /// What it is called.
        name: &'a [u8],
        /// Arguments, as far as they were known.
        text: &'a [u8],
    },
    /// The end of such a call. `text` goes on where the beginning stopped.
    Resumed {
        /// What it is called.
        name: &'a [u8],
        /// The rest.
        text: &'a [u8],
    },
    /// The task ended.
    Ended(Ended),
    /// The thread of this number executed a program and goes on under the number of the line, whose task is no more.
    Superseded(u32),
    /// Signals, stacks, strace's own words.
    Other,
    /// None of these: not strace's, or cut off.
    Foreign,
}

/// Reads a line without its end.
pub(crate) fn line(text: &[u8]) -> Line<'_> {
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let (number, text) = task_number(skip_spaces(text));
    let (moment, text) = match moment(text) {
        Some((moment, rest)) => (Some(moment), rest),
        None => (None, text),
    };
    Line { number, moment, event: event(without_brackets(text)) }
}

/// `12345 `, `12345<comm> `, `[pid 12345] `, `[pid 12345<comm>] `.
fn task_number(text: &[u8]) -> (Option<u32>, &[u8]) {
    let (digits, is_bracketed) = match text.strip_prefix(b"[pid ") {
        Some(rest) => (skip_spaces(rest), true),
        None => (text, false),
    };
    let (number, rest) = leading_number(digits);
    let Some(number) = number.filter(|number| *number < 1 << 23) else { return (None, text) };
    let rest = match rest.strip_prefix(b"<") {
        // A name may hold anything; it ends before the column that follows.
        Some(named) => match memmem::find(named, if is_bracketed { b">]" } else { b"> " }) {
            Some(end) => &named[end + 1..],
            None => return (None, text),
        },
        None => rest,
    };
    let rest = if is_bracketed { rest.strip_prefix(b"]").unwrap_or(rest) } else { rest };
    match rest.first() {
        Some(b' ') => (Some(number), skip_spaces(rest)),
        _ => (None, text),
    }
}

/// Without `[   0]` of -n and `[00007f6d8c0e1a33]` of -i.
fn without_brackets(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.strip_prefix(b"[") {
        match rest.iter().position(|byte| *byte == b']') {
            Some(end) => text = skip_spaces(&rest[end + 1..]),
            None => break,
        }
    }
    text
}

pub(crate) const UNFINISHED: &[u8] = b"<unfinished ...>";
/// What strace writes behind a call that goes on when it lets the task go.
const DETACHED: &[u8] = b"<detached ...>";
const RESUMED: &[u8] = b" resumed>";

fn event(text: &[u8]) -> Event<'_> {
    match text.first() {
        Some(b'<') => resumed(text).unwrap_or(Event::Foreign),
        Some(b'+') => ended(text),
        Some(b'-' | b'>') => Event::Other,
        Some(byte) if byte.is_ascii_lowercase() || *byte == b'_' => call(text),
        Some(_) => Event::Foreign,
        None => Event::Other,
    }
}

fn call(text: &[u8]) -> Event<'_> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = text.iter().position(|byte| !is_name(byte)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    match rest.strip_prefix(b"(") {
        None if text.starts_with(b"strace: ") => Event::Other,
        None => Event::Foreign,
        Some(rest) => match rest.strip_suffix(UNFINISHED).or_else(|| rest.strip_suffix(DETACHED)) {
            Some(begun) => Event::Unfinished { name, text: begun.strip_suffix(b" ").unwrap_or(begun) },
            None => Event::Whole { name, text: rest },
        },
    }
}

fn resumed(text: &[u8]) -> Option<Event<'_>> {
    let rest = text.strip_prefix(b"<... ")?;
    let end = memmem::find(rest, RESUMED)?;
    Some(Event::Resumed { name: &rest[..end], text: &rest[end + RESUMED.len()..] })
}

fn ended(text: &[u8]) -> Event<'_> {
    let after = |words: &[u8]| text.strip_prefix(words);
    if let Some(rest) = after(b"+++ exited with ") {
        // A status has eight bits.
        return Event::Ended(Ended::Exited(leading_number(rest).0.unwrap_or(0) as u8));
    }
    if let Some(rest) = after(b"+++ killed by ") {
        let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        return Event::Ended(Ended::Killed(signal_number(&rest[..end]).unwrap_or(0)));
    }
    if let Some(rest) = after(b"+++ superseded by execve in pid ") {
        return leading_number(rest).0.map_or(Event::Other, Event::Superseded);
    }
    Event::Other
}

#[cfg(test)]
mod tests {
    use super::super::moment::SECOND;
    use super::*;

    fn whole<'a>(name: &'a str, text: &'a str) -> Event<'a> {
        Event::Whole { name: name.as_bytes(), text: text.as_bytes() }
    }

    #[track_caller]
    fn assert_line(text: &str, number: Option<u32>, moment: Option<Moment>, event: Event<'_>) {
        assert_eq!(line(text.as_bytes()), Line { number, moment, event }, "{text}");
    }

    #[test]
    fn columns_in_front_of_a_call() {
        let close = whole("close", "3) = 0");
        let unix = Some(Moment::Unix(1_700_000_000 * SECOND + 5000));
        assert_line("close(3) = 0", None, None, close);
        assert_line("12345 close(3) = 0", Some(12345), None, close);
        assert_line("12    close(3) = 0", Some(12), None, close);
        assert_line("12345 1700000000.000005 close(3) = 0", Some(12345), unix, close);
        assert_line("1700000000.000005 close(3) = 0", None, unix, close);
        assert_line("[pid  1234] 1700000000.000005 close(3) = 0", Some(1234), unix, close);
        assert_line("1234<python3> close(3) = 0", Some(1234), None, close);
        assert_line("1234<a> b> close(3) = 0", Some(1234), None, Event::Foreign);
        assert_line("[pid 1234<a b>] close(3) = 0", Some(1234), None, close);
        assert_line("77      0.000012 close(3) = 0", Some(77), Some(Moment::SinceLast(12_000)), close);
        assert_line("     0.000012 close(3) = 0", None, Some(Moment::SinceLast(12_000)), close);
        assert_line("[   3] close(3) = 0", None, None, close);
        assert_line("5 [00007f6d8c0e1a33] close(3) = 0", Some(5), None, close);
        assert_line("close(3) = 0\r", None, None, close);
    }

    #[test]
    fn calls_in_pieces() {
        let text = "12 read(3,  <unfinished ...>";
        assert_line(text, Some(12), None, Event::Unfinished { name: b"read", text: b"3, " });
        assert_line(
            "12 vfork( <unfinished ...>",
            Some(12),
            None,
            Event::Unfinished { name: b"vfork", text: b"" },
        );
        let text = "12 restart_syscall(<... resuming interrupted read ...> <detached ...>";
        let begun = b"<... resuming interrupted read ...>";
        assert_line(text, Some(12), None, Event::Unfinished { name: b"restart_syscall", text: begun });
        let text = "12 <... read resumed>\"\", 4096) = 0";
        assert_line(text, Some(12), None, Event::Resumed { name: b"read", text: b"\"\", 4096) = 0" });
        let text = "12 read(3,  <detached ...>";
        assert_line(text, Some(12), None, Event::Unfinished { name: b"read", text: b"3, " });
        let named = "12 unlink(\"d/ <unfinished ...>\") = 0";
        assert_line(named, Some(12), None, whole("unlink", "\"d/ <unfinished ...>\") = 0"));
    }

    #[test]
    fn ends_and_what_is_no_call() {
        assert_line("9 +++ exited with 3 +++", Some(9), None, Event::Ended(Ended::Exited(3)));
        let killed = "9 +++ killed by SIGKILL +++";
        assert_line(killed, Some(9), None, Event::Ended(Ended::Killed(9)));
        let dumped = "9 +++ killed by SIGSEGV (core dumped) +++";
        assert_line(dumped, Some(9), None, Event::Ended(Ended::Killed(11)));
        assert_line("9 +++ superseded by execve in pid 12 +++", Some(9), None, Event::Superseded(12));
        let signal = "9 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---";
        assert_line(signal, Some(9), None, Event::Other);
        assert_line("strace: Process 13 attached", None, None, Event::Other);
        assert_line(" > /lib/libc.so.6(__read+0x1a) [0x1010]", None, None, Event::Other);
        assert_line("", None, None, Event::Other);
        for foreign in ["<html>", "Hello, world", "9 <... resumed", "\u{7f}ELF", "hello world"] {
            assert!(matches!(line(foreign.as_bytes()).event, Event::Foreign), "{foreign}");
        }
    }
}
