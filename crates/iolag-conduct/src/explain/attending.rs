//! One probe: its child is waited for, and looked at while it waits.

use iolag_keeper::{Doing, Ending, Messenger, Signals, Sleeps, doing, evidence_of_all, processor_use};
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Nanoseconds, UNKNOWN_FUNCTION, Waits};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// How often a child is looked at.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(5);
/// Whether it works is looked up at every so manieth look.
const WORK_LOOKS: u64 = 10;
/// How long a child that is ended may take for each step of its end.
const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(200);

/// How long a probe may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Without a sign of life: who uses its processor is alive.
    pub(super) silence: Nanoseconds,
    /// In any case.
    pub(super) in_all: Nanoseconds,
}

/// How a probe went.
pub(super) struct Attended {
    pub(super) took: Nanoseconds,
    /// How long it used a processor; nothing, if it could not be ended.
    pub(super) processor: Nanoseconds,
    pub(super) waits: Waits,
    /// What it said.
    pub(super) lines: Vec<Vec<u8>>,
    pub(super) ending: Option<Ending>,
    /// Nothing, if it came to its end by itself.
    pub(super) silence: Option<Silence>,
}

/// Of one that had to be ended.
pub(super) struct Silence {
    /// What the kernel told of where it waited.
    pub(super) evidence: String,
    /// The process, if it could not be ended.
    pub(super) unkillable: Option<u32>,
}

/// Waits for the end of a child that was started at `start`.
///
/// # Errors
/// If the user wants no answer any more.
pub(super) fn attend(
    mut messenger: Messenger,
    start: MonotonicTime,
    limit: Limit,
    signals: &Signals,
) -> Result<Attended, Failure> {
    let process = messenger.child().id();
    let mut waits = Waits::default();
    let mut lines = Vec::new();
    let mut alive = (None, start);
    let mut sleeps = Sleeps::new(MonotonicClock.now());
    let silence = loop {
        // The ending is looked at first: whatever it said before is then certainly in the pipe, which holds less than it may have to say.
        let has_ended = messenger.child_mut().wait(LOOK).is_some();
        let now = MonotonicClock.now();
        lines.extend(messenger.receive());
        if has_ended {
            break None;
        }
        if signals.next().is_some() {
            messenger.child_mut().end(GRACE);
            return Err(Failure {
                code: ExitCode::Incomplete,
                sentence: "interrupted before everything was looked at; nothing is left behind".into(),
            });
        }
        look(&mut waits, process);
        if waits.looks.is_multiple_of(WORK_LOOKS) {
            let used = processor_use(process);
            if used != alive.0 {
                alive = (used, now);
            }
        }
        sleeps.look(now);
        if sleeps.awake(alive.1, now) >= limit.silence || sleeps.awake(start, now) >= limit.in_all {
            let evidence = evidence_of_all(process);
            let unkillable = messenger.child_mut().end(GRACE).is_none().then_some(process);
            break Some(Silence { evidence, unkillable });
        }
    };
    let took = MonotonicClock.now().since(start);
    let consumption = messenger.child().consumption();
    let processor = consumption
        .map_or(Nanoseconds::ZERO, |used| Nanoseconds(used.processor.iter().map(|time| time.0).sum()));
    Ok(Attended { took, processor, waits, lines, silence, ending: messenger.child_mut().ending() })
}

fn look(waits: &mut Waits, process: u32) {
    match doing(process) {
        Doing::NoWaiting => waits.add(None),
        Doing::WaitsIn(function) => waits.add(Some(&function)),
        Doing::WaitsSomewhere => waits.add(Some(UNKNOWN_FUNCTION)),
    }
}
