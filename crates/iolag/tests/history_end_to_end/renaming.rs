//! `iolag history rename`: another name for a target, and back.

use std::path::PathBuf;

use iolag_watch::RuntimeDirectory;

use crate::support::{PATIENCE, Running, wait_until};
use crate::user::User;

/// A measurement every quarter of an hour.
fn log(first: i64, values: &[f64]) -> String {
    let line = |(index, value): (usize, &f64)| format!("{} {value}\n", first + 900 * index as i64);
    values.iter().enumerate().map(line).collect()
}

/// `list` was measured on /home and /scratch of the same host, then on /work.
fn measured() -> User {
    let user = User::new();
    let import = |file: &str, target: &str, first: i64, values: &[f64]| {
        user.write(file, &log(first, values));
        user.fine(&["import", file, "--task", "list", "--target", target, "--host", "login1"]);
    };
    import("home.txt", "/home", 1_700_000_000, &[0.1, 0.2, 0.3, 0.4]);
    import("scratch.txt", "/scratch", 1_700_000_000, &[0.5, 0.6, 0.7, 0.8]);
    import("work.txt", "/work", 1_700_010_000, &[0.9, 1.0, 1.1]);
    user.fine(&["note", "moved", "--target", "/scratch", "--host", "login1", "--at", "2023-11-14 14:30"]);
    user
}

/// Targets with how many samples each has, as they are shown, and the target of the note.
fn shown(user: &User) -> (Vec<(String, u64)>, String) {
    let document = user.document(&[]);
    let series = document["series"].as_array().unwrap().iter().map(|one| {
        let target = one["summary"]["series"]["key"]["target"].as_str().unwrap();
        (target.to_owned(), one["summary"]["rates"]["total"]["slots"].as_u64().unwrap())
    });
    (series.collect(), document["events"][0]["target"].as_str().unwrap().to_owned())
}

fn rename<'a>(old: &'a str, new: &'a str) -> Vec<&'a str> {
    vec!["history", "rename", old, new, "--host", "login1"]
}

#[test]
fn a_target_is_shown_under_its_other_name_and_goes_back() {
    let user = measured();
    let of = |all: &[(&str, u64)]| all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    let before: (Vec<(String, u64)>, String) =
        (of(&[("/home", 4), ("/scratch", 4), ("/work", 3)]), "/scratch".to_owned());
    assert_eq!(shown(&user), before);
    let written = user.exported();

    user.refused(
        &rename("/scratch", "/work"),
        2,
        &["login1 has a target /work too, with 1 series; take another name, or make both one target for good with --join"],
    );
    assert!(user.exported() == written, "nothing was changed");
    let said = user.fine(&[&rename("/scratch", "/work")[..], &["--join"]].concat()).stdout;
    for part in [
        "renamed /scratch of login1 to /work in ",
        "1 series is shown under it",
        "/work was known before, with 1 series: both are one target now, for good",
    ] {
        assert!(said.contains(part), "{part:?} is missing in: {said}");
    }
    assert!(!said.contains("take it back"), "{said}");
    assert_eq!(shown(&user), (of(&[("/home", 4), ("/work", 7)]), "/work".to_owned()));
    // An export has what was written, and a line more.
    let exported = user.exported();
    let renames: Vec<&str> = exported.lines().filter(|line| line.contains(r#""record":"rename""#)).collect();
    assert_eq!(renames.len(), 1, "{exported}");
    assert!(renames[0].contains(r#""old":"/scratch","new":"/work""#), "{}", renames[0]);
    assert_eq!(
        exported.lines().filter(|line| *line != renames[0]).collect::<Vec<_>>(),
        written.lines().collect::<Vec<_>>()
    );
    // It is merged like all other records.
    user.write("all.jsonl", &exported);
    let other = user.path("other.sqlite").display().to_string();
    assert_eq!(user.on(&other, &["import", "all.jsonl"]).code, Some(0));
    assert_eq!(user.on(&other, &["show", "history", "--json", "-"]).code, Some(0));
    assert!(user.on(&other, &["export", "history"]).stdout == exported);
    // What is imported again under either name is known.
    for target in ["/scratch", "/work"] {
        let again =
            user.fine(&["import", "scratch.txt", "--task", "list", "--target", target, "--host", "login1"]);
        assert!(
            again.stdout.contains("nothing is new in ") && again.stdout.contains("4 were known"),
            "{again:?}"
        );
    }

    user.fine(&rename("/work", "/scratch"));
    assert_eq!(shown(&user), (of(&[("/home", 4), ("/scratch", 7)]), "/scratch".to_owned()));
}

#[test]
fn what_cannot_be_renamed_is_said_with_what_to_do() {
    let user = measured();
    let before = user.exported();
    user.refused(
        &rename("/scratsh", "/work"),
        2,
        &["login1 has no target /scratsh in ", "did you mean /scratch?"],
    );
    user.refused(&rename("/data", "/x"), 2, &["its targets are /home, /scratch, /work"]);
    user.refused(&rename("/home", "/home"), 2, &["/home is called so already"]);
    user.refused(
        &["history", "rename", "/home", "/x", "--host", "login2"],
        2,
        &["nothing of the host login2 is in ", "only of login1", "--host"],
    );
    let overlap = "/home cannot be called /scratch: list was measured on both from 2023-11-14 22:13:20 UTC to 2023-11-14 22:58:20 UTC";
    user.refused(&rename("/home", "/scratch"), 2, &[overlap, "choose a name"]);
    assert!(user.exported() == before, "nothing was changed");
    user.refused(&rename("/home", ""), 2, &["what it is to be called has 0 characters"]);
    user.refused(&rename("/home", "a\nb"), 2, &[r#""a\nb" has characters that steer terminals"#]);
    user.refused(&rename("/home", "\u{202e}a"), 2, &["has characters that steer terminals"]);
    user.refused(&rename("/home", "host memory"), 2, &["is the name of the control"]);
    let long = "x".repeat(4001);
    for names in [rename("/home", &long), rename(&long, "/home")] {
        let done = user.iolag(&names);
        crate::user::assert_refused(&done, 2, &["has 4 001 characters; a target's name has 1 to 4000"]);
        assert!(!done.stderr.contains("--link") && !done.stderr.contains("xx"), "{}", done.stderr);
    }
    user.refused(
        &[&rename("/home", "/x")[..], &["--join"]].concat(),
        2,
        &["has no target /x", "leave --join out"],
    );
    assert!(user.exported() == before, "nothing was changed");
}

#[test]
fn a_former_name_is_for_nothing_else() {
    let user = measured();
    user.fine(&rename("/scratch", "/old"));
    user.refused(&rename("/scratch", "/x"), 2, &["login1 has no target /scratch in "]);
    let taken = "/scratch is a former name of /old; take another";
    user.refused(&rename("/home", "/scratch"), 2, &[taken]);
    // Also with two ways to it, and after both were taken back.
    user.fine(&rename("/old", "/older"));
    user.refused(&rename("/home", "/old"), 2, &["/old is a former name of /older; take another"]);
    user.fine(&rename("/older", "/scratch"));
    user.refused(&rename("/home", "/older"), 2, &["/older is a former name of /scratch; take another"]);
    let names: Vec<String> = shown(&user).0.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["/home", "/scratch", "/work"]);
}

#[test]
fn durations_and_values_are_not_joined() {
    let user = measured();
    user.write("jobs.txt", &log(1_800_000_000, &[3.0, 4.0]));
    let jobs = ["import", "jobs.txt", "--task", "list", "--host", "login1"];
    user.fine(&[&jobs[..], &["--unit", "jobs", "--target", "/jobs"]].concat());
    user.fine(&[&jobs[..], &["--unit", "users", "--target", "/users"]].concat());
    let joined = |old, new| [&rename(old, new)[..], &["--join"]].concat();
    user.refused(
        &joined("/home", "/jobs"),
        2,
        &["/home cannot be called /jobs: list has durations on /home and values in jobs on /jobs, so that they are two targets"],
    );
    user.refused(
        &joined("/jobs", "/users"),
        2,
        &["list has values in jobs on /jobs and values in users on /users"],
    );
}

#[test]
fn the_way_back_is_quoted_for_a_shell() {
    let user = measured();
    for new in ["my $scratch's", "-scratch"] {
        let names = ["history", "rename", "--host", "login1", "--", "/scratch", new];
        let options = ["--history", &user.history];
        let all = [&names[..2], &options, &names[2..]].concat();
        let said = Running::start(user.scene.command(&all)).finish();
        let way_back =
            said.stdout.lines().find_map(|line| line.trim().strip_prefix("to take it back: iolag "));
        let Some(way_back) = way_back else { panic!("{said:?}") };
        let script = format!("\"$IOLAG\" {way_back}");
        let mut shell = user.scene.bare_command("sh".as_ref(), &["-c", &script]);
        shell.env("IOLAG", env!("CARGO_BIN_EXE_iolag")).env("IOLAG_HISTORY", &user.history);
        let done = Running::start(shell).finish();
        assert_eq!(done.code, Some(0), "{way_back}: {done:?}");
        assert_eq!(shown(&user).1, "/scratch", "{way_back}");
    }
}

#[test]
fn what_is_being_watched_gets_its_name_from_the_watch() {
    let user = User::new();
    let directory = user.path("watched");
    std::fs::create_dir(&directory).unwrap();
    let target = directory.to_str().unwrap();
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    user.write("w.txt", &log(1_700_000_000, &[0.5, 0.6]));
    user.fine(&["import", "w.txt", "--task", "list", "--target", target, "--host", &host]);
    let _memory = Memory { history: user.history.clone(), target: directory.clone() };
    let watch = user.scene.start(&["watch", target, "--tasks", "stat", "--history", &user.history]);
    let other = ["history", "rename", target, "other"];
    let is_watched = || user.iolag(&["watch", "--status"]).stdout.contains("stat");
    assert!(wait_until(PATIENCE, is_watched), "{}", watch.stderr());
    user.refused(
        &other,
        2,
        &[&format!(
            "{target} is being watched; give it the new name in the watch's configuration (name = …)"
        )],
    );
    watch.signal(15);
    watch.finish();
    user.fine(&other);
    // What the watch calls it can be given back.
    let watch = user.scene.start(&["watch", target, "--tasks", "stat", "--history", &user.history]);
    assert!(
        wait_until(PATIENCE, || user.iolag(&["watch", "--status"]).code == Some(0)),
        "{}",
        watch.stderr()
    );
    user.refused(
        &["history", "rename", "other", "another"],
        2,
        &[&format!("other is being watched, as {target}: call it that again, then give it the new name in ")],
    );
    user.fine(&["history", "rename", "other", target]);
    // On another host it is another target.
    user.fine(&["import", "w.txt", "--task", "list", "--target", target, "--host", "login1"]);
    user.fine(&rename(target, "other"));
    watch.signal(15);
    watch.finish();
}

/// What a watch whose runtime directory nobody named leaves in memory.
struct Memory {
    history: String,
    target: PathBuf,
}

impl Drop for Memory {
    fn drop(&mut self) {
        let base = PathBuf::from(format!("/dev/shm/iolag-{}", rustix::process::geteuid().as_raw()));
        let _ = std::fs::remove_dir_all(RuntimeDirectory::path_for_history(&base, &self.history));
        // The control has the directory that the target has.
        for entry in std::fs::read_dir(&self.target).into_iter().flatten().flatten() {
            let _ = std::fs::remove_dir_all(base.join("control").join(entry.file_name()));
        }
    }
}

#[test]
fn a_note_on_a_former_name_is_told_the_present_one() {
    let user = measured();
    user.fine(&rename("/scratch", "/old"));
    for host in [&["--host", "login1"][..], &[]] {
        let done = user.fine(&[&["note", "cache", "--target", "/scratch"], host].concat());
        assert!(done.stderr.contains("/scratch is called /old now"), "{}", done.stderr);
        assert!(!done.stderr.contains("knows no"), "{}", done.stderr);
    }
    let done = user.fine(&["note", "cache", "--target", "/scratsh"]);
    assert!(done.stderr.contains("knows no target \"/scratsh\""), "{}", done.stderr);
}
