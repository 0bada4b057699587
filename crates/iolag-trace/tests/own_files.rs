//! What a program changes, changed again in files of a copy's own: of short texts that say one thing each.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use iolag_model::{Nanoseconds, ReplayMap, WhyLeftOut};
use iolag_trace::{
    After, Ask, Attribute, Beginning, Bone, BoneKind, Change, Changes, PlaceId, Repeater, Repetition, Scope,
    Sink, StraceReader,
};

fn read<S: Sink>(text: &str, sink: S) -> S {
    let beginning = Beginning { directory: Some(b"/site".to_vec()), ..Beginning::default() };
    let mut reader = StraceReader::new(&beginning, sink);
    reader.feed(text.as_bytes()).unwrap();
    reader.finish().unwrap().0
}

/// What is asked again, and what has to be there before.
fn repeat(text: &str) -> (Repetition, Vec<Bone>) {
    let map = |from: &str| ReplayMap { from: from.into(), to: "/x".into() };
    let scope = Scope::new(&[map("/site"), map("/other")], &[]).unwrap();
    let (own, bones) = read(text, Changes::new(scope.clone())).finish();
    let repeater = read(text, Repeater::new(scope, None).with_own(own));
    (repeater.finish(Nanoseconds(7)), bones)
}

/// `own:` and the path, or the number of its map.
fn place(repetition: &Repetition, place: PlaceId) -> String {
    let place = &repetition.places[place.0 as usize];
    let path = String::from_utf8_lossy(&place.path);
    if place.map == 2 { format!("own:{path}") } else { format!("{}:{path}", place.map) }
}

fn asks(repetition: &Repetition, task: usize) -> Vec<String> {
    let place = |at| place(repetition, at);
    let items = repetition.tasks[task].items.iter();
    items
        .map(|item| match &item.ask {
            Ask::Stat(name, _) => format!("stat {}", place(name.place)),
            Ask::Open(name, ..) => format!("open {}", place(name.place)),
            Ask::Change(Change::Open(at, flags, mode, _)) => {
                format!("open {} {flags:o} {mode:o}", place(*at))
            }
            Ask::Change(Change::Remove(at)) => format!("remove {}", place(*at)),
            Ask::Change(Change::RemoveDirectory(at)) => format!("rmdir {}", place(*at)),
            Ask::Change(Change::MakeDirectory(at, mode)) => format!("mkdir {} {mode:o}", place(*at)),
            Ask::Change(Change::Rename(from, to, _)) => format!("rename {} {}", place(*from), place(*to)),
            Ask::Change(Change::Link(from, to)) => format!("link {} {}", place(*from), place(*to)),
            Ask::Change(Change::SymbolicLink(text, at)) => format!("symlink {} {}", place(*text), place(*at)),
            Ask::Change(Change::Attributes(at, _, Attribute::Mode(mode))) => {
                format!("chmod {} {mode:o}", place(*at))
            }
            other => format!("{other:?}"),
        })
        .collect()
}

fn left_out(repetition: &Repetition) -> Vec<(WhyLeftOut, &str)> {
    let mut all: Vec<(WhyLeftOut, &str)> =
        repetition.coverage.left_out.iter().map(|left| (left.why, left.call.as_str())).collect();
    all.sort_unstable();
    all
}

#[test]
fn what_is_changed_is_the_copy_s_own_from_the_beginning() {
    let (repetition, bones) = repeat(
        "\
1 stat(\"/site/out/a.o\", 0x1) = -1 ENOENT (No such file or directory)
1 openat(AT_FDCWD, \"out/a.o\", O_RDWR|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 3
1 write(3, \"\"..., 100) = 100
1 pwrite64(3, \"\"..., 10, 200) = 10
1 ftruncate(3, 150) = 0
1 fsync(3) = 0
1 lseek(3, 0, SEEK_SET) = 0
1 read(3, \"\"..., 4096) = 150
1 fchmod(3, 0755) = 0
1 close(3) = 0
1 chmod(\"/site/out/a.o\", 0755) = 0
1 openat(AT_FDCWD, \"/site/lib\", O_RDONLY) = 3
1 unlink(\"/site/out/a.o\") = 0
",
    );
    let expected = [
        "stat own:out/a.o",
        "open own:out/a.o 2001102 666",
        "Change(Write(0, 100, 100))",
        "Change(WriteAt(0, 10, 10, 200))",
        "Change(Truncate(0, 150))",
        "Change(Synchronise(0))",
        "Seek(0, 0, 0)",
        "Read(0, 4096, 150)",
        "Change(AttributesOf(0, Mode(493)))",
        "Close([0])",
        "chmod own:out/a.o 755",
        "open 0:lib",
        "remove own:out/a.o",
    ];
    assert_eq!(asks(&repetition, 0), expected);
    assert_eq!((repetition.coverage.traced, repetition.coverage.repeated), (13, 13));
    // The directory was there, the file was not.
    assert_eq!(bones, [Bone { path: b"out".to_vec(), kind: BoneKind::Directory, mode: 0o755 }]);
}

#[test]
fn what_was_there_before_is_made_for_the_copy() {
    let (repetition, bones) = repeat(
        "\
1 mkdir(\"/site/src\", 0777) = -1 EEXIST (File exists)
1 stat(\"/site/src/x.c\", {st_mode=S_IFREG|0644, st_size=500, ...}) = 0
1 stat(\"/site/log\", {st_mode=S_IFREG|0640, st_size=77, ...}) = 0
1 openat(AT_FDCWD, \"/site/log\", O_WRONLY|O_APPEND) = 3
1 write(3, \"\"..., 5) = 5
1 rename(\"/site/old\", \"/site/new\") = 0
1 stat(\"/site/new/deep\", 0x1) = 0
",
    );
    let expected = [
        "mkdir own:src 777",
        "stat 0:src/x.c",
        "stat own:log",
        "open own:log 2001 0",
        "Change(Write(0, 5, 5))",
        "rename own:old own:new",
        "stat own:new/deep",
    ];
    assert_eq!(asks(&repetition, 0), expected);
    let bone = |path: &str, kind, mode| Bone { path: path.into(), kind, mode };
    let expected = [
        bone("log", BoneKind::File(77), 0o640),
        bone("old", BoneKind::File(0), 0o644),
        bone("src", BoneKind::Directory, 0o755),
    ];
    assert_eq!(bones, expected);
}

#[test]
fn links_that_lead_up_are_not_made_and_nothing_is_asked_of_them() {
    let (repetition, _) = repeat(
        "\
1 symlink(\"lib/x\", \"/site/down\") = 0
1 symlink(\"../../etc\", \"/site/up\") = 0
1 symlink(\"/etc\", \"/site/root\") = 0
1 unlink(\"/site/up/passwd\") = 0
1 stat(\"/site/root/passwd\", 0x1) = 0
1 link(\"/site/a\", \"/site/b\") = 0
1 rmdir(\"/site/d\") = 0
",
    );
    assert_eq!(asks(&repetition, 0), ["symlink own:lib/x own:down", "link own:a own:b", "rmdir own:d"]);
    let expected =
        [(WhyLeftOut::Changed, "stat"), (WhyLeftOut::Changed, "unlink"), (WhyLeftOut::Leads, "symlink")];
    assert_eq!(left_out(&repetition), expected);
    for place in repetition.places.iter().filter(|place| place.map == 2) {
        assert!(place.path.split(|byte| *byte == b'/').all(|name| name != b".."), "{place:?}");
    }
}

#[test]
fn what_asks_for_rights_or_is_not_told_or_is_elsewhere_is_left_out() {
    let (repetition, bones) = repeat(
        "\
1 openat(AT_FDCWD, \"/site/etc\", O_WRONLY|O_CREAT, 0666) = -1 EACCES (Permission denied)
1 setxattr(\"/site/a\", \"user.x\", \"\"..., 1, 0) = 0
1 openat(AT_FDCWD, \"/site/a\", O_RDONLY) = 3
1 copy_file_range(3, NULL, 4, NULL, 100, 0) = 100
1 read(3, \"\"..., 10) = 10
1 mkdir(\"/other/x\", 0777) = 0
1 openat(AT_FDCWD, \"/site/d\", O_RDWR|O_TMPFILE, 0600) = 5
1 stat(\"/site/d/e\", 0x1) = 0
",
    );
    assert_eq!(asks(&repetition, 0), ["open 0:a", "Read(0, 10, 10)", "stat 0:d/e",]);
    let expected = [
        (WhyLeftOut::Changes, "copy_file_range"),
        (WhyLeftOut::Changes, "mkdir"),
        (WhyLeftOut::Changes, "openat"),
        (WhyLeftOut::Changes, "setxattr"),
    ];
    let mut told = left_out(&repetition);
    told.dedup();
    assert_eq!(told, expected);
    assert_eq!(bones, []);
}

#[test]
fn tasks_use_files_of_the_copy_in_the_order_of_the_trace() {
    let (repetition, _) = repeat(
        "\
1 clone(child_stack=NULL, flags=SIGCHLD) = 2
1 mkdir(\"/site/d\", 0777) = 0
2 openat(AT_FDCWD, \"/site/d/f\", O_WRONLY|O_CREAT, 0666) = 3
2 write(3, \"\"..., 5) = 5
1 stat(\"/site/d/f\", 0x1) = 0
2 unlink(\"/site/d/f\") = 0
1 rmdir(\"/site/d\") = 0
",
    );
    let after = |task: usize| -> Vec<Vec<After>> {
        repetition.tasks[task].items.iter().map(|item| item.after.clone()).collect()
    };
    let by = |task, items| After { task, items };
    assert_eq!(after(0), [vec![], vec![], vec![by(1, 2)], vec![by(1, 3)]]);
    // Who comes after something already is not told again.
    assert_eq!(after(1), [vec![by(0, 2)], vec![], vec![by(0, 3)]]);
}

proptest::proptest! {
    /// Whatever a program is said to have done, no name of a copy's own leads up, or from the root.
    #[test]
    fn no_name_leads_out(names in proptest::collection::vec("[./a]{1,8}", 4..12)) {
        let calls = ["mkdir(\"P\", 0777) = 0", "unlink(\"P\") = 0", "symlink(\"P\", \"Q\") = 0", "rename(\"P\", \"Q\") = 0"];
        let text: String = names.windows(2).zip(calls.iter().cycle()).map(|(pair, call)| {
            format!("1 {}\n", call.replace('P', &pair[0]).replace('Q', &format!("/site/{}", pair[1])))
        }).collect();
        let (repetition, bones) = repeat(&text);
        let paths = repetition.places.iter().filter(|place| place.map == 2).map(|place| &place.path);
        for path in paths.chain(bones.iter().map(|bone| &bone.path)) {
            proptest::prop_assert!(!path.starts_with(b"/"), "{:?}", path);
            proptest::prop_assert!(path.split(|byte| *byte == b'/').all(|name| name != b".."), "{:?}", path);
        }
        for bone in &bones {
            let leads = matches!(&bone.kind, BoneKind::Link(text) if text.starts_with(b"/") || text.split(|byte| *byte == b'/').any(|name| name == b".."));
            proptest::prop_assert!(!leads, "{:?}", bone);
        }
    }
}
