// When it is bad: a calendar of days on which probes did not end, and durations by hour and day.

import type { FigureContent, View } from "../figure/figure";
import { count, duration, plural } from "../page/format";
import { clamp, type PanelContent, type Plot, type Tip } from "../figure/panel";
import { band, linear, type Scale } from "../figure/scale";
import { ramp, theme } from "../figure/theme";
import { placeName, places, shownSeries, taskName, type State } from "./arrangement";
import { calendarTime } from "./calendar_scale";
import type { DayMatrix, SeriesFigure } from "../generated/history";

const DAY_NS = 86_400e9;
const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** Ns since 1970 of the midnight of a local date, taken as if it were UTC: only for axes of dates. */
const dayNs = (day: string): number => Date.parse(`${day}T00:00:00Z`) * 1e6;
const dayText = (ns: number): string => {
  const date = new Date(ns / 1e6);
  return `${WEEKDAYS[(date.getUTCDay() + 6) % 7]} ${date.toISOString().slice(0, 10)}`;
};
const css = ([red, green, blue]: [number, number, number]): string => `rgb(${red},${green},${blue})`;

interface Day {
  slots: number;
  past: number;
  failed: number;
  skipped: number;
}

/** Slots of all series of a place by day. */
function daysOf(series: SeriesFigure[]): Map<number, Day> {
  const days = new Map<number, Day>();
  for (const { days: matrix } of series) {
    if (matrix === null) continue;
    matrix.days.forEach((name, row) => {
      const day = days.get(dayNs(name)) ?? { slots: 0, past: 0, failed: 0, skipped: 0 };
      for (let cell = row * 24; cell < row * 24 + 24; cell += 1) {
        // Observations contain what passed its deadline, and skipped slots whose blocker is known.
        day.slots += Math.max(matrix.observations[cell], matrix.past_deadline[cell] + matrix.skipped[cell]) + matrix.failed[cell];
        day.past += matrix.past_deadline[cell];
        day.failed += matrix.failed[cell];
        day.skipped += matrix.skipped[cell];
      }
      days.set(dayNs(name), day);
    });
  }
  return days;
}

const badShare = ({ slots, past, failed, skipped }: Day): number => (past + failed + skipped) / Math.max(1, slots);

export function calendar(state: State): FigureContent | null {
  const series = shownSeries({ ...state, depth: "whole" });
  const panels = places(state.document)
    .map((title) => ({ title, days: daysOf(series.filter((one) => placeName(state.document, one) === title)) }))
    .filter(({ days }) => days.size > 0);
  const all = panels.flatMap(({ days }) => [...days.keys()]);
  const first = monday(Math.min(...all));
  const weeks = Math.floor((Math.max(...all) - first) / (7 * DAY_NS)) + 1;
  const bad = panels.flatMap(({ days }) => [...days.values()]).filter((day) => badShare(day) > 0).length;
  // A calendar of one day, or of good days only, says nothing that the table of rates does not say.
  if (bad === 0 || panels.every(({ days }) => days.size < 2)) return null;
  return {
    legend: [],
    panelWidth: weeks > 30 ? 720 : 340,
    caption: () =>
      `Days on which attempts passed their deadline, failed, or were not started because an earlier one hung: the darker (lighter on dark ` +
      `paper), the greater their share of the day's slots. Outlined: a day without any. Empty: nothing is known. ` +
      `${plural(bad, "such day")} in these calendars. Days are those of ${state.document.zone}.`,
    panels: (view) => panels.map(({ title, days }) => calendarPanel(title, days, first, weeks, view)),
  };
}

function monday(ns: number): number {
  const weekday = (new Date(ns / 1e6).getUTCDay() + 6) % 7;
  return ns - weekday * DAY_NS;
}

function calendarPanel(title: string, days: Map<number, Day>, first: number, weeks: number, view: View): PanelContent {
  const [from, to] = view.zoom ?? [0, Math.max(weeks, 6) * 7 * DAY_NS];
  return {
    title,
    description: `Calendar of ${title}.`,
    height: 170,
    x: calendarTime(from, to, first),
    y: upsideDown(band(WEEKDAYS)),
    zoom: "x",
    draw(plot) {
      const { ctx } = plot;
      plot.clipped(() => {
        for (const [ns, day] of days) {
          const [x, y, width, height] = cellOf(plot, ns - first);
          const part = badShare(day);
          if (part > 0) {
            ctx.fillStyle = css(ramp(0.35 + 0.65 * Math.sqrt(part)));
            ctx.fillRect(x, y, width, height);
          } else {
            ctx.strokeStyle = theme().strong;
            ctx.lineWidth = 1;
            ctx.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), Math.max(1, height - 1));
          }
        }
      });
    },
    tip(plot, px, py) {
      for (const [ns, day] of days) {
        const [x, y, width, height] = cellOf(plot, ns - first);
        if (px < x || px > x + width + 2 || py < y || py > y + height + 2) continue;
        return {
          x: x + width / 2,
          y: py,
          title: dayText(ns),
          lines: [
            ["slots", count(day.slots)],
            ["passed the deadline", count(day.past)],
            ["failed", count(day.failed)],
            ["skipped", count(day.skipped)],
          ],
        };
      }
      return null;
    },
  };
}

/** A week is a column: its days stand below each other, whatever the axis says within a week. */
function cellOf(plot: Plot, ns: number): [number, number, number, number] {
  const week = Math.floor(ns / (7 * DAY_NS));
  const weekday = Math.round((ns - week * 7 * DAY_NS) / DAY_NS);
  const left = plot.x(week * 7 * DAY_NS);
  const width = Math.max(2, plot.x((week + 1) * 7 * DAY_NS) - left - 2);
  const height = plot.height / 7;
  return [left + 1, plot.top + weekday * height + 1, width, height - 2];
}

/** The first name on top; ticks are asked for from the bottom up. */
export function upsideDown(scale: Scale): Scale {
  return {
    ...scale,
    place: (value) => 1 - scale.place(value),
    value: (place) => scale.value(1 - place),
    ticks: (room) => scale.ticks(room).reverse(),
  };
}

export function hoursByDay(state: State): FigureContent | null {
  const found = shownSeries(state).flatMap((series) => (series.days === null || series.days.days.length === 0 ? [] : [{ series, days: series.days }]));
  // Of a single day the time line shows more.
  if (found.every(({ days }) => days.days.length < 2)) return null;
  const name = state.cell === "median" ? "median" : "longest";
  return {
    legend: [],
    panelWidth: 440,
    caption: () =>
      `The ${name} duration of each hour of each day, on a logarithmic scale: what somebody met who came then, skipped slots being given ` +
      `the rest of the hang. Hours with a cross had attempts that did not end in time, failed or were skipped. Days and hours are those of ${state.document.zone}.`,
    panels: (view) =>
      found.map(({ series, days }) => hoursPanel(`${taskName(series)} on ${placeName(state.document, series)}`, days, state.cell, view)),
  };
}

function hoursPanel(title: string, matrix: DayMatrix, cell: State["cell"], view: View): PanelContent {
  const values = cell === "median" ? matrix.median_ns : matrix.worst_ns;
  const first = dayNs(matrix.days[0]);
  const last = dayNs(matrix.days[matrix.days.length - 1]);
  const known = [...values].filter((value) => value >= 0).sort((left, right) => left - right);
  // A single hang must not make everything else look alike.
  const low = Math.max(1, known[Math.floor(known.length * 0.02)] ?? 1e6);
  const high = Math.max(low * 10, known[Math.floor(known.length * 0.995)] ?? 1e9, (known[known.length - 1] ?? 0) / 100);
  const part = (value: number): number => clamp(Math.log(Math.max(value, 1) / low) / Math.log(high / low), 0, 1);
  const [from, to] = view.zoom ?? [0, last - first + DAY_NS];
  return {
    title,
    description: `Durations of ${title} by hour and day.`,
    height: 214,
    x: calendarTime(from, to, first),
    y: hoursScale(),
    roomAbove: 16,
    zoom: "x",
    draw(plot) {
      const { ctx } = plot;
      plot.clipped(() => {
        matrix.days.forEach((day, row) => {
          const left = plot.x(dayNs(day) - first);
          const right = plot.x(dayNs(day) - first + DAY_NS);
          if (right < plot.left || left > plot.right) return;
          for (let hour = 0; hour < 24; hour += 1) {
            const place = row * 24 + hour;
            const [top, bottom] = [plot.y(hour + 1), plot.y(hour)];
            if (values[place] >= 0) {
              ctx.fillStyle = css(ramp(part(values[place])));
              ctx.fillRect(left, top, Math.max(1, right - left), bottom - top + 0.5);
            }
            if (troubles(matrix, place) > 0) cross(plot, (left + right) / 2, (top + bottom) / 2);
          }
        });
      });
      drawScale(plot, low, high);
    },
    tip: (plot, px, py) => hourTip(plot, px, py, matrix, first),
  };
}

const troubles = (matrix: DayMatrix, place: number): number =>
  matrix.past_deadline[place] + matrix.failed[place] + matrix.skipped[place];

function cross(plot: Plot, x: number, y: number): void {
  const { ctx } = plot;
  for (const [width, colour] of [[3.2, theme().paper], [1.4, theme().serious]] as [number, string][]) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    ctx.moveTo(x - 3, y - 3);
    ctx.lineTo(x + 3, y + 3);
    ctx.moveTo(x + 3, y - 3);
    ctx.lineTo(x - 3, y + 3);
    ctx.stroke();
  }
}

/** Midnight on top, as in a diary. */
function hoursScale(): Scale {
  const scale = linear(0, 24);
  return {
    ...scale,
    place: (value) => 1 - value / 24,
    value: (place) => 24 * (1 - place),
    ticks: () => [24, 18, 12, 6, 0].map((hour) => ({ value: hour, label: `${String(hour).padStart(2, "0")}:00` })),
  };
}

/** What the colours mean, above the axes. */
function drawScale(plot: Plot, low: number, high: number): void {
  const { ctx } = plot;
  const width = Math.min(120, plot.width / 3);
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme().faint;
  const words = [duration(low), duration(high)];
  ctx.textAlign = "right";
  ctx.fillText(words[1], plot.right, plot.top - 10);
  const right = plot.right - ctx.measureText(words[1]).width - 6;
  for (let x = 0; x < width; x += 1) {
    ctx.fillStyle = css(ramp(x / width));
    ctx.fillRect(right - width + x, plot.top - 14, 1.5, 8);
  }
  ctx.fillStyle = theme().faint;
  ctx.fillText(words[0], right - width - 6, plot.top - 10);
}

function hourTip(plot: Plot, px: number, py: number, matrix: DayMatrix, first: number): Tip | null {
  if (px < plot.left || px > plot.right || py < plot.top || py > plot.bottom) return null;
  const at = plot.xScale.value((px - plot.left) / plot.width);
  const row = matrix.days.findIndex((day) => at >= dayNs(day) - first && at < dayNs(day) - first + DAY_NS);
  if (row < 0) return null;
  const hour = clamp(Math.floor(((py - plot.top) / plot.height) * 24), 0, 23);
  const place = row * 24 + hour;
  const words = (ns: number): string => (ns < 0 ? "–" : duration(ns));
  const lines: [string, string][] = [
    ["median", words(matrix.median_ns[place])],
    ["longest", words(matrix.worst_ns[place])],
    ["slots", count(matrix.observations[place])],
  ];
  if (matrix.past_deadline[place] > 0) lines.push(["passed the deadline", count(matrix.past_deadline[place])]);
  if (matrix.failed[place] > 0) lines.push(["failed", count(matrix.failed[place])]);
  if (matrix.skipped[place] > 0) lines.push(["skipped", count(matrix.skipped[place])]);
  return { x: px, y: py, title: `${dayText(dayNs(matrix.days[row]))}, ${String(hour).padStart(2, "0")}:00`, lines };
}
