//! Changes of level in words: when, how much, and with which event.
//!
//! "Since" is said only of what lasts; a level that is over is told with its end.

use std::borrow::Cow;

use iolag_analysis::history::{
    ChangeMoment, ChangePoint, ChangeStrength, EventBeside, EventPlace, LevelEnd, LevelFound, Quantity,
};
use iolag_analysis::share_in_words;
use iolag_model::WallSpan;

use super::amounts::{level_in_words, moment_in_words, p_in_words};
use super::factors::{Tense, interval_in_words, measure, much_in_words, plural_verb};
use crate::finding::in_words::{About, Evidence, EvidenceAmount, InWords};

impl InWords for LevelFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let (direction, ratio) = (self.direction, &self.change.ratio);
        let [key, others @ ..] = about.series else { return String::new() };
        let at_the_same_time = match others {
            [] => String::new(),
            others => format!("; at the same time {} changed", about.names.list(others)),
        };
        format!(
            "{}, {} {}{}{}: {}{}{}{at_the_same_time}. {}",
            time_in_words(self),
            about.names.in_sentence(key),
            much_in_words(direction, ratio, tense(self)),
            interval_in_words(direction, ratio),
            return_in_words(self),
            levels_in_words(self),
            course_in_words(self),
            match self.change.strength {
                ChangeStrength::Weak => ", on weak evidence",
                ChangeStrength::Moderate => ", on moderate evidence",
                ChangeStrength::Strong => ", on strong evidence",
            },
            events_in_words(self),
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.event {
            Some(_) => {
                "Compare before and after the event in the report; an event near a change need not be its cause."
            }
            None => "Find out what changed then, and note it: `iolag note TEXT --at TIME`.",
        }
        .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        let ChangePoint { p, greater_after, .. } = self.change;
        let longer = match self.direction.quantity {
            Quantity::Rate => "a night after is faster than one before",
            Quantity::RunMedian => "a night after is slower than one before",
            _ => "an attempt after takes longer than one before",
        };
        vec![
            Evidence::new("probability without a change", p_in_words(p), EvidenceAmount::Probability(p)),
            Evidence::new(longer, share_in_words(greater_after), EvidenceAmount::Share(greater_after)),
        ]
    }
}

/// What several levels of one day say together, as in `Since …, {series} changed: they take 1.5 to 9.5 times as long, with no event noted next to it`.
/// `since` and `span` are the times of all of them.
pub(super) fn levels_together(
    found: &LevelFound,
    [since, span]: [String; 2],
    series: &str,
    range: &str,
) -> String {
    let time = match (found.is_dated(), &found.end) {
        // Where no moment is known, the samples beside it are said: others have the same.
        (false, _) => time_in_words(found),
        (true, LevelEnd::Lasts) => since,
        (true, LevelEnd::Next(..) | LevelEnd::Back { .. }) => span,
    };
    let direction = found.direction;
    let much = format!("{} {range} {}", plural_verb(direction, tense(found)), measure(direction));
    let beside = match &found.event {
        Some(event) => format!(", with event \"{}\" next to it", event.text),
        None => ", with no event noted next to it".to_owned(),
    };
    match found.end {
        LevelEnd::Lasts => format!("{time}, {series} changed: they {much}{beside}"),
        LevelEnd::Next(..) => format!("{time}, {series} {much}{beside}"),
        LevelEnd::Back { .. } => format!("{time}, {series} {much} as before and after{beside}"),
    }
}

const fn tense(found: &LevelFound) -> Tense {
    if found.ending().is_some() { Tense::Past } else { Tense::Present }
}

/// As in `, in one step`, `, little by little from 2008-05-06 07:00 UTC on`; of a level that is over only how it came about, if not at once.
fn course_in_words(found: &LevelFound) -> String {
    match found.change.began {
        Some(began) if began < found.change.first_after => {
            format!(", little by little from {} on", moment_in_words(began))
        }
        Some(_) => ", little by little".to_owned(),
        None if found.end == LevelEnd::Lasts => ", in one step".to_owned(),
        None => String::new(),
    }
}

/// As in `Since 2008-05-08 19:00 UTC`, `From 2008-05-08 19:00 UTC to 2008-05-10 07:00 UTC`.
fn time_in_words(found: &LevelFound) -> String {
    let moment = |moment: ChangeMoment| match moment {
        ChangeMoment::At(moment) => moment_in_words(moment),
        ChangeMoment::Between(WallSpan { begin, end }) => format!(
            "some moment between {} and {} (there is no sample between)",
            moment_in_words(begin),
            moment_in_words(end)
        ),
    };
    match found.ending() {
        None => format!("Since {}", moment(found.moment)),
        Some((_, end)) => format!("From {} to {}", moment(found.moment), moment(end)),
    }
}

/// As in `, and is as before since`, of what was less for a while: that it is no longer is no bad news.
const fn return_in_words(found: &LevelFound) -> &'static str {
    match found.end {
        LevelEnd::Back { is_last: true, .. } if !found.direction.is_up => ", and is as before since",
        LevelEnd::Back { is_last: false, .. } if !found.direction.is_up => ", and was as before then",
        _ => "",
    }
}

/// As in `the median went from 200 ms to 1.60 s`, `the median was 1.60 s, before 200 ms and after 210 ms`.
pub(super) fn levels_in_words(found: &LevelFound) -> String {
    let change = &found.change;
    let level = |median, is| level_in_words(median, is, found.direction.quantity);
    let before = level(change.median_before, change.median_before_is);
    let here = level(change.median_after, change.median_after_is);
    let after = |next: &ChangePoint| level(next.median_after, next.median_after_is);
    match &found.end {
        LevelEnd::Lasts => format!("the median went from {before} to {here}"),
        LevelEnd::Next(next, _) => {
            format!("the median went from {before} to {here}, then to {}", after(next))
        }
        LevelEnd::Back { change, .. } => {
            format!("the median was {here}, before {before} and after {}", after(change))
        }
    }
}

/// Which events lie beside it, or that none does.
fn events_in_words(found: &LevelFound) -> String {
    let at_end = match &found.end {
        LevelEnd::Back { change, moment, event: Some(event), .. } => {
            format!(" Event \"{}\" {}.", event.text, place_in_words(event, change, *moment, "its end"))
        }
        _ => String::new(),
    };
    let moment = if found.ending().is_some() { "its begin" } else { "that moment" };
    match &found.event {
        Some(event) => format!(
            "Event \"{}\" {}{}; a change at a random moment would have an event as near with a probability of {}.{at_end}",
            event.text,
            place_in_words(event, &found.change, found.moment, moment),
            others_in_words(event.others),
            share_in_words(event.chance)
        ),
        None => {
            format!("No event that concerns it is noted within {} of {moment}.{at_end}", found.tolerance_ns)
        }
    }
}

/// As in `was at that moment`, `was 2 h 00 min before that moment`, `lies between the two samples, too`.
fn place_in_words(event: &EventBeside, change: &ChangePoint, at: ChangeMoment, moment: &str) -> String {
    match (event.place, at) {
        (EventPlace::Within, _) if change.began.is_some() => "came while it changed".to_owned(),
        (EventPlace::Within, ChangeMoment::At(_)) => format!("was at {moment}"),
        (EventPlace::Within, ChangeMoment::Between(_)) => {
            format!("lies between the two samples around {moment}, before the change or after it")
        }
        (EventPlace::Around, _) => format!("was going on at {moment}"),
        (EventPlace::Before(apart), _) if change.began.is_some() => format!("was {apart} before that began"),
        (EventPlace::Before(apart), ChangeMoment::At(_)) => format!("was {apart} before {moment}"),
        (EventPlace::After(apart), ChangeMoment::At(_)) => format!("was {apart} after {moment}"),
        (EventPlace::Before(apart), ChangeMoment::Between(_)) => {
            format!("was {apart} before the first of the two samples around {moment}")
        }
        (EventPlace::After(apart), ChangeMoment::Between(_)) => {
            format!("was {apart} after the second of the two samples around {moment}")
        }
    }
}

/// As in `, as do 2 other events`.
fn others_in_words(others: u64) -> String {
    match others {
        0 => String::new(),
        1 => ", as does 1 other event".to_owned(),
        count => format!(", as do {count} other events"),
    }
}
