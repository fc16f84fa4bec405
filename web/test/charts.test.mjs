// Pictures under real pointers, fingers and keys: what a reader sees must be visible, beside its mark, and gone when it is left.
import assert from "node:assert/strict";
import { test } from "node:test";
import { finger, isDrawn, pointOf, shown } from "./input.mjs";
import { open } from "./pages.mjs";

test("a mark shows its value to the pointer, the finger and the keyboard, and nothing is left behind", async () => {
  const { page, close } = await open("gc-diff.html", { hasTouch: true });
  const mark = page.locator("#forest .map-wide path.bar").first();
  const words = await mark.locator("title").textContent();
  await mark.hover();
  assert.equal((await shown(page))?.text, words);
  assert.equal(await mark.locator("title").textContent(), "", "the browser's own box would stand over it");
  await page.mouse.move(5, 5);
  assert.equal(await shown(page), undefined);
  assert.equal(await mark.locator("title").textContent(), words);

  await mark.tap();
  assert.equal((await shown(page))?.text, words, "a lifted finger leaves the value");
  await page.touchscreen.tap(5, 5);
  assert.equal(await shown(page), undefined);

  await page.locator("#forest .map-wide svg").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal((await shown(page))?.text, words);
  await page.keyboard.press("Escape");
  assert.equal(await shown(page), undefined);
  await close();
});

test("Escape puts away what the pointer shows", async () => {
  const { page, close } = await open("gc-diff.html");
  await page.locator("#forest .map-wide path.bar").first().hover();
  assert.ok(await shown(page));
  await page.keyboard.press("Escape");
  assert.equal(await shown(page), undefined);
  await close();
});

test("a finger that misses a small mark by some pixels still reads it", async () => {
  const { page, close } = await open("capacity.html", { width: 390, hasTouch: true });
  const mark = page.locator("#response-curve .map-narrow path.mk").first();
  const [x, y] = await pointOf(mark, 0.5, 0.5);
  await (await finger(page)).tap([x, y - 9]);
  assert.ok((await shown(page))?.text.length > 0);
  await close();
});

test("what the pointer shows follows a page that scrolls", async () => {
  const { page, close } = await open("gc-diff.html");
  await page.locator("#forest .map-wide path.bar").first().hover();
  assert.ok(await shown(page));
  await page.mouse.wheel(0, 20_000);
  await page.locator(".tip").waitFor({ state: "hidden" });
  await close();
});

test("a tile of the memory map says its bytes to pointer and keyboard", async () => {
  const { page, close } = await open("memory.html");
  const tile = page.locator("#map .map-wide a:visible").first();
  await tile.hover();
  assert.match((await shown(page))?.text, /[KMG]iB/);
  await page.mouse.move(5, 5);
  await tile.focus();
  await page.keyboard.press("Tab");
  assert.match((await shown(page))?.text, /[KMG]iB/);
  await close();
});

const TIMELINE = "#gc-timeline .map-wide svg";

test("a timeline shows its time and values at the pointer, with one cursor in all pictures of the axis", async () => {
  const { page, close } = await open("gc.html");
  const svg = page.locator(TIMELINE);
  const cursor = svg.locator(".cursor");
  assert.ok(!(await isDrawn(cursor)));
  const [x, y] = await pointOf(svg, 0.5, 0.2);
  await page.mouse.move(x, y);
  const tip = await shown(page);
  assert.match(tip.text, /^[\d.]+ min/);
  assert.match(tip.text, /in use after a collection.*MiB/);
  assert.ok(Math.abs(tip.x + tip.width / 2 - x) < 2, "the box stands over the pointer");
  assert.ok(await isDrawn(cursor));
  const line = await cursor.evaluate((of) => of.getBoundingClientRect().x);
  assert.ok(Math.abs(line - x) < 2, `${line}, wanted ${x}`);
  // The lower plot has the same axis.
  await page.mouse.move(...(await pointOf(svg, 0.7, 0.8)));
  assert.match((await shown(page)).text, /in use after a collection.*MiB/);
  await page.mouse.move(2, 2);
  assert.equal(await shown(page), undefined);
  assert.ok(!(await isDrawn(cursor)));
  await close();
});

test("a drag zooms into time, marks no text, and a button, a key or a double click shows all again", async () => {
  const { page, close } = await open("gc.html");
  const svg = page.locator(TIMELINE);
  const labels = () => svg.locator(".ticks text").allTextContents();
  const drawn = () => svg.locator(".timed path.ln").first().getAttribute("d");
  const [whole, before] = [await labels(), await drawn()];
  const drag = async (from, to, down = 0.2) => {
    await page.mouse.move(...(await pointOf(svg, from, down)));
    await page.mouse.down();
    await page.mouse.move(...(await pointOf(svg, to, down)), { steps: 4 });
    assert.ok(await svg.locator(".brush").isVisible());
    await page.mouse.up();
    assert.ok(await svg.locator(".brush").isHidden());
  };
  await drag(0.4, 0.6);
  assert.notDeepEqual(await labels(), whole);
  assert.notEqual(await drawn(), before);
  await page.getByRole("button", { name: "Show all", exact: true }).click();
  assert.deepEqual(await labels(), whole);
  assert.equal(await drawn(), before);
  // Along the labels of the axis and its title.
  await drag(0.3, 0.7, 0.97);
  assert.equal(await page.evaluate(() => getSelection().toString()), "");
  assert.notDeepEqual(await labels(), whole);
  await page.mouse.dblclick(...(await pointOf(svg, 0.5, 0.3)));
  assert.deepEqual(await labels(), whole);
  assert.equal(await page.evaluate(() => getSelection().toString()), "");
  await close();
});

test("the keyboard moves the cursor of a timeline and zooms around it", async () => {
  const { page, close } = await open("gc.html");
  const svg = page.locator(TIMELINE);
  const labels = () => svg.locator(".ticks text").allTextContents();
  const whole = await labels();
  await svg.focus();
  await page.keyboard.press("ArrowRight");
  const first = (await shown(page)).text;
  assert.ok(await isDrawn(svg.locator(".cursor")));
  await page.keyboard.press("ArrowRight");
  assert.notEqual((await shown(page)).text, first);
  await page.keyboard.press("+");
  assert.notDeepEqual(await labels(), whole);
  await page.keyboard.press("ArrowLeft");
  assert.match((await shown(page)).text, /min/);
  await page.keyboard.press("0");
  assert.deepEqual(await labels(), whole);
  await page.keyboard.press("Tab");
  assert.equal(await shown(page), undefined);
  assert.ok(!(await isDrawn(svg.locator(".cursor"))));
  await close();
});

test("a finger reads a timeline on a phone, and zooms by a drag along it", async () => {
  const { page, close } = await open("gc.html", { width: 390, hasTouch: true });
  const svg = page.locator("#gc-timeline .map-narrow svg");
  const labels = () => svg.locator(".ticks text").allTextContents();
  const whole = await labels();
  const touch = await finger(page);
  await touch.tap(await pointOf(svg, 0.5, 0.3));
  assert.match((await shown(page)).text, /in use after a collection.*MiB/);
  assert.ok(await isDrawn(svg.locator(".cursor")));
  const points = [];
  for (const across of [0.35, 0.45, 0.55, 0.65]) points.push(await pointOf(svg, across, 0.3));
  await touch.drag(...points);
  assert.notDeepEqual(await labels(), whole);
  await close();
});

test("the pictures of a load share their axis: one cursor and one zoom in all", async () => {
  const { page, close } = await open("load.html");
  const [times, rates] = ["#times-over-time", "#rate-over-time"].map((of) => page.locator(`${of} .map-wide svg`));
  await page.mouse.move(...(await pointOf(times, 0.5, 0.5)));
  assert.match((await shown(page)).text, /p99: [\d.,]+ ms/);
  assert.ok((await isDrawn(times.locator(".cursor"))) && (await isDrawn(rates.locator(".cursor"))));
  const whole = await rates.locator(".ticks text").allTextContents();
  await times.focus();
  await page.keyboard.press("+");
  assert.notDeepEqual(await rates.locator(".ticks text").allTextContents(), whole);
  await close();
});

test("paper has the charts of a study when they are asked for, and the answer alone when they are not", async () => {
  const { page, close } = await open("demo.html", {});
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator("#pictures").isHidden());
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => (window.print = () => (window.asked = true)));
  await page.getByRole("button", { name: "Print with charts" }).click();
  assert.ok(await page.evaluate(() => window.asked));
  await page.emulateMedia({ media: "print" });
  const drawn = page.locator("#pictures svg[role]:visible");
  assert.ok((await drawn.count()) > 5);
  const boxes = await drawn.evaluateAll((all) => all.map((svg) => svg.getBoundingClientRect().width));
  assert.ok(boxes.every((width) => width > 100), boxes.join());
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.ok(await page.locator("#pictures").isHidden());
  await close();
});

test("a timeline says the time of day at the pointer, also behind a restart and when it is zoomed", async () => {
  const { page, close } = await open("gc-z.html", {});
  const svg = page.locator(TIMELINE);
  const clocks = async () => (await svg.locator(".ticks text.at").allTextContents()).filter(Boolean);
  assert.ok((await clocks()).includes("08:17:32"), (await clocks()).join());
  await svg.focus();
  await page.keyboard.press("Home");
  assert.match((await shown(page)).text, /^0 s, 2025-09-16 08:17:32|^0 s, 08:17:32(\.000)? UTC/);
  await page.keyboard.press("End");
  // 40 s of the axis are 15 s of the second JVM, which began an hour and 25 s after the first.
  assert.match((await shown(page)).text, /^40 s, 09:18:12(\.000)? UTC/);
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  assert.ok((await clocks()).every((clock) => /^09:18:\d\d(\.\d+)?$/.test(clock)), (await clocks()).join());
  await close();
});

test("a pause says the line of the log at the pointer", async () => {
  const { page, close } = await open("gc.html", {});
  const mark = page.locator("#gc-timeline .map-wide path.pause.s7").first();
  await mark.hover();
  assert.match((await shown(page)).text, /^full, around .* ms, \/var\/log\/shop\/gc\.log:\d+\n/);
  await close();
});
