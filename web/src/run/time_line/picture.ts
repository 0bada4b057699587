// The time line: every attempt as a point, or as density with the longest attempts as points; what went wrong as
// marks in a row of its own above the axes, so that it is never a gap.

import { TIME_UNITS, type Column, type Hang, type RunFigures } from "../data";
import type { FigureContent, View } from "../../figure/figure";
import { count, duration, moment, plural } from "../../page/format";
import { drawHangs, hangSentence, hangsOf, hangTip, shadeHangs } from "../hangs";
import { clamp, type Picture, type Plot, type Tip } from "../../figure/panel";
import { logDuration, roundedLog, time, type Scale } from "../../figure/scale";
import { type Selection, type TimePlace, operationsOf, timePlaces } from "../selection";
import { colourOf, drawShape, rgb, shapeOf, theme } from "../../figure/theme";

const MARK_ROW = 13;
/** Fewer points than this are drawn with the shape of their series. */
const SHAPED_POINTS = 4000;
const HUNG = 3;
/** Outcomes of attempts that were past their deadlines: hung, timeout, late. */
const PAST_DEADLINE = new Set([HUNG, 2, 4]);
/** Kinds of marks from top to bottom, as numbers of outcomes. */
const MARK_KINDS: [number, string][] = [
  [HUNG, "hung"],
  [2, "timeout"],
  [1, "error"],
  [4, "late"],
  [5, "skipped"],
];

/** One panel's data, reduced to its target and level. */
interface Lane {
  place: TimePlace;
  /** Style of each series of the run; -1 for what is not shown. */
  styleOf: Int16Array;
  styleOfLayer: Int16Array;
  kinds: [number, string][];
  points: number;
  marks: number;
}

/** More clients than these stand together in one panel, as in `iolag plot`. */
const CLIENT_PANELS_MAX = 16;

export function timeLine(selection: Selection): FigureContent | null {
  const operations = operationsOf(selection);
  const places = timePlaces(selection).flatMap((place) => clientPlaces(place, selection.clients));
  const lanes = places.map((place) => laneOf(place, selection, operations));
  if (lanes.length === 0) return null;
  const middles = middlesOf(selection.report.figures.axis.lowest_ns);
  const [low, high] = rangeOf(selection, middles);
  return {
    legend: operations.map((name, style) => ({ key: name, name, style, mark: "point" as const })),
    panelWidth: 720,
    pictures: (view) =>
      lanes.map((lane) => picture(lane, view, operations, logDuration(low, high, "time taken"), middles, selection)),
    caption: () => caption(lanes, selection),
  };
}

/** A place for each of the clients that were chosen and that it has. */
function clientPlaces(place: TimePlace, chosen: number[] | null): TimePlace[] {
  if (chosen === null) return [place];
  const clients = chosen.filter((client) => client < place.figures.run.clients);
  const groups = clients.length > CLIENT_PANELS_MAX ? [clients] : clients.map((client) => [client]);
  return groups.map((group) => {
    const name = group.length === 1 ? `client ${group[0]}` : plural(group.length, "client");
    return { ...place, title: [place.title, name].filter((part) => part !== "").join(" · "), figures: ofClients(place.figures, group) };
  });
}

/** The same run as if it had only these clients; of a density there are the longest attempts. */
function ofClients(figures: RunFigures, clients: number[]): RunFigures {
  const { time_line } = figures;
  const { points, marks } = time_line;
  const wanted = new Set(clients);
  const pick = <C extends Column>(column: C, by: Uint32Array): C =>
    (column as Uint32Array).filter((_, index) => wanted.has(by[index])) as unknown as C;
  return {
    ...figures,
    hangs: hangsOfClients(figures, wanted),
    time_line: {
      ...time_line,
      density: null,
      points: {
        time: pick(points.time, points.client),
        bucket: pick(points.bucket, points.client),
        series: pick(points.series, points.client),
        outcome: pick(points.outcome, points.client),
        client: pick(points.client, points.client),
      },
      marks: {
        total: marks.total,
        each: {
          time: pick(marks.each.time, marks.each.client),
          series: pick(marks.each.series, marks.each.client),
          outcome: pick(marks.each.outcome, marks.each.client),
          reason: pick(marks.each.reason, marks.each.client),
          bucket: pick(marks.each.bucket, marks.each.client),
          client: pick(marks.each.client, marks.each.client),
        },
        counts: [],
      },
    },
  };
}

/** Hangs that one of these clients had a part in; all of them where marks are not known by client. */
function hangsOfClients({ run, series, hangs, time_line }: RunFigures, wanted: Set<number>): Hang[] {
  const { each, counts } = time_line.marks;
  if (counts.length > 0) return hangs;
  const stepNs = run.span_ns / TIME_UNITS;
  return hangs.filter((hang) =>
    each.client.some((client, index) => {
      const startNs = each.time[index] * stepNs;
      const isWithin = startNs >= hang.begin_ns - stepNs && startNs <= (hang.end_ns ?? run.span_ns);
      return wanted.has(client) && PAST_DEADLINE.has(each.outcome[index]) && series[each.series[index]].target === hang.target && isWithin;
    }),
  );
}

function laneOf(place: TimePlace, { level, clients }: Selection, operations: string[]): Lane {
  const { series, layers, time_line } = place.figures;
  const belongs = (one: (typeof series)[number]): boolean => one.level === level && one.target === place.target;
  const styleOf = Int16Array.from(series, (one) => (belongs(one) ? operations.indexOf(one.operation) : -1));
  const shownLayers = new Set(series.filter(belongs).map((one) => one.layer));
  const styleOfLayer = Int16Array.from(layers, (layer, index) =>
    shownLayers.has(index) ? operations.indexOf(layer.operation) : -1,
  );
  const present = new Set<number>(hangsOf(place).length > 0 ? [HUNG] : []);
  const { each, counts } = time_line.marks;
  each.series.forEach((one, index) => {
    if (styleOf[one] >= 0) present.add(each.outcome[index]);
  });
  for (const one of counts) if (styleOf[one.series] >= 0) present.add(one.outcome);
  const count = (column: Uint16Array): number => column.reduce((sum, one) => sum + (styleOf[one] >= 0 ? 1 : 0), 0);
  const own = series.filter(belongs);
  const isWhole = clients === null;
  const points = isWhole ? own.reduce((sum, one) => sum + one.ok + one.late, 0) : count(time_line.points.series);
  const marks = isWhole ? own.reduce((sum, one) => sum + one.attempts - one.ok, 0) : count(each.series);
  return { place, styleOf, styleOfLayer, kinds: MARK_KINDS.filter(([kind]) => present.has(kind)), points, marks };
}

/** The middle duration of every bucket. */
function middlesOf(lowest: number[]): Float64Array {
  return Float64Array.from(lowest, (low, index) => Math.max(0.5, (low + (lowest[index + 1] ?? low) - 1) / 2));
}

function rangeOf({ report, level }: Selection, middles: Float64Array): [number, number] {
  const all = report.figures.runs.flatMap((run) => run.series.filter((series) => series.level === level));
  const lows = all.map((series) => series.min_ns).filter((value) => value !== null);
  const highs = all.map((series) => series.max_ns).filter((value) => value !== null);
  if (lows.length === 0) return [middles[0] < 1e3 ? 1e6 : middles[0], 1e11];
  // The line of 0.1 s is always to be seen from below, so that a fast run looks fast.
  return roundedLog(Math.max(1, Math.min(...lows)), Math.max(...highs, 2e8));
}

function caption(lanes: Lane[], selection: Selection): string {
  const { report, clients } = selection;
  const points = lanes.reduce((sum, lane) => sum + lane.points, 0);
  const runs = report.figures.runs;
  const parts = [
    `Every attempt at the moment when it started, by the time it took, on a logarithmic axis; ` +
      `lines at 0.1, 1 and 10 s are where people notice, lose their train of thought, and turn to something else. ` +
      `${plural(points, "sample")} of known duration.`,
  ];
  const marks = lanes.reduce((sum, lane) => sum + lane.marks, 0);
  const together = (place: TimePlace): TimePlace =>
    clients === null ? place : { ...place, figures: ofClients(place.figures, clients) };
  const hangs = hangSentence(timePlaces(selection).map(together));
  if (hangs !== "") parts.push(hangs);
  if (marks > 0 || hangs === "") parts.push(
    marks === 0
      ? "Nothing failed, timed out or hung."
      : `${plural(marks, "attempt")} that failed, timed out, hung, came late or were skipped: marks above the axes.`,
  );
  if (clients !== null && runs.some((run) => run.time_line.density !== null)) {
    parts.push(
      "Of so many attempts only the longest of every moment are known by client: iolag plot time-line --clients draws all of a client's.",
    );
  }
  if (clients !== null && runs.some((run) => run.time_line.marks.counts.length > 0)) {
    parts.push("So many attempts did not succeed that their marks are not known by client, and not drawn.");
  }
  const clamped = runs.reduce((sum, run) => sum + run.counts.clamped, 0);
  if (clamped > 0) parts.push(`${plural(clamped, "attempt")} from outside the time axis are drawn at its ends.`);
  for (const sentence of new Set(runs.map((run) => run.time_line.decimation))) if (sentence !== null) parts.push(sentence);
  if (report.figures.runs.some((run) => run.run.begin_realtime_ns !== null)) parts.push("Times are UTC.");
  return parts.join(" ");
}

function picture(
  lane: Lane,
  view: View,
  operations: string[],
  y: Scale,
  middles: Float64Array,
  selection: Selection,
): Picture {
  const { run } = lane.place.figures;
  const x = timeScale(run, view);
  const isShown = (style: number): boolean => style >= 0 && !view.hidden.has(operations[style]);
  const shown = Int16Array.from(lane.styleOf, (style) => (isShown(style) ? style : -1));
  const shownLayers = Int16Array.from(lane.styleOfLayer, (style) => (isShown(style) ? style : -1));
  return {
    title: lane.place.title,
    description: [`Time line of ${lane.place.title}: ${count(lane.points)} samples.`, hangSentence([lane.place])].join(" ").trim(),
    height: 300 + lane.kinds.length * MARK_ROW,
    x,
    y,
    roomAbove: lane.kinds.length * MARK_ROW + (run.stages.length > 1 ? 14 : 0),
    zoom: "x",
    draw(plot) {
      shadeHangs(plot, lane.place);
      drawStages(plot, lane);
      const { density, points } = lane.place.figures.time_line;
      if (density !== null) drawDensity(plot, lane, shownLayers, middles);
      drawPoints(plot, lane, shown, middles, density === null ? points.time.length : 0);
      drawMarks(plot, lane, shown);
    },
    tip: (plot, px, py) => tipAt(plot, px, py, lane, shown, middles, selection),
  };
}

/** The time axis of a run, between the ends that were zoomed to. */
export function timeScale(run: RunFigures["run"], view: View): Scale {
  const epoch = run.begin_realtime_ns === null ? null : run.begin_realtime_ns / 1e6;
  const [from, to] = view.zoom ?? [0, run.span_ns];
  return time(clamp(from, 0, run.span_ns), Math.max(clamp(to, 0, run.span_ns), from + 1), epoch, "");
}

function drawStages(plot: Plot, lane: Lane): void {
  const { run } = lane.place.figures;
  if (run.stages.length < 2) return;
  const { ctx } = plot;
  const y = plot.top - lane.kinds.length * MARK_ROW - 4;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  let free = plot.left;
  for (const stage of run.stages) {
    if (stage.begin === null) continue;
    const x = plot.x((stage.begin / TIME_UNITS) * run.span_ns);
    if (x < plot.left - 1 || x > plot.right) continue;
    ctx.strokeStyle = theme().strong;
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    ctx.moveTo(x, y + 2);
    ctx.lineTo(x, plot.bottom);
    ctx.stroke();
    ctx.setLineDash([]);
    if (x < free || x + ctx.measureText(stage.name).width > plot.right) continue;
    ctx.fillStyle = theme().faint;
    ctx.fillText(stage.name, x + 3, y);
    free = x + ctx.measureText(stage.name).width + 10;
  }
}

function drawPoints(plot: Plot, lane: Lane, shown: Int16Array, middles: Float64Array, all: number): void {
  const { points } = lane.place.figures.time_line;
  const scaleX = lane.place.figures.run.span_ns / TIME_UNITS;
  // What is shown decides, not what the run has: a check has few tasks among thousands of calls.
  const count = points.series.reduce((sum, series) => sum + (shown[series] >= 0 ? 1 : 0), 0);
  if (all > 0 && count <= SHAPED_POINTS) {
    plot.clipped(() => {
      for (let index = 0; index < points.time.length; index += 1) {
        const style = shown[points.series[index]];
        if (style < 0) continue;
        plot.ctx.fillStyle = plot.ctx.strokeStyle = colourOf(style);
        plot.ctx.lineWidth = 1.4;
        plot.ctx.globalAlpha = count < 600 ? 0.9 : 0.6;
        drawShape(plot.ctx, shapeOf(style), plot.x(points.time[index] * scaleX), plot.y(middles[points.bucket[index]]), 6);
      }
      plot.ctx.globalAlpha = 1;
    });
    return;
  }
  plot.pixels((words, width, height) => {
    const rows = Int32Array.from(middles, (ns) => Math.round((1 - plot.yScale.place(ns)) * height));
    const colours = Array.from({ length: 64 }, (_, style) => rgb(colourOf(style)));
    const left = plot.xScale.min;
    const perPixel = width / (plot.xScale.max - left);
    const size = points.time.length > 200_000 ? Math.ceil(plot.ratio) : Math.ceil(1.6 * plot.ratio);
    const { time, bucket, series } = points;
    for (let index = 0; index < time.length; index += 1) {
      const style = shown[series[index]];
      if (style < 0) continue;
      const x = Math.round((time[index] * scaleX - left) * perPixel);
      if (x < 0 || x > width - size) continue;
      const y = Math.min(Math.max(rows[bucket[index]], 0), height - size);
      const [red, green, blue] = colours[style & 63];
      for (let dy = 0; dy < size; dy += 1) {
        for (let dx = 0; dx < size; dx += 1) blend(words, (y + dy) * width + x + dx, red, green, blue);
      }
    }
  });
}

/** Half of the new colour over what is there; alpha grows with every point. */
export function blend(words: Uint32Array, at: number, red: number, green: number, blue: number): void {
  const old = words[at];
  if (old === 0) {
    words[at] = ((178 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    return;
  }
  const alpha = 255 - ((255 - (old >>> 24)) >> 1);
  const r = ((old & 255) + red) >> 1;
  const g = (((old >> 8) & 255) + green) >> 1;
  const b = (((old >> 16) & 255) + blue) >> 1;
  words[at] = ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function drawDensity(plot: Plot, lane: Lane, shown: Int16Array, middles: Float64Array): void {
  const { density } = lane.place.figures.time_line;
  if (density === null) return;
  const layers = density.layers.filter((layer) => shown[layer.layer] >= 0);
  const most = layers.reduce((max, layer) => layer.counts.reduce((own, value) => Math.max(own, value), max), 1);
  const span = lane.place.figures.run.span_ns;
  plot.pixels((words, width, height) => {
    const rowOf = (bucket: number): number =>
      clamp(Math.round((1 - plot.yScale.place(middles[Math.min(bucket, middles.length - 1)])) * height), 0, height);
    const columnOf = (column: number): number =>
      Math.round(plot.xScale.place((column / density.columns) * span) * width);
    for (const layer of layers) {
      const [red, green, blue] = rgb(colourOf(shown[layer.layer]));
      for (let row = 0; row < layer.rows; row += 1) {
        const first = layer.first_bucket + row * density.buckets_per_row;
        const top = rowOf(first + density.buckets_per_row);
        const bottom = Math.max(rowOf(first), top + 1);
        for (let column = 0; column < density.columns; column += 1) {
          const value = layer.counts[row * density.columns + column];
          if (value === 0) continue;
          const from = Math.max(0, columnOf(column));
          const to = Math.min(width, Math.max(columnOf(column + 1), from + 1));
          const alpha = 60 + Math.round((195 * Math.log1p(value)) / Math.log1p(most));
          for (let y = top; y < Math.min(bottom, height); y += 1) {
            for (let x = from; x < to; x += 1) over(words, y * width + x, red, green, blue, alpha);
          }
        }
      }
    }
  });
}

/** A colour with alpha over what is there. */
function over(words: Uint32Array, at: number, red: number, green: number, blue: number, alpha: number): void {
  const old = words[at];
  const oldAlpha = old >>> 24;
  const part = alpha / 255;
  const rest = (1 - part) * (oldAlpha / 255);
  const sum = part + rest;
  const mix = (mine: number, theirs: number): number => Math.round((mine * part + theirs * rest) / sum);
  const r = mix(red, old & 255);
  const g = mix(green, (old >> 8) & 255);
  const b = mix(blue, (old >> 16) & 255);
  words[at] = ((Math.round(sum * 255) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function drawMarks(plot: Plot, lane: Lane, shown: Int16Array): void {
  const { ctx } = plot;
  const { run, time_line } = lane.place.figures;
  const scaleX = run.span_ns / TIME_UNITS;
  const rowOf = new Map(lane.kinds.map(([kind], row) => [kind, rowY(plot, lane, row)]));
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  lane.kinds.forEach(([, name], row) => {
    ctx.fillStyle = theme().serious;
    ctx.fillText(name, plot.left - 6, rowY(plot, lane, row));
  });
  const hungRow = rowOf.get(HUNG);
  if (hungRow !== undefined) drawHangs(plot, lane.place, hungRow);
  ctx.lineWidth = 1.6;
  const mark = (kind: number, style: number, x: number): void => {
    const y = rowOf.get(kind);
    if (y === undefined || x < plot.left - 1 || x > plot.right + 1) return;
    ctx.strokeStyle = ctx.fillStyle = colourOf(style);
    // What did not end is a filled triangle, what failed a cross, what was late a ring.
    drawShape(ctx, kind === 1 ? "cross" : kind === 4 ? "ring" : kind === 5 ? "plus" : "down", x, y, 7);
  };
  const { each, counts } = time_line.marks;
  for (let index = 0; index < each.time.length; index += 1) {
    const style = shown[each.series[index]];
    if (style >= 0) mark(each.outcome[index], style, plot.x(each.time[index] * scaleX));
  }
  for (const one of counts) {
    const style = shown[one.series];
    if (style < 0) continue;
    one.counts.forEach((value, column) => {
      if (value > 0) mark(one.outcome, style, plot.x(((column + 0.5) / one.counts.length) * run.span_ns));
    });
  }
}

const rowY = (plot: Plot, lane: Lane, row: number): number => plot.top - (lane.kinds.length - row - 0.5) * MARK_ROW;

function tipAt(
  plot: Plot,
  px: number,
  py: number,
  lane: Lane,
  shown: Int16Array,
  middles: Float64Array,
  { report }: Selection,
): Tip | null {
  if (px < plot.left - 4 || px > plot.right + 4) return null;
  const near =
    py < plot.top ? markTip(plot, px, py, lane, shown, middles, report) : pointTip(plot, px, py, lane, shown, middles);
  return near ?? hangTip(plot, px, py, lane.place);
}

function when(lane: Lane, ns: number): string {
  const { begin_realtime_ns } = lane.place.figures.run;
  return begin_realtime_ns === null ? `after ${duration(ns)}` : moment((begin_realtime_ns + ns) / 1e6);
}

function pointTip(
  plot: Plot,
  px: number,
  py: number,
  lane: Lane,
  shown: Int16Array,
  middles: Float64Array,
): Tip | null {
  const { run, series, time_line } = lane.place.figures;
  const { points } = time_line;
  const scaleX = run.span_ns / TIME_UNITS;
  let best = -1;
  let least = 18 ** 2;
  for (let index = 0; index < points.time.length; index += 1) {
    if (shown[points.series[index]] < 0) continue;
    const dx = plot.x(points.time[index] * scaleX) - px;
    if (dx > 18 || dx < -18) continue;
    const dy = plot.y(middles[points.bucket[index]]) - py;
    const distance = dx * dx + dy * dy;
    if (distance < least) [best, least] = [index, distance];
  }
  if (best < 0) return null;
  const ns = points.time[best] * scaleX;
  const one = series[points.series[best]];
  const took = middles[points.bucket[best]];
  return {
    x: plot.x(ns),
    y: plot.y(took),
    title: one.name,
    lines: [
      ["took", `${duration(took)} (± 0.8 %)`],
      ["started", when(lane, ns)],
      ...(points.outcome[best] === 4 ? ([["outcome", "late: past its deadline"]] as [string, string][]) : []),
    ],
  };
}

function markTip(
  plot: Plot,
  px: number,
  py: number,
  lane: Lane,
  shown: Int16Array,
  middles: Float64Array,
  report: Selection["report"],
): Tip | null {
  const row = clamp(Math.round((py - rowY(plot, lane, 0)) / MARK_ROW), 0, Math.max(0, lane.kinds.length - 1));
  const kind = lane.kinds[row]?.[0];
  if (kind === undefined) return null;
  const { run, series, time_line } = lane.place.figures;
  const { axis } = report.figures;
  const { each, counts } = time_line.marks;
  const scaleX = run.span_ns / TIME_UNITS;
  let tip: Tip | null = null;
  let least = 14;
  const offer = (x: number, make: () => [string, [string, string][]]): void => {
    const distance = Math.abs(x - px);
    if (distance >= least) return;
    least = distance;
    const [title, lines] = make();
    tip = { x, y: rowY(plot, lane, row), title, lines };
  };
  for (let index = 0; index < each.time.length; index += 1) {
    if (each.outcome[index] !== kind || shown[each.series[index]] < 0) continue;
    const ns = each.time[index] * scaleX;
    offer(plot.x(ns), () => [
      series[each.series[index]].name,
      [
        ["outcome", axis.outcomes[kind]],
        ...reasonLine(axis.reasons, each.reason[index]),
        [kind === 1 || kind === 4 ? "after" : "waited", duration(middles[each.bucket[index]])],
        ["started", when(lane, ns)],
        ["client", String(each.client[index])],
      ],
    ]);
  }
  for (const one of counts) {
    if (one.outcome !== kind || shown[one.series] < 0) continue;
    one.counts.forEach((value, column) => {
      if (value === 0) return;
      const ns = ((column + 0.5) / one.counts.length) * run.span_ns;
      offer(plot.x(ns), () => [
        series[one.series].name,
        [
          ["outcome", `${count(value)} × ${axis.outcomes[kind]}`],
          ...reasonLine(axis.reasons, one.reason),
          ["longest", duration(middles[one.longest[column]])],
          ["about", when(lane, ns)],
        ],
      ]);
    });
  }
  return tip;
}

const reasonLine = (reasons: string[], reason: number): [string, string][] =>
  reason === 0 ? [] : [["reason", reasons[reason] ?? "unknown"]];
