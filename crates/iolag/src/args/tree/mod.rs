//! What the user can type of `iolag bench tree`.

use clap::Args;
use iolag_model::{Nanoseconds, Phase, TreeSpec};

use crate::args::bench::{BenchArguments, BenchPlaces};
use crate::args::values::parse_period;
use crate::args::values::tree::parse_tree_phase;

/// `iolag bench tree`. What cannot be of a tree is understood, so as to be refused in a sentence, but not offered.
#[derive(Debug, Args)]
#[command(
    mut_arg("targets", |option| option.help("A directory (or delayed:…:TARGET, faulty:…:TARGET)")),
    mut_arg("bystander", |option| option.help(
        "Measure meanwhile what everybody else feels who looks at the tree: stat, list and open-read, or some of them; in the tree, and in this machine's memory",
    )),
    mut_arg("working_name", |option| option.hide(true)),
    mut_arg("caches", |option| option.help("What the page cache holds before the walk and before each phase: asis, or cold (dropped, and looked at)")),
    mut_arg("format", |option| option.help("Form of what is printed: text, csv or json"))
)]
pub struct Tree {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub places: BenchPlaces,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub reading: TreeReading,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub bench: BenchArguments,
}

/// What is done with a tree, as far as it was said.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct TreeReading {
    /// What to do with the files, in this order: stat (attributes of every name), sum (every file read and summed), combined (both, file by file)
    /// [default: stat,sum]
    #[arg(long, value_name = "PHASE,…", value_delimiter = ',', value_parser = parse_tree_phase)]
    pub phases: Option<Vec<Phase>>,
    /// End a phase with the first operation that ends after so long, the walk too
    #[arg(short = 'w', long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub time_limit: Option<Nanoseconds>,
}

impl TreeReading {
    /// What is not said is as usual.
    pub fn spec(&self) -> TreeSpec {
        TreeSpec {
            phases: self.phases.clone().unwrap_or(TreeSpec::default().phases),
            time_limit_ns: self.time_limit,
        }
    }
}
