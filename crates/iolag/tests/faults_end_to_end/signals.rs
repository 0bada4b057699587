//! Ctrl-C, SIGTERM and SIGHUP at any moment, once and twice, also from a terminal.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::time::Duration;

use iolag_fixtures::FuseMount;

use crate::hangs::{QUEUE, there_is_no_io_uring};
use crate::support::{Finished, PATIENCE, Running, Scene, assert_gapless, assert_says, leftovers};

/// Longer than any test lasts.
const LONG: [&str; 5] = ["-n2", "-R10000", "-P2000", "--think", "100us"];

fn long_run(scene: &Scene) -> Running {
    let target = scene.target().to_str().unwrap().to_owned();
    let mut running = scene.start(&Scene::bench_arguments(&target, &LONG));
    running.wait_for("measuring");
    running
}

fn assert_ended_well(scene: &Scene, done: &Finished) {
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["incomplete"]);
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new(), "{done:?}");
    assert_gapless(&scene.exported());
    scene.assert_nobody_is_left();
}

#[test]
fn the_first_signal_stops_cleans_up_and_reports_at_any_moment() {
    let signals = [(libc::SIGINT, "Ctrl-C"), (libc::SIGTERM, "SIGTERM"), (libc::SIGHUP, "SIGHUP")];
    for round in 0..20_u64 {
        let scene = Scene::new();
        let running = long_run(&scene);
        std::thread::sleep(Duration::from_millis(round * 41 % 500));
        let (signal, name) = signals[round as usize % 3];
        running.signal(signal);
        let done = running.finish();
        assert_ended_well(&scene, &done);
        assert_says(&done.stdout, &[name]);
    }
}

#[test]
fn a_check_stops_cleans_up_and_reports() {
    for milliseconds in [0, 200, 900] {
        let scene = Scene::new();
        let target = scene.target().to_str().unwrap().to_owned();
        // One that did not stop would outlast the test.
        let mut running = scene.start(&["check", &target, "--budget", "1h"]);
        running.wait_for("measuring");
        std::thread::sleep(Duration::from_millis(milliseconds));
        running.signal(libc::SIGINT);
        let done = running.finish();
        assert_eq!(done.code, Some(4), "{done:?}");
        assert_eq!(leftovers(&scene.target()), Vec::<String>::new(), "{done:?}");
        assert_gapless(&scene.exported());
        scene.assert_nobody_is_left();
    }
}

#[test]
fn a_second_signal_leaves_at_once_and_says_what_is_left_where() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let target = fuse.path().to_str().unwrap().to_owned();
    let mut running = scene.start(&Scene::bench_arguments(&target, &LONG));
    crate::support::wait_for("working directory", || {
        leftovers(&scene.target()).pop().filter(|_| running.writer().is_some())
    });
    fuse.hang_all();
    running.signal(libc::SIGINT);
    running.wait_for("once more to leave at once");
    std::thread::sleep(Duration::from_millis(400));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["left at once", "iolag-work", "iolag cleanup 2", "the samples are in"]);
    fuse.release();
    scene.assert_nobody_is_left();
    let listed = scene.run(&["list"]);
    assert_says(&listed.stdout, &["recovered"]);
    assert_gapless(&scene.exported());
    let cleaned = scene.run(&["cleanup", "last"]);
    assert_eq!((cleaned.code, leftovers(&scene.target()).len()), (Some(0), 0), "{cleaned:?}");
}

#[test]
fn while_a_directory_is_asked_for_the_first_time_ctrl_c_is_heard() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang_all();
    let target = fuse.path().to_str().unwrap().to_owned();
    let running = scene.start(&["check", &target, "--deadline", "1h", "--budget", "1h"]);
    assert!(fuse.wait_until_held(1, PATIENCE));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["interrupted before anything was done"]);
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn ctrl_c_at_a_terminal_reaches_the_whole_group_and_ends_well() {
    for milliseconds in [0, 100, 400] {
        let scene = Scene::new();
        let terminal = Terminal::open();
        let target = scene.target().to_str().unwrap().to_owned();
        let mut command = scene.command(&Scene::bench_arguments(&target, &LONG));
        let descriptor = terminal.program_side.as_raw_fd();
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(move || {
                if libc::setsid() < 0 || libc::ioctl(descriptor, libc::TIOCSCTTY, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let mut running = Running::start(command);
        running.wait_for("measuring");
        std::thread::sleep(Duration::from_millis(milliseconds));
        terminal.type_ctrl_c();
        let done = running.finish();
        assert_ended_well(&scene, &done);
        assert_says(&done.stdout, &["Ctrl-C"]);
    }
}

/// A pseudo-terminal.
struct Terminal {
    user_side: File,
    program_side: File,
}

impl Terminal {
    fn open() -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let user: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let name = ptsname(&user, Vec::new()).unwrap();
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let program = rustix::fs::open(&*name, flags, rustix::fs::Mode::empty()).unwrap();
        Self { user_side: user.into(), program_side: program.into() }
    }

    fn type_ctrl_c(&self) {
        use std::io::Write;
        (&self.user_side).write_all(b"\x03").unwrap();
    }
}

#[test]
fn ctrl_c_ends_what_is_in_flight_and_removes_what_was_made() {
    if there_is_no_io_uring() {
        return;
    }
    let scene = Scene::new();
    let target = scene.target();
    let words = ["bench", "stream", target.to_str().unwrap(), "-s", "16MiB", "-b", "4KiB", "--fsync", "1"];
    let more = ["--phases", "write,rewrite,rewrite,rewrite,rewrite,rewrite,rewrite,rewrite,rewrite,rewrite"];
    let running = scene.start(&[words.as_slice(), &QUEUE, &more].concat());
    crate::support::wait_for("working directory", || {
        std::fs::read_dir(scene.target().join("iolag-work")).ok()?.flatten().next()
    });
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_gapless(&scene.exported());
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}
