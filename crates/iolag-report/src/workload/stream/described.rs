//! A stream, described.

use iolag_model::{
    Allocation, RunRecord, StreamEngine, StreamSpec, Verification, counted, exact_bytes, exact_duration,
    format_bytes, format_duration,
};

use crate::workload::command::{option, working_name};
use crate::workload::described::Described;

impl Described for StreamSpec {
    fn heading(&self) -> &'static str {
        "Streams"
    }

    fn in_list(&self) -> String {
        let phases: Vec<&str> = self.phases.iter().map(|phase| phase.name()).collect();
        format!("stream, {}", phases.join(", "))
    }

    fn in_a_line(&self, clients: u32) -> String {
        let how = match self.engine {
            StreamEngine::Sync => format!("{} I/O", self.io),
            StreamEngine::IoUring => format!("{} I/O by io_uring, {} in flight", self.io, self.depth),
        };
        let mut parts = vec![
            self.in_list(),
            counted(u64::from(clients), "client", "clients"),
            format!(
                "each a file of {} in blocks of {}",
                format_bytes(self.file_bytes),
                format_bytes(self.block_bytes)
            ),
            how,
        ];
        parts.extend(self.copy_with.map(|with| format!("copied by {with}")));
        if let Some(limit) = self.time_limit_ns {
            parts.push(format!("phases of {}", format_duration(limit)));
        }
        parts.join(", ")
    }

    fn command(&self, run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let phases: Vec<&str> = self.phases.iter().map(|phase| phase.name()).collect();
        let mut words = [
            option("--phases", phases.join(",")),
            option("--file-size", exact_bytes(self.file_bytes)),
            option("--block", exact_bytes(self.block_bytes)),
            option("--clients", run.spec.clients),
            option("--io", self.io),
            option("--engine", self.engine),
            option("--depth", self.depth),
            option("--fsync", self.fsync),
        ]
        .concat();
        words.extend((self.allocation == Allocation::Before).then(|| "--preallocate".to_owned()));
        if self.compressible_percent > 0 {
            words.extend(option("--compressible", format!("{}%", self.compressible_percent)));
        }
        words.extend((self.verification == Verification::Content).then(|| "--verify".to_owned()));
        words.extend(self.copy_with.into_iter().flat_map(|with| option("--copy-with", with)));
        let limit = self.time_limit_ns.map(|limit| option("--time-limit", exact_duration(limit)));
        words.extend(limit.into_iter().flatten());
        words.extend(option("--on-hang", run.spec.on_hang));
        words.extend(option("--buffer", run.spec.ring_bytes));
        words.extend(working_name(run).into_iter().flat_map(|name| option("--working-name", name)));
        (&["bench", "stream"], words)
    }
}
