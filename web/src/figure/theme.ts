// Colours and shapes. Series differ in colour (Okabe and Ito 2008), in shape and in dash: never in colour alone.

export interface Theme {
  paper: string;
  ink: string;
  faint: string;
  grid: string;
  strong: string;
  serious: string;
  series: string[];
  /** From few to many. */
  ramp: [number, number, number][];
}

const LIGHT: Theme = {
  paper: "#ffffff",
  ink: "#1c2430",
  faint: "#5b6675",
  grid: "#e6e9ee",
  strong: "#aab3c0",
  serious: "#b3261e",
  // Also those of `iolag plot`: PALETTE in crates/iolag-report/src/figure/drawings/palette.rs.
  series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#3aa0dc", "#4b5563", "#7a4fbf"],
  // Cividis-like: readable with every kind of colour vision, and in grey.
  ramp: [[232, 238, 246], [158, 190, 222], [86, 140, 190], [34, 88, 150], [8, 38, 90]],
};

const DARK: Theme = {
  paper: "#161b22",
  ink: "#e4e8ee",
  faint: "#9aa5b4",
  grid: "#262d38",
  strong: "#566173",
  serious: "#ff8a7a",
  series: ["#56b4e9", "#f08a3c", "#2fc79a", "#e39cc6", "#f0e442", "#8ab8ff", "#c3cad4", "#b79cf2"],
  ramp: [[30, 42, 60], [34, 82, 132], [66, 140, 190], [150, 200, 226], [244, 250, 255]],
};

export const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "plus", "down", "ring"] as const;
export type Shape = (typeof SHAPES)[number];

const DASHES: number[][] = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2], [1, 2], [6, 2, 1, 2, 1, 2]];

let printing = false;

/** On paper everything is light. */
export function setPrinting(value: boolean): void {
  printing = value;
}

export function theme(): Theme {
  return !printing && matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT;
}

export const colourOf = (index: number): string => {
  const colours = theme().series;
  return colours[index % colours.length];
};
export const shapeOf = (index: number): Shape => SHAPES[(index + Math.floor(index / SHAPES.length)) % SHAPES.length];
export const dashOf = (index: number): number[] => DASHES[index % DASHES.length];

export function rgb(hex: string): [number, number, number] {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Colour of a share 0 to 1 on the ramp. */
export function ramp(part: number): [number, number, number] {
  const stops = theme().ramp;
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const index = Math.min(Math.floor(at), stops.length - 2);
  const rest = at - index;
  const mix = (channel: number): number =>
    Math.round(stops[index][channel] * (1 - rest) + stops[index + 1][channel] * rest);
  return [mix(0), mix(1), mix(2)];
}

/** A mark of a series, centred. */
export function drawShape(ctx: CanvasRenderingContext2D, shape: Shape, x: number, y: number, size: number): void {
  const r = size / 2;
  ctx.beginPath();
  switch (shape) {
    case "circle":
    case "ring":
      ctx.arc(x, y, r, 0, 2 * Math.PI);
      break;
    case "square":
      ctx.rect(x - r * 0.9, y - r * 0.9, 1.8 * r, 1.8 * r);
      break;
    case "triangle":
      ctx.moveTo(x, y - r * 1.1);
      ctx.lineTo(x + r * 1.1, y + r * 0.9);
      ctx.lineTo(x - r * 1.1, y + r * 0.9);
      ctx.closePath();
      break;
    case "down":
      ctx.moveTo(x, y + r * 1.1);
      ctx.lineTo(x + r * 1.1, y - r * 0.9);
      ctx.lineTo(x - r * 1.1, y - r * 0.9);
      ctx.closePath();
      break;
    case "diamond":
      ctx.moveTo(x, y - 1.2 * r);
      ctx.lineTo(x + 1.2 * r, y);
      ctx.lineTo(x, y + 1.2 * r);
      ctx.lineTo(x - 1.2 * r, y);
      ctx.closePath();
      break;
    case "cross":
      ctx.moveTo(x - r, y - r);
      ctx.lineTo(x + r, y + r);
      ctx.moveTo(x + r, y - r);
      ctx.lineTo(x - r, y + r);
      break;
    case "plus":
      ctx.moveTo(x - r, y);
      ctx.lineTo(x + r, y);
      ctx.moveTo(x, y - r);
      ctx.lineTo(x, y + r);
      break;
  }
  if (shape === "cross" || shape === "plus" || shape === "ring") ctx.stroke();
  else ctx.fill();
}
