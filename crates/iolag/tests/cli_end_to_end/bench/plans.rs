//! Plans: ready-made ones, errors with file and line, and sides with commands before and after their runs.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use iolag_fixtures::{FuseMount, TmpfsMount};
use serde_json::Value;

use crate::support::{Scene, wait_for, wait_until};
use crate::user::{Said, User, number, text};

const BENCH: &str =
    "[[bench]]\nworkload = \"metadata\"\ndatasets = 1\nprecreate = [5]\nobjects = 2\niterations = 1\n";

/// Runs the plan of this text, which ends with [`BENCH`].
fn run(user: &User, plan: &str, more: &[&str]) -> Said {
    std::fs::write(user.path("plan.toml"), format!("{plan}\n{BENCH}")).unwrap();
    user.iolag(&[&["run", "plan.toml"], more].concat())
}

fn records(user: &User) -> Vec<Value> {
    serde_json::from_str(&user.fine(&["list", "--json", "-"]).output).unwrap()
}

/// A side in memory, with commands of the shell before and after its runs.
fn side(name: &str, before: &str, after: &str) -> String {
    let command = |words: &str| format!("{{ command = [\"sh\", \"-c\", {words:?}], deadline = \"20s\" }}");
    format!(
        "[[side]]\nname = {name:?}\ntarget = \"memory:\"\nbefore = {}\nafter = {}\n",
        command(before),
        command(after)
    )
}

/// The same, its commands ended soon.
fn hurried(side: String) -> String {
    side.replace("\"20s\"", "\"2s\"")
}

fn lines(user: &User, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(user.path(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn ready_made_plans_are_listed_printed_and_taken() {
    let user = User::new();
    let list = user.fine(&["plan"]).output;
    for (name, command) in [
        ("md-workbench", "iolag run md-workbench.toml DIR"),
        ("nfs-vs-native", "iolag run nfs-vs-native.toml DIR"),
        ("job-setup", "iolag run job-setup.toml DIR"),
        ("nightly", "iolag run nightly.toml DIR"),
        ("login-node", "iolag watch -c login-node.toml"),
    ] {
        assert!(list.contains(name) && list.contains(command), "{list}");
        let printed = user.fine(&["plan", name]);
        assert!(printed.errors.contains(command), "{printed:?}");
        std::fs::write(user.path(&format!("{name}.toml")), printed.output).unwrap();
    }
    let unknown = user.iolag(&["plan", "nigthly"]);
    assert_eq!((unknown.code, unknown.output.as_str()), (2, ""), "{unknown:?}");
    assert!(
        unknown
            .errors
            .contains("expected one of md-workbench, nfs-vs-native, job-setup, nightly, login-node"),
        "{unknown:?}"
    );
    let watch = user.iolag(&["run", "login-node.toml"]);
    assert_eq!(watch.code, 2, "{watch:?}");
    assert!(watch.errors.contains("login-node.toml:4: this is a watch file, and no plan"), "{watch:?}");
    let plan = user.iolag(&["watch", "-c", "nightly.toml"]);
    assert_eq!(plan.code, 2, "{plan:?}");
    assert!(plan.errors.contains("this is a plan, and no watch file: iolag run /"), "{plan:?}");
    let nowhere = user.iolag(&["run", "nightly.toml"]);
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
    assert!(nowhere.errors.contains("storage has no target: name one"), "{nowhere:?}");
    let absent = user.iolag(&["run", "nightly"]);
    assert_eq!(absent.code, 2, "{absent:?}");
    let told = "nightly is a plan that comes with iolag, and no file yet: iolag plan nightly > nightly.toml writes one, iolag run nightly.toml DIR takes it";
    assert!(absent.errors.contains(told), "{absent:?}");
    let unknown = user.iolag(&["run", "nigthly.toml"]);
    assert!(unknown.errors.contains("iolag plan shows ready-made ones"), "{unknown:?}");
    assert!(!user.path("data").exists(), "nothing was made");
}

#[test]
fn errors_of_a_plan_have_file_and_line() {
    let user = User::new();
    let refused = run(&user, "\nrepaet = 4", &["memory:"]);
    assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{refused:?}");
    let expected = format!("{}:2: unknown field `repaet`", user.path("plan.toml").display());
    assert!(refused.errors.contains(&expected), "{refused:?}");
    for (key, told) in [("repeat", "is too large"), ("working-name", "expected a text in quotes")] {
        let large = "100000000000000000000000";
        let refused = run(&user, &format!("{key} = {large}"), &["memory:"]);
        let integer = refused.errors.trim_end().split_once("integer ").map(|(_, integer)| integer);
        let expected = |integer: &str| integer.starts_with(&format!("`{large}`")) && integer.ends_with(told);
        assert!(integer.is_some_and(expected) && !refused.errors.contains("i128"), "{refused:?}");
    }
}

#[test]
fn what_never_ends_is_no_plan() {
    let user = User::new();
    let refused = user.iolag(&["run", "/dev/zero", "memory:"]);
    assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{refused:?}");
    assert!(refused.errors.contains("it has more than 1048576 bytes, which is no plan"), "{refused:?}");
}

#[test]
fn the_sides_of_a_plan_take_turns_and_are_gone_on_with() {
    let user = User::new();
    let plan = "name = \"two\"\nrepeat = 2\nlabels = { system = \"quiet\" }\n[[side]]\nname = \"fast\"\ntarget = \"memory:\"\n\
                labels = { client = \"new\" }\n[[side]]\nname = \"slow\"\ntarget = \"delayed:10us:memory:\"\n";
    let said = run(&user, plan, &["--label", "night=1"]);
    assert_eq!(said.code, 0, "{said:?}");
    let runs = records(&user);
    let sides: Vec<&str> = runs.iter().map(|run| text(&run["coordinates"], "side")).collect();
    assert!(
        sides == ["fast", "slow", "slow", "fast"] || sides == ["slow", "fast", "fast", "slow"],
        "{sides:?}"
    );
    assert!(runs.iter().all(|run| text(&run["plan"], "name") == "two"), "{runs:?}");
    let fast = runs.iter().find(|run| text(&run["coordinates"], "side") == "fast").unwrap();
    let labels = ["client", "night", "system"].map(|name| text(&fast["labels"], name));
    assert_eq!(labels, ["new", "1", "quiet"]);
    let table = said.output.rsplit_once("repetition").unwrap().1;
    assert!(table.contains("  fast ") && table.contains("  slow "), "{table}");
    let shown = user.fine(&["show", "last"]).output;
    assert!(shown.contains("plan      two"), "{shown}");

    let again = run(&user, plan, &["--label", "night=1", "--resume", "last"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.errors.contains("4 of 4 runs are already complete"), "{again:?}");
    assert_eq!(records(&user).len(), 4);
    let other = run(&user, &plan.replace("\"two\"", "\"three\""), &["--resume", "last"]);
    assert_eq!(other.code, 2, "{other:?}");
}

#[test]
fn commands_are_executed_around_every_run() {
    let user = User::new();
    let sides = ["old", "new"].map(|name| {
        side(name, &format!("echo before {name} >> $HOME/log"), &format!("echo after {name} >> $HOME/log"))
    });
    let said = run(&user, &format!("repeat = 2\norder = \"sequential\"\n{}", sides.concat()), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let around = |name: &str| [format!("before {name}"), format!("after {name}")];
    let expected = ["old", "old", "new", "new"].map(around).concat();
    assert_eq!(lines(&user, "log"), expected);
    for name in ["old", "new"] {
        let told = said.errors.matches(&format!("executed before each run of {name}: /")).count();
        assert_eq!(told, 1, "once per side: {said:?}");
        assert!(said.errors.contains(&format!("; after each run of {name}: /")), "{said:?}");
    }
    let quiet = user.iolag(&["--quiet", "run", "plan.toml"]);
    assert_eq!((quiet.code, quiet.errors.as_str()), (0, ""), "{quiet:?}");
    let shown = user.fine(&["show", "last"]).output;
    assert!(shown.contains("before    /") && shown.contains("echo after new"), "{shown}");
    let other = run(
        &user,
        &format!("repeat = 2\norder = \"sequential\"\n{}", side("old", "true", "true")),
        &["--resume", "last"],
    );
    assert_eq!(other.code, 2, "{other:?}");
}

#[test]
fn without_its_command_before_a_run_is_not_made_and_the_others_are() {
    let user = User::new();
    let bad = [
        side("fails", "echo no such module >&2; exit 3", "echo after fails >> $HOME/log"),
        hurried(side("hangs", "sleep 1000", "echo after hangs >> $HOME/log")),
        side("works", "true", "echo after works >> $HOME/log"),
    ];
    let said = run(&user, &format!("order = \"sequential\"\n{}", bad.concat()), &[]);
    assert_eq!(said.code, 4, "{said:?}");
    for told in [
        "the command before runs of fails, /",
        "failed with exit status 3 (no such module); this run is not made",
        "has not ended after 2.00 s, and was ended; this run is not made",
    ] {
        assert!(said.errors.contains(told), "{told}: {said:?}");
    }
    assert_eq!(lines(&user, "log"), ["after fails", "after hangs", "after works"]);
    let runs = records(&user);
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(text(&runs[0]["coordinates"], "side"), "works");
    // Without the base there is nothing to compare with, neither now nor later.
    assert!(said.errors.contains("fails cannot be compared: it has no run"), "{said:?}");
    let later = user.iolag(&["compare", "campaign:last"]);
    assert_eq!((later.code, later.output.as_str()), (3, ""), "{later:?}");
    assert!(
        later.errors.contains("fails has no run: nothing is compared with it, name another base"),
        "{later:?}"
    );
    let named = user.iolag(&["compare", "campaign:last:works", "campaign:last:fails"]);
    assert_eq!((named.code, named.output.as_str()), (3, ""), "{named:?}");
    assert!(named.errors.contains("fails has no run: it is compared with nothing"), "{named:?}");
}

#[test]
fn a_side_without_a_run_is_told_where_the_others_are_compared() {
    let user = User::new();
    let sides = [side("one", "true", "true"), side("fails", "exit 3", "true"), side("two", "true", "true")];
    let said = run(&user, &format!("order = \"sequential\"\n{}", sides.concat()), &[]);
    assert_eq!(said.code, 3, "{said:?}");
    let later = user.iolag(&["compare", "campaign:last"]);
    assert_eq!(later.code, 3, "{later:?}");
    for compared in [&said, &later] {
        assert!(
            compared.output.contains("no run here") && compared.output.contains("fails has no run."),
            "{compared:?}"
        );
    }
    let document = user.iolag(&["compare", "campaign:last", "--json", "-"]);
    let document: Value = serde_json::from_str(&document.output).unwrap();
    let names: Vec<&str> =
        document["sides"].as_array().unwrap().iter().map(|side| text(side, "name")).collect();
    assert_eq!(names, ["one", "fails", "two"]);
    let cells = document["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(text(&cells[0], "word"), "no-run", "{document}");
    assert_eq!(document["left_out"][0]["side"], "fails", "{document}");
    let none = user.iolag(&["baseline", "set", "nothing", "campaign:last:fails"]);
    assert_eq!((none.code, none.output.as_str()), (3, ""), "{none:?}");
    assert!(none.errors.contains("campaign:last:fails has no run that a baseline could have"), "{none:?}");
}

#[test]
fn nothing_is_executed_for_a_run_that_the_store_does_not_take() {
    let user = User::new();
    let Some(full) = TmpfsMount::new(256 << 10) else { return };
    full.fill().unwrap();
    let no_directory = user.path("file");
    std::fs::write(&no_directory, "").unwrap();
    let plan = ["old", "new"].map(|name| side(name, "echo before >> $HOME/log", "echo after >> $HOME/log"));
    for store in [full.path(), &no_directory] {
        let said = run(&user, &plan.concat(), &["--store", store.to_str().unwrap()]);
        assert_eq!(said.code, 3, "{said:?}");
        assert!(said.errors.contains(store.to_str().unwrap()), "{said:?}");
        assert!(lines(&user, "log").is_empty(), "{said:?}");
    }
}

#[test]
fn a_command_before_a_run_that_cannot_be_ended_ends_the_campaign() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    fuse.hang_all();
    let log = scene.path().join("log").display().to_string();
    let after = |name: &str| format!("echo after {name} >> {log}");
    let stuck = hurried(side("stuck", &format!("stat {}/x", fuse.path().display()), &after("stuck")));
    let plan = format!("order = \"sequential\"\n{stuck}{}{BENCH}", side("next", "true", &after("next")));
    std::fs::write(scene.path().join("plan.toml"), plan).unwrap();
    let done = scene.run(&["run", "plan.toml"]);
    fuse.release();
    assert_eq!(done.code, Some(4), "{done:?}");
    for told in [
        "does not end, and cannot be ended; this run is not made, and nobody knows what is in place now, so the campaign ends",
        "the campaign ends here: 1 further run is left out",
    ] {
        assert!(done.stderr.contains(told), "{told}: {done:?}");
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "after stuck\n", "the next side was not touched");
}

#[test]
fn a_side_that_cannot_be_put_back_ends_the_campaign() {
    let user = User::new();
    let sides = [side("stuck", "true", "exit 1"), side("next", "echo next >> $HOME/log", "true")];
    let said = run(&user, &format!("order = \"sequential\"\n{}", sides.concat()), &[]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.errors.contains("nobody knows what is in place now, so the campaign ends"), "{said:?}");
    assert!(said.errors.contains("the campaign ends here: 1 further run is left out"), "{said:?}");
    assert_eq!(records(&user).len(), 1);
    assert!(lines(&user, "log").is_empty(), "the next side was not touched");
    assert_eq!(text(&records(&user)[0]["put_back"], "outcome"), "failed");
    let shown = user.fine(&["show", "last"]).output;
    assert!(shown.contains("failed with exit status 1; nobody knows what is in place now"), "{shown}");
    let gone_on = user.iolag(&["run", "plan.toml", "--resume", "last"]);
    let told = "was the last of this campaign: the command after runs of stuck, /";
    assert!(gone_on.errors.contains(told), "{gone_on:?}");
    let first = gone_on.errors.lines().find(|line| line.contains(told)).unwrap();
    assert!(first.ends_with("nobody knows what is in place now"), "it goes on: {gone_on:?}");
    let again = user.iolag(&["run", "plan.toml", "--resume", "last"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(!again.errors.contains("was the last"), "what came after it ended well: {again:?}");
}

#[test]
fn who_goes_on_after_iolag_was_killed_is_told_that_the_side_may_not_be_put_back() {
    let scene = Scene::new();
    let begun = scene.path().join("begun");
    let after = format!("echo > {}; sleep 1000", begun.display());
    let plan = format!("order = \"sequential\"\n{}{BENCH}", side("slow", "true", &after));
    std::fs::write(scene.path().join("plan.toml"), &plan).unwrap();
    let running = scene.start(&["run", "plan.toml"]);
    wait_for("the command after the run", || begun.exists().then_some(()));
    running.signal(libc::SIGKILL);
    running.finish();
    let gone_on = scene.run(&["run", "plan.toml", "--resume", "last", "--quiet"]);
    assert_eq!(gone_on.code, Some(0), "{gone_on:?}");
    assert!(gone_on.stderr.contains("may not have ended, since iolag was killed"), "{gone_on:?}");
}

#[test]
fn what_a_command_leaves_running_is_there_until_after() {
    let user = User::new();
    let begin = "sleep 1000 > /dev/null 2>&1 & echo $! > $HOME/daemon";
    // Fails if it is gone already.
    let end = "kill $(cat $HOME/daemon)";
    let said = run(&user, &side("daemon", begin, end), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let process = lines(&user, "daemon").remove(0);
    let is_gone = || !std::fs::exists(format!("/proc/{process}")).unwrap();
    assert!(wait_until(Duration::from_secs(30), is_gone), "{process}");
    let said = run(&user, &side("fails", &format!("{begin}; exit 1"), "true"), &[]);
    assert_eq!(said.code, 3, "{said:?}");
    let process = lines(&user, "daemon").remove(0);
    let is_gone = || !std::fs::exists(format!("/proc/{process}")).unwrap();
    assert!(wait_until(Duration::from_secs(30), is_gone), "what was not set up is taken away: {process}");
}

#[test]
fn a_user_who_ends_a_campaign_gets_the_side_put_back() {
    let scene = Scene::new();
    let log = scene.path().join("log").display().to_string();
    let slow = BENCH.replace("iterations = 1", "iterations = 1000\nthink = \"10ms\"");
    let plan =
        format!("repeat = 2\n{}{slow}", side("one", "true", &format!("sleep 0.3; echo after >> {log}")));
    std::fs::write(scene.path().join("plan.toml"), plan).unwrap();
    let mut running = scene.start(&["run", "plan.toml"]);
    running.wait_for("measuring");
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "after\n");
    assert!(done.stderr.contains("the campaign ends here: 1 further run is left out"), "{done:?}");
}

#[test]
fn who_ends_a_campaign_between_its_runs_is_told_that_it_is_incomplete() {
    let scene = Scene::new();
    let log = scene.path().join("log").display().to_string();
    let plan = format!(
        "repeat = 2\n{}{BENCH}",
        side("one", "true", &format!("echo begun >> {log}; sleep 1; echo done >> {log}"))
            .replace("\"20s\"", "\"60s\"")
    );
    std::fs::write(scene.path().join("plan.toml"), plan).unwrap();
    let running = scene.start(&["run", "plan.toml"]);
    assert!(wait_until(Duration::from_secs(30), || std::fs::exists(&log).unwrap()));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "begun\ndone\n", "what puts things back goes on");
    assert!(done.stderr.contains("the campaign ends here: 1 further run is left out"), "{done:?}");
    assert_eq!(done.code, Some(4), "{done:?}");
}

#[test]
fn who_ends_a_campaign_while_a_command_ends_by_itself_gets_no_empty_run() {
    let scene = Scene::new();
    let place = scene.path().display().to_string();
    let before =
        format!("while ! [ -e {place}/process ]; do sleep 0.01; done; kill -INT $(cat {place}/process)");
    let plan = side("one", &before, &format!("echo after >> {place}/log")).replace("\"20s\"", "\"60s\"");
    std::fs::write(scene.path().join("plan.toml"), plan + BENCH).unwrap();
    let running = scene.start(&["run", "plan.toml"]);
    std::fs::write(scene.path().join("process.new"), running.id().to_string()).unwrap();
    std::fs::rename(scene.path().join("process.new"), scene.path().join("process")).unwrap();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_eq!(std::fs::read_to_string(scene.path().join("log")).unwrap(), "after\n");
    let runs: Vec<Value> = serde_json::from_str(&scene.run(&["list", "--json", "-"]).stdout).unwrap();
    assert!(runs.is_empty(), "{runs:?}");
}

#[test]
fn a_command_that_is_asked_to_end_has_time_to_put_things_in_order() {
    let user = User::new();
    let before = "trap 'sleep 0.5; echo in order >> $HOME/log; exit 1' TERM; while :; do sleep 0.1; done";
    let said = run(&user, &hurried(side("slow", before, "echo after >> $HOME/log")), &[]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.errors.contains("has not ended after 2.00 s, and was ended"), "{said:?}");
    assert_eq!(lines(&user, "log"), ["in order", "after"]);
}

#[test]
fn passwords_of_commands_are_in_no_run() {
    let user = User::new();
    let before = "export PASSWORD=geheim; true; : --token geheim";
    let said = run(&user, &side("one", before, ": -o user=me,password=geheim"), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let kept = records(&user)[0]["plan"].to_string();
    assert!(kept.contains("user=me,password=***") && !kept.contains("geheim"), "{kept}");
}

#[test]
fn who_else_may_read_its_passwords_or_write_its_commands_is_told() {
    let user = User::new();
    let plan = side("one", "true", ": -o user=me,password=geheim");
    run(&user, &plan, &[]);
    let file = user.path("plan.toml");
    let told = |mode: u32| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let said = run(&user, &plan, &[]);
        assert!(said.code == 0 && !said.errors.contains("geheim"), "{said:?}");
        let read = said.errors.contains(&format!("holds a password, and others may read it (mode {mode:o})"));
        let written =
            said.errors.contains(&format!("says what is executed, and others may write it (mode {mode:o})"));
        (read, written)
    };
    assert_eq!([0o600, 0o640, 0o622].map(told), [(false, false), (true, false), (false, true)]);
    let harmless = side("one", "true", "true");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let said = run(&user, &harmless, &[]);
    assert!(!said.errors.contains("others may"), "{said:?}");
}

#[test]
fn two_mounts_take_turns_under_one_mount_point() {
    // Who may mount this may mount those.
    let Some(_may_mount) = TmpfsMount::new(1 << 20) else { return };
    let user = User::new();
    let place = user.directory("mount");
    let mounted = |name: &str, size: &str| {
        side(name, &format!("mount -t tmpfs -o size={size} none {place}"), &format!("umount {place}"))
            .replace("\"memory:\"", &format!("{place:?}"))
    };
    let plan = format!("repeat = 2\n{}{}", mounted("small", "32m"), mounted("large", "64m"));
    let said = run(&user, &plan, &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let runs = records(&user);
    assert_eq!(runs.len(), 4);
    for run in &runs {
        let size = number(&run["targets"][0]["file_system"], "size_bytes") >> 20;
        let expected = if text(&run["coordinates"], "side") == "small" { 32 } else { 64 };
        assert_eq!(size, expected, "{run}");
    }
}
