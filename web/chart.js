// Pictures under the pointer, the finger and the keyboard: the one place that listens to them, and the one box with values. Each kind of picture
// (flames.js, timeline.js, marks.js) says what stands at a place, and what a drag, a click and a key do. The program draws the pictures:
// they print, and without scripts they are there, and a browser shows the title of a mark.
"use strict";
const charts = (() => {
  const NS = document.querySelector("svg").namespaceURI;
  const MARGIN = 8;
  const SHORTEST_DRAG = 6;
  /** How far from a mark a mouse and a finger may be, in pixels. */
  const NEAR = { mouse: [0, 4], pen: [0, 4], touch: [0, 5, 10, 15] };

  /** An element of SVG. */
  const make = (name, attributes, text = "") => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };

  const box = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
  box.setAttribute("role", "status");
  document.body.append(box);
  /** Shows lines above the point (x, y) of the window, or below it where there is no room. */
  const show = (lines, { x, y }) => {
    const text = lines.join("\n");
    if (box.textContent !== text) box.textContent = text;
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = Math.max(MARGIN, Math.min(x - width / 2, document.documentElement.clientWidth - width - MARGIN));
    const above = y - height - 2 * MARGIN;
    box.style.left = `${left}px`;
    box.style.top = `${above < MARGIN ? y + 2 * MARGIN : above}px`;
  };

  const responding = new Map();
  /** What is read: the chart, how to read it again where it has moved, and whether the keyboard has asked for it. */
  let reading;
  let held;
  let press;

  const titleOf = (mark) => mark?.querySelector(":scope > title");
  /** While the box shows a title, the browser must not show it too. */
  const hold = (mark) => {
    const title = titleOf(mark);
    if (title && held?.title === title) return held.words;
    release();
    if (!title) return undefined;
    held = { mark, title, words: title.textContent };
    mark.setAttribute("aria-label", held.words);
    title.textContent = "";
    return held.words;
  };
  const release = () => {
    if (!held) return;
    held.title.textContent = held.words;
    held.mark.removeAttribute("aria-label");
    held = undefined;
  };
  const leave = () => {
    release();
    const { chart } = reading ?? {};
    reading = undefined;
    chart?.leave?.();
    box.hidden = true;
  };

  const read = (chart, place, client, again, isByKey) => {
    if (reading && reading.chart !== chart) leave();
    reading = { chart, again, isByKey, mark: place.mark };
    // The browser's own box is of the pointer.
    const words = isByKey && place.mark !== held?.mark ? titleOf(place.mark)?.textContent : hold(place.mark);
    const lines = chart.read({ ...place, words });
    if (lines) show(lines, client);
    else leave();
  };

  const unit = (svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const inPicture = (svg, { x, y }) => {
    const { left, top } = svg.getBoundingClientRect();
    return { x: (x - left) / unit(svg), y: (y - top) / unit(svg) };
  };
  const inWindow = (svg, { x, y }) => {
    const { left, top } = svg.getBoundingClientRect();
    return { x: left + x * unit(svg), y: top + y * unit(svg) };
  };

  const markOf = (element, svg) => {
    const mark = element?.closest(":has(> title)");
    return mark && mark !== svg && svg.contains(mark) ? mark : undefined;
  };
  /** The mark at a point, or the one that is nearest to it. */
  const markAt = (svg, { x, y }, pointer) => {
    for (const far of NEAR[pointer] ?? NEAR.mouse) {
      for (const [right, down] of far === 0 ? [[0, 0]] : [[0, -1], [1, 0], [0, 1], [-1, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]]) {
        const mark = markOf(document.elementFromPoint(x + right * far, y + down * far), svg);
        if (mark) return mark;
      }
    }
    return undefined;
  };
  const placeOf = (svg, client, pointer) => ({ ...inPicture(svg, client), mark: markAt(svg, client, pointer) });

  const point = (client, pointer) => {
    const svg = press?.svg ?? document.elementFromPoint(client.x, client.y)?.closest("svg[role]");
    const chart = responding.get(svg);
    if (chart) read(chart, placeOf(svg, client, pointer), client, () => point(client, pointer), false);
    else leave();
  };
  const clientOf = ({ clientX, clientY }) => ({ x: clientX, y: clientY });
  const isDrag = (to) => Math.abs(to.x - press.from.x) >= SHORTEST_DRAG;

  addEventListener("pointermove", (event) => {
    const client = clientOf(event);
    point(client, event.pointerType);
    if (press) press.chart.drag?.(press.from, inPicture(press.svg, client));
  }, { passive: true });
  addEventListener("pointerdown", (event) => {
    const client = clientOf(event);
    const before = reading?.mark;
    point(client, event.pointerType);
    const svg = event.target.closest?.("svg[role]");
    const chart = responding.get(svg);
    if (!chart || event.button !== 0 || !event.isPrimary) return;
    // A finger reads a mark before it acts on it: only the second tap is a click.
    const isClick = event.pointerType !== "touch" || (before !== undefined && before === reading?.mark);
    press = { svg, chart, from: inPicture(svg, client), isClick };
    if (chart.drag) svg.setPointerCapture(event.pointerId);
  }, { passive: true });
  addEventListener("pointerup", (event) => {
    if (!press) return;
    const { svg, chart, from, isClick } = press;
    const to = inPicture(svg, clientOf(event));
    const isOver = isDrag(to);
    press = undefined;
    chart.dropped?.(from, to, isOver);
    if (!isOver && isClick) chart.click?.({ ...to, mark: markAt(svg, clientOf(event), event.pointerType) });
  }, { passive: true });
  addEventListener("pointercancel", () => {
    press?.chart.dropped?.(press.from, press.from, false);
    press = undefined;
    leave();
  });
  // A finger that is lifted leaves what it has shown; a mouse that leaves the window does not.
  document.documentElement.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") leave();
  });
  addEventListener("dblclick", (event) => responding.get(event.target.closest?.("svg[role]"))?.whole?.());
  // What is read stays beside its mark.
  addEventListener("scroll", () => reading?.again(), { passive: true, capture: true });
  // A click moves the focus, too: what it shows stays.
  addEventListener("focusout", () => reading?.isByKey && leave());
  addEventListener("focusin", ({ target }) => {
    const svg = target.closest?.("svg[role]");
    const mark = svg && target !== svg && target.matches(":focus-visible") ? markOf(target, svg) : undefined;
    if (mark && responding.has(svg)) readMark(svg, { mark });
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const svg = event.target;
    const place = responding.get(svg)?.key?.(event.key);
    if (place === undefined) {
      if (event.key === "Escape") leave();
      return;
    }
    event.preventDefault();
    if (place) readMark(svg, place);
  });

  /** Reads what the keyboard has reached: a mark, or a place in the picture. */
  const readMark = (svg, place) => {
    const client = () => {
      if (place.x !== undefined) return inWindow(svg, place);
      const { left, width, top } = place.mark.getBoundingClientRect();
      return { x: left + width / 2, y: top };
    };
    const again = () => read(responding.get(svg), place, client(), again, true);
    again();
  };

  /**
   * Makes a picture respond. `chart.read({ x, y, mark, words })` gives the lines for a place of the picture; all else is optional: `leave()`,
   * `drag(from, to)`, `dropped(from, to, isDrag)`, `click(place)`, `whole()`, and `key(key)`, which gives a place to read, `null` for nothing
   * to read, or `undefined` for a key that it does not know.
   */
  const add = (svg, chart) => {
    responding.set(svg, chart);
    if (chart.key) svg.tabIndex = 0;
  };

  const button = (name, act, label = name) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: name });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  /** A button among the tools below a figure, and what it says once it has acted. */
  const tool = (figure, name, act, label) => {
    let tools = figure.querySelector(":scope > .tools");
    if (!tools) {
      tools = Object.assign(document.createElement("p"), { className: "tools" });
      const said = document.createElement("span");
      said.setAttribute("role", "status");
      tools.append(said);
      figure.append(tools);
    }
    const made = button(name, async () => {
      tools.lastChild.textContent = (await act()) ?? "";
    }, label);
    tools.lastChild.before(made);
    return made;
  };

  /** Puts a text on the clipboard, and says whether the browser allowed it. */
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // A browser may refuse pages from files.
      return false;
    }
  };

  return { add, button, copy, has: (svg) => responding.has(svg), leave, make, tool };
})();
