import { cells } from "./cells.mjs";

/**
 * Reads CSV whose first line names the columns.
 *
 * @param {string} text
 * @returns {Record<string, string>[]} an object for each row, with its cells by column
 */
export function rows(text) {
  const lines = cells(text);
  const header = lines.next().value ?? [];
  const result = [];
  for (const line of lines) {
    const row = {};
    for (let column = 0; column < header.length; column++) {
      row[header[column]] = line[column] ?? "";
    }
    result.push(row);
  }
  return result;
}
