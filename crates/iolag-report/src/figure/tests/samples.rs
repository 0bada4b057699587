//! Figures made by hand, in the shapes that figures have to cope with.

use std::collections::BTreeMap;

use iolag_analysis::figure::{
    BoxFigure, ClientBox, ClientBoxes, ClientsShown, Column16, Column32, ColumnFloat, Density, DensityLayer,
    Distribution, FAIRNESS_BINS, Fairness, FairnessLine, Figures, HangSpan, HeatMap, HeatMapLayer,
    HistogramFigure, Layer, MarkColumns, MarkCounts, Marks, Points, RATE_BINS, Rates, RunFacts, RunFigures,
    SampleCounts, Series, SeriesBox, SeriesPart, ShareAtLeast, StageFacts, SweepFigure, SweepFigurePoint,
    SweepRate, TargetFacts, TimeLine, TimeLineForm, Varied,
};
use iolag_analysis::{
    EffectiveSampleSize, ErrorCount, HISTOGRAM_BUCKETS, QuantileEstimate, QuantileInterval, QuantileValue,
    bucket_of,
};
use iolag_model::{
    ClientId, ErrorClass, MonotonicTime, Nanoseconds, Operation, Outcome, Phase, Random, RunId, RunState,
    StageIndex, TargetIndex,
};

const SPAN_NS: u64 = 600_000_000_000;

/// What a run went through.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Empty,
    One,
    Errors,
    Hung,
    /// Four operations of four clients, with a bad minute, failures and two hung ones.
    Usual,
    /// So many attempts that they are drawn as pixels.
    Many,
    /// Numbers that do not fit together, from a seed.
    Odd(u64),
}

struct Attempt {
    series: u16,
    time: u32,
    ns: u64,
    outcome: Outcome,
    client: u32,
}

pub(crate) fn several_runs(count: usize) -> Figures {
    let runs = (0..count).map(|index| run(&usual(index as u64 + 1), index as u16)).collect();
    Figures::new(runs, sweeps())
}

pub(crate) fn figures_of(shape: Shape) -> Figures {
    let attempt = |outcome| vec![Attempt { series: 0, time: 1 << 31, ns: 1_500_000, outcome, client: 0 }];
    let attempts = match shape {
        Shape::Empty => Vec::new(),
        Shape::One => attempt(Outcome::Ok),
        Shape::Errors => attempt(Outcome::Error),
        Shape::Hung => attempt(Outcome::Hung),
        Shape::Usual => usual(7),
        Shape::Many => many(),
        Shape::Odd(seed) => return odd(seed),
    };
    let sweeps = if matches!(shape, Shape::Usual) { sweeps() } else { Vec::new() };
    Figures::new(vec![run(&attempts, 0)], sweeps)
}

fn usual(seed: u64) -> Vec<Attempt> {
    let mut random = Random::new(seed);
    let mut attempts = Vec::new();
    for index in 0..1200_u32 {
        let series = (index % 4) as u16;
        let time = (u64::from(index) * (1 << 32) / 1200) as u32;
        let slow = (700..800).contains(&index) && random.unit() < 0.3;
        let typical = [4e5, 9e5, 2.5e5, 1.6e6][usize::from(series)] * (1.0 + 0.2 * seed as f64);
        let spread = (random.unit() + random.unit() + random.unit() - 1.5) * 1.2;
        let ns = typical * 10_f64.powf(spread) * if slow { 3000.0 } else { 1.0 };
        let outcome = match index {
            740 | 750 => Outcome::Hung,
            745 => Outcome::Timeout,
            760 => Outcome::Late,
            _ if slow && index % 9 == 0 => Outcome::Error,
            _ => Outcome::Ok,
        };
        attempts.push(Attempt { series, time, ns: ns as u64, outcome, client: index / 4 % 4 });
    }
    attempts
}

fn many() -> Vec<Attempt> {
    let mut random = Random::new(3);
    let attempt = |index: u32| {
        let ns = 3e5 * 10_f64.powf((random.unit() + random.unit() - 1.0) * 1.5);
        let series = (index % 4) as u16;
        Attempt { series, time: index * 143_000, ns: ns as u64, outcome: Outcome::Ok, client: index % 4 }
    };
    (0..30_000).map(attempt).collect()
}

/// Figures whose columns have wrong lengths and indices that point nowhere.
fn odd(seed: u64) -> Figures {
    let mut random = Random::new(seed);
    let mut figures = figures_of(Shape::Usual);
    let figure = &mut figures.runs[0];
    let points = &mut figure.time_line.points;
    for value in points.bucket.0.iter_mut().step_by(3) {
        *value = random.bits() as u16;
    }
    points.series.0.truncate((random.bits() % 1200) as usize);
    figure.rates.operations.0.truncate((random.bits() % 2400) as usize);
    figure.rates.bin_ns = [0.0, f64::NAN, 1e300, 1e9][(random.bits() % 4) as usize];
    figure.run.span_ns = Nanoseconds([0, 1, u64::MAX, 1_000_000][(random.bits() % 4) as usize]);
    figure.heat_map.buckets_per_row = (random.bits() % 600) as u16;
    for layer in &mut figure.heat_map.layers {
        layer.first_bucket = random.bits() as u16;
        layer.counts.0.truncate((random.bits() % 5000) as usize);
    }
    for share in figure.distributions.iter_mut().flat_map(|distribution| &mut distribution.share.0) {
        *share *= (random.bits() % 3) as f32;
    }
    for histogram in &mut figure.histograms {
        histogram.first_bin = (random.bits() % 900) as u32;
    }
    figure.time_line.form = TimeLineForm::Density;
    figure.time_line.density = Some(Density {
        columns: (random.bits() % 40) as u32,
        buckets_per_row: (random.bits() % 64) as u16,
        layers: vec![DensityLayer {
            layer: 0,
            first_bucket: (random.bits() % 8000) as u16,
            rows: 20,
            counts: (0..800).map(|_| (random.bits() % 3) as u32).collect(),
        }],
    });
    figure.time_line.marks.counts = vec![MarkCounts {
        series: 0,
        outcome: (random.bits() % 9) as u8,
        reason: 0,
        counts: (0..1600).map(|_| random.bits() as u32).collect(),
        longest: Column16(vec![0; 1600]),
    }];
    for series in &mut figure.series {
        series.layer = (random.bits() % 6) as u16;
        series.target = TargetIndex((random.bits() % 3) as u16);
    }
    figures
}

fn run(attempts: &[Attempt], number: u16) -> RunFigures {
    let operations = [Operation::Stat, Operation::Read, Operation::Delete, Operation::Create];
    let of = |series: u16| attempts.iter().filter(move |attempt| attempt.series == series);
    let known = |series: u16| {
        let mut ns: Vec<u64> = of(series).filter(|a| is_known(a)).map(|attempt| attempt.ns).collect();
        ns.sort_unstable();
        ns
    };
    let numbers = || 0..4_u16;
    let id = RunId::new("20261120-185900", number).unwrap();
    RunFigures {
        run: RunFacts {
            id: id.clone(),
            campaign: id,
            repetition: 1,
            title: "metadata on /home/user by 4 clients".to_owned(),
            command: vec!["iolag".to_owned(), "bench".to_owned(), "metadata".to_owned()],
            labels: BTreeMap::new(),
            host: "login1".to_owned(),
            state: RunState::Complete,
            begin_realtime_ns: Some(1_795_201_140_000_000_000),
            begin_ns: MonotonicTime(1_000_000_000),
            span_ns: Nanoseconds(SPAN_NS),
            clients: 4,
            control: None,
            targets: vec![TargetFacts {
                name: "/home/user".to_owned(),
                kind: "nfs4".to_owned(),
                unanswered_ns: None,
            }],
            stages: vec![StageFacts {
                stage: StageIndex(0),
                name: "benchmark".to_owned(),
                phase: Phase::Benchmark,
                begin: Some(0),
                end: Some(u32::MAX),
            }],
            thresholds_ns: [100, 1000, 10_000].map(Nanoseconds::from_milliseconds).to_vec(),
        },
        counts: SampleCounts {
            taken: attempts.len() as u64,
            attempts: attempts.len() as u64,
            ..Default::default()
        },
        series: numbers().map(|number| series(number, operations[usize::from(number)], of(number))).collect(),
        layers: operations
            .iter()
            .map(|operation| Layer {
                name: operation.to_string(),
                operation: *operation,
                target: TargetIndex(0),
            })
            .collect(),
        time_line: time_line(attempts),
        distributions: numbers()
            .filter_map(|number| distribution(number, &known(number), of(number)))
            .collect(),
        histograms: numbers().filter_map(|number| histogram(number, &known(number))).collect(),
        boxes: numbers()
            .filter_map(|series| {
                Some(SeriesBox { series, durations: box_of(&known(series), of(series).any(is_hung))? })
            })
            .collect(),
        client_boxes: client_boxes(attempts),
        heat_map: heat_map(attempts),
        rates: rates(attempts),
        fairness: fairness(attempts),
        episodes: Vec::new(),
        hangs: hangs(attempts),
    }
}

fn hangs(attempts: &[Attempt]) -> Vec<HangSpan> {
    let span_of = |attempt: &Attempt| HangSpan {
        target: TargetIndex(0),
        begin_ns: Nanoseconds((f64::from(attempt.time) / 2_f64.powi(32) * SPAN_NS as f64) as u64),
        end_ns: None,
        series: attempt.series,
    };
    attempts.iter().filter(|attempt| attempt.outcome == Outcome::Hung).map(span_of).collect()
}

fn is_known(attempt: &Attempt) -> bool {
    matches!(attempt.outcome, Outcome::Ok | Outcome::Late)
}

fn is_hung(attempt: &Attempt) -> bool {
    attempt.outcome == Outcome::Hung
}

fn series<'a>(number: u16, operation: Operation, attempts: impl Iterator<Item = &'a Attempt>) -> Series {
    let attempts: Vec<&Attempt> = attempts.collect();
    let count = |outcome| attempts.iter().filter(|attempt| attempt.outcome == outcome).count() as u64;
    let known = || attempts.iter().filter(|attempt| is_known(attempt)).map(|attempt| Nanoseconds(attempt.ns));
    Series {
        name: operation.to_string(),
        operation,
        level: operation.level(),
        target: TargetIndex(0),
        part: Some(SeriesPart::Stage(StageIndex(0))),
        layer: number,
        attempts: attempts.len() as u64,
        ok: count(Outcome::Ok),
        late: count(Outcome::Late),
        timeout: count(Outcome::Timeout),
        hung: count(Outcome::Hung),
        skipped: count(Outcome::Skipped),
        errors: vec![ErrorCount { class: ErrorClass::InputOutput, count: count(Outcome::Error) }],
        bytes: 0,
        min_ns: known().min(),
        max_ns: known().max(),
        longest_wait_ns: None,
        over: vec![0; 3],
        sample_size: EffectiveSampleSize::independent(attempts.len() as u64),
    }
}

fn time_line(attempts: &[Attempt]) -> TimeLine {
    let known = || attempts.iter().filter(|attempt| is_known(attempt));
    let marked = || attempts.iter().filter(|attempt| attempt.outcome != Outcome::Ok);
    TimeLine {
        form: TimeLineForm::Points,
        attempts: known().count() as u64,
        decimation: None,
        points: Points {
            time: known().map(|attempt| attempt.time).collect(),
            bucket: known().map(|attempt| bucket_of(attempt.ns) as u16).collect(),
            series: known().map(|attempt| attempt.series).collect(),
            outcome: known().map(|attempt| attempt.outcome as u8).collect(),
            client: known().map(|attempt| attempt.client).collect(),
        },
        density: None,
        marks: Marks {
            total: marked().count() as u64,
            each: MarkColumns {
                time: marked().map(|attempt| attempt.time).collect(),
                series: marked().map(|attempt| attempt.series).collect(),
                outcome: marked().map(|attempt| attempt.outcome as u8).collect(),
                reason: marked().map(|_| 0).collect(),
                bucket: marked().map(|attempt| bucket_of(attempt.ns) as u16).collect(),
                client: marked().map(|attempt| attempt.client).collect(),
            },
            counts: Vec::new(),
        },
    }
}

fn distribution<'a>(
    series: u16,
    known: &[u64],
    attempts: impl Iterator<Item = &'a Attempt>,
) -> Option<Distribution> {
    let censored = attempts.filter(|attempt| attempt.outcome.is_censored()).count() as u64;
    let total = known.len() as u64 + censored;
    let share = |rank: usize| (rank as f64 + 1.0) / total as f64;
    let from_ns = Nanoseconds(known.last().copied().unwrap_or(0).max(1_500_000));
    (total > 0).then(|| Distribution {
        series,
        known: known.len() as u64,
        censored,
        duration_ns: known.iter().map(|ns| *ns as f32).collect(),
        share: (0..known.len()).map(|rank| share(rank) as f32).collect(),
        thresholds: Vec::new(),
        at_least: (censored > 0).then(|| ShareAtLeast { share: censored as f64 / total as f64, from_ns }),
        sample_size: EffectiveSampleSize::independent(total),
        band: (40_f64.ln() / (2.0 * total as f64)).sqrt().min(1.0),
        band_naive: (40_f64.ln() / (2.0 * total as f64)).sqrt().min(1.0),
    })
}

fn histogram(series: u16, known: &[u64]) -> Option<HistogramFigure> {
    let bin = |ns: &u64| ((*ns as f64).log10() * 20.0).floor() as u32;
    let (first, last) = known.first().map(bin).zip(known.last().map(bin))?;
    let mut counts = vec![0_u32; (last - first + 1) as usize];
    known.iter().for_each(|ns| counts[(bin(ns) - first) as usize] += 1);
    let density = counts.iter().flat_map(|count| [*count as f32 * 20.0 / known.len() as f32; 4]).collect();
    Some(HistogramFigure {
        series,
        first_bin: first,
        counts: Column32(counts),
        density_per_decade: density,
        bandwidth_decades: 0.1,
    })
}

fn box_of(known: &[u64], hung: bool) -> Option<BoxFigure> {
    let at =
        |share: f64| QuantileValue::Exactly(Nanoseconds(known[((known.len() - 1) as f64 * share) as usize]));
    (!known.is_empty()).then(|| BoxFigure {
        attempts: known.len() as u64,
        min: at(0.0),
        p5: at(0.05),
        p25: at(0.25),
        median: at(0.5),
        p75: at(0.75),
        p95: at(0.95),
        max: if hung { QuantileValue::AtLeast(Nanoseconds::from_seconds(60)) } else { at(1.0) },
        outliers: 0,
    })
}

fn client_boxes(attempts: &[Attempt]) -> Vec<ClientBoxes> {
    let of_layer = |layer: u16| {
        let of_client = |client: u32| {
            let of = attempts.iter().filter(|a| a.series == layer && a.client == client && is_known(a));
            let mut known: Vec<u64> = of.map(|attempt| attempt.ns).collect();
            known.sort_unstable();
            Some(ClientBox { client: ClientId(client), percent: None, durations: box_of(&known, false)? })
        };
        let boxes: Vec<ClientBox> = (0..4).filter_map(of_client).collect();
        ClientBoxes { layer, shown: ClientsShown::Each, clients: boxes.len() as u64, boxes }
    };
    (0..4).map(of_layer).filter(|boxes| boxes.clients > 1).collect()
}

fn heat_map(attempts: &[Attempt]) -> HeatMap {
    const COLUMNS: u32 = 160;
    const BUCKETS_PER_ROW: u16 = 32;
    let of_layer = |layer: u16| {
        let known: Vec<&Attempt> = attempts.iter().filter(|a| a.series == layer && is_known(a)).collect();
        let rows = (HISTOGRAM_BUCKETS / usize::from(BUCKETS_PER_ROW)) as u16;
        let mut counts = vec![0; usize::from(rows) * COLUMNS as usize];
        let mut totals = vec![0; COLUMNS as usize];
        for attempt in &known {
            let column = ((u64::from(attempt.time) * u64::from(COLUMNS)) >> 32) as usize;
            let row = bucket_of(attempt.ns) / usize::from(BUCKETS_PER_ROW);
            counts[row * COLUMNS as usize + column] += 1;
            totals[column] += 1;
        }
        // Rows without an attempt are cropped, as the engine does it.
        let used = |row: &usize| counts[row * 160..(row + 1) * 160].iter().any(|count| *count > 0);
        let first = (0..usize::from(rows)).find(used)?;
        let last = (0..usize::from(rows)).rfind(used)?;
        Some(HeatMapLayer {
            layer,
            first_bucket: first as u16 * BUCKETS_PER_ROW,
            rows: (last - first + 1) as u16,
            counts: Column32(counts[first * 160..(last + 1) * 160].to_vec()),
            totals: Column32(totals),
        })
    };
    HeatMap {
        columns: COLUMNS,
        buckets_per_row: BUCKETS_PER_ROW,
        layers: (0..4).filter_map(of_layer).collect(),
    }
}

fn rates(attempts: &[Attempt]) -> Rates {
    let mut operations = vec![0_u32; 4 * RATE_BINS as usize];
    for attempt in attempts.iter().filter(|attempt| is_known(attempt)) {
        let bin = ((u64::from(attempt.time) * u64::from(RATE_BINS)) >> 32) as usize;
        operations[usize::from(attempt.series) * RATE_BINS as usize + bin] += 1;
    }
    Rates {
        bins: RATE_BINS,
        bin_ns: SPAN_NS as f64 / f64::from(RATE_BINS),
        operations: Column32(operations),
        bytes: ColumnFloat(vec![0.0; 4 * RATE_BINS as usize]),
        in_flight: ColumnFloat(vec![0.0; 4 * RATE_BINS as usize]),
    }
}

fn fairness(attempts: &[Attempt]) -> Vec<Fairness> {
    let line = |client: u32| {
        let mut done = vec![0_u32; FAIRNESS_BINS as usize];
        for attempt in attempts.iter().filter(|attempt| attempt.client == client && is_known(attempt)) {
            let bin = ((u64::from(attempt.time) * u64::from(FAIRNESS_BINS)) >> 32) as usize;
            done.iter_mut().skip(bin).for_each(|done| *done += 1 + client);
        }
        FairnessLine { client: ClientId(client), percent: None, done: Column32(done), per_second: Some(1.0) }
    };
    if attempts.len() < 2 {
        return Vec::new();
    }
    vec![Fairness {
        target: TargetIndex(0),
        clients: 4,
        clients_per_group: 1,
        bins: FAIRNESS_BINS,
        bin_ns: SPAN_NS as f64 / f64::from(FAIRNESS_BINS),
        shown: ClientsShown::Each,
        lines: (0..4).map(line).collect(),
        jain: Some(0.833),
        jain_over_time: ColumnFloat(vec![0.8; FAIRNESS_BINS as usize]),
        stages: Vec::new(),
    }]
}

fn sweeps() -> Vec<SweepFigure> {
    let estimate = |q: f64, ns: f64| {
        let value = QuantileValue::Exactly(Nanoseconds(ns as u64));
        let interval = QuantileInterval::Between { low: value, high: value };
        QuantileEstimate { q, value, order_statistic: value, interval_naive: interval, interval }
    };
    let sweep = |(operation, base): (Operation, f64)| {
        let point = |clients: u64| SweepFigurePoint {
            size: clients,
            run: RunId::new("20261120-185900", clients as u16).unwrap(),
            iteration: 0,
            per_second: base * clients as f64 / (1.0 + clients as f64 / 8.0),
            median: estimate(0.5, 1e9 / base * (1.0 + clients as f64 / 8.0)),
            p95: estimate(0.95, 4e9 / base * (1.0 + clients as f64 / 8.0)),
            p99: estimate(0.99, 2e10 / base * (1.0 + clients as f64 / 4.0)),
            max: QuantileValue::Exactly(Nanoseconds((3e11 / base) as u64)),
        };
        let points: Vec<SweepFigurePoint> = [1, 2, 4, 8, 16, 32].map(point).to_vec();
        let rate = |point: &SweepFigurePoint| SweepRate {
            size: point.size,
            count: 3,
            median_per_second: point.per_second,
            low_per_second: point.per_second * 0.9,
            high_per_second: point.per_second * 1.08,
        };
        let rates = points.iter().map(rate).collect();
        let (varied, target, phase) = (Varied::Clients, "/home/user".to_owned(), Phase::Benchmark);
        SweepFigure { varied, target, fixed: 3000, phase, operation, points, rates }
    };
    [(Operation::Stat, 2500.0), (Operation::Read, 1100.0), (Operation::Create, 600.0)].map(sweep).to_vec()
}
