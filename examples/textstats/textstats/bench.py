"""`python3 -m textstats.bench FILE OUTPUT`: writes the seconds of each count, one number a line.

Seconds of CPU time: a count waits for nothing, and what else runs on the machine shows less in them.
How many counts comes from PERFGATE_WARMUP and PERFGATE_ITERATIONS; perfgate drops the warm-up itself.
"""

import os
import sys
import time
from pathlib import Path

from textstats import most_common


def main(source: str, output: str) -> None:
    """Count the words of `source` again and again."""
    text = Path(source).read_text(encoding="utf-8")
    passes = int(os.environ.get("PERFGATE_WARMUP", "1")) + int(os.environ.get("PERFGATE_ITERATIONS", "10"))
    with Path(output).open("w", encoding="utf-8") as lines:
        for _ in range(passes):
            start = time.process_time()
            most_common(text, 10)
            print(f"{time.process_time() - start:.9f}", file=lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
