//! The summary of a ping that has ended, its JSON and its figure, and what its exit code is.

use iolag_analysis::{PingAnalysis, analyse_ping};
use iolag_conduct::{Conducted, ExitCode, Failure, Keeper};
use iolag_model::RunState;
use iolag_report::ping_text;

use super::json_lines::{JsonLines, Line, Written};
use crate::args::{Common, Ping};
use crate::commands::runs::figures;
use crate::output;

/// A ping that has ended.
pub(super) struct Ended<'a> {
    pub(super) options: &'a Ping,
    pub(super) common: &'a Common,
    pub(super) keeper: &'a Keeper,
}

impl Ended<'_> {
    /// Prints what was found, and writes what was asked for besides.
    ///
    /// # Errors
    /// If nothing was measured, or something cannot be written.
    pub(super) fn report(&self, conducted: &Conducted, json: Option<JsonLines>) -> Result<ExitCode, Failure> {
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
