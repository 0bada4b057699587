//! The protobuf form, `io.prometheus.client.MetricFamily`, each message after its length: the one that carries native histograms.
//!
//! Numbers of fields are those of Prometheus' `client_model/metrics.proto`; what is not written is left out here.

use prost::Message;

use super::family::{Durations, Family, FamilyKind, Labels, SampleValue, seconds};
use iolag_analysis::history::NATIVE_SCHEMA;

/// What counts as zero, as Prometheus' own libraries have it: 2^-128.
const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

#[derive(Clone, PartialEq, Message)]
struct MetricFamilyMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    help: String,
    #[prost(enumeration = "MetricType", optional, tag = "3")]
    kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<MetricMessage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum MetricType {
    Counter = 0,
    Gauge = 1,
    Histogram = 4,
}

#[derive(Clone, PartialEq, Message)]
struct MetricMessage {
    #[prost(message, repeated, tag = "1")]
    label: Vec<LabelMessage>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<NumberMessage>,
    #[prost(message, optional, tag = "3")]
    counter: Option<NumberMessage>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<HistogramMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct LabelMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// `Gauge` and `Counter` look alike.
#[derive(Clone, PartialEq, Message)]
struct NumberMessage {
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct HistogramMessage {
    #[prost(uint64, optional, tag = "1")]
    sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    sample_sum: Option<f64>,
    #[prost(message, repeated, tag = "3")]
    bucket: Vec<BucketMessage>,
    #[prost(sint32, optional, tag = "5")]
    schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<SpanMessage>,
    #[prost(sint64, repeated, packed = "false", tag = "13")]
    positive_delta: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct BucketMessage {
    #[prost(uint64, optional, tag = "1")]
    cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    upper_bound: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct SpanMessage {
    #[prost(sint32, optional, tag = "1")]
    offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    length: Option<u32>,
}

pub(super) fn protobuf(families: &[Family<'_>]) -> Vec<u8> {
    families.iter().flat_map(|family| message_of(family).encode_length_delimited_to_vec()).collect()
}

fn message_of(family: &Family<'_>) -> MetricFamilyMessage {
    let kind = match family.kind {
        FamilyKind::Counter => MetricType::Counter,
        FamilyKind::Gauge | FamilyKind::Info => MetricType::Gauge,
        FamilyKind::Histogram => MetricType::Histogram,
    };
    let metric = family.samples.iter().map(|sample| {
        let mut message = MetricMessage { label: labels_of(&sample.labels), ..MetricMessage::default() };
        let number = match &sample.value {
            SampleValue::Number(number) => *number,
            // Exact up to 2^53.
            SampleValue::Count(count) => *count as f64,
            SampleValue::Durations(durations) => {
                message.histogram = Some(histogram_of(durations));
                return message;
            }
        };
        let number = Some(NumberMessage { value: Some(number) });
        match kind {
            MetricType::Counter => message.counter = number,
            MetricType::Gauge | MetricType::Histogram => message.gauge = number,
        }
        message
    });
    MetricFamilyMessage {
        name: family.sample_name(),
        help: family.help.to_owned(),
        kind: Some(kind as i32),
        metric: metric.collect(),
    }
}

fn labels_of(labels: &Labels) -> Vec<LabelMessage> {
    let label = |(name, value): &(&'static str, String)| LabelMessage {
        name: (*name).to_owned(),
        value: value.clone(),
    };
    labels.0.iter().map(label).collect()
}

fn histogram_of(durations: &Durations<'_>) -> HistogramMessage {
    let tally = durations.tally;
    let bucket = |(bound, below): &(u64, u64)| BucketMessage {
        cumulative_count: Some(*below),
        upper_bound: Some(seconds(*bound)),
    };
    let (positive_span, positive_delta) =
        spans_of(tally.fine().iter().map(|(index, count)| (*index, *count)));
    HistogramMessage {
        sample_count: Some(tally.count()),
        sample_sum: Some(seconds(tally.sum_ns())),
        bucket: durations.coarse.iter().map(bucket).collect(),
        schema: Some(NATIVE_SCHEMA),
        zero_threshold: Some(ZERO_THRESHOLD),
        zero_count: Some(tally.zero()),
        positive_span,
        positive_delta,
    }
}

/// Buckets as runs of neighbours, each with its distance to the run before, and counts as differences to the bucket before.
fn spans_of(buckets: impl Iterator<Item = (i32, u64)>) -> (Vec<SpanMessage>, Vec<i64>) {
    let (mut spans, mut deltas) = (Vec::<SpanMessage>::new(), Vec::new());
    let (mut next, mut before) = (0, 0);
    for (index, count) in buckets {
        match spans.last_mut() {
            Some(SpanMessage { length: Some(length), .. }) if index == next => *length += 1,
            _ => spans.push(SpanMessage { offset: Some(index - next), length: Some(1) }),
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        (next, before) = (index + 1, count);
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Encoded by hand from the numbers of client_model's metrics.proto and the wire format.
    #[test]
    fn the_bytes_of_a_small_counter() {
        let mut family = Family::new("a", FamilyKind::Counter, "b");
        family.push(Labels::default().with("t", "x"), SampleValue::Count(2));
        let expected = [
            // The length of what follows.
            &[35_u8][..],
            // 1: name, 2: help, 3: type COUNTER
            b"\x0a\x07a_total",
            b"\x12\x01b",
            b"\x18\x00",
            // 4: metric; in it 1: label, with 1: name and 2: value
            b"\x22\x13",
            b"\x0a\x06\x0a\x01t\x12\x01x",
            // 3: counter, with 1: value in 64 bits
            b"\x1a\x09\x09",
            &2_f64.to_le_bytes(),
        ];
        assert_eq!(protobuf(&[family]), expected.concat());
    }

    #[test]
    fn the_bytes_of_a_small_histogram() {
        let message = HistogramMessage {
            sample_count: Some(3),
            schema: Some(3),
            positive_span: vec![SpanMessage { offset: Some(-2), length: Some(2) }],
            positive_delta: vec![2, -1],
            ..HistogramMessage::default()
        };
        // Signed numbers are in zigzag: 3 is 6, -2 is 3, 2 is 4, -1 is 1.
        let expected = [0x08, 3, 0x28, 6, 0x62, 4, 0x08, 3, 0x10, 2, 0x68, 4, 0x68, 1];
        assert_eq!(message.encode_to_vec(), expected);
    }

    proptest! {
        #[test]
        fn spans_lead_back_to_buckets(buckets in prop::collection::btree_map(-300_i32..300, 1_u64..1 << 40, 0..40)) {
            let (spans, deltas) = spans_of(buckets.iter().map(|(index, count)| (*index, *count)));
            let (mut index, mut count, mut deltas) = (0, 0, deltas.into_iter());
            let mut found = BTreeMap::new();
            for span in spans {
                index += span.offset.unwrap();
                for _ in 0..span.length.unwrap() {
                    count += deltas.next().unwrap();
                    found.insert(index, count as u64);
                    index += 1;
                }
            }
            prop_assert_eq!(deltas.next(), None);
            prop_assert_eq!(found, buckets);
        }
    }
}
