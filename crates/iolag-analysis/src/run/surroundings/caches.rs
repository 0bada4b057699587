//! What was done about caches before a stage, and whether it came to what was asked for.

use iolag_model::{
    CacheState, Nanoseconds, Operation, RunRecord, StageIndex, TargetRecord, Trust, format_bytes,
    format_duration, one_line,
};
use serde::{Deserialize, Serialize};

use crate::run::summary::{Summaries, Summary};

/// Up to this share of the files may be in memory where caches are cold, or missing where they are warm.
const SHARE_MAX: f64 = 0.01;

/// What was done about caches before a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageCaches {
    /// What was to be made of them.
    pub wish: CacheState,
    /// How long that took.
    pub time_ns: Nanoseconds,
    /// Whether it could be done.
    pub is_done: bool,
    /// Bytes of the files that were looked at; absent if nobody could.
    pub held_bytes: Option<u64>,
    /// Those of them that were in memory; absent where the kernel does not tell.
    pub resident_bytes: Option<u64>,
}

impl StageCaches {
    pub(crate) fn of(stage: StageIndex, summaries: &Summaries) -> Option<Self> {
        let of = |operation| -> Option<&Summary> {
            let is_it = |one: &&Summary| (one.key.stage, one.key.operation) == (Some(stage), operation);
            summaries.summaries.iter().find(is_it)
        };
        let (wish, made) = match (of(Operation::CachesDrop), of(Operation::CachesWarm)) {
            (Some(dropped), _) => (CacheState::Cold, dropped),
            (None, Some(warmed)) => (CacheState::Warm, warmed),
            (None, None) => return None,
        };
        let bytes = |operation| of(operation).filter(|one| one.succeeded() > 0).map(|one| one.bytes);
        // Of what failed it is known, too, how long that took.
        let took = made.failed.as_ref().unwrap_or(&made.durations);
        Some(Self {
            wish,
            time_ns: took.max.lower_bound().unwrap_or_default(),
            is_done: made.succeeded() > 0,
            held_bytes: bytes(Operation::CachesHeld),
            resident_bytes: bytes(Operation::CachesResident),
        })
    }

    /// Whether caches were what they were to be; nothing if nobody knows.
    pub fn is_achieved(&self) -> Option<bool> {
        let (held, resident) = (self.held_bytes?, self.resident_bytes?);
        let share = if held == 0 { 0.0 } else { resident as f64 / held as f64 };
        Some(match self.wish {
            CacheState::Asis => true,
            CacheState::Cold => share <= SHARE_MAX,
            CacheState::Warm => held == 0 || share >= 1.0 - SHARE_MAX,
        })
    }
}

/// How long it took to make caches what they were to be, before the stage of a run that took longest: what is written back first is the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachesTime {
    /// What was to be made of them.
    pub wish: CacheState,
    /// How long that took.
    pub time_ns: Nanoseconds,
}

impl CachesTime {
    pub(crate) fn of(run: &RunRecord, summaries: &Summaries) -> Option<Self> {
        let of_stages = run.stages.iter().filter_map(|stage| StageCaches::of(stage.stage, summaries));
        let longest = of_stages.filter(|caches| caches.is_done).max_by_key(|caches| caches.time_ns)?;
        Some(Self { wish: longest.wish, time_ns: longest.time_ns })
    }
}

/// What is memory itself cannot be cold.
fn of_memory(run: &RunRecord) -> Option<Trust> {
    let is_memory = |kind: &str| ["tmpfs", "ramfs"].contains(&kind);
    let kind =
        |target: &TargetRecord| target.file_system.as_ref().map(|file_system| file_system.kind.clone());
    let found = run
        .measured_targets()
        .iter()
        .find_map(|target| Some((one_line(&target.name), kind(target).filter(|kind| is_memory(kind))?)));
    let (name, kind) = found?;
    Some(Trust {
        doubt: format!(
            "{name} is a {kind}, which is memory itself: nothing of it can be dropped, and caches are as warm as ever"
        ),
        advice: "leave out --caches cold there, or measure a file system that has a disk or a server"
            .to_owned(),
    })
}

/// A doubt for each way in which caches were not what they were to be; `stages` are those before which something was done, by name.
pub(crate) fn caches_doubted(run: &RunRecord, stages: &[(String, StageCaches)]) -> Vec<Trust> {
    let wish = run.spec.caches;
    let named = |is_meant: &dyn Fn(&StageCaches) -> bool| -> Vec<(String, StageCaches)> {
        stages.iter().filter(|(_, caches)| is_meant(caches)).cloned().collect()
    };
    let (unknown, otherwise) = (
        named(&|caches| caches.is_achieved().is_none()),
        named(&|caches| caches.is_achieved() == Some(false)),
    );
    let names = |stages: &[(String, StageCaches)]| {
        stages.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut doubts: Vec<Trust> =
        (wish == CacheState::Cold).then(|| of_memory(run)).flatten().into_iter().collect();
    if !unknown.is_empty() {
        doubts.push(Trust {
            doubt: format!(
                "before {} nobody could tell what was in the caches, which were to be {wish}",
                names(&unknown)
            ),
            advice: "compare with files larger than the memory, or read past the cache (--io direct)"
                .to_owned(),
        });
    }
    if let Some((name, caches)) = otherwise.first() {
        let (held, resident) =
            (caches.held_bytes.unwrap_or_default(), caches.resident_bytes.unwrap_or_default());
        let more = if otherwise.len() > 1 {
            format!(" (also before {})", names(&otherwise[1..]))
        } else {
            String::new()
        };
        doubts.push(Trust {
            doubt: format!(
                "caches were to be {wish}, and before {name}, {} of {} were in memory{more}",
                format_bytes(resident),
                format_bytes(held)
            ),
            advice: match wish {
                CacheState::Warm => "the files do not fit into the memory: choose smaller ones, or --caches asis".to_owned(),
                _ => "a file system in memory keeps its files there; elsewhere somebody else has them open or mapped".to_owned(),
            },
        });
    }
    doubts
}

/// As in `caches dropped in 2.03 s, 0 B of 1 GiB were left in memory`.
impl std::fmt::Display for StageCaches {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let made = match (self.wish, self.is_done) {
            (CacheState::Warm, true) => "caches filled in",
            (CacheState::Warm, false) => "caches could not be filled, after",
            (_, true) => "caches dropped in",
            (_, false) => "caches could not be dropped, after",
        };
        write!(formatter, "{made} {}", format_duration(self.time_ns))?;
        match (self.held_bytes, self.resident_bytes) {
            (Some(0), _) => Ok(()),
            (Some(held), Some(resident)) => {
                write!(
                    formatter,
                    ", then {} of {} were in memory",
                    format_bytes(resident),
                    format_bytes(held)
                )
            }
            _ => formatter.write_str(", what they held then is unknown"),
        }
    }
}
