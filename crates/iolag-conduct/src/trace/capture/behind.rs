//! A file that may not take bytes for a while, or ever: who writes to it does not wait, up to a limit.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use iolag_model::Nanoseconds;

/// So much waits in memory: more than a trace of twenty million calls. Beyond it the writer waits, and with it the program.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// Writes from a thread of its own, in the order in which it is told to.
#[derive(Debug)]
pub(super) struct Behind<W> {
    shared: Arc<Shared<W>>,
}

#[derive(Debug)]
struct Shared<W> {
    state: Mutex<State<W>>,
    changed: Condvar,
}

/// What completes a file.
type Completion<W> = Box<dyn FnOnce(W) -> io::Result<()> + Send>;

struct State<W> {
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    /// Set when nothing more will come.
    completion: Option<Completion<W>>,
    /// What became of the file; nothing is written any more.
    outcome: Option<Result<(), String>>,
}

impl<W> fmt::Debug for State<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("State").field("waiting_bytes", &self.waiting_bytes).finish_non_exhaustive()
    }
}

impl<W> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State<W>>,
        is_not_yet: impl FnMut(&mut State<W>) -> bool,
    ) -> MutexGuard<'a, State<W>> {
        self.changed.wait_while(state, is_not_yet).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write + Send + 'static> Behind<W> {
    /// Begins to write to `file`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(super) fn new(file: W) -> io::Result<Self> {
        let state = State { waiting: VecDeque::new(), waiting_bytes: 0, completion: None, outcome: None };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("iolag-trace".to_owned()).spawn(move || {
            let outcome = write_all_to(file, &theirs).map_err(|error| error.to_string());
            let mut state = theirs.lock();
            state.waiting.clear();
            state.outcome = Some(outcome);
            theirs.changed.notify_all();
        })?;
        Ok(Self { shared })
    }

    /// Completes the file once everything is written, and waits for that.
    ///
    /// # Errors
    /// If that fails, or takes longer than `limit`.
    pub(super) fn finish(
        self,
        limit: Nanoseconds,
        completion: impl FnOnce(W) -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let mut state = self.shared.lock();
        state.completion = Some(Box::new(completion));
        self.shared.changed.notify_all();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, limit.as_duration(), |state| state.outcome.is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &state.outcome {
            Some(Ok(())) => Ok(()),
            Some(Err(failure)) => Err(io::Error::other(failure.clone())),
            None => Err(io::Error::new(io::ErrorKind::TimedOut, format!("it has not answered for {limit}"))),
        }
    }
}

/// Writes what comes, and completes the file at the end.
fn write_all_to<W: Write>(mut file: W, shared: &Shared<W>) -> io::Result<()> {
    loop {
        let is_idle = |state: &mut State<W>| state.waiting.is_empty() && state.completion.is_none();
        let mut state = shared.wait(shared.lock(), is_idle);
        let Some(bytes) = state.waiting.pop_front() else {
            let completion = state.completion.take();
            drop(state);
            return completion.map_or(Ok(()), |complete| complete(file));
        };
        drop(state);
        file.write_all(&bytes)?;
        shared.lock().waiting_bytes -= bytes.len();
        shared.changed.notify_all();
    }
}

impl<W> Write for Behind<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_full =
            |state: &mut State<W>| state.waiting_bytes >= WAITING_BYTES_MAX && state.outcome.is_none();
        let mut state = self.shared.wait(self.shared.lock(), is_full);
        if let Some(Err(failure)) = &state.outcome {
            return Err(io::Error::other(failure.clone()));
        }
        state.waiting_bytes += bytes.len();
        state.waiting.push_back(bytes.to_vec());
        self.shared.changed.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Takes nothing before it is let.
    struct Gate {
        opened: mpsc::Receiver<()>,
        taken: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.opened.recv().map_err(io::Error::other)?;
            self.taken.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_writes_to_a_file_that_hangs_goes_on() {
        let (open, opened) = mpsc::channel();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let mut behind = Behind::new(Gate { opened, taken: Arc::clone(&taken) }).unwrap();
        for word in ["one ", "two ", "three"] {
            behind.write_all(word.as_bytes()).unwrap();
        }
        assert!(taken.lock().unwrap().is_empty());
        (0..3).for_each(|_| open.send(()).unwrap());
        let done = Arc::clone(&taken);
        let complete = move |_| {
            done.lock().unwrap().extend_from_slice(b", done");
            Ok(())
        };
        behind.finish(Nanoseconds::from_seconds(60), complete).unwrap();
        assert_eq!(*taken.lock().unwrap(), b"one two three, done");
    }

    #[test]
    fn a_file_that_does_not_answer_is_given_up() {
        let (open, opened) = mpsc::channel();
        let mut behind = Behind::new(Gate { opened, taken: Arc::default() }).unwrap();
        behind.write_all(b"one").unwrap();
        let error = behind.finish(Nanoseconds::from_milliseconds(5), |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(open);
    }

    #[test]
    fn what_went_wrong_is_told_to_who_writes_and_at_the_end() {
        let (open, opened) = mpsc::channel();
        drop(open);
        let mut behind = Behind::new(Gate { opened, taken: Arc::default() }).unwrap();
        let failed = (0..10_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            behind.write_all(b"x").is_err()
        });
        assert!(failed);
        let error = behind.finish(Nanoseconds::from_seconds(60), |_| Ok(())).unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::TimedOut);
    }
}
