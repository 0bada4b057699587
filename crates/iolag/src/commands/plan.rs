//! `iolag plan`: the plans that come with iolag; `iolag run`: a campaign by a plan.

use std::path::Path;

use iolag_conduct::{ExitCode, Failure, become_keeper};

use crate::args::{CampaignArguments, Common, Plan, RunPlan};
use crate::commands::bench::conducting::{conduct, limits};
use crate::commands::{refuse_equal_names, store_of, typed};
use crate::documents::{Purpose, UserFile, found_programs};
use crate::output;
use crate::planning::{PlanDocument, READY, ReadyPlan, Wishes, campaign};

/// What the file of a campaign is.
const PLAN: Purpose = Purpose { noun: "plan", advice: "iolag plan shows ready-made ones" };

/// Lists the ready-made plans, or prints one.
///
/// # Errors
/// If there is none of that name.
pub fn print(options: &Plan, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "plan")?;
    let Some(name) = &options.name else {
        let line =
            |plan: &ReadyPlan| format!("{:<13} {}\n{:13} {}\n", plan.name, plan.about, "", plan.command());
        let list: String = READY.iter().map(line).collect();
        output::print_result(&format!("{list}\niolag plan NAME > NAME.toml writes one to change.\n"))?;
        return Ok(ExitCode::Fine);
    };
    let Some(plan) = READY.iter().find(|plan| plan.name == *name) else {
        let names: Vec<_> = READY.iter().map(|plan| plan.name).collect();
        let message = format!("there is no plan {name:?}: expected one of {}", names.join(", "));
        return Err(Failure::usage(message));
    };
    output::print_result(plan.text)?;
    output::notice(common, &format!("what takes it, from a file: {}", plan.command()));
    Ok(ExitCode::Fine)
}

/// Conducts the campaign of a plan.
///
/// # Errors
/// If the plan cannot be understood, or nothing can be measured.
pub fn run(options: &RunPlan, common: &Common) -> Result<ExitCode, Failure> {
    refuse_equal_names(&options.labels)?;
    let keeper = become_keeper(store_of(common), typed())?;
    let file =
        UserFile::read(&options.plan, PLAN).map_err(|failure| meant_ready_made(failure, &options.plan))?;
    output::refuse_needed_files(options.campaign.report.as_deref(), common, &[&options.plan])?;
    let document = PlanDocument::parse(&file.source()).map_err(Failure::usage)?;
    let of_file = document.history(&file.source()).map_err(Failure::usage)?;
    let (names, is_secret) = (document.programs(), document.has_secret());
    let exposure = is_secret.then(|| file.exposure(PLAN.noun)).flatten();
    let openness = (!names.is_empty()).then(|| file.openness(PLAN.noun)).flatten();
    exposure.iter().chain(&openness).for_each(|told| output::notice(common, told));
    let programs = found_programs(&names, PLAN.noun)?;
    let (targets, labels) = (options.targets.clone(), options.labels.clone());
    let wishes = Wishes { targets, labels, programs };
    let planned = campaign(file.source(), &document, &wishes, &limits()).map_err(Failure::usage)?;
    let history = options.campaign.history.clone().or(of_file);
    conduct(planned, &keeper, &CampaignArguments { history, ..options.campaign.clone() }, common)
}

/// Whoever types the name of a plan that comes with iolag has read it in the list.
fn meant_ready_made(failure: Failure, path: &Path) -> Failure {
    let is_meant = |plan: &&ReadyPlan| path.file_name().is_some_and(|name| name == plan.name);
    match READY.iter().find(is_meant) {
        Some(plan) => Failure {
            sentence: format!(
                "{0} is a plan that comes with iolag, and no file yet: iolag plan {0} > {0}.toml writes one, {1} takes it",
                plan.name,
                plan.command()
            ),
            ..failure
        },
        None => failure,
    }
}
