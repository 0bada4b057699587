//! Copies of streams: who makes them, and where to.

use std::sync::Arc;

use iolag_backend::{Copying, OtherPlace};
use iolag_model::{CopyWith, Nanoseconds, OnHang, Operation, Role, RunSpec, StreamSpec, Trust, WorkloadSpec};
use iolag_workload::{Cp, PROGRAM_GRACE};

use crate::bench::options::BenchOptions;
use crate::bench::sides::Side;
use crate::contact::scout::{Answer, ask};
use crate::failure::Failure;
use crate::messages::DirectoryFacts;

/// How long looking for a program may take.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(5);

/// Which target of a run that is where copies are made, if not where the files are.
pub(in crate::bench) const COPY_TARGET: u16 = 1;

/// The sides to which the files of one are copied, each in a run of its own: itself and the others, as far as they are plain directories that
/// no command makes. Nothing where that is no question: the copies are beside the files.
pub(in crate::bench) fn destinations<'a>(
    workload: &WorkloadSpec,
    from: &Side,
    sides: &'a [Side],
) -> Vec<Option<&'a Side>> {
    let is_plain = |side: &Side| {
        let is_directory = side.target.kind() == "posix";
        let is_as_it_is = side.before.is_none() && side.after.is_none();
        is_directory && is_as_it_is && sides.iter().filter(|other| other.target == side.target).count() == 1
    };
    let plain: Vec<&Side> = sides.iter().filter(|side| is_plain(side)).collect();
    let copies = workload.stream().is_some_and(StreamSpec::copies);
    match copies && is_plain(from) && plain.len() > 1 {
        true => plain.into_iter().map(Some).collect(),
        false => vec![None],
    }
}

/// What only files have, and a program that is not there.
pub(super) fn refuse_copies(options: &BenchOptions, spec: &StreamSpec) -> Result<(), Failure> {
    let Some(with) = spec.copy_with.filter(|with| *with != CopyWith::Loop && spec.copies()) else {
        return Ok(());
    };
    if let Some(side) = options.sides.iter().find(|side| side.target.directory().is_none()) {
        return Err(Failure::usage(format!(
            "--copy-with {with} is for directories, and {} is none: choose --copy-with loop, or name a directory",
            side.shown()
        )));
    }
    if with != CopyWith::Cp {
        return Ok(());
    }
    match ask("scout", PATIENCE, || find_cp().is_some())? {
        Answer::Given(true) => Ok(()),
        Answer::Given(false) => Err(Failure::usage(
            "there is no program cp in $PATH: choose --copy-with loop, or put its directory into $PATH",
        )),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "looking for cp in $PATH has not been answered for {age}: take what hangs out of $PATH, or choose --copy-with loop"
        ))),
    }
}

fn find_cp() -> Option<Cp> {
    Cp::find(&std::env::var_os("PATH").unwrap_or_default())
}

/// How sessions copy: to this place, if not beside the file.
pub(super) fn copying_with(with: CopyWith, to: Option<Arc<dyn OtherPlace>>) -> Copying {
    let program = find_cp().filter(|_| with == CopyWith::Cp).map(|cp| Arc::new(cp) as Arc<_>);
    Copying { program, to, ..Copying::new(with) }
}

/// How long a program may take: whoever waits for what hangs waits for that, too.
pub(super) fn longest(spec: &RunSpec) -> Nanoseconds {
    match spec.on_hang {
        OnHang::Wait => Nanoseconds(u64::MAX),
        OnHang::Continue | OnHang::Stop => {
            let deadline = spec.deadlines_of(Role::Load).of(Operation::StreamCp);
            Nanoseconds(deadline.0.saturating_sub(PROGRAM_GRACE.0))
        }
    }
}

/// That the kernel did not copy by itself.
pub(super) fn refused(copying: &Copying) -> Option<Trust> {
    let code = copying.refused.get()?;
    let why = match code.errno() {
        Some(libc::EXDEV) => ", which lie on two file systems".to_owned(),
        _ => format!(" ({code})"),
    };
    Some(Trust {
        doubt: format!(
            "the kernel does not copy between these files{why}: reading and writing (loop) did the work of copy_file_range"
        ),
        advice: "choose --copy-with loop, or targets between which it does, on one file system as a rule"
            .to_owned(),
    })
}

/// That the files of a run and their copies lie on one file system.
pub(in crate::bench) fn on_one_file_system(
    here: Option<&DirectoryFacts>,
    there: Option<&DirectoryFacts>,
) -> Option<Trust> {
    let (here, there) = (here?, there?);
    are_one(here, there).then(|| Trust {
        doubt: format!(
            "{} and {} lie on one file system: what is copied from the one to the other does not leave it",
            here.path.display(),
            there.path.display()
        ),
        advice: "copy to a directory on another file system to learn how fast that is".to_owned(),
    })
}

pub(in crate::bench) fn are_one(here: &DirectoryFacts, there: &DirectoryFacts) -> bool {
    let device = here.file_system.device_number();
    device.is_some() && device == there.file_system.device_number()
}
