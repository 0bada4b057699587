//! Imports of events: lists and the journal.

mod import_support;

use import_support::{import, options, records, refused};
use iolag_model::{EventSource, HistoryRecord, WallTime};
use iolag_store::import::{ImportForm, ImportOptions, parse_time_zone};

fn in_utc() -> ImportOptions {
    ImportOptions {
        time_zone: Some(parse_time_zone("UTC").expect("zone files are installed")),
        author: "ops".into(),
        ..options()
    }
}

#[test]
fn a_list_with_all_columns() {
    let text = "time,end,text,kind,target,link\n\
                2008-05-08 14:00,,LDAP cache enabled,change,/home,https://tickets.example/7\n\
                2008-05-10 08:00,2008-05-10 12:30,\"Maintenance, all file systems\",maintenance,,RT#8\n";
    let imported = import(text, &in_utc());
    assert_eq!(imported.report.form, ImportForm::EventList);
    let [cache, maintenance] = imported.events.as_slice() else { panic!("{imported:?}") };
    assert_eq!(cache.begin.to_string(), "2008-05-08T14:00:00.000Z");
    assert_eq!(
        (cache.text.as_str(), cache.kind.as_str(), cache.target.as_str()),
        ("LDAP cache enabled", "change", "/home")
    );
    assert_eq!((cache.source, cache.author.as_str(), cache.end), (EventSource::List, "ops", None));
    assert_eq!(maintenance.end.unwrap().to_string(), "2008-05-10T12:30:00.000Z");
    assert_eq!(
        (maintenance.text.as_str(), maintenance.link.as_deref()),
        ("Maintenance, all file systems", Some("RT#8"))
    );
    assert_eq!(records(&import(text, &in_utc())), records(&imported));
    assert!(cache.id != maintenance.id && cache.id.len() == 32);
}

#[test]
fn an_event_keeps_its_identity_when_its_end_becomes_known() {
    let open = import("time,end,text\n2008-05-10,,Maintenance\n", &in_utc());
    let closed = import("time,end,text\n2008-05-10,2008-05-11,Maintenance\n", &in_utc());
    assert_eq!(open.events[0].id, closed.events[0].id);
}

#[test]
fn a_list_without_header_is_time_text_and_kind() {
    let listed = ImportOptions { form: Some(ImportForm::EventList), ..in_utc() };
    let imported = import("2008-05-08;LDAP cache;change\n2008-05-09;nid4100 down;node failure\n", &listed);
    assert_eq!(imported.events[1].kind, "node failure");
}

#[test]
fn lists_with_mistakes_are_refused_with_the_line() {
    let end = refused("time,end,text\n2008-05-08 14:00,2008-05-07 14:00,x\n", &in_utc());
    assert!(end.starts_with("sample.csv:2: this event ends before it begins"), "{end}");
    let link = refused("time,text,link\n2008-05-08,x,javascript:alert(1)\n", &in_utc());
    assert!(link.contains("is no link"), "{link}");
    let empty = refused("time,text\n2008-05-08,\n", &in_utc());
    assert!(empty.contains("an event needs a time and a text"), "{empty}");
    let form = ImportOptions { form: Some(ImportForm::EventList), ..in_utc() };
    let columns = refused("time,real\n2008-05-08,1\n", &form);
    assert!(columns.contains("it has no column \"text\"; its columns are time, real"), "{columns}");
}

#[test]
fn control_characters_do_not_reach_the_history() {
    let imported = import("time,text\n2008-05-08,\"a\u{1b}[31mred\u{202e}\"\n", &in_utc());
    assert_eq!(imported.events[0].text, "a [31mred");
}

fn entry(seconds: i64, boot: &str, transport: &str, message: &str) -> String {
    format!(
        "{{\"__REALTIME_TIMESTAMP\":\"{seconds}000000\",\"_HOSTNAME\":\"nid4100\",\"_BOOT_ID\":\"{boot}\",\
         \"_TRANSPORT\":\"{transport}\",\"PRIORITY\":\"4\",\"MESSAGE\":\"{message}\"}}\n"
    )
}

#[test]
fn complaints_about_one_server_are_one_event_that_its_return_ends() {
    let text: String = [
        entry(1_000, "a", "kernel", "nfs: server nfs01 not responding, still trying"),
        entry(1_060, "a", "kernel", "nfs: server nfs01 not responding, still trying"),
        entry(1_070, "a", "kernel", "nfs: server nfs02 not responding, still trying"),
        entry(1_080, "a", "kernel", "INFO: task ls:77 blocked for more than 120 seconds."),
        entry(1_090, "a", "syslog", "nfs: server nfs03 not responding, still trying"),
        entry(1_200, "a", "kernel", "nfs: server nfs01 OK"),
        entry(9_000, "a", "kernel", "nfs: server nfs02 not responding, still trying"),
        entry(9_100, "b", "kernel", "Linux version 6.12.0"),
    ]
    .concat();
    let imported = import(&text, &options());
    assert_eq!(imported.report.form, ImportForm::Journal);
    let events: Vec<_> = imported
        .events
        .iter()
        .map(|event| {
            let seconds = |time: WallTime| time.0 / 1_000_000_000;
            (seconds(event.begin), event.end.map(seconds), event.kind.as_str())
        })
        .collect();
    assert_eq!(
        events,
        [
            (1_000, Some(1_200), "file system not responding"),
            (1_070, None, "file system not responding"),
            (1_080, None, "task blocked"),
            (9_000, None, "file system not responding"),
            (9_000, Some(9_100), "node down"),
        ]
    );
    assert!(
        imported.events.iter().all(|event| event.source == EventSource::Journal && event.host == "nid4100")
    );
    assert!(matches!(records(&imported)[0], HistoryRecord::Event(_)));
    assert_eq!(imported.report.ignored, 1, "anybody may write that a server does not respond");
}

#[test]
fn messages_that_are_not_printable_come_as_bytes() {
    let message: Vec<u8> = b"Out of memory: Killed process 7 (\x1bls)".to_vec();
    let text = format!(
        "{{\"__REALTIME_TIMESTAMP\":\"1000000\",\"_TRANSPORT\":\"kernel\",\"MESSAGE\":{message:?}}}\n{{\"__REALTIME_TIMESTAMP\":\"2000000\",\"MESSAGE\":null}}\n"
    );
    let imported = import(&text, &options());
    assert_eq!(imported.events[0].text, "Out of memory: Killed process 7 ( ls)");
    assert_eq!(
        imported.events[0].host, "nid4100",
        "an entry that names no host is of the one that the caller says"
    );
}

#[test]
fn a_line_that_is_no_entry_is_a_bad_row_and_one_too_long_is_passed_over() {
    let journal = ImportOptions { form: Some(ImportForm::Journal), ..options() };
    let good = entry(1_000, "a", "kernel", "Out of memory: Killed process 7 (ls)");
    let error = refused(&format!("{good}-- No entries --\n"), &journal);
    assert!(error.starts_with("sample.csv:2: this is no entry of `journalctl -o json`"), "{error}");
    let long = entry(999, "a", "kernel", &"x".repeat(3 << 20));
    let imported = import(&format!("{long}{good}"), &journal);
    assert_eq!((imported.events.len(), imported.report.lines, imported.report.ignored), (1, 2, 1));
}
