//! The synthetic job set-up: what each copy asks of the tree that all of them share.

use serde::{Deserialize, Serialize};

use super::spec::names;
use crate::{Nanoseconds, counted, format_bytes, format_count};

/// A million of a million is all.
pub const MILLION: u32 = 1_000_000;

/// Parameters of `iolag bench setup`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUpSpec {
    /// Whose counts these are, if they are those of a trace that iolag knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<SetUpPreset>,
    /// stat calls of each copy.
    pub stats: u64,
    /// open calls of each copy.
    pub opens: u64,
    /// How many of a million of either look for what is not there.
    pub misses_per_million: u32,
    /// Directories that a copy looks in.
    pub directories: u32,
    /// Files in each of them.
    pub files: u64,
    /// How many of a million directories all copies share; the others each has for itself.
    pub shared_per_million: u32,
    /// Bytes of a file, all of which are read after an open.
    pub file_bytes: u64,
    /// A copy that takes longer than this is told; nothing is done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_ns: Option<Nanoseconds>,
    /// A copy is ended after this long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kill_after_ns: Option<Nanoseconds>,
}

/// A job set-up of which the calls were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetUpPreset {
    /// The set-up of LHCb's applications as CC-IN2P3 traced it in 2010 (study 002).
    Lhcb,
}
names!(SetUpPreset { Lhcb = "lhcb" });

impl SetUpPreset {
    /// How many stat and open calls were traced.
    pub const fn counts(self) -> (u64, u64) {
        match self {
            Self::Lhcb => (110_765, 17_868),
        }
    }
}

impl SetUpSpec {
    /// How many of so many calls look for what is not there.
    pub fn misses_of(&self, calls: u64) -> u64 {
        part(calls, self.misses_per_million)
    }

    /// Directories that all copies share.
    pub fn shared_directories(&self) -> u32 {
        part(u64::from(self.directories), self.shared_per_million) as u32
    }

    /// Opens that are followed by a read and a close.
    pub fn reads(&self) -> u64 {
        self.opens.saturating_sub(self.misses_of(self.opens))
    }

    /// Calls of a copy, those included that follow an open.
    pub fn calls(&self) -> u64 {
        self.stats.saturating_add(self.opens).saturating_add(self.reads().saturating_mul(2))
    }

    /// What each copy does that nobody has counted, as sentences: numbers of calls say neither of what nor in which order.
    pub fn assumed(&self) -> Vec<String> {
        let share = |per_million: u32| format!("{} %", f64::from(per_million) / 10_000.0);
        vec![
            format!("{} of stat and of open calls look for names that are not there", share(self.misses_per_million)),
            format!(
                "{} of {} of {} each, one level deep, of which all copies share {}",
                counted(u64::from(self.directories), "directory", "directories"),
                counted(self.files, "file", "files"),
                format_bytes(self.file_bytes),
                format_count(u64::from(self.shared_directories()))
            ),
            "each opened file is read to its end; calls follow each other without a pause, in an order of each copy's own"
                .to_owned(),
        ]
    }
}

/// So many of a million, to the nearest whole number.
fn part(all: u64, per_million: u32) -> u64 {
    let exact = u128::from(all) * u128::from(per_million.min(MILLION));
    ((exact + u128::from(MILLION) / 2) / u128::from(MILLION)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_and_never_more_than_all() {
        assert_eq!((part(17_868, 0), part(17_868, MILLION), part(17_868, u32::MAX)), (0, 17_868, 17_868));
        assert_eq!((part(3, 500_000), part(1, 499_999), part(u64::MAX, MILLION)), (2, 0, u64::MAX));
    }

    #[test]
    fn the_study_counted_so_many_calls() {
        assert_eq!(SetUpPreset::Lhcb.counts(), (110_765, 17_868));
    }
}
