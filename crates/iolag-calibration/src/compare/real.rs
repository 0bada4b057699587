//! Are the words of `iolag compare` true of campaigns that iolag itself measured?
//!
//! `iolag run` conducts small campaigns of two sides of which the truth is known, each in a store of its own, and `iolag compare` tells of them by either
//! value. Runs are as far apart as this machine makes them, and resemble each other as they do here: what the made-up campaigns cannot know.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::limits::{COVERED_LEAST, FALSE_MOST, FOUND_LEAST};
use crate::command_line::{Scratch, finish, iolag};
use crate::measured::{Limit, Measured};

/// They take some seconds each.
const CAMPAIGNS_MOST: usize = 100;
/// Runs of either side.
const BLOCKS: usize = 6;
/// What is compared. Rates are one number in four rows, since each round asks every operation once.
const VALUES: [&str; 2] = ["rate", "median"];

/// Two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Real {
    /// Memory twice.
    Equal,
    /// Memory behind 2 ms twice.
    Delayed,
    /// Memory behind 2 ms, and behind 4.
    Factor,
}

/// Names and questions.
pub fn real_rows() -> [(&'static str, Real); 3] {
    [
        ("compare-real/equal", Real::Equal),
        ("compare-real/delayed", Real::Delayed),
        ("compare-real/factor", Real::Factor),
    ]
}

impl Real {
    /// How many campaigns of the program at `program` are told falsely. Each begins with another seed.
    pub fn measure(self, program: &Path, campaigns: usize, seed: u64) -> Result<Vec<Measured>> {
        let scratch = Scratch::new()?;
        let mut counts = VALUES.map(|value| (value, Counts::default()));
        for number in 0..campaigns.min(CAMPAIGNS_MOST) {
            let told = self.told(program, &scratch.0, seed + number as u64)?;
            counts.iter_mut().zip(&told).for_each(|((_, counts), table)| counts.add(self, table, number));
        }
        Ok(counts.iter().flat_map(|(value, counts)| counts.measured(self, value)).collect())
    }

    const fn targets(self) -> [&'static str; 2] {
        match self {
            Self::Equal => ["memory:", "memory:"],
            Self::Delayed => ["delayed:2ms:memory:", "delayed:2ms:memory:"],
            Self::Factor => ["delayed:2ms:memory:", "delayed:4ms:memory:"],
        }
    }

    /// So many objects are some hundredths of a second.
    const fn objects(self) -> u32 {
        match self {
            Self::Equal => 1000,
            Self::Delayed | Self::Factor => 10,
        }
    }

    /// Between which percents the truth is. A delay is never shorter than what was asked, and longer by what it takes to wake up: by up to a sixth
    /// of a millisecond, which both sides have in common, and up to a fortieth more after the longer sleep, 4 ms for 2 are −50.3 to −48 %.
    const fn truth(self) -> [f64; 2] {
        match self {
            Self::Equal | Self::Delayed => [0.0, 0.0],
            Self::Factor => [-50.3, -48.0],
        }
    }

    const fn is_false(self, word: Word) -> bool {
        match self {
            Self::Equal | Self::Delayed => matches!(word, Word::Faster | Word::Slower),
            Self::Factor => matches!(word, Word::Faster | Word::Same),
        }
    }

    /// Conducts a campaign, and what is told of it by each value.
    fn told(self, program: &Path, scratch: &Path, seed: u64) -> Result<[Table; 2]> {
        let [plan, store, json] = ["plan.toml", "store", "compared.json"].map(|name| scratch.join(name));
        fs::write(&plan, self.plan(seed)).with_context(|| format!("writing {}", plan.display()))?;
        let ask = |words: &[&str]| {
            let mut command = iolag(program, scratch);
            command.args(words).arg("--quiet").arg("--store").arg(&store);
            command
        };
        finish(ask(&["run"]).arg(&plan))?;
        let mut tables = Vec::new();
        for value in VALUES {
            finish(ask(&["compare", "campaign:last", "--value", value]).arg("--json").arg(&json))?;
            let text = fs::read_to_string(&json).with_context(|| format!("reading {}", json.display()))?;
            tables.push(Table::read(&text)?);
        }
        fs::remove_dir_all(&store).with_context(|| format!("removing {}", store.display()))?;
        <[Table; 2]>::try_from(tables).ok().context("a table for each value")
    }

    fn plan(self, seed: u64) -> String {
        let ([one, other], objects) = (self.targets(), self.objects());
        format!(
            "name = \"calibration\"\nrepeat = {BLOCKS}\nseed = {seed}\n\
             [[side]]\nname = \"one\"\ntarget = \"{one}\"\n\
             [[side]]\nname = \"other\"\ntarget = \"{other}\"\n\
             [[bench]]\nworkload = \"metadata\"\ndatasets = 1\nprecreate = [{objects}]\nobjects = {objects}\niterations = 1\n"
        )
    }
}

/// What is read of `iolag compare --json`.
#[derive(Debug, PartialEq, Deserialize)]
struct Table {
    rows: Vec<TableRow>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct TableRow {
    cells: Vec<Cell>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Cell {
    word: Word,
    interval: Option<Ends>,
    interval_alone: Option<Ends>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Faster,
    Slower,
    Same,
    NoDifferenceShown,
    TooFew,
}

/// In percent; absent where open.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Ends {
    low: Option<f64>,
    high: Option<f64>,
}

impl Table {
    fn read(text: &str) -> Result<Self> {
        let table: Self = serde_json::from_str(text).context("a comparison")?;
        let is_whole = table.rows.iter().all(|row| row.cells.len() == 1) && !table.rows.is_empty();
        ensure!(is_whole, "a comparison without cells, or of more than two sides: {text}");
        Ok(table)
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> + Clone {
        self.rows.iter().flat_map(|row| &row.cells)
    }
}

impl Ends {
    fn holds(self, [least, most]: [f64; 2]) -> bool {
        self.low.is_none_or(|low| low <= most) && self.high.is_none_or(|high| least <= high)
    }
}

/// What was counted of tables by one value.
#[derive(Debug, Default)]
struct Counts {
    campaigns: usize,
    /// Campaigns with a false word, and with all intervals right.
    with_false: usize,
    together: usize,
    /// Of one cell of each campaign, the next each time, since cells of a run share its luck.
    judged: usize,
    alone: usize,
    /// Cells, and what is said of them.
    cells: usize,
    same: usize,
    slower: usize,
}

impl Counts {
    fn add(&mut self, real: Real, table: &Table, number: usize) {
        let holds = |ends: Option<Ends>| ends.is_none_or(|ends| ends.holds(real.truth()));
        let said = |word: Word| table.cells().filter(|cell| cell.word == word).count();
        self.campaigns += 1;
        self.with_false += usize::from(table.cells().any(|cell| real.is_false(cell.word)));
        self.together += usize::from(table.cells().all(|cell| holds(cell.interval)));
        let alone = table.cells().cycle().nth(number).and_then(|cell| cell.interval_alone);
        self.judged += usize::from(alone.is_some());
        self.alone += usize::from(alone.is_some() && holds(alone));
        self.cells += table.cells().count();
        self.same += said(Word::Same);
        self.slower += said(Word::Slower);
    }

    fn measured(&self, real: Real, value: &str) -> Vec<Measured> {
        let share = |what: &str, count: usize, of: usize, limit: Limit| {
            Measured::share(format!("{what}, {value}"), count, of, limit)
        };
        let covered = Limit::AtLeast(COVERED_LEAST);
        let said = match real {
            Real::Equal | Real::Delayed => share("called the same", self.same, self.cells, Limit::Untold),
            Real::Factor => share("called slower", self.slower, self.cells, Limit::AtLeast(FOUND_LEAST)),
        };
        vec![
            share("a false word", self.with_false, self.campaigns, Limit::AtMost(FALSE_MOST)),
            share("covered, alone", self.alone, self.judged, covered),
            share("covered, together", self.together, self.campaigns, covered),
            said,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(cells: &[(&str, &str)]) -> Table {
        let row = |(word, ends): &(&str, &str)| {
            format!(
                r#"{{"operation": "stat", "cells": [{{"word": "{word}", "interval": {ends}, "interval_alone": {ends}}}]}}"#
            )
        };
        let rows: Vec<String> = cells.iter().map(row).collect();
        Table::read(&format!(r#"{{"kind": "comparison", "rows": [{}]}}"#, rows.join(", "))).unwrap()
    }

    const SLOWER: (&str, &str) = ("slower", r#"{"low": -51.0, "high": -49.0}"#);
    const OPEN: (&str, &str) = ("no-difference-shown", r#"{"low": null, "high": 3.0}"#);
    const SAME: (&str, &str) = ("same", r#"{"low": 0.5, "high": 3.0}"#);
    const FEW: (&str, &str) = ("too-few", "null");

    #[test]
    fn what_is_false_depends_on_the_truth() {
        let counted = |real: Real| {
            let mut counts = Counts::default();
            for (number, cells) in [[SLOWER, OPEN], [OPEN, SAME], [FEW, OPEN]].iter().enumerate() {
                counts.add(real, &table(cells), number);
            }
            counts
        };
        let equal = counted(Real::Equal);
        assert_eq!((equal.campaigns, equal.with_false, equal.together), (3, 1, 1));
        // The first cell of the first campaign, the second of the next; the third's has no interval.
        assert_eq!((equal.judged, equal.alone, equal.cells, equal.same), (2, 0, 6, 1));
        let factor = counted(Real::Factor);
        assert_eq!((factor.with_false, factor.together, factor.judged, factor.alone), (1, 2, 2, 1));
        assert_eq!((factor.cells, factor.slower), (6, 1));
    }

    #[test]
    fn a_comparison_of_other_sides_is_refused() {
        for text in ["{}", r#"{"rows": []}"#, r#"{"rows": [{"cells": []}]}"#] {
            assert!(Table::read(text).is_err(), "{text}");
        }
    }
}
