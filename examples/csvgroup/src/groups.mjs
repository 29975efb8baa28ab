/**
 * Groups rows by a column and sums another one up.
 *
 * @param {Record<string, string>[]} table
 * @param {string} by
 * @param {string} sum
 * @returns {{ key: string, count: number, sum: number }[]} in the order in which the keys first appear
 */
export function groups(table, by, sum) {
  const found = [];
  for (const row of table) {
    const key = row[by];
    let group = found.find((each) => each.key === key);
    if (group === undefined) {
      group = { key, count: 0, sum: 0 };
      found.push(group);
    }
    group.count++;
    group.sum += Number(row[sum]);
  }
  return found;
}
