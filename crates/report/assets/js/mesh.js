// Pings by pair: the darker a cell (in the dark theme: the lighter), the longer they took; a cross says that some were lost.

const MESH_CELL = 13;

function meshMap(mesh) {
  let drawing = null;
  const longest = Math.max(1, ...mesh.cells.map((cell) => cell.p99_ps ?? 0));
  const note = `The highest 99th percentile of a window of each pair. A cross: pings were lost.${mesh.omitted ? ` ${mesh.omitted} pairs of hosts that did better are left out.` : ""}`;
  const shown = figure("mesh", "Pings by pair", note, () => drawing, () => meshCsv(mesh));
  const details = html("div", { class: "details quiet", "aria-live": "off" }, "The pair at the pointer stands here.");
  const box = { left: 180, top: 24, right: 180 + mesh.destinations.length * MESH_CELL, bottom: 24 + mesh.sources.length * MESH_CELL };
  const width = Math.max(MAP_WIDTH, box.right + 20);
  const at = new Map(mesh.cells.map((cell) => [`${cell.from} ${cell.to}`, cell]));

  function cross(x, y) {
    return svg("path", { d: `M${x + 2} ${y + 2}l8 8m0 -8l-8 8`, stroke: theme.ink.text, "stroke-width": 2, fill: "none" });
  }

  function cellOf(cell) {
    const x = box.left + cell.to * MESH_CELL;
    const y = box.top + cell.from * MESH_CELL;
    const level = cell.p99_ps === null ? 0 : Math.ceil((cell.p99_ps / longest) * HEAT_LEVELS);
    const fill = cell.p99_ps === null ? "none" : theme.scale(level / HEAT_LEVELS);
    const square = svg("rect", { x, y, width: MESH_CELL - 1, height: MESH_CELL - 1, fill, stroke: theme.ink.edge });
    return cell.lost > 0 ? [square, cross(x, y)] : [square];
  }

  function draw() {
    const { ink } = theme;
    drawing = svg("svg", { viewBox: `0 0 ${width} ${box.bottom + 40}`, role: "img", "aria-label": `Pings of ${mesh.cells.length} pairs; the slowest took ${format("time", longest)}.`, "font-family": FONT, "font-size": 11 });
    drawing.append(svg("text", { x: box.left, y: 12, fill: ink.quiet }, `to ${shorten(mesh.destinations[0], 26)} … ${shorten(mesh.destinations.at(-1), 26)}`));
    mesh.sources.forEach((name, row) => drawing.append(svg("text", { x: box.left - 8, y: box.top + row * MESH_CELL + 10, "text-anchor": "end", fill: ink.text }, shorten(name, 26))));
    mesh.cells.forEach((cell) => drawing.append(...cellOf(cell)));
    const steps = Array.from({ length: HEAT_LEVELS }, (unused, step) => svg("rect", { x: box.left + 60 + step * 12, y: box.bottom + 16, width: 12, height: 9, fill: theme.scale((step + 1) / HEAT_LEVELS) }));
    drawing.append(...steps, svg("text", { x: box.left, y: box.bottom + 25, fill: ink.text }, "above 0"), svg("text", { x: box.left + 66 + HEAT_LEVELS * 12, y: box.bottom + 25, fill: ink.text }, format("time", longest)));
    drawing.addEventListener("pointermove", tell);
    stage.replaceChildren(drawing);
  }

  function tell(event) {
    const frame = drawing.getBoundingClientRect();
    const zoom = width / frame.width;
    const from = Math.floor(((event.clientY - frame.top) * zoom - box.top) / MESH_CELL);
    const to = Math.floor(((event.clientX - frame.left) * zoom - box.left) / MESH_CELL);
    const cell = at.get(`${from} ${to}`);
    if (!cell) return;
    const took = cell.p99_ps === null ? "no answer" : format("time", cell.p99_ps);
    details.textContent = `${mesh.sources[from]} to ${mesh.destinations[to]}: ${took}; ${grouped(cell.lost)} of ${grouped(cell.decided)} lost`;
  }

  const stage = html("div", { class: "scrolled" });
  shown.body.append(stage, details);
  whenNear(stage, () => draw());
  theme.listeners.push(() => (drawing || theme.onPaper) && draw());
  return shown.node;
}

function meshCsv(mesh) {
  const rows = mesh.cells.map((cell) => [mesh.sources[cell.from], mesh.destinations[cell.to], cell.decided, cell.lost, cell.p99_ps ?? ""]);
  return [["From", "To", "Answered or lost", "Lost", "Highest p99 of a window [ps]"], ...rows].map((row) => `${row.map(csvCell).join(",")}\n`).join("");
}
