//! A tree that others change while it is read.

use std::fs::{self, File, OpenOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iolag_fixtures::TmpfsMount;
use serde_json::Value;

use crate::support::Scene;

/// Of holes, which take no room.
const LONG_BYTES: u64 = 256 << 20;
const STEP_BYTES: u64 = 4096;

/// Makes one file longer and another one shorter, step by step, until the tree was read.
fn change(longer: &File, shorter: &File, is_read: &AtomicBool) {
    for steps in 1.. {
        if is_read.load(Ordering::Relaxed) {
            return;
        }
        longer.set_len(LONG_BYTES + steps * STEP_BYTES).unwrap();
        shorter.set_len(LONG_BYTES - steps * STEP_BYTES % (LONG_BYTES / 2)).unwrap();
    }
}

#[test]
fn files_that_vanish_shrink_and_grow_while_a_tree_is_read_are_counted_and_told() {
    let scene = Scene::new();
    let Some(mount) = TmpfsMount::new(1 << 20) else { return };
    let tree = mount.path().join("tree");
    fs::create_dir(&tree).unwrap();
    for name in ["still", "gone", "longer", "shorter"] {
        fs::write(tree.join(name), name).unwrap();
    }
    let [longer, shorter] =
        ["longer", "shorter"].map(|name| OpenOptions::new().write(true).open(tree.join(name)).unwrap());
    [&longer, &shorter].iter().for_each(|file| file.set_len(LONG_BYTES).unwrap());
    // It is executed before the walk, and then before each phase.
    let (mark, gone) = (scene.path().join("walked"), tree.join("gone"));
    let vanish = format!("test -e {0} && rm -f {1}; touch {0}", mark.display(), gone.display());
    let words = [
        "bench",
        "tree",
        tree.to_str().unwrap(),
        "--caches",
        "cold",
        "--drop-command",
        &vanish,
        "--json",
        "run.json",
        "-q",
    ];
    // Never waited for: it ends with this process at the latest.
    let is_read = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&is_read);
    std::thread::spawn(move || change(&longer, &shorter, &is_over));
    let done = scene.run(&words);
    is_read.store(true, Ordering::Relaxed);
    assert_eq!(done.code, Some(0), "what fails in a tree is data: {done:?}");
    let told = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "2 files were longer or shorter than said when opened.",
        "Stat succeeded for 3 of 4; 1 was gone since the walk.",
        "Sum succeeded for 3 of 4; 1 was gone since the walk.",
        "1 of 4 `tree.stat` failed: not found; also `tree.read`.",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let run: Value = serde_json::from_slice(&fs::read(scene.path().join("run.json")).unwrap()).unwrap();
    assert_eq!((&run["run"]["state"]["state"], &run["phases"][1]["gone"]), (&"complete".into(), &1.into()));
    let [asked, read] = [0, 1].map(|stage| &run["tree"]["stages"][stage]);
    assert_eq!((&run["tree"]["found"]["files"], &asked["names"]), (&4.into(), &3.into()));
    assert_eq!((&read["files"], &read["changed"]), (&3.into(), &2.into()), "{read}");
    scene.assert_nobody_is_left();
}
