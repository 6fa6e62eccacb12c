// Queues by port and time: the darker a cell (in the dark theme: the lighter), the longer the queue.

const HEAT_ROW = 13;
const HEAT_LEVELS = 12;

function heatMap(map, begin, end) {
  let drawing = null;
  const longest = Math.max(...map.rows.map((row) => Math.max(...row.values)));
  const note = `The longest that each queue was in each of ${map.columns} parts of the time.${map.omitted ? ` The ${map.rows.length} longest queues; ${map.omitted} more are left out.` : ""}`;
  const shown = figure("heat-map", "Queues by port and time", note, () => drawing, () => heatCsv(map, begin, end));
  const details = html("div", { class: "details quiet", "aria-live": "off" }, "The value at the pointer stands here.");
  const box = { left: 180, right: MAP_WIDTH - 20, top: 6, bottom: 6 + map.rows.length * HEAT_ROW };
  const column = (box.right - box.left) / map.columns;

  // All cells of a row and of one colour are one path.
  function cells(row, y) {
    const paths = new Map();
    row.values.forEach((value, at) => {
      if (value === 0) return;
      const level = Math.ceil((value / longest) * HEAT_LEVELS);
      paths.set(level, `${paths.get(level) ?? ""}M${(box.left + at * column).toFixed(1)} ${y}h${column.toFixed(2)}v${HEAT_ROW - 1}h-${column.toFixed(2)}z`);
    });
    return [...paths].map(([level, d]) => svg("path", { d, fill: theme.scale(level / HEAT_LEVELS) }));
  }

  function key(y) {
    const steps = Array.from({ length: HEAT_LEVELS }, (unused, step) => svg("rect", { x: box.right - 250 + step * 12, y, width: 12, height: 9, fill: theme.scale((step + 1) / HEAT_LEVELS) }));
    return [...steps, svg("text", { x: box.right - 256, y: y + 9, "text-anchor": "end", fill: theme.ink.text }, "Queue: above 0"),
      svg("text", { x: box.right - 98, y: y + 9, fill: theme.ink.text }, format("bytes", longest))];
  }

  function draw() {
    const { ink } = theme;
    drawing = svg("svg", { viewBox: `0 0 ${MAP_WIDTH} ${box.bottom + 56}`, role: "img", "aria-label": `${map.rows.length} queues over time; the longest had ${format("bytes", longest)}.`, "font-family": FONT, "font-size": 11 });
    const [unit, scale] = unitOf("moment");
    const ticks = linearTicks(begin, end, 10);
    tickTexts("moment", ticks, false, end).forEach((text, index) => {
      const x = (box.left + ((ticks[index] - begin) / Math.max(end - begin, 1)) * (box.right - box.left)).toFixed(1);
      drawing.append(svg("path", { d: `M${x} ${box.top}V${box.bottom}`, stroke: ink.edge }), svg("text", { x, y: box.bottom + 15, "text-anchor": "middle", fill: ink.text }, text));
    });
    map.rows.forEach((row, index) => {
      const y = box.top + index * HEAT_ROW;
      drawing.append(svg("text", { x: box.left - 8, y: y + 10, "text-anchor": "end", fill: ink.text }, shorten(row.label, 26)), ...cells(row, y));
    });
    drawing.append(svg("text", { x: (box.left + box.right) / 2 - 120, y: box.bottom + 34, "text-anchor": "middle", fill: ink.quiet }, `Time (${unit})`), ...key(box.bottom + 30));
    drawing.addEventListener("pointermove", tell);
    stage.replaceChildren(drawing);
  }

  function tell(event) {
    const frame = drawing.getBoundingClientRect();
    const zoom = MAP_WIDTH / frame.width;
    const row = map.rows[Math.floor(((event.clientY - frame.top) * zoom - box.top) / HEAT_ROW)];
    const at = Math.floor(((event.clientX - frame.left) * zoom - box.left) / column);
    if (!row || at < 0 || at >= map.columns) return;
    const width = (end - begin) / map.columns;
    details.textContent = `${row.label}, ${format("moment", begin + at * width)} to ${format("moment", begin + (at + 1) * width)}: ${format("bytes", row.values[at])}`;
  }

  const stage = html("div", { class: "scrolled" });
  shown.body.append(stage, details);
  whenNear(stage, () => draw());
  theme.listeners.push(() => (drawing || theme.onPaper) && draw());
  return shown.node;
}

function heatCsv(map, begin, end) {
  const width = (end - begin) / map.columns;
  const heads = ["Time [ps]", ...map.rows.map((row) => `${row.label} [bytes]`)];
  const rows = Array.from({ length: map.columns }, (unused, at) => [Math.round(begin + at * width), ...map.rows.map((row) => row.values[at])]);
  return [heads, ...rows].map((row) => `${row.map(csvCell).join(",")}\n`).join("");
}
