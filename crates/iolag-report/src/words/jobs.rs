//! How many copies of a job to run, in words: a sentence for each target, and the cells of its table.

use iolag_analysis::history::{Quantity, amount_in_words};
use iolag_analysis::{
    JobAnswer, JobBound, JobLevel, JobPayload, JobRate, JobRefusal, JobStanding, JobTimeouts, Needed,
    Recommendation, SAME_WITHIN, joined,
};
use iolag_model::{counted, format_count};

use super::interval::{Known, Measure, with_ends};
use super::numbers::{NOTHING, percentage};
use super::payload::{duration_in_words, failed_payloads};

/// What stands above.
pub(crate) const HEADING: &str = "How many copies to run";

/// The names of the columns; all but the last are numbers. What payloads took stands there if they were really run.
pub(crate) fn columns(told: &Recommendation) -> Vec<&'static str> {
    let payload: &[&str] = if is_run(told) { &["payload", "of processors"] } else { &[] };
    let ends = ["time-outs", "jobs per hour", "efficiency", "as judged"];
    [&["copies", "runs", "set-up", "waits for"], payload, &ends].concat()
}

/// Whether payloads were really run, and not only told.
const fn is_run(told: &Recommendation) -> bool {
    told.question.payload_ns.is_none()
}

/// `On /afs run 21 copies at once, for 10.2 [10.1–10.3] jobs per hour at an efficiency of 97 %. That is 3.1 % fewer than 24 copies do, …`
pub fn recommendation_sentence(told: &Recommendation) -> String {
    let target = &told.target;
    match &told.answer {
        JobAnswer::Run { copies, best, beyond, plateau } => {
            let Some(level) = told.level(*copies) else { return String::new() };
            let mut sentences = vec![format!(
                "On {target} run {} at once, for {}.",
                counted(u64::from(*copies), "copy", "copies"),
                level.jobs.map_or_else(String::new, |jobs| rate_in_words(&jobs))
            )];
            sentences.extend(plateau_in_words(*copies, *best, plateau));
            sentences.extend(beyond.and_then(|beyond| beyond_in_words(level, told.level(beyond)?)));
            if let (None, Some(timeouts)) = (beyond, &level.timeouts) {
                sentences.push(format!("{} % of them time out.", share_in_words(timeouts)));
            }
            sentences.extend(failed_payloads(told));
            sentences.join(" ")
        }
        JobAnswer::Refused(refusal) => {
            let refused =
                format!("On {target} no number of copies is advised, since {}.", refused(told, *refusal));
            let failed =
                failed_payloads(told).filter(|_| !matches!(refusal, JobRefusal::PayloadsFail { .. }));
            std::iter::once(refused).chain(failed).collect::<Vec<_>>().join(" ")
        }
    }
}

fn rate_in_words(jobs: &JobRate) -> String {
    let full = match jobs.bound {
        JobBound::Processors => ", all that the processors can",
        JobBound::Slots => "",
    };
    format!(
        "{} jobs per hour at an efficiency of {} %{full}",
        jobs_in_words(jobs),
        percentage(100.0 * jobs.efficiency)
    )
}

fn plateau_in_words(copies: u32, best: u32, plateau: &[u32]) -> Option<String> {
    let names: Vec<String> = plateau.iter().map(|copies| format_count(u64::from(*copies))).collect();
    let within = percentage(100.0 * SAME_WITHIN);
    (plateau.len() > 1).then(|| {
        let most = match copies == best {
            true => String::new(),
            false => format!("; {best} did the most, and {copies} is the smallest that came as close to it"),
        };
        format!("Of {} none is shown to do over {within} % fewer jobs than the best{most}.", joined(names))
    })
}

/// Against the number that would do more, if its jobs were not lost.
fn beyond_in_words(advised: &JobLevel, beyond: &JobLevel) -> Option<String> {
    let fewer = 100.0 * (1.0 - advised.jobs?.per_hour / beyond.jobs?.per_hour);
    let shares = advised.timeouts.as_ref().zip(beyond.timeouts.as_ref())?;
    Some(format!(
        "That is {} % fewer than {} copies do, with time-outs of {} % instead of {} %.",
        percentage(fewer),
        format_count(u64::from(beyond.copies)),
        share_in_words(shares.0),
        share_in_words(shares.1)
    ))
}

fn refused(told: &Recommendation, refusal: JobRefusal) -> String {
    let of = |copies: u32| told.level(copies);
    let does = |copies| {
        of(copies)
            .and_then(|level| level.jobs)
            .map_or_else(String::new, |jobs| format!(" ({} in an hour)", jobs_in_words(&jobs)))
    };
    let timeouts = |copies| of(copies).and_then(|level| level.timeouts);
    let at_most = percentage(100.0 * told.question.timeouts_at_most);
    match refusal {
        JobRefusal::FewNumbers { numbers } => format!(
            "only {} measured: measure three at least, as in --copies 1,2,4,8",
            counted(u64::from(numbers), "number of copies was", "numbers of copies were")
        ),
        JobRefusal::FewRuns { copies, runs } => format!(
            "there {} {} of {}: measure three of each, as with --repeat 3",
            if runs == 1 { "is" } else { "are" },
            counted(runs, "run", "runs"),
            counted(u64::from(copies), "copy", "copies")
        ),
        JobRefusal::NoEnd { copies } => format!(
            "of {} some did not come to their ends, and no limit says when a job is given up: say it with --judge",
            counted(u64::from(copies), "copy", "copies")
        ),
        JobRefusal::PayloadsFail { payloads } => format!(
            "not one of {} came to a good end: run the command by itself, and mend that",
            counted(payloads, "payload", "payloads")
        ),
        JobRefusal::MoreCopies { copies } => format!(
            "{} did the most jobs{}, and more were not measured: measure up to {}",
            counted(u64::from(copies), "copy", "copies"),
            does(copies),
            format_count(2 * u64::from(copies))
        ),
        JobRefusal::FewerCopies { copies } => format!(
            "{copies} copies did the most jobs{}, and fewer were not measured: measure {} as well",
            does(copies),
            format_count(u64::from(copies / 2))
        ),
        JobRefusal::AllBreak { copies } => format!(
            "every number of copies loses more than {at_most} % of its jobs, {} {} %: {}let more be lost (--judge, --timeouts-at-most)",
            counted(u64::from(copies), "copy", "copies"),
            timeouts(copies).map_or_else(String::new, |timeouts| share_in_words(&timeouts)),
            if copies > 1 { "measure fewer, or " } else { "" }
        ),
        JobRefusal::NoneDone => {
            "not one job was done: measure fewer copies, or let them take longer (--judge)".to_owned()
        }
        JobRefusal::TooWide { copies, needed } => {
            let seen =
                timeouts(copies).map_or_else(String::new, |timeouts| seen_in_words(&timeouts, &at_most));
            format!(
                "{} would do about the most jobs{} of those that may keep the limit, and it is not known whether at most {at_most} % of them time out: {seen}; {}",
                counted(u64::from(copies), "copy", "copies"),
                does(copies),
                needed_in_words(told, needed)
            )
        }
    }
}

/// `--repeat 2642 would show it in about every other campaign if the share stays what it was, and --repeat 130 if no more are over than until now`
fn needed_in_words(told: &Recommendation, needed: Needed) -> String {
    let repeat = |repetitions| format!("--repeat {repetitions}");
    match (needed.if_same, needed.if_no_more) {
        _ if told.question.timeouts_at_most <= 0.0 => {
            "that none ever does, no number of repetitions shows: let some be lost (--timeouts-at-most 1%)"
                .to_owned()
        }
        (Some(same), Some(no_more)) if same == no_more => {
            format!("{} would show it, if none is over", repeat(same))
        }
        (Some(same), no_more) => {
            let no_more = no_more.map_or_else(String::new, |no_more| {
                format!(", and {} if no more are over than until now", repeat(no_more))
            });
            format!(
                "{} would show it in about every other campaign, if the share stays what it was{no_more}",
                repeat(same)
            )
        }
        (None, Some(no_more)) => format!(
            "if the share stays what it was, more repetitions than are reasonable would be needed; {} would show it, if no more are over than until now",
            repeat(no_more)
        ),
        (None, None) => "more repetitions than are reasonable would be needed".to_owned(),
    }
}

/// `0 of 24 did, which tell as much as 3.2 that share no luck and allow up to 68 %`; what is beyond the limit is not told as the limit.
fn seen_in_words(timeouts: &JobTimeouts, at_most: &str) -> String {
    let high = 100.0 * timeouts.interval.high;
    let told = Some(percentage(high)).filter(|told| told != at_most);
    format!(
        "{} of {} did, which tell as much as {:.0} that share no luck, and allow up to {} %",
        format_count(timeouts.over + timeouts.undecided),
        format_count(timeouts.copies),
        timeouts.worth,
        told.unwrap_or_else(|| format!("{high:.2}"))
    )
}

/// The cells of a row.
pub(crate) fn cells(told: &Recommendation, level: &JobLevel) -> Vec<String> {
    let some = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
    let before = [
        format_count(u64::from(level.copies)),
        format_count(level.runs),
        some(level.set_up_ns.map(duration_in_words)),
        some(level.waits_for.map(|waits| waits.name().to_owned())),
    ];
    let payload = is_run(told).then(|| {
        [
            some(level.payload.map(|payload| payload_in_words(&payload))),
            some(level.payload.map(|payload| duration_in_words(payload.processor_mean_ns))),
        ]
    });
    let after = [
        some(level.timeouts.map(|timeouts| format!("{} %", share_in_words(&timeouts)))),
        some(level.jobs.map(|jobs| jobs_in_words(&jobs))),
        some(level.jobs.map(|jobs| format!("{} %", percentage(100.0 * jobs.efficiency)))),
        standing_in_words(level, &told.answer),
    ];
    before.into_iter().chain(payload.into_iter().flatten()).chain(after).collect()
}

/// `2.01 [1.99–2.03] s, 3 of 24 failed`
fn payload_in_words(payload: &JobPayload) -> String {
    let known = Known::exactly;
    let time = match payload.interval_ns {
        Some([low, high]) => with_ends(Measure::Duration, known(payload.mean_ns), [known(low), known(high)]),
        None => duration_in_words(payload.mean_ns),
    };
    match (payload.failed, payload.done + payload.failed) {
        (0, _) => time,
        (failed, all) => format!("{time}, {} of {} failed", format_count(failed), format_count(all)),
    }
}

fn standing_in_words(level: &JobLevel, answer: &JobAnswer) -> String {
    let is_advised = matches!(answer, JobAnswer::Run { copies, .. } if *copies == level.copies);
    let is_best = matches!(answer, JobAnswer::Run { best, .. } if *best == level.copies);
    let standing = match level.standing {
        JobStanding::Plateau if is_advised => "advised",
        JobStanding::Plateau if is_best => "most jobs",
        JobStanding::Plateau if matches!(answer, JobAnswer::Refused(_)) => "",
        JobStanding::Plateau => "maybe as good",
        JobStanding::Fewer => "fewer jobs",
        JobStanding::TimeOuts => "too many time-outs",
        JobStanding::Unsure => "time-outs not known",
        JobStanding::Unknown => "not enough known",
    };
    let full = match level.jobs.map(|jobs| jobs.bound) {
        Some(JobBound::Processors) => "processors full",
        _ => "",
    };
    [standing, full].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn jobs_in_words(jobs: &JobRate) -> String {
    let known = Known::exactly;
    match jobs.interval {
        Some([low, high]) => {
            let told = with_ends(Measure::Value, known(jobs.per_hour), [known(low), known(high)]);
            match told.split_once(' ') {
                // What has no spread to be seen stands alone.
                Some((own, ends)) if ends == format!("[{own}–{own}]") => own.to_owned(),
                _ => told,
            }
        }
        None => amount_in_words(jobs.per_hour, Quantity::Value),
    }
}

/// `0.2 [0–0.7]`, in percent; those of which nobody knows are over.
fn share_in_words(timeouts: &JobTimeouts) -> String {
    let percent = |share: f64| percentage(100.0 * share);
    let share = (timeouts.over + timeouts.undecided) as f64 / timeouts.copies.max(1) as f64;
    format!("{} [{}–{}]", percent(share), percent(timeouts.interval.low), percent(timeouts.interval.high))
}

#[cfg(test)]
pub(crate) mod tests {
    use iolag_analysis::JobSetting;
    use iolag_analysis::{JobQuestion, LimitVerdict, Needed, ShareInterval};
    use iolag_model::Nanoseconds;

    use super::*;
    use crate::words::setting::assumed;

    fn timeouts(over: u64, copies: u64, [low, high]: [f64; 2], verdict: LimitVerdict) -> JobTimeouts {
        let interval = ShareInterval { low, high };
        JobTimeouts { copies, over, undecided: 0, worth: 72.0, interval, verdict }
    }

    fn level(copies: u32, per_hour: f64, timeouts: JobTimeouts, standing: JobStanding) -> JobLevel {
        let interval = Some([per_hour * 0.99, per_hour * 1.01]);
        let jobs = JobRate { per_hour, interval, efficiency: 0.971, bound: JobBound::Slots };
        let (runs, set_up_ns, processor_ns, timeouts) = (72, Some(41.2e9), Some(2e9), Some(timeouts));
        let (payload, jobs, waits_for) = (None, Some(jobs), None);
        JobLevel { copies, runs, set_up_ns, processor_ns, payload, timeouts, jobs, waits_for, standing }
    }

    fn told(answer: JobAnswer) -> Recommendation {
        let limit = Some(Nanoseconds::from_seconds(600));
        let question = JobQuestion {
            payload_ns: Some(Nanoseconds::from_seconds(7200)),
            limit_ns: limit,
            timeouts_at_most: 0.05,
        };
        let few = timeouts(3, 1512, [0.0, 0.007], LimitVerdict::Keeps);
        let many = timeouts(71, 1728, [0.03, 0.054], LimitVerdict::Breaks);
        let levels = vec![
            level(16, 7.8, few, JobStanding::Fewer),
            level(21, 10.2, few, JobStanding::Plateau),
            level(24, 10.53, many, JobStanding::TimeOuts),
        ];
        let (target, setting) = ("/afs".to_owned(), JobSetting::Together);
        Recommendation { target, question, cpus: 24, levels, setting, answer }
    }

    /// What study 002 might have been told.
    pub(crate) fn of_the_study() -> Recommendation {
        told(JobAnswer::Run { copies: 21, best: 21, beyond: Some(24), plateau: vec![21] })
    }

    #[test]
    fn a_sentence_says_how_many_copies_and_what_that_costs() {
        let run = |plateau: &[u32], copies, best, beyond| {
            let plateau = plateau.to_vec();
            recommendation_sentence(&told(JobAnswer::Run { copies, best, beyond, plateau }))
        };
        assert_eq!(
            run(&[21], 21, 21, Some(24)),
            "On /afs run 21 copies at once, for 10.2 [10.1–10.3] jobs per hour at an efficiency of 97 %. That is 3.1 % fewer than 24 copies do, \
             with time-outs of 0.2 [0–0.7] % instead of 4.1 [3–5.4] %."
        );
        assert_eq!(
            run(&[16, 21], 16, 21, None),
            "On /afs run 16 copies at once, for 7.80 [7.72–7.88] jobs per hour at an efficiency of 97 %. Of 16 and 21 none is shown to do over 5 % fewer \
             jobs than the best; 21 did the most, and 16 is the smallest that came as close to it. 0.2 [0–0.7] % of them time out."
        );
    }

    #[test]
    fn a_spread_that_cannot_be_seen_is_not_told() {
        let jobs = |interval| JobRate { per_hour: 12.0, interval, efficiency: 1.0, bound: JobBound::Slots };
        let told = [Some([12.0, 12.0]), Some([11.5, 12.5]), None].map(|ends| jobs_in_words(&jobs(ends)));
        assert_eq!(told, ["12.0", "12.0 [11.5–12.5]", "12.0"]);
    }

    #[test]
    fn a_refusal_says_what_to_measure() {
        let refused = |refusal| recommendation_sentence(&told(JobAnswer::Refused(refusal)));
        let too_wide =
            |if_same, if_no_more| JobRefusal::TooWide { copies: 21, needed: Needed { if_same, if_no_more } };
        for (refusal, expected) in [
            (JobRefusal::FewNumbers { numbers: 1 }, "only 1 number of copies was measured: measure three"),
            (
                JobRefusal::FewRuns { copies: 4, runs: 2 },
                "there are 2 runs of 4 copies: measure three of each",
            ),
            (JobRefusal::FewRuns { copies: 1, runs: 1 }, "there is 1 run of 1 copy: measure"),
            (JobRefusal::NoEnd { copies: 24 }, "say it with --judge."),
            (
                JobRefusal::MoreCopies { copies: 24 },
                "24 copies did the most jobs (10.5 [10.4–10.6] in an hour), and more were not measured: measure up to 48.",
            ),
            (JobRefusal::FewerCopies { copies: 16 }, "fewer were not measured: measure 8 as well."),
            (
                JobRefusal::AllBreak { copies: 24 },
                "loses more than 5 % of its jobs, 24 copies 4.1 [3–5.4] %: measure fewer",
            ),
            (
                too_wide(Some(2642), Some(130)),
                "21 copies would do about the most jobs (10.2 [10.1–10.3] in an hour) of those that may keep the limit, and it is not known whether \
                 at most 5 % of them time out: 3 of 1 512 did, which tell as much as 72 that share no luck, and allow up to 0.7 %; --repeat 2642 would show it \
                 in about every other campaign, if the share stays what it was, and --repeat 130 if no more are over than until now.",
            ),
            (JobRefusal::AllBreak { copies: 1 }, ": let more be lost ("),
            (too_wide(Some(99), Some(99)), "; --repeat 99 would show it, if none is over."),
            (
                too_wide(None, Some(99)),
                "more repetitions than are reasonable would be needed; --repeat 99 would show it",
            ),
            (too_wide(None, None), "more repetitions than are reasonable would be needed."),
            (JobRefusal::NoneDone, "not one job was done"),
        ] {
            let said = refused(refusal).replace(['\u{202f}', '\u{a0}'], " ");
            assert!(said.starts_with("On /afs no number of copies is advised, since "), "{said}");
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn nothing_shows_that_none_is_ever_lost_and_a_bound_beyond_the_limit_is_told_as_beyond() {
        let mut none = told(JobAnswer::Refused(JobRefusal::TooWide {
            copies: 21,
            needed: Needed { if_same: None, if_no_more: None },
        }));
        none.question.timeouts_at_most = 0.0;
        let said = recommendation_sentence(&none);
        assert!(said.contains("no number of repetitions shows"), "{said}");
        let seen = seen_in_words(&timeouts(0, 3, [0.0, 0.602], LimitVerdict::Keeps), "60");
        assert!(seen.ends_with("allow up to 60.20 %"), "{seen}");
    }

    #[test]
    fn the_worst_that_can_be_is_said_where_it_is() {
        let of = |setting| assumed(&[Recommendation { setting, ..of_the_study() }]);
        assert!(
            of(JobSetting::Together).contains("2h on a processor")
                && of(JobSetting::Together).contains("the worst")
        );
        for setting in [JobSetting::ShortPayload, JobSetting::Apart, JobSetting::NotKnown] {
            assert!(!of(setting).contains("the worst"), "{setting:?}");
        }
    }

    #[test]
    fn rows_say_where_each_number_stands() {
        let told = of_the_study();
        let rows: Vec<Vec<String>> = told.levels.iter().map(|level| cells(&told, level)).collect();
        assert_eq!(rows[0].len(), columns(&told).len());
        assert_eq!(
            rows[1],
            ["21", "72", "41.2 s", "–", "0.2 [0–0.7] %", "10.2 [10.1–10.3]", "97 %", "advised"]
                .map(str::to_owned)
        );
        assert_eq!((rows[0][7].as_str(), rows[2][7].as_str()), ("fewer jobs", "too many time-outs"));
        let nothing = JobLevel {
            timeouts: None,
            jobs: None,
            set_up_ns: None,
            standing: JobStanding::Unknown,
            ..told.levels[0].clone()
        };
        assert_eq!(
            cells(&told, &nothing)[2..],
            ["–", "–", "–", "–", "–", "not enough known"].map(str::to_owned)
        );
    }

    #[test]
    fn payloads_that_were_run_have_columns_of_their_own_and_failures_are_told() {
        let mut told = of_the_study();
        told.question.payload_ns = None;
        let payload = JobPayload {
            done: 1509,
            failed: 3,
            mean_ns: 2.01e9,
            interval_ns: Some([1.99e9, 2.03e9]),
            processor_mean_ns: 1.9e9,
        };
        told.levels[1].payload = Some(payload);
        assert_eq!(columns(&told)[4..6], ["payload", "of processors"]);
        let row = cells(&told, &told.levels[1]);
        assert_eq!((row.len(), row[5].as_str()), (columns(&told).len(), "1.90 s"));
        assert_eq!(row[4].replace(['\u{202f}', '\u{a0}'], " "), "2.01 [1.99–2.03] s, 3 of 1 512 failed");
        assert_eq!(cells(&told, &told.levels[0])[4..6], ["–", "–"]);
        let sentence = recommendation_sentence(&told).replace(['\u{202f}', '\u{a0}'], " ");
        assert!(
            sentence.ends_with(" Of 1 512 payloads 3 failed, and their jobs are not done."),
            "{sentence}"
        );
        assert!(assumed(&[told.clone()]).contains("its payload, which was really run by each copy"));
        told.answer = JobAnswer::Refused(JobRefusal::PayloadsFail { payloads: 9 });
        let refused = recommendation_sentence(&told);
        assert!(
            refused.ends_with(
                "since not one of 9 payloads came to a good end: run the command by itself, and mend that."
            ),
            "{refused}"
        );
    }
}
