//! Axes: what is where, and what is written there.
//!
//! Values are floats: nanoseconds, shares, rates. An axis maps every value to a place between its ends, so that
//! nothing is drawn outside of a panel.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

const SECOND_NS: f64 = 1e9;
const MINUTE_NS: f64 = 60.0 * SECOND_NS;
const HOUR_NS: f64 = 3600.0 * SECOND_NS;
const DAY_NS: f64 = 24.0 * HOUR_NS;
/// More than 64 bits of ns hold.
const LONGEST_NS: f64 = 2e19;

/// Durations at which a logarithmic axis is labelled, decade by decade up to 10 s, then as people count.
const DURATION_TICKS: [(f64, &str); 21] = [
    (1e0, "1 ns"),
    (1e1, "10 ns"),
    (1e2, "100 ns"),
    (1e3, "1 µs"),
    (1e4, "10 µs"),
    (1e5, "100 µs"),
    (1e6, "1 ms"),
    (1e7, "10 ms"),
    (1e8, "100 ms"),
    (1e9, "1 s"),
    (1e10, "10 s"),
    (MINUTE_NS, "1 min"),
    (10.0 * MINUTE_NS, "10 min"),
    (HOUR_NS, "1 h"),
    (10.0 * HOUR_NS, "10 h"),
    (DAY_NS, "1 d"),
    (10.0 * DAY_NS, "10 d"),
    (100.0 * DAY_NS, "100 d"),
    (1000.0 * DAY_NS, "1000 d"),
    (10_000.0 * DAY_NS, "10 000 d"),
    (100_000.0 * DAY_NS, "100 000 d"),
];

/// Steps of a linear axis of time, with the unit in which they are counted.
const TIME_UNITS: [(f64, &str, &[f64]); 7] = [
    (1.0, "ns", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]),
    (1e3, "µs", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]),
    (1e6, "ms", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]),
    (SECOND_NS, "s", &[1.0, 2.0, 5.0, 10.0, 20.0, 30.0]),
    (MINUTE_NS, "min", &[1.0, 2.0, 5.0, 10.0, 15.0, 30.0]),
    (HOUR_NS, "h", &[1.0, 2.0, 3.0, 6.0, 12.0]),
    (DAY_NS, "d", &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0, 50_000.0]),
];

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    begin: f64,
    end: f64,
    ticks: Vec<(f64, String)>,
    light: Vec<f64>,
    /// Unit of the labels where it is not part of them.
    pub(super) unit: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Logarithmic,
    /// Logarithmic in what is missing to 1, over so many decades.
    Tail(u32),
}

impl Axis {
    /// A logarithmic axis of durations in ns that holds `shortest_ns` to `longest_ns`; a second long if they are
    /// no numbers.
    pub(super) fn durations(shortest_ns: f64, longest_ns: f64, labels_max: usize) -> Self {
        let known = shortest_ns.is_finite() && longest_ns.is_finite() && shortest_ns <= longest_ns;
        let (shortest, longest) = if known { (shortest_ns, longest_ns) } else { (1e6, 1e9) };
        let begin = round_down(shortest.clamp(1.0, LONGEST_NS));
        let end = round_up(longest.clamp(1.0, LONGEST_NS)).max(begin * 10.0);
        let within = |at: &f64| *at >= begin * 0.999 && *at <= end * 1.001;
        let decades: Vec<(f64, String)> = DURATION_TICKS
            .iter()
            .filter(|(at, _)| within(at))
            .map(|(at, text)| (*at, (*text).to_owned()))
            .collect();
        let light = light_lines(begin, end);
        let fine: Vec<(f64, String)> = light
            .iter()
            .filter(|at| matches!(first_digit(**at), 1 | 2 | 5))
            .map(|at| (*at, short_duration(*at)))
            .collect();
        let ticks = if decades.len() < 3 && fine.len() <= labels_max.max(2) { fine } else { decades };
        Self { scale: Scale::Logarithmic, begin, end, ticks: thinned(ticks, labels_max), light, unit: "" }
    }

    /// A linear axis of the time since a begin, in ns.
    pub(super) fn time(span_ns: f64, labels_max: usize) -> Self {
        let span = if span_ns.is_finite() { span_ns.clamp(1.0, LONGEST_NS) } else { 1.0 };
        let steps = TIME_UNITS.iter().flat_map(|(unit_ns, name, steps)| {
            steps.iter().map(move |step| (unit_ns * step, *unit_ns, *name))
        });
        let enough = |(step, _, _): &(f64, f64, &str)| span / step <= labels_max.max(2) as f64 - 0.5;
        let (step, unit_ns, unit) = steps.clone().find(enough).unwrap_or((2e5 * DAY_NS, DAY_NS, "d"));
        let count = (span / step).floor() as usize;
        let tick = |index: usize| {
            let at = index as f64 * step;
            (at, grouped((at / unit_ns).round() as u64))
        };
        let ticks = (0..=count).map(tick).collect();
        Self { scale: Scale::Linear, begin: 0.0, end: span, ticks, light: Vec::new(), unit }
    }

    /// A linear axis from 0 to 100 %, for shares from 0 to 1.
    pub(super) fn percent(labels_max: usize) -> Self {
        let step = if labels_max >= 11 { 10 } else { 25 };
        let ticks =
            (0..=100 / step).map(|index| (f64::from(index * step) / 100.0, format!("{}", index * step)));
        let light = (0..=10).map(|index| f64::from(index) / 10.0).collect();
        Self { scale: Scale::Linear, begin: 0.0, end: 1.0, ticks: ticks.collect(), light, unit: "%" }
    }

    /// An axis for shares from 0 to 99.99 % at least, logarithmic in what is missing to 100 %; `greatest` is less than 1.
    pub(super) fn tail(greatest: f64) -> Self {
        let needed = if greatest < 1.0 { (-(1.0 - greatest).log10() - 1e-6).ceil() } else { 0.0 };
        let decades = needed.clamp(4.0, 9.0) as u32;
        let missing = |nines: u32| 10_f64.powi(-(nines as i32));
        let label = |nines: u32| match nines {
            0 => "0".to_owned(),
            1 => "90".to_owned(),
            2 => "99".to_owned(),
            more => format!("99.{}", "9".repeat(more as usize - 2)),
        };
        let ticks = (0..=decades).map(|nines| (1.0 - missing(nines), label(nines))).collect();
        let light = (0..decades).flat_map(|nines| (2..10).map(move |of| (nines, f64::from(of))));
        let light = light.map(|(nines, of)| 1.0 - of * missing(nines + 1)).collect();
        Self { scale: Scale::Tail(decades), begin: 0.0, end: 1.0 - missing(decades), ticks, light, unit: "%" }
    }

    /// A linear axis from 0 to at least `most`.
    pub(super) fn amount(most: f64, labels_max: usize) -> Self {
        let most = if most.is_finite() && most > 0.0 { most.clamp(1e-9, 1e18) } else { 1.0 };
        let rough = most / labels_max.max(2) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let count = (most / step).ceil().max(1.0) as usize;
        let ticks =
            (0..=count).map(|index| (index as f64 * step, amount_in_words(index as f64 * step, step)));
        let end = count as f64 * step;
        Self { scale: Scale::Linear, begin: 0.0, end, ticks: ticks.collect(), light: Vec::new(), unit: "" }
    }

    /// The same axis to `end`, without the ticks beyond.
    pub(super) fn up_to(mut self, end: f64) -> Self {
        self.ticks.retain(|(at, _)| *at <= end);
        self.end = end;
        self
    }

    /// A logarithmic axis labelled at these sizes.
    pub(super) fn sizes(sizes: &[u64], labels_max: usize) -> Self {
        let mut sizes: Vec<f64> = sizes.iter().map(|size| (*size).max(1) as f64).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        sizes.dedup();
        let least = sizes.first().copied().unwrap_or(1.0);
        let most = sizes.last().copied().unwrap_or(10.0);
        let margin = (most / least).powf(0.05).max(1.08);
        let ticks = sizes.iter().map(|size| (*size, amount_in_words(*size, 1.0))).collect();
        Self {
            scale: Scale::Logarithmic,
            begin: least / margin,
            end: most * margin,
            ticks: thinned(ticks, labels_max),
            light: Vec::new(),
            unit: "",
        }
    }

    /// A row for each name, the first at the upper end; row `i` has its middle at `-(i as f64)`.
    pub(super) fn rows(names: Vec<String>) -> Self {
        let begin = 0.5 - names.len().max(1) as f64;
        let ticks = names.into_iter().enumerate().map(|(index, name)| (-(index as f64), name)).collect();
        Self::labelled(begin, 0.5, ticks)
    }

    /// A linear axis with labels of one's own.
    pub(super) fn labelled(begin: f64, end: f64, ticks: Vec<(f64, String)>) -> Self {
        Self { scale: Scale::Linear, begin, end, ticks, light: Vec::new(), unit: "" }
    }

    /// The same logarithmic axis with room below its begin, this share of its length.
    pub(super) fn with_room_below(self, share: f64) -> Self {
        Self { begin: self.begin / (self.end / self.begin).powf(share), ..self }
    }

    /// Where a value lies between the ends, 0 to 1.
    pub(super) fn position(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.begin) / (self.end - self.begin),
            Scale::Tail(decades) => -(1.0 - value).max(f64::MIN_POSITIVE).log10() / f64::from(decades),
            Scale::Logarithmic => {
                (value.max(f64::MIN_POSITIVE) / self.begin).ln() / (self.end / self.begin).ln()
            }
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The first and the last value.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.begin, self.end)
    }

    /// Where something is written, and what.
    pub(super) fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }

    /// Replaces the labels, to make room.
    pub(super) fn relabelled(mut self, relabel: impl Fn(&str) -> String) -> Self {
        for (_, text) in &mut self.ticks {
            *text = relabel(text);
        }
        self
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        limit.0 + (self.position(*value) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // plotters asks for light lines with a hint that allows them, for labelled ones without.
        if hint.weight().allow_light_points() {
            return self.light.clone();
        }
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.begin..self.end
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(at, _)| at == value);
        tick.map(|(_, text)| text.clone()).unwrap_or_default()
    }
}

/// Every n-th tick, n being the least that leaves at most `labels_max`.
fn thinned(ticks: Vec<(f64, String)>, labels_max: usize) -> Vec<(f64, String)> {
    let step = ticks.len().div_ceil(labels_max.max(2)).max(1);
    // Whole units (1 µs, 1 ms, 1 s) make the better labels where every third decade is written.
    let units = |tick: &(f64, String)| tick.1.starts_with("1 ") || tick.1 == "1";
    if step == 3 && ticks.iter().filter(|tick| units(tick)).count() >= 2 {
        return ticks.into_iter().filter(units).collect();
    }
    ticks.into_iter().step_by(step).collect()
}

fn first_digit(value: f64) -> u32 {
    let power = 10_f64.powf((value.log10() + 1e-9).floor());
    (value / power).round() as u32
}

/// 1 to 9 times the powers of ten.
fn light_lines(begin: f64, end: f64) -> Vec<f64> {
    let mut lines = Vec::new();
    let mut power = 10_f64.powf((begin.log10() + 1e-9).floor());
    while power <= end * 1.001 {
        lines.extend(
            (1..10).map(|m| f64::from(m) * power).filter(|at| *at >= begin * 0.999 && *at <= end * 1.001),
        );
        power *= 10.0;
    }
    lines
}

fn round_down(value: f64) -> f64 {
    let power = 10_f64.powf((value.log10() + 1e-9).floor());
    [5.0, 2.0, 1.0].into_iter().map(|m| m * power).find(|v| *v <= value * 1.001).unwrap_or(power)
}

fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf((value.log10() + 1e-9).floor());
    [1.0, 2.0, 5.0].into_iter().map(|m| m * power).find(|v| *v >= value * 0.999).unwrap_or(10.0 * power)
}

/// A duration without superfluous digits: `2 ms`, `50 s`.
pub(super) fn short_duration(ns: f64) -> String {
    let (unit_ns, unit) = match ns {
        n if n < 999.0 => (1.0, "ns"),
        n if n < 999e3 => (1e3, "µs"),
        n if n < 999e6 => (1e6, "ms"),
        n if n < 999e9 => (1e9, "s"),
        n if n < 9e14 => (HOUR_NS, "h"),
        _ => (DAY_NS, "d"),
    };
    let value = ns / unit_ns;
    if value < 9.95 && (value - value.round()).abs() > 0.05 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}

fn grouped(value: u64) -> String {
    if value < 10_000 { value.to_string() } else { iolag_model::format_count(value) }
}

/// A number with at most the digits that `step` needs: `0.05`, `2500`, `20 k`, `1.5 M`.
pub(super) fn amount_in_words(value: f64, step: f64) -> String {
    let scaled = |unit: f64, name: &str| {
        let decimals =
            if step >= unit { 0 } else { ((unit / step).log10() - 1e-9).ceil().clamp(0.0, 3.0) as usize };
        let text = format!("{:.decimals$}", value / unit);
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        if name.is_empty() { text.to_owned() } else { format!("{text} {name}") }
    };
    match value.abs() {
        v if v >= 1e9 => scaled(1e9, "G"),
        v if v >= 1e6 => scaled(1e6, "M"),
        v if v >= 1e4 => scaled(1e3, "k"),
        _ if step >= 1.0 => format!("{value:.0}"),
        _ => {
            let decimals = (-step.log10() - 1e-9).ceil().clamp(0.0, 6.0) as usize;
            format!("{value:.decimals$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks().iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn durations_are_labelled_in_the_units_of_people() {
        let axis = Axis::durations(1.3e3, 70e9, 20);
        assert_eq!(axis.ends(), (1e3, 100e9));
        let all = ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "1 min"];
        assert_eq!(labels(&axis), all);
        assert_eq!(labels(&Axis::durations(1.3e3, 70e9, 4)), ["1 µs", "1 ms", "1 s", "1 min"]);
        let narrow = Axis::durations(1.2e6, 1.3e6, 6);
        assert_eq!(labels(&narrow), ["1 ms", "2 ms", "5 ms", "10 ms"]);
    }

    #[test]
    fn time_is_counted_in_one_unit() {
        let axis = Axis::time(600e9, 8);
        assert_eq!((axis.unit, labels(&axis)), ("min", vec!["0", "2", "4", "6", "8", "10"]));
        let axis = Axis::time(45e9, 6);
        assert_eq!((axis.unit, labels(&axis)), ("s", vec!["0", "10", "20", "30", "40"]));
        let axis = Axis::time(1.0, 6);
        assert_eq!((axis.unit, labels(&axis)), ("ns", vec!["0", "1"]));
    }

    #[test]
    fn amounts_have_round_steps() {
        assert_eq!(labels(&Axis::amount(1234.0, 5)), ["0", "500", "1000", "1500"]);
        assert_eq!(labels(&Axis::amount(0.034, 5)), ["0.00", "0.01", "0.02", "0.03", "0.04"]);
        assert_eq!(labels(&Axis::amount(2.4e6, 5)), ["0", "500 k", "1 M", "1.5 M", "2 M", "2.5 M"]);
        assert_eq!(labels(&Axis::amount(0.0, 2)), ["0.0", "0.5", "1.0"]);
    }

    #[test]
    fn each_nine_of_a_tail_is_as_far_from_the_next() {
        let axis = Axis::tail(0.97);
        assert_eq!(labels(&axis), ["0", "90", "99", "99.9", "99.99"]);
        let places: Vec<f64> = axis.ticks().iter().map(|(at, _)| axis.position(*at)).collect();
        for (place, expected) in places.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]) {
            assert!((place - expected).abs() < 1e-9, "{places:?}");
        }
        assert_eq!(labels(&Axis::tail(0.999_99)).last(), Some(&"99.999"));
        assert_eq!(axis.position(1.0), 1.0);
    }

    #[test]
    fn rows_stand_in_order() {
        let axis = Axis::rows(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!((axis.position(0.0), axis.position(-1.0)), (0.75, 0.25));
    }

    proptest! {
        #[test]
        fn an_axis_holds_what_it_was_made_for(low in 1.0_f64..1e19, factor in 1.0_f64..1e9, labels_max in 1_usize..30) {
            let high = (low * factor).min(1e19);
            let axis = Axis::durations(low, high, labels_max);
            let (begin, end) = axis.ends();
            prop_assert!(begin <= low * 1.01 && end >= high * 0.99 && begin < end);
            prop_assert!(axis.ticks().len() <= labels_max.max(4), "{:?}", axis.ticks());
            prop_assert!(axis.position(low) <= axis.position(low.midpoint(high)));
        }

        #[test]
        fn any_number_is_mapped_inside(value: f64, span: f64) {
            for axis in [Axis::time(span, 5), Axis::amount(span, 5), Axis::durations(span, value, 5), Axis::percent(4)] {
                let place = axis.map(&value, (10, 500));
                prop_assert!((10..=500).contains(&place));
            }
        }
    }
}
