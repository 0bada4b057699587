//! Listening and answering, within limits, until a signal comes.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use iolag_keeper::Signals;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use super::address::LoopbackAddress;
use super::connections::{Connection, Connections};
use super::documents::{self, Documents, MakeDocument};
use super::following;
use super::routes::routes;
use super::view::Knowledge;
use crate::exit_code::Failure;
use crate::watching::Places;

/// Connections at once; one more takes the place of another.
const CONNECTIONS_MAX: usize = 256;
/// A request's head comes within this time, also the next one on a connection that is kept.
const HEAD_MAX: Duration = Duration::from_secs(30);
/// Longest life of a connection: who reads too slowly is left.
const CONNECTION_MAX: Duration = Duration::from_secs(600);
/// Longest head of a request, in bytes, and its lines.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEAD_LINES_MAX: usize = 64;
/// After a failure to accept: descriptors may come back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// What is under way when a signal comes gets so long.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// What is served.
#[derive(Clone)]
pub struct Serving {
    /// Where to listen.
    pub listen: LoopbackAddress,
    /// The history: an absolute path or a URL.
    pub history: String,
    /// The same for people, secrets removed.
    pub shown_history: String,
    /// Where that history's watch keeps what it does.
    pub places: Places,
    /// This host, as series name it.
    pub host: String,
    /// Makes the document of the live page.
    pub document: MakeDocument,
}

/// Serves until a signal comes; `ready` is told the address, whose port may have been chosen by the system. The process has
/// one thread, and must not get another: followers are forked.
///
/// # Errors
/// If the address cannot be listened on.
pub fn serve(serving: &Serving, signals: Signals, ready: impl FnOnce(SocketAddr)) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|error| {
        Failure::of_system(format!("cannot wait for connections: {error}"), error.raw_os_error())
    })?;
    LocalSet::new().block_on(&runtime, async {
        let listener = bind(serving.listen).await?;
        ready(listener.local_addr().map_err(Failure::bug)?);
        let knowledge = Arc::new(Knowledge::new(
            serving.host.clone(),
            serving.shown_history.clone(),
            serving.places.clone(),
        ));
        let following = following::follow(serving.history.clone(), Arc::clone(&knowledge));
        let connections = Connections::new(CONNECTIONS_MAX);
        let following = spawn_local(following);
        let documents = Arc::new(Documents::default());
        let making = spawn_local(documents::make(Arc::clone(&documents), Arc::clone(&serving.document)));
        let router = routes(knowledge, documents);
        let accepting = spawn_local(accept(listener, router, Rc::clone(&connections)));
        signalled(signals).await;
        following.abort();
        making.abort();
        accepting.abort();
        // Who is not done by then is left.
        let _ = timeout(LAST_ANSWERS, connections.wait_for_end()).await;
        Ok(())
    })
}

async fn bind(address: LoopbackAddress) -> Result<TcpListener, Failure> {
    let socket = address.socket();
    TcpListener::bind(socket).await.map_err(|error| {
        Failure::unusable(format!(
            "cannot listen on {socket}: {error}; choose another port with --listen 127.0.0.1:PORT"
        ))
    })
}

async fn accept(listener: TcpListener, router: Router, connections: Rc<Connections>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => connections.open(|connection| answer(stream, router.clone(), connection)),
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn answer(stream: TcpStream, router: Router, connection: Rc<Connection>) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(|request| {
        connection.asked();
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEAD_LINES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // A client that breaks off, or asks for nonsense, concerns nobody else.
    let _ = timeout(CONNECTION_MAX, connection).await;
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
