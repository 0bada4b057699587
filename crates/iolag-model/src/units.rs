//! Sizes, counts and durations as people write and read them.

use std::fmt;

use crate::Nanoseconds;

/// A text that is not a size, count or duration, with what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct UnitError {
    text: String,
    expected: &'static str,
}

/// Parses a size: `3901`, `4k`, `4KiB`, `1.5m`, `2GiB`. Letters are powers of 1024 in either case; `kB`, `MB`, `GB`
/// with the B but without the i are powers of 1000.
///
/// # Errors
/// If it is not a number with such a unit, is negative, or does not fit 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    const EXPECTED: &str = "a size such as 3901, 4KiB or 2GiB";
    scaled(text, EXPECTED, |unit| {
        let unit = unit.to_ascii_lowercase();
        let (prefix, base) = match unit.as_str() {
            "" | "b" => return Some(1.0),
            _ => match unit.strip_suffix("ib") {
                Some(prefix) => (prefix, 1024.0_f64),
                None => match unit.strip_suffix('b') {
                    Some(prefix) => (prefix, 1000.0),
                    None => (unit.as_str(), 1024.0),
                },
            },
        };
        Some(base.powi(power_of(prefix)?))
    })
}

/// Parses a count: `3000`, `10k`, `1.5M`. Letters are powers of 1000.
///
/// # Errors
/// If it is not a number with such a unit, is negative, or does not fit 64 bits.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    const EXPECTED: &str = "a whole number such as 3000, 10k or 1M";
    scaled(text, EXPECTED, |unit| {
        if unit.is_empty() {
            (!text.contains('.')).then_some(1.0)
        } else {
            Some(1000_f64.powi(power_of(&unit.to_ascii_lowercase())?))
        }
    })
}

/// Parses a duration: `250us`, `5ms`, `1.5s`, `15min`, `2h`, `1d`. A unit is required, unless it is 0.
///
/// # Errors
/// If it is not a number with such a unit, is negative, or is over 500 years.
pub fn parse_duration(text: &str) -> Result<Nanoseconds, UnitError> {
    const EXPECTED: &str = "a duration such as 5ms, 15s or 2h (the unit is required)";
    let value = scaled(text, EXPECTED, |unit| {
        Some(match unit {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            "d" => 86_400e9,
            "" if text.trim().bytes().all(|byte| byte == b'0') => 1.0,
            _ => return None,
        })
    })?;
    Ok(Nanoseconds(value))
}

fn power_of(prefix: &str) -> Option<i32> {
    match prefix {
        "k" => Some(1),
        "m" => Some(2),
        "g" => Some(3),
        "t" => Some(4),
        "p" => Some(5),
        _ => None,
    }
}

fn scaled(
    text: &str,
    expected: &'static str,
    factor_of: impl FnOnce(&str) -> Option<f64>,
) -> Result<u64, UnitError> {
    let error = || UnitError { text: text.to_owned(), expected };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let factor = factor_of(unit.trim_start()).ok_or_else(error)?;
    if let Ok(whole) = number.parse::<u64>() {
        // Whole numbers are multiplied as such: a float would lose the last digits of large sizes.
        return whole.checked_mul(factor as u64).ok_or_else(error);
    }
    let value = number.parse::<f64>().map_err(|_| error())? * factor;
    if value.is_finite() && value >= 0.0 && value < u64::MAX as f64 {
        Ok(value.round() as u64)
    } else {
        Err(error())
    }
}

/// A duration with three significant digits: `18 ns`, `1.25 ms`, `3.90 s`, `4 min 10 s`, `2 h 05 min`, `3 d 4 h`.
pub fn format_duration(duration: Nanoseconds) -> String {
    let ns = duration.0;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..999_500 => three_digits(ns as f64 / 1e3, "µs"),
        999_500..999_500_000 => three_digits(ns as f64 / 1e6, "ms"),
        999_500_000..99_950_000_000 => three_digits(ns as f64 / 1e9, "s"),
        _ => {
            let seconds = ns.saturating_add(500_000_000) / 1_000_000_000;
            match seconds {
                0..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
                3_600..86_400 => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
                _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
            }
        }
    }
}

/// A duration without rounding, as [`parse_duration`] reads it again: `15s`, `1500ms`.
pub fn exact_duration(duration: Nanoseconds) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    const HOUR: u64 = 3_600_000_000_000;
    if duration.0 > 0 && duration.0.is_multiple_of(HOUR) {
        return format!("{}h", duration.0 / HOUR);
    }
    let fits = |(unit_ns, _): &(u64, &str)| duration.0.is_multiple_of(*unit_ns);
    let (unit_ns, name) = UNITS.into_iter().find(fits).unwrap_or((1, "ns"));
    format!("{}{name}", duration.0 / unit_ns)
}

/// A size with three significant digits and a binary unit: `3.81 KiB`, `12 MiB`.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { three_digits(value, UNITS[unit]) }
}

/// A size as it is typed, without loss: `4KiB`, `1MiB`, `3901`.
pub fn exact_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = (0..UNITS.len()).rev().find(|unit| bytes.is_multiple_of(1 << (10 * unit))).unwrap_or(0);
    let unit = if bytes == 0 { 0 } else { unit };
    format!("{}{}", bytes >> (10 * unit), UNITS[unit])
}

/// A count with a thin separator every three digits: `12 345`.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 slot`, `12 345 slots`.
pub fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{} {}", format_count(count), if count == 1 { one } else { several })
}

fn three_digits(value: f64, unit: &str) -> String {
    let decimals = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.decimals$} {unit}")
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&format_duration(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024_unless_written_as_decimal() {
        for (text, bytes) in [
            ("0", 0),
            ("3901", 3901),
            ("4k", 4096),
            ("4 KiB", 4096),
            ("4kB", 4000),
            ("1.5m", 1_572_864),
            ("2GiB", 2 << 30),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "-1", "k", "4x", "1e3", "99999999999999999999", "999999999P", "4 ki"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_written_as_they_can_be_read() {
        for (bytes, text) in [
            (0, "0"),
            (3901, "3901"),
            (4096, "4KiB"),
            (1 << 20, "1MiB"),
            (3 << 29, "1536MiB"),
            (1 << 63, "8192PiB"),
        ] {
            assert_eq!((exact_bytes(bytes).as_str(), parse_bytes(text)), (text, Ok(bytes)));
        }
    }

    #[test]
    fn counts_are_powers_of_1000() {
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert_eq!(parse_count("1.5M"), Ok(1_500_000));
        assert!(parse_count("10Ki").is_err());
        assert!(parse_count("1.5").unwrap_err().to_string().contains("a whole number"));
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(parse_duration("0"), Ok(Nanoseconds(0)));
        assert_eq!(parse_duration("15s"), Ok(Nanoseconds(15_000_000_000)));
        assert_eq!(parse_duration("1.5 ms"), Ok(Nanoseconds(1_500_000)));
        let error = parse_duration("15").unwrap_err().to_string();
        assert_eq!(error, "\"15\" is not a duration such as 5ms, 15s or 2h (the unit is required)");
        assert!(parse_duration("-1s").is_err() && parse_duration("1 fortnight").is_err());
    }

    #[test]
    fn durations_are_shown_with_three_digits() {
        for (ns, text) in [
            (18, "18 ns"),
            (1_249_999, "1.25 ms"),
            (999_499, "999 µs"),
            (999_600, "1.00 ms"),
            (99_949_000_000, "99.9 s"),
            (250_000_000_000, "4 min 10 s"),
            (7_500_000_000_000, "2 h 05 min"),
            (273_600_000_000_000, "3 d 4 h"),
            (u64::MAX, "213503 d 23 h"),
        ] {
            assert_eq!(format_duration(Nanoseconds(ns)), text);
        }
    }

    #[test]
    fn sizes_and_counts_are_shown_grouped() {
        assert_eq!(format_bytes(3901), "3.81 KiB");
        assert_eq!(format_bytes(1000), "0.98 KiB");
        assert_eq!(format_bytes(u64::MAX), "16.0 EiB");
        assert_eq!(format_count(1_234_567), "1 234 567");
    }

    #[test]
    fn whole_hours_are_told_as_such() {
        let told = [600, 5400, 3600, 7200].map(|seconds| exact_duration(Nanoseconds::from_seconds(seconds)));
        assert_eq!(told, ["600s", "5400s", "1h", "2h"]);
        assert_eq!(exact_duration(Nanoseconds::ZERO), "0s");
    }

    proptest::proptest! {
        #[test]
        fn durations_keep_every_nanosecond(ns in 0..u64::MAX) {
            proptest::prop_assert_eq!(parse_duration(&exact_duration(Nanoseconds(ns))), Ok(Nanoseconds(ns)));
        }

        /// Documents pass between processes, and are compared with what is read again later.
        #[test]
        fn a_number_of_json_comes_back_to_the_last_digit(bits in proptest::prelude::any::<u64>()) {
            for number in [f64::from_bits(bits), 0.337_673_891_390_853_96].into_iter().filter(|one| one.is_finite()) {
                let text = serde_json::to_string(&number).unwrap();
                proptest::prop_assert_eq!(serde_json::from_str::<f64>(&text).unwrap(), number);
            }
        }
    }
}
