//! `iolag replay` in a target that does not answer.

use std::fs;

use iolag_fixtures::{FuseCall, FuseMount};

use crate::support::{Scene, assert_says};

/// A program of two tasks: the second one reads, the first waits for it.
const FAMILY: &str = "\
1 stat(\"/site/a\", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0
1 clone(child_stack=NULL, flags=SIGCHLD) = 2
2 openat(AT_FDCWD, \"/site/b\", O_RDONLY) = 3
2 read(3, \"\"..., 4096) = 5
2 exit_group(0) = ?
2 +++ exited with 0 +++
1 wait4(-1, NULL, 0, NULL) = 2
1 stat(\"/site/a\", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0
";

#[test]
fn a_copy_of_which_a_task_hangs_is_given_up_with_the_others_told() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let (from, trace) = (scene.path().join("x.strace"), scene.path().join("x.iolag"));
    let trace = trace.to_str().unwrap();
    fs::write(&from, FAMILY).unwrap();
    assert_eq!(scene.run(&["trace", "--from", from.to_str().unwrap(), "-o", trace]).code, Some(0));
    for name in ["a", "b"] {
        fs::write(scene.target().join(name), "12345").unwrap();
    }
    let map = format!("/site={}", fuse.path().display());
    let words = ["replay", trace, "--map", &map, "--copies", "2", "--deadline", "5s"];
    let done = scene.run(&words);
    assert_eq!(done.code, Some(0), "{done:?}");
    fuse.hang(FuseCall::Open, "b");
    let mut running = scene.start(&words);
    running.wait_for("call.open has not answered");
    let done = {
        // What hangs in a file system of this kind can be ended only when that lets it.
        running.wait_for("ending the measurer of");
        fuse.release();
        running.finish()
    };
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["incomplete", "copies were stopped before their end"]);
    scene.assert_nobody_is_left();
}
