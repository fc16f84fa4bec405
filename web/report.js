// The report works without this script; with it, the reader can switch colours, and put every chart on paper.
"use strict";
{
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);
  const label = () => {
    button.textContent = isDark() ? "Light colours" : "Dark colours";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  systemIsDark.addEventListener("change", label);
  label();
  button.hidden = false;

  // Paper has the answer and its tables; sections of charts are printed when they are asked for.
  const charts = document.querySelectorAll("section.on-screen:has(svg[role])");
  if (charts.length > 0) {
    const print = Object.assign(document.createElement("button"), { type: "button", id: "print", textContent: "Print with charts" });
    print.addEventListener("click", () => {
      for (const section of charts) section.classList.remove("on-screen");
      window.print();
    });
    addEventListener("afterprint", () => charts.forEach((section) => section.classList.add("on-screen")));
    button.after(print);
  }
}
