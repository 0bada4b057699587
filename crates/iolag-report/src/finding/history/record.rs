//! What is said of the record itself: configurations that changed, times in which nobody watched.

use std::borrow::Cow;

use iolag_analysis::history::{ChangedFact, ConfigurationFound, GapFound, GapRecord};
use iolag_analysis::share_in_words;
use iolag_model::counted;

use super::amounts::moment_in_words;
use crate::finding::in_words::{About, InWords};

/// Facts that are told of a configuration.
const FACTS_MOST: usize = 3;

impl InWords for ConfigurationFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let place = match (self.target.as_str(), self.host.as_str()) {
            ("", host) => host.to_owned(),
            (target, "") => target.to_owned(),
            (target, host) => format!("{target} on {host}"),
        };
        let fact = |fact: &Option<String>| {
            fact.as_ref().map_or_else(|| "none".to_owned(), |fact| format!("\"{fact}\""))
        };
        let changed = self.changed.iter().take(FACTS_MOST);
        let mut told: Vec<String> = changed
            .map(|ChangedFact { name, before, after }| {
                format!("{name} from {} to {}", fact(before), fact(after))
            })
            .collect();
        let more = self.changed.len().saturating_sub(FACTS_MOST);
        if more > 0 {
            told.push(format!("{more} more"));
        }
        let by = about.span.map_or_else(String::new, |span| moment_in_words(span.begin));
        format!("The configuration of {place} changed by {by}: {}.", told.join("; "))
    }

    fn advice(&self) -> Cow<'static, str> {
        "Compare the times before and after in the report; samples are marked with their configuration."
            .into()
    }
}

impl InWords for GapFound {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { longest, count, sum_ns, share } = self;
        format!(
            "Nothing is known of {} for {sum_ns} in {} ({} of the time), {}from {} to {}: {}.",
            longest.place(),
            counted(*count, "gap", "gaps"),
            share_in_words(*share),
            if *count > 1 { "the longest " } else { "" },
            moment_in_words(longest.begin),
            moment_in_words(longest.end),
            longest.why(),
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.longest.record {
            GapRecord::Watched => {
                "Run the watch as a service that is started again (`iolag watch --print-unit service`)."
            }
            GapRecord::Imported => {
                "If there are measurements of that time, import them; what changed in it has no date."
            }
        }
        .into()
    }
}
