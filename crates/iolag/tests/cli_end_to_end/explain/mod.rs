//! `iolag explain` where it is known what is slow.

mod command;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount, skip_unless_root};
use serde_json::Value;

use crate::support::{Finished, PATIENCE, Running, Scene, assert_says};

const NAMES: usize = 12;

fn with_names(directory: &Path) {
    for name in 0..NAMES {
        fs::write(directory.join(format!("name-{name}")), "").unwrap();
    }
}

/// Where a mount of ours is seen by nobody else, glibc finds the socket where it looks for it.
const WITH_SLOW_NAMES: &str =
    "mount -t tmpfs none /run && mkdir /run/nscd && mount --bind \"$1\" /run/nscd && shift && exec \"$@\"";

fn document(done: &Finished) -> Value {
    assert_eq!(done.code, Some(0), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

/// How much of the time is this layer's alone.
fn share(document: &Value, layer: &str) -> f64 {
    let parts = document["parts"].as_array().unwrap().iter();
    let of_layer = parts.filter(|part| part["layers"] == serde_json::json!([layer]));
    of_layer.map(|part| part["share"].as_f64().unwrap()).sum()
}

#[test]
fn the_process_behind_a_slow_file_system_is_named_and_not_the_name_service() {
    let scene = Scene::new();
    with_names(&scene.target());
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.delay_all(Duration::from_millis(20));
    let path = fuse.path().to_str().unwrap();
    let told = document(&scene.run(&["explain", path, "--json", "-"]));
    assert_eq!((&told["kind"], &told["word"]), (&"explanation".into(), &"because".into()), "{told:#}");
    assert!(share(&told, "server") > 0.5, "{told:#}");
    assert!(share(&told, "name-service") < 0.2, "{told:#}");
    assert_eq!(told["caches"]["word"], "not-kept", "{told:#}");
    assert_eq!(told["seen"]["names"], NAMES, "{told:#}");
    let text = scene.run(&["explain", path]);
    assert_says(
        &words_of(&text.stdout),
        &["is slow because of the process that serves it", "request_wait_answer"],
    );
    // Sixteen lines of eighty, but for the path, which is longer here than anywhere.
    let short = words_of(&text.stdout.replace(path, "/mnt"));
    assert!(short.chars().count() <= 16 * 80, "{}", text.stdout);
    scene.assert_nobody_is_left();
}

/// Lines break where a path leaves them no room.
fn words_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Answers what glibc asks a name service daemon, after this time, that there is no such name. The conversation is glibc's: a request is
/// three numbers and a key, the answer begins with its version and whether there is something.
fn serve_names_slowly(listener: UnixListener, time: Duration) {
    const ASKS_FOR_NAMES: std::ops::Range<i32> = 0..4;
    let answer = move |mut stream: UnixStream| -> std::io::Result<()> {
        let mut numbers = [0; 12];
        stream.read_exact(&mut numbers)?;
        let [_, kind, length] =
            [0, 4, 8].map(|at| i32::from_ne_bytes(numbers[at..at + 4].try_into().unwrap()));
        let mut key = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut key)?;
        if ASKS_FOR_NAMES.contains(&kind) {
            std::thread::sleep(time);
            let nothing: Vec<u8> =
                [2, 0, 0, 0, 0, 0, 0, 0, 0_i32].iter().flat_map(|number| number.to_ne_bytes()).collect();
            stream.write_all(&nothing)?;
        }
        Ok(())
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
}

#[test]
fn a_name_service_that_waits_half_a_second_is_named_with_its_share() {
    if skip_unless_root() {
        return;
    }
    let scene = Scene::new();
    with_names(&scene.target());
    let service = scene.path().join("nscd");
    fs::create_dir(&service).unwrap();
    serve_names_slowly(UnixListener::bind(service.join("socket")).unwrap(), Duration::from_millis(500));
    let target = scene.target();
    let explain = |more: &[&str]| {
        let mut arguments = vec!["--mount", "--propagation", "private", "sh", "-c", WITH_SLOW_NAMES, "sh"];
        let (service, store) = (service.to_str().unwrap().to_owned(), scene.store());
        arguments.extend([&service, env!("CARGO_BIN_EXE_iolag"), "--store", store.to_str().unwrap()]);
        arguments.extend(["explain", target.to_str().unwrap()]);
        arguments.extend(more);
        Running::start(scene.bare_command(Path::new("unshare"), &arguments)).finish()
    };
    let told = document(&explain(&["--json", "-"]));
    assert_eq!(told["word"], "because", "{told:#}");
    assert_eq!(told["names"]["word"], "takes-time", "{told:#}");
    assert!(share(&told, "name-service") > 0.5, "{told:#}");
    // One user and one group.
    let longer = told["names"]["difference_ns"].as_u64().unwrap();
    assert!((1_000_000_000..3_000_000_000).contains(&longer), "{told:#}");
    let text = explain(&[]);
    assert_says(&words_of(&text.stdout), &["is slow because of the name service: ", "nsswitch.conf"]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_that_is_quick_is_nobodys_fault() {
    let scene = Scene::new();
    with_names(&scene.target());
    let told = document(&scene.run(&["explain", scene.target().to_str().unwrap(), "--json", "-"]));
    for layer in ["name-service", "network", "server"] {
        assert!(told["word"] != "because" || share(&told, layer) < 0.5, "{told:#}");
    }
    assert_eq!(fs::read_dir(scene.target()).unwrap().count(), NAMES, "nothing is written");
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_that_hangs_is_told_in_one_sentence_with_where_it_waits() {
    let scene = Scene::new();
    with_names(&scene.target());
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let path = fuse.path().to_str().unwrap();
    for (call, step) in
        [(None, "its first look-up"), (Some(FuseCall::Opendir), "listing it for the first time")]
    {
        match call {
            None => fuse.hang_all(),
            Some(call) => fuse.hang(call, "*"),
        }
        let running = scene.start(&["explain", path, "--deadline", "2s", "--quiet"]);
        assert!(fuse.wait_until_held(1, PATIENCE));
        let done = running.finish();
        assert_eq!((done.code, done.stdout.as_str()), (Some(4), ""), "{done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        assert_says(&done.stderr, &[path, " hangs: ", step, "has not come back for ", "request_wait_answer"]);
        fuse.release();
        scene.assert_nobody_is_left();
    }
}

#[test]
fn ctrl_c_leaves_nobody() {
    let scene = Scene::new();
    with_names(&scene.target());
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang(FuseCall::Opendir, "*");
    let running = scene.start(&["explain", fuse.path().to_str().unwrap(), "--deadline", "1h"]);
    assert!(fuse.wait_until_held(1, PATIENCE));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["interrupted", "nothing is left behind"]);
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn what_is_no_directory_is_refused_in_one_sentence() {
    let scene = Scene::new();
    fs::write(scene.target().join("file"), "").unwrap();
    for (place, code, words) in [
        ("target/absent", 3, "it does not exist"),
        ("target/file", 3, "it is not a directory"),
        ("s3://bucket/prefix", 2, "is no directory"),
    ] {
        let done = scene.run(&["explain", place, "--quiet"]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(code), ""), "{done:?}");
        assert_says(&done.stderr, &[words]);
    }
    let lost = scene.run(&["explain", "target", "--json", "absent/file"]);
    assert_eq!(lost.code, Some(2), "{lost:?}");
}
