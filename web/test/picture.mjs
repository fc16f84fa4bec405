// picture.mjs PAGE LIGHT DARK   what the README shows of a page: its answer and its first picture, the tree map of `assay memory` or the
// effects of a study, as SVG in both colours.
// CHROMIUM is the browser.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/** The picture as text. Styles become attributes, so that it needs nothing else. Runs in the page. */
function pictureOf() {
  const MARGIN = 13, LINE = 26, LINE_CHARS = 100;
  const STYLES = ["fill", "stroke", "stroke-width", "stroke-linejoin", "stroke-opacity", "fill-opacity", "opacity", "paint-order"];
  const OF_TEXT = ["font-family", "font-size", "font-weight"];

  const make = (name, attributes, ...content) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.append(...content);
    return made;
  };
  // A picture has no links, no titles and no classes.
  const copyOf = (element) => {
    const attributes = [...element.attributes].filter(({ name }) => !/^(class|href|aria-.*|role)$/.test(name));
    const styles = { rect: STYLES, path: STYLES, text: [...STYLES, ...OF_TEXT] }[element.localName] ?? [];
    const style = getComputedStyle(element);
    const content = [...element.children].filter((child) => !["title", "desc"].includes(child.localName));
    return make(
      element.localName === "a" ? "g" : element.localName,
      Object.fromEntries([...attributes.map(({ name, value }) => [name, value]), ...styles.map((name) => [name, style.getPropertyValue(name)])]),
      ...(element.localName === "text" ? [element.textContent] : content.map(copyOf)),
    );
  };
  const lineOf = (words, y, size) => {
    const { color, fontFamily } = getComputedStyle(document.body);
    return make("text", { y, fill: color, "font-family": fontFamily, "font-size": size, "font-weight": 600 }, words);
  };

  const words = (selector) => document.querySelector(selector)?.textContent.replace(/\s+/g, " ").trim() ?? "";
  // A headline goes on in a second line behind a semicolon, or where the first is full.
  const lines = words(".headline").split(/(?<=;) /).flatMap((part) => part.match(new RegExp(`.{1,${LINE_CHARS}}(?: |$)`, "g")));
  const under = words("#map .sum, .sum");
  const drawn = copyOf(document.querySelector("#map .map-wide svg, figure svg[role=img]"));
  const [, , width, height] = drawn.getAttribute("viewBox").split(" ").map(Number);
  const top = LINE * (lines.length + (under ? 1 : 0)) + 16;
  const box = { x: -MARGIN, y: 0, width: width + 2 * MARGIN, height: height + top + MARGIN };
  const picture = make(
    "svg",
    { viewBox: Object.values(box).join(" ") },
    copyOf(document.querySelector("svg.defs defs")),
    make("rect", { ...box, fill: getComputedStyle(document.body).backgroundColor }),
    ...lines.map((line, at) => lineOf(line, (at + 1) * LINE, 20)),
    ...(under ? [lineOf(under, (lines.length + 1) * LINE, 15)] : []),
    make("g", { transform: `translate(0 ${top})` }, ...drawn.childNodes),
  );
  return new XMLSerializer().serializeToString(picture);
}

const [file, light, dark] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
for (const [colorScheme, path] of [["light", light], ["dark", dark]]) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  writeFileSync(path, `${await page.evaluate(pictureOf)}\n`);
}
await browser.close();
