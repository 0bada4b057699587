//! The sentence that ranks the directories of a check, on made-up checks of which it is known who is slower.

use crate::scenario::{MS, S, Scenario};
use iolag_analysis::{Feeling, analyse_check};
use iolag_model::{
    ContactEnd, ContactRecord, FailureCode, Nanoseconds, Operation, Outcome, Random, TargetIndex,
    WorkloadSpec,
};

const CHECKS: u64 = 200;
/// What is said of two directories that are the same, in so many of 200 checks at least.
const ALIKE_LEAST: usize = 191;

fn ranking(scenario: &Scenario) -> String {
    analyse_check(&scenario.record, &scenario.by_target()).ranking.expect("there are several")
}

/// Rows of a check with a typical number of attempts and duration.
const ROWS: [(Operation, usize, u64); 10] = [
    (Operation::TaskList, 40, 150),
    (Operation::TaskListNumeric, 40, 150),
    (Operation::TaskCreate, 12, 600),
    (Operation::TaskCompile, 12, 300),
    (Operation::Create, 60, 120),
    (Operation::Stat, 60, 90),
    (Operation::Read, 60, 100),
    (Operation::WriteDurably, 60, 200),
    (Operation::Rename, 60, 110),
    (Operation::Delete, 60, 110),
];

/// Two directories; the first has a part of the attempts, the second takes some times as long. Few attempts are far longer than others.
fn check(seed: u64, part: usize, times: f64) -> Scenario {
    let mut noise = Random::new(seed);
    let mut scenario = Scenario::check(&["/a", "/b"]);
    for (operation, count, ms) in ROWS {
        for (target, count, times) in [(0, (count / part).max(1), 1.0), (1, count, times)] {
            for _ in 0..count {
                let hiccup = if noise.normal() > 1.9 { 10.0 } else { 1.0 };
                let ns = (ms * MS) as f64 * times * hiccup * (0.5 * noise.normal()).exp();
                scenario.add(target, operation, ns as u64);
            }
        }
    }
    scenario
}

#[test]
fn directories_that_are_the_same_are_told_apart_in_fewer_than_one_of_twenty_checks() {
    for part in [1, 2, 4, 12, 60] {
        let words = ["are alike", "cannot be told apart", " to be compared"];
        let is_told = |text: &String| words.iter().any(|words| text.contains(words));
        let texts: Vec<String> = (0..CHECKS).map(|seed| ranking(&check(seed + 1, part, 1.0))).collect();
        let alike = texts.iter().filter(|text| is_told(text)).count();
        let other = texts.iter().find(|text| !is_told(text));
        assert!(alike >= ALIKE_LEAST, "1/{part} of the attempts: {alike} of {CHECKS}, else {other:?}");
    }
}

#[test]
fn one_that_takes_four_times_as_long_is_ranked_behind() {
    for part in [1, 2] {
        let texts: Vec<String> = (0..CHECKS).map(|seed| ranking(&check(seed + 1, part, 4.0))).collect();
        let is_right =
            |text: &&String| text.starts_with("/a ") && text.contains("; /b (nfs4) is slower, by `");
        let right = texts.iter().filter(is_right).count();
        assert!(right >= ALIKE_LEAST, "1/{part} of the attempts: {right} of {CHECKS}: {}", texts[0]);
    }
}

#[test]
fn what_nobody_feels_is_no_difference() {
    let compare = |medians: [u64; 2], spread: f64, count| {
        let mut scenario = Scenario::check(&["/a", "/b"]);
        for (target, median) in (0..).zip(medians) {
            scenario.scatter(target, Operation::TaskCreate, count, median, spread);
        }
        ranking(&scenario)
    };
    let alike = "/a (nfs4) and /b (nfs4) are alike: they feel fast.";
    assert_eq!(compare([2 * MS, 9 * MS], 0.1, 30), alike);
    assert_eq!(
        compare([2 * MS, 90 * MS], 0.1, 30).replace(char::is_numeric, ""),
        "/a (nfs) feels fast; /b (nfs) is slower, by `create `: . ms against . ms."
    );
    assert_eq!(compare([30 * MS, 90 * MS], 0.1, 30), alike);
    assert_eq!(compare([100 * MS, 250 * MS], 0.7, 6), alike);
    assert!(compare([30 * MS, 600 * MS], 0.1, 30).contains("/b (nfs4) is slower, by `create 500`: "));
}

#[test]
fn one_attempt_each_decides_nothing() {
    let mut scenario = Scenario::check(&["/a", "/b"]);
    for (target, ms) in [(0, 5), (1, 3_000)] {
        scenario.add(target, Operation::TaskList, ms * MS);
        scenario.add(target, Operation::TaskCreate, ms * MS);
    }
    assert_eq!(ranking(&scenario), "/a (nfs4) and /b (nfs4) have too few attempts to be compared.");
}

/// Its load grew while it was measured: a hundred attempts, and none tells what it takes.
#[test]
fn one_that_changes_all_the_time_has_not_too_few_attempts() {
    let mut scenario = Scenario::check(&["/steady", "/grows", "/once"]);
    scenario.scatter(0, Operation::TaskList, 100, 9 * MS, 0.1);
    for attempt in 0..100 {
        scenario.add(1, Operation::TaskList, 9 * MS + attempt * MS);
    }
    scenario.add(2, Operation::TaskList, 9 * MS);
    let told = "/steady (nfs4) feels fast; /grows (nfs4) was too unsteady to be compared; /once (nfs4) has too few attempts to be \
                compared.";
    assert_eq!(ranking(&scenario), told);
}

/// Where every request takes long, no row has six attempts, but all of them are far beyond the other's.
#[test]
fn few_attempts_of_many_rows_decide_together_if_all_are_far_slower() {
    let mut scenario = Scenario::check(&["/quick", "/slow"]);
    let rows = [
        Operation::TaskList,
        Operation::TaskCreate,
        Operation::Create,
        Operation::Read,
        Operation::WriteDurably,
        Operation::Delete,
    ];
    for operation in rows {
        scenario.scatter(0, operation, 20, 10 * MS, 0.3);
    }
    for operation in &rows[..2] {
        scenario.add(1, *operation, 2 * S);
    }
    let text = ranking(&scenario);
    let few = "; /slow (nfs4) felt slow in few attempts: `create 500` took 2.00 s (n = 1), ";
    assert!(text.starts_with("/quick (nfs4) feels fast") && text.contains(few), "{text}");
    scenario.add(1, rows[4], 2 * S);
    scenario.add(1, rows[5], 3 * S);
    let text = ranking(&scenario);
    assert!(text.starts_with("/quick (nfs4) feels fast; /slow (nfs4) is slower, by few attempts that are all far slower: `delete`: 3.00 s against "), "{text}");
}

#[test]
fn what_the_ranking_tells_is_not_told_again_beside_the_memory() {
    let mut scenario = Scenario::check(&["/local", "/remote", "/dev/shm"]);
    let WorkloadSpec::Check(spec) = &mut scenario.record.spec.workload else { panic!("it is a check") };
    spec.control = Some(TargetIndex(2));
    for (target, durable_us) in [(0, 50), (1, 23_000), (2, 1)] {
        scenario.scatter(target, Operation::TaskList, 20, 3 * MS, 0.1);
        scenario.scatter(target, Operation::WriteDurably, 20, durable_us * MS / 1_000, 0.1);
    }
    assert!(ranking(&scenario).contains("; /remote (nfs4) is slower, by `write+fsync`: "));
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    for directory in &analysis.directories {
        let sentence = &directory.verdict.sentence;
        assert!(sentence.starts_with("feels fast: `") && !sentence.contains("memory"), "{sentence}");
    }
}

#[test]
fn those_that_are_slow_alike_stand_together_and_those_that_are_lost_come_last() {
    let mut scenario = Scenario::check(&["/hung", "/slow", "/quick", "/slow-too"]);
    scenario.record.targets[0].unanswered_ns = Some(Nanoseconds(15 * S));
    for (target, ms) in [(1, 700), (2, 12), (3, 710)] {
        scenario.scatter(target, Operation::TaskCreate, 20, ms * MS, 0.1);
    }
    let text = ranking(&scenario);
    assert!(text.starts_with("/quick (nfs4) feels fast; /slow"), "{text}");
    assert!(
        text.contains(" are alike and slower, by `create 500`: ") && text.contains(" in /quick; "),
        "{text}"
    );
    assert!(text.ends_with("; /hung (nfs4) does not answer."), "{text}");
}

/// With the attempts that a check of 45 s has of them: the slow one has three.
#[test]
fn memory_disk_sshfs_and_one_with_a_fifth_of_a_second_per_request_stand_in_this_order() {
    let mut scenario = Scenario::check(&["/sshfs", "/slow", "/disk", "/memory"]);
    for (target, kind) in ["fuse.sshfs", "fuse", "ext4", "tmpfs"].into_iter().enumerate() {
        let file_system = scenario.record.targets[target].file_system.as_mut();
        file_system.expect("it has one").kind = kind.to_owned();
    }
    const US: u64 = MS / 1_000;
    // Attempts on memory and disk; medians on memory, disk and sshfs.
    let rows = [
        (Operation::TaskList, 150, [1_300 * US, 1_400 * US, 12 * MS]),
        (Operation::TaskCreate, 30, [9 * MS, 16 * MS, 900 * MS]),
        (Operation::TaskCompile, 30, [150 * MS, 170 * MS, 260 * MS]),
        (Operation::Create, 600, [20 * US, 35 * US, 1_500 * US]),
        (Operation::Read, 600, [4 * US, 4 * US, 900 * US]),
        (Operation::Stat, 600, [3 * US, 3 * US, 300 * US]),
        (Operation::WriteDurably, 600, [5 * US, 3_700 * US, 1_800 * US]),
    ];
    for (operation, count, [memory, disk, sshfs]) in rows {
        scenario.scatter(3, operation, count, memory, 0.3);
        scenario.scatter(2, operation, count, disk, 0.3);
        scenario.scatter(0, operation, 10, sshfs, 0.3);
    }
    let create = scenario.add(1, Operation::TaskCreate, 4_270 * MS);
    *create = create.with_outcome(Outcome::Interrupted, FailureCode::NONE).with_bytes(3 * 64);
    scenario.add(1, Operation::Create, 1_850 * MS);
    scenario.add(1, Operation::Create, 1_830 * MS);
    assert_eq!(
        ranking(&scenario),
        "/disk (ext4) and /memory (tmpfs) are alike: they feel fast; /sshfs (fuse.sshfs) is slower, by `create 500`: 854 ms against 8.88 \
         ms in /memory; /slow (fuse) is slower, by few attempts that are all far slower: `create`: 1.83 s against 19.8 µs in /memory."
    );
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    for directory in &analysis.directories {
        assert!(directory.verdict.feeling < Feeling::Unreliable, "{}", directory.verdict.sentence);
    }
}

#[test]
fn who_was_ready_and_had_no_turn_before_ctrl_c_was_not_interrupted_while_it_was_set_up() {
    let mut scenario = Scenario::check(&["/ready", "/quick"]);
    let contact = ContactRecord {
        answered: 18,
        needed: 18,
        waited_ns: Nanoseconds(4 * S),
        end: ContactEnd::Interrupted,
    };
    scenario.record.targets[0].contact = Some(contact);
    scenario.scatter(1, Operation::TaskList, 20, 3 * MS, 0.1);
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    let told = "could not be measured: interrupted before anything was measured.";
    assert_eq!(analysis.directories[0].verdict.sentence, told);
    let told = "/quick (nfs4) feels fast; /ready (nfs4) was interrupted before anything was measured.";
    assert_eq!(ranking(&scenario), told);
}
