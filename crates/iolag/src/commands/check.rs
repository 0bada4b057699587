//! `iolag check`: how does this storage feel right now?

use iolag_analysis::{analyse_check, analyse_run};
use iolag_conduct::{
    CheckOptions, Checked, ExitCode, Failure, become_keeper, conduct_check, leave_current_directory,
    plan_check,
};
use iolag_model::{Clock, MonotonicClock};
use iolag_report::{CheckRows, check_text};

use crate::args::{Check, Common};
use crate::commands::runs::report::write_report_of;
use crate::commands::runs::show;
use crate::commands::{labels, store_of, trust, typed};
use crate::output::{self, Kept};
use crate::progress::Progress;

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Check, common: &Common) -> Result<ExitCode, Failure> {
    let end = MonotonicClock.now().after(options.budget);
    let plan = plan_check(planned(options)?, |name| std::env::var_os(name))?;
    let keeper = become_keeper(store_of(common), typed())?;
    output::refuse_lost_files(options.report.as_deref(), common)?;
    leave_current_directory();
    let checked = conduct_check(&plan, end, &keeper, &mut Progress::until(end, common))?;
    report(options, common, &checked)
}

fn planned(options: &Check) -> Result<CheckOptions, Failure> {
    let mut targets = options.targets.clone();
    trust(&mut targets, options.ca_file.as_deref())?;
    Ok(CheckOptions {
        targets,
        budget: options.budget,
        deadline: options.deadline,
        thresholds: options.thresholds.clone(),
        stream_bytes: options.stream_size,
        seed: options.run.seed,
        labels: labels(&options.run)?,
    })
}

fn report(options: &Check, common: &Common, checked: &Checked) -> Result<ExitCode, Failure> {
    let conducted = &checked.conducted;
    let stored = &conducted.stored;
    let analysis = analyse_check(&stored.record, &stored.summaries);
    let colour = output::colour(common, |name| std::env::var_os(name));
    let rows = if options.full { CheckRows::All } else { CheckRows::Known };
    let text = check_text(&analysis, rows, output::width(), colour);
    let delivered = output::deliver(common, &text, Kept::Run, || {
        show::json(&stored.record, &analyse_run(&stored.record, &stored.summaries))
    });
    output::tell_outcome(common, conducted);
    if let Some(path) = &options.report {
        write_report_of(std::slice::from_ref(&conducted.run), None, path, common)?;
    }
    let unmeasured = analysis.directories.iter().any(|directory| directory.summaries.is_empty());
    let code = checked.code(unmeasured);
    delivered.map_or_else(|failure| Err(failure.at_least(code)), |()| Ok(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::args::{Arguments, Command};

    #[test]
    fn what_is_not_said_on_the_command_line_is_what_a_plan_would_not_say() {
        let Command::Check(options) = Arguments::try_parse_from(["iolag", "check"]).unwrap().command else {
            panic!("it is a check")
        };
        assert_eq!(planned(&options).unwrap(), CheckOptions::default());
    }
}
