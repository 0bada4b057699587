//! A replay, described.

use iolag_model::{
    Nanoseconds, ReplaySpec, ReplayTiming, RunRecord, counted, exact_duration, format_duration, one_line,
};

use crate::workload::command::option;
use crate::workload::described::Described;
use crate::workload::set_up::described::of_copies;

impl Described for ReplaySpec {
    fn heading(&self) -> &'static str {
        "A program replayed"
    }

    fn title(&self) -> String {
        match &self.program {
            Some(program) => format!("{} replayed", one_line(program)),
            None => self.heading().to_owned(),
        }
    }

    fn in_list(&self) -> String {
        format!("replay, {}", one_line(self.program.as_deref().unwrap_or(&self.trace)))
    }

    fn in_a_line(&self, clients: u32) -> String {
        let mut parts = vec![self.in_list(), counted(u64::from(clients), "copy", "copies")];
        parts.push(match self.timing {
            ReplayTiming::Asap => "each call as soon as possible".to_owned(),
            ReplayTiming::Gaps => "with the program's own pauses between calls".to_owned(),
            ReplayTiming::Exact => "each call at its moment".to_owned(),
        });
        if self.speed != 1.0 {
            parts.push(format!("{} times as fast", self.speed));
        }
        if self.stagger_ns > Nanoseconds::ZERO {
            parts.push(format!("copies begin {} apart", format_duration(self.stagger_ns)));
        }
        if let Some(limit) = self.kill_after_ns {
            parts.push(format!("ended after {}", format_duration(limit)));
        }
        if self.own.is_some() {
            parts.push("changing files of each copy's own".to_owned());
        }
        parts.join(", ")
    }

    fn places(&self, targets: &[String]) -> Vec<String> {
        let mapped = |target: &String| option("--map", format!("{}={target}", self.base)).to_vec();
        let places = match self.base.as_str() {
            "/" => targets.to_vec(),
            _ => targets.iter().flat_map(mapped).collect(),
        };
        std::iter::once(self.trace.clone()).chain(places).collect()
    }

    fn command(&self, run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let mut words = Vec::from(option("--copies", run.spec.clients));
        words.extend(self.maps.iter().flat_map(|map| option("--map", format!("{}={}", map.from, map.to))));
        words.extend(self.only.iter().flat_map(|only| option("--only", only)));
        words.extend(option("--timing", self.timing));
        if self.timing != ReplayTiming::Asap {
            words.extend(option("--speed", self.speed));
        }
        if self.stagger_ns > Nanoseconds::ZERO {
            words.extend(option("--start", exact_duration(self.stagger_ns)));
        }
        words.extend(self.own.map(|_| "--allow-write".to_owned()));
        words.extend(of_copies(&self.terms, self.kill_after_ns));
        words.extend(option("--on-hang", run.spec.on_hang));
        words.extend(option("--buffer", run.spec.ring_bytes));
        (&["replay"], words)
    }
}
