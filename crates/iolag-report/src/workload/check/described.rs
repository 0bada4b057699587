//! A check, described.

use iolag_model::{CheckSpec, RunRecord, exact_duration, format_bytes, format_duration};

use crate::workload::command::option;
use crate::workload::described::Described;

impl Described for CheckSpec {
    fn heading(&self) -> &'static str {
        "How storage feels"
    }

    fn in_list(&self) -> String {
        "check".to_owned()
    }

    fn in_a_line(&self, _clients: u32) -> String {
        format!(
            "check within {}: tasks at the prompt, small files of {}, a stream of {}",
            format_duration(self.budget_ns),
            format_bytes(self.object_bytes),
            format_bytes(self.stream_bytes)
        )
    }

    fn command(&self, _run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let thresholds: Vec<String> = self.thresholds_ns.iter().copied().map(exact_duration).collect();
        let mut words = Vec::from(option("--budget", exact_duration(self.budget_ns)));
        if !thresholds.is_empty() {
            words.extend(option("--thresholds", thresholds.join(",")));
        }
        words.extend(option("--stream-size", self.stream_bytes));
        (&["check"], words)
    }
}
