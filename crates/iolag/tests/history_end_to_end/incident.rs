//! `report --incident` of a history: what happened, to whom and to whom not, with the numbers of the samples.

use iolag_model::{
    Evidence, HistoryRecord, HistorySample, Nanoseconds, Outage, OutageEnding, Outcome, ProbeId, SeriesKey,
    WallTime,
};

use crate::study::{PERIOD_SECONDS, Study};
use crate::user::User;

/// 2008-07-01, midnight UTC.
const BEGIN_SECONDS: i64 = 1_214_870_400;
const SLOTS: i64 = 96;
/// The slot of a hang of an hour in /home.
const HANG: i64 = 40;
const HANG_SECONDS: i64 = 3500;

fn at(slot: i64) -> WallTime {
    WallTime::from_seconds(BEGIN_SECONDS + slot * PERIOD_SECONDS)
}

fn hung_probe() -> ProbeId {
    ProbeId(2 * HANG as u64 + 1)
}

fn sample(target: &str, slot: i64) -> HistorySample {
    let is_home = target == "/home";
    let (outcome, seconds) = match slot {
        HANG if is_home => (Outcome::Late, HANG_SECONDS),
        _ if is_home && (HANG + 1..HANG + 4).contains(&slot) => (Outcome::Skipped, 0),
        _ => (Outcome::Ok, 0),
    };
    // Between 50 and 96 ms.
    let usual = if outcome == Outcome::Ok { 50 + slot as u64 * 7919 % 1009 % 47 } else { 0 };
    HistorySample {
        blocker: (outcome == Outcome::Skipped).then(hung_probe),
        ..HistorySample::new(
            SeriesKey {
                host: "login1".to_owned(),
                target: target.to_owned(),
                task: "list".to_owned(),
                part: String::new(),
            },
            ProbeId(2 * slot as u64 + u64::from(is_home)),
            at(slot),
            Nanoseconds(seconds as u64 * 1_000_000_000 + usual * 1_000_000),
            outcome,
        )
    }
}

fn records() -> Vec<HistoryRecord> {
    let samples = (0..SLOTS).flat_map(|slot| ["/home", "/scratch"].map(|target| sample(target, slot)));
    let mut records: Vec<HistoryRecord> = samples.map(HistoryRecord::Sample).collect();
    records.push(HistoryRecord::Outage(Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: "login1".to_owned(),
        mount: "/home".to_owned(),
        probe: hung_probe(),
        begin: at(HANG),
        end: Some(at(HANG).after(Nanoseconds::from_seconds(HANG_SECONDS as u64))),
        ending: Some(OutageEnding::Recovered),
        skipped: 3,
    }));
    records.push(HistoryRecord::Evidence(Evidence {
        host: "login1".to_owned(),
        probe: hung_probe(),
        at: at(HANG).after(Nanoseconds::from_seconds(600)),
        text: "process 7: state D, waits in rpc_wait_bit_killable, system call 4".to_owned(),
    }));
    records
}

fn user_after_trouble() -> User {
    let user = User::new();
    let lines: Vec<String> = records().iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    user.write("watched.jsonl", &(lines.join("\n") + "\n"));
    user.fine(&["import", "watched.jsonl"]);
    user
}

fn report(user: &User, more: &[&str]) -> String {
    user.fine(&[&["report", "--incident", "-o", "incident.md"], more].concat());
    std::fs::read_to_string(user.path("incident.md")).unwrap()
}

/// The cells of the row of this task, target and time.
fn row<'a>(text: &'a str, target: &str, when: &str) -> Vec<&'a str> {
    let begin = format!("| list | {target} on login1 | {when} |");
    let line =
        text.lines().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("{begin} in: {text}"));
    line.split('|').map(str::trim).collect()
}

#[test]
fn an_outage_its_note_and_the_target_that_was_not_affected() {
    let user = user_after_trouble();
    let link = "https://tickets.example/7?a=b";
    user.fine(&["note", "Server <home1> | rebooted", "--at", "2008-07-01 03:30", "--link", link]);
    let text = report(&user, &["--since", "2008-06-30", "--until", "2008-07-03"]);
    for expected in [
        "- **Type of incident:** storage did not answer",
        "- **Date:** 2008-07-01 03:00 -07:00 to 2008-07-01 03:58:20 -07:00",
        "- **Duration:** 58 min 20 s",
        "- /home on login1 did not answer from 2008-07-01 03:00 -07:00 to 2008-07-01 03:58:20 -07:00 (58 min 20 s): it recovered by itself; \
         3 slots were skipped.",
        "- **2008-07-01 03:30 -07:00:** note by ann: Server \\<home1\\> \\| rebooted [ticket](https://tickets.example/7?a=b)",
        "**Affected:**\n\n- /home on login1: ",
        "**Not affected, as far as it was measured:**\n\n- /scratch on login1: each attempt succeeded",
        "| /home on login1 | rpc\\_wait\\_bit\\_killable | 1 |",
        "- serious: /home on login1 did not answer",
        "## Corrective actions",
        "## Lessons learned",
        "`iolag export history --since 2008-06-30T07:00:00.000Z --until 2008-07-03T07:00:00.000Z -o samples.jsonl`",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing in: {text}");
    }
    // Attempts, timed out, hung, late, failed, skipped.
    assert_eq!(row(&text, "/home", "before")[4..10], ["40", "0", "0", "0", "0", "0"]);
    assert_eq!(row(&text, "/home", "**during**")[4..10], ["1", "0", "0", "1 (100 %)", "0", "3 (75 %)"]);
    assert_eq!(row(&text, "/home", "after")[4], "52");
    assert_eq!(row(&text, "/scratch", "**during**")[4..10], ["4", "0", "0", "0", "0", "0"]);
    let mut durations: Vec<u64> = (0..HANG).map(|slot| 50 + slot as u64 * 7919 % 1009 % 47).collect();
    durations.sort_unstable();
    // The lower median of an even number, as Kaplan and Meier's estimate has it.
    let median = format!("{}.0 ", durations[durations.len() / 2 - 1]);
    for target in ["/home", "/scratch"] {
        let shown = row(&text, target, "before")[10];
        assert!(shown.starts_with(&median), "{shown} is not {median}");
    }
}

#[test]
fn without_trouble_the_draft_says_so() {
    let user = user_after_trouble();
    let text = report(&user, &["--until", "2008-07-01 02:50"]);
    assert!(text.contains("Nothing amiss was found in 80 attempts"), "{text}");
    assert!(!text.contains("**during**"), "{text}");
    let text = report(&user, &["--since", "2009-01-01"]);
    assert!(text.contains("There is no sample of that time"), "{text}");
}

#[test]
fn a_draft_without_a_name_is_written_here_and_a_study_of_weeks_has_one() {
    let user = User::new();
    user.import_study(&Study::new(), crate::user::LOGIN_NODE);
    user.fine(&["report", "history", "--incident"]);
    let text = std::fs::read_to_string(user.path("iolag-incident-history.md")).unwrap();
    // One creation took four hours, ended by a deadline of ten minutes.
    assert!(text.contains("**Affected:**\n\n- /scratch on nid4100: "), "{text}");
    assert!(text.contains("change of level: list of /home on nid4100"), "{text}");
}

#[test]
fn what_makes_no_draft_is_said_in_a_sentence() {
    let user = User::new();
    user.refused(&["report", "--incident", "--since", "2d"], 3, &["no history at "]);
    user.refused(&["report", "--incident", "--since", "soon"], 2, &["soon"]);
    assert!(!user.path("iolag-incident-history.md").exists());
}
