//! Coming to a server: its name becomes an address, the address a connection, the connection a protected one.
//!
//! Each part is a [`Mark`], also of one that failed, and a failure says which part it was. Nothing is tried twice: of several addresses of a
//! name the next one is taken only if the one before refused, and all of that is the part `call.connect`.
//!
//! Limits: names are resolved by the system (`getaddrinfo(3)`), in a thread of its own which nobody waits for once the request is given
//! up; no proxy is used, whatever the environment says.

mod failure;
mod resolve;
mod stream;
mod way;

pub use failure::{Unreached, code_of, distrust};
pub use stream::Stream;
pub use way::Way;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use iolag_model::{Clock, Mark, Operation};
use rustix::net::sockopt::{set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

impl Way {
    /// Connects; the parts go to `marks` as they end, so that they are there also if the future is dropped.
    ///
    /// # Errors
    /// Which part failed, and why.
    pub async fn connect(&self, clock: &dyn Clock, marks: &mut Vec<Mark>) -> Result<Stream, Unreached> {
        let addresses = self.addresses(clock, marks).await?;
        let stream = timed(Operation::CallConnect, clock, marks, first_that_answers(&addresses))
            .await
            .map_err(|error| Unreached::connecting(self, &error))?;
        // A request is one or two segments, and none is to wait for the answer to the one before. Refused, it is only slower.
        let _ = stream.set_nodelay(true);
        let _ = keep_alive(&stream);
        let Some((name, config)) = &self.protection else { return Ok(Stream::Plain(stream)) };
        let connector = TlsConnector::from(Arc::clone(config));
        timed(Operation::CallTls, clock, marks, connector.connect(name.clone(), stream))
            .await
            .map(|stream| Stream::Protected(Box::new(stream)))
            .map_err(|error| Unreached::protecting(self, &error))
    }

    async fn addresses(
        &self,
        clock: &dyn Clock,
        marks: &mut Vec<Mark>,
    ) -> Result<Vec<SocketAddr>, Unreached> {
        if let Ok(address) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, self.port)]);
        }
        timed(Operation::CallResolve, clock, marks, resolve::resolve(&self.host, self.port))
            .await
            .map_err(|code| Unreached::resolving(self, code))
    }
}

/// Who waits for an answer hears of it, within two minutes, if the other machine has started anew and knows nothing of the question, or is
/// not there any more; one that is there and is silent is waited for.
fn keep_alive(stream: &TcpStream) -> std::io::Result<()> {
    const LOOK: Duration = Duration::from_secs(15);
    const LOOKS: u32 = 7;
    set_socket_keepalive(stream, true)?;
    set_tcp_keepidle(stream, LOOK)?;
    set_tcp_keepintvl(stream, LOOK)?;
    Ok(set_tcp_keepcnt(stream, LOOKS)?)
}

/// The first address that takes a connection, or what the last one said.
async fn first_that_answers(addresses: &[SocketAddr]) -> std::io::Result<TcpStream> {
    let mut refused = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

async fn timed<T, E>(
    operation: Operation,
    clock: &dyn Clock,
    marks: &mut Vec<Mark>,
    part: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let start = clock.now();
    let outcome = part.await;
    marks.push(Mark { operation, start, duration: clock.now().since(start) });
    outcome
}

#[cfg(test)]
mod tests;
