// What holds for every kind of page: the answer on the first screen, at most five printed pages, tables and pictures that can
// be worked with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { look, open, openEach } from "./pages.mjs";
import { readFileSync } from "node:fs";

/** One page of each kind. */
const KINDS = [
  "memory.html", "memory-record.html", "memory-change.html", "gc.html", "gc-z.html", "gc-diff.html", "time.html", "time-stacks.html", "time-change.html",
  "heap.html", "heap-layout.html", "heap-modes.html", "demo.html", "report.html", "capacity.html", "capacity-sweep.html", "compared.html",
  "load.html", "memory-advice.html", "host.html", "host-diff.html", "flags.html",
];
const FIRST_SCREEN = 900;
const PRINTED_MAX = 5;

/** What of a page does not end on the first screen, in words. */
async function late(name, page) {
  const ends = await page.evaluate(() => {
    const bottom = (element) => element?.getBoundingClientRect().bottom;
    const chart = [...document.querySelectorAll("#answer svg[role]")].find((svg) => svg.getClientRects().length > 0);
    return { sentence: bottom(document.querySelector("#answer .headline")), action: bottom(document.querySelector("#answer .action")), chart: bottom(chart) };
  });
  console.log(`first screen of ${name}: ${JSON.stringify(ends)}`);
  const isLate = (what) => !(ends[what] > 0 && ends[what] <= FIRST_SCREEN);
  return ["sentence", "action", "chart"].filter(isLate).map((what) => `${name}: ${what} ends at ${ends[what]}`);
}

test(`sentence, action and chart end within the first ${FIRST_SCREEN} pixels`, async () => {
  const found = [];
  for (const name of KINDS) found.push(...(await late(name, await look(name))));
  assert.deepEqual(found, []);
});

// A phone loads the page narrow.
test(`sentence, action and chart end within the first ${FIRST_SCREEN} pixels of a phone`, async () => {
  const found = [];
  await openEach(KINDS, { width: 390 }, async (name, page) => found.push(...(await late(name, page))));
  assert.deepEqual(found, []);
});

test(`no page needs more than ${PRINTED_MAX} sheets of paper`, async () => {
  const found = [];
  for (const name of KINDS) {
    const page = await look(name, { media: "print" });
    const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true });
    const sheets = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
    console.log(`printed ${name}: ${sheets}`);
    found.push([name, sheets]);
  }
  assert.deepEqual(found.filter(([, sheets]) => sheets > PRINTED_MAX), []);
});

test("a table is sorted by its buttons, down, up and back, absent cells last, and says so to screen readers", async () => {
  const { page, close } = await open("memory.html");
  const column = () => page.$$eval("table.entries tbody tr:not([hidden])", (rows) => rows.map((r) => r.cells[1].textContent));
  const head = page.locator("table.entries thead th").nth(1);
  const bytes = (text) => parseFloat(text.replaceAll(",", "")) * { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[text.split(" ")[1]];
  const written = await column();
  await head.locator("button").focus();
  await page.keyboard.press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  const down = (await column()).map(bytes);
  assert.ok(down.length > 10 && down.every((b, i) => i === 0 || b <= down[i - 1]), down.join());
  await page.keyboard.press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  const up = (await column()).map(bytes);
  assert.ok(up.every((b, i) => i === 0 || b >= up[i - 1]), up.join());
  await page.keyboard.press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), null);
  assert.deepEqual(await column(), written);
  await close();
});

test("a search leaves the rows that have all its words, small entries are folded until they are asked for", async () => {
  const { page, close } = await open("memory.html");
  const rows = page.locator("table.entries tbody tr:visible");
  const all = await page.locator("table.entries tbody tr").count();
  const folded = await rows.count();
  assert.ok(folded < all, `${folded} of ${all}`);
  const tools = page.locator(".tools:has(+ .scroll table.entries)");
  await tools.getByRole("button").click();
  assert.equal(await rows.count(), all);
  await tools.getByRole("searchbox").fill("java heap old");
  const found = await rows.allInnerTexts();
  assert.ok(found.length > 0 && found.length < all && found.every((text) => /java heap/i.test(text) && /old/i.test(text)), found.join());
  assert.match(await tools.getByRole("status").innerText(), new RegExp(`${found.length} of ${all} rows`));
  await close();
});

test("a saved picture stands alone: no classes, no style sheet, every pattern with it", async () => {
  const { page, close } = await open("memory.html");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /^Save SVG/ }).first().click()]);
  assert.equal(download.suggestedFilename(), "memory-map.svg");
  const text = readFileSync(await download.path(), "utf8");
  const shown = await page.setContent(`<div>${text}</div>`).then(() =>
    page.evaluate(() => ({
      classes: document.querySelectorAll("svg [class]").length,
      patterns: [...document.querySelectorAll("svg [fill^=url]")].every((e) => document.querySelector(e.getAttribute("fill").match(/#[^)"]+/)[0])),
      fills: new Set([...document.querySelectorAll("svg rect")].map((e) => e.getAttribute("fill"))).size,
    })),
  );
  assert.equal(shown.classes, 0);
  assert.ok(shown.patterns && shown.fills > 4, JSON.stringify(shown));
  await close();
});

test("without a script every table and picture is there, and nothing that does nothing", async () => {
  await openEach(KINDS, { javaScriptEnabled: false }, async (name, page) => {
    assert.equal(await page.locator("button:visible, input:visible").count(), 0, name);
    assert.ok((await page.locator("#answer svg[role]:visible").count()) > 0, name);
  });
});
