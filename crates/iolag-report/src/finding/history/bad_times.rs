//! Outages and episodes in words.

use std::borrow::Cow;

use iolag_analysis::history::{EpisodeFound, EventPlace, OutageFound, OutagesLeftOut, Quantity};
use iolag_model::{OutageEnding, OutageKind, counted};

use super::amounts::{level_in_words, moment_in_words, was_or_were};
use crate::finding::in_words::{About, InWords};

impl InWords for OutageFound {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { outage, length_ns, event } = self;
        let on_host = if outage.host.is_empty() { String::new() } else { format!(" on {}", outage.host) };
        let place = outage.place() + &on_host;
        let begin = moment_in_words(outage.begin);
        let mut sentence = match outage.end {
            Some(end) => {
                let what = outage.kind.verb(true);
                format!("{place} {what} for {length_ns}, from {begin} to {}", moment_in_words(end))
            }
            None => format!("{place} {} since {begin} ({length_ns})", outage.kind.verb_since()),
        };
        if outage.skipped > 0 {
            let slots = counted(outage.skipped, "slot", "slots");
            sentence += &format!("; {slots} {} skipped", was_or_were(outage.skipped));
        }
        sentence += match outage.ending {
            Some(OutageEnding::Recovered) => "; it recovered by itself",
            Some(OutageEnding::Remounted) => "; it was mounted anew",
            Some(OutageEnding::Unmounted) => "; it was unmounted",
            Some(OutageEnding::Rebooted) => "; the machine was started again",
            None => "",
        };
        match event {
            Some((text, EventPlace::Before(apart))) => {
                sentence += &format!("; event \"{text}\" {apart} before")
            }
            Some((text, EventPlace::After(apart))) => {
                sentence += &format!("; event \"{text}\" {apart} after it began");
            }
            Some((_, EventPlace::Within | EventPlace::Around)) | None => {}
        }
        sentence + "."
    }

    fn advice(&self) -> Cow<'static, str> {
        match (self.outage.kind, self.outage.end) {
            (OutageKind::NoAnswer, None) => {
                "`iolag watch --status` shows where the probe waits; tell the administrators of this file system."
            }
            (OutageKind::NoAnswer, Some(_)) => {
                "Look into the logs of server and client at that time, and note what you find with `iolag note`, so that it \
                 stands in the report."
            }
            (OutageKind::NotMounted, None) => {
                "Mount it; why its mount unit failed is in the system's journal. If it may be absent, set `mounted = \"any\"` for \
                 it in the configuration of the watch."
            }
            (OutageKind::NotMounted, Some(_)) => {
                "Look into the system's journal for why its mount unit failed or who unmounted it, and note it with `iolag note`. If it \
                 may be absent, set `mounted = \"any\"` for it in the configuration of the watch."
            }
        }
        .into()
    }
}

impl InWords for OutagesLeftOut {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { count, sum_ns, longest_ns } = self;
        let more = counted(*count, "outage", "outages");
        format!("{more} more, {sum_ns} in all, the longest {longest_ns}.")
    }

    fn advice(&self) -> Cow<'static, str> {
        "The calendar of the report shows when.".into()
    }
}

impl InWords for EpisodeFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let peak = self.peak.map_or_else(String::new, |(peak, knowledge)| {
            format!(", the longest {}", level_in_words(peak, knowledge, Quantity::Duration))
        });
        let one_of = match self.of {
            of if of > 1 => format!("; one of {of} episodes of several samples"),
            _ => String::new(),
        };
        format!(
            "From {} {} {} bad in {}{peak}{one_of}.",
            about.span.map_or_else(String::new, |span| {
                format!("{} to {}", moment_in_words(span.begin), moment_in_words(span.end))
            }),
            about.list(),
            was_or_were(about.series.len() as u64),
            counted(self.samples, "sample", "samples"),
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "See what else happened then (jobs, backups, server load), and note or import it as events, so that iolag can tell \
         what comes with such times."
            .into()
    }
}
