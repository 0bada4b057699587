//! Texts that are not what strace writes any more: nothing panics, nothing is made up, and what comes of it is a trace like any other.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use iolag_model::Nanoseconds;
use iolag_trace::{
    About, Beginning, Ending, Reading, Sink, StraceReader, Summariser, Trace, TraceReader, TraceWriter,
    write_strace,
};
use proptest::prelude::*;

fn recorded() -> Vec<Vec<u8>> {
    let names = ["names-y", "names-raw", "names-r", "tasks-y", "tasks-raw", "tasks-stderr", "tasks-each"];
    let path = |name| format!("{}/tests/recorded/{name}.strace", env!("CARGO_MANIFEST_DIR"));
    names.iter().map(|name| std::fs::read(path(name)).unwrap()).collect()
}

fn read(text: &[u8], piece: usize) -> (Trace, Reading) {
    let mut reader = StraceReader::new(&Beginning::default(), Trace::default());
    text.chunks(piece).for_each(|piece| reader.feed(piece).unwrap());
    let (trace, tables, reading) = reader.finish().unwrap();
    (Trace { tables, ..trace }, reading)
}

/// Reads it in pieces of two sizes, writes it in both forms, and reads both again.
fn assert_usable(text: &[u8]) {
    let (trace, reading) = read(text, 4096);
    assert_eq!((&trace, reading), (&read(text, 7).0, reading), "pieces end anywhere");
    let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    assert!(reading.calls <= lines, "a call takes a line");
    assert_eq!(reading.calls, trace.calls.len() as u64);
    for call in &trace.calls {
        assert!((call.task.0 as usize) < trace.tables.tasks.len());
        assert!(call.path.is_none_or(|path| (path.0 as usize) < trace.tables.paths.len()));
    }
    let mut writer = TraceWriter::new(Vec::new(), &About::default()).unwrap();
    trace.calls.iter().for_each(|call| writer.call(call, &trace.tables).unwrap());
    trace.edges.iter().for_each(|edge| writer.edge(edge, &trace.tables).unwrap());
    let bytes = writer.finish(&trace.tables, &Ending::default()).unwrap();
    assert_eq!(TraceReader::new(&bytes[..]).unwrap().read_all().unwrap().1, trace);
    let mut again = Vec::new();
    write_strace(&trace, reading.began, &mut again).unwrap();
    read(&again, 4096);
}

/// What happens to a text.
#[derive(Debug, Clone)]
enum Mangle {
    /// A byte becomes another.
    Byte(usize, u8),
    /// A stretch is gone.
    Cut(usize, usize),
    /// A stretch comes twice.
    Repeat(usize, usize),
    /// A stretch goes elsewhere.
    Move(usize, usize, usize),
    /// Something is put between.
    Insert(usize, Vec<u8>),
}

fn any_mangle() -> impl Strategy<Value = Mangle> {
    let words: Vec<&'static [u8]> = vec![
        b" <unfinished ...>\n",
        b"<... read resumed>",
        b"+++ exited with 0 +++\n",
        b"strace: Process 5 attached\n",
        b"18446744073709551615",
        b"AT_FDCWD</",
        b"\"",
        b"(",
        b"\\",
        b"vfork( <unfinished ...>\n",
        b"+++ superseded by execve in pid 5 +++\n",
        b"% time\n",
        b"chdir(\"..\") = 0\n",
        b"dup2(3, 2147483647) = 2147483647\n",
        b"close_range(0, ~0U, CLOSE_RANGE_UNSHARE) = 0\n",
        b"clone(flags=CLONE_FILES|CLONE_FS|CLONE_THREAD) = 5\n",
        b"rename(\"/\", \"/x\") = 0\n",
        b"99:99:99 ",
    ];
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Mangle::Byte(at, byte)),
        (any::<usize>(), 1..300_usize).prop_map(|(at, length)| Mangle::Cut(at, length)),
        (any::<usize>(), 1..300_usize).prop_map(|(at, length)| Mangle::Repeat(at, length)),
        (any::<usize>(), 1..300_usize, any::<usize>())
            .prop_map(|(at, length, to)| Mangle::Move(at, length, to)),
        (any::<usize>(), proptest::sample::select(words))
            .prop_map(|(at, word)| Mangle::Insert(at, word.to_vec())),
        (any::<usize>(), proptest::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(at, bytes)| Mangle::Insert(at, bytes)),
    ]
}

fn mangle(text: &mut Vec<u8>, mangles: &[Mangle]) {
    for mangle in mangles {
        let place = |at: usize, text: &[u8]| at % (text.len() + 1);
        let stretch = |at: usize, length: usize, text: &[u8]| {
            let begin = place(at, text);
            begin..begin.saturating_add(length).min(text.len())
        };
        match mangle.clone() {
            Mangle::Byte(at, byte) if !text.is_empty() => {
                let at = at % text.len();
                text[at] = byte;
            }
            Mangle::Byte(..) => {}
            Mangle::Cut(at, length) => {
                text.drain(stretch(at, length, text));
            }
            Mangle::Repeat(at, length) => {
                let stretch = stretch(at, length, text);
                let (end, copy) = (stretch.end, text[stretch].to_vec());
                text.splice(end..end, copy);
            }
            Mangle::Move(at, length, to) => {
                let moved: Vec<u8> = text.drain(stretch(at, length, text)).collect();
                let to = place(to, text);
                text.splice(to..to, moved);
            }
            Mangle::Insert(at, bytes) => {
                let at = place(at, text);
                text.splice(at..at, bytes);
            }
        }
    }
}

#[test]
fn every_beginning_and_every_end_of_a_text() {
    for text in recorded() {
        for cut in (0..text.len()).step_by(97) {
            assert_usable(&text[..cut]);
            assert_usable(&text[cut..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn mangled_texts(which in 0..7_usize, mangles in proptest::collection::vec(any_mangle(), 1..12)) {
        let mut text = recorded().swap_remove(which);
        mangle(&mut text, &mangles);
        assert_usable(&text);
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        assert_usable(&bytes);
    }

    #[test]
    fn mixed_lines(seed: u64, count in 1..150_usize) {
        // Lines of all texts in any order: tasks, forks and ends that do not fit.
        let texts = recorded();
        let lines: Vec<&[u8]> = texts.iter().flat_map(|text| text.split_inclusive(|byte| *byte == b'\n')).collect();
        let mut state = seed;
        let mut text = Vec::new();
        for _ in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.extend_from_slice(lines[(state >> 33) as usize % lines.len()]);
        }
        assert_usable(&text);
    }
}

#[test]
fn times_that_cannot_be_are_no_reason_to_stop() {
    let text =
        "12 1.0 close(3) = 0 <18446744073.0>\n12 2.0 stat(\"/a\", 0x1) = 0 <18446744073.0>\n".repeat(3);
    let mut reader = StraceReader::new(&Beginning::default(), Summariser::new(Nanoseconds::ZERO));
    reader.feed(text.as_bytes()).unwrap();
    let (summariser, tables, _) = reader.finish().unwrap();
    let summary = summariser.finish(&tables);
    assert_eq!((summary.calls, summary.time.storage_ns), (6, Nanoseconds(u64::MAX)));
}
