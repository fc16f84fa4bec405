// Without this script the CSV of a page can be selected by hand; with it a button copies it.
"use strict";
{
  const button = document.getElementById("copy-csv");
  const text = document.querySelector("#csv pre");
  const said = document.getElementById("copied");
  const select = () => {
    const range = document.createRange();
    range.selectNodeContents(text);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return "Selected: copy it with the keyboard.";
  };
  button?.addEventListener("click", async () => {
    said.textContent = (await charts.copy(`${text.textContent}\n`)) ? "Copied." : select();
  });
  if (button) button.hidden = false;
}
