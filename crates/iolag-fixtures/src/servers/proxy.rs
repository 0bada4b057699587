//! A proxy between a client and a server that stalls, cuts and drips on command, for whatever goes over TCP.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// What the proxy does to what the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProxyFault {
    /// Nothing.
    #[default]
    None,
    /// Connections are taken, and nothing is answered.
    Stall,
    /// After so many bytes of answers on a connection it is reset.
    CutAfter(u64),
    /// After so many bytes of answers on a connection it is ended properly.
    EndAfter(u64),
    /// A byte at a time, each after this long.
    Drip(Duration),
}

/// A proxy on a free port of the loopback. Dropping ends it and its connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    common: Arc<Common>,
}

#[derive(Debug)]
struct Common {
    server: SocketAddr,
    fault: Mutex<ProxyFault>,
    is_over: AtomicBool,
    connections: AtomicU64,
}

impl Common {
    fn fault(&self) -> ProxyFault {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

impl Proxy {
    /// Begins to pass on to a port of the loopback.
    ///
    /// # Panics
    /// If the loopback has no free port.
    pub fn start(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        listener.set_nonblocking(true).expect("a socket can be asked not to wait");
        let common = Arc::new(Common {
            server: (Ipv4Addr::LOCALHOST, port).into(),
            fault: Mutex::default(),
            is_over: AtomicBool::new(false),
            connections: AtomicU64::new(0),
        });
        let shared = Arc::clone(&common);
        std::thread::spawn(move || accept(&listener, &shared));
        Self { address, common }
    }

    /// The port on the loopback.
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// From now on, also on connections that are open.
    pub fn set(&self, fault: ProxyFault) {
        *self.common.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// How many connections there have been.
    pub fn connections(&self) -> u64 {
        self.common.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.common.is_over.store(true, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, common: &Arc<Common>) {
    while !common.is_over() {
        match listener.accept() {
            Ok((client, _)) => {
                common.connections.fetch_add(1, Ordering::Relaxed);
                let common = Arc::clone(common);
                std::thread::spawn(move || connect(&client, &common));
            }
            Err(_) => std::thread::sleep(POLL_INTERVAL),
        }
    }
}

fn connect(client: &TcpStream, common: &Arc<Common>) -> io::Result<()> {
    client.set_nonblocking(false)?;
    let server = TcpStream::connect(common.server)?;
    for stream in [client, &server] {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(POLL_INTERVAL))?;
    }
    let (asks, asked, up) = (client.try_clone()?, server.try_clone()?, Arc::clone(common));
    std::thread::spawn(move || pass(&asks, &asked, &up, |_, bytes| Ok(bytes.len())));
    let mut answered = 0;
    pass(&server, client, common, |client, bytes| {
        let take = match common.fault() {
            ProxyFault::None => bytes.len(),
            ProxyFault::Stall => 0,
            ProxyFault::Drip(pause) => {
                std::thread::sleep(pause);
                1.min(bytes.len())
            }
            ProxyFault::CutAfter(limit) | ProxyFault::EndAfter(limit) => {
                let left = limit.saturating_sub(answered).min(bytes.len() as u64) as usize;
                if left == 0 {
                    if common.fault() == ProxyFault::CutAfter(limit) {
                        reset(client)?;
                    }
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                left
            }
        };
        answered += take as u64;
        Ok(take)
    })
}

/// Passes bytes on, as many as `take` lets through at a time, until either end has ended.
fn pass(
    mut from: &TcpStream,
    mut to: &TcpStream,
    common: &Common,
    mut take: impl FnMut(&TcpStream, &[u8]) -> io::Result<usize>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let passed = 'passing: loop {
        if common.is_over() {
            break Ok(());
        }
        let read = match from.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(read) => read,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                continue;
            }
            Err(error) => break Err(error),
        };
        let mut sent = 0;
        while sent < read {
            if common.is_over() {
                break 'passing Ok(());
            }
            match take(to, &buffer[sent..read]) {
                Ok(0) => std::thread::sleep(POLL_INTERVAL),
                Ok(taken) => match to.write_all(&buffer[sent..sent + taken]) {
                    Ok(()) => sent += taken,
                    Err(error) => break 'passing Err(error),
                },
                Err(error) => break 'passing Err(error),
            }
        }
    };
    for stream in [from, to] {
        // It may be gone already.
        let _ = stream.shutdown(Shutdown::Both);
    }
    passed
}

/// Lets the end of the connection be a reset (socket(7), SO_LINGER).
fn reset(client: &TcpStream) -> io::Result<()> {
    Ok(rustix::net::sockopt::set_socket_linger(client, Some(Duration::ZERO))?)
}
