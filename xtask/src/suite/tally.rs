//! What came of all tests, in numbers and names.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::run::{Outcome, Verdict};

/// With more flaky tests than this the run fails.
const MOST_FLAKY: usize = 2;
const SLOWEST: usize = 10;

/// The outcomes of a run and the steps that failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    outcomes: Vec<Outcome>,
    failed_steps: Vec<String>,
}

impl Tally {
    /// Adds what came of some tests.
    pub fn add(&mut self, outcomes: Vec<Outcome>) {
        self.outcomes.extend(outcomes);
    }

    /// Adds tests that could not even be listed.
    pub fn skip(&mut self, name: &str, why: &str) {
        let (name, program) = (name.to_owned(), name.to_owned());
        let verdict = Verdict::Skipped(why.to_owned());
        self.outcomes.push(Outcome { name, program, verdict, duration: Duration::ZERO, left: Vec::new() });
    }

    /// A step that failed counts as a failed test, so that the last line never looks good when something is not.
    pub fn step_failed(&mut self, why: String) {
        self.failed_steps.push(why);
    }

    /// Whether everything is as it should be, but for at most two flaky tests.
    pub fn is_good(&self) -> bool {
        self.failed_steps.is_empty() && self.failed().count() == 0 && self.flaky().count() <= MOST_FLAKY
    }

    /// Tests that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)))
    }

    /// Tests that failed and then passed twice.
    pub fn flaky(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Flaky(_)))
    }

    fn skipped(&self) -> impl Iterator<Item = (&str, &str)> {
        self.outcomes.iter().filter_map(|outcome| match &outcome.verdict {
            Verdict::Skipped(why) => Some((&*outcome.name, &**why)),
            _ => None,
        })
    }

    /// A line for each program: tests, the time of all, and of the slowest; then the slowest tests of all.
    pub fn times(&self) -> String {
        let mut programs: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
        for outcome in &self.outcomes {
            programs.entry(&outcome.program).or_default().push(outcome.duration);
        }
        let mut lines = vec![format!("{:>9}  {:>9}  {:>5}  test program", "all in s", "longest", "tests")];
        for (program, times) in programs {
            let (all, longest) =
                (times.iter().sum::<Duration>(), times.iter().max().copied().unwrap_or_default());
            let (all, longest) = (all.as_secs_f64(), longest.as_secs_f64());
            lines.push(format!("{all:9.1}  {longest:9.1}  {:5}  {program}", times.len()));
        }
        let mut slowest: Vec<&Outcome> = self.outcomes.iter().collect();
        slowest.sort_by_key(|outcome| std::cmp::Reverse(outcome.duration));
        lines.push(format!("the slowest {} tests:", SLOWEST.min(slowest.len())));
        let line = |outcome: &&Outcome| format!("{:9.1}  {}", outcome.duration.as_secs_f64(), outcome.name);
        lines.extend(slowest.iter().take(SLOWEST).map(line));
        lines.join("\n")
    }
}

/// The end of the output: what was left behind, skipped, flaky and failed by name, and the numbers.
impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in self.outcomes.iter().filter(|outcome| !outcome.left.is_empty()) {
            writeln!(formatter, "LEFT BEHIND by {}: {}", outcome.name, outcome.left.join("; "))?;
        }
        for (name, why) in self.skipped() {
            writeln!(formatter, "SKIPPED {name}: {why}")?;
        }
        for outcome in &self.outcomes {
            match &outcome.verdict {
                Verdict::Flaky(failure) => writeln!(formatter, "FLAKY {}: {}", outcome.name, failure.why)?,
                Verdict::Failed(failure) => writeln!(formatter, "FAILED {}: {}", outcome.name, failure.why)?,
                Verdict::Passed | Verdict::Skipped(_) => {}
            }
        }
        let (flaky, skipped) = (self.flaky().count(), self.skipped().count());
        let too_flaky = if flaky > MOST_FLAKY { flaky } else { 0 };
        if too_flaky > 0 {
            writeln!(formatter, "FAILED {flaky} tests are flaky, and at most {MOST_FLAKY} may be")?;
        }
        for why in &self.failed_steps {
            writeln!(formatter, "FAILED {why}")?;
        }
        let failed_tests = self.failed().count() + too_flaky;
        let failed = failed_tests + self.failed_steps.len();
        let passed = self.outcomes.len() - failed_tests - skipped;
        write!(formatter, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}
