//! Iolag's side: the three roles of a run, with the backend of the target.

#[path = "../writer/mod.rs"]
mod writer;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use iolag_backend::conformance::maker;
use iolag_backend::{
    AsyncOpening, Backend, NameTable, ObjectKey, Request, SessionOptions, Target, WORKING_NAME,
};
use iolag_keeper::{Child, Ending, Exchange, HangDetection, Orphanage, Room, Sleeps};
use iolag_model::{
    ClientId, Clock, Coordinator, MonotonicClock, MonotonicTime, Nanoseconds, Operation, Role, StageIndex,
};
use iolag_workload::{
    Client, ClientLoop, Done, DriveOptions, IfNotOpen, Job, Step, Workers, run_async_clients,
};

use super::load::{Load, OBJECT_BYTES, OBJECTS, What, workers};
use super::window::{Counted, Measured, look};
use writer::write;

const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(600);
/// Sessions that one worker opens at once.
const AT_ONCE: usize = 128;

/// Measures with keeper, measurer and writer.
pub fn measure(load: &Load) -> Result<Measured> {
    let clients = load.clients;
    let exchange = Exchange::with_room(Room {
        clients,
        lanes: 1,
        ring_bytes: Room::usual_bytes(clients),
        samples_per_client: None,
    })?;
    let place = tempfile::tempdir()?;
    let told = place.path().join("measured");
    let store = place.path().join("store");
    let keeper = std::process::id();
    let mut writer = Child::fork("writer", Orphanage::Die, || i32::from(write(&exchange, &store).is_err()))?;
    let processes = [keeper, writer.id()];
    let mut measurer = Child::fork("measurer", Orphanage::Die, || {
        let text = ask(&exchange, load, processes).map_or_else(
            |error| format!("{error:#}"),
            |measured| {
                format!("{} {} {}", measured.requests_per_second, measured.processor_ns, measured.requests)
            },
        );
        i32::from(fs::write(&told, text).is_err())
    })?;
    let sleeps = Sleeps::new(MonotonicClock.now());
    let deadlines = Role::ALL.map(|_| DEADLINE.into());
    let mut hangs = HangDetection::new(&exchange, deadlines, MonotonicClock.now());
    while measurer.wait(hangs.pause()).is_none() {
        let hung = hangs.look(&exchange, 0..clients, &sleeps, MonotonicClock.now());
        ensure!(hung.is_empty(), "a client hangs");
    }
    let ending = measurer.ending();
    ensure!(ending == Some(Ending::Exited(0)), "the measurer failed: {ending:?}");
    exchange.set_measured();
    ensure!(writer.wait(DEADLINE) == Some(Ending::Exited(0)), "the writer failed");
    read(&told)
}

fn read(told: &Path) -> Result<Measured> {
    let text = fs::read_to_string(told)?;
    let numbers: Vec<f64> = text.split(' ').map_while(|word| word.parse().ok()).collect();
    match numbers[..] {
        [requests_per_second, processor_ns, requests] => {
            Ok(Measured { requests_per_second, processor_ns, requests: requests as u64 })
        }
        _ => Err(anyhow!(text)),
    }
}

/// As the measurer: the clients, and a look at them.
fn ask(exchange: &Exchange, load: &Load, [keeper, writer]: [u32; 2]) -> Result<Measured> {
    let target = Target::parse(&load.target)?;
    // To its end this process has one backend.
    let backend: &'static dyn Backend = Box::leak(target.backend(WORKING_NAME, Arc::new(MonotonicClock))?);
    if load.what == What::Objects {
        backend.create_place(&maker())?;
    }
    let counted = Arc::new(Counted::of(load.clients));
    let is_over = Arc::new(AtomicBool::new(false));
    let jobs = (0..load.clients).map(|rank| job(exchange, backend, load.what, rank, (&counted, &is_over)));
    let jobs: Vec<_> = jobs.collect();
    let (coordinator, seconds) = (exchange.coordinator(), load.seconds);
    let processes = [keeper, writer, std::process::id()];
    let looks = {
        let (coordinator, counted, is_over) = (exchange.coordinator(), counted, is_over);
        std::thread::spawn(move || {
            while coordinator.meeting(0, 1).is_none() && !coordinator.is_stopped(0) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let measured = look(&processes, &counted, seconds);
            is_over.store(true, Ordering::Relaxed);
            coordinator.stop_all();
            measured
        })
    };
    let workers = Workers { threads: workers(load.clients), opening_at_once: AT_ONCE };
    let ends = run_async_clients(jobs, workers, &coordinator, &MonotonicClock)?;
    for end in ends {
        end?;
    }
    let measured = looks.join().map_err(|_| anyhow!("who looks has panicked"))??;
    if load.what == What::Objects {
        let left = backend.remove_place()?;
        ensure!(left.is_empty(), "{left:?} is left");
    }
    Ok(measured)
}

type Opens = Box<dyn Fn() -> AsyncOpening<'static> + Send>;

fn job(
    exchange: &Exchange,
    backend: &'static dyn Backend,
    what: What,
    rank: u32,
    (counted, is_over): (&Arc<Counted>, &Arc<AtomicBool>),
) -> Job<iolag_keeper::SharedRecorder, Asks, Opens> {
    exchange.prefault(rank);
    let options = DriveOptions { client: ClientId(rank), rank, deadlines: DEADLINE.into() };
    let asks = Asks {
        what,
        rank,
        made: if what == What::Objects { 0 } else { OBJECTS },
        asked: 0,
        begun: false,
        counted: Arc::clone(counted),
        is_over: Arc::clone(is_over),
    };
    let mut names = NameTable::default();
    // The object that the URL itself names.
    names.push("");
    let bytes = match what {
        What::Get { bytes } => bytes,
        What::Objects | What::Idle => OBJECT_BYTES,
    };
    let session: &'static SessionOptions = Box::leak(Box::new(SessionOptions {
        names: (what != What::Objects).then(|| Arc::new(names)),
        ..SessionOptions::new(ClientId(rank), rank, 1, bytes)
    }));
    let open = move || backend.open_async_session(session).expect("it is a server");
    let client = ClientLoop::new(asks, exchange.recorder(rank), options);
    Job { client, open: Box::new(open), if_not_open: IfNotOpen::StopAll }
}

/// Makes its objects, begins with all others, and asks until it is over.
struct Asks {
    what: What,
    rank: u32,
    made: u64,
    asked: u64,
    begun: bool,
    counted: Arc<Counted>,
    is_over: Arc<AtomicBool>,
}

impl Asks {
    fn request(&self) -> Request {
        const CYCLE: [Operation; 4] =
            [Operation::Stat, Operation::Read, Operation::Delete, Operation::Create];
        match self.what {
            What::Get { bytes } => Request::new(Operation::Read, ObjectKey::named(0), bytes),
            What::Idle => Request::new(Operation::Stat, ObjectKey::named(0), 0),
            What::Objects => {
                let (operation, index) = (CYCLE[(self.asked % 4) as usize], self.asked / 4);
                let ahead = if operation == Operation::Create { OBJECTS } else { 0 };
                Request::new(operation, self.key(index + ahead), OBJECT_BYTES)
            }
        }
    }

    fn key(&self, index: u64) -> ObjectKey {
        ObjectKey { rank: self.rank, index, ..ObjectKey::default() }
    }
}

impl Client for Asks {
    fn next(&mut self, now: MonotonicTime) -> Step {
        if self.made < OBJECTS {
            self.made += 1;
            let request = Request::new(Operation::Create, self.key(self.made - 1), OBJECT_BYTES);
            return Step::Execute { request, intended: None };
        }
        if !std::mem::replace(&mut self.begun, true) {
            return Step::Begin { stage: StageIndex(1), value: 0 };
        }
        if self.is_over.load(Ordering::Relaxed) {
            return Step::Finished;
        }
        if self.what == What::Idle && self.asked > 0 {
            return Step::Pause { until: now.after(DEADLINE) };
        }
        let request = self.request();
        self.asked += 1;
        Step::Execute { request, intended: None }
    }

    fn completed(&mut self, _request: &Request, done: &Done) {
        let is_cut = self.is_over.load(Ordering::Relaxed);
        self.counted.count(self.rank, is_cut || done.completion.is_ok());
    }
}
