import assert from "node:assert/strict";
import { test } from "node:test";
import { cells, groups, rows } from "../src/index.mjs";

test("quoted cells hold commas, quotes and line ends", () => {
  assert.deepEqual([...cells('a,"b, ""c""\nd"\r\n,e\n')], [["a", 'b, "c"\nd'], ["", "e"]]);
});

test("a cell may be empty at the end", () => {
  assert.deepEqual([...cells("a,\nb,")], [["a", ""], ["b", ""]]);
});

test("rows are summed up by key", () => {
  const table = rows("country,amount\nNO,1.5\nSE,2\nNO,3\n");
  assert.deepEqual(groups(table, "country", "amount"), [
    { key: "NO", count: 2, sum: 4.5 },
    { key: "SE", count: 1, sum: 2 },
  ]);
});
