//! Tests of the words for one series by itself.

use super::*;

#[test]
fn watching_longer_is_no_advice_where_it_does_not_help() {
    let advice = |of: fn(i64, f64) -> (u64, Outcome)| {
        let mut noise = Random::new(7);
        let columns = columns_of((0..2688).map(|slot| {
            let (milliseconds, outcome) = of(slot, (0.3 * noise.normal()).exp());
            (slot * 900, milliseconds, outcome)
        }));
        let told = told_of_kind(FindingKind::TooFew, vec![(series_of("/home", "list"), columns)]);
        told.into_iter().next().map(|one| one.advice)
    };
    let drifting = advice(|slot, noise| ((20.0 * (1.0 + slot as f64 / 900.0) * noise) as u64, Outcome::Ok));
    assert!(drifting.as_ref().is_some_and(|advice| advice.contains("drifts")), "{drifting:?}");
    let short = advice(|slot, noise| match slot {
        ..100 => ((20.0 * noise) as u64, Outcome::Ok),
        _ => (0, Outcome::Skipped),
    });
    assert!(short.as_ref().is_some_and(|advice| advice.starts_with("Watch longer")), "{short:?}");
    assert_eq!(advice(|_, _| (10, Outcome::Error)), None, "nothing that watching longer would tell");
}
