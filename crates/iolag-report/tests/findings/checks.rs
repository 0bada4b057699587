//! Verdicts and findings of checks, from made-up runs.

use crate::scenario::{MS, S, Scenario, slow_beside_quick, three_directories};
use crate::{busy_generator, told_of_check, told_of_stages};
use iolag_analysis::{Feeling, RunAnalysis, Severity, analyse_check, analyse_metadata};
use iolag_model::{
    ContactEnd, ContactRecord, FailureCode, FileSystem, GeneratorLimit, Nanoseconds, Operation, Outcome,
    Phase, Sample,
};
use iolag_report::{CheckRows, Colour, run_text};

/// Findings of the first directory of a check, as sentences.
fn sentences(scenario: &Scenario) -> Vec<String> {
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    told_of_check(&analysis).swap_remove(0).into_iter().map(|told| told.sentence).collect()
}

fn verdict(scenario: &Scenario) -> (Feeling, String) {
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    let verdict = analysis.directories[0].verdict.clone();
    (verdict.feeling, verdict.sentence)
}

#[track_caller]
fn assert_found(scenario: &Scenario, part: &str) {
    let sentences = sentences(scenario);
    assert!(sentences.iter().any(|sentence| sentence.contains(part)), "{part:?} is not in {sentences:#?}");
}

#[track_caller]
fn assert_not_found(scenario: &Scenario, part: &str) {
    let sentences = sentences(scenario);
    assert!(!sentences.iter().any(|sentence| sentence.contains(part)), "{part:?} is in {sentences:#?}");
}

#[test]
fn names_looked_up_over_the_network_are_found() {
    let scenario = three_directories();
    assert_found(
        &scenario,
        "times slower than `ls -n`: looking up the names of users and groups takes the difference",
    );
    let mut alike = Scenario::check(&["/home"]);
    alike.scatter(0, Operation::TaskList, 20, 2 * MS, 0.3);
    alike.scatter(0, Operation::TaskListNumeric, 20, 2 * MS, 0.3);
    assert_not_found(&alike, "ls -n");
}

#[test]
fn a_directory_that_does_not_answer_stops_no_other() {
    let scenario = three_directories();
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    let feelings: Vec<Feeling> =
        analysis.directories.iter().map(|directory| directory.verdict.feeling).collect();
    assert_eq!(feelings, [Feeling::Sluggish, Feeling::Fast, Feeling::NotAnswering]);
    assert_eq!(analysis.directories[2].unanswered_ns, Some(Nanoseconds(15 * S)));
    assert!(analysis.directories[2].verdict.sentence.contains("15.0 s"));
    let gravest = &told_of_check(&analysis)[2][0];
    assert_eq!(gravest.severity, Severity::Serious);
    assert!(gravest.sentence.contains("does not answer"));
}

#[test]
fn a_first_contact_that_hangs_is_enough_even_if_the_record_does_not_say() {
    let mut scenario = three_directories();
    scenario.record.targets[2].unanswered_ns = None;
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    assert_eq!(analysis.directories[2].verdict.feeling, Feeling::NotAnswering);
}

#[test]
fn words_follow_the_limits_of_feeling() {
    for (median_ns, feeling) in [
        (5 * MS, Feeling::Fast),
        (400 * MS, Feeling::Sluggish),
        (3 * S, Feeling::Slow),
        (20 * S, Feeling::Slow),
    ] {
        let mut scenario = Scenario::check(&["/home"]);
        scenario.scatter(0, Operation::TaskList, 50, median_ns, 0.05);
        assert_eq!(verdict(&scenario).0, feeling, "{median_ns}");
    }
    let mut compile = Scenario::check(&["/home"]);
    compile.scatter(0, Operation::TaskCompile, 5, 600 * MS, 0.05);
    assert_eq!(verdict(&compile).0, Feeling::Fast);
}

#[test]
fn a_share_over_one_second_makes_it_sluggish_and_is_said() {
    let mut scenario = Scenario::check(&["/home"]);
    scenario.scatter(0, Operation::TaskList, 88, 5 * MS, 0.1);
    scenario.scatter(0, Operation::TaskList, 12, 2 * S, 0.1);
    let (feeling, sentence) = verdict(&scenario);
    assert_eq!(feeling, Feeling::Sluggish);
    assert!(sentence.starts_with("sluggish: 12 % of `ls -l` took over 1.00 s (median 5."), "{sentence}");
    assert_not_found(&scenario, "took over 1.00 s");
    scenario.scatter(0, Operation::TaskListNumeric, 50, 1_500 * MS, 0.05);
    scenario.scatter(0, Operation::TaskListNumeric, 50, 1_500 * MS, 0.05);
    assert_found(&scenario, "12 of 100 `ls -l` (12 %) took over 1.00 s.");
    assert_found(&scenario, "is either fast or slow: 88 % take about");
}

#[test]
fn flushing_fsync_and_creations_are_told_apart() {
    let mut scenario = Scenario::check(&["/home"]);
    scenario.scatter(0, Operation::CallCreate, 50, 20_000, 0.1);
    scenario.scatter(0, Operation::CallWrite, 50, 5_000, 0.1);
    scenario.scatter(0, Operation::CallFsync, 50, 20 * MS, 0.1);
    scenario.scatter(0, Operation::WriteDurably, 50, 34 * MS, 0.1);
    scenario.scatter(0, Operation::CallCloseWritten, 50, 3 * MS, 0.1);
    scenario.scatter(0, Operation::Stat, 50, 2_000, 0.1);
    scenario.scatter(0, Operation::Create, 50, 4 * MS, 0.1);
    assert_found(&scenario, "(`write+fsync`), 8.");
    assert_found(&scenario, "times its write, as where data are sent to a server when a file is closed");
    assert_found(&scenario, "times as long as asking for one's attributes");
}

#[test]
fn what_looks_like_a_cold_cache_or_drift_is_not_called_so() {
    let mut cold = Scenario::check(&["/home"]);
    cold.add(0, Operation::TaskCompile, 4 * S);
    for step in 0..6 {
        cold.add(0, Operation::TaskCompile, (300 + step) * MS);
    }
    assert_not_found(&cold, "cold caches");
    let mut drifting = Scenario::check(&["/home"]);
    for step in 0..64 {
        drifting.add(0, Operation::TaskList, (10 + step) * MS);
    }
    assert_not_found(&drifting, "during the measurement");
}

#[test]
fn removing_that_takes_much_longer_than_creating_is_found() {
    let mut discarding = Scenario::check(&["/root"]);
    discarding.scatter(0, Operation::Create, 50, 57_000, 0.1);
    discarding.scatter(0, Operation::Delete, 50, 2 * MS, 0.1);
    assert_found(&discarding, "Removing a small file takes 1.9");
    assert_found(&discarding, "times as long as creating one.");
    let mut usual = Scenario::check(&["/root"]);
    usual.scatter(0, Operation::Create, 50, 400_000, 0.1);
    usual.scatter(0, Operation::Delete, 50, 2 * MS, 0.1);
    assert_not_found(&usual, "Removing a small file");
}

#[test]
fn directories_are_ranked_in_one_sentence_and_each_is_judged_by_its_worst_task() {
    let scenario = slow_beside_quick();
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    let feelings: Vec<Feeling> =
        analysis.directories.iter().map(|directory| directory.verdict.feeling).collect();
    assert_eq!(feelings, [Feeling::Fast, Feeling::Slower, Feeling::Slow]);
    let ranking = analysis.ranking.as_deref().expect("there are three");
    assert!(
        ranking.starts_with("/scratch (ext4) feels fast; /home (fuse.sshfs) is slower, by `create 500`: "),
        "{ranking}"
    );
    assert!(ranking.contains("; /slow (fuse) is slower, by `create`: "), "{ranking}");
    assert!(!ranking.contains("/dev/shm") && !ranking.contains("memory"), "{ranking}");
    assert_eq!(analysis.control.as_ref().map(|control| control.name.as_str()), Some("/dev/shm"));
}

#[test]
fn a_partial_task_is_bounded_by_what_was_seen_and_extrapolated_only_in_words() {
    let mut scenario = slow_beside_quick();
    let is_other =
        |sample: &Sample| sample.attempt.client().0 != 2 || sample.operation() == Operation::TaskCreate;
    scenario.retain(is_other);
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    let slow = &analysis.directories[2];
    let partial = slow.partial_create.expect("31 of 500 were created");
    assert_eq!((partial.files, partial.of, partial.at_this_pace_ns.0 / S), (31, 500, 80));
    assert_eq!(
        (slow.verdict.feeling, slow.verdict.sentence.as_str()),
        (
            Feeling::Sluggish,
            "sluggish: `create 500` takes at least 5.00 s (31 of 500; at this pace some 81 s)."
        )
    );
    let ranking = analysis.ranking.expect("there are three");
    let few = "; /slow (fuse) felt sluggish in few attempts: `create 500` took at least 5.00 s (n = 1), 11.5 ms in /scratch.";
    assert!(ranking.ends_with(few), "{ranking}");
}

#[test]
fn one_attempt_is_told_as_one() {
    let mut scenario = Scenario::check(&["/home"]);
    scenario.add(0, Operation::TaskListNumeric, 1_200 * MS);
    assert_eq!(verdict(&scenario).1, "slow: the one `ls -n` took 1.20 s.");
    scenario.add(0, Operation::TaskListNumeric, 1_300 * MS);
    assert!(
        verdict(&scenario).1.starts_with("slow: 2 of 2 `ls -n` took over 1.00 s (the longest 1.30 s)"),
        "{:?}",
        verdict(&scenario)
    );
    let mut several = Scenario::check(&["/home"]);
    several.add(0, Operation::TaskListNumeric, 12 * S);
    several.add(0, Operation::Create, 1_850 * MS);
    assert_eq!(verdict(&several).1, "slow: the one `ls -n` took 12.0 s.");
    assert_found(&several, "Few attempts, but long: the one `create` took 1.85 s.");
    assert_not_found(&several, "%");
    let mut quick = Scenario::check(&["/home"]);
    quick.add(0, Operation::TaskCompile, 300 * MS);
    assert_eq!(verdict(&quick).1, "feels fast: the one `compile` took 300 ms.");
}

#[test]
fn who_was_interrupted_while_it_was_set_up_is_not_called_dead() {
    let mut scenario = Scenario::check(&["/slow"]);
    scenario.record.targets[0].contact =
        Some(ContactRecord { answered: 12, needed: 40, waited_ns: Nanoseconds(4 * S), end: ContactEnd::Own });
    let opening = scenario.add(0, Operation::OpenSession, 3 * S);
    *opening = opening.with_outcome(Outcome::Hung, FailureCode::NONE);
    assert_eq!(
        verdict(&scenario),
        (
            Feeling::Unknown,
            "could not be measured: setting up did not end within 4.00 s; at least 12 requests were answered.".to_owned()
        )
    );
}

#[test]
fn that_setting_up_was_interrupted_is_said_wherever_its_directory_is() {
    let mut scenario = Scenario::check(&["/slow", "/quick"]);
    let contact = ContactRecord {
        answered: 14,
        needed: 18,
        waited_ns: Nanoseconds(4 * S),
        end: ContactEnd::Interrupted,
    };
    scenario.record.targets[0].contact = Some(contact);
    scenario.scatter(1, Operation::TaskList, 20, 3 * MS, 0.1);
    let told = "could not be measured: interrupted while setting up, after 4.00 s; at least 14 requests were answered.";
    assert_eq!(verdict(&scenario), (Feeling::Unknown, told.to_owned()));
    let ranking = analyse_check(&scenario.record, &scenario.by_target()).ranking.unwrap();
    assert_eq!(ranking, "/quick (nfs4) feels fast; /slow (nfs4) was interrupted while it was set up.");
}

#[test]
fn of_rows_that_say_the_same_the_one_is_named_that_a_user_sees() {
    let mut scenario = Scenario::check(&["/a", "/b"]);
    for (operation, ms) in [(Operation::TaskList, 9), (Operation::TaskListNumeric, 10)] {
        scenario.scatter(0, operation, 20, ms * MS, 0.1);
        scenario.scatter(1, operation, 20, 50 * ms * MS, 0.1);
    }
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    let ranking = analysis.ranking.as_deref().unwrap();
    assert!(ranking.contains("slower, by `ls -l`: "), "{ranking}");
    let fast = &analysis.directories[0].verdict.sentence;
    assert!(fast.starts_with("feels fast: `ls -l` takes ") && !fast.contains("`ls -n`"), "{fast}");
}

#[test]
fn what_failed_is_told_as_a_failure_and_not_as_slowness() {
    let mut scenario = Scenario::check(&["/full", "/quick"]);
    scenario.record.targets[0].contact =
        Some(ContactRecord { answered: 12, needed: 40, waited_ns: Nanoseconds(4 * S), end: ContactEnd::Own });
    let failure = "cannot create the working directory /full/iolag-check-1: no space left";
    scenario.record.targets[0].failure = Some(failure.to_owned());
    scenario.scatter(1, Operation::TaskList, 20, 3 * MS, 0.1);
    assert_eq!(verdict(&scenario), (Feeling::Unknown, format!("could not be measured: {failure}.")));
    let ranking =
        |scenario: &Scenario| analyse_check(&scenario.record, &scenario.by_target()).ranking.unwrap();
    assert_eq!(ranking(&scenario), "/quick (nfs4) feels fast; /full (nfs4) could not be measured.");
    scenario.scatter(0, Operation::TaskList, 20, 3 * MS, 0.1);
    assert_eq!(verdict(&scenario).0, Feeling::Fast);
    assert_found(&scenario, &format!("Not everything could be measured: {failure}."));
}

#[test]
fn a_task_that_was_ended_early_is_a_bound_and_no_failure() {
    let mut scenario = Scenario::check(&["/home"]);
    let ended = |scenario: &mut Scenario, ns| {
        let sample = scenario.add(0, Operation::TaskCompile, ns);
        *sample = sample.with_outcome(Outcome::Interrupted, FailureCode::NONE);
    };
    ended(&mut scenario, 100 * MS);
    assert_eq!(verdict(&scenario).0, Feeling::Unknown, "nobody would have noticed yet");
    ended(&mut scenario, 20 * S);
    ended(&mut scenario, 20 * S);
    assert_eq!(verdict(&scenario).0, Feeling::Slow);
}

#[test]
fn hung_operations_and_failures_are_never_dropped() {
    let mut scenario = Scenario::check(&["/home"]);
    scenario.scatter(0, Operation::Stat, 30, 3_000, 0.1);
    let hung = scenario.add(0, Operation::Stat, 15 * S);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    let failed = scenario.add(0, Operation::Create, 50_000);
    *failed = failed.with_outcome(Outcome::Error, FailureCode::from_errno(28));
    let (feeling, sentence) = verdict(&scenario);
    assert_eq!(
        (feeling, sentence.as_str()),
        (
            Feeling::Unreliable,
            "unreliable: stopped answering at 18:59:00 UTC, in `stat`, for at least 15.0 s."
        )
    );
    assert_found(&scenario, "1 of 31 `stat` did not end; the longest had been waiting for 15.0 s.");
    assert_found(&scenario, "1 of 1 `create` failed: no space left.");
}

#[test]
fn a_directory_that_froze_stopped_answering_at_a_moment() {
    let mut scenario = Scenario::check(&["/home"]);
    scenario.scatter(0, Operation::Stat, 30, 3_000, 0.1);
    let hung = scenario.add(0, Operation::Rename, 15 * S);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    let (feeling, sentence) = verdict(&scenario);
    let frozen = "stopped answering at 18:59:00 UTC, in `rename`, and did not answer again";
    assert_eq!((feeling, sentence), (Feeling::NotAnswering, format!("does not answer: {frozen}.")));
    for _ in 0..2 {
        scenario.scatter(0, Operation::Stat, 3, 3_000, 0.1);
        let ended = scenario.add(0, Operation::TaskList, 20 * S);
        *ended = ended.with_outcome(Outcome::Timeout, FailureCode::NONE);
    }
    scenario.scatter(0, Operation::Stat, 3, 3_000, 0.1);
    let (feeling, sentence) = verdict(&scenario);
    let thrice =
        "stopped answering 3 times, first at 18:59:00 UTC, in `rename`; the longest was at least 20.0 s";
    assert_eq!((feeling, sentence), (Feeling::Unreliable, format!("unreliable: {thrice}.")));
}

#[test]
fn a_directory_that_froze_between_two_attempts_had_answered() {
    let mut scenario = Scenario::check(&["/home"]);
    let hangs = |scenario: &mut Scenario| {
        let hung = scenario.add(0, Operation::OpenSession, 15 * S);
        *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    };
    hangs(&mut scenario);
    assert_eq!(verdict(&scenario).1, "does not answer: waited 15.0 s for the first contact.");
    let mut scenario = Scenario::check(&["/home"]);
    scenario.scatter(0, Operation::Stat, 30, 3_000, 0.1);
    hangs(&mut scenario);
    let frozen = "stopped answering at 18:59:00 UTC, between two attempts, and did not answer again";
    assert_eq!(verdict(&scenario), (Feeling::NotAnswering, format!("does not answer: {frozen}.")));
}

#[test]
fn what_is_to_be_known_of_nearly_every_result_is_a_footnote_and_no_finding() {
    let mut scenario = Scenario::check(&["/home", "/tmp"]);
    for target in 0..2 {
        scenario.scatter(target, Operation::CallStat, 50, 500, 0.01);
    }
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    assert_eq!(
        analysis.footnotes,
        [
            "2 of 2 rows have too few attempts for a p99 (368 are needed).",
            "Measuring itself adds at most 60 ns to a duration, up to 12 % of a median (`call.stat`)."
        ]
    );
    assert!(analysis.directories.iter().all(|directory| directory.findings.is_empty()));
}

#[test]
fn caches_are_a_footnote_where_there_is_storage_behind_them() {
    let footnotes = |kind: Option<&str>| {
        let mut scenario = Scenario::metadata(2, 10, 1, &[(Phase::Benchmark, 0)]);
        scenario.record.targets[0].file_system =
            kind.map(|kind| FileSystem { kind: kind.to_owned(), ..FileSystem::default() });
        scenario.at(0, 0, Operation::Read, S, MS);
        let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
        let told = told_of_stages(&analysis);
        assert!(!told.iter().any(|told| told.sentence.contains("warm")), "{told:#?}");
        analysis.footnotes.join(" ")
    };
    let on_disk = footnotes(Some("ext4"));
    assert!(
        on_disk.contains("clients read 50 % of the precreated objects and 100 % of later ones"),
        "{on_disk}"
    );
    for in_memory in [Some("tmpfs"), Some("ramfs"), None] {
        assert!(!footnotes(in_memory).contains("aches"), "{in_memory:?}");
    }
}

#[test]
fn a_host_that_was_busy_itself_is_a_note_behind_what_was_found_of_directories() {
    let mut scenario = three_directories();
    let text = |scenario: &Scenario| {
        let analysis = analyse_check(&scenario.record, &scenario.by_target());
        run_text(&RunAnalysis::Check(analysis), CheckRows::Known, 1000, Colour::Never)
    };
    let quiet = text(&scenario);
    scenario.record.generator = Some(busy_generator((2, 40), GeneratorLimit::Lag));
    assert_eq!(text(&scenario), quiet, "two seconds are no pattern");
    scenario.record.generator = Some(busy_generator((4, 40), GeneratorLimit::Lag));
    let busy = text(&scenario);
    let told = "note: For 4.00 s of 40.0 s the host that measured was itself beyond limits: timers of workers over 50 ms late; response \
                times of these moments may contain the host's own delay.";
    let (before, after) = busy.split_once(told).expect("it is told");
    assert!(before.contains("\nFindings"), "{before}");
    assert!(after.contains("before you blame the storage; if its own clients keep it busy"), "{after}");
    assert!(!after.contains("serious:") && !after.contains("warning:"), "{after}");
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    assert_eq!(crate::told(&crate::document(&RunAnalysis::Check(analysis))["findings"]).len(), 1);
}
