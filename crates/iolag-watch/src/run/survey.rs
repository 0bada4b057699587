//! What the agenda asks, answered from what is known of the plan's targets and of the probes in flight.

use iolag_model::{MonotonicTime, ProbeId};

use crate::probe::flights::Flights;
use crate::targets::health::TargetHealth;
use crate::{MountKey, Subject, Surveyor, WatchPlan};

/// Borrowed for one question.
pub(crate) struct Survey<'s> {
    pub plan: &'s WatchPlan,
    pub health: &'s TargetHealth<'s>,
    pub flights: &'s Flights<'s>,
}

impl Surveyor for Survey<'_> {
    fn mount_of(&self, subject: Subject) -> MountKey {
        match subject {
            Subject::Task { target, .. } => self.health.mounts().key_of(target).clone(),
            Subject::Covariate(index) => MountKey::Covariate(self.plan.covariates[index].name.clone()),
        }
    }

    fn is_visited(&self, mount: &MountKey) -> bool {
        self.health.lookups().visits(mount)
    }

    fn begun(&self, probe: ProbeId) -> Option<MonotonicTime> {
        self.flights.get(probe)?.begun()
    }
}
