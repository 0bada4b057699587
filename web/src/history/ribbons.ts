// Samples joined to stretches of time: quantiles, with the longest kept.

import { momentsOf, placeOf, STATE } from "./document";
import type { HistoryFigures, Ribbons, SeriesFigure } from "../generated/history";

/** Quantiles, as histogram buckets, of equal stretches of time between two moments (ns since the begin of the axis). */
export interface Stretches {
  from: number;
  to: number;
  count: ArrayLike<number>;
  /** p5, p25, median, p75, p95, max. */
  quantiles: ArrayLike<number>[];
}

const SHARES = [0.05, 0.25, 0.5, 0.75, 0.95, 1];

/** Whether a state has a duration, or a bound of one that tells of the place. */
export const hasDuration = (state: number): boolean =>
  state !== STATE.error && state !== STATE.skipped && state !== STATE.interrupted && state !== STATE.retried;

/** Those of the points between two moments, in `columns` stretches. */
export function stretchesOf(series: SeriesFigure, unitNs: number, from: number, to: number, columns: number): Stretches {
  const moments = momentsOf(series.points.time_steps, unitNs);
  const { bucket, state } = series.points;
  const held: number[][] = Array.from({ length: columns }, () => []);
  for (let index = placeOf(moments, from); index < moments.length && moments[index] <= to; index += 1) {
    if (!hasDuration(state[index])) continue;
    const column = Math.min(columns - 1, Math.floor(((moments[index] - from) / Math.max(to - from, 1)) * columns));
    held[column].push(bucket[index]);
  }
  const count = new Uint32Array(columns);
  const quantiles = SHARES.map(() => new Uint16Array(columns));
  held.forEach((buckets, column) => {
    buckets.sort((left, right) => left - right);
    count[column] = buckets.length;
    if (buckets.length === 0) return;
    SHARES.forEach((share, which) => {
      quantiles[which][column] = buckets[Math.max(1, Math.ceil(buckets.length * share)) - 1];
    });
  });
  return { from, to, count, quantiles };
}

/** Those that the document brought ready-made, over its whole span. */
export function readyStretches(ribbons: Ribbons, figures: HistoryFigures): Stretches {
  const { p5, p25, median, p75, p95, max } = ribbons;
  return { from: 0, to: figures.axis.span_ns, count: ribbons.count, quantiles: [p5, p25, median, p75, p95, max] };
}
