// What is shown of the report: one level of operations at a time, one phase for what has no time axis, and how
// series get their names and styles.

import type { Report } from "./data";
import type { Level, RunFigures, Series, StageFacts } from "../generated/run";
import type { LegendEntry } from "../figure/figure";

export const LEVELS: [Level, string][] = [
  ["task", "Tasks at the prompt"],
  ["object", "Whole operations"],
  ["call", "Single calls"],
  ["stream", "Stream, per block"],
  ["harness", "iolag itself"],
];

export interface Selection {
  report: Report;
  level: Level;
  /** Absent where no phases are told apart. */
  phase: string | null;
  /** Only these; absent for all. */
  clients: number[] | null;
}

/** Clients as `0-3` or `0,2-3`; null for all, or a sentence that says what is wrong. */
export function parseClients(text: string, count: number): number[] | null | string {
  if (text.trim() === "") return null;
  const clients = new Set<number>();
  for (const piece of text.split(",")) {
    const [, first, last = first] = /^\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*$/.exec(piece) ?? [];
    if (first === undefined || Number(last) < Number(first)) return `“${piece.trim()}” is no range of clients: expected 0-3 or 0,2-3.`;
    if (Number(last) >= count) return `There is no client ${Number(last)}: the clients are 0 to ${count - 1}.`;
    for (let client = Number(first); client <= Number(last); client += 1) clients.add(client);
  }
  return [...clients].sort((left, right) => left - right);
}

/** A series of a run with the names that matter in this report. */
export interface Shown {
  run: number;
  index: number;
  series: Series;
  operation: string;
  /** Run, target and stage, as far as they differ. */
  place: string;
  /** What its colour stands for: the place, but of several runs not the stage, since repetitions belong together. */
  group: string;
}

const EVERYTHING = "everything";

/** Who measured beside the load, in all its stages. */
const BYSTANDER = "bystander";

/** What makes or removes what is measured, and what was measured beside it. */
const BESIDE: ReadonlySet<string | null> = new Set(["precreate", "cleanup", "tree-create", "tree-remove", BYSTANDER]);

/** Those of what was measured first: on them is what people want to see. */
export function levelsOf(report: Report): Level[] {
  const all = report.figures.runs.flatMap((run) => run.series.map((series) => ({ level: series.level, phase: phaseOf(run, series) })));
  const present = new Set(all.map(({ level }) => level));
  const measured = new Set(all.filter(({ level, phase }) => level !== "harness" && !BESIDE.has(phase)).map(({ level }) => level));
  const levels = LEVELS.map(([level]) => level).filter((level) => present.has(level));
  return [...levels].sort((left, right) => Number(measured.has(right)) - Number(measured.has(left)));
}

/** The first of these on which every place was measured that was measured at all: only there all are beside each other. */
export function commonLevel(report: Report, levels: Level[]): Level | undefined {
  const places = (level: Level | null): number =>
    report.figures.runs.reduce((sum, run) => {
      const measured = run.series.filter((series) => series.level !== "harness" && !BESIDE.has(phaseOf(run, series)));
      return sum + new Set(measured.filter((series) => level === null || series.level === level).map(({ target }) => target)).size;
    }, 0);
  return levels.find((level) => places(level) > 0 && places(level) === places(null));
}

export function phaseOf(run: RunFigures, series: Series): string | null {
  if (series.part === null) return null;
  if ("phase" in series.part) return series.part.phase;
  if ("beside" in series.part) return BYSTANDER;
  return stageOf(run, series)?.phase ?? null;
}

/** The stage that a series is of; none of those that tell clients apart, which are in no page. */
const stageOf = ({ run }: RunFigures, { part }: Series): StageFacts | undefined =>
  part !== null && "stage" in part ? run.stages.find(({ stage }) => stage === part.stage) : undefined;

/** Phases of a level, the benchmark first, and what makes or removes what is measured last. */
export function phasesOf(report: Report, level: Level): string[] {
  const found = new Set<string>();
  for (const run of report.figures.runs) {
    for (const series of run.series) {
      const phase = phaseOf(run, series);
      if (series.level === level && phase !== null) found.add(phase);
    }
  }
  const rank = (phase: string): number => (phase === "benchmark" ? 0 : BESIDE.has(phase) ? 2 : 1);
  return [...found].sort((left, right) => rank(left) - rank(right));
}

/** Series of the level and phase, in the order of the runs. */
export function shownSeries({ report, level, phase }: Selection): Shown[] {
  const chosen = report.figures.runs.flatMap((run, runIndex) =>
    run.series.map((series, index) => ({ run: runIndex, index, series })).filter(({ series }) => {
      const own = phaseOf(run, series);
      return series.level === level && (phase === null || own === null || own === phase);
    }),
  );
  const differs = (key: (item: (typeof chosen)[number]) => string): boolean => new Set(chosen.map(key)).size > 1;
  const partOf = ({ run, series }: (typeof chosen)[number]): string => partName(report.figures.runs[run], series);
  const targetOf = ({ run, series }: (typeof chosen)[number]): string =>
    report.figures.runs[run].run.targets[series.target]?.name ?? EVERYTHING;
  const hasRuns = differs(({ run }) => String(run));
  const hasTargets = differs(targetOf);
  const hasParts = differs(partOf);
  return chosen.map((item) => {
    const where = [hasRuns ? report.runNames[item.run] : "", hasTargets ? targetOf(item) : ""];
    const joined = (names: string[]): string => names.filter((name) => name !== "").join(" · ");
    const place = joined([...where, hasParts ? partOf(item) : ""]);
    return { ...item, operation: item.series.operation, place, group: hasRuns ? joined(where) : place };
  });
}

function partName(run: RunFigures, series: Series): string {
  if (series.part === null) return "";
  if ("phase" in series.part) return series.part.phase;
  if ("beside" in series.part) return `${BYSTANDER}, ${series.part.beside}`;
  return stageOf(run, series)?.name ?? "";
}

/** How series are told apart within a figure: by place if there are several, else by operation. */
export interface Arrangement {
  panels: { title: string; items: Shown[] }[];
  /** What is switched off together and has one style. */
  keyOf(item: Shown): string;
  /** What a tooltip calls it. */
  nameOf(item: Shown): string;
  style(key: string): number;
  legend(mark: LegendEntry["mark"]): LegendEntry[];
}

export function arrange(items: Shown[], selection: Selection): Arrangement {
  const operations = [...new Set(items.map((item) => item.operation))];
  // An operation has one colour in all figures, whatever phase they are of.
  const all = operationsOf(selection);
  const groups = [...new Set(items.map((item) => item.group))];
  const byPlace = groups.length > 1;
  const keys = byPlace ? groups : operations;
  const style = (key: string): number => (byPlace ? groups : all).indexOf(key);
  const panels = byPlace
    ? operations.map((operation) => ({ title: operation, items: items.filter((item) => item.operation === operation) }))
    : [{ title: "", items }];
  return {
    panels,
    keyOf: (item) => (byPlace ? item.group : item.operation),
    nameOf: (item) => (byPlace ? item.place : item.operation),
    style,
    legend: (mark) => keys.map((key) => ({ key, name: key, style: style(key), mark })),
  };
}

/** Operations of a level with a style each, the same in all figures. `iolag plot` has the same order (operations_in_order). */
export function operationsOf({ report, level }: Selection): string[] {
  const all = report.figures.runs.flatMap((run) => run.series.filter((series) => series.level === level));
  return [...new Set(all.map((series) => series.operation))];
}

export interface TimePlace {
  run: number;
  figures: RunFigures;
  target: number;
  title: string;
}

/** Runs and targets that did something on this level, or hung in whatever they did, the worst first: each has a time axis of its own. */
export function timePlaces({ report, level }: Selection): TimePlace[] {
  const { runs } = report.figures;
  const severalTargets = runs.some((run) => run.run.targets.length > 1);
  const worst = report.proof?.at;
  const isWorst = (place: TimePlace): boolean => place.run === worst?.run && place.target === worst.target;
  const places = runs.flatMap((figures, run) => {
    const targets = [...new Set([...figures.series.filter((series) => series.level === level), ...figures.hangs].map(({ target }) => target))];
    return targets.sort((left, right) => left - right).map((target) => {
      const facts = figures.run.targets[target];
      const name = facts === undefined ? "" : `${facts.name} (${facts.kind})`;
      const names = [runs.length > 1 ? report.runNames[run] : "", severalTargets || runs.length === 1 ? name : ""];
      return { run, figures, target, title: names.filter((part) => part !== "").join(" · ") };
    });
  });
  return places.sort((left, right) => Number(isWorst(right)) - Number(isWorst(left)));
}
