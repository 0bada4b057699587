// Brings the page to life: the text was written by the program, the figures are drawn here.

import { readReport, type Report } from "./data";
import type { Level } from "../generated/run";
import { button, element } from "../page/dom";
import { boxesByClient, boxesByPlace } from "./boxes";
import { histograms, integratedPercent } from "./distributions";
import { Figure, type FigureContent } from "../figure/figure";
import { fairness, heatMaps, ratesOverTime } from "./over_time";
import { LEVELS, commonLevel, levelsOf, parseClients, phasesOf, type Selection } from "./selection";
import { sweeps } from "./sweep";
import { enliven, enlivenCommand } from "../page/table";
import { setPrinting } from "../figure/theme";
import { timeLine } from "./time_line/figure";

type Make = (selection: Selection) => FigureContent | null;

/** The names of the kinds are those of `iolag plot`. */
const FIGURES: [string, string, Make][] = [
  ["time-line", "Every attempt over time", timeLine],
  ["ecdf", "Integrated percent", integratedPercent],
  ["histogram", "Where durations lie", histograms],
  ["box", "Side by side", boxesByPlace],
  ["client-box", "Client by client", boxesByClient],
  ["heat-map", "Durations over time", heatMaps],
  ["rates", "Rates over time", ratesOverTime],
  ["fairness", "Fairness between clients", fairness],
  ["sweep", "What more of it does", sweeps],
];

function start(report: Report, host: HTMLElement): void {
  const levels = levelsOf(report);
  if (levels.length === 0) {
    host.append(element("p", { class: "nothing" }, "No operation was attempted, so there are no figures."));
    return;
  }
  const level = levels.find((one) => one === report.proof?.at?.level) ?? commonLevel(report, levels) ?? levels[0];
  const selection: Selection = { report, level, phase: phasesOf(report, level)[0] ?? null, clients: null };
  const figures = FIGURES.map(([id, title, make]) => new Figure(id, title, () => make(selection)));
  const refresh = (): void => figures.forEach((figure) => figure.refresh());
  host.append(chooser(selection, levels, refresh), ...figures.map((figure) => figure.root));
  refresh();
  const proof = figures.find(({ id }) => id === report.proof?.figure);
  const first = [proof, ...figures].find((figure) => figure !== undefined && !figure.root.hidden);
  if (first !== undefined) document.getElementById("answer")?.append(first.root);
  // What is seen first at once, the others when they come near.
  first?.come();
  watchFor(figures);
}

function watchFor(figures: Figure[]): void {
  const byRoot = new Map<Element, Figure>(figures.map((figure) => [figure.root, figure]));
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) byRoot.get(entry.target)?.come();
    },
    { rootMargin: "400px" },
  );
  figures.forEach((figure) => near.observe(figure.root));
  const repaint = (): void => figures.forEach((figure) => figure.repaint());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  let width = window.innerWidth;
  let waiting = 0;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(repaint);
  });
  // Paper has no scrolling: everything is drawn, in light colours.
  window.addEventListener("beforeprint", () => {
    setPrinting(true);
    figures.forEach((figure) => figure.come());
    repaint();
  });
  window.addEventListener("afterprint", () => {
    setPrinting(false);
    repaint();
  });
}

/** What the figures show: levels of operations are never mixed; phases where there is no time axis. */
function chooser(selection: Selection, levels: Level[], refresh: () => void): HTMLElement {
  const bar = element("div", { class: "chooser" });
  const clientField = clientChooser(selection, refresh);
  const show = (): void => {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    const phases = phasesOf(selection.report, selection.level);
    const named = levels.map((level): [string, string] => [level, LEVELS.find(([key]) => key === level)?.[1] ?? level]);
    bar.replaceChildren(
      ...group("Figures show", named, selection.level, (level) => {
        selection.level = level as Level;
        selection.phase = phasesOf(selection.report, selection.level)[0] ?? null;
      }),
      ...group("Distributions of", phases.map((phase) => [phase, phase]), selection.phase ?? "", (phase) => {
        selection.phase = phase;
      }),
    );
    bar.append(...clientField);
    bar.hidden = bar.childElementCount === 0;
    [...bar.querySelectorAll("button")].find((candidate) => candidate.dataset.key === focused)?.focus();
  };
  const group = (label: string, choices: [string, string][], chosen: string, choose: (key: string) => void): HTMLElement[] => {
    if (choices.length < 2) return [];
    const buttons = choices.map(([key, name]) => {
      const made = button(name, () => {
        choose(key);
        show();
        refresh();
      }, "choice");
      made.dataset.key = key;
      made.setAttribute("aria-pressed", String(key === chosen));
      return made;
    });
    return [element("div", { role: "group", "aria-label": label }, element("span", {}, label), ...buttons)];
  };
  show();
  return bar;
}

/** Where the figures that know clients show only some of them, the time line each in a panel of its own. */
function clientChooser(selection: Selection, refresh: () => void): HTMLElement[] {
  const count = Math.max(...selection.report.figures.runs.map(({ run }) => run.clients));
  if (count < 2) return [];
  const input = element("input", { type: "text", id: "clients", size: "8", placeholder: "all", autocomplete: "off", "aria-describedby": "clients-wrong" });
  const wrong = element("span", { id: "clients-wrong", role: "status", class: "wrong" });
  input.addEventListener("change", () => {
    const clients = parseClients(input.value, count);
    input.setAttribute("aria-invalid", String(typeof clients === "string"));
    wrong.textContent = typeof clients === "string" ? clients : "";
    if (typeof clients === "string") return;
    selection.clients = clients;
    refresh();
  });
  const label = element("label", { for: "clients" }, `Clients (0-${count - 1})`);
  return [element("div", { role: "group", "aria-label": "Clients" }, label, input, wrong)];
}

async function main(): Promise<void> {
  document.documentElement.classList.add("alive");
  for (const table of document.querySelectorAll<HTMLTableElement>("table.numbers")) enliven(table);
  for (const box of document.querySelectorAll<HTMLElement>(".command")) enlivenCommand(box);
  const host = document.getElementById("figures-host");
  if (host === null) return;
  try {
    start(await readReport(), host);
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    host.append(element("p", { class: "nothing" }, `The figures cannot be drawn: ${why}. The table below is complete.`));
    document.documentElement.dataset.ready = "failed";
  }
}

void main();
