//! Listening and answering, within limits, until a signal comes.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use iolag_keeper::Signals;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use super::address::LoopbackAddress;
use super::connections::{Connection, Connections};
use super::documents::{self, Documents, MakeDocument};
use super::elsewhere::{self, Door, Elsewhere};
use super::following;
use super::routes::{metrics_routes, routes};
use super::view::Knowledge;
use crate::watching::Places;
use iolag_conduct::Failure;

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

/// Listens on `address`; `option` names another.
///
/// # Errors
/// If it cannot be listened on.
pub(super) async fn bind(address: SocketAddr, option: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        Failure::unusable(format!("cannot listen on {address}: {error}; choose another port with {option}"))
    })
}

/// Has each connection that comes answered.
pub(super) async fn accept<F: Future<Output = ()> + 'static>(
    listener: TcpListener,
    connections: Rc<Connections>,
    answer: impl Fn(TcpStream, Rc<Connection>) -> F,
) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => connections.open(|connection| answer(stream, connection)),
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Answers what is asked on one connection, within limits.
pub(super) async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    service: impl Service<Request<Incoming>, Response = Response<Body>, Error = Infallible>,
) {
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
