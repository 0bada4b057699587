// The page of a history in a real browser. Before: cargo run -p iolag-report --example write_history -- artefacts/reports
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { colours, drawAll, fingerprint, launch, missing, newPage, open, paper, program, reports, screenshot } from "./browser.mjs";

const NAMES = ["study", "hang", "watched", "hostile", "nothing", "one", "all-hung", "values", "named"];
const why = missing() ?? (existsSync(join(reports, "history-study.html")) ? null : `there are no sample histories in ${reports}`);
let browser;

const inBrowser = program(
  why,
  async () => (browser = await launch()),
  () => browser?.close(),
);

const json = (name) => JSON.parse(readFileSync(join(reports, `history-${name}.json`), "utf8"));

for (const name of NAMES) {
  inBrowser(`${name}: a good page without errors, every figure has something in it`, async () => {
    const { page, troubles, close } = await open(browser, `history-${name}`);
    await drawAll(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.ready), "true");
    const found = await colours(page);
    if (name === "nothing") assert.equal(found.length, 0);
    else assert.ok(found.length > 0);
    for (const { name: figure, colours: number } of found) assert.ok(number > 3, `${figure} has ${number} colours`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} px wider than the window`);
    // A part of the page that is named leads somewhere.
    for (const link of await page.$$eval("nav a:not([hidden])", (all) => all.map((one) => one.getAttribute("href")))) {
      assert.ok(await page.locator(link).isVisible(), `${link} is to be seen`);
    }
    assert.deepEqual(troubles, []);
    await screenshot(page, `history-${name}-light`);
    await close();
  });
}

for (const name of ["study", "hang", "watched", "all-hung"]) {
  inBrowser(`${name}: dark, and on a phone`, async () => {
    const dark = await open(browser, `history-${name}`, { colorScheme: "dark" });
    await drawAll(dark.page);
    await screenshot(dark.page, `history-${name}-dark`);
    assert.deepEqual(dark.troubles, []);
    await dark.close();

    const phone = await open(browser, `history-${name}`, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 });
    await drawAll(phone.page);
    await screenshot(phone.page, `history-${name}-phone`);
    const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} px wider than a phone`);
    await phone.close();
  });
}

for (const name of ["study", "watched"]) {
  inBrowser(`${name}: on paper`, async () => {
    const printed = await open(browser, `history-${name}`, { colorScheme: "dark" });
    const pdf = await paper(printed.page, `history-${name}-print`);
    assert.ok(pdf.length > 20_000);
    const drawn = await printed.page.$$eval("figure:not([hidden])", (all) => all.every((one) => one.dataset.drawn === "true"));
    assert.ok(drawn, "printing draws what nobody has scrolled to");
    assert.deepEqual(printed.troubles, []);
    await printed.close();
  });
}

inBrowser("the legend switches a place off and on, by mouse and by keyboard", async () => {
  const { page, close } = await open(browser, "history-study");
  await drawAll(page);
  const all = await fingerprint(page, "time-line");
  const entry = page.locator("#time-line .legend button").nth(1);
  await entry.click();
  assert.equal(await entry.getAttribute("aria-pressed"), "false");
  assert.notEqual(await fingerprint(page, "time-line"), all);
  await entry.press("Enter");
  assert.equal(await fingerprint(page, "time-line"), all);
  await close();
});

inBrowser("dragging zooms, a button and a key lead back", async () => {
  const { page, close } = await open(browser, "history-study");
  await drawAll(page);
  for (const figure of ["time-line", "ecdf", "hours-by-day", "host-or-storage"]) {
    const before = await fingerprint(page, figure);
    const canvas = page.locator(`#${figure} .stage canvas`).first();
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height * 0.5, { steps: 4 });
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

inBrowser("events are told by mouse and by keyboard, in the row above the axes", async () => {
  const { page, close } = await open(browser, "history-study");
  await drawAll(page);
  const canvas = page.locator("#time-line .stage canvas").first();
  await canvas.focus();
  const tip = page.locator("#time-line .tip").first();
  // From the middle of the axes to the row of events, then to the left until there is one.
  for (let step = 0; step < 60; step += 1) await page.keyboard.press("ArrowUp");
  let told = "";
  for (let step = 0; step < 120 && !told.includes("LDAP"); step += 1) {
    await page.keyboard.press("ArrowLeft");
    if (await tip.isVisible()) told = await tip.textContent();
  }
  assert.match(told, /LDAP cache enabled.*2008-05-08 21:00 UTC.*\/home on franklin/);
  await page.keyboard.press("Escape");
  assert.equal(await tip.isVisible(), false);
  await close();
});

inBrowser("an outage has its row and its band at its targets by any name, and nowhere else", async () => {
  const { page, close } = await open(browser, "history-named");
  await drawAll(page);
  const lanes = page.locator("#host-or-storage .panel");
  const told = { scratch: "/mnt/lustre (target scratch) did not answer", work: "/work (target work) was not mounted", "/home": null };
  for (const [target, words] of Object.entries(told)) {
    const lane = lanes.filter({ has: page.locator(".panel-title", { hasText: new RegExp(`^${target}$`) }) });
    const canvas = lane.locator("canvas").first();
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    const found = { row: new Set(), band: new Set() };
    for (const [part, at] of [["row", 30], ["band", box.height * 0.5]]) {
      for (let x = 50; x < box.width; x += 8) {
        await page.mouse.move(box.x + x, box.y + at);
        const tip = lane.locator(".tip:visible");
        const text = (await tip.count()) > 0 ? await tip.first().textContent() : "";
        if (/did not answer|was not mounted/.test(text)) found[part].add(text.split("since")[0]);
      }
    }
    const expected = words === null ? [] : [words];
    assert.deepEqual([[...found.row], [...found.band]], [expected, expected], target);
  }
  // "What" of the table of outages.
  const rows = await page.$$eval("table.moments tbody tr", (all) => all.map((one) => one.textContent));
  assert.ok(rows.some((row) => row.includes("/work (target work)was not mounted")), rows.join("\n"));
  await close();
});

inBrowser("what is chosen changes the figures: quantiles, slots, the longest, parts", async () => {
  const { page, troubles, close } = await open(browser, "history-watched");
  await drawAll(page);
  const changes = async (figure, name) => {
    const before = await fingerprint(page, figure);
    await page.getByRole("button", { name, exact: true }).click();
    await page.locator(`#${figure}`).scrollIntoViewIfNeeded();
    await page.waitForFunction((id) => document.getElementById(id).dataset.drawn === "true", figure);
    assert.notEqual(await fingerprint(page, figure), before, `${name} changes ${figure}`);
  };
  await changes("time-line", "Every sample");
  await changes("ecdf", "Each scheduled moment once");
  await changes("hours-by-day", "Longest");
  await changes("time-line", "Parts of tasks");
  assert.match(await page.locator("#time-line").textContent(), /list: ls -n/);
  // That this test reads pixels back is not the page's doing.
  assert.deepEqual(troubles.filter((one) => !one.includes("willReadFrequently")), []);
  await close();
});

inBrowser("before, after and all are three curves, next to the event", async () => {
  const { page, close } = await open(browser, "history-study");
  await drawAll(page);
  const figure = page.locator("#before-after");
  assert.deepEqual(await figure.locator(".legend button").allTextContents(), ["before", "after", "all"]);
  assert.match(await figure.locator(".panel-title").first().textContent(), /list on \/home from franklin: “LDAP cache enabled/);
  await close();
});

/** The number of an estimate, or its bound, as the table has it. */
const raw = (estimate) => {
  const known = estimate.exactly ?? estimate.at_least ?? estimate.below;
  return known === undefined ? NaN : known;
};

inBrowser("the numbers in the table are those of the JSON", async () => {
  for (const name of ["study", "hang", "watched", "one", "all-hung", "values"]) {
    const { page, close } = await open(browser, `history-${name}`);
    const rows = await page.$$eval("table.numbers", (tables) =>
      tables.flatMap((table) => {
        const names = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.name);
        return [...table.tBodies[0].rows].map((row) =>
          Object.fromEntries([...row.cells].map((cell, index) => [names[index], cell.dataset.value ?? cell.textContent])),
        );
      }),
    );
    const { series } = json(name);
    const weighted = series.flatMap(({ summary }) => [summary.by_attempt, ...(summary.by_time ? [summary.by_time] : [])].map((own) => ({ summary, own })));
    assert.ok(rows.length > 0);
    const levels = series.map(({ summary }) => Math.min(summary.regimes.length, 4)).reduce((sum, one) => sum + one, 0);
    assert.equal(rows.length, weighted.length + levels);
    for (const { summary, own } of weighted) {
      const { key } = summary.series;
      const task = key.part === "" ? key.task : `${key.task}: ${key.part}`;
      const row = rows.find(
        (candidate) =>
          candidate.task === task &&
          candidate.target === (key.target || "the host") &&
          (candidate.host ?? key.host) === key.host &&
          candidate.weighting === (own.weighting === "by-attempt" ? "by attempt" : "at any time"),
      );
      assert.ok(row !== undefined, `${task} on ${key.target} is in the table`);
      const unit = summary.quantity === "duration" ? "_seconds" : "";
      assert.equal(row.observations, String(own.counts.exact + own.counts.at_least + own.counts.below));
      for (const [q, column] of [[0.25, "p25"], [0.5, "median"], [0.9, "p90"], [0.95, "p95"], [0.99, "p99"]]) {
        const { value } = own.quantiles.find((quantile) => quantile.q === q);
        assert.equal(row[`${column}${unit}`] === "" ? NaN : Number(row[`${column}${unit}`]), raw(value), `${task} ${column}`);
      }
      assert.equal(Number(row[`greatest${unit}`]), raw(own.greatest));
      if (unit === "") continue;
      for (const outcome of ["timeout", "hung", "late", "error", "skipped"]) assert.equal(row[outcome], String(summary.rates.total[outcome].count));
      const over = own.shares.find((share) => share.threshold_ns === 1e9);
      assert.equal(Number(row.over_1_s_share), over.over / over.of);
    }
    await close();
  }
});

inBrowser("the samples that are drawn are those of the JSON, by how they ended", async () => {
  for (const name of ["hang", "watched"]) {
    const { series } = json(name);
    const document = JSON.parse(readFileSync(join(reports, `history-${name}-data.json`), "utf8"));
    const { gunzipSync } = await import("node:zlib");
    for (const [index, { summary }] of series.entries()) {
      const packed = document.columns.find(({ pointer }) => pointer === `/series/${index}/points/state`);
      if (packed === undefined) continue;
      const states = gunzipSync(Buffer.from(packed.packed, "base64"));
      const { total } = summary.rates;
      const seen = (state) => states.filter((one) => one === state).length;
      assert.equal(states.length, total.slots);
      assert.deepEqual([1, 2, 3, 4, 5].map(seen), [total.error, total.timeout, total.hung, total.late, total.skipped].map(({ count }) => count));
    }
  }
});

inBrowser("the table is sorted by a click and copied as CSV", async () => {
  const { page, close } = await open(browser, "history-study", { permissions: ["clipboard-read", "clipboard-write"] });
  await drawAll(page);
  const heading = page.locator('table.numbers thead th[data-name="median_seconds"]');
  const column = await heading.evaluate((cell) => cell.cellIndex);
  const medians = () => page.$$eval("table.numbers tbody tr", (rows, at) => rows.map((row) => Number(row.cells[at].dataset.value)), column);
  await heading.getByRole("button").click();
  const falling = await medians();
  assert.deepEqual(falling, [...falling].sort((left, right) => right - left));
  // What it says stands there for 4 s only.
  const copied = page.getByText("Copied.").waitFor();
  await page.getByRole("button", { name: "Copy as CSV" }).click();
  await copied;
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split(/\r?\n/);
  assert.equal(lines.length, falling.length + 1);
  assert.match(lines[0], /^target,task,host,weighting,observations,p25_seconds,median_seconds,/);
  await close();
});

inBrowser("names and texts that want to be markup stay texts, and only pages of the web are linked to", async () => {
  const { page, troubles, close } = await open(browser, "history-hostile");
  await drawAll(page);
  assert.match(await page.textContent("h1"), /<img src=x onerror=alert\(2\)>/);
  assert.equal(await page.locator("img, svg, iframe, u, i").count(), 0);
  assert.equal(await page.$$eval("script:not([type])", (all) => all.length), 1);
  const links = await page.$$eval("a:not([href^='#'])", (all) => all.map((one) => [one.href, one.rel, one.target]));
  assert.deepEqual(links, [["https://ok.example/%22%3E%3Cscript%3E", "noopener noreferrer", "_blank"]]);
  // Every tooltip of the first figure, wherever the pointer is.
  const box = await page.locator("#time-line .stage canvas").first().boundingBox();
  for (let x = 60; x < box.width; x += 30) await page.mouse.move(box.x + x, box.y + 18);
  assert.deepEqual(troubles, []);
  await close();
});

inBrowser("without JavaScript the text and the tables are there", async () => {
  const { page, close } = await open(browser, "history-study", { javaScriptEnabled: false });
  assert.equal(await page.locator("table.numbers tbody tr").count(), 11);
  assert.ok(await page.locator(".findings li").first().isVisible());
  assert.ok(await page.locator(".pairs tbody tr").first().isVisible());
  assert.ok(await page.locator(".needs-script").isVisible());
  await close();
});

/** A server as `iolag serve` is one: the page, its data and a status that changes. */
async function served(name) {
  const state = { status: null, asked: { data: 0, status: 0 }, broken: false, data: readFileSync(join(reports, `history-${name}-data.json`)) };
  const server = createServer((request, response) => {
    const path = request.url.split("?")[0];
    if (state.broken) {
      response.writeHead(503).end();
      return;
    }
    if (path === "/") response.writeHead(200, { "content-type": "text/html" }).end(readFileSync(join(reports, `history-${name}-live.html`)));
    else if (path === "/data") {
      state.asked.data += 1;
      response.writeHead(200, { "content-type": "application/json" }).end(state.data);
    } else if (path === "/status") {
      state.asked.status += 1;
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(state.status));
    } else response.writeHead(404).end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { state, url: `http://127.0.0.1:${server.address().port}/`, close: () => new Promise((done) => server.close(done)) };
}

function status(ageSeconds) {
  const now = Date.now() * 1e6;
  const series = { host: "node1", target: "/fuse <b>", task: "list", part: "" };
  return {
    iolag_version: "0.1.0", process: 7, host: "node1", begin: now - 7200e9, written: now, written_ns: 9000e9, next_round_ns: 9010e9, rounds: 720,
    in_flight: [{ series, probe: 1, part: "", process: 4711, start_ns: 9000e9 - ageSeconds * 1e9, start: now - ageSeconds * 1e9, phase: "hung", waits_in: "request_wait_answer" }],
    last: [{ series, start: now - 100e9, duration_ns: 5e6, value: null, outcome: "ok" }],
    targets: [{ name: series.target, state: "slow" }, { name: "archive", state: "not-mounted", since: now - 180e9 }],
    outages: [], waiting_records: 0, history_trouble: null, lag_ns: 0,
  };
}

inBrowser("a live page shows what is in flight first, counts its age up, and stays as it was set when data comes", async () => {
  const { state, url, close: end } = await served("hang");
  state.status = status(614);
  const page = await newPage(browser);
  const troubles = [];
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("503") && !message.text().includes("favicon")) troubles.push(message.text());
  });
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  assert.match(await page.title(), /node1/);
  const first = await page.$$eval("main > section:not([hidden])", (all) => all[0].id);
  assert.equal(first, "now");
  // What is wrong with which place is named before anything else.
  const sentence = /^archive is not mounted for 3 min \d\d s; \/fuse <b>: list has not come back for 10 min \d\d s\.$/;
  assert.match(await page.locator("#unanswered").innerText(), sentence);
  const firstWords = (await page.locator(".page").innerText()).trim();
  assert.ok(firstWords.startsWith("archive is not mounted"), firstWords.slice(0, 200));
  const age = page.locator("#now .age");
  const shown = await age.textContent();
  assert.match(shown, /^10 min \d\d s$/);
  await page.waitForFunction((before) => document.querySelector("#now .age").textContent !== before, shown);
  assert.match(await page.textContent("#now"), /hung.*request_wait_answer/s);
  assert.equal(await page.locator("#now b").count(), 0);
  assert.ok((await page.locator("table.numbers tbody tr").count()) > 0, "text comes with the data");
  await drawAll(page);
  const all = await fingerprint(page, "time-line");
  await page.locator("#time-line .legend button").first().click();
  const without = await fingerprint(page, "time-line");
  assert.notEqual(without, all);
  const asked = state.asked.data;
  await page.evaluate(() => globalThis.iolagHistory.refresh());
  assert.equal(state.asked.data, asked + 1);
  await drawAll(page);
  assert.equal(await fingerprint(page, "time-line"), without, "what is switched off stays so");
  await screenshot(page, "history-live");
  state.status = null;
  await page.evaluate(() => globalThis.iolagHistory.refresh());
  assert.match(await page.textContent("#now"), /No watch is running/);
  assert.equal(await page.locator("#unanswered").isVisible(), false);
  state.broken = true;
  await page.evaluate(() => globalThis.iolagHistory.refresh());
  assert.match(await page.textContent("#now"), /does not answer/);
  assert.deepEqual(troubles, []);
  await page.context().close();
  await end();
});
