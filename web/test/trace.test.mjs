// The page of a trace, as the real program makes it of strace's text, in a real browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PATIENCE, beyond, launch, missingBrowser, openFile, program, screenshot } from "./browser.mjs";

const PROGRAM = process.env.IOLAG_PROGRAM ?? "";
const why = missingBrowser() ?? (existsSync(PROGRAM) ? null : "IOLAG_PROGRAM names no iolag");
const HOSTILE = "<script>alert(1)</script>";
const ABSENT = 40;

const scene = {};

const traced = program(why, begin, end);

async function begin() {
  scene.place = mkdtempSync(join(tmpdir(), "iolag-trace-"));
  scene.file = join(scene.place, "page.html");
  const text = join(scene.place, "strace.out");
  writeFileSync(text, strace());
  const trace = join(scene.place, "trace.iolag");
  iolag("trace", "--from", text, "-o", trace);
  iolag("report", trace, "-o", scene.file);
  scene.browser = await launch();
}

async function end() {
  await scene.browser?.close();
  if (scene.place !== undefined) rmSync(scene.place, { recursive: true, force: true });
}

function iolag(...words) {
  const done = spawnSync(PROGRAM, [...words, "-q", "--store", join(scene.place, "store")], { encoding: "utf8", timeout: PATIENCE });
  assert.equal(done.status, 0, `${words.join(" ")}: ${done.stderr}`);
}

/** A program that looks for a module in many directories, and reads a file with a name that is a page's own word. */
function strace() {
  let at = 0;
  const line = (call, took) => {
    at += 500;
    return `7 1700000000.${String(at).padStart(6, "0")} ${call} <0.${String(took).padStart(6, "0")}>\n`;
  };
  let text = line('execve("/usr/bin/python3", 0x1, 0x2) = 0', 300);
  for (let module = 0; module < 5; module++) {
    for (let directory = 0; directory < ABSENT; directory++) {
      text += line(`openat(AT_FDCWD, "/nfs/site/release${directory}/module${module}.py", O_RDONLY) = -1 ENOENT (No such file or directory)`, 100 + directory);
    }
    text += line(`openat(AT_FDCWD, "/nfs/${HOSTILE}/module${module}.py", O_RDONLY) = 3`, 200);
    text += line("read(3, 0x1, 4096) = 812", 50) + line("close(3) = 0", 3);
  }
  return text + `7 1700000000.${String(at + 500).padStart(6, "0")} +++ exited with 0 +++\n`;
}

for (const width of [1180, 390]) {
  traced(`the answer, the time line and the tables, ${width} px wide`, async () => {
    const { page, troubles, close } = await openFile(scene.browser, scene.file, { viewport: { width, height: 900 } });
    assert.match(await page.title(), /python3/);
    const said = await page.locator("body").innerText();
    assert.match(said, /Shorten PYTHONPATH/);
    assert.ok(said.includes(HOSTILE), "a name is text");
    assert.ok((await page.locator("svg path").count()) > 0, "the time line is drawn");
    assert.ok((await beyond(page)) <= 0, `${await beyond(page)} px are beside the screen`);
    await screenshot(page, `trace-${width}`);
    assert.deepEqual(troubles, []);
    await close();
  });
}

traced("directories open and close without a script", async () => {
  const { page, close } = await openFile(scene.browser, scene.file, { javaScriptEnabled: false });
  const leaf = page.locator(".tree .leaf", { hasText: "release0" }).first();
  assert.ok(await leaf.isVisible());
  await page.locator(".tree summary", { hasText: "nfs" }).first().click();
  assert.ok(!(await leaf.isVisible()));
  await close();
});

traced("a table is sorted by its numbers", async () => {
  const { page, troubles, close } = await openFile(scene.browser, scene.file);
  const table = page.locator("table", { hasText: "/nfs/site/release39" }).first();
  const longest = table.locator("th", { hasText: "time" }).first();
  const times = () => table.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.innerText.match(/release(\d+)/)?.[1]).filter(Boolean).map(Number));
  await longest.locator("button").click();
  const first = await times();
  await longest.locator("button").click();
  const second = await times();
  const rising = [...first].sort((one, other) => one - other);
  assert.ok(first.length > 5, `${first}`);
  for (const order of [first, second]) assert.ok(`${order}` === `${rising}` || `${order}` === `${[...rising].reverse()}`, `${order}`);
  assert.notDeepEqual(first, second);
  assert.deepEqual(troubles, []);
  await close();
});
