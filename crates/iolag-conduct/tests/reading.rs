//! How often the samples of a run are read.

#[path = "../../iolag-store/tests/support/mod.rs"]
mod support;

use iolag_analysis::figure::FigureChoice;
use iolag_conduct::{summarise, summarise_with_figures};
use iolag_model::{Anchor, MonotonicTime, RunState};
use iolag_store::{SpoolNumber, SpoolWriter, Store};
use support::{Client, record, run_id};

/// Bytes beside those of the parts: run.json, and what tells how many threads may run.
const BESIDE_BYTES: u64 = 64 << 10;

/// Bytes that this process has read: there is one test in this program.
fn bytes_read() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").expect("it is there");
    let read = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.and_then(|bytes| bytes.parse().ok()).expect("the kernel counts what is read")
}

#[test]
fn figures_cost_no_reading_of_their_own_even_of_a_run_without_a_last_anchor() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::open(place.path()).unwrap();
    let mut record = record(&run_id(1), 2, 2);
    let run = store.create_run(&record).unwrap();
    let spool = run.create_spool().unwrap();
    for client in 0..4 {
        let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(client)).unwrap();
        writer.append(&Client::new(client).take(100_000)).unwrap();
        writer.finish().unwrap();
    }
    record.state = RunState::Complete;
    run.finish(&mut record, &spool).unwrap();
    let size = |part: &str| std::fs::metadata(run.path().join(part)).unwrap().len();
    let stored: u64 = record.parts.iter().map(|part| size(&part.file)).sum();
    assert!(stored > 16 * BESIDE_BYTES, "{stored} bytes are too few to tell");

    let mut anchored = record.clone();
    anchored.anchors.push(Anchor { monotonic_ns: MonotonicTime(9_000_000_000), ..record.anchors[0] });
    for record in [record, anchored] {
        let begin = bytes_read();
        let summaries = summarise(&run, &record).unwrap();
        let plain = bytes_read() - begin;
        let (same, figures) = summarise_with_figures(&run, &record, &FigureChoice::default()).unwrap();
        let with_figures = bytes_read() - begin - plain;
        assert_eq!((figures.counts.taken, &same), (summaries.samples, &summaries));
        assert!(plain <= 2 * stored + BESIDE_BYTES, "{plain} bytes of {stored}");
        assert!(with_figures <= plain + BESIDE_BYTES, "{with_figures} bytes, {plain} without figures");
    }
}
