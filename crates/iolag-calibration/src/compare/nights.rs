//! How often is a change between nights told that is none, and how many nights does it take to find one?
//!
//! A campaign is a table of cells on one target, four runs of each a night. A night is lucky or not, and resembles the one before where a row says so; so is
//! a run. Half of the variance between runs is the night's, unless a row says that all of it is. What is judged is [`find_changes_of_nights`].

use iolag_analysis::history::{ChangePoint, Changes, Runs, find_changes_of_nights};
use iolag_model::{Random, WallTime};

use super::campaigns::{Tails, WITHIN};
use super::limits::{COVERED_LEAST, FALSE_MOST, FOUND_LEAST};
use crate::measured::{Limit, Measured};
use crate::seed::noise_of;

/// Runs of a night.
const RUNS: usize = 4;
const DAY_SECONDS: i64 = 86_400;
const RUN_SECONDS: i64 = 600;
/// A run or a night now and then is so much slower.
const SELDOM_FACTOR: f64 = 3.6;
const SELDOM_SHARE: f64 = 0.1;

/// What the campaigns of a row have in common, and what is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nights {
    /// How many.
    pub nights: usize,
    /// Cells of the table.
    pub cells: usize,
    /// Standard deviation of the logarithm between runs of different nights.
    pub spread: f64,
    /// Whose luck that is.
    pub luck: NightLuck,
    /// How much the luck of a night resembles that of the one before.
    pub coefficient: f64,
    /// What is seldom.
    pub tails: Tails,
    /// What was measured in the host's memory.
    pub memory: Memory,
    /// How much faster the first cell is in the last nights.
    pub factor: f64,
    /// How many these are.
    pub after: usize,
    /// What is judged.
    pub asked: AskedOfNights,
}

/// Whose luck is that between nights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NightLuck {
    /// Half of the variance is that of a night, half that of its runs.
    Half,
    /// All of it is that of a night.
    OfNight,
}

/// What was measured in the host's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Nothing.
    None,
    /// It has the luck of the night in common with the storage.
    Together,
    /// It has its own.
    Apart,
    /// It has its own, and becomes 30 % slower in the middle.
    Steps,
}

/// What is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedOfNights {
    /// Whether nothing is told that is not so.
    Truth,
    /// The same, and whether the change is found.
    Found,
    /// Nothing.
    Told,
}

#[derive(Debug, Default)]
struct Counts {
    campaigns: usize,
    with_false: usize,
    found: usize,
    dated: usize,
    covered: usize,
    drifts: usize,
}

impl Nights {
    /// Four cells in which nothing happens.
    const EQUAL: Self = Self {
        nights: 10,
        cells: 4,
        spread: 0.05,
        luck: NightLuck::Half,
        coefficient: 0.0,
        tails: Tails::Normal,
        memory: Memory::None,
        factor: 1.0,
        after: 0,
        asked: AskedOfNights::Truth,
    };

    /// How many campaigns have a false change, and in how many the true one is found.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let mut counts = Counts::default();
        for number in 0..campaigns {
            let mut noise = noise_of(name, number, seed);
            let of_cell = (0..self.cells).map(|cell| self.changes(cell, &mut noise));
            let changes: Vec<Changes> = of_cell.collect();
            self.count(&changes, &mut counts);
        }
        counts.measured(self)
    }

    fn changes(&self, cell: usize, noise: &mut Random) -> Changes {
        let luck = self.luck_of_nights(noise);
        let of_memory = match self.memory {
            Memory::Together => luck.clone(),
            Memory::None | Memory::Apart | Memory::Steps => self.luck_of_nights(noise),
        };
        let level = |night: usize| if cell == 0 && self.is_after(night) { self.factor.ln() } else { 0.0 };
        let of_memory = |night: usize| match self.memory {
            Memory::Steps if night >= self.nights / 2 => of_memory[night] - 1.3_f64.ln(),
            _ => of_memory[night],
        };
        let run = self.spread_of_run();
        let (moments, rates) = self.runs(noise, run, |night| luck[night] + level(night));
        let (_, memory) = self.runs(noise, WITHIN, of_memory);
        let [storage, memory] = [rates, memory].map(|rates| Runs::known(&moments, &rates));
        let controls: &[&Runs] = if self.memory == Memory::None { &[] } else { &[&memory] };
        find_changes_of_nights(&storage, controls, &moments, self.cells)
    }

    const fn is_after(&self, night: usize) -> bool {
        night + self.after >= self.nights
    }

    fn spread_of_run(&self) -> f64 {
        match self.luck {
            NightLuck::Half => (self.spread * self.spread / 2.0).sqrt().hypot(WITHIN),
            NightLuck::OfNight => WITHIN,
        }
    }

    fn luck_of_nights(&self, noise: &mut Random) -> Vec<f64> {
        let spread = match self.luck {
            NightLuck::Half => self.spread / 2.0_f64.sqrt(),
            NightLuck::OfNight => self.spread,
        };
        let rest = (1.0 - self.coefficient * self.coefficient).sqrt();
        let mut state = noise.normal();
        let next = |night: usize| {
            if night > 0 {
                state = self.coefficient * state + rest * noise.normal();
            }
            spread * state * self.tail(noise) + self.slow(noise, NightLuck::OfNight)
        };
        (0..self.nights).map(next).collect()
    }

    /// What makes a normal value one of Student's t with 3 degrees of freedom.
    fn tail(&self, noise: &mut Random) -> f64 {
        let squares = |noise: &mut Random| (0..3).map(|_| noise.normal().powi(2)).sum::<f64>();
        if self.tails == Tails::Heavy { (3.0 / squares(noise)).sqrt() } else { 1.0 }
    }

    /// What now and then befalls a run, or a night where all luck is its.
    fn slow(&self, noise: &mut Random, of: NightLuck) -> f64 {
        let is_seldom = self.tails == Tails::Seldom && self.luck == of;
        if is_seldom && noise.unit() < SELDOM_SHARE { -SELDOM_FACTOR.ln() } else { 0.0 }
    }

    fn runs(
        &self,
        noise: &mut Random,
        spread: f64,
        of_night: impl Fn(usize) -> f64,
    ) -> (Vec<WallTime>, Vec<f64>) {
        let mut run = |index: usize| {
            let (night, number) = (index / RUNS, index % RUNS);
            let seconds = night as i64 * DAY_SECONDS + number as i64 * RUN_SECONDS;
            let luck = spread * noise.normal() + self.slow(noise, NightLuck::Half);
            (WallTime::from_seconds(seconds), (of_night(night) + luck).exp())
        };
        (0..self.nights * RUNS).map(&mut run).unzip()
    }

    fn count(&self, cells: &[Changes], counts: &mut Counts) {
        let begin = ((self.nights - self.after) * RUNS) as f64;
        let nights_off = |change: &ChangePoint| (change.place as f64 - begin).abs() / RUNS as f64;
        // Where it may lie is known to a twentieth of the record, as of all changes.
        let reach = (self.nights as f64 / 20.0).max(2.0);
        let is_true = |cell: usize, change: &ChangePoint| {
            let is_right_way = (change.greater_after > 0.5) == (self.factor > 1.0);
            cell == 0 && self.factor != 1.0 && is_right_way && nights_off(change) <= reach
        };
        let all = || cells.iter().enumerate();
        let steps = || all().flat_map(|(cell, of)| of.steps.iter().map(move |step| (cell, step)));
        let is_false_drift =
            |(cell, of): (usize, &Changes)| of.drift.is_some() && (cell > 0 || self.factor == 1.0);
        counts.campaigns += 1;
        counts.with_false +=
            usize::from(steps().any(|(cell, step)| !is_true(cell, step)) || all().any(is_false_drift));
        counts.drifts += usize::from(cells[0].drift.is_some() && self.factor != 1.0);
        if let Some((_, found)) = steps().find(|(cell, step)| is_true(*cell, step)) {
            counts.found += 1;
            counts.dated += usize::from(nights_off(found) == 0.0);
            let ends = found.ratio.low.zip(found.ratio.high);
            counts.covered +=
                usize::from(ends.is_some_and(|(low, high)| low <= self.factor && self.factor <= high));
        }
    }

    /// Names and rows.
    pub fn rows() -> Vec<(String, Self)> {
        let mut rows = Self::equal_rows();
        rows.extend(Self::found_rows());
        rows.into_iter().map(|(name, row)| (format!("nights/{name}/{}", row.nights), row)).collect()
    }

    /// Nothing changes.
    fn equal_rows() -> Vec<(String, Self)> {
        let usual = Self::EQUAL;
        let mut rows = Vec::new();
        let mut add = |name: &str, row: Self, sizes: &[usize]| {
            rows.extend(sizes.iter().map(|&nights| (format!("equal/{name}"), Self { nights, ..row })));
        };
        let sizes = [10, 30, 90];
        add("ar0", usual, &sizes);
        add("ar0.5", Self { coefficient: 0.5, ..usual }, &[10, 30, 90, 365]);
        let of_night = Self { luck: NightLuck::OfNight, ..usual };
        add("of-night/ar0.5", Self { coefficient: 0.5, ..of_night }, &sizes);
        // Nobody can tell a load that stays for weeks from a change, in so few nights.
        add("of-night/ar0.8", Self { coefficient: 0.8, asked: AskedOfNights::Told, ..of_night }, &sizes);
        add("30-percent/ar0.5", Self { spread: 0.3, coefficient: 0.5, ..usual }, &[30]);
        add("8-cells/ar0.5", Self { cells: 8, coefficient: 0.5, ..usual }, &[10, 30]);
        add("heavy-tails", Self { tails: Tails::Heavy, ..of_night }, &sizes);
        add("seldom-slow", Self { tails: Tails::Seldom, ..usual }, &sizes);
        add("seldom-slow-of-night", Self { tails: Tails::Seldom, ..of_night }, &sizes);
        add("memory-together/ar0.5", Self { memory: Memory::Together, coefficient: 0.5, ..of_night }, &sizes);
        add("memory-apart/ar0.5", Self { memory: Memory::Apart, coefficient: 0.5, ..usual }, &sizes);
        add("memory-steps", Self { memory: Memory::Steps, ..usual }, &sizes);
        rows
    }

    /// One of the cells changes, in the middle unless the name says in how many of the last nights.
    fn found_rows() -> Vec<(String, Self)> {
        let usual = Self { asked: AskedOfNights::Told, ..Self::EQUAL };
        let mut rows = Vec::new();
        let mut add = |name: &str, row: Self, sizes: &[usize]| {
            rows.extend(sizes.iter().map(|&nights| {
                let after = if row.after == 0 { nights / 2 } else { row.after };
                (format!("found/{name}"), Self { nights, after, ..row })
            }));
        };
        let third = Self { factor: 1.3, ..usual };
        add("x1.3", Self { asked: AskedOfNights::Found, ..third }, &[10]);
        add("x1.3/last-3", Self { after: 3, ..third }, &[10]);
        add("x1.3/of-night", Self { luck: NightLuck::OfNight, ..third }, &[10, 12]);
        add("x1.3/ar0.5", Self { coefficient: 0.5, ..third }, &[10]);
        add("x1.3/memory-apart", Self { memory: Memory::Apart, ..third }, &[10]);
        let tenth = Self { factor: 1.1, ..usual };
        add("x1.1", tenth, &[10, 14, 20, 24, 30]);
        add("x1.1", Self { asked: AskedOfNights::Found, ..tenth }, &[40, 60, 90]);
        add("x1.1/of-night", Self { luck: NightLuck::OfNight, ..tenth }, &[30, 40, 50, 60]);
        add("x1.1/ar0.5", Self { coefficient: 0.5, ..tenth }, &[60, 90]);
        for after in [3, 5, 7, 10, 20] {
            add(&format!("x1.1/last-{after}"), Self { after, ..tenth }, &[90]);
        }
        let together = Self { luck: NightLuck::OfNight, memory: Memory::Together, ..tenth };
        add("x1.1/memory-together", together, &[10, 20]);
        rows
    }
}

impl Counts {
    fn measured(&self, of: Nights) -> Vec<Measured> {
        let judged = |limit: Limit, is_judged: bool| if is_judged { limit } else { Limit::Untold };
        let false_most = judged(Limit::AtMost(FALSE_MOST), of.asked != AskedOfNights::Told);
        let mut measured =
            vec![Measured::share("a false change", self.with_false, self.campaigns, false_most)];
        if of.factor != 1.0 {
            let is_asked = of.asked == AskedOfNights::Found;
            measured.extend([
                Measured::share(
                    "found",
                    self.found,
                    self.campaigns,
                    judged(Limit::AtLeast(FOUND_LEAST), is_asked),
                ),
                Measured::share("of these to the night", self.dated, self.found, Limit::Untold),
                Measured::share(
                    "of these covered",
                    self.covered,
                    self.found,
                    judged(Limit::AtLeast(COVERED_LEAST), is_asked),
                ),
                Measured::share("called a drift", self.drifts, self.campaigns, Limit::Untold),
            ]);
        }
        measured
    }
}
