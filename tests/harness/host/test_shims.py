"""Shims, written as the version managers write theirs."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.host.shims import Shim, behind, shims
from tests.support.project import executable

Environment = Callable[..., dict[str, str]]
PYENV = """\
#!/usr/bin/env bash
set -e
[ -n "$PYENV_DEBUG" ] && set -x

program="${{0##*/}}"

export PYENV_ROOT="{root}"
exec "{manager}" exec "$program" "$@"
"""
ASDF = """\
#!/usr/bin/env bash
# asdf-plugin: python 3.12.1
exec {manager} exec "python" "$@" # asdf_allow: ' asdf '
"""
MANAGER = """\
#!/bin/sh
if [ "$1" = which ]; then echo "{program}"; exit; fi
{first}
shift 2
exec "{program}" "$@"
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return executable(tmp_path / "versions" / "python", "#!/bin/sh\n")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Put folders first on the PATH of whoever starts perfgate, and return it."""

    def made(*folders: Path) -> dict[str, str]:
        monkeypatch.setenv("PATH", os.pathsep.join([*map(str, folders), os.environ["PATH"]]))
        return {"PATH": os.environ["PATH"]}

    return made


def found(environment: dict[str, str], directory: Path, *commands: list[str] | str) -> dict[Shim, list[str]]:
    return shims(environment, directory, {str(number): command for number, command in enumerate(commands)})


@pytest.mark.parametrize(("template", "name"), [(PYENV, "pyenv"), (ASDF, "asdf")])
@pytest.mark.parametrize("by_path", [True, False])
def test_a_script_that_starts_the_manager(
    tmp_path: Path, program: Path, environment: Environment, template: str, name: str, by_path: bool
) -> None:
    log = tmp_path / "log"
    manager = executable(tmp_path / "bin" / name, f'#!/bin/sh\necho "$1" >> {log}\necho "{program}"\n')
    shim = executable(
        tmp_path / "shims" / "python", template.format(root=tmp_path, manager=manager if by_path else name)
    )
    commands = (
        ["python", "bench.py"], ["/usr/bin/env", "A=b", "python", "bench.py"], "SEED=1 exec python bench.py | tail",
    )  # fmt: skip
    there = environment(shim.parent, manager.parent)
    assert found(there, tmp_path, *commands) == {Shim(name, str(shim), str(program)): ["0", "1", "2"]}
    # it is asked once, and nothing is started
    assert log.read_text() == "which\n"
    # asdf chooses by folders: it is not asked where what it would say is of no use
    before = behind(there, ["python bench.py"], [])["PATH"].startswith(f"{program.parent}{os.pathsep}")
    assert (before, log.read_text().count("which")) == ((True, 2) if name == "pyenv" else (False, 1))


def test_other_ways_to_stand_before_a_program(tmp_path: Path, program: Path, environment: Environment) -> None:
    # a link to a program that looks at its own name
    volta = executable(tmp_path / "bin" / "volta", MANAGER.format(program=program, first=""))
    executable(tmp_path / "bin" / "volta-shim", f'#!/bin/sh\nexec "{program}" "$@"\n')
    (tmp_path / "bin" / "node").symlink_to("volta-shim")
    expected = Shim("volta", str(volta.parent / "node"), str(program))
    assert list(found(environment(volta.parent), tmp_path, ["node", "x.js"])) == [expected]
    # nvm names the program as its first argument
    text = f'#!/usr/bin/env bash\n# nvm.sh\nPATH="{program.parent}:$PATH"\nexec "$@"\n'
    shim = executable(tmp_path / "nvm-exec", text)
    expected = Shim("nvm", str(shim), str(program))
    assert list(found(environment(), tmp_path, [str(shim), "python", "x.py"])) == [expected]
    # a manager that does not tell
    manager = executable(tmp_path / "bin" / "pyenv", "#!/bin/sh\nexit 1\n")
    shim = executable(tmp_path / "shims" / "python", PYENV.format(root=tmp_path, manager=manager))
    assert list(found(environment(), tmp_path, [str(shim)])) == [Shim("pyenv", str(shim), "")]


def test_what_is_no_shim(tmp_path: Path, program: Path, environment: Environment) -> None:
    shim = executable(tmp_path / "python", PYENV.format(root=tmp_path, manager="pyenv"))
    other = executable(tmp_path / "bin" / "python", '#!/bin/sh\nexec "$PYTHON" "$@"\n')
    commands = (["python"], ["./python", "x"], [str(other)], ["missing"], "'unfinished", "", ["sh", "-c", "x"])
    assert found(environment(program.parent), tmp_path, *commands) == {}
    # nor what the project chooses: its own words start nothing outside of the sandbox
    own = os.pathsep.join([str(shim.parent), os.environ["PATH"]])
    for chosen in ({"PATH": own}, {"PATH": os.environ["PATH"], "PYENV_ROOT": str(tmp_path)}):
        assert found(chosen, tmp_path, ["python", "bench.py"], [str(shim)]) == {}
