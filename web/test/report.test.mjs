// Looks at the sample reports in a real Chromium: pictures, colours, keyboard, phone, paper, no network.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { drawnFigures, textCollisions } from "./look.mjs";
import {
  FOLDER, leaveScreenshots, look, open, testHostileNames, testLabelsOnPhones, testMarksHaveStyles, testNoCollisions,
  testReadable, testSilence,
} from "./pages.mjs";

const PAGES = ["report.html", "demo.html", "hostile.html"];
const WIDTHS = [1280, 768, 360];

test("the search for collisions finds texts that overlap or leave their picture", async () => {
  const { page, close } = await open("demo.html");
  const planted = await page.evaluate(() => {
    const [first, second] = document.querySelectorAll("figure svg[role=img] text.lab");
    second.setAttribute("y", first.getAttribute("y"));
    document.querySelector("figure svg[role=img] text.val").setAttribute("x", "9999");
    return first.ownerSVGElement === second.ownerSVGElement;
  });
  assert.ok(planted);
  const found = await page.evaluate(textCollisions);
  assert.ok(found.some((f) => f.includes("leaves the picture")), found.join());
  assert.ok(found.some((f) => f.includes("runs into")), found.join());
  await close();
});

for (const width of WIDTHS) {
  test(`every figure is drawn, ${width} wide`, async () => {
    for (const name of PAGES) {
      const page = await look(name, { width });
      const figures = await page.evaluate(drawnFigures);
      assert.ok(figures.length >= 5, `${name}: ${figures.length} figures`);
      for (const figure of figures) {
        assert.ok(figure.absent || figure.pictures > 0, `${name} ${figure.id}: no picture`);
        assert.ok(figure.absent || figure.marks > 0, `${name} ${figure.id}: no mark with a size`);
      }
    }
  });
}

testNoCollisions(PAGES, WIDTHS);
testLabelsOnPhones(["report.html"]);

test("the pictures need no script", async () => {
  const { page, close } = await open("demo.html", { javaScriptEnabled: false });
  assert.ok((await page.locator("figure svg[role=img]:visible").count()) > 5);
  assert.equal(await page.locator("#theme:visible").count(), 0, "a button that does nothing");
  await close();
});

// What the full report has beside these two is more of the same, and axe takes long.
testReadable(["demo.html", "hostile.html"]);

test("light and dark differ, and the button switches between them by keyboard", async () => {
  const { page, close } = await open("demo.html", { colorScheme: "light" });
  const colours = () =>
    page.evaluate(() => {
      const bar = document.querySelector("figure .bar");
      return [getComputedStyle(document.body).backgroundColor, getComputedStyle(bar).fill].join(" ");
    });
  const light = await colours();
  await page.focus("#theme");
  await page.keyboard.press("Enter");
  const dark = await colours();
  assert.notEqual(dark, light);
  assert.equal(await page.textContent("#theme"), "Light colours");
  await page.keyboard.press("Space");
  assert.equal(await colours(), light);
  await close();
});

test("the keyboard reaches the skip link first, then the button, then what is folded away", async () => {
  const { page, close } = await open("demo.html");
  const reached = [];
  for (let step = 0; step < 30; step++) {
    await page.keyboard.press("Tab");
    reached.push(
      await page.evaluate(() => {
        const { className, id, tagName } = document.activeElement;
        const outlined = getComputedStyle(document.activeElement).outlineStyle !== "none";
        return `${id || className || tagName}${outlined ? "" : " without outline"}`;
      }),
    );
  }
  assert.equal(reached[0], "skip");
  const button = reached.indexOf("theme");
  const folded = reached.indexOf("SUMMARY");
  assert.ok(button > 0 && folded > button, reached.join(", "));
  assert.ok(!reached.some((r) => r.includes("without outline")), reached.join(", "));
  await page.focus("summary");
  await page.keyboard.press("Enter");
  assert.ok(await page.locator("details").first().evaluate((d) => d.open));
  await close();
});

test("headings go down one level at a time", async () => {
  const { page, close } = await open("report.html");
  const levels = await page.$$eval("h1,h2,h3,h4,h5,h6", (all) => all.map((h) => Number(h.tagName[1])));
  assert.equal(levels[0], 1);
  assert.equal(levels.filter((level) => level === 1).length, 1);
  levels.slice(1).forEach((level, i) => assert.ok(level <= levels[i] + 1, `h${level} after h${levels[i]}`));
  await close();
});

test("paper is white and cuts no picture", async () => {
  const { page, close } = await open("demo.html", { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.equal(await page.locator("nav:visible").count(), 0);
  assert.deepEqual(await page.evaluate(textCollisions), []);
  const pdf = await page.pdf({ path: join(FOLDER, "demo.pdf"), format: "A4" });
  assert.ok(pdf.length > 20_000, `${pdf.length} bytes`);
  await close();
});

testMarksHaveStyles(PAGES);
testHostileNames("hostile.html");
testSilence(PAGES);
leaveScreenshots([["report.html", 1280, "light"], ["demo.html", 1280, "dark"], ["report.html", 360, "light"]], 50_000);
