//! `iolag history rename`: another name for a target, under which all is shown that is remembered of it.

use std::collections::BTreeSet;

use iolag_model::{HistoryRecord, Nanoseconds, Rename, Series, SeriesKey, WallSpan, WallTime, counted};
use iolag_report::shell_command;
use iolag_store::history::{Access, History, called_now};
use iolag_store::import::quantity;

use crate::args::{Common, RenameTarget};
use crate::commands::history::access::{Chosen, ask_history, failure, now};
use crate::commands::history::moment::in_utc;
use crate::commands::history::note::author;
use crate::output;
use crate::watching::CONTROL;
use iolag_conduct::{ExitCode, Failure};

/// Names that differ in more letters are no slips of the pen.
const LETTERS_MOST: usize = 2;
/// Longest name of a target.
const NAME_CHARACTERS_MAX: usize = 4000;

/// Runs the command.
///
/// # Errors
/// If the history has no such target or it is being watched, the other name is not free and the two are not to be joined or cannot be, or
/// the history cannot be written; then nothing was renamed.
pub fn run(options: &RenameTarget, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "history rename")?;
    let (old, new) = (options.old.as_str(), options.new.trim());
    refuse_unfit(old, new)?;
    let chosen = Chosen::new(&options.place)?;
    let host = options.host.clone().unwrap_or_else(iolag_store::host_name);
    let watch = chosen.live_watch().filter(|watch| watch.host == host);
    let watched = watch.map_or_else(BTreeSet::new, |watch| {
        let measured = watch.last.into_iter().map(|last| last.series.target);
        watch.targets.into_iter().map(|target| target.name).chain(measured).collect()
    });
    let renaming = Renaming { host, old, new, watched, place: chosen.shown() };
    let author = author(|name| std::env::var_os(name), rustix::process::getuid().as_raw());
    let text = ask_history(&chosen, || {
        let mut history = chosen.open(Access::ReadWrite)?;
        let series = history.series().map_err(failure)?;
        let renames = history.renames().map_err(failure)?;
        renaming.refuse_unknown(&series)?;
        renaming.refuse_former(&renames)?;
        renaming.refuse_watched(&renames)?;
        renaming.refuse_two_targets(&series, history.as_mut())?;
        renaming.refuse_slip(&series, options.join)?;
        let at = renaming.moment(&renames);
        let (host, old, new) = (renaming.host.clone(), renaming.old.to_owned(), renaming.new.to_owned());
        let rename = Rename { host, old, new, at, author: author.clone() };
        history.append(&[HistoryRecord::Rename(rename)]).map_err(failure)?;
        Ok(renaming.shown(&series, options.host.is_some()))
    })?;
    Ok(output::print(&text))
}

/// What is to be renamed.
struct Renaming<'a> {
    host: String,
    old: &'a str,
    new: &'a str,
    /// Targets of the host that a watch of the history measures right now, as the watch calls them.
    watched: BTreeSet<String>,
    /// The history, for people.
    place: String,
}

impl Renaming<'_> {
    fn refuse_unknown(&self, series: &[Series]) -> Result<(), Failure> {
        let Self { host, old, place, .. } = self;
        let of_host = || series.iter().filter(|one| one.key.host == *host);
        if of_host().any(|one| one.key.target == *old) {
            return Ok(());
        }
        if of_host().next().is_none() {
            let hosts = names(series.iter().map(|one| one.key.host.as_str()));
            return Err(Failure::usage(format!(
                "nothing of the host {host} is in {place}, only of {}; name one with --host",
                if hosts.is_empty() { "none".to_owned() } else { hosts.join(", ") }
            )));
        }
        let targets = names(of_host().map(|one| one.key.target.as_str()));
        let is_near =
            |name: &&&str| strsim::osa_distance(&name.to_lowercase(), &old.to_lowercase()) <= LETTERS_MOST;
        let near: Vec<&str> = targets.iter().filter(is_near).copied().collect();
        let hint = match near.as_slice() {
            [] => format!("its targets are {}", targets.join(", ")),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        Err(Failure::usage(format!("{host} has no target {old} in {place}; {hint}")))
    }

    /// What is written under a former name is read under the one that it became: nothing else can have it.
    fn refuse_former(&self, renames: &[Rename]) -> Result<(), Failure> {
        let Self { host, old, new, .. } = self;
        let now = called_now(renames, host, (*new).to_owned());
        if now == *new || now == *old {
            return Ok(());
        }
        Err(Failure::usage(format!("{new} is a former name of {now}; take another")))
    }

    /// A watch gives its targets their names; only what it calls a target may be given back to that.
    fn refuse_watched(&self, renames: &[Rename]) -> Result<(), Failure> {
        let Self { host, old, new, watched, .. } = self;
        let is_called_old = |name: &str| called_now(renames, host, name.to_owned()) == *old;
        let measured: Vec<&String> = watched.iter().filter(|name| is_called_old(name)).collect();
        let Some(first) = measured.first().filter(|_| !measured.iter().any(|name| *name == new)) else {
            return Ok(());
        };
        let advice = "give it the new name in the watch's configuration (name = …), and its past comes along";
        Err(Failure::usage(if *first == old {
            format!("{old} is being watched; {advice}")
        } else {
            format!("{old} is being watched, as {first}: call it that again, then {advice}")
        }))
    }

    /// What was measured at the same time are two things, and so are durations and values.
    fn refuse_two_targets(&self, series: &[Series], history: &mut dyn History) -> Result<(), Failure> {
        let Self { host, old, new, .. } = self;
        for one in series.iter().filter(|one| one.key.host == *host && one.key.target == *old) {
            let key = SeriesKey { target: (*new).to_owned(), ..one.key.clone() };
            let Some(other) = series.iter().find(|other| other.key == key) else { continue };
            let part = if key.part.is_empty() { String::new() } else { format!(" ({})", key.part) };
            let two_targets = |why: String| {
                Failure::usage(format!(
                    "{old} cannot be called {new}: {}{part} {why}, so that they are two targets; choose a name that {host} has for no other",
                    key.task
                ))
            };
            if let (Some(of_old), Some(of_new)) = (quantity(one), quantity(other))
                && of_old != of_new
            {
                return Err(two_targets(format!("has {of_old} on {old} and {of_new} on {new}")));
            }
            let mut covered = |key| history.covered(key, WallSpan::ALL).map_err(failure);
            let (Some(of_old), Some(of_new)) = (covered(&one.key)?, covered(&key)?) else { continue };
            let (begin, end) = (of_old.begin.max(of_new.begin), of_old.end.min(of_new.end));
            if begin <= end {
                let (begin, end) = (in_utc(begin), in_utc(end));
                return Err(two_targets(format!("was measured on both from {begin} to {end}")));
            }
        }
        Ok(())
    }

    /// Two targets are joined only if that is what was meant.
    fn refuse_slip(&self, series: &[Series], is_join: bool) -> Result<(), Failure> {
        let Self { host, old, new, place, .. } = self;
        match (self.count(series, new), is_join) {
            (0, true) => Err(Failure::usage(format!(
                "{host} has no target {new} in {place} to join {old} with; to give {old} that name leave --join out"
            ))),
            (known @ 1.., false) => Err(Failure::usage(format!(
                "{host} has a target {new} too, with {}; take another name, or make both one target for good with --join",
                counted(known, "series", "series")
            ))),
            _ => Ok(()),
        }
    }

    /// How many series of the host are called so.
    fn count(&self, series: &[Series], target: &str) -> u64 {
        series.iter().filter(|one| one.key.host == self.host && one.key.target == target).count() as u64
    }

    /// Now, but after all other renames of the host: they hold one after the other, whatever its clock did.
    fn moment(&self, renames: &[Rename]) -> WallTime {
        let of_host = renames.iter().filter(|rename| rename.host == self.host);
        of_host.map(|rename| rename.at.after(Nanoseconds(1))).chain([now()]).max().unwrap_or_default()
    }

    /// `before`: the series before that.
    fn shown(&self, before: &[Series], is_host_named: bool) -> String {
        let Self { host, old, new, place, .. } = self;
        let afterwards = match self.count(before, new) {
            0 => format!("to take it back: {}", self.way_back(is_host_named)),
            known => format!(
                "{new} was known before, with {}: both are one target now, for good",
                counted(known, "series", "series")
            ),
        };
        format!(
            "renamed {old} of {host} to {new} in {place}\n  {} shown under it; what was written keeps its name, also what a watch still writes \
             as {old}\n  {afterwards}\n",
            counted(self.count(before, old), "series is", "series are")
        )
    }

    /// The command that takes it back, for a shell.
    fn way_back(&self, is_host_named: bool) -> String {
        let Self { host, old, new, .. } = self;
        let mut words = vec!["iolag", "history", "rename"];
        if is_host_named {
            words.extend(["--host", host]);
        }
        if old.starts_with('-') || new.starts_with('-') {
            words.push("--");
        }
        words.extend([new, old]);
        shell_command(&words.into_iter().map(str::to_owned).collect::<Vec<_>>())
    }
}

/// What cannot be names of a target whatever the history has. Names that are too long are not repeated.
fn refuse_unfit(old: &str, new: &str) -> Result<(), Failure> {
    for (what, name) in [("what it is called", old), ("what it is to be called", new)] {
        let characters = name.chars().count();
        if characters == 0 || characters > NAME_CHARACTERS_MAX {
            return Err(Failure::usage(format!(
                "{what} has {}; a target's name has 1 to {NAME_CHARACTERS_MAX}",
                counted(characters as u64, "character", "characters")
            )));
        }
    }
    if old == new {
        return Err(Failure::usage(format!(
            "{old} is called so already: name what it is called and what it is to be called"
        )));
    }
    if new.contains(char::is_control) || output::printable(new) != new {
        return Err(Failure::usage(format!(
            "{new:?} has characters that steer terminals; take a name without them"
        )));
    }
    if new == CONTROL {
        return Err(Failure::usage(format!(
            "{CONTROL:?} is the name of the control, with which targets are compared; take another"
        )));
    }
    Ok(())
}

/// Sorted, each once; what belongs to a host alone has none.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = all.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
