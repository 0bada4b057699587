//! `iolag bench setup` as it is typed and by a plan: like a trace, with a preset, and what is refused.

use serde_json::Value;

use crate::user::User;

/// Three stat calls, two of which find nothing, and two open calls, one of which does not.
const TRACED: &str = "7 execve(\"/usr/bin/job\", 0x1, 0x2) = 0\n\
    7 stat(\"/opt/a.py\", 0x1) = -1 ENOENT (No such file or directory)\n\
    7 stat(\"/opt/b.py\", 0x1) = -1 ENOENT (No such file or directory)\n\
    7 stat(\"/opt/c.py\", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0\n\
    7 openat(AT_FDCWD, \"/opt/d.py\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
    7 openat(AT_FDCWD, \"/opt/c.py\", O_RDONLY) = 3\n\
    7 read(3, 0x1, 4096) = 700\n\
    7 +++ exited with 0 +++\n";

#[test]
fn a_copy_is_like_what_was_traced() {
    let user = User::new();
    std::fs::write(user.path("strace.out"), TRACED).unwrap();
    user.fine(&["trace", "--from", "strace.out", "-o", "job.iolag"]);
    user.fine(&["trace", "--from", "strace.out"]);
    for name in ["job.iolag", "last"] {
        let said = user.fine(&["bench", "setup", "memory:", "--like", name, "--format", "json", "-q"]);
        let run: Value = serde_json::from_str(&said.output).unwrap();
        assert_eq!((run["calls"]["stats"].as_u64(), run["calls"]["opens"].as_u64()), (Some(3), Some(2)));
        let assumed = run["assumed"].to_string();
        assert!(assumed.contains("66.7 % of stat and 50 % of open calls"), "{assumed}");
        assert!(assumed.contains("1 directory of 1 file of 700 B each"), "{assumed}");
        // The trace is the last but one now.
        user.fine(&["rm", "last", "--yes"]);
    }
}

#[test]
fn what_is_like_a_trace_that_is_cut_off_says_so_and_so_does_the_trace() {
    let user = User::new();
    std::fs::write(user.path("strace.out"), TRACED).unwrap();
    user.fine(&["trace", "--from", "strace.out", "-o", "cut.iolag"]);
    let whole = std::fs::read(user.path("cut.iolag")).unwrap();
    std::fs::write(user.path("cut.iolag"), &whole[..whole.len() - 1]).unwrap();
    let shown = user.fine(&["show", "cut.iolag"]).output;
    assert!(
        shown.starts_with("The trace is cut off, and of the rest") && shown.contains("made 7 calls"),
        "{shown}"
    );
    let shown = user.fine(&["show", "cut.iolag", "--format", "json"]).output;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["run"]["state"]["state"], "incomplete");
    let said = user.fine(&["bench", "setup", "memory:", "--like", "cut.iolag"]);
    assert!(said.errors.contains("the trace is not whole"), "{said:?}");
    let list = user.fine(&["list"]).output;
    assert!(list.contains("setup, like job, as far as its trace goes"), "{list}");
}

#[test]
fn a_copy_of_the_preset_makes_the_calls_that_the_study_traced() {
    let user = User::new();
    let preset = ["bench", "setup", "memory:", "--preset", "lhcb", "--format", "json", "-q"];
    let run: Value = serde_json::from_str(&user.fine(&preset).output).unwrap();
    assert_eq!(run["calls"]["stats"].as_u64(), Some(110_765));
    assert_eq!(run["calls"]["opens"].as_u64(), Some(17_868));
    let rows: Vec<(String, u64)> = run["stages"][1]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (row["summary"]["operation"].to_string(), row["summary"]["attempts"].as_u64().unwrap_or(0))
        })
        .collect();
    assert!(rows.contains(&("\"call.stat\"".to_owned(), 110_765)), "{rows:?}");
    assert!(rows.contains(&("\"call.open\"".to_owned(), 17_868)), "{rows:?}");
}

#[test]
fn what_is_no_trace_is_refused() {
    let user = User::new();
    user.fine(&["bench", "setup", "memory:", "--stat", "5", "--open", "0", "-q"]);
    std::fs::write(user.path("text.iolag"), "no trace").unwrap();
    std::fs::write(user.path("empty.txt"), "7 getpid() = 7\n").unwrap();
    user.fine(&["trace", "--from", "empty.txt", "-o", "empty.iolag"]);
    for (name, code, expected) in [
        ("last", 2, "--like takes a trace; run "),
        ("text.iolag", 3, "cannot read text.iolag: "),
        ("empty.iolag", 2, "has no call that looks for a file"),
        ("nothing.iolag", 3, "nothing.iolag"),
    ] {
        let said = user.iolag(&["bench", "setup", "memory:", "--like", name]);
        assert_eq!(said.code, code, "{name}: {said:?}");
        assert!(said.errors.contains(expected), "{name}: {said:?}");
    }
}

#[test]
fn a_plan_says_what_is_typed() {
    let user = User::new();
    let plan = |keys: &str| {
        let text = format!("name = \"set-up\"\nrepeat = 2\n[[bench]]\nworkload = \"setup\"\n{keys}");
        std::fs::write(user.path("plan.toml"), text).unwrap();
        user.iolag(&["run", "plan.toml", "memory:", "-q"])
    };
    let said = plan(
        "copies = [1]\nstat = 20\nopen = 4\nmiss = \"50%\"\nopen-miss = \"0%\"\ndirectories = 1\nfiles = 5\nfile-size = 10\nshared = \"100%\"\njudge = \"600s\"\n",
    );
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.output.contains("with 20 stat and 4 open calls"), "{said:?}");
    assert!(said.output.contains("50 % of stat and 0 % of open calls look for names"), "{said:?}");
    assert!(said.output.contains("The copy did not take longer than 600s"), "{said:?}");
    for (keys, expected) in [
        (
            "preset = \"lhcb\"\nstat = 5\n",
            "plan.toml:6: stat and open are those of the preset: leave them out",
        ),
        ("preset = \"atlas\"\n", "plan.toml:5: there is no set-up \"atlas\": choose lhcb"),
        (
            "pattern = \"paper\"\n",
            "plan.toml:5: unknown field `pattern`, expected one of `workload`, `copies`",
        ),
        ("clients = [1]\n", "plan.toml:5: unknown field `clients`"),
        ("stat = 0\nopen = 0\n", "plan.toml:3: the number of calls of a copy is 0"),
        ("copies = [0]\n", "plan.toml:5: copies 0 measures nothing"),
        ("miss = 80\n", "plan.toml:5: invalid type: integer `80`, expected a text in quotes"),
        ("miss = \"80\"\n", "plan.toml:5: \"80\" is no share: expected 0% to 100%, as in 80%"),
    ] {
        let said = plan(keys);
        assert_eq!((said.code, said.output.as_str()), (2, ""), "{keys}: {said:?}");
        assert!(said.errors.contains(expected), "{keys}: {said:?}");
    }
}

const SMALL: [&str; 13] = [
    "bench",
    "setup",
    "tree",
    "--directories",
    "1",
    "--files",
    "5",
    "--stat=20",
    "--open=0",
    "--copies",
    "1,2,4",
    "-q",
    "--repeat",
];

#[test]
fn how_many_copies_to_run_is_told_and_asked_again() {
    let user = User::new();
    let tree = user.directory("tree");
    let measured = user.fine(&[&SMALL[..], &["3", "--payload", "2h", "--judge", "600s"]].concat());
    let heading = format!("How many copies to run\nOn {tree} no number of copies is advised, since");
    assert!(measured.output.contains(&heading), "{measured:?}");
    // Nothing was over, and three runs allow much.
    assert!(measured.output.contains("time out: 0 of "), "{measured:?}");
    let shown = user.fine(&["show", "last", "--payload", "1h", "--format", "json"]);
    let documents: Value = serde_json::from_str(&shown.output).unwrap();
    assert_eq!(
        (documents[0]["kind"].as_str(), documents[1]["kind"].as_str()),
        (Some("setup"), Some("recommendation"))
    );
    assert_eq!(documents[2]["kind"], "time-against-copies");
    let told = &documents[1]["targets"][0];
    assert_eq!(told["question"]["payload_ns"].as_u64(), Some(3_600_000_000_000));
    assert_eq!(told["question"]["limit_ns"].as_u64(), Some(600_000_000_000), "as it was measured");
    let of = |place: usize| &told["levels"][place];
    assert_eq!([0, 1, 2].map(|place| of(place)["copies"].as_u64()), [Some(1), Some(2), Some(4)]);
    assert_eq!([0, 1, 2].map(|place| of(place)["runs"].as_u64()), [Some(3); 3]);
    let jobs = of(0)["jobs"]["per_hour"].as_f64().unwrap();
    assert!((0.99..=1.0).contains(&jobs), "{told}");
    // With a share that is large enough something is advised, or more copies are to be measured, as many processors as there are.
    let shown = user.fine(&["show", "last", "--payload", "1h", "--timeouts-at-most", "90%"]).output;
    assert!(
        shown.contains(&format!("On {tree} run ")) || shown.contains("more were not measured"),
        "{shown}"
    );
    let drawn = user.fine(&["plot", "jobs", "last", "--payload", "1h", "-o", "jobs.svg"]);
    assert!(drawn.errors.contains("jobs.svg"), "{drawn:?}");
    let figure = std::fs::read_to_string(user.path("jobs.svg")).unwrap();
    assert!(figure.contains("aria-label=\"jobs per hour\""), "{figure}");
    // A plan says the same.
    let text = "name = \"jobs\"\nrepeat = 2\n[[bench]]\nworkload = \"setup\"\nstat = 20\nopen = 0\ndirectories = 1\nfiles = 5\ncopies = [1, 2, 4]\npayload = \"2h\"\n";
    std::fs::write(user.path("plan.toml"), text).unwrap();
    let planned = user.fine(&["run", "plan.toml", &tree, "-q"]).output;
    let words = planned.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("there are 2 runs of 1 copy: measure three of each"), "{planned}");
    let alone = user.fine(&["show", "last"]).output;
    assert!(alone.contains("How many copies"), "as it was measured: {alone}");
    user.fine(&[&SMALL[..], &["1", "--payload", "2h", "--report", "page.html"]].concat());
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    assert!(page.contains("How many copies to run</h2>") && page.contains("there is 1 run of 1 copy"));
}

#[test]
fn what_says_too_little_of_jobs_is_refused() {
    let user = User::new();
    let alone = [&SMALL[..], &["1", "--timeouts-at-most", "1%"]].concat();
    for (arguments, expected) in [
        (alone.clone(), "set-up time alone always favours one copy; add --payload 2h"),
        ([&alone[..], &["--payload", "2h"]].concat(), "say it with --judge 600s"),
    ] {
        let said = user.iolag(&arguments);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.errors.contains(expected), "{said:?}");
    }
    user.fine(&["bench", "metadata", "memory:", "-D1", "-P3", "-I1", "-R1", "-q"]);
    let said = user.iolag(&["show", "last", "--payload", "2h"]);
    assert!(said.code == 2 && said.errors.contains("--payload is for runs of iolag bench setup"), "{said:?}");
    for (asked, expected) in [
        (&["plot", "jobs", "last", "--payload", "2h"][..], "--payload is for runs of iolag bench setup"),
        (&["plot", "jobs", "last"], "jobs are drawn of runs of iolag bench setup"),
        (&["plot", "ecdf", "last", "--payload", "2h"], "write `iolag plot jobs RUN --payload …`"),
    ] {
        let said = user.iolag(&[asked, &["-o", "none.svg"]].concat());
        assert!(said.code == 2 && said.errors.contains(expected), "{said:?}");
    }
    user.fine(&["bench", "setup", "memory:", "--stat", "5", "--open", "0", "-q"]);
    let said = user.iolag(&["plot", "jobs", "last", "-o", "none.svg"]);
    assert!(
        said.code == 2 && said.errors.contains("without which there are no jobs: add --payload 2h"),
        "{said:?}"
    );
    let said = user.iolag(&["show", "history", "--payload", "2h"]);
    assert!(said.code == 2 && said.errors.contains("not for a history"), "{said:?}");
}
