"""What the captured outputs were made with; also run by tests/tools/test_python.py."""

import os

import pyperf  # type: ignore[import-not-found,unused-ignore]

SEED = os.environ.get("PERFGATE_SEED")

runner = pyperf.Runner()
runner.bench_func("upper a b/'c'\"d\"\t🐢", "é".upper)
runner.timeit("sum", "sum(x)", setup="x = range(100)", inner_loops=2)
runner.bench_time_func("seed", lambda loops: loops * 0.001 if SEED else 0.0)
runner.bench_time_func("size", lambda loops: loops * 4096.0, metadata={"unit": "byte"})
runner.bench_time_func("answer", lambda loops: loops * 42.0, metadata={"unit": "integer"})
