//! Listening and answering, within limits, until a signal comes.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::{Service, service_fn};
use hyper_util::service::TowerToHyperService;
use iolag_keeper::Signals;
use tokio::io::unix::AsyncFd;
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::timeout;

use crate::serve::counts::following;
use crate::serve::documents::{self, Documents, MakeDocument};
use crate::serve::door::address::LoopbackAddress;
use crate::serve::door::answering::{accept, answer, bind};
use crate::serve::door::connections::Connections;
use crate::serve::elsewhere::{self, Door, Elsewhere};
use crate::serve::routes::{metrics_routes, routes};
use crate::serve::view::Knowledge;
use crate::watching::Places;
use iolag_conduct::Failure;

/// Connections at once; one more takes the place of another.
const CONNECTIONS_MAX: usize = 256;
/// What is under way when a signal comes gets so long.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// What is served.
#[derive(Clone)]
pub struct Serving {
    /// Where to listen.
    pub listen: LoopbackAddress,
    /// The history, and where its watch keeps what it does.
    pub places: Places,
    /// This host, as series name it.
    pub host: String,
    /// Makes the document of the live page.
    pub document: MakeDocument,
    /// Metrics for other machines.
    pub elsewhere: Option<Elsewhere>,
}

/// Where is listened; ports may have been chosen by the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listening {
    /// For the page and everything else, on loopback.
    pub page: SocketAddr,
    /// For metrics, from other machines.
    pub metrics: Option<SocketAddr>,
}

/// Serves until a signal comes; `ready` is told where, and `complain` what goes wrong later. The process has one thread, and must
/// not get another: followers are forked.
///
/// # Errors
/// If an address cannot be listened on, or what admits other machines is of no use.
pub fn serve(
    serving: &Serving,
    signals: Signals,
    ready: impl FnOnce(Listening),
    complain: fn(&str),
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|error| {
        Failure::of_system(format!("cannot wait for connections: {error}"), error.raw_os_error())
    })?;
    LocalSet::new().block_on(&runtime, async {
        let page = bind(serving.listen.socket(), "--listen 127.0.0.1:PORT").await?;
        let door = match &serving.elsewhere {
            Some(elsewhere) => Some(Door::open(elsewhere).await?),
            None => None,
        };
        ready(Listening {
            page: page.local_addr().map_err(Failure::bug)?,
            metrics: door.as_ref().map(Door::address).transpose().map_err(Failure::bug)?,
        });
        let knowledge = Arc::new(Knowledge::new(
            serving.host.clone(),
            serving.places.shown_history(),
            serving.places.clone(),
        ));
        let documents = Arc::new(Documents::default());
        let connections = Connections::new(CONNECTIONS_MAX);
        let strangers = Connections::new(elsewhere::CONNECTIONS_MAX);
        let mut tasks = vec![
            spawn_local(following::follow(serving.places.clone(), Arc::clone(&knowledge))),
            spawn_local(documents::make(Arc::clone(&documents), Arc::clone(&serving.document))),
        ];
        if let Some(door) = door {
            let router = metrics_routes(Arc::clone(&knowledge));
            tasks.extend(door.attend(router, Rc::clone(&strangers), complain));
        }
        let router = routes(knowledge, documents);
        tasks.push(spawn_local(accept(page, Rc::clone(&connections), move |stream, connection| {
            let router = TowerToHyperService::new(router.clone());
            answer(
                stream,
                service_fn(move |request| {
                    connection.asked();
                    router.call(request)
                }),
            )
        })));
        signalled(signals).await;
        tasks.iter().for_each(JoinHandle::abort);
        // Who is not done by then is left.
        let _ = timeout(LAST_ANSWERS, async {
            connections.wait_for_end().await;
            strangers.wait_for_end().await;
        })
        .await;
        Ok(())
    })
}

/// Waits for a signal that ends the server.
async fn signalled(signals: Signals) {
    // SAFETY: the descriptor stays open and the same, because `signals` owns it and is dropped after `source`.
    let Ok(source) = (unsafe { AsyncFd::register(signals.descriptor()) }) else { return };
    while let Ok(mut ready) = source.readable().await {
        if signals.next().is_some() {
            return;
        }
        ready.clear_ready();
    }
}
