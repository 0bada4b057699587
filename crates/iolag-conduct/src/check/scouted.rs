//! Which directories and servers a check measures, by what the scouts found, and why it does not measure the others.

use iolag_backend::Target;
use iolag_model::{
    CheckSpec, ContactEnd, ContactRecord, FileSystem, Nanoseconds, TargetRecord, Trust, counted, format_bytes,
};
use iolag_workload::Workload;

use crate::contact::greeting::{SERVER_CONTACT_REQUESTS, SERVER_PLACE_REQUESTS, ServerAnswer, ServerFacts};
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
/// The same of a server, in first contacts: looking whether the place is free, making it, opening a session, looking and removing each
/// come there anew.
const BARE_CONTACTS: u64 = 5;

/// A directory or a server that answers.
pub(super) enum Known {
    Directory(Box<DirectoryFacts>),
    Server(Box<SettledServer>),
}

/// A server, by the target with what variables and files say of it.
pub(super) struct SettledServer {
    target: Target,
    facts: ServerFacts,
}

impl Known {
    pub(super) fn target(&self) -> Target {
        match self {
            Self::Directory(facts) => facts.path.clone().into(),
            Self::Server(server) => server.target.clone(),
        }
    }

    pub(super) fn file_system(&self) -> Option<&FileSystem> {
        match self {
            Self::Directory(facts) => Some(&facts.file_system),
            Self::Server(_) => None,
        }
    }

    /// What to know about it.
    pub(super) fn doubt(&self) -> Option<Trust> {
        match self {
            Self::Directory(_) => None,
            Self::Server(server) => server.facts.doubt.clone(),
        }
    }

    /// What setting up and removing take at the least, by the first contact.
    fn bare(&self) -> Nanoseconds {
        Nanoseconds(match self {
            Self::Directory(facts) => facts.pace_ns.0.saturating_mul(BARE_REQUESTS),
            Self::Server(server) => server.facts.contact_ns.0.saturating_mul(BARE_CONTACTS),
        })
    }

    fn too_slow(&self) -> String {
        match self {
            Self::Directory(facts) => too_slow(CONTACT_REQUESTS, facts.contact_ns),
            Self::Server(server) => too_slow(SERVER_CONTACT_REQUESTS, server.facts.contact_ns),
        }
    }

    fn record(&self) -> TargetRecord {
        match self {
            Self::Directory(facts) => record_of_directory(facts),
            Self::Server(server) => TargetRecord {
                server: Some(server.facts.record.clone()),
                contact: Some(ContactRecord {
                    answered: SERVER_CONTACT_REQUESTS,
                    needed: SERVER_CONTACT_REQUESTS + SERVER_PLACE_REQUESTS,
                    waited_ns: server.facts.contact_ns,
                    end: ContactEnd::Own,
                }),
                ..TargetRecord::new(server.target.to_string(), server.target.kind())
            },
        }
    }
}

/// What the scouts found out about a target.
pub(super) enum Scouted {
    Answers(Known),
    /// It answers, but nothing is begun there: why, and what to do.
    Unusable {
        known: Known,
        failure: String,
    },
    /// A server that was not reached, or does not let us in: why, and what to do.
    Refused {
        target: Box<Target>,
        failure: String,
    },
    /// It answers too slowly for the time that is left, so nothing is begun there.
    Slow(Known),
    /// Its first contact did not come to an end in time.
    Silent {
        target: Box<Target>,
        age: Nanoseconds,
        came_back: u64,
    },
}

impl Scouted {
    /// What becomes of a target that answers, by its room and by its pace.
    fn of(known: Known, check: &CheckSpec, left: Nanoseconds) -> Self {
        let lack = match &known {
            Known::Directory(facts) => lack_of_room(facts, check),
            Known::Server(_) => None,
        };
        match lack {
            Some(failure) => Self::Unusable { known, failure },
            None if known.bare() > left => Self::Slow(known),
            None => Self::Answers(known),
        }
    }

    /// Whether it did not come as far as that anything could be begun in the time that there was.
    pub(super) fn is_silent(&self) -> bool {
        matches!(self, Self::Silent { .. } | Self::Slow(_))
    }

    fn known(&self) -> Option<&Known> {
        match self {
            Self::Answers(known) | Self::Unusable { known, .. } | Self::Slow(known) => Some(known),
            Self::Refused { .. } | Self::Silent { .. } => None,
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
/// beside those that are measured, and so does a server that was not reached.
pub(super) fn targets(
    check: &CheckSpec,
    asked: &[Target],
    by_default: bool,
    found: &Found,
    left: Nanoseconds,
) -> Result<Chosen, Failure> {
    let mut chosen = Chosen { targets: Vec::new(), left_out: Vec::new() };
    let mut trouble = Vec::new();
    let (mut directories, mut servers) = (found.directories.iter(), found.servers.iter());
    for target in asked {
        if target.is_server() {
            let scouted = servers.next().map(|answer| scouted_server(target, answer, check, left));
            let is_new =
                |one: &Scouted| !chosen.targets.iter().any(|known| target_of(known) == target_of(one));
            chosen.targets.extend(scouted.filter(is_new));
            continue;
        }
        let Some(answer) = directories.next() else { continue };
        match answer {
            Answer::Given(Ok(facts)) => match known(&chosen.targets, facts, by_default) {
                None => {
                    let facts = Known::Directory(Box::new(facts.clone()));
                    chosen.targets.push(Scouted::of(facts, check, left));
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
                chosen.targets.push(Scouted::Silent {
                    target: Box::new(target.clone()),
                    age: *age,
                    came_back: *came_back,
                });
            }
        }
    }
    if chosen.targets.is_empty() || (!by_default && !trouble.is_empty()) {
        return Err(Failure::unusable(trouble.join("\niolag: ")));
    }
    chosen.left_out.extend(trouble.into_iter().map(|sentence| format!("Left out: {sentence}.")));
    Ok(chosen)
}

fn scouted_server(
    target: &Target,
    answer: &Answer<ServerAnswer>,
    check: &CheckSpec,
    left: Nanoseconds,
) -> Scouted {
    match answer {
        Answer::Given(Ok(facts)) => {
            let server = SettledServer { target: facts.settled(target), facts: facts.clone() };
            let known = Known::Server(Box::new(server));
            Scouted::of(known, check, left)
        }
        Answer::Given(Err(failure)) => {
            Scouted::Refused { target: Box::new(target.clone()), failure: failure.clone() }
        }
        Answer::None { age, came_back, .. } => {
            Scouted::Silent { target: Box::new(target.clone()), age: *age, came_back: *came_back }
        }
    }
}

/// The target that stands for this directory, too.
fn known<'a>(targets: &'a [Scouted], facts: &DirectoryFacts, by_default: bool) -> Option<&'a DirectoryFacts> {
    let is_same = |known: &&DirectoryFacts| {
        known.path == facts.path || (by_default && known.file_system.device == facts.file_system.device)
    };
    let directory = |known: &'a Known| match known {
        Known::Directory(facts) => Some(facts.as_ref()),
        Known::Server(_) => None,
    };
    targets.iter().filter_map(Scouted::known).filter_map(directory).find(is_same)
}

pub(super) fn answering(targets: &[Scouted]) -> impl Iterator<Item = (u16, &Known)> {
    (0..).zip(targets).filter_map(|(index, target)| match target {
        Scouted::Answers(known) => Some((index, known)),
        Scouted::Unusable { .. } | Scouted::Refused { .. } | Scouted::Slow(_) | Scouted::Silent { .. } => {
            None
        }
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

pub(super) fn nothing_to_measure(targets: &[Scouted], left_out: &[String]) -> Failure {
    let is_unusable =
        targets.iter().any(|target| matches!(target, Scouted::Unusable { .. } | Scouted::Refused { .. }));
    let code = if is_unusable { ExitCode::Unusable } else { ExitCode::Incomplete };
    let sentences: Vec<_> = targets.iter().filter_map(trouble).chain(left_out.iter().cloned()).collect();
    Failure { code, sentence: sentences.join("\niolag: ") }
}

/// Why nothing is measured in a target, if that is known before.
pub(super) fn trouble(target: &Scouted) -> Option<String> {
    let name = target_of(target);
    match target {
        Scouted::Answers(_) => None,
        Scouted::Unusable { failure, .. } => Some(format!("cannot measure in {name}: {failure}")),
        Scouted::Refused { failure, .. } => Some(format!("cannot measure on {name}: {failure}")),
        Scouted::Silent { age, came_back: 0, .. } => {
            Some(format!("{name} does not answer: the first contact has been waiting for {age}"))
        }
        Scouted::Silent { age, came_back, .. } => Some(format!("{name} is {}", too_slow(*came_back, *age))),
        Scouted::Slow(known) => Some(format!("{name} is {}", known.too_slow())),
    }
}

pub(super) fn target_of(scouted: &Scouted) -> Target {
    match scouted {
        Scouted::Answers(known) | Scouted::Unusable { known, .. } | Scouted::Slow(known) => known.target(),
        Scouted::Refused { target, .. } | Scouted::Silent { target, .. } => target.as_ref().clone(),
    }
}

pub(super) fn target_record(scouted: &Scouted) -> TargetRecord {
    match scouted {
        Scouted::Answers(known) => known.record(),
        Scouted::Unusable { known, failure } => {
            TargetRecord { failure: Some(failure.clone()), ..known.record() }
        }
        Scouted::Refused { target, failure } => TargetRecord {
            failure: Some(failure.clone()),
            ..TargetRecord::new(target.to_string(), target.kind())
        },
        Scouted::Slow(known) => TargetRecord { failure: Some(known.too_slow()), ..known.record() },
        Scouted::Silent { age, came_back: 0, .. } => unanswered(&target_of(scouted), *age),
        Scouted::Silent { age, came_back, .. } => TargetRecord {
            unanswered_ns: None,
            contact: Some(contact(*came_back, *age)),
            failure: Some(too_slow(*came_back, *age)),
            ..unanswered(&target_of(scouted), *age)
        },
    }
}

pub(super) fn record_of_directory(facts: &DirectoryFacts) -> TargetRecord {
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
