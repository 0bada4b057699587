//! The runner of tests, tried on tests that were planted: a real harness, real processes, a real dead mount.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use xtask::suite::{Again, Attempt, Audience, Case, Laboratory, Launch, Outcome, Tally, Verdict, run};

/// Far more than anything takes that is expected to end.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_secs(1);

/// The planted program, and a directory for what it remembers.
struct Field {
    directory: tempfile::TempDir,
    program: PathBuf,
}

/// Remembers what it was told.
#[derive(Default)]
struct Listener {
    ran: Vec<String>,
    again: Vec<String>,
}

impl Audience for Listener {
    fn ran(&mut self, outcome: &Outcome, _: &str) {
        self.ran.push(outcome.name.clone());
    }

    fn again(&mut self, name: &str, attempt: &Attempt) {
        let word = if attempt.failure.is_none() { "passed" } else { "failed" };
        self.again.push(format!("{name} {word}"));
    }
}

impl Field {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("planted");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/planted.rs");
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let status = Command::new(compiler)
            .args(["--test", "--edition", "2024", "-A", "warnings", "-o"])
            .args([&program, &source])
            .status()
            .unwrap();
        assert!(status.success());
        Self { directory, program }
    }

    fn case(&self, test: &str, limit: Duration) -> Case {
        let launch = Launch {
            program: self.program.clone(),
            arguments: [test, "--exact", "--nocapture"].map(OsString::from).to_vec(),
            directory: self.directory.path().to_owned(),
            environment: vec![("PLANTED", self.directory.path().into())],
            proof: Some("test result: ok. 1 passed"),
        };
        Case { limit, ..Case::new("planted", test, launch) }
    }

    /// What came of these tests, and what was told meanwhile.
    fn run(&self, cases: &[Case]) -> (Vec<Outcome>, Listener) {
        let guard = PathBuf::from(env!("CARGO_BIN_EXE_xtask"));
        let seed = vec![("PROPTEST_RNG_SEED", "7".into())];
        let laboratory = Laboratory::new(guard, seed).unwrap();
        let mut listener = Listener::default();
        let outcomes = run(cases, &laboratory, 2, &mut listener).unwrap();
        (outcomes, listener)
    }

    fn run_one(&self, test: &str, limit: Duration) -> (Outcome, Listener) {
        let (mut outcomes, listener) = self.run(&[self.case(test, limit)]);
        (outcomes.remove(0), listener)
    }

    /// What a planted test has written down, a line each time.
    fn noted(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.directory.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn tally(outcomes: Vec<Outcome>) -> Tally {
    let mut tally = Tally::default();
    tally.add(outcomes);
    tally
}

fn why(outcome: &Outcome) -> &str {
    match &outcome.verdict {
        Verdict::Failed(failure) | Verdict::Flaky(failure) => &failure.why,
        other => panic!("{} did not fail: {other:?}", outcome.name),
    }
}

fn is_alive(process: &str) -> bool {
    // A zombie is not; nobody is left to have one.
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_test_that_always_fails_is_tried_twice_at_most_and_fails_the_run() {
    let field = Field::new();
    let (outcomes, listener) = field.run(&[field.case("passes", LONG), field.case("fails", LONG)]);
    let Verdict::Failed(failure) = &outcomes[0].verdict else { panic!("{outcomes:?}") };
    assert_eq!(failure.why, "exit code 101");
    assert!(failure.output.contains("said before the end\n") && failure.output.contains("it always fails"));
    assert_eq!(outcomes[1].verdict, Verdict::Passed);
    assert_eq!(listener.again, ["planted::fails failed"]);
    let tally = tally(outcomes);
    assert!(!tally.is_good());
    assert_eq!(tally.to_string(), "FAILED planted::fails: exit code 101\n1 passed, 1 failed, 0 skipped");
}

#[test]
fn a_test_that_fails_one_time_in_two_is_told_as_flaky_and_the_run_passes() {
    let field = Field::new();
    let (outcome, listener) = field.run_one("fails_the_first_time", LONG);
    assert!(
        matches!(&outcome.verdict, Verdict::Flaky(failure) if failure.output.contains("it fails one time"))
    );
    assert_eq!(listener.again, ["planted::fails_the_first_time passed"; 2]);
    let tally = tally(vec![outcome]);
    assert!(tally.is_good());
    let told = "FLAKY planted::fails_the_first_time: exit code 101\n1 passed, 0 failed, 0 skipped";
    assert_eq!(tally.to_string(), told);
}

#[test]
fn a_test_that_passes_only_once_again_has_failed() {
    let field = Field::new();
    let (outcome, listener) = field.run_one("fails_the_second_time_again", LONG);
    assert!(matches!(outcome.verdict, Verdict::Failed(_)));
    let name = "planted::fails_the_second_time_again";
    assert_eq!(listener.again, [format!("{name} passed"), format!("{name} failed")]);
}

#[test]
fn a_test_of_lost_samples_is_never_run_again() {
    let field = Field::new();
    let case = field.case("fails_one_time_in_two_and_loses_samples", LONG);
    assert!(matches!(case.again, Again::Never(_)), "{case:?}");
    let (outcomes, listener) = field.run(&[case]);
    assert!(matches!(outcomes[0].verdict, Verdict::Failed(_)));
    assert_eq!(listener.again, [""; 0]);
}

#[test]
fn more_than_two_flaky_tests_fail_the_run() {
    let field = Field::new();
    let (outcome, _) = field.run_one("fails_the_first_time", LONG);
    let three = tally(vec![outcome; 3]);
    assert!(!three.is_good());
    let told = three.to_string();
    assert!(
        told.ends_with("FAILED 3 tests are flaky, and at most 2 may be\n0 passed, 3 failed, 0 skipped"),
        "{told}"
    );
}

#[test]
fn a_test_that_hangs_is_ended_and_named() {
    let field = Field::new();
    let (outcome, _) = field.run_one("hangs", SHORT);
    let [process, next] = &field.noted("hung")[..] else { panic!("it is run again once") };
    let told = why(&outcome);
    let expected = format!("it did not end within 1 s; by then there were: process {process} ");
    assert!(told.starts_with(&expected) && told.contains("hangs --exact --nocapture"), "{told}");
    assert!(
        matches!(&outcome.verdict, Verdict::Failed(failure) if failure.output.contains("said before it hung"))
    );
    assert!(!is_alive(process) && !is_alive(next));
}

#[test]
fn what_a_test_leaves_behind_is_ended_and_named() {
    let field = Field::new();
    let (outcome, _) = field.run_one("leaves_a_process", LONG);
    assert_eq!(outcome.verdict, Verdict::Passed);
    let process = field.noted("left").remove(0);
    let [sleeper, file] = &outcome.left[..] else { panic!("{outcome:?}") };
    assert!(sleeper.starts_with(&format!("process {process} sleep 600 (")), "{sleeper}");
    assert_eq!(file, "temporary files: left-file");
    assert!(!is_alive(&process));
    let told = tally(vec![outcome]).to_string();
    assert!(told.starts_with("LEFT BEHIND by planted::leaves_a_process: process "), "{told}");
}

#[test]
fn who_waits_for_a_dead_file_server_is_freed_before_it_is_killed() {
    // SAFETY: asks for a number.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root || !Path::new("/dev/fuse").exists() || std::env::var_os("IOLAG_FUSE_FIXTURE").is_none() {
        let why = "it takes root, /dev/fuse, and IOLAG_FUSE_FIXTURE, which the runner sets";
        return xtask::suite::skip("who_waits_for_a_dead_file_server", why).unwrap();
    }
    let field = Field::new();
    let (outcome, _) = field.run_one("leaves_a_dead_file_server", LONG);
    assert_eq!(outcome.verdict, Verdict::Passed, "{outcome:?}");
    let left = outcome.left.join("\n");
    assert_eq!(left.matches(" ls ").count() + left.matches(" (ls) ").count(), 2, "{left}");
    assert!(left.contains("iolag-fuse-fixture") && left.contains("mount "), "{left}");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(field.directory.path().to_str().unwrap()), "{mounts}");
}

#[test]
fn a_test_that_skips_itself_or_is_killed_is_told_as_that() {
    let field = Field::new();
    let (outcomes, _) = field.run(&[field.case("skips", LONG), field.case("kills_itself", LONG)]);
    assert_eq!(why(&outcomes[0]), "ended by signal 6");
    assert_eq!(outcomes[1].verdict, Verdict::Skipped("there is nothing here".to_owned()));
    let told = tally(outcomes).to_string();
    assert!(told.contains("SKIPPED planted::skips: there is nothing here\n"), "{told}");
    assert!(told.ends_with("0 passed, 1 failed, 1 skipped"), "{told}");
}

#[test]
fn a_test_that_is_not_there_has_not_passed() {
    let field = Field::new();
    let (outcome, _) = field.run_one("was_renamed", LONG);
    assert_eq!(why(&outcome), "it did not run: its output lacks \"test result: ok. 1 passed\"");
}

#[test]
fn property_tests_get_the_same_seed_each_time() {
    let field = Field::new();
    let (outcome, listener) = field.run_one("draws_the_same_numbers_again", LONG);
    assert!(matches!(outcome.verdict, Verdict::Failed(_)));
    assert_eq!(listener.again.len(), 1);
    assert_eq!(field.noted("seeds"), ["7", "7"]);
}

#[test]
fn tests_in_the_background_of_a_shell_see_signals_as_in_the_foreground() {
    let field = Field::new();
    let guard = env!("CARGO_BIN_EXE_xtask");
    let place = field.directory.path().join("place");
    fs::create_dir(&place).unwrap();
    // What a shell without job control does for `command &`.
    let script = "trap '' INT QUIT HUP TERM; exec \"$@\"";
    let told = Command::new("sh")
        .args(["-c", script, "sh", guard, "guard", "60"])
        .args([&place, &field.program])
        .args(["sees_signals_as_in_the_foreground", "--exact", "--nocapture"])
        .output()
        .unwrap();
    let output = fs::read_to_string(place.join("output")).unwrap();
    assert_eq!(String::from_utf8_lossy(&told.stdout), "code 0\n", "{output}");
    assert!(output.contains("1 passed"), "{output}");
}

#[test]
fn a_runner_that_is_killed_leaves_neither_tests_nor_files() {
    let field = Field::new();
    let place = field.directory.path().join("runner").join("0");
    fs::create_dir_all(&place).unwrap();
    // A shell stands in for the runner: it waits for the guard, as the runner does.
    let script = "\"$@\" & wait";
    let mut runner = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_xtask"), "guard", "600"])
        .args([&place, &field.program])
        .args(["hangs", "--exact", "--nocapture"])
        .env("PLANTED", field.directory.path())
        .spawn()
        .unwrap();
    wait_until("the test has begun", || !field.noted("hung").is_empty());
    runner.kill().unwrap();
    runner.wait().unwrap();
    wait_until("the test has ended", || !is_alive(&field.noted("hung")[0]));
    wait_until("its files are removed", || !place.parent().unwrap().exists());
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !condition() {
        assert!(begin.elapsed() < LONG, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
