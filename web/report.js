// The report works without this script; with it, the reader can switch colours, and what is folded away is printed.
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

  const folded = document.querySelectorAll("details.print-open");
  const before = new Map();
  addEventListener("beforeprint", () => {
    for (const details of folded) {
      before.set(details, details.open);
      details.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const [details, wasOpen] of before) details.open = wasOpen;
  });
}
