// Sorts and filters the table of findings, and enlarges parts of a call tree. Without it both are complete.
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

  // enlarges a box of a call tree with what is below it, and says what the box under the pointer is
  for (const tree of document.querySelectorAll("svg.flame-graph")) {
    const boxes = [...tree.querySelectorAll("g[tabindex]")].map((group) => {
      const [rect, text] = [group.querySelector("rect"), group.querySelector("text")];
      const at = (name) => Number(rect.getAttribute(name));
      return { group, rect, text, x: at("x"), width: at("width"), y: at("y") };
    });
    const whole = boxes[0];
    const said = Object.assign(document.createElement("p"), { className: "flame-said" });
    said.textContent = "\u00a0";
    tree.parentElement.before(said);
    const fitting = (name, width) => {
      const most = Math.floor((width - 6) / 6.7);
      return width < 22 ? "" : name.length <= most ? name : `${name.slice(0, most - 1)}…`;
    };
    const enlarge = (chosen) => {
      const scale = whole.width / chosen.width;
      for (const box of boxes) {
        const above = box.y < chosen.y && box.x <= chosen.x + 0.05 && box.x + box.width >= chosen.x + chosen.width - 0.05;
        const inside = box.y >= chosen.y && box.x >= chosen.x - 0.05 && box.x + box.width <= chosen.x + chosen.width + 0.05;
        box.group.toggleAttribute("hidden", !(above || inside));
        const x = above ? whole.x : (box.x - chosen.x) * scale;
        const width = above ? whole.width : box.width * scale;
        box.rect.setAttribute("x", x);
        box.rect.setAttribute("width", width);
        box.text.setAttribute("x", x + 3);
        box.text.textContent = fitting(box.group.dataset.name, width);
        box.group.classList.toggle("f-above", above);
      }
    };
    for (const box of boxes) {
      const tell = () => (said.textContent = box.group.querySelector("title").textContent);
      box.group.addEventListener("click", () => enlarge(box));
      box.group.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          enlarge(box);
        } else if (event.key === "Escape") enlarge(whole);
      });
      box.group.addEventListener("pointerenter", tell);
      box.group.addEventListener("focus", tell);
    }
    addEventListener("beforeprint", () => enlarge(whole));
  }

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
