// What is drawn in a panel: stages, points or their density, and marks above the axes.

import { TIME_UNITS } from "../data";
import { drawHangs } from "../hangs";
import { clamp, type Plot } from "../../figure/panel";
import { blend, over } from "../../figure/pixels";
import { colourOf, drawShape, rgb, shapeOf, theme } from "../../figure/theme";
import { HUNG, MARK_ROW, rowY, type Lane } from "./lane";

/** Fewer points than this are drawn with the shape of their series. */
const SHAPED_POINTS = 4000;

export function drawStages(plot: Plot, lane: Lane): void {
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

export function drawPoints(plot: Plot, lane: Lane, shown: Int16Array, middles: Float64Array, all: number): void {
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

export function drawDensity(plot: Plot, lane: Lane, shown: Int16Array, middles: Float64Array): void {
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

export function drawMarks(plot: Plot, lane: Lane, shown: Int16Array): void {
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
