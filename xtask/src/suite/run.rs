//! Runs tests, several at a time, and those that failed again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use anyhow::{Result, ensure};

use super::attempt::{Attempt, Laboratory};
use super::case::Case;
use super::rules::Again;

/// How many tests that failed are run again: if so many fail, it is not their flakiness.
const MOST_AGAIN: usize = 10;

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Passed,
    /// It says that it could not run here, and why.
    Skipped(String),
    /// It failed, and passed twice when it was alone.
    Flaky(Failure),
    /// It failed.
    Failed(Failure),
}

/// How a test failed the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In a sentence.
    pub why: String,
    /// What it printed.
    pub output: String,
}

/// A test and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// `PROGRAM::TEST`.
    pub name: String,
    /// What it is a part of.
    pub program: String,
    /// What came of it.
    pub verdict: Verdict,
    /// How long the first attempt took.
    pub duration: Duration,
    /// What it left behind, ended and removed by now.
    pub left: Vec<String>,
}

/// Who is told while tests run.
pub trait Audience {
    /// A test was run for the first time.
    fn ran(&mut self, outcome: &Outcome, output: &str);
    /// A test that failed is run again.
    fn again(&mut self, name: &str, attempt: &Attempt);
}

/// Runs all tests, `jobs` at a time, those with the longest limit first; then those that failed twice more, alone.
///
/// # Errors
/// If two tests have one name: what came of one would be told of the other.
pub fn run(
    cases: &[Case],
    laboratory: &Laboratory,
    jobs: usize,
    audience: &mut dyn Audience,
) -> Result<Vec<Outcome>> {
    let names: BTreeSet<&String> = cases.iter().map(|case| &case.name).collect();
    ensure!(names.len() == cases.len(), "{} tests share their names with others", cases.len() - names.len());
    let mut order: Vec<&Case> = cases.iter().collect();
    order.sort_by_key(|case| std::cmp::Reverse(case.limit));
    let (tell, told) = channel();
    let next = AtomicUsize::new(0);
    let mut outcomes = BTreeMap::new();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let tell = tell.clone();
            let (order, next) = (&order, &next);
            scope.spawn(move || work(order, next, laboratory, &tell));
        }
        drop(tell);
        while let Ok((case, attempt)) = told.recv() {
            let outcome = first(case, &attempt);
            audience.ran(&outcome, &attempt.output);
            outcomes.insert(&case.name, outcome);
        }
    });
    run_again(cases, laboratory, audience, &mut outcomes);
    Ok(outcomes.into_values().collect())
}

type Told<'a> = (&'a Case, Attempt);

fn work<'a>(order: &[&'a Case], next: &AtomicUsize, laboratory: &Laboratory, tell: &Sender<Told<'a>>) {
    while let Some(case) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
        tell.send((case, laboratory.attempt(case))).expect("who listens stays until all have told");
    }
}

fn first(case: &Case, attempt: &Attempt) -> Outcome {
    let verdict = match (&attempt.failure, &attempt.skipped) {
        (Some(why), _) => Verdict::Failed(Failure { why: why.clone(), output: attempt.output.clone() }),
        (None, Some(why)) => Verdict::Skipped(why.clone()),
        (None, None) => Verdict::Passed,
    };
    Outcome {
        name: case.name.clone(),
        program: case.program.clone(),
        verdict,
        duration: attempt.duration,
        left: attempt.left.clone(),
    }
}

/// A test that passes both times is flaky.
fn run_again(
    cases: &[Case],
    laboratory: &Laboratory,
    audience: &mut dyn Audience,
    outcomes: &mut BTreeMap<&String, Outcome>,
) {
    let has_failed = |case: &&Case| {
        let outcome = outcomes.get(&case.name);
        case.again == Again::Twice
            && outcome.is_some_and(|outcome| matches!(outcome.verdict, Verdict::Failed(_)))
    };
    let failed: Vec<&Case> = cases.iter().filter(has_failed).take(MOST_AGAIN).collect();
    for case in failed {
        let Some(outcome) = outcomes.get_mut(&case.name) else { continue };
        let mut passed = 0;
        while passed < 2 {
            let mut attempt = laboratory.attempt(case);
            audience.again(&case.name, &attempt);
            outcome.left.append(&mut attempt.left);
            // Who skips this time shows nothing.
            if attempt.failure.is_some() || attempt.skipped.is_some() {
                break;
            }
            passed += 1;
        }
        if let (Verdict::Failed(failure), 2) = (&outcome.verdict, passed) {
            outcome.verdict = Verdict::Flaky(failure.clone());
        }
    }
}
