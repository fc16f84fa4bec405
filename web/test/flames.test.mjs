// Flame graphs: the first view is the program's, a click zooms, `/` searches, stacks are inverted, and the address keeps the view.
import assert from "node:assert/strict";
import { test } from "node:test";
import { finger, pointOf, shown } from "./input.mjs";
import { FOLDER, open, openEach } from "./pages.mjs";

const PAGES = [["time-stacks.html", "#flames-view"], ["time-change.html", "#flames-diff-view"]];

/** Every rectangle of the wide drawing: what it says, and where it stands. */
const rects = (view) =>
  view.locator(".map-wide rect").evaluateAll((all) =>
    all.map((r) => ({ tip: r.querySelector("title").textContent.split("\n")[0], class: r.getAttribute("class"), x: r.x.baseVal.value, y: r.y.baseVal.value, wide: r.width.baseVal.value })),
  );
const hash = (page) => page.evaluate(() => location.hash);
const rect = (view, name) => view.locator(".map-wide rect", { has: view.page().locator(`title:text("${name}")`) });
const widest = async (view) => (await rects(view)).filter(({ y }) => y === 0).reduce((a, b) => (b.wide > a.wide ? b : a));

for (const [name, id] of PAGES) {
  test(`${name}: the script draws the first view as the program does`, async () => {
    const drawn = {};
    for (const javaScriptEnabled of [false, true]) {
      await openEach([name], { javaScriptEnabled }, async (_, page) => (drawn[javaScriptEnabled] = await rects(page.locator(id))));
    }
    assert.ok(drawn.true.length > 30);
    assert.equal(drawn.true.length, drawn.false.length);
    drawn.true.forEach((of, index) => {
      const program = drawn.false[index];
      assert.equal(of.tip, program.tip);
      assert.equal(of.class, program.class);
      for (const key of ["x", "y", "wide"]) assert.ok(Math.abs(of[key] - program[key]) <= 0.11, `${of.tip}: ${key} ${of[key]}, ${program[key]}`);
    });
  });

  test(`${name}: a click zooms, the address says so, and the way back leads out`, async () => {
    const { page, close } = await open(name, {});
    const view = page.locator(id);
    const whole = await rects(view);
    assert.ok(await view.getByRole("button", { name: "Zoom out" }).isHidden());
    const last = whole.filter(({ y }) => y === 0).reduce((a, b) => (b.wide > a.wide ? a : b).wide > 40 ? b : a);
    const second = view.locator(".map-wide rect").nth(whole.indexOf(last));
    await second.hover();
    assert.equal((await shown(page)).text, last.tip);
    await second.click();
    const zoomed = await rects(view);
    assert.equal(zoomed[0].tip, last.tip);
    assert.ok(Math.abs(zoomed[0].wide - 960) < 0.2, "it is as wide as the picture");
    assert.match(await hash(page), /\?zoom=\d/);
    await page.reload();
    assert.deepEqual(await rects(view), zoomed, "a link shows the same");
    await view.getByRole("button", { name: "Zoom out" }).click();
    assert.deepEqual(await rects(view), whole);
    await page.goBack();
    assert.deepEqual(await rects(view), zoomed);
    await close();
  });
}

test("`/` goes to the search, which marks what it finds and says its share of all", async () => {
  const { page, close } = await open("time-stacks.html", {});
  const view = page.locator("#flames-view");
  const box = view.getByRole("searchbox");
  await page.keyboard.press("/");
  assert.ok(await box.evaluate((of) => of === document.activeElement));
  await page.keyboard.type("compiled java");
  const [found] = (await rects(view)).filter((of) => of.class.includes("found"));
  assert.match(found.tip, /^compiled Java: /);
  // The only function of that name, and no stack has it twice.
  const [, share] = found.tip.match(/, ([\d.]+ %)$/);
  assert.equal(await view.getByRole("status").innerText(), `${share} of all, in 1 function`);
  assert.match(await hash(page), /search=compiled\+java/);
  await page.reload();
  assert.equal(await box.inputValue(), "compiled java");
  assert.equal(await view.getByRole("status").innerText(), `${share} of all, in 1 function`);
  await box.fill("no such function");
  assert.match(await view.getByRole("status").innerText(), /^0\.0 % of all, in 0 functions/);
  assert.equal((await rects(view)).filter((of) => of.class.includes("found")).length, 0);
  await box.fill("");
  assert.ok(await view.evaluate((of) => !of.classList.contains("searched")));
  await close();
});

test("a search counts a stack once, however often it has the function", async () => {
  const { page, close } = await open("time-change.html", {});
  const view = page.locator("#flames-diff-view");
  await view.getByRole("searchbox").fill("");
  const [before, after] = await page.evaluate(() => JSON.parse(document.querySelector("#flames-diff-view template").content.textContent).tree.slice(1, 3));
  await view.getByRole("searchbox").fill("e");
  const said = await view.getByRole("status").innerText();
  const [, b, a] = said.match(/^([\d.]+) % of all before, ([\d.]+) % after/).map(Number);
  assert.ok(before > 0 && after > 0 && b <= 100 && a <= 100 && b > 50, said);
  await close();
});

test("inverted, what ran most stands first, as the table of functions has it", async () => {
  const { page, close } = await open("time-stacks.html", {});
  const view = page.locator("#flames-view");
  const button = view.getByRole("button", { name: "Invert" });
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  const cells = await page.locator("#functions tbody tr").first().locator("th, td").allTextContents();
  const first = await widest(view);
  assert.equal(first.tip, `${cells[0]}: ${cells[2]} samples, ${cells[3]}`);
  const callers = (await rects(view)).filter(({ y }) => y > 0);
  assert.ok(callers.some(({ tip }) => tip.startsWith("application: ")), "roles are the last callers");
  await page.reload();
  assert.equal((await widest(view)).tip, first.tip);
  await button.click();
  assert.match((await widest(view)).tip, /^(application|C2 compiler): /);
  await close();
});

test("the keyboard goes from frame to frame, in with Enter and out with Escape", async () => {
  const { page, close } = await open("time-stacks.html", {});
  const view = page.locator("#flames-view");
  const whole = await rects(view);
  await view.locator(".map-wide svg").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal((await shown(page)).text, whole[0].tip);
  await page.keyboard.press("ArrowRight");
  const next = (await shown(page)).text;
  assert.ok(next !== whole[0].tip && whole.some(({ tip, y }) => tip === next && y === 0), next);
  await page.keyboard.press("ArrowDown");
  const below = (await shown(page)).text;
  assert.ok(whole.some(({ tip, y }) => tip === below && y === 18), below);
  await page.keyboard.press("Enter");
  assert.equal((await rects(view))[0].tip, next, "its caller stays above it");
  assert.equal((await rects(view))[1].tip, below);
  assert.equal((await shown(page)).text, below);
  await page.keyboard.press("Escape");
  assert.equal((await rects(view))[0].tip, next);
  await page.keyboard.press("Escape");
  assert.deepEqual(await rects(view), whole);
  await close();
});

test("the first tap of a finger reads a frame, the second zooms into it", async () => {
  const { page, close } = await open("time-stacks.html", { width: 390, hasTouch: true });
  const view = page.locator("#flames-view");
  const tips = () => view.locator(".map-narrow rect title").allTextContents();
  const whole = await tips();
  const frame = view.locator(".map-narrow rect").nth(0);
  const touch = await finger(page);
  const at = await pointOf(frame, 0.3, 0.5);
  await touch.tap(at);
  assert.equal((await shown(page)).text, whole[0] || (await frame.getAttribute("aria-label")));
  assert.deepEqual(await hash(page), "");
  await touch.tap(at);
  assert.match(await hash(page), /zoom=0$/);
  await close();
});

test("an address that names nothing shows the whole, and says nothing on the console", async () => {
  const { page, said, close } = await open("time-stacks.html", {});
  const view = page.locator("#flames-view");
  const whole = await rects(view);
  for (const words of ["zoom=99.1", "zoom=-1.x", "zoom=0.0.0.0.0.0.0.0.0.0.0.0", "inverted=yes&search=", "%"]) {
    await page.goto(`file://${FOLDER}/time-stacks.html#flames?${words}`);
    await page.reload();
    assert.ok((await rects(view)).length > 0, words);
  }
  await page.goto(`file://${FOLDER}/time-stacks.html#flames?zoom=99.1`);
  await page.reload();
  assert.deepEqual(await rects(view), whole);
  assert.deepEqual(said, []);
  await close();
});
