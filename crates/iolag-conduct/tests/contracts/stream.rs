//! A stream at a depth of four: one client reads a file with four requests in flight, and the disk holds one of them back.
//!
//! Whoever builds the real thing replaces [`Disk`] by a queue of the kernel's; what is around it stays.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use iolag_backend::{Completion, LaneSession, ObjectKey, Request};
use iolag_keeper::{Exchange, Hang, HangDetection, Room, Sleeps};
use iolag_model::{
    ClientId, Clock, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds, Operation, Outcome, Role,
    Sample, StageIndex,
};
use iolag_workload::{ClientLoop, DriveEnd, DriveOptions, Step, drive_lanes};

use crate::Walks;

const DEPTH: u32 = 4;
const BLOCK: u64 = 64 << 10;
const BLOCKS: u64 = 100;
/// Which block the disk holds back.
const HELD: u64 = 10;
const DEADLINE: Nanoseconds = Nanoseconds::from_milliseconds(200);
const PATIENCE: Duration = Duration::from_secs(60);

/// A disk with a head for each lane.
struct Disk {
    heads: Vec<Sender<Request>>,
    answers: Receiver<(u32, Completion)>,
    threads: Vec<JoinHandle<()>>,
}

impl Disk {
    fn new(file: &File, release: Receiver<()>) -> Self {
        let (answer, answers) = channel();
        let release = Arc::new(Mutex::new(release));
        let (heads, threads) = (0..DEPTH)
            .map(|lane| {
                let (head, requests) = channel::<Request>();
                let (file, answer) = (file.try_clone().expect("a descriptor"), answer.clone());
                let release = Arc::clone(&release);
                let read = move || {
                    for request in requests {
                        if request.offset / BLOCK == HELD {
                            let release = release.lock().expect("nobody panics with it");
                            release.recv().expect("it is released in the end");
                        }
                        answer.send((lane, read(&file, &request))).expect("somebody waits for the end");
                    }
                };
                (head, std::thread::spawn(read))
            })
            .unzip();
        Self { heads, answers, threads }
    }
}

fn read(file: &File, request: &Request) -> Completion {
    let mut block = vec![0; request.bytes as usize];
    match file.read_exact_at(&mut block, request.offset) {
        Ok(()) => Completion::ok(request.bytes),
        Err(error) => Completion::failed(FailureCode::from_errno(error.raw_os_error().unwrap_or(0))),
    }
}

impl LaneSession for Disk {
    fn prepare(&mut self, _: u32, _: &Request) {}

    fn submit(&mut self, lane: u32, request: &Request) {
        self.heads[lane as usize].send(*request).expect("the head waits for requests");
    }

    fn await_any(&mut self, until: MonotonicTime) -> Option<(u32, Completion)> {
        let left = until.since(MonotonicClock.now()).as_duration();
        self.answers.recv_timeout(left.min(PATIENCE)).ok()
    }
}

/// Reads the blocks in their order; knows nothing of lanes.
fn steps() -> Vec<Step> {
    let block = |number| {
        let request = Request::new(Operation::StreamRead, ObjectKey::default(), BLOCK);
        Step::Execute { request: Request { offset: number * BLOCK, ..request }, intended: None }
    };
    let begin = Step::Begin { stage: StageIndex(1), value: 0 };
    std::iter::once(begin).chain((0..BLOCKS).map(block)).collect()
}

/// The keeper's part: looks until the block that is held back has been reported, and everything else has been read beside it.
fn watch(exchange: &Exchange) -> Sample {
    let deadlines = Role::ALL.map(|_| DEADLINE.into());
    let mut hangs = HangDetection::new(exchange, deadlines, MonotonicClock.now());
    let sleeps = Sleeps::new(MonotonicClock.now());
    let begin = std::time::Instant::now();
    let mut hung = Vec::new();
    while hung.is_empty() || exchange.samples_recorded() < BLOCKS - 1 {
        assert!(begin.elapsed() < PATIENCE, "the hang is not reported, or the others wait for it");
        hung.extend(hangs.look(exchange, [0], &sleeps, MonotonicClock.now()));
        std::thread::sleep(Duration::from_millis(5));
    }
    match hung[..] {
        [Hang::Began { sample, .. }] => sample,
        _ => panic!("one block hangs, and once: {hung:?}"),
    }
}

/// How many requests were in flight at once, at most.
fn depth(reads: &[Sample]) -> usize {
    let is_at = |read: &Sample, moment| read.start <= moment && moment < read.start.after(read.duration);
    let at = |moment| reads.iter().filter(|read| is_at(read, moment)).count();
    reads.iter().map(|read| at(read.start)).max().unwrap_or(0)
}

#[test]
fn a_stream_at_depth_four_goes_on_beside_a_block_that_hangs() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![7; (BLOCK * BLOCKS) as usize]).unwrap();
    let room = Room { clients: 1, lanes: DEPTH, ring_bytes: 1 << 20, samples_per_client: Some(BLOCKS + 2) };
    let exchange = Exchange::with_room(room).unwrap();
    let (release, released) = channel();
    let options = DriveOptions { client: ClientId(0), rank: 0, deadlines: DEADLINE.into() };
    let client = ClientLoop::new(Walks(steps().into_iter()), exchange.recorder(0), options);
    let coordinator = exchange.coordinator();
    let (hung, end) = std::thread::scope(|scope| {
        let driver = scope.spawn(|| {
            let mut disk = Disk::new(&file, released);
            let end = drive_lanes(client, &mut disk, DEPTH, &coordinator, &MonotonicClock);
            drop(disk.heads);
            disk.threads.into_iter().for_each(|thread| thread.join().expect("a head ends with its requests"));
            end
        });
        let hung = watch(&exchange);
        release.send(()).unwrap();
        (hung, driver.join().unwrap())
    });
    assert_eq!(
        (end, hung.operation(), hung.outcome()),
        (DriveEnd::Finished, Operation::StreamRead, Outcome::Hung)
    );
    let samples = exchange.readers()[0].0.all_pending().concat();
    let (reads, others): (Vec<Sample>, Vec<Sample>) =
        samples.into_iter().partition(|sample| sample.operation() == Operation::StreamRead);
    assert_eq!((reads.len() as u64, others.len()), (BLOCKS, 1), "and the stage");
    assert_eq!(depth(&reads), DEPTH as usize);
    let held: Vec<&Sample> = reads.iter().filter(|read| read.outcome() != Outcome::Ok).collect();
    assert_eq!(held.len(), 1);
    assert_eq!((held[0].attempt, held[0].outcome()), (hung.attempt, Outcome::Late), "the end of what hung");
    assert_eq!(reads.last().map(|last| last.attempt), Some(hung.attempt), "overtaken by all others");
}
