//! Do two levels differ more than levels of a load that jumps to and fro do anyway?
//!
//! Noise that is drawn with a spectrum is normal; a load that jumps between a few levels and stays for a while has the same spectrum and makes far better
//! steps. So where a record consists of more levels than are to be told, the difference of neighbours is held against how much levels
//! differ beside them: Student's test with levels for values, each weighted by how long it lasts, their effective number (Kish 1965) on either side.
//!
//! Limits: of few levels nothing is known, and any two are apart.

use crate::statistics::student::student_two_sided;

/// Levels beyond those that are to be told from which on they tell how much levels differ.
const FREEDOM_LEAST: f64 = 4.0;

/// A part of a record between two changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub(crate) length: f64,
    pub(crate) mean: f64,
}

/// What is to be told as one level.
struct Group {
    mean: f64,
    count_effective: f64,
    /// Sum over its levels of length times squared distance from its mean.
    squares: f64,
}

impl Group {
    fn of(levels: &[Level]) -> Self {
        let length: f64 = levels.iter().map(|level| level.length).sum();
        let mean = levels.iter().map(|level| level.length * level.mean).sum::<f64>() / length;
        let squares = levels.iter().map(|level| level.length * (level.mean - mean).powi(2)).sum();
        let of_lengths: f64 = levels.iter().map(|level| level.length.powi(2)).sum();
        Self { mean, count_effective: length * length / of_lengths, squares }
    }
}

/// Which of `bounds`, places of levels that begin something else, tells least: one that has no level of its own, or the one with the smallest difference, if
/// that has a probability above `significance` among these levels. All are in the order of time, levels longer than 0, bounds beyond the first level.
pub(crate) fn least_apart(levels: &[Level], bounds: &[usize], significance: f64) -> Option<usize> {
    let ends: Vec<usize> =
        std::iter::once(0).chain(bounds.iter().copied()).chain(std::iter::once(levels.len())).collect();
    let freedom = levels.len() as f64 - (ends.len() as f64 - 1.0);
    if freedom < FREEDOM_LEAST {
        return None;
    }
    if let Some(without) = ends.windows(2).position(|ends| ends[0] >= ends[1]) {
        return without.checked_sub(1);
    }
    let groups: Vec<Group> = ends.windows(2).map(|ends| Group::of(&levels[ends[0]..ends[1]])).collect();
    let length: f64 = levels.iter().map(|level| level.length).sum();
    let squares: f64 = groups.iter().map(|group| group.squares).sum();
    let variance = squares / length * levels.len() as f64 / freedom;
    let apart = |pair: &[Group]| {
        let error = (variance * (1.0 / pair[0].count_effective + 1.0 / pair[1].count_effective)).sqrt();
        (pair[1].mean - pair[0].mean).abs() / error
    };
    let (index, least) =
        groups.windows(2).map(apart).enumerate().min_by(|one, other| one.1.total_cmp(&other.1))?;
    (least < student_two_sided(freedom, 1.0 - significance)).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(means: &[f64]) -> Vec<Level> {
        means.iter().map(|mean| Level { length: 20.0, mean: *mean }).collect()
    }

    #[test]
    fn one_level_of_many_is_no_change_and_a_step_above_all_of_them_is() {
        let jumping = levels(&[0.1, 1.0, 0.0, 1.1, -0.1, 0.9, 0.0, 1.0]);
        assert_eq!(least_apart(&jumping, &[3], 0.01), Some(0));
        assert_eq!(least_apart(&jumping, &[3, 4], 0.01), Some(1));
        assert_eq!(least_apart(&jumping, &[3, 3], 0.01), Some(0), "two for one place");
        let risen = levels(&[0.1, 1.0, 0.0, 1.1, 5.0, 6.1, 4.9, 6.0]);
        assert_eq!(least_apart(&risen, &[4], 0.01), None);
        // The first of two, of which the other is the step.
        assert_eq!(least_apart(&risen, &[2, 4], 0.01), Some(0));
    }

    #[test]
    fn few_levels_are_all_apart_and_nothing_is_no_bound() {
        assert_eq!(least_apart(&levels(&[0.0, 1.0, 0.0, 1.0]), &[1], 0.01), None);
        assert_eq!(least_apart(&[], &[], 0.01), None);
        assert_eq!(least_apart(&levels(&[1.0; 9]), &[], 0.01), None);
        assert_eq!(least_apart(&levels(&[1.0; 9]), &[4], 0.01), None, "no difference and no scatter");
    }
}
