//! A copy: its tasks as threads of this process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{self, Scope, ScopedJoinHandle};

use iolag_backend::CacheMaker;
use iolag_model::{CacheState, Clock, Coordinator, Recorder, StageRecord};
use iolag_trace::{Repetition, Sharing};
use rustix::io::Errno;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::buffers::Buffers;
use super::client::{ReplayClient, ReplayPace};
use super::paths::Paths;
use super::progress::{Over, Progress};
use super::session::ReplaySession;
use super::shared::Shared;
use crate::caches::CachesClient;
use crate::driving::client_loop::{ClientLoop, DriveEnd, DriveOptions};
use crate::driving::heartbeat::beside_a_heart;
use crate::driving::many_clients::{DriveError, STACK_BYTES, StopsIfPanicking, drive_known};
use crate::payload::{Payload, PayloadAsker};
use crate::processors::{ProcessorClocks, ProcessorTimes};

/// What a copy consists of.
pub struct ReplayCopy<'a, P> {
    /// What is asked.
    pub repetition: &'a Repetition,
    /// Where.
    pub paths: Paths,
    /// When.
    pub pace: ReplayPace,
    /// Its number among the copies: that of the client which is its first task.
    pub rank: u32,
    /// The client which is its second task; those of the others follow.
    pub followers: u32,
    /// What caches hold when it begins, and who sees to that.
    pub caches: (CacheState, Option<Arc<dyn CacheMaker>>),
    /// The stages of the run.
    pub stages: Arc<[StageRecord]>,
    /// What the processors did for it.
    pub processors: Arc<ProcessorTimes<P>>,
    /// Who runs its payload, if it has one.
    pub payload: Option<PayloadAsker>,
}

/// The clients that are the tasks of a copy, by their numbers in the run.
pub trait CopyClients: Sync {
    /// Where their samples go.
    type Recorder: Recorder;

    /// Where those of this client go.
    fn recorder(&self, client: u32) -> Self::Recorder;

    /// How it is driven.
    fn options(&self, client: u32) -> DriveOptions;

    /// Whether it has not been given up.
    fn is_expected(&self, client: u32) -> bool;
}

/// Makes all calls of a copy, on threads of this process.
///
/// # Errors
/// If its first thread cannot be made, or cannot have descriptors of its own.
pub fn run_copy<P: ProcessorClocks>(
    copy: &ReplayCopy<'_, P>,
    clients: &impl CopyClients,
    coordinator: &impl Coordinator,
    clock: &impl Clock,
) -> Result<DriveEnd, DriveError> {
    let tasks = copy.repetition.tasks.len();
    let running = Running {
        copy,
        shared: Shared {
            paths: &copy.paths,
            progress: Progress::new(tasks),
            buffers: Buffers::new(copy.repetition, copy.rank),
            descriptors: (0..copy.repetition.descriptors).map(|_| AtomicI32::new(-1)).collect(),
        },
        begun: (0..tasks).map(|_| AtomicBool::new(false)).collect(),
        clients,
        coordinator,
        clock,
    };
    beside_a_heart(coordinator, clock, copy.rank, || {
        thread::scope(|scope| {
            let first = running.begin(scope, 0);
            let first = first.map_err(|error| DriveError::Thread { client: copy.rank, error })?;
            let end = first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            running.shared.progress.end(Over::TimeUp);
            running.give_up(|begun| !begun);
            end
        })
    })
}

struct Running<'a, P, M, N, C> {
    copy: &'a ReplayCopy<'a, P>,
    shared: Shared<'a>,
    /// By task.
    begun: Box<[AtomicBool]>,
    clients: &'a M,
    coordinator: &'a N,
    clock: &'a C,
}

impl<P: ProcessorClocks, M: CopyClients, N: Coordinator, C: Clock> Running<'_, P, M, N, C> {
    /// The client that is this task.
    fn client(&self, task: u32) -> u32 {
        match task.checked_sub(1) {
            None => self.copy.rank,
            Some(follower) => self.copy.followers + follower,
        }
    }

    fn all(&self) -> impl Iterator<Item = (u32, bool)> {
        let begun = self.begun.iter().map(|begun| begun.load(Ordering::SeqCst));
        (0..).zip(begun).map(|(task, begun)| (self.client(task), begun))
    }

    /// Nobody waits any more for tasks that have begun, or have not.
    fn give_up(&self, which: impl Fn(bool) -> bool) {
        for (client, _) in self.all().filter(|(_, begun)| which(*begun)) {
            self.coordinator.give_up(client, self.clock.now());
        }
    }

    /// Begins a task in the place of the calling thread's: goes on when it has what is its own.
    fn begin<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        task: u32,
    ) -> io::Result<ScopedJoinHandle<'scope, Result<DriveEnd, DriveError>>> {
        let (tell, told) = sync_channel(1);
        let sharing = self.copy.repetition.tasks.get(task as usize).map(|task| task.sharing);
        let sharing = sharing.filter(|_| task > 0).unwrap_or(Sharing::NOTHING);
        self.shared.progress.begins();
        let body = move || {
            let _stops = StopsIfPanicking(self.coordinator);
            let _ended = Ends { progress: &self.shared.progress, task };
            let is_separate = separate(sharing);
            if let Some(begun) = self.begun.get(task as usize) {
                begun.store(is_separate.is_ok(), Ordering::SeqCst);
            }
            // Who waits for it is there.
            let _ = tell.send(is_separate);
            match is_separate {
                Ok(()) => self.drive(scope, task),
                Err(errno) => Err(DriveError::Thread { client: self.client(task), error: errno.into() }),
            }
        };
        let started = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, body);
        let thread = started.inspect_err(|_| self.shared.progress.ended(task))?;
        told.recv().unwrap_or(Err(Errno::CANCELED))?;
        Ok(thread)
    }

    fn drive<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        task: u32,
    ) -> Result<DriveEnd, DriveError> {
        let (client, copy) = (self.client(task), self.copy);
        let items = copy.repetition.tasks.get(task as usize).map_or(&[][..], |task| &task.items);
        let fork = |child| match self.begin(scope, child) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.lose();
                Err(error.raw_os_error().map_or(Errno::AGAIN, Errno::from_raw_os_error))
            }
        };
        let is_stopped = || {
            // Of a copy that has lost a task nothing is to be expected any more.
            if self.all().any(|(client, begun)| begun && !self.clients.is_expected(client)) {
                self.lose();
            }
            self.coordinator.is_stopped(client)
        };
        let (caches, maker) = (copy.caches.0, copy.caches.1.clone().filter(|_| task == 0));
        let processors = (task == 0).then(|| Arc::clone(&copy.processors));
        let own = ReplayClient::new((task, items), &self.shared, &copy.pace, processors);
        let own = CachesClient::new(own, copy.rank, caches, Arc::clone(&copy.stages));
        let driven = ClientLoop::new(own, self.clients.recorder(client), self.clients.options(client));
        let payload = copy.payload.clone().filter(|_| task == 0).map(Payload::new);
        let open = || Ok(ReplaySession::new((task, items), &self.shared, &fork, &is_stopped, maker, payload));
        drive_known(driven, open, self.coordinator, self.clock)
    }

    /// A task does not come back, or could not begin.
    fn lose(&self) {
        if self.shared.progress.over().is_none() {
            // Before the others see that it is over: who has lost a task is stopped, and has not come to its end.
            self.give_up(|_| true);
            self.shared.progress.end(Over::Lost);
        }
    }
}

/// A task ends, however it does.
struct Ends<'a> {
    progress: &'a Progress,
    task: u32,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.progress.ended(self.task);
    }
}

/// Gives the calling thread what the task had for itself, as copies of what is of the thread that began it.
fn separate(sharing: Sharing) -> Result<(), Errno> {
    let mut flags = UnshareFlags::empty();
    flags.set(UnshareFlags::FILES, !sharing.descriptors());
    flags.set(UnshareFlags::FS, !sharing.directory());
    // SAFETY: a copied table has the same descriptors under the same numbers.
    unsafe { unshare_unsafe(flags) }?;
    if !sharing.process() {
        // Processes have credentials of their own, threads share theirs, and count in one place who refers to them; setting a flag to what it is makes a copy.
        // SAFETY: changes nothing but a flag of this thread that is not set.
        unsafe { libc::prctl(libc::PR_SET_KEEPCAPS, 0_u64, 0_u64, 0_u64, 0_u64) };
    }
    Ok(())
}
