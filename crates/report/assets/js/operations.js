// Operations of applications: how long they took, by kind.

function operationLatencies(kinds) {
  const known = kinds.filter((kind) => kind.completed > 0);
  if (known.length === 0) return quietly("No operation completed.");
  const joined = uPlot.join(known.map(({ latency }) => lastOfEqual(latency.values, latency.shares.map((share) => share / 1e4))));
  const missing = kinds.filter((kind) => kind.missing > 0).map((kind) => `${kind.name}: ${grouped(kind.missing)} did not complete`);
  return chart({
    id: "operation-latency", title: "Latency of operations, distribution", note: missing.length ? `${missing.join("; ")}; these count as slower.` : "", stepped: true,
    x: { title: "Latency", quantity: "time", log: true, values: joined[0] }, y: { title: "Operations", quantity: "percent", high: 100 },
    curves: known.map((kind, index) => ({ label: `${kind.name} (${grouped(kind.completed)})`, values: joined[index + 1] })),
  });
}
