//! What the engine of the figures must know before the first sample: the span, the parts, the limits.

use std::ops::RangeInclusive;

use iolag_model::{
    ClientId, CopyEnd, Level, MonotonicTime, Nanoseconds, Operation, Phase, RunRecord, RunState,
    SampleColumns, TargetIndex,
};

use crate::run::figure::document::episode::gap_of;
use crate::run::figure::document::run_figures::{RunFacts, SeriesPart, StageFacts, TargetFacts};
use crate::run::figure::document::time_line::{MARKS_MAX, POINTS_MAX, TIME_COLUMNS};
use crate::run::workload::analysed;
use crate::{Censoring, stage_name};

/// With more stages than this, series tell phases apart instead.
pub const STAGES_APART_MAX: usize = 24;
/// With more clients than this, neighbours share a place.
pub const CLIENTS_APART_MAX: u32 = 4096;
/// Rows that the grid may hold, of 6.4 KiB each, before it becomes coarser.
const GRID_ROWS_MAX: usize = 8192;

/// The time that a run is drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// Its left edge.
    pub begin: MonotonicTime,
    /// Its right edge.
    pub end: MonotonicTime,
}

impl TimeSpan {
    /// From the first to the last anchor, if the run lived to take its last one; else look at the samples by
    /// [`SpanFinder`]. So too of copies: what they do may take milliseconds, and all before it seconds.
    pub fn of_record(record: &RunRecord) -> Option<Self> {
        let ended = matches!(record.state, RunState::Complete | RunState::Incomplete { .. });
        let ended = ended && record.spec.workload.job_terms().is_none();
        let begin = record.anchors.first()?.monotonic_ns;
        let end = record.anchors.last()?.monotonic_ns;
        (ended && end > begin).then_some(Self { begin, end })
    }

    /// Its length; at least 1 ns, so that it can be divided by.
    pub fn length(self) -> Nanoseconds {
        Nanoseconds(self.end.since(self.begin).0.max(1))
    }
}

/// Finds the span of samples whose run has no last anchor. Needs `start_ns` and `duration_ns`.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpanFinder {
    span: Option<(i64, i64)>,
}

impl SpanFinder {
    /// Takes a batch.
    pub fn batch(&mut self, columns: SampleColumns<'_>) {
        for (start, duration) in columns.start_ns.iter().zip(columns.duration_ns) {
            self.widen((*start, start.saturating_add(*duration)));
        }
    }

    fn widen(&mut self, (begin, end): (i64, i64)) {
        let (first, last) = self.span.unwrap_or((begin, end));
        self.span = Some((first.min(begin), last.max(end)));
    }

    /// Adds what another finder has seen.
    pub fn merge(&mut self, other: Self) {
        if let Some(span) = other.span {
            self.widen(span);
        }
    }

    /// From the first start to the last end; `None` without samples.
    pub fn finish(self) -> Option<TimeSpan> {
        let (begin, end) = self.span?;
        let moment = |ns: i64| MonotonicTime(ns.max(0) as u64);
        Some(TimeSpan { begin: moment(begin), end: moment(end) })
    }
}

/// When figures are thinned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureLimits {
    /// More attempts of known duration are drawn as density.
    pub points: u64,
    /// More marks are counted by time column.
    pub marks: u64,
    /// With more rows in memory the grid becomes coarser.
    pub grid_rows: usize,
}

impl Default for FigureLimits {
    fn default() -> Self {
        Self { points: POINTS_MAX, marks: MARKS_MAX, grid_rows: GRID_ROWS_MAX }
    }
}

/// What tells series apart besides target and operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Apart {
    /// Stages, or with many of them phases.
    #[default]
    Parts,
    /// Nothing: all iterations and phases of an operation are one series.
    Nothing,
    /// Clients.
    Clients,
}

/// Which attempts are drawn, and how series are made of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FigureChoice {
    /// What tells series apart.
    pub apart: Apart,
    /// Only these phases; all if empty.
    pub phases: Vec<Phase>,
    /// Only clients of these numbers; all if empty.
    pub clients: Vec<RangeInclusive<u32>>,
}

/// What is to be drawn of which run.
#[derive(Debug, Clone, PartialEq)]
pub struct FigurePlan {
    pub(crate) facts: RunFacts,
    pub(crate) span: TimeSpan,
    /// What series tell apart; empty if they do not.
    pub(crate) parts: Vec<SeriesPart>,
    /// Index into `parts` by stage.
    part_of_stage: Vec<Option<u16>>,
    /// Of a run that copies from one target to another: the phase of each stage.
    copying: Vec<Option<Phase>>,
    pub(crate) clients_per_group: u32,
    pub(crate) gap: Nanoseconds,
    /// Hangs closer together are one: a column of the time line.
    pub(crate) hang_gap: Nanoseconds,
    /// As in the summary.
    pub(crate) censoring: Censoring,
    pub(crate) limits: FigureLimits,
    pub(crate) choice: FigureChoice,
}

impl FigurePlan {
    /// A plan for this run, drawn over this span.
    pub fn new(record: &RunRecord, span: TimeSpan) -> Self {
        let (parts, part_of_stage) = parts_of(record);
        let clients = (record.clients.len() as u32).max(record.spec.clients);
        Self {
            facts: facts_of(record, span, clients),
            span,
            parts,
            part_of_stage,
            copying: copying(record),
            clients_per_group: clients.div_ceil(CLIENTS_APART_MAX).max(1),
            gap: gap_of(span.length()),
            hang_gap: Nanoseconds(span.length().0 / u64::from(TIME_COLUMNS)),
            censoring: analysed(&record.spec.workload).censoring(),
            limits: FigureLimits::default(),
            choice: FigureChoice::default(),
        }
    }

    /// The same of these attempts only. Series stand in the same order, whatever tells them apart: that of the stages in which
    /// their operations came first.
    pub fn with_choice(mut self, choice: FigureChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Whether the user wants attempts of this client.
    #[inline]
    pub(crate) fn has_client(&self, client: i32) -> bool {
        let clients = &self.choice.clients;
        clients.is_empty() || clients.iter().any(|range| range.contains(&(client.max(0) as u32)))
    }

    /// Whether the user wants attempts of this stage.
    #[inline]
    pub(crate) fn has_phase_of(&self, stage: i32) -> bool {
        let phases = &self.choice.phases;
        let of_stage = || self.facts.stages.iter().find(|facts| i32::from(facts.stage.0) == stage);
        phases.is_empty() || of_stage().is_some_and(|facts| phases.contains(&facts.phase))
    }

    /// The same with these limits.
    pub fn with_limits(mut self, limits: FigureLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How the engine finds the part of a stage: `None` if the run has no such stage.
    pub(crate) fn part_of(&self, stage: i32) -> Option<u16> {
        if self.parts.is_empty() {
            return Some(0);
        }
        usize::try_from(stage).ok().and_then(|stage| self.part_of_stage.get(stage).copied().flatten())
    }

    /// Where an attempt was made by a client of this target: one that makes copies in another target works there, too.
    #[inline]
    pub(crate) fn target_of(&self, stage: i32, operation_code: i32, target: i32) -> i32 {
        let phase = usize::try_from(stage).ok().and_then(|stage| *self.copying.get(stage)?);
        let operation = u8::try_from(operation_code).ok().and_then(Operation::from_code);
        let (Some(phase), Some(operation)) = (phase, operation) else { return target };
        match CopyEnd::of(phase, operation) {
            CopyEnd::File => target,
            CopyEnd::Copy => 1,
            // Both together are the last one.
            CopyEnd::Both => self.facts.targets.len() as i32 - 1,
        }
    }

    /// The slot of a client: its number, or beyond [`CLIENTS_APART_MAX`] that of its group.
    #[inline]
    pub(crate) fn slot_of(&self, client: i32) -> u16 {
        (client.max(0) as u32 / self.clients_per_group).min(CLIENTS_APART_MAX - 1) as u16
    }

    /// The first client of a slot.
    pub(crate) const fn client_of(&self, slot: u16) -> ClientId {
        ClientId(slot as u32 * self.clients_per_group)
    }

    /// How many series an operation on a target may have.
    pub(crate) fn apart_count(&self) -> usize {
        match self.choice.apart {
            Apart::Parts => self.parts.len().max(1),
            Apart::Nothing => 1,
            Apart::Clients => CLIENTS_APART_MAX as usize,
        }
    }

    /// What a series is about besides target and operation.
    pub(crate) fn series_part(&self, part: u16, slot: u16) -> Option<SeriesPart> {
        match self.choice.apart {
            Apart::Parts => self.parts.get(usize::from(part)).copied(),
            Apart::Nothing => None,
            Apart::Clients => Some(SeriesPart::Client(self.client_of(slot))),
        }
    }

    pub(crate) fn part_name(&self, part: u16) -> Option<String> {
        let name = |part: &SeriesPart| match part {
            SeriesPart::Client(client) => format!("client {}", client.0),
            SeriesPart::Stage(stage) => {
                let facts = self.facts.stages.iter().find(|facts| facts.stage == *stage);
                facts.map_or_else(|| format!("stage {}", stage.0), |facts| facts.name.clone())
            }
            SeriesPart::Phase(phase) => phase.to_string(),
            SeriesPart::Beside(standpoint) => format!("bystander, {standpoint}"),
        };
        self.parts.get(usize::from(part)).map(name)
    }

    /// Name of a series or layer: what there is only one of is left out.
    pub(crate) fn name(&self, operation: Operation, part: Option<u16>, target: TargetIndex) -> String {
        let mut name = operation.name().to_owned();
        let several_parts =
            operation.level() != Level::Harness && self.parts.len() > 1 && self.choice.apart == Apart::Parts;
        let part = part.filter(|_| several_parts).and_then(|part| self.part_name(part));
        let several_targets = self.facts.targets.len() > 1;
        let target = self.facts.targets.get(usize::from(target.0)).filter(|_| several_targets);
        for more in [part, target.map(|target| target.name.clone())].into_iter().flatten() {
            name.push_str(" · ");
            name.push_str(&more);
        }
        name
    }
}

/// Stages, or with many of them phases; nothing for runs whose stages are rounds of the same.
fn parts_of(record: &RunRecord) -> (Vec<SeriesPart>, Vec<Option<u16>>) {
    let tells_stages_apart = analysed(&record.spec.workload).grouping(record).stages.is_some();
    if !tells_stages_apart || record.stages.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let by_stage = record.stages.len() <= STAGES_APART_MAX;
    let mut parts: Vec<SeriesPart> = Vec::new();
    let mut part_of_stage = Vec::new();
    for record in &record.stages {
        let part = if by_stage { SeriesPart::Stage(record.stage) } else { SeriesPart::Phase(record.phase) };
        let index = parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            parts.push(part);
            parts.len() - 1
        });
        let stage = usize::from(record.stage.0);
        if part_of_stage.len() <= stage {
            part_of_stage.resize(stage + 1, None);
        }
        part_of_stage[stage] = Some(index as u16);
    }
    add_bystanders(record, &mut parts, &mut part_of_stage);
    (parts, part_of_stage)
}

/// The phase of each stage, of a run that copies from one target to another.
fn copying(record: &RunRecord) -> Vec<Option<Phase>> {
    if both_targets(record).is_none() {
        return Vec::new();
    }
    let phase = |stage| record.stages.iter().find(|known| u32::from(known.stage.0) == stage);
    (0..record.stage_count()).map(|stage| Some(phase(stage)?.phase)).collect()
}

/// What both targets of such a run are called together.
fn both_targets(record: &RunRecord) -> Option<String> {
    record.spec.place_of(Phase::Copy, Operation::StreamCopy)
}

/// Who measured beside the load has a part for each place, at all times of the load.
fn add_bystanders(record: &RunRecord, parts: &mut Vec<SeriesPart>, part_of_stage: &mut Vec<Option<u16>>) {
    part_of_stage.resize(record.stage_count() as usize, None);
    for stage in record.beside.iter().flat_map(|beside| &beside.stages) {
        let part = SeriesPart::Beside(stage.standpoint);
        let index = parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            parts.push(part);
            parts.len() - 1
        });
        part_of_stage[usize::from(stage.stage.0)] = Some(index as u16);
    }
}

fn facts_of(record: &RunRecord, span: TimeSpan, clients: u32) -> RunFacts {
    let control = record.control();
    let mut targets: Vec<TargetFacts> = record
        .targets
        .iter()
        .zip((0..).map(TargetIndex))
        .map(|(target, index)| TargetFacts {
            name: match control == Some(index) {
                true => format!("{} (this machine's memory, to compare with)", target.name),
                false => record.shown_name(index).to_owned(),
            },
            kind: target.file_system.as_ref().map_or_else(|| target.backend.clone(), |fs| fs.kind.clone()),
            unanswered_ns: target.unanswered_ns,
        })
        .collect();
    let is_asked = |index: &usize| control.is_none_or(|control| usize::from(control.0) != *index);
    let asked = (0..targets.len()).filter(is_asked);
    let names: Vec<&str> = asked.map(|index| targets[index].name.as_str()).collect();
    let names = names.join(", ");
    targets.extend(both_targets(record).map(|name| TargetFacts {
        name,
        kind: targets[0].kind.clone(),
        unanswered_ns: None,
    }));
    let workload = analysed(&record.spec.workload);
    let (title, thresholds_ns) = (workload.title(&names, record.spec.clients), workload.thresholds());
    let stage = |record: &iolag_model::StageRecord| StageFacts {
        stage: record.stage,
        name: stage_name(record.phase, record.iteration),
        phase: record.phase,
        begin: None,
        end: None,
    };
    RunFacts {
        id: record.id.clone(),
        campaign: record.campaign.clone(),
        repetition: record.repetition,
        title,
        command: record.command.clone(),
        labels: record.labels.clone(),
        host: record.environment.host.clone(),
        state: record.state.clone(),
        begin_realtime_ns: record.anchors.first().map(|anchor| anchor.realtime_of(span.begin)),
        begin_ns: span.begin,
        span_ns: span.length(),
        clients,
        targets,
        control,
        stages: record.stages.iter().map(stage).collect(),
        thresholds_ns: sorted(thresholds_ns),
    }
}

fn sorted(mut thresholds_ns: Vec<Nanoseconds>) -> Vec<Nanoseconds> {
    thresholds_ns.sort_unstable();
    thresholds_ns.dedup();
    thresholds_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_found_from_first_start_to_last_end_and_merges() {
        let mut left = SpanFinder::default();
        left.batch(SampleColumns { start_ns: &[50, 20], duration_ns: &[1, 5], ..SampleColumns::default() });
        let mut right = SpanFinder::default();
        right.batch(SampleColumns { start_ns: &[30], duration_ns: &[100], ..SampleColumns::default() });
        left.merge(right);
        left.merge(SpanFinder::default());
        let span = left.finish().unwrap();
        assert_eq!(span, TimeSpan { begin: MonotonicTime(20), end: MonotonicTime(130) });
        assert_eq!(SpanFinder::default().finish(), None);
        assert_eq!(TimeSpan { begin: span.end, end: span.end }.length(), Nanoseconds(1));
    }
}
