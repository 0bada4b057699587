//! Measurements like those of study 000, made from a fixed seed, and what they amount to, computed by other means than iolag's.
//!
//! Every 15 minutes over six weeks: compiling, creating and listing in /home with the load average, five minutes later the same in
//! /scratch. The listing in /home takes less than a clock of two digits can tell once a cache was enabled on May 8; one in five
//! listings in /scratch comes from a cache, the others take 1.3 s longer; one creation in /scratch took four hours.

use std::fmt::Write;

use iolag_model::Random;

/// 2008-04-24, midnight UTC.
pub const BEGIN_SECONDS: i64 = 1_208_995_200;
pub const PERIOD_SECONDS: i64 = 900;
/// Between the two file systems.
const OFFSET_SECONDS: i64 = 300;
/// 2008-05-08 12:00 PDT.
pub const CACHE_ENABLED_SECONDS: i64 = 1_210_273_200;
/// Six weeks less one slot: an odd number has one median, whatever its definition.
pub const SLOTS: usize = 42 * 96 - 1;

/// A series as its script wrote it: hundredths of a second, or of a unit.
pub struct Column {
    pub task: &'static str,
    pub hundredths: Vec<u64>,
}

/// What one script wrote into one file.
pub struct Script {
    pub target: &'static str,
    offset_seconds: i64,
    pub columns: [Column; 4],
}

pub struct Study {
    pub home: Script,
    pub scratch: Script,
}

impl Study {
    /// The event is written down a day late, as in the study: its text says May 8 in one place and May 9 in another.
    pub const EVENTS: &'static str = "time,end,text,kind,target,link\n\
        2008-05-09 09:00,,LDAP cache enabled,change,/home,https://tickets.example/7\n\
        2008-05-20 08:00,2008-05-20 12:30,\"Maintenance, all file systems\",maintenance,,\n";

    pub fn new() -> Self {
        let mut noise = Random::new(2008);
        let mut slots: [[Vec<u64>; 4]; 2] = Default::default();
        for slot in 0..SLOTS as i64 {
            let seconds = BEGIN_SECONDS + slot * PERIOD_SECONDS;
            let load = (0.5 + 0.8 * noise.normal()).exp();
            // Both compilers wait for the same licence server.
            let shared = exponential(&mut noise, 1.5);
            let is_cached = seconds >= CACHE_ENABLED_SECONDS && noise.unit() < 0.9;
            let home = [
                5.2 + shared + exponential(&mut noise, 0.4),
                0.4 + 0.15 * load + exponential(&mut noise, 0.5),
                if is_cached { 0.0 } else { 0.11 + exponential(&mut noise, 0.4) },
                load,
            ];
            let scratch = [
                18.0 + shared + exponential(&mut noise, 1.2),
                if slot == 2000 { 14_400.0 } else { 0.9 + exponential(&mut noise, 0.8) },
                if noise.unit() < 0.2 { 0.01 } else { 1.31 + exponential(&mut noise, 0.3) },
                load,
            ];
            for (columns, values) in slots.iter_mut().zip([home, scratch]) {
                columns
                    .iter_mut()
                    .zip(values)
                    .for_each(|(column, value)| column.push((value * 100.0).round() as u64));
            }
        }
        let [home, scratch] = slots;
        Self {
            home: Script::new("/home", 0, home),
            scratch: Script::new("/scratch", OFFSET_SECONDS, scratch),
        }
    }
}

fn exponential(noise: &mut Random, mean: f64) -> f64 {
    -mean * (1.0 - noise.unit()).ln()
}

impl Script {
    fn new(target: &'static str, offset_seconds: i64, values: [Vec<u64>; 4]) -> Self {
        let [compile, create, list, load] = values;
        let column = |task, hundredths| Column { task, hundredths };
        let columns = [
            column("compile", compile),
            column("create", create),
            column("list", list),
            column("load average", load),
        ];
        Self { target, offset_seconds, columns }
    }

    /// The file: a time and four numbers with two digits to a line.
    pub fn csv(&self) -> String {
        let mut text = "time,compile,create,list,load average\n".to_owned();
        for slot in 0..SLOTS {
            write!(text, "{}", BEGIN_SECONDS + slot as i64 * PERIOD_SECONDS + self.offset_seconds).unwrap();
            for column in &self.columns {
                let hundredths = column.hundredths[slot];
                write!(text, ",{}.{:02}", hundredths / 100, hundredths % 100).unwrap();
            }
            text.push('\n');
        }
        text
    }

    /// The options that make series of its columns. The load is told of the host, and once is enough.
    pub fn options(&self) -> Vec<String> {
        let mut options = vec!["--time".to_owned(), "time".to_owned()];
        for column in &self.columns[..3] {
            options.extend(["--value".to_owned(), format!("{0}={0}@{1}", column.task, self.target)]);
        }
        if self.offset_seconds == 0 {
            options.extend(["--value".to_owned(), "load average=load average[tasks]".to_owned()]);
        }
        options
    }

    pub fn column(&self, task: &str) -> &Column {
        self.columns.iter().find(|column| column.task == task).unwrap()
    }
}

impl Column {
    /// In seconds, or the unit.
    pub fn values(&self) -> Vec<f64> {
        self.hundredths.iter().map(|hundredths| *hundredths as f64 / 100.0).collect()
    }

    /// The one in the middle.
    pub fn median(&self) -> f64 {
        let mut sorted = self.hundredths.clone();
        sorted.sort_unstable();
        sorted[sorted.len() / 2] as f64 / 100.0
    }

    pub fn count_over(&self, seconds: f64) -> u64 {
        self.values().iter().filter(|value| **value > seconds).count() as u64
    }
}

/// Pearson's coefficient by its textbook sums, in integers, so that rounding has no say.
pub fn pearson(left: &[u64], right: &[u64]) -> f64 {
    let sum = |values: &[u64]| values.iter().map(|value| i128::from(*value)).sum::<i128>();
    let products = |left: &[u64], right: &[u64]| {
        left.iter().zip(right).map(|(l, r)| i128::from(*l) * i128::from(*r)).sum::<i128>()
    };
    let n = left.len() as i128;
    let covariance = n * products(left, right) - sum(left) * sum(right);
    let variance = |values: &[u64]| (n * products(values, values) - sum(values) * sum(values)) as f64;
    covariance as f64 / (variance(left) * variance(right)).sqrt()
}
