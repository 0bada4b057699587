//! A strict reader of both text forms, written from the specifications: it panics at what a scraper would refuse.

use std::collections::{BTreeMap, BTreeSet};

/// One line that is no comment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub value: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    OpenMetrics,
    Prometheus,
}

pub fn parse(text: &str, form: Form) -> Vec<Sample> {
    assert!(text.ends_with('\n') && !text.contains('\r'));
    let mut lines: Vec<&str> = text[..text.len() - 1].split('\n').collect();
    if form == Form::OpenMetrics {
        assert_eq!(lines.pop(), Some("# EOF"));
    }
    let (mut samples, mut families, mut seen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let (mut family, mut kind) = (String::new(), String::new());
    for line in lines {
        if let Some(comment) = line.strip_prefix("# ") {
            let (word, rest) = comment.split_once(' ').unwrap();
            let (name, what) = rest.split_once(' ').unwrap();
            assert!(is_name(name), "{line}");
            match word {
                "HELP" => {
                    assert!(families.insert(name.to_owned()), "{name} twice");
                    (family, kind) = (name.to_owned(), String::new());
                }
                "TYPE" => {
                    assert_eq!(name, family);
                    kind = what.to_owned();
                }
                "UNIT" => assert!(form == Form::OpenMetrics && name.ends_with(&format!("_{what}")), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let sample = sample(line);
        let suffixes: &[&str] = match (kind.as_str(), form) {
            ("counter", Form::OpenMetrics) => &["_total"],
            ("info", Form::OpenMetrics) => &["_info"],
            ("histogram", _) => &["_bucket", "_sum", "_count"],
            ("gauge", _) | ("counter", Form::Prometheus) => &[""],
            other => panic!("{other:?} at {line}"),
        };
        let suffix = sample.name.strip_prefix(&family).unwrap_or_else(|| panic!("{line} in {family}"));
        assert!(suffixes.contains(&suffix), "{line} in {family}");
        assert!(seen.insert((sample.name.clone(), sample.labels.clone())), "twice: {line}");
        if kind == "counter" {
            assert!(sample.name.ends_with("_total"), "{line}");
        }
        samples.push(sample);
    }
    buckets_rise(&samples);
    samples
}

/// A series of buckets: its name and its labels but for `le`.
type BucketSeries = (String, Vec<(String, String)>);

fn buckets_rise(samples: &[Sample]) {
    let mut last: BTreeMap<BucketSeries, (f64, f64)> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.name.ends_with("_bucket")) {
        let mut labels = sample.labels.clone();
        let bound: f64 = labels.remove("le").unwrap().parse().unwrap();
        let key = (sample.name.clone(), labels.into_iter().collect());
        if let Some((bound_before, count_before)) = last.insert(key, (bound, sample.value)) {
            assert!(bound > bound_before && sample.value >= count_before, "{sample:?}");
        }
    }
    for ((name, labels), (bound, count)) in last {
        assert_eq!(bound, f64::INFINITY, "{name}");
        let name = name.replace("_bucket", "_count");
        let total = samples
            .iter()
            .find(|sample| sample.name == name && sample.labels.clone().into_iter().eq(labels.clone()));
        assert_eq!(total.unwrap().value, count);
    }
}

fn sample(line: &str) -> Sample {
    let name_end = line.find(['{', ' ']).unwrap();
    let (name, rest) = line.split_at(name_end);
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"").unwrap();
            assert!(is_name(label), "{line}");
            let (value, after) = quoted(after);
            assert_eq!(labels.insert(label.to_owned(), value), None, "{line}");
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ').unwrap();
    // A blank in it would begin a timestamp.
    Sample { name: name.to_owned(), labels, value: value.parse().unwrap_or_else(|_| panic!("{line}")) }
}

fn quoted(text: &str) -> (String, &str) {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match characters.next().unwrap().1 {
                'n' => '\n',
                escaped @ ('"' | '\\') => escaped,
                other => panic!("\\{other}"),
            }),
            _ => value.push(character),
        }
    }
    panic!("no end: {text}")
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
