//! Alternated pairs: the only comparison that a noisy machine allows.
//!
//! Two sides are measured in turn, A B, B A, A B, …, so that drift hits both alike; each pair gives one ratio, and the
//! median of the ratios is judged by its 95 % interval. The interval needs no assumption about the noise: between
//! which two of the sorted ratios the true median lies follows from the binomial distribution (order statistics).
//!
//! Limits: pairs that are too few for a 95 % interval (below 6) give none and are never judged.

use std::fmt;

use anyhow::{Result, ensure};

/// Pairs that a judgement should rest on.
pub const PAIRS: usize = 25;
/// Pairs of a run that only shows that the benchmark works.
pub const PAIRS_TINY: usize = 2;

/// What the ratio of the two sides (first / second) must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Requirement {
    /// For rates: not below.
    AtLeast(f64),
    /// For times: not above.
    AtMost(f64),
}

/// What the measured interval says about the requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval meets it.
    Met,
    /// The whole interval misses it.
    Missed,
    /// The interval holds the limit, or there is none.
    Undecided,
}

/// Median and quartiles of one side's values, or of the ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Half of the values are below.
    pub median: f64,
    /// A quarter is below.
    pub lower_quartile: f64,
    /// A quarter is above.
    pub upper_quartile: f64,
}

/// What the pairs say.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How many pairs.
    pub pairs: usize,
    /// The side that is judged.
    pub first: Spread,
    /// The side that it is compared with.
    pub second: Spread,
    /// The median of first / second over the pairs.
    pub ratio: f64,
    /// Its 95 % interval, if the pairs suffice.
    pub interval: Option<(f64, f64)>,
}

/// Measures `pairs` alternated pairs. Each closure measures its side once and returns a rate or a time, both in the
/// same unit; a side that needs a warm-up does it itself.
///
/// # Errors
/// What a side answers, and values that are no positive numbers.
pub fn measure(
    pairs: usize,
    first: impl FnMut() -> Result<f64>,
    second: impl FnMut() -> Result<f64>,
) -> Result<Comparison> {
    let mut values = Vec::with_capacity(pairs);
    alternate(&mut values, pairs, first, second)?;
    compare(&values)
}

/// Adds alternated pairs of whatever the sides answer until there are so many.
///
/// # Errors
/// What a side answers.
pub fn alternate<T>(
    values: &mut Vec<(T, T)>,
    pairs: usize,
    mut first: impl FnMut() -> Result<T>,
    mut second: impl FnMut() -> Result<T>,
) -> Result<()> {
    while values.len() < pairs {
        values.push(if values.len().is_multiple_of(2) {
            let value = first()?;
            (value, second()?)
        } else {
            let value = second()?;
            (first()?, value)
        });
    }
    Ok(())
}

/// Compares pairs of values.
///
/// # Errors
/// If there is no pair, or a value is not a positive number.
pub fn compare(values: &[(f64, f64)]) -> Result<Comparison> {
    ensure!(!values.is_empty(), "a comparison needs at least one pair");
    for value in values.iter().flat_map(|(first, second)| [*first, *second]) {
        ensure!(value.is_finite() && value > 0.0, "{value} is not a rate or a time: it must be positive");
    }
    let ratios = sorted(values.iter().map(|(first, second)| first / second));
    Ok(Comparison {
        pairs: values.len(),
        first: Spread::of(values.iter().map(|(first, _)| *first)),
        second: Spread::of(values.iter().map(|(_, second)| *second)),
        ratio: quantile(&ratios, 0.5),
        interval: median_interval_rank(ratios.len())
            .map(|rank| (ratios[rank - 1], ratios[ratios.len() - rank])),
    })
}

impl Spread {
    /// Of at least one value.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let values = sorted(values);
        Self {
            median: quantile(&values, 0.5),
            lower_quartile: quantile(&values, 0.25),
            upper_quartile: quantile(&values, 0.75),
        }
    }
}

impl Comparison {
    /// Whether the interval meets the requirement.
    pub fn judge(&self, requirement: Requirement) -> Verdict {
        let Some((low, high)) = self.interval else { return Verdict::Undecided };
        let (meets, misses) = match requirement {
            Requirement::AtLeast(limit) => (low >= limit, high < limit),
            Requirement::AtMost(limit) => (high <= limit, low > limit),
        };
        match (meets, misses) {
            (true, _) => Verdict::Met,
            (_, true) => Verdict::Missed,
            _ => Verdict::Undecided,
        }
    }

    /// A row of the table in docs/performance.md (see [`TABLE_HEAD`]); nothing is judged without a requirement.
    pub fn row(&self, name: &str, unit: &str, requirement: Option<Requirement>, machine: &str) -> String {
        let side = |spread: &Spread| {
            format!(
                "{} ({}-{})",
                short(spread.median),
                short(spread.lower_quartile),
                short(spread.upper_quartile)
            )
        };
        let interval =
            self.interval.map_or("too few pairs".to_owned(), |(low, high)| format!("{low:.3}-{high:.3}"));
        let (required, verdict) = match requirement {
            None => ("-".to_owned(), "-".to_owned()),
            Some(requirement) => (requirement.to_string(), self.judge(requirement).to_string()),
        };
        format!(
            "| {name} | {} | {} | {unit} | {:.3} ({interval}) | {required} | {verdict} | {} | {machine} |",
            side(&self.first),
            side(&self.second),
            self.ratio,
            self.pairs,
        )
    }
}

/// Head of the table that [`Comparison::row`] makes rows of.
pub const TABLE_HEAD: &str = "\
| benchmark | iolag: median (quartiles) | rival: median (quartiles) | unit | median ratio (95 % interval) | required | verdict | pairs | machine |
|---|---|---|---|---|---|---|---|---|";

impl fmt::Display for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(limit) => write!(formatter, "at least {limit}"),
            Self::AtMost(limit) => write!(formatter, "at most {limit}"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Undecided => "undecided",
        })
    }
}

/// Four significant digits, or all of the whole part.
fn short(value: f64) -> String {
    let decimals = if value >= 1000.0 {
        0
    } else if value >= 1.0 {
        (3 - value.log10().floor() as i32).max(0) as usize
    } else {
        4
    };
    format!("{value:.decimals$}")
}

/// The quantile of sorted values, linear between the two nearest (R's type 7).
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

/// The values in ascending order.
pub fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The largest rank r (from 1) for which the r-th smallest and the r-th largest of `count` values enclose the median
/// with at least 95 %: `P(X < r) <= 0.025` for X binomial with `count` and 1/2. None if even the extremes do not.
fn median_interval_rank(count: usize) -> Option<usize> {
    let mut probability = 0.5_f64.powi(i32::try_from(count).ok()?);
    let mut cumulated = probability;
    let mut rank = 0;
    while cumulated <= 0.025 && rank < count {
        rank += 1;
        probability *= (count - rank + 1) as f64 / rank as f64;
        cumulated += probability;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;

    /// R: `qbinom(0.025, n, 0.5)`, the rank of the usual table (Conover, Practical Nonparametric Statistics).
    #[test]
    fn ranks_of_the_medians_interval_are_those_of_the_table() {
        let known = [(5, None), (6, Some(1)), (9, Some(2)), (10, Some(2)), (15, Some(4)), (20, Some(6))];
        for (count, rank) in
            known.into_iter().chain([(25, Some(8)), (30, Some(10)), (50, Some(18)), (100, Some(40))])
        {
            assert_eq!(median_interval_rank(count), rank, "{count} values");
        }
    }

    #[test]
    fn known_pairs_give_known_ratios() {
        let values: Vec<(f64, f64)> = (1..=25).map(|index| (f64::from(index), 10.0)).collect();
        let comparison = compare(&values).unwrap();
        assert_eq!(comparison.ratio, 1.3);
        assert_eq!(comparison.interval, Some((0.8, 1.8)));
        assert_eq!(comparison.first, Spread { median: 13.0, lower_quartile: 7.0, upper_quartile: 19.0 });
        assert_eq!(comparison.second.median, 10.0);
        assert_eq!(comparison.judge(Requirement::AtLeast(0.8)), Verdict::Met);
        assert_eq!(comparison.judge(Requirement::AtLeast(0.9)), Verdict::Undecided);
        assert_eq!(comparison.judge(Requirement::AtLeast(1.9)), Verdict::Missed);
        assert_eq!(comparison.judge(Requirement::AtMost(0.5)), Verdict::Missed);
        assert_eq!(comparison.judge(Requirement::AtMost(1.8)), Verdict::Met);
    }

    #[test]
    fn too_few_pairs_are_never_judged() {
        let comparison = compare(&[(1.0, 1.0); 5]).unwrap();
        assert_eq!((comparison.interval, comparison.ratio), (None, 1.0));
        assert_eq!(comparison.judge(Requirement::AtLeast(0.5)), Verdict::Undecided);
    }

    #[test]
    fn sides_alternate_and_drift_that_hits_both_cancels() {
        let order = RefCell::new(String::new());
        let clock = RefCell::new(0.0);
        let side = |letter: char, factor: f64| {
            let (order, clock) = (&order, &clock);
            move || {
                order.borrow_mut().push(letter);
                *clock.borrow_mut() += 0.001;
                Ok(factor * (1.0 + *clock.borrow()))
            }
        };
        let comparison = measure(26, side('A', 0.9), side('B', 1.0)).unwrap();
        assert!(order.borrow().starts_with("ABBAABBA"), "{}", order.borrow());
        assert!((comparison.ratio - 0.9).abs() < 1e-5, "{}", comparison.ratio);
    }

    #[test]
    fn a_value_that_is_no_measurement_is_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(compare(&[(1.0, bad)]).is_err(), "{bad}");
        }
        assert!(compare(&[]).is_err());
    }

    #[test]
    fn a_row_has_as_many_cells_as_the_head() {
        let row = compare(&[(1.0, 2.0); 6]).unwrap().row("x", "op/s", Some(Requirement::AtLeast(0.95)), "m");
        let cells = |line: &str| line.matches('|').count();
        assert!(TABLE_HEAD.lines().all(|line| cells(line) == cells(&row)), "{row}");
        assert!(row.contains("| 0.500 (0.500-0.500) | at least 0.95 | missed | 6 |"), "{row}");
    }

    #[test]
    fn values_are_shown_with_four_digits() {
        let shown = [1_234_567.8, 999.96, 12.3456, 1.0, 0.012].map(short);
        assert_eq!(shown, ["1234568", "1000.0", "12.35", "1.000", "0.0120"]);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_median_and_turning_the_sides_inverts_it(
            values in prop::collection::vec((0.1_f64..10.0, 0.1_f64..10.0), 6..60)
        ) {
            let forth = compare(&values).unwrap();
            let turned: Vec<_> = values.iter().map(|(first, second)| (*second, *first)).collect();
            let back = compare(&turned).unwrap();
            let ((low, high), (back_low, back_high)) = (forth.interval.unwrap(), back.interval.unwrap());
            prop_assert!(low <= forth.ratio && forth.ratio <= high);
            prop_assert!((low * back_high - 1.0).abs() < 1e-9 && (high * back_low - 1.0).abs() < 1e-9);
        }
    }
}
