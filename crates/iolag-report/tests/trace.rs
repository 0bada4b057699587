//! What a user reads of a trace: what to change stands in the first three lines.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fmt::Write;
use std::path::Path;

use iolag_analysis::figure::Figures;
use iolag_analysis::{RunAnalysis, TraceContent, analyse_trace};
use iolag_model::{
    Nanoseconds, OnError, OnHang, RunId, RunRecord, RunSpec, RunState, TraceAbout, TraceCost, TraceMount,
    TraceOrigin, TraceSpec, TracingCost, WorkloadSpec,
};
use iolag_report::{CheckRows, Colour, HtmlReport, ReportedRun, run_text, write_html, write_json};
use iolag_trace::{Beginning, Ending, StraceReader, Summariser};

fn record() -> RunRecord {
    let spec = RunSpec {
        workload: WorkloadSpec::Trace(TraceSpec::default()),
        targets: Vec::new(),
        clients: 0,
        deadline_ns: Nanoseconds::ZERO,
        deadlines: Vec::new(),
        on_hang: OnHang::Wait,
        on_error: OnError::Continue,
        seed: 0,
        ring_bytes: 0,
        caches: iolag_model::CacheState::Asis,
        drop_command: None,
        bystander: None,
    };
    RunRecord::new(RunId::new("20261120-185900", 1).unwrap(), spec, RunState::Complete)
}

fn analysed(text: &str, about: TraceAbout) -> RunAnalysis {
    let overhead = about.overhead();
    let mut reader = StraceReader::new(&Beginning::default(), Summariser::new(overhead));
    reader.feed(text.as_bytes()).unwrap();
    let (summariser, tables, reading) = reader.finish().unwrap();
    let (summary, ending) = (summariser.finish(&tables), Ending::from(&reading));
    let content = TraceContent { about, summary, ending, ..TraceContent::default() };
    RunAnalysis::Trace(analyse_trace(&record(), content))
}

fn text_of(analysis: &RunAnalysis) -> String {
    run_text(analysis, CheckRows::Known, 80, Colour::Never)
}

/// A line at so many microseconds, that took so many.
fn line(text: &mut String, at: &mut u64, call: &str, took: u64) {
    let (seconds, micros) = (*at / 1_000_000, *at % 1_000_000);
    writeln!(text, "7 17000{seconds:05}.{micros:06} {call} <0.{took:06}>").unwrap();
    *at += took + 20;
}

/// `import` of 12 modules by a Python with so many directories in front of those that have them: each is listed once, and then asked whether it has
/// changed.
fn slow_import(directories: u32) -> String {
    let (mut text, mut at) = (String::new(), 0);
    line(&mut text, &mut at, "execve(\"/usr/bin/python3\", [...], 0x1 /* 20 vars */) = 0", 500);
    for module in 0..12 {
        for directory in 0..directories {
            let stat = format!(
                "newfstatat(AT_FDCWD, \"/nfs/site/release{directory:03}/python\", {{st_mode=S_IFDIR|0755, st_size=4096, ...}}, 0) = 0"
            );
            line(&mut text, &mut at, &stat, 400);
            // Python keeps what is in it, and asks from then on only whether it has changed.
            if module == 0 {
                let list = format!(
                    "openat(AT_FDCWD, \"/nfs/site/release{directory:03}/python\", O_RDONLY|O_DIRECTORY) = 3"
                );
                line(&mut text, &mut at, &list, 400);
                line(&mut text, &mut at, "getdents64(3, 0x1 /* 2 entries */, 32768) = 48", 400);
                line(&mut text, &mut at, "close(3) = 0", 2);
            }
        }
        let stat =
            "newfstatat(AT_FDCWD, \"/usr/lib/python3\", {st_mode=S_IFDIR|0755, st_size=4096, ...}, 0) = 0";
        line(&mut text, &mut at, stat, 5);
        let open =
            format!("openat(AT_FDCWD, \"/usr/lib/python3/module{module}.py\", O_RDONLY|O_CLOEXEC) = 3");
        line(&mut text, &mut at, &open, 10);
        line(&mut text, &mut at, "read(3, 0x1, 4096) = 812", 4);
        line(&mut text, &mut at, "close(3) = 0", 2);
    }
    text
}

#[test]
fn the_first_three_lines_of_a_slow_import_say_what_to_change() {
    let mounts = [("/", "ext4"), ("/nfs", "nfs4")];
    let mounts = mounts.map(|(point, kind)| TraceMount {
        point: point.to_owned(),
        kind: kind.to_owned(),
        source: String::new(),
    });
    let cost = |median| TraceCost { median: Nanoseconds(median), ..TraceCost::default() };
    let about = TraceAbout {
        origin: TraceOrigin::Captured,
        program: Some("python3".to_owned()),
        cost: Some(TracingCost { between_ns: cost(18_000), within_ns: cost(9_000) }),
        lists: vec!["PATH".to_owned(), "PYTHONPATH".to_owned()],
        mounts: mounts.to_vec(),
        ..TraceAbout::default()
    };
    let text = text_of(&analysed(&slow_import(200), about));
    let head = text.lines().take(3).collect::<Vec<_>>().join(" ");
    assert!(head.contains("PYTHONPATH") && head.contains("200 directories"), "{head}");
    assert!(text.lines().nth(3) == Some(""), "the answer has three lines: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_page_and_json_have_the_same_answer() {
    let analysis = analysed(&slow_import(50), TraceAbout::default());
    let mut json = Vec::new();
    write_json(&record(), &analysis, &mut json).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let answer = document["answer"].as_str().unwrap();
    let text = text_of(&analysis).replace('\n', " ");
    assert!(text.starts_with(answer), "{answer}\n{text}");
    assert_eq!(document["summary"]["calls"], 1 + 12 * 54 + 50 * 3);
    assert_eq!(document["findings"][0]["kind"], "asked-in-vain");
}

#[test]
fn a_program_that_asks_well_is_told_so() {
    let text = text_of(&analysed(&slow_import(0), TraceAbout::default()));
    assert!(text.starts_with("Nothing in how it asks is worth a change"), "{text}");
}

#[test]
fn a_trace_without_calls_is_told_in_a_sentence() {
    assert!(text_of(&analysed("", TraceAbout::default())).starts_with("No call on files was seen.\n"));
}

#[test]
fn a_recorded_shell_script() {
    let recorded =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../iolag-trace/tests/recorded/script-y.strace");
    let text = std::fs::read_to_string(recorded).unwrap();
    let text = text_of(&analysed(&text, TraceAbout::default()));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_call_that_never_came_back_is_the_answer_whatever_else_there_is() {
    let mut text = slow_import(50);
    text += "7 1700000002.000000 openat(AT_FDCWD, \"/data/x\", O_RDONLY) = ?\n\
             7 1700000016.000000 +++ killed by SIGKILL +++\n";
    let text = text_of(&analysed(&text, TraceAbout::default()));
    assert!(
        text.starts_with(
            "Ask whether the storage answers: `iolag explain /data`. `openat` of /data/x had\n\
             not come back after 14.0 s when signal 9 ended the program.\n"
        ),
        "{text}"
    );
    assert!(text.contains("Findings") && text.contains("never back"), "{text}");
    assert!(!text.contains("One call, `openat`"), "it is told once: {text}");
}

/// The page without its data and script.
fn page_of(record: &RunRecord, analysis: &RunAnalysis) -> String {
    let runs = [ReportedRun { record, analysis }];
    let report = HtmlReport { title: None, runs: &runs, comparison: None, written_realtime_ns: None };
    let mut page = Vec::new();
    write_html(&report, Figures::new(Vec::new(), Vec::new()), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let (begin, end) = (page.find("<title>").unwrap(), page.find("<script type=").unwrap());
    page[begin..end].to_owned()
}

#[test]
fn the_page_is_about_the_program_and_its_tables_are_sorted_by_numbers() {
    let mut record = record();
    record.environment.host = "node1".to_owned();
    record.environment.kernel = "6.1".to_owned();
    let spec = TraceSpec { program: Some("python3".to_owned()), ..TraceSpec::default() };
    record.spec.workload = WorkloadSpec::Trace(spec);
    let page = page_of(&record, &analysed(&slow_import(50), TraceAbout::default()));
    assert!(page.contains("<title>What python3 asked of the file systems on node1</title>"), "{page}");
    assert!(
        page.contains("<dd>node1, 6.1</dd>") && !page.contains("processors"),
        "of a machine of which no more is known"
    );
    assert!(!page.contains("<h2>Figures</h2>"), "there are no attempts to draw");
    let table = &page[page.find("<caption>Directories, by the time").unwrap()..];
    assert!(table.contains("<td data-value=\"12\">12</td><td data-value=\"0\"></td>"), "{table}");
    assert!(table.contains("<td class=\"word path\">/nfs/site/release000</td>"), "{table}");
}

#[test]
fn the_page_has_directories_as_a_tree() {
    let page = page_of(&record(), &analysed(&slow_import(3), TraceAbout::default()));
    let tree = &page[page.find("<div class=\"tree\">").unwrap()..page.find("<h2>All numbers").unwrap()];
    insta::assert_snapshot!(tree);
}

#[test]
fn the_page_shows_what_was_done_when_as_far_as_times_are_known() {
    let page = page_of(&record(), &analysed(&slow_import(50), TraceAbout::default()));
    let section = &page[page.find("<h2>Over time</h2>").unwrap()..page.find("<h2>By directory").unwrap()];
    assert_eq!(section.matches("<svg ").count(), 1);
    assert!(
        section.contains("role=\"img\"") && section.contains("<title>What the program did over time</title>")
    );
    assert!(section.contains("aria-label=\"in storage (lowest)\""), "{section}");
    assert!(
        section.contains("<figcaption>Over ") && section.contains("most time in storage was spent"),
        "{section}"
    );
    let starts =
        "7 1700000000.000100 access(\"/a\", R_OK) = 0\n7 1700000000.000900 access(\"/b\", R_OK) = 0\n";
    let page = page_of(&record(), &analysed(starts, TraceAbout::default()));
    let section = &page[page.find("<h2>Over time</h2>").unwrap()..];
    assert!(
        !section.contains("aria-label=\"in storage") && section.contains("has no durations of calls"),
        "{section}"
    );
    let page = page_of(&record(), &analysed("access(\"/a\", R_OK) = 0\n", TraceAbout::default()));
    assert!(!page.contains("Over time") && !page.contains("<svg"), "{page}");
}
