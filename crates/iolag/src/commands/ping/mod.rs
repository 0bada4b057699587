//! `iolag ping`: one line per probe, live, and a summary at the end; a run like any other.

mod attending;
mod following;
mod json_lines;
mod outputs;
mod telling;

use iolag_analysis::{PingAnalysis, analyse_ping};
use iolag_conduct::{
    Conducted, ExitCode, Failure, Keeper, PingAttendant, PingFlight, PingOptions, PlannedPing, become_keeper,
    conduct_ping, leave_current_directory, plan_ping,
};
use iolag_keeper::Signals;
use iolag_model::RunState;
use iolag_report::ping_text;
use iolag_workload::PingSchedule;

use self::attending::Attending;
use self::json_lines::{JsonLines, Line, Written};
use self::outputs::Outputs;
use crate::announcing::probes_in_words;
use crate::args::{Common, Ping};
use crate::commands::runs::figures;
use crate::commands::watch::terminal::Lines;
use crate::commands::{labels, store_of, typed};
use crate::output;

/// Runs the command.
///
/// # Errors
/// If the directory cannot be measured.
pub fn run(options: &Ping, common: &Common) -> Result<ExitCode, Failure> {
    let plan = plan_ping(planned(options)?, |name| std::env::var_os(name))?;
    match &options.plot {
        Some(Some(figure)) => drop(figures::form_of(figure)?),
        Some(None) if !output::prints_text(common) => {
            return Err(Failure::usage(
                "--json - and --plot would both write to standard output: name a file for one of them, as in --plot=probes.svg",
            ));
        }
        _ => {}
    }
    let keeper = become_keeper(store_of(common), typed())?;
    output::refuse_lost_document(common)?;
    leave_current_directory();
    let (conducted, attending) = conduct_ping(&plan, &keeper, &mut Telling { plan: &plan, common })?;
    Pinged { options, common, keeper: &keeper }.report(&conducted, attending.into_json())
}

fn planned(options: &Ping) -> Result<PingOptions, Failure> {
    Ok(PingOptions {
        directory: options.directory.clone(),
        every: options.every,
        count: options.count,
        deadline: options.deadline,
        task: options.task.clone(),
        seed: options.run.seed,
        labels: labels(&options.run)?,
    })
}

/// What a ping tells its user.
struct Telling<'a> {
    plan: &'a PlannedPing,
    common: &'a Common,
}

impl PingAttendant for Telling<'_> {
    type Probes = Attending;

    fn notice(&mut self, sentence: &str) {
        output::notice(self.common, sentence);
    }

    fn complain(&mut self, sentence: &str) {
        output::complain(sentence);
    }

    fn begin(&mut self, schedule: PingSchedule, flight: PingFlight) -> Result<Attending, Failure> {
        let outputs = Outputs {
            announced: (!self.common.quiet).then(|| probes_in_words(self.plan)),
            text: output::prints_text(self.common).then(|| Lines::to(std::io::stdout())),
            json: match self.common.json.as_deref() {
                None => None,
                Some(path) if output::is_standard_output(path) => Some(JsonLines::to_standard_output()?),
                Some(path) => Some(JsonLines::to_file(path)?),
            },
        };
        Ok(Attending::new(schedule, flight, Signals::block_stop()?, outputs))
    }
}

/// A ping that has ended.
struct Pinged<'a> {
    options: &'a Ping,
    common: &'a Common,
    keeper: &'a Keeper,
}

impl Pinged<'_> {
    fn report(&self, conducted: &Conducted, json: Option<JsonLines>) -> Result<ExitCode, Failure> {
        let stored = &conducted.stored;
        let analysis = analyse_ping(&stored.record, &stored.summaries);
        if analysis.probes.due == 0 && !conducted.unusable.is_empty() {
            let sentences: Vec<_> = conducted.unusable.iter().map(|(_, sentence)| sentence.clone()).collect();
            return Err(Failure::unusable(sentences.join("\niolag: ")));
        }
        let mut code = self.code(conducted, &analysis);
        if output::prints_text(self.common) {
            let colour = output::colour(self.common, |name| std::env::var_os(name));
            let text = ping_text(&analysis, output::width(), colour);
            code = code.max(output::print(&format!("\n{text}")));
        }
        if let (RunState::Incomplete { reason }, true) = (&stored.record.state, conducted.unusable.is_empty())
        {
            output::complain(&format!("the run is incomplete: {reason}"));
        }
        output::tell_outcome(self.common, conducted);
        if let Some(json) = json {
            self.finish_json(json, conducted, &analysis).map_err(|failure| failure.at_least(code))?;
        }
        if let Some(plot) = &self.options.plot {
            figures::draw_time_line(&conducted.run, plot.as_deref(), self.common)?;
        }
        Ok(code)
    }

    fn finish_json(
        &self,
        mut json: JsonLines,
        conducted: &Conducted,
        analysis: &PingAnalysis,
    ) -> Result<(), Failure> {
        let record = &conducted.stored.record;
        json.line(&Line::Summary {
            run: &record.id,
            target: &analysis.target,
            state: &record.state,
            probes: analysis.probes,
            lost: analysis.probes.lost(),
            summaries: &analysis.summaries,
        });
        match json.finish(|| self.keeper.signals.next().is_some()) {
            Written::All => Ok(()),
            Written::Not(sentence) => Err(Failure::unusable(sentence)),
        }
    }

    /// Whether all that was wanted was measured comes before what was found.
    fn code(&self, conducted: &Conducted, analysis: &PingAnalysis) -> ExitCode {
        let probes = analysis.probes;
        let is_whole = match self.options.count {
            Some(count) => probes.due.saturating_sub(probes.interrupted) >= count,
            None => true,
        };
        let was_told = conducted.code != ExitCode::Fine;
        let leaves_something = conducted.ends.iter().flatten().any(|end| !end.leftovers.is_empty());
        let is_told = leaves_something || conducted.halted_writer.is_some();
        match (&conducted.stored.record.state, probes.lost()) {
            _ if !conducted.unusable.is_empty() => ExitCode::Unusable,
            _ if !is_whole && (was_told || probes.due < self.options.count.unwrap_or(0)) => {
                ExitCode::Incomplete
            }
            (_, 1..) => ExitCode::Found,
            (RunState::Complete, 0) if !is_told => ExitCode::Fine,
            _ => ExitCode::Incomplete,
        }
    }
}
