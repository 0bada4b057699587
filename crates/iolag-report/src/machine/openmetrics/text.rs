//! The two text forms: OpenMetrics 1.0, and the older one of Prometheus, which node_exporter reads from files.
//!
//! Both have the same samples; they differ in how families of counters are named, in units, and in the mark at the end.

use super::family::{Durations, Family, FamilyKind, Labels, SampleValue, seconds};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextVersion {
    OpenMetrics,
    Prometheus,
}

pub(super) fn text(families: &[Family<'_>], version: TextVersion) -> String {
    let mut text = String::with_capacity(4096);
    for family in families {
        write_head(&mut text, family, version);
        let name = family.sample_name();
        for sample in &family.samples {
            match &sample.value {
                SampleValue::Number(number) => {
                    write_sample(&mut text, &name, &sample.labels, None, &float(*number))
                }
                SampleValue::Count(count) => {
                    write_sample(&mut text, &name, &sample.labels, None, &count.to_string());
                }
                SampleValue::Durations(durations) => {
                    write_histogram(&mut text, &name, &sample.labels, durations)
                }
            }
        }
    }
    if version == TextVersion::OpenMetrics {
        text.push_str("# EOF\n");
    }
    text
}

fn write_head(text: &mut String, family: &Family<'_>, version: TextVersion) {
    let kind = match (family.kind, version) {
        (FamilyKind::Counter, _) => "counter",
        (FamilyKind::Histogram, _) => "histogram",
        (FamilyKind::Info, TextVersion::OpenMetrics) => "info",
        (FamilyKind::Gauge | FamilyKind::Info, _) => "gauge",
    };
    let name = match version {
        TextVersion::OpenMetrics => family.name.to_owned(),
        TextVersion::Prometheus => family.sample_name(),
    };
    text.push_str(&format!("# HELP {name} {}\n# TYPE {name} {kind}\n", family.help));
    if let (TextVersion::OpenMetrics, Some(unit)) = (version, family.unit()) {
        text.push_str(&format!("# UNIT {name} {unit}\n"));
    }
}

fn write_histogram(text: &mut String, name: &str, labels: &Labels, durations: &Durations<'_>) {
    let bucket = format!("{name}_bucket");
    for (bound, below) in &durations.coarse {
        write_sample(text, &bucket, labels, Some(&float(seconds(*bound))), &below.to_string());
    }
    let count = durations.tally.count().to_string();
    write_sample(text, &bucket, labels, Some("+Inf"), &count);
    write_sample(text, &format!("{name}_sum"), labels, None, &float(seconds(durations.tally.sum_ns())));
    write_sample(text, &format!("{name}_count"), labels, None, &count);
}

fn write_sample(text: &mut String, name: &str, labels: &Labels, bound: Option<&str>, value: &str) {
    text.push_str(name);
    let labels = labels.0.iter().map(|(name, value)| (*name, value.as_str()));
    let mut separator = '{';
    for (label, value) in labels.chain(bound.map(|bound| ("le", bound))) {
        text.push(separator);
        separator = ',';
        text.push_str(label);
        text.push_str("=\"");
        escape_into(text, value);
        text.push('"');
    }
    if separator == ',' {
        text.push('}');
    }
    text.push(' ');
    text.push_str(value);
    text.push('\n');
}

fn escape_into(text: &mut String, value: &str) {
    for character in value.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            _ => text.push(character),
        }
    }
}

/// The canonical form of OpenMetrics: whole numbers have a fraction, `1.0`, so that buckets are called alike in all forms.
fn float(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        _ => format!("{number:?}"),
    }
}
