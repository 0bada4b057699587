//! The metrics of an answer as numbers by name and labels.

use std::collections::BTreeMap;

use crate::server::Server;

#[derive(Debug, Clone, PartialEq)]
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    pub fn of(server: &Server) -> Self {
        let answer = server.get("/metrics");
        assert_eq!(answer.status, 200, "{}", answer.text());
        Self::parse(&answer.text())
    }

    pub fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let samples = lines.map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        });
        Self(samples.collect())
    }

    /// The sample that is called so, labels and all.
    pub fn value(&self, name: &str) -> f64 {
        self.find(name).unwrap_or_else(|| panic!("{name} is missing in {self:#?}"))
    }

    pub fn find(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// The sample of a target, whatever is mounted there.
    pub fn of_target(&self, name: &str, target: &str) -> Option<f64> {
        let begin = format!("{name}{{target=\"{target}\"");
        self.0.iter().find(|(name, _)| name.starts_with(&begin)).map(|(_, value)| *value)
    }

    /// What must never fall.
    pub fn counters(&self) -> BTreeMap<&str, f64> {
        let is_counter = |name: &&String| {
            let name = name.split('{').next().unwrap_or_default();
            ["_total", "_bucket", "_count", "_sum"].iter().any(|suffix| name.ends_with(suffix))
                && name != "iolag_watch_rounds_total"
        };
        let counters = self.0.iter().filter(|(name, _)| is_counter(name));
        counters.map(|(name, value)| (name.as_str(), *value)).collect()
    }
}

/// `name{task="…",target="…"}`, with more labels if there are any.
pub fn of(name: &str, task: &str, target: &str, more: &str) -> String {
    format!("{name}{{task=\"{task}\",target=\"{target}\"{more}}}")
}
