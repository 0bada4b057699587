//! Many clients as tasks: workers, each a thread with a runtime of its own, and the bell that each hears.
//!
//! They share the descriptor table of the process: a runtime, built with signals as MongoDB's driver wants it, uses a socket of the process.

use std::io;
use std::sync::Arc;
use std::thread;

use iolag_backend::AsyncOpening;
use iolag_model::{Clock, Coordinator, Recorder};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::Semaphore;

use super::asynchronous::drive_async;
use super::client::Client;
use super::client_loop::DriveEnd;
use super::heartbeat::beat_as_task;
use super::many_clients::{DriveError, Job};
use super::waiting::{Waiter, bell};

/// The threads that run asynchronous clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workers {
    /// How many: one for each processor that the clients may use, and not more than clients.
    pub threads: usize,
    /// Sessions that one of them opens at once: what a server's queue of connections takes.
    pub opening_at_once: usize,
}

/// Drives all clients as tasks of these workers, in turn, and returns when all have ended. Errors of clients are in the result, in
/// the order of `jobs`.
///
/// # Errors
/// If a worker's thread or runtime cannot be made; then all clients stop.
pub fn run_async_clients<R, K, O, N, C>(
    jobs: Vec<Job<R, K, O>>,
    workers: Workers,
    coordinator: &N,
    clock: &C,
) -> io::Result<Vec<Result<DriveEnd, DriveError>>>
where
    R: Recorder + Send + 'static,
    K: Client + 'static,
    O: Fn() -> AsyncOpening<'static> + Send + 'static,
    N: Coordinator + Clone + Send + 'static,
    C: Clock + Clone + 'static,
{
    let threads = workers.threads.clamp(1, jobs.len().max(1));
    let mut shares: Vec<Share<R, K, O>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, job) in jobs.into_iter().enumerate() {
        shares[index % threads].push((index, job));
    }
    let ends = thread::scope(|scope| {
        let start = |share| {
            let body = move || run_worker(share, workers, coordinator, clock);
            let started = thread::Builder::new().name("worker".to_owned()).spawn_scoped(scope, body);
            // The clients of the other workers would wait for those of this one.
            started.inspect_err(|_| coordinator.stop_all())
        };
        let started: Vec<_> = shares.into_iter().map(start).collect();
        let end = |worker: io::Result<thread::ScopedJoinHandle<'_, io::Result<Ends>>>| {
            worker?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(end).collect::<io::Result<Vec<Ends>>>()
    })?;
    let mut ends: Ends = ends.into_iter().flatten().collect();
    ends.sort_by_key(|(index, _)| *index);
    Ok(ends.into_iter().map(|(_, end)| end).collect())
}

/// The clients of a worker, by their number among the jobs.
type Share<R, K, O> = Vec<(usize, Job<R, K, O>)>;

/// How the clients of a worker ended, by their number among the jobs.
type Ends = Vec<(usize, Result<DriveEnd, DriveError>)>;

fn run_worker<R, K, O, N, C>(
    share: Share<R, K, O>,
    workers: Workers,
    coordinator: &N,
    clock: &C,
) -> io::Result<Ends>
where
    R: Recorder + 'static,
    K: Client + 'static,
    O: Fn() -> AsyncOpening<'static> + 'static,
    N: Coordinator + Clone + Send + 'static,
    C: Clock + Clone + 'static,
{
    let (bell, hearing) = bell();
    let rings = coordinator.clone();
    // It ends by itself when no task is left; nobody waits for that.
    let bell = thread::Builder::new().name("bell".to_owned()).spawn(move || bell.ring_for(&rings));
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = bell.and(runtime).inspect_err(|_| coordinator.stop_all())?;
    let openings = Arc::new(Semaphore::new(workers.opening_at_once.clamp(1, Semaphore::MAX_PERMITS)));
    let ends = runtime.block_on(async {
        let first = share.first().map_or(0, |(_, job)| job.client.options().rank);
        let (coordinates, tells) = (coordinator.clone(), clock.clone());
        let heart = tokio::task::spawn_local(async move { beat_as_task(&coordinates, &tells, first).await });
        let start = |(index, job): (usize, Job<R, K, O>)| {
            let rank = job.client.options().rank;
            let waiter = Waiter::new(coordinator.clone(), clock.clone(), rank, hearing.clone());
            (index, tokio::task::spawn_local(drive_async(job, waiter, Arc::clone(&openings))))
        };
        let tasks: Vec<_> = share.into_iter().map(start).collect();
        let mut ends = Vec::with_capacity(tasks.len());
        for (index, task) in tasks {
            let end = task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            ends.push((index, end));
        }
        heart.abort();
        ends
    });
    // A look-up of a name that hangs sits in a thread of its own, for which nobody waits.
    runtime.shutdown_background();
    Ok(ends)
}
