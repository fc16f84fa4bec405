// Looks at the pages of heaps: sums of bars, the choice of models, boxes to scale, address maps, phone, paper, no script.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  FOLDER, leaveScreenshots, open, testHostileNames, testLabelsOnPhones, testMarksHaveStyles, testNoCollisions,
  testReadable, testSilence,
} from "./pages.mjs";

const PAGES = [
  "heap.html", "heap-hostile.html", "heap-empty.html", "heap-layout.html", "heap-contended.html", "heap-modes.html",
  "heap-modes-empty.html",
];

testNoCollisions(PAGES, [1280, 768, 400, 360]);
testLabelsOnPhones(["heap.html", "heap-contended.html", "heap-modes.html"]);
testReadable(["heap.html", "heap-hostile.html", "heap-modes.html"]);
testMarksHaveStyles(PAGES);
testHostileNames("heap-hostile.html");

/** Widths of the marks of a picture by the start of their tooltips. */
const marks = (page, picture) =>
  page.$$eval(`${picture} .map-wide svg rect`, (all) =>
    all.map((r) => ({ tip: r.querySelector("title")?.textContent ?? "", at: r.x.baseVal.value, wide: r.width.baseVal.value })),
  );

/** Totals and bytes of classes, from the table that the script reads. */
const models = (page) =>
  page.$eval("#by-model", (table) => {
    const bytes = (row) => [...row.cells].slice(2).map((cell) => Number(cell.dataset.bytes));
    return {
      names: [...table.tHead.rows[0].cells].slice(2).map((cell) => cell.textContent),
      totals: bytes(table.tHead.rows[0]),
      classes: [...table.tBodies[0].rows].map(bytes),
    };
  });

/** The list of classes as it is shown: bytes in both models, and how wide the bars are. */
const pairs = (page) =>
  page.$$eval("#pairs li", (all) =>
    all.map((li) => ({
      name: li.querySelector(".name").textContent,
      by: li.querySelector(".by").textContent,
      from: Number(li.dataset.from),
      to: Number(li.dataset.to),
      drawn: [".from", ".to"].map((bar) => li.querySelector(bar).getBoundingClientRect().width),
    })),
  );

test("bars by model are as long as the totals of the table, and their parts fill them", async () => {
  const { page, close } = await open("heap.html");
  const { names, totals, classes } = await models(page);
  assert.equal(names.length, 11);
  names.forEach((name, i) => assert.equal(classes.reduce((sum, row) => sum + row[i], 0), totals[i], name));
  const bars = await marks(page, "#weights");
  const drawn = names.map((name) => bars.filter((b) => b.tip.startsWith(`${name}:`)).reduce((sum, b) => sum + b.wide, 0));
  const scale = drawn[5] / totals[5];
  drawn.forEach((wide, i) => assert.ok(Math.abs(wide - scale * totals[i]) < 0.5, `${names[i]}: ${wide}`));
  await close();
});

/** The bars add up to the totals of both models, and are as long as their bytes. */
async function checkPairs(page, from, to) {
  const { names, totals } = await models(page);
  const shown = await pairs(page);
  assert.equal(shown.length, 15);
  for (const [key, name] of [["from", from], ["to", to]]) {
    assert.equal(shown.reduce((sum, pair) => sum + pair[key], 0), totals[names.indexOf(name)], name);
  }
  const width = await page.$eval("#pairs", (list) => list.getBoundingClientRect().width);
  const largest = Math.max(...shown.flatMap((pair) => [pair.from, pair.to]));
  for (const { name, from, to, drawn } of shown) {
    [from, to].forEach((bytes, i) => {
      assert.ok(Math.abs(drawn[i] - Math.max(1, (width * bytes) / largest)) < 1.2, `${name}: ${drawn[i]}`);
    });
  }
  assert.match(await page.locator("#pair-sum").innerText(), new RegExp(`^${from} → ${to}: `));
  return shown;
}

test("the reader chooses two models; bars, order and sum follow", async () => {
  const { page, said, close } = await open("heap.html");
  const first = await checkPairs(page, "compressed", "compact");
  await page.selectOption("#to", { label: "64-bit" });
  const second = await checkPairs(page, "compressed", "64-bit");
  assert.notDeepEqual(second.map((p) => p.name), first.map((p) => p.name));
  const changes = second.slice(0, -1).map((p) => Math.abs(p.to - p.from));
  assert.deepEqual(changes, [...changes].sort((a, b) => b - a));
  await page.selectOption("#from", { label: "64-bit" });
  await checkPairs(page, "64-bit", "64-bit");
  await page.selectOption("#from", { label: "compressed, now" });
  await page.selectOption("#to", { label: "compact" });
  // Widths are held by the sums' check: program and script round the last digit differently.
  const words = (list) => list.map(({ name, by, from, to }) => ({ name, by, from, to }));
  assert.deepEqual(words(await pairs(page)), words(first), "the script writes what the program wrote");
  assert.deepEqual(said, []);
  await close();
});

test("without a script the first pair is shown, and no choice that does nothing", async () => {
  const { page, close } = await open("heap.html", { javaScriptEnabled: false });
  assert.equal(await page.locator("#pairs li:visible").count(), 15);
  assert.equal(await page.locator("select:visible").count(), 0);
  assert.equal(await page.locator("#theme:visible").count(), 0);
  await close();
});

test("places of an object are to scale and fill it in every model", async () => {
  for (const [name, largest] of [["heap.html", 48], ["heap-layout.html", 88]]) {
    const { page, close } = await open(name);
    const boxes = (await marks(page, "#object")).map(({ tip, wide }) => {
      const [, offset, bytes] = tip.match(/offset (\d+), (\d+) bytes/).map(Number);
      return { offset, bytes, wide };
    });
    const whole = boxes.filter((b, i) => boxes[i + 1]?.offset !== b.offset && boxes[i - 1]?.offset !== b.offset);
    const scale = whole[0].wide / whole[0].bytes;
    for (const { bytes, wide } of whole) assert.ok(Math.abs(wide - scale * bytes) < 0.2, `${name}: ${bytes} bytes ${wide}`);
    assert.equal(Math.max(...boxes.map((b) => b.offset + b.bytes)), largest);
    await close();
  }
});

test("the address map is to scale, and what is in the way has the number of its row", async () => {
  const { page, close } = await open("heap-modes.html");
  const bars = await marks(page, "#address-map");
  const width = await page.$eval("#address-map .map-wide svg", (svg) => svg.viewBox.baseVal.width - 4);
  const [space] = bars.filter((b) => b.tip.startsWith("class space"));
  assert.ok(Math.abs(space.wide - width / 64) < 0.2 && Math.abs(space.at - 2 - width / 2) < 0.5, JSON.stringify(space));
  const numbers = await page.$$eval("#addresses tbody th", (all) => all.map((th) => th.innerText.match(/^(\d+):/)?.[1]));
  const texts = await page.$$eval("#address-map .map-wide text.lab", (all) => all.map((t) => t.textContent));
  for (const number of numbers.filter(Boolean)) assert.ok(texts.includes(number), number);
  assert.equal(numbers.filter(Boolean).length, 4);
  await close();
});

test("every cell of the matrix is there, and the contradicted one stands out", async () => {
  const { page, close } = await open("heap-modes.html");
  assert.equal(await page.locator("table.cells td[title]").count(), 145);
  assert.equal(await page.locator("table.cells td.wrong").count(), 1);
  assert.match(await page.locator("table.cells td.wrong").getAttribute("title"), /computed compressed-zero-based, but/);
  const edge = (cell) => page.locator(cell).first().evaluate((td) => getComputedStyle(td).borderLeftColor);
  assert.notEqual(await edge("td.m-f0"), await edge("td.m-f2"));
  await close();
});

test("paper is white and shows the tables", async () => {
  const { page, close } = await open("heap.html", { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.equal(await page.locator("select:visible").count(), 0);
  const pdf = await page.pdf({ path: join(FOLDER, "heap.pdf"), format: "A4" });
  assert.ok(pdf.length > 20_000, `${pdf.length} bytes`);
  await close();
});

testSilence(PAGES);
leaveScreenshots(
  ["heap.html", "heap-modes.html"].flatMap((name) => [[name, 1280, "light"], [name, 1280, "dark"], [name, 400, "dark"]]),
  40_000,
);
