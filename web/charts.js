// Pictures: the value of each mark under the pointer, the finger or the keyboard; copies as SVG that stand alone.
// Without this script a browser shows a mark's title.
"use strict";
{
  const named = (target) => target.closest?.("svg[role] :has(> title)");
  const isTimed = (svg) => svg.querySelector(".timed") !== null;
  let under;

  /** While the box shows a title, the browser must not show it too. */
  const leave = () => {
    if (under) {
      under.title.textContent = under.words;
      under.mark.removeAttribute("aria-label");
    }
    under = undefined;
    tip.hide();
  };
  const enter = (mark, x, y) => {
    const title = mark.querySelector(":scope > title");
    if (under?.title !== title) {
      leave();
      under = { mark, title, words: title.textContent };
      mark.setAttribute("aria-label", under.words);
      title.textContent = "";
    }
    if (under.words) tip.show([under.words], x, y);
  };
  const point = (event) => {
    const mark = named(event.target);
    const svg = mark?.closest("svg");
    if (!mark || mark === svg || isTimed(svg)) leave();
    else enter(mark, event.clientX, event.clientY);
  };
  addEventListener("pointermove", point, { passive: true });
  addEventListener("pointerdown", point, { passive: true });

  /** With the keyboard: arrows go from mark to mark. */
  const walk = (svg) => {
    const marks = [...svg.querySelectorAll(":scope :has(> title)")].filter((mark) => mark !== svg);
    if (marks.length === 0 || svg.getAttribute("role") !== "img" || isTimed(svg)) return;
    let at = -1;
    const say = (next) => {
      at = Math.max(0, Math.min(next, marks.length - 1));
      const { left, width, top } = marks[at].getBoundingClientRect();
      const words = marks[at] === under?.mark ? under.words : marks[at].querySelector(":scope > title").textContent;
      tip.show([words], left + width / 2, top);
    };
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    svg.tabIndex = 0;
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") tip.hide();
      if (!(event.key in steps)) return;
      event.preventDefault();
      say(at + steps[event.key]);
    });
    svg.addEventListener("blur", tip.hide);
  };
  document.querySelectorAll("svg[role]").forEach(walk);

  const STYLES = [
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin", "opacity",
    "paint-order", "font-family", "font-size", "font-weight",
  ];
  const isDrawn = (element) => element instanceof SVGElement && !["title", "desc", "g", "a", "defs"].includes(element.tagName);

  /** A copy of an element that needs no style sheet; patterns that it fills with go into `patterns`. */
  const standing = (element, patterns) => {
    const copy = element.cloneNode(true);
    const [from, to] = [element, copy].map((root) => [root, ...root.querySelectorAll("*")]);
    from.forEach((original, index) => {
      const style = getComputedStyle(original);
      to[index].removeAttribute("class");
      if (!isDrawn(original)) return;
      for (const name of STYLES) {
        if (name.startsWith("font") && original.tagName !== "text") continue;
        to[index].setAttribute(name, style.getPropertyValue(name).replaceAll('"', ""));
      }
      const [, id] = style.fill.match(/url\("?#([^")]+)"?\)/) ?? [];
      if (id && !patterns.has(id)) {
        patterns.set(id, undefined);
        patterns.set(id, standing(document.getElementById(id), patterns));
      }
    });
    for (const hidden of copy.querySelectorAll(".cursor, .brush")) hidden.remove();
    return copy;
  };

  /** All pictures of a figure that can be seen, under each other, as the text of one SVG file. */
  const file = (figure) => {
    const NS = document.querySelector("svg").namespaceURI;
    const patterns = new Map();
    const seen = [...figure.querySelectorAll("svg[role]")].filter((svg) => svg.getClientRects().length > 0);
    const whole = document.createElementNS(NS, "svg");
    let [width, height] = [0, 0];
    for (const svg of seen) {
      const box = svg.viewBox.baseVal;
      const copy = standing(svg, patterns);
      for (const name of ["role", "tabindex", "aria-labelledby", "aria-describedby"]) copy.removeAttribute(name);
      for (const [name, value] of Object.entries({ x: 0, y: height, width: box.width, height: box.height })) copy.setAttribute(name, value);
      whole.append(copy);
      width = Math.max(width, box.width);
      height += box.height;
    }
    const ground = document.createElementNS(NS, "rect");
    ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    const defs = document.createElementNS(NS, "defs");
    defs.append(...patterns.values());
    for (const element of [whole, ground]) {
      element.setAttribute("width", width);
      element.setAttribute("height", height);
    }
    whole.setAttribute("viewBox", `0 0 ${width} ${height}`);
    whole.prepend(defs, ground);
    return new XMLSerializer().serializeToString(whole);
  };

  const save = (figure) => {
    const url = URL.createObjectURL(new Blob([file(figure)], { type: "image/svg+xml" }));
    Object.assign(document.createElement("a"), { href: url, download: `${figure.id || "chart"}.svg` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    return "Saved.";
  };
  const copy = async (figure) => {
    try {
      await navigator.clipboard.writeText(file(figure));
      return "Copied.";
    } catch {
      // A browser may refuse pages from files.
      return "The browser does not allow it: save it instead.";
    }
  };

  document.querySelectorAll("figure").forEach((figure) => {
    const pictures = figure.querySelectorAll("svg[role]");
    if (pictures.length === 0) return;
    const tools = Object.assign(document.createElement("p"), { className: "tools of-figure" });
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    const title = pictures[0].querySelector("title").textContent;
    for (const [name, act] of [["Copy SVG", copy], ["Save SVG", save]]) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
      button.setAttribute("aria-label", `${name}: ${title}`);
      button.addEventListener("click", async () => {
        said.textContent = await act(figure);
      });
      tools.append(button);
    }
    tools.append(said);
    figure.append(tools);
  });
}
