// The comparison of many runs: tables of groups and runs, and one panel for each figure; and the settings of a few runs.

const QUANTITIES = { ps: "time", "bit/s": "rate", byte: "bytes", millionths: "ratio" };
const quantityOf = (unit) => QUANTITIES[unit] ?? "count";
// Groups that a panel has room for, and curves that can be told apart.
const PANEL_GROUPS = 40;
const PANEL_CURVES = 8;
// Figures of the table of groups; the panels and the table of runs have all.
const HEADLINES = [/^Slowdown (p50|p99)$/, /^FCT (p50|p99)$/, /(Goodput|goodput)$/, /IOPS$/, /latency (p50|p99)$/, /^Pauses$/, /^Drops$/];

// A few runs: in what they differ, before their figures.
function settingsCompared() {
  const { runs, settings, branches } = data.comparison;
  // Scenarios with long lists may differ in thousands.
  const rows = settings.slice(0, 40).map((one) => [one.key, one.texts]);
  const more = settings.slice(40).filter(differs).length;
  if (more > 0) rows.push([`and ${more} more`, runs.map(() => "")]);
  if (branches.some((one) => one !== null)) rows.unshift(["Branch", branches]);
  if (rows.length === 0) return;
  const head = html("tr", {}, html("td"), runs.map((name) => html("th", { scope: "col", class: "text" }, name)));
  section("settings", "Settings", html("div", { class: "wide" }, html("table", { id: "table-settings" }, html("thead", {}, head),
    html("tbody", {}, rows.map(([key, texts]) => html("tr", {}, html("th", { scope: "row" }, key), texts.map((text) => html("td", { class: "text" }, text ?? "\u2013"))))))));
}

// Whether there is anything to say of flows: runs of applications alone have none.
const hasFlows = () => data.runs.every((run) => run.latencies.length === 0) || data.runs.some((run) => run.completion.flows + run.completion.missing > 0);

// The latencies of operations, one figure for each kind.
function latenciesCompared() {
  const names = distinct(data.runs.flatMap((run) => run.latencies.map((one) => one.name)));
  const figures = names.flatMap((name, at) => {
    const found = data.runs.map((run) => [run.name, run.latencies.find((one) => one.name === name)]).filter(([, one]) => one && one.completed > 0);
    if (found.length === 0) return [];
    const joined = uPlot.join(found.map(([, { latency }]) => lastOfEqual(latency.values, latency.shares.map((share) => share / 1e4))));
    const open = found.filter(([, one]) => one.missing > 0).map(([run, one]) => `${run}: ${one.completed} completed of ${one.completed + one.missing}`);
    return [chart({
      id: `latency-${at}`, title: `${name}: latency, distribution`, note: open.length > 0 ? `${open.join("; ")}; the others count as slower.` : "", stepped: true,
      x: { title: "Latency", quantity: "time", log: true, values: joined[0] }, y: { title: "Operations", quantity: "percent", high: 100 },
      curves: found.map(([run], index) => ({ label: run, values: joined[index + 1] })),
    })];
  });
  if (figures.length > 0) section("latency", "Latency", html("div", { class: "grid" }, figures));
}

const distinct = (values) => [...new Set(values)];
const differs = (setting) => distinct(setting.texts).length > 1;
// What somebody set comes first already.
const settingsThatDiffer = () => data.comparison.settings.filter(differs);
// A figure that is the same in all runs needs no panel.
const figuresThatDiffer = () => data.comparison.figures.filter((one) => !one.is_same);

function groupComparison() {
  const { groups } = data.comparison;
  section("groups", "Groups", groupTable());
  const drawn = groups.slice(0, PANEL_GROUPS);
  const cut = groups.length > drawn.length ? ` The first ${drawn.length} of ${groups.length} groups are drawn.` : "";
  section("panels", "Figure by figure",
    quietly(`Dot: mean over the runs of a group. Bar: least to greatest. An arrow marks a lower bound.${cut}`),
    colourKey(), html("div", { class: "multiples" }, figuresThatDiffer().map((one, index) => panel(one, index, drawn))));
  if (data.completions.some((one) => one.flows > 0)) section("completion", "Completion", ...completionPanels());
  section("runs", "Runs", runTable());
}

// The first group's name tells its colour: the algorithm, or else the first setting.
function colourSetting() {
  const settings = settingsThatDiffer();
  return settings.find((one) => one.key === "congestion_control") ?? settings[0];
}

function colourOf(group) {
  const setting = colourSetting();
  const index = setting ? distinct(setting.texts).indexOf(setting.texts[group.runs[0]]) : 0;
  return theme.category(index);
}

function colourKey() {
  const setting = colourSetting();
  if (!setting) return html("span");
  const node = html("p", { class: "key" });
  const draw = () => node.replaceChildren(html("span", { class: "quiet" }, `${setting.key}: `), ...distinct(setting.texts).map((text, index) => (
    html("span", { class: "entry" }, html("span", { class: "dot", style: `background:${theme.category(index)}`, "aria-hidden": "true" }), text ?? "\u2013"))));
  draw();
  theme.listeners.push(draw);
  return node;
}

// A number of a table that may be only a lower bound, and what it holds for.
const cellOf = (value, isBound, qualifier) => ({ value, before: isBound && value !== null ? "\u2265\u00a0" : "", after: qualifier ? ` ${qualifier}` : "" });
const meanOf = (band) => (band.mean === null && band.known > 0 ? { value: null, instead: "rules differ" } : cellOf(band.mean, band.is_lower_bound, band.qualifier));

function groupTable() {
  const { groups } = data.comparison;
  const shown = data.comparison.figures.filter((one) => one.values.some((value) => value !== null) && HEADLINES.some((wanted) => wanted.test(one.name)));
  const columns = [["Group", "text"], ["Runs", "count"], ...shown.map((one) => [one.name, quantityOf(one.unit)])];
  const rows = groups.map((group, at) => [group.name, group.runs.length, ...shown.map((one) => meanOf(one.bands[at]))]);
  return table({
    id: "groups", title: "Mean over the runs of a group", sorted: [-1, false], file: "the runs", total: rows.length,
    columns: columns.map(([name, quantity]) => ({ name, quantity })), rows,
  });
}

function runTable() {
  const { runs, seeds, groups, figures } = data.comparison;
  const settings = settingsThatDiffer().slice(0, 6);
  const shown = figures.filter((one) => one.values.some((value) => value !== null));
  const groupOf = new Map(groups.flatMap((group) => group.runs.map((run) => [run, group.name])));
  const columns = [["Run", "text"], ["Seed", "count"], ...settings.map((one) => [one.key, "text"]),
    ...shown.map((one) => [one.name, quantityOf(one.unit)]), ["Group", "text"]];
  const rows = runs.map((name, run) => [name, seeds[run], ...settings.map((one) => one.texts[run]),
    ...shown.map((one) => cellOf(one.values[run], one.lower_bounds[run])), groupOf.get(run)]);
  return table({
    id: "runs", title: "All runs", sorted: [-1, false], file: "the runs", total: rows.length,
    columns: columns.map(([name, quantity]) => ({ name, quantity })), rows,
  });
}

const PANEL_WIDTH = 400;
const PANEL_LABELS = 160;
const ROW = 17;
const LINE = 12;
const LABEL_LINES = 4;

const measure = document.createElement("canvas").getContext("2d");
function widthOf(text) {
  measure.font = `11px ${FONT}`;
  return measure.measureText(text).width;
}

// A name in lines of this width, which break behind spaces, commas and underscores if they can. What does not fit is cut.
function labelLines(name, width) {
  const words = name.split(/(?<=[ ,_])/).flatMap((word) => (widthOf(word) > width ? word.split("") : [word]));
  const lines = [""];
  for (const word of words) {
    if (widthOf((lines[lines.length - 1] + word).trimEnd()) > width) lines.push("");
    lines[lines.length - 1] += word;
  }
  const shown = lines.map((line) => line.trim()).filter(Boolean).slice(0, LABEL_LINES);
  if (lines.length > LABEL_LINES) {
    let last = shown.pop();
    while (last && widthOf(`${last}\u2026`) > width) last = last.slice(0, -1);
    shown.push(`${last}\u2026`);
  }
  return shown;
}

// One figure in all groups: a dot and a bar for each.
function panel(one, index, drawn) {
  const draw = () => panelSvg(one, drawn);
  const qualified = drawn.map((group) => [group.name, one.bands[data.comparison.groups.indexOf(group)].qualifier]).filter(([, qualifier]) => qualifier);
  const more = qualified.length > 4 ? "; \u2026" : "";
  const shown = figure(`panel-${index}`, one.name, `${qualified.slice(0, 4).map(([name, qualifier]) => `${name}: ${qualifier}`).join("; ")}${more}`, draw);
  const redraw = () => shown.body.replaceChildren(draw());
  redraw();
  theme.listeners.push(redraw);
  return shown.node;
}

function panelSvg(one, drawn) {
  const { groups } = data.comparison;
  const quantity = quantityOf(one.unit);
  const bands = drawn.map((group) => one.bands[groups.indexOf(group)]);
  const ends = bands.flatMap((band) => (band.mean === null ? [] : [band.min, band.max]));
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const log = least > 0 && most / least > 30;
  const [low, high] = panelRange(least, most, log);
  const place = (value) => {
    const along = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return PANEL_LABELS + along * (PANEL_WIDTH - PANEL_LABELS - 14);
  };
  const labels = drawn.map((group) => labelLines(group.name, PANEL_LABELS - 10));
  const rowHeight = ROW + LINE * (Math.max(1, ...labels.map((lines) => lines.length)) - 1);
  const height = drawn.length * rowHeight + 34;
  const bottom = drawn.length * rowHeight + 6;
  const ink = theme.ink;
  const text = (x, y, anchor, content, title) => svg("text", { x, y, "text-anchor": anchor, fill: ink.quiet, "font-size": 11, "font-family": FONT }, content, ...(title ? [svg("title", {}, title)] : []));
  // Without a value there is no axis.
  const wanted = log ? logTicks(low, high) : linearTicks(low, high, 3);
  const ticks = ends.length > 0 ? ticksWithRoom(wanted, place) : [];
  const words = tickTexts(quantity, ticks, log, Math.max(most, 0));
  const nodes = ticks.flatMap((tick, at) => [
    svg("line", { x1: place(tick), x2: place(tick), y1: 4, y2: bottom, stroke: ink.edge }),
    text(place(tick), bottom + 12, "middle", words[at])]);
  drawn.forEach((group, row) => nodes.push(...panelRow(group, bands[row], { y: row * rowHeight + 5 + rowHeight / 2, lines: labels[row], place, text, quantity })));
  const unit = axisTitle("", quantity, Math.max(most, 0), log).trim();
  if (unit && ends.length > 0) nodes.push(text(PANEL_LABELS - 16, bottom + 12, "end", unit.replace(/[()]/g, "")));
  const label = drawn.map((group, row) => `${group.name}: ${toldOf(quantity, bands[row])}`).join("; ");
  return svg("svg", { viewBox: `0 0 ${PANEL_WIDTH} ${height}`, role: "img", "aria-label": `${one.name}. ${label}` }, ...nodes);
}

// From where to where an axis goes. A single value stands in the middle.
function panelRange(least, most, log) {
  if (log) return [least / 1.15, most * 1.15];
  if (least === most) return least === 0 ? [0, 1] : [least * 0.9, most * 1.1];
  return [least < most / 2 ? 0 : least - (most - least) * 0.1, most + (most - least) * 0.08];
}

// A mean in words.
function toldOf(quantity, band) {
  if (band.mean === null) return band.known > 0 ? "goodputs by different rules" : "no value";
  return `${band.is_lower_bound ? "at least " : ""}${format(quantity, band.mean)}${band.qualifier ? ` ${band.qualifier}` : ""}`;
}

// Marks that are too close to the one before have no text.
function ticksWithRoom(ticks, place) {
  let last = -Infinity;
  return ticks.filter((tick) => {
    if (place(tick) - last < 48 || place(tick) > PANEL_WIDTH - 16) return false;
    last = place(tick);
    return true;
  });
}

function panelRow(group, band, { y, lines, place, text, quantity }) {
  const colour = colourOf(group);
  const top = y + 4 - LINE * (lines.length - 1) / 2;
  const label = lines.map((line, at) => text(PANEL_LABELS - 6, top + LINE * at, "end", line, group.name));
  if (band.mean === null) return [...label, text(PANEL_LABELS + 4, y + 4, "start", toldOf(quantity, band))];
  const [low, high] = [[band.min, band.is_min_lower_bound], [band.max, band.is_lower_bound]]
    .map(([value, isBound]) => `${isBound ? "at least " : ""}${format(quantity, value)}`);
  const told = `${group.name}: ${toldOf(quantity, band)} (${low} to ${high}; ${band.known} of ${group.runs.length} runs)`;
  const x = place(band.mean);
  const mark = band.is_lower_bound
    ? svg("path", { d: `M${x - 4} ${y - 5}L${x + 5} ${y}L${x - 4} ${y + 5}Z`, fill: theme.ink.page, stroke: colour, "stroke-width": 1.5 })
    : svg("circle", { cx: x, cy: y, r: 4, fill: colour });
  const few = band.known < group.runs.length ? [text(PANEL_WIDTH - 2, y + 4, "end", `${band.known}/${group.runs.length}`)] : [];
  return [...label, svg("line", { x1: place(band.min), x2: place(band.max), y1: y, y2: y, stroke: colour, "stroke-width": 3, opacity: 0.45, "stroke-linecap": "round" }),
    svg("g", {}, mark, svg("title", {}, told)), ...few];
}

// With more groups than can be told apart, one figure for each value of a setting.
function completionPanels() {
  const { groups } = data.comparison;
  const all = groups.map((group, at) => [group.name, data.completions[at], group]).filter(([, completion]) => completion.flows > 0);
  const parts = panelParts(all);
  const has = (completion, kind) => completion[kind].values.length > 0;
  return [html("div", { class: "grid" }, KINDS.flatMap(([kind, title, quantity]) => parts.flatMap(([name, part], at) => {
    const known = part.filter(([, completion]) => has(completion, kind));
    if (known.length === 0) return [];
    const share = commonShare(all.filter(([, completion]) => has(completion, kind)), kind);
    const suffix = name ? `, ${name}` : "";
    return [chart({
      id: `${kind}-by-size-${at}`, title: `${title} ${SHARES[share]} by size${suffix}`, note: completedOf(known, kind),
      x: { title: "Flow size", quantity: "bytes", log: true, values: sizes(known) }, y: { title, quantity, log: true },
      curves: known.map(([label, completion]) => ({ label, points: true, values: bySize(known, completion, kind, share) })),
    })];
  })))];
}

// The highest percentile that every group has of most sizes, for all figures; or else the greatest value.
const commonShare = (all, kind) => [2, 1, 0].find((share) => all.every(([, { buckets }]) => (
  2 * buckets.filter((bucket) => bucket[kind][share] !== null).length > buckets.length))) ?? 3;

function panelParts(all) {
  if (all.length <= PANEL_CURVES) return [["", all]];
  const valueOf = (setting, [, , group]) => setting.texts[group.runs[0]];
  const fits = (setting) => distinct(all.map((one) => valueOf(setting, one))).every((value) => all.filter((one) => valueOf(setting, one) === value).length <= PANEL_CURVES);
  const settings = settingsThatDiffer().filter(fits);
  const setting = settings.find((one) => one.key !== "congestion_control") ?? settings[0];
  // Parts of the list, if no setting makes parts that are small enough.
  if (!setting) return Array.from({ length: Math.ceil(all.length / PANEL_CURVES) }, (unused, at) => [`part ${at + 1}`, all.slice(at * PANEL_CURVES, (at + 1) * PANEL_CURVES)]);
  return distinct(all.map((one) => valueOf(setting, one))).map((value) => [`${setting.key} ${value ?? "\u2013"}`, all.filter((one) => valueOf(setting, one) === value)]);
}
