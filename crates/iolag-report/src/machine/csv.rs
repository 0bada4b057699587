//! Summaries as CSV (RFC 4180): one row per summary, names in the first line, times in ns.
//!
//! `role` is `control` for the machine's own memory beside a check or a load, `bystander-` with the place for who measured beside a load (`phase` is what the load did
//! then, and empty before and after it), else `measured`. A quantile has two columns: its value, empty
//! if there is none, and its kind: `exactly`, `at-least`, `too-few`. `created_files` and `at_this_pace_ns` tell of a create task that was
//! ended before all files were there: how many there were on average, and what all of them would have taken at that pace, which is an
//! extrapolation. Its quantiles are what was seen. Last columns are there if there is something in them: `retried`, if any attempt was asked again, and `copy_to`, where
//! the copies of a run were made that tells that from others of its campaign.

use std::io::{self, Write};

use iolag_analysis::{PartialCreate, QuantileInterval, QuantileValue, Summary};
use iolag_model::{BystanderStage, LoadTime, RunRecord, StageIndex, StageRecord, Standpoint, TargetIndex};

const HEADER: &str = "run,host,target,role,stage,phase,iteration,client,operation,level,attempts,ok,late,timeout,hung,\
                      skipped,interrupted,errors,bytes,rate_per_second,mean_ns,effective_attempts,min_ns,min_kind,p25_ns,p25_kind,\
                      median_ns,median_kind,median_low_ns,median_high_ns,p75_ns,p75_kind,p90_ns,p90_kind,p95_ns,p95_kind,\
                      p99_ns,p99_kind,p99_low_ns,p99_high_ns,max_ns,max_kind,created_files,at_this_pace_ns";

/// Writes the summaries of a run.
///
/// # Errors
/// Those of the writer.
pub fn write_csv(run: &RunRecord, summaries: &[Summary], writer: &mut dyn Write) -> io::Result<()> {
    let has_retried = summaries.iter().any(|summary| summary.retried > 0);
    let copy_to = run.copy_to();
    let more = [(has_retried, ",retried"), (copy_to.is_some(), ",copy_to")];
    let more: String = more.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect();
    writeln!(writer, "{HEADER}{more}")?;
    for summary in summaries {
        let mut fields = fields(run, summary);
        fields.extend(has_retried.then(|| summary.retried.to_string()));
        fields.extend(copy_to.map(quoted));
        writeln!(writer, "{}", fields.join(","))?;
    }
    Ok(())
}

fn fields(run: &RunRecord, summary: &Summary) -> Vec<String> {
    let key = &summary.key;
    let beside = beside(run, key.stage);
    let of_load = match beside.map(|beside| beside.time) {
        Some(LoadTime::During(stage)) => Some(stage),
        Some(_) => None,
        None => key.stage,
    };
    let quiet = match beside.map(|beside| beside.time) {
        Some(LoadTime::Before) => "before",
        Some(LoadTime::After) => "after",
        _ => "",
    };
    let stage: Option<&StageRecord> = run.stages.iter().find(|stage| Some(stage.stage) == of_load);
    let is_in_memory = beside.is_some_and(|beside| beside.standpoint == Standpoint::Control);
    let target = match key.target.or_else(|| run.control().filter(|_| is_in_memory)) {
        Some(target) => run.targets.get(usize::from(target.0)),
        None => {
            let mut load = run.clients.iter().filter(|client| client.role.is_load());
            run.targets.first().filter(|_| load.all(|client| client.target.0 == 0))
        }
    };
    let target = target.map(|target| target.name.as_str());
    let between = key.stage.and_then(|stage| run.place_of(stage, key.operation));
    let durations = &summary.durations;
    let mut fields = vec![
        run.id.to_string(),
        quoted(&run.environment.host),
        quoted(between.as_deref().or(target).unwrap_or_default()),
        role(run, key.target, beside),
        optional(key.stage.map(|stage| stage.0)),
        stage.map_or_else(|| quiet.to_owned(), |stage| stage.phase.to_string()),
        optional(stage.map(|stage| stage.iteration)),
        optional(key.client.map(|client| client.0)),
        quoted(key.operation.name()),
        format!("{:?}", key.operation.level()).to_lowercase(),
    ];
    let counts = [
        summary.attempts,
        summary.ok,
        summary.late,
        summary.timeout,
        summary.hung,
        summary.skipped,
        summary.interrupted,
        summary.failures(),
        summary.bytes,
    ];
    fields.extend(counts.map(|count| count.to_string()));
    fields.push(optional(summary.rate_per_second));
    fields.push(optional(durations.mean_ns));
    fields.push(format!("{:.1}", durations.sample_size.effective));
    fields.extend(value(durations.min));
    fields.extend(value(durations.p25.value));
    fields.extend(value(durations.median.value));
    fields.extend(interval(durations.median.interval));
    fields.extend(value(durations.p75.value));
    fields.extend(value(durations.p90.value));
    fields.extend(value(durations.p95.value));
    fields.extend(value(durations.p99.value));
    fields.extend(interval(durations.p99.interval));
    fields.extend(value(durations.max));
    let partial = PartialCreate::of(summary, run);
    fields.push(optional(partial.map(|partial| partial.files)));
    fields.push(optional(partial.map(|partial| partial.at_this_pace_ns.0)));
    fields
}

/// The stage of bystanders that this is, if it is one.
fn beside(run: &RunRecord, stage: Option<StageIndex>) -> Option<BystanderStage> {
    let mut stages = run.beside.iter().flat_map(|beside| &beside.stages);
    stages.find(|known| Some(known.stage) == stage).copied()
}

fn role(run: &RunRecord, target: Option<TargetIndex>, beside: Option<BystanderStage>) -> String {
    match beside.map(|beside| beside.standpoint) {
        Some(Standpoint::Control) => "control".to_owned(),
        Some(standpoint) => format!("bystander-{standpoint}"),
        // The machine's own memory, which a check measures to compare with.
        None if target.is_some() && run.control() == target => "control".to_owned(),
        None => "measured".to_owned(),
    }
}

fn value(value: QuantileValue) -> [String; 2] {
    match value {
        QuantileValue::Exactly(duration) => [duration.0.to_string(), "exactly".to_owned()],
        QuantileValue::AtLeast(duration) => [duration.0.to_string(), "at-least".to_owned()],
        QuantileValue::Below(duration) => [duration.0.to_string(), "below".to_owned()],
        QuantileValue::TooFew { .. } => [String::new(), "too-few".to_owned()],
        QuantileValue::FewStretches { .. } => [String::new(), "few-stretches".to_owned()],
    }
}

/// Both ends; an upper one that is only known to be at least something is open, and empty.
fn interval(interval: QuantileInterval) -> [String; 2] {
    let QuantileInterval::Between { low, high } = interval else { return [String::new(), String::new()] };
    let high = match high {
        QuantileValue::AtLeast(_) => None,
        high => high.bound(),
    };
    [low.lower_bound(), high].map(|end| optional(end.map(|end| end.0)))
}

pub(super) fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Text that others have chosen, which a spreadsheet is not to take for a formula; no numbers, which may begin with a sign.
pub(super) fn quoted(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = &format!("{}{text}", if is_formula { "'" } else { "" });
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_quotes_are_kept() {
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(quoted("ls -l"), "ls -l");
    }

    #[test]
    fn no_text_is_a_formula() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-x", "'-x"),
            ("@sum", "'@sum"),
            ("\t=1", "'\t=1"),
            ("=a,\"b\"", "\"'=a,\"\"b\"\"\""),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            assert_eq!(quoted(text), written, "{text:?}");
        }
    }
}
