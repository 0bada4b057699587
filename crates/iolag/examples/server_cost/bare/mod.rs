//! The bare side: the same requests on the same libraries, and nothing else.

mod postgres;
mod shared;
mod web;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use anyhow::{Context, Result, anyhow, ensure};
use iolag_keeper::{Child, Ending, Orphanage};
use iolag_model::Nanoseconds;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use self::shared::Shared;
use super::load::{Load, workers};
use super::window::{Counted, Measured, look};

/// Measures with as many threads as iolag has workers.
pub fn measure(load: &Load) -> Result<Measured> {
    let threads = workers(load.clients);
    let shared = Arc::new(Shared {
        counted: Counted::of(load.clients),
        is_over: AtomicBool::new(false),
        begin: Barrier::new(threads + 1),
    });
    let is_database = load.target.starts_with("postgres");
    if is_database {
        runtime()?.block_on(postgres::make(&load.target))?;
    }
    let measured = std::thread::scope(|scope| {
        let own = |thread: usize| (0..load.clients).filter(move |rank| *rank as usize % threads == thread);
        let spawn = |thread: usize| {
            let shared = &shared;
            scope.spawn(move || ask(load, &own(thread).collect::<Vec<_>>(), shared))
        };
        let asking: Vec<_> = (0..threads).map(spawn).collect();
        shared.begin.wait();
        let measured = look(&[std::process::id()], &shared.counted, load.seconds);
        shared.is_over.store(true, Ordering::Relaxed);
        for thread in asking {
            thread.join().map_err(|_| anyhow!("who asks has panicked"))??;
        }
        measured
    });
    if is_database {
        runtime()?.block_on(postgres::remove(&load.target))?;
    }
    measured
}

/// Makes the object that is read.
pub fn make_object(load: &Load) -> Result<()> {
    let made = Child::fork("maker", Orphanage::Die, || {
        let made = runtime().map_err(Into::into).and_then(|runtime| runtime.block_on(web::make(load)));
        i32::from(made.is_err())
    })?
    .wait(Nanoseconds::from_seconds(60));
    ensure!(made == Some(Ending::Exited(0)), "the object could not be made");
    Ok(())
}

/// All clients of a thread.
fn ask(load: &Load, ranks: &[u32], shared: &Arc<Shared>) -> Result<()> {
    runtime()?.block_on(async {
        let mut ready = Vec::new();
        for rank in ranks {
            ready.push(match load.target.starts_with("postgres") {
                true => Asks::Database(Box::new(postgres::Asks::open(&load.target, *rank).await?)),
                false => Asks::Web(Box::new(web::Asks::open(load, *rank).await?)),
            });
        }
        shared.begin.wait();
        let start = |asks: Asks| {
            let shared = Arc::clone(shared);
            tokio::task::spawn_local(async move {
                match asks {
                    Asks::Database(asks) => asks.until_over(&shared).await,
                    Asks::Web(asks) => asks.until_over(&shared).await,
                }
            })
        };
        let tasks: Vec<_> = ready.into_iter().map(start).collect();
        for task in tasks {
            task.await.context("a client has panicked")??;
        }
        Ok(())
    })
}

/// A client that is connected.
enum Asks {
    Database(Box<postgres::Asks>),
    Web(Box<web::Asks>),
}

fn runtime() -> io::Result<LocalRuntime> {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
}
