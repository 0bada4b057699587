//! The fixtures do what they say, and let go of everybody.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on is to fail at once")]

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use iolag_fixtures::{FuseCall, FuseMount, LoopMount, SKIPPED_FILE_VARIABLE, TmpfsMount, skip};

/// For whatever must happen on a busy machine, unless something hangs.
const LIMIT: Duration = Duration::from_secs(60);

fn mounted() -> Option<(tempfile::TempDir, FuseMount)> {
    let backing = tempfile::tempdir().unwrap();
    let mount = FuseMount::start(backing.path())?;
    Some((backing, mount))
}

fn child(program: &str, path: &Path) -> Child {
    Command::new(program)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        .spawn()
        .unwrap()
}

fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

fn within_limit(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !condition() && start.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(5));
    }
    condition()
}

/// The state letter of a process that may hang.
fn state(child: &Child) -> char {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit(')').next().unwrap().trim().chars().next().unwrap()
}

#[test]
fn a_metadata_cycle_passes_through() {
    let Some((backing, mount)) = mounted() else { return };
    let (path, behind) = (mount.path(), backing.path());
    fs::create_dir(path.join("d")).unwrap();
    fs::write(path.join("d/file"), b"hello").unwrap();
    assert_eq!(fs::read(behind.join("d/file")).unwrap(), b"hello");
    assert_eq!(fs::metadata(path.join("d/file")).unwrap().len(), 5);
    fs::write(path.join("d/file"), b"hi").unwrap();
    assert_eq!(fs::read(path.join("d/file")).unwrap(), b"hi", "writing again truncates");

    let file = fs::OpenOptions::new().append(true).open(path.join("d/file")).unwrap();
    std::io::Write::write_all(&mut &file, b" there").unwrap();
    file.sync_all().unwrap();
    file.set_len(7).unwrap();
    assert_eq!(fs::read(path.join("d/file")).unwrap(), b"hi ther");

    fs::rename(path.join("d/file"), path.join("moved")).unwrap();
    assert_eq!(fs::read(path.join("moved")).unwrap(), b"hi ther");
    fs::rename(path.join("d"), path.join("e")).unwrap();
    fs::write(path.join("e/inside"), b"").unwrap();
    fs::remove_file(path.join("e/inside")).unwrap();
    fs::remove_dir(path.join("e")).unwrap();
    assert_eq!(fs::metadata(path.join("e")).unwrap_err().kind(), ErrorKind::NotFound);

    symlink("moved", path.join("link")).unwrap();
    assert_eq!(fs::read_link(path.join("link")).unwrap(), Path::new("moved"));
    fs::hard_link(path.join("moved"), path.join("other")).unwrap();
    assert_eq!(fs::metadata(path.join("other")).unwrap().nlink(), 2);
    fs::set_permissions(path.join("moved"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(fs::metadata(behind.join("moved")).unwrap().mode() & 0o7777, 0o640);
    let open = fs::File::open(path.join("moved")).unwrap();
    fs::remove_file(path.join("moved")).unwrap();
    fs::remove_file(path.join("other")).unwrap();
    assert_eq!(std::io::read_to_string(&open).unwrap(), "hi ther", "an open file outlives its name");
}

#[test]
fn a_directory_of_many_names_is_listed_completely() {
    let Some((_backing, mount)) = mounted() else { return };
    let expected: Vec<String> = (0..2000).map(|index| format!("file-{index:04}")).collect();
    for name in &expected {
        fs::write(mount.path().join(name), b"").unwrap();
    }
    let mut found: Vec<String> = fs::read_dir(mount.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, expected);
    let listed = Command::new("ls").arg("-l").arg(mount.path()).output().unwrap();
    assert!(listed.status.success());
    assert_eq!(listed.stdout.iter().filter(|byte| **byte == b'\n').count(), 2001);
}

#[test]
fn a_program_is_compiled_and_run_on_it() {
    let Some((_backing, mount)) = mounted() else { return };
    let (source, binary) = (mount.path().join("main.c"), mount.path().join("main"));
    fs::write(&source, "#include <stdio.h>\nint main(void) { puts(\"it runs\"); return 0; }\n").unwrap();
    match Command::new("cc").arg("-o").arg(&binary).arg(&source).env("TMPDIR", mount.path()).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return skip("a_program_is_compiled_and_run_on_it", "there is no C compiler `cc`");
        }
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert_eq!(Command::new(&binary).output().unwrap().stdout, b"it runs\n");
}

#[test]
fn errors_and_delays_hit_only_what_they_name() {
    let Some((_backing, mount)) = mounted() else { return };
    let path = mount.path();
    for name in ["slow", "bad", "plain"] {
        fs::write(path.join(name), b"data").unwrap();
    }
    const EIO: i32 = 5;
    const ESTALE: i32 = 116;
    mount.fail(FuseCall::Open, "bad", EIO);
    mount.fail(FuseCall::Statfs, "*", ESTALE);
    mount.delay(FuseCall::Open, "slow", Duration::from_millis(300));
    assert_eq!(fs::read(path.join("bad")).unwrap_err().raw_os_error(), Some(EIO));
    assert!(fs::metadata(path.join("bad")).is_ok());
    assert_eq!(rustix::fs::statfs(path).unwrap_err().raw_os_error(), ESTALE);
    let start = Instant::now();
    assert_eq!(fs::read(path.join("slow")).unwrap(), b"data");
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
    assert_eq!(fs::read(path.join("plain")).unwrap(), b"data");
    mount.release();
    assert_eq!(fs::read(path.join("bad")).unwrap(), b"data");
    assert!(rustix::fs::statfs(path).unwrap().f_blocks > 0);
}

#[test]
fn a_hung_caller_outlives_sigkill_until_it_is_released() {
    let Some((_backing, mount)) = mounted() else { return };
    fs::write(mount.path().join("file"), b"data").unwrap();
    mount.hang(FuseCall::Lookup, "missing*");
    let mut hung = child("stat", &mount.path().join("missing-1"));
    assert!(mount.wait_until_held(1, LIMIT));
    assert_eq!(fs::read(mount.path().join("file")).unwrap(), b"data", "others go on");

    hung.kill().unwrap();
    assert!(!ends_within(&mut hung, Duration::from_millis(300)), "it must not be killable");
    assert!(within_limit(|| state(&hung) == 'D'), "it is in state {}", state(&hung));
    mount.release();
    assert!(ends_within(&mut hung, LIMIT), "released, it must end");
    assert_eq!(mount.held(), 0);
}

#[test]
fn nothing_is_answered_while_everything_hangs_and_dropping_frees_all() {
    let Some((_backing, mount)) = mounted() else { return };
    let path = mount.path().to_owned();
    fs::write(path.join("file"), b"data").unwrap();
    mount.hang_all();
    let mut hung: Vec<Child> = ["ls", "stat", "cat", "df"]
        .iter()
        .map(|program| child(program, &path.join(if *program == "cat" { "file" } else { "." })))
        .collect();
    let (answered, answer) = mpsc::channel();
    let thread = std::thread::spawn(move || answered.send(fs::metadata(path.join("file")).is_ok()));
    assert!(mount.wait_until_held(1, LIMIT));
    assert!(answer.recv_timeout(Duration::from_millis(300)).is_err(), "a thread was answered");
    for child in &mut hung {
        assert!(child.try_wait().unwrap().is_none(), "a child was answered");
        child.kill().unwrap();
    }
    drop(mount);
    for child in &mut hung {
        assert!(ends_within(child, LIMIT), "a child still hangs");
    }
    assert!(answer.recv_timeout(LIMIT).is_ok(), "the thread still hangs");
    thread.join().unwrap().unwrap();
}

#[test]
fn an_aborted_connection_answers_not_connected() {
    const ENOTCONN: i32 = 107;
    let Some((_backing, mount)) = mounted() else { return };
    mount.hang_all();
    let mut hung = child("ls", mount.path());
    assert!(mount.wait_until_held(1, LIMIT));
    mount.abort().unwrap();
    assert!(ends_within(&mut hung, LIMIT));
    assert_eq!(fs::metadata(mount.path().join("x")).unwrap_err().raw_os_error(), Some(ENOTCONN));
}

#[test]
fn dropping_leaves_neither_mount_nor_process_nor_directory() {
    let Some((backing, mount)) = mounted() else { return };
    fs::write(backing.path().join("stays"), b"").unwrap();
    mount.hang_all();
    let (path, pid) = (mount.path().to_owned(), mount.daemon_pid());
    drop(mount);
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!table.contains(path.to_str().unwrap()));
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(!path.parent().unwrap().exists());
    assert!(backing.path().join("stays").exists());
}

/// Runs this test program once more: the inner one mounts, hangs, says where, and is killed.
#[test]
fn the_mount_of_a_killed_test_goes_away() {
    const INNER: &str = "IOLAG_TEST_OF_KILLING";
    const NAME: &str = "the_mount_of_a_killed_test_goes_away";
    if let Some(told) = std::env::var_os(INNER) {
        let Some((_backing, mount)) = mounted() else { return };
        mount.hang_all();
        fs::write(&told, mount.path().to_str().unwrap()).unwrap();
        std::thread::sleep(Duration::from_secs(600));
    }
    if iolag_fixtures::skip_unless_root() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let told = tempfile::NamedTempFile::new_in(&scratch).unwrap();
    let mut inner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env(INNER, told.path())
        .env("TMPDIR", scratch.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // An inner test that cannot mount says so and ends; otherwise it tells where, and goes on until it is killed.
    let mut has_ended = false;
    let is_told = || fs::read_to_string(told.path()).is_ok_and(|path| !path.is_empty());
    let start = Instant::now();
    while !is_told() && !has_ended && start.elapsed() < LIMIT {
        has_ended = !matches!(inner.try_wait(), Ok(None));
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = inner.kill();
    inner.wait().unwrap();
    let path = fs::read_to_string(told.path()).unwrap();
    if path.is_empty() {
        assert!(has_ended, "the inner test neither mounts nor ends");
        return skip(NAME, "the inner test could not mount");
    }
    let is_gone = || !fs::read_to_string("/proc/self/mountinfo").unwrap().contains(&path);
    assert!(within_limit(is_gone), "{path} is still mounted");
}

#[test]
fn a_full_ext4_says_so_and_a_read_only_one_too() {
    let Some(mount) = LoopMount::ext4(4) else { return };
    fs::write(mount.path().join("before"), b"data").unwrap();
    mount.remount_read_only().unwrap();
    let refused = fs::write(mount.path().join("after"), b"data").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnlyFilesystem);
    mount.remount_writable().unwrap();
    mount.fill().unwrap();
    let refused = fs::write(mount.path().join("after"), b"data").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::StorageFull);
    let path = mount.path().to_owned();
    drop(mount);
    assert!(!path.exists());
}

#[test]
fn a_full_tmpfs_says_so() {
    let Some(mount) = TmpfsMount::new(64 << 10) else { return };
    mount.fill().unwrap();
    let refused = fs::write(mount.path().join("more"), [0; 4096]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::StorageFull);
    let path = mount.path().to_owned();
    drop(mount);
    assert!(!path.exists());
}

/// Runs this test program once more, because the variable that it reads belongs to the whole process.
#[test]
fn a_skipped_test_is_named_in_the_file() {
    const INNER: &str = "IOLAG_TEST_OF_SKIPPING";
    const NAME: &str = "a_skipped_test_is_named_in_the_file";
    if std::env::var_os(INNER).is_some() {
        return skip("the name", "the reason\nin two lines");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env(INNER, "1")
        .env(SKIPPED_FILE_VARIABLE, file.path())
        .output()
        .unwrap();
    assert!(output.status.success());
    let expected = "SKIPPED the name: the reason; in two lines\n";
    assert_eq!(fs::read_to_string(file.path()).unwrap(), expected);
    assert!(String::from_utf8_lossy(&output.stderr).contains(expected));
}

#[test]
fn requests_are_counted_and_served_one_at_a_time() {
    const ASKERS: u32 = 4;
    const TIMES: u32 = 25;
    let Some((_backing, mount)) = mounted() else { return };
    fs::write(mount.path().join("file"), b"x").unwrap();
    let before = mount.requests(None, "*");
    let missed = mount.requests(Some(FuseCall::Lookup), "absent");
    mount.serve_one_at_a_time(Duration::from_millis(1));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..ASKERS {
            scope.spawn(|| {
                for _ in 0..TIMES {
                    assert!(fs::metadata(mount.path().join("absent")).is_err());
                }
            });
        }
    });
    let took = start.elapsed();
    // Nothing is cached: each is one look-up.
    assert_eq!(mount.requests(Some(FuseCall::Lookup), "absent") - missed, u64::from(ASKERS * TIMES));
    let asked = mount.requests(None, "*") - before;
    assert!(asked >= u64::from(ASKERS * TIMES));
    // Less the last, which others need not wait for, and the slack of the server.
    assert!(took >= Duration::from_millis(asked - 11), "{asked} requests in {took:?}");
    assert_eq!(
        mount.requests(Some(FuseCall::Lookup), "fil*"),
        mount.requests(Some(FuseCall::Lookup), "file")
    );
}
