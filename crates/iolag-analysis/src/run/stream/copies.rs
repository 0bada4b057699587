//! Whether copies are copies: a clone shares its blocks with the file, and nothing was moved.

use iolag_model::{CopyWith, Operation, Phase, RunRecord, StreamSpec, Trust, format_bytes};
use serde::Serialize;

use crate::run::summary::{Summaries, Summary};

/// The file system of memory, which has no clones.
const TMPFS: &str = "tmpfs";

/// What is known of the copies of all clients, as they were at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StreamCopies {
    /// Who made them.
    pub with: CopyWith,
    /// Bytes of them that lie in blocks which another file has, too; absent where the file system does not tell.
    pub shared_bytes: Option<u64>,
}

impl StreamCopies {
    /// Of a run in which something was copied.
    pub(super) fn of(spec: &StreamSpec, summaries: &Summaries) -> Option<Self> {
        let of_copies = |one: &&Summary| one.key.operation == Operation::CopyShared;
        let looked: Vec<&Summary> = summaries.summaries.iter().filter(of_copies).collect();
        // Of some clients is not of all.
        let is_told = |one: &&Summary| one.succeeded() > 0 && one.errors.is_empty();
        // What was written over after it was copied shares nothing any more, whatever it did before.
        let writes = |phase: &Phase| matches!(phase, Phase::Write | Phase::Rewrite | Phase::RandomWrite);
        let last_copy = spec.phases.iter().rposition(|phase| *phase == Phase::Copy).unwrap_or_default();
        let is_written_over = spec.phases[last_copy..].iter().any(writes);
        let is_all_told = !looked.is_empty() && !is_written_over && looked.iter().all(is_told);
        let shared_bytes = is_all_told.then(|| looked.iter().map(|one| one.bytes).sum());
        spec.copy_with.map(|with| Self { with, shared_bytes })
    }

    /// Whether those of a run are clones; nothing without copies, or where nobody can tell.
    pub(in crate::run) fn are_clones_in(run: &RunRecord, summaries: &Summaries) -> Option<bool> {
        let copies = Self::of(run.spec.workload.stream()?, summaries)?;
        copies.shared_bytes.map(|_| copies.are_clones())
    }

    /// Whether they are clones, in a part at least.
    pub const fn are_clones(&self) -> bool {
        matches!(self.shared_bytes, Some(1..))
    }

    /// A doubt about what was not moved.
    pub(super) fn trust(self) -> Option<Trust> {
        let shared = self.shared_bytes.filter(|shared| *shared > 0)?;
        Some(Trust {
            doubt: format!(
                "the copy is a clone: {} of it are blocks that both files share, so that nothing of them was copied",
                format_bytes(shared)
            ),
            advice: match self.with {
                CopyWith::Loop => "the file system finds what is the same by itself; copy to another one",
                CopyWith::CopyFileRange | CopyWith::Cp => {
                    "copy with --copy-with loop, or to another file system, to learn how fast bytes are moved"
                }
            }
            .to_owned(),
        })
    }

    /// That nobody knows it, where there might be clones.
    pub(super) fn footnote(self, run: &RunRecord) -> Option<String> {
        // Between two file systems there are none.
        let place = run.targets.first().filter(|_| run.spec.targets.len() == 1)?.file_system.as_ref()?;
        let may_be = self.with != CopyWith::Loop && place.kind != TMPFS;
        (self.shared_bytes.is_none() && may_be).then(|| {
            format!(
                "Whether the copy is a clone, which shares its blocks with the file, is not known: {} does not tell, or the file was written over \
                 afterwards.",
                place.kind
            )
        })
    }
}
