//! Names, moments and amounts of histories as people read them.

use iolag_analysis::history::{
    ChangeMoment, ChangePoint, Estimate, EstimateInterval, EventPlace, Greater, HistoryQuantile, Knowledge,
    LevelRatio, Quantity, SeriesAnalysis, Shift, ShiftEstimate, ShiftScale, ThresholdShare, amount_in_words,
    place_of_event,
};
use iolag_model::{Event, WallTime, format_duration};

use super::estimates::share;
use super::interval::{Known, Measure, factor, with_ends};
use super::numbers::{NOTHING, percentage};

/// When a level changed: `2008-05-08 14:15`; of a change that no sample dates, `2008-05-01 14:15 to 2008-05-08 14:15`; of one that took its time,
/// `2008-05-01 14:15 to 2008-05-08 14:15, little by little`.
pub(crate) fn changed_when(one: &SeriesAnalysis, change: &ChangePoint) -> String {
    let between = |begin: WallTime, end: WallTime| format!("{} to {}", begin.in_words(), end.in_words());
    match (change.began, one.summary.moment_of(change)) {
        (Some(began), _) if began < change.first_after => {
            format!("{}, little by little", between(began, change.first_after))
        }
        // It is still changing.
        (Some(began), _) => format!("since {}, little by little", began.in_words()),
        (None, ChangeMoment::At(at)) => at.in_words(),
        (None, ChangeMoment::Between(span)) => between(span.begin, span.end),
    }
}

/// Where an event lies as seen from a change: `at the same time`, `2 h 00 min away`.
pub(crate) fn event_apart(one: &SeriesAnalysis, change: &ChangePoint, event: &Event) -> String {
    let moment = one.summary.moment_of(change);
    match (place_of_event(change, moment, event), moment) {
        (EventPlace::Within, _) if change.began.is_some() => "while it changed".to_owned(),
        (EventPlace::Within, ChangeMoment::At(_)) => "at the same time".to_owned(),
        (EventPlace::Within, ChangeMoment::Between(_)) => "in that time".to_owned(),
        (EventPlace::Around, _) => "going on".to_owned(),
        (EventPlace::Before(apart) | EventPlace::After(apart), _) => {
            format!("{} away", format_duration(apart))
        }
    }
}

/// `1.25 ms`, `≥ 60.0 s`, `< 10.0 ms`, `too few`; [`NOTHING`] of nothing.
pub(crate) fn estimate(estimate: Estimate, quantity: Quantity) -> String {
    match estimate {
        Estimate::TooFew { have: 0, .. } => NOTHING.to_owned(),
        Estimate::TooFew { .. } | Estimate::FewStretches { .. } => "too few".to_owned(),
        known => known.in_words(quantity),
    }
}

/// A quantile with its interval, as [`with_ends`] writes it; alone if it is not known, or has no interval.
pub(crate) fn with_interval(quantile: &HistoryQuantile, quantity: Quantity) -> String {
    let is_time = quantity.is_duration() || matches!(quantity, Quantity::ProcessorTime | Quantity::Waiting);
    let (measure, scale) = if is_time { (Measure::Duration, 1e9) } else { (Measure::Value, 1.0) };
    let known = |estimate: Estimate| {
        let (amount, knowledge) = match estimate {
            Estimate::Exactly(amount) => (amount, Knowledge::Exactly),
            Estimate::AtLeast(amount) => (amount, Knowledge::AtLeast),
            Estimate::Below(amount) => (amount, Knowledge::AtMost),
            Estimate::TooFew { .. } | Estimate::FewStretches { .. } => return None,
        };
        Some(Known { amount: amount * scale, knowledge })
    };
    let (Estimate::Exactly(_), EstimateInterval::Between { low, high }) = (quantile.value, quantile.interval)
    else {
        return estimate(quantile.value, quantity);
    };
    match (known(quantile.value), known(low), known(high)) {
        (Some(value), Some(low), Some(high)) => with_ends(measure, value, [low, high]),
        _ => estimate(quantile.value, quantity),
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
    let value = Known { amount: value, knowledge: ratio.value_is };
    // No more than a bound: "at most" includes it.
    let mark = value.mark().replace('<', "≤");
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => {
            let ends = [low, high].map(Known::exactly);
            format!("×{}", with_ends(Measure::Factor, value, ends).replacen('<', "≤", 1))
        }
        (low, high) => format!("×{mark}{}{}", factor(value.amount), interval(low, high)),
    }
}

/// A p value: `0.031`, `< 0.001`.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p if p < 0.0995 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// p after all verdicts of the result were counted.
pub(crate) fn p(greater: &Greater) -> String {
    if greater.p_adjusted < 0.001 { "<0.001".to_owned() } else { format!("{:.3}", greater.p_adjusted) }
}

/// How much greater the second of two samples is: `×2.0 [1.8–2.2]`, `+3.10 [2.00–4.40]`.
pub(crate) fn shift(shift: &Shift) -> String {
    let measure = match shift.scale {
        ShiftScale::Ratio => Measure::Factor,
        ShiftScale::Difference => Measure::Value,
    };
    let sign = |by: f64| match measure {
        Measure::Factor => "×",
        _ if by > 0.0 => "+",
        _ => "",
    };
    let number = |by: f64| match measure {
        Measure::Factor => format!("×{}", factor(by)),
        _ => format!("{}{}", sign(by), amount_in_words(by, Quantity::Value)),
    };
    match (shift.estimate, shift.interval.low, shift.interval.high) {
        (ShiftEstimate::Exactly(by), Some(low), Some(high)) => {
            let ends = [low, high].map(Known::exactly);
            format!("{}{}", sign(by), with_ends(measure, Known::exactly(by), ends))
        }
        (ShiftEstimate::Exactly(by), low, high) => format!("{}{}", number(by), interval(low, high)),
        (ShiftEstimate::AtLeast(by), ..) => format!("{} or more", number(by)),
        (ShiftEstimate::AtMost(by), ..) => format!("{} or less", number(by)),
        (ShiftEstimate::Unknown, ..) => "by an unknown factor".to_owned(),
    }
}

/// An interval with less than two ends.
fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), None) => format!(" [≥{}]", factor(low)),
        (None, Some(high)) => format!(" [≤{}]", factor(high)),
        // Two ends are written with their value, which is known then.
        (None, None) | (Some(_), Some(_)) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_for_people() {
        assert_eq!([0.0075, 0.5, 1.4, 40.2].map(factor), ["0.0075", "0.50", "1.4", "40"]);
        assert_eq!(estimate(Estimate::NOTHING, Quantity::Duration), NOTHING);
        assert_eq!(estimate(Estimate::TooFew { needed: 6, have: 2 }, Quantity::Duration), "too few");
    }

    #[test]
    fn intervals_have_the_unit_of_their_value() {
        let quantile = |value, low, high| HistoryQuantile {
            q: 0.5,
            value,
            order_statistic: value,
            interval_naive: EstimateInterval::TooFew { needed: 6, have: 2 },
            interval: EstimateInterval::Between { low, high },
        };
        use iolag_analysis::Estimate::{AtLeast, Below, Exactly};
        let shown = |one: HistoryQuantile| with_interval(&one, Quantity::Duration);
        assert_eq!(shown(quantile(Exactly(1.31), Exactly(1.29), Exactly(1.333))), "1.31 [1.29–1.33] s");
        assert_eq!(shown(quantile(Exactly(1.31), Below(0.01), AtLeast(60.0))), "1.31 s [<10.0 ms–≥60.0 s]");
        assert_eq!(shown(quantile(Below(0.01), Below(0.01), Below(0.01))), "< 10.0 ms");
        let value = quantile(Exactly(3.0), Exactly(2.0), Exactly(4.5));
        assert_eq!(with_interval(&value, Quantity::Value), "3.00 [2.00–4.50]");
    }

    #[test]
    fn what_is_a_bound_is_marked() {
        let ratio_of = |value_is, low, high| LevelRatio { value: Some(0.0076), value_is, low, high };
        assert_eq!(ratio(&ratio_of(Knowledge::AtMost, None, None)), "×≤0.0076");
        assert_eq!(ratio(&ratio_of(Knowledge::Exactly, Some(0.005), Some(0.01))), "×0.0076 [0.0050–0.0100]");
        let bound = LevelRatio { value: Some(2.04), ..ratio_of(Knowledge::AtLeast, Some(1.5), Some(12.3)) };
        assert_eq!(ratio(&bound), "×≥2.0 [1.5–12.3]", "all three have the same decimals");
        assert_eq!(known(0.01, Knowledge::AtMost, Quantity::Duration), "< 10.0 ms");
    }
}
