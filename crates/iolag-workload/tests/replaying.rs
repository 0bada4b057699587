//! Copies of small programs, made of texts that say one thing each, on a real directory.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use iolag_fixtures::{Alone, Recorded};
use iolag_model::{
    CacheState, ClientId, Clock, MonotonicClock, MonotonicTime, Nanoseconds, Operation, Outcome, Phase,
    ReplayMap, ReplaySpec, ReplayTiming, Sample, StageIndex, StageRecord,
};
use iolag_trace::{Beginning, Repeater, Repetition, Scope, StraceReader};
use iolag_workload::{
    CopyClients, DriveEnd, DriveOptions, MapRoot, Paths, ProcessorClocks, ProcessorTimes, ReplayCopy,
    ReplayPace, run_copy,
};

/// All tasks record in one place.
struct Tasks(Recorded);

impl CopyClients for Tasks {
    type Recorder = Recorded;

    fn recorder(&self, _: u32) -> Recorded {
        self.0.clone()
    }

    fn options(&self, client: u32) -> DriveOptions {
        let deadlines = Nanoseconds::from_seconds(60).into();
        DriveOptions { client: ClientId(client), rank: client, deadlines }
    }

    fn is_expected(&self, _: u32) -> bool {
        true
    }
}

struct Still;

impl ProcessorClocks for Still {
    fn of_thread(&self) -> Nanoseconds {
        Nanoseconds(1)
    }

    fn of_others(&self) -> Nanoseconds {
        Nanoseconds(0)
    }
}

fn repetition(text: &str) -> Repetition {
    let map = ReplayMap { from: "/site".into(), to: "/x".into() };
    let beginning = Beginning { directory: Some(b"/site".to_vec()), ..Beginning::default() };
    let repeater = Repeater::new(Scope::new(&[map], &[]).unwrap(), None);
    let mut reader = StraceReader::new(&beginning, repeater);
    reader.feed(text.as_bytes()).unwrap();
    reader.finish().unwrap().0.finish(Nanoseconds(0))
}

fn spec(timing: ReplayTiming) -> ReplaySpec {
    ReplaySpec {
        trace: "x".into(),
        program: None,
        base: "/".into(),
        maps: Vec::new(),
        only: Vec::new(),
        timing,
        speed: 1.0,
        stagger_ns: Nanoseconds::ZERO,
        tasks: 1,
        items_max: 1,
        traced_ns: Nanoseconds::ZERO,
        tracing_ns: Nanoseconds::ZERO,
        coverage: iolag_model::ReplayCoverage::default(),
        terms: iolag_model::JobTerms::NONE,
        kill_after_ns: None,
        own: None,
    }
}

/// Replays a text in a directory: how it ended, what was recorded.
fn replay(text: &str, directory: &Path, spec: &ReplaySpec) -> (DriveEnd, Vec<Sample>, Vec<String>) {
    replay_by(0, text, directory, spec)
}

/// The same by the copy with this number.
fn replay_by(
    rank: u32,
    text: &str,
    directory: &Path,
    spec: &ReplaySpec,
) -> (DriveEnd, Vec<Sample>, Vec<String>) {
    let repetition = repetition(text);
    let root = MapRoot::open(directory).unwrap();
    let stages = [StageRecord { stage: StageIndex(0), phase: Phase::Benchmark, iteration: 0 }];
    let copy = ReplayCopy {
        paths: Paths::new(vec![root], &repetition.places),
        repetition: &repetition,
        pace: ReplayPace::new(spec, rank),
        rank,
        followers: 1,
        caches: (CacheState::Asis, None),
        stages: Arc::from(stages),
        processors: ProcessorTimes::new(1, Still),
        payload: None,
    };
    let recorded = Recorded::default();
    let end = run_copy(&copy, &Tasks(recorded.clone()), &Alone::default(), &MonotonicClock).unwrap();
    let samples = std::mem::take(&mut *recorded.samples.lock().unwrap());
    let details = recorded.details.lock().unwrap().iter().map(|detail| detail.text.clone()).collect();
    (end, samples, details)
}

fn of(samples: &[Sample], operation: Operation) -> Vec<&Sample> {
    samples.iter().filter(|sample| sample.operation() == operation).collect()
}

fn site() -> tempfile::TempDir {
    let site = tempfile::tempdir().unwrap();
    fs::create_dir(site.path().join("lib")).unwrap();
    fs::write(site.path().join("lib/a"), vec![7; 5000]).unwrap();
    fs::write(site.path().join("b"), "0123456789").unwrap();
    site
}

const FAMILY: &str = "\
1 openat(AT_FDCWD, \"lib\", O_RDONLY|O_DIRECTORY|O_CLOEXEC) = 3
1 newfstatat(3, \"a\", {st_mode=S_IFREG|0644, st_size=5000, ...}, 0) = 0
1 getdents64(3, [], 32768) = 72
1 openat(AT_FDCWD, \"b\", O_RDONLY) = 4
1 clone(child_stack=NULL, flags=SIGCHLD) = 2
2 read(4, \"\"..., 4) = 4
2 close(3) = 0
2 execve(\"/site/absent\", [\"x\"], 0x1) = -1 ENOENT (No such file or directory)
2 openat(AT_FDCWD, \"lib/a\", O_RDONLY) = 3
2 read(3, \"\"..., 8192) = 5000
2 read(3, \"\"..., 8192) = 0
2 exit_group(0) = ?
2 +++ exited with 0 +++
1 wait4(-1, NULL, 0, NULL) = 2
1 read(4, \"\"..., 100) = 6
1 fstat(3, {st_mode=S_IFDIR|0755, ...}) = 0
1 stat(\"/site/never\", 0x1) = -1 ENOENT (No such file or directory)
1 exit_group(0) = ?
1 +++ exited with 0 +++
";

#[test]
fn a_family_is_repeated_in_its_order_with_its_descriptors() {
    let site = site();
    for _ in 0..20 {
        let (end, samples, details) = replay(FAMILY, site.path(), &spec(ReplayTiming::Asap));
        assert_eq!((end, details.as_slice()), (DriveEnd::Finished, &[][..]));
        assert!(samples.iter().all(|sample| sample.outcome() == Outcome::Ok), "{samples:?}");
        // The child reads 4 bytes of what both have open, so that 6 are left for its parent.
        let reads: Vec<(u32, u64)> = of(&samples, Operation::CallRead)
            .iter()
            .map(|read| (read.attempt.client().0, read.bytes))
            .collect();
        assert_eq!(reads, [(1, 4), (1, 5000), (1, 0), (0, 6)]);
        assert_eq!(of(&samples, Operation::CallAccess).len(), 1, "what was to be executed is looked up");
        let stage = of(&samples, Operation::Stage)[0];
        let last = samples.iter().rfind(|sample| sample.operation() == Operation::CallStat).unwrap();
        assert!(stage.start.after(stage.duration) >= last.start.after(last.duration));
        assert_eq!(stage.start, stage.intended, "a copy that waits for a processor waits");
        assert_eq!(of(&samples, Operation::Stage).len(), 1, "a copy is one");
    }
}

#[test]
fn what_comes_back_otherwise_is_an_error_that_is_told_with_both() {
    let site = site();
    fs::write(site.path().join("never"), "").unwrap();
    fs::remove_file(site.path().join("b")).unwrap();
    fs::write(site.path().join("lib/a"), vec![7; 4000]).unwrap();
    let (end, samples, details) = replay(FAMILY, site.path(), &spec(ReplayTiming::Asap));
    assert_eq!(end, DriveEnd::Finished);
    let failed: Vec<Operation> =
        samples.iter().filter(|sample| sample.outcome() == Outcome::Error).map(Sample::operation).collect();
    use Operation::{CallOpen, CallRead, CallStat};
    assert_eq!(failed, [CallOpen, CallRead, CallRead, CallRead, CallStat]);
    let is_told = |text: &str| assert!(details.iter().any(|told| told.contains(text)), "{text}: {details:?}");
    is_told("it succeeded; the trace has not found (errno 2)");
    is_told("not found (errno 2); the trace has success");
    is_told(&format!("read {}/lib/a: 4000 bytes came, of 5000 then", site.path().display()));
    is_told(&format!("newfstatat {}/never: it succeeded", site.path().display()));
}

#[test]
fn gaps_are_kept_and_exact_moments_are_intended() {
    let site = site();
    let text = "\
1 1700000010.000000 stat(\"/site/b\", 0x1) = 0 <0.000100>
1 1700000010.020000 stat(\"/site/b\", 0x1) = 0 <0.010000>
1 1700000010.050000 stat(\"/site/b\", 0x1) = 0 <0.000100>
";
    let starts = |timing, speed| {
        let spec = ReplaySpec { speed, ..spec(timing) };
        let (_, samples, _) = replay(text, site.path(), &spec);
        let stats: Vec<Sample> = of(&samples, Operation::CallStat).into_iter().copied().collect();
        let since = |moment: fn(&Sample) -> MonotonicTime| {
            stats.windows(2).map(|pair| moment(&pair[1]).since(moment(&pair[0])).0).collect::<Vec<_>>()
        };
        (since(|sample| sample.start), since(|sample| sample.intended))
    };
    let (started, _) = starts(ReplayTiming::Gaps, 1.0);
    assert!(started[0] >= 19_900_000 && started[1] >= 20_000_000, "{started:?}");
    let (_, intended) = starts(ReplayTiming::Exact, 2.0);
    assert_eq!(intended, [10_000_000, 15_000_000]);
    let (started, _) = starts(ReplayTiming::Exact, 2.0);
    assert!(started.iter().sum::<u64>() >= 25_000_000 - 10_000_000, "{started:?}");
}

#[test]
fn a_copy_that_takes_too_long_times_out_with_all_its_tasks() {
    let site = site();
    let text = "\
1 1700000010.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 1700000010.001000 wait4(-1, NULL, 0, NULL <unfinished ...>
2 1700000010.003000 stat(\"/site/b\", 0x1) = 0 <0.000100>
2 1700000010.103000 stat(\"/site/b\", 0x1) = 0 <0.000100>
2 1700000069.000000 stat(\"/site/b\", 0x1) = 0 <0.000100>
2 1700000069.009000 exit_group(0) = ?
2 1700000069.009100 +++ exited with 0 +++
1 1700000069.009200 <... wait4 resumed>) = 2 <59.0>
1 1700000069.016000 stat(\"/site/b\", 0x1) = 0 <0.000100>
";
    let limit = Nanoseconds::from_milliseconds(60);
    let spec = ReplaySpec { kill_after_ns: Some(limit), speed: 600.0, ..spec(ReplayTiming::Gaps) };
    let began = MonotonicClock.now();
    let (end, samples, _) = replay(text, site.path(), &spec);
    assert_eq!(end, DriveEnd::Finished);
    assert!(MonotonicClock.now().since(began) < Nanoseconds::from_seconds(30));
    let stage = of(&samples, Operation::Stage)[0];
    assert_eq!((stage.outcome(), stage.duration), (Outcome::Timeout, limit));
}

#[test]
fn a_copy_that_begins_later_is_counted_from_then_on() {
    let site = site();
    let stagger_ns = Nanoseconds::from_milliseconds(3);
    let spec = ReplaySpec { stagger_ns, ..spec(ReplayTiming::Asap) };
    let (_, samples, _) = replay_by(2, FAMILY, site.path(), &spec);
    let stage = of(&samples, Operation::Stage)[0];
    assert_eq!(stage.start, stage.intended.after(Nanoseconds::from_milliseconds(6)));
    assert!(of(&samples, Operation::CallOpen)[0].start >= stage.start);
}
