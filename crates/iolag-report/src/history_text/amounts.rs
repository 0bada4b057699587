//! Names, moments and amounts of histories as people read them.

use iolag_analysis::history::{
    Estimate, EstimateInterval, HistoryAnalysis, HistoryQuantile, Knowledge, LevelRatio, Quantity, Shift,
    ShiftEstimate, ShiftScale, ThresholdShare, amount_in_words,
};
use iolag_model::{Nanoseconds, SeriesKey, WallTime};

use crate::numbers::{NOTHING, in_one_unit, percentage, share, two_digits};

/// How series are called.
pub(crate) struct Names {
    pub(crate) several_hosts: bool,
}

impl Names {
    pub(crate) fn of(analysis: &HistoryAnalysis) -> Self {
        let mut hosts = analysis.series.iter().map(|one| &one.summary.series.key.host);
        let first = hosts.next();
        Self { several_hosts: hosts.any(|host| Some(host) != first) }
    }

    /// As in `list on /home`, with the host if there are several.
    pub(crate) fn series(&self, key: &SeriesKey) -> String {
        if self.several_hosts && !key.host.is_empty() {
            format!("{key} from {}", key.host)
        } else {
            key.to_string()
        }
    }

    /// As in `/home`, `/home from login1`; of what belongs to no target, the host.
    pub(crate) fn place(&self, key: &SeriesKey) -> String {
        match (key.target.as_str(), self.several_hosts) {
            ("", false) => "of the host".to_owned(),
            ("", true) => format!("of {}", key.host),
            (target, false) => target.to_owned(),
            (target, true) => format!("{target} from {}", key.host),
        }
    }
}

/// The task, or part of a task, without the place.
pub(crate) fn task(key: &SeriesKey) -> String {
    if key.part.is_empty() { key.task.clone() } else { format!("{}: {}", key.task, key.part) }
}

/// The name in a table below its place: parts stand below their task.
pub(crate) fn label(key: &SeriesKey) -> String {
    if key.part.is_empty() { format!("  {}", task(key)) } else { format!("    {}", key.part) }
}

/// UTC as `2008-05-08 14:15`, with seconds if they are not zero.
pub(crate) fn moment(moment: WallTime) -> String {
    let text = moment.to_string();
    let (day, time) = text.split_once('T').unwrap_or((&text, ""));
    let time = time.split('.').next().unwrap_or_default();
    format!("{day} {}", time.strip_suffix(":00").unwrap_or(time))
}

/// `1.25 ms`, `≥ 60.0 s`, `< 10.0 ms`, `too few`; [`NOTHING`] of nothing.
pub(crate) fn estimate(estimate: Estimate, quantity: Quantity) -> String {
    match estimate {
        Estimate::TooFew { have: 0, .. } => NOTHING.to_owned(),
        Estimate::TooFew { .. } => "too few".to_owned(),
        known => known.in_words(quantity),
    }
}

/// A quantile with its interval in the same unit: `1.25 [1.1–1.4] ms`.
pub(crate) fn with_interval(quantile: &HistoryQuantile, quantity: Quantity) -> String {
    let value = estimate(quantile.value, quantity);
    let (Estimate::Exactly(_), EstimateInterval::Between { low, high }) = (quantile.value, quantile.interval)
    else {
        return value;
    };
    if quantity != Quantity::Duration {
        let ends = [low, high].map(|end| estimate(end, quantity).replace(' ', ""));
        return format!("{value} [{}–{}]", ends[0], ends[1]);
    }
    let Some((number, unit, unit_ns)) = in_one_unit(&value) else { return value };
    let end = |end: Estimate| {
        let (mark, seconds) = match end {
            Estimate::Exactly(seconds) => ("", seconds),
            Estimate::AtLeast(seconds) => ("≥", seconds),
            Estimate::Below(seconds) => ("<", seconds),
            Estimate::TooFew { .. } => return None,
        };
        let end = Nanoseconds((seconds * 1e9).round() as u64);
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        // Two digits, or as many as the value has where two would hide the width.
        let short = two_digits(end, unit_ns);
        let long = format!("{:.decimals$}", end.0 as f64 / unit_ns);
        Some((format!("{mark}{short}"), format!("{mark}{long}")))
    };
    match (end(low), end(high)) {
        (Some(low), Some(high)) if low.0 == high.0 => format!("{number} [{}–{}] {unit}", low.1, high.1),
        (Some(low), Some(high)) => format!("{number} [{}–{}] {unit}", low.0, high.0),
        _ => value,
    }
}

/// A share over a threshold, with or without its interval.
pub(crate) fn share_over(of: &ThresholdShare, has_interval: bool) -> String {
    if has_interval || of.of == 0 {
        return share(&of.counted, of.of);
    }
    let mark = if of.counted.undecided > 0 { "≥" } else { "" };
    format!("{mark}{} %", percentage(100.0 * of.counted.over as f64 / of.of as f64))
}

/// An amount of which something is known.
pub(crate) fn known(amount: f64, knowledge: Knowledge, quantity: Quantity) -> String {
    let amount = amount_in_words(amount, quantity);
    match knowledge {
        Knowledge::Exactly => amount,
        Knowledge::AtLeast => format!("≥ {amount}"),
        Knowledge::AtMost => format!("< {amount}"),
    }
}

/// How much one level is of another: `×0.020 [0.018–0.023]`.
pub(crate) fn ratio(ratio: &LevelRatio) -> String {
    let Some(value) = ratio.value else { return NOTHING.to_owned() };
    let mark = match ratio.value_is {
        Knowledge::Exactly => "×",
        Knowledge::AtLeast => "×≥",
        Knowledge::AtMost => "×≤",
    };
    format!("{mark}{}{}", factor(value), interval(ratio.low, ratio.high))
}

/// How much greater the second of two samples is: `×2.0 [1.8–2.2]`, `+3.1 [2.0–4.4]`.
pub(crate) fn shift(shift: &Shift) -> String {
    let number = match shift.scale {
        ShiftScale::Ratio => |number: f64| format!("×{}", factor(number)),
        ShiftScale::Difference => |number: f64| format!("{number:+.3}"),
    };
    let ends = interval(shift.interval.low, shift.interval.high);
    match shift.estimate {
        ShiftEstimate::Exactly(by) => format!("{}{ends}", number(by)),
        ShiftEstimate::AtLeast(by) => format!("{} or more", number(by)),
        ShiftEstimate::AtMost(by) => format!("{} or less", number(by)),
        ShiftEstimate::Unknown => "by an unknown factor".to_owned(),
    }
}

fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!(" [{}–{}]", factor(low), factor(high)),
        (Some(low), None) => format!(" [≥{}]", factor(low)),
        (None, Some(high)) => format!(" [≤{}]", factor(high)),
        (None, None) => String::new(),
    }
}

/// A factor with two digits that count: `0.0075`, `1.4`, `40`.
fn factor(factor: f64) -> String {
    if !factor.is_finite() || factor == 0.0 {
        return format!("{factor}");
    }
    let decimals = (1 - factor.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{factor:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_for_people() {
        assert_eq!([0.0075, 0.5, 1.4, 40.2].map(factor), ["0.0075", "0.50", "1.4", "40"]);
        assert_eq!(moment(WallTime::from_seconds(1_210_256_100)), "2008-05-08 14:15");
        assert_eq!(moment(WallTime::from_seconds(1_210_256_103)), "2008-05-08 14:15:03");
        assert_eq!(estimate(Estimate::NOTHING, Quantity::Duration), NOTHING);
        assert_eq!(estimate(Estimate::TooFew { needed: 6, have: 2 }, Quantity::Duration), "too few");
    }

    #[test]
    fn intervals_have_the_unit_of_their_value() {
        let quantile = |value, low, high| HistoryQuantile {
            q: 0.5,
            value,
            interval_naive: EstimateInterval::TooFew { needed: 6, have: 2 },
            interval: EstimateInterval::Between { low, high },
        };
        use Estimate::{AtLeast, Below, Exactly};
        let shown = |one: HistoryQuantile| with_interval(&one, Quantity::Duration);
        assert_eq!(shown(quantile(Exactly(1.31), Exactly(1.29), Exactly(1.333))), "1.31 [1.29–1.33] s");
        assert_eq!(shown(quantile(Exactly(1.31), Below(0.01), AtLeast(60.0))), "1.31 [<0.01–≥60] s");
        assert_eq!(shown(quantile(Below(0.01), Below(0.01), Below(0.01))), "< 10.0 ms");
        let value = quantile(Exactly(3.0), Exactly(2.0), Exactly(4.5));
        assert_eq!(with_interval(&value, Quantity::Value), "3.00 [2.00–4.50]");
    }

    #[test]
    fn what_is_a_bound_is_marked() {
        let ratio_of = |value_is, low, high| LevelRatio { value: Some(0.0076), value_is, low, high };
        assert_eq!(ratio(&ratio_of(Knowledge::AtMost, None, None)), "×≤0.0076");
        assert_eq!(ratio(&ratio_of(Knowledge::Exactly, Some(0.005), Some(0.01))), "×0.0076 [0.0050–0.010]");
        assert_eq!(known(0.01, Knowledge::AtMost, Quantity::Duration), "< 10.0 ms");
    }
}
