//! Counting tests: the harness' own lines, and the file in which tests that could not run are named.

use std::collections::BTreeMap;
use std::fmt;

/// How many tests passed, failed, and could not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Ran and passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Could not run here, or are ignored.
    pub skipped: usize,
}

impl Count {
    /// Adds what a line of cargo's test output says, if it is the closing line of a test program:
    /// `test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
    pub fn add_line(&mut self, line: &str) {
        let Some(rest) = line.trim().strip_prefix("test result: ") else { return };
        for part in rest.split([';', '.']) {
            let mut words = part.split_whitespace();
            if let (Some(Ok(number)), Some(what)) = (words.next().map(str::parse::<usize>), words.next()) {
                match what {
                    "passed" => self.passed += number,
                    "failed" => self.failed += number,
                    "ignored" => self.skipped += number,
                    _ => {}
                }
            }
        }
    }

    /// The same with the tests that named themselves as skipped: the harness saw them pass.
    pub fn with_skipped(self, skipped: &Skipped) -> Self {
        let count = skipped.0.len();
        Self { passed: self.passed.saturating_sub(count), skipped: self.skipped + count, failed: self.failed }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// The tests that named themselves as skipped, each with its first reason: one test may lack several things.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped(BTreeMap<String, String>);

impl Skipped {
    /// Reads lines of the form `SKIPPED test: why`.
    pub fn parse(text: &str) -> Self {
        let mut skipped = BTreeMap::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("SKIPPED ")) {
            // Test names hold `::` but no space.
            let (test, why) = line.split_once(": ").unwrap_or((line, "no reason given"));
            skipped.entry(test.to_owned()).or_insert_with(|| why.to_owned());
        }
        Self(skipped)
    }

    /// Test and reason, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(test, why)| (test.as_str(), why.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_of_several_programs_are_summed() {
        let mut count = Count::default();
        for line in [
            "running 5 tests",
            "test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test tests::result ... ok",
            "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 7 filtered out; finished in 1.10s",
        ] {
            count.add_line(line);
        }
        assert_eq!(count, Count { passed: 14, failed: 2, skipped: 1 });
        assert_eq!(count.to_string(), "14 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn a_skipped_test_is_counted_once_and_not_as_passed() {
        let text = "SKIPPED tests::a: no root\nSKIPPED tests::a: no loop: device\nSKIPPED b: x\nnoise\n";
        let skipped = Skipped::parse(text);
        assert_eq!(skipped.iter().collect::<Vec<_>>(), [("b", "x"), ("tests::a", "no root")]);
        let count = Count { passed: 5, failed: 1, skipped: 0 }.with_skipped(&skipped);
        assert_eq!(count, Count { passed: 3, failed: 1, skipped: 2 });
    }
}
