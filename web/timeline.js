// Pictures over time: one cursor in all that share an axis, a brush that zooms, values at the cursor. What moves with
// time is in groups `.timed`, which say where their plot lies and which values its edges have.
"use strict";
{
  const { significant } = numbers;
  const SECONDS = { s: 1, min: 60, h: 3_600, days: 86_400 };

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
      return (x) => mark.setAttribute("d", points.map(([at, y, letter]) => `${letter}${Number(x(at).toFixed(1))} ${y}`).join("") + end);
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

  const numbersIn = (text) => text.split(" ").map(Number);

  const groupOf = (element) => {
    const [left, top, right, bottom] = numbersIn(element.dataset.plot);
    const [low, high] = numbersIn(element.dataset.values);
    const isLogarithmic = element.dataset.scale === "log";
    const value = (y) => {
      const share = (bottom - y) / (bottom - top);
      return isLogarithmic ? low * (high / low) ** share : low + share * (high - low);
    };
    const marks = [...element.querySelectorAll("path, rect, line")];
    const series = marks.map((mark) => ({ mark, points: pointsOf(mark), words: mark.querySelector("title")?.textContent ?? "" }));
    return { left, top, right, bottom, value, unit: element.dataset.unit, element, series, movers: marks.map(mover) };
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

  /** The time of day at `t`, in UTC, by the last clock that began before it: as exact as what is shown of time asks for. */
  const timeOfDay = ({ clocks, unit, from, to, end }, t) => {
    const [at, ms] = clocks.findLast(([begin]) => begin <= t) ?? clocks[0] ?? [];
    const time = new Date(ms + (t - at) * SECONDS[unit] * 1_000);
    if (!Number.isFinite(time.getTime())) return undefined;
    const date = time.toISOString();
    const isShort = (to - from) * SECONDS[unit] < 60;
    const day = end * SECONDS[unit] < 86_400 ? "" : `${date.slice(0, 10)} `;
    return day + date.slice(11, isShort ? 23 : 19);
  };

  /** A picture on an axis of time, which it may share with others. */
  const pictureOf = (svg, axis) => {
    const groups = [...svg.querySelectorAll(".timed")].map(groupOf);
    const [{ left, right }] = groups;
    const [top, bottom] = [Math.min(...groups.map((g) => g.top)), Math.max(...groups.map((g) => g.bottom))];
    const cursor = charts.make("line", { class: "cursor", y1: top, y2: bottom, visibility: "hidden" });
    const brush = charts.make("rect", { class: "brush", y: top, height: bottom - top, visibility: "hidden" });
    const clip = charts.make("clipPath", { id: `${svg.getAttribute("aria-labelledby")}-clip` });
    clip.append(charts.make("rect", { class: "clip", x: left, y: top - 6, width: right - left, height: bottom - top + 12 }));
    svg.append(clip, brush, cursor);
    const ticks = svg.querySelector(".ticks");
    const drawn = ticks?.cloneNode(true);
    const time = (x) => axis.from + ((Math.max(left, Math.min(x, right)) - left) / (right - left)) * (axis.to - axis.from);
    const place = (t) => left + ((t - axis.from) / (axis.to - axis.from)) * (right - left);
    const whole = (t) => left + (t / axis.end) * (right - left);
    const isZoomed = () => axis.from > 0 || axis.to < axis.end;
    const drawTicks = () => {
      if (!ticks) return;
      if (!isZoomed()) return ticks.replaceChildren(...drawn.cloneNode(true).childNodes);
      const label = (t, y, text, name) => charts.make("text", { class: name, x: place(t), y, "text-anchor": "middle" }, text);
      ticks.replaceChildren(
        ...ticksOf(axis, svg.viewBox.baseVal.width < 500 ? 3 : 7).flatMap((t) => [
          charts.make("line", { class: "ax", x1: place(t), x2: place(t), y1: bottom, y2: bottom + 4 }),
          label(t, bottom + 17, significant(t), "t"),
          ...(axis.clocks.length > 0 ? [label(t, bottom + 31, timeOfDay(axis, t)?.split(" ").at(-1), "at")] : []),
        ]),
      );
    };
    const draw = () => {
      const x = (at) => place(((at - left) / (right - left)) * axis.end);
      for (const { element, movers } of groups) {
        element.toggleAttribute("clip-path", false);
        if (isZoomed()) element.setAttribute("clip-path", `url(#${clip.id})`);
        for (const move of movers) move(x);
      }
      drawTicks();
    };
    const values = (t) => {
      const lines = groups.flatMap((group) => group.series.map((series) => said(series, whole(t), group)).filter(Boolean));
      const day = timeOfDay(axis, t);
      return [`${significant(t)} ${axis.unit}${day ? `, ${day} UTC` : ""}`, ...lines.reverse()];
    };
    const point = (t) => {
      cursor.setAttribute("x1", place(t));
      cursor.setAttribute("x2", place(t));
    };
    const drag = (from, to) => {
      const [a, b] = [from.x, to.x].map((x) => Math.max(left, Math.min(x, right))).sort((one, other) => one - other);
      brush.setAttribute("x", a);
      brush.setAttribute("width", b - a);
      brush.setAttribute("visibility", "visible");
    };
    return { svg, cursor, brush, top, time, place, point, drag, draw, values };
  };

  const axes = new Map();
  for (const svg of document.querySelectorAll("svg:has(.timed)")) {
    const { time, clocks = "" } = svg.querySelector(".timed").dataset;
    const [end, unit] = time.split(" ");
    // Equal ends and clocks are the same time.
    const id = `${time} ${clocks}`;
    if (!axes.has(id)) axes.set(id, { end: Number(end), unit, clocks: clocks.split(";").filter(Boolean).map(numbersIn), from: 0, to: Number(end), pictures: [], buttons: [] });
    const axis = axes.get(id);
    axis.pictures.push(pictureOf(svg, axis));
  }

  for (const axis of axes.values()) {
    /** Where the cursor stands, or last stood. */
    let at;
    const isSign = (mark) => mark?.matches(".timed .mk, .timed .stall");
    const point = (t) => {
      at = t;
      for (const picture of axis.pictures) {
        picture.point(t);
        picture.cursor.setAttribute("visibility", "visible");
      }
    };
    const leave = () => {
      for (const { cursor } of axis.pictures) cursor.setAttribute("visibility", "hidden");
    };
    const view = (from, to) => {
      const least = axis.end / 2_000;
      axis.from = Math.max(0, Math.min(from, axis.end - least));
      axis.to = Math.min(axis.end, Math.max(to, axis.from + least));
      charts.leave();
      for (const picture of axis.pictures) picture.draw();
      for (const button of axis.buttons) button.disabled = axis.from === 0 && axis.to === axis.end;
    };
    const whole = () => view(0, axis.end);
    const zoom = (times, around = (axis.from + axis.to) / 2) => {
      const length = Math.min(axis.end, (axis.to - axis.from) * times);
      const from = Math.max(0, Math.min(around - length / 2, axis.end - length));
      view(from, from + length);
    };
    for (const picture of axis.pictures) {
      const { svg, brush } = picture;
      svg.classList.add("timeline");
      const key = (name) => {
        const step = (axis.to - axis.from) / 50;
        const move = { ArrowLeft: (t) => t - step, ArrowRight: (t) => t + step, Home: () => axis.from, End: () => axis.to }[name];
        const act = { "+": () => zoom(0.5, at), "-": () => zoom(2, at), 0: whole }[name];
        if (!move && !act) return undefined;
        act?.();
        if (!move) return null;
        const t = Math.max(axis.from, Math.min(move(at ?? (axis.from + axis.to) / 2), axis.to));
        return { x: picture.place(t), y: picture.top };
      };
      charts.add(svg, {
        read: ({ x, mark, words }) => {
          const t = picture.time(x);
          point(t);
          return [...(words && isSign(mark) ? [words] : []), ...picture.values(t)];
        },
        leave,
        drag: picture.drag,
        dropped: (from, to, isDrag) => {
          brush.setAttribute("visibility", "hidden");
          const [a, b] = [picture.time(from.x), picture.time(to.x)];
          if (isDrag) view(Math.min(a, b), Math.max(a, b));
        },
        whole,
        key,
      });
    }
    for (const figure of new Set(axis.pictures.map(({ svg }) => svg.closest("figure")))) {
      if (!figure) continue;
      charts.tool(figure, "Zoom in", () => zoom(0.5, at));
      const all = charts.tool(figure, "Show all", whole);
      all.disabled = true;
      axis.buttons.push(all);
    }
  }
}
