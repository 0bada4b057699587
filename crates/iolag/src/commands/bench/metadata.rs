//! `iolag bench metadata`: the workload of md-workbench, in one run or a campaign of them.

use std::path::{Path, PathBuf};

use iolag_conduct::{
    Attendant, BenchOptions, Campaign, CampaignAttendant, Conducted, ExitCode, Failure, Limits, PlannedRun,
    Stored, become_keeper, conduct_campaign, leave_current_directory, plan_metadata,
};
use iolag_model::{Access, Durability, Verification, WearOut};
use iolag_workload::MetadataOptions;

use crate::args::{Common, Metadata, MetadataForm};
use crate::commands::bench::campaign::{self, resume};
use crate::commands::runs::report::write_report_of;
use crate::commands::runs::show;
use crate::commands::{labels, store_of, typed};
use crate::look::Look;
use crate::output;
use crate::progress::Progress;

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Metadata, common: &Common) -> Result<ExitCode, Failure> {
    let limits = Limits::read(Path::new("/proc"), Path::new("/sys/fs/cgroup"));
    let mut campaign = plan_metadata(bench(options)?, &metadata(options), &limits)?;
    let keeper = become_keeper(store_of(common), typed())?;
    output::refuse_lost_document(common)?;
    output::refuse_lost_report(options.report.as_deref())?;
    let earlier = match &options.resume {
        Some(name) => resume(&mut campaign, name, common)?,
        None => Vec::new(),
    };
    leave_current_directory();
    let mut telling = Telling { options, common, campaign: &campaign };
    let end = conduct_campaign(&campaign, &keeper, &mut telling)?;
    let done = end.conducted.iter().map(|(index, conducted)| (*index, &*conducted.stored, &conducted.run));
    let earlier = earlier.iter().map(|(index, stored, run)| (*index, stored, run));
    let mut done: Vec<_> = earlier.chain(done).collect();
    done.sort_by_key(|(index, _, _)| *index);
    let runs: Vec<(&PlannedRun, &Stored)> =
        done.iter().map(|(index, stored, _)| (&campaign.runs[*index], *stored)).collect();
    let text = match options.format {
        MetadataForm::Text if campaign.runs.len() > 1 => campaign::text(&runs, Look::of_terminal(common)),
        // One document, also for several runs.
        MetadataForm::Json => String::from_utf8(campaign::json(&runs)?).map_err(Failure::bug)?,
        MetadataForm::Text | MetadataForm::MdWorkbench | MetadataForm::Csv => String::new(),
    };
    let delivered = output::deliver(common, &text, || campaign::json(&runs));
    if let Some(path) = &options.report {
        let runs: Vec<PathBuf> = done.iter().map(|(_, _, run)| (*run).clone()).collect();
        write_report_of(&runs, path, common)?;
    }
    delivered.map_or_else(|failure| Err(failure.at_least(end.code)), |()| Ok(end.code))
}

fn bench(options: &Metadata) -> Result<BenchOptions, Failure> {
    Ok(BenchOptions {
        targets: options.targets.clone(),
        clients: options.clients.clone(),
        repeat: options.repeat,
        deadline: options.deadline,
        on_hang: options.on_hang,
        give_up_after: options.give_up_after,
        buffer_bytes: options.buffer,
        working_name: options.working_name.clone(),
        seed: options.run.seed,
        labels: labels(&options.run)?,
    })
}

fn metadata(options: &Metadata) -> MetadataOptions {
    MetadataOptions {
        pattern: options.pattern,
        granularity: options.detail,
        phases: options.phases.clone(),
        datasets: options.datasets,
        precreated_objects: options.precreate.clone(),
        objects: options.objects,
        iterations: options.iterations,
        object_bytes: options.object_size,
        offset: options.offset,
        think: options.think,
        access: if options.read_only { Access::ReadOnly } else { Access::Replace },
        time_limit: options.time_limit,
        wear_out: if options.wear_out { WearOut::Equalise } else { WearOut::Stop },
        durability: if options.fsync { Durability::Fsync } else { Durability::Default },
        verification: if options.verify { Verification::Content } else { Verification::Length },
    }
}

/// What the user is told while a campaign goes on.
struct Telling<'a> {
    options: &'a Metadata,
    common: &'a Common,
    campaign: &'a Campaign,
}

impl CampaignAttendant for Telling<'_> {
    fn say(&mut self, sentence: &str) {
        output::notice(self.common, sentence);
    }

    fn failed(&mut self, failure: &Failure) {
        output::complain(&failure.sentence);
    }

    fn attendant(&mut self, _run: &PlannedRun) -> Box<dyn Attendant> {
        Box::new(Progress::of_bench(self.campaign.options.working_name.clone(), self.common))
    }

    /// Prints the run.
    fn ended(&mut self, number: usize, run: &PlannedRun, conducted: &Conducted) -> Result<ExitCode, Failure> {
        let stored = &conducted.stored;
        if !conducted.unusable.is_empty() && stored.summaries.samples == 0 {
            let sentences: Vec<_> = conducted.unusable.iter().map(|(_, sentence)| sentence.clone()).collect();
            return Err(Failure::unusable(sentences.join("\niolag: ")));
        }
        let form = self.options.format;
        let mut code = conducted.code;
        // A document is printed at the end, as a whole.
        if output::prints_text(self.common) && form != MetadataForm::Json {
            let look = Look::of_terminal(self.common);
            let text = show::rendered(&stored.record, &stored.summaries, form, look)?;
            code = code.max(match form {
                MetadataForm::Text if self.campaign.runs.len() > 1 => {
                    output::print(&format!("{}\n{text}\n", campaign::title(run)))
                }
                // One table, also for several runs: the names of its columns come once.
                MetadataForm::Csv if number > 0 => {
                    output::print(text.split_once('\n').map_or("", |(_, rows)| rows))
                }
                _ => output::print(&text),
            });
        }
        output::tell_outcome(self.common, conducted);
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::args::{Arguments, Bench, Command};

    #[test]
    fn what_is_not_said_on_the_command_line_is_what_a_plan_would_not_say() {
        let arguments = Arguments::try_parse_from(["iolag", "bench", "metadata", "memory:"]).unwrap();
        let Command::Bench { bench: Bench::Metadata(options) } = arguments.command else {
            panic!("it is a bench")
        };
        let targets = options.targets.clone();
        assert_eq!(bench(&options).unwrap(), BenchOptions { targets, ..BenchOptions::default() });
        assert_eq!(metadata(&options), MetadataOptions::default());
    }
}
