//! Listening, and answering what is asked on a connection, within limits.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use iolag_conduct::Failure;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::serve::door::connections::{Connection, Connections};

/// After a failure to accept: descriptors may come back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// A request's head comes within this time, also the next one on a connection that is kept.
const HEAD_MAX: Duration = Duration::from_secs(30);
/// Longest head of a request, in bytes, and its lines.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEAD_LINES_MAX: usize = 64;
/// Longest life of a connection: who reads too slowly is left.
const CONNECTION_MAX: Duration = Duration::from_secs(600);

/// Listens on `address`; `option` names another.
///
/// # Errors
/// If it cannot be listened on.
pub(in crate::serve) async fn bind(address: SocketAddr, option: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        Failure::unusable(format!("cannot listen on {address}: {error}; choose another port with {option}"))
    })
}

/// Has each connection that comes answered.
pub(in crate::serve) async fn accept<F: Future<Output = ()> + 'static>(
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
pub(in crate::serve) async fn answer(
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
