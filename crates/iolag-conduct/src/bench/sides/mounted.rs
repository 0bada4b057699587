//! Where the targets of a campaign lay when they were first measured. What is not mounted any more is not measured on the file system beneath it.

use std::collections::BTreeMap;

use iolag_model::{TargetRecord, one_line};

use super::{Afterwards, Side, Undone};
use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// The mount point of each target, by the side, whose commands may mount it, and its name.
#[derive(Debug, Default)]
pub(in crate::bench) struct SeenMounts(BTreeMap<(String, String), String>);

impl SeenMounts {
    /// The targets of a run on this side lie where they did when they were first seen.
    ///
    /// # Errors
    /// If one lies elsewhere: then the campaign ends, since it would compare what is not the same.
    pub(in crate::bench) fn refuse_elsewhere(
        &mut self,
        side: &Side,
        targets: &[TargetRecord],
    ) -> Result<(), Undone> {
        for target in targets {
            let Some(now) = &target.file_system else { continue };
            let seen = self.0.entry((side.coordinate(), target.name.clone()));
            let seen = seen.or_insert_with(|| now.mount_point.clone());
            if *seen != now.mount_point {
                let [name, seen, there] = [&target.name, &*seen, &now.mount_point].map(|text| one_line(text));
                let sentence = format!(
                    "{name} was measured on what is mounted on {seen}, and now lies on what is mounted on {there} ({}): nothing was made there; \
                     mount the same again, then go on",
                    one_line(&now.kind)
                );
                let failure = Failure { code: ExitCode::Incomplete, sentence };
                return Err(Undone { failure, afterwards: Afterwards::Unknown });
            }
        }
        Ok(())
    }
}
