// Which series share a panel and which a colour: tasks have panels, places (a target seen from a host) have colours.

import type { LegendEntry } from "../figure/figure";
import { isDuration, type HistoryDocument } from "./document";
import type { SeriesFigure } from "../generated/history";

/** What the buttons of the page have chosen. */
export interface State {
  document: HistoryDocument;
  /** Whole tasks, or their parts. */
  depth: "whole" | "parts";
  form: "automatic" | "points" | "ribbons";
  weighting: "attempt" | "time";
  cell: "median" | "worst";
}

export interface Panel {
  title: string;
  series: SeriesFigure[];
}

export const severalHosts = (document: HistoryDocument): boolean =>
  new Set(document.figures.series.map(({ key }) => key.host)).size > 1;

export function placeName(document: HistoryDocument, { key, kind }: SeriesFigure): string {
  const target = key.target === "" ? "the host" : key.target;
  const name = kind === "control" ? `${target} (control)` : target;
  return severalHosts(document) ? `${name} from ${key.host}` : name;
}

export const taskName = ({ key }: SeriesFigure): string => (key.part === "" ? key.task : `${key.task}: ${key.part}`);

/** Durations of whole tasks, or of parts. */
export function shownSeries({ document, depth }: State): SeriesFigure[] {
  const durations = document.figures.series.filter(isDuration);
  return durations.filter(({ key }) => (key.part === "") === (depth === "whole"));
}

export const hasParts = (document: HistoryDocument): boolean =>
  document.figures.series.some((series) => isDuration(series) && series.key.part !== "");

/** All places of durations, the same order and thus the same colours in every figure; controls last. */
export function places(document: HistoryDocument): string[] {
  const durations = document.figures.series.filter(isDuration);
  const ordered = [...durations].sort((left, right) => Number(left.kind === "control") - Number(right.kind === "control"));
  return [...new Set(ordered.map((series) => placeName(document, series)))];
}

export function panelsByTask(state: State): Panel[] {
  const series = shownSeries(state);
  const tasks = [...new Set(series.map(taskName))];
  return tasks.map((title) => ({ title, series: series.filter((one) => taskName(one) === title) }));
}

export function legendOfPlaces(state: State, mark: LegendEntry["mark"]): LegendEntry[] {
  const present = new Set(shownSeries(state).map((series) => placeName(state.document, series)));
  return places(state.document).flatMap((name, style) => (present.has(name) ? [{ key: name, name, style, mark }] : []));
}
