//! `iolag watch --textfile`: what node_exporter reads.

use std::fs;

use iolag_fixtures::FuseMount;
use iolag_model::Outcome;

use crate::metrics::{Metrics, of};
use crate::remembered::count;
use crate::stage::{Stage, target};
use crate::support::kill;

#[test]
fn the_file_says_what_the_history_holds_round_after_round() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let metrics = stage.directory("collector");
    let path = format!("{metrics}/iolag.prom");
    let file = stage.configure(&target("home", directory, "stat"));
    let mut before = None;
    for runs in 1..=3_u32 {
        stage.watch_to(0, &["-c", &file, "--once", "--textfile", &path]);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("# EOF") && text.ends_with('\n'));
        let metrics = Metrics::parse(&text);
        let ok = of("iolag_probe_runs_total", "stat", "home", ",outcome=\"ok\"");
        assert_eq!(metrics.value(&ok), f64::from(runs), "{text}");
        assert_eq!(count(&stage.remembered().wholes("home", "stat"), Outcome::Ok), runs as usize);
        assert_eq!(metrics.value("iolag_watch_up"), 1.0);
        if let Some(before) = before {
            let before: Metrics = before;
            for (name, value) in before.counters() {
                assert!(metrics.value(name) >= value, "{name} fell from {value}");
            }
        }
        before = Some(metrics);
    }
    let names: Vec<_> = fs::read_dir(&metrics).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["iolag.prom"]);
}

#[test]
fn a_round_of_cron_in_a_hang_leaves_what_is_so_until_the_next_one() {
    let stage = Stage::new();
    let Some(fuse) = FuseMount::start(&stage.scene.target()) else { return };
    let path = stage.scene.path().join("iolag.prom");
    let look = format!(
        "[task.look]\nsoft-deadline = \"300ms\"\ndeadline = \"3s\"\ncommand = [\"/bin/ls\", {:?}]\n",
        fuse.path()
    );
    let file =
        stage.configure(&format!("grace = \"300ms\"\n{look}{}", target("killable", fuse.path(), "look")));
    let round = |code| {
        stage.watch_to(code, &["-c", &file, "--once", "--textfile", path.to_str().unwrap()]);
        Metrics::parse(&fs::read_to_string(&path).unwrap())
    };
    let answers = |metrics: &Metrics| metrics.of_target("iolag_target_answers", "killable");
    assert_eq!(answers(&round(0)), Some(1.0));
    kill(fuse.daemon_pid(), libc::SIGSTOP);
    let begun = crate::stage::wall().0 as f64 / 1e9;
    let hung = round(0);
    assert_eq!(answers(&hung), Some(0.0));
    assert!(hung.of_target("iolag_outage_begin_timestamp_seconds", "killable").unwrap() >= begun);
    let age = hung.value(&of("iolag_probe_in_flight_seconds", "look", "killable", ""));
    assert_eq!(age, 0.0, "the probe was killed, and is not in flight until the next round");
    kill(fuse.daemon_pid(), libc::SIGCONT);
    let after = round(0);
    assert_eq!(
        (answers(&after), after.of_target("iolag_outage_seconds", "killable")),
        (Some(1.0), Some(0.0))
    );
    stage.scene.assert_nobody_is_left();
}

#[test]
fn the_configuration_may_name_it() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let path = stage.scene.path().join("iolag.prom");
    let text = format!("textfile = {:?}\n{}", path.to_str().unwrap(), target("home", directory, "stat"));
    let file = stage.configure(&text);
    stage.watch_to(0, &["-c", &file, "--once"]);
    assert!(fs::read_to_string(path).unwrap().contains("iolag_probe_runs_total"));
    let relative = stage.configure("textfile = \"iolag.prom\"\n");
    stage.refused(&["-c", &relative, "--once"], 2, &["iolag.toml:1: ", "from / on that ends in .prom"]);
}

#[test]
fn places_that_nobody_would_read_or_write_are_refused_before_anything_is_measured() {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let file = stage.configure(&target("home", directory, "stat"));
    let other = stage.scene.path().join("iolag.txt").display().to_string();
    stage.refused(&["-c", &file, "--once", "--textfile", &other], 2, &["end in .prom", "another name"]);
    let missing = stage.scene.path().join("missing/iolag.prom").display().to_string();
    let parts = ["cannot write the metrics to", "missing/iolag.prom"];
    stage.refused(&["-c", &file, "--once", "--textfile", &missing], 3, &parts);
    assert!(!std::path::Path::new(&stage.history).exists());
}
