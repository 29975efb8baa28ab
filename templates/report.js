// Sorts and filters the table of findings, and shows values of pictures. Without it all is there to read.
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

  // the value that the pointer is nearest to, or that the arrow keys have come to
  const SVG = "http://www.w3.org/2000/svg";
  for (const svg of document.querySelectorAll("svg[data-base]")) {
    const { unit } = svg.dataset;
    const read = (side) => svg.dataset[side].split(";").filter(Boolean).map((text) => {
      const [x, y, value, ...at] = text.split(" ");
      const [session, build, execution, iteration] = at.length > 3 ? at : ["", ...at];
      const place = `${session && `session ${session}, `}build ${build}, start ${execution}, value ${iteration}`;
      return { x: Number(x), y: Number(y), said: `${value}${unit && ` ${unit}`}: ${side}, ${place}` };
    });
    const frame = svg.parentElement;
    const said = make("output", { className: "readout" }, "\u00a0");
    frame.after(said);
    const ring = document.createElementNS(SVG, "circle");
    ring.setAttribute("class", "cursor");
    ring.setAttribute("r", 7);
    let values;
    let current = -1;
    const load = () => (values ??= [...read("base"), ...read("head")].sort((a, b) => a.x - b.x || a.y - b.y));
    const show = (index) => {
      current = index;
      ring.setAttribute("cx", values[index].x);
      ring.setAttribute("cy", values[index].y);
      svg.append(ring);
      said.textContent = values[index].said;
    };
    const nearest = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const far = load().map((value) => (value.x - at.x) ** 2 + (value.y - at.y) ** 2);
      const least = Math.min(...far);
      if (least < 900) show(far.indexOf(least));
    };
    for (const name of ["pointermove", "click"]) svg.addEventListener(name, nearest);
    frame.addEventListener("focus", () => { if (load().length) show(Math.max(current, 0)); });
    frame.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined || !load().length) return;
      event.preventDefault();
      show(Math.min(Math.max(current + step, 0), values.length - 1));
    });
  }

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
