//! How much faster something is, as in `+30 [+24 – +37] %`: one form for terminals, tickets and pages.
//!
//! Ratios from ten on, and intervals that reach a hundred, are factors, since nobody reads +99 900 %: `×1 000 [×850 – ×1 200]` is so many times as
//! fast, `÷20 [÷25 – ÷16]` a twentieth. What is only bounded has a mark before it, an end that is open an ellipsis: `≤−80 [… – −62] %`.
//!
//! Invariant: what is printed is in the order of the numbers and has their signs, so that no interval excludes its own value, or includes no
//! difference, by rounding.

use iolag_analysis::LogRange;

/// Ratios from here on are written as factors.
const FACTOR: f64 = std::f64::consts::LN_10;
/// The same of an interval that reaches so far.
const FAR: f64 = 2.0 * FACTOR;
const DECIMALS_MOST: usize = 3;
const OPEN: &str = "…";

/// The logarithm of a ratio as text, with its interval if it has one that tells anything.
pub(crate) fn percent(estimate: LogRange, interval: Option<LogRange>) -> String {
    let interval = interval.filter(|interval| ends(*interval).iter().any(|end| end.is_finite()));
    let form = Form::of(estimate, interval);
    let value = form.value(estimate);
    let Some(interval) = interval else { return format!("{value}{}", form.unit()) };
    let [low, high] = ends(interval).map(|end| form.number(end));
    format!("{value} [{low} – {high}]{}", form.unit())
}

/// In percent, for programs; `None` if it is infinite.
pub(crate) fn raw_percent(logarithm: f64) -> Option<f64> {
    logarithm.is_finite().then(|| 100.0 * logarithm.exp_m1())
}

/// How many times as much, for programs; `None` if it is infinite.
pub(crate) fn raw_factor(logarithm: f64) -> Option<f64> {
    logarithm.is_finite().then(|| logarithm.exp())
}

pub(crate) const fn ends(range: LogRange) -> [f64; 2] {
    [range.low(), range.high()]
}

/// Whether what is printed of this is a factor.
pub(crate) fn is_factor(estimate: LogRange, interval: Option<LogRange>) -> bool {
    matches!(Form::of(estimate, interval), Form::Factor)
}

/// How all numbers of an interval are written.
enum Form {
    Percent { decimals: usize },
    Factor,
}

impl Form {
    fn of(estimate: LogRange, interval: Option<LogRange>) -> Self {
        let reaches =
            |range: LogRange, far: f64| ends(range).iter().any(|end| end.is_finite() && end.abs() >= far);
        if reaches(estimate, FACTOR) || interval.is_some_and(|interval| reaches(interval, FAR)) {
            return Self::Factor;
        }
        let known: Vec<f64> =
            [Some(estimate), interval].into_iter().flatten().flat_map(ends).filter_map(raw_percent).collect();
        let width =
            interval.map_or(f64::INFINITY, |interval| 100.0 * (interval.high().exp() - interval.low().exp()));
        let enough = match width {
            width if width >= 2.0 => 0,
            width if width >= 0.2 => 1,
            _ => 2,
        };
        let tells = |decimals: &usize| {
            known.iter().all(|percent| *percent == 0.0 || !is_nothing(&format!("{percent:.decimals$}")))
        };
        let decimals = (enough..DECIMALS_MOST).find(tells).unwrap_or(DECIMALS_MOST);
        Self::Percent { decimals }
    }

    const fn unit(&self) -> &'static str {
        match self {
            Self::Percent { .. } => " %",
            Self::Factor => "",
        }
    }

    /// What is estimated, or what is known of it.
    fn value(&self, estimate: LogRange) -> String {
        let [low, high] = ends(estimate);
        match (estimate.known(), low.is_finite(), high.is_finite()) {
            (Some(known), ..) => self.number(known),
            (None, true, true) => format!("{} to {}", self.number(low), self.number(high)),
            (None, true, false) => format!("≥{}", self.number(low)),
            (None, false, true) => format!("≤{}", self.number(high)),
            (None, false, false) => OPEN.to_owned(),
        }
    }

    fn number(&self, logarithm: f64) -> String {
        match self {
            _ if !logarithm.is_finite() => OPEN.to_owned(),
            Self::Percent { decimals } => signed(100.0 * logarithm.exp_m1(), *decimals),
            Self::Factor => {
                let sign = if logarithm < 0.0 { '÷' } else { '×' };
                format!("{sign}{}", times(logarithm.abs().exp()))
            }
        }
    }
}

/// With its sign, unless it is nothing; thousands apart.
fn signed(percent: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", percent.abs());
    match percent {
        _ if is_nothing(&text) => text,
        percent if percent < 0.0 => format!("−{}", in_groups(&text)),
        _ => format!("+{}", in_groups(&text)),
    }
}

fn is_nothing(number: &str) -> bool {
    number.bytes().all(|byte| !byte.is_ascii_digit() || byte == b'0')
}

/// A factor of 1 or more.
fn times(factor: f64) -> String {
    match factor {
        1.0 => "1".to_owned(),
        near if near < 1.06 => {
            let decimals = (-(near - 1.0).log10()).ceil().clamp(3.0, 6.0) as usize;
            format!("{near:.decimals$}")
        }
        small if small < 10.0 => format!("{small:.1}"),
        huge if huge >= 1e15 => format!("{huge:.1e}"),
        large => in_groups(&format!("{large:.0}")),
    }
}

/// A blank between every three digits before the point.
fn in_groups(number: &str) -> String {
    let (whole, decimals) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::with_capacity(number.len() + 4);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text + decimals
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(percents: [f64; 3]) -> String {
        let [value, low, high] = percents.map(|percent| (percent / 100.0).ln_1p());
        percent(LogRange::exactly(value), Some(LogRange::between(low, high)))
    }

    #[test]
    fn percent_have_signs_and_as_many_digits_as_their_interval_is_wide() {
        assert_eq!(of([30.1, 24.2, 36.7]), "+30 [+24 – +37] %");
        assert_eq!(of([3.1, -3.2, 9.4]), "+3 [−3 – +9] %");
        assert_eq!(of([-71.0, -74.4, -67.6]), "−71 [−74 – −68] %");
        assert_eq!(of([0.31, -0.42, 1.04]), "+0.3 [−0.4 – +1.0] %");
        assert_eq!(of([2.9, 0.3, 6.0]), "+2.9 [+0.3 – +6.0] %", "whether it may be nothing is seen");
        assert_eq!(of([0.0, 0.0, 0.0]), "0.00 [0.00 – 0.00] %");
        assert_eq!(of([800.0, 320.0, 1830.0]), "+800 [+320 – +1 830] %");
    }

    #[test]
    fn large_ratios_are_factors() {
        assert_eq!(of([99_900.0, 84_900.0, 119_900.0]), "×1 000 [×850 – ×1 200]");
        assert_eq!(of([-95.0, -96.0, -93.75]), "÷20 [÷25 – ÷16]");
        assert_eq!(of([500.0, -99.5, 8000.0]), "×6.0 [÷200 – ×81]");
        assert_eq!(of([900.0, 2.0, 20_000.0]), "×10 [×1.020 – ×201]");
        assert_eq!(percent(LogRange::exactly(600.0), None), "×3.8e260");
    }

    #[test]
    fn bounds_and_open_ends_are_marked() {
        let log = |percent: f64| (percent / 100.0).ln_1p();
        let at_most = LogRange::at_most(log(-80.0));
        assert_eq!(percent(at_most, Some(LogRange::at_most(log(-62.0)))), "≤−80 [… – −62] %");
        let at_least = LogRange::at_least(log(80.0));
        assert_eq!(percent(at_least, Some(LogRange::at_least(log(62.0)))), "≥+80 [+62 – …] %");
        assert_eq!(
            percent(LogRange::between(log(-80.0), log(-60.0)), Some(LogRange::UNKNOWN)),
            "−80 to −60 %"
        );
        assert_eq!(percent(LogRange::exactly(log(3.2)), None), "+3 %");
        assert_eq!(percent(LogRange::UNKNOWN, None), "… %");
    }

    /// What a reader takes a number for: the logarithm.
    fn read(text: &str, unit: &str) -> f64 {
        let text = text.replace(' ', "").replace('−', "-");
        match (text.strip_prefix('×'), text.strip_prefix('÷')) {
            (Some(times), _) => times.parse::<f64>().unwrap().ln(),
            (_, Some(part)) => -part.parse::<f64>().unwrap().ln(),
            _ => {
                assert_eq!(unit, " %");
                (text.parse::<f64>().unwrap() / 100.0).ln_1p()
            }
        }
    }

    proptest! {
        #[test]
        fn no_interval_excludes_its_value_or_hides_a_sign(
            value in -9.0_f64..9.0,
            shrunk in prop_oneof![Just(1.0), Just(0.1), Just(0.001), Just(0.00001)],
            below in 0.0_f64..1.0,
            above in 0.0_f64..1.0,
            wide in prop_oneof![Just(0.0), Just(0.0001), Just(0.02), Just(1.0), Just(8.0)],
        ) {
            let value = value * shrunk;
            let [low, high] = [value - wide * below, value + wide * above];
            let text = percent(LogRange::exactly(value), Some(LogRange::between(low, high)));
            let (first, rest) = text.split_once(" [").unwrap();
            let (ends, unit) = rest.split_once(']').unwrap();
            let (from, to) = ends.split_once(" – ").unwrap();
            let printed = [first, from, to].map(|number| read(number, unit));
            prop_assert!(printed[1] <= printed[0] + 1e-9 && printed[0] <= printed[2] + 1e-9, "{text}");
            for (printed, amount) in printed.into_iter().zip([value, low, high]) {
                // Less than a thousandth of a percent is nothing; otherwise the sign is there, and half a point or a twentieth is the most that is lost.
                prop_assert!(amount.abs() < 6e-6 || printed.signum() == amount.signum() && printed != 0.0, "{text} for {amount}");
                let (printed, amount) = (printed.exp(), amount.exp());
                let lost = (printed - amount).abs();
                prop_assert!(lost <= 0.005_001 || lost <= 0.051 * amount.max(1.0), "{text} for {amount}");
            }
        }
    }
}
