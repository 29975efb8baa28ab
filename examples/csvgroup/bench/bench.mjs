// `npm run bench`: times the reading of rows and the grouping, each value a pass over 5000 orders.
//
// Seconds of CPU time: what else runs on the machine shows less in them. How many passes comes from PERFGATE_WARMUP and
// PERFGATE_ITERATIONS; perfgate drops the warm-up itself.
import { appendFileSync } from "node:fs";
import { groups, rows } from "../src/index.mjs";
import { orders } from "./sample.mjs";

const text = orders(5000);
const table = rows(text);
const benchmarks = {
  rows: () => rows(text),
  groups: () => groups(table, "product", "amount"),
};

const passes = Number(process.env.PERFGATE_WARMUP ?? 20) + Number(process.env.PERFGATE_ITERATIONS ?? 10);
const output = process.env.PERFGATE_OUTPUT ?? "/dev/stdout";
for (const [metric, run] of Object.entries(benchmarks)) {
  const lines = [];
  for (let pass = 0; pass < passes; pass++) {
    globalThis.gc?.(); // the garbage of the pass before is not this one's
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    lines.push(JSON.stringify({ metric, value: user + system, unit: "us" }));
  }
  appendFileSync(output, `${lines.join("\n")}\n`);
}
