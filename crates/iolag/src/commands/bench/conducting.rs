//! What every bench does, in one run or a campaign of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use iolag_analysis::analyse_run;
use iolag_analysis::compare::{CompareError, ComparedTable};
use iolag_backend::Target;
use iolag_conduct::{
    Attendant, BenchOptions, Campaign, CampaignAttendant, Conducted, CopyTo, Crew, ExitCode, Failure, Keeper,
    Limits, PlannedRun, Repeating, Side, Stored, bystander, compare_campaign, conduct_campaign,
    leave_current_directory, unit_of_stored,
};
use iolag_model::{BystanderTask, Detail, DetailKind, JobTerms, RunId, counted};
use iolag_report::{Tone, brief_text, comparison_text};

use crate::args::{BenchArguments, BenchPlaces, CampaignArguments, Common, HistoryPlace, MetadataForm};
use crate::commands::bench::campaign::{self, GoneOn, resume};
use crate::commands::history::access::Chosen;
use crate::commands::history::remember;
use crate::commands::labels;
use crate::commands::runs::report::write_report_of;
use crate::commands::runs::show;
use crate::look::Look;
use crate::output::{self, Kept};
use crate::progress::Progress;

/// Conducts a bench that was planned, and tells what came of it.
///
/// # Errors
/// If nothing can be measured.
pub fn conduct(
    mut campaign: Campaign,
    keeper: &Keeper,
    options: &CampaignArguments,
    common: &Common,
) -> Result<ExitCode, Failure> {
    output::refuse_lost_files(options.report.as_deref(), common)?;
    // While relative paths still mean what they did when it was typed.
    let history =
        options.history.as_deref().map(|place| Chosen::new(&HistoryPlace::named(place))).transpose()?;
    let needed: Vec<&Path> = history.as_ref().and_then(Chosen::file).into_iter().collect();
    output::refuse_needed_files(options.report.as_deref(), common, &needed)?;
    let (conductor, earlier, mut code) = match &options.resume {
        Some(name) => {
            let GoneOn { conductor, earlier, code } = resume(&mut campaign, name, common)?;
            (Some(conductor), earlier, code)
        }
        None => (None, Vec::new(), ExitCode::Fine),
    };
    history.as_ref().map_or(Ok(()), |history| remember::refuse_unusable(history, common))?;
    leave_current_directory();
    let mut telling = Telling { options, common, campaign: &campaign, told: 0 };
    // Where several runs have a table of their own at the end, they are in that.
    if !telling.has_table() {
        for (index, stored, _) in &earlier {
            code = code.max(telling.tell(&campaign.runs[*index], stored)?);
        }
    }
    let stored: Vec<_> = earlier.iter().map(|(index, stored, _)| (*index, stored)).collect();
    let end = conduct_campaign(&campaign, &stored, keeper, conductor, &mut telling)?;
    code = code.max(end.code);
    let done = end.conducted.iter().map(|(index, conducted)| (*index, &*conducted.stored, &conducted.run));
    let earlier = earlier.iter().map(|(index, stored, run)| (*index, stored, run));
    let mut done: Vec<_> = earlier.chain(done).collect();
    done.sort_by_key(|(index, _, _)| (campaign.runs[*index].number, campaign.runs[*index].repetition));
    let runs: Vec<(&PlannedRun, &Stored)> =
        done.iter().map(|(index, stored, _)| (&campaign.runs[*index], *stored)).collect();
    let told = campaign::told(&runs);
    let said: Vec<&[Detail]> = runs.iter().map(|(_, stored)| stored.details.as_slice()).collect();
    let text = match options.format {
        MetadataForm::Text if telling.has_table() => campaign::text(&told, Look::of_terminal(common)),
        // One document, also for several runs.
        MetadataForm::Json => String::from_utf8(campaign::json(&told, &said)?).map_err(Failure::bug)?,
        MetadataForm::Text => campaign::of_copies(&told).text(Look::of_terminal(common)),
        MetadataForm::MdWorkbench | MetadataForm::Csv => String::new(),
    };
    let units = runs.iter().map(|(planned, stored)| (*planned, unit_of_stored(stored)));
    let compared = compare_campaign(&campaign, units);
    let mut text = text + &comparison(compared.as_ref(), &runs, options, common);
    if telling.has_table() {
        text.push_str(&campaign::in_common(&told, Look::of_terminal(common)));
    }
    let delivered = output::deliver(common, &text, Kept::Run, || campaign::json(&told, &said));
    if let Some(history) = &history {
        let stored: Vec<&Stored> = runs.iter().map(|(_, stored)| *stored).collect();
        code = code.max(remember::conducted(history, &stored, common));
    }
    let reported = options.report.as_ref().map_or(Ok(()), |path| {
        let places: Vec<PathBuf> = done.iter().map(|(_, _, run)| (*run).clone()).collect();
        let compared = compared.as_ref().and_then(|compared| compared.as_ref().ok());
        write_report_of(&places, compared, path, common)
    });
    let first = runs.iter().map(|(_, stored)| &stored.record.id).min();
    if let (1.., Some(first), 2..) = (end.lacking, first, campaign.runs.len()) {
        output::notice(common, &how_to_go_on(end.lacking, &campaign, first));
    }
    delivered.and(reported).map_or_else(|failure| Err(failure.at_least(code)), |()| Ok(code))
}

/// As in `2 of 8 runs are lacking; the same command with --resume 20261128-101112-ab12 makes them`.
fn how_to_go_on(lacking: usize, campaign: &Campaign, run: &RunId) -> String {
    let all = counted(campaign.runs.len() as u64, "run", "runs");
    let (are, them) = if lacking == 1 { ("is", "it") } else { ("are", "them") };
    let at_most = campaign.options.repeat.at_most();
    format!("{lacking} of {at_most}{all} {are} lacking; the same command with --resume {run} makes {them}")
}

/// The end of a campaign of several sides: which of them is faster is what it was made for.
fn comparison(
    compared: Option<&Result<ComparedTable, CompareError>>,
    runs: &[(&PlannedRun, &Stored)],
    options: &CampaignArguments,
    common: &Common,
) -> String {
    // By a run that is there: that of which the campaign has its name may be removed.
    let first = runs.iter().map(|(_, stored)| &stored.record.id).min();
    let (Some(compared), Some(first)) = (compared, first) else {
        return String::new();
    };
    let again = format!("iolag compare campaign:{first}");
    let told = match compared {
        Err(error) => error.to_string(),
        Ok(table) if options.format == MetadataForm::Text => {
            let look = Look::of_terminal(common);
            output::notice(common, &format!("{again} --report FILE explains the comparison in a page"));
            return format!("\n{}", comparison_text(table, look.width, look.colour));
        }
        Ok(_) => format!("{again} says which is faster, and how sure that is"),
    };
    output::notice(common, &told);
    String::new()
}

/// What the system gives.
pub fn limits() -> Limits {
    Limits::read(Path::new("/proc"), Path::new("/sys/fs/cgroup"))
}

/// What was typed of a bench besides its workload.
///
/// # Errors
/// If a label is given twice, or what is said of repetitions does not go together.
pub fn planned(places: &BenchPlaces, options: &BenchArguments) -> Result<BenchOptions, Failure> {
    refuse_tasks_as_targets(places, options)?;
    Ok(BenchOptions {
        name: None,
        sides: places.targets.iter().cloned().map(Side::from).collect(),
        clients: places.clients.clone(),
        crew: Crew::Clients,
        repeat: Repeating::of(options.repeat, options.precision, options.budget)?,
        order: options.order,
        deadline: options.deadline,
        on_hang: options.on_hang,
        on_error: options.on_error,
        give_up_after: options.give_up_after,
        buffer_bytes: options.buffer,
        working_name: options.working_name.clone(),
        caches: options.caches,
        drop_command: options.drop_command.clone(),
        payload: None,
        bystander: bystander(
            options.bystander.clone().map(|asked| asked.0),
            options.bystander_rate,
            options.bystander_quiet,
        )?,
        copy_to: CopyTo::All,
        seed: options.run.seed,
        labels: labels(&options.run)?,
    })
}

/// `--bystander stat list` would measure in `list`.
fn refuse_tasks_as_targets(places: &BenchPlaces, options: &BenchArguments) -> Result<(), Failure> {
    let is_task = |target: &&Target| BystanderTask::ALL.iter().any(|task| task.name() == target.to_string());
    match places.targets.iter().find(is_task).filter(|_| options.bystander.is_some()) {
        Some(task) => Err(Failure::usage(format!(
            "{task} is what bystanders ask, and stands where a target is expected: write --bystander stat,{task} with a comma, or ./{task} if it is a directory"
        ))),
        None => Ok(()),
    }
}

/// What came back otherwise than it had, of a program that was repeated, how payloads failed, and what servers said of requests that did: as
/// sentences, each once.
fn tell_disagreements(stored: &Stored, common: &Common) {
    const TOLD_MAX: usize = 5;
    let runs_payloads = |terms: &JobTerms| terms.payload_command.is_some();
    let workload = &stored.record.spec.workload;
    let asks_servers = stored.record.targets.iter().any(|target| target.server.is_some());
    if workload.replay().is_none() && !workload.job_terms().is_some_and(runs_payloads) && !asks_servers {
        return;
    }
    let texts = stored.details.iter().filter(|detail| detail.kind == DetailKind::Message);
    let told: BTreeSet<&str> = texts.map(|detail| detail.text.as_str()).collect();
    told.into_iter().take(TOLD_MAX).for_each(|text| output::notice(common, text));
}

/// What the user is told while a campaign goes on.
struct Telling<'a> {
    options: &'a CampaignArguments,
    common: &'a Common,
    campaign: &'a Campaign,
    /// Runs that have been printed.
    told: usize,
}

impl Telling<'_> {
    /// Whether all runs stand side by side at the end.
    fn has_table(&self) -> bool {
        matches!(self.options.format, MetadataForm::Text) && campaign::has_table(self.campaign)
    }

    /// Prints a run, but in a document, which is printed at the end, as a whole.
    fn tell(&mut self, run: &PlannedRun, stored: &Stored) -> Result<ExitCode, Failure> {
        let form = self.options.format;
        if !output::prints_text(self.common) || form == MetadataForm::Json {
            return Ok(ExitCode::Fine);
        }
        let Stored { record, summaries, .. } = stored;
        let analysis = analyse_run(record, summaries);
        let look = Look::of_terminal(self.common);
        self.told += 1;
        // What it has in common with the others is told once, at the end.
        if self.has_table()
            && let Some(brief) = brief_text(record, &analysis, look.width, look.colour)
        {
            let title = format!("{} ({})", campaign::title(run), record.id);
            return Ok(output::print(&format!("{}\n{brief}\n", look.colour.paint(Tone::Strong, &title))));
        }
        let text = show::rendered(record, summaries, &analysis, form, look)?;
        Ok(match form {
            MetadataForm::Text if self.has_table() => {
                output::print(&format!("{}\n{text}\n", campaign::title(run)))
            }
            // One table, also for several runs: the names of its columns come once.
            MetadataForm::Csv if self.told > 1 => {
                output::print(text.split_once('\n').map_or("", |(_, rows)| rows))
            }
            _ => output::print(&text),
        })
    }
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

    fn ended(&mut self, run: &PlannedRun, conducted: &Conducted) -> Result<ExitCode, Failure> {
        if !conducted.unusable.is_empty() && conducted.stored.summaries.samples == 0 {
            let sentences: Vec<_> = conducted.unusable.iter().map(|(_, sentence)| sentence.clone()).collect();
            return Err(Failure::unusable(sentences.join("\niolag: ")));
        }
        let code = conducted.code.max(self.tell(run, &conducted.stored)?);
        tell_disagreements(&conducted.stored, self.common);
        output::tell_outcome(self.common, conducted);
        Ok(code)
    }
}
