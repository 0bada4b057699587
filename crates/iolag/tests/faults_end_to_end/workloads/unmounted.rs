//! Streams whose file system is taken away, or whose keeper is killed, in the middle of a write.

use iolag_fixtures::{BindMount, LoopMount};

use crate::support::{Running, Scene, assert_gapless, assert_says, leftovers, wait_for};

/// A stream that writes for a second at least, in the middle of its write.
fn writing(scene: &Scene) -> Running {
    let target = format!("delayed:stream.write=5ms:{}", scene.target().display());
    let running = scene.start(&["bench", "stream", &target, "-s", "1600KiB", "-b", "8KiB", "--io", "dsync"]);
    let file = scene.target().join("iolag-work/0_0/file-0");
    wait_for("file", || std::fs::metadata(&file).ok().filter(|file| file.len() > 0));
    running
}

#[test]
fn a_stream_on_a_file_system_that_is_unmounted_in_its_write_ends_and_says_what_is_left() {
    let scene = Scene::new();
    let Some(ext4) = LoopMount::ext4(32) else { return };
    let mount = BindMount::new(ext4.path(), &scene.target()).unwrap();
    let running = writing(&scene);
    // Whoever has it open goes on, as after umount -l.
    drop(mount);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(
        &done.stderr,
        &["iolag-work is left on the file system that was mounted there when it was made"],
    );
    scene.assert_nobody_is_left();
    let _mount = BindMount::new(ext4.path(), &scene.target()).unwrap();
    let cleaned = scene.run(&["cleanup", "last"]);
    assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
    assert_eq!(leftovers(ext4.path()), Vec::<String>::new(), "{cleaned:?}");
}

#[test]
fn what_a_stream_leaves_whose_keeper_was_killed_in_its_write_is_removed_by_a_clean_up() {
    let scene = Scene::new();
    let running = writing(&scene);
    running.signal(libc::SIGKILL);
    assert_eq!(running.finish().signal, Some(libc::SIGKILL));
    scene.assert_nobody_is_left();
    let listed = scene.run(&["list"]);
    assert_says(&listed.stdout, &["stream, write, read", "recovered"]);
    assert_gapless(&scene.exported());
    assert_ne!(leftovers(&scene.target()), Vec::<String>::new(), "nobody was there to remove it");
    let cleaned = scene.run(&["cleanup", "last"]);
    assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new(), "{cleaned:?}");
}
