// One canvas with its axes: grid, labels, tooltip, zoom by dragging, and the same by keyboard.
//
// What stands inside the axes is drawn by a PanelContent. The canvas is redrawn as a whole; cross-hair, selection and
// tooltip are elements above it, so that moving the pointer never redraws a million points.

import { element } from "../page/dom";
import type { Scale } from "./scale";
import { theme } from "./theme";

export interface Tip {
  /** Place in CSS pixels of the canvas. */
  x: number;
  y: number;
  title: string;
  /** Names and values. */
  lines: [string, string][];
}

export interface PanelContent {
  title: string;
  /** What a screen reader says. */
  description: string;
  height: number;
  x: Scale;
  y: Scale;
  /** Room in CSS pixels above the axes, for marks. */
  roomAbove?: number;
  /** Least room in CSS pixels left of the axes, for names of rows. */
  roomLeft?: number;
  /** Whether ranges of x may be zoomed into. */
  zoom: "x" | "none";
  draw(plot: Plot): void;
  tip?(plot: Plot, x: number, y: number): Tip | null;
}

/** The inside of the axes, in CSS pixels. */
export class Plot {
  constructor(
    readonly ctx: CanvasRenderingContext2D,
    readonly left: number,
    readonly top: number,
    readonly right: number,
    readonly bottom: number,
    readonly ratio: number,
    readonly xScale: Scale,
    readonly yScale: Scale,
  ) {}

  get width(): number {
    return this.right - this.left;
  }
  get height(): number {
    return this.bottom - this.top;
  }
  x(value: number): number {
    return this.left + this.xScale.place(value) * this.width;
  }
  y(value: number): number {
    return this.bottom - this.yScale.place(value) * this.height;
  }
  /** Draws pixels of its own; device pixels, row by row, ABGR words. */
  pixels(paint: (words: Uint32Array, width: number, height: number) => void): void {
    const width = Math.max(1, Math.round(this.width * this.ratio));
    const height = Math.max(1, Math.round(this.height * this.ratio));
    const layer = document.createElement("canvas");
    layer.width = width;
    layer.height = height;
    const ctx = layer.getContext("2d");
    if (ctx === null) return;
    const image = ctx.createImageData(width, height);
    paint(new Uint32Array(image.data.buffer), width, height);
    ctx.putImageData(image, 0, 0);
    this.ctx.drawImage(layer, this.left, this.top, this.width, this.height);
  }
  clipped(paint: () => void): void {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(this.left, this.top, this.width, this.height);
    this.ctx.clip();
    paint();
    this.ctx.restore();
  }
}

export const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const STEP_PX = 8;

export class Panel {
  readonly root: HTMLElement;
  private readonly heading = element("h4", { class: "panel-title" });
  private readonly canvas = element("canvas", { tabindex: "0", role: "img" });
  private readonly line = element("div", { class: "cross", hidden: "" });
  private readonly selection = element("div", { class: "selection", hidden: "" });
  private readonly tip = element("div", { class: "tip", role: "status", hidden: "" });
  private content: PanelContent | null = null;
  private plot: Plot | null = null;
  private dragFrom: number | null = null;
  private cursor: { x: number; y: number } | null = null;

  constructor(private readonly onZoom: (range: [number, number] | null) => void) {
    const stage = element("div", { class: "stage" }, this.canvas, this.line, this.selection, this.tip);
    this.root = element("div", { class: "panel" }, this.heading, stage);
    this.listen();
  }

  show(content: PanelContent): void {
    this.content = content;
    this.heading.textContent = content.title;
    this.heading.hidden = content.title === "";
    this.canvas.setAttribute("aria-label", content.description);
    this.canvas.classList.toggle("zoomable", content.zoom === "x");
    this.hideTip();
    this.draw();
  }

  /** Draws what was shown last, at the present width and in the present theme. */
  draw(): void {
    const content = this.content;
    const ctx = this.canvas.getContext("2d");
    const stage = this.canvas.parentElement;
    if (content === null || ctx === null || stage === null) return;
    const width = Math.max(240, Math.floor(stage.clientWidth));
    const ratio = Math.min(Math.max(window.devicePixelRatio || 1, 1), 2);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(content.height * ratio);
    this.canvas.style.height = `${content.height}px`;
    this.canvas.style.width = `${width}px`;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.font = FONT;
    this.plot = layOut(ctx, content, width, ratio);
    ctx.fillStyle = theme().paper;
    ctx.fillRect(0, 0, width, content.height);
    drawAxes(this.plot);
    content.draw(this.plot);
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.moved(event.offsetX, event.offsetY));
    canvas.addEventListener("pointerleave", () => this.hideTip());
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || this.content?.zoom !== "x") return;
      this.dragFrom = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => this.released(event.offsetX));
    canvas.addEventListener("pointercancel", () => this.released(null));
    canvas.addEventListener("dblclick", () => this.onZoom(null));
    canvas.addEventListener("keydown", (event) => {
      if (this.key(event)) event.preventDefault();
    });
    canvas.addEventListener("blur", () => this.hideTip());
  }

  private moved(x: number, y: number): void {
    this.cursor = { x, y };
    if (this.dragFrom !== null && this.plot !== null) {
      const { plot, dragFrom } = this;
      const from = clamp(Math.min(x, dragFrom), plot.left, plot.right);
      const to = clamp(Math.max(x, dragFrom), plot.left, plot.right);
      this.selection.hidden = false;
      place(this.selection, from, plot.top, to - from, plot.height);
    }
    this.inspect(x, y);
  }

  private released(x: number | null): void {
    const { plot, dragFrom } = this;
    this.dragFrom = null;
    this.selection.hidden = true;
    if (plot === null || dragFrom === null || x === null || Math.abs(x - dragFrom) < 6) return;
    const value = (px: number): number => plot.xScale.value(clamp((px - plot.left) / plot.width, 0, 1));
    this.onZoom([value(Math.min(x, dragFrom)), value(Math.max(x, dragFrom))]);
  }

  private key(event: KeyboardEvent): boolean {
    const { plot, content } = this;
    if (plot === null || content === null) return false;
    const step = event.shiftKey ? 6 * STEP_PX : STEP_PX;
    const at = this.cursor ?? { x: (plot.left + plot.right) / 2, y: (plot.top + plot.bottom) / 2 };
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, -step],
      ArrowDown: [0, step],
    };
    const move = moves[event.key];
    if (move !== undefined) {
      const x = clamp(at.x + move[0], plot.left, plot.right);
      const y = clamp(at.y + move[1], plot.top - (content.roomAbove ?? 0), plot.bottom);
      this.cursor = { x, y };
      this.inspect(x, y);
      return true;
    }
    if (event.key === "Escape") {
      this.hideTip();
      return true;
    }
    if (content.zoom !== "x") return false;
    const centre = (at.x - plot.left) / plot.width;
    const zoom = (factor: number): boolean => {
      this.onZoom([plot.xScale.value(centre - factor * centre), plot.xScale.value(centre + factor * (1 - centre))]);
      return true;
    };
    if (event.key === "+" || event.key === "=") return zoom(0.5);
    if (event.key === "-") return zoom(2);
    if (event.key === "0") {
      this.onZoom(null);
      return true;
    }
    return false;
  }

  private inspect(x: number, y: number): void {
    const { plot, content } = this;
    const tip = plot === null || content === null ? null : (content.tip?.(plot, x, y) ?? null);
    if (tip === null || plot === null) {
      this.hideTip();
      return;
    }
    this.line.hidden = false;
    place(this.line, tip.x, plot.top, 0, plot.height);
    this.tip.replaceChildren(
      element("strong", {}, tip.title),
      ...tip.lines.map(([name, value]) =>
        element("div", {}, element("span", {}, name), element("b", {}, value)),
      ),
    );
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    const height = this.tip.offsetHeight;
    const beside = tip.x + 14 + width > this.canvas.clientWidth ? tip.x - width - 14 : tip.x + 14;
    this.tip.style.left = `${Math.max(0, Math.min(beside, this.canvas.clientWidth - width))}px`;
    this.tip.style.top = `${clamp(tip.y - height / 2, 0, Math.max(0, this.canvas.clientHeight - height))}px`;
  }

  private hideTip(): void {
    this.tip.hidden = true;
    this.line.hidden = true;
  }
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

function place(box: HTMLElement, left: number, top: number, width: number, height: number): void {
  Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
}

function layOut(ctx: CanvasRenderingContext2D, content: PanelContent, width: number, ratio: number): Plot {
  const top = 10 + (content.roomAbove ?? 0) + (content.y.label === "" ? 0 : 16);
  const bottom = content.height - (content.x.label === "" ? 24 : 40);
  const labels = content.y.ticks(yRoom(bottom - top)).map((tick) => ctx.measureText(tick.label).width);
  const left = Math.min(Math.ceil(Math.max(26, (content.roomLeft ?? 0) - 10, ...labels)) + 10, Math.floor(width * 0.42));
  return new Plot(ctx, left, top, width - 14, bottom, ratio, content.x, content.y);
}

const yRoom = (height: number): number => Math.max(2, Math.floor(height / 26));

function drawAxes(plot: Plot): void {
  const { ctx, left, right, top, bottom } = plot;
  const { grid, faint, strong, ink } = theme();
  ctx.lineWidth = 1;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  const crisp = (value: number): number => Math.round(value) + 0.5;
  let free = Infinity;
  const yTicks = plot.yScale.ticks(yRoom(plot.height)).map((tick) => ({ tick, y: plot.y(tick.value) }));
  const strongAt = yTicks.filter(({ tick }) => tick.strong).map(({ y }) => y);
  for (const { tick, y } of yTicks) {
    if (y < top - 1 || y > bottom + 1) continue;
    ctx.strokeStyle = tick.strong ? strong : grid;
    line(ctx, left, crisp(y), right, crisp(y));
    const isCrowded = free - y < 13 || (!tick.strong && strongAt.some((other) => Math.abs(other - y) < 13));
    if (isCrowded) continue;
    free = y;
    ctx.fillStyle = tick.strong ? ink : faint;
    ctx.fillText(shortened(ctx, tick.label, left - 8), left - 6, y);
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  let end = -Infinity;
  for (const tick of plot.xScale.ticks(Math.max(2, Math.floor(plot.width / 70)))) {
    const x = plot.x(tick.value);
    if (x < left - 1 || x > right + 1) continue;
    ctx.strokeStyle = tick.strong ? strong : grid;
    line(ctx, crisp(x), top, crisp(x), bottom);
    const half = ctx.measureText(tick.label).width / 2;
    const at = clamp(x, half, right + 14 - half);
    if (at - half < end + 8) continue;
    end = at + half;
    ctx.fillStyle = tick.strong ? ink : faint;
    ctx.fillText(tick.label, at, bottom + 6);
  }
  ctx.strokeStyle = strong;
  line(ctx, left, crisp(bottom), right, crisp(bottom));
  ctx.fillStyle = faint;
  ctx.textAlign = "right";
  if (plot.xScale.label !== "") ctx.fillText(plot.xScale.label, right, bottom + 23);
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  if (plot.yScale.label !== "") ctx.fillText(plot.yScale.label, 0, 12);
}

export function line(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

/** A text that fits, its middle left out. */
export function shortened(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  if (ctx.measureText(text).width <= width) return text;
  let keep = text.length - 1;
  while (keep > 2) {
    const half = keep / 2;
    const short = `${text.slice(0, Math.ceil(half))}…${text.slice(text.length - Math.floor(half))}`;
    if (ctx.measureText(short).width <= width) return short;
    keep -= 1;
  }
  return text.slice(0, 1);
}
