//! What recording costs asynchronous clients that mostly think: the same requests, library and timers with iolag's driver, shared
//! memory, keeper and writer, and as a bare program.
//!
//! `asynchronous_cost SIDE CLIENTS SECONDS`: SIDE is `iolag` or `bare`. A server process answers 16 bytes with 16 bytes over the loopback;
//! each client asks, thinks a second, and asks again, and their first requests are spread over a second. Prints the median and
//! the 99th percentile of the lag (from the intended start to the start) and the time on the processor of a request, of all processes but
//! the server, all in ns: `cargo xtask bench asynchronous` compares them. That time is taken while all clients ask and think, from a
//! second after the first request to a second before the last: neither connecting nor what is done with a whole run is in it.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

mod processor_time;
mod writer;

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use iolag_backend::{
    AsyncExecution, AsyncOpening, AsyncSession, BackendError, Completion, ObjectKey, Request,
};
use iolag_keeper::{Child, Ending, Exchange, HangDetection, Orphanage, Room, Sleeps};
use iolag_model::{
    ClientId, Clock, Coordinator as _, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds, Operation,
    Role, Sample, StageIndex,
};
use iolag_workload::{
    Client, ClientLoop, Done, DriveEnd, DriveOptions, IfNotOpen, Job, Step, Workers, run_async_clients,
};
use processor_time::processor_ns;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, LocalOptions};

const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(60);
const THINK: Nanoseconds = Nanoseconds::from_seconds(1);
const MESSAGE: [u8; 16] = [7; 16];
/// Connections that are opened at once, and that the server's queue takes.
const AT_ONCE: usize = 256;
const PAUSE: Nanoseconds = Nanoseconds::from_milliseconds(50);

/// Lags in order, and ns on the processor in a second of all clients.
type Measured = (Vec<u64>, Option<u64>);

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let (side, clients, seconds) = (words.next(), words.next(), words.next());
    let clients: u32 = clients.context("how many clients?")?.parse()?;
    let asks: u64 = seconds.context("how many seconds?")?.parse()?;
    raise_descriptors();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let mut server = Child::fork("server", Orphanage::Die, || i32::from(serve(listener).is_err()))?;
    let (lags_ns, processor_ns) = match side.as_deref() {
        Some("iolag") => iolag(address, clients, asks)?,
        Some("bare") => bare(address, clients, asks)?,
        _ => bail!("which side, iolag or bare?"),
    };
    // Each client asks once a second, but for what an answer takes.
    let processor_ns = processor_ns.context("too few seconds to be measured")? / u64::from(clients);
    server.end(Nanoseconds::ZERO);
    let at = |share: f64| lags_ns[((lags_ns.len() - 1) as f64 * share) as usize].max(1);
    println!("{} {} {processor_ns}", at(0.5), at(0.99));
    Ok(())
}

/// When a client first asks, from the beginning of all.
const fn offset(rank: u32, clients: u32) -> Nanoseconds {
    Nanoseconds(THINK.0 * rank as u64 / clients as u64)
}

// The bare side.

/// The same in one thread, without anything of iolag's.
fn bare(server: SocketAddr, clients: u32, asks: u64) -> Result<Measured> {
    let place = tempfile::NamedTempFile::new()?;
    let (begins, begun) = UnixStream::pair()?;
    begun.set_nonblocking(true)?;
    let mut measurer = Child::fork("bare", Orphanage::Die, || {
        let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
        let told = runtime.and_then(|runtime| runtime.block_on(ask_all(server, &begins, clients, asks)));
        let text = |lags: Vec<u64>| lags.iter().map(u64::to_string).collect::<Vec<_>>().join("\n");
        i32::from(told.and_then(|lags| std::fs::write(place.path(), text(lags))).is_err())
    })?;
    let mut processors = ProcessorTime::of(&[measurer.id()], asks);
    while measurer.wait(PAUSE).is_none() {
        processors.look(|| (&begun).read(&mut [0]).is_ok_and(|bytes| bytes > 0))?;
    }
    ensure!(measurer.ending() == Some(Ending::Exited(0)), "the bare program failed");
    let text = std::fs::read_to_string(place.path())?;
    let mut lags = text.lines().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    lags.sort_unstable();
    Ok((lags, processors.ns_in_a_second()))
}

async fn ask_all(server: SocketAddr, begins: &UnixStream, clients: u32, asks: u64) -> io::Result<Vec<u64>> {
    let mut streams = Vec::new();
    for _ in 0..clients {
        streams.push(TcpStream::connect(server).await?);
    }
    let begin = Instant::now() + Duration::from_millis(100);
    (&mut &*begins).write_all(&[1])?;
    let asking = |(rank, stream)| {
        let first = begin + offset(rank, clients).as_duration();
        tokio::task::spawn_local(ask_alone(stream, first, asks))
    };
    let tasks: Vec<_> = (0..).zip(streams).map(asking).collect();
    let mut lags = Vec::with_capacity(clients as usize * asks as usize);
    for task in tasks {
        lags.extend(task.await.map_err(io::Error::other)??);
    }
    Ok(lags)
}

async fn ask_alone(mut stream: TcpStream, mut intended: Instant, asks: u64) -> io::Result<Vec<u64>> {
    let mut lags = Vec::with_capacity(asks as usize);
    let mut answer = MESSAGE;
    for _ in 0..asks {
        tokio::time::sleep_until(intended.into()).await;
        let start = Instant::now();
        stream.write_all(&MESSAGE).await?;
        stream.read_exact(&mut answer).await?;
        let end = Instant::now();
        lags.push(start.saturating_duration_since(intended).as_nanos() as u64);
        intended = end + THINK.as_duration();
    }
    Ok(lags)
}

// Iolag's side.

/// With the three roles of a run; the lags are those of the stored samples.
fn iolag(server: SocketAddr, clients: u32, asks: u64) -> Result<Measured> {
    let ring_bytes = Room::usual_bytes(clients);
    let exchange =
        Exchange::with_room(Room { clients, lanes: 1, ring_bytes, samples_per_client: Some(asks + 2) })?;
    let place = tempfile::tempdir()?;
    let mut writer =
        Child::fork("writer", Orphanage::Die, || i32::from(writer::write(&exchange, place.path()).is_err()))?;
    let mut measurer =
        Child::fork("measurer", Orphanage::Die, || i32::from(!measure(&exchange, server, asks)))?;
    let sleeps = Sleeps::new(MonotonicClock.now());
    let deadlines = Role::ALL.map(|_| DEADLINE.into());
    let mut hangs = HangDetection::new(&exchange, deadlines, MonotonicClock.now());
    let mut processors = ProcessorTime::of(&[std::process::id(), writer.id(), measurer.id()], asks);
    while measurer.wait(hangs.pause()).is_none() {
        processors.look(|| exchange.coordinator().meeting(0, 1).is_some())?;
        let hung = hangs.look(&exchange, 0..clients, &sleeps, MonotonicClock.now());
        ensure!(hung.is_empty(), "a client hangs");
    }
    ensure!(measurer.ending() == Some(Ending::Exited(0)), "the measurer failed");
    let samples: Vec<Sample> =
        exchange.readers().iter().flat_map(|(ring, _)| ring.retained().1.concat()).collect();
    exchange.set_measured();
    ensure!(writer.wait(DEADLINE) == Some(Ending::Exited(0)), "the writer failed");
    let asked = samples.iter().filter(|sample| sample.operation() == Operation::Stat);
    let mut lags: Vec<u64> = asked.map(|sample| sample.start.since(sample.intended).0).collect();
    ensure!(lags.len() as u64 == u64::from(clients) * asks, "{} requests were recorded", lags.len());
    lags.sort_unstable();
    Ok((lags, processors.ns_in_a_second()))
}

fn measure(exchange: &Exchange, server: SocketAddr, asks: u64) -> bool {
    let clients = exchange.clients();
    let job = |rank| {
        exchange.prefault(rank);
        let options = DriveOptions { client: ClientId(rank), rank, deadlines: DEADLINE.into() };
        let thinks = Thinks { begun: false, left: asks, offset: offset(rank, clients), next: None };
        let open = move || -> AsyncOpening<'static> { Box::pin(open(server)) };
        let client = ClientLoop::new(thinks, exchange.recorder(rank), options);
        Job { client, open, if_not_open: IfNotOpen::StopAll }
    };
    let workers = Workers { threads: 1, opening_at_once: AT_ONCE };
    run_async_clients((0..clients).map(job).collect(), workers, &exchange.coordinator(), &MonotonicClock)
        .is_ok_and(|ends| ends.iter().all(|end| matches!(end, Ok(DriveEnd::Finished))))
}

/// Begins with all others, asks, thinks.
struct Thinks {
    begun: bool,
    left: u64,
    offset: Nanoseconds,
    next: Option<MonotonicTime>,
}

impl Client for Thinks {
    fn next(&mut self, now: MonotonicTime) -> Step {
        if !std::mem::replace(&mut self.begun, true) {
            return Step::Begin { stage: StageIndex(1), value: 0 };
        }
        if self.left == 0 {
            return Step::Finished;
        }
        self.left -= 1;
        let intended = self.next.unwrap_or(now.after(self.offset));
        let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
        Step::Execute { request, intended: Some(intended) }
    }

    fn completed(&mut self, _request: &Request, done: &Done) {
        self.next = Some(done.end.after(THINK));
    }
}

struct Connected(TcpStream);

async fn open(server: SocketAddr) -> Result<Box<dyn AsyncSession>, BackendError> {
    let stream = TcpStream::connect(server).await;
    let stream = stream.map_err(|_| BackendError::NoWorkingSet { path: server.to_string() })?;
    Ok(Box::new(Connected(stream)))
}

impl AsyncSession for Connected {
    fn prepare(&mut self, _request: &Request) {}

    fn execute<'a>(&'a mut self, _request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(async {
            let mut answer = MESSAGE;
            let asked = async {
                self.0.write_all(&MESSAGE).await?;
                self.0.read_exact(&mut answer).await
            };
            match asked.await {
                Ok(_) => Completion::ok(16),
                Err(error) => Completion::failed(FailureCode::from_errno(error.raw_os_error().unwrap_or(0))),
            }
        })
    }
}

// Both sides.

fn serve(listener: TcpListener) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build_local(LocalOptions::default())?;
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (mut stream, _) = listener.accept().await?;
            tokio::task::spawn_local(async move {
                let mut message = MESSAGE;
                while stream.read_exact(&mut message).await.is_ok()
                    && stream.write_all(&message).await.is_ok()
                {}
            });
        }
    })
}

fn raise_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // What is not allowed shows when a connection cannot be made.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// The time on the processor of some processes, in a window.
struct ProcessorTime {
    processes: Vec<u32>,
    window: Duration,
    begun: Option<Instant>,
    first: Option<(Instant, u64)>,
    last: Option<(Instant, u64)>,
}

impl ProcessorTime {
    fn of(processes: &[u32], asks: u64) -> Self {
        let window = Duration::from_secs(asks.saturating_sub(2));
        Self { processes: processes.to_vec(), window, begun: None, first: None, last: None }
    }

    fn look(&mut self, has_begun: impl Fn() -> bool) -> Result<()> {
        let now = Instant::now();
        let Some(begun) = self.begun else {
            self.begun = has_begun().then_some(now);
            return Ok(());
        };
        if self.first.is_none() && now - begun >= THINK.as_duration() {
            self.first = Some((now, processor_ns(&self.processes)?));
        } else if let Some((first, _)) = self.first
            && self.last.is_none()
            && now - first >= self.window
        {
            self.last = Some((now, processor_ns(&self.processes)?));
        }
        Ok(())
    }

    fn ns_in_a_second(&self) -> Option<u64> {
        let ((first, before), (last, after)) = (self.first?, self.last?);
        Some(((after - before) as f64 / (last - first).as_secs_f64()) as u64)
    }
}
