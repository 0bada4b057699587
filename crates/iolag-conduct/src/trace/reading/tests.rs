use iolag_model::{Nanoseconds, TraceCost, TracingCost};
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
