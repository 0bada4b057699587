//! What was estimated as people read it in tables: with its interval, or with the words for what is not known.

use iolag_analysis::history::{Gap, Knowledge, LevelDifference, Rate, time_in_gaps};
use iolag_analysis::{PartialCreate, QuantileEstimate, QuantileInterval, QuantileValue, ShareOver};
use iolag_model::{format_count, format_duration};

use super::interval::{Known, Measure, with_ends};
use super::numbers::{NOTHING, percentage};

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

/// `0.35 [0.18–0.61] %`.
pub(crate) fn rate(rate: &Rate) -> String {
    let Some(share) = rate.share() else { return NOTHING.to_owned() };
    if rate.count == 0 {
        return none_of(rate.interval.high);
    }
    let ends = [rate.interval.low, rate.interval.high].map(Known::exactly);
    with_ends(Measure::Share, Known::exactly(share), ends)
}

/// As in `4.7 [4.1 to 5.3]`, in percentage points.
pub(crate) fn difference_in_words(difference: &LevelDifference) -> String {
    let signed =
        |share: f64| format!("{}{}", if share < 0.0 { "−" } else { "" }, percentage(100.0 * share.abs()));
    let LevelDifference { difference, low, high } = difference;
    format!("{} [{} to {}]", signed(*difference), signed(*low), signed(*high))
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
}
