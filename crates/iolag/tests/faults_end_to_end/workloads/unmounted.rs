//! Streams whose file system is taken away, or whose keeper is killed, in the middle of a write.

use iolag_fixtures::{BindMount, LoopMount};

use crate::support::{Running, Scene, assert_gapless, assert_says, leftovers, wait_for};

/// A stream that writes for a second at least, in the middle of its write.
fn writing(scene: &Scene, more: &[&str]) -> Running {
    let target = format!("delayed:stream.write=5ms:{}", scene.target().display());
    let words = ["bench", "stream", &target, "-s", "1600KiB", "-b", "8KiB", "--io", "dsync"];
    let running = scene.start(&[&words, more].concat());
    let file = scene.target().join("iolag-work/0_0/file-0");
    wait_for("file", || std::fs::metadata(&file).ok().filter(|file| file.len() > 0));
    running
}

#[test]
fn a_stream_on_a_file_system_that_is_unmounted_in_its_write_ends_and_says_what_is_left() {
    let scene = Scene::new();
    let Some(ext4) = LoopMount::ext4(32) else { return };
    let mount = BindMount::new(ext4.path(), &scene.target()).unwrap();
    let running = writing(&scene, &[]);
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
fn a_campaign_ends_when_its_file_system_is_not_mounted_any_more_and_makes_nothing_beneath_it() {
    let scene = Scene::new();
    let Some(ext4) = LoopMount::ext4(32) else { return };
    let mount = BindMount::new(ext4.path(), &scene.target()).unwrap();
    let running = writing(&scene, &["--repeat", "3"]);
    drop(mount);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let target = scene.target().display().to_string();
    let seen =
        format!("{target} was measured on what is mounted on {target}, and now lies on what is mounted on ");
    let expected = [
        &seen,
        "nothing was made there; mount the same again, then go on",
        "the campaign ends here: 1 further run is left out",
        "2 of 3 runs are lacking; the same command with --resume",
    ];
    assert_says(&done.stderr, &expected);
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new(), "beneath the mount point");
    scene.assert_nobody_is_left();
}

#[test]
fn who_goes_on_with_a_campaign_has_to_mount_its_file_system_first() {
    let scene = Scene::new();
    let Some(ext4) = LoopMount::ext4(32) else { return };
    let mount = BindMount::new(ext4.path(), &scene.target()).unwrap();
    let target = scene.target().display().to_string();
    let bench = |more: &[&str]| scene.run(&[&["bench", "stream", &target, "-s", "64KiB"], more].concat());
    assert_eq!(bench(&[]).code, Some(0));
    drop(mount);
    let done = bench(&["--repeat", "2", "--resume", "last"]);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["was measured on what is mounted on", "nothing was made there"]);
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new(), "beneath the mount point");
    let _mount = BindMount::new(ext4.path(), &scene.target()).unwrap();
    let done = bench(&["--repeat", "2", "--resume", "last"]);
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn what_a_stream_leaves_whose_keeper_was_killed_in_its_write_is_removed_by_a_clean_up() {
    let scene = Scene::new();
    let running = writing(&scene, &[]);
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
