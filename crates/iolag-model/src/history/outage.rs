//! Outages: when a mount did not answer, or was not mounted.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ProbeId, WallTime};

/// How an outage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum OutageEnding {
    /// The hung probe ended, on the same mount and boot.
    Recovered,
    /// Another mount stood in its place.
    Remounted,
    /// The mount is gone.
    Unmounted,
    /// The machine was started again: boot ids differ.
    Rebooted,
}

/// What a mount did in an outage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum OutageKind {
    /// It did not answer within the deadline.
    #[default]
    NoAnswer,
    /// It was not there: nothing was mounted where its targets had been seen on it.
    NotMounted,
}

impl OutageKind {
    /// What is said of a place: `/scratch did not answer`.
    pub const fn verb(self, is_over: bool) -> &'static str {
        match (self, is_over) {
            (Self::NoAnswer, false) => "does not answer",
            (Self::NoAnswer, true) => "did not answer",
            (Self::NotMounted, false) => "is not mounted",
            (Self::NotMounted, true) => "was not mounted",
        }
    }

    /// What is said of a place while it lasts: `/scratch has not answered since …`.
    pub const fn verb_since(self) -> &'static str {
        match self {
            Self::NoAnswer => "has not answered",
            Self::NotMounted => "has not been mounted",
        }
    }

    const fn is_usual(&self) -> bool {
        matches!(self, Self::NoAnswer)
    }
}

/// A time in which a mount did not answer, or was not there. Identified by host and first probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Outage {
    /// Which host.
    pub host: String,
    /// What the mount did.
    #[serde(default, skip_serializing_if = "OutageKind::is_usual")]
    pub kind: OutageKind,
    /// Mount point, or target if that is not known: for people.
    pub mount: String,
    /// Names of the targets that lie there, as their series have them. None are known of outages that were recorded before this was.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub targets: BTreeSet<String>,
    /// The probe that found it, or a name that no probe has.
    pub probe: ProbeId,
    /// From when on it is known.
    pub begin: WallTime,
    /// When it was over; absent while it lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<WallTime>,
    /// How it ended; absent while it lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<OutageEnding>,
    /// Slots that were skipped because of it.
    pub skipped: u64,
}

impl Outage {
    /// Whether it concerns this target of a host. Of an outage whose targets nobody knows only the one of its own name is certain.
    pub fn concerns(&self, host: &str, target: &str) -> bool {
        let is_of_target =
            if self.targets.is_empty() { self.mount == target } else { self.targets.contains(target) };
        self.host == host && is_of_target
    }

    /// Whether what concerns this target of its host, or all of them if it is empty, may have to do with it.
    pub fn may_come_with(&self, target: &str) -> bool {
        target.is_empty() || target == self.mount || self.concerns(&self.host, target)
    }

    /// The mount, and the targets there if they have other names: `/mnt/lustre (target scratch)`.
    pub fn place(&self) -> String {
        let targets: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        match targets.as_slice() {
            [] => self.mount.clone(),
            [one] if *one == self.mount => self.mount.clone(),
            [one] => format!("{} (target {one})", self.mount),
            [first @ .., last] if targets.len() <= TARGETS_NAMED_MOST => {
                format!("{} (targets {} and {last})", self.mount, first.join(", "))
            }
            _ => format!(
                "{} (targets {} and {} more)",
                self.mount,
                targets[..TARGETS_NAMED_MOST].join(", "),
                targets.len() - TARGETS_NAMED_MOST
            ),
        }
    }
}

/// Targets that are named with a mount.
const TARGETS_NAMED_MOST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_of_targets_and_not_of_what_is_called_alike() {
        let of = |mount: &str, targets: &[&str]| Outage {
            host: "login1".to_owned(),
            kind: OutageKind::NotMounted,
            mount: mount.to_owned(),
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            probe: ProbeId(7),
            begin: WallTime(0),
            end: None,
            ending: None,
            skipped: 0,
        };
        let root = of("/", &["/var/tmp"]);
        assert!(root.concerns("login1", "/var/tmp") && root.may_come_with("/") && root.may_come_with(""));
        assert!(!root.concerns("login1", "/home") && !root.concerns("login2", "/var/tmp"));
        assert!(!root.may_come_with("/home"));
        let places = [
            (of("/home", &[]), "/home"),
            (of("/home", &["/home"]), "/home"),
            (of("/mnt/lustre", &["scratch"]), "/mnt/lustre (target scratch)"),
            (of("/fs", &["/fs", "a"]), "/fs (targets /fs and a)"),
            (of("/fs", &["a", "b", "c"]), "/fs (targets a, b and c)"),
            (of("/fs", &["a", "b", "c", "d", "e"]), "/fs (targets a, b, c and 2 more)"),
        ];
        for (outage, place) in places {
            assert_eq!(outage.place(), place);
        }
        assert_eq!(
            (root.kind.verb(true), root.kind.verb_since()),
            ("was not mounted", "has not been mounted")
        );
    }
}
