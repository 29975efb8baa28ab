"""Edits of public projects whose effect on layouts is measured: C, C++, Rust and Go, objects and functions in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.projects import CMARK, LUA, LZ4, Project

_MORE = "int more_of_it(int n);\nint more_of_it(int n) { int s = 0; while (n > 0) { n--; s += n * n; } return s; }"
_RUST_MORE = """#[inline(never)]
fn more_of_it(n: usize) -> usize {
    (0..n).fold(n, |a, b| a ^ (a << (b % 7)))
}"""


@dataclass(frozen=True)
class Edit:
    """A change of sources: in each file one text becomes another; "" stands for the end of a file, new or old.

    removed: files, folders and submodules that are deleted.
    """

    texts: tuple[tuple[str, str, str], ...]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edited:
    """A project, what both sides get in addition, and what head does."""

    project: Project
    edits: dict[str, Edit]
    given: Edit = field(default_factory=lambda: Edit(()))
    go: bool = False


def _after(path: str, old: str, more: str) -> Edit:
    return Edit(((path, old, f"{old}{more}\n"),))


def _loop(times: int) -> str:
    """Return a statement of C that no optimiser removes."""
    return f"volatile int spent; for (spent = 0; spent < {times}; spent++) {{}}"


_FRAGMENT = """char* CompressFragment(const char* input, size_t input_size, char* op,
                       uint16_t* table, const int table_size) {
"""
_MAIN = "pulldown-cmark/src/main.rs"
_FOR_EACH = "func (t Result) ForEach(iterator func(key, value Result) bool) {\n"
_VALID = "func Valid(json string) bool {\n"
_PEEK = "func (r *reader) PeekLine() ([]byte, Segment) {\n"
_SNAPPY = Project(
    "https://github.com/google/snappy",
    "6281a07b7e08629884ec93a89fea6e05c62e599c",
    "rm -rf b && cmake -S . -B b -DCMAKE_BUILD_TYPE=Release -DSNAPPY_BUILD_TESTS=OFF -DSNAPPY_BUILD_BENCHMARKS=OFF "
    "-DCMAKE_CXX_FLAGS=-ffunction-sections > log && make -C b snappy > log && "
    "g++ -O2 -ffunction-sections -fuse-ld=lld -I. -Ib -o tool tool.cc $(find b/CMakeFiles/snappy.dir -name '*.o')",
    "tool",
    ("/bin/sh", "-c", "exec {artifact} < {data}"),
    prepare="cat ./*.cc ./*.h testdata/*.txt > {data}; for i in 1 2 3; do cat {data} {data} > {data}2; "
    "mv {data}2 {data}; done",
)
_SNAPPY_TOOL = """#include <iostream>
#include <iterator>
#include <string>
#include "snappy.h"
int main() {
  std::string in(std::istreambuf_iterator<char>(std::cin), {}), out, back;
  for (int i = 0; i < 3; i++) {
    snappy::Compress(in.data(), in.size(), &out);
    snappy::Uncompress(out.data(), out.size(), &back);
  }
  return back != in;
}
"""
_PULLDOWN = Project(
    "https://github.com/pulldown-cmark/pulldown-cmark",
    "17b526386f2881e210533a8d36bc62376fba3ba8",
    'touch pulldown-cmark/src/main.rs && RUSTFLAGS="-C link-arg=-fuse-ld=lld" cargo build --release --offline '
    "-p pulldown-cmark --bin pulldown-cmark",
    "target/release/pulldown-cmark",
    ("/bin/sh", "-c", "exec {artifact} < {data}"),
    setup="cargo fetch",
    prepare="cat ./*.md guide/src/*.md pulldown-cmark/specs/*.txt > {data}; for i in 1 2 3 4 5; do "
    "cat {data} {data} > {data}2; mv {data}2 {data}; done",
)
_GJSON = Project(
    "https://github.com/tidwall/gjson",
    "7d8b3821e9d2acf35e8a226b63fcf801078e9b96",
    "go test -c -o bench.test .",
    "bench.test",
    ("{artifact}", "-test.run=^$", "-test.bench=Valid$", "-test.benchtime=60000x"),
)
_GOLDMARK = Project(
    "https://github.com/yuin/goldmark",
    "6ed00da2d6d53d831827e54ee5d334f4544693b9",
    "go test -c -o bench.test .",
    "bench.test",
    ("{artifact}", "-test.run=^$", "-test.bench=Spec$", "-test.benchtime=6x"),
)
_GOLDMARK_BENCHMARK = """package goldmark_test

import (
\t"bytes"
\t"os"
\t"testing"

\t"github.com/yuin/goldmark"
)

func BenchmarkSpec(b *testing.B) {
\tsource, _ := os.ReadFile(os.Args[0] + ".data")
\tsource = append(source, bytes.Repeat([]byte("# a *b* `c`\\n\\n- [d](e) **f** &amp; <g>\\n"), 4000)...)
\tfor i := 0; i < b.N; i++ {
\t\tvar out bytes.Buffer
\t\t_ = goldmark.Convert(source, &out)
\t}
}
"""

PROJECTS = {
    "lua": Edited(
        LUA,
        {
            "unrelated": Edit((("loslib.c", "(lua_Number)clock()", "(lua_Number)(clock() + lua_gettop(L))"),)),
            "hot": _after("ldo.c", "luaD_precall (lua_State *L, StkId func, int nresults) {\n", _loop(60)),
            "added function": _after("loslib.c", "", _MORE),
            "removed file": Edit((("linit.c", "  {LUA_UTF8LIBNAME, luaopen_utf8},\n", ""),), ("lutf8lib.c",)),
        },
    ),
    "lz4": Edited(
        LZ4,
        {
            "unrelated": _after("lib/lz4.c", "int LZ4_versionNumber (void) { ", _loop(9)),
            "hot": _after("lib/lz4hc.c", '    DEBUGLOG(7, "LZ4HC_InsertAndGetWiderMatch");\n', f"{{ {_loop(8)} }}"),
            "added function": _after("programs/util.c", "", _MORE),
            "removed file": Edit((), ("lib/lz4file.c",)),
        },
    ),
    "cmark": Edited(
        CMARK,
        {
            "unrelated": _after("src/cmark.c", "int cmark_version() { ", _loop(9)),
            "hot": _after("src/houdini_html_e.c", "    org = i;\n", _loop(40)),
            "added function": _after("src/blocks.c", "", _MORE),
            "removed file": Edit(
                (
                    ("src/main.c", "cmark_render_latex(document, options, width)", "NULL"),
                    ("src/CMakeLists.txt", "  latex.c\n", ""),
                ),
                ("src/latex.c",),
            ),
        },
    ),
    "snappy": Edited(
        _SNAPPY,
        {
            "unrelated": _after("snappy.cc", "bool IsValidCompressed(Source* compressed) {\n", _loop(9)),
            "hot": _after("snappy.cc", _FRAGMENT, _loop(40000)),
            "added function": _after("snappy.cc", "", _MORE),
            "removed file": Edit((("CMakeLists.txt", '    "snappy-c.cc"\n', ""),), ("snappy-c.cc",)),
        },
        given=Edit((("tool.cc", "", _SNAPPY_TOOL),), ("third_party",)),
    ),
    "pulldown-cmark": Edited(
        _PULLDOWN,
        {
            "unrelated": _after(_MAIN, '    println!("EOF");\n', 'println!("{}", text.len() % 9);'),
            "hot": _after(
                "pulldown-cmark-escape/src/lib.rs",
                "    table: &'static [u8; 256],\n) -> Result<(), W::Error> {\n",
                "(0..20).for_each(|n| {\n core::hint::black_box(n);\n });",
            ),
            "added function": Edit(
                (
                    (_MAIN, 'println!("EOF");', 'println!("EOF {}", more_of_it(text.len()));'),
                    (_MAIN, "", _RUST_MORE),
                )
            ),
        },
        given=Edit((("Cargo.toml", '  "bench",\n  "dos-fuzzer",\n  "fuzz",\n', ""),)),
    ),
    "gjson": Edited(
        _GJSON,
        {
            "unrelated": _after("gjson.go", _FOR_EACH, "if len(t.Raw) > 1<<40 {\n panic(t.Raw)\n }"),
            "hot": _after(
                "gjson.go", _VALID, "for i := 0; i < len(json); i += 6 {\n if json[i] == 0 {\n return false\n }\n }"
            ),
            "added function": Edit(
                (
                    ("gjson.go", _VALID, f"{_VALID} if len(json) > 1<<40 {{\n moreOfIt(json)\n }}\n"),
                    ("gjson.go", "", "//go:noinline\nfunc moreOfIt(json string) { println(json[len(json)/2:]) }"),
                )
            ),
        },
        go=True,
    ),
    "goldmark": Edited(
        _GOLDMARK,
        {
            "unrelated": _after(
                "ast/block.go",
                "func IsParagraph(node Node) bool {\n",
                "for i := 0; node == nil && i < 9; i++ {\n }",
            ),
            "hot": _after("text/reader.go", _PEEK, "for i := 0; i < 60; i++ {\n }"),
            "added function": Edit(
                (
                    ("text/reader.go", _PEEK, f"{_PEEK} if r.sourceLength > 1<<40 {{\n moreOfIt(r)\n }}\n"),
                    ("text/reader.go", "", "//go:noinline\nfunc moreOfIt(r *reader) { println(r.sourceLength) }"),
                )
            ),
        },
        given=_after("spec_bench_test.go", "", _GOLDMARK_BENCHMARK),
        go=True,
    ),
}
