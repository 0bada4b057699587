use iolag_model::{CaptureTime, TraceCost, TracingCost};
use iolag_trace::{Beginning, StraceReader, TraceWriter};

use super::*;

fn trace(text: &str, about: &TraceAbout) -> Vec<u8> {
    let writer = TraceWriter::new(Vec::new(), about).unwrap();
    let mut reader = StraceReader::new(&Beginning::default(), writer);
    reader.feed(text.as_bytes()).unwrap();
    let (writer, tables, reading) = reader.finish().unwrap();
    writer.finish(&tables, &Ending::from(&reading)).unwrap()
}

const TWO: &str = "7 1700000000.000000 access(\"/a\", F_OK) = 0 <0.000010>\n7 1700000000.000100 access(\"/b\", F_OK) = 0 <0.000010>\n";

#[test]
fn what_tracing_cost_is_taken_from_gaps_and_not_from_calls() {
    let content = |cost| read_trace(&trace(TWO, &TraceAbout { cost, ..TraceAbout::default() })[..]).unwrap();
    let time = content(None).summary.time;
    assert_eq!((time.storage_ns.0, time.processor_ns.0), (20_000, 90_000));
    let cost = |median| TraceCost { median: Nanoseconds(median), ..TraceCost::default() };
    let cost = TracingCost { between_ns: cost(30_000), within_ns: cost(9_000) };
    let time = content(Some(cost)).summary.time;
    assert_eq!((time.storage_ns.0, time.processor_ns.0), (20_000, 60_000));
}

#[test]
fn what_is_cut_off_is_told_as_far_as_it_goes() {
    let whole = trace(TWO, &TraceAbout::default());
    assert_eq!(read_trace(&whole[..]).unwrap().trust, []);
    let content = read_trace(&whole[..whole.len() - 1]).unwrap();
    assert_eq!(content.summary.calls, 2);
    assert!(content.trust[0].doubt.starts_with("the trace is not whole: it ends after 2 calls"));
    assert!(read_trace(&b"something else"[..]).is_err());
}

#[test]
fn what_the_text_was_like_is_told() {
    let content =
        read_trace(&trace("hello\naccess(\"/a\", F_OK) = 0\n", &TraceAbout::default())[..]).unwrap();
    let doubts: Vec<&str> = content.trust.iter().map(|trust| trust.doubt.as_str()).collect();
    assert_eq!(
        doubts,
        ["1 line was not strace's, or not whole, and left out", "how long calls took is not known"]
    );
}

#[test]
fn processor_time_that_the_trace_has_no_room_for_is_doubted() {
    let doubted = |program: u64, processor: u64, storage: u64| {
        let time = |milliseconds| Nanoseconds::from_milliseconds(milliseconds);
        let processor_time = CaptureTime { program_ns: time(program), ..CaptureTime::default() };
        let ending = Ending { processor: Some(processor_time), ..Ending::default() };
        let mut summary = TraceSummary { calls: 9, ..TraceSummary::default() };
        (summary.time.processor_ns, summary.time.storage_ns) = (time(processor), time(storage));
        doubts(&ending, &summary).iter().any(|trust| trust.doubt.contains("of processor time"))
    };
    assert!(doubted(1600, 100, 10), "a thread that computes makes no calls");
    assert!(!doubted(1600, 100, 900), "the kernel worked in calls");
    assert!(!doubted(250, 30, 30), "as much may be tracing");
}
