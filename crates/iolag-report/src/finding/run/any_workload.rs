//! What any workload may give, in words: slow attempts, failures, two modes; and a host that was busy itself.

use std::borrow::Cow;

use iolag_analysis::{
    FailedAttempts, GeneratorBusy, LongAttempts, TwoModesFound, capitalised, joined, share_in_words,
};
use iolag_model::{GeneratorLimit, format_count};

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

impl InWords for GeneratorBusy {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { time_ns, of_ns, limits, .. } = self;
        let one = |(limit, time)| match limits.len() {
            1 => beyond(limit).to_owned(),
            _ => format!("{} ({time})", beyond(limit)),
        };
        format!(
            "For {time_ns} of {of_ns} the host that measured was itself beyond limits: {}; response times of these moments may contain \
             the host's own delay.",
            joined(limits.iter().copied().map(one).collect())
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.limits.first().map(|(limit, _)| limit) {
            Some(GeneratorLimit::Descriptors) => {
                "Allow more descriptors (`ulimit -n`), or use fewer clients per host. `generator` in run.json has the moments."
            }
            Some(GeneratorLimit::Ports) => {
                "Allow more local ports (`net.ipv4.ip_local_port_range`), or use fewer clients per host. `generator` in run.json has \
                 the moments."
            }
            _ => {
                "Repeat it when the host is quiet before you blame the storage; if its own clients keep it busy, use fewer per host or more \
                 hosts. `generator` in run.json has the moments."
            }
        }
        .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        let share = self.share;
        vec![Evidence::new("share of the time", share_in_words(share), EvidenceAmount::Share(share))]
    }
}

/// What it means to be beyond a limit.
const fn beyond(limit: GeneratorLimit) -> &'static str {
    match limit {
        GeneratorLimit::Lag => "timers of workers over 50 ms late",
        GeneratorLimit::Processors => "the processors that the run may use busy for over 95 % of the time",
        GeneratorLimit::Descriptors => "over 90 % of a measurer's descriptors in use",
        GeneratorLimit::Ports => "over 90 % of the local ports in use",
        GeneratorLimit::Measurer => "a worker busy for over 95 % of the time",
        GeneratorLimit::Unknown => "one that a later iolag knows",
    }
}
