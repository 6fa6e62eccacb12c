// Flows by class, algorithm, transport and so on: distributions over each other, and a table.

function splitFigures(split) {
  const by = split.name.toLowerCase();
  const note = split.omitted ? `Those with the most flows; ${split.omitted} more are left out.` : "";
  const figures = KINDS.flatMap(([kind, title, quantity]) => {
    const parts = split.parts.filter((part) => part[`${kind}_cdf`].values.length > 0);
    if (parts.length === 0) return [];
    const joined = uPlot.join(parts.map((part) => {
      const { values, shares } = part[`${kind}_cdf`];
      return lastOfEqual(values, shares.map((share) => share / 1e4));
    }));
    return [chart({
      id: `${kind}-by-${split.id}`, title: `${title} by ${by}`, note, stepped: true,
      x: { title, quantity, log: true, values: joined[0] }, y: { title: "Flows", quantity: "percent", high: 100 },
      curves: parts.map((part, index) => ({ label: `${part.name} (${grouped(part.flows + part.missing)})`, values: joined[index + 1] })),
    })];
  });
  const columns = [[split.name, "text"], ["Finished", "count"], ["Not finished", "count"], ...shareColumns()];
  return [html("div", { class: "grid" }, figures), table({
    id: `by-${split.id}`, title: `By ${by}`, note: hasDash(split.parts) ? `${TOO_FEW} ${note}`.trim() : note, columns: columns.map(([name, quantity]) => ({ name, quantity })), sorted: [0, false], file: "flows.csv",
    rows: split.parts.map((part) => [part.name, part.flows, part.missing, ...part.slowdown, ...part.fct]), total: split.parts.length,
  })];
}

const hasDash = (parts) => parts.some((part) => [...part.slowdown, ...part.fct].includes(null));
