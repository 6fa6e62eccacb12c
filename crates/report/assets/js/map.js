// The network, each direction of each link coloured in the half next to who sends.

const MAP_WIDTH = 1200;

function networkMap(map, begin, end) {
  let measure = map.measures[0];
  let frame = 0;
  let chosen = null;
  let playing = null;
  let drawing = null;
  let halves = [];
  let nodes = [];
  const place = layout(map);
  const shown = figure("map", "Links", "Each half of a link shows the port at its end, and what that port sends.", () => drawing);
  const details = html("div", { class: "details", "aria-live": "polite" });
  const select = html("select", { "aria-label": "Colour the links by", onchange: () => { measure = map.measures[select.selectedIndex]; choose(0); } },
    map.measures.map((one) => html("option", {}, one.title)));
  const slider = html("input", { type: "range", id: "moment", min: 0, max: map.frames, value: 0, "aria-label": "Moment of the run; at the left, the whole run", oninput: () => choose(Number(slider.value)) });
  const play = html("button", { type: "button", onclick: () => (playing ? stop() : start()) }, "Play");
  const moment = html("span", { class: "moment" });
  const why = html("span", { class: "quiet" });

  const width = (end - begin) / map.frames;
  // `null`: not sampled.
  const values = () => (frame === 0 ? measure.whole : measure.frames.map((line) => (Array.isArray(line) ? line[frame - 1] : line)));
  const unknown = () => frame > 0 && measure.frames.includes(null);
  const text = (value) => (value === null ? "not sampled" : measure.quantity === "ratio" ? `${plain(value / 10)} %` : format(measure.quantity, value));
  const most = () => {
    if (measure.quantity === "ratio") return 1000;
    let top = Math.max(...measure.whole, 1);
    for (const line of measure.frames) if (Array.isArray(line)) top = Math.max(top, ...line);
    return top;
  };

  function choose(to) {
    frame = measure.frames.length ? to : 0;
    slider.value = frame;
    slider.disabled = play.disabled = measure.frames.length === 0;
    const span = frame === 0 ? "Whole run" : `${format("moment", begin + (frame - 1) * width)} to ${format("moment", begin + frame * width)}`;
    moment.textContent = span;
    slider.setAttribute("aria-valuetext", span);
    why.textContent = measure.frames.length ? (unknown() ? "Dotted links were not sampled." : "") : measure.missing;
    colour();
  }

  function start() {
    play.textContent = "Stop";
    if (frame >= map.frames) choose(0);
    playing = setInterval(() => (frame < map.frames ? choose(frame + 1) : stop()), 60);
  }

  function stop() {
    clearInterval(playing);
    playing = null;
    play.textContent = "Play";
  }

  function colour() {
    const now = values();
    const top = most();
    halves.forEach((half, line) => {
      const value = now[line];
      if (value === null) half.setAttribute("stroke-dasharray", "2 4");
      else half.removeAttribute("stroke-dasharray");
      half.setAttribute("stroke", value > 0 ? theme.scale(value / top) : theme.ink.idle);
      half.setAttribute("stroke-width", value > 0 ? 1 + (2.2 * value) / top : 0.7);
    });
    tell();
  }

  // What the chosen node sends, the most first.
  function tell() {
    if (chosen === null) {
      details.textContent = "Choose a node by a click, or with the arrow keys when the drawing has the focus.";
      return;
    }
    const now = values();
    const lines = map.lines.map((line, index) => [line, now[index]]).filter(([line]) => line.from === chosen);
    lines.sort((a, b) => b[1] - a[1]);
    const few = lines.slice(0, 12).map(([line, value]) => `${line.label} \u2192 ${map.marks[line.to].name}: ${text(value)}`);
    if (lines.length > few.length) few.push(`${lines.length - few.length} more`);
    details.replaceChildren(html("b", {}, map.marks[chosen].name), `. ${measure.title}: ${few.join("; ")}`);
  }

  function pick(node) {
    if (chosen !== null) nodes[chosen].removeAttribute("stroke-width");
    chosen = node;
    nodes[node].setAttribute("stroke-width", 3);
    tell();
  }

  function move(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!steps) return;
    event.preventDefault();
    if (chosen === null) { pick(0); return; }
    const here = map.marks[chosen];
    const row = map.marks.map((mark, index) => [mark, index]).filter(([mark]) => mark.tier === here.tier + steps[1]).sort((a, b) => a[0].x - b[0].x);
    if (row.length === 0) return;
    if (steps[1] !== 0) {
      pick(row.reduce((best, one) => (Math.abs(one[0].x - here.x) < Math.abs(best[0].x - here.x) ? one : best))[1]);
      return;
    }
    const at = row.findIndex(([, index]) => index === chosen) + steps[0];
    if (at >= 0 && at < row.length) pick(row[at][1]);
  }

  function draw() {
    const ink = theme.ink;
    drawing = svg("svg", { viewBox: `0 0 ${MAP_WIDTH} ${place.height}`, tabindex: 0, role: "group", "aria-label": "Network. Arrow keys choose a node.", "font-family": FONT, "font-size": 11, onkeydown: move });
    halves = map.lines.map((line) => {
      const [from, to] = [place.of(line.from), place.of(line.to)];
      // Two marks in one row are joined by a bow, so that the marks between stay clear of it.
      const bow = from[1] === to[1] ? 46 : 0;
      const middle = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2 - bow];
      const title = svg("title", {}, `${line.label} to ${map.marks[line.to].name}`);
      return svg("path", { d: `M${from.map((at) => at.toFixed(1)).join(" ")}L${middle.map((at) => at.toFixed(1)).join(" ")}`, fill: "none" }, title);
    });
    nodes = map.marks.map((mark, index) => {
      const [x, y] = place.of(index);
      const pitch = place.pitch(mark.tier);
      const title = svg("title", {}, mark.name);
      const both = { fill: mark.host ? ink.quiet : ink.text, stroke: theme.category(1), "stroke-width": 0, onclick: () => pick(index) };
      const half = Math.max(1.2, Math.min(mark.host ? 5 : 8, pitch * 0.36));
      return svg("rect", { x: x - half, y: y - (mark.host ? half : 5), width: 2 * half, height: mark.host ? 2 * half : 10, rx: 2, ...both }, title);
    });
    const names = map.marks.flatMap((mark, index) => {
      if (place.pitch(mark.tier) < 7 * mark.name.length) return [];
      const [x, y] = place.of(index);
      return [svg("text", { x, y: mark.host ? y + 20 : y - 10, "text-anchor": "middle", fill: ink.text, stroke: ink.page, "stroke-width": 3, "paint-order": "stroke" }, mark.name)];
    });
    drawing.append(svg("g", {}, halves), svg("g", {}, cycles()), svg("g", {}, nodes), svg("g", { "pointer-events": "none" }, names), key());
    stage.replaceChildren(drawing);
    colour();
    if (chosen !== null) pick(chosen);
  }

  // Queues that wait for each other: each line with an arrow in the direction in which nothing moves.
  function cycles() {
    const colour = theme.category(1);
    const lines = [...new Set(map.cycles.flatMap((cycle) => cycle.lines))];
    return lines.flatMap((index) => {
      const line = map.lines[index];
      const [[x0, y0], [x1, y1]] = [place.of(line.from), place.of(line.to)];
      const bow = y0 === y1 ? 46 : 0;
      // From one end to two thirds of the way, over the bow if there is one.
      const at = (share) => [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share - bow * (1 - Math.abs(2 * share - 1))];
      const [tip, before] = [at(0.66), at(0.6)];
      const angle = (Math.atan2(tip[1] - before[1], tip[0] - before[0]) * 180) / Math.PI;
      const points = [0, 0.5, 0.66].map((share) => at(share).map((value) => value.toFixed(1)).join(" "));
      return [
        svg("path", { class: "deadlock", d: `M${points.join("L")}`, fill: "none", stroke: colour, "stroke-width": 3, "stroke-dasharray": "7 3" }, svg("title", {}, `${line.label}: deadlock`)),
        svg("path", { d: "M0 0L-11 -5L-11 5Z", fill: colour, transform: `translate(${tip.map((value) => value.toFixed(1)).join(" ")}) rotate(${angle.toFixed(1)})` }),
      ];
    });
  }

  // The colours and what they stand for; drawn anew with the map, so that it is in the picture.
  function key() {
    const group = svg("g", { transform: `translate(${MAP_WIDTH - 330} ${place.height - 30})` });
    for (let step = 0; step < 40; step++) group.append(svg("rect", { x: 40 + step * 5, width: 5.5, height: 8, fill: theme.scale(step / 39) }));
    group.append(svg("text", { x: 34, y: 8, "text-anchor": "end", fill: theme.ink.text }, "0"),
      svg("text", { x: 246, y: 8, fill: theme.ink.text }, text(most())),
      svg("text", { x: 40, y: 22, fill: theme.ink.quiet }, measure.title));
    if (map.cycles.length > 0) {
      group.append(svg("path", { d: "M-130 4H-90", stroke: theme.category(1), "stroke-width": 3, "stroke-dasharray": "7 3" }),
        svg("text", { x: -84, y: 8, fill: theme.ink.text }, "deadlock"));
    }
    return group;
  }

  select.addEventListener("change", () => draw());
  const stage = html("div");
  for (const cycle of map.cycles) shown.body.append(html("p", { class: "cycle" }, cycle.text));
  shown.body.append(html("div", { class: "controls" }, html("label", {}, "Links by ", select), play, slider, moment, why), stage, details);
  choose(0);
  draw();
  theme.listeners.push(draw);
  return shown.node;
}

// Rows by tier, hosts at the bottom.
function layout(map) {
  const rows = Math.max(...map.marks.map((mark) => mark.tier), 0) + 1;
  const counts = new Array(rows).fill(0);
  for (const mark of map.marks) counts[mark.tier]++;
  const rowHeight = rows > 1 ? 120 : 60;
  const margin = 46;
  // Room for bows between marks of the highest row.
  const bowed = map.lines.some((line) => [line.from, line.to].every((end) => map.marks[end].tier === rows - 1));
  const above = bowed ? 60 : 40;
  return {
    height: (rows - 1) * rowHeight + above + 80,
    of: (index) => [margin + map.marks[index].x * (MAP_WIDTH - 2 * margin), above + (rows - 1 - map.marks[index].tier) * rowHeight],
    pitch: (tier) => (MAP_WIDTH - 2 * margin) / Math.max(counts[tier], 1),
  };
}

