//! A child that reads the history, or another file, and may hang: attended as long as it works, ended when it has fallen silent.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::pin::pin;
use std::time::Duration;

use axum::body::Bytes;
use iolag_keeper::{Child, Orphanage, leave_inheritance, processor_use};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{sleep, timeout};

/// A child that has said nothing for so long, its processor idle, is given up.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How often a silent child is looked at.
const LOOK: Duration = Duration::from_secs(5);
/// How often is looked whether a killed child is gone.
const END_LOOK: Duration = Duration::from_millis(100);

/// Longer is no answer of ours.
const BYTES_MAX: u64 = 1 << 30;
/// What a child says before what was asked for, and before a sentence.
const GIVEN: u8 = 0;
const FAILED: u8 = 1;

/// What `body` comes to in a child that reads `what`; the process has one thread.
///
/// # Errors
/// One sentence: that of the body, or why there is none.
pub(super) async fn ask_child(
    role: &'static str,
    what: &str,
    body: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Bytes, String> {
    let mut child = Attended::fork(role, |mut pipe| {
        let (mark, text) = match body() {
            Ok(given) => (GIVEN, given),
            Err(sentence) => (FAILED, sentence.into_bytes()),
        };
        // Whoever is to hear it may be gone.
        let _ = pipe.write_all(&[mark]).and_then(|()| pipe.write_all(&text));
    })?;
    let heard = child.unless_silent(hear_all).await;
    child.end().await;
    match heard {
        None => Err(format!("{what} does not answer: its disk or server hangs")),
        Some(Ok(said)) => match said.first() {
            Some(&GIVEN) => Ok(Bytes::from(said).slice(1..)),
            Some(_) => Err(String::from_utf8_lossy(&said[1..]).into_owned()),
            None => Err(format!("the process that reads {what} ended without a word")),
        },
        Some(Err(error)) => Err(format!("the process that reads {what} was not understood: {error}")),
    }
}

async fn hear_all(said: &mut Receiver) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::new();
    said.take(BYTES_MAX).read_to_end(&mut all).await?;
    Ok(all)
}

/// A child and its pipe's other end. It is killed when this is dropped.
pub(super) struct Attended {
    child: Child,
    /// What it says.
    pub said: Receiver,
}

impl Attended {
    /// Forks a child that speaks into a pipe. The process has one thread.
    ///
    /// # Errors
    /// One sentence, if the system has no process or no descriptor left.
    pub(super) fn fork(role: &'static str, body: impl FnOnce(File)) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("no process to read the history: {error}");
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(&error))?;
        let child = Child::fork_apart(role, Orphanage::Die, || {
            leave_inheritance(&[theirs.as_fd()]);
            // Only for who looks at the process table.
            let _ = rustix::thread::set_name(c"iolag-reader");
            body(File::from(theirs));
            0
        });
        let child = child.map_err(|error| failed(&error))?;
        let said = Receiver::from_owned_fd(ours).map_err(|error| failed(&error))?;
        Ok(Self { child, said })
    }

    /// What `hearing` comes to, or nothing if the child has fallen silent meanwhile. One that is at work is waited for.
    pub(super) async fn unless_silent<T>(
        &mut self,
        hearing: impl AsyncFnOnce(&mut Receiver) -> T,
    ) -> Option<T> {
        let process = self.child.id();
        let (mut used, mut idle) = (None, Duration::ZERO);
        let mut hearing = pin!(hearing(&mut self.said));
        while idle < SILENCE_MAX {
            if let Ok(heard) = timeout(LOOK, &mut hearing).await {
                return Some(heard);
            }
            let now = processor_use(process);
            idle = if now == used { idle + LOOK } else { Duration::ZERO };
            used = now;
        }
        None
    }

    /// Ends it and waits until it is gone: the next would hang as it does.
    pub(super) async fn end(mut self) {
        self.child.signal_group(Signal::KILL);
        while self.child.ending().is_none() {
            sleep(END_LOOK).await;
        }
    }
}

/// Runs `body` on a thread of its own, in a child: the thread that was forked is still inside the server's runtime, in which a
/// library cannot begin one of its own.
///
/// # Errors
/// The last words of a body that panicked.
pub(super) fn apart<T: Send>(body: impl FnOnce() -> T + Send) -> Result<T, String> {
    let ended = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, body);
        Ok(thread.map_err(|error| format!("no thread to read the history: {error}"))?.join())
    });
    ended.and_then(|ended| {
        ended.map_err(|panic| {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            format!("reading the history ended by a fault of iolag, please report it: {words}")
        })
    })
}

impl Drop for Attended {
    fn drop(&mut self) {
        if self.child.ending().is_none() {
            self.child.signal_group(Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_may_begin_a_runtime_of_its_own_within_one() {
        let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
        let inner = runtime().block_on(async { apart(|| runtime().block_on(async { 7 })) });
        assert_eq!(inner, Ok(7));
    }

    #[test]
    fn a_body_that_panics_says_its_last_words() {
        for words in [apart(|| panic!("on purpose")), apart(|| panic!("on {}", "purpose"))] {
            let words: Result<(), String> = words;
            assert!(words.unwrap_err().ends_with("please report it: on purpose"));
        }
    }
}
