//! kill -9 of the watch and of its children at moments that nobody chose: whatever had been told, in a published status or at the
//! terminal, is in the history afterwards, once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use iolag_model::{HistorySample, LastSample, Nanoseconds, Outcome, Random, SeriesKey, WallTime};
use iolag_watch::PublishedStatus;

use crate::stage::Stage;
use crate::support::{Running, children, kill, wait_until};
use crate::terminal::AtTerminal;

/// In each of four tests.
const KILLS: u32 = 50;
/// For the first word of a watch, in every other round.
const FIRST_WORD: Duration = Duration::from_secs(10);
const TASKS: [&str; 3] = ["stat", "open-read", "create"];

#[test]
fn nothing_that_was_told_is_lost_in_the_first_fifty_kills() {
    kill_and_compare(1, Victims::Watch);
}

#[test]
fn nothing_that_was_told_is_lost_in_the_second_fifty_kills() {
    kill_and_compare(2, Victims::Watch);
}

#[test]
fn nothing_that_was_told_is_lost_when_children_are_killed_too() {
    kill_and_compare(3, Victims::ChildrenToo);
}

#[test]
fn nothing_that_was_told_is_lost_when_everybody_is_killed_at_once() {
    kill_and_compare(4, Victims::Everybody);
}

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victims {
    Watch,
    /// Some children before the watch.
    ChildrenToo,
    /// All processes, the watch first.
    Everybody,
}

fn kill_and_compare(seed: u64, victims: Victims) {
    let stage = Stage::new();
    let directory = stage.directory("scratch");
    let file = stage.configure(&format!(
        "every = \"60ms\"\njitter = \"10ms\"\ntasks = {TASKS:?}\n[task.create]\nfiles = 3\n\
         [[target]]\nname = \"scratch\"\ndirectory = {directory:?}\n"
    ));
    let mut random = Random::new(seed);
    let mut told = Told::default();
    let mut kills = 0;
    // On a busy machine many are killed before they have told anything.
    while kills < KILLS || (!told.is_enough() && kills < 4 * KILLS) {
        kills += 1;
        let seen = told.seen.len();
        let watch = AtTerminal::start(stage.watch_command(&["-c", &file]));
        if kills.is_multiple_of(2) {
            wait_until(FIRST_WORD, || {
                told.see(&stage);
                told.seen.len() > seen
            });
        }
        let until = Instant::now() + Duration::from_millis(150 + random.below(900));
        while Instant::now() < until {
            told.see(&stage);
            if victims == Victims::ChildrenToo && random.below(8) == 0 {
                children(watch.id()).first().into_iter().for_each(|child| kill(*child, libc::SIGKILL));
            }
            std::thread::sleep(Duration::from_millis(7));
        }
        if victims == Victims::Everybody {
            kill(watch.id(), libc::SIGKILL);
            stage.scene.processes().into_iter().for_each(|(process, _)| kill(process, libc::SIGKILL));
        }
        let (text, _) = watch.end(libc::SIGKILL);
        told.hear(&text);
        // The last word of a watch that is gone.
        told.see(&stage);
    }
    stage.scene.assert_nobody_is_left();
    let last = Running::start(stage.watch_command(&["-c", &file, "--once"])).finish();
    assert_eq!(last.code, Some(0), "{last:?}");

    let remembered = stage.remembered();
    let samples = remembered.assert_nothing_is_double();
    assert!(told.is_enough(), "too little was told: {} {}", told.seen.len(), told.heard.len());
    told.assert_all_remembered(&remembered.samples().collect::<Vec<_>>());
    assert!(samples >= told.seen.len(), "{samples}");
    for begin in &told.begins {
        let is_remembered = remembered.sessions().iter().any(|session| session.begin == *begin);
        assert!(is_remembered, "the watch of {begin} is not remembered");
    }
    stage.assert_database_is_sound();
}

/// What was told of samples by the time of a kill.
#[derive(Default)]
struct Told {
    /// By published status: the end of a probe of a series that began at a moment.
    seen: BTreeMap<(SeriesKey, WallTime), LastSample>,
    /// At the terminal: values of a series, and how often each was told.
    heard: BTreeMap<String, usize>,
    /// By published status: when watches began.
    begins: BTreeSet<WallTime>,
}

impl Told {
    /// So much that losing a little would show.
    fn is_enough(&self) -> bool {
        self.seen.len() > 50 && self.heard.len() > 50
    }

    fn see(&mut self, stage: &Stage) {
        let (PublishedStatus::Live(status) | PublishedStatus::Ended(status)) = stage.published() else {
            return;
        };
        self.begins.insert(status.begin);
        for last in status.last {
            self.seen.insert((last.series.clone(), last.start), last);
        }
    }

    fn hear(&mut self, text: &str) {
        // A line that was cut by the kill was not told.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let rounds = whole.lines().filter_map(|line| line.strip_prefix("round ")?.split_once(": "));
        for item in rounds.flat_map(|(_, items)| items.split(", ")).filter(|item| !item.is_empty()) {
            *self.heard.entry(item.to_owned()).or_default() += 1;
        }
    }

    fn assert_all_remembered(&self, samples: &[&HistorySample]) {
        let by_start: BTreeMap<_, _> =
            samples.iter().map(|sample| ((sample.series.clone(), sample.start), *sample)).collect();
        for (key, last) in &self.seen {
            let Some(sample) = by_start.get(key) else { panic!("not in the history: {last:?}") };
            assert_eq!((sample.duration_ns, sample.outcome), (last.duration_ns, last.outcome), "{last:?}");
        }
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for sample in samples.iter().filter(|sample| sample.series.part.is_empty()) {
            *known.entry(in_words(sample)).or_default() += 1;
        }
        for (item, times) in &self.heard {
            let remembered = known.get(item).copied().unwrap_or_default();
            assert!(
                remembered >= *times,
                "{item:?} was told {times} times and is remembered {remembered} times"
            );
        }
    }
}

/// As the terminal tells it.
fn in_words(sample: &HistorySample) -> String {
    let what = match sample.outcome {
        Outcome::Ok => sample.duration_ns.to_string(),
        Outcome::Error | Outcome::Retried => format!("failed: {}", sample.failure.class()),
        Outcome::Timeout => format!("over {}", sample.duration_ns),
        Outcome::Hung => format!("hung for {}", sample.duration_ns),
        Outcome::Late => format!("late, {}", sample.duration_ns),
        Outcome::Skipped => "skipped".to_owned(),
        Outcome::Interrupted => format!("interrupted after {}", sample.duration_ns),
    };
    assert!(sample.duration_ns < Nanoseconds::from_seconds(60), "{sample:?}");
    format!("{} {what}", sample.series)
}
