use iolag_model::{ClientId, Nanoseconds, RunId, RunState};

use super::*;
use crate::run::copies::at_work::CopiesAtWork;
use crate::run::copies::of_run::Pauses;
use crate::run::copies::payload::PayloadTimes;
use crate::run::copies::time::{CopyEnding, CopyTime};

/// What a copy takes in seconds: of so many, in which repetition, which of them.
type Takes = fn(u32, u32, u32) -> f64;

const LIMIT_S: u64 = 600;

fn question(payload_s: u64, limit_s: Option<u64>) -> JobQuestion {
    JobQuestion {
        payload_ns: Some(Nanoseconds::from_seconds(payload_s)),
        limit_ns: limit_s.map(Nanoseconds::from_seconds),
        timeouts_at_most: 0.05,
    }
}

fn copies_of(copies: u32, block: u32, takes: Takes) -> Vec<CopyTime> {
    let copy = |place| CopyTime {
        client: ClientId(place),
        time_ns: Nanoseconds((takes(copies, block, place) * 1e9) as u64),
        ending: CopyEnding::Ended,
    };
    (0..copies).map(copy).collect()
}

fn recommended(levels: &[u32], blocks: u32, takes: Takes, question: &JobQuestion) -> Recommendation {
    let id = RunId::new("20261128-000000", 1).unwrap();
    let each = || (1..=blocks).flat_map(|block| levels.iter().map(move |copies| (*copies, block)));
    let times: Vec<Vec<CopyTime>> = each().map(|(copies, block)| copies_of(copies, block, takes)).collect();
    let runs = each().zip(&times).map(|((copies, block), times)| CopiesRun {
        id: &id,
        target: "/afs",
        block,
        copies,
        cpus: 24,
        state: &RunState::Complete,
        times,
        work: CopiesAtWork { apart: Some(0.01), ..CopiesAtWork::default() },
        pauses: Pauses::None,
        full: None,
        payload: None,
    });
    recommendations(runs, question).remove(0)
}

/// Runs are some 2 % apart, and so are copies.
fn linear(copies: u32, block: u32, place: u32) -> f64 {
    (40.0 + 10.0 * f64::from(copies)) * (1.0 + 0.02 * f64::from(block % 3) + 0.02 * f64::from(place % 3))
}

/// From 24 copies on one in four does not get ready.
fn steep(copies: u32, block: u32, place: u32) -> f64 {
    if copies >= 24 && place.is_multiple_of(4) { 900.0 } else { linear(copies, block, place) }
}

fn answer(levels: &[u32], blocks: u32, takes: Takes, question: &JobQuestion) -> JobAnswer {
    recommended(levels, blocks, takes, question).answer
}

#[test]
fn the_number_before_time_outs_is_advised_and_told_beside_the_one_that_would_do_more() {
    let told = recommended(&[8, 16, 21, 24, 28], 110, steep, &question(7200, Some(LIMIT_S)));
    let JobAnswer::Run { copies, best, beyond, plateau } = &told.answer else { panic!("{told:?}") };
    assert_eq!((*copies, *best, plateau.as_slice()), (21, 21, &[21][..]));
    // 24 processors do no more than 12 jobs of two hours in an hour.
    assert_eq!(*beyond, Some(28), "{told:?}");
    let standing: Vec<JobStanding> = told.levels.iter().map(|level| level.standing).collect();
    use JobStanding::{Fewer, Plateau, TimeOuts};
    assert_eq!(standing, [Fewer, Fewer, Plateau, TimeOuts, TimeOuts]);
    let jobs = told.level(16).unwrap().jobs.unwrap();
    // 16 slots of 7200 s and of some 208 s before.
    assert!((jobs.per_hour - 16.0 * 3600.0 / 7408.0).abs() < 0.05, "{jobs:?}");
    assert!((jobs.efficiency - 7200.0 / 7408.0).abs() < 0.005, "{jobs:?}");
    let [low, high] = jobs.interval.unwrap();
    assert!(low < jobs.per_hour && jobs.per_hour < high && high - low < 0.4, "{jobs:?}");
    // No more than so many slots do whose set-ups are as fast as the fastest.
    assert!(high <= 16.0 * 3600.0 / 7400.0 && told.setting == JobSetting::Together, "{jobs:?}");
}

#[test]
fn what_processors_bound_is_a_plateau_of_which_the_smallest_is_advised() {
    let told = recommended(&[8, 24, 32, 48], 3, linear, &question(72_000, None));
    let JobAnswer::Run { copies, best, beyond, plateau } = &told.answer else { panic!("{told:?}") };
    assert_eq!((*copies, *best, *beyond, plateau.as_slice()), (24, 32, None, &[24, 32, 48][..]));
    let jobs = told.level(48).unwrap().jobs.unwrap();
    assert_eq!((jobs.bound, jobs.per_hour, jobs.efficiency), (JobBound::Processors, 1.2, 0.5));
}

#[test]
fn who_waits_for_one_server_does_as_much_by_one_copy() {
    let told = answer(
        &[1, 2, 4, 8],
        5,
        |copies, block, place| 30.0 * f64::from(copies) * (1.0 + 0.02 * f64::from((block + place) % 3)),
        &question(0, None),
    );
    assert!(
        matches!(&told, JobAnswer::Run { copies: 1, plateau, .. } if plateau.as_slice() == [1, 2, 4, 8]),
        "{told:?}"
    );
}

#[test]
fn what_says_too_little_is_refused_with_what_to_measure() {
    use JobRefusal::*;
    let refused = |levels: &[u32], blocks, takes: Takes, question: &JobQuestion| match answer(
        levels, blocks, takes, question,
    ) {
        JobAnswer::Refused(refusal) => refusal,
        told @ JobAnswer::Run { .. } => panic!("{told:?}"),
    };
    let plain = question(7200, None);
    let limited = question(7200, Some(LIMIT_S));
    assert_eq!(refused(&[1, 2], 9, linear, &plain), FewNumbers { numbers: 2 });
    assert_eq!(refused(&[1, 2, 4], 2, linear, &plain), FewRuns { copies: 1, runs: 2 });
    assert_eq!(refused(&[1, 2, 4, 8], 3, linear, &plain), MoreCopies { copies: 8 });
    let worse_by_each: Takes = |copies, _, _| f64::from(copies).powi(2);
    assert_eq!(refused(&[4, 8, 16], 3, worse_by_each, &question(0, None)), FewerCopies { copies: 4 });
    assert_eq!(refused(&[2, 4, 8], 9, |_, _, _| 700.0, &limited), AllBreak { copies: 2 });
    // Nothing was over, but three runs do not say much.
    let few = TooWide { copies: 8, needed: Needed { if_same: Some(99), if_no_more: Some(99) } };
    assert_eq!(refused(&[1, 2, 4, 8], 3, linear, &limited), few);
    // What may all be lost, and is.
    let lossy = JobQuestion { timeouts_at_most: 1.0, ..limited };
    assert_eq!(refused(&[1, 2, 4], 9, |_, _, _| 700.0, &lossy), NoneDone);
}

#[test]
fn without_a_limit_copies_without_an_end_are_refused_and_broken_off_runs_are_none() {
    let id = RunId::new("20261128-000000", 1).unwrap();
    let mut times = copies_of(4, 1, linear);
    times[0].ending = CopyEnding::Stopped;
    let interrupted = RunState::Incomplete { reason: "interrupted (Ctrl-C)".to_owned() };
    let runs = |state| {
        let of = |copies: u32, block| CopiesRun {
            id: &id,
            target: "/afs",
            block,
            copies,
            cpus: 24,
            state,
            times: &times[4 - copies as usize..],
            work: CopiesAtWork::default(),
            pauses: Pauses::None,
            full: None,
            payload: None,
        };
        (1..=3).flat_map(move |block| [2, 3, 4].map(|copies| of(copies, block))).collect::<Vec<_>>()
    };
    let told = recommendations(runs(&RunState::Complete), &question(60, None));
    assert_eq!(told[0].answer, JobAnswer::Refused(JobRefusal::NoEnd { copies: 4 }));
    assert!(recommendations(runs(&interrupted), &question(60, None)).is_empty());
}

#[test]
fn what_was_not_seen_may_be_lost_and_set_ups_take_processors() {
    let id = RunId::new("20261128-000000", 1).unwrap();
    let times = copies_of(1, 1, linear);
    let of_level = |copies: u32, seconds: f64| {
        let ended = CopyTime { time_ns: Nanoseconds((seconds * 1e9) as u64), ..times[0] };
        (copies, vec![ended; copies as usize])
    };
    let levels =
        [(1, 0.2786), (2, 0.3522), (4, 0.6), (8, 1.1735)].map(|(copies, takes)| of_level(copies, takes));
    let runs = |of_set_up| {
        let work = CopiesAtWork { processor_ns: of_set_up, apart: Some(0.01), ..CopiesAtWork::default() };
        let run =
            move |block, (copies, times): &'_ (u32, Vec<CopyTime>)| (block, *copies, times.clone(), work);
        (1..=3).flat_map(|block| levels.iter().map(move |level| run(block, level))).collect::<Vec<_>>()
    };
    let told = |of_set_up, question: &JobQuestion| {
        let all = runs(of_set_up);
        let runs = all.iter().map(|(block, copies, times, work)| CopiesRun {
            id: &id,
            target: "/afs",
            block: *block,
            copies: *copies,
            cpus: 2,
            state: &RunState::Complete,
            times,
            work: *work,
            pauses: Pauses::None,
            full: None,
            payload: None,
        });
        recommendations(runs, question).remove(0)
    };
    let question =
        JobQuestion { payload_ns: Some(Nanoseconds(400_000_000)), limit_ns: None, timeouts_at_most: 0.05 };
    let most = |of_set_up, question: &JobQuestion| told(of_set_up, question).level(8).unwrap().jobs.unwrap();
    // 2 processors, of which a set-up takes 0.266 s and a payload 0.4 s.
    assert_eq!(most(Some(0.266e9), &question).per_hour.round(), 10_811.0);
    assert_eq!(most(None, &question).per_hour.round(), 18_000.0);
    // Nothing was over in three runs, of which up to 81 % may be: 1 - (0.025 / 4)^(1/3).
    let limited = JobQuestion { limit_ns: Some(Nanoseconds::from_seconds(2)), ..question };
    let [low, high] = told(None, &limited).level(2).unwrap().jobs.unwrap().interval.unwrap();
    let lost = 1.0 - (0.025_f64 / 4.0).powf(1.0 / 3.0);
    let slot = lost * 2.0 + (1.0 - lost) * 0.7522;
    assert!((low - 2.0 * (1.0 - lost) * 3600.0 / slot).abs() < 0.1, "{low}");
    assert!((high - 2.0 * 3600.0 / 0.7522).abs() < 0.1, "{high}");
    assert_eq!(told(None, &limited).setting, JobSetting::ShortPayload);
}

const SECOND: f64 = 1e9;

/// On two processors: a set-up takes a second, and a payload two of a processor, which run in turn. Runs are 1 % apart.
fn recommended_by_payloads(levels: &[u32], failed: u64) -> Recommendation {
    let id = RunId::new("20261128-000000", 1).unwrap();
    let time = |copy| CopyTime {
        client: ClientId(copy),
        time_ns: Nanoseconds::from_seconds(1),
        ending: CopyEnding::Ended,
    };
    let times: Vec<CopyTime> = (0..64).map(time).collect();
    let run = |copies: u32, block: u32| CopiesRun {
        id: &id,
        target: "/afs",
        block,
        copies,
        cpus: 2,
        state: &RunState::Complete,
        times: &times[..copies as usize],
        work: CopiesAtWork::default(),
        pauses: Pauses::None,
        full: None,
        payload: Some(PayloadTimes {
            done: u64::from(copies) - failed.min(copies.into()),
            failed: failed.min(copies.into()),
            mean_ns: f64::from(copies.max(2)) * SECOND * (0.98 + 0.01 * f64::from(block)),
            processor_mean_ns: 2.0 * SECOND,
        }),
    };
    let runs = (1..=3).flat_map(|block| levels.iter().map(move |copies| (*copies, block)));
    let question = JobQuestion { payload_ns: None, limit_ns: None, timeouts_at_most: 0.05 };
    recommendations(runs.map(|(copies, block)| run(copies, block)), &question).remove(0)
}

#[test]
fn what_payloads_took_beside_as_many_decides_and_its_luck_is_in_the_interval() {
    let told = recommended_by_payloads(&[4, 8, 16, 32], 0);
    // 4, 8, 16 and 32 do 4/5, 8/9, 16/17 and 32/33 jobs a second; two processors no more than 1.
    let JobAnswer::Run { copies, best, plateau, .. } = &told.answer else { panic!("{told:?}") };
    assert_eq!((*copies, *best, plateau.as_slice()), (16, 32, &[16, 32][..]));
    let level = told.level(16).unwrap();
    let jobs = level.jobs.unwrap();
    assert!((jobs.per_hour - 16.0 / 17.0 * 3600.0).abs() < 1e-6, "{jobs:?}");
    // 2 s of a processor for each of 16 slots: 16/17 jobs a second of 2 s, by 16.
    assert!((jobs.efficiency - 2.0 / 17.0).abs() < 1e-9, "{jobs:?}");
    assert_eq!(
        (jobs.bound, told.level(32).unwrap().jobs.unwrap().bound),
        (JobBound::Slots, JobBound::Processors)
    );
    // Three runs of 15.84, 16 and 16.16 s: 16 +- 4.3027 x 0.16 / sqrt(3), and the logarithm of jobs by a 17th of that.
    let payload = level.payload.unwrap();
    let [low, high] = payload.interval_ns.unwrap();
    assert!((low / SECOND - 15.602_5).abs() < 1e-3 && (high / SECOND - 16.397_5).abs() < 1e-3, "{payload:?}");
    let [low, high] = jobs.interval.unwrap();
    assert!((low - 3309.9).abs() < 0.2 && (high - 3468.4).abs() < 0.2, "{jobs:?}");
    assert_eq!((payload.done, payload.failed, payload.processor_mean_ns), (48, 0, 2.0 * SECOND));
    // The most do the most, and do not fill the processors.
    let few = recommended_by_payloads(&[1, 2, 4], 0).answer;
    assert_eq!(few, JobAnswer::Refused(JobRefusal::MoreCopies { copies: 4 }));
}

#[test]
fn jobs_whose_payloads_fail_are_not_done_and_without_any_nothing_is_advised() {
    let told = recommended_by_payloads(&[4, 8, 16, 32], 2);
    let jobs = told.level(4).unwrap().jobs.unwrap();
    assert!((jobs.per_hour - 2.0 / 5.0 * 3600.0).abs() < 1e-6, "{jobs:?}");
    // What failed has taken processors, too: 4 s for each that is done.
    assert!((jobs.efficiency - 2.0 / 5.0 * 4.0 / 4.0).abs() < 1e-9, "{jobs:?}");
    let none = recommended_by_payloads(&[1, 2, 4], 4).answer;
    assert_eq!(none, JobAnswer::Refused(JobRefusal::PayloadsFail { payloads: 21 }));
}
