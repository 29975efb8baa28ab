"""Completion as a person has it: in real shells, within a project."""

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gate.cli.catalogue import entries, kind, setting_keys
from gate.cli.main import main
from gate.commands.completion.command import candidates

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells of POSIX")

LINES: Mapping[str, set[str]] = {
    "perfgate che": {"check"}, "perfgate check --ba": {"--base", "--base-command"},
    "perfgate check --base ": {"main", "v1.0", "topic/x"}, "perfgate check --head=to": {"topic/x"},
    "perfgate check --set gate.thr": {"gate.threshold="}, "perfgate study ana": {"analyse"},
    "perfgate study analyse --quan": {"--quantiles"}, "perfgate init --workflow tr": {"trusted"},
    "perfgate completion ": {"bash", "fish", "zsh"}, "perfgate check --config=perf": {"perfgate.toml"},
    "perfgate check --rules b": {"base"},
}  # fmt: skip

BASH = """
source "$1"
words=($2); [[ $2 != *" " ]] || words+=("")
# as readline does, which makes a word of "="
COMP_WORDS=()
for word in "${words[@]}"; do
    if [[ $word == --*=* ]]; then COMP_WORDS+=("${word%%=*}" = "${word#*=}"); else COMP_WORDS+=("$word"); fi
done
[[ $2 != *" " ]] || COMP_WORDS[${#COMP_WORDS[@]}-1]=""
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_perfgate
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
expect() { local piece all=""; while zpty -r shell piece; do all+=$piece; [[ $all != *$1* ]] || break; done; print -r -- "$all" }
zpty -w shell "PS1=; stty columns 200; autoload -Uz compinit; compinit -u -D; source '$1'; print rea''dy"
expect ready >/dev/null
# shows what matches, and does not complete it
zpty -w shell "show() { compstate[insert]=; compstate[list]='list force packed' }; compprefuncs=(); comppostfuncs=(show); zstyle ':completion:*' list-grouped false; LISTMAX=10000; print go''od"
expect good >/dev/null
zpty -w -n shell "$2"$'\\t'
# with more input before it, the line editor would not draw the list
expect "$3"
zpty -w -n shell $'\\x15print do\\'\\'ne\\n'
expect done
zpty -d shell
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("project")
    (top / "perfgate.toml").touch()
    environment = {**os.environ, **{f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}  # fmt: skip
    for command in ("init -q -b main", "add perfgate.toml", "commit -q -m one", "tag v1.0", "branch topic/x"):
        subprocess.run(["git", *command.split()], cwd=top, check=True, env=environment)
    return top


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scripts")
    for shell in ("bash", "zsh", "fish"):
        out, err = io.StringIO(), io.StringIO()
        assert main(["completion", shell], out, err) == 0
        (folder / shell).write_text(out.getvalue(), encoding="utf-8")
    return folder


def answer(command: list[str], cwd: Path) -> str:
    home = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(cwd))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, **home, "PATH": path, "TERM": "dumb"}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert done.stderr == ""
    return done.stdout


def in_bash(script: Path, line: str, cwd: Path) -> set[str]:
    return set(answer(["bash", "--norc", "-c", BASH, "bash", str(script), line], cwd).split("\n")) - {""}


def in_fish(script: Path, line: str, cwd: Path) -> set[str]:
    text = answer(["fish", "--no-config", "-c", f"source {script}; complete -C $argv", line], cwd)
    return {row.partition("\t")[0] for row in text.splitlines()}


def in_zsh(script: Path, line: str, cwd: Path, last: str) -> str:
    return answer(["zsh", "-f", "-c", ZSH, "zsh", str(script), line, last], cwd)


# one of each kind: a shell and what it asks take a tenth of a second a line, and a shell within a terminal ten times that
ONE_OF_EACH = list(LINES)[:5]
FILES = "perfgate check --config=perf"
"""The shell itself knows files."""


@pytest.mark.parametrize("line", [line for line in LINES if line != FILES])
def test_what_a_shell_asks_for(line: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert {each.rstrip("/") for each in candidates(line.replace("=", " = ").split(" "))[1]} == LINES[line]


@pytest.mark.endtoend
@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize("line", [*ONE_OF_EACH, FILES])
def test_what_completes_a_line(shell: str, line: str, project: Path, scripts: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    found = (in_bash if shell == "bash" else in_fish)(scripts / shell, line, project)
    if shell == "fish" and "=" in line:
        found = {each.partition("=")[2] for each in found}
    # a shell that knows file names puts the slash behind a folder itself; fish takes a part of a word too
    plain, wanted = ({each.rstrip("/") for each in words} for words in (found, LINES[line]))
    assert wanted <= plain if shell == "fish" else wanted == plain


def test_no_program_of_the_project_is_started(project: Path, scripts: Path) -> None:
    own = project / "bin/perfgate"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\ntouch started\n", encoding="utf-8")
    own.chmod(0o755)
    assert in_bash(scripts / "bash", "bin/perfgate che", project) == {"check"}
    assert not (project / "started").exists()


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize("line", ONE_OF_EACH)
def test_what_completes_a_line_in_zsh(line: str, project: Path, scripts: Path) -> None:
    text = in_zsh(scripts / "zsh", line, project, max(LINES[line]))
    assert LINES[line] <= set(re.split(r"[\s\x1b]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", text))), text


def test_every_command_and_option_completes() -> None:
    for entry in entries():
        _, options = candidates(["perfgate", *entry.name.split(), "-"])
        assert {each.flag for each in entry.parameters if each.flag} < options.keys()
        *above, name = entry.name.split()
        assert name in candidates(["perfgate", *above, name[:2]])[1]
    for line in ("perfgate nosuch ", "perfgate check --base= --rules=nosuch", "perfgate config x y"):
        assert candidates(line.split(" "))[1] == {}


def test_known_values_are_those_that_the_help_names_and_keys_those_of_the_configuration() -> None:
    known = [each for entry in entries() for each in entry.parameters if each.known and not each.choices]
    assert len(known) == 3
    for each in known:
        assert all(word in each.help for word in each.known) and kind(each) == "words"
    assert {"gate.threshold", "plan.budget", "study.replicates", "creep.against"} <= set(setting_keys())
    assert not any(key.startswith(("benchmark.", "override.", "accept.")) for key in setting_keys())
