//! Directories of our own against those who may write where they lie. As root, against user 65534.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::ffi::CStr;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iolag_directory::{Modes, Origin, OwnDirectory, Refusal, Unproven};
use iolag_fixtures::{BindMount, FuseCall, FuseMount, SshfsMount, TmpfsMount, skip_unless_root};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::{TempDir, tempdir};

const NAME: &CStr = c"own";
const MALLORY: u32 = 65534;

/// A directory in which everybody may rename everything, as in a project's without the sticky bit.
fn shared() -> TempDir {
    let target = tempdir().unwrap();
    fs::set_permissions(target.path(), fs::Permissions::from_mode(0o2777)).unwrap();
    target
}

fn open(directory: &Path) -> OwnedFd {
    OwnedFd::from(fs::File::open(directory).unwrap())
}

fn make_or_open(target: &Path) -> Result<OwnDirectory, Refusal> {
    Unproven::make_or_open(open(target).as_fd(), NAME).and_then(Unproven::prove)
}

fn recognise(target: &Path) -> Result<OwnDirectory, Refusal> {
    Unproven::open(open(target).as_fd(), NAME).and_then(Unproven::recognise)
}

fn own(target: &Path) -> PathBuf {
    target.join("own")
}

fn count(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// A directory of another user, closed or open, with what would lead astray who works in it.
fn planted(directory: &Path, mode: u32) -> PathBuf {
    let planted = directory.join(format!("planted-{mode:o}"));
    fs::create_dir(&planted).unwrap();
    symlink("/etc", planted.join("0_0")).unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(mode)).unwrap();
    chown(&planted, Some(MALLORY), None).unwrap();
    planted
}

#[test]
fn a_directory_is_made_once_and_found_again_and_nothing_is_left_of_having_looked() {
    let target = shared();
    let made = make_or_open(target.path()).unwrap();
    assert_eq!((made.origin(), made.modes()), (Origin::Made, Modes::Kept));
    assert_eq!(fs::metadata(own(target.path())).unwrap().mode() & 0o777, 0o700);
    assert_eq!(make_or_open(target.path()).unwrap().origin(), Origin::Found);
    assert_eq!(recognise(target.path()).unwrap().owner(), made.owner());
    assert_eq!(count(&own(target.path())), 0);
    assert!(Unproven::make(open(target.path()).as_fd(), NAME).is_err());
}

#[test]
fn links_files_and_doors_that_stand_open_are_refused() {
    let (target, elsewhere) = (shared(), tempdir().unwrap());
    symlink(elsewhere.path(), own(target.path())).unwrap();
    assert_eq!(make_or_open(target.path()).unwrap_err().to_string(), "a symbolic link");
    fs::remove_file(own(target.path())).unwrap();
    fs::write(own(target.path()), "").unwrap();
    assert_eq!(make_or_open(target.path()).unwrap_err().to_string(), "a file");
    fs::remove_file(own(target.path())).unwrap();
    make_or_open(target.path()).unwrap();
    fs::set_permissions(own(target.path()), fs::Permissions::from_mode(0o770)).unwrap();
    for refused in [make_or_open(target.path()), recognise(target.path())] {
        assert!(matches!(refused, Err(Refusal::Open { mode: 0o770, .. })), "{refused:?}");
    }
    assert_eq!(count(elsewhere.path()) + count(&own(target.path())), 0);
}

#[test]
fn what_is_mounted_over_a_directory_is_refused_whoever_it_says_owns_it() {
    let target = shared();
    make_or_open(target.path()).unwrap();
    let Some(tmpfs) = TmpfsMount::new(1 << 20) else { return };
    let elsewhere = tempdir().unwrap();
    for planted in [tmpfs.path(), elsewhere.path()] {
        fs::set_permissions(planted, fs::Permissions::from_mode(0o700)).unwrap();
        let _mounted = BindMount::new(planted, &own(target.path())).unwrap();
        assert_eq!(make_or_open(target.path()).unwrap_err(), Refusal::MountedOver);
        assert_eq!(recognise(target.path()).unwrap_err(), Refusal::MountedOver);
        assert_eq!(count(planted), 0);
    }
    make_or_open(target.path()).unwrap();
}

/// The reply of mkdir is late, as that of a file server may be, and somebody uses the time.
#[test]
fn a_directory_that_is_exchanged_before_it_is_opened_is_refused() {
    if skip_unless_root() {
        return;
    }
    let backing = shared();
    let Some(fuse) = FuseMount::start(backing.path()) else { return };
    for mode in [0o777, 0o755, 0o700] {
        let planted = planted(backing.path(), mode);
        fuse.withhold(FuseCall::Mkdir, "own");
        let refused = std::thread::scope(|scope| {
            let maker = scope.spawn(|| make_or_open(fuse.path()));
            assert!(fuse.wait_until_held(1, Duration::from_secs(60)));
            renameat_with(CWD, &planted, CWD, own(backing.path()), RenameFlags::EXCHANGE).unwrap();
            fuse.release();
            maker.join().unwrap()
        });
        assert!(matches!(refused, Err(Refusal::Foreign { owner: MALLORY, .. })), "{mode:o}: {refused:?}");
        assert_eq!(count(&own(backing.path())), 1, "nothing is left in it");
        fs::remove_dir_all(own(backing.path())).unwrap();
    }
}

/// What was taken for ours is ours, whatever was exchanged when.
#[test]
fn somebody_who_exchanges_directories_all_the_time_gets_none_of_his_taken() {
    if skip_unless_root() {
        return;
    }
    let target = shared();
    let planted = planted(target.path(), 0o777);
    let is_over = AtomicBool::new(false);
    let (mut taken, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let _ = renameat_with(CWD, &planted, CWD, own(target.path()), RenameFlags::EXCHANGE);
            }
        });
        // Until each has happened, which depends on who is given the processor when.
        for tries in 0..1_000_000 {
            if tries >= 3000 && taken > 0 && refused > 0 {
                break;
            }
            match make_or_open(target.path()) {
                Ok(own) => {
                    assert_eq!(rustix::fs::fstat(&own).unwrap().st_uid, 0, "another's was taken");
                    taken += 1;
                }
                Err(_) => refused += 1,
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    println!("{taken} taken, {refused} refused");
    assert!(taken > 0 && refused > 0, "{taken} taken, {refused} refused");
}

#[test]
fn root_that_a_server_maps_to_another_user_finds_its_own_and_no_other() {
    if skip_unless_root() {
        return;
    }
    let target = shared();
    let mapped = |ask: fn(&Path) -> Result<OwnDirectory, Refusal>| {
        let target = target.path().to_owned();
        let asked = move || {
            // SAFETY: of this thread only, which stays root but makes files as another user, as with root squash.
            unsafe { libc::setfsuid(MALLORY) };
            ask(&target).map(|own| (own.origin(), own.owner()))
        };
        std::thread::spawn(asked).join().unwrap()
    };
    assert_eq!(mapped(make_or_open), Ok((Origin::Made, MALLORY)));
    assert_eq!(mapped(make_or_open), Ok((Origin::Found, MALLORY)));
    assert_eq!(mapped(recognise), Ok((Origin::Found, MALLORY)));
    assert_eq!(count(&own(target.path())), 0);
    // Anybody may enter them, so that it is not the kernel that refuses.
    fs::set_permissions(own(target.path()), fs::Permissions::from_mode(0o755)).unwrap();
    chown(own(target.path()), Some(4711), None).unwrap();
    for ask in [make_or_open, recognise] {
        assert_eq!(mapped(ask), Err(Refusal::Foreign { owner: 4711, mode: 0o755 }));
    }
}

#[test]
fn sshfs_with_another_users_number_is_no_obstacle() {
    let Some(sshfs) = SshfsMount::start_as(MALLORY, "rw") else { return };
    let made = make_or_open(sshfs.path()).unwrap();
    assert_eq!((made.origin(), made.owner(), made.modes()), (Origin::Made, MALLORY, Modes::Kept));
    assert_eq!(recognise(sshfs.path()).unwrap().owner(), MALLORY);
}

#[test]
fn a_file_system_without_modes_is_told_and_refused_where_others_may_write() {
    for (umask, expected) in [("022", Ok(Modes::NotKept)), ("000", Err(Refusal::Unprotected { mode: 0o777 }))]
    {
        let Some(sshfs) = SshfsMount::start_as(0, &format!("umask={umask}")) else { return };
        assert_eq!(make_or_open(sshfs.path()).map(|own| own.modes()), expected, "{umask}");
        assert_eq!(count(&own(sshfs.path())), 0);
    }
}

#[test]
fn a_new_file_holds_its_bytes_and_one_that_finds_no_room_is_taken_back() {
    let Some(tmpfs) = TmpfsMount::new(64 << 10) else { return };
    let parent = open(tmpfs.path());
    let own_directory = Unproven::make_or_open(parent.as_fd(), NAME).and_then(Unproven::prove).unwrap();
    let write = |bytes: usize| own_directory.write_new(c"file", &vec![1; bytes]);
    let refused = write(1 << 20);
    let no_space = |refused: &Refusal| refused.errno().raw_os_error() == libc::ENOSPC;
    assert!(refused.as_ref().is_err_and(no_space), "{refused:?}");
    assert_eq!(count(&own(tmpfs.path())), 0);
    write(100).unwrap();
    assert_eq!(fs::read(own(tmpfs.path()).join("file")).unwrap(), [1; 100]);
    assert!(write(100).is_err(), "nobody has it twice");
    assert_eq!(count(&own(tmpfs.path())), 1);
    let status = Command::new("rm").arg("-rf").arg(own(tmpfs.path())).status();
    assert!(status.unwrap().success());
}
