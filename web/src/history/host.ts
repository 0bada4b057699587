// Host or storage? The same time axis for every place, the control in memory first, and for what else was measured.

import type { FigureContent, LegendEntry, View } from "../figure/figure";
import { numberTick } from "../page/format";
import type { PanelContent, Plot, Tip } from "../figure/panel";
import { linear } from "../figure/scale";
import { colourOf } from "../figure/theme";
import { placeName, places, shownSeries, taskName, type State } from "./arrangement";
import { backdropOf, backdropTip, drawSpans } from "./backdrop";
import { momentText } from "./calendar_scale";
import { isDuration, momentsOf, placeOf } from "./document";
import type { HistoryFigures, SeriesFigure } from "../generated/history";
import { laneOf, lanePanel, timeAxis } from "./time_line";

export function hostOrStorage(state: State): FigureContent | null {
  const { document } = state;
  const series = shownSeries(state);
  const tasks = [...new Set(series.map(taskName))];
  const found = places(document)
    .map((title) => ({ title, series: series.filter((one) => placeName(document, one) === title) }))
    .filter((panel) => panel.series.length > 0)
    .sort((left, right) => Number(isControl(right.series)) - Number(isControl(left.series)));
  if (found.length < 2) return null;
  const lanes = found.map((panel) => laneOf(panel, state, taskName, tasks));
  return {
    legend: tasks.map((name, style): LegendEntry => ({ key: name, name, style, mark: "point" })),
    panelWidth: 720,
    caption: () =>
      (isControl(found[0].series)
        ? "The control does the same in memory: what is slow there too is the host's doing, what is slow only below it is the storage's. "
        : "There is no control series, which would tell a slow host from slow storage: what is slow in all places at once may be the host. ") +
      "Colours are tasks; everything else is as in the time lines above.",
    panels: (view) => lanes.map((lane) => lanePanel(lane, state, view, 190)),
  };
}

const isControl = (series: SeriesFigure[]): boolean => series.some(({ kind }) => kind === "control");

interface Track {
  title: string;
  unit: string;
  moments: Float64Array;
  values: ArrayLike<number>;
  series: SeriesFigure[];
}

export function besides(state: State): FigureContent | null {
  const tracks = tracksOf(state);
  if (tracks.length === 0) return null;
  return {
    legend: [],
    panelWidth: 720,
    caption: () =>
      "What else was measured; of a load the greatest 5-minute average of each stretch of time. Load contains tasks that wait for storage: it " +
      "rises with a hang by itself.",
    panels: (view) => tracks.map((track) => trackPanel(track, state.document.figures, view)),
  };
}

function tracksOf({ document }: State): Track[] {
  const { axis, series, loads } = document.figures;
  const several = loads.length > 1;
  const found: Track[] = loads.map(({ host, max }) => {
    const columns = [...max.keys()].filter((column) => max[column] >= 0);
    return {
      title: several ? `5-minute load of ${host}` : "5-minute load",
      unit: "",
      moments: Float64Array.from(columns, (column) => ((column + 0.5) / max.length) * axis.span_ns),
      values: columns.map((column) => max[column]),
      series: series.filter(({ key }) => key.host === host),
    };
  });
  for (const one of series.filter((candidate) => !isDuration(candidate) && candidate.values.value.length > 0)) {
    found.push({
      title: one.name,
      unit: one.unit,
      moments: momentsOf(one.values.time_steps, axis.time_unit_ns),
      values: one.values.value,
      series: [one],
    });
  }
  return found;
}

function trackPanel({ title, unit, moments, values, series }: Track, figures: HistoryFigures, view: View): PanelContent {
  let [low, high] = [0, 0];
  for (let index = 0; index < values.length; index += 1) {
    low = Math.min(low, values[index]);
    high = Math.max(high, values[index]);
  }
  const all = backdropOf(figures, series);
  const backdrop = { ...all, events: [], rows: { events: null, outages: null, hangs: null, count: 0 } };
  // Where nothing was measured for long, nothing is drawn.
  const silence = 6 * usualStep(moments);
  return {
    title: unit === "" ? title : `${title} (${unit})`,
    description: `${title} over time.`,
    height: 150,
    x: timeAxis(figures, view),
    y: linear(low, high === low ? low + 1 : high * 1.05, "", numberTick),
    zoom: "x",
    draw(plot: Plot) {
      drawSpans(plot, backdrop, plot.top);
      const { ctx } = plot;
      plot.clipped(() => {
        ctx.strokeStyle = ctx.fillStyle = colourOf(0);
        ctx.lineWidth = 1.3;
        ctx.beginPath();
        const first = Math.max(0, placeOf(moments, plot.xScale.min) - 1);
        for (let index = first; index < moments.length; index += 1) {
          const [x, y] = [plot.x(moments[index]), plot.y(values[index])];
          if (index === first || moments[index] - moments[index - 1] > silence) {
            ctx.moveTo(x, y);
            ctx.fillRect(x - 1, y - 1, 2, 2);
          } else ctx.lineTo(x, y);
          if (moments[index] > plot.xScale.max) break;
        }
        ctx.stroke();
      });
    },
    tip(plot, px, py): Tip | null {
      if (px < plot.left || px > plot.right) return null;
      const moment = plot.xScale.value((px - plot.left) / plot.width);
      const after = placeOf(moments, moment);
      const nearest = after > 0 && (after >= moments.length || moment - moments[after - 1] < moments[after] - moment) ? after - 1 : after;
      if (nearest >= moments.length || Math.abs(plot.x(moments[nearest]) - px) > 12) return backdropTip(plot, backdrop, px, py, plot.top);
      return {
        x: plot.x(moments[nearest]),
        y: plot.y(values[nearest]),
        title: `${Number(values[nearest].toPrecision(4))} ${unit}`.trim(),
        lines: [["when", momentText(figures.axis.begin_ns + moments[nearest])]],
      };
    },
  };
}

function usualStep(moments: Float64Array): number {
  const steps = Array.from({ length: Math.max(0, moments.length - 1) }, (_, index) => moments[index + 1] - moments[index]);
  steps.sort((left, right) => left - right);
  return steps[Math.floor(steps.length / 2)] ?? 0;
}
