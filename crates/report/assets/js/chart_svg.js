// A chart as SVG, as it is on the screen: its stretch of the axis, the curves that are shown, their marks and bands.

const [SVG_WIDTH, SVG_HEIGHT] = [760, 340];
// Distance of the lines of a legend, and of the lines of the note.
const LINE_HEIGHT = 16;

function chartSvg(spec, plot) {
  const notes = linesOf(spec.note ?? "", 118);
  const entries = legendEntries(spec);
  const top = 34 + LINE_HEIGHT * notes.length;
  const box = { left: 76, right: SVG_WIDTH - 16, top, bottom: top + SVG_HEIGHT - 98 };
  const height = box.bottom + 48 + LINE_HEIGHT * (entries.length ? entries[entries.length - 1].row + 1 : 0);
  const scale = placesIn(spec, plot, box);
  const drawing = svg("svg", { viewBox: `0 0 ${SVG_WIDTH} ${height}`, "font-family": FONT, role: "img", "aria-label": spec.title },
    svgLabel([box.left, 20], spec.title, "start", { "font-size": 14, "font-weight": 600 }),
    notes.map((line, index) => svgLabel([box.left, 38 + LINE_HEIGHT * index], line, "start", { fill: theme.ink.quiet })));
  drawing.append(...axesSvg(spec, scale, box));
  // Each drawing has a name of its own for what it is cut by, because many may be in one page.
  const inside = `inside-${spec.id}`;
  drawing.append(
    svg("clipPath", { id: inside }, svg("rect", { x: box.left, y: box.top - 4, width: box.right - box.left, height: box.bottom - box.top + 8 })),
    svg("g", { "clip-path": `url(#${inside})`, fill: "none", "stroke-width": 1.5, "stroke-linejoin": "round" },
      (spec.bands ?? []).map((band) => bandSvg(spec, band, scale)), shownCurves(spec).flatMap(([curve, index]) => curveSvg(spec, curve, index, scale))),
    ...entries.flatMap((entry) => legendSvg(entry, [box.left + entry.left, box.bottom + 48 + LINE_HEIGHT * entry.row])));
  return drawing;
}

const svgLabel = (at, content, anchor, more = {}) =>
  svg("text", { x: at[0], y: at[1], fill: theme.ink.text, "text-anchor": anchor, "font-size": 11, ...more }, content);

// The ranges of both axes, and the place of a value within `box`.
function placesIn(spec, plot, box) {
  // uPlot sets the scales of a new chart a little later.
  const isDrawn = plot && plot.scales.x.min !== null;
  const ranges = {
    x: isDrawn ? [plot.scales.x.min, plot.scales.x.max] : xRange(spec, spec.x.values[0], spec.x.values[spec.x.values.length - 1]),
    y: yRange(spec),
  };
  const share = (axis, value) => {
    const [low, high] = ranges[axis];
    return spec[axis].log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  };
  return {
    ranges,
    x: (value) => box.left + share("x", value) * (box.right - box.left),
    y: (value) => box.bottom - share("y", value) * (box.bottom - box.top),
  };
}

function axesSvg(spec, scale, box) {
  const { edge } = theme.ink;
  const largest = { x: Math.max(...spec.x.values), y: greatest(spec) };
  const ticks = { x: ticksOf(spec.x, ...scale.ranges.x, 7), y: ticksOf(spec.y, ...scale.ranges.y, 6) };
  const along = textsOf(spec.x, ticks.x, largest.x).flatMap((label, index) => {
    const place = scale.x(ticks.x[index]).toFixed(1);
    return [svg("path", { d: `M${place} ${box.top}V${box.bottom}`, stroke: edge }), svgLabel([place, box.bottom + 15], label, "middle")];
  });
  const up = textsOf(spec.y, ticks.y, largest.y).flatMap((label, index) => {
    const place = scale.y(ticks.y[index]);
    return [svg("path", { d: `M${box.left} ${place.toFixed(1)}H${box.right}`, stroke: edge }), svgLabel([box.left - 6, (place + 4).toFixed(1)], label, "end")];
  });
  return [...along, ...up,
    svgLabel([(box.left + box.right) / 2, box.bottom + 32], axisTitle(spec.x.title, spec.x.quantity, largest.x, spec.x.log), "middle"),
    svgLabel([0, 0], axisTitle(spec.y.title, spec.y.quantity, largest.y, spec.y.log), "middle",
      { transform: `translate(16 ${(box.top + box.bottom) / 2}) rotate(-90)` })];
}

// Its points on the screen, without those that have no value.
function pointsOf(spec, values, scale) {
  const points = [];
  values.forEach((value, at) => {
    if (value === null || value === undefined || (spec.y.log && value <= 0)) return;
    points.push([scale.x(spec.x.values[at]).toFixed(1), scale.y(value).toFixed(1)]);
  });
  return points;
}

function curveSvg(spec, curve, index, scale) {
  const points = pointsOf(spec, curve.values, scale);
  const corners = spec.stepped ? points.flatMap((point, at) => (at ? [[point[0], points[at - 1][1]], point] : [point])) : points;
  const colour = curveColour(index);
  const line = svg("polyline", { points: corners.join(" "), stroke: colour, "stroke-dasharray": curveDash(curve, index).join(" ") || null });
  const marks = curve.points ? points.map(([cx, cy]) => svg("circle", { cx, cy, r: 3, fill: colour })) : [];
  return [line, ...marks];
}

function bandSvg(spec, band, scale) {
  const [upper, lower] = [band.upper, band.lower].map((index) => pointsOf(spec, spec.curves[index].values, scale));
  return svg("polygon", { points: [...upper, ...lower.reverse()].join(" "), fill: bandColour(band), stroke: "none" });
}

// Lines and bands with their names, as many in a row as fit.
function legendEntries(spec) {
  const curves = shownCurves(spec).map(([curve, index]) => ({ label: curve.label, colour: curveColour(index), dash: curveDash(curve, index), points: curve.points }));
  const bands = (spec.bands ?? []).map((band) => ({ label: band.label, band: bandColour(band) }));
  let [left, row] = [0, 0];
  return [...curves, ...bands].map((entry) => {
    const width = 40 + 6.2 * entry.label.length;
    if (left > 0 && left + width > SVG_WIDTH - 92) [left, row] = [0, row + 1];
    const placed = { ...entry, left, row };
    left += width;
    return placed;
  });
}

function legendSvg(entry, [x, y]) {
  const sample = entry.band
    ? [svg("rect", { x, y: y - 9, width: 18, height: 10, fill: entry.band })]
    : [svg("path", { d: `M${x} ${y - 4}h18`, stroke: entry.colour, "stroke-width": 2, "stroke-dasharray": entry.dash.join(" ") || null }),
      ...(entry.points ? [svg("circle", { cx: x + 9, cy: y - 4, r: 3, fill: entry.colour })] : [])];
  return [...sample, svgLabel([x + 24, y], entry.label, "start")];
}

// A text in lines of at most `most` characters.
function linesOf(text, most) {
  const lines = [];
  for (const word of text.split(" ").filter(Boolean)) {
    const last = lines.length - 1;
    if (last >= 0 && lines[last].length + word.length < most) lines[last] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}
