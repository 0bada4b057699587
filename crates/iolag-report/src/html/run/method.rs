//! Configuration and method: under which circumstances the numbers were taken, and how.

use iolag_analysis::{Precision, whatever_analysis};
use iolag_model::{
    Environment, FileSystem, HostRecord, RunRecord, RunState, TargetRecord, format_bytes, format_duration,
};

use super::report::ReportedRun;
use crate::html::markup::Markup;
use crate::words::numbers::utc;
use crate::words::server::{meanings, server_words};
use crate::workload::command::{shell_command, spec_commands};
use crate::workload::{described, judged};

/// A definition list of what was measured where, on what, with what.
pub(super) fn configuration(run: &ReportedRun<'_>, page: &mut Markup) {
    let record = run.record;
    page.raw("<dl class=\"facts\">\n");
    fact(page, "Run", &identity(record));
    if let Some(anchor) = record.anchors.first() {
        let last = record.anchors.last().unwrap_or(anchor);
        let took = last.monotonic_ns.since(anchor.monotonic_ns);
        let lasting = if took.0 > 0 { format!(", {}", format_duration(took)) } else { String::new() };
        fact(page, "Measured", &format!("{} UTC{lasting}", utc(anchor.realtime_ns)));
    }
    if !record.labels.is_empty() {
        let labels: Vec<String> =
            record.labels.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        fact(page, "Labels", &labels.join(", "));
    }
    if !record.environment.host.is_empty() || record.environment.cpus > 0 {
        fact(page, "Host", &host(&record.environment));
    }
    for further in &record.further_hosts {
        fact(page, "Host", &host(&further.environment));
    }
    for target in &record.targets {
        fact(page, "Target", &target_words(target));
    }
    fact(page, "Workload", &described(&record.spec.workload).in_a_line(record.spec.clients));
    for (name, value) in judged(run.analysis).facts() {
        fact(page, name, &value);
    }
    fact(page, "State", state(&record.state));
    page.raw("</dl>\n");
}

/// How the numbers came about.
pub(super) fn method(run: &ReportedRun<'_>, page: &mut Markup) {
    let record = run.record;
    if let Some(method) = judged(run.analysis).method() {
        page.raw("<p class=\"method\">").prose(method);
        for remark in &record.remarks {
            page.raw(" ").prose(remark);
        }
        page.raw("</p>\n");
        return;
    }
    let quantiles = match whatever_analysis!(run.analysis, it => it.precision) {
        Precision::Exact => "Quantiles are exact",
        Precision::Histogram => "Quantiles come from histograms and are within 0.8 % of the exact value",
    };
    let calibration = record.calibration;
    page.raw("<p class=\"method\">");
    page.text(&format!(
        "{quantiles}; intervals are 95 % and allow for autocorrelation. No attempt is left out: what timed out or did \
         not end counts as at least as long as it was watched, and what failed is counted apart, since the time of an \
         error says nothing of the time of the operation. An operation counts as hung after {}. Measuring cost {:.0} \
         ns per sample on a clock that steps by {:.0} ns.",
        format_duration(record.spec.deadline_ns),
        calibration.overhead_per_sample_ns,
        calibration.clock_resolution_ns,
    ));
    if let Some(error) = record.further_hosts.iter().map(HostRecord::error_max).max() {
        page.text(&format!(
            " Times of all hosts are on the clock of {}, to which theirs belong within {} \
             where they were compared.",
            record.environment.host,
            format_duration(error)
        ));
    }
    for remark in record.remarks.iter().map(String::as_str).chain(meanings(record)) {
        page.raw(" ").prose(remark);
    }
    page.raw("</p>\n");
}

/// The commands that do it again.
pub(super) fn commands(record: &RunRecord, page: &mut Markup) {
    page.raw("<div class=\"command\"><pre><code>").text(&spec_commands(record)).raw("</code></pre></div>\n");
    if !record.command.is_empty() {
        page.raw("<p class=\"typed\">As it was typed: <code>");
        page.text(&shell_command(&record.command)).raw("</code></p>\n");
    }
}

fn fact(page: &mut Markup, name: &'static str, value: &str) {
    page.raw("<div>").element("<dt>", name, "</dt>").element("<dd>", value, "</dd>").raw("</div>\n");
}

fn identity(record: &RunRecord) -> String {
    let mut text = record.id.to_string();
    if record.repetition > 1 || record.campaign != record.id {
        text.push_str(&format!(", repetition {} of campaign {}", record.repetition, record.campaign));
    }
    text
}

fn host(environment: &Environment) -> String {
    let mut parts = vec![environment.host.clone()];
    let processors = match (&environment.cpu_model, environment.cpus) {
        // Of a machine that only its traces tell of.
        (_, 0) => String::new(),
        (Some(model), cpus) => format!("{cpus} × {model}"),
        (None, cpus) => format!("{cpus} processors"),
    };
    parts.push(processors);
    parts.extend(environment.memory_bytes.map(|bytes| format!("{} memory", format_bytes(bytes))));
    parts.push(environment.kernel.clone());
    parts.extend(environment.job.as_ref().map(|job| format!("job {job}")));
    if !environment.iolag_version.is_empty() {
        parts.push(format!("iolag {}", environment.iolag_version));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

fn target_words(target: &TargetRecord) -> String {
    let mut text = target.name.clone();
    match &target.file_system {
        Some(file_system) => text.push_str(&format!(": {}", file_system_words(file_system))),
        None if target.server.is_some() => {
            target.server.iter().for_each(|server| text.push_str(&format!(": {}", server_words(server))));
        }
        None => text.push_str(&format!(" ({})", target.backend)),
    }
    if let Some(age) = target.unanswered_ns {
        text.push_str(&format!("; did not answer, waited {}", format_duration(age)));
    }
    text
}

fn file_system_words(file_system: &FileSystem) -> String {
    let mut parts = vec![file_system.kind.clone()];
    if !file_system.source.is_empty() {
        parts.push(format!("from {}", file_system.source));
    }
    if !file_system.mount_point.is_empty() {
        parts.push(format!("on {}", file_system.mount_point));
    }
    if let (Some(free), Some(size)) = (file_system.free_bytes, file_system.size_bytes) {
        parts.push(format!("{} of {} free", format_bytes(free), format_bytes(size)));
    }
    parts.extend(file_system.client_version.as_ref().map(|version| format!("client {version}")));
    parts.extend(file_system.striping.clone());
    if !file_system.options.is_empty() {
        parts.push(format!("options {}", file_system.options));
    }
    parts.join(", ")
}

/// In a word: the page begins with what is missing, and why.
const fn state(state: &RunState) -> &'static str {
    match state {
        RunState::Running { .. } => "still running, or not closed",
        RunState::Complete => "complete",
        RunState::Incomplete { .. } => "incomplete",
        RunState::Recovered { .. } => "recovered",
    }
}
