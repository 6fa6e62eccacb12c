// On paper: the light theme, and every chart as a vector drawing, also those that nobody scrolled to. A browser
// prints what a canvas shows at that moment, which is nothing or the dark theme.

const drawnForPaper = [];

// Has `toSvg` drawn into `body` whenever the page is printed.
function printable(body, toSvg) {
  const paper = html("div", { class: "paper" });
  body.append(paper);
  drawnForPaper.push([paper, toSvg]);
}

addEventListener("beforeprint", () => {
  theme.onPaper = true;
  // Before the screen is drawn anew, which forgets how far a chart was zoomed.
  for (const [paper, toSvg] of drawnForPaper) paper.replaceChildren(toSvg());
  theme.apply();
});
addEventListener("afterprint", () => {
  theme.onPaper = false;
  for (const [paper] of drawnForPaper) paper.replaceChildren();
  theme.apply();
});
