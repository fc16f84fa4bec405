// Looks at the pages of GC logs: marks at their place in time, bars that add up, findings by severity, CSV, phone, no script.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  FOLDER, leaveScreenshots, open, openDetails, testHostileNames, testLabelsOnPhones, testMarksHaveStyles, testNoCollisions,
  testReadable, testSilence,
} from "./pages.mjs";

const PAGES = ["gc.html", "gc-z.html", "gc-hostile.html", "gc-empty.html", "gc-diff.html"];

testNoCollisions(PAGES, [1280, 768, 400, 360]);
testLabelsOnPhones(["gc.html", "gc-z.html", "gc-diff.html"]);
testReadable(["gc.html", "gc-z.html", "gc-hostile.html", "gc-diff.html"]);
testMarksHaveStyles(PAGES);
testHostileNames("gc-hostile.html");

/** Rows of the CSV that the page carries. */
async function figures(page) {
  const [head, ...rows] = (await page.locator("#gc-csv").textContent()).trim().split("\n").map((line) => line.split(","));
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

const value = (rows, table, name, metric) =>
  Number(rows.find((row) => row.table === table && row.name === name && row.metric === metric).value);

test("the bars of each kind's histogram add up to its pauses", async () => {
  const { page, close } = await open("gc.html");
  const rows = await figures(page);
  const panels = await page.$$eval("#lengths .panel", (all) =>
    all.map((panel) => ({
      name: panel.querySelector(".panel-name").textContent,
      sum: [...panel.querySelectorAll("rect.bar title")].reduce((sum, t) => sum + Number(t.textContent.split(": ")[1].replaceAll(",", "")), 0),
    })),
  );
  assert.equal(panels.length, 4);
  for (const { name, sum } of panels) assert.equal(sum, value(rows, "pauses_by_phase", name, "count"), name);
  await close();
});

test("the longest pause stands highest and at its time, and pauses are drawn by kind", async () => {
  const { page, close } = await open("gc.html");
  const marks = await page.$$eval("#gc-timeline .map-wide path.pause", (all) =>
    all.map((m) => {
      const box = m.getBBox();
      return { tip: m.querySelector("title").textContent, x: box.x + box.width / 2, y: box.y + box.height / 2, kind: m.getAttribute("class") };
    }),
  );
  const highest = marks.reduce((a, b) => (b.y < a.y ? b : a));
  assert.match(highest.tip, /^full, around/);
  const longest = Number(highest.tip.match(/longest ([\d.,]+) ms/)[1].replaceAll(",", ""));
  assert.ok(Math.abs(longest - value(await figures(page), "log", "all", "pause_max_ms")) < 0.005 * longest, highest.tip);
  assert.equal(new Set(marks.map((m) => m.kind)).size, 4);
  const minutes = Number(highest.tip.match(/around ([\d.]+) min/)[1]);
  const ticks = await page.$$eval("#gc-timeline .map-wide text.t[text-anchor=middle]", (all) =>
    all.map((t) => ({ value: Number(t.textContent), x: t.x.baseVal[0].value })),
  );
  const [first, last] = [ticks[0], ticks.at(-1)];
  const at = first.x + ((minutes - first.value) / (last.value - first.value)) * (last.x - first.x);
  assert.ok(Math.abs(at - highest.x) < 1.5, `${highest.tip}: ${highest.x}, wanted ${at}`);
  await close();
});

test("findings stand by severity with their lines, below the picture; the first step stands above it", async () => {
  const { page, close } = await open("gc.html");
  const severities = await page.$$eval(".findings .severity", (all) => all.map((s) => s.textContent));
  assert.deepEqual(severities, ["error", "warning", "note"]);
  assert.match(await page.locator(".findings li").first().innerText(), /gc\.log:9120/);
  const [finding, timeline, action] = await Promise.all([".findings", "#gc-timeline", ".action"].map((of) => page.locator(of).boundingBox()));
  assert.ok(action.y < timeline.y && timeline.y < finding.y);
  await close();
});

test("a log with a restart and stalls shows both, one with nothing draws nothing", async () => {
  const { page, close } = await open("gc-z.html");
  assert.equal(await page.locator("#gc-timeline .map-wide .start").count(), 2, "in both plots");
  assert.equal(await page.locator("#gc-timeline .map-wide .stall").count(), 1);
  await close();
  const empty = await open("gc-empty.html");
  assert.equal(await empty.page.locator("figure").count(), 0);
  assert.match(await empty.page.locator(".headline").innerText(), /No pause/);
  await empty.close();
});

test("without a script the page shows everything but the buttons", async () => {
  const { page, close } = await open("gc.html", { javaScriptEnabled: false });
  assert.ok(await page.locator("#gc-timeline .map-wide svg").isVisible());
  assert.ok(!(await page.locator("#copy-csv").isVisible()));
  await close();
});

test("on paper no figure is folded away", async () => {
  const { page, close } = await open("gc.html");
  await openDetails(page);
  await page.pdf({ path: join(FOLDER, "gc.pdf"), preferCSSPageSize: true });
  await close();
});

testSilence(PAGES);
leaveScreenshots(
  [["gc.html", 1280, "light"], ["gc.html", 1280, "dark"], ["gc.html", 390, "light"], ["gc-z.html", 1280, "dark"], ["gc-hostile.html", 1280, "light"]],
  20_000,
);
