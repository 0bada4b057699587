//! One value as it is written: a number, a number with a unit, or what time(1) prints.

use super::decimal::Decimal;
use crate::import::options::value_options::{DecimalMark, ValueUnit};

/// What a cell says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Nothing was measured.
    Missing,
    /// A number whose unit is said elsewhere.
    Bare(Decimal),
    /// A number of a unit of time.
    Time { number: Decimal, unit_ns: u64 },
    /// A number with a word that is no unit of time.
    Worded { number: Decimal, word: &'a str },
}

/// Reads a cell; nothing if it is none.
pub(crate) fn read_cell(text: &str, mark: DecimalMark) -> Option<Cell<'_>> {
    let text = text.trim();
    if is_missing(text) {
        return Some(Cell::Missing);
    }
    if text.contains(':') {
        return clock(text.strip_suffix("elapsed").unwrap_or(text), mark);
    }
    let end = text
        .char_indices()
        .find(|(at, character)| !is_part_of_number(&text[*at..], *character))
        .map_or(text.len(), |(at, _)| at);
    let (number, word) = text.split_at(end);
    let number = decimal(number.trim_end(), mark)?;
    let word = word.trim();
    if word.is_empty() {
        return Some(Cell::Bare(number));
    }
    if let Some(cell) = hours_minutes_seconds(text, mark) {
        return Some(cell);
    }
    Some(match nanoseconds_of(word) {
        Some(unit_ns) => Cell::Time { number, unit_ns },
        None if is_word(word) => Cell::Worded { number, word },
        None => return None,
    })
}

/// Which mark the numbers of a column have, from all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct MarkEvidence {
    /// Whether the comma of a text can only be a decimal mark.
    comma: bool,
    /// Whether the point of a text can only be a decimal mark.
    point: bool,
    /// The first text that may be either.
    either: Option<String>,
}

impl MarkEvidence {
    /// Takes one more text into account.
    pub fn look_at(&mut self, text: &str) {
        let number = text.trim().trim_start_matches(['-', '+']);
        let end =
            number.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).count();
        let number = &number[..end];
        match (number.rfind(','), number.rfind('.')) {
            (None, None) => {}
            (None, Some(_)) if number.matches('.').count() > 1 => self.comma = true,
            (None, Some(_)) => self.point = true,
            (Some(comma), Some(point)) if comma > point => self.comma = true,
            (Some(_), Some(_)) => self.point = true,
            (Some(_), None) if !is_grouped(number, ',') => self.comma = true,
            (Some(_), None) if number.matches(',').count() > 1 => self.point = true,
            (Some(_), None) => _ = self.either.get_or_insert_with(|| text.to_owned()),
        }
    }

    /// The mark, or the text that may be either.
    pub fn mark(self) -> Result<DecimalMark, String> {
        match self {
            // Points that stand alone (0.250) are decimal marks unless something says otherwise.
            Self { comma: true, point: false, .. } => Ok(DecimalMark::Comma),
            Self { comma: false, either: Some(text), point: false } => Err(text),
            _ => Ok(DecimalMark::Point),
        }
    }
}

/// Whether `number` has the form `1,234` or `12,345,678` with the given mark.
fn is_grouped(number: &str, mark: char) -> bool {
    let mut groups = number.split(mark);
    let first = groups.next().unwrap_or("");
    (1..=3).contains(&first.len())
        && first != "0"
        && groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Words that people and programs write where nothing was measured.
fn is_missing(text: &str) -> bool {
    const WORDS: [&str; 11] =
        ["na", "n/a", "-", "--", "nan", "-nan", "null", "undefined", "none", "nil", "?"];
    text.is_empty() || (text.len() <= 9 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)))
}

fn is_part_of_number(rest: &str, character: char) -> bool {
    match character {
        '0'..='9' | '.' | ',' | '+' | '-' => true,
        // An exponent, not the begin of a word.
        'e' | 'E' => {
            let behind = rest[1..].strip_prefix(['+', '-']).unwrap_or(&rest[1..]);
            behind.starts_with(|next: char| next.is_ascii_digit())
        }
        _ => false,
    }
}

/// A number with that decimal mark; the other one may group thousands if there is a fraction or more than one of it.
fn decimal(text: &str, mark: DecimalMark) -> Option<Decimal> {
    let (point, group) = match mark {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    if !text.contains(group) && mark == DecimalMark::Point {
        return Decimal::parse(text);
    }
    if text.contains(group) {
        let whole = text.split(point).next()?.trim_start_matches(['-', '+']);
        if !is_grouped(whole, group) || text.rfind(group) > text.find(point).or(Some(text.len())) {
            // Decimal commas in one column and points in another are common where two programs wrote one file.
            return (mark == DecimalMark::Comma && !text.contains(point))
                .then(|| Decimal::parse(text))
                .flatten();
        }
    }
    let plain: String = text
        .chars()
        .filter(|character| *character != group)
        .map(|character| if character == point { '.' } else { character })
        .collect();
    Decimal::parse(&plain)
}

/// Nanoseconds of a unit of time, those included that only cells use.
fn nanoseconds_of(word: &str) -> Option<u64> {
    let longer = match word {
        "m" => Some(60),
        "week" | "weeks" => Some(7 * 86_400),
        _ => None,
    };
    longer.map(|seconds| seconds * 1_000_000_000).or_else(|| ValueUnit::of_time(word)?.nanoseconds())
}

fn is_word(word: &str) -> bool {
    word.chars().count() <= 20
        && word.chars().all(|character| character.is_alphabetic() || "%/°.²³ ".contains(character))
}

/// `0m1.234s`, `1h02m03.4s`, as shells print them.
fn hours_minutes_seconds<'a>(text: &str, mark: DecimalMark) -> Option<Cell<'a>> {
    let rest = text.strip_suffix('s')?;
    let (hours, rest) = rest
        .split_once('h')
        .map_or((0, Some(rest)), |(hours, rest)| (whole(hours).unwrap_or(u64::MAX), Some(rest)));
    let (minutes, seconds) = rest?.split_once('m')?;
    let minutes = hours.checked_mul(60)?.checked_add(whole(minutes)?)?;
    let number = unsigned(seconds.trim_start(), mark)?.plus(minutes.checked_mul(60)?)?;
    Some(Cell::Time { number, unit_ns: 1_000_000_000 })
}

/// `1:02.3`, `0:00.01`, `1:02:03`: minutes and seconds, or hours, minutes and seconds.
fn clock<'a>(text: &str, mark: DecimalMark) -> Option<Cell<'a>> {
    let (front, seconds) = text.rsplit_once(':')?;
    let minutes = match front.split_once(':') {
        Some((hours, minutes)) => whole(hours)?.checked_mul(60)?.checked_add(whole(minutes)?)?,
        None => whole(front)?,
    };
    let number = unsigned(seconds, mark)?.plus(minutes.checked_mul(60)?)?;
    Some(Cell::Time { number, unit_ns: 1_000_000_000 })
}

fn whole(text: &str) -> Option<u64> {
    (text.len() <= 9 && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

fn unsigned(text: &str, mark: DecimalMark) -> Option<Decimal> {
    text.starts_with(|first: char| first.is_ascii_digit()).then(|| decimal(text, mark)).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ns(text: &str) -> Option<u64> {
        match read_cell(text, DecimalMark::Point)? {
            Cell::Time { number, unit_ns } => number.times(unit_ns),
            _ => None,
        }
    }

    #[test]
    fn what_time_prints_is_read() {
        for (text, expected) in [
            ("0m1.234s", 1_234_000_000),
            ("0m0.00s", 0),
            ("31m2.5s", 1_862_500_000_000),
            ("1h2m3.4s", 3_723_400_000_000),
            ("1:02.3", 62_300_000_000),
            ("0:00.01elapsed", 10_000_000),
            ("1:02:03", 3_723_000_000_000),
            ("0.00s", 0),
            ("1.23 s", 1_230_000_000),
            ("12 ms", 12_000_000),
            ("3 µs", 3_000),
            ("1.5 mins", 90_000_000_000),
            ("2 hours", 7_200_000_000_000),
            ("1e-3 s", 1_000_000),
        ] {
            assert_eq!(ns(text), Some(expected), "{text}");
        }
        for text in ["1:x", ":1", "1:2:3:4", "m1s", "1m2", "xms", "1.2.3 s", "1m-5s", "0m s"] {
            assert_eq!(ns(text), None, "{text}");
        }
    }

    #[test]
    fn gaps_and_words_are_told_from_numbers() {
        for text in ["", "NA", "n/a", "-", "nan", "NaN", "null", "undefined"] {
            assert_eq!(read_cell(text, DecimalMark::Point), Some(Cell::Missing), "{text}");
        }
        assert!(
            matches!(read_cell("-5", DecimalMark::Point), Some(Cell::Bare(number)) if number.is_negative())
        );
        assert!(matches!(read_cell("95 %", DecimalMark::Point), Some(Cell::Worded { word: "%", .. })));
        assert!(matches!(read_cell("3 jobs", DecimalMark::Point), Some(Cell::Worded { word: "jobs", .. })));
        for text in ["failed", "12 <b>", "1 2", "0x10"] {
            assert_eq!(read_cell(text, DecimalMark::Point), None, "{text}");
        }
    }

    #[test]
    fn decimal_commas_are_told_by_the_whole_column() {
        let mark = |texts: &[&'static str]| {
            let mut evidence = MarkEvidence::default();
            texts.iter().for_each(|text| evidence.look_at(text));
            evidence.mark()
        };
        assert_eq!(mark(&["0.01", "1.30"]), Ok(DecimalMark::Point));
        assert_eq!(mark(&["1,300", "0,01"]), Ok(DecimalMark::Comma));
        assert_eq!(mark(&["1,300"]), Err("1,300".to_owned()));
        assert_eq!(mark(&["1,300", "0.5"]), Ok(DecimalMark::Point));
        assert_eq!(mark(&["1.234,5 ms"]), Ok(DecimalMark::Comma));
        assert_eq!(mark(&["12", "-"]), Ok(DecimalMark::Point));
        let read = |text, mark| match read_cell(text, mark) {
            Some(Cell::Bare(number)) => number.times(1_000),
            _ => None,
        };
        assert_eq!(read("1,234.5", DecimalMark::Point), Some(1_234_500));
        assert_eq!(read("1.234,5", DecimalMark::Comma), Some(1_234_500));
        assert_eq!(read("0,01", DecimalMark::Comma), Some(10));
        assert_eq!(read("0.01", DecimalMark::Comma), Some(10));
        assert_eq!(read("0,01", DecimalMark::Point), None);
        assert_eq!(read("1,23.4", DecimalMark::Point), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in ".{0,60}") {
            for mark in [DecimalMark::Point, DecimalMark::Comma] {
                let _ = read_cell(&text, mark);
            }
            let mut evidence = MarkEvidence::default();
            evidence.look_at(&text);
        }

        #[test]
        fn nearly_numbers_are_no_trouble(text in "[-+0-9.,:eEhms ]{0,20}(elapsed|s|µs|e)?") {
            let _ = read_cell(&text, DecimalMark::Point);
            let _ = read_cell(&text, DecimalMark::Comma);
        }
    }
}
