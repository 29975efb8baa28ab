"""Shims, written as the version managers write theirs."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.host.shims import Shim, Shims

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


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return script(tmp_path / "versions" / "python", "#!/bin/sh\n")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Put folders first on the PATH of whoever starts perfgate, and return it."""

    def made(*folders: Path) -> dict[str, str]:
        monkeypatch.setenv("PATH", os.pathsep.join([*map(str, folders), os.environ["PATH"]]))
        return {"PATH": os.environ["PATH"]}

    return made


@pytest.mark.parametrize(("template", "name"), [(PYENV, "pyenv"), (ASDF, "asdf")])
@pytest.mark.parametrize("by_path", [True, False])
def test_a_script_that_starts_the_manager(
    tmp_path: Path, program: Path, environment: Environment, template: str, name: str, by_path: bool
) -> None:
    manager = script(tmp_path / "bin" / name, MANAGER.format(program=program, first=""))
    shim = script(tmp_path / "shims" / "python", template.format(root=tmp_path, manager=manager if by_path else name))
    for command in (
        ["python", "bench.py"],
        ["/usr/bin/env", "A=b", "python", "bench.py"],
        "SEED=1 exec python bench.py | tail",
    ):
        found = Shims(environment(shim.parent, manager.parent), tmp_path).find(command)
        assert found is not None
        assert (found.manager, found.path, found.program) == (name, str(shim), str(program))
        assert found.seconds is not None


def test_what_it_takes_longer_is_measured(tmp_path: Path, program: Path, environment: Environment) -> None:
    manager = script(tmp_path / "bin" / "pyenv", MANAGER.format(program=program, first="sleep 0.2"))
    shim = script(tmp_path / "shims" / "python", PYENV.format(root=tmp_path, manager=manager))
    found = Shims(environment(shim.parent), tmp_path).find(["python", "bench.py"])
    assert found is not None
    assert found.seconds is not None
    # it sleeps for 0.2 s; the program behind it does nothing
    assert found.seconds > 0.1


def test_a_link_to_a_program_that_looks_at_its_own_name(
    tmp_path: Path, program: Path, environment: Environment
) -> None:
    volta = script(tmp_path / "bin" / "volta", MANAGER.format(program=program, first=""))
    script(tmp_path / "bin" / "volta-shim", f'#!/bin/sh\nexec "{program}" "$@"\n')
    (tmp_path / "bin" / "node").symlink_to("volta-shim")
    found = Shims(environment(volta.parent), tmp_path).find(["node", "x.js"])
    assert found is not None
    assert (found.manager, found.path, found.program) == ("volta", str(volta.parent / "node"), str(program))


def test_nvm_names_the_program_as_its_first_argument(tmp_path: Path, program: Path, environment: Environment) -> None:
    text = f'#!/usr/bin/env bash\n# nvm.sh\nPATH="{program.parent}:$PATH"\nexec "$@"\n'
    shim = script(tmp_path / "nvm-exec", text)
    found = Shims(environment(), tmp_path).find([str(shim), "python", "x.py"])
    assert found is not None
    assert (found.manager, found.program) == ("nvm", str(program))


def test_a_manager_that_does_not_tell(tmp_path: Path, environment: Environment) -> None:
    manager = script(tmp_path / "bin" / "pyenv", "#!/bin/sh\nexit 1\n")
    shim = script(tmp_path / "shims" / "python", PYENV.format(root=tmp_path, manager=manager))
    assert Shims(environment(), tmp_path).find([str(shim)]) == Shim("pyenv", str(shim), "", None)


@pytest.mark.parametrize("command", [["python"], ["./python", "x"], ["missing"], "'unfinished", "", ["sh", "-c", "x"]])
def test_what_is_no_shim(tmp_path: Path, program: Path, environment: Environment, command: str | list[str]) -> None:
    script(tmp_path / "python", '#!/bin/sh\nexec "$PYTHON" "$@"\n')
    assert Shims(environment(program.parent), tmp_path).find(command) is None


def test_a_manager_that_only_the_project_names_is_not_asked(tmp_path: Path, program: Path) -> None:
    log = tmp_path / "log"
    manager = script(tmp_path / "bin" / "pyenv", MANAGER.format(program=program, first=f'echo started >> "{log}"'))
    shim = script(tmp_path / "shims" / "python", PYENV.format(root=tmp_path, manager=manager))
    own = os.pathsep.join([str(shim.parent), os.environ["PATH"]])
    for chosen in ({"PATH": own}, {"PATH": os.environ["PATH"], "PYENV_ROOT": str(tmp_path)}):
        assert Shims(chosen, tmp_path).find(["python", "bench.py"]) is None
        assert Shims(chosen, tmp_path).find([str(shim)]) is None
    assert not log.exists()


def test_each_shim_is_started_once_however_many_benchmarks_it_has(
    tmp_path: Path, program: Path, environment: Environment
) -> None:
    log = tmp_path / "log"
    text = MANAGER.format(program=program, first=f'echo started >> "{log}"')
    manager = script(tmp_path / "bin" / "pyenv", text)
    script(tmp_path / "shims" / "python", PYENV.format(root=tmp_path, manager=manager))
    shims = Shims(environment(tmp_path / "shims", manager.parent), tmp_path)
    found = {shims.find(["python", f"bench{n}.py"]) for n in range(20)}
    assert len(found) == 1 and None not in found
    assert log.read_text().splitlines() == ["started"] * 3
