//! Where a task takes longer, and where its time goes, in words.

use std::borrow::Cow;

use iolag_analysis::history::{
    AttributeLevel, HostAttributeFound, Quantity, SlowerPlaceFound, SpentMostly, WaitingFound,
    amount_in_words,
};
use iolag_analysis::{factor_in_words, joined};
use iolag_model::counted;

use crate::finding::in_words::{About, InWords};
use crate::words::estimates::difference_in_words;
use crate::words::history::p_value;
use crate::words::numbers::percentage;

impl InWords for SlowerPlaceFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let [slow, fast] = about.series else { return String::new() };
        let bound = if self.is_bound { "at least " } else { "" };
        let (slow, fast) = (about.names.in_sentence(slow), about.names.in_sentence(fast));
        format!("{slow} takes {bound}{} times as long as {fast}.", factor_in_words(self.ratio))
    }

    fn advice(&self) -> Cow<'static, str> {
        "The report shows both distributions; compare times in which both were watched before deciding."
            .into()
    }
}

impl InWords for HostAttributeFound {
    fn sentence(&self, _: &About<'_>) -> String {
        let Self { task, target, hosts, attribute } = self;
        let [most, .., least] = &attribute.levels[..] else { return String::new() };
        let values = |level: &AttributeLevel| {
            let pairs = attribute.facts.iter().zip(&level.values);
            let told = joined(pairs.map(|(fact, value)| format!("{fact} {value}")).collect());
            format!("{} with {told}", counted(level.hosts, "host", "hosts"))
        };
        let share = |level: &AttributeLevel| format!("{} %", percentage(100.0 * level.share));
        let by = attribute.difference.as_ref();
        let by = by.map_or_else(String::new, |by| {
            format!(", a difference of {} percentage points", difference_in_words(by))
        });
        let together = match attribute.facts.len() {
            1 => String::new(),
            _ => " These always go together, so which of them it is cannot be told.".to_owned(),
        };
        format!(
            "`{task}` on {target} passes its deadline most often on {}: in {} of attempts, against {} on {}{by} (p {} over {hosts} hosts).{together}",
            values(most),
            share(most),
            share(least),
            values(least),
            p_value(attribute.p_adjusted)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Change it on some of these hosts and watch on: what is not among the facts, and always comes with it, may be the cause as well."
            .into()
    }
}

impl InWords for WaitingFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let words = |seconds: f64| amount_in_words(seconds, Quantity::Duration);
        let (name, waiting, processor) = (about.list(), words(self.waiting), words(self.processor));
        let in_memory = self.in_memory.map(words);
        let mostly = format!(
            "{name} waits for most of its time: {waiting} against a processor time of {processor} (medians)"
        );
        match (self.mostly, in_memory) {
            (SpentMostly::Computing, _) => format!(
                "{name} hardly waits: its processor time is {processor} and its waiting {waiting} (medians), so storage is not what it takes long for."
            ),
            (SpentMostly::WaitingForHost, Some(in_memory)) => format!(
                "{mostly}. In the host's own memory it waits {in_memory} as well, so it waits for this host and not for the storage."
            ),
            (SpentMostly::Waiting, Some(in_memory)) => {
                format!("{mostly}; in the host's own memory it waits {in_memory}.")
            }
            (SpentMostly::Waiting | SpentMostly::WaitingForHost, None) => mostly + ".",
        }
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.mostly {
            SpentMostly::Computing => "A faster processor, or one with fewer users, would make it faster.",
            SpentMostly::WaitingForHost => {
                "Look at what runs on this host (runnable tasks, processor pressure), and at where compiler and libraries are installed."
            }
            SpentMostly::Waiting => {
                "A faster processor would not help: look at this file system, and at what opens and looks up so many files."
            }
        }
        .into()
    }
}
