"""Whether the failure of perfgate is the failure of the script that runs it: bash goes through the script, alone.

Bash is all that is there. Every other command succeeds and does nothing, and what a test such as `[ -n "$X" ]` gives is
not known, so that both answers are tried. No word of the script leads to a file: `/` becomes `@`, and the sandbox lets
nothing be written outside a throw-away folder.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.process.execute import Command, ProcessExecutor
from harness.sandbox import landlock
from harness.sandbox.landlock import DEVICE, EXECUTE, READ_DIR, READ_FILE, WRITE, Rule
from harness.sandbox.sandbox import Confinement, Room, namespaces

_SECONDS = 5.0
"""A script that takes longer waits for what never comes here: nothing is said of it."""
_REWRITTEN = re.compile(
    r"(?P<kept>\$\{[^}]*\}|\(\(.*?\)\))"
    r"|(?P<test>\[\[\s(?:(?!\$\(|`|\]\]).)*\]\])"  # a keyword, whose answer would be known
    r"|(?P<input>(?<!<)<(?=[ \t]*[\w\"'$./~]))"  # of a file that is not there
    r"|(?P<path>/)",
    re.DOTALL,
)
_INSTEAD = {"test": "test", "input": "<>", "path": "@"}
_KNOWN = {"PATH": "nowhere", "HOME": "home", "LC_ALL": "C.UTF-8", "GITHUB_EVENT_NAME": "pull_request"}
_VARIABLE = re.compile(r"\$\{?([A-Z]\w*)")
_PREAMBLE = r"""
PWD=. BASH=bash SHELL=sh _lines=0
read() { (( _lines++ == 0 )) || { mapfile -t _; return 1; }; }
command_not_found_handle() {
  local word words=" $* "
  mapfile -t _
  case ${1##*@} in "[" | test | grep) return ANSWER ;; esac
  for word do
    shift
    if [[ $word =~ ^(.*@)?(ba|da)?sh$ && " $* " =~ ' '-[a-z]*c' ' ]]; then
      BASH_ENV=PREAMBLE BASH "$@"
      return
    fi
  done
  if [[ $words =~ [\ @](perfgate|-m gate)' '(check|publish|decide)' ' && $words != *' --dry-run '* ]]; then
    : >>.met
    return 1
  fi
  echo "$word"
}
enable -n . source [ test bg bind builtin caller cd command compgen complete compopt dirs disown exec fc fg hash help \
  history jobs kill logout popd pushd pwd read suspend times type ulimit umask enable
"""
_WHOLE = 'set -o pipefail; BASH_ENV=$1 "$0" "${@:2}" 3>&1 >/dev/null | while read -r _; do :; done'
"""Waits for what the script leaves in the background, too."""


def loses(script: str, *, stops: bool, pipefail: bool) -> bool:
    """Return whether a script for bash or sh ends with 0 though perfgate fails in it; where nothing can be run, False.

    Args:
        script: as the workflow has it.
        stops: the shell is started with -e.
        pipefail: it is started with -o pipefail.
    """
    bash = shutil.which("bash")
    if bash is None or landlock.version() < landlock.LEAST:
        return False
    flags = [*(["-e"] if stops else []), *(["-o", "pipefail"] if pipefail else [])]
    known = {name: name for name in _VARIABLE.findall(script) if not re.search(rf"\b{name}=", script)} | _KNOWN
    text = _REWRITTEN.sub(lambda each: _INSTEAD.get(each.lastgroup or "", each[0]), script)
    ended = []
    with TemporaryDirectory() as folder, ExitStack() as stack:
        preamble, file, place = (Path(folder, name) for name in ("preamble", "script", "work"))
        place.mkdir()
        file.write_text(text, encoding="utf-8")
        loaders = [*Path("/").glob("lib*/ld*.so*"), *Path("/lib").glob("*/ld*.so*")]
        rules = [Rule("/", READ_FILE | READ_DIR), Rule(place, WRITE & ~EXECUTE), Rule("/dev/null", DEVICE)]
        ruleset = landlock.ruleset([*rules, Rule(bash, EXECUTE), *(Rule(each, EXECUTE) for each in loaders)])
        stack.callback(os.close, ruleset)
        room = stack.enter_context(closing(Room()))
        executor = stack.enter_context(closing(ProcessExecutor()))
        confined = Confinement(ruleset, -1, *room.entered(namespaces() - {"files"}, network=False))
        argv = (bash, "-c", _WHOLE, bash, str(preamble), "--noprofile", "--norc", *flags, str(file))
        for answer in "01" if re.search(r"\[|test|grep", text) else "0":
            said = _PREAMBLE.replace("ANSWER", answer).replace("=PREAMBLE BASH", f"='{preamble}' '{bash}'")
            preamble.write_text(said, encoding="utf-8")
            outcome = executor.run(Command(argv, place, known, _SECONDS, confined=confined))
            if (place / ".met").exists():
                (place / ".met").unlink()
                ended.append(outcome.status)
    return bool(ended) and not any(ended)
