//! Episodes: the times in which a target was in trouble, for the report of an incident.
//!
//! A trouble is an attempt that was slow, late, failed, timed out, hung or was skipped; it lasts from its start
//! to its end or age. Troubles of a target less than the gap apart belong to one episode, whatever their order:
//! episodes are the connected intervals, so that merging keeps them (property test).
//!
//! Slow means: longer than the largest threshold that an attempt of the series passed which succeeded in time.
//! A series of which more than half the attempts are slow is slow all the time; that is no episode.

use iolag_model::{MonotonicTime, Nanoseconds, TargetIndex};
use serde::{Deserialize, Serialize};

/// A maximal interval of trouble on one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Episode {
    /// The target.
    pub target: TargetIndex,
    /// Start of the first attempt in trouble.
    pub begin_ns: MonotonicTime,
    /// Last end of one, or the last look at what had not ended.
    pub end_ns: MonotonicTime,
    /// The attempt that took longest or had waited longest.
    pub peak: Peak,
    /// Attempts in trouble, by kind.
    pub troubles: TroubleCounts,
    /// The greatest age of an attempt that had not ended.
    pub longest_wait_ns: Option<Nanoseconds>,
    /// The series that were in trouble, by their indices.
    pub series: Vec<EpisodeSeries>,
}

/// One series within an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EpisodeSeries {
    /// Its index.
    pub series: u16,
    /// Slow means longer than this; absent if slowness is not counted.
    pub threshold_ns: Option<Nanoseconds>,
    /// Its attempts in trouble.
    pub troubles: TroubleCounts,
}

/// The worst attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Peak {
    /// Its series.
    pub series: u16,
    /// When it started.
    pub start_ns: MonotonicTime,
    /// How long it took, or its age.
    pub duration_ns: Nanoseconds,
}

/// Attempts in trouble, by kind; each is counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TroubleCounts {
    /// Succeeded in time, but slow.
    pub slow: u64,
    /// Succeeded after their deadline.
    pub late: u64,
    /// Failed.
    pub failed: u64,
    /// Ended at their deadline.
    pub timeout: u64,
    /// Had not ended.
    pub hung: u64,
    /// Were due and not started.
    pub skipped: u64,
}

/// Troubles closer than this belong together: 1/500 of the span, at least 1 s, at most 1 h.
pub fn gap_of(span: Nanoseconds) -> Nanoseconds {
    let (second, hour) = (Nanoseconds::from_seconds(1), Nanoseconds::from_seconds(3600));
    Nanoseconds(span.0 / 500).clamp(second, hour)
}

/// An attempt in trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// Its target.
    pub target: TargetIndex,
    /// Index of its series.
    pub series: u16,
    /// What the trouble is.
    pub kind: TroubleKind,
    /// When it started.
    pub start_ns: MonotonicTime,
    /// How long it took, or its age.
    pub duration_ns: Nanoseconds,
}

/// What the trouble of an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a field of TroubleCounts")]
pub enum TroubleKind {
    Slow,
    Late,
    Failed,
    Timeout,
    Hung,
    Skipped,
}

impl TroubleCounts {
    fn of(kind: TroubleKind) -> Self {
        let mut counts = Self::default();
        let count = match kind {
            TroubleKind::Slow => &mut counts.slow,
            TroubleKind::Late => &mut counts.late,
            TroubleKind::Failed => &mut counts.failed,
            TroubleKind::Timeout => &mut counts.timeout,
            TroubleKind::Hung => &mut counts.hung,
            TroubleKind::Skipped => &mut counts.skipped,
        };
        *count = 1;
        counts
    }

    fn add(&mut self, other: Self) {
        self.slow += other.slow;
        self.late += other.late;
        self.failed += other.failed;
        self.timeout += other.timeout;
        self.hung += other.hung;
        self.skipped += other.skipped;
    }
}

/// The episodes of these troubles, by target and time. `threshold_ns` tells for a series what slow means.
pub fn episodes(
    troubles: &[Trouble],
    gap: Nanoseconds,
    threshold_ns: impl Fn(u16) -> Option<Nanoseconds>,
) -> Vec<Episode> {
    let spells = troubles.iter().map(|trouble| {
        let spell = Spell::of(trouble.kind, trouble.start_ns, trouble.duration_ns);
        TargetSpell { target: trouble.target, series: trouble.series, spell }
    });
    join_spells(spells.collect(), gap, threshold_ns)
}

/// Troubles of one series that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spell {
    begin_ns: u64,
    end_ns: u64,
    counts: TroubleCounts,
    peak_start_ns: u64,
    peak_ns: u64,
    longest_wait_ns: Option<u64>,
}

impl Spell {
    pub(crate) fn of(kind: TroubleKind, start: MonotonicTime, duration: Nanoseconds) -> Self {
        let waits = matches!(kind, TroubleKind::Hung | TroubleKind::Timeout | TroubleKind::Skipped);
        Self {
            begin_ns: start.0,
            end_ns: start.after(duration).0,
            counts: TroubleCounts::of(kind),
            peak_start_ns: start.0,
            peak_ns: duration.0,
            longest_wait_ns: waits.then_some(duration.0),
        }
    }

    fn is_near(&self, other: &Self, gap: Nanoseconds) -> bool {
        other.begin_ns <= self.end_ns.saturating_add(gap.0)
            && self.begin_ns <= other.end_ns.saturating_add(gap.0)
    }

    fn absorb(&mut self, other: &Self) {
        self.begin_ns = self.begin_ns.min(other.begin_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.counts.add(other.counts);
        if other.peak_rank() > self.peak_rank() {
            (self.peak_ns, self.peak_start_ns) = (other.peak_ns, other.peak_start_ns);
        }
        self.longest_wait_ns = self.longest_wait_ns.max(other.longest_wait_ns);
    }

    /// The longest is the peak; of equal ones the first.
    const fn peak_rank(&self) -> (u64, u64) {
        (self.peak_ns, u64::MAX - self.peak_start_ns)
    }
}

/// Spells of one series while troubles arrive, in about the order of their starts. Memory: as many spells as
/// gaps fit into the span.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spells {
    spells: Vec<Spell>,
    /// Tidied up when there are more.
    room: usize,
}

impl Spells {
    pub(crate) fn add(&mut self, spell: Spell, gap: Nanoseconds) {
        match self.spells.last_mut() {
            Some(last) if last.is_near(&spell, gap) => last.absorb(&spell),
            _ => self.spells.push(spell),
        }
        if self.spells.len() > self.room.max(1024) {
            self.tidy(gap);
            self.room = self.spells.len() * 2;
        }
    }

    pub(crate) fn merge(&mut self, other: Self, gap: Nanoseconds) {
        self.spells.extend(other.spells);
        self.tidy(gap);
    }

    /// Joins what is near, whatever the order in which it came.
    fn tidy(&mut self, gap: Nanoseconds) {
        self.spells.sort_unstable_by_key(|spell| (spell.begin_ns, spell.end_ns));
        let mut joined: Vec<Spell> = Vec::new();
        for spell in self.spells.drain(..) {
            match joined.last_mut() {
                Some(last) if last.is_near(&spell, gap) => last.absorb(&spell),
                _ => joined.push(spell),
            }
        }
        self.spells = joined;
    }

    pub(crate) fn of_series(&self, target: TargetIndex, series: u16) -> impl Iterator<Item = TargetSpell> {
        self.spells.iter().map(move |spell| TargetSpell { target, series, spell: *spell })
    }
}

/// A spell with where it belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetSpell {
    pub(crate) target: TargetIndex,
    pub(crate) series: u16,
    pub(crate) spell: Spell,
}

/// Joins the spells of all series of a target.
pub(crate) fn join_spells(
    mut spells: Vec<TargetSpell>,
    gap: Nanoseconds,
    threshold_ns: impl Fn(u16) -> Option<Nanoseconds>,
) -> Vec<Episode> {
    spells.sort_unstable_by_key(|own| (own.target, own.spell.begin_ns, own.spell.end_ns, own.series));
    let mut joined: Vec<(Spell, Vec<TargetSpell>)> = Vec::new();
    for own in spells {
        match joined.last_mut() {
            Some((all, members)) if members[0].target == own.target && all.is_near(&own.spell, gap) => {
                all.absorb(&own.spell);
                members.push(own);
            }
            _ => joined.push((own.spell, vec![own])),
        }
    }
    joined.into_iter().map(|(all, members)| episode_of(&all, &members, &threshold_ns)).collect()
}

fn episode_of(
    all: &Spell,
    members: &[TargetSpell],
    threshold_ns: &impl Fn(u16) -> Option<Nanoseconds>,
) -> Episode {
    let mut series: Vec<EpisodeSeries> = Vec::new();
    for member in members {
        match series.iter_mut().find(|known| known.series == member.series) {
            Some(known) => known.troubles.add(member.spell.counts),
            None => series.push(EpisodeSeries {
                series: member.series,
                threshold_ns: threshold_ns(member.series),
                troubles: member.spell.counts,
            }),
        }
    }
    series.sort_unstable_by_key(|known| known.series);
    let at_peak = |member: &&TargetSpell| member.spell.peak_rank() == all.peak_rank();
    let peak_series = members.iter().filter(at_peak).map(|member| member.series).min();
    Episode {
        target: members[0].target,
        begin_ns: MonotonicTime(all.begin_ns),
        end_ns: MonotonicTime(all.end_ns),
        peak: Peak {
            series: peak_series.unwrap_or(members[0].series),
            start_ns: MonotonicTime(all.peak_start_ns),
            duration_ns: Nanoseconds(all.peak_ns),
        },
        troubles: all.counts,
        longest_wait_ns: all.longest_wait_ns.map(Nanoseconds),
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    fn trouble(target: u16, series: u16, kind: TroubleKind, start_s: u64, seconds: u64) -> Trouble {
        Trouble {
            target: TargetIndex(target),
            series,
            kind,
            start_ns: MonotonicTime(start_s * S),
            duration_ns: Nanoseconds(seconds * S),
        }
    }

    #[test]
    fn an_ls_that_hung_while_a_big_write_ran_is_one_episode() {
        // Study 001: listings hung for minutes while 128 GB were written; later one more slow moment.
        let troubles = [
            trouble(0, 1, TroubleKind::Slow, 500, 3),
            trouble(0, 0, TroubleKind::Slow, 100, 20),
            trouble(0, 1, TroubleKind::Hung, 110, 840),
            trouble(0, 0, TroubleKind::Failed, 121, 0),
            trouble(0, 0, TroubleKind::Slow, 1000, 12),
            trouble(1, 2, TroubleKind::Timeout, 130, 15),
        ];
        let episodes = episodes(&troubles, Nanoseconds(2 * S), |_| Some(Nanoseconds(S)));
        let spans: Vec<_> =
            episodes.iter().map(|own| (own.target.0, own.begin_ns.0 / S, own.end_ns.0 / S)).collect();
        assert_eq!(spans, [(0, 100, 950), (0, 1000, 1012), (1, 130, 145)]);
        let hang = &episodes[0];
        assert_eq!(hang.troubles, TroubleCounts { slow: 2, failed: 1, hung: 1, ..Default::default() });
        assert_eq!(hang.longest_wait_ns, Some(Nanoseconds(840 * S)));
        assert_eq!((hang.peak.series, hang.peak.start_ns.0, hang.peak.duration_ns.0), (1, 110 * S, 840 * S));
        assert_eq!(hang.series.iter().map(|own| own.series).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(hang.series[1].troubles, TroubleCounts { slow: 1, hung: 1, ..Default::default() });
    }

    #[test]
    fn the_gap_follows_the_span_within_bounds() {
        assert_eq!(gap_of(Nanoseconds(10 * S)), Nanoseconds(S));
        assert_eq!(gap_of(Nanoseconds(5000 * S)), Nanoseconds(10 * S));
        assert_eq!(gap_of(Nanoseconds(365 * 86_400 * S)), Nanoseconds(3600 * S));
    }

    fn troubles() -> impl Strategy<Value = Vec<(u16, u64, u64)>> {
        prop::collection::vec((0_u16..3, 0_u64..10_000, 0_u64..40), 0..200)
    }

    proptest! {
        #[test]
        fn spells_in_any_order_make_the_same_episodes(drawn in troubles(), split in 0_usize..200) {
            let gap = Nanoseconds(5);
            let all: Vec<Trouble> = drawn
                .iter()
                .map(|&(series, start, duration)| Trouble {
                    target: TargetIndex(0),
                    series,
                    kind: if duration % 2 == 0 { TroubleKind::Slow } else { TroubleKind::Hung },
                    start_ns: MonotonicTime(start),
                    duration_ns: Nanoseconds(duration),
                })
                .collect();
            let spells_of = |part: &[Trouble], series: u16| {
                let mut spells = Spells::default();
                for own in part.iter().filter(|own| own.series == series) {
                    spells.add(Spell::of(own.kind, own.start_ns, own.duration_ns), gap);
                }
                spells
            };
            let (first, second) = all.split_at(split.min(all.len()));
            let mut spells = Vec::new();
            for series in 0..3 {
                let mut merged = spells_of(first, series);
                merged.merge(spells_of(second, series), gap);
                spells.extend(merged.of_series(TargetIndex(0), series));
            }
            let found = join_spells(spells, gap, |_| None);
            prop_assert_eq!(&found, &episodes(&all, gap, |_| None));
            let counted: u64 = found.iter().map(|own| own.troubles.slow + own.troubles.hung).sum();
            prop_assert_eq!(counted, all.len() as u64);
            for pair in found.windows(2) {
                prop_assert!(pair[1].begin_ns.0 > pair[0].end_ns.0 + gap.0);
            }
        }
    }
}
