//! What a report asks a workload. Each answers in its own folder.

use iolag_model::{RunRecord, WorkloadSpec, whatever_workload};

/// What a report says of a workload.
pub(crate) trait Described {
    /// What a page on one run is about, in front of ` on HOST`.
    fn heading(&self) -> &'static str;

    /// The same, with what is special about it.
    fn title(&self) -> String {
        self.heading().to_owned()
    }

    /// In a list of runs.
    fn in_list(&self) -> String;

    /// What was done, in a line, by so many clients.
    fn in_a_line(&self, clients: u32) -> String;

    /// The words that say of what and where, of a run on these targets.
    fn places(&self, targets: &[String]) -> Vec<String> {
        targets.to_vec()
    }

    /// The words of its command, and then, behind those of its places, its options, defaults included: they may change.
    fn command(&self, run: &RunRecord) -> (&'static [&'static str], Vec<String>);
}

/// The workload that a spec describes.
pub(crate) const fn described(spec: &WorkloadSpec) -> &dyn Described {
    whatever_workload!(spec, spec => spec)
}
