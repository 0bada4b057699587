//! Numbers as people read them in tables.

use iolag_analysis::history::{Gap, Knowledge, time_in_gaps};
use iolag_analysis::{PartialCreate, QuantileEstimate, QuantileInterval, QuantileValue, ShareOver};
use iolag_model::{WallTime, format_count, format_duration};

use crate::interval_text::{Known, Measure, with_ends};

/// What stands where there is nothing.
pub(crate) const NOTHING: &str = "–";

/// Of a history in which nothing failed and nothing could be late.
pub(crate) fn no_deadline(gaps: &[Gap]) -> String {
    match gaps {
        [] => "No series has a deadline, and none of its attempts failed.".to_owned(),
        _ => format!(
            "No series has a deadline, and none of the attempts that were recorded failed. {}",
            nothing_known(gaps)
        ),
    }
}

/// Of a history, or of its `other series`, in which nothing failed and nothing was late.
pub(crate) fn all_succeeded(of_what: &str, gaps: &[Gap]) -> String {
    match gaps {
        [] => format!("Every attempt{of_what} succeeded within its deadline."),
        _ => format!(
            "Every attempt{of_what} that was recorded succeeded within its deadline. {}",
            nothing_known(gaps)
        ),
    }
}

/// What is good news of all that was recorded is none of the times in which nothing was.
fn nothing_known(gaps: &[Gap]) -> String {
    let all = format_duration(time_in_gaps(gaps));
    match gaps.iter().map(Gap::length).max() {
        Some(longest) if gaps.len() > 1 => format!(
            "Nothing is known of {} gaps: {all} in all, the longest {}.",
            format_count(gaps.len() as u64),
            format_duration(longest)
        ),
        _ => format!("Nothing is known of one gap of {all}."),
    }
}

/// A quantile as `1.25 ms`, `≥ 15.0 s` or `too few`; [`NOTHING`] if nothing was attempted.
pub(crate) fn quantile(value: QuantileValue) -> String {
    match value {
        QuantileValue::Exactly(duration) => format_duration(duration),
        QuantileValue::AtLeast(duration) => format!("≥ {}", format_duration(duration)),
        QuantileValue::Below(duration) => format!("< {}", format_duration(duration)),
        QuantileValue::TooFew { have: 0, .. } => NOTHING.to_owned(),
        QuantileValue::TooFew { .. } | QuantileValue::FewStretches { .. } => "too few".to_owned(),
    }
}

/// A quantile with its interval, as [`with_ends`] writes it; alone if its interval tells nothing more.
pub(crate) fn quantile_with_interval(estimate: &QuantileEstimate) -> String {
    let known = |value: QuantileValue| {
        let knowledge = match value {
            QuantileValue::Exactly(_) => Knowledge::Exactly,
            QuantileValue::AtLeast(_) => Knowledge::AtLeast,
            QuantileValue::Below(_) => Knowledge::AtMost,
            QuantileValue::TooFew { .. } | QuantileValue::FewStretches { .. } => return None,
        };
        Some(Known { amount: value.bound()?.0 as f64, knowledge })
    };
    let ends = match estimate.interval {
        QuantileInterval::Between { low: low @ QuantileValue::Exactly(_), high } => {
            known(low).zip(known(high))
        }
        _ => None,
    };
    match (known(estimate.value), ends) {
        (Some(value), Some((low, high))) => with_ends(Measure::Duration, value, [low, high]),
        _ => quantile(estimate.value),
    }
}

/// The same of a row that may be partial: `≥ 5.00 s (159 of 500; at this pace some 16 s)`.
pub(crate) fn median_of_task(estimate: &QuantileEstimate, partial: Option<PartialCreate>) -> String {
    let median = quantile_with_interval(estimate);
    partial.map_or_else(|| median.clone(), |partial| format!("{median} ({partial})"))
}

/// Share of attempts over a threshold: `12 [7–20] %`, and `0 [≤4] %` where none was seen.
pub(crate) fn share(share: &ShareOver, attempts: u64) -> String {
    if attempts == 0 {
        return NOTHING.to_owned();
    }
    if share.over == 0 && share.undecided == 0 {
        return none_of(share.interval.high);
    }
    let knowledge = if share.undecided > 0 { Knowledge::AtLeast } else { Knowledge::Exactly };
    let observed = Known { amount: share.over as f64 / attempts as f64, knowledge };
    with_ends(Measure::Share, observed, [share.interval.low, share.interval.high].map(Known::exactly))
}

/// The share of what was never seen, of which an upper end is known: `0 [≤4] %`.
pub(crate) fn none_of(high: f64) -> String {
    format!("0 [≤{}] %", percentage(100.0 * high))
}

/// A percentage with a decimal only where it matters, but as many as it takes to tell what is rare from what never happened.
pub(crate) fn percentage(percent: f64) -> String {
    match percent {
        p if p <= 0.0 => "0".to_owned(),
        p if p < 0.0001 => "<0.0001".to_owned(),
        p if p < 0.0095 => {
            let decimals = (-p.log10()).ceil() as usize;
            format!("{p:.decimals$}")
        }
        p if p < 0.095 => format!("{p:.2}"),
        p if p < 9.95 => {
            let text = format!("{p:.1}");
            text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
        }
        p => format!("{p:.0}"),
    }
}

/// A rate with three significant digits and thin groups: `0.28`, `57.1`, `12 345`.
pub(crate) fn rate(per_second: f64) -> String {
    match per_second {
        r if !r.is_finite() => NOTHING.to_owned(),
        r if r < 9.995 => format!("{r:.2}"),
        r if r < 999.5 => format!("{r:.1}"),
        r => format_count(r.round() as u64),
    }
}

/// UTC as `2026-11-20 18:59:00`.
pub(crate) fn utc(realtime_ns: u64) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(realtime_ns)) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => NOTHING.to_owned(),
    }
}

/// The same of a moment of a history.
pub(crate) fn moment(time: WallTime) -> String {
    u64::try_from(time.0).map_or_else(|_| NOTHING.to_owned(), utc)
}

/// A float as C's `%.4e`: `1.2345e-06`.
pub(crate) fn scientific(value: f64) -> String {
    let text = format!("{value:.4e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, power) = match exponent.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{power:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_analysis::ShareInterval;
    use iolag_model::Nanoseconds;

    fn estimate(value: u64, low: u64, high: u64) -> QuantileEstimate {
        let exactly = |ns| QuantileValue::Exactly(Nanoseconds(ns));
        let interval = QuantileInterval::Between { low: exactly(low), high: exactly(high) };
        QuantileEstimate {
            q: 0.5,
            value: exactly(value),
            order_statistic: exactly(value),
            interval_naive: interval,
            interval,
        }
    }

    #[test]
    fn what_is_rare_is_not_nothing() {
        let told = [0.0, 0.000_01, 0.000_38, 0.004, 0.0096, 0.02, 0.5, 3.0, 12.4].map(percentage);
        assert_eq!(told, ["0", "<0.0001", "0.0004", "0.004", "0.01", "0.02", "0.5", "3", "12"]);
    }

    #[test]
    fn a_quantile_has_its_interval_if_that_tells_anything() {
        assert_eq!(quantile_with_interval(&estimate(12_700, 12_600, 13_040)), "12.7 [12.6–13.0] µs");
        let mut open = estimate(1_000_000, 900_000, 15_000_000);
        let at_least = QuantileValue::AtLeast(Nanoseconds(15_000_000));
        let low = QuantileValue::Exactly(Nanoseconds(900_000));
        open.interval = QuantileInterval::Between { low, high: at_least };
        assert_eq!(quantile_with_interval(&open), "1.00 [0.90–≥15.00] ms");
        open.interval = QuantileInterval::TooFew { needed: 6, have: 2 };
        assert_eq!(quantile_with_interval(&open), "1.00 ms");
        open.value = at_least;
        open.interval = QuantileInterval::Between { low: at_least, high: at_least };
        assert_eq!(quantile_with_interval(&open), "≥ 15.0 ms");
    }

    #[test]
    fn shares_carry_their_uncertainty() {
        let of = |over, undecided, low, high| {
            let interval = ShareInterval { low, high };
            let threshold_ns = Nanoseconds(1);
            share(&ShareOver { threshold_ns, over, undecided, interval_naive: interval, interval }, 100)
        };
        assert_eq!(of(0, 0, 0.0, 0.0362), "0 [≤3.6] %");
        assert_eq!(of(12, 0, 0.0636, 0.2002), "12 [6–20] %");
        assert_eq!(of(0, 2, 0.0, 0.07), "≥0 [0–7] %");
    }

    #[test]
    fn c_notation_has_two_digits_of_exponent() {
        for (value, text) in
            [(1.23456e-6, "1.2346e-06"), (0.0, "0.0000e+00"), (1234.5, "1.2345e+03"), (2e-101, "2.0000e-101")]
        {
            assert_eq!(scientific(value), text);
        }
    }

    #[test]
    fn moments_are_utc() {
        assert_eq!(utc(1_795_201_140_000_000_000), "2026-11-20 18:59:00");
    }
}
