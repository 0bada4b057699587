//! The samples of a history as a table for other programs.

use std::fs::File;
use std::io::{self, Write};

use iolag_model::{
    BatchId, FailureCode, HistoryRecord, HistorySample, Nanoseconds, Outcome, ProbeId, Series, SeriesKey,
    SeriesKind, Surroundings, WallSpan, WallTime,
};
use iolag_store::history::{Access, History, HistoryError, TableForm, open_history, write_samples};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

fn key(task: &str) -> SeriesKey {
    let [host, target] = ["login1", "/home, \"old\""].map(str::to_owned);
    SeriesKey { host, target, task: task.to_owned(), part: String::new() }
}

fn sample(task: &str, second: i64, milliseconds: u64, outcome: Outcome) -> HistorySample {
    HistorySample {
        intended: WallTime::from_seconds(1_700_000_000 + second),
        ..HistorySample::new(
            key(task),
            ProbeId(u64::MAX - second as u64),
            WallTime(1_700_000_000_000_000_007 + second * 1_000_000_000),
            Nanoseconds::from_milliseconds(milliseconds),
            outcome,
        )
    }
}

fn series(task: &str, kind: SeriesKind, unit: &str) -> HistoryRecord {
    HistoryRecord::Series(Series {
        key: key(task),
        kind,
        resolution_ns: Nanoseconds::from_milliseconds(10),
        period_ns: Nanoseconds::ZERO,
        deadline_ns: Nanoseconds::from_seconds(60),
        description: String::new(),
        unit: unit.to_owned(),
        described: WallTime(1),
    })
}

fn history(more: impl IntoIterator<Item = HistoryRecord>) -> (tempfile::TempDir, Box<dyn History>) {
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let place = directory.path().join("history.sqlite").display().to_string();
    let mut history = open_history(&place, Access::Create).expect("a history can be made there");
    let failed = HistorySample {
        failure: FailureCode::EXIT,
        exit_status: Some(2),
        surroundings: Some(Surroundings { load_milli: [1500, 0, 0], ..Surroundings::default() }),
        ..sample("list", 2, 30, Outcome::Error)
    };
    let skipped = HistorySample { blocker: Some(ProbeId(7)), ..sample("list", 4, 0, Outcome::Skipped) };
    let jobs = HistorySample { value: Some(0.1), ..sample("jobs", 0, 0, Outcome::Ok) };
    let mut records = vec![
        series("list", SeriesKind::Task, ""),
        series("jobs", SeriesKind::ImportedValue, "jobs"),
        HistoryRecord::Sample(jobs),
        HistoryRecord::Sample(sample("list", 0, 12, Outcome::Ok)),
        HistoryRecord::Sample(sample("list", 1, 0, Outcome::Ok)),
        HistoryRecord::Sample(failed),
        HistoryRecord::Sample(sample("list", 3, 60_000, Outcome::Hung)),
        HistoryRecord::Sample(skipped),
    ];
    records.extend(more);
    history.append(&records).expect("it takes records");
    (directory, history)
}

#[test]
fn what_a_later_import_replaced_is_in_no_table() {
    let replacing = HistorySample { batch: Some(BatchId(1)), ..sample("list", 0, 7, Outcome::Ok) };
    let (_directory, mut history) = history([HistoryRecord::Sample(replacing)]);
    let mut table = Vec::new();
    assert_eq!(write_samples(history.as_mut(), WallSpan::ALL, TableForm::Csv, &mut table).unwrap(), 6);
    let text = String::from_utf8(table).unwrap();
    assert!(text.contains(",7000000,") && !text.contains(",12000000,"), "{text}");
}

#[test]
fn a_line_tells_time_to_the_nanosecond_and_what_its_duration_is_of_the_true_one() {
    let (_directory, mut history) = history([]);
    let mut table = Vec::new();
    let count = write_samples(history.as_mut(), WallSpan::ALL, TableForm::Csv, &mut table).unwrap();
    assert_eq!(count, 6);
    let mut reader = csv::Reader::from_reader(table.as_slice());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let of = |row: usize, name: &str| {
        rows[row].get(header.iter().position(|one| one == name).unwrap()).unwrap().to_owned()
    };
    let shown: Vec<String> = (0..6)
        .map(|row| ["task", "duration_ns", "duration_is", "outcome"].map(|name| of(row, name)).join(" "))
        .collect();
    assert_eq!(
        shown,
        [
            "jobs   ok",
            "list 12000000 exactly ok",
            "list 0 at-most ok",
            "list 30000000 exactly error",
            "list 60000000000 at-least hung",
            "list   skipped",
        ]
    );
    assert_eq!([of(0, "value"), of(0, "value_unit")], ["0.1", "jobs"]);
    assert_eq!(of(1, "target"), "/home, \"old\"");
    assert_eq!(
        [of(1, "intended_utc"), of(1, "intended_ns")],
        ["2023-11-14T22:13:20.000000000Z", "1700000000000000000"]
    );
    assert_eq!(
        [of(1, "start_utc"), of(1, "start_ns")],
        ["2023-11-14T22:13:20.000000007Z", "1700000000000000007"]
    );
    assert_eq!([of(1, "probe"), of(1, "resolution_ns"), of(1, "period_ns")], ["-1", "10000000", ""]);
    assert_eq!([of(3, "exit_status"), of(3, "load_1min_milli"), of(3, "stalled_cpu_us")], ["2", "1500", ""]);
    assert!(!of(3, "failure").is_empty() && of(1, "failure").is_empty());
    assert_eq!(of(5, "blocker"), "7");
}

#[test]
fn parquet_holds_the_same_over_many_row_groups() {
    let many = (10..70_010).map(|second| HistoryRecord::Sample(sample("list", second, 11, Outcome::Ok)));
    let (directory, mut history) = history(many);
    let path = directory.path().join("samples.parquet");
    let file = File::create(&path).unwrap();
    let count = write_samples(history.as_mut(), WallSpan::ALL, TableForm::Parquet, file).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let metadata = reader.metadata();
    assert!(metadata.num_row_groups() > 2, "one group of all rows would be as large as the history");
    assert_eq!((count, metadata.file_metadata().num_rows()), (70_006, 70_006));

    let mut table = Vec::new();
    write_samples(history.as_mut(), WallSpan::ALL, TableForm::Csv, &mut table).unwrap();
    let mut lines = csv::Reader::from_reader(table.as_slice());
    let header = lines.headers().unwrap().clone();
    let schema = metadata.file_metadata().schema_descr();
    assert_eq!(
        schema.columns().iter().map(|one| one.name()).collect::<Vec<_>>(),
        header.iter().collect::<Vec<_>>()
    );
    for (row, line) in reader.get_row_iter(None).unwrap().zip(lines.records()) {
        let (row, line) = (row.unwrap(), line.unwrap());
        for (index, cell) in line.iter().enumerate() {
            let same = row
                .get_string(index)
                .cloned()
                .or_else(|_| row.get_long(index).map(|number| number.to_string()))
                .or_else(|_| row.get_double(index).map(|number| number.to_string()))
                .unwrap_or_default();
            assert_eq!(same, cell, "{}", &header[index]);
        }
    }
}

/// Takes a little, then has no room.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_without_room_is_told_as_that() {
    let (_directory, mut history) = history([]);
    for form in [TableForm::Csv, TableForm::Parquet] {
        let error = write_samples(history.as_mut(), WallSpan::ALL, form, Full(100)).unwrap_err();
        assert!(
            matches!(&error, HistoryError::Sink { source } if source.kind() == io::ErrorKind::StorageFull),
            "{error:?}"
        );
    }
}
