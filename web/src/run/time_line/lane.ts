// One panel's data, reduced to its target and level, and the rows of its marks.

import type { Plot } from "../../figure/panel";
import { hangsOf } from "../hangs";
import type { Selection, TimePlace } from "../selection";

/** Height of a row of marks, in CSS pixels. */
export const MARK_ROW = 13;
/** The outcome of attempts that did not end. */
export const HUNG = 3;
/** Kinds of marks from top to bottom, as numbers of outcomes. */
const MARK_KINDS: [number, string][] = [
  [HUNG, "hung"],
  [2, "timeout"],
  [1, "error"],
  [4, "late"],
  [5, "skipped"],
];

export interface Lane {
  place: TimePlace;
  /** Style of each series of the run; -1 for what is not shown. */
  styleOf: Int16Array;
  styleOfLayer: Int16Array;
  kinds: [number, string][];
  points: number;
  marks: number;
}

export function laneOf(place: TimePlace, { level, clients }: Selection, operations: string[]): Lane {
  const { series, layers, time_line } = place.figures;
  const belongs = (one: (typeof series)[number]): boolean => one.level === level && one.target === place.target;
  const styleOf = Int16Array.from(series, (one) => (belongs(one) ? operations.indexOf(one.operation) : -1));
  const shownLayers = new Set(series.filter(belongs).map((one) => one.layer));
  const styleOfLayer = Int16Array.from(layers, (layer, index) =>
    shownLayers.has(index) ? operations.indexOf(layer.operation) : -1,
  );
  const present = new Set<number>(hangsOf(place).length > 0 ? [HUNG] : []);
  const { each, counts } = time_line.marks;
  each.series.forEach((one, index) => {
    if (styleOf[one] >= 0) present.add(each.outcome[index]);
  });
  for (const one of counts) if (styleOf[one.series] >= 0) present.add(one.outcome);
  const count = (column: Uint16Array): number => column.reduce((sum, one) => sum + (styleOf[one] >= 0 ? 1 : 0), 0);
  const own = series.filter(belongs);
  const isWhole = clients === null;
  const points = isWhole ? own.reduce((sum, one) => sum + one.ok + one.late, 0) : count(time_line.points.series);
  const marks = isWhole ? own.reduce((sum, one) => sum + one.attempts - one.ok, 0) : count(each.series);
  return { place, styleOf, styleOfLayer, kinds: MARK_KINDS.filter(([kind]) => present.has(kind)), points, marks };
}

/** The middle of a row of marks. */
export const rowY = (plot: Plot, lane: Lane, row: number): number => plot.top - (lane.kinds.length - row - 0.5) * MARK_ROW;
