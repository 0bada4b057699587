//! The keeper's side of capturing: it listens to the user, and waits for the capturer, but not without end.

use std::path::PathBuf;

use iolag_keeper::{Awaited, Ending as ChildEnding, Messenger, Orphanage, outlive_quit, wait_for_any};
use iolag_model::{
    Clock, MonotonicClock, MonotonicTime, Nanoseconds, RunRecord, RunState, TraceElapsed, TraceSummary,
    Trust, one_line,
};
use iolag_trace::{About, Ending};

use super::capturer::{GRACE, capture};
use super::destination::Destination;
use super::plan::{Capture, CaptureSubject, Purpose};
use super::talk::{FromCapturer, Read, ToCapturer};
use crate::contact::start::{Keeper, leave_current_directory};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::storing::place::STORE_DEADLINE;
use crate::trace::looking::{Looked, Looker};

/// How long finding strace and trying it may take.
const PREPARATION: Nanoseconds = Nanoseconds::from_seconds(40);
/// How long the capturer may take for what is no waiting.
const FAREWELL: Nanoseconds = Nanoseconds::from_seconds(5);

/// What was captured.
#[derive(Debug)]
pub struct Captured {
    /// What is said of it at its beginning.
    pub about: About,
    /// What it comes to.
    pub summary: TraceSummary,
    /// What is said of it at its end.
    pub ending: Ending,
    /// What is to be doubted.
    pub trust: Vec<Trust>,
    /// The run as it is stored, if it is one.
    pub record: Option<Box<RunRecord>>,
    /// Where it is kept: a file, or the directory of a run.
    pub path: PathBuf,
    /// What could not be ended, by name and where it waits.
    pub left: Vec<String>,
    /// Why it is not kept, if it is not.
    pub lost: Option<String>,
    /// What was wanted to explain it.
    pub explained: Option<CapturedTime>,
}

/// Where the time of a command went.
#[derive(Debug)]
pub struct CapturedTime {
    /// The time that passed.
    pub elapsed: TraceElapsed,
    /// What tasks waited in.
    pub looked: Looked,
    /// The deadline at which the command was ended, if it was.
    pub past_deadline: Option<Nanoseconds>,
}

/// The keeper's voice. Never blocks.
pub trait CaptureAttendant {
    /// The command is started next; until it has ended nothing is said unless it must be.
    fn announce(&mut self, about: &About);

    /// Tells a sentence.
    fn say(&mut self, sentence: &str);
}

/// Captures.
///
/// # Errors
/// If nothing was traced.
pub fn conduct_capture(
    plan: &Capture,
    keeper: &Keeper,
    attendant: &mut dyn CaptureAttendant,
) -> Result<Captured, Failure> {
    let child = Messenger::fork_beside("capturer", Orphanage::Survive, |inbox, outbox| {
        capture(plan, inbox, &outbox)
    })?;
    // The command decides what it means.
    outlive_quit();
    leave_current_directory();
    Watching {
        plan,
        keeper,
        attendant,
        child,
        end: Some(MonotonicClock.now().after(PREPARATION)),
        phase: Phase::Preparing,
        about: About::default(),
        path: PathBuf::new(),
        record: None,
        read: None,
        looker: None,
        looked: None,
        early: None,
        deadline: None,
        past_deadline: None,
    }
    .watch()
}

/// How far the capturer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing has been started.
    Preparing,
    /// It is being started: whether it is, the capturer tells next.
    Starting,
    /// The command runs, and is asked nothing.
    Running,
    /// The command has ended, or waits in the kernel: Ctrl-C is for iolag now.
    Leavable,
    /// It was asked to end.
    Ending,
    /// The trace is being made durable.
    Keeping,
}

struct Watching<'a> {
    plan: &'a Capture,
    keeper: &'a Keeper,
    attendant: &'a mut dyn CaptureAttendant,
    child: Messenger,
    /// The capturer is given up then.
    end: Option<MonotonicTime>,
    phase: Phase,
    about: About,
    /// Where the trace is being written.
    path: PathBuf,
    record: Option<Box<RunRecord>>,
    read: Option<Box<Read>>,
    looker: Option<Looker>,
    looked: Option<Looked>,
    /// A signal that came while it was being started.
    early: Option<i32>,
    /// The command is ended then.
    deadline: Option<MonotonicTime>,
    past_deadline: Option<Nanoseconds>,
}

impl Watching<'_> {
    fn watch(mut self) -> Result<Captured, Failure> {
        loop {
            // The ending is looked at first: whatever the child said before it is then certainly in the pipe.
            let ending = self.child.child_mut().ending();
            for line in self.child.receive() {
                let told = serde_json::from_slice(&line).map_err(Failure::bug)?;
                if let Some(lost) = self.hear(told)? {
                    return self.result(lost);
                }
            }
            if let Some(ending) = ending {
                return self.without_capturer(ending);
            }
            while let Some(signal) = self.keeper.signals.next() {
                self.heed(signal)?;
            }
            let now = MonotonicClock.now();
            if self.end.is_some_and(|end| now >= end) {
                return self.given_up();
            }
            self.look(now);
            let next = self.looker.as_ref().map(Looker::next);
            let limit =
                [self.end, next, self.deadline].into_iter().flatten().min().map(|next| next.since(now));
            let signals = Awaited::Readable(self.keeper.signals.descriptor());
            let incoming = self.child.incoming().map(Awaited::Readable);
            let child = self.child.child().descriptor().map(Awaited::Readable);
            let awaited: Vec<_> = incoming.into_iter().chain(child).chain([signals]).collect();
            wait_for_any(&awaited, limit.or(Some(Nanoseconds::from_seconds(1))));
        }
    }

    /// What became of the file, once that is known.
    fn hear(&mut self, told: FromCapturer) -> Result<Option<Option<String>>, Failure> {
        match told {
            FromCapturer::Ready(about) => {
                self.about = *about;
                self.attendant.announce(&self.about);
                self.phase = Phase::Starting;
                self.send(ToCapturer::Go);
            }
            FromCapturer::Opened { path, record } => (self.path, self.record) = (path, record),
            FromCapturer::Started { strace } => self.started(strace)?,
            FromCapturer::LeftBehind => {
                self.leavable("the command has ended, but something that it started goes on: Ctrl-C ends that");
            }
            FromCapturer::Stuck(evidence) => self.leavable(&format!(
                "the command has not taken the Ctrl-C, since it waits in the kernel ({evidence}): once more ends the trace"
            )),
            FromCapturer::Waits(evidence) => self.attendant.say(&format!(
                "it waits in the kernel ({evidence}), and did before: nothing is seen of it until it comes back from there"
            )),
            FromCapturer::Read(read) => {
                self.read = Some(read);
                self.phase = Phase::Keeping;
                self.looked = self.looker.take().map(Looker::finish);
                self.end = Some(MonotonicClock.now().after(STORE_DEADLINE).after(FAREWELL));
            }
            FromCapturer::Kept(kept) => return Ok(Some(kept.err())),
            FromCapturer::Failed(code, sentence) => {
                return Err(Failure { code: ExitCode::from_number(code), sentence });
            }
        }
        Ok(None)
    }

    fn started(&mut self, strace: u32) -> Result<(), Failure> {
        (self.phase, self.end) = (Phase::Running, None);
        if let Purpose::Explain { deadline } = self.plan.purpose {
            let now = MonotonicClock.now();
            self.looker = Some(Looker::new(strace, now));
            self.deadline = deadline.map(|deadline| now.after(deadline));
        }
        self.early.take().map_or(Ok(()), |signal| self.heed(signal))
    }

    /// Looks at the tasks when it is time to, and ends the command at its deadline.
    fn look(&mut self, now: MonotonicTime) {
        if let Some(looker) = self.looker.as_mut().filter(|looker| now >= looker.next()) {
            looker.look(now);
        }
        if self.deadline.take_if(|deadline| now >= *deadline).is_some()
            && let Purpose::Explain { deadline } = self.plan.purpose
            && matches!(self.phase, Phase::Running | Phase::Leavable)
        {
            self.past_deadline = deadline;
            self.ask_to_end(ToCapturer::Stop);
        }
    }

    fn leavable(&mut self, sentence: &str) {
        if self.phase == Phase::Running {
            self.phase = Phase::Leavable;
            self.attendant.say(sentence);
        }
    }

    fn heed(&mut self, signal: i32) -> Result<(), Failure> {
        let is_command = matches!(self.plan.subject, CaptureSubject::Command(_));
        match (self.phase, signal) {
            (Phase::Preparing, _) => {
                self.child.child_mut().end(GRACE);
                return Err(ended_before_anything());
            }
            (Phase::Starting, _) => self.early = Some(signal),
            (Phase::Running, libc::SIGINT) if is_command => self.send(ToCapturer::Interrupted),
            (Phase::Running, _) => self.ask_to_end(ToCapturer::Stop),
            (Phase::Leavable | Phase::Ending, _) => self.ask_to_end(ToCapturer::Leave),
            // It is being made durable, and there is a deadline for that.
            (Phase::Keeping, _) => {}
        }
        Ok(())
    }

    fn ask_to_end(&mut self, wish: ToCapturer) {
        self.phase = Phase::Ending;
        self.end = Some(MonotonicClock.now().after(GRACE).after(GRACE).after(GRACE).after(FAREWELL));
        self.send(wish);
    }

    fn send(&mut self, wish: ToCapturer) {
        if let Ok(line) = serde_json::to_vec(&wish) {
            self.child.send(&line);
        }
    }

    fn result(mut self, lost: Option<String>) -> Result<Captured, Failure> {
        let _ = self.child.child_mut().wait(FAREWELL);
        let Some(read) = self.read else { return Err(Failure::bug("nothing was read of the trace")) };
        let trust = read.doubts();
        let record = self.record.map(|mut record| {
            record.state = RunState::Complete;
            read.put_into(&mut record);
            record
        });
        let Read { summary, ending, elapsed, not_executed, left, .. } = *read;
        if let Some(reason) = not_executed {
            let of = match &self.plan.subject {
                CaptureSubject::Command(command) => {
                    let name = command.first().map(|name| name.to_string_lossy()).unwrap_or_default();
                    format!("{:?} cannot be executed", one_line(&name))
                }
                CaptureSubject::Process(number) => format!("process {number} was not traced"),
            };
            return Err(Failure::unusable(format!("{of}: {reason}")));
        }
        let path = match &self.plan.destination {
            Destination::File(path) if lost.is_none() => path.clone(),
            _ => self.path,
        };
        let (looked, past_deadline) = (self.looked.unwrap_or_default(), self.past_deadline);
        let explained = elapsed.map(|elapsed| CapturedTime { elapsed, looked, past_deadline });
        Ok(Captured { about: self.about, summary, ending, trust, record, path, left, lost, explained })
    }

    /// The capturer has ended without a last word.
    fn without_capturer(self, ending: ChildEnding) -> Result<Captured, Failure> {
        let how = match ending {
            ChildEnding::Exited(70) => {
                return Err(Failure::bug(
                    "the process of iolag that reads the trace was ended by a bug in iolag",
                ));
            }
            // Ctrl-C before it had begun to leave that to the command.
            ChildEnding::Killed(libc::SIGINT | libc::SIGTERM | libc::SIGHUP)
                if matches!(self.phase, Phase::Preparing | Phase::Starting) =>
            {
                return Err(ended_before_anything());
            }
            ChildEnding::Exited(status) => format!("with status {status}"),
            ChildEnding::Killed(signal) => format!("by signal {signal}"),
        };
        if self.read.is_some() {
            return self.result(Some(format!("the process of iolag that keeps it ended {how}")));
        }
        Err(Failure {
            code: ExitCode::Incomplete,
            sentence: format!(
                "the process of iolag that reads the trace ended {how}: what it had written is in {}",
                one_line(&self.path.to_string_lossy())
            ),
        })
    }

    /// The capturer does not answer.
    fn given_up(mut self) -> Result<Captured, Failure> {
        let is_gone = self.child.child_mut().end(GRACE).is_some();
        let left = if is_gone { "" } else { ", and cannot be ended" };
        if self.read.is_some() {
            return self.result(Some(format!("it has not become durable within {STORE_DEADLINE}{left}")));
        }
        let sentence = match self.phase {
            Phase::Preparing => format!(
                "strace, or what PATH or the file for the trace lies on, has not answered for {PREPARATION}{left}: nothing was traced"
            ),
            _ => format!(
                "what was to end does not end{left}: what was written of the trace is in {}",
                one_line(&self.path.to_string_lossy())
            ),
        };
        Err(Failure { code: ExitCode::Incomplete, sentence })
    }
}

fn ended_before_anything() -> Failure {
    let sentence = "told to end before anything was started: nothing was traced";
    Failure { code: ExitCode::Incomplete, sentence: sentence.to_owned() }
}
