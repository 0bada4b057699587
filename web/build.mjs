// Bundles the scripts and styles of the report on runs and of the report on a history into dist/, which is committed: Node is needed
// only to change them. The policies hold the Content-Security-Policy that lets exactly one script and one style run, and nothing load.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const banner = "/*! iolag, MIT OR Apache-2.0. No third-party code in this page. */";
mkdirSync("dist", { recursive: true });
await build({
  entryPoints: [
    { in: "src/run/main.ts", out: "report" },
    { in: "src/page/style.css", out: "report" },
    { in: "src/history/main.ts", out: "history" },
    { in: "src/history/history.css", out: "history" },
  ],
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
const policy = (page, ...more) =>
  [
    "default-src 'none'",
    `script-src ${hash(`dist/${page}.js`)}`,
    `style-src ${hash(`dist/${page}.css`)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    ...more,
  ].join("; ");
writeFileSync("dist/policy.txt", policy("report"));
writeFileSync("dist/history-policy.txt", policy("history"));
// The page of a server may ask that server for news.
writeFileSync("dist/history-live-policy.txt", policy("history", "connect-src 'self'"));
