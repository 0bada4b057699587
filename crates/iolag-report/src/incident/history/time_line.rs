//! Everything that has a moment, in the order of time.

use iolag_analysis::history::{
    ChangeMoment, ChangePoint, Episode, Gap, HistoryFindingKind, SeriesAnalysis, SeriesEpisode,
};
use iolag_model::{
    Event, EventSource, Nanoseconds, Outage, SeriesKind, WallTime, counted, format_count, format_duration,
};

use super::description::{badness, ending_in_words, longest};
use super::report::IncidentHistory;
use crate::finding::history::each_finding_in_words;
use crate::words::history::{event_apart, known, ratio};
use crate::words::markdown::{OPEN, escape, link, push};

/// More of a kind are counted: the longest or worst are told.
const OUTAGES_MOST: usize = 50;
const EPISODES_MOST: usize = 30;
const GAPS_MOST: usize = 20;
/// The latest that people noted or that come from lists, and changes of configuration.
const EVENTS_MOST: usize = 60;
/// Of the journal and of iolag itself: the first near a bad time.
const MESSAGES_MOST: usize = 20;
/// How near to a bad time these must be.
const NEAR: Nanoseconds = Nanoseconds::from_seconds(3600);

/// A line of the list. Ends come before begins of the same moment.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: WallTime,
    rank: u8,
    told: String,
}

/// Lines, and what was counted instead.
#[derive(Default)]
struct TimeLine {
    entries: Vec<Entry>,
    left_out: Vec<String>,
}

impl TimeLine {
    fn add(&mut self, at: WallTime, rank: u8, told: String) {
        self.entries.push(Entry { at, rank, told });
    }

    fn leave_out(&mut self, count: usize, one: &str, several: &str) {
        if count > 0 {
            self.left_out.push(counted(count as u64, one, several));
        }
    }
}

impl IncidentHistory<'_> {
    pub(super) fn push_time_line(&self, text: &mut String) {
        let zone = self.zone.iana_name().map_or_else(String::new, |name| format!(" ({})", escape(name)));
        push(text, format_args!("## Timeline\n\nTimes are local{zone}, with their offset from UTC.\n"));
        let mut line = TimeLine::default();
        self.add_outages(&mut line);
        self.add_events(&mut line);
        self.add_episodes(&mut line);
        self.add_configurations(&mut line);
        self.add_changes(&mut line);
        self.add_gaps(&mut line);
        line.entries.sort_unstable();
        push(text, format_args!("- **{OPEN}:** ticket opened: {OPEN}"));
        for entry in &line.entries {
            push(text, format_args!("- **{}:** {}", self.moment(entry.at), entry.told));
        }
        push(text, format_args!("- **{OPEN}:** cause found: {OPEN}"));
        push(text, format_args!("- **{OPEN}:** end of the incident; ticket closed: {OPEN}\n"));
        if !line.left_out.is_empty() {
            push(text, format_args!("Not told: {}.\n", line.left_out.join(", ")));
        }
    }

    fn add_outages(&self, line: &mut TimeLine) {
        let mut outages: Vec<&Outage> = self.analysis.outages.iter().collect();
        outages.sort_by_key(|outage| std::cmp::Reverse(self.length(outage)));
        line.leave_out(outages.len().saturating_sub(OUTAGES_MOST), "shorter outage", "shorter outages");
        for outage in outages.into_iter().take(OUTAGES_MOST) {
            let place = self.place(&outage.host, &outage.place());
            let skipped = match outage.skipped {
                0 => String::new(),
                count => format!(", {} skipped", counted(count, "slot", "slots")),
            };
            let so_far = if outage.end.is_none() { skipped.as_str() } else { "" };
            let what = outage.kind.verb(false);
            line.add(outage.begin, 3, format!("outage begins: {place} {what}{so_far}"));
            if let Some(end) = outage.end {
                let length = format_duration(self.length(outage));
                let ending = ending_in_words(outage.ending);
                line.add(end, 0, format!("outage ends after {length}: {place}: {ending}{skipped}"));
            }
        }
    }

    fn add_events(&self, line: &mut TimeLine) {
        let is_message = |event: &&Event| matches!(event.source, EventSource::Journal | EventSource::Watch);
        let (messages, told): (Vec<&Event>, Vec<&Event>) = self.analysis.events.iter().partition(is_message);
        let earlier = told.len().saturating_sub(EVENTS_MOST);
        line.leave_out(earlier, "earlier event", "earlier events");
        let is_near = |event: &&&Event| {
            let (begin, end) = (event.begin, event.end.unwrap_or(event.begin));
            let bad = &self.incident.bad_times;
            bad.iter().any(|bad| bad.begin.before(NEAR) <= end && begin <= bad.end.after(NEAR))
        };
        let near: Vec<&Event> = messages.iter().filter(is_near).take(MESSAGES_MOST).copied().collect();
        let others = messages.len() - near.len();
        line.leave_out(others, "message of the journal or of iolag", "messages of the journal or of iolag");
        for event in told[earlier..].iter().chain(&near) {
            line.add(event.begin, 2, self.event_in_words(event));
        }
    }

    fn event_in_words(&self, event: &Event) -> String {
        let source = match event.source {
            EventSource::Note => "note",
            EventSource::Configuration => "configuration changed",
            EventSource::List => "event",
            EventSource::Journal => "journal",
            EventSource::Watch => "iolag",
        };
        // iolag calls these by their source.
        let is_told = !event.kind.is_empty() && event.source != EventSource::Configuration;
        let kind = if is_told { format!(" ({})", escape(&event.kind)) } else { String::new() };
        let author = match event.author.as_str() {
            "" => String::new(),
            _ if event.source != EventSource::Note => String::new(),
            author => format!(" by {}", escape(author)),
        };
        let concerned = self.place(&event.host, &event.target);
        let concerned = if concerned.is_empty() { String::new() } else { format!(", {concerned}") };
        let until = event.end.map_or_else(String::new, |end| format!(" (until {})", self.moment(end)));
        let ticket = match &event.link {
            Some(address) => format!(" {}", link("ticket", address)),
            None if event.source == EventSource::Note => format!(" (ticket: {OPEN})"),
            None => String::new(),
        };
        format!("{source}{author}{kind}{concerned}: {}{until}{ticket}", escape(&event.text))
    }

    fn add_episodes(&self, line: &mut TimeLine) {
        let mut episodes: Vec<&Episode> = self.episodes().collect();
        let lesser = self.analysis.episodes.len() - episodes.len();
        episodes.sort_by(|one, other| badness(other).total_cmp(&badness(one)));
        let left_out = lesser + episodes.len().saturating_sub(EPISODES_MOST);
        line.leave_out(left_out, "lesser episode", "lesser episodes");
        for episode in episodes.into_iter().take(EPISODES_MOST) {
            line.add(episode.begin, 4, self.episode_in_words(episode));
        }
    }

    /// As in `bad for 1 h 57 min: create, list of /home on login1: 2 late or slow, 14 skipped; the longest 1 h 56 min (list)`.
    fn episode_in_words(&self, episode: &Episode) -> String {
        let mut places: Vec<(&str, Vec<&str>)> = Vec::new();
        for one in &episode.series {
            let (target, task) = (one.series.target.as_str(), one.series.task.as_str());
            match places.iter_mut().find(|place| place.0 == target) {
                Some(place) if !place.1.contains(&task) => place.1.push(task),
                Some(_) => {}
                None => places.push((target, vec![task])),
            }
        }
        let places: Vec<String> = places
            .iter()
            .map(|(target, tasks)| {
                format!("{} of {}", escape(&tasks.join(", ")), self.place(&episode.host, target))
            })
            .collect();
        let peak = longest(episode).map_or_else(String::new, |one| {
            let quantity = iolag_analysis::history::Quantity::Duration;
            let amount = known(one.peak.unwrap_or(0.0), one.peak_is, quantity);
            format!("; the longest {amount} ({})", escape(&one.series.task))
        });
        let length = format_duration(episode.end.since(episode.begin));
        let lasts = if episode.is_ongoing { ", and not over" } else { "" };
        format!("bad for {length}{lasts}: {}: {}{peak}", places.join(" and "), troubles(&episode.series))
    }

    /// Those that came without an event of their own.
    fn add_configurations(&self, line: &mut TimeLine) {
        let told = each_finding_in_words(self.analysis);
        let told = self.analysis.findings.iter().zip(told);
        for (found, finding) in told.filter(|(_, one)| one.kind == HistoryFindingKind::Configuration) {
            let Some(span) = found.span.filter(|span| self.head.span.contains(span.begin)) else {
                continue;
            };
            let has_event = self
                .analysis
                .events
                .iter()
                .any(|event| event.source == EventSource::Configuration && event.begin == span.begin);
            if !has_event {
                line.add(span.begin, 2, escape(&finding.sentence));
            }
        }
    }

    fn add_changes(&self, line: &mut TimeLine) {
        let is_told = |one: &&SeriesAnalysis| {
            one.summary.series.key.part.is_empty() && one.summary.series.kind != SeriesKind::Covariate
        };
        for one in self.analysis.series.iter().filter(is_told) {
            for (index, change) in one.changes.iter().enumerate() {
                line.add(change.first_after, 5, self.change_in_words(one, index, change));
            }
        }
    }

    fn change_in_words(&self, one: &SeriesAnalysis, index: usize, change: &ChangePoint) -> String {
        let quantity = one.summary.quantity;
        let key = &one.summary.series.key;
        let matched = one.events.matched.iter().find(|matched| matched.change == index).and_then(|matched| {
            let event = self.analysis.events.iter().find(|event| event.id == matched.event)?;
            Some(format!("; next to \"{}\" ({})", escape(&event.text), event_apart(one, change, event)))
        });
        let between = match (change.began, one.summary.moment_of(change)) {
            (Some(began), _) => format!(", little by little since {}", self.moment(began)),
            (None, ChangeMoment::At(_)) => String::new(),
            (None, ChangeMoment::Between(span)) => {
                format!(" at some moment since {}", self.moment(span.begin))
            }
        };
        format!(
            "change of level{between}: {} of {}: median {} → {}, {}{}",
            escape(&key.task),
            self.place(&key.host, &key.target),
            escape(&known(change.median_before, change.median_before_is, quantity)),
            escape(&known(change.median_after, change.median_after_is, quantity)),
            escape(&ratio(&change.ratio)),
            matched.unwrap_or_default()
        )
    }

    fn add_gaps(&self, line: &mut TimeLine) {
        let mut gaps: Vec<&Gap> = self.analysis.gaps.iter().collect();
        gaps.sort_by_key(|gap| std::cmp::Reverse(gap.length()));
        line.leave_out(
            gaps.len().saturating_sub(GAPS_MOST),
            "shorter gap in watching",
            "shorter gaps in watching",
        );
        for gap in gaps.into_iter().take(GAPS_MOST) {
            let length = format_duration(gap.length());
            let rounds = counted(gap.rounds, "round is", "rounds are");
            let place = escape(&gap.place());
            let told = format!("gap in the record of {place}: for {length} {rounds} missing: {}", gap.why());
            line.add(gap.begin, 1, told);
        }
    }
}

/// As in `2 slow, 14 skipped`.
fn troubles(series: &[SeriesEpisode]) -> String {
    let sum = |of: fn(&SeriesEpisode) -> u64| series.iter().map(of).sum::<u64>();
    let kinds: [(u64, &str); 4] = [
        (sum(|one| one.unfinished), "without end"),
        (sum(|one| one.failed), "failed"),
        (sum(|one| one.slow), "slow or late"),
        (sum(|one| one.skipped), "skipped"),
    ];
    let told = kinds.iter().filter(|(count, _)| *count > 0);
    told.map(|(count, kind)| format!("{} {kind}", format_count(*count))).collect::<Vec<_>>().join(", ")
}
