//! Between the clients and the child: a thread of the measurer that alone talks with it.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use iolag_backend::{CacheMaker, Completion};
use iolag_keeper::{Awaited, Messenger, Orphanage, Outbox, wait_for_any};
use iolag_model::{Clock, FailureCode, MonotonicClock, Nanoseconds, Operation, Trust};

use super::{Done, Task, child};
use crate::bench::Ground;
use crate::failure::Failure;
use crate::messages::{FromMeasurer, tell};

/// How long the child may take to end.
const GRACE: Nanoseconds = Nanoseconds::from_seconds(1);

/// The child, and who talks with it.
pub struct Preparer {
    /// Nobody, once it has not answered.
    child: Option<Messenger>,
    asked: Receiver<Asked>,
    patience: Nanoseconds,
}

/// A task, and where its result is waited for.
struct Asked {
    task: Task,
    answer: Sender<Done>,
}

/// What sessions ask.
#[derive(Debug)]
pub struct Making {
    ask: Mutex<Sender<Asked>>,
    /// What the last look found.
    held_bytes: Mutex<u64>,
}

impl Preparer {
    /// Forks the child, for working directories or a tree. To be called as long as this process has one thread.
    ///
    /// # Errors
    /// If there is no process for it.
    pub fn new(
        (directories, ground): (Vec<OwnedFd>, Ground),
        drop_command: Option<&str>,
        patience: Nanoseconds,
    ) -> Result<(Self, Making), Failure> {
        let child = Messenger::fork("caches", Orphanage::Die, move |inbox, outbox| {
            child::serve((directories, ground), drop_command, inbox, &outbox)
        })?;
        let (ask, asked) = channel();
        let making = Making { ask: Mutex::new(ask), held_bytes: Mutex::new(0) };
        Ok((Self { child: Some(child), asked, patience }, making))
    }

    /// Has the child do what is asked, until nobody asks any more. What there is to say is said once.
    pub fn serve(mut self, outbox: &Outbox) {
        let mut said = BTreeSet::new();
        while let Ok(Asked { task, answer }) = self.asked.recv() {
            let done = self.done(task);
            let remark = done.said.clone().map(FromMeasurer::Remark);
            let doubt = done.doubt.clone().map(|doubt| {
                let advice = "the numbers are not of such caches: mend that, or choose --caches asis";
                FromMeasurer::Doubt(Trust { doubt, advice: advice.to_owned() })
            });
            for message in remark.into_iter().chain(doubt) {
                if said.insert(format!("{message:?}")) {
                    tell(outbox, &message);
                }
            }
            // Whoever asked may have gone.
            let _ = answer.send(done);
        }
        self.end_child();
    }

    fn end_child(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.child_mut().end(GRACE);
        }
    }

    fn done(&mut self, task: Task) -> Done {
        let end = MonotonicClock.now().after(self.patience);
        let Some(child) = &mut self.child else { return failed(libc::ECHILD, "has ended") };
        child.send(&serde_json::to_vec(&task).unwrap_or_default());
        loop {
            if let Some(line) = child.receive().pop() {
                return serde_json::from_slice(&line)
                    .unwrap_or_else(|_| failed(libc::EIO, "is not understood"));
            }
            let left = end.since(MonotonicClock.now());
            match child.incoming() {
                Some(incoming) if left > Nanoseconds::ZERO => {
                    wait_for_any(&[Awaited::Readable(incoming)], Some(left));
                }
                Some(_) => {
                    // It is of no use any more, and cannot be ended if it hangs.
                    self.end_child();
                    return failed(libc::ETIMEDOUT, &format!("had not ended after {}", self.patience));
                }
                None => return failed(libc::ECHILD, "has ended"),
            }
        }
    }
}

fn failed(errno: i32, how: &str) -> Done {
    let doubt = Some(format!("the process that makes caches cold or warm {how}"));
    Done { errno, doubt, ..Done::default() }
}

impl CacheMaker for Making {
    fn make(&self, operation: Operation) -> Completion {
        let task = match operation {
            Operation::CachesDrop => Task::Drop,
            Operation::CachesWarm => Task::Warm,
            Operation::CachesResident => Task::Look,
            _ => return Completion::ok(*lock(&self.held_bytes)),
        };
        let (answer, answered) = channel();
        let is_asked = lock(&self.ask).send(Asked { task, answer }).is_ok();
        let done = answered.recv().ok().filter(|_| is_asked);
        let done = done.unwrap_or_else(|| failed(libc::ECHILD, "has ended"));
        *lock(&self.held_bytes) = done.held_bytes;
        match done.errno {
            0 => Completion::ok(done.bytes),
            errno => Completion::partly(done.bytes, FailureCode::from_errno(errno)),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
