"""Names that are shortened."""

import shlex
from random import Random

import pytest

from gate.config.rules import matches
from gate.writing.last_lines import error_line, last_lines
from gate.writing.phrases import none_of
from gate.writing.plain import benchmark_option, clip, columns, distinct, visible, wrap
from tests.support.seeds import some

JMH = [
    f"jmh/org.jctools.jmh.baseline.SingleThreaded{side}.{side.lower()}Loop:{{qType={queue}}}:avgt"
    for side in ("Poll", "Offer")
    for queue in ("SpscArrayQueue", "MpscArrayQueue")
]


@pytest.mark.parametrize(
    ("names", "width", "words"),
    [
        # what they have in common goes first, and words and numbers stay whole
        (JMH, 40, ["Poll.pollLoop:{qType=Spsc", "Poll.pollLoop:{qType=Mpsc", "Offer.offerLoop:{qType=Spsc", "Mpsc"]),
        (["BenchmarkParseOrder", "BenchmarkEncodeOrder"], 14, ["Parse", "Encode"]),
        ([f"suite/pkg.Search/text={n}/{'x' * 30}" for n in (32768, 32778, 42768)], 20, ["32768", "32778", "42768"]),
        (["test_codec.py::test_encode[1024-utf8]", "test_codec.py::test_encode[1048-utf8]"], 18, ["1024", "1048"]),
    ],
)
def test_what_tells_names_apart_is_what_stays(names: list[str], width: int, words: list[str]) -> None:
    assert [word in text for word, text in zip(words, distinct(names, width), strict=True)] == [True] * len(names)


PIECES = [*"a1/ß…İ ", "Foo", "foo", "FOO", "32768", "::", "漢字", "ﬀ", "e\u0301", "ss", "~2", "{x=1}"]


def _draw(seed: int) -> list[str]:
    """Draw names of a set: long common begins and ends, wide letters, cases that fold into one, prefixes of others."""
    random = Random(seed)

    def piece(most: int) -> str:
        return "".join(random.choices(PIECES, k=random.randint(0, most)))

    begin, middle, end = (piece(random.choice([0, 3, 400])) for _ in range(3))
    names = []
    for _ in range(random.choice([2, 5, 60])):
        name = f"{begin}{piece(3)}{middle}{piece(3)}{end}"
        names += [name, *random.choices([name.swapcase(), name.casefold(), name[: len(name) // 2], name + "x"], k=2)]
    return [name for name in names if name]


@pytest.mark.parametrize("seed", some(range(150), 10, pytest.mark.nightly))
def test_any_set_of_names_stays_apart_within_the_width(seed: int) -> None:
    # many take no time
    many = [f"{'pkg.' * 50}Class{number % 10}.method{number}.{'z' * 100}" for number in range(1000)]
    names = _draw(seed) if seed else many
    for width in (8, 14, 30, 60, 100):
        shown = distinct(names, width)
        of = dict(zip(names, shown, strict=True))
        assert len({*of.values()}) == len(of), width
        assert all(columns(text) <= width and len(text) <= 4 * width for text in shown), width
        assert all(text == name for name, text in of.items() if columns(name) <= width and len(name) <= 4 * width)


@pytest.mark.parametrize("name", ["parse", "-x", "a b", "parse[a*]", "it's"])
def test_an_option_selects_the_benchmark_of_that_name(name: str) -> None:
    option, *words = shlex.split(benchmark_option(name))
    # argparse reads a word that begins with a dash as another option
    assert not words or not words[0].startswith("-")
    assert option.startswith("--benchmark") and matches(words[0] if words else option.partition("=")[2], name)


@pytest.mark.parametrize(
    ("given", "first"), [("xml-7x", "parse-xml-7"), ("*-59x", "parse-csv-59"), ("JSON", "parse-json-0")]
)
def test_an_unknown_name_is_answered_with_the_most_alike(given: str, first: str) -> None:
    names = [f"parse-{('json', 'xml', 'csv')[number % 3]}-{number}" for number in range(60)]
    said = none_of(given, names)
    assert said.startswith(f"matches none of {first}, ") and said.endswith(" and 55 more") and said.count("parse") == 5
    assert none_of(given, ["b", "a"]) == "matches none of b, a"
    assert none_of("wrods", ["words", "other"]) == "matches nothing: did you mean words?"
    assert none_of("wrods*", ["words"]) == "matches nothing: did you mean words?"
    assert none_of(given, []) == "matches nothing: there are none"


BEGIN = "Traceback (most recent call last):"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "--- standard output ---\nrm -rf build\n--- standard error ---\nmain.c:8:1: error: unknown type\nmake: *** Error 1",
            "main.c:8:1: error: unknown type",
        ),
        ("loading\nno error yet\nwork.c:9: fatal error: no data\nbye", "work.c:9: fatal error: no data"),
        (
            f"{BEGIN}\n  File 'b.py', line 3\n    raise ValueError('error: x')\nValueError: no data\nbye",
            "ValueError: no data",
        ),
        (
            f"{BEGIN}\n  File 'b.py'\nKeyError: 1\n\nDuring handling of it\n\n{BEGIN}\n  File 'c.py'\nmine.Trouble: no file\n",
            "mine.Trouble: no file",
        ),
        ("# widget\n./main.go:5:2: undefined: x\nexit status 1", "./main.go:5:2: undefined: x"),
        ("panic: no data\n\ngoroutine 1 [running]:\nmain.main()\nexit status 2", "panic: no data"),
        ("thread 'main' panicked at src/main.rs:2:5:\nno data\nnote: run", "thread 'main' panicked at src/main.rs:2:5: no data"),
        ("x.c:3:5: warning: unused\nx.c:9:1: note: here\nld: x.o: undefined reference to `f'\ncollect2: error: ld", "ld: x.o: undefined reference to `f'"),
        ("node:internal:9\n    throw err;\nError: Cannot find module './dist'\n    at x\nNode.js v20", "Error: Cannot find module './dist'"),
        ("bench.sh: line 3: foo: command not found\ndone", "done"),
        ("12:30:01: start\nmake: *** No rule to make target 'x'.  Stop.\nbye", "make: *** No rule to make target 'x'.  Stop."),
        # a heading says nothing, and who started what failed says no more
        ("[ERROR] COMPILATION ERROR : \n[INFO] ---\n[WARNING] /x/B.java:[1,2] old\n[ERROR] /x/A.java:[1,29] incompatible types", "[ERROR] /x/A.java:[1,29] incompatible types"),
        ("[ERROR] Some problems were encountered while processing the POMs:\n[ERROR] version is missing. @ line 7", "[ERROR] Some problems were encountered while processing the POMs: version is missing. @ line 7"),
        ("\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nA problem occurred.\n> Could not find method x()\n\nBUILD FAILED in 3s", "* What went wrong: A problem occurred. > Could not find method x()"),
        ("> Task :compileKotlin FAILED\ne: App.kt:3:13 Unresolved reference: foo\n\n* What went wrong:\nExecution failed\n", "e: App.kt:3:13 Unresolved reference: foo"),
        ("> a@1.0.0 build\n\nno config.json\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nnpm ERR! Exit status 1\n", "no config.json"),
        ("npm ERR! code E404\nnpm ERR! 404 Not Found - GET /x\nnpm ERR! 404 \n\nnpm ERR!  /x/debug.log", "npm ERR! 404 Not Found - GET /x"),
        ("npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install\nnpm error A log", "npm error `npm ci` can only install"),
        ("$ tsc\n/bin/sh: 1: tsc: not found\nerror Command failed with exit code 127.\ninfo Visit", "/bin/sh: 1: tsc: not found"),
        ("> a@1.0.0 build\n\n ELIFECYCLE  Command failed with exit code 1.", "ELIFECYCLE  Command failed with exit code 1."),
        ("Lib.hs:3:1: warning: [-Wunused]\n    redundant\nLib.hs:7:10: error:\n    • Couldn't match ‘Int’\n    • In the expression\n", "Lib.hs:7:10: error: • Couldn't match ‘Int’ • In the expression"),
        ("Main.hs:3:8: error: [GHC-83865]\n    • Couldn't match ‘Int’\n", "Main.hs:3:8: error: [GHC-83865] • Couldn't match ‘Int’"),
        ("-- Detecting - done\nCMake Error at CMakeLists.txt:3 (find_package):\n  By not providing x\n  this has failed\n", "CMake Error at CMakeLists.txt:3 (find_package): By not providing x this has failed"),
        ("error[E0308]: mismatched types\n --> src/main.rs:1:25\n  |", "error[E0308]: mismatched types --> src/main.rs:1:25"),
        ("  error: subprocess-exited-with-error\n  │ exit code: 1\n   src/a.c:3:9: error: 'y' undeclared\n  error: command 'gcc' failed with exit code 1", "src/a.c:3:9: error: 'y' undeclared"),
        (f"error: subprocess-exited-with-error\n  {BEGIN}\n    File 'x'\n  mine.Trouble: no numpy\n  [end]\nnote: This error originates there", "mine.Trouble: no numpy"),
        ("a.cpp(12,5): warning C4244: loss\na.cpp(14,10): error C2065: 'foo'\nBuild FAILED.\n    1 Error(s)", "a.cpp(14,10): error C2065: 'foo'"),
        ("/usr/bin/ld: cannot find -lfoo\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:3: a] Error 1", "/usr/bin/ld: cannot find -lfoo"),
        ("make[1]: *** No targets specified and no makefile found.  Stop.\nmake: *** [Makefile:3: all] Error 2", "make[1]: *** No targets specified and no makefile found.  Stop."),
        ("--- standard output ---\ncp a b\n--- standard error ---\ncp: cannot stat 'a'\nmake: *** [Makefile:2: all] Error 1", "cp: cannot stat 'a'"),
        ("--- standard output ---\nfalse\n--- standard error ---\nmake: *** [Makefile:2: all] Error 1", "make: *** [Makefile:2: all] Error 1"),
        ("ERROR: BUILD:1:10: Compiling main.cc failed: (Exit 1): gcc failed\nmain.cc:3:10: error: 'foo'", "main.cc:3:10: error: 'foo'"),
        ("importlib/__init__.py:126: in import_module\n    x\ntest_a.py:1: in <module>\nE   ModuleNotFoundError: No module\nERROR test_a.py", "E   ModuleNotFoundError: No module"),
        ("a\nb\n\n", "b"),
        ("", ""),
    ],
)  # fmt: skip
def test_an_error_is_the_first_line_with_the_structure_of_one(said: str, line: str) -> None:
    assert error_line(said) == line


def test_text_from_elsewhere_is_one_visible_line() -> None:
    assert visible("a\nb\x1b[31m\u202e\udc80é日") == "a\\nb\\x1b[31m\\u202e\\x80é日"
    assert last_lines("\x1b[31mred\x1b[0m\r\nnext\ttab\n\n", 10) == ["red", "next    tab"]
    assert last_lines("a\nb\nc", 2) == ["b", "c"]
    node = ["Error: Cannot find module './dist'", *(f"    at {n}" for n in range(9)), "exit"]
    assert last_lines("\n".join(node), 5) == [node[0], "...", *node[-3:]]
    assert last_lines("\n".join(node), 2) == node[-2:]
    error = "x.c:3:5: error: unknown type"
    assert last_lines("\n".join([error, *"abcd"]), 4) == [error, "...", *"cd"]


def test_widths_are_those_of_a_terminal() -> None:
    assert (columns("日本"), columns("e\u0301")) == (4, 1)
    assert clip("abcdefghij", 7) == "abc…hij"
    assert columns(clip("日本語のベンチマーク", 9)) <= 9
    assert wrap("aa bb cc", 5) == ["aa bb", "cc"]
    assert wrap("a   b\tc  ", 20) == ["a   b c"]
    assert wrap("x" * 20, 10, first="- ", rest="  ") == ["- " + "x" * 8, "  " + "x" * 8, "  xxxx"]
