"""The tool go: `go test -bench`, or a test binary that `go test -c` compiled."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from gate.formats import go_bench
from gate.formats.parts.output import Suite
from harness.instruments.declaration import built_in
from harness.instruments.protocol import at_least
from harness.instruments.suite import Call, SuiteInstrument
from harness.instruments.values import read_values


class Go(SuiteInstrument):
    """Runs each benchmark as often as values are wanted, by -count, and reads standard output."""

    reason = re.compile(
        r"^(?:panic: |fatal error: |--- FAIL: |flag provided but not defined: |FAIL\t.*\[(?:build|setup) failed\]).*",
        re.MULTILINE,
    )

    def options(self, call: Call) -> tuple[str, ...]:
        """Return what makes benchmarks run, and nothing else, unless the command says which.

        -v: a name is told before its benchmark prints, and without GOMAXPROCS; benchmarks do not see it.
        """
        go_test = is_go_test(call.words)
        # behind -args only the binary's own names are known
        dash = "-" if go_test and not {"-args", "--args"} & set(call.words) else "-test."
        wanted = {"bench": "=.", "run": "=^$", "count": f"={call.values}", "v": ""}
        return tuple(f"{dash}{name}{value}" for name, value in wanted.items() if not _given(name, call.words))

    def only(self, call: Call, globs: Sequence[str]) -> tuple[str, ...]:
        """Return the pattern for what globs name, level by level, which Go knows since 1.20.

        None where the command has a choice of its own, or a glob begins with a package or with what is wild.
        """
        own = any(_given("bench", (word,)) and not re.search(r"bench=\.$", word) for word in call.words)
        if own or not all(glob.startswith("Benchmark") for glob in globs):
            return ()
        dash = "-" if is_go_test(call.words) and not {"-args", "--args"} & set(call.words) else "-test."
        return (f"{dash}bench={'|'.join(dict.fromkeys(map(_levels, globs)))}",)

    def read(self, call: Call) -> Suite:
        """Read what the command wrote into {output}, else standard output.

        Raises: OutputError: it reports a failure, or is cut short.
        """
        return self._read(call, failed=False)

    def rest(self, call: Call) -> Suite:
        """Read what did not fail, of one package or of several. Raises: OutputError: it is cut short."""
        return self._read(call, failed=True)

    def _read(self, call: Call, *, failed: bool) -> Suite:
        data = read_values(call.output, call.limit)
        if data is None:
            data = read_values(call.stdout, call.limit) or b""
        return go_bench.suite(data, several=any("..." in word for word in call.words), failed=failed)


def is_go_test(words: tuple[str, ...]) -> bool:
    """Return whether a command is `go test`, and no test binary by itself."""
    return any(
        re.fullmatch(r"go[\d.]*", PurePath(word).name) and "test" in words[i + 1 :] for i, word in enumerate(words)
    )


def _levels(glob: str) -> str:
    # what is wild may mean a / too, and "a[1]" may be a name
    name, *wild = re.split(r"[*?[]", glob, maxsplit=1)
    parts = "/".join(f"^{at_least([part])}$" for part in name.split("/"))
    return parts.removesuffix("$") if wild else parts


def _given(name: str, words: tuple[str, ...]) -> bool:
    return any(re.fullmatch(rf"--?(?:test\.)?{name}(?:=.*)?", word, re.DOTALL) for word in words)


INSTRUMENT = built_in(Go())
