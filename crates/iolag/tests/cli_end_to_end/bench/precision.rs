//! Campaigns that end when their comparison is precise, or when their time is up.

use serde_json::Value;

use crate::user::{Said, User, number, text};

const SMALL: [&str; 8] = ["-D", "1", "-P", "5", "-I", "5", "-R", "1"];
const SIDES: [&str; 2] = ["delayed:1ms:memory:", "delayed:2ms:memory:"];

fn bench(user: &User, targets: &[&str], more: &[&str]) -> Said {
    user.iolag(&[&["bench", "metadata"], targets, &SMALL, more].concat())
}

fn records(user: &User) -> Vec<Value> {
    serde_json::from_str(&user.fine(&["list", "--json", "-"]).output).unwrap()
}

/// After how many blocks it ended, by the sentence that begins so.
fn blocks_told(said: &Said, how: &str) -> usize {
    let (_, told) = said.errors.split_once(how).unwrap_or_else(|| panic!("{said:?}"));
    told.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_campaign_ends_when_its_comparison_is_precise() {
    let user = User::new();
    let precise = ["--precision", "100%", "--budget", "10m"];
    let sides = ["delayed:10ms:memory:", "delayed:20ms:memory:"];
    let said = bench(&user, &sides, &precise);
    assert_eq!(said.code, 0, "{said:?}");
    let blocks = blocks_told(&said, "precise enough after ");
    assert!([9, 13, 19, 28, 42, 63].contains(&blocks), "{said:?}");
    for told in ["of up to 63: half of the widest interval, that of ", " %, and 100.0 % was asked for"] {
        assert!(said.errors.contains(told), "{told}: {said:?}");
    }
    let runs = records(&user);
    assert_eq!(runs.len(), 2 * blocks, "{said:?}");
    for run in &runs {
        let stopping = &run["plan"]["stopping"];
        assert_eq!(
            (stopping["precision"].as_f64(), number(stopping, "budget_ns")),
            (Some(1.0), 600_000_000_000)
        );
    }
    let campaign = text(&runs[0], "campaign");
    assert!(
        said.errors.contains(&format!("iolag compare campaign:{campaign} --report FILE explains")),
        "{said:?}"
    );

    // Who goes on with it learns that nothing is left to be done.
    let again = bench(&user, &sides, &[&precise[..], &["--resume", "last"]].concat());
    assert_eq!(again.code, 0, "{again:?}");
    assert!(
        again.errors.contains(&format!("{} of up to 126 runs are already complete", 2 * blocks)),
        "{again:?}"
    );
    assert_eq!(blocks_told(&again, "precise enough after "), blocks);
    assert_eq!(records(&user).len(), 2 * blocks);
}

#[test]
fn a_campaign_ends_when_its_time_is_up_and_is_gone_on_with_by_the_same_rule() {
    let user = User::new();
    let short = ["--precision", "0.01%", "--budget", "1s"];
    let said = bench(&user, &SIDES, &short);
    assert_eq!(said.code, 0, "{said:?}");
    let blocks = blocks_told(&said, "the time is up after ");
    assert_eq!(records(&user).len(), 2 * blocks, "{said:?}");
    for other in [
        &["--precision", "1%", "--budget", "1s"][..],
        &["--precision", "0.01%", "--budget", "2s"],
        &["--repeat", "9"],
        &[],
    ] {
        let refused = bench(&user, &SIDES, &[other, &["--resume", "last"]].concat());
        assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{refused:?}");
        assert!(refused.errors.contains("; give the options"), "{refused:?}");
    }
    let gone_on = bench(&user, &SIDES, &[&short[..], &["--resume", "last"]].concat());
    assert_eq!(gone_on.code, 0, "{gone_on:?}");
    let further = blocks_told(&gone_on, "the time is up after ");
    assert!(further > blocks, "{gone_on:?}");
    assert_eq!(records(&user).len(), 2 * further, "{gone_on:?}");
}

#[test]
fn precision_of_what_is_no_comparison_is_refused() {
    let user = User::new();
    let both = ["--precision", "5%", "--budget", "10m"];
    for (targets, more, expected) in [
        (&SIDES[..], &both[..2], "--precision needs --budget: how long may it take at most?"),
        (&SIDES, &both[2..], "--budget needs --precision"),
        (&SIDES, &[&both[..], &["--repeat", "4"]].concat(), "leave out --repeat"),
        (&SIDES, &[&both[..], &["--order", "sequential"]].concat(), "choose interleaved or random"),
        (&SIDES[..1], &both, "name a second target or side"),
        (&SIDES[..1], &[&both[..], &["-n", "1,2"]].concat(), "name a second target or side"),
        (&SIDES, &["--precision", "5", "--budget", "10m"], "expected a percentage"),
    ] {
        let refused = bench(&user, targets, more);
        assert_eq!((refused.code, refused.output.as_str()), (2, ""), "{more:?}: {refused:?}");
        assert!(refused.errors.contains(expected), "{more:?}: {refused:?}");
    }
    assert!(!user.path("data").exists(), "nothing was made");
}

#[test]
fn a_campaign_of_sides_ends_with_their_comparison() {
    const HINT: &str = "iolag compare campaign:";
    const TABLE: &str = "\nSpeed by the median duration, in percent of memory:";
    let user = User::new();
    let of_two = bench(&user, &["memory:", SIDES[0]], &[]);
    assert_eq!(of_two.errors.matches(HINT).count(), 1, "{of_two:?}");
    let (_, table) = of_two.output.split_once(TABLE).unwrap_or_else(|| panic!("{of_two:?}"));
    // The same is found by the name of the campaign.
    let again = user.fine(&["compare", "campaign:last"]).output;
    assert!(again.ends_with(table), "{again}\n{of_two:?}");
    let quiet = bench(&user, &["memory:", SIDES[0]], &["--quiet"]);
    assert!(quiet.output.contains(TABLE) && !quiet.errors.contains(HINT), "{quiet:?}");
    let csv = bench(&user, &["memory:", SIDES[0]], &["--format", "csv"]);
    assert!(!csv.output.contains("Speed") && csv.errors.contains("says which is faster"), "{csv:?}");
    for nothing_to_compare in [
        bench(&user, &["memory:"], &["--repeat", "2"]),
        bench(&user, &["memory:"], &["-n", "1,2"]),
        bench(&user, &["memory:", "/nowhere"], &[]),
    ] {
        assert!(!nothing_to_compare.errors.contains(HINT), "{nothing_to_compare:?}");
        assert!(!nothing_to_compare.output.contains(TABLE), "{nothing_to_compare:?}");
    }
}
