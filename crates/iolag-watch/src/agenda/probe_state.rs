//! What becomes of a probe that does not end: the way from in flight over slow and ending to hung.
//!
//! Pure: it is told the time and when the task began. Deadlines count from the begin of the task; as long as it has not begun (opening
//! its place, or preparing it, hangs) from the start of the process. A probe therefore ends at most twice its deadline after its
//! start.

use iolag_model::{MonotonicTime, Nanoseconds, ProbePhase};

use serde::{Deserialize, Serialize};

use crate::AtDeadline;

/// The deadlines of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlines {
    /// When evidence is gathered and other mounts go on.
    pub soft: Nanoseconds,
    /// When it is ended, or counts as hung.
    pub hard: Nanoseconds,
    /// Which of the two.
    pub at_deadline: AtDeadline,
}

/// Where a probe stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeState {
    deadlines: Deadlines,
    start: MonotonicTime,
    phase: ProbePhase,
    terminated: Option<MonotonicTime>,
    killed: Option<MonotonicTime>,
}

/// A step on the way, to be acted upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The soft deadline has passed: evidence is to be gathered.
    Slow,
    /// The deadline has passed (or the watch stops): evidence, and SIGTERM.
    Terminate,
    /// The grace after SIGTERM has passed: SIGKILL.
    Kill,
    /// It is still there and counts as hung from here on.
    Hang,
}

impl ProbeState {
    /// A probe whose process has just been started.
    pub const fn new(deadlines: Deadlines, start: MonotonicTime) -> Self {
        Self { deadlines, start, phase: ProbePhase::InFlight, terminated: None, killed: None }
    }

    /// A probe that an earlier watch had found hung; it has been sent its signals if it was to be ended.
    pub const fn already_hung(
        deadlines: Deadlines,
        start: MonotonicTime,
        terminated: Option<MonotonicTime>,
    ) -> Self {
        Self { deadlines, start, phase: ProbePhase::Hung, terminated, killed: terminated }
    }

    /// Where it stands.
    pub const fn phase(&self) -> ProbePhase {
        self.phase
    }

    /// When its process was started.
    pub const fn start(&self) -> MonotonicTime {
        self.start
    }

    /// Its deadlines.
    pub const fn deadlines(&self) -> Deadlines {
        self.deadlines
    }

    /// When it was first sent a signal.
    pub const fn terminated(&self) -> Option<MonotonicTime> {
        self.terminated
    }

    /// When the next step is due; never for a hung one.
    pub fn due(&self, begun: Option<MonotonicTime>) -> Option<MonotonicTime> {
        let since = begun.unwrap_or(self.start);
        match self.phase {
            ProbePhase::InFlight => Some(since.after(self.deadlines.soft.min(self.deadlines.hard))),
            ProbePhase::Slow => Some(since.after(self.deadlines.hard)),
            ProbePhase::Ending => Some(self.killed.or(self.terminated)?.after(self.grace())),
            ProbePhase::Hung => None,
        }
    }

    /// Takes the next step if it is due. To be called until it says `None`.
    pub fn advance(&mut self, now: MonotonicTime, begun: Option<MonotonicTime>) -> Option<Step> {
        if now < self.due(begun)? {
            return None;
        }
        match (self.phase, self.deadlines.at_deadline) {
            (ProbePhase::InFlight, _) => {
                self.phase = ProbePhase::Slow;
                Some(Step::Slow)
            }
            (ProbePhase::Slow, AtDeadline::End { .. }) => Some(self.terminate(now)),
            (ProbePhase::Ending, _) if self.killed.is_none() => {
                self.killed = Some(now);
                Some(Step::Kill)
            }
            _ => {
                self.phase = ProbePhase::Hung;
                Some(Step::Hang)
            }
        }
    }

    /// The watch stops: what has not passed its deadline is ended, with this much time for each signal.
    pub fn stop(&mut self, now: MonotonicTime, grace: Nanoseconds) -> Option<Step> {
        if matches!(self.phase, ProbePhase::Ending | ProbePhase::Hung) {
            return None;
        }
        self.deadlines.at_deadline = AtDeadline::End { grace };
        Some(self.terminate(now))
    }

    fn terminate(&mut self, now: MonotonicTime) -> Step {
        self.phase = ProbePhase::Ending;
        self.terminated = Some(now);
        Step::Terminate
    }

    const fn grace(&self) -> Nanoseconds {
        match self.deadlines.at_deadline {
            AtDeadline::End { grace } => grace,
            AtDeadline::Wait => Nanoseconds::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Nanoseconds = Nanoseconds(5);

    fn deadlines(at_deadline: AtDeadline) -> Deadlines {
        Deadlines { soft: Nanoseconds(10), hard: Nanoseconds(30), at_deadline }
    }

    fn way(mut state: ProbeState, begun: Option<MonotonicTime>) -> Vec<(u64, Step)> {
        let mut steps = Vec::new();
        for now in 0..200 {
            while let Some(step) = state.advance(MonotonicTime(now), begun) {
                steps.push((now, step));
            }
        }
        steps
    }

    #[test]
    fn a_probe_is_ended_politely_then_by_force_then_hung() {
        let state = ProbeState::new(deadlines(AtDeadline::End { grace: GRACE }), MonotonicTime(100));
        let expected = [(110, Step::Slow), (130, Step::Terminate), (135, Step::Kill), (140, Step::Hang)];
        assert_eq!(way(state, None), expected);
    }

    #[test]
    fn a_probe_that_is_waited_for_gets_no_signal() {
        let state = ProbeState::new(deadlines(AtDeadline::Wait), MonotonicTime(100));
        assert_eq!(way(state, None), [(110, Step::Slow), (130, Step::Hang)]);
    }

    #[test]
    fn time_counts_from_the_begin_of_the_task() {
        let state = ProbeState::new(deadlines(AtDeadline::Wait), MonotonicTime(100));
        assert_eq!(way(state, Some(MonotonicTime(107))), [(117, Step::Slow), (137, Step::Hang)]);
    }

    #[test]
    fn a_soft_deadline_beyond_the_hard_one_is_the_hard_one() {
        let all = Deadlines { soft: Nanoseconds(99), ..deadlines(AtDeadline::Wait) };
        let state = ProbeState::new(all, MonotonicTime(100));
        assert_eq!(way(state, None), [(130, Step::Slow), (130, Step::Hang)]);
    }

    #[test]
    fn stopping_ends_what_is_in_flight_and_leaves_what_hangs() {
        let mut state = ProbeState::new(deadlines(AtDeadline::Wait), MonotonicTime(100));
        assert_eq!(state.stop(MonotonicTime(103), GRACE), Some(Step::Terminate));
        assert_eq!(state.stop(MonotonicTime(103), GRACE), None);
        assert_eq!(way(state, None), [(108, Step::Kill), (113, Step::Hang)]);
        let mut hung = ProbeState::already_hung(deadlines(AtDeadline::Wait), MonotonicTime(1), None);
        assert_eq!(hung.stop(MonotonicTime(103), GRACE), None);
        assert_eq!(way(hung, None), []);
    }
}
