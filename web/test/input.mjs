// Input as people give it, and what they see of it.
import assert from "node:assert/strict";

/** The box with values, as a reader sees it: undefined where there is nothing to see. */
export async function shown(page) {
  const tip = page.locator(".tip");
  if (!(await tip.isVisible())) return undefined;
  const box = await tip.boundingBox();
  const { width, height } = page.viewportSize();
  assert.ok(box.width > 0 && box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= height, JSON.stringify(box));
  return { ...box, text: await tip.innerText() };
}

/** A point of an element, by shares of its width and height, in the window. */
export async function pointOf(locator, across, down) {
  await locator.scrollIntoViewIfNeeded();
  const box = await locator.boundingBox();
  return [box.x + box.width * across, box.y + box.height * down];
}

/** Whether a line is drawn; without a width it has no box that a browser's driver would call visible. */
export const isDrawn = (line) => line.evaluate((of) => getComputedStyle(of).visibility === "visible" && of.getBoundingClientRect().height > 50);

/** A finger: events of the browser's own input, as of a touch screen. */
export async function finger(page) {
  const session = await page.context().newCDPSession(page);
  const send = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  return {
    tap: async (at) => {
      await send("touchStart", [at]);
      await send("touchEnd", []);
    },
    drag: async (...points) => {
      await send("touchStart", [points[0]]);
      for (const at of points.slice(1)) await send("touchMove", [at]);
      await send("touchEnd", []);
    },
  };
}
