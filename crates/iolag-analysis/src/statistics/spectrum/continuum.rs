//! What a peak of a periodogram is compared with: a power law through the powers around it.

/// Steps with which the slope of powers is found.
const FISHER_STEPS: usize = 3;

/// What noise of any colour has at a frequency, by the powers around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Continuum {
    /// Its power.
    pub(crate) power: f64,
    /// Independent powers that would tell it as well.
    pub(crate) independent: f64,
}

impl Continuum {
    /// Of places on the logarithmic axis, from the frequency on, and powers there, of which one in `steps` is independent.
    pub(crate) fn of(around: &[(f64, f64)], steps: f64) -> Self {
        let count = around.len().max(1) as f64;
        let mean = around.iter().map(|(place, _)| place).sum::<f64>() / count;
        let variance = around.iter().map(|(place, _)| (place - mean).powi(2)).sum::<f64>() / count;
        let falls = slope_of(around, mean, variance);
        let straight = around.iter().map(|(place, power)| power * (falls * place).exp());
        // A line is known worse beside its middle: at the highest frequencies, which have neighbours on one side, by a factor of three.
        let leverage = if variance > 0.0 { mean * mean / variance } else { 0.0 };
        let independent = (count / steps / (1.0 + leverage)).max(1.0);
        Self { power: straight.sum::<f64>() / count, independent }
    }
}

/// How steeply powers fall with their places on logarithmic axes: 0 for white noise, 2 for a random walk. Powers of noise have the exponential law; their
/// likelihood is greatest where straightened powers have their centre at the mean place. It is reached by Fisher's steps from the line through logarithms.
fn slope_of(around: &[(f64, f64)], mean: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 0.0;
    }
    let n = around.len() as f64;
    let products: f64 = around.iter().map(|(place, power)| (place - mean) * power.ln()).sum();
    let mut falls = (-products / (n * variance)).clamp(0.0, 2.0);
    for _ in 0..FISHER_STEPS {
        let (mut sum, mut moment) = (0.0, 0.0);
        for (place, power) in around {
            let straight = power * (falls * place).exp();
            sum += straight;
            moment += straight * (place - mean);
        }
        falls = (falls - moment / sum / variance).clamp(0.0, 2.0);
    }
    falls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_known_worse_at_the_end_of_its_neighbourhood() {
        let places = |from: i32, to: i32| -> Vec<(f64, f64)> {
            (from..to).map(|place| (f64::from(place) / 300.0, 1.0)).collect()
        };
        let (middle, end) = (Continuum::of(&places(-150, 150), 3.0), Continuum::of(&places(-300, 0), 3.0));
        assert!((middle.independent - 100.0).abs() < 1.0 && (end.independent - 25.0).abs() < 1.0);
        assert!((middle.power - 1.0).abs() < 1e-9 && (end.power - 1.0).abs() < 1e-9);
    }
}
