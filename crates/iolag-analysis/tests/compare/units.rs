//! Runs as they are stored, made units.

use std::path::Path;

use iolag_analysis::compare::{Fact, Side, Unit, compare_sides, unit_of_run};
use iolag_analysis::{CampaignEnding, ComparedWord, RunQuantity, RunValues, analysed, run_values};
use iolag_model::*;

use crate::made_up::usual;
use crate::scenario::{S, Scenario};

const ALL: [RunQuantity; 3] = [RunQuantity::Rate, RunQuantity::Median, RunQuantity::P95];

fn values_of(scenario: &Scenario) -> RunValues {
    let cells = analysed(&scenario.record.spec.workload).cells(&scenario.record);
    run_values(&scenario.record, &cells, &scenario.by_stage(), &ALL)
}

/// A run with stats of so many seconds.
fn bench(target: &str, block: u32, seconds: &[u64]) -> Scenario {
    let mut scenario = Scenario::metadata(1, 1, 0, &[(Phase::Benchmark, 0)]);
    let record = &mut scenario.record;
    record.plan = Some(CampaignPlan::default());
    record.block = block;
    record.campaign = RunId::new("20261128-000000", 1).expect("the form of an id");
    let of_target = if target == "/nfs" { 100 } else { 0 };
    record.id = RunId::new("20261128-000001", block as u16 + of_target).expect("the form of an id");
    record.targets[0].name = target.to_owned();
    let coordinates = [("target", target), ("clients", "1"), ("objects", "3000")];
    record.coordinates = coordinates.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let mut start = 1;
    for duration in seconds {
        scenario.at(0, 0, Operation::Stat, start * S, duration * S);
        start += duration;
    }
    scenario
}

fn unit(scenario: &Scenario) -> Unit {
    unit_of_run(&scenario.record, &values_of(scenario))
}

#[test]
fn runs_of_a_campaign_are_compared_as_they_were_stored() {
    let of = |target: &str, slower: u64| Side {
        name: target.to_owned(),
        units: (1..=5)
            .map(|block| unit(&bench(target, block, &[slower, 2 * slower, slower + u64::from(block) / 5])))
            .collect(),
        chosen_by: ["target".to_owned()].into(),
    };
    let table = compare_sides(vec![of("/data", 10), of("/nfs", 20)], &usual()).unwrap();
    assert_eq!((table.workloads[0].name.as_str(), table.quantity()), ("metadata", Some(RunQuantity::Median)));
    assert_eq!(table.rows.len(), 1);
    let cell = &table.rows[0].cells[0];
    assert_eq!((cell.runs, cell.compared.word), ([5, 5], ComparedWord::Slower));
    let coordinates: Vec<_> =
        table.rows[0].key.coordinates.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(coordinates, [("clients", "1"), ("objects", "3000")]);
    assert_eq!(table.doubts, []);
}

#[test]
fn facts_have_the_names_that_users_know() {
    let mut scenario = bench("/data", 3, &[1]);
    let record = &mut scenario.record;
    record.environment.memory_bytes = Some(8 << 30);
    record.before.page_cache_bytes = Some(77);
    record.calibration.clock_resolution_ns = 40.0;
    record.targets[0].file_system = Some(FileSystem {
        kind: "nfs4".into(),
        source: "server:/export".into(),
        device: "0:45".into(),
        options: "rw,vers=4.2".into(),
        ..FileSystem::default()
    });
    let WorkloadSpec::Metadata(spec) = &mut record.spec.workload else { panic!("it is a bench") };
    spec.think = Think::Fixed(Nanoseconds::from_milliseconds(10));
    spec.time_limit = Some(TimeLimit { after_ns: Nanoseconds::from_seconds(10), wear_out: WearOut::Stop });
    let unit = unit(&scenario);
    let facts: Vec<(String, &str)> =
        unit.facts.iter().map(|(fact, value)| (fact.to_string(), value.as_str())).collect();
    let facts: Vec<(&str, &str)> = facts.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let expected = [
        ("host", "login1"),
        ("processors", "8"),
        ("memory", "8.00 GiB"),
        ("access", "replace"),
        ("datasets", "1"),
        ("deadline", "15.0 s"),
        ("detail", "operations"),
        ("durability", "default"),
        ("iterations", "3"),
        ("object-size", "3901 B"),
        ("objects", "1000"),
        ("offset", "0"),
        ("on-hang", "continue"),
        ("pattern", "code"),
        ("phases", "benchmark"),
        ("seed", "1"),
        ("think", "fixed 10.0 ms"),
        ("time-limit", "10.0 s"),
        ("verification", "length"),
        ("wear-out", "stop"),
    ];
    assert_eq!(facts, expected);
    let place: Vec<&str> = unit.places["/data"].values().map(String::as_str).collect();
    assert_eq!(place, ["nfs4", "server:/export", "0:45", "rw,vers=4.2"]);
    assert_eq!(unit.places["/data"][&Fact::Device], "0:45");
    let block = unit.block.unwrap();
    assert_eq!((block.block, block.order, block.ending), (3, Order::Interleaved, CampaignEnding::Planned));
    assert_eq!(
        (unit.page_cache_bytes, unit.clock_step_ns, unit.usual),
        (Some(77), 40.0, RunQuantity::Median)
    );
    assert_eq!(unit.span_ns, [1_795_201_140 * S as i64; 2]);
    assert_eq!((unit.values[0].target.as_str(), unit.values[0].attempts), ("/data", 1));
}

#[test]
fn options_of_streams_and_caches_are_called_as_on_the_command_line() {
    let mut scenario = bench("/data", 1, &[1]);
    let spec = &mut scenario.record.spec;
    spec.workload = WorkloadSpec::Stream(StreamSpec {
        phases: vec![Phase::Write],
        file_bytes: 1 << 30,
        block_bytes: 4 << 20,
        io: StreamIo::Direct,
        engine: StreamEngine::IoUring,
        depth: 8,
        fsync: StreamFsync::End,
        allocation: Allocation::AsWritten,
        compressible_percent: 50,
        verification: Verification::Length,
        time_limit_ns: None,
        copy_with: None,
    });
    spec.caches = CacheState::Cold;
    spec.drop_command = Some("ssh server drop".to_owned());
    spec.bystander = Some(BystanderSpec {
        asked: vec![BystanderTask::Stat, BystanderTask::List],
        rate_per_second: 2.0,
        quiet_ns: Nanoseconds(5 * S),
    });
    // It follows from the size of the file.
    spec.deadlines = vec![DeadlineRule {
        role: None,
        operation: Some(Operation::StreamFsync),
        deadline_ns: Nanoseconds(S),
    }];
    let options = iolag_analysis::compare::options_of(spec);
    let options: Vec<(&str, &str)> =
        options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected = [
        ("block", "4.00 MiB"),
        ("bystander", "stat, list"),
        ("bystander-quiet", "5.00 s"),
        ("bystander-rate", "2.0"),
        ("caches", "cold"),
        ("compressible", "50"),
        ("deadline", "15.0 s"),
        ("depth", "8"),
        ("drop-command", "ssh server drop"),
        ("engine", "io_uring"),
        ("file-size", "1.00 GiB"),
        ("fsync", "end"),
        ("io", "direct"),
        ("on-hang", "continue"),
        ("phases", "write"),
        ("preallocate", "as-written"),
        ("seed", "1"),
        ("verification", "length"),
    ];
    assert_eq!(options, expected);
}

/// Every option of every workload is a fact: a new field of a spec is one by itself, or is no option.
#[test]
fn a_check_and_its_directories_are_a_unit() {
    let mut scenario = Scenario::check(&["/home/me", "/tmp"]);
    scenario.scatter(0, Operation::TaskList, 20, 2_000_000, 0.1);
    scenario.scatter(1, Operation::TaskList, 20, 1_000_000, 0.1);
    let cells = analysed(&scenario.record.spec.workload).cells(&scenario.record);
    let unit =
        unit_of_run(&scenario.record, &run_values(&scenario.record, &cells, &scenario.by_target(), &ALL));
    assert_eq!((unit.workload.as_str(), unit.usual, unit.block), ("check", RunQuantity::Median, None));
    let targets: Vec<&str> = unit.values.iter().map(|value| value.target.as_str()).collect();
    assert_eq!(targets, ["/home/me", "/tmp"]);
    assert!(unit.coordinates.is_empty(), "its clients are no choice of the user");
    assert_eq!(unit.facts[&Fact::Option("budget".into())], "45.0 s");
    assert_eq!(unit.facts[&Fact::Option("stream-size".into())], "16.0 MiB");
    assert!(!unit.facts.contains_key(&Fact::Option("thresholds".into())), "they are how it is shown");
}

/// Runs of the first version have no plan, no coordinates and no blocks.
#[test]
fn runs_of_the_first_version_are_units() {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../iolag/tests/written_by_0_1_0/store/runs");
    let unit = |id: &str| {
        let text = std::fs::read_to_string(store.join(id).join("run.json")).unwrap();
        let record: RunRecord = serde_json::from_str(&text).unwrap();
        unit_of_run(&record, &values_of(&bench("/data", 1, &[1, 2])))
    };
    let (one, two) = (unit("20261122-022733-4306"), unit("20261122-022734-4307"));
    assert_eq!((one.coordinates["clients"].as_str(), two.coordinates["clients"].as_str()), ("1", "2"));
    assert_eq!((&one.block, one.labels["kind"].as_str()), (&None, "sweep"));
    assert!(one.span_ns[0] > 0 && one.span_ns[0] < one.span_ns[1] && one.span_ns[1] <= two.span_ns[1]);
    assert!(one.facts.contains_key(&Fact::Host) && one.facts.contains_key(&Fact::Version));
    // They stand beside runs of today: the same coordinates by the same names.
    let today: Vec<String> = self::unit(&bench("/data", 1, &[1])).coordinates.into_keys().collect();
    let of_old: Vec<String> = one.coordinates.clone().into_keys().collect();
    assert_eq!(today, ["clients", "objects", "target"]);
    assert_eq!(of_old, ["clients", "objects"]);
    let side = |name: &str, unit: Unit| Side {
        name: name.into(),
        units: vec![unit],
        chosen_by: ["clients".to_owned()].into(),
    };
    let table = compare_sides(vec![side("one", one), side("two", two)], &usual()).unwrap();
    assert_eq!(table.rows[0].cells[0].compared.word, ComparedWord::TooFew { more: 3 });
}
