"""The work that init gives programs: on a file of the project, where their usage or their arguments say so."""

import pytest

from gate.commands.init.detect.result import Rank
from tests.support.initialized import Project, detected, written

_CMAKE = "add_executable(it main.c)"
_LARGE = "[" + "1, " * 50 + "1]"


def _c(usage: str) -> str:
    return f'int main(int argc, char **argv) {{ puts("{usage}"); return argc != 2 || !argv[1]; }}\n'


@pytest.mark.parametrize(
    ("usage", "arguments"),
    [
        (r"Usage: it [OPTION]... [FILE]\nConvert Markdown to HTML.", ["doc/long.md"]),
        (r"\nUsage:\tit [options] <filter> [file...]\nit processes JSON", [".", "data/large.json"]),
        (r"usage: %s [-a|-b] <input> [output]\nReads JSON.", ["data/large.json"]),
        (r"Usage: it <file>\nPrints a hex dump: hex", ["doc/picture.png"]),
        # what it reads is not known, or there is none of it
        (r"Usage: it FILE\nPrints it.", None),
        (r"Usage: it FILE\nReads CSV.", None),
        (r"Usage: it PATTERN FILE\nSearches JSON.", None),
        (r"Usage: it <filter> FILE\nFilters Markdown.", None),
        # it does not leave the file as it is, or does not end
        (r"Usage: it FILE\nCompresses JSON.", None),
        (r"Usage: it FILE\nA JSON editor.", None),
    ],
)
def test_a_program_whose_usage_names_a_file(project: Project, usage: str, arguments: list[str] | None) -> None:
    files = {
        "CMakeLists.txt": _CMAKE,
        "main.c": _c(usage),
        "data/small.json": "[]",
        "data/large.json": _LARGE,
        "data/larger.json": _LARGE + "x",  # is none
        "data/invalid/largest.json": _LARGE + " " * 100,
        "doc/long.md": "# long\n" * 10,
        "CHANGELOG.md": "# longer\n" * 100,
        "doc/picture.png": "\x89PNG" * 200,
    }
    directory = project(files)
    if arguments is None:
        assert detected(directory).benchmark.name == "placeholder"
        return
    (benchmark,) = written(directory).benchmark
    assert benchmark.command == ["./build/it", *arguments]
    assert detected(directory).rank == Rank.PROGRAM
    assert "on a file of the project. Replace it" in (directory / "perfgate.toml").read_text(encoding="utf-8")


_DERIVED = """
#[derive(Debug, Parser)]
#[command(about)]
struct Opt {
    /// The file. Not a long one.
    #[arg(value_name("FILE"))]
    what: Option<PathBuf>,

    #[arg(
        short = 'n',
        help("how many"),
    )]
    length: u64,
}
struct Other {
    path: PathBuf,
}
"""
_BUILT = 'Command::new("it").arg(Arg::new("input").required(true)).arg(Arg::new("n").long("number"))'


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (_DERIVED, ["data.json"]),
        (_BUILT, ["data.json"]),
        (_DERIVED.replace("    length: u64,", "    length: u64,\n    pattern: String,"), ["--help"]),
        (_DERIVED + "#[derive(Subcommand)]\nenum C {}\n", ["--help"]),
        (_BUILT + '.arg(Arg::new("pattern"))', ["--help"]),
    ],
)
def test_a_rust_program_with_a_file_as_its_only_positional_argument(
    project: Project, text: str, arguments: list[str]
) -> None:
    manifest = '[package]\nname = "it"\nversion = "1.0.0"\ndescription = "shows JSON"\n[dependencies]\nclap = "4"\n'
    files = {"Cargo.toml": manifest, "src/main.rs": f"{text}\nfn main() {{}}\n", "data.json": _LARGE}
    assert detected(project(files)).benchmark.command == ["./target/release/it", *arguments]
