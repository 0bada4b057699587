//! A worker: a child that looks something up or writes something down for the watch and answers through a pipe, within a deadline.
//!
//! It may hang: then it is ended, and if that is not possible it is kept and looked at until it goes; its successor waits. The watch
//! reads what has come whenever it looks, so that no answer fills the pipe, and never waits for more.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use iolag_keeper::{Awaited, Child, Ending, KeeperError, Orphanage, leave_inheritance};
use iolag_model::{MonotonicTime, Nanoseconds};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;

/// Longest answer: more is cut.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Between the signals to a child that is past its deadline.
const GRACE: Nanoseconds = Nanoseconds::from_seconds(2);

/// A child under way.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    /// Absent when it has said all.
    answer: Option<OwnedFd>,
    received: Vec<u8>,
    until: MonotonicTime,
    signals_sent: u32,
}

/// How a worker stands.
#[derive(Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// Within its deadline.
    UnderWay,
    /// Past its deadline and still there.
    Overdue,
    /// It did what it was to do, and said this.
    Done(Vec<u8>),
    /// It failed, or was ended; what it said last.
    Failed(Vec<u8>),
}

impl Worker {
    /// Forks a child that runs `body` and answers with what that returns. It dies with the watch.
    ///
    /// # Errors
    /// If there is no room for a process or a pipe.
    pub fn start(
        role: &'static str,
        until: MonotonicTime,
        body: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Result<Self, KeeperError> {
        let failed = |error: Errno| KeeperError::Fork { role, error };
        let (answer, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let child = Child::fork_apart(role, Orphanage::Die, || {
            leave_inheritance(&[theirs.as_fd()]);
            let (text, status) = match body() {
                Ok(answer) => (answer, 0),
                Err(sentence) => (sentence.into_bytes(), 1),
            };
            let mut pipe = std::fs::File::from(theirs);
            let written = pipe.write_all(&text[..text.len().min(ANSWER_BYTES_MAX)]);
            if written.is_ok() { status } else { 1 }
        })?;
        rustix::fs::fcntl_setfl(&answer, rustix::fs::OFlags::NONBLOCK).map_err(failed)?;
        Ok(Self { child, answer: Some(answer), received: Vec::new(), until, signals_sent: 0 })
    }

    /// Reads what has come, ends what is past its deadline, and says how it stands. Never blocks.
    pub fn look(&mut self, now: MonotonicTime) -> WorkerState {
        self.receive();
        if let Some(ending) = self.child.ending() {
            // What came between the reading and the end.
            self.receive();
            let answer = std::mem::take(&mut self.received);
            return match ending {
                Ending::Exited(0) => WorkerState::Done(answer),
                _ => WorkerState::Failed(answer),
            };
        }
        if now < self.until {
            return if self.signals_sent == 0 { WorkerState::UnderWay } else { WorkerState::Overdue };
        }
        if self.signals_sent < 2 {
            self.child.signal_group(if self.signals_sent == 0 { Signal::TERM } else { Signal::KILL });
            self.signals_sent += 1;
            self.until = now.after(GRACE);
        }
        WorkerState::Overdue
    }

    /// From when on nothing more can be done about it: it has had both signals and a grace after each.
    pub fn given_up_at(&self) -> Option<MonotonicTime> {
        (self.signals_sent >= 2).then_some(self.until)
    }

    /// Leaves the child to somebody else; nobody hears its answer any more.
    pub fn into_child(self) -> Child {
        self.child
    }

    /// The process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// When it is to be looked at although nothing has come.
    pub fn due(&self) -> Option<MonotonicTime> {
        (self.signals_sent < 2).then_some(self.until)
    }

    /// What to wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        [self.child.descriptor(), self.answer.as_ref().map(AsFd::as_fd)]
            .into_iter()
            .flatten()
            .map(Awaited::Readable)
    }

    /// Whether its end has to be looked for.
    pub fn has_descriptor(&self) -> bool {
        self.child.descriptor().is_some()
    }

    /// Ends it at once, if that is possible.
    pub fn kill(&mut self) {
        self.child.signal_group(Signal::KILL);
    }

    fn receive(&mut self) {
        let mut buffer = [0; 16 << 10];
        while let Some(answer) = &self.answer {
            match rustix::io::read(answer, &mut buffer) {
                Ok(read @ 1..) if self.received.len() + read <= ANSWER_BYTES_MAX => {
                    self.received.extend_from_slice(&buffer[..read]);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The end, a failure, or more than anybody wants to hear.
                _ => self.answer = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_keeper::wait_for_any;
    use iolag_model::{Clock, MonotonicClock};

    fn run(limit: Nanoseconds, body: impl FnOnce() -> Result<Vec<u8>, String>) -> WorkerState {
        let until = MonotonicClock.now().after(limit);
        let mut worker = Worker::start("test", until, body).unwrap();
        loop {
            match worker.look(MonotonicClock.now()) {
                WorkerState::UnderWay | WorkerState::Overdue => {
                    let awaited: Vec<_> = worker.awaited().collect();
                    wait_for_any(&awaited, Some(Nanoseconds::from_milliseconds(100)));
                }
                ended => return ended,
            }
        }
    }

    #[test]
    fn long_answers_arrive_whole_and_longer_ones_are_cut() {
        let minute = Nanoseconds::from_seconds(60);
        let long = vec![b'x'; 300_000];
        assert_eq!(run(minute, || Ok(long.clone())), WorkerState::Done(long.clone()));
        let WorkerState::Done(cut) = run(minute, || Ok(vec![0; 3 << 20])) else { panic!() };
        assert_eq!(cut.len(), ANSWER_BYTES_MAX);
    }

    #[test]
    fn failures_say_why_and_what_hangs_is_ended() {
        let minute = Nanoseconds::from_seconds(60);
        assert_eq!(run(minute, || Err("full".into())), WorkerState::Failed(b"full".to_vec()));
        assert_eq!(run(minute, || panic!("on purpose")), WorkerState::Failed(Vec::new()));
        let hung = run(Nanoseconds::from_milliseconds(20), || {
            loop {
                std::thread::sleep(std::time::Duration::from_secs(5));
            }
        });
        assert_eq!(hung, WorkerState::Failed(Vec::new()));
    }
}
