// Hangs of a run: bars from their start to their end in every figure over time of their target, whatever operations it is of.

import type { HangSpan, RunFigures } from "../generated/run";
import { duration, moment, plural } from "../page/format";
import { clamp, type Plot, type Tip } from "../figure/panel";
import type { TimePlace } from "./selection";
import { theme } from "../figure/theme";

/** More are counted, not named. */
const NAMED_MAX = 3;
/** A bar is never narrower, in CSS pixels. */
const LEAST_PX = 2;

/** Where something hung. */
type Place = Pick<TimePlace, "figures" | "target">;

export const hangsOf = ({ figures, target }: Place): HangSpan[] =>
  figures.hangs.filter((hang) => hang.target === target);

const endOf = (figures: RunFigures, hang: HangSpan): number => hang.end_ns ?? figures.run.span_ns;

function edges(plot: Plot, figures: RunFigures, hang: HangSpan): [number, number] | null {
  const from = clamp(plot.x(hang.begin_ns), plot.left, plot.right);
  const to = clamp(plot.x(endOf(figures, hang)), plot.left, plot.right);
  const isOutside = plot.x(endOf(figures, hang)) < plot.left || plot.x(hang.begin_ns) > plot.right;
  return isOutside ? null : [from, Math.max(to, from + LEAST_PX)];
}

/** Shades their times, behind what is drawn over them. */
export function shadeHangs(plot: Plot, place: Place): void {
  const { ctx } = plot;
  ctx.fillStyle = theme().serious;
  ctx.globalAlpha = 0.13;
  for (const hang of hangsOf(place)) {
    const at = edges(plot, place.figures, hang);
    if (at !== null) ctx.fillRect(at[0], plot.top, at[1] - at[0], plot.height);
  }
  ctx.globalAlpha = 1;
}

/** Their bars in a row whose middle is at `y`. */
export function drawHangs(plot: Plot, place: Place, y: number): void {
  plot.ctx.fillStyle = theme().serious;
  for (const hang of hangsOf(place)) {
    const at = edges(plot, place.figures, hang);
    if (at !== null) plot.ctx.fillRect(at[0], y - 3, at[1] - at[0], 6);
  }
}

/** The hang under the pointer. */
export function hangTip(plot: Plot, px: number, py: number, place: Place): Tip | null {
  const found = hangsOf(place).find((hang) => {
    const at = edges(plot, place.figures, hang);
    return at !== null && px >= at[0] - 2 && px <= at[1] + 2;
  });
  if (found === undefined) return null;
  const lasted = duration(endOf(place.figures, found) - found.begin_ns);
  return {
    x: px,
    y: py,
    title: `${operationOf(place.figures, found)} hung`,
    lines: [
      ["since", when(place.figures, found.begin_ns)],
      found.end_ns === null ? ["did not end in", `${lasted}, when the run was over`] : ["lasted", lasted],
    ],
  };
}

/** What the captions say of them; empty without any. */
export function hangSentence(places: TimePlace[]): string {
  const all = places.flatMap((place) => hangsOf(place).map((hang) => ({ place, hang })));
  if (all.length === 0) return "";
  const words = all.slice(0, NAMED_MAX).map(({ place, hang }) => {
    const on = places.length > 1 ? ` on ${place.title}` : "";
    const since = when(place.figures, hang.begin_ns);
    const lasted =
      hang.end_ns === null ? `from ${since} on and did not end` : `at ${since} for ${duration(hang.end_ns - hang.begin_ns)}`;
    return `${operationOf(place.figures, hang)}${on} hung ${lasted}`;
  });
  if (all.length > NAMED_MAX) words.push(plural(all.length - NAMED_MAX, "more hang"));
  return `Bars, in figures of all operations of a place: ${words.join("; ")}.`;
}

const operationOf = (figures: RunFigures, hang: HangSpan): string => figures.series[hang.series]?.operation ?? "an attempt";

const when = ({ run }: RunFigures, ns: number): string =>
  run.begin_realtime_ns === null ? `after ${duration(ns)}` : moment((run.begin_realtime_ns + ns) / 1e6);
