// What the curves have at the cursor, beside it.

const MOST_TOLD = 10;

function tellAtCursor(plot, spec) {
  plot.told ??= plot.over.appendChild(html("div", { class: "told", "aria-hidden": "true" }));
  const { idx, left, top } = plot.cursor;
  const rows = idx === null || idx === undefined || left < 0 ? [] : valuesAt(spec, idx);
  plot.told.hidden = rows.length === 0;
  if (rows.length === 0) return;
  const more = rows.length > MOST_TOLD ? [html("div", { class: "quiet" }, `${rows.length - MOST_TOLD} more`)] : [];
  plot.told.replaceChildren(
    html("b", {}, format(spec.x.quantity, spec.x.values[idx])),
    ...rows.slice(0, MOST_TOLD).map(([curve, index, value]) => html("div", {},
      html("i", { style: `background:${curveColour(index)}` }), `${curve.label}: ${format(spec.y.quantity, value)}`)),
    ...more);
  // On the side with more room.
  const right = left > plot.over.clientWidth / 2;
  plot.told.style.left = right ? "auto" : `${left + 12}px`;
  plot.told.style.right = right ? `${plot.over.clientWidth - left + 12}px` : "auto";
  plot.told.style.top = `${Math.max(0, Math.min(top, plot.over.clientHeight - plot.told.clientHeight))}px`;
}

// The shown curves that have a value there, the greatest first.
const valuesAt = (spec, at) => shownCurves(spec).map(([curve, index]) => [curve, index, curve.values[at]])
  .filter(([, , value]) => value !== null && value !== undefined).sort((a, b) => b[2] - a[2]);
