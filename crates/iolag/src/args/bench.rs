//! What the user can type of every bench.

use std::path::PathBuf;

use clap::Args;
use iolag_backend::Target;
use iolag_model::{CacheState, Nanoseconds, OnError, OnHang, Order, parse_bytes, parse_count};

use crate::args::history::parse_place_or_usual;
use crate::args::options::RunOptions;
use crate::args::values::form::MetadataForm;
use crate::args::values::target::TargetParser;
use crate::args::values::{
    Bystanders, parse_bystander, parse_caches, parse_file, parse_form, parse_on_error, parse_on_hang,
    parse_order, parse_period, parse_precision, parse_rate,
};

/// Where a bench measures, with how many clients.
#[derive(Debug, Args)]
pub struct BenchPlaces {
    /// A directory, of bench metadata also a server: s3://, postgres://, dav:// (or memory:, delayed:…:TARGET, faulty:…:TARGET)
    #[arg(value_name = "TARGET", required = true, value_parser = TargetParser)]
    pub targets: Vec<Target>,
    /// Clients per target; several numbers make a sweep
    #[arg(short = 'n', long, value_name = "N,…", default_value = "1", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_count)]
    pub clients: Vec<u64>,
}

/// What a bench is told besides its workload.
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Run everything this often [default: 1]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub repeat: Option<u64>,
    /// Or until the comparison of the targets is so precise: half of each interval, as in 5%; needs --budget
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = parse_precision)]
    pub precision: Option<f64>,
    /// How long that may take at most
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub budget: Option<Nanoseconds>,
    /// In which order: interleaved (A B, B A, so that what drifts hits all alike), random or sequential
    #[arg(long, value_name = "ORDER", default_value = "interleaved", value_parser = parse_order)]
    pub order: Order,
    /// After this long an operation counts as hung
    #[arg(long, value_name = "DURATION", default_value = "15s", allow_hyphen_values = true, value_parser = parse_period)]
    pub deadline: Nanoseconds,
    /// What a hung operation does to the run: wait, continue (with the other clients) or stop
    #[arg(long, value_name = "POLICY", default_value = "continue", value_parser = parse_on_hang)]
    pub on_hang: OnHang,
    /// What a request that fails, or is not answered in time, does to the run: it is counted (continue), or it ends it (stop)
    #[arg(long, value_name = "POLICY", default_value = "continue", value_parser = parse_on_error)]
    pub on_error: OnError,
    /// With --on-hang wait: go on without a client after this long [default: 1h]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub give_up_after: Option<Nanoseconds>,
    /// Shared memory for samples on their way to the store, at most [default: 256MiB; with more than 500 clients 128MiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub buffer: Option<u64>,
    /// What the page cache holds before each stage that is measured: asis, cold (dropped, and looked at) or warm (all read)
    #[arg(long, value_name = "STATE", default_value = "asis", value_parser = parse_caches)]
    pub caches: CacheState,
    /// A command for a shell that drops the caches of servers, executed each time the own ones are dropped
    #[arg(long, value_name = "COMMAND")]
    pub drop_command: Option<String>,
    /// Measure beside the load what everybody else feels: stat, list, open-read and create, or some of them; in its directory and on
    /// its file, in another directory, and in this machine's memory
    #[arg(long, value_name = "TASK,…", num_args = 0..=1, default_missing_value = "stat,list,open-read,create", value_parser = parse_bystander)]
    pub bystander: Option<Bystanders>,
    /// How often each of them is asked in each place [default: 10/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = parse_rate)]
    pub bystander_rate: Option<f64>,
    /// How long they measure before the load begins and after it has ended [default: 5s]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub bystander_quiet: Option<Nanoseconds>,
    /// Name of the working directory in the target
    #[arg(long, value_name = "NAME", default_value = "iolag-work")]
    pub working_name: String,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub campaign: CampaignArguments,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub run: RunOptions,
}

/// What a campaign is told besides what it does.
#[derive(Debug, Clone, Args)]
pub struct CampaignArguments {
    /// Go on with the campaign that this run belongs to, with the same options: what is complete is not measured again
    #[arg(long, value_name = "RUN")]
    pub resume: Option<String>,
    /// Explain the result in this HTML file
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub report: Option<PathBuf>,
    /// Let a history remember the results: a file on a local disk, postgres://USER@HOST/DATABASE, or default, that of `iolag watch`
    #[arg(long, value_name = "PATH|URL", value_parser = parse_place_or_usual)]
    pub history: Option<String>,
    /// Form of what is printed: text, csv or json; of bench metadata md-workbench, too
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = parse_form)]
    pub format: MetadataForm,
}
