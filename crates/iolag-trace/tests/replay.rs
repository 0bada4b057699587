//! What of a trace is asked again: of short texts that say one thing each.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use iolag_model::{Nanoseconds, ReplayMap, WhyLeftOut};
use iolag_trace::{
    After, Ask, At, Beginning, Bone, BoneKind, Item, Repeater, Repetition, Scope, Skeleton, StraceReader,
    Whereabouts,
};

fn repeat(text: &str) -> Repetition {
    repeat_in(&["/site"], &[], text)
}

fn repeat_in(maps: &[&str], only: &[&str], text: &str) -> Repetition {
    both(maps, only, text).0
}

fn both(maps: &[&str], only: &[&str], text: &str) -> (Repetition, Whereabouts) {
    let maps: Vec<ReplayMap> =
        maps.iter().map(|from| ReplayMap { from: (*from).into(), to: "/x".into() }).collect();
    let only: Vec<String> = only.iter().map(|only| (*only).to_owned()).collect();
    let beginning = Beginning { directory: Some(b"/site".to_vec()), ..Beginning::default() };
    let repeater = Repeater::new(Scope::new(&maps, &only).unwrap(), None);
    let mut reader = StraceReader::new(&beginning, repeater);
    reader.feed(text.as_bytes()).unwrap();
    let (repeater, tables, _) = reader.finish().unwrap();
    let whereabouts = repeater.whereabouts(&tables);
    (repeater.finish(Nanoseconds(7)), whereabouts)
}

/// `what` of each item of a task.
fn asks(repetition: &Repetition, task: usize) -> Vec<String> {
    let place = |place: iolag_trace::PlaceId| {
        String::from_utf8_lossy(&repetition.places[place.0 as usize].path).into_owned()
    };
    let ask = |item: &Item| match &item.ask {
        Ask::Stat(name, flags) => match name.at {
            At::Map => format!("stat {} {flags:#x}", place(name.place)),
            At::Descriptor(on, left) => format!("stat {on}/{}", &place(name.place)[left as usize..]),
        },
        Ask::Access(name, mode, _) => format!("access {} {mode}", place(name.place)),
        Ask::ReadLink(name, _) => format!("readlink {}", place(name.place)),
        Ask::Open(name, _, new) => {
            let new = new.map_or_else(String::new, |new| format!(" = {new}"));
            match name.at {
                At::Map => format!("open {}{new}", place(name.place)),
                At::Descriptor(on, left) => {
                    format!("open {on}/{}{new}", &place(name.place)[left as usize..])
                }
            }
        }
        other => format!("{other:?}"),
    };
    let told =
        |item: &Item| if item.errno == 0 { ask(item) } else { format!("{} -> {}", ask(item), item.errno) };
    repetition.tasks[task].items.iter().map(told).collect()
}

fn left_out(repetition: &Repetition) -> Vec<(WhyLeftOut, &str, u64)> {
    repetition.coverage.left_out.iter().map(|left| (left.why, left.call.as_str(), left.calls)).collect()
}

#[test]
fn calls_that_find_nothing_are_asked_again_like_the_others() {
    let repetition = repeat(
        "\
1 stat(\"/site/a\", 0x1) = -1 ENOENT (No such file or directory)
1 openat(AT_FDCWD, \"b\", O_RDONLY|O_CLOEXEC) = 3
1 newfstatat(3, \"\", {st_mode=S_IFREG|0644, st_size=5, ...}, AT_EMPTY_PATH) = 0
1 read(3, \"\"..., 4096) = 5
1 pread64(3, \"\"..., 100, 2) = 3
1 lseek(3, 0, SEEK_SET) = 0
1 ioctl(3, TCGETS, 0x1) = -1 ENOTTY (Inappropriate ioctl for device)
1 mmap(NULL, 5, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f
1 close(3) = 0
1 readlink(\"/site/link\", \"x\", 100) = 1
1 access(\"/site/c\", R_OK) = 0
",
    );
    let expected = [
        "stat a 0x0 -> 2",
        "open b = 0",
        "Attributes(0)",
        "Read(0, 4096, 5)",
        "ReadAt(0, 100, 3, 2)",
        "Seek(0, 0, 0)",
        "IsTerminal(0) -> 25",
        "Map(0, 5, 0)",
        "Close([0])",
        "readlink link",
        "access c 4",
    ];
    assert_eq!(asks(&repetition, 0), expected);
    assert_eq!((repetition.coverage.traced, repetition.coverage.repeated), (11, 11));
    assert_eq!((repetition.descriptors, repetition.bytes_max(0)), (1, 4096));
}

#[test]
fn what_is_not_asked_again_is_counted_by_reason() {
    let repetition = repeat(
        "\
1 stat(\"/etc/x\", 0x1) = 0
1 stat(\"/proc/self/maps\", 0x1) = 0
1 openat(AT_FDCWD, \"out\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3
1 write(3, \"\"..., 10) = 10
1 fstat(3, {st_mode=S_IFREG|0644, st_size=10, ...}) = 0
1 close(3) = 0
1 stat(\"/site/out\", 0x1) = 0
1 mkdir(\"/site/made\", 0700) = 0
1 stat(\"/site/made/x\", 0x1) = -1 ENOENT (No such file or directory)
1 getxattr(\"/site/a\", \"user.x\", NULL, 0) = -1 ENODATA (No data available)
1 openat(AT_FDCWD, \"b\", O_RDONLY) = 3
1 flock(3, LOCK_SH) = 0
1 stat(\"/site/b\",  <unfinished ...>
1 +++ killed by SIGKILL +++
",
    );
    assert_eq!(asks(&repetition, 0), ["open b = 0", "Wait"]);
    let mut left = left_out(&repetition);
    left.sort();
    let expected = [
        (WhyLeftOut::NotMapped, "stat", 1),
        (WhyLeftOut::Changes, "close", 1),
        (WhyLeftOut::Changes, "fstat", 1),
        (WhyLeftOut::Changes, "mkdir", 1),
        (WhyLeftOut::Changes, "openat", 1),
        (WhyLeftOut::Changes, "write", 1),
        (WhyLeftOut::Changed, "stat", 2),
        (WhyLeftOut::NotTold, "getxattr", 1),
        (WhyLeftOut::Lock, "flock", 1),
        (WhyLeftOut::NeverBack, "stat", 1),
    ];
    assert_eq!(left, expected);
    assert_eq!(repetition.coverage.traced, 12);
    assert!(!repetition.coverage.is_enough());
}

#[test]
fn look_ups_in_an_open_directory_stay_there() {
    let repetition = repeat(
        "\
1 openat(AT_FDCWD, \"/site/lib\", O_RDONLY|O_DIRECTORY) = 3
1 newfstatat(3, \"x/y\", {st_mode=S_IFREG|0644, ...}, AT_SYMLINK_NOFOLLOW) = 0
1 newfstatat(AT_FDCWD, \"lib/z\", {st_mode=S_IFREG|0644, ...}, 0) = 0
1 getdents64(3, [], 32768) = 48
",
    );
    assert_eq!(asks(&repetition, 0), ["open lib = 0", "stat 0/x/y", "stat lib/z 0x0", "List(0, 32768, 48)"]);
}

#[test]
fn a_copy_of_a_table_and_what_closes_at_execute_are_kept() {
    let repetition = repeat(
        "\
1 openat(AT_FDCWD, \"a\", O_RDONLY|O_CLOEXEC) = 3
1 openat(AT_FDCWD, \"b\", O_RDONLY) = 4
1 dup2(4, 3) = 3
1 fcntl(4, F_DUPFD_CLOEXEC, 10) = 10
1 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2
2 read(4, \"\"..., 10) = 10
2 execve(\"/site/bin/x\", [\"x\"], 0x1) = 0
2 fstat(10, {st_mode=S_IFREG, ...}) = -1 EBADF (Bad file descriptor)
2 exit_group(0) = ?
2 +++ exited with 0 +++
1 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2
1 close(4) = 0
",
    );
    let of_first = asks(&repetition, 0);
    let expected = [
        "open a = 0",
        "open b = 1",
        "Duplicate(1, 2, Some(0))",
        "Duplicate(1, 3, None)",
        "Fork(1)",
        "Wait",
        "Close([1])",
    ];
    assert_eq!(of_first, expected);
    // What 10 is then has no path, so that nobody counts it.
    assert_eq!(asks(&repetition, 1), ["Read(1, 10, 10)", "access bin/x 1", "Execute([3])", "Wait"]);
    assert_eq!(repetition.tasks[0].items[5].after, [After { task: 1, items: 4 }]);
    assert!(!repetition.tasks[1].sharing.descriptors());
}

#[test]
fn who_waits_for_the_program_of_its_child_goes_on_then() {
    let repetition = repeat(
        "\
1 vfork( <unfinished ...>
2 stat(\"/site/in\", 0x1) = 0
2 execve(\"/site/x\", [\"x\"], 0x1) = 0
1 <... vfork resumed>) = 2
2 stat(\"/site/later\", 0x1) = 0
1 stat(\"/site/parent\", 0x1) = 0
",
    );
    assert_eq!(asks(&repetition, 0), ["Fork(1)", "stat parent 0x0"]);
    assert_eq!(asks(&repetition, 1), ["stat in 0x0", "access x 1", "Execute([])", "stat later 0x0"]);
    assert_eq!(repetition.tasks[0].items[1].after, [After { task: 1, items: 3 }]);
}

#[test]
fn threads_of_one_table_wait_for_each_other_s_descriptors() {
    let repetition = repeat(
        "\
1 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD) = 2
1 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
2 read(3, \"\"..., 10) = 10
2 read(3, \"\"..., 10) = 0
1 close(3) = 0
",
    );
    assert_eq!(repetition.tasks[1].items[0].after, [After { task: 0, items: 2 }], "open before read");
    assert_eq!(repetition.tasks[0].items[2].after, [After { task: 1, items: 2 }], "both reads before close");
}

#[test]
fn what_a_task_thinks_is_between_its_calls_and_waiting_is_none_of_it() {
    let repetition = repeat(
        "\
1 1700000010.000000 stat(\"/site/a\", 0x1) = 0 <0.000100>
1 1700000010.001000 stat(\"/site/b\", 0x1) = 0 <0.000100>
1 1700000010.002000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
1 1700000010.002200 wait4(-1, NULL, 0, NULL <unfinished ...>
2 1700000010.003000 stat(\"/site/c\", 0x1) = 0 <0.000100>
2 1700000010.009000 exit_group(0) = ?
2 1700000010.009100 +++ exited with 0 +++
1 1700000010.009200 <... wait4 resumed>) = 2 <0.007000>
1 1700000010.010000 poll(NULL, 0, 5) = 0 <0.005000>
1 1700000010.016000 stat(\"/site/d\", 0x1) = 0 <0.000100>
",
    );
    let gaps =
        |task: usize| repetition.tasks[task].items.iter().map(|item| item.gap.0 / 1000).collect::<Vec<_>>();
    // stat a, stat b, fork, wait, stat d: 800 us after the wait, 5 ms in poll, 1 ms.
    assert_eq!(gaps(0), [0, 900, 900, 100, 6800]);
    assert_eq!(gaps(1)[0], 900);
    assert_eq!(repetition.tasks[0].items[1].start, Nanoseconds(1_000_000));
}

#[test]
fn tasks_that_nobody_began_begin_with_the_first() {
    let repetition = repeat(
        "\
1 stat(\"/site/a\", 0x1) = 0
2 stat(\"/site/b\", 0x1) = 0
2 +++ exited with 0 +++
1 wait4(-1, NULL, 0, NULL) = 2
",
    );
    assert_eq!(asks(&repetition, 0)[..2], ["Fork(1)", "stat a 0x0"]);
}

#[test]
fn a_repetition_survives_its_message() {
    let repetition = repeat("1 stat(\"/site/\\377\\n\", 0x1) = 0\n");
    let text = serde_json::to_string(&repetition).unwrap();
    assert_eq!(serde_json::from_str::<Repetition>(&text).unwrap(), repetition);
    assert_eq!(repetition.places[0].path, b"\xff\n");
}

fn bones(text: &str) -> Vec<String> {
    let beginning = Beginning { directory: Some(b"/site".to_vec()), ..Beginning::default() };
    let mut reader = StraceReader::new(&beginning, Skeleton::default());
    reader.feed(text.as_bytes()).unwrap();
    let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let told = |bone: &Bone| match &bone.kind {
        BoneKind::Directory => format!("{}/", shown(&bone.path)),
        BoneKind::File(bytes) => format!("{} {bytes} {:o}", shown(&bone.path), bone.mode),
        BoneKind::Link(text) => format!("{} -> {}", shown(&bone.path), shown(text)),
    };
    reader.finish().unwrap().0.finish().iter().map(told).collect()
}

#[test]
fn a_skeleton_has_what_was_found_and_nothing_that_was_not() {
    let told = bones(
        "\
1 execve(\"/usr/bin/x\", [\"x\"], 0x1) = 0
1 stat(\"/site/absent\", 0x1) = -1 ENOENT (No such file or directory)
1 stat(\"/site/in/absent\", 0x1) = -1 ENOENT (No such file or directory)
1 stat(\"/site/a\", {st_mode=S_IFREG|0640, st_size=77, ...}) = 0
1 openat(AT_FDCWD, \"b\", O_RDONLY) = 3
1 read(3, \"\"..., 4096) = 4096
1 read(3, \"\"..., 4096) = 100
1 close(3) = 0
1 openat(AT_FDCWD, \"lib\", O_RDONLY|O_DIRECTORY) = 3
1 stat(\"/site/file/x\", 0x1) = -1 ENOTDIR (Not a directory)
1 stat(\"/dev/null\", {st_mode=S_IFCHR|0666, ...}) = 0
1 openat(AT_FDCWD, \"made/out\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4
1 stat(\"/site/made/out\", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0
1 unlink(\"/site/old\") = 0
1 stat(\"/site/old\", 0x1) = -1 ENOENT (No such file or directory)
1 access(\"/site/dir\", R_OK) = 0
1 stat(\"/site/dir/c\", {st_mode=S_IFREG|0755, st_size=1, ...}) = 0
",
    );
    let expected = [
        "site/",
        "site/a 77 640",
        "site/b 4196 644",
        "site/dir/",
        "site/dir/c 1 755",
        "site/file 0 644",
        "site/lib/",
        "site/made/",
        "site/old 0 644",
        "usr/",
        "usr/bin/",
        "usr/bin/x 0 755",
    ];
    assert_eq!(told, expected);
}

#[test]
fn links_lead_to_the_same_below_the_bones() {
    let told = bones(
        "\
1 readlink(\"/lib\", \"usr/lib\", 100) = 7
1 readlink(\"/site/abs\", \"/opt/x/1\", 100) = 8
1 stat(\"/site/abs\", {st_mode=S_IFDIR|0755, st_size=4096, ...}) = 0
1 stat(\"/site/abs/in\", {st_mode=S_IFREG|0644, st_size=3, ...}) = 0
1 openat(AT_FDCWD, \"/lib/a.so\", O_RDONLY) = 3
1 fstat(3, {st_mode=S_IFREG|0644, st_size=9, ...}) = 0
",
    );
    let expected = [
        "lib -> usr/lib",
        "opt/",
        "opt/x/",
        "opt/x/1/",
        "opt/x/1/in 3 644",
        "site/",
        "site/abs -> ../opt/x/1",
        "usr/",
        "usr/lib/",
        "usr/lib/a.so 9 644",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_link_of_which_only_the_length_is_known_leads_to_what_is_as_long() {
    let told = bones(
        "\
1 execve(\"/bin/python3\", [\"x\"], 0x1) = 0
1 readlink(\"/bin/python3\", \"\"..., 4096) = 10
1 readlink(\"/bin/python3.11\", 0x1, 4096) = -1 EINVAL (Invalid argument)
1 readlink(\"/site/l\", \"\"..., 4096) = 14
1 stat(\"/opt/x/longer1\", {st_mode=S_IFDIR|0755, st_size=4096, ...}) = 0
1 readlink(\"/site/unknown\", \"\"..., 4096) = 99
",
    );
    let expected = [
        "bin/",
        "bin/python3 -> python3.11",
        "bin/python3.11 0 755",
        "opt/",
        "opt/x/",
        "opt/x/longer1/",
        "site/",
        "site/l -> ../opt/x/longer1",
        "site/unknown 0 644",
    ];
    assert_eq!(told, expected);
}

const TWO_THREADS: &str = "\
1 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
1 openat(AT_FDCWD, \"b\", O_RDONLY) = 4
1 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 2
2 pread64(3, \"\"..., 100, 0) = 5
2 pread64(4, \"\"..., 100, 0) = 5
2 exit(0) = ?
2 +++ exited with 0 +++
";

fn after(repetition: &Repetition, task: usize) -> Vec<(String, Vec<After>)> {
    let items = repetition.tasks[task].items.iter().map(|item| item.after.clone());
    asks(repetition, task).into_iter().zip(items).filter(|(_, after)| !after.is_empty()).collect()
}

#[test]
fn what_a_thread_that_has_ended_used_is_closed_after_that() {
    let by = |items| vec![After { task: 1, items }];
    let repetition = repeat(&format!("{TWO_THREADS}1 close(3) = 0\n"));
    assert_eq!(after(&repetition, 0), [("Close([0])".to_owned(), by(1))]);
    // Another descriptor in its place closes it, too.
    let repetition = repeat(&format!("{TWO_THREADS}1 dup2(3, 4) = 4\n"));
    assert_eq!(after(&repetition, 0), [("Duplicate(0, 2, Some(1))".to_owned(), by(2))]);
    // So does close_range(2), which leaves the table of both as it is.
    let repetition = repeat(&format!("{TWO_THREADS}1 close_range(3, 4, 0) = 0\n"));
    let both = [by(1), by(2)].concat();
    assert_eq!(after(&repetition, 0), [("CloseAll([0, 1])".to_owned(), both)]);
}

#[test]
fn who_reads_on_where_another_task_has_left_off_waits_for_that() {
    let repetition = repeat(
        "\
1 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
1 dup(3) = 4
1 clone(child_stack=NULL, flags=SIGCHLD) = 2
1 read(3, \"\"..., 4) = 4
2 pread64(3, \"\"..., 4, 0) = 4
2 read(4, \"\"..., 4) = 4
1 lseek(3, 0, SEEK_CUR) = 8
",
    );
    let after = |task| -> Vec<_> { after(&repetition, task).into_iter().map(|(_, after)| after).collect() };
    assert_eq!(after(1), [[After { task: 0, items: 4 }]]);
    assert_eq!(after(0), [[After { task: 1, items: 2 }]]);
}

#[test]
fn a_mapping_that_was_refused_is_not_asked_for() {
    let repetition = repeat(
        "\
1 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
1 mmap(NULL, 5, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0) = -1 EACCES (Permission denied)
1 faccessat2(AT_FDCWD, \"/site/l\", R_OK, AT_SYMLINK_NOFOLLOW) = 0
",
    );
    assert_eq!(left_out(&repetition), [(WhyLeftOut::NotTold, "mmap", 1)]);
    let Ask::Access(_, 4, flags) = &repetition.tasks[0].items[1].ask else { panic!("{repetition:?}") };
    assert_eq!(*flags, 0x100);
}

#[test]
fn a_chain_of_many_tasks_that_nobody_saw_begin_is_no_deep_recursion() {
    let text: String = (0..100_000)
        .map(|task| format!("{} clone(child_stack=NULL, flags=SIGCHLD) = {}\n", task + 1, task + 2))
        .collect();
    assert_eq!(repeat(&text).tasks.len(), 100_001);
}

#[test]
fn a_directory_that_was_listed_has_as_many_bytes_of_names() {
    let bones = bones(
        "\
1 openat(AT_FDCWD, \"/d\", O_RDONLY|O_DIRECTORY) = 3
1 getdents64(3, [], 32768) = 200
1 getdents64(3, [], 32768) = 48
1 getdents64(3, [], 32768) = 0
1 stat(\"/d/known\", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0
",
    );
    let below = bones.iter().filter_map(|bone| bone.strip_prefix("d/"));
    let names: Vec<&str> =
        below.filter_map(|bone| bone.split(' ').next().filter(|name| !name.is_empty())).collect();
    let record_bytes = |name: &&str| -> usize {
        let bytes: usize = 19 + name.len() + 1;
        bytes.div_ceil(8) * 8
    };
    let bytes: usize = names.iter().map(record_bytes).sum();
    assert_eq!(bytes, 248 - 2 * 24, "{names:?}");
    assert!(names.contains(&"known"));
}

#[test]
fn no_link_of_a_skeleton_leads_above_it() {
    let bones = bones(
        "1 readlink(\"/a/b/l\", \"../../../../etc/passwd\", 100) = 22\n1 readlink(\"/l\", \"..\", 100) = 2\n",
    );
    for link in ["a/b/l -> ../../etc/passwd", "l -> ."] {
        assert!(bones.iter().any(|bone| bone == link), "{bones:?}");
    }
}

#[test]
fn a_directory_that_the_program_never_asked_for_is_known_beside_those_that_it_did() {
    let text = "\
1 stat(\"/afs/sw/lib/a\", 0x1) = -1 ENOENT (No such file or directory)
1 openat(AT_FDCWD, \"/afs/sw/b\", O_RDONLY) = 3
1 read(3, \"\"..., 4096) = 5
1 stat(\"/usr/lib/x/y\", 0x1) = -1 ENOENT (No such file or directory)
1 stat(\"/usr/share/x\", 0x1) = -1 ENOENT (No such file or directory)
1 stat(\"/home/x\", 0x1) = -1 ENOENT (No such file or directory)
1 stat(\"/proc/self/x\", 0x1) = -1 ENOENT (No such file or directory)
";
    let (_, found) = both(&["/", "/afs/sw", "/afs/s"], &["/usr/lib/x", "/usr/lix", "/proc"], text);
    assert_eq!(found.missed, ["--map /afs/s", "--only /usr/lix", "--only /proc"]);
    let most: Vec<_> = found.most.iter().map(|(directory, calls)| (directory.as_str(), *calls)).collect();
    assert_eq!(most, [("/afs/sw", 3), ("/home", 1), ("/usr/lib", 1)]);
}
