//! A watch of three file systems with everything that can happen to it: a delay that is switched on and noted, a hang, and
//! a report in which both are plain to see, with numbers that equal an independent computation over the exported samples.
//!
//! In a test run it lasts about two and a half minutes; `IOLAG_REHEARSAL=2h cargo test -p iolag --test watch_rehearsal` makes it as long as
//! that, with a round every 10 s and a hang of a twelfth of the time.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iolag_fixtures::{FuseMount, LoopMount, TmpfsMount};
use serde_json::Value;
use support::{Finished, Running, Scene, wait_until};

/// How the time is divided.
struct Play {
    total: Duration,
    period: Duration,
}

impl Play {
    fn new() -> Self {
        // Ranks of a hundred and forty values, as 96 s give, tell no step from drift on a busy machine, however great it is.
        let total = std::env::var("IOLAG_REHEARSAL").map_or(Duration::from_secs(144), |text| {
            let length =
                iolag_model::parse_duration(&text).expect("IOLAG_REHEARSAL is a duration such as 2h");
            length.as_duration()
        });
        let period = if total >= Duration::from_secs(1200) {
            Duration::from_secs(10)
        } else {
            Duration::from_millis(500)
        };
        Self { total, period }
    }

    /// A listing takes about 200 requests of the FUSE file system, and is to end within its deadline.
    fn delay(&self) -> Duration {
        self.period / 250
    }

    fn twelfths(&self, count: u32) -> Duration {
        self.total * count / 12
    }
}

/// When nothing was answered, by the wall clock: a test that stands still for a while lets it hang for longer than was planned.
struct Hang {
    begin: i64,
    /// When the status told of it.
    seen: i64,
    end: i64,
}

fn wall() -> i64 {
    iolag_model::Anchor::take().realtime_ns as i64
}

/// One exported sample.
struct Exported {
    outcome: String,
    blocker: Value,
    intended: i64,
    duration_ns: u64,
}

#[test]
fn a_delay_and_a_hang_are_plain_to_see_and_the_numbers_are_right() {
    let play = Play::new();
    let scene = Scene::new();
    let backing = scene.path().join("backing");
    fs::create_dir(&backing).unwrap();
    let (Some(ext4), Some(tmpfs)) = (LoopMount::ext4(64), TmpfsMount::new(64 << 20)) else { return };
    let Some(fuse) = FuseMount::start_for(&backing, play.total * 2 + Duration::from_secs(600)) else {
        return;
    };
    let stage = Stage::new(&scene, &play, [ext4.path(), tmpfs.path(), fuse.path()]);

    let watch = stage.start(&scene);
    let begun = Instant::now();
    let at = |count| sleep_until(begun + play.twelfths(count));
    at(5);
    fuse.delay_all(play.delay());
    let note = stage.run(
        &scene,
        &["note", "a delay is switched on", "--target", "fuse", "--link", "https://tracker.example/1"],
    );
    assert_eq!(note.code, Some(0), "{note:?}");
    at(8);
    let hangs = wall();
    fuse.hang_all();
    let status = stage.wait_for_hang(&scene);
    assert!(status.contains("HUNG") && status.contains("fuse"), "{status}");
    let seen = wall();
    at(9);
    let hang = Hang { begin: hangs, seen, end: wall() };
    fuse.release();
    fuse.delay_all(play.delay());
    at(12);
    watch.signal(libc::SIGINT);
    let done = watch.finish();
    assert_eq!(done.code, Some(0), "{done:?}");

    let exported = stage.exported(&scene);
    let shown = stage.shown(&scene);
    stage.keep(&scene, &shown);
    numbers_are_right(&exported, &shown);
    let hung = the_hang_is_seen(&play, &hang, &exported, &shown);
    the_delay_is_seen(&play, &shown);
    the_others_are_unaffected(&hung, &exported, &shown);
    scene.assert_nobody_is_left();
}

/// Where the watch keeps its things.
struct Stage {
    configuration: PathBuf,
    history: PathBuf,
    runtime: PathBuf,
}

impl Stage {
    fn new(scene: &Scene, play: &Play, [ext4, tmpfs, fuse]: [&Path; 3]) -> Self {
        let configuration = scene.path().join("iolag.toml");
        // A probe past its soft deadline no longer holds up the others; the other deadline is none that a busy machine passes.
        let (soft, deadline) = (play.period.as_millis() / 5, play.period.as_millis() * 8);
        let target = |name: &str, path: &Path| {
            format!("[[target]]\nname = {name:?}\ndirectory = {:?}\n", path.to_str().unwrap())
        };
        let text = format!(
            "every = \"{}ms\"\njitter = \"0\"\nsoft-deadline = \"{soft}ms\"\ndeadline = \"{deadline}ms\"\ngrace = \"200ms\"\n\
             tasks = [\"stat\", \"list\", \"create\"]\n[task.create]\nfiles = 5\n{}{}{}",
            play.period.as_millis(),
            target("ext4", ext4),
            target("tmpfs", tmpfs),
            target("fuse", fuse)
        );
        fs::write(&configuration, text).unwrap();
        let runtime = Path::new("/dev/shm").join(format!("iolag-rehearsal-{}", std::process::id()));
        Self { configuration, history: scene.path().join("history.sqlite"), runtime }
    }

    fn arguments<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        let mut all = arguments.to_vec();
        all.extend(["--history", self.history.to_str().unwrap()]);
        all
    }

    fn start(&self, scene: &Scene) -> Running {
        let watch = [
            "watch",
            "-c",
            self.configuration.to_str().unwrap(),
            "--runtime",
            self.runtime.to_str().unwrap(),
        ];
        Running::start(scene.command(&self.arguments(&watch)))
    }

    fn run(&self, scene: &Scene, arguments: &[&str]) -> Finished {
        Running::start(scene.command(&self.arguments(arguments))).finish()
    }

    /// What the status says once something hangs.
    fn wait_for_hang(&self, scene: &Scene) -> String {
        let mut text = String::new();
        let runtime = self.runtime.to_str().unwrap();
        let seen = wait_until(support::PATIENCE, || {
            text = self.run(scene, &["watch", "--status", "--runtime", runtime]).stdout;
            text.contains("HUNG")
        });
        assert!(seen, "no probe hangs: {text}");
        text
    }

    fn exported(&self, scene: &Scene) -> BTreeMap<(String, String, String), Vec<Exported>> {
        let done = self.run(scene, &["export", "history"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        let mut series: BTreeMap<_, Vec<Exported>> = BTreeMap::new();
        for line in done.stdout.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            if record["record"] != "sample" {
                continue;
            }
            let text = |name: &str| record["series"][name].as_str().unwrap().to_owned();
            series.entry((text("target"), text("task"), text("part"))).or_default().push(Exported {
                outcome: record["outcome"].as_str().unwrap().to_owned(),
                blocker: record["blocker"].clone(),
                intended: record["intended"].as_i64().unwrap(),
                duration_ns: record["duration_ns"].as_u64().unwrap(),
            });
        }
        series
    }

    fn shown(&self, scene: &Scene) -> Value {
        let done = self.run(scene, &["show", "history", "--json", "-"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    }

    /// Keeps text, JSON and page where `IOLAG_REHEARSAL_KEEP` says.
    fn keep(&self, scene: &Scene, shown: &Value) {
        let Some(directory) = std::env::var_os("IOLAG_REHEARSAL_KEEP").map(PathBuf::from) else { return };
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("history.json"), serde_json::to_vec_pretty(shown).unwrap()).unwrap();
        fs::copy(&self.history, directory.join("history.sqlite")).unwrap();
        fs::write(directory.join("history.txt"), self.run(scene, &["show", "history"]).stdout).unwrap();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.runtime);
    }
}

fn sleep_until(moment: Instant) {
    std::thread::sleep(moment.saturating_duration_since(Instant::now()));
}

/// The analysis of one series in the document.
fn analysis<'a>(shown: &'a Value, key: &(String, String, String)) -> &'a Value {
    let all = shown["series"].as_array().expect("the document lists series");
    let is_it = |one: &&Value| {
        let found = &one["summary"]["series"]["key"];
        found["target"] == key.0.as_str()
            && found["task"] == key.1.as_str()
            && found["part"] == key.2.as_str()
    };
    all.iter().find(is_it).unwrap_or_else(|| panic!("no {key:?} in the document"))
}

/// Counts, medians and shares over 100 ms are computed here from the exported samples alone.
fn numbers_are_right(exported: &BTreeMap<(String, String, String), Vec<Exported>>, shown: &Value) {
    assert!(exported.len() >= 3 * 5, "{:?}", exported.keys());
    for (key, samples) in exported {
        let summary = &analysis(shown, key)["summary"];
        let count = |outcome: &str| samples.iter().filter(|sample| sample.outcome == outcome).count() as u64;
        let total = &summary["rates"]["total"];
        assert_eq!(total["slots"], samples.len() as u64, "{key:?}");
        assert_eq!(total["skipped"]["count"], count("skipped"), "{key:?}");
        assert_eq!(total["timeout"]["count"], count("timeout"), "{key:?}");
        assert_eq!(total["hung"]["count"], count("hung"), "{key:?}");
        assert_eq!(total["late"]["count"], count("late"), "{key:?}");
        let mut durations: Vec<u64> = samples
            .iter()
            .filter(|sample| !matches!(sample.outcome.as_str(), "skipped" | "error"))
            .map(|sample| sample.duration_ns)
            .collect();
        durations.sort_unstable();
        let over = durations.iter().filter(|duration| **duration > 100_000_000).count() as u64;
        let shares = summary["by_attempt"]["shares"].as_array().unwrap();
        let share = shares.iter().find(|share| share["threshold_ns"] == 100_000_000_u64).unwrap();
        assert_eq!(share["over"], over, "{key:?}");
        let (middle, upper) = median(samples);
        let quantiles = summary["by_attempt"]["quantiles"].as_array().unwrap();
        let median = quantiles.iter().find(|quantile| quantile["q"] == 0.5).unwrap();
        let value = median["value"]["exactly"].as_f64().unwrap_or_else(|| panic!("{key:?}: {median}"));
        assert!((middle..=upper).contains(&value), "{key:?}: {value} is not between {middle} and {upper}");
    }
}

/// The median by Kaplan and Meier's estimate, in seconds: the first duration at which at most half last longer, and the first at
/// which less than half do.
fn median(samples: &[Exported]) -> (f64, f64) {
    let mut all: Vec<(u64, bool)> = samples
        .iter()
        .filter(|sample| !matches!(sample.outcome.as_str(), "skipped" | "error"))
        .map(|sample| {
            (sample.duration_ns, matches!(sample.outcome.as_str(), "timeout" | "hung" | "interrupted"))
        })
        .collect();
    // Of equal durations what ended comes before what had not.
    all.sort_unstable();
    let (mut lasting, mut first) = (1.0_f64, None);
    for (index, (duration_ns, is_censored)) in all.iter().enumerate() {
        if !is_censored {
            lasting *= 1.0 - 1.0 / (all.len() - index) as f64;
        }
        let seconds = *duration_ns as f64 / 1e9;
        if lasting <= 0.5 + 1e-9 {
            first.get_or_insert(seconds);
        }
        if lasting < 0.5 - 1e-9 {
            return (first.unwrap_or(seconds), seconds);
        }
    }
    panic!("more than half of {} samples had not ended", all.len());
}

/// Returns the probe that hung.
fn the_hang_is_seen(
    play: &Play,
    hang: &Hang,
    exported: &BTreeMap<(String, String, String), Vec<Exported>>,
    shown: &Value,
) -> Value {
    let outages = shown["outages"].as_array().unwrap();
    let outage = outages.iter().max_by_key(|outage| outage["skipped"].as_u64()).expect("there is an outage");
    assert_eq!(outage["ending"], "recovered", "{outage}");
    let (begin, end) = (outage["begin"].as_i64().unwrap(), outage["end"].as_i64().unwrap());
    // It begins with a probe that may have been under way already, and ends when the watch has seen an answer.
    let around = hang.begin - play.period.as_nanos() as i64 * 10..=hang.seen;
    assert!(around.contains(&begin), "{outage}: not {around:?}");
    let after = hang.end - 20_000_000..=hang.end + play.period.as_nanos() as i64 * 4 + 20_000_000_000;
    assert!(after.contains(&end), "{outage}: not {after:?}");
    // A round that begins while nothing is answered skips what there is to ask; so many did begin.
    let memory = &exported[&("host memory".to_owned(), "stat".to_owned(), String::new())];
    let rounds = memory.iter().filter(|sample| (hang.seen..hang.end).contains(&sample.intended)).count();
    assert!(outage["skipped"].as_u64().unwrap() >= rounds as u64, "{outage}: {rounds} rounds");
    let late = exported.iter().filter(|(key, _)| key.0 == "fuse").flat_map(|(_, samples)| samples);
    let longest = late.filter(|sample| sample.outcome == "late").map(|sample| sample.duration_ns).max();
    assert!(longest >= Some((hang.end - hang.seen) as u64), "{longest:?}");
    let sentences = findings(shown);
    assert!(sentences.iter().any(|text| text.contains("did not answer")), "{sentences:#?}");
    outage["probe"].clone()
}

fn the_delay_is_seen(play: &Play, shown: &Value) {
    let of_fuse = |task: &str| analysis(shown, &("fuse".to_owned(), task.to_owned(), String::new()));
    let has_changed = |task: &str| !of_fuse(task)["changes"].as_array().unwrap().is_empty();
    // Starting programs takes what the host has to spare. Where that drifts, the 290 slots of a short record are worth too few
    // independent ones for `list` to tell a step from drift (docs/statistics.md).
    let is_short = play.total < Duration::from_secs(1200);
    let why = |task: &str| of_fuse(task)["not_told"].clone();
    let found = has_changed("list") || (is_short && has_changed("stat"));
    assert!(found, "no change in list: {:#}, in stat: {:#}", why("list"), why("stat"));
    let effects = of_fuse("list")["event_effects"].as_array().unwrap();
    let differs = |effect: &Value| effect["comparison"]["curves"]["distance"].as_f64().unwrap_or(0.0) > 0.9;
    assert!(effects.iter().any(differs), "before and after the event are alike: {effects:#?}");
    let sentences = findings(shown);
    let told = sentences.iter().any(|text| text.contains("a delay is switched on"));
    assert!(told, "no finding names the event: {sentences:#?}");
}

/// They are asked all the time and answer; on a busy machine a probe may still be under way when the next is due, which is skipped, but
/// not because of the one that hangs.
fn the_others_are_unaffected(
    hung: &Value,
    exported: &BTreeMap<(String, String, String), Vec<Exported>>,
    shown: &Value,
) {
    for (key, samples) in
        exported.iter().filter(|(key, _)| matches!(key.0.as_str(), "ext4" | "tmpfs" | "host memory"))
    {
        let late =
            samples.iter().filter(|sample| !matches!(sample.outcome.as_str(), "ok" | "skipped")).count();
        assert!(late * 50 <= samples.len(), "{key:?}: {late} of {} are not ok", samples.len());
        // Only in the round in which it began, before its soft deadline, does it hold up everybody.
        let held_up = samples.iter().filter(|sample| sample.blocker == *hung).count();
        assert!(held_up <= 1, "{key:?} waits for what hangs elsewhere: {held_up} times");
        assert!(samples.iter().any(|sample| sample.outcome == "ok"), "{key:?} was never asked");
        let gaps = samples.windows(2).filter(|pair| pair[1].intended < pair[0].intended).count();
        assert_eq!(gaps, 0, "{key:?} is not in order");
        let _ = analysis(shown, key);
    }
}

fn findings(shown: &Value) -> Vec<String> {
    let list = shown["findings"].as_array().expect("the document has findings");
    list.iter().map(|finding| finding["sentence"].as_str().unwrap_or_default().to_owned()).collect()
}
