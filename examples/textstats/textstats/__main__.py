"""`python3 -m textstats FILE`: prints the ten most frequent words."""

import sys
from pathlib import Path

from textstats import most_common

if __name__ == "__main__":
    for word, times in most_common(Path(sys.argv[1]).read_text(encoding="utf-8"), 10):
        print(f"{times:8} {word}")
