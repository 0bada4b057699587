//! What the trouble did, in figures: by target, and by task before, during, between and after bad times.

use iolag_analysis::history::{
    ComparisonVerdict, IncidentPeriod, PeriodImpact, PlaceEffect, PlaceImpact, Quantity, Rate, Seen,
    SeriesImpact,
};
use iolag_model::{Nanoseconds, counted, format_count};

use super::report::IncidentHistory;
use crate::words::history::{estimate, share_over, shift, with_interval};
use crate::words::markdown::{OPEN, escape, push};
use crate::words::numbers::{NOTHING, percentage};

/// What users begin to notice.
const NOTICED: Nanoseconds = Nanoseconds::from_seconds(1);

impl IncidentHistory<'_> {
    pub(super) fn push_impact(&self, text: &mut String) {
        text.push_str("## Impact\n\n");
        push(text, format_args!("{OPEN} (jobs and users concerned, work lost)\n"));
        if !self.incident.places.is_empty() {
            self.push_places(text);
        }
        if !self.incident.impacts.is_empty() {
            self.push_table(text);
        }
    }

    fn push_places(&self, text: &mut String) {
        text.push_str("### Targets\n\n");
        let heads = [
            ("Affected", PlaceEffect::Unanswered..=PlaceEffect::SeenSlower),
            ("Not affected, as far as it was measured", PlaceEffect::NotShown..=PlaceEffect::Usual),
            ("Not known", PlaceEffect::TooFew..=PlaceEffect::NotMeasured),
        ];
        for (head, effects) in heads {
            let of_head = self.incident.places.iter().filter(|place| effects.contains(&place.effect));
            let told: Vec<String> = of_head.map(|place| self.place_in_words(place)).collect();
            if told.is_empty() && head != "Affected" {
                continue;
            }
            let none = match told.is_empty() {
                false => "",
                true if self.has_unjudged_places() => {
                    " not known; too few attempts were made in bad times (see below)."
                }
                true => " none.",
            };
            push(text, format_args!("**{head}:**{none}\n"));
            for sentence in &told {
                push(text, format_args!("- {sentence}"));
            }
            if !told.is_empty() {
                text.push('\n');
            }
        }
    }

    /// Whether attempts were seen that were not as usual and too few to tell more.
    fn has_unjudged_places(&self) -> bool {
        self.incident.places.iter().any(|place| place.effect == PlaceEffect::TooFew)
    }

    fn place_in_words(&self, place: &PlaceImpact) -> String {
        let control = if place.is_control { " (the control: memory, not storage)" } else { "" };
        let attempts = counted(place.attempts, "attempt", "attempts");
        let effect = match place.effect {
            PlaceEffect::Unanswered => {
                "attempts did not end within their deadline, or slots were lost to one that did not"
                    .to_owned()
            }
            PlaceEffect::NotMounted => "it was not mounted".to_owned(),
            PlaceEffect::Failing => "attempts failed more often than at other times".to_owned(),
            PlaceEffect::Slower => "tasks took longer than at other times".to_owned(),
            PlaceEffect::SeenSlower => {
                "attempts took plainly longer than at other times, but are too few to judge by statistics"
                    .to_owned()
            }
            PlaceEffect::NotShown => {
                "no more time-outs, failures or slow attempts than at other times".to_owned()
            }
            PlaceEffect::Usual => format!(
                "each attempt succeeded, none slower than the slowest at other times{}; too few to compare more closely",
                self.longest_during(place)
            ),
            PlaceEffect::TooFew => format!(
                "no more time-outs or failures than at other times, but not every attempt was as usual{}; too few to \
                 compare more closely",
                self.longest_during(place)
            ),
            PlaceEffect::NotMeasured => "no attempt was started in bad times".to_owned(),
        };
        let slower = self.slower_tasks(place);
        let slower = if slower.is_empty() { slower } else { format!("; slower: {slower}") };
        let seen = match place.effect {
            PlaceEffect::Slower | PlaceEffect::SeenSlower => self.seen_slower(place),
            _ => String::new(),
        };
        let name = self.place(&place.host, &place.target);
        format!("{name}{control}: {effect} ({attempts} in bad times){slower}{seen}")
    }

    fn impacts_of(&self, place: &PlaceImpact) -> impl Iterator<Item = &SeriesImpact> {
        let is_of = |one: &&SeriesImpact| one.series.host == place.host && one.series.target == place.target;
        self.incident.impacts.iter().filter(is_of)
    }

    fn longest_during(&self, place: &PlaceImpact) -> String {
        let during = self
            .impacts_of(place)
            .flat_map(|one| one.periods.iter().filter(|period| period.period == IncidentPeriod::During));
        let longest = during
            .map(|period| period.summary.greatest)
            .filter(|greatest| greatest.bound().is_some())
            .max_by(|one, other| one.bound().unwrap_or(0.0).total_cmp(&other.bound().unwrap_or(0.0)));
        longest.map_or_else(String::new, |longest| {
            format!(" (the longest {})", escape(&estimate(longest, Quantity::Duration)))
        })
    }

    /// As in `; seen: 12 of 12 of list took longer than 95 of 100 at other times, 31.0 s to 58.0 s, median 40.1 s instead of 200 ms`.
    fn seen_slower(&self, place: &PlaceImpact) -> String {
        let amount = |one| escape(&estimate(one, Quantity::Duration));
        let told = self.impacts_of(place).filter_map(|one| {
            let (comparison, Some(Seen::Slower { beyond, of })) = (one.comparison.as_ref()?, one.seen) else {
                return None;
            };
            let during = one.periods.iter().find(|period| period.period == IncidentPeriod::During)?;
            (comparison.verdict == ComparisonVerdict::TooFew).then(|| {
                format!(
                    "; seen: {} of {} of {} took longer than 95 of 100 at other times, {} to {}, median {} instead of {}",
                    format_count(beyond),
                    format_count(of),
                    escape(&one.series.task),
                    amount(during.summary.least),
                    amount(during.summary.greatest),
                    amount(comparison.second.median.value),
                    amount(comparison.first.median.value),
                )
            })
        });
        told.collect()
    }

    /// As in `list ×44 [43–45]`.
    fn slower_tasks(&self, place: &PlaceImpact) -> String {
        let slower = self.impacts_of(place).filter_map(|one| {
            let comparison = one.comparison.as_ref()?;
            let by = comparison.shift.as_ref().map(shift).unwrap_or_default();
            (comparison.verdict == ComparisonVerdict::Slower)
                .then(|| format!("{} {}", escape(&one.series.task), escape(&by)))
        });
        slower.collect::<Vec<_>>().join(", ")
    }

    fn push_table(&self, text: &mut String) {
        text.push_str(
            "### Figures\n\nMedians and shares count each scheduled slot once: a skipped one with what was left of the probe in its way. \
             Brackets hold 95 % intervals, which know that neighbours in time are alike.",
        );
        if !self.incident.bad_times.is_empty() {
            text.push_str(
                " Bad times were found in these same attempts: that tasks with bad times of their own are slow in them is no surprise, how \
                 slow is what the table tells.",
            );
        }
        text.push_str("\n\n");
        text.push_str(
            "| task | target | when | attempts | timed out | hung | late | failed | skipped | median | over 1 s |\n\
             |---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for one in self.in_order_of_places() {
            for period in &one.periods {
                push(text, format_args!("{}", self.row(one, period)));
            }
        }
        text.push('\n');
    }

    /// The affected first.
    fn in_order_of_places(&self) -> Vec<&SeriesImpact> {
        let mut impacts: Vec<&SeriesImpact> = self.incident.impacts.iter().collect();
        let is_of = |one: &SeriesImpact, place: &PlaceImpact| {
            place.host == one.series.host && place.target == one.series.target
        };
        impacts.sort_by_key(|one| self.incident.places.iter().position(|place| is_of(one, place)));
        impacts
    }

    fn row(&self, one: &SeriesImpact, period: &PeriodImpact) -> String {
        let when = match period.period {
            IncidentPeriod::Whole => "all the time",
            IncidentPeriod::Before => "before",
            IncidentPeriod::During => "**during**",
            IncidentPeriod::Between => "between",
            IncidentPeriod::After => "after",
        };
        let rates = &period.rates;
        let counts = [&rates.timeout, &rates.hung, &rates.late, &rates.error, &rates.skipped];
        let counts: String = counts.iter().map(|rate| format!(" {} |", in_percent(rate))).collect();
        let median = period
            .summary
            .median()
            .map_or_else(|| NOTHING.to_owned(), |median| escape(&with_interval(median, Quantity::Duration)));
        let over = period.summary.shares.iter().find(|share| share.counted.threshold_ns == NOTICED);
        let over = over.map_or_else(|| NOTHING.to_owned(), |over| escape(&share_over(over, true)));
        format!(
            "| {} | {} | {when} | {} |{counts} {median} | {over} |",
            escape(&one.series.task),
            self.place(&one.series.host, &one.series.target),
            format_count(rates.attempts)
        )
    }
}

/// As in `7 (88 %)`.
fn in_percent(rate: &Rate) -> String {
    match rate.share() {
        Some(share) if rate.count > 0 => {
            format!("{} ({} %)", format_count(rate.count), percentage(100.0 * share))
        }
        _ => "0".to_owned(),
    }
}
