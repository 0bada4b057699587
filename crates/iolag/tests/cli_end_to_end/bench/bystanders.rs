//! `--bystander`: who measures beside a load, on any bench; what cannot be is refused.

use serde_json::Value;

use crate::user::User;

fn document(user: &User, words: &[&str]) -> Value {
    serde_json::from_str(&user.fine(&[words, &["--format", "json", "-q"]].concat()).output).unwrap()
}

#[test]
fn a_working_set_stays_as_it_was_whoever_measures_beside_it() {
    let user = User::new();
    let target = user.directory("target");
    // So long that somebody is asked meanwhile.
    let small = ["-n", "2", "-P", "300", "-I", "200", "-R", "2"];
    let beside = ["--bystander", "stat,create", "--bystander-rate", "50/s", "--bystander-quiet", "500ms"];
    let run = document(&user, &[&["bench", "metadata", &target], &small[..], &beside].concat());
    assert_eq!(run["working_set"]["state"], "constant", "{:#}", run["working_set"]);
    assert_eq!(run["run"]["state"]["state"], "complete");
    let rows = run["beside"]["rows"].as_array().unwrap();
    let asked: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {}", row["standpoint"], row["operation"]).replace('"', ""))
        .collect();
    for expected in ["directory stat", "directory create", "sibling stat", "sibling create"] {
        assert!(asked.iter().any(|row| row == expected), "{expected}: {asked:?}");
    }
    assert!(asked.iter().all(|row| !row.starts_with("file ")), "no object of it lasts: {asked:?}");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
    let told = user.fine(&["show", "last"]).output;
    assert!(told.contains("Beside the load") && told.contains("attempts a second at the target"), "{told}");
    let table = user.fine(&["show", "last", "--format", "csv"]).output;
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let named = |target: &str, role: &str, phase: &str| {
        rows.iter().any(|row| row[2] == target && row[3] == role && row[5] == phase)
    };
    let resolved = std::fs::canonicalize(&target).unwrap();
    let resolved = resolved.to_str().unwrap();
    assert!(named(resolved, "measured", "benchmark"), "{table}");
    assert!(
        named(resolved, "bystander-directory", "benchmark") && named(resolved, "bystander-sibling", "before"),
        "{table}"
    );
    let page = user.path("page.html");
    user.fine(&["report", "last", "-o", page.to_str().unwrap()]);
    let again = std::fs::read_to_string(page).unwrap();
    let words = "--bystander stat,create --bystander-rate 50/s --bystander-quiet 500ms";
    assert!(again.contains(words) && again.contains("<h2>Beside the load</h2>"), "{again}");
}

#[test]
fn targets_are_compared_as_if_nobody_had_measured_beside_them() {
    let user = User::new();
    let targets = ["one", "other"].map(|name| user.directory(name));
    let small = ["-P", "20", "-I", "10", "-R", "1", "--repeat", "2"];
    let beside = ["--bystander", "stat", "--bystander-quiet", "200ms", "-q"];
    let done = user.fine(&[&["bench", "metadata", &targets[0], &targets[1]], &small[..], &beside].concat());
    assert!(done.output.contains("in percent of"), "{}", done.output);
    assert!(!done.output.contains("/dev/shm"), "the control is nobody's target: {}", done.output);
}

#[test]
fn copies_that_are_processes_have_bystanders_too() {
    let user = User::new();
    let words = [
        "bench",
        "setup",
        &user.directory("target"),
        "--copies",
        "2",
        "--stat",
        "200",
        "--open",
        "20",
        "--files",
        "5",
    ];
    let beside = ["--bystander", "list", "--bystander-quiet", "300ms"];
    let run = document(&user, &[&words[..], &beside].concat());
    let rows = run["beside"]["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["standpoint"] == "sibling" && row["operation"] == "list+stat"));
}

#[test]
fn who_measures_beside_the_reading_of_a_tree_looks_at_it_and_makes_nothing_in_it() {
    let user = User::new();
    let tree = user.directory("tree");
    for number in 0..50 {
        std::fs::write(format!("{tree}/file-{number}"), [7; 5000]).unwrap();
    }
    let before = std::fs::metadata(&tree).unwrap().modified().unwrap();
    let beside = ["--bystander", "--bystander-rate", "50/s", "--bystander-quiet", "500ms"];
    let run = document(&user, &[&["bench", "tree", &tree, "--phases", "sum"], &beside[..]].concat());
    assert_eq!(run["run"]["state"]["state"], "complete", "{run:#}");
    let rows = run["beside"]["rows"].as_array().unwrap();
    let of = |standpoint: &str| {
        let here = rows.iter().filter(|row| row["standpoint"] == standpoint);
        let mut asked: Vec<&str> = here.filter_map(|row| row["operation"].as_str()).collect();
        asked.sort_unstable();
        asked
    };
    assert_eq!(of("directory"), ["list+stat", "read", "stat"], "{rows:#?}");
    assert_eq!(of("sibling"), Vec::<&str>::new());
    // Before the load, each of them was answered.
    for row in rows {
        let before = &row["felt"][0]["summary"];
        assert!(before["attempts"].as_u64() > Some(0), "{row:#}");
        assert_eq!(before["errors"].as_array().map(Vec::len), Some(0), "{row:#}");
    }
    assert_eq!(std::fs::metadata(&tree).unwrap().modified().unwrap(), before, "nothing was made in it");
}

#[test]
fn what_bystanders_cannot_do_is_refused_before_anything_is_made() {
    let user = User::new();
    let target = user.directory("target");
    let stream = ["bench", "stream", &target, "-s", "1MiB"];
    let refused = |words: &[&str], expected: &str| {
        let said = user.iolag(words);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.errors.contains(expected), "{said:?}");
    };
    refused(&[&stream[..], &["--bystander-rate", "1/s"]].concat(), "--bystander-rate needs --bystander");
    refused(
        &[&stream[..], &["--bystander", "lst"]].concat(),
        "expected one of: stat, list, open-read, create",
    );
    refused(&[&stream[..], &["--bystander", "stat,stat"]].concat(), "to ask stat twice");
    refused(
        &[&stream[..], &["--bystander", "stat", "list"]].concat(),
        "write --bystander stat,list with a comma",
    );
    refused(
        &[&stream[..], &["--bystander", "--bystander-rate", "often"]].concat(),
        "expected a rate such as 10/s or 6/min",
    );
    refused(
        &[&stream[..], &["--bystander", "--bystander-rate", "2000"]].concat(),
        "choose a rate above 0 and at most 1000",
    );
    refused(&["bench", "tree", &target, "--bystander", "create,stat"], "leave create out of --bystander");
    refused(&["bench", "stream", "memory:", "-s", "1MiB", "--bystander"], "memory: is of one process only");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}
