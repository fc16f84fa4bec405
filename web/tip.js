// The one box that shows the value of a mark: beside it, and read out by screen readers.
"use strict";
const tip = (() => {
  const box = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
  box.setAttribute("role", "status");
  document.body.append(box);
  const MARGIN = 8;
  /** Shows lines of text above the point (x, y) of the window, or below it where there is no room. */
  const show = (lines, x, y) => {
    const text = lines.join("\n");
    if (box.textContent !== text) box.textContent = text;
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = Math.max(MARGIN, Math.min(x - width / 2, document.documentElement.clientWidth - width - MARGIN));
    const above = y - height - 2 * MARGIN;
    box.style.left = `${left}px`;
    box.style.top = `${above < MARGIN ? y + 2 * MARGIN : above}px`;
  };
  const hide = () => {
    box.hidden = true;
  };
  addEventListener("scroll", hide, { passive: true });
  return { show, hide };
})();
