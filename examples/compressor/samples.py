"""Writes the inputs that are compressed: `python3 samples.py SEED`, another seed gives other data of the same kinds."""

import random
import sys
from array import array
from itertools import accumulate
from pathlib import Path

SIZES = (2, 8, 32)
"""In MiB; a smaller input is the beginning of the larger ones."""
PATHS = [f"/{place}/{page}" for place in ("articles", "users", "images", "api/v1") for page in range(250)]
CODES = [200] * 90 + [304] * 6 + [404] * 3 + [500]


def log(size: int) -> bytes:
    """Return lines as a web server logs them."""
    clock = 1_700_000_000.0
    lines: list[str] = []
    length = 0
    while length < size:
        clock += random.expovariate(50)
        client = f"10.{random.getrandbits(3)}.{random.getrandbits(4)}.{random.getrandbits(8)}"
        request = f'"GET {random.choice(PATHS)} HTTP/1.1" {random.choice(CODES)} {random.getrandbits(15)}'
        lines.append(f"{client} - - [{clock:.3f}] {request}\n")
        length += len(lines[-1])
    return "".join(lines).encode()[:size]


def sensor(size: int) -> bytes:
    """Return readings of a sensor that wanders: 32-bit numbers."""
    return array("i", accumulate(random.choices(range(-99, 100), k=size // 4))).tobytes()


def main() -> None:
    """Write every kind in every size into data/."""
    random.seed(sys.argv[1])
    Path("data").mkdir(exist_ok=True)
    for kind in (log, sensor):
        whole = kind(max(SIZES) << 20)
        for size in SIZES:
            Path("data", f"{kind.__name__}-{size}").write_bytes(whole[: size << 20])


if __name__ == "__main__":
    main()
