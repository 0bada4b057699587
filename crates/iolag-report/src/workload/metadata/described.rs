//! A metadata run, described.

use iolag_model::{
    Access, Durability, MetadataSpec, Pattern, Phase, RunRecord, Think, Verification, WearOut, counted,
    exact_duration, format_bytes, format_duration,
};

use crate::workload::command::{option, working_name};
use crate::workload::described::Described;

impl Described for MetadataSpec {
    fn heading(&self) -> &'static str {
        "Metadata performance"
    }

    fn in_list(&self) -> String {
        format!("metadata, {}", self.pattern)
    }

    fn in_a_line(&self, clients: u32) -> String {
        let mut parts = vec![
            format!("metadata, pattern {}", self.pattern),
            format!("{} client{}", clients, if clients == 1 { "" } else { "s" }),
            format!(
                "{} each with {} of {}",
                counted(u64::from(self.datasets), "dataset", "datasets"),
                counted(self.precreated_objects, "object", "objects"),
                format_bytes(self.object_bytes)
            ),
            iterations(self),
            format!("offset {}", self.offset),
        ];
        match self.think {
            Think::None => {}
            Think::Factor(factor) => parts.push(format!("think time {factor} × the operation's")),
            Think::Fixed(pause) => parts.push(format!("think time {}", format_duration(pause))),
        }
        if self.durability == Durability::Fsync {
            parts.push("created objects made durable (fsync)".to_owned());
        }
        if self.verification == Verification::Content {
            parts.push("content verified".to_owned());
        }
        if let Some(limit) = self.time_limit {
            parts.push(format!("time limit {}", format_duration(limit.after_ns)));
        }
        parts.join(", ")
    }

    fn command(&self, run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let mut words = Vec::from(option("--clients", run.spec.clients));
        words.extend(options(self));
        words.extend(option("--on-hang", run.spec.on_hang));
        words.extend(option("--buffer", run.spec.ring_bytes));
        words.extend(working_name(run).into_iter().flat_map(|name| option("--working-name", name)));
        (&["bench", "metadata"], words)
    }
}

fn iterations(metadata: &MetadataSpec) -> String {
    let iterations = counted(u64::from(metadata.iterations), "iteration", "iterations");
    match metadata.pattern {
        // Each handles all objects.
        Pattern::Batch => iterations,
        Pattern::Code | Pattern::Paper => {
            format!("{iterations} over {}", counted(metadata.objects, "object", "objects"))
        }
    }
}

/// All options that decide what each client does.
fn options(metadata: &MetadataSpec) -> Vec<String> {
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
