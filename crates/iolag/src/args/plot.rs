//! What the user can type of figures of runs and histories.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use iolag_analysis::RunQuantity;
use iolag_model::{Operation, Phase};
use iolag_report::{FigureKind, FigurePreset};

use crate::args::compare::parse_same_within;
use crate::args::copies::{CopiesAsked, only_told};
use crate::args::history::{CorrelationMethod, HISTORY, HistorySpan};
use crate::args::values::{parse_any_phase, parse_clients, parse_file, parse_operation};

/// `iolag plot`.
#[derive(Debug, Args)]
#[command(mut_arg("payload", only_told))]
pub struct Plot {
    #[expect(missing_docs, reason = "its help is made from the list of kinds")]
    #[arg(value_name = "KIND", required_unless_present = "figure", help = FigureKind::list_in_words())]
    pub kind: Option<String>,
    /// Runs: ids, parts of ids that no other has, `last`, or paths; several are overlaid, over time in panels of their own; or
    /// `history` for what was watched; of `compare` sides, as `iolag compare` takes them [default: last]
    #[arg(value_name = "RUN")]
    pub sources: Vec<String>,
    /// The file to write: its name ends in .svg (text as outlines, fit for PDF) or .png
    #[arg(short, long, value_name = "FILE", required = true, value_parser = parse_file)]
    pub output: PathBuf,
    #[expect(missing_docs, reason = "its help is made from the list of figures")]
    #[arg(long, value_name = "NAME", help = figures())]
    pub figure: Option<String>,
    /// Width and height, in mm or px
    #[arg(long, value_name = "WxHmm|WxHpx", default_value = "160x100mm")]
    pub size: String,
    /// Only these targets, by their names in the tables
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub targets: Vec<String>,
    /// Of runs: only these operations, by their names in the tables
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = parse_operation)]
    pub operations: Vec<Operation>,
    /// Of runs: only these phases; of sides these, too
    #[arg(long, value_name = "PHASE,…", value_delimiter = ',', value_parser = parse_any_phase)]
    pub phases: Vec<Phase>,
    /// Of runs: only these clients, as 0-3 or 0,2-3; up to 16 have a panel each in a time line
    #[arg(long, value_name = "N-M,…", value_delimiter = ',', value_parser = parse_clients)]
    pub clients: Vec<RangeInclusive<u32>>,
    /// Of the history: only these tasks, or parts of tasks as in 'list: ls -n' [default: whole tasks]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub tasks: Vec<String>,
    /// Of sides: what of the runs is compared: rate, median, p95 or over:DURATION
    #[arg(long, value_name = "VALUE")]
    pub value: Option<RunQuantity>,
    /// Of sides of a history: only benchmarks of this workload, such as metadata or check
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Of sides: call them the same if they differ by less than this [default: 5%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = parse_same_within)]
    pub same_within: Option<f64>,
    /// Of sides: pool runs that differ in these labels or coordinates
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    pub across: Vec<String>,
    /// Of the history, in a heat map: the longest attempt of each hour instead of the median
    #[arg(long)]
    pub longest: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub asked: CopiesAsked,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub correlations: CorrelationMethod,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub span: HistorySpan,
}

fn figures() -> String {
    format!(
        "A figure of a study instead of a kind, of the {HISTORY}, of sides or of metadata runs: {}",
        FigurePreset::list_in_words()
    )
}

impl Plot {
    /// The first option for the history that was given, as it is written.
    pub fn given_of_history(&self) -> Option<&'static str> {
        let own = [(!self.tasks.is_empty(), "--tasks"), (self.longest, "--longest")];
        let own = own.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option);
        own.or(self.correlations.given()).or(self.span.given())
    }

    /// The first option that was given and is for anything but sides.
    pub fn given_not_of_sides(&self) -> Option<&'static str> {
        let own = [
            (!self.targets.is_empty(), "--targets"),
            (!self.operations.is_empty(), "--operations"),
            (!self.clients.is_empty(), "--clients"),
            (!self.tasks.is_empty(), "--tasks"),
            (self.longest, "--longest"),
        ];
        let own = own.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option);
        own.or(self.correlations.given())
    }

    /// The first option that was given and is for sides alone.
    pub fn given_of_sides(&self) -> Option<&'static str> {
        let own = [
            (self.value.is_some(), "--value"),
            (self.workload.is_some(), "--workload"),
            (self.same_within.is_some(), "--same-within"),
            (!self.across.is_empty(), "--across"),
        ];
        own.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// The first option for runs that was given.
    pub fn given_of_runs(&self) -> Option<&'static str> {
        let own = [
            (!self.operations.is_empty(), "--operations"),
            (!self.phases.is_empty(), "--phases"),
            (!self.clients.is_empty(), "--clients"),
        ];
        own.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}
