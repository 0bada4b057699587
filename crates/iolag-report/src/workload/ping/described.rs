//! A ping, described.

use iolag_model::{PingProbe, PingSpec, RunRecord, exact_duration, format_bytes, format_duration};

use crate::workload::command::option;
use crate::workload::described::Described;

impl Described for PingSpec {
    fn heading(&self) -> &'static str {
        "Probes of storage"
    }

    fn in_list(&self) -> String {
        match &self.probe {
            PingProbe::Operations { .. } | PingProbe::Object => "ping".to_owned(),
            PingProbe::Task { name } => format!("ping, {name}"),
        }
    }

    fn in_a_line(&self, _clients: u32) -> String {
        let each = match &self.probe {
            PingProbe::Operations { object_bytes } => {
                let bytes = format_bytes(*object_bytes);
                format!("stat, read and create of small files of {bytes}, without starting a program")
            }
            PingProbe::Object => "stat and read of the object that the URL names".to_owned(),
            PingProbe::Task { name } => format!("task {name}, in a process of its own"),
        };
        format!("ping, a probe every {}: {each}", format_duration(self.every_ns))
    }

    fn command(&self, _run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let mut words = Vec::new();
        if let PingProbe::Task { name } = &self.probe {
            words.extend(option("--task", name));
        }
        words.extend(option("--every", exact_duration(self.every_ns)));
        words.extend(self.count.into_iter().flat_map(|count| option("--count", count)));
        (&["ping"], words)
    }
}
