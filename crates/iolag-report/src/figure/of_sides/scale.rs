//! The axis of ratios: logarithmic, labelled in percent, or in factors where it is long.

use crate::figure::axis::Axis;

/// Ratios beyond these are arrows.
const FAR: f64 = 14.0;
/// A longer axis has factors for labels.
const LONG: f64 = 2.0;
/// The ends are moved out by this share of the length.
const MARGIN: f64 = 0.06;

const FACTORS: [(f64, &str); 15] = [
    (1e-6, "÷1 000 000"),
    (1e-4, "÷10 000"),
    (1e-3, "÷1 000"),
    (1e-2, "÷100"),
    (1e-1, "÷10"),
    (0.2, "÷5"),
    (0.5, "÷2"),
    (1.0, "×1"),
    (2.0, "×2"),
    (5.0, "×5"),
    (10.0, "×10"),
    (100.0, "×100"),
    (1e3, "×1 000"),
    (1e4, "×10 000"),
    (1e6, "×1 000 000"),
];

const STEPS: [f64; 10] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// An axis, and what is written along it.
pub(crate) struct Scale {
    pub(crate) axis: Axis,
    /// As in `speed in percent of native`; without the name of the base.
    pub(crate) unit: &'static str,
}

/// An axis that holds these logarithms and no difference, with so many labels at most.
pub(crate) fn scale_of(logarithms: impl Iterator<Item = f64>, same: f64, labels_max: usize) -> Scale {
    let known = logarithms.filter(|one| one.is_finite()).map(|one| one.clamp(-FAR, FAR));
    let (low, high) = known.fold((-1.5 * same, 1.5 * same), |(low, high), one| (low.min(one), high.max(one)));
    let margin = (high - low).max(0.002) * MARGIN;
    let (low, high) = (low - margin, high + margin);
    let is_within = |at: &f64| *at >= low && *at <= high;
    if high - low > LONG {
        let all: Vec<(f64, String)> = FACTORS
            .iter()
            .map(|(factor, name)| (factor.ln(), (*name).to_owned()))
            .filter(|(at, _)| is_within(at))
            .collect();
        let every = all.len().div_ceil(labels_max.max(2)).max(1);
        // No difference keeps its label.
        let first = all.iter().position(|(at, _)| *at == 0.0).unwrap_or(0) % every;
        let ticks = all.into_iter().skip(first).step_by(every).collect();
        return Scale { axis: Axis::labelled(low, high, ticks), unit: "speed in times that" };
    }
    let [from, to] = [low, high].map(|end| 100.0 * end.exp_m1());
    let step = STEPS.into_iter().find(|step| (to - from) / step <= labels_max.max(2) as f64).unwrap_or(100.0);
    let ticks = ((from / step).ceil() as i32..=(to / step).floor() as i32).map(|index| {
        let percent = f64::from(index) * step;
        ((percent / 100.0).ln_1p(), in_words(percent, step))
    });
    Scale { axis: Axis::labelled(low, high, ticks.collect()), unit: "speed in percent" }
}

fn in_words(percent: f64, step: f64) -> String {
    let number = format!("{:.*}", usize::from(step < 1.0), percent.abs());
    match percent {
        percent if percent.abs() < step / 2.0 => "0".to_owned(),
        percent if percent < 0.0 => format!("−{number}"),
        _ => format!("+{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(logarithms: &[f64], most: usize) -> Vec<String> {
        scale_of(logarithms.iter().copied(), 0.05, most)
            .axis
            .ticks()
            .iter()
            .map(|(_, label)| label.clone())
            .collect()
    }

    #[test]
    fn labels_are_percent_or_factors() {
        assert_eq!(labels(&[0.3, -0.2, f64::INFINITY], 8), ["−20", "−10", "0", "+10", "+20", "+30"]);
        assert_eq!(labels(&[-7.0, 0.0], 8), ["÷1 000", "÷100", "÷10", "÷5", "÷2", "×1"]);
        assert_eq!(labels(&[-7.0, 0.0], 3), ["÷100", "÷5", "×1"].map(str::to_owned).to_vec());
        assert_eq!(labels(&[], 4), ["−5", "0", "+5"]);
    }
}
