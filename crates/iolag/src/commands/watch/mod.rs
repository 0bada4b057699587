//! `iolag watch`: keep measuring, through every hang.

pub mod contact;
mod prepare;
mod standing;
mod status;
pub mod telling;
pub mod terminal;
mod units;

use std::io::IsTerminal;
use std::path::Path;

use iolag_backend::redact;
use iolag_conduct::{Answer, ExitCode, Failure, ask_all, become_keeper, leave_current_directory};
use iolag_keeper::Signals;
use iolag_model::{Anchor, HistoryRecord, Nanoseconds, SeriesKind, counted};
use iolag_store::history::{Access, open_history};
use iolag_watch::{
    Callbacks, FirstContact, Location, Place, RuntimeDirectory, RuntimeError, Spool, Watch as Watching,
    WatchEnd, WatchIdentity, WatchLimit, WatchPlan, WatchSummary, WatchTarget,
};
use iolag_workload::{ServerTask, TaskSpec, probe_task, remove_probe_files};

use self::prepare::{
    OtherPlace, Prepared, hold_runtime, open_runtime, open_the_history, prepare, read_file, recall,
    try_textfile,
};
use self::standing::Standing;
use self::telling::{Teller, Telling};
use crate::args::{Common, Watch};
use crate::commands::history::access::{Unopened, failure};
use crate::commands::{store_of, typed};
use crate::documents::DEADLINE;
use crate::output;
use crate::watching::{PRINTED, Places, ProcessOrigin};
use iolag_conduct::environment::facts::{facts, facts_of_server};

/// Runs the command.
///
/// # Errors
/// If it cannot be done as asked.
pub fn run(options: &Watch, common: &Common) -> Result<ExitCode, Failure> {
    if options.print_config {
        output::print_result(PRINTED)?;
        return Ok(ExitCode::Fine);
    }
    if let Some(unit) = options.print_unit {
        output::print_result(units::unit(unit))?;
        return Ok(ExitCode::Fine);
    }
    if options.status {
        let file = options.configuration.as_deref();
        let places = find_places(file, options.history.as_deref(), options.runtime.as_deref(), common)?;
        return status::status(&places, common);
    }
    output::refuse_document(common, "watch")?;
    let keeper = become_keeper(store_of(common), typed())?;
    let origin = ProcessOrigin::of_process();
    leave_current_directory();
    let mut prepared = prepare(options, options.configuration.as_deref(), &origin)?;
    if options.remove {
        return remove(prepared);
    }
    try_textfile(&prepared)?;
    let opened = open_the_history(&prepared)?;
    let (held, mut spool) = open_runtime(&prepared)?;
    let runtime = &held.runtime;
    output::tell_notices(common, &prepared.contacts.notices);
    // Cron mails whatever is said: a round that nobody looks at says what is amiss, and nothing else.
    let is_looked_at = !options.once || std::io::stderr().is_terminal();
    if is_looked_at {
        output::tell_notices(common, prepared.memory.notice.as_slice());
        output::notice(common, &announcement(options, &prepared));
    }
    let mut standing = Standing::new(opened);
    if let Some(why) = standing.trouble.take().filter(|_| is_looked_at) {
        output::complain(&format!(
            "{}; what is measured waits in memory until the history takes it",
            redact(&why)
        ));
    }
    let mut teller = Teller::new(std::io::stdout(), telling(common), Vec::new());
    let summary = loop {
        let identity = identity(&prepared.places, &standing);
        let rest = standing.rest_of(limit(options));
        let signals = &keeper.signals;
        let summary = watch(&mut prepared, &identity, runtime, &mut spool, signals, rest, &mut teller);
        standing.go_on_from(&summary);
        // A terminal that is closed also sends SIGHUP; a service is told so to read its configuration again.
        let is_reload = summary.end == WatchEnd::HungUp && !std::io::stdin().is_terminal();
        if !is_reload || standing.rest_of(limit(options)) == WatchLimit::Rounds(0) {
            break summary;
        }
        let Some(again) = prepare_again(options, &origin, &keeper.signals) else { break summary };
        match again {
            Ok(again) if again.places == prepared.places => {
                prepared = again;
                teller.read_again(&prepared.configuration.name);
            }
            Ok(again) => {
                again.contacts.all.into_iter().for_each(FirstContact::give_up);
                let is_history = again.places.history != prepared.places.history;
                let what = if is_history { OtherPlace::History } else { OtherPlace::Runtime };
                complain_of_configuration(&again.configuration.of_other_places(what));
            }
            Err(failure) => complain_of_configuration(&failure),
        }
    };
    let code = conclude(&summary, common);
    match teller.finish() {
        Some(sentence) => Err(Failure::unusable(sentence).at_least(code)),
        None => Ok(code),
    }
}

fn complain_of_configuration(failure: &Failure) {
    output::complain(&format!("{}; the former configuration stays", failure.sentence));
}

/// Reads the configuration again; `None` if the watch is told to stop meanwhile.
fn prepare_again(
    options: &Watch,
    origin: &ProcessOrigin,
    signals: &Signals,
) -> Option<Result<Prepared, Failure>> {
    loop {
        let again = prepare(options, options.configuration.as_deref(), origin);
        let is_interrupted = matches!(&again, Err(failure) if failure.code == ExitCode::Incomplete);
        match signals.next() {
            // Told to stop, whatever has become of the configuration.
            Some(signal) if signal != libc::SIGHUP => return None,
            // The configuration has changed once more.
            Some(_) => {}
            None if is_interrupted => {}
            None => return Some(again),
        }
    }
}

/// History and runtime directory, for commands that look at a watch: as named, else as its configuration file says. Tells the user if
/// others may read a password in there.
///
/// # Errors
/// If that file cannot be read or understood.
pub fn find_places(
    file: Option<&Path>,
    history: Option<&str>,
    runtime: Option<&Path>,
    common: &Common,
) -> Result<Places, Failure> {
    let configuration = read_file(file)?;
    let document = configuration.document()?;
    output::tell_notices(common, configuration.exposure(&document).as_slice());
    let history = history.map(str::to_owned).or_else(|| document.history_named_in(file?));
    let in_file = |text: crate::documents::Text| text.into_inner().into();
    let runtime = runtime.map(Path::to_owned).or_else(|| document.runtime.map(in_file));
    Places::new(history.as_deref(), runtime.as_deref(), &ProcessOrigin::of_process()).map_err(failure)
}

fn watch(
    prepared: &mut Prepared,
    identity: &WatchIdentity,
    runtime: &RuntimeDirectory,
    spool: &mut Spool,
    signals: &Signals,
    limit: WatchLimit,
    teller: &mut Teller<std::io::Stdout>,
) -> WatchSummary {
    let contacts = std::mem::take(&mut prepared.contacts.all);
    let prepared = &*prepared;
    let history = &prepared.places.history;
    let remember = |records: &[HistoryRecord]| -> Result<(), String> {
        let mut history = open_history(history, Access::ReadWrite).map_err(|error| error.to_string())?;
        history.append(records).map_err(|error| error.to_string())?;
        if let Some(textfile) = &prepared.textfile {
            // The records are in the history whatever becomes of the file; who reads it sees by its age that it was not written.
            let _ = textfile.update(history.as_mut());
        }
        Ok(())
    };
    let look_up = |target: &WatchTarget| {
        let mut all = match &target.location {
            Location::Directory(directory) => facts(directory),
            Location::Server(place) => facts_of_server(place.target()),
        };
        if !all.is_empty() {
            all.extend(prepared.site_facts.look_up());
        }
        all
    };
    let recall = || recall(prepared).map_err(Unopened::sentence);
    let callbacks =
        Callbacks { probe_task: &probe_task, facts: &look_up, recall: &recall, remember: &remember };
    let plan = &prepared.plan;
    let anchors = &Anchor::take;
    Watching { plan, callbacks, runtime, spool, signals, identity, contacts, anchors }.run(limit, teller)
}

fn identity(places: &Places, standing: &Standing) -> WatchIdentity {
    WatchIdentity {
        boot_id: iolag_store::boot_id().unwrap_or_default(),
        iolag_version: env!("CARGO_PKG_VERSION").to_owned(),
        history: places.shown_history(),
        seed: Anchor::take().realtime_ns ^ u64::from(std::process::id()),
        history_deadline: Nanoseconds::from_seconds(60),
        recall: standing.recall,
        configurations: standing.configurations.clone(),
        open_outages: standing.open_outages.clone(),
    }
}

const fn limit(options: &Watch) -> WatchLimit {
    match (options.once, options.rounds) {
        (true, _) => WatchLimit::Rounds(1),
        (false, Some(rounds)) => WatchLimit::Rounds(rounds),
        (false, None) => WatchLimit::UntilStopped,
    }
}

fn telling(common: &Common) -> Telling {
    match (common.quiet, std::io::stdout().is_terminal()) {
        (true, _) => Telling::Nothing,
        (false, true) => Telling::Rounds,
        (false, false) => Telling::Trouble,
    }
}

/// What will be done, before it is done.
fn announcement(options: &Watch, prepared: &Prepared) -> String {
    let plan = &prepared.plan;
    let targets = plan.targets.iter().filter(|target| target.kind != SeriesKind::Control);
    let what: Vec<String> = targets
        .map(|target| {
            let tasks: Vec<&str> = target.tasks.iter().map(|task| task.name.as_str()).collect();
            format!("{} ({})", target.name, tasks.join(", "))
        })
        .collect();
    let when = match limit(options) {
        WatchLimit::Rounds(1) => "once".to_owned(),
        WatchLimit::Rounds(rounds) => {
            format!("every {}, {}", plan.period, counted(rounds, "round", "rounds"))
        }
        WatchLimit::UntilStopped => format!("every {} until Ctrl-C", plan.period),
    };
    let (files, bytes) = written_per_round(plan);
    format!(
        "watching {when}: {}; a round makes and removes {} with {}; history in {}",
        what.join(", "),
        match plan.targets.iter().any(|target| target.location.directory().is_none()) {
            true => counted(files, "file or object", "files and objects"),
            false => counted(files, "file", "files"),
        },
        iolag_model::format_bytes(bytes),
        prepared.places.shown_history()
    )
}

/// Files and bytes that one round writes, the control's in memory left out; what commands do is not known.
fn written_per_round(plan: &WatchPlan) -> (u64, u64) {
    /// The compiled program and what the compiler writes in between, as measured with GCC 12.
    const COMPILED_BYTES: u64 = 32 << 10;
    let targets = plan.targets.iter().filter(|target| target.kind != SeriesKind::Control);
    targets.flat_map(|target| &target.tasks).fold((0, 0), |(files, bytes), task| {
        let (more_files, more_bytes) = match &task.spec {
            TaskSpec::Create { files, bytes } => (u64::from(*files), u64::from(*files) * bytes),
            TaskSpec::WriteFsync { bytes } => (1, *bytes),
            TaskSpec::Compile => (1, COMPILED_BYTES),
            TaskSpec::OnServer { task: ServerTask::Create, place } => (1, place.object_bytes()),
            _ => (0, 0),
        };
        (files + more_files, bytes + more_bytes)
    })
}

fn conclude(summary: &WatchSummary, common: &Common) -> ExitCode {
    for probe in &summary.left_behind {
        let waits = if probe.waits_in.is_empty() { "" } else { ", waiting in " };
        output::notice(
            common,
            &format!(
                "{} hangs since {} (process {}{waits}{}); the next watch goes on with it",
                probe.series, probe.start, probe.process, probe.waits_in
            ),
        );
    }
    if summary.waiting_records > 0 {
        let them = if summary.waiting_records == 1 { "it" } else { "them" };
        output::complain(&format!(
            "{} not in the history yet ({}); the next watch brings {them} there unless the machine is started anew",
            counted(summary.waiting_records as u64, "record is", "records are"),
            redact(summary.history_trouble.as_deref().unwrap_or("it did not answer in time"))
        ));
        return ExitCode::Incomplete;
    }
    if summary.left_behind.is_empty() { ExitCode::Fine } else { ExitCode::Found }
}

/// Removes what watching with this history made, in a child per target.
fn remove(prepared: Prepared) -> Result<ExitCode, Failure> {
    // Held until all is done: a watch that runs, or starts meanwhile, would lose the files of its probes.
    let held = hold_runtime(&prepared);
    let (plan, places) = (&prepared.plan, &prepared.places);
    // Nobody else goes where somebody has not come back from.
    let mut silent = Vec::new();
    for contact in prepared.contacts.all {
        silent.extend(contact.silent_target());
        contact.give_up();
    }
    let _held = held.map_err(|error| match error {
        RuntimeError::Busy { process, .. } => Failure::unusable(running(places, process)),
        other => Failure::unusable(other),
    })?;
    let name = Place::watch_name(&plan.host, &plan.runtime_directory);
    let (left_alone, asked): (Vec<_>, Vec<_>) =
        plan.targets.iter().enumerate().partition(|(index, _)| silent.contains(index));
    let answers = ask_all("clean-up", &asked, DEADLINE, |(_, target)| remove_here(&target.location, &name))?;
    let mut code = ExitCode::Fine;
    for (_, target) in left_alone {
        code = ExitCode::Incomplete;
        code = code.max(output::print(&format!(
            "{} does not answer; what iolag's watch made there stays\n",
            target.name
        )));
    }
    for ((_, target), answer) in asked.iter().zip(answers) {
        let left = match answer {
            Answer::Given(Ok(left)) => left,
            Answer::Given(Err(sentence)) => vec![sentence],
            Answer::None { age, .. } => vec![format!("{} has not answered for {age}", target.name)],
        };
        if left.is_empty() {
            code = code.max(output::print(&format!("{}: nothing of iolag's watch is left\n", target.name)));
        } else {
            code = ExitCode::Incomplete;
            let _ = output::print(&(left.join("\n") + "\n"));
        }
    }
    Ok(code)
}

/// Why nothing is removed.
fn running(places: &Places, process: Option<u32>) -> String {
    let process = process.map_or_else(String::new, |process| format!(" (process id {process})"));
    let history = places.shown_history();
    format!("a watch with the history {history} is running{process}: stop it before what it made is removed")
}

fn remove_here(location: &Location, name: &str) -> Result<Vec<String>, String> {
    let left = match location {
        // The control's directory vanishes with the boot.
        Location::Directory(directory) if !directory.exists() => return Ok(Vec::new()),
        Location::Directory(directory) => {
            remove_probe_files(directory, name).map_err(|error| error.to_string())?
        }
        Location::Server(place) => place.remove().map_err(|error| error.to_string())?,
    };
    Ok(left.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)).collect())
}
