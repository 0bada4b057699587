//! `--caches`: cold and warm before what is measured, for every bench; what could not be done is told, and what is refused.

use serde_json::Value;

use crate::user::User;

/// A user with a directory that is on a disk: a file system in memory has no caches.
fn user() -> (User, tempfile::TempDir) {
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    (User::new(), directory)
}

/// What was done before each stage, by its name and number.
fn caches(run: &Value) -> Vec<(String, Value)> {
    let stages = run["stages"].as_array().unwrap().iter();
    stages
        .map(|stage| {
            (format!("{} {}", stage["phase"].as_str().unwrap(), stage["iteration"]), stage["caches"].clone())
        })
        .collect()
}

fn document(user: &User, words: &[&str]) -> Value {
    serde_json::from_str(&user.fine(&[words, &["--format", "json", "-q"]].concat()).output).unwrap()
}

#[test]
fn what_a_stream_reads_is_out_of_memory_or_in_it_as_was_asked_for() {
    let (user, directory) = user();
    let directory = directory.path().to_str().unwrap();
    let words = |state| {
        ["bench", "stream", directory, "-n", "2", "-s", "4MiB", "--phases", "write,read", "--caches", state]
    };
    let all = 8 << 20;
    for (state, is_resident) in [("cold", false), ("warm", true)] {
        let run = document(&user, &words(state));
        let caches = caches(&run);
        assert_eq!(caches[0], ("precreate 0".to_owned(), Value::Null), "nothing is measured in it");
        let (name, read) = &caches[2];
        assert_eq!((name.as_str(), &read["wish"], &read["is_done"]), ("read 0", &state.into(), &true.into()));
        assert_eq!(read["held_bytes"].as_u64(), Some(all), "{read}");
        let resident = read["resident_bytes"].as_u64().unwrap();
        assert_eq!(resident > all / 2, is_resident, "{read}");
        assert!(read["time_ns"].as_u64().unwrap() > 0);
        let doubts = run["trust"].to_string();
        assert!(!doubts.contains("page cache") && !doubts.contains("caches"), "{doubts}");
        let told = user.fine(&["show", "last"]).output;
        let expected = if is_resident { "read 1: 2 clients" } else { "caches dropped in " };
        assert!(told.contains(expected) && told.contains(" were in memory"), "{told}");
    }
    let run = document(&user, &words("asis"));
    assert!(caches(&run).iter().all(|(_, caches)| caches.is_null()));
    assert!(run["trust"].to_string().contains("may have come from the page cache"));
    let listed = user.record();
    assert!(listed["spec"].get("caches").is_none(), "an older iolag reads it");
}

#[test]
fn what_was_copied_to_another_target_is_made_cold_or_warm_and_looked_at_too() {
    let ((user, from), (_, to)) = (user(), user());
    let [from, to] = [&from, &to].map(|place| place.path().to_str().unwrap());
    for (state, is_resident) in [("cold", false), ("warm", true)] {
        let words =
            ["bench", "stream", from, to, "-s", "4MiB", "--phases", "write,copy,copy", "--caches", state];
        let runs = document(&user, &words);
        for run in runs.as_array().unwrap() {
            let caches = caches(run);
            let held: Vec<Option<u64>> =
                caches[1..4].iter().map(|(_, one)| one["held_bytes"].as_u64()).collect();
            assert_eq!(held, [Some(0), Some(4 << 20), Some(8 << 20)], "{caches:?}");
            let resident = caches[3].1["resident_bytes"].as_u64().unwrap();
            assert_eq!(resident > 6 << 20, is_resident, "{caches:?}");
            assert!(is_resident || resident < 1 << 20, "{caches:?}");
        }
    }
}

#[test]
fn every_bench_measures_what_is_cold_before_each_iteration() {
    let (user, directory) = user();
    let directory = directory.path().to_str().unwrap();
    let small = ["-D", "1", "-P", "30", "-I", "10", "-R", "2", "-S", "4096", "--caches", "cold"];
    let run = document(&user, &[&["bench", "metadata", directory], &small[..]].concat());
    let done: Vec<String> =
        caches(&run).into_iter().filter(|(_, caches)| !caches.is_null()).map(|(name, _)| name).collect();
    assert_eq!(done, ["benchmark 0", "benchmark 1"]);
    assert!(caches(&run).iter().all(|(_, caches)| caches.is_null() || caches["held_bytes"] == 30 * 4096));
    let copies = [
        "--copies",
        "2",
        "--stat",
        "20",
        "--open",
        "10",
        "--miss",
        "0%",
        "--directories",
        "1",
        "--files",
        "5",
    ];
    let run = document(&user, &[&["bench", "setup", directory, "--caches", "cold"], &copies[..]].concat());
    let benchmark = &caches(&run)[1].1;
    assert_eq!(
        (benchmark["held_bytes"].as_u64(), benchmark["is_done"].as_bool()),
        (Some(5 * 4096), Some(true))
    );
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
}

#[test]
fn a_command_for_servers_is_executed_each_time_and_told_if_it_fails() {
    let (user, directory) = user();
    let directory = directory.path().to_str().unwrap();
    let command = format!("echo x >> {}/dropped password=geheim", user.path("").display());
    let words =
        ["bench", "stream", directory, "-s", "1MiB", "--phases", "write,read,read", "--caches", "cold", "-q"];
    let said = user.fine(&[&words[..], &["--drop-command", &command]].concat());
    assert_eq!(std::fs::read_to_string(user.path("dropped")).unwrap().lines().count(), 3, "{said:?}");
    assert!(!said.output.contains("geheim") && !user.record().to_string().contains("geheim"), "{said:?}");
    let said = user.iolag(&[&words[..], &["--drop-command", "exit 3"]].concat());
    assert_eq!(said.code, 0, "the stream was measured: {said:?}");
    let doubt = "the command that drops the caches of servers failed with exit status 3";
    assert_eq!(said.output.matches(doubt).count(), 1, "{said:?}");
    assert!(said.output.contains("caches could not be dropped"), "{said:?}");
}

#[test]
fn what_has_no_caches_is_refused() {
    let user = User::new();
    for (words, expected) in [
        (&["memory:", "--caches", "cold"][..], "--caches cold is for directories, and memory: is none"),
        (&[".", "--caches", "hot"], "expected one of: asis, cold, warm"),
        (&[".", "--drop-command", "true"], "--drop-command needs --caches cold"),
        (&[".", "--caches", "warm", "--drop-command", "true"], "--drop-command needs --caches cold"),
    ] {
        let said = user.iolag(&[&["bench", "stream"], words].concat());
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.errors.contains(expected), "{expected}: {said:?}");
    }
}
