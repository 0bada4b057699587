// The data of the report (docs/report-data.md): reads the JSON and puts the columns, which stand beside it as
// compressed bytes, where they belong.

import { decompressed, put, typed, type ColumnFacts } from "../page/columns";

export type Quantile =
  | { exactly_ns: number }
  | { at_least_ns: number }
  | { below_ns: number }
  | { too_few: { needed: number; have: number } }
  | { few_stretches: { stretches: number } };
export type Level = "task" | "object" | "call" | "stream" | "harness";

export interface Series {
  name: string;
  operation: string;
  level: Level;
  target: number;
  part: null | { stage: number } | { phase: string };
  layer: number;
  attempts: number;
  ok: number;
  late: number;
  min_ns: number | null;
  max_ns: number | null;
  longest_wait_ns: number | null;
}

export interface Stage {
  stage: number;
  name: string;
  phase: string;
  begin: number | null;
  end: number | null;
}

export interface RunFacts {
  id: string;
  title: string;
  labels: Record<string, string>;
  host: string;
  begin_realtime_ns: number | null;
  span_ns: number;
  clients: number;
  targets: { name: string; kind: string; unanswered_ns: number | null }[];
  stages: Stage[];
}

export interface Box {
  attempts: number;
  min: Quantile;
  p5: Quantile;
  p25: Quantile;
  median: Quantile;
  p75: Quantile;
  p95: Quantile;
  max: Quantile;
  outliers: number;
}

export interface GridLayer {
  layer: number;
  first_bucket: number;
  rows: number;
  counts: Uint32Array;
}

export interface Grid<L extends GridLayer = GridLayer> {
  columns: number;
  buckets_per_row: number;
  layers: L[];
}

export interface MarkColumns {
  time: Uint32Array;
  series: Uint16Array;
  outcome: Uint8Array;
  reason: Uint8Array;
  bucket: Uint16Array;
  client: Uint32Array;
}

export interface MarkCounts {
  series: number;
  outcome: number;
  reason: number;
  counts: Uint32Array;
  longest: Uint16Array;
}

export interface Distribution {
  series: number;
  known: number;
  censored: number;
  duration_ns: Float32Array;
  share: Float32Array;
  at_least: { share: number; from_ns: number } | null;
  sample_size: { attempts: number; effective: number };
  band: number;
}

export interface Fairness {
  target: number;
  clients: number;
  bins: number;
  bin_ns: number;
  shown: "each" | "deciles";
  lines: { client: number; percent: number | null; done: Uint32Array; per_second: number | null }[];
  jain: number | null;
  jain_over_time: Float32Array;
}

/** A stretch of time in which an attempt on a target was past its deadline; without an end if it never ended. */
export interface Hang {
  target: number;
  begin_ns: number;
  end_ns: number | null;
  series: number;
}

export interface RunFigures {
  run: RunFacts;
  counts: { taken: number; attempts: number; clamped: number; unknown: number };
  series: Series[];
  layers: { name: string; operation: string; target: number }[];
  time_line: {
    form: "points" | "density";
    attempts: number;
    decimation: string | null;
    points: { time: Uint32Array; bucket: Uint16Array; series: Uint16Array; outcome: Uint8Array; client: Uint32Array };
    density: Grid | null;
    marks: { total: number; each: MarkColumns; counts: MarkCounts[] };
  };
  distributions: Distribution[];
  histograms: {
    series: number;
    first_bin: number;
    counts: Uint32Array;
    density_per_decade: Float32Array;
    bandwidth_decades: number;
  }[];
  boxes: { series: number; durations: Box }[];
  client_boxes: {
    layer: number;
    shown: "each" | "deciles";
    clients: number;
    boxes: { client: number; percent: number | null; durations: Box }[];
  }[];
  heat_map: Grid<GridLayer & { totals: Uint32Array }>;
  rates: { bins: number; bin_ns: number; operations: Uint32Array; bytes: Float32Array; in_flight: Float32Array };
  fairness: Fairness[];
  hangs: Hang[];
}

export interface Estimate {
  value: Quantile;
  interval: { between: { low: Quantile; high: Quantile } } | { too_few: unknown } | { few_stretches: unknown };
}

export interface Sweep {
  varied: "clients" | "objects";
  target: string;
  fixed: number;
  phase: string;
  operation: string;
  points: { size: number; per_second: number; median: Estimate; p95: Estimate; p99: Estimate }[];
  rates: { size: number; count: number; median_per_second: number; low_per_second: number; high_per_second: number }[];
}

export interface Figures {
  schema: number;
  axis: { lowest_ns: number[]; outcomes: string[]; reasons: string[] };
  runs: RunFigures[];
  sweeps: Sweep[];
}

interface ListedColumn extends ColumnFacts {
  element: string;
}

interface Document {
  figures: Figures;
  /** What tells each run from the others. */
  run_names: string[];
  columns: ListedColumn[];
}

export interface Report {
  figures: Figures;
  runNames: string[];
}

/** Reads everything that the page carries. */
export async function readReport(): Promise<Report> {
  const { figures, run_names, columns } = JSON.parse(textOf("report-data")) as Document;
  await Promise.all(
    columns.map(async (column) => {
      put(figures, column.pointer, typed(column, await decompressed(textOf(column.element))));
    }),
  );
  return { figures, runNames: run_names };
}

function textOf(id: string): string {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`this page has lost its part "${id}"`);
  const text = found.textContent ?? "";
  // The text of a column is not needed twice.
  if (id !== "report-data") found.textContent = "";
  return text;
}

/** The value of a quantile, or what it is at least, in ns. */
export function bound(quantile: Quantile): number | null {
  if ("exactly_ns" in quantile) return quantile.exactly_ns;
  return "at_least_ns" in quantile ? quantile.at_least_ns : null;
}

export const isAtLeast = (quantile: Quantile): boolean => "at_least_ns" in quantile;
export const TIME_UNITS = 2 ** 32;
