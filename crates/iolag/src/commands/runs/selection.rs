//! Runs that are chosen by what they belong to: a campaign, a label, a baseline. The list of a store is read once.

use std::cell::OnceCell;
use std::path::PathBuf;

use iolag_conduct::{ExitCode, Failure};
use iolag_model::{RunId, RunRecord, WallSpan, WallTime, counted, one_line};
use iolag_store::{BaselineName, Flaw, Listed, RunDirectory, Store};

use crate::commands::Located;
use crate::commands::runs::opening;

/// A stored run. Its directory is not kept open: there may be more of them than a process may have files.
#[derive(Debug, Clone)]
pub struct FoundRun {
    /// Where it is.
    pub path: PathBuf,
    /// What is on record of it.
    pub record: RunRecord,
}

impl FoundRun {
    fn of((run, record): (RunDirectory, RunRecord)) -> Self {
        Self { path: run.path().to_owned(), record }
    }
}

/// Runs that were chosen together, and what may be missing among them.
#[derive(Debug, Clone, Default)]
pub struct FoundRuns {
    /// The runs, oldest first but for those of a baseline.
    pub runs: Vec<FoundRun>,
    /// What is to be known besides, as sentences.
    pub complaints: Vec<String>,
    /// What is wrong with runs of which nobody knows whether they belong to these.
    pub may_belong: Vec<String>,
    /// How the command ends because of that.
    pub code: ExitCode,
}

impl FoundRuns {
    fn complain(&mut self, sentence: String, code: ExitCode) {
        self.complaints.push(sentence);
        self.code = self.code.max(code);
    }
}

/// What a store has.
pub struct Selection<'a> {
    located: &'a Located,
    own: OnceCell<Vec<Listed>>,
}

impl<'a> Selection<'a> {
    /// Of the store that the user means. Touches nothing yet.
    pub const fn of(located: &'a Located) -> Self {
        Self { located, own: OnceCell::new() }
    }

    /// The run of this name or path, in its final form.
    ///
    /// # Errors
    /// If there is none, more than one, or it cannot be read.
    pub fn run(&self, name: &str) -> Result<FoundRun, Failure> {
        opening::open_measured(self.located, name, "comparison").map(FoundRun::of)
    }

    /// The campaign that the run `name` belongs to, and what the store of that run has of it.
    ///
    /// # Errors
    /// If there is no such run, or its store cannot be read.
    pub fn campaign(&self, name: &str) -> Result<(RunId, FoundRuns), Failure> {
        let (store, _) = self.located.find(name)?;
        let named = self.run(name)?;
        let campaign = named.record.campaign.clone();
        let elsewhere;
        let listed: &[Listed] = match store {
            Some(store) if store.root() == self.located.root => self.listed()?,
            Some(store) => {
                elsewhere = list(&store)?;
                &elsewhere
            }
            // A run that was copied out of its store is all there is of its campaign.
            None => return Ok((campaign, FoundRuns { runs: vec![named], ..FoundRuns::default() })),
        };
        // One that cannot be read may be of it, if it is not older than the first, of which the campaign has the name.
        let may_belong = |listed: &Listed| listed.record.is_ok() || listed.id >= campaign;
        let found = chosen(listed, may_belong, |record| record.campaign == campaign);
        Ok((campaign, found))
    }

    /// The runs with this label that began in this span.
    ///
    /// # Errors
    /// If the store cannot be read, or has no such run.
    pub fn labelled(&self, name: &str, value: &str, span: WallSpan) -> Result<FoundRuns, Failure> {
        let listed = self.listed()?;
        let began = |listed: &Listed| {
            let began = WallTime(i64::try_from(listed.started_realtime_ns).unwrap_or(i64::MAX));
            span.begin <= began && began < span.end
        };
        let has_it = |record: &RunRecord| record.labels.get(name).is_some_and(|has| has == value);
        let found = chosen(listed, began, has_it);
        if !found.runs.is_empty() {
            return Ok(found);
        }
        let records = || listed.iter().filter_map(|listed| listed.record.as_deref().ok());
        let mut sentence = format!("no run has the label {}", one_line(&format!("{name}={value}")));
        if records().any(has_it) {
            sentence.push_str(" and began in that time; choose another --since or --until");
        } else {
            let of_name = records().filter_map(|record| record.labels.get(name));
            let near = of_name.map(String::as_str).find(|known| are_near(known, value));
            let near = near.map(|known| format!("; the nearest is {name}={}", one_line(known)));
            sentence.push_str(&near.unwrap_or_default());
            sentence.push_str("; iolag list shows labels");
        }
        // A run that cannot be read may have it.
        let also = found.may_belong.into_iter().map(|flaw| format!("; {flaw}"));
        Err(Failure::unusable(sentence + &also.collect::<String>()))
    }

    /// What is left of the runs of a baseline; nothing if there is no such baseline.
    ///
    /// # Errors
    /// If it cannot be read, or none of its runs is there.
    pub fn baseline(&self, name: &BaselineName) -> Result<Option<FoundRuns>, Failure> {
        // Who names runs by their paths needs no store.
        let Ok(store) = self.located.open() else { return Ok(None) };
        let Some(baseline) = store.baseline(name).map_err(Failure::unusable)? else { return Ok(None) };
        let mut found = FoundRuns::default();
        let (mut gone, count) = (0, baseline.runs.len());
        for id in &baseline.runs {
            match store.look_at(id.clone()) {
                None => gone += 1,
                Some(Listed { record: Ok(record), path, .. }) => {
                    found.runs.push(FoundRun { path, record: *record });
                }
                Some(Listed { record: Err(Flaw { sentence, .. }), .. }) => {
                    found.complain(sentence, ExitCode::Unusable);
                }
            }
        }
        let names = format!("baseline {name} names {}", counted(count as u64, "run", "runs"));
        match (found.runs.len(), gone) {
            (0, _) if gone == count => {
                let none = if count == 1 { "which is not" } else { "none of which is" };
                let advice = format!("iolag baseline set {name} RUN…");
                Err(Failure::unusable(format!("{names}, {none} in the store: set it again with {advice}")))
            }
            (0, _) => Err(Failure::unusable(found.complaints.join("; "))),
            (_, 0) => Ok(Some(found)),
            (left, _) => {
                let are = if left == 1 { "is" } else { "are" };
                found.complain(format!("{names}, of which {left} {are} left"), ExitCode::Fine);
                Ok(Some(found))
            }
        }
    }

    /// The baseline whose name is nearly this.
    pub fn near_baseline(&self, name: &str) -> Option<String> {
        let baselines = self.located.open().ok()?.baselines().ok()?;
        let mut names = baselines.iter().map(|(known, _)| known.as_str());
        names.find(|known| are_near(known, name)).map(str::to_owned)
    }

    fn listed(&self) -> Result<&[Listed], Failure> {
        if let Some(listed) = self.own.get() {
            return Ok(listed);
        }
        let listed = list(&self.located.open()?)?;
        Ok(self.own.get_or_init(|| listed))
    }
}

/// Whether one is a slip of the pen for the other.
pub fn are_near(known: &str, typed: &str) -> bool {
    const LETTERS_MOST: usize = 2;
    // Of short words everything would be near.
    let most = LETTERS_MOST.min(known.chars().count() / 2);
    strsim::osa_distance(&known.to_lowercase(), &typed.to_lowercase()) <= most
}

fn list(store: &Store) -> Result<Vec<Listed>, Failure> {
    store.list().map_err(Failure::unusable)
}

/// The runs that are meant, and what is wrong with those of which nobody knows whether they are.
fn chosen(
    listed: &[Listed],
    may_be: impl Fn(&Listed) -> bool,
    is_meant: impl Fn(&RunRecord) -> bool,
) -> FoundRuns {
    let mut found = FoundRuns::default();
    for one in listed.iter().filter(|listed| may_be(listed)) {
        match &one.record {
            Ok(record) if is_meant(record) => {
                found.runs.push(FoundRun { path: one.path.clone(), record: (**record).clone() });
            }
            Ok(_) => {}
            Err(flaw) => {
                found.may_belong.push(flaw.sentence.clone());
                found.code = ExitCode::Unusable;
            }
        }
    }
    found
}
