//! Verdicts and findings from made-up runs.

mod scenario;

use iolag_analysis::{
    Feeling, LostObjects, MetadataAnalysis, RepetitionJudgement, Severity, WorkingSet, analyse_check,
    analyse_metadata,
};
use iolag_model::{
    ContactEnd, ContactRecord, FailureCode, FileSystem, MemoryState, Nanoseconds, Operation, Outcome, Phase,
    RunState, Sample,
};
use proptest::prelude::*;
use scenario::{MS, S, Scenario, one_after_the_other, slow_beside_quick, three_directories, usb_stick};

/// Findings of the first directory of a check, as sentences.
fn sentences(scenario: &Scenario) -> Vec<String> {
    let analysis = analyse_check(&scenario.record, &scenario.by_target());
    analysis.directories[0].findings.iter().map(|finding| finding.sentence.clone()).collect()
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
    let gravest = &analysis.directories[2].findings[0];
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
    assert!(ranking.ends_with("; /slow (fuse) has too few attempts to be compared."), "{ranking}");
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
            "could not be measured: setting up had 12 requests of about 40 answered in 4.00 s.".to_owned()
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
    let told = "could not be measured: interrupted while setting up, with 14 requests of about 18 answered in 4.00 s.";
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
        (Feeling::Unreliable, "unreliable: 1 of 31 `stat` did not end in time.")
    );
    assert_found(&scenario, "1 of 31 `stat` did not end; the longest had been waiting for 15.0 s.");
    assert_found(&scenario, "1 of 1 `create` failed: no space left.");
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
            "Measuring itself costs 60 ns per operation, up to 12 % of a median (`call.stat`)."
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
        assert!(!analysis.findings.iter().any(|finding| finding.sentence.contains("warm")));
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
fn stages_have_times_rates_and_balance() {
    let mut scenario = Scenario::metadata(2, 1, 1, &[(Phase::Precreate, 0), (Phase::Benchmark, 0)]);
    for client in 0..2 {
        let each = 10 * (1 + u64::from(client)) * MS;
        for step in 0..100 {
            let created = scenario.at(0, client, Operation::Create, S + step * each, each);
            *created = created.with_bytes(1 << 20);
        }
        scenario.at(0, client, Operation::Stage, S, (1 + u64::from(client)) * S);
    }
    let failed = scenario.at(0, 1, Operation::Create, 2 * S, MS);
    *failed = failed.with_outcome(Outcome::Error, FailureCode::from_errno(28));
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    assert_eq!(analysis.stages.len(), 1, "a stage without samples is no stage");
    let stage = &analysis.stages[0];
    assert_eq!((stage.times.phase_time_ns, stage.objects), (Nanoseconds(2 * S), 200));
    assert_eq!((stage.objects_per_second, stage.mebibytes_per_second), (100.0, 100.0));
    let times = &stage.times;
    assert_eq!((times.first_done_ns, times.last_done_ns), (Some(Nanoseconds(S)), Some(Nanoseconds(2 * S))));
    assert_eq!(times.balance_percent, Some(50.0));
    assert!((times.standard_deviation_ns.unwrap_or(0.0) - S as f64 / 2f64.sqrt()).abs() < 1e-3);
    assert_eq!(stage.errors[0].count, 1);
    assert_eq!(stage.row(Operation::Create).map(|row| row.per_second), Some(100.0));
}

#[test]
fn one_client_has_no_standard_deviation() {
    let mut scenario = Scenario::metadata(1, 1, 1, &[(Phase::Cleanup, 0)]);
    scenario.at(0, 0, Operation::Delete, S, MS);
    scenario.at(0, 0, Operation::Stage, S, MS);
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    let stage = &analysis.stages[0];
    assert_eq!((stage.times.standard_deviation_ns, stage.times.balance_percent), (None, Some(100.0)));
}

#[test]
fn a_stage_lasts_from_the_first_start_to_the_last_end_of_all_clients() {
    let scenario = one_after_the_other();
    let summaries = scenario.by_stage();
    let stage = &analyse_metadata(&scenario.record, &summaries).stages[0];
    assert_eq!(stage.times.phase_time_ns, Nanoseconds(200 * MS));
    assert_eq!((stage.operations_per_second, stage.objects_per_second), (1000.0, 1000.0));
    let done = (stage.times.first_done_ns, stage.times.last_done_ns, stage.times.balance_percent);
    assert_eq!(done, (Some(Nanoseconds(100 * MS)), Some(Nanoseconds(200 * MS)), Some(50.0)));
    assert_eq!(stage.times.start_skew_ns, Some(Nanoseconds(100 * MS)));
    assert_eq!(stage.times.mean_ns, Some(100.0 * MS as f64), "a client's own time");
    let read = stage.row(Operation::Read).expect("it was asked");
    assert_eq!((read.per_second, read.summary.rate_per_second), (1000.0, Some(1000.0)));
    let harness = |summary: &&iolag_analysis::Summary| summary.key.operation == Operation::Stage;
    assert_eq!(summaries.summaries.iter().find(harness).and_then(|summary| summary.rate_per_second), None);
    // Where stages are not told apart, nothing says what a rate would be by.
    let apart = scenario.by_target();
    assert!(apart.summaries.iter().all(|summary| summary.rate_per_second.is_none()), "{apart:?}");
}

#[test]
fn late_starts_and_short_stages_are_told_once_for_all_stages() {
    let scenario = one_after_the_other();
    let findings = analyse_metadata(&scenario.record, &scenario.by_stage()).findings;
    let told = |sentence: &str| findings.iter().filter(|finding| finding.sentence == sentence).count();
    let late = "In each of 2 stages clients did not start together: in cleanup the last one started 100 ms after the \
                first, 50 % of the stage.";
    let short = "Each of 2 stages lasted less than 1.00 s: benchmark 1 only 200 ms.";
    assert_eq!((told(late), told(short)), (1, 1), "{findings:#?}");
}

/// Two clients that both finished precreate; of the benchmark only its beginning is on record.
fn cut_off_in_benchmark() -> Scenario {
    let mut scenario = Scenario::metadata(2, 1, 1, &[(Phase::Precreate, 0), (Phase::Benchmark, 0)]);
    for client in 0..2 {
        scenario.at(0, client, Operation::Create, S, 2 * S);
        scenario.at(0, client, Operation::Stage, S, 2 * S);
        scenario.at(1, client, Operation::Read, 4 * S, 200 * MS);
    }
    scenario
}

#[test]
fn a_stage_that_was_cut_off_is_told_as_that_and_not_as_a_short_one() {
    let told = |scenario: &Scenario| -> Vec<String> {
        let findings = analyse_metadata(&scenario.record, &scenario.by_stage()).findings;
        let sentences = findings.into_iter().map(|finding| finding.sentence);
        sentences.filter(|sentence| sentence.contains("200 ms")).collect()
    };
    let short = "1 of 2 stages lasted less than 1.00 s: benchmark 1 only 200 ms.";
    let mut scenario = cut_off_in_benchmark();
    assert_eq!(told(&scenario), [short], "a run that is complete lacks nobody");
    scenario.record.state = RunState::Recovered { reason: "the run was killed".into() };
    let all = "Benchmark 1 was cut off after 200 ms, before any client had finished it.";
    assert_eq!(told(&scenario), [all]);
    // The kill came after one client was done; the other was stopped, and recorded that itself.
    scenario.at(1, 0, Operation::Stage, 4 * S, 200 * MS);
    let one = "Benchmark 1 was cut off after 200 ms, before 1 of 2 clients had finished it.";
    assert_eq!(told(&scenario), [one]);
    scenario.record.state = RunState::Incomplete { reason: "it was interrupted".into() };
    let stopped = scenario.at(1, 1, Operation::Stage, 4 * S, 200 * MS);
    *stopped = stopped.with_outcome(Outcome::Interrupted, FailureCode::NONE);
    assert_eq!(told(&scenario), [one]);
    // What was in flight when its process was killed did not end, but it had not hung.
    let mut killed = cut_off_in_benchmark();
    killed.record.state = RunState::Incomplete { reason: "the measurer ended by signal 9".into() };
    for (client, age) in [(0, 50 * MS), (1, 199 * MS)] {
        let in_flight = killed.at(1, client, Operation::Create, 4 * S, age);
        *in_flight = in_flight.with_outcome(Outcome::Hung, FailureCode::NONE);
    }
    assert_eq!(told(&killed), [all]);
}

#[test]
fn a_last_stage_in_which_a_client_hangs_is_not_cut_off() {
    let mut scenario = cut_off_in_benchmark();
    scenario.record.state = RunState::Incomplete { reason: "1 operation did not end".into() };
    scenario.at(1, 0, Operation::Stage, 4 * S, 200 * MS);
    let hung = scenario.at(1, 1, Operation::Create, 4 * S, 16 * S);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    let findings = analyse_metadata(&scenario.record, &scenario.by_stage()).findings;
    assert!(!findings.iter().any(|finding| finding.sentence.contains("cut off")), "{findings:#?}");
}

#[test]
fn an_iteration_that_was_cut_off_is_no_repetition_and_its_half_object_no_finding() {
    let mut scenario = outcomes(2, &[]);
    // The run ended between the removal of the fifth object and the creation of its successor.
    scenario.retain(|sample| {
        let done = if sample.operation() == Operation::Create { 4 } else { 5 };
        sample.stage.0 < 2 || sample.stage.0 == 2 && sample.start.0 < 30 * S + done * MS
    });
    for stage in 0..2 {
        scenario.at(stage, 0, Operation::Stage, u64::from(stage + 1) * 10 * S, 2 * S);
    }
    scenario.record.state = RunState::Incomplete { reason: "the measurer ended by signal 9".into() };
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    assert_eq!(analysis.stages.len(), 3);
    assert_eq!((analysis.repetitions, serious(&analysis)), (None, vec![]));
}

proptest! {
    #[test]
    fn no_rate_is_higher_than_what_was_done_between_the_first_start_and_the_last_end(
        operations in prop::collection::vec((0_u32..5, 0_u64..2_000, 1_u64..300), 1..60),
    ) {
        let mut scenario = Scenario::metadata(5, 1, 1, &[(Phase::Benchmark, 0)]);
        for &(client, start, length) in &operations {
            scenario.at(0, client, Operation::Read, S + start * MS, length * MS);
        }
        for client in 0..5 {
            let own = || operations.iter().filter(|operation| operation.0 == client);
            let first = own().map(|operation| operation.1).min().unwrap_or(0);
            let last = own().map(|operation| operation.1 + operation.2).max().unwrap_or(first);
            let ended = scenario.at(0, client, Operation::Stage, S + first * MS, (last - first) * MS);
            *ended = ended.with_bytes(own().count() as u64);
        }
        let first = operations.iter().map(|operation| operation.1).min().unwrap_or(0);
        let last = operations.iter().map(|operation| operation.1 + operation.2).max().unwrap_or(0);
        let truth = operations.len() as f64 / Nanoseconds((last - first) * MS).as_seconds();
        let stage = &analyse_metadata(&scenario.record, &scenario.by_stage()).stages[0];
        prop_assert_eq!(stage.operations_per_second, truth);
        prop_assert!(stage.times.first_done_ns <= stage.times.last_done_ns);
        prop_assert!(stage.times.last_done_ns <= Some(stage.times.phase_time_ns));
    }
}

#[test]
fn iterations_of_the_usb_stick_differ_by_more_than_chance() {
    let scenario = usb_stick();
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    let repetitions = analysis.repetitions.expect("there are three iterations");
    assert_eq!(repetitions.judgement, RepetitionJudgement::Differ);
    assert!((2.5..3.6).contains(&repetitions.factor), "{}", repetitions.factor);
    assert!(
        analysis
            .stages
            .iter()
            .all(|stage| stage.phase != Phase::Benchmark || stage.working_set.is_constant())
    );
    let found = |part: &str| analysis.findings.iter().any(|finding| finding.sentence.contains(part));
    assert!(found("Iterations differ by more than chance"), "{:#?}", analysis.findings);
}

#[test]
fn waits_for_room_are_told_above_a_hundredth_of_the_time() {
    let told = |wait| {
        let mut scenario = Scenario::metadata(2, 10, 1, &[(Phase::Benchmark, 0)]);
        scenario.at(0, 0, Operation::RingWait, S, wait);
        scenario.at(0, 0, Operation::Stage, S, 2 * S);
        scenario.at(0, 1, Operation::Stage, S, 2 * S);
        let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
        analysis.findings.iter().any(|finding| finding.sentence.contains("for room in the recording rings"))
    };
    assert!(!told(39 * MS));
    assert!(told(41 * MS));
}

#[test]
fn doubts_about_the_measurement_are_said() {
    let mut scenario = Scenario::metadata(2, 10, 1, &[(Phase::Benchmark, 0)]);
    scenario.record.after = Some(MemoryState { load: Some([9.5, 5.0, 1.0]), ..MemoryState::default() });
    scenario.at(0, 0, Operation::Read, S, MS);
    scenario.at(0, 0, Operation::Create, 3 * S - MS, MS);
    scenario.at(0, 0, Operation::RingWait, S, 40 * MS);
    scenario.at(0, 0, Operation::Stage, S, 2 * S);
    scenario.at(0, 1, Operation::Stage, S, S / 2);
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    for part in [
        "The load was 9.5 on 8 processors",
        "Clients waited 1 times for room in the recording rings, 2 % of their time (longest 40.0 ms)",
        "benchmark 1: the working set changed: 1 objects created, 0 deleted.",
        "benchmark 1: clients are served unequally: the first was done after 500 ms, the last after 2.00 s.",
    ] {
        assert!(
            analysis.findings.iter().any(|finding| finding.sentence.contains(part)),
            "{part:?} is not in {:#?}",
            analysis.findings
        );
    }
}

/// A run by one client that precreates, iterates and cleans up; `failures` are `(stage, operation, how many, errno)`.
fn outcomes(iterations: u32, failures: &[(u16, Operation, u64, i32)]) -> Scenario {
    let mut phases = vec![(Phase::Precreate, 0)];
    phases.extend((0..iterations).map(|iteration| (Phase::Benchmark, iteration)));
    phases.push((Phase::Cleanup, 0));
    let mut scenario = Scenario::metadata(1, 1, 1, &phases);
    let last = phases.len() as u16 - 1;
    for stage in 0..=last {
        let operations: &[(Operation, u64)] = match stage {
            0 => &[(Operation::MakeDirectory, 1), (Operation::Create, 10)],
            stage if stage == last => &[(Operation::Delete, 10), (Operation::RemoveDirectory, 1)],
            _ => &[
                (Operation::Stat, 10),
                (Operation::Read, 10),
                (Operation::Delete, 10),
                (Operation::Create, 10),
            ],
        };
        let failed = |operation| {
            let mut own = failures.iter().filter(|failure| (failure.0, failure.1) == (stage, operation));
            own.next().map_or((0, 0), |failure| (failure.2, failure.3))
        };
        // After a failed stat nothing more is asked.
        let left_out = failed(Operation::Stat).0;
        for &(operation, attempts) in operations {
            let (failures, errno) = failed(operation);
            let is_asked = operation == Operation::Stat || stage == 0 || stage == last;
            let attempts = if is_asked { attempts } else { attempts - left_out };
            for number in 0..attempts {
                let sample =
                    scenario.at(stage, 0, operation, u64::from(stage + 1) * 10 * S + number * MS, MS);
                if number < failures {
                    *sample = sample.with_outcome(Outcome::Error, FailureCode::from_errno(errno));
                }
            }
        }
    }
    scenario
}

fn serious(analysis: &MetadataAnalysis) -> Vec<&str> {
    let serious = analysis.findings.iter().filter(|finding| finding.severity == Severity::Serious);
    serious.map(|finding| finding.sentence.as_str()).collect()
}

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const ENOTEMPTY: i32 = 39;

#[test]
fn what_somebody_else_removed_is_told_once_with_what_followed() {
    let mut failures: Vec<_> = (3..=20).map(|stage| (stage, Operation::Stat, 7, ENOENT)).collect();
    failures[4].2 = 8;
    failures.extend([(3, Operation::Read, 1, ENOENT), (3, Operation::Delete, 1, ENOENT)]);
    failures.extend([(21, Operation::Delete, 7, ENOENT), (21, Operation::RemoveDirectory, 1, ENOTEMPTY)]);
    let scenario = outcomes(20, &failures);
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    assert_eq!(
        serious(&analysis),
        [
            "From benchmark 3 on what iolag had made in its working directory was gone: in 18 of 20 iterations `stat` did not find \
          it, at worst 8 of 10 times (benchmark 7): somebody else removed it, or the file system does not find it; and, because of \
          that, 1 `read` (not found), 8 `delete` (not found) and 1 `rmdir` (not empty) failed."
        ]
    );
    let WorkingSet::Lost(lost) = &analysis.working_set else { panic!("{:?}", analysis.working_set) };
    assert!(lost.is_destroyed());
}

#[test]
fn what_a_client_that_hung_did_not_come_to_make_is_no_loss() {
    let mut scenario = outcomes(2, &[(1, Operation::Stat, 7, ENOENT)]);
    let hung = scenario.at(0, 0, Operation::Stage, 10 * S, S);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    assert_eq!(analysis.working_set, WorkingSet::Unfinished { stage: "precreate".to_owned() });
}

#[test]
fn what_iolag_left_out_after_a_failure_is_no_loss_and_told_with_that_failure() {
    let scenario = outcomes(
        4,
        &[
            (1, Operation::Stat, 2, EIO),
            (3, Operation::Stat, 2, ENOENT),
            (5, Operation::Delete, 2, ENOENT),
            (5, Operation::RemoveDirectory, 1, ENOTEMPTY),
        ],
    );
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    assert_eq!(
        serious(&analysis),
        [
            "benchmark 1: 2 of 10 `stat` failed: input/output error; and, because of that, 2 `stat` (not found), 2 `delete` (not \
          found) and 1 `rmdir` (not empty) failed."
        ]
    );
    assert_eq!(analysis.working_set, WorkingSet::Constant);
}

#[test]
fn a_run_on_a_dead_file_system_has_one_finding_and_no_constant_working_set() {
    let enotconn = 107;
    let failures: Vec<_> = (2..=50).map(|stage| (stage, Operation::Stat, 10, enotconn)).collect();
    let scenario = outcomes(50, &failures);
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    assert_eq!(
        serious(&analysis),
        ["In 49 of 50 iterations, worst in benchmark 2: 10 of 10 `stat` failed: connection lost."]
    );
    let places = analysis.findings.iter().map(|finding| finding.places.len()).max();
    assert_eq!(places, Some(49), "the list of where is for programs");
    assert_eq!(analysis.working_set, WorkingSet::Unknown { stage: "benchmark 2".to_owned() });
}

#[test]
fn an_object_or_two_that_are_gone_leave_the_run_what_it_was() {
    let scenario = outcomes(2, &[(1, Operation::Stat, 1, ENOENT)]);
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    let WorkingSet::Lost(lost) = analysis.working_set else { panic!("{:?}", analysis.working_set) };
    assert!(lost.is_destroyed(), "a tenth");
    assert!(!LostObjects { attempts: 101, ..lost }.is_destroyed(), "less than a hundredth");
}

/// What was in flight when its keeper was killed is not known, and nobody counted the objects afterwards.
#[test]
fn the_working_set_of_a_run_that_was_not_recorded_to_its_end_is_not_called_constant() {
    let mut scenario = outcomes(2, &[]);
    assert_eq!(analyse_metadata(&scenario.record, &scenario.by_stage()).working_set, WorkingSet::Constant);
    scenario.record.state = RunState::Recovered { reason: "the run was killed".into() };
    assert_eq!(analyse_metadata(&scenario.record, &scenario.by_stage()).working_set, WorkingSet::Unrecorded);
}
