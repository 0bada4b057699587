//! A client with a queue of the kernel's, one of whose requests hangs: who waits for it is a worker of the kernel, not the client.

use iolag_backend::{Backend, ObjectKey, PosixBackend, Request, SessionOptions, WORKING_NAME, ring_refusal};
use iolag_fixtures::{FuseCall, FuseMount, current_test, skip};
use iolag_keeper::{Child, Exchange, Orphanage, Room, evidence};
use iolag_model::{ClientId, MonotonicClock, MonotonicTime, Operation, Outcome, Sample};
use iolag_workload::{Client, ClientLoop, Done, DriveOptions, IfNotOpen, Job, Opened, Step, run_process};

use super::{DEADLINE, LIMIT, drain, wait_until};

const LANES: u32 = 4;
const BLOCK: u64 = 4096;

/// Does one after the other; what is no block waits for all before it.
struct Walks {
    left: std::vec::IntoIter<Request>,
    flying: u32,
}

impl Client for Walks {
    fn next(&mut self, now: MonotonicTime) -> Step {
        let Some(request) = self.left.as_slice().first() else { return Step::Finished };
        if self.flying > 0 && request.operation != Operation::StreamRead {
            return Step::Pause { until: now };
        }
        self.flying += 1;
        self.left.next().map_or(Step::Finished, |request| Step::Execute { request, intended: None })
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {
        self.flying -= 1;
    }
}

fn steps() -> Vec<Request> {
    let of =
        |operation, offset, bytes| Request { offset, ..Request::new(operation, ObjectKey::default(), bytes) };
    let mut steps: Vec<Request> = [
        (Operation::MakeDirectory, 0),
        (Operation::StreamCreate, 0),
        (Operation::StreamWrite, LANES as u64 * BLOCK),
        (Operation::StreamCloseWritten, 0),
        (Operation::StreamOpen, 0),
    ]
    .map(|(operation, bytes)| of(operation, 0, bytes))
    .into();
    steps.extend((0..u64::from(LANES) - 1).map(|number| of(Operation::StreamRead, number * BLOCK, BLOCK)));
    steps
}

#[test]
fn what_hangs_in_a_queue_is_told_with_the_worker_that_waits_and_ends_when_it_is_answered() {
    if let Some(code) = ring_refusal() {
        return skip(&current_test(), &format!("no io_uring: {code}"));
    }
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    mount.hang(FuseCall::Read, "*");
    let room = Room { clients: 1, lanes: LANES, ring_bytes: 1 << 20, samples_per_client: None };
    let exchange = Exchange::with_room(room).unwrap();
    let backend = PosixBackend::new(mount.path().to_owned(), WORKING_NAME).unwrap();
    backend.create_place(&iolag_backend::conformance::maker()).unwrap();
    let mut measurer = Child::fork("measurer", Orphanage::Die, || {
        let options = DriveOptions { client: ClientId(0), rank: 0, deadlines: DEADLINE.into() };
        let session = SessionOptions::new(ClientId(0), 0, 1, BLOCK * u64::from(LANES));
        let client = Walks { left: steps().into_iter(), flying: 0 };
        let job = Job {
            client: ClientLoop::new(client, exchange.recorder(0), options),
            open: || {
                let session = backend.open_lanes(&session, LANES).expect("a directory has a queue")?;
                Ok(Opened::Lanes { session, lanes: LANES })
            },
            if_not_open: IfNotOpen::StopAll,
        };
        i32::from(run_process(job, &exchange.coordinator(), &MonotonicClock).is_err())
    })
    .unwrap();
    assert!(mount.wait_until_held(1, LIMIT.as_duration()), "the request never reached the file system");
    let (process, thread) = exchange.thread(0).unwrap();
    let is_told = || {
        let told = evidence(process, thread);
        // The client waits for its queue; a worker waits for the file system.
        told.split("; worker ").skip(1).any(|worker| worker.contains("waits in"))
    };
    wait_until("the worker's wait", is_told);
    assert!(
        !evidence(process, thread).contains("waits in io_wq_worker"),
        "nobody asks where idle workers wait"
    );
    mount.release();
    assert!(measurer.wait(LIMIT).is_some(), "it ends when the file system answers");
    let reads: Vec<Sample> =
        drain(&exchange).into_iter().filter(|sample| sample.operation() == Operation::StreamRead).collect();
    assert_eq!(reads.len() as u32, LANES - 1);
    assert!(reads.iter().all(|read| read.outcome() == Outcome::Ok && read.bytes == BLOCK));
}
