//! What the user can type for plans.

use std::path::PathBuf;

use clap::Args;
use iolag_backend::Target;

use crate::args::bench::CampaignArguments;
use crate::args::options::Launch;
use crate::args::values::target::TargetParser;
use crate::args::values::{parse_file, parse_label};

/// `iolag run`.
#[derive(Debug, Args)]
pub struct RunPlan {
    /// A plan file; iolag plan shows ready-made ones
    #[arg(value_name = "PLAN", value_parser = parse_file)]
    pub plan: PathBuf,
    /// Where to measure, for sides whose target the plan leaves open
    #[arg(value_name = "TARGET", value_parser = TargetParser)]
    pub targets: Vec<Target>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub campaign: CampaignArguments,
    /// Attach a label to the runs
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = parse_label)]
    pub labels: Vec<(String, String)>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub launch: Launch,
}

/// `iolag plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// Print this plan [default: list them]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}
