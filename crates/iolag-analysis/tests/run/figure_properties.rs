//! What holds of the figures of any run.

use iolag_analysis::bucket_of;
use iolag_analysis::figure::*;
use iolag_model::*;
use proptest::prelude::*;

use crate::figures::{Row, draw, give, plan};
use crate::scenario::{MS, S};

fn drawn_rows() -> impl Strategy<Value = Vec<Row>> {
    let operation = prop::sample::select(vec![
        Operation::Stat,
        Operation::Create,
        Operation::TaskList,
        Operation::RingWait,
    ]);
    let outcome = prop::sample::select(vec![
        Outcome::Ok,
        Outcome::Ok,
        Outcome::Ok,
        Outcome::Late,
        Outcome::Error,
        Outcome::Timeout,
        Outcome::Hung,
    ]);
    let row = (operation, outcome, 0_u64..1000, 0_u32..36, any::<u64>(), 0_i32..5, 0_i32..2);
    let row = row.prop_map(|(operation, outcome, start, bits, raw, client, target)| {
        let code = if outcome == Outcome::Error { 5 } else { 0 };
        // Away from the edges of columns, where a moment's fraction may be rounded either way.
        let row = Row::ok(operation, S + start * S + 300 * MS, raw & ((1 << bits) - 1)).but(outcome, code);
        Row { client, target, ..row }
    });
    prop::collection::vec(row, 0..300)
}

/// Without what depends on the order of arrival: the effective sample size.
fn settled(mut figures: RunFigures) -> RunFigures {
    for series in &mut figures.series {
        series.sample_size.effective = 0.0;
    }
    for own in &mut figures.distributions {
        (own.sample_size.effective, own.band) = (0.0, 0.0);
    }
    figures
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn merging_equals_recording_everything_and_nothing_is_lost(
        rows in drawn_rows(), split in 0_usize..300, points in 0_u64..300, marks in 0_u64..100,
    ) {
        let limits = FigureLimits { points, marks, grid_rows: 64 };
        let plan = plan(&["/home", "/tmp"]).with_limits(limits);
        let (first, second) = rows.split_at(split.min(rows.len()));
        let mut merged = FigureEngine::new(plan.clone());
        let mut other = FigureEngine::new(plan.clone());
        give(&mut merged, first);
        give(&mut other, second);
        merged.merge(other);
        let figures = draw(plan, &rows);
        prop_assert_eq!(settled(merged.finish()), settled(figures.clone()));

        let line = &figures.time_line;
        let in_density: u64 = line.density.iter().flat_map(|density| &density.layers)
            .flat_map(|layer| &layer.counts.0).map(|count| u64::from(*count)).sum();
        let drawn = if line.density.is_some() { in_density } else { line.points.time.0.len() as u64 };
        prop_assert_eq!(drawn, line.attempts);
        let late = rows.iter().filter(|row| row.outcome == Outcome::Late).count() as u64;
        prop_assert_eq!(figures.counts.attempts, line.attempts + line.marks.total - late);
        prop_assert_eq!(figures.counts.taken, rows.len() as u64);
        let counted: u64 = line.marks.counts.iter().flat_map(|own| &own.counts.0).map(|own| u64::from(*own)).sum();
        prop_assert_eq!(counted + line.marks.each.time.0.len() as u64, line.marks.total);
        let heat: u64 = figures.heat_map.layers.iter().flat_map(|own| &own.totals.0).map(|own| u64::from(*own)).sum();
        prop_assert_eq!(heat, line.attempts);
        prop_assert_eq!(figures.series.iter().map(|series| series.attempts).sum::<u64>(), rows.len() as u64);
    }

    #[test]
    fn decimation_keeps_the_longest_of_every_column(rows in drawn_rows()) {
        let limits = FigureLimits { points: 0, ..FigureLimits::default() };
        let figures = draw(plan(&["/home", "/tmp"]).with_limits(limits), &rows);
        let points = &figures.time_line.points;
        if let Some(sentence) = &figures.time_line.decimation {
            prop_assert!(sentence.contains("are more than 0:"), "{}", sentence);
            prop_assert!(sentence.ends_with(&format!("({} points).", points.time.0.len())), "{}", sentence);
        }
        for row in rows.iter().filter(|row| matches!(row.outcome, Outcome::Ok | Outcome::Late)) {
            let column = (row.start_ns - S as i64) as u128 * 1600 / (1000 * u128::from(S));
            let is_same = |index: &usize| {
                let series = &figures.series[usize::from(points.series.0[*index])];
                series.operation == row.operation
                    && i32::from(series.target.0) == row.target
                    && (u128::from(points.time.0[*index]) * 1600) >> 32 == column
            };
            let kept = (0..points.time.0.len()).find(is_same);
            prop_assert!(kept.is_some_and(|index| usize::from(points.bucket.0[index]) >= bucket_of(row.ns as u64)));
        }
    }
}
