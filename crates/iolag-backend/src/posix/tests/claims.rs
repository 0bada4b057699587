//! Whose a working directory is: tokens, owners, and who may remove what.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use iolag_model::{Operation, PlaceIdentity, PlaceMaker, PlaceToken};
use tempfile::{TempDir, tempdir};

use crate::conformance::maker;
use crate::posix::names::token_name;
use crate::posix::{PosixBackend, WORKING_NAME};
use crate::{Backend, BackendError, ObjectKey, Place, Request, SessionOptions};

fn backend(target: &Path) -> PosixBackend {
    PosixBackend::new(target.to_owned(), WORKING_NAME).unwrap()
}

fn another() -> PlaceMaker {
    PlaceMaker { run: "20261122-130000-0002".parse().unwrap(), token: PlaceToken(2) }
}

/// A working set of one object that `maker()` made; where, and what its manifest has.
fn working_set() -> (TempDir, Place) {
    let target = tempdir().unwrap();
    let backend = backend(target.path());
    let place = backend.create_place(&maker()).unwrap();
    let options = SessionOptions::new(iolag_model::ClientId(0), 0, 1, 100);
    let mut session = backend.open_session(&options).unwrap();
    for operation in [Operation::MakeDirectory, Operation::Create] {
        let request = Request::new(operation, ObjectKey { rank: 0, dataset: 0, index: 0 }, 100);
        session.prepare(&request);
        assert!(session.execute(&request).is_ok());
    }
    (target, place)
}

fn remove(target: &Path, place: &Place) -> Result<usize, BackendError> {
    let backend = backend(target);
    backend.expect_place(place);
    backend.remove_place().map(|leftovers| leftovers.len())
}

/// What a manifest has before anything is made.
fn planned(target: &Path) -> Place {
    Place {
        target: target.display().to_string(),
        name: WORKING_NAME.to_owned(),
        identity: None,
        token: Some(maker().token),
        file_system: None,
        remark: None,
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_token_is_the_first_thing_in_a_place_and_the_last_and_tells_whose_it_is() {
    let target = tempdir().unwrap();
    let backend = backend(target.path());
    let place = backend.create_place(&maker()).unwrap();
    let working = target.path().join(WORKING_NAME);
    let token = working.join(token_name(maker().token));
    assert_eq!(place.token, Some(maker().token));
    assert_eq!(names(&working), [token_name(maker().token)]);
    let text = fs::read_to_string(&token).unwrap();
    assert!(text.starts_with("run 20261122-120000-0001\n"), "{text}");
    assert!(text.trim_end().ends_with("iolag cleanup 20261122-120000-0001") && text.len() == 4096);
    fs::create_dir(working.join("mine")).unwrap();
    assert_eq!(backend.remove_place().unwrap().len(), 1);
    assert!(token.exists(), "as long as anything is left, it says whose it is");
    fs::remove_dir(working.join("mine")).unwrap();
    assert_eq!(backend.remove_place().unwrap(), []);
    assert!(!working.exists());
}

/// An inode is given out again, and so is the device number of a loop device: neither says whose a directory is.
#[test]
fn a_directory_with_the_noted_inode_and_without_the_token_is_another() {
    let (target, place) = working_set();
    let working = target.path().join(WORKING_NAME);
    fs::rename(working.join(token_name(maker().token)), working.join(token_name(another().token))).unwrap();
    assert!(matches!(remove(target.path(), &place), Err(BackendError::Claimed { .. })));
    fs::remove_file(working.join(token_name(another().token))).unwrap();
    let error = remove(target.path(), &place).unwrap_err().to_string();
    assert!(error.contains("nothing shows that this run made it"), "{error}");
    assert!(working.join("0_0/file-0").exists());
}

#[test]
fn the_token_is_found_on_another_device_with_another_inode() {
    let (target, place) = working_set();
    let identity = place.identity.unwrap();
    let moved =
        Place { identity: Some(PlaceIdentity { device: Some(1), inode: identity.inode + 1 }), ..place };
    assert_eq!(remove(target.path(), &moved).unwrap(), 0);
    assert!(!target.path().join(WORKING_NAME).exists());
}

/// As it is after its maker was killed: before the token was there, without a word in it, before its identity was noted, in the middle
/// of removing it.
#[test]
fn what_a_killed_maker_left_is_removed_by_its_token() {
    for left in 0..4 {
        let target = tempdir().unwrap();
        let working = target.path().join(WORKING_NAME);
        fs::create_dir(&working).unwrap();
        if left > 0 {
            fs::write(working.join(token_name(maker().token)), if left == 1 { "" } else { "run" }).unwrap();
        }
        if left > 2 {
            fs::create_dir(working.join("0_0")).unwrap();
            fs::write(working.join("0_0/file-3"), "z").unwrap();
        }
        let planned = planned(target.path());
        let other = Place { token: Some(another().token), ..planned.clone() };
        if left > 0 {
            assert!(remove(target.path(), &other).is_err(), "{left}");
        }
        assert_eq!(remove(target.path(), &planned).unwrap(), 0, "{left}");
        assert!(!working.exists(), "{left}");
    }
}

/// Whoever sees another's token takes its own back, unless it is killed just then.
#[test]
fn of_two_who_come_at_one_moment_the_first_keeps_the_place_and_the_other_removes_no_more_than_its_token() {
    let written = |seconds| std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    let claim = |working: &Path, maker: &PlaceMaker, seconds| {
        let path = working.join(token_name(maker.token));
        let file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.set_modified(written(seconds)).unwrap();
    };
    for remover in [None, Some(maker()), Some(another())] {
        let (target, place) = working_set();
        let working = target.path().join(WORKING_NAME);
        claim(&working, &maker(), 1000);
        // Nobody knows who came first.
        claim(&working, &another(), 1000);
        assert!(matches!(backend(target.path()).reopen_place(), Err(BackendError::NotOurs { .. })));
        claim(&working, &another(), 1001);
        let late = Place { identity: None, token: Some(another().token), ..place.clone() };
        match remover {
            None => assert_eq!(backend(target.path()).reopen_place().unwrap().token, place.token),
            Some(remover) if remover == maker() => assert_eq!(remove(target.path(), &place).unwrap(), 0),
            Some(_) => {
                let error = remove(target.path(), &late).unwrap_err();
                let is_claimed = matches!(&error, BackendError::Claimed { run, .. } if *run == maker().run);
                assert!(is_claimed, "{error}");
                assert!(!working.join(token_name(another().token)).exists());
                assert!(working.join("0_0/file-0").exists());
                assert_eq!(remove(target.path(), &place).unwrap(), 0);
            }
        }
    }
}

/// Somebody who owns what has the name of the working directory reads the names of all files in it.
#[test]
fn a_token_is_not_shown_to_who_owns_the_directory_and_does_not_make_it_ours() {
    if iolag_fixtures::skip_unless_root() {
        return;
    }
    let target = tempdir().unwrap();
    let working = target.path().join(WORKING_NAME);
    fs::create_dir_all(working.join("0_0")).unwrap();
    fs::write(working.join("0_0/file-0"), "precious").unwrap();
    fs::write(working.join(token_name(maker().token)), "").unwrap();
    fs::set_permissions(&working, fs::Permissions::from_mode(0o755)).unwrap();
    chown(&working, Some(65534), None).unwrap();
    let known = planned(target.path());
    assert!(matches!(remove(target.path(), &known), Err(BackendError::NotOurs { .. })));
    assert!(working.join("0_0/file-0").exists());
    // Every name that is made there while the run is refused.
    let parent = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::NONBLOCK).unwrap();
    let all = rustix::fs::inotify::WatchFlags::CREATE;
    fs::remove_dir_all(&working).unwrap();
    fs::create_dir(&working).unwrap();
    chown(&working, Some(65534), None).unwrap();
    rustix::fs::inotify::add_watch(&parent, &working, all).unwrap();
    assert!(matches!(backend(target.path()).create_place(&maker()), Err(BackendError::NotOurs { .. })));
    let mut seen = [0; 4096];
    let length = rustix::io::read(&parent, &mut seen).unwrap();
    let seen = String::from_utf8_lossy(&seen[..length]);
    assert!(seen.contains(".owner-") && !seen.contains(&token_name(maker().token)), "{seen:?}");
}

#[test]
fn what_was_killed_while_it_looked_whose_a_directory_is_is_in_nobodys_way() {
    let target = tempdir().unwrap();
    let working = target.path().join(WORKING_NAME);
    let owner = format!(".owner-{:032x}", 7);
    fs::create_dir(&working).unwrap();
    fs::set_permissions(&working, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(working.join(&owner), "").unwrap();
    let backend = backend(target.path());
    backend.create_place(&maker()).unwrap();
    assert_eq!(names(&working).len(), 2);
    assert_eq!(backend.remove_place().unwrap(), []);
    assert!(!working.exists());
}

#[test]
fn a_place_of_another_run_is_refused_with_its_name() {
    let (target, _) = working_set();
    let error = backend(target.path()).create_place(&another()).unwrap_err();
    assert!(matches!(&error, BackendError::Claimed { run, .. } if *run == maker().run), "{error}");
    assert!(error.to_string().contains("else remove it with iolag cleanup 20261122-120000-0001"), "{error}");
    assert!(error.to_string().contains("0001: let that end if it still measures; else"), "{error}");
    assert_eq!(names(&target.path().join(WORKING_NAME)).len(), 2, "nothing is left of having tried");
}

#[test]
fn a_working_set_is_found_again_by_its_token_and_another_one_is_not() {
    let (target, place) = working_set();
    let backend = backend(target.path());
    assert_eq!(backend.reopen_place().unwrap(), place);
    backend.expect_place(&Place { token: Some(another().token), ..place });
    assert!(matches!(backend.reopen_place(), Err(BackendError::NotOurs { .. })));
    let planted = tempdir().unwrap();
    fs::create_dir_all(planted.path().join(WORKING_NAME).join("0_0")).unwrap();
    let error = self::backend(planted.path()).reopen_place().unwrap_err().to_string();
    assert!(error.contains("is a directory of which nothing shows which run made it"), "{error}");
}

/// Anybody who may write to the target can put such a directory there before the run begins.
#[test]
fn what_another_user_planted_is_neither_made_nor_found() {
    if iolag_fixtures::skip_unless_root() {
        return;
    }
    let (target, _) = working_set();
    let working = target.path().join(WORKING_NAME);
    fs::set_permissions(&working, fs::Permissions::from_mode(0o755)).unwrap();
    chown(&working, Some(65534), None).unwrap();
    let errors = [
        backend(target.path()).reopen_place().unwrap_err(),
        backend(target.path()).open_place().unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("a directory of another user (owner 65534, mode 755)"), "{error}");
    }
    assert_eq!(names(&working).len(), 2, "nothing is left of having tried");
}

#[test]
fn an_empty_directory_of_another_user_stays() {
    if iolag_fixtures::skip_unless_root() {
        return;
    }
    let (target, place) = working_set();
    let working = target.path().join(WORKING_NAME);
    fs::remove_dir_all(&working).unwrap();
    fs::create_dir(&working).unwrap();
    chown(&working, Some(65534), None).unwrap();
    let killed = Place { identity: None, ..place.clone() };
    assert!(matches!(remove(target.path(), &killed), Err(BackendError::NotOurs { .. })));
    chown(&working, Some(0), None).unwrap();
    // One that was there is known; an empty one that another has made since is not it.
    let noted = place.identity.map(|identity| PlaceIdentity { inode: u64::MAX, ..identity });
    let another = Place { identity: noted, ..place.clone() };
    assert!(matches!(remove(target.path(), &another), Err(BackendError::NotOurs { .. })));
    assert_eq!(remove(target.path(), &killed).unwrap(), 0);
}
