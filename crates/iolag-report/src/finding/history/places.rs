//! Where a task takes longer, and where its time goes, in words.

use std::borrow::Cow;

use iolag_analysis::factor_in_words;
use iolag_analysis::history::{Quantity, SlowerPlaceFound, SpentMostly, WaitingFound, amount_in_words};

use crate::finding::in_words::{About, InWords};

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
