//! `iolag check` where one of several file systems is slow: it is not dead, and takes nothing from the others.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iolag_fixtures::{FuseCall, FuseMount, LoopMount, SshfsMount, TmpfsMount};

use crate::support::{Exported, PATIENCE, Scene, assert_says, leftovers};

const REQUEST: Duration = Duration::from_millis(200);

fn count(samples: &[Exported], client: u64, operation: &str) -> usize {
    let is_it = |sample: &&Exported| sample.client == client && sample.operation == operation;
    samples.iter().filter(is_it).count()
}

const BUDGET: Duration = Duration::from_secs(45);
/// What a check may exceed its budget by: one operation in flight, and what removing took longer than was expected.
const OVERDRAFT: Duration = Duration::from_secs(2);

#[test]
fn a_slow_directory_is_measured_and_ranked_beside_quick_ones_that_lose_nothing() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let Some(ext4) = LoopMount::ext4(64) else { return };
    // Without it the others are checked all the same, and the test is named as skipped.
    let sshfs = SshfsMount::start();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let [slow, memory, disk] = [fuse.path(), tmpfs.path(), ext4.path()].map(path);
    let remote = sshfs.as_ref().map(|sshfs| path(sshfs.path()));
    fuse.delay_all(REQUEST);
    let start = Instant::now();
    let mut arguments = vec!["check", &memory, &slow, &disk, "--budget", "45s"];
    arguments.extend(remote.as_deref());
    let done = scene.run(&arguments);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stderr, &["for at most 45.0 s in all"]);
    let places = [scene.target(), tmpfs.path().to_owned(), ext4.path().to_owned()];
    for place in places.iter().map(PathBuf::as_path).chain(sshfs.as_ref().map(SshfsMount::path)) {
        assert_eq!(leftovers(place), Vec::<String>::new(), "{done:?}");
    }
    let flat = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!flat.contains("not answer") && !flat.contains("unreliable"), "{}", done.stdout);
    assert!(!flat.contains("could not be measured"), "{}", done.stdout);
    let first = done.stdout.split("\n\n").next().unwrap();
    let ranking = first.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_ranked(&ranking, [&memory, &disk], &slow);
    // Whoever is only compared with stands there without its kind.
    for directory in [&memory, &slow, &disk].into_iter().chain(&remote) {
        assert!(ranking.contains(&format!("{directory} (")), "{directory} has no place: {ranking}");
    }
    let samples = scene.exported();
    assert!(samples.iter().all(|sample| sample.outcome != "hung"));
    let first = samples.iter().map(|sample| sample.start).min().unwrap();
    let late: Vec<_> = samples.iter().filter(|sample| sample.start - first > BUDGET + OVERDRAFT).collect();
    assert!(late.is_empty(), "begun after the end: {late:?}");
    assert_ended_in_time(&scene);
    for healthy in [0, 2] {
        assert!(count(&samples, healthy, "ls -l") >= 10, "directory {healthy}");
        assert!(count(&samples, healthy, "create 500") >= 2, "directory {healthy}");
    }
    assert!(count(&samples, 1, "create 500") + count(&samples, 1, "create") > 0);
    fuse.release();
    scene.assert_nobody_is_left();
}

/// By the run's own clock, from its begin until everything is removed. Only what the kernel counted as time in which something waited
/// for a processor is allowed beyond that, and at most `STARVED`: so late the last of 20 may come that want the same one.
fn assert_ended_in_time(scene: &Scene) {
    const STARVED: Duration = Duration::from_secs(20);
    let listed = scene.run(&["list", "--json", "-"]);
    let records: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let record = records.as_array().unwrap().last().unwrap();
    let anchors = record["anchors"].as_array().unwrap();
    let moments = anchors.iter().map(|anchor| Duration::from_nanos(anchor["monotonic_ns"].as_u64().unwrap()));
    let took = moments.clone().max().unwrap() - moments.min().unwrap();
    let waited = |state: &str| {
        let pressure = record[state]["pressure"].as_array()?;
        let cpu = pressure.iter().find(|pressure| pressure["resource"] == "cpu")?;
        Some(Duration::from_micros(cpu["some_us"].as_u64()?))
    };
    // A kernel that does not count it leaves unknown how much it was.
    let starved = waited("before").zip(waited("after")).map_or(STARVED, |(before, after)| after - before);
    let allowed = BUDGET + OVERDRAFT + starved.min(STARVED);
    assert!(
        took <= allowed,
        "{took:?}, allowed are {allowed:?}: something waited for a processor for {starved:?}"
    );
}

/// The slow one is told apart from the quick ones and stands behind all that are compared; nothing is quicker than memory. How far a loaded
/// machine lets the slow one come decides how that is said, and a machine whose load changes may leave any of them too unsteady to be
/// compared, but none of the quick ones with too few attempts; what is said of the attempts that it has otherwise is in `iolag-analysis/tests/run/check_ranking.rs`.
fn assert_ranked(ranking: &str, [memory, disk]: [&str; 2], slow: &str) {
    let clauses = ranking.trim_end_matches('.').split("; ").map(str::trim);
    let (left_out, compared): (Vec<&str>, Vec<&str>) =
        clauses.partition(|clause| clause.ends_with(" to be compared"));
    let is_slower = |clause: &str| clause.contains("slower, by") || clause.contains("in few attempts: `");
    match compared.iter().position(|clause| clause.starts_with(slow)) {
        Some(place) => {
            assert!(place + 1 == compared.len() && is_slower(compared[place]), "{ranking}");
            assert!(!compared[place].contains("alike"), "{ranking}");
        }
        None => assert!(left_out.iter().any(|clause| clause.contains(slow)), "{ranking}"),
    }
    let is_of = |clause: &&str, directory: &str| clause.contains(&format!("{directory} ("));
    if let Some(place) = compared.iter().position(|clause| is_of(clause, memory)) {
        assert!(place == 0 && !is_slower(compared[place]), "{ranking}");
    }
    let few = left_out.iter().filter(|clause| clause.ends_with("too few attempts to be compared"));
    for clause in few {
        assert!(!is_of(clause, memory) && !is_of(clause, disk), "{ranking}");
    }
}

#[test]
fn what_ctrl_c_cuts_short_has_neither_hung_nor_timed_out() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let [slow, memory] = [fuse.path(), tmpfs.path()].map(|path| path.to_str().unwrap().to_owned());
    fuse.hang(FuseCall::Mkdir, "0_*");
    let mut running = scene.start(&["check", &slow, &memory, "--budget", "1h", "--deadline", "1h"]);
    running.wait_for("the run is kept");
    assert!(fuse.wait_until_held(1, PATIENCE), "nothing was asked of the slow directory");
    running.signal(libc::SIGINT);
    // The client was given time to end, which is far less than its deadline. It is killed now, and dies when it is answered.
    running.wait_for("ending the measurer of");
    std::thread::sleep(Duration::from_millis(1_500));
    fuse.release();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let flat = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for lie in ["unreliable", "did not end", "not answer"] {
        assert!(!flat.contains(lie), "{flat}");
    }
    let samples = scene.exported();
    let made: Vec<_> =
        samples.iter().filter(|sample| sample.client == 0 && sample.operation == "mkdir").collect();
    assert_eq!(made.len(), 1, "{made:?}");
    // Or ok, where the keeper itself was kept waiting by a busy machine.
    assert!(["interrupted", "ok"].contains(&made[0].outcome.as_str()), "{made:?}");
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_that_cannot_be_set_up_is_told_with_its_failure_and_not_as_slow() {
    let scene = Scene::new();
    let Some(full) = LoopMount::ext4(32) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    // Bytes are left, but not a single inode.
    let mut number = 0;
    while std::fs::File::create(full.path().join(format!("file-{number}"))).is_ok() {
        number += 1;
    }
    let [lost, memory] = [full.path(), tmpfs.path()].map(|path| path.to_str().unwrap().to_owned());
    let page = scene.path().join("page.html");
    let report = ["--report", page.to_str().unwrap()];
    let arguments = ["check", &lost, &memory, "--budget", "6s", "--stream-size", "64KiB"];
    let done = scene.run(&[&arguments[..], &report].concat());
    assert_eq!(done.code, Some(4), "{done:?}");
    let flat = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&flat, &[&format!("{lost} could not be measured: "), "no space left"]);
    assert!(!flat.contains("setting up had"), "{flat}");
    let shown = scene.run(&["show", "last"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&shown, &["could not be measured: ", "1 of 2 directories could not be measured to the end"]);
    // The cause is told once, wherever the result is told.
    let page = std::fs::read_to_string(page).unwrap();
    // The data for the figures name every class of errors.
    let (page, _) = page.split_once("<script type=\"application/json\"").unwrap();
    for told in [flat.as_str(), &shown, page] {
        assert_eq!(told.matches("no space left").count(), 1, "{told}");
    }
    scene.assert_nobody_is_left();
}

/// Whether a file was made in one of its directories.
fn files_below(directory: &Path) -> bool {
    let entries = |directory: &Path| std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries(directory).any(|made| entries(&made.path()).next().is_some())
}

#[test]
fn ctrl_c_while_a_directory_is_set_up_gives_what_there_is_and_calls_nobody_dead() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let [slow, memory] = [fuse.path(), tmpfs.path()].map(|path| path.to_str().unwrap().to_owned());
    fuse.delay(FuseCall::Mkdir, "iolag-check-*", Duration::from_secs(4));
    let mut running = scene.start(&["check", &slow, &memory, "--budget", "1h", "--deadline", "1h"]);
    running.wait_for("the run is kept");
    let made = crate::support::wait_for("samples", || leftovers(tmpfs.path()).pop());
    assert!(made.starts_with("iolag-check-"));
    crate::support::wait_for("files", || files_below(&tmpfs.path().join(&made)).then_some(()));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let flat = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!flat.contains("not answer"), "{flat}");
    let interrupted = "could not be measured: interrupted while setting up, after ";
    assert_says(
        &flat,
        &[
            interrupted,
            "; at least 14 requests were answered",
            &memory,
            " was interrupted while it was set up.",
        ],
    );
    let document = scene.run(&["show", "last", "--json", "-"]).stdout;
    assert_says(&document, &[interrupted]);
    let records: serde_json::Value =
        serde_json::from_str(&scene.run(&["list", "--json", "-"]).stdout).unwrap();
    assert_eq!(records[0]["targets"][0]["contact"]["end"], "interrupted");
    assert!(!flat.contains(&format!("{memory} could not be measured")), "{flat}");
    let (_, table) = done.stdout.split_once("How long it takes").expect("there is a table");
    assert!(table.contains(&format!("{memory} (tmpfs)")), "{table}");
    let is_measured = |line: &str| {
        let count =
            line.strip_prefix("create ").and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        count.is_some_and(|count: u64| count > 0)
    };
    assert!(table.lines().any(is_measured), "{table}");
    for place in [&scene.target(), tmpfs.path()] {
        assert_eq!(leftovers(place), Vec::<String>::new(), "{done:?}");
    }
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_too_slow_for_the_budget_says_how_many_requests_came_back() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let [slow, memory] = [fuse.path(), tmpfs.path()].map(|path| path.to_str().unwrap().to_owned());
    fuse.delay_all(Duration::from_millis(1_500));
    let done = scene.run(&["check", &slow, &memory, "--budget", "6s"]);
    assert_eq!(done.code, Some(4), "{done:?}");
    let flat = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!flat.contains("not answer"), "{flat}");
    assert_says(&flat, &["could not be measured", " came back in ", &memory, "feels fast"]);
    fuse.release();
    scene.assert_nobody_is_left();
}

/// Setting up and removing alone take some 50 requests.
#[test]
fn where_setting_up_does_not_fit_into_the_budget_nothing_is_made_and_the_others_are_measured() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let [slow, memory] = [fuse.path(), tmpfs.path()].map(|path| path.to_str().unwrap().to_owned());
    fuse.delay_all(REQUEST);
    for budget in ["3s", "5s"] {
        let done = scene.run(&["check", &slow, &memory, "--budget", budget]);
        assert_eq!(done.code, Some(4), "{done:?}");
        let flat = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_says(
            &flat,
            &[
                "could not be measured: too slow for this budget: ",
                " came back in ",
                "; choose a longer --budget.",
                &format!("{memory} (tmpfs) feels fast; {slow} (fuse"),
            ],
        );
        assert_says(&done.stderr, &[&format!("measuring {memory} for at most ")]);
        let listed = scene.run(&["list", "--json", "-"]).stdout;
        let records: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let record = records.as_array().unwrap().last().unwrap();
        assert_eq!(record["targets"][0]["working_place"], serde_json::Value::Null, "{record}");
        assert_eq!(record["state"]["state"], "incomplete", "{}", record["state"]);
        let samples = scene.exported();
        assert!(count(&samples, 0, "create") > 0, "the healthy one was measured");
    }
    let done = scene.run(&["check", &slow, "--budget", "3s"]);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &[&format!("{slow} is too slow for this budget: ")]);
    fuse.release();
    scene.assert_nobody_is_left();
}

/// The place that is being made is named, and the one that was removed already is not.
#[test]
fn who_leaves_while_a_place_is_being_made_is_told_where_it_may_be() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let [slow, memory] = [fuse.path(), tmpfs.path()].map(|path| path.to_str().unwrap().to_owned());
    fuse.hang(FuseCall::Mkdir, "iolag-check-*");
    let mut running = scene.start(&["check", &slow, &memory, "--budget", "1h", "--deadline", "1h"]);
    running.wait_for("the run is kept");
    assert!(fuse.wait_until_held(1, PATIENCE), "no place was to be made");
    let made = crate::support::wait_for("a place", || leftovers(tmpfs.path()).pop());
    running.signal(libc::SIGINT);
    crate::support::wait_for("removal", || leftovers(tmpfs.path()).is_empty().then_some(()));
    // Signals that are close together are one wish.
    std::thread::sleep(Duration::from_millis(600));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &[&format!("left at once: {slow}/{made} may still be there")]);
    fuse.release();
    scene.assert_nobody_is_left();
}
