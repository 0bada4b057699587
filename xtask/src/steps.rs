//! `cargo xtask test`: the steps in order, each named and timed; the first failure ends it.
//!
//! The last line is always `N passed, N failed, N skipped`: the tests of all programs, those that could not run named
//! before it. A step that fails counts as one failed test, so that the line never looks good when something is not.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

use crate::count::{Count, Skipped};
use crate::places::{Places, Profile, run};
use crate::{arrows, bench, install, readers, tidy, web};

/// Which cargo features clippy and the tests see, one run for each.
const FEATURE_SETS: &[&[&str]] = &[&[]];

/// One of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Install,
    Format,
    Clippy,
    Tests,
    Documentation,
    Readers,
    Web,
    Bench,
    Tidy,
}

impl Step {
    const ALL: [Self; 9] = [
        Self::Install,
        Self::Format,
        Self::Clippy,
        Self::Tests,
        Self::Documentation,
        Self::Readers,
        Self::Web,
        Self::Bench,
        Self::Tidy,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Format => "format",
            Self::Clippy => "clippy",
            Self::Tests => "tests",
            Self::Documentation => "documentation",
            Self::Readers => "readers",
            Self::Web => "web",
            Self::Bench => "bench",
            Self::Tidy => "tidy",
        }
    }
}

/// The names of all steps, for the usage text.
pub fn names() -> String {
    Step::ALL.map(Step::name).join(", ")
}

/// What the steps share.
struct Progress {
    places: Places,
    skipped_file: PathBuf,
    count: Count,
}

/// Runs the steps that the options select.
pub fn test(options: &[&str]) -> Result<ExitCode> {
    let steps = selected(options)?;
    let places = Places::find()?;
    println!("building into {}, caching in {}", places.target.display(), places.cache.display());
    let skipped_file = places.cache.join(format!("skipped-{}", std::process::id()));
    fs::write(&skipped_file, "").with_context(|| format!("writing {}", skipped_file.display()))?;
    let mut progress = Progress { places, skipped_file, count: Count::default() };
    let start = Instant::now();
    let result = steps.iter().try_for_each(|step| timed(*step, &mut progress));
    let skipped = Skipped::parse(&fs::read_to_string(&progress.skipped_file)?);
    fs::remove_file(&progress.skipped_file)?;
    println!();
    for (test, why) in skipped.iter() {
        println!("SKIPPED {test}: {why}");
    }
    if let Err(error) = &result {
        println!("FAILED {error:#}");
        progress.count.failed = progress.count.failed.max(1);
    }
    println!("{} steps in {:.0} s", steps.len(), start.elapsed().as_secs_f64());
    println!("{}", progress.count.with_skipped(&skipped));
    Ok(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn selected(options: &[&str]) -> Result<Vec<Step>> {
    match *options {
        [] => Ok(Step::ALL.to_vec()),
        ["--no-install"] => Ok(Step::ALL.into_iter().filter(|step| *step != Step::Install).collect()),
        ["--only", name] | ["--only", name, "--no-install"] | ["--no-install", "--only", name] => {
            let step = Step::ALL.into_iter().find(|step| step.name() == name);
            Ok(vec![step.ok_or_else(|| anyhow!("there is no step {name:?}: the steps are {}", names()))?])
        }
        _ => bail!(
            "unknown options {options:?}: expected --only STEP and --no-install; the steps are {}",
            names()
        ),
    }
}

fn timed(step: Step, progress: &mut Progress) -> Result<()> {
    println!("\n== {}", step.name());
    let start = Instant::now();
    let result = execute(step, progress);
    let word = if result.is_ok() { "done" } else { "failed" };
    println!("== {} {word} in {:.1} s", step.name(), start.elapsed().as_secs_f64());
    result.with_context(|| format!("step {}", step.name()))
}

fn execute(step: Step, progress: &mut Progress) -> Result<()> {
    let Progress { places, skipped_file, count } = progress;
    match step {
        Step::Install => install::install(places),
        Step::Format => run(places.cargo().args(["fmt", "--all", "--check"])),
        Step::Clippy => FEATURE_SETS.iter().try_for_each(|features| clippy(places, features)),
        Step::Tests => {
            FEATURE_SETS.iter().try_for_each(|features| tests(places, skipped_file, features, count))
        }
        Step::Documentation => document(places),
        Step::Readers => {
            readers::read_everywhere(places, skipped_file)?;
            // One test: passed, unless it named itself as skipped.
            count.passed += 1;
            Ok(())
        }
        Step::Web => web::check(places, skipped_file, count),
        Step::Bench => bench::all_tiny(places),
        Step::Tidy => {
            arrows::check(places)?;
            tidy::check(&places.root)
        }
    }
}

fn clippy(places: &Places, features: &[&str]) -> Result<()> {
    let mut cargo = places.cargo();
    cargo.args(["clippy", "--quiet", "--workspace", "--all-targets", "--features", &features.join(",")]);
    run(cargo.args(["--", "-D", "warnings"]))
}

fn document(places: &Places) -> Result<()> {
    run(places
        .cargo()
        .args(["doc", "--quiet", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}

/// Runs all tests to the end, also after a failure, so that one run names all that is wrong.
fn tests(places: &Places, skipped_file: &Path, features: &[&str], count: &mut Count) -> Result<()> {
    let daemon = places.build("iolag-fixtures", "iolag-fuse-fixture", Profile::Dev)?;
    let mut cargo = places.cargo();
    cargo
        .args(["test", "--workspace", "--no-fail-fast", "--features", &features.join(",")])
        .env("IOLAG_SKIPPED", skipped_file)
        .env("IOLAG_FUSE_FIXTURE", daemon)
        .stdout(Stdio::piped());
    if places.python().exists() {
        cargo.env("IOLAG_PYTHON", places.python());
    }
    let mut child = cargo.spawn().context("starting `cargo test`")?;
    let stdout = child.stdout.take().context("the output of `cargo test` is a pipe")?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.context("reading the output of `cargo test`")?;
        let line = String::from_utf8_lossy(&line);
        count.add_line(&line);
        if is_worth_showing(&line) {
            println!("{line}");
        }
    }
    let status = child.wait().context("waiting for `cargo test`")?;
    match (status.success(), count.failed) {
        (true, _) => Ok(()),
        (false, 0) => {
            bail!("`cargo test --workspace` failed ({status}) before a test did: see its messages above")
        }
        (false, failed) => bail!("`cargo test --workspace`: {failed} tests failed, see their messages above"),
    }
}

/// A test that passed is only counted; all the rest is shown.
fn is_worth_showing(line: &str) -> bool {
    !(line.is_empty()
        || line.starts_with("running ")
        || line.starts_with("test ") && line.ends_with(" ... ok"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_select_steps() {
        assert_eq!(selected(&[]).unwrap(), Step::ALL);
        assert!(!selected(&["--no-install"]).unwrap().contains(&Step::Install));
        assert_eq!(selected(&["--only", "tidy"]).unwrap(), [Step::Tidy]);
        let error = selected(&["--only", "tiddy"]).unwrap_err().to_string();
        assert!(error.starts_with("there is no step \"tiddy\": the steps are install, format"), "{error}");
        assert!(selected(&["--fast"]).is_err());
    }

    #[test]
    fn passed_tests_are_not_shown_and_others_are() {
        assert!(!is_worth_showing("test tests::a ... ok"));
        assert!(is_worth_showing("test tests::a ... FAILED"));
        assert!(is_worth_showing("test result: ok. 1 passed; 0 failed"));
        assert!(is_worth_showing("thread 'a' panicked at src/lib.rs:1:1:"));
    }
}
