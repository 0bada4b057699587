//! The plan of study 001 on candidates of which it is known what is wrong with each.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount};

use crate::support::{Scene, assert_says, caches_of_the_machine, leftovers};

/// The file of a load.
const FILE: &str = "file-0";

/// A directory with a tree of some files in it, in which a candidate measures.
fn candidate(parent: &Path) -> PathBuf {
    let own = parent.join("me");
    for directory in ["a", "b"] {
        let tree = own.join("tree").join(directory);
        fs::create_dir_all(&tree).unwrap();
        (0..20).for_each(|file| fs::write(tree.join(format!("{file}")), vec![7; 5000]).unwrap());
    }
    own
}

/// The plan that comes with iolag, with small files and few repetitions.
fn small_plan(scene: &Scene) -> String {
    let plan = scene.run(&["plan", "nfs-vs-native"]).stdout;
    let smaller = [
        ("repeat = 6", "repeat = 1"),
        ("file-size = \"16GiB\"", "file-size = \"4MiB\""),
        ("block = [\"1MiB\"]", "block = [\"128KiB\"]"),
        ("bystander-rate = \"10/s\"", "bystander-rate = \"10/s\"\nbystander-quiet = \"1s\""),
        ("\"open-read\", \"create\"", "\"open-read\""),
    ];
    smaller.iter().fold(plan, |plan, (whole, small)| {
        assert!(plan.contains(whole), "{whole} is not in {plan}");
        plan.replace(whole, small)
    })
}

#[test]
fn the_plan_of_the_study_shows_who_is_slow_and_who_freezes_those_beside() {
    let scene = Scene::new();
    let backings = ["native", "slow", "freezing"].map(|name| scene.path().join(name));
    backings.iter().for_each(|backing| fs::create_dir(backing).unwrap());
    let [native, slow, freezing] = &backings;
    let Some(slow_mount) = FuseMount::start(slow) else { return };
    let Some(freezing_mount) = FuseMount::start(freezing) else { return };
    let (slow, freezing) = (candidate(slow_mount.path()), candidate(freezing_mount.path()));
    // Of 20 ms for each 128 KiB come 6.25 MiB/s at most.
    let slowly = Duration::from_millis(20);
    [FuseCall::Write, FuseCall::Read].iter().for_each(|call| slow_mount.delay(*call, "*", slowly));
    freezing_mount.delay(FuseCall::Write, FILE, slowly);
    freezing_mount.delay(FuseCall::Getattr, FILE, Duration::from_secs(2));
    let plan = small_plan(&scene);
    fs::write(scene.path().join("plan.toml"), plan).unwrap();
    let targets = [candidate(native), slow, freezing];
    let [native, slow, freezing] = targets.each_ref().map(|target| target.to_str().unwrap());
    // The plan says so, and not the command.
    let _caches = caches_of_the_machine(&["--caches", "cold"]);
    let done = scene.run(&["run", "plan.toml", native, slow, freezing, "--report", "page.html", "-q"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let compared =
        text.split_once("Speed by the throughput of stream and the rate of tree, in percent of").unwrap().1;
    assert_says(compared, &["stream.write", "stream.read", "stream.cp", "tree.stat", "tree.read", "too few"]);
    // Whoever lists the directory waits for the file in it that grows.
    let felt = compared.split_once("Beside the load of").expect("somebody waited").1;
    let felt = felt.split_once("Beside the speed").unwrap().0;
    assert!(felt.contains("its directory, as ls -l does,") || felt.contains("stat of its file"), "{felt}");
    assert!(felt.contains("once took ≥ 2.0") || felt.contains("times as long as before"), "{felt}");
    let page = fs::read_to_string(scene.path().join("page.html")).unwrap();
    let places = ["<h1>", "id=\"comparison\"", "stream.write", "Beside the load of", "Each run"]
        .map(|part| page.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    // Nothing is left in the candidates but their trees.
    for target in &targets {
        assert_eq!(leftovers(target), [""; 0]);
    }
    scene.assert_nobody_is_left();
}

#[test]
fn a_campaign_of_several_workloads_is_gone_on_with_and_compared_from_the_store() {
    let scene = Scene::new();
    let targets = ["one", "two"].map(|name| candidate(&scene.path().join(name)));
    let plan = "[[bench]]\nworkload = \"stream\"\nfile-size = \"256KiB\"\n[[bench]]\nworkload = \"tree\"\n";
    fs::write(scene.path().join("plan.toml"), format!("repeat = 2\n{plan}")).unwrap();
    let [one, two] = targets.each_ref().map(|target| target.to_str().unwrap());
    let done = scene.run(&["run", "plan.toml", one, two, "-q"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    fs::write(scene.path().join("plan.toml"), format!("repeat = 4\n{plan}")).unwrap();
    let more = scene.run(&["run", "plan.toml", one, two, "-q", "--resume", "last"]);
    assert_eq!(more.code, Some(0), "{more:?}");
    let compared = scene.run(&["compare", "campaign:last", "--json", "compared.json"]);
    assert_eq!(compared.code, Some(0), "{compared:?}");
    let document = fs::read(scene.path().join("compared.json")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    assert!(document["workload"].is_null() && document["value"].is_null(), "{document:#}");
    let rows = document["rows"].as_array().unwrap();
    for (workload, value) in [("stream", "throughput"), ("tree", "rate")] {
        let own: Vec<_> = rows.iter().filter(|row| row["workload"] == workload).collect();
        assert!(own.len() >= 2 && own.iter().all(|row| row["value"] == value), "{document:#}");
    }
    assert!(rows.iter().all(|row| row["base"]["runs"] == 4), "{document:#}");
}
