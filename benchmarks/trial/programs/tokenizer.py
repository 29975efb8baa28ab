"""examples/tokenizer: C, built by perfgate's own builder, whose linker shim lays each build out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.projects import Project, building, built
from benchmarks.trial.plan import LAYOUTS, TAIL
from benchmarks.trial.programs.program import ROOT, SLOW, Layout, Program, Run, again, made_of
from gate.model import Side

_ITEMS = 4000
_BUILD = (
    "mkdir -p objects && for each in src/*.c; do cc -O2 -std=c99 -c -o objects/$(basename $each .c).o $each; done && "
    "cc -o bench objects/*.o"
)
_AGAIN = """
int count_tokens(const char *text, size_t length, size_t counts[TOKEN_KINDS])
{{
    size_t again[TOKEN_KINDS];

    if ({when})
        count_part(text, {part}, again);
    return count_part(text, length, counts);
}}
"""
_EDIT = """
/* Nothing calls it. */
int is_token_kind(int kind, const char *name)
{
    static const char *const names[] = {"punctuation", "string", "number", "word"};

    return kind >= 0 && kind < 4 && strcmp(names[kind], name) == 0;
}
"""
_BEFORE = "struct token make_token("


class Tokenizer(Program):
    """A tokenizer of JSON in C."""

    name = "tokenizer"
    about = f"A JSON tokenizer in C, {_ITEMS:,} objects."
    layout = "orders of objects and functions, by perfgate's linker shim"

    def prepare(self, sides: Sequence[str], work: float) -> Iterator[Layout]:
        """Commit each side, and build it in all layouts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._sample()
        for side in sides:
            place = self._committed(side, work)
            project = Project("", "HEAD", _BUILD, "bench", ())
            caches = self.folder / f"work-{side}"
            shutil.rmtree(caches, ignore_errors=True)
            caches.mkdir()
            relink: dict[Side, str] = {"base": "auto", "head": "auto"}
            with building(project, place, caches, "HEAD", relink, go=False, aligned=False) as b:
                for number in range(LAYOUTS):
                    build = built(b, self.name, "head", number, 1000 + number)
                    shutil.copy(b.directory("head") / "bench", self._binary(side, number))
                    yield Layout(side, number, build)

    def run(self, side: str, layout: int, *, slow: bool = False) -> Run:
        """See Program."""
        binary = self._binary(made_of(side), layout)
        return Run((str(binary), str(self.folder / "sample.json")), {SLOW: f"{int(slow)}"})

    def _binary(self, side: str, layout: int) -> Path:
        # names of one length
        return self.folder / f"bench-{side:_<9}-{layout:02}"

    def _sample(self) -> None:
        source, program = ROOT / "examples/tokenizer/src/sample.c", self.folder / "sample"
        subprocess.run(["cc", "-O2", "-std=c99", "-o", str(program), str(source)], check=True)
        with (self.folder / "sample.json").open("wb") as out:
            subprocess.run([str(program), str(_ITEMS)], check=True, stdout=out)

    def _committed(self, side: str, work: float) -> Path:
        place = self.folder / f"project-{side}"
        shutil.rmtree(place, ignore_errors=True)
        sources = place / "src"
        sources.mkdir(parents=True)
        for name in ("text.c", "text.h", "tokenizer.c", "tokenizer.h"):
            shutil.copy(ROOT / "examples/tokenizer/src" / name, sources)
        shutil.copy(Path(__file__).with_name("tokenizer_bench.c"), sources / "bench.c")
        file = sources / "tokenizer.c"
        file.write_text(_changed(file.read_text(encoding="utf-8"), side, work), encoding="utf-8")
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", side],
        ):
            subprocess.run(["git", *words], cwd=place, check=True)
        return place


def _changed(text: str, side: str, work: float) -> str:
    if side == "edited":
        return text.replace(f"static {_BEFORE}", f"{_EDIT}\nstatic {_BEFORE}", 1)
    share = again(side, work)
    if not share and side != TAIL:
        return text
    written = _AGAIN.format(
        when=f"*getenv(\"{SLOW}\") == '1'" if side == TAIL else "length",
        part="length" if side == TAIL else f"length * {round(100_000 * share)} / 100000",
    )
    return "#include <stdlib.h>\n" + text.replace("int count_tokens(", "static int count_part(", 1) + written
