// Classes in two models: without this script the page shows the pair that most readers ask for; with it they choose.
// The bytes come from the table of classes, which has them in full.
"use strict";
{
  const list = document.getElementById("pairs");
  const table = document.getElementById("by-model");
  const { size } = numbers;
  const change = (from, to) => {
    const by = to - from;
    const percent = (100 * by) / from;
    if (by === 0) return `${size(from)} → ${size(to)}, no change`;
    const share = from === 0 ? "" : ` (${by < 0 ? "" : "+"}${percent.toFixed(Math.abs(percent) < 999.95 ? 1 : 0)} %)`;
    return `${size(from)} → ${size(to)}, ${by < 0 ? "-" : "+"}${size(Math.abs(by))}${share}`;
  };
  const bytes = (cell) => Number(cell?.dataset.bytes ?? 0);

  /** A row of the list, made of text and two bars. */
  const row = ({ name, from, to }, largest) => {
    const part = (className, text = "") => {
      const span = document.createElement("span");
      span.className = className;
      span.textContent = text;
      return span;
    };
    const bar = (className, value) => {
      const span = part(className);
      span.style.width = `${((100 * value) / largest).toFixed(2)}%`;
      return span;
    };
    const item = document.createElement("li");
    Object.assign(item.dataset, { from, to });
    const named = part("name");
    named.append(Object.assign(document.createElement("bdi"), { textContent: name }));
    item.append(named, " ", part("by", change(from, to)), bar("from", from), bar("to", to));
    return item;
  };

  const show = (from, to) => {
    const classes = [...table.tBodies[0].rows].filter((r) => !r.classList.contains("rest"));
    const rest = table.querySelector("tr.rest") !== null;
    const pairs = classes.map((r) => ({ name: r.cells[0].textContent, from: bytes(r.cells[from + 2]), to: bytes(r.cells[to + 2]) }));
    pairs.sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from) || b.from - a.from);
    const shown = pairs.slice(0, Number(list.dataset.shown));
    const heads = table.tHead.rows[0].cells;
    const total = { from: bytes(heads[from + 2]), to: bytes(heads[to + 2]) };
    if (rest || shown.length < pairs.length) {
      const left = (key) => Math.max(0, shown.reduce((sum, pair) => sum - pair[key], total[key]));
      shown.push({ name: "all other classes", from: left("from"), to: left("to") });
    }
    const largest = Math.max(1, ...shown.flatMap((pair) => [pair.from, pair.to]));
    list.replaceChildren(...shown.map((pair) => row(pair, largest)));
    const sum = `${heads[from + 2].textContent} → ${heads[to + 2].textContent}: ${change(total.from, total.to)}`;
    document.getElementById("pair-sum").textContent = sum;
  };

  if (list && table) {
    const [from, to] = ["from", "to"].map((id) => document.getElementById(id));
    for (const select of [from, to]) select.addEventListener("change", () => show(Number(from.value), Number(to.value)));
    document.querySelector(".chooser").hidden = false;
  }
}
