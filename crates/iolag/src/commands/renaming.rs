//! `iolag history rename`: another name for a target, under which all is shown that is remembered of it.

use iolag_model::{HistoryRecord, Nanoseconds, Rename, Series, SeriesKey, WallSpan, WallTime, counted};
use iolag_store::history::{Access, History};

use super::history::{Chosen, ask_history, failure, now};
use super::note::{author, in_utc};
use crate::args::{Common, RenameTarget};
use crate::exit_code::{ExitCode, Failure};
use crate::output;

/// Names that differ in more letters are no slips of the pen.
const LETTERS_MOST: usize = 2;

/// Runs the command.
///
/// # Errors
/// If the history has no such target, or both were measured at the same time, or it cannot be written; then nothing was renamed.
pub fn run(options: &RenameTarget, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "history rename")?;
    if options.old == options.new {
        return Err(Failure::usage(format!(
            "{} is called so already: name what it is called and what it is to be called",
            options.old
        )));
    }
    let chosen = Chosen::new(&options.place)?;
    let this_host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    let renaming = Renaming {
        host: options.host.clone().unwrap_or_else(this_host),
        old: &options.old,
        new: &options.new,
        place: chosen.shown(),
    };
    let author = author(|name| std::env::var_os(name), rustix::process::getuid().as_raw());
    let text = ask_history(&chosen, || {
        let mut history = chosen.open(Access::ReadWrite)?;
        let series = history.series().map_err(failure)?;
        renaming.refuse_unknown(&series)?;
        renaming.refuse_overlap(&series, history.as_mut())?;
        let at = renaming.moment(&history.renames().map_err(failure)?);
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

    /// What was measured at the same time are two things.
    fn refuse_overlap(&self, series: &[Series], history: &mut dyn History) -> Result<(), Failure> {
        let Self { host, old, new, .. } = self;
        for one in series.iter().filter(|one| one.key.host == *host && one.key.target == *old) {
            let key = SeriesKey { target: (*new).to_owned(), ..one.key.clone() };
            if !series.iter().any(|other| other.key == key) {
                continue;
            }
            let mut covered = |key| history.covered(key, WallSpan::ALL).map_err(failure);
            let (Some(of_old), Some(of_new)) = (covered(&one.key)?, covered(&key)?) else { continue };
            let (begin, end) = (of_old.begin.max(of_new.begin), of_old.end.min(of_new.end));
            if begin <= end {
                let part = if key.part.is_empty() { String::new() } else { format!(" ({})", key.part) };
                return Err(Failure::usage(format!(
                    "{old} cannot be called {new}: {}{part} was measured on both from {} to {}, so that they are two targets; choose a name \
                     that {host} has for no other",
                    key.task,
                    in_utc(begin),
                    in_utc(end)
                )));
            }
        }
        Ok(())
    }

    /// Now, but after all other renames of the host: they hold one after the other, whatever its clock did.
    fn moment(&self, renames: &[Rename]) -> WallTime {
        let of_host = renames.iter().filter(|rename| rename.host == self.host);
        of_host.map(|rename| rename.at.after(Nanoseconds(1))).chain([now()]).max().unwrap_or_default()
    }

    /// `before`: the series before that.
    fn shown(&self, before: &[Series], is_host_named: bool) -> String {
        let Self { host, old, new, place } = self;
        let count = |target: &str| {
            before.iter().filter(|one| one.key.host == *host && one.key.target == target).count() as u64
        };
        let option = if is_host_named { format!(" --host {host}") } else { String::new() };
        let joined = match count(new) {
            0 => String::new(),
            known => format!(
                "\n  {new} was known before, with {}: both are one target now, and go back together",
                counted(known, "series", "series")
            ),
        };
        format!(
            "renamed {old} of {host} to {new} in {place}\n  {} shown under it; what was written keeps its name, also what a watch still writes \
             as {old}{joined}\n  to take it back: iolag history rename {new} {old}{option}\n",
            counted(count(old), "series is", "series are")
        )
    }
}

/// Sorted, each once; what belongs to a host alone has none.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = all.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
