//! Comparisons made by hand, for tests.

use std::collections::BTreeMap;

use iolag_analysis::compare::{
    Beside, BetweenOthers, Beyond, ComparedBeside, ComparedBystander, ComparedCell, ComparedRow,
    ComparedSide, ComparedTable, ComparedWorkload, Doubt, Fact, FailRule, FeltOfSide, LeftOut, MiddleOfRuns,
    Pairs, RowKey, RuleJudgement, RuleOutcome, SideProfile, SideValue, UnitKind,
};
use iolag_analysis::{
    CampaignEnding, Cell, LogRange, ProfileQuantity, QuantileValue, RunAmount, RunCell, RunPairing,
    RunQuantity, Standing, compare_runs,
};
use iolag_model::{CacheState, Nanoseconds, Operation, Order, Standpoint};

/// What a run of a side did in a row: an amount that is known, or at most so much.
pub(crate) type Amounts = Vec<RunAmount>;

/// Amounts around a middle, the same in each test.
pub(crate) fn around(middle: f64, spread: f64, runs: usize) -> Amounts {
    const LUCK: [f64; 9] = [0.3, -0.7, 1.1, -0.2, 0.6, -1.3, 0.1, 0.9, -0.8];
    (0..runs)
        .map(|run| RunAmount::Known(middle * (spread * LUCK[(run * 4 + middle as usize) % 9]).exp()))
        .collect()
}

/// A row for each operation with the amounts of each side, which are rates.
pub(crate) fn table_of(names: &[&str], rows: &[(Operation, Vec<Amounts>)]) -> ComparedTable {
    let key = |operation| RowKey {
        workload: "metadata".to_owned(),
        cell: Cell { operation, phase: None },
        task: None,
        coordinates: [("clients".to_owned(), "4".to_owned())].into(),
        labels: BTreeMap::new(),
    };
    let cells: Vec<(usize, usize)> =
        (0..rows.len()).flat_map(|row| (1..names.len()).map(move |side| (row, side))).collect();
    let of = |(row, side): &(usize, usize)| cell_of(&rows[*row].1[0], &rows[*row].1[*side]);
    let compared = judged(&cells.iter().map(of).collect::<Vec<_>>());
    let family = compared.iter().filter(|cell| cell.compared.interval.is_some()).count() as u32;
    let mut compared = compared.into_iter();
    let rows_of = rows.iter().map(|(operation, sides)| ComparedRow {
        key: key(*operation),
        quantity: RunQuantity::Rate,
        sides: sides
            .iter()
            .map(|amounts| SideValue {
                amounts: amounts.iter().copied().enumerate().collect(),
                speeds: amounts.iter().map(|amount| RunQuantity::Rate.speed(*amount)).collect(),
                middle: middle(amounts),
                runs: amounts.len() as u32,
                bounded: bounded(amounts),
                profile: Vec::new(),
            })
            .collect(),
        cells: compared.by_ref().take(names.len() - 1).collect(),
    });
    let rows_of = rows_of.collect();
    ComparedTable {
        workloads: vec![ComparedWorkload { name: "metadata".to_owned(), quantity: RunQuantity::Rate }],
        units: UnitKind::Run,
        same_within: 0.05,
        sides: names.iter().enumerate().map(|(side, name)| side_of(side, name, rows)).collect(),
        rows: rows_of,
        between: between(names.len(), rows),
        bystanders: Vec::new(),
        beside: Vec::new(),
        doubts: Vec::new(),
        left_out: Vec::new(),
        family,
        rules: Vec::new(),
        outcomes: Vec::new(),
    }
}

fn side_of(side: usize, name: &str, rows: &[(Operation, Vec<Amounts>)]) -> ComparedSide {
    let count = rows.iter().map(|(_, sides)| sides[side].len()).max().unwrap_or(0);
    let begin = 1_795_201_140_000_000_000 + side as i64 * 60_000_000_000;
    let is_whole = |run: usize| {
        rows.iter()
            .all(|(_, sides)| sides[side].get(run).is_none_or(|amount| matches!(amount, RunAmount::Known(_))))
    };
    ComparedSide {
        standings: (0..count)
            .map(|run| if is_whole(run) { Standing::Whole } else { Standing::Hung })
            .collect(),
        name: name.to_owned(),
        runs: (0..count).map(|run| format!("20261128-{run:02}{side:02}00-0a1b")).collect(),
        span_ns: Some([begin, begin + 3_600_000_000_000]),
    }
}

fn speed(amount: &RunAmount) -> LogRange {
    let (low, high) = amount.ends();
    LogRange::between(low.ln(), high.ln())
}

fn bounded(amounts: &[RunAmount]) -> u32 {
    amounts.iter().filter(|amount| !matches!(amount, RunAmount::Known(_))).count() as u32
}

fn middle(amounts: &[RunAmount]) -> RunAmount {
    if amounts.contains(&RunAmount::Open) {
        return RunAmount::Open;
    }
    let logs = amounts.iter().map(|amount| amount.ends().1.ln());
    let mean = (logs.sum::<f64>() / amounts.len() as f64).exp();
    match amounts.iter().all(|amount| matches!(amount, RunAmount::Known(_))) {
        true => RunAmount::Known(mean),
        false => RunAmount::AtMost(mean),
    }
}

fn cell_of<'a>(base: &'a Amounts, other: &'a Amounts) -> (&'a Amounts, &'a Amounts) {
    (base, other)
}

fn judged(cells: &[(&Amounts, &Amounts)]) -> Vec<ComparedCell> {
    let pairing = |(base, other): &(&Amounts, &Amounts)| match base.len() == other.len() && base.len() > 1 {
        true => RunPairing::TurnedBlocks(
            base.iter().zip(*other).map(|(base, other)| [speed(base), speed(other)]).collect(),
        ),
        false => RunPairing::Apart([base.iter().map(speed).collect(), other.iter().map(speed).collect()]),
    };
    let asked: Vec<RunCell> =
        cells.iter().map(|cell| RunCell { pairing: pairing(cell), margin: 0.0 }).collect();
    let judged = compare_runs(&asked, 0.05, CampaignEnding::Planned);
    let cell = |(((base, other), asked), compared): ((&(&Amounts, &Amounts), &RunCell), _)| ComparedCell {
        pairs: match &asked.pairing {
            RunPairing::Apart(_) => Pairs::Apart,
            _ => Pairs::Blocks { blocks: base.len() as u32, order: Order::Interleaved },
        },
        runs: [base.len() as u32, other.len() as u32],
        bounded: [bounded(base), bounded(other)],
        middles: [middle(base), middle(other)],
        compared,
    };
    cells.iter().zip(&asked).zip(judged).map(cell).collect()
}

fn between(sides: usize, rows: &[(Operation, Vec<Amounts>)]) -> Vec<BetweenOthers> {
    let pairs = (0..rows.len())
        .flat_map(|row| (1..sides).flat_map(move |one| (one + 1..sides).map(move |other| (row, one, other))));
    let ordered: Vec<(usize, [usize; 2])> = pairs
        .map(|(row, one, other)| {
            let of = |side: usize| middle(&rows[row].1[side]).ends().1;
            (row, if of(one) <= of(other) { [one, other] } else { [other, one] })
        })
        .collect();
    let cells: Vec<_> = ordered
        .iter()
        .map(|(row, [slow, fast])| cell_of(&rows[*row].1[*slow], &rows[*row].1[*fast]))
        .collect();
    ordered
        .iter()
        .zip(judged(&cells))
        .map(|((row, sides), cell)| BetweenOthers { row: *row, sides: *sides, cell })
        .collect()
}

/// The study of ARSC: NFS and two clients of LNET.
pub(crate) fn study() -> ComparedTable {
    let runs = |middle: f64, spread: f64| around(middle, spread, 9);
    let mut table = table_of(
        &["label:client=native", "label:client=lnet-1.8.1", "label:client=nfs"],
        &[
            (Operation::Read, vec![runs(311.0, 0.02), runs(320.0, 0.06), runs(90.0, 0.05)]),
            (Operation::Create, vec![runs(287.0, 0.02), runs(373.0, 0.03), runs(175.0, 0.05)]),
            (Operation::Stat, vec![runs(1200.0, 0.004), runs(1206.0, 0.004), runs(1000.0, 0.01)]),
        ],
    );
    let of = |values: [&str; 3]| values.map(|value| vec![value.to_owned()]).to_vec();
    table.doubts = vec![
        Doubt::Differs { fact: Fact::Processors, values: of(["2", "16", "16"]) },
        Doubt::Differs { fact: Fact::Memory, values: of(["8.00 GiB", "128 GiB", "128 GiB"]) },
        Doubt::OneAfterTheOther { first: 0, after: 2, apart_ns: 10_800_000_000_000 },
    ];
    table.left_out = vec![
        LeftOut::Run { side: 2, run: "20261128-090000-0a1b".to_owned(), standing: Standing::BrokenOff },
        LeftOut::Row {
            key: RowKey {
                cell: Cell { operation: Operation::Delete, phase: None },
                ..table.rows[0].key.clone()
            },
            missing: vec![2],
        },
    ];
    table
}

/// The same study's streams, with what is known beside their speed.
pub(crate) fn streams() -> ComparedTable {
    let runs = |middle: f64| around(middle * 1e6, 0.03, 9);
    let mut table = table_of(
        &["label:client=native", "label:client=lnet-1.8.1", "label:client=nfs"],
        &[
            (Operation::StreamRead, vec![runs(1000.0), runs(1030.0), runs(290.0)]),
            (Operation::StreamWrite, vec![runs(1000.0), runs(1300.0), runs(610.0)]),
        ],
    );
    by(&mut table, "stream", RunQuantity::Throughput);
    let of = |[middle, least, most]: [f64; 3]| Some(MiddleOfRuns { middle, least, most, runs: 9 });
    let felt = |times: [f64; 3], longer, stuck, longest| {
        Some(FeltOfSide { runs: 9, times: of(times), judged: 9, longer, stalled: 0, stuck, longest })
    };
    let known = |milliseconds| QuantileValue::Exactly(Nanoseconds::from_milliseconds(milliseconds));
    let list = Operation::ListWithAttributes;
    table.bystanders = vec![
        ComparedBystander {
            standpoint: Standpoint::Directory,
            operation: list,
            sides: vec![
                felt([1.05, 0.98, 1.1], 1, 0, known(20)),
                felt([0.99; 3], 0, 0, known(10)),
                felt([12.3, 10.1, 15.0], 9, 3, QuantileValue::AtLeast(Nanoseconds::from_seconds(840))),
            ],
        },
        ComparedBystander {
            standpoint: Standpoint::Control,
            operation: list,
            sides: vec![
                felt([1.01, 0.98, 1.03], 0, 0, known(1)),
                None,
                felt([1.0, 0.97, 1.05], 0, 0, known(1)),
            ],
        },
    ];
    let processors = |row| Beside::Processors { row, at_processor_speed: vec![0] };
    let took = [[2.0e9, 1.9e9, 2.3e9], [51e9, 48e9, 55e9], [22e9, 22e9, 22e9]];
    table.beside = vec![
        ComparedBeside {
            what: processors(0),
            sides: vec![of([1.0, 0.98, 1.01]), of([0.6, 0.55, 0.64]), None],
        },
        ComparedBeside {
            what: processors(1),
            sides: [[1.0, 0.99, 1.02], [0.75, 0.75, 0.75], [0.7, 0.66, 0.75]].map(of).to_vec(),
        },
        ComparedBeside { what: Beside::Caches(CacheState::Cold), sides: took.map(of).to_vec() },
    ];
    table
}

/// A directory beside servers, with where the time of requests went.
pub(crate) fn stores() -> ComparedTable {
    let runs = |middle: f64| around(middle, 0.03, 9);
    let mut table = table_of(
        &["/scratch", "s3://KEY:***@bucket/x#endpoint=http://store:9000", "davs://me:***@web/x"],
        &[(Operation::Read, vec![runs(9000.0), runs(700.0), runs(1100.0)])],
    );
    let quantities = [
        ProfileQuantity::Rate,
        ProfileQuantity::Median,
        ProfileQuantity::Longest,
        ProfileQuantity::RoundTrips,
        ProfileQuantity::Tls,
        ProfileQuantity::FirstByte,
        ProfileQuantity::Rest,
    ];
    let sides = [
        (0, vec![9000.0, 5.4e3, 2.1e6]),
        (0, vec![700.0, 1.3e6, 20.0e6, 1.0, f64::NAN, 1.1e6, 0.2e6]),
        (1, vec![1100.0, 0.8e6, 15e9, 2.0, 0.4e6, 0.3e6, 0.1e6]),
    ];
    let of_side = |(bounded, amounts): (u32, Vec<f64>)| {
        let of = |(quantity, middle): (ProfileQuantity, f64)| SideProfile {
            quantity,
            of_runs: MiddleOfRuns { middle, least: middle, most: middle, runs: 9 },
            bounded: if quantity == ProfileQuantity::Longest { bounded } else { 0 },
        };
        let known = quantities.into_iter().zip(amounts).filter(|(_, amount)| !amount.is_nan());
        known.map(of).collect::<Vec<_>>()
    };
    for (side, profile) in table.rows[0].sides.iter_mut().zip(sides.map(of_side)) {
        side.profile = profile;
    }
    table
}

/// The same table as that of another workload, by another quantity.
pub(crate) fn by(table: &mut ComparedTable, workload: &str, quantity: RunQuantity) {
    table.workloads = vec![ComparedWorkload { name: workload.to_owned(), quantity }];
    for row in &mut table.rows {
        row.key.workload = workload.to_owned();
        row.quantity = quantity;
    }
}

/// A side that is slow now and then.
pub(crate) fn noisy() -> ComparedTable {
    let rows = [(Operation::StreamRead, vec![around(1e9, 0.03, 9), around(5e8, 1.2, 9)])];
    let mut table = table_of(&["/native", "/noisy"], &rows);
    by(&mut table, "stream", RunQuantity::Throughput);
    table
}

/// One run hung, and others are too few.
pub(crate) fn hung_and_few() -> ComparedTable {
    let mut hung = around(60.0, 0.05, 9);
    hung[4] = RunAmount::AtMost(3.0);
    let mut table = table_of(
        &["/scratch", "/home"],
        &[
            (Operation::Read, vec![around(300.0, 0.05, 9), hung]),
            (Operation::Create, vec![around(300.0, 0.05, 1), around(309.0, 0.05, 1)]),
            (Operation::Stat, vec![around(12.0, 0.05, 9), around(12_000.0, 0.05, 9)]),
        ],
    );
    table.rules = vec![FailRule {
        text: "rate < 0.9x".to_owned(),
        operation: None,
        quantity: RunQuantity::Rate,
        beyond: Beyond::Below,
        factor: 0.9,
    }];
    let outcome = |row, factor: f64, interval: Option<[f64; 2]>, judgement| RuleOutcome {
        rule: 0,
        row,
        side: 1,
        factor: LogRange::exactly(factor.ln()),
        interval: interval.map(|[low, high]| LogRange::between(low.ln(), high.ln())),
        judgement,
    };
    table.outcomes = vec![
        outcome(0, 0.2, Some([0.0, 0.38]), RuleJudgement::Broken),
        outcome(1, 1.03, None, RuleJudgement::CannotBeTold { more: Some(3) }),
        outcome(1, 1.03, Some([0.87, 1.2]), RuleJudgement::CannotBeTold { more: Some(14) }),
        outcome(2, 1000.0, Some([900.0, 1100.0]), RuleJudgement::Kept),
    ];
    table
}

/// Names that would be markup, steer a terminal, or are wide or very long.
pub(crate) fn bad_names() -> ComparedTable {
    let mut table = table_of(
        &[
            "<script>alert(1)</script>",
            "a\u{1b}[2J\u{202e}|b`*_",
            "目録目録目録",
            &"/very/long/name".repeat(12),
        ],
        &[(Operation::Read, (0..4).map(|side| around(300.0 + 100.0 * f64::from(side), 0.03, 6)).collect())],
    );
    table.rows[0].key.labels = [("<b>".to_owned(), "a\"|\n,b".to_owned())].into();
    let mut other = table.rows[0].clone();
    other.key.labels = BTreeMap::from([("<b>".to_owned(), "</td>".to_owned())]);
    table.rows.push(other);
    table.doubts = vec![Doubt::OneFileSystem { sides: vec![0, 1], device: "0:45".to_owned() }];
    table
}

/// So many rows of two sides.
pub(crate) fn of_rows(count: usize) -> ComparedTable {
    let row = |row: usize| {
        (Operation::Read, vec![around(300.0, 0.03, 5), around(200.0 + 20.0 * row as f64, 0.04, 5)])
    };
    let mut table = table_of(&["/home", "/scratch"], &(0..count).map(row).collect::<Vec<_>>());
    for (index, row) in table.rows.iter_mut().enumerate() {
        row.key.coordinates.insert("clients".to_owned(), (index + 1).to_string());
    }
    table
}
