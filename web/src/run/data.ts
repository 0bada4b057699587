// The data of the report (docs/report-data.md): reads the JSON and puts the columns, which stand beside it as
// compressed bytes, where they belong.

import type { Document, Estimate, Figures, Proof } from "../generated/run";
import { decompressed, put, typed } from "../page/columns";

export interface Report {
  figures: Figures;
  runNames: string[];
  proof: Proof | null;
}

/** Reads everything that the page carries. */
export async function readReport(): Promise<Report> {
  const { figures, run_names, proof, columns } = JSON.parse(textOf("report-data")) as Document;
  await Promise.all(
    columns.map(async (column) => {
      put(figures, column.pointer, typed(column, await decompressed(textOf(column.element))));
    }),
  );
  return { figures, runNames: run_names, proof };
}

function textOf(id: string): string {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`this page has lost its part "${id}"`);
  const text = found.textContent ?? "";
  // The text of a column is not needed twice.
  if (id !== "report-data") found.textContent = "";
  return text;
}

/** The value of a quantile, or what it is at least, in ns. */
export function bound(quantile: Estimate): number | null {
  if ("exactly_ns" in quantile) return quantile.exactly_ns;
  return "at_least_ns" in quantile ? quantile.at_least_ns : null;
}

export const isAtLeast = (quantile: Estimate): boolean => "at_least_ns" in quantile;
export const TIME_UNITS = 2 ** 32;
