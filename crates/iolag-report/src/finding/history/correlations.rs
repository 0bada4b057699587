//! Series that go together, in words: correlations and their absence, rhythms that are shared, lags.

use std::borrow::Cow;

use iolag_analysis::history::{
    CorrelationFound, LagFound, NoCorrelationFound, PlacesBad, Quantity, SharedRhythmFound, Variable,
};
use iolag_model::counted;

use super::amounts::{doubt_of, p_in_words};
use crate::finding::in_words::{About, InWords};
use crate::words::names::Names;

impl InWords for CorrelationFound {
    fn sentence(&self, about: &About<'_>) -> String {
        let pair = &self.pair;
        let found = pair.judged();
        let direction =
            if found.coefficient > 0.0 { "go up and down together" } else { "go against each other" };
        let beyond = match &pair.beyond_daily_cycle {
            Some(_) => format!(" beyond the time of day, {:.2} with it", pair.correlation.coefficient),
            None => String::new(),
        };
        format!(
            "{} and {} {direction}: {} correlation of {:.2}{beyond} ({}, worth {:.0} independent ones; {} after correction for all pairs){}.",
            variable(&pair.left, about.names),
            variable(&pair.right, about.names),
            found.strength,
            found.coefficient,
            counted(found.pairs, "pair", "pairs"),
            found.pairs_effective,
            p_in_words(pair.p_adjusted),
            doubt_of(pair.beyond_daily_cycle.is_none()),
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.pair.right.quantity {
            Quantity::Load5min | Quantity::Blocked => {
                "Load and blocked tasks contain those that wait for storage, so this may be the effect and not the cause: look at runnable \
                 tasks too."
            }
            Quantity::Runnable | Quantity::StalledIo => "Look at what runs on this node at such times.",
            _ => "Look for what the two share: server, network, name service, this host.",
        }
        .into()
    }
}

impl InWords for SharedRhythmFound {
    fn sentence(&self, about: &About<'_>) -> String {
        format!(
            "{} and {} both follow the time of day: coefficient {:.2} at the same time, {:.2} beyond the daily cycle.",
            variable(&self.left, about.names),
            variable(&self.right, about.names),
            self.at_same_time,
            self.beyond_daily_cycle,
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "What happens at the same hour every day explains both; that they also share a cause is not shown."
            .into()
    }
}

impl InWords for NoCorrelationFound {
    fn sentence(&self, _about: &About<'_>) -> String {
        let places = match self.places {
            PlacesBad::NotAsked => "",
            PlacesBad::NeverTogether => {
                ", and no two places were bad at the same time: nothing shows a cause that all tasks share; one that acts seldom may \
                 be overlooked"
            }
            PlacesBad::TogetherByChance => {
                ", and no two places were bad at the same time for longer than by chance: nothing shows a cause that all \
                 tasks share; one that acts seldom may be overlooked"
            }
        };
        format!(
            "No two of the tasks ({} compared) go together more than a little{} (strongest coefficient {:.2}){places}.",
            counted(self.pairs, "pair", "pairs"),
            if self.is_beyond_daily_cycle { " beyond the time of day" } else { "" },
            self.strongest
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Look for causes task by task: name service for listing, metadata servers for creating, the compiler's files for compiling."
            .into()
    }
}

impl InWords for LagFound {
    fn sentence(&self, about: &About<'_>) -> String {
        format!(
            "{} follows {} by {}: {} correlation of {:.2} at that lag, {:.2} at the same time ({}).",
            variable(&self.second, about.names),
            variable(&self.first, about.names),
            self.lag_ns,
            self.at_lag.strength,
            self.at_lag.coefficient,
            self.at_same_time,
            p_in_words(self.p_adjusted)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "What comes first may be the cause, or both follow a third: look at what happens between the two."
            .into()
    }
}

fn variable(variable: &Variable, names: &Names) -> String {
    match variable.quantity {
        Quantity::Duration | Quantity::Value | Quantity::Rate | Quantity::RunMedian => {
            names.in_sentence(&variable.series)
        }
        of_host if of_host.is_of_host() => format!("the {of_host}"),
        other => format!("{other} of {}", names.in_sentence(&variable.series)),
    }
}
