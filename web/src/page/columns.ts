// Columns of numbers: from the compressed bytes that stand beside the data of a page to their place in it.

import type { ListedColumn } from "../generated/run";

export type Column = Uint8Array | Uint16Array | Uint32Array | Float32Array;

/** The bytes that were packed by gzip and written in base64. */
export async function decompressed(base64: string): Promise<ArrayBuffer> {
  const stream = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Every machine that runs a browser is little endian, as the columns are. */
export function typed(column: Omit<ListedColumn, "element">, buffer: ArrayBuffer): Column {
  const kinds = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array };
  const values = new kinds[column.kind](buffer);
  if (values.length !== column.length) {
    throw new Error(`column ${column.pointer} has ${values.length} numbers instead of ${column.length}`);
  }
  return values;
}

/** Puts a value at a JSON pointer. */
export function put(root: unknown, pointer: string, value: Column): void {
  const keys = pointer.split("/").slice(1);
  const last = keys.pop();
  let place = root as Record<string, unknown>;
  for (const key of keys) place = place[key] as Record<string, unknown>;
  if (last !== undefined) place[last] = value;
}
