//! `iolag plan`: the plans that come with iolag; `iolag run`: a campaign by a plan.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use iolag_conduct::{Answer, ExitCode, Failure, STORE_DEADLINE, ask, become_keeper};

use crate::args::{CampaignArguments, Common, Plan, RunPlan};
use crate::commands::bench::conducting::{conduct, limits};
use crate::commands::{refuse_equal_names, store_of, typed};
use crate::documents::{Source, find_programs};
use crate::output;
use crate::planning::{PlanDocument, READY, ReadyPlan, Wishes, campaign};

/// More is no plan.
const FILE_BYTES_MAX: u64 = 1 << 20;

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
    let (file, text) = (options.plan.display().to_string(), read(&options.plan)?);
    let source = Source { file: &file, text: &text };
    let document = PlanDocument::parse(&source).map_err(Failure::usage)?;
    let of_file = document.history(&source).map_err(Failure::usage)?;
    let names = document.programs();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = match ask("scout", STORE_DEADLINE, || find_programs(&names, &path))? {
        Answer::Given(programs) => programs,
        Answer::None { age, .. } => {
            let sentence = format!(
                "a directory of $PATH has not answered for {age}; write whole paths of programs into the plan"
            );
            return Err(Failure::unusable(sentence));
        }
    };
    let (targets, labels) = (options.targets.clone(), options.labels.clone());
    let wishes = Wishes { targets, labels, programs };
    let planned = campaign(source, &document, &wishes, &limits()).map_err(Failure::usage)?;
    let history = options.campaign.history.clone().or(of_file);
    conduct(planned, &keeper, &CampaignArguments { history, ..options.campaign.clone() }, common)
}

/// What a file says.
fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let read = || -> Result<String, String> {
        let mut text = String::new();
        let file = File::open(path).map_err(|error| error.to_string())?;
        file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
        match text.len() as u64 > FILE_BYTES_MAX {
            true => Err(format!("it has more than {FILE_BYTES_MAX} bytes, which is no plan")),
            false => Ok(text),
        }
    };
    match ask("scout", STORE_DEADLINE, read)? {
        Answer::Given(Ok(text)) => Ok(text),
        Answer::Given(Err(error)) => Err(Failure::usage(format!(
            "cannot read the plan {name}: {error}; iolag plan shows ready-made ones"
        ))),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "the plan {name} has not been read for {age}: its file system does not answer"
        ))),
    }
}
