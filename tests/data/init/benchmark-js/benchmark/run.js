const Benchmark = require("benchmark");
for (const text of ["short", "long"]) {
  console.log(`\n# ${text}`);
  new Benchmark.Suite()
    .add("find  ", () => /o/.test("Hello World!"), { maxTime: 0.2 })
    .on("cycle", (event) => console.log("  " + event.target))
    .on("complete", function () { console.log("Fastest is " + this.filter("fastest").map("name")); })
    .run();
}
