// The page of `iolag compare`, as the real program makes it of runs that it measured, in a real browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PATIENCE, beyond, launch, missingBrowser, openFile, paper, program, screenshot } from "./browser.mjs";

const PROGRAM = process.env.IOLAG_PROGRAM ?? "";
const why = missingBrowser() ?? (existsSync(PROGRAM) ? null : "IOLAG_PROGRAM names no iolag");
const HOSTILE = "<script>alert(1)</script>";

/** The pages that are looked at: what is compared in each. */
const PAGES = {
  two: ["campaign:last:delayed:2ms:memory:", "campaign:last:delayed:4ms:memory:"],
  hung: ["label:side=a", `label:side=${HOSTILE}`, "label:side=c", "--across", "target", "--fail-if", "median > 1.1x"],
  check: ["campaign:last"],
};

const scene = {};

const compared = program(why, begin, end);

async function begin() {
  scene.place = mkdtempSync(join(tmpdir(), "iolag-compare-"));
  const bench = (...words) => iolag([0, 4], "bench", "metadata", ...words, "-D", "1", "-P", "8", "-I", "8", "-R", "1");
  bench("memory:", "--repeat", "4", "--label", "side=a");
  bench("delayed:100us:memory:", "--repeat", "4", "--label", `side=${HOSTILE}`);
  bench("delayed:1ms:memory:", "--repeat", "3", "--label", "side=c");
  bench("faulty:stat:hang@#3:memory:", "--label", "side=c", "--deadline", "1s", "--on-hang", "stop");
  compare("hung", [0, 1]);
  bench("delayed:2ms:memory:", "delayed:4ms:memory:", "--repeat", "4", "--label", `note=${HOSTILE}`);
  compare("two", [0]);
  const directories = ["one", "two"].map((name) => join(scene.place, name));
  directories.forEach((directory) => mkdirSync(directory));
  iolag([0, 1], "check", ...directories, "--budget", "4s");
  compare("check", [0]);
  scene.browser = await launch();
}

async function end() {
  await scene.browser?.close();
  if (scene.place !== undefined) rmSync(scene.place, { recursive: true, force: true });
}

function file(name) {
  return join(scene.place, `${name}.html`);
}

function compare(name, codes) {
  iolag(codes, "compare", ...PAGES[name], "--report", file(name));
}

function iolag(codes, ...words) {
  const done = spawnSync(PROGRAM, [...words, "-q", "--store", join(scene.place, "store")], { encoding: "utf8", timeout: PATIENCE });
  assert.ok(codes.includes(done.status), `${words.join(" ")}: ${done.status} ${done.stderr}`);
}

/** The figures by their titles, with how many shapes they have and which of these are outside. */
const figures = (page) =>
  page.$$eval("figure.drawn svg", (all) =>
    all.map((svg) => {
      const frame = svg.getBoundingClientRect();
      const boxes = [...svg.querySelectorAll("g[aria-label], :not(defs) > path, :not(defs) > circle")].map((shape) => shape.getBoundingClientRect());
      const isOutside = (box) => box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
      return {
        title: svg.querySelector("title")?.textContent ?? "",
        shapes: boxes.filter((box) => box.width + box.height > 0).length,
        outside: boxes.filter(isOutside).length,
      };
    }),
  );

for (const name of Object.keys(PAGES)) {
  compared(`${name}: a page without errors, with its table and its figures`, async () => {
    const { page, troubles, close } = await openFile(scene.browser, file(name), { viewport: { width: 1280, height: 900 } });
    const rows = await page.locator("main > .table-box tbody tr").count();
    assert.ok(rows >= 4, `${rows} rows`);
    const drawn = await figures(page);
    assert.equal(drawn.length, 3);
    for (const { title, shapes, outside } of drawn) assert.ok(shapes > 20 && outside === 0, `${title}: ${shapes}, ${outside} outside`);
    const labels = await page.$$eval("figure.drawn [aria-label]", (all) => all.map((one) => one.getAttribute("aria-label")));
    for (const label of ["Every run, against the middle of the base", "Share of attempts that took at most so long, a line for each run"]) {
      assert.ok(labels.includes(label), label);
    }
    assert.ok((await beyond(page)) <= 0, `${await beyond(page)} px are beside the screen`);
    assert.equal(await page.locator("script").count(), 0);
    await screenshot(page, `compare-${name}-light`);
    assert.deepEqual(troubles, []);
    await close();
  });
}

compared("the curves of rows stand in two columns", async () => {
  const { page, close } = await openFile(scene.browser, file("two"));
  const place = (label) =>
    page.$$eval("figure.drawn svg", (all, name) => {
      const { x, y } = all[2].querySelector(`[aria-label="${name}"]`).getBoundingClientRect();
      return [x, y].map(Math.round);
    }, label);
  const [stat, read, remove, create] = [await place("stat"), await place("read"), await place("delete"), await place("create")];
  const isNear = (one, other) => Math.abs(one - other) < 8;
  assert.ok(isNear(stat[1], read[1]) && isNear(remove[1], create[1]) && remove[1] > stat[1] + 50, `${[stat, read, remove, create]}`);
  assert.ok(isNear(stat[0], remove[0]) && isNear(read[0], create[0]) && read[0] > stat[0] + 200, `${[stat, read, remove, create]}`);
  await close();
});

compared("a curve has the attempts of its row, not those that make or remove the objects", async () => {
  const { page, close } = await openFile(scene.browser, file("two"));
  const least = await page.$$eval("figure.drawn svg", (all) => {
    const curves = [...all[2].querySelectorAll('path[stroke-opacity="0.70"]')].map((path) => path.getAttribute("d"));
    const heights = curves.map((d) => [...d.matchAll(/M\S+ (\d+)|V(\d+)/g)].map(([, first, later]) => Number(first ?? later)));
    const rises = (ys) => ys.slice(1).map((y, index) => (ys[index] - y) / (ys[0] - ys.at(-1)));
    return { curves: curves.length, rise: Math.min(...heights.flatMap(rises)) };
  });
  assert.equal(least.curves, 4 * 8);
  // Of as many objects each is an eighth of them; of those that made them, too, a sixteenth.
  assert.ok(least.rise > 0.12, `${least.rise}`);
  await close();
});

compared("a hostile label of a run stays text", async () => {
  for (const name of ["two", "hung"]) {
    const { page, troubles, close } = await openFile(scene.browser, file(name));
    assert.ok((await page.locator("body").innerText()).includes(HOSTILE), name);
    assert.equal(await page.locator("script").count(), 0);
    assert.deepEqual(troubles, []);
    await close();
  }
});

compared("dark, phone and paper", async () => {
  for (const name of Object.keys(PAGES)) {
    const dark = await openFile(scene.browser, file(name), { colorScheme: "dark" });
    await screenshot(dark.page, `compare-${name}-dark`);
    assert.deepEqual(dark.troubles, []);
    await dark.close();

    const phone = await openFile(scene.browser, file(name), { viewport: { width: 400, height: 844 }, deviceScaleFactor: 2 });
    const wide = await beyond(phone.page);
    assert.ok(wide <= 0, `${name} is ${wide} px wider than a phone`);
    await screenshot(phone.page, `compare-${name}-phone`);
    await phone.close();
  }
  const printed = await openFile(scene.browser, file("hung"), { colorScheme: "dark" });
  assert.ok((await paper(printed.page, "compare-print")).length > 20_000);
  await printed.close();
});
