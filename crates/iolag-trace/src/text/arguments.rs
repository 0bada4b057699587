//! The arguments of a call: where each begins and ends, and what it says.

use memchr::{memchr, memchr2};

/// More arguments than that no system call has; strace adds some of structures.
pub(crate) const ARGUMENTS_MAX: usize = 8;

/// More than any path takes, each byte of it in four: what is longer is none.
const QUOTED_BYTES_MAX: usize = 1 << 15;

/// Arguments as they stand in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Arguments<'a> {
    texts: [&'a [u8]; ARGUMENTS_MAX],
}

impl<'a> Arguments<'a> {
    /// Splits what follows the opening bracket of a call: its arguments, and what follows the closing bracket. Nothing if there is
    /// none: the line was cut.
    pub(crate) fn split(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut arguments = Self::default();
        let (mut begin, mut at, mut depth, mut number) = (0, 0, 0_u32, 0);
        loop {
            match text.get(at)? {
                b'"' => at = end_of_quoted(text, at + 1)?,
                b'<' if is_name_of_descriptor(text, at) => at = end_of_bracketed(text, at + 1)?,
                b'(' | b'[' | b'{' => depth += 1,
                byte @ (b')' | b']' | b'}') => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None if *byte == b')' => {
                        arguments.set(number, &text[begin..at]);
                        return Some((arguments, &text[at + 1..]));
                    }
                    None => {}
                },
                b',' if depth == 0 => {
                    arguments.set(number, &text[begin..at]);
                    number += 1;
                    begin = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The first argument of a call of which only the beginning is known.
    pub(crate) fn first_of(text: &'a [u8]) -> Self {
        let mut arguments = Self::default();
        arguments.set(0, &text[..end_of_first(text)]);
        arguments
    }

    /// All of what is known of them, as one.
    pub(crate) fn of_beginning(text: &'a [u8]) -> Self {
        let mut arguments = Self::default();
        arguments.set(0, text);
        arguments
    }

    fn set(&mut self, number: usize, text: &'a [u8]) {
        if let Some(place) = self.texts.get_mut(number) {
            *place = text.trim_ascii();
        }
    }

    /// The argument with this number, from 0; empty if there is none.
    pub(crate) fn get(&self, number: u8) -> &'a [u8] {
        self.texts.get(usize::from(number)).copied().unwrap_or_default()
    }

    /// All that there may be.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.texts.iter().copied()
    }
}

/// Where the first of the arguments ends, if they are whole.
pub(crate) fn end_of_first(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let end = match byte {
            b',' => return at,
            b'"' => end_of_quoted(text, at + 1),
            b'<' if is_name_of_descriptor(text, at) => end_of_bracketed(text, at + 1),
            _ => Some(at),
        };
        at = end.map_or(text.len(), |end| end + 1);
    }
    text.len()
}

/// `3</tmp/x>` and `AT_FDCWD</tmp>`, but not `1<<5`.
fn is_name_of_descriptor(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    before.is_some_and(|byte| byte.is_ascii_digit() || *byte == b'D') && text.get(at + 1) != Some(&b'<')
}

/// Where the quoted text that begins at `at` ends: the place of its closing quote.
fn end_of_quoted(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        match text[at] {
            b'"' => return Some(at),
            _ => at += 2,
        }
    }
}

/// Where a name between `<` and `>` ends. Names within it are those of devices: `/dev/null<char 1:3>`.
fn end_of_bracketed(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0;
    loop {
        at += memchr2(b'<', b'>', text.get(at..)?)?;
        match (text[at], depth) {
            (b'<', _) => depth += 1,
            (_, 0) => return Some(at),
            _ => depth -= 1,
        }
        at += 1;
    }
}

/// A string, without its quotes and as it is quoted; nothing if it is an address, or cut off.
pub(crate) fn quoted(argument: &[u8]) -> Option<&[u8]> {
    let text = argument.strip_prefix(b"\"")?;
    let end = end_of_quoted(text, 0)?;
    // strace prints paths whole; what has dots behind it is not one.
    (text[end + 1..].is_empty() && end <= QUOTED_BYTES_MAX).then_some(&text[..end])
}

/// What a descriptor is, and what -y says that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Descriptor<'a> {
    /// Its number; the directory of the task is [`Descriptor::DIRECTORY`].
    pub number: i32,
    /// The quoted name behind it.
    pub name: Option<&'a [u8]>,
}

impl<'a> Descriptor<'a> {
    /// AT_FDCWD.
    pub(crate) const DIRECTORY: i32 = -100;

    /// Reads `3`, `0x3`, `3</tmp>`, `AT_FDCWD</tmp>`.
    pub(crate) fn of(argument: &'a [u8]) -> Option<Self> {
        let (number, rest) = match argument.strip_prefix(b"AT_FDCWD") {
            Some(rest) => (i64::from(Self::DIRECTORY), rest),
            None => number_and_rest(argument)?,
        };
        // Undecoded, -1 and AT_FDCWD are large.
        let number = i32::try_from(number).unwrap_or(number as u32 as i32);
        let name = rest.strip_prefix(b"<").and_then(|name| end_of_bracketed(name, 0).map(|end| &name[..end]));
        Some(Self { number, name })
    }

    /// The path behind it, if it is a file or a directory.
    pub(crate) fn path(&self) -> Option<&'a [u8]> {
        // The second with -xx.
        let is_path = |name: &&[u8]| name.starts_with(b"/") || name.starts_with(b"\\x2f");
        let name = self.name.filter(is_path).filter(|name| name.len() <= QUOTED_BYTES_MAX)?;
        let end = memchr(b'<', name).unwrap_or(name.len());
        let name = &name[..end];
        // Before 5.19 within the brackets, after that behind them.
        Some(name.strip_suffix(b" (deleted)").unwrap_or(name))
    }
}

/// A whole number.
pub(crate) fn number(argument: &[u8]) -> Option<i64> {
    number_and_rest(argument).map(|(number, _)| number)
}

/// A number at the beginning, decimal, octal or hexadecimal, and what follows it.
pub(crate) fn number_and_rest(text: &[u8]) -> Option<(i64, &[u8])> {
    if let Some(rest) = text.strip_prefix(b"~0U") {
        return Some((-1, rest));
    }
    let (is_negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (base, digits) = match digits {
        [b'0', b'x', rest @ ..] => (16, rest),
        [b'0', second, ..] if second.is_ascii_digit() => (8, &digits[1..]),
        _ => (10, digits),
    };
    let mut value = 0_u64;
    let mut used = 0;
    for byte in digits {
        let Some(digit) = char::from(*byte).to_digit(base) else { break };
        value = value.wrapping_mul(u64::from(base)).wrapping_add(u64::from(digit));
        used += 1;
    }
    // Undecoded, negative numbers are large.
    let value = if is_negative { (value as i64).wrapping_neg() } else { value as i64 };
    (used > 0).then_some((value, &digits[used..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Option<(Vec<&str>, &str)> {
        let (arguments, rest) = Arguments::split(text.as_bytes())?;
        let texts = arguments.iter().map(|text| std::str::from_utf8(text).unwrap());
        let mut texts: Vec<_> = texts.collect();
        while texts.last() == Some(&"") {
            texts.pop();
        }
        Some((texts, std::str::from_utf8(rest).unwrap()))
    }

    #[test]
    fn commas_and_brackets_within_arguments_end_none() {
        let text =
            r#"AT_FDCWD</a,(b>, "x\"),y", {st_mode=S_IFREG|0644, st_size=1, ...}, [1, 2]) = 0 <0.000010>"#;
        let expected =
            vec!["AT_FDCWD</a,(b>", r#""x\"),y""#, "{st_mode=S_IFREG|0644, st_size=1, ...}", "[1, 2]"];
        assert_eq!(split(text), Some((expected, " = 0 <0.000010>")));
        assert_eq!(split(") = 1"), Some((vec![], " = 1")));
        assert_eq!(split("1<<5, 2)"), Some((vec!["1<<5", "2"], "")));
        assert_eq!(
            split("1</dev/null<char 1:3>>, \"\", 0) = 0"),
            Some((vec!["1</dev/null<char 1:3>>", "\"\"", "0"], " = 0"))
        );
        assert_eq!(split("1, 2, 3, 4, 5, 6, 7, 8, 9, 10)").unwrap().0.len(), ARGUMENTS_MAX);
    }

    #[test]
    fn what_is_cut_has_no_end() {
        for text in ["", "3", "\"abc", "\"abc\\", "3</tmp", "{a=1"] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn strings_are_whole_or_none() {
        assert_eq!(quoted(br#""a\"b""#), Some(&br#"a\"b"#[..]));
        assert_eq!(quoted(b"\"\""), Some(&b""[..]));
        assert_eq!(quoted(b"\"abc\"..."), None);
        assert_eq!(quoted(b"0x7ffd"), None);
        assert_eq!(quoted(b"NULL"), None);
    }

    #[test]
    fn descriptors_with_and_without_their_names() {
        let of = |text: &'static str| {
            let descriptor = Descriptor::of(text.as_bytes()).unwrap();
            (descriptor.number, descriptor.path().map(|path| std::str::from_utf8(path).unwrap()))
        };
        assert_eq!(of("3"), (3, None));
        assert_eq!(of("0x1f"), (31, None));
        assert_eq!(of("-1"), (-1, None));
        assert_eq!(of("0xffffff9c"), (-100, None));
        assert_eq!(of("AT_FDCWD"), (-100, None));
        assert_eq!(of("AT_FDCWD</tmp/h>"), (-100, Some("/tmp/h")));
        assert_eq!(of("3</tmp/x>(deleted)"), (3, Some("/tmp/x")));
        assert_eq!(of("3</tmp/x (deleted)>"), (3, Some("/tmp/x")));
        assert_eq!(of("1</dev/null<char 1:3>>"), (1, Some("/dev/null")));
        assert_eq!(of("3<\\x2f\\x61>"), (3, Some("\\x2f\\x61")));
        assert_eq!(of("4<pipe:[8045375]>"), (4, None));
        assert_eq!(Descriptor::of(b"NULL"), None);
    }

    #[test]
    fn numbers_of_every_base() {
        assert_eq!(number(b"4096"), Some(4096));
        assert_eq!(number(b"0640"), Some(0o640));
        assert_eq!(number(b"0x1000"), Some(4096));
        assert_eq!(number(b"-1759"), Some(-1759));
        assert_eq!(number(b"0"), Some(0));
        assert_eq!(number(b"0xffffffffffffffff"), Some(-1));
        assert_eq!(number(b"~0U"), Some(-1));
        assert_eq!(number(b"NULL"), None);
        assert_eq!(number(b""), None);
    }
}
