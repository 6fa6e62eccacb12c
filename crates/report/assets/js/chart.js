// Curves, drawn by uPlot. A chart is { id, title, note, x, y, curves, bands, group }: x and y are
// { title, quantity, log, values (of x), low, high }; a curve is { label, values, points, limit, hidden }, and
// `hidden` ones can be picked from a list; a band is { upper, lower, label }, the numbers of two curves with the
// space between them filled. A chart that is `stepped` keeps each value until the next.

const CHART_HEIGHT = 220;
const DASHES = [[], [6, 3], [2, 3]];
const groups = new Map();

const curveColour = (index) => theme.category(index);
// Thresholds (`limit`) are dotted.
const curveDash = (curve, index) => (curve.limit ? [2, 3] : DASHES[Math.floor(index / 8) % DASHES.length]);

function chart(spec) {
  let plot = null;
  const shown = figure(spec.id, spec.title, spec.note ?? "", () => chartSvg(spec, plot), () => chartCsv(spec));
  if (spec.curves.length === 0) {
    shown.node.querySelector(".tools").remove();
    return shown.node;
  }
  const zoom = (factor) => plot && zoomBy(plot, spec, factor);
  if (spec.zoom) {
    shown.tool("+", "Zoom in", () => zoom(0.5));
    shown.tool("\u2212", "Zoom out", () => zoom(2));
    shown.tool("All", "Show the whole run", () => zoom(Infinity));
  }
  const readable = shownCurves(spec).map(([curve]) => curve.label).join(", ");
  const keys = spec.zoom ? " Arrow keys move the cursor, plus and minus zoom, 0 shows everything." : " Arrow keys move the cursor.";
  const stage = html("div", {
    tabindex: 0, role: "group", "aria-label": `${spec.title}: ${readable}.${keys}`,
    onkeydown: (event) => {
      const act = {
        ArrowLeft: () => stepCursor(plot, -1), ArrowRight: () => stepCursor(plot, 1),
        "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => zoom(Infinity),
      }[event.key];
      if (act && event.target === stage) { act(); event.preventDefault(); }
    },
  });
  const picker = spec.curves.some((curve) => curve.hidden) ? [curvePicker(spec, () => plot)] : [];
  shown.body.append(...picker, stage);
  printable(shown.body, () => chartSvg(spec, plot));

  const draw = () => {
    plot?.destroy();
    plot = new uPlot(options(spec, stage.clientWidth || 600), [spec.x.values, ...spec.curves.map((curve) => curve.values)], stage);
    for (const entry of stage.querySelectorAll(".u-series th")) {
      entry.tabIndex = 0;
      entry.setAttribute("role", "button");
      entry.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { entry.click(); event.preventDefault(); }
      });
    }
  };
  whenNear(stage, draw);
  theme.listeners.push(() => plot && draw());
  new ResizeObserver(() => {
    if (plot && stage.clientWidth && stage.clientWidth !== plot.width) plot.setSize({ width: stage.clientWidth, height: CHART_HEIGHT });
  }).observe(stage);
  return shown.node;
}

// Figures that nobody scrolls to are not drawn.
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    near.unobserve(entry.target);
    entry.target.whenNear();
  }
}, { rootMargin: "600px" });
function whenNear(node, action) {
  node.whenNear = action;
  near.observe(node);
}

function options(spec, width) {
  const ink = theme.ink;
  const axis = (which, side) => {
    const { title, quantity, log } = spec[which];
    const largest = which === "x" ? Math.max(...spec.x.values) : greatest(spec);
    return {
      scale: which, side, stroke: ink.quiet, font: `11px ${FONT}`, labelFont: `12px ${FONT}`, labelSize: 18, labelGap: 2,
      label: axisTitle(title, quantity, largest, log),
      // As wide as the longest text of a mark.
      size: (self, texts) => (which === "x" ? 30 : Math.max(40, 14 + 6.6 * Math.max(0, ...(texts ?? []).map((text) => text.length)))), gap: 4,
      // The places are chosen already: of a logarithmic axis uPlot would leave some out.
      filter: (self, splits) => splits,
      grid: { stroke: ink.edge, width: 1 }, ticks: { stroke: ink.edge, width: 1, size: 4 },
      splits: (self, index, low, high) => ticksOf(spec[which], low, high, which === "x" ? Math.max(3, Math.floor(width / 110)) : 6),
      values: (self, splits) => textsOf(spec[which], splits, largest),
    };
  };
  const series = spec.curves.map((curve, index) => ({
    label: curve.label, show: !curve.hidden, scale: "y", stroke: curveColour(index), width: 1.5, dash: curveDash(curve, index), spanGaps: true,
    paths: spec.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
    points: { show: Boolean(curve.points), size: 6, fill: curveColour(index) },
    value: (self, value) => format(spec.y.quantity, value),
  }));
  const shared = spec.group ? { setScale: [(self, scale) => shareZoom(self, scale, spec.group)], init: [(self) => join(self, spec.group)], destroy: [(self) => groups.get(spec.group)?.delete(self)] } : {};
  return {
    width, height: CHART_HEIGHT,
    scales: {
      x: { time: false, distr: spec.x.log ? 3 : 1, range: (self, low, high) => xRange(spec, low, high) },
      y: { distr: spec.y.log ? 3 : 1, range: () => yRange(spec) },
    },
    axes: [axis("x", 2), axis("y", 3)],
    series: [{ label: spec.x.title, value: (self, value) => format(spec.x.quantity, value) }, ...series],
    cursor: {
      sync: spec.group ? { key: spec.group, setSeries: false, scales: ["x", null] } : undefined,
      drag: { x: Boolean(spec.zoom), y: false },
    },
    bands: (spec.bands ?? []).map((band) => ({ series: [band.upper + 1, band.lower + 1], fill: bandColour(band) })),
    hooks: { ...shared, setCursor: [(self) => tellAtCursor(self, spec)] },
  };
}

// Curves that are on the screen, each with its number, which decides on its colour.
const shownCurves = (spec) => spec.curves.map((curve, index) => [curve, index]).filter(([curve]) => !curve.hidden);
const bandColour = (band) => `${curveColour(band.upper)}33`;

const greatest = (spec) => shownCurves(spec).reduce((most, [curve]) => curve.values.reduce((top, value) => (value > top ? value : top), most), 0);

// A single place stands in the middle, whatever range uPlot proposes for it.
function xRange(spec, low, high) {
  const { values } = spec.x;
  const single = values[0] === values[values.length - 1];
  if (!single && high > low) return [low, high];
  const place = values[0] ?? 1;
  return spec.x.log ? [place / 2, place * 2] : [place - 1, place + 1];
}

function yRange(spec) {
  const { log, low = 0, high } = spec.y;
  const top = high ?? greatest(spec);
  if (!log) return [low, top > low ? top * (high ? 1 : 1.06) : low + 1];
  const least = shownCurves(spec).reduce((bottom, [curve]) => curve.values.reduce((most, value) => (value > 0 && value < most ? value : most), bottom), Infinity);
  return [Math.min(least, top) * 0.9, Math.max(top * 1.15, least * 1.5)];
}

function ticksOf(axis, low, high, wanted) {
  if (axis.log) return logTicks(low, high, wanted);
  const ticks = linearTicks(low, high, wanted);
  // There is no half of what is counted.
  return axis.quantity === "count" ? ticks.filter(Number.isInteger) : ticks;
}
const textsOf = (axis, ticks, largest) => tickTexts(axis.quantity, ticks, axis.log, largest);

function zoomBy(plot, spec, factor) {
  const values = spec.x.values;
  const [first, last] = [values[0], values[values.length - 1]];
  const { min, max } = plot.scales.x;
  const width = Math.max(Math.min((max - min) * factor, last - first), (last - first) / values.length * 4);
  const left = plot.cursor.left;
  const middle = left >= 0 ? plot.posToVal(left, "x") : (min + max) / 2;
  // What is under the cursor stays there.
  const share = left >= 0 ? (middle - min) / (max - min) : 0.5;
  const from = Math.min(Math.max(middle - width * share, first), last - width);
  plot.setScale("x", { min: from, max: from + width });
}

function stepCursor(plot, by) {
  const { min, max } = plot.scales.x;
  const values = plot.data[0];
  const inside = (index) => values[index] >= min && values[index] <= max;
  let index = plot.cursor.idx ?? values.findIndex((value, at) => inside(at));
  const stride = Math.max(1, Math.round(values.filter((value) => value >= min && value <= max).length / 100));
  if (plot.cursor.left >= 0) index += by * stride;
  index = Math.min(Math.max(index, 0), values.length - 1);
  if (!inside(index)) return;
  plot.setCursor({ left: plot.valToPos(values[index], "x"), top: 20 });
}

// Charts of one group show the same stretch of time.
let sharing = false;
function join(plot, group) {
  if (!groups.has(group)) groups.set(group, new Set());
  groups.get(group).add(plot);
}
function shareZoom(plot, scale, group) {
  if (scale !== "x" || sharing) return;
  sharing = true;
  const { min, max } = plot.scales.x;
  for (const other of groups.get(group) ?? []) {
    if (other !== plot && (other.scales.x.min !== min || other.scales.x.max !== max)) other.setScale("x", { min, max });
  }
  sharing = false;
}

