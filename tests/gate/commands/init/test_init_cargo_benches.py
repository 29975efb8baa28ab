"""perfgate init on made-up Rust projects with benches."""

import pytest

from gate.commands.init.found import Rank
from tests.support.initialized import Project, detected, init, written

_CRATE = '[package]\nname = "app"\nversion = "0.1.0"\n[dev-dependencies]\ncriterion = "0.5"\n'
_TARGET = '[[bench]]\nname = "my-bench"\nharness = false\n'
_USE = "use criterion::*;\nfn f(c: &mut Criterion) { c.bench_function(n, g); }\ncriterion_main!(x);\n"
_LIBTEST = "#![feature(test)]\n#[bench]\nfn a(b: &mut test::Bencher) {}\n"
_BENCHER = "use bencher::*;\nfn a(b: &mut Bencher) {}\nbenchmark_main!(x);\n"
_DIVAN = "fn main() { divan::main() }\n#[divan::bench]\nfn a() {}\n"
_PROGRAM = {"src/main.rs": "fn main() {}"}


def test_criterion(project: Project) -> None:
    config = written(project({"Cargo.toml": _CRATE + _TARGET, **_PROGRAM, "benches/my-bench.rs": _USE}))
    (benchmark,) = config.benchmark
    assert (benchmark.name, benchmark.instrument) == ("my-bench", "criterion")
    assert benchmark.command == ["./target/bench-my-bench", "--bench", "--warm-up-time=1", "--measurement-time=2"]
    assert config.build.artifacts == ["target/bench-my-bench"]
    # no `-p app`: what the benches depend on may hold another version of app, as with itoa and Criterion
    assert str(config.build.command).splitlines() == [
        "set -e",
        "touch benches/my-bench.rs",
        "cargo bench --no-run --target-dir target --bench my-bench",
        'cp "$(ls -t target/release/deps/my_bench-???????????????? | head -n 1)" target/bench-my-bench',
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"Cargo.toml": _CRATE, "benches/my-bench.rs": _USE},
        {"Cargo.toml": _CRATE + _TARGET.replace("false", "true"), "benches/my-bench.rs": _USE},
        {"Cargo.toml": _CRATE + _TARGET, "benches/my-bench.rs": _LIBTEST},
        {"Cargo.toml": _CRATE + _TARGET, "benches/my-bench.rs": "fn main() {}\n"},
        {"Cargo.toml": _CRATE + _TARGET},
        {"Cargo.toml": _CRATE + _TARGET.replace("my-bench", "$(id)"), "benches/$(id).rs": _USE},
    ],
    ids=["no-target", "harness", "no-harness", "own-main", "no-file", "name"],
)
def test_no_bench(project: Project, files: dict[str, str]) -> None:
    assert detected(project({**files, **_PROGRAM})).rank > Rank.RESULTS


def test_a_bench_gets_the_features_that_it_requires(project: Project) -> None:
    manifest = _CRATE + _TARGET + 'required-features = ["x", "y"]\n'
    config = written(project({"Cargo.toml": manifest, "benches/my-bench.rs": _USE}))
    assert "--target-dir target --features x,y --bench my-bench" in str(config.build.command)


def test_benches_of_one_name_in_a_workspace(project: Project) -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
        "crates/one/Cargo.toml": _CRATE.replace("app", "one") + _TARGET + 'path = "b/x.rs"\n',
        "crates/one/b/x.rs": _USE,
        "crates/two/Cargo.toml": _CRATE.replace("app", "two") + _TARGET,
        "crates/two/benches/my-bench.rs": _USE,
        ".cargo/config.toml": '[build]\ntarget = "x86_64-linux"\n',
    }
    config = written(project(files))
    assert [benchmark.name for benchmark in config.benchmark] == ["one-my-bench", "two-my-bench"]
    assert config.benchmark[0].command == (
        "cd crates/one && ../../target/bench-one-my-bench --bench --warm-up-time=0.5 --measurement-time=1"
    )
    assert str(config.build.command).splitlines()[1:4] == [
        "touch crates/one/b/x.rs",
        "cargo bench --no-run --target-dir target --manifest-path crates/one/Cargo.toml --bench my-bench",
        'cp "$(ls -t target/x86_64-linux/release/deps/my_bench-???????????????? | head -n 1)" target/bench-one-my-bench',
    ]


def test_benches_of_one_package_are_compiled_by_one_command(project: Project) -> None:
    files = {"Cargo.toml": _CRATE, "src/lib.rs": "", "benches/a.rs": _USE, "benches/b.rs": _USE}
    files["Cargo.toml"] += "".join(f'[[bench]]\nname = "{name}"\nharness = false\n' for name in "ab")
    assert str(written(project(files)).build.command).splitlines() == [
        "set -e",
        "touch benches/a.rs benches/b.rs",
        "cargo bench --no-run --target-dir target --bench a --bench b",
        'cp "$(ls -t target/release/deps/a-???????????????? | head -n 1)" target/bench-a',
        'cp "$(ls -t target/release/deps/b-???????????????? | head -n 1)" target/bench-b',
    ]


def test_a_workspace_that_names_itself(project: Project) -> None:
    manifest = _CRATE + '[workspace]\nmembers = [".", "one", ""]\n' + _TARGET
    files = {"Cargo.toml": manifest, "benches/my-bench.rs": _USE, "one/Cargo.toml": _CRATE.replace("app", "one")}
    assert [benchmark.name for benchmark in written(project(files)).benchmark] == ["my-bench"]


def test_benches_in_a_package_beside_the_project(project: Project) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "app"\n',
        "benchmarks/Cargo.toml": _CRATE.replace("app", "benchmarks") + _TARGET,
        "benchmarks/benches/my-bench.rs": _USE,
        "fuzz/Cargo.toml": _CRATE.replace("app", "fuzz") + _TARGET.replace("my-bench", "other"),
        "fuzz/benches/other.rs": _USE,
    }
    config = written(project({**files, **_PROGRAM}))
    assert [benchmark.name for benchmark in config.benchmark] == ["my-bench"]
    assert "--manifest-path benchmarks/Cargo.toml" in str(config.build.command)


@pytest.mark.parametrize(("text", "form"), [(_BENCHER, "libtest"), (_DIVAN, "divan")])
def test_benches_whose_printed_results_are_read(project: Project, text: str, form: str) -> None:
    config = written(project({"Cargo.toml": _CRATE + _TARGET, "benches/my-bench.rs": text}))
    (benchmark,) = config.benchmark
    assert (benchmark.instrument, benchmark.format) == ("values", form)
    assert benchmark.command == ["./target/bench-my-bench", "--bench"]
    assert (config.plan.iterations, benchmark.warmup) == (1, 0)


def test_benches_of_the_compilers_own_kind_need_a_nightly_one(project: Project) -> None:
    directory = project({"Cargo.toml": _CRATE, "src/lib.rs": "", "benches/speed.rs": _LIBTEST})
    config = written(directory)
    assert config.benchmark[0].format == "libtest"
    assert "\ncargo +nightly bench --no-run --target-dir target --bench speed\n" in str(config.build.command)
    assert "need a nightly Rust" in init(directory, force=True)[1]


def test_benches_that_need_a_nightly_compiler_give_way_to_what_does_not(project: Project) -> None:
    files = {"Cargo.toml": _CRATE + _TARGET, "benches/speed.rs": _LIBTEST, **_PROGRAM}
    directory = project(files)
    assert written(directory).benchmark[0].command == ["./target/release/app"]
    (directory / "benches/my-bench.rs").write_text(_USE)
    (directory / "perfgate.toml").unlink()
    assert [benchmark.name for benchmark in written(directory).benchmark] == ["my-bench"]


def test_a_program_whose_arguments_are_not_known_is_no_library(project: Project) -> None:
    source = "fn main() { std::env::args().nth(1).unwrap(); }\n#[test]\nfn t() {}\n"
    _, out, _ = init(project({"Cargo.toml": '[package]\nname = "app"\n', "src/main.rs": source}))
    assert "detected: cargo (Cargo.toml, tests, and program app whose arguments are not known)\n" in out


@pytest.mark.parametrize("text", ['Long("help") => usage(),', 'if arg == "--help" {}'])
def test_a_program_with_another_argument_parser_answers_help(project: Project, text: str) -> None:
    manifest = (
        '[package]\nname = "app"\n[[bin]]\nname = "it"\npath = "crates/core/main.rs"\n[dependencies]\nlexopt = "1"\n'
    )
    files = {"crates/core/main.rs": "fn main() { std::env::args_os(); }", "crates/core/flags/mod.rs": text}
    assert written(project({"Cargo.toml": manifest, **files})).benchmark[0].command == ["./target/release/it", "--help"]
