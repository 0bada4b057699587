use iolag_model::{RepeatedQuestion, SearchedDirectory, TraceProgram, TraceRepeats, TraceTime, TraceVain};

use super::*;

fn findings(summary: &TraceSummary) -> Vec<RunFinding> {
    super::findings(summary, &TraceAbout::default())
}

const MILLISECOND: Nanoseconds = Nanoseconds::from_milliseconds(1);

/// So many calls, a millisecond of storage each.
fn traced(calls: u64) -> TraceSummary {
    let time = TraceTime { storage_ns: Nanoseconds(calls * MILLISECOND.0), ..TraceTime::default() };
    TraceSummary { calls, time, ..TraceSummary::default() }
}

fn vain(paths: &[&str], calls_each: u64, looked_for: Option<&str>) -> TraceVain {
    let most = paths.iter().map(|path| VainDirectory {
        path: (*path).to_owned(),
        exists: looked_for.is_none(),
        looked_for: looked_for.map(str::to_owned),
        calls: calls_each,
        time_ns: Nanoseconds(calls_each * MILLISECOND.0),
    });
    let calls = calls_each * paths.len() as u64;
    TraceVain {
        directories: paths.len() as u64,
        calls,
        time_ns: Nanoseconds(calls * MILLISECOND.0),
        most: most.collect(),
    }
}

#[test]
fn what_is_asked_in_vain_comes_first_and_says_which_list_it_is() {
    let summary = TraceSummary { in_vain: vain(&["/a", "/b"], 40, Some("libm.so.6")), ..traced(100) };
    let found = findings(&summary);
    let [RunFinding { found: RunFound::AskedInVain(found), severity, .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((*severity, found.searched, found.are_there), (Severity::Serious, Searched::Libraries, false));
    assert_eq!(found.share.time_ns, Some(Nanoseconds(80 * MILLISECOND.0)));
    assert_eq!(found.examples, ["/a", "/b"]);
}

#[test]
fn what_is_only_on_the_way_is_no_example() {
    let in_vain = vain(&["/opt", "/opt/site", "/optional"], 40, Some("x"));
    let summary = TraceSummary { in_vain, ..traced(200) };
    let RunFound::AskedInVain(found) = &findings(&summary)[0].found else { panic!("it is told") };
    assert_eq!(
        (found.searched, &found.examples[..]),
        (Searched::Anything, &["/opt/site", "/optional"].map(str::to_owned)[..])
    );
}

#[test]
fn a_little_in_vain_is_nothing_to_tell() {
    let few = TraceSummary { in_vain: vain(&["/a"], 19, None), ..traced(30) };
    assert_eq!(findings(&few), []);
    let part = TraceSummary { in_vain: vain(&["/a"], 49, None), ..traced(1000) };
    assert_eq!(findings(&part), []);
    let more = TraceSummary { in_vain: vain(&["/a"], 50, None), ..traced(1000) };
    assert_eq!(findings(&more).len(), 1);
}

#[test]
fn a_few_slow_calls_in_vain_are_told_by_their_time() {
    let mut summary = TraceSummary { in_vain: vain(&["/a"], 20, None), ..traced(1000) };
    summary.in_vain.time_ns = Nanoseconds(600 * MILLISECOND.0);
    assert_eq!(findings(&summary)[0].severity, Severity::Serious);
    // Without durations nothing is known of time.
    summary.time.untimed = summary.calls;
    assert_eq!(findings(&summary), []);
}

fn search(found_in_first: u64) -> SearchPath {
    let directory = |path: &str, found| SearchedDirectory { path: path.to_owned(), asked: 20, found };
    SearchPath {
        directories: vec![directory("/one", found_in_first), directory("/two", 0), directory("/three", 20)],
        names: 20,
        examples: vec!["numpy.py".to_owned()],
        absent: 40 - found_in_first,
        absent_ns: Nanoseconds(40 * MILLISECOND.0),
    }
}

#[test]
fn a_search_path_is_told_unless_its_directories_are_told_already() {
    let mut summary = TraceSummary { search_paths: vec![search(0)], ..traced(100) };
    let found = findings(&summary);
    let [RunFinding { found: RunFound::SearchedInVain(found), .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!((found.directories, found.share.calls, found.searched), (2, 40, Searched::PythonModules));
    assert_eq!(found.examples, ["/one", "/two"]);
    summary.in_vain = vain(&["/one", "/two"], 20, None);
    let found = findings(&summary);
    let [RunFinding { found: RunFound::AskedInVain(found), .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.searched, Searched::PythonModules, "the search path says what was looked for");
}

#[test]
fn what_is_asked_again_is_told_without_what_was_in_vain() {
    let question =
        |path: &str, asked| RepeatedQuestion { name: "stat".to_owned(), path: path.to_owned(), asked };
    let repeats = TraceRepeats {
        questions: 10,
        repeats: 60,
        own_repeats: 60,
        time_ns: Nanoseconds(60 * MILLISECOND.0),
        most: vec![question("/vain/x", 40), question("/etc/passwd", 20)],
    };
    let summary =
        TraceSummary { repeats: repeats.clone(), in_vain: vain(&["/vain"], 30, None), ..traced(100) };
    let found = findings(&summary);
    let RunFound::AskedAgain(again) = &found[1].found else { panic!("{found:?}") };
    assert_eq!((again.share.calls, again.most.path.as_str()), (30, "/etc/passwd"));
    let summary = TraceSummary { repeats, in_vain: vain(&["/vain"], 60, None), ..traced(100) };
    assert_eq!(findings(&summary).len(), 1, "all of it was in vain");
}

#[test]
fn a_long_call_is_one_on_storage() {
    let call = |path: &str, milliseconds| TraceCall {
        name: "openat".to_owned(),
        path: Some(path.to_owned()),
        duration_ns: Nanoseconds::from_milliseconds(milliseconds),
        ..TraceCall::default()
    };
    let slowest = vec![call("/dev/tty", 5000), call("/data/x", 300), call("/data/y", 200)];
    let mut summary = TraceSummary { slowest, ..traced(1000) };
    let found = findings(&summary);
    let [RunFinding { found: RunFound::LongCall(long), severity: Severity::Warning, .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(long.call.path.as_deref(), Some("/data/x"));
    summary.slowest.remove(1);
    summary.slowest[1].duration_ns = Nanoseconds::from_milliseconds(99);
    assert_eq!(findings(&summary), []);
}

#[test]
fn python_that_asks_whether_its_directories_have_changed_is_told_of_its_path() {
    let program = TraceProgram { program: Some("/usr/bin/python3".to_owned()), ..TraceProgram::default() };
    let in_vain = vain(&["/site/one", "/site/two"], 40, None);
    let summary = TraceSummary { in_vain, programs: vec![program], ..traced(100) };
    let RunFound::AskedInVain(found) = &findings(&summary)[0].found else { panic!("it is told") };
    assert_eq!((found.searched, found.are_there), (Searched::PythonModules, true));
}
