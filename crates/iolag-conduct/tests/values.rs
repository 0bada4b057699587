//! The values of stored runs, also of those that 0.1.0 wrote, and that what is compared of a workload is what the workload does.
#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

#[path = "../../iolag-store/tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iolag_analysis::{Cell, RunAmount, RunQuantity, RunValues, Standing, analysed};
use iolag_conduct::{values_of, values_of_all};
use iolag_model::{
    Access, Durability, Granularity, Nanoseconds, Operation, Pattern, Phase, RunId, RunRecord, RunState,
    WorkloadSpec,
};
use iolag_store::{RunDirectory, SpoolNumber, SpoolWriter, Store};
use iolag_workload::Workload;
use support::{Client, record, run_id};

const QUANTITIES: [RunQuantity; 2] = [RunQuantity::Rate, RunQuantity::Median];

#[test]
fn what_is_compared_of_a_workload_is_what_it_does() {
    let plain = record(&run_id(1), 1, 1);
    for pattern in Pattern::ALL {
        for granularity in Granularity::ALL {
            for (access, durability) in
                [(Access::Replace, Durability::Fsync), (Access::ReadOnly, Durability::Default)]
            {
                let mut record = plain.clone();
                let WorkloadSpec::Metadata(spec) = &mut record.spec.workload else { panic!("it is one") };
                spec.phases = vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup];
                (spec.pattern, spec.granularity) = (*pattern, *granularity);
                (spec.access, spec.durability) = (access, durability);
                record.stages = spec.stages();
                let cells = analysed(&record.spec.workload).cells(&record);
                let compared: BTreeSet<Operation> = cells.iter().map(|one| one.cell.operation).collect();
                let WorkloadSpec::Metadata(spec) = &record.spec.workload else { panic!("it is one") };
                assert_eq!(compared, spec.operations_needed(), "{pattern} {granularity}");
                let stages: BTreeSet<_> = cells.iter().flat_map(|one| &one.stages).collect();
                assert_eq!(stages.len(), record.stages.len(), "each stage is in a cell");
            }
        }
    }
}

fn stored(store: &Store, number: u16, samples: usize) -> (RunDirectory, RunRecord) {
    let mut record = record(&run_id(number), 1, 1);
    let run = store.create_run(&record).unwrap();
    let spool = run.create_spool().unwrap();
    let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(0)).unwrap();
    writer.append(&Client::new(u32::from(number)).take(samples)).unwrap();
    writer.finish().unwrap();
    record.state = RunState::Complete;
    run.finish(&mut record, &spool).unwrap();
    (run, record)
}

#[test]
fn many_runs_are_read_in_their_order_and_one_that_cannot_be_read_is_no_end() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let runs: Vec<_> = (1..=5).map(|number| stored(&store, number, 400 * usize::from(number))).collect();
    let (gone, record) = &runs[2];
    std::fs::remove_file(gone.path().join(&record.parts[0].file)).unwrap();
    let all = values_of_all(&runs, &QUANTITIES);
    for (index, values) in all.iter().enumerate() {
        let attempts = values.as_ref().ok().map(|values| values.cells[0].attempts);
        assert_eq!(attempts, (index != 2).then_some(100 * (index as u64 + 1)), "{values:?}");
    }
    // What is only counted is the same without a single duration.
    for (run, record) in runs.iter().filter(|(run, _)| run.id() != gone.id()) {
        let rate = |quantities: &[RunQuantity]| -> Vec<_> {
            let values = values_of(run, record, quantities).unwrap();
            values.cells.iter().map(|cell| cell.amount(RunQuantity::Rate)).collect()
        };
        assert_eq!(rate(&QUANTITIES), rate(&QUANTITIES[..1]));
    }
}

/// A run that 0.1.0 wrote; nothing is written to it.
struct Older {
    record: RunRecord,
    values: RunValues,
}

fn older_runs() -> BTreeMap<String, Older> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../iolag/tests/written_by_0_1_0/store/runs");
    let entries = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let run = RunDirectory::open(&path).unwrap();
        let record = run.record().unwrap();
        let values = values_of(&run, &record, &QUANTITIES).unwrap();
        (record.labels["kind"].clone() + &format!(" {}", record.spec.clients), Older { record, values })
    };
    entries.map(read).collect()
}

/// Medians in ns by run, stage and operation, where everything went well; of an even number between the middle two.
fn known_medians() -> BTreeMap<(RunId, u16, Operation), f64> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../iolag/tests/written_by_0_1_0/medians.tsv");
    let text = std::fs::read_to_string(table).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let of_row = |row: Vec<&str>| {
        let key = (row[0].parse().unwrap(), row[2].parse().unwrap(), row[5].parse().unwrap());
        (key, row[7].parse().unwrap())
    };
    rows.filter(|row| row[6] == "ok").map(of_row).collect()
}

#[test]
fn runs_of_0_1_0_have_values_found_from_their_known_medians() {
    let (runs, medians) = (older_runs(), known_medians());
    let standings: Vec<_> = runs.iter().map(|(kind, run)| (kind.as_str(), run.values.standing)).collect();
    assert_eq!(
        standings,
        [
            ("check 1", Standing::Whole),
            ("complete 2", Standing::Whole),
            ("faults 2", Standing::Hung),
            // Nobody has brought its samples into their final form.
            ("killed 3", Standing::BrokenOff),
            ("sweep 1", Standing::Whole),
            ("sweep 2", Standing::Whole),
        ]
    );
    let (mut compared, mut rates) = (0, 0);
    for kind in ["complete 2", "sweep 1", "sweep 2"] {
        let run = &runs[kind];
        let stages = |cell: Cell| -> Vec<u16> {
            let cells = analysed(&run.record.spec.workload).cells(&run.record);
            let found = cells.iter().find(|one| one.cell == cell).expect("it has a value");
            found.stages.iter().map(|stage| stage.0).collect()
        };
        for value in &run.values.cells {
            let of_stage = |stage| medians[&(run.record.id.clone(), stage, value.cell.operation)];
            let expected = match stages(value.cell)[..] {
                [only] => of_stage(only),
                [first, second] => (of_stage(first) * of_stage(second)).sqrt(),
                _ => panic!("{kind} has two iterations"),
            };
            let Some(RunAmount::Known(median)) = value.amount(RunQuantity::Median) else {
                panic!("{kind}: {value:?}")
            };
            assert!((median / expected - 1.0).abs() < 1e-9, "{kind} {value:?}: {expected}");
            match value.amount(RunQuantity::Rate) {
                Some(RunAmount::Known(_)) => rates += 1,
                Some(_) => panic!("{kind}: {value:?}"),
                // It takes turns with another.
                None => {}
            }
            compared += 1;
        }
    }
    // One rate in each of three phases.
    assert_eq!((compared, rates), (14 + 8 + 8, 3 * 3));
}

#[test]
fn what_hung_with_0_1_0_is_a_bound() {
    let runs = older_runs();
    let faults = &runs["faults 2"];
    let of = |operation| {
        let cell = Cell { operation, phase: None };
        faults.values.cells.iter().find(|value| value.cell == cell).expect("it was planned")
    };
    let create = of(Operation::Create);
    let bounds = [RunQuantity::Rate, RunQuantity::Median].map(|quantity| create.amount(quantity).unwrap());
    assert!(
        matches!(bounds, [RunAmount::AtMost(rate), RunAmount::AtLeast(median)] if rate > 0.0 && median > 0.0),
        "{bounds:?}"
    );
    let deadline = faults.record.spec.deadline_ns;
    assert_eq!(deadline, Nanoseconds::from_milliseconds(150));
}
