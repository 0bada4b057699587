//! `iolag baseline`: runs with which others are compared, under a name.

use iolag_analysis::RUNS_LEAST;
use iolag_backend::redact;
use iolag_model::{Anchor, RunRecord, RunState, WallSpan, counted, one_line};
use iolag_report::{BaselineContent, baseline_sentence, baselines_text, write_baselines_json};
use iolag_store::{Baseline, BaselineName, FoundBaseline, KeeperIdentity, RunDirectory, Store, StoreError};

use crate::args::{BaselineCommand, BaselineRemove, BaselineSet, Common, SideChoice, SideName};
use crate::commands::Located;
use crate::commands::compare::parts::part_called;
use crate::commands::runs::opening;
use crate::commands::runs::selection::Selection;
use crate::output::{self, Printed};
use iolag_conduct::{ExitCode, Failure};

/// Runs one of these commands.
///
/// # Errors
/// If the store cannot be read or written, or has no such run or baseline.
pub fn run(command: &BaselineCommand, common: &Common) -> Result<ExitCode, Failure> {
    match command {
        BaselineCommand::Set(options) => set(options, common),
        BaselineCommand::List(_) => list(common),
        BaselineCommand::Remove(options) => remove(options, common),
    }
}

/// All baselines that keep runs of this user in the store, for those who are about to remove runs: one that cannot be read may name them.
///
/// # Errors
/// If one of them cannot be read.
pub fn all(store: &Store) -> Result<Vec<Baseline>, Failure> {
    let read =
        |(name, read): FoundBaseline| read.map_err(|error| Failure::unusable(unreadable(&name, &error)));
    store.own_baselines().map_err(Failure::unusable)?.into_iter().map(read).collect()
}

/// What was to be removed stays because of this.
pub fn nothing_is_removed(failure: Failure) -> Failure {
    Failure { sentence: failure.sentence + "; nothing is removed", ..failure }
}

fn set(options: &BaselineSet, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "baseline set")?;
    let located = Located::of(common)?;
    output::with_store(&located.root, common, || {
        let store = located.open()?;
        let (mut records, mut complaints, mut code) = (Vec::<RunRecord>::new(), Vec::new(), ExitCode::Fine);
        for name in &options.runs {
            let (meant, told, how) = meant(&located, &store, name)?;
            for record in meant {
                if records.iter().all(|known| known.id != record.id) {
                    records.push(record);
                }
            }
            complaints.extend(told);
            code = code.max(how);
        }
        let runs = records.iter().map(|record| record.id.clone()).collect();
        let baseline = Baseline::new(options.name.clone(), Anchor::take().realtime_ns, runs);
        store.set_baseline(&baseline).map_err(Failure::unusable)?;
        complaints.extend(if common.quiet { Vec::new() } else { hints(&options.name, &records) });
        let text = baseline_sentence(options.name.as_str(), &records) + "\n";
        Ok(Printed { text, complaints, code, ..Printed::default() })
    })
}

/// The runs that were named, one or together, what is to be known besides, and how the command ends because of that.
fn meant(
    located: &Located,
    store: &Store,
    named: &SideName,
) -> Result<(Vec<RunRecord>, Vec<String>, ExitCode), Failure> {
    let (name, selection) = (&named.text, Selection::of(located));
    let found = match &named.choice {
        SideChoice::Named => return Ok((vec![chosen(located, store, name)?], Vec::new(), ExitCode::Fine)),
        SideChoice::History(_) => {
            return Err(Failure::usage(format!("a baseline is of runs, and {name} is a part of a history")));
        }
        SideChoice::Label { name, value } => selection.labelled(name, value, WallSpan::ALL)?,
        SideChoice::Campaign { run, part: None } => selection.campaign(run)?.1,
        SideChoice::Campaign { run, part: Some(part) } => {
            let (id, mut found) = selection.campaign(run)?;
            let part = part_called(part, &id, &found.runs)?;
            found.runs.retain(|run| part.has(&run.record));
            found
        }
    };
    // A side of a campaign may have none.
    if found.runs.is_empty() {
        return Err(Failure::unusable(format!(
            "{} has no run that a baseline could have",
            one_line(&redact(name))
        )));
    }
    let own = found.runs.iter().map(|run| chosen(located, store, &run.path.to_string_lossy()));
    let without =
        |sentence: String| format!("{sentence}; it may belong to {name}, and the baseline is without it");
    let told = found.complaints.into_iter().chain(found.may_belong.into_iter().map(without));
    Ok((own.collect::<Result<_, _>>()?, told.collect(), found.code))
}

/// A run that has ended, of this store.
fn chosen(located: &Located, store: &Store, name: &str) -> Result<RunRecord, Failure> {
    let (run, record) = opening::open_measured(located, name, "comparison")?;
    let identity =
        |run: &RunDirectory| run.directory().status().ok().map(|found| (found.st_dev, found.st_ino));
    // A path may lead elsewhere.
    let own = store.run(run.id()).ok();
    if own.as_ref().and_then(identity) != identity(&run) {
        let root = store.root().display();
        return Err(Failure::usage(format!(
            "{name} is not in the store {root}, and a baseline is of runs of its own store"
        )));
    }
    if KeeperIdentity::of(&record).is_some_and(|keeper| keeper.is_alive()) {
        let sentence =
            format!("run {} is still being measured; set the baseline when it has ended", record.id);
        return Err(Failure::usage(sentence));
    }
    Ok(record)
}

/// What to know before comparing with it.
fn hints(name: &BaselineName, records: &[RunRecord]) -> Vec<String> {
    let mut hints = Vec::new();
    for record in records {
        if let RunState::Incomplete { reason } | RunState::Recovered { reason } = &record.state {
            hints.push(format!("run {} is not complete ({reason}), and is taken as it is", record.id));
        }
    }
    let lacking = RUNS_LEAST.saturating_sub(records.len());
    if lacking > 0 {
        let runs = counted(records.len() as u64, "run", "runs");
        hints.push(format!(
            "{name} has {runs}: a comparison with it can show nothing; {lacking} more would do"
        ));
    }
    hints
}

fn list(common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_lost_document(common)?;
    let located = Located::of(common)?;
    let root = &located.root;
    let colour = output::colour(common, |name| std::env::var_os(name));
    output::with_store(root, common, || {
        let (mut contents, mut complaints) = (Vec::new(), Vec::new());
        if root.is_dir() {
            let store = located.open()?;
            for (name, read) in store.baselines().map_err(Failure::unusable)? {
                match read {
                    Ok(baseline) => contents.push(content(&store, baseline)),
                    Err(error) => complaints.push(unreadable(&name, &error)),
                }
            }
        }
        let mut document = Vec::new();
        write_baselines_json(&contents, &mut document).map_err(Failure::bug)?;
        let code = if complaints.is_empty() { ExitCode::Fine } else { ExitCode::Unusable };
        let text = match (contents.len(), code) {
            (0, ExitCode::Fine) => {
                format!("no baselines in {}; set one with: iolag baseline set NAME RUN…\n", root.display())
            }
            (0, _) => String::new(),
            _ => baselines_text(&contents, colour),
        };
        let document = common.json.is_some().then(|| String::from_utf8_lossy(&document).into_owned());
        Ok(Printed { text, document, complaints, code })
    })
}

fn content(store: &Store, baseline: Baseline) -> BaselineContent {
    let record = |id: &iolag_model::RunId| store.look_at(id.clone())?.record.ok().map(|record| *record);
    let left = baseline.runs.iter().filter_map(record).collect();
    BaselineContent { name: baseline.name.to_string(), set_ns: baseline.set_ns, runs: baseline.runs, left }
}

fn unreadable(name: &str, error: &StoreError) -> String {
    let advice = match name.parse::<BaselineName>() {
        Ok(name) => format!("set it again, or remove it with: iolag baseline remove {name}"),
        Err(_) => "remove the file if nobody needs it".to_owned(),
    };
    format!("the baseline {name}: {error}; {advice}")
}

fn remove(options: &BaselineRemove, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "baseline remove")?;
    let located = Located::of(common)?;
    output::with_store(&located.root, common, || {
        let name = &options.name;
        if !located.open()?.remove_baseline(name).map_err(Failure::unusable)? {
            let root = located.root.display();
            let sentence = format!("there is no baseline {name} in {root}; iolag baseline list shows them");
            return Err(Failure::usage(sentence));
        }
        Ok(Printed::text(format!("baseline {name} is removed; its runs stay\n")))
    })
}
