//! What bad times have in common, in words.

use std::borrow::Cow;

use iolag_analysis::factor_in_words;
use iolag_analysis::history::{AssociationFound, BadTogetherFound, HostSlowFound, Place};
use iolag_model::counted;

use super::amounts::{doubt_of, p_in_words};
use crate::finding::in_words::{About, InWords};

impl InWords for BadTogetherFound {
    fn sentence(&self, _about: &About<'_>) -> String {
        let one = &self.overlap;
        let is_of_one_host = one.first.host == one.second.host;
        let first_from = if is_of_one_host { String::new() } else { format!(" from {}", one.first.host) };
        let seen_from =
            if self.has_several_hosts { format!(" from {}", one.second.host) } else { String::new() };
        let judged = if one.other_hours_ns < one.both_ns {
            format!("{} of it at hours in which they are seldom both bad, where ", one.other_hours_ns)
        } else {
            String::new()
        };
        format!(
            "{}{first_from} and {}{seen_from} were bad at the same time: {} together, of {} and {}; {judged}by chance it would be {} ({}){}.",
            place(&one.first),
            place(&one.second),
            one.both_ns,
            one.first_bad_ns,
            one.second_bad_ns,
            one.expected_ns,
            p_in_words(one.p_adjusted),
            doubt_of(self.is_record_short),
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.overlap.first.host == self.overlap.second.host {
            true => "Look for what the two share: server, network, name service, this host.",
            false => "Look first at what both hosts share: the server, the network, jobs that run on both.",
        }
        .into()
    }
}

/// What was imported without a target is of its host.
fn place(place: &Place) -> String {
    if place.target.is_empty() {
        format!("what has no target on {}", place.host)
    } else {
        place.target.clone()
    }
}

impl InWords for AssociationFound {
    fn sentence(&self, _about: &About<'_>) -> String {
        let one = &self.association;
        let rate = one.rate.map_or_else(
            || "and none would by chance".to_owned(),
            |rate| format!("{} times as many as by chance", factor_in_words(rate)),
        );
        format!(
            "{} of {} of kind \"{}\" lie within {} of a bad time, {rate} ({}){}.",
            one.events_near,
            counted(one.events, "event", "events"),
            one.kind,
            one.tolerance_ns,
            p_in_words(one.p_adjusted),
            doubt_of(self.is_record_short)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Look at one of these moments in the report: does the event come first, or does it tell of the same trouble?"
            .into()
    }
}

impl InWords for HostSlowFound {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { shared, of } = self;
        match shared {
            0 => format!(
                "In none of {of} bad times did a task on the host's own memory take long as well: that speaks for the storage or the way to it, and \
                 against this host."
            ),
            _ => format!(
                "In {shared} of {of} bad times a task on the host's own memory took long as well: then this host was slow, and not the storage alone."
            ),
        }
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.shared {
            0 => "Look at the servers and the network; another host that watches the same targets tells these two apart.",
            _ => "Look at what runs on this host then: processors, memory, other users.",
        }
        .into()
    }
}
