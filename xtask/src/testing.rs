//! The step `tests`: all tests of the workspace, of the page and of the readers, or those that are named.

use std::ffi::OsString;
use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};

use crate::built::{self, Executable, ExecutableKind};
use crate::places::{Places, output};
use crate::readers::THIS_PROGRAM;
use crate::suite::{self, Attempt, Audience, Case, Laboratory, Outcome, Tally, Verdict};
use crate::{machine, readers, web};

/// For property tests: the same seed gives the same cases, in the attempt that failed and in those after it.
const SEED: &str = "PROPTEST_RNG_SEED";
/// Most tests wait most of the time.
const JOBS_PER_PROCESSOR: usize = 2;

/// Which tests are asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// All of them.
    All,
    /// Those whose names hold one of these.
    Named(Vec<&'a str>),
}

/// Builds and runs tests; says what came of them, and remembers it in `tally`.
pub fn run(places: &Places, wanted: &Wanted<'_>, tally: &mut Tally) -> Result<()> {
    let Tests { cases, executables } = match wanted {
        Wanted::All => all(places, tally)?,
        Wanted::Named(names) => named(places, names)?,
    };
    let seed = std::env::var_os(SEED).unwrap_or_else(|| seed(places).to_string().into());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = processors * JOBS_PER_PROCESSOR;
    let circumstances = format!("{}, load {}, {SEED}={}", machine::description(), load(), seed.display());
    println!("{} tests, {jobs} at a time, on {circumstances}", cases.len());
    let laboratory = Laboratory::new(THIS_PROGRAM.into(), environment(places, &executables, seed))?;
    let is_chosen = matches!(wanted, Wanted::Named(_));
    let mut teller = Teller { told: 0, all: cases.len(), is_chosen };
    let outcomes = suite::run(&cases, &laboratory, jobs, &mut teller)?;
    let recorded = suite::record(&places.root, outcomes.iter(), &circumstances);
    tally.add(outcomes);
    println!("{}", tally.times());
    recorded
}

/// What is to be run, and what was built with it.
struct Tests {
    cases: Vec<Case>,
    executables: Vec<Executable>,
}

fn all(places: &Places, tally: &mut Tally) -> Result<Tests> {
    let mut tests = rust(places, &[])?;
    tests.cases.push(readers::case(places));
    let lack = web::lack().or_else(|| web::unprepared(places));
    let has_page = lack.is_none();
    match lack {
        None => tests.cases.extend(web::cases(places)?),
        Some(why) => tally.skip("web", &why),
    }
    let names: Vec<&str> = tests.cases.iter().map(|case| &*case.name).collect();
    for rule in suite::stale(&names).into_iter().filter(|rule| has_page || !rule.starts_with("web::")) {
        tally.step_failed(format!("a rule in xtask/src/suite/rules.rs that no test obeys any more: {rule}"));
    }
    Ok(tests)
}

/// The tests that are meant by one of the names.
fn named(places: &Places, names: &[&str]) -> Result<Tests> {
    let mut found = Tests { cases: Vec::new(), executables: Vec::new() };
    for name in names {
        let mut tests = match name.split("::").next() {
            Some("readers") => Tests { cases: vec![readers::case(places)], ..rust(places, &[])? },
            Some("web") => {
                web::prepare(places)?;
                Tests { cases: web::cases(places)?, ..rust(places, &[])? }
            }
            _ => rust(places, &part_of_workspace(places, name))?,
        };
        let (meant, others): (Vec<_>, Vec<_>) =
            tests.cases.into_iter().partition(|case| case.is_meant_by(name));
        ensure!(!meant.is_empty(), "there is no test {name:?}; {}", near(&others, name));
        // Two names may mean the same test.
        let known: Vec<String> = found.cases.iter().map(|case| case.name.clone()).collect();
        found.cases.extend(meant.into_iter().filter(|case| !known.contains(&case.name)));
        found.executables.append(&mut tests.executables);
    }
    Ok(found)
}

/// What of the workspace has to be built for a name that begins with `PACKAGE::PROGRAM`: options for cargo, none for everything.
fn part_of_workspace<'a>(places: &Places, name: &'a str) -> Vec<&'a str> {
    let mut words = name.split("::");
    let (Some(package), Some(program)) = (words.next(), words.next()) else { return Vec::new() };
    let tests = places.root.join("crates").join(package).join("tests");
    let is_program =
        tests.join(program).join("main.rs").exists() || tests.join(format!("{program}.rs")).exists();
    // The tests of the fixtures bring the file server that hangs.
    match program {
        "lib" => vec!["--lib", "--test", "faults"],
        _ if is_program => vec!["--test", program, "--test", "faults"],
        _ => Vec::new(),
    }
}

/// Names that hold a word of what was asked for.
fn near(cases: &[Case], wanted: &str) -> String {
    const MOST: usize = 8;
    let words: Vec<&str> =
        wanted.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 3).collect();
    let likeness = |case: &&Case| words.iter().filter(|word| case.name.contains(**word)).count();
    let mut likely: Vec<&Case> = cases.iter().filter(|case| likeness(case) > 0).collect();
    likely.sort_by_key(|case| std::cmp::Reverse(likeness(case)));
    let names: Vec<&str> = likely.iter().take(MOST).map(|case| &*case.name).collect();
    match names[..] {
        [] => "a NAME is whole words of PACKAGE::PROGRAM::MODULE::TEST, as `cargo xtask test` prints them"
            .to_owned(),
        _ => format!("near to it are\n  {}", names.join("\n  ")),
    }
}

fn rust(places: &Places, selection: &[&str]) -> Result<Tests> {
    let mut tests = Tests { cases: Vec::new(), executables: built::build(places, selection)? };
    for program in tests.executables.iter().filter(|one| one.kind == ExecutableKind::Tests) {
        tests.cases.extend(suite::cases(program)?);
    }
    tests.cases.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(tests)
}

/// What all tests are told.
fn environment(places: &Places, executables: &[Executable], seed: OsString) -> Vec<(&'static str, OsString)> {
    let mut environment = vec![
        (SEED, seed),
        // So that snapshot tests need not ask cargo, each of them.
        ("INSTA_WORKSPACE_ROOT", places.root.clone().into()),
        ("IOLAG_SERVERS", places.servers().into()),
    ];
    for (variable, name) in [("IOLAG_FUSE_FIXTURE", "iolag-fuse-fixture"), ("IOLAG_PROGRAM", "iolag")] {
        // A part of the workspace may come without.
        environment.extend(built::program(executables, name).map(|path| (variable, path.into())));
    }
    if places.python().exists() {
        environment.push(("IOLAG_PYTHON", places.python().into()));
    }
    environment
}

/// A number for what is checked out: other cases for each change, and the same for everybody who tests it, so that a change that
/// passed passes again. Without git it is taken from the clock.
fn seed(places: &Places) -> u64 {
    let tree = output(Command::new("git").args(["rev-parse", "HEAD^{tree}"]).current_dir(&places.root));
    let number = tree.ok().and_then(|tree| u64::from_str_radix(tree.get(..16)?, 16).ok());
    number.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::from(now.subsec_nanos()) ^ now.as_secs().rotate_left(32)
    })
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// Tells the developer at the terminal.
struct Teller {
    told: usize,
    all: usize,
    is_chosen: bool,
}

impl Audience for Teller {
    fn ran(&mut self, outcome: &Outcome, output: &str) {
        self.told += 1;
        let Outcome { name, duration, .. } = outcome;
        let seconds = duration.as_secs_f64();
        match &outcome.verdict {
            Verdict::Failed(failure) => {
                println!("FAILED {name} in {seconds:.1} s: {}\n{}", failure.why, indented(output));
            }
            _ if self.is_chosen => println!("{name} in {seconds:.1} s\n{}", indented(output)),
            _ => {}
        }
        if self.told.is_multiple_of(100) {
            println!("{} of {}", self.told, self.all);
        }
    }

    fn again(&mut self, name: &str, attempt: &Attempt) {
        let seconds = attempt.duration.as_secs_f64();
        match &attempt.failure {
            None => println!("again, alone: {name} passed in {seconds:.1} s"),
            Some(why) => {
                println!(
                    "again, alone: {name} failed in {seconds:.1} s: {why}\n{}",
                    indented(&attempt.output)
                );
            }
        }
    }
}

/// The end of what a test printed, set off from what the runner says.
fn indented(output: &str) -> String {
    const MOST_LINES: usize = 200;
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let hidden = lines.len().saturating_sub(MOST_LINES);
    let note = if hidden > 0 { format!("    | ({hidden} lines before)\n") } else { String::new() };
    let shown: Vec<String> = lines[hidden..].iter().map(|line| format!("    | {line}")).collect();
    note + &shown.join("\n")
}
