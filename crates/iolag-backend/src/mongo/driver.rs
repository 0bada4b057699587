//! The driver: MongoDB's own, with what its events tell.
//!
//! Invariants: a driver that nobody has any more gives up its connections and its monitors at once, not when they wake up next; between the
//! two readings of the clock its events cost another reading and a store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iolag_model::{Clock, MonotonicClock, MonotonicTime};
use mongodb::error::{Error, ErrorKind};
use mongodb::event::EventHandler;
use mongodb::event::cmap::CmapEvent;
use mongodb::event::sdam::SdamEvent;
use mongodb::options::{ClientOptions, ServerAddress};
use mongodb::{Client, Database};
use tokio::runtime::Handle;

use super::failure::Failed;

tokio::task_local! {
    static ASKING: Arc<Mutex<Option<Taken>>>;
}

/// The connection that a request got from the driver.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    /// Whom it goes to.
    pub(super) server: ServerAddress,
    /// When the request got it.
    pub(super) at: MonotonicTime,
}

/// Where the driver notes the first connection that a request gets.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes(Arc<Mutex<Option<Taken>>>);

impl Notes {
    pub(super) fn forget(&self) {
        *lock(&self.0) = None;
    }

    pub(super) fn get(&self) -> Option<Taken> {
        lock(&self.0).clone()
    }

    /// Waits for what is asked, and notes which connection that gets.
    pub(super) async fn of<T>(&self, asked: impl Future<Output = T>) -> T {
        ASKING.scope(Arc::clone(&self.0), asked).await
    }
}

/// A driver, in the runtime in which it was made.
pub(super) struct Driver {
    client: Client,
    refusals: Refusals,
    runtime: Handle,
}

/// What the last look at each server came to, if it failed: by host and port.
type Refusals = Arc<Mutex<BTreeMap<String, Failed>>>;

impl Driver {
    /// To be called in a runtime. Connects when it is asked, or a moment earlier.
    pub(super) fn new(mut options: ClientOptions) -> Result<Self, Failed> {
        let refusals = Refusals::default();
        let noted = Arc::clone(&refusals);
        options.sdam_event_handler = Some(EventHandler::callback(move |event| note_server(&noted, &event)));
        options.cmap_event_handler = Some(EventHandler::callback(note_connection));
        let client = Client::with_options(options).map_err(|error| Failed::from(&error))?;
        Ok(Self { client, refusals, runtime: Handle::current() })
    }

    pub(super) fn database(&self, name: &str) -> Database {
        self.client.database(name)
    }

    /// Why something failed. Where no server was found, that is why the driver does not take those that there are.
    pub(super) fn why(&self, error: &Error) -> Failed {
        let failed = Failed::from(error);
        if !matches!(*error.kind, ErrorKind::ServerSelection { .. } | ErrorKind::ConnectionPoolCleared { .. })
        {
            return failed;
        }
        let refusals = lock(&self.refusals);
        let of_servers = |(server, refusal): (&String, &Failed)| Failed {
            code: refusal.code,
            said: format!("{server} is not there: {}", refusal.said),
        };
        refusals.iter().next().map_or(failed, of_servers)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let client = self.client.clone();
        // A monitor of the round trip would else sleep on for ten seconds, with its connection.
        self.runtime.spawn(async move { client.shutdown().immediate(true).await });
    }
}

/// Called by the task that asks, when it gets a connection; otherwise by tasks of the driver.
fn note_connection(event: CmapEvent) {
    let CmapEvent::ConnectionCheckedOut(event) = event else { return };
    let taken = Taken { server: event.address, at: MonotonicClock.now() };
    // Nobody asks who tries out a connection.
    let _ = ASKING.try_with(|noted| lock(noted).get_or_insert(taken).at);
}

fn note_server(refusals: &Refusals, event: &SdamEvent) {
    match event {
        SdamEvent::ServerHeartbeatSucceeded(event) => {
            lock(refusals).remove(&event.server_address.to_string());
        }
        SdamEvent::ServerHeartbeatFailed(event) => {
            lock(refusals).insert(event.server_address.to_string(), Failed::from(&event.failure));
        }
        _ => {}
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
