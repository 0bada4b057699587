//! Records as lines: what is taken, what is refused, and with which words.

use iolag_model::{FailureCode, HistoryRecord, Outcome, WallSpan, WallTime};
use iolag_store::history::{
    Access, History, HistoryError, LastLine, SqliteHistory, merge_records, read_records,
};
use proptest::prelude::*;

use crate::arbitrary::{any_record, event};
use crate::opened::content;

fn line(id: &str) -> String {
    serde_json::to_string(&HistoryRecord::Event(event(id, WallTime(1)))).unwrap()
}

fn read(text: &[u8]) -> (Vec<HistoryRecord>, Result<LastLine, HistoryError>) {
    let mut records = Vec::new();
    let end = read_records(&mut &text[..], "login1.jsonl", |record| {
        records.push(record);
        Ok(())
    });
    (records, end)
}

#[test]
fn empty_lines_are_skipped_and_a_last_line_needs_no_end() {
    let text = format!("\n{}\r\n   \n{}", line("a"), line("b"));
    let (records, end) = read(text.as_bytes());
    assert_eq!((records.len(), end.unwrap()), (2, LastLine::Complete));
    assert_eq!(read(b"").1.unwrap(), LastLine::Complete);
}

#[test]
fn a_torn_last_line_is_told_and_the_rest_is_kept() {
    let whole = format!("{}\n{}", line("a"), line("b"));
    for cut in line("a").len() + 2..whole.len() {
        let (records, end) = read(&whole.as_bytes()[..cut]);
        assert_eq!((records.len(), end.unwrap()), (1, LastLine::Torn { line: 2 }), "cut at {cut}");
    }
}

#[test]
fn what_is_no_record_is_refused_with_its_line() {
    for (bad, expected) in [
        ("{\"record\":\"heat-map\",\"x\":1}", "line 2: this iolag knows no record of kind \"heat-map\""),
        ("{\"record\":\"event\",\"id\":1}", "line 2: it is no event record of this version"),
        ("[1,2]", "line 2: it is no record"),
        ("{\"record\":\"event", "line 2: it is no record"),
        ("time,value", "expected a line of `iolag export history`"),
    ] {
        let text = format!("{}\n{bad}\n{}\n", line("a"), line("b"));
        let (records, end) = read(text.as_bytes());
        let message = end.unwrap_err().to_string();
        assert_eq!(records.len(), 1, "what came before the bad line was given");
        assert!(message.starts_with("login1.jsonl, line 2: ") && message.contains(expected), "{message}");
    }
}

#[test]
fn what_an_older_iolag_broke_off_is_merged_under_its_present_name() {
    let old = |probe: u64, failure: u16| {
        format!(
            "{{\"record\":\"sample\",\"series\":{{\"host\":\"login1\",\"target\":\"/home\",\"task\":\"list\",\"part\":\"\"}},\
             \"probe\":{probe},\"intended\":{probe},\"start\":{probe},\"duration_ns\":7,\"outcome\":\"timeout\",\"failure\":{failure}}}\n"
        )
    };
    let directory = tempfile::tempdir().unwrap();
    let mut history = SqliteHistory::open(&directory.path().join("history"), Access::Create).unwrap();
    let text = old(1, FailureCode::ABANDONED.0) + &old(2, 0);
    merge_records(&mut history, &mut text.as_bytes(), "old.jsonl").unwrap();
    let key = history.series().unwrap()[0].key.clone();
    let columns = history.samples(&key, WallSpan::ALL).unwrap();
    assert_eq!(columns.outcome, [Outcome::Interrupted, Outcome::Timeout]);
    // Merging the old file again changes nothing back.
    assert_eq!(merge_records(&mut history, &mut text.as_bytes(), "old.jsonl").unwrap().appended.changed, 0);
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let text = "x".repeat((16 << 20) + 10);
    let message = read(text.as_bytes()).1.unwrap_err().to_string();
    assert!(message.contains("line 1: it is longer than 16777216 bytes"), "{message}");
}

#[test]
fn a_merge_keeps_what_is_before_a_bad_line_and_the_mended_file_completes_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut history = SqliteHistory::open(&directory.path().join("history"), Access::Create).unwrap();
    let lines: Vec<_> = (0..6000).map(|number| line(&format!("{number:05}"))).collect();
    let bad = format!("{}\nbad\n{}\n", lines[..5500].join("\n"), lines[5500..].join("\n"));
    let error = merge_records(&mut history, &mut bad.as_bytes(), "export").unwrap_err();
    assert!(error.to_string().contains("line 5501"), "{error}");
    assert_eq!(content(&mut history).len(), 5500);
    let merged = merge_records(&mut history, &mut lines.join("\n").as_bytes(), "export").unwrap();
    assert_eq!((merged.appended.records, merged.appended.changed), (6000, 500));
    assert_eq!((merged.last_line, history.events(WallSpan::ALL).unwrap().len()), (LastLine::Complete, 6000));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    #[test]
    fn a_damaged_export_never_gives_more_than_was_in_it(
        records in proptest::collection::vec(any_record(), 1..6), at in any::<proptest::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut text = Vec::new();
        for record in &records {
            serde_json::to_writer(&mut text, record).unwrap();
            text.push(b'\n');
        }
        let at = at.index(text.len());
        text[at] = byte;
        let (read, _) = read(&text);
        // One byte makes at most one line two.
        prop_assert!(read.len() <= records.len() + 1);
    }
}
