//! The parts of a page that are text, each with the element that holds it.

use super::bad_times::bad_times;
use super::configurations::watched;
use super::events::events_and_changes;
use super::head::{findings, head};
use super::outcome_shares::outcome_shares;
use super::report::HistoryReport;
use super::table::table;
use super::together::{distributions, together};
use crate::html::markup::Markup;

/// A part that is text: the element of this id holds it, and a live page puts the new one in its place.
pub(super) type Part = (&'static str, fn(&HistoryReport<'_>, &mut Markup));

/// Every part, in the order of the page.
pub(super) const PARTS: [Part; 8] = [
    ("text-head", head),
    ("text-findings", findings),
    ("text-bad-times", bad_times),
    ("text-events", events_and_changes),
    ("text-distributions", distributions),
    ("text-together", together),
    ("text-rates", outcome_shares),
    ("text-table", table),
];

/// The part that stands apart in [`PARTS`]' order: facts, which few read first.
pub(super) const WATCHED: Part = ("text-watched", watched);
