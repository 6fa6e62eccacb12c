// A chart as SVG, with the stretch that is on the screen.

function chartSvg(spec, plot) {
  const [width, height] = [760, 340];
  const box = { left: 76, right: width - 16, top: 34, bottom: height - 48 - 16 * Math.ceil(spec.curves.length / 4) };
  const ink = theme.ink;
  const ranges = {
    x: plot ? [plot.scales.x.min, plot.scales.x.max] : xRange(spec, spec.x.values[0], spec.x.values[spec.x.values.length - 1]),
    y: yRange(spec),
  };
  const share = (axis, value) => {
    const [low, high] = ranges[axis];
    return spec[axis].log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  };
  const x = (value) => box.left + share("x", value) * (box.right - box.left);
  const y = (value) => box.bottom - share("y", value) * (box.bottom - box.top);
  const text = (at, content, anchor, more = {}) =>
    svg("text", { x: at[0], y: at[1], fill: ink.text, "text-anchor": anchor, "font-size": 11, ...more }, content);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, "font-family": FONT },
    text([box.left, 20], spec.title, "start", { "font-size": 14, "font-weight": 600 }));

  const largestX = Math.max(...spec.x.values);
  const ticksX = ticksOf(spec.x, ...ranges.x, 7);
  textsOf(spec.x, ticksX, largestX).forEach((label, index) => {
    const place = x(ticksX[index]);
    drawing.append(svg("path", { d: `M${place} ${box.top}V${box.bottom}`, stroke: ink.edge }), text([place, box.bottom + 15], label, "middle"));
  });
  const ticksY = ticksOf(spec.y, ...ranges.y, 5);
  textsOf(spec.y, ticksY, greatest(spec)).forEach((label, index) => {
    const place = y(ticksY[index]);
    drawing.append(svg("path", { d: `M${box.left} ${place}H${box.right}`, stroke: ink.edge }), text([box.left - 6, place + 4], label, "end"));
  });
  drawing.append(
    text([(box.left + box.right) / 2, box.bottom + 32], axisTitle(spec.x.title, spec.x.quantity, largestX, spec.x.log), "middle"),
    text([0, 0], axisTitle(spec.y.title, spec.y.quantity, greatest(spec), spec.y.log), "middle",
      { transform: `translate(16 ${(box.top + box.bottom) / 2}) rotate(-90)` }));

  const clip = svg("clipPath", { id: "inside" }, svg("rect", { x: box.left, y: box.top - 2, width: box.right - box.left, height: box.bottom - box.top + 4 }));
  const curves = svg("g", { "clip-path": "url(#inside)", fill: "none", "stroke-width": 1.5, "stroke-linejoin": "round" });
  spec.curves.forEach((curve, index) => {
    const points = [];
    curve.values.forEach((value, at) => {
      if (value === null || (spec.y.log && value <= 0)) return;
      const here = [x(spec.x.values[at]).toFixed(1), y(value).toFixed(1)];
      if (spec.stepped && points.length) points.push([here[0], points[points.length - 1][1]]);
      points.push(here);
    });
    curves.append(svg("polyline", { points: points.join(" "), stroke: curveColour(index), "stroke-dasharray": curveDash(curve, index).join(" ") || null }));
    const legend = [box.left + (index % 4) * 170, box.bottom + 48 + 16 * Math.floor(index / 4)];
    drawing.append(svg("path", { d: `M${legend[0]} ${legend[1] - 4}h18`, stroke: curveColour(index), "stroke-width": 2, "stroke-dasharray": curveDash(curve, index).join(" ") || null }),
      text([legend[0] + 24, legend[1]], curve.label, "start"));
  });
  drawing.append(clip, curves);
  return drawing;
}

