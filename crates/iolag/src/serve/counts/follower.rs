//! The follower: a child that reads the history to its end, then what is new in it, again and again. It may hang.
//!
//! It goes on from a former reading if that is of the same history: counts need not begin anew because a disk was slow once, nor
//! because the server did.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use iolag_analysis::history::Tallies;
use iolag_model::{Anchor, Nanoseconds, WallSpan, WallTime};
use iolag_store::history::{Access, ChangeMark, History, HistoryError, is_server, open_history};
use iolag_watch::RuntimeDirectory;

use crate::serve::counts::frame::{self, FromFollower, Reading};
use crate::serve::counts::kept::Kept;
use crate::watching::Places;

/// Where the counts are kept in the watch's directory in memory; another file than that of its textfile, as both are replaced.
const KEPT: &str = "tallies-served.json";
/// Between two looks at the history.
const LOOK: Duration = Duration::from_secs(1);
/// Samples in one answer: read in some 20 ms.
const BATCH: usize = 10_000;
/// Outages and events that are over are shown for so long.
const RECENT: Nanoseconds = Nanoseconds::from_seconds(30 * 86_400);

/// Why following ended.
enum Ended {
    /// Nobody listens.
    Unheard,
    /// The history says why.
    Refused(HistoryError),
    /// Another file is in its place.
    Replaced,
}

impl From<std::io::Error> for Ended {
    fn from(_: std::io::Error) -> Self {
        Self::Unheard
    }
}

impl From<HistoryError> for Ended {
    fn from(error: HistoryError) -> Self {
        Self::Refused(error)
    }
}

/// Follows the history at `places` from `former` on, else from what is kept of a former server, and tells of it, until nobody
/// listens or the history cannot be read.
pub(in crate::serve) fn follow(places: &Places, former: Option<Reading>, into: &mut impl Write) {
    let Err(ended) = follow_until_trouble(places, former, into);
    let sentence = match ended {
        Ended::Unheard => return,
        Ended::Refused(error) => error.to_string(),
        Ended::Replaced => {
            format!("the history {} was replaced by another; it is read anew", places.shown_history())
        }
    };
    // Whoever is to hear it may be gone.
    let _ = frame::write(&FromFollower::Trouble(sentence), into);
}

fn follow_until_trouble(
    places: &Places,
    former: Option<Reading>,
    into: &mut impl Write,
) -> Result<std::convert::Infallible, Ended> {
    let place = places.history.as_str();
    let mut history = open_history(place, Access::ReadOnly)?;
    let file = file_of(place);
    let newest = history.newest_change()?;
    let is_same = |reading: &Reading| reading.mark <= newest.0;
    let mut reading = match former.filter(is_same) {
        Some(former) => former,
        None => kept_reading(places, history.as_mut())?,
    };
    let (mut told, mut kept) = (None, (reading.mark, reading.renames.clone()));
    loop {
        read_new(history.as_mut(), &mut reading, || frame::write(&FromFollower::Alive, into))?;
        if told.as_ref() == Some(&reading) {
            frame::write(&FromFollower::Alive, into)?;
        } else {
            frame::write(&FromFollower::Read(Box::new(reading.clone())), into)?;
            told = Some(reading.clone());
        }
        let read = (reading.mark, reading.renames.clone());
        if kept != read {
            keep(places, &reading, history.as_mut());
            kept = read;
        }
        std::thread::sleep(LOOK);
        if file_of(place) != file {
            return Err(Ended::Replaced);
        }
    }
}

/// What a former server counted, if it is of this history.
fn kept_reading(places: &Places, history: &mut dyn History) -> Result<Reading, HistoryError> {
    let Some(directory) = runtime(places) else { return Ok(Reading::default()) };
    let Kept { mark, tallies, renames, .. } = Kept::read(&directory, KEPT, history)?;
    Ok(Reading { mark, tallies, renames, ..Reading::default() })
}

/// Keeps what is counted for a later server. One that cannot begins anew, and is slow to answer once.
fn keep(places: &Places, reading: &Reading, history: &mut dyn History) {
    if let Some(directory) = runtime(places) {
        let _ = Kept::new(reading.mark, reading.tallies.clone(), reading.renames.clone())
            .write(&directory, KEPT, history);
    }
}

/// The watch's directory in memory as it is now; there may be none.
fn runtime(places: &Places) -> Option<RuntimeDirectory> {
    RuntimeDirectory::open_read_only(&places.present_runtime()?).ok().flatten()
}

fn read_new(
    history: &mut dyn History,
    reading: &mut Reading,
    mut alive: impl FnMut() -> std::io::Result<()>,
) -> Result<(), Ended> {
    let renames = history.renames()?;
    if renames != reading.renames {
        *reading = Reading { renames, ..Reading::default() };
    }
    let mut mark = ChangeMark(reading.mark);
    while count_new(history, &mut reading.tallies, &mut mark)? {
        reading.mark = mark.0;
        alive()?;
    }
    let now = WallTime(Anchor::take().realtime_ns as i64);
    let recent = WallSpan { begin: now.before(RECENT), ..WallSpan::ALL };
    reading.outages = history.outages(recent)?;
    reading.events = history.events(recent)?;
    Ok(())
}

/// Counts one answer of what is new after `mark`; returns whether there was anything.
///
/// # Errors
/// If the history cannot be read; then nothing of the answer is counted.
pub(in crate::serve) fn count_new(
    history: &mut dyn History,
    tallies: &mut Tallies,
    mark: &mut ChangeMark,
) -> Result<bool, HistoryError> {
    // Samples are appended with or after their series, so these are described before they are counted.
    let changes = history.changes_after(*mark, BATCH)?;
    for series in history.series()? {
        tallies.describe(&series);
    }
    changes.samples.iter().for_each(|sample| tallies.count(sample));
    let is_new = !changes.samples.is_empty();
    *mark = changes.mark;
    Ok(is_new)
}

/// Which file it is, if it is one.
fn file_of(place: &str) -> Option<(u64, u64)> {
    if is_server(place) {
        return None;
    }
    Path::new(place).metadata().ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use iolag_analysis::history::{RunOutcome, SeriesTally};
    use iolag_model::{HistoryRecord, HistorySample, Outcome, ProbeId, Rename, SeriesKey, WallTime};
    use iolag_watch::skipped;

    use super::*;

    fn sample(probe: u64) -> HistoryRecord {
        let series = SeriesKey { host: "n1".into(), target: "/old".into(), ..SeriesKey::default() };
        let moment = WallTime::from_seconds(probe as i64);
        let sample = skipped(series, ProbeId(probe), moment, moment, None);
        HistoryRecord::Sample(HistorySample { outcome: Outcome::Ok, duration_ns: Nanoseconds(5), ..sample })
    }

    #[test]
    fn counts_begin_anew_when_a_target_gets_another_name() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("history.sqlite").display().to_string();
        let mut history = open_history(&place, Access::Create).unwrap();
        let mut reading = Reading::default();
        let mut counted = |history: &mut dyn History| {
            assert!(read_new(history, &mut reading, || Ok(())).is_ok());
            let of_series = |one: &SeriesTally| (one.key.target.clone(), one.runs(RunOutcome::Ok));
            reading.tallies.series().map(of_series).collect::<Vec<_>>()
        };
        history.append(&[sample(1), sample(2)]).unwrap();
        assert_eq!(counted(&mut *history), [("/old".to_owned(), 2)]);
        let (host, old, new) = ("n1".to_owned(), "/old".to_owned(), "/new".to_owned());
        let rename = Rename { host, old, new, at: WallTime(1), author: String::new() };
        history.append(&[HistoryRecord::Rename(rename), sample(3)]).unwrap();
        assert_eq!(counted(&mut *history), [("/new".to_owned(), 3)]);
    }
}
