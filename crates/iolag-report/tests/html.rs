//! The part of the report that needs no script, as a file in tests/snapshots.

#[path = "../../iolag-analysis/tests/scenario/mod.rs"]
mod scenario;

use iolag_analysis::figure::Figures;
use iolag_analysis::{RunAnalysis, analyse_check, analyse_metadata, analyse_run};
use iolag_model::{
    CampaignPlan, ClockOffset, FailureCode, HostRecord, MemoryCourse, MemoryLook, MonotonicTime, Nanoseconds,
    Operation, Outcome, Pattern, Phase, RunRecord, RunState, SideRecord, WorkloadSpec,
};
use iolag_report::{
    CampaignRun, CheckRows, Colour, HtmlReport, ReportedRun, campaign_text, check_text, write_html,
};
use scenario::{Scenario, one_after_the_other, three_directories, usb_stick};

fn page_of(runs: &[ReportedRun<'_>]) -> String {
    let report = HtmlReport { title: None, runs, comparison: None, written_realtime_ns: None };
    let mut page = Vec::new();
    write_html(&report, Figures::new(Vec::new(), Vec::new()), &mut page).expect("a Vec takes everything");
    String::from_utf8(page).expect("it is text")
}

/// What stands between the head and the data.
fn static_part(page: &str) -> &str {
    let begin = page.find("<body>").expect("a body");
    let end = page.find("<script type=\"application/json\"").expect("data");
    &page[begin..end]
}

#[test]
fn a_tiny_report() {
    let mut scenario = Scenario::check(&["/home/me"]);
    scenario.add(0, Operation::TaskList, 3_200_000);
    scenario.add(0, Operation::TaskListNumeric, 1_100_000);
    scenario.record.labels.insert("condition".to_owned(), "<script>alert(1)</script>".to_owned());
    scenario.record.state = RunState::Incomplete { reason: "it was interrupted".to_owned() };
    let analysis = analyse_run(&scenario.record, &scenario.by_target());
    let page = page_of(&[ReportedRun { record: &scenario.record, analysis: &analysis }]);
    insta::assert_snapshot!(static_part(&page));
}

#[test]
fn further_hosts_have_a_line_each_and_the_error_of_their_clocks_is_told() {
    let mut scenario = Scenario::check(&["/home/me"]);
    scenario.add(0, Operation::TaskList, 3_200_000);
    let page = |record: &RunRecord| {
        let analysis = analyse_run(record, &scenario.by_target());
        static_part(&page_of(&[ReportedRun { record, analysis: &analysis }])).to_owned()
    };
    let mut record = scenario.record.clone();
    assert!(!page(&record).contains("Times of all hosts"));
    for (name, error_ns) in [("node2", 40_000), ("node3", 15_000)] {
        let offset = ClockOffset { at: MonotonicTime(5), ahead_ns: 7, error_ns: Nanoseconds(error_ns) };
        let mut host = HostRecord::new(name, vec![offset]);
        host.environment.cpus = 4;
        record.further_hosts.push(host);
    }
    let page = page(&record);
    assert!(page.contains("<dd>node2, 4 proc") && page.contains("<dd>node3, 4 proc"), "{page}");
    assert!(page.contains("to which theirs belong within 40.0 µs where they were compared."), "{page}");
}

#[test]
fn nothing_conspicuous_is_found_only_where_everything_feels_fast() {
    let page = |ms: u64| {
        let mut scenario = Scenario::check(&["/home/me"]);
        scenario.add(0, Operation::TaskList, ms * 1_000_000);
        let analysis = analyse_run(&scenario.record, &scenario.by_target());
        page_of(&[ReportedRun { record: &scenario.record, analysis: &analysis }])
    };
    assert!(page(3).contains("Nothing conspicuous was found."));
    assert!(!page(300).contains("Nothing conspicuous"), "it is sluggish");
    assert!(page(300).contains("Nothing was found besides the verdicts."));
}

#[test]
fn the_only_script_that_runs_is_ours() {
    let (mut check, bench) = (three_directories(), usb_stick());
    let attack = "</script><script>alert(1)</script><!--";
    check.record.environment.host = attack.to_owned();
    check.record.targets[0].name = attack.to_owned();
    check.record.targets[2].unanswered_ns = Some(Nanoseconds(15_000_000_000));
    let judged = analyse_run(&check.record, &check.by_target());
    let metadata = analyse_run(&bench.record, &bench.by_stage());
    let page = page_of(&[
        ReportedRun { record: &check.record, analysis: &judged },
        ReportedRun { record: &bench.record, analysis: &metadata },
    ]);
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(page.matches("</script>").count(), page.matches("<script").count());
    assert!(!page.contains("<!--"));
}

#[test]
fn a_spec_becomes_a_command_that_names_everything() {
    let bench = usb_stick();
    let metadata = analyse_run(&bench.record, &bench.by_stage());
    let page = page_of(&[ReportedRun { record: &bench.record, analysis: &metadata }]);
    let command = "iolag bench metadata /scratch/me --clients 4 --pattern code --detail operations --datasets 1 \
                   --precreate 3000 --objects 1000 --iterations 3 --object-size 3901 --offset 1 \
                   --phases precreate,benchmark,cleanup --on-hang continue --buffer 268435456 --deadline 15s --seed 1";
    assert!(page.contains(command), "{}", static_part(&page));
}

#[test]
fn the_page_of_one_run_has_what_memory_had_without_a_script() {
    let mut bench = usb_stick();
    let mut course = MemoryCourse::new(MonotonicTime(0), Nanoseconds(1_000_000_000));
    for second in 0..20 {
        let look = MemoryLook {
            page_cache_bytes: (second + 1024) << 20,
            dirty_bytes: second << 20,
            writeback_bytes: 0,
        };
        course.add(MonotonicTime(second * 1_000_000_000), look);
    }
    bench.record.memory = Some(course);
    let metadata = analyse_run(&bench.record, &bench.by_stage());
    let run = ReportedRun { record: &bench.record, analysis: &metadata };
    let page = page_of(&[run]);
    let section = page.split_once("<section id=\"memory\">").expect("there is one").1;
    let section = section.split_once("</section>").expect("it ends").0;
    assert!(section.contains("<svg") && section.contains("up to 19.0 MiB were dirty"), "{section}");
    assert!(!page_of(&[run, run]).contains("id=\"memory\""), "a page of many runs has no figure of each");
}

#[test]
fn what_brought_a_side_into_place_stands_around_its_command() {
    let mut bench = usb_stick();
    let [before, after] = ["mount", "umount"].map(|program| vec![program.to_owned(), "/mnt/me".to_owned()]);
    bench.record.plan =
        Some(CampaignPlan { side: Some(SideRecord { before, after }), ..CampaignPlan::default() });
    let analysis = analyse_run(&bench.record, &bench.by_stage());
    let page = page_of(&[ReportedRun { record: &bench.record, analysis: &analysis }]);
    let commands = page.split_once("<pre><code>").expect("there is one").1;
    let commands: Vec<&str> = commands.split_once("</code>").expect("it ends").0.lines().collect();
    assert_eq!((commands[0], commands[2]), ("mount /mnt/me", "umount /mnt/me"));
    assert!(commands[1].starts_with("iolag bench metadata "), "{commands:?}");
}

#[test]
fn phases_of_a_batch_and_a_working_directory_of_ones_own_are_named_too() {
    let mut bench = usb_stick();
    let WorkloadSpec::Metadata(spec) = &mut bench.record.spec.workload else { panic!("a metadata run") };
    spec.pattern = Pattern::Batch;
    spec.phases = vec![Phase::Precreate, Phase::Benchmark];
    bench.record.targets[0].working_place = Some("/scratch/me/mine-too".to_owned());
    let metadata = analyse_run(&bench.record, &bench.by_stage());
    let page = page_of(&[ReportedRun { record: &bench.record, analysis: &metadata }]);
    assert!(page.contains("--phases precreate,benchmark"), "{}", static_part(&page));
    assert!(page.contains("--working-name mine-too"), "{}", static_part(&page));
    assert!(!page.contains("over 1 000 objects"), "a batch handles all of them");
    bench.record.targets[0].working_place = Some("/scratch/me/iolag-work".to_owned());
    let metadata = analyse_run(&bench.record, &bench.by_stage());
    let page = page_of(&[ReportedRun { record: &bench.record, analysis: &metadata }]);
    assert!(!page.contains("--working-name"), "the usual one is what a reader gets anyway");
}

#[test]
fn the_verdict_on_a_batch_names_the_rate_of_each_of_its_stages_and_what_is_always_true_stands_once() {
    let phases =
        [(Phase::TreeCreate, 0), (Phase::BatchStat, 0), (Phase::TreeCreate, 1), (Phase::BatchStat, 1)];
    let mut batch = Scenario::metadata(1, 1, 1, &phases);
    let second = 1_000_000_000;
    for stage in 0..4_u16 {
        let operation = if stage % 2 == 0 { Operation::MakeDirectory } else { Operation::Stat };
        let begin = u64::from(stage + 1) * 10 * second;
        batch.at(stage, 0, operation, begin, second / 10);
        let ended = batch.at(stage, 0, Operation::Stage, begin, second / 10);
        *ended = ended.with_bytes(1);
    }
    let metadata = analyse_run(&batch.record, &batch.by_stage());
    let page = page_of(&[ReportedRun { record: &batch.record, analysis: &metadata }]);
    let text = static_part(&page).replace('\u{a0}', " ");
    assert!(text.contains("the median of 2 iterations: batch-stat 10.0/s."), "{text}");
    assert!(!text.contains("In tree-create"), "{text}");
    let always_true = "To know: 4 of 4 rows have too few attempts for a p99 (368 are needed).";
    assert_eq!(text.matches(always_true).count(), 1, "{text}");
    assert_eq!(text.matches("attempts for a p99").count(), 1, "{text}");
}

#[test]
fn what_several_directories_of_a_check_have_is_told_once_in_text_and_page() {
    let names = ["/a", "/b", "/c", "/d", "/e", "/f"];
    let mut check = Scenario::check(&names);
    for target in 0..6_u16 {
        // The third directory's is the worst.
        for attempt in 0..200 {
            let asked = check.add(target, Operation::CallStat, 20_000);
            if attempt < if target == 2 { 10 } else { 2 } {
                *asked = asked.with_outcome(Outcome::Error, FailureCode::from_errno(5));
            }
        }
    }
    for _ in 0..200 {
        check.add(4, Operation::CallWrite, 20_000);
        check.add(4, Operation::CallCloseWritten, 5_000_000);
    }
    let analysis = analyse_check(&check.record, &check.by_target());
    assert!(analysis.directories.iter().all(|directory| !directory.findings.is_empty()), "{analysis:#?}");
    let plain = |text: &str| text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let text = plain(&check_text(&analysis, CheckRows::Known, 100, Colour::Never));
    let page =
        page_of(&[ReportedRun { record: &check.record, analysis: &RunAnalysis::Check(analysis.clone()) }]);
    let page = plain(static_part(&page)).replace("<code>", "`").replace("</code>", "`");
    let sentence = "In /c: 10 of 200 `call.stat` failed: input/output error; also in /a, /b, /d, /e and /f.";
    let advice = "Failed attempts are in no quantile";
    let own = "Closing a written file takes 5.00 ms, 250 times its write";
    for (told, heading) in [(&text, "Findings in /e"), (&page, "In `/e`")] {
        assert_eq!((told.matches(sentence).count(), told.matches(advice).count()), (1, 1), "{told}");
        assert_eq!(told.matches("`call.stat` failed: input").count(), 1, "{told}");
        let (_, of_one) = told.split_once(heading).expect("what only one has stands under it");
        assert_eq!((of_one.matches(own).count(), told.matches(own).count()), (1, 1), "{told}");
    }
}

#[test]
fn the_page_tells_rates_by_the_stages_own_clock_where_a_client_starts_late() {
    let bench = one_after_the_other();
    let metadata = analyse_run(&bench.record, &bench.by_stage());
    let page = page_of(&[ReportedRun { record: &bench.record, analysis: &metadata }]);
    let text = static_part(&page).replace('\u{a0}', " ");
    let verdict = "2 clients in 200 ms did 1 000 operations/s, which is 1 000 objects/s, with a balance between \
                   clients of 50 %.";
    assert!(text.contains(verdict), "{text}");
    let in_table = "<td data-value=\"1000\">1 000</td>";
    assert_eq!(text.matches(in_table).count(), 2, "the rows of both stages: {text}");
    assert!(!text.contains("2 000"), "{text}");
}

#[test]
fn a_campaign_tells_the_true_rate_of_a_run_in_which_a_client_starts_late() {
    let bench = one_after_the_other();
    let stages = analyse_metadata(&bench.record, &bench.by_stage()).stages;
    let id = bench.record.id.to_string();
    let run = CampaignRun {
        id: &id,
        target: "/scratch",
        clients: 2,
        precreated_objects: 100,
        repetition: 1,
        stages,
    };
    let text = campaign_text(&[run], &[], 100, Colour::Never);
    let row = text.lines().find(|line| line.contains(&id)).expect("it has a row");
    assert!(row.replace('\u{a0}', " ").contains("  1 000  "), "{text}");
}

/// The headings under which the verdicts of these runs stand.
fn headings(records: &[RunRecord]) -> Vec<String> {
    let check = Scenario::check(&["/home/me"]);
    let check = analyse_run(&check.record, &check.by_target());
    let metadata = usb_stick();
    let metadata = analyse_run(&metadata.record, &metadata.by_stage());
    let of_its_kind =
        |record: &RunRecord| if record.spec.workload.metadata().is_some() { &metadata } else { &check };
    let reported = |record| ReportedRun { record, analysis: of_its_kind(record) };
    let runs: Vec<_> = records.iter().map(reported).collect();
    let page = page_of(&runs).replace('\u{a0}', " ");
    let (head, _) = page.split_once("</header>").expect("a head");
    head.split("<h3>").skip(1).filter_map(|rest| Some(rest.split_once("</h3>")?.0.to_owned())).collect()
}

#[test]
fn headings_tell_the_runs_of_a_sweep_apart_and_no_more() {
    let run = |target: &str, clients: u32, precreated: u64, repetition: u32| {
        let mut record = usb_stick().record;
        record.targets[0].name = target.to_owned();
        record.spec.clients = clients;
        record.repetition = repetition;
        let WorkloadSpec::Metadata(spec) = &mut record.spec.workload else { panic!("a metadata run") };
        spec.precreated_objects = precreated;
        record
    };
    let id = "(20261120-185900-3fa7)";
    let named = |names: &[&str]| names.iter().map(|name| format!("{name} {id}")).collect::<Vec<_>>();
    // The same last name; the clients are the same, and so not named.
    let directories = [run("/mnt/fast/data", 4, 100, 1), run("/mnt/slow/data", 4, 100, 1)];
    assert_eq!(headings(&directories), named(&["…/fast/data", "…/slow/data"]));
    let wrapped = [run("/mnt/data", 1, 100, 1), run("delayed:1ms:/mnt/data", 2, 100, 1)];
    assert_eq!(headings(&wrapped), named(&["/mnt/data, 1 client", "delayed:1ms:/mnt/data, 2 clients"]));
    let mut sizes = [run("/mnt/data", 4, 100, 1), run("/mnt/data", 4, 1000, 2)];
    let told = ["100 objects per dataset, repetition 1", "1 000 objects per dataset, repetition 2"];
    assert_eq!(headings(&sizes), named(&told));
    sizes[1] = sizes[0].clone();
    assert_eq!(headings(&sizes), ["20261120-185900-3fa7"; 2]);
    sizes[1].labels.insert("mount".to_owned(), "new".to_owned());
    assert_eq!(headings(&sizes), ["20261120-185900-3fa7".to_owned(), format!("mount=new {id}")]);
    let kinds = [run("/home/me", 4, 100, 1), Scenario::check(&["/home/me"]).record];
    assert_eq!(headings(&kinds), named(&["metadata", "check"]));
}
