//! Sides of a comparison, and the commands that make them: another client loaded, another mount under one mount point.
//!
//! A command runs below a guard, in a child of a child: the keeper touches nothing. What a command that succeeds leaves running stays, as
//! the client of a file system does; what one that fails or is ended has started ends with it. The keeper waits for the first child by the wall clock, so a command that hangs in the kernel is told like any other that does not end.

pub(super) mod mounted;
pub(super) mod one_directory;
pub(crate) mod putting_back;

use std::os::fd::AsFd;

use iolag_backend::{Target, redact_argument, redact_command, redact_line};
use iolag_keeper::{Awaited, Ending, Messenger, Orphanage, wait_for_any};
use iolag_model::{Clock, FailureCode, MonotonicClock, Nanoseconds, SideRecord, one_line};
use iolag_watch::Stamps;
use iolag_workload::TaskSpec;
use rustix::fs::{Mode, OFlags, open};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::messages::tell;
use crate::programs::{start_program, wait_for_end};
use crate::run::interruption::{Interruption, Wish};

/// Between asking a command to end and ending it: it may have something to put in order.
const GRACE: Nanoseconds = Nanoseconds::from_seconds(2);
/// How long the child that waits for it may take beyond that.
const FAREWELL: Nanoseconds = Nanoseconds::from_seconds(2);
/// What the keeper says to the child that is to end the command.
const BREAK_OFF: &[u8] = b"break off";
/// After this long the user is told what is waited for.
const LONG: Nanoseconds = Nanoseconds::from_seconds(5);
/// How often it is looked at by the keeper.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);

/// How a sentence ends that is told while a campaign ends because of it.
pub(super) const CAMPAIGN_ENDS: &str = ", so the campaign ends";

/// What is compared with others: a target, and what brings it into the state that is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Where it is measured.
    pub target: Target,
    /// What it is called, if that is not its target.
    pub name: Option<String>,
    /// What its runs have attached, besides what all have.
    pub labels: Vec<(String, String)>,
    /// Executed before each of its runs.
    pub before: Option<SideCommand>,
    /// Executed after each of its runs, whatever became of it and of the command before.
    pub after: Option<SideCommand>,
}

/// A command of the user's with its deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideCommand {
    /// Program, as an absolute path, and arguments.
    pub command: Vec<String>,
    /// It is ended after this long.
    pub deadline: Nanoseconds,
}

impl From<Target> for Side {
    /// A target as it is.
    fn from(target: Target) -> Self {
        Self { target, name: None, labels: Vec::new(), before: None, after: None }
    }
}

impl Side {
    /// What people know it by.
    pub fn shown(&self) -> String {
        self.name.clone().unwrap_or_else(|| one_line(&self.target.to_string()))
    }

    /// What tells it from the others of its campaign, as its runs have it in their coordinates.
    pub(super) fn coordinate(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.target.to_string())
    }

    /// What will be executed around its runs, as a sentence, if anything will.
    pub(super) fn announcement(&self) -> Option<String> {
        let SideRecord { before, after } = self.record()?;
        let words = |words: Vec<String>| one_line(&words.join(" "));
        let of_kind = |when: &str, command: Vec<String>| {
            (!command.is_empty()).then(|| format!("{when} each run of {}: {}", self.shown(), words(command)))
        };
        let said: Vec<_> = of_kind("before", before).into_iter().chain(of_kind("after", after)).collect();
        Some(format!("executed {}", said.join("; ")))
    }

    /// What is on record of the commands, if there are any.
    pub(super) fn record(&self) -> Option<SideRecord> {
        let words = |command: &Option<SideCommand>| -> Vec<String> {
            command.iter().flat_map(|command| redact_command(&command.command)).collect()
        };
        (self.before.is_some() || self.after.is_some())
            .then(|| SideRecord { before: words(&self.before), after: words(&self.after) })
    }
}

/// When a command is executed, and with it what follows from its failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Without it there is nothing to measure; the user may break it off.
    Before,
    /// Without it nobody knows what the target is like: it is only broken off by who wants to leave at once.
    After,
}

/// Whether it is known what is in place after a command that did not do what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Afterwards {
    /// Nothing of the command is left.
    Known,
    /// It may still change that, or did not put things back.
    Unknown,
}

/// What was not done, and what follows.
#[derive(Debug)]
pub(super) struct Undone {
    /// As a sentence.
    pub(super) failure: Failure,
    /// What is known of the side.
    pub(super) afterwards: Afterwards,
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self { failure, afterwards: Afterwards::Known }
    }
}

/// Executes a command of the side, if it has one; tells if that takes long.
///
/// # Errors
/// If it fails, does not end in time, or is broken off, as a sentence.
pub(super) fn execute(
    when: When,
    side: &Side,
    interruption: &mut Interruption<'_>,
    say: &mut dyn FnMut(&str),
) -> Result<(), Undone> {
    let (word, command) = match when {
        When::Before => ("before", &side.before),
        When::After => ("after", &side.after),
    };
    let Some(command) = command else { return Ok(()) };
    let program = command.command.first().map_or("", String::as_str);
    let name =
        format!("the command {word} runs of {}, {}", side.shown(), one_line(&redact_argument(program)));
    let mut is_long = || say(&format!("{name}, is not done yet; it may take {}", command.deadline));
    attend(when, command, interruption, &mut is_long).map_err(|undone| {
        let afterwards = if when == When::After { Afterwards::Unknown } else { undone.afterwards };
        let consequence = match (when, afterwards) {
            (When::Before, Afterwards::Known) => "this run is not made".to_owned(),
            (When::Before, Afterwards::Unknown) => {
                format!("this run is not made, and nobody knows what is in place now{CAMPAIGN_ENDS}")
            }
            (When::After, _) => format!("nobody knows what is in place now{CAMPAIGN_ENDS}"),
        };
        let failure = match afterwards {
            Afterwards::Known => undone.failure,
            Afterwards::Unknown => undone.failure.at_least(ExitCode::Incomplete),
        };
        let sentence = format!("{name}, {}; {consequence}", failure.sentence);
        Undone { failure: Failure { sentence, ..failure }, afterwards }
    })
}

/// Waits for the child that performs the command.
fn attend(
    when: When,
    command: &SideCommand,
    interruption: &mut Interruption<'_>,
    is_long: &mut dyn FnMut(),
) -> Result<(), Undone> {
    let mut child = Messenger::fork("side", Orphanage::Die, |mut inbox, outbox| {
        let performed = perform(command, || inbox.receive().is_some());
        tell(&outbox, &performed.map_err(|failure| (failure.code as u8, failure.sentence)));
        0
    })
    .map_err(Failure::from)?;
    let start = MonotonicClock.now();
    let mut end = start.after(command.deadline).after(GRACE).after(FAREWELL);
    let mut long = Some(start.after(LONG));
    loop {
        // The ending is looked at first: whatever the child said before it is then certainly in the pipe.
        let ending = child.child_mut().ending();
        if let Some(line) = child.receive().pop() {
            let _ = child.child_mut().wait(FAREWELL);
            let told: Result<(), (u8, String)> = serde_json::from_slice(&line).map_err(Failure::bug)?;
            return told
                .map_err(|(code, sentence)| Failure { code: ExitCode::from_number(code), sentence }.into());
        }
        if let Some(ending) = ending {
            return Err(of_child(ending, &child.last_words()).into());
        }
        let (wish, now) = (interruption.listen(), MonotonicClock.now());
        if wish == Wish::Leave || wish != Wish::GoOn && when == When::Before {
            child.send(BREAK_OFF);
            end = end.min(now.after(GRACE).after(FAREWELL));
        }
        if now >= end {
            // With it goes what it has started, as soon as the kernel lets it.
            let _ = child.child_mut().end(GRACE);
            let failure = incomplete("does not end, and cannot be ended");
            return Err(Undone { failure, afterwards: Afterwards::Unknown });
        }
        if long.take_if(|long| now >= *long).is_some() {
            is_long();
        }
        let signals = Awaited::Readable(interruption.signals().descriptor());
        let awaited: Vec<_> = child.incoming().map(Awaited::Readable).into_iter().chain([signals]).collect();
        wait_for_any(&awaited, Some(LOOK));
    }
}

/// Why the child that performs a command ended without a word of it.
fn of_child(ending: Ending, last_words: &str) -> Failure {
    match ending {
        Ending::Exited(70) => Failure::bug(format!("was ended by a bug in iolag ({last_words})")),
        Ending::Exited(status) => incomplete(&format!(
            "was ended: the process of iolag that waits for it ended with status {status}"
        )),
        Ending::Killed(signal) => incomplete(&format!(
            "was ended: the process of iolag that waits for it was ended by signal {signal}"
        )),
    }
}

/// Performs the command, to its deadline or until it `is_broken_off`; to be called in a child.
pub(super) fn perform(command: &SideCommand, is_broken_off: impl FnMut() -> bool) -> Result<(), Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::unusable(format!("cannot be started: {error}"));
    let root = open(c"/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| cannot(&error))?;
    let stamps = Stamps::new().map_err(|error| cannot(&error))?;
    let task = TaskSpec::SetUp { command: command.command.clone() };
    let end = MonotonicClock.now().after(command.deadline);
    let mut process = start_program(root.as_fd(), &task, 0, &stamps).map_err(|error| cannot(&error))?;
    match wait_for_end(&mut process, &stamps, end, GRACE, is_broken_off) {
        Some(FailureCode::CUT) => return Err(incomplete("was broken off")),
        Some(_) => {
            return Err(incomplete(&format!("has not ended after {}, and was ended", command.deadline)));
        }
        None => {}
    }
    if let Some(failure) = stamps.preparation_failure() {
        return Err(cannot(&failure.sentence));
    }
    let Some((_, ending)) = stamps.part(0).end else { return Err(cannot(&FailureCode::ABANDONED)) };
    if ending.failure == FailureCode::NONE {
        return Ok(());
    }
    let how = match ending.exit_status {
        Some(status) => format!("failed with exit status {status}"),
        None => format!("failed: {}", ending.failure),
    };
    // It may repeat what it was given.
    let said = stamps.said().map_or_else(String::new, |line| format!(" ({})", redact_line(&line)));
    Err(Failure::unusable(how + &said))
}

fn incomplete(sentence: &str) -> Failure {
    Failure { code: ExitCode::Incomplete, sentence: sentence.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_keeper::Signals;

    fn shell(script: &str) -> SideCommand {
        let command = ["/bin/sh", "-c", script].map(str::to_owned).into();
        SideCommand { command, deadline: Nanoseconds::from_seconds(60) }
    }

    fn side(before: SideCommand) -> Side {
        Side { before: Some(before), ..Side::from(Target::parse("memory:").unwrap()) }
    }

    #[test]
    fn what_became_of_the_child_that_waits_is_told() {
        let bug = of_child(Ending::Exited(70), "panicked at x.rs");
        assert_eq!(bug.code, ExitCode::Bug);
        assert_eq!(bug.sentence, "was ended by a bug in iolag (panicked at x.rs)");
        let killed = of_child(Ending::Killed(9), "");
        assert_eq!(killed.code, ExitCode::Incomplete);
        assert!(killed.sentence.ends_with("was ended by signal 9"), "{}", killed.sentence);
    }

    #[test]
    fn a_child_that_was_killed_is_no_command_that_does_not_end() {
        let signals = Signals::block().unwrap();
        // Up to the child of this very process.
        let kill = format!(
            "p=$$; while q=$(cut -d' ' -f4 /proc/$p/stat); [ $q != {} ]; do p=$q; done; kill -9 $p; sleep 60",
            std::process::id()
        );
        let side = side(shell(&kill));
        let undone = execute(When::Before, &side, &mut Interruption::new(&signals), &mut |_| {}).unwrap_err();
        let sentence = &undone.failure.sentence;
        assert!(sentence.ends_with("was ended by signal 9; this run is not made"), "{sentence}");
        assert_eq!(undone.afterwards, Afterwards::Known);
    }

    #[test]
    fn what_will_be_executed_is_announced_without_secrets() {
        let side = side(shell("mount -o password=x a\nb"));
        let told = side.announcement().unwrap();
        assert!(
            told.starts_with("executed before each run of memory:: /bin/sh -c mount -o password=***"),
            "{told}"
        );
        assert!(!told.contains('\n') && !told.contains("after"), "{told}");
        assert_eq!(Side::from(side.target).announcement(), None);
    }
}
