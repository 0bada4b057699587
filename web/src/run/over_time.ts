// What changes over time: durations as heat map, rates, clients waiting, fairness between clients.

import type { Fairness, RunFigures } from "../generated/run";
import type { FigureContent, LegendEntry, View } from "../figure/figure";
import { bytes, count, duration, moment, numberTick, percent, plural, rate } from "../page/format";
import { hangTip, shadeHangs } from "./hangs";
import { clamp, type PanelContent, type Plot, type Tip } from "../figure/panel";
import { linear, logDuration, roundedLog, share, size, type Scale } from "../figure/scale";
import { operationsOf, timePlaces, type Selection, type TimePlace } from "./selection";
import { timeScale } from "./time_axis";
import { colourOf, dashOf, ramp } from "../figure/theme";

function when(run: RunFigures["run"], ns: number): string {
  return run.begin_realtime_ns === null ? `after ${duration(ns)}` : moment((run.begin_realtime_ns + ns) / 1e6);
}

const nsAt = (plot: Plot, px: number): number => plot.xScale.value((px - plot.left) / plot.width);
const isInside = (plot: Plot, px: number): boolean => px >= plot.left && px <= plot.right;

export function heatMaps(selection: Selection): FigureContent | null {
  const { report, level } = selection;
  const { lowest_ns } = report.figures.axis;
  const found = report.figures.runs.flatMap((figures, run) =>
    figures.heat_map.layers
      .filter(({ layer }) => figures.series.some((series) => series.layer === layer && series.level === level))
      .map((layer) => ({ figures, layer, title: layerTitle(selection, run, layer.layer) })),
  );
  if (found.length === 0) return null;
  const samples = found.reduce((sum, { layer }) => sum + layer.totals.reduce((own, value) => own + value, 0), 0);
  const bucketNs = (bucket: number): number => Math.max(0.5, lowest_ns[Math.min(bucket, lowest_ns.length - 1)]);
  return {
    legend: [],
    panelWidth: 440,
    caption: () =>
      `How durations shift: each column is a stretch of time, and the darker a field (lighter on dark paper), the ` +
      `greater the share of that column's attempts that took so long. ${plural(samples, "sample")} of known duration.`,
    panels: (view) =>
      found.map(({ figures, layer, title }) => {
        const perRow = figures.heat_map.buckets_per_row;
        const heat = coarser(figures.heat_map.columns, layer);
        const range = roundedLog(
          Math.max(1, bucketNs(layer.first_bucket)),
          bucketNs(layer.first_bucket + layer.rows * perRow),
        );
        const place = { figures, target: figures.layers[layer.layer].target };
        const field = (plot: Plot, px: number, py: number): Tip | null => {
          if (!isInside(plot, px) || py < plot.top || py > plot.bottom) return null;
          const column = clamp(Math.floor((nsAt(plot, px) / figures.run.span_ns) * heat.columns), 0, heat.columns - 1);
          const ns = plot.yScale.value((plot.bottom - py) / plot.height);
          for (let row = 0; row < layer.rows; row += 1) {
            const from = bucketNs(layer.first_bucket + row * perRow);
            const to = bucketNs(layer.first_bucket + (row + 1) * perRow);
            const value = heat.counts[row * heat.columns + column];
            if (ns < from || ns >= to || value === 0) continue;
            return {
              x: px,
              y: py,
              title: `${duration(from)} to ${duration(to)}`,
              lines: [
                ["attempts", `${count(value)} of ${count(heat.totals[column])} (${percent(value / heat.totals[column])})`],
                ["about", when(figures.run, nsAt(plot, px))],
              ],
            };
          }
          return null;
        };
        return {
          title,
          description: `Heat map of ${title} over time.`,
          height: 210,
          x: timeScale(figures.run, view),
          y: logDuration(...range, ""),
          zoom: "x",
          draw(plot) {
            shadeHangs(plot, place);
            drawHeat(plot, figures, layer, heat, bucketNs);
          },
          tip: (plot, px, py) => field(plot, px, py) ?? hangTip(plot, px, py, place),
        } satisfies PanelContent;
      }),
  };
}

function layerTitle({ report }: Selection, run: number, layer: number): string {
  const { runs } = report.figures;
  const name = runs[run].layers[layer]?.name ?? "";
  return runs.length > 1 ? `${name} · ${report.runNames[run]}` : name;
}

type HeatLayer = RunFigures["heat_map"]["layers"][number];

interface Heat {
  columns: number;
  counts: Uint32Array;
  totals: Uint32Array;
}

/** Fewer columns where there are few attempts, so that a column's shares mean something. */
function coarser(columns: number, layer: HeatLayer): Heat {
  const attempts = layer.totals.reduce((sum, value) => sum + value, 0);
  const factor = factorFor(columns, attempts / 12, 10);
  const wide = Math.ceil(columns / factor);
  const heat: Heat = { columns: wide, counts: new Uint32Array(wide * layer.rows), totals: new Uint32Array(wide) };
  for (let column = 0; column < columns; column += 1) {
    const to = Math.floor(column / factor);
    heat.totals[to] += layer.totals[column];
    for (let row = 0; row < layer.rows; row += 1) heat.counts[row * wide + to] += layer.counts[row * columns + column];
  }
  return heat;
}

/** The smallest divisor that leaves at most `wanted` bins, but never fewer than `least`. */
function factorFor(bins: number, wanted: number, least: number): number {
  const divisors = Array.from({ length: bins }, (_, index) => index + 1).filter((divisor) => bins % divisor === 0);
  const useful = divisors.filter((divisor) => bins / divisor >= least);
  return useful.find((divisor) => bins / divisor <= wanted) ?? useful[useful.length - 1] ?? 1;
}

function drawHeat(
  plot: Plot,
  figures: RunFigures,
  layer: HeatLayer,
  { columns, counts, totals }: Heat,
  bucketNs: (bucket: number) => number,
): void {
  const { buckets_per_row } = figures.heat_map;
  const palette = Array.from({ length: 256 }, (_, index) => {
    const [red, green, blue] = ramp(index / 255);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
  plot.pixels((words, width, height) => {
    const rowOf = (bucket: number): number => Math.round((1 - plot.yScale.place(bucketNs(bucket))) * height);
    const edges = Array.from({ length: columns + 1 }, (_, column) =>
      Math.round(plot.xScale.place((column / columns) * figures.run.span_ns) * width),
    );
    for (let row = 0; row < layer.rows; row += 1) {
      const first = layer.first_bucket + row * buckets_per_row;
      const bottom = clamp(rowOf(first), 0, height);
      const top = clamp(rowOf(first + buckets_per_row), 0, height - 1);
      for (let column = 0; column < columns; column += 1) {
        const value = counts[row * columns + column];
        if (value === 0) continue;
        // The square root lets rare slow attempts be seen.
        const part = Math.sqrt(value / Math.max(1, totals[column]));
        const colour = palette[Math.round(255 * (0.12 + 0.88 * part))];
        const from = clamp(edges[column], 0, width);
        const to = clamp(Math.max(edges[column + 1], edges[column] + 1), 0, width);
        for (let y = top; y < Math.max(bottom, top + 1); y += 1) words.fill(colour, y * width + from, y * width + to);
      }
    }
  });
}

/** One line over bins of time. */
interface Line {
  key: string;
  style: number;
  values: ArrayLike<number>;
}

/** Draws at most a point per pixel: the highest of those that fall together, so that no peak is lost. */
function drawLines(plot: Plot, lines: Line[], bins: number, binNs: number, look: "steps" | "curve"): void {
  const { ctx } = plot;
  plot.clipped(() => {
    for (const { style, values } of lines) {
      ctx.strokeStyle = colourOf(style);
      ctx.lineWidth = 1.8;
      ctx.setLineDash(dashOf(style));
      ctx.beginPath();
      let before: number | null = null;
      for (let bin = 0; bin < bins; bin += 1) {
        // A gap: the line goes on behind it.
        if (Number.isNaN(values[bin])) {
          before = null;
          continue;
        }
        const y = plot.y(values[bin]);
        if (before === null) ctx.moveTo(plot.x((look === "curve" ? bin + 1 : bin) * binNs), y);
        if (look === "curve") ctx.lineTo(plot.x((bin + 1) * binNs), y);
        else {
          const x = plot.x(bin * binNs);
          if (before !== y) ctx.lineTo(x, y);
          ctx.lineTo(plot.x((bin + 1) * binNs), y);
        }
        before = y;
      }
      ctx.stroke();
    }
    ctx.setLineDash([]);
  });
}

function linesTip(
  plot: Plot,
  px: number,
  py: number,
  lines: Line[],
  run: RunFigures["run"],
  bins: number,
  binNs: number,
  format: (value: number) => string,
): Tip | null {
  if (!isInside(plot, px) || lines.length === 0) return null;
  const bin = clamp(Math.floor(nsAt(plot, px) / binNs), 0, bins - 1);
  const known = lines.filter(({ values }) => !Number.isNaN(values[bin]));
  if (known.length === 0) return null;
  const shown = known.sort((left, right) => right.values[bin] - left.values[bin]).slice(0, 10);
  return {
    x: px,
    y: py,
    title: when(run, bin * binNs),
    lines: shown.map((one): [string, string] => [one.key, format(one.values[bin])]),
  };
}

/** Sums of the series of one operation on one target, means of `merged` bins each. */
function summed(
  place: TimePlace,
  operations: string[],
  column: ArrayLike<number>,
  factor: number,
  merged: number,
): Line[] {
  const { series, rates } = place.figures;
  return operations.flatMap((key, style): Line[] => {
    const own = series.flatMap((one, index) => (one.operation === key && one.target === place.target ? [index] : []));
    if (own.length === 0) return [];
    const values = new Float64Array(rates.bins / merged);
    for (const index of own) {
      for (let bin = 0; bin < rates.bins; bin += 1) {
        values[Math.floor(bin / merged)] += (column[index * rates.bins + bin] * factor) / merged;
      }
    }
    return [{ key, style, values }];
  });
}

const highest = (lines: Line[]): number =>
  lines.reduce((most, { values }) => Array.from(values).reduce((own, value) => Math.max(own, value), most), 0);

export function ratesOverTime(selection: Selection): FigureContent | null {
  const operations = operationsOf(selection);
  const places = timePlaces(selection).filter(({ figures }) => figures.rates.operations.length > 0);
  if (places.length === 0) return null;
  const samples = places.reduce(
    (sum, { figures, target }) =>
      sum + figures.series.filter((one) => one.level === selection.level && one.target === target).reduce((own, one) => own + one.ok + one.late, 0),
    0,
  );
  return {
    legend: operations.map((name, style): LegendEntry => ({ key: name, name, style, mark: "line" })),
    panelWidth: 440,
    caption: () =>
      `How much was done: operations that succeeded per second, the bytes that they moved, and how many were in flight ` +
      `at a time: means over ${stretches(places, operations)}. ${plural(samples, "sample")} that succeeded.`,
    panels: (view) => places.flatMap((place) => ratePanels(place, operations, view)),
  };
}

/** How many bins become one: with few operations a bin of each would show nothing but single ones. */
function mergedBins({ figures, target }: TimePlace, operations: string[]): number {
  const own = figures.series.filter((one) => operations.includes(one.operation) && one.target === target);
  const most = own.reduce((max, one) => Math.max(max, one.ok + one.late), 0);
  return factorFor(figures.rates.bins, Math.min(200, most / 8), 20);
}

function stretches(places: TimePlace[], operations: string[]): string {
  const lengths = places.map((place) => place.figures.rates.bin_ns * mergedBins(place, operations));
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  return most / least < 1.01 ? duration(most) : `${duration(least)} to ${duration(most)}`;
}

function ratePanels(place: TimePlace, operations: string[], view: View): PanelContent[] {
  const { rates, run } = place.figures;
  const perSecond = 1e9 / rates.bin_ns;
  const merged = mergedBins(place, operations);
  const [bins, binNs] = [rates.bins / merged, rates.bin_ns * merged];
  const quantities: [string, ArrayLike<number>, number, (value: number) => string][] = [
    ["operations/s", rates.operations, perSecond, rate],
    ["bytes/s", rates.bytes, perSecond, (value) => `${bytes(value)}/s`],
    ["in flight", rates.in_flight, 1, (value) => value.toFixed(2)],
  ];
  return quantities.flatMap(([name, column, factor, format]) => {
    const all = summed(place, operations, column, factor, merged);
    const most = highest(all);
    if (all.length === 0 || (most === 0 && name !== "operations/s")) return [];
    const shown = all.filter(({ key }) => !view.hidden.has(key));
    const top = highest(shown) || 1;
    return [
      {
        title: place.title,
        description: `${name} over time on ${place.title}.`,
        height: 220,
        x: timeScale(run, view),
        y: name === "bytes/s" ? size(top * 1.05, name) : linear(0, top * 1.05, name, numberTick),
        zoom: "x" as const,
        draw(plot: Plot) {
          shadeHangs(plot, place);
          drawLines(plot, shown, bins, binNs, "steps");
        },
        tip: (plot: Plot, px: number, py: number) =>
          linesTip(plot, px, py, shown, run, bins, binNs, format),
      },
    ];
  });
}

export function fairness(selection: Selection): FigureContent | null {
  const { report, clients: chosen } = selection;
  const isChosen = (line: Fairness["lines"][number]): boolean => chosen === null || chosen.includes(line.client);
  const found = report.figures.runs.flatMap((figures, run) =>
    figures.fairness.map((of) => ({ ...of, lines: of.lines.filter(isChosen) })).map((data) => ({ figures, data, title: fairTitle(selection, figures, run, data) })),
  );
  if (found.length === 0) return null;
  const clients = Math.max(...found.map(({ data }) => data.lines.length));
  const isLegible = clients <= 16;
  const nameOf = (line: Fairness["lines"][number]): string =>
    line.percent === null ? `client ${line.client}` : `client ${line.client} (${line.percent} %)`;
  const names = [...new Set(found.flatMap(({ data }) => data.lines.map(nameOf)))];
  const indices = found.map(({ data }) => data.jain).filter((value) => value !== null);
  const done = found.reduce(
    (sum, { data }) => sum + data.lines.reduce((own, line) => own + (line.done[line.done.length - 1] ?? 0), 0),
    0,
  );
  return {
    legend: isLegible ? names.map((name, style): LegendEntry => ({ key: name, name, style, mark: "line" })) : [],
    panelWidth: 440,
    caption: () =>
      `Operations that each client had done by a moment: lines that stay together were served alike. Jain's index of ` +
      `the clients' rates is 1 when all are equal and 1/n when one of n clients gets everything` +
      (indices.length > 0 ? `; over the whole it is ${indices.map((value) => value.toFixed(3)).join(", ")}` : "") +
      (isTold(found.map(({ data }) => data))
        ? `. That of each moment is of so many operations that each client had done 30 on average; where nothing was done there is none`
        : `. They did too few operations for an index of each moment (30 each)`) +
      `. ${plural(done, "operation")} in these lines` +
      (found.some(({ data }) => data.shown === "deciles") ? " (of many clients, those at the deciles of their rates)." : "."),
    panels: (view) =>
      found.flatMap(({ figures, data, title }) => {
        const lines = data.lines
          .map((line): Line => ({ key: nameOf(line), style: names.indexOf(nameOf(line)), values: line.done }))
          .filter(({ key }) => !view.hidden.has(key));
        // It is between 1/n and 1; where there is none, the data have 0.
        const jain: Line[] = [{ key: "Jain's index", style: 0, values: data.jain_over_time.map((index) => index || NaN) }];
        const base = { height: 230, x: timeScale(figures.run, view), zoom: "x" as const };
        const panel = (name: string, y: Scale, own: Line[], look: "steps" | "curve", format: (value: number) => string): PanelContent => ({
          ...base,
          title,
          description: `${name} over time, ${title}.`,
          y,
          draw: (plot) => drawLines(plot, own, data.bins, data.bin_ns, look),
          tip: (plot, px, py) => linesTip(plot, px, py, own, figures.run, data.bins, data.bin_ns, format),
        });
        const ofDone = panel("operations done", linear(0, (highest(lines) || 1) * 1.03, "operations done"), lines, "curve", count);
        if (!isTold([data])) return [ofDone];
        return [
          ofDone,
          panel("Jain's index", { ...share("Jain's index"), ...linear(0, 1.02, "Jain's index of each moment") }, jain, "steps", (value) => value.toFixed(3)),
        ];
      }),
  };
}

/** Whether there is an index of any moment. */
const isTold = (all: Fairness[]): boolean => all.some(({ jain_over_time }) => jain_over_time.some((index) => index > 0));

function fairTitle({ report }: Selection, figures: RunFigures, run: number, data: Fairness): string {
  const target = figures.run.targets[data.target]?.name ?? "";
  return [report.figures.runs.length > 1 ? report.runNames[run] : "", figures.run.targets.length > 1 || report.figures.runs.length === 1 ? target : ""]
    .filter((part) => part !== "")
    .join(" · ");
}
