//! What cannot be compared, and what is said then.

use iolag_analysis::compare::{CompareError, CompareOptions, LeftOut, Side, Unit, compare_sides};
use iolag_analysis::{RunQuantity, Standing};
use iolag_model::{Nanoseconds, Operation, Phase};

use crate::made_up::{compared, known, nine, side, unit, usual, value, with_labels};

fn stats(name: &str) -> Side {
    nine(name, &[(Operation::Stat, 1.0), (Operation::Read, 1.0)], 0.01)
}

#[track_caller]
fn refused(sides: Vec<Side>, options: &CompareOptions) -> String {
    match compare_sides(sides, options) {
        Err(CompareError::Asked(sentence)) => sentence,
        other => panic!("{other:?}"),
    }
}

fn pings(name: &str) -> Side {
    let unit = |at: i64| Unit {
        workload: "ping".into(),
        usual: RunQuantity::Median,
        values: vec![value(Operation::Probe, &[(RunQuantity::Median, known(1e6))])],
        ..unit(&format!("{name}-{at}"), at)
    };
    side(name, (0..4).map(unit).collect())
}

fn labelled(mut side: Side, name: &str, of: impl Fn(usize) -> String) -> Side {
    let units = side.units.into_iter().enumerate();
    side.units = units.map(|(at, unit)| with_labels(unit, &[(name, &of(at))])).collect();
    side
}

#[test]
fn one_side_is_no_comparison() {
    let sentence = refused(vec![stats("native")], &usual());
    assert!(sentence.starts_with("compare needs a base and another side"), "{sentence}");
    assert_eq!(refused(vec![], &usual()), sentence);
}

#[test]
fn different_workloads_are_not_compared() {
    assert_eq!(
        refused(vec![pings("native"), stats("nfs")], &usual()),
        "cannot compare a ping with a bench of metadata: native has the one, nfs the other"
    );
}

#[test]
fn each_workload_is_compared_by_its_own_quantity_and_what_one_side_lacks_is_told() {
    let mut both = stats("nfs");
    both.units.extend(pings("p").units);
    let table = compared(vec![both.clone(), stats("native")]);
    assert_eq!(table.quantity(), Some(RunQuantity::Rate));
    let of_pings = |left_out: &LeftOut| matches!(left_out, LeftOut::Row { key, missing } if key.workload == "ping" && *missing == [1]);
    assert!(table.left_out.iter().any(of_pings), "{:?}", table.left_out);
    let mut other = stats("native");
    other.units.extend(pings("q").units);
    let table = compared(vec![both, other]);
    let rows: Vec<_> = table.rows.iter().map(|row| (row.key.workload.as_str(), row.quantity)).collect();
    let (rate, median) = (RunQuantity::Rate, RunQuantity::Median);
    assert_eq!(rows, [("metadata", rate), ("metadata", rate), ("ping", median)]);
    assert_eq!((table.quantity(), table.family), (None, 3));
}

#[test]
fn nothing_in_common_is_told_by_its_first_difference() {
    assert_eq!(
        refused(vec![stats("native"), nine("nfs", &[(Operation::Create, 1.0)], 0.0)], &usual()),
        "nothing is in both native and nfs: native has read and stat, nfs create"
    );
    let mut other = stats("nfs");
    other.units.iter_mut().for_each(|unit| *unit.coordinates.get_mut("clients").unwrap() = "2".into());
    assert_eq!(
        refused(vec![stats("native"), other], &usual()),
        "nothing is in both native and nfs: native has clients=1, nfs clients=2; --across clients would \
         compare them all the same"
    );
    let quiet = labelled(stats("native"), "system", |_| "quiet".into());
    assert_eq!(
        refused(vec![quiet, stats("nfs")], &usual()),
        "nothing is in both native and nfs: native has system=quiet, nfs no system; --across system would \
         compare them all the same"
    );
    let mut only_made = nine("nfs", &[(Operation::Create, 1.0)], 0.0);
    let values = only_made.units.iter_mut().flat_map(|unit| &mut unit.values);
    values.for_each(|value| value.cell.phase = Some(Phase::Precreate));
    assert_eq!(
        refused(vec![stats("native"), only_made], &usual()),
        "nothing is in both native and nfs: native has read and stat, nfs nothing of the phases that are compared, \
         to which --phases adds"
    );
}

#[test]
fn a_label_of_each_run_is_to_be_pooled() {
    let sides = || {
        vec![
            labelled(stats("a"), "run", |at| at.to_string()),
            labelled(stats("b"), "run", |at| (at + 9).to_string()),
        ]
    };
    assert_eq!(
        refused(sides(), &usual()),
        "the label run is different in all runs, so nothing matches: add --across run"
    );
    let mut two = sides();
    for (at, side) in two.iter_mut().enumerate() {
        side.units.iter_mut().for_each(|unit| *unit.coordinates.get_mut("clients").unwrap() = at.to_string());
    }
    assert_eq!(
        refused(two.clone(), &CompareOptions { across: vec!["run".into()], ..usual() }),
        "nothing is in both a and b: a has clients=0, b clients=1; --across run,clients would compare them all the same"
    );
    compare_sides(two, &CompareOptions { across: vec!["run".into(), "clients".into()], ..usual() }).unwrap();
    let table = compare_sides(sides(), &CompareOptions { across: vec!["run".into()], ..usual() }).unwrap();
    assert_eq!(table.rows[0].cells[0].runs, [9, 9]);
}

#[test]
fn a_coordinate_of_each_run_is_called_so_and_a_slip_of_the_pen_is_refused() {
    let of = |name: &str, from: usize| {
        let mut side = stats(name);
        for (at, unit) in side.units.iter_mut().enumerate() {
            unit.coordinates.insert("clients".into(), (from + at).to_string());
        }
        side
    };
    let sides = || vec![of("native", 0), of("nfs", 9)];
    let sentence = refused(sides(), &usual());
    assert!(sentence.starts_with("the coordinate clients is different in all runs"), "{sentence}");
    assert_eq!(
        refused(sides(), &CompareOptions { across: vec!["client".into()], ..usual() }),
        "--across client: no run here has such a label, choose from clients and target"
    );
}

#[test]
fn a_run_on_both_sides_cannot_differ() {
    let mut other = stats("nfs");
    other.units[0].name = "native-4".into();
    assert_eq!(
        refused(vec![stats("native"), other], &usual()),
        "run native-4 is on both sides: nothing can differ"
    );
}

#[test]
fn a_quantity_that_is_not_there_is_refused() {
    let rate = CompareOptions { quantity: Some(RunQuantity::Rate), ..usual() };
    assert_eq!(
        refused(vec![pings("native"), pings("nfs")].into_iter().enumerate().map(renamed).collect(), &rate),
        "a ping has no rate: choose median, p95 or over:DURATION"
    );
    let over = RunQuantity::ShareOver(Nanoseconds::from_milliseconds(100));
    let over = CompareOptions { quantity: Some(over), ..usual() };
    assert_eq!(
        refused(vec![stats("native"), stats("nfs")], &over),
        "no run says anything of over:100ms: choose rate"
    );
}

fn renamed((at, mut side): (usize, Side)) -> Side {
    side.units.iter_mut().for_each(|unit| unit.name = format!("{at}-{}", unit.name));
    side
}

#[test]
fn a_side_that_was_never_reached_is_no_mistake_of_who_asks() {
    let mut nfs = stats("nfs");
    nfs.units.iter_mut().for_each(|unit| unit.standing = Standing::Unreached);
    let error = compare_sides(vec![stats("native"), nfs], &usual()).unwrap_err();
    assert!(matches!(&error, CompareError::NothingMeasured(sentence) if sentence.contains("nfs")), "{error}");
    let empty = side("nfs", vec![]);
    assert!(matches!(
        compare_sides(vec![stats("native"), empty], &usual()),
        Err(CompareError::NothingMeasured(_))
    ));
}

#[test]
fn phases_that_add_nothing_are_refused_with_those_that_do() {
    let of = |phases: Vec<Phase>| CompareOptions { phases, ..usual() };
    let sides = || vec![stats("native"), stats("nfs")];
    assert_eq!(
        refused(sides(), &of(vec![Phase::Cleanup])),
        "--phases cleanup adds nothing that these runs measured: leave it out"
    );
    let mut with_precreate = sides();
    for unit in with_precreate.iter_mut().flat_map(|side| &mut side.units) {
        let mut more = unit.values[0].clone();
        more.cell.phase = Some(Phase::Precreate);
        unit.values.push(more);
    }
    assert_eq!(
        refused(with_precreate.clone(), &of(vec![Phase::Precreate, Phase::Benchmark])),
        "--phases benchmark adds nothing that these runs measured: choose from precreate"
    );
    assert!(compare_sides(with_precreate, &of(vec![Phase::Precreate])).is_ok());
}
