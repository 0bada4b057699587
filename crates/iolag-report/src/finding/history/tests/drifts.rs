//! Tests of the words for slow changes.

use super::*;

#[test]
fn a_drift_tells_its_direction_and_beyond_a_doubling_a_factor() {
    let drift = |ratio: f64| {
        let (_, told) = changes_of(30 * DAY, |slot| 0.5 * ratio.powf(slot as f64 / (30 * DAY) as f64));
        let [found] = &told[..] else { panic!("{told:#?}") };
        found.clone()
    };
    let slower = drift(5.0);
    let begin = "`list` on /home takes 4.3 times as long in the last tenth of the record as in its first (95 %: 3.7 to 4.8)";
    assert!(slower.sentence.starts_with(begin) && slower.advice.contains("what grows"), "{slower:?}");
    let faster = drift(0.2);
    let begin = "`list` on /home is 4.3 times as fast in the last tenth of the record as in its first (95 %: 4.0 to 4.6)";
    assert!(faster.sentence.starts_with(begin) && !faster.advice.contains("what grows"), "{faster:?}");
    let little = drift(1.4).sentence;
    assert!(little.starts_with("`list` on /home drifts up by 3"), "{little}");
}
