//! The last line of what a program complains of, in bounded memory and at the speed of copying: a program may complain for gigabytes.

use iolag_backend::redact;
use iolag_model::is_steering;

/// Bytes that are kept of the end of the complaints.
const BYTES_MAX: usize = 4096;
/// Characters of the line that is told.
const CHARACTERS_MAX: usize = 200;

/// Keeps the end of what a program writes.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    end: Vec<u8>,
    /// Whether something before the end was dropped.
    is_cut: bool,
}

impl LastWords {
    /// More complaints.
    pub(crate) fn add(&mut self, words: &[u8]) {
        let new = &words[words.len().saturating_sub(BYTES_MAX)..];
        let too_many = (self.end.len() + new.len()).saturating_sub(BYTES_MAX);
        self.is_cut |= too_many > 0 || new.len() < words.len();
        self.end.drain(..too_many);
        self.end.extend_from_slice(new);
    }

    /// The last line that is not blank, without secrets and without what steers a terminal; a long one is cut.
    pub(crate) fn line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.end);
        let (before, line) = match text.trim_end().rsplit_once('\n') {
            Some((before, line)) => (Some(before), line.trim()),
            None => (None, text.trim()),
        };
        // A word of which the begin is missing may be the rest of a URL with a password.
        let line = match (before, self.is_cut) {
            (None, true) => line.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start()),
            _ => line,
        };
        let clean: String =
            redact(line).chars().map(|one| if is_steering(one) { '\u{fffd}' } else { one }).collect();
        let cut: String = clean.chars().take(CHARACTERS_MAX).collect();
        let is_longer = cut.len() < clean.len();
        (!cut.is_empty()).then(|| if is_longer { format!("{cut}…") } else { cut })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(words: &[u8]) -> Option<String> {
        let mut last = LastWords::default();
        last.add(words);
        last.line()
    }

    #[test]
    fn the_last_line_is_told_without_secrets_and_without_what_steers() {
        for (words, line) in [
            ("oops: no such project\n", Some("oops: no such project")),
            ("first\r\n  last \r\n\n \n", Some("last")),
            ("", None),
            ("\n \n", None),
            ("\x1b[31mred\u{202e}der", Some("\u{fffd}[31mred\u{fffd}der")),
            (
                "fatal: https://me:hush@git/x?token=abc is gone",
                Some("fatal: https://me:***@git/x?token=*** is gone"),
            ),
        ] {
            assert_eq!(line_of(words.as_bytes()).as_deref(), line, "{words:?}");
        }
        assert_eq!(line_of(b"\xffbad").as_deref(), Some("\u{fffd}bad"));
        assert_eq!(line_of("é".repeat(300).as_bytes()), Some("é".repeat(CHARACTERS_MAX) + "…"));
    }

    #[test]
    fn of_gigabytes_the_end_is_kept_and_no_half_of_a_url() {
        let mut last = LastWords::default();
        for _ in 0..1000 {
            last.add(&[b'x'; 65_536]);
        }
        assert!(last.end.capacity() <= 4 * BYTES_MAX, "{}", last.end.capacity());
        assert_eq!(last.line(), None);
        last.add(b" https://me:hush@git failed");
        assert_eq!(last.line().as_deref(), Some("https://me:***@git failed"));
        // Of the line "hush@git failed yy…" is left: the password without its URL.
        last.add(&[b" ".as_slice(), &[b'y'; BYTES_MAX - 16]].concat());
        let line = last.line().unwrap();
        assert!(line.starts_with("failed yy") && !line.contains("hush"), "{line}");
        last.add(b"\nend");
        assert_eq!(last.line().as_deref(), Some("end"));
    }
}
