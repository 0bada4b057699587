//! A directory that takes requests and never answers: what is shown of it, what it does to others, and how it ends.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};

use iolag_fixtures::FuseMount;
use iolag_model::{HistorySample, OutageEnding, Outcome, ProbeId, ProbePhase, WallTime};
use iolag_watch::PublishedStatus;

use crate::remembered::{assert_all_fine, count};
use crate::stage::{Stage, hung, last, target, wall};
use crate::support::{PATIENCE, Running, assert_says, wait_until};

/// A round every 400 ms; `open-read` is given up quickly, but not so quickly that a busy machine passes for storage that hangs, and holds
/// others up for less than a round; other tasks are not given up.
pub const QUICK: &str = "every = \"400ms\"\njitter = \"0\"\ngrace = \"500ms\"\n\
                         [task.open-read]\nsoft-deadline = \"100ms\"\ndeadline = \"4s\"\n";
/// Its deadline.
pub const DEADLINE: Duration = Duration::from_secs(4);
/// Between what two readings of the wall clock by two processes may seem to be.
const CLOCK_SLACK_NS: i64 = 20_000_000;

/// A configuration with a target `hanging` at the mount and another one that is none of its business.
pub fn hanging_and_other(mount: &Path, other: &str) -> String {
    format!("{QUICK}{}{}", target("hanging", mount, "open-read"), target("other", other, "stat"))
}

/// The one sample of a probe that hung and came back, which must have taken at least this long and have ended within a span of time.
pub fn assert_late<'a>(
    samples: &[&'a HistorySample],
    least: Duration,
    ended: RangeInclusive<WallTime>,
) -> &'a HistorySample {
    let late: Vec<_> = samples.iter().filter(|sample| sample.outcome == Outcome::Late).collect();
    let [late] = late[..] else { panic!("one late probe is expected: {late:#?}") };
    assert!(late.duration_ns.as_duration() >= least, "less than {least:?}: {late:?}");
    let end = late.start.after(late.duration_ns).0;
    let span = ended.start().0 - CLOCK_SLACK_NS..=ended.end().0 + CLOCK_SLACK_NS;
    assert!(span.contains(&end), "its end is not within {span:?}: {late:?}");
    late
}

/// Asserts that from the start of a probe that hung until its end at least so many slots were skipped because of it, and nothing else
/// happened. Before and after, a busy machine skips slots for other reasons.
pub fn assert_blocked(samples: &[&HistorySample], hung: &HistorySample, least: usize) {
    let end = hung.start.after(hung.duration_ns);
    let is_meanwhile = |sample: &&&HistorySample| {
        sample.start > hung.start && sample.start < end && sample.probe != hung.probe
    };
    let meanwhile: Vec<_> = samples.iter().filter(is_meanwhile).collect();
    let blocker = |sample: &HistorySample| -> Option<ProbeId> {
        sample.blocker.filter(|_| sample.outcome == Outcome::Skipped)
    };
    assert!(meanwhile.iter().all(|sample| blocker(sample) == Some(hung.probe)), "{hung:?} {meanwhile:#?}");
    assert!(meanwhile.len() >= least, "{} were skipped instead of {least}", meanwhile.len());
}

#[test]
fn a_hang_is_shown_with_its_age_and_recorded_with_its_true_length() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file = stage.configure(&hanging_and_other(fuse.path(), &other));
    let watch = stage.start(&["-c", &file]);
    stage.wait_for("an answer", |status| last(status, "hanging", "open-read").is_some());
    assert_says(&stage.status(0), &["watching on", "open-read on hanging"]);

    fuse.hang_all();
    let probe = stage.wait_for_hung();
    let known = Instant::now();
    assert!(!probe.waits_in.is_empty(), "{probe:?}");
    let told = stage.status(1);
    let wait = format!("process {}, waiting in {}", probe.process, probe.waits_in);
    let mount = fuse.path().to_str().unwrap();
    assert_says(
        &told,
        &["HUNG for", "open-read on hanging", &wait, &format!("{mount} (hanging) has not answered since")],
    );
    assert!(told.find("HUNG") < told.find("outcome"), "what hangs is told first: {told}");

    // A lookup of circumstances may wait there, too, and on a busy machine be on its way there still.
    let rounds = stage.wait_for_rounds(1).rounds;
    stage.wait_for_rounds(rounds + 2);
    let requests = fuse.held();
    stage.wait_for_fine(&["other", "host memory"], "stat", 5);
    let later = stage.wait_for_rounds(rounds + 10);
    assert_eq!(hung(&later).map(|hung| hung.probe), Some(probe.probe), "it is one and the same probe");
    assert_eq!(later.in_flight.iter().filter(|flight| flight.phase != ProbePhase::InFlight).count(), 1);
    assert!(later.outages[0].skipped >= 7, "{:?}", later.outages);
    assert!((1..=2).contains(&requests), "{requests}");
    assert_eq!(fuse.held(), requests, "nothing is asked while one probe hangs");

    let (hung_for, released) = (known.elapsed(), wall());
    fuse.release();
    stage.wait_for("the end of the outage", |status| status.outages.is_empty() && hung(status).is_none());
    let over = wall();
    stage.wait_for("an answer", |status| {
        last(status, "hanging", "open-read").is_some_and(|last| last.outcome == Outcome::Ok)
    });
    stage.status(0);
    watch.signal(libc::SIGINT);
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(
        &done.stdout,
        &["hangs (process", "does not answer", "answers again after", "slots were skipped"],
    );
    stage.scene.assert_nobody_is_left();

    let remembered = stage.remembered();
    let samples = remembered.wholes("hanging", "open-read");
    let late = assert_late(&samples, hung_for, released..=over);
    assert_eq!(late.probe, probe.probe);
    assert_blocked(&samples, late, 7);
    assert!(count(&samples, Outcome::Ok) >= 2, "before and after");
    let end = late.start.after(late.duration_ns);
    for target in ["other", "host memory"] {
        let all = remembered.wholes(target, "stat");
        assert_all_fine(&all, 6);
        let is_meanwhile = |sample: &&&HistorySample| sample.start > late.start && sample.start < end;
        let meanwhile: Vec<_> = all.iter().filter(is_meanwhile).copied().collect();
        assert_all_fine(&meanwhile, 4);
    }
    let [outage] = remembered.outages()[..] else { panic!("{:?}", remembered.outages()) };
    assert_eq!((outage.ending, outage.mount.as_str()), (Some(OutageEnding::Recovered), mount));
    assert!(outage.skipped >= 7 && outage.begin <= late.start, "{outage:?}");
    assert!(remembered.evidence(late.probe).iter().any(|text| text.contains("waits in")));
    remembered.assert_nothing_is_double();
}

#[test]
fn what_is_waited_for_blocks_nothing_else_and_tells_how_long_it_took() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file =
        stage.configure(&format!("at-deadline = \"wait\"\n{}", hanging_and_other(fuse.path(), &other)));
    let watch = stage.start(&["-c", &file]);
    stage.wait_for("an answer", |status| last(status, "hanging", "open-read").is_some());
    fuse.hang_all();
    let probe = stage.wait_for_hung();
    let known = Instant::now();
    let rounds = stage.wait_for_rounds(1).rounds;
    stage.wait_for_rounds(rounds + 3);
    stage.wait_for_fine(&["other"], "stat", 3);
    let (hung_for, released) = (known.elapsed(), wall());
    fuse.release();
    stage.wait_for("no hung probe", |status| hung(status).is_none());
    let over = wall();
    watch.signal(libc::SIGTERM);
    assert_eq!(watch.finish().code, Some(0));
    let remembered = stage.remembered();
    let samples = remembered.wholes("hanging", "open-read");
    let late = assert_late(&samples, hung_for, released..=over);
    // Nobody signalled it: it ended by itself.
    assert_eq!((late.probe, late.failure), (probe.probe, iolag_model::FailureCode::NONE));
    assert_all_fine(&remembered.wholes("other", "stat"), 3);
}

#[test]
fn a_directory_that_does_not_answer_at_the_start_is_watched_all_the_same() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file = stage.configure(&hanging_and_other(fuse.path(), &other));
    fuse.hang_all();
    let mut watch = stage.start(&["-c", &file]);
    watch.wait_for("hanging has not answered for");
    watch.wait_for("it is watched all the same");
    stage.wait_for_hung();
    stage.wait_for("the other directory", |status| {
        last(status, "other", "stat").is_some_and(|last| last.outcome == Outcome::Ok)
    });
    fuse.release();
    stage.wait_for("an answer", |status| {
        last(status, "hanging", "open-read").is_some_and(|last| last.outcome == Outcome::Ok)
    });
    watch.signal(libc::SIGINT);
    assert_eq!(watch.finish().code, Some(0));
    stage.scene.assert_nobody_is_left();
    assert_all_fine(&stage.remembered().wholes("other", "stat"), 1);
}

#[test]
fn a_watch_that_is_stopped_while_a_probe_hangs_leaves_it_to_the_next_one() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file = stage.configure(&hanging_and_other(fuse.path(), &other));
    let watch = stage.start(&["-c", &file]);
    stage.wait_for("an answer", |status| last(status, "hanging", "open-read").is_some());
    fuse.hang_all();
    let probe = stage.wait_for_hung();
    watch.signal(libc::SIGTERM);
    let done = watch.finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    let process = format!("(process {}", probe.process);
    assert_says(
        &done.stderr,
        &["open-read on hanging hangs since", &process, "the next watch goes on with it"],
    );
    let PublishedStatus::Ended(status) = stage.published() else { panic!("it has ended") };
    assert_eq!(status.in_flight.len(), 1);
    fuse.release();
    stage.scene.assert_nobody_is_left();
}

#[test]
fn a_home_directory_that_hangs_matters_to_nothing_that_lies_elsewhere() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let home = fuse.path().join("home");
    fs::create_dir(&home).unwrap();
    let directory = stage.directory("scratch");
    fuse.hang_all();
    let at_home = |mut command: std::process::Command| {
        command.env("HOME", &home).env("XDG_DATA_HOME", home.join("data")).env("XDG_STATE_HOME", "");
        command.env("XDG_CONFIG_HOME", home.join("config"));
        Running::start(command)
    };
    let tasks = "list,create,stat,open-read,write-fsync";
    let done = at_home(stage.watch_command(&["--once", "--tasks", tasks, &directory])).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let remembered = stage.remembered();
    for task in tasks.split(',') {
        assert_all_fine(&remembered.wholes(&directory, task), 1);
    }
    let ping = ["ping", "-n", "2", "--every", "50ms", &directory];
    let done = at_home(stage.scene.command(&ping)).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(fuse.held(), 0, "nobody asked the home directory for anything");
}

#[test]
fn a_history_that_hangs_is_said_and_holds_no_round_up() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let directory = stage.directory("scratch");
    // As that in a home directory that hangs.
    let history = fuse.path().join("history.sqlite").display().to_string();
    let stage = stage.with_history(history.clone());
    fuse.hang_all();
    let once = ["--once", "--tasks", "stat", &directory];
    for round in 1..=2 {
        let done = stage.watch_to(4, &once);
        assert_says(&done.stderr, &["records are not in the history yet", "has not answered"]);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
        // Others may still be on their way out.
        let is_alone = wait_until(PATIENCE, || stage.processes() <= round);
        assert!(is_alone, "one process waits for it: {:?}", stage.scene.processes());
    }
    let told = stage.watch_to(4, &["--rounds", "1", "--tasks", "stat", &directory]);
    assert_says(
        &told.stderr,
        &[&history, "has not answered for", "waits in memory until the history takes it"],
    );
    fuse.release();
    stage.scene.assert_nobody_is_left();
}

#[test]
fn cron_piles_nothing_up_on_a_directory_that_hangs() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file = stage.configure(&hanging_and_other(fuse.path(), &other));
    let once = ["--once", "-c", &file];
    stage.watch_to(0, &once);
    fuse.hang_all();
    let first = stage.watch_to(1, &once);
    assert_says(&first.stderr, &["open-read on hanging hangs since", "the next watch goes on with it"]);
    let PublishedStatus::Ended(status) = stage.published() else { panic!("it has ended") };
    let probe = hung(&status).unwrap().probe;
    let known = Instant::now();
    // Others may still be on their way out.
    let are_alone = || wait_until(PATIENCE, || (stage.processes(), fuse.held()) == (1, 1));
    assert!(are_alone(), "one process waits there, and nobody else: {:?}", stage.scene.processes());
    let mut hung_for = Duration::ZERO;
    for round in 2..=5 {
        hung_for = known.elapsed();
        let done = stage.watch_to(1, &once);
        assert_says(&done.stderr, &["open-read on hanging hangs since"]);
        let PublishedStatus::Ended(status) = stage.published() else { panic!("it has ended") };
        assert_eq!(hung(&status).map(|hung| hung.probe), Some(probe), "round {round}");
        assert!(
            are_alone(),
            "processes and requests pile up in round {round}: {:?}",
            stage.scene.processes()
        );
    }
    fuse.release();
    stage.wait_for_those_left_behind();
    let over = wall();
    stage.watch_to(0, &once);

    let remembered = stage.remembered();
    let samples = remembered.wholes("hanging", "open-read");
    let outcomes: Vec<_> = samples.iter().map(|sample| sample.outcome).collect();
    // Who went there first in the second round did not come back, and counts as a probe besides its slots.
    assert_eq!(samples.len(), 8, "{outcomes:?}");
    assert!(
        samples[2..7]
            .iter()
            .all(|sample| sample.outcome == Outcome::Skipped && sample.blocker == Some(probe))
    );
    assert_eq!((samples[0].outcome, samples[7].outcome), (Outcome::Ok, Outcome::Ok));
    // It was killed at its deadline and ended while no watch was there: it hung for at least as long as one saw it, which the last one
    // did after its start.
    let (took, end) = (samples[1].duration_ns, samples[1].start.after(samples[1].duration_ns));
    assert!(matches!(samples[1].outcome, Outcome::Hung | Outcome::Late), "{:?}", samples[1]);
    assert!(
        took.as_duration() >= hung_for && end.0 <= over.0 + CLOCK_SLACK_NS,
        "{hung_for:?} {:?}",
        samples[1]
    );
    assert_all_fine(&remembered.wholes("other", "stat"), 7);
    let [outage] = remembered.outages()[..] else { panic!("{:?}", remembered.outages()) };
    assert_eq!((outage.ending, outage.skipped), (Some(OutageEnding::Recovered), 5));
}
