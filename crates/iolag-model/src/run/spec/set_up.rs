//! The synthetic job set-up: what each copy asks of the tree that all of them share.

use serde::{Deserialize, Serialize};

use super::{JobTerms, names};
use crate::{Nanoseconds, counted, format_bytes, format_count};

/// A million of a million is all.
pub const MILLION: u32 = 1_000_000;

/// Parameters of `iolag bench setup`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUpSpec {
    /// Whose counts these are, if they are those of a trace that iolag knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<SetUpPreset>,
    /// What was traced whose calls these are as many as, if that is where they come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// stat calls of each copy.
    pub stats: u64,
    /// open calls of each copy.
    pub opens: u64,
    /// How many of a million of either look for what is not there.
    pub misses_per_million: u32,
    /// How many of a million open calls do, if that is another share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_misses_per_million: Option<u32>,
    /// Directories that a copy looks in.
    pub directories: u32,
    /// Files in each of them.
    pub files: u64,
    /// How many of a million directories all copies share; the others each has for itself.
    pub shared_per_million: u32,
    /// Bytes of a file, all of which are read after an open.
    pub file_bytes: u64,
    /// What is asked of the copies.
    #[serde(flatten)]
    pub terms: JobTerms,
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
    /// The synthetic job of study 002: 100,000 stat and 7,000 open calls. What the study does not say is assumed.
    pub const fn synthetic() -> Self {
        Self {
            preset: None,
            like: None,
            stats: 100_000,
            opens: 7_000,
            misses_per_million: MILLION / 5 * 4,
            open_misses_per_million: None,
            directories: 40,
            files: 100,
            shared_per_million: MILLION,
            file_bytes: 4096,
            terms: JobTerms::NONE,
            kill_after_ns: None,
        }
    }

    /// How many stat calls look for what is not there.
    pub fn stat_misses(&self) -> u64 {
        part(self.stats, self.misses_per_million)
    }

    /// How many open calls do.
    pub fn open_misses(&self) -> u64 {
        part(self.opens, self.open_misses_per_million.unwrap_or(self.misses_per_million))
    }

    /// Directories that all copies share.
    pub fn shared_directories(&self) -> u32 {
        part(u64::from(self.directories), self.shared_per_million) as u32
    }

    /// Opens that are followed by a read and a close.
    pub fn reads(&self) -> u64 {
        self.opens.saturating_sub(self.open_misses())
    }

    /// Calls of a copy, those included that follow an open.
    pub fn calls(&self) -> u64 {
        self.stats.saturating_add(self.opens).saturating_add(self.reads().saturating_mul(2))
    }

    /// What each copy does that nobody has counted, as sentences: numbers of calls say neither of what nor in which order.
    pub fn assumed(&self) -> Vec<String> {
        // To a tenth: a trace says no more of other executions.
        let share = |per_million: u32| format!("{} %", f64::from((per_million + 500) / 1000) / 10.0);
        let misses = match self.open_misses_per_million {
            Some(of_opens) if of_opens != self.misses_per_million => {
                format!("{} of stat and {} of open calls", share(self.misses_per_million), share(of_opens))
            }
            _ => format!("{} of stat and of open calls", share(self.misses_per_million)),
        };
        let tree = format!(
            "{} of {} of {} each, one level deep, of which all copies share {}",
            counted(u64::from(self.directories), "directory", "directories"),
            counted(self.files, "file", "files"),
            format_bytes(self.file_bytes),
            format_count(u64::from(self.shared_directories()))
        );
        let order = "each opened file is read to its end; calls follow each other without a pause, in an order of each copy's own";
        match self.like {
            Some(_) => vec![
                format!("what is not there is looked for in directories that are there ({misses})"),
                format!(
                    "what was found lies evenly in {tree}, and a file is as large as what was read of one on average"
                ),
                order.to_owned(),
            ],
            None => vec![format!("{misses} look for names that are not there"), tree, order.to_owned()],
        }
    }
}

/// What a program asked until it was set up, as its trace says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUpCounts {
    /// What it is called.
    pub program: Option<String>,
    /// Calls that ask for what is known of a name: stat, access, readlink and the like.
    pub stats: u64,
    /// Those of a name that was not there.
    pub stats_absent: u64,
    /// Calls that open what is there.
    pub opens: u64,
    /// Those of a name that was not there.
    pub opens_absent: u64,
    /// Names at which something was found.
    pub files: u64,
    /// Directories that these lie in.
    pub directories: u64,
    /// Times that one was opened of which something was read.
    pub opens_read: u64,
    /// What was read.
    pub read_bytes: u64,
}

impl SetUpCounts {
    /// A set-up of as many calls, misses, directories, files and bytes, which all copies share. What was traced is called `like`.
    pub fn spec(&self, like: String) -> SetUpSpec {
        let per_million = |some: u64, all: u64| {
            let exact =
                (u128::from(some) * u128::from(MILLION) + u128::from(all) / 2) / u128::from(all.max(1));
            u32::try_from(exact).unwrap_or(MILLION)
        };
        let directories = u32::try_from(self.directories.max(1)).unwrap_or(u32::MAX);
        SetUpSpec {
            like: Some(like),
            stats: self.stats,
            opens: self.opens,
            misses_per_million: per_million(self.stats_absent, self.stats),
            open_misses_per_million: Some(per_million(self.opens_absent, self.opens)),
            directories,
            files: self.files.div_ceil(u64::from(directories)).max(1),
            file_bytes: self.read_bytes.div_ceil(self.opens_read.max(1)),
            ..SetUpSpec::synthetic()
        }
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
    fn a_set_up_like_a_trace_asks_as_often_for_as_much() {
        let counts = SetUpCounts {
            program: Some("python3".to_owned()),
            stats: 991,
            stats_absent: 37,
            opens: 133,
            opens_absent: 19,
            files: 1001,
            directories: 10,
            opens_read: 57,
            read_bytes: 57 * 5000 + 1,
        };
        let spec = counts.spec("python3".to_owned());
        assert_eq!((spec.stats, spec.stat_misses(), spec.opens, spec.open_misses()), (991, 37, 133, 19));
        assert_eq!((spec.directories, spec.files, spec.file_bytes, spec.reads()), (10, 101, 5001, 114));
        assert!(
            spec.assumed()[0].ends_with("(3.7 % of stat and 14.3 % of open calls)"),
            "{:?}",
            spec.assumed()
        );
        let nothing = SetUpCounts::default().spec(String::new());
        assert_eq!((nothing.directories, nothing.files, nothing.file_bytes), (1, 1, 0));
    }

    #[test]
    fn the_study_counted_so_many_calls() {
        assert_eq!(SetUpPreset::Lhcb.counts(), (110_765, 17_868));
    }
}
