//! Nothing of iolag's is allocated between the two readings of the clock: an asynchronous client asks a real server over a
//! socket, waits for it, and this program counts what is allocated meanwhile.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use iolag_backend::{
    AsyncExecution, AsyncOpening, AsyncSession, BackendError, Completion, ObjectKey, Request,
};
use iolag_fixtures::Alone;
use iolag_model::{
    Activity, AttemptId, ClientId, Detail, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds,
    Operation, Outcome, Recorder, Sample, StageIndex,
};
use iolag_workload::{
    Client, ClientLoop, Done, DriveEnd, DriveOptions, IfNotOpen, Job, Step, Workers, run_async_clients,
};
use tokio::io::Interest;
use tokio::net::TcpStream;

const OPERATIONS: u64 = 200;

/// Counts, of the thread that asks.
struct Counting;

thread_local! {
    static ALLOCATED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: everything is forwarded to the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn allocated() -> u64 {
    ALLOCATED.with(std::cell::Cell::get)
}

/// What was allocated and freed between the two readings of each operation. There is one client, so nothing is another's.
struct Between {
    inside: Arc<Mutex<Vec<u64>>>,
    begun: u64,
    clock: Looking,
}

/// A clock that notes how much was allocated when it was read.
#[derive(Clone)]
struct Looking(Arc<AtomicU64>);

impl iolag_model::Clock for Looking {
    fn now(&self) -> MonotonicTime {
        let now = MonotonicClock.now();
        self.0.store(allocated(), Ordering::Relaxed);
        now
    }

    fn sleep_until(&self, moment: MonotonicTime) {
        MonotonicClock.sleep_until(moment);
    }

    fn rest_until(&self, moment: MonotonicTime) {
        MonotonicClock.rest_until(moment);
    }
}

impl Recorder for Between {
    fn set_lane(&mut self, _: u32) {}

    fn has_room(&mut self) -> bool {
        true
    }

    fn announce(&mut self, _: AttemptId, _: Operation, _: StageIndex, _: MonotonicTime) {}

    fn begin(&mut self, _: MonotonicTime) {
        self.begun = self.clock.0.load(Ordering::Relaxed);
    }

    fn record(&mut self, sample: Sample) {
        if sample.operation() == Operation::Stat {
            assert_eq!(sample.outcome(), Outcome::Ok);
            let until = self.clock.0.load(Ordering::Relaxed);
            self.inside.lock().expect("nobody panics with it").push(until - self.begun);
        }
    }

    fn record_detail(&mut self, _: &Detail) {}

    fn offer_detail(&mut self, _: &Detail) {}

    fn set_activity(&mut self, _: Activity) {}
}

struct Asks(u64);

impl Client for Asks {
    fn next(&mut self, _: MonotonicTime) -> Step {
        if self.0 == 0 {
            return Step::Finished;
        }
        self.0 -= 1;
        Step::Execute { request: Request::new(Operation::Stat, ObjectKey::default(), 0), intended: None }
    }

    fn completed(&mut self, _: &Request, _: &Done) {}
}

/// Writes a byte and waits for one.
struct Echoed {
    stream: TcpStream,
    waste: Waste,
}

/// Whether a session allocates in its request: the count has to show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waste {
    None,
    SomeBytes,
}

impl AsyncSession for Echoed {
    fn prepare(&mut self, _: &Request) {}

    fn execute<'a>(&'a mut self, _: &'a Request) -> AsyncExecution<'a> {
        Box::pin(async {
            if self.waste == Waste::SomeBytes {
                drop(std::hint::black_box(vec![1_u8]));
            }
            match self.echo().await {
                Ok(()) => Completion::ok(1),
                Err(_) => Completion::failed(FailureCode::PROTOCOL),
            }
        })
    }
}

impl Echoed {
    async fn echo(&self) -> std::io::Result<()> {
        let mut byte = [1];
        self.stream.async_io(Interest::WRITABLE, || self.stream.try_write(&byte)).await?;
        let read = self.stream.async_io(Interest::READABLE, || self.stream.try_read(&mut byte)).await?;
        assert_eq!(read, 1);
        Ok(())
    }
}

/// A server that answers each client on a thread of its own, some of them late.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || {
                let (mut stream, mut byte) = (stream.expect("somebody connects"), [0]);
                let mut asked = 0;
                while stream.read(&mut byte).is_ok_and(|read| read == 1) {
                    asked += 1;
                    if asked % 50 == 0 {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    if stream.write_all(&byte).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

/// What was allocated and freed within each operation of one client on one worker.
fn inside(waste: Waste) -> Vec<u64> {
    let address = serve();
    let clock = Looking(Arc::default());
    let inside = Arc::new(Mutex::new(Vec::new()));
    let options =
        DriveOptions { client: ClientId(0), rank: 0, deadlines: Nanoseconds::from_seconds(60).into() };
    let recorder = Between { inside: Arc::clone(&inside), begun: 0, clock: clock.clone() };
    let open = move || -> AsyncOpening<'static> {
        Box::pin(async move {
            let stream = TcpStream::connect(address)
                .await
                .map_err(|_| BackendError::NoWorkingSet { path: address.to_string() })?;
            Ok(Box::new(Echoed { stream, waste }) as Box<dyn AsyncSession>)
        })
    };
    let job = Job {
        client: ClientLoop::new(Asks(OPERATIONS), recorder, options),
        open,
        if_not_open: IfNotOpen::StopAll,
    };
    let workers = Workers { threads: 1, opening_at_once: 1 };
    let ends =
        run_async_clients(vec![job], workers, &Alone::default(), &clock).expect("a worker can be made");
    assert!(matches!(ends[..], [Ok(DriveEnd::Finished)]), "{ends:?}");
    let inside = inside.lock().expect("nobody panics with it");
    assert_eq!(inside.len() as u64, OPERATIONS);
    inside.clone()
}

#[test]
fn nothing_is_allocated_or_freed_while_a_request_is_measured() {
    assert_eq!(inside(Waste::None), vec![0; OPERATIONS as usize]);
}

#[test]
fn what_a_session_allocates_is_seen() {
    assert_eq!(inside(Waste::SomeBytes), vec![2; OPERATIONS as usize]);
}
