// Pictures over time: one cursor in all that share an axis, a brush that zooms, values at the cursor. What moves with
// time is in groups `.timed`, which say where their plot lies and which values its edges have.
"use strict";
{
  const NS = document.querySelector("svg").namespaceURI;
  const SHORTEST_DRAG = 6;
  const significant = (value) => Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
  const make = (name, attributes) => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  /** How a mark is drawn in a view: lines and areas by their points, rectangles by their edges, signs by their place. */
  const mover = (mark) => {
    if (mark.tagName === "line") {
      const ends = ["x1", "x2"].map((name) => [name, Number(mark.getAttribute(name))]);
      return (x) => ends.forEach(([name, at]) => mark.setAttribute(name, x(at)));
    }
    if (mark.tagName === "rect") {
      const [left, width] = ["x", "width"].map((name) => Number(mark.getAttribute(name)));
      const isSign = width <= 3;
      return (x) => {
        mark.setAttribute("x", isSign ? x(left + width / 2) - width / 2 : x(left));
        if (!isSign) mark.setAttribute("width", Math.max(1, x(left + width) - x(left)));
      };
    }
    const points = pointsOf(mark);
    if (points) {
      const end = mark.getAttribute("d").endsWith("Z") ? "Z" : "";
      return (x) => mark.setAttribute("d", points.map(([at, y, letter]) => `${letter}${x(at).toFixed(1)} ${y}`).join("") + end);
    }
    const middle = middleOf(mark.getAttribute("d") ?? "");
    return (x) => mark.setAttribute("transform", `translate(${x(middle) - middle} 0)`);
  };

  /** Where a sign stands: a circle begins at its left end and has its radius next, the others are polygons. */
  const middleOf = (d) => {
    const circle = d.match(/^M(-?[\d.]+) -?[\d.]+a([\d.]+)/);
    if (circle) return Number(circle[1]) + Number(circle[2]);
    const xs = [...d.matchAll(/[ML](-?[\d.]+) /g)].map(([, x]) => Number(x));
    return (Math.min(...xs) + Math.max(...xs)) / 2;
  };

  /** Points of a path that is nothing but lines and no sign; absent for others. */
  const pointsOf = (mark) => {
    const d = mark.getAttribute("d") ?? "";
    if (mark.classList.contains("mk") || !/^[MLZ\d .-]+$/.test(d)) return undefined;
    return [...d.matchAll(/([ML])(-?[\d.]+) (-?[\d.]+)/g)].map(([, letter, x, y]) => [Number(x), Number(y), letter]);
  };

  const numbers = (text) => text.split(" ").map(Number);

  const groupOf = (element) => {
    const [left, top, right, bottom] = numbers(element.dataset.plot);
    const [low, high] = numbers(element.dataset.values);
    const isLogarithmic = element.dataset.scale === "log";
    const value = (y) => {
      const share = (bottom - y) / (bottom - top);
      return isLogarithmic ? low * (high / low) ** share : low + share * (high - low);
    };
    const marks = [...element.querySelectorAll("path, rect, line")];
    const series = marks.map((mark) => ({ mark, points: pointsOf(mark), words: mark.querySelector("title")?.textContent ?? "" }));
    return { left, top, right, bottom, value, unit: element.dataset.unit, element, marks, series, movers: marks.map(mover) };
  };

  /** What a series says at a position of the whole axis; absent outside of it, so that gaps stay gaps. */
  const said = ({ mark, points, words }, at, { value, unit }) => {
    if (!points || words === "" || mark.classList.contains("band")) return undefined;
    const isArea = mark.getAttribute("d").endsWith("Z");
    const upper = isArea ? points.slice(0, points.length / 2) : points;
    if (upper.length < 2 || at < upper[0][0] - 0.5 || upper.at(-1)[0] + 0.5 < at) return undefined;
    const index = upper.reduce((best, [x], i) => (Math.abs(x - at) < Math.abs(upper[best][0] - at) ? i : best), 0);
    const lower = isArea ? value(points[points.length - 1 - index][1]) : 0;
    return `${words}: ${significant(value(upper[index][1]) - lower)} ${unit}`;
  };

  /** Round times for about so many ticks of a view. */
  const ticksOf = ({ from, to }, wanted) => {
    const raw = (to - from) / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    const ticks = [];
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-9); i++) ticks.push(i * step);
    return ticks;
  };

  const pictureOf = (svg, clock) => {
    const groups = [...svg.querySelectorAll(".timed")].map(groupOf);
    const [{ left, right, element }] = groups;
    const [top, bottom] = [Math.min(...groups.map((g) => g.top)), Math.max(...groups.map((g) => g.bottom))];
    const cursor = make("line", { class: "cursor", y1: top, y2: bottom, visibility: "hidden" });
    const brush = make("rect", { class: "brush", y: top, height: bottom - top, visibility: "hidden" });
    const clip = make("clipPath", { id: `${svg.getAttribute("aria-labelledby")}-clip` });
    clip.append(make("rect", { class: "clip", x: left, y: top - 6, width: right - left, height: bottom - top + 12 }));
    svg.append(clip, brush, cursor);
    const axis = svg.querySelector(".ticks");
    const drawn = axis?.cloneNode(true);
    const time = (x) => clock.from + ((x - left) / (right - left)) * (clock.to - clock.from);
    const place = (t) => left + ((t - clock.from) / (clock.to - clock.from)) * (right - left);
    const whole = (t) => left + (t / clock.end) * (right - left);
    const isZoomed = () => clock.from > 0 || clock.to < clock.end;
    const drawTicks = () => {
      if (!axis) return;
      if (!isZoomed()) return axis.replaceChildren(...drawn.cloneNode(true).childNodes);
      axis.replaceChildren(
        ...ticksOf(clock, svg.viewBox.baseVal.width < 500 ? 3 : 7).flatMap((t) => {
          const label = make("text", { class: "t", x: place(t), y: bottom + 17, "text-anchor": "middle" });
          label.textContent = significant(t);
          return [make("line", { class: "ax", x1: place(t), x2: place(t), y1: bottom, y2: bottom + 4 }), label];
        }),
      );
    };
    const draw = () => {
      const x = (at) => place(((at - left) / (right - left)) * clock.end);
      for (const group of groups) {
        group.element.toggleAttribute("clip-path", false);
        if (isZoomed()) group.element.setAttribute("clip-path", `url(#${clip.id})`);
        for (const move of group.movers) move(x);
      }
      drawTicks();
    };
    const at = (clientX) => {
      const box = svg.getBoundingClientRect();
      return Math.max(left, Math.min(((clientX - box.left) / box.width) * svg.viewBox.baseVal.width, right));
    };
    const values = (t) => {
      const lines = groups.flatMap((group) => group.series.map((series) => said(series, whole(t), group)).filter(Boolean));
      return [`${significant(t)} ${clock.unit}`, ...lines.reverse()];
    };
    /** The sign that is nearest to the pointer, in words. */
    const sign = (event) => event.target.closest?.(".timed")?.contains(event.target) && event.target.classList.contains("mk")
      ? event.target.querySelector("title")?.textContent : undefined;
    return { svg, cursor, brush, time, place, draw, at, values, sign, left, right };
  };

  const clocks = new Map();
  for (const svg of document.querySelectorAll("svg:has(.timed)")) {
    const text = svg.querySelector(".timed").dataset.time;
    const [end, unit] = [Number(text.split(" ")[0]), text.split(" ")[1]];
    const id = `${svg.closest("section")?.id} ${text}`;
    if (!clocks.has(id)) clocks.set(id, { end, unit, from: 0, to: end, pictures: [], buttons: [] });
    const clock = clocks.get(id);
    clock.pictures.push(pictureOf(svg, clock));
  }

  for (const clock of clocks.values()) {
    let drag;
    let cursor;
    const show = (t, picture, y, extra) => {
      cursor = t;
      for (const { cursor: line, place } of clock.pictures) {
        line.setAttribute("x1", place(t));
        line.setAttribute("x2", place(t));
        line.setAttribute("visibility", "visible");
      }
      const box = picture.svg.getBoundingClientRect();
      const x = box.left + (picture.place(t) / picture.svg.viewBox.baseVal.width) * box.width;
      tip.show([...(extra ? [extra] : []), ...picture.values(t)], x, y);
    };
    const hide = () => {
      for (const { cursor: line } of clock.pictures) line.setAttribute("visibility", "hidden");
      tip.hide();
    };
    const view = (from, to) => {
      const least = clock.end / 2_000;
      clock.from = Math.max(0, Math.min(from, clock.end - least));
      clock.to = Math.min(clock.end, Math.max(to, clock.from + least));
      for (const picture of clock.pictures) picture.draw();
      for (const button of clock.buttons) button.disabled = clock.from === 0 && clock.to === clock.end;
    };
    const zoom = (times, around = (clock.from + clock.to) / 2) => {
      const length = Math.min(clock.end, (clock.to - clock.from) * times);
      const from = Math.max(0, Math.min(around - length / 2, clock.end - length));
      view(from, from + length);
    };
    for (const picture of clock.pictures) {
      const { svg, brush, time } = picture;
      svg.tabIndex = 0;
      svg.classList.add("timeline");
      svg.addEventListener("pointermove", (event) => {
        const x = picture.at(event.clientX);
        show(time(x), picture, event.clientY, picture.sign(event));
        if (drag === undefined) return;
        brush.setAttribute("x", Math.min(drag, x));
        brush.setAttribute("width", Math.abs(x - drag));
        brush.setAttribute("visibility", "visible");
      });
      svg.addEventListener("pointerdown", (event) => {
        drag = picture.at(event.clientX);
        svg.setPointerCapture(event.pointerId);
        show(time(drag), picture, event.clientY, picture.sign(event));
      });
      svg.addEventListener("pointerup", (event) => {
        const x = picture.at(event.clientX);
        brush.setAttribute("visibility", "hidden");
        if (drag !== undefined && Math.abs(x - drag) >= SHORTEST_DRAG) view(time(Math.min(x, drag)), time(Math.max(x, drag)));
        drag = undefined;
      });
      svg.addEventListener("pointercancel", () => {
        brush.setAttribute("visibility", "hidden");
        drag = undefined;
      });
      svg.addEventListener("pointerleave", hide);
      svg.addEventListener("blur", hide);
      svg.addEventListener("dblclick", () => view(0, clock.end));
      svg.addEventListener("keydown", (event) => {
        const step = (clock.to - clock.from) / 50;
        const to = {
          ArrowLeft: (t) => t - step, ArrowRight: (t) => t + step, Home: () => clock.from, End: () => clock.to,
        }[event.key];
        const acts = { "+": () => zoom(0.5, cursor), "-": () => zoom(2, cursor), 0: () => view(0, clock.end), Escape: hide };
        if (!to && !acts[event.key]) return;
        event.preventDefault();
        acts[event.key]?.();
        if (to) {
          const t = Math.max(clock.from, Math.min(to(cursor ?? (clock.from + clock.to) / 2), clock.to));
          show(t, picture, svg.getBoundingClientRect().top + 24);
        }
      });
    }
    const figures = new Set(clock.pictures.map(({ svg }) => svg.closest("figure")));
    for (const figure of figures) {
      const tools = figure?.querySelector(".of-figure");
      if (!tools) continue;
      const button = (name, act) => {
        const made = Object.assign(document.createElement("button"), { type: "button", textContent: name });
        made.addEventListener("click", act);
        tools.prepend(made);
        return made;
      };
      const all = button("Show all", () => view(0, clock.end));
      all.disabled = true;
      clock.buttons.push(all);
      button("Zoom in", () => zoom(0.5, cursor));
    }
  }
}
