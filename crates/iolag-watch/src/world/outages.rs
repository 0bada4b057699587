//! Outages: from when a mount is known not to answer until it is known to answer again, when another mount stands in its place, when it is gone,
//! or when the machine was started again. What proves either is decided elsewhere (targets/health.rs); this is the list.

use std::collections::BTreeMap;
use std::path::Path;

use iolag_model::{Outage, OutageEnding, WallTime};
use serde::{Deserialize, Serialize};

use crate::MountKey;

/// The outages that have not ended, by mount.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outages {
    open: BTreeMap<MountKey, Outage>,
}

/// How it stands at a mount point that was missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Nothing is mounted there still.
    Missing,
    /// Something is mounted there.
    Mounted,
    /// Nothing has to be mounted there any more.
    NotExpected,
}

/// One of them, as it is kept for a later watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenOutage {
    /// The mount that does not answer.
    pub mount: MountKey,
    /// What is known of it.
    pub outage: Outage,
}

impl Outages {
    /// Goes on with what an earlier watch of this boot left.
    pub fn resume(left: impl IntoIterator<Item = OpenOutage>) -> Self {
        Self { open: left.into_iter().map(|left| (left.mount, left.outage)).collect() }
    }

    /// Those that have not ended.
    pub fn open(&self) -> impl Iterator<Item = &Outage> {
        self.open.values()
    }

    /// Whether this mount does not answer.
    pub fn is_open(&self, mount: &MountKey) -> bool {
        self.open.contains_key(mount)
    }

    /// The same, to be kept.
    pub fn to_keep(&self) -> Vec<OpenOutage> {
        self.open
            .iter()
            .map(|(mount, outage)| OpenOutage { mount: mount.clone(), outage: outage.clone() })
            .collect()
    }

    /// This mount does not answer. Says whether this is news: then `outage` has begun.
    pub fn found(&mut self, mount: &MountKey, outage: Outage) -> Option<Outage> {
        if self.open.contains_key(mount) {
            return None;
        }
        self.open.insert(mount.clone(), outage.clone());
        Some(outage)
    }

    /// A slot of this mount was skipped.
    pub fn skipped(&mut self, mount: &MountKey) {
        if let Some(outage) = self.open.get_mut(mount) {
            outage.skipped += 1;
        }
    }

    /// The mount has answered. Says what to record if it had not before.
    pub fn answered(&mut self, mount: &MountKey, at: WallTime) -> Option<Outage> {
        self.open.remove(mount).map(|outage| over(outage, at, OutageEnding::Recovered))
    }

    /// Mount points that were missing may be there again, as `presence` says of each. Says what to record of those that are missing no more.
    pub fn found_again(&mut self, at: WallTime, presence: impl Fn(&Path) -> Presence) -> Vec<Outage> {
        let mut ended = Vec::new();
        self.open.retain(|mount, outage| {
            let MountKey::MountPoint(mount_point) = mount else { return true };
            let ending = match presence(Path::new(mount_point)) {
                Presence::Missing => return true,
                Presence::Mounted => OutageEnding::Remounted,
                Presence::NotExpected => OutageEnding::Recovered,
            };
            ended.push(over(outage.clone(), at, ending));
            false
        });
        ended
    }

    /// The kernel's table of mounts has changed; `device_at` says which device is mounted at a mount point now. Says what to record.
    pub fn remounted(&mut self, at: WallTime, device_at: impl Fn(&str) -> Option<String>) -> Vec<Outage> {
        let mut ended = Vec::new();
        self.open.retain(|mount, outage| {
            let MountKey::Device(device) = mount else { return true };
            let ending = match device_at(&outage.mount) {
                Some(present) if present == *device => return true,
                Some(_) => OutageEnding::Remounted,
                None => OutageEnding::Unmounted,
            };
            ended.push(over(outage.clone(), at, ending));
            false
        });
        ended
    }
}

/// An outage that a restart of the machine ended: at the latest when the present boot began, `at`.
pub fn ended_by_reboot(outage: Outage, at: WallTime) -> Outage {
    over(outage, at, OutageEnding::Rebooted)
}

fn over(mut outage: Outage, at: WallTime, ending: OutageEnding) -> Outage {
    // The wall clock may have been stepped back meanwhile.
    outage.end = Some(at.max(outage.begin));
    outage.ending = Some(ending);
    outage
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::ProbeId;

    fn home() -> MountKey {
        MountKey::Device("0:45".into())
    }

    fn found(outages: &mut Outages) -> Option<Outage> {
        let outage = Outage {
            kind: Default::default(),
            targets: Default::default(),
            host: "node".into(),
            mount: "/home".into(),
            probe: ProbeId(7),
            begin: WallTime(100),
            end: None,
            ending: None,
            skipped: 2,
        };
        outages.found(&home(), outage)
    }

    #[test]
    fn an_outage_is_news_once_and_counts_its_skipped_slots() {
        let mut outages = Outages::default();
        assert_eq!(found(&mut outages).unwrap().begin, WallTime(100));
        assert_eq!(found(&mut outages), None);
        outages.skipped(&home());
        outages.skipped(&MountKey::Target("other".into()));
        let mut outages = Outages::resume(outages.to_keep());
        let ended = outages.answered(&home(), WallTime(300)).unwrap();
        assert_eq!(
            (ended.end, ended.ending, ended.skipped),
            (Some(WallTime(300)), Some(OutageEnding::Recovered), 3)
        );
        assert_eq!(outages.answered(&home(), WallTime(400)), None);
        assert_eq!(outages.open().count(), 0);
    }

    #[test]
    fn a_mount_that_is_replaced_or_gone_ends_its_outage() {
        for (now, ending) in [
            (Some("0:45"), None),
            (Some("0:46"), Some(OutageEnding::Remounted)),
            (None, Some(OutageEnding::Unmounted)),
        ] {
            let mut outages = Outages::default();
            found(&mut outages);
            let ended = outages.remounted(WallTime(1), |point| {
                assert_eq!(point, "/home");
                now.map(str::to_owned)
            });
            assert_eq!(ended.first().and_then(|outage| outage.ending), ending);
            assert!(ended.iter().all(|outage| outage.end == Some(WallTime(100))));
            assert_eq!(outages.open().count(), usize::from(ending.is_none()));
        }
    }

    #[test]
    fn a_restarted_machine_ends_everything() {
        let outage = found(&mut Outages::default()).unwrap();
        assert_eq!(ended_by_reboot(outage, WallTime(500)).ending, Some(OutageEnding::Rebooted));
    }
}
