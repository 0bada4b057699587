//! Stages, working sets and findings of metadata runs, from made-up runs.

use crate::scenario::{MS, S, Scenario, one_after_the_other, usb_stick};
use crate::{Told, busy_generator, document, told_of_stages};
use iolag_analysis::{
    LostObjects, MetadataAnalysis, RepetitionJudgement, RunAnalysis, RunFindingKind, Severity, WorkingSet,
    analyse_metadata,
};
use iolag_model::{
    FailureCode, GeneratorLimit, HostRecord, MemoryCourse, MemoryLook, MemoryState, MonotonicTime,
    Nanoseconds, Operation, Outcome, Phase, RunState,
};
use proptest::prelude::*;

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
    let findings = told_of_stages(&analyse_metadata(&scenario.record, &scenario.by_stage()));
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
        let findings = told_of_stages(&analyse_metadata(&scenario.record, &scenario.by_stage()));
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
    let findings = told_of_stages(&analyse_metadata(&scenario.record, &scenario.by_stage()));
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
    let mut scenario = usb_stick();
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
    let told = told_of_stages(&analysis);
    let found = |part: &str| told.iter().any(|finding| finding.sentence.contains(part));
    assert!(found("Iterations differ by more than chance"), "{told:#?}");
    let blamed = |scenario: &Scenario| {
        let findings = told_of_stages(&analyse_metadata(&scenario.record, &scenario.by_stage()));
        let differ = findings.into_iter().find(|one| one.kind == RunFindingKind::RepetitionsDiffer).unwrap();
        differ.advice.split(" may").next().unwrap().to_owned()
    };
    let on_nfs = blamed(&scenario);
    scenario.record.targets[0].file_system = None;
    let in_memory = blamed(&scenario);
    scenario.record.after = Some(MemoryState { load: Some([32.5, 5.0, 1.0]), ..MemoryState::default() });
    assert_eq!(
        [on_nfs, in_memory, blamed(&scenario)],
        [
            "Write-back timers, garbage collection or other users",
            "Other programs on this host",
            "The load, told below,"
        ]
    );
}

/// Seconds of the run in which an iteration ran had much dirty memory, the others little.
fn memory_dirty_in(scenario: &Scenario, stage: u16) -> MemoryCourse {
    let of_stage = || scenario.samples.iter().filter(|sample| sample.stage.0 == stage);
    let begin = of_stage().map(|sample| sample.start).min().expect("it has samples");
    let end = of_stage().map(|sample| sample.end()).max().expect("it has samples");
    let mut course = MemoryCourse::new(MonotonicTime(S), Nanoseconds(S));
    let last = scenario.samples.iter().map(|sample| sample.end()).max().expect("it has samples");
    let seconds = (1..).map(|second| MonotonicTime(second * S)).take_while(|now| *now <= last);
    for (second, now) in (0..).zip(seconds) {
        let dirty_bytes = if now >= begin && now < end { 812 << 20 } else { 12 << 20 };
        course.add(
            now,
            MemoryLook { page_cache_bytes: (second + 1024) << 20, dirty_bytes, writeback_bytes: second },
        );
    }
    course
}

#[test]
fn what_memory_had_while_the_fastest_and_the_slowest_iteration_ran_is_told() {
    let mut scenario = usb_stick();
    scenario.record.memory = Some(memory_dirty_in(&scenario, 3));
    let told = |scenario: &Scenario| {
        let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
        document(&RunAnalysis::Metadata(analysis))["findings"].as_array().unwrap().iter().find_map(
            |finding| {
                let is_of_iterations = finding["kind"] == "repetitions-differ";
                is_of_iterations
                    .then(|| (finding["sentence"].as_str().unwrap().to_owned(), finding["evidence"].clone()))
            },
        )
    };
    let (sentence, evidence) = told(&scenario).unwrap();
    let (_, memory) = sentence.split_once("the slowest. ").unwrap();
    assert_eq!(
        memory,
        "While the fastest ran, 12.0 MiB of the host's memory were dirty, 26 B were being written back and the page cache had 1.03 GiB; \
         while the slowest ran, 812 MiB, 43 B and 1.04 GiB (medians)."
    );
    let amounts: Vec<_> = evidence.as_array().unwrap()[2..]
        .iter()
        .map(|one| (one["name"].clone(), one["amount"].clone()))
        .collect();
    let dirty = |iteration: &str, mebibytes: u64| {
        (
            serde_json::json!(format!("dirty memory, {iteration}")),
            serde_json::json!({ "bytes": mebibytes << 20 }),
        )
    };
    assert_eq!((amounts.len(), &amounts[..2]), (6, &[dirty("fastest", 12), dirty("slowest", 812)][..]));
    // What the memory of one host had says nothing of another.
    scenario.record.further_hosts = vec![HostRecord::new("login2", Vec::new())];
    assert!(told(&scenario).unwrap().0.ends_with("as fast as the slowest."));
}

#[test]
fn waits_for_room_are_told_above_a_hundredth_of_the_time() {
    let told = |wait| {
        let mut scenario = Scenario::metadata(2, 10, 1, &[(Phase::Benchmark, 0)]);
        scenario.at(0, 0, Operation::RingWait, S, wait);
        scenario.at(0, 0, Operation::Stage, S, 2 * S);
        scenario.at(0, 1, Operation::Stage, S, 2 * S);
        let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
        let mut told = told_of_stages(&analysis).into_iter();
        told.any(|finding| finding.sentence.contains("for room in the recording rings"))
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
    let told = told_of_stages(&analysis);
    for part in [
        "The load was 9.5 on 8 processors",
        "Clients waited 1 times for room in the recording rings, 2 % of their time (longest 40.0 ms)",
        "benchmark 1: the working set changed: 1 objects created, 0 deleted.",
        "benchmark 1: clients are served unequally: the first was done after 500 ms, the last after 2.00 s.",
    ] {
        assert!(told.iter().any(|one| one.sentence.contains(part)), "{part:?} is not in {told:#?}");
    }
}

#[test]
fn a_host_that_was_busy_itself_is_told_once_and_only_if_it_matters() {
    let told = |marked: u64, of: u64, limit| {
        let mut scenario = usb_stick();
        scenario.record.after = Some(MemoryState { load: Some([9.5, 5.0, 1.0]), ..MemoryState::default() });
        scenario.record.generator = Some(busy_generator((marked, of), limit));
        let told = told_of_stages(&analyse_metadata(&scenario.record, &scenario.by_stage()));
        let is_of_host =
            |told: &Told| matches!(told.kind, RunFindingKind::GeneratorBusy | RunFindingKind::ProcessorsBusy);
        let told = told.into_iter().filter(is_of_host);
        told.map(|told| (told.kind, told.severity, told.sentence)).collect::<Vec<_>>()
    };
    let by_load = (
        RunFindingKind::ProcessorsBusy,
        Severity::Warning,
        "The load was 9.5 on 8 processors: the clients may have waited for them.".to_owned(),
    );
    let busy = |severity, time: &str, what: &str| {
        let sentence = format!(
            "For {time} the host that measured was itself beyond limits: {what}; response times of these moments may contain the host's own delay."
        );
        (RunFindingKind::GeneratorBusy, severity, sentence)
    };
    assert_eq!(told(2, 300, GeneratorLimit::Lag), std::slice::from_ref(&by_load));
    assert_eq!(
        told(3, 300, GeneratorLimit::Lag),
        [by_load, busy(Severity::Note, "3.00 s of 5 min 00 s", "timers of workers over 50 ms late")]
    );
    assert_eq!(
        told(50, 60, GeneratorLimit::Processors),
        [busy(
            Severity::Warning,
            "50.0 s of 60.0 s",
            "the processors that the run may use busy for over 95 % of the time"
        )]
    );
}

#[test]
fn one_processor_is_told_as_one() {
    let mut scenario = usb_stick();
    scenario.record.environment.cpus = 1;
    scenario.record.after = Some(MemoryState { load: Some([2.5, 1.0, 1.0]), ..MemoryState::default() });
    let told = told_of_stages(&analyse_metadata(&scenario.record, &scenario.by_stage()));
    let sentence = "The load was 2.5 on 1 processor: the clients may have waited for it.";
    assert!(told.iter().any(|told| told.sentence == sentence), "{told:?}");
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

fn serious(analysis: &MetadataAnalysis) -> Vec<String> {
    let told = told_of_stages(analysis).into_iter().filter(|one| one.severity == Severity::Serious);
    told.map(|one| one.sentence).collect()
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
    let places = told_of_stages(&analysis).iter().map(|told| told.places.len()).max();
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
