// Sorts and filters the table of findings. Without it all is there to read.
"use strict";
(() => {
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (let folded = target && target.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  const table = document.getElementById("findings-table");
  if (!table || table.tBodies[0].rows.length < 2) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const controls = document.getElementById("controls");
  table.classList.add("sorts");
  controls.classList.add("live");

  const status = make("p", { className: "count" });
  status.setAttribute("role", "status");
  const text = make("input", { type: "search", id: "filter-text", autocomplete: "off", spellcheck: false });
  const hidden = new Set();
  const show = () => {
    const wanted = text.value.trim().toLocaleLowerCase();
    for (const row of rows) row.hidden = hidden.has(row.dataset.verdict) || !row.dataset.text.toLocaleLowerCase().includes(wanted);
    const shown = rows.filter((row) => !row.hidden).length;
    status.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} results shown`;
  };
  // the counts become buttons, where there is something to choose from
  const counts = [...controls.querySelectorAll("[data-verdict]")].filter((count) => rows.some((row) => row.dataset.verdict === count.dataset.verdict));
  for (const count of counts.length > 1 ? counts : []) {
    const { verdict } = count.dataset;
    const button = make("button", { type: "button", className: "toggle" }, ...count.childNodes);
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const on = hidden.delete(verdict);
      if (!on) hidden.add(verdict);
      button.setAttribute("aria-pressed", String(on));
      show();
    });
    count.append(button);
  }
  text.addEventListener("input", show);
  if (rows.length > 6) controls.append(make("label", { htmlFor: "filter-text" }, "Filter ", text));
  controls.append(status);
  controls.setAttribute("role", "search");
  controls.setAttribute("aria-label", "Filter the results");

  const sort = (header, column, numeric) => {
    const up = header.getAttribute("aria-sort") !== "ascending";
    for (const each of header.parentElement.cells) each.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    const value = (row) => row.cells[column].dataset.sort ?? "";
    const compare = (one, other) => {
      const [a, b] = [value(one), value(other)];
      if (numeric && (a === "" || b === "")) return (a === "" ? 1 : 0) - (b === "" ? 1 : 0);
      return (up ? 1 : -1) * (numeric ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true }));
    };
    body.append(...rows.sort(compare));
  };
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const kind = header.dataset.sorts;
    if (!kind) return;
    const button = make("button", { type: "button", className: "sort" }, ...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => sort(header, column, kind === "number"));
  });
})();
