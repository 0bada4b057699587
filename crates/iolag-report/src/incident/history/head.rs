//! What stands first: which kind of incident, where, when and for how long.

use iolag_analysis::history::PlaceEffect;
use iolag_model::{Nanoseconds, OutageKind, WallSpan, format_duration};

use super::report::IncidentHistory;
use crate::words::markdown::{OPEN, escape, push};

impl IncidentHistory<'_> {
    pub(super) fn push_head(&self, text: &mut String) {
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
}
