// Sorts and filters the table of findings. Without it the table is complete and in the order of importance.
"use strict";
(() => {
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const folded = target && target.closest("details");
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
  });

  const table = document.getElementById("findings-table");
  if (!table || table.tBodies[0].rows.length < 2) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  table.classList.add("live");

  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  const status = make("p", { className: "count" });
  status.setAttribute("role", "status");
  status.setAttribute("aria-live", "polite");
  const text = make("input", { type: "search", id: "filter-text", autocomplete: "off", spellcheck: false });
  const hidden = new Set();

  const show = () => {
    const wanted = text.value.trim().toLocaleLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = !hidden.has(row.dataset.verdict) && row.dataset.text.toLocaleLowerCase().includes(wanted);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    status.textContent = `${shown} of ${rows.length} findings shown`;
  };

  const verdicts = [...new Set(rows.map((row) => row.dataset.verdict))].map((verdict) => {
    const count = rows.filter((row) => row.dataset.verdict === verdict).length;
    const button = make("button", { type: "button", className: `toggle ${verdict}` }, `${verdict} (${count})`);
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const on = hidden.has(verdict);
      if (on) hidden.delete(verdict);
      else hidden.add(verdict);
      button.setAttribute("aria-pressed", String(on));
      show();
    });
    return button;
  });

  text.addEventListener("input", show);
  const label = make("label", { htmlFor: "filter-text" }, "Filter by name ");
  const group = make("span", { className: "toggles" }, ...(verdicts.length > 1 ? verdicts : []));
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Show findings by verdict");
  const controls = make("div", { className: "controls" }, label, text, group, status);
  controls.setAttribute("role", "search");
  controls.setAttribute("aria-label", "Filter the findings");
  document.getElementById("findings-scroll").before(controls);
  show();

  const value = (row, column, numeric) => {
    const found = row.cells[column].dataset.sort ?? "";
    if (!numeric) return found;
    return found === "" ? null : Number(found);
  };

  const sort = (header, column, numeric) => {
    const up = header.getAttribute("aria-sort") !== "ascending";
    for (const each of header.parentElement.cells) each.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    const sign = up ? 1 : -1;
    const compare = (one, other) => {
      const a = value(one, column, numeric);
      const b = value(other, column, numeric);
      if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
      return sign * (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
    };
    body.append(...rows.sort(compare));
  };

  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const kind = header.dataset.sorts;
    if (!kind) return;
    const button = make("button", { type: "button", className: "sort" });
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => sort(header, column, kind === "number"));
  });
})();
