//! `iolag rm`: removes whole runs, also those that nobody can read any more.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::sync::mpsc;
use std::time::Duration;

use iolag_keeper::Signals;
use iolag_model::{RunId, counted, format_bytes};
use iolag_report::state_name;
use iolag_store::{Baseline, FlawKind, KeeperIdentity, Listed, Removal, RunDirectory, Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::args::{Common, Rm};
use crate::commands::Located;
use crate::commands::runs::baseline;
use crate::commands::runs::left_places::{self, LeftPlace, Need};
use crate::output::{self, Printed};
use iolag_conduct::{ExitCode, Failure};

/// A run that is to go.
#[derive(Serialize, Deserialize)]
struct Doomed {
    id: String,
    /// How it is found again: `last` may be another one by then.
    name: String,
    /// What it is, for people.
    what: String,
    /// Directories on targets that its manifest names.
    places: Vec<LeftPlace>,
}

/// Runs the command: everything that is named goes, or nothing.
///
/// # Errors
/// If a run is not there, lives, or has its working directory on a target still; or if nobody agrees.
pub fn run(options: &Rm, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "rm")?;
    let located = Located::of(common)?;
    let mut doomed = output::ask_store(&located.root, || look(&located, &options.runs))?;
    match options.abandon_places {
        true => tell_abandoned(&mut doomed)?,
        false => refuse_working_places(&doomed)?,
    }
    if !options.yes {
        agree(&doomed)?;
    }
    output::with_store(&located.root, common, || Ok(remove(&located, &doomed)))
}

fn look(located: &Located, names: &[String]) -> Result<Vec<Doomed>, Failure> {
    let mut doomed: Vec<Doomed> = Vec::new();
    for name in names {
        let (store, run) = find(located, name)?;
        store.refuse_foreign().map_err(Failure::unusable)?;
        if doomed.iter().any(|known| known.id == run.id().as_str()) {
            continue;
        }
        let Some(listed) = store.look_at(run.id().clone()) else {
            let sentence = format!("run {} has not begun; what is left of it goes by itself", run.id());
            return Err(Failure::usage(sentence));
        };
        refuse(&listed)?;
        refuse_in_baseline(&store, run.id()).map_err(baseline::nothing_is_removed)?;
        let mut what = description(&listed);
        // A run whose manifest cannot be read must be removable all the same.
        let places = left_places::of(&run, listed.record.as_deref().ok()).unwrap_or_else(|error| {
            what.push_str(&format!("; what it left on targets is not known: {error}"));
            Vec::new()
        });
        doomed.push(Doomed {
            id: run.id().to_string(),
            name: if name.contains('/') { name.clone() } else { run.id().to_string() },
            what,
            places,
        });
    }
    Ok(doomed)
}

/// Refuses what a baseline names.
fn refuse_in_baseline(store: &Store, id: &RunId) -> Result<(), Failure> {
    match baseline::all(store)?.iter().find(|baseline| baseline.runs.contains(id)) {
        Some(Baseline { name, .. }) => Err(Failure::usage(format!(
            "run {id} is in the baseline {name}: iolag baseline remove {name} first"
        ))),
        None => Ok(()),
    }
}

fn find(located: &Located, name: &str) -> Result<(Store, RunDirectory), Failure> {
    let nothing = |sentence: &str| Failure::usage(format!("{sentence}; nothing is removed"));
    if name.contains('/') {
        return match located.find(name) {
            Ok((Some(store), run)) => Ok(located.home_of(&run).unwrap_or((store, run))),
            Ok((None, _)) => Err(nothing(&format!("{name} is in no store: remove the directory yourself"))),
            Err(failure) => Err(nothing(&failure.sentence)),
        };
    }
    let store = located.open()?;
    match store.find(name) {
        Ok(run) => Ok((store, run)),
        Err(error @ StoreError::RunMissing { .. }) => {
            let nearest = nearest(&store, name).map(|id| format!("; the nearest name is {id}"));
            Err(nothing(&format!("{error}{}", nearest.unwrap_or_default())))
        }
        Err(error @ StoreError::RunAmbiguous { .. }) => Err(nothing(&error.to_string())),
        Err(error) => Err(Failure::unusable(error)),
    }
}

/// The run whose name has most letters in common with what was typed, from the beginning and from the end.
fn nearest(store: &Store, name: &str) -> Option<String> {
    let common = |id: &str| {
        let equal = |(one, other): &(char, char)| one == other;
        let from_begin = id.chars().zip(name.chars()).take_while(equal).count();
        from_begin + id.chars().rev().zip(name.chars().rev()).take_while(equal).count()
    };
    let ids = store.list().ok()?.into_iter().map(|listed| listed.id.to_string());
    ids.max_by_key(|id| common(id)).filter(|id| common(id) > 0)
}

/// Refuses what is in use, or of which nothing is known at present.
fn refuse(listed: &Listed) -> Result<(), Failure> {
    match &listed.record {
        Ok(record) => match KeeperIdentity::of(record).filter(KeeperIdentity::is_alive) {
            Some(keeper) => Err(Failure::usage(format!(
                "{}; nothing is removed",
                StoreError::RunAlive { id: listed.id.to_string(), keeper_pid: keeper.pid, host: keeper.host }
            ))),
            None => Ok(()),
        },
        Err(flaw) if flaw.kind == FlawKind::Unreadable => {
            Err(Failure::unusable(format!("{}; nothing is removed", flaw.sentence)))
        }
        Err(_) => Ok(()),
    }
}

fn description(listed: &Listed) -> String {
    let bytes = format_bytes(listed.bytes);
    match &listed.record {
        Ok(record) => {
            let samples = record.parts.iter().map(|part| part.samples).sum();
            let samples = counted(samples, "sample", "samples");
            format!("{}, {samples}, {bytes}", state_name(&record.state))
        }
        Err(flaw) => {
            let what = if flaw.kind == FlawKind::Damaged { "damaged" } else { "of another format" };
            format!("{what}, number of samples unknown, {bytes}")
        }
    }
}

fn needs(doomed: &[Doomed]) -> Result<Vec<Vec<Need>>, Failure> {
    let runs: Vec<_> = doomed.iter().map(|run| (run.id.as_str(), run.places.as_slice())).collect();
    left_places::needs(&runs)
}

fn refuse_working_places(doomed: &[Doomed]) -> Result<(), Failure> {
    match needs(doomed)?.into_iter().flatten().next() {
        None => Ok(()),
        Some(Need { clause, advice }) => Err(Failure::usage(format!(
            "{clause}: {advice}, or give it up with --abandon-places; nothing is removed"
        ))),
    }
}

/// Says with each run what nobody will clean up after it.
fn tell_abandoned(doomed: &mut [Doomed]) -> Result<(), Failure> {
    let needs = needs(doomed)?;
    for (run, needs) in doomed.iter_mut().zip(needs) {
        for need in needs {
            // Writing to a String cannot fail.
            let _ = write!(run.what, "; abandoned: {}", need.clause);
        }
    }
    Ok(())
}

/// Asks who is at the terminal.
fn agree(doomed: &[Doomed]) -> Result<(), Failure> {
    const LOOK: Duration = Duration::from_millis(50);
    let runs = counted(doomed.len() as u64, "run", "runs");
    let mut list = String::new();
    for run in doomed {
        // Writing to a String cannot fail.
        let _ = writeln!(list, "{}  would be removed: {}", run.id, run.what);
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        output::print_result(&list)?;
        let sentence = format!("nobody is at a terminal to be asked: remove {runs} for good with --yes");
        return Err(Failure::usage(sentence));
    }
    // Nobody is left to be asked if standard error is gone; then nobody agrees.
    let _ = write!(std::io::stderr(), "{list}Remove {runs} for good? [y/N] ");
    let signals = Signals::block()?;
    let (sender, answers) = mpsc::channel();
    let listen = move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        // The receiver is gone after a Ctrl-C.
        let _ = sender.send(read.map(|_| line).unwrap_or_default());
    };
    std::thread::Builder::new().spawn(listen).map_err(|error| {
        Failure::of_system(format!("cannot wait for an answer: {error}"), error.raw_os_error())
    })?;
    let answer = loop {
        match answers.recv_timeout(LOOK) {
            Err(mpsc::RecvTimeoutError::Timeout) if signals.next().is_none() => {}
            answer => break answer.unwrap_or_default(),
        }
    };
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::usage("nothing is removed")),
    }
}

fn remove(located: &Located, doomed: &[Doomed]) -> Printed {
    let mut printed = Printed { complaints: located.silence().into_iter().collect(), ..Printed::default() };
    for run in doomed {
        let removed = find(located, &run.name).and_then(|(store, found)| {
            // Somebody may have thought for a long time before agreeing.
            refuse_in_baseline(&store, found.id())?;
            store.remove_run(found.id(), KeeperIdentity::is_alive).map_err(Failure::unusable)
        });
        let what = match removed {
            Ok(Removal::Complete) => format!("removed: {}", run.what),
            Ok(Removal::Strangers(names)) => {
                format!("removed: {}, except files that are not iolag's: {}", run.what, names.join(", "))
            }
            Err(failure) => {
                printed.complaints.push(format!("run {} is not removed: {}", run.id, failure.sentence));
                printed.code = ExitCode::Unusable;
                continue;
            }
        };
        // Writing to a String cannot fail.
        let _ = writeln!(printed.text, "{}  {what}", run.id);
    }
    printed
}
