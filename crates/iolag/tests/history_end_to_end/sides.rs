//! Sides of `iolag compare` that are of a history: days of two targets, and of one before and after a moment.

use std::path::Path;

use iolag_fixtures::FuseMount;
use serde_json::Value;

use crate::support::{Running, assert_says};
use crate::user::User;

/// Midnight where the user lives, of 2008-05-01.
const FIRST: u64 = 1_209_625_200;
const DAYS: usize = 44;
/// The day from which on /scratch takes half as long again: 2008-05-13.
const CHANGED: usize = 12;
const MOMENT: &str = "2008-05-13";

/// What a day does to both targets.
const LUCK: [f64; 9] = [0.3, -0.7, 1.1, -0.2, 0.6, -1.3, 0.1, 0.9, -0.8];

/// A user whose history has lists of every hour, /scratch 30 % longer than /home, and on one day most of them timed out.
fn user() -> User {
    let user = User::new();
    let mut text = "time,home,scratch\n".to_owned();
    for hour in 0..24 * DAYS {
        let day = hour / 24;
        let luck = (0.3 * LUCK[day % 9] + 0.01 * LUCK[hour % 9]).exp();
        let changed = if day < CHANGED { 1.0 } else { 1.5 };
        let own = (0.03 * LUCK[day * 4 % 9]).exp();
        let home = if day == DAYS - 1 && hour % 24 > 4 { 60.0 } else { 0.2 * luck };
        text += &format!("{},{home:.6},{:.6}\n", FIRST + 3600 * hour as u64, 0.26 * luck * own * changed);
    }
    user.write("days.csv", &text);
    let values = ["--value", "home=list@/home[s]", "--value", "scratch=list@/scratch[s]"];
    let how = ["--host", "login1", "--deadline", "60s", "--time-format", "epoch-s", "--resolution", "1us"];
    user.fine(&[&["import", "days.csv"][..], &values, &how].concat());
    user
}

fn compared(user: &User, arguments: &[&str]) -> Value {
    let said = user.fine(&[&["compare"], arguments, &["--json", "-"]].concat());
    serde_json::from_str(&said.stdout).unwrap()
}

/// The only cell.
fn cell(document: &Value) -> &Value {
    assert_eq!(document["rows"].as_array().unwrap().len(), 1, "{document}");
    &document["rows"][0]["cells"][0]
}

#[test]
fn two_targets_are_compared_day_by_day() {
    let user = user();
    let sides = ["history:/home@..2008-05-13", "history:/scratch@..2008-05-13"];
    let document = compared(&user, &sides);
    assert_eq!((&document["units"], &document["workload"]), (&"days".into(), &"watch".into()));
    assert_eq!(document["rows"][0]["task"], "list");
    let days: Vec<&str> = document["sides"][0]["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|day| day["run"].as_str().unwrap())
        .collect();
    assert_eq!((days.len(), days[0], days[11]), (12, "2008-05-01", "2008-05-12"));
    let both = cell(&document);
    assert_eq!(
        (&both["pairs"], &both["word"], &both["method"]),
        (&12.into(), &"slower".into(), &"paired-t".into())
    );
    // What days do to both falls out: 1/1.3, though days are 30 % apart.
    let [percent, low, high] = [&both["percent"], &both["interval"]["low"], &both["interval"]["high"]]
        .map(|one| one.as_f64().unwrap());
    assert!((-25.0..-21.0).contains(&percent) && high - low < 7.0, "{both}");
    let text = user.fine(&[&["compare"][..], &sides].concat()).stdout;
    assert_says(&text, &["12 days, each of which has both sides", "list", "/home@..2008-05-13", "slower"]);
    user.fine(&[&["compare"][..], &sides, &["--report", "page.html", "--format", "csv"]].concat());
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    assert_says(&page, &["Every day", "A day is one value", "2008-05-12"]);
    user.fine(&[&["plot", "compare"][..], &sides, &["-o", "figure.svg"]].concat());
    // A day that hung is a bound, which ranks hold; whose time is given once is of both sides. Over the change nothing would be sure.
    let document =
        compared(&user, &["history:/home", "history:/scratch", "--since", MOMENT, "--value", "p95"]);
    let bounded = cell(&document);
    assert_eq!((&bounded["base_runs"], &bounded["base_bounded"]), (&32.into(), &1.into()));
    assert_eq!((&bounded["word"], &bounded["method"]), (&"slower".into(), &"signed-ranks".into()));
    let over = compared(&user, &["history:/home", "history:/scratch", "--value", "over:200ms"]);
    // Days without any are bounds.
    assert_eq!((&cell(&over)["pairs"], &cell(&over)["method"]), (&44.into(), &"signed-ranks".into()));
}

#[test]
fn a_target_is_compared_before_and_after_a_moment() {
    let user = user();
    let sides = |target: &str| {
        [format!("history:{target}@..{MOMENT}"), format!("history:{target}@{MOMENT}..2008-05-24")]
    };
    let [before, after] = sides("/scratch");
    let document = compared(&user, &[&before, &after]);
    let cell_of = cell(&document);
    assert_eq!((&cell_of["pairs"], &cell_of["word"]), (&Value::Null, &"slower".into()));
    assert_eq!((&cell_of["base_runs"], &cell_of["runs"]), (&12.into(), &11.into()));
    assert!((-45.0..-20.0).contains(&cell_of["percent"].as_f64().unwrap()), "{cell_of}");
    assert_eq!(document["doubts"][0]["what"], "one-after-the-other");
    assert_says(&user.fine(&["compare", &before, &after]).stdout, &["all days of", "not in pairs"]);
    let [before, after] = sides("/home");
    assert_eq!(cell(&compared(&user, &[&before, &after]))["word"], "no-difference-shown");
    // A day that is cut is one of either side, with its hours.
    let document = compared(
        &user,
        &["history:/home@2008-05-02..2008-05-07 12:00", "history:/home@2008-05-07 12:00..2008-05-12"],
    );
    let of_side = |side: usize| document["sides"][side]["runs"].as_array().unwrap().clone();
    assert_eq!(of_side(0).last().unwrap()["run"], "2008-05-07 until 12:00");
    assert_eq!(of_side(1)[0]["run"], "2008-05-07 from 12:00");
    assert_eq!(cell(&document)["pairs"], Value::Null);
}

#[test]
fn histories_alone_do_not_wait_for_a_store_that_hangs() {
    let user = user();
    let Some(fuse) = FuseMount::start(&user.scene.target()) else { return };
    fuse.hang_all();
    let store = fuse.path().join("store").display().to_string();
    let figure = user.path("figure.svg").display().to_string();
    let sides = ["history:/home", "history:/scratch", "--history", &user.history, "--store", &store];
    for before in [&["compare"][..], &["plot", "compare", "-o", &figure]] {
        let command =
            user.scene.bare_command(Path::new(env!("CARGO_BIN_EXE_iolag")), &[before, &sides].concat());
        let done = Running::start(command).finish();
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    fuse.release();
}

#[test]
fn what_a_history_does_not_have_is_said() {
    let user = user();
    user.refused(
        &["compare", "history:/scrach", "history:/home"],
        3,
        &["has no target /scrach; the nearest is /scratch"],
    );
    user.refused(
        &["compare", "history:/lustre", "history:/home"],
        3,
        &["has no target /lustre; it has /home and /scratch"],
    );
    let late = "history:/home@2020-01-01..";
    user.refused(
        &["compare", late, "history:/scratch"],
        3,
        &["has no day of it in that time, only from 2008-05-01 to 2008-06-13"],
    );
    let both = ["compare", "history:/home", "history:/scratch"];
    user.refused(
        &[&both[..], &["--value", "rate"]].concat(),
        2,
        &["a watch has no rate: choose median, p95 or over:DURATION"],
    );
    user.refused(
        &["compare", "history:/home", "history:/home@2008-05-10.."],
        2,
        &["the day 2008-05-10 of /home is on both sides", "history:/home@..MOMENT history:/home@MOMENT.."],
    );
    user.refused(
        &["compare", "history:/home@..2008-05-10 18:00", "history:/home@2008-05-10 06:00.."],
        2,
        &["the day 2008-05-10 from 06:00 of /home is on both sides"],
    );
    user.refused(&["compare", "history:/home@1..2..3", "history:/home"], 2, &["history:/home@1..2..3"]);
    let reversed = ["--since", "2008-05-10", "--until", "2008-05-02"];
    let told = "\"2008-05-10\" is not before \"2008-05-02\": expected a begin and a later end";
    user.refused(&[&both[..], &reversed].concat(), 2, &["--since and --until: ", told]);
    let later = ["compare", "history:/home@2008-05-10..", "history:/scratch"];
    let refused = "history:/home@2008-05-10.. with --until: ";
    user.refused(&[&later[..], &reversed[2..]].concat(), 2, &[refused, told]);
    user.refused(&["compare", "last", "last"], 2, &["--history is read for sides that are history:TARGET"]);
    user.refused(
        &[&both[..], &["--fail-if", "stat median > 2x"]].concat(),
        2,
        &["the table has the median of list"],
    );
    user.refused(&["compare", "history:", "history:@2009-01-01.."], 3, &["has no day of it in that time"]);
    let done = user.on(&user.path("none.sqlite").display().to_string(), &both);
    assert_eq!((done.code, done.stdout.as_str()), (Some(3), ""));
    assert_says(&done.stderr, &["no history at "]);
    let bench = user.scene.run(&["bench", "metadata", "memory:", "-D1", "-P6", "-I3", "-R1", "-q"]);
    assert_eq!(bench.code, Some(0), "{bench:?}");
    user.refused(
        &["compare", "last", "history:/home"],
        2,
        &["cannot compare a bench of metadata with a watch"],
    );
}

#[test]
fn benchmarks_that_a_history_remembers_are_sides_also_beside_stored_runs() {
    let user = User::new();
    let [fast, slow] = ["delayed:2ms:memory:", "delayed:6ms:memory:"];
    let small = ["-D1", "-P6", "-I3", "-R1", "-q"];
    let bench = |more: &[&str]| {
        let done = user.scene.run(&[&["bench", "metadata"][..], &[fast, slow], &small, more].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
    };
    bench(&["--repeat", "4", "--history", &user.history]);
    let remembered = [fast, slow].map(|target| format!("history:{target}"));
    let document = compared(&user, &[&remembered[0], &remembered[1]]);
    assert_eq!((&document["units"], &document["workload"]), (&"days of runs".into(), &"metadata".into()));
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.len() == 4 && rows.iter().all(|row| row["coordinates"]["clients"] == "1"), "{rows:?}");
    for row in rows {
        let cell = &row["cells"][0];
        let counts = [&cell["base_runs"], &cell["runs"], &cell["pairs"]];
        // All of one day, whose luck they share.
        assert_eq!(counts, [&1.into(), &1.into(), &Value::Null], "{row}");
        assert_eq!((&cell["word"], &cell["more"]), (&"too-few".into(), &3.into()), "{row}");
    }
    let by_p95 = ["compare", &remembered[0], &remembered[1], "--value", "p95"];
    user.refused(&by_p95, 2, &["no run says anything of p95: choose median"]);
    // A run that is stored, and of the history only so long as it is not remembered there.
    bench(&[]);
    let stored = format!("campaign:last:{fast}");
    let document = compared(&user, &[&remembered[0], &stored]);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["cells"][0]["word"]), (4, &"too-few".into()));
    // Of what a history does not remember nothing is said.
    let doubts = document["doubts"].as_array().unwrap();
    assert!(doubts.iter().all(|doubt| doubt["what"] == "one-after-the-other"), "{doubts:?}");
    user.fine(&["history", "remember", "campaign:last"]);
    user.refused(&["compare", &remembered[0], &stored], 2, &["run 20", "is on both sides"]);
}

#[test]
fn of_several_workloads_the_one_that_sides_have_in_common_is_compared() {
    let user = User::new();
    let targets = ["one", "two"].map(|name| {
        let target = user.path(name);
        std::fs::create_dir(&target).unwrap();
        target.display().to_string()
    });
    let remembered = |arguments: &[&str]| {
        let done = user.scene.run(arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
        user.fine(&["history", "remember", "campaign:last"]);
    };
    remembered(&["bench", "metadata", &targets[0], &targets[1], "memory:", "-D1", "-P6", "-I3", "-R1", "-q"]);
    remembered(&["check", &targets[0], &targets[1], "--budget", "4s", "-q"]);
    let [one, two] = targets.map(|target| format!("history:{target}"));
    let choose = "check and metadata, which are not compared with each other: choose --workload check or --workload metadata";
    user.refused(&["compare", &one, &two], 2, &[choose]);
    for workload in ["check", "metadata"] {
        let document = compared(&user, &[&one, &two, "--workload", workload]);
        assert_eq!(document["workload"], workload);
    }
    user.refused(&["compare", &one, &two, "--workload", "stream"], 3, &["but those of check and metadata"]);
    assert_eq!(compared(&user, &[&one, "history:memory:"])["workload"], "metadata");
    let done = user.fine(&["compare", &one, "history:memory:"]);
    assert_says(&done.stderr, &["has benchmarks of check, too, which are not compared"]);
}
