"""A wrapper of the linker: gcc and clang call it, and it passes objects and functions on in the order of the seed.

Started by itself (`python -I -S linker.py SHIM ARGUMENT...`) for every link of a build, so it imports little. It keeps
a record of the link where PERFGATE_LINKS names a folder for it. Whatever it does not understand stays as it was: a
build must never fail of it.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.build import archives, functions
from harness.build.order import permuted, relocatable, runs

# Longer command lines go through a response file: exec takes at most a quarter of the stack, 2 MiB by default.
_LONGEST = 500_000
_FUSE = "-fuse-ld="
_LINKS = "PERFGATE_LINKS"  # as record.LINKS
# Options that write a file besides the output.
BESIDES = ("-Map=", "--Map=", "--dependency-file=", "-dependency-file=", "-plugin-opt=-fresolution=")
_COMPILERS = ("-gcc", "-g++", "-cc", "-c++", "-gfortran")
BESIDES_NEXT = ("-Map", "--Map", "--dependency-file", "-dependency-file")


def expanded(arguments: Sequence[str], depth: int = 8) -> list[str]:
    """Replace @FILE by what the file holds; one that cannot be read stays, as with ld.

    Raises: ValueError: files that name each other without end.
    """
    if depth == 0:
        raise ValueError("response files nest too deeply")
    result: list[str] = []
    for argument in arguments:
        try:
            words = None
            if argument.startswith("@"):
                with open(argument[1:], errors="surrogateescape") as file:
                    words = _words(file.read())
        except OSError:
            words = None
        result.extend([argument] if words is None else expanded(words, depth - 1))
    return result


def _words(text: str) -> list[str]:
    # as libiberty's buildargv: a backslash escapes within quotes too
    words: list[str] = []
    word: str | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\":
            word = (word or "") + next(characters, "")
        elif quote:
            word, quote = ((word or ""), "") if character == quote else ((word or "") + character, quote)
        elif character in "'\"":
            word, quote = word or "", character
        elif not character.isspace():
            word = (word or "") + character
        elif word is not None:
            words.append(word)
            word = None
    return words if word is None else [*words, word]


def shortened(arguments: list[str]) -> list[str]:
    """Put arguments too long for exec into a response file in memory, which the real linker inherits."""
    if sum(len(argument) + 9 for argument in arguments) < _LONGEST:
        return arguments
    escaped = ("".join("\\" + c if c.isspace() or c in "'\"\\" else c for c in a) or '""' for a in arguments)
    file = os.memfd_create("arguments", 0)
    with open(file, "w", errors="surrogateescape", closefd=False) as out:
        out.write("\n".join(escaped))
    return [f"@/proc/self/fd/{file}"]


def _first(names: Sequence[str], path: str, shim: str) -> str | None:
    own = os.path.dirname(shim)
    for name in dict.fromkeys(names):
        for directory in path.split(os.pathsep):
            place = os.path.join(directory or ".", name)  # as COMPILER_PATH has it
            usable = os.path.isfile(place) and os.access(place, os.X_OK)
            if usable and not os.path.samefile(own, directory or "."):
                return place
    return None


def _of_clang(shim: str, environment: Mapping[str, str]) -> str | None:
    parent = f"/proc/{os.getppid()}"
    try:
        program = os.readlink(f"{parent}/exe")
        with open(f"{parent}/cmdline", "rb") as file:
            given = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return None
    if not any(name in os.path.basename(program) for name in ("clang", "flang")):
        return None
    import subprocess  # 10 ms that only clang costs

    others = [d for d in environment.get("COMPILER_PATH", "").split(os.pathsep) if d and d != os.path.dirname(shim)]
    asked = subprocess.run(
        [*given, f"-print-prog-name={os.path.basename(shim)}"], executable=program,
        env={**environment, "COMPILER_PATH": os.pathsep.join(others)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    answer = asked.stdout.strip()
    return answer if os.path.isabs(answer) and os.access(answer, os.X_OK) else None


def resolved(shim: str, arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[str, list[str]] | None:
    """Return the linker that would have been taken without the shims, and what it is to be given; None: there is none.

    gcc's collect2 takes real-ld, collect-ld and ld.NAME or ld from where gcc says (COMPILER_PATH), then from PATH.
    clang is asked itself, with the arguments that it was given.
    """
    path = environment.get("PATH", os.defpath)
    if os.path.basename(shim) != "collect-ld":
        asked = _of_clang(shim, environment) or _first((os.path.basename(shim),), path, shim)
        return (asked, list(arguments)) if asked else None
    fused = [argument.removeprefix(_FUSE) for argument in arguments if argument.startswith(_FUSE)]
    name = f"ld.{fused[-1]}" if fused else "ld"
    named = _first(("real-ld", "collect-ld", name), environment.get("COMPILER_PATH", ""), shim)
    # a cross compiler's linker is called as it is: aarch64-linux-gnu-gcc, aarch64-linux-gnu-ld
    parts = (environment.get("COLLECT_GCC", "").rpartition("/")[2].rpartition(tool) for tool in _COMPILERS)
    prefix = next((f"{head}-" for head, found, _ in parts if found), "")
    linker = named or _first((prefix + name, name), path, shim)
    if linker is None:
        return None
    # collect2 leaves it to a collect-ld, and no other linker knows it
    own = linker.endswith("collect-ld")
    return linker, [each for each in arguments if own or not each.startswith(_FUSE)]


class Arrangement:
    """How a link is ordered by the seed.

    arguments: in that order, with copies of archives. plain: the same with the archives themselves. options: further
    ones, that order functions. copies: their names, and the archives'. ordered: what is.
    """

    __slots__ = ("arguments", "copies", "options", "ordered", "plain")

    def __init__(
        self, plain: list[str], options: list[str], by_place: Mapping[int, tuple[str, str]], ordered: str
    ) -> None:
        self.plain, self.options, self.ordered = plain, options, ordered
        self.arguments = [by_place.get(place, (argument,))[0] for place, argument in enumerate(plain)]
        self.copies = dict(by_place.values())

    def close(self) -> None:
        """Give back the files in memory."""
        for argument in (*self.options, *self.copies):
            _, found, number = argument.partition("/proc/self/fd/")
            if found:
                os.close(int(number))


def arranged(
    linker: str, arguments: Sequence[str], seed: int, located: Callable[[str], str], directory: str, tree: str
) -> Arrangement:
    """Put the inputs of a link in the order of the seed.

    located: where the file that an argument names is now. directory: that of the link, which names are relative to.
    tree: the root of what is built.
    """
    found = runs(arguments, lambda argument: relocatable(located(argument)))
    plain = permuted(arguments, found, seed, directory)
    alone = [located(arguments[place]) for run in found for place in run]
    by_place = archives.copies(plain, seed, located, directory, tree, alone)
    objects = bool(by_place) or any(len(run) > 1 for run in found)
    options, by_name = functions.ordering(linker, arguments, seed, located, objects)
    ordered = "+".join(filter(None, ("objects" if objects else "", by_name)))
    return Arrangement(plain, options, by_place, ordered or "nothing")


def run(linker: str, arrangement: Arrangement) -> int:
    """Link; once more without options and copies where it fails with them. Return the exit status."""
    if arrangement.options or arrangement.copies:
        told = os.memfd_create("told", 0)
        if _wait(linker, [*arrangement.arguments, *arrangement.options], told) == 0:
            os.write(2, os.pread(told, os.fstat(told).st_size, 0))
            # name archives, not their copies, in what make reads of a link's inputs
            words = arrangement.plain
            for place, argument in enumerate(words):
                if not arrangement.copies or not (argument in BESIDES_NEXT or argument.startswith(BESIDES[:-1])):
                    continue
                path = argument.partition("=")[2] or "".join(words[place + 1 : place + 2])
                try:
                    with open(path, "rb") as file:
                        text = was = file.read()
                    # the longest first: one number may begin with another
                    for copy in sorted(arrangement.copies, key=len, reverse=True):
                        text = text.replace(copy.encode(), os.fsencode(arrangement.copies[copy]))
                    if text != was:
                        with open(path, "wb") as file:
                            file.write(text)
                except OSError:
                    continue
            return 0
    return _wait(linker, arrangement.plain)


def _wait(linker: str, arguments: list[str], told: int | None = None) -> int:
    actions = [] if told is None else [(os.POSIX_SPAWN_DUP2, told, 2)]
    process = os.posix_spawn(linker, [linker, *shortened(arguments)], os.environ, file_actions=actions)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code if code >= 0 else 128 - code


def main(shim: str, arguments: list[str]) -> int:
    """Link as the shim was asked to, in the order of PERFGATE_SEED."""
    found = resolved(shim, arguments, os.environ)
    if found is None:
        sys.exit(f"perfgate: {os.path.basename(shim)}: not found")
    linker, given = found
    try:
        whole, seed = expanded(given), int(os.environ["PERFGATE_SEED"])
        here = os.getcwd()
        arrangement = arranged(linker, whole, seed, str, here, os.environ.get(archives.TREE, here))
        recording = os.environ.get(_LINKS)
    except (KeyError, ValueError, OSError):
        os.execv(linker, [linker, *given])  # noqa: S606  # as if perfgate were not there
    if not recording and not arrangement.options and not arrangement.copies:
        shown = given if arrangement.plain == whole else shortened(arrangement.plain)
        os.execv(linker, [linker, *shown])  # noqa: S606
    if not recording:
        return run(linker, arrangement)
    from harness.build import record  # of the first build only

    link = record.begin(recording, linker, whole)
    status = run(linker, arrangement)
    if link is not None and status == 0:
        record.end(link, arrangement.ordered)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
