//! The answer of a run, with which what is told of it begins: what it comes to, where and when it was at its worst, and the figure
//! that shows it.

use iolag_analysis::figure::RunFigures;
use iolag_analysis::{Feeling, RunAnalysis};

use super::beside::sentence::beside_sentence;
use super::judged::{Verdict, judged};
use super::worst::{Gravity, Worst};
use crate::figure::FigureKind;

/// What a run comes to.
pub(crate) struct Answer<'a> {
    /// In a sentence or a few; nothing if the verdicts say all.
    pub(crate) sentence: Option<String>,
    /// What everybody else felt, if somebody measured that.
    pub(crate) beside: Option<String>,
    /// On each place, where places are judged one by one.
    pub(crate) verdicts: Vec<Verdict<'a>>,
    /// When it was at its worst; nothing if there is nothing to tell.
    pub(crate) worst: Option<Worst<'a>>,
    /// What shows it.
    pub(crate) figure: FigureKind,
}

impl<'a> Answer<'a> {
    /// That of a run; its figures know when it was at its worst.
    pub(crate) fn of(analysis: &'a RunAnalysis, figures: Option<&'a RunFigures>) -> Self {
        let judged = judged(analysis);
        let verdicts = judged.verdicts();
        let feels_fast = |verdict: &Verdict<'_>| verdict.feeling == Feeling::Fast;
        // Nobody waits for what only is slower than the rest of what feels fast.
        let is_fast = !verdicts.is_empty() && verdicts.iter().all(feels_fast);
        let worst = figures.and_then(Worst::of).filter(|worst| !is_fast || worst.gravity() > Gravity::Slow);
        let figure = match worst.and_then(Worst::target) {
            Some(_) => FigureKind::TimeLine,
            None => judged.figure(),
        };
        let beside = judged.beside().map(beside_sentence);
        Self { sentence: judged.sentence(), beside, verdicts, worst, figure }
    }
}

#[cfg(test)]
mod tests {
    use iolag_analysis::analyse_run;
    use iolag_model::Operation;

    use super::*;
    use crate::incident::run::scenario::{self, Scenario};
    use crate::workload::worst::tests::{SLOW, episode, quiet};

    #[test]
    fn without_trouble_the_workload_says_which_figure_shows_its_answer() {
        let mut figures = quiet();
        let bench = scenario::usb_stick();
        let bench = analyse_run(&bench.record, &bench.by_stage());
        let check = scenario::three_directories();
        let check = analyse_run(&check.record, &check.by_target());
        for (analysis, figure) in [(&bench, FigureKind::Rates), (&check, FigureKind::Box)] {
            let answer = Answer::of(analysis, Some(&figures));
            assert_eq!((answer.figure, answer.worst.is_none()), (figure, true));
        }
        figures.episodes = vec![episode(&figures, (10, 4, 4), SLOW)];
        let answer = Answer::of(&bench, Some(&figures));
        assert!(answer.worst.is_some() && answer.figure == FigureKind::TimeLine);
        assert!(answer.sentence.is_some_and(|sentence| sentence.contains("operations/s")));
    }

    #[test]
    fn what_feels_fast_has_no_worst_moment_unless_something_failed() {
        let mut check = Scenario::check(&["/home/me"]);
        check.add(0, Operation::TaskList, 3_000_000);
        let check = analyse_run(&check.record, &check.by_target());
        let mut figures = quiet();
        figures.episodes = vec![episode(&figures, (10, 4, 4), SLOW)];
        assert!(Answer::of(&check, Some(&figures)).worst.is_none());
        figures.episodes[0].troubles.failed = 1;
        assert!(Answer::of(&check, Some(&figures)).worst.is_some());
    }
}
