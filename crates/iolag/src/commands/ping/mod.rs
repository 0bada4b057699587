//! `iolag ping`: one line per probe, live, and a summary at the end; a run like any other.

mod attending;
mod ended;
mod following;
mod json_lines;
mod outputs;
mod telling;

use iolag_conduct::{
    ExitCode, Failure, PingAttendant, PingFlight, PingOptions, PlannedPing, become_keeper, conduct_ping,
    leave_current_directory, plan_ping,
};
use iolag_keeper::Signals;
use iolag_workload::PingSchedule;

use self::attending::Attending;
use self::ended::Ended;
use self::json_lines::JsonLines;
use self::outputs::Outputs;
use crate::announcing::probes_in_words;
use crate::args::{Common, Ping};
use crate::commands::runs::figures;
use crate::commands::watch::terminal::Lines;
use crate::commands::{labels, store_of, trust, typed};
use crate::output;

/// Runs the command.
///
/// # Errors
/// If the target cannot be measured.
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
    Ended { options, common, keeper: &keeper }.report(&conducted, attending.into_json())
}

fn planned(options: &Ping) -> Result<PingOptions, Failure> {
    let mut target = options.target.clone();
    trust([&mut target], options.ca_file.as_deref())?;
    Ok(PingOptions {
        target,
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
