// What is told of the attempt, the mark or the hang under the pointer.

import { TIME_UNITS } from "../data";
import { clamp, type Plot, type Tip } from "../../figure/panel";
import { hangTip } from "../hangs";
import { count, duration, moment } from "../../page/format";
import type { Selection } from "../selection";
import { MARK_ROW, rowY, type Lane } from "./lane";

export function tipAt(
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
