//! In how many stretches of time the slow attempts lie.
//!
//! Slow attempts come in storms. Of a share in the tail, each storm tells once, however many attempts it holds. Where those over
//! a limit lie closer together than chance would put them, they are parted into clusters at the longest intervals between them,
//! as many as the extremal index says (Ferro and Segers 2003: the intervals estimator). Storms of very different length tell less than as many equal
//! ones, so their number is (Σ size)² / Σ size² (Kish 1965). Chance makes clusters too: as far as their
//! number is that of the same count of attempts put at random, each attempt tells of itself; as far as it is not, each cluster.
//!
//! A record may begin or end within a storm: of that one a piece was seen, too short to stand out among all that lie beyond a quantile. It is
//! known by its place: the greatest values are the first of the record, or the last.
//!
//! Limits: that storms are there is only known of those that happened; fewer than [`CLUSTERS_LEAST`] say nothing of how often they come.

use super::worth::Stretch;
use iolag_model::Random;

/// With fewer clusters no quantile is told in the tail.
pub(crate) const CLUSTERS_LEAST: f64 = 4.0;

/// Orders that are drawn: the second least of them is passed by chance in one of twenty.
const DRAWN: usize = 39;
const SEED: u64 = 2003;

/// Attempts over a limit that lie in clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClusteredOver {
    /// Independent attempts over the limit that would tell as much.
    pub effective: f64,
    /// Clusters.
    pub stretches: u64,
}

/// Where one event was counted, the expected number is at most this (97.5 %, Garwood 1936: half the chi-squared quantile of four degrees of freedom).
const EVENTS_MOST: f64 = 5.572;

/// What is greatest in a sequence at one of its ends: of the storm that was cut there, so much was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutStorm {
    /// The parts of the sequence that it takes at the begin and at the end, 0 to 1; 0: there is none.
    shares: [f64; 2],
}

impl CutStorm {
    /// None.
    pub const NONE: Self = Self { shares: [0.0; 2] };

    /// Of values in time order: two or more that are greater than all others and stand at an end.
    pub fn of(values: &[f64]) -> Self {
        let greatest = [greatest_at_front(values.iter()), greatest_at_front(values.iter().rev())];
        Self { shares: greatest.map(|count| count as f64 / values.len().max(1) as f64) }
    }

    /// Of a sequence that begins slowly for reasons of its own: caches are cold.
    #[must_use]
    pub fn at_the_end(self) -> Self {
        Self { shares: [0.0, self.shares[1]] }
    }

    /// Whether storms like it, on average twice as long as what is seen of one cut anywhere, may take half of this share: then the record does not tell
    /// how long the slowest of it take.
    pub fn may_fill(self, share: f64) -> bool {
        let seen = self.shares[0].max(self.shares[1]);
        seen > 0.0 && 2.0 * EVENTS_MOST * seen >= share / 2.0
    }
}

/// How many of the first values are greater than all that follow: the most that are no more than a tenth, and not a single one.
fn greatest_at_front<'a>(
    values: impl DoubleEndedIterator<Item = &'a f64> + ExactSizeIterator + Clone,
) -> usize {
    let most = values.len() / 10;
    let rest = values.clone().skip(most).fold(f64::NEG_INFINITY, |greatest, value| greatest.max(*value));
    let first: Vec<f64> = values.take(most).copied().collect();
    // From behind: the greatest of what follows, and whether the least of what comes before is greater.
    let mut least = first.clone();
    for place in 1..most {
        least[place] = least[place].min(least[place - 1]);
    }
    let mut following = rest;
    for place in (1..most).rev() {
        if least[place] > following {
            return place + 1;
        }
        following = following.max(first[place]);
    }
    0
}

/// The clusters of those over the limit; `None` if chance explains how close they lie, or if they are everywhere.
pub(crate) fn clustered(stretches: &[Stretch]) -> Option<ClusteredOver> {
    let places: Vec<usize> = (0..stretches.len()).filter(|place| stretches[*place].over > 0).collect();
    let over: u64 = stretches.iter().map(|stretch| u64::from(stretch.over)).sum();
    if over < 2 || places.len() > stretches.len() / 2 {
        return None;
    }
    let sizes = cluster_sizes(&places, |place| f64::from(stretches[place].over));
    let found = kish(&sizes);
    let by_chance = if over > stretches.len() as u64 {
        // That many would be everywhere.
        over as f64
    } else {
        let mut drawn = drawn_numbers(over as usize, stretches.len());
        drawn.sort_unstable_by(f64::total_cmp);
        if drawn.get(1).is_some_and(|limit| found >= *limit) {
            return None;
        }
        drawn.iter().sum::<f64>() / drawn.len() as f64
    };
    let likeness = (found / by_chance).min(1.0);
    let effective = found * (1.0 + (over as f64 / by_chance - 1.0) * likeness);
    Some(ClusteredOver { effective, stretches: sizes.len() as u64 })
}

/// The effective numbers of clusters of so many places among all, put at random.
fn drawn_numbers(count: usize, all: usize) -> Vec<f64> {
    let mut noise = Random::new(SEED);
    let mut order: Vec<usize> = (0..all).collect();
    let mut draw = || {
        for place in 0..count {
            let other = place + (noise.unit() * (all - place) as f64) as usize;
            order.swap(place, other.min(all - 1));
        }
        let mut places = order[..count].to_vec();
        places.sort_unstable();
        kish(&cluster_sizes(&places, |_| 1.0))
    };
    (0..DRAWN).map(|_| draw()).collect()
}

fn kish(sizes: &[f64]) -> f64 {
    let (sum, squares) =
        sizes.iter().fold((0.0, 0.0), |(sum, squares), size| (sum + size, squares + size * size));
    sum * sum / squares
}

/// Sizes of the clusters that these ascending places, each with a weight, make.
fn cluster_sizes(places: &[usize], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let gaps: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let limit = limit_between_clusters(&gaps);
    let mut sizes = Vec::new();
    for (index, place) in places.iter().enumerate() {
        match sizes.last_mut().filter(|_| gaps[index - 1] < limit) {
            Some(size) => *size += weight(*place),
            None => sizes.push(weight(*place)),
        }
    }
    sizes
}

/// From this interval on two places are in different clusters.
fn limit_between_clusters(gaps: &[usize]) -> usize {
    let clusters = (extremal_index(gaps) * (gaps.len() + 1) as f64) as usize;
    let mut descending = gaps.to_vec();
    descending.sort_unstable_by(|one, other| other.cmp(one));
    // Neighbours are never parted.
    clusters.checked_sub(2).and_then(|last| descending.get(last)).map_or(usize::MAX, |gap| (*gap).max(2))
}

/// Clusters by attempts, 0 to 1, from the intervals between them (Ferro and Segers 2003, equations 5 and 6).
fn extremal_index(gaps: &[usize]) -> f64 {
    let are_short = gaps.iter().all(|gap| *gap <= 2);
    let (first, second) = if are_short { (0.0, 0.0) } else { (1.0, 2.0) };
    let (mut sum, mut squares) = (0.0, 0.0);
    for gap in gaps.iter().map(|gap| *gap as f64) {
        sum += gap - first;
        squares += (gap - first) * (gap - second);
    }
    if squares <= 0.0 {
        return 1.0;
    }
    (2.0 * sum * sum / (gaps.len() as f64 * squares)).min(1.0)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn a_storm_that_was_cut_is_known_by_its_place() {
        let share = |storm: Range<usize>| {
            let value =
                |place: usize| (place * 37 % 101) as f64 + if storm.contains(&place) { 1e3 } else { 0.0 };
            let values: Vec<f64> = (0..200).map(value).collect();
            CutStorm::of(&values).shares
        };
        assert_eq!([share(0..5), share(193..200), share(0..2)], [[0.025, 0.0], [0.0, 0.035], [0.01, 0.0]]);
        assert_eq!([share(1..6), share(192..199), share(0..1), share(0..0)], [[0.0; 2]; 4]);
        // That much is a level, and no tail.
        assert_eq!(share(0..30), [0.0; 2]);
        // Six of a hundred thousand say nothing against a p95, and of a thousand they do.
        let cut = |share: f64| CutStorm { shares: [share, 0.0] };
        assert_eq!(cut(0.01).at_the_end(), CutStorm::NONE);
        assert!(cut(6e-3).may_fill(0.05) && !cut(6e-5).may_fill(0.05) && cut(6e-4).may_fill(0.01));
        for short in [vec![], vec![1.0], vec![f64::INFINITY; 30]] {
            assert_eq!(CutStorm::of(&short), CutStorm::NONE);
        }
    }

    fn of(over: impl Fn(usize) -> bool, n: usize) -> Option<ClusteredOver> {
        let stretch = |place: usize| Stretch { attempts: 1, over: u32::from(over(place)) };
        clustered(&(0..n).map(stretch).collect::<Vec<_>>())
    }

    #[test]
    fn storms_are_counted_and_not_their_attempts() {
        let found = of(|place| place % 500 < 15, 4000).expect("eight storms");
        assert_eq!(found.stretches, 8);
        assert!((8.0..9.0).contains(&found.effective), "{found:?}");
    }

    #[test]
    fn two_storms_say_nothing_of_how_often_they_come() {
        let found =
            of(|place| (100..130).contains(&place) || (700..730).contains(&place), 1000).expect("two storms");
        assert_eq!(found.stretches, 2);
        assert!((2.0..2.2).contains(&found.effective), "{found:?}");
    }

    #[test]
    fn the_less_chance_would_make_such_clusters_the_less_their_attempts_count() {
        // Forty over the limit in pairs, in fives, and in tens.
        let [pairs, fives, tens] = [2, 5, 10].map(|size| {
            let found = of(|place| place % (100 * size) < size, 4000).expect("they lie together");
            assert_eq!(found.stretches, 40 / size as u64);
            found.effective * size as f64 / 40.0
        });
        assert!(pairs > fives && fives > tens && tens >= 1.0, "{pairs} {fives} {tens}");
        assert!(pairs < 1.5 && tens < 1.1, "{pairs} {fives} {tens}");
    }

    #[test]
    fn what_lies_at_random_or_evenly_is_in_no_clusters() {
        let mut noise = Random::new(3);
        let is_over: Vec<bool> = (0..2000).map(|_| noise.unit() < 0.05).collect();
        assert_eq!(of(|place| is_over[place], 2000), None);
        assert_eq!(of(|place| place % 20 == 0, 2000), None);
    }

    #[test]
    fn none_one_and_all_are_in_no_clusters() {
        for over in [0, 1, 100] {
            assert_eq!(of(|place| place < over, 100), None, "{over}");
        }
        assert_eq!(clustered(&[]), None);
    }
}
