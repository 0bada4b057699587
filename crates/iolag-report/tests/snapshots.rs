//! What users see, as files in tests/snapshots.

#[path = "../../iolag-analysis/tests/scenario/mod.rs"]
mod scenario;

use iolag_analysis::{RunAnalysis, analyse_check, analyse_metadata};
use iolag_model::{
    ClientId, FailureCode, Operation, Outcome, Phase, RunState, Sample, ServerRecord, TargetIndex, Trust,
};
use iolag_report::{
    CheckRows, Colour, check_text, list_text, metadata_text, show_head, write_csv, write_json,
    write_md_workbench,
};
use scenario::{S, Scenario, slow_beside_quick, three_directories, usb_stick};
use unicode_width::UnicodeWidthStr;

fn check(rows: CheckRows, width: usize, colour: Colour) -> String {
    let scenario = three_directories();
    check_text(&analyse_check(&scenario.record, &scenario.by_target()), rows, width, colour)
}

#[test]
fn check_side_by_side() {
    insta::assert_snapshot!(check(CheckRows::Known, 120, Colour::Never));
}

#[test]
fn check_in_blocks_on_a_narrow_terminal() {
    insta::assert_snapshot!(check(CheckRows::Known, 80, Colour::Never));
}

#[test]
fn check_in_full() {
    insta::assert_snapshot!(check(CheckRows::All, 120, Colour::Never));
}

#[test]
fn a_check_of_a_slow_directory_beside_quick_ones_and_memory() {
    let scenario = slow_beside_quick();
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    insta::assert_snapshot!(check_text(&analysis, CheckRows::Known, 100, Colour::Never));
}

/// A directory, a bucket, a database that lets nobody in, and a share that stops answering.
#[test]
fn a_check_of_servers_beside_a_directory() {
    let names = [
        "/scratch",
        "s3://key:***@bucket/some#endpoint=http://127.0.0.1:7070,style=path",
        "postgres://me@127.0.0.1/base",
        "dav://127.0.0.1/share",
    ];
    let mut scenario = Scenario::check(&names);
    for (index, kind, software) in
        [(1, "s3", Some("VERSITYGW")), (2, "postgres", None), (3, "dav", Some("nginx/1.22.1 (Debian)"))]
    {
        let target = &mut scenario.record.targets[index];
        (target.backend, target.file_system) = (kind.to_owned(), None);
        let software = software.map(str::to_owned);
        target.server = software.map(|name| ServerRecord { software: Some(name), ..ServerRecord::default() });
    }
    scenario.record.targets[2].failure = Some("28P01: no password; put it into ~/.pgpass".to_owned());
    let objects = [Operation::Create, Operation::Read, Operation::Stat, Operation::List, Operation::Delete];
    for (target, around) in [(0, 20_000), (1, 1_500_000), (3, 400_000)] {
        objects.iter().for_each(|operation| scenario.scatter(target, *operation, 400, around, 0.3));
    }
    // The one opening of its session took longer than any of its requests.
    scenario.add(1, Operation::CallConnect, 155_000_000);
    scenario.scatter(1, Operation::CallFirstByte, 2_000, 900_000, 0.3);
    scenario.scatter(0, Operation::TaskList, 40, 1_400_000, 0.3);
    scenario.scatter(0, Operation::WriteDurably, 400, 2_000_000, 0.3);
    let hung = scenario.add(3, Operation::Read, 7_000_000_000);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    insta::assert_snapshot!(check_text(&analysis, CheckRows::Known, 100, Colour::Never));
}

#[test]
fn the_settings_of_a_server_are_told_only_where_they_tell_it_from_another() {
    let one = "s3://bucket/some#endpoint=http://one:7070";
    let [other, elsewhere] = ["s3://bucket/some#endpoint=http://other:7070", "s3://bucket/else#style=path"];
    let shown = |names: &[&str]| {
        let mut record = Scenario::check(names).record;
        record.targets.iter_mut().for_each(|target| target.backend = "s3".to_owned());
        let all = (0..names.len() as u16).map(|index| record.shown_name(TargetIndex(index)).to_owned());
        all.collect::<Vec<_>>()
    };
    assert_eq!(shown(&[one, elsewhere]), ["s3://bucket/some", "s3://bucket/else"]);
    assert_eq!(shown(&[one, elsewhere, other]), [one, "s3://bucket/else", other]);
    let directory = Scenario::check(&["/data/#1"]).record;
    assert_eq!(directory.shown_name(TargetIndex(0)), "/data/#1");
}

#[test]
fn a_row_that_a_sentence_names_and_the_table_lacks_is_said_to_be_among_all() {
    let mut scenario = Scenario::check(&["/scratch"]);
    scenario.scatter(0, Operation::Stat, 20, 1_000_000, 0.1);
    let text = |scenario: &Scenario| {
        let analysis = analyse_check(&scenario.record, &scenario.by_target());
        check_text(&analysis, CheckRows::Known, 80, Colour::Never)
    };
    let always =
        "\n`iolag check --full` and `iolag show --full` print all rows, and how often each\n  takes long.\n";
    assert!(text(&scenario).ends_with(always), "{}", text(&scenario));
    scenario.scatter(0, Operation::Rename, 20, 2_000_000_000, 0.1);
    let named = text(&scenario);
    assert!(named.contains("slow: 100 % of `rename` took over 1.00 s"), "{named}");
    let with = "\n`iolag check --full` and `iolag show --full` print all rows, with `rename`, and\n  how often each takes long.\n";
    assert!(named.ends_with(with), "{named}");
}

#[test]
fn a_share_says_nothing_of_what_was_cut_off_before_the_threshold() {
    let mut scenario = Scenario::check(&["/scratch"]);
    for _ in 0..20 {
        scenario.add(0, Operation::TaskCreate, 5_000_000);
    }
    for operation in [Operation::TaskCreate, Operation::TaskCompile] {
        let cut = scenario.add(0, operation, 16_000);
        *cut = cut.with_outcome(Outcome::Interrupted, FailureCode::NONE);
    }
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    let text = check_text(&analysis, CheckRows::All, 120, Colour::Never);
    let shares = text.split("How often it takes long").nth(1).expect("it is told");
    let row = |name: &str| shares.lines().find(|line| line.trim_start().starts_with(name)).expect("a row");
    assert!(!shares.contains('≥') && row("create 500").contains("0 [≤"), "{text}");
    assert_eq!(row("compile").matches('–').count(), 4, "{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal_and_colour_changes_no_letter() {
    let codes = regex::Regex::new("\x1b\\[[0-9;]*m").expect("a valid expression");
    for rows in [CheckRows::Known, CheckRows::All] {
        for width in [80, 100, 120] {
            for line in check(rows, width, Colour::Never).lines() {
                assert!(line.width() <= width, "{width}: {line}");
                assert_eq!(line, line.trim_end());
            }
        }
        let coloured = check(rows, 120, Colour::Always);
        assert_eq!(codes.replace_all(&coloured, ""), check(rows, 120, Colour::Never));
    }
}

#[test]
fn metadata_as_text() {
    let mut scenario = usb_stick();
    scenario.record.trust.push(Trust {
        doubt: "The store is on the measured file system.".to_owned(),
        advice: "Name another place with `--store`.".to_owned(),
    });
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    insta::assert_snapshot!(metadata_text(&analysis, 110, Colour::Never));
}

/// Five iterations by two clients, each of which ends all its stages and in each iteration replaces an object.
fn five_iterations() -> Scenario {
    let mut phases = vec![(Phase::Precreate, 0)];
    phases.extend((0..5).map(|iteration| (Phase::Benchmark, iteration)));
    let mut scenario = Scenario::metadata(2, 1, 1, &phases);
    for stage in 0..6_u16 {
        for client in 0..2 {
            let begin = u64::from(stage + 1) * 10 * S;
            scenario.at(stage, client, Operation::Create, begin, S);
            if stage > 0 {
                scenario.at(stage, client, Operation::Delete, begin + S, S);
            }
            scenario.at(stage, client, Operation::Stage, begin, 2 * S);
        }
    }
    scenario
}

/// What the text says of the working set.
fn working_set_told(scenario: &Scenario) -> String {
    let text = metadata_text(&analyse_metadata(&scenario.record, &scenario.by_stage()), 200, Colour::Never);
    text.lines().find(|line| line.starts_with("Working set:")).expect("it is told").replace('\u{a0}', " ")
}

#[test]
fn every_iteration_that_changed_the_working_set_is_told() {
    let told = |iterations: &[u16]| {
        let mut scenario = five_iterations();
        for &iteration in iterations {
            scenario.at(iteration, 0, Operation::Create, u64::from(iteration + 1) * 10 * S, S);
        }
        working_set_told(&scenario)
    };
    assert_eq!(told(&[]), "Working set: constant, every iteration created as many objects as it deleted.");
    assert_eq!(told(&[2]), "Working set: changed in benchmark 2 by 3 created and 2 deleted objects.");
    assert_eq!(
        told(&[1, 2, 3]),
        "Working set: changed in benchmark 1 to 3 by 9 created and 6 deleted objects."
    );
    assert_eq!(
        told(&[1, 3, 4]),
        "Working set: changed in 3 of 5 iterations by 9 created and 6 deleted objects."
    );
    let all = "Working set: changed in each of 5 iterations by 15 created and 10 deleted objects.";
    assert_eq!(told(&[1, 2, 3, 4, 5]), all);
}

#[test]
fn the_working_set_is_not_called_constant_where_a_client_was_given_up_or_killed() {
    let not_known = "Working set: unknown, since not every client was seen to finish benchmark 2.";
    let of_client = |sample: &Sample| sample.attempt.client() == ClientId(1) && sample.stage.0 >= 2;
    // Nothing comes from it after an operation that did not end; the other goes on.
    let mut given_up = five_iterations();
    given_up.retain(|sample| !of_client(sample));
    let hung = given_up.at(2, 1, Operation::Read, 30 * S, 15 * S);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    given_up.record.state = RunState::Incomplete { reason: "1 operation did not end".to_owned() };
    assert_eq!(working_set_told(&given_up), not_known);
    let text = metadata_text(&analyse_metadata(&given_up.record, &given_up.by_stage()), 200, Colour::Never);
    assert_eq!(text.matches("1 client did not finish").count(), 1, "{text}");
    assert!(!text.contains("cut off"), "the others went on: {text}");
    // Both are killed.
    let mut killed = five_iterations();
    killed
        .retain(|sample| sample.stage.0 < 2 || sample.stage.0 == 2 && sample.operation() != Operation::Stage);
    killed.record.state = RunState::Incomplete { reason: "the measurer ended by signal 9".to_owned() };
    assert_eq!(working_set_told(&killed), not_known);
    // Who is stopped records what it did.
    let mut stopped = five_iterations();
    stopped
        .retain(|sample| sample.stage.0 < 2 || sample.stage.0 == 2 && sample.operation() != Operation::Stage);
    stopped.record.state = RunState::Incomplete { reason: "it was interrupted".to_owned() };
    for client in 0..2 {
        let ended = stopped.at(2, client, Operation::Stage, 30 * S, 2 * S);
        *ended = ended.with_outcome(Outcome::Interrupted, FailureCode::NONE);
    }
    assert!(
        working_set_told(&stopped).starts_with("Working set: constant"),
        "{}",
        working_set_told(&stopped)
    );
}

#[test]
fn runs_as_a_list_and_alone() {
    let (check, mut bench) = (three_directories().record, usb_stick().record);
    bench.state = RunState::Incomplete { reason: "the measurer was killed".to_owned() };
    bench.labels.insert("set-up".to_owned(), "usb".to_owned());
    let text = format!(
        "{}\n{}",
        list_text(&[check, bench.clone()], Colour::Never),
        show_head(&bench, Colour::Never)
    );
    insta::assert_snapshot!(text);
}

#[test]
fn check_as_json() {
    let scenario = three_directories();
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    let mut bytes = Vec::new();
    write_json(&scenario.record, &RunAnalysis::Check(analysis.clone()), &mut bytes)
        .expect("a Vec takes everything");
    let mut value: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
    assert_eq!((value["schema"].as_u64(), value["kind"].as_str()), (Some(1), Some("check")));
    assert_eq!(value["directories"][2]["unanswered_ns"].as_u64(), Some(15_000_000_000));
    assert_eq!(value["directories"].as_array().map(Vec::len), Some(3));
    // One operation and one finding show the form.
    let directory = &mut value["directories"][0];
    directory["summaries"] = directory["summaries"].as_array().map(|all| all[..1].to_vec()).into();
    directory["findings"] = directory["findings"].as_array().map(|all| all[..1].to_vec()).into();
    directory["summaries"][0]["durations"]["part_means_ns"] = serde_json::json!(["…"]);
    value["directories"] = serde_json::json!([directory.clone()]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).expect("it was JSON before"));
}

#[test]
fn metadata_as_json_leads_back() {
    let scenario = usb_stick();
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    let mut bytes = Vec::new();
    write_json(&scenario.record, &RunAnalysis::Metadata(analysis.clone()), &mut bytes)
        .expect("a Vec takes everything");
    let value: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
    assert_eq!(value["stages"][1]["phase"].as_str(), Some("benchmark"));
    let stages = serde_json::from_value::<Vec<iolag_analysis::StageAnalysis>>(value["stages"].clone());
    assert_eq!(stages.expect("they lead back"), analysis.stages);
}

#[test]
fn summaries_as_csv() {
    let scenario = three_directories();
    let mut bytes = Vec::new();
    write_csv(&scenario.record, &scenario.by_target().summaries, &mut bytes).expect("a Vec takes everything");
    let text = String::from_utf8(bytes).expect("it is text");
    let columns = |line: &str| line.split(',').count();
    let expected = text.lines().next().map(columns);
    assert!(text.lines().all(|line| Some(columns(line)) == expected));
    insta::assert_snapshot!(text);
}

#[test]
fn the_control_of_a_check_and_what_was_interrupted_have_names_in_csv() {
    let mut scenario = three_directories();
    let control = scenario.record.targets.len() - 1;
    if let iolag_model::WorkloadSpec::Check(spec) = &mut scenario.record.spec.workload {
        spec.control = Some(TargetIndex(control as u16));
    }
    let mut summaries = scenario.by_target().summaries;
    summaries.retain(|summary| {
        [Some(0), Some(control as u16)].contains(&summary.key.target.map(|target| target.0))
    });
    summaries[0].interrupted = 7;
    let mut bytes = Vec::new();
    write_csv(&scenario.record, &summaries, &mut bytes).expect("a Vec takes everything");
    let text = String::from_utf8(bytes).expect("it is text");
    let names: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let column = |line: &str, name: &str| {
        let place = names.iter().position(|column| *column == name).expect("a column of this name");
        line.split(',').nth(place).expect("a field").to_owned()
    };
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(column(rows[0], "interrupted"), "7");
    assert_eq!(column(rows[0], "role"), "measured");
    assert_eq!(column(rows.last().expect("rows"), "role"), "control");
}

#[test]
fn metadata_as_md_workbench_prints_it() {
    let scenario = usb_stick();
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    let mut bytes = Vec::new();
    write_md_workbench(&scenario.record, &analysis.stages, None, &mut bytes).expect("a Vec takes everything");
    insta::assert_snapshot!(String::from_utf8(bytes).expect("it is text"));
}
