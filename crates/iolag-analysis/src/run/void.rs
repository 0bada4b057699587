//! Whether a replay did what its program did.

use iolag_model::{Level, ReplayCoverage};
use serde::Serialize;

use super::summary::Summaries;

/// Calls of all copies that came back, and those that did as they had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Came back.
    pub calls: u64,
    /// As they had when they were traced: what failed then failed so, and what was read was as long.
    pub agreed: u64,
}

impl Agreement {
    /// That of all calls; what tasks waited for in each other is none.
    pub(crate) fn of(summaries: &Summaries) -> Self {
        let calls = summaries.summaries.iter().filter(|summary| summary.key.operation.level() == Level::Call);
        calls.fold(Self::default(), |all, summary| {
            let failed: u64 = summary.errors.iter().map(|error| error.count).sum();
            let agreed = summary.succeeded();
            Self { calls: all.calls + agreed + failed, agreed: all.agreed + agreed }
        })
    }

    /// A run of less is none of the program.
    pub const SHARE_MIN: f64 = 0.99;

    /// The share that agreed; of nothing none.
    pub fn share(&self) -> f64 {
        if self.calls == 0 { 0.0 } else { self.agreed as f64 / self.calls as f64 }
    }
}

/// Why a run says nothing of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Void {
    /// Too many calls came back otherwise.
    Agreement,
    /// Too few of the calls that were traced are repeated.
    Coverage,
}

/// Why such a run says nothing.
pub(crate) fn void(agreement: Agreement, coverage: &ReplayCoverage) -> Vec<Void> {
    let disagrees = agreement.calls > 0 && agreement.share() < Agreement::SHARE_MIN;
    let disagrees = disagrees.then_some(Void::Agreement);
    disagrees.into_iter().chain((!coverage.is_enough()).then_some(Void::Coverage)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_does_something_else_or_too_little_of_it_is_void() {
        let coverage = |traced, repeated| ReplayCoverage { traced, repeated, left_out: Vec::new() };
        let agreement = |calls, agreed| Agreement { calls, agreed };
        assert_eq!(void(agreement(1000, 990), &coverage(100, 95)), []);
        assert_eq!(void(agreement(1000, 989), &coverage(100, 95)), [Void::Agreement]);
        assert_eq!(void(agreement(1000, 1000), &coverage(1000, 949)), [Void::Coverage]);
        assert_eq!(
            void(agreement(0, 0), &coverage(0, 0)),
            [Void::Coverage],
            "of nothing that came back nothing is said"
        );
    }
}
