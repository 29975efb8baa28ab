"""perfgate init on made-up projects with autotools, and with Makefiles in several directories."""

import pytest

from gate.commands.init.found import Rank
from tests.support.initialized import Project, detected, written

_MAIN = "int main(void) { return 0; }\n"
_WANTING = "int main(int argc, char **argv) { return argc < 2 || !argv; }\n"
_HELPING = 'int main(int argc, char **argv) { return strcmp(argv[1], "--help"); }\n'


@pytest.mark.parametrize(
    ("files", "setup"),
    [
        ({}, "autoreconf -fi && ./configure"),
        ({"configure": "#!/bin/sh\n"}, "./configure"),
        ({"autogen.sh": "#!/bin/sh\n"}, "NOCONFIGURE=1 ./autogen.sh && ./configure"),
    ],
)
def test_autotools_program(project: Project, files: dict[str, str], setup: str) -> None:
    own = {"configure.ac": "AC_INIT\n", "Makefile.am": "bin_PROGRAMS = it\nit_SOURCES = src/main.c src/b.c\n"}
    config = written(project({**own, "src/main.c": _HELPING, "src/b.c": _WANTING, **files}))
    assert config.build.setup == setup
    # configured and compiled once a side
    assert config.build.command == "rm -f it .libs/it && make"
    assert config.build.artifacts == ["it"]
    assert config.benchmark[0].command == ["./it", "--help"]


def test_what_autoreconf_installs_may_be_replaced(project: Project) -> None:
    own = {"configure.ac": "AC_INIT\n", "Makefile.am": "bin_PROGRAMS = it\n", "it.c": _HELPING}
    older = {"INSTALL": "", "build-aux/config.guess": "", "m4/libtool.m4": "", "doc/INSTALL": "", "m4/own.m4": ""}
    assert written(project({**own, **older})).build.changes == ["INSTALL", "build-aux/config.guess", "m4/libtool.m4"]
    # it is not run where git tracks what it makes
    assert detected(project({**own, **older, "configure": "#!/bin/sh\n"})).changes == []


def test_autotools_benchmark_before_a_program(project: Project) -> None:
    files = {
        "configure.ac": "AC_INIT\n",
        "Makefile.am": "SUBDIRS = src tests\nbin_PROGRAMS = it\n",
        "it.c": _HELPING,
        "tests/Makefile.am": "if X\ncheck_PROGRAMS = run-tests \\\n  my-bench\nendif\nmy_bench_SOURCES = speed.c\nTESTS = run-tests\n",
        "tests/speed.c": _MAIN,
        "tests/run-tests.c": _MAIN,
    }
    config = written(project(files))
    assert config.benchmark[0].command == ["./tests/my-bench"]
    assert config.build.command == "rm -f tests/my-bench tests/.libs/my-bench && make && make -C tests my-bench"


def test_autotools_tests_are_linked_by_the_build(project: Project) -> None:
    files = {
        "configure.ac": "AC_INIT\nLT_INIT\n",
        "Makefile.am": "SUBDIRS = src test\n",
        "test/Makefile.am": "if X\nTESTS = a b\nelse\nTESTS = a\nendif\ncheck_PROGRAMS = $(TESTS)\n",
        "test/a.c": _WANTING,
    }
    found = detected(project(files))
    assert found.benchmark.command == ["make", "--silent", "check"]
    # once a build; `make check` alone would compile them in the first execution
    assert found.build == "make -C test clean-checkPROGRAMS && make && make check TESTS="
    assert found.setup == "autoreconf -fi && ./configure"
    # a test run takes long, and builds tell more than runs of one build
    assert (found.plan.executions, found.plan.iterations) == (1, 2)


@pytest.mark.parametrize(
    ("configure", "makefile", "options"),
    [
        ("LT_INIT([shared static])\n", "", " --enable-static --disable-shared"),
        ("LT_INIT([dlopen])\n", "", ""),
        ("LT_INIT\n", "pkglib_LTLIBRARIES = plug.la\n", ""),
        ("dnl LT_INIT\n", "", ""),
    ],
)
def test_libtool_makes_a_program_and_no_script(project: Project, configure: str, makefile: str, options: str) -> None:
    files = {"configure.ac": configure, "Makefile.am": f"bin_PROGRAMS = it\n{makefile}", "it.c": _HELPING}
    assert detected(project(files)).setup == f"autoreconf -fi && ./configure{options}"


def test_configure_without_automake(project: Project) -> None:
    text = "CC = @CC@\nall: it@EXEEXT@ lib.a tool\ntool: tool.o\n\t$(CC) -o $@ tool.o\n"
    config = written(project({"configure": "", "configure.in": "", "Makefile.in": text, "tool.c": _MAIN}))
    assert config.benchmark[0].command == ["./tool"]


def test_autotools_library_runs_its_tests(project: Project) -> None:
    files = {"configure.ac": "", "Makefile.am": "bin_PROGRAMS = it\nTESTS = a.sh\n", "it.c": _WANTING}
    config = written(project(files))
    assert config.benchmark[0].command == ["make", "--silent", "check"]
    assert config.build.command == "make"


def test_a_makefile_beside_configure_needs_no_configuring(project: Project) -> None:
    files = {"configure.ac": "", "Makefile.am": "", "Makefile": "all: it\nit: it.c\n\tcc -o it it.c\n", "it.c": _MAIN}
    found = detected(project(files))
    assert (found.kind, found.setup, found.build) == ("make", None, "rm -f it && make all")


def test_make_in_another_directory(project: Project) -> None:
    files = {
        "Makefile": "DIR = programs\ndefault: lib tool\nlib tool:\n\t$(Q)$(MAKE) -C $(DIR) $@\ntest:\n\tfalse\n",
        "programs/Makefile": "tool: cli.o\n\t$(CC) $^ -o $@$(EXT)\nlib:\n\t$(CC) -shared -o lib.so x.c\n",
        "programs/cli.c": _HELPING,
        "core/tool.c": _WANTING.replace("main", "other"),
    }
    found = detected(project(files))
    assert found.benchmark.command == ["./programs/tool", "--help"]
    # a shared library is linked again as well
    assert found.build == "rm -f programs/tool programs/lib.so && make default"


def test_what_a_makefile_says_of_other_systems(project: Project) -> None:
    text = "T= tool\nifeq (Windows,$(OS))\nT= tool.exe\nendif\nall: $(T)\n$(T): tool.c\n\t$(CC) -o $@ tool.c\n"
    assert detected(project({"Makefile": text, "tool.c": _MAIN})).benchmark.command == ["./tool"]


def test_a_benchmark_of_a_folder_with_its_own_makefile(project: Project) -> None:
    files = {
        "Makefile": "all: lib.a\nlib.a: x.o\n\tar r $@ $^\ntest:\n\ttrue\n",
        "x.c": "int x;\n",
        "benchmark/Makefile": "help:\n\techo\nbench: b.c\n\tcc -o bench b.c\n",
        "benchmark/b.c": _MAIN,
    }
    found = detected(project(files))
    assert (found.benchmark.command, found.benchmark.rank) == (["./benchmark/bench"], Rank.BENCHMARK)
    assert found.build == "rm -f benchmark/bench && make all && make -C benchmark bench"


def test_a_tracked_file_of_a_targets_name_whose_needs_are_made(project: Project) -> None:
    files = {"Makefile": "all: tool\n\ttouch all\ntool: tool.c\n\tcc -o tool tool.c\n", "all": "", "tool.c": _MAIN}
    assert detected(project(files)).benchmark.command == ["./tool"]


def test_a_main_without_parameters_wants_no_arguments(project: Project) -> None:
    text = "/* usage: none */ void split(char **argv) { argv[1] = 0; }\nint main(void) { return 0; }\n"
    files = {"Makefile": "all: lib-test\nlib-test: lib.c\n\tcc -o lib-test lib.c\n", "lib.c": text}
    assert detected(project(files)).benchmark.command == ["./lib-test"]


def test_a_program_that_another_make_leaves_where_it_is_found(project: Project) -> None:
    files = {
        "Makefile": (
            "DIR = programs\n.PHONY: all tool\nall: tool\ntool:\n\t$(MAKE) -C $(DIR) $@\n"
            "\tln -sf $(DIR)/tool$(EXT) tool$(EXT)\nclean:\n\t$(MAKE) -C $(DIR) $@\ntest:\n\tsleep 10000\n"
        ),
        "programs/Makefile": "tool:\n\t$(IN_ANOTHER_DIRECTORY)\nclean:\n\trm -rf obj\n",
        "programs/tool.c": _HELPING,
    }
    found = detected(project(files))
    assert (found.benchmark.command, found.artifacts) == (["./programs/tool", "--help"], ["programs/tool"])
    # what is to be removed for another link is not known
    assert found.build == "make clean all"


def test_a_target_that_downloads_is_not_measured(project: Project) -> None:
    files = {
        "Makefile": "all: it\nit: it.o\n\tcc -o it it.o\nbench: data\n\t./it data\ndata:\n\tgit clone https://example.com/x data\n",
        "it.c": _MAIN,
    }
    assert detected(project(files)).benchmark.command == ["./it"]


def test_caches_that_builds_fill_are_written_down(project: Project) -> None:
    assert written(
        project({"Cargo.toml": '[package]\nname = "it"\nversion = "1.0.0"\n', "src/main.rs": ""})
    ).build.write == [
        "~/.cargo/registry",
        "~/.cargo/git",
    ]


def test_without_a_package_manager_there_are_none(project: Project) -> None:
    assert written(project({"Makefile": "it: it.c\n", "it.c": _MAIN})).build.write is None
