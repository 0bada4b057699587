//! What a ping ends with: counts, and quantiles that claim no more than is certain.

use iolag_analysis::{Censoring, Engine, Grouping, PingAnalysis, PingCounts, Precision, Summary};
use iolag_model::{FailureCode, Nanoseconds, Operation, Outcome, SampleColumns};
use iolag_report::{Colour, ping_text};

/// Instead of a duration: what was not sent while the file of the probe before was being removed.
const HELD_UP: i64 = -1;

/// The analysis of these probes: outcome and duration in ms.
fn analysis(probes: &[(Outcome, i64)]) -> PingAnalysis {
    let count = probes.len();
    let outcomes: Vec<i32> = probes.iter().map(|(outcome, _)| *outcome as i32).collect();
    let durations: Vec<i64> =
        probes.iter().map(|(_, milliseconds)| milliseconds.max(&0) * 1_000_000).collect();
    let codes: Vec<i32> = probes
        .iter()
        .map(|(outcome, milliseconds)| match outcome {
            Outcome::Error => FailureCode(5),
            // Not sent: because a file was being removed, or for want of time; else cut off.
            Outcome::Skipped | Outcome::Interrupted if *milliseconds == HELD_UP => FailureCode::REMOVAL,
            Outcome::Interrupted if *milliseconds >= 100 => FailureCode::TIME_UP,
            Outcome::Interrupted => FailureCode::CUT,
            _ => FailureCode::NONE,
        })
        .map(|code| i32::from(code.0))
        .collect();
    let mut engine =
        Engine::new(Grouping::default(), Precision::Exact).with_censoring(Censoring::Informative);
    engine.batch(SampleColumns {
        operation_code: &vec![Operation::Probe as i32; count],
        outcome_code: &outcomes,
        failure_code: &codes,
        duration_ns: &durations,
        ..SampleColumns::default()
    });
    let summaries: Vec<Summary> = engine.finish().summaries;
    PingAnalysis {
        schema: 1,
        precision: Precision::Exact,
        target: "/scratch".to_owned(),
        file_system: None,
        every_ns: Nanoseconds::from_seconds(1),
        deadline_ns: Nanoseconds::from_seconds(1),
        probes: PingCounts::from(&summaries[0]),
        summaries,
        findings: Vec::new(),
        trust: Vec::new(),
        remarks: Vec::new(),
    }
}

fn text(probes: &[(Outcome, i64)]) -> String {
    ping_text(&analysis(probes), 100, Colour::Never)
}

/// The columns of the line of whole probes.
fn whole(probes: &[(Outcome, i64)]) -> Vec<String> {
    let text = text(probes);
    let line = text.lines().find(|line| line.starts_with("whole probe")).expect("there is a table");
    line["whole probe".len()..]
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn of_probes_that_were_cut_off_only_the_certain_is_said() {
    use Outcome::{Late, Timeout};
    // 5.06 s, 1 s and 1 s, each of them cut off.
    let cut = whole(&[(Timeout, 5_060), (Timeout, 1_000), (Timeout, 1_000)]);
    assert_eq!(cut, ["3", "≥ 1.00 s", "≥ 1.00 s", "too few", "too few", "≥ 5.06 s"]);
    let two = whole(&[(Timeout, 3_180), (Timeout, 3_000)]);
    assert_eq!(two, ["2", "≥ 3.00 s", "≥ 3.00 s", "too few", "too few", "≥ 3.18 s"]);
    // One that ended after 3 s is neither the least nor the median of two that may have taken longer than 1 s.
    let late = whole(&[(Late, 3_000), (Timeout, 1_000), (Timeout, 1_000)]);
    assert_eq!(late, ["3", "≥ 1.00 s", "≥ 1.00 s", "too few", "too few", "≥ 3.00 s"]);
}

#[test]
fn a_hang_makes_no_figure_better_and_what_iolag_cut_short_is_in_none() {
    use Outcome::{Hung, Interrupted, Ok, Skipped};
    let hang = [(Ok, 2), (Hung, 3_500), (Skipped, 2_500), (Skipped, 1_500), (Skipped, 500)];
    assert_eq!(whole(&hang)[1..3], ["2.00 ms", "≥ 1.50 s"]);
    let cut = [(Ok, 2), (Ok, 3), (Ok, 4), (Interrupted, 0), (Interrupted, 1)];
    assert_eq!(whole(&cut)[..3], ["3", "2.00 ms", "3.00 ms"]);
}

#[test]
fn every_probe_is_in_one_count() {
    use Outcome::{Error, Hung, Interrupted, Late, Ok, Skipped, Timeout};
    let all = [
        (Ok, 1),
        (Ok, 2),
        (Late, 1_200),
        (Timeout, 1_000),
        (Error, 1),
        (Skipped, 200),
        (Hung, 3_000),
        (Interrupted, 0),
    ];
    assert_eq!(analysis(&all).probes.lost(), 5);
    let counts = "8 probes: 2 answered, 5 lost (1 late, 1 ended at the deadline, 1 hung, 1 failed, 1 skipped), 1 interrupted or missed by iolag itself";
    let text = ping_text(&analysis(&all), 200, Colour::Never);
    assert_eq!(text.lines().take(2).collect::<Vec<_>>(), ["--- /scratch, a probe every 1.00 s ---", counts]);
}

#[test]
fn what_a_slow_probe_outran_is_neither_answered_nor_lost_nor_interrupted() {
    use Outcome::{Interrupted, Ok};
    let probes = [(Ok, 300), (Interrupted, 200), (Interrupted, 100), (Interrupted, 0)];
    let counts = analysis(&probes).probes;
    assert_eq!(
        (counts.due, counts.answered, counts.outrun, counts.interrupted, counts.lost()),
        (4, 1, 2, 1, 0)
    );
    let said = "4 probes: 1 answered, 2 not sent (the one before took longer), 1 interrupted or missed by iolag itself";
    assert!(ping_text(&analysis(&probes), 200, Colour::Never).contains(said));
    // What was not sent would have waited at least so long.
    assert_eq!(whole(&probes)[..3], ["3", "≥ 100 ms", "≥ 200 ms"]);
}

#[test]
fn what_a_removal_held_up_is_counted_by_its_cause_and_in_no_figure() {
    use Outcome::{Interrupted, Ok, Skipped};
    let probes = [
        (Ok, 300),
        (Ok, 310),
        (Interrupted, 100),
        (Interrupted, HELD_UP),
        (Interrupted, HELD_UP),
        (Interrupted, 0),
        (Skipped, HELD_UP),
        (Skipped, 400),
    ];
    let said = "8 probes: 2 answered, 2 lost (2 skipped), 1 not sent (the one before took longer), 2 not sent (removing the file of the one before was not done), 1 interrupted or missed by iolag itself";
    let text = ping_text(&analysis(&probes), 300, Colour::Never);
    assert!(text.contains(said), "{text}");
    assert_eq!(whole(&probes)[..2], ["4", "≥ 100 ms"]);
}
