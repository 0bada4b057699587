//! Stat, open and read, write and fsync, create and unlink.

use std::fs;
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount};
use iolag_model::{ErrorClass, FailureCode, SetUpSpec};
use iolag_workload::TaskSpec;

use crate::support::{names, probe};

/// So many stat and open calls on two directories of five files each.
fn set_up(stats: u64, opens: u64) -> SetUpSpec {
    let Some(TaskSpec::JobSetUp(usual)) = TaskSpec::from_name("job-setup") else { panic!("it is built in") };
    SetUpSpec { stats, opens, directories: 2, files: 5, ..usual }
}

#[test]
fn the_file_tasks_succeed_and_stamp_their_parts_in_order() {
    for (spec, order) in [
        (TaskSpec::Stat, "+0 -0"),
        (TaskSpec::OpenRead { bytes: 5000 }, "+0 -0"),
        (TaskSpec::OpenRead { bytes: 0 }, "+0 -0"),
        (TaskSpec::WriteFsync { bytes: 3 << 20 }, "+0 +1 -1 -0"),
        (TaskSpec::Create { files: 20, bytes: 64 }, "+0 -0 +1 -1"),
        (TaskSpec::JobSetUp(set_up(50, 10)), "+0 -0"),
    ] {
        let place = tempfile::tempdir().unwrap();
        for _ in 0..3 {
            let recorder = probe(place.path(), &spec).unwrap();
            assert_eq!(recorder.order(), order, "{spec:?}");
            for part in 0..spec.part_names().len() {
                assert_eq!(recorder.ending(part).failure, FailureCode::NONE, "{spec:?}");
            }
        }
    }
}

#[test]
fn what_is_written_has_the_size_that_was_asked_and_created_files_are_gone() {
    let place = tempfile::tempdir().unwrap();
    probe(place.path(), &TaskSpec::WriteFsync { bytes: 1_500_001 }).unwrap();
    assert_eq!(fs::metadata(place.path().join("written")).unwrap().len(), 1_500_001);
    probe(place.path(), &TaskSpec::Create { files: 7, bytes: 10 }).unwrap();
    assert_eq!(names(place.path()), ["created", "written"]);
    assert!(names(&place.path().join("created")).is_empty());
}

#[test]
fn a_probe_finds_the_directory_empty_after_one_that_was_ended() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("created")).unwrap();
    for name in ["file-0", "file-9999"] {
        fs::write(place.path().join("created").join(name), "left").unwrap();
    }
    let recorder = probe(place.path(), &TaskSpec::Create { files: 3, bytes: 10 }).unwrap();
    assert_eq!(recorder.ending(0).failure, FailureCode::NONE);
    assert!(names(&place.path().join("created")).is_empty());
}

#[test]
fn a_file_that_somebody_removed_is_an_error_once_and_then_made_anew() {
    let job = TaskSpec::JobSetUp(set_up(100, 0));
    for (spec, file) in
        [(TaskSpec::Stat, "file"), (TaskSpec::OpenRead { bytes: 100 }, "read-100"), (job, "set-up-1/file-0")]
    {
        let place = tempfile::tempdir().unwrap();
        probe(place.path(), &spec).unwrap();
        fs::remove_file(place.path().join(file)).unwrap();
        let missing = probe(place.path(), &spec).unwrap();
        assert_eq!(missing.ending(0).failure.class(), ErrorClass::NotFound, "{spec:?}");
        assert_eq!(probe(place.path(), &spec).unwrap().ending(0).failure, FailureCode::NONE);
    }
}

#[test]
fn a_set_up_asks_as_often_as_it_says_and_of_each_call_the_delay_is_in_it() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let delay = Duration::from_millis(2);
    let spec = TaskSpec::JobSetUp(set_up(60, 20));
    probe(mount.path(), &spec).unwrap();
    mount.delay(FuseCall::Lookup, "file-*", delay);
    let before = mount.requests(Some(FuseCall::Lookup), "file-*");
    let recorder = probe(mount.path(), &spec).unwrap();
    assert_eq!(recorder.ending(0).failure, FailureCode::NONE, "what is to be absent is no failure");
    let asked = mount.requests(Some(FuseCall::Lookup), "file-*") - before;
    assert!(asked >= 80, "a name that is looked up is asked for: {asked}");
    assert!(recorder.duration(0) >= asked as u32 * delay, "{recorder:?}");
}

#[test]
fn a_name_of_a_set_up_that_is_to_be_absent_and_is_there_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let spec = TaskSpec::JobSetUp(set_up(100, 0));
    probe(place.path(), &spec).unwrap();
    fs::write(place.path().join("set-up-0/file-5"), "somebody's").unwrap();
    assert_eq!(probe(place.path(), &spec).unwrap().ending(0).failure, FailureCode::from_errno(libc::EEXIST));
}

#[test]
fn a_file_with_less_in_it_is_a_short_transfer_once() {
    let place = tempfile::tempdir().unwrap();
    let spec = TaskSpec::OpenRead { bytes: 100 };
    probe(place.path(), &spec).unwrap();
    fs::write(place.path().join("read-100"), "short").unwrap();
    assert_eq!(probe(place.path(), &spec).unwrap().ending(0).failure, FailureCode::SHORT);
    assert_eq!(probe(place.path(), &spec).unwrap().ending(0).failure, FailureCode::NONE);
}

#[test]
fn a_link_in_place_of_a_file_is_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "precious").unwrap();
    std::os::unix::fs::symlink(outside.path(), place.path().join("created")).unwrap();
    let refused = probe(place.path(), &TaskSpec::Create { files: 3, bytes: 10 }).unwrap_err();
    assert!(refused.message.contains("cannot make an empty directory"), "{refused}");
    std::os::unix::fs::symlink(outside.path().join("precious"), place.path().join("written")).unwrap();
    probe(place.path(), &TaskSpec::WriteFsync { bytes: 10 }).unwrap();
    assert_eq!(fs::read_to_string(outside.path().join("precious")).unwrap(), "precious");
    assert_eq!(names(outside.path()), ["precious"]);
}

#[test]
fn a_file_that_is_looked_at_is_not_touched_by_preparing() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    for (spec, file) in [(TaskSpec::Stat, "file"), (TaskSpec::OpenRead { bytes: 100 }, "read-100")] {
        probe(mount.path(), &spec).unwrap();
        mount.fail(FuseCall::Lookup, file, 5);
        mount.fail(FuseCall::Getattr, file, 5);
        mount.fail(FuseCall::Open, file, 5);
        let recorder = probe(mount.path(), &spec).expect("preparing asks nothing about the file");
        assert_eq!(recorder.ending(0).failure.class(), ErrorClass::InputOutput, "{spec:?}");
        mount.release();
    }
}

#[test]
fn a_delay_of_the_file_system_is_in_the_part_that_asks() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let delay = Duration::from_millis(50);
    let create = TaskSpec::Create { files: 4, bytes: 10 };
    let write = TaskSpec::WriteFsync { bytes: 10 };
    for spec in [&create, &write, &TaskSpec::Stat] {
        probe(mount.path(), spec).unwrap();
    }
    mount.delay(FuseCall::Create, "*", delay);
    let created = probe(mount.path(), &create).unwrap();
    assert!(created.duration(0) >= 4 * delay, "{created:?}");
    mount.release();
    mount.delay(FuseCall::Unlink, "*", delay);
    let created = probe(mount.path(), &create).unwrap();
    assert!(created.duration(1) >= 4 * delay, "{created:?}");
    mount.release();
    mount.delay(FuseCall::Fsync, "*", delay);
    let written = probe(mount.path(), &write).unwrap();
    assert!(written.duration(1) >= delay && written.duration(0) >= written.duration(1), "{written:?}");
    mount.release();
    mount.delay_all(delay);
    let looked = probe(mount.path(), &TaskSpec::Stat).unwrap();
    assert!(looked.duration(0) >= delay, "{looked:?}");
}
