//! What a check is to do, decided before anything is touched.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use iolag_backend::Target;
use iolag_model::{CheckSpec, Nanoseconds};
use iolag_workload::Workload;

use crate::contact::scout::absolute;
use crate::failure::Failure;

/// What is chosen, with its defaults: the one place of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckOptions {
    /// Where to measure, directories and servers; home, temporary and current directory if none is named.
    pub targets: Vec<Target>,
    /// Time for everything.
    pub budget: Nanoseconds,
    /// After this long without an answer a directory counts as not answering.
    pub deadline: Nanoseconds,
    /// Durations whose share of slower attempts is told.
    pub thresholds: Vec<Nanoseconds>,
    /// Bytes of the short stream.
    pub stream_bytes: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// What the user attaches.
    pub labels: Vec<(String, String)>,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            budget: Nanoseconds::from_seconds(45),
            deadline: Nanoseconds::from_seconds(15),
            thresholds: iolag_analysis::DEFAULT_THRESHOLDS.to_vec(),
            stream_bytes: 2 << 20,
            seed: 1,
            labels: Vec::new(),
        }
    }
}

/// Where the targets come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// The user named them.
    Named,
    /// Nobody did: one per file system stays.
    Default,
}

/// A check that is decided as far as it can be before its targets were looked at.
#[derive(Debug)]
pub struct PlannedCheck {
    pub(super) spec: CheckSpec,
    /// Directories absolute.
    pub(super) targets: Vec<Target>,
    pub(super) naming: Naming,
    pub(super) deadline: Nanoseconds,
    pub(super) seed: u64,
    pub(super) labels: Vec<(String, String)>,
}

/// Plans a check; `variable` reads the environment.
///
/// # Errors
/// If the options ask for what cannot be.
pub fn plan_check(
    options: CheckOptions,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PlannedCheck, Failure> {
    let naming = if options.targets.is_empty() { Naming::Default } else { Naming::Named };
    let given = match naming {
        Naming::Named => options.targets,
        Naming::Default => usual_directories(variable).into_iter().map(Target::from).collect(),
    };
    let whole = |target: Target| match target.directory() {
        Some(directory) => target.with_directory(&absolute(directory)),
        None => target,
    };
    let targets: Vec<Target> = given.into_iter().map(whole).collect();
    if let Some(refusal) = targets.iter().find_map(refuse_plain_web) {
        return Err(Failure::usage(refusal));
    }
    let spec = CheckSpec {
        budget_ns: options.budget,
        listed_files: 6,
        created_files: 500,
        stream_bytes: options.stream_bytes,
        block_bytes: options.stream_bytes.min(1 << 20),
        object_bytes: 3901,
        thresholds_ns: options.thresholds.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
        control: None,
    };
    spec.validate(targets.len() as u32).map_err(Failure::usage)?;
    let CheckOptions { deadline, seed, labels, .. } = options;
    Ok(PlannedCheck { spec, targets, naming, deadline, seed, labels })
}

/// What is on a plain web server cannot be listed: small objects that were made there could not be found again to be removed, and any
/// object that is there is of another size, with which nothing could be compared.
fn refuse_plain_web(target: &Target) -> Option<String> {
    let dav = match target.kind() {
        "http" => "dav",
        "https" => "davs",
        _ => return None,
    };
    let shown = target.to_string();
    let after = shown.trim_start_matches(target.kind());
    Some(format!(
        "cannot check {shown}: a plain web server does not list what is on it, so that small objects could not be made there and removed again; if it \
         speaks WebDAV, name it {dav}{after}"
    ))
}

/// Home, temporary and current directory.
fn usual_directories(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let temporary = set("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
    set("HOME").into_iter().chain([temporary, PathBuf::from(".")]).collect()
}
