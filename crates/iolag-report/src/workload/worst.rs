//! Where and when a run was at its worst.
//!
//! What did not answer is graver than what did not end, and that than what failed, was late, was not begun, or was slow; of one kind, what took
//! longer, and of failures the more. A slow moment is the worst only if nothing that was asked took longer: what is slow all the time makes
//! no bad moment. The control, which nobody asked for, is none of it.

use iolag_analysis::figure::{Episode, RunFigures, TroubleCounts};
use iolag_model::{Level, MonotonicTime, Nanoseconds, TargetIndex, format_duration};

use crate::words::names::distance_from_users;
use crate::words::numbers::utc;
use crate::words::trouble::{self, NOTICED, unended};

/// How bad it is; the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gravity {
    /// It took long.
    Slow,
    /// It was due and not begun.
    Skipped,
    /// It took longer than its deadline.
    Late,
    /// It failed.
    Failed,
    /// It did not end.
    Unended,
    /// The place did not answer at all.
    Unanswered,
}

/// What was worst in a run.
#[derive(Clone, Copy)]
pub(crate) struct Worst<'a> {
    figures: &'a RunFigures,
    what: What<'a>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    /// A target did not answer, within so long.
    Unanswered(TargetIndex, Nanoseconds),
    BadMoment(&'a Episode),
}

impl<'a> Worst<'a> {
    /// That of a run; nothing if there was no trouble, or more of it all the time than in any moment.
    pub(crate) fn of(figures: &'a RunFigures) -> Option<Self> {
        let targets = (0..).map(TargetIndex).zip(&figures.run.targets);
        let unanswered = targets
            .filter(|(index, _)| trouble::is_asked(figures, *index))
            .filter_map(|(index, target)| Some(What::Unanswered(index, target.unanswered_ns?)));
        let all = unanswered.chain(trouble::asked(figures).map(What::BadMoment));
        let worst = Self::of_all(all.map(|what| Self { figures, what }))?;
        (worst.gravity() > Gravity::Slow || worst.is_longest()).then_some(worst)
    }

    /// The worst of several; of equal ones the first.
    pub(crate) fn of_all(all: impl Iterator<Item = Self>) -> Option<Self> {
        all.reduce(|worst, other| if other.rank() > worst.rank() { other } else { worst })
    }

    /// How bad it is.
    pub(crate) fn gravity(self) -> Gravity {
        let What::BadMoment(Episode { troubles, .. }) = self.what else {
            return Gravity::Unanswered;
        };
        match troubles {
            all if unended(all) > 0 => Gravity::Unended,
            TroubleCounts { failed: 1.., .. } => Gravity::Failed,
            TroubleCounts { late: 1.., .. } => Gravity::Late,
            TroubleCounts { skipped: 1.., .. } => Gravity::Skipped,
            _ => Gravity::Slow,
        }
    }

    /// The greater, the worse.
    pub(crate) fn rank(self) -> (Gravity, u64) {
        let gravity = self.gravity();
        let amount = match (gravity, self.what) {
            (_, What::Unanswered(_, waited)) => waited.0,
            (Gravity::Failed, What::BadMoment(episode)) => episode.troubles.failed,
            (Gravity::Unended, What::BadMoment(episode)) => episode.longest_wait_ns.unwrap_or_default().0,
            (_, What::BadMoment(episode)) => episode.peak.duration_ns.0,
        };
        (gravity, amount)
    }

    /// Whether nothing that was asked took longer.
    fn is_longest(self) -> bool {
        let What::BadMoment(episode) = self.what else {
            return true;
        };
        let series = self.figures.series.iter().filter(|series| series.level != Level::Harness);
        let mut asked = series.filter(|series| trouble::is_asked(self.figures, series.target));
        asked.all(|series| series.max_ns.is_none_or(|longest| longest <= episode.peak.duration_ns))
    }

    /// The target that a figure shows in trouble; of one that did not answer there is nothing to show.
    pub(crate) const fn target(self) -> Option<TargetIndex> {
        match self.what {
            What::Unanswered(..) => None,
            What::BadMoment(episode) => Some(episode.target),
        }
    }

    /// The level of operations on which it shows, the one nearest to users; absent if it shows on each.
    pub(crate) fn level(self) -> Option<Level> {
        let What::BadMoment(episode) = self.what else {
            return None;
        };
        let (gravity, none) = (self.gravity(), TroubleCounts::default());
        let is_of_it = |troubles: &TroubleCounts| match gravity {
            Gravity::Unanswered | Gravity::Unended => false,
            Gravity::Failed => troubles.failed > 0,
            Gravity::Late => troubles.late > 0,
            Gravity::Skipped => troubles.skipped > 0,
            Gravity::Slow => *troubles != none,
        };
        let in_trouble = episode.series.iter().filter(|own| is_of_it(&own.troubles));
        let levels = in_trouble.filter_map(|own| self.figures.series.get(usize::from(own.series)));
        levels.map(|series| series.level).min_by_key(|level| distance_from_users(*level))
    }

    /// As in `stat on /home took at least 1 min 00 s`.
    pub(crate) fn what(self) -> String {
        match self.what {
            What::Unanswered(target, waited) => {
                let place = trouble::name(self.figures, target);
                format!("{place} did not answer within {}", format_duration(waited))
            }
            What::BadMoment(episode) => trouble::gravest(self.figures, episode),
        }
    }

    /// The same with when it was, and what else was then, as a sentence.
    pub(crate) fn sentence(self) -> String {
        let What::BadMoment(episode) = self.what else {
            return format!("At its worst, {}.", self.what());
        };
        let peak = episode.peak;
        let is_of_peak = match self.gravity() {
            Gravity::Failed => false,
            Gravity::Unended => trouble::has_not_ended(episode),
            Gravity::Unanswered | Gravity::Late | Gravity::Skipped | Gravity::Slow => true,
        };
        let when =
            if is_of_peak { self.moment("at", peak.start_ns) } else { self.moment("from", episode.begin_ns) };
        format!("At its worst, {when}, {}{}.", self.what(), self.besides(episode))
    }

    /// How long the bad moment was, if that is more, and what else was then, as in `; the bad moment lasted 75.0 s: 2 hung, 12 slow`.
    fn besides(self, episode: &Episode) -> String {
        let (length, peak_ns) = (trouble::length(episode), episode.peak.duration_ns.0);
        let is_longer = length >= NOTICED && length.0 > peak_ns.saturating_add(peak_ns / 5);
        let lasted = is_longer.then(|| format!("the bad moment lasted {}", format_duration(length)));
        // Failures are counted in front.
        let failed = if self.gravity() == Gravity::Failed { 0 } else { episode.troubles.failed };
        let told = trouble::kinds(TroubleCounts { failed, ..episode.troubles });
        let is_more = told.contains(',') || failed != episode.troubles.failed && !told.is_empty();
        match (lasted, is_more.then_some(told)) {
            (None, None) => String::new(),
            (Some(one), None) | (None, Some(one)) => format!("; {one}"),
            (Some(lasted), Some(kinds)) => format!("; {lasted}: {kinds}"),
        }
    }

    fn moment(self, word: &str, at: MonotonicTime) -> String {
        match trouble::realtime(self.figures, at) {
            Some(realtime_ns) => format!("{word} {} UTC", utc(realtime_ns)),
            None => trouble::moment(self.figures, at),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use iolag_analysis::figure::{EpisodeSeries, Peak};

    use super::*;
    use crate::figure::tests::samples::{Shape, figures_of};

    /// A run without any trouble, of which nothing took long.
    pub(crate) fn quiet() -> RunFigures {
        let mut figures = figures_of(Shape::Usual).runs.remove(0);
        figures.episodes.clear();
        figures.series.iter_mut().for_each(|series| series.max_ns = None);
        figures
    }

    /// So many seconds of trouble of the second series from a second of the run on, the longest attempt of so many of them.
    pub(crate) fn episode(
        figures: &RunFigures,
        (at_s, lasts_s, peak_s): (u64, u64, u64),
        troubles: TroubleCounts,
    ) -> Episode {
        let begin_ns = figures.run.begin_ns.after(Nanoseconds::from_seconds(at_s));
        Episode {
            target: TargetIndex(0),
            begin_ns,
            end_ns: begin_ns.after(Nanoseconds::from_seconds(lasts_s)),
            peak: Peak { series: 1, start_ns: begin_ns, duration_ns: Nanoseconds::from_seconds(peak_s) },
            troubles,
            longest_wait_ns: (troubles.hung > 0).then(|| Nanoseconds::from_seconds(peak_s)),
            series: vec![EpisodeSeries { series: 1, threshold_ns: None, troubles }],
        }
    }

    pub(crate) const SLOW: TroubleCounts =
        TroubleCounts { slow: 3, late: 0, failed: 0, timeout: 0, hung: 0, skipped: 0 };
    const FAILED: TroubleCounts = TroubleCounts { slow: 0, failed: 3, ..SLOW };

    fn told(figures: &RunFigures) -> String {
        Worst::of(figures).expect("it was in trouble").sentence()
    }

    #[test]
    fn the_worst_names_moment_place_and_what_it_was() {
        let mut figures = quiet();
        let hung = TroubleCounts { hung: 2, ..SLOW };
        figures.episodes = vec![
            episode(&figures, (10, 90, 80), SLOW),
            episode(&figures, (350, 75, 60), hung),
            episode(&figures, (500, 1, 1), TroubleCounts { slow: 1, ..SLOW }),
        ];
        let (operation, place) = (figures.series[1].operation, figures.run.targets[0].name.clone());
        let sentence = told(&figures);
        assert!(sentence.starts_with("At its worst, at 20"), "{sentence}");
        let what = format!(
            " UTC, {operation} on {place} took at least 60.0 s; the bad moment lasted 75.0 s: 2 hung, 3 slow."
        );
        assert!(
            sentence.ends_with(&what),
            "an end that never came is graver than one that came late: {sentence}"
        );
        figures.episodes.remove(1);
        assert!(told(&figures).ends_with("took 80.0 s."), "{}", told(&figures));
        figures.episodes.remove(0);
        figures.run.begin_realtime_ns = None;
        let expected =
            format!("At its worst, 8 min 20 s after the start, {operation} on {place} took 1.00 s.");
        assert_eq!(told(&figures), expected);
    }

    #[test]
    fn failures_are_counted_and_named_by_their_operation() {
        let mut figures = quiet();
        let mut failed = episode(&figures, (10, 2, 0), FAILED);
        figures.episodes = vec![episode(&figures, (100, 4, 4), SLOW), failed.clone()];
        let (operation, place) = (figures.series[1].operation, figures.run.targets[0].name.clone());
        let what = |figures: &RunFigures| Worst::of(figures).map(Worst::what);
        assert_eq!(what(&figures), Some(format!("3 {operation} on {place} failed")));
        failed.peak.duration_ns = Nanoseconds::from_seconds(3);
        figures.episodes = vec![failed.clone()];
        assert_eq!(what(&figures), Some(format!("3 {operation} on {place} failed, after up to 3.00 s")));
        assert_eq!(trouble::longest(&figures, &failed), format!("{operation} failed after 3.00 s"));
        failed.series.push(EpisodeSeries { series: 2, ..failed.series[0] });
        failed.troubles.slow = 1;
        figures.episodes = vec![failed];
        assert_eq!(what(&figures), Some(format!("3 attempts on {place} failed")));
        assert!(
            told(&figures).ends_with(&format!("3 attempts on {place} failed; 1 slow.")),
            "{}",
            told(&figures)
        );
    }

    #[test]
    fn what_does_not_answer_is_worst_and_the_control_is_none_of_it() {
        let mut figures = quiet();
        figures.run.control = Some(TargetIndex(0));
        figures.run.targets.push(figures.run.targets[0].clone());
        figures.episodes = vec![episode(&figures, (10, 90, 80), SLOW)];
        assert!(Worst::of(&figures).is_none(), "nobody asked for the control");
        figures.run.targets[1].name = "/mnt/dead".to_owned();
        figures.run.targets[1].unanswered_ns = Some(Nanoseconds::from_seconds(2));
        figures.run.control = None;
        assert_eq!(told(&figures), "At its worst, /mnt/dead did not answer within 2.00 s.");
        assert_eq!(Worst::of(&figures).and_then(Worst::target), None, "no figure shows it");
    }

    #[test]
    fn nothing_that_took_less_than_something_else_is_the_worst() {
        let mut figures = quiet();
        figures.episodes = vec![episode(&figures, (10, 4, 4), SLOW)];
        assert!(Worst::of(&figures).is_some());
        figures.series[0].max_ns = Some(Nanoseconds::from_seconds(5));
        assert!(Worst::of(&figures).is_none(), "a series that is slow all the time makes no episode");
    }

    #[test]
    fn it_shows_on_the_level_nearest_to_users_and_a_hang_on_each() {
        let mut figures = quiet();
        figures.series[1].level = Level::Call;
        figures.series[2].level = Level::Task;
        let mut slow = episode(&figures, (10, 4, 4), SLOW);
        figures.episodes = vec![slow.clone()];
        let level = |figures: &RunFigures| Worst::of(figures).and_then(Worst::level);
        assert_eq!(level(&figures), Some(Level::Call));
        slow.series.push(EpisodeSeries { series: 2, ..slow.series[0] });
        figures.episodes = vec![slow];
        assert_eq!(level(&figures), Some(Level::Task));
        figures.episodes = vec![episode(&figures, (10, 4, 4), TroubleCounts { hung: 1, ..SLOW })];
        assert_eq!(level(&figures), None);
    }

    #[test]
    fn of_two_as_bad_the_first_is_the_worst() {
        let mut figures = quiet();
        figures.episodes = [10, 20].map(|at_s| episode(&figures, (at_s, 5, 5), SLOW)).to_vec();
        let first = figures.run.begin_ns.after(Nanoseconds::from_seconds(10));
        let Some(Worst { what: What::BadMoment(worst), .. }) = Worst::of(&figures) else {
            panic!("a bad moment")
        };
        assert_eq!(worst.begin_ns, first);
    }
}
