// Without this script the CSV of a page can be selected by hand; with it a button copies it.
"use strict";
{
  const button = document.getElementById("copy-csv");
  const text = document.querySelector("#csv pre");
  const told = document.getElementById("copied");
  const select = () => {
    const range = document.createRange();
    range.selectNodeContents(text);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    told.textContent = "Selected: copy it with the keyboard.";
  };
  button?.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(`${text.textContent}\n`);
      told.textContent = "Copied.";
    } catch {
      // A browser may refuse pages from files.
      select();
    }
  });
  if (button) button.hidden = false;
}
