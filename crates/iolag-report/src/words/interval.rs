//! A number with its interval, as in `12.7 [12.6–13.1] ms`: one form for runs and histories, durations, values, shares and
//! factors.
//!
//! All three have the unit and the decimals of the value, or one decimal more where the lower end would lose its digits: it
//! keeps two, as a percentage three steps of the last. Where that is not enough, or the upper end would have more than four
//! digits before the point, the ends are too far apart for one unit, and each has its own: `726 µs [257 µs–19.1 ms]`. Shares of nearly all
//! have the decimals that tell them from all: `100 [99.7–100] %`.
//!
//! Invariant: what is printed is in the order of the numbers, so no interval excludes its own value by rounding.

use iolag_analysis::ShareInterval;
use iolag_analysis::history::{Knowledge, Quantity, amount_in_words};
use iolag_model::{Nanoseconds, format_duration};

use super::numbers::percentage;

/// What is measured; says how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Nanoseconds.
    Duration,
    /// Anything, with three digits.
    Value,
    /// A share of 1, as a percentage.
    Share,
    /// How many times as much, with two digits.
    Factor,
}

/// A number, or a bound of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Known {
    pub(crate) amount: f64,
    pub(crate) knowledge: Knowledge,
}

impl Known {
    pub(crate) const fn exactly(amount: f64) -> Self {
        Self { amount, knowledge: Knowledge::Exactly }
    }

    pub(crate) const fn mark(self) -> &'static str {
        match self.knowledge {
            Knowledge::Exactly => "",
            Knowledge::AtLeast => "≥",
            Knowledge::AtMost => "<",
        }
    }
}

/// A unit in which numbers stand side by side.
struct Unit {
    name: &'static str,
    size: f64,
    decimals: usize,
}

/// `value [low–high] unit`; a share alone if its interval tells nothing.
pub(crate) fn with_ends(measure: Measure, value: Known, [low, high]: [Known; 2]) -> String {
    if measure == Measure::Share && !(ShareInterval { low: low.amount, high: high.amount }).tells() {
        return format!("{}{} %", value.mark(), near_all(value.amount));
    }
    // Bounds of a number that stands alone are set apart from it, as in `≥ 15.0 s`.
    if measure == Measure::Share && value.amount >= SHARE_ALL {
        // Upper ends may be rounded up: they are not what happened.
        let high = if high.amount >= 0.9995 { Known { amount: 1.0, ..high } } else { high };
        let [first, low, high] =
            [value, low, high].map(|known| format!("{}{}", known.mark(), near_all(known.amount)));
        return format!("{first} [{low}–{high}] %");
    }
    let gap = if value.mark().is_empty() || measure != Measure::Duration { "" } else { " " };
    if let Some(unit) = common_unit(measure, value.amount, [low.amount, high.amount]) {
        let number = |known: Known| {
            let amount = known.amount / unit.size;
            // A zero has no sign.
            format!("{}{:.*}", known.mark(), unit.decimals, if amount == 0.0 { 0.0 } else { amount })
        };
        let [first, low, high] = [value, low, high].map(number);
        let first = first.replacen(value.mark(), &format!("{}{gap}", value.mark()), 1);
        return format!("{first} [{low}–{high}]{}", after(unit.name));
    }
    let [first, from, to] = [value, low, high].map(|known| alone(measure, known.amount));
    let (mark, low, high) = (format!("{}{gap}", value.mark()), low.mark(), high.mark());
    if first.1 == from.1 && first.1 == to.1 {
        return format!("{mark}{} [{low}{}–{high}{}]{}", first.0, from.0, to.0, after(first.1));
    }
    let [first, from, to] = [first, from, to].map(|(number, unit)| format!("{number}{}", after(unit)));
    format!("{mark}{first} [{low}{from}–{high}{to}]")
}

/// A factor with two digits that count: `0.0075`, `1.4`, `40`.
pub(crate) fn factor(factor: f64) -> String {
    if !factor.is_finite() || factor == 0.0 {
        return format!("{factor}");
    }
    format!("{factor:.*}", decimals_for(factor, 2, 6))
}

fn after(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// Number and unit of an amount by itself; what has several units, as `4 min 10 s`, is all number.
fn alone(measure: Measure, amount: f64) -> (String, &'static str) {
    match measure {
        Measure::Duration => {
            let text = format_duration(nanoseconds(amount));
            match split(&text) {
                Some((number, unit, _)) => (number.to_owned(), unit),
                None => (text, ""),
            }
        }
        Measure::Value => (amount_in_words(amount, Quantity::Value), ""),
        // What is next to nothing is nothing at the end of an interval.
        Measure::Share if amount < SHARE_NOTHING => ("0".to_owned(), "%"),
        Measure::Share => (percentage(100.0 * amount), "%"),
        Measure::Factor => (factor(amount), ""),
    }
}

const SHARE_NOTHING: f64 = 0.000_05;
/// A greater share has as many decimals as it takes to tell it from all.
const SHARE_ALL: f64 = 0.995;
/// A percentage as in `100`, `99.93`, `96`: what did not always happen is not `100`.
fn near_all(share: f64) -> String {
    let (percent, rest) = (100.0 * share, 100.0 * (1.0 - share));
    if share < SHARE_ALL || rest <= 0.0 {
        return percentage(percent);
    }
    // More decimals than a double has would round up again.
    let decimals = (-rest.log10()).ceil().clamp(0.0, 10.0) as usize;
    format!("{percent:.decimals$}")
}

/// Decimals that a value may get for the sake of its lower end.
const DECIMALS_MORE: usize = 2;

fn common_unit(measure: Measure, value: f64, [low, high]: [f64; 2]) -> Option<Unit> {
    let unit = unit_of(measure, value)?;
    let steps = |amount: f64, decimals: usize| amount / unit.size * 10_f64.powi(decimals as i32);
    if steps(high, 0).abs() >= 9_999.5 {
        return None;
    }
    let is_nothing = low == 0.0 || measure == Measure::Share && low < SHARE_NOTHING;
    // Nanoseconds have no parts.
    let is_whole = unit.name == "ns";
    let least = if measure == Measure::Share { 3.0 } else { 10.0 };
    let keeps = |decimals: &usize| is_nothing || is_whole || steps(low, *decimals).abs() >= least;
    let most = match measure {
        Measure::Share if value < 0.01 => usize::MAX,
        Measure::Share => 1,
        _ => DECIMALS_MORE.max(unit.decimals),
    };
    let decimals = (unit.decimals..=(unit.decimals + 1).min(most)).find(keeps)?;
    Some(Unit { decimals, ..unit })
}

/// The unit and decimals of an amount by itself; `None` where others cannot be written in it.
fn unit_of(measure: Measure, amount: f64) -> Option<Unit> {
    match measure {
        Measure::Duration => {
            let text = format_duration(nanoseconds(amount));
            let (number, name, size) = split(&text)?;
            Some(Unit { name, size, decimals: decimals_of(number) })
        }
        Measure::Value => Some(Unit { name: "", size: 1.0, decimals: decimals_for(amount, 3, 9) }),
        Measure::Share => {
            let text = percentage(100.0 * amount);
            (!text.starts_with('<')).then(|| Unit { name: "%", size: 0.01, decimals: decimals_of(&text) })
        }
        Measure::Factor => Some(Unit { name: "", size: 1.0, decimals: decimals_for(amount, 2, 6) }),
    }
    .filter(|_| amount.is_finite() && (amount != 0.0 || measure != Measure::Value))
}

fn decimals_for(amount: f64, digits: i32, most: i32) -> usize {
    (digits - 1 - amount.abs().log10().floor() as i32).clamp(0, most) as usize
}

fn decimals_of(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

fn nanoseconds(amount: f64) -> Nanoseconds {
    Nanoseconds(amount.round().max(0.0) as u64)
}

/// Splits `1.25 ms` into number, unit and the unit's ns; `None` for `4 min 10 s`.
fn split(text: &str) -> Option<(&str, &'static str, f64)> {
    let (number, unit) = text.split_once(' ')?;
    let (unit, size) = match unit {
        "ns" => ("ns", 1.0),
        "µs" => ("µs", 1e3),
        "ms" => ("ms", 1e6),
        "s" => ("s", 1e9),
        _ => return None,
    };
    Some((number, unit, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(measure: Measure, value: f64, low: f64, high: f64) -> String {
        with_ends(measure, Known::exactly(value), [low, high].map(Known::exactly))
    }

    #[test]
    fn all_three_have_the_unit_and_the_decimals_of_the_value() {
        let duration = |value, low, high| exact(Measure::Duration, value, low, high);
        assert_eq!(duration(12.7e3, 12.6e3, 13.04e3), "12.7 [12.6–13.0] µs");
        assert_eq!(duration(1.25e6, 1.11e6, 1.4e6), "1.25 [1.11–1.40] ms");
        assert_eq!(duration(104e3, 9.6e3, 2.3e6), "104.0 [9.6–2300.0] µs");
        assert_eq!(duration(18.0, 5.0, 25.0), "18 [5–25] ns");
        assert_eq!(duration(3.27e3, 0.83e3, 71e3), "3.27 [0.83–71.00] µs");
        assert_eq!(exact(Measure::Share, 0.12, 0.0636, 0.2002), "12 [6–20] %");
        assert_eq!(exact(Measure::Share, 0.003, 0.0008, 0.008), "0.30 [0.08–0.80] %");
        assert_eq!(exact(Measure::Factor, 2.0, 1.8, 10.2), "2.0 [1.8–10.2]");
        assert_eq!(exact(Measure::Factor, 1.4, 0.96, 2.0), "1.40 [0.96–2.00]", "whether it may be 1 is seen");
        assert_eq!(exact(Measure::Value, 3.0, 2.0, 4.5), "3.00 [2.00–4.50]");
    }

    #[test]
    fn ends_that_are_far_apart_have_units_of_their_own() {
        let duration = |value, low, high| exact(Measure::Duration, value, low, high);
        assert_eq!(duration(726e3, 257e3, 19_097e3), "726 µs [257 µs–19.1 ms]");
        assert_eq!(duration(1.3e6, 57.4e3, 1.4e6), "1.30 ms [57.4 µs–1.40 ms]");
        assert_eq!(duration(250e9, 90e9, 7200e9), "4 min 10 s [90.0 s–2 h 00 min]");
        assert_eq!(duration(90e9, 80e9, 130e9), "90.0 [80.0–130.0] s");
        assert_eq!(exact(Measure::Share, 0.12, 0.002, 0.4), "12 [0.2–40] %");
        assert_eq!(exact(Measure::Share, 0.0526, 0.0013, 0.26), "5.3 [0.1–26] %");
        assert_eq!(exact(Measure::Share, 0.000_7, 0.000_01, 0.004), "0.07 [0.00–0.40] %");
    }

    #[test]
    fn nearly_all_is_told_from_all() {
        let share = |over: f64, low: f64, high: f64| exact(Measure::Share, over, low, high);
        assert_eq!(share(1.0, 0.99726, 1.0), "100 [99.7–100] %", "1337 of 1337");
        assert_eq!(share(1.0, 0.936, 1.0), "100 [94–100] %", "56 of 56");
        assert_eq!(share(1336.0 / 1337.0, 0.99584, 0.99998), "99.93 [99.6–100] %");
        assert_eq!(share(0.98, 0.95, 0.996), "98 [95–100] %");
    }

    #[test]
    fn an_interval_from_nothing_to_all_is_not_printed() {
        assert_eq!(exact(Measure::Share, 0.95, 0.003, 0.9999), "95 %");
        assert_eq!(exact(Measure::Share, 1.0, 0.025, 1.0), "100 %");
        assert_eq!(exact(Measure::Share, 0.5, 0.06, 0.94), "50 [6–94] %");
    }

    #[test]
    fn bounds_are_marked() {
        let [low, high] = [Known::exactly(14e9), Known { amount: 15e9, knowledge: Knowledge::AtLeast }];
        let below = Known { amount: 10e6, knowledge: Knowledge::AtMost };
        assert_eq!(with_ends(Measure::Duration, high, [low, high]), "≥ 15.0 [14.0–≥15.0] s");
        let value = Known::exactly(1.31e9);
        assert_eq!(with_ends(Measure::Duration, value, [below, high]), "1.31 s [<10.0 ms–≥15.0 s]");
    }

    /// What a reader takes the printed numbers for: value, low, high in the base unit of `measure`.
    fn read(text: &str) -> [f64; 3] {
        let (value, rest) = text.split_once(" [").unwrap();
        let (ends, last) = rest.split_once(']').unwrap();
        let (low, high) = ends.split_once('–').unwrap();
        [value, low, high].map(|part| {
            let part = format!("{part}{last}");
            let mut words = part.trim_start_matches(['<', '≥']).split(' ').filter(|word| !word.is_empty());
            let mut sum = 0.0;
            while let Some(number) = words.next() {
                let size = match words.next() {
                    Some("ns") => 1.0,
                    Some("µs") => 1e3,
                    Some("ms") => 1e6,
                    Some("s") => 1e9,
                    Some("min") => 60e9,
                    Some("h") => 3600e9,
                    Some("d") => 86_400e9,
                    Some("%") => 0.01,
                    None => 1.0,
                    Some(other) => panic!("{other} in {text}"),
                };
                sum += number.parse::<f64>().unwrap() * size;
            }
            sum
        })
    }

    fn any_amount() -> impl Strategy<Value = f64> {
        (0.0..15.5_f64).prop_map(|power| 10_f64.powf(power))
    }

    proptest! {
        #[test]
        fn no_interval_excludes_its_own_value(
            mut amounts in prop::array::uniform3(any_amount()),
            near in 1.0..1.2_f64,
            is_near in any::<bool>(),
        ) {
            if is_near {
                amounts = [amounts[0], amounts[0] * near, amounts[0] * near * near];
            }
            amounts.sort_by(f64::total_cmp);
            let [low, value, high] = amounts;
            let scales =
                [(Measure::Duration, 1.0), (Measure::Value, 1e-6), (Measure::Factor, 1e-4), (Measure::Share, 1e-16)];
            for (measure, scale) in scales {
                let amounts = [value, low, high].map(|amount| amount * scale);
                let amounts = if measure == Measure::Duration { amounts.map(f64::round) } else { amounts };
                let text = exact(measure, amounts[0], amounts[1], amounts[2]);
                let [value, low, high] = read(&text);
                prop_assert!(low <= value * (1.0 + 1e-12) && value <= high * (1.0 + 1e-12), "{text}");
                // What is printed is near what it stands for: half a step of its last digit, which may be its only one, or next to
                // nothing.
                let (share, nothing) =
                    if measure == Measure::Share { (0.34, 0.000_051) } else { (0.052, 1e-6) };
                for (printed, amount) in [value, low, high].into_iter().zip(amounts) {
                    prop_assert!((printed - amount).abs() <= share * amount + nothing, "{text} for {amount}");
                }
            }
        }
    }
}
