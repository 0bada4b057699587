//! From what the engine recorded to the figures.

use std::collections::BTreeMap;

use iolag_model::{Outcome, StageIndex, TargetIndex, format_count};

use super::clients::{ClientDurations, ClientRecorder, StageRecorder, jain, jain_over_time};
use super::engine::FigureEngine;
use super::hangs::hang_spans;
use super::marks::{MarkRecorder, Point, points_of};
use super::plan::FigurePlan;
use super::series::{SeriesRecorder, unpack_maximum};
use super::shape;
use crate::figure_column::{Column32, ColumnFloat};
use crate::run::figure::document::activity::{
    FAIRNESS_BINS, Fairness, FairnessLine, RATE_BINS, Rates, StageFairness,
};
use crate::run::figure::document::distribution::{ClientBox, ClientBoxes, ClientsShown};
use crate::run::figure::document::episode::{Episode, join_spells};
use crate::run::figure::document::run_figures::{Layer, RunFacts, RunFigures, Series, SeriesBox};
use crate::run::figure::document::time_line::{Density, TIME_COLUMNS, TimeLine, TimeLineForm};

impl FigureEngine {
    /// The figures.
    pub fn finish(self) -> RunFigures {
        draw(self)
    }
}

fn draw(mut engine: FigureEngine) -> RunFigures {
    let orders = Orders::of(&engine);
    let form =
        if engine.known > engine.plan.limits.points { TimeLineForm::Density } else { TimeLineForm::Points };
    let points = std::mem::take(&mut engine.points);
    for point in &points {
        let layer = usize::from(engine.series[usize::from(point.series)].layer);
        engine.grid.add(layer, point.time, usize::from(point.bucket));
    }
    let layers = layers_of(&engine, &orders);
    let series: Vec<SeriesRecorder> = orders.sorted_series(std::mem::take(&mut engine.series));
    let (density, grid) = engine.grid.density(&orders.layers);
    let heat_map = grid.heat_map(&orders.layers);
    let known = (engine.known, engine.plan.limits.points);
    let time_line = match form {
        TimeLineForm::Points => {
            let numbered =
                |point: Point| Point { series: orders.series_of[usize::from(point.series)], ..point };
            let points = points.into_iter().map(numbered).collect();
            time_line(points, None, known, engine.marks, (&orders, &engine.plan))
        }
        TimeLineForm::Density => {
            let orders = (&orders, &engine.plan);
            time_line(maxima(&series), Some(density), known, engine.marks, orders)
        }
    };
    let plan = &engine.plan;
    let indexed = || (0_u16..).zip(&series);
    RunFigures {
        run: with_stage_times(plan.facts.clone(), &engine.stages),
        counts: engine.counts,
        layers,
        time_line,
        distributions: indexed()
            .filter(|(_, own)| own.histogram.total() > 0)
            .map(|(index, own)| {
                let thresholds = &plan.facts.thresholds_ns;
                let over = (thresholds.as_slice(), own.known_over.as_slice());
                shape::distribution(index, &own.histogram, plan.censoring, over, own.sample_size())
            })
            .collect(),
        histograms: indexed()
            .filter_map(|(index, own)| shape::histogram_figure(index, &own.histogram))
            .collect(),
        boxes: indexed()
            .filter_map(|(series, own)| {
                shape::box_of(&own.histogram, plan.censoring).map(|durations| SeriesBox { series, durations })
            })
            .collect(),
        client_boxes: client_boxes(&engine.clients, plan, &orders.layers),
        heat_map,
        rates: rates(engine.bin_ns, &series),
        fairness: fairness(plan, &engine.clients, &engine.stages),
        episodes: episodes(plan, &series),
        hangs: hang_spans(plan, &series),
        series: series.iter().map(|own| series_of(plan, own, &orders)).collect(),
    }
}

/// The order in which series and layers are shown: by target, part and operation.
struct Orders {
    /// Old indices in the new order.
    series: Vec<usize>,
    /// New index by old one.
    series_of: Vec<u16>,
    layers: Vec<usize>,
    layer_of: Vec<u16>,
}

impl Orders {
    fn of(engine: &FigureEngine) -> Self {
        let mut series: Vec<usize> = (0..engine.series.len()).collect();
        series.sort_by_key(|index| engine.series[*index].key);
        let mut layers: Vec<usize> = (0..engine.layers.len()).collect();
        layers.sort_by_key(|index| engine.layers[*index]);
        let (series_of, layer_of) = (inverse(&series), inverse(&layers));
        Self { series, series_of, layers, layer_of }
    }

    fn sorted_series(&self, series: Vec<SeriesRecorder>) -> Vec<SeriesRecorder> {
        let mut series: Vec<Option<SeriesRecorder>> = series.into_iter().map(Some).collect();
        self.series.iter().filter_map(|index| series[*index].take()).collect()
    }
}

fn inverse(order: &[usize]) -> Vec<u16> {
    let mut of = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        of[*old] = new as u16;
    }
    of
}

fn layers_of(engine: &FigureEngine, orders: &Orders) -> Vec<Layer> {
    let layer = |index: &usize| {
        let key = engine.layers[*index];
        let name = engine.plan.name(key.operation, None, key.target);
        Layer { name, operation: key.operation, target: key.target }
    };
    orders.layers.iter().map(layer).collect()
}

fn series_of(plan: &FigurePlan, own: &SeriesRecorder, orders: &Orders) -> Series {
    let mut errors = own.errors.clone();
    errors.sort_unstable_by_key(|error| error.class);
    let over = own.known_over.iter().zip(&own.censored_over).map(|(known, censored)| known + censored);
    Series {
        name: plan.name(own.key.operation, Some(own.key.part), own.key.target),
        operation: own.key.operation,
        level: own.key.operation.level(),
        target: own.key.target,
        part: plan.series_part(own.key.part, own.key.slot),
        layer: orders.layer_of[usize::from(own.layer)],
        attempts: own.attempts(),
        ok: own.outcome(Outcome::Ok),
        late: own.outcome(Outcome::Late),
        timeout: own.outcome(Outcome::Timeout),
        hung: own.outcome(Outcome::Hung),
        skipped: own.outcome(Outcome::Skipped),
        errors,
        bytes: own.bytes,
        min_ns: own.histogram.min(),
        max_ns: own.histogram.max(),
        longest_wait_ns: own.histogram.censored_max(),
        over: over.collect(),
        sample_size: own.sample_size(),
    }
}

/// The longest attempt of every series in every time column.
fn maxima(series: &[SeriesRecorder]) -> Vec<Point> {
    let of_series = |(series, own): (u16, &SeriesRecorder)| {
        own.maxima.iter().filter_map(|packed| unpack_maximum(series, *packed)).collect::<Vec<_>>()
    };
    (0..).zip(series).flat_map(of_series).collect()
}

fn time_line(
    points: Vec<Point>,
    density: Option<Density>,
    (attempts, points_max): (u64, u64),
    marks: MarkRecorder,
    (orders, plan): (&Orders, &FigurePlan),
) -> TimeLine {
    let decimation = density.as_ref().map(|density| {
        let rows = density.layers.iter().map(|layer| layer.rows).max().unwrap_or_default();
        format!(
            "{} attempts are more than {}: they are drawn as density, counted in {TIME_COLUMNS} steps of time and up \
to {rows} steps of duration; the longest of every series in every step of time is kept as a point ({} points).",
            format_count(attempts),
            format_count(points_max),
            format_count(points.len() as u64),
        )
    });
    TimeLine {
        form: if density.is_some() { TimeLineForm::Density } else { TimeLineForm::Points },
        attempts,
        decimation,
        points: points_of(points, plan),
        density,
        marks: marks.finish(&orders.series_of),
    }
}

fn with_stage_times(mut facts: RunFacts, stages: &BTreeMap<(u16, u16), StageRecorder>) -> RunFacts {
    for facts in &mut facts.stages {
        let own = stages.range((facts.stage.0, 0)..=(facts.stage.0, u16::MAX)).map(|(_, own)| own);
        facts.begin = own.clone().filter_map(|own| own.begin).min();
        facts.end = own.filter_map(|own| own.end).max();
    }
    facts
}

/// Which of `count` ordered clients are shown, with their places in per cent.
fn shown(count: usize) -> (ClientsShown, Vec<(usize, Option<u32>)>) {
    match FigureEngine::clients_shown(count) {
        ClientsShown::Each => (ClientsShown::Each, (0..count).map(|index| (index, None)).collect()),
        ClientsShown::Deciles => {
            let decile = |tenth: usize| (tenth * (count - 1) / 10, Some(tenth as u32 * 10));
            (ClientsShown::Deciles, (0..=10).map(decile).collect())
        }
    }
}

fn client_boxes(clients: &[ClientRecorder], plan: &FigurePlan, layer_order: &[usize]) -> Vec<ClientBoxes> {
    let of_layer = |(layer, old): (u16, &usize)| {
        let mut own: Vec<(u16, &ClientDurations)> = (0..)
            .zip(clients)
            .filter_map(|(slot, client)| Some((slot, client.durations.get(*old)?.as_deref()?)))
            .collect();
        if own.len() < 2 {
            return None;
        }
        let (shown, places) = shown(own.len());
        if shown == ClientsShown::Deciles {
            own.sort_by_key(|(slot, durations)| (durations.median_place(), *slot));
        }
        let box_of = |&(index, percent): &(usize, Option<u32>)| {
            let (slot, durations) = own[index];
            let durations = shape::box_of(&durations.histogram(), plan.censoring)?;
            Some(ClientBox { client: plan.client_of(slot), percent, durations })
        };
        let boxes = places.iter().filter_map(box_of).collect();
        Some(ClientBoxes { layer, shown, clients: own.len() as u64, boxes })
    };
    (0..).zip(layer_order).filter_map(of_layer).collect()
}

fn rates(bin_ns: f64, series: &[SeriesRecorder]) -> Rates {
    Rates {
        bins: RATE_BINS,
        bin_ns,
        operations: series.iter().flat_map(|own| own.operations.iter().copied()).collect(),
        bytes: series.iter().flat_map(|own| own.bytes_by_bin.iter().map(|bytes| *bytes as f32)).collect(),
        in_flight: series.iter().flat_map(|own| own.in_flight(bin_ns)).collect(),
    }
}

fn fairness(
    plan: &FigurePlan,
    clients: &[ClientRecorder],
    stages: &BTreeMap<(u16, u16), StageRecorder>,
) -> Vec<Fairness> {
    let of_target = |target: u16| {
        let target = TargetIndex(target);
        let own: Vec<(u16, &ClientRecorder)> =
            (0..).zip(clients).filter(|(_, client)| client.is_used() && client.target == target).collect();
        (own.len() > 1).then(|| fairness_of(plan, target, own, stages))
    };
    (0..plan.facts.targets.len() as u16).filter_map(of_target).collect()
}

fn fairness_of(
    plan: &FigurePlan,
    target: TargetIndex,
    mut clients: Vec<(u16, &ClientRecorder)>,
    stages: &BTreeMap<(u16, u16), StageRecorder>,
) -> Fairness {
    let rate = |client: &ClientRecorder| client.per_second().unwrap_or_default();
    let jain_of_rates = jain(clients.iter().map(|(_, client)| rate(client)));
    let done_in = |client: &ClientRecorder, bin: usize| client.done.get(bin).copied().unwrap_or_default();
    let of_moments =
        jain_over_time(clients.len(), FAIRNESS_BINS as usize, |client, bin| done_in(clients[client].1, bin));
    let (shown, places) = shown(clients.len());
    if shown == ClientsShown::Deciles {
        clients.sort_by(|left, right| rate(left.1).total_cmp(&rate(right.1)).then(left.0.cmp(&right.0)));
    }
    let line = |&(index, percent): &(usize, Option<u32>)| {
        let (slot, client) = clients[index];
        let mut sum = 0_u32;
        let done: Column32 = (0..FAIRNESS_BINS as usize)
            .map(|bin| {
                sum = sum.saturating_add(done_in(client, bin));
                sum
            })
            .collect();
        FairnessLine { client: plan.client_of(slot), percent, done, per_second: client.per_second() }
    };
    Fairness {
        target,
        clients: clients.len() as u64,
        clients_per_group: plan.clients_per_group,
        bins: FAIRNESS_BINS,
        bin_ns: plan.span.length().0 as f64 / f64::from(FAIRNESS_BINS),
        shown,
        lines: places.iter().map(line).collect(),
        jain: jain_of_rates,
        jain_over_time: ColumnFloat(of_moments),
        stages: stages
            .iter()
            .filter(|((_, of), _)| *of == target.0)
            .map(|((stage, _), own)| StageFairness {
                stage: StageIndex(*stage),
                clients: own.clients,
                unfinished: own.unfinished,
                first_done_ns: own.done_ns().map(|[first, _]| first),
                last_done_ns: own.done_ns().map(|[_, last]| last),
                jain: own.jain(),
            })
            .collect(),
    }
}

fn episodes(plan: &FigurePlan, series: &[SeriesRecorder]) -> Vec<Episode> {
    let of_series = |(index, own): (u16, &SeriesRecorder)| {
        let spells = own.spells().flat_map(|spells| spells.of_series(own.key.target, index));
        spells.collect::<Vec<_>>()
    };
    let spells = (0..).zip(series).flat_map(of_series).collect();
    join_spells(spells, plan.gap, |index| {
        let threshold = series[usize::from(index)].slow_threshold()?;
        plan.facts.thresholds_ns.get(threshold).copied()
    })
}
