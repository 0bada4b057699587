//! The spec of a run as a command that does the same again.

use iolag_model::{
    Access, CheckSpec, Durability, MetadataSpec, Nanoseconds, Phase, PingProbe, RunRecord, Think,
    Verification, WearOut, WorkloadSpec,
};

/// A command for a shell with every option that decides what is done, defaults included: they may change.
pub(super) fn spec_command(run: &RunRecord) -> String {
    let spec = &run.spec;
    let mut words = vec!["iolag".to_owned()];
    match &spec.workload {
        WorkloadSpec::Check(check) => {
            words.push("check".to_owned());
            words.extend(spec.targets.iter().cloned());
            words.extend(check_options(check));
        }
        WorkloadSpec::Ping(ping) => {
            words.push("ping".to_owned());
            words.extend(spec.targets.iter().cloned());
            if let PingProbe::Task { name } = &ping.probe {
                words.extend(option("--task", name));
            }
            words.extend(option("--every", exact_duration(ping.every_ns)));
            words.extend(ping.count.into_iter().flat_map(|count| option("--count", count)));
        }
        WorkloadSpec::Metadata(metadata) => {
            words.extend(["bench".to_owned(), "metadata".to_owned()]);
            words.extend(spec.targets.iter().cloned());
            words.extend(option("--clients", spec.clients));
            words.extend(metadata_options(metadata));
            words.extend(option("--on-hang", spec.on_hang));
            words.extend(option("--buffer", spec.ring_bytes));
            words.extend(working_name(run).into_iter().flat_map(|name| option("--working-name", name)));
        }
    }
    words.extend(option("--deadline", exact_duration(spec.deadline_ns)));
    words.extend(option("--seed", spec.seed));
    words.extend(run.labels.iter().flat_map(|(name, value)| option("--label", format!("{name}={value}"))));
    shell_command(&words)
}

/// The working directory's name, unless it is the usual one.
fn working_name(run: &RunRecord) -> Option<&str> {
    const USUAL: &str = "iolag-work";
    let place = run.targets.first()?.working_place.as_deref()?;
    place.rsplit('/').next().filter(|name| *name != USUAL)
}

fn option(name: &str, value: impl ToString) -> [String; 2] {
    [name.to_owned(), value.to_string()]
}

fn check_options(check: &CheckSpec) -> Vec<String> {
    let thresholds: Vec<String> = check.thresholds_ns.iter().copied().map(exact_duration).collect();
    let mut words = Vec::from(option("--budget", exact_duration(check.budget_ns)));
    if !thresholds.is_empty() {
        words.extend(option("--thresholds", thresholds.join(",")));
    }
    words.extend(option("--stream-size", check.stream_bytes));
    words
}

fn metadata_options(metadata: &MetadataSpec) -> Vec<String> {
    let mut words: Vec<String> = [
        option("--pattern", metadata.pattern),
        option("--detail", metadata.granularity),
        option("--datasets", metadata.datasets),
        option("--precreate", metadata.precreated_objects),
        option("--objects", metadata.objects),
        option("--iterations", metadata.iterations),
        option("--object-size", metadata.object_bytes),
        option("--offset", metadata.offset),
    ]
    .concat();
    if !metadata.phases.is_empty() {
        let mut phases: Vec<Phase> = metadata.phases.clone();
        phases.dedup();
        let names: Vec<&str> = phases.into_iter().map(Phase::name).collect();
        words.extend(option("--phases", names.join(",")));
    }
    match metadata.think {
        Think::None => {}
        Think::Factor(factor) => words.extend(option("--think", format!("{factor}x"))),
        Think::Fixed(pause) => words.extend(option("--think", exact_duration(pause))),
    }
    if metadata.access == Access::ReadOnly {
        words.push("--read-only".to_owned());
    }
    if let Some(limit) = metadata.time_limit {
        words.extend(option("--time-limit", exact_duration(limit.after_ns)));
        if limit.wear_out == WearOut::Equalise {
            words.push("--wear-out".to_owned());
        }
    }
    if metadata.durability == Durability::Fsync {
        words.push("--fsync".to_owned());
    }
    if metadata.verification == Verification::Content {
        words.push("--verify".to_owned());
    }
    words
}

/// A duration as the command line reads it, without rounding: `15s`, `1500ms`.
fn exact_duration(duration: Nanoseconds) -> String {
    const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let fits = |(unit_ns, _): &&(u64, &str)| duration.0.is_multiple_of(*unit_ns);
    let (unit_ns, name) = UNITS.iter().find(fits).expect("every duration is a number of ns");
    format!("{}{name}", duration.0 / unit_ns)
}

/// Words quoted for a POSIX shell.
pub fn shell_command(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    quoted.join(" ")
}

fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::parse_duration;
    use proptest::prelude::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["iolag", "check", "/a b", "it's", "$(id)", ""].map(str::to_owned);
        assert_eq!(shell_command(&words), r"iolag check '/a b' 'it'\''s' '$(id)' ''");
    }

    proptest! {
        #[test]
        fn durations_keep_every_nanosecond(ns in 0..u64::MAX / 4) {
            prop_assert_eq!(parse_duration(&exact_duration(Nanoseconds(ns))), Ok(Nanoseconds(ns)));
        }
    }
}
