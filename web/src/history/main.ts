// Brings the page of a history to life: from a file everything is there; from a server it is asked for, and asked for again.

import { button, element } from "../page/dom";
import { Figure, type FigureContent } from "../figure/figure";
import { enliven } from "../page/table";
import { setPrinting } from "../figure/theme";
import { hasParts, type State } from "./arrangement";
import { correlationMatrix, lags } from "./correlations";
import { calendar, hoursByDay } from "./days";
import { carriedDocument, unpacked, type HistoryDocument } from "./document";
import type { Document } from "../generated/history";
import { besides, hostOrStorage } from "./host";
import { beforeAfter, integratedPercent } from "./integrated";
import { NowPanel, type WatchStatus } from "./live";
import { timeLine } from "./time_line";

type Make = (state: State) => FigureContent | null;

/** Id, heading, id of the element that holds it. */
const FIGURES: [string, string, string, Make][] = [
  ["time-line", "Every sample over time", "figures-over-time", timeLine],
  ["ecdf", "Every task", "figures-integrated", integratedPercent],
  ["before-after", "Before and after", "figures-integrated", beforeAfter],
  ["time-out-calendar", "Days with trouble", "figures-calendar", calendar],
  ["hours-by-day", "Hour by hour, day by day", "figures-calendar", hoursByDay],
  ["correlations", "Everything against everything", "figures-together", correlationMatrix],
  ["lags", "Does one follow the other?", "figures-together", lags],
  ["host-or-storage", "Place by place", "figures-host", hostOrStorage],
  ["besides", "Load, and what else was measured", "figures-host", besides],
];

const STATUS_EVERY_MS = 2_000;
/** A new document at most so often, and at least so often. */
const DATA_EVERY_MS = 5_000;
const DATA_AT_LEAST_MS = 60_000;

class Page {
  private state: State | null = null;
  private figures: Figure[] = [];
  private updates: (() => void)[] = [];

  /** Shows a document; one after the other: zoom and what is switched off stay. */
  show(shown: HistoryDocument): void {
    for (const { id, html } of shown.parts) replacePart(id, html);
    if (this.state === null) {
      this.state = { document: shown, depth: "whole", form: "automatic", weighting: "attempt", cell: "median" };
      this.begin(this.state);
    } else {
      this.state.document = shown;
      this.updates.forEach((update) => update());
      this.figures.forEach((figure) => figure.update());
    }
    document.title = shown.title;
    showEmptySections();
  }

  private begin(state: State): void {
    this.figures = FIGURES.map(([id, title, , make]) => new Figure(id, title, () => make(state)));
    const of = (...ids: string[]): (() => void) => () =>
      this.figures.filter(({ id }) => ids.includes(id)).forEach((figure) => figure.refresh());
    const everywhere = (): void => this.figures.forEach((figure) => figure.refresh());
    const switches: [string, HTMLElement][] = [
      ["figures-over-time", this.choice(state, "depth", "Show", [["whole", "Whole tasks"], ["parts", "Parts of tasks"]], everywhere, () => hasParts(state.document))],
      ["figures-over-time", this.choice(state, "form", "Draw", [["automatic", "What fits"], ["points", "Every sample"], ["ribbons", "Quantiles"]], of("time-line", "host-or-storage"), () => state.document.figures.decimation === null)],
      ["figures-integrated", this.choice(state, "weighting", "Count", [["attempt", "Each attempt once"], ["time", "Each scheduled moment once"]], of("ecdf", "before-after"), () => state.document.figures.series.some(({ by_time }) => by_time !== null))],
      ["figures-calendar", this.choice(state, "cell", "Colour by", [["median", "Median"], ["worst", "Longest"]], of("hours-by-day"), () => state.document.figures.series.some(({ days }) => days !== null))],
    ];
    for (const [host, bar] of switches) document.getElementById(host)?.append(bar);
    this.figures.forEach((figure, index) => document.getElementById(FIGURES[index][2])?.append(figure.root));
    everywhere();
    this.figures.find((figure) => !figure.root.hidden)?.come();
    this.watch();
  }

  /** Buttons of which one is chosen; hidden where there is nothing to choose. */
  private choice<K extends "depth" | "form" | "weighting" | "cell">(
    state: State,
    key: K,
    label: string,
    choices: [State[K], string][],
    refresh: () => void,
    isUseful: () => boolean,
  ): HTMLElement {
    const bar = element("div", { class: "switch", role: "group", "aria-label": label }, element("span", {}, label));
    const buttons = choices.map(([value, name]) => {
      const made = button(name, () => {
        state[key] = value;
        press();
        refresh();
        showEmptySections();
      }, "choice");
      return { made, value };
    });
    const press = (): void => buttons.forEach(({ made, value }) => made.setAttribute("aria-pressed", String(state[key] === value)));
    const update = (): void => {
      bar.hidden = !isUseful();
    };
    bar.append(...buttons.map(({ made }) => made));
    press();
    update();
    this.updates.push(update);
    return bar;
  }

  private watch(): void {
    const byRoot = new Map<Element, Figure>(this.figures.map((figure) => [figure.root, figure]));
    const near = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) if (entry.isIntersecting) byRoot.get(entry.target)?.come();
      },
      { rootMargin: "400px" },
    );
    this.figures.forEach((figure) => near.observe(figure.root));
    const repaint = (): void => this.figures.forEach((figure) => figure.repaint());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    let width = window.innerWidth;
    let waiting = 0;
    window.addEventListener("resize", () => {
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(repaint);
    });
    // Paper has no scrolling: everything is drawn, in light colours, and what is folded is open.
    window.addEventListener("beforeprint", () => {
      setPrinting(true);
      document.querySelectorAll("details").forEach((details) => (details.open = true));
      this.figures.forEach((figure) => figure.come());
      repaint();
    });
    window.addEventListener("afterprint", () => {
      setPrinting(false);
      repaint();
    });
  }
}

/** A section in which nothing is to be seen is not shown, nor named in the list of parts. */
function showEmptySections(): void {
  for (const section of document.querySelectorAll<HTMLElement>("main > section:not(#now)")) {
    const hosts = [...section.children].filter((child) => child.tagName === "DIV");
    section.hidden = !hosts.some((host) => [...host.children].some((child) => !(child as HTMLElement).hidden && !child.classList.contains("switch")));
    const link = document.querySelector<HTMLElement>(`nav a[href="#${section.id}"]`);
    if (link !== null) link.hidden = section.hidden;
  }
}

/** The markup comes from the program that wrote the page, which escapes everything from outside; no script in it would run. */
function replacePart(id: string, html: string): void {
  const place = document.getElementById(id);
  if (place === null) return;
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const open = [...place.querySelectorAll("details")].map((details) => details.open);
  place.replaceChildren(...[...parsed.body.childNodes].map((node) => document.importNode(node, true)));
  place.querySelectorAll("details").forEach((details, index) => (details.open = open[index] ?? false));
  for (const table of place.querySelectorAll<HTMLTableElement>("table.numbers")) enliven(table);
}

const page = new Page();

/** Shows a document as the server gives it. */
async function render(packed: Document): Promise<void> {
  page.show(await unpacked(packed));
  document.documentElement.dataset.ready = "true";
}

async function asked<T>(path: string): Promise<T> {
  const answer = await fetch(path, { cache: "no-store", credentials: "same-origin" });
  if (!answer.ok) throw new Error((await answer.text()).trim() || `${path}: ${answer.status}`);
  return (await answer.json()) as T;
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Asks the server again and again, as long as somebody looks. */
class Live {
  private readonly now: NowPanel;
  private dataAt = -Infinity;
  private newest = "";
  private asking: Promise<void> | null = null;

  constructor(host: HTMLElement) {
    this.now = new NowPanel(host);
  }

  async run(): Promise<void> {
    for (;;) {
      await this.look(false);
      await new Promise((done) => setTimeout(done, STATUS_EVERY_MS));
      while (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
    }
  }

  /** Asks for what is new; with `force` for everything. */
  async look(force: boolean): Promise<void> {
    let status: WatchStatus | null;
    try {
      status = await asked<WatchStatus | null>("status");
    } catch (error) {
      this.now.lost(reason(error));
      return;
    }
    this.now.show(status);
    const newest = status === null ? "" : JSON.stringify(status.last);
    if (force) await this.asking;
    const age = performance.now() - this.dataAt;
    if (this.asking !== null || (!force && age < DATA_AT_LEAST_MS && (newest === this.newest || age < DATA_EVERY_MS))) return;
    this.dataAt = performance.now();
    // A history that takes its time does not hold up what is in flight.
    this.asking = this.lookAtHistory(newest).finally(() => (this.asking = null));
    if (force) await this.asking;
  }

  private async lookAtHistory(newest: string): Promise<void> {
    try {
      await render(await asked<Document>("data"));
      this.newest = newest;
      this.now.old(null);
    } catch (error) {
      this.now.old(reason(error));
    }
  }
}

async function main(): Promise<void> {
  document.documentElement.classList.add("alive");
  for (const table of document.querySelectorAll<HTMLTableElement>("table.numbers")) enliven(table);
  const hooks: { render: typeof render; refresh?: () => Promise<void> } = { render };
  Object.assign(globalThis, { iolagHistory: hooks });
  if (document.getElementById("history-live") !== null) {
    const host = document.getElementById("now-host");
    const section = document.getElementById("now");
    if (host === null || section === null) return;
    section.hidden = false;
    showEmptySections();
    const live = new Live(host);
    hooks.refresh = () => live.look(true);
    await live.run();
    return;
  }
  try {
    const carried = await carriedDocument();
    if (carried === null) throw new Error("this page carries no data");
    page.show(carried);
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    document
      .getElementById("figures-over-time")
      ?.append(element("p", { class: "nothing" }, `The figures cannot be drawn: ${why}. The text and the tables are complete.`));
    document.documentElement.dataset.ready = "failed";
  }
}

void main();
