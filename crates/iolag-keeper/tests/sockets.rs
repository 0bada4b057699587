//! Five thousand asynchronous clients with a connection each, against a real server over the loopback: one connection never opens,
//! one request is never answered, and nothing is lost.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iolag_backend::{
    AsyncExecution, AsyncOpening, AsyncSession, BackendError, Completion, Mark, ObjectKey, Request,
};
use iolag_fixtures::skip;
use iolag_keeper::{Child, Ending, Exchange, HangDetection, Orphanage, Room, SharedRecorder, Sleeps};
use iolag_model::{
    ClientId, Clock, Deadlines, ErrorClass, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds,
    Operation, Outcome, Role, Sample, StageIndex,
};
use iolag_workload::{
    Client, ClientLoop, Done, DriveEnd, DriveError, DriveOptions, IfNotOpen, Job, Step, Workers,
    run_async_clients,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CLIENTS: u32 = 5000;
/// The server never greets this client.
const NEVER_OPENS: u32 = 17;
/// The server never answers the first request of this client's first connection.
const NEVER_ANSWERS: u32 = 4711;
const REQUESTS: u64 = 3;
const USUAL: Nanoseconds = Nanoseconds::from_seconds(60);
/// Of these two clients, whose deadline has to pass.
const SHORT: Nanoseconds = Nanoseconds::from_seconds(1);

/// Asks so often, with a pause after each; meets the others at the beginning.
struct Thinks {
    begun: bool,
    left: u64,
    next: Option<MonotonicTime>,
}

impl Client for Thinks {
    fn next(&mut self, _: MonotonicTime) -> Step {
        if !std::mem::replace(&mut self.begun, true) {
            return Step::Begin { stage: StageIndex(1), value: 0 };
        }
        if self.left == 0 {
            return Step::Finished;
        }
        self.left -= 1;
        Step::Execute { request: Request::new(Operation::Stat, ObjectKey::default(), 0), intended: self.next }
    }

    fn completed(&mut self, _: &Request, done: &Done) {
        self.next = Some(done.end.after(Nanoseconds::from_milliseconds(100)));
    }
}

/// One connection. Both sides say numbers of 4 bytes.
struct Connected {
    stream: TcpStream,
    /// Of the opening; then of requests, which have none.
    marks: Vec<Mark>,
    is_usable: bool,
}

impl Connected {
    async fn open(server: SocketAddr, client: u32) -> Result<Box<dyn AsyncSession>, BackendError> {
        let start = MonotonicClock.now();
        let connected = async {
            let mut stream = TcpStream::connect(server).await?;
            stream.write_u32(client).await?;
            stream.read_u32().await?;
            io::Result::Ok(stream)
        };
        let stream = connected.await.map_err(|error| BackendError::Failed {
            action: "connect to",
            path: server.to_string(),
            class: ErrorClass::Connection,
            code: FailureCode::from_errno(error.raw_os_error().unwrap_or(0)),
        })?;
        let duration = MonotonicClock.now().since(start);
        let marks = vec![Mark { operation: Operation::CallConnect, start, duration }];
        Ok(Box::new(Self { stream, marks, is_usable: true }))
    }
}

impl AsyncSession for Connected {
    fn prepare(&mut self, _: &Request) {
        self.marks.clear();
    }

    fn execute<'a>(&'a mut self, _: &'a Request) -> AsyncExecution<'a> {
        Box::pin(async {
            let asked = async {
                self.stream.write_u32(1).await?;
                self.stream.read_u32().await
            };
            match asked.await {
                Ok(_) => Completion::ok(4),
                Err(error) => {
                    self.is_usable = false;
                    Completion::failed(FailureCode::from_errno(error.raw_os_error().unwrap_or(0)))
                }
            }
        })
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn is_usable(&self) -> bool {
        self.is_usable
    }
}

/// Answers everybody at once, but for the two.
async fn serve(listener: TcpListener) -> io::Result<()> {
    // As many as open at once: beyond its queue of connections the kernel drops what it has acknowledged.
    // SAFETY: the descriptor is open; how many may wait in it is changed.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 1024) }, 0);
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let refused = Arc::new(AtomicBool::new(false));
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer(stream, Arc::clone(&refused)));
    }
}

async fn answer(mut stream: TcpStream, refused: Arc<AtomicBool>) -> io::Result<()> {
    let client = stream.read_u32().await?;
    if client == NEVER_OPENS {
        std::future::pending::<()>().await;
    }
    let is_deaf = client == NEVER_ANSWERS && !refused.swap(true, Ordering::Relaxed);
    stream.write_u32(client).await?;
    loop {
        let asked = stream.read_u32().await?;
        if !is_deaf {
            stream.write_u32(asked).await?;
        }
    }
}

fn measure(exchange: &Exchange, server: SocketAddr) -> io::Result<Vec<Result<DriveEnd, DriveError>>> {
    let job = |rank: u32| {
        exchange.prefault(rank);
        let deadline = if [NEVER_OPENS, NEVER_ANSWERS].contains(&rank) { SHORT } else { USUAL };
        let options = DriveOptions { client: ClientId(rank), rank, deadlines: Deadlines::from(deadline) };
        let thinks = Thinks { begun: false, left: REQUESTS, next: None };
        let open = move || -> AsyncOpening<'static> { Box::pin(Connected::open(server, rank)) };
        let client: ClientLoop<SharedRecorder, _> = ClientLoop::new(thinks, exchange.recorder(rank), options);
        Job { client, open, if_not_open: IfNotOpen::GoOn }
    };
    let workers = Workers { threads: 2, opening_at_once: 256 };
    run_async_clients((0..CLIENTS).map(job).collect(), workers, &exchange.coordinator(), &MonotonicClock)
}

/// As many descriptors as may be; whether that is enough for the connections of one side.
fn raise_descriptors() -> bool {
    let limit = getrlimit(Resource::Nofile);
    // What is not allowed is seen in the answer.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    getrlimit(Resource::Nofile).current.is_none_or(|descriptors| descriptors > u64::from(CLIENTS) + 100)
}

fn drain(exchange: &Exchange) -> Vec<Sample> {
    exchange.readers().iter().flat_map(|(ring, _)| ring.all_pending().concat()).collect()
}

#[test]
fn five_thousand_connections_of_which_one_never_opens_and_one_never_answers_lose_nothing() {
    if !raise_descriptors() {
        let name = "five_thousand_connections_of_which_one_never_opens_and_one_never_answers_lose_nothing";
        return skip(name, "5100 descriptors are needed: raise the hard limit of open files (ulimit -Hn)");
    }
    let room = Room {
        clients: CLIENTS,
        lanes: 1,
        ring_bytes: Room::usual_bytes(CLIENTS),
        samples_per_client: Some(REQUESTS + 6),
    };
    let exchange = Exchange::with_room(room).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let mut server = Child::fork("server", Orphanage::Die, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        i32::from(runtime.block_on(serve(listener)).is_err())
    })
    .unwrap();
    let mut measurer = Child::fork("measurer", Orphanage::Die, || {
        let ends = measure(&exchange, address).unwrap();
        let is_as_it_should = |(client, end): (usize, &Result<DriveEnd, DriveError>)| match end {
            Ok(end) => *end == DriveEnd::Finished && client != NEVER_OPENS as usize,
            Err(error) => matches!(error, DriveError::NoAnswer { .. }) && client == NEVER_OPENS as usize,
        };
        i32::from(!ends.iter().enumerate().all(is_as_it_should))
    })
    .unwrap();
    let sleeps = Sleeps::new(MonotonicClock.now());
    let deadlines = Role::ALL.map(|_| USUAL.into());
    let mut hangs = HangDetection::new(&exchange, deadlines, MonotonicClock.now());
    while measurer.wait(Nanoseconds::from_milliseconds(50)).is_none() {
        assert_eq!(hangs.look(&exchange, 0..CLIENTS, &sleeps, MonotonicClock.now()), []);
    }
    assert_eq!(measurer.ending(), Some(Ending::Exited(0)));
    server.end(Nanoseconds::ZERO);
    let samples = drain(&exchange);
    assert_eq!((exchange.samples_lost(), exchange.samples_recorded()), (0, samples.len() as u64));
    judge(&samples);
}

fn judge(samples: &[Sample]) {
    let told = |client, operation| -> Vec<(Outcome, Nanoseconds)> {
        let of_it =
            |sample: &&Sample| sample.attempt.client() == ClientId(client) && sample.operation() == operation;
        samples.iter().filter(of_it).map(|sample| (sample.outcome(), sample.duration)).collect()
    };
    let count = |operation, outcome| {
        samples.iter().filter(|sample| sample.operation() == operation && sample.outcome() == outcome).count()
    };
    assert_eq!(told(NEVER_OPENS, Operation::OpenSession), [(Outcome::Timeout, SHORT)]);
    assert_eq!(told(NEVER_OPENS, Operation::Stat), []);
    let asked = told(NEVER_ANSWERS, Operation::Stat);
    assert_eq!(asked[0], (Outcome::Timeout, SHORT));
    assert_eq!(asked.len() as u64, REQUESTS, "it goes on with a new connection");
    assert_eq!(told(NEVER_ANSWERS, Operation::OpenSession).len(), 2);
    let others = CLIENTS as usize - 1;
    assert_eq!(count(Operation::OpenSession, Outcome::Ok), others + 1);
    assert_eq!(count(Operation::Stat, Outcome::Ok), others * REQUESTS as usize - 1);
    assert_eq!(count(Operation::CallConnect, Outcome::Ok), others + 1);
    assert_eq!(count(Operation::Stage, Outcome::Ok), others);
}
