import random
import sys
from pathlib import Path

from hdrh.histogram import HdrHistogram  # type: ignore[import-not-found]  # only where it is captured
from hdrh.log import HistogramLogWriter  # type: ignore[import-not-found]

SHAPES = [(1, 3_600_000_000, 3), (1, 2**62, 5), (1000, 10**9, 2), (1, 1000, 1)]

seeded = random.Random(11)
with Path(sys.argv[1]).open("w") as log:
    writer = HistogramLogWriter(log)
    writer.output_log_format_version()
    writer.output_legend()
    for interval, (lowest, highest, digits) in enumerate(SHAPES):
        histogram = HdrHistogram(lowest, highest, digits)
        for _ in range(50):
            histogram.record_value(int(seeded.lognormvariate(11, 1.5)) % highest)
        histogram.record_value(0)
        histogram.record_value(highest, 200)
        histogram.set_start_time_stamp(1_700_000_000_000 + 1000 * interval)
        histogram.set_end_time_stamp(1_700_000_001_000 + 1000 * interval)
        writer.output_interval_histogram(histogram, 0, 1.0)
