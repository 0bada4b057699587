//! `iolag replay`: programs that were traced, asked again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use iolag_fixtures::{current_test, skip};
use serde_json::Value;

use crate::support::{Scene, assert_says, wait_until};
use crate::trace::may_trace;

/// A trace made of text that strace might have written.
pub fn trace_of(scene: &Scene, text: &str) -> String {
    let (from, to) = (scene.path().join("x.strace"), scene.path().join("x.iolag"));
    fs::write(&from, text).unwrap();
    let done = scene.run(&["trace", "--from", from.to_str().unwrap(), "-o", to.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{done:?}");
    to.to_str().unwrap().to_owned()
}

/// Traces a command, in this directory, into a file.
fn traced(scene: &Scene, directory: &Path, command: &[&str]) -> String {
    let to = scene.path().join("traced.iolag").to_str().unwrap().to_owned();
    let words = [&["trace", "-o", &to, "--"], command].concat();
    let done = scene.command(&words).current_dir(directory).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    to
}

fn prepared(scene: &Scene, trace: &str) -> PathBuf {
    let skeleton = scene.path().join("skeleton");
    let done = scene.run(&["replay", trace, "--prepare", skeleton.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stdout, &[" has what ", "repeats it there."]);
    skeleton
}

/// Replays on a skeleton, by two copies: what came of it, as JSON.
fn replayed(scene: &Scene, trace: &str, more: &[&str]) -> Value {
    let skeleton = prepared(scene, trace);
    let words = ["replay", trace, skeleton.to_str().unwrap(), "--copies", "2", "--format", "json"];
    let done = scene.run(&[words.as_slice(), more].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

/// That it did what the program did: 99 % agree, 95 % are repeated.
fn assert_repeated(run: &Value) {
    let (agreement, coverage) = (&run["agreement"], &run["coverage"]);
    let share = |part: &Value, all: &Value| part.as_f64().unwrap() / all.as_f64().unwrap();
    assert!(share(&agreement["agreed"], &agreement["calls"]) >= 0.99, "{agreement}: {}", run["findings"]);
    assert!(share(&coverage["repeated"], &coverage["traced"]) >= 0.95, "{coverage}");
    assert_eq!(run["void"].as_array().unwrap().len(), 0);
    assert_eq!(run["copies"].as_array().unwrap().len(), 2);
}

#[test]
fn git_is_repeated_on_a_skeleton() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let work = scene.target();
    fs::create_dir_all(work.join("a/b")).unwrap();
    (0..50).for_each(|file| fs::write(work.join(format!("a/b/{file}")), "x").unwrap());
    for words in [&["init", "-q"][..], &["add", "."]] {
        let done =
            Command::new("git").args(words).current_dir(&work).env("HOME", scene.home()).status().unwrap();
        assert!(done.success());
    }
    let trace = traced(&scene, &work, &["git", "--no-optional-locks", "status"]);
    assert_repeated(&replayed(&scene, &trace, &[]));
    scene.assert_nobody_is_left();
}

#[test]
fn a_shell_script_with_pipes_is_repeated_on_a_skeleton() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let script = "for i in 1 2 3; do ls /usr/lib | sort | head -3 | cat; done > /dev/null; cat /etc/passwd | (read line; :)";
    let trace = traced(&scene, &scene.target(), &["sh", "-c", script]);
    let run = replayed(&scene, &trace, &["--timing", "gaps", "--speed", "10"]);
    assert_repeated(&run);
    assert!(run["tasks"].as_u64().unwrap() > 10, "{run}");
}

#[test]
fn an_import_of_numpy_is_repeated_on_a_skeleton() {
    if !may_trace() {
        return;
    }
    // The runner has one with packages.
    let python = std::env::var("IOLAG_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !has_numpy.is_ok_and(|done| done.status.success()) {
        return skip(&current_test(), "numpy is not installed");
    }
    let scene = Scene::new();
    let trace = traced(&scene, &scene.target(), &[&python, "-c", "import numpy"]);
    let run = replayed(&scene, &trace, &["--start", "staggered"]);
    assert_repeated(&run);
    let found_nothing = |text: &str| run["stages"].to_string().contains(text);
    assert!(found_nothing("call.stat") && found_nothing("call.open"));
}

#[test]
fn a_compiler_is_repeated_and_changes_files_of_its_own_only() {
    if !may_trace() {
        return;
    }
    let scene = Scene::new();
    let work = scene.target();
    fs::write(work.join("main.c"), "#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }\n")
        .unwrap();
    let trace = traced(&scene, &work, &["gcc", "-O1", "-o", "main", "main.c"]);
    let run = replayed(&scene, &trace, &["--allow-write"]);
    assert_repeated(&run);
    for call in ["call.create", "call.write", "call.unlink"] {
        assert!(run["stages"].to_string().contains(call), "{call}: {run}");
    }
    let skeleton = scene.path().join("skeleton");
    assert!(!skeleton.join("iolag-work").exists(), "it is removed again");
    assert!(!skeleton.join(work.strip_prefix("/").unwrap()).join("main").exists(), "nothing else is made");
    // Without leave it is left out, which is too much for a run that says something.
    let words = ["replay", &trace, skeleton.to_str().unwrap()];
    let done = scene.run(&words);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_says(&done.stderr, &["would change what is there", "--allow-write"]);
    scene.assert_nobody_is_left();
}

#[test]
fn what_is_changed_is_as_it_was_for_the_program_and_the_target_stays_as_it_is() {
    let scene = Scene::new();
    let trace = trace_of(
        &scene,
        "\
1 stat(\"/site/new\", 0x1) = -1 ENOENT (No such file or directory)
1 mkdir(\"/site/d\", 0777) = 0
1 openat(AT_FDCWD, \"/site/d/new\", O_RDWR|O_CREAT|O_EXCL, 0600) = 3
1 write(3, \"\"..., 70000) = 70000
1 lseek(3, 0, SEEK_SET) = 0
1 read(3, \"\"..., 100000) = 70000
1 close(3) = 0
1 rename(\"/site/d/new\", \"/site/new\") = 0
1 stat(\"/site/new\", {st_mode=S_IFREG|0600, st_size=70000, ...}) = 0
1 unlink(\"/site/kept\") = 0
1 unlink(\"/site/kept\") = -1 ENOENT (No such file or directory)
1 rmdir(\"/site/d\") = 0
",
    );
    let target = scene.target();
    fs::write(target.join("kept"), "text").unwrap();
    // That it is there is not for the copies to see.
    fs::write(target.join("new"), "other").unwrap();
    let map = format!("/site={}", target.display());
    let done =
        scene.run(&["replay", &trace, "--map", &map, "--allow-write", "--copies", "3", "--repeat", "2"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["All 36 calls came back as they did then."]);
    assert_says(&done.stderr, &["files are only read, but for those of its own in ", "/iolag-work"]);
    // The first has ended long before the second begins, which needs its own files then.
    let words = ["replay", &trace, "--map", &map, "--allow-write", "--copies", "2", "--start", "200ms"];
    let done = scene.run(&words);
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut names: Vec<_> = fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["kept", "new"]);
    assert_eq!(
        fs::read_to_string(target.join("kept")).unwrap() + &fs::read_to_string(target.join("new")).unwrap(),
        "textother"
    );
    scene.assert_nobody_is_left();
}

pub const SMALL: &str = "\
1 stat(\"/site/a\", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0
1 stat(\"/site/absent\", 0x1) = -1 ENOENT (No such file or directory)
1 openat(AT_FDCWD, \"/site/a\", O_RDONLY) = 3
1 read(3, \"\"..., 4096) = 5
1 read(3, \"\"..., 4096) = 0
1 close(3) = 0
";

#[test]
fn what_cannot_be_repeated_is_refused_in_one_sentence() {
    let scene = Scene::new();
    let trace = trace_of(&scene, SMALL);
    let target = scene.target().to_str().unwrap().to_owned();
    for (words, code, expected) in [
        (vec!["replay", &trace], 2, "nothing says where to repeat it"),
        (vec!["replay", "/no/such.iolag", &target], 3, "cannot open the run"),
        (vec!["replay", &trace, "/no/such/directory"], 3, "cannot open /no/such/directory"),
        (vec!["replay", &trace, "--map", "/other=/tmp"], 2, "--map /other: no call in the trace"),
        (vec!["replay", &trace, "--map", "/site=/tmp", "--map", "/sit=/tmp"], 2, "/site (6 calls)"),
        (
            vec!["replay", &trace, "--map", "/site=/tmp", "--only", "/site/a", "--only", "/x"],
            2,
            "--only /x: no",
        ),
        (vec!["replay", &trace, "--map", "/site=/proc"], 3, "never repeated in /proc"),
        (vec!["replay", &trace, "--map", "site=/tmp"], 2, "has to begin with a slash"),
        (vec!["replay", &trace, "--map", "/site"], 2, "expected FROM=TO"),
        (vec!["replay", &trace, &target, "--only", "/elsewhere"], 2, "--only /elsewhere: no call"),
        (vec!["replay", &trace, "memory:"], 2, "name a directory"),
        (vec!["replay", &trace, &target, "--speed", "2"], 2, "as soon as possible is as fast as it gets"),
        (vec!["replay", &trace, &target, "--caches", "warm"], 2, "--caches warm would read"),
        (vec!["replay", &trace, &target, "--bystander"], 2, "iolag ping DIR"),
        (vec!["replay", &trace, &target, "--check"], 3, "look-ups would not come back as they did"),
        (vec!["replay", &trace, "--prepare", &target, "--map", "/a=/b"], 2, "cannot be used with"),
        (vec!["replay", &trace, "--prepare", &target, "--copies", "4"], 2, "cannot be used with"),
    ] {
        let done = scene.run(&words);
        assert_eq!(done.code, Some(code), "{words:?}: {done:?}");
        assert_says(&done.stderr, &[expected]);
    }
    fs::write(scene.target().join("x"), "").unwrap();
    let done = scene.run(&["replay", &trace, "--prepare", &target]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_says(&done.stderr, &["is not empty: name a directory that is not there yet"]);
    scene.assert_nobody_is_left();
}

#[test]
fn a_directory_without_the_files_makes_a_run_void() {
    let scene = Scene::new();
    let trace = trace_of(&scene, SMALL);
    let directory = scene.target().join("<b>");
    fs::create_dir(&directory).unwrap();
    let target = directory.to_str().unwrap().to_owned();
    let done = scene.run(&["replay", &trace, "--map", &format!("/site={target}")]);
    assert_eq!(done.code, Some(4), "{done:?}");
    let told = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["5 of 6 calls came back otherwise than then: 16.6 % agree.", "This run is void"]);
    let missing = format!("newfstatat {target}/a: not found (errno 2); the trace has success");
    assert_says(&done.stderr, &[&missing]);
    // What failed only since nothing could be opened is told with that, by its path, and on the page nothing of it is markup.
    let read = format!(
        "2 × read {target}/a: bad descriptor, since what it is about could not be opened (EBADF, errno 9)"
    );
    let shown = scene.run(&["show", "last"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&shown, &["Calls that came back otherwise than when they were traced", &missing, &read]);
    let page = scene.path().join("page.html").to_str().unwrap().to_owned();
    assert_eq!(scene.run(&["report", "last", "-o", &page]).code, Some(0));
    let escaped = missing.replace('<', "&lt;").replace('>', "&gt;");
    let page = fs::read_to_string(&page).unwrap();
    assert_says(&page, &["Calls that came back otherwise", &escaped]);
    assert!(!page.contains(&missing), "what a path says is no markup");
    assert_says(
        &told,
        &["because of that, 2 `call.read` (other error) and 1 `call.close` (other error) failed"],
    );
    assert!(!told.contains("benchmark 1"), "{told}");
    // The same with what the program found.
    fs::write(directory.join("a"), "12345").unwrap();
    let done = scene.run(&["replay", &trace, "--map", &format!("/site={target}"), "--check"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stderr, &["0 of 3 look-ups would not come back as they did"]);
    assert_says(&done.stdout, &["All 6 calls came back as they did then."]);
}

#[test]
fn a_trace_that_is_cut_off_is_no_whole_program() {
    let scene = Scene::new();
    let calls: String = (0..20_000)
        .map(|number| format!("1 stat(\"/site/{number}\", 0x1) = -1 ENOENT (No such file or directory)\n"))
        .collect();
    let trace = trace_of(&scene, &calls);
    let whole = fs::read(&trace).unwrap();
    fs::write(&trace, &whole[..whole.len() * 7 / 10]).unwrap();
    let map = format!("/site={}", scene.target().display());
    let done = scene.run(&["replay", &trace, "--map", &map, "-q"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["only a part of the program is repeated", "trace it again, to its end"]);
}

#[test]
fn a_directory_without_its_names_is_not_as_it_was() {
    let scene = Scene::new();
    let trace = trace_of(
        &scene,
        "\
1 openat(AT_FDCWD, \"/site\", O_RDONLY|O_DIRECTORY) = 3
1 getdents64(3, [], 32768) = 3248
1 getdents64(3, [], 32768) = 0
",
    );
    let map = format!("/site={}", scene.target().display());
    let done = scene.run(&["replay", &trace, "--map", &map]);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["bytes of names came, of 3248 then"]);
    let run = replayed(&scene, &trace, &[]);
    assert_repeated(&run);
}

#[test]
fn copies_and_targets_are_a_campaign() {
    let scene = Scene::new();
    let trace = trace_of(&scene, SMALL);
    let maps: Vec<String> = ["one", "two"]
        .iter()
        .map(|name| {
            let target = scene.target().join(name);
            fs::create_dir(&target).unwrap();
            fs::write(target.join("a"), "12345").unwrap();
            format!("/site={}", target.display())
        })
        .collect();
    let words = ["replay", &trace, "--map", &maps[0], "--map", &maps[1], "--copies", "1,2", "--repeat", "2"];
    let done = scene.run(&[words.as_slice(), &["--format", "json", "--judge", "10s"]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    let document: Value = serde_json::from_str(&done.stdout).unwrap();
    let runs = document.as_array().unwrap();
    assert_eq!(runs.len(), 9);
    assert_eq!(runs[8]["kind"], "time-against-copies");
    for run in &runs[..8] {
        let copies = run["copies"].as_array().unwrap().len() as u64;
        assert_eq!(run["run"]["coordinates"]["copies"], copies.to_string());
        assert_eq!(run["judgement"]["over"], 0);
    }
}

/// As a line, whatever the terminal was.
pub fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn too_little_is_refused_before_anything_is_measured() {
    let scene = Scene::new();
    let trace =
        trace_of(&scene, &format!("{SMALL}1 mkdir(\"/site/b\", 0777) = 0\n1 mkdir(\"/site/c\", 0777) = 0\n"));
    fs::write(scene.target().join("a"), "12345").unwrap();
    let target = scene.target().to_str().unwrap().to_owned();
    let done = scene.run(&["replay", &trace, "--map", &format!("/site={target}"), "--copies", "1,2"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_says(
        &done.stderr,
        &[&target, "of less than 95 % every run is void", "what it changed is repeated with --allow-write"],
    );
    let elsewhere = trace_of(
        &scene,
        &format!("{SMALL}1 stat(\"/other/b\", {{st_mode=S_IFREG|0644, st_size=5, ...}}) = 0\n"),
    );
    let done = scene.run(&["replay", &elsewhere, "--map", &format!("/site={target}")]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_says(&done.stderr, &["most of all 1 call (not mapped, as", "map more directories by the names"]);
    assert_eq!(scene.run(&["show", "last"]).code, Some(3), "nothing was measured");
}

#[test]
fn a_campaign_of_which_all_is_void_says_so_and_has_no_table_figure_or_comparison() {
    let scene = Scene::new();
    let trace = trace_of(&scene, SMALL);
    let maps: Vec<String> = ["one", "two"]
        .iter()
        .map(|name| {
            fs::create_dir(scene.target().join(name)).unwrap();
            format!("/site={}", scene.target().join(name).display())
        })
        .collect();
    let words =
        ["replay", &trace, "--map", &maps[0], "--map", &maps[1], "--copies", "1,2", "--payload", "5s"];
    let done = scene.run(&words);
    assert_eq!(done.code, Some(4), "{done:?}");
    let void = "All 4 runs are void, since less than 99 % of the calls came back as they did when the program was traced";
    let told = in_a_line(&done.stdout);
    assert_says(&told, &[void, "no number of copies is advised for jobs that compute for 5s"]);
    assert!(!told.contains("objects per second"), "{told}");
    assert_says(&in_a_line(&scene.run(&["show", "last"]).stdout), &[void]);
    assert_says(&in_a_line(&scene.run(&["show", "campaign:last"]).stdout), &[void]);
    let file = scene.path().join("x.svg").to_str().unwrap().to_owned();
    for words in [&["plot", "--figure", "002-3", "last"][..], &["plot", "jobs", "last"]] {
        let done = scene.run(&[words, &["-o", &file]].concat());
        assert_eq!(done.code, Some(2), "{done:?}");
        assert_says(&done.stderr, &[void]);
    }
    let compared = scene.run(&["compare", "campaign:last"]);
    assert_eq!(compared.code, Some(3), "{compared:?}");
    assert_says(&compared.stderr, &["all runs are void"]);
}

#[test]
fn a_campaign_tells_each_run_in_short_and_its_end_again_and_again() {
    let scene = Scene::new();
    let trace = trace_of(&scene, SMALL);
    fs::write(scene.target().join("a"), "12345").unwrap();
    let map = format!("/site={}", scene.target().display());
    let page = scene.path().join("page.html");
    let words = ["replay", &trace, "--map", &map, "--copies", "1,2,3", "--repeat", "3", "--payload", "5s"];
    let done = scene.run(&[words.as_slice(), &["--report", page.to_str().unwrap()]].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stdout.matches("A copy repeats").count(), 1, "{}", done.stdout);
    assert!(
        done.stdout.contains(", 3 copies, repetition 2 (") && !done.stdout.contains("command"),
        "{}",
        done.stdout
    );
    let again = scene.run(&["show", "campaign:last"]);
    assert_says(&again.stdout, &["Time of a copy against copies at once", "How many copies to run"]);
    assert!(done.stdout.ends_with(&again.stdout), "{}\n---\n{}", done.stdout, again.stdout);
    // What was asked then is asked again of one run, too.
    assert_says(&scene.run(&["show", "last"]).stdout, &["How many copies to run"]);
    let one = scene.path().join("again.html").to_str().unwrap().to_owned();
    assert_eq!(scene.run(&["report", "campaign:last", "-o", &one]).code, Some(0));
    for path in [page, one.into()] {
        let page = fs::read_to_string(path).unwrap();
        let places = [
            "How many copies to run</h2>",
            "Time of a copy against copies at once</h2>",
            "Each run</h2>",
            "<details><summary>",
        ];
        let places = places.map(|text| page.find(text).unwrap_or_else(|| panic!("{text}")));
        assert!(places.is_sorted(), "{places:?}");
        assert!(
            page.contains("replayed by 1, 2 and 3 copies")
                && page.contains("<summary>2 copies, repetition 3 (")
        );
    }
    let file = scene.path().join("x.svg").to_str().unwrap().to_owned();
    for words in [&["plot", "--figure", "002-3", "campaign:last"][..], &["plot", "jobs", "campaign:last"]] {
        assert_eq!(scene.run(&[words, &["-o", &file]].concat()).code, Some(0));
    }
}

#[test]
fn a_skeleton_names_the_links_that_could_not_be_made() {
    let scene = Scene::new();
    let trace = trace_of(&scene, &format!("{SMALL}1 readlink(\"/site/l\", \"\"..., 4096) = 99\n"));
    let skeleton = scene.path().join("skeleton").to_str().unwrap().to_owned();
    let done = scene.run(&["replay", &trace, "--prepare", &skeleton]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stdout, &["1 link could not be made", "no name is as long: /site/l; an empty file"]);
}

/// A call each 50 ms for a minute.
fn slow_program() -> String {
    (0..1200).map(|call| {
        let (second, part) = (1_700_000_000 + call / 20, call % 20 * 50);
        format!("1 {second}.{part:03}000 stat(\"/site/a\", {{st_mode=S_IFREG|0644, st_size=5, ...}}) = 0 <0.000010>\n")
    })
    .collect()
}

#[test]
fn ctrl_c_in_mid_sweep_ends_all_copies_and_keeps_what_was_measured() {
    let scene = Scene::new();
    let trace = trace_of(&scene, &slow_program());
    fs::write(scene.target().join("a"), "12345").unwrap();
    let map = format!("/site={}", scene.target().display());
    let words =
        ["replay", &trace, "--map", &map, "--copies", "3,2", "--timing", "gaps", "--order", "sequential"];
    let mut running = scene.start(&words);
    running.wait_for("repeating ");
    assert!(wait_until(crate::support::PATIENCE, || scene.processes().len() >= 5), "{:?}", scene.processes());
    // The minute that it takes has begun.
    std::thread::sleep(std::time::Duration::from_secs(1));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["1 further run is left out"]);
    let told = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["incomplete: interrupted (Ctrl-C)"]);
    // On a machine that is very busy they have not begun.
    let is_told = ["were stopped before their end", "No copy began"].iter().any(|text| told.contains(text));
    assert!(is_told, "{told}");
    scene.assert_nobody_is_left();
    assert_eq!(scene.run(&["show", "last"]).code, Some(0));
}

#[test]
fn a_copy_that_takes_too_long_is_ended_and_judged() {
    let scene = Scene::new();
    let trace = trace_of(&scene, &slow_program());
    fs::write(scene.target().join("a"), "12345").unwrap();
    let map = format!("/site={}", scene.target().display());
    let limits = ["--kill-after", "300ms", "--judge", "300ms", "--copies", "2", "--timing", "exact"];
    let done = scene.run(&[&["replay", &trace, "--map", &map], limits.as_slice()].concat());
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["2 of 2 copies took longer than 300ms", "ended when their time was up"]);
    assert_says(&done.stdout, &["A copy that comes to its end repeats 1 200 of 1 200"]);
}
