//! What is analysed: series with their samples, and what a history tells beside them, in the order of time.

use std::borrow::Cow;

use iolag_model::{
    Configuration, ConfigurationKey, Event, Evidence, HistoryColumns, Outage, ProbeId, Series, WallSpan,
    WallTime, WatchSession,
};

/// What a history holds of the time that is looked at.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "each is a kind of HistoryRecord")]
pub struct HistoryInput {
    pub series: Vec<(Series, HistoryColumns)>,
    pub events: Vec<Event>,
    pub outages: Vec<Outage>,
    pub configurations: Vec<Configuration>,
    pub sessions: Vec<WatchSession>,
    /// What is known of the [`last_failed`](super::last_failed) probe of each series.
    pub failures: Vec<Evidence>,
}

/// What a history tells beside samples, in the order of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "each is a kind of HistoryRecord")]
pub struct BesideSamples<'a> {
    pub events: &'a [Event],
    pub outages: &'a [Outage],
    pub configurations: &'a [Configuration],
    pub sessions: &'a [WatchSession],
}

impl HistoryInput {
    /// Puts series in the order of their keys and everything else in that of time. [`analyse_history`](super::analyse_history) does so with a copy, which takes as
    /// much memory again.
    pub fn put_in_order(&mut self) {
        self.series.sort_by(|one, other| one.0.key.cmp(&other.0.key));
        self.events.sort_by(|one, other| order_of_event(one).cmp(&order_of_event(other)));
        self.outages.sort_by(|one, other| order_of_outage(one).cmp(&order_of_outage(other)));
        self.configurations
            .sort_by(|one, other| order_of_configuration(one).cmp(&order_of_configuration(other)));
    }

    /// From the first slot to the last; nothing without samples.
    pub fn covered(&self) -> Option<WallSpan> {
        let moments = || self.series.iter().flat_map(|(_, columns)| columns.intended.iter().copied());
        Some(WallSpan { begin: moments().min()?, end: moments().max()? })
    }

    /// What it tells beside samples.
    pub fn beside_samples(&self) -> BesideSamples<'_> {
        BesideSamples {
            events: &self.events,
            outages: &self.outages,
            configurations: &self.configurations,
            sessions: &self.sessions,
        }
    }

    fn is_in_order(&self) -> bool {
        self.series.is_sorted_by(|one, other| one.0.key <= other.0.key)
            && self.events.is_sorted_by(|one, other| order_of_event(one) <= order_of_event(other))
            && self.outages.is_sorted_by(|one, other| order_of_outage(one) <= order_of_outage(other))
            && self
                .configurations
                .is_sorted_by(|one, other| order_of_configuration(one) <= order_of_configuration(other))
    }
}

fn order_of_event(event: &Event) -> (WallTime, &str) {
    (event.begin, &event.id)
}

fn order_of_outage(outage: &Outage) -> (WallTime, ProbeId, &str) {
    (outage.begin, outage.probe, &outage.host)
}

fn order_of_configuration(one: &Configuration) -> (WallTime, ConfigurationKey, &str, &str) {
    (one.first_seen, one.key, &one.host, &one.target)
}

pub(crate) fn in_order(input: &HistoryInput) -> Cow<'_, HistoryInput> {
    if input.is_in_order() {
        return Cow::Borrowed(input);
    }
    let mut ordered = input.clone();
    ordered.put_in_order();
    Cow::Owned(ordered)
}
