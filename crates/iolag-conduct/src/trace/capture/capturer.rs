//! The child that starts strace, reads what it writes, and keeps it.

use std::fs::File;
use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::process::Child;

use iolag_keeper::{Inbox, Outbox, descendants, evidence_of_all, leave_standard_streams};
use iolag_model::{
    Anchor, Clock, MonotonicClock, MonotonicTime, Nanoseconds, ProcessStat, TraceAbout, one_line,
};
use iolag_trace::{
    Beginning, CaptureTime, Divider, Ending, Refusal, Stops, StraceProgram, StraceReader, Subject,
    TraceWriter, strace_arguments,
};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::about::{about, named_lists};
use super::behind::Behind;
use super::calibration::calibrate;
use super::gulps::Gulps;
use super::observing::{Executed, Observed, Observer};
use super::plan::{Capture, CaptureSubject, Purpose};
use super::program::{Missing, Strace, find};
use super::rights::Rights;
use super::standing::standing;
use super::starting::{Dispositions, Streams, start};
use super::talk::{FromCapturer, Read, ToCapturer};
use crate::failure::Failure;
use crate::messages::tell;
use crate::storing::place::STORE_DEADLINE;

/// How often what has come is written, at the least.
const FLUSH: Nanoseconds = Nanoseconds::from_seconds(1);
/// Between asking a command to end and ending it.
pub(super) const GRACE: Nanoseconds = Nanoseconds::from_seconds(2);
/// After the command's end, before the user is told what is waited for.
const LONG: Nanoseconds = Nanoseconds::from_seconds(1);

/// Captures; to be called in a child. Its result goes to the keeper.
pub(super) fn capture(plan: &Capture, mut inbox: Inbox, outbox: &Outbox) -> i32 {
    if let Err(failure) = captured(plan, &mut inbox, outbox) {
        tell(outbox, &FromCapturer::Failed(failure.code as u8, failure.sentence));
    }
    0
}

fn captured(plan: &Capture, inbox: &mut Inbox, outbox: &Outbox) -> Result<(), Failure> {
    let strace = Strace::find()?;
    let program = as_used(&strace.program, &plan.subject);
    look_for(&plan.subject)?;
    plan.destination.refuse_what_is_no_trace()?;
    let cost = calibrate(&strace, &program)?;
    let about = about(plan, &strace, cost);
    tell(outbox, &FromCapturer::Ready(Box::new(about.clone())));
    if !may_go(inbox) {
        return Ok(());
    }
    let (file, place) = plan.destination.open(&about)?;
    tell(outbox, &FromCapturer::Opened { path: place.path().to_owned(), record: place.record() });
    let capturing = Behind::new(file)
        .and_then(|file| TraceWriter::new(file, &about))
        .and_then(|writer| Capturing::begin(plan, &strace, &program, writer, &about));
    let mut capturing = match capturing {
        Ok(capturing) => capturing,
        Err(error) => {
            place.abandon();
            let sentence = format!("the trace cannot be captured: {error}");
            return Err(Failure::of_system(sentence, error.raw_os_error()));
        }
    };
    tell(outbox, &FromCapturer::Started { strace: capturing.strace.id() });
    // From here on nothing is said at the terminal, and whoever waits for its end does not wait for this process.
    leave_standard_streams();
    let _ = std::env::set_current_dir("/");
    capturing.attend(inbox, outbox).map_err(Failure::bug)?;
    let (file, read) = capturing.finish().map_err(Failure::bug)?;
    tell(outbox, &FromCapturer::Read(Box::new(read.clone())));
    if read.not_executed.is_some() {
        place.abandon();
        tell(outbox, &FromCapturer::Kept(Ok(())));
        return Ok(());
    }
    let kept = file.and_then(|file| {
        let complete = move |file| place.complete(&file, |record| read.put_into(record));
        file.finish(STORE_DEADLINE, complete).map_err(|error| error.to_string())
    });
    tell(outbox, &FromCapturer::Kept(kept));
    Ok(())
}

/// What strace can do for this subject: who is there already stops at every call.
fn as_used(program: &StraceProgram, subject: &CaptureSubject) -> StraceProgram {
    match subject {
        CaptureSubject::Command(_) => *program,
        CaptureSubject::Process(_) => StraceProgram { stops: Stops::All, ..*program },
    }
}

/// Whether there is something to trace.
fn look_for(subject: &CaptureSubject) -> Result<(), Failure> {
    match subject {
        CaptureSubject::Command(command) => {
            let name = command.first().map(std::ffi::OsString::as_os_str).unwrap_or_default();
            let shown = || one_line(&name.to_string_lossy());
            find(name, &std::env::var_os("PATH").unwrap_or_default()).map(drop).map_err(|missing| {
                match missing {
                    Missing::Absent => Failure::usage(Refusal::no_program(shown())),
                    Missing::NotExecutable if std::path::Path::new(name).is_dir() => {
                        Failure::usage(format!("{:?} is a directory: name a program", shown()))
                    }
                    Missing::NotExecutable => Failure::usage(format!(
                        "{:?} is no program that may be executed: see its mode",
                        shown()
                    )),
                }
            })
        }
        CaptureSubject::Process(number) => match std::fs::metadata(format!("/proc/{number}")) {
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::unusable(Refusal::NoProcess(*number))),
        },
    }
}

/// Waits for the keeper's word; without a keeper nothing is started.
fn may_go(inbox: &mut Inbox) -> bool {
    loop {
        match inbox.receive().map(|line| serde_json::from_slice(&line)) {
            Some(Ok(ToCapturer::Go)) => return true,
            Some(_) => return false,
            None if inbox.is_over() => return false,
            None => inbox.wait(FLUSH),
        }
    }
}

/// strace at work.
struct Capturing<'a> {
    plan: &'a Capture,
    strace: Child,
    /// Becomes readable when strace ends.
    end: Option<OwnedFd>,
    gulps: Gulps,
    /// Held open while strace runs, which opens it anew.
    ours: Option<PipeWriter>,
    reader: StraceReader<Observer<Behind<File>>>,
    began: MonotonicTime,
    flushed: MonotonicTime,
    wishes: Wishes,
    /// What this process and its children had used before.
    used: [Nanoseconds; 2],
}

/// What the user wanted while the command ran.
#[derive(Debug, Default)]
struct Wishes {
    /// When Ctrl-C was typed, if nobody has looked since what became of it.
    interrupted: Option<MonotonicTime>,
    /// When the command is to be ended by force.
    end: Option<MonotonicTime>,
    /// Why strace was ended, if it was.
    cut: Option<&'static str>,
    /// What was ended with it.
    ended_by_force: Vec<u32>,
    /// Where the process waited when strace was attached to it, if nothing was seen of it since.
    waited: Option<String>,
    /// When the command was seen to have ended.
    ended: Option<MonotonicTime>,
    is_told: bool,
}

impl<'a> Capturing<'a> {
    fn begin(
        plan: &'a Capture,
        strace: &Strace,
        program: &StraceProgram,
        writer: TraceWriter<Behind<File>>,
        about: &TraceAbout,
    ) -> io::Result<Self> {
        let (pipe, ours) = io::pipe()?;
        let gulps = Gulps::of(pipe)?;
        let output = format!("/proc/{}/fd/{}", std::process::id(), ours.as_raw_fd());
        let subject = match &plan.subject {
            CaptureSubject::Command(command) => Subject::Command(command),
            CaptureSubject::Process(number) => Subject::Process(*number),
        };
        let arguments = strace_arguments(program, subject, plan.network, output.as_ref());
        let beginning = match plan.subject {
            CaptureSubject::Command(_) => Beginning {
                directory: std::env::current_dir().ok().map(|path| path.as_os_str().as_bytes().to_vec()),
                ..Beginning::default()
            },
            CaptureSubject::Process(number) => standing(number),
        };
        let rights = Rights::of_tracer(rustix::process::geteuid().as_raw());
        let divider = match plan.purpose {
            Purpose::Trace => None,
            Purpose::Explain { .. } => Some(Divider::new(about.cost.unwrap_or_default(), &about.mounts)),
        };
        let lists = if about.lists.is_empty() { Vec::new() } else { named_lists() };
        let observer =
            Observer::new(writer, about.cost.unwrap_or_default(), &lists, rights).dividing(divider);
        let reader = StraceReader::new(&beginning, observer);
        let used = [usage(libc::RUSAGE_SELF), usage(libc::RUSAGE_CHILDREN)];
        let dispositions = Dispositions::ignore();
        let streams = match plan.subject {
            CaptureSubject::Command(_) => Streams::Users,
            CaptureSubject::Process(_) => Streams::Complaints,
        };
        let strace = start(&strace.path, &arguments, streams, Some(dispositions))?;
        let end = Pid::from_raw(strace.id() as i32).and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok());
        Ok(Self {
            plan,
            strace,
            end,
            gulps,
            ours: Some(ours),
            reader,
            began: MonotonicClock.now(),
            flushed: MonotonicClock.now(),
            wishes: Wishes::default(),
            used,
        })
    }

    /// Reads until strace has ended.
    fn attend(&mut self, inbox: &mut Inbox, outbox: &Outbox) -> io::Result<()> {
        while !self.has_ended() {
            let keeper = inbox.descriptor();
            let other: Vec<_> = self.end.iter().map(AsFd::as_fd).chain(keeper).collect();
            let reader = &mut self.reader;
            self.gulps.gulp(&other, LONG, |text| reader.feed(text))?;
            let now = MonotonicClock.now();
            if now.since(self.flushed) >= FLUSH {
                let (observer, tables) = self.reader.sink_mut();
                observer.flush(tables);
                self.flushed = now;
            }
            while let Some(line) = inbox.receive() {
                if let Ok(wish) = serde_json::from_slice(&line) {
                    self.heed(wish, now);
                }
            }
            // Nobody is left who could end it.
            if inbox.is_over() && matches!(self.plan.subject, CaptureSubject::Process(_)) {
                self.heed(ToCapturer::Stop, now);
            }
            self.look(now, outbox);
        }
        // Now only this process holds it.
        self.ours = None;
        let reader = &mut self.reader;
        self.gulps.drain(|text| reader.feed(text))?;
        Ok(())
    }

    /// Whether strace has ended; it is not reaped yet.
    fn has_ended(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.strace.id())).unwrap_or_default();
        !ProcessStat::of(&stat).is_living()
    }

    fn heed(&mut self, wish: ToCapturer, now: MonotonicTime) {
        match (wish, &self.plan.subject) {
            (ToCapturer::Go, _) => {}
            // It lets the process go, unless that waits in the kernel and stops for nobody. Twice does no harm.
            (ToCapturer::Stop, CaptureSubject::Process(_)) => {
                self.signal_strace(Signal::INT);
                self.wishes.end.get_or_insert(now.after(GRACE).after(GRACE));
            }
            (ToCapturer::Stop, CaptureSubject::Command(_)) => {
                self.wishes.end = Some(now.after(GRACE));
                if let Some(command) = self.command() {
                    let _ = kill_process(command, Signal::TERM);
                }
            }
            (ToCapturer::Interrupted, _) => self.wishes.interrupted = Some(now),
            (ToCapturer::Leave, _) => self.wishes.end = Some(now),
        }
    }

    fn look(&mut self, now: MonotonicTime, outbox: &Outbox) {
        if self.wishes.end.is_some_and(|end| now >= end) && self.wishes.cut.is_none() {
            self.wishes.cut = Some(match self.is_of_command() {
                true => "it was told to end",
                false => "strace did not let it go, and was ended",
            });
            self.end_all();
        }
        if self.wishes.interrupted.take_if(|interrupted| now.since(*interrupted) >= GRACE).is_some()
            && let Some(command) = self.command()
            && is_pending(command, Signal::INT)
        {
            tell(outbox, &FromCapturer::Stuck(evidence_of_all(command.as_raw_nonzero().get() as u32)));
        }
        if let CaptureSubject::Process(process) = self.plan.subject
            && self.wishes.waited.is_none()
            && !self.reader.sink().has_seen()
            && now.since(self.began) >= LONG
            && waits_in_kernel(process)
        {
            let evidence = evidence_of_all(process);
            self.wishes.waited = Some(evidence.clone());
            tell(outbox, &FromCapturer::Waits(evidence));
        }
        if self.wishes.ended.is_none() && self.reader.sink().ended().is_some() {
            self.wishes.ended = Some(now);
        }
        let is_long = self.is_of_command() && self.wishes.ended.is_some_and(|ended| now.since(ended) >= LONG);
        if is_long && !self.wishes.is_told {
            self.wishes.is_told = true;
            tell(outbox, &FromCapturer::LeftBehind);
        }
    }

    /// Whether strace started what it traces.
    const fn is_of_command(&self) -> bool {
        matches!(self.plan.subject, CaptureSubject::Command(_))
    }

    /// The command: what strace started first.
    fn command(&self) -> Option<Pid> {
        descendants(self.strace.id()).first().and_then(|first| Pid::from_raw(*first as i32))
    }

    /// Ends strace, and with it a command and what that has started; a process that it was attached to goes on.
    fn end_all(&mut self) {
        if self.is_of_command() {
            self.wishes.ended_by_force = traced_by(self.strace.id());
        }
        self.signal_strace(Signal::KILL);
        for process in self.wishes.ended_by_force.iter().filter_map(|process| Pid::from_raw(*process as i32))
        {
            let _ = kill_process(process, Signal::KILL);
        }
    }

    fn signal_strace(&self, signal: Signal) {
        if let Some(strace) = Pid::from_raw(self.strace.id() as i32) {
            // It is not reaped before the end, so the number is its own.
            let _ = kill_process(strace, signal);
        }
    }

    /// What was read, and the file, which is not durable yet.
    fn finish(mut self) -> io::Result<(Result<Behind<File>, String>, Read)> {
        let complaints = complaints(&mut self.strace);
        let processor = processor(&mut self.strace, self.used);
        let is_of_command = self.is_of_command();
        let now = Anchor::take().realtime_ns;
        self.reader.ended_at(now);
        let (observer, tables, reading) = self.reader.finish()?;
        // On the clock of the trace.
        let until = reading.began.map(|began| Nanoseconds(now.saturating_sub(began)));
        let (ended, executed) = (observer.ended(), observer.executed());
        let Observed { file: writer, summary, divider, lists, without_rights } = observer.finish(&tables);
        let elapsed = divider.map(|divider| divider.finish(processor.program_ns, until));
        let mut ending = Ending { ended, processor: Some(processor), lists, ..Ending::from(&reading) };
        ending.cut = self.wishes.cut.map(str::to_owned);
        if ending.cut.is_none() && ended.is_none() && is_of_command {
            ending.cut = Some("strace was ended before it".to_owned());
        }
        let file =
            writer.and_then(|writer| writer.finish(&tables, &ending).map_err(|error| error.to_string()));
        let not_executed = match (executed, Refusal::of(&complaints)) {
            // Whoever was there already goes on without what was refused it.
            (Executed::Refused(errno), _) if is_of_command => Some(refusal_of(errno)),
            (Executed::NotYet, Some(refusal)) if summary.calls == 0 => Some(refusal.to_string()),
            _ => None,
        };
        let left = left_of(&self.wishes.ended_by_force);
        Ok((
            file,
            Read { summary, ending, elapsed, waited: self.wishes.waited, without_rights, not_executed, left },
        ))
    }
}

/// Why a program that was found was not executed.
fn refusal_of(errno: u16) -> String {
    match i32::from(errno) {
        libc::ENOENT => "what its first line names, or the loader that it asks for, is not there".to_owned(),
        errno => io::Error::from_raw_os_error(errno).to_string(),
    }
}

/// The processes that this one traces, whoever started them. Looks at every process of the machine.
fn traced_by(tracer: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_traced = |process: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
        line.is_some_and(|line| line.trim().parse() == Ok(tracer))
    };
    processes.filter(is_traced).collect()
}

/// What waits in the kernel so that nobody can end it, by name and where.
fn left_of(processes: &[u32]) -> Vec<String> {
    let end = MonotonicClock.now().after(GRACE);
    let stat = |process: u32| std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let living = || processes.iter().copied().filter(|process| ProcessStat::of(&stat(*process)).is_living());
    while living().next().is_some() && MonotonicClock.now() < end {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let named = |process: u32| {
        let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        format!("{} ({})", one_line(name.trim()), evidence_of_all(process))
    };
    living().map(named).collect()
}

/// Whether the first thread of a process waits in the kernel so that it stops for nobody.
fn waits_in_kernel(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    ProcessStat::of(&stat).state() == Some("D")
}

/// Whether a process has not taken a signal yet: it waits in the kernel.
fn is_pending(process: Pid, signal: Signal) -> bool {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap_or_default();
    let pending = status.lines().filter_map(|line| {
        let mask = line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    pending.fold(0, |all, mask| all | mask) >> (signal.as_raw() - 1) & 1 != 0
}

fn complaints(strace: &mut Child) -> String {
    let mut text = String::new();
    if let Some(stderr) = &mut strace.stderr {
        let _ = io::Read::read_to_string(stderr, &mut text);
    }
    text
}

/// Reaps strace, and tells its processor time from that of what it has traced.
fn processor(strace: &mut Child, before: [Nanoseconds; 2]) -> CaptureTime {
    // In ns, where the kernel counts them.
    let told = std::fs::read_to_string(format!("/proc/{}/schedstat", strace.id())).unwrap_or_default();
    let strace_ns = told.split_ascii_whitespace().next().and_then(|worked| worked.parse().ok());
    let strace_ns = Nanoseconds(strace_ns.unwrap_or_else(|| in_ticks(strace)));
    let _ = strace.wait();
    let since = |whose, before: Nanoseconds| Nanoseconds(usage(whose).0.saturating_sub(before.0));
    let [iolag_before, children_before] = before;
    let children = since(libc::RUSAGE_CHILDREN, children_before);
    CaptureTime {
        program_ns: Nanoseconds(children.0.saturating_sub(strace_ns.0)),
        strace_ns,
        iolag_ns: since(libc::RUSAGE_SELF, iolag_before),
    }
}

/// The same in ticks of the clock.
fn in_ticks(process: &Child) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap_or_default();
    let ticks = ProcessStat::of(&stat).busy_ticks().unwrap_or(0);
    // SAFETY: a plain number.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    ticks * (1_000_000_000 / ticks_per_second)
}

fn usage(whose: i32) -> Nanoseconds {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: written by the kernel, and valid as zeroes if it is not.
    let usage = unsafe {
        libc::getrusage(whose, usage.as_mut_ptr());
        usage.assume_init()
    };
    let nanoseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    Nanoseconds(nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime))
}
