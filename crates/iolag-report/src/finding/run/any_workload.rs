//! What any workload may give, in words: slow attempts, failures, two modes.

use std::borrow::Cow;

use iolag_analysis::{FailedAttempts, LongAttempts, TwoModesFound, capitalised, share_in_words};
use iolag_model::format_count;

use crate::finding::in_words::{About, Evidence, EvidenceAmount, InWords};

impl InWords for LongAttempts {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { operation, patience_ns, over, is_at_least, of, .. } = self;
        let at_least = if *is_at_least { "at least " } else { "" };
        let share = share_in_words(*over as f64 / *of as f64);
        capitalised(&format!("{at_least}{over} of {of} `{operation}` ({share}) took over {patience_ns}."))
    }

    fn advice(&self) -> Cow<'static, str> {
        "Repeat the measurement at different times of the day to see when this happens, and look at server load, \
         network and quota scans at these times."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        vec![Evidence::of_operation("longest", (self.operation, self.longest))]
    }
}

impl InWords for FailedAttempts {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { operation, class, count, of } = self;
        format!("{} of {} `{operation}` failed: {class}.", format_count(*count), format_count(*of))
    }

    fn advice(&self) -> Cow<'static, str> {
        "Failed attempts are in no quantile; repeat after the cause is gone.".into()
    }
}

impl InWords for TwoModesFound {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!(
            "`{}` is either fast or slow: {} take about {}, the others about {}, with hardly anything between.",
            self.operation,
            share_in_words(self.modes.fast_share),
            self.modes.fast_ns,
            self.modes.slow_ns,
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "That is what a cache and the price of missing it look like: find out what the slow ones have in \
         common (`iolag export` gives every attempt with its time)."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        let share = self.modes.fast_share;
        vec![Evidence::new("share of the fast", share_in_words(share), EvidenceAmount::Share(share))]
    }
}
