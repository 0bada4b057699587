//! Do intervals hold the truth as often as they say, are they printed, and how wide are they?
//!
//! The same records go through the engine of runs and through the summary of a history. Widths are compared with an oracle that knows the
//! dependence: how much the share beyond the true quantile varies over all campaigns says how many independent attempts a record is
//! worth, and the oracle's interval of each record are the order statistics (or Clopper and Pearson's ends) for that number. Widths of quantiles are
//! on the log scale. That an interval is printed is only asked where the oracle could print one. Where hardly any is printed, those that are
//! come from records that look better than they are: there all campaigns are asked how many print an interval that misses.

use iolag_analysis::history::{
    Blockers, Estimate, EstimateInterval, SummaryOptions, WeightedSummary, summarise_series,
};
use iolag_analysis::{
    DurationSummary, QuantileInterval, QuantileValue, ShareInterval, effective_quantile_ranks, share_interval,
};
use iolag_model::{Nanoseconds, Random, SeriesKind};

use crate::measured::{Limit, Measured};
use crate::process::{Course, Process};
use crate::record::{Attempt, Rounds, attempts, columns, nanoseconds, run_summary, series};
use crate::seed::noise_of;

/// Widest median width by the oracle's.
const WIDTH_MOST: f64 = 1.5;

/// Records of one process and size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// What makes the durations.
    pub process: Process,
    /// Attempts in a record.
    pub size: usize,
}

/// Where a smaller share of campaigns prints an interval, all campaigns are asked.
const PRINTED_RARELY: f64 = 0.2;

/// What an interval is of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Quantity {
    Quantile(f64),
    /// Share over the threshold that this share exceeds.
    ShareOver(f64),
}

const QUANTITIES: [(&str, Quantity); 6] = [
    ("p50", Quantity::Quantile(0.5)),
    ("p90", Quantity::Quantile(0.9)),
    ("p95", Quantity::Quantile(0.95)),
    ("p99", Quantity::Quantile(0.99)),
    ("share 10 %", Quantity::ShareOver(0.1)),
    ("share 1 %", Quantity::ShareOver(0.01)),
];

/// What is sought, and where the truth is.
struct Sought {
    label: &'static str,
    quantity: Quantity,
    /// The quantile itself, or the threshold of the share, in seconds.
    seconds: f64,
}

/// Runs know no clock with a coarse step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Run,
    History,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::History => "history",
        }
    }
}

/// One interval; none if it was not printed.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shot {
    covers: bool,
    /// Absent if an end is only a bound.
    width: Option<f64>,
}

/// What one record gave.
struct Campaign {
    had_storm: bool,
    /// Logarithms of the true durations in order.
    sorted: Vec<f32>,
    /// The share of them beyond the truth of each quantity.
    beyond: Vec<f64>,
    /// For each side the interval of each quantity.
    shots: Vec<(Side, Vec<Option<Shot>>)>,
}

impl Coverage {
    /// Printed, covered and width for each quantity, by run and by history.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let sought = self.sought();
        let done: Vec<Campaign> =
            (0..campaigns).map(|number| self.campaign(&sought, &mut noise_of(name, number, seed))).collect();
        let mut measured = Vec::new();
        let sides: Vec<Side> =
            done.first().map_or_else(Vec::new, |one| one.shots.iter().map(|shot| shot.0).collect());
        for (place, side) in sides.iter().enumerate() {
            for (quantity, Sought { label, .. }) in sought.iter().enumerate() {
                let shots: Vec<(bool, Option<Shot>)> =
                    done.iter().map(|one| (one.had_storm, one.shots[place].1[quantity])).collect();
                let oracle = Oracle::of(&done, quantity, sought[quantity].quantity);
                self.judge(&format!("{} {label}", side.name()), &shots, &oracle, &mut measured);
            }
        }
        measured
    }

    fn sought(self) -> Vec<Sought> {
        let sought = QUANTITIES.iter().map(|&(label, quantity)| {
            let seconds = match quantity {
                Quantity::Quantile(q) => self.process.quantile(q),
                Quantity::ShareOver(share) => self.process.quantile(1.0 - share),
            };
            Sought { label, quantity, seconds }
        });
        sought.collect()
    }

    fn campaign(self, sought: &[Sought], noise: &mut Random) -> Campaign {
        let rounds = Rounds::new(self.size, noise);
        let course = self.process.course(rounds.slots(), noise);
        let recorded = attempts(self.process, &rounds, &course);
        let mut shots = Vec::new();
        if self.process != Process::CoarseClock {
            shots.push((Side::Run, of_run(&recorded, sought)));
        }
        shots.push((Side::History, self.of_history(&recorded, sought)));
        let (sorted, beyond) = truth_of(&rounds, &course, sought);
        Campaign {
            had_storm: rounds.of_course(&course.disturbed).any(|is_disturbed| is_disturbed),
            sorted,
            beyond,
            shots,
        }
    }

    fn of_history(self, recorded: &[Attempt], sought: &[Sought]) -> Vec<Option<Shot>> {
        let series = series(self.process, "list", "/home", SeriesKind::Task);
        let columns = columns(&series, recorded);
        let options = SummaryOptions { thresholds: thresholds(sought), ..SummaryOptions::default() };
        let summary =
            summarise_series(&series, &columns, &Blockers::default(), [&[], &[]], &options).by_attempt;
        let shot = |one: &Sought| match one.quantity {
            Quantity::Quantile(q) => shot_of_history(interval_of_history(&summary, q)?, one.seconds),
            Quantity::ShareOver(share) => {
                let threshold = nanoseconds(one.seconds);
                let found = summary.shares.iter().find(|share| share.counted.threshold_ns == threshold)?;
                Some(shot_of_share(found.counted.interval, share))
            }
        };
        sought.iter().map(shot).collect()
    }

    fn judge(self, label: &str, shots: &[(bool, Option<Shot>)], oracle: &Oracle, to: &mut Vec<Measured>) {
        let printed: Vec<(bool, Shot)> =
            shots.iter().filter_map(|(had_storm, shot)| Some((*had_storm, (*shot)?))).collect();
        to.push(Measured::share(
            format!("{label}: printed"),
            printed.len(),
            shots.len(),
            if oracle.prints { self.printed_limit() } else { Limit::Untold },
        ));
        let covered = |of: &[&(bool, Shot)]| of.iter().filter(|(_, shot)| shot.covers).count();
        let all: Vec<&(bool, Shot)> = printed.iter().collect();
        if (printed.len() as f64) < PRINTED_RARELY * shots.len() as f64 {
            let Limit::AtLeast(least) = self.coverage_limit() else { return };
            let name = format!("{label}: missed, of all campaigns");
            to.push(Measured::share(
                name,
                all.len() - covered(&all),
                shots.len(),
                Limit::AtMost(1.0 - least),
            ));
            return;
        }
        if self.process == Process::Storms {
            // Nothing can know of what did not happen.
            let stormy: Vec<&(bool, Shot)> = printed.iter().filter(|(had_storm, _)| *had_storm).collect();
            let name = format!("{label}: covered, records with a storm");
            to.push(Measured::share(name, covered(&stormy), stormy.len(), self.coverage_limit()));
            let name = format!("{label}: covered, all records");
            to.push(Measured::share(name, covered(&all), all.len(), Limit::Untold));
        } else {
            let name = format!("{label}: covered");
            to.push(Measured::share(name, covered(&all), all.len(), self.coverage_limit()));
        }
        let widths: Vec<f64> = printed.iter().filter_map(|(_, shot)| shot.width).collect();
        let value = (2 * widths.len() >= printed.len()).then(|| Some(middle(widths)? / oracle.width?));
        let most = self.is_to_be_printed().then_some(WIDTH_MOST);
        to.push(Measured::ratio(format!("{label}: width by the oracle's"), value.flatten(), most));
    }

    /// "Too few" is no way out where there is enough.
    fn is_to_be_printed(self) -> bool {
        match self.process {
            Process::Independent => self.size >= 1000,
            Process::Autoregressive(coefficient) => self.size >= 1000 && coefficient <= 0.8,
            Process::Storms => self.size >= 10_000,
            _ => false,
        }
    }

    fn printed_limit(self) -> Limit {
        match self.process {
            Process::Storms if self.is_to_be_printed() => Limit::AtLeast(0.8),
            _ if self.is_to_be_printed() => Limit::AtLeast(0.95),
            _ => Limit::Untold,
        }
    }

    const fn coverage_limit(self) -> Limit {
        match self.process {
            Process::Storms | Process::OneOverF => Limit::AtLeast(0.9),
            _ => Limit::AtLeast(0.93),
        }
    }
}

fn thresholds(sought: &[Sought]) -> Vec<Nanoseconds> {
    let shares = sought.iter().filter(|one| matches!(one.quantity, Quantity::ShareOver(_)));
    shares.map(|one| nanoseconds(one.seconds)).collect()
}

/// Of the durations themselves, before clock and deadline: their logarithms in order, and the share beyond each truth.
fn truth_of(rounds: &Rounds, course: &Course, sought: &[Sought]) -> (Vec<f32>, Vec<f64>) {
    let mut seconds: Vec<f64> = rounds.of_course(&course.seconds).collect();
    seconds.sort_unstable_by(f64::total_cmp);
    let count = seconds.len();
    let beyond = |one: &Sought| {
        (count - seconds.partition_point(|second| *second <= one.seconds)) as f64 / count as f64
    };
    (seconds.iter().map(|second| second.ln() as f32).collect(), sought.iter().map(beyond).collect())
}

/// Who knows what the attempts are worth.
struct Oracle {
    /// Whether it has an interval.
    prints: bool,
    /// Its median width.
    width: Option<f64>,
}

impl Oracle {
    fn of(campaigns: &[Campaign], place: usize, quantity: Quantity) -> Self {
        let beyond: Vec<f64> = campaigns.iter().map(|one| one.beyond[place]).collect();
        let (Quantity::Quantile(share) | Quantity::ShareOver(share)) = quantity;
        let squares: f64 = match quantity {
            Quantity::Quantile(q) => beyond.iter().map(|found| (found - (1.0 - q)).powi(2)).sum(),
            Quantity::ShareOver(share) => beyond.iter().map(|found| (found - share).powi(2)).sum(),
        };
        let variance = (squares / beyond.len() as f64).max(f64::MIN_POSITIVE);
        let worth = share * (1.0 - share) / variance;
        let width = |one: &Campaign| {
            let attempts = one.sorted.len() as u64;
            let worth = worth.min(attempts as f64);
            match quantity {
                Quantity::Quantile(q) => {
                    let ranks = effective_quantile_ranks(attempts, worth, q)?;
                    let at = |rank: u64| f64::from(one.sorted[rank as usize - 1]);
                    Some(at(ranks.high) - at(ranks.low))
                }
                Quantity::ShareOver(_) => {
                    let ends = share_interval(one.beyond[place] * worth, worth);
                    Some(ends.high - ends.low)
                }
            }
        };
        let widths: Vec<f64> = campaigns.iter().filter_map(width).collect();
        Self { prints: widths.len() == campaigns.len(), width: middle(widths) }
    }
}

fn of_run(recorded: &[Attempt], sought: &[Sought]) -> Vec<Option<Shot>> {
    let summary = run_summary(recorded, &thresholds(sought));
    let Some(durations) = summary.map(|summary| summary.durations) else { return vec![None; sought.len()] };
    let shot = |one: &Sought| match one.quantity {
        Quantity::Quantile(q) => shot_of_run(interval_of_run(&durations, q), one.seconds),
        Quantity::ShareOver(share) => {
            let threshold = nanoseconds(one.seconds);
            let found = durations.shares.iter().find(|share| share.threshold_ns == threshold)?;
            Some(shot_of_share(found.interval, share))
        }
    };
    sought.iter().map(shot).collect()
}

fn interval_of_run(durations: &DurationSummary, q: f64) -> QuantileInterval {
    let all = [&durations.median, &durations.p90, &durations.p95, &durations.p99];
    let found = all.into_iter().find(|estimate| estimate.q == q);
    found.map_or(QuantileInterval::TooFew { needed: 0, have: 0 }, |estimate| estimate.interval)
}

fn interval_of_history(summary: &WeightedSummary, q: f64) -> Option<EstimateInterval> {
    summary.quantiles.iter().find(|quantile| quantile.q == q).map(|quantile| quantile.interval)
}

fn shot_of_run(interval: QuantileInterval, truth: f64) -> Option<Shot> {
    let QuantileInterval::Between { low, high } = interval else { return None };
    let seconds = |end: QuantileValue| end.lower_bound().map(Nanoseconds::as_seconds);
    let (below, above) = (seconds(low)?, seconds(high)?);
    let is_open = matches!(high, QuantileValue::AtLeast(_));
    Some(Shot {
        covers: below <= truth && (is_open || truth <= above),
        width: (!is_open && below > 0.0).then(|| (above / below).ln()),
    })
}

fn shot_of_history(interval: EstimateInterval, truth: f64) -> Option<Shot> {
    let EstimateInterval::Between { low, high } = interval else { return None };
    let width = match (low, high) {
        (Estimate::Exactly(low), Estimate::Exactly(high)) if low > 0.0 => Some((high / low).ln()),
        _ => None,
    };
    Some(Shot { covers: interval.allows(truth), width })
}

fn shot_of_share(interval: ShareInterval, truth: f64) -> Shot {
    let ShareInterval { low, high } = interval;
    Shot { covers: low <= truth && truth <= high, width: Some(high - low) }
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_are_bounds_are_open_and_have_no_width() {
        let exactly = |seconds: u64| QuantileValue::Exactly(Nanoseconds::from_seconds(seconds));
        let closed = QuantileInterval::Between { low: exactly(1), high: exactly(2) };
        assert_eq!(shot_of_run(closed, 3.0).map(|shot| shot.covers), Some(false));
        assert!((shot_of_run(closed, 1.5).unwrap().width.unwrap() - 2_f64.ln()).abs() < 1e-12);
        let open = QuantileInterval::Between {
            low: exactly(1),
            high: QuantileValue::AtLeast(Nanoseconds::from_seconds(2)),
        };
        assert_eq!(shot_of_run(open, 3.0), Some(Shot { covers: true, width: None }));
        assert_eq!(shot_of_run(QuantileInterval::TooFew { needed: 6, have: 1 }, 3.0), None);
    }

    #[test]
    fn independent_medians_are_as_wide_as_the_oracle_says() {
        let row = Coverage { process: Process::Independent, size: 192 };
        let measured = row.measure("test", 200, 1);
        // Of a p99 none is printed: all campaigns are asked at once.
        assert_eq!(measured.len(), 2 * (5 * 3 + 2));
        let width = measured.iter().find(|one| one.name == "run p50: width by the oracle's").unwrap();
        assert!((0.8..1.3).contains(&width.value().unwrap()), "{width:?}");
    }
}
