"""perfgate init on made-up CMake projects with benchmarks, and what it understands of CMakeLists.txt."""

import pytest

from gate.commands.init.found import Rank
from tests.support.initialized import Project, detected, written

_GOOGLE = "#include <benchmark/benchmark.h>\nBENCHMARK(BM_a);\nBENCHMARK(BM_b)->Arg(1);\n"
_CATCH2 = """#include <catch2/catch_test_macros.hpp>
TEST_CASE("works", "[unit]") { }
TEST_CASE("speed", "[sort][!benchmark]") {
  BENCHMARK("sort") { return sort(); };
}
"""
_NANOBENCH = '#include "third_party/nanobench.h"\nint main() { Bench().run("a", f); }\n'
_ONE = "add_executable(speed b.cc)"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("add_executable(speed b.cc)\ntarget_link_libraries(speed PRIVATE benchmark::benchmark)", ""),
        (_ONE, ""),
        ("add_executable(speed ${X})\ntarget_link_libraries(speed benchmark::benchmark_main)", ""),
        ("link_libraries(benchmark::benchmark)\nadd_executable(speed ${X})", ""),
        (f"option(B x OFF)\nif(B)\n{_ONE}\nendif()", " -DB=ON"),
        (f"option(B x)\noption(C x ON)\nif(B AND C)\n{_ONE}\nendif()", " -DB=ON"),
        (f"option(B x OFF)\noption(ALL x OFF)\nif(B OR ALL)\n{_ONE}\nendif()", " -DB=ON"),
        (f"option(B x OFF)\nif(NOT B)\n{_ONE}\nendif()", ""),
        (f"option(B x OFF)\nif(NOT B)\nreturn()\nendif()\n{_ONE}", " -DB=ON"),
        (f"option(B x ${{PROJECT_IS_TOP_LEVEL}})\nif(B)\n{_ONE}\nendif()", ""),
        (
            f"if(CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)\nset(TOP ON)\nendif()\noption(B x ${{TOP}})\nif(B)\n{_ONE}\nendif()",
            "",
        ),
        (f'include(CMakeDependentOption)\ncmake_dependent_option(B x ON "UNIX;NOT WIN32" OFF)\nif(B)\n{_ONE}\nendif()', ""),
        (f'option(D x OFF)\ncmake_dependent_option(B x OFF "D" OFF)\nif(B)\n{_ONE}\nendif()', " -DD=ON -DB=ON"),
        (f'option(D x OFF)\ncmake_dependent_option(B x ON "UNIX;D" OFF)\nif(B)\n{_ONE}\nendif()', " -DD=ON"),
        (f"if(MSVC)\nelseif(CMAKE_SIZEOF_VOID_P EQUAL 8)\n{_ONE}\nendif()", ""),
        (f"if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 8.0)\nelse()\n{_ONE}\nendif()", ""),
        (f"if(CMAKE_VERSION VERSION_LESS 3.8)\nelse()\n{_ONE}\nendif()", ""),
        (f"find_package(benchmark)\nif(benchmark_FOUND AND TARGET benchmark::benchmark)\n{_ONE}\nendif()", ""),
        ("function(add_one name)\nadd_executable(${name} ${ARGN})\nendfunction()\nadd_one(speed b.cc)", ""),
        ("macro(one)\ncmake_parse_arguments(A \"\" \"NAME\" \"SRCS\" ${ARGN})\nadd_executable(${A_NAME} ${A_SRCS})\nendmacro()\none(NAME speed SRCS b.cc)", ""),
        ("set(ALL speed)\nforeach(each IN LISTS ALL)\nadd_executable(${each} b.cc)\nendforeach()", ""),
        ("file(GLOB S *.cc)\nforeach(s ${S})\nget_filename_component(n ${s} NAME_WE)\nstring(REPLACE b speed n ${n})\nadd_executable(${n} ${s})\nendforeach()", ""),
        (f"function(CPMAddPackage)\nCPMAddPackage()\nCPMAddPackage()\nendfunction()\nCPMAddPackage(x)\n{_ONE}", ""),
        (f"option(A x OFF)\noption(BENCHES x OFF)\nif(A OR BENCHES)\n{_ONE}\nendif()", " -DBENCHES=ON"),
        (f"include(cmake/more.cmake)\nif(MORE)\n{_ONE}\nendif()", " -DMORE=ON"),
        (f"list(APPEND CMAKE_MODULE_PATH cmake)\ninclude(more)\nif(MORE)\n{_ONE}\nendif()", " -DMORE=ON"),
    ],
)  # fmt: skip
def test_google_benchmark(project: Project, text: str, options: str) -> None:
    files = {"CMakeLists.txt": text, "b.cc": _GOOGLE, "cmake/more.cmake": "option(MORE x OFF)\n"}
    config = written(project(files))
    (benchmark,) = config.benchmark
    assert (benchmark.name, benchmark.instrument) == ("speed", "google-benchmark")
    assert benchmark.command == ["./build/speed", "--benchmark_min_time=0.2"]
    # linked again in each build, compiled in the first
    assert config.build.command == (
        f"cmake -S . -B build -DCMAKE_BUILD_TYPE=Release{options} && rm -f build/speed"
        " && cmake --build build --parallel 2 --target speed"
    )
    assert config.build.artifacts == ["build/speed"]


def test_benchmarks_in_a_directory_behind_an_option(project: Project) -> None:
    files = {
        "CMakeLists.txt": "option(BENCH x OFF)\nadd_executable(app a.c)\nif(BENCH)\nadd_subdirectory(bench)\nendif()",
        "a.c": "int main(void) { return 0; }",
        "bench/CMakeLists.txt": "add_executable(one one.cc)\nadd_executable(two ${CMAKE_CURRENT_SOURCE_DIR}/two.cc)",
        "bench/one.cc": _GOOGLE,
        "bench/two.cc": _GOOGLE,
    }
    found = detected(project(files))
    assert [benchmark.name for benchmark in found.benchmarks] == ["one", "two"]
    assert found.artifacts == ["build/bench/one", "build/bench/two"]
    assert "-DBENCH=ON" in str(found.build)


def test_benchmarks_that_are_a_project_of_their_own(project: Project) -> None:
    files = {
        "CMakeLists.txt": "project(top)\nadd_executable(app a.c)",
        "a.c": "int main(void) { return 0; }",
        "tests/benchmarks/CMakeLists.txt": "project(Speed)\nadd_executable(speed ${CMAKE_SOURCE_DIR}/src/b.cc)",
        "tests/benchmarks/src/b.cc": _GOOGLE,
    }
    config = written(project(files))
    assert config.build.command == (
        "cmake -S tests/benchmarks -B build -DCMAKE_BUILD_TYPE=Release && rm -f build/speed"
        " && cmake --build build --parallel 2 --target speed"
    )


def test_shared_libraries_are_linked_again_as_well(project: Project) -> None:
    found = detected(project({"CMakeLists.txt": f"add_library(core SHARED c.cc)\n{_ONE}", "b.cc": _GOOGLE}))
    assert r"-prune -o \( -name '*.so' -o -name '*.so.[0-9]*' \) -exec rm {} + && cmake --build" in str(found.build)


@pytest.mark.parametrize(
    "text",
    [
        f"if(WIN32)\n{_ONE}\nendif()",
        f"option(B x OFF)\nif(B AND MSVC)\n{_ONE}\nendif()",
        f"if(FOUND_SOMEWHERE)\n{_ONE}\nendif()",
        f"option(B x ON)\nif(NOT B)\n{_ONE}\nendif()",
        f"return()\n{_ONE}",
        f"function(f)\n{_ONE}\nendfunction()",
        f"macro(m)\nm()\n{_ONE}\nendmacro()",
        "foreach(i RANGE 3)\nadd_executable(speed${i} b.cc)\nendforeach()",
    ],
)
def test_what_is_not_surely_built_is_not_measured(project: Project, text: str) -> None:
    assert detected(project({"CMakeLists.txt": text, "b.cc": _GOOGLE})).rank > Rank.RESULTS


def test_a_macro_that_calls_itself_twice_ends(project: Project) -> None:
    text = "macro(m)\nm()\nm()\nendmacro()\nm()\nforeach(a 1 2 3)\nm()\nendforeach()\n"
    assert detected(project({"CMakeLists.txt": text + _ONE, "b.cc": _GOOGLE})).kind == "cmake"


def test_catch2(project: Project) -> None:
    config = written(project({"CMakeLists.txt": "add_executable(tests b.cc)", "b.cc": _CATCH2}))
    (benchmark,) = config.benchmark
    assert (benchmark.instrument, benchmark.format) == ("values", "catch2")
    assert benchmark.command == ["./build/tests", "[!benchmark]", "--reporter", "xml", "--out", "{output}"]
    assert config.plan.iterations == 1


@pytest.mark.parametrize(
    "text", [_CATCH2.replace("[sort][!benchmark]", "[sort]"), _CATCH2.replace('TEST_CASE("speed"', 'MY_CASE("speed"')]
)
def test_catch2_without_a_tag_runs_everything(project: Project, text: str) -> None:
    config = written(project({"CMakeLists.txt": "add_executable(tests b.cc)", "b.cc": text}))
    assert config.benchmark[0].command == ["./build/tests", "--reporter", "xml", "--out", "{output}"]


def test_nanobench(project: Project) -> None:
    config = written(project({"CMakeLists.txt": _ONE, "b.cc": _NANOBENCH}))
    (benchmark,) = config.benchmark
    assert (benchmark.instrument, benchmark.format, benchmark.command) == ("values", "nanobench", ["./build/speed"])


def test_nanobench_among_unit_tests_is_no_program_of_benchmarks(project: Project) -> None:
    text = _NANOBENCH + 'TEST_CASE("a") {}\n'
    assert detected(project({"CMakeLists.txt": _ONE, "b.cc": text})).rank > Rank.RESULTS


def test_tests_behind_an_option(project: Project) -> None:
    text = "option(T x OFF)\nif(T)\nenable_testing()\nadd_executable(tests t.c)\nadd_test(t tests)\nendif()"
    config = written(project({"CMakeLists.txt": text, "t.c": "int main(void) { return 0; }"}))
    assert config.benchmark[0].command == "cd build && ctest --output-on-failure --no-tests=error"
    assert "-DCMAKE_BUILD_TYPE=Release -DT=ON && find build " in str(config.build.command)


def test_an_example_is_no_program_to_measure(project: Project) -> None:
    text = "enable_testing()\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\nadd_test(a b)\nadd_subdirectory(example)"
    main = {"example/CMakeLists.txt": "add_executable(lookahead m.c)", "example/m.c": "int main(void) { return 0; }"}
    assert detected(project({"CMakeLists.txt": text, **main})).benchmark.name == "ctest"


def test_a_benchmark_program_of_ones_own_before_an_example(project: Project) -> None:
    text = "option(B x OFF)\nadd_executable(ex_one m.c)\nif(B)\nadd_executable(insert_bench m.c)\nendif()"
    found = detected(project({"CMakeLists.txt": text, "m.c": "int main(void) { return 0; }"}))
    assert found.benchmark.command == ["./build/insert_bench"]
    assert "-DB=ON" in str(found.build)


_DOCTEST = """
#include <nanobench.h>
#include <doctest/doctest.h>
TEST_CASE("sorts") { Bench().run("a", f).run("b", g); }
TEST_CASE("searches" * doctest::skip()) { Bench().run("c", f); }
TEST_CASE("again") { Bench().run("a", f); }
TEST_CASE("grows") { Bench().complexityN(n).run("d", f); }
TEST_CASE("writes nothing") { Bench().output(nullptr).run("e", f); }
TEST_CASE("unit_run") { Bench().run("g", f); }
TEST_CASE("is a test") { CHECK(f()); }
"""


def test_nanobench_in_test_cases_of_doctest(project: Project) -> None:
    directory = project({"CMakeLists.txt": _ONE, "b.cc": _DOCTEST})
    (benchmark,) = written(directory).benchmark
    assert benchmark.command == ["./build/speed", "--test-case=sorts,searches", "--no-skip"]
    # two results of one name are refused
    assert "a name of its own: again\n" in (directory / "perfgate.toml").read_text(encoding="utf-8")


def test_nanobench_in_test_cases_of_catch2(project: Project) -> None:
    text = "#include <nanobench.h>\n#include <catch2/catch_all.hpp>\n"
    text += 'TEST_CASE("it sorts", "[.]") { Bench().run("a", f); }\nTEST_CASE("a, b") { Bench().run("b", f); }\n'
    assert detected(project({"CMakeLists.txt": _ONE, "b.cc": text})).benchmark.command == ["./build/speed", "it sorts"]


def test_sources_are_named_from_where_the_command_stands(project: Project) -> None:
    files = {
        "CMakeLists.txt": "add_executable(speed)\nadd_subdirectory(inner)",
        "inner/CMakeLists.txt": "target_sources(speed PRIVATE b.cc)",
        "inner/b.cc": _GOOGLE,
    }
    assert detected(project(files)).benchmark.instrument == "google-benchmark"


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("option(BUILD_SHARED_LIBS x ON)", True),
        ("if(DEFINED X)\noption(BUILD_SHARED_LIBS x OFF)\nelse()\noption(BUILD_SHARED_LIBS x ON)\nendif()", True),
        ("set(BUILD_SHARED_LIBS ON CACHE BOOL x)", True),
        ("option(BUILD_SHARED_LIBS x)", False),
        ("set(BUILD_SHARED_LIBS OFF)", False),
    ],
)
def test_libraries_that_are_shared_by_default(project: Project, text: str, again: bool) -> None:
    found = detected(project({"CMakeLists.txt": f"{text}\nadd_library(core c.cc)\n{_ONE}", "b.cc": _GOOGLE}))
    assert ("-name '*.so'" in str(found.build)) is again


def test_the_help_of_a_benchmark_is_no_benchmark(project: Project) -> None:
    main = 'int main(int argc, char **argv) { return strcmp(argv[1], "--help"); }'
    found = detected(project({"CMakeLists.txt": "add_executable(my_bench m.c)", "m.c": main}))
    assert found.benchmark.name == "placeholder"
    assert found.artifacts == ["build/my_bench"]


def test_a_program_that_complains_of_its_arguments_is_left_out(project: Project) -> None:
    own = (
        _GOOGLE
        + "int main(int argc, char **argv) {\n  if (argc != 2) exit(1);\n  benchmark::Initialize(&argc, argv);\n}\n"
    )
    files = {"CMakeLists.txt": f"{_ONE}\nadd_executable(other c.cc)", "b.cc": _GOOGLE, "c.cc": own}
    found = detected(project(files))
    assert [benchmark.name for benchmark in found.benchmarks] == ["speed"]
    assert found.notes == ["other needs arguments not known here"]
