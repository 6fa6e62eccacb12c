// Tables: sort by a click on a column's name, filter, turn pages.

// Rows of a page, if the table does not say.
const PAGE_ROWS = 20;

// A cell is a value, or { value, before, after, instead }: texts around the value, or in its place.
const isMarked = (cell) => cell !== null && typeof cell === "object";
const valueOf = (cell) => (isMarked(cell) ? cell.value : cell);
function textOf(quantity, cell) {
  if (!isMarked(cell)) return format(quantity, cell);
  return cell.instead ?? `${cell.before}${format(quantity, cell.value)}${cell.after}`;
}

function table(spec) {
  let [column, falling] = spec.sorted;
  const pageRows = spec.rowsPerPage ?? PAGE_ROWS;
  let page = 0;
  let filter = "";
  const body = html("tbody");
  const details = html("div", { class: "details", "aria-live": "polite" });
  const state = html("span", { class: "quiet", "aria-live": "polite" });
  const heads = spec.columns.map((one, index) => html("th", { scope: "col", class: one.quantity === "text" ? "text" : null },
    html("button", { type: "button", onclick: () => sortBy(index) }, one.name)));
  const turn = (text, label, to) => html("button", { type: "button", "aria-label": `${label}: ${spec.title}`, onclick: () => { page = to(page); show(); } }, text);
  const buttons = [turn("\u25c0\u25c0", "First page", () => 0), turn("\u25c0", "Previous page", (at) => at - 1),
    turn("\u25b6", "Next page", (at) => at + 1), turn("\u25b6\u25b6", "Last page", () => Infinity)];
  const search = html("input", { type: "search", placeholder: "Filter", "aria-label": `Filter: ${spec.title}`, oninput: () => { filter = search.value.toLowerCase(); page = 0; show(); } });
  const cut = spec.total > spec.rows.length ? `The ${grouped(spec.rows.length)} rows that matter most of ${grouped(spec.total)}; all are in ${spec.file}. ` : "";

  // Rows without a value stay at the end, whatever the order; equal ones in the order of the data.
  function compare(a, b) {
    const [one, other] = [valueOf(a[column]), valueOf(b[column])];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const order = typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other;
    return falling ? -order : order;
  }

  function sortBy(index) {
    if (column === index) falling = !falling;
    else [column, falling] = [index, spec.columns[index].quantity !== "text"];
    page = 0;
    sorted = spec.rows.toSorted(compare);
    show();
  }

  function show() {
    const wanted = filter ? sorted.filter((row) => row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(filter))) : sorted;
    const last = Math.max(0, Math.ceil(wanted.length / pageRows) - 1);
    page = Math.min(Math.max(page, 0), last);
    body.replaceChildren(...wanted.slice(page * pageRows, (page + 1) * pageRows).map((row) =>
      html("tr", {}, row.map((cell, index) => {
        const { quantity } = spec.columns[index];
        const content = textOf(quantity, cell);
        // The first cell of a row opens what there is to say about the row.
        const shown = index === 0 && spec.onRow ? html("button", { type: "button", class: "row-button", "aria-label": `Tell about ${spec.columns[0].name.toLowerCase()} ${content}`, onclick: () => details.replaceChildren(spec.onRow(row)) }, content) : content;
        return html("td", { class: quantity === "text" ? "text" : null }, shown);
      }))));
    heads.forEach((head, index) => {
      if (index === column) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    buttons.forEach((button, index) => { button.disabled = index < 2 ? page === 0 : page === last; });
    state.textContent = `Page ${page + 1} of ${last + 1}, ${grouped(wanted.length)} rows. ${cut}`;
  }

  // The rows come in the order that is shown first.
  let sorted = spec.rows;
  show();
  const pages = spec.rows.length > pageRows ? [search, ...buttons] : [];
  return html("div", { id: `table-${spec.id}` }, html("h3", {}, spec.title),
    spec.note ? [html("p", { class: "quiet" }, spec.note)] : [],
    spec.rows.length === 0 ? html("p", { class: "quiet" }, "None.") : [
      html("div", { class: "pages" }, pages, state),
      html("div", { class: "wide" }, html("table", { "aria-label": spec.title }, html("thead", {}, html("tr", {}, heads)), body)), ...(spec.onRow ? [details] : [])]);
}

