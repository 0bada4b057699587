//! The order of operations against an independent model of the pattern, and what the pattern promises.
//!
//! The model is written from md-workbench's description as naive loops over a set of files; it shares no code with the
//! workload.

use std::sync::Arc;

use iolag_backend::ObjectKey;
use iolag_model::{
    Access, Durability, Granularity, MetadataSpec, Nanoseconds, Operation, Pattern, Phase, StageRecord,
    Think, TimeLimit, Verification, WearOut,
};
use iolag_workload::{Accounting, Client, MetadataClient, Workload};
use proptest::prelude::*;

use crate::company::{Company, Deed, Executed};

fn spec(datasets: u32, precreated_objects: u64, objects: u64, iterations: u32, offset: u32) -> MetadataSpec {
    MetadataSpec {
        pattern: Pattern::Code,
        granularity: Granularity::Operations,
        phases: vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup],
        datasets,
        precreated_objects,
        objects,
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

fn company(spec: &MetadataSpec, clients: u32, positions: Option<&[u64]>, seed: u64) -> (Company, Accounting) {
    assert_eq!(spec.validate(clients), Ok(()));
    let list: Arc<[StageRecord]> = spec.stages().into();
    let accounting = Accounting::new(spec, clients, positions).expect("positions fit");
    let members = (0..clients)
        .map(|rank| {
            Box::new(MetadataClient::new(spec, rank, Arc::clone(&list), &accounting)) as Box<dyn Client>
        })
        .collect();
    (Company::new(members, seed), accounting)
}

type Asked = (Operation, String);

/// All that one rank asks, as the description says it: names are those of files, arithmetic is on signed numbers.
fn model(spec: &MetadataSpec, clients: i64, rank: i64) -> Vec<Asked> {
    let (p, offset) = (spec.precreated_objects as i64, i64::from(spec.offset));
    let datasets = 0..i64::from(spec.datasets);
    let wrap = |rank: i64| ((rank % clients) + clients) % clients;
    let file = |rank: i64, d: i64, i: i64| format!("{rank}_{d}/file-{i}");
    let mut asked = vec![];
    for d in datasets.clone() {
        asked.push((Operation::MakeDirectory, format!("{rank}_{d}")));
    }
    for f in 0..p {
        for d in datasets.clone() {
            asked.push((Operation::Create, file(rank, d, f)));
        }
    }
    let mut index = 0;
    for _ in 0..spec.iterations {
        for f in 0..spec.objects as i64 {
            for d in datasets.clone() {
                let (rd, wr) = match spec.pattern {
                    Pattern::Code => (wrap(rank - offset * (d + 1)), wrap(rank + offset * (d + 1))),
                    _ => (wrap(rank + offset * (d + 1)), wrap(rank + offset * d)),
                };
                let i = index + f;
                asked.push((Operation::Stat, file(rd, d, i)));
                asked.push((Operation::Read, file(rd, d, i)));
                if spec.access == Access::Replace {
                    asked.push((Operation::Delete, file(rd, d, i)));
                    asked.push((Operation::Create, file(wr, d, p + i)));
                }
            }
        }
        if spec.access == Access::Replace {
            index += spec.objects as i64;
        }
    }
    for d in datasets {
        for f in 0..p {
            asked.push((Operation::Delete, file(rank, d, index + f)));
        }
        asked.push((Operation::RemoveDirectory, format!("{rank}_{d}")));
    }
    asked
}

fn name(operation: Operation, key: ObjectKey) -> String {
    match operation {
        Operation::MakeDirectory | Operation::RemoveDirectory => format!("{}_{}", key.rank, key.dataset),
        _ => format!("{}_{}/file-{}", key.rank, key.dataset, key.index),
    }
}

fn asked(company: &Company, rank: usize) -> Vec<Asked> {
    let executed = company.executed(rank).into_iter().map(|executed| executed.request);
    executed.map(|request| (request.operation, name(request.operation, request.key))).collect()
}

fn assert_follows_model(spec: &MetadataSpec, clients: u32) {
    let (mut company, _) = company(spec, clients, None, 7);
    company.run();
    for rank in 0..clients {
        assert_eq!(
            asked(&company, rank as usize),
            model(spec, i64::from(clients), i64::from(rank)),
            "rank {rank}"
        );
    }
    assert_eq!(company.failures(), []);
    assert!(company.world.is_empty());
}

#[test]
fn the_order_is_the_models_for_four_clients_three_datasets_offset_one() {
    assert_follows_model(&spec(3, 5, 2, 2, 1), 4);
}

#[test]
fn the_order_is_the_models_for_one_client_alone_and_without_offset() {
    assert_follows_model(&spec(2, 3, 3, 3, 1), 1);
    assert_follows_model(&spec(3, 4, 2, 2, 0), 3);
}

#[test]
fn the_order_is_the_models_for_an_offset_beyond_the_number_of_clients() {
    assert_follows_model(&spec(4, 6, 5, 2, 17), 5);
}

#[test]
fn the_order_is_the_models_for_the_papers_pattern_and_for_read_only() {
    assert_follows_model(&MetadataSpec { pattern: Pattern::Paper, ..spec(3, 4, 3, 2, 2) }, 7);
    assert_follows_model(&MetadataSpec { access: Access::ReadOnly, ..spec(3, 4, 3, 2, 1) }, 4);
}

#[test]
fn the_printed_facts_of_a_verbose_run_of_md_workbench_are_met() {
    // mpiexec -n 4 md-workbench -P 5 -D 3 -I 2 -R 1 -v -v
    let (mut company, _) = company(&spec(3, 5, 2, 1, 1), 4, None, 3);
    company.run();
    let keys = |rank: usize, operation: Operation, skipped: usize| -> Vec<String> {
        let of = asked(&company, rank).into_iter().filter(|(asked, _)| *asked == operation);
        of.map(|(_, name)| name.split('/').next().unwrap().to_owned()).skip(skipped).take(3).collect()
    };
    assert_eq!(keys(0, Operation::Read, 0), ["3_0", "2_1", "1_2"]);
    assert_eq!(keys(0, Operation::Create, 15), ["1_0", "2_1", "3_2"]);
    assert_eq!(keys(1, Operation::Read, 0), ["0_0", "3_1", "2_2"]);
    assert_eq!(keys(1, Operation::Create, 15), ["2_0", "3_1", "0_2"]);
    let count = |operation| {
        (0..4)
            .map(|rank| asked(&company, rank).iter().filter(|(asked, _)| *asked == operation).count())
            .sum::<usize>()
    };
    // N·D·P + N·D·I creates, N·D directories, N·D·I reads, N·D·I + N·D·P deletes.
    assert_eq!((count(Operation::Create), count(Operation::MakeDirectory)), (60 + 24, 12));
    assert_eq!((count(Operation::Read), count(Operation::Delete)), (24, 24 + 60));
    assert_eq!(count(Operation::RemoveDirectory), 12);
}

fn limited(wear_out: WearOut, after_ns: u64, spec: MetadataSpec) -> MetadataSpec {
    MetadataSpec { time_limit: Some(TimeLimit { after_ns: Nanoseconds(after_ns), wear_out }), ..spec }
}

/// md-workbench's defect 1: stopped clients left files behind and met errors in every later iteration.
#[test]
fn a_stopped_iteration_leaves_no_error_and_no_object_behind() {
    for clients in [1, 2, 5] {
        let spec = limited(WearOut::Stop, 1_500, spec(3, 300, 100, 3, 1));
        let (mut company, accounting) = company(&spec, clients, None, 11);
        // The first client is much faster than the others, so that they stop at different objects.
        company.speeds[0] = 5;
        company.run();
        let positions = accounting.positions();
        assert!(positions.iter().all(|position| (3..300).contains(position)), "{positions:?}");
        assert!(clients == 1 || positions[0] > positions[1], "{positions:?}");
        assert_eq!(company.failures(), []);
        assert!(company.world.is_empty());
    }
}

/// With P = I a fast client may not run ahead of what slow ones have made: it does fewer objects instead of failing.
#[test]
fn a_stopped_iteration_never_asks_for_what_is_not_there_even_with_the_smallest_working_set() {
    let spec = limited(WearOut::Stop, 2_000, spec(4, 40, 40, 6, 1));
    let (mut company, accounting) = company(&spec, 3, None, 5);
    company.speeds = vec![20, 1, 3];
    company.run();
    assert_eq!(company.failures(), []);
    assert!(company.world.is_empty());
    assert!(accounting.positions()[0] > accounting.positions()[1]);
}

#[test]
fn equalised_clients_end_at_the_same_object_and_their_clock_runs_on() {
    let spec = limited(WearOut::Equalise, 2_000, spec(2, 500, 200, 2, 1));
    let (mut company, accounting) = company(&spec, 3, None, 9);
    company.speeds = vec![6, 1, 2];
    company.run();
    let positions = accounting.positions();
    assert!(positions[0] > 2 && positions.iter().all(|position| *position == positions[0]), "{positions:?}");
    assert_eq!(company.failures(), []);
    assert!(company.world.is_empty());
    for deeds in &company.deeds {
        let agreements = deeds.iter().filter(|deed| **deed == Deed::Agreed).count();
        assert_eq!(agreements, 2, "once per iteration");
        let beginnings = deeds.iter().filter(|deed| matches!(deed, Deed::Began(_))).count();
        assert_eq!(beginnings, 4, "precreate, two iterations, cleanup: the agreement begins nothing anew");
    }
}

#[test]
fn equalising_waits_for_nobody_when_all_finish_in_time() {
    let spec = limited(WearOut::Equalise, u64::MAX, spec(2, 10, 10, 2, 1));
    let (mut company, accounting) = company(&spec, 3, None, 9);
    company.run();
    assert_eq!(accounting.positions(), [20, 20, 20]);
    assert!(company.world.is_empty() && company.failures().is_empty());
}

#[test]
fn later_phases_continue_where_an_earlier_run_ended() {
    let making = MetadataSpec {
        phases: vec![Phase::Precreate, Phase::Benchmark],
        ..limited(WearOut::Stop, 3_000, spec(3, 90, 30, 2, 2))
    };
    let (mut first, accounting) = company(&making, 4, None, 21);
    first.speeds = vec![4, 1, 2, 1];
    first.run();
    let positions = accounting.positions();
    assert!(positions.iter().any(|position| *position != positions[0]), "{positions:?}");
    let phases = vec![Phase::Benchmark, Phase::Cleanup];
    let continuing = MetadataSpec { phases, time_limit: None, ..making };
    let (second, accounting) = company(&continuing, 4, Some(&positions), 22);
    let mut second = second.with_world(first.world.clone());
    for (rank, dataset) in [(0, 0), (3, 2)] {
        let there = second.world.objects_in(rank, dataset);
        assert_eq!(accounting.expected_objects(rank, dataset), there..=there);
    }
    second.run();
    assert_eq!(second.failures(), []);
    assert!(second.world.is_empty());
    assert!(Accounting::new(&continuing, 3, Some(&positions)).is_err());
}

#[test]
fn objects_of_which_the_making_or_removing_was_cut_off_are_unknown_and_cleaned_up() {
    let (mut company, accounting) = company(&spec(2, 10, 5, 2, 1), 3, None, 9);
    // Object 3 is made and not known to be, object 1 removed and not known to be.
    company.is_cut_off = |rank, request| match request.operation {
        Operation::Create => rank == 1 && request.key.index == 3,
        Operation::Delete => rank == 1 && request.key.index == 1,
        _ => false,
    };
    company.run();
    let cut_off = company.failures().len() as u64;
    assert!(cut_off > 0);
    assert_eq!(accounting.unknown_objects(), cut_off);
    assert!(company.world.is_empty(), "{:?}", company.world);
}

#[test]
fn a_client_that_is_given_up_leads_others_to_no_missing_object() {
    // 12 datasets made and 120 objects created, then 40 rows of 3 objects of 4 operations: hang in each part.
    for (hangs_after, is_making) in [(2, true), (60, true), (130, false), (400, false), (900, false)] {
        let (mut company, accounting) = company(&spec(3, 40, 20, 4, 1), 4, None, hangs_after);
        company.hangs_after.insert(2, hangs_after);
        company.run();
        assert_eq!(company.failures(), [], "hang after {hangs_after}");
        for rank in (0..4).filter(|rank| *rank != 2) {
            for dataset in 0..3 {
                let there = company.world.objects_in(rank, dataset);
                let expected = accounting.expected_objects(rank, dataset);
                assert!(expected.contains(&there), "{rank}_{dataset}: {there} not in {expected:?}");
            }
        }
        let worked = company
            .executed(0)
            .iter()
            .filter(|executed| executed.request.operation == Operation::Read)
            .count();
        assert!(worked > if is_making { 0 } else { 60 }, "the others went on: {worked}");
    }
}

#[test]
fn failures_are_counted_as_not_done() {
    let (mut company, accounting) = company(&spec(2, 20, 10, 2, 1), 3, None, 4);
    // Every seventh object cannot be statted, and creation fails for some others.
    company.fails = |_, request| match request.operation {
        Operation::Stat => request.key.index % 7 == 3,
        Operation::Create => request.key.index == 25,
        _ => false,
    };
    company.run();
    for rank in 0..3 {
        let executed = company.executed(rank);
        for (before, after) in executed.iter().zip(&executed[1..]) {
            let is_skipping = before.request.operation == Operation::Stat && !before.is_ok;
            assert!(!is_skipping || after.request.key != before.request.key, "nothing follows a failed stat");
        }
        for dataset in 0..2 {
            let there = company.world.objects_in(rank as u32, dataset);
            let expected = accounting.expected_objects(rank as u32, dataset);
            assert!(expected.contains(&there), "{rank}_{dataset}: {there} not in {expected:?}");
        }
    }
}

#[test]
fn only_the_benchmark_thinks_and_no_pause_reaches_over_a_meeting() {
    let thinking = MetadataSpec { think: Think::Fixed(Nanoseconds(500)), ..spec(1, 3, 2, 2, 1) };
    let (mut company, _) = company(&thinking, 2, None, 1);
    company.run();
    let mut is_first = true;
    for deed in &company.deeds[0] {
        match deed {
            Deed::Executed(executed) => {
                let is_benchmark = executed.request.key.rank == 1;
                assert_eq!(executed.intended.is_some(), is_benchmark && !is_first, "{executed:?}");
                is_first = false;
            }
            _ => is_first = true,
        }
    }
}

fn shapes() -> impl Strategy<Value = (MetadataSpec, u32)> {
    let sizes = (1_u32..5, 0_u64..12, 1_u64..8, 1_u32..4, 0_u32..9, 1_u32..7);
    let choices = (any::<bool>(), any::<bool>(), any::<bool>(), 0_u8..3, 1_u64..4_000);
    (sizes, choices).prop_map(|((d, extra, i, r, o, n), (is_paper, is_read_only, is_calls, limit, after))| {
        let spec = MetadataSpec {
            pattern: if is_paper { Pattern::Paper } else { Pattern::Code },
            access: if is_read_only { Access::ReadOnly } else { Access::Replace },
            granularity: if is_calls { Granularity::Calls } else { Granularity::Operations },
            ..spec(d, i + extra, i, r, o)
        };
        let spec = match limit {
            0 => spec,
            1 => limited(WearOut::Stop, after, spec),
            _ => limited(WearOut::Equalise, after, spec),
        };
        (spec, n)
    })
}

proptest! {
    #[test]
    fn no_interleaving_meets_a_missing_object_and_nothing_is_left(
        (spec, clients) in shapes(), seed: u64, speeds in proptest::collection::vec(1_u64..30, 7),
    ) {
        let (mut company, _) = company(&spec, clients, None, seed);
        company.speeds.copy_from_slice(&speeds[..clients as usize]);
        company.run();
        prop_assert_eq!(company.failures(), []);
        prop_assert!(company.world.is_empty());
    }

    #[test]
    fn the_working_set_is_as_large_as_counted_and_constant_without_a_limit(
        (spec, clients) in shapes(), seed: u64, speeds in proptest::collection::vec(1_u64..30, 7),
    ) {
        let spec = MetadataSpec { phases: vec![Phase::Precreate, Phase::Benchmark], ..spec };
        let (mut company, accounting) = company(&spec, clients, None, seed);
        company.speeds.copy_from_slice(&speeds[..clients as usize]);
        company.run();
        let mut all = 0;
        for rank in 0..clients {
            for dataset in 0..spec.datasets {
                let there = company.world.objects_in(rank, dataset);
                all += there;
                prop_assert_eq!(accounting.expected_objects(rank, dataset), there..=there);
                if !matches!(spec.time_limit, Some(TimeLimit { wear_out: WearOut::Stop, .. })) {
                    prop_assert_eq!(there, spec.precreated_objects);
                }
            }
        }
        prop_assert_eq!(all, u64::from(clients * spec.datasets) * spec.precreated_objects);
    }

    #[test]
    fn the_share_of_self_read_objects_is_the_computed_one(
        datasets in 1_u32..6, offset in 0_u32..9, clients in 1_u32..8, is_paper: bool,
    ) {
        let pattern = if is_paper { Pattern::Paper } else { Pattern::Code };
        // The first iteration reads what was precreated, the second what the first has made.
        let spec = MetadataSpec { pattern, ..spec(datasets, 2, 2, 2, offset) };
        let (mut company, accounting) = company(&spec, clients, None, 1);
        company.run();
        let executed = company.executed(0);
        let made: std::collections::BTreeSet<_> = executed
            .iter().filter(|e| e.request.operation == Operation::Create).map(|e| e.request.key).collect();
        let reads: Vec<_> = executed.iter().filter(|e| e.request.operation == Operation::Read).collect();
        let (precreated, steady) = reads.split_at(reads.len() / 2);
        let share = |reads: &[&Executed]| {
            reads.iter().filter(|read| made.contains(&read.request.key)).count() as f64 / reads.len() as f64
        };
        let computed = accounting.sharing().self_read_share(datasets);
        prop_assert_eq!((share(precreated), share(steady)), (computed.precreated, computed.steady));
    }
}
