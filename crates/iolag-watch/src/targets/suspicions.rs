//! Suspicions: mounts on which a program is past its deadline, so that a canary asks whether they answer.

use std::collections::BTreeMap;

use iolag_model::{MonotonicTime, ProbeId};

use crate::MountKey;

/// Mounts on which a program is past its deadline, and when each mount is known to have answered last.
#[derive(Debug, Default)]
pub(crate) struct Suspicions {
    open: BTreeMap<MountKey, Suspicion>,
    answered: BTreeMap<MountKey, MonotonicTime>,
}

/// A program that is past its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Suspicion {
    /// Whose.
    pub probe: ProbeId,
    /// When it began to wait, as far as is known.
    pub since: MonotonicTime,
}

impl Suspicions {
    /// A mount may not answer. The first suspicion stands.
    pub fn suspect(&mut self, mount: MountKey, suspicion: Suspicion) {
        self.open.entry(mount).or_insert(suspicion);
    }

    /// The mount has answered.
    pub fn answered(&mut self, mount: &MountKey, at: MonotonicTime) {
        self.open.remove(mount);
        let last = self.answered.entry(mount.clone()).or_insert(at);
        *last = at.max(*last);
    }

    /// The canary has not come back. Says what was suspected, if anything was.
    pub fn silent(&mut self, mount: &MountKey) -> Option<Suspicion> {
        let suspicion = self.open.remove(mount)?;
        let last = self.answered.get(mount).copied();
        Some(Suspicion { since: last.map_or(suspicion.since, |last| last.max(suspicion.since)), ..suspicion })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_begins_with_what_waits_or_with_the_last_answer() {
        let (home, scratch) = (MountKey::Device("8:1".into()), MountKey::Device("0:30".into()));
        let suspicion = |since| Suspicion { probe: ProbeId(1), since: MonotonicTime(since) };
        let mut suspicions = Suspicions::default();
        assert_eq!(suspicions.silent(&home), None, "a canary that nobody sent out of suspicion");
        suspicions.suspect(home.clone(), suspicion(10));
        suspicions.suspect(home.clone(), suspicion(20));
        suspicions.answered(&scratch, MonotonicTime(30));
        assert_eq!(suspicions.silent(&home), Some(suspicion(10)));
        assert_eq!(suspicions.silent(&home), None, "it was told");

        suspicions.suspect(home.clone(), suspicion(10));
        suspicions.answered(&home, MonotonicTime(40));
        assert_eq!(suspicions.silent(&home), None, "it answered");
        // The same program still waits.
        suspicions.suspect(home.clone(), suspicion(10));
        assert_eq!(suspicions.silent(&home), Some(suspicion(40)));
    }
}
