//! What bystanders answer before they run.

use iolag_model::{BystanderSpec, Nanoseconds};

use crate::SpecError;

/// A bystander that asks more often is a load.
const RATE_MAX: f64 = 1000.0;
/// Nobody waits longer for a load to begin.
const QUIET_MAX: Nanoseconds = Nanoseconds::from_seconds(3600);

/// Checks it before a run.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate_bystander(spec: &BystanderSpec) -> Result<(), SpecError> {
    if spec.asked.is_empty() {
        return Err(SpecError::NoBystanderTask);
    }
    let mut asked = spec.asked.clone();
    asked.sort_unstable();
    if let Some(twice) = asked.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(SpecError::BystanderTaskTwice { task: twice[0] });
    }
    if !(spec.rate_per_second > 0.0 && spec.rate_per_second <= RATE_MAX) {
        return Err(SpecError::BystanderRate { rate: spec.rate_per_second, most: RATE_MAX });
    }
    if spec.quiet_ns > QUIET_MAX {
        return Err(SpecError::BystanderQuiet { quiet: spec.quiet_ns, most: QUIET_MAX });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::BystanderTask;

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        let usual = BystanderSpec {
            asked: vec![BystanderTask::Stat],
            rate_per_second: 10.0,
            quiet_ns: Nanoseconds::from_seconds(5),
        };
        assert_eq!(validate_bystander(&usual), Ok(()));
        let refused = |spec: BystanderSpec| validate_bystander(&spec).unwrap_err().to_string();
        let twice = vec![BystanderTask::List, BystanderTask::Stat, BystanderTask::List];
        assert_eq!(
            refused(BystanderSpec { asked: twice, ..usual.clone() }),
            "bystanders are to ask list twice: name it once"
        );
        assert!(
            refused(BystanderSpec { asked: vec![], ..usual.clone() }).starts_with("bystanders ask nothing")
        );
        for rate_per_second in [0.0, -1.0, f64::NAN, 1001.0] {
            let told = refused(BystanderSpec { rate_per_second, ..usual.clone() });
            assert!(told.ends_with("choose a rate above 0 and at most 1000, as in 10/s"), "{told}");
        }
        let long = refused(BystanderSpec { quiet_ns: Nanoseconds::from_seconds(3601), ..usual });
        assert!(long.starts_with("bystanders cannot measure"), "{long}");
    }
}
