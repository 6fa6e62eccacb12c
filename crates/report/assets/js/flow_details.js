// What is known of one flow, and the command that tells where its time went.

function flowDetails(columns, row) {
  const of = (name) => row[columns.findIndex((column) => column.name === name)];
  const command = `rocelab explain ${resultsFolder()} --flow ${of("Flow")}`;
  const path = of("Path");
  const copied = html("span", { class: "quiet", "aria-live": "polite" });
  const copy = html("button", { type: "button", onclick: () => copyText(command, code).then((done) => { copied.textContent = done ? "Copied." : "Marked: copy it with the keyboard."; }) }, "Copy");
  const code = html("code", {}, command);
  return html("div", { class: "flow-details" },
    html("p", {}, html("b", {}, `Flow ${of("Flow")}`), ` of ${of("Workload") || "an unnamed workload"}, ${of("Source")} to ${of("Destination")}. Path: ${path ?? "not known"}.`),
    html("p", {}, "Where its time went: ", code, " ", copy, " ", copied));
}

// The folder of a page that lies in its results; else a word to replace.
function resultsFolder() {
  const { protocol, pathname } = location;
  const isInResults = protocol === "file:" && pathname.endsWith("/report.html");
  return isInResults ? shellWord(decodeURIComponent(pathname.slice(0, -"/report.html".length))) : "RESULTS";
}

// Plain names stay as they are; others are quoted for a POSIX shell.
const shellWord = (text) => (/^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// A page from a file may not be allowed to write to the clipboard: then the text is selected.
async function copyText(text, node) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(node);
    return false;
  }
}
