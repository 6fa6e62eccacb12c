// The numbers of a chart: a row for each place, a column for each curve on the screen.

function chartCsv(spec) {
  const curves = shownCurves(spec).map(([curve]) => curve);
  const { x, y } = spec;
  const named = (title, quantity) => (FILE_UNITS[quantity] ? `${title} [${FILE_UNITS[quantity]}]` : title);
  const heads = [named(x.title, x.quantity), ...curves.map((curve) => named(`${y.title}: ${curve.label}`, y.quantity))];
  const rows = x.values.map((place, at) => [inFile(x.quantity, place), ...curves.map((curve) => inFile(y.quantity, curve.values[at] ?? null))]);
  return [heads, ...rows].map((row) => `${row.map(csvCell).join(",")}\n`).join("");
}

// RFC 4180: quotes around what has a comma, a quote or the end of a line.
function csvCell(value) {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
