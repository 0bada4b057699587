//! Five troubles at once, and everything that tells of them: a mount that is slow, a hang that can be killed, one that cannot, a target that is
//! not mounted, and a command that merely sleeps. Text, JSON, metrics, alerts of a real Prometheus and the live page name the right
//! targets, and the history has the right outages from begin to end.

use std::path::Path;
use std::time::Duration;

use iolag_fixtures::{BindMount, FuseMount, skip_unless_root};
use iolag_model::{Outage, OutageEnding, OutageKind, Outcome};
use serde_json::Value;

use crate::metrics::Metrics;
use crate::prometheus::Prometheus;
use crate::server::Server;
use crate::stage::{Stage, wall};
use crate::support::{PATIENCE, assert_says, kill, wait_until};

/// One target with a task of its own.
fn target(name: &str, directory: &Path, task: &str) -> String {
    let directory = directory.to_str().unwrap();
    format!("[[target]]\nname = {name:?}\ndirectory = {directory:?}\ntasks = [{task:?}]\n")
}

fn configuration(slow: &Path, killable: &Path, stuck: &Path, gone: &Path, asleep: &Path) -> String {
    let task = |name: &str, rest: &str| {
        format!("[task.{name}]\ndeadline = \"3s\"\nsoft-deadline = \"300ms\"\n{rest}\n")
    };
    [
        "every = \"500ms\"\njitter = \"0\"\ngrace = \"300ms\"\n".to_owned(),
        task("create", "files = 400"),
        task("look", &format!("command = [\"/bin/ls\", {:?}]", killable.to_str().unwrap())),
        task("open-read", ""),
        task("doze", "command = [\"/bin/sleep\", \"1000\"]"),
        target("slow", slow, "create"),
        target("killable", killable, "look"),
        target("stuck", stuck, "open-read"),
        target("gone", gone, "open-read"),
        target("asleep", asleep, "doze"),
    ]
    .concat()
}

/// The state of each target, as the watch has it.
fn states(status: &Value) -> Vec<(String, String)> {
    let word = |target: &Value, name: &str| target[name].as_str().unwrap().to_owned();
    // Before the watch has said anything there is no status.
    let targets = status["targets"].as_array().into_iter().flatten();
    targets.map(|target| (word(target, "name"), word(target, "state"))).collect()
}

/// The alerts of these names that fire, as name and target.
fn firing(prometheus: &Prometheus, names: &[&str]) -> Vec<(String, String)> {
    let answer = prometheus.get("/api/v1/alerts").unwrap();
    let alerts = answer["data"]["alerts"].as_array().unwrap().iter();
    let label = |alert: &Value, name: &str| alert["labels"][name].as_str().unwrap_or_default().to_owned();
    let mut all: Vec<_> = alerts
        .filter(|alert| alert["state"] == "firing")
        .map(|alert| (label(alert, "alertname"), label(alert, "target")))
        .filter(|(name, _)| names.contains(&name.as_str()))
        .collect();
    all.sort();
    all
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
}

#[test]
fn five_troubles_are_told_apart_everywhere() {
    if skip_unless_root() {
        return;
    }
    let stage = Stage::new();
    let [of_slow, of_killable, of_stuck, of_gone] =
        ["a", "b", "c", "d"].map(|name| std::path::PathBuf::from(stage.directory(name)));
    let (asleep, mount_point) = (stage.directory("asleep"), stage.directory("gone"));
    let (Some(slow), Some(killable), Some(stuck)) =
        (FuseMount::start(&of_slow), FuseMount::start(&of_killable), FuseMount::start(&of_stuck))
    else {
        return;
    };
    let (asleep, mount_point) = (Path::new(&asleep), Path::new(&mount_point));
    let gone = BindMount::new(&of_gone, mount_point).unwrap();
    let text = configuration(slow.path(), killable.path(), stuck.path(), mount_point, asleep);
    let file = stage.configure(&text);
    let watch = stage.start(&["-c", &file]);
    let server = Server::start(&stage, &[]);
    let state_of = |name: &str| {
        let found = states(&server.get("/status").json());
        found.into_iter().find(|(target, _)| target == name).map(|(_, state)| state)
    };
    let wait_for = |name: &str, state: &str| {
        let is_so = wait_until(PATIENCE, || state_of(name).as_deref() == Some(state));
        assert!(is_so, "{name} is not {state}: {:?}", states(&server.get("/status").json()));
    };
    for name in ["slow", "killable", "stuck", "gone"] {
        wait_for(name, "answers");
    }

    // 400 files of some five calls each: in 3 s a part of them, and each is answered.
    slow.delay_all(Duration::from_millis(4));
    let began = wall().0;
    kill(killable.daemon_pid(), libc::SIGSTOP);
    stuck.hang_all();
    drop(gone);
    for (name, state) in [
        ("slow", "slow"),
        ("killable", "no-answer"),
        ("stuck", "no-answer"),
        ("gone", "not-mounted"),
        ("asleep", "slow"),
    ] {
        wait_for(name, state);
    }
    let known = wall().0;
    let status = stage.status(1);
    let place = |path: &Path, words: &str| format!("{} {words}", path.display());
    assert_says(
        &status,
        &[
            &place(killable.path(), "(killable) has not answered since"),
            &place(stuck.path(), "(stuck) has not answered since"),
            &place(mount_point, "(gone) is not mounted since"),
        ],
    );
    for innocent in [slow.path(), asleep] {
        assert!(!status.contains(&place(innocent, "has not")), "{status}");
    }
    let page = server.get("/now").text();
    let sentence = page.split("<p").nth(1).unwrap();
    assert_says(
        sentence,
        &[">gone is not mounted for ", "killable has not answered for ", "stuck has not answered for "],
    );
    assert!(!sentence.contains("slow has not") && !sentence.contains("asleep has not"), "{sentence}");
    let metrics = Metrics::of(&server);
    let told = |name: &str| {
        ["slow", "killable", "stuck", "gone", "asleep"].map(|target| metrics.of_target(name, target))
    };
    assert_eq!(told("iolag_target_answers"), [1.0, 0.0, 0.0, 0.0, 1.0].map(Some));
    assert_eq!(told("iolag_target_mounted"), [1.0, 1.0, 1.0, 0.0, 1.0].map(Some));
    let ages = told("iolag_outage_seconds").map(Option::unwrap);
    let longest = (wall().0 - began) as f64 / 1e9;
    assert!(
        ages[1..4].iter().all(|age| *age > 0.0 && *age <= longest) && ages[0] + ages[4] == 0.0,
        "{ages:?}"
    );
    if let Some(prometheus) = Prometheus::with_rules(&stage, &server) {
        let expected = owned(&[
            ("IolagTargetDoesNotAnswer", "killable"),
            ("IolagTargetDoesNotAnswer", "stuck"),
            ("IolagTargetNotMounted", "gone"),
        ]);
        let names = ["IolagTargetDoesNotAnswer", "IolagTargetNotMounted"];
        let fire = wait_until(PATIENCE, || firing(&prometheus, &names) == expected);
        assert!(fire, "{:?}", firing(&prometheus, &names));
        end_troubles(&slow, &killable, &stuck);
        let again = BindMount::new(&of_gone, mount_point).unwrap();
        let are_silent = wait_until(PATIENCE, || firing(&prometheus, &names).is_empty());
        assert!(are_silent, "{:?}", firing(&prometheus, &names));
        drop(prometheus);
        for name in ["killable", "stuck", "gone"] {
            let is_well = wait_until(PATIENCE, || {
                state_of(name).is_some_and(|state| state == "answers" || state == "slow")
            });
            assert!(is_well, "{name}: {:?}", states(&server.get("/status").json()));
        }
        watch.signal(libc::SIGINT);
        watch.finish();
        server.stop();
        the_history_is_right(&stage, (began, known), [killable.path(), stuck.path(), mount_point]);
        drop(again);
        stage.scene.assert_nobody_is_left();
    }
}

fn end_troubles(slow: &FuseMount, killable: &FuseMount, stuck: &FuseMount) {
    slow.release();
    kill(killable.daemon_pid(), libc::SIGCONT);
    stuck.release();
}

/// One outage of each of the three places, begun between the begin of the troubles and when they were known, and over.
fn the_history_is_right(stage: &Stage, (began, known): (i64, i64), places: [&Path; 3]) {
    let remembered = stage.remembered();
    let mut outages: Vec<&Outage> = remembered.outages();
    outages.sort_by_key(|outage| outage.targets.clone());
    let said: Vec<_> =
        outages.iter().map(|outage| (outage.kind, outage.mount.as_str(), outage.ending.unwrap())).collect();
    let [killable, stuck, gone] = places.map(|place| place.to_str().unwrap());
    let expected = [
        (OutageKind::NotMounted, gone, OutageEnding::Remounted),
        (OutageKind::NoAnswer, killable, OutageEnding::Recovered),
        (OutageKind::NoAnswer, stuck, OutageEnding::Recovered),
    ];
    assert_eq!(said, expected, "{outages:#?}");
    for outage in outages {
        let (begin, end) = (outage.begin.0, outage.end.unwrap().0);
        // What was under way when the troubles began was begun before.
        assert!(
            (began - 3_000_000_000..=known).contains(&begin) && end >= known,
            "{outage:?} {began} {known}"
        );
    }
    let timeouts = |name: &str, task: &str| {
        remembered.wholes(name, task).iter().filter(|sample| sample.outcome == Outcome::Timeout).count()
    };
    assert!(timeouts("slow", "create") > 0 && timeouts("asleep", "doze") > 0);
}
