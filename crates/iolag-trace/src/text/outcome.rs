//! What follows the arguments: the result, and with -T how long it took.

use super::arguments::{Descriptor, number_and_rest};
use super::errno::errno_number;
use super::moment::decimal;
use super::scanning::skip_spaces;

/// How a call came back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outcome<'a> {
    /// What it returned; nothing if it did not, or nobody saw it.
    pub result: Option<i64>,
    /// Why it failed; 0 if it did not.
    pub errno: u16,
    /// How long it took, in ns, if the text says so.
    pub duration: Option<u64>,
    /// The name of the descriptor that it returned, with -y.
    pub name: Option<&'a [u8]>,
}

/// Reads ` = -1 ENOENT (No such file or directory) <0.000009>`; nothing if the line was cut before.
pub(crate) fn outcome(text: &[u8]) -> Option<Outcome<'_>> {
    let rest = skip_spaces(skip_spaces(text).strip_prefix(b"=")?);
    let (duration, rest) = duration(rest);
    let mut outcome = Outcome { duration, ..Outcome::default() };
    let after = match rest.strip_prefix(b"?") {
        Some(after) => after,
        None => {
            let (result, after) = number_and_rest(rest)?;
            outcome.result = Some(result);
            if after.starts_with(b"<") {
                outcome.name = Descriptor::of(rest).and_then(|descriptor| descriptor.path());
            }
            after
        }
    };
    // A word follows a failure, and where strace knows better than the system: `= ? ERESTARTSYS (…)`.
    let word = skip_spaces(after);
    if word.starts_with(b"E") {
        let end = word.iter().position(|byte| *byte == b' ').unwrap_or(word.len());
        outcome.errno = errno_number(&word[..end]);
    }
    Some(outcome)
}

/// The duration at the end, and what stands before it.
fn duration(text: &[u8]) -> (Option<u64>, &[u8]) {
    let text = text.trim_ascii_end();
    let found = text.strip_suffix(b">").and_then(|inner| {
        let begin = memchr::memrchr(b'<', inner)?;
        let (duration, _) = decimal(&inner[begin + 1..]).filter(|(_, has_point)| *has_point)?;
        Some((duration, text[..begin].trim_ascii_end()))
    });
    match found {
        Some((duration, rest)) => (Some(duration), rest),
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<i64>, u16, Option<u64>) {
        let outcome = outcome(text.as_bytes()).unwrap();
        (outcome.result, outcome.errno, outcome.duration)
    }

    #[test]
    fn results_and_durations() {
        assert_eq!(read(" = 0"), (Some(0), 0, None));
        assert_eq!(read("                 = 3 <0.000009>"), (Some(3), 0, Some(9000)));
        assert_eq!(read(" = 3 <0.000000123>"), (Some(3), 0, Some(123)));
        assert_eq!(
            read(" = -1 ENOENT (No such file or directory) <1.5>"),
            (Some(-1), 2, Some(1_500_000_000))
        );
        assert_eq!(read(" = ?"), (None, 0, None));
        assert_eq!(
            read(" = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.1>"),
            (None, 512, Some(100_000_000))
        );
        assert_eq!(read(" = 0x7f00 <0.000001>"), (Some(0x7f00), 0, Some(1000)));
        assert_eq!(read(" = 0x8000 (flags O_RDONLY|O_LARGEFILE)"), (Some(0x8000), 0, None));
        assert_eq!(read(" = 0 (Timeout)"), (Some(0), 0, None));
        assert_eq!(read(" = -1 E2BIG (Argument list too long)"), (Some(-1), 7, None));
        assert_eq!(read(" = -1 ENEWERRNO (Unheard of)"), (Some(-1), u16::MAX, None));
        assert_eq!(outcome(b""), None);
        assert_eq!(outcome(b" = "), None);
    }

    #[test]
    fn the_name_of_a_new_descriptor() {
        let name = |text: &'static str| outcome(text.as_bytes()).unwrap().name;
        assert_eq!(name(" = 3</etc/passwd> <0.000001>"), Some(&b"/etc/passwd"[..]));
        assert_eq!(name(" = 3</etc/passwd>"), Some(&b"/etc/passwd"[..]));
        assert_eq!(name(" = 3<pipe:[1]>"), None);
        assert_eq!(name(" = 3"), None);
    }
}
