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
    assert!(said.output.contains("None of 1 copy took longer than 600s"), "{said:?}");
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
