// Everything against everything: coefficients as a triangle of colours, and how they depend on a lag.

import type { FigureContent } from "../figure/figure";
import { count, duration } from "../page/format";
import { line, shortened, type PanelContent, type Plot, type Tip } from "../figure/panel";
import { band, linear } from "../figure/scale";
import { colourOf, theme } from "../figure/theme";
import type { HistoryFigures, PairCell } from "../generated/history";
import type { State } from "./arrangement";
import { upsideDown } from "./days";

/** Pairs whose lags are shown. */
const LAGS_MOST = 9;
const ROW_PX = 26;
/** Above this size of the matrix numbers do not fit into fields. */
const NUMBERED_MOST = 14;

export function correlationMatrix({ document }: State): FigureContent | null {
  const { correlations } = document.figures;
  const { names, pairs } = correlations;
  if (pairs.length < 2) return null;
  return {
    legend: [],
    panelWidth: 720,
    caption: () =>
      `Coefficients of every two variables, orange where both are slow together and blue where one is fast when the other is slow; ` +
      `grey numbers may well be chance (p above ${correlations.significance} for all pairs together). Columns have the numbers of rows.`,
    panels: () => [matrixPanel(correlations, names)],
  };
}

function matrixPanel({ pairs }: HistoryFigures["correlations"], names: string[]): PanelContent {
  const rows = names.map((name, index) => `${name}  ${index + 1}`);
  const cells = new Map<string, PairCell>();
  // A host's load was read with each series: the cell of a pair of names is the one that is there.
  for (const pair of pairs) cells.set(`${Math.max(pair.left, pair.right)}/${Math.min(pair.left, pair.right)}`, pair);
  const y = upsideDown(band(rows));
  return {
    title: "",
    description: `Correlations of ${names.length} variables.`,
    height: Math.max(140, names.length * ROW_PX + 40),
    x: band(names.map((_, index) => String(index + 1))),
    y,
    zoom: "none",
    draw(plot) {
      const { ctx } = plot;
      const [width, height] = [plot.width / names.length, plot.height / names.length];
      // Lines of the axes mean nothing between names.
      ctx.fillStyle = theme().paper;
      ctx.fillRect(plot.left, plot.top, plot.width, plot.height);
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      for (let row = 0; row < names.length; row += 1) {
        for (let column = 0; column < row; column += 1) {
          const cell = cells.get(`${row}/${column}`);
          if (cell === undefined) continue;
          const [left, top] = [plot.left + column * width, plot.top + row * height];
          ctx.fillStyle = cell.coefficient > 0 ? colourOf(1) : colourOf(0);
          ctx.globalAlpha = Math.min(1, Math.abs(cell.coefficient)) * (cell.is_significant ? 0.85 : 0.25);
          ctx.fillRect(left + 1, top + 1, width - 2, height - 2);
          ctx.globalAlpha = 1;
          if (names.length > NUMBERED_MOST && width < 34) continue;
          ctx.fillStyle = cell.is_significant ? theme().ink : theme().faint;
          ctx.fillText(shortened(ctx, coefficientText(cell.coefficient), width - 4), left + width / 2, top + height / 2);
        }
      }
    },
    tip(plot, px, py) {
      const row = Math.floor(((py - plot.top) / plot.height) * names.length);
      const column = Math.floor(((px - plot.left) / plot.width) * names.length);
      const cell = cells.get(`${row}/${column}`);
      return cell === undefined || row <= column ? null : pairTip(cell, names, px, py);
    },
  };
}

/** Two digits, and no minus before nothing. */
const coefficientText = (value: number): string => value.toFixed(2).replace(/^-(0\.00)$/, "$1");

function pairTip(cell: PairCell, names: string[], x: number, y: number): Tip {
  const lines: [string, string][] = [
    ["coefficient", `${cell.coefficient.toFixed(3)} (${cell.strength === "none" ? "no" : cell.strength} correlation)`],
    ["p, adjusted", cell.p_adjusted < 0.001 ? "< 0.001" : cell.p_adjusted.toFixed(3)],
    ["samples", `${count(cell.pairs)}, worth ${count(cell.pairs_effective)}`],
  ];
  if (cell.best_slots !== 0) {
    const apart = duration(Math.abs(cell.best_slots) * cell.slot_ns);
    lines.push(["strongest with", `the second ${apart} ${cell.best_slots > 0 ? "later" : "earlier"}`]);
  }
  return { x, y, title: `${names[cell.left]} & ${names[cell.right]}`, lines };
}

export function lags({ document }: State): FigureContent | null {
  const { names, pairs } = document.figures.correlations;
  const strength = (pair: PairCell): number => Math.max(...pair.lags.map(({ coefficient }) => Math.abs(coefficient)));
  const told = pairs
    .filter((pair) => pair.lags.length > 2 && (pair.is_significant || strength(pair) > 0.3))
    .sort((left, right) => strength(right) - strength(left))
    .slice(0, LAGS_MOST);
  if (told.length === 0) return null;
  return {
    legend: [],
    panelWidth: 300,
    caption: () =>
      "Coefficients if the second series is taken earlier (left) or later (right): a peak beside the middle means that one follows the " +
      `other. The ${told.length === 1 ? "pair" : `${told.length} pairs`} that go together most.`,
    panels: () => told.map((pair) => lagPanel(pair, names)),
  };
}

function lagPanel(pair: PairCell, names: string[]): PanelContent {
  const most = Math.max(...pair.lags.map(({ slots }) => Math.abs(slots)));
  const low = Math.min(0, ...pair.lags.map(({ coefficient }) => coefficient));
  const high = Math.max(0.3, ...pair.lags.map(({ coefficient }) => coefficient));
  const slots = linear(-most - 0.5, most + 0.5);
  return {
    title: `${names[pair.left]} & ${names[pair.right]}`,
    description: `Correlation by lag of ${names[pair.left]} and ${names[pair.right]}.`,
    height: 150,
    x: { ...slots, ticks: () => [-most, 0, most].map((value) => ({ value, label: value === 0 ? "0" : signed(value, pair.slot_ns) })) },
    y: linear(low < 0 ? low - 0.05 : 0, Math.min(1, high + 0.05), "", (value) => value.toFixed(1)),
    zoom: "none",
    draw(plot: Plot) {
      const { ctx } = plot;
      for (const { slots: at, coefficient } of pair.lags) {
        const [left, right] = [plot.x(at - 0.32), plot.x(at + 0.32)];
        ctx.fillStyle = coefficient > 0 ? colourOf(1) : colourOf(0);
        ctx.globalAlpha = at === pair.best_slots ? 1 : 0.45;
        ctx.fillRect(left, Math.min(plot.y(0), plot.y(coefficient)), right - left, Math.abs(plot.y(coefficient) - plot.y(0)));
      }
      ctx.globalAlpha = 1;
      ctx.strokeStyle = theme().strong;
      line(ctx, plot.left, plot.y(0), plot.right, plot.y(0));
    },
    tip(plot, px, py) {
      const slot = Math.round(plot.xScale.value((px - plot.left) / plot.width));
      const found = pair.lags.find(({ slots: at }) => at === slot);
      if (found === undefined) return null;
      const when = slot === 0 ? "at the same time" : `second ${duration(Math.abs(slot) * pair.slot_ns)} ${slot > 0 ? "later" : "earlier"}`;
      return { x: plot.x(slot), y: py, title: when, lines: [["coefficient", found.coefficient.toFixed(3)]] };
    },
  };
}

const signed = (slots: number, slotNs: number): string => `${slots > 0 ? "+" : "−"}${duration(Math.abs(slots) * slotNs)}`;
