// The study's figures 4 to 6, "integrated percent": distributions with bands; and figure 5's before, after and all.

import type { FigureContent, LegendEntry, View } from "../figure/figure";
import { count, duration, percent, plural } from "../page/format";
import { line, type PanelContent, type Plot, type Tip } from "../figure/panel";
import { logDuration, roundedLog, share } from "../figure/scale";
import { colourOf, dashOf } from "../figure/theme";
import { legendOfPlaces, panelsByTask, placeName, places, taskName, type State } from "./arrangement";
import { momentText } from "./calendar_scale";
import type { Curve, SeriesFigure } from "../generated/history";

interface Line {
  key: string;
  style: number;
  curve: Curve;
}

const curveOf = (series: SeriesFigure, { weighting }: State): Curve =>
  weighting === "time" ? (series.by_time ?? series.by_attempt) : series.by_attempt;

export function integratedPercent(state: State): FigureContent | null {
  const keys = places(state.document);
  const panels = panelsByTask(state).map(({ title, series }) => ({
    title,
    lines: series.map((one): Line => {
      const key = placeName(state.document, one);
      return { key, style: keys.indexOf(key), curve: curveOf(one, state) };
    }),
  }));
  const curves = panels.flatMap(({ lines }) => lines.map(({ curve }) => curve)).filter((curve) => curve.count > 0);
  if (curves.length === 0) return null;
  const range = rangeOf(curves);
  return {
    legend: legendOfPlaces(state, "line"),
    panelWidth: panels.length > 1 ? 440 : 720,
    caption: () => caption(curves, state),
    panels: (view) =>
      panels.map(({ title, lines }) => panel(title, lines.filter(({ key }) => !view.hidden.has(key)), range, view, panels.length > 1 ? 280 : 340)),
  };
}

function caption(curves: Curve[], { weighting }: State): string {
  const sum = (of: (curve: Curve) => number): number => curves.reduce((all, curve) => all + of(curve), 0);
  const parts = [
    weighting === "attempt"
      ? "The share of attempts that were done within the time on the axis; the further left a curve, the better."
      : "The share of scheduled moments at which somebody would have been done within the time on the axis: a slot that was skipped " +
        "because an earlier attempt hung waits for the rest of that hang.",
    "The band holds the whole true curve with 95 % confidence (Hall and Wellner, with the effective sample size).",
    `${plural(sum((curve) => curve.count), "observation")}` +
      (sum((curve) => curve.imputed_count) > 0 ? `, ${count(sum((curve) => curve.imputed_count))} of them concluded from the attempt in the way.` : "."),
  ];
  const open = sum((curve) => curve.at_least_count);
  if (open > 0) parts.push(`${count(open)} had not ended: curves that stop below 100 % say how many (Kaplan and Meier).`);
  if (sum((curve) => curve.below_count) > 0) parts.push("Dotted: below what the clock could tell.");
  return parts.join(" ");
}

export function beforeAfter(state: State): FigureContent | null {
  const { figures } = state.document;
  const found = figures.before_after.filter(({ series }) => {
    const { key } = figures.series[series];
    return (key.part === "") === (state.depth === "whole");
  });
  if (found.length === 0) return null;
  const names = ["before", "after", "all"];
  const panels = found.map((one) => {
    const series = figures.series[one.series];
    const before = state.weighting === "time" ? (one.before_by_time ?? one.before) : one.before;
    const after = state.weighting === "time" ? (one.after_by_time ?? one.after) : one.after;
    const lines = [before, after, curveOf(series, state)].map((curve, style): Line => ({ key: names[style], style, curve }));
    return { title: `${taskName(series)} on ${placeName(state.document, series)}: “${one.event_text}”, ${momentText(one.border_ns)}`, lines };
  });
  const range = rangeOf(panels.flatMap(({ lines }) => lines.map(({ curve }) => curve)));
  const legend = names.map((name, style): LegendEntry => ({ key: name, name, style, mark: "line" }));
  return {
    legend,
    panelWidth: panels.length > 1 ? 440 : 720,
    caption: () =>
      "Each series before and after the change of level next to an event that moved it furthest, and over the whole time. That the event " +
      "stands next to the change does not prove that it caused it; the table of changes says how likely that is by chance.",
    panels: (view) =>
      panels.map(({ title, lines }) => panel(title, lines.filter(({ key }) => !view.hidden.has(key)), range, view, panels.length > 1 ? 280 : 340)),
  };
}

function rangeOf(curves: Curve[]): [number, number] {
  let [low, high] = [Infinity, 0];
  for (const { amount, end } of curves) {
    if (amount.length > 0) {
      low = Math.min(low, amount[0]);
      high = Math.max(high, amount[amount.length - 1]);
    }
    if (end !== null) {
      low = Math.min(low, end.from);
      high = Math.max(high, end.from * 1.4);
    }
  }
  return low < Infinity ? roundedLog(Math.max(1, low * 0.9), Math.max(high, 2e8)) : [1e6, 1e11];
}

function panel(title: string, lines: Line[], range: [number, number], view: View, height: number): PanelContent {
  return {
    title,
    description: `Integrated percent of ${title}.`,
    height,
    x: logDuration(...(view.zoom ?? range), "time taken"),
    y: share("done"),
    zoom: "x",
    draw: (plot) =>
      plot.clipped(() => {
        lines.forEach((one) => drawBand(plot, one));
        lines.forEach((one) => drawLine(plot, one));
      }),
    tip: (plot, px, py) => tipOf(plot, px, py, lines),
  };
}

/** Corners of a step function from its first step on. */
function corners(plot: Plot, { amount, end }: Curve, values: Float32Array): [number, number][] {
  const found: [number, number][] = [];
  let before: number | null = null;
  for (let index = 0; index < amount.length; index += 1) {
    const x = plot.x(amount[index]);
    const y = plot.y(Math.min(1, Math.max(0, values[index])));
    if (before !== null) found.push([x, before]);
    found.push([x, y]);
    before = y;
  }
  if (before !== null) found.push([end === null ? plot.right + 2 : plot.x(end.from), before]);
  return found;
}

function drawBand(plot: Plot, { style, curve }: Line): void {
  const { ctx } = plot;
  ctx.fillStyle = colourOf(style);
  ctx.globalAlpha = 0.13;
  ctx.beginPath();
  corners(plot, curve, curve.low).forEach(([x, y]) => ctx.lineTo(x, y));
  corners(plot, curve, curve.high).reverse().forEach(([x, y]) => ctx.lineTo(x, y));
  ctx.closePath();
  ctx.fill();
  ctx.globalAlpha = 1;
}

function drawLine(plot: Plot, { style, curve }: Line): void {
  const { ctx } = plot;
  ctx.strokeStyle = ctx.fillStyle = colourOf(style);
  ctx.lineWidth = 2;
  const path = corners(plot, curve, curve.share);
  if (path.length > 0) {
    const [x, y] = path[0];
    if (curve.below_count > 0) {
      ctx.setLineDash([1, 4]);
      line(ctx, plot.left, y, x, y);
    }
    ctx.setLineDash(dashOf(style));
    ctx.beginPath();
    ctx.moveTo(curve.below_count > 0 ? x : plot.left - 2, curve.below_count > 0 ? y : plot.y(0));
    if (curve.below_count === 0) ctx.lineTo(x, plot.y(0));
    path.forEach(([px, py]) => ctx.lineTo(px, py));
    ctx.stroke();
    ctx.setLineDash([]);
  }
  if (curve.end !== null) drawEnd(plot, curve);
}

/** An arrow to the right: the rest took at least so long. */
function drawEnd(plot: Plot, { end, share: shares }: Curve): void {
  if (end === null) return;
  const { ctx } = plot;
  const x = Math.min(plot.x(end.from), plot.right - 15);
  const y = plot.y(shares.length === 0 ? 0 : shares[shares.length - 1]) - 1;
  ctx.lineWidth = 1.5;
  line(ctx, x, y - 4, x, y + 4);
  line(ctx, x, y, x + 9, y);
  ctx.beginPath();
  ctx.moveTo(x + 14, y);
  ctx.lineTo(x + 8, y - 4);
  ctx.lineTo(x + 8, y + 4);
  ctx.fill();
}

function tipOf(plot: Plot, px: number, py: number, lines: Line[]): Tip | null {
  if (px < plot.left || px > plot.right || lines.length === 0) return null;
  const amount = plot.xScale.value((px - plot.left) / plot.width);
  const words = lines.map(({ key, curve }): [string, string] => {
    let index = -1;
    while (index + 1 < curve.amount.length && curve.amount[index + 1] <= amount) index += 1;
    if (curve.amount.length === 0) return [key, curve.count > 0 ? "nothing ended" : "nothing"];
    if (index < 0) return [key, curve.below_count > 0 ? "not known: below the clock's resolution" : "0 %"];
    if (curve.end !== null && amount > curve.end.from) return [key, `≥ ${percent(curve.share[curve.share.length - 1])}`];
    const ends = `${percent(curve.low[index]).replace(" %", "")}–${percent(curve.high[index]).replace(" %", "")}`;
    return [key, `${percent(curve.share[index]).replace(" %", "")} [${ends}] %`];
  });
  return { x: px, y: py, title: `done within ${duration(amount)}`, lines: words.slice(0, 12) };
}
