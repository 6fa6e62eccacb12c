// Who was paused when, and by whom.

const LANE_HEIGHT = 16;

// A lane for each port. Root causes are full bars; what another pause led to is thinner.
function pauseLanes(lanes, omitted, begin, end) {
  let drawing = null;
  const note = `${omitted ? `The ${lanes.length} ports that were paused the most; ${omitted} more are left out. ` : ""}Full bars: root causes. Thin bars: led to by another pause, at least in part.`;
  const shown = figure("lanes", "Pauses of each port", note, () => drawing);
  const draw = () => {
    const ink = theme.ink;
    const [left, right, top] = [300, MAP_WIDTH - 80, 8];
    const height = top + lanes.length * LANE_HEIGHT + 40;
    const x = (time) => left + ((Math.max(time, begin) - begin) / Math.max(end - begin, 1)) * (right - left);
    drawing = svg("svg", { viewBox: `0 0 ${MAP_WIDTH} ${height}`, role: "img", "aria-label": `Pauses of ${lanes.length} ports over time; the table of pauses has the numbers.`, "font-family": FONT, "font-size": 11 });
    const ticks = linearTicks(begin, end, 8);
    const [unit, scale] = unitOf("moment");
    for (const tick of ticks) {
      drawing.append(svg("path", { d: `M${x(tick)} ${top}V${height - 36}`, stroke: ink.edge }),
        svg("text", { x: x(tick), y: height - 22, "text-anchor": "middle", fill: ink.text }, plain(tick / scale)));
    }
    drawing.append(svg("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle", fill: ink.quiet }, `Time (${unit})`));
    lanes.forEach((lane, index) => {
      const y = top + index * LANE_HEIGHT;
      drawing.append(svg("text", { x: left - 8, y: y + 12, "text-anchor": "end", fill: ink.text }, `${shorten(lane.port, 24)} p${lane.priority}, asked by ${shorten(lane.by, 16)}`),
        svg("text", { x: right + 8, y: y + 12, fill: ink.quiet }, format("time", lane.total_ps)));
      for (const [from, to, root] of lane.bars) {
        const tall = root ? LANE_HEIGHT - 4 : LANE_HEIGHT - 10;
        drawing.append(svg("rect", { x: x(from).toFixed(1), y: y + (LANE_HEIGHT - tall) / 2, width: Math.max(1, x(to) - x(from)).toFixed(1), height: tall, fill: theme.category(root ? 1 : 0) },
          svg("title", {}, `${lane.port} p${lane.priority}: ${format("moment", from)} to ${format("moment", to)}`)));
      }
    });
    stage.replaceChildren(drawing);
  };
  const stage = html("div");
  shown.body.append(stage);
  draw();
  theme.listeners.push(draw);
  return shown.node;
}

const shorten = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}\u2026` : text);

// The tree: every branch hangs on the pauses that led to it. Branches open and close.
function pauseTree(tree) {
  let drawing = null;
  let focused = 0;
  const { branches } = tree;
  const many = branches.length > 60;
  const open = branches.map((branch, index) => hasChildren(index) && (!many || branch.depth < 1));
  const how = tree.recorded ? "Causes as the switches knew them." : "Causes by time and place: what asked for a pause was itself kept from sending then.";
  const cut = tree.omitted ? ` ${grouped(tree.omitted)} lighter branches are left out.` : "";
  const shown = figure("tree", "Who led to whose pauses", `${grouped(tree.pauses)} pauses, drawn together by port. ${how}${cut}`, () => drawing);
  const most = Math.max(...branches.map((branch) => branch.total_ps), 1);

  function hasChildren(index) {
    return branches[index + 1]?.depth > branches[index].depth;
  }

  // Numbers of the branches above which all are open.
  function visible() {
    const list = [];
    let closed = Infinity;
    branches.forEach((branch, index) => {
      if (branch.depth > closed) return;
      closed = open[index] ? Infinity : branch.depth;
      list.push(index);
    });
    return list;
  }

  function draw(keepFocus = false) {
    const ink = theme.ink;
    const rows = visible();
    const columns = [["Pauses", 800], ["Paused", 900], ["Longest", 1000], ["First", 1100]];
    drawing = svg("svg", { viewBox: `0 0 ${MAP_WIDTH} ${rows.length * 20 + 30}`, role: "tree", "aria-label": "Who led to whose pauses", "font-family": FONT, "font-size": 12, onkeydown: press });
    drawing.append(svg("text", { x: 8, y: 16, fill: ink.quiet }, "Who asked, and the port that was paused"),
      ...columns.map(([name, x]) => svg("text", { x, y: 16, "text-anchor": "end", fill: ink.quiet }, name)));
    rows.forEach((index, row) => {
      const branch = branches[index];
      const left = 8 + Math.min(branch.depth, 16) * 22;
      const y = 26 + row * 20;
      const sign = hasChildren(index) ? (open[index] ? "\u25be" : "\u25b8") : "\u00b7";
      const isDeadlock = branch.deadlock !== undefined;
      const words = isDeadlock ? "" : branch.depth === 0 ? "root cause: " : "so ";
      const pauses = isDeadlock ? `deadlock ${branch.deadlock}` : `${shorten(branch.by, 24)} pauses ${shorten(branch.port, 28)} p${branch.priority}`;
      const said = isDeadlock ? pauses : `${branch.by} pauses ${branch.port}, priority ${branch.priority}`;
      const values = [grouped(branch.count), format("time", branch.total_ps), format("time", branch.longest_ps), format("moment", branch.first_ps)];
      drawing.append(svg("g", {
        class: "row", role: "treeitem", "data-branch": index, tabindex: index === focused ? 0 : -1,
        "aria-level": branch.depth + 1, "aria-expanded": hasChildren(index) ? String(open[index]) : null,
        "aria-label": `${words}${said}: ${values[0]} times, ${values[1]}`,
        onclick: () => { focused = index; toggle(index); },
      },
        svg("rect", { class: "backdrop", x: 2, y, width: MAP_WIDTH - 4, height: 20, fill: "transparent" }),
        svg("text", { x: left, y: y + 14, fill: ink.quiet }, sign),
        svg("text", { x: left + 14, y: y + 14, fill: ink.text }, svg("tspan", { fill: ink.quiet }, words), pauses),
        svg("rect", { x: 600, y: y + 6, width: Math.max(1, branch.total_ps / most * 130), height: 8, fill: theme.category(branch.depth === 0 ? 1 : 0) }),
        columns.map(([, x], column) => svg("text", { x, y: y + 14, "text-anchor": "end", fill: ink.text }, values[column]))));
    });
    stage.replaceChildren(drawing);
    if (keepFocus) drawing.querySelector(`[data-branch="${focused}"]`)?.focus();
  }

  function toggle(index) {
    if (hasChildren(index)) open[index] = !open[index];
    draw(true);
  }

  function press(event) {
    const rows = visible();
    const at = rows.indexOf(focused);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to !== undefined) {
      focused = rows[Math.min(Math.max(to, 0), rows.length - 1)];
      draw(true);
    } else if (event.key === "Enter" || event.key === " " || (event.key === "ArrowRight" && !open[focused]) || (event.key === "ArrowLeft" && open[focused])) {
      toggle(focused);
    } else {
      return;
    }
    event.preventDefault();
  }

  const stage = html("div");
  shown.body.append(stage);
  draw();
  theme.listeners.push(() => draw());
  return shown.node;
}

