"""What 1.9.5.json was made with."""

from typing import Any

import google_benchmark  # type: ignore[import-not-found,unused-ignore]


def plain(state: Any) -> None:
    while state:
        pass


def broken(state: Any) -> None:
    state.skip_with_error("it's\tbroken")
    while state:
        pass


def named(state: Any) -> None:
    while state:
        pass
    state.counters["n"] = google_benchmark.Counter(float("nan"))


if __name__ == "__main__":
    google_benchmark.register(plain)
    google_benchmark.register(broken)
    google_benchmark.register(named, name='s "q" / x')
    google_benchmark.main()
