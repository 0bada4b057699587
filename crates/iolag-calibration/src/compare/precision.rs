//! When does a campaign end that is to be so precise, and does it tell the truth then?
//!
//! It ends as soon as half of each interval of its table is narrow enough, or when its time is up. That looks at the data again and again, so rules differ
//! in how often what they end with is false, and in how many blocks they take.

use iolag_analysis::{
    CampaignEnding, ComparedRuns, LogRange, RUN_LOOKS, RunCell, RunPairing, compare_runs, is_precise,
};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::campaigns::{CELLS, Campaign, Campaigns};
use super::limits::{COVERED_LEAST, FALSE_MOST, SAME_WITHIN};
use crate::measured::{Limit, Measured};
use crate::seed::noise_of;

/// What all words of a table together may be wrong by.
const LEVEL: f64 = 0.05;

/// How precise a table is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precise {
    /// Half of each interval, as a share.
    pub precision: f64,
    /// Cells of the table: the first so many.
    pub cells: usize,
}

/// When it ends, and how it is judged then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// iolag's own.
    Taken,
    /// At each look, the first after 4 or 9 blocks, as if there had been no others.
    Looks(usize),
    /// The same, each look with its share of the errors.
    LooksShared,
    /// Stein (1945): the spread of the first nine blocks says how many there must be, and is the spread for good.
    Stein,
}

const RULES: [Rule; 5] = [Rule::Taken, Rule::Looks(9), Rule::Looks(4), Rule::LooksShared, Rule::Stein];
const STEIN_BLOCKS: usize = 9;

/// What a campaign came to: how many blocks, and of each cell its mean and half of its interval, in the table and alone.
struct Ended {
    blocks: usize,
    cells: Vec<(f64, f64, f64)>,
}

impl Precise {
    /// How many campaigns say what is false, and how many blocks they take, by rule. The sides are equal.
    pub fn measure(
        self,
        campaigns_of_row: Campaigns,
        name: &str,
        campaigns: usize,
        seed: u64,
    ) -> Vec<Measured> {
        let mut counts = RULES.map(|_| (0, 0, 0));
        for number in 0..campaigns {
            let mut campaign = campaigns_of_row.draw(&mut noise_of(name, number, seed));
            campaign.cells.truncate(self.cells.min(CELLS));
            for (rule, (with_false, covered, blocks)) in RULES.iter().zip(&mut counts) {
                let ended = self.end(*rule, &campaign);
                *with_false += usize::from(ended.cells.iter().any(|(mean, half, _)| mean.abs() > *half));
                *covered += ended.cells.iter().filter(|(mean, _, alone)| mean.abs() <= *alone).count();
                *blocks += ended.blocks;
            }
        }
        let measured = |(rule, (with_false, covered, blocks)): (&Rule, (usize, usize, usize))| {
            let limit = |limit: Limit| if *rule == Rule::Taken { limit } else { Limit::Untold };
            let (most, least) = (limit(Limit::AtMost(FALSE_MOST)), limit(Limit::AtLeast(COVERED_LEAST)));
            let name = rule.name();
            [
                Measured::share(format!("false{name}"), with_false, campaigns, most),
                Measured::share(format!("covered{name}"), covered, campaigns * self.cells, least),
                Measured::ratio(format!("blocks{name}"), Some(blocks as f64 / campaigns as f64), None),
            ]
        };
        RULES.iter().zip(counts).flat_map(measured).collect()
    }

    /// The campaign ends where this rule ends it, or with the last block.
    fn end(self, rule: Rule, campaign: &Campaign) -> Ended {
        if rule == Rule::Taken {
            return self.end_as_taken(&campaign.cells);
        }
        let differences = campaign.differences().unwrap_or_default();
        let most = differences.first().map_or(0, Vec::len);
        let half_width = self.precision.ln_1p();
        let level = LEVEL / differences.len() as f64;
        let first = match rule {
            Rule::Stein => {
                let pilot = judged(&differences, STEIN_BLOCKS, STEIN_BLOCKS, level);
                let widest = pilot.cells.iter().map(|(_, half, _)| *half).fold(0.0, f64::max);
                let blocks = (STEIN_BLOCKS as f64 * (widest / half_width).powi(2)).ceil() as usize;
                return judged(&differences, blocks.clamp(STEIN_BLOCKS, most), STEIN_BLOCKS, level);
            }
            Rule::Looks(first) => first,
            Rule::Taken | Rule::LooksShared => RUN_LOOKS[0],
        };
        let looks = [4, 6].into_iter().chain(RUN_LOOKS).filter(|look| (first..=most).contains(look));
        let shares = if rule == Rule::LooksShared { RUN_LOOKS.len() as f64 } else { 1.0 };
        let mut tables = looks.map(|blocks| judged(&differences, blocks, blocks, level / shares));
        let is_over = |ended: &Ended| {
            ended.blocks == most || ended.cells.iter().all(|(_, half, _)| *half <= half_width)
        };
        tables.find(is_over).unwrap_or_else(|| judged(&differences, most, most, level / shares))
    }

    fn end_as_taken(self, cells: &[RunCell]) -> Ended {
        let table = |blocks: usize| {
            let cells: Vec<RunCell> = cells.iter().map(|cell| first_blocks(cell, blocks)).collect();
            compare_runs(&cells, SAME_WITHIN, CampaignEnding::WhenPrecise)
        };
        let most = cells.first().map_or(0, |cell| cell.pairing.counts()[0]);
        let mut blocks = most;
        let mut compared = Vec::new();
        for look in RUN_LOOKS.into_iter().filter(|look| *look <= most) {
            (blocks, compared) = (look, table(look));
            if is_precise(&compared, self.precision) {
                break;
            }
        }
        let half = |interval: Option<LogRange>| {
            interval.map_or(f64::INFINITY, |interval| (interval.high() - interval.low()) / 2.0)
        };
        let of_cell = |one: &ComparedRuns| {
            let mean = one.difference.as_ref().and_then(|one| one.estimate().known());
            (mean.unwrap_or(f64::NAN), half(one.interval), half(one.interval_alone))
        };
        Ended { blocks, cells: compared.iter().map(of_cell).collect() }
    }
}

impl Rule {
    fn name(self) -> String {
        match self {
            Self::Taken => String::new(),
            Self::Looks(first) => format!(": looks from {first}"),
            Self::LooksShared => ": shared looks".to_owned(),
            Self::Stein => ": Stein".to_owned(),
        }
    }
}

fn first_blocks(cell: &RunCell, count: usize) -> RunCell {
    let pairing = match &cell.pairing {
        RunPairing::Blocks(blocks) => RunPairing::Blocks(blocks[..count].to_vec()),
        RunPairing::TurnedBlocks(blocks) => RunPairing::TurnedBlocks(blocks[..count].to_vec()),
        RunPairing::Apart(sides) => RunPairing::Apart(sides.each_ref().map(|side| side[..count].to_vec())),
        // Days are of no campaign.
        other => other.clone(),
    };
    RunCell { pairing, margin: cell.margin }
}

/// The first blocks, with the spread of so many of them.
fn judged(differences: &[Vec<f64>], blocks: usize, of_spread: usize, level: f64) -> Ended {
    let law = StudentsT::new(0.0, 1.0, of_spread as f64 - 1.0);
    let point = |level: f64| law.as_ref().map_or(f64::INFINITY, |law| law.inverse_cdf(1.0 - level / 2.0));
    let (together, alone) = (point(level), point(LEVEL));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let of_cell = |cell: &Vec<f64>| {
        let center = mean(&cell[..of_spread]);
        let squares: f64 = cell[..of_spread].iter().map(|one| (one - center).powi(2)).sum();
        let error = (squares / (of_spread as f64 - 1.0) / blocks as f64).sqrt();
        (mean(&cell[..blocks]), together * error, alone * error)
    };
    Ended { blocks, cells: differences.iter().map(of_cell).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences of ±0.05: half an interval of n blocks is t(n - 1) 0.05/√(n - 1).
    #[test]
    fn rules_end_where_the_interval_is_narrow_enough() {
        let value = |block: usize| LogRange::exactly(if block.is_multiple_of(2) { 0.05 } else { -0.05 });
        let pairing =
            RunPairing::Blocks((0..63).map(|block| [LogRange::exactly(0.0), value(block)]).collect());
        let cells = vec![RunCell { pairing, margin: 0.0 }];
        let campaign = Campaign { cells, truths: vec![0.0], firsts: vec![1.0; 63] };
        let blocks = |rule: Rule, precision: f64| Precise { precision, cells: 1 }.end(rule, &campaign).blocks;
        // Of 4: 0.092, 6: 0.057, 9: 0.041, 13: 0.031, 63: 0.0127.
        assert_eq!([0.1, 0.05, 0.035, 0.001].map(|half| blocks(Rule::Looks(4), half)), [4, 9, 13, 63]);
        assert_eq!([blocks(Rule::Looks(9), 0.1), blocks(Rule::LooksShared, 0.05)], [9, 13]);
        // t(8) at 4 % is 2.449: 0.0433.
        assert_eq!([0.1, 0.045, 0.042, 0.001].map(|half| blocks(Rule::Taken, half)), [9, 9, 13, 63]);
        // 9 (0.0405/0.0198)² = 37.7.
        assert_eq!([blocks(Rule::Stein, 0.02), blocks(Rule::Stein, 0.001)], [38, 63]);
    }
}
