// Numbers as iolag prints them in its tables: the same units and digits as crates/iolag-model/src/units.rs.

const NOTHING = "–";

function threeDigits(value: number, unit: string): string {
  const decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(decimals)} ${unit}`;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** `18 ns`, `1.25 ms`, `3.90 s`, `4 min 10 s`, `2 h 05 min`, `3 d 4 h`. */
export function duration(ns: number): string {
  if (!Number.isFinite(ns)) return NOTHING;
  if (ns < 1_000) return `${Math.round(ns)} ns`;
  if (ns < 999_500) return threeDigits(ns / 1e3, "µs");
  if (ns < 999_500_000) return threeDigits(ns / 1e6, "ms");
  if (ns < 99_950_000_000) return threeDigits(ns / 1e9, "s");
  const seconds = Math.round(ns / 1e9);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${two(Math.floor((seconds % 3_600) / 60))} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`;
}

/** A duration in ns, or what it is at least. */
export interface Known {
  ns: number;
  isAtLeast: boolean;
}

const UNIT_SIZES: Record<string, number> = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };

/** `12.7 [12.6–13.0] µs`, `726 µs [257 µs–19.1 ms]`: as `with_ends` in crates/iolag-report/src/words/interval.rs writes durations. */
export function durationWithEnds(value: Known, low: Known, high: Known): string {
  const mark = (known: Known): string => (known.isAtLeast ? "≥" : "");
  const [first, from, to] = [value, low, high].map(({ ns }) => duration(ns).split(" "));
  const gap = value.isAtLeast ? "≥ " : "";
  const common = commonDecimals(first, low, high);
  if (common !== null) {
    const size = UNIT_SIZES[first[1]];
    const number = ({ ns }: Known): string => (ns / size).toFixed(common);
    return `${gap}${number(value)} [${mark(low)}${number(low)}–${mark(high)}${number(high)}] ${first[1]}`;
  }
  if ([first, from, to].every((words) => words.length === 2 && words[1] === first[1])) {
    return `${gap}${first[0]} [${mark(low)}${from[0]}–${mark(high)}${to[0]}] ${first[1]}`;
  }
  return `${gap}${first.join(" ")} [${mark(low)}${from.join(" ")}–${mark(high)}${to.join(" ")}]`;
}

/** With how many decimals all three stand in the unit of the value; null if the ends are too far apart for that. */
function commonDecimals([number, unit, ...more]: string[], low: Known, high: Known): number | null {
  const size = UNIT_SIZES[unit];
  if (size === undefined || more.length > 0 || high.ns / size >= 9_999.5) return null;
  const own = number.split(".")[1]?.length ?? 0;
  // Nanoseconds have no parts; elsewhere the lower end keeps two digits.
  const keeps = (decimals: number): boolean => low.ns === 0 || size === 1 || (low.ns / size) * 10 ** decimals >= 10;
  const candidates = [own, Math.min(own + 1, Math.max(2, own))];
  return candidates.find(keeps) ?? null;
}

const TICK_UNITS: [number, string][] = [
  [86_400e9, "d"],
  [3_600e9, "h"],
  [60e9, "min"],
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A duration on an axis: whole where it is whole, without trailing zeros. `1 ms`, `0.5 s`. */
export function durationTick(ns: number): string {
  if (ns === 0) return "0";
  const [unit, name] = TICK_UNITS.find(([unit]) => ns >= unit * 0.999) ?? [1, "ns"];
  return `${Number((ns / unit).toPrecision(4))} ${name}`;
}

/** `12 345`. */
export function count(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, " ");
}

/** `0.28`, `57.1`, `12 345`. */
export function rate(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return NOTHING;
  if (perSecond < 9.995) return perSecond.toFixed(2);
  if (perSecond < 999.5) return perSecond.toFixed(1);
  return count(perSecond);
}

/** `3.81 KiB`. */
export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${Math.round(value)} B` : threeDigits(value, units[unit]);
}

/** A share of 1 as per cent: a decimal only where it matters, but enough to tell what is rare from nothing. */
export function percent(share: number): string {
  const value = 100 * share;
  if (value > 99 && value < 100) return `${Number(value.toPrecision(5))} %`;
  if (value <= 0) return "0 %";
  if (value < 0.0001) return "<0.0001 %";
  if (value < 0.0095) return `${value.toFixed(Math.ceil(-Math.log10(value)))} %`;
  if (value < 0.095) return `${value.toFixed(2)} %`;
  if (value < 9.95) return `${Number(value.toFixed(1))} %`;
  return `${value.toFixed(value < 99.5 ? 0 : 1).replace(/\.0$/, "")} %`;
}

/** A number on a linear axis: `0`, `250`, `1 500`, `1.5 M`. */
export function numberTick(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${Number((value / 1e9).toPrecision(4))} G`;
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4))} M`;
  if (size >= 1e3) return count(value);
  return String(Number(value.toPrecision(6)));
}

/** Moment of the day in UTC, as exact as `step_ns` asks for: `18:59`, `18:59:04`, `18:59:04.25`. */
export function clock(epochMs: number, stepMs: number): string {
  const text = new Date(epochMs).toISOString();
  if (stepMs >= 86_400_000) return text.slice(5, 10);
  if (stepMs >= 60_000) return text.slice(11, 16);
  if (stepMs >= 1_000) return text.slice(11, 19);
  if (stepMs >= 100) return text.slice(11, 21);
  return text.slice(11, 23);
}

/** `2026-11-20 18:59:04.250 UTC`. */
export function moment(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 23).replace("T", " ")} UTC`;
}

/** `1 sample`, `12 345 samples`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return value === 1 ? `1 ${one}` : `${count(value)} ${many}`;
}
