//! The workloads, each with what is told of it: what it is called, the command that does it again, and what was found out.

mod answer;
pub(crate) mod beside;
mod check;
pub(crate) mod command;
mod described;
mod judged;
mod metadata;
mod once;
mod ping;
mod replay;
mod set_up;
mod stream;
mod trace;
mod tree;
pub(crate) mod worst;

pub(crate) use answer::Answer;
pub use check::text::{CheckRows, check_text};
pub(crate) use described::described;
pub use judged::run_text;
pub(crate) use judged::{Row, Verdict, judged};
pub use metadata::text::metadata_text;
pub(crate) use once::InCommon;
pub use once::{brief_text, common_text};
pub use ping::text::ping_text;
pub use replay::{all_void_sentence, coverage_refusal};
pub(crate) use stream::campaign::copy_matrices;
pub use stream::campaign::{StreamRun, streams_text};
pub(crate) use stream::matrix::CopyMatrix;
pub(crate) use trace::over_time::OverTime;
pub(crate) use trace::tables::TraceTable;
pub(crate) use trace::tree::{branch_name, whole_tree};
pub(crate) use worst::{Gravity, Worst};
