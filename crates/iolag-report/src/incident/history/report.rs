//! What the report is made from, and what its parts call moments and places.

use iolag_analysis::history::{HistoryAnalysis, Incident, PlaceEffect, PlaceImpact};
use iolag_model::{Evidence, WallTime};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::text::HistoryHead;
use crate::words::markdown::escape;

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

impl IncidentHistory<'_> {
    /// As in `2008-05-08 07:15 -07:00`, with seconds if they are not zero.
    pub(super) fn moment(&self, moment: WallTime) -> String {
        let Ok(stamp) = Timestamp::from_nanosecond(i128::from(moment.0)) else { return moment.to_string() };
        let seconds = if moment.0.div_euclid(1_000_000_000).rem_euclid(60) == 0 { "" } else { ":%S" };
        stamp.to_zoned(self.zone.clone()).strftime(&format!("%Y-%m-%d %H:%M{seconds} %:z")).to_string()
    }

    /// The place as hosts see it; escaped.
    pub(super) fn place(&self, host: &str, target: &str) -> String {
        match (target, host) {
            ("", host) => escape(host),
            (target, "") => escape(target),
            (target, host) => format!("{} on {}", escape(target), escape(host)),
        }
    }

    pub(super) fn affected(&self) -> impl Iterator<Item = &PlaceImpact> {
        self.incident.places.iter().filter(|place| place.effect <= PlaceEffect::SeenSlower)
    }
}
