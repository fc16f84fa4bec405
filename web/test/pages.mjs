// What every page is tested for, and the browser that the tests of one file share.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { linesThroughTexts, svgTextContrast, textCollisions, unstyledMarks } from "./look.mjs";

/** Folder of the sample pages; screenshots are left there. */
export const FOLDER = process.env.REPORT_PAGES;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      // One renderer process for all pages of a context.
      "--renderer-process-limit=1",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
});
after(() => browser?.close());

/** Opens a page; returns it with its console messages and requests. Without options it shares the context of the file's other pages. */
export async function open(name, options) {
  if (options === undefined) {
    const opened = await openIn(await beside(), name);
    return { ...opened, close: () => opened.page.close() };
  }
  const context = await contextOf(options);
  return { ...(await openIn(context, name)), close: () => context.close() };
}

/** Loads one page after the other in one tab: starting a renderer process for each would double the time. */
export async function openEach(names, options, see) {
  const context = await contextOf(options);
  const page = await context.newPage();
  for (const name of names) {
    await page.goto(urlOf(name));
    await see(name, page);
  }
  await context.close();
}

let shared;
const beside = async () => (shared ??= await contextOf());

const contextOf = ({ width = 1280, ...options } = {}) => browser.newContext({ viewport: { width, height: 900 }, ...options });

const urlOf = (name) => pathToFileURL(join(FOLDER, name)).href;

async function openIn(context, name) {
  const page = await context.newPage();
  const said = [];
  const asked = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("dialog", (dialog) => (said.push(`dialog ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => asked.push(request.url()));
  const url = urlOf(name);
  await page.goto(url);
  return { page, said, asked, url };
}

/**
 * A page for tests that only look: loaded once for all tests of a file, then made as wide and coloured as each needs, since to load it takes
 * longer than most looks. Pages that are loaded narrow, dark or without a script are in `first-screen.test.mjs`, in the screenshots and in
 * the tests of single pages. What a test folds out stays so: the next looks at more, never at less.
 */
const looked = new Map();
export async function look(name, { width = 1280, colorScheme = "light", media = "screen" } = {}) {
  if (!looked.has(name)) looked.set(name, await openIn(await beside(), name));
  const { page } = looked.get(name);
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ media, colorScheme });
  return page;
}

export const openDetails = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));

/** Stands last in a file: it judges what shared pages have said in all tests before. */
export function testSilence(names) {
  test("no page has said anything on the console or asked for anything but itself", async () => {
    for (const name of names) {
      const page = await look(name);
      await page.bringToFront();
      await page.getByRole("button").first().click();
      const { said, asked, url } = looked.get(name);
      assert.ok(asked.includes(url), name);
      assert.deepEqual(said, [], name);
      assert.deepEqual(asked.filter((other) => !other.startsWith(url) && !other.startsWith("data:")), [], name);
    }
  });
}

/** `reveal` shows what a page hides until it is chosen, and gives back what hides it again. */
export function testNoCollisions(names, widths, reveal = async () => async () => {}) {
  for (const width of widths) {
    test(`no text leaves its picture or runs into another, and no page scrolls sideways, ${width} wide`, async () => {
      for (const name of names) {
        const page = await look(name, { width });
        await openDetails(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${name}: ${wide} wide`);
        const hide = await reveal(page);
        const found = [await page.evaluate(textCollisions), await page.evaluate(linesThroughTexts)];
        await hide();
        assert.deepEqual(found, [[], []], name);
      }
    });
  }
}

export function testLabelsOnPhones(names) {
  test("labels on a phone are at least 9 pixels high", async () => {
    for (const name of names) {
      const page = await look(name, { width: 360 });
      const smallest = await page.evaluate(() => {
        const texts = [...document.querySelectorAll("svg[role] text")].filter((t) => t.getClientRects().length > 0);
        const scale = (t) => t.ownerSVGElement.getBoundingClientRect().width / t.ownerSVGElement.viewBox.baseVal.width;
        return Math.min(...texts.map((t) => parseFloat(getComputedStyle(t).fontSize) * scale(t)));
      });
      assert.ok(smallest >= 9 && smallest < Infinity, `${name}: ${smallest} pixels`);
    }
  });
}

const ONLY_CONTRAST = { runOnly: ["color-contrast"] };
/**
 * On screens and phones, light and dark, and on paper, whatever the scheme, with what axe is asked in each: contrast, which takes it longest,
 * once for each set of colours and at each width, all else once for each width.
 */
const VIEWS = [
  { width: 1280, colorScheme: "light", asked: {} },
  { width: 1280, colorScheme: "dark" },
  { width: 390, colorScheme: "light" },
  { width: 390, colorScheme: "dark", asked: {} },
  { width: 794, colorScheme: "dark", media: "print", asked: ONLY_CONTRAST },
];

export function testReadable(names) {
  for (const { width, colorScheme, media, asked } of VIEWS) {
    const view = `${width} wide, ${media ?? colorScheme}`;
    test(`${asked ? "accessibility rules of axe hold, and " : ""}texts in pictures have a contrast of at least 4.5, ${view}`, async () => {
      for (const name of names) {
        const page = await look(name, { width, colorScheme, media });
        await openDetails(page);
        const lowest = await page.evaluate(svgTextContrast);
        assert.ok(lowest.contrast >= 4.5, `${name}: ${JSON.stringify(lowest)}`);
        if (asked) assert.deepEqual(await violations(page, asked), [], name);
      }
    });
  }
}

/** What axe finds wrong, in words. */
async function violations(page, asked) {
  // In a background tab axe waits for frames that come late.
  await page.bringToFront();
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const found = await page.evaluate((asked) => window.axe.run(document, { resultTypes: ["violations"], ...asked }), asked);
  return found.violations.map((v) => `${v.id}: ${v.nodes.length}, ${v.nodes[0].html.slice(0, 160)}`);
}

export function testMarksHaveStyles(names) {
  test("every mark has a style", async () => {
    for (const name of names) {
      const page = await look(name);
      assert.deepEqual(await page.evaluate(unstyledMarks), [], name);
    }
  });
}

/** The sample `name` has a script in a name, with this text as its content. */
export function testHostileNames(name, text = "<script>alert('1')</script>") {
  test("hostile names are text", async () => {
    const { page, said, close } = await open(name);
    assert.equal(await page.locator("script").count(), 1);
    assert.ok((await page.locator(`text=${text}`).count()) > 0);
    assert.deepEqual(said, []);
    await close();
  });
}

/** Each shot: page, width, colour scheme. Only with SCREENSHOTS=1: nobody looks at those of a check. */
export function leaveScreenshots(shots, bytesMin) {
  if (!process.env.SCREENSHOTS) return;
  test("screenshots are left for people to look at", async () => {
    for (const [name, width, colorScheme] of shots) {
      const { page, close } = await open(name, { width, colorScheme });
      const image = await page.screenshot({ fullPage: true });
      assert.ok(image.length > bytesMin, `${image.length} bytes`);
      writeFileSync(join(FOLDER, `${name.replace(".html", "")}-${width}-${colorScheme}.png`), image);
      await close();
    }
  });
}
