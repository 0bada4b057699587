//! How regular the samples of a series are.

use std::path::Path;
use std::sync::Arc;

use iolag_model::{Nanoseconds, Outcome, WallSpan};

use super::imported_samples::ImportedSample;
use crate::import::aside::bytes::AsideError;
use crate::import::aside::sorter::Sorter;

/// How regular a series is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gaps {
    /// The median length of time from one sample to the next, if most are near it; else zero.
    pub period_ns: Nanoseconds,
    /// Times without samples of more than two and a half periods.
    pub count: u64,
    /// The longest of them.
    pub longest: Option<WallSpan>,
}

impl Gaps {
    /// Looks at samples in the order of time, which `read` gives as often as needed.
    pub(crate) fn of<R>(read: impl Fn() -> R, directory: &Arc<Path>) -> Result<Self, AsideError>
    where
        R: Iterator<Item = Result<ImportedSample, AsideError>>,
    {
        const NEEDED: u64 = 3;
        let mut steps = Sorter::new(directory);
        each_step(read(), |before, after| match after.time.since(before.time).0 {
            0 => Ok(()),
            step => steps.push(step),
        })?;
        let count = steps.len();
        let mut sorted = steps.sorted()?;
        let mut all = sorted.again()?;
        for _ in 0..count / 2 {
            sorted.next()?;
        }
        let median = sorted.next()?.unwrap_or(0);
        let mut near = 0;
        while let Some(step) = all.next()? {
            near += u64::from(step.abs_diff(median) <= median / 10);
        }
        if count < NEEDED || near * 2 < count {
            return Ok(Self::default());
        }
        let mut gaps = Self { period_ns: Nanoseconds(median), ..Self::default() };
        each_step(read(), |before, after| {
            let step = after.time.since(before.time);
            // What hung lasted until the next sample.
            if step.0 / 5 >= median.div_ceil(2) && before.outcome != Outcome::Hung {
                gaps.count += 1;
                if gaps.longest.is_none_or(|longest| step >= longest.end.since(longest.begin)) {
                    gaps.longest = Some(WallSpan { begin: before.time, end: after.time });
                }
            }
            Ok(())
        })?;
        Ok(gaps)
    }
}

/// Shows `look_at` every sample with the one behind it.
fn each_step(
    samples: impl Iterator<Item = Result<ImportedSample, AsideError>>,
    mut look_at: impl FnMut(&ImportedSample, &ImportedSample) -> Result<(), AsideError>,
) -> Result<(), AsideError> {
    let mut before = None;
    for sample in samples {
        let sample = sample?;
        if let Some(before) = before.replace(sample) {
            look_at(&before, &sample)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use iolag_model::{FailureCode, ProbeId, WallTime};

    use super::*;

    fn gaps(minutes: &[i64]) -> Gaps {
        let samples: Vec<ImportedSample> = minutes
            .iter()
            .map(|minute| ImportedSample {
                probe: ProbeId(0),
                time: WallTime::from_seconds(minute * 60),
                duration_ns: Nanoseconds::ZERO,
                value: None,
                outcome: Outcome::Ok,
                failure: FailureCode::NONE,
                exit_status: None,
            })
            .collect();
        Gaps::of(|| samples.iter().copied().map(Ok), &Arc::from(Path::new("/tmp"))).unwrap()
    }

    #[test]
    fn gaps_are_told_where_there_is_a_period() {
        let found = gaps(&[15, 30, 45, 60, 120, 135, 180]);
        assert_eq!((found.period_ns, found.count), (Nanoseconds(900_000_000_000), 2));
        assert_eq!(found.longest.unwrap().begin, WallTime::from_seconds(3_600));
        assert_eq!(gaps(&[15, 30, 45, 60]).count, 0);
        assert_eq!(gaps(&[1, 2, 10, 50, 200]), Gaps::default());
        assert_eq!(gaps(&[]), Gaps::default());
    }
}
