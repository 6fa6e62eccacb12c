// The list of all curves of a chart, of which some are shown. Typing a part of a name shortens the list.

function curvePicker(spec, plotOf) {
  const list = html("div", { class: "choices" });
  const heading = html("summary", {});
  const search = html("input", { type: "search", placeholder: "Search series", "aria-label": `Search series: ${spec.title}`, oninput: () => narrow() });
  const tell = () => { heading.textContent = `Series: ${shownCurves(spec).length} of ${spec.curves.length} shown`; };

  function show(index, wanted) {
    spec.curves[index].hidden = !wanted;
    tell();
    // Without a scale of its own the new curve could be outside the figure.
    plotOf()?.setSeries(index + 1, { show: wanted });
    plotOf()?.redraw(true, true);
  }

  const choices = spec.curves.map((curve, index) => {
    const box = html("input", { type: "checkbox", checked: !curve.hidden, onchange: () => show(index, box.checked) });
    const choice = html("label", {}, box, curve.label);
    list.append(choice);
    return [choice, curve.label.toLowerCase(), box, index];
  });

  function narrow() {
    const wanted = search.value.trim().toLowerCase();
    for (const [choice, label] of choices) choice.hidden = !label.includes(wanted);
  }

  const pick = (wanted) => {
    for (const [choice, , box, index] of choices) {
      if (choice.hidden || box.checked === wanted) continue;
      box.checked = wanted;
      show(index, wanted);
    }
  };
  tell();
  return html("details", { class: "picker" }, heading,
    html("div", { class: "controls" }, search,
      html("button", { type: "button", onclick: () => pick(true) }, "Show listed"),
      html("button", { type: "button", onclick: () => pick(false) }, "Hide listed")), list);
}
