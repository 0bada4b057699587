//! The directory that a target names is measured in, and no other, whatever is around it and whatever its name looks like.

use std::path::Path;

use crate::user::{User, text};

const SMALL: [&str; 5] = ["-D1", "-P5", "-I2", "-R1", "-q"];

/// What is in a directory.
fn names(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What is written, how it is recorded without its directory, and the backend.
const AROUND: [(&str, &str, &str); 5] = [
    ("posix:", "", "posix"),
    ("delayed:1us:", "delayed:1us:", "delayed"),
    ("faulty:stat:eio@0:", "faulty:stat:eio@0:", "faulty"),
    ("delayed:1us:faulty:stat:eio@0,hang@#100000:", "delayed:1us:faulty:stat:eio@0,hang@#100000:", "delayed"),
    ("faulty:eio@0:delayed:stat=1us:posix:", "faulty:eio@0:delayed:stat=1us:", "faulty"),
];

#[test]
fn the_named_directory_is_measured_in_and_no_other() {
    let directories = ["x/a:b", "x/a:b:c@0.1:d", "x/with space: é", "x/s3:y"];
    for (directory, (around, recorded, backend)) in directories.iter().cycle().zip(AROUND) {
        let user = User::new();
        let whole = user.directory(directory);
        let traps = traps(&user, directory);
        let target = format!("{around}{directory}");
        // Relative to the home; the processes that measure stand elsewhere.
        user.fine(&[&["bench", "metadata", &target, "--phases", "precreate"][..], &SMALL[..]].concat());
        assert_eq!(names(Path::new(&whole)), ["iolag-work"], "{target}");
        assert_eq!(names(&Path::new(&whole).join("iolag-work/0_0")).len(), 5, "{target}");
        for trap in &traps {
            assert!(!Path::new(trap).join("iolag-work").exists(), "{target} was measured in {trap}");
        }
        let record = user.record();
        let name = format!("{recorded}{whole}");
        assert_eq!(text(&record["targets"][0], "name"), name);
        assert_eq!(record["spec"]["targets"], serde_json::json!([name]));
        assert_eq!(text(&record["targets"][0], "backend"), backend);
        assert_eq!(text(&record["targets"][0], "working_place"), format!("{whole}/iolag-work"));
        let on = ["bench", "metadata", &target, "--phases", "benchmark,cleanup"];
        user.fine(&[&on[..], &SMALL[..]].concat());
        assert_eq!(names(Path::new(&whole)), [""; 0], "{target}");
    }
}

#[test]
fn two_names_of_one_directory_are_not_compared() {
    let user = User::new();
    let directory = user.directory("x");
    std::os::unix::fs::symlink(&directory, user.path("link")).unwrap();
    for other in ["x/../x", "link"] {
        let refused = user.iolag(&[&["bench", "metadata", "x", other][..], &SMALL[..]].concat());
        assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{refused:?}");
        let told = format!("are one directory, {directory}: what differs would differ by chance");
        assert!(refused.errors.contains(&told), "{refused:?}");
    }
    assert_eq!(names(Path::new(&directory)), [""; 0]);
    // The same with something around it is another.
    let delayed = "delayed:1us:link";
    let said = user.fine(&[&["bench", "metadata", "x", delayed][..], &SMALL[..]].concat());
    // Names that are relative are those of the runs, too.
    assert!(said.output.contains("Speed by the median duration, in percent of /"), "{said:?}");
    let link = format!("campaign:last:delayed:1us:{directory}");
    user.fine(&["compare", "campaign:last:x", &link]);
}

/// Where one would end up who took the text apart at some other colon.
fn traps(user: &User, directory: &str) -> Vec<String> {
    let named = user.directory(directory);
    let others = directory.match_indices(':').flat_map(|(at, _)| {
        let after = &directory[at + 1..];
        [after.to_owned(), format!("x/{after}"), format!("{}{directory}", &directory[..=at])]
    });
    others.map(|other| user.directory(&other)).filter(|other| *other != named).collect()
}

#[test]
fn a_directory_whose_name_is_no_text_is_measured_through_a_link() {
    use std::os::unix::ffi::OsStrExt;
    let user = User::new();
    let unreadable = user.path("tmp").join(std::ffi::OsStr::from_bytes(b"b\xffd"));
    std::fs::create_dir(&unreadable).unwrap();
    std::os::unix::fs::symlink(&unreadable, user.path("link")).unwrap();
    let bench = ["bench", "metadata", "delayed:1us:link", "--phases", "precreate"];
    user.fine(&[&bench[..], &SMALL[..]].concat());
    assert_eq!(names(&unreadable), ["iolag-work"]);
    let link = user.path("link").display().to_string();
    assert_eq!(text(&user.record()["targets"][0], "name"), format!("delayed:1us:{link}"));
    assert_eq!(user.fine(&["cleanup"]).output, format!("{link}/iolag-work is removed\n"));
    assert_eq!(names(&unreadable), [""; 0]);
    assert_eq!(user.iolag(&["check", "link", "--budget", "10s", "-q"]).code, 0);
    assert_eq!(names(&unreadable), [""; 0]);
}

#[test]
fn what_a_wrapped_target_left_is_removed_where_it_is() {
    for (around, ..) in AROUND {
        let user = User::new();
        let whole = user.directory("x/a:b");
        let other = user.directory("x/a:x/a:b/iolag-work");
        let target = format!("{around}x/a:b");
        user.fine(&[&["bench", "metadata", &target, "--phases", "precreate"][..], &SMALL[..]].concat());
        let cleaned = user.fine(&["cleanup"]);
        assert_eq!(cleaned.output, format!("{whole}/iolag-work is removed\n"));
        assert_eq!(names(Path::new(&whole)), [""; 0], "{target}");
        assert!(Path::new(&other).exists());
    }
}

#[test]
fn the_same_point_twice_is_refused_and_repetitions_are_not() {
    let user = User::new();
    user.directory("x");
    for (options, expected) in [
        (&["memory:", "-n", "2", "-n", "2"][..], "--clients 2 is given 2 times"),
        (&["memory:", "-n", "1,2,4,2,2"], "--clients 2 is given 3 times"),
        (&["memory:", "-P", "10,1k,1000", "-I", "5"], "--precreate 1000 is given 2 times"),
        (&["x", "memory:", "posix:./x/"], "/x is given 2 times"),
        (&["delayed:1us:x", "delayed:1us:posix:x"], "/x is given 2 times"),
    ] {
        let refused = user.iolag(&[&["bench", "metadata"], options].concat());
        assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{refused:?}");
        assert_eq!(refused.errors.lines().count(), 1, "{refused:?}");
        assert!(refused.errors.contains(expected), "{expected}: {refused:?}");
        assert!(refused.errors.contains("add --repeat "), "{refused:?}");
    }
    assert!(!user.path("data").exists());
    let sweep = ["bench", "metadata", "memory:", "delayed:1us:memory:", "-n", "1,2", "--repeat", "2"];
    user.fine(&[&sweep[..], &SMALL[..]].concat());
    let listed = user.fine(&["list", "--json", "-"]).output;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 8);
}

#[test]
fn what_is_no_place_is_told_with_the_command_that_measures_it() {
    let user = User::new();
    for (command, target) in [("check", "memory:"), ("ping", "memory:"), ("watch", "delayed:1ms:memory:")] {
        let refused = user.iolag(&[command, target]);
        assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{refused:?}");
        assert!(
            refused
                .errors
                .contains("is neither a directory nor a server, and this command measures nothing else"),
            "{refused:?}"
        );
        assert!(refused.errors.contains(&format!("`iolag bench metadata {target}` does")), "{refused:?}");
    }
    assert!(!user.path("data").exists());
}

#[test]
fn a_url_that_is_refused_is_told_without_its_password() {
    let user = User::new();
    for command in [
        &["check", "mysql://me:hunter2@host/b"][..],
        &["ping", "mysql://me:hunter2@host/b", "-n", "1"],
        &["watch", "mysql://me:hunter2@host/b", "--once"],
    ] {
        let refused = user.iolag(command);
        assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{refused:?}");
        assert!(refused.errors.contains("://me:***@host/b\""), "{refused:?}");
        assert!(!refused.errors.contains("hunter2"), "{refused:?}");
    }
    assert!(!user.path("data").exists());
}
