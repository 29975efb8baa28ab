(() => {
  "use strict";
  for (const figure of document.querySelectorAll("figure.trend")) {
    const tips = [...figure.querySelectorAll(".p-tip path")];
    const readout = figure.appendChild(document.createElement("output"));
    readout.className = "readout";
    readout.hidden = true;
    const frame = figure.querySelector(".scroll");
    let current = -1;
    const show = (index) => {
      if (tips[current]) tips[current].classList.remove("on");
      current = index;
      tips[current].classList.add("on");
      readout.hidden = false;
      readout.textContent = tips[current].querySelector("title").textContent;
    };
    frame.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
      if (step === undefined || !tips.length) return;
      event.preventDefault();
      show(Math.min(Math.max(current + step, 0), tips.length - 1));
    });
    for (const name of ["pointerover", "click"]) {
      frame.addEventListener(name, (event) => {
        const index = tips.indexOf(event.target);
        if (index >= 0) show(index);
      });
    }
  }
  // a link to a case opens it
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const around = target && target.closest("details");
    if (around) { around.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();
})();
