// The page, section by section.

const data = JSON.parse(document.getElementById("data").textContent);
const content = document.getElementById("content");
const links = document.getElementById("sections");

function section(id, title, ...children) {
  links.append(html("a", { href: `#${id}` }, title));
  content.append(html("section", { id, "aria-labelledby": `${id}-title` }, html("h2", { id: `${id}-title` }, title), ...children));
}

const quietly = (text) => html("p", { class: "quiet" }, text);

// Two places on the time axis for each part of the run.
function moments() {
  const half = (data.end_ps - data.begin_ps) / data.bins / 2;
  return Array.from({ length: 2 * data.bins }, (unused, index) => data.begin_ps + index * half);
}

const SHARES = ["p50", "p95", "p99", "max"];
const KINDS = [["slowdown", "Slowdown", "ratio"], ["fct", "Flow completion time", "time"]];

// `runs` is [name, completion] of each run; the name is empty if there is only one.
function completionFigures(runs) {
  const known = runs.filter(([, completion]) => completion.flows > 0);
  const bySizes = runs.length === 1 && runs[0][1].buckets.length > 0 ? [sizeTable(runs[0][1])] : [];
  if (known.length === 0) return [quietly("No flow completed."), ...bySizes];
  const figures = KINDS.flatMap(([kind, title, quantity]) => (
    figuresOf(known.filter(([, completion]) => completion[kind].values.length > 0), kind, title, quantity)));
  return [html("div", { class: "grid" }, figures), ...bySizes];
}

// A flow that completed has no slowdown if it has no ideal time.
function figuresOf(known, kind, title, quantity) {
  if (known.length === 0) return [];
  // Of several runs one percentile is drawn, and the figure, its axis and what is saved of it name it.
  const named = known.length > 1 ? `${title}, ${SHARES[sharedBy(known, kind)]}` : title;
  return [
    chart({
      id: `${kind}-by-size`, title: `${named} by size`, note: completedOf(known, kind),
      x: { title: "Flow size", quantity: "bytes", log: true, values: sizes(known) },
      y: { title: named, quantity, log: true },
      curves: known.flatMap(([name, completion]) => (known.length > 1 ? [sharedBy(known, kind)] : [0, 1, 2, 3].filter((share) => hasShare(completion, kind, share))).map((share) => (
        { label: known.length > 1 ? name : SHARES[share], points: true, values: bySize(known, completion, kind, share) }))),
    }),
    distribution(known, kind, title, quantity),
  ];
}

// Few flows do not support a high percentile: `null`.
const hasShare = (completion, kind, share) => completion.buckets.some((bucket) => bucket[kind][share] !== null);
// The highest percentile that all runs have of some size, or else the greatest value.
const sharedBy = (runs, kind) => [2, 1, 0].find((share) => runs.every(([, completion]) => hasShare(completion, kind, share))) ?? 3;
// How many flows completed, or have a slowdown, if not all do: the others count as slower.
function completedOf(runs, kind) {
  const known = (completion) => (kind === "slowdown" ? completion.slowdowns : completion.flows);
  const all = (completion) => completion.flows + completion.missing;
  const word = (completion) => (known(completion) < completion.flows ? "with an ideal time finished" : "finished");
  const of = ([name, completion]) => `${name ? `${name}: ` : ""}${known(completion)} ${word(completion)} of ${all(completion)}`;
  const some = runs.filter(([, completion]) => known(completion) < all(completion)).map(of);
  return some.length > 0 ? `${some.join("; ")}; the others count as slower.` : "";
}

const middle = (bucket) => Math.sqrt(Math.max(bucket.from, 1) * Math.max(bucket.below, 2));
const sizes = (runs) => [...new Set(runs.flatMap(([, completion]) => completion.buckets.map(middle)))].sort((a, b) => a - b);
function bySize(runs, completion, kind, share) {
  const of = new Map(completion.buckets.map((bucket) => [middle(bucket), bucket[kind][share]]));
  return sizes(runs).map((size) => of.get(size) ?? null);
}

function distribution(runs, kind, title, quantity) {
  const tables = runs.map(([, completion]) => [completion[kind].values, completion[kind].shares.map((share) => share / 1e4)]);
  const joined = uPlot.join(tables.map(([values, shares]) => lastOfEqual(values, shares)));
  return chart({
    id: `${kind}-cdf`, title: `${title}, distribution`, note: completedOf(runs, kind), stepped: true,
    x: { title, quantity, log: true, values: joined[0] }, y: { title: "Flows", quantity: "percent", high: 100 },
    curves: runs.map(([name], index) => ({ label: name || "flows", values: joined[index + 1] })),
  });
}

// Of points at the same place the highest.
function lastOfEqual(values, shares) {
  const kept = values.map((value, index) => index).filter((index) => values[index] !== values[index + 1]);
  return [kept.map((index) => Math.max(values[index], 1)), kept.map((index) => shares[index])];
}

// What a dash stands for.
const TOO_FEW = "A dash: too few flows. A 95th percentile needs 20, a 99th 100, and both more if flows did not finish.";
const shareColumns = () => [...SHARES.map((share) => [`Slowdown ${share}`, "ratio"]), ...SHARES.map((share) => [`FCT ${share}`, "time"])];

function sizeTable(completion) {
  const columns = [["Size from", "bytes"], ["below", "bytes"], ["Finished", "count"], ["Not finished", "count"],
    ...shareColumns()];
  return table({
    id: "sizes", title: "By size", note: hasDash(completion.buckets) ? TOO_FEW : "", columns: columns.map(([name, quantity]) => ({ name, quantity })), sorted: [0, false], file: "flows.csv",
    rows: completion.buckets.map((bucket) => [bucket.from, bucket.below, bucket.flows, bucket.missing, ...bucket.slowdown, ...bucket.fct]), total: completion.buckets.length,
  });
}

// What an axis is called where the figure's title is too long for it.
const AXIS_NAMES = { rate: "Rate", bytes: "Size", count: "Number", time: "Time" };
const axisName = (title, quantity) => (title.length > 18 ? AXIS_NAMES[quantity] ?? title : title);

function timeLine(line, curves, bands) {
  const places = moments();
  return chart({ bands,
    id: `time-${line.id}`, title: line.title, note: line.note, group: "time", zoom: true,
    x: { title: "Time", quantity: "moment", values: places }, y: { title: axisName(line.title, line.quantity), quantity: line.quantity },
    curves: curves.map((curve) => ({ ...curve, values: inAllPlaces(unpacked(curve.values), places.length) })),
  });
}

// A curve ends with its run.
const inAllPlaces = (values, length) => Array.from({ length }, (unused, at) => values[at] ?? null);
// Several equal values in a row come as [value, how often].
const unpacked = (values) => values.flatMap((value) => (Array.isArray(value) ? new Array(value[1]).fill(value[0]) : [value]));

const outsideWindow = ({ unmeasured }) => (unmeasured > 0 ? [quietly(`${grouped(unmeasured)} flows that started outside the measuring window are left out.`)] : []);

// The figures over time; those that look at all queues at once follow the one of single queues.
function overTime() {
  const queues = [
    ...(data.spread ? [timeLine(data.spread, data.spread.curves, [{ upper: 1, lower: 2, label: "median to 95th percentile" }])] : []),
    ...(data.heat_map.rows.length > 0 ? [heatMap(data.heat_map, data.begin_ps, data.end_ps)] : []),
  ];
  return data.timelines.flatMap((line) => [timeLine(line, line.curves), ...(line.id === "queue" ? queues : [])]);
}

function report() {
  if (data.settings.length > 0) section("scenario", "Scenario", html("div", { class: "grid" }, data.settings.map((one) => table({ ...one, rowsPerPage: 40 }))));
  section("network", "Network", networkMap(data.map, data.begin_ps, data.end_ps));
  const { kinds } = data.operations;
  if (kinds.length > 0) section("operations", "Operations", operationLatencies(kinds), ...data.operations.timelines.map((line) => timeLine(line, line.curves)));
  const hasFlows = data.completion.flows + data.completion.missing > 0;
  if (hasFlows || kinds.length === 0) section("completion", "Completion", ...outsideWindow(data.completion), ...completionFigures([["", data.completion]]), ...data.splits.flatMap(splitFigures));
  section("time", "Over time", quietly("Drag across a figure to zoom into all of them; a double click shows the whole run again."), ...overTime());
  if (data.mesh) section("mesh", "Pings", meshMap(data.mesh));
  section("pausing", "Pauses", ...(data.lanes.length === 0 ? [quietly("No port was ever paused.")] : [
    pauseTree(data.tree), pauseLanes(data.lanes, data.lanes_omitted, data.begin_ps, data.end_ps)]));
  section("tables", "Tables", ...data.tables.map((one) => table(one.id === "flows" ? { ...one, note: "The number of a flow opens its path and the command that explains it.", onRow: (row) => flowDetails(one.columns, row) } : one)));
}

function comparison() {
  const { runs, figures } = data.comparison;
  const heads = runs.flatMap((name, index) => [html("th", { scope: "col" }, name), ...(index ? [html("th", { scope: "col" }, "ratio")] : [])]);
  const rows = figures.map((figure) => html("tr", {}, html("th", { scope: "row" }, figure.name),
    figure.texts.flatMap((text, index) => [html("td", {}, text), ...(index ? [html("td", {}, figure.ratios[index] === null ? "\u2013" : `\u00d7${significant(figure.ratios[index], 2)}`)] : [])])));
  section("figures", "Side by side", html("div", { class: "wide" }, html("table", { id: "table-figures" }, html("thead", {}, html("tr", {}, html("td"), heads)), html("tbody", {}, rows))));
  latenciesCompared();
  if (hasFlows()) section("completion", "Completion", ...completionFigures(data.runs.map((run) => [run.name, run.completion])));
  const ids = [...new Set(data.runs.flatMap((run) => run.timelines.map((line) => line.id)))];
  section("time", "Over time", ...ids.map((id) => {
    const found = data.runs.map((run) => [run.name, run.timelines.find((line) => line.id === id)]).filter(([, line]) => line);
    const curves = found.flatMap(([name, line]) => line.curves.map((curve) => (
      { ...curve, label: line.curves.length > 1 ? `${name}: ${curve.label}` : name })));
    // A note says why there is no curve, of a run that has none.
    return timeLine(found.find(([, line]) => line.curves.length > 0)?.[1] ?? found[0][1], curves);
  }));
}

links.append(html("a", { href: "#overview" }, "Overview"));
document.documentElement.dataset.theme = theme.name;
if (data.kind === "compare") { settingsCompared(); comparison(); }
else if (data.kind === "groups") groupComparison();
else report();
// Tests wait for this, and read how long it took since the page was opened.
document.documentElement.dataset.ready = performance.now().toFixed(0);
