//! What the user can type of a metadata bench.

use std::path::PathBuf;

use clap::Args;
use iolag_backend::Target;
use iolag_model::{
    Access, Durability, Granularity, Nanoseconds, OnHang, Pattern, Phase, Verification, WearOut, parse_bytes,
    parse_count,
};

use crate::args::form::MetadataForm;
use iolag_workload::MetadataOptions;

use crate::args::options::RunOptions;
use crate::args::target::TargetParser;
use crate::args::values::{
    parse_file, parse_form, parse_granularity, parse_on_hang, parse_pattern, parse_period, parse_phase,
    parse_think,
};

/// `iolag bench metadata`.
#[derive(Debug, Args)]
pub struct Metadata {
    /// A directory (or memory:, delayed:…:TARGET, faulty:…:TARGET)
    #[arg(value_name = "TARGET", required = true, value_parser = TargetParser)]
    pub targets: Vec<Target>,
    /// Clients per target; several numbers make a sweep
    #[arg(short = 'n', long, value_name = "N,…", default_value = "1", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_count)]
    pub clients: Vec<u64>,
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
    /// Run everything this often
    #[arg(long, value_name = "COUNT", default_value = "1", allow_hyphen_values = true, value_parser = parse_count)]
    pub repeat: u64,
    /// Go on with the campaign that this run belongs to, with the same options: what is complete is not measured again
    #[arg(long, value_name = "RUN")]
    pub resume: Option<String>,
    /// After this long an operation counts as hung
    #[arg(long, value_name = "DURATION", default_value = "15s", allow_hyphen_values = true, value_parser = parse_period)]
    pub deadline: Nanoseconds,
    /// What a hung operation does to the run: wait, continue (with the other clients) or stop
    #[arg(long, value_name = "POLICY", default_value = "continue", value_parser = parse_on_hang)]
    pub on_hang: OnHang,
    /// With --on-hang wait: go on without a client after this long [default: 1h]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub give_up_after: Option<Nanoseconds>,
    /// Shared memory for samples on their way to the store, at most [default: 256MiB; with more than 500 clients 128MiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub buffer: Option<u64>,
    /// Name of the working directory in the target
    #[arg(long, value_name = "NAME", default_value = "iolag-work")]
    pub working_name: String,
    /// Explain the result in this HTML file
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub report: Option<PathBuf>,
    /// Form of what is printed: text, md-workbench, csv or json
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = parse_form)]
    pub format: MetadataForm,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub run: RunOptions,
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
        }
    }
}
