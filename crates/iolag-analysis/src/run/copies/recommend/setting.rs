//! How far copies that begin together are what jobs meet that follow each other.
//!
//! If payloads are much longer than set-ups, a job that follows another sets itself up beside few others that do, and copies that begin together are
//! the worst that can be. If they are not, jobs come to be set up at all moments beside as many, each beside some that are slower than itself, and it may be
//! worse; and copies that began at different moments were beside fewer from the beginning.

use serde::{Deserialize, Serialize};

use super::slot::JobQuestion;
use crate::run::copies::of_run::CopiesRun;
use crate::run::copies::time::CopyTime;

/// A payload of at least so many set-ups is much longer than one.
const MUCH_LONGER: f64 = 10.0;
/// Copies that begin further apart than this share of their time do not begin together.
const APART: f64 = 0.1;

/// How far what was measured is what jobs meet that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobSetting {
    /// Copies began together, and the payload is much longer than a set-up: it is the worst that can be.
    Together,
    /// They did, and it is not.
    ShortPayload,
    /// They began apart.
    Apart,
    /// It is not known when they began.
    NotKnown,
}

impl JobSetting {
    /// Of runs on one target.
    pub(super) fn of(runs: &[CopiesRun<'_>], question: &JobQuestion) -> Self {
        let payload_ns = |run: &CopiesRun<'_>| match question.payload_ns {
            Some(told) => told.0 as f64,
            None => run.payload.map_or(0.0, |payload| payload.mean_ns),
        };
        runs.iter().map(|run| Self::of_run(run, payload_ns(run))).max().unwrap_or(Self::NotKnown)
    }

    fn of_run(run: &CopiesRun<'_>, payload_ns: f64) -> Self {
        let all_ns: f64 = run.times.iter().map(|copy: &CopyTime| copy.time_ns.0 as f64).sum();
        let mean_ns = all_ns / run.times.len().max(1) as f64;
        match run.work.apart {
            None => Self::NotKnown,
            Some(apart) if run.copies > 1 && apart > APART => Self::Apart,
            Some(_) if payload_ns < MUCH_LONGER * mean_ns => Self::ShortPayload,
            Some(_) => Self::Together,
        }
    }
}
