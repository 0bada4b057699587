//! The runtime directory as a safe place, its lock, and the status that is published in it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use iolag_fixtures::{TmpfsMount, skip_unless_root};
use iolag_keeper::{Child, Ending, Orphanage, start_ticks};
use iolag_model::{MonotonicTime, Nanoseconds, WallTime, WatchStatus};
use iolag_watch::{
    Backing, MountTable, PublishedStatus, RuntimeDirectory, RuntimeError, STATUS_VERSION, publish,
    read_status,
};
use proptest::prelude::*;
use rustix::process::Signal;

const LIMIT: Nanoseconds = Nanoseconds::from_seconds(60);

fn open(path: &Path) -> Result<RuntimeDirectory, RuntimeError> {
    RuntimeDirectory::open_on(path, Backing::Anything)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

fn status() -> WatchStatus {
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    WatchStatus {
        targets: Vec::new(),
        version: STATUS_VERSION,
        iolag_version: "0.1.0".into(),
        process: std::process::id(),
        process_start_ticks: start_ticks(std::process::id()).unwrap(),
        host: "node".into(),
        boot_id: boot_id.trim().to_owned(),
        history: "/var/lib/iolag/history.sqlite".into(),
        begin: WallTime(1),
        written: WallTime(2),
        written_ns: MonotonicTime(3),
        next_round_ns: MonotonicTime(4),
        rounds: 5,
        in_flight: Vec::new(),
        last: Vec::new(),
        outages: Vec::new(),
        waiting_records: 6,
        history_trouble: None,
        lag_ns: Nanoseconds(7),
    }
}

#[test]
fn directories_and_files_are_private_and_replaced_as_a_whole() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("iolag/0123");
    let directory = open(&path).unwrap();
    directory.replace_file("orphans.json", b"one").unwrap();
    directory.replace_file("orphans.json", b"two").unwrap();
    assert_eq!(directory.read_file("orphans.json", 3).unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(
        (mode(path.parent().unwrap()), mode(&path), mode(&path.join("orphans.json"))),
        (0o700, 0o700, 0o600)
    );
    let too_long = directory.read_file("orphans.json", 2).unwrap_err().to_string();
    assert!(too_long.contains("longer than the 2 bytes"), "{too_long}");
    directory.remove_file("orphans.json").unwrap();
    directory.remove_file("orphans.json").unwrap();
    assert_eq!(directory.read_file("orphans.json", 3).unwrap(), None);
}

#[test]
fn links_pipes_and_other_things_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let directory = open(&place.path().join("runtime")).unwrap();
    symlink("/etc/passwd", directory.path().join("status.json")).unwrap();
    assert!(directory.read_file("status.json", 1 << 20).is_err());
    directory.replace_file("status.json", b"ours").unwrap();
    assert!(
        directory.path().join("status.json").symlink_metadata().unwrap().is_file(),
        "the link was replaced"
    );
    symlink("/etc/passwd", directory.path().join("other.new")).unwrap();
    assert!(directory.replace_file("other", b"x").is_err(), "nothing is written through a link");
    rustix::fs::mknodat(
        directory.descriptor(),
        "pipe",
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let error = directory.read_file("pipe", 10).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");

    symlink(directory.path(), place.path().join("link")).unwrap();
    std::fs::write(place.path().join("file"), b"").unwrap();
    for name in ["link", "file"] {
        let error = open(&place.path().join(name)).unwrap_err();
        assert!(matches!(error, RuntimeError::NotADirectory { .. }), "{error}");
    }
    let beneath_a_link = open(&place.path().join("link/below")).unwrap_err();
    assert!(matches!(beneath_a_link, RuntimeError::NotADirectory { .. }), "{beneath_a_link}");
}

#[test]
fn places_that_are_open_to_others_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runtime");
    drop(open(&path).unwrap());
    for wrong in [0o750, 0o705, 0o710, 0o1777] {
        std::fs::set_permissions(&path, Permissions::from_mode(wrong)).unwrap();
        let error = open(&path).unwrap_err();
        assert!(
            matches!(error, RuntimeError::NotPrivate { .. }) && error.to_string().contains("chmod 700"),
            "{error}"
        );
        assert!(RuntimeDirectory::open_read_only(&path).is_err());
    }
    std::fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    open(&path).unwrap();

    std::fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(open(&path), Err(RuntimeError::UnsafeParent { .. })));
    assert!(matches!(open(&place.path().join("new/one")), Err(RuntimeError::UnsafeParent { .. })));
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o1777)).unwrap();
    open(&path).unwrap();
    for unnamed in ["/", "runtime", "", "/tmp/.."] {
        assert!(matches!(open(Path::new(unnamed)), Err(RuntimeError::Unnamed { .. })), "{unnamed}");
    }
}

#[test]
fn a_directory_of_another_user_is_refused() {
    if skip_unless_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runtime");
    drop(open(&path).unwrap());
    std::os::unix::fs::chown(&path, Some(4242), None).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("belongs to user 4242 and you are user 0"), "{error}");
    assert!(matches!(open(&path.join("below")), Err(RuntimeError::UnsafeParent { owner: 4242, .. })));
}

#[test]
fn only_file_systems_in_memory_will_do() {
    let Some(mount) = TmpfsMount::new(1 << 20) else { return };
    let in_memory = RuntimeDirectory::open(&mount.path().join("runtime")).unwrap();
    assert_eq!(in_memory.path(), mount.path().join("runtime"));
    let Some(disk) = iolag_fixtures::LoopMount::ext4(4) else { return };
    let error = RuntimeDirectory::open(&disk.path().join("runtime")).unwrap_err();
    assert!(error.to_string().contains("is not on tmpfs but on a file system of type 0xef53"), "{error}");
}

#[test]
fn a_second_watch_is_told_who_holds_the_directory() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runtime");
    let held = open(&path).unwrap();
    let expected = format!("is in use by the watch with process id {}: stop that one", std::process::id());
    let refused = |path: PathBuf, expected: String| {
        Child::fork("second watch", Orphanage::Die, move || match open(&path) {
            Err(error @ RuntimeError::Busy { .. }) => i32::from(!error.to_string().contains(&expected)),
            _ => 2,
        })
    };
    let mut second = refused(path.clone(), expected.clone()).unwrap();
    assert_eq!(second.wait(LIMIT), Some(Ending::Exited(0)));
    RuntimeDirectory::open_read_only(&path).unwrap().unwrap();
    let mut third = refused(path.clone(), expected).unwrap();
    assert_eq!(third.wait(LIMIT), Some(Ending::Exited(0)), "who only looks does not give the lock away");
    drop(held);
    let mut fourth = Child::fork("next watch", Orphanage::Die, || i32::from(open(&path).is_err())).unwrap();
    assert_eq!(fourth.wait(LIMIT), Some(Ending::Exited(0)));
}

#[test]
fn a_child_that_outlives_a_killed_watch_does_not_keep_the_next_one_out() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runtime");
    let mut watch = Child::fork("watch", Orphanage::Die, || {
        let directory = open(&path).unwrap();
        // The grandchild has every descriptor of the watch and stays, as one that hangs would.
        let hung = Child::fork("hung", Orphanage::Survive, || {
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        })
        .unwrap();
        directory.replace_file("hung", hung.id().to_string().as_bytes()).unwrap();
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    })
    .unwrap();
    let hung = loop {
        if let Ok(text) = std::fs::read_to_string(path.join("hung")) {
            break rustix::process::Pid::from_raw(text.parse().unwrap()).unwrap();
        }
        assert_eq!(watch.wait(Nanoseconds::from_milliseconds(5)), None);
    };
    watch.signal(Signal::KILL);
    watch.wait(LIMIT).unwrap();
    let next = open(&path);
    let is_there = rustix::process::test_kill_process(hung).is_ok();
    let _ = rustix::process::kill_process(hung, Signal::KILL);
    assert!(is_there && next.is_ok(), "{next:?}");
}

#[test]
fn histories_have_directories_of_their_own() {
    let base = Path::new("/run/user/1000/iolag");
    let one = RuntimeDirectory::path_for_history(base, "/home/me/one.sqlite");
    assert_eq!(one.parent(), Some(base));
    assert_ne!(one, RuntimeDirectory::path_for_history(base, "/home/me/two.sqlite"));
    // The FNV-1a hash of "a", from its reference code: a new iolag must find what an older one left.
    assert_eq!(RuntimeDirectory::path_for_history(base, "a"), base.join("af63dc4c8601ec8c"));
}

#[test]
fn a_status_is_live_as_long_as_its_very_process_is() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runtime");
    assert_eq!(read_status(&path).unwrap(), PublishedStatus::None);
    let directory = open(&path).unwrap();
    assert_eq!(read_status(&path).unwrap(), PublishedStatus::None);
    publish(&directory, &status()).unwrap();
    assert_eq!(read_status(&path).unwrap(), PublishedStatus::Live(status()));
    let mut gone = Child::fork("gone", Orphanage::Die, || 0).unwrap();
    // Ended, but not yet reaped: waiting for it without looking at how it ended.
    rustix::event::poll(
        &mut [rustix::event::PollFd::from_borrowed_fd(
            gone.descriptor().unwrap(),
            rustix::event::PollFlags::IN,
        )],
        None,
    )
    .unwrap();
    let zombie_ticks = start_ticks(gone.id()).unwrap();
    let ended = [
        WatchStatus { process_start_ticks: status().process_start_ticks + 1, ..status() },
        WatchStatus { boot_id: "another".into(), ..status() },
        WatchStatus { boot_id: String::new(), ..status() },
        WatchStatus { process: u32::MAX, ..status() },
        WatchStatus { process: gone.id(), process_start_ticks: zombie_ticks, ..status() },
    ];
    for status in ended {
        publish(&directory, &status).unwrap();
        assert_eq!(read_status(&path).unwrap(), PublishedStatus::Ended(status));
    }
    assert_eq!(gone.wait(LIMIT), Some(Ending::Exited(0)));
}

#[test]
fn another_version_and_damage_are_told_apart() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runtime");
    let directory = open(&path).unwrap();
    directory.replace_file("status.json", br#"{"version":2,"processes":[1]}"#).unwrap();
    let error = read_status(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("it has version 2 and this iolag reads version 1; use the iolag that runs the watch"),
        "{error}"
    );
    directory.replace_file("status.json", br#"{"version":1,"process":7}"#).unwrap();
    let error = read_status(&path).unwrap_err().to_string();
    assert!(error.contains("it is no status of a watch (missing field"), "{error}");
}

#[test]
fn a_mount_and_its_end_are_noticed_without_touching_it() {
    let Some(mount) = TmpfsMount::new(1 << 20) else { return };
    let mut table = MountTable::read();
    let identity = table.mount_of(&mount.path().join("any/thing")).unwrap();
    assert_eq!((identity.mount_point.as_path(), identity.kind.as_str()), (mount.path(), "tmpfs"));
    assert!(identity.options.contains("size=1024k") && identity.source == "iolag-fixture", "{identity:?}");
    let first = table.generation();
    assert_eq!(mount_news(&table, 0), 0, "nothing has happened");
    let path = mount.path().to_owned();
    drop(mount);
    assert_eq!(mount_news(&table, 60), 1, "the kernel says so");
    assert!(table.refresh() > first);
    assert_ne!(table.mount_of(&path).unwrap().mount_id, identity.mount_id);
}

/// How many of the table's descriptors are ready within `seconds`.
fn mount_news(table: &MountTable, seconds: i64) -> usize {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let descriptor = table.descriptor().unwrap();
    poll(
        &mut [PollFd::from_borrowed_fd(descriptor, PollFlags::PRI)],
        Some(&Timespec { tv_sec: seconds, tv_nsec: 0 }),
    )
    .unwrap()
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_no_status(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("runtime");
        open(&path).unwrap().replace_file("status.json", &bytes).unwrap();
        prop_assert!(read_status(&path).is_err());
    }

    #[test]
    fn a_mutilated_status_never_panics(cut in 0..600_usize, place_of in 0..600_usize, byte in any::<u8>()) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("runtime");
        let mut text = serde_json::to_vec(&status()).unwrap();
        if let Some(place) = text.get_mut(place_of) {
            *place = byte;
        }
        text.truncate(cut);
        open(&path).unwrap().replace_file("status.json", &text).unwrap();
        let _ = read_status(&path);
    }
}
