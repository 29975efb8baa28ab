"""A wrapper of the linker: gcc and clang call it, and it passes the object files on in random order.

Started by itself (`python -I -S linker.py SHIM ARGUMENT...`) for every link of a build, so it imports nothing of
perfgate and little else. It replaces itself by the real linker. Whatever it does not understand stays as it was:
a build must never fail of it.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# Where these stand the order of objects is a matter of more than speed, or arguments are no plain inputs.
_DOUBTFUL = {
    "r", "i", "Ur", "relocatable",  # the layout of one object file, made for another link
    "script", "default-script", "dT", "c", "mri-script",  # a layout by file: an embedded system's vectors come first
    "b", "format", "oformat",  # inputs or outputs that are no ELF
    "allow-multiple-definition", "muldefs",  # the first definition wins
    "symbol-ordering-file", "section-ordering-file",  # someone chose the order already
}  # fmt: skip
# After an option that may take the next argument as its value, an object stays; these take none.
_VALUELESS = {
    "as-needed", "no-as-needed", "Bstatic", "Bdynamic", "dn", "dy", "static", "pie", "no-pie", "shared", "build-id",
    "eh-frame-hdr", "start-group", "(", "end-group", ")", "whole-archive", "no-whole-archive", "push-state",
    "pop-state", "gc-sections", "no-gc-sections", "export-dynamic", "E", "s", "S", "strip-all", "strip-debug",
    "no-undefined", "end-lib", "relax", "no-relax",
}  # fmt: skip
_OBJECT = (".o", ".obj")
# gcc's own first and last objects: crt1.o, crtbeginS.o, crtn.o, vtv_start.o, libasan_preinit.o
_FIXED = ("crt", "vtv_", "_preinit")
# Longer command lines go through a response file: exec takes at most a quarter of the stack, 2 MiB by default.
_LONGEST = 500_000
_FUSE = "-fuse-ld="


def relocatable(path: str) -> bool:
    """Return whether a file is an object to be linked: ELF of that type (ET_REL), or the bitcode of LLVM.

    What is named .o may be a shared library or an archive, and then its place counts.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib would cost more than the file
            head = file.read(18)
    except OSError:
        return False
    if head.startswith(b"\x7fELF") and len(head) == 18:
        return head[16:] == (b"\1\0" if head[5] == 1 else b"\0\1")
    return head.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b"))


def permuted(arguments: Sequence[str], seed: int, is_object: Callable[[str], bool] = relocatable) -> list[str]:
    """Return a linker's arguments with each run of adjacent object files shuffled by the seed.

    Archives, libraries, options and gcc's own objects keep their places; so does an object that may be the value of
    the option before it. Arguments with a linker script, -r or the like are returned as they are.
    """
    if any(_doubtful(argument) for argument in arguments):
        return list(arguments)
    result = list(arguments)
    draw = _Draw(seed)
    for run in _runs(arguments, is_object):
        for last in range(len(run) - 1, 0, -1):
            other = draw.below(last + 1)
            here, there = run[last], run[other]
            result[here], result[there] = result[there], result[here]
    return result


def _doubtful(argument: str) -> bool:
    return _name(argument) in _DOUBTFUL or argument.startswith("-T") or argument == "muldefs"


def _name(argument: str) -> str:
    # ld takes long options with one dash too
    return argument.lstrip("-").partition("=")[0] if argument.startswith("-") else ""


def _runs(arguments: Sequence[str], is_object: Callable[[str], bool]) -> list[list[int]]:
    """Give the positions of object files that may change places, those of one run together."""
    runs: list[list[int]] = [[]]
    lazily = False  # between --start-lib and --end-lib objects are taken as from an archive
    before = ""
    for place, argument in enumerate(arguments):
        lazily = _name(argument) == "start-lib" or (lazily and _name(argument) != "end-lib")
        if not lazily and _is_named_object(argument) and not _may_take(before) and is_object(argument):
            runs[-1].append(place)
        elif runs[-1]:
            runs.append([])
        before = argument
    return runs


def _is_named_object(argument: str) -> bool:
    name = os.path.basename(argument)  # noqa: PTH119  # pathlib's import is not needed for it
    return argument.endswith(_OBJECT) and argument[0] not in "-@" and not any(part in name for part in _FIXED)


def _may_take(option: str) -> bool:
    if not option.startswith("-") or "=" in option or _name(option) in _VALUELESS:
        return False
    attached = option.startswith(("-L", "-l", "-O")) and len(option) > 2
    return not attached


class _Draw:
    """Random numbers by splitmix64 (Steele, Lea and Flood 2014): the same for every Python, without an import."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return (mixed ^ (mixed >> 31)) % bound


def expanded(arguments: Sequence[str], depth: int = 8) -> list[str]:
    """Replace @FILE by what the file holds; one that cannot be read stays, as with ld.

    Raises:
        ValueError: files that name each other without end.
    """
    if depth == 0:
        raise ValueError("response files nest too deeply")
    result: list[str] = []
    for argument in arguments:
        try:
            text = Path(argument[1:]).read_text(errors="surrogateescape") if argument.startswith("@") else None
        except OSError:
            text = None
        result.extend([argument] if text is None else expanded(_words(text), depth - 1))
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


def _shortened(arguments: list[str]) -> list[str]:
    """Put arguments too long for exec into a response file in memory, which the real linker inherits."""
    if sum(len(argument) + 9 for argument in arguments) < _LONGEST:
        return arguments
    escaped = ("".join("\\" + c if c.isspace() or c in "'\"\\" else c for c in a) or '""' for a in arguments)
    file = os.memfd_create("arguments", 0)
    with open(file, "w", errors="surrogateescape", closefd=False) as out:
        out.write("\n".join(escaped))
    return [f"@/proc/self/fd/{file}"]


def real_linker(shim: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Find the linker that would have been taken without the shims.

    gcc's collect2 takes real-ld, collect-ld and ld.NAME or ld from where gcc says (COMPILER_PATH), then from PATH.
    clang is asked itself, with the arguments that it was given.
    """
    if shim.name == "collect-ld":
        fused = [argument.removeprefix(_FUSE) for argument in arguments if argument.startswith(_FUSE)]
        name = f"ld.{fused[-1]}" if fused else "ld"
        named = _first(("real-ld", "collect-ld", name), environment.get("COMPILER_PATH", ""), shim)
        prefix = _prefix(environment.get("COLLECT_GCC", ""))
        return named or _first((prefix + name, name), environment.get("PATH", os.defpath), shim)
    return _of_clang(shim, environment) or _first((shim.name,), environment.get("PATH", os.defpath), shim)


def _first(names: Sequence[str], path: str, shim: Path) -> str | None:
    for name in dict.fromkeys(names):
        for directory in path.split(os.pathsep):
            place = os.path.join(directory or ".", name)  # noqa: PTH118  # as COMPILER_PATH has it
            if os.path.isfile(place) and os.access(place, os.X_OK) and not shim.parent.samefile(directory or "."):  # noqa: PTH113
                return place
    return None


def _prefix(compiler: str) -> str:
    # a cross compiler's linker is called as it is: aarch64-linux-gnu-gcc, aarch64-linux-gnu-ld
    name = os.path.basename(compiler)  # noqa: PTH119
    for tool in ("-gcc", "-g++", "-cc", "-c++", "-gfortran"):
        head, found, _ = name.rpartition(tool)
        if found:
            return head + "-"
    return ""


def _of_clang(shim: Path, environment: Mapping[str, str]) -> str | None:
    parent = Path(f"/proc/{os.getppid()}")
    try:
        program = os.readlink(parent / "exe")  # noqa: PTH115
        given = [os.fsdecode(word) for word in (parent / "cmdline").read_bytes().split(b"\0")[:-1]]
    except OSError:
        return None
    if not any(name in os.path.basename(program) for name in ("clang", "flang")):  # noqa: PTH119
        return None
    import subprocess  # 10 ms that only clang costs

    others = [d for d in environment.get("COMPILER_PATH", "").split(os.pathsep) if d and d != str(shim.parent)]
    asked = subprocess.run(
        [*given, f"-print-prog-name={shim.name}"],
        executable=program,
        env={**environment, "COMPILER_PATH": os.pathsep.join(others)},
        capture_output=True,
        text=True,
        check=False,
    )
    answer = asked.stdout.strip()
    return answer if os.path.isabs(answer) and os.access(answer, os.X_OK) else None  # noqa: PTH117


def link(shim: Path, arguments: list[str], environment: Mapping[str, str]) -> list[str] | None:
    """Return the real linker and its arguments, reordered by PERFGATE_SEED; None when there is no such linker."""
    linker = real_linker(shim, arguments, environment)
    if linker is None:
        return None
    if shim.name == "collect-ld" and not linker.endswith("collect-ld"):
        # collect2 leaves it to a collect-ld, and no other linker knows it
        arguments = [argument for argument in arguments if not argument.startswith(_FUSE)]
    try:
        given = expanded(arguments)
        reordered = permuted(given, int(environment["PERFGATE_SEED"]))
        return [linker, *(arguments if reordered == given else _shortened(reordered))]
    except (KeyError, ValueError, OSError):
        return [linker, *arguments]  # as if perfgate were not there


if __name__ == "__main__":
    found = link(Path(sys.argv[1]), sys.argv[2:], os.environ)
    if found is None:
        sys.exit(f"perfgate: {Path(sys.argv[1]).name}: not found")
    os.execv(found[0], found)  # noqa: S606  # the real linker, with the arguments of this one
