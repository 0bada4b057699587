// Scales: from values to pixels and back, with the places of their ticks.

import { clock, count, durationTick, numberTick, percent } from "../page/format";

export interface Tick {
  value: number;
  label: string;
  /** A line that is to be seen first: 0.1, 1 and 10 s. */
  strong?: boolean;
}

export interface Scale {
  /** Values at both ends. */
  min: number;
  max: number;
  label: string;
  /** Share of the axis, 0 at `min`, 1 at `max`; not clamped. */
  place(value: number): number;
  /** Value at a share of the axis. */
  value(place: number): number;
  /** At most about `room` ticks. */
  ticks(room: number): Tick[];
  /** The same kind of scale between other ends. */
  between(min: number, max: number): Scale;
}

/** Limits of Miller 1968 and Nielsen 1993, in ns. */
export const FELT_NS = [1e8, 1e9, 1e10];

/** Readable durations on a logarithmic axis: 1-2-5 below a minute, then minutes, hours and days. */
const DURATION_STEPS_NS = [
  ...Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat(),
  1e10, 3e10, 6e10, 3e11, 6e11, 1.8e12, 3.6e12, 1.8e13, 4.32e13, 8.64e13, 6.048e14,
];

/** Durations in ns on a logarithmic axis. */
export function logDuration(min: number, max: number, label = ""): Scale {
  return logarithmic(Math.max(min, 0.1), max, label, durationTick, DURATION_STEPS_NS, FELT_NS);
}

/** Counts on a logarithmic axis. */
export function logCount(min: number, max: number, label = "", format: (value: number) => string = count): Scale {
  const steps = Array.from({ length: 24 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** (power - 6))).flat();
  return logarithmic(min, max, label, format, steps, []);
}

function logarithmic(
  min: number,
  max: number,
  label: string,
  format: (value: number) => string,
  steps: number[],
  strong: number[],
): Scale {
  const low = Math.log10(min);
  const span = Math.max(Math.log10(max) - low, 1e-9);
  return {
    min,
    max,
    label,
    place: (value) => (Math.log10(Math.max(value, 1e-300)) - low) / span,
    value: (place) => 10 ** (low + place * span),
    between: (from, to) => logarithmic(from, to, label, format, steps, strong),
    ticks(room) {
      const inside = steps.filter((step) => step >= min * 0.9999 && step <= max * 1.0001);
      const isDecade = (step: number): boolean => Math.abs(Math.log10(step) - Math.round(Math.log10(step))) < 1e-9;
      const every = Math.max(1, Math.ceil(span / Math.max(room, 2)));
      const chosen =
        inside.length <= room
          ? inside
          : inside.filter((step) => (isDecade(step) ? Math.round(Math.log10(step)) % every === 0 : step >= 6e10 && every === 1));
      const values = chosen.length >= 2 ? chosen : spread(min, max, room);
      const ticks: Tick[] = values.map((value) => ({ value, label: format(value), strong: strong.includes(value) }));
      for (const value of strong) {
        if (value >= min && value <= max && !values.includes(value)) ticks.push({ value, label: format(value), strong: true });
      }
      return ticks.sort((left, right) => left.value - right.value);
    },
  };
}

/** Ticks of a logarithmic axis that is zoomed to less than a decade. */
function spread(min: number, max: number, room: number): number[] {
  return roundSteps(min, max, room).filter((value) => value > 0);
}

function roundSteps(min: number, max: number, room: number): number[] {
  const raw = (max - min) / Math.max(room, 1);
  if (!(raw > 0)) return [min];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((digit) => digit * power >= raw * 0.999) ?? 10);
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

/** Plain numbers. */
export function linear(min: number, max: number, label = "", format: (value: number) => string = numberTick): Scale {
  const span = max - min || 1;
  return {
    min,
    max,
    label,
    place: (value) => (value - min) / span,
    value: (place) => min + place * span,
    ticks: (room) => roundSteps(min, max, room).map((value) => ({ value, label: format(value) })),
    between: (from, to) => linear(from, to, label, format),
  };
}

/** Sizes in bytes: ticks are round in their binary unit. */
export function size(max: number, label: string): Scale {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(max, 1)) / 10));
  const name = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][Math.round(Math.log2(unit) / 10)] ?? "B";
  const scale = linear(0, max, label);
  return {
    ...scale,
    ticks: (room) =>
      roundSteps(0, max / unit, room).map((value) => ({ value: value * unit, label: `${numberTick(value)} ${name}` })),
    between: () => size(max, label),
  };
}

/** Shares 0 to 1, shown as per cent. */
export function share(label = ""): Scale {
  return linear(0, 1, label, percent);
}

/** Shares from 0 to 99.99 % at least, on an axis that is logarithmic in what is missing to 100 %. */
export function tail(greatest: number, label = ""): Scale {
  const missing = 1 - greatest;
  const decades = Math.min(Math.max(4, missing > 0 ? Math.ceil(-Math.log10(missing) - 1e-6) : 4), 9);
  const name = (nines: number): string => (nines < 3 ? `${100 - 10 ** (2 - nines)} %` : `99.${"9".repeat(nines - 2)} %`);
  const ticks = Array.from({ length: decades + 1 }, (_, nines) => ({ value: 1 - 10 ** -nines, label: name(nines) }));
  const scale: Scale = {
    min: 0,
    max: 1 - 10 ** -decades,
    label,
    place: (value) => -Math.log10(Math.max(1 - value, 10 ** -decades)) / decades,
    value: (place) => 1 - 10 ** (-place * decades),
    ticks: () => ticks,
    between: () => scale,
  };
  return scale;
}

const TIME_STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1.5e4, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5,
  216e5, 432e5, 864e5, 1728e5, 6048e5,
];

/** Ns since the start of a run that began at `epochMs`; ticks are moments of the day (UTC), or seconds when short. */
export function time(min: number, max: number, epochMs: number | null, label: string): Scale {
  const span = max - min || 1;
  const spanMs = span / 1e6;
  return {
    min,
    max,
    label,
    place: (value) => (value - min) / span,
    value: (place) => min + place * span,
    between: (from, to) => time(from, to, epochMs, label),
    ticks(room) {
      const step = TIME_STEPS_MS.find((candidate) => spanMs / candidate <= room);
      if (epochMs === null || spanMs < 20 || step === undefined) {
        return roundSteps(min, max, room).map((value) => ({ value, label: durationTick(value) }));
      }
      const start = epochMs + min / 1e6;
      const first = Math.ceil(start / step);
      const last = Math.floor((epochMs + max / 1e6) / step);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
        const ms = (first + index) * step;
        return { value: (ms - epochMs) * 1e6, label: clock(ms, step) };
      });
    },
  };
}

/** Named rows or columns of equal size; values are indices. */
export function band(names: string[], label = ""): Scale {
  const size = Math.max(names.length, 1);
  return {
    min: 0,
    max: size,
    label,
    place: (value) => (value + 0.5) / size,
    value: (place) => place * size - 0.5,
    ticks: () => names.map((name, value) => ({ value, label: name })),
    between: () => band(names, label),
  };
}

/** Ends of a logarithmic axis around these values: whole decades would waste room, so steps of 1, 2, 5. */
export function roundedLog(low: number, high: number): [number, number] {
  if (!(low > 0) || !(high > 0)) return [1e3, 1e9];
  const down = (value: number): number => {
    const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
    return power * ([5, 2, 1].find((digit) => digit * power <= value * 1.0001) ?? 1);
  };
  const up = (value: number): number => {
    const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
    return power * ([1, 2, 5, 10].find((digit) => digit * power >= value * 0.9999) ?? 10);
  };
  const from = down(low);
  const to = up(high);
  return to / from < 10 ? [down(from / 2), up(to * 2)] : [from, to];
}
