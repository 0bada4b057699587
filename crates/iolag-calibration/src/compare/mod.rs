//! How often are the words of a comparison of runs wrong?
//!
//! A campaign is a table of eight cells, whose sides are equal or differ by a known factor. What is judged is [`compare_runs`]; beside it stands what
//! other methods would have said ([`candidates`]), which is why iolag takes these.

pub mod campaigns;
pub mod candidates;
pub mod days;
mod limits;
pub mod nights;
pub mod precision;
pub mod real;
mod rows;
pub mod shares;

use iolag_analysis::{CampaignEnding, ComparedRuns, ComparedWord, LogRange, compare_runs};

use self::campaigns::{Campaign, Campaigns};
use self::candidates::Candidate;
pub use self::days::Days;
pub use self::limits::FOUND_LEAST;
use self::limits::{COVERED_LEAST, FALSE_MOST, SAME_WITHIN};
pub use self::nights::Nights;
use self::precision::Precise;
pub use self::rows::rows;
pub use self::shares::{Shares, share_rows};
use crate::measured::{Limit, Measured};
use crate::seed::noise_of;

/// A row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compare {
    /// The campaigns.
    pub campaigns: Campaigns,
    /// What is asked of them.
    pub asked: Asked,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Asked {
    /// Is nothing said that is false, and do intervals hold the truth?
    Truth,
    /// The same, and are differences found?
    Found,
    /// What comes out, whatever it is.
    Told,
    /// Is nothing said that is false, if they end when they are precise?
    Precise(Precise),
}

/// What was counted in some campaigns.
#[derive(Debug, Default)]
struct Counts {
    campaigns: usize,
    /// Campaigns with a false word, and with all intervals right.
    with_false: usize,
    together: usize,
    /// Cells that were judged, whose own interval is right, that are called the same.
    judged: usize,
    alone: usize,
    same: usize,
    /// Cells that differ, and are told so.
    differing: usize,
    found: usize,
}

impl Compare {
    /// How many campaigns say what is false, how many intervals hold the truth, and what other methods say.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        if let Asked::Precise(precise) = self.asked {
            return precise.measure(self.campaigns, name, campaigns, seed);
        }
        let mut counts = Counts::default();
        let mut others = Candidate::ALL.map(|candidate| (candidate, Others::default()));
        for number in 0..campaigns {
            let campaign = self.campaigns.draw(&mut noise_of(name, number, seed));
            counts
                .add(&campaign.truths, &compare_runs(&campaign.cells, SAME_WITHIN, CampaignEnding::Planned));
            others.iter_mut().for_each(|(candidate, others)| others.add(*candidate, &campaign));
        }
        let mut measured = counts.measured(self.asked);
        measured.extend(others.into_iter().filter_map(|(candidate, others)| others.measured(candidate)));
        measured
    }
}

impl Counts {
    fn add(&mut self, truths: &[f64], compared: &[ComparedRuns]) {
        let holds = |interval: Option<LogRange>, truth: f64| {
            interval.is_none_or(|interval| interval.low() <= truth && truth <= interval.high())
        };
        let mut cells = truths.iter().zip(compared);
        self.campaigns += 1;
        self.with_false += usize::from(cells.clone().any(|(truth, cell)| is_false(cell.word, *truth)));
        self.together += usize::from(cells.clone().all(|(truth, cell)| holds(cell.interval, *truth)));
        cells.by_ref().for_each(|(truth, cell)| {
            self.judged += usize::from(cell.interval.is_some());
            self.alone += usize::from(cell.interval.is_some() && holds(cell.interval_alone, *truth));
            self.same += usize::from(cell.word == ComparedWord::Same);
            self.differing += usize::from(*truth != 0.0);
            self.found += usize::from(*truth != 0.0 && direction(cell.word) == truth.signum());
        });
    }

    fn measured(&self, asked: Asked) -> Vec<Measured> {
        let judged = |limit: Limit| if asked == Asked::Told { Limit::Untold } else { limit };
        let covered = judged(Limit::AtLeast(COVERED_LEAST));
        let found = if asked == Asked::Found { Limit::AtLeast(FOUND_LEAST) } else { Limit::Untold };
        let of = self.campaigns;
        let mut measured = vec![
            Measured::share("a false word", self.with_false, of, judged(Limit::AtMost(FALSE_MOST))),
            Measured::share("covered, alone", self.alone, self.judged, covered),
            Measured::share("covered, together", self.together, of, covered),
            Measured::share("called the same", self.same, self.judged, Limit::Untold),
        ];
        if self.differing > 0 {
            measured.push(Measured::share("found", self.found, self.differing, found));
        }
        measured
    }
}

fn direction(word: ComparedWord) -> f64 {
    match word {
        ComparedWord::Faster => 1.0,
        ComparedWord::Slower => -1.0,
        ComparedWord::Same | ComparedWord::NoDifferenceShown | ComparedWord::TooFew { .. } => 0.0,
    }
}

fn is_false(word: ComparedWord, truth: f64) -> bool {
    match word {
        // What differs by just as much is no more the same, whatever is rounded.
        ComparedWord::Same => truth.abs() > SAME_WITHIN.ln_1p() - 1e-9,
        _ => direction(word) * truth <= 0.0 && direction(word) != 0.0,
    }
}

/// What another method says: campaigns in which it calls equal cells different, and cells that differ which it finds.
#[derive(Debug, Default)]
struct Others {
    campaigns: usize,
    with_false: usize,
    differing: usize,
    found: usize,
}

impl Others {
    fn add(&mut self, candidate: Candidate, campaign: &Campaign) {
        let Some(differences) = campaign.differences() else { return };
        let directions = candidate.directions(campaign, &differences);
        let cells = campaign.truths.iter().zip(&directions);
        self.campaigns += 1;
        self.with_false += usize::from(
            cells.clone().any(|(truth, direction)| *direction != 0.0 && direction * truth <= 0.0),
        );
        self.differing += campaign.truths.iter().filter(|truth| **truth != 0.0).count();
        self.found += cells.filter(|(truth, direction)| **direction * **truth > 0.0).count();
    }

    /// Of rows in which cells differ what is found, else what is false.
    fn measured(&self, candidate: Candidate) -> Option<Measured> {
        let name = candidate.name();
        if self.campaigns == 0 {
            return None;
        }
        Some(match self.differing {
            0 => Measured::share(format!("false: {name}"), self.with_false, self.campaigns, Limit::Untold),
            of => Measured::share(format!("found: {name}"), self.found, of, Limit::Untold),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_false_where_they_contradict_the_truth() {
        let (faster, slower, same) = (ComparedWord::Faster, ComparedWord::Slower, ComparedWord::Same);
        assert!(is_false(faster, 0.0) && is_false(faster, -0.1) && !is_false(faster, 0.1));
        assert!(is_false(slower, 0.0) && is_false(slower, 0.1) && !is_false(slower, -0.1));
        assert!(is_false(same, 1.05_f64.ln()) && is_false(same, -1.05_f64.ln()) && !is_false(same, 0.04));
        assert!(
            !is_false(ComparedWord::NoDifferenceShown, 0.5)
                && !is_false(ComparedWord::TooFew { more: 1 }, 0.0)
        );
    }
}
