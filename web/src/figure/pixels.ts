// Colours over each other, pixel by pixel.

/** Half of the new colour over what is there; alpha grows with every point. */
export function blend(words: Uint32Array, at: number, red: number, green: number, blue: number): void {
  const old = words[at];
  if (old === 0) {
    words[at] = ((178 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    return;
  }
  const alpha = 255 - ((255 - (old >>> 24)) >> 1);
  const r = ((old & 255) + red) >> 1;
  const g = (((old >> 8) & 255) + green) >> 1;
  const b = (((old >> 16) & 255) + blue) >> 1;
  words[at] = ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** A colour with alpha over what is there. */
export function over(words: Uint32Array, at: number, red: number, green: number, blue: number, alpha: number): void {
  const old = words[at];
  const oldAlpha = old >>> 24;
  const part = alpha / 255;
  const rest = (1 - part) * (oldAlpha / 255);
  const sum = part + rest;
  const mix = (mine: number, theirs: number): number => Math.round((mine * part + theirs * rest) / sum);
  const r = mix(red, old & 255);
  const g = mix(green, (old >> 8) & 255);
  const b = mix(blue, (old >> 16) & 255);
  words[at] = ((Math.round(sum * 255) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
