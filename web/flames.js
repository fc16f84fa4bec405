// Flame graphs: a click zooms, `/` searches, stacks are inverted, and the address keeps the view. The program draws the first view
// (crates/kit/src/flame), and the same rules draw the others here from the stacks that the page carries.
"use strict";
{
  const ROW = 18;
  const LABEL = 11.5;
  /** Rows of the first view. */
  const ROWS = 24;
  /** Callers that stay above a frame which is zoomed into. */
  const CALLERS = 3;
  const WIDTH_MIN = 1;
  const CUT_MIN = 12;
  const ROOM = 6;

  const measure = document.createElement("canvas").getContext("2d");
  const fits = (text, room) => measure.measureText(text).width <= room;
  /** The name in the room of a frame: whole, else without its package, else that cut in its middle. */
  const labelOf = ({ sign, name, short }, room) => {
    const [whole, brief] = [sign + name, sign + short];
    if (room < 10) return "";
    if (fits(whole, room)) return whole;
    if (fits(brief, room)) return brief;
    const most = Math.floor((brief.length * room) / measure.measureText(brief).width) + 2;
    for (let length = Math.min(most, brief.length - 1); length >= CUT_MIN; length--) {
      const tail = Math.floor((length - 1) / 2);
      const cut = `${brief.slice(0, length - 1 - tail)}…${brief.slice(brief.length - tail)}`;
      if (fits(cut, room)) return cut;
    }
    return "";
  };

  const total = (weights) => weights.reduce((sum, weight) => sum + weight, 0);

  /** The stacks of a page as a tree of frames, and what is said of them. */
  const stacksOf = ({ unit: [unit, one, many], steps, names, tree }) => {
    const isCompared = typeof tree[2] === "number";
    const words = {
      count: (weight) => `${numbers.count(Math.round(weight))} ${Math.round(weight) === 1 ? one : many}`,
      bytes: numbers.bytes, time: numbers.time, share: numbers.share,
    }[unit];
    const weights = isCompared ? [tree[1], tree[2]] : [tree[1]];
    const all = Math.max(...weights);
    const frame = (number, own, calls) => {
      const [name, short, drawn] = names[number] ?? ["", "", ""];
      if (!isCompared) return { number, name, short, sign: "", drawn, weights: own, calls, tip: `${name}: ${words(own[0])}, ${numbers.percent(own[0] / all)}` };
      const change = own[1] - own[0];
      const step = steps.filter((from) => from <= Math.abs(change) / all).length;
      const [kind, sign] = step === 0 ? ["same", ""] : change > 0 ? [`more${step}`, "+ "] : [`less${step}`, "− "];
      const tip = `${name}: before ${words(own[0])}, after ${words(own[1])}, ${change >= 0 ? "+" : "-"}${words(Math.abs(change))}`;
      return { number, name, short, sign, drawn: `${kind} area`, weights: own, calls, tip };
    };
    const read = ([number, ...rest]) => frame(number, rest.slice(0, weights.length), rest.slice(weights.length).map(read));
    const called = read(tree);

    /** From what ran up to its callers: what each stack had for itself, summed up by its last frames. */
    const invert = () => {
      const node = () => ({ weights: weights.map(() => 0), calls: new Map() });
      const top = node();
      const add = (into, own) => own.forEach((weight, i) => (into.weights[i] += weight));
      const visit = (of, callers) => {
        const own = of.weights.map((weight, i) => weight - total(of.calls.map((call) => call.weights[i])));
        if (total(own) > 1e-9 * total(weights)) {
          const spent = own.map((weight) => Math.max(0, weight));
          let at = top;
          add(at, spent);
          for (const { number } of [of, ...callers]) {
            if (!at.calls.has(number)) at.calls.set(number, node());
            at = at.calls.get(number);
            add(at, spent);
          }
        }
        for (const call of of.calls) visit(call, of === called ? [] : [of, ...callers]);
      };
      for (const call of called.calls) visit(call, []);
      const made = (number, { weights: own, calls }) => {
        const below = [...calls].map(([of, call]) => made(of, call));
        below.sort((a, b) => total(b.weights) - total(a.weights) || (a.name < b.name ? -1 : 1));
        return frame(number, own, below);
      };
      return made(-1, top);
    };
    const merged = (frames) => {
      const sum = weights.map((_, i) => total(frames.map((of) => of.weights[i])));
      const size = isCompared ? `${words(total(sum))} of both together` : `${words(sum[0])}, ${numbers.percent(sum[0] / all)}`;
      return `${numbers.count(frames.length)} narrower frames: ${size}`;
    };
    /** The share of all that frames have whose name has the text, and how many names those are. */
    const found = (text) => {
      const sum = weights.map(() => 0);
      const matching = new Set();
      const visit = (of, isIn) => {
        const matches = isMatch(of, text);
        if (matches) matching.add(of.name);
        if (matches && !isIn) of.weights.forEach((weight, i) => (sum[i] += weight));
        for (const call of of.calls) visit(call, isIn || matches);
      };
      for (const call of called.calls) visit(call, false);
      const shares = sum.map((of, i) => numbers.percent(weights[i] > 0 ? of / weights[i] : 0));
      const said = isCompared ? `${shares[0]} of all before, ${shares[1]} after` : `${shares[0]} of all`;
      return `${said}, in ${numbers.count(matching.size)} ${matching.size === 1 ? "function" : "functions"}`;
    };
    return { called, found, invert, merged };
  };

  const isMatch = ({ name }, text) => text !== "" && name.toLowerCase().includes(text.toLowerCase());

  const graphOf = (view) => {
    const id = view.id.replace(/-view$/, "");
    const { called, found, invert, merged } = stacksOf(JSON.parse(view.querySelector("template").content.textContent));
    let inverted;
    const state = { zoom: [], search: "", isInverted: false };
    const root = () => (state.isInverted ? (inverted ??= invert()) : called);
    /** The frames from the outermost caller to the one that is zoomed into. */
    const zoomed = () => {
      const way = [];
      let at = root();
      for (const index of state.zoom) {
        at = at.calls[index];
        if (!at) break;
        way.push(at);
      }
      return way;
    };

    const pictures = [...view.querySelectorAll("svg[role]")].map((svg) => ({ svg, ends: [...svg.querySelectorAll(":scope > title, :scope > desc")], drawn: [] }));
    const draw = () => {
      charts.leave();
      for (const picture of pictures) drawIn(picture);
      // Its room stays, so that nothing moves under a finger.
      whole.style.visibility = state.zoom.length === 0 ? "hidden" : "";
      invertButton.setAttribute("aria-pressed", String(state.isInverted));
      view.classList.toggle("searched", state.search !== "");
      said.textContent = state.search === "" ? "" : found(state.search);
      if (search.value.trim() !== state.search) search.value = state.search;
    };
    const drawIn = (picture) => {
      const { svg, ends } = picture;
      const width = svg.viewBox.baseVal.width;
      const parts = [];
      const last = state.zoom.length === 0 ? ROWS : Infinity;
      picture.drawn = [];
      let rows = 1;
      const rect = (of, at, x, row, wide, path) => {
        const isCut = row === last - 1 && of.calls?.length > 0;
        const mark = charts.make("rect", {
          class: `${of.drawn}${isMatch(of, state.search) ? " found" : ""}${at}`, x: round(x), y: ROW * row, width: round(wide), height: ROW - 1,
        });
        mark.append(charts.make("title", {}, isCut ? `${of.tip}\nA click shows what it called.` : of.tip));
        parts.push(mark);
        picture.drawn.push({ mark, path, x, row });
        const label = labelOf(of, wide - ROOM);
        if (label) parts.push(charts.make("text", { class: "frame", x: round(x + 3), y: ROW * row + ROW - 5.5, "text-anchor": "start" }, label));
        rows = Math.max(rows, row + 1);
      };
      const calls = (caller, path, left, row, width) => {
        if (row >= last) return;
        const all = total(caller.weights);
        const wide = (of) => (all > 0 ? width * Math.min(1, total(of.weights) / all) : 0);
        const count = caller.calls.findIndex((call) => wide(call) < WIDTH_MIN);
        const [drawn, rest] = count < 0 ? [caller.calls, []] : [caller.calls.slice(0, count), caller.calls.slice(count)];
        let x = left;
        drawn.forEach((call, index) => {
          const own = wide(call);
          rect(call, "", x, row, own, [...path, index]);
          calls(call, [...path, index], x, row + 1, own);
          x += own;
        });
        const merge = total(rest.map(wide));
        if (merge >= WIDTH_MIN) rect({ drawn: "merged", sign: "", name: "", short: "", tip: merged(rest) }, "", x, row, merge, undefined);
      };
      const way = zoomed();
      const skipped = Math.max(0, way.length - 1 - CALLERS);
      let row = 0;
      if (skipped > 0) {
        const name = `${skipped} ${skipped === 1 ? "caller" : "callers"} more`;
        rect({ drawn: "merged", sign: "", name, short: name, tip: `${name}, from ${way[0].name}` }, "", 0, row++, width, state.zoom.slice(0, skipped));
      }
      way.slice(skipped).forEach((of, index) => {
        const depth = skipped + index + 1;
        rect(of, depth < way.length ? " caller" : "", 0, row++, width, state.zoom.slice(0, depth));
      });
      calls(way.at(-1) ?? root(), state.zoom.slice(0, way.length), 0, row, width);
      svg.setAttribute("viewBox", `0 0 ${width} ${ROW * rows}`);
      svg.replaceChildren(...ends, ...parts);
    };
    const round = (value) => Number(value.toFixed(1));

    /** The address says the view: a link to it, and the way back, show the same. */
    let kept;
    const keep = (isStep) => {
      const words = new URLSearchParams();
      if (state.zoom.length > 0) words.set("zoom", state.zoom.join("."));
      if (state.search) words.set("search", state.search);
      if (state.isInverted) words.set("inverted", "1");
      if (isStep) location.hash = `#${id}?${words}`;
      else location.replace(`#${id}?${words}`);
      kept = location.hash;
    };
    const isNamed = () => location.hash.startsWith(`#${id}?`);
    const recall = () => {
      if (location.hash === kept) return;
      kept = location.hash;
      const given = new URLSearchParams(isNamed() ? location.hash.slice(id.length + 2) : "");
      state.isInverted = given.get("inverted") === "1";
      state.search = given.get("search") ?? "";
      state.zoom = (given.get("zoom") ?? "").split(".").filter(Boolean).map(Number);
      state.zoom = state.zoom.slice(0, zoomed().length);
      draw();
      if (isNamed()) view.scrollIntoView({ block: "nearest" });
    };
    const zoomTo = (path) => {
      state.zoom = path;
      keep(true);
      draw();
    };

    const tools = Object.assign(document.createElement("p"), { className: "tools of-flames" });
    const search = Object.assign(document.createElement("input"), { type: "search", placeholder: "Search (/)" });
    search.setAttribute("aria-label", `Search: ${pictures[0].ends[0].textContent}`);
    search.addEventListener("input", () => {
      state.search = search.value.trim();
      keep(false);
      draw();
    });
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    tools.append(search, said);
    const whole = charts.button("Zoom out", () => zoomTo([]));
    const invertButton = charts.button("Invert", () => {
      state.isInverted = !state.isInverted;
      zoomTo([]);
    });
    invertButton.title = "What ran first, with its callers below it";
    search.after(invertButton, whole);
    view.prepend(tools);

    for (const picture of pictures) {
      const { svg } = picture;
      let current;
      const at = (mark) => picture.drawn.find((of) => of.mark === mark);
      const near = {
        ArrowDown: (of) => picture.drawn.find(({ row, x }) => row === of.row + 1 && x >= of.x - 0.05),
        ArrowUp: (of) => picture.drawn.filter(({ row, x }) => row === of.row - 1 && x <= of.x + 0.05).at(-1),
        ArrowRight: (of) => picture.drawn.find(({ row, x }) => row === of.row && x > of.x),
        ArrowLeft: (of) => picture.drawn.filter(({ row, x }) => row === of.row && x < of.x).at(-1),
        Home: () => picture.drawn[0],
      };
      const key = (name) => {
        const reached = picture.drawn.find((of) => of.mark === current?.mark);
        if (name in near) {
          current = reached ? near[name](reached) ?? reached : picture.drawn[0];
          return current ? { mark: current.mark } : null;
        }
        if (name === "Enter" && reached?.path) {
          zoomTo(reached.path);
          current = picture.drawn.find(({ path }) => path?.length === state.zoom.length);
          return current ? { mark: current.mark } : null;
        }
        if (name !== "Escape" || state.zoom.length === 0) return undefined;
        zoomTo(state.zoom.slice(0, -1));
        return null;
      };
      charts.add(svg, {
        read: ({ words }) => (words ? [words] : undefined),
        click: ({ mark }) => {
          const path = at(mark)?.path;
          if (path) zoomTo(path);
        },
        key,
      });
    }
    measure.font = `${LABEL}px ${getComputedStyle(pictures[0].svg.querySelector("text") ?? document.body).fontFamily}`;
    return { isNamed, recall, search, view };
  };

  const graphs = [...document.querySelectorAll(".flames:has(svg[role])")].map(graphOf);
  // An address is of one graph: the others stay as they are.
  const recall = () => {
    const named = graphs.filter((graph) => graph.isNamed());
    for (const graph of named.length > 0 ? named : graphs) graph.recall();
  };
  for (const graph of graphs) graph.recall();
  addEventListener("hashchange", recall);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, select, textarea")) return;
    const isInWindow = ({ view }) => view.getBoundingClientRect().bottom > 0;
    const graph = graphs.find(({ view }) => view.contains(event.target)) ?? graphs.find(isInWindow) ?? graphs[0];
    if (!graph) return;
    event.preventDefault();
    graph.search.focus();
  });
}
