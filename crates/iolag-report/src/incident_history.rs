//! The draft of the report that sites owe each other after trouble, from what was watched: `iolag report --incident --since 2d`.
//!
//! ```text
//! head -> description -> time line -> impact -> evidence -> analysis -> corrective actions -> lessons -> measurements
//! ```
//!
//! What the history knows is filled in, with its figures; what only people know is left open as `____`. Moments are those of a place, with
//! their offset from UTC; sentences of findings name theirs in UTC and say so.
//!
//! Invariants: the draft is Markdown in which every text from outside is escaped and only pages are linked; it judges nothing: bad times
//! and who was affected come from the analysis.

mod analysis;
mod description;
mod evidence;
mod impact;
mod time_line;

use iolag_analysis::history::{HistoryAnalysis, Incident, PlaceEffect, PlaceImpact};
use iolag_model::{
    Evidence, Nanoseconds, OutageKind, WallSpan, WallTime, counted, format_count, format_duration,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::markdown::{OPEN, escape, push};
use crate::text::history::HistoryHead;

/// What the report is made from.
#[derive(Debug, Clone, Copy)]
pub struct IncidentHistory<'a> {
    /// Where the history is, and which time was asked for.
    pub head: &'a HistoryHead,
    /// What it means.
    pub analysis: &'a HistoryAnalysis,
    /// The trouble in it.
    pub incident: &'a Incident,
    /// What was seen of probes that did not end within their deadline.
    pub evidence: &'a [Evidence],
    /// Whose clocks are shown.
    pub zone: &'a TimeZone,
    /// When it is written.
    pub written: WallTime,
    /// Version of iolag that writes it.
    pub iolag_version: &'a str,
}

/// Drafts the report.
pub fn incident_history_text(report: &IncidentHistory<'_>) -> String {
    let mut text = String::from("# Service incident report\n\n");
    report.push_head(&mut text);
    report.push_description(&mut text);
    report.push_time_line(&mut text);
    report.push_impact(&mut text);
    report.push_evidence(&mut text);
    report.push_analysis(&mut text);
    report.push_corrective_actions(&mut text);
    push_lessons(&mut text);
    report.push_measurements(&mut text);
    text
}

impl IncidentHistory<'_> {
    fn push_head(&self, text: &mut String) {
        let incident = self.incident;
        let has_outage = |kind| self.analysis.outages.iter().any(|outage| outage.kind == kind);
        let storage = |kind: OutageKind| format!("storage {} ({OPEN})", kind.verb(true));
        let kind = match incident.places.first().map(|place| place.effect) {
            Some(PlaceEffect::Unanswered) => storage(OutageKind::NoAnswer),
            _ if has_outage(OutageKind::NoAnswer) => storage(OutageKind::NoAnswer),
            _ if has_outage(OutageKind::NotMounted) => storage(OutageKind::NotMounted),
            Some(PlaceEffect::NotMounted) => storage(OutageKind::NotMounted),
            Some(PlaceEffect::Failing) => format!("storage failed ({OPEN})"),
            Some(_) => format!("storage was slow ({OPEN})"),
            None => OPEN.to_owned(),
        };
        push(text, format_args!("- **Type of incident:** {kind}"));
        push(text, format_args!("- **Location:** {OPEN} ({})", self.location()));
        match incident.span() {
            Some(span) => self.push_date(text, span),
            None => {
                push(text, format_args!("- **Date:** {OPEN}"));
                push(text, format_args!("- **Duration:** {OPEN}"));
            }
        }
        push(text, format_args!("- **Authors:** {OPEN}"));
        push(text, format_args!("- **Report status:** draft"));
        push(
            text,
            format_args!(
                "- **Report log:** {}: drafted by iolag {} from what it watched\n",
                self.moment(self.written),
                escape(self.iolag_version)
            ),
        );
    }

    fn push_date(&self, text: &mut String, span: WallSpan) {
        let incident = self.incident;
        let bad = incident.bad_times.iter().map(|bad| bad.end.since(bad.begin).0).sum();
        let in_all = match incident.bad_times.len() {
            1 => String::new(),
            count => format!(" with {count} bad times of {} in all", format_duration(Nanoseconds(bad))),
        };
        let (until, so_far) = match incident.is_ongoing {
            true => (format!("{}, and not over by then", self.moment(span.end)), "at least "),
            false => (self.moment(span.end), ""),
        };
        let begin = self.moment(span.begin);
        push(text, format_args!("- **Date:** {begin} to {until}, as far as it was measured ({OPEN})"));
        let length = format_duration(span.end.since(span.begin));
        push(
            text,
            format_args!("- **Duration:** {so_far}{length}{in_all}, as far as it was measured ({OPEN})"),
        );
    }

    fn location(&self) -> String {
        let of_series =
            self.analysis.series.iter().map(|one| one.summary.series.key.host.as_str()).collect::<Vec<_>>();
        let of_outages = self.analysis.outages.iter().map(|outage| outage.host.as_str());
        let mut hosts: Vec<&str> = of_series.into_iter().chain(of_outages).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.retain(|host| !host.is_empty());
        let hosts: Vec<String> = hosts.into_iter().map(escape).collect();
        let mut targets: Vec<String> = self.affected().map(|place| escape(&place.target)).collect();
        targets.dedup();
        let affected = if targets.is_empty() { String::new() } else { format!("{}, ", targets.join(", ")) };
        match hosts.as_slice() {
            [] => format!("{affected}the measuring host is not known"),
            hosts => format!("{affected}measured on {}", hosts.join(", ")),
        }
    }

    fn push_measurements(&self, text: &mut String) {
        text.push_str("## Annex: measurements\n\n");
        let samples: u64 = self.analysis.series.iter().map(|one| one.summary.rates.total.slots).sum();
        let series = counted(self.analysis.series.len() as u64, "series", "series");
        let samples = counted(samples, "sample", "samples");
        push(text, format_args!("- History: {}: {samples} in {series}.", escape(&self.head.place)));
        if let (Some(begin), Some(end)) = (self.analysis.begin, self.analysis.end) {
            push(text, format_args!("- First sample due {}, last {}.", self.moment(begin), self.moment(end)));
            let span = options(self.head.span);
            push(
                text,
                format_args!("- Pictures and all numbers: `iolag report history{span} -o report.html`"),
            );
            push(text, format_args!("- Every sample: `iolag export history{span} -o samples.jsonl`"));
        }
    }

    /// As in `2008-05-08 07:15 -07:00`, with seconds if they are not zero.
    fn moment(&self, moment: WallTime) -> String {
        let Ok(stamp) = Timestamp::from_nanosecond(i128::from(moment.0)) else { return moment.to_string() };
        let seconds = if moment.0.div_euclid(1_000_000_000).rem_euclid(60) == 0 { "" } else { ":%S" };
        stamp.to_zoned(self.zone.clone()).strftime(&format!("%Y-%m-%d %H:%M{seconds} %:z")).to_string()
    }

    /// The place as hosts see it; escaped.
    fn place(&self, host: &str, target: &str) -> String {
        match (target, host) {
            ("", host) => escape(host),
            (target, "") => escape(target),
            (target, host) => format!("{} on {}", escape(target), escape(host)),
        }
    }

    fn affected(&self) -> impl Iterator<Item = &PlaceImpact> {
        self.incident.places.iter().filter(|place| place.effect <= PlaceEffect::SeenSlower)
    }
}

/// The options that ask for the same time again.
fn options(span: WallSpan) -> String {
    let option = |name: &str, moment: WallTime, open: WallTime| {
        if moment == open { String::new() } else { format!(" --{name} {moment}") }
    };
    option("since", span.begin, WallSpan::ALL.begin) + &option("until", span.end, WallSpan::ALL.end)
}

fn push_lessons(text: &mut String) {
    text.push_str("## Lessons learned\n\n");
    for place in
        ["What went well", "What did not go well", "What would have shown it sooner, or kept it shorter"]
    {
        push(text, format_args!("### {place}\n\n{OPEN}\n"));
    }
}

/// `once`, `12 times`.
fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", format_count(count as u64)) }
}
