// Time lines of chosen clients: the same run as if it had only them.

import type { Column } from "../../page/columns";
import { plural } from "../../page/format";
import { TIME_UNITS } from "../data";
import type { HangSpan, RunFigures } from "../../generated/run";
import type { TimePlace } from "../selection";
import { HUNG } from "./lane";

/** Outcomes of attempts that were past their deadlines: hung, timeout, late. */
const PAST_DEADLINE = new Set([HUNG, 2, 4]);

/** More clients than these stand together in one panel, as in `iolag plot`. */
const CLIENT_PANELS_MAX = 16;

/** A place for each of the clients that were chosen and that it has. */
export function clientPlaces(place: TimePlace, chosen: number[] | null): TimePlace[] {
  if (chosen === null) return [place];
  const clients = chosen.filter((client) => client < place.figures.run.clients);
  const groups = clients.length > CLIENT_PANELS_MAX ? [clients] : clients.map((client) => [client]);
  return groups.map((group) => {
    const name = group.length === 1 ? `client ${group[0]}` : plural(group.length, "client");
    return { ...place, title: [place.title, name].filter((part) => part !== "").join(" · "), figures: ofClients(place.figures, group) };
  });
}

/** The same run as if it had only these clients; of a density there are the longest attempts. */
export function ofClients(figures: RunFigures, clients: number[]): RunFigures {
  const { time_line } = figures;
  const { points, marks } = time_line;
  const wanted = new Set(clients);
  const pick = <C extends Column>(column: C, by: Uint32Array): C =>
    (column as Uint32Array).filter((_, index) => wanted.has(by[index])) as unknown as C;
  return {
    ...figures,
    hangs: hangsOfClients(figures, wanted),
    time_line: {
      ...time_line,
      density: null,
      points: {
        time: pick(points.time, points.client),
        bucket: pick(points.bucket, points.client),
        series: pick(points.series, points.client),
        outcome: pick(points.outcome, points.client),
        client: pick(points.client, points.client),
      },
      marks: {
        total: marks.total,
        each: {
          time: pick(marks.each.time, marks.each.client),
          series: pick(marks.each.series, marks.each.client),
          outcome: pick(marks.each.outcome, marks.each.client),
          reason: pick(marks.each.reason, marks.each.client),
          bucket: pick(marks.each.bucket, marks.each.client),
          client: pick(marks.each.client, marks.each.client),
        },
        counts: [],
      },
    },
  };
}

/** Hangs that one of these clients had a part in; all of them where marks are not known by client. */
function hangsOfClients({ run, series, hangs, time_line }: RunFigures, wanted: Set<number>): HangSpan[] {
  const { each, counts } = time_line.marks;
  if (counts.length > 0) return hangs;
  const stepNs = run.span_ns / TIME_UNITS;
  return hangs.filter((hang) =>
    each.client.some((client, index) => {
      const startNs = each.time[index] * stepNs;
      const isWithin = startNs >= hang.begin_ns - stepNs && startNs <= (hang.end_ns ?? run.span_ns);
      return wanted.has(client) && PAST_DEADLINE.has(each.outcome[index]) && series[each.series[index]].target === hang.target && isWithin;
    }),
  );
}
