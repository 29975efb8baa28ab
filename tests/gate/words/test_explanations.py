"""The sentences about profiles."""

from typing import Any

import pytest
from msgspec.structs import replace

from gate.model.profile import Amounts, Explanation, Frame, FrameChange, Unprofiled
from gate.words import explanations as words
from gate.words.short_names import Names
from tests.gate.report import examples


def shown() -> Explanation:
    return examples.explained().explanations[0]


@pytest.mark.parametrize(("calls", "text"), [(Amounts(10, 20), "calls next_char more often"), (None, "seems to call")])
def test_more_calls_are_a_fact_only_where_they_were_counted(calls: Amounts | None, text: str) -> None:
    found = shown()
    of = replace(found.candidates[0], calls=calls, more=[FrameChange(Frame("next_char"), 5.0)])
    line = words.line(of, found)
    assert (line.name, line.added, line.place) == ("find_key", "+92% of the change", "src/keys.c")
    assert any(note.startswith(text) for note in line.notes)
    # nothing is added by less
    assert words.added(replace(of, share=None, change=-5.0), found.unit) == "little itself"
    assert words.added(replace(of, share=None, change=5.0), "samples") == "+5 samples"


def test_places_amounts_and_growth() -> None:
    places = [Frame("f", "src/a.c", 123), Frame("f", "/re/_parser.py", 7), Frame("f")]
    assert list(map(words.place, places)) == ["src/a.c:123", "re/_parser.py:7", ""]
    costs = [(12_345_678, "instructions"), (950, "instructions"), (2.5e9, "cycles"), (0.0125, "s"), (340, "samples")]
    assert [words.amount(*each) for each in costs] == [
        *("12.3 M instructions", "950 instructions", "2.5 G cycles", "12.50 ms", "340 samples")
    ]
    grown = [words.grown(Amounts(*each)) for each in ((0, 5), (5, 0), (0, 0), (10, 11))]
    assert grown == ["new", "gone", "none", "+10.0%"]


def test_what_the_profile_does_not_show_is_said() -> None:
    begins = {
        "less": "The profile does not show the change: instructions +17.5%, measured time +18.0%. ",
        "opposite": "The profile contradicts the change: ",
        "elsewhere": "The profile shows instructions, and what changed is time: ",
    }
    for agreement, begin in begins.items():
        (text,) = words.cautions(replace(shown(), agreement=agreement))
        assert text.startswith(begin)
    assert words.cautions(shown()) == []


def test_why_there_is_no_profile() -> None:
    whys: list[tuple[dict[str, Any], str]] = [
        (
            {"kind": "no-profiler", "profiler": "callgrind", "install": "apt-get install valgrind"},
            "callgrind is not installed; `apt-get install valgrind` installs it",
        ),
        ({"kind": "failed", "profiler": "perf", "detail": "exit 1"}, "perf failed: exit 1"),
        ({"kind": "budget"}, "no time was left"),
        ({"kind": "unsupported"}, "no profiler is known for its instrument or command"),
    ]
    names = Names(examples.report("pass", []))
    for why, text in whys:
        assert words.unprofiled(Unprofiled(benchmark="a", **why), names) == f"a was not profiled: {text}"


def test_a_long_name_loses_its_arguments_and_the_folders_of_its_package_before_its_function() -> None:
    string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    names = {
        f"v::Table<long, {string} >::put(long, {string})": "v::Table::put",
        "v::Table<long>::put(long)": "v::Table<long>::put(long)",
        "github.com/owner/json.(*Parser).Get": "json.(*Parser).Get",
        "gopkg.in/yaml.v3.parse.func1": "yaml.v3.parse.func1", "example.org/a-b/v2.(*T[...]).Add": "v2.(*T[...]).Add",
        "runtime.mallocgc": "runtime.mallocgc", "operator/": "operator/", "ns::operator/=": "ns::operator/=",
    }  # fmt: skip
    assert {function: words.name(Frame(function)) for function in names} == names
