//! What a history remembers of a run: one value for each of its cells.
//!
//! A series is a cell on a target under the coordinates of its run; what else the run was told, and its labels, are facts of a configuration: other options
//! and other labels are no change of the storage. Records are made of what is stored only, so remembering a run twice changes nothing.

use std::collections::BTreeMap;

use iolag_analysis::{CellValue, RunAmount, RunQuantity, RunValues, Standing, analysed, run_values};
use iolag_model::{
    Configuration, Fingerprint, HistoryRecord, HistorySample, Nanoseconds, Operation, Outcome, ProbeId,
    RunRecord, RunSpec, Series, SeriesKey, SeriesKind, TargetRecord, WallTime, one_line,
};
use iolag_store::{RunDirectory, StoreError};
use iolag_watch::configuration_key;

use crate::environment::facts::facts_of_file_system;
use crate::messages::Stored;
use crate::storing::summarising::values_of;

/// File systems that are the host's own memory.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// Coordinates that are told by the target, or by how it was brought into the state that is measured.
const OF_TARGET: [&str; 2] = ["target", "side"];

/// What a history remembers of a run that was just conducted; nothing of one that was broken off.
pub fn records_of(stored: &Stored) -> Vec<HistoryRecord> {
    let record = &stored.record;
    let workload = analysed(&record.spec.workload);
    let cells = workload.cells(record);
    records_of_values(record, &run_values(record, &cells, &stored.summaries, &[workload.compared()]))
}

/// The same of a run in a store.
///
/// # Errors
/// If a part cannot be read.
pub fn records_of_stored(run: &RunDirectory, record: &RunRecord) -> Result<Vec<HistoryRecord>, StoreError> {
    let compared = analysed(&record.spec.workload).compared();
    Ok(records_of_values(record, &values_of(run, record, &[compared])?))
}

fn records_of_values(record: &RunRecord, values: &RunValues) -> Vec<HistoryRecord> {
    let Some(anchor) = record.anchors.first() else { return Vec::new() };
    let begin = WallTime(i64::try_from(anchor.realtime_ns).unwrap_or(i64::MAX));
    let of_cell = |cell: &CellValue| {
        let target = record.targets.get(usize::from(cell.target.0))?;
        let (quantity, amount) = *cell.amounts.first()?;
        let standing = values.standing;
        Some(
            Remembered { record, standing, begin, target, operation: cell.cell.operation, quantity, amount }
                .records(),
        )
    };
    // Making and removing what is worked on is no benchmark.
    let is_meant = |cell: &&CellValue| cell.cell.phase.is_none();
    values.cells.iter().filter(is_meant).filter_map(of_cell).flatten().collect()
}

/// A cell of a run on a target.
struct Remembered<'a> {
    record: &'a RunRecord,
    standing: Standing,
    begin: WallTime,
    target: &'a TargetRecord,
    operation: Operation,
    quantity: RunQuantity,
    amount: RunAmount,
}

impl Remembered<'_> {
    fn records(&self) -> [HistoryRecord; 3] {
        let configuration = self.configuration();
        let sample = HistorySample { configuration: Some(configuration.key), ..self.sample() };
        [
            HistoryRecord::Configuration(configuration),
            HistoryRecord::Series(self.series()),
            HistoryRecord::Sample(sample),
        ]
    }

    fn key(&self) -> SeriesKey {
        SeriesKey {
            host: self.record.environment.host.clone(),
            target: self.place(),
            task: self.task(),
            part: String::new(),
        }
    }

    /// The target; where a command brought it into the state that is measured, as which side.
    fn place(&self) -> String {
        let commands = self.record.plan.as_ref().and_then(|plan| plan.side.as_ref());
        match self.record.coordinates.get("side").filter(|_| commands.is_some()) {
            Some(side) => format!("{} as {}", self.target.name, one_line(side)),
            None => self.target.name.clone(),
        }
    }

    /// As in `metadata read, clients 4`.
    fn task(&self) -> String {
        let mut task = format!("{} {}", self.record.spec.workload.name(), self.operation);
        for (name, value) in self.coordinates() {
            task += &format!(", {name} {value}");
        }
        one_line(&task)
    }

    fn coordinates(&self) -> impl Iterator<Item = (&String, &String)> {
        self.record.coordinates.iter().filter(|(name, _)| !OF_TARGET.contains(&name.as_str()))
    }

    fn series(&self) -> Series {
        Series {
            key: self.key(),
            kind: self.kind(),
            resolution_ns: Nanoseconds::ZERO,
            period_ns: Nanoseconds::ZERO,
            deadline_ns: self.record.spec.deadline_ns,
            description: one_line(&self.record.command.join(" ")),
            unit: self.quantity.unit().to_owned(),
            described: self.begin,
        }
    }

    fn kind(&self) -> SeriesKind {
        let is_in_memory = self.target.backend == "memory"
            || self.target.file_system.as_ref().is_some_and(|on| IN_MEMORY.contains(&on.kind.as_str()));
        if is_in_memory { SeriesKind::BenchmarkControl } else { SeriesKind::Benchmark }
    }

    /// A bound is remembered as the value that it is of, with how it came to be one.
    fn sample(&self) -> HistorySample {
        let probe = ProbeId(Fingerprint::of(self.record.id.as_str()));
        let bounded = if self.standing == Standing::Hung { Outcome::Hung } else { Outcome::Error };
        let (value, outcome) = match self.amount {
            RunAmount::Known(value) => (Some(value), Outcome::Ok),
            RunAmount::AtLeast(value) | RunAmount::AtMost(value) => (Some(value), bounded),
            RunAmount::Open => (None, bounded),
        };
        let value = value.map(|value| if self.quantity.is_per_second() { value } else { value / 1e9 });
        let sample = HistorySample::new(self.key(), probe, self.begin, Nanoseconds::ZERO, outcome);
        HistorySample { value, ..sample }
    }

    fn configuration(&self) -> Configuration {
        let named = |kind: &str, (name, value): (&String, &String)| (format!("{kind}{name}"), value.clone());
        let mut facts: BTreeMap<String, String> =
            self.target.file_system.as_ref().map(facts_of_file_system).unwrap_or_default();
        facts.extend(self.record.labels.iter().map(|label| named(Configuration::LABEL, label)));
        facts.extend(self.coordinates().map(|coordinate| named(Configuration::COORDINATE, coordinate)));
        let machine = &self.record.environment;
        let told = [
            (Configuration::OPTIONS, fingerprint_of(&self.record.spec)),
            ("kernel", machine.kernel.clone()),
            ("iolag", machine.iolag_version.clone()),
        ];
        facts.extend(told.map(|(name, value)| (name.to_owned(), value)));
        Configuration {
            key: configuration_key(&facts),
            host: self.record.environment.host.clone(),
            target: self.place(),
            first_seen: self.begin,
            facts,
        }
    }
}

/// Of all that was to be done, wherever it was to be done.
fn fingerprint_of(spec: &RunSpec) -> String {
    let done = RunSpec { targets: Vec::new(), seed: 0, ring_bytes: 0, ..spec.clone() };
    // Every spec was read from JSON, or is written as JSON.
    let json = serde_json::to_vec(&done).unwrap_or_default();
    format!("{:016x}", Fingerprint::of(json))
}

#[cfg(test)]
mod tests {
    use iolag_analysis::Cell;
    use iolag_model::{
        Anchor, CampaignPlan, FileSystem, MonotonicTime, Phase, PingProbe, PingSpec, RunId, RunState,
        SideRecord, TargetIndex, WorkloadSpec,
    };

    use super::*;

    const BEGIN: i64 = 1_793_498_400_000_000_000;

    fn run(id: &str, target: TargetRecord) -> RunRecord {
        let ping = PingSpec {
            probe: PingProbe::Operations { object_bytes: 4096 },
            every_ns: Nanoseconds::from_seconds(1),
            count: Some(9),
        };
        let spec = RunSpec {
            workload: WorkloadSpec::Ping(ping),
            targets: vec![target.name.clone()],
            clients: 1,
            deadline_ns: Nanoseconds::from_seconds(15),
            deadlines: Vec::new(),
            on_hang: iolag_model::OnHang::Continue,
            on_error: iolag_model::OnError::Continue,
            seed: 1,
            ring_bytes: 1 << 20,
            caches: iolag_model::CacheState::Asis,
            drop_command: None,
            bystander: None,
        };
        let id: RunId = id.parse().unwrap();
        let mut record = RunRecord::new(id, spec, RunState::Complete);
        record.environment.host = "node".to_owned();
        record.targets = vec![target];
        record.anchors =
            vec![Anchor { monotonic_ns: MonotonicTime(5), boottime_ns: 5, realtime_ns: BEGIN as u64 }];
        record
    }

    fn values(standing: Standing, quantity: RunQuantity, amount: RunAmount) -> RunValues {
        let cell = Cell { operation: Operation::Read, phase: None };
        let amounts = vec![(quantity, amount)];
        let value = CellValue {
            cell,
            target: TargetIndex(0),
            attempts: 9,
            amounts,
            profile: Vec::new(),
            processors: None,
        };
        RunValues {
            standing,
            cells: vec![value],
            caches: None,
            felt: Vec::new(),
            are_clones: None,
            step: 0.0,
        }
    }

    fn rate(record: &RunRecord) -> (Configuration, Series, HistorySample) {
        remembered(record, &values(Standing::Whole, RunQuantity::Rate, RunAmount::Known(311.0)))
    }

    fn remembered(record: &RunRecord, values: &RunValues) -> (Configuration, Series, HistorySample) {
        match &records_of_values(record, values)[..] {
            [HistoryRecord::Configuration(one), HistoryRecord::Series(two), HistoryRecord::Sample(three)] => {
                (one.clone(), two.clone(), three.clone())
            }
            other => panic!("{other:?}"),
        }
    }

    const ID: &str = "20261101-020000-aaaa";

    #[test]
    fn a_cell_is_a_series_a_configuration_and_a_value() {
        let mut record = run(ID, TargetRecord::new("/scratch", "posix"));
        for (name, value) in [("target", "/scratch"), ("side", "storage"), ("clients", "4")] {
            record.coordinates.insert(name.to_owned(), value.to_owned());
        }
        record.labels.insert("client".to_owned(), "5.1".to_owned());
        let (configuration, series, sample) = rate(&record);
        assert_eq!(series.key.to_string(), "ping read, clients 4 on /scratch");
        assert_eq!(
            (series.key.host.as_str(), series.kind, series.unit.as_str()),
            ("node", SeriesKind::Benchmark, "/s")
        );
        assert_eq!((sample.start, sample.value, sample.outcome), (WallTime(BEGIN), Some(311.0), Outcome::Ok));
        assert_eq!((sample.configuration, &sample.series), (Some(configuration.key), &series.key));
        assert_eq!(
            (configuration.facts["label client"].as_str(), configuration.target.as_str()),
            ("5.1", "/scratch")
        );
        assert!(configuration.options().is_some() && configuration.facts["coordinate clients"] == "4");
    }

    #[test]
    fn the_same_run_says_the_same_and_another_one_something_else() {
        let record = run(ID, TargetRecord::new("/scratch", "posix"));
        assert_eq!(rate(&record), rate(&record));
        let other = run("20261101-020000-bbbb", TargetRecord::new("/scratch", "posix"));
        assert_ne!(rate(&record).2.probe, rate(&other).2.probe);
        assert_eq!(rate(&record).0, rate(&other).0);
    }

    #[test]
    fn other_options_are_another_configuration_and_other_places_and_seeds_are_not() {
        let record = run(ID, TargetRecord::new("/scratch", "posix"));
        let options = |change: fn(&mut RunSpec)| {
            let mut changed = record.clone();
            change(&mut changed.spec);
            rate(&changed).0.facts[Configuration::OPTIONS].clone()
        };
        let same = options(|_| {});
        assert_eq!(options(|spec| spec.targets = vec!["/home".to_owned()]), same);
        assert_eq!(options(|spec| spec.seed = 9), same);
        assert_ne!(options(|spec| spec.clients = 2), same);
        assert_ne!(options(|spec| spec.deadline_ns = Nanoseconds(1)), same);
    }

    /// Other digits part what is remembered into what was before and after an update, without a word: what specs get must not be in their JSON while it has its
    /// usual value.
    #[test]
    fn the_fingerprints_of_options_are_for_ever() {
        const METADATA: &str =
            include_str!("../../iolag/tests/written_by_0_1_0/store/runs/20261122-022728-4048/run.json");
        const CHECK: &str =
            include_str!("../../iolag/tests/written_by_0_1_0/store/runs/20261122-022729-4066/run.json");
        let written = |json| fingerprint_of(&serde_json::from_str::<RunRecord>(json).unwrap().spec);
        let ping = fingerprint_of(&run(ID, TargetRecord::new("/scratch", "posix")).spec);
        assert_eq!(
            [written(METADATA), written(CHECK), ping],
            ["67606164567bcff4", "29d27370148d06d2", "0499fbdd56383f69"]
        );
    }

    #[test]
    fn memory_is_a_control_and_a_side_with_commands_a_place_of_its_own() {
        let kind = |target: TargetRecord| rate(&run(ID, target)).1.kind;
        let on = |kind: &str| FileSystem { kind: kind.to_owned(), ..FileSystem::default() };
        let directory =
            |kind: &str| TargetRecord { file_system: Some(on(kind)), ..TargetRecord::new("/x", "posix") };
        assert_eq!(kind(TargetRecord::new("memory:", "memory")), SeriesKind::BenchmarkControl);
        assert_eq!(kind(directory("tmpfs")), SeriesKind::BenchmarkControl);
        assert_eq!(kind(directory("nfs4")), SeriesKind::Benchmark);
        assert_eq!(kind(TargetRecord::new("delayed:2ms:memory:", "delayed")), SeriesKind::Benchmark);
        let mut record = run(ID, TargetRecord::new("/lustre", "posix"));
        record.coordinates.insert("side".to_owned(), "new".to_owned());
        record.plan = Some(CampaignPlan { side: Some(SideRecord::default()), ..CampaignPlan::default() });
        assert_eq!(rate(&record).1.key.target, "/lustre as new");
    }

    #[test]
    fn bounds_are_values_with_an_end_and_what_was_broken_off_or_prepared_is_nothing() {
        let record = run(ID, TargetRecord::new("/scratch", "posix"));
        let sample = |standing, quantity, amount| remembered(&record, &values(standing, quantity, amount)).2;
        let hung = sample(Standing::Hung, RunQuantity::Rate, RunAmount::AtMost(5.0));
        assert_eq!((hung.value, hung.outcome), (Some(5.0), Outcome::Hung));
        let full = sample(Standing::Failed, RunQuantity::Rate, RunAmount::Open);
        assert_eq!((full.value, full.outcome), (None, Outcome::Error));
        let without_success = sample(Standing::Whole, RunQuantity::Rate, RunAmount::Open);
        assert_eq!((without_success.value, without_success.outcome), (None, Outcome::Error));
        let median = RunAmount::Known(2_500_000.0);
        let (_, series, sample) = remembered(&record, &values(Standing::Whole, RunQuantity::Median, median));
        assert_eq!((sample.value, series.unit.as_str()), (Some(0.0025), ""));
        let mut precreated = values(Standing::Whole, RunQuantity::Rate, RunAmount::Known(5.0));
        precreated.cells[0].cell.phase = Some(Phase::Precreate);
        assert_eq!(records_of_values(&record, &precreated), []);
        let none = RunValues {
            standing: Standing::BrokenOff,
            cells: Vec::new(),
            caches: None,
            felt: Vec::new(),
            are_clones: None,
            step: 0.0,
        };
        assert_eq!(records_of_values(&record, &none), []);
        let without_clock = RunRecord { anchors: Vec::new(), ..record.clone() };
        assert_eq!(
            records_of_values(&without_clock, &values(Standing::Whole, RunQuantity::Rate, median)),
            []
        );
    }
}
