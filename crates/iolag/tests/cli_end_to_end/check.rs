//! `iolag check`, from the announcement to the verdict.

use std::os::unix::fs::symlink;

use iolag_fixtures::{LoopMount, TmpfsMount, current_test, skip, skip_unless_root};

use crate::user::{Said, User, said, text};

/// A check that takes as long as it must on a busy machine, setting up and cleaning up included.
const SHORT: [&str; 4] = ["--budget", "6s", "--stream-size", "256KiB"];

fn check(user: &User, arguments: &[&str]) -> Said {
    user.fine(&[&["check"], &SHORT[..], arguments].concat())
}

fn names(document: &serde_json::Value) -> Vec<String> {
    let directories = document["directories"].as_array().expect("a check has directories");
    directories.iter().map(|directory| text(directory, "name").to_owned()).collect()
}

#[test]
fn why_nothing_could_be_measured_is_said_to_those_who_want_no_notices_too() {
    let Some(mount) = LoopMount::ext4(32) else { return };
    mount.remount_read_only().unwrap();
    let user = User::new();
    let said = user.iolag(&["check", &mount.path().display().to_string(), "-q"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(said.errors.matches("the file system is mounted read-only").count(), 1, "{}", said.errors);
    assert!(user.fine(&["list"]).output.contains("no runs in"), "something was measured");
}

/// Who has no room and who takes no writes, beside one that can be measured: the others lose nothing by them.
#[test]
fn directories_without_room_are_told_in_the_result_and_the_others_are_measured_and_ranked() {
    let user = User::new();
    let (Some(full), Some(locked)) = (TmpfsMount::new(1 << 20), LoopMount::ext4(16)) else { return };
    full.fill().unwrap();
    locked.fill().unwrap();
    locked.remount_read_only().unwrap();
    let good = user.directory("scratch");
    let [full, locked] = [full.path(), locked.path()].map(|path| path.display().to_string());
    let said = user.iolag(&[&["check", &full, &good, &locked, "-q"], &SHORT[..]].concat());
    assert_eq!(said.code, 4, "{said:?}");
    let document = user.document("last");
    assert_eq!(names(&document), [full.as_str(), &good, &locked]);
    let verdict = |index: usize| text(&document["directories"][index]["verdict"], "sentence").to_owned();
    assert!(verdict(0).starts_with("could not be measured: 0 B are free and "), "{}", verdict(0));
    assert!(!verdict(1).contains("could not be measured"), "{}", verdict(1));
    assert!(!verdict(0).contains("--stream-size"), "no stream is small enough: {}", verdict(0));
    assert_eq!(verdict(2), "could not be measured: the file system is mounted read-only.");
    let told = format!("{}{}", said.output, said.errors).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(told.matches("mounted read-only").count(), 1, "{told}");
    let ranking = text(&document, "ranking");
    assert!(ranking.starts_with(&good) && ranking.ends_with(" could not be measured."), "{ranking}");
    assert!([&full, &locked].iter().all(|lost| ranking.contains(lost.as_str())), "{ranking}");
    let reason = text(&document["run"]["state"], "reason");
    assert_eq!(reason, "2 of 3 directories could not be measured to the end");
    let flat = said.output.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&verdict(0)) && flat.contains(&verdict(2)), "{flat}");
}

#[test]
fn if_no_directory_has_room_each_is_named() {
    let user = User::new();
    let (Some(one), Some(two)) = (TmpfsMount::new(1 << 20), TmpfsMount::new(1 << 20)) else { return };
    let [one, two] = [&one, &two].map(|mount| mount.path().display().to_string());
    let said = user.iolag(&["check", &one, &two, "-q"]);
    assert_eq!((said.code, said.output.as_str()), (3, ""), "{said:?}");
    for name in [one, two] {
        assert!(said.errors.contains(&format!("cannot measure in {name}: 1.00 MiB are free")), "{said:?}");
    }
    assert!(user.fine(&["list"]).output.contains("no runs in"));
}

#[test]
fn without_arguments_too_a_directory_without_room_is_told_wherever_the_result_is() {
    let user = User::new();
    let Some(full) = TmpfsMount::new(1 << 20) else { return };
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.args(["check", "-q", "--report", "page.html"]).args(SHORT).env("TMPDIR", full.path());
    let said = said(command);
    assert_eq!(said.code, 4, "{said:?}");
    let told = "1.00 MiB are free and 4.31 MiB are needed; free some space";
    assert!(text(&user.record()["targets"][1], "failure") == told);
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    for text in [&said.output, &page, &user.document("last").to_string()] {
        let flat = text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&format!("could not be measured: {told}")), "{flat}");
    }
}

#[test]
fn a_name_with_a_line_end_is_one_line_everywhere() {
    let user = User::new();
    let directory = user.directory("x\nVerdict");
    let said = check(&user, &[&directory]);
    let listed = user.fine(&["list"]).output;
    let shown = user.fine(&["show"]).output;
    for text in [&said.output, &said.errors, &listed, &shown] {
        assert!(text.contains("x\u{fffd}Verdict") && !text.contains("x\nVerdict"), "{text}");
    }
}

#[test]
fn an_unexpanded_tilde_is_told() {
    let user = User::new();
    let said = user.iolag(&["check", "~/scratch"]);
    assert_eq!(said.code, 3);
    assert!(said.errors.contains("the shell has not expanded the ~"), "{}", said.errors);
}

#[test]
fn one_directory_is_announced_measured_judged_and_left_as_it_was() {
    let user = User::new();
    let directory = user.directory("scratch");
    std::fs::write(user.path("scratch/mine"), "mine").unwrap();
    let before = user.everything();
    let groups = ["ls -l", "ls -n", "create 500", "compile", "write+fsync", "call.fsync", "stream.read"];
    let said = user.with_time_for(&groups, |budget| {
        user.fine(&["check", &directory, "--budget", budget, "--stream-size", "256KiB", "--full"])
    });
    assert_eq!(user.everything(), before);
    for announced in
        [directory.as_str(), "at most", "are written in all", "everything is removed again", "is kept as"]
    {
        assert!(said.errors.contains(announced), "{announced}: {}", said.errors);
    }
    // A line for each thing, none of which is longer than two of a terminal.
    let measuring = said.errors.lines().find(|line| line.contains("measuring ")).expect("it is said");
    assert!(!measuring.contains("written") && !measuring.contains("memory"), "{measuring}");
    assert!(measuring.chars().count() - directory.chars().count() <= 160, "{measuring}");
    let written = said.errors.lines().find(|line| line.contains("written in all")).expect("it is said");
    assert!(written.starts_with("iolag: each gets a directory iolag-check-"), "{written}");
    assert!(written.chars().count() <= 200 && !written.contains("memory"), "{written}");
    for row in [
        "ls -l",
        "ls -n",
        "create 500",
        "stat",
        "call.stat",
        "call.open",
        "call.read",
        "call.close",
        "call.write",
        "call.fsync",
        "rename",
        "call.readdir",
        "call.unlink",
    ] {
        assert!(said.output.lines().any(|line| line.trim_start().starts_with(row)), "{row}: {}", said.output);
    }
    for column in ["n", "median", "p95", "p99", "max"] {
        assert!(said.output.split_whitespace().any(|word| word == column), "{column}: {}", said.output);
    }
    let place = |text: &str| said.output.find(text).unwrap_or_else(|| panic!("{text}: {}", said.output));
    assert!(said.output.starts_with("Verdict"));
    assert!(place("How long it takes") < place("How often it takes long"));
    assert!(said.output.contains("compile"));
    let short = user.fine(&["show"]).output;
    let is_for_experts = |line: &str| line.starts_with("call.") || line.starts_with("ls -n");
    assert!(short.contains("\nls -l") && short.contains("--full"), "{short}");
    assert!(!short.lines().any(is_for_experts), "{short}");
    assert!(user.fine(&["show", "--full"]).output.contains("call.unlink"));
    assert!(!said.output.contains('\u{1b}'), "no colours into a pipe");
}

#[test]
fn the_document_is_what_show_tells_later() {
    let user = User::new();
    let directory = user.directory("scratch");
    // Relative to where the user stands, although the program leaves that directory.
    check(&user, &["scratch", "--json", "result.json", "--label", "when=now", "--quiet"]);
    let written =
        std::fs::read_to_string(user.path("result.json")).expect("it was written where the user stood");
    let document: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(document, user.document("last"));
    assert_eq!(names(&document), [directory]);
    assert_eq!(text(&document["run"]["labels"], "when"), "now");
    assert_eq!(text(&document["run"]["state"], "state"), "complete");
    assert!(document["directories"][0]["summaries"].as_array().unwrap().len() > 15);
}

#[test]
fn quiet_means_no_word_on_standard_error() {
    let user = User::new();
    let said = check(&user, &["--quiet", "."]);
    assert_eq!(said.errors, "");
    assert!(said.output.contains("Verdict"));
}

#[test]
fn json_to_standard_output_is_json_alone() {
    let user = User::new();
    let said = check(&user, &[".", "--json", "-"]);
    let document: serde_json::Value = serde_json::from_str(&said.output).expect("nothing else is printed");
    assert_eq!(text(&document, "kind"), "check");
}

#[test]
fn the_same_directory_by_several_names_is_measured_once() {
    let user = User::new();
    let directory = user.directory("scratch");
    let other = user.directory("other");
    symlink(&directory, user.path("link")).unwrap();
    check(&user, &["scratch", &directory, "link", "./scratch/../scratch", &other]);
    assert_eq!(names(&user.document("last")), [directory, other]);
}

#[test]
fn without_arguments_home_temporary_and_current_directory_one_per_file_system() {
    let user = User::new();
    let alone = check(&user, &[]);
    let left_out = format!("{} is left out: it lies on the file system of", user.path("tmp").display());
    assert!(alone.errors.contains(&left_out), "{}", alone.errors);
    assert!(user.record()["remarks"][0].as_str().unwrap().starts_with(&left_out));
    let home = user.path(".").canonicalize().unwrap().display().to_string();
    assert_eq!(names(&user.document("last")), [home.as_str()]);
    let Some(mount) = TmpfsMount::new(8 << 20) else { return };
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.args(["check"]).args(SHORT).env("TMPDIR", mount.path());
    let said = said(command);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(names(&user.document("last")), [home.as_str(), &mount.path().display().to_string()]);
    assert!(said.output.contains("(tmpfs)"), "{}", said.output);
    assert!(said.output.contains("feel"), "they are ranked: {}", said.output);
}

#[test]
fn thresholds_decide_the_shares() {
    let user = User::new();
    check(&user, &[".", "--thresholds", "2s,5ms,5ms,1ms"]);
    let document = user.document("last");
    let shares = document["directories"][0]["summaries"][0]["durations"]["shares"].as_array().unwrap();
    let thresholds: Vec<u64> = shares.iter().map(|share| share["threshold_ns"].as_u64().unwrap()).collect();
    assert_eq!(thresholds, [1_000_000, 5_000_000, 2_000_000_000]);
}

#[test]
fn the_compiler_is_named_once_in_the_result_and_in_the_record() {
    let user = User::new();
    let Some(mount) = TmpfsMount::new(8 << 20) else { return };
    let said = check(&user, &[".", &mount.path().display().to_string()]);
    let document = user.document("last");
    let remarks = document["remarks"].as_array().unwrap();
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    let remark = remarks[0].as_str().unwrap();
    assert!(remark.starts_with("The compile task uses /") || remark.starts_with("No C or Fortran compiler"));
    let flat = said.output.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(flat.matches(remark).count(), 1, "{flat}");
    assert_eq!(user.record()["remarks"], document["remarks"]);
    assert!(!said.errors.contains(remark), "it is part of the result, no notice: {}", said.errors);
}

/// Compilers are looked for in the standard directories first; in a mount namespace of its own they can be taken away.
#[test]
fn without_a_compiler_the_rest_is_measured_and_that_is_said() {
    if skip_unless_root() {
        return;
    }
    let user = User::new();
    let script = r#"
        set -e
        : > no-program
        for directory in /usr/local/bin /usr/bin /bin; do
            for name in cc gcc clang gfortran flang ftn ifx ifort icc icx tcc c99 nvc nvfortran f77 f95; do
                if test -x $directory/$name; then mount --bind no-program "$(readlink -f $directory/$name)"; fi
            done
        done
        exec "$0" check . --budget $1 --stream-size 256KiB
    "#;
    let said = user.with_time_for(&["ls -l", "call.fsync"], |budget| {
        let mut command = user.command("unshare");
        command
            .args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_iolag"), budget])
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        said(command)
    });
    if said.errors.contains("unshare failed") || said.errors.contains("mount:") {
        return skip(&current_test(), &said.errors);
    }
    assert_eq!(said.code, 0, "{said:?}");
    let flat = said.output.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("No C or Fortran compiler was found, so nothing is compiled"), "{flat}");
    let document = user.document("last");
    let summaries = document["directories"][0]["summaries"].as_array().unwrap();
    assert!(summaries.iter().all(|summary| text(summary, "operation") != "compile"));
}

#[test]
fn a_directory_that_is_none_is_one_sentence_and_nothing_is_measured() {
    let user = User::new();
    std::fs::write(user.path("file"), "").unwrap();
    for (name, expected) in [("missing", "missing"), ("file", "file")] {
        let said = user.iolag(&["check", ".", name]);
        assert_eq!((said.code, said.output.as_str()), (3, ""), "{said:?}");
        assert!(said.errors.contains(&user.path(expected).display().to_string()), "{}", said.errors);
        assert_eq!(said.errors.trim_end().lines().count(), 1, "{}", said.errors);
    }
    assert!(!user.path("iolag-check").exists());
    assert!(user.fine(&["list"]).output.contains("no runs in"));
}

#[test]
fn six_directories_each_get_their_share() {
    let user = User::new();
    let directories: Vec<String> = (0..6).map(|number| user.directory(&format!("d{number}"))).collect();
    let said = user.with_time_for(&["ls -l", "create 500", "stat"], |budget| {
        let options = ["check", "--budget", budget, "--stream-size", "64KiB"];
        user.fine(&[&options[..], &directories.iter().map(String::as_str).collect::<Vec<_>>()].concat())
    });
    let document = user.document("last");
    assert_eq!(names(&document), directories);
    let ranking = text(&document, "ranking");
    assert!(directories.iter().all(|directory| ranking.contains(directory.as_str())), "{ranking}");
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&said.output).starts_with(&flat(ranking)), "{}", said.output);
    assert_eq!(user.record()["stages"].as_array().map(Vec::len), Some(1));
}

#[test]
fn directories_are_compared_with_the_machines_memory_and_nothing_is_left_there() {
    let user = User::new();
    let directory = user.directory("scratch");
    let said = user.with_time_for(&["ls -l", "create 500"], |budget| {
        user.fine(&["check", &directory, "--budget", budget, "--stream-size", "64KiB"])
    });
    let document = user.document("last");
    assert_eq!(names(&document), [directory.as_str()]);
    if !said.errors.contains("the machine's own memory, to compare with") {
        return skip(&current_test(), "there is no tmpfs beside what is measured");
    }
    let control = &document["control"];
    assert_eq!(text(control, "file_system"), "tmpfs");
    assert!(
        control["summaries"].as_array().unwrap().iter().any(|one| text(one, "operation") == "create 500")
    );
    let id = text(&document["run"], "id");
    assert!(!std::path::Path::new(text(control, "name")).join(format!("iolag-check-{id}")).exists());
    assert!(!user.fine(&["list"]).output.contains(&format!(" {}", text(control, "name"))));
}
