// Time axes of hours to years: ticks at hours, days, Mondays, months and years, whichever fit.

import { time, type Scale, type Tick } from "../figure/scale";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Ns since `epochNs` (since 1970), shown in UTC. */
export function calendarTime(min: number, max: number, epochNs: number, label = ""): Scale {
  const span = max - min || 1;
  return {
    min,
    max,
    label,
    place: (value) => (value - min) / span,
    value: (place) => min + place * span,
    between: (from, to) => calendarTime(from, to, epochNs, label),
    ticks: (room) =>
      span < 20 * HOUR_MS * 1e6 ? time(min, max, epochNs / 1e6, label).ticks(room) : ticks(min, max, epochNs, room),
  };
}

function ticks(min: number, max: number, epochNs: number, room: number): Tick[] {
  const from = (epochNs + min) / 1e6;
  const to = (epochNs + max) / 1e6;
  const moments = hoursOrDays(from, to, room) ?? months(from, to, room);
  return moments.map((ms) => ({ value: ms * 1e6 - epochNs, label: labelOf(ms, (to - from) / DAY_MS) }));
}

function hoursOrDays(from: number, to: number, room: number): number[] | null {
  const steps = [3, 6, 12, 24, 48].map((hours) => hours * HOUR_MS);
  const step = steps.find((candidate) => (to - from) / candidate <= room);
  if (step !== undefined) return multiples(from, to, step, 0);
  // 1970-01-05 was a Monday.
  for (const weeks of [1, 2]) {
    if ((to - from) / (weeks * 7 * DAY_MS) <= room) return multiples(from, to, weeks * 7 * DAY_MS, 4 * DAY_MS);
  }
  return null;
}

function multiples(from: number, to: number, step: number, offset: number): number[] {
  const first = Math.ceil((from - offset) / step);
  const last = Math.floor((to - offset) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step + offset);
}

function months(from: number, to: number, room: number): number[] {
  const all = (to - from) / (30.44 * DAY_MS);
  const step = [1, 2, 3, 6, 12, 24, 60, 120, 240].find((candidate) => all / candidate <= room) ?? 600;
  const begin = new Date(from);
  const first = begin.getUTCFullYear() * 12 + begin.getUTCMonth();
  const found: number[] = [];
  for (let month = Math.floor(first / step) * step; found.length < 1000; month += step) {
    const ms = Date.UTC(Math.floor(month / 12), month % 12, 1);
    if (ms > to) break;
    if (ms >= from) found.push(ms);
  }
  return found;
}

function labelOf(ms: number, days: number): string {
  const date = new Date(ms);
  const text = date.toISOString();
  if (ms % DAY_MS !== 0) return text.slice(11, 16);
  const month = MONTHS[date.getUTCMonth()];
  if (days > 150 && date.getUTCDate() === 1) return date.getUTCMonth() === 0 ? String(date.getUTCFullYear()) : month;
  return `${date.getUTCDate()} ${month}`;
}

/** `2008-05-08 14:15 UTC`, with seconds where they matter. */
export function momentText(epochNs: number): string {
  const text = new Date(epochNs / 1e6).toISOString();
  const time = text.slice(11, 19);
  return `${text.slice(0, 10)} ${time.endsWith(":00") ? time.slice(0, 5) : time} UTC`;
}
