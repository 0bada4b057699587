//! The column with the time: `-t`, `-tt`, `-ttt`, `-r`, or both.

use super::scanning::skip_spaces;

/// Nanoseconds of a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// What the column of a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// `-t`, `-tt`: ns since some midnight.
    OfDay(u64),
    /// `-ttt`: ns since 1970.
    Unix(u64),
    /// `-r`: ns since the line before, whichever task that was of.
    SinceLast(u64),
}

/// The moment at the beginning of `text`, and what follows it; nothing if there is none.
pub(crate) fn moment(text: &[u8]) -> Option<(Moment, &[u8])> {
    let end = text.iter().position(|byte| *byte == b' ')?;
    let (column, rest) = text.split_at(end);
    let moment = match (column.get(2), column.get(5)) {
        (Some(b':'), Some(b':')) => Moment::OfDay(of_day(column)?),
        _ => {
            let (seconds, has_point) = decimal(column)?;
            // Without a fraction it is `-ttt` with a precision of seconds: no process has such a number.
            match has_point || seconds >= SMALLEST_UNIX * SECOND {
                true if seconds >= SMALLEST_UNIX * SECOND => Moment::Unix(seconds),
                true => Moment::SinceLast(seconds),
                false => return None,
            }
        }
    };
    let rest = skip_spaces(rest);
    // With -r besides: `12:00:00 (+     0.000123) `.
    match rest.strip_prefix(b"(+") {
        Some(both) => {
            let close = both.iter().position(|byte| *byte == b')')?;
            Some((moment, skip_spaces(&both[close + 1..])))
        }
        None => Some((moment, rest)),
    }
}

/// Numbers of processes stay below 2^22, and the calls of one line are not three months after those of the line before.
const SMALLEST_UNIX: u64 = 1 << 23;

fn of_day(column: &[u8]) -> Option<u64> {
    let two = |at: usize| -> Option<u64> {
        let digit = |at: usize| column.get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0');
        Some(u64::from(digit(at)?) * 10 + u64::from(digit(at + 1)?))
    };
    let whole = two(0)? * 3600 + two(3)? * 60 + two(6)?;
    let fraction = match column.get(8) {
        None => 0,
        Some(b'.') => fraction(&column[9..])?,
        Some(_) => return None,
    };
    Some(whole * SECOND + fraction)
}

/// Seconds as ns, and whether they had a fraction.
pub(crate) fn decimal(text: &[u8]) -> Option<(u64, bool)> {
    let point = text.iter().position(|byte| *byte == b'.');
    let whole = &text[..point.unwrap_or(text.len())];
    if whole.is_empty() || whole.len() > 11 {
        return None;
    }
    let mut seconds = 0_u64;
    for byte in whole {
        seconds = seconds * 10 + u64::from(Some(byte).filter(|byte| byte.is_ascii_digit())? - b'0');
    }
    let fraction = match point {
        None => 0,
        Some(point) => fraction(&text[point + 1..])?,
    };
    Some((seconds.checked_mul(SECOND)?.checked_add(fraction)?, point.is_some()))
}

/// Three digits are milliseconds, six microseconds, nine nanoseconds.
fn fraction(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut value = 0_u64;
    for byte in digits {
        value = value * 10 + u64::from(Some(byte).filter(|byte| byte.is_ascii_digit())? - b'0');
    }
    Some((digits.len()..9).fold(value, |value, _| value * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Moment, &str)> {
        moment(text.as_bytes()).map(|(moment, rest)| (moment, std::str::from_utf8(rest).unwrap()))
    }

    #[test]
    fn every_option_is_told_by_its_column() {
        let day = |seconds: u64, more: u64| Moment::OfDay(seconds * SECOND + more);
        assert_eq!(read("23:59:58 x"), Some((day(86_398, 0), "x")));
        assert_eq!(read("00:00:01.000002 x"), Some((day(1, 2000), "x")));
        assert_eq!(read("1795849646.230306 x"), Some((Moment::Unix(1_795_849_646_230_306_000), "x")),);
        assert_eq!(read("1795849646 x"), Some((Moment::Unix(1_795_849_646 * SECOND), "x")));
        assert_eq!(read("1795849646.123456789 x"), Some((Moment::Unix(1_795_849_646_123_456_789), "x")));
        assert_eq!(read("0.000012 x"), Some((Moment::SinceLast(12_000), "x")));
        assert_eq!(read("12:00:00 (+     0.000123) x"), Some((day(43_200, 0), "x")));
    }

    #[test]
    fn what_is_no_moment_is_left_alone() {
        for text in [
            "openat(AT_FDCWD) ",
            "12345 x",
            "1.x y",
            "12:00 x",
            "1.0000000001 x",
            "99999999999999.5 x",
            "1.5",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
