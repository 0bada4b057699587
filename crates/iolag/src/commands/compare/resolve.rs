//! From the sides that were typed to their runs and what these are worth. To be called in a process that may hang.
//!
//! ```text
//! SideName -> Chosen: runs of the store -> values, read once for each run -> Side: units
//! ```
//! Invariant: what cannot be read is told with its side, and the rest is compared, as long as there is a base and another side.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use iolag_analysis::compare::{FailRule, Side, defining_labels, unit_of_run};
use iolag_analysis::{RunQuantity, RunValues, Standing, analysed, joined};
use iolag_backend::{Target, redact};
use iolag_conduct::{ExitCode, Failure, values_of_all};
use iolag_model::{RunRecord, WallSpan, one_line};
use iolag_store::{BaselineName, Flaw, KeeperIdentity, RunDirectory};

use super::of_history::{
    HistoryWanted, Remembered, are_days_compared, read as read_history, workloads_meant,
};
use super::parts::{Part, part_called, parts_of};
use crate::args::{HistoryPlace, SideChoice, SideName};
use crate::commands::Located;
use crate::commands::runs::selection::{FoundRun, FoundRuns, Selection};

/// Runs that are open at the same time: each takes a descriptor.
const OPEN_MOST: usize = 64;

/// What the directory of a run has.
const RECORD: &str = "run.json";
/// Why nothing is compared with a side that was meant to be the base.
const NO_BASE: &str =
    "nothing is compared with it, name another base (iolag compare campaign:RUN:SIDE campaign:RUN:OTHER)";
/// Why there is nothing of another.
const NO_SIDE: &str = "it is compared with nothing";

/// What is to be compared.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The sides, the base first.
    pub sides: &'a [SideName],
    /// Of labels only runs that began then.
    pub span: WallSpan,
    /// What of the runs is compared, if not what is usual.
    pub quantity: Option<RunQuantity>,
    /// Rules may be of what the table does not show.
    pub rules: &'a [FailRule],
    /// When sides of histories begin and end that do not say so, as it was typed.
    pub times: (Option<&'a str>, Option<&'a str>),
    /// Their history.
    pub place: &'a HistoryPlace,
    /// Which of the benchmarks that it remembers are meant.
    pub workload: Option<&'a str>,
}

/// Sides with their runs.
#[derive(Debug)]
pub struct Resolved {
    /// What is compared, the base first.
    pub sides: Vec<Side>,
    /// The runs of each side that were read, in the order of its units.
    pub runs: Vec<Vec<FoundRun>>,
    /// What is to be known besides, as sentences.
    pub complaints: Vec<String>,
    /// How the command ends because of that.
    pub code: ExitCode,
}

/// A side whose runs are known.
struct Chosen {
    name: String,
    part: Option<Part>,
    /// The label that it was chosen by; what was named otherwise is compared whatever labels it has.
    label: Option<String>,
    runs: Vec<FoundRun>,
    /// What a history has, if it is a side of one.
    remembered: Option<Remembered>,
}

/// Finds and reads the runs of all sides.
///
/// # Errors
/// If there is no base or no other side.
pub fn resolve(located: &Located, wanted: &Wanted<'_>) -> Result<Resolved, Failure> {
    let mut resolving = Resolving {
        selection: Selection::of(located),
        wanted,
        complaints: Vec::new(),
        may_belong: BTreeMap::new(),
        code: ExitCode::Fine,
    };
    let chosen = resolving.choose()?;
    resolving.tell_of_those_that_may_belong();
    let values = resolving.read(&chosen);
    let (sides, runs) = resolving.sides(chosen, &values)?;
    let Resolving { complaints, code, .. } = resolving;
    Ok(Resolved { sides, runs, complaints, code })
}

struct Resolving<'a> {
    selection: Selection<'a>,
    wanted: &'a Wanted<'a>,
    complaints: Vec<String>,
    /// What is wrong with runs that may belong to these sides, or to none.
    may_belong: BTreeMap<String, BTreeSet<String>>,
    code: ExitCode,
}

impl Resolving<'_> {
    fn choose(&mut self) -> Result<Vec<Chosen>, Failure> {
        if let [only] = self.wanted.sides {
            return self.of_one_campaign(only);
        }
        let mut all = Vec::new();
        for (index, side) in self.wanted.sides.iter().enumerate() {
            match self.chosen(side) {
                Ok(chosen) => all.push(chosen),
                // Without the base there is nothing to compare with.
                Err(failure) if failure.code == ExitCode::Unusable && index > 0 => {
                    self.complaints.push(failure.sentence);
                    self.code = self.code.max(failure.code);
                }
                Err(failure) => return Err(failure),
            }
        }
        self.refuse_single(all.len())?;
        Ok(all)
    }

    /// If only the base is left, why the others are not.
    fn refuse_single(&self, sides: usize) -> Result<(), Failure> {
        if sides > 1 {
            return Ok(());
        }
        let code = self.code.max(ExitCode::Unusable);
        Err(Failure { code, sentence: self.complaints.join("\niolag: ") })
    }

    fn of_one_campaign(&mut self, side: &SideName) -> Result<Vec<Chosen>, Failure> {
        let SideChoice::Campaign { run, part: None } = &side.choice else {
            return Err(needs_another(&format!(
                "name a second one, as in iolag compare {} OTHER (iolag list shows runs), or campaign:RUN of several targets",
                one_line(&redact(&side.text))
            )));
        };
        let (id, found) = self.selection.campaign(run)?;
        let runs = self.told(found, &side.text);
        let parts = parts_of(&runs);
        if parts.len() < 2 {
            let only = parts.first().map(|part| format!(", {}", part.shown())).unwrap_or_default();
            let advice = format!("campaign {id} has only one{only}; name a second side");
            return Err(needs_another(&advice));
        }
        let chosen = |part: Part| Chosen {
            name: part.shown(),
            label: None,
            runs: runs.iter().filter(|run| part.has(&run.record)).cloned().collect(),
            part: Some(part),
            remembered: None,
        };
        Ok(parts.into_iter().map(chosen).collect())
    }

    fn chosen(&mut self, side: &SideName) -> Result<Chosen, Failure> {
        let name = redact(&side.text);
        let (part, label, found) = match &side.choice {
            SideChoice::Named => (None, None, self.named(&side.text)?),
            SideChoice::Campaign { run, part: None } => (None, None, self.selection.campaign(run)?.1),
            SideChoice::Campaign { run, part: Some(part) } => {
                let (id, mut found) = self.selection.campaign(run)?;
                let part = part_called(part, &id, &found.runs)?;
                found.runs.retain(|run| part.has(&run.record));
                (Some(part), None, found)
            }
            SideChoice::Label { name, value } => {
                (None, Some(name.clone()), self.selection.labelled(name, value, self.wanted.span)?)
            }
            SideChoice::History(side) => {
                let Wanted { place, times, .. } = *self.wanted;
                let quantities = self.quantities_of(BTreeSet::from([RunQuantity::Median]));
                let wanted = HistoryWanted { place, times, quantities: &quantities };
                let remembered = Some(read_history(side, &name, &wanted)?);
                return Ok(Chosen { name, part: None, label: None, runs: Vec::new(), remembered });
            }
        };
        let runs = self.told(found, &side.text);
        Ok(Chosen { name, part, label, runs, remembered: None })
    }

    /// A path, else a baseline of this name, else a run.
    fn named(&self, name: &str) -> Result<FoundRuns, Failure> {
        let baseline = match name.parse::<BaselineName>() {
            Ok(baseline) => self.selection.baseline(&baseline)?,
            Err(_) => None,
        };
        if let Some(found) = baseline {
            return Ok(found);
        }
        let run = self.selection.run(name).map_err(|failure| self.with_baselines_in_mind(failure, name))?;
        Ok(FoundRuns { runs: vec![run], ..FoundRuns::default() })
    }

    /// What could only be a baseline is none of a run's parts.
    fn with_baselines_in_mind(&self, failure: Failure, name: &str) -> Failure {
        if is_place(name) {
            let sentence = format!(
                "{} is where to measure, and no run: measure there and elsewhere (iolag bench metadata DIR OTHER --repeat 6), then \
                 iolag compare campaign:last",
                one_line(&redact(name))
            );
            return Failure::usage(sentence);
        }
        if name.contains('/') || name.parse::<BaselineName>().is_err() {
            return failure;
        }
        let near = self.selection.near_baseline(name).map(|near| format!("; the nearest baseline is {near}"));
        let near = near.unwrap_or_default();
        let sentence = format!(
            "there is no baseline or run {name:?}{near}; iolag baseline list and iolag list show what there is"
        );
        Failure { sentence, ..failure }
    }

    /// Keeps what is to be told with a side.
    fn told(&mut self, found: FoundRuns, side: &str) -> Vec<FoundRun> {
        self.code = self.code.max(found.code);
        for sentence in found.may_belong {
            self.may_belong.entry(sentence).or_default().insert(redact(side));
        }
        let without = |sentence: String| match found.code {
            ExitCode::Fine => sentence,
            _ => format!("{sentence}; {side} is compared without it"),
        };
        self.complaints.extend(found.complaints.into_iter().map(without));
        found.runs
    }

    /// Of each once, whatever the number of sides that may lack it.
    fn tell_of_those_that_may_belong(&mut self) {
        for (sentence, sides) in std::mem::take(&mut self.may_belong) {
            let are = if sides.len() == 1 { "is" } else { "are" };
            let sides = joined(sides.into_iter().collect());
            self.complaints
                .push(format!("{sentence}; {sides}, to which it may belong, {are} compared without it"));
        }
    }

    /// The values of every run, by its place; what is wrong with those that cannot be read.
    fn read(&self, chosen: &[Chosen]) -> BTreeMap<PathBuf, Result<RunValues, String>> {
        let runs: BTreeMap<&PathBuf, &FoundRun> =
            chosen.iter().flat_map(|side| &side.runs).map(|run| (&run.path, run)).collect();
        let runs: Vec<&FoundRun> = runs.into_values().collect();
        let quantities = self.quantities(&runs);
        let mut values = BTreeMap::new();
        for some in runs.chunks(OPEN_MOST) {
            let mut opened = Vec::new();
            for run in some {
                match RunDirectory::open(&run.path) {
                    Ok(directory) => opened.push((directory, run.record.clone())),
                    Err(error) => drop(values.insert(run.path.clone(), Err(Flaw::of(&error).sentence))),
                }
            }
            let read = values_of_all(&opened, &quantities);
            values.extend(opened.iter().zip(read).map(|((directory, _), values)| {
                (directory.path().to_owned(), values.map_err(|error| Flaw::of(&error).sentence))
            }));
        }
        values
    }

    fn quantities(&self, runs: &[&FoundRun]) -> Vec<RunQuantity> {
        self.quantities_of(runs.iter().map(|run| analysed(&run.record.spec.workload).compared()).collect())
    }

    fn quantities_of(&self, usual: BTreeSet<RunQuantity>) -> Vec<RunQuantity> {
        let shown = self.wanted.quantity.map_or(usual, |quantity| BTreeSet::from([quantity]));
        let of_rules = self.wanted.rules.iter().map(|rule| rule.quantity);
        shown.into_iter().chain(of_rules).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The sides as units; of those without a run that can be read it is told.
    fn sides(
        &mut self,
        chosen: Vec<Chosen>,
        values: &BTreeMap<PathBuf, Result<RunValues, String>>,
    ) -> Result<(Vec<Side>, Vec<Vec<FoundRun>>), Failure> {
        let labels: BTreeSet<String> = chosen.iter().filter_map(|side| side.label.clone()).collect();
        let parts = chosen.iter().filter_map(|side| side.part.as_ref()?.coordinate());
        let coordinates: BTreeSet<String> = parts.map(str::to_owned).collect();
        let takes_days = self.wanted.workload.is_none()
            && are_days_compared(chosen.iter().map(|side| side.remembered.as_ref()));
        let stored: Vec<FoundRun> = chosen.iter().flat_map(|side| &side.runs).cloned().collect();
        let stored: Vec<&FoundRun> = stored.iter().collect();
        let of_history =
            chosen.iter().filter_map(|side| Some((side.name.as_str(), side.remembered.as_ref()?)));
        let of_history: Vec<_> = of_history.filter(|_| !takes_days).collect();
        let meant = workloads_meant(&of_history, &stored, self.wanted.workload)?;
        let (mut sides, mut runs) = (Vec::new(), Vec::new());
        for (index, Chosen { name, part, runs: found, remembered, .. }) in chosen.into_iter().enumerate() {
            let (mut units, mut readable) = (Vec::new(), Vec::new());
            if remembered.is_none() && found.is_empty() {
                self.complaints
                    .push(format!("{name} has no run: {}", if index == 0 { NO_BASE } else { NO_SIDE }));
                self.code = self.code.max(ExitCode::Unusable);
            }
            if let Some(remembered) = remembered {
                let (of_history, told) = remembered.units(&name, takes_days, &meant, &stored);
                units = of_history;
                self.complaints.extend(told);
            }
            for run in found {
                match values.get(&run.path) {
                    Some(Ok(values)) => {
                        let mut unit = unit_of_run(&run.record, values);
                        if unit.standing == Standing::BrokenOff && is_running(&run.record) {
                            unit.standing = Standing::Running;
                        }
                        if let Some(Part::Target(target)) = &part {
                            unit.values.retain(|value| value.target == *target);
                        }
                        units.push(unit);
                        readable.push(run);
                    }
                    Some(Err(flaw)) => {
                        self.complaints.push(format!("{flaw}; {name} is compared without it"));
                        self.code = self.code.max(ExitCode::Unusable);
                    }
                    None => {}
                }
            }
            if units.is_empty() && index == 0 {
                self.refuse_single(0)?;
            }
            sides.push(Side { name, units, chosen_by: BTreeSet::new() });
            runs.push(readable);
        }
        self.refuse_single(sides.iter().filter(|side| !side.units.is_empty()).count())?;
        // Of sides that were chosen by a label the others tell like from unlike; who names runs means them whatever labels they have.
        let mut chosen_by = if labels.is_empty() { defining_labels(&sides) } else { labels };
        chosen_by.extend(coordinates);
        sides.iter_mut().for_each(|side| side.chosen_by.clone_from(&chosen_by));
        Ok((sides, runs))
    }
}

/// Whether it is a target of a bench, and not the directory of a run.
fn is_place(name: &str) -> bool {
    let is_no_run = |path: &Path| path.is_dir() && !path.join(RECORD).exists();
    Target::parse(name).is_ok_and(|target| target.directory().is_none_or(is_no_run))
}

fn is_running(record: &RunRecord) -> bool {
    KeeperIdentity::of(record).is_some_and(|keeper| keeper.is_alive())
}

fn needs_another(advice: &str) -> Failure {
    Failure::usage(format!("compare needs a base and another side: {advice}"))
}
