//! From what was asked for to the runs of a metadata bench.

use iolag_model::Connections;
use iolag_workload::MetadataOptions;

use crate::bench::campaign::Campaign;
use crate::bench::metadata::servers::refuse_of_servers;
use crate::bench::options::BenchOptions;
use crate::bench::plan::{plan_bench, refuse_empty, refuse_equal};
use crate::bench::sides::Side;
use crate::environment::limits::Limits;
use crate::failure::Failure;

/// Plans the runs of a metadata bench: see [`plan_bench`]. Sizes are its variants.
///
/// # Errors
/// As there, and if what is asked of the workload contradicts itself.
pub fn plan_metadata(
    options: BenchOptions,
    metadata: &MetadataOptions,
    limits: &Limits,
) -> Result<Campaign, Failure> {
    refuse_empty("--precreate", &metadata.precreated_objects)?;
    refuse_equal("--precreate", &metadata.precreated_objects, u64::to_string)?;
    metadata.refuse_contradictions().map_err(Failure::usage)?;
    let variants = metadata.variants();
    if !metadata.is_self_contained() && (options.is_swept() || variants.len() > 1) {
        return Err(Failure::usage(
            "a sweep or --repeat needs all phases: each point has a working set of its own; leave out --phases",
        ));
    }
    refuse_sessions_of_directories(&options, metadata)?;
    options.sides.iter().try_for_each(|side| refuse_of_servers(metadata, &side.target))?;
    plan_bench(options, &variants, |variant, clients| metadata.workload(*variant, clients), limits)
}

/// Only to a server is there a connection.
fn refuse_sessions_of_directories(options: &BenchOptions, metadata: &MetadataOptions) -> Result<(), Failure> {
    let names: Vec<_> = metadata.connections.iter().map(|connections| connections.name()).collect();
    refuse_equal("--session", &names, |name| (*name).to_owned())?;
    let is_local = |side: &&Side| !side.target.is_server();
    match options.sides.iter().find(is_local).filter(|_| metadata.connections != [Connections::Reused]) {
        Some(side) => Err(Failure::usage(format!(
            "--session {} is for servers, and {} is none: leave it out, or name a server",
            names.join(","),
            side.shown()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::bench::campaign::PlannedRun;
    use crate::bench::options::Repeating;
    use iolag_backend::Target;
    use iolag_model::{CampaignPlan, Connections, Nanoseconds, Order, RunId, RunRecord, RunState, Stopping};

    fn options(targets: &[&str]) -> BenchOptions {
        let sides = targets.iter().map(|target| Target::parse(target).unwrap().into()).collect();
        BenchOptions { sides, clients: vec![1, 2], repeat: Repeating::Times(2), ..BenchOptions::default() }
    }

    fn campaign() -> Campaign {
        let sizes = MetadataOptions { precreated_objects: vec![1000, 2000], ..MetadataOptions::default() };
        plan_metadata(options(&["memory:", "/x"]), &sizes, &Limits::default()).unwrap()
    }

    #[test]
    fn a_campaign_of_no_run_or_of_too_many_is_refused() {
        let refused = |options: BenchOptions, sizes: &[u64]| {
            let sizes = MetadataOptions { precreated_objects: sizes.to_vec(), ..MetadataOptions::default() };
            plan_metadata(options, &sizes, &Limits::default()).unwrap_err().sentence
        };
        // As a u32 that would be none.
        for repeat in [1 << 32, (1 << 14) + 1, u64::MAX] {
            let refused = refused(
                BenchOptions { repeat: Repeating::Times(repeat), ..options(&["memory:", "/x"]) },
                &[3000],
            );
            assert!(refused.starts_with(&format!("--repeat {repeat} makes ")), "{refused}");
            assert!(refused.ends_with("more than a campaign can have: at most 65 536"), "{refused}");
        }
        let without_clients = refused(BenchOptions { clients: vec![], ..options(&["memory:"]) }, &[3000]);
        assert!(without_clients.starts_with("--clients is an empty list"), "{without_clients}");
        let without_sizes = refused(options(&["memory:"]), &[]);
        assert!(without_sizes.starts_with("--precreate is an empty list"), "{without_sizes}");
    }

    #[test]
    fn only_a_comparison_of_what_takes_turns_can_be_precise() {
        let stopping = Stopping { precision: 0.05, budget_ns: Nanoseconds::from_seconds(600) };
        let planned = |targets: &[&str], order| {
            let options =
                BenchOptions { repeat: Repeating::UntilPrecise(stopping), order, ..options(targets) };
            plan_metadata(options, &MetadataOptions::default(), &Limits::default())
        };
        let sessions = MetadataOptions {
            connections: vec![Connections::Fresh, Connections::Reused],
            ..MetadataOptions::default()
        };
        let repeat = Repeating::UntilPrecise(stopping);
        let of_server = BenchOptions { repeat, ..options(&["dav://localhost/dav"]) };
        let campaign = plan_metadata(of_server, &sessions, &Limits::default()).unwrap();
        assert_eq!(campaign.compared_sessions(), ["fresh", "reuse"]);
        let campaign = planned(&["memory:", "/x"], Order::Random).unwrap();
        assert_eq!(campaign.runs.len(), 63 * 4);
        assert_eq!(campaign.plan(&campaign.runs[0].point).stopping, Some(stopping));
        let alone = planned(&["memory:"], Order::Random).unwrap_err().sentence;
        assert!(
            alone.starts_with("--precision is that of a comparison: name a second target or side"),
            "{alone}"
        );
        let in_sequence = planned(&["memory:", "/x"], Order::Sequential).unwrap_err().sentence;
        assert!(in_sequence.starts_with("--precision needs blocks of runs that take turns"), "{in_sequence}");
    }

    #[test]
    fn every_block_has_every_point_once_and_the_second_is_the_first_backwards() {
        let runs = campaign().runs;
        assert_eq!(runs.len(), 2 * 2 * 2 * 2);
        let (first, second) = runs.split_at(8);
        let numbers = |runs: &[PlannedRun]| runs.iter().map(|run| run.number).collect::<Vec<_>>();
        assert_eq!(numbers(first), numbers(second).into_iter().rev().collect::<Vec<_>>());
        let points: std::collections::BTreeMap<_, _> =
            first.iter().map(|run| (run.number, run.point.coordinates.clone())).collect();
        let different: BTreeSet<_> = points.values().cloned().collect();
        assert_eq!((points.len(), different.len()), (8, 8));
        assert!(first.iter().all(|run| (run.block, run.repetition) == (1, 1)));
        assert!(second.iter().all(|run| (run.block, run.repetition) == (2, 2)));
        assert!(second.iter().all(|run| run.point.coordinates == points[&run.number]));
        let last: Vec<_> = points[&7].iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(last, [("clients", "2"), ("objects", "2000"), ("target", "/x")]);
    }

    #[test]
    fn each_run_has_on_record_what_is_compared_in_the_order_in_which_it_was_named() {
        let sizes = MetadataOptions::default();
        for (targets, expected) in [(&["/b", "/a", "/c"][..], &["/b", "/a", "/c"][..]), (&["/b"], &[])] {
            let options = BenchOptions { order: Order::Random, ..options(targets) };
            let campaign = plan_metadata(options, &sizes, &Limits::default()).unwrap();
            assert!(
                campaign.runs.iter().all(|run| campaign.plan(&run.point).sides == expected),
                "{targets:?}"
            );
        }
    }

    /// The record of a planned run.
    fn record(run: &PlannedRun, campaign: &str, id: &str, state: RunState) -> RunRecord {
        const RECORD: &str =
            include_str!("../../../../iolag/tests/written_by_0_1_0/store/runs/20261122-022728-4048/run.json");
        let mut record: RunRecord = serde_json::from_str(RECORD).unwrap();
        record.id = id.parse().unwrap();
        record.campaign = campaign.parse().unwrap();
        let sides = ["memory:", "/x"].map(str::to_owned).to_vec();
        let values = |name: &str, values: [&str; 2]| (name.to_owned(), values.map(str::to_owned).to_vec());
        let coordinates = [values("clients", ["1", "2"]), values("objects", ["1000", "2000"])].into();
        record.plan = Some(CampaignPlan { sides, coordinates, ..CampaignPlan::default() });
        record.labels.clear();
        record.coordinates = run.point.coordinates.clone();
        (record.block, record.repetition) = (run.block, run.repetition);
        record.spec = run.point.spec.clone();
        record.state = state;
        record
    }

    #[test]
    fn what_counts_in_comparisons_is_not_conducted_again() {
        let (own, other) = ("20261101-000000-0001", "20261101-000000-0002");
        let mut resumed = campaign();
        let runs = resumed.runs.clone();
        let broken = || RunState::Incomplete { reason: "hung".to_owned() };
        let records = [
            record(&runs[0], own, own, RunState::Complete),
            record(&runs[3], own, "20261101-000001-0001", broken()),
            record(&runs[3], own, "20261101-000002-0001", RunState::Complete),
            record(&runs[3], own, "20261101-000003-0001", broken()),
            record(&runs[5], own, "20261101-000004-0001", broken()),
            record(&runs[6], own, "20261101-000005-0001", broken()),
            record(&runs[7], other, other, RunState::Complete),
        ];
        let id: RunId = own.parse().unwrap();
        // Two of those that are not complete hung; of the others nothing is known.
        let no_unit = ["20261101-000003-0001", "20261101-000004-0001"];
        let units = records.iter().map(|record| record.id.clone());
        let units = units.filter(|id| !no_unit.contains(&id.as_str())).collect();
        resumed.resume(&id, &records, &units).unwrap();
        let left: Vec<_> = resumed.left().map(|(index, _)| index).collect();
        assert_eq!(left, (0..16).filter(|index| ![0, 3, 6].contains(index)).collect::<Vec<_>>());
        let done: Vec<&str> = resumed.runs[3].done.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(done, ["20261101-000001-0001", "20261101-000002-0001"]);
        assert_eq!(resumed.id, Some(id));
    }

    #[test]
    fn a_campaign_made_with_other_options_is_refused_and_another_buffer_is_none() {
        let id: RunId = "20261101-000000-0001".parse().unwrap();
        let run = campaign().runs.remove(1);
        let mut made = record(&run, id.as_str(), id.as_str(), RunState::Complete);
        made.spec.ring_bytes /= 2;
        let resume = |made: &RunRecord| {
            campaign().resume(&id, std::slice::from_ref(made), &BTreeSet::from([made.id.clone()]))
        };
        resume(&made).unwrap();
        let refused = |made: &RunRecord| resume(made).unwrap_err().sentence;
        let plan = made.plan.clone().unwrap();
        for order in [Some(Order::Random), None] {
            let plan = order.map(|order| CampaignPlan { order, ..plan.clone() });
            let refused = refused(&RunRecord { plan, ..made.clone() });
            let was = order.map_or("not given", Order::name);
            let expected = format!("order was {was} and is interleaved; ");
            assert!(
                refused.contains("was made with other options: ") && refused.contains(&expected),
                "{refused}"
            );
        }
        let stopping = Some(Stopping { precision: 0.05, budget_ns: Nanoseconds::from_seconds(600) });
        let precise =
            refused(&RunRecord { plan: Some(CampaignPlan { stopping, ..plan.clone() }), ..made.clone() });
        let expected = "budget was 10 min 00 s and is not given; precision was 5 % and is not given; give";
        assert!(precise.contains(expected), "{precise}");
        let with_sides = |sides: &[&str]| {
            let sides = sides.iter().map(|side| (*side).to_owned()).collect();
            refused(&RunRecord { plan: Some(CampaignPlan { sides, ..plan.clone() }), ..made.clone() })
        };
        for (before, expected) in [
            (
                &["memory:", "/x", "/y"][..],
                "is of memory:, /x, /y, and not of memory:, /x; give the targets or sides",
            ),
            (&[], "is of one side, and not of memory:, /x: what is added"),
        ] {
            let refused = with_sides(before);
            assert!(refused.contains(expected), "{refused}");
        }
        let mut fewer = plan.clone();
        fewer.coordinates.insert("objects".to_owned(), vec!["2000".to_owned()]);
        let added = refused(&RunRecord { plan: Some(fewer), ..made.clone() });
        assert!(
            added.contains("was made with other options: precreate was 2000 and is 1000, 2000; give"),
            "{added}"
        );
        let mut labelled = made.clone();
        labelled.labels.insert("client".to_owned(), "new".to_owned());
        assert!(
            refused(&labelled).contains("other options: the label client was new and is not given; give")
        );
        made.spec.seed += 1;
        assert!(refused(&made).contains("was made with other options: seed was 2 and is 1; give"));
        made.coordinates.insert("clients".to_owned(), "3".to_owned());
        made.coordinates.insert("objects".to_owned(), "7".to_owned());
        made.repetition = 3;
        let foreign = "clients was 3 and is 1, 2; precreate was 7 and is 1000, 2000; repeat was at least 3 and is 2; give";
        assert!(refused(&made).contains(&format!("would not be made by these options: {foreign}")));
        made.coordinates.clear();
        assert!(refused(&made).contains("is a check or a ping, or an earlier iolag made it"));
    }
}
