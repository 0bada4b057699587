//! How far a series drifts where a straight line explains it best: its ends against each other.
//!
//! A line through load that remembers is there more often than its p says, so the levels at both ends must tell the direction as well.
//!
//! Limits: a steep drift makes values of one end look like slow load, so its interval is wide.

use serde::{Deserialize, Serialize};

use super::levels::{LevelRatio, Levels};
use crate::history::series::timed_values::TimedValues;
use crate::statistics::knowledge::Knowledge;

/// Which parts of a record are its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordEnds {
    /// Its first and last tenth.
    Tenths,
    /// Its first and last third.
    Thirds,
}

impl RecordEnds {
    const fn parts(self) -> usize {
        match self {
            Self::Tenths => 10,
            Self::Thirds => 3,
        }
    }
}

/// A slow change over the whole record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// What is compared.
    pub ends: RecordEnds,
    /// Median of the first part.
    pub median_first: f64,
    /// How much is known of it.
    pub median_first_is: Knowledge,
    /// Median of the last part.
    pub median_last: f64,
    /// How much is known of it.
    pub median_last_is: Knowledge,
    /// Median of the last part by that of the first.
    pub ratio: LevelRatio,
    /// Probability of so straight a line in noise that remembers as this series does.
    pub p: f64,
}

/// A drift, which has been found with this p, by tenths at both ends, or by thirds where these tell too little. `None` if the direction is not known or it is
/// less than `magnitude_min`: 0.1 is 10 %.
pub(crate) fn drift_of(values: &TimedValues, p: f64, magnitude_min: f64) -> Option<Drift> {
    let limit = (1.0 + magnitude_min).ln();
    let is_told = |drift: &Drift| {
        let is_great_enough = drift.ratio.value.is_some_and(|value| value > 0.0 && value.ln().abs() >= limit);
        is_great_enough && drift.ratio.excludes_none() == Some(true)
    };
    let both = [RecordEnds::Tenths, RecordEnds::Thirds];
    both.into_iter().filter_map(|ends| between(values, ends, p)).find(is_told)
}

fn between(values: &TimedValues, ends: RecordEnds, p: f64) -> Option<Drift> {
    let length = values.len() / ends.parts();
    let of = |first: usize| Levels::of(&values.part(first, first + length));
    let (first, last) = (of(0), of(values.len() - length));
    (length > 0).then(|| Drift {
        ends,
        median_first: first.median().0,
        median_first_is: first.median().1,
        median_last: last.median().0,
        median_last_is: last.median().1,
        ratio: LevelRatio::between(&first, &last),
        p,
    })
}

#[cfg(test)]
mod tests {
    use iolag_model::WallTime;

    use super::*;
    use iolag_model::Random;

    fn drifting(count: usize, factor: f64) -> TimedValues {
        let mut noise = Random::new(4);
        let moments: Vec<WallTime> =
            (0..count).map(|slot| WallTime::from_seconds(slot as i64 * 900)).collect();
        let value = |slot: usize| factor.powf(slot as f64 / count as f64) * (0.6 * noise.normal()).exp();
        TimedValues::known(&moments, &(0..count).map(value).collect::<Vec<f64>>())
    }

    #[test]
    fn tenths_tell_a_long_drift_thirds_a_short_one_and_nothing_one_that_may_go_either_way() {
        let ends =
            |count: usize, factor: f64| drift_of(&drifting(count, factor), 0.0, 0.1).map(|drift| drift.ends);
        assert_eq!(ends(3000, 2.0), Some(RecordEnds::Tenths));
        assert_eq!(ends(400, 2.0), Some(RecordEnds::Thirds));
        assert_eq!(ends(400, 1.05), None);
        for few in [0, 1, 2, 9] {
            assert_eq!(ends(few, 100.0), None);
        }
    }
}
