//! Strings as strace quotes them.

/// Appends what the quoted text (without its quotes) stands for.
pub(crate) fn unescape(text: &[u8], to: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(place) = memchr::memchr(b'\\', rest) {
        to.extend_from_slice(&rest[..place]);
        let (byte, used) = escape(&rest[place + 1..]);
        to.push(byte);
        rest = &rest[place + 1 + used..];
    }
    to.extend_from_slice(rest);
}

/// The byte that follows a backslash stands for, and how much text that was.
fn escape(text: &[u8]) -> (u8, usize) {
    let Some(first) = text.first() else { return (b'\\', 0) };
    match first {
        b'n' => (b'\n', 1),
        b't' => (b'\t', 1),
        b'r' => (b'\r', 1),
        b'v' => (0x0b, 1),
        b'f' => (0x0c, 1),
        b'x' => {
            let digits = text[1..].iter().take(2).map_while(|byte| char::from(*byte).to_digit(16));
            let (value, used) = digits.fold((0, 0), |(value, used), digit| (value * 16 + digit, used + 1));
            // Two digits of base 16 fit.
            if used == 0 { (b'x', 1) } else { (value as u8, 1 + used) }
        }
        b'0'..=b'7' => {
            let digits = text.iter().take(3).map_while(|byte| char::from(*byte).to_digit(8));
            let (value, used) = digits.fold((0, 0), |(value, used), digit| (value * 8 + digit, used + 1));
            // strace writes no byte above \377.
            (value as u8, used)
        }
        other => (*other, 1),
    }
}

/// Appends `bytes` as strace quotes a string, without the quotes; `<` and `>`, too, where a name stands between those.
pub(crate) fn escape_into(bytes: &[u8], brackets: Brackets, to: &mut Vec<u8>) {
    for (place, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' | b'\\' => to.extend_from_slice(&[b'\\', *byte]),
            b'\n' => to.extend_from_slice(b"\\n"),
            b'\t' => to.extend_from_slice(b"\\t"),
            b'\r' => to.extend_from_slice(b"\\r"),
            0x0b => to.extend_from_slice(b"\\v"),
            0x0c => to.extend_from_slice(b"\\f"),
            b'<' | b'>' if brackets == Brackets::Escaped => octal(*byte, bytes.get(place + 1), to),
            b' '..=b'~' => to.push(*byte),
            _ => octal(*byte, bytes.get(place + 1), to),
        }
    }
}

/// Whether `<` and `>` end the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brackets {
    /// They do.
    Escaped,
    /// They mean nothing.
    Plain,
}

/// As short as possible, as strace writes it: all three digits only before another digit.
fn octal(byte: u8, next: Option<&u8>, to: &mut Vec<u8>) {
    let digits = [byte >> 6, (byte >> 3) & 7, byte & 7].map(|digit| b'0' + digit);
    let leading = if next.is_some_and(u8::is_ascii_digit) {
        0
    } else {
        digits.iter().take(2).take_while(|digit| **digit == b'0').count()
    };
    to.push(b'\\');
    to.extend_from_slice(&digits[leading..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<u8> {
        let mut to = Vec::new();
        unescape(text.as_bytes(), &mut to);
        to
    }

    #[test]
    fn every_escape_of_strace() {
        assert_eq!(read("plain"), b"plain");
        assert_eq!(read(r#"a\nb\t\r\v\f\\\"c"#), b"a\nb\t\r\x0b\x0c\\\"c");
        assert_eq!(read(r"\377\376\0\08\1a"), b"\xff\xfe\0\08\x01a");
        assert_eq!(read(r"\x2f\x61"), b"/a");
        assert_eq!(read(r"a\76b\74c"), b"a>b<c");
        assert_eq!(read("cut\\"), b"cut\\");
    }

    proptest! {
        #[test]
        fn what_is_escaped_is_read_again(bytes: Vec<u8>) {
            for brackets in [Brackets::Plain, Brackets::Escaped] {
                let (mut text, mut again) = (Vec::new(), Vec::new());
                escape_into(&bytes, brackets, &mut text);
                prop_assert!(text.iter().all(|byte| (b' '..=b'~').contains(byte)));
                unescape(&text, &mut again);
                prop_assert_eq!(&again, &bytes);
            }
        }
    }
}
