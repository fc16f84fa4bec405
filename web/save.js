// Pictures as files: copies as SVG that stand alone.
"use strict";
{
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
    to.forEach((made, index) => from[index].matches(".cursor, .brush") && made.remove());
    return copy;
  };

  /** All pictures of a figure that can be seen, under each other, as the text of one SVG file. */
  const file = (figure) => {
    const patterns = new Map();
    const seen = [...figure.querySelectorAll("svg[role]")].filter((svg) => svg.getClientRects().length > 0);
    const whole = charts.make("svg", {});
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
    const ground = charts.make("rect", { fill: getComputedStyle(document.body).backgroundColor });
    const defs = charts.make("defs", {});
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
  const copy = async (figure) => ((await charts.copy(file(figure))) ? "Copied." : "The browser does not allow it: save it instead.");

  for (const figure of document.querySelectorAll("figure:has(svg[role])")) {
    const title = figure.querySelector("svg[role] title").textContent;
    charts.tool(figure, "Copy SVG", () => copy(figure), `Copy SVG: ${title}`);
    charts.tool(figure, "Save SVG", () => save(figure), `Save SVG: ${title}`);
  }
}
