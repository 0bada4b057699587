//! What is to be known of what is advised: how jobs follow each other, and how far copies were as they are.

use iolag_analysis::{JobSetting, Recommendation};

use super::numbers::typed_duration;

/// What is to be known of every recommendation; nothing without any.
pub(crate) fn assumed(told: &[Recommendation]) -> String {
    let Some(first) = told.first() else { return String::new() };
    let computes = match first.question.payload_ns {
        Some(payload) => format!("computes for {} on a processor", typed_duration(payload)),
        None => {
            "computes as long as its payload, which was really run by each copy, took beside as many others"
                .to_owned()
        }
    };
    let ended = match first.question.limit_ns {
        Some(limit) => format!("is lost if it is not set up after {}", typed_duration(limit)),
        None => "is never lost".to_owned(),
    };
    let ran = |one: &Recommendation| one.levels.iter().any(|level| level.payload.is_some());
    if first.question.payload_ns.is_none() && !told.iter().any(ran) {
        return "No copy came to its payload, so that nothing is known of jobs.".to_owned();
    }
    let setting = told.iter().map(|one| one.setting).max().unwrap_or(JobSetting::NotKnown);
    let is_counted = told.iter().flat_map(|one| &one.levels).all(|level| level.processor_ns.is_some());
    let of_processors = match is_counted {
        true => {
            "Of processors set-ups take what copies did; what the program itself would compute in them is not counted."
        }
        false => "What set-ups take of processors was not recorded, and is not counted.",
    };
    format!(
        "A job sets itself up, {ended}, and then {computes}; another takes its place at once. {of_processors} {}",
        setting_in_words(setting)
    )
}

const fn setting_in_words(setting: JobSetting) -> &'static str {
    match setting {
        JobSetting::Together => {
            "Copies were measured that begin together, which is the worst that can be: jobs that follow each other set themselves up beside others that compute."
        }
        JobSetting::ShortPayload => {
            "Copies were measured that begin together. The payload is less than ten times as long as a set-up, so that jobs that follow each other set \
             themselves up beside as many others, which begin at any time: it may be worse than this, and better."
        }
        JobSetting::Apart => {
            "Copies were measured that begin apart, each beside fewer others than it would be if all began together: it may be worse than this."
        }
        JobSetting::NotKnown => {
            "Whether copies began together was not recorded: jobs that follow each other may be slower than this, and faster."
        }
    }
}
