//! `iolag bench setup`: the calls of a job that sets itself up, made by more and more copies at once.

use std::fs::File;
use std::io::{self, BufReader};

use iolag_conduct::{
    Answer, BenchOptions, ExitCode, Failure, Keeper, STORE_DEADLINE, SetUpLike, ask, become_keeper,
    plan_set_up, read_set_up_like,
};
use iolag_model::{RunId, SetUpSpec, one_line};

use crate::args::{BenchPlaces, Common, MetadataForm, PayloadAsked, SetUp};
use crate::commands::bench::conducting::{conduct, limits, planned};
use crate::commands::runs::opening;
use crate::commands::trace::file;
use crate::commands::{Located, store_of, typed};
use crate::output;

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &SetUp, common: &Common) -> Result<ExitCode, Failure> {
    if options.bench.campaign.format == MetadataForm::MdWorkbench {
        return Err(Failure::usage(
            "--format md-workbench is for iolag bench metadata: choose text, csv or json",
        ));
    }
    let places = BenchPlaces { targets: options.targets.clone(), clients: options.copies.clone() };
    let payload = PayloadAsked::command(options.calls.asked.payload.as_ref())?;
    let bench = BenchOptions { payload, ..planned(&places, &options.bench)? };
    let plan = |usually| plan_set_up(bench.clone(), &options.calls.spec(usually), &limits());
    let keeper = || become_keeper(store_of(common), typed());
    let (campaign, keeper): (_, Keeper) = match &options.like {
        None => (plan(SetUpSpec::synthetic())?, keeper()?),
        Some(name) => {
            let keeper = keeper()?;
            (plan(like(name, common)?)?, keeper)
        }
    };
    conduct(campaign, &keeper, &options.bench.campaign, common)
}

/// A set-up like what was traced, read by a child.
fn like(name: &str, common: &Common) -> Result<SetUpSpec, Failure> {
    let located = Located::of(common)?;
    let read = || read_like(name, &located).map_err(|failure| (failure.code as u8, failure.sentence));
    let (SetUpLike { counts, doubt }, id) = match ask("trace", STORE_DEADLINE, read)? {
        Answer::Given(Ok(read)) => read,
        Answer::Given(Err((code, sentence))) => {
            return Err(Failure { code: ExitCode::from_number(code), sentence });
        }
        Answer::None { age, .. } => {
            return Err(Failure::unusable(format!("the trace {name} has not been read for {age}")));
        }
    };
    doubt.iter().for_each(|doubt| output::notice(common, doubt));
    if counts.stats + counts.opens == 0 {
        return Err(Failure::usage(format!(
            "the trace {name} has no call that looks for a file: there is nothing to be like"
        )));
    }
    let program = counts.program.clone().unwrap_or_else(|| "a program".to_owned());
    let of = id.map_or_else(String::new, |id| format!(" of {id}"));
    let part = if doubt.is_some() { ", as far as its trace goes" } else { "" };
    Ok(counts.spec(one_line(&format!("{program}{of}{part}"))))
}

fn read_like(name: &str, located: &Located) -> Result<(SetUpLike, Option<RunId>), Failure> {
    let read = |file: io::Result<File>, what: &str| {
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::unusable(format!("cannot read {}: {error}", one_line(what)))
        };
        let file = file.map_err(|error| unreadable(&error))?;
        read_set_up_like(BufReader::new(file)).map_err(|error| unreadable(&error))
    };
    if let Some(path) = file::meant(name) {
        return Ok((read(File::open(&path), name)?, None));
    }
    let (run, record) = opening::open(located, name)?;
    if record.spec.workload.trace().is_none() {
        let workload = record.spec.workload.name();
        return Err(Failure::usage(format!("--like takes a trace; run {} is a {workload}", record.id)));
    }
    match run.open_trace().map_err(Failure::unusable)? {
        Some(file) => Ok((read(Ok(file), name)?, Some(record.id))),
        None => Err(Failure::unusable(format!("of the trace {} nothing was kept", record.id))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::args::{Arguments, Command};
    use crate::commands::bench::Bench;

    fn parsed(words: &[&str]) -> Result<Box<SetUp>, String> {
        let all = ["iolag", "bench", "setup", "/scratch"].iter().chain(words);
        let arguments = Arguments::try_parse_from(all).map_err(|error| error.to_string())?;
        let Command::Bench { bench: Bench::Setup(options) } = arguments.command else {
            panic!("it is a set-up")
        };
        Ok(options)
    }

    fn spec(words: &[&str]) -> SetUpSpec {
        parsed(words).unwrap().calls.spec(SetUpSpec::synthetic())
    }

    #[test]
    fn the_study_s_own_copy_is_the_default_and_its_trace_a_preset() {
        let usual = spec(&[]);
        assert_eq!((usual.stats, usual.opens, usual.preset), (100_000, 7_000, None));
        let traced = parsed(&["--preset", "lhcb", "--copies", "1,2"]).unwrap();
        let of_trace = traced.calls.spec(SetUpSpec::synthetic());
        assert_eq!((of_trace.stats, of_trace.opens), (110_765, 17_868));
        assert_eq!(traced.copies, [1, 2]);
        assert!(parsed(&["--preset", "lhcb", "--stat", "1"]).is_err());
        assert!(parsed(&["--preset", "lhcb", "--like", "last"]).is_err());
        let unknown = parsed(&["--preset", "atlas"]).unwrap_err();
        assert!(unknown.contains("there is no set-up \"atlas\": choose lhcb"), "{unknown}");
    }

    #[test]
    fn what_is_said_goes_before_what_was_traced() {
        let traced = SetUpSpec { open_misses_per_million: Some(5), files: 3, ..SetUpSpec::synthetic() };
        let of = |words: &[&str]| parsed(words).unwrap().calls.spec(traced.clone());
        assert_eq!(of(&["--like", "last"]), traced);
        let said = of(&["--like", "last", "--miss", "50%", "--files", "9"]);
        assert_eq!((said.stat_misses(), said.open_misses(), said.files), (50_000, 3500, 9));
        assert_eq!(of(&["--open-miss", "10%"]).open_misses(), 700);
    }
}
