// What the tests ask of a page; these functions run inside it and use nothing from outside themselves.

/** Every figure: whether it says why it is absent, how many pictures it shows, how many marks have a size. */
export function drawnFigures() {
  const sized = (mark) => {
    const box = mark.getBoundingClientRect();
    return box.width > 0 || box.height > 0;
  };
  return [...document.querySelectorAll("figure")].map((figure) => {
    const pictures = [...figure.querySelectorAll("svg[role=img]")].filter((s) => s.getClientRects().length > 0);
    const marks = pictures.map((s) => [...s.querySelectorAll(".bar, .ln, .thin, .band, .area")].filter(sized).length);
    return {
      id: figure.id,
      absent: figure.querySelector(".absent") !== null,
      pictures: pictures.length,
      marks: marks.length === 0 ? 0 : Math.min(...marks),
    };
  });
}

/** Texts that leave their picture or overlap another text by more than a unit, in words. */
export function textCollisions() {
  const SLACK = 1;
  const found = [];
  for (const svg of document.querySelectorAll("svg[role=img], svg[role=group]")) {
    if (svg.getClientRects().length === 0) continue;
    const { width, height } = svg.viewBox.baseVal;
    const texts = [...svg.querySelectorAll("text")].map((t) => ({ words: t.textContent, box: t.getBBox() }));
    const name = svg.getAttribute("aria-labelledby");
    texts.forEach(({ words, box }, index) => {
      const out = box.x < -SLACK || box.y < -SLACK || box.x + box.width > width + SLACK || box.y + box.height > height + SLACK;
      if (out) found.push(`${name}: "${words}" leaves the picture`);
      for (const other of texts.slice(index + 1)) {
        const across = Math.min(box.x + box.width, other.box.x + other.box.width) - Math.max(box.x, other.box.x);
        const down = Math.min(box.y + box.height, other.box.y + other.box.height) - Math.max(box.y, other.box.y);
        // Boxes of text lines include room above and below the letters: 3 units of it may touch.
        if (across > SLACK && down > 3) found.push(`${name}: "${words}" runs into "${other.words}"`);
      }
    });
  }
  return found;
}

/** Texts through which a line of a grid goes, in words. */
export function linesThroughTexts() {
  const found = new Set();
  for (const svg of document.querySelectorAll("svg[role=img], svg[role=group]")) {
    if (svg.getClientRects().length === 0) continue;
    const lines = [...svg.querySelectorAll("line.g, line.one, line.step")].map((line) => line.getBBox());
    const boxes = [...svg.querySelectorAll("rect")].map((rect) => rect.getBBox());
    for (const text of svg.querySelectorAll("text.lab, text.val, text.t")) {
      const { x, y, width, height } = text.getBBox();
      // What stands in a box has the box behind it.
      const covers = (box) => box.x <= x && x + width <= box.x + box.width && box.y <= y + height / 2 && y + height / 2 <= box.y + box.height;
      if (boxes.some(covers)) continue;
      // The box of a line of text has room at its sides and above and below the letters.
      const isIn = (line) =>
        Math.max(line.x, x + 1) <= Math.min(line.x + line.width, x + width - 1) &&
        Math.max(line.y, y + 3) <= Math.min(line.y + line.height, y + height - 3);
      if (lines.some(isIn)) found.add(`${svg.getAttribute("aria-labelledby")}: a line through "${text.textContent}"`);
    }
  }
  return [...found];
}

/** Marks without a style: a class that no rule names is painted in the browser's own black. */
export function unstyledMarks() {
  const marks = [...document.querySelectorAll("svg[role] rect, svg[role] path, svg[role] text")];
  const black = marks.filter((m) => getComputedStyle(m).fill === "rgb(0, 0, 0)");
  return [...new Set(black.map((m) => `${m.tagName} ${m.getAttribute("class")}`))];
}

/** The lowest contrast (WCAG 2) of a text in a picture with the page's ground. axe does not look into SVG. */
export function svgTextContrast() {
  const channels = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  let lowest = { contrast: Infinity, words: "" };
  for (const text of document.querySelectorAll("svg text")) {
    const ink = luminance(getComputedStyle(text).fill);
    const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    if (contrast < lowest.contrast) lowest = { contrast, words: text.textContent };
  }
  return lowest;
}
