"""examples/tokenizer: C, built by perfgate's own builder, whose linker shim lays each build out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.projects import Project, building, built
from benchmarks.trial.plan import LAYOUTS, TAIL_EVERY
from benchmarks.trial.programs.program import OFFSET, ROOT, SIDES, Layout, Program, Run, limits, share, twice

_ITEMS = 2000
_BUILD = (
    "mkdir -p objects && for each in src/*.c; do cc -O2 -std=c99 -c -o objects/$(basename $each .c).o $each; done && "
    "cc -o bench objects/*.o"
)
_AGAIN = """
int count_tokens(const char *text, size_t length, size_t counts[TOKEN_KINDS])
{{
    size_t again[TOKEN_KINDS];
    static int pass = -1;

    if (pass < 0)
        pass = getenv("{offset}") ? atoi(getenv("{offset}")) : 0;
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
    about = "A JSON tokenizer in C (examples/tokenizer). A pass tokenizes a list of 2,000 objects in memory."
    layout = "the order of objects and functions in the program, drawn by perfgate's linker shim"

    def prepare(self) -> Iterator[Layout]:
        """Commit each side, and build it in all layouts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._sample()
        for side in SIDES:
            if side in ("same-2", "relaid"):
                continue  # built from what same-1 is built from
            place = self._committed(side)
            project = Project("", "HEAD", _BUILD, "bench", ())
            work = self.folder / f"work-{side}"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            with building(project, place, work, "HEAD", {"base": "auto", "head": "auto"}, go=False, aligned=False) as b:
                for number in range(LAYOUTS):
                    build = built(b, self.name, "head", number, 1000 + number)
                    shutil.copy(b.directory("head") / "bench", self._binary(side, number))
                    yield Layout(side, number, build)

    def run(self, side: str, layout: int, output: Path, passes: int | None, seconds: float | None) -> Run:
        """See Program."""
        binary = self._binary("same-1" if side in ("same-2", "relaid") else side, layout)
        return Run([str(binary), str(self.folder / "sample.json"), str(output), *limits(passes, seconds)], {})

    def counted(self, side: str, layout: int, output: Path, passes: int) -> Run:
        """See Program."""
        return self.run(side, layout, output, passes, None)

    def _binary(self, side: str, layout: int) -> Path:
        return self.folder / f"bench-{side}-{layout:02}"

    def _sample(self) -> None:
        source, program = ROOT / "examples/tokenizer/src/sample.c", self.folder / "sample"
        subprocess.run(["cc", "-O2", "-std=c99", "-o", str(program), str(source)], check=True)
        with (self.folder / "sample.json").open("wb") as out:
            subprocess.run([str(program), str(_ITEMS)], check=True, stdout=out)

    def _committed(self, side: str) -> Path:
        place = self.folder / f"project-{side}"
        shutil.rmtree(place, ignore_errors=True)
        sources = place / "src"
        sources.mkdir(parents=True)
        for name in ("text.c", "text.h", "tokenizer.c", "tokenizer.h"):
            shutil.copy(ROOT / "examples/tokenizer/src" / name, sources)
        shutil.copy(Path(__file__).with_name("tokenizer_bench.c"), sources / "bench.c")
        file = sources / "tokenizer.c"
        file.write_text(_changed(file.read_text(encoding="utf-8"), side), encoding="utf-8")
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", side],
        ):
            subprocess.run(["git", *words], cwd=place, check=True)
        return place


def _changed(text: str, side: str) -> str:
    if side == "edited":
        return text.replace(f"static {_BEFORE}", f"{_EDIT}\nstatic {_BEFORE}", 1)
    if not share(side) and not twice(side):
        return text
    again = _AGAIN.format(
        when=f"++pass % {TAIL_EVERY} == 0" if twice(side) else "++pass",
        offset=OFFSET,
        part="length" if twice(side) else f"length * {round(100 * share(side))} / 100",
    )
    return "#include <stdlib.h>\n" + text.replace("int count_tokens(", "static int count_part(", 1) + again
