// What a watch does right now: probes in flight with their age counting up, last ends, what the history waits for.

import { element } from "../page/dom";
import { duration, plural } from "../page/format";
import { momentText } from "./calendar_scale";
import type { Outage, SeriesKey } from "../generated/history";

/** `iolag_model::WatchStatus`, as far as it is shown. */
export interface WatchStatus {
  iolag_version: string;
  process: number;
  host: string;
  begin: number;
  written: number;
  written_ns: number;
  next_round_ns: number;
  rounds: number;
  in_flight: {
    series: SeriesKey;
    part: string;
    process: number;
    start_ns: number;
    start: number;
    phase: "in-flight" | "slow" | "ending" | "hung";
    waits_in: string;
    progress?: { done: number; of: number };
  }[];
  /** The user's targets; `since` when one does not answer, or is not mounted. */
  targets: { name: string; state: "unknown" | "answers" | "slow" | "no-answer" | "not-mounted"; since?: number }[];
  last: { series: SeriesKey; start: number; duration_ns: number; value: number | null; outcome: string }[];
  outages: Outage[];
  waiting_records: number;
  history_trouble: string | null;
  /** How the history answers the server, which reads it too. */
  history_reading?: { age_ns: number | null; trouble: string | null };
}

const PHASES = { "in-flight": "in time", slow: "slow", ending: "being ended", hung: "hung" };
/** Whatever a probe does: people have turned to something else. */
const LONG_NS = 10e9;
/** A status older than this is of a watch that has died, or whose server cannot be asked. */
const STALE_MS = 120_000;

/** The panel; ages grow between two answers of the server. */
export class NowPanel {
  /** The first sentence of the page: what is wrong with which place, and for how long. */
  private readonly unanswered = document.getElementById("unanswered") ?? element("p", {});
  private readonly state = element("p", { class: "state", role: "status" });
  private readonly remark = element("p", { class: "state", role: "status" });
  private readonly flights = element("div", { class: "table-box" });
  private readonly last = element("details", {});
  private ages: { cell: HTMLElement; ageNs: number }[] = [];
  private status: WatchStatus | null = null;
  /** When the status was answered, by the clock of this page, and how old it was by that of the server. */
  private answeredMs = 0;
  private oldNs = 0;

  constructor(host: HTMLElement) {
    host.replaceChildren(this.state, this.remark, this.flights, this.last);
    setInterval(() => this.tick(), 500);
  }

  /** `null`: no watch is running. */
  show(status: WatchStatus | null): void {
    this.status = status;
    this.answeredMs = performance.now();
    // Clocks of page and server may differ: what the server knows of ages counts.
    this.oldNs = status === null ? 0 : Math.max(0, Math.min(STALE_MS, Date.now() - status.written / 1e6)) * 1e6;
    this.ages = [];
    if (status === null) {
      this.sayUnanswered("");
      this.state.textContent = "No watch is running: what follows is what the history holds.";
      this.flights.replaceChildren();
      this.last.replaceChildren();
      return;
    }
    this.flights.replaceChildren(this.flightTable(status));
    const isOpen = this.last.open;
    this.last.replaceChildren(element("summary", {}, `Last end of each of ${status.last.length} series`), lastTable(status));
    this.last.open = isOpen;
    this.last.hidden = status.last.length === 0;
    this.tick();
  }

  /** What follows could not be made anew, and why; or it was. */
  old(why: string | null): void {
    this.remark.textContent = why === null ? "" : `What follows is old or missing: ${why}.`;
    this.remark.hidden = why === null;
  }

  /** The server does not answer. */
  lost(why: string): void {
    this.state.textContent = `The server does not answer (${why}); ages count on from its last answer.`;
  }

  private tick(): void {
    const { status } = this;
    if (status === null) return;
    const sinceNs = (performance.now() - this.answeredMs) * 1e6;
    for (const { cell, ageNs } of this.ages) cell.textContent = duration(ageNs + sinceNs);
    this.sayUnanswered(unansweredText(status, sinceNs + this.oldNs));
    this.state.textContent = stateText(status);
    this.state.classList.toggle("serious", status.history_trouble !== null || status.in_flight.some(({ phase }) => phase === "hung"));
  }

  private sayUnanswered(text: string): void {
    this.unanswered.textContent = text;
    this.unanswered.hidden = text === "";
  }

  private flightTable(status: WatchStatus): HTMLElement {
    if (status.in_flight.length === 0) return element("p", { class: "nothing" }, "Nothing is in flight.");
    const rows = status.in_flight.map((probe) => {
      const age = element("td", { class: "age" });
      this.ages.push({ cell: age, ageNs: status.written_ns - probe.start_ns + this.oldNs });
      const part = probe.part === "" ? "" : `: ${probe.part}`;
      const progress = probe.progress ? `, ${probe.progress.done} of ${probe.progress.of}` : "";
      const name = `${probe.series.task}${part}${progress}`;
      return element(
        "tr",
        { class: probe.phase },
        age,
        element("th", { scope: "row" }, name),
        element("td", {}, probe.series.target || "the host"),
        element("td", {}, PHASES[probe.phase] ?? probe.phase),
        element("td", {}, momentText(probe.start)),
        element("td", {}, probe.waits_in || "–"),
        element("td", {}, String(probe.process)),
      );
    });
    return table("In flight", ["Age", "Task", "Target", "State", "Since", "Waits in", "Process"], rows, "moments flights");
  }
}

/**
 * What is wrong with which place, the gravest first; then the places that are waited for, the longest first, each with the task that has been
 * waited for longest: that proves nothing of the place. Empty if nothing is wrong.
 */
function unansweredText(status: WatchStatus, sinceWrittenNs: number): string {
  const told = new Map<string, string>();
  for (const state of ["not-mounted", "no-answer"] as const) {
    const words = state === "not-mounted" ? "is not mounted" : "has not answered";
    const silent = status.targets.filter((target) => target.state === state && target.since !== undefined);
    for (const { name, since } of silent.sort((one, other) => one.since! - other.since!)) {
      told.set(name, `${name} ${words} for ${duration(Math.max(0, status.written - since!) + sinceWrittenNs)}`);
    }
  }
  for (const { series, start_ns, phase } of [...status.in_flight].sort((one, other) => one.start_ns - other.start_ns)) {
    const ageNs = status.written_ns - start_ns + sinceWrittenNs;
    const place = series.target || "the host";
    if ((phase === "in-flight" && ageNs < LONG_NS) || told.has(place)) continue;
    told.set(place, `${place}: ${series.task} has not come back for ${duration(ageNs)}`);
  }
  return told.size === 0 ? "" : `${[...told.values()].join("; ")}.`;
}

function stateText(status: WatchStatus): string {
  const hung = status.in_flight.filter(({ phase }) => phase === "hung").length;
  const parts = hung === 0 ? [] : [hung === 1 ? "A probe hangs." : `${hung} probes hang.`];
  parts.push(`A watch runs on ${status.host} since ${momentText(status.begin)}, ${plural(status.rounds, "round")} so far.`);
  const ageMs = Date.now() - status.written / 1e6;
  if (ageMs > STALE_MS) parts.push(`It has said nothing for ${duration(ageMs * 1e6)}.`);
  for (const { kind, mount, begin } of status.outages) {
    parts.push(`${mount} ${kind === "not-mounted" ? "is not mounted" : "has not answered"} since ${momentText(begin)}.`);
  }
  if (status.history_trouble !== null) parts.push(`The history cannot be written: ${status.history_trouble}.`);
  const reading = status.history_reading?.trouble ?? null;
  if (reading !== null) parts.push(`${reading}.`);
  const waiting = status.waiting_records;
  if (waiting > 0) parts.push(waiting === 1 ? "1 record waits for the history." : `${waiting} records wait for the history.`);
  return parts.join(" ");
}

function lastTable(status: WatchStatus): HTMLElement {
  const rows = status.last.map(({ series, start, duration_ns, value, outcome }) =>
    element(
      "tr",
      { class: outcome === "ok" || outcome === "interrupted" ? "" : "trouble" },
      element("th", { scope: "row" }, series.part === "" ? series.task : `${series.task}: ${series.part}`),
      element("td", {}, series.target || "the host"),
      element("td", {}, value === null || value === undefined ? duration(duration_ns) : String(value)),
      element("td", {}, outcome),
      element("td", {}, momentText(start)),
    ),
  );
  return element("div", { class: "table-box" }, table("", ["Task", "Target", "Took", "Ended", "Started"], rows, "moments"));
}

function table(caption: string, names: string[], rows: HTMLElement[], className: string): HTMLElement {
  const head = element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));
  const made = element("table", { class: className }, head, element("tbody", {}, ...rows));
  if (caption !== "") made.prepend(element("caption", {}, caption));
  return made;
}
