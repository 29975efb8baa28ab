"""The sentences about profiles."""

import pytest
from msgspec.structs import replace

from gate.model.profile import Amounts, Explanation, Frame, Part, Unprofiled
from gate.words import explanations as words
from gate.words.short_names import Names
from tests.gate.report import examples


def shown() -> Explanation:
    return examples.explained().explanations[0]


def test_a_line_names_the_function_its_share_its_place_and_its_way() -> None:
    found = shown()
    line = words.line(found.candidates[0], found)
    assert (line.name, line.added, line.place) == ("find_key", "+92% of the change", "src/keys.c")
    assert line.notes == ("mostly in memcmp, which it calls", "called from parse_object", "in a changed file")


def test_a_place_has_the_line_where_it_is_known() -> None:
    assert words.place(Frame("f", "src/a.c", 123)) == "src/a.c:123"
    assert words.place(Frame("f", "/re/_parser.py", 7)) == "re/_parser.py:7"
    assert words.place(Frame("f")) == ""


@pytest.mark.parametrize(
    ("cost", "unit", "text"),
    [
        (12_345_678, "instructions", "12.3 M instructions"),
        (950, "instructions", "950 instructions"),
        (2.5e9, "cycles", "2.5 G cycles"),
        (0.0125, "s", "12.50 ms"),
        (340, "samples", "340 samples"),
    ],
)
def test_amounts(cost: float, unit: str, text: str) -> None:
    assert words.amount(cost, unit) == text


def test_what_appears_and_goes_has_no_percentage() -> None:
    both = [words.grown(Amounts(*each)) for each in ((0, 5), (5, 0), (0, 0), (10, 11))]
    assert both == ["new", "gone", "none", "+10.0%"]


def test_a_shift_names_both_sides_and_the_caller() -> None:
    found = shown()
    assert words.moved(found.moved[0], found.unit) == (
        "7 M instructions moved from skip_space to next_char; with all that it calls, skip_space changed by +1.7%"
    )


@pytest.mark.parametrize(
    ("agreement", "begin"),
    [
        ("less", "The profile does not show the change: instructions +17.5%, measured time +18.0%. "),
        ("opposite", "The profile contradicts the change: "),
        ("elsewhere", "The profile shows instructions, and what changed is time: "),
    ],
)
def test_what_the_profile_does_not_show_is_said(agreement: str, begin: str) -> None:
    (text,) = words.cautions(replace(shown(), agreement=agreement))
    assert text.startswith(begin)


def test_a_profile_that_agrees_needs_no_caution() -> None:
    assert words.cautions(shown()) == []


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (
            Unprofiled(benchmark="a", kind="no-profiler", profiler="callgrind", install="apt-get install valgrind"),
            "a was not profiled: callgrind is not installed; `apt-get install valgrind` installs it",
        ),
        (
            Unprofiled(benchmark="a", kind="failed", profiler="perf", detail="exit 1"),
            "a was not profiled: perf failed: exit 1",
        ),
        (Unprofiled(benchmark="a", kind="budget"), "a was not profiled: no time was left"),
        (
            Unprofiled(benchmark="a", kind="unsupported"),
            "a was not profiled: no profiler is known for its instrument or command",
        ),
    ],
)
def test_why_there_is_no_profile(of: Unprofiled, text: str) -> None:
    assert words.unprofiled(of, Names(examples.report("pass", []))) == text


def test_names_from_elsewhere_are_made_visible_and_short() -> None:
    line = words.line(replace(shown().candidates[0], frame=Frame("f\x1b[31m\n" + "x" * 500, "src/\u202ea.c")), shown())
    assert "\x1b" not in line.name
    assert "\n" not in line.name
    assert len(line.name) <= 60
    assert "\u202e" not in line.place


def test_a_long_name_loses_its_arguments_before_its_function() -> None:
    string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    assert words.name(Frame(f"v::Table<long, {string} >::put(long, {string})", "t.cc", None)) == "v::Table::put"
    assert words.name(Frame("v::Table<long>::put(long)", "t.cc", None)) == "v::Table<long>::put(long)"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("github.com/owner/json.(*Parser).Get", "json.(*Parser).Get"),
        ("gopkg.in/yaml.v3.parse.func1", "yaml.v3.parse.func1"),
        ("example.org/a-b/v2.(*T[...]).Add", "v2.(*T[...]).Add"),
        ("runtime.mallocgc", "runtime.mallocgc"),
        ("operator/", "operator/"),
        ("ns::operator/=", "ns::operator/="),
    ],
)
def test_a_function_of_go_is_named_without_the_folders_of_its_package(function: str, text: str) -> None:
    assert words.name(Frame(function)) == text


@pytest.mark.parametrize(("calls", "text"), [(Amounts(10, 20), "calls next_char more often"), (None, "seems to call")])
def test_more_calls_are_a_fact_only_where_they_were_counted(calls: Amounts | None, text: str) -> None:
    found = shown()
    of = replace(found.candidates[0], calls=calls, more=[Part(Frame("next_char"), 5.0)])
    assert any(note.startswith(text) for note in words.line(of, found).notes)


def test_nothing_is_added_by_less() -> None:
    found = shown()
    assert words.added(replace(found.candidates[0], share=None, change=-5.0), found.unit) == "little itself"
    assert words.added(replace(found.candidates[0], share=None, change=5.0), "samples") == "+5 samples"
