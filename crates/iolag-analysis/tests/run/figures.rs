//! Figures of runs of which every number is known.

use crate::scenario::{self, MS, S, Scenario};
use iolag_analysis::figure::*;
use iolag_analysis::{QuantileValue, analyse_metadata, bucket_of};
use iolag_model::Random;
use iolag_model::*;

/// A sample in the order of the columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) client: i32,
    pub(crate) target: i32,
    pub(crate) stage: i32,
    pub(crate) operation: Operation,
    pub(crate) outcome: Outcome,
    pub(crate) code: i32,
    pub(crate) start_ns: i64,
    pub(crate) ns: i64,
    pub(crate) bytes: i64,
}

impl Row {
    pub(crate) fn ok(operation: Operation, start_ns: u64, ns: u64) -> Self {
        let (start_ns, ns) = (start_ns as i64, ns as i64);
        let outcome = Outcome::Ok;
        Self { client: 0, target: 0, stage: 0, operation, outcome, code: 0, start_ns, ns, bytes: 0 }
    }

    pub(crate) fn but(self, outcome: Outcome, code: i32) -> Self {
        Self { outcome, code, ..self }
    }

    fn by(self, client: i32) -> Self {
        Self { client, ..self }
    }
}

pub(crate) fn give(engine: &mut FigureEngine, rows: &[Row]) {
    let column = |of: &dyn Fn(&Row) -> i32| rows.iter().map(of).collect::<Vec<i32>>();
    let long = |of: &dyn Fn(&Row) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
    engine.batch(SampleColumns {
        client: &column(&|row| row.client),
        target: &column(&|row| row.target),
        stage: &column(&|row| row.stage),
        operation_code: &column(&|row| row.operation as i32),
        outcome_code: &column(&|row| row.outcome as i32),
        failure_code: &column(&|row| row.code),
        start_ns: &long(&|row| row.start_ns),
        duration_ns: &long(&|row| row.ns),
        bytes: &long(&|row| row.bytes),
        ..SampleColumns::default()
    });
}

/// From 1 s to 1001 s: a bin of the rates is 1.667 s, the gap of episodes 2 s.
pub(crate) fn plan(targets: &[&str]) -> FigurePlan {
    let span = TimeSpan { begin: MonotonicTime(S), end: MonotonicTime(1001 * S) };
    FigurePlan::new(&Scenario::check(targets).record, span)
}

pub(crate) fn draw(plan: FigurePlan, rows: &[Row]) -> RunFigures {
    let mut engine = FigureEngine::new(plan);
    give(&mut engine, rows);
    engine.finish()
}

/// The rows of a scenario of one target.
fn rows_of(scenario: &Scenario) -> Vec<Row> {
    let row = |sample: &Sample| Row {
        client: sample.attempt.client().0 as i32,
        target: 0,
        stage: i32::from(sample.stage.0),
        operation: sample.operation(),
        outcome: sample.outcome(),
        code: i32::from(sample.code.0),
        start_ns: sample.start.0 as i64,
        ns: sample.duration.0 as i64,
        bytes: sample.bytes as i64,
    };
    scenario.samples.iter().map(row).collect()
}

fn usb_stick() -> (FigurePlan, Vec<Row>) {
    let scenario = scenario::usb_stick();
    let rows = rows_of(&scenario);
    let mut finder = SpanFinder::default();
    let starts: Vec<i64> = rows.iter().map(|row| row.start_ns).collect();
    let durations: Vec<i64> = rows.iter().map(|row| row.ns).collect();
    finder.batch(SampleColumns { start_ns: &starts, duration_ns: &durations, ..SampleColumns::default() });
    (FigurePlan::new(&scenario.record, finder.finish().expect("there are samples")), rows)
}

#[test]
fn an_empty_run_is_still_a_document() {
    let figures = draw(plan(&["/home", "/tmp"]), &[]);
    assert_eq!(figures.counts, SampleCounts::default());
    assert!(figures.series.is_empty() && figures.layers.is_empty() && figures.episodes.is_empty());
    assert_eq!((figures.time_line.form, figures.time_line.attempts), (TimeLineForm::Points, 0));
    assert_eq!(figures.run.targets[1].name, "/tmp");
    assert_eq!(figures.run.title, "Check of /home, /tmp");
    assert_eq!(figures.run.begin_realtime_ns, Some(1_795_201_140 * S));
}

#[test]
fn one_sample_is_one_point_everywhere() {
    let figures = draw(plan(&["/home"]), &[Row::ok(Operation::Stat, 501 * S, 2 * MS)]);
    let series = &figures.series[0];
    assert_eq!((series.name.as_str(), series.attempts, series.ok), ("stat", 1, 1));
    assert_eq!((series.min_ns, series.max_ns), (Some(Nanoseconds(2 * MS)), Some(Nanoseconds(2 * MS))));
    let points = &figures.time_line.points;
    assert_eq!((points.time.0[0], points.bucket.0[0]), (1 << 31, bucket_of(2 * MS) as u16));
    let own = &figures.distributions[0];
    assert!(own.duration_ns.0.iter().all(|ns| *ns == 2e6) && own.share.0.iter().all(|share| *share == 1.0));
    assert_eq!((own.band, own.band_naive, own.at_least), (1.0, 1.0, None));
    assert_eq!(figures.boxes[0].durations.median, QuantileValue::Exactly(Nanoseconds(2 * MS)));
    assert_eq!(figures.boxes[0].durations.outliers, 0);
    assert_eq!(figures.histograms[0].counts.0.iter().sum::<u32>(), 1);
    assert_eq!(figures.rates.operations.0[300], 1);
    assert!(figures.fairness.is_empty() && figures.client_boxes.is_empty());
    assert_eq!(figures.heat_map.layers[0].totals.0.iter().sum::<u32>(), 1);
}

#[test]
fn all_errors_are_marks_with_their_reasons_and_one_episode() {
    let rows: Vec<Row> = (0..100)
        .map(|index| Row::ok(Operation::Create, 10 * S + index * 100 * MS, MS).but(Outcome::Error, 28))
        .collect();
    let figures = draw(plan(&["/home"]), &rows);
    let marks = &figures.time_line.marks;
    assert_eq!((marks.total, marks.each.time.0.len(), figures.time_line.attempts), (100, 100, 0));
    let document = Figures::new(vec![figures.clone()], Vec::new());
    let reason = usize::from(marks.each.reason.0[7]);
    assert_eq!(document.axis.reasons[reason], "no space left");
    assert_eq!(figures.series[0].errors[0].count, 100);
    assert!(figures.distributions.is_empty() && figures.histograms.is_empty() && figures.boxes.is_empty());
    assert_eq!(figures.episodes.len(), 1);
    let episode = &figures.episodes[0];
    assert_eq!((episode.begin_ns, episode.troubles.failed), (MonotonicTime(10 * S), 100));
    assert_eq!(episode.end_ns, MonotonicTime(10 * S + 9_900 * MS + MS));
}

#[test]
fn a_hang_is_a_stretch_of_its_target_from_its_start_to_its_end_or_that_of_the_run() {
    let hung = Row::ok(Operation::Rename, 600 * S, 15 * S).but(Outcome::Hung, 0);
    let rows = [
        Row::ok(Operation::TaskList, 2 * S, MS),
        Row::ok(Operation::TaskList, 100 * S, 20 * S).but(Outcome::Late, 0),
        Row::ok(Operation::Create, 110 * S, 15 * S).but(Outcome::Timeout, 0),
        Row::ok(Operation::RingWait, 300 * S, 15 * S).but(Outcome::Late, 0),
        hung,
        Row::ok(Operation::Create, 700 * S, S).but(Outcome::Error, 5),
    ];
    let whole = draw(plan(&["/home"]), &rows);
    let told: Vec<_> = whole
        .hangs
        .iter()
        .map(|hang| {
            (
                hang.begin_ns.0 / S,
                hang.end_ns.map(|end| end.0 / S),
                whole.series[usize::from(hang.series)].operation,
            )
        })
        .collect();
    assert_eq!(told, [(99, Some(124), Operation::TaskList), (599, None, Operation::Rename)]);
    let (mut first, mut second) = (FigureEngine::new(plan(&["/home"])), FigureEngine::new(plan(&["/home"])));
    give(&mut first, &rows[..2]);
    give(&mut second, &rows[2..]);
    first.merge(second);
    assert_eq!(first.finish().hangs, whole.hangs);
}

#[test]
fn hung_only_is_a_mark_and_a_share_that_did_not_end() {
    let figures = draw(plan(&["/home"]), &[Row::ok(Operation::Reach, 2 * S, 15 * S).but(Outcome::Hung, 0)]);
    assert_eq!(figures.series[0].longest_wait_ns, Some(Nanoseconds(15 * S)));
    let own = &figures.distributions[0];
    assert_eq!((own.known, own.censored, own.duration_ns.0.len()), (0, 1, 0));
    assert_eq!(own.at_least, Some(ShareAtLeast { share: 1.0, from_ns: Nanoseconds(15 * S) }));
    let shares: Vec<_> = own.thresholds.iter().map(|at| at.share).collect();
    assert_eq!(shares, [Some(0.0), Some(0.0), Some(0.0), None]);
    assert!(matches!(figures.boxes[0].durations.median, QuantileValue::AtLeast(_)));
    assert_eq!(figures.time_line.marks.each.outcome.0, [3]);
    assert_eq!(figures.episodes[0].longest_wait_ns, Some(Nanoseconds(15 * S)));
    // 15 s in flight of 1.667 s per bin: full bins in the middle.
    let in_flight = &figures.rates.in_flight.0;
    assert!((in_flight[4] - 1.0).abs() < 1e-3 && in_flight[20] == 0.0, "{:?}", &in_flight[..12]);
}

#[test]
fn figures_of_a_ping_claim_no_more_than_its_summary() {
    let mut record = Scenario::check(&["/scratch"]).record;
    let probe = PingProbe::Operations { object_bytes: 3901 };
    record.spec.workload = WorkloadSpec::Ping(PingSpec { probe, every_ns: Nanoseconds(S), count: None });
    let span = TimeSpan { begin: MonotonicTime(S), end: MonotonicTime(1001 * S) };
    let hang = |ms: u64, outcome| Row::ok(Operation::Probe, 2 * S, ms * MS).but(outcome, 0);
    let mut rows = vec![Row::ok(Operation::Probe, 2 * S, 2 * MS), hang(3_500, Outcome::Hung)];
    rows.extend([2_500, 1_500, 500].map(|ms| hang(ms, Outcome::Skipped)));
    // What Ctrl-C cut off says nothing of the directory.
    let cut = i32::from(FailureCode::CUT.0);
    rows.extend([9_000, 1].map(|ms| hang(ms, Outcome::Interrupted).but(Outcome::Interrupted, cut)));
    // Nor does what was not sent while iolag removed a file.
    let removal = i32::from(FailureCode::REMOVAL.0);
    rows.extend(
        [Outcome::Interrupted, Outcome::Skipped].map(|outcome| hang(0, outcome).but(outcome, removal)),
    );
    let figures = draw(FigurePlan::new(&record, span), &rows);
    let durations = &figures.boxes[0].durations;
    assert_eq!(durations.attempts, 5);
    // The third smallest bound, not the longest wait.
    let QuantileValue::AtLeast(median) = durations.median else { panic!("{durations:?}") };
    assert!((1_480 * MS..=1_500 * MS).contains(&median.0), "{median}");
    let own = &figures.distributions[0];
    assert_eq!((own.known, own.censored, own.share.0.last()), (1, 4, Some(&0.2)));
}

#[test]
fn what_was_asked_again_is_neither_drawn_nor_in_a_duration() {
    let mut rows: Vec<Row> =
        (0..90).map(|index| Row::ok(Operation::List, (2 + index) * S, 10 * MS + index * 1000)).collect();
    let throttled = i32::from(FailureCode::http(503).0);
    let again = Row::ok(Operation::List, 50 * S, 30 * S).but(Outcome::Retried, throttled);
    let without = draw(plan(&["/home"]), &rows);
    rows.insert(40, again);
    let figures = draw(plan(&["/home"]), &rows);
    assert_eq!((figures.counts.taken, figures.counts.attempts), (91, 91));
    assert_eq!((figures.boxes, figures.distributions), (without.boxes, without.distributions));
    assert_eq!((&figures.episodes, &figures.hangs), (&vec![], &vec![]));
    assert!(figures.time_line.marks.each.time.0.is_empty() && figures.time_line.marks.counts.is_empty());
    assert_eq!((figures.series[0].errors.len(), figures.series[0].over[0]), (0, 0));
}

#[test]
fn integrated_percent_is_exact_at_the_ends_and_at_thresholds() {
    // 100 listings of 10 ms to 1 s, of which the last ten took over 0.1 s; five were never answered.
    let mut rows: Vec<Row> =
        (0..90).map(|index| Row::ok(Operation::List, (2 + index) * S, 10 * MS + index * 1000)).collect();
    rows.extend((0..10).map(|index| Row::ok(Operation::List, (100 + index) * S, 101 * MS + index * 99 * MS)));
    rows.extend((0..5).map(|_| Row::ok(Operation::List, 200 * S, 15 * S).but(Outcome::Timeout, 0)));
    let figures = draw(plan(&["/home"]), &rows);
    let own = &figures.distributions[0];
    let shares: Vec<_> = own.thresholds.iter().map(|at| at.share).collect();
    let close =
        |share: Option<f64>, expected: f64| share.is_some_and(|share| (share - expected).abs() < 1e-12);
    assert!(close(shares[0], 90.0 / 105.0) && close(shares[1], 100.0 / 105.0), "{shares:?}");
    assert!(close(shares[2], 100.0 / 105.0) && shares[3].is_none(), "{shares:?}");
    assert_eq!((own.duration_ns.0[0], *own.duration_ns.0.last().unwrap()), (1e7, 992e6));
    assert!((f64::from(*own.share.0.last().unwrap()) - 100.0 / 105.0).abs() < 1e-6);
    assert!((own.at_least.unwrap().share - 5.0 / 105.0).abs() < 1e-12);
    // docs: sqrt(ln 40 / 210) = 0.13254
    assert!((own.band_naive - 0.132_54).abs() < 1e-5 && own.band >= own.band_naive);
    assert!(own.share.0.is_sorted() && own.duration_ns.0.is_sorted());
    assert_eq!(figures.series[0].over, [15, 5, 5, 0]);
}

#[test]
fn a_box_tells_quantiles_and_outliers() {
    let mut rows: Vec<Row> = (0..1000).map(|index| Row::ok(Operation::Stat, 2 * S, 1000 + index)).collect();
    rows.extend((0..7).map(|_| Row::ok(Operation::Stat, 3 * S, 50 * MS)));
    let figures = draw(plan(&["/home"]), &rows);
    let own = &figures.boxes[0].durations;
    assert_eq!((own.attempts, own.outliers), (1007, 7));
    assert_eq!(own.min, QuantileValue::Exactly(Nanoseconds(1000)));
    assert_eq!(own.max, QuantileValue::Exactly(Nanoseconds(50 * MS)));
    for (found, expected) in [(own.p5, 1050.0), (own.p25, 1251.0), (own.median, 1503.0), (own.p95, 1956.0)] {
        let found = found.lower_bound().unwrap().0 as f64;
        assert!((found / expected - 1.0).abs() < 0.008, "{found} for {expected}");
    }
}

#[test]
fn the_density_curve_has_the_area_of_one() {
    let mut noise = Random::new(3);
    let rows: Vec<Row> = (0..5000)
        .map(|_| Row::ok(Operation::Stat, 2 * S, 10f64.powf(5.0 + 0.5 * noise.normal()) as u64))
        .collect();
    let own = &draw(plan(&["/home"]), &rows).histograms[0];
    let area: f32 = own.density_per_decade.0.iter().sum::<f32>() / 80.0;
    assert!((area - 1.0).abs() < 1e-3, "{area}");
    assert_eq!(own.counts.0.iter().sum::<u32>(), 5000);
    // A normal density with deviation 0.5 is 0.798 at its mean, a little less when smoothed.
    let at_mean = own.density_per_decade.0[((100 - own.first_bin) * 4) as usize];
    assert!((0.70..0.86).contains(&at_mean), "{at_mean}");
}

#[test]
fn fairness_tells_who_was_served() {
    // Two clients for 100 s; one does 300 operations, the other 100.
    let mut rows: Vec<Row> = (0..300)
        .map(|index| Row::ok(Operation::Stat, 2 * S + index * 100 * S / 300, 100 * S / 300))
        .collect();
    rows.extend((0..100).map(|index| Row::ok(Operation::Stat, 2 * S + index * S, S).by(1)));
    let figures = draw(plan(&["/home"]), &rows);
    let own = &figures.fairness[0];
    assert_eq!((own.clients, own.lines.len(), own.shown), (2, 2, ClientsShown::Each));
    // (3 + 1)^2 / (2 (9 + 1)) = 0.8
    assert!((own.jain.unwrap() - 0.8).abs() < 1e-6, "{:?}", own.jain);
    assert_eq!(own.lines[0].done.0.last(), Some(&300));
    assert_eq!((own.jain_over_time.0[199], own.lines[1].per_second), (0.0, Some(1.0)));
    assert_eq!(figures.client_boxes[0].boxes.len(), 2);
}

#[test]
fn many_clients_are_shown_by_deciles() {
    let rows: Vec<Row> = (0..101)
        .map(|client| Row::ok(Operation::Stat, 2 * S, (client as u64 + 1) * 10 * MS).by(client))
        .collect();
    let figures = draw(plan(&["/home"]), &rows);
    let boxes = &figures.client_boxes[0];
    assert_eq!((boxes.shown, boxes.clients), (ClientsShown::Deciles, 101));
    let shown: Vec<_> = boxes.boxes.iter().map(|own| (own.client.0, own.percent)).collect();
    assert_eq!((shown[0], shown[5], shown[10]), ((0, Some(0)), (50, Some(50)), (100, Some(100))));
    assert_eq!(figures.fairness[0].lines.len(), 11);
}

#[test]
fn a_metadata_run_tells_its_stages_apart() {
    let (plan, rows) = usb_stick();
    let figures = draw(plan, &rows);
    let names: Vec<&str> = figures.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names[..3], ["create · precreate", "create · benchmark 1", "read · benchmark 1"]);
    assert_eq!((figures.series.len(), figures.layers.len()), (14, 4));
    assert_eq!(figures.series[1].part, Some(SeriesPart::Stage(StageIndex(1))));
    assert_eq!(figures.counts.stage_samples, 20);
    assert_eq!(figures.fairness[0].stages.len(), 5);
    assert_eq!(figures.fairness[0].stages[0].clients, 4);
    let stages = &figures.run.stages;
    assert_eq!(
        (stages[0].name.as_str(), stages[0].begin, stages[4].end),
        ("precreate", Some(0), Some(u32::MAX))
    );
    assert!(stages.windows(2).all(|pair| pair[0].end < pair[1].begin));
    assert!(figures.fairness[0].jain.is_some_and(|jain| jain > 0.99));
}

#[test]
fn joined_iterations_and_phases_are_one_series_of_all_their_attempts() {
    let (plan, rows) = usb_stick();
    let apart = draw(plan.clone(), &rows);
    let choice = FigureChoice { apart: Apart::Nothing, ..FigureChoice::default() };
    let joined = draw(plan.with_choice(choice), &rows);
    // In the order in which the stages brought them, as in a page.
    let mut operations: Vec<Operation> = Vec::new();
    for series in apart.series.iter().filter(|series| series.level != Level::Harness) {
        if !operations.contains(&series.operation) {
            operations.push(series.operation);
        }
    }
    let found: Vec<Operation> = joined.series.iter().map(|series| series.operation).collect();
    assert_eq!((&found, joined.series.len()), (&operations, 4));
    for (index, series) in (0_u16..).zip(&joined.series) {
        let parts = apart.series.iter().filter(|part| part.operation == series.operation);
        assert_eq!(series.attempts, parts.map(|part| part.attempts).sum::<u64>());
        assert_eq!((series.part, series.name.as_str()), (None, series.operation.name()));
        let own = joined.distributions.iter().find(|own| own.series == index).expect("it has attempts");
        assert_eq!(own.known + own.censored, series.attempts);
    }
    assert_eq!(joined.time_line.attempts, apart.time_line.attempts);
    assert_eq!(joined.counts, apart.counts);
}

#[test]
fn joined_figures_merge_in_the_order_of_the_stages() {
    let (plan, rows) = usb_stick();
    let choice = FigureChoice { apart: Apart::Nothing, ..FigureChoice::default() };
    let plan = plan.with_choice(choice);
    let names = |figures: &RunFigures| figures.series.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let (first, second) = rows.split_at(rows.len() / 2);
    let mut late = FigureEngine::new(plan.clone());
    give(&mut late, second);
    let mut early = FigureEngine::new(plan.clone());
    give(&mut early, first);
    late.merge(early);
    assert_eq!(names(&late.finish()), names(&draw(plan, &rows)));
}

#[test]
fn runs_with_other_numbers_of_clients_are_a_sweep() {
    let runs: Vec<_> = [1, 4, 16]
        .into_iter()
        .map(|clients| {
            let mut scenario = scenario::usb_stick();
            scenario.record.spec.clients = clients;
            let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
            (scenario.record, analysis)
        })
        .collect();
    let runs: Vec<_> = runs.iter().map(|(record, analysis)| SweepRun { record, analysis }).collect();
    let figures = sweep_figures(&runs);
    // create of precreate, four operations of benchmark, delete of cleanup.
    assert_eq!(figures.len(), 6);
    assert!(figures.iter().all(|figure| figure.varied == Varied::Clients && figure.fixed == 3000));
    let read = figures.iter().find(|figure| figure.operation == Operation::Read).unwrap();
    let sizes: Vec<_> = read.rates.iter().map(|rate| (rate.size, rate.count)).collect();
    assert_eq!(sizes, [(1, 3), (4, 3), (16, 3)]);
    let rate = read.rates[1];
    // The rates of study 004's stick were 200, 404 and 132 for four operations, of which stat took no time.
    assert!(rate.low_per_second < rate.median_per_second && rate.median_per_second < rate.high_per_second);
    assert!((rate.high_per_second / rate.low_per_second / (404.0 / 132.4) - 1.0).abs() < 0.15, "{rate:?}");
    assert!(read.points[0].median.interval.bounds().is_some());
    assert!(sweep_figures(&runs[..1]).is_empty());
    // Two clients of one file system are two sides of a plan, on one target.
    let mut other = runs[2].record.clone();
    other.coordinates.insert("side".to_owned(), "other client".to_owned());
    let of_sides = sweep_figures(&[runs[0], runs[1], SweepRun { record: &other, ..runs[2] }]);
    assert!(of_sides.iter().all(|figure| figure.rates.len() == 2 && figure.target != "other client"));
}

#[test]
fn rates_where_a_client_starts_late_are_what_was_done_in_the_time() {
    let late = scenario::one_after_the_other();
    let rows = rows_of(&late);
    // Two stages of 200 operations in 200 ms each: 1000 per second, although each client took 100 ms of its own.
    let span = TimeSpan { begin: MonotonicTime(10 * S), end: MonotonicTime(20 * S + 200 * MS) };
    let figures = draw(FigurePlan::new(&late.record, span), &rows);
    let places = figures.series.iter().position(|series| series.operation == Operation::Read).unwrap();
    let bins = figures.rates.operations.0.chunks(figures.rates.bins as usize).nth(places).unwrap();
    // Whole bins within the first stage, and an operation at either edge.
    let whole = (0.2e9 / figures.rates.bin_ns) as usize;
    let rate = f64::from(bins[..whole].iter().sum::<u32>()) / (whole as f64 * figures.rates.bin_ns / 1e9);
    assert!(whole > 5 && (rate - 1000.0).abs() < 12.0, "{rate} by {whole} bins");
    let stages = &figures.fairness[0].stages;
    let done = (stages[0].first_done_ns, stages[0].last_done_ns);
    assert_eq!(done, (Some(Nanoseconds(100 * MS)), Some(Nanoseconds(200 * MS))));

    let mut fewer = scenario::one_after_the_other();
    fewer.record.spec.clients = 1;
    fewer.samples.retain(|sample| sample.attempt.client() == ClientId(0));
    let runs = [late, fewer].map(|scenario| {
        let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
        (scenario.record, analysis)
    });
    let runs: Vec<_> = runs.iter().map(|(record, analysis)| SweepRun { record, analysis }).collect();
    let sweep = sweep_figures(&runs);
    assert_eq!(
        sweep.iter().map(|figure| figure.phase).collect::<Vec<_>>(),
        [Phase::Benchmark, Phase::Cleanup]
    );
    for rate in sweep.iter().flat_map(|figure| &figure.rates) {
        assert_eq!((rate.median_per_second, rate.high_per_second), (1000.0, 1000.0), "{rate:?}");
    }
}

#[test]
fn slow_attempts_are_an_episode_unless_slowness_is_permanent() {
    let mut rows: Vec<Row> =
        (0..400).map(|index| Row::ok(Operation::Stat, (2 + index * 2) * S, 2 * MS)).collect();
    rows.extend((0..5).map(|index| Row::ok(Operation::Stat, (300 + index) * S, 1200 * MS)));
    // Over 0.1 s as well, but not over the largest threshold that was passed.
    rows.push(Row::ok(Operation::Stat, 700 * S, 200 * MS));
    rows.extend((0..50).map(|index| Row::ok(Operation::TaskCompile, (20 + index) * S, 2 * S)));
    let figures = draw(plan(&["/home"]), &rows);
    assert_eq!(figures.episodes.len(), 1);
    let episode = &figures.episodes[0];
    assert_eq!((episode.begin_ns.0, episode.end_ns.0), (300 * S, 304 * S + 1200 * MS));
    assert_eq!((episode.troubles.slow, episode.series[0].threshold_ns), (5, Some(Nanoseconds(S))));
}

#[test]
fn what_is_unknown_or_outside_is_counted() {
    let mut stranger = Row::ok(Operation::Stat, 5 * S, MS);
    stranger.target = 9;
    let early = Row::ok(Operation::Stat, S / 2, MS);
    let late = Row::ok(Operation::Stat, 2000 * S, MS);
    let figures = draw(plan(&["/home"]), &[stranger, early, late]);
    let expected = SampleCounts { taken: 3, attempts: 2, stage_samples: 0, unknown: 1, clamped: 2 };
    assert_eq!(figures.counts, expected);
    assert_eq!(figures.time_line.points.time.0, [0, u32::MAX]);
}

#[test]
fn a_small_document_stays_as_it_is() {
    let rows = [
        Row::ok(Operation::TaskList, 2 * S, 30 * MS),
        Row::ok(Operation::TaskList, 400 * S, 45 * MS).but(Outcome::Error, 116),
        Row { target: 1, client: 1, bytes: 4096, ..Row::ok(Operation::Create, 600 * S, 90_000) },
        Row { target: 1, client: 1, ..Row::ok(Operation::Create, 700 * S, 16 * S).but(Outcome::Late, 0) },
    ];
    let mut document = Figures::new(vec![draw(plan(&["/home", "<script>"]), &rows)], Vec::new());
    let read: Figures = serde_json::from_str(&serde_json::to_string(&document).unwrap()).unwrap();
    assert_eq!(read, document);
    let columns = document.detach_columns();
    let place = columns.iter().find(|own| own.pointer == "/runs/0/time_line/points/time").unwrap();
    assert_eq!((place.kind, place.length, place.bytes_le.len()), (ColumnKind::U32, 3, 12));
    document.axis.lowest_ns.truncate(3);
    let listed: Vec<_> =
        columns.iter().map(|own| format!("{} {:?} {}", own.pointer, own.kind, own.length)).collect();
    let found = serde_json::json!({ "document": document, "columns": listed });
    let found = serde_json::to_string_pretty(&found).unwrap();
    let fresh = concat!(env!("CARGO_TARGET_TMPDIR"), "/figures_small.json");
    std::fs::write(fresh, &found).unwrap();
    let expected = include_str!("figures_small.json").trim_end();
    assert!(found == expected, "compare tests/run/figures_small.json with {fresh}");
}
