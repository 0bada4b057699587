// Sweeps: rates and durations against the number of clients or the size of the working set.

import { bound, isAtLeast } from "./data";
import type { Estimate, Quantile, SweepFigure } from "../generated/run";
import type { FigureContent, LegendEntry, View } from "../figure/figure";
import { count, duration, durationWithEnds, numberTick, plural, rate, type Known } from "../page/format";
import { line, type PanelContent, type Plot, type Tip } from "../figure/panel";
import { linear, logDuration, roundedLog, type Scale, type Tick } from "../figure/scale";
import { operationsOf, type Selection } from "./selection";
import { colourOf, dashOf, drawShape, shapeOf } from "../figure/theme";

interface Point {
  size: number;
  value: number;
  low: number;
  high: number;
  words: string;
}

interface Curve {
  key: string;
  style: number;
  points: Point[];
}

type Group = { title: string; sweeps: SweepFigure[] };

export function sweeps(selection: Selection): FigureContent | null {
  const { report, phase } = selection;
  const operations = operationsOf(selection);
  const isShown = (sweep: SweepFigure): boolean => operations.includes(sweep.operation) && (phase === null || sweep.phase === phase);
  const all = report.figures.sweeps.filter(isShown);
  if (all.length === 0) return null;
  const present = operations.filter((operation) => all.some((sweep) => sweep.operation === operation));
  const groups = groupsOf(all);
  const stages = all.reduce((sum, sweep) => sum + sweep.points.length, 0);
  return {
    legend: present.map((name): LegendEntry => ({ key: name, name, style: operations.indexOf(name), mark: "line" })),
    panelWidth: 340,
    caption: () =>
      `What more clients (or more objects) do: points are medians over runs and iterations, bars the range of rates ` +
      `(from 3 on) and the 95 % intervals of durations. Rates that stop rising while durations rise are where the ` +
      `storage is full. ${plural(stages, "result")} of ${all.length === 1 ? "one operation" : `${count(all.length)} operations`}.`,
    panels: (view) => groups.flatMap((group) => groupPanels(group, operations, view)),
  };
}

function groupsOf(all: SweepFigure[]): Group[] {
  const groups = new Map<string, Group>();
  for (const sweep of all) {
    const other = sweep.varied === "clients" ? `${count(sweep.fixed)} objects` : plural(sweep.fixed, "client");
    const title = `${sweep.target} · ${sweep.phase}, ${other}`;
    const key = `${sweep.varied} ${title}`;
    const group = groups.get(key) ?? { title, sweeps: [] };
    group.sweeps.push(sweep);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function groupPanels({ title, sweeps: own }: Group, operations: string[], view: View): PanelContent[] {
  const { varied } = own[0];
  const sizes = [...new Set(own.flatMap((sweep) => sweep.rates.map(({ size }) => size)))].sort((a, b) => a - b);
  const shown = own.filter(({ operation }) => !view.hidden.has(operation));
  const style = (sweep: SweepFigure): number => operations.indexOf(sweep.operation);
  const rates = shown.map((sweep): Curve => ({ key: sweep.operation, style: style(sweep), points: ratePoints(sweep) }));
  const most = Math.max(1, ...rates.flatMap(({ points }) => points.map(({ high }) => high)));
  const of = (quantile: "median" | "p95" | "p99"): Curve[] =>
    shown.map((sweep): Curve => ({ key: sweep.operation, style: style(sweep), points: durationPoints(sweep, quantile) }));
  const quantiles: [string, Curve[]][] = [
    ["median", of("median")],
    ["p95", of("p95")],
    ["p99", of("p99")],
  ];
  const values = quantiles.flatMap(([, curves]) => curves.flatMap(({ points }) => points.flatMap(({ low, high }) => [low, high])));
  const range = values.length === 0 ? ([1e3, 1e9] as [number, number]) : roundedLog(Math.min(...values), Math.max(...values));
  return [
    curvesPanel(title, "operations/s", sizeScale(sizes, varied), linear(0, most * 1.08, "operations/s", numberTick), rates),
    ...quantiles
      .filter(([, curves]) => curves.some(({ points }) => points.length > 0))
      .map(([name, curves]) => curvesPanel(title, name, sizeScale(sizes, varied), logDuration(...range, name), curves)),
  ];
}

function ratePoints(sweep: SweepFigure): Point[] {
  return sweep.rates.map(({ size, count: rates, median_per_second, low_per_second, high_per_second }) => {
    const isInterval = rates >= 3;
    const low = isInterval ? low_per_second : median_per_second;
    const high = isInterval ? high_per_second : median_per_second;
    const words = isInterval ? `${rate(median_per_second)} [${rate(low)}–${rate(high)}]` : rate(median_per_second);
    return { size, value: median_per_second, low, high, words };
  });
}

/** The median of the results of every size, as the plots draw it; a result that is the middle one has its own interval. */
export function durationPoints(sweep: Pick<SweepFigure, "points" | "rates">, quantile: "median" | "p95" | "p99"): Point[] {
  return sweep.rates.flatMap(({ size }) => {
    const estimates = sweep.points
      .filter((point) => point.size === size)
      .map((point) => point[quantile])
      .filter((estimate) => bound(estimate.value) !== null)
      .sort((left, right) => amount(left.value) - amount(right.value));
    if (estimates.length === 0) return [];
    const lower = estimates[Math.floor((estimates.length - 1) / 2)];
    const upper = estimates[Math.floor(estimates.length / 2)];
    return [{ size, ...(lower === upper ? estimatePoint(lower) : between(known(lower.value), known(upper.value))) }];
  });
}

const amount = (value: Estimate): number => bound(value) ?? 0;
const known = (value: Estimate): Known => ({ ns: amount(value), isAtLeast: isAtLeast(value) });
/** On the logarithmic axis. */
const place = ({ ns }: Known): number => Math.max(1, ns);
const alone = ({ ns, isAtLeast }: Known): string => `${isAtLeast ? "≥ " : ""}${duration(ns)}`;

/** The mean of the middle two of an even number of results, which has no interval. */
function between(lower: Known, upper: Known): Omit<Point, "size"> {
  const mean = { ns: lower.ns + (upper.ns - lower.ns) / 2, isAtLeast: lower.isAtLeast || upper.isAtLeast };
  return { value: place(mean), low: place(mean), high: place(mean), words: alone(mean) };
}

function estimatePoint({ value, interval }: Quantile): Omit<Point, "size"> {
  const middle = known(value);
  const ends = "between" in interval && "exactly_ns" in interval.between.low ? interval.between : null;
  if (ends === null || bound(ends.high) === null) {
    return { value: place(middle), low: place(middle), high: place(middle), words: alone(middle) };
  }
  const [low, high] = [known(ends.low), known(ends.high)];
  return { value: place(middle), low: place(low), high: place(high), words: durationWithEnds(middle, low, high) };
}

/** Sizes on a logarithmic axis, with a tick for each. */
function sizeScale(sizes: number[], label: string): Scale {
  const low = Math.log2(Math.max(sizes[0] ?? 1, 0.5));
  const high = Math.log2(Math.max(sizes[sizes.length - 1] ?? 2, 1));
  const pad = Math.max((high - low) * 0.08, 0.25);
  const span = high - low + 2 * pad;
  const ticks: Tick[] = sizes.map((value) => ({ value, label: numberTick(value) }));
  const scale: Scale = {
    min: 2 ** (low - pad),
    max: 2 ** (high + pad),
    label,
    place: (value) => (Math.log2(Math.max(value, 1e-9)) - low + pad) / span,
    value: (place) => 2 ** (low - pad + place * span),
    ticks: () => ticks,
    between: () => scale,
  };
  return scale;
}

function curvesPanel(title: string, name: string, x: Scale, y: Scale, curves: Curve[]): PanelContent {
  return {
    title: `${name} · ${title}`,
    description: `${name} against ${x.label}, ${title}.`,
    height: 250,
    x,
    y,
    zoom: "none",
    draw: (plot) => curves.forEach((curve) => drawCurve(plot, curve)),
    tip: (plot, px, py) => curvesTip(plot, px, py, curves),
  };
}

function drawCurve(plot: Plot, { style, points }: Curve): void {
  const { ctx } = plot;
  ctx.strokeStyle = ctx.fillStyle = colourOf(style);
  ctx.lineWidth = 2;
  ctx.setLineDash(dashOf(style));
  ctx.beginPath();
  for (const { size, value } of points) ctx.lineTo(plot.x(size), plot.y(value));
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.lineWidth = 1.4;
  for (const { size, value, low, high } of points) {
    const x = plot.x(size);
    if (high > low) {
      line(ctx, x, plot.y(low), x, plot.y(high));
      line(ctx, x - 4, plot.y(low), x + 4, plot.y(low));
      line(ctx, x - 4, plot.y(high), x + 4, plot.y(high));
    }
    drawShape(ctx, shapeOf(style), x, plot.y(value), 8);
  }
}

function curvesTip(plot: Plot, px: number, py: number, curves: Curve[]): Tip | null {
  const sizes = [...new Set(curves.flatMap(({ points }) => points.map(({ size }) => size)))];
  if (sizes.length === 0) return null;
  const nearest = sizes.reduce((best, size) => (Math.abs(plot.x(size) - px) < Math.abs(plot.x(best) - px) ? size : best));
  const lines = curves.flatMap(({ key, points }): [string, string][] => {
    const point = points.find(({ size }) => size === nearest);
    return point === undefined ? [] : [[key, point.words]];
  });
  return { x: plot.x(nearest), y: py, title: `${count(nearest)} ${plot.xScale.label}`, lines };
}
