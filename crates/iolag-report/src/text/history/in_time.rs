//! What happened when: outages, events with the time before and after them, changes of level.

use std::collections::BTreeMap;

use iolag_analysis::history::{ChangePoint, Comparison, ComparisonVerdict, EventEffect, SeriesAnalysis};
use iolag_model::{
    Event, EventSource, Outage, OutageEnding, OutageKind, SeriesKey, format_count, format_duration,
};

use super::page::Page;
use crate::text::table::Tone;
use crate::words::history::{changed_when, estimate, event_apart, known, p, ratio, shift};
use crate::words::numbers::percentage;

/// More are counted, and left to the document.
const EVENTS_MOST: usize = 40;

impl Page<'_> {
    pub(super) fn outages_text(&self) -> String {
        if self.analysis.outages.is_empty() {
            return String::new();
        }
        let lines: String =
            self.analysis.outages.iter().map(|outage| self.item(2, &self.outage(outage))).collect();
        self.heading("Outages", "places that did not answer, or were not mounted; UTC")
            + &self.colour.paint(Tone::Serious, lines.trim_end())
            + "\n"
    }

    fn outage(&self, outage: &Outage) -> String {
        let time = match outage.end {
            Some(end) => format!(
                "{} to {} ({})",
                outage.begin.in_words(),
                end.in_words(),
                format_duration(end.since(outage.begin))
            ),
            None => format!("since {}", outage.begin.in_words()),
        };
        let ending = match outage.ending {
            Some(OutageEnding::Recovered) => "recovered by itself",
            Some(OutageEnding::Remounted) => "was mounted again",
            Some(OutageEnding::Unmounted) => "was unmounted",
            Some(OutageEnding::Rebooted) => "the machine was started again",
            None => "is not over",
        };
        let host = if self.names.several_hosts { format!(" on {}", outage.host) } else { String::new() };
        let skipped = match outage.skipped {
            0 => String::new(),
            1 => ", 1 slot skipped".to_owned(),
            count => format!(", {} slots skipped", format_count(count)),
        };
        let what = match outage.kind {
            OutageKind::NoAnswer => "",
            OutageKind::NotMounted => "was not mounted, ",
        };
        format!("{time}  {}{host}: {what}{ending}{skipped}", outage.place())
    }

    pub(super) fn events_text(&self) -> String {
        if self.analysis.events.is_empty() {
            return String::new();
        }
        let is_told = |event: &&Event| !matches!(event.source, EventSource::Journal | EventSource::Watch);
        let told: Vec<&Event> = self.analysis.events.iter().filter(is_told).collect();
        let mut text = self.heading(
            "Events",
            "UTC; what changed: up to two weeks on each side, as far as the next change, with 95 % interval",
        );
        for event in told.iter().rev().take(EVENTS_MOST).rev() {
            text.push_str(&self.event(event));
        }
        if told.len() > EVENTS_MOST {
            text.push_str(
                &self.item(2, &format!("{} earlier ones are in --json FILE", told.len() - EVENTS_MOST)),
            );
        }
        let others = self.analysis.events.iter().filter(|event| !is_told(event));
        let mut kinds: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for event in others {
            *kinds.entry((source_of(event), event.kind.as_str())).or_default() += 1;
        }
        for ((source, kind), count) in kinds {
            let kind = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
            text.push_str(&self.item(2, &format!("{}× {source}{kind}", format_count(count))));
        }
        text
    }

    fn event(&self, event: &Event) -> String {
        let until = event.end.map_or_else(String::new, |end| format!(" to {}", end.in_words()));
        let kind = if event.kind.is_empty() { String::new() } else { format!(" ({})", event.kind) };
        let concerned = match (event.target.as_str(), event.host.as_str()) {
            ("", "") => String::new(),
            (target, "") => format!(", {target}"),
            ("", host) => format!(", {host}"),
            (target, host) => format!(", {target} on {host}"),
        };
        let link = event.link.as_ref().map_or_else(String::new, |link| format!(" <{link}>"));
        let line = format!(
            "{}{until}  {}{kind}{concerned}: {}{link}",
            event.begin.in_words(),
            source_of(event),
            event.text
        );
        self.item(2, &line) + &self.effects(event)
    }

    /// What changed with an event, by series; what did not, in one line.
    fn effects(&self, event: &Event) -> String {
        let effects = self.analysis.series.iter().flat_map(|one| {
            let of_event = one.event_effects.iter().filter(|effect| effect.event.id == event.id);
            of_event.map(move |effect| (one, effect))
        });
        let (mut text, mut same, mut changed) = (String::new(), Vec::new(), Vec::new());
        let mut unknown: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (one, effect) in effects.filter(|(one, _)| one.summary.series.key.part.is_empty()) {
            let key = &one.summary.series.key;
            match effect.comparison.verdict {
                ComparisonVerdict::NoDifferenceShown | ComparisonVerdict::TooFew
                    if one.changed_near(event) =>
                {
                    changed.push(self.names.series(key));
                }
                ComparisonVerdict::NoDifferenceShown => same.push(self.names.series(key)),
                ComparisonVerdict::TooFew => {
                    unknown.entry(what_lacks(&effect.comparison)).or_default().push(self.names.series(key));
                }
                _ => text.push_str(&self.item(6, &self.effect(key, effect))),
            }
        }
        if !changed.is_empty() {
            text.push_str(
                &self
                    .item(6, &format!("the level changed near it, see the findings: {}", changed.join(", "))),
            );
        }
        if !same.is_empty() {
            text.push_str(&self.item(6, &format!("no difference shown: {}", same.join(", "))));
        }
        for (lack, series) in unknown {
            text.push_str(&self.item(6, &format!("{lack}: {}", series.join(", "))));
        }
        text
    }

    fn effect(&self, key: &SeriesKey, effect: &EventEffect) -> String {
        let comparison = &effect.comparison;
        let median =
            |side: &iolag_analysis::history::ComparedSide| estimate(side.median.value, comparison.quantity);
        let by = comparison.shift.as_ref().map_or_else(String::new, |by| format!(", {}", shift(by)));
        let p = comparison.greater.as_ref().map_or_else(String::new, |greater| format!(", p {}", p(greater)));
        format!(
            "{}: {} → {}, {}{by}{p}",
            self.names.series(key),
            median(&comparison.first),
            median(&comparison.second),
            comparison.verdict
        )
    }

    pub(super) fn changes_text(&self) -> String {
        let mut changes: Vec<(&SeriesAnalysis, usize)> = self
            .analysis
            .series
            .iter()
            .flat_map(|one| (0..one.changes.len()).map(move |index| (one, index)))
            .collect();
        if changes.is_empty() {
            return String::new();
        }
        changes.sort_by_key(|(one, index)| one.changes[*index].first_after);
        let lines: String =
            changes.iter().map(|(one, index)| self.item(2, &self.change(one, *index))).collect();
        self.heading("Changes of level", "UTC; medians before and after, with the event next to it") + &lines
    }

    fn change(&self, one: &SeriesAnalysis, index: usize) -> String {
        let change: &ChangePoint = &one.changes[index];
        let quantity = one.summary.quantity;
        let matched = one.events.matched.iter().find(|matched| matched.change == index);
        let event = matched.and_then(|matched| {
            let event = self.analysis.events.iter().find(|event| event.id == matched.event)?;
            let apart = event_apart(one, change, event);
            let chance = percentage(100.0 * matched.chance);
            Some(format!("; next to {:?} ({apart}, by chance with {chance} %)", event.text))
        });
        format!(
            "{}  {}: {} → {}, {}{}",
            changed_when(one, change),
            self.names.series(&one.summary.series.key),
            known(change.median_before, change.median_before_is, quantity),
            known(change.median_after, change.median_after_is, quantity),
            ratio(&change.ratio),
            event.unwrap_or_else(|| "; no event next to it".to_owned())
        )
    }
}

/// Why an event cannot be judged.
fn what_lacks(comparison: &Comparison) -> &'static str {
    let sides = [&comparison.first, &comparison.second];
    if comparison.strata.count == 0 && sides.iter().all(|side| side.sample_size.attempts > 0) {
        return "working days on one side, a weekend on the other";
    }
    let [before, after] = sides.map(|side| side.compared_effective);
    let enough = comparison.attempts_least as f64;
    match (before < enough, after < enough) {
        (true, false) => "too few independent attempts before",
        (false, true) => "too few independent attempts after",
        _ => "too few independent attempts before and after",
    }
}

const fn source_of(event: &Event) -> &'static str {
    match event.source {
        EventSource::Note => "note",
        EventSource::Configuration => "configuration",
        EventSource::List => "imported",
        EventSource::Journal => "journal",
        EventSource::Watch => "iolag",
    }
}
