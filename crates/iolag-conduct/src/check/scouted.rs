//! Which directories a check measures, by what the scouts found, and why it does not measure the others.

use std::path::PathBuf;

use iolag_backend::Target;
use iolag_model::{CheckSpec, ContactEnd, ContactRecord, Nanoseconds, TargetRecord, counted, format_bytes};
use iolag_workload::Workload;

use crate::contact::scout::{Answer, CONTACT_REQUESTS, PLACE_REQUESTS, unanswered};
use crate::contact::start::Found;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::messages::DirectoryFacts;

/// Requests that a client sends before it measures something, about: opening its session.
const SESSION_REQUESTS: u64 = 4;
/// Requests of setting up and removing without measuring anything, after the first contact, where nothing is cached, about: what that
/// took on a file system whose every request takes 0.2 s. Where more is cached the pace of the first contact is far quicker.
const BARE_REQUESTS: u64 = 50;

/// What the scouts found out about a directory.
pub(super) enum Scouted {
    Answers(Box<DirectoryFacts>),
    /// It answers, but nothing is begun there: why, and what to do.
    Unusable {
        facts: Box<DirectoryFacts>,
        failure: String,
    },
    /// It answers too slowly for the time that is left, so nothing is begun there.
    Slow(Box<DirectoryFacts>),
    /// Its first contact did not come to an end in time.
    Silent {
        name: PathBuf,
        age: Nanoseconds,
        came_back: u64,
    },
}

impl Scouted {
    /// What becomes of a directory that answers, by its room and by its pace.
    fn of(facts: &DirectoryFacts, check: &CheckSpec, left: Nanoseconds) -> Self {
        let facts = Box::new(facts.clone());
        match lack_of_room(&facts, check) {
            Some(failure) => Self::Unusable { facts, failure },
            None if facts.pace_ns.0.saturating_mul(BARE_REQUESTS) > left.0 => Self::Slow(facts),
            None => Self::Answers(facts),
        }
    }

    /// Whether it did not come as far as that anything could be begun in the time that there was.
    pub(super) fn is_silent(&self) -> bool {
        matches!(self, Self::Silent { .. } | Self::Slow(_))
    }

    fn facts(&self) -> Option<&DirectoryFacts> {
        match self {
            Self::Answers(facts) | Self::Unusable { facts, .. } | Self::Slow(facts) => Some(facts),
            Self::Silent { .. } => None,
        }
    }
}

/// What is measured, and in a sentence each what the user might miss.
pub(super) struct Chosen {
    pub(super) targets: Vec<Scouted>,
    pub(super) left_out: Vec<String>,
}

/// What the scouts found. Without arguments one directory per mounted file system stays, and what does not exist is left
/// out; a directory that the user named and that is none is an error before anything is written. One without room stays, to be told
/// beside those that are measured.
pub(super) fn targets(
    check: &CheckSpec,
    directories: &[PathBuf],
    by_default: bool,
    found: &Found,
    left: Nanoseconds,
) -> Result<Chosen, Failure> {
    let mut chosen = Chosen { targets: Vec::new(), left_out: Vec::new() };
    let mut trouble = Vec::new();
    for (name, answer) in directories.iter().zip(&found.directories) {
        match answer {
            Answer::Given(Ok(facts)) => match known(&chosen.targets, facts, by_default) {
                None => chosen.targets.push(Scouted::of(facts, check, left)),
                Some(known) if known.path != facts.path => chosen.left_out.push(format!(
                    "{} is left out: it lies on the file system of {}.",
                    facts.path.display(),
                    known.path.display()
                )),
                Some(_) => {}
            },
            Answer::Given(Err(sentence)) => trouble.push(sentence.clone()),
            Answer::None { age, came_back, .. } => {
                chosen.targets.push(Scouted::Silent { name: name.clone(), age: *age, came_back: *came_back });
            }
        }
    }
    if chosen.targets.is_empty() || (!by_default && !trouble.is_empty()) {
        return Err(Failure::unusable(trouble.join("\niolag: ")));
    }
    chosen.left_out.extend(trouble.into_iter().map(|sentence| format!("Left out: {sentence}.")));
    Ok(chosen)
}

/// The target that stands for this directory, too.
fn known<'a>(targets: &'a [Scouted], facts: &DirectoryFacts, by_default: bool) -> Option<&'a DirectoryFacts> {
    let is_same = |known: &&DirectoryFacts| {
        known.path == facts.path || (by_default && known.file_system.device == facts.file_system.device)
    };
    targets.iter().filter_map(Scouted::facts).find(is_same)
}

pub(super) fn answering(targets: &[Scouted]) -> impl Iterator<Item = (u16, &DirectoryFacts)> {
    (0..).zip(targets).filter_map(|(index, target)| match target {
        Scouted::Answers(facts) => Some((index, facts.as_ref())),
        Scouted::Unusable { .. } | Scouted::Slow(_) | Scouted::Silent { .. } => None,
    })
}

/// Why nothing can be written there, if that is known: the mount takes no writes, which no room would help, or there is too little room
/// for a check.
fn lack_of_room(facts: &DirectoryFacts, check: &CheckSpec) -> Option<String> {
    if facts.file_system.options.split(',').any(|option| option == "ro") {
        return Some("the file system is mounted read-only".to_owned());
    }
    let needed_with = |stream_bytes| {
        let check =
            CheckSpec { stream_bytes, block_bytes: check.block_bytes.min(stream_bytes), ..check.clone() };
        check.bytes_held(1)
    };
    let needed = needed_with(check.stream_bytes);
    let free = facts.file_system.free_bytes.filter(|free| *free < needed)?;
    let advice = if free < needed_with(1) { "" } else { ", or reduce --stream-size" };
    let (free, needed) = (format_bytes(free), format_bytes(needed));
    Some(format!("{free} are free and {needed} are needed; free some space{advice}"))
}

fn too_slow(came_back: u64, age: Nanoseconds) -> String {
    let requests = counted(came_back, "request", "requests");
    format!("too slow for this budget: at least {requests} came back in {age}; choose a longer --budget")
}

fn cannot_measure(facts: &DirectoryFacts, failure: &str) -> String {
    format!("cannot measure in {}: {failure}", facts.path.display())
}

pub(super) fn nothing_to_measure(targets: &[Scouted], left_out: &[String]) -> Failure {
    let is_unusable = targets.iter().any(|target| matches!(target, Scouted::Unusable { .. }));
    let code = if is_unusable { ExitCode::Unusable } else { ExitCode::Incomplete };
    let sentences: Vec<_> = targets.iter().filter_map(trouble).chain(left_out.iter().cloned()).collect();
    Failure { code, sentence: sentences.join("\niolag: ") }
}

/// Why nothing is measured in a target, if that is known before.
pub(super) fn trouble(target: &Scouted) -> Option<String> {
    match target {
        Scouted::Answers(_) => None,
        Scouted::Unusable { facts, failure } => Some(cannot_measure(facts, failure)),
        Scouted::Silent { name, age, came_back: 0 } => {
            let name = name.display();
            Some(format!("{name} does not answer: the first contact has been waiting for {age}"))
        }
        Scouted::Silent { name, age, came_back } => {
            Some(format!("{} is {}", name.display(), too_slow(*came_back, *age)))
        }
        Scouted::Slow(facts) => {
            Some(format!("{} is {}", facts.path.display(), too_slow(CONTACT_REQUESTS, facts.contact_ns)))
        }
    }
}

pub(super) fn target_of(scouted: &Scouted) -> Target {
    match scouted {
        Scouted::Answers(facts) | Scouted::Unusable { facts, .. } | Scouted::Slow(facts) => {
            facts.path.clone().into()
        }
        Scouted::Silent { name, .. } => name.clone().into(),
    }
}

pub(super) fn target_record(scouted: &Scouted) -> TargetRecord {
    match scouted {
        Scouted::Answers(facts) => record_of(facts),
        Scouted::Unusable { facts, failure } => {
            TargetRecord { failure: Some(failure.clone()), ..record_of(facts) }
        }
        Scouted::Slow(facts) => {
            TargetRecord { failure: Some(too_slow(CONTACT_REQUESTS, facts.contact_ns)), ..record_of(facts) }
        }
        Scouted::Silent { age, came_back: 0, .. } => unanswered(&target_of(scouted), *age),
        Scouted::Silent { age, came_back, .. } => TargetRecord {
            unanswered_ns: None,
            contact: Some(contact(*came_back, *age)),
            failure: Some(too_slow(*came_back, *age)),
            ..unanswered(&target_of(scouted), *age)
        },
    }
}

pub(super) fn record_of(facts: &DirectoryFacts) -> TargetRecord {
    let target = Target::from(facts.path.clone());
    TargetRecord {
        file_system: Some(facts.file_system.clone()),
        contact: Some(contact(CONTACT_REQUESTS, facts.contact_ns)),
        ..TargetRecord::new(target.to_string(), target.kind())
    }
}

const fn contact(answered: u64, waited_ns: Nanoseconds) -> ContactRecord {
    let needed = CONTACT_REQUESTS + PLACE_REQUESTS + SESSION_REQUESTS;
    ContactRecord { answered, needed, waited_ns, end: ContactEnd::Own }
}
