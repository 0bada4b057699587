//! Who answered: sessions that know which servers stand behind a name. Their tags mean the same in all samples of a run, whichever of
//! its measurers took them, and have their names in run.json also where a measurer was killed.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use iolag_backend::{Completion, Descriptors, ObjectKey, Request, Session, SessionOptions};
use iolag_conduct::{Conducted, GroupPlan, running_state, tags_of_run};
use iolag_keeper::{Exchange, Outbox};
use iolag_model::{
    Anchor, ClientId, ClientRecord, MonotonicClock, Operation, RunId, RunRecord, RunState, TagKind,
    TargetIndex, TargetRecord,
};
use iolag_store::{CSV_HEADER, RunDirectory, TextForm};
use iolag_workload::{ClientLoop, DriveOptions, IfNotOpen, Job, Step, run_threads};
use rustix::process::{Signal, getpid, kill_process};

use crate::{DEADLINE, Walks, conducted, small_bench};

const CLIENTS: u32 = 3;
/// Whose process is killed, at this request.
const KILLED: u32 = 2;
const KILLED_AT: usize = 5;
const REQUESTS: usize = 20;

/// Servers that answer in turn, each with its number.
struct Balanced {
    servers: Vec<(u64, u16)>,
    asked: usize,
    is_killed: bool,
}

impl Session for Balanced {
    fn prepare(&mut self, _: &Request) {}

    fn execute(&mut self, _: &Request) -> Completion {
        if self.is_killed && self.asked == KILLED_AT {
            kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
        }
        let (number, tag) = self.servers[self.asked % self.servers.len()];
        self.asked += 1;
        Completion::ok(number).tagged(tag)
    }
}

fn name_of(server: u64) -> String {
    format!("node{server}:80")
}

fn record() -> RunRecord {
    let spec = small_bench(&["balanced"], REQUESTS as u64);
    RunRecord {
        targets: vec![TargetRecord::new("balanced", "toy")],
        clients: (0..CLIENTS).map(|rank| ClientRecord::new(ClientId(rank), TargetIndex(0), rank)).collect(),
        anchors: vec![Anchor::take()],
        ..RunRecord::new(RunId::new("20261127-120000", 1).unwrap(), spec, running_state())
    }
}

/// A measurer whose clients know these servers.
fn measurer(clients: Range<u32>, servers: Range<u64>) -> GroupPlan<'static> {
    let (members, name) = (clients.clone().collect(), "balanced".to_owned());
    let measure = move |exchange: &Exchange, _: Outbox| {
        let tags = Arc::new(tags_of_run(exchange));
        let job = |rank| {
            let drive = DriveOptions { client: ClientId(rank), rank, deadlines: DEADLINE.into() };
            let request = Request::new(Operation::Read, ObjectKey::default(), 0);
            let steps = vec![Step::Execute { request, intended: None }; REQUESTS];
            let tags = Some(Arc::clone(&tags));
            let options = SessionOptions { tags, ..SessionOptions::new(ClientId(rank), rank, 1, 0) };
            let servers = servers.clone();
            Job {
                client: ClientLoop::new(Walks(steps.into_iter()), exchange.recorder(rank), drive),
                open: move || {
                    let tagged = |number| (number, options.tag(TagKind::Server, &name_of(number)));
                    let servers = servers.map(tagged).collect();
                    Ok(Box::new(Balanced { servers, asked: 0, is_killed: rank == KILLED })
                        as Box<dyn Session>)
                },
                if_not_open: IfNotOpen::StopAll,
            }
        };
        let jobs = clients.clone().map(job).collect();
        run_threads(jobs, Descriptors::Private, &exchange.coordinator(), &MonotonicClock);
        0
    };
    GroupPlan { name, clients: members, measure: Box::new(measure) }
}

fn run(root: &Path) -> (Conducted, RunDirectory) {
    let conducted =
        conducted(record(), vec![measurer(0..KILLED, 0..2), measurer(KILLED..CLIENTS, 1..3)], root);
    let run = RunDirectory::open(&conducted.run).unwrap();
    (conducted, run)
}

#[test]
fn a_tag_means_the_same_in_all_samples_of_a_run_also_of_a_measurer_that_was_killed() {
    let root = tempfile::tempdir().unwrap();
    let (conducted, run) = run(root.path());
    assert!(matches!(conducted.stored.record.state, RunState::Incomplete { .. }), "one was killed");
    let tags = run.record().unwrap().tags;
    assert!(tags.iter().zip(1..).all(|(record, tag)| (record.tag, record.kind) == (tag, TagKind::Server)));
    let mut names: Vec<_> = tags.iter().map(|record| record.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names, ["node0:80", "node1:80", "node2:80"]);
    let mut answered = [0; CLIENTS as usize];
    for stored in run.samples().unwrap() {
        let sample = stored.unwrap().sample;
        // Of what its process was killed in nobody knows who would have answered.
        if let Some(record) = tags.iter().find(|record| record.tag == sample.tag) {
            answered[sample.attempt.client().0 as usize] += 1;
            assert_eq!(record.name, name_of(sample.bytes), "{sample:?}");
        }
    }
    assert_eq!(answered, [REQUESTS, REQUESTS, KILLED_AT]);
}

#[test]
fn exports_have_the_numbers_and_parquet_their_names() {
    let root = tempfile::tempdir().unwrap();
    let (conducted, run) = run(root.path());
    let record = &conducted.stored.record;
    let mut csv = Vec::new();
    run.export_text(TextForm::Csv, &mut csv, Path::new("samples.csv")).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let place = |name| CSV_HEADER.split(',').position(|column| column == name).unwrap();
    let (tag, bytes) = (place("tag"), place("bytes"));
    let mut named = 0;
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let found = record.tags.iter().find(|record| fields[tag] == record.tag.to_string());
        named +=
            usize::from(found.is_some_and(|record| record.name == name_of(fields[bytes].parse().unwrap())));
    }
    assert_eq!(named, 2 * REQUESTS + KILLED_AT);
    let told = serde_json::to_string(&record.tags).unwrap();
    let part = std::fs::read(run.path().join(&record.parts[0].file)).unwrap();
    assert!(part.windows(told.len()).any(|bytes| bytes == told.as_bytes()), "{told} is in the part");
}
