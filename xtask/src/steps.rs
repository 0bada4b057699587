//! `cargo xtask test`: the steps in order, each named and timed, all of them also after a failure, so that one run names all that is wrong.
//!
//! The last line is always `N passed, N failed, N skipped`, after the names of what was flaky, skipped or failed. A step that fails counts
//! as one failed test, so that the line never looks good when something is not.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

use crate::places::{Places, run};
use crate::suite::Tally;
use crate::testing::{self, Wanted};
use crate::{bench, features, house, install, room, web};

/// One of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Install,
    Format,
    Clippy,
    Web,
    Tests,
    Features,
    Documentation,
    Bench,
    Tidy,
}

impl Step {
    const ALL: [Self; 9] = [
        Self::Install,
        Self::Format,
        Self::Clippy,
        Self::Web,
        Self::Tests,
        Self::Features,
        Self::Documentation,
        Self::Bench,
        Self::Tidy,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Format => "format",
            Self::Clippy => "clippy",
            Self::Web => "web",
            Self::Tests => "tests",
            Self::Features => "features",
            Self::Documentation => "documentation",
            Self::Bench => "bench",
            Self::Tidy => "tidy",
        }
    }
}

/// The names of all steps, for the usage text.
pub fn names() -> String {
    Step::ALL.map(Step::name).join(", ")
}

/// What is asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
struct Order<'a> {
    steps: Vec<Step>,
    wanted: Wanted<'a>,
}

/// Runs the steps, or the tests, that the options select.
pub fn test(options: &[&str]) -> Result<ExitCode> {
    let Order { steps, wanted } = order(options)?;
    let places = Places::find()?;
    println!("building into {}, caching in {}", places.target.display(), places.cache.display());
    room::make(&places)?;
    let mut tally = Tally::default();
    let start = Instant::now();
    for step in &steps {
        println!("\n== {}", step.name());
        let start = Instant::now();
        let result = execute(*step, &places, &wanted, &mut tally);
        let word = if result.is_ok() { "done" } else { "failed" };
        println!("== {} {word} in {:.1} s", step.name(), start.elapsed().as_secs_f64());
        if let Err(error) = result {
            tally.step_failed(format!("step {}: {error:#}", step.name()));
        }
    }
    println!("\n{} steps in {:.0} s", steps.len(), start.elapsed().as_secs_f64());
    println!("{tally}");
    Ok(if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn order<'a>(options: &[&'a str]) -> Result<Order<'a>> {
    let (mut only, mut installs, mut names) = (None, true, Vec::new());
    let mut words = options.iter();
    while let Some(&word) = words.next() {
        match word {
            "--no-install" => installs = false,
            "--only" => {
                let name = words.next().copied().unwrap_or_default();
                let step = Step::ALL.into_iter().find(|step| step.name() == name);
                only = Some(step.ok_or_else(|| {
                    anyhow!("there is no step {name:?}: the steps are {}", crate::steps::names())
                })?);
            }
            name if !name.starts_with('-') => names.push(name),
            _ => bail!("unknown option {word:?}: expected NAMEs of tests, --only STEP or --no-install"),
        }
    }
    let steps = match (only, names.is_empty()) {
        (Some(step), true) => vec![step],
        (Some(_), false) => bail!("--only STEP goes without NAMEs of tests: they are in the step tests"),
        (None, true) => Step::ALL.to_vec(),
        // Steps that tests need are taken by the tests that need them.
        (None, false) => vec![Step::Install, Step::Tests],
    };
    let is_wanted = |step: &Step| installs || *step != Step::Install;
    let wanted = if names.is_empty() { Wanted::All } else { Wanted::Named(names) };
    Ok(Order { steps: steps.into_iter().filter(is_wanted).collect(), wanted })
}

fn execute(step: Step, places: &Places, wanted: &Wanted<'_>, tally: &mut Tally) -> Result<()> {
    match step {
        Step::Install => install::install(places),
        Step::Format => run(places.cargo().args(["fmt", "--all", "--check"])),
        Step::Clippy => clippy_all(places),
        Step::Web => match web::lack() {
            None => web::prepare(places),
            Some(why) => {
                println!("skipped: {why}");
                Ok(())
            }
        },
        Step::Tests => testing::run(places, wanted, tally),
        Step::Features => features::check(places),
        Step::Documentation => document(places),
        Step::Bench => bench::all_tiny(places),
        Step::Tidy => house::check(places),
    }
}

fn clippy_all(places: &Places) -> Result<()> {
    for set in features::LINTED {
        clippy(places, &[&["--workspace", "--all-targets"], set].concat())?;
    }
    for (package, features, targets) in features::ALONE {
        for feature in *features {
            let set = ["--package", package, "--no-default-features", "--features", feature];
            clippy(places, &[&set[..], targets].concat())?;
        }
    }
    Ok(())
}

fn clippy(places: &Places, what: &[&str]) -> Result<()> {
    let mut cargo = places.cargo();
    cargo.args(["clippy", "--quiet"]).args(what);
    run(cargo.args(["--", "-D", "warnings"]))
}

fn document(places: &Places) -> Result<()> {
    let mut cargo = places.cargo();
    cargo.args(["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    run(&mut cargo).context("the documentation is not whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_select_steps_and_tests() {
        assert_eq!(order(&[]).unwrap(), Order { steps: Step::ALL.to_vec(), wanted: Wanted::All });
        assert!(!order(&["--no-install"]).unwrap().steps.contains(&Step::Install));
        assert_eq!(order(&["--only", "tidy"]).unwrap().steps, [Step::Tidy]);
        let named = order(&["--no-install", "a_hang"]).unwrap();
        assert_eq!(named, Order { steps: vec![Step::Tests], wanted: Wanted::Named(vec!["a_hang"]) });
    }

    #[test]
    fn what_is_mistyped_is_named() {
        let complaint = |words: &[&str]| order(words).unwrap_err().to_string();
        let steps = complaint(&["--only", "tiddy"]);
        assert!(steps.starts_with("there is no step \"tiddy\": the steps are install, format"), "{steps}");
        assert!(complaint(&["--only"]).starts_with("there is no step \"\""));
        assert!(complaint(&["--fast"]).starts_with("unknown option \"--fast\""));
        assert!(complaint(&["--only", "tidy", "a_hang"]).starts_with("--only STEP goes without"));
    }
}
