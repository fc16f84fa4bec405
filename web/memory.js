// The tree map works without this script: each view is an anchor. With it the page stays where it is, the focus
// follows, and Escape goes up.
"use strict";
{
  const whole = document.querySelector(".view.whole");
  const shown = () => document.querySelector(".view:target") ?? whole;
  const show = (anchor) => {
    const { scrollX, scrollY } = window;
    location.hash = anchor;
    // A browser goes to the anchor with the next layout: only after it can the way back be gone.
    document.body.getBoundingClientRect();
    window.scrollTo(scrollX, scrollY);
    // The last way up is where a reader of the view goes next; the whole has none, its first tile stands in for it.
    const ways = shown().querySelectorAll(".crumbs a");
    const [tile] = [...shown().querySelectorAll("svg a")].filter((a) => a.getClientRects().length > 0);
    (ways[ways.length - 1] ?? tile)?.focus({ preventScroll: true });
  };
  document.querySelector(".map")?.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const anchor = link?.getAttribute("href");
    if (!anchor?.startsWith("#") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(anchor);
  });
  addEventListener("keydown", (event) => {
    const ways = shown()?.querySelectorAll(".crumbs a") ?? [];
    if (event.key !== "Escape" || ways.length === 0) return;
    event.preventDefault();
    show(ways[ways.length - 1].getAttribute("href"));
  });
}
