"use strict";
// Filters and counts the runs, and asks once a second how far those are that are not complete.
const rows = [...document.querySelectorAll("tbody tr")];
const box = (row) => row.querySelector("input");
const chosen = document.getElementById("chosen");
function count() {
  if (chosen) chosen.textContent = `${rows.filter((row) => box(row).checked).length} chosen`;
}
const filter = document.getElementById("filter");
function narrow() {
  const wanted = filter.value.toLowerCase();
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
}
filter?.addEventListener("input", narrow);

// What the reader typed, and where the page was, stay when it is loaded again.
const KEPT = "list";
function reload() {
  sessionStorage.setItem(KEPT, JSON.stringify([filter?.value ?? "", scrollX, scrollY]));
  history.scrollRestoration = "manual";
  location.reload();
}
function restore() {
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  if (kept === null) return;
  const [wanted, left, top] = JSON.parse(kept);
  if (filter) {
    filter.value = wanted;
    narrow();
  }
  scrollTo(left, top);
  history.scrollRestoration = "auto";
}
restore();

// An address has no room for the names of thousands of runs.
const ADDRESS = 4000;
const choice = document.getElementById("choice");
choice?.addEventListener("submit", () => {
  choice.method = new URLSearchParams(new FormData(choice)).toString().length > ADDRESS ? "post" : "get";
});
document.getElementById("all")?.addEventListener("click", () => {
  const shown = rows.filter((row) => !row.hidden);
  const choose = shown.some((row) => !box(row).checked);
  for (const row of shown) box(row).checked = choose;
  count();
});
document.addEventListener("change", count);
count();

function told(one) {
  const item = document.createElement("li");
  item.textContent = `${one.name}: ${one.state}${one.percent === null ? "" : `, ${one.percent} %`}${one.told ? ` (${one.told})` : ""}`;
  return item;
}

async function look() {
  try {
    const state = await (await fetch("/state.json")).json();
    const place = document.getElementById("growing");
    const list = document.createElement("ul");
    list.append(...state.growing.map(told));
    const title = document.createElement("h2");
    title.textContent = "Not complete";
    place.replaceChildren(...(state.growing.length > 0 ? [title, list] : []));
    // Choices would be lost.
    if (String(state.runs) !== document.body.dataset.runs && rows.every((row) => !box(row).checked)) reload();
  } catch {
    document.getElementById("growing").textContent = "rocelab serve does not answer: it has ended.";
  }
  setTimeout(look, 1000);
}
setTimeout(look, 1000);
