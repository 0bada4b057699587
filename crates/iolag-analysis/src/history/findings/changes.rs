//! Findings about levels: when they changed, how long they lasted, and with which event.
//!
//! A level that is over is told with its end: "since" is said only of what lasts. One that came back to where it was is one finding (see
//! [`crate::history::changes::spells`]), and so are levels of several series of a host that begin, and end, at the same time.

use super::words::amounts::{FELT_SECONDS, level_in_words};
use iolag_model::{Event, EventSource, WallSpan};

use super::drifts::findings_of_drifts;
use super::finding::HistoryFinding;
use super::finding::Saying;
use super::words::amounts::{moment_in_words, p_in_words};
use super::words::factors::{Direction, Tense};
use super::words::names::{Names, task};
use crate::finding::history_kind::FindingKind;
use crate::finding::words::share_in_words;
use crate::finding::{EvidenceAmount, Severity};
use crate::history::analysis::HistoryAnalysis;
use crate::history::changes::change_point::{ChangePoint, ChangeStrength};
use crate::history::changes::event_matching::{EventMatch, EventPlace, concerns, place_of_event};
use crate::history::changes::moment::ChangeMoment;
use crate::history::changes::spells::spells_of;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::timed_values::Quantity;

/// What is this many times slower is serious.
const SERIOUS_RATIO: f64 = 2.0;

pub(crate) fn findings_of_changes(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut findings = stretches(analysis, names);
    findings.extend(findings_of_drifts(analysis, names));
    findings
}

/// A level of a series, the change with which it began, and the event that may explain that.
struct Stretch<'a> {
    of: &'a SeriesAnalysis,
    change: &'a ChangePoint,
    matched: Option<&'a EventMatch>,
    end: StretchEnd<'a>,
}

/// How a level ended.
#[derive(Clone, Copy)]
enum StretchEnd<'a> {
    /// It lasts.
    Lasts,
    /// With a change to yet another level.
    Next(&'a ChangePoint),
    /// With a change to the level before it, which is no finding of its own; with the event that may explain it.
    Back(&'a ChangePoint, Option<&'a EventMatch>),
}

impl<'a> Stretch<'a> {
    /// Those of a series, in the order of time.
    fn all_of(of: &'a SeriesAnalysis) -> Vec<Self> {
        let matched = |index| of.events.matched.iter().find(|matched| matched.change == index);
        let spells = spells_of(&of.changes);
        let is_end_of_spell =
            |index: &usize| index.checked_sub(1).is_some_and(|begin| spells.contains(&begin));
        let stretch = |index: usize| {
            let end = match of.changes.get(index + 1) {
                None => StretchEnd::Lasts,
                Some(next) if spells.contains(&index) => StretchEnd::Back(next, matched(index + 1)),
                Some(next) => StretchEnd::Next(next),
            };
            Self { of, change: &of.changes[index], matched: matched(index), end }
        };
        (0..of.changes.len()).filter(|index| !is_end_of_spell(index)).map(stretch).collect()
    }

    const fn ending(&self) -> Option<&'a ChangePoint> {
        match self.end {
            StretchEnd::Lasts => None,
            StretchEnd::Next(change) | StretchEnd::Back(change, _) => Some(change),
        }
    }

    const fn tense(&self) -> Tense {
        if self.ending().is_some() { Tense::Past } else { Tense::Present }
    }

    /// How far the level moved: the logarithm of the ratio, or how far ranks moved where no ratio is known.
    fn size(&self) -> f64 {
        let by_rank = (self.change.greater_after - 0.5).abs();
        self.change.ratio.value.filter(|ratio| *ratio > 0.0).map_or(by_rank, |ratio| ratio.ln().abs())
    }

    fn is_greater(&self) -> bool {
        self.change.greater_after > 0.5
    }

    fn direction(&self) -> Direction {
        Direction { quantity: self.of.summary.quantity, is_up: self.is_greater() }
    }

    /// What nobody feels is no warning, however much slower it is; what is over, and left nothing behind, is no news that is serious, nor is what may be
    /// no slower at all by the interval of its factor.
    fn severity(&self) -> Severity {
        let change = self.change;
        let is_felt = change.median_after.max(change.p95_after) >= FELT_SECONDS;
        if self.of.summary.quantity != Quantity::Duration || !self.is_greater() || !is_felt {
            return Severity::Note;
        }
        let is_over =
            self.ending().is_some_and(|next| next.median_after < SERIOUS_RATIO * change.median_before);
        match change.ratio.value {
            Some(ratio)
                if ratio >= SERIOUS_RATIO && !is_over && change.ratio.excludes_none() != Some(false) =>
            {
                Severity::Serious
            }
            _ => Severity::Warning,
        }
    }

    /// As in `, in one step`, `, little by little from 2008-05-06 07:00 UTC on`; of a level that is over only how it came about, if not at once.
    fn course_in_words(&self) -> String {
        match self.change.began {
            Some(began) if began < self.change.first_after => {
                format!(", little by little from {} on", moment_in_words(began))
            }
            Some(_) => ", little by little".to_owned(),
            None if matches!(self.end, StretchEnd::Lasts) => ", in one step".to_owned(),
            None => String::new(),
        }
    }

    /// As in `Since 2008-05-08 19:00 UTC`, `From 2008-05-08 19:00 UTC to 2008-05-10 07:00 UTC`.
    fn time_in_words(&self) -> String {
        let moment = |change: &ChangePoint| match self.of.summary.moment_of(change) {
            ChangeMoment::At(moment) => moment_in_words(moment),
            ChangeMoment::Between(WallSpan { begin, end }) => format!(
                "some moment between {} and {} (there is no sample between)",
                moment_in_words(begin),
                moment_in_words(end)
            ),
        };
        match self.ending() {
            None => format!("Since {}", moment(self.change)),
            Some(next) => format!("From {} to {}", moment(self.change), moment(next)),
        }
    }

    /// Whether begin and end, if it has one, are known to a few periods.
    fn is_dated(&self) -> bool {
        let is_dated =
            |change: &ChangePoint| matches!(self.of.summary.moment_of(change), ChangeMoment::At(_));
        is_dated(self.change) && self.ending().is_none_or(is_dated)
    }

    /// As in `, and is as before since`, of what was less for a while: that it is no longer is no bad news.
    fn return_in_words(&self) -> &'static str {
        match self.end {
            StretchEnd::Back(end, _) if !self.is_greater() => match self.of.changes.last() {
                Some(last) if last == end => ", and is as before since",
                _ => ", and was as before then",
            },
            _ => "",
        }
    }

    /// As in `the median went from 200 ms to 1.60 s`, `the median was 1.60 s, before 200 ms and after 210 ms`.
    fn levels_in_words(&self) -> String {
        let change = self.change;
        let level = |median, is| level_in_words(median, is, self.of.summary.quantity);
        let before = level(change.median_before, change.median_before_is);
        let here = level(change.median_after, change.median_after_is);
        let after = |next: &ChangePoint| level(next.median_after, next.median_after_is);
        match self.end {
            StretchEnd::Lasts => format!("the median went from {before} to {here}"),
            StretchEnd::Next(next) => {
                format!("the median went from {before} to {here}, then to {}", after(next))
            }
            StretchEnd::Back(next, _) => {
                format!("the median was {here}, before {before} and after {}", after(next))
            }
        }
    }
}

/// Levels that begin and end at the same time on the same host are one finding.
fn stretches(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let of_series = analysis.series.iter().filter(|of| of.summary.series.key.part.is_empty());
    let mut all: Vec<Stretch> = of_series.flat_map(Stretch::all_of).collect();
    let host = |one: &Stretch| one.of.summary.series.key.host.clone();
    let is_over = |one: &Stretch| one.tense() == Tense::Past;
    all.sort_by_key(|one| (host(one), is_over(one), one.change.first_after));
    let near = |one: &ChangePoint, other: &ChangePoint| {
        let between = one.first_after.since(one.last_before);
        let apart = other.first_after.since(one.first_after).max(one.first_after.since(other.first_after));
        apart.0 <= 4 * between.0
    };
    let together = |one: &Stretch, other: &Stretch| {
        let have_one_end = match (one.ending(), other.ending()) {
            (None, None) => true,
            (Some(one), Some(other)) => near(one, other),
            _ => false,
        };
        host(one) == host(other) && near(one.change, other.change) && have_one_end
    };
    all.chunk_by(together).map(|stretches| stretch_finding(stretches, analysis, names)).collect()
}

fn stretch_finding(stretches: &[Stretch], analysis: &HistoryAnalysis, names: &Names) -> HistoryFinding {
    let mut ordered: Vec<&Stretch> = stretches.iter().collect();
    ordered.sort_by(|one, other| other.size().total_cmp(&one.size()));
    let main = ordered[0];
    let key = &main.of.summary.series.key;
    let mut sentence = format!(
        "{}, {} {}{}{}: {}",
        main.time_in_words(),
        names.series(key),
        main.direction().in_words(&main.change.ratio, main.tense()),
        main.direction().interval_in_words(&main.change.ratio),
        main.return_in_words(),
        main.levels_in_words(),
    );
    sentence += &main.course_in_words();
    sentence += match main.change.strength {
        ChangeStrength::Weak => ", on weak evidence",
        ChangeStrength::Moderate => ", on moderate evidence",
        ChangeStrength::Strong => ", on strong evidence",
    };
    let others: Vec<_> =
        ordered[1..].iter().map(|other| &other.of.summary.series.key).filter(|other| *other != key).collect();
    if !others.is_empty() {
        sentence += &format!("; at the same time {} changed", names.list(others.iter().copied()));
    }
    sentence += ". ";
    let (told, advice) = explanation(main, analysis);
    sentence += &told;
    let (begin, end) = match main.ending() {
        None => (main.change.last_before, main.change.first_after),
        Some(next) => (main.change.first_after, next.first_after),
    };
    HistoryFinding::new(FindingKind::Change, main.severity(), sentence, advice)
        .of(std::iter::once(key).chain(others))
        .during(begin, end)
        .sized(main.size())
        .saying(stretch_saying(stretches, analysis))
        .with(
            "probability without a change",
            p_in_words(main.change.p),
            EvidenceAmount::Probability(main.change.p),
        )
        .with(
            "an attempt after takes longer than one before",
            share_in_words(main.change.greater_after),
            EvidenceAmount::Share(main.change.greater_after),
        )
}

/// What these levels of one time say together with others of the same day, if they all go the same way in one place.
fn stretch_saying(stretches: &[Stretch], analysis: &HistoryAnalysis) -> Option<Saying> {
    let key = |one: &Stretch| one.of.summary.series.key.clone();
    let first = &stretches[0];
    let first_key = key(first);
    let alike = |one: &Stretch| {
        one.is_greater() == first.is_greater()
            && one.of.summary.quantity == first.of.summary.quantity
            && std::mem::discriminant(&one.end) == std::mem::discriminant(&first.end)
            && analysis.place_of(&one.of.summary.series.key) == analysis.place_of(&first_key)
    };
    if !stretches.iter().all(alike) {
        return None;
    }
    let factors: Vec<f64> =
        stretches.iter().filter_map(|one| one.direction().number(&one.change.ratio)).collect();
    if factors.len() < stretches.len() {
        return None;
    }
    let (direction, tense) = (first.direction(), first.tense());
    let much = format!("{} {{range}} {}", direction.plural_verb(tense), direction.measure());
    let event = stretches.iter().find_map(|one| event_of(one.matched, analysis));
    let beside = match event {
        Some((_, event)) => format!(", with event \"{}\" next to it", event.text.replace(['{', '}'], "|")),
        None => ", with no event noted next to it".to_owned(),
    };
    let pattern = match first.end {
        StretchEnd::Lasts => format!("{{since}}, {{series}} changed: they {much}{beside}"),
        StretchEnd::Next(_) => format!("{{span}}, {{series}} {much}{beside}"),
        StretchEnd::Back(..) => format!("{{span}}, {{series}} {much} as before and after{beside}"),
    };
    let most = stretches.iter().max_by(|one, other| one.size().total_cmp(&other.size())).unwrap_or(first);
    // Where no moment is known, the samples beside it are said, and others must have the same.
    let pattern = match first.is_dated() {
        true => pattern,
        false => {
            let time = first.time_in_words();
            pattern.replace("{since}", &time).replace("{span}", &time)
        }
    };
    Some(Saying {
        pattern,
        subjects: stretches.iter().map(key).collect(),
        amounts: factors,
        unit: direction.unit(),
        detail: format!("{}: {}", task(&key(most)), most.levels_in_words()),
    })
}

fn event_of<'a>(
    matched: Option<&'a EventMatch>,
    analysis: &'a HistoryAnalysis,
) -> Option<(&'a EventMatch, &'a Event)> {
    let matched = matched?;
    Some((matched, analysis.events.iter().find(|event| event.id == matched.event)?))
}

fn explanation(stretch: &Stretch, analysis: &HistoryAnalysis) -> (String, &'static str) {
    let of = stretch.of;
    let at_end = match stretch.end {
        StretchEnd::Back(change, matched) => {
            event_of(matched, analysis).map_or_else(String::new, |(_, event)| {
                format!(" Event \"{}\" {}.", event.text, place_in_words(of, change, event, "its end"))
            })
        }
        StretchEnd::Lasts | StretchEnd::Next(_) => String::new(),
    };
    let moment = if stretch.ending().is_some() { "its begin" } else { "that moment" };
    match event_of(stretch.matched, analysis) {
        Some((matched, event)) => {
            let told = format!(
                "Event \"{}\" {}{}; a change at a random moment would have an event as near with a probability of {}.{at_end}",
                event.text,
                place_in_words(of, stretch.change, event, moment),
                others_within(stretch, event, analysis),
                share_in_words(matched.chance)
            );
            (
                told,
                "Compare before and after the event in the report; an event near a change need not be its cause.",
            )
        }
        None => {
            let told = format!(
                "No event that concerns it is noted within {} of {moment}.{at_end}",
                of.events.tolerance_ns
            );
            (told, "Find out what changed then, and note it: `iolag note TEXT --at TIME`.")
        }
    }
}

/// As in `was at that moment`, `was 2 h 00 min before that moment`, `lies between the two samples, too`.
fn place_in_words(of: &SeriesAnalysis, change: &ChangePoint, event: &Event, moment: &str) -> String {
    let told = of.summary.moment_of(change);
    match (place_of_event(change, told, event), told) {
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

/// As in `, as do 2 other events`: of what lies between two distant samples none is nearer than another.
fn others_within(stretch: &Stretch, nearest: &Event, analysis: &HistoryAnalysis) -> String {
    let key = &stretch.of.summary.series.key;
    let told = stretch.of.summary.moment_of(stretch.change);
    let is_other = |event: &&Event| {
        event.id != nearest.id
            && event.source != EventSource::Journal
            && concerns(event, key)
            && place_of_event(stretch.change, told, event) == EventPlace::Within
    };
    match analysis.events.iter().filter(is_other).count() as u64 {
        count if count == 0 || matches!(told, ChangeMoment::At(_)) => String::new(),
        1 => ", as does 1 other event".to_owned(),
        count => format!(", as do {count} other events"),
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;

    use super::*;
    use crate::history::made_up_series::{DAY, analysed, changes_told as told, columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};
    use iolag_model::Random;

    #[test]
    fn a_change_in_a_gap_of_a_week_has_no_moment() {
        let mut noise = Random::new(4);
        // Nothing was measured from day 10 to day 17.
        let columns =
            columns_of((0..30 * DAY).filter(|slot| !(10 * DAY..17 * DAY).contains(slot)).map(|slot| {
                let level = if slot < 10 * DAY { 200.0 } else { 800.0 };
                (slot * 900, (level * (0.2 * noise.normal()).exp()) as u64, Outcome::Ok)
            }));
        let event = |id: &str, day: i64| Event {
            id: id.to_owned(),
            text: format!("event of day {day}"),
            ..Event::of_all(EventSource::Note, iolag_model::WallTime::from_seconds(day * 86_400))
        };
        let series = iolag_model::Series {
            kind: iolag_model::SeriesKind::ImportedDuration,
            ..series_of("/home", "list")
        };
        let input = HistoryInput {
            series: vec![(series, columns)],
            events: vec![event("a", 12), event("b", 15)],
            ..HistoryInput::default()
        };
        let analysis = analyse_history(&input, &HistoryOptions::default());
        let [found] = told(&analysis)[..] else { panic!("{:#?}", told(&analysis)) };
        let sentence = &found.finding.sentence;
        let begin = "Since some moment between 1970-01-10 23:45 UTC and 1970-01-18 00:00 UTC (there is no sample between), `list`";
        assert!(sentence.starts_with(begin), "{sentence}");
        let event = "Event \"event of day 12\" lies between the two samples around that moment, before the change or after it, as does 1 other";
        assert!(sentence.contains(event), "{sentence}");
        assert_eq!(analysis.gaps.len(), 1, "{:?}", analysis.gaps);
    }

    #[test]
    fn a_level_that_rose_and_fell_again_is_one_finding_with_its_end() {
        let analysis =
            analysed(30 * DAY, |slot| if (10 * DAY..14 * DAY).contains(&slot) { 1.6 } else { 0.2 });
        assert_eq!(analysis.series[0].changes.len(), 2);
        let [found] = told(&analysis)[..] else { panic!("{:#?}", told(&analysis)) };
        let sentence = &found.finding.sentence;
        let begin = "From 1970-01-11 00:00 UTC to 1970-01-15 00:00 UTC, `list` on /home took 8.0 times as long (95 %: ";
        assert!(
            sentence.starts_with(begin) && sentence.contains("): the median was 1.59 s, before "),
            "{sentence}"
        );
        assert_eq!(found.finding.severity, Severity::Warning, "it is over");
        let lasts = analysed(30 * DAY, |slot| if slot >= 26 * DAY { 1.6 } else { 0.2 });
        let [found] = told(&lasts)[..] else { panic!("{:#?}", told(&lasts)) };
        assert!(found.finding.sentence.starts_with("Since 1970-01-27 00:00 UTC, `list` on /home takes "));
        assert_eq!(found.finding.severity, Severity::Serious);
    }

    #[test]
    fn a_good_spell_that_ends_is_one_note_and_a_return_after_a_long_good_time_is_serious() {
        let fast_from = |fast: i64, slow_again: i64, after: f64| {
            analysed(30 * DAY, move |slot| match slot {
                slot if slot < fast => 0.9,
                slot if slot < slow_again => 0.3,
                _ => after,
            })
        };
        let spell = fast_from(20 * DAY, 22 * DAY, 0.9);
        assert_eq!(spell.series[0].changes.len(), 2);
        let [found] = told(&spell)[..] else { panic!("{:#?}", told(&spell)) };
        let sentence = &found.finding.sentence;
        assert!(
            sentence.starts_with("From 1970-01-21 00:00 UTC to 1970-01-23 00:00 UTC, `list`"),
            "{sentence}"
        );
        let words = "`list` on /home was 2.9 times as fast (95 %: 2.8 to 3.1), and is as before since: the median was 3";
        assert!(sentence.contains(words), "{sentence}");
        assert_eq!(found.finding.severity, Severity::Note);
        for (fast, slow_again, after) in [(5, 20, 0.9), (20, 22, 1.8)] {
            let analysis = fast_from(fast * DAY, slow_again * DAY, after);
            let since = told(&analysis).into_iter().find(|one| one.finding.sentence.starts_with("Since "));
            let severity = since.map(|one| one.finding.severity);
            assert_eq!(severity, Some(Severity::Serious), "{:#?}", told(&analysis));
        }
    }

    #[test]
    fn since_is_said_only_of_the_last_of_several_levels() {
        let levels = |slot| match slot / DAY {
            0..10 => 0.2,
            10..20 => 1.6,
            _ => 0.8,
        };
        let analysis = analysed(30 * DAY, levels);
        let told = told(&analysis);
        let [rose, fell] = told[..] else { panic!("{told:#?}") };
        assert!(rose.finding.sentence.starts_with("From 1970-01-11 "), "{}", rose.finding.sentence);
        assert_eq!(rose.finding.severity, Severity::Serious, "four times as slow as it was, to the end");
        assert!(fell.finding.sentence.starts_with("Since 1970-01-21 "), "{}", fell.finding.sentence);
    }
}
