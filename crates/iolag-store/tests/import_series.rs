//! Imports of time series: every form as sites have it, what was guessed, what is refused.

mod import_support;

use import_support::{duration_ms, import, options, records, refused, samples, shown};
use iolag_model::{HistoryRecord, Nanoseconds, Outcome, SeriesKind, WallTime};
use iolag_store::import::{
    Certainty, IdenticalRows, ImportForm, ImportOptions, MissingValues, TimeFormat, ValueUnit,
    is_history_export, parse_time_zone,
};

fn pacific() -> ImportOptions {
    ImportOptions {
        time_zone: Some(parse_time_zone("America/Los_Angeles").expect("zone files are installed")),
        ..options()
    }
}

fn with_values(options: ImportOptions, values: &[&str]) -> ImportOptions {
    ImportOptions {
        values: values.iter().map(|value| value.parse().expect("the form is right")).collect(),
        ..options
    }
}

#[test]
fn the_study_is_imported_with_its_zeros_and_its_clock() {
    let text = "\
# compile create list, /home, every 15 min
Thu May  8 14:00:01 PDT 2008 5.31 2.22 1.32
Thu May  8 14:15:01 PDT 2008 5.28 2.35 0.00
Thu May  8 14:30:02 PDT 2008 31.07 2.31 0.01
Thu May  8 15:00:01 PDT 2008 5.33 2.30 0.00
";
    let named = with_values(options(), &["1=compile@/home", "2=create@/home", "3=list@/home"]);
    let imported = import(text, &named);
    assert_eq!(imported.report.form, ImportForm::Text);
    let list = &imported.series[2];
    assert_eq!(list.series.key.to_string(), "list on /home");
    assert_eq!(list.series.kind, SeriesKind::ImportedDuration);
    assert_eq!(list.series.resolution_ns, Nanoseconds(10_000_000));
    assert_eq!(duration_ms(list), [1320, 0, 10, 0], "zeros are samples");
    assert_eq!(samples(list)[0].time.to_string(), "2008-05-08T21:00:01.000Z");
    assert!(samples(list).iter().all(|sample| sample.outcome == Outcome::Ok));
    let report = imported.report.to_string();
    assert!(
        report.contains("time: date (guessed): \"Thu May  8 14:00:01 PDT 2008\" is 2008-05-08T21:00:01.000Z"),
        "{report}"
    );
    assert!(
        report.contains("list on /home: 4 samples in s (assumed); clock resolution 10.0 ms (guessed), 2 below it; every 15 min 01 s"),
        "{report}"
    );
}

const HUNG: &str = "\
Thu May  8 14:00:01 PDT 2008 5.31 2.22
Thu May  8 14:15:01 PDT 2008 5.28 2.35
Thu May  8 14:30:01 PDT 2008 5.40 2.31
Thu May  8 14:45:01 PDT 2008
Thu May  8 20:00:01 PDT 2008 5.33 2.30
Thu May  8 20:15:01 PDT 2008
";

#[test]
fn a_date_alone_is_a_gap_or_a_hang_of_the_first_task() {
    let named = with_values(options(), &["1=compile@/home", "2=list@/home"]);
    let gap = import(HUNG, &named);
    assert!(gap.series.iter().all(|series| series.samples.len() == 4));
    let report = gap.report.to_string();
    assert!(report.contains("every 15 min 00 s, 1 gap of 5 h 30 min from 2008-05-08T21:30:01"), "{report}");
    assert!(report.contains("--missing hung keeps it"), "{report}");
    assert!(report.contains("2 dates without a value behind them: measurements that did not come back?"));

    let hung = import(HUNG, &ImportOptions { missing: MissingValues::Hung, ..named });
    let [compile, list] = hung.series.as_slice() else { panic!("{hung:?}") };
    // Of the last one nothing is known: the log ends with it.
    let ended = "18900000000000 hung";
    assert_eq!(shown(compile), ["5310000000 ok", "5280000000 ok", "5400000000 ok", ended, "5330000000 ok"]);
    assert_eq!(list.samples.len(), 4, "it was not begun");
    let report = hung.report.to_string();
    let told = "compile on /home: 5 samples in s (assumed); clock resolution 10.0 ms (guessed); 1 hung; 1 without a value; every 15 min 00 s";
    assert!(report.contains(told) && report.contains("every 15 min 00 s, 1 gap of 5 h 30 min"), "{report}");
    assert!(!report.contains("--missing"), "{report}");
}

#[test]
fn a_row_without_value_and_status_is_a_hang_if_asked() {
    let text = "time;real;rc\n1210204800;1;0\n1210205700;;\n1210206600;;0\n1210207500;NA;\n1210208400;2;0\n";
    let chosen = ImportOptions {
        status_column: Some("rc".parse().unwrap()),
        missing: MissingValues::Hung,
        ..with_values(options(), &["real=list"])
    };
    let imported = import(text, &chosen);
    assert_eq!(
        shown(&imported.series[0]),
        ["1000000000 ok", "900000000000 hung", "900000000000 hung", "2000000000 ok"]
    );
    let values = with_values(chosen, &["real=jobs[jobs]"]);
    assert_eq!(shown(&import(text, &values).series[0]).len(), 2, "a value does not hang");
}

#[test]
fn columns_are_named_and_units_are_found_in_their_names() {
    let text = "\u{feff}when;real_ms;jobs;state\r\n2008-05-08 14:15;12,5;3;ok\r\n2008-05-08 14:30;;4;timeout\r\n2008-05-08 14:45;7,0;NA;2\r\n";
    let chosen = ImportOptions {
        status_column: Some("state".parse().unwrap()),
        deadline: Some(Nanoseconds(600_000_000_000)),
        ..with_values(pacific(), &["real_ms=list:ls -n@/home", "jobs=jobs[jobs]"])
    };
    let imported = import(text, &chosen);
    let [list, jobs] = imported.series.as_slice() else { panic!("{imported:?}") };
    assert_eq!((list.series.key.part.as_str(), list.series.key.target.as_str()), ("ls -n", "/home"));
    assert_eq!(shown(list), ["12500000 ok", "600000000000 timeout", "7000000 error"]);
    assert_eq!(samples(list)[2].exit_status, Some(2));
    assert_eq!((jobs.series.kind, jobs.series.unit.as_str()), (SeriesKind::ImportedValue, "jobs"));
    assert_eq!(
        samples(jobs).iter().map(|sample| sample.value).collect::<Vec<_>>(),
        [Some(3.0), Some(4.0), None]
    );
    let [list, _] = imported.report.series.as_slice() else { panic!() };
    assert_eq!((&list.unit, list.unit_certainty), (&ValueUnit::Milliseconds, Certainty::Guessed));
}

#[test]
fn date_and_time_of_day_may_be_columns_of_their_own() {
    let text = "Date,Time,real\n05/08/2008,2:15 PM,0m1.234s\n05/31/2008,2:30 PM,1:02.3\n";
    let chosen = ImportOptions {
        time: vec!["Date".parse().unwrap(), "Time".parse().unwrap()],
        ..with_values(pacific(), &["real=list"])
    };
    let imported = import(text, &chosen);
    assert_eq!(imported.report.time.unwrap().format, TimeFormat::MonthDayYear);
    assert_eq!(duration_ms(&imported.series[0]), [1234, 62_300]);
    assert_eq!(samples(&imported.series[0])[0].time.to_string(), "2008-05-08T21:15:00.000Z");
}

#[test]
fn what_has_two_readings_is_refused_with_both() {
    let error = refused("time,list\n05/08/2008 14:15,1\n", &pacific());
    assert!(error.starts_with("sample.csv: \"05/08/2008 14:15\" in line 2 may be 5 August 2008"), "{error}");
    let comma = refused("time;list\n2008-05-08 14:15;1,250\n", &pacific());
    assert!(comma.contains("\"1,250\" may mark the fraction or group thousands"), "{comma}");
    let columns = refused("time,real,user\n2008-05-08 14:15,1,2\n", &pacific());
    assert!(columns.contains("--value 2=TASK; its columns are time, real, user"), "{columns}");
    let zone = refused("time,real\n2008-05-08 14:15,1\n", &options());
    assert!(zone.contains("--time-zone"), "{zone}");
    let export = refused("{\"record\":\"sample\"}\n", &options());
    assert!(
        export.contains("export of an iolag history") && is_history_export(b"{\"record\":\"sample\"}"),
        "{export}"
    );
}

#[test]
fn bad_rows_are_errors_with_their_line_or_counted() {
    let text = "time,list\n1210204800,0.01\n1210205700,oops\n1210206600,-1\n1210207500\n1210208400,0.02\n";
    assert_eq!(
        refused(text, &options()),
        "sample.csv:5: a row of 1 column(s), expected 2 at least: \"1210207500\"; correct it, or allow rows to be left out with --skip-bad N"
    );
    let two = ImportOptions { bad_rows_max: 2, ..options() };
    assert!(refused(text, &two).contains("one more than --skip-bad 2 allows"));
    let imported = import(text, &ImportOptions { bad_rows_max: 3, ..options() });
    assert_eq!((imported.report.bad.count, imported.series[0].samples.len()), (3, 2));
    assert!(
        imported.report.to_string().contains("line 3: this is no value, expected a number of s: \"oops\"")
    );
}

#[test]
fn a_duration_that_reaches_the_deadline_was_ended_there() {
    let deadline = ImportOptions { deadline: Some(Nanoseconds(600_000_000_000)), ..options() };
    let imported = import("1210204800 599.99\n1210205700 600.00\n1210206600 612.5\n", &deadline);
    assert_eq!(
        shown(&imported.series[0]),
        ["599990000000 ok", "600000000000 timeout", "612500000000 timeout"]
    );
    assert_eq!(imported.series[0].series.deadline_ns, Nanoseconds(600_000_000_000));
}

#[test]
fn grafana_with_columns_for_series() {
    let text = "\"Time\",\"home ls -l\",\"scratch ls -l\",\"jobs\"\n\
                2024-05-08 14:15:00,12 ms,1.23 s,1.2 K\n2024-05-08 14:30:00,,900 ms,undefined\n2024-05-08 14:45:00,null,0 s,12\n";
    let imported = import(text, &pacific());
    assert_eq!(imported.report.form, ImportForm::Grafana);
    let tasks: Vec<&str> = imported.series.iter().map(|series| series.series.key.task.as_str()).collect();
    assert_eq!(tasks, ["home ls -l", "scratch ls -l", "jobs"]);
    assert_eq!(duration_ms(&imported.series[1]), [1230, 900, 0]);
    assert_eq!(imported.report.series[0].missing, 2);
    let jobs: Vec<_> = samples(&imported.series[2]).iter().map(|sample| sample.value).collect();
    assert_eq!(jobs, [Some(1200.0), Some(12.0)]);
}

#[test]
fn grafana_with_rows_for_series() {
    let text = "sep=;\n\"Series\";\"Time\";\"Value\"\n\"list\";\"2024-11-03T08:15:00.000Z\";0.01\n\"list\";\"2024-11-03T08:30:00.000Z\";null\n\
                \"compile\";\"2024-11-03T08:15:00.000Z\";5.3\n";
    let imported = import(text, &options());
    assert_eq!(imported.report.form, ImportForm::Grafana);
    let keys: Vec<String> = imported.series.iter().map(|series| series.series.key.to_string()).collect();
    assert_eq!(keys, ["list", "compile"]);
    assert_eq!(duration_ms(&imported.series[1]), [5300]);
}

#[test]
fn blocks_of_time_behind_dates_and_dates_that_nothing_follows() {
    let text = "\
Thu May  8 14:00:01 PDT 2008
compile:

real\t0m5.310s
user\t0m1.000s
sys\t0m0.300s
list:
total 24
-rw-r--r-- 1 user group 4096 May  8 14:15 a
0.00user 0.00system 0:00.01elapsed 0%CPU (0avgtext+0avgdata 0maxresident)k
0inputs+0outputs (0major+100minor)pagefaults 0swaps
Thu May  8 14:15:01 PDT 2008
Thu May  8 14:30:01 PDT 2008
compile:
real\t31m2.500s
";
    let imported = import(text, &with_values(options(), &["compile=compile@/home", "list=list@/home"]));
    assert_eq!(imported.report.form, ImportForm::Text);
    assert_eq!(duration_ms(&imported.series[0]), [5310, 1_862_500]);
    assert_eq!(duration_ms(&imported.series[1]), [10]);
    assert_eq!(imported.report.dates_alone, 1, "the probe at 14:15 did not come back");
    let single = refused(text, &options());
    assert!(single.contains("value 2 after the date of line 1; say what each is"), "{single}");
}

#[test]
fn a_value_on_a_line_of_its_own_may_look_like_the_number_of_a_column() {
    let imported =
        import("2008-05-08T14:00:00Z\n1\n2008-05-08T14:15:00Z\n2\n", &with_values(options(), &["1=list"]));
    assert_eq!(duration_ms(&imported.series[0]), [1000, 2000]);
}

#[test]
fn a_pattern_reads_any_line() {
    let text = "May  8 14:15:02 nid4100 probe[7]: list on /home took 0.01s rc=0\n\
                May  8 14:15:09 nid4100 probe[7]: list on /scratch took 1.30s rc=1\nMay  8 14:15:10 nid4100 cron: other\n";
    let options = ImportOptions {
        year: Some(2008),
        pattern: Some(
            r"^(?<time>\w+ +\d+ \S+) .* (?<task>\w+) on (?<target>\S+) took (?<value>\S+) rc=(?<status>\d+)"
                .into(),
        ),
        ..pacific()
    };
    let imported = import(text, &options);
    assert_eq!(imported.report.ignored, 1);
    assert_eq!(shown(&imported.series[1]), ["1300000000 error"]);
    assert_eq!(imported.series[1].series.key.to_string(), "list on /scratch");
    let lacking = ImportOptions { pattern: Some("(?<time>.*)".into()), ..options.clone() };
    assert!(refused(text, &lacking).contains("no group (?<value>…)"));
    let wrong = ImportOptions { pattern: Some("(".into()), ..options.clone() };
    assert!(refused(text, &wrong).contains("is no regular expression"));
    let other = ImportOptions { pattern: Some("^x(?<time>a)(?<value>b)".into()), ..options };
    assert!(refused(text, &other).contains("none of its 3 lines matches the pattern"));
}

#[test]
fn importing_twice_or_a_grown_file_gives_the_same_identities() {
    let text = "1210204800 0.01\n1210204800 0.02\n1210204800 0.01\n1210205700.5 0.00\n";
    let first: Vec<HistoryRecord> = records(&import(text, &options()));
    assert_eq!(records(&import(text, &options())), first);
    let identities: std::collections::BTreeSet<_> = first
        .iter()
        .filter_map(|record| match record {
            HistoryRecord::Sample(sample) => Some(sample.probe),
            _ => None,
        })
        .collect();
    assert_eq!(identities.len(), 4, "rows that share a time are samples of their own");
    let grown = import(&format!("{text}1210206600 0.03\n"), &options());
    assert!(first.iter().skip(1).zip(records(&grown).iter().skip(1)).all(|(before, after)| before == after));
    let report = import(text, &options()).report;
    assert_eq!((report.series[0].sharing_a_time, report.series[0].identical), (2, 1));
    let dropped = import(text, &ImportOptions { identical_rows: IdenticalRows::Drop, ..options() });
    assert_eq!(dropped.series[0].samples.len(), 3);
}

#[test]
fn a_file_that_descends_gives_what_it_gives_ascending() {
    let ascending = "time,list\n1210204800,0.01\n1210204800,0.02\n1210205700,0.03\n";
    let descending = "time,list\n1210205700,0.03\n1210204800,0.02\n1210204800,0.01\n";
    let records_of = |text| records(&import(text, &options()));
    assert_eq!(records_of(ascending), records_of(descending));
}

#[test]
fn times_may_count_from_a_beginning() {
    let origin = ImportOptions { origin: Some(WallTime::from_seconds(1_210_204_800)), ..options() };
    let imported = import("time,runtime\n0.0000528,2.3315e-05\n0.0001013,2.1002e-05\n", &origin);
    assert_eq!(shown(&imported.series[0]), ["23315 ok", "21002 ok"]);
    assert_eq!(samples(&imported.series[0])[0].time, WallTime(1_210_204_800_000_052_800));
}

#[test]
fn clocks_set_back_are_told_apart_series_by_series() {
    let text = "Series;Time;Value\na;2008-11-02 01:30;1\na;2008-11-02 01:30;2\nb;2008-11-02 01:15;3\nb;2008-11-02 01:30;4\n";
    let imported = import(text, &pacific());
    let times = |index: usize| -> Vec<String> {
        samples(&imported.series[index])
            .iter()
            .map(|sample| sample.time.to_string()[11..16].to_owned())
            .collect()
    };
    assert_eq!(
        (times(0), times(1)),
        (vec!["08:30".into(), "08:30".into()], vec!["08:15".into(), "08:30".into()])
    );
    assert!(
        imported.report.notes[0].contains("had twice when clocks were set back: 4"),
        "{:?}",
        imported.report.notes
    );
}

#[test]
fn a_file_in_an_old_encoding_is_read_and_told() {
    let imported =
        iolag_store::import::read(&b"time,Verz\xf6gerung\n1210204800,0.01\n"[..], "alt.csv", &options())
            .unwrap();
    assert_eq!(imported.series[0].series.description, "imported from column Verzögerung");
    assert!(imported.report.notes[0].contains("ISO 8859-1"));
}

#[test]
fn an_empty_file_gives_nothing_and_says_so() {
    let imported = import("", &options());
    assert!(imported.series.is_empty() && records(&imported).is_empty());
    assert!(imported.report.notes[0].starts_with("there is no sample in it"));
}
