//! Counts that are kept in the watch's runtime directory between two readings of a history, so that a start costs what is new since.
//!
//! Invariants: counts are believed only if they are whole, of this form, and of this history: a sample near the last that they
//! cover, which is over and so does not change any more, must stand where it stood. All others are counted anew.
//!
//! Limits: where the last 64 changes are of probes that hang, one of these vouches for the counts; if it has ended since, they are
//! counted anew.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use iolag_analysis::history::Tallies;
use iolag_model::{HistorySample, Outcome, Rename};
use iolag_store::history::{ChangeMark, History, HistoryError};
use iolag_watch::RuntimeDirectory;
use serde::{Deserialize, Serialize};

/// To be counted up whenever a sample counts in another way than before.
const FORM: &str = "iolag-tallies-3";
const BYTES_MAX: u64 = 64 << 20;
/// So far back is looked for a sample that is over.
const WITNESS_DEPTH: i64 = 64;

/// How far a history was counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::serve) struct Kept {
    /// The last change that is counted.
    pub mark: i64,
    /// Whether the counts reached the history's end once.
    pub is_whole: bool,
    pub tallies: Tallies,
    /// The names that targets had got by then; with others the counts begin anew.
    pub renames: Vec<Rename>,
    witness: Option<Witness>,
}

/// A sample that tells one history from another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Witness {
    mark: i64,
    sample: HistorySample,
}

impl Kept {
    pub(in crate::serve) const fn new(mark: i64, tallies: Tallies, renames: Vec<Rename>) -> Self {
        Self { mark, is_whole: true, tallies, renames, witness: None }
    }

    /// What the file `name` holds of this history; nothing counted yet if that cannot be believed.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub(in crate::serve) fn read(
        directory: &RuntimeDirectory,
        name: &str,
        history: &mut dyn History,
    ) -> Result<Self, HistoryError> {
        let nothing = Self { renames: history.renames()?, ..Self::default() };
        let text = directory.read_file(name, BYTES_MAX).ok().flatten();
        let Some(kept) = text.as_deref().and_then(Self::parse) else { return Ok(nothing) };
        let Some(witness) = &kept.witness else { return Ok(nothing) };
        let stands = change_after(history, witness.mark - 1)?.as_ref() == Some(witness);
        let is_covered = kept.mark <= history.newest_change()?.0;
        Ok(if stands && is_covered && kept.renames == nothing.renames { kept } else { nothing })
    }

    /// Replaces the file `name`.
    ///
    /// # Errors
    /// One sentence, if the history cannot be read or the file not be written.
    pub(in crate::serve) fn write(
        &mut self,
        directory: &RuntimeDirectory,
        name: &str,
        history: &mut dyn History,
    ) -> Result<(), String> {
        self.witness = witness(history, self.mark).map_err(|error| error.to_string())?;
        let text = self.text().map_err(|error| error.to_string())?;
        directory.replace_file(name, &text).map_err(|error| error.to_string())
    }

    /// A line that says what follows, which is JSON.
    fn text(&self) -> serde_json::Result<Vec<u8>> {
        let body = serde_json::to_vec(self)?;
        Ok([head_of(&body).as_bytes(), &body].concat())
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let end = text.iter().position(|byte| *byte == b'\n')?;
        let (head, body) = text.split_at(end + 1);
        (head == head_of(body).as_bytes()).then(|| serde_json::from_slice(body).ok())?
    }
}

/// What comes before `body`: its form, and a number by which damage is found. (Another compiler's number is another: counted anew.)
fn head_of(body: &[u8]) -> String {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(body);
    format!("{FORM} {hash:016x}\n")
}

/// The first change after that of this number.
fn change_after(history: &mut dyn History, mark: i64) -> Result<Option<Witness>, HistoryError> {
    let changes = history.changes_after(ChangeMark(mark), 1)?;
    Ok(changes.samples.into_iter().next().map(|sample| Witness { mark: changes.mark.0, sample }))
}

/// The nearest change up to `mark` whose sample is over, else that at `mark`.
fn witness(history: &mut dyn History, mark: i64) -> Result<Option<Witness>, HistoryError> {
    let is_over =
        |outcome| matches!(outcome, Outcome::Ok | Outcome::Error | Outcome::Late | Outcome::Skipped);
    for before in ((mark - WITNESS_DEPTH).max(0)..mark).rev() {
        let found = change_after(history, before)?;
        if let Some(found) = found.filter(|found| found.mark <= mark && is_over(found.sample.outcome)) {
            return Ok(Some(found));
        }
    }
    Ok(change_after(history, mark - 1)?.filter(|found| found.mark == mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::counts::follower::count_new;
    use iolag_model::{
        FailureCode, HistoryRecord, Nanoseconds, ProbeId, Series, SeriesKey, SeriesKind, WallTime,
    };
    use iolag_store::history::{Access, open_history};
    use iolag_watch::{Backing, skipped};
    use proptest::prelude::*;

    const NAME: &str = "tallies";

    struct Scene {
        directory: tempfile::TempDir,
        runtime: RuntimeDirectory,
        history: Box<dyn History>,
    }

    fn key() -> SeriesKey {
        let [host, target, task] = ["login1", "/home", "stat"].map(str::to_owned);
        SeriesKey { host, target, task, part: String::new() }
    }

    fn sample(probe: u64, outcome: Outcome, seconds: u64) -> HistorySample {
        let moment = WallTime::from_seconds(900 * probe as i64);
        HistorySample {
            duration_ns: Nanoseconds::from_seconds(seconds),
            outcome,
            failure: if outcome == Outcome::Error { FailureCode::EXIT } else { FailureCode::NONE },
            ..skipped(key(), ProbeId(probe), moment, moment, None)
        }
    }

    impl Scene {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let runtime =
                RuntimeDirectory::open_on(&directory.path().join("run"), Backing::Anything).unwrap();
            let history = open_history(directory.path().join("history").to_str().unwrap(), Access::Create);
            let mut scene = Self { directory, runtime, history: history.unwrap() };
            scene.history.append(&[HistoryRecord::Series(described())]).unwrap();
            scene
        }

        fn append(&mut self, samples: &[HistorySample]) {
            let records: Vec<_> = samples.iter().cloned().map(HistoryRecord::Sample).collect();
            self.history.append(&records).unwrap();
        }

        /// Counts what is new after `kept`.
        fn count(&mut self, mut kept: Kept) -> Kept {
            let mut mark = ChangeMark(kept.mark);
            while count_new(self.history.as_mut(), &mut kept.tallies, &mut mark).unwrap() {}
            Kept::new(mark.0, kept.tallies, kept.renames)
        }

        fn keep(&mut self) -> Kept {
            let mut kept = self.count(Kept::default());
            kept.write(&self.runtime, NAME, self.history.as_mut()).unwrap();
            kept
        }

        fn read(&mut self) -> Kept {
            Kept::read(&self.runtime, NAME, self.history.as_mut()).unwrap()
        }
    }

    #[test]
    fn what_is_kept_is_found_again() {
        let mut scene = Scene::new();
        assert_eq!(scene.read(), Kept::default());
        scene.append(&[sample(1, Outcome::Ok, 1), sample(2, Outcome::Hung, 60)]);
        let kept = scene.keep();
        assert_eq!((kept.mark, &scene.read()), (2, &kept));
        // What hung is over: it stands elsewhere, and the one before it vouches.
        scene.append(&[sample(2, Outcome::Late, 500)]);
        assert_eq!(scene.read(), kept);
    }

    #[test]
    fn what_is_damaged_or_of_another_form_is_not_believed() {
        let mut scene = Scene::new();
        scene.append(&[sample(1, Outcome::Ok, 1)]);
        scene.keep();
        let text = scene.runtime.read_file(NAME, BYTES_MAX).unwrap().unwrap();
        for place in 0..text.len() {
            let mut damaged = text.clone();
            damaged[place] ^= 1;
            assert_eq!(Kept::parse(&damaged), None, "byte {place}");
            assert_eq!(Kept::parse(&text[..place]), None, "cut off at {place}");
        }
        assert!(Kept::parse(&text).is_some());
        scene.runtime.replace_file(NAME, &text[..text.len() - 1]).unwrap();
        assert_eq!(scene.read(), Kept::default());
    }

    #[test]
    fn what_is_of_another_history_is_not_believed() {
        let mut scene = Scene::new();
        scene.append(&[sample(1, Outcome::Ok, 1), sample(2, Outcome::Ok, 2)]);
        let kept = scene.keep();
        // One that went back; and one that grew from the same begin into something else.
        for others in [&[1][..], &[1, 3], &[1, 3, 4, 5]] {
            let mut other = Scene::new();
            others.iter().for_each(|probe| other.append(&[sample(*probe, Outcome::Ok, *probe)]));
            let found = Kept::read(&scene.runtime, NAME, other.history.as_mut()).unwrap();
            assert_eq!(found, Kept::default(), "{others:?}");
            assert!(other.directory.path().exists());
        }
        scene.append(&[sample(3, Outcome::Ok, 3)]);
        assert_eq!(scene.read(), kept, "its own goes on");
    }

    fn described() -> Series {
        Series {
            key: key(),
            kind: SeriesKind::Task,
            resolution_ns: Nanoseconds::ZERO,
            period_ns: Nanoseconds::from_seconds(900),
            deadline_ns: Nanoseconds::from_seconds(60),
            description: String::new(),
            unit: String::new(),
            described: WallTime(0),
        }
    }

    /// What a watch records of one probe, state by state.
    fn life(probe: u64) -> impl Strategy<Value = Vec<HistorySample>> {
        let lives = [
            vec![(Outcome::Ok, 2)],
            vec![(Outcome::Error, 1)],
            vec![(Outcome::Timeout, 60)],
            vec![(Outcome::Skipped, 0)],
            vec![(Outcome::Hung, 60)],
            vec![(Outcome::Hung, 60), (Outcome::Error, 1000)],
            vec![(Outcome::Hung, 60), (Outcome::Hung, 120), (Outcome::Late, 500)],
        ];
        prop::sample::select(lives.to_vec()).prop_map(move |states| {
            states.into_iter().map(|(outcome, seconds)| sample(probe, outcome, seconds)).collect()
        })
    }

    /// Lives, each with the part of the time in which it begins.
    fn lives() -> impl Strategy<Value = Vec<(usize, Vec<HistorySample>)>> {
        (1_u64..10)
            .prop_flat_map(|probes| (1..=probes).map(|probe| (0_usize..3, life(probe))).collect::<Vec<_>>())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn going_on_comes_to_what_a_new_count_comes_to(lives in lives()) {
            let mut scene = Scene::new();
            for part in 0_usize..6 {
                let state = |(begin, life): &(usize, Vec<HistorySample>)| life.get(part.checked_sub(*begin)?).cloned();
                scene.append(&lives.iter().filter_map(state).collect::<Vec<_>>());
                let kept = scene.read();
                let mut resumed = scene.count(kept);
                resumed.write(&scene.runtime, NAME, scene.history.as_mut()).unwrap();
                let fresh = scene.count(Kept::default());
                prop_assert_eq!((resumed.mark, resumed.tallies), (fresh.mark, fresh.tallies));
            }
        }
    }
}
