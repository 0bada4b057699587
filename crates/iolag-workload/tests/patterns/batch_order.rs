//! The batch pattern against naive loops, and what becomes of it when a client is given up.

use std::sync::Arc;

use iolag_backend::ObjectKey;
use iolag_model::{
    Access, Durability, Granularity, MetadataSpec, Operation, Pattern, Phase, StageRecord, Think,
    Verification,
};
use iolag_workload::{Accounting, BatchClient, Client, Workload};
use proptest::prelude::*;

use crate::company::{Company, Deed};

fn spec(datasets: u32, objects: u64, iterations: u32, offset: u32) -> MetadataSpec {
    MetadataSpec {
        pattern: Pattern::Batch,
        granularity: Granularity::Operations,
        phases: vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup],
        datasets,
        precreated_objects: objects,
        objects: 1,
        iterations,
        object_bytes: 10,
        offset,
        think: Think::None,
        access: Access::Replace,
        time_limit: None,
        durability: Durability::Default,
        verification: Verification::Length,
        dataset_kind: iolag_model::Datasets::Made,
        connections: iolag_model::Connections::Reused,
    }
}

fn company(spec: &MetadataSpec, clients: u32, seed: u64) -> (Company, Accounting) {
    let list: Arc<[StageRecord]> = spec.stages().into();
    let accounting = Accounting::new(spec, clients, None).expect("a new working set has no positions");
    let members = (0..clients)
        .map(|rank| Box::new(BatchClient::new(spec, rank, Arc::clone(&list), &accounting)) as Box<dyn Client>)
        .collect();
    (Company::new(members, seed), accounting)
}

fn model(spec: &MetadataSpec, clients: u64, rank: u64) -> Vec<(Operation, ObjectKey)> {
    let mut asked = vec![];
    let shifted = |shift: u64| ((rank + shift * u64::from(spec.offset)) % clients) as u32;
    let key = |rank, dataset, index| ObjectKey { rank, dataset, index };
    for _ in 0..spec.iterations {
        asked.extend((0..spec.datasets).map(|d| (Operation::MakeDirectory, key(rank as u32, d, 0))));
        for (operation, shift) in
            [(Operation::Create, 0), (Operation::Stat, 1), (Operation::Read, 2), (Operation::Delete, 3)]
        {
            for d in 0..spec.datasets {
                asked.extend((0..spec.precreated_objects).map(|i| (operation, key(shifted(shift), d, i))));
            }
        }
        asked.extend((0..spec.datasets).map(|d| (Operation::RemoveDirectory, key(rank as u32, d, 0))));
    }
    asked
}

#[test]
fn every_stage_is_one_operation_between_two_meetings() {
    let (mut company, _) = company(&spec(2, 3, 1, 1), 3, 5);
    company.run();
    let mut stages: Vec<Vec<Operation>> = vec![];
    for deed in &company.deeds[0] {
        match deed {
            Deed::Began(stage) => {
                assert_eq!(usize::from(*stage), stages.len());
                stages.push(vec![]);
            }
            Deed::Executed(executed) => stages.last_mut().expect("begun").push(executed.request.operation),
            Deed::Agreed | Deed::Ended => {}
        }
    }
    stages.iter_mut().for_each(Vec::dedup);
    use Operation::{Create, Delete, MakeDirectory, Read, RemoveDirectory, Stat};
    assert_eq!(stages, [MakeDirectory, Create, Stat, Read, Delete, RemoveDirectory].map(|one| vec![one]));
}

#[test]
fn the_working_set_of_a_part_of_the_phases_is_counted() {
    let made = MetadataSpec { phases: vec![Phase::Precreate, Phase::Benchmark], ..spec(2, 7, 2, 1) };
    let (mut company, accounting) = company(&made, 3, 1);
    company.run();
    assert_eq!(company.failures(), []);
    for (rank, dataset) in [(0, 0), (2, 1)] {
        assert_eq!(company.world.objects_in(rank, dataset), 7);
        assert_eq!(accounting.expected_objects(rank, dataset), 7..=7);
    }
}

#[test]
fn a_client_that_is_given_up_leads_others_to_no_missing_object() {
    // Per iteration: 2 directories, then 4 times 10 objects, then 2 directories.
    for hangs_after in [1, 5, 15, 25, 35, 43, 50] {
        let (mut company, _) = company(&spec(2, 5, 2, 1), 4, hangs_after);
        company.hangs_after.insert(1, hangs_after);
        company.run();
        let failures = company.failures();
        // What was left of an iteration is found by the next one's mkdir; nothing else fails.
        assert!(
            failures.iter().all(|(_, request)| request.operation == Operation::MakeDirectory),
            "{failures:?}"
        );
        assert!(hangs_after != 1 || company.executed(0).iter().any(|executed| executed.request.key.rank > 1));
    }
}

proptest! {
    #[test]
    fn the_order_is_the_models_and_nothing_is_left(
        datasets in 1_u32..4, objects in 1_u64..6, iterations in 1_u32..3, offset in 0_u32..9, clients in 1_u32..6,
        seed: u64,
    ) {
        let spec = spec(datasets, objects, iterations, offset);
        let (mut company, _) = company(&spec, clients, seed);
        company.run();
        for rank in 0..clients {
            let asked: Vec<_> = company.executed(rank as usize).iter()
                .map(|executed| (executed.request.operation, executed.request.key)).collect();
            prop_assert_eq!(asked, model(&spec, u64::from(clients), u64::from(rank)));
        }
        prop_assert_eq!(company.failures(), []);
        prop_assert!(company.world.is_empty());
    }
}
