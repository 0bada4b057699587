//! `iolag explain`: why is this place slow?

use iolag_analysis::explain;
use iolag_conduct::{ExitCode, Failure, absolute, become_keeper, conduct_explain, leave_current_directory};
use iolag_report::{explanation_text, write_explanation_json};

use crate::args::{Common, Explain};
use crate::commands::{store_of, typed};
use crate::output::{self, Kept};

/// Runs the command.
///
/// # Errors
/// If the directory cannot be looked at, or hangs.
pub fn run(options: &Explain, common: &Common) -> Result<ExitCode, Failure> {
    let directory = absolute(&options.directory);
    let keeper = become_keeper(store_of(common), typed())?;
    output::refuse_lost_document(common)?;
    leave_current_directory();
    output::notice(
        common,
        &format!("looking at {}: up to a minute, nothing is written", directory.display()),
    );
    let explained = explain(conduct_explain(&directory, options.deadline, &keeper)?);
    let text =
        explanation_text(&explained, output::width(), output::colour(common, |name| std::env::var_os(name)));
    output::deliver(common, &text, Kept::Sources, || {
        let mut document = Vec::new();
        write_explanation_json(&explained, &mut document)
            .map_err(|error| Failure::bug(format!("the explanation cannot be written as JSON: {error}")))?;
        Ok(document)
    })?;
    Ok(ExitCode::Fine)
}
