//! The runs of a benchmark, by what makes them alike.

use std::collections::BTreeMap;

use iolag_model::{Configuration, ConfigurationKey, HistoryColumns, Outcome, WallTime};

use crate::history::series::timed_values::{Quantity, TimedValues};
use crate::statistics::knowledge::Knowledge;

/// What makes runs alike: those of other options, or with other labels, are another benchmark.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunKind {
    pub(super) options: String,
    pub(super) labels: BTreeMap<String, String>,
}

impl RunKind {
    fn of(configuration: &Configuration) -> Option<Self> {
        let labels = configuration.labels().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Some(Self { options: configuration.options()?.to_owned(), labels: labels.collect() })
    }
}

/// The values of runs, by their kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Runs(pub(super) BTreeMap<RunKind, TimedValues>);

impl Runs {
    /// Those of one kind, at these moments.
    pub fn known(moments: &[WallTime], values: &[f64]) -> Self {
        Self([(RunKind::default(), TimedValues::known(moments, values))].into())
    }

    /// Those of a series of this quantity. A run of which no options are known is of its own kind.
    pub(crate) fn of(columns: &HistoryColumns, configurations: &[Configuration], quantity: Quantity) -> Self {
        let known: BTreeMap<ConfigurationKey, RunKind> =
            configurations.iter().filter_map(|one| Some((one.key, RunKind::of(one)?))).collect();
        let mut by_kind: BTreeMap<RunKind, Vec<(WallTime, f64, Knowledge)>> = BTreeMap::new();
        for row in 0..columns.len() {
            let kind = known.get(&columns.configuration[row]).cloned().unwrap_or_default();
            let (value, knowledge) = known_of_run(columns.value[row], columns.outcome[row], quantity);
            by_kind.entry(kind).or_default().push((columns.start[row], value, knowledge));
        }
        Self(by_kind.into_iter().map(|(kind, runs)| (kind, TimedValues::bounded(runs))).collect())
    }

    /// What these have of such runs: those with the same labels first.
    pub(super) fn like<'a>(all: &'a [&'a Self], kind: &'a RunKind) -> impl Iterator<Item = &'a TimedValues> {
        let alike = all.iter().filter_map(|runs| runs.0.get(kind));
        let is_other = |other: &RunKind| other.options == kind.options && other.labels != kind.labels;
        let others = all.iter().flat_map(|runs| &runs.0).filter(move |(other, _)| is_other(other));
        alike.chain(others.map(|(_, runs)| runs))
    }
}

/// What is known of the value of a run. One that hung or failed would have come to less, or taken longer, than it did; where it did nothing, it is a bound
/// that excludes nothing.
fn known_of_run(value: f64, outcome: Outcome, quantity: Quantity) -> (f64, Knowledge) {
    match (outcome, quantity.is_duration()) {
        (Outcome::Ok, _) => (value, Knowledge::Exactly),
        (_, true) => (value.max(0.0), Knowledge::AtLeast),
        (_, false) => (value.min(f64::INFINITY), Knowledge::AtMost),
    }
}

#[cfg(test)]
mod tests {
    use iolag_fixtures::made_up_series::columns_of;
    use iolag_model::Outcome;

    use super::*;

    fn configuration(key: u64, facts: &[(&str, &str)]) -> Configuration {
        Configuration {
            key: ConfigurationKey(key),
            host: "login1".to_owned(),
            target: "/scratch".to_owned(),
            first_seen: WallTime(0),
            facts: facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn runs_are_told_apart_by_options_and_labels_and_by_nothing_else() {
        let mut columns = columns_of((0..5).map(|row| (row, 1, Outcome::Ok)));
        columns.value = vec![0.0, 1.0, 2.0, 3.0, 4.0];
        columns.configuration = [0, 1, 2, 3, 1].map(ConfigurationKey).to_vec();
        let configurations = [
            configuration(1, &[("options", "8f"), ("kernel", "6.1"), ("label client", "lnet")]),
            configuration(2, &[("options", "8f"), ("kernel", "6.1"), ("label client", "nfs")]),
            configuration(3, &[("options", "8f"), ("kernel", "6.6"), ("label client", "lnet")]),
        ];
        let runs = Runs::of(&columns, &configurations, Quantity::Rate);
        let values: Vec<&[f64]> = runs.0.values().map(TimedValues::values).collect();
        assert_eq!(values, [&[0.0][..], &[1.0, 3.0, 4.0], &[2.0]]);
        // The machine's memory is the same whatever the labels.
        let all = [&runs];
        let kind = |labels: &[(&str, &str)]| RunKind {
            options: "8f".to_owned(),
            labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        let first = |labels: &[(&str, &str)]| Runs::like(&all, &kind(labels)).map(TimedValues::len).collect();
        let (nfs, none): (Vec<usize>, Vec<usize>) = (first(&[("client", "nfs")]), first(&[]));
        assert_eq!((nfs, none), (vec![1, 3], vec![3, 1]));
    }

    #[test]
    fn what_hung_or_failed_is_a_bound_also_where_it_did_nothing() {
        use Knowledge::{AtLeast, AtMost, Exactly};
        let nothing = f64::NAN;
        for (value, outcome, quantity, expected) in [
            (9.0, Outcome::Ok, Quantity::Rate, (9.0, Exactly)),
            (9.0, Outcome::Hung, Quantity::Rate, (9.0, AtMost)),
            (nothing, Outcome::Error, Quantity::Rate, (f64::INFINITY, AtMost)),
            (9.0, Outcome::Error, Quantity::RunMedian, (9.0, AtLeast)),
            (nothing, Outcome::Hung, Quantity::RunMedian, (0.0, AtLeast)),
        ] {
            assert_eq!(known_of_run(value, outcome, quantity), expected);
        }
    }
}
