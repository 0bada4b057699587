//! What the user can type of a metadata bench.

use std::path::PathBuf;

use clap::Args;
use iolag_model::{
    Access, Connections, Durability, Granularity, Nanoseconds, Pattern, Phase, Verification, WearOut,
    parse_bytes, parse_count,
};
use iolag_workload::MetadataOptions;

use crate::args::bench::{BenchArguments, BenchPlaces};
use crate::args::values::{
    parse_file, parse_granularity, parse_pattern, parse_period, parse_phase, parse_session, parse_think,
};

/// `iolag bench metadata`.
#[derive(Debug, Args)]
pub struct Metadata {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub places: BenchPlaces,
    /// D: datasets (directories) per client
    #[arg(short = 'D', long, value_name = "COUNT", default_value = "10", allow_hyphen_values = true, value_parser = parse_count)]
    pub datasets: u64,
    /// P: objects precreated per dataset; several numbers make a sweep
    #[arg(short = 'P', long, value_name = "COUNT,…", default_value = "3000", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_count)]
    pub precreate: Vec<u64>,
    /// I: objects per dataset and iteration
    #[arg(short = 'I', long, value_name = "COUNT", default_value = "1000", allow_hyphen_values = true, value_parser = parse_count)]
    pub objects: u64,
    /// R: iterations of the benchmark phase
    #[arg(short = 'R', long, value_name = "COUNT", default_value = "3", allow_hyphen_values = true, value_parser = parse_count)]
    pub iterations: u64,
    /// S: size of an object
    #[arg(short = 'S', long, value_name = "SIZE", default_value = "3901", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub object_size: u64,
    /// O: distance to the client whose objects are read [default: 1, since all clients are on one node]
    #[arg(short = 'O', long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub offset: Option<u64>,
    /// Access pattern: code (md-workbench), paper, or batch (mdtest's school)
    #[arg(long, value_name = "NAME", default_value = "code", value_parser = parse_pattern)]
    pub pattern: Pattern,
    /// What a sample is: operations (bounds of md-workbench) or calls (single system calls)
    #[arg(long, value_name = "NAME", default_value = "operations", value_parser = parse_granularity)]
    pub detail: Granularity,
    /// Which phases to run: precreate, benchmark, cleanup
    #[arg(long, value_name = "PHASE,…", default_value = "precreate,benchmark,cleanup", value_delimiter = ',', value_parser = parse_phase)]
    pub phases: Vec<Phase>,
    /// Pause after every operation: a factor of its time (0.5x) or a duration (10ms)
    #[arg(long, value_name = "TIME", default_value = "0", allow_hyphen_values = true, value_parser = parse_think)]
    pub think: iolag_model::Think,
    /// Stat and read only
    #[arg(long)]
    pub read_only: bool,
    /// End an iteration after this long
    #[arg(short = 'w', long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub time_limit: Option<Nanoseconds>,
    /// At the time limit, let every client do as much as the fastest had done
    #[arg(short = 'W', long, requires = "time_limit")]
    pub wear_out: bool,
    /// fsync created objects, within the operation
    #[arg(long)]
    pub fsync: bool,
    /// Compare what is read with what was written, outside the timing
    #[arg(long)]
    pub verify: bool,
    /// Connections to a server: reuse keeps them, fresh makes one for each request; both are measured
    #[arg(long, value_name = "NAME,…", default_value = "reuse", value_delimiter = ',', value_parser = parse_session)]
    pub session: Vec<Connections>,
    /// Trust servers for which an authority in this file vouches (PEM), and no others
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub ca_file: Option<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub bench: BenchArguments,
}

impl Metadata {
    /// What is asked of the workload.
    pub fn workload(&self) -> MetadataOptions {
        MetadataOptions {
            pattern: self.pattern,
            granularity: self.detail,
            phases: self.phases.clone(),
            datasets: self.datasets,
            precreated_objects: self.precreate.clone(),
            objects: self.objects,
            iterations: self.iterations,
            object_bytes: self.object_size,
            offset: self.offset,
            think: self.think,
            access: if self.read_only { Access::ReadOnly } else { Access::Replace },
            time_limit: self.time_limit,
            wear_out: if self.wear_out { WearOut::Equalise } else { WearOut::Stop },
            durability: if self.fsync { Durability::Fsync } else { Durability::Default },
            verification: if self.verify { Verification::Content } else { Verification::Length },
            connections: self.session.clone(),
        }
    }
}
