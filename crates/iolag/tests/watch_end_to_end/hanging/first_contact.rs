//! The first contact with a directory: who goes there before any probe, what is learnt, and that nobody follows who did not come back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use iolag_fixtures::{FuseMount, skip_unless_root};
use iolag_model::{OutageEnding, Outcome};

use super::hangs::{QUICK, assert_blocked, hanging_and_other};
use crate::remembered::{assert_all_fine, count};
use crate::stage::{Stage, assert_refused, hung, last, target};
use crate::support::{PATIENCE, Running, Scene, assert_says, children, wait_until};

/// Whether a child of this process has ended and its parent has not asked how.
fn has_zombie(process: u32) -> bool {
    let state = |child: u32| fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    children(process).into_iter().any(|child| state(child).contains(") Z "))
}

#[test]
fn one_process_waits_where_nobody_answers_and_goes_on_when_somebody_does() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let other = stage.directory("other");
    let file = stage.configure(&hanging_and_other(fuse.path(), &other));
    fuse.hang_all();
    let watch = stage.start(&["-c", &file]);
    let probe = stage.wait_for_hung();
    let rounds = stage.wait_for_rounds(1).rounds;
    stage.wait_for_fine(&["other"], "stat", 4);
    let status = stage.wait_for_rounds(rounds + 5);
    assert_eq!(hung(&status).map(|hung| hung.probe), Some(probe.probe));
    assert_eq!(fuse.held(), 1, "one request waits, of one process");
    assert!(wait_until(PATIENCE, || stage.processes() == 2), "{:?}", stage.scene.processes());

    fuse.release();
    stage.wait_for("an answer", |status| {
        last(status, "hanging", "open-read").is_some_and(|last| last.outcome == Outcome::Ok)
    });
    stage.wait_for("no outage", |status| status.outages.is_empty());
    assert!(wait_until(PATIENCE, || !has_zombie(watch.id())), "a child that has ended stays");
    watch.signal(libc::SIGINT);
    assert_eq!(watch.finish().code, Some(0));
    stage.scene.assert_nobody_is_left();
    let remembered = stage.remembered();
    let samples = remembered.wholes("hanging", "open-read");
    let first = samples.iter().find(|sample| sample.probe == probe.probe).unwrap();
    assert_blocked(&samples, first, 5);
    let [outage] = remembered.outages()[..] else { panic!("{:?}", remembered.outages()) };
    assert_eq!((outage.probe, outage.ending), (probe.probe, Some(OutageEnding::Recovered)));
    assert_eq!(outage.mount, "hanging", "nobody knew where it lies");
    assert_all_fine(&remembered.wholes("other", "stat"), 4);
}

#[test]
fn who_answers_after_all_is_no_probe_and_no_outage() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let text = format!("jitter = \"0\"\n{}", target("slow", fuse.path(), "open-read"));
    let file = stage.configure(&text);
    fuse.hang_all();
    let mut watch = stage.start(&["--rounds", "1", "-c", &file]);
    watch.wait_for("slow has not answered for");
    stage.wait_for("who waits there", |status| !status.in_flight.is_empty());
    assert_eq!(fuse.held(), 1);
    fuse.release();
    assert_eq!(watch.finish().code, Some(0));
    let remembered = stage.remembered();
    assert_all_fine(&remembered.wholes("slow", "open-read"), 1);
    assert_eq!(remembered.wholes("slow", "open-read").len(), 1);
    assert!(remembered.outages().is_empty());
}

/// A configuration with a link to a mount, a directory on that mount, and another one beside the link.
fn linked(stage: &Stage, fuse: &FuseMount) -> String {
    let link = stage.scene.path().join("link");
    symlink(fuse.path(), &link).unwrap();
    let direct = fuse.path().join("direct");
    fs::create_dir(&direct).unwrap();
    let beside = stage.directory("beside");
    stage.configure(&format!(
        "{QUICK}{}{}{}",
        target("linked", link, "open-read"),
        target("direct", direct, "open-read"),
        target("beside", beside, "stat")
    ))
}

#[test]
fn where_a_link_leads_is_remembered_from_one_round_of_cron_to_the_next() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let file = linked(&stage, &fuse);
    let once = ["--once", "-c", &file];
    stage.watch_to(0, &once);
    fuse.hang_all();
    for _ in 0..2 {
        let done = stage.watch_to(1, &once);
        assert_says(&done.stderr, &["direct is not asked", "open-read on linked hangs since"]);
        assert_eq!(fuse.held(), 1, "one process on the mount, whichever way leads there");
    }
    fuse.release();
    stage.wait_for_those_left_behind();
    stage.watch_to(0, &once);
    let remembered = stage.remembered();
    let [outage] = remembered.outages()[..] else { panic!("{:?}", remembered.outages()) };
    assert_eq!((outage.mount.as_str(), outage.skipped), (fuse.path().to_str().unwrap(), 4));
    assert_eq!(outage.ending, Some(OutageEnding::Recovered));
    let direct = remembered.wholes("direct", "open-read");
    assert_eq!((count(&direct, Outcome::Ok), count(&direct, Outcome::Skipped)), (2, 2));
    let beside = remembered.wholes("beside", "stat");
    assert_eq!(count(&beside, Outcome::Ok), 4, "it only lies where the link does: {beside:?}");
}

#[test]
fn what_nobody_has_reached_yet_holds_up_nobody_else() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let file = linked(&stage, &fuse);
    fuse.hang_all();
    stage.watch_to(1, &["--once", "-c", &file]);
    assert_eq!(fuse.held(), 2, "nobody knew that the two are one");
    fuse.release();
    stage.scene.assert_nobody_is_left();
    let remembered = stage.remembered();
    assert_all_fine(&remembered.wholes("beside", "stat"), 1);
    assert_eq!(count(&remembered.wholes("beside", "stat"), Outcome::Skipped), 0);
    let mut blamed: Vec<_> = remembered.outages().iter().map(|outage| outage.mount.clone()).collect();
    blamed.sort_unstable();
    assert_eq!(blamed, ["direct", "linked"]);
}

#[test]
fn a_watch_of_nothing_is_refused() {
    let stage = Stage::new();
    let mut command = stage.watch_command(&["--once"]);
    command.env_remove("HOME");
    let done = Running::start(command).finish();
    assert_refused(
        &done,
        2,
        &["there is nothing to watch: name a directory or the URL of a server, or set HOME"],
    );
}

#[test]
fn a_runtime_directory_that_does_not_answer_is_refused() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let (runtime, directory) = (fuse.path().join("run").display().to_string(), stage.directory("scratch"));
    fuse.hang_all();
    let arguments = ["watch", "--once", "--history", &stage.history, "--runtime", &runtime, &directory];
    let done = stage.scene.run(&arguments);
    let said = [runtime.as_str(), "has not answered for", "choose one in memory"];
    assert_refused(&done, 3, &said);
    fuse.release();
    stage.scene.assert_nobody_is_left();
}

/// `iolag ping` as a user who has no processes, and where that keeps what must not touch storage.
fn ping_as_stranger(scene: &Scene) -> (Running, PathBuf) {
    let user = 1_000_000 + std::process::id();
    for path in [scene.path().to_owned(), scene.target()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // The run is kept like any other: in a store of this user's.
    let _ = fs::create_dir(scene.store());
    for path in [scene.target(), scene.store()] {
        chown(path, Some(user), None).unwrap();
    }
    // The build's own directory may lie in a home that others may not enter.
    let program = scene.path().join("iolag");
    if !program.exists() {
        fs::copy(env!("CARGO_BIN_EXE_iolag"), &program).unwrap();
    }
    let target = scene.target();
    let mut command =
        scene.command_of(&program, &["ping", "-n", "1", "--task", "stat", target.to_str().unwrap()]);
    command.uid(user).current_dir("/");
    (Running::start(command), PathBuf::from(format!("/dev/shm/iolag-{user}")))
}

#[test]
fn a_ping_leaves_nothing_in_memory_but_what_was_there() {
    if skip_unless_root() {
        return;
    }
    let scene = Scene::new();
    let (running, memory) = ping_as_stranger(&scene);
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!memory.exists(), "it made that directory, and nobody else uses it");

    fs::create_dir(&memory).unwrap();
    fs::set_permissions(&memory, fs::Permissions::from_mode(0o700)).unwrap();
    let user = memory.to_str().unwrap().rsplit('-').next().unwrap().parse().unwrap();
    chown(&memory, Some(user), None).unwrap();
    let (running, _) = ping_as_stranger(&scene);
    let done = running.finish();
    let stays = memory.exists();
    let entries = fs::read_dir(&memory).map_or(0, Iterator::count);
    fs::remove_dir_all(&memory).unwrap();
    assert_eq!((done.code, stays, entries), (Some(0), true, 0), "{done:?}");
}

#[test]
fn a_ping_of_what_does_not_answer_sends_nobody_else() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang_all();
    let directory = fuse.path().to_str().unwrap();
    let arguments = ["ping", "--every", "100ms", "--deadline", "2s", "--task", "open-read", directory];
    let running = Running::start(scene.command(&arguments));
    let hung = "seq=1 no answer within the deadline of 2.00 s; hung in the first contact";
    assert!(wait_until(PATIENCE, || running.stdout().contains(hung)), "{}", running.stdout());
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_says(&done.stderr, &["has not answered for", "it is waited for"]);
    assert_eq!(fuse.held(), 1);
    fuse.release();
    scene.assert_nobody_is_left();
    assert_eq!(fs::read_dir(scene.target()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_first_contact_that_is_answered_late_is_a_lost_probe_and_the_ping_goes_on() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang_all();
    let directory = fuse.path().to_str().unwrap();
    let running = Running::start(scene.command(&["ping", "--every", "200ms", "--deadline", "1s", directory]));
    let hung = "seq=1 no answer within the deadline of 1.00 s; hung in the first contact";
    assert!(wait_until(PATIENCE, || running.stdout().contains(hung)), "{}", running.stdout());
    fuse.release();
    let answered = wait_until(PATIENCE, || running.stdout().contains("  total "));
    assert!(answered, "{}", running.stdout());
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_says(
        &done.stdout,
        &["seq=1 first contact ", "  late: over the deadline of 1.00 s", " skipped while seq=1 waited"],
    );
    scene.assert_nobody_is_left();
    assert_eq!(fs::read_dir(scene.target()).unwrap().count(), 0, "nothing is left");
}
