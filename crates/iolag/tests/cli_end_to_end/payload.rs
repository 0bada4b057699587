//! Copies that really run a payload once they are set up.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Scene, assert_says, kill, wait_for, wait_until};
use crate::user::{User, number, text};

const SMALL: [&str; 8] =
    ["bench", "setup", "tree", "--directories", "1", "--files=5", "--stat=20", "--open=0"];

fn bench<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], more].concat()
}

fn in_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn payloads_are_run_measured_and_decide_how_many_copies_to_run() {
    let user = User::new();
    user.directory("tree");
    let measured = user.fine(&bench(&[
        "--copies",
        "1,2,4",
        "--repeat",
        "3",
        "--payload",
        "sleep 0.2",
        "--report",
        "page.html",
    ]));
    let told = in_words(&measured.output);
    assert!(told.contains("payload of processors time-outs jobs per hour"), "{told}");
    assert!(told.contains("its payload, which was really run by each copy"), "{told}");
    assert!(measured.errors.contains("executed by each copy once it is set up: sleep 0.2"), "{measured:?}");
    let page = fs::read_to_string(user.path("page.html")).unwrap();
    assert!(page.contains("of processors</th>") && page.contains("which was really run by each copy"));
    let shown =
        user.fine(&["show", "last", "--timeouts-at-most", "100%", "--judge", "60s", "--format", "json"]);
    let documents: Value = serde_json::from_str(&shown.output).unwrap();
    let told = &documents[1]["targets"][0];
    assert_eq!(told["question"]["payload_ns"], Value::Null);
    for (place, copies) in [1, 2, 4].into_iter().enumerate() {
        let (level, payload) = (&told["levels"][place], &told["levels"][place]["payload"]);
        assert_eq!(
            (number(level, "copies"), number(payload, "done"), number(payload, "failed")),
            (copies, 3 * copies, 0)
        );
        let mean = |name: &str| payload[name].as_f64().unwrap();
        assert!(mean("mean_ns") >= 2e8 && mean("processor_mean_ns") < 1e8, "{payload}");
        let [low, high] = [0, 1].map(|end| payload["interval_ns"][end].as_f64().unwrap());
        assert!(low <= mean("mean_ns") && mean("mean_ns") <= high, "{payload}");
        // No job takes less than its payload.
        assert!(level["jobs"]["per_hour"].as_f64().unwrap() <= copies as f64 * 3600.0 / 0.2, "{level}");
    }
    // The samples have both, and a duration can be asked instead.
    let copies = documents[0]["copies"].as_array().unwrap().len();
    let payloads = user.operations(&["payload"]);
    assert_eq!(payloads.len(), copies);
    assert!(
        payloads
            .iter()
            .all(|sample| number(sample, "duration_ns") >= 200_000_000 && text(sample, "outcome") == "ok")
    );
    assert_eq!(user.operations(&["payload.processor-time"]).len(), copies);
    let shown = in_words(&user.fine(&["show", "last", "--payload", "1h"]).output);
    assert!(shown.contains("and then computes for 1h on a processor"), "{shown}");
    let refused = user.iolag(&["show", "last", "--payload", "sleep 1"]);
    assert_eq!((refused.code, refused.errors.lines().count()), (2, 1), "{refused:?}");
    assert!(refused.errors.contains("a command is only run by copies that are measured"), "{refused:?}");
    let drawn = user.iolag(&["plot", "jobs", "last", "--payload", "sleep 1", "-o", "x.svg"]);
    assert!(drawn.code == 2 && drawn.errors.contains("a command is only run by"), "{drawn:?}");
    user.fine(&["plot", "jobs", "last", "-o", "jobs.svg"]);
}

#[test]
fn a_payload_is_in_no_limit_of_the_set_up_and_follows_none_that_was_ended() {
    let user = User::new();
    user.directory("tree");
    let limits = ["--kill-after", "900ms", "--judge", "900ms", "--payload", "pwd > place; sleep 1"];
    let told = in_words(&user.fine(&bench(&limits)).output);
    assert!(told.contains("The copy did not take longer than 900ms"), "{told}");
    // It ran where iolag was started.
    let place = fs::read_to_string(user.path("place")).unwrap();
    assert_eq!(fs::canonicalize(place.trim()).unwrap(), fs::canonicalize(user.path("")).unwrap());
    let many = ["bench", "setup", "tree", "--stat=5000000", "--open=0", "-q", "--kill-after", "1ms"];
    let ended = user.iolag(&[&many[..], &["--payload", "touch ran"]].concat());
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(!user.path("ran").exists() && user.operations(&["payload"]).is_empty());
}

#[test]
fn jobs_whose_payloads_fail_are_not_done() {
    let user = User::new();
    user.directory("tree");
    let failing = "echo no licence >&2; exit 3";
    let said = user.fine(&bench(&["--copies", "1,2,4", "--repeat", "3", "--payload", failing]));
    assert!(said.errors.contains("the payload failed: exit status: 3 (no licence)"), "{said:?}");
    let told = in_words(&said.output);
    assert!(
        told.contains("since not one of 21 payloads came to a good end: run the command by itself"),
        "{told}"
    );
    let samples = user.operations(&["payload"]);
    assert!(samples.iter().all(|sample| text(sample, "outcome") == "error"), "{samples:?}");
    // The second of each two fails.
    let odd = "mkdir turn 2> /dev/null || { rmdir turn; exit 1; }";
    let said = user.fine(&bench(&["--copies", "2", "--repeat", "2", "--payload", odd]));
    assert!(
        in_words(&said.output).contains("Of 4 payloads 2 failed, and their jobs are not done."),
        "{said:?}"
    );
}

#[test]
fn what_is_neither_a_duration_nor_found_is_refused_before_anything_is_measured() {
    let user = User::new();
    user.directory("tree");
    for slip in ["2hh", "10 minutes", "no-such-program -x", "./nothing", ""] {
        let said = user.iolag(&bench(&["--payload", slip]));
        assert_eq!((said.code, said.errors.lines().count()), (2, 1), "{slip}: {said:?}");
        let sentence =
            format!("--payload {slip:?} is no duration, as in 90s, 10min or 2h, and no command either: ");
        assert!(said.errors.contains(&sentence), "{slip}: {said:?}");
    }
    let plan = "name = \"jobs\"\n[[bench]]\nworkload = \"setup\"\nstat = 5\nopen = 0\npayload = \"2hh\"\n";
    fs::write(user.path("plan.toml"), plan).unwrap();
    let said = user.iolag(&["run", "plan.toml", "tree"]);
    assert!(
        said.code == 2 && said.errors.contains("plan.toml:6: payload \"2hh\" is no duration"),
        "{said:?}"
    );
    assert!(!user.store().join("runs").exists());
    fs::write(user.path("plan.toml"), plan.replace("2hh", "touch ran")).unwrap();
    user.fine(&["run", "plan.toml", "tree", "-q"]);
    assert!(user.path("ran").exists());
}

#[test]
fn a_replayed_program_has_one_too() {
    let scene = Scene::new();
    let (from, trace) = (scene.path().join("x.strace"), scene.path().join("x.iolag"));
    let trace = trace.to_str().unwrap();
    fs::write(&from, "1 stat(\"/site/a\", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0\n").unwrap();
    assert_eq!(scene.run(&["trace", "--from", from.to_str().unwrap(), "-o", trace]).code, Some(0));
    fs::write(scene.target().join("a"), "12345").unwrap();
    let map = format!("/site={}", scene.target().display());
    let words =
        ["replay", trace, "--map", &map, "--copies", "2", "--format", "json", "--payload", "sleep 0.2"];
    let done = scene.run(&words);
    assert_eq!(done.code, Some(0), "{done:?}");
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    // What is advised comes after it.
    let run = &told[0];
    assert_eq!(number(&run["payload"], "done"), 2);
    assert!(run["payload"]["mean_ns"].as_f64().unwrap() >= 2e8, "{run}");
    assert!(
        run["copies"].as_array().unwrap().iter().all(|copy| number(copy, "time_ns") < 200_000_000),
        "{run}"
    );
    assert_says(&done.stderr, &["executed by each copy once it is set up: sleep 0.2"]);
    let refused = scene.run(&[&words[..9], &["2hh"]].concat());
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

/// The number of a payload's process, which it has written where it runs.
fn started(scene: &Scene, name: &str) -> u32 {
    wait_for("the payload", || fs::read_to_string(scene.path().join(name)).ok()?.trim().parse().ok())
}

fn is_gone(process: u32) -> bool {
    wait_until(Duration::from_secs(10), || !Path::new("/proc").join(process.to_string()).exists())
}

#[test]
fn nothing_of_a_payload_outlives_the_run_whoever_ends_it() {
    for signal in [libc::SIGINT, libc::SIGKILL] {
        let scene = Scene::new();
        let path = scene.path().display();
        let payload = format!(
            "setsid sh -c 'echo $$ > {path}/away; exec sleep 600' & echo $$ > {path}/own.new; mv {path}/own.new {path}/own; sleep 600"
        );
        let target = scene.target().display().to_string();
        let mut running = scene.start(&[
            "bench",
            "setup",
            &target,
            "--directories",
            "1",
            "--files=5",
            "--stat=20",
            "--open=0",
            "--payload",
            &payload,
        ]);
        let both = [started(&scene, "own"), started(&scene, "away")];
        kill(running.id(), signal);
        if signal == libc::SIGINT {
            let done = running.finish();
            assert_eq!(done.code, Some(4), "{done:?}");
            assert_says(&done.stdout, &["incomplete"]);
        } else {
            assert!(wait_until(Duration::from_secs(10), || running.has_ended()));
        }
        assert!(both.into_iter().all(is_gone), "{both:?} after {signal}");
        scene.assert_nobody_is_left();
    }
}

#[test]
fn a_secret_of_a_payload_is_in_nothing_that_is_kept_and_going_on_says_so() {
    let user = User::new();
    user.directory("tree");
    let options =
        ["--copies", "1", "--repeat", "1", "--payload", "TOKEN=geheim true", "--report", "page.html"];
    let measured = user.fine(&bench(&options));
    let shown = user.fine(&["show", "last", "--format", "json"]);
    let page = fs::read_to_string(user.path("page.html")).unwrap();
    let kept = user.record().to_string();
    for text in [&measured.output, &measured.errors, &shown.output, &page, &kept] {
        assert!(!text.contains("geheim"), "{text}");
    }
    let more = [&options[..6], &["--resume", "last"]].concat();
    let gone_on = user.iolag(&bench(&more));
    assert!(gone_on.errors.contains("is known but for its secrets"), "{gone_on:?}");
}
