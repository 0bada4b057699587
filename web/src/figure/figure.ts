// A figure: heading, legend whose entries switch series off, panels, and a caption that says what stands behind it.
//
// Drawn when it comes near the window, or when the page is printed.

import { button, element } from "../page/dom";
import { Panel, type PanelContent } from "./panel";
import { colourOf, dashOf, drawShape, shapeOf, theme } from "./theme";

export interface LegendEntry {
  key: string;
  name: string;
  /** Index of colour, shape and dash. */
  style: number;
  /** What stands for the series in the figure. */
  mark: "point" | "line" | "box";
}

export interface View {
  hidden: ReadonlySet<string>;
  zoom: [number, number] | null;
}

export interface FigureContent {
  legend: LegendEntry[];
  panels(view: View): PanelContent[];
  caption(view: View): string;
  /** Least width of a panel in CSS pixels; as many stand side by side as fit. */
  panelWidth: number;
}

export class Figure {
  readonly root: HTMLElement;
  private readonly legend = element("div", { class: "legend", role: "group", "aria-label": "Series" });
  private readonly panelHost = element("div", { class: "panels" });
  private readonly caption = element("figcaption");
  private readonly reset = button("Whole range", () => this.zoomTo(null));
  private readonly hidden = new Set<string>();
  private zoom: [number, number] | null = null;
  private panels: Panel[] = [];
  private content: FigureContent | null = null;
  private isNear = false;
  private isDrawn = false;

  constructor(
    readonly id: string,
    title: string,
    private readonly make: () => FigureContent | null,
  ) {
    this.reset.hidden = true;
    const head = element("div", { class: "figure-head" }, element("h3", { id: `${id}-title` }, title), this.reset);
    this.root = element("figure", { id, "aria-labelledby": `${id}-title` }, head, this.legend, this.panelHost, this.caption);
  }

  /** Its content has changed, for example because another kind of operation is to be shown. */
  refresh(): void {
    this.zoom = null;
    this.reset.hidden = true;
    this.hidden.clear();
    this.update();
  }

  /** Its content has grown: what was zoomed to and switched off stays so. */
  update(): void {
    this.content = this.make();
    this.root.hidden = this.content === null;
    this.isDrawn = false;
    if (this.content === null) return;
    const contents = this.content.panels(this.view());
    const height = contents.reduce((sum, one) => Math.max(sum, one.height), 0);
    this.panelHost.style.setProperty("--panel-width", `${this.content.panelWidth}px`);
    this.panelHost.classList.toggle("wide", this.content.panelWidth >= 600);
    this.panelHost.style.minHeight = `${height}px`;
    this.caption.textContent = this.content.caption(this.view());
    this.showLegend();
    if (this.isNear) this.draw();
  }

  /** Draws now if it has not been drawn. */
  come(): void {
    this.isNear = true;
    if (!this.isDrawn) this.draw();
  }

  /** Draws again if it was drawn: another width or theme. */
  repaint(): void {
    if (!this.isDrawn) return;
    this.panels.forEach((panel) => panel.draw());
    this.showLegend();
  }

  private view(): View {
    return { hidden: this.hidden, zoom: this.zoom };
  }

  private draw(): void {
    const { content } = this;
    if (content === null) return;
    const contents = content.panels(this.view());
    while (this.panels.length < contents.length) {
      const panel = new Panel((range) => this.zoomTo(range));
      this.panels.push(panel);
      this.panelHost.append(panel.root);
    }
    for (const panel of this.panels.splice(contents.length)) panel.root.remove();
    contents.forEach((one, index) => this.panels[index].show(one));
    this.caption.textContent = content.caption(this.view());
    this.isDrawn = true;
    this.root.dataset.drawn = "true";
  }

  private zoomTo(range: [number, number] | null): void {
    if (range === null && this.zoom === null) return;
    this.zoom = range;
    this.reset.hidden = range === null;
    this.draw();
  }

  private showLegend(): void {
    const { content, legend } = this;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
    const entries = content?.legend ?? [];
    legend.hidden = entries.length < 2;
    legend.replaceChildren(...entries.map((entry) => this.entry(entry)));
    if (focused !== undefined) {
      [...legend.querySelectorAll("button")].find((candidate) => candidate.dataset.key === focused)?.focus();
    }
  }

  private entry(entry: LegendEntry): HTMLElement {
    const isShown = !this.hidden.has(entry.key);
    const made = button("", () => this.toggle(entry.key), "series");
    made.append(swatch(entry), element("span", {}, entry.name));
    made.setAttribute("aria-pressed", String(isShown));
    made.title = isShown ? `Hide ${entry.name}` : `Show ${entry.name}`;
    made.dataset.key = entry.key;
    return made;
  }

  private toggle(key: string): void {
    if (!this.hidden.delete(key)) this.hidden.add(key);
    this.showLegend();
    this.draw();
  }
}

function swatch(entry: LegendEntry): HTMLCanvasElement {
  const made = element("canvas", { width: "44", height: "24", class: "swatch", "aria-hidden": "true" });
  const ctx = made.getContext("2d");
  if (ctx === null) return made;
  ctx.scale(2, 2);
  ctx.fillStyle = ctx.strokeStyle = colourOf(entry.style);
  ctx.lineWidth = 2;
  if (entry.mark === "line") {
    ctx.setLineDash(dashOf(entry.style));
    ctx.beginPath();
    ctx.moveTo(0, 6);
    ctx.lineTo(22, 6);
    ctx.stroke();
  } else if (entry.mark === "box") {
    ctx.fillRect(4, 1, 14, 10);
    ctx.fillStyle = theme().paper;
    ctx.fillRect(10, 1, 1.5, 10);
  } else {
    drawShape(ctx, shapeOf(entry.style), 11, 6, 9);
  }
  return made;
}
