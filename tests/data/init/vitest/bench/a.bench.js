import { bench, describe } from "vitest";
describe("sort", () => {
  bench("it's \"quoted\"", () => { [3, 1, 2].sort(); });
});
bench("top", () => { JSON.stringify({ a: 1 }); });
