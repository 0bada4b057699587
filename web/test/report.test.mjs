// The page in a real browser. Before: cargo run -p iolag-report --example write_report -- artefacts/reports
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { colours, drawAll, fingerprint, launch, missing, open, paper, program, reports, screenshot } from "./browser.mjs";

const NAMES = ["check", "metadata", "several", "empty", "all-errors", "one-sample", "script"];
const why = missing();
let browser;

const inBrowser = program(
  why,
  async () => (browser = await launch()),
  () => browser?.close(),
);

for (const name of NAMES) {
  inBrowser(`${name}: a good page without errors, every figure has something in it`, async () => {
    const { page, troubles, close } = await open(browser, name);
    await drawAll(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.ready), "true");
    const found = await colours(page);
    if (name === "empty") assert.equal(found.length, 0);
    else assert.ok(found.length > 0);
    for (const { name: figure, colours: number } of found) assert.ok(number > 3, `${figure} has ${number} colours`);
    assert.ok((await page.textContent("h1")).length > 5);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} px wider than the window`);
    assert.deepEqual(troubles, []);
    await screenshot(page, `${name}-light`);
    await close();
  });
}

const withoutBrowser = program(
  null,
  async () => {},
  async () => {},
);

/** A module of the page, which this version of Node need not understand by itself. */
async function moduleOfPage(name) {
  const { outputFiles } = await build({ entryPoints: [`src/${name}.ts`], bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

withoutBrowser("durations with their intervals are those of the tables", async () => {
  const { durationWithEnds } = await moduleOfPage("page/format");
  const exactly = (ns) => ({ ns, isAtLeast: false });
  const written = (...amounts) => durationWithEnds(...amounts.map(exactly));
  // The known answers of crates/iolag-report/src/words/interval.rs.
  assert.equal(written(12.7e3, 12.6e3, 13.04e3), "12.7 [12.6–13.0] µs");
  assert.equal(written(1.25e6, 1.11e6, 1.4e6), "1.25 [1.11–1.40] ms");
  assert.equal(written(104e3, 9.6e3, 2.3e6), "104.0 [9.6–2300.0] µs");
  assert.equal(written(18, 5, 25), "18 [5–25] ns");
  assert.equal(written(3.27e3, 0.83e3, 71e3), "3.27 [0.83–71.00] µs");
  assert.equal(written(726e3, 257e3, 19_097e3), "726 µs [257 µs–19.1 ms]");
  assert.equal(written(1.3e6, 57.4e3, 1.4e6), "1.30 ms [57.4 µs–1.40 ms]");
  assert.equal(written(250e9, 90e9, 7200e9), "4 min 10 s [90.0 s–2 h 00 min]");
  assert.equal(written(90e9, 80e9, 130e9), "90.0 [80.0–130.0] s");
  const bound = { ns: 15e9, isAtLeast: true };
  assert.equal(durationWithEnds(bound, exactly(14e9), bound), "≥ 15.0 [14.0–≥15.0] s");
});

withoutBrowser("of an even number of results a sweep shows the mean of the middle two", async () => {
  const { durationPoints } = await moduleOfPage("run/sweep");
  const point = (size, value) => {
    const interval = { between: { low: { exactly_ns: 990_000 }, high: { exactly_ns: 9_400_000 } } };
    return { size, median: { value, interval } };
  };
  const exactly = (size, ns) => point(size, { exactly_ns: ns });
  const points = [exactly(1, 4e6), exactly(1, 1e6), exactly(2, 1e6), exactly(2, 2e6), exactly(2, 9e6)];
  const cut = [exactly(4, 2e6), point(4, { at_least_ns: 4e6 })];
  const rates = [{ size: 1 }, { size: 2 }, { size: 4 }];
  const words = durationPoints({ points: [...points, ...cut], rates }, "median").map(({ words }) => words);
  assert.deepEqual(words, ["2.50 ms", "2.00 [0.99–9.40] ms", "≥ 3.00 ms"]);
});

withoutBrowser("each nine of a tail is as far from the next", async () => {
  const { tail } = await moduleOfPage("figure/scale");
  const labels = (scale) => scale.ticks(9).map(({ label }) => label);
  const scale = tail(0.97);
  assert.deepEqual(labels(scale), ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
  const places = scale.ticks(9).map(({ value }) => scale.place(value));
  places.forEach((place, index) => assert.ok(Math.abs(place - index / 4) < 1e-9, places.join()));
  assert.equal(labels(tail(0.99999)).at(-1), "99.999 %");
  assert.equal(scale.place(1), 1);
});

withoutBrowser("what had not ended is told by the rule of its run", async () => {
  const { openInWords } = await moduleOfPage("run/distributions");
  const run = (operation) => ({ series: [{ operation }] });
  assert.match(openInWords([run("create")]), /Kaplan and Meier\)$/);
  assert.doesNotMatch(openInWords([run("probe")]), /Kaplan/);
  assert.match(openInWords([run("probe"), run("create")]), /Kaplan and Meier; of a ping, the share that certainly/);
});

inBrowser("dark, phone and paper", async () => {
  for (const name of ["check", "metadata", "several", "script"]) {
    const dark = await open(browser, name, { colorScheme: "dark" });
    await drawAll(dark.page);
    await screenshot(dark.page, `${name}-dark`);
    assert.deepEqual(dark.troubles, []);
    await dark.close();

    const phone = await open(browser, name, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 });
    await drawAll(phone.page);
    await screenshot(phone.page, `${name}-phone`);
    const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} px wider than a phone`);
    await phone.close();
  }
  const printed = await open(browser, "metadata", { colorScheme: "dark" });
  const pdf = await paper(printed.page, "metadata-print");
  assert.ok(pdf.length > 20_000);
  const drawn = await printed.page.$$eval("figure:not([hidden])", (all) => all.every((one) => one.dataset.drawn === "true"));
  assert.ok(drawn, "printing draws what nobody has scrolled to");
  assert.deepEqual(printed.troubles, []);
  await printed.close();
});

inBrowser("a page begins with the figure that shows its answer, and there with the worst place", async () => {
  for (const [name, shown] of [["check", "time-line"], ["metadata", "rates"], ["several", "sweep"]]) {
    const { page, close } = await open(browser, name);
    await drawAll(page);
    assert.deepEqual(await page.$$eval("#answer figure", (all) => all.map(({ id }) => id)), [shown]);
    assert.equal(await page.locator(`figure#${shown}`).count(), 1, "it stands nowhere else");
    if (name === "check") {
      const worst = await page.textContent(".worst");
      const place = /^At its worst, .* on (\S+) took /.exec(worst)?.[1];
      assert.ok((await page.locator("#answer .panel-title").first().textContent()).startsWith(`${place} (`), worst);
    }
    await close();
  }
});

inBrowser("the legend switches a series off and on, by mouse and by keyboard", async () => {
  const { page, close } = await open(browser, "metadata");
  await drawAll(page);
  const all = await fingerprint(page, "time-line");
  const entry = page.locator("#time-line .legend button").first();
  await entry.click();
  assert.equal(await entry.getAttribute("aria-pressed"), "false");
  assert.notEqual(await fingerprint(page, "time-line"), all);
  await entry.press("Enter");
  assert.equal(await entry.getAttribute("aria-pressed"), "true");
  assert.equal(await fingerprint(page, "time-line"), all);
  await close();
});

inBrowser("an operation has one colour in all figures, whatever phase they are of", async () => {
  const { page, close } = await open(browser, "metadata");
  await drawAll(page);
  const coloursOf = (figure) =>
    page.$$eval(`#${figure} .legend button`, (buttons) =>
      Object.fromEntries(
        buttons.map((entry) => {
          const { data } = entry.querySelector("canvas").getContext("2d").getImageData(22, 12, 1, 1);
          return [entry.textContent, [...data].join()];
        }),
      ),
    );
  const overTime = await coloursOf("time-line");
  for (const figure of ["ecdf", "histogram", "box", "rates"]) {
    const own = await coloursOf(figure);
    for (const [operation, colour] of Object.entries(own)) {
      if (operation in overTime && !colour.endsWith(",0")) assert.equal(colour, overTime[operation], `${operation} in ${figure}`);
    }
  }
  await close();
});

inBrowser("the tail stands beside all attempts, on an axis of its own", async () => {
  const { page, close } = await open(browser, "metadata");
  await drawAll(page);
  const titles = await page.$$eval("#ecdf .panel-title", (all) => all.map((one) => one.textContent));
  assert.ok(titles.length >= 2 && titles.some((title) => /tail$/i.test(title)), titles.join());
  assert.match(await page.textContent("#ecdf figcaption"), /logarithmic in the share missing to 100 %/);
  await close();
});

withoutBrowser("clients are written as ranges, and what is not there is refused", async () => {
  const { parseClients } = await moduleOfPage("run/selection");
  assert.deepEqual(parseClients("0,2-3", 4), [0, 2, 3]);
  assert.deepEqual(parseClients(" 3 - 3, 1", 4), [1, 3]);
  assert.equal(parseClients("", 4), null);
  assert.match(parseClients("0-4", 4), /^There is no client 4: the clients are 0 to 3\.$/);
  for (const wrong of ["3-1", "x", "1,", "-1"]) assert.match(parseClients(wrong, 4), /expected 0-3 or 0,2-3/);
});

withoutBrowser("a page begins with what was measured, and not with who measured beside it", async () => {
  const { levelsOf, phasesOf } = await moduleOfPage("run/selection");
  const series = [
    { level: "object", part: { beside: "directory" } },
    { level: "stream", part: { stage: 1 } },
  ];
  const run = { run: { stages: [{ stage: 1, phase: "write", name: "write 1" }] }, series };
  const report = { figures: { runs: [run] } };
  assert.deepEqual(levelsOf(report), ["stream", "object"]);
  assert.deepEqual(phasesOf(report, "object"), ["bystander"]);
});

inBrowser("chosen clients have a panel each over time", async () => {
  const { page, troubles, close } = await open(browser, "metadata");
  await drawAll(page);
  const titles = () => page.$$eval("#time-line .panel-title", (all) => all.map((one) => one.textContent));
  const before = await titles();
  const samples = () => page.$eval("#time-line figcaption", (one) => one.textContent.match(/([\d ]+) samples? of known/)[1].replaceAll(/\D/g, ""));
  const all = Number(await samples());
  const input = page.locator("#clients");
  await input.fill("0,2-3");
  await input.press("Enter");
  const chosen = await titles();
  assert.deepEqual(chosen.map((title) => title.match(/client \d$/)[0]), ["client 0", "client 2", "client 3"]);
  const some = Number(await samples());
  assert.ok(some > 0 && some < all, `${some} of ${all}`);
  const clientBoxes = await page.$$eval("#client-box canvas", (canvases) => canvases.map((one) => one.getAttribute("aria-label")).join());
  assert.ok(/client 2/.test(clientBoxes) && !/client 1/.test(clientBoxes), clientBoxes);
  await screenshot(page, "metadata-clients");
  await input.fill("0-9");
  await input.press("Enter");
  assert.match(await page.textContent("#clients-wrong"), /There is no client 9/);
  assert.deepEqual(await titles(), chosen);
  await input.fill("");
  await input.press("Enter");
  assert.equal(await page.textContent("#clients-wrong"), "");
  assert.deepEqual(await titles(), before);
  assert.deepEqual(troubles, []);
  await close();
});

inBrowser("dragging zooms, a button and a key lead back", async () => {
  const { page, close } = await open(browser, "metadata");
  await drawAll(page);
  await page.locator("#ecdf").scrollIntoViewIfNeeded();
  await page.waitForSelector("#ecdf[data-drawn]");
  for (const figure of ["time-line", "ecdf"]) {
    const before = await fingerprint(page, figure);
    const canvas = page.locator(`#${figure} .stage canvas`).first();
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(0, 0);
    assert.notEqual(await fingerprint(page, figure), before, `${figure} was zoomed`);
    await page.locator(`#${figure} .figure-head button`).click();
    assert.equal(await fingerprint(page, figure), before, `${figure} is as before`);
    await canvas.focus();
    await page.keyboard.press("+");
    assert.notEqual(await fingerprint(page, figure), before);
    await page.keyboard.press("0");
    assert.equal(await fingerprint(page, figure), before);
  }
  await close();
});

inBrowser("a tooltip gives exact values, also by keyboard", async () => {
  const { page, close } = await open(browser, "metadata");
  await drawAll(page);
  await page.locator("#ecdf").scrollIntoViewIfNeeded();
  await page.waitForSelector("#ecdf[data-drawn]");
  const canvas = page.locator("#ecdf .stage canvas").first();
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  const tip = page.locator("#ecdf .tip").first();
  assert.match(await tip.textContent(), /done within \d[\d.]* (ns|µs|ms|s).*%/);
  await page.keyboard.press("Escape");
  assert.equal(await tip.isVisible(), false);
  await close();
});

inBrowser("levels of operations are chosen, and the figures follow", async () => {
  const { page, troubles, close } = await open(browser, "check");
  await drawAll(page);
  const tasks = await page.locator("#time-line .legend").textContent();
  await page.getByRole("button", { name: "Single calls" }).click();
  assert.notEqual(await page.locator("#time-line .legend").textContent(), tasks);
  assert.match(await page.locator("#time-line .legend").textContent(), /call\.stat/);
  assert.deepEqual(troubles, []);
  await close();
});

inBrowser("a hang is a bar in the figures of every level of its place", async () => {
  const { page, troubles, close } = await open(browser, "check");
  await drawAll(page);
  const levels = await page.locator(".chooser [aria-label='Figures show'] button").allTextContents();
  assert.ok(levels.length > 2, String(levels));
  for (const level of levels) {
    await page.getByRole("button", { name: level }).click();
    const caption = await page.locator("#time-line figcaption").textContent();
    assert.match(caption, /ls -l on \/scratch\/project\/me .*hung from .* on and did not end/, level);
    assert.doesNotMatch(caption, /Nothing failed/, level);
    const canvas = page.locator("#time-line .panel", { hasText: "/scratch/project/me" }).locator("canvas");
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    // Within the axes, where no attempt of the level need be.
    await page.mouse.move(box.x + box.width * 0.97, box.y + box.height * 0.15);
    const tip = page.locator("#time-line .panel", { hasText: "/scratch/project/me" }).locator(".tip");
    assert.match(await tip.textContent(), /ls -l hung.*since.*did not end in/, level);
  }
  await screenshot(page, "hang-in-every-level");
  assert.deepEqual(troubles, []);
  await close();
});

/** The value of a quantile as the table's raw number. */
const raw = (quantile) => String(quantile.exactly_ns ?? quantile.at_least_ns ?? "");

inBrowser("the numbers in the table are those of the JSON", async () => {
  for (const name of ["check", "metadata", "all-errors", "one-sample"]) {
    const { page, close } = await open(browser, name);
    const rows = await page.$$eval("table.numbers", (tables) => {
      // A check shows a few rows, and all of them in a fold.
      const folded = tables.filter((table) => table.closest("details"));
      return (folded.length > 0 ? folded : tables).flatMap((table) => {
        const names = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.name);
        return [...table.tBodies[0].rows].map((row) =>
          Object.fromEntries([...row.cells].map((cell, index) => [names[index], cell.dataset.value ?? cell.textContent])),
        );
      });
    });
    const json = JSON.parse(readFileSync(join(reports, `${name}-0.json`), "utf8"));
    const summaries =
      json.kind === "check"
        ? json.directories.flatMap((directory) => directory.summaries.map((summary) => ({ ...summary, place: directory.name })))
        : json.stages.flatMap((stage) => stage.rows.map((row) => ({ ...row.summary, per_second: row.per_second })));
    assert.ok(summaries.length > 0);
    assert.equal(rows.length, summaries.length);
    summaries.forEach((summary, index) => {
      // A check's table begins with what people feel; stages of a benchmark have an order of their own.
      const isMeant = (row) => row.target === summary.place && row.operation === summary.operation;
      const row = summary.place === undefined ? rows[index] : rows.find(isMeant);
      const { durations } = summary;
      assert.equal(row.operation, summary.operation);
      assert.equal(row.attempts, String(summary.attempts));
      assert.equal(row.min_ns, raw(durations.min));
      for (const quantile of ["median", "p90", "p95", "p99"]) assert.equal(row[`${quantile}_ns`], raw(durations[quantile].value));
      assert.equal(row.max_ns, raw(durations.max));
      if (summary.per_second !== undefined) assert.equal(Number(row.per_second), summary.per_second);
    });
    if (name === "check") assert.equal(rows[0].operation, "ls -l");
    await close();
  }
});

inBrowser("the table is sorted by a click and copied as CSV", async () => {
  const { page, close } = await open(browser, "check", { permissions: ["clipboard-read", "clipboard-write"] });
  await drawAll(page);
  const medians = () =>
    page.$eval("table.numbers", (table) => [...table.tBodies[0].rows].map((row) => Number(row.cells[5].dataset.value)));
  const heading = page.locator("table.numbers").first().locator("thead th").nth(5);
  assert.equal(await heading.getAttribute("data-name"), "median_ns");
  await heading.getByRole("button").click();
  const falling = await medians();
  assert.deepEqual(falling, [...falling].sort((left, right) => right - left));
  await heading.getByRole("button").click();
  const rising = await medians();
  assert.deepEqual(rising, [...rising].sort((left, right) => left - right));
  await copyAsCsv(page);
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split(/\r?\n/);
  assert.equal(lines.length, rising.length + 1);
  assert.match(lines[0], /^target,operation,attempts,not_ok,min_ns,median_ns,/);
  await close();
});

/** What it says stands there for 4 s only: waited for from before the click on, as a busy machine may take longer afterwards. */
async function copyAsCsv(page) {
  await page.bringToFront();
  const copied = page.getByText("Copied.").first().waitFor();
  await page.getByRole("button", { name: "Copy as CSV" }).first().click();
  await copied;
}

inBrowser("a bound is copied with its sign", async () => {
  const { page, close } = await open(browser, "check", { permissions: ["clipboard-read", "clipboard-write"] });
  const bounds = await page.locator("table.numbers").first().locator("td[data-value]").evaluateAll((cells) =>
    cells.filter((cell) => cell.textContent.startsWith("≥")).map((cell) => `≥${cell.dataset.value}`),
  );
  assert.ok(bounds.length > 0);
  await copyAsCsv(page);
  const copied = (await page.evaluate(() => navigator.clipboard.readText())).split(/[,\r\n]/);
  for (const bound of bounds) assert.ok(copied.includes(bound), `${bound} is a bound, and no value`);
  await close();
});

inBrowser("scripts in names stay texts", async () => {
  const { page, troubles, close } = await open(browser, "script");
  await drawAll(page);
  assert.match(await page.textContent("h1"), /<script>alert\(1\)<\/script>/);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.$$eval("script:not([type])", (all) => all.length), 1);
  assert.deepEqual(troubles, []);
  await close();
});

inBrowser("without JavaScript the text and the table are there", async () => {
  const { page, close } = await open(browser, "check", { javaScriptEnabled: false });
  assert.ok((await page.locator("table.numbers tbody tr").count()) > 20);
  assert.ok(await page.locator(".verdicts li").first().isVisible());
  assert.ok(await page.locator(".needs-script").isVisible());
  await close();
});
