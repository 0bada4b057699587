//! From a plan file and what was typed to a campaign.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;

use iolag_backend::Target;
use iolag_conduct::{BenchOptions, Campaign, Limits, Repeating};
use iolag_model::{one_line, parse_bytes, parse_count};
use toml::Spanned;

use super::document::{BenchTable, Number, PlanDocument};
use super::told::told;
use crate::args::values::{
    parse_caches, parse_label, parse_on_error, parse_on_hang, parse_order, parse_period, parse_precision,
};
use crate::documents::{DocumentError, Source, Text};

/// What the command line and the machine add to the file.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Targets on the command line.
    pub targets: Vec<Target>,
    /// Labels on the command line.
    pub labels: Vec<(String, String)>,
    /// Absolute paths of programs, by the names that [`PlanDocument::programs`] asks for.
    pub programs: BTreeMap<String, PathBuf>,
}

/// The campaign that a plan file means.
///
/// # Errors
/// One sentence with file and line.
pub fn campaign(
    source: Source<'_>,
    document: &PlanDocument,
    wishes: &Wishes,
    limits: &Limits,
) -> Result<Campaign, DocumentError> {
    Planning { source, document, wishes }.campaign(limits)
}

/// Where a workload measures on its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// In their targets.
    Targets,
    /// In their trees, where they have one, else in their targets.
    Trees,
}

/// What a campaign is made of.
pub(super) struct Planning<'a> {
    pub(super) source: Source<'a>,
    pub(super) document: &'a PlanDocument,
    pub(super) wishes: &'a Wishes,
}

impl Planning<'_> {
    fn campaign(&self, limits: &Limits) -> Result<Campaign, DocumentError> {
        let benches = &self.document.bench;
        let workload = |bench: &Spanned<BenchTable>| bench.get_ref().workload.get_ref().clone();
        let mut campaigns = Vec::new();
        for (place, bench) in benches.iter().enumerate() {
            if benches[..place].iter().any(|other| workload(other) == workload(bench)) {
                let name = workload(bench);
                let message =
                    format!("a plan has one [[bench]] of a workload: make a plan of its own of this {name}");
                return Err(self.source.error(bench, message));
            }
            campaigns.push(self.of_bench(place, bench, limits)?);
        }
        self.refuse_trees_of_nobody()?;
        match campaigns.len() {
            0 => Err(self.source.nothing("a plan has a [[bench]]: what is to be measured".to_owned())),
            1 => Ok(campaigns.remove(0)),
            _ => Ok(Campaign::together(self.options(None)?, &campaigns)),
        }
    }

    /// What is said of the campaign, of so many clients, or copies.
    pub(super) fn options(&self, clients: Option<&[Number]>) -> Result<BenchOptions, DocumentError> {
        let (document, usual) = (self.document, BenchOptions::default());
        Ok(BenchOptions {
            name: document.name.as_ref().map(|name| self.name(name)).transpose()?,
            sides: self.sides(Ground::Targets)?,
            clients: self.all(clients, usual.clients, parse_count)?,
            crew: usual.crew,
            repeat: self.repeating()?,
            order: self.one(document.order.as_ref(), usual.order, parse_order)?,
            deadline: self.one(document.deadline.as_ref(), usual.deadline, parse_period)?,
            on_hang: self.one(document.on_hang.as_ref(), usual.on_hang, parse_on_hang)?,
            on_error: self.one(document.on_error.as_ref(), usual.on_error, parse_on_error)?,
            give_up_after: self.some(document.give_up_after.as_ref(), parse_period)?,
            buffer_bytes: self.some(document.buffer.as_ref(), parse_bytes)?,
            caches: self.one(document.caches.as_ref(), usual.caches, parse_caches)?,
            drop_command: self.some(document.drop_command.as_ref(), str::parse)?,
            payload: usual.payload,
            bystander: self.bystander()?,
            copy_to: usual.copy_to,
            working_name: self.one(document.working_name.as_ref(), usual.working_name, str::parse)?,
            seed: self.one(document.seed.as_ref(), usual.seed, str::parse)?,
            labels: self.labels(&document.labels, &self.wishes.labels)?,
        })
    }

    fn repeating(&self) -> Result<Repeating, DocumentError> {
        let document = self.document;
        let repeat = self.some(document.repeat.as_ref(), parse_count)?;
        let precision = self.some(document.precision.as_ref(), parse_precision)?;
        let budget = self.some(document.budget.as_ref(), parse_period)?;
        Repeating::of(repeat, precision, budget).map_err(|failure| told(&self.source, 0..0, &failure))
    }

    /// A name stands in lines of tables.
    pub(super) fn name(&self, name: &Text) -> Result<String, DocumentError> {
        let text = name.get_ref();
        match !text.trim().is_empty() && one_line(text) == *text {
            true => Ok(text.clone()),
            false => Err(self.source.error(name, format!("{text:?} is no name: expected a line of text"))),
        }
    }

    pub(super) fn common_labels(&self) -> Vec<(String, String)> {
        let own = self.document.labels.iter().map(|(name, value)| (name.get_ref().clone(), value.clone()));
        own.chain(self.wishes.labels.iter().cloned()).collect()
    }

    /// Labels of the file, then `others`: a run has one value per name.
    pub(super) fn labels(
        &self,
        own: &BTreeMap<Text, String>,
        others: &[(String, String)],
    ) -> Result<Vec<(String, String)>, DocumentError> {
        let mut labels = Vec::new();
        for (name, value) in own {
            let label = parse_label(&format!("{}={value}", name.get_ref()))
                .ok()
                .filter(|(read, _)| read == name.get_ref())
                .ok_or_else(|| self.source.error(name, "a label has a name, without ="))?;
            if others.iter().any(|(other, _)| *other == label.0) {
                let message = format!("the label {} is given twice: a run has one value per name", label.0);
                return Err(self.source.error(name, message));
            }
            labels.push(label);
        }
        labels.extend_from_slice(others);
        Ok(labels)
    }

    /// A value as it is typed, if there is one.
    pub(super) fn some<V: Display, T, E: Display>(
        &self,
        value: Option<&Spanned<V>>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, DocumentError> {
        let Some(value) = value else { return Ok(None) };
        let text = value.get_ref().to_string();
        parse(&text).map(Some).map_err(|error| {
            let (quoted, error) = (format!("{text:?}"), error.to_string());
            let message = if error.contains(&quoted) { error } else { format!("{quoted}: {error}") };
            self.source.error(value, message)
        })
    }

    pub(super) fn one<V: Display, T, E: Display>(
        &self,
        value: Option<&Spanned<V>>,
        usual: T,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, DocumentError> {
        Ok(self.some(value, parse)?.unwrap_or(usual))
    }

    pub(super) fn all<V: Display, T, E: Display>(
        &self,
        values: Option<&[Spanned<V>]>,
        usual: Vec<T>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Vec<T>, DocumentError> {
        let Some(values) = values else { return Ok(usual) };
        let read = values.iter().map(|value| self.some(Some(value), &parse));
        Ok(read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests;
