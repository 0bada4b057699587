//! `iolag history rename`: another name for a target, and back.

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

    let said = user.fine(&rename("/scratch", "/work")).stdout;
    for part in [
        "renamed /scratch of login1 to /work in ",
        "1 series is shown under it",
        "/work was known before, with 1 series: both are one target now",
        "iolag history rename /work /scratch --host login1",
    ] {
        assert!(said.contains(part), "{part:?} is missing in: {said}");
    }
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
    // A name that has become free may be given again.
    user.fine(&rename("/scratch", "/old"));
    user.refused(&rename("/scratch", "/x"), 2, &["login1 has no target /scratch in "]);
    user.fine(&rename("/home", "/scratch"));
    let names: Vec<String> = shown(&user).0.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["/old", "/scratch", "/work"]);
}
