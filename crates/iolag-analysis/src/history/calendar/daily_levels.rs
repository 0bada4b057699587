//! What the hours of the day explain of a series, and what is left of it.

use iolag_model::WallTime;

use super::local_time::LocalTime;
use crate::history::changes::change_point::{ChangePoint, segments_of};
use crate::history::series::estimate::is_time;
use crate::history::series::timed_values::{Quantity, TimedValues};
use crate::statistics::rhythm::profile::Rhythm;

/// How much of a series' amount an hour explains: on the logarithmic scale for durations, else in its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct DailyLevels {
    rhythm: Rhythm,
    local_time: LocalTime,
}

impl DailyLevels {
    /// Of a series, by the mean of each level, so that a change of level is no hour. `None` if less than four days are covered, there are too few
    /// values or no logarithms.
    pub fn of(
        values: &TimedValues,
        quantity: Quantity,
        changes: &[ChangePoint],
        local_time: &LocalTime,
    ) -> Option<Self> {
        let mut amounts = if is_time(quantity) { values.logarithms()? } else { values.values().to_vec() };
        for segment in segments_of(changes, values.len()) {
            let part = &mut amounts[segment.first..segment.end];
            let mean = part.iter().sum::<f64>() / part.len().max(1) as f64;
            part.iter_mut().for_each(|amount| *amount -= mean);
        }
        let rhythm = rhythm_of(&seconds_of(values.moments(), local_time), &amounts)?;
        Some(Self { rhythm, local_time: local_time.clone() })
    }

    /// What the hour of this moment explains.
    pub fn level(&self, moment: WallTime) -> f64 {
        self.rhythm.level(self.local_time.local_seconds(moment))
    }
}

/// What the clock does not explain of amounts at these moments, which ascend: neither the hours nor weekends.
pub(crate) fn beyond_clock(
    moments: &[WallTime],
    amounts: &[f64],
    local_time: &LocalTime,
) -> Option<Vec<f64>> {
    let seconds = seconds_of(moments, local_time);
    Some(rhythm_of(&seconds, amounts)?.into_rest_of_weeks(&seconds))
}

fn seconds_of(moments: &[WallTime], local_time: &LocalTime) -> Vec<f64> {
    moments.iter().map(|moment| local_time.local_seconds(*moment)).collect()
}

fn rhythm_of(local_seconds: &[f64], amounts: &[f64]) -> Option<Rhythm> {
    amounts.iter().all(|amount| amount.is_finite()).then(|| Rhythm::of(local_seconds, amounts))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daily_cycle_is_explained_and_little_is_not() {
        let moments: Vec<WallTime> = (0..960).map(|slot| WallTime::from_seconds(slot * 900)).collect();
        let seconds: Vec<f64> = (0..960)
            .map(|slot| (0.5 * (f64::from(slot) / 96.0 * std::f64::consts::TAU).sin()).exp())
            .collect();
        let values = TimedValues::known(&moments, &seconds);
        let levels = DailyLevels::of(&values, Quantity::Duration, &[], &LocalTime::UTC).unwrap();
        assert!((levels.level(moments[24]) - 0.5).abs() < 0.02);
        assert!((levels.level(moments[72]) + 0.5).abs() < 0.02);
        for few in [0, 1, 2, 96] {
            assert_eq!(DailyLevels::of(&values.part(0, few), Quantity::Duration, &[], &LocalTime::UTC), None);
        }
    }
}
