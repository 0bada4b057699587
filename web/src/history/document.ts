// The data of a history (docs/report-data.md), from the page that carries it or from the server that keeps it.

import { decompressed, put, typed, type ColumnFacts } from "../page/columns";

export type Known = "exactly" | "at-least" | "at-most";

export interface SeriesKey {
  host: string;
  target: string;
  task: string;
  part: string;
}

export interface Curve {
  count: number;
  effective: number;
  at_least_count: number;
  below_count: number;
  imputed_count: number;
  amount: Float32Array;
  share: Float32Array;
  low: Float32Array;
  high: Float32Array;
  end: { share: number; from: number } | null;
}

export interface Ribbons {
  count: Uint32Array;
  p5: Uint16Array;
  p25: Uint16Array;
  median: Uint16Array;
  p75: Uint16Array;
  p95: Uint16Array;
  max: Uint16Array;
  marks: { state: number; count: Uint32Array }[];
}

export interface ChangeMark {
  last_before_ns: number;
  first_after_ns: number;
  median_before: number;
  median_before_is: Known;
  median_after: number;
  median_after_is: Known;
  ratio: number | null;
  p: number;
  event: string | null;
}

export interface DayMatrix {
  days: string[];
  median_ns: Float32Array;
  worst_ns: Float32Array;
  observations: Uint16Array;
  past_deadline: Uint16Array;
  failed: Uint16Array;
  skipped: Uint16Array;
}

export interface Series {
  key: SeriesKey;
  name: string;
  kind: "task" | "control" | "covariate" | "imported-duration" | "imported-value";
  unit: string;
  resolution_ns: number;
  deadline_ns: number;
  slots: { ok: number; error: number; timeout: number; hung: number; late: number; skipped: number; interrupted: number };
  points: { time_steps: Uint32Array; bucket: Uint16Array; state: Uint8Array };
  values: { time_steps: Uint32Array; value: Float32Array };
  ribbons: Ribbons | null;
  changes: ChangeMark[];
  by_attempt: Curve;
  by_time: Curve | null;
  days: DayMatrix | null;
}

export interface EventMark {
  id: string;
  begin_ns: number;
  end_ns: number | null;
  host: string;
  target: string;
  source: "note" | "configuration" | "list" | "journal" | "watch";
  kind: string;
  text: string;
}

export interface Outage {
  host: string;
  /** Absent if it did not answer. */
  kind?: "not-mounted";
  mount: string;
  /** Names of the targets that lie there; absent if nobody knows them. */
  targets?: string[];
  begin: number;
  end?: number | null;
  ending?: "recovered" | "remounted" | "unmounted" | "rebooted" | null;
  skipped: number;
}

/** A stretch of time in which attempts on a target were past their deadlines. */
export interface Hang {
  host: string;
  target: string;
  task: string;
  begin_ns: number;
  seen_ns: number;
  state: "ended" | "not-ended";
}

export interface Gap {
  host: string;
  /** Empty if nothing of the host, or of the target, has samples. */
  target: string;
  task: string;
  begin: number;
  end: number;
  rounds: number;
  is_watched: boolean;
  record: "watched" | "imported";
}

export interface PairCell {
  left: number;
  right: number;
  coefficient: number;
  strength: "none" | "small" | "medium" | "strong";
  pairs: number;
  pairs_effective: number;
  p_adjusted: number;
  is_significant: boolean;
  slot_ns: number;
  best_slots: number;
  lags: { slots: number; coefficient: number }[];
}

export interface BeforeAfter {
  series: number;
  change: number;
  event: string;
  event_text: string;
  border_ns: number;
  before: Curve;
  after: Curve;
  before_by_time: Curve | null;
  after_by_time: Curve | null;
}

export interface Figures {
  schema: number;
  axis: { lowest_ns: number[]; states: string[]; begin_ns: number; span_ns: number; time_unit_ns: number };
  samples: number;
  decimation: string | null;
  series: Series[];
  loads: { host: string; median: Float32Array; max: Float32Array }[];
  before_after: BeforeAfter[];
  correlations: { method: "spearman" | "pearson" | "pearson-log"; significance: number; names: string[]; pairs: PairCell[] };
  events: EventMark[];
  events_left_out: number;
  outages: Outage[];
  hangs: Hang[];
  gaps: Gap[];
}

/** A document as it travels: its columns stand beside it. */
export interface PackedDocument {
  title: string;
  zone: string;
  written_ns: number | null;
  figures: Figures;
  columns: (ColumnFacts & { element?: string; packed?: string })[];
  /** Text of the page by the ids of its elements; only from a server. */
  parts: { id: string; html: string }[];
}

export interface HistoryDocument {
  title: string;
  zone: string;
  figures: Figures;
  parts: { id: string; html: string }[];
}

/** The states of samples, as numbers in columns. */
export const STATE = { ok: 0, error: 1, timeout: 2, hung: 3, late: 4, skipped: 5, interrupted: 6, below: 7 } as const;

/** What the page itself carries; null if it carries nothing. */
export async function carriedDocument(): Promise<HistoryDocument | null> {
  const holder = document.getElementById("history-data");
  if (holder === null) return null;
  const json = new TextDecoder().decode(await decompressed(holder.textContent ?? ""));
  holder.textContent = "";
  return unpacked(JSON.parse(json) as PackedDocument);
}

/** Puts the columns where they belong. */
export async function unpacked(packed: PackedDocument): Promise<HistoryDocument> {
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

export const isDuration = (series: Series): boolean =>
  series.kind === "task" || series.kind === "control" || series.kind === "imported-duration";
