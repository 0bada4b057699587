//! Which directories a check measures, by what the scouts found, and why it does not measure the others.

use std::path::PathBuf;

use iolag_backend::Target;
use iolag_model::{
    CheckSpec, ContactEnd, ContactRecord, Nanoseconds, TargetRecord, WorkloadSpec, counted, format_bytes,
};
use iolag_workload::bytes_held;

use crate::args::Check;
use crate::commands::start::Found;
use crate::conduct::messages::DirectoryFacts;
use crate::conduct::scout::{Answer, CONTACT_REQUESTS};
use crate::conduct::{PLACE_REQUESTS, unanswered};
use crate::exit_code::{ExitCode, Failure};

/// Requests that a client sends before it measures something, about: opening its session.
const SESSION_REQUESTS: u64 = 4;

/// What the scouts found out about a directory.
pub(super) enum Scouted {
    Answers(Box<DirectoryFacts>),
    /// It answers, but nothing is begun there: why, and what to do.
    Unusable {
        facts: Box<DirectoryFacts>,
        failure: String,
    },
    /// Its first contact did not come to an end in time.
    Silent {
        name: PathBuf,
        age: Nanoseconds,
        came_back: u64,
    },
}

impl Scouted {
    pub(super) fn is_silent(&self) -> bool {
        matches!(self, Self::Silent { .. })
    }

    fn facts(&self) -> Option<&DirectoryFacts> {
        match self {
            Self::Answers(facts) | Self::Unusable { facts, .. } => Some(facts),
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
    options: &Check,
    check: &CheckSpec,
    directories: &[PathBuf],
    found: &Found,
) -> Result<Chosen, Failure> {
    let by_default = options.directories.is_empty();
    let mut chosen = Chosen { targets: Vec::new(), left_out: Vec::new() };
    let mut trouble = Vec::new();
    for (name, answer) in directories.iter().zip(&found.directories) {
        match answer {
            Answer::Given(Ok(facts)) => match known(&chosen.targets, facts, by_default) {
                None => {
                    let facts = Box::new(facts.clone());
                    chosen.targets.push(match lack_of_room(&facts, check) {
                        None => Scouted::Answers(facts),
                        Some(failure) => Scouted::Unusable { facts, failure },
                    });
                }
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
        Scouted::Unusable { .. } | Scouted::Silent { .. } => None,
    })
}

/// Why a directory has too little room for a check, if it has. One that takes no writes is not helped by room: what it answers when it
/// is measured says so.
fn lack_of_room(facts: &DirectoryFacts, check: &CheckSpec) -> Option<String> {
    let needed = bytes_held(&WorkloadSpec::Check(check.clone()), 1);
    let is_read_only = facts.file_system.options.split(',').any(|option| option == "ro");
    let free = facts.file_system.free_bytes.filter(|free| *free < needed && !is_read_only)?;
    let (free, needed) = (format_bytes(free), format_bytes(needed));
    Some(format!("{free} are free and {needed} are needed; free some space, or reduce --stream-size"))
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
        Scouted::Silent { name, age, came_back } => Some(format!(
            "{} is too slow for this budget: {} came back in {age}; choose a longer --budget",
            name.display(),
            counted(*came_back, "request", "requests")
        )),
    }
}

pub(super) fn target_of(scouted: &Scouted) -> Target {
    match scouted {
        Scouted::Answers(facts) | Scouted::Unusable { facts, .. } => facts.path.clone().into(),
        Scouted::Silent { name, .. } => name.clone().into(),
    }
}

pub(super) fn target_record(scouted: &Scouted) -> TargetRecord {
    match scouted {
        Scouted::Answers(facts) => record_of(facts),
        Scouted::Unusable { facts, failure } => {
            TargetRecord { failure: Some(failure.clone()), ..record_of(facts) }
        }
        Scouted::Silent { age, came_back: 0, .. } => unanswered(&target_of(scouted), *age),
        Scouted::Silent { age, came_back, .. } => TargetRecord {
            unanswered_ns: None,
            contact: Some(ContactRecord {
                answered: *came_back,
                needed: CONTACT_REQUESTS + PLACE_REQUESTS + SESSION_REQUESTS,
                waited_ns: *age,
                end: ContactEnd::Own,
            }),
            ..unanswered(&target_of(scouted), *age)
        },
    }
}

pub(super) fn record_of(facts: &DirectoryFacts) -> TargetRecord {
    let target = Target::from(facts.path.clone());
    TargetRecord {
        name: target.to_string(),
        backend: target.kind().into(),
        working_place: None,
        file_system: Some(facts.file_system.clone()),
        unanswered_ns: None,
        contact: Some(ContactRecord {
            answered: CONTACT_REQUESTS,
            needed: CONTACT_REQUESTS + PLACE_REQUESTS + SESSION_REQUESTS,
            waited_ns: Nanoseconds::ZERO,
            end: ContactEnd::Own,
        }),
        failure: None,
    }
}
