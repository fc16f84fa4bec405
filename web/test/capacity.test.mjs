// Looks at the pages of capacities: marks at the places of their figures, crossings, bars of causes, CSV, phone, no script.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  FOLDER, leaveScreenshots, open, openDetails, testHostileNames, testLabelsOnPhones, testMarksHaveStyles, testNoCollisions,
  testReadable, testSilence,
} from "./pages.mjs";

const PAGES = [
  "capacity.html", "capacity-sweep.html", "capacity-disturbed.html", "capacity-hostile.html", "capacity-empty.html",
];

testNoCollisions(PAGES, [1280, 768, 400, 360]);
testLabelsOnPhones(["capacity.html", "capacity-sweep.html", "capacity-disturbed.html"]);
testReadable(["capacity.html", "capacity-disturbed.html"]);
testMarksHaveStyles(PAGES);
testHostileNames("capacity-hostile.html");

/** Rows of the CSV that the page carries, by the names of its columns. */
async function windows(page) {
  const [head, ...rows] = (await page.locator("#windows-csv").textContent()).trim().split("\n").map((line) => line.split(","));
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

/** Ticks of an axis: value and place. */
const ticks = (page, picture, anchor) =>
  page.$$eval(
    `${picture} .map-wide text.t[text-anchor=${anchor}]`,
    (all) => all.map((t) => ({ value: Number(t.textContent.replaceAll(",", "")), x: t.x.baseVal[0].value, y: t.y.baseVal[0].value })),
  );

/** Marks of a picture with their tooltips and middles. */
const marks = (page, selector) =>
  page.$$eval(selector, (all) =>
    all.map((mark) => {
      const box = mark.getBBox();
      return { tip: mark.querySelector("title")?.textContent ?? "", x: box.x + box.width / 2, y: box.y + box.height / 2 };
    }),
  );

/** From values to places, by the first and last tick. */
function axis(ticks, place, scale = (v) => v) {
  const [first, last] = [ticks[0], ticks.at(-1)];
  const slope = (last[place] - first[place]) / (scale(last.value) - scale(first.value));
  return (value) => first[place] + slope * (scale(value) - scale(first.value));
}

test("each window that counts has its mark at its rate and time", async () => {
  const { page, close } = await open("capacity.html");
  const x = axis(await ticks(page, "#response-curve", "middle"), "x");
  const time = await ticks(page, "#response-curve", "end");
  const y = axis(time, "y", Math.log);
  const drawn = (await marks(page, "#response-curve .map-wide path.s1.mk")).map((m) => ({ x: m.x, y: m.y + 4 }));
  const counted = (await windows(page)).filter((w) => w.left_out === "" && Number(w.offered_rate_per_s) < 1900);
  assert.equal(counted.length, 40);
  assert.equal(drawn.length, counted.length);
  for (const w of counted) {
    const wanted = { x: x(Number(w.offered_rate_per_s)), y: y(Number(w.response_ms_p99)) };
    const near = drawn.some((d) => Math.abs(d.x - wanted.x) < 0.7 && Math.abs(d.y - wanted.y) < 0.7);
    assert.ok(near, `${JSON.stringify(w)} at ${JSON.stringify(wanted)}`);
  }
  await close();
});

test("crossings lie where the limits' rates are, and windows left out are hollow with their reason", async () => {
  const { page, close } = await open("capacity.html");
  const crosses = await marks(page, "#response-curve .map-wide path.cross");
  const x = axis(await ticks(page, "#response-curve", "middle"), "x");
  const rates = await page.$$eval("#limits tbody tr", (all) =>
    all.slice(0, 5).map((row) => Number(row.cells[3].textContent.replaceAll(",", ""))),
  );
  assert.equal(crosses.length, 5);
  // The table rounds to three digits: 5 of 1,220.
  crosses.forEach((cross, i) => assert.ok(Math.abs(cross.x - x(rates[i])) < 3, `${cross.tip}: ${cross.x}, ${rates[i]}`));
  assert.equal(await page.locator("#response-curve .map-wide .crossing").count(), 5);
  assert.equal(await page.locator("#response-curve .map-wide .rate").count(), 2);
  const hollow = await marks(page, "#response-curve .map-wide .left-out");
  assert.equal(hollow.length, 3);
  for (const mark of hollow) assert.match(mark.tip, /^left out at .*: share of the machine's processors used by other processes/);
  await close();
});

test("bars of causes are as long as their shares", async () => {
  const { page, close } = await open("capacity.html");
  const first = page.locator("#causes .panel").first();
  const bars = await first.locator("rect.explained").evaluateAll((all) =>
    all.map((bar) => ({ wide: bar.width.baseVal.value, tip: bar.querySelector("title").textContent })),
  );
  assert.equal(bars.length, 5);
  for (const { wide, tip } of bars) {
    const share = Number(tip.match(/explained ([\d.]+) %/)[1]);
    assert.ok(Math.abs(wide - Math.max(1, (362 * share) / 100)) < 0.4, `${tip}: ${wide}`);
  }
  await close();
});

test("a result that is not valid says so before its figures, a valid one does not", async () => {
  const { page, close } = await open("capacity-disturbed.html");
  const box = page.locator("#answer .cautions").first();
  assert.match(await box.innerText(), /^Not valid: do not use these figures/);
  assert.match(await page.locator("#answer div.cautions").innerText(), /warm-up: [^]*disturbance: 24 of 24 windows/);
  const [caution, answer] = await Promise.all([box.boundingBox(), page.locator(".headline").first().boundingBox()]);
  assert.ok(caution.y < answer.y);
  await close();
  const valid = await open("capacity.html");
  assert.equal(await valid.page.locator(".cautions").count(), 0);
  assert.match(await valid.page.locator(".headline").first().innerText(), /^Sustains 892 requests\/s with p99 under 10 ms; the limit is crossed at 902 \(845 to 959\)/);
  await valid.close();
});

test("the button copies all windows as CSV", async () => {
  const { page, close } = await open("capacity-sweep.html", { permissions: ["clipboard-read", "clipboard-write"] });
  await openDetails(page);
  await page.locator("#copy-csv").click();
  await page.locator("#copied:has-text('Cop')").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied.trim(), (await page.locator("#windows-csv").textContent()).trim());
  assert.equal(copied.trim().split("\n").length, 85);
  await close();
});

test("without a script pictures and CSV are there, and no button that does nothing", async () => {
  const { page, close } = await open("capacity.html", { javaScriptEnabled: false });
  assert.equal(await page.locator("figure svg[role=img]:visible").count(), 6);
  assert.equal(await page.locator("button:visible").count(), 0);
  await page.locator("#csv summary").click();
  assert.ok(await page.locator("#windows-csv").isVisible());
  await close();
});

test("the page needs nothing from outside", () => {
  const html = readFileSync(join(FOLDER, "capacity.html"), "utf8");
  assert.doesNotMatch(html, /(?:src|href)="(?!#|data:)/);
});

testSilence(PAGES);
leaveScreenshots(
  [
    ["capacity.html", 1280, "light"], ["capacity.html", 1280, "dark"], ["capacity.html", 400, "dark"],
    ["capacity-disturbed.html", 1280, "light"], ["capacity-sweep.html", 1280, "dark"],
  ],
  40_000,
);
