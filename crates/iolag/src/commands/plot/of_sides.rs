//! Figures of sides that are compared.

use std::io::Write;

use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_report::draw_comparison_figure;

use crate::args::{Common, Compare, Plot, SAME_WITHIN, parse_side};
use crate::commands::compare::{compared, located_for, refuse_without_effect};
use crate::commands::plot::asked::Asked;
use crate::commands::runs::figures::form_of;
use crate::guarded::{in_child, replace_by};
use crate::output;

/// Runs the command.
///
/// # Errors
/// If the sides cannot be compared, the figure cannot be drawn, or the file cannot be written.
pub fn run(asked: &Asked<'_>, options: &Plot, common: &Common) -> Result<ExitCode, Failure> {
    let form = form_of(&options.output)?;
    if let Some(option) = options.given_not_of_sides() {
        let sentence =
            format!("{option} changes nothing in the figure {} of sides: leave it out", asked.kind);
        return Err(Failure::usage(sentence));
    }
    let sides = asked.sources.iter().map(|side| parse_side(side));
    let comparison = Compare {
        value: options.value,
        workload: options.workload.clone(),
        same_within: options.same_within.unwrap_or(SAME_WITHIN),
        across: options.across.clone(),
        phases: options.phases.clone(),
        since: options.span.since.clone(),
        until: options.span.until.clone(),
        place: options.span.place.clone(),
        ..Compare::of(sides.collect::<Result<_, _>>().map_err(Failure::usage)?)
    };
    refuse_without_effect(&comparison)?;
    let located = located_for(&comparison.sides, common)?;
    let path = absolute(&options.output);
    in_child("plot", || {
        let (resolved, table) = compared(&located, &comparison)?;
        resolved.complaints.iter().for_each(|sentence| output::complain(sentence));
        let figure = draw_comparison_figure(asked.kind, &table, asked.size, form).map_err(Failure::usage)?;
        replace_by(&path, "-o", |file| file.write_all(&figure))?;
        output::notice(common, &format!("the figure is in {}", path.display()));
        match resolved.code {
            ExitCode::Fine => Ok(()),
            code => {
                Err(Failure { code, sentence: "the figure is without what could not be read".to_owned() })
            }
        }
    })
}
