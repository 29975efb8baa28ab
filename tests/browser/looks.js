({
  // What a page looks like, asked in the page: what is lost, cut, empty or beyond the window. See looks.py.
  // every fold of the page is opened
  openAll: () => document.querySelectorAll('details').forEach(d => d.open = true),
  // links, labels and references to nothing, and ids that are there twice
  lost: () => {
    const all = [...document.querySelectorAll('[id]')].map(e => e.id);
    const known = new Set(all);
    const lost = all.filter((id, i) => all.indexOf(id) !== i).map(id => 'twice: ' + id);
    for (const link of document.querySelectorAll('a[href^="#"]'))
      if (!known.has(decodeURIComponent(link.getAttribute('href').slice(1)))) lost.push('link: ' + link.outerHTML);
    for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for', 'headers'])
      for (const e of document.querySelectorAll(`[${name}]`))
        for (const id of e.getAttribute(name).split(/\s+/))
          if (!known.has(id)) lost.push(`${name}: ${id}`);
    for (const e of document.querySelectorAll('use, [clip-path], [marker-end], [fill^="url"]'))
      for (const a of e.attributes) {
        const to = /^(?:url\(["']?)?#([^"')]+)/.exec(a.value);
        if (to && !known.has(to[1])) lost.push(`${a.name}: ${a.value}`);
      }
    return lost;
  },
  // the page scrolls sideways, or an element outside of a part that scrolls reaches beyond the window, or is cut off
  sideways: () => {
    const page = document.scrollingElement, found = [];
    if (page.scrollWidth > page.clientWidth) found.push(`page: ${page.scrollWidth} of ${page.clientWidth}`);
    const style = e => getComputedStyle(e);
    // read aloud only: one pixel on the page
    const hidden = e => /inset|rect/.test(style(e).clipPath);
    const scrolls = e => e && (/(auto|scroll|hidden)/.test(style(e).overflowX) || scrolls(e.parentElement));
    for (const e of document.querySelectorAll('body *:not(svg *)')) {
      const reaches = e.getBoundingClientRect().right > page.clientWidth + 1 && !scrolls(e.parentElement);
      const cut = e.scrollWidth > e.clientWidth + 1 && style(e).overflowX === 'hidden';
      if ((reaches || cut) && !hidden(e))
        found.push(`${e.tagName} ${reaches ? 'beyond' : 'cut'}: ${e.textContent.slice(0, 60)}`);
    }
    return found.slice(0, 5);
  },
  // boxes in the units of each picture's viewBox, so that its size on the page does not matter
  wrong: () => {
    const found = [];
    for (const svg of document.querySelectorAll('svg:not(svg svg)')) {
      const name = svg.id || svg.getAttribute('aria-labelledby') || svg.getAttribute('class');
      const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
      if (!(box.width > 10 && box.height > 5)) { found.push(`${name}: empty`); continue; }
      const scale = view.width ? box.width / view.width : 1, room = 2;
      for (const text of svg.querySelectorAll('text')) {
        const at = text.getBoundingClientRect();
        if (!at.width) continue;
        const left = (at.left - box.left) / scale, right = (box.right - at.right) / scale;
        const top = (at.top - box.top) / scale, bottom = (box.bottom - at.bottom) / scale;
        if (Math.min(left, right, top, bottom) < -room)
          found.push(`${name}: "${text.textContent.slice(0, 50)}" cut by ${Math.min(left, right, top, bottom).toFixed(1)}`);
      }
      if (!svg.querySelector('path, line, rect, circle, polygon, polyline, use')) found.push(`${name}: nothing drawn`);
    }
    return found.slice(0, 8);
  },
  // labels on each other
  overlapping: () => {
    const found = [];
    for (const svg of document.querySelectorAll('svg:not(svg svg)')) {
      const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
      for (let i = 0; i < texts.length; i++) for (let j = 0; j < i; j++) {
        const [a, b] = [texts[i][1], texts[j][1]];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 0.4 * Math.min(a.height, b.height))
          found.push(`"${texts[j][0].slice(0, 30)}" under "${texts[i][0].slice(0, 30)}"`);
      }
    }
    return found.slice(0, 8);
  },
  // pictures that nobody who cannot see them is told of
  nameless: () => [...document.querySelectorAll('svg:not(svg svg)')].filter(svg => {
      const ids = (svg.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean);
      const said = ids.map(id => document.getElementById(id)?.textContent || '').join('') + (svg.getAttribute('aria-label') || '');
      return svg.getAttribute('aria-hidden') !== 'true' && !said.trim();
    }).map(svg => svg.outerHTML.slice(0, 120)),
  strange: () => {
    const found = [];
    if (window.hacked !== undefined) found.push('a name ran');
    const tags = 'img, iframe, object, embed, base, form, link, textarea, svg script, svg foreignObject, svg image';
    for (const e of document.querySelectorAll(tags)) found.push(e.outerHTML.slice(0, 120));
    for (const e of document.querySelectorAll('*'))
      for (const a of e.attributes)
        if (/^on/i.test(a.name) || /^\s*javascript:/i.test(a.value)) found.push(`${e.tagName} ${a.name}=${a.value}`);
    for (const e of document.querySelectorAll('[href], [src], [xlink\\:href]')) {
      const to = e.getAttribute('href') || e.getAttribute('src') || '';
      if (!to.startsWith('#') && !to.startsWith('data:application/')) found.push(`leads to ${to}`);
    }
    return found.slice(0, 8);
  },
  // what follows a name in the source stands after it: on a line below, or to the right
  moved: () => [...document.querySelectorAll('bdi')].filter(name => {
      const next = name.nextElementSibling;
      if (!next || !next.getClientRects().length || !name.getClientRects().length) return false;
      const last = [...name.getClientRects()].at(-1), after = next.getClientRects()[0];
      return after.top < last.bottom - 2 && after.left < last.right - 1;
    }).map(e => e.parentElement.textContent.slice(0, 80)),
})
