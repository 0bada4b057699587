//! What is found in a metadata run, in words.

use std::borrow::Cow;

use iolag_analysis::{
    Crew, CutOff, LateStart, LeftOut, MemoryOfIterations, ObjectsGone, ProcessorsBusy, RepetitionJudgement,
    RepetitionsDiffer, RingWaits, ShortStages, Suspect, Unequal, WorkingSetChange, capitalised,
    factor_in_words, joined, share_in_words,
};
use iolag_model::{MemoryLook, counted, format_bytes, format_duration};

use super::followed::failed_in_words;
use crate::finding::in_words::{About, Evidence, EvidenceAmount, InWords};

impl InWords for ObjectsGone {
    fn sentence(&self, _about: &About<'_>) -> String {
        let lost = capitalised(&self.lost.in_words());
        format!("{lost}: somebody else removed it, or the file system does not find it.")
    }

    fn advice(&self) -> Cow<'static, str> {
        let advice = "See who removes files there (other users, a purge), and repeat; if nobody does, the file system loses files.";
        match self.lost.is_destroyed() {
            false => advice.into(),
            true => format!(
                "{advice} Figures of {} and later are of something else than what was to be measured.",
                self.lost.from
            )
            .into(),
        }
    }
}

impl InWords for WorkingSetChange {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { created, deleted } = self;
        format!("the working set changed: {created} objects created, {deleted} deleted.")
    }

    fn advice(&self) -> Cow<'static, str> {
        "Later iterations work on another number of objects; see the errors of create and delete.".into()
    }
}

impl InWords for LeftOut {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!("Because operations before did not end, {}.", failed_in_words(&self.followed))
    }

    fn advice(&self) -> Cow<'static, str> {
        "iolag does nothing more with an object after that, so others are missing or in the way later.".into()
    }
}

impl InWords for Unequal {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { first_ns, last_ns, .. } = self;
        format!(
            "clients are served unequally: the first was done after {first_ns}, the last after {last_ns}."
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Rates are of the whole time, in which some clients had nothing to do; use `--time-limit`.".into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        let balance = self.balance_percent;
        vec![Evidence::new("balance", format!("{balance:.0} %"), EvidenceAmount::Share(balance / 100.0))]
    }
}

impl InWords for RepetitionsDiffer {
    fn sentence(&self, _about: &About<'_>) -> String {
        let reason = match self.comparison.judgement {
            RepetitionJudgement::DifferUntested => "differ a lot",
            _ => "differ by more than chance",
        };
        let factor = factor_in_words(self.comparison.factor);
        let memory = self.memory.map_or_else(String::new, memory_in_words);
        format!("Iterations {reason}: the fastest is {factor} times as fast as the slowest.{memory}")
    }

    fn advice(&self) -> Cow<'static, str> {
        let cause = match self.suspect {
            Suspect::Load => "The load, told below, may do that",
            Suspect::Storage => "Write-back timers, garbage collection or other users may do that",
            Suspect::Programs => "Other programs on this host may do that",
        };
        format!("{cause}: use more and longer iterations, and report their range, not one number.").into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        let factor = self.comparison.factor;
        let fastest =
            Evidence::new("fastest by slowest", factor_in_words(factor), EvidenceAmount::Factor(factor));
        let by_chance = self.comparison.p.map(|p| {
            Evidence::new("probability by chance", format!("{p:.2e}"), EvidenceAmount::Probability(p))
        });
        let memory = self.memory.into_iter().flat_map(memory_evidence);
        std::iter::once(fastest).chain(by_chance).chain(memory).collect()
    }
}

/// What memory had meanwhile, behind a sentence; what follows from it is not said.
fn memory_in_words(MemoryOfIterations { fastest, slowest }: MemoryOfIterations) -> String {
    let words =
        |look: MemoryLook| [look.dirty_bytes, look.writeback_bytes, look.page_cache_bytes].map(format_bytes);
    let [dirty, writeback, page_cache] = words(fastest);
    let of_slowest = joined(words(slowest).to_vec());
    format!(
        " While the fastest ran, {dirty} of the host's memory were dirty, {writeback} were being written back and the page cache had \
         {page_cache}; while the slowest ran, {of_slowest} (medians)."
    )
}

fn memory_evidence(MemoryOfIterations { fastest, slowest }: MemoryOfIterations) -> [Evidence; 6] {
    let of = |what: &str, iteration: &str, bytes| Evidence::memory(format!("{what}, {iteration}"), bytes);
    [
        of("dirty memory", "fastest", fastest.dirty_bytes),
        of("dirty memory", "slowest", slowest.dirty_bytes),
        of("write-back", "fastest", fastest.writeback_bytes),
        of("write-back", "slowest", slowest.writeback_bytes),
        of("page cache", "fastest", fastest.page_cache_bytes),
        of("page cache", "slowest", slowest.page_cache_bytes),
    ]
}

impl InWords for ProcessorsBusy {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { load, cpus, crew } = self;
        let processors = counted((*cpus).into(), "processor", "processors");
        let them = if *cpus == 1 { "it" } else { "them" };
        match crew {
            Crew::Clients => {
                format!("The load was {load:.1} on {processors}: the clients may have waited for {them}.")
            }
            Crew::Copies => format!(
                "The load was {load:.1} on {processors}, that of others of this machine included: the copies may have waited for {them}."
            ),
        }
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.crew {
            Crew::Clients => {
                "Use fewer clients per host, or more hosts, and compare: if the rate per client rises, this host was \
                 the limit, not the storage."
            }
            Crew::Copies => {
                "See who else computes on this machine, use fewer copies there, or another, and compare: if a copy takes less time, processors were \
                 the limit, not the storage."
            }
        }
        .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        vec![Evidence::new("load, 1 min", format!("{:.2}", self.load), EvidenceAmount::Load(self.load))]
    }
}

impl InWords for LateStart {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!(
            "In {} clients did not start together: in {} the last one started {} after the first, {} of the stage.",
            stages_in_words(self.stages, self.of),
            self.worst,
            format_duration(self.skew_ns),
            share_in_words(self.share)
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Rates count that time, too. Use no more clients than processors, or longer stages: more objects."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        let share = EvidenceAmount::Share(self.share);
        vec![
            Evidence::duration("latest start", self.skew_ns),
            Evidence::new("share of the stage", share_in_words(self.share), share),
        ]
    }
}

impl InWords for ShortStages {
    fn sentence(&self, _about: &About<'_>) -> String {
        format!(
            "{} lasted less than {}: {} only {}.",
            capitalised(&stages_in_words(self.stages, self.of)),
            self.limit_ns,
            self.shortest,
            format_duration(self.time_ns),
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "A stage this short measures its beginning and chance: use more objects, and compare no rates of it."
            .into()
    }

    fn evidence(&self) -> Vec<Evidence> {
        vec![Evidence::duration("shortest stage", self.time_ns)]
    }
}

impl InWords for CutOff {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { stage, time_ns, unfinished, clients } = self;
        let who = match *unfinished {
            all if all == u64::from(*clients) => "before any client had finished it".to_owned(),
            some => format!("before {some} of {clients} clients had finished it"),
        };
        format!("{} was cut off after {}, {who}.", capitalised(stage), format_duration(*time_ns))
    }

    fn advice(&self) -> Cow<'static, str> {
        "Its figures are of its beginning: compare no rates of it, and measure again.".into()
    }
}

impl InWords for RingWaits {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { count, share, longest_ns } = self;
        let percent = 100.0 * share;
        format!(
            "Clients waited {count} times for room in the recording rings, {percent:.0} % of their time (longest {longest_ns}); nothing \
             was lost, but they paused."
        )
    }

    fn advice(&self) -> Cow<'static, str> {
        "Enlarge the rings (`--buffer`), put the store on something faster, or use fewer clients.".into()
    }
}

fn stages_in_words(count: usize, all: usize) -> String {
    match (count, all) {
        (1, 1) => "the only stage".to_owned(),
        (count, all) if count == all => format!("each of {all} stages"),
        _ => format!("{count} of {all} stages"),
    }
}
