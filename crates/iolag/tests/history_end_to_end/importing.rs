//! `import`: files of others, what is shown of them, and that a second time changes nothing.

use std::fs::File;
use std::path::Path;

use crate::study::Study;
use crate::support::{PATIENCE, Running, wait_until};
use crate::user::{LOGIN_NODE, User};

#[test]
fn what_was_guessed_is_shown_and_a_dry_run_stores_nothing() {
    let user = User::new();
    let study = Study::new();
    user.write("home.csv", &study.home.csv());
    let options = study.home.options();
    let mut arguments = vec!["import", "home.csv", "--host", LOGIN_NODE, "--dry-run"];
    arguments.extend(options.iter().map(String::as_str));
    let shown = user.fine(&arguments).stdout;
    for expected in [
        "read as csv (guessed), separator comma",
        "time: epoch-s (guessed): \"1208995200\" is 2008-04-24T00:00:00.000Z",
        "from 2008-04-24T00:00:00.000Z to 2008-06-04T23:30:00.000Z",
        "list on /home: 4 031 samples in s (assumed); clock resolution 10.0 ms (guessed)",
        "every 15 min 00 s",
    ] {
        assert!(shown.contains(expected), "{expected:?} is missing in: {shown}");
    }
    assert!(!Path::new(&user.history).exists());
    let stored = user.import_script(&study.home, LOGIN_NODE).stdout;
    assert!(stored.starts_with(&shown.replace("home.csv", "timings.csv")), "{stored}");
    assert!(stored.contains("timings.csv: 16 124 samples are new in "), "{stored}");
}

#[test]
fn importing_twice_changes_nothing() {
    let user = User::new();
    let study = Study::new();
    user.import_study(&study, LOGIN_NODE);
    let before = user.exported();
    let again = user.import_script(&study.scratch, LOGIN_NODE).stdout;
    assert!(again.contains(": nothing is new in "), "{again}");
    user.import_study(&study, LOGIN_NODE);
    assert!(user.exported() == before, "importing twice changed the history");
}

#[test]
fn memory_does_not_grow_with_the_rows_of_a_file() {
    const ROWS: usize = 100_000;
    // Of what the program writes to itself; with all rows in memory this was more than 32 MiB.
    const LIMITED: &str = "ulimit -d 28672; exec \"$@\"";
    let user = User::new();
    let table = |order: fn(usize) -> usize| {
        let row = |row: usize| format!("{},0.{:04}\n", 1_704_067_200 + row * 60, row * 7919 % 10_000);
        (0..ROWS).map(order).map(row).fold("time,list\n".to_owned(), |table, row| table + &row)
    };
    user.write("ordered.csv", &table(|row| row));
    user.write("mixed.csv", &table(|row| row * 7919 % ROWS));
    let import = |file: &str| {
        let program = env!("CARGO_BIN_EXE_iolag");
        let arguments =
            ["-c", LIMITED, "sh", program, "import", "-", "--host", "n1", "--history", &user.history];
        let mut command = user.scene.bare_command(Path::new("sh"), &arguments);
        command.stdin(File::open(user.path(file)).unwrap());
        let done = Running::start(command).finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    let shown = import("ordered.csv");
    assert!(shown.contains("100 000 samples are new in "), "{shown}");
    let shown = import("mixed.csv");
    assert!(shown.contains("; every 60.0 s\n") && shown.contains(", 100 000 were known\n"), "{shown}");
}

#[test]
fn nothing_is_stored_if_one_of_the_files_cannot_be_understood() {
    let user = User::new();
    user.write("good.csv", "time,s\n1210204800,1.5\n1210205700,1.6\n");
    user.write("bad.csv", "time,s\n1210204800,1.5\n1210205700,slow\n");
    user.write("ambiguous.csv", "time,s\n05/08/2008 14:15,1.5\n05/08/2008 14:30,1.5\n");
    user.write("export.jsonl", "{\"record\":\"sample\",\"nonsense\":1}\n");
    user.write("empty.csv", "");
    for (file, parts) in [
        ("bad.csv", &["bad.csv:3: ", "--skip-bad"][..]),
        ("ambiguous.csv", &["--time-format"]),
        ("export.jsonl", &["export.jsonl, line 1", "nothing was imported"]),
        ("empty.csv", &["nothing to import in empty.csv"]),
        ("absent.csv", &["cannot read absent.csv: No such file"]),
        (".", &["cannot read .: Is a directory"]),
    ] {
        let done = user.iolag(&["import", "good.csv", file, "--value", "s=list"]);
        assert!(matches!(done.code, Some(2 | 3)), "{done:?}");
        assert_eq!(done.stderr.trim_end().lines().count(), 1, "{}", done.stderr);
        for part in parts {
            assert!(done.stderr.contains(part), "{part:?} is missing in: {}", done.stderr);
        }
        assert!(!Path::new(&user.history).exists(), "{file}");
    }
    user.fine(&["import", "good.csv", "bad.csv", "--value", "s=list", "--skip-bad", "1"]);
}

#[test]
fn options_reach_the_reader() {
    let user = User::new();
    user.write(
        "probes.csv",
        "when;real_ms;jobs;state\n2008-05-08 14:15;12,5;3;ok\n2008-05-08 14:30;;4;timeout\n",
    );
    let done = user.fine(&[
        "import",
        "probes.csv",
        "--time",
        "when",
        "--value",
        "real_ms=list:ls -n@/home",
        "--value",
        "jobs=jobs[jobs]",
        "--status",
        "state",
        "--deadline",
        "600s",
        "--zone",
        "local",
        "--host",
        "nid4100",
    ]);
    assert!(done.stdout.contains("list: ls -n on /home: 2 samples in ms"), "{}", done.stdout);
    let exported = user.exported();
    assert!(
        exported.contains("\"outcome\":\"timeout\"") && exported.contains("\"duration_ns\":12500000"),
        "{exported}"
    );
    // 14:15 where the user is.
    assert!(exported.contains("\"intended\":1210281300000000000"), "{exported}");
    user.write("other.log", "t=1210204800 took 1.5 on /scratch\nnoise\n");
    user.fine(&[
        "import",
        "other.log",
        "--regex",
        r"^t=(?<time>\d+) took (?<value>\S+) on (?<target>\S+)$",
        "--task",
        "copy",
        "--format",
        "pattern",
    ]);
    assert!(user.exported().contains("\"target\":\"/scratch\",\"task\":\"copy\""));
    for (arguments, expected) in [
        (&["--form", "xml"][..], "one of csv, grafana"),
        (&["--value", "=x"], "COLUMN=TASK"),
        (&["--header", "maybe"], "guess, yes, no"),
        (&["--missing", "slow"], "one of gap, hung"),
        (&["--comment", "//"], "one character"),
        (&["--resolution", "10"], "a duration"),
        (&["--deadline", "0"], "at least 1ms"),
        (&["--events", "--journal"], "cannot be used with"),
        (&["--time-zone", "Nowhere/City"], "a time zone"),
        (&["--origin", "soon"], "is no time"),
    ] {
        let done = user.iolag(&[&["import", "probes.csv"][..], arguments].concat());
        assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
        assert!(done.stderr.contains(expected), "{arguments:?}: {}", done.stderr);
    }
    user.refused(&["import", "-", "-"], 2, &["standard input can be read once"]);
    let twice = ["import", "probes.csv", "--value", "real=list@/home[s]", "--value", "real=list@/home"];
    user.refused(&twice, 2, &["--value reads column real twice into the series list: give it once"]);
}

#[test]
fn of_a_hole_in_a_log_nobody_says_that_all_was_well() {
    let user = User::new();
    // Every quarter of an hour; at slot 20 of the second log the script hung for five hours.
    let log = |is_there: fn(i64) -> bool| -> String {
        let line = |slot: i64| {
            let value =
                if is_there(slot) { format!(" 0.{:02} 0.10", 10 + slot * 7 % 13) } else { String::new() };
            format!("{}{value}\n", 1_210_204_800 + slot * 900)
        };
        (0..200).filter(|slot| is_there(*slot) || *slot == 20).map(line).collect()
    };
    user.write("scratch.log", &log(|_| true));
    user.write("home.log", &log(|slot| !(20..40).contains(&slot)));
    let import = |target: &str, more: &[&str]| {
        let values = [format!("1=compile@/{target}"), format!("2=list@/{target}")];
        let file = format!("{target}.log");
        let arguments = [
            "import",
            &file,
            "--host",
            LOGIN_NODE,
            "--deadline",
            "600s",
            "--value",
            &values[0],
            "--value",
            &values[1],
        ];
        user.fine(&[&arguments, more].concat()).stdout
    };
    import("scratch", &[]);
    let shown = import("home", &[]);
    assert!(shown.contains("1 gap of 5 h 15 min from 2008-05-08T04:45"), "{shown}");
    assert!(
        shown.contains("1 date without a value behind it: a measurement that did not come back?"),
        "{shown}"
    );
    let sentence = "Every attempt that was recorded succeeded within its deadline. Nothing is known of one gap of 5 h 15 min.";
    let told = user.fine(&["show", "history"]).stdout;
    assert!(told.replace('\n', " ").contains(sentence), "{told}");
    user.fine(&["report", "-o", "page.html"]);
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    assert!(page.contains(sentence), "the page says that all was well");
    let gaps = user.document(&[])["gaps"].clone();
    let gap = &gaps[0];
    assert_eq!(gaps.as_array().map(Vec::len), Some(1), "{gaps}");
    assert_eq!(
        (&gap["target"], &gap["task"], &gap["record"]),
        (&"/home".into(), &"".into(), &"imported".into())
    );

    // Whoever knows that it hung says so; what was not begun then stays unknown.
    let shown = import("home", &["--missing", "hung"]);
    assert!(shown.contains("compile on /home: 181 samples") && shown.contains("; 1 hung;"), "{shown}");
    let document = user.document(&[]);
    assert_eq!(document["gaps"][0]["task"], "list", "{}", document["gaps"]);
    let told = user.fine(&["show", "history"]).stdout;
    assert!(told.contains("≥ 5 h 00 min") && told.contains("1 had not ended when last"), "{told}");
}

#[test]
fn lists_and_journals_become_events() {
    let user = User::new();
    user.write("events.csv", Study::EVENTS);
    user.refused(&["import", "--events", "events.csv"], 2, &["--time-zone"]);
    user.fine(&["import", "--events", "events.csv", "--time-zone", "America/Los_Angeles"]);
    user.write(
        "journal.json",
        "{\"__REALTIME_TIMESTAMP\":\"1210280400000000\",\"_HOSTNAME\":\"nid4100\",\"_TRANSPORT\":\"kernel\",\
         \"MESSAGE\":\"nfs: server home1 not responding, still trying\"}\n",
    );
    let done = user.fine_with_input("journal.json", &["import", "--journal", "-"]);
    assert!(
        done.stdout.contains("standard input: ") && done.stdout.contains("  1 event\n"),
        "{}",
        done.stdout
    );
    let exported = user.exported();
    assert_eq!(exported.matches("\"record\":\"event\"").count(), 3, "{exported}");
    assert!(exported.contains("\"text\":\"LDAP cache enabled\"") && exported.contains("home1"), "{exported}");
    // A journal in which nothing happened is no mistake.
    user.write("quiet.json", "{\"__REALTIME_TIMESTAMP\":\"1210280400000000\",\"MESSAGE\":\"hello\"}\n");
    user.fine(&["import", "--journal", "quiet.json"]);
}

#[test]
fn an_import_from_a_pipe_is_ended_by_ctrl_c() {
    let user = User::new();
    let mut command = user.scene.command(&["import", "-", "--history", &user.history]);
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    let running = Running::start(command);
    let has_child = wait_until(PATIENCE, || !crate::support::children(running.id()).is_empty());
    assert!(has_child);
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(done.stderr.contains("run it again, nothing is stored twice"), "{}", done.stderr);
    drop(writer);
    user.scene.assert_nobody_is_left();
    assert!(!Path::new(&user.history).exists());
}
