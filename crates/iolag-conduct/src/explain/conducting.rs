//! The probes of a directory, one after the other.

use std::path::{Path, PathBuf};

use iolag_keeper::{Ending, Messenger, Orphanage, Outbox, Signals, evidence_of_all};
use iolag_model::{
    Clock, Connecting, FileSystem, LIST_PAIRS, ListPair, MonotonicClock, Nanoseconds, ProbeEnd, Probed,
    SeenPlace,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::attending::{Attended, Limit, Silence, attend};
use super::probes::{
    CANNOT_START, Owners, Passed, address_of, become_ls, connect, pass_again, pass_for_the_first_time,
};
use crate::contact::scout::{self, Contact};
use crate::contact::start::Keeper;
use crate::environment::client_counters::ClientCounters;
use crate::environment::served_by;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::messages::{DirectoryFacts, tell};

/// Who does not end within so many deadlines is slower than anybody waits.
const DEADLINES_IN_ALL: u64 = 4;
/// For what should take no time at all.
const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(200);
/// `ls` of nothing.
const STARTS: usize = 3;
/// `ls -l` that does not end: after so many more say nothing more.
const CUT_OFF_MOST: usize = 2;
/// Its servers would complain of one that is not a client's.
const NO_WAY_TO_LUSTRE: &str = "iolag opens no connection to servers of Lustre";

/// Looks at a directory (absolute), for as long as each step is alive: one without a sign of life for `deadline` hangs.
///
/// # Errors
/// If it cannot be looked at, hangs, or the user wants no answer any more.
pub fn conduct_explain(
    directory: &Path,
    deadline: Nanoseconds,
    keeper: &Keeper,
) -> Result<SeenPlace, Failure> {
    let facts = contact(directory, deadline)?;
    let limit = Limit { silence: deadline, in_all: Nanoseconds(deadline.0.saturating_mul(DEADLINES_IN_ALL)) };
    let place = Place { facts: &facts, limit, signals: &keeper.signals };
    let directory = &facts.path;
    let (first, passed) =
        place.pass("listing it for the first time", || pass_for_the_first_time(directory))?;
    let names = passed.names;
    let (again, _) = place.pass("listing it for the second time", || pass_again(directory, &names))?;
    let start_ns = place.start()?;
    let pairs = place.pairs(&names)?;
    Ok(SeenPlace {
        directory: facts.path.to_string_lossy().into_owned(),
        served_by: served_by(&facts.file_system.kind),
        names: names.len() as u64,
        first,
        again,
        pairs,
        start_ns,
        connecting: connecting(&facts.file_system, limit, &keeper.signals)?,
        file_system: facts.file_system.clone(),
    })
}

/// The first contact, which also finds out what the directory lies on.
fn contact(directory: &Path, deadline: Nanoseconds) -> Result<DirectoryFacts, Failure> {
    let question = [directory.to_owned()];
    let mut contacts =
        scout::contact_all_patiently("scout", &question, deadline.into(), |path: &PathBuf, steps| {
            scout::look_at(path, steps)
        })?;
    match contacts.pop() {
        Some(Contact::Given(answer)) => answer.map_err(Failure::unusable),
        Some(Contact::Silent { start, mut child, .. }) => {
            let age = MonotonicClock.now().since(start);
            let evidence = evidence_of_all(child.id());
            let unkillable = child.end(GRACE).is_none().then_some(child.id());
            Err(hung(directory, "its first look-up", age, &Silence { evidence, unkillable }))
        }
        None => Err(Failure::bug("a scout was sent and none came back")),
    }
}

fn hung(directory: &Path, what: &str, age: Nanoseconds, silence: &Silence) -> Failure {
    let left = silence.unkillable.map_or_else(String::new, |process| {
        format!("; process {process} cannot be ended, and goes when the file system lets it")
    });
    let (directory, evidence) = (directory.display(), &silence.evidence);
    Failure {
        code: ExitCode::Incomplete,
        sentence: format!("{directory} hangs: {what} has not come back for {age} ({evidence}){left}"),
    }
}

struct Place<'a> {
    facts: &'a DirectoryFacts,
    limit: Limit,
    signals: &'a Signals,
}

impl Place<'_> {
    fn counters(&self) -> ClientCounters {
        ClientCounters::take(&self.facts.file_system, Path::new("/proc"), Path::new("/sys"))
    }

    /// Has a child do something.
    fn probe(&self, body: impl FnOnce(&Outbox) -> i32) -> Result<(Probed, Attended), Failure> {
        let before = self.counters();
        let start = MonotonicClock.now();
        let messenger = Messenger::fork("probe", Orphanage::Die, |_, outbox| body(&outbox))?;
        let attended = attend(messenger, start, self.limit, self.signals)?;
        let probed = Probed {
            took_ns: attended.took,
            end: if attended.silence.is_some() { ProbeEnd::CutOff } else { ProbeEnd::Ended },
            processor_ns: attended.processor,
            counted: self.counters().since(&before),
            waits: attended.waits.clone(),
        };
        Ok((probed, attended))
    }

    /// The same, and what it answers.
    fn ask<T: Serialize + DeserializeOwned>(
        &self,
        work: impl FnOnce() -> T,
    ) -> Result<(Probed, Option<T>, Option<Silence>), Failure> {
        let (probed, attended) = self.probe(|outbox| {
            tell(outbox, &work());
            0
        })?;
        Ok((probed, answer_in(&attended), attended.silence))
    }

    /// Has a child pass through the directory, which measures how long that takes without its own beginning.
    fn pass(
        &self,
        what: &str,
        work: impl FnOnce() -> Result<Passed, String>,
    ) -> Result<(Probed, Passed), Failure> {
        match self.ask(work)? {
            (probed, Some(answer), _) => {
                let passed: Passed = answer.map_err(Failure::unusable)?;
                Ok((Probed { took_ns: passed.took, end: ProbeEnd::Ended, ..probed }, passed))
            }
            (probed, None, Some(silence)) => Err(hung(&self.facts.path, what, probed.took_ns, &silence)),
            (_, None, None) => Err(Failure::bug(format!("{what} ended without an answer"))),
        }
    }

    /// Has a child become an `ls`.
    fn list(
        &self,
        directory: &Path,
        owners: Owners,
        names: &[Vec<u8>],
    ) -> Result<(Probed, Option<Silence>), Failure> {
        let (probed, attended) = self.probe(|_| become_ls(directory, owners, names))?;
        if attended.ending == Some(Ending::Exited(CANNOT_START)) {
            return Err(Failure::unusable(
                "/bin/ls cannot be started, and iolag explain compares what it does",
            ));
        }
        Ok((probed, attended.silence))
    }

    /// What starting `ls` takes.
    fn start(&self) -> Result<Nanoseconds, Failure> {
        let mut took = Vec::with_capacity(STARTS);
        for _ in 0..STARTS {
            let (probed, _) = self.list(Path::new("/proc"), Owners::Numbers, &[b".".to_vec()])?;
            took.push(probed.took_ns);
        }
        took.sort_unstable();
        Ok(took[STARTS / 2])
    }

    /// In turns, so that what changes meanwhile is no difference; which comes first changes, too.
    fn pairs(&self, names: &[Vec<u8>]) -> Result<Vec<ListPair>, Failure> {
        let mut pairs = Vec::with_capacity(LIST_PAIRS);
        let list = |owners| self.list(&self.facts.path, owners, names);
        while pairs.len() < LIST_PAIRS {
            let is_even = pairs.len() % 2 == 0;
            let early = (!is_even).then(|| list(Owners::Names)).transpose()?;
            let (numbers, silence) = list(Owners::Numbers)?;
            if let Some(silence) = silence {
                return Err(hung(&self.facts.path, "`ls -n`", numbers.took_ns, &silence));
            }
            let (names, _) = early.map_or_else(|| list(Owners::Names), Ok)?;
            pairs.push(ListPair { names, numbers });
            let is_cut_off = |pair: &&ListPair| pair.names.end == ProbeEnd::CutOff;
            if pairs.iter().filter(is_cut_off).count() >= CUT_OFF_MOST {
                break;
            }
        }
        Ok(pairs)
    }
}

/// How far the server of a file system is away; asked in a child.
///
/// # Errors
/// If the user wants no answer any more.
pub(super) fn connecting(
    file_system: &FileSystem,
    limit: Limit,
    signals: &Signals,
) -> Result<Connecting, Failure> {
    match file_system.kind.as_str() {
        "nfs" | "nfs4" => {}
        "lustre" => return Ok(Connecting::Unknown(NO_WAY_TO_LUSTRE.into())),
        _ => return Ok(Connecting::NoServer),
    }
    let address = match address_of(file_system) {
        Ok(address) => address,
        Err(why) => return Ok(Connecting::Unknown(why)),
    };
    let start = MonotonicClock.now();
    let messenger = Messenger::fork("probe", Orphanage::Die, |_, outbox| {
        tell(&outbox, &connect(address));
        0
    })?;
    let attended = attend(messenger, start, limit, signals)?;
    Ok(match answer_in(&attended) {
        Some(Ok(took)) => Connecting::Took(took),
        Some(Err(why)) => Connecting::Unknown(why),
        None => Connecting::Unknown(format!("{address} does not answer")),
    })
}

fn answer_in<T: DeserializeOwned>(attended: &Attended) -> Option<T> {
    attended.lines.iter().find_map(|line| serde_json::from_slice(line).ok())
}
