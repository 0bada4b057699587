// The study's figures 1 to 3: a panel for each task, all places in it, on a logarithmic axis of time taken.

import type { FigureContent, View } from "../figure/figure";
import { count, duration, durationTick, plural } from "../page/format";
import { clamp, shortened, type PanelContent, type Plot, type Tip } from "../figure/panel";
import { logDuration, roundedLog } from "../figure/scale";
import { blend } from "../figure/pixels";
import { colourOf, drawShape, rgb, shapeOf, theme } from "../figure/theme";
import { legendOfPlaces, panelsByTask, placeName, places, type Panel, type State } from "./arrangement";
import { backdropOf, backdropTip, drawSpans, drawWords, ROW, type Backdrop } from "./backdrop";
import { calendarTime, momentText } from "./calendar_scale";
import { middlesOf, momentsOf, placeOf, STATE } from "./document";
import type { HistoryFigures, SeriesFigure } from "../generated/history";
import { drawChanges, drawLevels } from "./levels";
import { hasDuration, readyStretches, stretchesOf, type Stretches } from "./ribbons";

/** Fewer points in a panel are drawn with the shapes of their series; more than the second become ribbons. */
const SHAPED_POINTS = 1500;
const SINGLE_POINTS = 16_000;
/** Width of a stretch of a ribbon in CSS pixels. */
const STRETCH_PX = 4;
/** Between the rows of marks and the axes. */
const ROWS_APART = 9;

/** What did not simply succeed, from top to bottom. */
const MARK_KINDS: [number, string][] = [
  [STATE.hung, "hung"],
  [STATE.timeout, "timed out"],
  [STATE.error, "failed"],
  [STATE.late, "late"],
  [STATE.skipped, "skipped"],
  [STATE.interrupted, "interrupted"],
];

/** What says nothing of the place itself. */
const isFaint = (kind: number): boolean => kind === STATE.skipped || kind === STATE.interrupted;

/** A panel with everything that drawing needs more than once. */
export interface Lane {
  panel: Panel;
  figures: HistoryFigures;
  middles: Float64Array;
  backdrop: Backdrop;
  kinds: [number, string][];
  /** Index of colour and shape of each of the panel's series. */
  styles: number[];
  keys: string[];
  /** What a tooltip calls each. */
  names: string[];
}

export function laneOf(panel: Panel, state: State, keyOf: (series: SeriesFigure) => string, keys: string[]): Lane {
  const { figures } = state.document;
  const own = panel.series.map(keyOf);
  const isSeen: Record<number, (slots: SeriesFigure["slots"]) => number> = {
    [STATE.hung]: (slots) => slots.hung,
    [STATE.timeout]: (slots) => slots.timeout,
    [STATE.error]: (slots) => slots.error,
    [STATE.late]: (slots) => slots.late,
    [STATE.skipped]: (slots) => slots.skipped,
    [STATE.interrupted]: (slots) => slots.interrupted,
  };
  return {
    panel,
    figures,
    middles: middlesOf(figures.axis.lowest_ns),
    backdrop: backdropOf(figures, panel.series),
    kinds: MARK_KINDS.filter(([kind]) => panel.series.some(({ slots }) => isSeen[kind](slots) > 0)),
    styles: own.map((key) => keys.indexOf(key)),
    keys: own,
    names: own,
  };
}

export function timeLine(state: State): FigureContent | null {
  const keys = places(state.document);
  const keyOf = (series: SeriesFigure): string => placeName(state.document, series);
  const lanes = panelsByTask(state).map((panel) => laneOf(panel, state, keyOf, keys));
  if (lanes.length === 0) return null;
  return {
    legend: legendOfPlaces(state, "point"),
    panelWidth: 720,
    panels: (view) => lanes.map((lane) => lanePanel(lane, state, view, 330)),
    caption: (view) => caption(state, lanes, view),
  };
}

function caption(state: State, lanes: Lane[], view: View): string {
  const { figures } = state.document;
  const samples = lanes.flatMap((lane) => lane.panel.series).reduce((sum, { slots }) => sum + slotsOf(slots), 0);
  const isRibbon = lanes.some((lane) => drawsRibbons(lane, state, view));
  const parts = [
    `${plural(samples, "sample")} at the moment when they started, by the time they took, on a logarithmic axis; lines at ` +
      `0.1, 1 and 10\u00a0s are where people notice, lose their train of thought, and turn to something else.`,
  ];
  if (isRibbon) {
    parts.push(
      "Where there are too many to draw each: the middle half dark, 5 to 95 % light, the median as line, and the longest of every stretch " +
        `as points, so that no bad moment is lost${figures.decimation === null ? "; zoom in for single samples" : ""}.`,
    );
  }
  if (figures.decimation !== null) parts.push(figures.decimation);
  parts.push(
    "Rows above the axes: events, outages (the mount of the place did not answer, or was not there), and hangs of any task of the place that are part of none; then attempts that hung, timed out, failed, came late, were not started because an " +
      "earlier one hung, or were broken off when the watch stopped. Steps are levels with their medians, broken where the level changed.",
  );
  const all = lanes.flatMap((lane) => lane.panel.series);
  if (all.some((series) => series.by_attempt.below_count > 0)) {
    parts.push("The band at the bottom holds what was shorter than the clock could tell.");
  }
  if (figures.gaps.length > 0) parts.push("Hatched: nothing is known.");
  if (figures.events_left_out > 0) parts.push(`${plural(figures.events_left_out, "older line")} of the journal are not drawn.`);
  parts.push("Times are UTC.");
  return parts.join(" ");
}

const slotsOf = (slots: SeriesFigure["slots"]): number =>
  slots.ok + slots.error + slots.timeout + slots.hung + slots.late + slots.skipped + slots.interrupted;

/** A panel of time taken over time. */
export function lanePanel(lane: Lane, state: State, view: View, height: number): PanelContent {
  const rows = lane.backdrop.rows.count + lane.kinds.length;
  const [low, high] = rangeOf(lane);
  const hasBelow = lane.panel.series.some((series) => series.by_attempt.below_count > 0);
  const shown = lane.keys.map((key) => !view.hidden.has(key));
  // Room for the band of what the clock could not tell.
  const bottom = hasBelow ? low / (high / low) ** 0.07 : low;
  const ribbons = (): boolean => drawsRibbons(lane, state, view);
  let stretches: (Stretches | null)[] = [];
  return {
    title: lane.panel.title,
    description: `Time line of ${lane.panel.title}: ${lane.panel.series.map(({ name }) => name).join(", ")}.`,
    height: height + rows * ROW,
    x: timeAxis(lane.figures, view),
    y: logDuration(bottom, high, "time taken"),
    roomAbove: rows * ROW + (rows > 0 ? ROWS_APART : 0),
    roomLeft: rows > 0 ? 72 : 0,
    zoom: "x",
    draw(plot) {
      const top = rowsTop(plot, rows);
      drawSpans(plot, lane.backdrop, top);
      stretches = ribbons() ? lane.panel.series.map((series) => stretchesIn(series, lane, plot)) : [];
      if (hasBelow) drawBelowBand(plot, lane, shown);
      drawLevels(plot, lane, shown);
      if (stretches.length > 0) drawRibbons(plot, lane, shown, stretches);
      else drawPoints(plot, lane, shown);
      drawChanges(plot, lane, shown);
      drawMarks(plot, lane, shown, top);
      drawWords(plot, lane.backdrop, top);
    },
    tip(plot, px, py) {
      if (px < plot.left - 4 || px > plot.right + 4) return null;
      const top = rowsTop(plot, rows);
      if (py < plot.top) return backdropTip(plot, lane.backdrop, px, py, top) ?? markTip(plot, lane, shown, px, py, top);
      const near = stretches.length > 0 ? stretchTip(plot, lane, shown, stretches, px, py) : pointTip(plot, lane, shown, px, py);
      return near ?? backdropTip(plot, lane.backdrop, px, py, top);
    },
  };
}

const rowsTop = (plot: Plot, rows: number): number => plot.top - rows * ROW - ROWS_APART;

export function timeAxis(figures: HistoryFigures, view: View): ReturnType<typeof calendarTime> {
  const { begin_ns, span_ns } = figures.axis;
  // Some air on both sides, so that the first and the last point are whole.
  const air = span_ns * 0.008;
  const [from, to] = view.zoom ?? [-air, span_ns + air];
  const left = clamp(from, -air, span_ns + air);
  return calendarTime(left, Math.max(clamp(to, -air, span_ns + air), left + 1e6), begin_ns);
}

/** Ends of the axis of durations; where something was below the resolution its band begins at the lower one. */
export function rangeOf(lane: Lane): [number, number] {
  let [low, high] = [Infinity, 0];
  for (const { by_attempt, resolution_ns } of lane.panel.series) {
    const { amount, end, below_count } = by_attempt;
    if (amount.length > 0) {
      // A little air below the lowest, but none below the resolution, where a band begins.
      low = Math.min(low, below_count > 0 ? resolution_ns : 0.9 * amount[0]);
      high = Math.max(high, amount[amount.length - 1]);
    }
    high = Math.max(high, end?.from ?? 0);
    // Where nothing ended there is nothing but a bound: the axis shows what people would call fast, too.
    if (end !== null) low = Math.min(low, amount.length === 0 ? 5e7 : end.from);
  }
  if (!(low < Infinity)) return [1e6, 1e11];
  // 0.1 s is always to be seen from below, so that what is fast looks fast.
  return roundedLog(Math.max(1, low), Math.max(high * 1.05, 2e8));
}

/** Points within the axes, of series that have points. */
function pointsWithin(lane: Lane, from: number, to: number): number {
  return lane.panel.series.reduce((sum, { points }) => {
    const moments = momentsOf(points.time_steps, lane.figures.axis.time_unit_ns);
    return sum + placeOf(moments, to) - placeOf(moments, from);
  }, 0);
}

function drawsRibbons(lane: Lane, { form }: State, view: View): boolean {
  if (lane.panel.series.some(({ ribbons }) => ribbons !== null)) return true;
  if (form !== "automatic") return form === "ribbons";
  const [from, to] = view.zoom ?? [0, Infinity];
  return pointsWithin(lane, from, to) > SINGLE_POINTS;
}

function stretchesIn(series: SeriesFigure, lane: Lane, plot: Plot): Stretches {
  if (series.ribbons !== null) return readyStretches(series.ribbons, lane.figures);
  const { min, max } = plot.xScale;
  return stretchesOf(series, lane.figures.axis.time_unit_ns, min, max, Math.max(20, Math.floor(plot.width / STRETCH_PX)));
}

function drawPoints(plot: Plot, lane: Lane, shown: boolean[]): void {
  const { min, max } = plot.xScale;
  const all = pointsWithin(lane, min, max);
  if (all > SHAPED_POINTS) {
    drawDots(plot, lane, shown);
    return;
  }
  const { ctx } = plot;
  plot.clipped(() => {
    ctx.lineWidth = 1.4;
    ctx.globalAlpha = all < 400 ? 0.9 : 0.65;
    eachPoint(plot, lane, shown, (style, x, y) => {
      ctx.fillStyle = ctx.strokeStyle = colourOf(style);
      drawShape(ctx, shapeOf(style), x, y, 5.5);
    });
    ctx.globalAlpha = 1;
  });
}

/** Calls for each point with a duration within the axes; what was below the resolution is drawn elsewhere. */
function eachPoint(
  plot: Plot,
  lane: Lane,
  shown: boolean[],
  paint: (style: number, x: number, y: number, series: number, index: number) => void,
): void {
  lane.panel.series.forEach(({ points }, which) => {
    if (!shown[which]) return;
    const moments = momentsOf(points.time_steps, lane.figures.axis.time_unit_ns);
    const { min, max } = plot.xScale;
    for (let index = placeOf(moments, min); index < moments.length && moments[index] <= max; index += 1) {
      const state = points.state[index];
      // What did not end is a mark: its bound is no duration.
      if (state !== STATE.ok && state !== STATE.late) continue;
      paint(lane.styles[which], plot.x(moments[index]), plot.y(lane.middles[points.bucket[index]]), which, index);
    }
  });
}

function drawDots(plot: Plot, lane: Lane, shown: boolean[]): void {
  plot.pixels((words, width, height) => {
    const size = Math.ceil(1.7 * plot.ratio);
    const colours = Array.from({ length: 64 }, (_, style) => rgb(colourOf(style)));
    eachPoint(plot, lane, shown, (style, px, py) => {
      const x = Math.round((px - plot.left) * plot.ratio - size / 2);
      const y = clamp(Math.round((py - plot.top) * plot.ratio - size / 2), 0, height - size);
      if (x < 0 || x > width - size) return;
      const [red, green, blue] = colours[style & 63];
      for (let dy = 0; dy < size; dy += 1) {
        for (let dx = 0; dx < size; dx += 1) blend(words, (y + dy) * width + x + dx, red, green, blue);
      }
    });
  });
}

function drawRibbons(plot: Plot, lane: Lane, shown: boolean[], stretches: (Stretches | null)[]): void {
  const { ctx } = plot;
  plot.clipped(() => {
    stretches.forEach((one, which) => {
      if (one === null || !shown[which]) return;
      const style = lane.styles[which];
      const x = (column: number): number => plot.x(one.from + ((column + 0.5) / one.count.length) * (one.to - one.from));
      const y = (quantile: number, column: number): number => plot.y(lane.middles[one.quantiles[quantile][column]]);
      ctx.fillStyle = ctx.strokeStyle = colourOf(style);
      for (const run of runsOf(one)) {
        for (const [low, high, alpha] of [[0, 4, 0.14], [1, 3, 0.28]]) {
          ctx.globalAlpha = alpha;
          ctx.beginPath();
          run.forEach((column) => ctx.lineTo(x(column), y(high, column)));
          [...run].reverse().forEach((column) => ctx.lineTo(x(column), y(low, column)));
          ctx.closePath();
          ctx.fill();
        }
        ctx.globalAlpha = 1;
        ctx.lineWidth = 1.4;
        ctx.beginPath();
        run.forEach((column) => ctx.lineTo(x(column), y(2, column)));
        ctx.stroke();
      }
      ctx.globalAlpha = 0.75;
      for (let column = 0; column < one.count.length; column += 1) {
        // Where a stretch holds few, its longest says no more than the ribbon.
        if (one.count[column] > 0 && one.quantiles[5][column] > one.quantiles[3][column]) {
          ctx.fillRect(x(column) - 1, y(5, column) - 1, 2, 2);
        }
      }
      ctx.globalAlpha = 1;
    });
  });
}

/** Neighbouring stretches with samples; a stretch or two without are bridged, since rounds and stretches beat. */
function runsOf({ count: counts }: Stretches): number[][] {
  const runs: number[][] = [];
  let empty = Infinity;
  for (let column = 0; column < counts.length; column += 1) {
    if (counts[column] === 0) {
      empty += 1;
      continue;
    }
    if (empty > 2) runs.push([]);
    runs[runs.length - 1].push(column);
    empty = 0;
  }
  return runs;
}

function drawBelowBand(plot: Plot, lane: Lane, shown: boolean[]): void {
  const { ctx } = plot;
  const [low] = rangeOf(lane);
  const y = plot.y(low);
  ctx.fillStyle = theme().grid;
  ctx.globalAlpha = 0.6;
  ctx.fillRect(plot.left, y + 3, plot.width, plot.bottom - y - 3);
  ctx.globalAlpha = 1;
  const resolution = Math.max(...lane.panel.series.map((series) => (series.by_attempt.below_count > 0 ? series.resolution_ns : 0)));
  const middle = (y + 3 + plot.bottom) / 2;
  plot.clipped(() => {
    lane.panel.series.forEach((series, which) => {
      if (!shown[which]) return;
      ctx.strokeStyle = colourOf(lane.styles[which]);
      ctx.lineWidth = 1;
      ctx.globalAlpha = 0.55;
      ctx.beginPath();
      eachMark(series, lane, STATE.below, plot, (moment) => {
        const x = plot.x(moment);
        ctx.moveTo(x, middle - 4);
        ctx.lineTo(x, middle + 4);
      });
      ctx.stroke();
      ctx.globalAlpha = 1;
    });
  });
  ctx.fillStyle = theme().faint;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.fillText(shortened(ctx, `< ${durationTick(resolution)}`, plot.left - 4), plot.left - 6, middle);
}

/** Moments of samples in a state, within the axes; of ribbons the middles of their stretches, with how many there are. */
function eachMark(series: SeriesFigure, lane: Lane, state: number, plot: Plot, paint: (moment: number, times: number, index: number) => void): void {
  const { min, max } = plot.xScale;
  if (series.ribbons !== null) {
    const marks = series.ribbons.marks.find((candidate) => candidate.state === state);
    marks?.count.forEach((times, column) => {
      const moment = ((column + 0.5) / marks.count.length) * lane.figures.axis.span_ns;
      if (times > 0 && moment >= min && moment <= max) paint(moment, times, -1);
    });
    return;
  }
  const moments = momentsOf(series.points.time_steps, lane.figures.axis.time_unit_ns);
  for (let index = placeOf(moments, min); index < moments.length && moments[index] <= max; index += 1) {
    if (series.points.state[index] === state) paint(moments[index], 1, index);
  }
}

function drawMarks(plot: Plot, lane: Lane, shown: boolean[], top: number): void {
  const { ctx } = plot;
  lane.kinds.forEach(([kind, name], row) => {
    const y = markY(lane, row, top);
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillStyle = isFaint(kind) ? theme().faint : theme().serious;
    ctx.fillText(shortened(ctx, name, plot.left - 8), plot.left - 6, y);
    lane.panel.series.forEach((series, which) => {
      if (!shown[which]) return;
      ctx.fillStyle = ctx.strokeStyle = colourOf(lane.styles[which]);
      ctx.lineWidth = 1.5;
      eachMark(series, lane, kind, plot, (moment) => {
        const x = clamp(plot.x(moment), plot.left, plot.right);
        if (isFaint(kind)) ctx.fillRect(x - 0.75, y - 3, 1.5, 6);
        else drawShape(ctx, shapeOf(lane.styles[which]), x, y, 6);
      });
    });
  });
}

const markY = (lane: Lane, row: number, top: number): number => top + (lane.backdrop.rows.count + row + 0.5) * ROW;

function markTip(plot: Plot, lane: Lane, shown: boolean[], px: number, py: number, top: number): Tip | null {
  const row = clamp(Math.round((py - markY(lane, 0, top)) / ROW), 0, lane.kinds.length - 1);
  const kind = lane.kinds[row];
  if (kind === undefined) return null;
  let tip: Tip | null = null;
  let least = 12;
  lane.panel.series.forEach((series, which) => {
    if (!shown[which]) return;
    eachMark(series, lane, kind[0], plot, (moment, times, index) => {
      const x = plot.x(moment);
      const distance = Math.abs(x - px);
      if (distance >= least) return;
      least = distance;
      const lines: [string, string][] = [["outcome", times > 1 ? `${count(times)} × ${kind[1]}` : kind[1]]];
      if (index >= 0 && (hasDuration(kind[0]) || kind[0] === STATE.interrupted)) {
        const took = duration(lane.middles[series.points.bucket[index]]);
        lines.push(kind[0] === STATE.late ? ["took", took] : ["at least", took]);
      }
      lines.push([index >= 0 ? "started" : "about", momentText(lane.figures.axis.begin_ns + moment)]);
      tip = { x, y: py, title: lane.names[which], lines };
    });
  });
  return tip;
}

function pointTip(plot: Plot, lane: Lane, shown: boolean[], px: number, py: number): Tip | null {
  let best: [number, number] | null = null;
  let least = 16 ** 2;
  eachPoint(plot, lane, shown, (_, x, y, series, index) => {
    const distance = (x - px) ** 2 + (y - py) ** 2;
    if (distance < least) [best, least] = [[series, index], distance];
  });
  if (best === null) return null;
  const [which, index] = best as [number, number];
  const { points } = lane.panel.series[which];
  const moment = momentsOf(points.time_steps, lane.figures.axis.time_unit_ns)[index];
  const took = lane.middles[points.bucket[index]];
  return {
    x: plot.x(moment),
    y: plot.y(took),
    title: lane.names[which],
    lines: [
      ["took", `${duration(took)} (± 0.8 %)`],
      ["started", momentText(lane.figures.axis.begin_ns + moment)],
      ...(points.state[index] === STATE.late ? ([["outcome", "late: past its deadline"]] as [string, string][]) : []),
    ],
  };
}

function stretchTip(plot: Plot, lane: Lane, shown: boolean[], stretches: (Stretches | null)[], px: number, py: number): Tip | null {
  const moment = plot.xScale.value((px - plot.left) / plot.width);
  const lines: [string, string][] = [];
  let title = "";
  stretches.forEach((one, which) => {
    if (one === null || !shown[which]) return;
    const column = Math.floor(((moment - one.from) / (one.to - one.from)) * one.count.length);
    if (!(one.count[column] > 0)) return;
    title = `about ${momentText(lane.figures.axis.begin_ns + moment)}`;
    const at = (quantile: number): string => duration(lane.middles[one.quantiles[quantile][column]]);
    lines.push([lane.names[which], `median ${at(2)}, p95 ${at(4)}, longest ${at(5)} (n = ${count(one.count[column])})`]);
  });
  return lines.length === 0 ? null : { x: px, y: py, title, lines };
}
