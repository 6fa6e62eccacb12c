// A figure with its title, its tools, and a way to take it along as SVG, PNG or CSV.

// `toSvg` gives the figure as an <svg> element with its width and height, `toCsv` its numbers as text.
function figure(id, title, note, toSvg, toCsv) {
  const tools = html("div", { class: "tools" });
  const body = html("div", { class: "drawing" });
  const node = html("figure", { id: `figure-${id}` },
    html("figcaption", {}, html("h3", {}, title), html("span", { class: "quiet" }, note), tools), body);
  const tool = (text, label, action) => {
    const button = html("button", { type: "button", "aria-label": `${label}: ${title}`, onclick: action }, text);
    tools.append(button);
    return button;
  };
  if (toSvg) {
    tool("SVG", "Save as SVG", () => save(svgText(toSvg()), "image/svg+xml", `${id}.svg`));
    tool("PNG", "Save as PNG", () => savePng(toSvg(), `${id}.png`));
  }
  if (toCsv) tool("CSV", "Save the numbers as CSV", () => save(toCsv(), "text/csv", `${id}.csv`));
  return { node, body, tool };
}

// The drawing as a document of its own, on the page's colour.
function svgText(drawing) {
  const copy = drawing.cloneNode(true);
  const [width, height] = size(drawing);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.prepend(svg("rect", { width, height, fill: theme.ink.page }));
  return new XMLSerializer().serializeToString(copy);
}

const size = (drawing) => drawing.getAttribute("viewBox").split(" ").slice(2).map(Number);

function save(content, type, name) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  html("a", { href: url, download: `${fileName(data.name ?? "comparison")}-${name}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const fileName = (text) => text.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80);

function savePng(drawing, name) {
  const [width, height] = size(drawing);
  const url = URL.createObjectURL(new Blob([svgText(drawing)], { type: "image/svg+xml" }));
  const picture = new Image();
  picture.onload = () => {
    const canvas = html("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(picture, 0, 0, 2 * width, 2 * height);
    URL.revokeObjectURL(url);
    canvas.toBlob((blob) => save(blob, "image/png", name), "image/png");
  };
  picture.src = url;
}

