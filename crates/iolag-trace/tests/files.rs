//! Files: what is written is read again, whatever it is; what was cut, damaged or never was a trace is told in a sentence.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use iolag_model::Nanoseconds;
use iolag_trace::{
    About, Anonymiser, Anonymity, Beginning, Call, Edge, EdgeKind, Ended, Ending, Piece, Sharing, Sink,
    StraceReader, Task, TaskId, Trace, TraceFileError, TraceReader, TraceWriter, anonymous,
};
use proptest::prelude::*;

fn recorded(name: &str) -> Trace {
    let path = format!("{}/tests/recorded/{name}.strace", env!("CARGO_MANIFEST_DIR"));
    let beginning = Beginning { directory: Some(b"/tmp/traced/site".to_vec()), ..Beginning::default() };
    let mut reader = StraceReader::new(&beginning, Trace::default());
    reader.feed(&std::fs::read(path).unwrap()).unwrap();
    let (trace, tables, _) = reader.finish().unwrap();
    Trace { tables, ..trace }
}

fn written(trace: &Trace) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new(), &About::default()).unwrap();
    trace.calls.iter().for_each(|call| writer.call(call, &trace.tables).unwrap());
    trace.edges.iter().for_each(|edge| writer.edge(edge, &trace.tables).unwrap());
    writer.finish(&trace.tables, &Ending::default()).unwrap()
}

fn read(bytes: &[u8]) -> Result<Trace, TraceFileError> {
    TraceReader::new(bytes)?.read_all().map(|(_, trace, _)| trace)
}

/// Reads as far as possible: the number of calls, and what ended it.
fn read_on(bytes: &[u8]) -> (usize, Option<TraceFileError>) {
    let mut reader = match TraceReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return (0, Some(error)),
    };
    let mut calls = 0;
    loop {
        match reader.piece() {
            Ok(Some(Piece::Calls(more))) => calls += more.len(),
            Ok(Some(Piece::Edges(_))) => {}
            Ok(None) => return (calls, None),
            Err(error) => return (calls, Some(error)),
        }
    }
}

#[test]
fn recorded_traces_are_read_again() {
    for name in ["names-y", "names-raw", "tasks-raw", "script-y"] {
        let trace = recorded(name);
        let bytes = written(&trace);
        assert_eq!(read(&bytes).unwrap(), trace, "{name}");
        let path = format!("{}/tests/recorded/{name}.strace", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::metadata(path).unwrap().len();
        assert!((bytes.len() as u64) * 3 < text, "{name}: {} bytes of {text}", bytes.len());
    }
}

#[test]
fn what_is_known_at_the_end_of_a_text_is_at_the_end_of_the_file() {
    let text = b"1 1700000000.5 access(\"/a\", R_OK) = 0\n1 1700000001.0 read(0,  <unfinished ...>\nhello\n";
    let writer = TraceWriter::new(Vec::new(), &About::default()).unwrap();
    let mut reader = StraceReader::new(&Beginning::default(), writer);
    reader.feed(text).unwrap();
    let (writer, tables, reading) = reader.finish().unwrap();
    let bytes = writer.finish(&tables, &Ending::from(&reading)).unwrap();
    let (_, trace, ending) = TraceReader::new(&bytes[..]).unwrap().read_all().unwrap();
    let expected = Ending {
        calls: 2,
        edges: 0,
        began_realtime_ns: Some(1_700_000_000_500_000_000),
        clock: "unix".to_owned(),
        unfinished: 1,
        foreign: 1,
        guessed: 0,
        ..Ending::default()
    };
    assert_eq!((ending, trace.calls.len()), (expected, 2));
}

#[test]
fn many_blocks_are_one_trace() {
    let one = recorded("script-raw");
    let mut trace = Trace { tables: one.tables.clone(), ..Trace::default() };
    for round in 0..90_u64 {
        for call in &one.calls {
            let path = format!("/round/{round}/{}", call.length);
            let path = call.path.map(|_| trace.tables.paths.number(path.as_bytes()));
            trace.calls.push(Call { path, start: Nanoseconds(call.start.0 + round * 1_000_000), ..*call });
        }
        trace.edges.extend(&one.edges);
    }
    let bytes = written(&trace);
    let mut reader = TraceReader::new(&bytes[..]).unwrap();
    let (mut calls, mut pieces) = (Vec::new(), 0);
    while let Some(piece) = reader.piece().unwrap() {
        pieces += 1;
        if let Piece::Calls(more) = piece {
            calls.extend(more);
        }
    }
    assert!(pieces >= 3, "{pieces} pieces");
    assert_eq!(calls, trace.calls);
    assert_eq!(reader.ending().unwrap().calls, trace.calls.len() as u64);
    let end = |bytes: &[u8]| read_on(bytes).0;
    assert!(
        (1..trace.calls.len()).contains(&end(&bytes[..bytes.len() * 2 / 3])),
        "whole blocks before a cut are read"
    );
}

#[test]
fn wherever_it_is_cut_a_sentence_says_so() {
    let bytes = written(&recorded("tasks-raw"));
    for end in 0..bytes.len() {
        match read(&bytes[..end]).unwrap_err() {
            TraceFileError::Foreign if end < 8 => {}
            TraceFileError::Cut { .. } if end >= 8 => {}
            other => panic!("cut at {end} of {}: {other}", bytes.len()),
        }
    }
    let cut = read_on(&bytes[..bytes.len() - 1]);
    assert!(cut.0 > 0);
    let sentence = cut.1.unwrap().to_string();
    let expected = format!(
        "it ends after {} calls, before its end: whoever wrote it was ended, or it was not copied whole",
        cut.0
    );
    assert_eq!(sentence, expected);
}

#[test]
fn an_anonymous_trace_is_the_same_without_its_names() {
    let trace = recorded("names-raw");
    let bytes = written(&trace);
    let mut reader = TraceReader::new(&bytes[..]).unwrap();
    let about = anonymous(reader.about());
    assert_eq!(about.anonymity, Anonymity::Anonymised);
    let mut anonymiser = Anonymiser::new(TraceWriter::new(Vec::new(), &about).unwrap());
    let ending = reader.read_into(&mut anonymiser).unwrap();
    let (writer, tables) = anonymiser.finish();
    let other = read(&writer.finish(&tables, &ending).unwrap()).unwrap();
    assert_eq!(
        (&other.calls, &other.edges, &other.tables.tasks),
        (&trace.calls, &trace.edges, &trace.tables.tasks)
    );
    assert_eq!(other.tables.names, trace.tables.names);
    let names = |path: &[u8]| path.split(|byte| *byte == b'/').map(<[u8]>::len).collect::<Vec<_>>();
    assert_eq!(other.tables.paths.len(), trace.tables.paths.len());
    for (path, other) in trace.tables.paths.iter().zip(other.tables.paths.iter()) {
        assert_eq!(names(path), names(other));
        for name in [&b"traced"[..], b"libc.so.6", b"comma, (bracket)"] {
            assert!(!other.windows(name.len()).any(|bytes| bytes == name), "{}", other.escape_ascii());
        }
    }
}

#[test]
fn foreign_and_newer_files_are_refused() {
    let sentence = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    let foreign = "it is no trace of iolag; text of strace is read with: iolag trace --from FILE";
    assert_eq!(sentence(b"12 close(3) = 0\n"), foreign);
    assert_eq!(sentence(b""), foreign);
    let mut newer = b"iolagtrc\x02\0\0\0".to_vec();
    // The CRC-32 of these bytes.
    newer.extend(crc(&newer).to_le_bytes());
    assert_eq!(
        sentence(&newer),
        "it has a newer format (2.0); this iolag reads up to 1.0: use a newer iolag"
    );
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc: u32, _| if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

#[test]
fn every_flipped_bit_is_found() {
    let bytes = written(&recorded("tasks-raw"));
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << (place % 8);
        let told = read(&damaged).unwrap_err().to_string();
        assert!(!told.contains('\n'), "{told}");
    }
}

fn any_call(tasks: u32, names: u16, paths: u32) -> impl Strategy<Value = Call> {
    let who = (0..tasks, 0..names, any::<u64>(), proptest::option::of(any::<u64>()));
    let what = (
        proptest::option::of(any::<i32>()),
        proptest::option::of(0..paths),
        proptest::option::of(0..paths),
        any::<u32>(),
        any::<u32>(),
    );
    let came =
        (proptest::option::of(any::<i64>()), any::<u16>(), proptest::option::of(any::<u64>()), any::<u64>());
    (who, what, came).prop_map(|((task, name, start, duration), what, (result, errno, offset, length))| {
        let (descriptor, path, second, flags, argument) = what;
        Call {
            start: Nanoseconds(start),
            duration: duration.map(Nanoseconds),
            task: TaskId(task),
            name: iolag_trace::CallName(name),
            descriptor,
            path: path.map(iolag_trace::PathId),
            second: second.map(iolag_trace::PathId),
            flags,
            argument,
            result,
            errno,
            offset,
            length,
        }
    })
}

fn any_edge(tasks: u32) -> impl Strategy<Value = Edge> {
    let kind = prop_oneof![
        (0..tasks).prop_map(|task| EdgeKind::Fork(TaskId(task))),
        (0..tasks).prop_map(|task| EdgeKind::Wait(TaskId(task))),
        Just(EdgeKind::Execute),
        Just(EdgeKind::ChangeView),
        any::<u8>().prop_map(|status| EdgeKind::Exit(Ended::Exited(status))),
        any::<u8>().prop_map(|signal| EdgeKind::Exit(Ended::Killed(signal))),
        Just(EdgeKind::Exit(Ended::Superseded)),
    ];
    (kind, 0..tasks, any::<u64>()).prop_map(|(kind, task, call)| Edge { kind, task: TaskId(task), call })
}

prop_compose! {
    fn any_trace()(
        paths in proptest::collection::hash_set(proptest::collection::vec(any::<u8>(), 0..40), 1..20),
        tasks in proptest::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 1..6),
    )(
        calls in proptest::collection::vec(any_call(tasks.len() as u32, 3, paths.len() as u32), 0..60),
        edges in proptest::collection::vec(any_edge(tasks.len() as u32), 0..20),
        paths in Just(paths),
        tasks in Just(tasks),
    ) -> Trace {
        let mut trace = Trace { calls, edges, ..Trace::default() };
        for name in ["openat", "read", "close"] {
            trace.tables.names.number(name.as_bytes());
        }
        paths.iter().for_each(|path| { trace.tables.paths.number(path); });
        for (place, (number, sharing, has_parent)) in (0_u32..).zip(tasks) {
            let parent = (has_parent && place > 0).then(|| TaskId(sharing % place));
            let process = TaskId(sharing % (place + 1));
            trace.tables.tasks.push(Task { number, parent, process, sharing: Sharing(sharing) });
        }
        trace
    }
}

proptest! {
    #[test]
    fn any_trace_is_read_again(trace in any_trace()) {
        prop_assert_eq!(read(&written(&trace)).unwrap(), trace);
    }

    /// With checksums that are right: what stands in the blocks is nonsense.
    #[test]
    fn nonsense_in_blocks_is_told(
        kind in 0_u8..9,
        count in prop_oneof![0_u32..20, any::<u32>()],
        plain in proptest::collection::vec(any::<u8>(), 0..200),
        trace in any_trace(),
    ) {
        let bytes = with_block(written(&trace), kind, count, &plain);
        let (calls, error) = read_on(&bytes);
        prop_assert!(calls >= trace.calls.len() || error.is_some());
    }
}

#[test]
fn blocks_that_only_a_newer_iolag_knows_are_skipped() {
    let trace = recorded("tasks-raw");
    let bytes = with_block(written(&trace), 77, 5, b"anything");
    assert_eq!(read(&bytes).unwrap(), trace);
    let bytes = with_block(written(&trace), 2, 1, b"\x04name");
    assert_eq!(read(&bytes).unwrap().tables.names.iter().last(), Some(&b"name"[..]));
    let told = read(&with_block(written(&trace), 2, 1, b"\x05name")).unwrap_err().to_string();
    assert_eq!(
        told,
        format!("it is damaged after {} calls: a block cannot be understood", trace.calls.len())
    );
}

/// A file with one more block before its last, whose checksums are right.
fn with_block(mut bytes: Vec<u8>, kind: u8, count: u32, plain: &[u8]) -> Vec<u8> {
    let end = bytes.len() - last_block(&bytes);
    let stored = zstd_stored(plain);
    let mut block = vec![kind, 0, 0, 0];
    block.extend((stored.len() as u32).to_le_bytes());
    block.extend((plain.len() as u32).to_le_bytes());
    block.extend(count.to_le_bytes());
    let check = crc(&[&block[..], &stored].concat());
    block.extend(check.to_le_bytes());
    block.extend(stored);
    bytes.splice(end..end, block);
    bytes
}

/// The length of the last block.
fn last_block(bytes: &[u8]) -> usize {
    let mut at = 16;
    loop {
        let stored = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        let next = at + 20 + stored;
        if next >= bytes.len() {
            return next - at;
        }
        at = next;
    }
}

/// A frame of zstd with one raw block, as RFC 8878 has it: no compressor is needed for bytes as they are.
fn zstd_stored(plain: &[u8]) -> Vec<u8> {
    // One segment whose size takes a byte.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, plain.len() as u8];
    let header = (plain.len() as u32) << 3 | 1;
    frame.extend(&header.to_le_bytes()[..3]);
    frame.extend(plain);
    frame
}
