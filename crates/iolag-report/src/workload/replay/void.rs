//! Replays that say nothing of their program, in words: before anything is measured, and when all is.

use iolag_analysis::{RunAnalysis, Void};
use iolag_model::{
    Nanoseconds, ReplayCoverage, RunRecord, WhyLeftOut, counted, exact_duration, format_count, one_line,
};

use super::text::{share, why_in_words};

/// Why a replay of so little would say nothing, and what to do.
pub fn coverage_refusal(coverage: &ReplayCoverage) -> String {
    let ReplayCoverage { traced, repeated, left_out } = coverage;
    let head = format!(
        "{} of {} can be repeated ({} %), and of less than 95 % every run is void",
        format_count(*repeated),
        counted(*traced, "call on files that was traced", "calls on files that were traced"),
        share(coverage.share())
    );
    // By reason, and not by call: what changes files has many names.
    let for_reason = |why: WhyLeftOut| -> u64 {
        left_out.iter().filter(|left| left.why == why).map(|left| left.calls).sum()
    };
    let Some(most) = left_out.iter().max_by_key(|left| (for_reason(left.why), left.calls)) else {
        return head;
    };
    let example = match most.example.as_str() {
        "" => String::new(),
        example => format!(", as {} {}", one_line(&most.call), one_line(example)),
    };
    format!(
        "{head}; left out are most of all {} ({}{example}); {}",
        counted(for_reason(most.why), "call", "calls"),
        why_in_words(most.why),
        advice(most.why)
    )
}

const fn advice(why: WhyLeftOut) -> &'static str {
    match why {
        WhyLeftOut::Changes | WhyLeftOut::Changed => "what it changed is repeated with --allow-write",
        WhyLeftOut::NotMapped => {
            "map more directories by the names that the program used (--map FROM=TO), or repeat only what lies in some of them (--only)"
        }
        WhyLeftOut::Leads => {
            "map the directories that these links lead to by the same names (--map FROM=TO), or repeat only what lies in others (--only)"
        }
        _ => "map more directories (--map FROM=TO), or repeat only what lies in some of them (--only)",
    }
}

/// That all of these runs are void, why, and what becomes of what was asked of them; nothing if one counts, or none is a replay.
pub fn all_void_sentence<'a>(
    runs: impl IntoIterator<Item = (&'a RunRecord, &'a RunAnalysis)>,
) -> Option<String> {
    let (mut why, mut payload): (Vec<&[Void]>, Option<Nanoseconds>) = (Vec::new(), None);
    for (record, analysis) in runs {
        let RunAnalysis::Replay(replay) = analysis else { return None };
        why.push(&replay.void);
        payload = payload.or(record.spec.workload.job_terms().and_then(|terms| terms.payload_ns));
    }
    if why.is_empty() || why.iter().any(|why| why.is_empty()) {
        return None;
    }
    let of = |reason: Void| why.iter().filter(|why| why.contains(&reason)).count() as u64;
    let told = [
        (
            of(Void::Agreement),
            "less than 99 % of the calls came back as they did when the program was traced",
        ),
        (of(Void::Coverage), "less than 95 % of what was traced is repeated"),
    ];
    let all = why.len() as u64;
    let told: Vec<String> = told
        .into_iter()
        .filter(|(runs, _)| *runs > 0)
        .map(
            |(runs, how)| {
                if runs == all { how.to_owned() } else { format!("in {} {how}", format_count(runs)) }
            },
        )
        .collect();
    let head = match all {
        1 => "The run is void".to_owned(),
        all => format!("All {} are void", counted(all, "run", "runs")),
    };
    let asked = payload.map_or_else(String::new, |payload| {
        format!(", and no number of copies is advised for jobs that compute for {}", exact_duration(payload))
    });
    Some(format!(
        "{head}, since {}: nothing is said of the time of a copy against copies at once{asked}. iolag replay --check says what is not there as it was; \
         a skeleton has it (--prepare).",
        told.join(", and ")
    ))
}

#[cfg(test)]
mod tests {
    use iolag_model::LeftOut;

    use super::*;

    #[test]
    fn a_refusal_names_the_reason_that_weighs_most_and_what_to_do() {
        let left = |calls, why, call: &str| LeftOut { why, call: call.into(), calls, example: "/x".into() };
        let coverage = |left_out| ReplayCoverage { traced: 1000, repeated: 400, left_out };
        let changes = vec![
            left(250, WhyLeftOut::NotMapped, "openat"),
            left(200, WhyLeftOut::Changes, "write"),
            left(150, WhyLeftOut::Changes, "unlink"),
        ];
        assert_eq!(
            coverage_refusal(&coverage(changes)),
            "400 of 1 000 calls on files that were traced can be repeated (40 %), and of less than 95 % every run is void; left out are most of all 350 \
             calls (would change what is there, as write /x); what it changed is repeated with --allow-write"
        );
        let not_mapped = coverage_refusal(&coverage(vec![left(600, WhyLeftOut::NotMapped, "openat")]));
        assert!(
            not_mapped.contains("600 calls (not mapped, as openat /x); map more directories by the names"),
            "{not_mapped}"
        );
    }
}
