//! The rows: one process, one size, one question.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::command_line;
use crate::compare::real::{Real, real_rows};
use crate::compare::{self, Compare, Days, Nights, Shares, share_rows};
use crate::coverage::Coverage;
use crate::hosts::Hosts;
use crate::measured::{Judgement, Measured};
use crate::power::Power;
use crate::process::Process;
use crate::quiet::{Load, Quiet};
use crate::runs::jobs::Jobs;
use crate::runs::set_up::SetUps;
use crate::runs::{Runs, Workload};

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// As in `coverage/storms/1000`.
    pub name: String,
    /// What is asked.
    pub question: Question,
}

/// What is asked of many records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Question {
    /// Do intervals hold the truth?
    Coverage(Coverage),
    /// Is nothing found where nothing is?
    Quiet(Quiet),
    /// Is a step found?
    Power(Power),
    /// Does the command line tell a quiet history as the library does?
    CommandLine(Quiet),
    /// Is nothing concluded from stationary runs?
    Runs(Runs),
    /// Are sides compared rightly?
    Compare(Compare),
    /// Are sides compared rightly by the share of attempts that took too long?
    Shares(Shares),
    /// Are days compared rightly, each of which resembles the one before?
    Days(Days),
    /// Are changes between nights told rightly?
    Nights(Nights),
    /// Is what a further copy of a set-up costs told rightly?
    SetUps(SetUps),
    /// Is the attribute of hosts told that matters, and no other?
    Hosts(Hosts),
    /// Is the best number of copies of a job told?
    Jobs(Jobs),
    /// Are they of campaigns that the program measured?
    CompareReal(Real),
}

/// A row that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Name of the row.
    pub row: String,
    /// How many records.
    pub campaigns: usize,
    /// Seed of the noise.
    pub seed: u64,
    /// How long it took.
    pub seconds: f64,
    /// The commit of the program that measured it; empty if it was not told.
    #[serde(default)]
    pub commit: String,
    /// What came out.
    pub measured: Vec<Measured>,
}

impl Row {
    /// Measures it by a program of this commit, with iolag's own where a row asks for it.
    pub fn measure(&self, campaigns: usize, seed: u64, commit: &str, program: Option<&Path>) -> Result<Done> {
        let begin = Instant::now();
        let needed = || program.context("this row needs --iolag PATH, the program");
        let measured = match self.question {
            Question::Coverage(coverage) => coverage.measure(&self.name, campaigns, seed),
            Question::Quiet(quiet) => quiet.measure(&self.name, campaigns, seed),
            Question::Power(power) => power.measure(&self.name, campaigns, seed),
            Question::CommandLine(quiet) => {
                command_line::measure(quiet, needed()?, &self.name, campaigns, seed)?
            }
            Question::Runs(runs) => runs.measure(&self.name, campaigns, seed)?,
            Question::Compare(compare) => compare.measure(&self.name, campaigns, seed),
            Question::Shares(shares) => shares.measure(&self.name, campaigns, seed),
            Question::Days(days) => days.measure(&self.name, campaigns, seed),
            Question::Nights(nights) => nights.measure(&self.name, campaigns, seed),
            Question::SetUps(set_ups) => set_ups.measure(&self.name, campaigns, seed),
            Question::Hosts(hosts) => hosts.measure(&self.name, campaigns, seed),
            Question::Jobs(jobs) => jobs.measure(&self.name, campaigns, seed),
            Question::CompareReal(real) => real.measure(needed()?, campaigns, seed)?,
        };
        let seconds = begin.elapsed().as_secs_f64();
        Ok(Done { row: self.name.clone(), campaigns, seed, seconds, commit: commit.to_owned(), measured })
    }
}

impl Done {
    /// What fails, as `ROW: MEASURE`.
    pub fn failures(&self) -> impl Iterator<Item = &Measured> {
        self.measured.iter().filter(|one| one.judgement() == Judgement::Fails)
    }
}

/// All rows, in the order in which they are told.
pub fn rows() -> Vec<Row> {
    coverage_rows()
        .into_iter()
        .chain(quiet_rows())
        .chain(power_rows())
        .chain(run_rows())
        .chain(compare_rows())
        .chain(night_rows())
        .chain(set_up_rows())
        .chain(host_rows())
        .chain(job_rows())
        .chain(command_line_rows())
        .collect()
}

/// Values of a week.
const WEEK: usize = 672;
/// Days of 2976 values.
const MONTH_DAYS: f64 = 31.0;

const DAILY: Process = Process::Daily { peak: 0.5, coefficient: 0.0 };

fn coverage_rows() -> Vec<Row> {
    let cells: [(&str, Process, &[usize]); 16] = [
        ("independent", Process::Independent, &[192, 1000, 10_000]),
        ("ar0.5", Process::Autoregressive(0.5), &[192, 1000, 10_000]),
        ("ar0.8", Process::Autoregressive(0.8), &[192, 1000, 10_000]),
        ("ar0.9", Process::Autoregressive(0.9), &[672, 2976]),
        ("ar0.95", Process::Autoregressive(0.95), &[672, 2976, 10_000]),
        ("ar0.98", Process::Autoregressive(0.98), &[1000, 10_000]),
        ("slow-under-noise", Process::SlowUnderNoise, &[672, 2976]),
        ("above-floor", Process::AboveFloor, &[672, 2976]),
        ("1-over-f", Process::OneOverF, &[672, 2976, 10_000]),
        ("storms", Process::Storms, &[672, 1000, 2976, 10_000]),
        ("modes-in-runs", Process::ModesInRuns, &[672, 2976, 10_000]),
        ("censored-2", Process::Censored(0.02), &[1000]),
        ("censored-20", Process::Censored(0.2), &[1000]),
        ("coarse-clock", Process::CoarseClock, &[672, 2976]),
        ("daily", DAILY, &[672, 2976]),
        ("daily-random", Process::DailyRandom, &[672, 2976]),
    ];
    let mut rows = Vec::new();
    for (label, process, sizes) in cells {
        rows.extend(sizes.iter().map(|&size| Row {
            name: format!("coverage/{label}/{size}"),
            question: Question::Coverage(Coverage { process, size }),
        }));
    }
    rows
}

fn quiet_rows() -> Vec<Row> {
    let cells: [(&str, Load, &[usize]); 26] = [
        ("independent", Load::Apart(Process::Independent), &[192, 672, 2976]),
        ("ar0.8", Load::Apart(Process::Autoregressive(0.8)), &[192, 672, 2976]),
        ("ar0.9", Load::Apart(Process::Autoregressive(0.9)), &[672, 2976]),
        ("ar0.95", Load::Apart(Process::Autoregressive(0.95)), &[672]),
        ("ar0.98", Load::Apart(Process::Autoregressive(0.98)), &[672, 2976]),
        ("slow-under-noise", Load::Apart(Process::SlowUnderNoise), &[192, 480, 672]),
        ("above-floor", Load::Apart(Process::AboveFloor), &[672, 2976]),
        ("1-over-f", Load::Apart(Process::OneOverF), &[672, 2976]),
        ("storms", Load::Apart(Process::Storms), &[192, 672, 2976]),
        ("modes-in-runs", Load::Apart(Process::ModesInRuns), &[672]),
        ("censored-2", Load::Apart(Process::Censored(0.02)), &[672]),
        ("censored-20", Load::Apart(Process::Censored(0.2)), &[672]),
        ("coarse-clock", Load::Apart(Process::CoarseClock), &[672]),
        ("daily-shared", Load::Apart(DAILY), &[192, 672, 2976]),
        ("daily-shared-ar0.8", Load::Apart(Process::Daily { peak: 0.5, coefficient: 0.8 }), &[672]),
        ("daily-apart", Load::DailyApart, &[192, 672]),
        ("daily-random", Load::Apart(Process::DailyRandom), &[672, 2976]),
        ("weekly", Load::Apart(Process::Weekly), &[672, 2976]),
        ("working-hours", Load::Apart(Process::WorkingHours), &[672, 2976]),
        ("drift-1.1", Load::Apart(Process::Drift(1.1)), &[672]),
        ("drift-1.3", Load::Apart(Process::Drift(1.3)), &[672, 2976]),
        ("common-load", Load::Common, &[672]),
        ("control-apart", Load::StormsOfControlApart, &[1000]),
        ("control-together", Load::StormsOfHost, &[2976]),
        ("nightly-jobs", Load::NightlyJobs, &[672, 2976]),
        ("moments-at-work", Load::MomentsAtWork, &[672, 2976]),
    ];
    let mut rows = Vec::new();
    for (label, load, sizes) in cells {
        rows.extend(sizes.iter().map(|&size| Row {
            name: format!("quiet/{label}/{size}"),
            question: Question::Quiet(Quiet { load, size }),
        }));
    }
    rows.push(Row {
        name: "quiet/names-for-nothing/672".to_owned(),
        question: Question::Quiet(Quiet { load: Load::NamesForNothing, size: 672 }),
    });
    rows
}

fn power_rows() -> Vec<Row> {
    let places = [("middle", 0.5), ("tenth", 0.1), ("3-percent", 0.03)];
    let noises = [("independent", 0.0), ("ar0.8", 0.8)];
    let mut rows = Vec::new();
    for (size, noises) in [(192, &noises[..1]), (1000, &noises[..]), (2976, &noises[..])] {
        for &(noise, coefficient) in noises {
            for factor in [1.2, 2.0, 10.0, 100.0] {
                rows.extend(places.iter().map(|&(label, place)| Row {
                    name: format!("power/{noise}/x{factor}-{label}/{size}"),
                    question: Question::Power(Power { factor, place, lasting: 0.0, coefficient, size }),
                }));
            }
        }
    }
    let ramps = [("1-day", 1.0), ("4-days", 4.0), ("9-days", 9.0)];
    for &(noise, coefficient) in &noises {
        rows.extend(ramps.iter().map(|&(label, days)| {
            let lasting = days / MONTH_DAYS;
            let power = Power { factor: 4.0, place: 0.5 + lasting / 2.0, lasting, coefficient, size: 2976 };
            Row { name: format!("power/{noise}/x4-in-{label}/2976"), question: Question::Power(power) }
        }));
    }
    rows
}

fn run_rows() -> Vec<Row> {
    let cells = [
        ("independent", Process::Independent),
        ("ar0.9", Process::Autoregressive(0.9)),
        ("ar0.98", Process::Autoregressive(0.98)),
        ("1-over-f", Process::OneOverF),
        ("storms", Process::Storms),
    ];
    let workloads = [
        ("check", Workload::Check),
        ("bench-200", Workload::Bench(200)),
        ("bench-3000", Workload::Bench(3000)),
    ];
    let row = |(label, process), (kind, workload)| Row {
        name: format!("runs/{kind}/{label}"),
        question: Question::Runs(Runs { process, workload }),
    };
    workloads
        .into_iter()
        .flat_map(|workload| cells.into_iter().map(move |cell| row(cell, workload)))
        .collect()
}

fn compare_rows() -> Vec<Row> {
    let rows = compare::rows().into_iter();
    let rows = rows.map(|(name, compare)| Row { name, question: Question::Compare(compare) });
    let shares = share_rows().into_iter();
    let shares = shares.map(|(name, shares)| Row { name, question: Question::Shares(shares) });
    let days = Days::rows().into_iter().map(|(name, days)| Row { name, question: Question::Days(days) });
    let real = real_rows().into_iter();
    let real = real.map(|(name, real)| Row { name: name.to_owned(), question: Question::CompareReal(real) });
    rows.chain(shares).chain(days).chain(real).collect()
}

fn night_rows() -> Vec<Row> {
    let rows = Nights::rows().into_iter();
    rows.map(|(name, nights)| Row { name, question: Question::Nights(nights) }).collect()
}

fn set_up_rows() -> Vec<Row> {
    let rows = SetUps::rows().into_iter();
    rows.map(|(name, set_ups)| Row { name, question: Question::SetUps(set_ups) }).collect()
}

fn host_rows() -> Vec<Row> {
    let rows = Hosts::rows().into_iter();
    rows.map(|(name, hosts)| Row { name, question: Question::Hosts(hosts) }).collect()
}

fn job_rows() -> Vec<Row> {
    let rows = Jobs::rows().into_iter();
    rows.map(|(name, jobs)| Row { name, question: Question::Jobs(jobs) }).collect()
}

/// Weeks of every load that a table of values can tell: parts of tasks and a control in memory are nothing that can be imported.
fn command_line_rows() -> Vec<Row> {
    let is_importable =
        |load: Load| !matches!(load, Load::StormsOfControlApart | Load::StormsOfHost | Load::NamesForNothing);
    let row = |row: Row| match row.question {
        Question::Quiet(quiet) if quiet.size == WEEK && is_importable(quiet.load) => Some(Row {
            name: row.name.replacen("quiet", "command-line", 1),
            question: Question::CommandLine(quiet),
        }),
        _ => None,
    };
    quiet_rows().into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_so_is_what_they_name() {
        let rows = rows();
        for (place, row) in rows.iter().enumerate() {
            let others = &rows[place + 1..];
            assert!(others.iter().all(|other| other.name != row.name), "{} is there twice", row.name);
            assert!(others.iter().all(|other| other.question != row.question), "{} asked twice", row.name);
        }
    }
}
