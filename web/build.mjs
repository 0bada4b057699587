// Bundles the report's script and style into dist/, which is committed: Node is needed only to change them.
// dist/policy.txt holds the Content-Security-Policy that lets exactly these two run, and nothing load.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const banner = "/*! iolag, MIT OR Apache-2.0. No third-party code in this page. */";
mkdirSync("dist", { recursive: true });
await build({
  entryPoints: [{ in: "src/main.ts", out: "report" }, { in: "src/style.css", out: "report" }],
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome100", "firefox113", "safari16.4"],
  charset: "ascii",
  legalComments: "none",
  banner: { js: banner, css: banner },
});

const hash = (file) => {
  const text = readFileSync(file, "utf8");
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${file} cannot be embedded in HTML: it ends its own element`);
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
};
const policy = [
  "default-src 'none'",
  `script-src ${hash("dist/report.js")}`,
  `style-src ${hash("dist/report.css")}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
writeFileSync("dist/policy.txt", policy);
