// The time line: every attempt as a point, or as density with the longest attempts as points; what went wrong as
// marks in a row of its own above the axes, so that it is never a gap.

import type { FigureContent, View } from "../../figure/figure";
import type { PanelContent } from "../../figure/panel";
import { logDuration, roundedLog, type Scale } from "../../figure/scale";
import { count, plural } from "../../page/format";
import { hangSentence, shadeHangs } from "../hangs";
import { operationsOf, timePlaces, type Selection, type TimePlace } from "../selection";
import { timeScale } from "../time_axis";
import { clientPlaces, ofClients } from "./clients";
import { drawDensity, drawMarks, drawPoints, drawStages } from "./drawing";
import { laneOf, MARK_ROW, type Lane } from "./lane";
import { tipAt } from "./tips";

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
    panels: (view) =>
      lanes.map((lane) => panel(lane, view, operations, logDuration(low, high, "time taken"), middles, selection)),
    caption: () => caption(lanes, selection),
  };
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
  // A point is as large as this: none is cut off by the edge.
  return roundedLog(Math.max(1, Math.min(...lows)), 1.2 * Math.max(...highs, 1.7e8));
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

function panel(
  lane: Lane,
  view: View,
  operations: string[],
  y: Scale,
  middles: Float64Array,
  selection: Selection,
): PanelContent {
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
