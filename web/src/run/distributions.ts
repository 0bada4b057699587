// Distributions: integrated percent with its band, and histograms with a smooth curve.

import type { Report } from "./data";
import type { Distribution } from "../generated/run";
import type { FigureContent, View } from "../figure/figure";
import { count, duration, percent, plural } from "../page/format";
import { line, type PanelContent, type Plot, type Tip } from "../figure/panel";
import { linear, logDuration, roundedLog, share, tail, type Scale } from "../figure/scale";
import { arrange, shownSeries, type Arrangement, type Selection, type Shown } from "./selection";
import { colourOf, dashOf, drawShape, rgb } from "../figure/theme";

type WithData<T> = { item: Shown; data: T };

function joined<T extends { series: number }>(items: Shown[], of: (run: number) => T[]): WithData<T>[] {
  return items.flatMap((item) => {
    const data = of(item.run).find((candidate) => candidate.series === item.index);
    return data === undefined ? [] : [{ item, data }];
  });
}

/** Ends of the axis of durations over these series. */
export function durationRange(items: Shown[]): [number, number] {
  const lows = items.map(({ series }) => series.min_ns).filter((value) => value !== null);
  const highs = items.flatMap(({ series }) => [series.max_ns, series.longest_wait_ns]).filter((value) => value !== null);
  if (highs.length === 0) return [1e3, 1e9];
  const high = Math.max(...highs);
  return roundedLog(Math.max(1, Math.min(...lows, high)), Math.max(high, 1));
}

/** Why curves stop below 100 %, by the rule that each run's numbers follow: crates/iolag-analysis/src/statistics/quantile/censored.rs. */
export function openInWords(runs: { series: { operation: string }[] }[]): string {
  const pings = runs.filter(({ series }) => series.some(({ operation }) => operation === "probe")).length;
  if (pings === 0) return "curves that stop below 100 % say how many (Kaplan and Meier)";
  const certain = "the share that certainly was done within the time";
  return pings === runs.length
    ? `a curve gives ${certain}`
    : `curves that stop below 100 % say how many (Kaplan and Meier; of a ping, ${certain})`;
}

/** As `iolag plot ecdf` says it: crates/iolag-report/src/figure/drawings/ecdf.rs. */
const TAIL =
  "The tail is logarithmic in the share missing to 100 %; a dot is the longest attempt, an arrow one that took at least so long.";

const zoomed = (range: [number, number], view: View): [number, number] => view.zoom ?? range;

export function integratedPercent(selection: Selection): FigureContent | null {
  const { report } = selection;
  const all = joined(shownSeries(selection), (run) => report.figures.runs[run].distributions);
  if (all.length === 0) return null;
  const arrangement = arrange(all.map(({ item }) => item), selection);
  const range = durationRange(all.map(({ item }) => item));
  const attempts = all.reduce((sum, { data }) => sum + data.known + data.censored, 0);
  const open = all.reduce((sum, { data }) => sum + data.censored, 0);
  const runs = [...new Set(all.map(({ item }) => item.run))].map((run) => report.figures.runs[run]);
  const isOne = arrangement.panels.length === 1;
  const greatest = Math.max(...all.map(({ data }) => beforeLast(data)));
  return {
    legend: arrangement.legend("line"),
    panelWidth: 440,
    caption: () =>
      `Integrated percent: the share of attempts that were done within the time on the axis; the further left a curve, ` +
      `the better. The band holds the true curve with 95 % confidence (Dvoretzky, Kiefer and Wolfowitz, with the ` +
      `effective sample size). ${TAIL} ${plural(attempts, "sample")}` +
      (open > 0
        ? `, of which ${count(open)} had not ended: ${openInWords(runs)}.`
        : "."),
    panels: (view) => {
      const panel = (name: string, title: string, items: Shown[], y: Scale, draw: Draw): PanelContent => {
        const own = all.filter(({ item }) => items.includes(item) && !view.hidden.has(arrangement.keyOf(item)));
        return {
          title: [title, name].filter((part) => part !== "").join(" · "),
          description: `${name || "All attempts"}: integrated percent of ${title || "all operations"}.`,
          height: isOne ? 340 : 240,
          x: logDuration(...zoomed(range, view), "time taken"),
          y,
          zoom: "x",
          draw: (plot) => plot.clipped(() => own.forEach((one) => draw(plot, one, arrangement))),
          tip: (plot, px, py) => distributionTip(plot, px, py, own, arrangement),
        };
      };
      const whole = isOne ? "All attempts" : "";
      return arrangement.panels.flatMap(({ title, items }) => [
        panel(whole, title, items, share("attempts done"), drawDistribution),
        panel("The tail", title, items, tail(greatest, "attempts done"), drawTail),
      ]);
    },
  };
}

type Draw = (plot: Plot, one: WithData<Distribution>, arrangement: Arrangement) => void;

/** The share of a curve before its last step, which of attempts that all ended is 100 %. */
const beforeLast = ({ share, at_least }: Distribution): number => share[share.length - (at_least === null ? 2 : 1)] ?? 0;

/** The curve up to its longest attempt, or to where nothing more is known. */
function drawTail(plot: Plot, { item, data }: WithData<Distribution>, arrangement: Arrangement): void {
  const { ctx } = plot;
  const style = arrangement.style(arrangement.keyOf(item));
  const colour = colourOf(style);
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 2;
  ctx.setLineDash(dashOf(style));
  ctx.beginPath();
  let y = plot.y(0);
  ctx.moveTo(plot.left - 2, y);
  const last = data.share.length - 1;
  for (let index = 0; index <= last; index += 1) {
    const x = plot.x(data.duration_ns[index]);
    ctx.lineTo(x, y);
    if (index === last && data.at_least === null) break;
    y = plot.y(data.share[index]);
    ctx.lineTo(x, y);
  }
  if (data.at_least !== null) ctx.lineTo(plot.x(data.at_least.from_ns), y);
  ctx.stroke();
  ctx.setLineDash([]);
  if (data.at_least !== null) drawAtLeast(plot, data, colour);
  else if (last >= 0) drawShape(ctx, "circle", Math.min(plot.x(data.duration_ns[last]), plot.right - 4), y, 8);
}

/** Corners of the step function, from the left edge of the axes. */
function steps(plot: Plot, data: Distribution, shift: number): [number, number][] {
  const corners: [number, number][] = [];
  const bounded = (value: number): number => plot.y(Math.min(1, Math.max(0, value + shift)));
  let before = bounded(0);
  corners.push([plot.left - 2, before]);
  for (let index = 0; index < data.share.length; index += 1) {
    const x = plot.x(data.duration_ns[index]);
    const y = bounded(data.share[index]);
    corners.push([x, before], [x, y]);
    before = y;
  }
  const known = data.duration_ns.length === 0 ? plot.left : plot.x(data.duration_ns[data.duration_ns.length - 1]);
  const end = data.at_least === null ? (shift === 0 ? plot.right + 2 : known) : plot.x(data.at_least.from_ns);
  corners.push([end, before]);
  return corners;
}

function drawDistribution(plot: Plot, { item, data }: WithData<Distribution>, arrangement: Arrangement): void {
  const { ctx } = plot;
  const style = arrangement.style(arrangement.keyOf(item));
  const trace = (corners: [number, number][]): void => corners.forEach(([x, y]) => ctx.lineTo(x, y));
  ctx.fillStyle = colourOf(style);
  ctx.globalAlpha = 0.13;
  ctx.beginPath();
  // From the first to the last step: outside them the band says nothing that is not seen.
  const inside = (corners: [number, number][]): [number, number][] => corners.slice(2);
  trace(inside(steps(plot, data, data.band)));
  trace(inside(steps(plot, data, -data.band)).reverse());
  ctx.closePath();
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colourOf(style);
  ctx.lineWidth = 2;
  ctx.setLineDash(dashOf(style));
  ctx.beginPath();
  trace(steps(plot, data, 0));
  ctx.stroke();
  ctx.setLineDash([]);
  if (data.at_least !== null) drawAtLeast(plot, data, colourOf(style));
}

/** An arrow to the right: the rest took at least so long. */
function drawAtLeast(plot: Plot, data: Distribution, colour: string): void {
  if (data.at_least === null) return;
  const { ctx } = plot;
  const x = Math.min(plot.x(data.at_least.from_ns), plot.right - 14);
  const y = plot.y(data.share.length === 0 ? 0 : data.share[data.share.length - 1]) - 1;
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 1.5;
  line(ctx, x, y - 4, x, y + 4);
  line(ctx, x, y, x + 9, y);
  ctx.beginPath();
  ctx.moveTo(x + 14, y);
  ctx.lineTo(x + 8, y - 4);
  ctx.lineTo(x + 8, y + 4);
  ctx.fill();
}

function shareAt(data: Distribution, ns: number): number {
  let index = -1;
  while (index + 1 < data.duration_ns.length && data.duration_ns[index + 1] <= ns) index += 1;
  return index < 0 ? 0 : data.share[index];
}

function distributionTip(
  plot: Plot,
  px: number,
  py: number,
  own: WithData<Distribution>[],
  arrangement: Arrangement,
): Tip | null {
  if (px < plot.left || px > plot.right || own.length === 0) return null;
  const ns = plot.xScale.value((px - plot.left) / plot.width);
  const lines = own
    .map(({ item, data }) => ({ name: arrangement.nameOf(item), data, value: shareAt(data, ns) }))
    .sort((left, right) => right.value - left.value)
    .slice(0, 12)
    .map(({ name, data, value }): [string, string] => {
      const low = percent(Math.max(0, value - data.band)).replace(" %", "");
      return [name, `${percent(value).replace(" %", "")} [${low}–${percent(Math.min(1, value + data.band)).replace(" %", "")}] %`];
    });
  return { x: px, y: py, title: `done within ${duration(ns)}`, lines };
}

export function histograms(selection: Selection): FigureContent | null {
  const { report } = selection;
  const all = joined(shownSeries(selection), (run) => report.figures.runs[run].histograms);
  if (all.length === 0) return null;
  const arrangement = arrange(all.map(({ item }) => item), selection);
  const range = durationRange(all.map(({ item }) => item).map((item) => ({ ...item, series: { ...item.series, longest_wait_ns: null } })));
  const samples = all.reduce((sum, { data }) => sum + data.counts.reduce((own, value) => own + value, 0), 0);
  return {
    legend: arrangement.legend("line"),
    panelWidth: arrangement.panels.length > 1 ? 340 : 720,
    caption: () =>
      `Where the durations lie: bars count attempts per twentieth of a decade, as share of their series; curves are ` +
      `smooth estimates of the same (Gaussian kernel, bandwidth by Silverman). Two hills often are a cache and the ` +
      `price of missing it. ${plural(samples, "sample")} of known duration.`,
    panels: (view) =>
      arrangement.panels.map(({ title, items }) => {
        const own = all.filter(({ item }) => items.includes(item) && !view.hidden.has(arrangement.keyOf(item)));
        const highest = Math.max(0.01, ...own.map(({ data }) => peakOf(data)));
        return {
          title,
          description: `Histogram of ${title || "all operations"}.`,
          height: arrangement.panels.length > 1 ? 220 : 300,
          x: logDuration(...zoomed(range, view), "time taken"),
          y: linear(0, highest * 1.06, "share per bin", percent),
          zoom: "x",
          draw: (plot) => plot.clipped(() => own.forEach((one) => drawHistogram(plot, one, arrangement))),
          tip: (plot, px, py) => histogramTip(plot, px, py, own, arrangement),
        } satisfies PanelContent;
      }),
  };
}

type HistogramData = Report["figures"]["runs"][number]["histograms"][number];

const sumOf = (data: HistogramData): number => Math.max(1, data.counts.reduce((sum, value) => sum + value, 0));
const peakOf = (data: HistogramData): number => data.counts.reduce((most, value) => Math.max(most, value), 0) / sumOf(data);
const edge = (bin: number): number => 10 ** (bin / 20);

function drawHistogram(plot: Plot, { item, data }: WithData<HistogramData>, arrangement: Arrangement): void {
  const { ctx } = plot;
  const style = arrangement.style(arrangement.keyOf(item));
  const sum = sumOf(data);
  const [red, green, blue] = rgb(colourOf(style));
  ctx.fillStyle = `rgba(${red},${green},${blue},0.28)`;
  data.counts.forEach((value, index) => {
    if (value === 0) return;
    const from = plot.x(edge(data.first_bin + index));
    const to = plot.x(edge(data.first_bin + index + 1));
    const top = Math.min(plot.y(value / sum), plot.bottom - 1);
    ctx.fillRect(from, top, Math.max(1, to - from - 0.5), plot.bottom - top);
  });
  ctx.strokeStyle = colourOf(style);
  ctx.lineWidth = 2;
  ctx.setLineDash(dashOf(style));
  ctx.beginPath();
  data.density_per_decade.forEach((value, index) => {
    ctx.lineTo(plot.x(edge(data.first_bin + index / 4)), plot.y(value / 20));
  });
  ctx.stroke();
  ctx.setLineDash([]);
}

function histogramTip(
  plot: Plot,
  px: number,
  py: number,
  own: WithData<HistogramData>[],
  arrangement: Arrangement,
): Tip | null {
  if (px < plot.left || px > plot.right) return null;
  const bin = Math.floor(20 * Math.log10(plot.xScale.value((px - plot.left) / plot.width)) + 1e-9);
  const lines = own.flatMap(({ item, data }): [string, string][] => {
    const value = data.counts[bin - data.first_bin] ?? 0;
    return value === 0 ? [] : [[arrangement.nameOf(item), `${count(value)} (${percent(value / sumOf(data))})`]];
  });
  if (lines.length === 0) return null;
  return { x: px, y: py, title: `${duration(edge(bin))} to ${duration(edge(bin + 1))}`, lines: lines.slice(0, 12) };
}
