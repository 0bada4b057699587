//! The programs that a watch starts.

use std::collections::BTreeSet;

use super::document::Document;
use super::facts::program_of_fact;

/// The programs that a file's commands need, as they are written.
pub fn programs(document: &Document) -> BTreeSet<String> {
    let commands = document.task.values().filter_map(|table| table.command.as_ref());
    let covariates = document.covariate.iter().map(|table| &table.command);
    let named = commands.chain(covariates).filter_map(|command| Some(command.first()?.get_ref().clone()));
    named.chain(document.facts.values().filter_map(program_of_fact)).collect()
}
