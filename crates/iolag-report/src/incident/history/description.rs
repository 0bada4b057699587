//! What happened, where, when and for how long, in sentences.

use iolag_analysis::Severity;
use iolag_analysis::history::{Episode, Knowledge, Quantity, RaisedLevel, SeriesEpisode, time_in_gaps};
use iolag_model::{Nanoseconds, Outage, OutageEnding, WallTime, counted, format_count, format_duration};

use super::report::IncidentHistory;
use crate::finding::history::findings_in_words;
use crate::words::history::known;
use crate::words::markdown::{OPEN, escape, push};

/// Bad times outside outages that are told one by one.
const WORST_MOST: usize = 3;
/// More places without answer, and raised levels, than this are counted.
const TOLD_MOST: usize = 10;

impl IncidentHistory<'_> {
    pub(super) fn push_description(&self, text: &mut String) {
        text.push_str("## Description\n\n");
        if self.incident.bad_times.is_empty() {
            self.push_nothing_amiss(text);
        } else {
            let mut sentences = capped(self.outage_sentences(), "places");
            sentences.extend(capped(
                self.incident.raised_levels.iter().map(|level| self.level_sentence(level)).collect(),
                "raised levels",
            ));
            sentences.extend(self.episode_sentences());
            for sentence in sentences {
                push(text, format_args!("- {sentence}"));
            }
            text.push('\n');
        }
        self.push_gaps(text);
        push(text, format_args!("{OPEN} (what users saw, which services and communities were concerned)\n"));
    }

    fn push_nothing_amiss(&self, text: &mut String) {
        let (Some(begin), Some(end)) = (self.analysis.begin, self.analysis.end) else {
            text.push_str(
                "There is no sample of that time in the history: ask for another with --since and --until, or import measurements.\n\n",
            );
            return;
        };
        let attempts =
            self.incident.impacts.iter().flat_map(|one| &one.periods).map(|one| one.rates.attempts);
        let attempts = counted(attempts.sum(), "attempt", "attempts");
        let (begin, end) = (self.moment(begin), self.moment(end));
        let grave = self.serious_findings();
        if grave.is_empty() {
            push(
                text,
                format_args!(
                    "Nothing amiss was found in {attempts} from {begin} to {end}: no mount was without answer, no task was bad for longer \
                     than a moment, and none rose to a level that people notice.{}\n",
                    if self.has_warnings() {
                        " What was found all the same stands under Analysis."
                    } else {
                        ""
                    }
                ),
            );
            return;
        }
        push(
            text,
            format_args!(
                "In {attempts} from {begin} to {end} no mount was without answer, no task was bad for longer than a moment, and none rose \
                 to a level that people notice at once. But there is something amiss (moments in UTC; all of it stands under Analysis):\n"
            ),
        );
        for sentence in capped(grave, "findings") {
            push(text, format_args!("- {sentence}"));
        }
        text.push('\n');
    }

    fn has_warnings(&self) -> bool {
        self.analysis.findings.iter().any(|one| one.severity != Severity::Note)
    }

    /// Their sentences; escaped.
    fn serious_findings(&self) -> Vec<String> {
        let told = findings_in_words(self.analysis).into_iter();
        told.filter(|one| one.severity == Severity::Serious).map(|one| escape(&one.sentence)).collect()
    }

    /// One for each mount as a host sees it, and for what it did, the longest first.
    fn outage_sentences(&self) -> Vec<String> {
        let mut outages: Vec<&Outage> = self.analysis.outages.iter().collect();
        let place = |outage: &Outage| (outage.host.clone(), outage.mount.clone(), outage.kind);
        outages.sort_by_key(|outage| (place(outage), outage.begin));
        let mut groups: Vec<Vec<&Outage>> =
            outages.chunk_by(|one, other| place(one) == place(other)).map(<[_]>::to_vec).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(self.sum(group)));
        groups.iter().map(|group| self.outages_sentence(group)).collect()
    }

    fn sum(&self, outages: &[&Outage]) -> Nanoseconds {
        Nanoseconds(outages.iter().map(|outage| self.length(outage).0).sum())
    }

    /// So far, if it lasts.
    pub(super) fn length(&self, outage: &Outage) -> Nanoseconds {
        outage.end.unwrap_or_else(|| self.known_until()).since(outage.begin)
    }

    fn known_until(&self) -> WallTime {
        self.incident.span().map_or(WallTime(0), |span| span.end)
    }

    fn outages_sentence(&self, outages: &[&Outage]) -> String {
        let Some(longest) = outages.iter().max_by_key(|outage| self.length(outage)) else {
            return String::new();
        };
        let (place, what) = (self.place(&longest.host, &longest.place()), longest.kind.verb(true));
        let told = self.outage_in_words(longest);
        let skipped: u64 = outages.iter().map(|outage| outage.skipped).sum();
        let skipped = match skipped {
            0 => String::new(),
            count => format!("; {} skipped", counted(count, "slot was", "slots were")),
        };
        match outages.len() {
            1 => format!("{place} {what} {told}{skipped}."),
            count => format!(
                "{place} {what} {}, for {} in all, the longest time {told}{skipped}.",
                times(count),
                format_duration(self.sum(outages))
            ),
        }
    }

    fn outage_in_words(&self, outage: &Outage) -> String {
        let length = format_duration(self.length(outage));
        let begin = self.moment(outage.begin);
        match outage.end {
            Some(end) => {
                format!("from {begin} to {} ({length}): {}", self.moment(end), ending_in_words(outage.ending))
            }
            None => format!("since {begin} (at least {length}): {}", ending_in_words(None)),
        }
    }

    fn level_sentence(&self, level: &RaisedLevel) -> String {
        let amount = |seconds, knowledge| known(seconds, knowledge, Quantity::Duration);
        let until = match level.is_ongoing {
            true => "and did not fall again".to_owned(),
            false => format!("until {}", self.moment(level.end)),
        };
        format!(
            "{} of {} took {} instead of {} (medians) from {} on, {until}.",
            escape(&level.series.task),
            self.place(&level.series.host, &level.series.target),
            amount(level.raised, level.raised_is),
            amount(level.usual, level.usual_is),
            self.moment(level.begin)
        )
    }

    /// The worst bad times that are no outages.
    fn episode_sentences(&self) -> Vec<String> {
        let is_told = |one: &&Episode| !one.is_of_outages(&self.analysis.outages);
        let mut episodes: Vec<&Episode> = self.episodes().filter(is_told).collect();
        let count = episodes.len();
        episodes.sort_by(|one, other| badness(other).total_cmp(&badness(one)));
        episodes.truncate(WORST_MOST);
        let mut sentences: Vec<String> = episodes.iter().map(|one| self.episode_sentence(one)).collect();
        if count > sentences.len() {
            let others = counted((count - sentences.len()) as u64, "lesser bad time", "lesser bad times");
            sentences.push(format!("{others} outside outages are in the time line or counted there."));
        }
        sentences
    }

    fn episode_sentence(&self, episode: &Episode) -> String {
        let peak = longest(episode).map_or_else(String::new, |one| {
            let place = self.place(&one.series.host, &one.series.target);
            let amount = known(one.peak.unwrap_or(0.0), one.peak_is, Quantity::Duration);
            format!("; at the worst {} of {place} took {amount}", escape(&one.series.task))
        });
        let until = match episode.is_ongoing {
            true => format!("{}, and not over by then", self.moment(episode.end)),
            false => self.moment(episode.end),
        };
        let length = format_duration(episode.end.since(episode.begin));
        format!("From {} to {until} ({length}) storage was bad{peak}.", self.moment(episode.begin))
    }

    /// Those that belong to the incident.
    pub(super) fn episodes(&self) -> impl Iterator<Item = &Episode> {
        self.incident.episodes.iter().filter_map(|index| self.analysis.episodes.get(*index))
    }

    /// Times in which nobody watched are no good times.
    fn push_gaps(&self, text: &mut String) {
        let gaps = &self.analysis.gaps;
        if !gaps.is_empty() {
            push(
                text,
                format_args!(
                    "Nothing is known of {} in {}: there is no sample of that time (see the time line).\n",
                    format_duration(time_in_gaps(gaps)),
                    counted(gaps.len() as u64, "gap", "gaps")
                ),
            );
        }
    }
}

/// `it recovered by itself`, `it is not over`.
pub(super) const fn ending_in_words(ending: Option<OutageEnding>) -> &'static str {
    match ending {
        Some(OutageEnding::Recovered) => "it recovered by itself",
        Some(OutageEnding::Remounted) => "it was mounted again",
        Some(OutageEnding::Unmounted) => "it was unmounted",
        Some(OutageEnding::Rebooted) => "the machine was started again",
        None => "it is not over, as far as is known",
    }
}

/// The series that took longest.
pub(super) fn longest(episode: &Episode) -> Option<&SeriesEpisode> {
    let peak = |one: &SeriesEpisode| (one.peak.unwrap_or(0.0), one.peak_is == Knowledge::AtLeast);
    let known = episode.series.iter().filter(|one| one.peak.is_some());
    known.max_by(|one, other| peak(one).0.total_cmp(&peak(other).0).then(peak(one).1.cmp(&peak(other).1)))
}

/// Seconds: its length, or its longest attempt if that is longer.
pub(super) fn badness(episode: &Episode) -> f64 {
    let peak = longest(episode).and_then(|one| one.peak).unwrap_or(0.0);
    peak.max(episode.end.since(episode.begin).as_seconds())
}

fn capped(mut sentences: Vec<String>, noun: &str) -> Vec<String> {
    let more = sentences.len().saturating_sub(TOLD_MOST);
    sentences.truncate(TOLD_MOST);
    if more > 0 {
        sentences.push(format!("{more} more {noun} are told below or counted there."));
    }
    sentences
}

/// `once`, `12 times`.
fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", format_count(count as u64)) }
}
