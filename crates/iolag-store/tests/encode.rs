//! What goes into the spool comes out of the parts: superseded, by target, and nothing else changed.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use iolag_model::{
    Anchor, AttemptId, Calibration, ClientId, ClockOffset, Column, Detail, DetailKind, Environment,
    FailureCode, HostIndex, HostRecord, MonotonicTime, Nanoseconds, Operation, Outcome, PartRecord, RunId,
    RunRecord, RunState, Sample, SampleColumns, StageIndex, TargetIndex,
};
use iolag_store::{Encoded, RunDirectory, Sink, SpoolNumber, SpoolWriter, Store, StoredSample, TextForm};
use proptest::prelude::*;
use support::{Client, record, run_id};

fn finish(store: &Store, targets: u16, clients: u32, rings: &[Vec<Sample>]) -> (RunDirectory, Encoded) {
    finish_as(record(&run_id(7), targets, clients), store, rings)
}

fn finish_as(mut record: RunRecord, store: &Store, rings: &[Vec<Sample>]) -> (RunDirectory, Encoded) {
    let run = store.create_run(&record).unwrap();
    let spool = run.create_spool().unwrap();
    for (number, samples) in rings.iter().enumerate() {
        let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(number as u32)).unwrap();
        for chunk in samples.chunks(700) {
            writer.append(chunk).unwrap();
        }
    }
    record.state = RunState::Complete;
    let encoded = run.finish(&mut record, &spool).unwrap();
    assert_eq!(run.record().unwrap(), record);
    (run, encoded)
}

fn stored(run: &RunDirectory) -> Vec<StoredSample> {
    run.samples().unwrap().map(Result::unwrap).collect()
}

#[derive(Default)]
struct Collected {
    rows: Vec<(i64, i32, i32, i64)>,
}

impl Sink for Collected {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        assert!(samples.stage.is_empty() && samples.bytes.is_empty());
        for (row, duration) in samples.duration_ns.iter().enumerate() {
            self.rows.push((
                samples.attempt[row],
                samples.client[row],
                samples.operation_code[row],
                *duration,
            ));
        }
    }

    fn merge(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }
}

#[test]
fn samples_go_to_their_target_in_order_and_scans_see_each_once() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    // Clients 0 and 1 work on target 0, 2 and 3 on target 1; ring 1 is shared by clients of both.
    let mut mixed = Vec::new();
    let (mut one, mut two) = (Client::new(1), Client::new(2));
    for _ in 0..3000 {
        mixed.push(one.next());
        mixed.push(two.next());
    }
    let rings = [Client::new(0).take(70_000), mixed, Client::new(3).take(10)];
    let (run, encoded) = finish(&store, 2, 2, &rings);
    assert_eq!(encoded.samples, 76_010);
    assert_eq!(
        encoded.parts.iter().map(|part| (part.file.as_str(), part.samples)).collect::<Vec<_>>(),
        [("samples-0-0.parquet", 73_000), ("samples-1-0.parquet", 3_010)]
    );
    let target_of = |sample: &Sample| (sample.attempt.client().0 / 2) as i32;
    let expected: Vec<StoredSample> = [0, 1]
        .into_iter()
        .flat_map(|target| {
            rings
                .iter()
                .flatten()
                .filter(move |sample| target_of(sample) == target)
                .map(move |sample| StoredSample { sample: *sample, target })
        })
        .collect();
    assert!(stored(&run) == expected);

    let columns = [Column::Attempt, Column::Client, Column::OperationCode, Column::DurationNs];
    let mut expected: Vec<_> = expected
        .iter()
        .map(|StoredSample { sample, .. }| {
            let client = sample.attempt.client().0 as i32;
            (sample.attempt.0 as i64, client, i32::from(sample.operation_code()), sample.duration.0 as i64)
        })
        .collect();
    expected.sort_unstable();
    for threads in [1, 3, 64] {
        let mut rows = run.scan(&columns, threads, Collected::default).unwrap().rows;
        rows.sort_unstable();
        assert!(rows == expected, "{threads} threads");
    }
}

#[test]
fn a_row_group_is_full_at_a_mebi_row_and_the_next_one_follows() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let samples = Client::new(0).take((1 << 20) + 17);
    let (run, encoded) = finish(&store, 1, 1, std::slice::from_ref(&samples));
    assert_eq!(encoded.parts.len(), 1);
    assert!(run.samples().unwrap().map(|stored| stored.unwrap().sample).eq(samples));
}

#[test]
fn an_end_in_another_ring_supersedes_hung_and_of_ages_the_greatest_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let sample = |sequence, outcome, duration_ns| {
        let attempt = AttemptId::new(ClientId(0), sequence);
        let start = MonotonicTime(1000);
        Sample::new(attempt, Operation::Stat, start, start, Nanoseconds(duration_ns))
            .with_outcome(outcome, FailureCode::NONE)
    };
    let rings = [
        vec![sample(1, Outcome::Late, 90), sample(2, Outcome::Hung, 50), sample(3, Outcome::Ok, 5)],
        vec![sample(1, Outcome::Hung, 60), sample(2, Outcome::Hung, 70), sample(2, Outcome::Hung, 60)],
    ];
    let (run, encoded) = finish(&store, 1, 1, &rings);
    assert_eq!((encoded.samples, encoded.superseded, encoded.still_hung), (3, 3, 1));
    let kept: Vec<_> = stored(&run)
        .iter()
        .map(|stored| (stored.sample.attempt.sequence(), stored.sample.outcome(), stored.sample.duration.0))
        .collect();
    assert_eq!(kept, [(3, Outcome::Ok, 5), (1, Outcome::Late, 90), (2, Outcome::Hung, 70)]);
}

#[test]
fn a_run_without_samples_has_no_parts_and_scans_to_nothing() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let (run, encoded) = finish(&store, 1, 1, &[Vec::new()]);
    assert!(encoded.parts.is_empty() && stored(&run).is_empty());
    assert!(run.details().unwrap().is_empty());
    assert!(run.scan(&[Column::Attempt], 4, Collected::default).unwrap().rows.is_empty());
}

#[test]
fn details_keep_their_text_and_order() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let mut record = record(&run_id(1), 1, 1);
    let run = store.create_run(&record).unwrap();
    let spool = run.create_spool().unwrap();
    let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(0)).unwrap();
    let detail = |number: u64| Detail {
        attempt: AttemptId::new(ClientId(number as u32 % 9), number),
        kind: if number.is_multiple_of(2) { DetailKind::Waiting } else { DetailKind::Message },
        text: format!("é\"{number}\n").repeat(number as usize % 40),
    };
    let details: Vec<_> = (0..70_000).map(detail).collect();
    writer.append_details(&details).unwrap();
    drop(writer);
    assert_eq!(run.finish(&mut record, &spool).unwrap().details, 70_000);
    assert!(run.details().unwrap() == details);
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let ids = (0_u32..4, 0_u64..40, prop::sample::select(Operation::ALL), 0_u8..6);
    let times = (any::<u64>(), any::<u64>(), any::<u64>(), prop_oneof![Just(0), Just(3901), any::<u64>()]);
    (ids, times, any::<(u16, u16)>(), 0_u16..5).prop_map(
        |((client, sequence, operation, outcome), (intended, start, duration, bytes), (code, tag), stage)| {
            let attempt = AttemptId::new(ClientId(client), sequence);
            let mut sample = Sample::new(
                attempt,
                operation,
                MonotonicTime(intended),
                MonotonicTime(start),
                Nanoseconds(duration),
            )
            .with_outcome(Outcome::try_from(outcome).unwrap(), FailureCode(code))
            .with_bytes(bytes)
            .in_stage(StageIndex(stage));
            sample.tag = tag;
            sample
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Against a model that keeps everything in memory: any values, any duplicates of hung attempts.
    #[test]
    fn parts_hold_what_a_simple_model_holds(rings in prop::collection::vec(prop::collection::vec(any_sample(), 0..120), 1..4)) {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path()).unwrap();
        let (run, encoded) = finish(&store, 2, 2, &rings);

        let all: Vec<Sample> = rings.concat();
        let was_hung = |attempt| all.iter().any(|sample| sample.attempt == attempt && sample.outcome() == Outcome::Hung);
        let mut expected: Vec<Sample> = all.iter().filter(|sample| !was_hung(sample.attempt)).copied().collect();
        let mut best: HashMap<AttemptId, Sample> = HashMap::new();
        for sample in all.iter().filter(|sample| was_hung(sample.attempt)) {
            let kept = best.entry(sample.attempt).or_insert(*sample);
            if sample.supersedes(kept) {
                *kept = *sample;
            }
        }
        expected.extend(best.values());
        let mut found: Vec<Sample> = stored(&run).into_iter().map(|stored| stored.sample).collect();
        let key = |sample: &Sample| sample.to_bytes();
        expected.sort_by_key(key);
        found.sort_by_key(key);
        prop_assert_eq!(encoded.samples, found.len() as u64);
        prop_assert_eq!(encoded.superseded as usize, all.len() - found.len());
        prop_assert_eq!(found, expected);
    }
}

#[derive(Default)]
struct Tags(Vec<i32>);

impl Sink for Tags {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.extend(samples.tag);
    }

    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

#[test]
fn tags_come_back_as_a_column_in_samples_and_in_exports() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let tags: Vec<u16> = (0..300).map(|number| number % 3 * 700).collect();
    let samples: Vec<Sample> =
        Client::new(0).take(300).iter().zip(&tags).map(|(sample, tag)| sample.with_tag(*tag)).collect();
    let (run, _) = finish(&store, 1, 1, &[samples]);
    let scanned = run.scan(&[Column::Tag], 1, Tags::default).unwrap();
    assert_eq!(scanned.0, tags.iter().map(|tag| i32::from(*tag)).collect::<Vec<_>>());
    assert!(stored(&run).iter().zip(&tags).all(|(stored, tag)| stored.sample.tag == *tag));
    let mut csv = Vec::new();
    run.export_text(TextForm::Csv, &mut csv, Path::new("-")).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let exported = csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned());
    assert!(exported.eq(tags.iter().map(u16::to_string)));
}

/// A run of two clients of each of two targets, every other one of them on a second host whose clock is 3 s ahead and gains.
fn on_two_hosts() -> RunRecord {
    let offset = |at_s, ahead_ns| ClockOffset {
        at: MonotonicTime::default().after(Nanoseconds::from_seconds(at_s)),
        ahead_ns,
        error_ns: Nanoseconds(40_000),
    };
    let mut record = record(&run_id(7), 2, 2);
    record
        .further_hosts
        .push(HostRecord::new("node2", vec![offset(900, 3_000_000_000), offset(1100, 3_000_010_000)]));
    for client in record.clients.iter_mut().filter(|client| client.client.0 % 2 == 1) {
        client.host = HostIndex(1);
    }
    record
}

#[test]
fn more_sizes_than_a_dictionary_holds_and_more_rows_than_a_group_come_back() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let mut samples = Client::new(0).take(140_000);
    samples.iter_mut().zip(0..).for_each(|(sample, at)| sample.bytes = at * 7);
    let (run, encoded) = finish(&store, 1, 1, std::slice::from_ref(&samples));
    assert_eq!(encoded.parts.len(), 1);
    assert!(stored(&run).iter().map(|stored| stored.sample).eq(samples));
}

#[test]
fn clients_of_two_hosts_have_parts_of_their_own_and_one_clock_when_read() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let mut rings: Vec<Vec<Sample>> = (0..4).map(|client| Client::new(client).take(2000)).collect();
    // Columns of one value, over more than a batch.
    rings[3] = Client::new(3).take(70_000);
    for sample in &mut rings[3] {
        (sample.intended, sample.start) =
            (MonotonicTime(1_000_000_000_000), MonotonicTime(1_000_000_000_000));
    }
    let (run, encoded) = finish_as(on_two_hosts(), &store, &rings);
    let parts: Vec<(&str, u16)> =
        encoded.parts.iter().map(|part| (part.file.as_str(), part.host.0)).collect();
    let names = ["samples-0-0.parquet", "samples-0-1.parquet", "samples-1-0.parquet", "samples-1-1.parquet"];
    assert_eq!(parts.iter().map(|(_, host)| *host).collect::<Vec<_>>(), [0, 1, 0, 1]);
    assert_eq!(HashSet::from_iter(parts.iter().map(|(file, _)| *file)), HashSet::from(names));
    let host = on_two_hosts().further_hosts.remove(0);
    for StoredSample { sample, target } in stored(&run) {
        let (client, sequence) = (sample.attempt.client().0, sample.attempt.sequence());
        let mut expected = rings[client as usize][sequence as usize];
        if client % 2 == 1 {
            expected.intended = host.to_first(expected.intended);
            expected.start = host.to_first(expected.start);
            assert!(sample.start.0 < 998_000_000_000, "{sample:?}");
        }
        assert_eq!((sample, target), (expected, client as i32 / 2));
    }
}

#[test]
fn a_part_of_a_host_that_is_not_there_is_damaged() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let (run, _) = finish_as(on_two_hosts(), &store, &[Client::new(1).take(10)]);
    let mut record = run.record().unwrap();
    record.further_hosts.clear();
    run.write_record(&record).unwrap();
    let error = run.samples().map(drop).unwrap_err().to_string();
    assert!(error.contains("samples-0-0.parquet is of host 1, which is not there"), "{error}");
}

/// What iolag 0.1.0 reads of run.json: it knows these fields only, and needs them.
#[derive(serde::Deserialize)]
struct RecordOf010 {
    id: RunId,
    environment: Environment,
    anchors: Vec<Anchor>,
    calibration: Calibration,
    clients: Vec<ClientOf010>,
    parts: Vec<PartOf010>,
}

#[derive(serde::Deserialize)]
struct ClientOf010 {
    client: ClientId,
    target: TargetIndex,
    rank: u32,
}

#[derive(serde::Deserialize)]
struct PartOf010 {
    file: String,
    samples: u64,
}

#[test]
fn an_older_iolag_reads_a_run_of_two_hosts_as_one_of_the_first() {
    let mut record = on_two_hosts();
    record.parts.push(PartRecord {
        file: "samples-0-0.parquet".to_owned(),
        samples: 9,
        footer_crc32: None,
        host: HostIndex(1),
    });
    let json = serde_json::to_string(&record).unwrap();
    let old: RecordOf010 = serde_json::from_str(&json).unwrap();
    assert_eq!((old.id, old.environment, old.anchors), (record.id, record.environment, record.anchors));
    assert_eq!(
        (old.calibration, old.parts[0].file.as_str(), old.parts[0].samples),
        (record.calibration, "samples-0-0.parquet", 9)
    );
    assert_eq!(
        (old.clients[3].client, old.clients[3].target, old.clients[3].rank),
        (ClientId(3), TargetIndex(1), 1)
    );
    let one = serde_json::to_string(&support::record(&run_id(7), 2, 2)).unwrap();
    assert!(!one.contains("host\":0") && !one.contains("further_hosts") && !one.contains("tags"), "{one}");
}
