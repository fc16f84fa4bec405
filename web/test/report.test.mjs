// Looks at the sample reports in a real Chromium: pictures, colours, keyboard, phone, paper, no network.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { drawnFigures, svgTextContrast, textCollisions } from "./look.mjs";

const FOLDER = process.env.REPORT_PAGES;
const PAGES = ["report.html", "demo.html", "hostile.html"];
const WIDTHS = [1280, 768, 360];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
});
after(() => browser?.close());

/** Opens a page and hands it over with what it said and asked for. */
async function open(name, { width = 1280, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, ...options });
  const page = await context.newPage();
  const said = [];
  const asked = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("dialog", (dialog) => (said.push(`dialog ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => asked.push(request.url()));
  const url = pathToFileURL(join(FOLDER, name)).href;
  await page.goto(url);
  return { page, said, asked, url, close: () => context.close() };
}

test("no page says anything on the console or asks for anything but itself", async () => {
  for (const name of PAGES) {
    const { page, said, asked, url, close } = await open(name);
    await page.getByRole("button").first().click();
    assert.deepEqual(said, [], name);
    assert.deepEqual(asked.filter((other) => other !== url && !other.startsWith("data:")), [], name);
    await close();
  }
});

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
  test(`every figure is drawn, and no label leaves its picture or runs into another, ${width} wide`, async () => {
    for (const name of PAGES) {
      const { page, close } = await open(name, { width });
      const figures = await page.evaluate(drawnFigures);
      assert.ok(figures.length >= 5, `${name}: ${figures.length} figures`);
      for (const figure of figures) {
        assert.ok(figure.absent || figure.pictures > 0, `${name} ${figure.id}: no picture`);
        assert.ok(figure.absent || figure.marks > 0, `${name} ${figure.id}: no mark with a size`);
      }
      assert.deepEqual(await page.evaluate(textCollisions), [], name);
      await close();
    }
  });

  test(`the page itself never scrolls sideways, ${width} wide`, async () => {
    for (const name of PAGES) {
      const { page, close } = await open(name, { width });
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name}: ${wide} wide`);
      await close();
    }
  });
}

test("labels on a phone are at least 9 pixels high", async () => {
  const { page, close } = await open("report.html", { width: 360 });
  const smallest = await page.evaluate(() => {
    const shown = [...document.querySelectorAll("figure svg text")].filter((t) => t.getClientRects().length > 0);
    const scale = (t) => t.ownerSVGElement.getBoundingClientRect().width / t.ownerSVGElement.viewBox.baseVal.width;
    return Math.min(...shown.map((t) => parseFloat(getComputedStyle(t).fontSize) * scale(t)));
  });
  assert.ok(smallest >= 9, `${smallest} pixels`);
  await close();
});

test("the pictures need no script", async () => {
  const { page, close } = await open("demo.html", { javaScriptEnabled: false });
  assert.ok((await page.locator("figure svg[role=img]:visible").count()) > 5);
  assert.equal(await page.locator("#theme:visible").count(), 0, "a button that does nothing");
  await close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`accessibility rules of axe hold, ${colorScheme}`, async () => {
    // What the full report has beside these two is more of the same, and axe takes long.
    for (const name of ["demo.html", "hostile.html"]) {
      const { page, close } = await open(name, { colorScheme });
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const told = violations.map((v) => `${v.id}: ${v.nodes.length}, ${v.nodes[0].html.slice(0, 120)}`);
      assert.deepEqual(told, [], name);
      await close();
    }
  });

  test(`texts in pictures have a contrast of at least 4.5, ${colorScheme}`, async () => {
    const { page, close } = await open("report.html", { colorScheme });
    const lowest = await page.evaluate(svgTextContrast);
    assert.ok(lowest.contrast >= 4.5, JSON.stringify(lowest));
    await close();
  });
}

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
  for (let step = 0; step < 12; step++) {
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

test("paper is white, shows the study file, and cuts no picture", async () => {
  const { page, close } = await open("demo.html", { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  assert.equal(await page.locator("nav:visible").count(), 0);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.ok(await page.locator("text=schema = \"assay.study/1\"").isVisible());
  assert.deepEqual(await page.evaluate(textCollisions), []);
  const pdf = await page.pdf({ path: join(FOLDER, "demo.pdf"), format: "A4" });
  assert.ok(pdf.length > 20_000, `${pdf.length} bytes`);
  await close();
});

test("hostile names are text", async () => {
  const { page, said, close } = await open("hostile.html");
  assert.equal(await page.locator("script").count(), 1);
  assert.ok((await page.locator("text=<script>alert('1')</script>").count()) > 0);
  assert.deepEqual(said, []);
  await close();
});

test("screenshots are left for people to look at", async () => {
  const shots = [["report.html", 1280, "light"], ["demo.html", 1280, "dark"], ["report.html", 360, "light"]];
  for (const [name, width, colorScheme] of shots) {
    const { page, close } = await open(name, { width, colorScheme });
    const image = await page.screenshot({ fullPage: true });
    assert.ok(image.length > 50_000, `${image.length} bytes`);
    writeFileSync(join(FOLDER, `${name.replace(".html", "")}-${width}-${colorScheme}.png`), image);
    await close();
  }
});
