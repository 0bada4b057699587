//! What is said of one series by itself: periods, modes, names, resolution, too few samples.

use std::borrow::Cow;

use iolag_analysis::history::{
    BelowResolutionFound, Estimate, Mode, ModesFound, NameServiceFound, PeriodFound, PeriodName, Quantity,
    TooFewFound, Weekday, amount_in_words,
};
use iolag_analysis::{factor_in_words, share_in_words};

use crate::finding::in_words::{About, InWords};

const LONGER: &str =
    "Watch longer or more often; neighbouring samples that resemble each other count as less than one.";
const DRIFTING: &str = "What drifts over the whole record has no level of which slow attempts could be told: look at a part of it, with --since and --until.";

impl InWords for PeriodFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let swing = self.periodicity.profile.swing;
        let swings =
            swing.map_or_else(String::new, |swing| format!(" by a factor of {}", factor_in_words(swing)));
        format!(
            "{} swings {}{swings}{}; by chance, all series counted, with a probability below {}.",
            about.list(),
            how_often(self),
            extremes_in_words(self).unwrap_or_default(),
            share_in_words(self.periodicity.p_adjusted.max(1e-3))
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Look for what runs with this period: people, cron jobs, backups, quota scans.".into()
    }
}

/// As in `every day`.
pub(super) fn how_often(found: &PeriodFound) -> String {
    match found.periodicity.name {
        PeriodName::Daily => "every day".to_owned(),
        PeriodName::Weekly => "every week".to_owned(),
        PeriodName::Hourly => "every hour".to_owned(),
        PeriodName::Other => format!("every {}", found.periodicity.period_ns),
    }
}

/// As in `, greatest around 09:30 local time (median 1.60 s), smallest around 03:30 local time (median 200 ms)`.
pub(super) fn extremes_in_words(found: &PeriodFound) -> Option<String> {
    let (quantity, found) = (found.quantity, &found.periodicity);
    let medians =
        || found.profile.bins.iter().enumerate().filter_map(|(phase, bin)| Some((phase, bin.median?)));
    let least = medians().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let greatest = medians().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let phase = |phase: usize| match found.name {
        PeriodName::Daily => Some(format!("around {phase:02}:30 local time")),
        PeriodName::Weekly => Some(format!("on {:?}s", Weekday::ALL[phase % 7])),
        PeriodName::Hourly => Some(format!("{} minutes past the hour", phase * 5)),
        PeriodName::Other => None,
    };
    let amount = |amount: f64| amount_in_words(amount, quantity);
    Some(format!(
        ", greatest {} (median {}), smallest {} (median {})",
        phase(greatest.0)?,
        amount(greatest.1),
        phase(least.0)?,
        amount(least.1)
    ))
}

impl InWords for ModesFound {
    fn sentence(&self, about: &About<'_>) -> String {
        format!(
            "{} has {} separated modes with hardly anything between: {} (a factor of {}).",
            about.list(),
            self.modes.modes.len(),
            modes_in_words(self),
            factor_in_words(self.distance)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "That is what a cache and the price of missing it look like: find out what the slow ones have in common."
            .into()
    }
}

/// As in `20 % about 10.0 ms, 80 % about 1.30 s`.
pub(super) fn modes_in_words(found: &ModesFound) -> String {
    let mode = |mode: &Mode| {
        let about = if matches!(mode.median, Estimate::Exactly(_)) { "about " } else { "" };
        format!("{} {about}{}", share_in_words(mode.share), mode.median.in_words(Quantity::Duration))
    };
    found.modes.modes.iter().map(mode).collect::<Vec<_>>().join(", ")
}

impl InWords for BelowResolutionFound {
    fn sentence(&self, about: &About<'_>) -> String {
        format!(
            "{} of {} are below the clock's resolution of {}: how far below is not known.",
            share_in_words(self.share),
            about.list(),
            self.resolution_ns
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "They are counted as faster than that, and no quantile is guessed among them; iolag's own probes resolve them."
            .into()
    }
}

impl InWords for NameServiceFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let Self { with_names, without_names } = *self;
        let [with, without] =
            [with_names, without_names].map(|seconds| amount_in_words(seconds, Quantity::Duration));
        format!(
            "{} takes {with} and without names of users and groups (`ls -n`) {without}: {} of the time go into looking names up.",
            about.names.list(about.series.first()),
            share_in_words((with_names - without_names) / with_names)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Cache names on this host (sssd or nscd), or find out why the directory service answers slowly."
            .into()
    }
}

impl InWords for TooFewFound {
    fn sentence(&self, _about: &About<'_>) -> String {
        let few = self.without.len();
        format!(
            "{few} of {} series of durations {} no p99: {}.",
            self.of,
            if few == 1 { "has" } else { "have" },
            why_no_p99(&self.without)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.drifting {
            0 => LONGER.into(),
            drifting if drifting == self.without.len() => DRIFTING.into(),
            _ => format!("{LONGER} {DRIFTING}").into(),
        }
    }
}

/// As the table judges: by the attempts that the p99 itself is worth, and the stretches of time in which those beyond the quantile given lie.
fn why_no_p99(estimates: &[(f64, Estimate)]) -> String {
    let short = estimates.iter().filter_map(|one| match &one.1 {
        Estimate::TooFew { needed, have } => Some((have, needed)),
        _ => None,
    });
    let clustered = estimates.iter().filter_map(|(q, one)| match one {
        Estimate::FewStretches { stretches } => Some((*stretches, (100.0 * (1.0 - q)).round())),
        _ => None,
    });
    let of_short = short.clone().min().map(|(least, needed)| match short.count() {
        1 => format!("one has {least} of the {needed} independent samples that are needed"),
        count => {
            format!(
                "{count} have too few independent samples, the fewest {least} of {needed} that are needed"
            )
        }
    });
    let fewest = clustered.clone().min_by_key(|one| one.0);
    let of_clustered = fewest.map(|(least, percent)| match (clustered.count(), least) {
        (1, 1) => "of one the slowest lie in a single stretch of time".to_owned(),
        (1, _) => format!("of one the slowest {percent} % lie in only {least} stretches of time"),
        (count, _) => {
            format!("of {count} the slowest attempts lie in too few stretches of time, the fewest in {least}")
        }
    });
    of_short.into_iter().chain(of_clustered).collect::<Vec<String>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_p99_is_told_why_as_the_table_judges() {
        let short = (0.99, Estimate::TooFew { needed: 368, have: 106 });
        let clustered = (0.95, Estimate::FewStretches { stretches: 2 });
        assert_eq!(why_no_p99(&[short]), "one has 106 of the 368 independent samples that are needed");
        let cut = (0.95, Estimate::FewStretches { stretches: 1 });
        assert_eq!(why_no_p99(&[cut]), "of one the slowest lie in a single stretch of time");
        assert_eq!(
            why_no_p99(&[clustered, short, (0.99, Estimate::TooFew { needed: 368, have: 20 })]),
            "2 have too few independent samples, the fewest 20 of 368 that are needed; of one the slowest 5 % lie in only \
             2 stretches of time"
        );
    }
}
