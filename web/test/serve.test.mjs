// `iolag serve` as people see it: the real program, a real watch with a probe that hangs, and a real browser.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";

import { PATIENCE, missingBrowser, launch, newPage, program, screenshot } from "./browser.mjs";

const PROGRAM = process.env.IOLAG_PROGRAM ?? "";
const why = missingBrowser() ?? (existsSync(PROGRAM) ? null : "IOLAG_PROGRAM names no iolag");
const HOSTILE = "/scratch <script>alert(1)</script>";

/** What is started for all tests of this file. */
const scene = {};

const served = program(why, begin, end);

async function begin() {
  scene.place = mkdtempSync(join(tmpdir(), "iolag-serve-"));
  scene.memory = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "iolag-serve-"));
  for (const directory of ["watched", "healthy"]) mkdirSync(join(scene.place, directory));
  const configuration = join(scene.place, "iolag.toml");
  writeFileSync(
    configuration,
    [
      'every = "400ms"\njitter = "0"',
      '[task.hangs]\ncommand = ["sleep", "600"]\nsoft-deadline = "100ms"\ndeadline = "1s"\nat-deadline = "wait"',
      `[[target]]\nname = ${JSON.stringify(HOSTILE)}\ndirectory = ${JSON.stringify(join(scene.place, "watched"))}\ntasks = ["stat", "hangs"]`,
      `[[target]]\nname = "/healthy"\ndirectory = ${JSON.stringify(join(scene.place, "healthy"))}\ntasks = ["stat"]`,
    ].join("\n"),
  );
  const places = ["--history", join(scene.place, "history.sqlite"), "--runtime", join(scene.memory, "run")];
  scene.watch = start(["watch", "-c", configuration, ...places]);
  scene.server = start(["serve", "--listen", "127.0.0.1:0", ...places]);
  scene.url = await said(scene.server, /serving (http:\/\/[^ ]+)/);
  scene.browser = await launch(["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
}

/** Each step is tried, whatever became of the others: what is not there any more is what is wanted. */
async function end() {
  const hanging = await inFlight().catch(() => []);
  await scene.browser?.close().catch(complain);
  // A watch leaves behind what hangs, for the next one to go on with.
  for (const group of hanging) {
    try {
      process.kill(-group, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") complain(error);
    }
  }
  await Promise.all([scene.server, scene.watch].map(ended));
  for (const place of [scene.place, scene.memory]) if (place !== undefined) rmSync(place, { recursive: true, force: true });
}

async function inFlight() {
  if (scene.url === undefined) return [];
  const status = await (await fetch(`${scene.url}status`, { signal: AbortSignal.timeout(PATIENCE) })).json();
  // Without a number, whoever is asked to kill a group kills its own.
  return (status?.in_flight ?? []).map((probe) => probe.process).filter((group) => group > 1);
}

/** Asks a program to end, and then does not ask. */
async function ended(child) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.on("exit", done));
  child.kill("SIGINT");
  const impatience = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
  await gone;
  clearTimeout(impatience);
}

const complain = (error) => console.error(`while cleaning up: ${error}`);

function start(words) {
  const child = spawn(PROGRAM, words, { stdio: ["ignore", "ignore", "pipe"] });
  child.text = "";
  child.stderr.on("data", (text) => (child.text += text));
  return child;
}

async function said(child, pattern) {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = pattern.exec(child.text);
    if (found !== null) return found[1];
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`it did not say ${pattern}: ${child.text}`);
}

async function open(path, options = {}) {
  const page = await newPage(scene.browser, options);
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
    if (!request.url().startsWith(scene.url) && !request.url().startsWith("data:")) troubles.push(`request: ${request.url()}`);
  });
  await page.goto(new URL(path, scene.url).href);
  return { page, troubles, close: () => page.context().close() };
}

/** Whether a page begins with the place that hangs, before its deadline or after it. */
function isWaitedFor(words) {
  const [first] = words.split("\n");
  return first.startsWith(HOSTILE) && /(: \S+ has not come back| has not answered) for \d/.test(first);
}

served("the served page counts the age of what hangs up and shows the history, without an error", async () => {
  const { page, troubles, close } = await open("/");
  await page.waitForSelector("#now tr.hung .age");
  assert.equal((await page.$$eval("main > section:not([hidden])", (all) => all[0].id)), "now");
  const age = page.locator("#now tr.hung .age");
  const shown = await age.textContent();
  await page.waitForFunction((before) => document.querySelector("#now tr.hung .age").textContent !== before, shown);
  assert.match(await page.textContent("#now"), /hangs/);
  const firstWords = (await page.locator(".page").innerText()).trim();
  assert.ok(isWaitedFor(firstWords), firstWords.slice(0, 200));
  await page.waitForSelector("html[data-ready='true']");
  await page.waitForSelector("table.numbers tbody tr");
  assert.doesNotMatch(await page.locator("#text-findings").textContent(), /on \/healthy/);
  assert.ok((await page.textContent("#now")).includes(HOSTILE), "the target's name is text");
  assert.equal(await page.locator("main script").count(), 0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} px wider than the window`);
  await screenshot(page, "serve-live");
  assert.deepEqual(troubles, []);
  await close();
});

served("without JavaScript the browser is led to a page that is complete", async () => {
  for (const [name, options] of [
    ["serve-now", {}],
    ["serve-now-dark", { colorScheme: "dark" }],
    ["serve-now-phone", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }],
  ]) {
    const { page, troubles, close } = await open("/", { javaScriptEnabled: false, ...options });
    await page.waitForURL(/\/now$/);
    const hung = page.locator("#in-flight tr.serious");
    await hung.first().waitFor();
    assert.ok((await hung.first().textContent()).includes(HOSTILE));
    assert.match(await page.title(), /hung/);
    const firstWords = await page.locator("main p").first().innerText();
    assert.ok(isWaitedFor(firstWords), firstWords);
    assert.equal(await page.locator("section").first().getAttribute("id"), "in-flight");
    // On a phone too nothing of what hangs is beside the screen, and no time has letters in it.
    const beyond = await page.$$eval("main section", (all) => all.map((one) => one.scrollWidth - one.clientWidth));
    assert.ok(beyond.every((width) => width <= 0), `${beyond} px are beside the screen`);
    assert.doesNotMatch(await page.locator("main").textContent(), /\d\dT\d\d:/);
    await screenshot(page, name);
    assert.deepEqual(troubles, []);
    await close();
  }
});

served("a page of another site that resolves to loopback is told nothing", async () => {
  const page = await newPage(scene.browser);
  const foreign = scene.url.replace("127.0.0.1", "evil.example");
  const answer = await page.goto(`${foreign}data`);
  assert.equal(answer.status(), 421);
  assert.doesNotMatch(await answer.text(), /scratch/);
  // Nor does one read it across origins.
  await page.goto(foreign);
  const read = await page.evaluate(async (url) => fetch(url).then(() => "read", () => "refused"), `${scene.url}now.json`);
  assert.equal(read, "refused");
  await page.context().close();
});

served("the page may not be framed", async () => {
  const { page, close } = await open("/healthz");
  const answer = await page.request.get(scene.url);
  assert.match(answer.headers()["content-security-policy"], /frame-ancestors 'none'/);
  assert.equal(answer.headers()["x-frame-options"], "DENY");
  await close();
});
