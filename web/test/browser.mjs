// Chromium with a page of a report, for the tests.
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Where `cargo run -p iolag-report --example write_report -- DIR` has put the sample reports. */
export const reports = process.env.IOLAG_REPORTS ?? "../artefacts/reports";
const artefacts = process.env.IOLAG_ARTEFACTS ?? "../artefacts/screenshots";

/** Why no browser can be started here, or null. */
export const missingBrowser = () => (existsSync(EXECUTABLE) ? null : `there is no browser at ${EXECUTABLE}`);

/** Why the tests cannot run here, or null. */
export function missing() {
  if (missingBrowser() !== null) return missingBrowser();
  if (!existsSync(join(reports, "check.html"))) return `there are no sample reports in ${reports}`;
  return null;
}

/** The one test that is asked for; "?" asks for the names of all, and nothing for all of them. */
const wanted = process.env.IOLAG_TEST;

/**
 * The tests of a program, which say why they do not run instead of failing or passing silently. `why` is the reason, or null. `begin`
 * and `end` come before and after all of them.
 */
export function program(why, begin, end) {
  const runs = why === null && wanted !== "?";
  before(async () => {
    if (runs) await begin();
  });
  after(async () => {
    if (runs) await end();
  });
  return (name, body) => {
    if (wanted === "?") console.log(`test: ${name}`);
    else if (wanted === undefined || wanted === name) test(name, () => (why === null ? body() : skip(name, why)));
  };
}

function skip(name, why) {
  const line = `SKIPPED ${name}: ${why}\n`;
  process.stdout.write(line);
  if (process.env.IOLAG_SKIPPED !== undefined) appendFileSync(process.env.IOLAG_SKIPPED, line);
}

/** How long, in ms, a busy machine may take for one step. */
export const PATIENCE = 90_000;

export const launch = (more = []) => chromium.launch({ executablePath: EXECUTABLE, args: [...FLAGS, ...more], timeout: PATIENCE });

/** An empty page in a window of a desktop, in a context of its own. */
export async function newPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1180, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  return context.newPage();
}

/** A loaded report whose figures are ready, and what went wrong on the way. */
export async function open(browser, name, options = {}) {
  const opened = await openFile(browser, join(reports, `${name}.html`), options);
  if (options.javaScriptEnabled !== false) await opened.page.waitForSelector("html[data-ready]");
  return opened;
}

/** A loaded page, and what went wrong on the way: errors, dialogues, requests. */
export async function openFile(browser, path, options = {}) {
  const page = await newPage(browser, options);
  const troubles = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("dialog", (dialog) => {
    troubles.push(`dialogue: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) troubles.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(path).href);
  return { page, troubles, close: () => page.context().close() };
}

/** Scrolls so that every figure is drawn: nothing moves afterwards, from under a click for example. */
export async function drawAll(page) {
  await page.evaluate(async () => {
    for (const figure of document.querySelectorAll("figure:not([hidden])")) {
      figure.scrollIntoView();
      while (figure.dataset.drawn !== "true") await new Promise((done) => requestAnimationFrame(done));
    }
    scrollTo(0, 0);
  });
}

/** Number of colours of every canvas of figures, with what it shows. */
export const colours = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("figure:not([hidden]) .stage canvas")].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return { name: canvas.getAttribute("aria-label"), colours: new Set(new Uint32Array(data.buffer)).size };
    }),
  );

/** The pixels of the first figure as one number, to see whether it has changed. */
export const fingerprint = (page, figure) =>
  page.evaluate((id) => {
    const canvas = document.querySelector(`#${id} .stage canvas`);
    const words = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return words.reduce((hash, word) => Math.imul(hash ^ word, 16777619) >>> 0, 2166136261);
  }, figure);

export async function screenshot(page, name) {
  mkdirSync(artefacts, { recursive: true });
  await page.screenshot({ path: join(artefacts, `${name}.png`), fullPage: true });
}

export async function paper(page, name) {
  mkdirSync(artefacts, { recursive: true });
  return page.pdf({ path: join(artefacts, `${name}.pdf`), format: "A4", printBackground: true });
}

/** How many px of something are beside the window, where nothing lets it be moved. */
export const beyond = (page) =>
  page.evaluate(() => {
    const moves = (one) => one !== null && (getComputedStyle(one).overflowX === "auto" || moves(one.parentElement));
    const all = [...document.querySelectorAll("body *")].filter((one) => !moves(one));
    return Math.max(document.documentElement.scrollWidth, ...all.map((one) => one.getBoundingClientRect().right)) - innerWidth;
  });
