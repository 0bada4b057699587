//! Benchmarks in the history: a value of each run, once, and changes between nights with their dates.

use std::path::Path;

use iolag_fixtures::PostgresServer;
use serde_json::Value;

use crate::support::{Running, assert_says};
use crate::user::{User, assert_refused, series_of};

const DAY_NS: u64 = 86_400_000_000_000;
/// So many nights, and from which on one of the targets is slower.
const NIGHTS: usize = 10;
const SLOWER_FROM: usize = 5;
/// What becomes slower, and what does not.
const CHANGING: &str = "/scratch";
const STEADY: &str = "delayed:1ms:memory:";
const READ: &str = "metadata read, clients 1, objects 6";

const BENCH: &str =
    "[[bench]]\nworkload = \"metadata\"\ndatasets = 1\nprecreate = [5]\nobjects = 2\niterations = 1\n";

const SMALL: [&str; 7] = ["-D1", "-P6", "-I3", "--iterations", "1", "--working-name", "work"];

/// Runs a bench of two targets.
fn bench(user: &User, targets: [&str; 2], more: &[&str]) {
    let arguments = [&["bench", "metadata"][..], &targets, &SMALL, more].concat();
    let done = user.scene.run(&arguments);
    assert_eq!(done.code, Some(0), "{done:?}");
}

/// The runs in the store that no night has yet.
fn new_runs(user: &User, known: &[String]) -> Vec<String> {
    let runs = std::fs::read_dir(user.scene.store().join("runs")).unwrap();
    let names = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !known.contains(name)).collect()
}

/// Lets a run be of another time and, if its target is this one, of another target.
fn edit(run: &Path, moved_ns: u64, [target, other]: [&str; 2]) {
    let file = run.join("run.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for anchor in record["anchors"].as_array_mut().unwrap() {
        anchor["realtime_ns"] = (anchor["realtime_ns"].as_u64().unwrap() - moved_ns).into();
    }
    if record["targets"][0]["name"] == target {
        record["targets"][0]["name"] = other.into();
    }
    std::fs::write(file, record.to_string()).unwrap();
}

/// Ten nights of two targets in the pattern that is compared by rates.
fn ten_nights(user: &User) {
    let mut known = Vec::new();
    for night in 0..NIGHTS {
        bench(user, ["delayed:2ms:memory:", STEADY], &["--pattern", "batch"]);
        let runs = new_runs(user, &known);
        assert_eq!(runs.len(), 2);
        let days_ago = (NIGHTS - night) as u64;
        for run in &runs {
            let run = user.scene.store().join("runs").join(run);
            edit(&run, days_ago * DAY_NS, ["delayed:2ms:memory:", CHANGING]);
        }
        let told = user.fine(&["history", "remember", &format!("campaign:{}", runs[0])]).stdout;
        assert_says(&told, &["remembered 2 runs in ", ": 12 values\n"]);
        known.extend(runs);
    }
}

/// Puts rates in the place of those that were measured, since what else a machine does in ten nights is nobody's step: nights differ by a per cent, and one target takes 30 %
/// longer from the sixth on.
fn make_up_rates(history: &str) {
    const LUCK: [f64; NIGHTS] = [0.4, -0.8, 1.1, -0.3, 0.2, -1.2, 0.7, 0.1, -0.6, 0.9];
    const ROWS: &str = "SELECT sample.change, series.id, series.target FROM sample JOIN series ON series.id = sample.series \
                        ORDER BY series.id, sample.intended_ns";
    let database = rusqlite::Connection::open(history).unwrap();
    let mut query = database.prepare(ROWS).unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rows: Vec<(i64, i64, String)> = rows.map(Result::unwrap).collect();
    for series in rows.chunk_by(|one, next| one.1 == next.1) {
        assert_eq!(series.len(), NIGHTS, "{series:?}");
        for (night, (change, id, target)) in series.iter().enumerate() {
            let factor = if target == CHANGING && night >= SLOWER_FROM { 1.3 } else { 1.0 };
            let rate = (50.0 + LUCK[(night + *id as usize) % NIGHTS] / 2.0) / factor;
            database.execute("UPDATE sample SET value = ?1 WHERE change = ?2", (rate, change)).unwrap();
        }
    }
}

#[test]
fn a_step_between_nights_is_found_and_dated_and_steady_nights_have_none() {
    let user = User::new();
    ten_nights(&user);
    let measured = user.document(&[]);
    // It says the same of what was remembered twice.
    let again = user.fine(&["history", "remember", "last"]).stdout;
    assert_says(&again, &["remembered 1 run in ", ": 6 values, all of which it knew\n"]);
    assert_eq!(user.document(&[])["series"], measured["series"]);
    make_up_rates(&user.history);
    let document = user.document(&[]);
    let read = series_of(&document, READ, CHANGING);
    let (summary, changes) = (&read["summary"], read["changes"].as_array().unwrap());
    assert_eq!((&summary["series"]["kind"], &summary["series"]["unit"]), (&"benchmark".into(), &"/s".into()));
    assert_eq!(summary["quantity"], "rate");
    assert_eq!(changes.len(), 1, "{changes:?}");
    let change = &changes[0];
    let moment = |name: &str| change[name].as_i64().unwrap();
    let apart = (moment("first_after") - moment("last_before")) as f64 / DAY_NS as f64;
    assert!((0.9..1.1).contains(&apart), "one night lies between: {apart} days");
    assert_eq!((&change["count_before"], &change["count_after"]), (&5.into(), &5.into()));
    let ratio = change["ratio"]["value"].as_f64().unwrap();
    assert!((0.7..0.85).contains(&ratio), "30 % longer: {ratio}");
    let steady = series_of(&document, READ, STEADY);
    assert_eq!((&steady["changes"], &steady["drift"]), (&Value::Array(Vec::new()), &Value::Null));
    // Lines break where names of series let them.
    let text = user.fine(&["show", "history"]).stdout.replace("\n      ", " ");
    assert_says(&text, &["Benchmarks", "changed", "as fast"]);
    assert!(text.contains("Since 20"), "{text}");
    assert!(!text.contains(&format!("{STEADY} changed")), "{text}");
}

#[test]
fn a_bench_and_a_plan_remember_what_they_are_told_to() {
    let user = User::new();
    bench(&user, ["memory:", "delayed:1ms:memory:"], &["--history", &user.history]);
    let document = user.document(&[]);
    let kind = |target: &str| series_of(&document, READ, target)["summary"]["series"]["kind"].clone();
    assert_eq!([kind("memory:"), kind("delayed:1ms:memory:")], ["benchmark-control", "benchmark"]);
    let known = user.fine(&["history", "remember", "campaign:last"]).stdout;
    assert_says(&known, &["remembered 2 runs", "all of which it knew"]);
    user.write("plan.toml", &format!("history = \"nights.sqlite\"\n{BENCH}"));
    let planned = user.scene.run(&["run", "plan.toml", "memory:"]);
    assert_eq!(planned.code, Some(0), "{planned:?}");
    assert_says(&planned.stderr, &["remembered 1 run in ", "nights.sqlite: 4 values"]);
    assert!(user.path("nights.sqlite").exists());
    // A check has medians.
    let target = user.scene.target().display().to_string();
    assert_eq!(user.scene.run(&["check", &target, "--budget", "1s"]).code, Some(0));
    assert_says(&user.fine(&["history", "remember", "last"]).stdout, &["remembered 1 run"]);
    let document = user.document(&[]);
    let all = document["series"].as_array().unwrap();
    let is_of_check = |one: &&Value| {
        let key = &one["summary"]["series"]["key"];
        key["target"] == target.as_str() && one["summary"]["quantity"] == "run-median"
    };
    assert!(all.iter().any(|one| is_of_check(&one)), "{document}");
}

#[test]
fn a_campaign_of_another_store_is_remembered_whole_and_what_cannot_be_read_is_told() {
    let user = User::new();
    bench(&user, ["memory:", "delayed:1ms:memory:"], &[]);
    let mut runs = new_runs(&user, &[]);
    runs.sort();
    let run = |name: &str| user.scene.store().join("runs").join(name);
    let campaign = format!("campaign:{}", run(&runs[0]).display());
    let from_elsewhere = |history: &str| {
        let elsewhere = user.path("elsewhere").display().to_string();
        let arguments = ["--store", &elsewhere, "history", "remember", &campaign, "--history", history];
        let program = Path::new(env!("CARGO_BIN_EXE_iolag"));
        Running::start(user.scene.bare_command(program, &arguments)).finish()
    };
    let done = from_elsewhere(&user.history);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stdout, &["remembered 2 runs in ", ": 8 values\n"]);
    std::fs::write(run(&runs[1]).join("run.json"), "{").unwrap();
    let done = from_elsewhere(&user.path("another.sqlite").display().to_string());
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_says(&done.stdout, &["remembered 1 run in ", ": 4 values\n"]);
    assert_says(&done.stderr, &[&runs[1], ", to which it may belong, is remembered without it"]);
}

#[test]
fn what_cannot_be_remembered_is_told_and_nothing_of_the_result_is_lost() {
    let user = User::new();
    user.refused(&["history", "remember", "last"], 3, &["there is no store"]);
    // It is there when the campaign begins.
    let gone = user.path("gone");
    std::fs::create_dir(&gone).unwrap();
    let history = gone.join("history.sqlite").display().to_string();
    let remove = format!("[\"rm\", \"-r\", {:?}]", gone.display().to_string());
    user.write(
        "plan.toml",
        &format!("[[side]]\nname = \"one\"\ntarget = \"memory:\"\nafter = {{ command = {remove} }}\n{BENCH}"),
    );
    let done = user.scene.run(&["run", "plan.toml", "--history", &history]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("read"), "{done:?}");
    assert_says(&done.stderr, &["cannot make a history in", "iolag history remember campaign:"]);
    user.fine(&["history", "remember", "last"]);
    assert_refused(&user.iolag(&["history", "remember", "nothing"]), 3, &["nothing"]);
}

#[test]
fn a_history_that_cannot_be_used_is_found_before_the_campaign() {
    let user = User::new();
    let missing = user.path("missing/history.sqlite").display().to_string();
    user.write("plan.toml", &format!("history = \"plan.toml\"\n{BENCH}"));
    let of_bench = [&["bench", "metadata", "memory:"][..], &SMALL, &["--history", &missing]].concat();
    for (arguments, told) in
        [(&of_bench[..], "cannot make a history in"), (&["run", "plan.toml", "memory:"], "plan.toml")]
    {
        let done = user.scene.run(arguments);
        assert_refused(&done, 3, &[told]);
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        assert!(!user.scene.store().exists(), "nothing was measured");
    }
}

#[test]
fn a_site_remembers_benchmarks_in_postgresql() {
    let Some(server) = PostgresServer::start() else { return };
    let user = User::new().with_history(server.url("postgres"));
    bench(&user, ["memory:", "delayed:1ms:memory:"], &["--history", &user.history]);
    let exported = user.exported();
    assert_says(&user.fine(&["history", "remember", "campaign:last"]).stdout, &["all of which it knew"]);
    assert_eq!(user.exported(), exported);
    let on_disk = User::new();
    std::fs::write(on_disk.path("site.jsonl"), &exported).unwrap();
    on_disk.fine(&["import", "site.jsonl"]);
    assert_eq!(on_disk.exported(), exported);
}
