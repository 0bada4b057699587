//! What is known at a moment: the watch's status, and the last reading of the history with its age. Asking never waits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iolag_model::{Anchor, Clock, MonotonicClock, MonotonicTime, Nanoseconds, WallTime, WatchStatus};
use iolag_report::{
    Exposition, LiveDocument, LiveReading, LiveView, LiveWatch, MetricsForm, live_document, metrics,
};
use iolag_watch::{PublishedStatus, RuntimeError, probes_left, read_status};
use serde::Serialize;

use crate::serve::counts::frame::Reading;
use crate::watching::Places;

/// A status is read again after so long.
const STATUS_KEPT: Nanoseconds = Nanoseconds::from_milliseconds(100);
/// A history that has not answered for so long is said to be silent.
const SILENCE: Nanoseconds = Nanoseconds::from_seconds(10);

/// What the server knows.
#[derive(Debug)]
pub(super) struct Knowledge {
    host: String,
    /// Where the history is, secrets removed.
    history: String,
    /// Looked at each time anew: a watch that begins later may begin elsewhere.
    places: Places,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    status: Option<(MonotonicTime, Arc<Result<PublishedStatus, String>>)>,
    reading: Option<Arc<Reading>>,
    /// When the history last answered.
    heard: Option<(MonotonicTime, WallTime)>,
    /// Since when an answer is waited for.
    asked: Option<MonotonicTime>,
    trouble: Option<String>,
}

/// What a runtime directory says of its watch; of one that is gone only the probes in flight that are still there.
fn present_status(places: &Places) -> Result<PublishedStatus, RuntimeError> {
    let Some(runtime) = places.present_runtime() else { return Ok(PublishedStatus::None) };
    match read_status(&runtime)? {
        PublishedStatus::Ended(mut status) if !status.in_flight.is_empty() => {
            let left = probes_left(&runtime)?;
            status.in_flight.retain(|probe| left.contains(&probe.probe));
            Ok(PublishedStatus::Ended(status))
        }
        other => Ok(other),
    }
}

/// A watch's status as it is served.
#[derive(Debug, Serialize)]
pub(super) struct ServedStatus {
    #[serde(flatten)]
    status: WatchStatus,
    history_reading: HistoryReading,
}

/// How the history answers the server.
#[derive(Debug, Serialize)]
struct HistoryReading {
    age_ns: Option<Nanoseconds>,
    trouble: Option<String>,
}

/// What is known at a moment.
struct Moment {
    now_ns: MonotonicTime,
    now: WallTime,
    status: Arc<Result<PublishedStatus, String>>,
    reading: Option<Arc<Reading>>,
    heard: Option<(MonotonicTime, WallTime)>,
    trouble: Option<String>,
}

impl Knowledge {
    pub(super) fn new(host: String, history: String, places: Places) -> Self {
        Self { host, history, places, state: Mutex::default() }
    }

    /// The history was asked, and will answer or not.
    pub(super) fn asked(&self) {
        self.state().asked = Some(MonotonicClock.now());
    }

    /// The history answers.
    pub(super) fn heard(&self, reading: Option<Reading>) {
        let anchor = Anchor::take();
        let now = MonotonicClock.now();
        let mut state = self.state();
        state.heard = Some((now, WallTime(anchor.realtime_ns as i64)));
        state.asked = Some(now);
        state.trouble = None;
        if let Some(reading) = reading {
            state.reading = Some(Arc::new(reading));
        }
    }

    /// The history cannot be read.
    pub(super) fn troubled(&self, sentence: String) {
        let mut state = self.state();
        state.trouble = Some(sentence);
        state.asked = None;
    }

    /// The last reading, to go on from.
    pub(super) fn reading(&self) -> Option<Arc<Reading>> {
        self.state().reading.clone()
    }

    /// What is shown.
    pub(super) fn document(&self) -> LiveDocument {
        let moment = self.moment();
        let watch = match &*moment.status {
            Ok(PublishedStatus::Live(status)) => LiveWatch::Runs(status),
            Ok(PublishedStatus::Ended(status)) => LiveWatch::Ended(status),
            Ok(PublishedStatus::None) => LiveWatch::None,
            Err(sentence) => LiveWatch::Unknown(sentence),
        };
        let reading = moment.reading.as_deref().map(|reading| LiveReading {
            tallies: &reading.tallies,
            outages: &reading.outages,
            events: &reading.events,
        });
        live_document(&LiveView {
            host: &self.host,
            iolag_version: env!("CARGO_PKG_VERSION"),
            now_ns: moment.now_ns,
            now: moment.now,
            watch,
            history: &self.history,
            history_age: moment.heard.map(|(heard, _)| moment.now_ns.since(heard)),
            history_trouble: moment.trouble.as_deref(),
            reading,
        })
    }

    /// What the running watch says, with how the history answers; nothing if none runs.
    pub(super) fn status(&self) -> Option<ServedStatus> {
        let moment = self.moment();
        match &*moment.status {
            Ok(PublishedStatus::Live(status)) => Some(ServedStatus {
                status: status.clone(),
                history_reading: HistoryReading {
                    age_ns: moment.heard.map(|(heard, _)| moment.now_ns.since(heard)),
                    trouble: moment.trouble,
                },
            }),
            _ => None,
        }
    }

    /// The metrics.
    pub(super) fn metrics(&self, form: MetricsForm) -> Vec<u8> {
        let moment = self.moment();
        let (status, left_behind) = match &*moment.status {
            Ok(PublishedStatus::Live(status)) => (Some(status), &[][..]),
            Ok(PublishedStatus::Ended(status)) => (None, &status.in_flight[..]),
            _ => (None, &[][..]),
        };
        let exposition = Exposition {
            host: &self.host,
            iolag_version: env!("CARGO_PKG_VERSION"),
            now: moment.now_ns,
            status,
            left_behind,
            tallies: moment.reading.as_deref().map(|reading| &reading.tallies),
            history_read: moment.heard.map(|(_, wall)| wall),
        };
        metrics(&exposition, form)
    }

    fn moment(&self) -> Moment {
        let anchor = Anchor::take();
        let now_ns = MonotonicClock.now();
        let mut state = self.state();
        let status = match &state.status {
            Some((read, status)) if now_ns.since(*read) < STATUS_KEPT => Arc::clone(status),
            _ => {
                let status = Arc::new(present_status(&self.places).map_err(|error| error.to_string()));
                state.status = Some((now_ns, Arc::clone(&status)));
                status
            }
        };
        let silence = state.asked.map(|asked| now_ns.since(asked)).filter(|silence| *silence >= SILENCE);
        let silent = silence.map(|silence| {
            format!("the history {} has not answered for {silence}: its disk or server hangs", self.history)
        });
        Moment {
            now_ns,
            now: WallTime(anchor.realtime_ns as i64),
            status,
            reading: state.reading.clone(),
            heard: state.heard,
            trouble: state.trouble.clone().or(silent),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is whole before it is seen.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
