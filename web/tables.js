// Tables can be sorted by each column and searched, and their smallest entries are folded. Without this script they
// are as they were written.
"use strict";
{
  const SORTED_FROM = 3;
  const SEARCHED_FROM = 12;
  const SIZES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
  const TIMES = { ns: 1e-9, µs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 };

  /** The number that a cell begins with, in one unit for sizes and one for times; absent for other text. */
  const number = (text) => {
    const parts = [...text.matchAll(/([+-]?)(\d[\d,]*(?:\.\d+)?|\.\d+)\s*([A-Za-zµ]*)/g)];
    if (parts.length === 0 || !/^[<≤≥~+-]?\s*[\d.]/.test(text.trim())) return undefined;
    const [[, sign, , unit]] = parts;
    const of = ([, , digits, of]) => Number(digits.replaceAll(",", "")) * (SIZES[of] ?? TIMES[of] ?? 1);
    // `2 min 10 s` is one time of two parts.
    const rest = unit in TIMES ? parts.slice(1).filter((part) => part[3] in TIMES) : [];
    return (sign === "-" ? -1 : 1) * [parts[0], ...rest].reduce((sum, part) => sum + of(part), 0);
  };

  const key = (row, column) => {
    const text = row.cells[column]?.textContent.trim() ?? "";
    const value = number(text);
    return { text, value, absent: text === "" || text === "-" || row.cells[column]?.className === "na" };
  };

  /** Absent cells stand last in either direction, numbers before text. */
  const compare = (a, b, direction) => {
    if (a.absent || b.absent) return Number(a.absent) - Number(b.absent);
    if (a.value !== undefined && b.value !== undefined) return direction * (a.value - b.value);
    if (a.value !== undefined || b.value !== undefined) return a.value !== undefined ? -1 : 1;
    return direction * a.text.localeCompare(b.text, "en", { numeric: true });
  };

  const sortable = (table) => {
    const body = table.tBodies[0];
    const written = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    const sort = (column) => {
      const head = heads[column];
      const figures = head.classList.contains("n");
      const first = figures ? "descending" : "ascending";
      const order = { undefined: first, [first]: figures ? "ascending" : "descending" }[head.getAttribute("aria-sort") ?? undefined];
      for (const other of heads) other.removeAttribute("aria-sort");
      let rows = written;
      if (order) {
        head.setAttribute("aria-sort", order);
        const direction = order === "ascending" ? 1 : -1;
        const keyed = written.map((row) => ({ row, ...key(row, column) }));
        const stays = ({ row }) => row.classList.contains("sum") || row.classList.contains("rest");
        const moved = keyed.filter((of) => !stays(of)).sort((a, b) => compare(a, b, direction));
        rows = [...moved, ...keyed.filter(stays)].map((of) => of.row);
      }
      body.append(...rows);
    };
    heads.forEach((head, column) => {
      if (head.textContent.trim() === "") return;
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(column));
      head.append(button);
    });
  };

  /** Search and the button that unfolds what is small; one rule says which rows are shown. */
  const foldable = (table, region) => {
    const rows = [...table.tBodies[0].rows];
    const small = rows.filter((row) => row.classList.contains("small"));
    const isSearched = rows.length >= SEARCHED_FROM;
    if (!isSearched && small.length === 0) return;
    const tools = Object.assign(document.createElement("p"), { className: "tools" });
    const input = Object.assign(document.createElement("input"), { type: "search", placeholder: "Search" });
    input.setAttribute("aria-label", `Search: ${table.caption?.textContent ?? "table"}`);
    const more = Object.assign(document.createElement("button"), { type: "button" });
    more.setAttribute("aria-expanded", "false");
    const count = document.createElement("span");
    count.setAttribute("role", "status");
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const update = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const unfolded = more.getAttribute("aria-expanded") === "true";
      let shown = 0;
      rows.forEach((row, index) => {
        const found = words.every((word) => texts[index].includes(word));
        row.hidden = !found || (words.length === 0 && !unfolded && row.classList.contains("small"));
        shown += row.hidden ? 0 : 1;
      });
      more.textContent = unfolded ? "Fold entries below 0.1 %" : `Show ${small.length} entries below 0.1 %`;
      count.textContent = words.length > 0 ? `${shown} of ${rows.length} rows` : "";
    };
    input.addEventListener("input", update);
    more.addEventListener("click", () => {
      more.setAttribute("aria-expanded", String(more.getAttribute("aria-expanded") !== "true"));
      update();
    });
    if (isSearched) tools.append(input);
    if (small.length > 0) tools.append(more);
    tools.append(count);
    region.before(tools);
    update();
  };

  for (const region of document.querySelectorAll(".scroll")) {
    const table = region.querySelector("table");
    if (!table?.tHead || table.tBodies.length !== 1) continue;
    if (table.tBodies[0].rows.length >= SORTED_FROM && !table.classList.contains("cells")) sortable(table);
    foldable(table, region);
  }
}
