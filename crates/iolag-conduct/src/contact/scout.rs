//! Scouts: children that touch a directory for the first time, so that one that does not answer is found out without
//! anybody else waiting for it.

use std::path::{Path, PathBuf};

use iolag_backend::Target;
use iolag_keeper::{Child, Messenger, Orphanage, Outbox, Signals, Sleeps, processor_use};
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Nanoseconds, TargetRecord};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::environment;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::messages::{DirectoryFacts, ScoutAnswer, tell};

/// What became of a question that was put to a child.
#[derive(Debug)]
pub enum Answer<T> {
    /// It answered.
    Given(T),
    /// It did not within the time given; the age says how long it was waited for.
    None {
        /// How long.
        age: Nanoseconds,
        /// How many requests had come back by then.
        came_back: u64,
        /// The process, if it could not be ended.
        unkillable: Option<u32>,
    },
}

/// The same, where who has not answered goes on.
pub enum Contact<T> {
    /// It answered.
    Given(T),
    /// It did not within the time given.
    Silent {
        /// Since when.
        start: MonotonicTime,
        /// How many requests have come back.
        came_back: u64,
        /// Who waits for an answer that nobody hears any more; it dies with the keeper, if it can.
        child: Child,
    },
}

/// How long a child that has answered, or is ended, may take for each step of its end.
const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(200);

/// Puts questions to one child each, all at once, and waits for the answers up to `deadline`, or until a signal to end comes. Who has
/// not answered is ended.
///
/// # Errors
/// If no process can be made, or the user wants no answer any more.
pub fn ask_all<Q, T>(
    role: &'static str,
    questions: &[Q],
    deadline: Nanoseconds,
    answer: impl Fn(&Q) -> T,
) -> Result<Vec<Answer<T>>, Failure>
where
    T: Serialize + DeserializeOwned,
{
    ask_all_patiently(role, questions, deadline.into(), |question, _| answer(question))
}

/// How long answers are waited for.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// After this long without any sign of life of those who have not answered.
    pub deadline: Nanoseconds,
    /// After this long in any case.
    pub in_all: Nanoseconds,
}

impl From<Nanoseconds> for Patience {
    /// For as long as there are signs of life.
    fn from(deadline: Nanoseconds) -> Self {
        Self { deadline, in_all: Nanoseconds(u64::MAX) }
    }
}

/// Where a child says that a request has come back: who is slow is not silent.
pub struct Steps<'a>(&'a Outbox);

/// No message is this line.
const STEP: &[u8] = b".";

impl Steps<'_> {
    /// One more has come back.
    pub fn came_back(&mut self) {
        // The keeper's end is noticed by whoever must act on it.
        let _ = self.0.send(STEP);
    }
}

/// [`ask_all`] with a limit in all, of children that say how far they are.
///
/// # Errors
/// As [`ask_all`].
pub fn ask_all_patiently<Q, T>(
    role: &'static str,
    questions: &[Q],
    patience: Patience,
    answer: impl Fn(&Q, &mut Steps<'_>) -> T,
) -> Result<Vec<Answer<T>>, Failure>
where
    T: Serialize + DeserializeOwned,
{
    let contacts = contact_all_patiently(role, questions, patience, answer)?;
    let now = MonotonicClock.now();
    let end = |contact| match contact {
        Contact::Given(answer) => Answer::Given(answer),
        Contact::Silent { start, came_back, mut child } => {
            let unkillable = child.end(GRACE).is_none().then_some(child.id());
            Answer::None { age: now.since(start), came_back, unkillable }
        }
    };
    Ok(contacts.into_iter().map(end).collect())
}

/// [`ask_all`], but who has not answered is left to the caller.
///
/// # Errors
/// As [`ask_all`].
pub fn contact_all<Q, T>(
    role: &'static str,
    questions: &[Q],
    deadline: Nanoseconds,
    answer: impl Fn(&Q) -> T,
) -> Result<Vec<Contact<T>>, Failure>
where
    T: Serialize + DeserializeOwned,
{
    contact_all_patiently(role, questions, deadline.into(), |question, _| answer(question))
}

/// [`contact_all`] with a limit in all, of children that say how far they are.
///
/// # Errors
/// As [`ask_all`].
pub fn contact_all_patiently<Q, T>(
    role: &'static str,
    questions: &[Q],
    patience: Patience,
    answer: impl Fn(&Q, &mut Steps<'_>) -> T,
) -> Result<Vec<Contact<T>>, Failure>
where
    T: Serialize + DeserializeOwned,
{
    const POLL: Nanoseconds = Nanoseconds::from_milliseconds(2);
    const LOOK_EVERY: u32 = 25;
    let signals = Signals::block()?;
    let started = MonotonicClock.now();
    let mut children = Vec::with_capacity(questions.len());
    for question in questions {
        children.push(Messenger::fork(role, Orphanage::Die, |_, outbox| {
            let answer = answer(question, &mut Steps(&outbox));
            tell(&outbox, &answer);
            0
        })?);
    }
    let mut answers: Vec<Option<T>> = children.iter().map(|_| None).collect();
    let mut came_back = vec![0_u64; children.len()];
    let mut open = vec![true; children.len()];
    // A child that uses its processor is working, not waiting.
    let mut working = Working::new(started);
    let mut rounds = 0_u32;
    let mut sleeps = Sleeps::new(MonotonicClock.now());
    let mut is_patient = |now: MonotonicTime, sign: MonotonicTime| {
        sleeps.look(now);
        sleeps.awake(sign, now) < patience.deadline && sleeps.awake(started, now) < patience.in_all
    };
    while open.contains(&true) && is_patient(MonotonicClock.now(), working.since) {
        if let Some(signal) = signals.next() {
            // A watch that reads its configuration again has to know which it was.
            signals.put_back(signal);
            for child in &mut children {
                // One that cannot be ended dies with the keeper, as soon as its file system lets it.
                let _ = child.child_mut().end(GRACE);
            }
            return Err(Failure {
                code: ExitCode::Incomplete,
                sentence: "interrupted before anything was done; nothing is left behind".into(),
            });
        }
        rounds += 1;
        if rounds.is_multiple_of(LOOK_EVERY) {
            working.look(children.iter().map(|child| child.child().id()), MonotonicClock.now());
        }
        for (index, child) in children.iter_mut().enumerate() {
            if !open[index] {
                continue;
            }
            // The ending is looked at first: whatever the child said before it is then certainly in the pipe.
            let ended = child.child_mut().ending().is_some();
            for line in child.receive() {
                match line.as_slice() {
                    STEP => came_back[index] += 1,
                    line if answers[index].is_none() => answers[index] = serde_json::from_slice(line).ok(),
                    _ => {}
                }
            }
            open[index] = answers[index].is_none() && !ended;
        }
        MonotonicClock.sleep_until(MonotonicClock.now().after(POLL));
    }
    let conclude = |((mut child, answer), came_back): ((Messenger, Option<T>), u64)| match answer {
        Some(answer) => {
            // It has nothing left to do: its end is taken note of, so that no zombie stays for as long as a watch runs.
            let _ = child.child_mut().wait(GRACE);
            Contact::Given(answer)
        }
        None => Contact::Silent { start: started, came_back, child: child.into_child() },
    };
    Ok(children.into_iter().zip(answers).zip(came_back).map(conclude).collect())
}

/// When any of some processes last used its processor.
struct Working {
    processor_use: u64,
    since: MonotonicTime,
}

impl Working {
    const fn new(since: MonotonicTime) -> Self {
        Self { processor_use: 0, since }
    }

    fn look(&mut self, processes: impl Iterator<Item = u32>, now: MonotonicTime) {
        let used = processes.filter_map(processor_use).sum();
        if used != self.processor_use {
            (self.processor_use, self.since) = (used, now);
        }
    }
}

/// Puts one question to one child.
///
/// # Errors
/// As [`ask_all`].
pub fn ask<T>(role: &'static str, deadline: Nanoseconds, answer: impl Fn() -> T) -> Result<Answer<T>, Failure>
where
    T: Serialize + DeserializeOwned,
{
    let mut answers = ask_all(role, &[()], deadline, |()| answer())?;
    Ok(answers.pop().expect("one question has one answer"))
}

/// Looks at a directory; to be called in a process that may hang.
pub fn look_at(directory: &Path, steps: &mut Steps<'_>) -> ScoutAnswer {
    let start = MonotonicClock.now();
    // Whatever it says, the way there is told from what follows.
    if directory.metadata().is_ok() {
        steps.came_back();
    }
    let looked = MonotonicClock.now();
    let path = go_to(directory)?;
    // What a cache answers, or nothing disturbs, at one time says more than what takes long at another.
    let again = Nanoseconds(MonotonicClock.now().since(looked).0 / PATH_REQUESTS);
    let pace_ns = looked.since(start).min(again);
    (0..PATH_REQUESTS).for_each(|_| steps.came_back());
    let file_system = environment::file_system::capture(&path, Path::new("/proc"), Path::new("/sys"));
    Ok(DirectoryFacts { path, file_system, contact_ns: MonotonicClock.now().since(start), pace_ns })
}

/// Requests that finding a directory's true path and looking at it send, at least.
const PATH_REQUESTS: u64 = 2;
/// Requests of a first contact that has come to its end.
pub const CONTACT_REQUESTS: u64 = 2 + PATH_REQUESTS;

/// Goes to a directory and tells the kernel's number of the mount that it lies on, if that is known, and otherwise why it cannot be
/// measured. To be called in a process that may hang; starts no other.
pub fn reach(directory: &Path) -> Result<Option<u64>, String> {
    let path = go_to(directory)?;
    Ok(environment::file_system::identify(&path, Path::new("/proc"), Path::new("/sys")).mount_id)
}

/// The directory's path without symbolic links, if it is one; with the links where without them it would be no text, which no
/// message and no run can hold.
fn go_to(directory: &Path) -> Result<PathBuf, String> {
    let sentence = |error: std::io::Error| {
        let reason = match error.kind() {
            // The shell expands ~ only at the begin of a word and without quotes.
            std::io::ErrorKind::NotFound
                if directory
                    .components()
                    .any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"~")) =>
            {
                "it does not exist; the shell has not expanded the ~, write the whole path".to_owned()
            }
            std::io::ErrorKind::NotFound => {
                "it does not exist; check the spelling, or create it first".to_owned()
            }
            std::io::ErrorKind::PermissionDenied => {
                "permission denied; choose a directory that you may enter".to_owned()
            }
            _ => error.to_string(),
        };
        format!("cannot measure in {}: {reason}", directory.display())
    };
    let resolved = directory.canonicalize().map_err(sentence)?;
    let path = if resolved.to_str().is_some() { resolved } else { absolute(directory) };
    if !path.metadata().map_err(sentence)?.is_dir() {
        return Err(format!(
            "cannot measure in {}: it is not a directory; name a directory to measure in",
            directory.display()
        ));
    }
    Ok(path)
}

/// Makes a path absolute by the process's current directory, without touching either.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Requests of making a working directory and of trying whether it can be written, at least.
pub const PLACE_REQUESTS: u64 = 10;

/// The record of a target that did not answer.
pub fn unanswered(target: &Target, age: Nanoseconds) -> TargetRecord {
    TargetRecord { unanswered_ns: Some(age), ..TargetRecord::new(target.to_string(), target.kind()) }
}
