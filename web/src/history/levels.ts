// Changes of level as steps, with the medians before and after.

import { duration } from "../page/format";
import { clamp, type Plot } from "../figure/panel";
import { colourOf, theme } from "../figure/theme";
import { momentsOf } from "./document";
import type { HistoryFigures, Knowledge, SeriesFigure } from "../generated/history";
import { rangeOf, type Lane } from "./time_line";

/** Where a series changed, in ns since the begin of the axis, and its levels in ns of duration; null: below the resolution. */
function levelsOf({ changes }: SeriesFigure, { begin_ns }: HistoryFigures["axis"]): { at: number[]; levels: (number | null)[] } {
  const level = (seconds: number, known: Knowledge): number | null => (known === "at-most" ? null : seconds * 1e9);
  return {
    at: changes.map((change) => (change.last_before_ns + change.first_after_ns) / 2 - begin_ns),
    levels: [
      ...changes.slice(0, 1).map((change) => level(change.median_before, change.median_before_is)),
      ...changes.map((change) => level(change.median_after, change.median_after_is)),
    ],
  };
}

/** Levels between changes, under the points. */
export function drawLevels(plot: Plot, lane: Lane, shown: boolean[]): void {
  const { ctx } = plot;
  plot.clipped(() => {
    lane.panel.series.forEach((series, which) => {
      if (!shown[which] || series.changes.length === 0) return;
      const { at, levels } = levelsOf(series, lane.figures.axis);
      const [first, last] = extentOf(series, lane.figures);
      ctx.lineWidth = 2.4;
      ctx.strokeStyle = colourOf(lane.styles[which]);
      ctx.beginPath();
      levels.forEach((level, index) => {
        const y = levelY(plot, lane, level);
        ctx.lineTo(plot.x(at[index - 1] ?? first), y);
        ctx.lineTo(plot.x(at[index] ?? last), y);
      });
      ctx.stroke();
    });
  });
}

/** The medians before and after each change, over the points; of those that fall together one below the other. */
export function drawChanges(plot: Plot, lane: Lane, shown: boolean[]): void {
  const taken: [number, number, number][] = [];
  const bound = (known: string): string => (known === "at-least" ? "≥ " : known === "at-most" ? "< " : "");
  lane.panel.series.forEach((series, which) => {
    if (!shown[which]) return;
    const { at, levels } = levelsOf(series, lane.figures.axis);
    series.changes.forEach((change, index) => {
      const x = plot.x(at[index]);
      if (x < plot.left || x > plot.right) return;
      const text =
        `${bound(change.median_before_is)}${duration(change.median_before * 1e9)} → ` +
        `${bound(change.median_after_is)}${duration(change.median_after * 1e9)}`;
      const width = plot.ctx.measureText(text).width + 8;
      const left = x + width + 6 > plot.right ? x - width - 6 : x + 6;
      let y = clamp((levelY(plot, lane, levels[index]) + levelY(plot, lane, levels[index + 1])) / 2, plot.top + 8, plot.bottom - 8);
      const isTaken = (): boolean =>
        taken.some(([from, to, middle]) => left < to && left + width > from && Math.abs(middle - y) < 16);
      // Upwards if there is room, since what is slow is sparse.
      for (const step of y > plot.top + plot.height / 2 ? [-16, 16] : [16, -16]) {
        while (isTaken() && y + step > plot.top + 6 && y + step < plot.bottom - 6) y += step;
        if (!isTaken()) break;
      }
      if (isTaken()) return;
      taken.push([left, left + width, y]);
      boxed(plot, text, left, y, width, colourOf(lane.styles[which]));
    });
  });
}

/** From the first sample of a series to its last. */
function extentOf({ points, ribbons }: SeriesFigure, { axis }: HistoryFigures): [number, number] {
  if (ribbons === null) {
    const moments = momentsOf(points.time_steps, axis.time_unit_ns);
    return moments.length === 0 ? [0, axis.span_ns] : [moments[0], moments[moments.length - 1]];
  }
  const place = (column: number): number => (column / ribbons.count.length) * axis.span_ns;
  const filled = [...ribbons.count.keys()].filter((column) => ribbons.count[column] > 0);
  return [place(filled[0] ?? 0), place((filled[filled.length - 1] ?? ribbons.count.length - 1) + 1)];
}

/** What is below the resolution stands in its band. */
function levelY(plot: Plot, lane: Lane, level: number | null): number {
  return level === null ? (plot.y(rangeOf(lane)[0]) + 3 + plot.bottom) / 2 : plot.y(level);
}

function boxed({ ctx }: Plot, text: string, left: number, y: number, width: number, colour: string): void {
  ctx.fillStyle = theme().paper;
  ctx.globalAlpha = 0.86;
  ctx.fillRect(left, y - 8, width, 16);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colour;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText(text, left + 4, y);
}
