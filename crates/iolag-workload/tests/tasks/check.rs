//! A check's session: `ls`, many small files, a compiler; and programs that fail or talk too much.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use iolag_backend::{Backend, Completion, ObjectKey, PosixBackend, Request, Session, SessionOptions};
use iolag_fixtures::{current_test, skip};
use iolag_model::{
    ClientId, Clock, ErrorClass, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds, Operation,
    SimulatedClock, Verification,
};
use iolag_workload::{Compiler, Language, TaskLimits, TaskOptions, TaskSession, find_compiler};

use crate::support::{lacks, names, peak_kib};

/// A session that must not be asked.
struct Nobody;

impl Session for Nobody {
    fn prepare(&mut self, request: &Request) {
        panic!("{request:?} is a task");
    }

    fn execute(&mut self, request: &Request) -> Completion {
        panic!("{request:?} is a task");
    }
}

fn options(list_program: impl Into<PathBuf>, compiler: Option<Compiler>) -> TaskOptions {
    TaskOptions {
        listed: "check-list".into(),
        created_files: 500,
        list_program: list_program.into(),
        compiler,
    }
}

fn open(place: &Path, options: &TaskOptions) -> TaskSession {
    open_within(place, options, TaskLimits::default())
}

fn open_within(place: &Path, options: &TaskOptions, limits: TaskLimits) -> TaskSession {
    fs::create_dir_all(place.join("check-list")).expect("the place is a fresh directory");
    (0..6).for_each(|file| fs::write(place.join(format!("check-list/file-{file}")), "").expect("it is new"));
    let directory = OwnedFd::from(fs::File::open(place).expect("the place is there"));
    TaskSession::new(Box::new(Nobody), directory, options.clone(), limits)
}

fn run(session: &mut TaskSession, operation: Operation) -> (Completion, Option<String>) {
    let request = Request::new(operation, ObjectKey { index: 3, ..ObjectKey::default() }, 0);
    session.prepare(&request);
    let completion = session.execute(&request);
    (session.inspect(&request, completion), session.message())
}

fn script(place: &Path, name: &str, text: &str) -> PathBuf {
    let path = place.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the place is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the script is ours");
    path
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let outside = tempfile::tempdir().expect("a temporary directory");
    let place = outside.path().join("place");
    fs::create_dir(&place).expect("it is new");
    (outside, place)
}

#[test]
fn a_real_ls_lists_six_files_in_both_forms() {
    if lacks("/bin/ls") {
        return;
    }
    let (_outside, place) = place();
    let mut session = open(&place, &options("/bin/ls", None));
    assert_eq!(names(&place.join("check-list")).len(), 6);
    for operation in [Operation::TaskList, Operation::TaskListNumeric] {
        assert_eq!(run(&mut session, operation), (Completion::ok(0), None));
    }
    fs::remove_dir_all(place.join("check-list")).expect("it is ours");
    let (completion, message) = run(&mut session, Operation::TaskList);
    assert_eq!(completion.code, FailureCode::EXIT);
    let message = message.expect("ls complains");
    assert!(message.starts_with("exit status: 2: ") && message.contains("No such file"), "{message}");
}

#[test]
fn listing_gets_its_option_the_working_directory_and_a_minimal_environment() {
    let (outside, place) = place();
    let said = outside.path().join("said");
    let list =
        script(outside.path(), "ls", &format!("(printf '%s\\n' \"$*\"; pwd; env) > {}", said.display()));
    let mut session = open(&place, &options(list, None));
    assert_eq!(run(&mut session, Operation::TaskListNumeric), (Completion::ok(0), None));
    let said = fs::read_to_string(said).expect("the script wrote it");
    let place = place.canonicalize().expect("it exists");
    assert!(said.starts_with(&format!("-n check-list\n{}\n", place.display())), "{said}");
    assert!(said.contains("LC_ALL=C") && !said.contains("HOME=") && !said.contains("CARGO"), "{said}");
}

#[test]
fn many_files_are_created_in_an_empty_directory_each_time() {
    let (_outside, place) = place();
    let mut session = open(&place, &options("/bin/ls", None));
    for _ in 0..2 {
        let (completion, message) = run(&mut session, Operation::TaskCreate);
        assert_eq!((completion, message), (Completion::ok(500 * 64), None));
        assert_eq!(names(&place.join("check-create-3")).len(), 500);
    }
    fs::write(place.join("check-create-3/foreign"), "").expect("it is writable");
    let other = Request::new(Operation::TaskCreate, ObjectKey::default(), 0);
    session.prepare(&other);
    assert_eq!(names(&place.join("check-create-3")), ["foreign"], "only what iolag made was removed");
}

#[test]
fn a_directory_in_the_way_of_the_files_is_a_failed_operation() {
    let (_outside, place) = place();
    let mut session = open(&place, &options("/bin/ls", None));
    fs::write(place.join("check-create-3"), "").expect("the place is writable");
    let (completion, _) = run(&mut session, Operation::TaskCreate);
    assert_eq!(completion.code.errno(), Some(libc_enotdir()));
    fs::remove_file(place.join("check-create-3")).expect("it is ours");
    std::os::unix::fs::symlink("/tmp", place.join("check-create-3")).expect("it is free");
    let (completion, _) = run(&mut session, Operation::TaskCreate);
    assert!(!completion.is_ok(), "a link is not followed");
}

const fn libc_enotdir() -> i32 {
    20
}

#[test]
fn a_real_compiler_makes_a_program_that_runs() {
    let environment: Vec<_> = std::env::vars_os().collect();
    let Some(compiler) = find_compiler(&environment) else {
        skip(&current_test(), "no compiler was found");
        return;
    };
    let (_outside, place) = place();
    let mut session = open(&place, &options("/bin/ls", Some(compiler)));
    for _ in 0..2 {
        assert_eq!(run(&mut session, Operation::TaskCompile), (Completion::ok(0), None));
    }
    let output = std::process::Command::new(place.join("check-compile/program")).output().expect("it runs");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("steps "), "{output:?}");
}

#[test]
fn the_fortran_program_is_compiled_where_a_compiler_is() {
    let path = PathBuf::from("/usr/bin/gfortran");
    if lacks("/usr/bin/gfortran") {
        return;
    }
    let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let (_outside, place) = place();
    let compiler = Compiler { path, language: Language::Fortran, environment };
    let mut session = open(&place, &options("/bin/ls", Some(compiler)));
    assert_eq!(run(&mut session, Operation::TaskCompile), (Completion::ok(0), None));
    let output = std::process::Command::new(place.join("check-compile/program")).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_compiler_that_fails_says_why_and_one_that_is_missing_is_not_supported() {
    let (outside, place) = place();
    let path = script(outside.path(), "cc", "echo 'no licence for today' >&2; exit 3");
    let compiler = Compiler { path, language: Language::C, environment: vec![] };
    let mut session = open(&place, &options("/bin/ls", Some(compiler)));
    let (completion, message) = run(&mut session, Operation::TaskCompile);
    assert_eq!(completion.code, FailureCode::EXIT);
    assert_eq!(message.as_deref(), Some("exit status: 3: no licence for today"));
    assert_eq!(session.message(), None, "a message is told once");

    let mut without = open(&place, &options(outside.path().join("missing"), None));
    let (completion, _) = run(&mut without, Operation::TaskCompile);
    assert_eq!(completion.code.class(), ErrorClass::NotSupported);
    let (completion, message) = run(&mut without, Operation::TaskList);
    assert_eq!(completion.code.class(), ErrorClass::NotFound);
    assert!(message.is_some_and(|message| message.contains("missing cannot be run")));
}

/// A clock that is a second later whenever it is looked at.
#[derive(Debug, Default)]
struct Hurrying(SimulatedClock);

impl Clock for Hurrying {
    fn now(&self) -> MonotonicTime {
        self.0.advance(Nanoseconds::from_seconds(1));
        self.0.now()
    }

    fn sleep_until(&self, moment: MonotonicTime) {
        self.0.sleep_until(moment);
    }

    fn rest_until(&self, moment: MonotonicTime) {
        self.0.rest_until(moment);
    }
}

fn run_until(session: &mut TaskSession, operation: Operation, until: MonotonicTime) -> Completion {
    let request = Request::task(operation, ObjectKey { index: 3, ..ObjectKey::default() }, until);
    session.prepare(&request);
    session.execute(&request)
}

#[test]
fn files_are_created_until_the_time_is_over_and_what_was_created_is_said_and_removed() {
    let (_outside, place) = place();
    let limits = TaskLimits::new(Arc::new(Hurrying::default()), || false);
    let mut session = open_within(&place, &options("/bin/ls", None), limits);
    let end = MonotonicTime(32_000_000_000);
    assert_eq!(run_until(&mut session, Operation::TaskCreate, end), Completion::interrupted(31 * 64));
    let files = || names(&place.join("check-create-3")).len();
    assert_eq!(files(), 31);
    assert_eq!(run_until(&mut session, Operation::TaskCreate, end), Completion::interrupted(0));
    assert_eq!(files(), 0, "the next one begins in an empty directory");
}

#[test]
fn whoever_says_stop_ends_a_task() {
    let (outside, place) = place();
    let list = script(outside.path(), "ls", "sleep 1000");
    let limits = TaskLimits::new(Arc::new(MonotonicClock), || true);
    let mut session = open_within(&place, &options(list, None), limits);
    for operation in [Operation::TaskCreate, Operation::TaskList] {
        let request = Request::new(operation, ObjectKey::default(), 0);
        session.prepare(&request);
        assert_eq!(session.execute(&request), Completion::interrupted(0), "{operation}");
    }
}

#[test]
fn a_program_that_takes_too_long_is_ended_with_all_that_it_started() {
    let (outside, place) = place();
    let said = outside.path().join("child");
    let text = format!("sleep 1000 & echo $! > {}; wait", said.display());
    let list = script(outside.path(), "ls", &text);
    let mut session = open(&place, &options(list, None));
    let until = MonotonicClock.now().after(Nanoseconds::from_milliseconds(300));
    assert_eq!(run_until(&mut session, Operation::TaskList, until), Completion::interrupted(0));
    assert_eq!(session.message(), None, "that it was ended is no complaint");
    let Ok(child) = fs::read_to_string(said) else { return };
    // It was orphaned when it was killed: it may still be dying, and whoever adopted it may not have buried it yet.
    let state = || fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    let is_over = |state: &str| state.is_empty() || state.contains(") Z") || state.contains(") X");
    let ended = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_over(&state())
    });
    assert!(ended, "{}", state());
}

#[test]
fn a_program_that_prints_a_gigabyte_does_not_fill_memory() {
    let (outside, place) = place();
    let talk = "head -c 1073741824 /dev/zero; echo first >&2; head -c 1073741824 /dev/zero | tr '\\0' x >&2; kill -9 $$";
    let list = script(outside.path(), "ls", talk);
    let mut session = open(&place, &options(list, None));
    let before_kib = peak_kib();
    let (completion, message) = run(&mut session, Operation::TaskList);
    assert_eq!(completion.code, FailureCode::EXIT);
    let message = message.expect("it was killed");
    assert!(message.starts_with("signal: 9 (SIGKILL): first\nxxx") && message.len() < 5_000, "{message:.50}");
    let more_kib = peak_kib().saturating_sub(before_kib);
    assert!(more_kib < 64 << 10, "{more_kib} KiB more");
}

#[test]
fn other_operations_reach_the_inner_session_and_the_place_is_removed_whole() {
    let (_outside, target) = place();
    let backend = PosixBackend::new(target.clone(), "iolag-work").expect("a plain name");
    backend.create_place(&iolag_backend::conformance::maker()).expect("the target is empty");
    let session_options =
        SessionOptions { verification: Verification::Content, ..SessionOptions::new(ClientId(0), 0, 1, 100) };
    let environment: Vec<_> = std::env::vars_os().collect();
    let task_options = options("/bin/ls", find_compiler(&environment));
    {
        let inner = backend.open_session(&session_options).expect("the place was made");
        let working = backend.open_place().expect("the place was made");
        let mut session = TaskSession::new(inner, working, task_options.clone(), TaskLimits::default());
        let key = ObjectKey { rank: 0, dataset: 1, index: 3 };
        for operation in [Operation::MakeDirectory, Operation::Create, Operation::Read] {
            let request = Request::new(operation, key, 100);
            session.prepare(&request);
            let completion = session.execute(&request);
            assert!(session.inspect(&request, completion).is_ok(), "{operation}");
            assert!(run(&mut session, Operation::TaskCreate).0.is_ok());
        }
        if task_options.compiler.is_some() {
            assert!(run(&mut session, Operation::TaskCompile).0.is_ok());
        }
    }
    assert_eq!(backend.remove_place().expect("it is ours"), []);
    assert!(names(&target).is_empty());
}
