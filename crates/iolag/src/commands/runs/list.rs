//! `iolag list`: the stored runs.

use iolag_report::{list_text, write_list_json};

use crate::args::{Common, List};
use crate::commands::Located;
use crate::output::{self, Printed};
use iolag_conduct::{ExitCode, Failure};

/// Runs the command. A run that cannot be read is told, and by the exit code too; the others are listed all the same.
///
/// # Errors
/// If the store cannot be read.
pub fn run(_options: &List, common: &Common) -> Result<ExitCode, Failure> {
    let located = Located::of(common)?;
    let root = &located.root;
    let colour = output::colour(common, |name| std::env::var_os(name));
    output::with_store(root, common, || {
        let nothing = format!("no runs in {}; make one with: iolag check\n", root.display());
        if !root.is_dir() {
            let document = common.json.is_some().then(|| "[]\n".to_owned());
            return Ok(Printed { text: nothing, document, ..Printed::default() });
        }
        let (mut records, mut complaints) = (Vec::new(), Vec::new());
        for listed in located.open()?.list().map_err(Failure::unusable)? {
            match listed.record {
                Ok(record) => records.push(*record),
                Err(flaw) => complaints.push(flaw.sentence),
            }
        }
        let mut document = Vec::new();
        write_list_json(&records, &mut document).map_err(Failure::bug)?;
        let code = if complaints.is_empty() { ExitCode::Fine } else { ExitCode::Unusable };
        let text = match (records.len(), code) {
            (0, ExitCode::Fine) => nothing,
            (0, _) => String::new(),
            _ => list_text(&records, colour),
        };
        let document = common.json.is_some().then(|| String::from_utf8_lossy(&document).into_owned());
        Ok(Printed { text, document, complaints, code })
    })
}
