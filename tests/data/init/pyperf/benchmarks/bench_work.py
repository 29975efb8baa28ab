import pyperf
from pkg import work

runner = pyperf.Runner()
runner.bench_func("small", work, 10)
