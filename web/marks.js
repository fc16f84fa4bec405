// Pictures of single marks: each says its value, arrows go from mark to mark.
"use strict";
for (const svg of document.querySelectorAll("svg[role]")) {
  if (charts.has(svg)) continue;
  const marks = [...svg.querySelectorAll(":scope :has(> title)")];
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  let at = -1;
  const key = (name) => {
    if (!(name in STEPS)) return undefined;
    at = Math.max(0, Math.min(at + STEPS[name], marks.length - 1));
    return { mark: marks[at] };
  };
  // The marks of a group are links, which the keyboard reaches by itself.
  const isWalked = svg.getAttribute("role") === "img" && marks.length > 0;
  charts.add(svg, { read: ({ words }) => (words ? [words] : undefined), ...(isWalked && { key }) });
}
