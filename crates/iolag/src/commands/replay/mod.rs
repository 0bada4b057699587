//! `iolag replay`: a traced program, asked again by one or many copies.

mod places;
mod trace;

use std::path::Path;
use std::sync::Arc;

use iolag_analysis::Agreement;
use iolag_conduct::{
    Answer, BenchOptions, Changing, ExitCode, Failure, Keeper, LookedAt, Patience, Prepared, ReadToRepeat,
    Repeated, ReplayOptions, Whereabouts, absolute, ask_all_patiently, become_keeper, look_for_paths,
    plan_replay, replay_scope,
};
use iolag_model::{Nanoseconds, counted, format_bytes, format_count, one_line};
use iolag_report::coverage_refusal;

use self::places::Places;
use crate::args::{BenchPlaces, Common, MetadataForm, PayloadAsked, Replay};
use crate::commands::bench::conducting::{conduct, limits, planned};
use crate::commands::{store_of, typed};
use crate::output;

/// Looking for all paths may take as long as this, as long as there are answers.
const LOOKING: Nanoseconds = Nanoseconds::from_seconds(3600);

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Replay, common: &Common) -> Result<ExitCode, Failure> {
    if options.bench.campaign.format == MetadataForm::MdWorkbench {
        return Err(Failure::usage(
            "--format md-workbench is for iolag bench metadata: choose text, csv or json",
        ));
    }
    if let Some(directory) = &options.prepare {
        return prepare(&options.trace, directory, common);
    }
    let places = Places::of(options)?;
    let scope = replay_scope(&places.base, &places.maps, &options.only)?;
    let bench = BenchPlaces { targets: places.targets.clone(), clients: options.copies.clone() };
    let payload = PayloadAsked::command(options.asked.payload.as_ref())?;
    let bench = BenchOptions { payload, ..planned(&bench, &options.bench)? };
    let located = trace::Wanted::of(&options.trace, common)?;
    let keeper: Keeper = become_keeper(store_of(common), typed())?;
    let changing = if options.allow_write { Changing::OwnFiles } else { Changing::Never };
    let read = located.read(&scope, changing)?;
    read.doubt.iter().for_each(|doubt| output::notice(common, doubt));
    refuse_nothing(&read, &options.trace, &places)?;
    let looked = look(&places, &read, bench.deadline)?;
    let mut repeated = Vec::with_capacity(places.targets.len());
    for (target, looked) in places.targets.iter().zip(&looked) {
        let mut repetition = read.repetition.clone();
        looked.apply(&mut repetition);
        if options.check {
            check(looked, &target.to_string(), common)?;
        }
        repeated.push(Repeated { target: target.clone(), repetition: Arc::new(repetition) });
    }
    refuse_too_little(&repeated, common)?;
    let replay = ReplayOptions {
        trace: options.trace.clone(),
        base: places.base.clone(),
        maps: places.maps.clone(),
        only: options.only.clone(),
        tracing: read.tracing,
        timing: options.timing,
        speed: options.speed,
        stagger: options.start,
        terms: options.asked.terms(),
        kill_after: options.kill_after,
        doubt: read.doubt.clone(),
    };
    let campaign = plan_replay(bench, &replay, read.program.as_deref(), &repeated, &limits())?;
    conduct(campaign, &keeper, &options.bench.campaign, common)
}

/// Makes a skeleton.
fn prepare(trace: &str, directory: &Path, common: &Common) -> Result<ExitCode, Failure> {
    let directory = absolute(directory);
    let wanted = trace::Wanted::of(trace, common)?;
    become_keeper(store_of(common), typed())?;
    let prepared = wanted.prepare(&directory)?;
    let unknown = unknown_links(&prepared);
    let Prepared { directories, files, bytes, links, program, .. } = prepared;
    let program = program.map_or_else(|| "the program".to_owned(), |program| one_line(&program));
    let shown = one_line(&directory.display().to_string());
    Ok(output::print(&format!(
        "{shown} has what {program} found: {}, {} of {} in all, which hold nothing, and {}.{unknown}\n\
         iolag replay {} {shown} repeats it there.\n",
        counted(directories, "directory", "directories"),
        counted(files, "file", "files"),
        format_bytes(bytes),
        counted(links, "link", "links"),
        one_line(trace)
    )))
}

/// Which links are none, since the trace tells how long they are and not what they say.
fn unknown_links(prepared: &Prepared) -> String {
    let Prepared { unknown_links, unknown_named, .. } = prepared;
    if *unknown_links == 0 {
        return String::new();
    }
    let named = one_line(&unknown_named.join(", "));
    let others = match unknown_links - unknown_named.len() as u64 {
        0 => String::new(),
        others => format!(" and {} more", format_count(others)),
    };
    format!(
        " {} could not be made, since the trace tells how long it is and not what it says, and no name is as long: {named}{others}; an empty file stands in \
         its place.",
        counted(*unknown_links, "link", "links")
    )
}

/// A map that maps nothing measures nothing, and one of several may be misspelt.
fn refuse_nothing(read: &ReadToRepeat, trace: &str, places: &Places) -> Result<(), Failure> {
    let (coverage, Whereabouts { missed, most }) = (&read.repetition.coverage, &read.whereabouts);
    let trace = one_line(trace);
    if let (Some(missed), [(first, calls), others @ ..]) = (missed.first(), most.as_slice()) {
        let mut told = format!("{} ({})", one_line(first), counted(*calls, "call", "calls"));
        for (directory, calls) in others {
            told.push_str(&format!(", {} ({})", one_line(directory), format_count(*calls)));
        }
        return Err(Failure::usage(format!(
            "{}: no call in the trace {trace} is on anything in that directory; the program asked most for what is in {told}",
            one_line(missed)
        )));
    }
    if coverage.traced == 0 {
        return Err(Failure::usage(format!(
            "the trace {trace} has no call on files: there is nothing to repeat"
        )));
    }
    if coverage.repeated == 0 {
        let example = coverage.left_out.first().map_or("", |left| left.example.as_str());
        return Err(Failure::usage(format!(
            "of {} calls on files in the trace {trace} none lies in what is mapped ({}); the program asked for {}: map the directory that it lies in",
            coverage.traced,
            one_line(&places.mapped()),
            one_line(example)
        )));
    }
    Ok(())
}

/// Of too little in every target no run would count; of some it is said.
fn refuse_too_little(repeated: &[Repeated], common: &Common) -> Result<(), Failure> {
    let is_enough = |repeated: &&Repeated| repeated.repetition.coverage.is_enough();
    let (enough, less): (Vec<_>, Vec<_>) = repeated.iter().partition(is_enough);
    let sentence = |repeated: &Repeated| {
        let target = one_line(&repeated.target.to_string());
        format!("in {target}, {}", coverage_refusal(&repeated.repetition.coverage))
    };
    match less.iter().max_by_key(|repeated| repeated.repetition.coverage.repeated) {
        Some(most) if enough.is_empty() => Err(Failure::usage(sentence(most))),
        _ => {
            less.iter().for_each(|repeated| output::notice(common, &sentence(repeated)));
            Ok(())
        }
    }
}

/// Looks, in each target, for what the program asked for.
fn look(places: &Places, read: &ReadToRepeat, deadline: Nanoseconds) -> Result<Vec<LookedAt>, Failure> {
    let directories = places.directories()?;
    let patience = Patience { deadline, in_all: LOOKING };
    let answers = ask_all_patiently("scout", &directories, patience, |directory, steps| {
        look_for_paths(&read.repetition, directory, &places.maps, steps)
    })?;
    let found = |(answer, directory): (Answer<Result<LookedAt, String>>, &std::path::PathBuf)| match answer {
        Answer::Given(looked) => looked.map_err(Failure::unusable),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "{} does not answer: looking for what the program asked for has waited for {age}",
            directory.display()
        ))),
    };
    answers.into_iter().zip(&directories).map(found).collect()
}

fn check(looked: &LookedAt, target: &str, common: &Common) -> Result<(), Failure> {
    let target = one_line(target);
    let LookedAt { looked_up, differing, told, .. } = looked;
    let examples = if told.is_empty() { String::new() } else { format!(" ({})", one_line(&told.join("; "))) };
    let sentence =
        format!("in {target}, {differing} of {looked_up} look-ups would not come back as they did{examples}");
    if looked.agreement() < Agreement::SHARE_MIN {
        return Err(Failure::unusable(format!(
            "{sentence}: that is not what the program found; complete the directory, or map another one"
        )));
    }
    output::notice(common, &sentence);
    Ok(())
}
