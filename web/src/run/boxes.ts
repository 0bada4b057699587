// Box plots: by operation and place (directory, stage, run), and by client.

import { bound, isAtLeast } from "./data";
import type { BoxFigure, Estimate } from "../generated/run";
import type { FigureContent } from "../figure/figure";
import { count, duration, plural } from "../page/format";
import { line, type PanelContent, type Plot, type Tip } from "../figure/panel";
import { band, logDuration } from "../figure/scale";
import { arrange, operationsOf, shownSeries, type Selection } from "./selection";
import { durationRange } from "./distributions";
import { colourOf, theme } from "../figure/theme";

const ROW = 26;

interface Row {
  name: string;
  box: BoxFigure;
  key: string;
  style: number;
}

export function boxesByPlace(selection: Selection): FigureContent | null {
  const { report } = selection;
  const items = shownSeries(selection);
  const arrangement = arrange(items, selection);
  const rows: Row[] = arrangement.panels.flatMap(({ items: own }) =>
    own.flatMap((item) => {
      const found = report.figures.runs[item.run].boxes.find((candidate) => candidate.series === item.index);
      if (found === undefined) return [];
      const key = arrangement.keyOf(item);
      const name = arrangement.panels.length > 1 ? `${item.operation} · ${item.place}` : item.operation;
      return [{ name, box: found.durations, key, style: arrangement.style(key) }];
    }),
  );
  if (rows.length === 0) return null;
  const range = durationRange(items);
  const attempts = rows.reduce((sum, { box }) => sum + box.attempts, 0);
  return {
    legend: arrangement.legend("box"),
    panelWidth: 720,
    caption: () =>
      `Boxes hold the middle half, the line in them is the median, thick whiskers go from 5 % to 95 %, thin ones from ` +
      `the shortest to the longest; an arrow says "at least". ${plural(attempts, "sample")}.`,
    panels: (view) => [
      rowsPanel("", rows.filter((row) => !view.hidden.has(row.key)), range, view.zoom),
    ],
  };
}

export function boxesByClient(selection: Selection): FigureContent | null {
  const { report, level, clients } = selection;
  const isChosen = (client: number): boolean => clients === null || clients.includes(client);
  const found = report.figures.runs.flatMap((run, index) =>
    run.client_boxes
      .filter(({ layer }) => run.series.some((series) => series.layer === layer && series.level === level))
      .map((boxes) => ({
        boxes,
        operation: run.layers[boxes.layer].operation,
        title: report.figures.runs.length > 1 ? `${run.layers[boxes.layer].name} · ${report.runNames[index]}` : run.layers[boxes.layer].name,
      })),
  );
  if (found.length === 0) return null;
  const all = found.flatMap(({ boxes }) => boxes.boxes.filter(({ client }) => isChosen(client)));
  const range = durationRange(shownSeries({ ...selection, phase: null }));
  const operations = operationsOf(selection);
  const areDeciles = found.some(({ boxes }) => boxes.shown === "deciles");
  return {
    legend: [],
    panelWidth: 440,
    caption: () =>
      `The same by client, over all stages: clients that differ were not served alike. ` +
      (areDeciles ? "Of many clients those at the deciles of their medians are shown. " : "") +
      `${plural(all.reduce((sum, { durations }) => sum + durations.attempts, 0), "sample")}.`,
    panels: (view) =>
      found.map(({ boxes, title, operation }) => {
        const style = operations.indexOf(operation);
        const own = boxes.boxes.filter(({ client }) => isChosen(client));
        const rows = own.map(({ client, percent, durations }) => ({
          name: percent === null ? `client ${client}` : `client ${client} (${percent} %)`,
          box: durations,
          key: "",
          style,
        }));
        return rowsPanel(title, rows, range, view.zoom);
      }),
  };
}

function rowsPanel(title: string, rows: Row[], range: [number, number], zoom: [number, number] | null): PanelContent {
  const names = rows.map(({ name }) => name).reverse();
  const bottomUp = [...rows].reverse();
  return {
    title,
    description: `Box plots of ${title || "operations"}: ${rows.map((row) => `${row.name} ${words(row.box.median)}`).join(", ")}.`,
    height: 54 + ROW * Math.max(rows.length, 1),
    x: logDuration(...(zoom ?? range), "time taken"),
    y: band(names),
    zoom: "x",
    draw: (plot) => plot.clipped(() => bottomUp.forEach((row, index) => drawBox(plot, row, plot.y(index)))),
    tip: (plot, px, py) => boxTip(plot, px, py, bottomUp),
  };
}

function drawBox(plot: Plot, { box, style }: Row, y: number): void {
  const { ctx } = plot;
  const at = (quantile: Estimate): number | null => {
    const value = bound(quantile);
    return value === null ? null : plot.x(Math.max(value, plot.xScale.min / 1e3, 0.1));
  };
  const [min, p5, p25, median, p75, p95, max] = [box.min, box.p5, box.p25, box.median, box.p75, box.p95, box.max].map(at);
  ctx.strokeStyle = ctx.fillStyle = colourOf(style);
  ctx.lineWidth = 1;
  if (min !== null && max !== null) {
    line(ctx, min, y, max, y);
    line(ctx, min, y - 4, min, y + 4);
    if (isAtLeast(box.max)) arrow(ctx, Math.min(max, plot.right - 8), y);
    else line(ctx, max, y - 4, max, y + 4);
  }
  ctx.lineWidth = 3;
  if (p5 !== null && p25 !== null) line(ctx, p5, y, p25, y);
  if (p75 !== null && p95 !== null) line(ctx, p75, y, p95, y);
  if (p25 !== null && p75 !== null) {
    ctx.globalAlpha = 0.55;
    ctx.fillRect(p25, y - 7, Math.max(p75 - p25, 2), 14);
    ctx.globalAlpha = 1;
    ctx.lineWidth = 1.2;
    ctx.strokeRect(p25, y - 7, Math.max(p75 - p25, 2), 14);
  }
  if (median !== null) {
    ctx.strokeStyle = theme().ink;
    ctx.lineWidth = 2.4;
    line(ctx, median, y - 8, median, y + 8);
  }
}

function arrow(ctx: CanvasRenderingContext2D, x: number, y: number): void {
  ctx.beginPath();
  ctx.moveTo(x + 7, y);
  ctx.lineTo(x, y - 4);
  ctx.lineTo(x, y + 4);
  ctx.fill();
}

function words(quantile: Estimate): string {
  const value = bound(quantile);
  if (value === null) return "too few";
  return `${isAtLeast(quantile) ? "≥ " : ""}${duration(value)}`;
}

function boxTip(plot: Plot, px: number, py: number, rows: Row[]): Tip | null {
  const index = Math.round(plot.yScale.value((plot.bottom - py) / plot.height));
  const row = rows[index];
  if (row === undefined) return null;
  const { box } = row;
  return {
    x: Math.min(Math.max(px, plot.left), plot.right),
    y: plot.y(index),
    title: row.name,
    lines: [
      ["samples", count(box.attempts)],
      ["shortest", words(box.min)],
      ["5 %", words(box.p5)],
      ["25 %", words(box.p25)],
      ["median", words(box.median)],
      ["75 %", words(box.p75)],
      ["95 %", words(box.p95)],
      ["longest", words(box.max)],
      ["outliers", count(box.outliers)],
    ],
  };
}
