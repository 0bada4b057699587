// The data of a history (docs/report-data.md), from the page that carries it or from the server that keeps it.

import type { Document, SeriesFigure } from "../generated/history";
import { decompressed, put, typed } from "../page/columns";

export type HistoryDocument = Omit<Document, "written_ns" | "columns">;

/** The states of samples, as numbers in columns. */
export const STATE = { ok: 0, error: 1, timeout: 2, hung: 3, late: 4, skipped: 5, interrupted: 6, retried: 7, below: 8 } as const;

/** What the page itself carries; null if it carries nothing. */
export async function carriedDocument(): Promise<HistoryDocument | null> {
  const holder = document.getElementById("history-data");
  if (holder === null) return null;
  const json = new TextDecoder().decode(await decompressed(holder.textContent ?? ""));
  holder.textContent = "";
  return unpacked(JSON.parse(json) as Document);
}

/** Puts the columns where they belong. */
export async function unpacked(packed: Document): Promise<HistoryDocument> {
  const { title, zone, figures, columns, parts } = packed;
  await Promise.all(
    columns.map(async (column) => {
      put(figures, column.pointer, typed(column, await decompressed(column.packed ?? textOf(column.element))));
    }),
  );
  return { title, zone, figures, parts };
}

function textOf(id: string | undefined): string {
  const found = id === undefined ? null : document.getElementById(id);
  if (found === null) throw new Error(`this page has lost its part "${id}"`);
  const text = found.textContent ?? "";
  found.textContent = "";
  return text;
}

const momentsOfSteps = new WeakMap<Uint32Array, Float64Array>();

/** Moments in ns since the begin of the axis, from the steps between them. */
export function momentsOf(steps: Uint32Array, unitNs: number): Float64Array {
  const known = momentsOfSteps.get(steps);
  if (known !== undefined) return known;
  const moments = new Float64Array(steps.length);
  let at = 0;
  for (let index = 0; index < steps.length; index += 1) {
    at += steps[index];
    moments[index] = at * unitNs;
  }
  momentsOfSteps.set(steps, moments);
  return moments;
}

/** The first place whose moment is not before `moment`. */
export function placeOf(moments: Float64Array, moment: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (moments[middle] < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The middle duration of every histogram bucket, in ns. */
export function middlesOf(lowest: number[]): Float64Array {
  return Float64Array.from(lowest, (low, index) => Math.max(0.5, (low + (lowest[index + 1] ?? low) - 1) / 2));
}

export const isDuration = (series: SeriesFigure): boolean =>
  series.kind === "task" || series.kind === "control" || series.kind === "imported-duration";
