//! A watch that is killed while a probe hangs, and the one after it.

use std::time::{Duration, Instant};

use iolag_fixtures::FuseMount;
use iolag_model::{OutageEnding, Outcome};

use crate::hanging::hangs::{DEADLINE, assert_blocked, assert_late, hanging_and_other};
use crate::remembered::{assert_all_fine, count};
use crate::stage::{Stage, hung, last, wall};
use crate::support::assert_says;

#[test]
fn the_next_watch_adopts_what_hangs_and_records_its_true_end() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file = stage.configure(&hanging_and_other(fuse.path(), &other));
    let watch = stage.start(&["-c", &file]);
    stage.wait_for("an answer", |status| last(status, "hanging", "open-read").is_some());
    fuse.hang_all();
    let probe = stage.wait_for_hung();
    let known = Instant::now();
    watch.signal(libc::SIGKILL);
    assert_eq!(watch.finish().signal, Some(libc::SIGKILL));
    let requests = fuse.held();
    assert_says(&stage.status(3), &["no watch is running", "HUNG for", "open-read on hanging"]);

    let next = stage.start(&["-c", &file]);
    let adopted = stage.wait_for_hung();
    assert_eq!((adopted.probe, adopted.process), (probe.probe, probe.process));
    assert_eq!(adopted.start_ns, probe.start_ns, "its age goes on");
    let rounds = stage.wait_for_rounds(1).rounds;
    stage.wait_for_rounds(rounds + 3);
    stage.wait_for_fine(&["other"], "stat", 3);
    assert_eq!(fuse.held(), requests, "the next watch asked nothing more");
    let (hung_for, released) = (known.elapsed(), wall());
    fuse.release();
    stage.wait_for("the end of the outage", |status| status.outages.is_empty() && hung(status).is_none());
    let over = wall();
    next.signal(libc::SIGINT);
    assert_eq!(next.finish().code, Some(0));
    stage.scene.assert_nobody_is_left();

    let remembered = stage.remembered();
    let samples = remembered.wholes("hanging", "open-read");
    let late = assert_late(&samples, hung_for, released..=over);
    assert_eq!(late.probe, probe.probe);
    assert_blocked(&samples, late, 3);
    let [outage] = remembered.outages()[..] else { panic!("{:?}", remembered.outages()) };
    assert_eq!((outage.probe, outage.ending), (probe.probe, Some(OutageEnding::Recovered)));
    assert_all_fine(&remembered.wholes("other", "stat"), 3);
    remembered.assert_nothing_is_double();
}

#[test]
fn what_ended_while_nobody_watched_is_known_to_have_hung() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file = stage.configure(&hanging_and_other(fuse.path(), &other));
    let watch = stage.start(&["-c", &file]);
    stage.wait_for("an answer", |status| last(status, "hanging", "open-read").is_some());
    fuse.hang_all();
    let probe = stage.wait_for_hung();
    watch.signal(libc::SIGKILL);
    drop(watch.finish());
    fuse.release();
    stage.wait_for_those_left_behind();

    let next = stage.start(&["-c", &file]);
    stage.wait_for("an answer", |status| {
        last(status, "hanging", "open-read").is_some_and(|last| last.outcome == Outcome::Ok)
    });
    stage.wait_for("no outage", |status| status.outages.is_empty());
    stage.status(0);
    next.signal(libc::SIGINT);
    assert_eq!(next.finish().code, Some(0));
    let remembered = stage.remembered();
    let samples = remembered.wholes("hanging", "open-read");
    let hung = samples.iter().find(|sample| sample.probe == probe.probe).unwrap();
    // How long it truly took nobody knows: at least until its deadline had passed.
    assert_eq!(hung.outcome, Outcome::Hung);
    assert!(hung.duration_ns.as_duration() >= DEADLINE, "{hung:?}");
    assert_eq!(count(&samples, Outcome::Hung), 1);
    let [outage] = remembered.outages()[..] else { panic!("{:?}", remembered.outages()) };
    assert_eq!(outage.ending, Some(OutageEnding::Recovered));
}

#[test]
fn what_is_waited_for_stamps_its_end_even_if_nobody_watches() {
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
    watch.signal(libc::SIGKILL);
    drop(watch.finish());
    std::thread::sleep(Duration::from_millis(700));
    let (hung_for, released) = (known.elapsed(), wall());
    fuse.release();
    stage.wait_for_those_left_behind();
    let gone = wall();
    // Nobody looks for a while: that is not counted.
    std::thread::sleep(Duration::from_millis(700));

    stage.watch_to(0, &["--once", "-c", &file]);
    let remembered = stage.remembered();
    let samples = remembered.wholes("hanging", "open-read");
    let late = assert_late(&samples, hung_for, released..=gone);
    assert_eq!((late.probe, late.failure), (probe.probe, iolag_model::FailureCode::NONE));
}
