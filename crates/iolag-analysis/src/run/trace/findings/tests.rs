use iolag_model::{RepeatedQuestion, SearchedDirectory, TraceProgram, TraceRepeats, TraceTime, TraceVain};

use super::*;
use crate::finding::of_runs::RunFindingKind;

fn findings(summary: &TraceSummary) -> Vec<RunFinding> {
    super::findings(summary, &TraceAbout::default(), &[])
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
        exists: Some(looked_for.is_none()),
        looked_for: looked_for.map(str::to_owned),
        names: 0,
        asked_most: Vec::new(),
        calls: calls_each,
        time_ns: Nanoseconds(calls_each * MILLISECOND.0),
    });
    let calls = calls_each * paths.len() as u64;
    TraceVain {
        directories: paths.len() as u64,
        of_loader: 0,
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
    assert_eq!((*severity, found.searched), (Severity::Serious, Searched::Libraries));
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
    let of_few = TraceSummary { in_vain: vain(&["/a"], 49, None), ..traced(300) };
    assert_eq!(findings(&of_few), [], "every Python asks so much in vain");
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
    assert_eq!(found.searched, Searched::PythonModules);
}

fn asked(name: &str, calls: u64) -> AbsentName {
    AbsentName { name: name.to_owned(), calls }
}

#[test]
fn the_same_few_names_again_and_again_are_told_as_that() {
    let mut in_vain = vain(&["/etc/app", "/home/me"], 50, Some("site.cfg"));
    in_vain.most[0].asked_most = vec![asked("site.cfg", 48), asked("other", 2)];
    let same = |in_vain: &TraceVain| {
        let summary = TraceSummary { in_vain: in_vain.clone(), ..traced(200) };
        let RunFound::AskedInVain(found) = &findings(&summary)[0].found else { panic!("it is told") };
        found.same.clone()
    };
    assert_eq!(same(&in_vain), [], "half of the calls are about something else");
    in_vain.most[1].asked_most = vec![asked("site.cfg", 5)];
    assert_eq!(same(&in_vain), [asked("/etc/app/site.cfg", 48), asked("/home/me/site.cfg", 5)]);
    // Whoever knows which list it is knows better.
    in_vain.most[0].looked_for = Some("libm.so.6".to_owned());
    in_vain.most[1].looked_for = Some("libm.so.6".to_owned());
    assert_eq!(same(&in_vain), []);
    // A name in each of many directories is looked for along a list.
    let mut list = vain(&["/a", "/b", "/c", "/d", "/e"], 20, Some("x"));
    list.most.iter_mut().for_each(|directory| directory.asked_most = vec![asked("x", 20)]);
    assert_eq!(same(&list), []);
}

#[test]
fn many_names_in_one_directory_are_no_list() {
    let mut in_vain = vain(&["/opt/one", "/opt/two"], 50, Some("x"));
    (in_vain.most[0].names, in_vain.most[0].calls, in_vain.most[1].calls) = (60, 70, 30);
    let one = |in_vain: &TraceVain| {
        let summary = TraceSummary { in_vain: in_vain.clone(), ..traced(200) };
        let RunFound::AskedInVain(found) = &findings(&summary)[0].found else { panic!("it is told") };
        found.one.clone()
    };
    assert_eq!(one(&in_vain), Some(("/opt/one".to_owned(), 60)));
    in_vain.most[0].looked_for = Some("x.py".to_owned());
    assert_eq!(one(&in_vain), None, "it is known what was looked for");
    in_vain.most[0].looked_for = Some("x".to_owned());
    in_vain.most[0].calls = 50;
    assert_eq!(one(&in_vain), None, "the other has as many");
}

#[test]
fn what_the_loader_looks_for_is_no_directory_of_the_list() {
    let mut in_vain =
        vain(&["/opt/one/tls", "/opt/one", "/opt/two", "/opt/two/tls/haswell"], 20, Some("libm.so.6"));
    in_vain.of_loader = 2;
    let summary = TraceSummary { in_vain, ..traced(100) };
    let RunFound::AskedInVain(found) = &findings(&summary)[0].found else { panic!("it is told") };
    assert_eq!((found.directories, found.of_loader), (4, 2));
    assert_eq!(found.examples, ["/opt/one", "/opt/two"]);
}

#[test]
fn a_list_of_which_only_some_directories_are_kept_is_told_once() {
    let mut path = search(0);
    path.examples = vec!["libm.so.6".to_owned()];
    let mut in_vain = vain(&["/one"], 40, Some("libm.so.6"));
    let summary = TraceSummary { search_paths: vec![path], in_vain: in_vain.clone(), ..traced(100) };
    assert_eq!(findings(&summary).len(), 2, "the other directory is in no list");
    in_vain.directories = 2;
    assert_eq!(findings(&TraceSummary { in_vain, ..summary }).len(), 1);
}

#[test]
fn the_list_whose_directories_were_counted_is_told_instead_of_what_names_say() {
    let list = |variable: &str, in_vain, calls| TraceList {
        variable: variable.to_owned(),
        directories: 200,
        in_vain,
        calls,
        tasks_ns: Nanoseconds(calls * MILLISECOND.0),
    };
    let all =
        |summary: &TraceSummary, asked: &[TraceList]| super::findings(summary, &TraceAbout::default(), asked);
    let kinds = |summary: &TraceSummary, asked: &[TraceList]| {
        all(summary, asked).iter().map(RunFinding::kind).collect::<Vec<_>>()
    };
    let summary = TraceSummary { in_vain: vain(&["/opt/site"], 60, Some("x")), ..traced(100) };
    let asked = [list("PATH", 10, 1), list("PYTHONPATH", 200, 60)];
    assert_eq!(kinds(&summary, &asked), [RunFindingKind::ListedInVain]);
    // Where a directory has other things nothing else tells it.
    assert_eq!(kinds(&traced(100), &asked), [RunFindingKind::ListedInVain]);
    // A list that is not too long.
    assert_eq!(kinds(&summary, &[list("PATH", 2, 60)]), [RunFindingKind::AskedInVain]);
    let short = [list("PATH", 2, 90), list("PYTHONPATH", 200, 60)];
    assert_eq!(kinds(&summary, &short), [RunFindingKind::ListedInVain], "another is");
    let libraries = TraceSummary { in_vain: vain(&["/a", "/b", "/c"], 40, Some("libm.so.6")), ..traced(200) };
    assert_eq!(kinds(&libraries, &[list("LD_LIBRARY_PATH", 3, 50)]), [RunFindingKind::ListedInVain]);
    // Most is about something else.
    assert_eq!(
        kinds(&libraries, &[list("PATH", 3, 50)]),
        [RunFindingKind::AskedInVain, RunFindingKind::ListedInVain]
    );
    assert_eq!(kinds(&libraries, &[list("PATH", 3, 60)]), [RunFindingKind::ListedInVain]);
    // Which of them it is nobody knows.
    let found = all(&summary, &[list("A_PATH", 9, 60), list("B_PATH", 9, 60), list("PATH", 9, 50)]);
    let RunFound::ListedInVain(found) = &found[0].found else { panic!("it is told") };
    assert_eq!((found.list.variable.as_str(), &found.alike[..]), ("A_PATH", &["B_PATH".to_owned()][..]));
}
