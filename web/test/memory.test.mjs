// Looks at the page of one process's memory: the tree map by mouse, finger and keyboard, sums, phone, paper, no script.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  FOLDER, leaveScreenshots, open, testHostileNames, testLabelsOnPhones, testMarksHaveStyles, testNoCollisions,
  testReadable, testSilence,
} from "./pages.mjs";

const PAGES = ["memory.html", "memory-record.html", "memory-change.html", "memory-hostile.html"];

/** Anchors of the views that can be seen; there must be one. */
const shown = (page) => page.$$eval(".view", (all) => all.filter((v) => v.getClientRects().length > 0).map((v) => v.id));

/** The tile of this name that can be opened. */
const tile = (page, name) =>
  page.locator(".view:visible svg:visible a").filter({ has: page.locator("xpath=./*[local-name()='title']", { hasText: new RegExp(`^${name}:`) }) });

test("a click opens an area, a second one a branch in it; the way up is above it, and Back works", async () => {
  const { page, said, close } = await open("memory.html");
  assert.deepEqual(await shown(page), ["map"]);
  await tile(page, "Java heap").click();
  const [heap] = await shown(page);
  assert.notEqual(heap, "map");
  assert.match(await page.locator(".view:visible .crumbs").innerText(), /all resident memory › Java heap: 214\.5 MiB, 52\.8 % of RSS/);
  await tile(page, "old").click();
  assert.match(await page.locator(".view:visible .crumbs").innerText(), /› Java heap › old: 125\.0 MiB/);
  await page.locator(".view:visible .crumbs a").last().click();
  assert.deepEqual(await shown(page), [heap]);
  await page.goBack();
  assert.match(await page.locator(".view:visible .crumbs").innerText(), /› old:/);
  assert.deepEqual(said, []);
  await close();
});

test("the page stays where it is while the map zooms", async () => {
  const { page, close } = await open("memory.html");
  await tile(page, "Java heap").scrollIntoViewIfNeeded();
  const at = await page.evaluate(() => scrollY);
  await tile(page, "Java heap").click();
  assert.equal(await page.evaluate(() => scrollY), at);
  await close();
});

test("the keyboard alone zooms in, focuses the way up, and Escape goes up to the whole", async () => {
  const { page, close } = await open("memory.html");
  await page.focus("#theme");
  await page.keyboard.press("Tab");
  const name = await page.evaluate(() => document.activeElement.querySelector("title").textContent);
  assert.match(name, /^Java heap: /);
  const edge = () => page.evaluate(() => getComputedStyle(document.activeElement.querySelector(".outer")).stroke);
  const focused = await edge();
  await page.keyboard.press("Enter");
  assert.notDeepEqual(await shown(page), ["map"]);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "all resident memory");
  await page.keyboard.press("Escape");
  assert.deepEqual(await shown(page), ["map"]);
  await page.keyboard.press("Escape");
  assert.deepEqual(await shown(page), ["map"]);
  await page.evaluate(() => document.activeElement.blur());
  const plain = await page.$eval(".view.whole .map-wide svg a .outer", (r) => getComputedStyle(r).stroke);
  assert.notEqual(focused, plain, "a tile with the focus looks the same as without");
  await close();
});

test("a finger on a phone opens an area", async () => {
  const { page, close } = await open("memory.html", { width: 360, hasTouch: true, isMobile: true });
  await tile(page, "Java heap").tap();
  assert.match(await page.locator(".view:visible .crumbs").innerText(), /Java heap: 214\.5 MiB/);
  await close();
});

test("without a script the map opens areas all the same", async () => {
  const { page, close } = await open("memory.html", { javaScriptEnabled: false });
  assert.equal(await page.locator(".view:visible").count(), 1);
  await tile(page, "Java heap").click();
  assert.match(await page.locator(".view:visible .crumbs").innerText(), /Java heap: 214\.5 MiB/);
  assert.equal(await page.locator("#theme:visible").count(), 0);
  await close();
});

test("the tiles of the whole fill it in proportion to their bytes", async () => {
  const { page, close } = await open("memory.html");
  const tiles = await page.$$eval(".view.whole .map-wide svg", ([svg]) => {
    const whole = svg.viewBox.baseVal.width * svg.viewBox.baseVal.height;
    return [...svg.querySelectorAll(":scope > a, :scope > rect")].map((part) => {
      const { width, height } = (part.querySelector(".outer") ?? part).getBBox();
      const words = part.querySelector("title").textContent;
      return { words, percent: Number(words.match(/([\d.]+) % of RSS/)?.[1]), drawn: (100 * width * height) / whole };
    });
  });
  assert.ok(tiles.length >= 10, `${tiles.length}`);
  const sum = tiles.reduce((all, t) => all + t.drawn, 0);
  assert.ok(Math.abs(sum - 100) < 0.2, `${sum} % of the map is drawn`);
  for (const { words, percent, drawn } of tiles) assert.ok(Math.abs(percent - drawn) < 0.15, `${words}: ${drawn}`);
  await close();
});

test("the page shows the sum, and the areas of its table add up to it", async () => {
  const { page, close } = await open("memory.html");
  const sum = await page.locator(".sum").first().innerText();
  assert.match(sum, /Total equals RSS: 406\.4 MiB, difference 0 B/);
  const cells = await page.$$eval("table.entries tbody tr", (rows) =>
    rows.filter((r) => !r.cells[0].innerText.includes("›")).map((r) => r.cells[1].innerText),
  );
  const scale = { MiB: 1, KiB: 1 / 1024, B: 1 / 1048576 };
  const mib = cells.map((c) => Number(c.split(" ")[0].replaceAll(",", "")) * scale[c.split(" ")[1]]);
  const all = mib.reduce((a, b) => a + b, 0);
  assert.ok(Math.abs(all - 406.4) < 0.05 * mib.length, `${all}`);
  await close();
});

testNoCollisions(PAGES, [1280, 768, 360], async (page) => {
  const style = await page.addStyleTag({ content: ".view { display: block !important }" });
  return () => style.evaluate((added) => added.remove());
});
testLabelsOnPhones(["memory-record.html"]);
testReadable(["memory-record.html", "memory-change.html"]);

test("paper shows the whole map, whatever was open", async () => {
  const { page, close } = await open("memory-record.html", { colorScheme: "dark" });
  await tile(page, "Java heap").click();
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.deepEqual(await shown(page), ["map"]);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  const pdf = await page.pdf({ path: join(FOLDER, "memory.pdf"), format: "A4" });
  assert.ok(pdf.length > 20_000, `${pdf.length} bytes`);
  await close();
});

testMarksHaveStyles(PAGES);
testHostileNames("memory-hostile.html");
testSilence(PAGES);
leaveScreenshots(
  [
    ["memory-record.html", 1280, "light"], ["memory-record.html", 1280, "dark"], ["memory-record.html", 360, "light"],
    ["memory-change.html", 1280, "light"],
  ],
  40_000,
);
