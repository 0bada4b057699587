//! How attempts ended, in words: what failed, and what did not end in time.

use std::borrow::Cow;

use iolag_analysis::history::{EndedSo, FailedFound, PastDeadlineFound, SomeDays};
use iolag_analysis::share_in_words;

use crate::finding::in_words::{About, InWords};

/// What failed did.
pub(super) const FAILED: &str = "failed";
/// What passed its deadline did.
pub(super) const PAST_DEADLINE: &str = "did not end within their deadline";

impl InWords for FailedFound {
    fn sentence(&self, about: &About<'_>) -> String {
        ended_in_words(&self.ended, &about.list(), FAILED, &said_in_words(self))
    }

    fn advice(&self) -> Cow<'static, str> {
        "Failed attempts are in no quantile; `iolag export history` gives each with its error.".into()
    }
}

impl InWords for PastDeadlineFound {
    fn sentence(&self, about: &About<'_>) -> String {
        ended_in_words(&self.ended, &about.list(), PAST_DEADLINE, "")
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.unended {
            0 => "They ended late: look at what they wait for; if they may take so long, give a longer deadline.",
            _ => {
                "How long they would have taken is not known: give a longer deadline, and look at what they wait for."
            }
        }
        .into()
    }
}

/// As in `; the last with exit status 2`.
pub(super) fn said_in_words(found: &FailedFound) -> String {
    found.said.as_ref().map_or_else(String::new, |said| format!("; the last with {said}"))
}

fn ended_in_words(ended: &EndedSo, series: &str, so: &str, said: &str) -> String {
    let EndedSo { count, of, share, days } = ended;
    let days = days.map_or_else(String::new, days_in_words);
    format!("{count} of {of} {series} {so} ({}){days}{said}.", share_in_words(*share))
}

/// As in `, on 8 of 28 days, 2008-05-21 to 2008-05-28`.
fn days_in_words(SomeDays { count, of, first, last }: SomeDays) -> String {
    match count {
        1 => format!(", all on {first}"),
        _ => format!(", on {count} of {of} days, {first} to {last}"),
    }
}
