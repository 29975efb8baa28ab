/**
 * Splits CSV into lines of cells. A cell in double quotes may hold commas, line ends and doubled quotes.
 *
 * @param {string} text
 * @returns {Generator<string[]>}
 */
export function* cells(text) {
  let line = [];
  let at = 0;
  while (at < text.length) {
    let cell;
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1);
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
    } else {
      const end = endOfCell(text, at);
      cell = text.slice(at, end);
      at = end;
    }
    line.push(cell);
    if (text[at] === "\r") at++;
    if (at === text.length || text[at] === "\n") {
      yield line;
      line = [];
    }
    at++;
  }
  if (line.length > 0) yield [...line, ""];
}

function closingQuote(text, from) {
  let end = text.indexOf('"', from);
  while (text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end < 0) throw new SyntaxError(`a quote is not closed: ${text.slice(from - 1, from + 20)}`);
  return end;
}

function endOfCell(text, from) {
  let end = from;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (code === 44 || code === 10 || code === 13) break;
    end++;
  }
  return end;
}
