#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { groups, rows } from "./index.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { by: { type: "string" }, sum: { type: "string" } },
});
if (positionals.length !== 1 || !values.by || !values.sum) {
  console.error("usage: csvgroup FILE --by COLUMN --sum COLUMN");
  process.exit(2);
}
for (const { key, count, sum } of groups(rows(readFileSync(positionals[0], "utf8")), values.by, values.sum)) {
  console.log(`${key}\t${count}\t${sum.toFixed(2)}`);
}
