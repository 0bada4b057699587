//! What everybody who measures does first: become the keeper, look at store and directories.

use std::path::PathBuf;

use iolag_backend::{Target, redact_argument};
use iolag_keeper::{Residence, Signals, move_into_memory, start_ticks};
use iolag_model::{Environment, MemoryState, Nanoseconds, Rescue};
use iolag_workload::{allow_core_dumps, withhold_core_dumps};
use serde::{Deserialize, Serialize};

use crate::contact::greeting::{ServerAnswer, look_at_server};
use crate::contact::scout::{self, Answer, Patience};
use crate::failure::Failure;
use crate::messages::ScoutAnswer;
use crate::storing::place::{self, Choice, RescuePlaces, StoreChoice, StoreFacts};

/// The keeper, ready to measure.
pub struct Keeper {
    /// Its signals.
    pub signals: Signals,
    /// Where it runs from.
    pub residence: Residence,
    /// The store that was asked for.
    pub store: StoreChoice,
    /// The command as typed, secrets removed.
    pub command: Vec<String>,
}

/// What was found out before anything is measured.
pub struct Found {
    /// The store.
    pub store: StoreFacts,
    /// Where the run will be kept.
    pub root: PathBuf,
    /// Directories that may hold a spool, with their devices.
    pub candidates: Vec<(PathBuf, u64)>,
    /// The machine.
    pub environment: Environment,
    /// Load and memory.
    pub before: MemoryState,
    /// The directories, in the order asked.
    pub directories: Vec<Answer<ScoutAnswer>>,
    /// The servers, in the order asked.
    pub servers: Vec<Answer<ServerAnswer>>,
    /// What to tell the user, as sentences.
    pub notices: Vec<String>,
    /// Set if the run is kept in a place of rescue from its beginning.
    pub rescue: Option<Rescue>,
}

enum Question {
    Store(PathBuf),
    Directory(PathBuf),
    Server(Box<Target>),
    /// A place for samples: each has a scout of its own, since /tmp may hang while the store is healthy.
    Candidate(PathBuf),
    Machine,
}

#[derive(Serialize, Deserialize)]
enum Reply {
    Store(Box<StoreFacts>),
    Directory(Box<ScoutAnswer>),
    Server(Box<ServerAnswer>),
    Candidate(PathBuf, Option<u64>),
    Machine(Box<Environment>, Box<MemoryState>),
}

/// Becomes the keeper: from here on this process runs from memory, stands in no directory and takes no signal by surprise.
///
/// # Errors
/// If signals cannot be received.
pub fn become_keeper(store: StoreChoice, command: Vec<String>) -> Result<Keeper, Failure> {
    // Blocked first: what comes while the program moves waits, and is heard afterwards.
    let signals = Signals::block()?;
    // The copy is to know what programs are to be given back.
    allow_core_dumps();
    let residence = move_into_memory(redact_argument);
    withhold_core_dumps();
    Ok(Keeper { signals, residence, store, command })
}

/// Leaves the current directory, which may be on the file system that hangs. To be called when all paths are absolute.
pub fn leave_current_directory() {
    // Staying where it is harms only if that file system is to be unmounted.
    let _ = std::env::set_current_dir("/");
}

/// Sends scouts to the store, the places for samples and `directories`, all at once.
///
/// # Errors
/// If a store that the user named cannot be used.
pub fn send_scouts(
    keeper: &Keeper,
    directories: &[PathBuf],
    patience: impl Into<Patience>,
) -> Result<Found, Failure> {
    send_scouts_everywhere(keeper, (directories, &[]), patience.into())
}

/// [`send_scouts`], and more of them to servers.
///
/// # Errors
/// As [`send_scouts`].
pub fn send_scouts_everywhere(
    keeper: &Keeper,
    (directories, servers): (&[PathBuf], &[Target]),
    patience: Patience,
) -> Result<Found, Failure> {
    let store = Question::Store(keeper.store.root.clone());
    let questions: Vec<Question> = [store, Question::Machine]
        .into_iter()
        .chain(place::spool_candidates().into_iter().map(Question::Candidate))
        .chain(directories.iter().cloned().map(Question::Directory))
        .chain(servers.iter().cloned().map(Box::new).map(Question::Server))
        .collect();
    let answers =
        scout::ask_all_patiently("scout", &questions, patience, |question, steps| match question {
            Question::Store(root) => Reply::Store(Box::new(place::look_at(root))),
            Question::Machine => {
                let (environment, before) = place::machine();
                Reply::Machine(Box::new(environment), Box::new(before))
            }
            Question::Candidate(path) => Reply::Candidate(path.clone(), place::writable_device_of(path)),
            Question::Directory(path) => Reply::Directory(Box::new(scout::look_at(path, steps))),
            Question::Server(target) => Reply::Server(Box::new(look_at_server(target))),
        })?;
    let mut found = Found {
        store: StoreFacts { device: Err(String::new()), identity: None },
        root: keeper.store.root.clone(),
        candidates: Vec::new(),
        environment: Environment::default(),
        before: MemoryState::default(),
        directories: Vec::new(),
        servers: Vec::new(),
        notices: Vec::new(),
        rescue: None,
    };
    let mut silent_for = None;
    for (question, answer) in questions.iter().zip(answers) {
        match (question, answer) {
            (_, Answer::Given(Reply::Store(facts))) => found.store = *facts,
            (_, Answer::Given(Reply::Machine(environment, before))) => {
                (found.environment, found.before) = (*environment, *before);
            }
            (_, Answer::Given(Reply::Candidate(path, Some(device)))) => found.candidates.push((path, device)),
            (_, Answer::Given(Reply::Directory(facts))) => found.directories.push(Answer::Given(*facts)),
            (_, Answer::Given(Reply::Server(facts))) => found.servers.push(Answer::Given(*facts)),
            (Question::Server(_), Answer::None { age, came_back, unkillable }) => {
                found.servers.push(Answer::None { age, came_back, unkillable });
            }
            (Question::Directory(_), Answer::None { age, came_back, unkillable }) => {
                found.directories.push(Answer::None { age, came_back, unkillable });
            }
            (Question::Store(_), Answer::None { age, .. }) => silent_for = Some(age),
            // The machine's tables always answer; a place that does not is no place.
            (_, Answer::None { .. } | Answer::Given(Reply::Candidate(_, None))) => {}
        }
    }
    judge_store(keeper, &mut found, silent_for, patience.deadline)?;
    Ok(found)
}

/// A store that cannot be used is replaced by a place in memory, unless the user named it and it answered.
fn judge_store(
    keeper: &Keeper,
    found: &mut Found,
    silent_for: Option<Nanoseconds>,
    deadline: Nanoseconds,
) -> Result<(), Failure> {
    let root = keeper.store.root.display().to_string();
    let trouble = match (silent_for, &found.store.device) {
        (Some(age), _) => format!("the store {root} has not answered for {age}"),
        (None, Err(trouble)) if keeper.store.choice == Choice::Named => {
            return Err(Failure::unusable(trouble));
        }
        (None, Err(trouble)) => trouble.clone(),
        (None, Ok(_)) => {
            let places = RescuePlaces::find()?;
            // A store that is slow to be put in order is measured with all the same: the next command goes on with it.
            if let Answer::Given(sentences) =
                scout::ask("store", deadline, || place::put_in_order(&keeper.store.root, &places))?
            {
                found.notices = sentences;
            }
            return Ok(());
        }
    };
    for (candidate, device) in found.candidates.clone() {
        let usable = scout::ask("scout", deadline, || {
            let replacement = place::memory_root(&candidate);
            place::look_at(&replacement).device.is_ok().then_some(replacement)
        })?;
        if let Answer::Given(Some(replacement)) = usable {
            found.store.device = Ok(device);
            let keeper_pid = std::process::id();
            found.rescue = Some(Rescue {
                store: root,
                identity: found.store.identity,
                place: replacement.display().to_string(),
                cause: trouble.clone(),
                only_in_store: 0,
                keeper_pid,
                keeper_start_ticks: start_ticks(keeper_pid).unwrap_or(0),
            });
            found.notices.push(format!("{trouble}; this run is kept in {} instead", replacement.display()));
            found.root = replacement;
            return Ok(());
        }
    }
    Err(Failure::unusable(format!("{trouble}; name another with --store")))
}
