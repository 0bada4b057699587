// What stands behind and above time lines: times of which nothing is known, outages, events.

import { clamp, shortened, type Plot, type Tip } from "../figure/panel";
import { duration } from "../page/format";
import { theme } from "../figure/theme";
import { momentText } from "./calendar_scale";
import type { EventMark, Gap, HistoryFigures, HistoryHang, Outage, SeriesFigure } from "../generated/history";

export const ROW = 14;

/** Events, outages, hangs and gaps that concern the series of a panel. */
export interface Backdrop {
  events: EventMark[];
  outages: Outage[];
  /** Those that no outage contains. */
  hangs: HistoryHang[];
  gaps: Gap[];
  rows: { events: number | null; outages: number | null; hangs: number | null; count: number };
  beginNs: number;
  endNs: number;
}

export function backdropOf(figures: HistoryFigures, series: SeriesFigure[]): Backdrop {
  const concerns = (host: string, target: string): boolean =>
    series.some(({ key }) => (host === "" || host === key.host) && (target === "" || target === key.target));
  const events = figures.events.filter((event) => event.source !== "watch" && concerns(event.host, event.target));
  const outages = figures.outages.filter((outage) =>
    series.some(({ key }) => isOf(outage, key.host, key.target)),
  );
  const isTold = (hang: HistoryHang): boolean =>
    outages.some(
      (outage) =>
        isOf(outage, hang.host, hang.target) && outage.begin <= hang.begin_ns + 1e9 && (outage.end ?? Infinity) >= hang.seen_ns - 1e9,
    );
  const hangs = figures.hangs.filter((hang) => concerns(hang.host, hang.target) && !isTold(hang));
  const gaps = figures.gaps.filter((gap) => series.some((one) => isDuring(gap, one)));
  const [before, between] = [Number(events.length > 0), Number(outages.length > 0)];
  const rows = {
    events: events.length > 0 ? 0 : null,
    outages: outages.length > 0 ? before : null,
    hangs: hangs.length > 0 ? before + between : null,
    count: before + between + Number(hangs.length > 0),
  };
  const { begin_ns, span_ns } = figures.axis;
  return { events, outages, hangs, gaps, rows, beginNs: begin_ns, endNs: begin_ns + span_ns };
}

/** Whether nothing is known of a series during a gap. */
function isDuring(gap: Gap, { key, kind }: SeriesFigure): boolean {
  const isRecorded = gap.record === "imported" ? kind === "imported-duration" : kind === "task" || kind === "control";
  const isThere = (gap.target === "" || gap.target === key.target) && (gap.task === "" || gap.task === key.task);
  return isRecorded && gap.host === key.host && isThere;
}

/** Whether an outage is of a target of a host; if nobody knows of which, of the one that is called like the mount. */
function isOf(outage: Outage, host: string, target: string): boolean {
  return outage.host === host && (outage.targets ?? [outage.mount]).includes(target);
}

const isAbsence = ({ kind }: Outage): boolean => kind === "not-mounted";

/** The mount, and the targets there if they have other names: `/mnt/lustre (target scratch)`. */
function mountAndTargets({ mount, targets = [mount] }: Outage): string {
  if (targets.length === 1 && targets[0] === mount) return mount;
  return `${mount} (${targets.length === 1 ? "target" : "targets"} ${targets.join(", ")})`;
}

/** Gaps, outages and hangs, to be drawn first. `top` is the upper edge of the rows. */
export function drawSpans(plot: Plot, backdrop: Backdrop, top: number): void {
  const { ctx } = plot;
  const between = (begin: number, end: number): [number, number] => [
    clamp(plot.x(begin - backdrop.beginNs), plot.left, plot.right),
    clamp(plot.x(end - backdrop.beginNs), plot.left, plot.right),
  ];
  for (const gap of backdrop.gaps) {
    const [from, to] = between(gap.begin, gap.end);
    if (to > from) hatch(plot, from, to, plot.top, plot.bottom);
  }
  const bar = (begin: number, end: number, row: number | null): void => {
    const [from, to] = between(begin, end);
    if (to <= plot.left || from >= plot.right) return;
    const width = Math.max(to - from, 2);
    ctx.fillStyle = theme().serious;
    ctx.globalAlpha = 0.13;
    ctx.fillRect(from, plot.top, width, plot.height);
    ctx.globalAlpha = 1;
    if (row !== null) ctx.fillRect(from, top + row * ROW + 2, width, ROW - 6);
  };
  for (const outage of backdrop.outages) bar(outage.begin, outage.end ?? backdrop.endNs, backdrop.rows.outages);
  for (const hang of backdrop.hangs) bar(hang.begin_ns, hang.seen_ns, backdrop.rows.hangs);
}

/** Diagonal lines: nothing is known. */
function hatch(plot: Plot, from: number, to: number, top: number, bottom: number): void {
  const { ctx } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(from, top, to - from, bottom - top);
  ctx.clip();
  ctx.strokeStyle = theme().strong;
  ctx.globalAlpha = 0.45;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let x = from - (bottom - top); x < to; x += 7) {
    ctx.moveTo(x, bottom);
    ctx.lineTo(x + (bottom - top), top);
  }
  ctx.stroke();
  ctx.restore();
}

/** Events as verticals, and the words of the rows, to be drawn last. */
export function drawWords(plot: Plot, backdrop: Backdrop, top: number): void {
  const { ctx } = plot;
  ctx.textBaseline = "middle";
  ctx.lineWidth = 1;
  rowName(plot, backdrop.rows.events, "events", top);
  rowName(plot, backdrop.rows.outages, "outages", top);
  rowName(plot, backdrop.rows.hangs, "hangs", top);
  const y = top + ROW / 2;
  const marked = backdrop.events
    .map((event) => ({ event, x: plot.x(event.begin_ns - backdrop.beginNs) }))
    .filter(({ x }) => x >= plot.left - 1 && x <= plot.right + 1);
  for (const { event, x } of marked) {
    const isQuiet = event.source === "journal";
    ctx.strokeStyle = ctx.fillStyle = isQuiet ? theme().faint : theme().ink;
    ctx.globalAlpha = isQuiet ? 0.5 : 0.75;
    ctx.setLineDash(isQuiet ? [] : [4, 3]);
    ctx.beginPath();
    ctx.moveTo(x, isQuiet ? y - 3 : y + 5);
    ctx.lineTo(x, isQuiet ? y + 4 : plot.bottom);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    // Lines of a journal are many, and seldom matter.
    if (isQuiet) continue;
    ctx.beginPath();
    ctx.moveTo(x - 4, y - 3);
    ctx.lineTo(x + 4, y - 3);
    ctx.lineTo(x, y + 4);
    ctx.fill();
  }
  const told = marked.filter(({ event }) => event.source !== "journal");
  labels(plot, told.map(({ event, x }) => ({ from: x, after: x + 7, texts: [event.text || event.kind] })), told.map(({ x }) => x), y);
  if (backdrop.rows.outages === null) return;
  const bars = backdrop.outages
    .map((outage) => ({
      from: clamp(plot.x(outage.begin - backdrop.beginNs), plot.left, plot.right),
      after: clamp(plot.x((outage.end ?? backdrop.endNs) - backdrop.beginNs), plot.left, plot.right) + 5,
      texts: [
        `${outage.mount}: ${isAbsence(outage) ? "not mounted, " : ""}${lasted(outage, backdrop)}`,
        `${outage.mount}: ${lengthOf(outage, backdrop)}`,
        lengthOf(outage, backdrop),
      ],
    }))
    .filter(({ from, after }) => after > plot.left + 5 && from < plot.right);
  // Beside a bar that goes on under it there is no room for words.
  const open = bars.filter(({ after }) => !bars.some((other) => other.from <= after && other.after > after + 2));
  labels(plot, open, bars.map(({ from }) => from), top + backdrop.rows.outages * ROW + ROW / 2 - 1, theme().serious);
}

function rowName(plot: Plot, row: number | null, name: string, top: number): void {
  if (row === null) return;
  plot.ctx.textAlign = "right";
  plot.ctx.fillStyle = theme().faint;
  plot.ctx.fillText(shortened(plot.ctx, name, plot.left - 8), plot.left - 6, top + row * ROW + ROW / 2);
}

/**
 * Texts beside their marks: the first of each that fits before the next mark, or else before its own; of those that do not fit the last is
 * shortened if something is left of it.
 */
function labels(
  plot: Plot,
  items: { from: number; after: number; texts: string[] }[],
  marks: number[],
  y: number,
  colour = theme().ink,
): void {
  const { ctx } = plot;
  const write = (text: string, left: number): void => {
    // Marks of a journal go on under the words.
    ctx.fillStyle = theme().paper;
    ctx.globalAlpha = 0.8;
    ctx.fillRect(left - 1, y - 6, ctx.measureText(text).width + 2, 12);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour;
    ctx.textAlign = "left";
    ctx.fillText(text, left, y);
  };
  const sorted = [...marks].sort((left, right) => left - right);
  let free = plot.left;
  for (const { from, after, texts } of [...items].sort((left, right) => left.from - right.from)) {
    if (after < free) continue;
    const next = sorted.find((other) => other > after) ?? plot.right + 8;
    const room = Math.min(next - 8, plot.right) - after;
    const widthOf = (text: string): number => ctx.measureText(text).width;
    const fitting = texts.find((text) => widthOf(text) <= room);
    const before = texts.find((text) => widthOf(text) <= from - 11 - free);
    free = after;
    if (fitting === undefined && before !== undefined) {
      write(before, from - 7 - widthOf(before));
    } else if (fitting !== undefined || room > 50) {
      const text = fitting ?? shortened(ctx, texts[texts.length - 1], room);
      write(text, after);
      free = after + widthOf(text) + 6;
    }
  }
}

const lengthOf = (outage: Outage, backdrop: Backdrop): string => duration((outage.end ?? backdrop.endNs) - outage.begin);

function lasted(outage: Outage, backdrop: Backdrop): string {
  const length = lengthOf(outage, backdrop);
  return outage.end === undefined || outage.end === null ? `not over after ${length}` : `${length}, ${endingOf(outage)}`;
}

const ENDINGS = {
  recovered: "recovered by itself",
  remounted: "mounted anew",
  unmounted: "unmounted",
  rebooted: "machine started again",
};
const endingOf = ({ ending }: Outage): string => (ending === undefined || ending === null ? "not over" : ENDINGS[ending]);

/** What the pointer is at: in the rows the nearest of the row, within the axes what is under it. */
export function backdropTip(plot: Plot, backdrop: Backdrop, px: number, py: number, top: number): Tip | null {
  const row = Math.floor((py - top) / ROW);
  if (py < plot.top) {
    if (row === backdrop.rows.events) return eventTip(plot, backdrop, px, py, 16);
    if (row === backdrop.rows.outages || row === backdrop.rows.hangs) return spanTip(plot, backdrop, px, py, 6);
    return null;
  }
  return eventTip(plot, backdrop, px, py, 4) ?? spanTip(plot, backdrop, px, py, 0);
}

function eventTip(plot: Plot, backdrop: Backdrop, px: number, py: number, reach: number): Tip | null {
  let best: EventMark | null = null;
  let least = reach;
  for (const event of backdrop.events) {
    const distance = Math.abs(plot.x(event.begin_ns - backdrop.beginNs) - px);
    if (distance <= least) [best, least] = [event, distance];
  }
  if (best === null) return null;
  const lines: [string, string][] = [["when", momentText(best.begin_ns)]];
  if (best.end_ns !== null) lines.push(["until", momentText(best.end_ns)]);
  const concerned = [best.target, best.host].filter((name) => name !== "").join(" on ");
  lines.push(["concerns", concerned === "" ? "everything" : concerned]);
  lines.push(["source", [best.source, best.kind].filter((name) => name !== "").join(", ")]);
  return { x: plot.x(best.begin_ns - backdrop.beginNs), y: py, title: best.text || best.kind, lines };
}

function gapTitle({ record, is_watched }: Gap): string {
  if (record === "imported") return "nothing is known: not in what was imported";
  return is_watched ? "iolag ran, but could not measure" : "nobody watched";
}

function spanTip(plot: Plot, backdrop: Backdrop, px: number, py: number, reach: number): Tip | null {
  const isAt = (begin: number, end: number): boolean =>
    px >= plot.x(begin - backdrop.beginNs) - reach && px <= Math.max(plot.x(end - backdrop.beginNs), plot.x(begin - backdrop.beginNs) + 2) + reach;
  const outage = backdrop.outages.find(({ begin, end }) => isAt(begin, end ?? backdrop.endNs));
  if (outage !== undefined) {
    return {
      x: px,
      y: py,
      title: `${mountAndTargets(outage)} ${isAbsence(outage) ? "was not mounted" : "did not answer"}`,
      lines: [
        ["since", momentText(outage.begin)],
        ["lasted", lasted(outage, backdrop)],
        ["skipped slots", String(outage.skipped)],
      ],
    };
  }
  const hang = backdrop.hangs.find(({ begin_ns, seen_ns }) => isAt(begin_ns, seen_ns));
  if (hang !== undefined) {
    return {
      x: px,
      y: py,
      title: `${hang.task} on ${hang.target} hung`,
      lines: [
        ["since", momentText(hang.begin_ns)],
        [hang.state === "ended" ? "lasted" : "had not ended after", duration(hang.seen_ns - hang.begin_ns)],
      ],
    };
  }
  const gap = backdrop.gaps.find(({ begin, end }) => isAt(begin, end));
  if (gap === undefined) return null;
  return {
    x: px,
    y: py,
    title: gapTitle(gap),
    lines: [
      ["from", momentText(gap.begin)],
      ["to", momentText(gap.end)],
      ["rounds missing", String(gap.rounds)],
    ],
  };
}
