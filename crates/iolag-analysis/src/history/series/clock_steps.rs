//! What a clock that counts in steps leaves unknown of an amount.

/// A clock whose step is more than this share of an amount is coarse: its step counts in the interval.
const COARSE_SHARE: f64 = 0.01;

/// The step of a clock where it counts beside this amount, else 0.
pub(crate) fn coarse_step(step_seconds: f64, amount: f64) -> f64 {
    if step_seconds > COARSE_SHARE * amount { step_seconds } else { 0.0 }
}

/// Between what the truth lies where a clock with this step shows `amount`. A coarse clock shows a step where it may have cut, and the middle of
/// one where it may have rounded: it is from half a step below to a step above.
pub(crate) fn truth_behind(amount: f64, step_seconds: f64) -> [f64; 2] {
    let step = coarse_step(step_seconds, amount);
    [amount - step / 2.0, amount + step]
}

/// By how much the ends of the logarithm of a ratio, of a second amount by a first, move because of the steps of their clocks; an end that is not
/// bounded moves by infinity.
pub(crate) fn steps_in_ratio(amounts: [f64; 2], steps_seconds: [f64; 2]) -> [f64; 2] {
    let [first, second] = [0, 1].map(|side| {
        let amount = amounts[side];
        let moved = |truth: f64| if truth == amount { 0.0 } else { (truth.max(0.0) / amount).ln() };
        truth_behind(amount, steps_seconds[side]).map(moved)
    });
    [second[0] - first[1], second[1] - first[0]]
}
