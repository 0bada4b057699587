//! Like is compared with like.

use std::collections::BTreeMap;

use iolag_analysis::compare::{
    CompareError, CompareOptions, Doubt, Fact, LeftOut, Side, SideValue, Unit, UnitKind, compare_sides,
};
use iolag_analysis::{Cell, ComparedWord, ProfileQuantity, RunAmount, RunQuantity, Standing};
use iolag_model::{Operation, Phase};

use crate::made_up::{
    apart, compared, estimate, first, known, nine, run, side, unit, usual, value, with_labels,
};

/// Runs on a quiet and on a busy system, in which all are five times slower.
fn quiet_and_busy(name: &str, factor: f64) -> Side {
    let runs = |system: &'static str, slower: f64, from: i64| {
        let rates: Vec<f64> =
            (0..6).map(|at| 100.0 * factor / slower * (1.0 + 0.002 * f64::from(at % 3))).collect();
        apart(&format!("{name}-{system}"), from, &rates)
            .units
            .into_iter()
            .map(move |unit| with_labels(unit, &[("system", system)]))
    };
    side(name, runs("quiet", 1.0, 0).chain(runs("busy", 5.0, 100)).collect())
}

#[test]
fn strata_are_rows_and_are_pooled_only_on_demand() {
    let sides = || vec![quiet_and_busy("native", 1.0), quiet_and_busy("nfs", 0.5)];
    let table = compared(sides());
    let systems: Vec<&str> = table.rows.iter().map(|row| row.key.labels["system"].as_str()).collect();
    assert_eq!(systems, ["busy", "quiet"]);
    assert_eq!((table.family, table.left_out.len()), (2, 0));
    for row in &table.rows {
        let cell = &row.cells[0];
        assert_eq!((cell.runs, cell.compared.word), ([6, 6], ComparedWord::Slower));
        assert!((estimate(&cell.compared) - 0.5_f64.ln()).abs() < 1e-9);
        // What differs between strata is in none of them.
        assert!(cell.compared.interval.unwrap().low() > 0.49_f64.ln());
    }
    let pooled =
        compare_sides(sides(), &CompareOptions { across: vec!["system".into()], ..usual() }).unwrap();
    assert_eq!(pooled.rows.len(), 1);
    assert_eq!(pooled.rows[0].cells[0].runs, [12, 12]);
    assert!((estimate(first(&pooled)) - 0.5_f64.ln()).abs() < 1e-9);
    // Runs on a busy system stand beside such, also in one row.
    assert!(first(&pooled).interval.unwrap().low() > 0.49_f64.ln(), "{:?}", first(&pooled));
}

#[test]
fn what_has_no_counterpart_is_told() {
    let both = &[(Operation::Stat, 1.0), (Operation::Read, 1.0)];
    let mut busy = nine("nfs", both, 0.01);
    for unit in &mut busy.units {
        unit.values.retain(|value| value.cell.operation == Operation::Stat);
    }
    let only = |operation| {
        let mut other = nine("lnet", &[(operation, 1.0)], 0.01);
        other.units.truncate(2);
        other
    };
    let table = compared(vec![nine("native", both, 0.01), busy, only(Operation::Write)]);
    let rows: Vec<Operation> = table.rows.iter().map(|row| row.key.cell.operation).collect();
    assert_eq!(rows, [Operation::Stat]);
    let told: Vec<(Operation, &[usize])> = table
        .left_out
        .iter()
        .map(|left_out| match left_out {
            LeftOut::Row { key, missing } => (key.cell.operation, missing.as_slice()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected: [(Operation, &[usize]); 3] =
        [(Operation::Stat, &[2]), (Operation::Write, &[0, 1]), (Operation::Read, &[1, 2])];
    assert_eq!(told, expected);
    let [of_nfs, of_lnet] = &table.rows[0].cells[..] else { panic!("a cell for each other side") };
    assert_eq!((of_nfs.runs, of_lnet.runs), ([9, 9], [9, 0]));
    assert_eq!(
        (of_lnet.compared.word, of_lnet.compared.difference.is_none()),
        (ComparedWord::TooFew { more: 4 }, true)
    );
    assert_eq!((table.family, table.between.len()), (1, 0));
}

#[test]
fn rows_are_in_the_order_of_their_runs_and_numbers_in_that_of_their_size() {
    let of = |name: &str| {
        let mut units = Vec::new();
        for (at, clients) in ["16", "1", "2"].into_iter().enumerate() {
            for block in 1..=4 {
                let rates = [(Operation::Stat, known(100.0)), (Operation::Create, known(50.0))];
                let unit = run(name, block, &rates);
                let coordinates = BTreeMap::from([("clients".to_owned(), clients.to_owned())]);
                units.push(Unit { name: format!("{name}-{at}-{block}"), coordinates, ..unit });
            }
        }
        side(name, units)
    };
    let table = compared(vec![of("native"), of("nfs")]);
    let rows: Vec<(Operation, &str)> = table
        .rows
        .iter()
        .map(|row| (row.key.cell.operation, row.key.coordinates["clients"].as_str()))
        .collect();
    let expected = [Operation::Stat, Operation::Create]
        .map(|operation| ["1", "2", "16"].map(|clients| (operation, clients)));
    assert_eq!(rows, expected.as_flattened());
    assert_eq!(table.rows[0].cells[0].runs, [4, 4]);
}

#[test]
fn making_the_working_set_is_a_row_only_for_who_asks() {
    let of = |name: &str| {
        let mut one = nine(name, &[(Operation::Create, 1.0)], 0.01);
        for unit in &mut one.units {
            let mut precreate = unit.values[0].clone();
            precreate.cell = Cell { operation: Operation::Create, phase: Some(Phase::Precreate) };
            unit.values.insert(0, precreate);
        }
        one
    };
    let phases = |phases: Vec<Phase>| {
        let options = CompareOptions { phases, ..usual() };
        let table = compare_sides(vec![of("native"), of("nfs")], &options).unwrap();
        table.rows.iter().map(|row| row.key.cell.phase).collect::<Vec<_>>()
    };
    assert_eq!(phases(vec![]), [None]);
    assert_eq!(phases(vec![Phase::Precreate]), [Some(Phase::Precreate), None]);
}

/// A check of several directories, of which each is a row; of one, it has no name.
#[test]
fn targets_tell_rows_apart_where_a_run_has_several() {
    let check = |name: &str, at: i64, targets: &[&str]| {
        let values = targets.iter().map(|target| {
            let mut value = value(Operation::TaskList, &[(RunQuantity::Median, known(2e6))]);
            value.target = (*target).to_owned();
            value
        });
        let unit = unit(&format!("{name}-{at}"), at);
        Unit {
            workload: "check".into(),
            usual: RunQuantity::Median,
            values: values.collect(),
            coordinates: BTreeMap::new(),
            ..unit
        }
    };
    let of = |name: &str, from: i64, targets: &[&str]| {
        side(name, (from..from + 5).map(|at| check(name, at, targets)).collect())
    };
    let names = |sides| {
        let table = compared(sides);
        table.rows.iter().map(|row| row.key.coordinates.get("target").cloned()).collect::<Vec<_>>()
    };
    assert_eq!(names(vec![of("then", 0, &["/home"]), of("now", 9, &["/scratch"])]), [None]);
    let several = vec![of("then", 0, &["/home", "/tmp"]), of("now", 9, &["/tmp", "/home", "/new"])];
    assert_eq!(names(several.clone()), ["/home", "/tmp"].map(|name| Some(name.to_owned())));
    // Pooled, a run is still one unit.
    let across = CompareOptions { across: vec!["target".into()], ..usual() };
    let pooled = compare_sides(several, &across).unwrap();
    assert_eq!(pooled.rows[0].cells[0].runs, [5, 5]);
    assert_eq!(pooled.rows[0].sides[1].amounts.len(), 15);
    // One check has both sides, if these are its directories.
    let chosen = |name: &str, target: &str| {
        let mut chosen = side(name, (0..5).map(|at| check("run", at, &[target])).collect());
        chosen.chosen_by = ["target".to_owned()].into();
        chosen
    };
    assert_eq!(names(vec![chosen("/home", "/home"), chosen("/tmp", "/tmp")]), [None]);
}

#[test]
fn sides_of_a_plan_need_not_be_named_as_such() {
    let of = |name: &str| {
        let mut one = nine(name, &[(Operation::Stat, 1.0)], 0.01);
        for unit in &mut one.units {
            unit.coordinates.insert("side".into(), name.to_owned());
            unit.coordinates.insert("target".into(), format!("/{name}"));
        }
        one
    };
    let table = compared(vec![of("native"), of("nfs")]);
    assert_eq!(table.rows[0].key.coordinates.keys().collect::<Vec<_>>(), ["clients"]);
}

#[test]
fn the_others_are_compared_without_a_side_that_says_nothing() {
    let objects = Fact::Option("objects".to_owned());
    let with_option = |mut side: Side| {
        side.units.iter_mut().for_each(|unit| drop(unit.facts.insert(objects.clone(), "1000".to_owned())));
        side
    };
    let of = |name: &str, factor: f64| with_option(nine(name, &[(Operation::Stat, factor)], 0.01));
    let mut silent = of("lnet", 1.0);
    for unit in &mut silent.units {
        unit.standing = Standing::BrokenOff;
        unit.values.clear();
    }
    let sides = || vec![of("native", 1.0), silent.clone(), of("nfs", 0.5)];
    let table = compare_sides(sides(), &usual()).unwrap();
    let words: Vec<_> = table.rows[0].cells.iter().map(|cell| (cell.runs, cell.compared.word)).collect();
    assert_eq!(words, [([9, 0], ComparedWord::TooFew { more: 4 }), ([9, 9], ComparedWord::Slower)]);
    assert_eq!((table.family, table.between.len(), table.doubts.len()), (1, 0, 0), "{:?}", table.doubts);
    assert!(table.left_out.iter().all(|one| matches!(one, LeftOut::Run { side: 1, .. })));
    assert_eq!(table.left_out.len(), 9);
    // No rule is kept by it.
    let rules = vec!["rate < 0.3x".parse().unwrap()];
    let judged = compare_sides(sides(), &CompareOptions { rules, ..usual() }).unwrap();
    assert_eq!((judged.outcomes.len(), judged.silent()), (1, vec![1]));
    let mut without_base = sides();
    without_base.swap(0, 1);
    assert!(matches!(compare_sides(without_base, &usual()), Err(CompareError::NothingMeasured(_))));
    assert!(matches!(compare_sides(sides()[..2].to_vec(), &usual()), Err(CompareError::NothingMeasured(_))));
}

#[test]
fn a_rule_is_not_kept_by_what_vanished() {
    let both = nine("native", &[(Operation::Stat, 1.0), (Operation::Read, 1.0)], 0.01);
    let one = nine("nfs", &[(Operation::Stat, 1.0)], 0.01);
    let not_judged = |rule: &str| -> Vec<String> {
        let options = CompareOptions { rules: vec![rule.parse().unwrap()], ..usual() };
        let table = compare_sides(vec![both.clone(), one.clone()], &options).unwrap();
        let key = |left_out: &LeftOut| match left_out {
            LeftOut::Row { key, missing } if *missing == [1] => key.measured().to_owned(),
            other => panic!("{other:?}"),
        };
        table.not_judged(&table.rules[0]).map(key).collect()
    };
    assert_eq!(not_judged("rate < 0.5x"), ["read"]);
    assert!(not_judged("stat rate < 0.5x").is_empty());
}

#[test]
fn the_amount_of_a_run_is_found_by_its_place() {
    let amounts = vec![(0, known(1.0)), (2, known(2.0)), (2, known(3.0)), (5, RunAmount::Open)];
    let value = SideValue {
        amounts,
        speeds: Vec::new(),
        middle: RunAmount::Open,
        runs: 4,
        bounded: 1,
        profile: Vec::new(),
    };
    assert_eq!(
        [0, 1, 2, 5, 6].map(|run| value.amount(run)),
        [Some(known(1.0)), None, Some(known(2.0)), Some(RunAmount::Open), None]
    );
}

#[test]
fn a_quantile_that_some_runs_have_too_few_attempts_for_is_not_told_of_the_side() {
    let side = |name: &str, runs: usize| {
        let mut side = nine(name, &[(Operation::Stat, 1.0)], 0.01);
        for (at, unit) in side.units.iter_mut().enumerate() {
            let all = [ProfileQuantity::P99, ProfileQuantity::Longest, ProfileQuantity::RoundTrips];
            let has = |quantity: &ProfileQuantity| at < runs || *quantity != ProfileQuantity::P99;
            unit.values[0].profile = all.into_iter().filter(has).map(|one| (one, known(8.0))).collect();
        }
        side
    };
    let table = compared(vec![side("all", 9), side("some", 8)]);
    let runs = |side: &SideValue| {
        let p99 = side.profile.iter().find(|one| one.quantity == ProfileQuantity::P99)?;
        Some(p99.of_runs.runs)
    };
    assert_eq!(table.rows[0].sides.iter().map(runs).collect::<Vec<_>>(), [Some(9), None]);
}

/// What a history has of two hosts, beside runs of one of them, which say where they ran.
#[test]
fn runs_stand_beside_the_days_of_their_own_host() {
    let of = |name: &str, host: &dyn Fn(usize) -> &'static str, is_remembered: bool| {
        let mut side = nine(name, &[(Operation::Stat, 1.0)], 0.01);
        for (at, unit) in side.units.iter_mut().enumerate() {
            unit.facts.insert(Fact::Host, host(at).to_owned());
            if is_remembered {
                unit.kind = UnitKind::DayOfRuns;
                unit.coordinates.insert("host".to_owned(), host(at).to_owned());
            }
        }
        side
    };
    let hosts = |at: usize| if at < 4 { "login1" } else { "login2" };
    let table = compared(vec![of("history", &hosts, true), of("runs", &|_| "login2", false)]);
    assert_eq!(table.rows.len(), 1);
    assert_eq!(table.rows[0].key.coordinates["host"], "login2");
    assert_eq!(table.rows[0].cells[0].runs, [5, 5], "in blocks");
    assert_eq!(table.units, UnitKind::Run, "not all are days");
    // Of one host they are alike, whatever says so.
    let across = CompareOptions { across: vec!["host".into()], ..usual() };
    let sides = vec![of("history", &|_| "login2", true), of("runs", &|_| "login2", false)];
    assert_eq!(compare_sides(sides, &across).unwrap().doubts, []);
    let sides = vec![of("history", &|_| "login1", true), of("runs", &|_| "login2", false)];
    let labels = [["host=login1"], ["host=login2"]].map(|of| of.map(str::to_owned).to_vec()).to_vec();
    assert_eq!(compare_sides(sides, &across).unwrap().doubts, [Doubt::DifferentLabels { labels }]);
}
