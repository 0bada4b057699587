//! Everything against everything: the correlation tables of study 000 for whatever was watched.
//!
//! Variables are the durations of whole tasks, imported series and covariates. Series of one host are correlated pairwise; of different
//! hosts only the same task on the same target, and what was read of a host that measures no durations, such as a server, with the series of all that do. Each duration is also correlated with the load, runnable and blocked tasks and I/O pressure that
//! were read with its own samples. Pairs are correlated twice: at the same time, and beyond the daily cycle where four days are covered; the latter
//! is what is judged. p values are adjusted with all pairs and lags (see [`crate::history::multiple_testing`]).
//!
//! Limits: parts of a task are not correlated with each other, they share their time; load contains tasks that wait for storage, so
//! it grows with hangs by construction: compare with runnable and blocked tasks.

use std::collections::BTreeSet;
use std::fmt;

use iolag_model::{HistoryColumns, Nanoseconds, Series, SeriesKey};
use serde::{Deserialize, Serialize};

use super::coefficient::{
    Correlation, CorrelationMethod, PAIRS_LEAST, Scored, correlate_pairs, correlate_rests,
};
use super::join::join_nearest;
use super::lag::{LagScan, scan_scored};
use crate::history::calendar::local_time::LocalTime;
use crate::history::series::kept_amounts::Amounts;
use crate::history::series::timed_values::quantity_of;
use crate::history::series::timed_values::{Quantity, TimedValues};
use crate::parallel;

/// Values that lag scans of all pairs may visit before only correlated pairs are scanned: about two seconds.
const SCANNED_VALUES_MOST: usize = 20_000_000;

/// How the matrix is computed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MatrixOptions {
    /// What is correlated.
    pub method: CorrelationMethod,
    /// How far apart values of a pair may be; absent: half the longer period.
    pub tolerance_ns: Option<Nanoseconds>,
    /// Lags to both sides, in slots; 0 for none.
    pub lag_slots_max: u32,
    /// Greatest adjusted p of what is called significant.
    pub significance: f64,
    /// Seed of the shifts of events.
    pub seed: u64,
}

impl Default for MatrixOptions {
    fn default() -> Self {
        Self {
            method: CorrelationMethod::Spearman,
            tolerance_ns: None,
            lag_slots_max: 4,
            significance: 0.05,
            seed: 2008,
        }
    }
}

/// A side of a pair: a quantity of a series.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Variable {
    /// Which series, or with whose samples a quantity of the host was read.
    pub series: SeriesKey,
    /// What of it.
    pub quantity: Quantity,
}

impl fmt::Display for Variable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quantity {
            Quantity::Duration | Quantity::Value => self.series.fmt(formatter),
            of_host if of_host.is_of_host() => of_host.fmt(formatter),
            other => write!(formatter, "{other} of {}", self.series),
        }
    }
}

/// Two variables and how they go together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelatedPair {
    /// One.
    pub left: Variable,
    /// The other.
    pub right: Variable,
    /// How they go together at the same time.
    pub correlation: Correlation,
    /// The same without what each hour of the day, or of the week, explains; absent if less than four days are covered.
    pub beyond_daily_cycle: Option<Correlation>,
    /// p of what is judged, after all pairs and lags were counted.
    pub p_adjusted: f64,
    /// Whether that is at most the wanted one.
    pub is_significant: bool,
    /// Correlation at other lags, where it was looked at.
    pub lags: Option<LagScan>,
}

impl CorrelatedPair {
    /// What the two have to do with each other: beyond the daily cycle where that is known.
    pub fn judged(&self) -> &Correlation {
        self.beyond_daily_cycle.as_ref().unwrap_or(&self.correlation)
    }
}

/// All pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelationMatrix {
    /// How it was computed.
    pub options: MatrixOptions,
    /// In the order of the series given; quantities of the host after the series.
    pub pairs: Vec<CorrelatedPair>,
}

impl CorrelationMatrix {
    /// The pair of these two series, in whichever order.
    pub fn pair(&self, one: &SeriesKey, other: &SeriesKey) -> Option<&CorrelatedPair> {
        self.pairs.iter().find(|pair| {
            let sides = (&pair.left.series, &pair.right.series);
            !pair.right.quantity.is_of_host() && (sides == (one, other) || sides == (other, one))
        })
    }
}

/// Correlates every two of these series that may have to do with each other; pairs with quantities of the host are `of_host`. Hours are
/// those of `local_time`. p are not adjusted yet.
pub(crate) fn correlation_matrix(
    whole: Vec<Amounts>,
    of_host: Vec<CorrelatedPair>,
    options: &MatrixOptions,
    local_time: &LocalTime,
) -> CorrelationMatrix {
    // What a side was made of is forgotten: there is room for one of the two.
    let measuring = whole.iter().filter(|one| one.series.kind.is_duration());
    let measuring: BTreeSet<String> = measuring.map(|one| one.series.key.host.clone()).collect();
    let sides: Vec<Side> =
        whole.into_iter().filter_map(|one| side_of(one, options.method, local_time)).collect();
    let visits: usize = sides.iter().map(|side| side.len() * 2 * Quantity::OF_HOST.len()).sum();
    let mut wanted: Vec<(&Side, &Side)> = Vec::new();
    for (index, left) in sides.iter().enumerate() {
        let related = sides[index + 1..]
            .iter()
            .filter(|right| may_be_related(&left.variable.series, &right.variable.series, &measuring));
        wanted.extend(related.map(|right| (left, right)));
    }
    let values = |(left, right): &(&Side, &Side)| left.len() + right.len();
    let visits = visits + wanted.iter().map(values).sum::<usize>();
    let scanned = if visits * (2 * options.lag_slots_max as usize + 1) <= SCANNED_VALUES_MOST {
        Scanned::All
    } else {
        Scanned::Correlated
    };
    let found =
        parallel::map_large(&wanted, values, |(left, right)| correlated(left, right, options, scanned));
    let pairs = found.into_iter().flatten().chain(of_host).collect();
    CorrelationMatrix { options: *options, pairs }
}

/// A series and each quantity of the host that was read with its samples.
pub(crate) fn pairs_of_host(
    series: &Series,
    columns: &HistoryColumns,
    values: &TimedValues,
    options: &MatrixOptions,
    local_time: &LocalTime,
) -> Vec<CorrelatedPair> {
    let variable = |quantity: Quantity| Variable { series: series.key.clone(), quantity };
    let mut left = None;
    let mut pairs = Vec::new();
    for quantity in Quantity::OF_HOST {
        let read = TimedValues::read(series, columns, quantity);
        let Some(right) = Side::new(variable(quantity), &read, options.method, local_time) else { continue };
        if left.is_none() {
            left = Side::new(variable(quantity_of(series)), values, options.method, local_time);
        }
        pairs.extend(left.as_ref().and_then(|left| correlated(left, &right, options, Scanned::None)));
    }
    pairs
}

/// A side of pairs, prepared once for all of them.
struct Side {
    variable: Variable,
    scored: Scored,
}

impl Side {
    /// `None` if it has no logarithms and they are asked for, or too few values.
    fn new(
        variable: Variable,
        values: &TimedValues,
        method: CorrelationMethod,
        local_time: &LocalTime,
    ) -> Option<Self> {
        if values.len() < PAIRS_LEAST {
            return None;
        }
        Some(Self { variable, scored: Scored::of(values, method)?.with_rest(local_time) })
    }

    fn len(&self) -> usize {
        self.scored.moments().len()
    }
}

fn side_of(one: Amounts, method: CorrelationMethod, local_time: &LocalTime) -> Option<Side> {
    let variable = Variable { series: one.series.key.clone(), quantity: one.quantity() };
    let values = one.values();
    // Ranks are made when what they are made of has made room for them.
    drop(one);
    Side::new(variable, &values, method, local_time)
}

/// Of which pairs lags are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scanned {
    All,
    /// Those that go together at the same time.
    Correlated,
    None,
}

fn correlated(
    left: &Side,
    right: &Side,
    options: &MatrixOptions,
    scanned: Scanned,
) -> Option<CorrelatedPair> {
    let tolerance = options.tolerance_ns.unwrap_or_else(|| left.scored.tolerance(&right.scored));
    let joined = join_nearest(left.scored.moments(), right.scored.moments(), 0, tolerance);
    let correlation = correlate_pairs(&left.scored, &right.scored, &joined)?;
    let beyond_daily_cycle = correlate_rests(&left.scored, &right.scored, &joined);
    let is_scanned = options.lag_slots_max > 0
        && match scanned {
            Scanned::All => true,
            Scanned::Correlated => correlation.coefficient.abs() > 0.1,
            Scanned::None => false,
        };
    let scan = || scan_scored(&left.scored, &right.scored, options.lag_slots_max);
    Some(CorrelatedPair {
        left: left.variable.clone(),
        right: right.variable.clone(),
        correlation,
        beyond_daily_cycle,
        p_adjusted: beyond_daily_cycle.unwrap_or(correlation).p,
        is_significant: false,
        lags: is_scanned.then(scan).flatten(),
    })
}

/// `measuring` are hosts that measure how long something takes: what was read of a server may have to do with each of them.
fn may_be_related(left: &SeriesKey, right: &SeriesKey, measuring: &BTreeSet<String>) -> bool {
    let measures = |key: &SeriesKey| measuring.contains(&key.host);
    left.host == right.host
        || (left.task == right.task && left.target == right.target)
        || measures(left) != measures(right)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use iolag_model::{Outcome, SeriesKind};

    use super::super::coefficient::Strength;
    use super::*;
    use crate::history::series::observations::Blockers;
    use iolag_fixtures::made_up_series::{columns_of, series_of};
    use iolag_model::Random;

    /// Durations that share a cause with this weight, offset by seconds.
    fn sharing(cause: &[f64], weight: f64, offset: i64, noise: &mut Random) -> HistoryColumns {
        let rows = cause.iter().enumerate().map(|(slot, cause)| {
            let own = (1.0 - weight * weight).sqrt() * noise.normal();
            let milliseconds = (1000.0 * (0.5 * (weight * cause + own)).exp()) as u64;
            (slot as i64 * 900 + offset, milliseconds, Outcome::Ok)
        });
        columns_of(rows)
    }

    fn matrix_of(series: &[(Series, HistoryColumns)]) -> CorrelationMatrix {
        let options = MatrixOptions::default();
        let mut of_host = Vec::new();
        let mut whole = Vec::new();
        for (series, columns) in series.iter().filter(|(series, _)| series.key.part.is_empty()) {
            let amounts = Amounts::of(series, Cow::Borrowed(columns), &Blockers::default());
            of_host.extend(pairs_of_host(series, columns, &amounts.values(), &options, &LocalTime::UTC));
            whole.push(amounts);
        }
        correlation_matrix(whole, of_host, &options, &LocalTime::UTC)
    }

    #[test]
    fn home_and_scratch_go_together_five_minutes_apart_and_nothing_else_does() {
        let mut noise = Random::new(31);
        let cause: Vec<f64> = (0..1500).map(|_| noise.normal()).collect();
        let mut with_load = sharing(&cause, 0.9, 0, &mut noise);
        with_load.load_5min = cause.iter().map(|_| 10.0 + noise.normal()).collect();
        with_load.blocked = cause.iter().map(|cause| (3.0 + cause).max(0.0).round()).collect();
        let series = [
            (series_of("/home", "compile"), with_load),
            (series_of("/scratch", "compile"), sharing(&cause, 0.9, 300, &mut noise)),
            (series_of("/home", "list"), sharing(&cause, 0.0, 20, &mut noise)),
        ];
        let matrix = matrix_of(&series);
        let strength = |left: usize, right: usize| {
            let pair = matrix.pair(&series[left].0.key, &series[right].0.key).unwrap();
            (pair.judged().strength, pair.p_adjusted < 0.01)
        };
        assert_eq!(strength(0, 1), (Strength::Strong, true));
        assert_eq!(strength(1, 0), (Strength::Strong, true));
        assert_eq!(strength(0, 2), (Strength::None, false));
        let of_host = |quantity: Quantity| {
            matrix
                .pairs
                .iter()
                .find(|pair| pair.right.quantity == quantity)
                .map(|pair| pair.correlation.strength)
        };
        assert_eq!(of_host(Quantity::Load5min), Some(Strength::None));
        assert_eq!(of_host(Quantity::Blocked), Some(Strength::Strong));
        assert_eq!(of_host(Quantity::StalledIo), None);
        assert_eq!(matrix.pairs.iter().filter(|pair| pair.lags.is_some()).count(), 3);
    }

    #[test]
    fn other_hosts_are_compared_task_by_task_and_parts_not_at_all() {
        let mut noise = Random::new(32);
        let columns = sharing(&[0.0; 20], 0.0, 0, &mut noise);
        let mut elsewhere = series_of("/home", "list");
        elsewhere.key.host = "login2".to_owned();
        let mut part = series_of("/home", "list");
        part.key.part = "ls -n".to_owned();
        let all = [series_of("/home", "list"), series_of("/home", "create"), elsewhere, part];
        let all: Vec<_> = all.into_iter().map(|series| (series, columns.clone())).collect();
        let matrix = matrix_of(&all);
        let between = matrix.pairs.iter().filter(|pair| !pair.right.quantity.is_of_host());
        assert_eq!(between.count(), 2);
    }

    #[test]
    fn what_was_read_of_a_server_is_compared_with_all_hosts() {
        let mut noise = Random::new(33);
        let cause: Vec<f64> = (0..1500).map(|_| noise.normal()).collect();
        let of_host = |host: &str, task: &str, noise: &mut Random| {
            let mut series = series_of("/home", task);
            series.key.host = host.to_owned();
            (series, sharing(&cause, 0.9, 0, noise))
        };
        let mut server = series_of("", "operations");
        server.key.host = "fs1".to_owned();
        server.kind = SeriesKind::ImportedValue;
        // Read five minutes later than the tasks.
        let mut read = sharing(&cause, 0.9, 300, &mut noise);
        read.value = read.duration_ns.iter().map(|value| value.as_seconds()).collect();
        let all = [(server, read), of_host("wn1", "list", &mut noise), of_host("wn2", "create", &mut noise)];
        let matrix = matrix_of(&all);
        for client in &all[1..] {
            let pair = matrix.pair(&all[0].0.key, &client.0.key).unwrap();
            assert_eq!(pair.judged().strength, Strength::Strong);
        }
        assert_eq!(matrix.pair(&all[1].0.key, &all[2].0.key), None);
    }
}
