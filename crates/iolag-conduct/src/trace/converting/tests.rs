use std::fs;

use super::*;

const LINE: &str = "7 1700000000.000100 openat(AT_FDCWD, \"/opt/secret/x\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>\n";

fn convert(files: &[(&str, &[u8])], anonymity: TraceAnonymity) -> Result<Vec<u8>, String> {
    let place = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| place.path().join(name)).collect();
    for (path, (_, content)) in paths.iter().zip(files) {
        fs::write(path, content).unwrap();
    }
    let shown = format!("{}/", place.path().display());
    convert_to_trace(&paths, anonymity, Vec::new()).map_err(|failure| failure.sentence.replace(&shown, ""))
}

fn calls_of(trace: &[u8]) -> usize {
    TraceReader::new(trace).unwrap().read_all().unwrap().1.calls.len()
}

#[test]
fn text_becomes_a_trace_and_a_trace_another_without_its_names() {
    let trace = convert(&[("a.strace", LINE.as_bytes())], TraceAnonymity::Named).unwrap();
    assert_eq!(calls_of(&trace), 1);
    let (about, content, ending) = TraceReader::new(&trace[..]).unwrap().read_all().unwrap();
    assert_eq!(content.tables.paths.path(iolag_trace::PathId(0)), b"/opt/secret/x");
    assert_eq!(ending.began_realtime_ns, Some(1_700_000_000_000_100_000));
    assert_eq!(about.anonymity, TraceAnonymity::Named);
    for source in [LINE.as_bytes(), &trace] {
        let other = convert(&[("a", source)], TraceAnonymity::Anonymised).unwrap();
        let (about, content, ending) = TraceReader::new(&other[..]).unwrap().read_all().unwrap();
        assert_eq!((about.anonymity, content.calls.len()), (TraceAnonymity::Anonymised, 1));
        let path = content.tables.paths.path(iolag_trace::PathId(0));
        assert!(path.len() == b"/opt/secret/x".len() && !path.ends_with(b"secret/x"), "{path:?}");
        assert_eq!(ending.began_realtime_ns, Some(1_700_000_000_000_100_000));
    }
}

#[test]
fn files_of_each_process_are_read_together() {
    let of = |number: u32, time: u32| {
        format!("1700000000.0000{time} openat(AT_FDCWD, \"/a\", O_RDONLY) = {number} <0.000001>\n")
    };
    let (one, two) = (of(3, 10), of(4, 20));
    let trace =
        convert(&[("t.12", one.as_bytes()), ("t.11", two.as_bytes())], TraceAnonymity::Named).unwrap();
    let (_, content, _) = TraceReader::new(&trace[..]).unwrap().read_all().unwrap();
    assert_eq!(content.calls.iter().map(|call| call.result).collect::<Vec<_>>(), [Some(3), Some(4)]);
    let refused = convert(&[("t.12", one.as_bytes()), ("other", two.as_bytes())], TraceAnonymity::Named);
    assert!(refused.unwrap_err().contains("that of other does not: name the others, or it alone"));
}

#[test]
fn what_is_no_text_of_strace_is_refused_with_its_file_and_line() {
    let said = |content: &[u8]| convert(&[("x", content)], TraceAnonymity::Named).unwrap_err();
    assert_eq!(said(b""), "x is empty: strace wrote nothing to it");
    assert_eq!(
        said(b"hello\nworld\n"),
        "x is no text of strace: none of its 2 lines is a system call, line 1 is \"hello\"; have it written with strace -f -ttt -T -y -o FILE"
    );
    assert_eq!(
        said(&[0x1f, 0x8b, 8]),
        "x is compressed: unpack it first, as in zcat x | iolag trace --from -"
    );
    let whole = convert(&[("x", LINE.as_bytes())], TraceAnonymity::Named).unwrap();
    let cut = said(&whole[..whole.len() - 3]);
    assert!(cut.starts_with("cannot take x: it ends after 1 call, before its end"), "{cut}");
    let two = convert(&[("x", &whole), ("y", LINE.as_bytes())], TraceAnonymity::Named).unwrap_err();
    assert_eq!(two, "x is a trace, and one trace cannot be joined with other files: name it alone");
    let missing = convert_to_trace(&[PathBuf::from("/nowhere/x")], TraceAnonymity::Named, Vec::new());
    assert_eq!(
        missing.unwrap_err().sentence,
        "cannot read /nowhere/x: No such file or directory (os error 2)"
    );
    let directory = convert_to_trace(&[PathBuf::from("/")], TraceAnonymity::Named, Vec::new());
    assert_eq!(directory.unwrap_err().sentence, "cannot read /: Is a directory (os error 21)");
}

#[test]
fn an_output_that_takes_nothing_is_blamed_itself() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(28))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("x");
    fs::write(&path, LINE).unwrap();
    let refused = convert_to_trace(&[path], TraceAnonymity::Named, Full).err().unwrap();
    assert_eq!(refused.sentence, "cannot write the trace: No space left on device (os error 28)");
}
