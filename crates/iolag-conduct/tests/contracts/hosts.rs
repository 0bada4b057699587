//! Two hosts: each records on its own clock, and everything is read on the first one's.
//!
//! It needs a spool for what each host has recorded, and in run.json the further host, with how far its clock was ahead and how
//! wrong that may be, measured before and after; a client and a part say which host is theirs.

use std::path::Path;

use iolag_analysis::analyse_run;
use iolag_analysis::figure::{FigureChoice, Figures};
use iolag_backend::{Completion, ObjectKey, Request, Session};
use iolag_conduct::{running_state, summarise_with_figures};
use iolag_keeper::Exchange;
use iolag_model::{
    Anchor, ClientId, ClientRecord, Clock, ClockOffset, Environment, HostIndex, HostRecord, MonotonicTime,
    Nanoseconds, Operation, RunId, RunRecord, RunState, SimulatedClock, StageIndex, TargetIndex,
    TargetRecord,
};
use iolag_report::{HtmlReport, ReportedRun, write_html};
use iolag_store::{CSV_HEADER, Directory, RunDirectory, SpoolNumber, SpoolWriter, Store, TextForm};
use iolag_workload::{ClientLoop, DriveEnd, DriveOptions, Step, drive_blocking, workload};

use crate::{DEADLINE, Walks, small_bench};

const BEGIN: MonotonicTime = MonotonicTime(1_000_000_000_000);
const REQUESTS: u64 = 1000;
const TAKES: Nanoseconds = Nanoseconds::from_milliseconds(100);
/// The second host's clock is so far ahead at first, and gains 5 ms in the 100 s of the run.
const AHEAD: Nanoseconds = Nanoseconds::from_seconds(3);
const GAINS_PPM: u64 = 50;

/// A host's clock. The first host's shows the true time.
struct HostClock {
    truth: SimulatedClock,
    ahead: Nanoseconds,
    gains_ppm: u64,
}

impl Clock for HostClock {
    fn now(&self) -> MonotonicTime {
        let truth = self.truth.now();
        let gained = Nanoseconds(truth.since(BEGIN).0 * self.gains_ppm / 1_000_000);
        truth.after(self.ahead).after(gained)
    }

    fn sleep_until(&self, moment: MonotonicTime) {
        while self.now() < moment {
            self.truth.advance(Nanoseconds(1 + moment.since(self.now()).0 / 2));
        }
    }

    fn rest_until(&self, moment: MonotonicTime) {
        self.sleep_until(moment);
    }
}

/// Answers after a while, and knows when it was truly asked.
struct Server {
    truth: SimulatedClock,
    asked: Vec<MonotonicTime>,
}

impl Session for Server {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, _request: &Request) -> Completion {
        self.asked.push(self.truth.now());
        self.truth.advance(TAKES);
        Completion::ok(0)
    }
}

/// How far another host's clock is ahead: it was read at some moment between the question and the answer.
fn measure_offset(first: &HostClock, other: &HostClock) -> ClockOffset {
    let asked = first.now();
    first.truth.advance(Nanoseconds(30_000));
    let at = other.now();
    first.truth.advance(Nanoseconds(50_000));
    let error_ns = Nanoseconds(first.now().since(asked).0 / 2);
    ClockOffset { at, ahead_ns: at.0 as i64 - asked.after(error_ns).0 as i64, error_ns }
}

/// What a host does: its client, and a spool of what that has recorded. When it truly asked.
fn run_on(host: HostIndex, clock: &HostClock, spool: &Directory, run: &RunId) -> Vec<MonotonicTime> {
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    // Numbers of clients are those of the run, places in the exchange those of the host.
    let drive = DriveOptions { client: ClientId(host.0.into()), rank: 0, deadlines: DEADLINE.into() };
    let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
    let mut steps = vec![Step::Execute { request, intended: None }; REQUESTS as usize];
    steps.insert(0, Step::Begin { stage: StageIndex(1), value: 0 });
    let client = ClientLoop::new(Walks(steps.into_iter()), exchange.recorder(0), drive);
    let mut server = Server { truth: clock.truth.clone(), asked: Vec::new() };
    assert_eq!(drive_blocking(client, &mut server, &exchange.coordinator(), clock), DriveEnd::Finished);
    let mut writer = SpoolWriter::create(spool, run, SpoolNumber(host.0.into())).unwrap();
    writer.append(exchange.readers()[0].0.pending()).unwrap();
    writer.finish().unwrap();
    server.asked
}

/// A client on each host, both in one directory.
fn record() -> RunRecord {
    let spec = small_bench(&["/shared"], REQUESTS);
    let client = |host: u16| ClientRecord {
        host: HostIndex(host),
        ..ClientRecord::new(ClientId(host.into()), TargetIndex(0), host.into())
    };
    RunRecord {
        environment: Environment { host: "node1".to_owned(), ..Environment::default() },
        targets: vec![TargetRecord::new("/shared", "posix")],
        clients: vec![client(0), client(1)],
        stages: workload(&spec.workload).stages(),
        ..RunRecord::new(RunId::new("20261127-120000", 1).unwrap(), spec, running_state())
    }
}

/// Both hosts' clocks over one true time.
fn clocks(truth: &SimulatedClock) -> [HostClock; 2] {
    let clock = |ahead, gains_ppm| HostClock { truth: truth.clone(), ahead, gains_ppm };
    [clock(Nanoseconds::ZERO, 0), clock(AHEAD, GAINS_PPM)]
}

/// A stored run, its record, and by host when its client truly asked.
fn run(root: &Path) -> (RunDirectory, RunRecord, [Vec<MonotonicTime>; 2]) {
    let mut record = record();
    let run = Store::open(root).unwrap().create_run(&record).unwrap();
    let spool = run.create_spool().unwrap();
    let truth = SimulatedClock::starting_at(BEGIN);
    let [first, second] = clocks(&truth);
    let anchor = || Anchor { monotonic_ns: first.now(), boottime_ns: 0, realtime_ns: first.now().0 };
    record.anchors.push(anchor());
    let before = measure_offset(&first, &second);
    // Both at the same true time.
    let asked = [0, 1].map(|host: u16| {
        let clock = &clocks(&SimulatedClock::starting_at(truth.now()))[usize::from(host)];
        run_on(HostIndex(host), clock, &spool, run.id())
    });
    truth.advance(Nanoseconds(TAKES.0 * (REQUESTS + 1)));
    let after = measure_offset(&first, &second);
    record.anchors.push(anchor());
    record.further_hosts.push(HostRecord::new("node2", vec![before, after]));
    record.state = RunState::Complete;
    run.finish(&mut record, &spool).unwrap();
    (run, record, asked)
}

#[test]
fn what_two_hosts_recorded_is_read_and_exported_on_the_first_ones_clock_within_the_stated_error() {
    let root = tempfile::tempdir().unwrap();
    let (run, record, asked) = run(root.path());
    assert_eq!(record.parts.iter().map(|part| part.host.0).collect::<Vec<_>>(), [0, 1]);
    let mut truly_asked = asked.map(Vec::into_iter);
    let mut starts = Vec::new();
    for stored in run.samples().unwrap() {
        let sample = stored.unwrap().sample;
        starts.push(sample.start.0);
        if sample.operation() == Operation::Stat {
            let host = record.clients[sample.attempt.client().0 as usize].host;
            let truth = truly_asked[usize::from(host.0)].next().unwrap();
            let error = record.further_host(host).map_or(Nanoseconds::ZERO, HostRecord::error_max);
            assert!(sample.start.0.abs_diff(truth.0) <= error.0, "{sample:?} was asked at {truth:?}");
        }
    }
    assert!(truly_asked.iter_mut().all(|left| left.next().is_none()), "all were found");
    let mut csv = Vec::new();
    run.export_text(TextForm::Csv, &mut csv, Path::new("samples.csv")).unwrap();
    let place = CSV_HEADER.split(',').position(|column| column == "start_ns").unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let exported =
        csv.lines().skip(1).map(|line| line.split(',').nth(place).unwrap().parse::<u64>().unwrap());
    assert!(exported.eq(starts));
}

#[test]
fn the_report_draws_both_hosts_on_one_axis_and_names_the_second() {
    let root = tempfile::tempdir().unwrap();
    let (run, record, _) = run(root.path());
    let (summaries, figures) = summarise_with_figures(&run, &record, &FigureChoice::default()).unwrap();
    assert_eq!(figures.counts.attempts, 2 * REQUESTS);
    assert_eq!(figures.counts.clamped, 0, "nothing is before or after the run");
    let analysis = analyse_run(&record, &summaries);
    let runs = [ReportedRun { record: &record, analysis: &analysis }];
    let report = HtmlReport { title: None, runs: &runs, comparison: None, written_realtime_ns: None };
    let mut page = Vec::new();
    write_html(&report, Figures::new(vec![figures], Vec::new()), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<dd>node2</dd>"), "its line among the facts");
    let method = "Times of all hosts are on the clock of node1, to which theirs belong within 40.0\u{a0}µs where they were compared.";
    assert!(page.contains(method) || page.contains(&method.replace('\u{a0}', " ")));
}
