//! Do several samples differ by more than chance (Kruskal and Wallis 1952)?

use statrs::function::gamma::gamma_ur;

use crate::statistics::ranking::mid_ranks;

/// Statistic of Kruskal and Wallis 1952, corrected for ties; 0 if everything is equal.
pub fn kruskal_wallis(groups: &[&[f64]]) -> f64 {
    let all: Vec<f64> = groups.iter().copied().flatten().copied().collect();
    let n = all.len() as f64;
    let ranks = mid_ranks(&all);
    let mut first = 0;
    let mut between = 0.0;
    for group in groups.iter().filter(|group| !group.is_empty()) {
        let sum: f64 = ranks[first..first + group.len()].iter().sum();
        between += sum * sum / group.len() as f64;
        first += group.len();
    }
    let ties = 1.0 - tied(&all) / (n * n * n - n);
    if ties > 0.0 { (12.0 / (n * (n + 1.0)) * between - 3.0 * (n + 1.0)) / ties } else { 0.0 }
}

fn tied(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let cubes = sorted.chunk_by(|left, right| left == right).map(|equal| {
        let count = equal.len() as f64;
        count * count * count - count
    });
    cubes.sum()
}

/// Probability that a chi-squared variable exceeds `statistic`.
pub fn chi_squared_above(statistic: f64, degrees_of_freedom: usize) -> f64 {
    if statistic <= 0.0 || degrees_of_freedom == 0 {
        return 1.0;
    }
    gamma_ur(degrees_of_freedom as f64 / 2.0, statistic / 2.0)
}
