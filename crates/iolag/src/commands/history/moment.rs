//! Moments as people type them: `2008-05-08 14:00`, `14:00`, `yesterday`, `30d`, `now`, RFC 3339.
//!
//! Invariants: now and the time zone are arguments; what has two readings, or none, is refused and never guessed. A date alone is its
//! midnight. `30d` is 30 times 24 hours ago, whatever clocks were set forward or back since.
//!
//! Limits: years 1970 to 2261.

use iolag_model::{WallSpan, WallTime, parse_duration};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan};

/// The forms that are understood, for messages.
const FORMS: &str = "a time such as \"2008-05-08 14:00\", 2008-05-08, 14:00, 2008-05-08T14:00:00Z, yesterday, now, or 30d for 30 days ago";

/// A text that is no moment, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} {what}")]
pub struct MomentError {
    text: String,
    what: String,
}

impl MomentError {
    fn new(text: &str, what: impl Into<String>) -> Self {
        const CHARACTERS_MAX: usize = 60;
        Self { text: text.chars().take(CHARACTERS_MAX).collect(), what: what.into() }
    }
}

/// Where and when the user types: what `now` and `14:00` mean.
#[derive(Debug, Clone)]
pub struct Here {
    /// The moment.
    pub now: WallTime,
    /// Zone of times that name none.
    pub zone: TimeZone,
}

impl Here {
    /// Reads one moment.
    ///
    /// # Errors
    /// One sentence, if the text is none, if clocks showed it twice or never, or if it lies before 1970 or after 2261.
    pub fn moment(&self, text: &str) -> Result<WallTime, MomentError> {
        let trimmed = text.trim();
        if trimmed == "now" {
            return Ok(self.now);
        }
        if let Some(ago) = self.ago(trimmed) {
            return ago.ok_or_else(|| MomentError::new(text, "lies before 1970"));
        }
        if let Some(moment) = with_offset(trimmed) {
            return in_range(text, moment);
        }
        let civil = self.civil(trimmed).ok_or_else(|| self.refusal(text, trimmed))?;
        self.of_zone(text, civil)
    }

    /// Reads the span from `since` to `until`, without the latter; what is absent is open.
    ///
    /// # Errors
    /// If one of them is no moment, or nothing lies between them.
    pub fn span(&self, since: Option<&str>, until: Option<&str>) -> Result<WallSpan, MomentError> {
        let begin = since.map_or(Ok(WallSpan::ALL.begin), |text| self.moment(text))?;
        let end = until.map_or(Ok(WallSpan::ALL.end), |text| self.moment(text))?;
        match (since, until) {
            (Some(since), Some(until)) if begin >= end => {
                let what = format!("is not before {until:?}: expected a begin and a later end");
                Err(MomentError::new(since, what))
            }
            _ => Ok(WallSpan { begin, end }),
        }
    }

    /// `30d`, `2h ago`; the inner `None` lies before 1970.
    fn ago(&self, text: &str) -> Option<Option<WallTime>> {
        let length = text.strip_suffix("ago").map_or(text, str::trim_end);
        // A bare number is none: it may be a year.
        length.strip_suffix(|last: char| last.is_ascii_alphabetic())?;
        let length = parse_duration(length).ok()?;
        let moment = self.now.0.checked_sub_unsigned(length.0).map(WallTime);
        Some(moment.filter(|moment| *moment >= WallTime(0)))
    }

    /// What a clock on the wall here shows at that moment.
    fn civil(&self, text: &str) -> Option<DateTime> {
        let at_letter =
            || text.starts_with(|first: char| first.is_ascii_digit()).then(|| text.split_once(['T', 't']))?;
        let (first, rest) = match text.split_once(' ').or_else(at_letter) {
            Some((first, rest)) => (first, Some(rest.trim_start())),
            None => (text, None),
        };
        match (self.day(first), rest) {
            (Some(day), Some(rest)) => Some(day.to_datetime(time_of_day(rest)?)),
            (Some(day), None) => Some(day.to_datetime(Time::midnight())),
            (None, None) => Some(self.today().to_datetime(time_of_day(first)?)),
            (None, Some(_)) => None,
        }
    }

    fn day(&self, text: &str) -> Option<Date> {
        match text {
            "today" => Some(self.today()),
            "yesterday" => self.today().checked_sub(1.day()).ok(),
            _ => {
                let [year, month, day] = numbers(text, '-', [4, 2, 2])?;
                Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
            }
        }
    }

    fn today(&self) -> Date {
        let now = Timestamp::from_nanosecond(i128::from(self.now.0)).unwrap_or_default();
        self.zone.to_datetime(now).date()
    }

    fn of_zone(&self, text: &str, civil: DateTime) -> Result<WallTime, MomentError> {
        let ambiguous = self.zone.to_ambiguous_timestamp(civil);
        match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } => match offset.to_timestamp(civil) {
                Ok(moment) => in_range(text, moment),
                Err(_) => Err(out_of_range(text)),
            },
            AmbiguousOffset::Fold { before, after } => {
                let what = format!(
                    "comes twice where you are, since clocks are set back: say which with an offset, as {}{} or {}{}",
                    civil.strftime("%Y-%m-%dT%H:%M:%S"),
                    offset_text(before),
                    civil.strftime("%Y-%m-%dT%H:%M:%S"),
                    offset_text(after)
                );
                Err(MomentError::new(text, what))
            }
            AmbiguousOffset::Gap { .. } => {
                let what = "does not exist where you are, since clocks are set forward over it: name an earlier or later one";
                Err(MomentError::new(text, what))
            }
        }
    }

    fn refusal(&self, text: &str, trimmed: &str) -> MomentError {
        if trimmed.contains('/') || (trimmed.contains('.') && !trimmed.contains(':')) {
            return MomentError::new(
                text,
                "may have the day or the month first: write year, month and day as in 2008-05-08",
            );
        }
        MomentError::new(text, format!("is no time: expected {FORMS}"))
    }
}

/// A date, a time of day and an offset: RFC 3339, also with a space instead of the T and without seconds.
fn with_offset(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.split_once([' ', 'T', 't'])?;
    let at = rest.find(['Z', 'z', '+', '-'])?;
    let (time, offset) = rest.split_at(at);
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let date =
        Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    let civil = date.to_datetime(time_of_day(time.trim_end())?);
    let seconds = match offset {
        "Z" | "z" => 0,
        _ => {
            let (sign, digits) = offset.split_at(1);
            let [hours, minutes] = numbers(digits, ':', [2, 2])?;
            let seconds =
                i32::try_from(hours * 3600 + minutes * 60).ok().filter(|_| hours < 24 && minutes < 60)?;
            if sign == "-" { -seconds } else { seconds }
        }
    };
    jiff::tz::Offset::from_seconds(seconds).ok()?.to_timestamp(civil).ok()
}

/// `14:00`, `14:00:02`, `14:00:02.123`.
fn time_of_day(text: &str) -> Option<Time> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let digits_are_fine = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if text.ends_with('.') || !digits_are_fine {
        return None;
    }
    let nanosecond = format!("{fraction:0<9}").parse::<i32>().ok()?;
    let [hour, minute, second] = match whole.matches(':').count() {
        1 if fraction.is_empty() => {
            let [hour, minute] = numbers(whole, ':', [2, 2])?;
            [hour, minute, 0]
        }
        _ => numbers(whole, ':', [2, 2, 2])?,
    };
    let small = |number: u32| i8::try_from(number).ok();
    // A leap second has no moment of its own on any clock that we read.
    Time::new(small(hour)?, small(minute)?, small(second)?, nanosecond).ok()
}

/// Numbers of at most these many digits, with `separator` between them.
fn numbers<const N: usize>(text: &str, separator: char, digits_max: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for (number, digits_max) in found.iter_mut().zip(digits_max) {
        let part = parts.next()?;
        let is_number =
            (1..=digits_max).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        // Years have four digits: `08-05-08` may be anything.
        if !is_number || (digits_max == 4 && part.len() != 4) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

fn in_range(text: &str, moment: Timestamp) -> Result<WallTime, MomentError> {
    i64::try_from(moment.as_nanosecond())
        .ok()
        .filter(|nanoseconds| *nanoseconds >= 0)
        .map(WallTime)
        .ok_or_else(|| out_of_range(text))
}

fn out_of_range(text: &str) -> MomentError {
    MomentError::new(text, "is out of range: expected a time from 1970 to 2261")
}

fn offset_text(offset: jiff::tz::Offset) -> String {
    let seconds = offset.seconds();
    let (sign, seconds) = if seconds < 0 { ('-', -seconds) } else { ('+', seconds) };
    format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
}

/// A moment, as in `2008-05-08 14:00:00 UTC`.
pub fn in_utc(moment: WallTime) -> String {
    format!("{} UTC", moment.to_second())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// In the last rule of the zone: pacific time as a POSIX string, so that no zone files are needed.
    fn here() -> Here {
        let zone = TimeZone::posix("PST8PDT,M3.2.0,M11.1.0").unwrap();
        // Saturday, 2008-05-10 09:30 PDT.
        Here { now: WallTime::from_seconds(1_210_437_000), zone }
    }

    fn read(text: &str) -> String {
        here().moment(text).unwrap().to_string()
    }

    fn refused(text: &str) -> String {
        here().moment(text).unwrap_err().to_string()
    }

    #[test]
    fn every_form_is_understood() {
        for (text, expected) in [
            ("now", "2008-05-10T16:30:00.000Z"),
            ("2008-05-08 14:00", "2008-05-08T21:00:00.000Z"),
            ("2008-05-08T14:00", "2008-05-08T21:00:00.000Z"),
            ("2008-05-08 14:00:02.5", "2008-05-08T21:00:02.500Z"),
            ("2008-5-8 4:05", "2008-05-08T11:05:00.000Z"),
            ("2008-05-08", "2008-05-08T07:00:00.000Z"),
            ("2008-01-08", "2008-01-08T08:00:00.000Z"),
            ("2008-05-08T14:00:00Z", "2008-05-08T14:00:00.000Z"),
            ("2008-05-08 14:00:00.25+02:00", "2008-05-08T12:00:00.250Z"),
            ("2008-05-08T14:00 -07:30", "2008-05-08T21:30:00.000Z"),
            ("14:00", "2008-05-10T21:00:00.000Z"),
            ("today", "2008-05-10T07:00:00.000Z"),
            ("yesterday", "2008-05-09T07:00:00.000Z"),
            (" yesterday 23:59 ", "2008-05-10T06:59:00.000Z"),
            ("30d", "2008-04-10T16:30:00.000Z"),
            ("2h ago", "2008-05-10T14:30:00.000Z"),
            ("90min", "2008-05-10T15:00:00.000Z"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused_with_what_was_expected() {
        for text in [
            "",
            "soon",
            "2008",
            "14",
            "25:00",
            "14:60",
            "14:00.5",
            "2008-13-01",
            "08-05-08",
            "-3d",
            "today T",
            "todayT14:00",
        ] {
            assert!(refused(text).contains("is no time: expected"), "{text}: {}", refused(text));
        }
        assert!(refused("05/08/2008").contains("may have the day or the month first"));
        assert!(refused("08.05.2008").contains("may have the day or the month first"));
        assert!(refused("99999d").contains("lies before 1970"));
        assert!(refused("1969-12-30").contains("1970 to 2261"));
        assert!(refused("2300-01-01").contains("1970 to 2261"));
    }

    #[test]
    fn times_that_clocks_show_twice_or_never_are_refused() {
        let twice = refused("2008-11-02 01:30");
        assert!(twice.contains("2008-11-02T01:30:00-07:00 or 2008-11-02T01:30:00-08:00"), "{twice}");
        assert_eq!(read("2008-11-02T01:30:00-08:00"), "2008-11-02T09:30:00.000Z");
        assert!(refused("2008-03-09 02:30").contains("does not exist"));
    }

    #[test]
    fn a_span_goes_from_its_begin_up_to_its_end() {
        let here = here();
        assert_eq!(here.span(None, None).unwrap(), WallSpan::ALL);
        let span = here.span(Some("2d"), Some("yesterday")).unwrap();
        assert!(span.begin < span.end && !span.contains(span.end));
        let reversed = here.span(Some("1d"), Some("2d")).unwrap_err().to_string();
        assert!(reversed.starts_with("\"1d\" is not before \"2d\""), "{reversed}");
        assert!(here.span(Some("soon"), None).is_err() && here.span(None, Some("soon")).is_err());
    }

    proptest! {
        #[test]
        fn any_text_gives_a_moment_or_one_sentence(text in any::<String>()) {
            if let Err(error) = here().moment(&text) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }

        #[test]
        fn texts_made_of_times_do_not_panic(text in "[0-9TZ:+\\- .dhagotyes/]{0,30}") {
            if let Err(error) = here().moment(&text) {
                prop_assert!(!error.to_string().is_empty());
            }
        }

        #[test]
        fn what_is_written_is_read_again(seconds in 0_i64..9_000_000_000) {
            let here = here();
            let moment = Timestamp::from_second(seconds).unwrap();
            let local = moment.to_zoned(here.zone.clone());
            prop_assert_eq!(here.moment(&moment.to_string()), Ok(WallTime::from_seconds(seconds)));
            let with_offset = local.strftime("%Y-%m-%d %H:%M:%S%:z").to_string();
            prop_assert_eq!(here.moment(&with_offset), Ok(WallTime::from_seconds(seconds)));
            let bare = local.strftime("%Y-%m-%d %H:%M:%S").to_string();
            match here.moment(&bare) {
                Ok(read) => prop_assert_eq!(read, WallTime::from_seconds(seconds)),
                Err(error) => prop_assert!(error.to_string().contains("comes twice"), "{}", error),
            }
        }

        #[test]
        fn lengths_are_taken_from_now(hours in 0_u32..10_000) {
            let ago = here().moment(&format!("{hours}h")).unwrap();
            prop_assert_eq!(here().now.since(ago).0, u64::from(hours) * 3_600_000_000_000);
        }
    }
}
